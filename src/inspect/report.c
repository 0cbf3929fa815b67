/* report.c: see report.h. */
#include "inspect/report.h"

#include <assert.h>

#include "rows/text_grid.h"

#define FLUSH_BYTES ((size_t)1 << 16)

enum { BULK_WIDTH = 60, WIDEST_COLUMN = 240 };

typedef enum cell_kind { CELL_PLAIN, CELL_STRING, CELL_NUMBER, CELL_BULK } cell_kind;

typedef struct cell {
  size_t at; /* in the row's bytes */
  cell_kind kind;
} cell;

struct bl_report {
  bl_ctx *ctx;
  bl_sink sink;
  const char *const *columns;
  size_t n;
  bool text, object;
  bl_buf row; /* bytes of the cells of this row */
  cell *cells;
  size_t n_cells;
  bl_buf out; /* on its way to the sink */
  int64_t rows;
  bl_text_grid *grid; /* text rows */
  bl_buf scratch;
};

/* ---- output ---- */

static bl_status flush(bl_report *r, size_t above, bl_error *err) {
  if (r->out.n <= above) return bl_buf_ok(&r->out, err);
  BL_TRY(bl_buf_ok(&r->out, err));
  bl_status st = r->sink.write(r->sink.user, r->out.p, r->out.n, err);
  bl_buf_clear(&r->out);
  return st;
}

/* ---- cells ---- */

static void begin_cell(bl_report *r, cell_kind kind) {
  if (r->n_cells < r->n) r->cells[r->n_cells] = (cell){r->row.n, kind};
  r->n_cells++;
}

void bl_report_null(bl_report *r) {
  begin_cell(r, CELL_PLAIN);
  bl_buf_cstr(&r->row, "null");
}

void bl_report_bool(bl_report *r, bool v) {
  begin_cell(r, CELL_PLAIN);
  bl_buf_cstr(&r->row, v ? "true" : "false");
}

void bl_report_i64(bl_report *r, int64_t v) {
  begin_cell(r, CELL_NUMBER);
  bl_print_i64(&r->row, v);
}

void bl_report_i64_if(bl_report *r, bool there, int64_t v) {
  if (there) bl_report_i64(r, v);
  else bl_report_null(r);
}

void bl_report_str(bl_report *r, bl_str s) {
  if (!s.p) {
    bl_report_null(r);
    return;
  }
  begin_cell(r, CELL_STRING);
  bl_buf_str(&r->row, s);
}

void bl_report_ms(bl_report *r, int64_t ms) {
  int64_t us;
  begin_cell(r, CELL_STRING);
  if (bl_mul64(ms, 1000, &us)) bl_print_timestamp(&r->row, us, 1000000, true);
  else bl_print_timestamp(&r->row, ms, 1000, true);
}

bl_buf *bl_report_json(bl_report *r) {
  begin_cell(r, CELL_PLAIN);
  return &r->row;
}

bl_buf *bl_report_bulk(bl_report *r) {
  begin_cell(r, CELL_BULK);
  return &r->row;
}

static bl_str cell_bytes(const bl_report *r, size_t i) {
  size_t end = i + 1 < r->n ? r->cells[i + 1].at : r->row.n;
  return (bl_str){(const char *)r->row.p + r->cells[i].at, end - r->cells[i].at};
}

/* ---- JSON ---- */

static void print_json_cell(const bl_report *r, size_t i, bl_buf *b) {
  bl_print_json_str(b, bl_str_of(r->columns[i]));
  bl_buf_cstr(b, r->object ? ": " : ":");
  if (r->cells[i].kind == CELL_STRING) bl_print_json_str(b, cell_bytes(r, i));
  else bl_buf_str(b, cell_bytes(r, i));
}

static void print_json_row(bl_report *r) {
  if (!r->object) bl_buf_cstr(&r->out, r->rows ? ",\n" : "[\n");
  bl_buf_cstr(&r->out, r->object ? "{\n" : "{");
  for (size_t i = 0; i < r->n; i++) {
    if (i) bl_buf_cstr(&r->out, r->object ? ",\n" : ",");
    if (r->object) bl_buf_cstr(&r->out, "  ");
    print_json_cell(r, i, &r->out);
  }
  bl_buf_cstr(&r->out, r->object ? "\n}\n" : "}");
}

/* ---- text ---- */

/* The first `most` characters, with an ellipsis where something is left out. */
static bl_str shorten(bl_str s, size_t most, bl_buf *scratch) {
  size_t n = 0, characters = 0;
  for (; n < s.n; n++)
    if (((unsigned char)s.p[n] & 0xc0) != 0x80 && characters++ == most) break;
  if (n == s.n) return s;
  bl_buf_clear(scratch);
  bl_buf_add(scratch, s.p, n);
  bl_buf_cstr(scratch, "\xe2\x80\xa6");
  return (bl_str){(const char *)scratch->p, scratch->failed ? 0 : scratch->n};
}

static bl_status text_row(bl_report *r, bl_error *err) {
  for (size_t i = 0; i < r->n; i++) {
    bl_str s = cell_bytes(r, i);
    if (r->cells[i].kind != CELL_NUMBER && !bl_str_is(s, "null")) bl_text_grid_right(r->grid, i, false);
    if (r->cells[i].kind == CELL_BULK) s = shorten(s, BULK_WIDTH, &r->scratch);
    BL_TRY(bl_text_grid_cell(r->grid, s, &r->out, err));
  }
  return bl_buf_ok(&r->scratch, err);
}

/* "key: value" lines. */
static void text_object(bl_report *r) {
  size_t width = 0;
  for (size_t i = 0; i < r->n; i++)
    if (strlen(r->columns[i]) > width) width = strlen(r->columns[i]);
  for (size_t i = 0; i < r->n; i++) {
    bl_buf_printf(&r->out, "%s:%*s", r->columns[i], (int)(width - strlen(r->columns[i]) + 1), "");
    bl_text_visible(&r->out, cell_bytes(r, i));
    bl_buf_byte(&r->out, '\n');
  }
}

/* ---- rows ---- */

bl_status bl_report_end_row(bl_report *r, bl_error *err) {
  bl_status st = BL_OK;
  assert(r->n_cells == r->n);
  BL_TRY(bl_buf_ok(&r->row, err));
  if (!r->text) print_json_row(r);
  else if (r->object) text_object(r);
  else st = text_row(r, err);
  r->rows++;
  r->n_cells = 0;
  bl_buf_clear(&r->row);
  return st == BL_OK ? flush(r, FLUSH_BYTES, err) : st;
}

bl_status bl_report_finish(bl_report *r, bl_error *err) {
  bl_status st = BL_OK;
  if (r->text && !r->object) st = bl_text_grid_end(r->grid, &r->out, err);
  if (!r->text && !r->object) bl_buf_cstr(&r->out, r->rows ? "\n]\n" : "[]\n");
  if (st == BL_OK) st = flush(r, 0, err);
  bl_report_abort(r);
  return st;
}

void bl_report_abort(bl_report *r) {
  if (!r) return;
  bl_ctx *ctx = r->ctx;
  bl_buf_free(&r->row);
  bl_buf_free(&r->out);
  bl_buf_free(&r->scratch);
  bl_text_grid_free(r->grid);
  bl_free(ctx, r->cells);
  bl_free(ctx, r);
}

static bl_status make_grid(bl_report *r, bl_error *err) {
  BL_TRY(bl_text_grid_new(r->ctx, r->n, WIDEST_COLUMN, &r->grid, err));
  for (size_t i = 0; i < r->n; i++) {
    bl_text_grid_name(r->grid, i, bl_str_of(r->columns[i]));
    bl_text_grid_right(r->grid, i, true); /* until a cell is no number */
  }
  return BL_OK;
}

bl_status bl_report_new(bl_ctx *ctx, const bl_sink *sink, const char *const *columns, size_t n, bool text, bool object,
                        bl_report **out, bl_error *err) {
  *out = NULL;
  bl_report *r = bl_calloc(ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  *r = (bl_report){.ctx = ctx, .sink = *sink, .columns = columns, .n = n, .text = text, .object = object};
  bl_buf_init(&r->row, ctx, BL_BUF_MAX);
  bl_buf_init(&r->out, ctx, BL_BUF_MAX);
  bl_buf_init(&r->scratch, ctx, BL_BUF_MAX);
  r->cells = bl_calloc(ctx, n, sizeof *r->cells);
  bl_status st = r->cells ? BL_OK : bl_nomem(err);
  if (st == BL_OK && text && !object) st = make_grid(r, err);
  if (st == BL_OK) *out = r;
  else bl_report_abort(r);
  return st;
}

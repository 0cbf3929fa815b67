/* report.c: see report.h. */
#include "inspect/report.h"

#include <assert.h>

#define HOLD_ROWS 1000
#define HOLD_BYTES ((size_t)1 << 20)
#define FLUSH_BYTES ((size_t)1 << 16)

#define NESTED_WIDTH 60

typedef enum cell_kind { CELL_PLAIN, CELL_STRING, CELL_NUMBER, CELL_JSON } cell_kind;

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
  /* text: rows held back until the widths are known */
  bl_buf held;
  size_t n_held;
  bool widths_known;
  size_t *widths;
  bool *right; /* a column of numbers */
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
  begin_cell(r, CELL_JSON);
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

/* Length of a well-formed UTF-8 character at p, 0 where it is none. */
static size_t character(const char *p, size_t n) {
  unsigned char c = (unsigned char)*p;
  size_t k = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
  return k && k <= n && bl_utf8_valid(p, k) ? k : 0;
}

/* Printable text with controls, stray bytes and C1 as escapes, at most `most` characters and an ellipsis; returns its
 * width in characters. */
static size_t print_visible(bl_buf *b, bl_str s, size_t most) {
  size_t width = 0;
  for (size_t i = 0; i < s.n;) {
    if (width >= most) {
      bl_buf_cstr(b, "\xe2\x80\xa6");
      return width + 1;
    }
    unsigned char c = (unsigned char)s.p[i];
    size_t k = character(s.p + i, s.n - i);
    bool control = c < 0x20 || c == 0x7f || (c == 0xc2 && k == 2 && (unsigned char)s.p[i + 1] < 0xa0);
    if (k && !control) {
      bl_buf_add(b, s.p + i, k);
      i += k, width++;
      continue;
    }
    bl_buf_printf(b, "\\x%02x", c);
    i++, width += 4;
  }
  return width;
}

static void print_line(bl_report *r, const bl_str *shown, const size_t *widths_of) {
  size_t spaces = 0;
  for (size_t i = 0; i < r->n; i++) {
    size_t pad = r->widths[i] > widths_of[i] ? r->widths[i] - widths_of[i] : 0;
    if (i) spaces += 2;
    if (r->right[i]) spaces += pad;
    for (; spaces && shown[i].n; spaces--) bl_buf_byte(&r->out, ' ');
    bl_buf_str(&r->out, shown[i]);
    if (!r->right[i]) spaces += pad;
  }
  bl_buf_byte(&r->out, '\n');
}

/* A held row: for each cell its bytes in the buffer, its width. */
typedef struct shown_cell {
  uint32_t n, width;
} shown_cell;

static void hold_cell(bl_report *r, bl_str s, cell_kind kind, size_t i) {
  shown_cell c = {0};
  size_t at = r->held.n;
  bl_buf_add(&r->held, &c, sizeof c);
  c.width = (uint32_t)print_visible(&r->held, s, kind == CELL_JSON ? NESTED_WIDTH : SIZE_MAX);
  c.n = (uint32_t)(r->held.n - at - sizeof c);
  if (r->held.failed) return;
  memcpy(r->held.p + at, &c, sizeof c);
  if (!r->widths_known && c.width > r->widths[i]) r->widths[i] = c.width;
  if (!r->widths_known && kind != CELL_NUMBER && !bl_str_is(s, "null")) r->right[i] = false;
}

/* Take one held row from p; returns what follows. */
static const uint8_t *print_held(bl_report *r, const uint8_t *p, bl_str *shown, size_t *widths_of) {
  for (size_t i = 0; i < r->n; i++) {
    shown_cell c;
    memcpy(&c, p, sizeof c);
    shown[i] = (bl_str){(const char *)p + sizeof c, c.n};
    widths_of[i] = c.width;
    p += sizeof c + c.n;
  }
  print_line(r, shown, widths_of);
  return p;
}

static bl_status release_held(bl_report *r, bl_error *err) {
  bl_str *shown = bl_calloc(r->ctx, r->n, sizeof *shown);
  size_t *widths_of = bl_calloc(r->ctx, r->n, sizeof *widths_of);
  bl_status st = bl_buf_ok(&r->held, err);
  if (st == BL_OK && (!shown || !widths_of)) st = bl_nomem(err);
  if (st == BL_OK && !r->widths_known) {
    for (size_t i = 0; i < r->n; i++) {
      shown[i] = bl_str_of(r->columns[i]);
      widths_of[i] = shown[i].n;
      if (r->widths[i] < widths_of[i]) r->widths[i] = widths_of[i];
    }
    print_line(r, shown, widths_of);
    r->widths_known = true;
  }
  const uint8_t *p = r->held.p;
  for (size_t k = 0; k < r->n_held && st == BL_OK; k++) {
    p = print_held(r, p, shown, widths_of);
    st = flush(r, FLUSH_BYTES, err);
  }
  bl_buf_clear(&r->held);
  r->n_held = 0;
  bl_free(r->ctx, shown);
  bl_free(r->ctx, widths_of);
  return st;
}

static bl_status text_row(bl_report *r, bl_error *err) {
  for (size_t i = 0; i < r->n; i++) hold_cell(r, cell_bytes(r, i), r->cells[i].kind, i);
  r->n_held++;
  if (!r->widths_known && r->n_held < HOLD_ROWS && r->held.n < HOLD_BYTES) return bl_buf_ok(&r->held, err);
  return release_held(r, err);
}

/* "key: value" lines. */
static void text_object(bl_report *r) {
  size_t width = 0;
  for (size_t i = 0; i < r->n; i++)
    if (strlen(r->columns[i]) > width) width = strlen(r->columns[i]);
  for (size_t i = 0; i < r->n; i++) {
    size_t n = print_visible(&r->out, bl_str_of(r->columns[i]), SIZE_MAX);
    bl_buf_byte(&r->out, ':');
    for (; n <= width; n++) bl_buf_byte(&r->out, ' ');
    print_visible(&r->out, cell_bytes(r, i), SIZE_MAX);
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
  if (r->text && !r->object) st = release_held(r, err);
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
  bl_buf_free(&r->held);
  bl_free(ctx, r->cells);
  bl_free(ctx, r->widths);
  bl_free(ctx, r->right);
  bl_free(ctx, r);
}

bl_status bl_report_new(bl_ctx *ctx, const bl_sink *sink, const char *const *columns, size_t n, bool text, bool object,
                        bl_report **out, bl_error *err) {
  *out = NULL;
  bl_report *r = bl_calloc(ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  *r = (bl_report){.ctx = ctx, .sink = *sink, .columns = columns, .n = n, .text = text, .object = object};
  bl_buf_init(&r->row, ctx, BL_BUF_MAX);
  bl_buf_init(&r->out, ctx, BL_BUF_MAX);
  bl_buf_init(&r->held, ctx, BL_BUF_MAX);
  r->cells = bl_calloc(ctx, n, sizeof *r->cells);
  r->widths = bl_calloc(ctx, n, sizeof *r->widths);
  r->right = bl_calloc(ctx, n, sizeof *r->right);
  if (!r->cells || !r->widths || !r->right) {
    bl_report_abort(r);
    return bl_nomem(err);
  }
  for (size_t i = 0; i < n; i++) r->right[i] = true;
  *out = r;
  return BL_OK;
}

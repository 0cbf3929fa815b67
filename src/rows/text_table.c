/* text_table.c: see text_table.h. Two states: holding (cells gather, widths grow), then flowing (`flowing` is set, the
 * header is out, each row is written as it comes). */
#include "rows/text_table.h"

#include "rows/print_value.h"
#include "rows/width.h"

enum { HELD_ROWS = 1000, HELD_BYTES = 1 << 20, WIDEST_COLUMN = 80 };

typedef struct column {
  bl_str name;
  size_t width;
  bool right;
} column;

struct bl_text_table {
  bl_ctx *ctx;
  const bl_view *root;
  column *columns;
  bool flowing;
  bl_buf cell;  /* a value as printed, before control characters are made visible */
  bl_buf cells; /* texts of the rows held, one after the other */
  size_t *ends; /* where each cell ends in cells */
  size_t n_ends, cap_ends;
};

static bool is_number(const bl_view *v) {
  return v->kind == BL_D_INT32 || v->kind == BL_D_INT64 || v->kind == BL_D_FLOAT || v->kind == BL_D_DOUBLE ||
         v->kind == BL_D_DECIMAL;
}

bl_status bl_text_table_new(bl_ctx *ctx, const bl_view *root, bl_text_table **out, bl_error *err) {
  *out = NULL;
  bl_text_table *t = bl_calloc(ctx, 1, sizeof *t);
  column *columns = bl_calloc(ctx, root->n_children, sizeof *columns);
  if (!t || !columns) {
    bl_free(ctx, t);
    bl_free(ctx, columns);
    return bl_nomem(err);
  }
  t->ctx = ctx;
  t->root = root;
  t->columns = columns;
  bl_buf_init(&t->cell, ctx, BL_BUF_MAX);
  bl_buf_init(&t->cells, ctx, BL_BUF_MAX);
  for (size_t i = 0; i < root->n_children; i++) {
    const bl_view *v = &root->children[i];
    columns[i] = (column){.name = v->name, .width = bl_display_width(v->name), .right = is_number(v)};
  }
  *out = t;
  return BL_OK;
}

void bl_text_table_free(bl_text_table *t) {
  if (!t) return;
  bl_buf_free(&t->cell);
  bl_buf_free(&t->cells);
  bl_free(t->ctx, t->ends);
  bl_free(t->ctx, t->columns);
  bl_free(t->ctx, t);
}

/* Control characters must not move the cursor: \n, \t … and \u001b; also those of two bytes (U+0080 to U+009F). */
static void show(bl_buf *to, const bl_buf *from) {
  static const char letters[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r'};
  for (size_t i = 0; i < from->n; i++) {
    uint8_t c = from->p[i];
    bool second = c == 0xc2 && i + 1 < from->n && from->p[i + 1] >= 0x80 && from->p[i + 1] < 0xa0;
    if (second) c = from->p[++i];
    if (!second && c >= 0x20 && c != 0x7f) bl_buf_byte(to, c);
    else if (c < sizeof letters && letters[c]) bl_buf_printf(to, "\\%c", letters[c]);
    else bl_buf_printf(to, "\\u%04x", c);
  }
}

static void spaces(bl_buf *out, size_t n) {
  for (; n > 0; n--) bl_buf_byte(out, ' ');
}

/* One cell with what stands before it; the last of a line gets nothing behind it. */
static void put_cell(const bl_text_table *t, size_t k, bl_str text, bl_buf *out) {
  const column *c = &t->columns[k];
  size_t width = bl_display_width(text), pad = width < c->width ? c->width - width : 0;
  if (k > 0) spaces(out, 2);
  if (c->right) spaces(out, pad);
  bl_buf_str(out, text);
  if (!c->right && k + 1 < t->root->n_children) spaces(out, pad);
  if (k + 1 == t->root->n_children) bl_buf_byte(out, '\n');
}

static void put_header(const bl_text_table *t, bl_buf *out) {
  size_t n = t->root->n_children;
  for (size_t k = 0; k < n; k++) put_cell(t, k, t->columns[k].name, out);
  for (size_t k = 0; k < n; k++) {
    if (k > 0) spaces(out, 2);
    for (size_t i = 0; i < t->columns[k].width; i++) bl_buf_byte(out, '-');
  }
  if (n > 0) bl_buf_byte(out, '\n');
}

/* From holding to flowing. */
static bl_status flow(bl_text_table *t, bl_buf *out, bl_error *err) {
  t->flowing = true;
  put_header(t, out);
  size_t begin = 0, n = t->root->n_children;
  for (size_t i = 0; i < t->n_ends; i++) {
    put_cell(t, i % n, (bl_str){(const char *)t->cells.p + begin, t->ends[i] - begin}, out);
    begin = t->ends[i];
  }
  bl_buf_free(&t->cells);
  return bl_buf_ok(out, err);
}

/* The text of a cell, appended to `to`. */
static bl_status print_cell(bl_text_table *t, size_t k, int64_t i, bl_buf *to, bl_error *err) {
  bl_buf_clear(&t->cell);
  BL_TRY(bl_print_bare(&t->cell, &t->root->children[k], i, err));
  BL_TRY(bl_buf_ok(&t->cell, err));
  show(to, &t->cell);
  return bl_buf_ok(to, err);
}

static bl_status hold_row(bl_text_table *t, int64_t i, bl_error *err) {
  for (size_t k = 0; k < t->root->n_children; k++) {
    size_t begin = t->cells.n;
    BL_TRY(print_cell(t, k, i, &t->cells, err));
    BL_TRY(bl_grow(t->ctx, &t->ends, &t->cap_ends, t->n_ends, sizeof *t->ends, err));
    t->ends[t->n_ends++] = t->cells.n;
    size_t width = bl_display_width((bl_str){(const char *)t->cells.p + begin, t->cells.n - begin});
    if (width > WIDEST_COLUMN) width = WIDEST_COLUMN;
    if (width > t->columns[k].width) t->columns[k].width = width;
  }
  return BL_OK;
}

static bl_status flow_row(bl_text_table *t, int64_t i, bl_buf *out, bl_error *err) {
  for (size_t k = 0; k < t->root->n_children; k++) {
    bl_buf_clear(&t->cells);
    BL_TRY(print_cell(t, k, i, &t->cells, err));
    put_cell(t, k, (bl_str){(const char *)t->cells.p, t->cells.n}, out);
  }
  return bl_buf_ok(out, err);
}

bl_status bl_text_table_row(bl_text_table *t, int64_t i, bl_buf *out, bl_error *err) {
  if (t->flowing) return flow_row(t, i, out, err);
  BL_TRY(hold_row(t, i, err));
  bool full = t->n_ends >= HELD_ROWS * t->root->n_children || t->cells.n >= HELD_BYTES;
  return full ? flow(t, out, err) : BL_OK;
}

bl_status bl_text_table_end(bl_text_table *t, bl_buf *out, bl_error *err) {
  return t->flowing ? BL_OK : flow(t, out, err);
}

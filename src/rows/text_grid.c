/* text_grid.c: see text_grid.h. Two states: holding (cells gather, widths grow), then flowing (`flowing` is set, the
 * header is out, each row is written as it comes). */
#include "rows/text_grid.h"

#include "rows/width.h"

enum { HELD_ROWS = 1000, HELD_BYTES = 1 << 20 };

typedef struct column {
  bl_str name;
  size_t width;
  bool right;
} column;

struct bl_text_grid {
  bl_ctx *ctx;
  column *columns;
  size_t n, widest;
  bool flowing;
  size_t at;    /* the column of the next cell */
  bl_buf cells; /* texts of the rows held, one after the other; flowing: of one cell */
  size_t *ends; /* where each cell ends in cells */
  size_t n_ends, cap_ends;
};

bl_status bl_text_grid_new(bl_ctx *ctx, size_t n, size_t widest, bl_text_grid **out, bl_error *err) {
  *out = NULL;
  bl_text_grid *g = bl_calloc(ctx, 1, sizeof *g);
  column *columns = bl_calloc(ctx, n, sizeof *columns);
  if (!g || !columns) {
    bl_free(ctx, g);
    bl_free(ctx, columns);
    return bl_nomem(err);
  }
  g->ctx = ctx, g->columns = columns, g->n = n, g->widest = widest;
  bl_buf_init(&g->cells, ctx, BL_BUF_MAX);
  *out = g;
  return BL_OK;
}

void bl_text_grid_free(bl_text_grid *g) {
  if (!g) return;
  bl_buf_free(&g->cells);
  bl_free(g->ctx, g->ends);
  bl_free(g->ctx, g->columns);
  bl_free(g->ctx, g);
}

void bl_text_grid_name(bl_text_grid *g, size_t i, bl_str name) {
  g->columns[i].name = name;
  g->columns[i].width = bl_display_width(name);
}

void bl_text_grid_right(bl_text_grid *g, size_t i, bool right) {
  if (!g->flowing) g->columns[i].right = right;
}

/* Control characters of one byte, and those of two (U+0080 to U+009F). */
void bl_text_visible(bl_buf *to, bl_str from) {
  static const char letters[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r'};
  for (size_t i = 0; i < from.n; i++) {
    uint8_t c = (uint8_t)from.p[i], next = i + 1 < from.n ? (uint8_t)from.p[i + 1] : 0;
    bool second = c == 0xc2 && next >= 0x80 && next < 0xa0;
    if (second) c = next, i++;
    if (!second && c >= 0x20 && c != 0x7f) bl_buf_byte(to, c);
    else if (c < sizeof letters && letters[c]) bl_buf_printf(to, "\\%c", letters[c]);
    else bl_buf_printf(to, "\\u%04x", c);
  }
}

static void spaces(bl_buf *out, size_t n) {
  for (; n > 0; n--) bl_buf_byte(out, ' ');
}

/* One cell with what stands before it; the last of a line gets nothing behind it. */
static void put_cell(const bl_text_grid *g, size_t k, bl_str text, bl_buf *out) {
  const column *c = &g->columns[k];
  size_t width = bl_display_width(text), pad = width < c->width ? c->width - width : 0;
  if (k > 0) spaces(out, 2);
  if (c->right) spaces(out, pad);
  bl_buf_str(out, text);
  if (!c->right && k + 1 < g->n) spaces(out, pad);
  if (k + 1 == g->n) bl_buf_byte(out, '\n');
}

static void put_header(const bl_text_grid *g, bl_buf *out) {
  for (size_t k = 0; k < g->n; k++) put_cell(g, k, g->columns[k].name, out);
  for (size_t k = 0; k < g->n; k++) {
    if (k > 0) spaces(out, 2);
    for (size_t i = 0; i < g->columns[k].width; i++) bl_buf_byte(out, '-');
  }
  if (g->n > 0) bl_buf_byte(out, '\n');
}

/* From holding to flowing. */
static bl_status flow(bl_text_grid *g, bl_buf *out, bl_error *err) {
  g->flowing = true;
  put_header(g, out);
  size_t begin = 0;
  for (size_t i = 0; i < g->n_ends; i++) {
    put_cell(g, i % g->n, (bl_str){(const char *)g->cells.p + begin, g->ends[i] - begin}, out);
    begin = g->ends[i];
  }
  bl_buf_free(&g->cells);
  return bl_buf_ok(out, err);
}

static bl_status hold_cell(bl_text_grid *g, bl_str text, bl_error *err) {
  size_t begin = g->cells.n;
  bl_text_visible(&g->cells, text);
  BL_TRY(bl_buf_ok(&g->cells, err));
  BL_TRY(bl_grow(g->ctx, &g->ends, &g->cap_ends, g->n_ends, sizeof *g->ends, err));
  g->ends[g->n_ends++] = g->cells.n;
  size_t width = bl_display_width((bl_str){(const char *)g->cells.p + begin, g->cells.n - begin});
  if (width > g->widest) width = g->widest;
  if (width > g->columns[g->at].width) g->columns[g->at].width = width;
  return BL_OK;
}

static bl_status flow_cell(bl_text_grid *g, bl_str text, bl_buf *out, bl_error *err) {
  bl_buf_clear(&g->cells);
  bl_text_visible(&g->cells, text);
  BL_TRY(bl_buf_ok(&g->cells, err));
  put_cell(g, g->at, (bl_str){(const char *)g->cells.p, g->cells.n}, out);
  return bl_buf_ok(out, err);
}

bl_status bl_text_grid_cell(bl_text_grid *g, bl_str text, bl_buf *out, bl_error *err) {
  BL_TRY(g->flowing ? flow_cell(g, text, out, err) : hold_cell(g, text, err));
  if (++g->at < g->n) return BL_OK;
  g->at = 0;
  bool full = !g->flowing && (g->n_ends >= HELD_ROWS * g->n || g->cells.n >= HELD_BYTES);
  return full ? flow(g, out, err) : BL_OK;
}

bl_status bl_text_grid_end(bl_text_grid *g, bl_buf *out, bl_error *err) {
  return g->flowing ? BL_OK : flow(g, out, err);
}

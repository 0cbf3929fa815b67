/* text_table.c: see text_table.h. */
#include "rows/text_table.h"

#include "rows/print_value.h"
#include "rows/text_grid.h"

enum { WIDEST_COLUMN = 80 };

struct bl_text_table {
  bl_ctx *ctx;
  const bl_view *root;
  bl_text_grid *grid;
  bl_buf cell; /* a value as printed */
};

static bool is_number(const bl_view *v) {
  return v->kind == BL_D_INT32 || v->kind == BL_D_INT64 || v->kind == BL_D_FLOAT || v->kind == BL_D_DOUBLE ||
         v->kind == BL_D_DECIMAL;
}

bl_status bl_text_table_new(bl_ctx *ctx, const bl_view *root, bl_text_table **out, bl_error *err) {
  *out = NULL;
  bl_text_table *t = bl_calloc(ctx, 1, sizeof *t);
  if (!t) return bl_nomem(err);
  t->ctx = ctx;
  t->root = root;
  bl_buf_init(&t->cell, ctx, BL_BUF_MAX);
  bl_status st = bl_text_grid_new(ctx, root->n_children, WIDEST_COLUMN, &t->grid, err);
  if (st != BL_OK) {
    bl_text_table_free(t);
    return st;
  }
  for (size_t i = 0; i < root->n_children; i++) {
    bl_text_grid_name(t->grid, i, root->children[i].name);
    bl_text_grid_right(t->grid, i, is_number(&root->children[i]));
  }
  *out = t;
  return BL_OK;
}

void bl_text_table_free(bl_text_table *t) {
  if (!t) return;
  bl_text_grid_free(t->grid);
  bl_buf_free(&t->cell);
  bl_free(t->ctx, t);
}

bl_status bl_text_table_row(bl_text_table *t, int64_t i, bl_buf *out, bl_error *err) {
  for (size_t k = 0; k < t->root->n_children; k++) {
    bl_buf_clear(&t->cell);
    BL_TRY(bl_print_bare(&t->cell, &t->root->children[k], i, err));
    BL_TRY(bl_buf_ok(&t->cell, err));
    BL_TRY(bl_text_grid_cell(t->grid, (bl_str){(const char *)t->cell.p, t->cell.n}, out, err));
  }
  return BL_OK;
}

bl_status bl_text_table_end(bl_text_table *t, bl_buf *out, bl_error *err) {
  return bl_text_grid_end(t->grid, out, err);
}

/* telling.c: see telling.h. */
#include "write/telling.h"

#include "base/alloc.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"

static bl_lack lack_of(const bl_telling *c, int64_t row, size_t column) {
  if (bl_view_null(c->lacks, row)) return BL_LACK_NONE;
  return (bl_lack)bl_view_bytes(c->lacks, row).p[column];
}

bl_status bl_telling_open(bl_ctx *ctx, const bl_view *lacks, const bl_view *numbers, const bl_view *deletes, int64_t n,
                          bl_telling *out, bl_error *err) {
  bool any = false;
  *out = (bl_telling){.ctx = ctx, .lacks = lacks, .numbers = numbers, .deletes = deletes};
  for (int64_t i = 0; i < n && !any; i++) any = !bl_view_null(lacks, i);
  if (!any) return BL_OK;
  out->before = bl_calloc(ctx, (size_t)n, sizeof *out->before);
  return out->before ? BL_OK : bl_nomem(err);
}

void bl_telling_dispose(bl_telling *c) {
  if (c->ctx) bl_free(c->ctx, c->before);
  *c = (bl_telling){0};
}

/* The event before that of a row; -1: none. *deleted: it deletes the key. */
static int64_t event_before(const bl_telling *c, int64_t row, bool *deleted) {
  int64_t before = row;
  do {
    before = (int64_t)c->before[before] - 1;
    *deleted = before >= 0 && bl_view_bool(c->deletes, before);
  } while (*deleted && bl_view_i64(c->numbers, before) == bl_view_i64(c->numbers, row));
  return before;
}

bl_told_column bl_telling_ask(const bl_telling *c, int64_t row, size_t column) {
  bl_told_column told = {.by = BL_TOLD_BY_EVENT, .row = row};
  bl_lack lack;
  while (c->before && (lack = lack_of(c, told.row, column)) != BL_LACK_NONE) {
    bool deleted;
    int64_t before = event_before(c, told.row, &deleted);
    told.left_out = told.left_out || lack == BL_LACK_LEFT_OUT;
    if (before < 0 || deleted) {
      told.by = deleted ? BL_TOLD_BY_NONE : BL_TOLD_BY_TABLE;
      break;
    }
    told.row = before;
  }
  return told;
}

bl_status bl_telling_gather(struct ArrowArray *const *columns, size_t n_columns, struct ArrowSchema *type,
                            const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) {
  const void *no_nulls = NULL;
  struct ArrowArray batches[2], gathered, *child[2];
  const struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = &type};
  for (size_t i = 0; i < n_columns; i++) {
    child[i] = columns[i];
    batches[i] = (struct ArrowArray){
        .length = child[i]->length, .n_buffers = 1, .buffers = &no_nulls, .n_children = 1, .children = &child[i]};
  }
  BL_TRY(bl_arrow_gather(batches, n_columns, &schema, rows, n, &gathered, err));
  bl_array_move(gathered.children[0], out);
  bl_array_release(&gathered);
  return BL_OK;
}

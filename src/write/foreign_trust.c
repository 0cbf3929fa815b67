/* foreign_trust.c: rows that bring their ids along (W13): each must have been given out before (below next-row-id) and
 * be no row's of the branch, nor of another of the files. */
#include "bergline/scan.h"
#include "format/puffin.h"
#include "rows/arrow_view.h"
#include "rows/stream.h"
#include "write/foreign_file.h"

enum { BATCH_ROWS = 65536 };

typedef struct trust {
  bl_table *t;
  bl_posset *ids; /* of the files so far */
  int64_t n, lowest, highest;
  const bl_foreign_file *file; /* in hand */
} trust;

typedef bl_status (*visit_longs)(trust *x, const bl_view *v, int64_t rows, bl_error *err);

static bl_status refuse(const trust *x, int64_t id, const char *why, bl_error *err) {
  return bl_fail(err, BL_USAGE, "cannot add: %s: row id %lld %s", x->file->path.p, (long long)id, why);
}

static bl_status take_ids(trust *x, const bl_view *v, int64_t rows, bl_error *err) {
  for (int64_t i = 0; i < rows; i++) {
    if (bl_view_null(v, i)) continue;
    int64_t id = bl_view_i64(v, i);
    if (id < 0 || id >= x->t->metadata->next_row_id) return refuse(x, id, "was never given out by this table", err);
    BL_TRY(bl_posset_add(x->ids, id, err));
    if (bl_posset_count(x->ids) == x->n) return refuse(x, id, "is there twice", err);
    x->n++;
    if (x->n == 1 || id < x->lowest) x->lowest = id;
    if (x->n == 1 || id > x->highest) x->highest = id;
  }
  return BL_OK;
}

static bl_status take_numbers(trust *x, const bl_view *v, int64_t rows, bl_error *err) {
  for (int64_t i = 0; i < rows; i++) {
    int64_t n = bl_view_null(v, i) ? 0 : bl_view_i64(v, i);
    if (n < 0 || n > x->t->metadata->last_sequence_number)
      return bl_fail(err, BL_USAGE,
                     "cannot add: %s: its rows were last updated by sequence number %lld, which the table"
                     " has not reached",
                     x->file->path.p, (long long)n);
  }
  return BL_OK;
}

static bl_status visit_stream(trust *x, struct ArrowArrayStream *in, bl_view *view, visit_longs visit, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_stream_next(in, &batch, err));
    if (!batch.release) return BL_OK;
    bl_status st = bl_view_set(view, &batch, err);
    if (st == BL_OK && view->n_children != 1) st = bl_fail(err, BL_DAMAGED, "one column was expected");
    if (st == BL_OK) st = visit(x, &view->children[0], batch.length, err);
    bl_array_release(&batch);
    if (st != BL_OK) return st;
  }
}

static bl_status visit_rows(trust *x, struct ArrowArrayStream *in, visit_longs visit, bl_error *err) {
  struct ArrowSchema schema;
  bl_view *view = NULL;
  BL_TRY(bl_stream_schema(in, &schema, err));
  bl_status st = bl_view_new(x->t->ctx, &schema, &view, err);
  bl_aschema_release(&schema);
  if (st == BL_OK) st = visit_stream(x, in, view, visit, err);
  bl_view_free(view);
  return st;
}

static bl_status visit_leaf(trust *x, int32_t leaf, visit_longs visit, bl_error *err) {
  bl_data_reader *r = x->file->reader;
  for (size_t g = 0; leaf >= 0 && g < r->meta->n_groups; g++) {
    struct ArrowArrayStream in = {0};
    BL_TRY(r->read(r, g, &leaf, 1, NULL, 0, BATCH_ROWS, &in, err));
    bl_status st = visit_rows(x, &in, visit, err);
    bl_stream_release(&in);
    if (st != BL_OK) return st;
  }
  return BL_OK;
}

/* A row of the branch: is its id among the files'? */
static bl_status meet(trust *x, const bl_view *v, int64_t rows, bl_error *err) {
  for (int64_t i = 0; i < rows; i++) {
    if (bl_view_null(v, i) || !bl_posset_has(x->ids, bl_view_i64(v, i))) continue;
    return bl_fail(err, BL_USAGE, "cannot add: row id %lld, which a file brings along, is a row's of the table",
                   (long long)bl_view_i64(v, i));
  }
  return BL_OK;
}

static bl_status meet_table(trust *x, const char *ref, bl_error *err) {
  static const char *const columns[] = {"meta._row_id"};
  struct ArrowArrayStream in = {0};
  char *where = bl_asprintf(x->t->ctx, "meta._row_id >= %lld and meta._row_id <= %lld", (long long)x->lowest,
                            (long long)x->highest);
  if (!where) return bl_nomem(err);
  bl_scan_options o = {.ref = ref, .columns = columns, .n_columns = 1, .where = where, .unordered = true};
  bl_status st = bl_scan(x->t, &o, &in, err);
  if (st == BL_OK) st = visit_rows(x, &in, meet, err);
  bl_stream_release(&in);
  bl_free(x->t->ctx, where);
  return st;
}

bl_status bl_foreign_trust(bl_table *t, const char *ref, bl_foreign_file *files, size_t n, bl_error *err) {
  trust x = {.t = t};
  bl_status st;
  if (t->metadata->format_version < 3)
    return bl_fail(err, BL_UNSUPPORTED, "cannot add: row ids are kept from format version 3 on, the table has %d",
                   t->metadata->format_version);
  BL_GO(bl_posset_new(t->ctx, &x.ids, err));
  for (size_t i = 0; i < n; i++) {
    x.file = &files[i];
    BL_GO(visit_leaf(&x, files[i].row_id_leaf, take_ids, err));
    BL_GO(visit_leaf(&x, files[i].last_updated_leaf, take_numbers, err));
  }
  if (x.n > 0 && bl_metadata_ref(t->metadata, bl_str_of(ref ? ref : "main"))) st = meet_table(&x, ref, err);
done:
  bl_posset_free(x.ids);
  return st;
}

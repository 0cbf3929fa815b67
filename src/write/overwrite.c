/* overwrite.c: rows in the place of all rows, of those that match, or of the partitions that they fall into. The rows
 * are written once; what they replace is found out on each version of the table that the change is staged on. */
#include "rows/stream.h"
#include "write/change.h"
#include "write/commit.h"
#include "write/input.h"

typedef struct overwrite {
  bl_overwrite_kind kind;
  const char *where;
  bl_staged *rows; /* the files of the new rows */
  int64_t n_rows;
  int32_t schema_id, spec_id; /* that they were written by */
} overwrite;

/* ---- the new rows ---- */

static bl_status write_rows(bl_table *t, struct ArrowArrayStream *in, overwrite *w, bool dry, bl_error *err) {
  const bl_data_writer_options o = {.spec_id = -1};
  bl_data_writer *writer = NULL;
  if (!dry) BL_TRY(bl_data_writer_new(t, &o, w->rows, &writer, err));
  for (;;) {
    struct ArrowArray batch;
    bl_status st = bl_stream_next(in, &batch, err);
    if (st == BL_OK && !batch.release) return writer ? bl_data_writer_finish(writer, err) : BL_OK;
    if (st == BL_OK) {
      w->n_rows += batch.length;
      if (writer) st = bl_data_writer_write(writer, &batch, err);
      else bl_array_release(&batch);
    }
    if (st == BL_OK) st = bl_progress(t->ctx, "overwrite", w->n_rows, 0, err);
    if (st == BL_OK) continue;
    if (writer) bl_data_writer_abort(writer);
    return st;
  }
}

static bl_status take_rows(bl_change *c, const overwrite *w, bl_error *err) {
  const bl_metadata *md = c->t->metadata;
  if (w->n_rows && (c->schema->id != w->schema_id || md->default_spec_id != w->spec_id))
    return bl_fail(err, BL_CONFLICT, "overwrite: another has changed the schema or partitioning meanwhile");
  for (size_t i = 0; i < w->rows->n_data; i++) BL_TRY(bl_staged_add_data(c->staged, &w->rows->data[i], err));
  c->counts.rows_inserted = w->n_rows;
  return BL_OK;
}

/* ---- what they replace ---- */

static void count_deleted(bl_change *c, const bl_touch *x) {
  for (size_t i = 0; i < x->n_files; i++)
    if (!x->files[i].skip) c->counts.rows_deleted += x->files[i].n_found;
}

static bl_status remove_files(bl_change *c, bl_touch *x, bl_error *err) {
  for (size_t i = 0; i < x->n_files; i++)
    if (!x->files[i].skip) BL_TRY(bl_staged_remove(c->staged, x->files[i].file->data, err));
  return BL_OK;
}

/* Files of other partitions stay. */
static void keep_other_partitions(const overwrite *w, bl_touch *x) {
  for (size_t i = 0; i < x->n_files; i++) {
    const bl_data_file *old = &x->files[i].file->data->file;
    x->files[i].skip = true;
    for (size_t k = 0; k < w->rows->n_data && x->files[i].skip; k++) {
      const bl_data_file *f = &w->rows->data[k];
      x->files[i].skip =
          f->spec_id != old->spec_id || !bl_tuple_same(f->partition, f->n_partition, old->partition, old->n_partition);
    }
  }
}

static bl_status remove_matching(bl_change *c, bl_touch *x, bl_error *err) {
  bl_writer_pool *pool;
  BL_TRY(bl_change_writers(c, true, &pool, err));
  bl_status st = bl_change_remove_found(c, x, pool, err);
  if (st == BL_OK) return bl_writer_pool_finish(pool, err);
  bl_writer_pool_abort(pool);
  return st;
}

static bl_status stage(bl_change *c, void *user, bl_error *err) {
  overwrite *w = user;
  bl_expr *filter = NULL;
  bl_touch *x = NULL;
  bl_status st;
  c->staged->operation = BL_STR("overwrite");
  c->staged->replaces_partitions = w->kind == BL_OVERWRITE_PARTITIONS;
  if (w->kind == BL_OVERWRITE_WHERE) BL_GO(bl_change_filter(c, w->where, &filter, err));
  c->staged->conflict_filter = filter;
  BL_GO(take_rows(c, w, err));
  BL_GO(bl_touch_new(c->t, c->head, filter, &x, err));
  if (w->kind == BL_OVERWRITE_PARTITIONS) keep_other_partitions(w, x);
  BL_GO(bl_touch_find_filter(x, true, err));
  count_deleted(c, x);
  if (c->o->dry_run) goto done;
  for (size_t i = 0; c->o->stage && i < w->rows->n_files; i++)
    BL_GO(bl_staged_file_written(c->staged, w->rows->files[i], err));
  st = w->kind == BL_OVERWRITE_WHERE ? remove_matching(c, x, err) : remove_files(c, x, err);
done:
  bl_touch_free(x);
  return st;
}

/* ---- the verb ---- */

static bl_status prepare(bl_table *t, struct ArrowArrayStream *rows, overwrite *w, const bl_write_options *o,
                         bl_error *err) {
  const bl_schema *schema = bl_metadata_current_schema(t->metadata);
  struct ArrowArrayStream in = {0};
  w->schema_id = schema->id;
  w->spec_id = t->metadata->default_spec_id;
  if (w->kind == BL_OVERWRITE_WHERE && !w->where)
    return bl_fail(err, BL_USAGE, "overwrite: which rows are replaced is missing");
  BL_TRY(bl_staged_new(t->ctx, &w->rows, err));
  bl_status st = bl_conform(t->ctx, schema, rows, &in, err);
  if (st == BL_OK) st = write_rows(t, &in, w, o && o->dry_run, err);
  if (st == BL_OK) st = bl_staged_sync(w->rows, t, err);
  bl_stream_release(&in);
  return st;
}

bl_status bl_overwrite(bl_table *t, struct ArrowArrayStream *rows, bl_overwrite_kind kind, const char *where,
                       const bl_write_options *o, bl_write_result *r, bl_error *err) {
  overwrite w = {.kind = kind, .where = where};
  bl_write_result own;
  bl_table *base = NULL;
  bool kept = false;
  if (!r) r = &own;
  *r = (bl_write_result){0};
  bl_status st = bl_write_base(t, o, &base, &r->already_applied, err);
  if (st == BL_OK && !r->already_applied) st = prepare(base, rows, &w, o, err);
  if (st == BL_OK && !r->already_applied) {
    st = bl_change_run(base, o, "delete", stage, &w, r, err);
    kept = st == BL_UNKNOWN || (st == BL_OK && (r->committed || (o && o->stage)));
  }
  bl_stream_release(rows);
  if (w.rows && !kept) bl_staged_discard(w.rows, base);
  bl_staged_free(w.rows);
  bl_write_base_free(base, t);
  return st;
}

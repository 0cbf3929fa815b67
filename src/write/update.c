/* update.c: update --set --where. Merge-on-read writes the changed rows with their ids and a vector over the old ones;
 * copy-on-write rewrites the touched files, changed rows among the others (W4). New files are in the table's sort
 * order, where it has one. Rows stay where they are where it has none, and where they are in its order already and the
 * columns that it goes by do not change. */
#include "rows/arrow_own.h"
#include "write/change.h"
#include "write/set_rows.h"

typedef struct update {
  const char *const *set;
  size_t n_set;
  const char *where;
  /* of one staging: */
  bl_setter *setter;
  bl_writer_pool *pool;
} update;

/* ---- merge-on-read ---- */

static bl_status visit_moved(void *user, void *lane, bl_touch_rows *rows, bl_error *err) {
  update *u = user;
  struct ArrowArray out;
  (void)lane;
  BL_TRY(bl_setter_apply(u->setter, rows, &out, err));
  return bl_writer_pool_write(u->pool, &out, err);
}

static bl_status stage_vectors(bl_change *c, update *u, bl_touch *x, bl_error *err) {
  bl_touch_reader found = {
      .which = BL_TOUCH_FOUND, .wanted = bl_setter_wanted(u->setter), .visit = visit_moved, .user = u};
  BL_TRY(bl_touch_read(x, &found, err));
  for (size_t i = 0; i < x->n_files; i++)
    if (x->files[i].found) BL_TRY(bl_posset_copy(c->t->ctx, x->files[i].found, &x->files[i].moved, err));
  return bl_change_remove_found(c, x, u->pool, err);
}

/* ---- copy-on-write ---- */

static bl_status begin_file(void *user, bl_touched *f, void **lane, bl_error *err) {
  update *u = user;
  return bl_change_lane(u->pool, f, lane, err);
}

static bl_status visit_file(void *user, void *lane, bl_touch_rows *rows, bl_error *err) {
  update *u = user;
  struct ArrowArray out;
  BL_TRY(bl_setter_apply(u->setter, rows, &out, err));
  return bl_writer_lane_write(lane, &out, err);
}

static bl_status end_file(void *user, bl_touched *f, void *lane, bl_status st, bl_error *err) {
  update *u = user;
  const bl_data_file *d = &f->file->data->file;
  size_t parts = d->n_split_offsets > 1 ? d->n_split_offsets : 1;
  bl_status given = bl_writer_pool_give(u->pool, lane, d->file_size / (int64_t)parts, st == BL_OK ? err : NULL);
  return st == BL_OK ? given : st;
}

static bl_status stage_files(bl_change *c, update *u, bl_touch *x, bl_error *err) {
  bl_touch_reader live = {BL_TOUCH_LIVE, bl_setter_wanted(u->setter), begin_file, visit_file, end_file, u};
  BL_TRY(bl_touch_read(x, &live, err));
  for (size_t i = 0; i < x->n_files; i++)
    if (x->files[i].n_found > 0) BL_TRY(bl_staged_remove(c->staged, x->files[i].file->data, err));
  return BL_OK;
}

static bool stays_sorted(const bl_change *c, const update *u, const bl_touch *x) {
  const bl_sort_order *o = bl_metadata_default_order(c->t->metadata);
  if (c->merge_on_read || !o || o->n_fields == 0) return false;
  for (size_t i = 0; i < o->n_fields; i++)
    for (size_t k = 0; k < o->fields[i].n_source_ids; k++)
      if (bl_setter_touches(u->setter, o->fields[i].source_ids[k])) return false;
  for (size_t i = 0; i < x->n_files; i++)
    if (x->files[i].n_found > 0 && x->files[i].file->data->file.sort_order_id != o->id) return false;
  return true;
}

/* ---- dry run ---- */

static bl_status visit_checked(void *user, void *lane, bl_touch_rows *rows, bl_error *err) {
  struct ArrowArray out;
  (void)lane;
  BL_TRY(bl_setter_apply(((update *)user)->setter, rows, &out, err));
  bl_array_release(&out);
  return BL_OK;
}

/* The new values are made and forgotten: one that cannot be made fails as it would. */
static bl_status check_values(update *u, bl_touch *x, bl_error *err) {
  bl_touch_reader found = {
      .which = BL_TOUCH_FOUND, .wanted = bl_setter_wanted(u->setter), .visit = visit_checked, .user = u};
  return bl_touch_read(x, &found, err);
}

/* ---- the verb ---- */

static bl_status stage_found(bl_change *c, update *u, bl_touch *x, bl_error *err) {
  for (size_t i = 0; i < x->n_files; i++) c->counts.rows_updated += x->files[i].n_found;
  if (c->counts.rows_updated == 0) return BL_OK;
  if (c->o->dry_run) return check_values(u, x, err);
  c->staged->keeps_rows = true; /* also those of files that go whole */
  BL_TRY(bl_change_writers(c, stays_sorted(c, u, x), &u->pool, err));
  bl_status st = c->merge_on_read ? stage_vectors(c, u, x, err) : stage_files(c, u, x, err);
  if (st == BL_OK) return bl_writer_pool_finish(u->pool, err);
  bl_writer_pool_abort(u->pool);
  return st;
}

static bl_status stage(bl_change *c, void *user, bl_error *err) {
  update *u = user;
  bl_expr *filter;
  bl_touch *x = NULL;
  bl_status st;
  u->setter = NULL;
  BL_GO(bl_change_filter(c, u->where, &filter, err));
  c->staged->conflict_filter = filter;
  BL_GO(bl_touch_new(c->t, c->head, filter, &x, err));
  BL_GO(bl_setter_new(c->t->ctx, u->set, u->n_set, &x->all, &u->setter, err));
  BL_GO(bl_touch_find_filter(x, true, err));
  BL_GO(stage_found(c, u, x, err));
done:
  bl_setter_free(u->setter);
  bl_touch_free(x);
  return st;
}

bl_status bl_update_rows(bl_table *t, const char *const *set, size_t n_set, const char *where,
                         const bl_write_options *o, bl_write_result *r, bl_error *err) {
  update u = {.set = set, .n_set = n_set, .where = where};
  return bl_change_run(t, o, "update", stage, &u, r, err);
}

/* delete.c: delete --where. Only the predicate's columns are read; files of which every row must match go unopened. */
#include "write/change.h"

static int64_t count_found(const bl_touch *x) {
  int64_t n = 0;
  for (size_t i = 0; i < x->n_files; i++) n += x->files[i].n_found;
  return n;
}

static bl_status stage(bl_change *c, void *user, bl_error *err) {
  bl_expr *filter;
  bl_touch *x = NULL;
  bl_writer_pool *pool = NULL;
  bl_status st;
  BL_GO(bl_change_filter(c, user, &filter, err));
  c->staged->conflict_filter = filter;
  BL_GO(bl_touch_new(c->t, c->head, filter, &x, err));
  BL_GO(bl_touch_find_filter(x, true, err));
  c->counts.rows_deleted = count_found(x);
  if (c->o->dry_run) goto done;
  BL_GO(bl_change_writers(c, true, &pool, err));
  BL_GO(bl_change_remove_found(c, x, pool, err));
  st = bl_writer_pool_finish(pool, err);
  pool = NULL;
done:
  bl_writer_pool_abort(pool);
  bl_touch_free(x);
  return st;
}

bl_status bl_delete_rows(bl_table *t, const char *where, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  return bl_change_run(t, o, "delete", stage, (void *)where, r, err);
}

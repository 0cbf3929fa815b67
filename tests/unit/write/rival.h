/* rival.h: another who commits between the staging of a verb of a world and its commit, for tests.
 *
 *   rival r;
 *   rival_begin(&r, &w, 2, act);      act(t, i, err) of the i-th of two attempts that are lost, with a handle of its
 * own …                                 verbs of w rival_end(&r);                    before world_end */
#ifndef BL_TESTS_WRITE_RIVAL_H
#define BL_TESTS_WRITE_RIVAL_H

#include "edge/io_local.h"
#include "support/fault_io.h"
#include "verbs_world.h"

typedef struct rival {
  world *w;
  int left, done;
  bl_status (*act)(bl_table *t, int i, bl_error *err);
  fault_io fault;
  bl_drivers defaults, own;
} rival;

static inline bl_status rival_before_lock(void *user, long call, const char *operation, const char *path,
                                          bl_error *err) {
  rival *r = user;
  bl_table *t = NULL;
  (void)call, (void)path;
  if (r->left == 0 || strcmp(operation, "lock") != 0) return BL_OK;
  r->left--;
  bl_status st = bl_table_open(r->w->ctx, r->w->table, NULL, &t, err);
  if (st == BL_OK) st = r->act(t, r->done++, err);
  bl_table_free(t);
  return st;
}

static inline void rival_begin(rival *r, world *w, int n, bl_status (*act)(bl_table *, int, bl_error *)) {
  bl_error err = BL_ERROR_INIT;
  bl_io *local = NULL;
  *r = (rival){.w = w, .left = n, .act = act};
  test_ok(bl_drivers_default(w->ctx, &r->defaults, &err), &err);
  test_ok(bl_io_local_new(w->ctx, &local, &err), &err);
  r->own = r->defaults;
  r->own.io = fault_io_new(&r->fault, local);
  r->fault.hook = rival_before_lock;
  r->fault.user = r;
  w->to.drivers = &r->own;
  world_reopen(w);
}

static inline void rival_end(rival *r) {
  r->w->to.drivers = NULL;
  world_reopen(r->w);
  r->own.io->free(r->own.io);
  bl_drivers_dispose(&r->defaults);
}

/* NDJSON. */
static inline bl_status rival_appends(bl_table *t, const char *lines, bl_error *err) {
  text_input in = bytes_of(lines);
  struct ArrowArrayStream rows;
  BL_TRY(bl_read_rows(t, &in.in, NULL, NULL, &rows, err));
  return bl_append(t, &rows, NULL, NULL, err);
}

#endif

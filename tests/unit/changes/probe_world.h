/* probe_world.h: rows of rewritten files, for the tests of the probe and of its id table: each removed file holds ids
 * in any order, each added file holds some of them again, some with a new sequence number, and new ones. */
#ifndef BL_TESTS_CHANGES_PROBE_WORLD_H
#define BL_TESTS_CHANGES_PROBE_WORLD_H

#include "changes/probe.h"

#include <stdlib.h>

#include "random.h"

typedef struct world_row {
  int64_t id, seq;
  bool there; /* on the side */
  uint32_t file;
  int64_t pos;
} world_row;

typedef struct probe_world {
  bl_ctx *ctx;
  bl_files files;
  bl_manifest_entry entries[8]; /* 0 … 3 removed ones, 4 … 7 added ones */
  int64_t n;                    /* rows, by number */
  int64_t *ids;                 /* of each, ascending */
  world_row *side[2];
  bl_run *runs[2];
  size_t n_runs[2];
  bl_error err;
} probe_world;

/* Rows in a random order over the four files of a side; a run for each row, or longer ones where order is kept. */
static inline void lay_out(probe_world *w, int side, bool shuffled, rng *r) {
  int64_t *order = calloc((size_t)w->n + 1, sizeof *order), pos[4] = {0};
  assert_non_null(order);
  for (int64_t i = 0; i < w->n; i++) order[i] = i;
  for (int64_t i = w->n - 1; shuffled && i > 0; i--) {
    int64_t k = rng_between(r, 0, i), t = order[i];
    order[i] = order[k];
    order[k] = t;
  }
  w->n_runs[side] = 0;
  for (int64_t i = 0; i < w->n; i++) {
    world_row *x = &w->side[side][order[i]];
    if (!x->there) continue;
    uint32_t f = (uint32_t)(i * 4 / w->n);
    x->file = (uint32_t)side * 4 + f;
    x->pos = pos[f]++;
    bl_run *last = w->n_runs[side] ? &w->runs[side][w->n_runs[side] - 1] : NULL;
    if (last && last->file == x->file && last->seq == x->seq && last->id + last->len == x->id) {
      last->len++;
      continue;
    }
    w->runs[side][w->n_runs[side]++] = (bl_run){.id = x->id, .seq = x->seq, .pos = x->pos, .file = x->file, .len = 1};
  }
  for (int f = 0; f < 4; f++) w->entries[side * 4 + f].file.record_count = pos[f];
  free(order);
}

/* n rows whose ids lie up to `gap` from one another. Of 100 rows about 5 change, 3 go and 3 come. */
static inline void probe_world_make(probe_world *w, bl_ctx *ctx, int64_t n, int64_t gap, bool shuffled, uint64_t seed) {
  rng r = {seed};
  memset(w, 0, sizeof *w);
  *w = (probe_world){.ctx = ctx, .n = n, .err = BL_ERROR_INIT};
  w->ids = calloc((size_t)n + 1, sizeof *w->ids);
  assert_non_null(w->ids);
  for (int side = 0; side < 2; side++) {
    w->side[side] = calloc((size_t)n + 1, sizeof *w->side[side]);
    w->runs[side] = calloc((size_t)n + 1, sizeof *w->runs[side]);
    assert_non_null(w->side[side]);
    assert_non_null(w->runs[side]);
  }
  for (int64_t i = 0, id = rng_between(&r, 0, gap); i < n; i++, id += rng_between(&r, 1, gap)) {
    int64_t luck = rng_between(&r, 0, 99), seq = rng_between(&r, 1, 3);
    w->ids[i] = id;
    w->side[0][i] = (world_row){.id = id, .seq = seq, .there = luck >= 3};
    w->side[1][i] = (world_row){.id = id, .seq = luck >= 95 ? 9 : seq, .there = luck < 3 || luck > 5};
  }
  lay_out(w, 0, shuffled, &r);
  lay_out(w, 1, shuffled, &r);
  bl_files_init(&w->files, ctx);
  for (uint32_t i = 0, number; i < 8; i++) {
    w->entries[i].file.path = BL_STR("f");
    test_ok(bl_files_add(&w->files, &w->entries[i], BL_BASIS_ROW_ID, &number, &w->err), &w->err);
    assert_int_equal(number, i);
  }
}

static inline void probe_world_dispose(probe_world *w) {
  bl_files_dispose(&w->files);
  free(w->ids);
  for (int side = 0; side < 2; side++) {
    free(w->side[side]);
    free(w->runs[side]);
  }
}

#endif

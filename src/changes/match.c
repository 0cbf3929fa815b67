/* match.c: C4 of join.h. Both sides are sorted by hash, then rows without id before rows with, those by (rank, pos),
 * these by id; in a group of equal hashes the matches are then read off from the front. */
#include "changes/join.h"

#include <stdlib.h>

typedef struct matching {
  bl_hashed_row *side[2];
  size_t n[2];
  bl_status (*matched)(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err);
  bl_status (*rest)(void *user, int side, const bl_hashed_row *row, bl_error *err);
  void *user;
} matching;

static int by_hash(const void *a, const void *b, void *user) {
  const bl_hashed_row *x = a, *y = b;
  const uint32_t *rank = user;
  int c = bl_hash128_cmp(x->hash, y->hash);
  if (c) return c;
  if (x->id != y->id) return x->id < y->id ? -1 : 1; /* INT64_MIN: no id */
  uint32_t r = rank[x->file], s = rank[y->file];
  if (r != s) return r < s ? -1 : 1;
  return (x->pos > y->pos) - (x->pos < y->pos);
}

static size_t without_id(const bl_hashed_row *r, size_t n) {
  size_t k = 0;
  while (k < n && r[k].id == INT64_MIN) k++;
  return k;
}

/* One group of equal hashes: r[0][0..n[0]) and r[1][0..n[1]). */
static bl_status match_group(const matching *m, bl_hashed_row *const r[2], const size_t n[2], bl_error *err) {
  size_t nulls[2] = {without_id(r[0], n[0]), without_id(r[1], n[1])};
  size_t both = nulls[0] < nulls[1] ? nulls[0] : nulls[1];
  for (size_t i = 0; i < both; i++) BL_TRY(m->matched(m->user, &r[0][i], &r[1][i], err));
  int more = nulls[0] > both ? 0 : 1; /* the side that has rows without id left */
  size_t left = nulls[more] - both, ids = n[1 - more] - nulls[1 - more], k = left < ids ? left : ids;
  for (size_t i = 0; i < k; i++) {
    const bl_hashed_row *null = &r[more][both + i], *with = &r[1 - more][nulls[1 - more] + i];
    BL_TRY(more == 0 ? m->matched(m->user, null, with, err) : m->matched(m->user, with, null, err));
  }
  for (size_t i = both + k; i < nulls[more]; i++) BL_TRY(m->rest(m->user, more, &r[more][i], err));
  for (size_t i = nulls[more]; i < n[more]; i++) BL_TRY(m->rest(m->user, more, &r[more][i], err));
  for (size_t i = nulls[1 - more] + k; i < n[1 - more]; i++) BL_TRY(m->rest(m->user, 1 - more, &r[1 - more][i], err));
  return BL_OK;
}

static bl_status match_sorted(matching *m, bl_error *err) {
  size_t at[2] = {0, 0};
  while (at[0] < m->n[0] || at[1] < m->n[1]) {
    bl_hashed_row *r[2] = {m->side[0] + at[0], m->side[1] + at[1]};
    int c = at[0] == m->n[0] ? 1 : at[1] == m->n[1] ? -1 : bl_hash128_cmp(r[0]->hash, r[1]->hash);
    bl_hash128 h = c > 0 ? r[1]->hash : r[0]->hash;
    size_t n[2] = {0, 0};
    for (int k = 0; k < 2; k++)
      while (at[k] + n[k] < m->n[k] && bl_hash128_eq(r[k][n[k]].hash, h)) n[k]++;
    BL_TRY(match_group(m, r, n, err));
    at[0] += n[0];
    at[1] += n[1];
  }
  return BL_OK;
}

bl_status bl_match_values(
    bl_hashed_row *removed, size_t n_removed, bl_hashed_row *added, size_t n_added, const uint32_t *rank,
    bl_status (*matched)(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err),
    bl_status (*rest)(void *user, int side, const bl_hashed_row *row, bl_error *err), void *user, bl_error *err) {
  matching m = {{removed, added}, {n_removed, n_added}, matched, rest, user};
  for (int k = 0; k < 2; k++) qsort_r(m.side[k], m.n[k], sizeof *m.side[k], by_hash, (void *)(uintptr_t)rank);
  return match_sorted(&m, err);
}

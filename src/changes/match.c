/* match.c: C4 of join.h. Both sides come in the order of their hashes; in a group of equal hashes, rows without id come
 * first. So the matches are read off from the front, and nothing is kept but the row at hand of each side. */
#include "changes/join.h"

#define NO_ID INT64_MIN

typedef struct matching {
  bl_sorter *in[2];
  bl_hashed_row row[2]; /* at hand */
  bool has[2];
  bl_hash128 hash; /* of the group */
  bl_status (*matched)(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err);
  bl_status (*rest)(void *user, int side, const bl_hashed_row *row, bl_error *err);
  void *user;
} matching;

int bl_hashed_cmp(const void *a, const void *b, void *user) {
  const bl_hashed_row *x = a, *y = b;
  const uint32_t *rank = user;
  int c = bl_hash128_cmp(x->hash, y->hash);
  if (c) return c;
  if (x->id != y->id) return x->id < y->id ? -1 : 1; /* INT64_MIN: no id */
  uint32_t r = rank[x->file], s = rank[y->file];
  if (r != s) return r < s ? -1 : 1;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->file > y->file) - (x->file < y->file); /* a path that was added again */
}

static bl_status next(matching *m, int side, bl_error *err) {
  const void *r;
  BL_TRY(bl_sorter_next(m->in[side], &r, err));
  m->has[side] = r != NULL;
  if (r) memcpy(&m->row[side], r, sizeof m->row[side]);
  return BL_OK;
}

static bool in_group(const matching *m, int side) {
  return m->has[side] && bl_hash128_eq(m->row[side].hash, m->hash);
}

static bool null_in_group(const matching *m, int side) {
  return in_group(m, side) && m->row[side].id == NO_ID;
}

static bl_status match_heads(matching *m, bl_error *err) {
  BL_TRY(m->matched(m->user, &m->row[0], &m->row[1], err));
  BL_TRY(next(m, 0, err));
  return next(m, 1, err);
}

static bl_status match_group(matching *m, bl_error *err) {
  while (null_in_group(m, 0) && null_in_group(m, 1)) BL_TRY(match_heads(m, err));
  int more = null_in_group(m, 0) ? 0 : 1; /* the side that has rows without id left */
  while (null_in_group(m, more) && in_group(m, 1 - more)) BL_TRY(match_heads(m, err));
  for (int side = 0; side < 2; side++)
    while (in_group(m, side)) {
      BL_TRY(m->rest(m->user, side, &m->row[side], err));
      BL_TRY(next(m, side, err));
    }
  return BL_OK;
}

bl_status bl_match_values(bl_sorter *removed, bl_sorter *added,
                          bl_status (*matched)(void *user, const bl_hashed_row *before, const bl_hashed_row *after,
                                               bl_error *err),
                          bl_status (*rest)(void *user, int side, const bl_hashed_row *row, bl_error *err), void *user,
                          bl_error *err) {
  matching m = {.in = {removed, added}, .matched = matched, .rest = rest, .user = user};
  for (int side = 0; side < 2; side++) BL_TRY(next(&m, side, err));
  while (m.has[0] || m.has[1]) {
    int lower = !m.has[0] || (m.has[1] && bl_hash128_cmp(m.row[1].hash, m.row[0].hash) < 0);
    m.hash = m.row[lower].hash;
    BL_TRY(match_group(&m, err));
  }
  return BL_OK;
}

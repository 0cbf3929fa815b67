/* test_match.c: rows without ids matched by value (docs/changelog.md C4), against a twin that compares every pair. */
#include "changes/join.h"

#include "random.h"

enum { MOST = 60, FILES = 4 };

typedef struct outcome {
  int64_t with[2][MOST]; /* number of the partner, -1: left over, -2: not told yet */
  bl_hashed_row rows[2][MOST];
  size_t n[2];
} outcome;

/* pos numbers the rows of a side; file is free, so that rank and pos order them. */
static bl_status on_matched(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err) {
  outcome *o = user;
  (void)err;
  assert_int_equal(o->with[0][before->ordinal], -2);
  assert_int_equal(o->with[1][after->ordinal], -2);
  o->with[0][before->ordinal] = after->ordinal;
  o->with[1][after->ordinal] = before->ordinal;
  return BL_OK;
}

static bl_status on_rest(void *user, int side, const bl_hashed_row *row, bl_error *err) {
  outcome *o = user;
  (void)err;
  assert_int_equal(o->with[side][row->ordinal], -2);
  o->with[side][row->ordinal] = -1;
  return BL_OK;
}

static void start(outcome *o) {
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < MOST; i++) o->with[k][i] = -2;
}

/* ---- the twin ---- */

static bool first_in_order(const uint32_t *rank, const bl_hashed_row *a, const bl_hashed_row *b) {
  if (a->id != b->id) return a->id < b->id;
  if (rank[a->file] != rank[b->file]) return rank[a->file] < rank[b->file];
  return a->pos < b->pos;
}

/* The first free row of a side with that hash, with or without an id; -1. */
static int64_t find(const outcome *o, int side, const uint32_t *rank, bl_hash128 hash, bool has_id) {
  int64_t best = -1;
  for (size_t i = 0; i < o->n[side]; i++) {
    const bl_hashed_row *r = &o->rows[side][i];
    if (o->with[side][i] != -2 || !bl_hash128_eq(r->hash, hash) || (r->id != INT64_MIN) != has_id) continue;
    if (best < 0 || first_in_order(rank, r, &o->rows[side][best])) best = (int64_t)i;
  }
  return best;
}

static void twin(outcome *o, const uint32_t *rank) {
  start(o);
  for (int round = 0; round < 3; round++) { /* null with null, null with an id, an id with null */
    bool ids[2] = {round == 2, round == 1};
    for (int64_t h = 0; h < 8; h++)
      for (;;) {
        bl_hash128 hash = {.lo = (uint64_t)h, .hi = 1};
        int64_t a = find(o, 0, rank, hash, ids[0]), b = find(o, 1, rank, hash, ids[1]);
        if (a < 0 || b < 0) break;
        o->with[0][a] = b;
        o->with[1][b] = a;
      }
  }
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < o->n[k]; i++)
      if (o->with[k][i] == -2) o->with[k][i] = -1;
}

static void random_rows(outcome *o, rng *r) {
  int64_t hashes = rng_between(r, 1, 8), with_ids = rng_between(r, 0, 4);
  for (int k = 0; k < 2; k++) {
    o->n[k] = (size_t)rng_between(r, 0, MOST);
    for (size_t i = 0; i < o->n[k]; i++)
      o->rows[k][i] = (bl_hashed_row){.hash = {.lo = (uint64_t)rng_between(r, 0, hashes - 1), .hi = 1},
                                      .id = rng_between(r, 0, 3) < with_ids ? rng_between(r, 0, 40) : INT64_MIN,
                                      .pos = (int64_t)i,
                                      .file = (uint32_t)rng_between(r, 0, FILES - 1),
                                      .ordinal = (uint32_t)i};
  }
}

typedef bl_status on_match(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err);

/* budget: of the sorters, in bytes. */
static bl_status match(outcome *o, const uint32_t *rank, on_match *matched, int64_t budget, bl_error *err) {
  bl_ctx *ctx = test_ctx();
  bl_sorter *s[2];
  for (int k = 0; k < 2; k++) {
    test_ok(bl_sorter_new(ctx, sizeof(bl_hashed_row), budget, bl_hashed_cmp, (void *)(uintptr_t)rank, &s[k], err), err);
    for (size_t i = 0; i < o->n[k]; i++) test_ok(bl_sorter_add(s[k], &o->rows[k][i], err), err);
    test_ok(bl_sorter_finish(s[k], err), err);
  }
  start(o);
  bl_status st = bl_match_values(s[0], s[1], matched, on_rest, o, err);
  for (int k = 0; k < 2; k++) bl_sorter_free(s[k]);
  test_ctx_free(ctx);
  return st;
}

static void run(outcome *o, const uint32_t *rank, int64_t budget) {
  bl_error err = BL_ERROR_INIT;
  test_ok(match(o, rank, on_matched, budget, &err), &err);
}

static void test_match__pairs_rows_as_if_each_was_compared_with_each(void **state) {
  (void)state;
  rng r = {3};
  for (int round = 0; round < 2000; round++) {
    outcome got = {0}, want;
    uint32_t rank[FILES];
    for (size_t i = 0; i < FILES; i++) rank[i] = (uint32_t)rng_between(&r, 0, FILES - 1);
    random_rows(&got, &r);
    want = got;
    run(&got, rank, round % 2 ? 1 << 20 : 1); /* the small one spills */
    twin(&want, rank);
    for (int k = 0; k < 2; k++)
      for (size_t i = 0; i < got.n[k]; i++) assert_int_equal(got.with[k][i], want.with[k][i]);
  }
}

static void test_match__never_pairs_two_rows_with_ids(void **state) {
  (void)state;
  const uint32_t rank[FILES] = {0};
  outcome o = {.n = {1, 1}};
  o.rows[0][0] = (bl_hashed_row){.id = 5};
  o.rows[1][0] = (bl_hashed_row){.id = 6};
  run(&o, rank, 1 << 20);
  assert_int_equal(o.with[0][0], -1);
  assert_int_equal(o.with[1][0], -1);
}

static void test_match__prefers_null_with_null_then_the_lowest_id(void **state) {
  (void)state;
  const uint32_t rank[FILES] = {0};
  outcome o = {.n = {3, 3}};
  for (uint32_t i = 0; i < 3; i++) {
    o.rows[0][i] = (bl_hashed_row){.id = INT64_MIN, .pos = i, .ordinal = i};
    o.rows[1][i] = (bl_hashed_row){.id = i == 1 ? INT64_MIN : 9 - (int64_t)i, .pos = i, .ordinal = i};
  }
  run(&o, rank, 1 << 20);
  assert_int_equal(o.with[0][0], 1); /* null */
  assert_int_equal(o.with[0][1], 2); /* id 7 */
  assert_int_equal(o.with[0][2], 0); /* id 9 */
}

static bl_status refuse_match(void *user, const bl_hashed_row *a, const bl_hashed_row *b, bl_error *err) {
  (void)user, (void)a, (void)b;
  return bl_fail(err, BL_CANCELLED, "enough");
}

static void test_match__passes_on_what_the_callback_says(void **state) {
  (void)state;
  const uint32_t rank[FILES] = {0};
  bl_error err = BL_ERROR_INIT;
  outcome o = {.n = {1, 1}};
  o.rows[0][0] = o.rows[1][0] = (bl_hashed_row){.id = INT64_MIN};
  test_status(BL_CANCELLED, match(&o, rank, refuse_match, 1 << 20, &err), &err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_match__pairs_rows_as_if_each_was_compared_with_each),
      cmocka_unit_test(test_match__never_pairs_two_rows_with_ids),
      cmocka_unit_test(test_match__prefers_null_with_null_then_the_lowest_id),
      cmocka_unit_test(test_match__passes_on_what_the_callback_says),
  };
  return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}

/* test_order.c: events dealt out or sorted, whatever memory there is, against qsort; rows of a history. */
#include "changes/order.h"

#include "model/manifest.h"
#include "random.h"

enum { MOST = 600, FILES = 4, ORDINALS = 5 };

static const uint32_t ranks[FILES] = {2, 0, 2, 1}; /* two versions of one path */

/* Each test's events, numbered as they are added by before_seq (else after_seq). */
typedef struct arrival {
  bl_event events[MOST];
  size_t n;
} arrival;

static int64_t number_of(const bl_event *e) {
  return e->type == BL_INSERT ? e->after_seq : e->before_seq;
}

static bl_event event_of(rng *r, int64_t id, uint32_t ordinal, int64_t number) {
  bl_run before = {
      .id = id, .seq = number, .pos = rng_between(r, 0, 3), .file = (uint32_t)rng_between(r, 0, FILES - 1)};
  bl_run after = {.id = id, .seq = number, .pos = rng_between(r, 0, 3), .file = (uint32_t)rng_between(r, 0, FILES - 1)};
  int64_t type = rng_between(r, 0, 2);
  bl_event e = bl_event_of(type == 0 ? NULL : &before, type == 1 ? NULL : &after, 1);
  e.ordinal = ordinal;
  return e;
}

static int compare(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

static int64_t sort_id(const bl_event *e) {
  return bl_event_id(e) == BL_NONE ? INT64_MAX : bl_event_id(e);
}

static int by_output(const void *a, const void *b) {
  static const int turns[] = {[BL_DELETE] = 0, [BL_UPDATE] = 1, [BL_INSERT] = 2};
  const bl_event *x = a, *y = b;
  bool xa = x->type != BL_DELETE, ya = y->type != BL_DELETE;
  uint32_t f = xa ? x->after_file : x->before_file, g = ya ? y->after_file : y->before_file;
  int c = compare(x->ordinal, y->ordinal);
  if (!c) c = compare(sort_id(x), sort_id(y));
  if (!c) c = compare(ranks[f], ranks[g]);
  if (!c) c = compare(xa ? x->after_pos : x->before_pos, ya ? y->after_pos : y->before_pos);
  if (!c) c = compare(turns[x->type], turns[y->type]);
  if (!c) c = compare(f, g);
  return c ? c : compare(number_of(x), number_of(y)); /* stable */
}

static bl_status make(bl_ctx *ctx, const arrival *a, int64_t budget, bl_order_kind kind, bl_event_order **out,
                      bl_error *err) {
  bl_spool *s;
  bl_order_options o = {.rank = ranks, .n_ordinals = ORDINALS, .kind = kind};
  BL_TRY(bl_spool_new(ctx, sizeof(bl_event), budget, &s, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < a->n; i++) st = bl_spool_add(s, &a->events[i], err);
  if (st == BL_OK) {
    st = bl_event_order_new(ctx, &s, &o, out, err);
    assert_null(s);
  }
  bl_spool_free(s);
  return st;
}

static void assert_order(const arrival *a, int64_t budget) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.memory_budget = budget;
  test_heap h = {0};
  bl_ctx *ctx = test_ctx_on(&h, &o);
  bl_error err = BL_ERROR_INIT;
  bl_event_order *order;
  const bl_event *e;
  arrival *want = malloc(sizeof *want);
  assert_non_null(want);
  *want = *a;
  qsort(want->events, want->n, sizeof *want->events, by_output);
  test_ok(make(ctx, a, budget, BL_ORDER_OUTPUT, &order, &err), &err);
  for (size_t i = 0; i < want->n; i++) {
    test_ok(bl_event_order_next(order, &e, &err), &err);
    assert_non_null(e);
    assert_memory_equal(e, &want->events[i], sizeof *e);
  }
  for (int i = 0; i < 2; i++) { /* the end stays the end */
    test_ok(bl_event_order_next(order, &e, &err), &err);
    assert_null(e);
  }
  free(want);
  bl_event_order_free(order);
  test_ctx_free(ctx);
}

static void assert_orders(const arrival *a) {
  const int64_t budgets[] = {1, 3000, 20000, 1 << 20};
  for (size_t i = 0; i < BL_LEN(budgets); i++) assert_order(a, budgets[i]);
}

static void test_order__deals_events_that_come_by_id_to_their_ordinals(void **state) {
  (void)state;
  rng r = {3};
  arrival a;
  for (int round = 0; round < 20; round++) {
    a.n = (size_t)rng_between(&r, 0, round ? MOST : 0);
    for (size_t i = 0; i < a.n; i++)
      a.events[i] = event_of(&r, 7 * (int64_t)i, (uint32_t)rng_between(&r, 0, ORDINALS - 1), (int64_t)i);
    assert_orders(&a);
  }
}

static void test_order__leaves_a_log_as_it_is(void **state) {
  (void)state;
  rng r = {4};
  arrival a = {.n = MOST};
  for (size_t i = 0; i < a.n; i++) a.events[i] = event_of(&r, (int64_t)(i % 120), (uint32_t)(i / 120), (int64_t)i);
  assert_orders(&a);
}

static void test_order__sorts_whatever_comes_otherwise(void **state) {
  (void)state;
  rng r = {5};
  arrival a;
  for (int round = 0; round < 40; round++) {
    int64_t ids = rng_between(&r, 0, round % 2 ? 5 : 1000);
    a.n = (size_t)rng_between(&r, 1, MOST);
    for (size_t i = 0; i < a.n; i++) {
      int64_t id = rng_between(&r, 0, 4) ? rng_between(&r, 0, ids) : BL_NONE;
      a.events[i] = event_of(&r, id, (uint32_t)rng_between(&r, 0, ORDINALS - 1), (int64_t)i);
    }
    assert_orders(&a);
  }
}

static void test_order__takes_ordinals_beyond_those_that_were_told(void **state) {
  (void)state;
  rng r = {6};
  arrival a = {.n = MOST};
  for (int round = 0; round < 5; round++) {
    for (size_t i = 0; i < a.n; i++)
      a.events[i] = event_of(&r, (int64_t)i, (uint32_t)rng_between(&r, 0, ORDINALS + 3), (int64_t)i);
    assert_orders(&a);
  }
}

/* A history's versions of a row come together, its runs as single rows. */
static void test_order__brings_the_versions_of_a_row_together(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_event_order *order;
  const bl_event *e;
  bl_run run = {.id = 10, .seq = 1, .pos = 0, .file = 1}, later = {.id = 11, .seq = 2, .pos = 5, .file = 3};
  bl_run gone = {.id = 11, .seq = 1, .pos = 1, .file = 1}, no_id = {.id = BL_NONE, .seq = BL_NONE, .pos = 3, .file = 0};
  arrival a = {.n = 3};
  a.events[0] = bl_event_of(NULL, &run, 3);
  a.events[1] = bl_event_of(NULL, &no_id, 2);
  a.events[2] = bl_event_of(&gone, &later, 1);
  a.events[2].ordinal = 1;
  test_ok(make(ctx, &a, 1 << 20, BL_ORDER_BY_ROW, &order, &err), &err);
  const struct {
    int64_t id, pos;
    uint32_t ordinal;
  } want[] = {{10, 0, 0}, {11, 1, 0}, {11, 5, 1}, {12, 2, 0}, {BL_NONE, 3, 0}, {BL_NONE, 4, 0}};
  for (size_t i = 0; i < BL_LEN(want); i++) {
    test_ok(bl_event_order_next(order, &e, &err), &err);
    assert_non_null(e);
    assert_int_equal(e->after_id, want[i].id);
    assert_int_equal(e->after_pos, want[i].pos);
    assert_int_equal(e->ordinal, want[i].ordinal);
    assert_int_equal(e->len, 1);
  }
  test_ok(bl_event_order_next(order, &e, &err), &err);
  assert_null(e);
  bl_event_order_free(order);
  bl_event_order_free(NULL);
  test_ctx_free(ctx);
}

static void test_order__gives_events_by_place(void **state) {
  (void)state;
  rng r = {8};
  arrival a = {.n = MOST};
  for (size_t i = 0; i < a.n; i++)
    a.events[i] = event_of(&r, rng_between(&r, 0, 50), (uint32_t)rng_between(&r, 0, ORDINALS - 1), (int64_t)i);
  for (int64_t budget = 1; budget <= 1 << 20; budget <<= 20) {
    bl_ctx *ctx = test_ctx();
    bl_error err = BL_ERROR_INIT;
    bl_event_order *order;
    const bl_event *e;
    uint32_t rank = 0;
    int64_t pos = 0;
    size_t n = 0;
    test_ok(make(ctx, &a, budget, BL_ORDER_BY_PLACE, &order, &err), &err);
    for (;; n++) {
      test_ok(bl_event_order_next(order, &e, &err), &err);
      if (!e) break;
      bool after = e->type != BL_DELETE;
      uint32_t at = ranks[after ? e->after_file : e->before_file];
      int64_t p = after ? e->after_pos : e->before_pos;
      assert_true(at > rank || (at == rank && p >= pos));
      rank = at;
      pos = p;
    }
    assert_int_equal(n, a.n);
    bl_event_order_free(order);
    test_ctx_free(ctx);
  }
}

static bl_status order_some(bl_ctx *ctx, void *user, bl_error *err) {
  const arrival *a = user;
  bl_event_order *order;
  const bl_event *e;
  size_t n = 0;
  BL_TRY(make(ctx, a, 1 << 20, BL_ORDER_OUTPUT, &order, err));
  bl_status st = BL_OK;
  for (;; n++) {
    st = bl_event_order_next(order, &e, err);
    if (st != BL_OK || !e) break;
  }
  if (st == BL_OK) assert_int_equal(n, a->n);
  bl_event_order_free(order);
  return st;
}

static void test_order__says_when_memory_runs_out(void **state) {
  (void)state;
  rng r = {7};
  arrival a = {.n = 50};
  for (int sorted = 0; sorted < 2; sorted++) {
    for (size_t i = 0; i < a.n; i++)
      a.events[i] = event_of(&r, sorted ? (int64_t)i : rng_between(&r, 0, 9), (uint32_t)(i % 3), (int64_t)i);
    test_fail_each(order_some, &a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order__deals_events_that_come_by_id_to_their_ordinals),
      cmocka_unit_test(test_order__leaves_a_log_as_it_is),
      cmocka_unit_test(test_order__sorts_whatever_comes_otherwise),
      cmocka_unit_test(test_order__takes_ordinals_beyond_those_that_were_told),
      cmocka_unit_test(test_order__brings_the_versions_of_a_row_together),
      cmocka_unit_test(test_order__gives_events_by_place),
      cmocka_unit_test(test_order__says_when_memory_runs_out),
  };
  return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}

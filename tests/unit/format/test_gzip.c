/* test_gzip.c: unpacking gzip by content. */
#include <zlib.h>

#include "arena_fixture.h"
#include "format/metadata_json.h"

/* One gzip member of p behind what b holds. */
static void add_member(bl_buf *b, const void *p, size_t n) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  size_t room = deflateBound(&z, n) + 64;
  z.next_in = (Bytef *)(uintptr_t)p;
  z.avail_in = (uInt)n;
  z.next_out = bl_buf_reserve(b, room);
  assert_non_null(z.next_out);
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  b->n += room - z.avail_out;
  deflateEnd(&z);
}

typedef struct pair {
  fixture f;
  bl_buf in, out;
} pair;

static void pair_open(pair *t) {
  fixture_open(&t->f);
  bl_buf_init(&t->in, t->f.ctx, BL_BUF_MAX);
  bl_buf_init(&t->out, t->f.ctx, BL_BUF_MAX);
}

static void pair_close(pair *t) {
  bl_buf_free(&t->in);
  bl_buf_free(&t->out);
  fixture_close(&t->f);
}

static bl_status unpack(pair *t, size_t n, size_t max) {
  bl_buf_clear(&t->out);
  return bl_gunzip(t->f.ctx, t->in.p, n, max, &t->out, &t->f.err);
}

static void test_gzip__plain_bytes_are_copied(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  bl_buf_cstr(&t.in, "{\"plain\":1}");
  test_ok(unpack(&t, t.in.n, 11), &t.f.err);
  assert_int_equal(t.out.n, 11);
  assert_memory_equal(t.out.p, "{\"plain\":1}", 11);
  test_ok(unpack(&t, 0, 11), &t.f.err);
  assert_int_equal(t.out.n, 0);
  assert_refused(&t.f.err, unpack(&t, t.in.n, 10), BL_DAMAGED, "limit");
  pair_close(&t);
}

static void test_gzip__any_number_of_members_is_one_text(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  add_member(&t.in, "one ", 4);
  add_member(&t.in, "", 0);
  add_member(&t.in, "two", 3);
  test_ok(unpack(&t, t.in.n, 7), &t.f.err);
  assert_int_equal(t.out.n, 7);
  assert_memory_equal(t.out.p, "one two", 7);
  pair_close(&t);
}

static void test_gzip__large_content_comes_through(void **state) {
  (void)state;
  enum { N = 300000 };
  pair t;
  pair_open(&t);
  uint8_t *p = bl_arena_alloc(t.f.a, N, 1);
  for (uint32_t i = 0, x = 1; i < N; i++, x = x * 1664525u + 1013904223u) p[i] = (uint8_t)(x >> 24);
  add_member(&t.in, p, N);
  test_ok(unpack(&t, t.in.n, N), &t.f.err);
  assert_int_equal(t.out.n, N);
  assert_memory_equal(t.out.p, p, N);
  pair_close(&t);
}

static void test_gzip__every_truncation_is_refused(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  add_member(&t.in, "some text that is cut somewhere", 31);
  for (size_t n = 2; n < t.in.n; n++) assert_refused(&t.f.err, unpack(&t, n, 1000), BL_DAMAGED, "gzip");
  assert_refused(&t.f.err, unpack(&t, t.in.n - 1, 1000), BL_DAMAGED, "truncated");
  pair_close(&t);
}

static void test_gzip__a_flipped_bit_of_data_or_trailer_is_refused(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  add_member(&t.in, "some text that is damaged", 25);
  for (size_t i = 10; i < t.in.n; i++) {
    if (i == t.in.n - 9) continue; /* the last byte of data has unused bits */
    t.in.p[i] ^= 0x20;
    assert_refused(&t.f.err, unpack(&t, t.in.n, 1000), BL_DAMAGED, "gzip");
    t.in.p[i] ^= 0x20;
  }
  pair_close(&t);
}

static void test_gzip__bytes_behind_the_last_member_are_refused(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  add_member(&t.in, "x", 1);
  size_t end = t.in.n;
  bl_buf_cstr(&t.in, "{}");
  bl_status st = unpack(&t, t.in.n, 1000);
  assert_int_equal(t.f.err.position, end);
  assert_refused(&t.f.err, st, BL_DAMAGED, "behind the end");
  pair_close(&t);
}

static void test_gzip__a_bomb_stops_at_the_limit(void **state) {
  (void)state;
  enum { N = 8 << 20, MAX = 100000 };
  pair t;
  pair_open(&t);
  add_member(&t.in, bl_arena_calloc(t.f.a, N, 1), N);
  assert_true(t.in.n < 10000);
  assert_refused(&t.f.err, unpack(&t, t.in.n, MAX), BL_DAMAGED, "limit of 100000 bytes");
  assert_true(t.out.cap < 4 * MAX);
  assert_refused(&t.f.err, unpack(&t, t.in.n, N - 1), BL_DAMAGED, "limit");
  test_ok(unpack(&t, t.in.n, N), &t.f.err);
  pair_close(&t);
}

static bl_status unpack_and_drop(bl_ctx *ctx, void *user, bl_error *err) {
  bl_buf *in = user, out;
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_status st = bl_gunzip(ctx, in->p, in->n, 1000, &out, err);
  if (st == BL_OK) assert_memory_equal(out.p, "some text", 9);
  bl_buf_free(&out);
  return st;
}

static void test_gzip__every_failing_allocation_gives_no_memory(void **state) {
  (void)state;
  pair t;
  pair_open(&t);
  add_member(&t.in, "some text", 9);
  test_fail_each(unpack_and_drop, &t.in);
  pair_close(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gzip__plain_bytes_are_copied),
      cmocka_unit_test(test_gzip__any_number_of_members_is_one_text),
      cmocka_unit_test(test_gzip__large_content_comes_through),
      cmocka_unit_test(test_gzip__every_truncation_is_refused),
      cmocka_unit_test(test_gzip__a_flipped_bit_of_data_or_trailer_is_refused),
      cmocka_unit_test(test_gzip__bytes_behind_the_last_member_are_refused),
      cmocka_unit_test(test_gzip__a_bomb_stops_at_the_limit),
      cmocka_unit_test(test_gzip__every_failing_allocation_gives_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

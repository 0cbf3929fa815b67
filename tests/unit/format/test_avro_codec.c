/* test_avro_codec.c: the compressions of Avro blocks, one block at a time. */
#include <zstd.h>

#include "arena_fixture.h"
#include "format/avro_codec.h"

static const char *const names[] = {"null", "deflate", "snappy", "zstandard"};

typedef struct codec {
  fixture f;
  bl_avro_codec *c;
  bl_buf raw, packed, out;
} codec;

static void codec_open(codec *t, const char *name, size_t max) {
  fixture_open(&t->f);
  test_ok(bl_avro_codec_new(t->f.ctx, bl_str_of(name), &t->c, &t->f.err), &t->f.err);
  bl_buf_init(&t->raw, t->f.ctx, BL_BUF_MAX);
  bl_buf_init(&t->packed, t->f.ctx, BL_BUF_MAX);
  bl_buf_init(&t->out, t->f.ctx, max);
}

static void codec_close(codec *t) {
  bl_avro_codec_free(t->c);
  bl_buf_free(&t->raw);
  bl_buf_free(&t->packed);
  bl_buf_free(&t->out);
  fixture_close(&t->f);
}

static bl_status unpack(codec *t) {
  return bl_avro_unpack(t->c, t->packed.p, t->packed.n, 1234, &t->out, &t->f.err);
}

/* n bytes of which every fourth run repeats. */
static void fill(codec *t, size_t n) {
  uint32_t x = (uint32_t)n + 1;
  bl_buf_clear(&t->raw);
  for (size_t i = 0; i < n; i++) {
    if (i % 64 < 48) x = x * 1664525 + 1013904223;
    bl_buf_byte(&t->raw, (uint8_t)(x >> 24));
  }
}

static void test_avro_codec__what_is_packed_unpacks_the_same_in_any_size(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 2, 63, 64, 1000, 65535, 65536, 65537, 300000, 3000000};
  for (size_t k = 0; k < BL_LEN(names); k++) {
    codec t;
    codec_open(&t, names[k], BL_BUF_MAX);
    assert_int_equal(bl_avro_codec_is_null(t.c), k == 0);
    for (size_t i = 0; i < BL_LEN(sizes); i++) {
      fill(&t, sizes[i]);
      bl_buf_clear(&t.packed);
      test_ok(bl_avro_pack(t.c, t.raw.p, t.raw.n, &t.packed, &t.f.err), &t.f.err);
      test_ok(unpack(&t), &t.f.err);
      assert_int_equal(t.out.n, sizes[i]);
      if (sizes[i]) assert_memory_equal(t.out.p, t.raw.p, sizes[i]);
    }
    codec_close(&t);
  }
}

static void test_avro_codec__a_cut_block_never_unpacks(void **state) {
  (void)state;
  for (size_t k = 1; k < BL_LEN(names); k++) {
    codec t;
    codec_open(&t, names[k], BL_BUF_MAX);
    fill(&t, 500);
    test_ok(bl_avro_pack(t.c, t.raw.p, t.raw.n, &t.packed, &t.f.err), &t.f.err);
    for (size_t n = t.packed.n; n-- > 0;) {
      t.packed.n = n;
      bl_status st = unpack(&t);
      if (st != BL_DAMAGED) fail_msg("%s: %zu bytes gave %s", names[k], n, bl_status_name(st));
      assert_int_equal(t.f.err.position, 1234);
      assert_refused(&t.f.err, st, BL_DAMAGED, "byte 1234: compressed block");
    }
    codec_close(&t);
  }
}

static void test_avro_codec__bytes_behind_the_end_are_damage(void **state) {
  (void)state;
  for (size_t k = 1; k < BL_LEN(names); k++) {
    codec t;
    codec_open(&t, names[k], BL_BUF_MAX);
    fill(&t, 500);
    test_ok(bl_avro_pack(t.c, t.raw.p, t.raw.n, &t.packed, &t.f.err), &t.f.err);
    bl_buf_byte(&t.packed, 7);
    assert_refused(&t.f.err, unpack(&t), BL_DAMAGED, "compressed block");
    codec_close(&t);
  }
}

static void test_avro_codec__a_block_larger_than_the_limit_is_refused(void **state) {
  (void)state;
  for (size_t k = 0; k < BL_LEN(names); k++) {
    codec t;
    codec_open(&t, names[k], 1000);
    for (int i = 0; i < 2000; i++) bl_buf_byte(&t.raw, 'x');
    test_ok(bl_avro_pack(t.c, t.raw.p, t.raw.n, &t.packed, &t.f.err), &t.f.err);
    assert_refused(&t.f.err, unpack(&t), BL_DAMAGED, "more than");
    bl_buf_clear(&t.packed);
    test_ok(bl_avro_pack(t.c, t.raw.p, 999, &t.packed, &t.f.err), &t.f.err);
    test_ok(unpack(&t), &t.f.err);
    assert_int_equal(t.out.n, 999);
    codec_close(&t);
  }
}

/* Java streams: a frame that does not say how long it is, or several of them. */
static void test_avro_codec__zstandard_frames_without_size_and_in_a_row_unpack(void **state) {
  (void)state;
  codec t;
  codec_open(&t, "zstandard", BL_BUF_MAX);
  fill(&t, 400000);
  ZSTD_CCtx *z = ZSTD_createCCtx();
  uint8_t *to = bl_buf_reserve(&t.packed, ZSTD_compressBound(400000) * 2);
  ZSTD_outBuffer out = {to, ZSTD_compressBound(400000) * 2, 0};
  for (size_t at = 0; at < 400000; at += 100000) { /* two frames of two halves each */
    ZSTD_inBuffer in = {t.raw.p + at, 100000, 0};
    size_t left;
    do {
      left = ZSTD_compressStream2(z, &out, &in, at % 200000 ? ZSTD_e_end : ZSTD_e_flush);
      assert_false(ZSTD_isError(left));
    } while (left);
  }
  ZSTD_freeCCtx(z);
  t.packed.n = out.pos;
  assert_int_equal(ZSTD_getFrameContentSize(t.packed.p, t.packed.n), ZSTD_CONTENTSIZE_UNKNOWN);
  test_ok(unpack(&t), &t.f.err);
  assert_int_equal(t.out.n, 400000);
  assert_memory_equal(t.out.p, t.raw.p, 400000);
  codec_close(&t);
}

static void test_avro_codec__claimed_sizes_are_not_believed(void **state) {
  (void)state;
  /* a frame of zstandard that says 2^40 bytes, and snappy that says 2^32 - 1 */
  static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0};
  static const uint8_t snappy[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0};
  codec t;
  codec_open(&t, "zstandard", BL_BUF_MAX);
  bl_buf_add(&t.packed, zstd, sizeof zstd);
  assert_refused(&t.f.err, unpack(&t), BL_DAMAGED, "compressed block");
  assert_true(t.f.heap.peak_bytes < 1 << 20);
  codec_close(&t);
  codec_open(&t, "snappy", BL_BUF_MAX);
  bl_buf_add(&t.packed, snappy, sizeof snappy);
  assert_refused(&t.f.err, unpack(&t), BL_DAMAGED, "no snappy data");
  assert_true(t.f.heap.peak_bytes < 1 << 20);
  codec_close(&t);
}

static void test_avro_codec__names_are_exact(void **state) {
  (void)state;
  static const char *const odd[] = {"", "Null", "zstd", "bzip2", "xz", "deflate "};
  fixture f;
  bl_avro_codec *c;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(odd); i++)
    assert_refused(&f.err, bl_avro_codec_new(f.ctx, bl_str_of(odd[i]), &c, &f.err), BL_UNSUPPORTED, odd[i]);
  bl_avro_codec_free(NULL);
  fixture_close(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_avro_codec__what_is_packed_unpacks_the_same_in_any_size),
      cmocka_unit_test(test_avro_codec__a_cut_block_never_unpacks),
      cmocka_unit_test(test_avro_codec__bytes_behind_the_end_are_damage),
      cmocka_unit_test(test_avro_codec__a_block_larger_than_the_limit_is_refused),
      cmocka_unit_test(test_avro_codec__zstandard_frames_without_size_and_in_a_row_unpack),
      cmocka_unit_test(test_avro_codec__claimed_sizes_are_not_believed),
      cmocka_unit_test(test_avro_codec__names_are_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

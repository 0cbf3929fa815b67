/* test_avro_file.c: Avro object container files: written and read back, all codecs, damage of every kind. */
#include "arena_fixture.h"
#include "format/avro.h"

#define NUMBERS                                                                                                        \
  "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"n\",\"type\":\"long\",\"field-id\":1},"                 \
  "{\"name\":\"s\",\"type\":\"string\",\"field-id\":2}]}"

static const char *const codecs[] = {"null", "deflate", "snappy", "zstandard"};

/* n records (i, "record i … padding"). */
static bl_buf written(bl_ctx *ctx, const char *codec, int64_t n, size_t padding) {
  bl_error err = BL_ERROR_INIT;
  bl_avro_writer *w;
  bl_buf out;
  bl_str key = BL_STR("k"), value = BL_STR("v\0w");
  char *text = calloc(1, padding + 1);
  memset(text, 'x', padding);
  test_ok(bl_avro_writer_new(ctx, BL_STR(NUMBERS), codec, &key, &value, 1, &w, &err), &err);
  for (int64_t i = 0; i < n; i++) {
    bl_buf *b = bl_avro_writer_record(w);
    bl_avro_put_long(b, i);
    bl_avro_put_bytes(b, (bl_str){text, padding});
    test_ok(bl_avro_writer_end_record(w, &err), &err);
  }
  test_ok(bl_avro_writer_finish(w, &out, &err), &err);
  bl_avro_writer_free(w);
  free(text);
  return out;
}

/* Read all records, whose numbers must count up from *next. */
static bl_status read_on(bl_avro_reader *r, int64_t *next, int *blocks, bl_error *err) {
  for (;;) {
    const uint8_t *p;
    size_t n;
    int64_t records;
    BL_TRY(bl_avro_next_block(r, &p, &n, &records, err));
    if (!records) return BL_OK;
    bl_avro_cursor c;
    bl_avro_block_cursor(r, &c);
    assert_ptr_equal(c.p, p);
    for (int64_t i = 0; i < records; i++) {
      int64_t v;
      bl_str s;
      BL_TRY(bl_avro_long(&c, &v, err));
      BL_TRY(bl_avro_bytes(&c, &s, err));
      assert_int_equal(v, (*next)++);
    }
    if (blocks) ++*blocks;
  }
}

static bl_status read_all(bl_ctx *ctx, const void *p, size_t n, int64_t *records, int *blocks, bl_error *err) {
  bl_avro_reader *r;
  *records = 0;
  BL_TRY(bl_avro_open(ctx, p, n, &r, err));
  bl_status st = read_on(r, records, blocks, err);
  bl_avro_close(r);
  return st;
}

static void test_avro_file__reads_what_was_written_in_every_codec(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    bl_buf b = written(f.ctx, codecs[i], 5000, 30);
    bl_avro_reader *r;
    int64_t n = 0;
    int blocks = 0;
    test_ok(bl_avro_open(f.ctx, b.p, b.n, &r, &f.err), &f.err);
    assert_true(bl_str_is(bl_avro_header(r)->codec, codecs[i]));
    assert_int_equal(bl_avro_meta(r, "k").n, 3);
    assert_null(bl_avro_meta(r, "absent").p);
    assert_int_equal(bl_avro_header(r)->schema->children[1]->field_id, 2);
    test_ok(read_on(r, &n, &blocks, &f.err), &f.err);
    assert_int_equal(n, 5000);
    assert_true(blocks > 1);
    bl_avro_close(r);
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

static void test_avro_file__no_records_is_a_header_alone(void **state) {
  (void)state;
  fixture f;
  int64_t n;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "deflate", 0, 0);
  test_ok(read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), &f.err);
  assert_int_equal(n, 0);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_file__a_file_cut_anywhere_but_between_blocks_is_damaged(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    bl_buf b = written(f.ctx, codecs[i], 3, 30000); /* blocks end at 64 KiB: two of them */
    int whole = 0;
    size_t step = b.n > 4000 ? 97 : 1;
    for (size_t n = 0; n < b.n; n += n < 400 || n + 400 > b.n ? 1 : step) {
      int64_t records;
      void *copy = malloc(n + 1); /* of exact size, for the sanitizer */
      memcpy(copy, b.p, n);
      bl_status st = read_all(f.ctx, copy, n, &records, NULL, &f.err);
      free(copy);
      if (st == BL_OK) whole++;
      else assert_refused(&f.err, st, BL_DAMAGED, n < 4 ? "not an Avro file" : "");
    }
    assert_in_range(whole, 0, 2); /* at the end of the header, and of the first block */
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

static void test_avro_file__damage_is_told_with_its_byte(void **state) {
  (void)state;
  fixture f;
  int64_t n;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "null", 2, 3);
  size_t block = b.n - 16 - 10 - 2; /* two records of 5 bytes; count and length before, the marker behind */
  b.p[b.n - 1] ^= 1;
  assert_int_equal(read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), BL_DAMAGED);
  assert_int_equal(f.err.position, b.n - 16);
  assert_refused(&f.err, BL_DAMAGED, BL_DAMAGED, "sync marker");
  b.p[b.n - 1] ^= 1;
  static const struct {
    uint8_t count, length;
    const char *words;
  } heads[] = {{0x03, 0x14, "negative count"}, {0x04, 0x03, "negative length"}, {0x04, 0x16, "truncated"},
               {0x04, 0x12, "sync marker"},    {0x16, 0x14, "count of 11"},     {0x04, 0x7e, "truncated"}};
  for (size_t i = 0; i < BL_LEN(heads); i++) {
    b.p[block] = heads[i].count;
    b.p[block + 1] = heads[i].length;
    assert_refused(&f.err, read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), BL_DAMAGED, heads[i].words);
  }
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_file__a_wrong_checksum_behind_snappy_is_damage(void **state) {
  (void)state;
  fixture f;
  int64_t n;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "snappy", 100, 10);
  b.p[b.n - 17] ^= 0x40; /* the last byte of the CRC */
  assert_refused(&f.err, read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), BL_DAMAGED, "CRC");
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_file__any_flipped_byte_of_a_compressed_block_gives_an_error_or_other_bytes(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  for (size_t i = 1; i < BL_LEN(codecs); i++) {
    bl_buf b = written(f.ctx, codecs[i], 40, 3);
    for (size_t k = b.n / 2; k < b.n; k++) {
      bl_avro_reader *r;
      const uint8_t *p;
      size_t n;
      int64_t records;
      b.p[k] ^= 0xff;
      if (bl_avro_open(f.ctx, b.p, b.n, &r, &f.err) == BL_OK) {
        if (bl_avro_next_block(r, &p, &n, &records, &f.err) != BL_OK) assert_int_equal(f.err.status, BL_DAMAGED);
        bl_avro_close(r);
      }
      f.err = (bl_error)BL_ERROR_INIT;
      b.p[k] ^= 0xff;
    }
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

static void test_avro_file__an_unknown_codec_is_named(void **state) {
  (void)state;
  fixture f;
  bl_avro_writer *w;
  int64_t n;
  fixture_open(&f);
  assert_refused(&f.err, bl_avro_writer_new(f.ctx, BL_STR(NUMBERS), "xz", NULL, NULL, 0, &w, &f.err), BL_UNSUPPORTED,
                 "codec xz");
  bl_buf b = written(f.ctx, "null", 1, 1);
  char *codec = memmem(b.p, b.n,
                       "\x14"
                       "avro.codec\x08null",
                       16);
  assert_non_null(codec);
  memcpy(codec + 12, "lzma", 4);
  assert_refused(&f.err, read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), BL_UNSUPPORTED, "codec lzma");
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_file__a_header_without_schema_is_refused_and_without_codec_is_not(void **state) {
  (void)state;
  fixture f;
  int64_t n;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "null", 1, 1);
  char *key = memmem(b.p, b.n, "avro.codec", 10);
  memcpy(key, "avro.kodek", 10);
  test_ok(read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), &f.err);
  key = memmem(b.p, b.n, "avro.schema", 11);
  memcpy(key, "avro.shemaa", 11);
  assert_refused(&f.err, read_all(f.ctx, b.p, b.n, &n, NULL, &f.err), BL_DAMAGED, "avro.schema");
  bl_buf_free(&b);
  fixture_close(&f);
}

/* 64 MiB of equal bytes pack into little; the limit is 1 MiB. */
static void test_avro_file__bombs_stop_at_the_limit_of_the_context(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 1 << 20;
  bl_error err = BL_ERROR_INIT;
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    fixture f;
    int64_t n;
    fixture_open(&f);
    bl_buf b = written(f.ctx, codecs[i], 4, 16 << 20);
    memset(&heap, 0, sizeof heap);
    bl_ctx *ctx = test_ctx_on(&heap, &o);
    assert_refused(&err, read_all(ctx, b.p, b.n, &n, NULL, &err), BL_DAMAGED, "unpack");
    assert_true(heap.peak_bytes < 8 << 20);
    test_ctx_free(ctx);
    bl_buf_free(&b);
    fixture_close(&f);
  }
}

static void test_avro_file__small_blocks_together_are_limited_as_well(void **state) {
  (void)state;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 300 * 1024;
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  int64_t n;
  bl_buf b = written(ctx, "deflate", 600, 1000);
  assert_refused(&err, read_all(ctx, b.p, b.n, &n, NULL, &err), BL_DAMAGED, "blocks unpack");
  bl_buf_free(&b);
  test_ctx_free(ctx);
}

/* ---- from an input ---- */

typedef struct memory_input {
  bl_input base;
  const uint8_t *p;
  int64_t most; /* the largest read */
  int reads;
} memory_input;

static bl_status memory_read(bl_input *in, int64_t at, void *out, size_t n, bl_error *err) {
  memory_input *m = (memory_input *)in;
  if (at < 0 || (int64_t)n > in->size - at) return bl_fail(err, BL_IO, "read beyond the end");
  if ((int64_t)n > m->most) m->most = (int64_t)n;
  m->reads++;
  memcpy(out, m->p + at, n);
  return BL_OK;
}

static memory_input input_of(const bl_buf *b) {
  return (memory_input){.base = {.size = (int64_t)b->n, .read_at = memory_read}, .p = b->p};
}

static void test_avro_input__reads_block_by_block_what_memory_gives_at_once(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  for (size_t i = 0; i < BL_LEN(codecs); i++) {
    bl_buf b = written(f.ctx, codecs[i], 40000, 100);
    memory_input in = input_of(&b);
    bl_avro_reader *r;
    int64_t n = 0;
    test_ok(bl_avro_open_input(f.ctx, &in.base, &r, &f.err), &f.err);
    test_ok(read_on(r, &n, NULL, &f.err), &f.err);
    assert_int_equal(n, 40000);
    assert_true(in.most <= 1 << 20);
    bl_avro_close(r);
    bl_buf_free(&b);
  }
  fixture_close(&f);
}

static void test_avro_input__blocks_can_be_walked_and_entered_anywhere(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "zstandard", 3000, 100);
  memory_input in = input_of(&b);
  bl_avro_reader *r, *fork;
  test_ok(bl_avro_open_input(f.ctx, &in.base, &r, &f.err), &f.err);
  in.most = 0;
  int64_t rows = 0;
  for (;;) {
    bl_avro_block block;
    test_ok(bl_avro_peek_block(r, &block, &f.err), &f.err);
    if (!block.records) {
      assert_int_equal(block.position, b.n);
      break;
    }
    int64_t next = rows;
    test_ok(bl_avro_fork(r, block.position, &fork, &f.err), &f.err);
    test_ok(read_on(fork, &next, NULL, &f.err), &f.err);
    assert_int_equal(next, 3000);
    bl_avro_close(fork);
    rows += block.records;
    test_ok(bl_avro_pass_block(r, &f.err), &f.err);
  }
  assert_int_equal(rows, 3000);
  bl_avro_close(r);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_input__passing_over_a_block_checks_its_marker(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  bl_buf b = written(f.ctx, "deflate", 3000, 100);
  memory_input in = input_of(&b);
  bl_avro_reader *r;
  bl_avro_block block;
  test_ok(bl_avro_open_input(f.ctx, &in.base, &r, &f.err), &f.err);
  test_ok(bl_avro_peek_block(r, &block, &f.err), &f.err);
  bl_avro_close(r);
  b.p[block.position + block.bytes - 5] ^= 1;
  test_ok(bl_avro_open_input(f.ctx, &in.base, &r, &f.err), &f.err);
  assert_refused(&f.err, bl_avro_pass_block(r, &f.err), BL_DAMAGED, "sync marker");
  bl_avro_close(r);
  bl_buf_free(&b);
  fixture_close(&f);
}

static void test_avro_input__a_long_header_is_found_in_a_growing_window(void **state) {
  (void)state;
  fixture f;
  fixture_open(&f);
  size_t n = 700000;
  char *text = malloc(n);
  memset(text, 'h', n);
  bl_str key = BL_STR("long"), value = {text, n};
  bl_avro_writer *w;
  bl_avro_reader *r;
  bl_buf b;
  test_ok(bl_avro_writer_new(f.ctx, BL_STR(NUMBERS), "null", &key, &value, 1, &w, &f.err), &f.err);
  test_ok(bl_avro_writer_finish(w, &b, &f.err), &f.err);
  bl_avro_writer_free(w);
  memory_input in = input_of(&b);
  test_ok(bl_avro_open_input(f.ctx, &in.base, &r, &f.err), &f.err);
  assert_int_equal(bl_avro_meta(r, "long").n, n);
  bl_avro_close(r);
  in.base.size -= 20;
  assert_refused(&f.err, bl_avro_open_input(f.ctx, &in.base, &r, &f.err), BL_DAMAGED, "");
  bl_buf_free(&b);
  free(text);
  fixture_close(&f);
}

static bl_status write_and_read(bl_ctx *ctx, void *user, bl_error *err) {
  bl_avro_writer *w;
  bl_avro_reader *r = NULL;
  bl_buf b;
  bl_status st;
  int64_t n = 0;
  bl_buf_init(&b, ctx, 0);
  BL_TRY(bl_avro_writer_new(ctx, BL_STR(NUMBERS), user, NULL, NULL, 0, &w, err));
  for (int64_t i = 0; i < 3; i++) {
    bl_avro_put_long(bl_avro_writer_record(w), i);
    bl_avro_put_bytes(bl_avro_writer_record(w), BL_STR("text"));
    BL_GO(bl_avro_writer_end_record(w, err));
  }
  BL_GO(bl_avro_writer_finish(w, &b, err));
  memory_input in = input_of(&b);
  BL_GO(bl_avro_open_input(ctx, &in.base, &r, err));
  BL_GO(read_on(r, &n, NULL, err));
  assert_int_equal(n, 3);
done:
  bl_avro_close(r);
  bl_avro_writer_free(w);
  bl_buf_free(&b);
  return st;
}

static void test_avro_file__running_out_of_memory_is_reported(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(codecs); i++) test_fail_each(write_and_read, (void *)(uintptr_t)codecs[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_avro_file__reads_what_was_written_in_every_codec),
      cmocka_unit_test(test_avro_file__no_records_is_a_header_alone),
      cmocka_unit_test(test_avro_file__a_file_cut_anywhere_but_between_blocks_is_damaged),
      cmocka_unit_test(test_avro_file__damage_is_told_with_its_byte),
      cmocka_unit_test(test_avro_file__a_wrong_checksum_behind_snappy_is_damage),
      cmocka_unit_test(test_avro_file__any_flipped_byte_of_a_compressed_block_gives_an_error_or_other_bytes),
      cmocka_unit_test(test_avro_file__an_unknown_codec_is_named),
      cmocka_unit_test(test_avro_file__a_header_without_schema_is_refused_and_without_codec_is_not),
      cmocka_unit_test(test_avro_file__bombs_stop_at_the_limit_of_the_context),
      cmocka_unit_test(test_avro_file__small_blocks_together_are_limited_as_well),
      cmocka_unit_test(test_avro_input__reads_block_by_block_what_memory_gives_at_once),
      cmocka_unit_test(test_avro_input__blocks_can_be_walked_and_entered_anywhere),
      cmocka_unit_test(test_avro_input__passing_over_a_block_checks_its_marker),
      cmocka_unit_test(test_avro_input__a_long_header_is_found_in_a_growing_window),
      cmocka_unit_test(test_avro_file__running_out_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

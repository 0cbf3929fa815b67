/* test_position_deletes.c: deletion vectors and position delete files: which rows they take, and what is wrong with
 * them. */
#include "world.h"

static const char fields[] = "[" FIELD_K "," FIELD_S "]";

/* B61: deletes of the same commit apply to position deletes and vectors; 0 is a number like others. */
static void test_position_deletes__apply_to_files_of_the_same_commit(void **state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    for (int64_t i = 1; i < 4; i++) commit(&w, i, NULL, 0);
    bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0);
    bl_data_file *d = version == 3 ? maker_vector(w.m, "d", "a", (int64_t[]){1}, 1)
                                   : maker_positions(w.m, "d", &(maker_position){"a", 1}, 1);
    commit_files(&w, 4, &f, 1, &d, 1);
    expect_k(&w, NULL, 0, 2);
    close_world(&w);
  }
}

static void test_position_deletes__do_not_apply_to_newer_files(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *old = numbered_file(w.m, "a", 0, 3, 0), *new = numbered_file(w.m, "b", 10, 3, 0);
  bl_data_file *d = maker_positions(w.m, "d", (maker_position[]){{"a", 0}, {"b", 0}}, 2);
  maker_entry data[] = {maker_added(old)}, deletes[] = {maker_added(d)}, later[] = {maker_added(new)};
  maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(deletes, 1)};
  const bl_manifest_file *list = maker_commit(w.m, 1, "overwrite", ms, 2);
  maker_manifest next[] = {maker_kept(&list[0]), maker_kept(&list[1]), maker_data_manifest(later, 1)};
  commit(&w, 2, next, 3);
  expect_k(&w, NULL, 1, 2, 10, 11, 12);
  close_world(&w);
}

static void test_position_deletes__number_zero_is_a_number(void **state) {
  (void)state;
  world w = new_world(1, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0);
  maker_entry data[] = {maker_added(f)};
  maker_manifest ms[] = {maker_data_manifest(data, 1)};
  const bl_manifest_file *list = maker_commit(w.m, 1, "append", ms, 1);
  maker_upgrade(w.m, 2);
  bl_data_file *zero = maker_equality(w.m, "z", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[0]]");
  bl_data_file *one = maker_equality(w.m, "o", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[1]]");
  bl_data_file *pos = maker_positions(w.m, "p", &(maker_position){"a", 2}, 1);
  maker_entry deletes[] = {maker_added(zero), maker_added(one), maker_added(pos)};
  deletes[0].sequence_number = deletes[0].file_sequence_number = 0;
  deletes[2].sequence_number = deletes[2].file_sequence_number = 0;
  maker_manifest next[] = {maker_kept(&list[0]), maker_delete_manifest(deletes, 3)};
  commit(&w, 2, next, 2);
  expect_k(&w, NULL, 0);
  close_world(&w);
}

/* B93: several files that each name several data files, in no order. */
static void test_position_deletes__of_several_files_are_put_together(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 10, 4), *b = numbered_file(w.m, "b", 10, 10, 3);
  maker_position even[10], threes[7];
  size_t n = 0;
  for (int64_t i = 8; i >= 0; i -= 2) {
    even[n++] = (maker_position){"b", i};
    even[n++] = (maker_position){"a", i};
  }
  n = 0;
  for (int64_t k = 0; k < 20; k += 3) threes[n++] = (maker_position){k < 10 ? "a" : "b", k % 10};
  bl_data_file *d1 = maker_positions(w.m, "d1", even, 10), *d2 = maker_positions(w.m, "d2", threes, n);
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, (bl_data_file *[]){d1, d2}, 2);
  expect_k(&w, NULL, 1, 5, 7, 11, 13, 17, 19);
  expect_k(&w, "k > 4 and k < 15", 5, 7, 11, 13);
  close_world(&w);
}

static void test_position_deletes__find_their_file_however_its_path_is_written(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0);
  bl_data_file *d = maker_positions(w.m, "d", (maker_position[]){{"file:///t/a", 1}, {"file:/t/a", 2}}, 2);
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_k(&w, NULL, 0);
  close_world(&w);
}

static void test_position_deletes__beyond_the_end_of_a_file_are_ignored(void **state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    bl_data_file *f = numbered_file(w.m, "a", 0, 3, 2);
    int64_t far = (INT64_C(1) << 40) + 1;
    bl_data_file *d = version == 3 ? maker_vector(w.m, "d", "a", (int64_t[]){2, 3, far}, 3)
                                   : maker_positions(w.m, "d", (maker_position[]){{"a", 2}, {"a", 3}, {"a", far}}, 3);
    commit_files(&w, 1, &f, 1, &d, 1);
    expect_k(&w, NULL, 0, 1);
    close_world(&w);
  }
}

/* B142: both kinds of deletes on one file; a delete file may hold the deleted rows too. */
static void test_position_deletes__go_together_with_equality_deletes(void **state) {
  (void)state;
  world w = new_world(2, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 6, 2);
  commit_files(&w, 1, &f, 1, NULL, 0);
  maker_entry data[] = {maker_existing(f, 1, BL_NONE)};
  bl_data_file *p = maker_positions(w.m, "p", (maker_position[]){{"a", 0}, {"a", 5}}, 2);
  bl_data_file *e = maker_equality(w.m, "e", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[3]]");
  maker_entry deletes[] = {maker_added(p), maker_added(e)};
  maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(deletes, 2)};
  commit(&w, 2, ms, 2);
  expect_k(&w, NULL, 1, 2, 4);
  expect_k(&w, "k <> 2", 1, 4);
  close_world(&w);
}

static void test_position_deletes__may_hold_the_deleted_rows(void **state) {
  (void)state;
  static const char with_row[] =
      "[{\"id\":2147483546,\"name\":\"file_path\",\"required\":true,\"type\":\"string\"},"
      "{\"id\":2147483545,\"name\":\"pos\",\"required\":true,\"type\":\"long\"},"
      "{\"id\":2147483544,\"name\":\"row\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[" FIELD_K ","
      "{\"id\":3,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":4,\"element\":\"int\","
      "\"element-required\":false}},{\"id\":5,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\",\"key-id\":"
      "6,"
      "\"key\":\"string\",\"value-id\":7,\"value\":\"long\",\"value-required\":false}}]}}]";
  world w = new_world(2, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0);
  bl_data_file *d = maker_data(w.m, "d", with_row, "[[\"/t/a\",1,[1,[1,null],[[\"x\",5]]]],[\"/t/a\",2,null]]", 0);
  d->content = BL_FILE_POSITION_DELETES;
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_k(&w, NULL, 0);
  close_world(&w);
}

/* A vector replaces the position deletes of its file, and no one else's. */
static void test_position_deletes__are_hidden_by_a_vector(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *a = numbered_file(w.m, "a", 0, 4, 0), *b = numbered_file(w.m, "b", 10, 4, 0);
  bl_data_file *p = maker_positions(w.m, "p", (maker_position[]){{"a", 0}, {"b", 0}}, 2);
  bl_data_file *only = maker_positions(w.m, "o", (maker_position[]){{"a", 1}}, 1);
  maker_metrics(w.m, only, BL_ID_DELETE_PATH, 1, 0, "\"/t/a\"", "\"/t/a\"");
  bl_data_file *v = maker_vector(w.m, "v", "a", (int64_t[]){3}, 1);
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, (bl_data_file *[]){p, only, v}, 3);
  expect_k(&w, NULL, 0, 1, 2, 11, 12, 13);
  close_world(&w);
}

static void test_position_deletes__without_bounds_apply_by_partition(void **state) {
  (void)state;
  world w = new_world(2, fields);
  maker_spec(w.m, 0, "[{\"source-id\":1,\"field-id\":1000,\"name\":\"p\",\"transform\":\"truncate[10]\"}]");
  bl_data_file *a = numbered_file(w.m, "a", 0, 3, 0), *b = numbered_file(w.m, "b", 10, 3, 0);
  maker_partition(w.m, a, 0, "[0]");
  maker_partition(w.m, b, 0, "[10]");
  bl_data_file *p = maker_positions(w.m, "p", (maker_position[]){{"a", 0}, {"b", 0}}, 2); /* of a's partition only */
  maker_partition(w.m, p, 0, "[0]");
  commit_files(&w, 1, (bl_data_file *[]){a, b}, 2, &p, 1);
  expect_k(&w, NULL, 1, 2, 10, 11, 12);
  expect_k(&w, "k < 10", 1, 2);
  close_world(&w);
}

/* B46: a file that is nothing but the blob (duckdb/duckdb-iceberg f860b1293). */
static void test_position_deletes__a_bare_vector_is_read_where_the_entry_says(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 6, 2), *d = maker_vector(w.m, "d", "a", (int64_t[]){1, 4}, 2);
  bl_str bytes = maker_get(w.m, "d");
  char blob[200];
  assert_true(d->content_offset >= 4 && d->content_size <= (int64_t)sizeof blob); /* what is written is a Puffin file */
  memcpy(blob, bytes.p + d->content_offset, (size_t)d->content_size);
  maker_put(w.m, "d", blob, (size_t)d->content_size);
  d->content_offset = 0;
  d->file_size = d->content_size;
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_k(&w, NULL, 0, 2, 3, 5);
  close_world(&w);
}

static double nan_with(uint64_t payload) {
  uint64_t bits = 0x7ff8000000000000u | payload;
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

/* B141: one NaN whatever its payload, two zeros, null: each a partition of its own (apache/iceberg-go#1731). */
static void test_deletes__meet_files_of_the_same_floating_partition(void **state) {
  (void)state;
  const double values[] = {nan_with(0), -0.0, 0.0, 1.5, 0}, of_deletes[] = {nan_with(7), -0.0, 0.0, 1.5, 0};
  enum { N = BL_LEN(values) };
  for (int equality = 0; equality < 2; equality++) {
    for (int hit = 0; hit < N; hit++) {
      world w =
          new_world(3, "[" FIELD_K "," FIELD_S ",{\"id\":3,\"name\":\"d\",\"required\":false,\"type\":\"double\"}]");
      maker_spec(w.m, 0, "[{\"source-id\":3,\"field-id\":1000,\"name\":\"d\",\"transform\":\"identity\"}]");
      bl_data_file *files[N], *del = NULL;
      int64_t n = 0;
      for (int i = 0; i < N; i++) {
        char name[10], rows[40];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(rows, sizeof rows, "[[%d,\"x\"],[7,\"x\"]]", i);
        files[i] = maker_data(w.m, name, "[" FIELD_K "," FIELD_S "]", rows, 0);
        maker_partition(w.m, files[i], 0, i == N - 1 ? "[null]" : "[1.5]");
        if (i < N - 1) files[i]->partition[0].u.d = values[i];
      }
      char name[10];
      snprintf(name, sizeof name, "f%d", hit);
      if (equality) del = maker_equality(w.m, "e", (int32_t[]){1}, 1, "[" FIELD_K "]", "[[7]]");
      else del = maker_vector(w.m, "v", name, (int64_t[]){1}, 1);
      maker_partition(w.m, del, 0, hit == N - 1 ? "[null]" : "[1.5]");
      if (hit < N - 1) del->partition[0].u.d = of_deletes[hit];
      commit_files(&w, 1, files, N, NULL, 0);
      maker_entry data[N], deletes[] = {maker_added(del)};
      for (int i = 0; i < N; i++) data[i] = maker_existing(files[i], 1, 10 * i);
      maker_manifest ms[] = {maker_data_manifest(data, N), maker_delete_manifest(deletes, 1)};
      commit(&w, 2, ms, 2);
      int64_t all[2 * N];
      for (int i = 0; i < N; i++) {
        all[n++] = i;
        if (i != hit) all[n++] = 7;
      }
      expect_column(w.ctx, w.t, NULL, "k", all, (size_t)n);
      close_world(&w);
    }
  }
}

/* ---- damage ---- */

static void one_vector(world *w, bl_data_file **f, bl_data_file **d) {
  *w = new_world(3, fields);
  *f = numbered_file(w->m, "a.parquet", 0, 10, 0);
  *d = maker_vector(w->m, "d.puffin", "a.parquet", (int64_t[]){1, 2, 3, 4, 5}, 5);
}

static void expect_damage(world *w, bl_data_file *f, bl_data_file *d, const char *says, const char *says_too) {
  commit_files(w, 1, &f, 1, &d, 1);
  expect_status(w, &(bl_scan_options){.lineage = true}, BL_DAMAGED, says);
  expect_status(w, &(bl_scan_options){.where = "k = 7"}, BL_DAMAGED, says_too);
  close_world(w);
}

/* B101: a vector of another partition than its file's. */
static void test_position_deletes__of_another_partition_are_refused(void **state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
    bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 3, 0), *other = numbered_file(w.m, "b.parquet", 5, 1, 0), *d;
    if (version == 3) d = maker_vector(w.m, "d.puffin", "a.parquet", (int64_t[]){1}, 1);
    else {
      d = maker_positions(w.m, "d.puffin", &(maker_position){"a.parquet", 1}, 1);
      d->referenced_data_file = bl_str_of(maker_path(w.m, "a.parquet"));
    }
    maker_partition(w.m, f, 0, "[\"x\"]");
    maker_partition(w.m, other, 0, "[\"y\"]");
    maker_partition(w.m, d, 0, "[\"y\"]");
    commit_files(&w, 1, (bl_data_file *[]){f, other}, 2, &d, 1);
    expect_status(&w, NULL, BL_DAMAGED, "a.parquet");
    expect_status(&w, NULL, BL_DAMAGED, "d.puffin");
    expect_status(&w, &(bl_scan_options){.where = "s = 'x'"}, BL_DAMAGED, "d.puffin");
    close_world(&w);
  }
}

/* The same where the filter rules out the manifest of the vector by its partitions (apache/iceberg#16957). */
static void test_position_deletes__of_another_partition_are_refused_where_the_filter_hides_them(void **state) {
  (void)state;
  for (int right = 0; right < 2; right++) {
    world w = new_world(3, fields);
    maker_spec(w.m, 0, "[{\"source-id\":2,\"field-id\":1000,\"name\":\"s\",\"transform\":\"identity\"}]");
    bl_data_file *f = numbered_file(w.m, "a.parquet", 0, 3, 0), *other = numbered_file(w.m, "b.parquet", 5, 2, 0),
                 *d = maker_vector(w.m, "d.puffin", right ? "b.parquet" : "a.parquet", (int64_t[]){1}, 1);
    maker_partition(w.m, f, 0, "[\"x\"]");
    maker_partition(w.m, other, 0, "[\"y\"]");
    maker_partition(w.m, d, 0, "[\"y\"]");
    commit_files(&w, 1, (bl_data_file *[]){f, other}, 2, &d, 1);
    if (right) {
      expect_rows(&w, "k", "s = 'x'", "");
      expect_k(&w, NULL, 0, 1, 2, 5);
    } else {
      expect_status(&w, &(bl_scan_options){.where = "s = 'x'"}, BL_DAMAGED, "d.puffin");
      expect_status(&w, &(bl_scan_options){.where = "s = 'x'"}, BL_DAMAGED, "a.parquet");
      expect_rows(&w, "k", "s = 'z'", ""); /* no file, no damage to it */
    }
    close_world(&w);
  }
}

/* B102: the entry's record_count must be the number of positions. */
static void test_position_deletes__a_vector_of_another_cardinality_is_refused(void **state) {
  (void)state;
  const int64_t counts[] = {0, 4, 6};
  for (size_t i = 0; i < BL_LEN(counts); i++) {
    world w;
    bl_data_file *f, *d;
    one_vector(&w, &f, &d);
    d->record_count = counts[i];
    expect_damage(&w, f, d, "cardinality", "d.puffin");
  }
}

/* B103: every bit of the blob is covered. */
static void test_position_deletes__a_flipped_bit_of_a_vector_is_found(void **state) {
  (void)state;
  world first;
  bl_data_file *f, *d;
  one_vector(&first, &f, &d);
  int64_t size = d->content_size;
  close_world(&first);
  for (int64_t at = 0; at < size; at++) {
    world w;
    one_vector(&w, &f, &d);
    bl_str bytes = maker_get(w.m, "d.puffin");
    char *copy = malloc(bytes.n);
    assert_non_null(copy);
    memcpy(copy, bytes.p, bytes.n);
    copy[d->content_offset + at] ^= (char)(1 << (at % 8));
    maker_put(w.m, "d.puffin", copy, bytes.n);
    free(copy);
    expect_damage(&w, f, d, "d.puffin", "d.puffin");
  }
}

static void test_position_deletes__a_blob_outside_its_file_is_refused(void **state) {
  (void)state;
  const struct {
    int64_t offset, size;
    const char *says;
  } cases[] = {
      {4, 1000000, "outside"}, {1000000, 20, "outside"},  {INT64_MAX, INT64_MAX, "outside"}, {-4, 20, "content_offset"},
      {4, -1, "content_size"}, {BL_NONE, 20, "content_"}, {4, BL_NONE, "content_"},          {4, 0, "d.puffin"},
      {4, 3, "d.puffin"},      {0, 40, "d.puffin"},
  };
  for (size_t i = 0; i < BL_LEN(cases); i++) {
    world w;
    bl_data_file *f, *d;
    one_vector(&w, &f, &d);
    d->content_offset = cases[i].offset;
    d->content_size = cases[i].size;
    expect_damage(&w, f, d, cases[i].says, "d.puffin");
  }
}

static void test_position_deletes__a_vector_that_is_too_large_is_refused(void **state) {
  (void)state;
  world w;
  bl_data_file *f, *d;
  one_vector(&w, &f, &d);
  w.ctx->o.max_deletion_vector_bytes = d->content_size - 1;
  expect_damage(&w, f, d, "above the limit", "above the limit");
}

static void test_position_deletes__two_vectors_of_one_file_are_refused(void **state) {
  (void)state;
  world w;
  bl_data_file *f, *d;
  one_vector(&w, &f, &d);
  bl_data_file *e = maker_vector(w.m, "e.puffin", "a.parquet", (int64_t[]){7}, 1);
  commit_files(&w, 1, &f, 1, (bl_data_file *[]){d, e}, 2);
  expect_status(&w, NULL, BL_DAMAGED, "two live vectors");
  expect_status(&w, NULL, BL_DAMAGED, "a.parquet");
  close_world(&w);
}

/* W8: a path that was added again: the old vector is not the new file's. */
static void test_position_deletes__a_vector_older_than_its_file_is_refused(void **state) {
  (void)state;
  world w;
  bl_data_file *f, *d;
  one_vector(&w, &f, &d);
  maker_entry deletes[] = {maker_added(d)}, data[] = {maker_added(f)};
  maker_manifest ms[] = {maker_delete_manifest(deletes, 1)};
  const bl_manifest_file *list = maker_commit(w.m, 1, "delete", ms, 1);
  maker_manifest next[] = {maker_kept(&list[0]), maker_data_manifest(data, 1)};
  commit(&w, 2, next, 2);
  expect_status(&w, NULL, BL_DAMAGED, "sequence number");
  close_world(&w);
}

static void test_position_deletes__a_missing_delete_file_is_not_found(void **state) {
  (void)state;
  for (int version = 2; version <= 3; version++) {
    world w = new_world(version, fields);
    bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0);
    bl_data_file *d = version == 3 ? maker_vector(w.m, "d.puffin", "a", (int64_t[]){1}, 1)
                                   : maker_positions(w.m, "d.puffin", &(maker_position){"a", 1}, 1);
    bl_error err = BL_ERROR_INIT;
    commit_files(&w, 1, &f, 1, &d, 1);
    test_ok(maker_io(w.m)->remove(maker_io(w.m), maker_path(w.m, "d.puffin"), &err), &err);
    expect_status(&w, NULL, BL_NOT_FOUND, "d.puffin");
    close_world(&w);
  }
}

static void test_position_deletes__rows_without_a_place_are_damage(void **state) {
  (void)state;
  static const char optional[] = "[{\"id\":2147483546,\"name\":\"file_path\",\"required\":false,\"type\":\"string\"},"
                                 "{\"id\":2147483545,\"name\":\"pos\",\"required\":false,\"type\":\"long\"}]";
  const char *rows[] = {"[[null,1]]", "[[\"/t/a\",null]]", "[[\"/t/a\",-1]]"};
  for (size_t i = 0; i < BL_LEN(rows); i++) {
    world w = new_world(2, fields);
    bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0), *d = maker_data(w.m, "d.parquet", optional, rows[i], 0);
    d->content = BL_FILE_POSITION_DELETES;
    commit_files(&w, 1, &f, 1, &d, 1);
    expect_status(&w, NULL, BL_DAMAGED, "d.parquet");
    close_world(&w);
  }
  world w = new_world(2, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0), *d = maker_data(w.m, "d.parquet", "[" FIELD_K "]", "[[1]]", 0);
  d->content = BL_FILE_POSITION_DELETES;
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_status(&w, NULL, BL_DAMAGED, "file_path");
  close_world(&w);
}

static void test_position_deletes__a_vector_must_name_its_file(void **state) {
  (void)state;
  world w = new_world(3, fields);
  bl_data_file *f = numbered_file(w.m, "a", 0, 3, 0), *d = maker_vector(w.m, "d.puffin", "a", (int64_t[]){1}, 1);
  d->referenced_data_file = BL_STR_NONE;
  commit_files(&w, 1, &f, 1, &d, 1);
  expect_status(&w, NULL, BL_DAMAGED, "referenced_data_file");
  close_world(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_position_deletes__apply_to_files_of_the_same_commit),
      cmocka_unit_test(test_position_deletes__do_not_apply_to_newer_files),
      cmocka_unit_test(test_position_deletes__number_zero_is_a_number),
      cmocka_unit_test(test_position_deletes__of_several_files_are_put_together),
      cmocka_unit_test(test_position_deletes__find_their_file_however_its_path_is_written),
      cmocka_unit_test(test_position_deletes__beyond_the_end_of_a_file_are_ignored),
      cmocka_unit_test(test_position_deletes__go_together_with_equality_deletes),
      cmocka_unit_test(test_position_deletes__may_hold_the_deleted_rows),
      cmocka_unit_test(test_position_deletes__are_hidden_by_a_vector),
      cmocka_unit_test(test_position_deletes__without_bounds_apply_by_partition),
      cmocka_unit_test(test_position_deletes__a_bare_vector_is_read_where_the_entry_says),
      cmocka_unit_test(test_deletes__meet_files_of_the_same_floating_partition),
      cmocka_unit_test(test_position_deletes__of_another_partition_are_refused),
      cmocka_unit_test(test_position_deletes__of_another_partition_are_refused_where_the_filter_hides_them),
      cmocka_unit_test(test_position_deletes__a_vector_of_another_cardinality_is_refused),
      cmocka_unit_test(test_position_deletes__a_flipped_bit_of_a_vector_is_found),
      cmocka_unit_test(test_position_deletes__a_blob_outside_its_file_is_refused),
      cmocka_unit_test(test_position_deletes__a_vector_that_is_too_large_is_refused),
      cmocka_unit_test(test_position_deletes__two_vectors_of_one_file_are_refused),
      cmocka_unit_test(test_position_deletes__a_vector_older_than_its_file_is_refused),
      cmocka_unit_test(test_position_deletes__a_missing_delete_file_is_not_found),
      cmocka_unit_test(test_position_deletes__rows_without_a_place_are_damage),
      cmocka_unit_test(test_position_deletes__a_vector_must_name_its_file),
  };
  return cmocka_run_group_tests_name("position_deletes", tests, NULL, NULL);
}

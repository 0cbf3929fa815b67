/* test_locations.c: where new files go. Expected paths of hashed layouts are those that Iceberg 1.12's own location
 * provider gives. */
#include "write/locations.h"

#include <fnmatch.h>
#include <unistd.h>

#include "verbs_world.h"

typedef struct where {
  const char *location, *properties[3][2], *partition, *name, *path;
} where;

#define HASHED                                                                                                         \
  { "write.object-storage.enabled", "true" }
#define PLAIN_PATHS                                                                                                    \
  { "write.object-storage.partitioned-paths", "false" }

static bl_status locate(const where *w, char **path, bl_error *err) {
  bl_ctx *ctx = test_ctx();
  bl_arena *a;
  bl_pair pairs[3];
  bl_metadata md = {.location = bl_str_of(w->location), .properties = {.items = pairs}};
  bl_locations l;
  bl_buf b;
  for (size_t i = 0; i < 3 && w->properties[i][0]; i++)
    pairs[md.properties.n++] = (bl_pair){bl_str_of(w->properties[i][0]), bl_str_of(w->properties[i][1])};
  test_ok(bl_arena_new(ctx, &a, err), err);
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_status st = bl_locations_of(a, &md, &l, err);
  if (st == BL_OK) bl_location_print(&b, &l, bl_str_of(w->partition), bl_str_of(w->name));
  if (st == BL_OK) test_ok(bl_buf_ok(&b, err), err);
  *path = st == BL_OK ? strndup((const char *)b.p, b.n) : NULL;
  bl_buf_free(&b);
  bl_arena_free(a);
  test_ctx_free(ctx);
  return st;
}

static void all_are(const where *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    bl_error err = BL_ERROR_INIT;
    char *path;
    test_ok(locate(&list[i], &path, &err), &err);
    assert_string_equal(path, list[i].path);
    free(path);
  }
}

static void test_locations__are_below_the_table_or_where_it_says(void **state) {
  (void)state;
  static const where list[] = {
      {"/wh/db/t", {{0}}, NULL, "a", "/wh/db/t/data/a"},
      {"/wh/db/t/", {{0}}, "p=1", "a", "/wh/db/t/data/p=1/a"},
      {"/wh/db/t", {{"write.data.path", "s3://b/d/"}}, "p=1/q=2", "a", "s3://b/d/p=1/q=2/a"},
      {"/wh/db/t", {{"write.object-storage.enabled", "false"}, PLAIN_PATHS}, "p=1", "a", "/wh/db/t/data/p=1/a"},
      {"/wh/db/t", {{"write.object-storage.enabled", " true"}}, NULL, "a", "/wh/db/t/data/a"},
  };
  all_are(list, BL_LEN(list));
}

static void test_locations__are_spread_by_the_hash_of_their_name(void **state) {
  (void)state;
  static const where list[] = {
      {"/wh/db/t", {HASHED}, NULL, "a", "/wh/db/t/data/0101/0110/1001/10110010/a"},
      {"/wh/db/t", {HASHED}, NULL, "b", "/wh/db/t/data/1110/0111/1110/00000011/b"},
      {"/wh/db/t", {HASHED}, NULL, "c", "/wh/db/t/data/0010/1101/0110/01011111/c"},
      {"s3://bucket/db/t/", {HASHED}, NULL, "d", "s3://bucket/db/t/data/1001/0001/0100/01110011/d"},
      {"/t", {{"write.object-storage.enabled", "TRUE"}}, NULL, "a", "/t/data/0101/0110/1001/10110010/a"},
      {"/t", {HASHED}, NULL, "test.parquet", "/t/data/0110/1010/0011/11101000/test.parquet"},
      {"/t",
       {HASHED},
       NULL,
       "00000-0-88439748-c097-493d-977c-14a6737372cc.parquet",
       "/t/data/1111/1101/0101/00011111/00000-0-88439748-c097-493d-977c-14a6737372cc.parquet"},
      {"/t", {HASHED}, NULL, "ümläut.parquet", "/t/data/0101/1010/0111/10100001/ümläut.parquet"},
  };
  all_are(list, BL_LEN(list));
}

static void test_locations__are_hashed_with_their_partition(void **state) {
  (void)state;
  static const char p[] = "s=v%2Fal%231+%C3%BC/id_bucket=3";
  static const where list[] = {
      {"/wh/db/t",
       {HASHED},
       p,
       "a.parquet",
       "/wh/db/t/data/1011/0101/0000/11010010/s=v%2Fal%231+%C3%BC/id_bucket=3/a.parquet"},
      {"/wh/db/t",
       {HASHED, {"write.data.path", "s3://other/d"}},
       p,
       "a.parquet",
       "s3://other/d/1011/0101/0000/11010010/db/t/s=v%2Fal%231+%C3%BC/id_bucket=3/a.parquet"},
      {"/wh/db/t", {HASHED, PLAIN_PATHS}, p, "a.parquet", "/wh/db/t/data/0111/0000/0111/10110101-a.parquet"},
      {"/wh/db/t", {HASHED, PLAIN_PATHS}, NULL, "a", "/wh/db/t/data/0101/0110/1001/10110010-a"},
      {"/wh/db/t",
       {HASHED, PLAIN_PATHS, {"write.data.path", "s3://other/d"}},
       NULL,
       "a",
       "s3://other/d/0101/0110/1001/10110010/db/t/a"},
  };
  all_are(list, BL_LEN(list));
}

static void test_locations__beside_the_table_name_it(void **state) {
  (void)state;
  static const where list[] = {
      {"/wh/db/t/",
       {HASHED, {"write.data.path", "s3://other/d/"}},
       NULL,
       "a",
       "s3://other/d/0101/0110/1001/10110010/db/t/a"},
      {"s3://bucket/db/t", {HASHED, {"write.data.path", "/d"}}, NULL, "a", "/d/0101/0110/1001/10110010/db/t/a"},
      {"file:///x//y", {HASHED, {"write.data.path", "/d"}}, NULL, "a", "/d/0101/0110/1001/10110010/x/y/a"},
      {"file:/x/y", {HASHED, {"write.data.path", "/d"}}, NULL, "a", "/d/0101/0110/1001/10110010/x/y/a"},
      /* as text, not by folders */
      {"/wh/db/t",
       {HASHED, {"write.data.path", "/wh/db/t2/data"}},
       NULL,
       "a",
       "/wh/db/t2/data/0101/0110/1001/10110010/a"},
      /* Java has an empty name, and so two slashes, where there is no folder above */
      {"s3://bucket/t", {HASHED, {"write.data.path", "/d"}}, NULL, "a", "/d/0101/0110/1001/10110010/t/a"},
      {"s3://bucket", {HASHED, {"write.data.path", "/d"}}, NULL, "a", "/d/0101/0110/1001/10110010/a"},
      {"/t",
       {HASHED, {"write.data.path", "/d"}, {"write.object-storage.path", "/o"}},
       NULL,
       "a",
       "/d/0101/0110/1001/10110010/t/a"},
  };
  all_are(list, BL_LEN(list));
}

static void test_locations__of_others_are_refused_by_name(void **state) {
  (void)state;
  static const where list[] = {
      {"/t", {{"write.location-provider.impl", "com.example.X"}}, NULL, "a", "write.location-provider.impl"},
      {"/t",
       {HASHED, {"write.location-provider.impl", "com.example.X"}, {"write.data.path", "/d"}},
       NULL,
       "a",
       "write.location-provider.impl"},
      {"/t", {{"write.folder-storage.path", "/o"}}, NULL, "a", "write.folder-storage.path"},
      {"/t", {HASHED, {"write.folder-storage.path", "/o"}}, NULL, "a", "write.folder-storage.path"},
      {"/t", {HASHED, {"write.object-storage.path", "/o"}}, NULL, "a", "write.object-storage.path"},
  };
  for (size_t i = 0; i < BL_LEN(list); i++) {
    bl_error err = BL_ERROR_INIT;
    char *path;
    test_status(BL_UNSUPPORTED, locate(&list[i], &path, &err), &err);
    test_says(&err, list[i].path);
  }
  static const where unused = {"/t", {{"write.object-storage.path", "/o"}}, NULL, "a", "/t/data/a"};
  all_are(&unused, 1);
}

/* ---- tables ---- */

/* Every live file of a kind lies where the pattern says, below the table. */
static void all_lie(world *w, bl_manifest_content content, const char *pattern) {
  bl_error err = BL_ERROR_INIT;
  bl_arena *a;
  bl_manifest_file *ms;
  size_t n, k, seen = 0;
  test_ok(bl_arena_new(w->ctx, &a, &err), &err);
  test_ok(bl_table_manifests(w->t, world_head(w), a, &ms, &n, &err), &err);
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    if (ms[i].content != content) continue;
    test_ok(bl_table_manifest_entries(w->t, &ms[i], true, a, &es, &k, &err), &err);
    for (size_t j = 0; j < k; j++) {
      if (es[j].status == BL_DELETED) continue;
      const char *path = es[j].file.path.p;
      size_t base = strlen(w->table);
      assert_memory_equal(path, w->table, base);
      if (fnmatch(pattern, path + base, FNM_PATHNAME) != 0) fail_msg("%s is not of the form %s", path, pattern);
      assert_int_equal(access(path, R_OK), 0);
      seen++;
    }
  }
  bl_arena_free(a);
  assert_true(seen > 0);
}

#define BITS "[01][01][01][01]/[01][01][01][01]/[01][01][01][01]/[01][01][01][01][01][01][01][01]"

static void test_locations__take_every_file_of_rows_and_deletes(void **state) {
  (void)state;
  static const struct {
    const char *property, *rows, *deletes;
  } kinds[] = {
      {NULL, "/data/p=[123]/*.parquet", "/data/*-deletes.puffin"},
      {"write.object-storage.partitioned-paths=true", "/data/" BITS "/p=[123]/*.parquet",
       "/data/" BITS "/*-deletes.puffin"},
      {"write.object-storage.partitioned-paths=false", "/data/" BITS "-*.parquet", "/data/" BITS "-*-deletes.puffin"}};
  for (size_t i = 0; i < BL_LEN(kinds); i++) {
    bl_error err = BL_ERROR_INIT;
    world w = world_new(3, "k long, p int", "p");
    if (i > 0) world_set(&w, "write.object-storage.enabled=true");
    if (i > 0) world_set(&w, kinds[i].property);
    world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n{\"k\":2,\"p\":2}\n{\"k\":3,\"p\":2}\n");
    world_update(&w, "p = 3", "k = 1", BL_COPY_ON_WRITE);
    world_delete(&w, "k = 2", BL_MERGE_ON_READ);
    test_ok(world_try_overwrite(&w, "{\"k\":9,\"p\":1}\n", BL_OVERWRITE_PARTITIONS, NULL, &err), &err);
    all_lie(&w, BL_MANIFEST_DATA, kinds[i].rows);
    all_lie(&w, BL_MANIFEST_DELETES, kinds[i].deletes);
    world_holds(&w, "{\"k\":1,\"p\":3}\n{\"k\":3,\"p\":2}\n{\"k\":9,\"p\":1}\n");
    row_is(&w, 1, 1, 2);
    row_is(&w, 3, 3, 1);
    world_end(&w);
  }
}

static void test_locations__of_a_class_are_refused_before_anything_is_written(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  world w = world_new(3, "k long, p int", "p");
  world_append(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n");
  world_set(&w, "write.location-provider.impl=com.example.Locations");
  size_t before = world_count_files(&w);
  bl_write_options o = {.mode = BL_MERGE_ON_READ};
  test_status(BL_UNSUPPORTED, bl_delete_rows(w.t, "k = 0", &o, &w.r, &err), &err);
  test_says(&err, "write.location-provider.impl: \"com.example.Locations\"");
  assert_int_equal(world_count_files(&w), before);
  world_holds(&w, "{\"k\":0,\"p\":1}\n{\"k\":1,\"p\":1}\n");
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_locations__are_below_the_table_or_where_it_says),
      cmocka_unit_test(test_locations__are_spread_by_the_hash_of_their_name),
      cmocka_unit_test(test_locations__are_hashed_with_their_partition),
      cmocka_unit_test(test_locations__beside_the_table_name_it),
      cmocka_unit_test(test_locations__of_others_are_refused_by_name),
      cmocka_unit_test(test_locations__take_every_file_of_rows_and_deletes),
      cmocka_unit_test(test_locations__of_a_class_are_refused_before_anything_is_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_add_files.c: files that others wrote become the table's (W13, B56, B127). */
#include <errno.h>
#include <sys/stat.h>

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_build.h"
#include "rows_world.h"

static bl_status put_bytes(void *user, const void *p, size_t n, bl_error *err) {
  (void)err;
  bl_buf_add(user, p, n);
  return BL_OK;
}

/* Writes a Parquet file of longs, "k", "p", … with values by row; ids: field ids, or NULL for none. */
static char *write_file(rows_world *w, const char *name, const char *const *names, const int32_t *ids, size_t columns,
                        const int64_t *values, size_t rows) {
  bl_error err = BL_ERROR_INIT;
  bl_field fields[8] = {0};
  bl_type type = {.kind = BL_STRUCT, .fields = fields, .n_fields = columns};
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bl_builder *b;
  bl_arrow_writer *aw;
  bl_buf bytes;
  bl_buf_init(&bytes, w->ctx, BL_BUF_MAX);
  bl_sink sink = {.write = put_bytes, .user = &bytes};
  for (size_t i = 0; i < columns; i++)
    fields[i] = (bl_field){.id = ids ? ids[i] : -1, .name = bl_str_of(names[i]), .type = {.kind = BL_LONG}};
  test_ok(bl_arrow_init(&err), &err);
  test_ok(bl_aschema_of_struct(w->ctx, &type, &schema, &err), &err);
  test_ok(bl_builder_new(w->ctx, &schema, &b, &err), &err);
  for (size_t r = 0; r < rows; r++) {
    for (size_t i = 0; i < columns; i++) {
      int64_t v = values[r * columns + i];
      bl_builder *c = bl_builder_child(b, (int64_t)i);
      test_ok(v == INT64_MIN ? bl_builder_null(c, &err) : bl_builder_int(c, v, &err), &err);
    }
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &batch, &err), &err);
  test_ok(bl_arrow_parquet_writer(w->ctx, &sink, &schema, &aw, &err), &err);
  test_ok(bl_arrow_writer_write(aw, &batch, &err), &err);
  test_ok(bl_arrow_writer_finish(aw, &err), &err);
  char *path = test_join(w->dir, name);
  test_write(path, bytes.p, bytes.n);
  bl_buf_free(&bytes);
  bl_builder_free(b);
  bl_aschema_release(&schema);
  return path;
}

static const char *const kp[] = {"k", "p"};
static const int64_t plain_rows[] = {1, 7, 2, 7, 3, 7};

static bl_status add(rows_world *w, const char *path, const bl_add_files_options *a) {
  const char *paths[] = {path};
  w->err = (bl_error)BL_ERROR_INIT;
  bl_status st = bl_add_files(w->t, paths, 1, a, NULL, &w->result, &w->err);
  if (st == BL_OK) rows_world_reopen(w);
  return st;
}

static void refuses(rows_world *w, const char *path, const bl_add_files_options *a, const char *says) {
  bl_status st = add(w, path, a);
  test_status(BL_USAGE, st, &w->err);
  test_says(&w->err, says);
}

static void test_add_files__takes_a_file_by_names_and_keeps_the_mapping(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "p long, k long, z string"});
  char *path = write_file(&w, "a.parquet", kp, NULL, 2, plain_rows, 3);
  test_ok(add(&w, path, NULL), &w.err);
  assert_int_equal(w.result.rows_inserted, 3);
  assert_non_null(bl_table_property(w.t, "schema.name-mapping.default"));
  rows_world_shows(&w, "{\"p\":7,\"k\":1,\"z\":null,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                       "{\"p\":7,\"k\":2,\"z\":null,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                       "{\"p\":7,\"k\":3,\"z\":null,\"_row_id\":2,\"_last_updated_sequence_number\":1}\n");
  bl_plan *p = rows_world_files(&w);
  const bl_data_file *f = &p->files[0].data->file;
  assert_true(bl_str_is(f->path, path));
  assert_int_equal(f->record_count, 3);
  const bl_column_metrics *m = bl_data_file_metrics(f, 2);
  assert_int_equal(m->values, 3);
  assert_int_equal(m->lower.p[0], 1);
  assert_int_equal(m->upper.p[0], 3);
  bl_plan_free(p);
  free(path);
  rows_world_end(&w);
}

static void test_add_files__takes_a_file_by_its_field_ids(void **state) {
  (void)state;
  rows_world w;
  static const int32_t ids[] = {2, 1};
  rows_world_begin(&w, &(bl_create_options){.schema = "a long, b long"});
  char *path = write_file(&w, "a.parquet", kp, ids, 2, (const int64_t[]){1, 7}, 1);
  test_ok(add(&w, path, NULL), &w.err);
  assert_null(bl_table_property(w.t, "schema.name-mapping.default"));
  rows_world_shows(&w, "{\"a\":7,\"b\":1,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n");
  free(path);
  rows_world_end(&w);
}

/* B127 */
static void test_add_files__takes_no_file_twice(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p long"});
  char *path = write_file(&w, "a.parquet", kp, NULL, 2, plain_rows, 3);
  const char *twice[] = {path, path};
  bl_status st = bl_add_files(w.t, twice, 2, NULL, NULL, &w.result, &w.err);
  test_status(BL_USAGE, st, &w.err);
  test_says(&w.err, "named twice");
  test_ok(add(&w, path, NULL), &w.err);
  refuses(&w, path, NULL, "the table has it already");
  char *uri = malloc(strlen(path) + 8);
  assert_non_null(uri);
  sprintf(uri, "file://%s", path);
  refuses(&w, uri, NULL, "the table has it already");
  test_ok(add(&w, path, &(bl_add_files_options){.duplicates_ok = true}), &w.err);
  test_rows got;
  rows_world_read(&w, NULL, &got);
  assert_int_equal(got.n, 6);
  test_rows_free(&got);
  free(uri);
  free(path);
  rows_world_end(&w);
}

static void test_add_files__takes_no_file_that_another_adds_meanwhile(void **state) {
  (void)state;
  rows_world w;
  bl_error err = BL_ERROR_INIT;
  bl_table *stale;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p long"});
  char *path = write_file(&w, "a.parquet", kp, NULL, 2, plain_rows, 3);
  char *other = write_file(&w, "b.parquet", kp, NULL, 2, plain_rows, 3);
  const char *paths[] = {path}, *others[] = {other};
  test_ok(bl_table_open(w.ctx, w.table, NULL, &stale, &err), &err);
  test_ok(add(&w, path, NULL), &w.err);
  test_status(BL_CONFLICT, bl_add_files(stale, paths, 1, NULL, NULL, &w.result, &err), &err);
  test_says(&err, "a.parquet: it was added, as the change would");
  err = (bl_error)BL_ERROR_INIT;
  test_ok(bl_add_files(stale, others, 1, NULL, NULL, &w.result, &err), &err);
  test_rows got;
  rows_world_reopen(&w);
  rows_world_read(&w, NULL, &got);
  assert_int_equal(got.n, 6);
  test_rows_free(&got);
  bl_table_free(stale);
  free(path);
  free(other);
  rows_world_end(&w);
}

static void test_add_files__refuses_what_does_not_fit(void **state) {
  (void)state;
  rows_world w;
  static const char *const others[] = {"x", "y"};
  static const int64_t with_null[] = {1, INT64_MIN};
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p int, r long not null default 3"});
  char *none = write_file(&w, "none.parquet", others, NULL, 2, plain_rows, 1);
  char *wide = write_file(&w, "wide.parquet", kp, NULL, 2, plain_rows, 1);
  static const char *const required[] = {"k", "r"};
  char *nulls = write_file(&w, "nulls.parquet", required, NULL, 2, with_null, 1);
  char *text = test_join(w.dir, "text.parquet");
  test_write(text, "hello, world", 12);
  refuses(&w, wide, NULL, "p");
  refuses(&w, nulls, NULL, "column r: it is required, but the file has nulls in it");
  refuses(&w, text, NULL, "neither a Parquet nor an Avro nor an ORC file");
  refuses(&w, "relative.parquet", NULL, "must begin with /");
  bl_status st = add(&w, "/nowhere/a.parquet", NULL);
  test_status(BL_NOT_FOUND, st, &w.err);
  assert_int_equal(w.t->metadata->n_snapshots, 0);
  free(none);
  free(wide);
  free(nulls);
  free(text);
  rows_world_end(&w);
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  none = write_file(&w, "none.parquet", others, NULL, 2, plain_rows, 1);
  refuses(&w, none, NULL, "it has none of the table's columns");
  free(none);
  rows_world_end(&w);
}

/* ---- partitions ---- */

static void test_add_files__tells_the_partition_by_statistics(void **state) {
  (void)state;
  rows_world w;
  static const int64_t one[] = {1, 17, 2, 12}, nulls[] = {1, INT64_MIN, 2, INT64_MIN}, two[] = {1, 19, 2, 20},
                       mixed[] = {1, 12, 2, INT64_MIN};
  static const char *const k[] = {"k"};
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p long", .partition = "truncate(10, p)"});
  char *in_one = write_file(&w, "p=99", kp, NULL, 2, one, 2); /* the path says nothing */
  char *all_null = write_file(&w, "nulls", kp, NULL, 2, nulls, 2);
  char *in_two = write_file(&w, "two", kp, NULL, 2, two, 2);
  char *half_null = write_file(&w, "mixed", kp, NULL, 2, mixed, 2);
  char *without = write_file(&w, "without", k, NULL, 1, one, 1);
  test_ok(add(&w, in_one, NULL), &w.err);
  test_ok(add(&w, all_null, NULL), &w.err);
  test_ok(add(&w, without, NULL), &w.err);
  refuses(&w, in_two, NULL, "partition field p_trunc: the file's rows lie in several partitions");
  refuses(&w, half_null, NULL, "with and without a value");
  bl_plan *p = rows_world_files(&w);
  for (size_t i = 0; i < p->n_files; i++) {
    const bl_data_file *f = &p->files[i].data->file;
    bool first = bl_str_is(f->path, in_one);
    assert_int_equal(f->n_partition, 1);
    assert_int_equal(f->partition[0].null, !first);
    if (first) assert_int_equal(f->partition[0].u.i, 10);
  }
  bl_plan_free(p);
  free(in_one);
  free(all_null);
  free(in_two);
  free(half_null);
  free(without);
  rows_world_end(&w);
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p long", .partition = "bucket(4, p)"});
  char *constant = write_file(&w, "constant", kp, NULL, 2, plain_rows, 3);
  char *varied = write_file(&w, "varied", kp, NULL, 2, one, 2);
  test_ok(add(&w, constant, NULL), &w.err);
  refuses(&w, varied, NULL, "several partitions");
  free(constant);
  free(varied);
  rows_world_end(&w);
}

/* ---- folders ---- */

static const char *const only_k[] = {"k"};

/* A file with the column k alone below folders ("p=a/q=1"). */
static char *write_below(rows_world *w, const char *folders, const int64_t *k, size_t rows) {
  char path[400];
  for (size_t i = 0; i <= strlen(folders); i++) {
    if (folders[i] != '/' && folders[i]) continue;
    snprintf(path, sizeof path, "%s/%.*s", w->dir, (int)i, folders);
    if (mkdir(path, 0777) != 0) assert_int_equal(errno, EEXIST);
  }
  snprintf(path, sizeof path, "%s/a.parquet", folders);
  return write_file(w, path, only_k, NULL, 1, k, rows);
}

static void add_below(rows_world *w, const char *folders, int64_t k) {
  char *path = write_below(w, folders, &k, 1);
  test_ok(add(w, path, NULL), &w->err);
  free(path);
}

static void refuses_below(rows_world *w, const char *folders, const char *says) {
  char *path = write_below(w, folders, (const int64_t[]){1}, 1);
  refuses(w, path, NULL, says);
  free(path);
}

static void test_add_files__takes_what_a_file_lacks_from_its_folders(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p string, q date, d decimal(5,2)",
                                            .partition = "p, q as day, identity(d), bucket(4, p)"});
  add_below(&w, "p=0/x=1/p=a%2Fb+%C3%A9%/day=2026-01-31/d=1.5", 1);
  add_below(&w, "p=/q=1969-12-31/d=-1.50", 2);
  add_below(&w, "p=__HIVE_DEFAULT_PARTITION__/q=__HIVE_DEFAULT_PARTITION__/d=__HIVE_DEFAULT_PARTITION__", 3);
  rows_world_shows(&w, "{\"k\":1,\"p\":\"a/b+é%\",\"q\":\"2026-01-31\",\"d\":\"1.50\",\"_row_id\":0,"
                       "\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":2,\"p\":\"\",\"q\":\"1969-12-31\",\"d\":\"-1.50\",\"_row_id\":1,"
                       "\"_last_updated_sequence_number\":2}\n"
                       "{\"k\":3,\"p\":null,\"q\":null,\"d\":null,\"_row_id\":2,"
                       "\"_last_updated_sequence_number\":3}\n");
  rows_world_shows_where(&w, "p = '' and d < 0",
                         "{\"k\":2,\"p\":\"\",\"q\":\"1969-12-31\",\"d\":\"-1.50\",\"_row_id\":1,"
                         "\"_last_updated_sequence_number\":2}\n");
  bl_plan *plan = rows_world_files(&w);
  for (size_t i = 0; i < plan->n_files; i++) {
    const bl_data_file *f = &plan->files[i].data->file;
    bool null = strstr(f->path.p, "HIVE") != NULL;
    assert_int_equal(f->n_partition, 4);
    for (size_t k = 0; k < 4; k++) assert_int_equal(f->partition[k].null, null);
  }
  bl_plan_free(plan);
  rows_world_end(&w);
}

static void test_add_files__believes_a_file_before_its_folders(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p long", .partition = "p"});
  free(write_below(&w, "p=9", plain_rows, 1));
  char *path = write_file(&w, "p=9/a.parquet", kp, NULL, 2, plain_rows, 1);
  test_ok(add(&w, path, NULL), &w.err);
  rows_world_shows(&w, "{\"k\":1,\"p\":7,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n");
  rows_world_shows_where(&w, "p = 9", "");
  free(path);
  rows_world_end(&w);
}

static void test_add_files__refuses_folders_that_do_not_fit_their_column(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p int not null", .partition = "p"});
  refuses_below(&w, "p=x", "a.parquet: its folder p=x: column p: x: ");
  refuses_below(&w, "p=3000000000", "its folder p=3000000000: column p: ");
  refuses_below(&w, "p=", "its folder p=: column p: ");
  refuses_below(&w, "p=__HIVE_DEFAULT_PARTITION__", "column p: it is required");
  refuses_below(&w, "q=1", "required column p");
  add_below(&w, "p=1", 5);
  rows_world_shows(&w, "{\"k\":5,\"p\":1,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n");
  rows_world_end(&w);
}

static void note_warning(void *user, bl_log_level level, const char *message) {
  if (level == BL_LOG_WARNING) snprintf(user, 400, "%s", message);
}

static void test_add_files__warns_where_neither_file_nor_folder_has_the_partition(void **state) {
  (void)state;
  rows_world w;
  char warning[400] = "";
  test_heap heap = {0};
  bl_ctx_options co;
  bl_ctx_options_init(&co);
  co.user = warning;
  co.log = note_warning;
  rows_world_begin_on(&w, test_ctx_on(&heap, &co),
                      &(bl_create_options){.schema = "k long, p string", .partition = "p"});
  add_below(&w, "p=x", 1);
  assert_string_equal(warning, "");
  add_below(&w, "pp=x", 2);
  assert_non_null(
      strstr(warning, "pp=x/a.parquet: column p is null in all its rows: neither the file has it nor a folder p=…"));
  rows_world_shows_where(&w, "p is null", "{\"k\":2,\"p\":null,\"_row_id\":1,\"_last_updated_sequence_number\":2}\n");
  rows_world_end(&w);
}

static void test_add_files__has_rows_whose_folders_values_changes_write(void **state) {
  (void)state;
  static const bl_write_mode modes[] = {BL_MERGE_ON_READ, BL_COPY_ON_WRITE};
  for (size_t i = 0; i < BL_LEN(modes); i++) {
    rows_world w;
    bl_write_options o = {.mode = modes[i]};
    const char *set = "k = k + 10", *move = "p = p || '!'";
    rows_world_begin(&w, &(bl_create_options){.schema = "k long, p string", .partition = "p"});
    char *path = write_below(&w, "p=a", (const int64_t[]){1, 2, 3}, 3);
    test_ok(add(&w, path, NULL), &w.err);
    test_ok(bl_update_rows(w.t, &set, 1, "k = 1", &o, NULL, &w.err), &w.err);
    rows_world_reopen(&w);
    test_ok(bl_update_rows(w.t, &move, 1, "k = 2 and p = 'a'", &o, NULL, &w.err), &w.err);
    rows_world_reopen(&w);
    rows_world_shows(&w, "{\"k\":11,\"p\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":2}\n"
                         "{\"k\":2,\"p\":\"a!\",\"_row_id\":1,\"_last_updated_sequence_number\":3}\n"
                         "{\"k\":3,\"p\":\"a\",\"_row_id\":2,\"_last_updated_sequence_number\":1}\n");
    rows_world_shows_where(&w, "p = 'a!'",
                           "{\"k\":2,\"p\":\"a!\",\"_row_id\":1,\"_last_updated_sequence_number\":3}\n");
    free(path);
    rows_world_end(&w);
  }
}

typedef struct planned {
  const char *table, *path;
} planned;

static bl_status plan_to_add(bl_ctx *ctx, void *user, bl_error *err) {
  const planned *p = user;
  bl_table *t;
  BL_TRY(bl_table_open(ctx, p->table, NULL, &t, err));
  bl_status st = bl_add_files(t, &p->path, 1, NULL, &(bl_write_options){.dry_run = true}, NULL, err);
  bl_table_free(t);
  return st;
}

static void test_add_files__fails_cleanly_when_memory_runs_out_over_folders(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p string, d decimal(5,2)", .partition = "p, d"});
  planned p = {w.table, write_below(&w, "p=a%20b/d=1.5", (const int64_t[]){1}, 1)};
  test_fail_each(plan_to_add, &p);
  free((char *)p.path);
  rows_world_end(&w);
}

/* ---- stored lineage ---- */

static const char *const with_ids[] = {"k", "_row_id", "_last_updated_sequence_number"};
static const int32_t lineage_ids[] = {1, BL_ID_ROW_ID, BL_ID_LAST_UPDATED};

/* B56: a file of the table itself, added again. */
static void test_add_files__refuses_stored_row_ids_unless_told_what_to_do(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  rows_world_append(&w, "{\"k\":10}\n{\"k\":11}\n{\"k\":12}\n");
  char *path = write_file(&w, "ids.parquet", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1, 11, 1, 1}, 2);
  refuses(&w, path, NULL, "it stores row ids");
  test_ok(add(&w, path, &(bl_add_files_options){.lineage = BL_LINEAGE_IGNORE}), &w.err);
  rows_world_shows_where(&w, "k < 12",
                         "{\"k\":10,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                         "{\"k\":11,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                         "{\"k\":10,\"_row_id\":3,\"_last_updated_sequence_number\":2}\n"
                         "{\"k\":11,\"_row_id\":4,\"_last_updated_sequence_number\":2}\n");
  free(path);
  rows_world_end(&w);
}

static void test_add_files__copies_what_the_folders_say_with_rows_whose_ids_are_ignored(void **state) {
  (void)state;
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long, p string not null", .partition = "p"});
  free(write_below(&w, "p=a", (const int64_t[]){1}, 1));
  char *path = write_file(&w, "p=a/ids.parquet", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1, 11, 1, 1}, 2);
  test_ok(add(&w, path, &(bl_add_files_options){.lineage = BL_LINEAGE_IGNORE}), &w.err);
  rows_world_shows(&w, "{\"k\":10,\"p\":\"a\",\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":11,\"p\":\"a\",\"_row_id\":1,\"_last_updated_sequence_number\":1}\n");
  free(path);
  rows_world_end(&w);
}

static void test_add_files__trusts_ids_that_are_free(void **state) {
  (void)state;
  const bl_add_files_options trust = {.lineage = BL_LINEAGE_TRUST};
  rows_world w;
  rows_world_begin(&w, &(bl_create_options){.schema = "k long"});
  rows_world_append(&w, "{\"k\":10}\n{\"k\":11}\n{\"k\":12}\n");
  char *taken = write_file(&w, "taken", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1}, 1);
  char *beyond = write_file(&w, "beyond", with_ids, lineage_ids, 3, (const int64_t[]){10, 3, 1}, 1);
  char *negative = write_file(&w, "negative", with_ids, lineage_ids, 3, (const int64_t[]){10, -1, 1}, 1);
  char *twice = write_file(&w, "twice", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1, 11, 0, 1}, 2);
  char *later = write_file(&w, "later", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 9}, 1);
  char *fine =
      write_file(&w, "fine", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1, 99, INT64_MIN, INT64_MIN}, 2);
  refuses(&w, taken, &trust, "row id 0, which a file brings along, is a row's of the table");
  refuses(&w, beyond, &trust, "row id 3 was never given out");
  refuses(&w, negative, &trust, "row id -1 was never given out");
  refuses(&w, twice, &trust, "row id 0 is there twice");
  refuses(&w, later, &trust, "sequence number 9");
  test_ok(bl_delete_rows(w.t, "k = 10", NULL, &w.result, &w.err), &w.err);
  rows_world_reopen(&w);
  test_ok(add(&w, fine, &trust), &w.err);
  rows_world_shows(&w, "{\"k\":11,\"_row_id\":1,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":12,\"_row_id\":2,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":10,\"_row_id\":0,\"_last_updated_sequence_number\":1}\n"
                       "{\"k\":99,\"_row_id\":4,\"_last_updated_sequence_number\":3}\n");
  free(taken);
  free(beyond);
  free(negative);
  free(twice);
  free(later);
  free(fine);
  rows_world_end(&w);
  rows_world_begin(&w, &(bl_create_options){.schema = "k long", .format_version = 2});
  taken = write_file(&w, "taken", with_ids, lineage_ids, 3, (const int64_t[]){10, 0, 1}, 1);
  bl_status st = add(&w, taken, &trust);
  test_status(BL_UNSUPPORTED, st, &w.err);
  free(taken);
  rows_world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_add_files__takes_a_file_by_names_and_keeps_the_mapping),
      cmocka_unit_test(test_add_files__takes_a_file_by_its_field_ids),
      cmocka_unit_test(test_add_files__takes_no_file_twice),
      cmocka_unit_test(test_add_files__takes_no_file_that_another_adds_meanwhile),
      cmocka_unit_test(test_add_files__refuses_what_does_not_fit),
      cmocka_unit_test(test_add_files__tells_the_partition_by_statistics),
      cmocka_unit_test(test_add_files__refuses_stored_row_ids_unless_told_what_to_do),
      cmocka_unit_test(test_add_files__takes_what_a_file_lacks_from_its_folders),
      cmocka_unit_test(test_add_files__believes_a_file_before_its_folders),
      cmocka_unit_test(test_add_files__refuses_folders_that_do_not_fit_their_column),
      cmocka_unit_test(test_add_files__warns_where_neither_file_nor_folder_has_the_partition),
      cmocka_unit_test(test_add_files__has_rows_whose_folders_values_changes_write),
      cmocka_unit_test(test_add_files__fails_cleanly_when_memory_runs_out_over_folders),
      cmocka_unit_test(test_add_files__copies_what_the_folders_say_with_rows_whose_ids_are_ignored),
      cmocka_unit_test(test_add_files__trusts_ids_that_are_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

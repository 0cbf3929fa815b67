/* test_create.c: new tables: schemas, partitions and orders as text; files that show a schema; what a format version
 * allows; metadata documents of other writers that a commit keeps. */
#include "commit_world.h"
#include "format/metadata_json.h"
#include "write/create.h"
#include "write/schema_text.h"

typedef struct texts {
  bl_ctx *ctx;
  bl_arena *a;
} texts;

static texts begin(void) {
  texts x = {.ctx = test_ctx()};
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_arena_new(x.ctx, &x.a, &err), &err);
  return x;
}

static void end(texts *x) {
  bl_arena_free(x->a);
  test_ctx_free(x->ctx);
}

static void schema_is(texts *x, const char *text, const char *want) {
  bl_schema s;
  bl_error err = BL_ERROR_INIT;
  bl_buf b;
  test_ok(bl_schema_text(x->a, bl_str_of(text), &s, &err), &err);
  bl_buf_init(&b, x->ctx, BL_BUF_MAX);
  bl_json_print(&b, bl_json_get(bl_schema_to_json(x->a, &s), "fields"), false);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

static void keys_are(texts *x, const char *text, const char *want) {
  bl_schema s;
  bl_error err = BL_ERROR_INIT;
  char got[100] = "";
  test_ok(bl_schema_text(x->a, bl_str_of(text), &s, &err), &err);
  for (size_t i = 0; i < s.n_identifier_ids; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", (int)s.identifier_ids[i]);
  assert_string_equal(got, want);
}

static void schema_refused(texts *x, const char *text, int64_t at, const char *says) {
  bl_schema s;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_schema_text(x->a, bl_str_of(text), &s, &err), &err);
  test_says(&err, says);
  if (at >= 0) assert_int_equal(err.position, at);
}

#define FIELD(id, name, required, type)                                                                                \
  "{\"id\":" #id ",\"name\":\"" name "\",\"required\":" #required ",\"type\":" type "}"

static void test_create__schemas_are_written_as_text(void **state) {
  (void)state;
  texts x = begin();
  schema_is(&x, "a long not null, b string",
            "[" FIELD(1, "a", true, "\"long\"") "," FIELD(2, "b", false, "\"string\"") "]");
  schema_is(&x, " a BIGINT NOT NULL,b  decimal( 9 , 2 ) ",
            "[" FIELD(1, "a", true, "\"long\"") "," FIELD(2, "b", false, "\"decimal(9, 2)\"") "]");
  schema_is(&x, "s struct<x: int, y list<string not null>>, m map<string, long>",
            "[{\"id\":1,\"name\":\"s\",\"required\":false,\"type\":{\"type\":\"struct\",\"fields\":[" FIELD(
                3, "x", false, "\"int\"") ",{\"id\":4,\"name\":\"y\",\"required\":false,\"type\":{\"type\":\"list\","
                                          "\"element-id\":5,\"element\":\"string\",\"element-required\":true}}]}},"
                                          "{\"id\":2,\"name\":\"m\",\"required\":false,\"type\":{\"type\":\"map\","
                                          "\"key-id\":6,\"key\":\"string\",\"value-id\":7,\"value\":\"long\","
                                          "\"value-required\":false}}]");
  schema_is(&x, "\"odd, name\" int default -3 comment 'it''s', f fixed[4]",
            "[{\"id\":1,\"name\":\"odd, name\",\"required\":false,\"type\":\"int\",\"doc\":\"it's\","
            "\"initial-default\":-3,\"write-default\":-3}," FIELD(2, "f", false, "\"fixed[4]\"") "]");
  schema_is(&x, "d date default '2026-01-31', t timestamptz default timestamptz '2026-01-31T00:00:00Z'",
            "[{\"id\":1,\"name\":\"d\",\"required\":false,\"type\":\"date\",\"initial-default\":\"2026-01-31\","
            "\"write-default\":\"2026-01-31\"},{\"id\":2,\"name\":\"t\",\"required\":false,\"type\":\"timestamptz\","
            "\"initial-default\":\"2026-01-31T00:00:00.000000+00:00\",\"write-default\":\"2026-01-31T00:00:00.000000+"
            "00:00\"}]");
  end(&x);
}

static void test_create__keys_are_the_columns_that_say_so_also_inside_structs(void **state) {
  (void)state;
  texts x = begin();
  keys_are(&x, "a long, b int", "");
  keys_are(&x, "a long primary key, b int, c string primary key not null", "1 3");
  keys_are(&x, "st struct<a: int not null primary key> not null", "2");
  keys_are(&x,
           "k long primary key primary key, st struct<a int, u struct<b int primary key> not null> not null, z int "
           "primary key",
           "1 6 3");
  keys_are(&x, "st struct<a: int> not null primary key", "1");
  end(&x);
}

static void test_create__wrong_schemas_name_the_place(void **state) {
  (void)state;
  texts x = begin();
  schema_refused(&x, "", 0, "name");
  schema_refused(&x, "a", 1, "type");
  schema_refused(&x, "a long,", 7, "name");
  schema_refused(&x, "a long b", 7, "not expected");
  schema_refused(&x, "a lung", 2, "not known");
  schema_refused(&x, "a long, a int", -1, "twice");
  schema_refused(&x, "a list<int", 10, "'>'");
  schema_refused(&x, "a struct<x: int, x: int>", -1, "twice");
  schema_refused(&x, "a decimal(9,2", 9, "bracket");
  schema_refused(&x, "a long, d decimal(5, 6)", 10,
                 "no value is of the type decimal(5, 6): the scale is greater than the precision");
  schema_refused(&x, "l list<fixed[0]>", 7, "no value is of the type fixed[0]: the length is 0");
  schema_refused(&x, "a int default 'x'", -1, "number");
  schema_refused(&x, "a int default 3000000000", -1, "no value");
  schema_refused(&x, "a list<int> default 3", -1, "no default");
  schema_refused(&x, "a int comment", -1, "'…'");
  schema_refused(&x, "a int primary", -1, "key");
  char deep[2000] = "a ";
  for (int i = 0; i < 150; i++) strcat(deep, "list<");
  schema_refused(&x, deep, -1, "nested");
  end(&x);
}

static void partition_is(texts *x, const bl_schema *s, const char *text, const char *want) {
  bl_partition_spec spec;
  bl_error err = BL_ERROR_INIT;
  char got[300] = "";
  test_ok(bl_partition_text(x->a, bl_str_of(text), s, &spec, &err), &err);
  for (size_t i = 0; i < spec.n_fields; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s=%s(%d)", i ? " " : "", spec.fields[i].name.p,
             spec.fields[i].transform.text.p, (int)spec.fields[i].source_ids[0]);
  assert_string_equal(got, want);
}

static void partition_refused(texts *x, const bl_schema *s, const char *text, const char *says) {
  bl_partition_spec spec;
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, bl_partition_text(x->a, bl_str_of(text), s, &spec, &err), &err);
  test_says(&err, says);
}

static void test_create__partitions_are_written_as_text(void **state) {
  (void)state;
  texts x = begin();
  bl_schema s;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_schema_text(x.a, BL_STR("a long, ts timestamptz, s struct<b: string>, \"x y\" int, v variant"), &s, &err),
          &err);
  partition_is(&x, &s, "bucket(16, a), day(ts)", "a_bucket=bucket[16](1) ts_day=day(2)");
  partition_is(&x, &s, "bucket(a, 16), days(ts), hours(ts)", "a_bucket=bucket[16](1) ts_day=day(2) ts_hour=hour(2)");
  partition_is(&x, &s, "truncate(3, s.b) as t, \"x y\", a", "t=truncate[3](6) x y=identity(4) a=identity(1)");
  partition_is(&x, &s, "", "");
  partition_refused(&x, &s, "nothing", "nothing");
  partition_refused(&x, &s, "day(a)", "does not take");
  partition_refused(&x, &s, "v", "does not take");
  partition_refused(&x, &s, "bucket(0, a)", "positive");
  partition_refused(&x, &s, "bucket(16, a", "')'");
  partition_refused(&x, &s, "frob(a)", "no transform");
  partition_refused(&x, &s, "a, a", "twice");
  partition_refused(&x, &s, "bucket(4, a), bucket(4, a) as c", "the same");
  partition_refused(&x, &s, "bucket(4, a) as ts", "column's");
  end(&x);
}

/* Spec, "Partitioning": a source column is in no list and no map; a row has no one value of such a column to be ordered
 * by either. */
static void test_create__columns_inside_lists_and_maps_neither_partition_nor_order(void **state) {
  (void)state;
  static const char *const inside[] = {"l.element.a", "bucket(2, l.element.a)", "m.key",
                                       "m.value",     "void(m.value)",          "s.n.element"};
  texts x = begin();
  bl_schema s;
  bl_sort_order o;
  bl_error err = BL_ERROR_INIT;
  bl_str text = BL_STR("l list<struct<a: int>>, m map<string, int>, s struct<n: list<int>, b: int>");
  test_ok(bl_schema_text(x.a, text, &s, &err), &err);
  for (size_t i = 0; i < BL_LEN(inside); i++) {
    partition_refused(&x, &s, inside[i], "inside a list or map");
    test_status(BL_USAGE, bl_sort_text(x.a, bl_str_of(inside[i]), &s, &o, &err), &err);
    test_says(&err, "inside a list or map");
  }
  partition_is(&x, &s, "s.b", "s.b=identity(9)");
  partition_refused(&x, &s, "l", "does not take");
  end(&x);
}

static void sort_is(texts *x, const bl_schema *s, const char *text, const char *want) {
  bl_sort_order o;
  bl_error err = BL_ERROR_INIT;
  char got[300] = "";
  test_ok(bl_sort_text(x->a, bl_str_of(text), s, &o, &err), &err);
  for (size_t i = 0; i < o.n_fields; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s(%d)%s%s", i ? " " : "", o.fields[i].transform.text.p,
             (int)o.fields[i].source_ids[0], o.fields[i].descending ? " desc" : "",
             o.fields[i].nulls_last ? " last" : "");
  assert_string_equal(got, want);
}

static void test_create__orders_are_written_as_text(void **state) {
  (void)state;
  texts x = begin();
  bl_schema s;
  bl_sort_order o;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_schema_text(x.a, BL_STR("a long, b string"), &s, &err), &err);
  sort_is(&x, &s, "a, b desc", "identity(1) identity(2) desc last");
  sort_is(&x, &s, "a asc nulls last, truncate(4, b) desc nulls first", "identity(1) last truncate[4](2) desc");
  test_status(BL_USAGE, bl_sort_text(x.a, BL_STR("a nulls"), &s, &o, &err), &err);
  end(&x);
}

/* ---- tables ---- */

static bl_status try_create(const bl_create_options *o, bl_error *err) {
  bl_ctx *ctx = test_ctx();
  char *dir = test_temp_dir(), *path = test_join(dir, "t");
  bl_status st = bl_table_create(ctx, path, NULL, o, err);
  bl_table *t = NULL;
  if (st == BL_OK) {
    st = bl_table_open(ctx, path, NULL, &t, err);
    bl_table_free(t);
  }
  free(path);
  test_remove_dir(dir);
  test_ctx_free(ctx);
  return st;
}

static void create_refused(const bl_create_options *o, const char *says) {
  bl_error err = BL_ERROR_INIT;
  test_status(BL_USAGE, try_create(o, &err), &err);
  test_says(&err, says);
}

static void test_create__format_versions_allow_what_they_have(void **state) {
  (void)state;
  bl_error err = BL_ERROR_INIT;
  for (int v = 1; v <= 3; v++) {
    bl_create_options o = {
        .schema = "a long primary key, b string", .partition = "bucket(4, a)", .sort = "b", .format_version = v};
    test_ok(try_create(&o, &err), &err);
  }
  create_refused(&(bl_create_options){.schema = "a timestamp_ns", .format_version = 2}, "format version 3");
  create_refused(&(bl_create_options){.schema = "s struct<a: variant>", .format_version = 2}, "format version 3");
  create_refused(&(bl_create_options){.schema = "a int default 3", .format_version = 2}, "format version 3");
  create_refused(&(bl_create_options){.schema = "_row_id long"}, "reserved");
  create_refused(&(bl_create_options){.schema = "a long", .format_version = 4}, "1, 2 or 3");
  create_refused(&(bl_create_options){.schema = "a double primary key"}, "identifier");
  create_refused(&(bl_create_options){.schema = "st struct<a int primary key>"},
                 "wrong identifier field: a: a column inside an optional struct cannot be one");
  create_refused(&(bl_create_options){.schema = "l list<struct<a int primary key> not null> not null"},
                 "inside a list or map");
  create_refused(&(bl_create_options){.schema = "st struct<a int> primary key"}, "wrong identifier field: st");
  create_refused(&(bl_create_options){.schema = NULL}, "no schema");
  create_refused(&(bl_create_options){.schema = "{\"type\":\"struct\",\"fields\":[" FIELD(1, "d", false,
                                                                                          "\"decimal(5, 6)\"") "]}"},
                 "wrong column: d: no value is of its type: the scale is greater than the precision");
  create_refused(
      &(bl_create_options){
          .schema = "{\"type\":\"struct\",\"fields\":["
                    "{\"id\":1,\"name\":\"l\",\"required\":false,\"type\":{\"type\":\"list\",\"element-id\":2,"
                    "\"element-required\":false,\"element\":\"fixed[0]\"}}]}"},
      "wrong column: l: no value is of its type: the length is 0");
  test_ok(try_create(&(bl_create_options){.schema = "d decimal(38, 38), f fixed[1]"}, &err), &err);
  create_refused(&(bl_create_options){.schema = "{\"type\":\"struct\"}"}, "fields");
  const char *wrong = "format-version=2", *none = "x";
  create_refused(&(bl_create_options){.schema = "a long", .properties = &wrong, .n_properties = 1}, "format-version");
  create_refused(&(bl_create_options){.schema = "a long", .properties = &none, .n_properties = 1}, "KEY=VALUE");
  test_ok(try_create(&(bl_create_options){.schema = "s struct<_row_id: long>"}, &err), &err);
}

static void test_create__json_keeps_its_ids(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  char *dir = test_temp_dir(), *path = test_join(dir, "t");
  bl_create_options o = {.schema =
                             "{\"type\":\"struct\",\"schema-id\":9,\"fields\":[{\"id\":7,\"name\":\"a\",\"required\":"
                             "true,\"type\":\"long\"},{\"id\":3,\"name\":\"b\",\"required\":false,\"type\":"
                             "\"string\"}],\"identifier-field-ids\":[7]}",
                         .partition = "b"};
  bl_table *t;
  test_ok(bl_table_create(ctx, path, NULL, &o, &err), &err);
  test_ok(bl_table_open(ctx, path, NULL, &t, &err), &err);
  assert_int_equal(t->metadata->last_column_id, 7);
  assert_int_equal(t->metadata->current_schema_id, 0);
  assert_int_equal(t->metadata->schemas[0].root.fields[1].id, 3);
  assert_int_equal(t->metadata->schemas[0].identifier_ids[0], 7);
  assert_int_equal(t->metadata->specs[0].fields[0].source_ids[0], 3);
  assert_string_equal(bl_table_property(t, "write.update.mode"), "merge-on-read");
  bl_table_free(t);
  test_status(BL_CONFLICT, bl_table_create(ctx, path, NULL, &o, &err), &err);
  free(path);
  test_remove_dir(dir);
  test_ctx_free(ctx);
}

/* ---- samples ---- */

static void like(const char *name, const char *text, const char *want) {
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_drivers d = {0};
  char *dir = test_temp_dir(), *path = test_join(dir, name), *json = NULL;
  test_write(path, text, strlen(text));
  test_ok(bl_drivers_default(ctx, &d, &err), &err);
  test_ok(bl_schema_like(ctx, path, &(bl_table_options){.drivers = &d}, &json, &err), &err);
  bl_arena *a;
  bl_json *doc;
  bl_schema s;
  char got[600] = "";
  test_ok(bl_arena_new(ctx, &a, &err), &err);
  test_ok(bl_json_parse(a, json, strlen(json), &doc, &err), &err);
  test_ok(bl_schema_from_json(a, doc, &s, &err), &err);
  for (size_t i = 0; i < s.root.n_fields; i++) {
    const bl_field *f = &s.root.fields[i];
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s %s", i ? ", " : "", f->name.p,
             bl_kind_name(f->type.kind));
    for (size_t k = 0; k < f->type.n_fields; k++)
      snprintf(got + strlen(got), sizeof got - strlen(got), " <%s %s>", f->type.fields[k].name.p,
               bl_kind_name(f->type.fields[k].type.kind));
  }
  assert_string_equal(got, want);
  bl_arena_free(a);
  bl_free(ctx, json);
  bl_drivers_dispose(&d);
  free(path);
  test_remove_dir(dir);
  test_ctx_free(ctx);
}

static void test_create__samples_show_their_columns(void **state) {
  (void)state;
  like("x.csv", "a,b,c,d,e,f\n1,1.5,2026-01-01,x,true,2026-01-01T00:00:00\n2,3,2026-01-02,5,,2026-01-01T01:00:00\n",
       "a long, b double, c date, d string, e boolean, f timestamp");
  like("x.ndjson",
       "{\"a\":1,\"s\":{\"x\":1,\"y\":null},\"l\":[1,2.5],\"n\":null,\"m\":\"2026-01-01\"}\n\n"
       "{\"a\":2.5,\"z\":true,\"m\":\"x\",\"e\":{}}\n",
       "a double, s struct <x long> <y string>, l list <element double>, n string, m string, z boolean, e string");
  like("x.ndjson", "{\"a\":1,\"b\":\"NaN\"}\n{\"a\":\"-Infinity\",\"b\":\"x\"}\n", "a double, b string");
}

static void test_create__a_sample_without_columns_is_refused(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  bl_error err = BL_ERROR_INIT;
  bl_drivers d = {0};
  char *dir = test_temp_dir(), *path = test_join(dir, "x.ndjson"), *json = NULL;
  test_ok(bl_drivers_default(ctx, &d, &err), &err);
  test_write(path, "", 0);
  test_status(BL_USAGE, bl_schema_like(ctx, path, &(bl_table_options){.drivers = &d}, &json, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_write(path, "[1]\n", 4);
  test_status(BL_USAGE, bl_schema_like(ctx, path, &(bl_table_options){.drivers = &d}, &json, &err), &err);
  test_says(&err, "line 1");
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_NOT_FOUND, bl_schema_like(ctx, "/no/such.csv", &(bl_table_options){.drivers = &d}, &json, &err), &err);
  bl_drivers_dispose(&d);
  free(path);
  test_remove_dir(dir);
  test_ctx_free(ctx);
}

/* ---- documents of others ---- */

/* The table's newest document is changed by hand, and written as the next version. */
static void change_by_hand(world *w, const char *from, const char *to) {
  bl_buf b;
  char path[700];
  bl_buf_init(&b, w->ctx, BL_BUF_MAX);
  bl_json_print(&b, w->t->metadata->json, false);
  bl_buf_byte(&b, 0);
  char *at = strstr((char *)b.p, from), *text = malloc(b.n + 1000);
  assert_true(at && text);
  if (!text) return;
  sprintf(text, "%.*s%s%s", (int)(at - (char *)b.p), (char *)b.p, to, at + strlen(from));
  snprintf(path, sizeof path, "%s/metadata/v%lld.metadata.json", w->table, (long long)w->t->version + 1);
  test_write(path, text, strlen(text));
  bl_buf_free(&b);
  free(text);
  world_reopen(w);
}

static void test_create__empty_tables_of_every_form_take_a_commit(void **state) {
  (void)state;
  static const char *const forms[] = {"\"current-snapshot-id\":-1,\"refs\":{},", "\"current-snapshot-id\":null,",
                                      "\"refs\":null,", ""};
  for (size_t i = 0; i < BL_LEN(forms); i++) {
    world w;
    world_begin(&w, 3);
    change_by_hand(&w, "\"refs\":{},", forms[i]);
    world_append(&w, "a", 3);
    world_shows(&w, "D@0 +a:3 id=0 raw=- seq=1");
    const bl_json *refs = bl_json_get(w.t->metadata->json, "refs");
    assert_non_null(bl_json_get(refs, "main"));
    world_end(&w);
  }
}

static void test_create__commits_keep_what_they_do_not_know(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 3);
  change_by_hand(&w,
                 "\"snapshot-id\":", "\"x-foo\":{\"n\":1.10,\"big\":123456789012345678901234567890},\"snapshot-id\":");
  change_by_hand(&w, "\"location\":", "\"x-bar\":[1e5,null],\"location\":");
  world_append(&w, "b", 3);
  bl_buf b;
  bl_buf_init(&b, w.ctx, BL_BUF_MAX);
  bl_json_print(&b, w.t->metadata->json, false);
  bl_buf_byte(&b, 0);
  assert_non_null(strstr((char *)b.p, "{\"n\":1.10,\"big\":123456789012345678901234567890}"));
  assert_non_null(strstr((char *)b.p, "\"x-bar\":[1e5,null]"));
  bl_buf_free(&b);
  /* where the numbers of lineage are: beside the summary, not in it */
  const bl_json *snapshot = bl_json_at(bl_json_get(w.t->metadata->json, "snapshots"), 1);
  assert_non_null(bl_json_get(snapshot, "first-row-id"));
  assert_non_null(bl_json_get(snapshot, "added-rows"));
  assert_null(bl_json_get(bl_json_get(snapshot, "summary"), "first-row-id"));
  world_end(&w);
}

static void test_create__a_main_that_is_a_tag_is_not_committed_to(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_append(&w, "a", 3);
  stage *s = world_stage(&w);
  stage_add(s, "b", 1);
  char path[700];
  bl_buf b;
  bl_buf_init(&b, w.ctx, BL_BUF_MAX);
  bl_json_print(&b, w.t->metadata->json, false);
  bl_buf_byte(&b, 0);
  memcpy(strstr((char *)b.p, "\"branch\""), "\"tag\"   ", 8);
  snprintf(path, sizeof path, "%s/metadata/v3.metadata.json", w.table);
  test_write(path, b.p, b.n - 1);
  bl_buf_free(&b);
  bl_error err = BL_ERROR_INIT;
  test_status(BL_DAMAGED, bl_commit_change(s->t, s->s, NULL, &w.result, &err), &err);
  test_says(&err, "branch");
  stage_free(s);
  world_end(&w);
}

/* ---- names of metadata files ---- */

static void test_create__gzip_has_its_own_name_and_both_are_looked_for(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_set(&w, "write.metadata.compression-codec=gzip");
  assert_int_equal(world_count_files(&w, "metadata", "v2.gz.metadata.json"), 1);
  world_append(&w, "a", 3);
  assert_int_equal(world_count_files(&w, "metadata", "v3.gz.metadata.json"), 1);
  /* another writer's v4, under the plain name: the commit goes on top of it */
  stage *s = world_stage(&w);
  stage_add(s, "b", 1);
  bl_buf b;
  char path[700];
  bl_buf_init(&b, w.ctx, BL_BUF_MAX);
  bl_json_print(&b, w.t->metadata->json, false);
  snprintf(path, sizeof path, "%s/metadata/v4.metadata.json", w.table);
  test_write(path, b.p, b.n);
  bl_buf_free(&b);
  world_commit(&w, s);
  assert_int_equal(w.t->version, 5);
  assert_int_equal(world_count_files(&w, "metadata", "v4."), 1);
  const char *codec = "write.metadata.compression-codec";
  test_ok(bl_set_properties(w.t, NULL, 0, &codec, 1, NULL, &w.err), &w.err);
  assert_int_equal(world_count_files(&w, "metadata", "v6.metadata.json"), 1);
  world_end(&w);
}

static void test_create__old_metadata_goes_when_it_is_asked_for(void **state) {
  (void)state;
  world w;
  world_begin(&w, 3);
  world_set(&w, "write.metadata.previous-versions-max=2");
  for (int i = 0; i < 3; i++) world_append(&w, "a", 1);
  assert_int_equal(w.t->metadata->n_metadata_log, 2);
  assert_int_equal(world_count_files(&w, "metadata", ".metadata.json"), 5);
  world_set(&w, "write.metadata.delete-after-commit.enabled=true");
  world_append(&w, "a", 1);
  world_append(&w, "a", 1);
  assert_int_equal(w.t->metadata->n_metadata_log, 2);
  assert_int_equal(world_count_files(&w, "metadata", "v8.metadata.json"), 1);
  assert_int_equal(world_count_files(&w, "metadata", "v5.metadata.json"), 0);
  world_end(&w);
}

static void test_create__a_folder_of_a_catalog_is_not_written_by_path(void **state) {
  (void)state;
  world w;
  bl_error err = BL_ERROR_INIT;
  world_begin(&w, 3);
  char from[700], to[700];
  snprintf(from, sizeof from, "%s/metadata/v1.metadata.json", w.table);
  snprintf(to, sizeof to, "%s/metadata/00001-0a1b2c3d.metadata.json", w.table);
  assert_int_equal(rename(from, to), 0);
  snprintf(from, sizeof from, "%s/metadata/version-hint.text", w.table);
  remove(from);
  bl_table *t;
  const char *x = "x=y";
  test_ok(bl_table_open(w.ctx, w.table, &w.options, &t, &err), &err);
  test_status(BL_USAGE, bl_set_properties(t, &x, 1, NULL, 0, NULL, &err), &err);
  test_says(&err, "--catalog");
  bl_table_free(t);
  err = (bl_error)BL_ERROR_INIT;
  test_ok(bl_table_open(w.ctx, to, &w.options, &t, &err), &err);
  test_status(BL_USAGE, bl_set_properties(t, &x, 1, NULL, 0, NULL, &err), &err);
  test_says(&err, "one version");
  bl_table_free(t);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_create__schemas_are_written_as_text),
      cmocka_unit_test(test_create__keys_are_the_columns_that_say_so_also_inside_structs),
      cmocka_unit_test(test_create__wrong_schemas_name_the_place),
      cmocka_unit_test(test_create__partitions_are_written_as_text),
      cmocka_unit_test(test_create__columns_inside_lists_and_maps_neither_partition_nor_order),
      cmocka_unit_test(test_create__orders_are_written_as_text),
      cmocka_unit_test(test_create__format_versions_allow_what_they_have),
      cmocka_unit_test(test_create__json_keeps_its_ids),
      cmocka_unit_test(test_create__samples_show_their_columns),
      cmocka_unit_test(test_create__a_sample_without_columns_is_refused),
      cmocka_unit_test(test_create__empty_tables_of_every_form_take_a_commit),
      cmocka_unit_test(test_create__commits_keep_what_they_do_not_know),
      cmocka_unit_test(test_create__a_main_that_is_a_tag_is_not_committed_to),
      cmocka_unit_test(test_create__gzip_has_its_own_name_and_both_are_looked_for),
      cmocka_unit_test(test_create__old_metadata_goes_when_it_is_asked_for),
      cmocka_unit_test(test_create__a_folder_of_a_catalog_is_not_written_by_path),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

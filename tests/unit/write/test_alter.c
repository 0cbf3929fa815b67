/* test_alter.c: changes of schemas, partitions and orders, shown as the metadata has them. */
#include "commit_world.h"
#include "format/metadata_json.h"

typedef struct altering {
  bl_ctx *ctx;
  char *dir, *table;
  bl_table *t;
} altering;

static void open_again(altering *x) {
  bl_error err = BL_ERROR_INIT;
  bl_table_free(x->t);
  test_ok(bl_table_open(x->ctx, x->table, NULL, &x->t, &err), &err);
}

static void begin(altering *x, const bl_create_options *o) {
  bl_error err = BL_ERROR_INIT;
  *x = (altering){.ctx = test_ctx(), .dir = test_temp_dir()};
  x->table = test_join(x->dir, "t");
  test_ok(bl_table_create(x->ctx, x->table, NULL, o, &err), &err);
  open_again(x);
}

static void begin_with(altering *x, const char *schema) {
  begin(x, &(bl_create_options){.schema = schema});
}

static void end(altering *x) {
  bl_table_free(x->t);
  test_remove_dir(x->dir);
  free(x->table);
  test_ctx_free(x->ctx);
}

/* The words are those between spaces; ~…~ keeps spaces together. */
static size_t split(char *text, const char **words) {
  size_t n = 0;
  for (char *p = text; *p;) {
    char end = *p == '~' ? '~' : ' ';
    words[n++] = end == '~' ? ++p : p;
    p += strcspn(p, end == '~' ? "~" : " ");
    if (*p) *p++ = 0;
    while (*p == ' ') p++;
  }
  return n;
}

static bl_status alter(altering *x, const char *text, bl_error *err) {
  char copy[300];
  const char *words[20];
  snprintf(copy, sizeof copy, "%s", text);
  size_t n = split(copy, words);
  bl_status st = bl_alter(x->t, words, n, NULL, err);
  open_again(x);
  return st;
}

static void alter_ok(altering *x, const char *text) {
  bl_error err = BL_ERROR_INIT;
  test_ok(alter(x, text, &err), &err);
}

static void refuses(altering *x, const char *text, const char *says) {
  bl_error err = BL_ERROR_INIT;
  int64_t version = x->t->version;
  test_status(BL_USAGE, alter(x, text, &err), &err);
  test_says(&err, says);
  assert_int_equal(x->t->version, version);
}

/* "1 a long!, 2 b string, 3 s {4 x int}" */
static void print_fields(bl_buf *b, const bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    bl_buf_printf(b, "%s%d %s ", i ? ", " : "", (int)f->id, f->name.p);
    if (f->type.n_fields) {
      bl_buf_cstr(b, "{");
      print_fields(b, &f->type);
      bl_buf_cstr(b, "}");
    } else bl_type_print(b, &f->type);
    if (f->required) bl_buf_cstr(b, "!");
    if (f->write_default) {
      bl_buf_cstr(b, " =");
      bl_value_print(b, &f->type, f->write_default);
    }
  }
}

static void columns(altering *x, const char *want) {
  bl_buf b;
  bl_buf_init(&b, x->ctx, BL_BUF_MAX);
  print_fields(&b, &bl_metadata_current_schema(x->t->metadata)->root);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

/* "0 p_bucket bucket[4] 1000" of the default spec, after its id. */
static void spec(altering *x, const char *want) {
  bl_buf b;
  const bl_partition_spec *s = bl_metadata_spec(x->t->metadata, x->t->metadata->default_spec_id);
  bl_buf_init(&b, x->ctx, BL_BUF_MAX);
  bl_buf_printf(&b, "%d:", (int)s->id);
  for (size_t i = 0; i < s->n_fields; i++)
    bl_buf_printf(&b, " %s %s %d", s->fields[i].name.p, s->fields[i].transform.text.p, (int)s->fields[i].field_id);
  bl_buf_byte(&b, 0);
  assert_string_equal((const char *)b.p, want);
  bl_buf_free(&b);
}

static void test_alter__adds_columns_with_ids_that_were_never_used(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long not null, s struct<x: int>");
  alter_ok(&x, "add b string");
  columns(&x, "1 a long!, 2 s {3 x int}, 4 b string");
  alter_ok(&x, "drop b");
  alter_ok(&x, "add b int default 7 first");
  columns(&x, "5 b int =7, 1 a long!, 2 s {3 x int}");
  alter_ok(&x, "add s.y ~list<struct<z: int>>~ before x");
  columns(&x, "5 b int =7, 1 a long!, 2 s {6 y {7 element {8 z int}}, 3 x int}");
  alter_ok(&x, "add s.y.element.w string doc ~why not~");
  alter_ok(&x, "add c ~decimal(10, 2)~ not null default 1.50 after a");
  columns(&x,
          "5 b int =7, 1 a long!, 10 c decimal(10, 2)! =1.50, 2 s {6 y {7 element {8 z int, 9 w string}}, 3 x int}");
  assert_int_equal(x.t->metadata->last_column_id, 10);
  const bl_field *c = bl_schema_find(bl_metadata_current_schema(x.t->metadata), 10);
  assert_non_null(c->initial_default);
  refuses(&x, "add a int", "already");
  refuses(&x, "add d int not null", "default");
  refuses(&x, "add d ingt", "not known");
  refuses(&x, "add d int default 1.5", "no value");
  refuses(&x, "add _row_id long", "reserved");
  refuses(&x, "add a.b int", "no struct");
  refuses(&x, "add d int after nowhere", "nowhere");
  refuses(&x, "add d int sideways", "sideways");
  end(&x);
}

static void test_alter__keeps_earlier_schemas_and_finds_them_again(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long, b string");
  alter_ok(&x, "rename b c");
  assert_int_equal(x.t->metadata->current_schema_id, 1);
  alter_ok(&x, "rename c b");
  assert_int_equal(x.t->metadata->current_schema_id, 0);
  assert_int_equal(x.t->metadata->n_schemas, 2);
  alter_ok(&x, "move b first");
  columns(&x, "2 b string, 1 a long");
  alter_ok(&x, "move b after a");
  assert_int_equal(x.t->metadata->current_schema_id, 0);
  refuses(&x, "rename a b", "already");
  refuses(&x, "rename z y", "z");
  refuses(&x, "move a before a", "itself");
  end(&x);
}

/* A path in front of the new name used to become part of it. */
static void test_alter__renames_a_column_where_it_is(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long, s struct<x: int, t: struct<y: int>>");
  alter_ok(&x, "rename s.x s.z");
  alter_ok(&x, "rename s.t.y s.t.w");
  assert_non_null(bl_schema_find_name(bl_metadata_current_schema(x.t->metadata), BL_STR("s.z")));
  assert_non_null(bl_schema_find_name(bl_metadata_current_schema(x.t->metadata), BL_STR("s.t.w")));
  refuses(&x, "rename s.z s.t.z", "stays in its struct");
  refuses(&x, "rename s.z a.z", "stays in its struct");
  refuses(&x, "rename a s.a", "stays in its struct");
  alter_ok(&x, "rename a ~\"s.a\"~");
  columns(&x, "1 s.a long, 2 s {3 z int, 4 t {5 w int}}");
  end(&x);
}

static void test_alter__widens_types_as_the_format_allows(void **state) {
  (void)state;
  altering x;
  begin(&x, &(bl_create_options){.schema = "i int default 5, f float, d decimal(5, 2), t date, l list<int>, u unknown",
                                 .partition = "day(t)"});
  alter_ok(&x, "type i long");
  alter_ok(&x, "type f double");
  alter_ok(&x, "type d ~decimal(9, 2)~");
  alter_ok(&x, "type l.element long");
  refuses(&x, "type u fixed[0]", "the length is 0");
  alter_ok(&x, "type u string");
  columns(&x, "1 i long =5, 2 f double, 3 d decimal(9, 2), 4 t date, 5 l {7 element long}, 6 u string");
  refuses(&x, "type i int", "widened");
  refuses(&x, "type d ~decimal(9, 3)~", "widened");
  refuses(&x, "type t timestamp", "partition field");
  refuses(&x, "type l long", "widened");
  refuses(&x, "add d2 ~decimal(5, 6)~", "the scale is greater than the precision");
  refuses(&x, "add l2 list<fixed[0]>", "the length is 0");
  refuses(&x, "add s2 ~struct<a int primary key>~", "identifier fields");
  end(&x);
  begin_with(&x, "t date");
  alter_ok(&x, "type t timestamp");
  columns(&x, "1 t timestamp");
  end(&x);
  begin(&x, &(bl_create_options){.schema = "t date, i int", .format_version = 2});
  refuses(&x, "type t timestamp", "widened");
  refuses(&x, "add n timestamp_ns", "format version 3");
  refuses(&x, "add n int default 3", "format version 3");
  refuses(&x, "default i 3", "format version 3");
  alter_ok(&x, "type i long");
  end(&x);
}

static void test_alter__drops_what_nothing_rests_on(void **state) {
  (void)state;
  altering x;
  begin(&x, &(bl_create_options){.schema = "a long primary key, p int, s struct<x: int, y: int>, o int, z int",
                                 .partition = "p",
                                 .sort = "o"});
  refuses(&x, "drop a", "identifier");
  refuses(&x, "drop p", "partitioned");
  refuses(&x, "drop o", "sorted");
  alter_ok(&x, "drop s.x");
  refuses(&x, "drop s.y", "nothing would be left");
  alter_ok(&x, "drop s");
  alter_ok(&x, "partition drop p");
  alter_ok(&x, "drop p");
  alter_ok(&x, "sort none");
  alter_ok(&x, "drop o");
  columns(&x, "1 a long!, 5 z int");
  refuses(&x, "drop nowhere", "nowhere");
  end(&x);
}

static void test_alter__identifiers_are_required_columns(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long not null, b string, f double not null");
  refuses(&x, "identifier b", "optional");
  refuses(&x, "identifier f", "type");
  alter_ok(&x, "identifier a");
  assert_int_equal(bl_metadata_current_schema(x.t->metadata)->n_identifier_ids, 1);
  refuses(&x, "optional a", "identifier");
  alter_ok(&x, "identifier ~~");
  assert_int_equal(bl_metadata_current_schema(x.t->metadata)->n_identifier_ids, 0);
  alter_ok(&x, "optional a");
  columns(&x, "1 a long, 2 b string, 3 f double!");
  end(&x);
}

static void test_alter__defaults_and_docs_change(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long not null default 1, b string");
  alter_ok(&x, "default a 2");
  const bl_field *a = bl_schema_find(bl_metadata_current_schema(x.t->metadata), 1);
  assert_int_equal(a->write_default->u.i, 2);
  assert_int_equal(a->initial_default->u.i, 1);
  alter_ok(&x, "default b ~'x y'~");
  columns(&x, "1 a long! =2, 2 b string =x y");
  alter_ok(&x, "default b null");
  columns(&x, "1 a long! =2, 2 b string");
  refuses(&x, "default a null", "required");
  refuses(&x, "default a ~'x'~", "number");
  alter_ok(&x, "doc b ~what it is~");
  assert_string_equal(bl_schema_find(bl_metadata_current_schema(x.t->metadata), 2)->doc.p, "what it is");
  end(&x);
}

static void test_alter__partition_fields_keep_their_ids(void **state) {
  (void)state;
  altering x;
  begin(&x, &(bl_create_options){.schema = "a long, ts timestamptz", .partition = "bucket(4, a)"});
  spec(&x, "0: a_bucket bucket[4] 1000");
  alter_ok(&x, "partition add day(ts)");
  spec(&x, "1: a_bucket bucket[4] 1000 ts_day day 1001");
  alter_ok(&x, "partition drop a_bucket");
  spec(&x, "2: ts_day day 1001");
  alter_ok(&x, "partition add ~bucket(4, a)~");
  spec(&x, "3: ts_day day 1001 a_bucket bucket[4] 1000");
  alter_ok(&x, "partition add ~hour(ts) as h~");
  alter_ok(&x, "partition drop day(ts)");
  spec(&x, "5: a_bucket bucket[4] 1000 h hour 1002");
  assert_int_equal(x.t->metadata->last_partition_id, 1002);
  refuses(&x, "partition add ~bucket(4, a)~", "already");
  refuses(&x, "partition add ~bucket(8, a)~", "another name");
  refuses(&x, "partition drop nothing", "nothing");
  refuses(&x, "partition add day(a)", "does not take");
  refuses(&x, "add h int", "partition field");
  end(&x);
  begin(&x, &(bl_create_options){.schema = "a long, b int", .partition = "a, b", .format_version = 1});
  alter_ok(&x, "partition drop a");
  spec(&x, "1: a void 1000 b identity 1001");
  assert_non_null(bl_json_get(x.t->metadata->json, "partition-spec"));
  alter_ok(&x, "add c int");
  assert_int_equal(bl_json_get(bl_json_get(x.t->metadata->json, "schema"), "fields")->n, 3);
  end(&x);
}

/* Others read no table where a partition field has the name of another column. */
static void test_alter__names_of_older_partition_fields_stay_theirs(void **state) {
  (void)state;
  altering x;
  begin(&x, &(bl_create_options){.schema = "a int, ts timestamp, b int", .partition = "day(ts) as d, a"});
  alter_ok(&x, "partition drop d");
  alter_ok(&x, "partition drop a");
  refuses(&x, "add d int", "partition field");
  refuses(&x, "rename b d", "partition field");
  alter_ok(&x, "drop a");
  alter_ok(&x, "add a int");
  columns(&x, "2 ts timestamp, 3 b int, 4 a int");
  end(&x);
}

static void test_alter__the_keys_of_maps_stay(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "m map<struct<a: int, b: int>, struct<c: int>>, n map<int, int>");
  refuses(&x, "type n.key long", "the keys of a map");
  refuses(&x, "add m.key.x int", "the keys of a map");
  refuses(&x, "drop m.key.a", "the keys of a map");
  refuses(&x, "rename m.key.a z", "the keys of a map");
  refuses(&x, "optional m.key", "the keys of a map");
  alter_ok(&x, "add m.value.x int");
  alter_ok(&x, "type n.value long");
  end(&x);
}

static void test_alter__orders_are_numbered_from_one(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long, b string");
  alter_ok(&x, "sort ~a desc, truncate(4, b) nulls last~");
  assert_int_equal(x.t->metadata->default_order_id, 1);
  alter_ok(&x, "sort none");
  assert_int_equal(x.t->metadata->default_order_id, 0);
  alter_ok(&x, "sort ~a desc, truncate(4, b) nulls last~");
  assert_int_equal(x.t->metadata->default_order_id, 1);
  alter_ok(&x, "sort b");
  assert_int_equal(x.t->metadata->default_order_id, 2);
  assert_int_equal(x.t->metadata->n_orders, 3);
  end(&x);
}

static void test_alter__names_that_refer_to_a_column_follow_it(void **state) {
  (void)state;
  altering x;
  bl_error err = BL_ERROR_INIT;
  begin_with(&x, "a long, s struct<x: int>");
  const char *mapping =
      "schema.name-mapping.default=[{\"field-id\":1,\"names\":[\"a\"]},{\"field-id\":2,\"names\":[\"s\"],"
      "\"fields\":[{\"field-id\":3,\"names\":[\"x\"]}]}]";
  const char *set[] = {mapping, "write.metadata.metrics.column.a=full", "write.metadata.metrics.column.s.x=none"};
  test_ok(bl_set_properties(x.t, set, 3, NULL, 0, NULL, &err), &err);
  open_again(&x);
  alter_ok(&x, "rename a b");
  alter_ok(&x, "rename s.x y");
  alter_ok(&x, "add s.z int");
  alter_ok(&x, "add c int");
  alter_ok(&x, "add a int");
  assert_string_equal(bl_table_property(x.t, "schema.name-mapping.default"),
                      "[{\"field-id\":1,\"names\":[\"b\"]},{\"field-id\":2,\"names\":[\"s\"],\"fields\":"
                      "[{\"field-id\":3,\"names\":[\"x\",\"y\"]},{\"field-id\":4,\"names\":[\"z\"]}]},"
                      "{\"field-id\":5,\"names\":[\"c\"]},{\"field-id\":6,\"names\":[\"a\"]}]");
  alter_ok(&x, "add n list<struct<x:int>>");
  assert_non_null(strstr(bl_table_property(x.t, "schema.name-mapping.default"),
                         "{\"field-id\":7,\"names\":[\"n\"],\"fields\":[{\"field-id\":8,\"names\":[\"element\"],"
                         "\"fields\":[{\"field-id\":9,\"names\":[\"x\"]}]}]}"));
  assert_null(bl_table_property(x.t, "write.metadata.metrics.column.a"));
  assert_string_equal(bl_table_property(x.t, "write.metadata.metrics.column.b"), "full");
  assert_string_equal(bl_table_property(x.t, "write.metadata.metrics.column.s.y"), "none");
  alter_ok(&x, "drop b");
  assert_null(bl_table_property(x.t, "write.metadata.metrics.column.b"));
  end(&x);
}

static void has_property(altering *x, const char *key, const char *value) {
  const char *v = bl_table_property(x->t, key);
  if (!value) assert_null(v);
  else assert_string_equal(v ? v : "not there", value);
}

static void set_ok(altering *x, const char *property) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_set_properties(x->t, &property, 1, NULL, 0, NULL, &err), &err);
  open_again(x);
}

static void set_refused(altering *x, const char *property, const char *says) {
  bl_error err = BL_ERROR_INIT;
  bl_write_options dry = {.dry_run = true};
  test_status(BL_USAGE, bl_set_properties(x->t, &property, 1, NULL, 0, &dry, &err), &err);
  err = (bl_error)BL_ERROR_INIT;
  test_status(BL_USAGE, bl_set_properties(x->t, &property, 1, NULL, 0, NULL, &err), &err);
  test_says(&err, says);
}

static void test_alter__properties_of_the_fields_inside_follow_too(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long, s struct<x: int, t struct<y: int>>, l list<struct<x: int>>, m map<string, struct<y: int>>");
  static const char *const set[] = {"write.metadata.metrics.column.s.x=none",
                                    "write.metadata.metrics.column.s.t.y=full",
                                    "write.parquet.bloom-filter-enabled.column.s.t.y=true",
                                    "write.parquet.bloom-filter-fpp.column.s.t.y=0.1",
                                    "write.parquet.stats-enabled.column.s.x=false",
                                    "write.metadata.metrics.column.l.x=none",
                                    "write.metadata.metrics.column.m.value.y=counts",
                                    "write.metadata.metrics.column.a=full"};
  for (size_t i = 0; i < BL_LEN(set); i++) set_ok(&x, set[i]);
  alter_ok(&x, "rename s r");
  alter_ok(&x, "rename r.t u");
  has_property(&x, "write.metadata.metrics.column.s.x", NULL);
  has_property(&x, "write.metadata.metrics.column.r.x", "none");
  has_property(&x, "write.metadata.metrics.column.r.u.y", "full");
  has_property(&x, "write.parquet.bloom-filter-enabled.column.r.u.y", "true");
  has_property(&x, "write.parquet.bloom-filter-fpp.column.r.u.y", "0.1");
  has_property(&x, "write.parquet.stats-enabled.column.r.x", "false");
  alter_ok(&x, "rename l k"); /* short names become full ones */
  has_property(&x, "write.metadata.metrics.column.l.x", NULL);
  has_property(&x, "write.metadata.metrics.column.k.element.x", "none");
  alter_ok(&x, "drop m");
  has_property(&x, "write.metadata.metrics.column.m.value.y", NULL);
  alter_ok(&x, "drop r");
  has_property(&x, "write.metadata.metrics.column.r.x", NULL);
  has_property(&x, "write.parquet.bloom-filter-fpp.column.r.u.y", NULL);
  has_property(&x, "write.metadata.metrics.column.a", "full");
  end(&x);
}

/* A column whose name is the beginning of another's is another column. */
static void test_alter__properties_follow_no_other_column(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long, ab long, \"a.x\" long, \"b c\" long");
  set_ok(&x, "write.metadata.metrics.column.ab=none");
  set_ok(&x, "write.metadata.metrics.column.a.x=none");
  set_ok(&x, "write.metadata.metrics.column.b c=none");
  alter_ok(&x, "rename a z");
  has_property(&x, "write.metadata.metrics.column.ab", "none");
  has_property(&x, "write.metadata.metrics.column.a.x", "none");
  alter_ok(&x, "rename ~\"b c\"~ d");
  has_property(&x, "write.metadata.metrics.column.d", "none");
  has_property(&x, "write.metadata.metrics.column.b c", NULL);
  alter_ok(&x, "drop z");
  has_property(&x, "write.metadata.metrics.column.a.x", "none");
  end(&x);
}

static void test_alter__metrics_are_set_of_columns_that_are_there(void **state) {
  (void)state;
  altering x;
  bl_error err = BL_ERROR_INIT;
  const char *none = "write.metadata.metrics.column.nope=full";
  bl_create_options o = {.schema = "a long", .properties = &none, .n_properties = 1};
  begin_with(&x, "a long, s struct<x: int>, l list<struct<y: int>>, m map<string, int>");
  test_status(BL_USAGE, bl_table_create(x.ctx, x.dir, NULL, &o, &err), &err);
  test_says(&err, "write.metadata.metrics.column.nope: the table has no column nope");
  set_refused(&x, none, "write.metadata.metrics.column.nope: the table has no column nope");
  set_refused(&x, "write.metadata.metrics.column.A=full", "no column A");
  set_refused(&x, "write.metadata.metrics.column.x=full", "no column x");
  set_refused(&x, "write.metadata.metrics.column.=full", "no column");
  static const char *const there[] = {"a", "s", "s.x", "l.element.y", "l.y", "m.key", "m.value", "l.element"};
  for (size_t i = 0; i < BL_LEN(there); i++) {
    char set[100];
    snprintf(set, sizeof set, "write.metadata.metrics.column.%s=full", there[i]);
    set_ok(&x, set);
  }
  /* Others name columns as well, but Java does not look */
  set_ok(&x, "write.parquet.bloom-filter-enabled.column.nope=true");
  set_ok(&x, "write.parquet.stats-enabled.column.nope=false");
  end(&x);
}

/* Whoever wrote it: the table is read, written to and altered, and the property can be taken away. */
static void test_alter__a_property_of_no_column_is_in_nobody_s_way(void **state) {
  (void)state;
  altering x;
  bl_error err = BL_ERROR_INIT;
  begin_with(&x, "a long, b long");
  set_ok(&x, "write.metadata.metrics.column.b=full");
  size_t n;
  char *text = test_read(x.t->metadata_path, &n), *at = strstr(text, "metrics.column.b\"");
  assert_non_null(at);
  at[strlen("metrics.column.")] = 'z';
  test_write(x.t->metadata_path, text, n);
  free(text);
  open_again(&x);
  set_ok(&x, "owner=me");
  alter_ok(&x, "rename b c");
  has_property(&x, "write.metadata.metrics.column.z", "full");
  set_refused(&x, "write.metadata.metrics.column.z=none", "no column z");
  const char *unset = "write.metadata.metrics.column.z";
  test_ok(bl_set_properties(x.t, NULL, 0, &unset, 1, NULL, &err), &err);
  open_again(&x);
  has_property(&x, unset, NULL);
  end(&x);
}

/* As Java's UpdateSchema does it: what a name means in files without ids is what it means in the table. */
static void test_alter__a_name_that_comes_back_means_the_new_column(void **state) {
  (void)state;
  altering x;
  bl_error err = BL_ERROR_INIT;
  begin_with(&x, "a long, b long, s struct<x: int, y: int>");
  const char *set = "schema.name-mapping.default=[{\"field-id\":1,\"names\":[\"a\",\"old\"]},{\"field-id\":2,"
                    "\"names\":[\"b\"]},{\"field-id\":3,\"names\":[\"s\"],\"fields\":[{\"field-id\":4,\"names\":"
                    "[\"x\"]},{\"field-id\":5,\"names\":[\"y\"]}]}]";
  test_ok(bl_set_properties(x.t, &set, 1, NULL, 0, NULL, &err), &err);
  open_again(&x);
  alter_ok(&x, "drop a");
  alter_ok(&x, "add a string");
  alter_ok(&x, "drop s.x");
  alter_ok(&x, "rename s.y x");
  assert_string_equal(bl_table_property(x.t, "schema.name-mapping.default"),
                      "[{\"field-id\":1,\"names\":[\"old\"]},{\"field-id\":2,\"names\":[\"b\"]},{\"field-id\":3,"
                      "\"names\":[\"s\"],\"fields\":[{\"field-id\":4,\"names\":[]},{\"field-id\":5,\"names\":[\"y\","
                      "\"x\"]}]},{\"field-id\":6,\"names\":[\"a\"]}]");
  alter_ok(&x, "drop b");
  alter_ok(&x, "rename a b");
  alter_ok(&x, "rename b a");
  bl_arena *a;
  bl_name_mapping m;
  bl_str text = bl_str_of(bl_table_property(x.t, "schema.name-mapping.default"));
  test_ok(bl_arena_new(x.t->ctx, &a, &err), &err);
  test_ok(bl_name_mapping_parse(a, text, &m, &err), &err);
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("a"))->id, 6);
  assert_int_equal(bl_name_mapping_find(m.fields, m.n_fields, BL_STR("b"))->id, 6);
  bl_arena_free(a);
  end(&x);
}

static void test_alter__wrong_changes_are_named(void **state) {
  (void)state;
  altering x;
  begin_with(&x, "a long");
  refuses(&x, "eat a", "eat");
  refuses(&x, "add a", "add NAME TYPE");
  refuses(&x, "rename a", "rename NAME");
  refuses(&x, "partition eat a", "partition add");
  end(&x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alter__adds_columns_with_ids_that_were_never_used),
      cmocka_unit_test(test_alter__keeps_earlier_schemas_and_finds_them_again),
      cmocka_unit_test(test_alter__renames_a_column_where_it_is),
      cmocka_unit_test(test_alter__widens_types_as_the_format_allows),
      cmocka_unit_test(test_alter__drops_what_nothing_rests_on),
      cmocka_unit_test(test_alter__identifiers_are_required_columns),
      cmocka_unit_test(test_alter__defaults_and_docs_change),
      cmocka_unit_test(test_alter__partition_fields_keep_their_ids),
      cmocka_unit_test(test_alter__names_of_older_partition_fields_stay_theirs),
      cmocka_unit_test(test_alter__the_keys_of_maps_stay),
      cmocka_unit_test(test_alter__orders_are_numbered_from_one),
      cmocka_unit_test(test_alter__names_that_refer_to_a_column_follow_it),
      cmocka_unit_test(test_alter__properties_of_the_fields_inside_follow_too),
      cmocka_unit_test(test_alter__properties_follow_no_other_column),
      cmocka_unit_test(test_alter__metrics_are_set_of_columns_that_are_there),
      cmocka_unit_test(test_alter__a_property_of_no_column_is_in_nobody_s_way),
      cmocka_unit_test(test_alter__a_name_that_comes_back_means_the_new_column),
      cmocka_unit_test(test_alter__wrong_changes_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* table_maker.c: see table_maker.h. */
#include "support/table_maker.h"

#include "edge/arrow/arrow_edge.h"
#include "edge/io_memory.h"
#include "format/manifest_avro.h"
#include "format/metadata_json.h"
#include "format/puffin.h"
#include "rows/arrow_build.h"
#include "rows/arrow_own.h"

typedef struct text_list {
  bl_buf b; /* joined by commas */
  int n;
} text_list;

struct maker {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_io *io;
  bl_drivers defaults, drivers;
  int version;
  text_list schemas, specs, properties, snapshots;
  const char *order; /* fields of sort order 1; NULL: unsorted */
  int current_schema, default_spec;
  bl_metadata *md; /* made with the first file, and again by an upgrade */
  bl_metadata *old_md[4];
  size_t n_old_md;
  int64_t last_sequence, last_snapshot, next_row_id, written;
  int64_t page_rows;
  bl_manifest_file *list; /* of the last commit */
  size_t n_list;
};

/* ---- life ---- */

static void add_text(text_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_text(text_list *l, const char *fmt, ...) {
  char *text;
  va_list ap;
  va_start(ap, fmt);
  assert_true(vasprintf(&text, fmt, ap) >= 0);
  va_end(ap);
  if (l->n++) bl_buf_byte(&l->b, ',');
  bl_buf_cstr(&l->b, text);
  free(text);
}

static const char *text_of(text_list *l) {
  bl_error err = BL_ERROR_INIT;
  bl_buf_byte(&l->b, 0);
  test_ok(bl_buf_ok(&l->b, &err), &err);
  l->b.n--;
  return (const char *)l->b.p;
}

maker *maker_new(bl_ctx *ctx, int format_version, const char *fields) {
  bl_error err = BL_ERROR_INIT;
  maker *m = calloc(1, sizeof *m);
  assert_non_null(m);
  m->ctx = ctx;
  m->version = format_version;
  m->last_snapshot = -1;
  test_ok(bl_arena_new(ctx, &m->arena, &err), &err);
  test_ok(bl_io_memory_new(ctx, &m->io, &err), &err);
  test_ok(bl_drivers_default(ctx, &m->defaults, &err), &err);
  m->drivers = m->defaults;
  m->drivers.io = m->io;
  text_list *lists[] = {&m->schemas, &m->specs, &m->properties, &m->snapshots};
  for (size_t i = 0; i < BL_LEN(lists); i++) bl_buf_init(&lists[i]->b, ctx, BL_BUF_MAX);
  maker_schema(m, 0, fields);
  return m;
}

void maker_free(maker *m) {
  text_list *lists[] = {&m->schemas, &m->specs, &m->properties, &m->snapshots};
  for (size_t i = 0; i < BL_LEN(lists); i++) bl_buf_free(&lists[i]->b);
  bl_metadata_free(m->md);
  for (size_t i = 0; i < m->n_old_md; i++) bl_metadata_free(m->old_md[i]);
  m->io->free(m->io);
  bl_drivers_dispose(&m->defaults);
  bl_arena_free(m->arena);
  free(m);
}

void maker_schema(maker *m, int id, const char *fields) {
  assert_null(m->md);
  add_text(&m->schemas, "{\"type\":\"struct\",\"schema-id\":%d,\"fields\":%s}", id, fields);
  m->current_schema = id;
}

void maker_spec(maker *m, int id, const char *fields) {
  assert_null(m->md);
  add_text(&m->specs, "{\"spec-id\":%d,\"fields\":%s}", id, fields);
  m->default_spec = id;
}

void maker_order(maker *m, const char *fields) {
  assert_null(m->md);
  m->order = fields;
}

void maker_property(maker *m, const char *key, const char *value) {
  bl_buf b;
  bl_buf_init(&b, m->ctx, BL_BUF_MAX);
  bl_print_json_str(&b, bl_str_of(key));
  bl_buf_byte(&b, ':');
  bl_print_json_str(&b, bl_str_of(value));
  bl_buf_byte(&b, 0);
  add_text(&m->properties, "%s", (const char *)b.p);
  bl_buf_free(&b);
}

/* ---- metadata ---- */

static void print_metadata(maker *m, bl_buf *b, bool snapshots) {
  if (m->specs.n == 0) maker_spec(m, 0, "[]");
  bl_buf_printf(b, "{\"format-version\":%d,\"table-uuid\":\"b6a3cd6e-6d23-4f0b-8f5c-0a4e0e7a1f00\",\"location\":\"%s\"",
                m->version, MAKER_LOCATION);
  if (m->version > 1) bl_buf_printf(b, ",\"last-sequence-number\":%lld", (long long)m->last_sequence);
  bl_buf_printf(b,
                ",\"last-updated-ms\":1700000000000,\"last-column-id\":1000,\"current-schema-id\":%d,\"schemas\":[%s]",
                m->current_schema, text_of(&m->schemas));
  bl_buf_printf(b, ",\"default-spec-id\":%d,\"partition-specs\":[%s],\"last-partition-id\":1999", m->default_spec,
                text_of(&m->specs));
  bl_buf_printf(b, ",\"default-sort-order-id\":%d,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}", m->order != NULL);
  if (m->order) bl_buf_printf(b, ",{\"order-id\":1,\"fields\":%s}", m->order);
  bl_buf_byte(b, ']');
  bl_buf_printf(b, ",\"properties\":{%s}", text_of(&m->properties));
  if (m->version > 2) bl_buf_printf(b, ",\"next-row-id\":%lld", (long long)m->next_row_id);
  if (snapshots && m->last_snapshot >= 0)
    bl_buf_printf(b,
                  ",\"current-snapshot-id\":%lld,\"snapshots\":[%s],\"refs\":{\"main\":{\"snapshot-id\":%lld,\"type\":"
                  "\"branch\"}}",
                  (long long)m->last_snapshot, text_of(&m->snapshots), (long long)m->last_snapshot);
  bl_buf_byte(b, '}');
}

const bl_metadata *maker_metadata(maker *m) {
  if (m->md) return m->md;
  bl_error err = BL_ERROR_INIT;
  bl_buf b;
  bl_buf_init(&b, m->ctx, BL_BUF_MAX);
  print_metadata(m, &b, false);
  test_ok(bl_metadata_parse(m->ctx, b.p, b.n, &m->md, &err), &err);
  bl_buf_free(&b);
  return m->md;
}

void maker_upgrade(maker *m, int format_version) {
  m->version = format_version;
  if (!m->md) return;
  assert_true(m->n_old_md < BL_LEN(m->old_md)); /* values point into it */
  m->old_md[m->n_old_md++] = m->md;
  m->md = NULL;
}

bl_status maker_try_open(maker *m, bl_table **out, bl_error *err) {
  bl_buf b;
  char path[100];
  bl_buf_init(&b, m->ctx, BL_BUF_MAX);
  print_metadata(m, &b, true);
  snprintf(path, sizeof path, "metadata/v%lld.metadata.json", (long long)++m->written);
  maker_put(m, path, b.p, b.n);
  bl_buf_free(&b);
  bl_table_options o = {.drivers = &m->drivers};
  return bl_table_open(m->ctx, maker_path(m, path), &o, out, err);
}

bl_table *maker_open(maker *m) {
  bl_error err = BL_ERROR_INIT;
  bl_table *t = NULL;
  test_ok(maker_try_open(m, &t, &err), &err);
  return t;
}

/* ---- around ---- */

bl_io *maker_io(maker *m) {
  return m->io;
}
bl_arena *maker_arena(maker *m) {
  return m->arena;
}
const bl_drivers *maker_drivers(maker *m) {
  return &m->drivers;
}

const char *maker_path(maker *m, const char *name) {
  if (name[0] == '/' || strstr(name, ":/")) return name;
  bl_str s = bl_arena_printf(m->arena, "%s/%s", MAKER_LOCATION, name);
  assert_non_null(s.p);
  return s.p;
}

bl_str maker_get(maker *m, const char *name) {
  bl_str s = bl_io_memory_get(m->io, maker_path(m, name));
  if (!s.p) fail_msg("%s: no such file was made", name);
  return s;
}

void maker_put(maker *m, const char *name, const void *p, size_t n) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_io_memory_put(m->io, maker_path(m, name), p, n, &err), &err);
}

/* ---- rows ---- */

static void add_value(maker *m, bl_builder *b, const bl_type *t, const bl_json *v);

static void add_nested(maker *m, bl_builder *b, const bl_type *t, const bl_json *v) {
  bl_error err = BL_ERROR_INIT;
  assert_int_equal(v->kind, BL_J_ARRAY);
  if (t->kind == BL_STRUCT) {
    assert_int_equal(v->n, t->n_fields);
    const bl_json *x = v->first;
    for (size_t i = 0; i < t->n_fields; i++, x = x->next)
      add_value(m, bl_builder_child(b, (int64_t)i), &t->fields[i].type, x);
  } else if (t->kind == BL_LIST) {
    for (const bl_json *x = v->first; x; x = x->next) add_value(m, bl_builder_child(b, 0), &t->fields[0].type, x);
  } else {
    bl_builder *e = bl_builder_child(b, 0);
    for (const bl_json *x = v->first; x; x = x->next) {
      assert_int_equal(x->n, 2);
      add_value(m, bl_builder_child(e, 0), &t->fields[0].type, x->first);
      add_value(m, bl_builder_child(e, 1), &t->fields[1].type, x->last);
      test_ok(bl_builder_close(e, &err), &err);
    }
  }
  test_ok(bl_builder_close(b, &err), &err);
}

static void json_value(maker *m, const bl_type *t, const bl_json *v, bl_value *out) {
  bl_error err = BL_ERROR_INIT;
  *out = (bl_value){.kind = t->kind, .null = true};
  if (v->kind == BL_J_NULL) return;
  bool text_float = (t->kind == BL_DOUBLE || t->kind == BL_FLOAT) && v->kind == BL_J_STRING; /* "NaN", "-0.0" */
  double d;
  if (!text_float) {
    test_ok(bl_value_from_json(m->arena, t, v, out, &err), &err);
    return;
  }
  assert_true(bl_parse_double(v->text, &d));
  out->null = false;
  if (t->kind == BL_DOUBLE) out->u.d = d;
  else out->u.f = (float)d;
}

static void add_value(maker *m, bl_builder *b, const bl_type *t, const bl_json *v) {
  bl_error err = BL_ERROR_INIT;
  if (v->kind == BL_J_NULL) {
    test_ok(bl_builder_null(b, &err), &err);
    return;
  }
  if (bl_kind_is_nested(t->kind)) {
    add_nested(m, b, t, v);
    return;
  }
  bl_value x;
  json_value(m, t, v, &x);
  test_ok(bl_builder_value(b, &x, 1, &err), &err);
}

static bl_json *parse(maker *m, const char *text) {
  bl_error err = BL_ERROR_INIT;
  bl_json *v = NULL;
  bl_str own = bl_arena_str(m->arena, bl_str_of(text));
  assert_non_null(own.p);
  test_ok(bl_json_parse(m->arena, own.p, own.n, &v, &err), &err);
  return v;
}

/* ---- Parquet ---- */

typedef struct parquet_file {
  maker *m;
  const bl_type *type;
  struct ArrowSchema schema;
  bl_builder *rows;
  bl_arrow_writer *writer;
  bl_buf bytes;
  int64_t n;
} parquet_file;

static bl_status append(void *user, const void *p, size_t n, bl_error *err) {
  (void)err;
  bl_buf_add(user, p, n);
  return BL_OK;
}

static void parquet_begin(parquet_file *f, maker *m, const bl_type *type) {
  bl_error err = BL_ERROR_INIT;
  *f = (parquet_file){.m = m, .type = type};
  bl_buf_init(&f->bytes, m->ctx, BL_BUF_MAX);
  bl_sink sink = {.write = append, .user = &f->bytes};
  bl_parquet_options o = {.page_rows = m->page_rows};
  test_ok(bl_aschema_of_struct(m->ctx, type, &f->schema, &err), &err);
  test_ok(bl_builder_new(m->ctx, &f->schema, &f->rows, &err), &err);
  test_ok(bl_arrow_parquet_writer_with(m->ctx, &sink, &f->schema, &o, &f->writer, &err), &err);
}

static void parquet_flush(parquet_file *f) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArray batch;
  if (bl_builder_length(f->rows) == 0) return;
  test_ok(bl_builder_finish(f->rows, &batch, &err), &err);
  test_ok(bl_arrow_writer_write(f->writer, &batch, &err), &err);
  test_ok(bl_arrow_writer_end_group(f->writer, &err), &err);
}

static bl_data_file *file_of(maker *m, const char *name, bl_file_content content, const void *p, size_t n,
                             int64_t rows) {
  maker_put(m, name, p, n);
  bl_data_file *d = bl_arena_calloc(m->arena, 1, sizeof *d);
  assert_non_null(d);
  *d = (bl_data_file){.content = content,
                      .format = BL_FORMAT_PARQUET,
                      .path = bl_str_of(maker_path(m, name)),
                      .record_count = rows,
                      .file_size = (int64_t)n,
                      .sort_order_id = -1,
                      .first_row_id = BL_NONE,
                      .content_offset = BL_NONE,
                      .content_size = BL_NONE};
  return d;
}

static bl_data_file *parquet_end(parquet_file *f, const char *name, bl_file_content content) {
  bl_error err = BL_ERROR_INIT;
  parquet_flush(f);
  test_ok(bl_arrow_writer_finish(f->writer, &err), &err);
  test_ok(bl_buf_ok(&f->bytes, &err), &err);
  bl_data_file *d = file_of(f->m, name, content, f->bytes.p, f->bytes.n, f->n);
  bl_builder_free(f->rows);
  bl_aschema_release(&f->schema);
  bl_buf_free(&f->bytes);
  return d;
}

static void drop_ids(bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++) {
    if (t->fields[i].id >= MAKER_NO_ID && t->fields[i].id < MAKER_NO_ID_END) t->fields[i].id = -1;
    drop_ids(&t->fields[i].type);
  }
}

static const bl_type *fields_type(maker *m, const char *fields) {
  bl_error err = BL_ERROR_INIT;
  if (!fields) return &bl_metadata_current_schema(maker_metadata(m))->root;
  bl_str text = bl_arena_printf(m->arena, "{\"type\":\"struct\",\"schema-id\":0,\"fields\":%s}", fields);
  bl_schema *s = bl_arena_calloc(m->arena, 1, sizeof *s);
  assert_true(text.p && s);
  test_ok(bl_schema_from_json(m->arena, parse(m, text.p), s, &err), &err);
  drop_ids(&s->root);
  return &s->root;
}

static bl_data_file *write_rows(maker *m, const char *name, bl_file_content content, const char *fields,
                                const char *rows, int64_t group_rows) {
  parquet_file f;
  parquet_begin(&f, m, fields_type(m, fields));
  bl_json *all = parse(m, rows);
  for (const bl_json *r = all->first; r; r = r->next) {
    if (group_rows && f.n && f.n % group_rows == 0) parquet_flush(&f);
    add_value(m, f.rows, f.type, r);
    f.n++;
  }
  return parquet_end(&f, name, content);
}

void maker_batch(maker *m, const char *fields, const char *rows, struct ArrowArray *out) {
  bl_error err = BL_ERROR_INIT;
  const bl_type *type = fields_type(m, fields);
  struct ArrowSchema schema;
  bl_builder *b;
  test_ok(bl_aschema_of_struct(m->ctx, type, &schema, &err), &err);
  test_ok(bl_builder_new(m->ctx, &schema, &b, &err), &err);
  for (const bl_json *r = parse(m, rows)->first; r; r = r->next) add_value(m, b, type, r);
  test_ok(bl_builder_finish(b, out, &err), &err);
  bl_builder_free(b);
  bl_aschema_release(&schema);
}

bl_data_file *maker_data(maker *m, const char *name, const char *fields, const char *rows, int64_t group_rows) {
  return write_rows(m, name, BL_FILE_DATA, fields, rows, group_rows);
}

bl_data_file *maker_foreign(maker *m, const char *name, const void *p, size_t n, int64_t rows) {
  maker_metadata(m);
  return file_of(m, name, BL_FILE_DATA, p, n, rows);
}

void maker_page_rows(maker *m, int64_t rows) {
  m->page_rows = rows;
}

bl_data_file *maker_batches(maker *m, const char *name, struct ArrowArray *batches, size_t n) {
  bl_error err = BL_ERROR_INIT;
  parquet_file f;
  parquet_begin(&f, m, fields_type(m, NULL));
  for (size_t i = 0; i < n; i++) {
    f.n += batches[i].length;
    test_ok(bl_arrow_writer_write(f.writer, &batches[i], &err), &err);
  }
  return parquet_end(&f, name, BL_FILE_DATA);
}

bl_data_file *maker_equality(maker *m, const char *name, const int32_t *ids, size_t n_ids, const char *fields,
                             const char *rows) {
  bl_data_file *d = write_rows(m, name, BL_FILE_EQUALITY_DELETES, fields, rows, 0);
  d->equality_ids = bl_arena_alloc(m->arena, n_ids + 1, sizeof *ids);
  assert_non_null(d->equality_ids);
  memcpy(d->equality_ids, ids, n_ids * sizeof *ids);
  d->n_equality_ids = n_ids;
  return d;
}

bl_data_file *maker_positions(maker *m, const char *name, const maker_position *p, size_t n) {
  bl_error err = BL_ERROR_INIT;
  parquet_file f;
  parquet_begin(&f, m,
                fields_type(m, "[{\"id\":2147483546,\"name\":\"file_path\",\"required\":true,\"type\":\"string\"},"
                               "{\"id\":2147483545,\"name\":\"pos\",\"required\":true,\"type\":\"long\"}]"));
  for (size_t i = 0; i < n; i++) {
    const char *path = maker_path(m, p[i].name);
    test_ok(bl_builder_bytes(bl_builder_child(f.rows, 0), path, strlen(path), &err), &err);
    test_ok(bl_builder_int(bl_builder_child(f.rows, 1), p[i].pos, &err), &err);
    test_ok(bl_builder_close(f.rows, &err), &err);
    f.n++;
  }
  return parquet_end(&f, name, BL_FILE_POSITION_DELETES);
}

/* ---- facts of entries ---- */

void maker_partition(maker *m, bl_data_file *f, int spec_id, const char *tuple) {
  const bl_metadata *md = maker_metadata(m);
  const bl_partition_spec *spec = bl_metadata_spec(md, spec_id);
  bl_json *values = parse(m, tuple);
  assert_non_null(spec);
  assert_int_equal(values->n, spec->n_fields);
  bl_type *types = bl_arena_calloc(m->arena, spec->n_fields + 1, sizeof *types);
  f->partition = bl_arena_calloc(m->arena, spec->n_fields + 1, sizeof *f->partition);
  assert_true(types && f->partition);
  bl_spec_types(spec, bl_metadata_current_schema(md), NULL, 0, types);
  f->spec_id = spec_id;
  f->n_partition = spec->n_fields;
  const bl_json *v = values->first;
  for (size_t i = 0; i < spec->n_fields; i++, v = v->next) json_value(m, &types[i], v, &f->partition[i]);
}

static bl_str bytes_of_value(maker *m, const bl_type *t, const bl_value *v) {
  bl_error err = BL_ERROR_INIT;
  bl_buf b;
  bl_buf_init(&b, m->ctx, BL_BUF_MAX);
  test_ok(bl_value_to_bytes(t, v, &b, &err), &err);
  bl_str s = bl_arena_str(m->arena, (bl_str){b.p ? (const char *)b.p : "", b.n});
  assert_non_null(s.p);
  bl_buf_free(&b);
  return s;
}

static bl_str bound(maker *m, const bl_type *t, const char *json) {
  bl_value v;
  if (!json) return BL_STR_NONE;
  json_value(m, t, parse(m, json), &v);
  return bytes_of_value(m, t, &v);
}

void maker_metrics(maker *m, bl_data_file *f, int32_t field_id, int64_t values, int64_t nulls, const char *lower,
                   const char *upper) {
  static const bl_type type_long = {.kind = BL_LONG}, type_string = {.kind = BL_STRING};
  const bl_field *field = bl_schema_find(bl_metadata_current_schema(maker_metadata(m)), field_id);
  const bl_type *t = field ? &field->type : field_id == BL_ID_DELETE_PATH ? &type_string : &type_long;
  bl_column_metrics *all = bl_arena_calloc(m->arena, f->n_metrics + 1, sizeof *all);
  assert_non_null(all);
  size_t at = 0;
  while (at < f->n_metrics && f->metrics[at].id < field_id) at++;
  if (at) memcpy(all, f->metrics, at * sizeof *all);
  all[at] = (bl_column_metrics){.id = field_id,
                                .size = BL_NONE,
                                .values = values,
                                .nulls = nulls,
                                .nans = BL_NONE,
                                .lower = bound(m, t, lower),
                                .upper = bound(m, t, upper)};
  if (at < f->n_metrics) memcpy(all + at + 1, f->metrics + at, (f->n_metrics - at) * sizeof *all);
  f->metrics = all;
  f->n_metrics++;
}

/* ---- vectors ---- */

void maker_vectors(maker *m, const char *name, const char *const *of, const int64_t *const *positions, const size_t *n,
                   size_t n_vectors, bl_data_file **out) {
  bl_error err = BL_ERROR_INIT;
  bl_puffin_writer *w;
  bl_buf bytes;
  bl_buf_init(&bytes, m->ctx, BL_BUF_MAX);
  test_ok(bl_puffin_writer_new(m->ctx, &w, &err), &err);
  for (size_t i = 0; i < n_vectors; i++) {
    bl_posset *s;
    bl_data_file *d = bl_arena_calloc(m->arena, 1, sizeof *d);
    assert_non_null(d);
    test_ok(bl_posset_new(m->ctx, &s, &err), &err);
    for (size_t k = 0; k < n[i]; k++) test_ok(bl_posset_add(s, positions[i][k], &err), &err);
    *d = (bl_data_file){.content = BL_FILE_POSITION_DELETES,
                        .format = BL_FORMAT_PUFFIN,
                        .path = bl_str_of(maker_path(m, name)),
                        .record_count = bl_posset_count(s),
                        .sort_order_id = -1,
                        .first_row_id = BL_NONE,
                        .referenced_data_file = bl_str_of(maker_path(m, of[i]))};
    test_ok(bl_puffin_writer_add_dv(w, s, d->referenced_data_file, &d->content_offset, &d->content_size, &err), &err);
    bl_posset_free(s);
    out[i] = d;
  }
  test_ok(bl_puffin_writer_finish(w, &bytes, &err), &err);
  bl_puffin_writer_free(w);
  maker_put(m, name, bytes.p, bytes.n);
  for (size_t i = 0; i < n_vectors; i++) out[i]->file_size = (int64_t)bytes.n;
  bl_buf_free(&bytes);
}

bl_data_file *maker_vector(maker *m, const char *name, const char *of, const int64_t *positions, size_t n) {
  bl_data_file *d;
  maker_vectors(m, name, &of, &positions, &n, 1, &d);
  return d;
}

/* ---- commits ---- */

static maker_entry entry_of(bl_entry_status status, bl_data_file *f, int64_t seq, int64_t first_row_id) {
  return (maker_entry){.status = status,
                       .file = f,
                       .sequence_number = seq,
                       .file_sequence_number = seq,
                       .snapshot_id = BL_NONE,
                       .first_row_id = first_row_id};
}
maker_entry maker_added(bl_data_file *f) {
  return entry_of(BL_ADDED, f, BL_NONE, BL_NONE);
}
maker_entry maker_existing(bl_data_file *f, int64_t sequence_number, int64_t first_row_id) {
  return entry_of(BL_EXISTING, f, sequence_number, first_row_id);
}
maker_entry maker_deleted(bl_data_file *f, int64_t sequence_number, int64_t first_row_id) {
  return entry_of(BL_DELETED, f, sequence_number, first_row_id);
}

maker_manifest maker_data_manifest(const maker_entry *e, size_t n) {
  return (maker_manifest){.content = BL_MANIFEST_DATA, .entries = e, .n = n};
}
maker_manifest maker_delete_manifest(const maker_entry *e, size_t n) {
  return (maker_manifest){.content = BL_MANIFEST_DELETES, .entries = e, .n = n};
}
maker_manifest maker_kept(const bl_manifest_file *m) {
  return (maker_manifest){.content = m->content, .written = m};
}

static void count_entry(bl_manifest_file *m, const bl_manifest_entry *e, int64_t seq) {
  int64_t *files[] = {&m->existing_files, &m->added_files, &m->deleted_files};
  int64_t *rows[] = {&m->existing_rows, &m->added_rows, &m->deleted_rows};
  ++*files[e->status];
  *rows[e->status] += e->file.record_count;
  if (e->status == BL_DELETED) return;
  int64_t own = e->sequence_number == BL_NONE ? seq : e->sequence_number;
  if (own < m->min_sequence_number) m->min_sequence_number = own;
}

static bl_field_summary summary_of(maker *m, const maker_manifest *in, const bl_type *t, size_t field) {
  bl_field_summary s = {.has_nan = t->kind == BL_FLOAT || t->kind == BL_DOUBLE};
  const bl_value *lower = NULL, *upper = NULL;
  for (size_t i = 0; i < in->n; i++) {
    const bl_value *v = &in->entries[i].file->partition[field];
    if (v->null) s.contains_null = true;
    else if (bl_value_is_nan(v)) s.contains_nan = true;
    else {
      if (!lower || bl_value_cmp(v, lower) < 0) lower = v;
      if (!upper || bl_value_cmp(v, upper) > 0) upper = v;
    }
  }
  if (lower && t->kind != BL_KIND_UNKNOWN) {
    s.lower = bytes_of_value(m, t, lower);
    s.upper = bytes_of_value(m, t, upper);
  }
  return s;
}

/* Where every entry has a tuple of the spec. */
static void summarise(maker *m, const maker_manifest *in, bl_manifest_file *out) {
  const bl_metadata *md = maker_metadata(m);
  const bl_partition_spec *spec = bl_metadata_spec(md, in->spec_id);
  for (size_t i = 0; i < in->n; i++)
    if (!spec || in->entries[i].file->n_partition != spec->n_fields) return;
  if (!spec) return;
  bl_type *types = bl_arena_calloc(m->arena, spec->n_fields + 1, sizeof *types);
  out->partitions = bl_arena_calloc(m->arena, spec->n_fields + 1, sizeof *out->partitions);
  assert_true(types && out->partitions);
  bl_spec_types(spec, bl_metadata_current_schema(md), NULL, 0, types);
  for (size_t i = 0; i < spec->n_fields; i++) out->partitions[i] = summary_of(m, in, &types[i], i);
  out->n_partitions = spec->n_fields;
  out->has_partitions = true;
}

static void write_manifest(maker *m, const maker_manifest *in, int64_t snapshot_id, int64_t seq, size_t number,
                           bl_manifest_file *out) {
  bl_error err = BL_ERROR_INIT;
  const bl_metadata *md = maker_metadata(m);
  bl_manifest_entry *es = bl_arena_calloc(m->arena, in->n + 1, sizeof *es);
  const bl_manifest_entry **ptrs = bl_arena_calloc(m->arena, in->n + 1, sizeof *ptrs);
  char name[100];
  bl_buf bytes;
  assert_true(es && ptrs);
  bl_buf_init(&bytes, m->ctx, BL_BUF_MAX);
  snprintf(name, sizeof name, "metadata/%lld-m%zu.avro", (long long)snapshot_id, number);
  *out = (bl_manifest_file){.path = bl_str_of(maker_path(m, name)),
                            .spec_id = in->spec_id,
                            .content = in->content,
                            .sequence_number = seq,
                            .min_sequence_number = seq,
                            .added_snapshot_id = snapshot_id,
                            .first_row_id = in->has_first_row_id ? in->first_row_id : BL_NONE};
  for (size_t i = 0; i < in->n; i++) {
    const maker_entry *e = &in->entries[i];
    es[i] =
        (bl_manifest_entry){.status = e->status,
                            .snapshot_id = e->snapshot_id == BL_NONE && m->version == 1 ? snapshot_id : e->snapshot_id,
                            .sequence_number = e->sequence_number,
                            .file_sequence_number = e->file_sequence_number,
                            .stored_first_row_id = e->first_row_id,
                            .file = *e->file};
    ptrs[i] = &es[i];
    count_entry(out, &es[i], seq);
  }
  summarise(m, in, out);
  test_ok(bl_manifest_write(m->ctx, md, in->spec_id, m->current_schema, in->content, ptrs, in->n, &bytes, &err), &err);
  out->length = (int64_t)bytes.n;
  maker_put(m, name, bytes.p, bytes.n);
  bl_buf_free(&bytes);
}

static void assign_ids(maker *m, const maker_manifest *in, bl_manifest_file *f) {
  if (m->version < 3 || f->content != BL_MANIFEST_DATA || f->first_row_id != BL_NONE || in->has_first_row_id) return;
  f->first_row_id = m->next_row_id;
  m->next_row_id += f->added_rows + f->existing_rows;
}

static void add_snapshot(maker *m, int64_t id, const char *operation, const char *list_path, int64_t first_row_id) {
  char lineage[100] = "", parent[60] = "", sequence[60] = "";
  if (m->version > 2)
    snprintf(lineage, sizeof lineage, ",\"first-row-id\":%lld,\"added-rows\":%lld", (long long)first_row_id,
             (long long)(m->next_row_id - first_row_id));
  if (m->last_snapshot >= 0)
    snprintf(parent, sizeof parent, ",\"parent-snapshot-id\":%lld", (long long)m->last_snapshot);
  if (m->version > 1) snprintf(sequence, sizeof sequence, ",\"sequence-number\":%lld", (long long)m->last_sequence);
  add_text(&m->snapshots,
           "{\"snapshot-id\":%lld,\"timestamp-ms\":%lld,\"manifest-list\":\"%s\",\"summary\":{\"operation\":\"%s\"},"
           "\"schema-id\":%d%s%s%s}",
           (long long)id, 1700000000000LL + 1000 * (long long)m->snapshots.n, list_path, operation, m->current_schema,
           parent, sequence, lineage);
}

const bl_manifest_file *maker_commit(maker *m, int64_t snapshot_id, const char *operation, const maker_manifest *ms,
                                     size_t n) {
  bl_error err = BL_ERROR_INIT;
  const bl_metadata *md = maker_metadata(m);
  int64_t seq = m->version > 1 ? ++m->last_sequence : 0, first = m->next_row_id;
  char name[100];
  bl_buf bytes;
  bl_buf_init(&bytes, m->ctx, BL_BUF_MAX);
  m->list = bl_arena_calloc(m->arena, n + 1, sizeof *m->list);
  assert_non_null(m->list);
  for (size_t i = 0; i < n; i++) {
    if (ms[i].written) m->list[i] = *ms[i].written;
    else write_manifest(m, &ms[i], snapshot_id, seq, i, &m->list[i]);
    assign_ids(m, &ms[i], &m->list[i]);
  }
  bl_snapshot s = {.id = snapshot_id,
                   .has_parent = m->last_snapshot >= 0,
                   .parent_id = m->last_snapshot,
                   .sequence_number = seq,
                   .has_first_row_id = m->version > 2,
                   .first_row_id = first};
  test_ok(bl_manifest_list_write(m->ctx, md, &s, m->list, n, &bytes, &err), &err);
  snprintf(name, sizeof name, "metadata/snap-%lld.avro", (long long)snapshot_id);
  maker_put(m, name, bytes.p, bytes.n);
  bl_buf_free(&bytes);
  add_snapshot(m, snapshot_id, operation, maker_path(m, name), first);
  m->last_snapshot = snapshot_id;
  return m->list;
}

/* manifest_write.c: manifests and manifest lists to Avro (spec: "Manifests", "Manifest Lists"; v1, v2, v3).
 *
 * One table a record says which fields each version has, in which order, of which type; the schema and the values are
 * both written by it, so that they cannot disagree. A field is either required or a union of null and its type. */
#include "format/avro.h"
#include "format/manifest_avro.h"
#include "format/metadata_json.h"
#include "format/partition_avro.h"

#define LIST_OF(item, id) "{\"type\":\"array\",\"items\":\"" item "\",\"element-id\":" id "}"
#define MAP_OF(key_id, value_id, value)                                                                                \
  "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"k" key_id "_v" value_id                               \
  "\",\"fields\":[{\"name\":\"key\",\"type\":\"int\",\"field-id\":" key_id "},{\"name\":\"value\",\"type\":\"" value   \
  "\",\"field-id\":" value_id "}]},\"logicalType\":\"map\"}"
#define SUMMARIES                                                                                                      \
  "{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"r508\",\"fields\":["                                  \
  "{\"name\":\"contains_null\",\"type\":\"boolean\",\"field-id\":509},"                                                \
  "{\"name\":\"contains_nan\",\"type\":[\"null\",\"boolean\"],\"default\":null,\"field-id\":518},"                     \
  "{\"name\":\"lower_bound\",\"type\":[\"null\",\"bytes\"],\"default\":null,\"field-id\":510},"                        \
  "{\"name\":\"upper_bound\",\"type\":[\"null\",\"bytes\"],\"default\":null,\"field-id\":511}]},\"element-id\":508}"

enum { V1 = 1, V2 = 2, V3 = 4, SINCE_V2 = V2 | V3, ALL = V1 | V2 | V3 };

typedef struct field_spec {
  int32_t id;
  const char *name, *type; /* type: JSON; NULL for the partition record */
  int required, optional;  /* versions that have it */
} field_spec;

static const field_spec entry_fields[] = {
    {0, "status", "\"int\"", ALL, 0},
    {1, "snapshot_id", "\"long\"", V1, SINCE_V2},
    {3, "sequence_number", "\"long\"", 0, SINCE_V2},
    {4, "file_sequence_number", "\"long\"", 0, SINCE_V2},
};

static const field_spec file_fields[] = {
    {134, "content", "\"int\"", SINCE_V2, 0},
    {100, "file_path", "\"string\"", ALL, 0},
    {101, "file_format", "\"string\"", ALL, 0},
    {102, "partition", NULL, ALL, 0},
    {103, "record_count", "\"long\"", ALL, 0},
    {104, "file_size_in_bytes", "\"long\"", ALL, 0},
    {105, "block_size_in_bytes", "\"long\"", V1, 0},
    {108, "column_sizes", MAP_OF("117", "118", "long"), 0, ALL},
    {109, "value_counts", MAP_OF("119", "120", "long"), 0, ALL},
    {110, "null_value_counts", MAP_OF("121", "122", "long"), 0, ALL},
    {137, "nan_value_counts", MAP_OF("138", "139", "long"), 0, ALL},
    {125, "lower_bounds", MAP_OF("126", "127", "bytes"), 0, ALL},
    {128, "upper_bounds", MAP_OF("129", "130", "bytes"), 0, ALL},
    {131, "key_metadata", "\"bytes\"", 0, ALL},
    {132, "split_offsets", LIST_OF("long", "133"), 0, ALL},
    {135, "equality_ids", LIST_OF("int", "136"), 0, SINCE_V2},
    {140, "sort_order_id", "\"int\"", 0, ALL},
    {142, "first_row_id", "\"long\"", 0, V3},
    {143, "referenced_data_file", "\"string\"", 0, SINCE_V2},
    {144, "content_offset", "\"long\"", 0, V3},
    {145, "content_size_in_bytes", "\"long\"", 0, V3},
};

static const field_spec list_fields[] = {
    {500, "manifest_path", "\"string\"", ALL, 0},
    {501, "manifest_length", "\"long\"", ALL, 0},
    {502, "partition_spec_id", "\"int\"", ALL, 0},
    {517, "content", "\"int\"", SINCE_V2, 0},
    {515, "sequence_number", "\"long\"", SINCE_V2, 0},
    {516, "min_sequence_number", "\"long\"", SINCE_V2, 0},
    {503, "added_snapshot_id", "\"long\"", ALL, 0},
    {504, "added_files_count", "\"int\"", SINCE_V2, V1},
    {505, "existing_files_count", "\"int\"", SINCE_V2, V1},
    {506, "deleted_files_count", "\"int\"", SINCE_V2, V1},
    {512, "added_rows_count", "\"long\"", SINCE_V2, V1},
    {513, "existing_rows_count", "\"long\"", SINCE_V2, V1},
    {514, "deleted_rows_count", "\"long\"", SINCE_V2, V1},
    {507, "partitions", SUMMARIES, 0, ALL},
    {519, "key_metadata", "\"bytes\"", 0, ALL},
    {520, "first_row_id", "\"long\"", 0, V3},
};

/* ---- schemas ---- */

static int bit_of(int version) {
  return 1 << (version - 1);
}

static bool has_field(const field_spec *f, int version) {
  return (f->required | f->optional) & bit_of(version);
}

static void print_fields(bl_buf *b, const field_spec *fields, size_t n, int version, const bl_partition_writer *w) {
  for (size_t i = 0; i < n; i++) {
    const field_spec *f = &fields[i];
    if (!has_field(f, version)) continue;
    bool optional = f->optional & bit_of(version);
    bl_buf_printf(b, "{\"name\":\"%s\",\"type\":%s", f->name, optional ? "[\"null\"," : "");
    if (f->type) bl_buf_cstr(b, f->type);
    else bl_partition_schema_print(w, b);
    bl_buf_printf(b, "%s,\"field-id\":%d},", optional ? "],\"default\":null" : "", f->id);
  }
  if (!b->failed) b->n--; /* the last comma */
}

static void print_entry_schema(bl_buf *b, int version, const bl_partition_writer *w) {
  bl_buf_cstr(b, "{\"type\":\"record\",\"name\":\"manifest_entry\",\"fields\":[");
  print_fields(b, entry_fields, BL_LEN(entry_fields), version, w);
  bl_buf_cstr(b, ",{\"name\":\"data_file\",\"type\":{\"type\":\"record\",\"name\":\"r2\",\"fields\":[");
  print_fields(b, file_fields, BL_LEN(file_fields), version, w);
  bl_buf_cstr(b, "]},\"field-id\":2}]}");
}

static void print_list_schema(bl_buf *b, int version) {
  bl_buf_cstr(b, "{\"type\":\"record\",\"name\":\"manifest_file\",\"fields\":[");
  print_fields(b, list_fields, BL_LEN(list_fields), version, NULL);
  bl_buf_cstr(b, "]}");
}

/* ---- values ---- */

/* Where values of a record go, and as what. */
typedef struct put {
  bl_buf *b;
  int version;
  const field_spec *f; /* the field in hand */
  bl_error *err;
} put;

static bool is_optional(const put *p) {
  return p->f->optional & bit_of(p->version);
}

/* Say whether the value is there; a required one must be. */
static bl_status put_presence(const put *p, bool there) {
  if (is_optional(p)) bl_avro_put_long(p->b, there);
  else if (!there) return bl_fail(p->err, BL_USAGE, "field %d %s has no value", p->f->id, p->f->name);
  return BL_OK;
}

/* BL_NONE: null. */
static bl_status put_long(const put *p, int64_t v) {
  if (strcmp(p->f->type, "\"int\"") == 0 && v != BL_NONE && v != (int32_t)v)
    return bl_fail(p->err, BL_USAGE, "field %d %s: %lld does not fit an int", p->f->id, p->f->name, (long long)v);
  BL_TRY(put_presence(p, v != BL_NONE));
  if (v != BL_NONE) bl_avro_put_long(p->b, v);
  return BL_OK;
}

static bl_status put_str(const put *p, bl_str s) {
  BL_TRY(put_presence(p, s.p != NULL));
  if (s.p) bl_avro_put_bytes(p->b, s);
  return BL_OK;
}

static bl_status put_longs(const put *p, const int64_t *v, size_t n) {
  BL_TRY(put_presence(p, n > 0));
  if (!n) return BL_OK;
  bl_avro_put_long(p->b, (int64_t)n);
  for (size_t i = 0; i < n; i++) bl_avro_put_long(p->b, v[i]);
  bl_avro_put_long(p->b, 0);
  return BL_OK;
}

static bl_status put_ints(const put *p, const int32_t *v, size_t n) {
  BL_TRY(put_presence(p, n > 0));
  if (!n) return BL_OK;
  bl_avro_put_long(p->b, (int64_t)n);
  for (size_t i = 0; i < n; i++) bl_avro_put_long(p->b, v[i]);
  bl_avro_put_long(p->b, 0);
  return BL_OK;
}

static int64_t count_of(const bl_column_metrics *m, int32_t field_id) {
  switch (field_id) {
  case 108: return m->size;
  case 109: return m->values;
  case 110: return m->nulls;
  default: return m->nans;
  }
}

static bl_status put_counts(const put *p, const bl_data_file *f) {
  int64_t n = 0;
  for (size_t i = 0; i < f->n_metrics; i++) n += count_of(&f->metrics[i], p->f->id) != BL_NONE;
  BL_TRY(put_presence(p, n > 0));
  if (!n) return BL_OK;
  bl_avro_put_long(p->b, n);
  for (size_t i = 0; i < f->n_metrics; i++) {
    int64_t v = count_of(&f->metrics[i], p->f->id);
    if (v == BL_NONE) continue;
    bl_avro_put_long(p->b, f->metrics[i].id);
    bl_avro_put_long(p->b, v);
  }
  bl_avro_put_long(p->b, 0);
  return BL_OK;
}

static bl_status put_bounds(const put *p, const bl_data_file *f, bool upper) {
  int64_t n = 0;
  for (size_t i = 0; i < f->n_metrics; i++) n += (upper ? f->metrics[i].upper : f->metrics[i].lower).p != NULL;
  BL_TRY(put_presence(p, n > 0));
  if (!n) return BL_OK;
  bl_avro_put_long(p->b, n);
  for (size_t i = 0; i < f->n_metrics; i++) {
    bl_str bound = upper ? f->metrics[i].upper : f->metrics[i].lower;
    if (!bound.p) continue;
    bl_avro_put_long(p->b, f->metrics[i].id);
    bl_avro_put_bytes(p->b, bound);
  }
  bl_avro_put_long(p->b, 0);
  return BL_OK;
}

static bl_status put_entry_field(const put *p, const bl_manifest_entry *e) {
  switch (p->f->id) {
  case 0: return put_long(p, e->status);
  case 1: return put_long(p, e->snapshot_id);
  case 3: return put_long(p, e->sequence_number);
  default: return put_long(p, e->file_sequence_number);
  }
}

/* A default that version 1 demands and nobody reads. */
enum { BLOCK_SIZE = 64 * 1024 * 1024 };

static bl_status put_file_field(const put *p, const bl_manifest_entry *e, const bl_partition_writer *w) {
  const bl_data_file *f = &e->file;
  switch (p->f->id) {
  case 134: return put_long(p, f->content);
  case 100: return put_str(p, f->path);
  case 101: return put_str(p, bl_str_of(bl_file_format_name(f->format)));
  case 102: return bl_partition_put(w, f, p->b, p->err);
  case 103: return put_long(p, f->record_count);
  case 104: return put_long(p, f->file_size);
  case 105: return put_long(p, BLOCK_SIZE);
  case 108:
  case 109:
  case 110:
  case 137: return put_counts(p, f);
  case 125: return put_bounds(p, f, false);
  case 128: return put_bounds(p, f, true);
  case 131: return put_str(p, f->key_metadata);
  case 132: return put_longs(p, f->split_offsets, f->n_split_offsets);
  case 135: return put_ints(p, f->equality_ids, f->n_equality_ids);
  case 140: return put_long(p, f->sort_order_id < 0 ? BL_NONE : f->sort_order_id);
  case 142: return put_long(p, f->content == BL_FILE_DATA ? e->stored_first_row_id : BL_NONE); /* R7 */
  case 143: return put_str(p, f->referenced_data_file);
  case 144: return put_long(p, f->content_offset);
  default: return put_long(p, f->content_size);
  }
}

static bl_status put_entry(bl_buf *b, int version, const bl_manifest_entry *e, const bl_partition_writer *w,
                           bl_error *err) {
  put p = {.b = b, .version = version, .err = err};
  for (size_t i = 0; i < BL_LEN(entry_fields); i++)
    if (has_field(p.f = &entry_fields[i], version)) BL_TRY(put_entry_field(&p, e));
  for (size_t i = 0; i < BL_LEN(file_fields); i++)
    if (has_field(p.f = &file_fields[i], version)) BL_TRY(put_file_field(&p, e, w));
  return BL_OK;
}

static void put_optional_bytes(bl_buf *b, bl_str s) {
  bl_avro_put_long(b, s.p != NULL);
  if (s.p) bl_avro_put_bytes(b, s);
}

static bl_status put_summaries(const put *p, const bl_manifest_file *m) {
  BL_TRY(put_presence(p, m->has_partitions));
  if (!m->has_partitions) return BL_OK;
  if (m->n_partitions) bl_avro_put_long(p->b, (int64_t)m->n_partitions);
  for (size_t i = 0; i < m->n_partitions; i++) {
    const bl_field_summary *s = &m->partitions[i];
    bl_buf_byte(p->b, s->contains_null);
    bl_avro_put_long(p->b, s->has_nan);
    if (s->has_nan) bl_buf_byte(p->b, s->contains_nan);
    put_optional_bytes(p->b, s->lower);
    put_optional_bytes(p->b, s->upper);
  }
  bl_avro_put_long(p->b, 0);
  return BL_OK;
}

static bl_status put_list_field(const put *p, const bl_manifest_file *m) {
  switch (p->f->id) {
  case 500: return put_str(p, m->path);
  case 501: return put_long(p, m->length);
  case 502: return put_long(p, m->spec_id);
  case 517: return put_long(p, m->content);
  case 515: return put_long(p, m->sequence_number);
  case 516: return put_long(p, m->min_sequence_number);
  case 503: return put_long(p, m->added_snapshot_id);
  case 504: return put_long(p, m->added_files);
  case 505: return put_long(p, m->existing_files);
  case 506: return put_long(p, m->deleted_files);
  case 512: return put_long(p, m->added_rows);
  case 513: return put_long(p, m->existing_rows);
  case 514: return put_long(p, m->deleted_rows);
  case 507: return put_summaries(p, m);
  case 519: return put_str(p, m->key_metadata);
  default: return put_long(p, m->content == BL_MANIFEST_DATA ? m->first_row_id : BL_NONE); /* R7 */
  }
}

/* ---- header ---- */

enum { MOST_KEYS = 8 };

typedef struct header {
  bl_arena *a;
  bl_str keys[MOST_KEYS], values[MOST_KEYS];
  size_t n;
  bool failed;
} header;

static void add_key(header *h, const char *key, bl_str value) {
  if (!value.p) h->failed = true;
  h->keys[h->n] = bl_str_of(key);
  h->values[h->n++] = value;
}

static void add_number(header *h, const char *key, int64_t v) {
  add_key(h, key, bl_arena_printf(h->a, "%lld", (long long)v));
}

static bl_status manifest_header(header *h, const bl_metadata *md, const bl_partition_spec *spec, int32_t schema_id,
                                 bl_manifest_content content, bl_error *err) {
  const bl_schema *schema = bl_metadata_schema(md, schema_id);
  if (!schema) return bl_fail(err, BL_USAGE, "manifest: the table has no schema %d", schema_id);
  bl_json *fields = bl_spec_to_json(h->a, spec);
  add_key(h, "schema", bl_json_text(h->a, bl_schema_to_json(h->a, schema)));
  add_number(h, "schema-id", schema_id);
  add_key(h, "partition-spec", bl_json_text(h->a, fields ? bl_json_get(fields, "fields") : NULL));
  add_number(h, "partition-spec-id", spec->id);
  add_number(h, "format-version", md->format_version);
  if (md->format_version > 1) add_key(h, "content", content == BL_MANIFEST_DATA ? BL_STR("data") : BL_STR("deletes"));
  return h->failed ? bl_nomem(err) : BL_OK;
}

static bl_status list_header(header *h, const bl_metadata *md, const bl_snapshot *s, bl_error *err) {
  add_number(h, "snapshot-id", s->id);
  if (s->has_parent) add_number(h, "parent-snapshot-id", s->parent_id);
  else add_key(h, "parent-snapshot-id", BL_STR("null"));
  if (md->format_version > 1) add_number(h, "sequence-number", s->sequence_number);
  if (md->format_version > 2 && s->has_first_row_id) add_number(h, "first-row-id", s->first_row_id);
  add_number(h, "format-version", md->format_version);
  return h->failed ? bl_nomem(err) : BL_OK;
}

/* ---- manifests ---- */

typedef struct manifest_writer {
  bl_arena *a;
  const bl_metadata *md;
  const bl_manifest_entry *const *entries;
  size_t n;
  bl_partition_writer partition;
} manifest_writer;

static bl_status plan_partition(manifest_writer *w, const bl_partition_spec *spec, bl_error *err) {
  const bl_metadata *md = w->md;
  bl_type *types = bl_arena_calloc(w->a, spec->n_fields, sizeof *types);
  const bl_schema **others = bl_arena_alloc(w->a, md->n_schemas, sizeof *others);
  const bl_data_file **files = bl_arena_alloc(w->a, w->n, sizeof *files);
  if (!types || !others || !files) return bl_nomem(err);
  for (size_t i = 0; i < md->n_schemas; i++) others[i] = &md->schemas[md->n_schemas - 1 - i];
  for (size_t i = 0; i < w->n; i++) files[i] = &w->entries[i]->file;
  bl_spec_types(spec, bl_metadata_current_schema(md), others, md->n_schemas, types);
  return bl_partition_writer_make(w->a, spec, types, files, w->n, &w->partition, err);
}

static bl_status check_entry(const manifest_writer *w, const bl_manifest_entry *e, bl_manifest_content content,
                             bl_error *err) {
  if ((e->file.content == BL_FILE_DATA) != (content == BL_MANIFEST_DATA))
    return bl_fail(err, BL_USAGE, "content %d in a manifest of %s", (int)e->file.content,
                   content == BL_MANIFEST_DATA ? "data" : "deletes");
  if (w->md->format_version > 1 && e->status != BL_ADDED && e->sequence_number == BL_NONE)
    return bl_fail(err, BL_USAGE, "sequence_number is null, which only an added file may have");
  return BL_OK;
}

static bl_status write_entries(const manifest_writer *w, bl_manifest_content content, bl_avro_writer *file,
                               bl_error *err) {
  for (size_t i = 0; i < w->n; i++) {
    const bl_manifest_entry *e = w->entries[i];
    bl_status st = check_entry(w, e, content, err);
    if (st == BL_OK) st = put_entry(bl_avro_writer_record(file), w->md->format_version, e, &w->partition, err);
    if (st != BL_OK) return bl_fail_in(err, st, "manifest: entry %zu, %.*s", i, BL_STR_ARG(e->file.path));
    BL_TRY(bl_avro_writer_end_record(file, err));
  }
  return BL_OK;
}

bl_status bl_manifest_write(bl_ctx *ctx, const bl_metadata *md, int32_t spec_id, int32_t schema_id,
                            bl_manifest_content content, const bl_manifest_entry *const *entries, size_t n, bl_buf *out,
                            bl_error *err) {
  manifest_writer w = {.md = md, .entries = entries, .n = n};
  const bl_partition_spec *spec = bl_metadata_spec(md, spec_id);
  bl_avro_writer *file = NULL;
  header h = {0};
  bl_buf schema;
  bl_status st;
  bl_buf_init(&schema, ctx, BL_BUF_MAX);
  if (!spec) return bl_fail(err, BL_USAGE, "manifest: the table has no partition spec %d", spec_id);
  if (md->format_version == 1 && content != BL_MANIFEST_DATA)
    return bl_fail(err, BL_USAGE, "manifest: format version 1 has no deletes");
  BL_GO(bl_arena_new(ctx, &w.a, err));
  h.a = w.a;
  BL_GO(plan_partition(&w, spec, err));
  BL_GO(manifest_header(&h, md, spec, schema_id, content, err));
  print_entry_schema(&schema, md->format_version, &w.partition);
  BL_GO(bl_buf_ok(&schema, err));
  bl_str text = {(const char *)schema.p, schema.n};
  BL_GO(bl_avro_writer_new(ctx, text, "deflate", h.keys, h.values, h.n, &file, err));
  BL_GO(write_entries(&w, content, file, err));
  BL_GO(bl_avro_writer_finish(file, out, err));
done:
  bl_avro_writer_free(file);
  bl_buf_free(&schema);
  bl_arena_free(w.a);
  return st;
}

/* ---- lists ---- */

static bl_status write_manifests(const bl_manifest_file *list, size_t n, int version, bl_avro_writer *file,
                                 bl_error *err) {
  put p = {.b = bl_avro_writer_record(file), .version = version, .err = err};
  for (size_t i = 0; i < n; i++) {
    bl_status st = BL_OK;
    for (size_t k = 0; st == BL_OK && k < BL_LEN(list_fields); k++)
      if (has_field(p.f = &list_fields[k], version)) st = put_list_field(&p, &list[i]);
    if (st != BL_OK) return bl_fail_in(err, st, "manifest list: %.*s", BL_STR_ARG(list[i].path));
    BL_TRY(bl_avro_writer_end_record(file, err));
  }
  return BL_OK;
}

bl_status bl_manifest_list_write(bl_ctx *ctx, const bl_metadata *md, const bl_snapshot *s, const bl_manifest_file *list,
                                 size_t n, bl_buf *out, bl_error *err) {
  bl_avro_writer *file = NULL;
  header h = {0};
  bl_buf schema;
  bl_status st;
  bl_buf_init(&schema, ctx, BL_BUF_MAX);
  BL_GO(bl_arena_new(ctx, &h.a, err));
  BL_GO(list_header(&h, md, s, err));
  print_list_schema(&schema, md->format_version);
  BL_GO(bl_buf_ok(&schema, err));
  bl_str text = {(const char *)schema.p, schema.n};
  BL_GO(bl_avro_writer_new(ctx, text, "deflate", h.keys, h.values, h.n, &file, err));
  BL_GO(write_manifests(list, n, md->format_version, file, err));
  BL_GO(bl_avro_writer_finish(file, out, err));
done:
  bl_avro_writer_free(file);
  bl_buf_free(&schema);
  bl_arena_free(h.a);
  return st;
}

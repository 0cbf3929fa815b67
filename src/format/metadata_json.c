/* metadata_json.c: table metadata JSON -> model (spec: "Table Metadata Fields", "Appendix C"; v1, v2, v3). See
 * metadata_json.h. Here: structure and required fields per format version; references are in metadata_check.c.
 *
 * What the older forms become
 *  v1 `schema` and `partition-spec`   the only schema (id 0 unless it says else) and spec (id 0)
 *  v1 without `sort-orders`           the unsorted order
 *  absent sequence numbers            0
 *  current-snapshot-id -1, null       none; parent-snapshot-id likewise
 *  `refs` without main                main is the current snapshot
 *  `manifests` in a snapshot          kept where there is no manifest-list (also after an upgrade) */
#include "format/metadata_json.h"

#include "format/metadata_check.h"

static const int64_t NO_SNAPSHOT = -1; /* what some writers put where there is no snapshot id */

/* ---- helpers ---- */

typedef bl_status read_item(bl_arena *a, const bl_json *v, void *item, bl_error *err);

/* An array, each element read into one of `size` bytes, cleared before. */
static bl_status read_array(bl_arena *a, const bl_json *array, size_t size, read_item *read, void **out, size_t *n,
                            bl_error *err) {
  char *items = bl_arena_calloc(a, array->n, size);
  if (!items) return bl_nomem(err);
  size_t i = 0;
  for (const bl_json *v = array->first; v; v = v->next) BL_TRY(read(a, v, items + size * i++, err));
  *out = items;
  *n = array->n;
  return BL_OK;
}

static bl_status read_list(bl_metadata *m, const char *key, size_t size, read_item *read, void **out, size_t *n,
                           bl_error *err) {
  const bl_json *array;
  BL_TRY(bl_json_member_opt(m->json, key, BL_J_ARRAY, &array, err));
  return array ? read_array(m->arena, array, size, read, out, n, err) : BL_OK;
}
#define READ_LIST(m, key, read, items, n, err) read_list(m, key, sizeof *(items), read, (void **)&(items), n, err)

static bl_status not_negative(const bl_json *obj, const char *key, int64_t v, bl_error *err) {
  if (v >= 0) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, bl_json_get(obj, key), "%s is negative: %lld", key, (long long)v);
}

static bl_status get_size(const bl_json *obj, const char *key, int64_t *out, bl_error *err) {
  BL_TRY(bl_json_get_i64(obj, key, out, err));
  return not_negative(obj, key, *out, err);
}

static bl_status opt_size(const bl_json *obj, const char *key, bool *found, int64_t *out, bl_error *err) {
  BL_TRY(bl_json_opt_i64(obj, key, found, out, err));
  return *found ? not_negative(obj, key, *out, err) : BL_OK;
}

/* A snapshot id that may be absent, null or -1. */
static bl_status opt_snapshot(const bl_json *obj, const char *key, bool *found, int64_t *out, bl_error *err) {
  BL_TRY(bl_json_opt_i64(obj, key, found, out, err));
  if (*found && *out == NO_SNAPSHOT) *found = false;
  if (!*found) *out = 0;
  return BL_OK;
}

/* A map of strings, in order. */
static bl_status read_pairs(bl_arena *a, const bl_json *obj, bl_pairs *out, bl_error *err) {
  out->items = bl_arena_alloc(a, obj->n, sizeof *out->items);
  if (!out->items) return bl_nomem(err);
  for (const bl_json *v = obj->first; v; v = v->next) {
    bl_pair *p = &out->items[out->n++];
    p->key = v->key;
    BL_TRY(bl_json_string(v, &p->value, err));
  }
  return BL_OK;
}

static bl_status read_opt_pairs(bl_arena *a, const bl_json *obj, const char *key, bl_pairs *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member_opt(obj, key, BL_J_OBJECT, &v, err));
  return v ? read_pairs(a, v, out, err) : BL_OK;
}

/* ---- head ---- */

static bl_status read_version(bl_metadata *m, bl_error *err) {
  const bl_json *v;
  int64_t version;
  if (bl_json_get(m->json, "view-uuid"))
    return bl_json_fail(err, BL_UNSUPPORTED, m->json, "this is the metadata of a view, not of a table");
  BL_TRY(bl_json_member(m->json, "format-version", BL_J_NUMBER, &v, err));
  BL_TRY(bl_json_i64(v, &version, err));
  if (version < 1) return bl_json_fail(err, BL_DAMAGED, v, "there is no format version %lld", (long long)version);
  if (version > 3)
    return bl_json_fail(err, BL_UNSUPPORTED, v, "format version %lld is not supported (1, 2 and 3 are)",
                        (long long)version);
  m->format_version = (int)version;
  return BL_OK;
}

static bl_status read_next_row_id(bl_metadata *m, bl_error *err) {
  const bl_json *v = bl_json_get(m->json, "next-row-id");
  if (m->format_version < 3) return BL_OK;
  if (!v || v->kind == BL_J_NULL)
    return bl_json_fail(
        err, BL_DAMAGED, m->json,
        "next-row-id is missing, which format version 3 requires: it must be set to a number above every "
        "row id of the table (0 where no row has one)");
  return get_size(m->json, "next-row-id", &m->next_row_id, err);
}

static bl_status read_head(bl_metadata *m, bl_error *err) {
  bool found, v1 = m->format_version == 1;
  const bl_json *o = m->json;
  BL_TRY(v1 ? bl_json_opt_str(o, "table-uuid", &m->uuid, err) : bl_json_get_str(o, "table-uuid", &m->uuid, err));
  BL_TRY(bl_json_get_str(o, "location", &m->location, err));
  BL_TRY(v1 ? opt_size(o, "last-sequence-number", &found, &m->last_sequence_number, err)
            : get_size(o, "last-sequence-number", &m->last_sequence_number, err));
  BL_TRY(bl_json_get_i64(o, "last-updated-ms", &m->last_updated_ms, err));
  BL_TRY(bl_json_get_i32(o, "last-column-id", &m->last_column_id, err));
  BL_TRY(read_next_row_id(m, err));
  return read_opt_pairs(m->arena, o, "properties", &m->properties, err);
}

/* ---- schemas, specs, orders ---- */

static bl_status read_schema_entry(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  const bl_json *id;
  BL_TRY(bl_json_member(v, "schema-id", BL_J_NUMBER, &id, err));
  return bl_schema_from_json(a, v, item, err);
}

/* The deprecated `schema` of format version 1: the only one where there is no list, and the current one where nothing
 * says which that is. */
static bl_status read_v1_schema(bl_metadata *m, bool has_current, bl_error *err) {
  const bl_json *v;
  if (m->n_schemas && has_current) return BL_OK;
  BL_TRY(bl_json_member(m->json, "schema", BL_J_OBJECT, &v, err));
  bl_schema *s = bl_arena_calloc(m->arena, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  BL_TRY(bl_schema_from_json(m->arena, v, s, err));
  m->current_schema_id = s->id;
  if (m->n_schemas) return BL_OK;
  m->schemas = s;
  m->n_schemas = 1;
  return BL_OK;
}

static bl_status read_schemas(bl_metadata *m, bl_error *err) {
  const bl_json *list;
  bool found;
  if (m->format_version > 1) {
    BL_TRY(bl_json_member(m->json, "schemas", BL_J_ARRAY, &list, err));
    BL_TRY(bl_json_get_i32(m->json, "current-schema-id", &m->current_schema_id, err));
    return READ_LIST(m, "schemas", read_schema_entry, m->schemas, &m->n_schemas, err);
  }
  BL_TRY(READ_LIST(m, "schemas", read_schema_entry, m->schemas, &m->n_schemas, err));
  BL_TRY(bl_json_opt_i32(m->json, "current-schema-id", &found, &m->current_schema_id, err));
  return read_v1_schema(m, found, err);
}

static bl_status read_spec(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  bl_partition_spec *s = item;
  const bl_json *fields;
  BL_TRY(bl_json_get_i32(v, "spec-id", &s->id, err));
  BL_TRY(bl_json_member(v, "fields", BL_J_ARRAY, &fields, err));
  return bl_spec_fields_from_json(a, fields, s, err);
}

static bl_status read_v1_spec(bl_metadata *m, bl_error *err) {
  const bl_json *fields;
  BL_TRY(bl_json_member(m->json, "partition-spec", BL_J_ARRAY, &fields, err));
  m->specs = bl_arena_calloc(m->arena, 1, sizeof *m->specs);
  if (!m->specs) return bl_nomem(err);
  m->n_specs = 1;
  return bl_spec_fields_from_json(m->arena, fields, &m->specs[0], err);
}

static int32_t highest_partition_id(const bl_metadata *m) {
  int32_t highest = BL_FIRST_PARTITION_ID - 1;
  for (size_t i = 0; i < m->n_specs; i++)
    for (size_t j = 0; j < m->specs[i].n_fields; j++)
      if (m->specs[i].fields[j].field_id > highest) highest = m->specs[i].fields[j].field_id;
  return highest;
}

static bl_status read_specs(bl_metadata *m, bl_error *err) {
  const bl_json *list;
  bool found;
  if (m->format_version > 1) {
    BL_TRY(bl_json_member(m->json, "partition-specs", BL_J_ARRAY, &list, err));
    BL_TRY(bl_json_get_i32(m->json, "default-spec-id", &m->default_spec_id, err));
    BL_TRY(bl_json_get_i32(m->json, "last-partition-id", &m->last_partition_id, err));
    return READ_LIST(m, "partition-specs", read_spec, m->specs, &m->n_specs, err);
  }
  BL_TRY(READ_LIST(m, "partition-specs", read_spec, m->specs, &m->n_specs, err));
  if (!m->n_specs) return read_v1_spec(m, err);
  return bl_json_opt_i32(m->json, "default-spec-id", &found, &m->default_spec_id, err);
}

static bl_status read_last_partition_id(bl_metadata *m, bl_error *err) {
  bool found;
  if (m->format_version > 1) return BL_OK;
  BL_TRY(bl_json_opt_i32(m->json, "last-partition-id", &found, &m->last_partition_id, err));
  if (!found) m->last_partition_id = highest_partition_id(m);
  return BL_OK;
}

static bl_status read_order(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  return bl_sort_order_from_json(a, v, item, err);
}

static bl_status read_orders(bl_metadata *m, bl_error *err) {
  const bl_json *list;
  bool found;
  if (m->format_version > 1) {
    BL_TRY(bl_json_member(m->json, "sort-orders", BL_J_ARRAY, &list, err));
    BL_TRY(bl_json_get_i32(m->json, "default-sort-order-id", &m->default_order_id, err));
  } else {
    BL_TRY(bl_json_opt_i32(m->json, "default-sort-order-id", &found, &m->default_order_id, err));
  }
  BL_TRY(READ_LIST(m, "sort-orders", read_order, m->orders, &m->n_orders, err));
  if (m->n_orders) return BL_OK;
  m->orders = bl_arena_calloc(m->arena, 1, sizeof *m->orders); /* order 0, without fields */
  if (!m->orders) return bl_nomem(err);
  m->n_orders = 1;
  return BL_OK;
}

/* ---- snapshots ---- */

static bl_status read_path(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  return bl_json_string(v, item, err);
}

static bl_status read_manifests(bl_arena *a, const bl_json *v, bl_snapshot *s, bl_error *err) {
  const bl_json *list;
  BL_TRY(bl_json_opt_str(v, "manifest-list", &s->manifest_list, err));
  if (s->manifest_list.p) return BL_OK;
  BL_TRY(bl_json_member_opt(v, "manifests", BL_J_ARRAY, &list, err));
  if (!list) return bl_json_fail(err, BL_DAMAGED, v, "manifest-list is missing");
  return read_array(a, list, sizeof *s->manifests, read_path, (void **)&s->manifests, &s->n_manifests, err);
}

static bl_status read_snapshot(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  bl_snapshot *s = item;
  bool found;
  BL_TRY(bl_json_get_i64(v, "snapshot-id", &s->id, err));
  BL_TRY(opt_snapshot(v, "parent-snapshot-id", &s->has_parent, &s->parent_id, err));
  BL_TRY(opt_size(v, "sequence-number", &found, &s->sequence_number, err));
  BL_TRY(bl_json_get_i64(v, "timestamp-ms", &s->timestamp_ms, err));
  BL_TRY(read_manifests(a, v, s, err));
  BL_TRY(read_opt_pairs(a, v, "summary", &s->summary, err));
  BL_TRY(bl_json_opt_i32(v, "schema-id", &s->has_schema_id, &s->schema_id, err));
  BL_TRY(opt_size(v, "first-row-id", &s->has_first_row_id, &s->first_row_id, err));
  BL_TRY(opt_size(v, "added-rows", &s->has_added_rows, &s->added_rows, err));
  return bl_json_opt_str(v, "key-id", &s->key_id, err);
}

static bl_status read_log_entry(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  bl_log_entry *e = item;
  BL_TRY(bl_json_get_i64(v, "timestamp-ms", &e->timestamp_ms, err));
  return bl_json_get_i64(v, "snapshot-id", &e->snapshot_id, err);
}

static bl_status read_metadata_log_entry(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  bl_metadata_log_entry *e = item;
  BL_TRY(bl_json_get_i64(v, "timestamp-ms", &e->timestamp_ms, err));
  return bl_json_get_str(v, "metadata-file", &e->file, err);
}

static bl_status read_snapshots(bl_metadata *m, bl_error *err) {
  BL_TRY(READ_LIST(m, "snapshots", read_snapshot, m->snapshots, &m->n_snapshots, err));
  BL_TRY(bl_metadata_index(m, err));
  BL_TRY(opt_snapshot(m->json, "current-snapshot-id", &m->has_current, &m->current_snapshot_id, err));
  BL_TRY(READ_LIST(m, "snapshot-log", read_log_entry, m->snapshot_log, &m->n_snapshot_log, err));
  return READ_LIST(m, "metadata-log", read_metadata_log_entry, m->metadata_log, &m->n_metadata_log, err);
}

/* ---- refs ---- */

static bl_status positive(const bl_json *v, const char *key, int64_t x, bl_error *err) {
  if (x > 0) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, bl_json_get(v, key), "%s must be positive, is %lld", key, (long long)x);
}

static bl_status read_ref_kind(const bl_json *v, bool *is_branch, bl_error *err) {
  const bl_json *type;
  BL_TRY(bl_json_member(v, "type", BL_J_STRING, &type, err));
  *is_branch = bl_str_is(type->text, "branch");
  if (*is_branch || bl_str_is(type->text, "tag")) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, type, "\"%.*s\" is neither \"branch\" nor \"tag\"", BL_STR_ARG(type->text));
}

static bl_status read_ref(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  bl_ref *r = item;
  r->name = v->key;
  BL_TRY(bl_json_get_i64(v, "snapshot-id", &r->snapshot_id, err));
  BL_TRY(read_ref_kind(v, &r->is_branch, err));
  BL_TRY(bl_json_opt_i32(v, "min-snapshots-to-keep", &r->has_min_snapshots, &r->min_snapshots_to_keep, err));
  BL_TRY(bl_json_opt_i64(v, "max-snapshot-age-ms", &r->has_max_snapshot_age, &r->max_snapshot_age_ms, err));
  BL_TRY(bl_json_opt_i64(v, "max-ref-age-ms", &r->has_max_ref_age, &r->max_ref_age_ms, err));
  if (r->has_min_snapshots) BL_TRY(positive(v, "min-snapshots-to-keep", r->min_snapshots_to_keep, err));
  if (r->has_max_snapshot_age) BL_TRY(positive(v, "max-snapshot-age-ms", r->max_snapshot_age_ms, err));
  return r->has_max_ref_age ? positive(v, "max-ref-age-ms", r->max_ref_age_ms, err) : BL_OK;
}

static bool has_main(const bl_json *refs) {
  return refs && bl_json_get(refs, "main");
}

/* The refs as they stand, with room for main where it must be made of the current snapshot. */
static bl_status read_refs(bl_metadata *m, bl_error *err) {
  const bl_json *refs;
  BL_TRY(bl_json_member_opt(m->json, "refs", BL_J_OBJECT, &refs, err));
  size_t n = refs ? refs->n : 0;
  m->refs = bl_arena_calloc(m->arena, n + 1, sizeof *m->refs);
  if (!m->refs) return bl_nomem(err);
  for (const bl_json *v = refs ? refs->first : NULL; v; v = v->next)
    BL_TRY(read_ref(m->arena, v, &m->refs[m->n_refs++], err));
  if (m->has_current && !has_main(refs))
    m->refs[m->n_refs++] = (bl_ref){.name = BL_STR("main"), .snapshot_id = m->current_snapshot_id, .is_branch = true};
  return BL_OK;
}

/* ---- statistics and keys ---- */

static bl_status read_partition_statistics(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  bl_statistics *s = item;
  BL_TRY(bl_json_get_i64(v, "snapshot-id", &s->snapshot_id, err));
  BL_TRY(bl_json_get_str(v, "statistics-path", &s->path, err));
  return get_size(v, "file-size-in-bytes", &s->file_size, err);
}

static bl_status read_statistics(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  bl_statistics *s = item;
  BL_TRY(read_partition_statistics(a, v, item, err));
  return get_size(v, "file-footer-size-in-bytes", &s->footer_size, err);
}

static bl_status read_key(bl_arena *a, const bl_json *v, void *item, bl_error *err) {
  (void)a;
  bl_encryption_key *k = item;
  BL_TRY(bl_json_get_str(v, "key-id", &k->key_id, err));
  return bl_json_opt_str(v, "encrypted-by-id", &k->encrypted_by, err);
}

/* ---- all of it ---- */

static bl_status read_metadata(bl_metadata *m, bl_error *err) {
  BL_TRY(read_version(m, err));
  BL_TRY(read_head(m, err));
  BL_TRY(read_schemas(m, err));
  BL_TRY(read_specs(m, err));
  BL_TRY(read_last_partition_id(m, err));
  BL_TRY(read_orders(m, err));
  BL_TRY(read_snapshots(m, err));
  BL_TRY(read_refs(m, err));
  BL_TRY(READ_LIST(m, "statistics", read_statistics, m->statistics, &m->n_statistics, err));
  BL_TRY(READ_LIST(m, "partition-statistics", read_partition_statistics, m->partition_statistics,
                   &m->n_partition_statistics, err));
  BL_TRY(READ_LIST(m, "encryption-keys", read_key, m->keys, &m->n_keys, err));
  return bl_metadata_check(m, err);
}

/* The document, unpacked where it is gzip. */
static bl_status parse_document(bl_arena *a, const void *p, size_t n, bl_json **out, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(a);
  size_t max = (size_t)ctx->o.max_metadata_bytes;
  if (!bl_is_gzip(p, n)) {
    if (n > max) return bl_fail(err, BL_DAMAGED, "metadata: %zu bytes are beyond the limit of %zu bytes", n, max);
    return bl_json_parse(a, p, n, out, err);
  }
  bl_buf text;
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  bl_status st = bl_gunzip(ctx, p, n, max, &text, err);
  if (st == BL_OK) st = bl_json_parse(a, text.p, text.n, out, err);
  bl_buf_free(&text);
  return st;
}

bl_status bl_metadata_parse(bl_ctx *ctx, const void *p, size_t n, bl_metadata **out, bl_error *err) {
  bl_arena *a = NULL;
  bl_metadata *m = NULL;
  bl_json *json = NULL;
  *out = NULL;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_status st = parse_document(a, p, n, &json, err);
  if (st == BL_OK && !(m = bl_arena_calloc(a, 1, sizeof *m))) st = bl_nomem(err);
  if (st == BL_OK) {
    m->arena = a;
    m->json = json;
    st = read_metadata(m, err);
  }
  if (st != BL_OK) {
    bl_arena_free(a);
    return st;
  }
  *out = m;
  return BL_OK;
}

void bl_metadata_free(bl_metadata *m) {
  if (m) bl_arena_free(m->arena);
}

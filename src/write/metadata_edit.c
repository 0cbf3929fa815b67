/* metadata_edit.c: see metadata_edit.h. */
#include "write/metadata_edit.h"

#include "format/metadata_json.h"
#include "write/properties.h"

static const int64_t CLOCK_SKEW_MS = 60 * 1000;

/* ---- parts of the document ---- */

static bl_status begin(bl_arena *a, const bl_metadata *base, bl_edit *out, bl_error *err) {
  int64_t now = bl_now_ms(bl_arena_ctx(a));
  *out = (bl_edit){.a = a, .base = base, .now_ms = now};
  if (now < base->last_updated_ms - CLOCK_SKEW_MS)
    return bl_fail(err, BL_IO,
                   "cannot commit: this machine's clock is %lld s behind the table's last commit (at most 60 s are "
                   "tolerated): set the clock",
                   (long long)((base->last_updated_ms - now) / 1000));
  if (now < base->last_updated_ms) out->now_ms = base->last_updated_ms;
  return BL_OK;
}

bl_status bl_edit_begin(bl_arena *a, const bl_metadata *base, bl_edit *out, bl_error *err) {
  BL_TRY(begin(a, base, out, err));
  out->doc = bl_json_copy(a, base->json);
  return out->doc ? BL_OK : bl_nomem(err);
}

bl_status bl_edit_begin_adding(bl_arena *a, const bl_metadata *base, bl_edit *out, bl_error *err) {
  static const char *const many[] = {"snapshots", "snapshot-log", "metadata-log"};
  BL_TRY(begin(a, base, out, err));
  out->doc = bl_json_copy_sharing(a, base->json, many, BL_LEN(many));
  return out->doc ? BL_OK : bl_nomem(err);
}

static bl_json *container(bl_edit *e, const char *key, bl_json_kind kind) {
  bl_json *v = (bl_json *)bl_json_get(e->doc, key);
  if (v && v->kind == kind) return v;
  v = bl_json_new(e->a, kind);
  return bl_json_set(e->a, e->doc, key, v) ? v : NULL;
}

bl_json *bl_edit_list(bl_edit *e, const char *key) {
  return container(e, key, BL_J_ARRAY);
}

bl_json *bl_edit_object(bl_edit *e, const char *key) {
  return container(e, key, BL_J_OBJECT);
}

static bl_status set(bl_arena *a, bl_json *obj, const char *key, bl_json *v, bl_error *err) {
  return obj && bl_json_set(a, obj, key, v) ? BL_OK : bl_nomem(err);
}

static bl_status set_i64(bl_arena *a, bl_json *obj, const char *key, int64_t v, bl_error *err) {
  return set(a, obj, key, bl_json_new_i64(a, v), err);
}

bl_status bl_edit_set(bl_edit *e, const char *key, bl_json *v, bl_error *err) {
  return set(e->a, e->doc, key, v, err);
}

static bl_status push(bl_json *list, bl_json *v, bl_error *err) {
  return list && v && bl_json_push(list, v) ? BL_OK : bl_nomem(err);
}

/* ---- properties ---- */

bl_status bl_edit_property(bl_edit *e, bl_str key, bl_str value, bl_error *err) {
  bl_str name = bl_arena_str(e->a, key);
  if (!name.p) return bl_nomem(err);
  return set(e->a, bl_edit_object(e, "properties"), name.p, bl_json_new_str(e->a, value), err);
}

void bl_edit_unset_property(bl_edit *e, const char *key) {
  bl_json *properties = (bl_json *)bl_json_get(e->doc, "properties");
  if (properties && properties->kind == BL_J_OBJECT) bl_json_remove(properties, key);
}

/* ---- snapshots ---- */

static bl_status summary_json(bl_arena *a, const bl_pairs *p, bl_json **out, bl_error *err) {
  *out = bl_json_new(a, BL_J_OBJECT);
  for (size_t i = 0; i < p->n; i++) BL_TRY(set(a, *out, p->items[i].key.p, bl_json_new_str(a, p->items[i].value), err));
  return *out ? BL_OK : bl_nomem(err);
}

static bl_status snapshot_json(bl_arena *a, const bl_snapshot *s, int version, bl_json **out, bl_error *err) {
  bl_json *v = *out = bl_json_new(a, BL_J_OBJECT), *summary;
  if (version > 1) BL_TRY(set_i64(a, v, "sequence-number", s->sequence_number, err));
  BL_TRY(set_i64(a, v, "snapshot-id", s->id, err));
  if (s->has_parent) BL_TRY(set_i64(a, v, "parent-snapshot-id", s->parent_id, err));
  BL_TRY(set_i64(a, v, "timestamp-ms", s->timestamp_ms, err));
  BL_TRY(summary_json(a, &s->summary, &summary, err));
  BL_TRY(set(a, v, "summary", summary, err));
  BL_TRY(set(a, v, "manifest-list", bl_json_new_str(a, s->manifest_list), err));
  if (s->has_schema_id) BL_TRY(set_i64(a, v, "schema-id", s->schema_id, err));
  if (version < 3) return BL_OK;
  BL_TRY(set_i64(a, v, "first-row-id", s->first_row_id, err));
  return set_i64(a, v, "added-rows", s->added_rows, err);
}

bl_status bl_edit_add_snapshot(bl_edit *e, const bl_snapshot *s, int64_t next_row_id, bl_error *err) {
  int version = e->base->format_version;
  bl_json *v;
  BL_TRY(snapshot_json(e->a, s, version, &v, err));
  BL_TRY(push(bl_edit_list(e, "snapshots"), v, err));
  if (version > 1 && s->sequence_number > e->base->last_sequence_number)
    BL_TRY(set_i64(e->a, e->doc, "last-sequence-number", s->sequence_number, err));
  return version > 2 ? set_i64(e->a, e->doc, "next-row-id", next_row_id, err) : BL_OK;
}

/* ---- refs ---- */

/* 1. */
static bl_status move_main(bl_edit *e, int64_t snapshot_id, bl_error *err) {
  bl_json *line = bl_json_new(e->a, BL_J_OBJECT);
  if (e->base->has_current && e->base->current_snapshot_id == snapshot_id) return BL_OK;
  BL_TRY(set_i64(e->a, e->doc, "current-snapshot-id", snapshot_id, err));
  BL_TRY(set_i64(e->a, line, "timestamp-ms", e->now_ms, err));
  BL_TRY(set_i64(e->a, line, "snapshot-id", snapshot_id, err));
  return push(bl_edit_list(e, "snapshot-log"), line, err);
}

bl_status bl_edit_set_ref(bl_edit *e, const bl_ref *r, bl_error *err) {
  bl_json *refs = bl_edit_object(e, "refs");
  bl_str name = bl_arena_str(e->a, r->name);
  if (!refs || !name.p) return bl_nomem(err);
  bl_json *v = (bl_json *)bl_json_get(refs, name.p);
  if (!v) {
    v = bl_json_new(e->a, BL_J_OBJECT);
    BL_TRY(set(e->a, refs, name.p, v, err));
  }
  BL_TRY(set_i64(e->a, v, "snapshot-id", r->snapshot_id, err));
  BL_TRY(set(e->a, v, "type", bl_json_new_str(e->a, r->is_branch ? BL_STR("branch") : BL_STR("tag")), err));
  if (r->has_min_snapshots) BL_TRY(set_i64(e->a, v, "min-snapshots-to-keep", r->min_snapshots_to_keep, err));
  if (r->has_max_snapshot_age) BL_TRY(set_i64(e->a, v, "max-snapshot-age-ms", r->max_snapshot_age_ms, err));
  if (r->has_max_ref_age) BL_TRY(set_i64(e->a, v, "max-ref-age-ms", r->max_ref_age_ms, err));
  return bl_str_is(r->name, "main") ? move_main(e, r->snapshot_id, err) : BL_OK;
}

bl_status bl_edit_remove_ref(bl_edit *e, bl_str name, bl_error *err) {
  bl_json *refs = bl_edit_object(e, "refs");
  bl_str key = bl_arena_str(e->a, name);
  if (!refs || !key.p) return bl_nomem(err);
  bl_json_remove(refs, key.p);
  return BL_OK;
}

/* ---- schemas, specs, orders ---- */

/* Do two objects say the same but for the member id_key? BL_NOMEM. */
static bl_status same_but_id(bl_edit *e, const bl_json *a, const bl_json *b, const char *id_key, bool *same,
                             bl_error *err) {
  bl_json *x = bl_json_copy(e->a, a), *y = bl_json_copy(e->a, b);
  if (!x || !y) return bl_nomem(err);
  bl_json_remove(x, id_key);
  bl_json_remove(y, id_key);
  bl_str s = bl_json_text(e->a, x), t = bl_json_text(e->a, y);
  if (!s.p || !t.p) return bl_nomem(err);
  *same = bl_str_eq(s, t);
  return BL_OK;
}

typedef struct versioned {
  const char *list, *id_key, *current_key;
  int32_t first_id;
} versioned;

/* The id of an object in the list that says the same, or the next free one, under which `v` is then added. */
static bl_status add_version(bl_edit *e, const versioned *k, bl_json *v, int32_t *id, bl_error *err) {
  bl_json *list = bl_edit_list(e, k->list);
  int32_t next = k->first_id;
  if (!list || !v) return bl_nomem(err);
  for (const bl_json *old = list->first; old; old = old->next) {
    bool same = false;
    BL_TRY(bl_json_get_i32(old, k->id_key, id, err));
    BL_TRY(same_but_id(e, old, v, k->id_key, &same, err));
    if (same) return set_i64(e->a, e->doc, k->current_key, *id, err);
    if (*id >= next) next = *id + 1;
  }
  *id = next;
  BL_TRY(set_i64(e->a, v, k->id_key, next, err));
  BL_TRY(push(list, v, err));
  return set_i64(e->a, e->doc, k->current_key, next, err);
}

/* Version 1 may have no lists: they begin with what the base has. */
static bl_status list_schemas(bl_edit *e, bl_error *err) {
  bl_json *list = bl_edit_list(e, "schemas");
  if (!list) return bl_nomem(err);
  if (list->n) return BL_OK;
  for (size_t i = 0; i < e->base->n_schemas; i++)
    BL_TRY(push(list, bl_schema_to_json(e->a, &e->base->schemas[i]), err));
  return BL_OK;
}

static bl_status list_specs(bl_edit *e, bl_error *err) {
  bl_json *list = bl_edit_list(e, "partition-specs");
  if (!list) return bl_nomem(err);
  if (list->n) return BL_OK;
  for (size_t i = 0; i < e->base->n_specs; i++) BL_TRY(push(list, bl_spec_to_json(e->a, &e->base->specs[i]), err));
  return BL_OK;
}

static bl_status list_orders(bl_edit *e, bl_error *err) {
  bl_json *list = bl_edit_list(e, "sort-orders");
  if (!list) return bl_nomem(err);
  if (list->n) return BL_OK;
  for (size_t i = 0; i < e->base->n_orders; i++)
    BL_TRY(push(list, bl_sort_order_to_json(e->a, &e->base->orders[i]), err));
  return BL_OK;
}

bl_status bl_edit_current_schema(bl_edit *e, bl_json *schema, int32_t last_column_id, int32_t *id, bl_error *err) {
  static const versioned kind = {"schemas", "schema-id", "current-schema-id", 0};
  BL_TRY(list_schemas(e, err));
  BL_TRY(add_version(e, &kind, schema, id, err));
  if (last_column_id > e->base->last_column_id) BL_TRY(set_i64(e->a, e->doc, "last-column-id", last_column_id, err));
  if (e->base->format_version > 1) return BL_OK;
  bl_json *old = bl_json_copy(e->a, schema); /* 3. */
  if (old) BL_TRY(set_i64(e->a, old, "schema-id", *id, err));
  return set(e->a, e->doc, "schema", old, err);
}

bl_status bl_edit_default_spec(bl_edit *e, bl_json *spec, int32_t last_partition_id, int32_t *id, bl_error *err) {
  static const versioned kind = {"partition-specs", "spec-id", "default-spec-id", 0};
  int32_t last = e->base->last_partition_id;
  BL_TRY(list_specs(e, err));
  BL_TRY(add_version(e, &kind, spec, id, err));
  BL_TRY(set_i64(e->a, e->doc, "last-partition-id", last_partition_id > last ? last_partition_id : last, err));
  if (e->base->format_version > 1) return BL_OK;
  const bl_json *fields = bl_json_get(spec, "fields"); /* 3. */
  return set(e->a, e->doc, "partition-spec", fields ? bl_json_copy(e->a, fields) : NULL, err);
}

bl_status bl_edit_default_order(bl_edit *e, bl_json *order, int32_t *id, bl_error *err) {
  static const versioned kind = {"sort-orders", "order-id", "default-sort-order-id", 1};
  const bl_json *fields = order ? bl_json_get(order, "fields") : NULL;
  if (!fields) return bl_nomem(err);
  BL_TRY(list_orders(e, err));
  if (fields->n) return add_version(e, &kind, order, id, err);
  *id = 0; /* unsorted, which every table has */
  return set_i64(e->a, e->doc, "default-sort-order-id", 0, err);
}

/* ---- the end ---- */

bool bl_edit_changed(const bl_edit *e) {
  bl_buf a, b;
  bl_ctx *ctx = bl_arena_ctx(e->a);
  bl_buf_init(&a, ctx, BL_BUF_MAX);
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_json_print(&a, e->base->json, false);
  bl_json_print(&b, e->doc, false);
  bool same = !a.failed && !b.failed && a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
  bl_buf_free(&a);
  bl_buf_free(&b);
  return !same;
}

static bl_status trim_log(bl_edit *e, bl_json *log, bl_str **dropped, size_t *n, bl_error *err) {
  int64_t max = bl_property_i64(&e->base->properties, "write.metadata.previous-versions-max", 100);
  size_t keep = max < 1 ? 1 : (size_t)max;
  *dropped = bl_arena_alloc(e->a, log->n, sizeof **dropped);
  if (!*dropped) return bl_nomem(err);
  for (*n = 0; log->n > keep;) {
    bl_json *oldest = log->first;
    bl_str file;
    BL_TRY(bl_json_opt_str(oldest, "metadata-file", &file, err));
    if (file.p) (*dropped)[(*n)++] = file;
    bl_json_remove_child(log, oldest);
  }
  return BL_OK;
}

bl_status bl_edit_finish(bl_edit *e, bl_str base_file, bl_str **dropped, size_t *n, bl_error *err) {
  bl_json *log = bl_edit_list(e, "metadata-log"), *line = bl_json_new(e->a, BL_J_OBJECT);
  BL_TRY(set_i64(e->a, e->doc, "last-updated-ms", e->now_ms, err));
  BL_TRY(set_i64(e->a, line, "timestamp-ms", e->base->last_updated_ms, err));
  BL_TRY(set(e->a, line, "metadata-file", bl_json_new_str(e->a, base_file), err));
  BL_TRY(push(log, line, err));
  return trim_log(e, log, dropped, n, err);
}

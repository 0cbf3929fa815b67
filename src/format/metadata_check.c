/* metadata_check.c: references between the parts of table metadata.
 *
 * Invariants of metadata that passed
 *  1. Ids of schemas, partition specs, sort orders and snapshots are unique.
 *  2. The current schema, the default spec and the default order exist (order 0 needs no entry: it is "unsorted").
 *  3. No column has a reserved field id, whatever its name; identifier fields exist.
 *  4. Every ref names a snapshot that is there; main is a branch and is the current snapshot.
 *  5. Following parents from any snapshot ends. A parent that is not there is an expired one.
 * Left to those who look at the files: whether row ids and sequence numbers hold (verify), encryption keys (scan). */
#include "format/metadata_check.h"

#include "base/map.h"

static const bl_json *part(const bl_metadata *m, const char *key) {
  const bl_json *v = bl_json_get(m->json, key);
  return v ? v : m->json;
}

/* The i-th element of a list of the document; the document where v1 metadata has no such list. */
static const bl_json *element(const bl_metadata *m, const char *key, size_t i) {
  const bl_json *v = bl_json_at(bl_json_get(m->json, key), i);
  return v ? v : m->json;
}

/* ---- unique ids ---- */

static int64_t schema_id(const bl_metadata *m, size_t i) {
  return m->schemas[i].id;
}
static int64_t spec_id(const bl_metadata *m, size_t i) {
  return m->specs[i].id;
}
static int64_t order_id(const bl_metadata *m, size_t i) {
  return m->orders[i].id;
}
static int64_t snapshot_id(const bl_metadata *m, size_t i) {
  return m->snapshots[i].id;
}

static bl_status check_unique(const bl_metadata *m, const char *key, const char *what, size_t n,
                              int64_t (*id)(const bl_metadata *, size_t), bl_error *err) {
  bl_imap *seen;
  bl_status st = bl_imap_new(bl_arena_ctx(m->arena), &seen, err);
  for (size_t i = 0; st == BL_OK && i < n; i++) {
    bool added;
    if (!bl_imap_put(seen, id(m, i), i, &added)) st = bl_nomem(err);
    else if (!added)
      st = bl_json_fail(err, BL_DAMAGED, element(m, key, i), "the %s %lld is there twice", what, (long long)id(m, i));
  }
  bl_imap_free(seen);
  return st;
}

static bl_status check_ids(const bl_metadata *m, bl_error *err) {
  BL_TRY(check_unique(m, "schemas", "schema-id", m->n_schemas, schema_id, err));
  BL_TRY(check_unique(m, "partition-specs", "spec-id", m->n_specs, spec_id, err));
  BL_TRY(check_unique(m, "sort-orders", "order-id", m->n_orders, order_id, err));
  return check_unique(m, "snapshots", "snapshot-id", m->n_snapshots, snapshot_id, err);
}

/* ---- schemas, specs, orders ---- */

static bl_status check_schema(const bl_metadata *m, size_t i, bl_error *err) {
  const bl_schema *s = &m->schemas[i];
  if (s->highest_id > BL_ID_FIRST_RESERVED) {
    const bl_field *f = bl_schema_find(s, s->highest_id);
    return bl_json_fail(err, BL_DAMAGED, element(m, "schemas", i),
                        "the column \"%.*s\" has the field id %d, which is reserved for metadata columns",
                        BL_STR_ARG(f ? f->name : BL_STR("?")), (int)s->highest_id);
  }
  for (size_t j = 0; j < s->n_identifier_ids; j++)
    if (!bl_schema_find(s, s->identifier_ids[j]))
      return bl_json_fail(err, BL_DAMAGED, element(m, "schemas", i), "identifier-field-ids names %d, which is no field",
                          (int)s->identifier_ids[j]);
  return BL_OK;
}

static bool has_order(const bl_metadata *m, int32_t id) {
  for (size_t i = 0; i < m->n_orders; i++)
    if (m->orders[i].id == id) return true;
  return id == 0;
}

static bl_status check_defaults(const bl_metadata *m, bl_error *err) {
  for (size_t i = 0; i < m->n_schemas; i++) BL_TRY(check_schema(m, i, err));
  if (!bl_metadata_current_schema(m))
    return bl_json_fail(err, BL_DAMAGED, part(m, "current-schema-id"), "no schema has the current-schema-id %d",
                        (int)m->current_schema_id);
  if (!bl_metadata_spec(m, m->default_spec_id))
    return bl_json_fail(err, BL_DAMAGED, part(m, "default-spec-id"), "no partition spec has the default-spec-id %d",
                        (int)m->default_spec_id);
  if (!has_order(m, m->default_order_id))
    return bl_json_fail(err, BL_DAMAGED, part(m, "default-sort-order-id"),
                        "no sort order has the default-sort-order-id %d", (int)m->default_order_id);
  return BL_OK;
}

/* ---- refs ---- */

static bl_status check_main(const bl_metadata *m, const bl_ref *main, bl_error *err) {
  const bl_json *v = bl_json_get(part(m, "refs"), "main");
  if (!v) return BL_OK; /* made from current-snapshot-id */
  if (!main->is_branch) return bl_json_fail(err, BL_DAMAGED, v, "main must be a branch");
  if (!m->has_current)
    return bl_json_fail(err, BL_DAMAGED, v, "main is snapshot %lld, but there is no current-snapshot-id",
                        (long long)main->snapshot_id);
  if (main->snapshot_id != m->current_snapshot_id)
    return bl_json_fail(err, BL_DAMAGED, v, "main is snapshot %lld, but current-snapshot-id is %lld",
                        (long long)main->snapshot_id, (long long)m->current_snapshot_id);
  return BL_OK;
}

static bl_status check_refs(const bl_metadata *m, bl_error *err) {
  if (m->has_current && !bl_metadata_snapshot(m, m->current_snapshot_id))
    return bl_json_fail(err, BL_DAMAGED, part(m, "current-snapshot-id"), "no snapshot has the current-snapshot-id %lld",
                        (long long)m->current_snapshot_id);
  for (size_t i = 0; i < m->n_refs; i++) {
    const bl_ref *r = &m->refs[i];
    if (bl_metadata_snapshot(m, r->snapshot_id)) continue;
    return bl_json_fail(err, BL_DAMAGED, part(m, "refs"), "the ref \"%.*s\" names snapshot %lld, which is not there",
                        BL_STR_ARG(r->name), (long long)r->snapshot_id);
  }
  const bl_ref *main = bl_metadata_ref(m, BL_STR("main"));
  return main ? check_main(m, main, err) : BL_OK;
}

/* ---- parents ---- */

/* Walk up from snapshot i, marking with i + 1, until the end or a snapshot of an earlier walk; one of this walk is a
 * cycle. Each snapshot is walked over once. */
static bl_status walk_up(const bl_metadata *m, size_t *mark, size_t i, bl_error *err) {
  const bl_snapshot *s = &m->snapshots[i];
  for (; s; s = bl_metadata_parent(m, s)) {
    size_t at = (size_t)(s - m->snapshots);
    if (mark[at] == i + 1)
      return bl_json_fail(err, BL_DAMAGED, element(m, "snapshots", at),
                          "parent-snapshot-id leads back to snapshot %lld: a cycle", (long long)s->id);
    if (mark[at]) break;
    mark[at] = i + 1;
  }
  return BL_OK;
}

static bl_status check_parents(const bl_metadata *m, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(m->arena);
  size_t *mark = bl_calloc(ctx, m->n_snapshots, sizeof *mark);
  if (!mark) return bl_nomem(err);
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < m->n_snapshots; i++) st = walk_up(m, mark, i, err);
  bl_free(ctx, mark);
  return st;
}

bl_status bl_metadata_check(const bl_metadata *m, bl_error *err) {
  BL_TRY(check_ids(m, err));
  BL_TRY(check_defaults(m, err));
  BL_TRY(check_refs(m, err));
  return check_parents(m, err);
}

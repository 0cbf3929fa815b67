/* metadata.c: looking things up in table metadata.
 *  M1 snapshot_index holds each position of `snapshots` once, ordered by snapshot id, then position; whoever fills or
 *     changes `snapshots` calls bl_metadata_index afterwards. Nothing here changes the metadata otherwise, so that
 *     several threads may look up at once. */
#include "model/metadata.h"

#include <stdlib.h>

bl_str bl_pairs_get(const bl_pairs *p, const char *key) {
  for (size_t i = 0; i < p->n; i++)
    if (bl_str_is(p->items[i].key, key)) return p->items[i].value;
  return BL_STR_NONE;
}

bool bl_pairs_is(const bl_pairs *p, const char *key, bl_str value) {
  bl_str v = bl_pairs_get(p, key);
  return v.p && value.p && bl_str_eq(v, value);
}

typedef struct id_at {
  int64_t id;
  uint32_t at;
} id_at;

static int by_id(const void *a, const void *b) {
  const id_at *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return x->at < y->at ? -1 : x->at > y->at;
}

bl_status bl_metadata_index(bl_metadata *m, bl_error *err) {
  m->snapshot_index = NULL;
  if (m->n_snapshots == 0) return BL_OK;
  if (m->n_snapshots > UINT32_MAX) return bl_fail(err, BL_DAMAGED, "snapshots: too many");
  bl_ctx *ctx = bl_arena_ctx(m->arena);
  uint32_t *index = bl_arena_alloc(m->arena, m->n_snapshots, sizeof *index);
  id_at *sorted = index ? bl_alloc(ctx, m->n_snapshots, sizeof *sorted) : NULL;
  if (!sorted) return bl_nomem(err);
  for (size_t i = 0; i < m->n_snapshots; i++) sorted[i] = (id_at){m->snapshots[i].id, (uint32_t)i};
  bl_sort(sorted, m->n_snapshots, sizeof *sorted, by_id);
  for (size_t i = 0; i < m->n_snapshots; i++) index[i] = sorted[i].at;
  bl_free(ctx, sorted);
  m->snapshot_index = index;
  return BL_OK;
}

const bl_snapshot *bl_metadata_snapshot(const bl_metadata *m, int64_t id) {
  size_t low = 0, high = m->snapshot_index ? m->n_snapshots : 0;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (m->snapshots[m->snapshot_index[mid]].id < id) low = mid + 1;
    else high = mid;
  }
  if (!m->snapshot_index || low == m->n_snapshots) return NULL;
  const bl_snapshot *s = &m->snapshots[m->snapshot_index[low]];
  return s->id == id ? s : NULL;
}

const bl_snapshot *bl_metadata_snapshot_with(const bl_metadata *m, const char *key, bl_str value) {
  for (size_t i = 0; i < m->n_snapshots; i++)
    if (bl_pairs_is(&m->snapshots[i].summary, key, value)) return &m->snapshots[i];
  return NULL;
}

const bl_schema *bl_metadata_schema(const bl_metadata *m, int32_t id) {
  for (size_t i = 0; i < m->n_schemas; i++)
    if (m->schemas[i].id == id) return &m->schemas[i];
  return NULL;
}

const bl_schema *bl_metadata_current_schema(const bl_metadata *m) {
  return bl_metadata_schema(m, m->current_schema_id);
}

const bl_partition_spec *bl_metadata_spec(const bl_metadata *m, int32_t id) {
  for (size_t i = 0; i < m->n_specs; i++)
    if (m->specs[i].id == id) return &m->specs[i];
  return NULL;
}

const bl_sort_order *bl_metadata_default_order(const bl_metadata *m) {
  for (size_t i = 0; i < m->n_orders; i++)
    if (m->orders[i].id == m->default_order_id) return &m->orders[i];
  return NULL;
}

const bl_ref *bl_metadata_ref(const bl_metadata *m, bl_str name) {
  for (size_t i = 0; i < m->n_refs; i++)
    if (bl_str_eq(m->refs[i].name, name)) return &m->refs[i];
  return NULL;
}

bl_str bl_snapshot_operation(const bl_snapshot *s) {
  bl_str op = bl_pairs_get(&s->summary, "operation");
  return op.p ? op : BL_STR("");
}

const bl_snapshot *bl_metadata_parent(const bl_metadata *m, const bl_snapshot *s) {
  return s->has_parent ? bl_metadata_snapshot(m, s->parent_id) : NULL;
}

/* A damaged table may have a cycle of parents: no chain is longer than the number of snapshots. */
bool bl_metadata_is_ancestor(const bl_metadata *m, int64_t a, int64_t b) {
  const bl_snapshot *s = bl_metadata_snapshot(m, b);
  for (size_t steps = 0; s && steps < m->n_snapshots; steps++) {
    if (s->id == a) return true;
    s = bl_metadata_parent(m, s);
  }
  return false;
}

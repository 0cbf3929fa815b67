/* delete_index.c: see delete_index.h. */
#include "scan/delete_index.h"

#include "base/map.h"

#include <stdlib.h>

typedef struct entry_list {
  const bl_manifest_entry **items;
  size_t n, cap;
} entry_list;

/* Deletes of one data file, by path. */
typedef struct path_slot {
  const bl_manifest_entry *vector;
  entry_list position;
} path_slot;

/* Deletes of one (spec, partition); `next` chains tuples of one hash. */
typedef struct part_slot {
  int32_t spec_id;
  const bl_value *tuple;
  size_t n_tuple;
  entry_list position, equality;
  size_t next; /* index + 1, 0 = end */
} part_slot;

/* A column that equality deletes name. */
typedef struct key_field {
  int32_t id;
  const bl_field *field;
  bool prunes; /* its statistics can be trusted to tell files apart */
} key_field;

struct bl_delete_index {
  bl_ctx *ctx;
  const bl_metadata *md;
  key_field *keys;
  size_t n_keys, cap_keys;
  bl_map *by_path;
  path_slot *paths;
  size_t n_paths, cap_paths;
  bl_imap *by_part;
  part_slot *parts;
  size_t n_parts, cap_parts;
  entry_list global; /* equality deletes of unpartitioned specs */
  size_t count;
};

bl_str bl_path_key(bl_str p) {
  if (bl_str_starts(p, BL_STR("file:"))) {
    bl_str rest = {p.p + 5, p.n - 5};
    if (bl_str_starts(rest, BL_STR("//localhost/"))) return (bl_str){rest.p + 11, rest.n - 11};
    while (rest.n > 1 && rest.p[0] == '/' && rest.p[1] == '/') rest.p++, rest.n--;
    return rest;
  }
  static const char *const s3[] = {"s3://", "s3a://", "s3n://"};
  for (size_t i = 0; i < BL_LEN(s3); i++) {
    bl_str scheme = bl_str_of(s3[i]);
    if (bl_str_starts(p, scheme)) return (bl_str){p.p + scheme.n - 3, p.n - scheme.n + 3};
  }
  return p;
}

const bl_field *bl_metadata_any_field(const bl_metadata *md, int32_t id) {
  const bl_schema *now = bl_metadata_current_schema(md);
  const bl_field *f = now ? bl_schema_find(now, id) : NULL;
  const bl_field *best = NULL;
  int32_t best_schema = -1;
  for (size_t i = 0; !f && i < md->n_schemas; i++) {
    const bl_field *g = bl_schema_find(&md->schemas[i], id);
    if (g && md->schemas[i].id >= best_schema) best = g, best_schema = md->schemas[i].id;
  }
  return f ? f : best;
}

bl_str bl_delete_target(const bl_data_file *f) {
  if (f->content != BL_FILE_POSITION_DELETES) return BL_STR_NONE;
  if (f->referenced_data_file.p) return f->referenced_data_file;
  const bl_column_metrics *m = bl_data_file_metrics(f, BL_ID_DELETE_PATH);
  if (m && m->lower.p && m->upper.p && m->lower.n > 0 && bl_str_eq(m->lower, m->upper)) return m->lower;
  return BL_STR_NONE;
}

bl_status bl_delete_index_new(bl_ctx *ctx, const bl_metadata *md, bl_delete_index **out, bl_error *err) {
  bl_delete_index *x = bl_calloc(ctx, 1, sizeof *x);
  *out = NULL;
  if (!x) return bl_nomem(err);
  x->ctx = ctx;
  x->md = md;
  bl_status st = bl_map_new(ctx, &x->by_path, err);
  if (st == BL_OK) st = bl_imap_new(ctx, &x->by_part, err);
  if (st != BL_OK) {
    bl_delete_index_free(x);
    return st;
  }
  *out = x;
  return BL_OK;
}

void bl_delete_index_free(bl_delete_index *x) {
  if (!x) return;
  for (size_t i = 0; i < x->n_paths; i++) bl_free(x->ctx, x->paths[i].position.items);
  for (size_t i = 0; i < x->n_parts; i++) {
    bl_free(x->ctx, x->parts[i].position.items);
    bl_free(x->ctx, x->parts[i].equality.items);
  }
  bl_free(x->ctx, x->global.items);
  bl_free(x->ctx, x->keys);
  bl_free(x->ctx, x->paths);
  bl_free(x->ctx, x->parts);
  bl_map_free(x->by_path);
  bl_imap_free(x->by_part);
  bl_free(x->ctx, x);
}

size_t bl_delete_index_count(const bl_delete_index *x) {
  return x->count;
}

static bl_status push(bl_ctx *ctx, entry_list *l, const bl_manifest_entry *e, bl_error *err) {
  BL_TRY(bl_grow(ctx, &l->items, &l->cap, l->n, sizeof *l->items, err));
  l->items[l->n++] = e;
  return BL_OK;
}

static bl_status path_slot_of(bl_delete_index *x, bl_str path, path_slot **out, bl_error *err) {
  bool added;
  size_t *at = bl_map_put(x->by_path, bl_path_key(path), x->n_paths, &added);
  if (!at) return bl_nomem(err);
  if (added) {
    BL_TRY(bl_grow(x->ctx, &x->paths, &x->cap_paths, x->n_paths, sizeof *x->paths, err));
    x->paths[x->n_paths++] = (path_slot){0};
  }
  *out = &x->paths[*at];
  return BL_OK;
}

static int64_t part_hash(int32_t spec_id, const bl_value *tuple, size_t n) {
  return (int64_t)(bl_tuple_hash(tuple, n) * 0x9E3779B97F4A7C15ull + (uint64_t)(uint32_t)spec_id);
}

static part_slot *part_find(const bl_delete_index *x, const bl_data_file *f) {
  const size_t *at = bl_imap_get(x->by_part, part_hash(f->spec_id, f->partition, f->n_partition));
  for (size_t i = at ? *at + 1 : 0; i; i = x->parts[i - 1].next) {
    part_slot *p = &x->parts[i - 1];
    if (p->spec_id == f->spec_id && bl_tuple_same(p->tuple, p->n_tuple, f->partition, f->n_partition)) return p;
  }
  return NULL;
}

static bl_status part_slot_of(bl_delete_index *x, const bl_data_file *f, part_slot **out, bl_error *err) {
  *out = part_find(x, f);
  if (*out) return BL_OK;
  BL_TRY(bl_grow(x->ctx, &x->parts, &x->cap_parts, x->n_parts, sizeof *x->parts, err));
  bool added;
  size_t *at = bl_imap_put(x->by_part, part_hash(f->spec_id, f->partition, f->n_partition), x->n_parts, &added);
  if (!at) return bl_nomem(err);
  part_slot *p = &x->parts[x->n_parts++];
  *p = (part_slot){.spec_id = f->spec_id, .tuple = f->partition, .n_tuple = f->n_partition};
  if (!added) {
    p->next = *at + 1;
    *at = x->n_parts - 1;
  }
  *out = p;
  return BL_OK;
}

static bl_status add_vector(bl_delete_index *x, const bl_manifest_entry *e, bl_error *err) {
  path_slot *p;
  if (!e->file.referenced_data_file.p)
    return bl_fail(err, BL_DAMAGED, "deletion vector: %s: the entry has no referenced_data_file", e->file.path.p);
  BL_TRY(path_slot_of(x, e->file.referenced_data_file, &p, err));
  if (p->vector)
    return bl_fail(err, BL_DAMAGED, "deletion vector: %s: two live vectors for this data file, in %s and %s",
                   e->file.referenced_data_file.p, p->vector->file.path.p, e->file.path.p);
  p->vector = e;
  return BL_OK;
}

static bool is_top_level(const bl_metadata *md, const bl_field *f) {
  for (size_t i = 0; i < md->n_schemas; i++) {
    const bl_type *root = &md->schemas[i].root;
    if (f >= root->fields && f < root->fields + root->n_fields) return true;
  }
  return false;
}

/* Inside structs writers disagree on whether a null of the struct counts as one of the field: no pruning there. */
static key_field find_key(const bl_metadata *md, const key_field *known, size_t n, int32_t id) {
  for (size_t i = 0; i < n; i++)
    if (known[i].id == id) return known[i];
  const bl_field *f = bl_metadata_any_field(md, id);
  return (key_field){.id = id, .field = f, .prunes = f && !bl_kind_is_nested(f->type.kind) && is_top_level(md, f)};
}

static bl_status add_key(bl_delete_index *x, const key_field *k, bl_error *err) {
  for (size_t i = 0; i < x->n_keys; i++)
    if (x->keys[i].id == k->id) return BL_OK;
  BL_TRY(bl_grow(x->ctx, &x->keys, &x->cap_keys, x->n_keys, sizeof *x->keys, err));
  x->keys[x->n_keys++] = *k;
  return BL_OK;
}

static bl_status add_equality(bl_delete_index *x, const bl_manifest_entry *e, bl_error *err) {
  if (e->file.n_equality_ids == 0)
    return bl_fail(err, BL_DAMAGED, "equality delete: %s: the entry has no equality_ids", e->file.path.p);
  for (size_t i = 0; i < e->file.n_equality_ids; i++) {
    key_field k = find_key(x->md, x->keys, x->n_keys, e->file.equality_ids[i]);
    if (!k.field)
      return bl_fail(err, BL_DAMAGED, "equality delete: %s: equality id %d is in no schema of the table",
                     e->file.path.p, e->file.equality_ids[i]);
    BL_TRY(add_key(x, &k, err));
  }
  const bl_partition_spec *spec = bl_metadata_spec(x->md, e->file.spec_id);
  if (spec && bl_spec_is_unpartitioned(spec)) return push(x->ctx, &x->global, e, err);
  part_slot *p;
  BL_TRY(part_slot_of(x, &e->file, &p, err));
  return push(x->ctx, &p->equality, e, err);
}

bl_status bl_delete_index_add(bl_delete_index *x, const bl_manifest_entry *e, bl_error *err) {
  x->count++;
  if (e->file.content == BL_FILE_EQUALITY_DELETES) return add_equality(x, e, err);
  if (e->file.content != BL_FILE_POSITION_DELETES)
    return bl_fail(err, BL_DAMAGED, "delete manifest: %s: a data file among the deletes", e->file.path.p);
  if (e->file.format == BL_FORMAT_PUFFIN) return add_vector(x, e, err);
  bl_str target = bl_delete_target(&e->file);
  if (target.p) {
    path_slot *p;
    BL_TRY(path_slot_of(x, target, &p, err));
    return push(x->ctx, &p->position, e, err);
  }
  part_slot *p;
  BL_TRY(part_slot_of(x, &e->file, &p, err));
  return push(x->ctx, &p->position, e, err);
}

static int by_sequence(const void *a, const void *b) {
  const bl_manifest_entry *x = *(const bl_manifest_entry *const *)a, *y = *(const bl_manifest_entry *const *)b;
  if (x->sequence_number != y->sequence_number) return x->sequence_number < y->sequence_number ? -1 : 1;
  return bl_str_cmp(x->file.path, y->file.path);
}

static void sort_list(entry_list *l) {
  bl_sort(l->items, l->n, sizeof *l->items, by_sequence);
}

bl_status bl_delete_index_seal(bl_delete_index *x, bl_error *err) {
  (void)err;
  for (size_t i = 0; i < x->n_paths; i++) sort_list(&x->paths[i].position);
  for (size_t i = 0; i < x->n_parts; i++) {
    sort_list(&x->parts[i].position);
    sort_list(&x->parts[i].equality);
  }
  sort_list(&x->global);
  return BL_OK;
}

/* First element whose sequence number is >= seq. */
static size_t lower_bound(const entry_list *l, int64_t seq) {
  size_t lo = 0, hi = l->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (l->items[mid]->sequence_number < seq) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static bool all_null(const bl_column_metrics *m, int64_t rows) {
  return m->nulls != BL_NONE && m->nulls == (m->values != BL_NONE ? m->values : rows);
}

/* Do the bounds prove that no value of one column is in both files? Float columns with NaN have no say. */
static bool ranges_apart(const bl_type *t, const bl_column_metrics *a, const bl_column_metrics *b) {
  bl_value alo, ahi, blo, bhi;
  if ((t->kind == BL_FLOAT || t->kind == BL_DOUBLE) && (a->nans != 0 || b->nans != 0)) return false;
  if (!a->lower.p || !a->upper.p || !b->lower.p || !b->upper.p) return false;
  if (!bl_value_from_bytes(t, a->lower, &alo) || !bl_value_from_bytes(t, a->upper, &ahi)) return false;
  if (!bl_value_from_bytes(t, b->lower, &blo) || !bl_value_from_bytes(t, b->upper, &bhi)) return false;
  if (bl_value_is_nan(&alo) || bl_value_is_nan(&ahi) || bl_value_is_nan(&blo) || bl_value_is_nan(&bhi)) return false;
  if (bl_value_cmp(&alo, &ahi) > 0 || bl_value_cmp(&blo, &bhi) > 0) return false; /* inverted: not to be trusted */
  return bl_value_cmp(&ahi, &blo) < 0 || bl_value_cmp(&bhi, &alo) < 0;
}

static bool may_match(const bl_metadata *md, const key_field *keys, size_t n_keys, const bl_data_file *del,
                      const bl_data_file *data) {
  for (size_t i = 0; i < del->n_equality_ids; i++) {
    const bl_column_metrics *d = bl_data_file_metrics(del, del->equality_ids[i]);
    const bl_column_metrics *r = d ? bl_data_file_metrics(data, del->equality_ids[i]) : NULL;
    if (!r) continue;
    key_field k = find_key(md, keys, n_keys, del->equality_ids[i]);
    if (!k.prunes) continue;
    bool nulls_meet = d->nulls != 0 && r->nulls != 0;
    if (nulls_meet) continue;
    if (all_null(d, del->record_count) || all_null(r, data->record_count)) return false;
    if (ranges_apart(&k.field->type, d, r)) return false;
  }
  return true;
}

bool bl_equality_may_match(const bl_metadata *md, const bl_data_file *del, const bl_data_file *data) {
  return may_match(md, NULL, 0, del, data);
}

static bl_status check_partition(const bl_manifest_entry *del, const bl_manifest_entry *data, bl_error *err) {
  const bl_data_file *x = &del->file, *y = &data->file;
  if (x->spec_id == y->spec_id && bl_tuple_same(x->partition, x->n_partition, y->partition, y->n_partition))
    return BL_OK;
  return bl_fail(err, BL_DAMAGED, "delete file: %s: its partition is not that of the data file that it names, %s",
                 x->path.p, y->path.p);
}

static bl_status take_vector(const bl_manifest_entry *v, const bl_manifest_entry *data, bl_file_deletes *out,
                             bl_error *err) {
  BL_TRY(check_partition(v, data, err));
  if (v->sequence_number < data->sequence_number)
    return bl_fail(
        err, BL_DAMAGED,
        "deletion vector: %s: its sequence number %lld is below that of the data file that it names, %s (%lld)",
        v->file.path.p, (long long)v->sequence_number, data->file.path.p, (long long)data->sequence_number);
  out->vector = v;
  return BL_OK;
}

/* May a position delete file without one target hold positions of this path, by its bounds of file_path? */
static bool may_name(const bl_data_file *del, bl_str path) {
  const bl_column_metrics *m = bl_data_file_metrics(del, BL_ID_DELETE_PATH);
  if (!m || !m->lower.p || !m->upper.p || bl_path_key(path).p != path.p || bl_path_key(m->lower).p != m->lower.p)
    return true;
  if (bl_str_cmp(m->lower, m->upper) > 0) return true;
  return bl_str_cmp(m->lower, path) <= 0 && bl_str_cmp(path, m->upper) <= 0;
}

/* The part of a list that reaches a data file by its sequence number, and how many of it statistics leave. */
typedef struct reach {
  const bl_manifest_entry **items;
  size_t n, taken;
} reach;

static reach reach_of(const entry_list *l, int64_t from_sequence) {
  size_t from = l ? lower_bound(l, from_sequence) : 0;
  return l && from < l->n ? (reach){.items = l->items + from, .n = l->n - from} : (reach){0};
}

static bool takes(const bl_delete_index *x, const bl_manifest_entry *e, const bl_data_file *data, bool equality) {
  return equality ? may_match(x->md, x->keys, x->n_keys, &e->file, data) : may_name(&e->file, data->path);
}

static void count(const bl_delete_index *x, reach *r, const bl_data_file *data, bool equality) {
  for (size_t i = 0; i < r->n; i++) r->taken += takes(x, r->items[i], data, equality);
}

static void copy(const bl_delete_index *x, const reach *r, const bl_data_file *data, bool equality,
                 const bl_manifest_entry **out) {
  for (size_t i = 0; i < r->n; i++)
    if (takes(x, r->items[i], data, equality)) *out++ = r->items[i];
}

/* The entries of two stretches that reach the data file, in arena memory for exactly these. share: where most of one
 * stretch and nothing of the other is taken, the stretch itself, with what statistics rule out: it takes no memory. */
static bl_status take_both(const bl_delete_index *x, bl_arena *a, reach one, reach two, const bl_data_file *data,
                           bool equality, bool share, const bl_manifest_entry ***out, size_t *n_out, bl_error *err) {
  count(x, &one, data, equality);
  count(x, &two, data, equality);
  *n_out = one.taken + two.taken;
  if (*n_out == 0) return BL_OK;
  const reach *only = two.taken == 0 ? &one : one.taken == 0 ? &two : NULL;
  if (share && only && only->taken > only->n / 2) {
    *out = only->items;
    *n_out = only->n;
    return BL_OK;
  }
  *out = bl_arena_alloc(a, *n_out, sizeof **out);
  if (!*out) return bl_nomem(err);
  copy(x, &one, data, equality, *out);
  copy(x, &two, data, equality, *out + one.taken);
  return BL_OK;
}

static bl_status look_up(const bl_delete_index *x, bl_arena *a, const bl_manifest_entry *data, bool share,
                         bl_file_deletes *out, bl_error *err) {
  *out = (bl_file_deletes){0};
  if (x->count == 0) return BL_OK;
  const size_t *at = bl_map_get(x->by_path, bl_path_key(data->file.path));
  const path_slot *ps = at ? &x->paths[*at] : NULL;
  const part_slot *pt = x->n_parts ? part_find(x, &data->file) : NULL;
  int64_t seq = data->sequence_number;
  if (ps && ps->vector) BL_TRY(take_vector(ps->vector, data, out, err));
  if (!out->vector) {
    reach named = reach_of(ps ? &ps->position : NULL, seq);
    for (size_t i = 0; i < named.n; i++) BL_TRY(check_partition(named.items[i], data, err));
    BL_TRY(take_both(x, a, named, reach_of(pt ? &pt->position : NULL, seq), &data->file, false, share, &out->position,
                     &out->n_position, err));
  }
  return take_both(x, a, reach_of(&x->global, seq + 1), reach_of(pt ? &pt->equality : NULL, seq + 1), &data->file, true,
                   share, &out->equality, &out->n_equality, err);
}

bl_status bl_delete_index_for(const bl_delete_index *x, bl_arena *a, const bl_manifest_entry *data,
                              bl_file_deletes *out, bl_error *err) {
  return look_up(x, a, data, false, out, err);
}

bl_status bl_delete_index_share(const bl_delete_index *x, bl_arena *a, const bl_manifest_entry *data,
                                bl_file_deletes *out, bl_error *err) {
  return look_up(x, a, data, true, out, err);
}

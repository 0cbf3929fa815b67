/* reach.c: see reach.h. Both directions keep groups of one (spec, partition), so that a manifest is weighed against
 * partitions, not against files.
 *
 * Sequence rules: position deletes and vectors apply to data of the same or a lower number, equality deletes to lower
 * ones. No live entry of a manifest is older than its min_sequence_number or newer than its sequence_number. */
#include "changes/reach.h"

#include "base/map.h"

/* ---- groups ---- */

typedef struct group {
  int32_t spec_id;
  const bl_value *tuple;
  size_t n_tuple;
  size_t next; /* index + 1 of one with the same hash, 0 = end */
  /* deletes: data up to these numbers is reached, INT64_MIN = none; files: the lowest number in wide */
  int64_t wide, named;
  size_t missing; /* named files still to be found */
} group;

typedef struct groups {
  bl_ctx *ctx;
  bl_imap *by_tuple;
  group *items;
  size_t n, cap;
} groups;

static bl_status groups_init(groups *g, bl_ctx *ctx, bl_error *err) {
  *g = (groups){.ctx = ctx};
  return bl_imap_new(ctx, &g->by_tuple, err);
}

static void groups_dispose(groups *g) {
  bl_imap_free(g->by_tuple);
  bl_free(g->ctx, g->items);
}

static int64_t tuple_hash(const bl_data_file *f) {
  return (int64_t)(bl_tuple_hash(f->partition, f->n_partition) * 0x9E3779B97F4A7C15ull +
                   (uint64_t)(uint32_t)f->spec_id);
}

static bool is_of(const group *g, const bl_data_file *f) {
  return g->spec_id == f->spec_id && bl_tuple_same(g->tuple, g->n_tuple, f->partition, f->n_partition);
}

/* *added: all its numbers are still to be set. */
static bl_status group_of(groups *g, const bl_data_file *f, size_t *out, bool *added, bl_error *err) {
  BL_TRY(bl_grow(g->ctx, &g->items, &g->cap, g->n, sizeof *g->items, err));
  size_t *head = bl_imap_put(g->by_tuple, tuple_hash(f), 0, NULL);
  if (!head) return bl_nomem(err);
  *added = false;
  for (size_t i = *head; i; i = g->items[i - 1].next) {
    *out = i - 1;
    if (is_of(&g->items[i - 1], f)) return BL_OK;
  }
  *added = true;
  *out = g->n;
  g->items[g->n++] = (group){.spec_id = f->spec_id,
                             .tuple = f->partition,
                             .n_tuple = f->n_partition,
                             .next = *head,
                             .wide = INT64_MIN,
                             .named = INT64_MIN};
  *head = g->n;
  return BL_OK;
}

static bool may_hold(const group *g, const bl_typed_specs *specs, const bl_manifest_file *m) {
  return g->spec_id == m->spec_id &&
         bl_manifest_may_hold(m, bl_typed_specs_get(specs, m->spec_id), g->tuple, g->n_tuple);
}

static void raise(int64_t *to, int64_t v) {
  if (v > *to) *to = v;
}

/* ---- from deletes to data manifests ---- */

/* A data file that a delete names, by side. */
typedef struct target {
  size_t group[2];
  bool missing[2];
} target;

struct bl_reach {
  bl_ctx *ctx;
  const bl_metadata *md;
  const bl_typed_specs *specs;
  groups groups;
  bl_map *by_path; /* index into targets */
  target *targets;
  size_t n_targets, cap_targets;
  size_t missing, missing_newer; /* of both sides; of the newer alone */
  int64_t everywhere;            /* equality deletes of unpartitioned specs reach data up to this number */
  bool equality;
};

bl_status bl_reach_new(bl_ctx *ctx, const bl_metadata *md, const bl_typed_specs *specs, bl_reach **out, bl_error *err) {
  *out = NULL;
  bl_reach *r = bl_calloc(ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  *r = (bl_reach){.ctx = ctx, .md = md, .specs = specs, .everywhere = INT64_MIN};
  bl_status st = groups_init(&r->groups, ctx, err);
  if (st == BL_OK) st = bl_map_new(ctx, &r->by_path, err);
  if (st != BL_OK) {
    bl_reach_free(r);
    return st;
  }
  *out = r;
  return BL_OK;
}

void bl_reach_free(bl_reach *r) {
  if (!r) return;
  groups_dispose(&r->groups);
  bl_map_free(r->by_path);
  bl_free(r->ctx, r->targets);
  bl_free(r->ctx, r);
}

static bl_status add_named(bl_reach *r, const bl_manifest_entry *e, bl_str path, size_t at, int side, bl_error *err) {
  bool added;
  BL_TRY(bl_grow(r->ctx, &r->targets, &r->cap_targets, r->n_targets, sizeof *r->targets, err));
  size_t *slot = bl_map_put(r->by_path, bl_path_key(path), r->n_targets, &added);
  if (!slot) return bl_nomem(err);
  if (added) r->targets[r->n_targets++] = (target){0};
  target *t = &r->targets[*slot];
  raise(&r->groups.items[at].named, e->sequence_number);
  if (t->missing[side]) return BL_OK;
  t->missing[side] = true;
  t->group[side] = at;
  r->groups.items[at].missing++;
  r->missing++;
  r->missing_newer += side == BL_NEWER;
  return BL_OK;
}

bl_status bl_reach_add(bl_reach *r, const bl_manifest_entry *e, int side, bl_error *err) {
  const bl_data_file *f = &e->file;
  bool equality = f->content == BL_FILE_EQUALITY_DELETES, added;
  const bl_partition_spec *spec = bl_metadata_spec(r->md, f->spec_id);
  size_t at;
  r->equality |= equality;
  if (equality && spec && bl_spec_is_unpartitioned(spec)) {
    raise(&r->everywhere, e->sequence_number - 1);
    return BL_OK;
  }
  BL_TRY(group_of(&r->groups, f, &at, &added, err));
  bl_str path = bl_delete_target(f);
  if (path.p) return add_named(r, e, path, at, side, err);
  raise(&r->groups.items[at].wide, equality ? e->sequence_number - 1 : e->sequence_number);
  return BL_OK;
}

void bl_reach_found(bl_reach *r, bl_str path, int side) {
  const size_t *slot = r->missing ? bl_map_get(r->by_path, bl_path_key(path)) : NULL;
  target *t = slot ? &r->targets[*slot] : NULL;
  if (!t || !t->missing[side]) return;
  t->missing[side] = false;
  r->groups.items[t->group[side]].missing--;
  r->missing--;
  r->missing_newer -= side == BL_NEWER;
}

bool bl_reach_missing(const bl_reach *r) {
  return r->missing > 0;
}

bool bl_reach_has_equality(const bl_reach *r) {
  return r->equality;
}

bool bl_reach_wide(const bl_reach *r, const bl_manifest_file *m) {
  if (m->min_sequence_number <= r->everywhere) return true;
  for (size_t i = 0; i < r->groups.n; i++) {
    const group *g = &r->groups.items[i];
    if (m->min_sequence_number <= g->wide && may_hold(g, r->specs, m)) return true;
  }
  return false;
}

bool bl_reach_named(const bl_reach *r, const bl_manifest_file *m) {
  for (size_t i = 0; r->missing && i < r->groups.n; i++) {
    const group *g = &r->groups.items[i];
    if (g->missing && m->min_sequence_number <= g->named && may_hold(g, r->specs, m)) return true;
  }
  return false;
}

bool bl_reach_stray(const bl_reach *r, const bl_manifest_file *m) {
  for (size_t i = 0; r->missing_newer && i < r->groups.n; i++)
    if (r->groups.items[i].missing && m->min_sequence_number <= r->groups.items[i].named) return true;
  return false;
}

/* ---- from data files to delete manifests ---- */

struct bl_cover {
  const bl_typed_specs *specs;
  groups groups; /* wide: the lowest number of the files */
  int64_t lowest;
  bool any;
};

bl_status bl_cover_new(bl_ctx *ctx, const bl_typed_specs *specs, bl_cover **out, bl_error *err) {
  *out = NULL;
  bl_cover *c = bl_calloc(ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  c->specs = specs;
  bl_status st = groups_init(&c->groups, ctx, err);
  if (st != BL_OK) {
    bl_free(ctx, c);
    return st;
  }
  *out = c;
  return BL_OK;
}

void bl_cover_free(bl_cover *c) {
  if (!c) return;
  bl_ctx *ctx = c->groups.ctx;
  groups_dispose(&c->groups);
  bl_free(ctx, c);
}

bl_status bl_cover_add(bl_cover *c, const bl_manifest_entry *data, bl_error *err) {
  size_t at;
  bool added;
  BL_TRY(group_of(&c->groups, &data->file, &at, &added, err));
  group *g = &c->groups.items[at];
  if (added || data->sequence_number < g->wide) g->wide = data->sequence_number;
  if (!c->any || data->sequence_number < c->lowest) c->lowest = data->sequence_number;
  c->any = true;
  return BL_OK;
}

bool bl_cover_may_meet(const bl_cover *c, const bl_manifest_file *m) {
  const bl_typed_spec *s = bl_typed_specs_get(c->specs, m->spec_id);
  if (!c->any || m->sequence_number < c->lowest) return false;
  if (m->sequence_number > c->lowest && s && bl_spec_is_unpartitioned(s->spec)) return true;
  for (size_t i = 0; i < c->groups.n; i++) {
    const group *g = &c->groups.items[i];
    if (m->sequence_number >= g->wide && may_hold(g, c->specs, m)) return true;
  }
  return false;
}

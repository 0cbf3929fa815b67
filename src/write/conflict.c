/* conflict.c: may a change still be made, after what others committed since it was staged?
 *
 * 1. An append that read nothing conflicts with nothing, but where it adds files that others wrote: those come once.
 * 2. A data file that the change removes, or deletes rows of, must still be live.
 * 3. Deletes that were added meanwhile must not be lost: where they touch a file that the change removes, it conflicts.
 * 4. Deletes of rows in one file are united, but a row that one of the two wrote anew (an update) must not be deleted
 * or written by the other: its new image would stay.
 * 5. A row that the change found to be as it wants it, for which it therefore writes neither row nor vector, must still
 *    be there.
 * 6. Serializable: a file that was added meanwhile must not hold rows that the change would have read. Files of a
 *    "replace" hold only rows that were there before. */
#include <stdio.h>

#include "base/map.h"
#include "scan/deletes.h"
#include "scan/plan.h"
#include "scan/typed_specs.h"
#include "table/refs.h"
#include "write/attempt.h"

typedef struct checking {
  bl_attempt *at;
  const bl_staged *s;
  const bl_metadata *md;
  bl_arena *arena;         /* of the snapshot in hand */
  const bl_snapshot *snap; /* what was committed meanwhile: one after the other */
  bl_map *removed;         /* path keys */
  bl_map *added;           /* the same, where they must be new; else empty */
  bl_map *vectors;         /* path key -> place in s->vectors */
  bl_map *kept;            /* path key -> place in s->kept */
  bl_posset **seen;        /* for each vector: those of its rows that others deleted by now */
  bl_typed_specs specs;
  bl_reading reading;
  bool has_reading;
  bl_deletes *deletes;
} checking;

static bl_status conflict(const checking *c, const bl_data_file *f, bl_error *err, const char *fmt, ...)
    BL_PRINTF(4, 5);
static bl_status conflict(const checking *c, const bl_data_file *f, bl_error *err, const char *fmt, ...) {
  char why[400];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return bl_fail(err, BL_CONFLICT, "conflict: %s: snapshot %lld (%.*s), %.*s: %s", c->at->base->name,
                 (long long)c->snap->id, BL_STR_ARG(bl_snapshot_operation(c->snap)), BL_STR_ARG(f->path), why);
}

static bool same_partition(const bl_data_file *a, const bl_data_file *b) {
  return a->spec_id == b->spec_id && bl_tuple_same(a->partition, a->n_partition, b->partition, b->n_partition);
}

/* ---- data files ---- */

static bool may_have_been_read(const checking *c, const bl_manifest_entry *e) {
  const bl_expr *filter = c->s->conflict_filter;
  const bl_typed_spec *spec = bl_typed_specs_get(&c->specs, e->file.spec_id);
  if (!filter) return true;
  if (spec && !bl_partition_may_match(filter, spec->spec, spec->types, c->s->conflict_schema, e->file.partition,
                                      e->file.n_partition))
    return false;
  return bl_metrics_may_match(filter, &e->file, c->s->conflict_schema, bl_entry_stats, &(bl_entry_told){e, &c->specs});
}

static bool is_in_replaced_partition(const checking *c, const bl_data_file *f) {
  for (size_t i = 0; i < c->s->n_data; i++)
    if (same_partition(&c->s->data[i], f)) return true;
  return false;
}

/* 6. */
static bl_status check_added_data(const checking *c, const bl_manifest_entry *e, bl_error *err) {
  bool replace = bl_str_is(bl_snapshot_operation(c->snap), "replace");
  if (bl_map_get(c->added, bl_path_key(e->file.path)))
    return conflict(c, &e->file, err, "it was added, as the change would");
  if (!c->s->reads_rows || c->s->isolation != BL_SERIALIZABLE || replace) return BL_OK;
  if (c->s->replaces_partitions && is_in_replaced_partition(c, &e->file))
    return conflict(c, &e->file, err, "it was added to a partition that the change replaces");
  if (!c->s->replaces_partitions && may_have_been_read(c, e))
    return conflict(c, &e->file, err, "it was added, and may hold rows that the change would have read");
  return BL_OK;
}

/* 2. */
static bl_status check_removed_data(const checking *c, const bl_manifest_entry *e, bl_error *err) {
  bl_str key = bl_path_key(e->file.path);
  if (bl_map_get(c->removed, key)) return conflict(c, &e->file, err, "it was removed, as the change would");
  if (bl_map_get(c->vectors, key))
    return conflict(c, &e->file, err, "it was removed, and the change deletes rows of it");
  if (bl_map_get(c->kept, key))
    return conflict(c, &e->file, err, "it was removed, and the change found rows in it as it wants them");
  return BL_OK;
}

/* ---- deletes ---- */

static bl_status copy_and(bl_ctx *ctx, const bl_posset *a, const bl_posset *b, bl_posset **out, bl_error *err) {
  bl_posset *rest = NULL;
  bl_status st;
  BL_GO(bl_posset_copy(ctx, a, &rest, err));
  BL_GO(bl_posset_andnot(rest, b, err));
  BL_GO(bl_posset_copy(ctx, a, out, err));
  st = bl_posset_andnot(*out, rest, err);
done:
  bl_posset_free(rest);
  return st;
}

static bl_status intersects(bl_ctx *ctx, const bl_posset *a, const bl_posset *b, int64_t *first, bl_error *err) {
  bl_posset *both = NULL;
  *first = -1;
  bl_status st = copy_and(ctx, a, b, &both, err);
  if (st == BL_OK) (void)bl_posset_next(both, 0, first, 1);
  bl_posset_free(both);
  return st;
}

/* 4. hit: rows of the change that this snapshot deleted. */
static bl_status check_hit(const checking *c, const bl_staged_vector *v, const bl_posset *hit, bl_error *err) {
  int64_t pos = -1;
  if (bl_posset_count(hit) == 0) return BL_OK;
  if (!bl_str_is(bl_snapshot_operation(c->snap), "delete")) {
    (void)bl_posset_next(hit, 0, &pos, 1);
    return conflict(c, &v->data->file, err, "row %lld may have been updated, and the change %s it", (long long)pos,
                    v->moved && bl_posset_has(v->moved, pos) ? "updates" : "deletes");
  }
  if (!v->moved) return BL_OK;
  BL_TRY(intersects(c->at->c->ctx, hit, v->moved, &pos, err));
  if (pos < 0) return BL_OK;
  return conflict(c, &v->data->file, err, "row %lld was deleted, and the change updates it", (long long)pos);
}

static bl_status check_same_file(checking *c, size_t i, const bl_manifest_entry *e, bl_error *err) {
  const bl_staged_vector *v = &c->s->vectors[i];
  const bl_file_deletes fd = {.vector = e};
  bl_posset *theirs = NULL, *hit = NULL;
  bl_ctx *ctx = c->at->c->ctx;
  bl_status st;
  BL_GO(bl_deletes_positions(c->deletes, &v->data->file, &fd, &theirs, err));
  BL_GO(copy_and(ctx, v->added, theirs, &hit, err));
  if (c->seen[i]) BL_GO(bl_posset_andnot(hit, c->seen[i], err));
  BL_GO(check_hit(c, v, hit, err));
  if (!c->seen[i]) BL_GO(bl_posset_new(ctx, &c->seen[i], err));
  st = bl_posset_or(c->seen[i], hit, err);
done:
  bl_posset_free(theirs);
  bl_posset_free(hit);
  return st;
}

/* 5. */
static bl_status check_kept(const checking *c, const bl_staged_kept *k, const bl_manifest_entry *e, bl_error *err) {
  const bl_file_deletes fd = {.vector = e};
  bl_posset *theirs = NULL;
  int64_t pos = -1;
  if (e->file.format == BL_FORMAT_PUFFIN) {
    BL_TRY(bl_deletes_positions(c->deletes, &k->data->file, &fd, &theirs, err));
    bl_status st = intersects(c->at->c->ctx, k->rows, theirs, &pos, err);
    bl_posset_free(theirs);
    if (st != BL_OK || pos < 0) return st;
  }
  return conflict(c, &k->data->file, err, "rows of it were deleted that the change found as it wants them");
}

/* May a delete that names no file apply to a data file? */
static bool may_apply(const checking *c, const bl_data_file *del, const bl_data_file *data) {
  const bl_partition_spec *spec = bl_metadata_spec(c->md, del->spec_id);
  bool equality = del->content == BL_FILE_EQUALITY_DELETES;
  bool everywhere = equality && spec && bl_spec_is_unpartitioned(spec);
  if (!everywhere && !same_partition(del, data)) return false;
  return !equality || bl_equality_may_match(c->md, del, data);
}

/* 3., 4., 5. */
static bl_status check_wide_delete(const checking *c, const bl_manifest_entry *e, bl_error *err) {
  for (size_t i = 0; i < c->s->n_removed; i++)
    if (may_apply(c, &e->file, &c->s->removed[i]->file))
      return conflict(c, &e->file, err, "it may delete rows of %.*s, which the change removes",
                      BL_STR_ARG(c->s->removed[i]->file.path));
  for (size_t i = 0; i < c->s->n_vectors; i++)
    if (c->s->vectors[i].moved && may_apply(c, &e->file, &c->s->vectors[i].data->file))
      return conflict(c, &e->file, err, "it may delete rows of %.*s, which the change updates",
                      BL_STR_ARG(c->s->vectors[i].data->file.path));
  for (size_t i = 0; i < c->s->n_kept; i++)
    if (may_apply(c, &e->file, &c->s->kept[i].data->file))
      return conflict(c, &e->file, err, "it may delete rows of %.*s that the change found as it wants them",
                      BL_STR_ARG(c->s->kept[i].data->file.path));
  return BL_OK;
}

static bl_status check_added_delete(checking *c, const bl_manifest_entry *e, bl_error *err) {
  bl_str target = e->file.content == BL_FILE_POSITION_DELETES ? bl_delete_target(&e->file) : BL_STR_NONE;
  if (!target.p) return check_wide_delete(c, e, err);
  bl_str key = bl_path_key(target);
  if (bl_map_get(c->removed, key))
    return conflict(c, &e->file, err, "it deletes rows of %.*s, which the change removes", BL_STR_ARG(target));
  const size_t *k = bl_map_get(c->kept, key), *i = bl_map_get(c->vectors, key);
  if (k) BL_TRY(check_kept(c, &c->s->kept[*k], e, err));
  if (!i) return BL_OK;
  if (e->file.format == BL_FORMAT_PUFFIN) return check_same_file(c, *i, e, err);
  return c->s->vectors[*i].moved
             ? conflict(c, &e->file, err, "it deletes rows of %.*s, which the change updates", BL_STR_ARG(target))
             : BL_OK;
}

/* ---- snapshots ---- */

static bl_status check_entry(checking *c, const bl_manifest_entry *e, bl_error *err) {
  if (e->status == BL_EXISTING || e->snapshot_id != c->snap->id) return BL_OK;
  if (e->file.content != BL_FILE_DATA) return e->status == BL_ADDED ? check_added_delete(c, e, err) : BL_OK;
  return e->status == BL_ADDED ? check_added_data(c, e, err) : check_removed_data(c, e, err);
}

static bl_status check_snapshot(checking *c, bl_error *err) {
  bl_manifest_file *ms;
  size_t n;
  BL_TRY(bl_table_manifests(c->at->base, c->snap, c->arena, &ms, &n, err));
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *es;
    size_t k;
    if (ms[i].added_snapshot_id != BL_NONE && ms[i].added_snapshot_id != c->snap->id) continue;
    BL_TRY(bl_table_manifest_entries(c->at->base, &ms[i], true, c->arena, &es, &k, err));
    for (size_t j = 0; j < k; j++) BL_TRY(check_entry(c, &es[j], err));
  }
  return BL_OK;
}

static bl_status check_chain(checking *c, const bl_chain *chain, bl_error *err) {
  for (size_t i = 0; i < chain->n; i++) {
    c->snap = chain->items[i];
    BL_TRY(bl_arena_new(c->at->c->ctx, &c->arena, err));
    bl_status st = check_snapshot(c, err);
    bl_arena_free(c->arena);
    if (st != BL_OK) return st;
  }
  return BL_OK;
}

/* What was committed between the staging base and the head. */
static bl_status find_chain(const bl_attempt *at, bl_chain *out, bl_error *err) {
  const bl_staged *s = at->c->s;
  const bl_metadata *md = at->base->metadata;
  const bl_snapshot *from = NULL;
  *out = (bl_chain){0};
  if (s->base_snapshot_id != BL_NONE) {
    from = bl_metadata_snapshot(md, s->base_snapshot_id);
    if (!from || !at->parent || !bl_metadata_is_ancestor(md, from->id, at->parent->id))
      return bl_fail(err, BL_CONFLICT,
                     "conflict: %s: snapshot %lld, which the change rests on, is no longer in the history of %.*s",
                     at->base->name, (long long)s->base_snapshot_id, BL_STR_ARG(at->c->ref));
  }
  if (!at->parent) return BL_OK;
  BL_TRY(bl_chain_between(at->c->ctx, md, from, at->parent, out, err));
  if (out->complete) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "conflict: %s: snapshots since the change was staged have expired", at->base->name);
}

static bl_status checking_init(checking *c, bl_attempt *at, bl_error *err) {
  const bl_staged *s = at->c->s;
  *c = (checking){.at = at, .s = s, .md = at->base->metadata};
  BL_TRY(bl_map_new(at->c->ctx, &c->removed, err));
  BL_TRY(bl_map_new(at->c->ctx, &c->vectors, err));
  BL_TRY(bl_map_new(at->c->ctx, &c->kept, err));
  BL_TRY(bl_map_new(at->c->ctx, &c->added, err));
  for (size_t i = 0; s->new_paths && i < s->n_data; i++)
    if (!bl_map_put(c->added, bl_path_key(s->data[i].path), i, NULL)) return bl_nomem(err);
  for (size_t i = 0; i < s->n_removed; i++)
    if (!bl_map_put(c->removed, bl_path_key(s->removed[i]->file.path), i, NULL)) return bl_nomem(err);
  for (size_t i = 0; i < s->n_vectors; i++)
    if (!bl_map_put(c->vectors, bl_path_key(s->vectors[i].data->file.path), i, NULL)) return bl_nomem(err);
  for (size_t i = 0; i < s->n_kept; i++)
    if (!bl_map_put(c->kept, bl_path_key(s->kept[i].data->file.path), i, NULL)) return bl_nomem(err);
  c->seen = bl_arena_calloc(at->arena, s->n_vectors, sizeof *c->seen);
  if (!c->seen) return bl_nomem(err);
  BL_TRY(bl_typed_specs_make(at->arena, c->md, &c->specs, err));
  BL_TRY(bl_reading_init(&c->reading, at->base, err));
  c->has_reading = true;
  return bl_deletes_new(&c->reading, &c->deletes, err);
}

static void checking_dispose(checking *c) {
  for (size_t i = 0; c->seen && i < c->s->n_vectors; i++) bl_posset_free(c->seen[i]);
  bl_deletes_free(c->deletes);
  if (c->has_reading) bl_reading_dispose(&c->reading);
  bl_map_free(c->removed);
  bl_map_free(c->vectors);
  bl_map_free(c->kept);
  bl_map_free(c->added);
}

bl_status bl_attempt_validate(bl_attempt *at, bl_error *err) {
  const bl_staged *s = at->c->s;
  bl_chain chain = {0};
  checking c = {0};
  int64_t head = at->parent ? at->parent->id : BL_NONE;
  bool rests = s->reads_rows || s->n_removed || s->n_vectors || s->n_kept || s->new_paths;
  if (head == s->base_snapshot_id || !rests) return BL_OK; /* 1. */
  bl_status st = find_chain(at, &chain, err);
  if (st == BL_OK) st = checking_init(&c, at, err);
  if (st == BL_OK) st = check_chain(&c, &chain, err);
  checking_dispose(&c);
  bl_chain_dispose(at->c->ctx, &chain);
  return st;
}

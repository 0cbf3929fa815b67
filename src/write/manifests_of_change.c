/* manifests_of_change.c: the data manifests of a snapshot: those of the parent, without the files that go, and those of
 * the files that come.
 *
 * A manifest of the parent that holds a file that goes is written again: that file as DELETED, the other live files as
 * EXISTING, all with the numbers and row ids that they have by now (W2); what was DELETED before is left out. The new
 * manifest stands for the old one in every later attempt in which the list still has that one. */
#include "write/attempt.h"

#include "scan/typed_specs.h"

/* ---- entries ---- */

static bl_manifest_entry *resolved(bl_arena *a, const bl_manifest_entry *e, bl_entry_status status) {
  bl_manifest_entry *out = bl_arena_alloc(a, 1, sizeof *out);
  if (!out) return NULL;
  *out = *e;
  out->status = status;
  out->stored_first_row_id = e->file.first_row_id;
  return out;
}

bl_manifest_entry *bl_entry_existing(bl_arena *a, const bl_manifest_entry *e) {
  return resolved(a, e, BL_EXISTING);
}

static bl_manifest_entry *deleted_entry(const bl_committing *c, const bl_manifest_entry *e) {
  bl_manifest_entry *out = resolved(c->arena, e, BL_DELETED);
  if (out) out->snapshot_id = c->snapshot_id;
  return out;
}

/* ---- a manifest written again ---- */

static const bl_rewrite *find_rewrite(const bl_committing *c, const bl_manifest_file *m, uint64_t dropped) {
  for (size_t i = 0; i < c->n_rewrites; i++) {
    const bl_rewrite *r = &c->rewrites[i];
    if (r->first_row_id == m->first_row_id && r->dropped == dropped && bl_str_eq(r->path, m->path)) return r;
  }
  return NULL;
}

static bl_status remember_rewrite(bl_committing *c, const bl_manifest_file *m, uint64_t dropped, const bl_made *made,
                                  bl_error *err) {
  BL_TRY(bl_grow(c->ctx, &c->rewrites, &c->cap_rewrites, c->n_rewrites, sizeof *c->rewrites, err));
  bl_rewrite *r = &c->rewrites[c->n_rewrites];
  *r = (bl_rewrite){bl_arena_str(c->arena, m->path), m->first_row_id, dropped, made};
  if (!r->path.p) return bl_nomem(err);
  c->n_rewrites++;
  return BL_OK;
}

/* The entries live as long as the commit: read into its arena. */
static bl_status write_again(bl_attempt *at, const bl_manifest_file *m, const bool *goes, uint64_t dropped,
                             const bl_made **out, bl_error *err) {
  bl_committing *c = at->c;
  bl_manifest_entry *es;
  size_t n, k = 0;
  bl_made *made;
  BL_TRY(bl_table_manifest_entries(at->base, m, true, c->arena, &es, &n, err));
  const bl_manifest_entry **kept = bl_arena_alloc(c->arena, n, sizeof *kept);
  if (!kept) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    if (es[i].status == BL_DELETED) continue;
    kept[k] = goes[i] ? deleted_entry(c, &es[i]) : bl_entry_existing(c->arena, &es[i]);
    if (!kept[k++]) return bl_nomem(err);
  }
  BL_TRY(bl_made_new(at, m->spec_id, m->content, kept, k, &made, err));
  *out = made;
  return remember_rewrite(c, m, dropped, made, err);
}

bl_status bl_manifest_without(bl_attempt *at, bl_lines *lines, const bl_manifest_file *m, const bool *goes, size_t n,
                              bl_error *err) {
  uint64_t dropped = bl_hash(goes, n * sizeof *goes);
  const bl_rewrite *r = find_rewrite(at->c, m, dropped);
  const bl_made *made = r ? r->made : NULL;
  if (!made) BL_TRY(write_again(at, m, goes, dropped, &made, err));
  at->counts.manifests_replaced++;
  return bl_lines_add(at, lines, &made->file, made, err);
}

/* ---- which files go ---- */

/* The staged removals by path; several of one path are told apart by their sequence number. */
typedef struct removals {
  bl_attempt *at;
  bl_map *by_path; /* place of the first in s->removed */
  size_t *next;    /* of the same path; SIZE_MAX: none */
  bool *found;
  size_t left; /* not yet found */
  bl_typed_specs specs;
  bool **goes; /* of each manifest: its entries that go; NULL: it was not read */
  bool *any;
  size_t *n;
} removals;

static bl_status removals_init(removals *r, bl_attempt *at, bl_error *err) {
  const bl_staged *s = at->c->s;
  *r = (removals){.at = at,
                  .left = s->n_removed,
                  .next = bl_arena_alloc(at->arena, s->n_removed, sizeof *r->next),
                  .found = bl_arena_calloc(at->arena, s->n_removed, sizeof *r->found),
                  .goes = bl_arena_calloc(at->arena, at->n_manifests, sizeof *r->goes),
                  .any = bl_arena_calloc(at->arena, at->n_manifests, sizeof *r->any),
                  .n = bl_arena_calloc(at->arena, at->n_manifests, sizeof *r->n)};
  if (!r->next || !r->found || !r->goes || !r->any || !r->n) return bl_nomem(err);
  BL_TRY(bl_map_new(at->c->ctx, &r->by_path, err));
  BL_TRY(bl_typed_specs_make(at->arena, at->base->metadata, &r->specs, err));
  for (size_t i = 0; i < s->n_removed; i++) {
    bool added;
    size_t *first = bl_map_put(r->by_path, s->removed[i]->file.path, i, &added);
    if (!first) return bl_nomem(err);
    r->next[i] = added ? SIZE_MAX : *first;
    *first = i;
  }
  return BL_OK;
}

/* Does a live entry go? It is then ticked off. */
static bool takes(removals *r, const bl_manifest_entry *e) {
  const size_t *first = bl_map_get(r->by_path, e->file.path);
  for (size_t i = first ? *first : SIZE_MAX; i != SIZE_MAX; i = r->next[i]) {
    const bl_manifest_entry *x = r->at->c->s->removed[i];
    if (r->found[i] || x->sequence_number != e->sequence_number) continue;
    r->found[i] = true;
    r->left--;
    return true;
  }
  return false;
}

/* Can the manifest hold a file that goes, as far as its list entry tells? */
static bool may_hold_any(const removals *r, const bl_manifest_file *m) {
  const bl_staged *s = r->at->c->s;
  bool numbered = r->at->base->metadata->format_version > 1 && m->sequence_number > 0;
  if (!bl_manifest_may_live(m)) return false;
  const bl_typed_spec *spec = bl_typed_specs_get(&r->specs, m->spec_id);
  for (size_t i = 0; i < s->n_removed; i++) {
    const bl_manifest_entry *e = s->removed[i];
    if (r->found[i] || e->file.spec_id != m->spec_id) continue;
    if (numbered && (e->sequence_number < m->min_sequence_number || e->sequence_number > m->sequence_number)) continue;
    if (bl_manifest_may_hold(m, spec, e->file.partition, e->file.n_partition)) return true;
  }
  return false;
}

static bl_status look_into(removals *r, size_t k, bl_error *err) {
  bl_attempt *at = r->at;
  bl_manifest_entry *es;
  BL_TRY(bl_table_manifest_entries(at->base, &at->manifests[k], false, at->arena, &es, &r->n[k], err));
  r->goes[k] = bl_arena_calloc(at->arena, r->n[k] + 1, sizeof **r->goes);
  if (!r->goes[k]) return bl_nomem(err);
  for (size_t i = 0; i < r->n[k]; i++) {
    if (es[i].status == BL_DELETED || !takes(r, &es[i])) continue;
    r->any[k] = r->goes[k][i] = true;
    BL_TRY(bl_count_file(at, &es[i].file, false, err));
  }
  return BL_OK;
}

/* First where the list says that files may be, then, for lists that are wrong, everywhere. */
static bl_status look_everywhere(removals *r, bl_error *err) {
  for (int pass = 0; pass < 2 && r->left; pass++)
    for (size_t k = 0; k < r->at->n_manifests && r->left; k++) {
      const bl_manifest_file *m = &r->at->manifests[k];
      if (m->content != BL_MANIFEST_DATA || r->goes[k] || (pass == 0 && !may_hold_any(r, m))) continue;
      BL_TRY(look_into(r, k, err));
    }
  return BL_OK;
}

static bl_status emit(removals *r, bl_error *err) {
  bl_attempt *at = r->at;
  for (size_t k = 0; k < at->n_manifests; k++) {
    const bl_manifest_file *m = &at->manifests[k];
    if (m->content != BL_MANIFEST_DATA) continue;
    if (r->any[k]) BL_TRY(bl_manifest_without(at, &at->data, m, r->goes[k], r->n[k], err));
    else BL_TRY(bl_lines_add(at, &at->data, m, NULL, err));
  }
  return BL_OK;
}

static bl_status check_all_found(const removals *r, bl_error *err) {
  const bl_staged *s = r->at->c->s;
  for (size_t i = 0; i < s->n_removed; i++)
    if (!r->found[i])
      return bl_fail(err, BL_CONFLICT, "a file that the change removes is no longer in the table: %.*s",
                     BL_STR_ARG(s->removed[i]->file.path));
  return BL_OK;
}

static bl_status filter_data(bl_attempt *at, bl_error *err) {
  removals r;
  bl_status st;
  BL_GO(removals_init(&r, at, err));
  BL_GO(look_everywhere(&r, err));
  BL_GO(check_all_found(&r, err));
  st = emit(&r, err);
done:
  bl_map_free(r.by_path);
  return st;
}

/* ---- the files that come ---- */

static bl_status added_entries(bl_committing *c, const bl_manifest_entry ***out, bl_error *err) {
  const bl_staged *s = c->s;
  bl_manifest_entry *es = bl_arena_calloc(c->arena, s->n_data, sizeof *es);
  *out = bl_arena_alloc(c->arena, s->n_data, sizeof **out);
  if (!es || !*out) return bl_nomem(err);
  for (size_t i = 0; i < s->n_data; i++) {
    es[i] = (bl_manifest_entry){.status = BL_ADDED,
                                .snapshot_id = c->snapshot_id,
                                .sequence_number = s->data_sequence ? s->data_sequence[i] : BL_NONE,
                                .file_sequence_number = BL_NONE,
                                .stored_first_row_id = BL_NONE, /* W1 */
                                .file = s->data[i]};
    (*out)[i] = &es[i];
  }
  return BL_OK;
}

static bl_status add_data(bl_attempt *at, bl_error *err) {
  bl_committing *c = at->c;
  if (!c->has_added) {
    const bl_manifest_entry **es;
    BL_TRY(added_entries(c, &es, err));
    BL_TRY(bl_made_added(at, BL_MANIFEST_DATA, es, c->s->n_data, &c->added, &c->n_added, err));
    c->has_added = true;
  }
  for (size_t i = 0; i < c->s->n_data; i++) BL_TRY(bl_count_file(at, &c->s->data[i], true, err));
  for (size_t i = 0; i < c->n_added; i++) BL_TRY(bl_lines_add(at, &at->data, &c->added[i]->file, c->added[i], err));
  return BL_OK;
}

bl_status bl_attempt_manifests(bl_attempt *at, bl_error *err) {
  BL_TRY(add_data(at, err));
  BL_TRY(filter_data(at, err));
  return bl_attempt_deletes(at, err);
}

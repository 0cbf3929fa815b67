/* staged_commit.c: changes that were staged by several processes, committed as one.
 *
 * The ids of their documents are kept in the snapshot (bergline.staged-ids). What a branch holds is not committed to it
 * again; of several that are committed together it may hold all or none. */
#include "write/attempt.h"

/* ---- once ---- */

/* Count those of `wanted` (id -> 1 where it was found before) that the snapshot holds. */
static size_t find_ids(const bl_snapshot *s, bl_map *wanted) {
  size_t held = 0;
  for (bl_str ids = bl_pairs_get(&s->summary, BL_STAGED_IDS); ids.n;) {
    size_t *found = bl_map_get(wanted, bl_staged_next_id(&ids));
    if (!found || *found) continue;
    *found = 1;
    held++;
  }
  return held;
}

static size_t find_held(const bl_attempt *at, const char *wap_id, bl_map *wanted) {
  const bl_metadata *md = at->base->metadata;
  const bl_snapshot *s = at->parent;
  size_t held = 0;
  for (size_t steps = 0; s && steps < md->n_snapshots; steps++, s = bl_metadata_parent(md, s))
    held += find_ids(s, wanted);
  for (size_t i = 0; wap_id && i < md->n_snapshots; i++)
    if (bl_pairs_is(&md->snapshots[i].summary, "wap.id", bl_str_of(wap_id)))
      held += find_ids(&md->snapshots[i], wanted);
  return held;
}

bl_status bl_staged_is_held(const bl_attempt *at, const char *wap_id, bool *yes, bl_error *err) {
  const bl_staged *s = at->c->s;
  bl_map *wanted = NULL;
  bl_status st;
  *yes = false;
  if (!s->n_ids) return BL_OK;
  BL_GO(bl_map_new(s->ctx, &wanted, err));
  for (size_t i = 0; i < s->n_ids; i++)
    if (!bl_map_put(wanted, s->ids[i], 0, NULL)) BL_GO(bl_nomem(err));
  size_t held = find_held(at, wap_id, wanted);
  *yes = held == s->n_ids;
  if (held && !*yes)
    st = bl_fail(err, BL_CONFLICT,
                 "staged changes: %zu of %zu are in %.*s of %s already: the others are committed alone", held, s->n_ids,
                 BL_STR_ARG(at->c->ref), at->base->name);
done:
  bl_map_free(wanted);
  return st;
}

/* Is the id none of the first n? */
static bl_status is_new(const bl_staged *s, size_t n, bl_str id, bl_error *err) {
  for (size_t k = 0; k < n; k++)
    if (bl_str_eq(id, s->ids[k]))
      return bl_fail(err, BL_USAGE, "staged changes: one is given twice: %.*s", BL_STR_ARG(id));
  return BL_OK;
}

static bl_status note_ids(bl_staged *s, bl_error *err) {
  bl_buf b;
  bl_status st = BL_OK;
  bl_buf_init(&b, s->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < s->n_ids && st == BL_OK; i++) {
    st = is_new(s, i, s->ids[i], err);
    bl_buf_printf(&b, "%s%.*s", i ? "," : "", BL_STR_ARG(s->ids[i]));
  }
  if (st == BL_OK) st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = bl_staged_note(s, BL_STAGED_IDS, (bl_str){(const char *)b.p, b.n}, err);
  bl_buf_free(&b);
  return st;
}

/* ---- as one ---- */

/* Documents on their way into the first of them. */
typedef struct absorbing {
  bl_table *t;
  const bl_write_options *o;
  bl_staged *into;
  bl_map *removed, *added; /* path keys of into's files; the place of one that goes */
  bl_expr any;             /* of the filters */
} absorbing;

static bl_status clash(const absorbing *x, const bl_data_file *f, const char *why, bl_error *err) {
  return bl_fail(err, BL_CONFLICT, "staged changes: %s: %.*s: %s", x->t->name, BL_STR_ARG(f->path), why);
}

/* Of rows that neither has written anew, both may have taken the same file. */
static bl_status absorb_removed(absorbing *x, const bl_staged *from, bl_error *err) {
  bl_staged *into = x->into;
  size_t before = into->n_removed;
  for (size_t i = 0; i < from->n_removed; i++) {
    const bl_manifest_entry *e = from->removed[i];
    const size_t *at = bl_map_get(x->removed, bl_path_key(e->file.path));
    bool both = at && *at < before;
    if (both && (into->keeps_rows || from->keeps_rows))
      return clash(x, &e->file, "two of them remove it, and keep rows of it", err);
    if (bl_staged_vector_find(into, e->file.path))
      return clash(x, &e->file, "one removes it, another deletes rows of it", err);
    if (both && into->removed[*at]->sequence_number == e->sequence_number) continue;
    BL_TRY(bl_staged_remove(into, e, err));
    const bl_data_file *copy = &into->removed[into->n_removed - 1]->file;
    if (!bl_map_put(x->removed, bl_path_key(copy->path), into->n_removed - 1, NULL)) return bl_nomem(err);
  }
  return BL_OK;
}

static bl_status have_one_row(const bl_posset *a, const bl_posset *b, bl_ctx *ctx, bool *yes, bl_error *err) {
  bl_posset *rest = NULL;
  *yes = false;
  if (!a || !b) return BL_OK;
  BL_TRY(bl_posset_copy(ctx, a, &rest, err));
  bl_status st = bl_posset_andnot(rest, b, err);
  *yes = st == BL_OK && bl_posset_count(rest) < bl_posset_count(a);
  bl_posset_free(rest);
  return st;
}

/* The sets move over. Deletes of one file are united, but a row that one has written anew. */
static bl_status absorb_vector(absorbing *x, bl_staged_vector *v, bl_error *err) {
  const bl_staged_vector *there = bl_staged_vector_find(x->into, v->data->file.path);
  bl_posset *added = v->added, *moved = v->moved;
  bool mine = false, theirs = false;
  if (bl_map_get(x->removed, bl_path_key(v->data->file.path)))
    return clash(x, &v->data->file, "one removes it, another deletes rows of it", err);
  if (there) BL_TRY(have_one_row(there->moved, added, x->t->ctx, &theirs, err));
  if (there) BL_TRY(have_one_row(moved, there->added, x->t->ctx, &mine, err));
  if (mine || theirs) return clash(x, &v->data->file, "one updates a row, another updates or deletes it, too", err);
  v->added = v->moved = NULL;
  return bl_staged_vector_add(x->into, v->data, added, moved, err);
}

/* A row that one leaves because it is as it wants it must not be another's. */
static bl_status check_kept(const absorbing *x, const bl_staged *keeps, const bl_staged *other, const bl_map *removed,
                            bl_error *err) {
  for (size_t i = 0; i < keeps->n_kept; i++) {
    const bl_data_file *f = &keeps->kept[i].data->file;
    const bl_staged_vector *v = bl_staged_vector_find(other, f->path);
    bool both = false;
    if (v) BL_TRY(have_one_row(keeps->kept[i].rows, v->added, x->t->ctx, &both, err));
    if (both || bl_map_get(removed, bl_path_key(f->path)))
      return clash(x, f, "one found rows of it as it wants them, another deletes or updates them", err);
  }
  return BL_OK;
}

static bl_status check_kept_of_into(const absorbing *x, const bl_staged *from, bl_error *err) {
  bl_map *removed;
  if (!x->into->n_kept) return BL_OK;
  BL_TRY(bl_map_new(x->t->ctx, &removed, err));
  bl_status st = BL_OK;
  for (size_t i = 0; i < from->n_removed && st == BL_OK; i++)
    if (!bl_map_put(removed, bl_path_key(from->removed[i]->file.path), i, NULL)) st = bl_nomem(err);
  if (st == BL_OK) st = check_kept(x, x->into, from, removed, err);
  bl_map_free(removed);
  return st;
}

/* The sets move over. */
static bl_status absorb_kept(absorbing *x, bl_staged *from, bl_error *err) {
  BL_TRY(check_kept(x, from, x->into, x->removed, err));
  BL_TRY(check_kept_of_into(x, from, err));
  for (size_t i = 0; i < from->n_kept; i++) {
    bl_posset *rows = from->kept[i].rows;
    from->kept[i].rows = NULL;
    BL_TRY(bl_staged_keep(x->into, from->kept[i].data, rows, err));
  }
  return BL_OK;
}

static bl_status absorb_counts(bl_staged_counts *into, const bl_staged_counts *from, bl_error *err) {
  if (bl_add64(into->rows_inserted, from->rows_inserted, &into->rows_inserted) &&
      bl_add64(into->rows_updated, from->rows_updated, &into->rows_updated) &&
      bl_add64(into->rows_deleted, from->rows_deleted, &into->rows_deleted) &&
      bl_add64(into->rows_unchanged, from->rows_unchanged, &into->rows_unchanged))
    return BL_OK;
  return bl_fail(err, BL_USAGE, "staged changes: their counts of rows are too large");
}

static bl_status absorb_added(absorbing *x, const bl_staged *from, bl_error *err) {
  bl_staged *into = x->into;
  for (size_t i = 0; i < from->n_data; i++) {
    bool is_new;
    BL_TRY(bl_staged_add_data(into, &from->data[i], err));
    bl_str path = into->data[into->n_data - 1].path;
    if (!bl_map_put(x->added, bl_path_key(path), 0, &is_new)) return bl_nomem(err);
    if (!is_new && (into->new_paths || from->new_paths)) return clash(x, &from->data[i], "two of them add it", err);
  }
  return BL_OK;
}

static bl_status absorb_files(absorbing *x, bl_staged *from, bl_error *err) {
  BL_TRY(absorb_kept(x, from, err));
  BL_TRY(absorb_added(x, from, err));
  BL_TRY(absorb_removed(x, from, err));
  for (size_t i = 0; i < from->n_vectors; i++) BL_TRY(absorb_vector(x, &from->vectors[i], err));
  for (size_t i = 0; i < from->n_files; i++) BL_TRY(bl_staged_file_written(x->into, from->files[i], err));
  return BL_OK;
}

/* A key that both have keeps its first value. */
static bl_status absorb_summary(bl_staged *into, const bl_staged *from, bl_error *err) {
  for (size_t i = 0; i < from->summary.n; i++)
    if (!bl_pairs_get(&into->summary, from->summary.items[i].key.p).p)
      BL_TRY(bl_staged_note(into, from->summary.items[i].key.p, from->summary.items[i].value, err));
  return BL_OK;
}

static bool rests_on_rows(const bl_staged *s) {
  return s->reads_rows || s->n_removed || s->n_vectors || s->n_kept;
}

static bool is_before(const bl_metadata *md, int64_t a, int64_t b) {
  return a == BL_NONE || (b != BL_NONE && bl_metadata_is_ancestor(md, a, b));
}

/* What is looked at for conflicts begins where the work did. */
static bl_status absorb_base(absorbing *x, const bl_staged *from, bl_error *err) {
  bl_staged *into = x->into;
  bool into_rows = rests_on_rows(into), from_rows = rests_on_rows(from);
  if (into->base_snapshot_id == from->base_snapshot_id || !(from_rows || from->new_paths)) return BL_OK;
  if (!into_rows && !into->new_paths) {
    into->base_snapshot_id = from->base_snapshot_id;
    return BL_OK;
  }
  if (into_rows || from_rows)
    return bl_fail(err, BL_USAGE, "staged changes rest on different snapshots: %lld and %lld",
                   (long long)into->base_snapshot_id, (long long)from->base_snapshot_id);
  if (is_before(x->t->metadata, from->base_snapshot_id, into->base_snapshot_id))
    into->base_snapshot_id = from->base_snapshot_id;
  return BL_OK;
}

/* Rows that either has read. The filters of all are alternatives. */
static void absorb_filter(absorbing *x, bl_staged *from) {
  bl_staged *into = x->into;
  const bl_expr *f = from->conflict_filter;
  if (!from->reads_rows) return;
  if (!into->reads_rows) {
    into->isolation = from->isolation;
    into->conflict_filter = f;
    into->conflict_schema = from->conflict_schema;
  } else if (!f || !into->conflict_filter || into->conflict_schema->id != from->conflict_schema->id) {
    into->conflict_filter = NULL;
  } else {
    if (into->conflict_filter != &x->any) x->any.args[x->any.n_args++] = (bl_expr *)into->conflict_filter;
    x->any.args[x->any.n_args++] = (bl_expr *)f;
    into->conflict_filter = &x->any;
  }
  if (from->isolation == BL_SERIALIZABLE) into->isolation = BL_SERIALIZABLE;
  into->reads_rows = true;
}

static bl_status agree(const char *given, bl_str a, bl_str b, const char *what, bl_error *err) {
  if (given || (!a.p && !b.p) || (a.p && b.p && bl_str_eq(a, b))) return BL_OK;
  return bl_fail(err, BL_USAGE, "staged changes: their %s differ: %s and %s: say which", what, a.p ? a.p : "none",
                 b.p ? b.p : "none");
}

static bl_status check_alike(const absorbing *x, const bl_staged *from, bl_error *err) {
  const bl_staged *into = x->into;
  if (into->data_sequence || from->data_sequence)
    return bl_fail(err, BL_UNSUPPORTED, "staged changes that keep sequence numbers are committed one by one");
  if (into->heeds_position && from->heeds_position)
    return bl_fail(err, BL_UNSUPPORTED, "staged changes of a source's events are committed one by one");
  if (into->replaces_partitions != from->replaces_partitions)
    return bl_fail(err, BL_USAGE, "staged changes: some replace partitions, and some do not");
  BL_TRY(agree(x->o->ref, into->branch, from->branch, "branches", err));
  BL_TRY(agree(x->o->batch_id, into->batch_id, from->batch_id, "batch ids", err));
  return agree(x->o->wap_id, into->wap_id, from->wap_id, "WAP ids", err);
}

static bl_status absorb(absorbing *x, bl_staged *from, bl_error *err) {
  bl_staged *into = x->into;
  for (size_t i = 0; i < from->n_ids; i++) BL_TRY(is_new(into, into->n_ids, from->ids[i], err));
  BL_TRY(check_alike(x, from, err));
  BL_TRY(absorb_base(x, from, err));
  absorb_filter(x, from);
  if (from->heeds_position) BL_TRY(bl_staged_on_position(into, from->on_position, err));
  if (!bl_str_eq(into->operation, from->operation)) into->operation = BL_STR("overwrite");
  BL_TRY(absorb_files(x, from, err));
  BL_TRY(absorb_counts(&into->counts, &from->counts, err));
  into->new_paths = into->new_paths || from->new_paths;
  into->keeps_rows = into->keeps_rows || from->keeps_rows;
  into->even_if_empty = into->even_if_empty || from->even_if_empty;
  for (size_t i = 0; i < from->n_ids; i++) BL_TRY(bl_staged_add_ids(into, from->ids[i], err));
  return absorb_summary(into, from, err);
}

static bl_status absorb_all(absorbing *x, bl_staged **all, size_t n, bl_error *err) {
  x->into = all[0];
  x->any = (bl_expr){.op = BL_E_OR, .args = bl_arena_alloc(x->into->arena, n, sizeof *x->any.args)};
  if (!x->any.args) return bl_nomem(err);
  BL_TRY(bl_map_new(x->t->ctx, &x->removed, err));
  BL_TRY(bl_map_new(x->t->ctx, &x->added, err));
  for (size_t i = 0; i < x->into->n_data; i++)
    if (!bl_map_put(x->added, bl_path_key(x->into->data[i].path), 0, NULL)) return bl_nomem(err);
  for (size_t i = 0; i < x->into->n_removed; i++)
    if (!bl_map_put(x->removed, bl_path_key(x->into->removed[i]->file.path), i, NULL)) return bl_nomem(err);
  for (size_t i = 1; i < n; i++) BL_TRY(absorb(x, all[i], err));
  return BL_OK;
}

/* ---- the commit ---- */

static bl_status commit_all(bl_table *t, bl_staged **all, size_t n, const bl_write_options *o, bl_write_result *r,
                            bl_error *err) {
  absorbing x = {.t = t, .o = o};
  bl_write_options with = *o;
  bl_status st = BL_OK;
  if (n > 1) st = absorb_all(&x, all, n, err); /* x.any is in use until the end */
  if (!o->ref) with.ref = all[0]->branch.p;
  if (!o->batch_id) with.batch_id = all[0]->batch_id.p;
  if (!o->wap_id) with.wap_id = all[0]->wap_id.p;
  if (st == BL_OK) st = note_ids(all[0], err);
  if (st == BL_OK) st = bl_commit_change(t, all[0], &with, r, err);
  bl_map_free(x.removed);
  bl_map_free(x.added);
  return st;
}

bl_status bl_commit_staged(bl_table *t, const char *const *descriptors, size_t n, const bl_write_options *o,
                           bl_write_result *r, bl_error *err) {
  static const bl_write_options defaults = {0};
  bl_write_result unused;
  size_t k = 0;
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  if (o && o->stage) return bl_fail(err, BL_USAGE, "staged changes are committed, not staged again");
  bl_staged **all = bl_calloc(t->ctx, n + 1, sizeof *all);
  bl_status st = all ? BL_OK : bl_nomem(err);
  for (size_t i = 0; i < n && st == BL_OK; i++)
    if (descriptors[i]) st = bl_staged_from_json(t, descriptors[i], strlen(descriptors[i]), &all[k++], err);
  if (st == BL_OK && k) st = commit_all(t, all, k, o ? o : &defaults, r, err);
  for (size_t i = 0; all && i < k; i++) bl_staged_free(all[i]);
  bl_free(t->ctx, all);
  return st;
}

/* change.c: see change.h. */
#include "write/change.h"

#include "write/commit.h"
#include "write/properties.h"

/* ---- the branch and how to write to it ---- */

static bl_status find_head(bl_change *c, bl_error *err) {
  BL_TRY(bl_branch_head(c->t, bl_branch_of(c->o), &c->head, err));
  c->schema = bl_metadata_current_schema(c->t->metadata);
  return BL_OK;
}

static bl_status choose_mode(bl_change *c, const char *kind, bl_error *err) {
  const bl_metadata *md = c->t->metadata;
  bl_str key = bl_arena_printf(c->arena, "write.%s.mode", kind), mode;
  if (!key.p) return bl_nomem(err);
  mode = bl_pairs_get(&md->properties, key.p);
  c->merge_on_read = c->o->mode == BL_MERGE_ON_READ;
  if (c->o->mode == BL_MODE_DEFAULT && mode.p) {
    c->merge_on_read = bl_str_is_nocase(mode, "merge-on-read");
    if (!c->merge_on_read && !bl_str_is_nocase(mode, "copy-on-write"))
      return bl_fail(err, BL_USAGE, "property %s: \"%s\": merge-on-read or copy-on-write is expected", key.p, mode.p);
  }
  if (c->merge_on_read && md->format_version < 3 && c->o->mode == BL_MODE_DEFAULT) {
    bl_warn(c->t->ctx, "property %s: merge-on-read: %s: format version %d has no deletion vectors: files are rewritten",
            key.p, c->t->name, md->format_version);
    c->merge_on_read = false;
  }
  if (c->merge_on_read && md->format_version < 3)
    return bl_fail(err, BL_UNSUPPORTED,
                   "merge-on-read: %s: format version %d has no deletion vectors; copy-on-write works", c->t->name,
                   md->format_version);
  return BL_OK;
}

static bl_status begin(bl_change *c, const char *kind, bl_error *err) {
  BL_TRY(bl_arena_new(c->t->ctx, &c->arena, err));
  BL_TRY(find_head(c, err));
  BL_TRY(choose_mode(c, kind, err));
  BL_TRY(bl_staged_new(c->t->ctx, &c->staged, err));
  bl_str prefix = bl_arena_printf(c->arena, "write.%s", kind);
  if (!prefix.p) return bl_nomem(err);
  bool snapshot = bl_property_is_snapshot_isolation(&c->t->metadata->properties, prefix.p);
  c->staged->isolation = snapshot ? BL_SNAPSHOT : BL_SERIALIZABLE;
  c->staged->base_snapshot_id = c->head ? c->head->id : BL_NONE;
  c->staged->reads_rows = true;
  c->staged->conflict_schema = c->schema;
  return BL_OK;
}

static void end(bl_change *c, bl_status st) {
  if (c->staged && st != BL_OK && st != BL_UNKNOWN) bl_staged_discard(c->staged, c->t);
  bl_staged_free(c->staged);
  bl_arena_free(c->arena);
}

/* ---- the run ---- */

/* What the files say of the change, where the verb has not said it. */
static void name_operation(bl_staged *s) {
  bool takes = s->n_removed || s->n_vectors;
  if (bl_str_is(s->operation, "overwrite")) return;
  s->operation = !takes ? BL_STR("append") : s->n_data ? BL_STR("overwrite") : BL_STR("delete");
}

static bl_status run_once(bl_change *c, const char *kind, bl_change_stage stage, void *user, bl_write_result *r,
                          bl_error *err) {
  bl_status st;
  *r = (bl_write_result){0};
  r->already_applied = bl_batch_is_applied(c->t, c->o);
  if (r->already_applied) return BL_OK;
  BL_GO(begin(c, kind, err));
  BL_GO(stage(c, user, err));
  name_operation(c->staged);
  c->staged->counts = c->counts;
  BL_GO(bl_commit_change(c->t, c->staged, c->o, r, err));
done:
  end(c, st);
  return st;
}

static bool is_same_table(const bl_table *a, const bl_table *b) {
  return bl_str_eq(a->metadata->uuid, b->metadata->uuid);
}

/* The newest version in place of *now; false: there is none of the same table. */
static bool move_on(bl_table *t, bl_table **now) {
  bl_table *newest = NULL;
  bl_error ignored = BL_ERROR_INIT;
  if (bl_table_reopen(t, &newest, &ignored) != BL_OK) return false;
  if (!is_same_table(t, newest)) {
    bl_table_free(newest);
    return false;
  }
  bl_table_free(*now);
  *now = newest;
  return true;
}

bl_status bl_change_run(bl_table *t, const bl_write_options *o, const char *kind, bl_change_stage stage, void *user,
                        bl_write_result *r, bl_error *err) {
  static const bl_write_options defaults = {0};
  int64_t again = bl_property_i64(&t->metadata->properties, "commit.retry.num-retries", 4);
  bl_write_result own;
  bl_table *base, *newer = NULL;
  bl_error why;
  bl_status st;
  if (!r) r = &own;
  *r = (bl_write_result){0};
  BL_TRY(bl_write_base(t, o, &base, &r->already_applied, err));
  for (;;) {
    bl_change c = {.t = newer ? newer : base, .o = o ? o : &defaults};
    why = (bl_error)BL_ERROR_INIT;
    st = run_once(&c, kind, stage, user, r, &why);
    if (st != BL_CONFLICT || again-- <= 0 || !move_on(t, &newer)) break;
  }
  bl_table_free(newer);
  bl_write_base_free(base, t);
  return st == BL_OK ? BL_OK : bl_fail_at(err, st, why.position, "%s", why.message);
}

/* ---- parts of verbs ---- */

bl_status bl_change_filter(bl_change *c, const char *where, bl_expr **out, bl_error *err) {
  bl_expr *parsed;
  const bl_schema *meta;
  *out = NULL;
  if (!where) return BL_OK;
  bl_str text = bl_arena_str(c->arena, bl_str_of(where)); /* the tree points into it */
  if (!text.p) return bl_nomem(err);
  BL_TRY(bl_expr_parse(c->arena, text, &parsed, err));
  BL_TRY(bl_filter_meta_schema(c->arena, c->t->metadata, &meta, err));
  return bl_expr_bind(c->arena, parsed, c->schema, meta, out, err);
}

bl_status bl_change_writers(bl_change *c, bool keep_order, bl_writer_pool **out, bl_error *err) {
  bl_data_writer_options wo = {.spec_id = -1, .lineage = c->t->metadata->format_version >= 3, .keep_order = keep_order};
  return bl_writer_pool_new(c->t, &wo, c->staged, out, err);
}

bl_status bl_change_lane(bl_writer_pool *pool, const bl_touched *f, void **lane, bl_error *err) {
  bl_writer_lane *l = NULL;
  int32_t plain[256];
  BL_TRY(bl_writer_pool_take(pool, plain, bl_touched_plain(f, plain, BL_LEN(plain)), &f->file->data->file, &l, err));
  *lane = l;
  return BL_OK;
}

static bl_status begin_rest(void *user, bl_touched *f, void **lane, bl_error *err) {
  return bl_change_lane(user, f, lane, err);
}

static bl_status visit_rest(void *user, void *lane, bl_touch_rows *rows, bl_error *err) {
  (void)user;
  return bl_writer_lane_write(lane, &rows->batch, err);
}

static bl_status end_rest(void *user, bl_touched *f, void *lane, bl_status st, bl_error *err) {
  const bl_data_file *d = &f->file->data->file;
  size_t parts = d->n_split_offsets > 1 ? d->n_split_offsets : 1;
  bl_status given = bl_writer_pool_give(user, lane, d->file_size / (int64_t)parts, st == BL_OK ? err : NULL);
  return st == BL_OK ? given : st;
}

/* A vector over what was found. The sets pass to the staged change. */
static bl_status add_vector(bl_change *c, bl_touched *f, bl_error *err) {
  bl_posset *found = f->found, *moved = f->moved;
  f->found = f->moved = NULL;
  f->n_found = 0;
  return bl_staged_vector_add(c->staged, f->file->data, found, moved, err);
}

bl_status bl_change_remove_found(bl_change *c, bl_touch *x, bl_writer_pool *pool, bl_error *err) {
  bl_touch_reader rest = {BL_TOUCH_REST, &x->all.wanted, begin_rest, visit_rest, end_rest, pool};
  for (size_t i = 0; i < x->n_files; i++) {
    bl_touched *f = &x->files[i];
    bool all = f->n_found == f->live;
    f->skip = f->n_found == 0 || all;
    if (f->n_found == 0) continue;
    if (all ? f->moved != NULL : !c->merge_on_read) c->staged->keeps_rows = true;
    if (all || !c->merge_on_read) BL_TRY(bl_staged_remove(c->staged, f->file->data, err));
    else BL_TRY(add_vector(c, f, err));
  }
  return c->merge_on_read ? BL_OK : bl_touch_read(x, &rest, err);
}

/* attempt.c: the frame of attempts: the newest version of the table, and the files that were written. */
#include "write/attempt.h"

#include "write/pointer.h"

/* ---- files ---- */

static bl_status note(bl_committing *c, bl_str path, bl_error *err) {
  BL_TRY(bl_grow(c->ctx, &c->files, &c->cap_files, c->n_files, sizeof *c->files, err));
  c->files[c->n_files++] = (bl_written_file){path, true};
  return BL_OK;
}

bl_status bl_committing_write(bl_attempt *at, bl_str path, const bl_buf *bytes, bl_error *err) {
  BL_TRY(note(at->c, path, err));
  BL_TRY(bl_io_write_with(at->base->io, path.p, bytes->p, bytes->n, BL_OUT_LATER, err));
  BL_TRY(bl_unsynced_add(&at->c->unsynced, path, (int64_t)bytes->n, err));
  bl_unsynced_begin(&at->c->unsynced, at->base->io, false);
  return BL_OK;
}

static void set_use(bl_committing *c, bl_str path, bool used) {
  for (size_t i = 0; i < c->n_files; i++)
    if (bl_str_eq(c->files[i].path, path)) c->files[i].used = used;
}

void bl_committing_use(bl_committing *c, bl_str path) {
  set_use(c, path, true);
}

void bl_committing_unuse(bl_committing *c, bl_str path) {
  set_use(c, path, false);
}

void bl_committing_unuse_all(bl_committing *c) {
  for (size_t i = 0; i < c->n_files; i++) c->files[i].used = false;
}

void bl_committing_clean(bl_committing *c, bl_table *t, bool all) {
  for (size_t i = 0; i < c->n_files; i++) {
    bl_error why = BL_ERROR_INIT;
    if (c->files[i].used && !all) continue;
    bl_status st = t->io->remove(t->io, c->files[i].path.p, &why);
    if (st != BL_OK && st != BL_NOT_FOUND) bl_warn(c->ctx, "a file that is not needed stays: %s", why.message);
  }
}

/* A manifest of the base that holds nothing live stays out: its tombstones are in the lists of the snapshots that
 * deleted. */
bl_status bl_lines_add(bl_attempt *at, bl_lines *l, const bl_manifest_file *f, const bl_made *made, bl_error *err) {
  if (!made && !bl_manifest_may_live(f)) return BL_OK;
  BL_TRY(bl_grow(at->c->ctx, &l->items, &l->cap, l->n, sizeof *l->items, err));
  l->items[l->n++] = (bl_line){*f, made};
  if (made) bl_committing_use(at->c, f->path);
  return BL_OK;
}

/* ---- one attempt ---- */

bl_status bl_check_same_table(const bl_table *t, const bl_table *now, bl_error *err) {
  bl_str was = t->metadata->uuid, is = now->metadata->uuid;
  if (!was.p || bl_str_eq(was, is)) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "the table was replaced: %s: its uuid was %.*s and is %.*s", t->name,
                 BL_STR_ARG(was), BL_STR_ARG(is));
}

bl_str bl_branch_of(const bl_write_options *o) {
  return o && o->ref ? bl_str_of(o->ref) : BL_STR("main");
}

bl_status bl_branch_head(const bl_table *t, bl_str name, const bl_snapshot **head, bl_error *err) {
  const bl_ref *r = bl_metadata_ref(t->metadata, name);
  if (r && !r->is_branch)
    return bl_fail(err, BL_USAGE, "cannot commit to %.*s of %s: it is a tag", BL_STR_ARG(name), t->name);
  if (!r && !bl_str_is(name, "main"))
    return bl_fail(err, BL_NOT_FOUND, "no such branch: %.*s of %s", BL_STR_ARG(name), t->name);
  *head = r ? bl_metadata_snapshot(t->metadata, r->snapshot_id) : NULL;
  return BL_OK;
}

/* A branch that begins goes on from where main is by now. */
static bl_status find_parent(bl_attempt *at, bl_error *err) {
  const bl_committing *c = at->c;
  if (!c->s->begins) return bl_branch_head(at->base, c->ref, &at->parent, err);
  if (bl_metadata_ref(at->base->metadata, c->ref))
    return bl_fail(err, BL_CONFLICT, "the ref exists: %.*s", BL_STR_ARG(c->ref));
  return bl_branch_head(at->base, BL_STR("main"), &at->parent, err);
}

/* Files in plain text would be what the property is there to prevent. */
bl_status bl_encryption_check(const bl_table *t, bl_error *err) {
  bl_str key = bl_pairs_get(&t->metadata->properties, "encryption.key-id");
  if (!key.p || !key.n) return BL_OK;
  return bl_fail(err, BL_UNSUPPORTED, "property encryption.key-id: %s: encrypted files cannot be written", t->name);
}

/* ---- what a verb begins on ---- */

/* Others may have made the branch since the table was opened, or taken the batch out of it. */
static bool is_to_look_again(const bl_table *t, const bl_write_options *o) {
  const bl_snapshot *head;
  if (bl_branch_head(t, bl_branch_of(o), &head, NULL) != BL_OK) return true;
  return bl_batch_is_applied(t, o);
}

static bl_status open_newest(bl_table *t, const bl_write_options *o, bl_table **newest, bl_error *err) {
  const bl_snapshot *head;
  BL_TRY(bl_table_reopen(t, newest, err));
  bl_status st = bl_check_same_table(t, *newest, err);
  return st == BL_OK ? bl_branch_head(*newest, bl_branch_of(o), &head, err) : st;
}

bl_status bl_branch_base(bl_table *t, const bl_write_options *o, bl_table **base, bl_error *err) {
  bl_table *newest = NULL;
  *base = NULL;
  BL_TRY(bl_pointer_check(t, err));
  if (o) BL_TRY(bl_summary_check(o, err));
  bl_status st = is_to_look_again(t, o) ? open_newest(t, o, &newest, err) : BL_OK;
  if (st == BL_OK) *base = newest ? newest : t;
  else bl_table_free(newest);
  return st;
}

bl_status bl_write_base(bl_table *t, const bl_write_options *o, bl_table **base, bool *applied, bl_error *err) {
  *applied = false;
  BL_TRY(bl_branch_base(t, o, base, err));
  *applied = bl_batch_is_applied(*base, o);
  bl_status st = *applied ? BL_OK : bl_encryption_check(*base, err);
  if (st == BL_OK) return BL_OK;
  bl_write_base_free(*base, t);
  *base = NULL;
  return st;
}

void bl_write_base_free(bl_table *base, const bl_table *t) {
  if (base != t) bl_table_free(base);
}

bl_status bl_attempt_new(bl_committing *c, bl_attempt **out, bl_error *err) {
  bl_status st;
  *out = NULL;
  bl_attempt *at = bl_calloc(c->ctx, 1, sizeof *at);
  if (!at) return bl_nomem(err);
  at->c = c;
  BL_GO(bl_arena_new(c->ctx, &at->arena, err));
  if (bl_table_is_current(c->t)) at->base = c->t;
  else BL_GO(bl_table_reopen(c->t, &at->base, err));
  BL_GO(bl_check_same_table(c->t, at->base, err));
  BL_GO(find_parent(at, err));
  BL_GO(bl_counts_new(at, err));
  if (at->parent) BL_GO(bl_table_manifests(at->base, at->parent, at->arena, &at->manifests, &at->n_manifests, err));
  *out = at;
  return BL_OK;
done:
  bl_attempt_free(at);
  return st;
}

void bl_attempt_free(bl_attempt *at) {
  if (!at) return;
  bl_ctx *ctx = at->c->ctx;
  bl_free(ctx, at->data.items);
  bl_free(ctx, at->deletes.items);
  bl_map_free(at->partitions.paths);
  if (at->base != at->c->t) bl_table_free(at->base);
  bl_arena_free(at->arena);
  bl_free(ctx, at);
}

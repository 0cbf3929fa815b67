/* refs_verbs.c: branches and tags: made, moved, dropped. Only metadata changes: no row id does (W12). The one snapshot
 * that is made here is the first of a branch of a table that has none: nothing could be written to the branch else. */
#include "base/text.h"
#include "table/refs.h"
#include "write/commit.h"
#include "write/metadata_note.h"

typedef struct ref_change {
  const char *name, *at;
  bl_str on; /* the branch on which `at` lies; p NULL: main */
  bool branch;
  const bl_ref_options *r;
  int64_t snapshot_id; /* what the ref is now; for the result */
} ref_change;

static bl_str or_none(const char *s) {
  return s ? bl_str_of(s) : BL_STR_NONE;
}

static bl_status no_snapshot(const bl_metadata *md, bl_error *err) {
  return bl_fail(err, BL_NOT_FOUND, "%s has no snapshot yet", md->n_snapshots ? "main" : "the table");
}

/* The snapshot that text means on a branch of the newest metadata. */
static bl_status resolve(const bl_metadata *md, const char *text, bl_str ref, const bl_snapshot **out, bl_error *err) {
  const bl_snap_options o = {.ref = ref, .time = BL_TIME_BY_ANCESTRY};
  bl_snap snap;
  BL_TRY(bl_snap_resolve(md, or_none(text), &o, &snap, err));
  *out = snap.snapshot;
  return snap.snapshot ? BL_OK : no_snapshot(md, err);
}

static const char *kind_name(bool branch) {
  return branch ? "branch" : "tag";
}

/* ---- create ---- */

static bl_status check_name(const char *name, bl_error *err) {
  static const char *const prefixes[] = {"id:", "ref:", "ts:", "seq:", "wap:"};
  int64_t number;
  bl_str s = bl_str_of(name);
  const char *why = NULL;
  if (s.n == 0) why = "it is empty";
  else if (!bl_utf8_valid(s.p, s.n)) why = "it is no UTF-8";
  else if (bl_parse_i64(s, &number)) why = "a number would be taken for a snapshot id";
  for (size_t i = 0; i < BL_LEN(prefixes); i++)
    if (bl_str_starts(s, bl_str_of(prefixes[i]))) why = "its beginning has a meaning in addresses of snapshots";
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < ' ') why = "it holds a control character";
  return why ? bl_fail(err, BL_USAGE, "wrong name of a ref: %s: %s", name, why) : BL_OK;
}

static bl_status check_retention(const char *name, bool branch, const bl_ref_options *r, bl_error *err) {
  if (r->min_snapshots_to_keep < 0 || r->max_snapshot_age_ms < 0 || r->max_ref_age_ms < 0 ||
      r->min_snapshots_to_keep > INT32_MAX)
    return bl_fail(err, BL_USAGE, "wrong retention of %s: numbers above 0 are expected", name);
  if (!branch && (r->min_snapshots_to_keep || r->max_snapshot_age_ms))
    return bl_fail(err, BL_USAGE, "wrong retention of %s: only branches keep snapshots before their head", name);
  if (strcmp(name, "main") == 0 && r->max_ref_age_ms)
    return bl_fail(err, BL_USAGE, "wrong retention of main: it does not expire");
  return BL_OK;
}

static bl_ref described(const ref_change *c) {
  const bl_ref_options *r = c->r;
  return (bl_ref){.name = bl_str_of(c->name),
                  .is_branch = c->branch,
                  .has_min_snapshots = r->min_snapshots_to_keep > 0,
                  .min_snapshots_to_keep = (int32_t)r->min_snapshots_to_keep,
                  .has_max_snapshot_age = r->max_snapshot_age_ms > 0,
                  .max_snapshot_age_ms = r->max_snapshot_age_ms,
                  .has_max_ref_age = r->max_ref_age_ms > 0,
                  .max_ref_age_ms = r->max_ref_age_ms};
}

/* Where main has no snapshot, a branch that shall begin at its head begins with an empty one of its own; main stays as
 * it is. */
static bool begins_empty(const bl_table *t, const ref_change *c) {
  const bl_metadata *md = t->metadata;
  bool on_main = !c->on.p || bl_str_is(c->on, "main");
  return c->branch && !c->r->at && on_main && !bl_metadata_ref(md, BL_STR("main")) &&
         !bl_metadata_ref(md, bl_str_of(c->name));
}

static bl_status begin_empty(bl_table *t, const ref_change *c, const bl_write_options *o, bl_error *err) {
  const bl_write_options as = {.ref = c->name, .dry_run = o && o->dry_run};
  bool applied;
  BL_TRY(bl_not_staged_check(BL_VERB_CREATE_BRANCH, o, err));
  if (o) BL_TRY(bl_summary_check(o, err));
  BL_TRY(bl_note_is_there(t->ctx, &t->metadata->properties, BL_VERB_CREATE_BRANCH, o, &applied, err));
  if (o && o->already_applied) *o->already_applied = applied;
  if (applied) return BL_OK;
  bl_ref ref = described(c);
  bl_write_result unused = {0};
  bl_staged *s;
  BL_TRY(bl_staged_new(t->ctx, &s, err));
  s->operation = BL_STR("append");
  s->even_if_empty = true;
  s->begins = &ref;
  s->begins_note = o;
  bl_status st = bl_commit_change(t, s, &as, &unused, err);
  bl_staged_free(s);
  return st;
}

static bl_status create(void *user, bl_edit *e, bl_error *err) {
  ref_change *c = user;
  const bl_metadata *md = e->base;
  const bl_snapshot *s;
  const bl_ref *old = bl_metadata_ref(md, bl_str_of(c->name));
  if (old && !c->r->replace) return bl_fail(err, BL_CONFLICT, "the ref exists: %s", c->name);
  if (old && old->is_branch != c->branch)
    return bl_fail(err, BL_USAGE, "cannot replace %s: it is a %s", c->name, kind_name(old->is_branch));
  if (old && !c->r->at) s = bl_metadata_snapshot(md, old->snapshot_id); /* its retention alone */
  else BL_TRY(resolve(md, c->r->at, c->on, &s, err));
  bl_ref ref = described(c);
  ref.snapshot_id = s->id;
  return bl_edit_set_ref(e, &ref, err);
}

bl_status bl_ref_create(bl_table *t, const char *name, bool branch, const bl_ref_options *r, const bl_write_options *o,
                        bl_error *err) {
  static const bl_ref_options defaults = {0};
  ref_change c = {.name = name, .on = o ? or_none(o->ref) : BL_STR_NONE, .branch = branch, .r = r ? r : &defaults};
  BL_TRY(check_name(name, err));
  BL_TRY(check_retention(name, branch, c.r, err));
  if (strcmp(name, "main") == 0 && !branch) return bl_fail(err, BL_USAGE, "wrong name of a tag: main is a branch");
  if (begins_empty(t, &c)) return begin_empty(t, &c, o, err);
  return bl_commit_metadata(t, branch ? BL_VERB_CREATE_BRANCH : "create-tag", create, &c, o, err);
}

/* ---- drop ---- */

static bl_status drop(void *user, bl_edit *e, bl_error *err) {
  ref_change *c = user;
  const bl_ref *old = bl_metadata_ref(e->base, bl_str_of(c->name));
  if (!old) return bl_fail(err, BL_NOT_FOUND, "no such %s: %s", kind_name(c->branch), c->name);
  if (old->is_branch != c->branch)
    return bl_fail(err, BL_USAGE, "cannot drop the %s %s: it is a %s", kind_name(c->branch), c->name,
                   kind_name(old->is_branch));
  return bl_edit_remove_ref(e, bl_str_of(c->name), err);
}

bl_status bl_ref_drop(bl_table *t, const char *name, bool branch, const bl_write_options *o, bl_error *err) {
  ref_change c = {.name = name, .branch = branch};
  if (strcmp(name, "main") == 0) return bl_fail(err, BL_USAGE, "cannot drop main: every table has it");
  return bl_commit_metadata(t, branch ? "drop-branch" : "drop-tag", drop, &c, o, err);
}

/* ---- fast-forward, rollback ---- */

static bl_status need_branch(const bl_metadata *md, const char *name, const bl_ref **out, bl_error *err) {
  *out = bl_metadata_ref(md, bl_str_of(name));
  if (!*out && strcmp(name, "main") == 0) return no_snapshot(md, err);
  if (!*out) return bl_fail(err, BL_NOT_FOUND, "no such branch: %s", name);
  return (*out)->is_branch ? BL_OK : bl_fail(err, BL_USAGE, "%s is a tag: only branches move", name);
}

static bl_status move_to(ref_change *c, bl_edit *e, const bl_snapshot *s, bl_error *err) {
  bl_ref ref = {.name = bl_str_of(c->name), .snapshot_id = s->id, .is_branch = true};
  c->snapshot_id = s->id;
  return bl_edit_set_ref(e, &ref, err);
}

/* A branch that is not there is made, as Java does it: every snapshot descends from nothing. */
static bl_status forward(void *user, bl_edit *e, bl_error *err) {
  ref_change *c = user;
  const bl_ref *branch = NULL;
  const bl_snapshot *s;
  if (!bl_metadata_ref(e->base, bl_str_of(c->name))) BL_TRY(check_name(c->name, err));
  else BL_TRY(need_branch(e->base, c->name, &branch, err));
  BL_TRY(resolve(e->base, c->at, BL_STR_NONE, &s, err));
  if (branch && !bl_metadata_is_ancestor(e->base, branch->snapshot_id, s->id))
    return bl_fail(err, BL_USAGE, "cannot fast-forward %s to %s: its head %lld is no ancestor of snapshot %lld",
                   c->name, c->at, (long long)branch->snapshot_id, (long long)s->id);
  return move_to(c, e, s, err);
}

static bl_status back(void *user, bl_edit *e, bl_error *err) {
  ref_change *c = user;
  const bl_ref *branch;
  const bl_snapshot *s;
  BL_TRY(need_branch(e->base, c->name, &branch, err));
  BL_TRY(resolve(e->base, c->at, bl_str_of(c->name), &s, err));
  if (!bl_metadata_is_ancestor(e->base, s->id, branch->snapshot_id))
    return bl_fail(err, BL_USAGE, "cannot roll %s back to %s: snapshot %lld is no ancestor of its head %lld", c->name,
                   c->at, (long long)s->id, (long long)branch->snapshot_id);
  return move_to(c, e, s, err);
}

static bl_status move(bl_table *t, const char *verb, bl_metadata_edit edit, ref_change *c, const bl_write_options *o,
                      bl_write_result *r, bl_error *err) {
  bl_write_options own = o ? *o : (bl_write_options){0};
  bl_write_result unused;
  const bl_ref *was = bl_metadata_ref(t->metadata, bl_str_of(c->name));
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  own.already_applied = &r->already_applied;
  BL_TRY(bl_commit_metadata(t, verb, edit, c, &own, err));
  if (r->already_applied) return BL_OK;
  r->committed = !own.dry_run && !(was && was->snapshot_id == c->snapshot_id);
  const bl_snapshot *s = bl_metadata_snapshot(t->metadata, c->snapshot_id);
  r->snapshot_id = c->snapshot_id;
  r->sequence_number = s ? s->sequence_number : 0;
  return BL_OK;
}

bl_status bl_fast_forward(bl_table *t, const char *branch, const char *to, const bl_write_options *o,
                          bl_write_result *r, bl_error *err) {
  ref_change c = {.name = branch, .at = to};
  return move(t, "fast-forward", forward, &c, o, r, err);
}

bl_status bl_rollback(bl_table *t, const char *snapshot, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  ref_change c = {.name = o && o->ref ? o->ref : "main", .at = snapshot};
  return move(t, "rollback", back, &c, o, r, err);
}

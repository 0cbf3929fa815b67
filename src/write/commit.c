/* commit.c: the attempt loop, see commit.h and docs/commit-protocol.md.
 *
 * 1. Until the pointer moves, nothing that readers see has changed: a failure before leaves only files that nobody
 *    names, and they are removed.
 * 2. Every attempt begins with the newest metadata and takes nothing for granted of the one before, but files
 * (attempt.h).
 * 3. A move that was reported as failed may have been made all the same: pointer.h looks before anything is removed or
 *    tried again, so that BL_CONFLICT means that nothing has changed.
 * 4. Ids of rows are given in the attempt, from its base's next-row-id (W3). */
#include "write/commit.h"

#include "write/attempt.h"
#include "write/metadata_edit.h"
#include "write/metadata_note.h"
#include "write/pointer.h"
#include "write/properties.h"

/* ---- waiting ---- */

typedef struct retries {
  bl_ctx *ctx;
  int64_t left, wait_ms, max_wait_ms, until_ms;
} retries;

static void retries_init(retries *r, bl_ctx *ctx, const bl_pairs *p) {
  int64_t total = bl_property_i64(p, "commit.retry.total-timeout-ms", 30 * 60 * 1000);
  *r = (retries){.ctx = ctx,
                 .left = bl_property_i64(p, "commit.retry.num-retries", 4),
                 .wait_ms = bl_property_i64(p, "commit.retry.min-wait-ms", 100),
                 .max_wait_ms = bl_property_i64(p, "commit.retry.max-wait-ms", 60 * 1000)};
  if (!bl_add64(bl_now_ms(ctx), total, &r->until_ms)) r->until_ms = INT64_MAX;
}

/* false: no further try. Waits double, and are spread so that those who lost together do not meet again. */
static bool retries_wait(retries *r) {
  uint32_t random;
  if (r->left-- <= 0 || bl_now_ms(r->ctx) >= r->until_ms) return false;
  if (r->wait_ms > r->max_wait_ms) r->wait_ms = r->max_wait_ms;
  if (r->wait_ms <= 0) return true;
  bl_random(r->ctx, &random, sizeof random);
  bl_sleep_ms(r->ctx, r->wait_ms / 2 + random % (r->wait_ms / 2 + 1));
  r->wait_ms = r->wait_ms > INT64_MAX / 2 ? INT64_MAX : r->wait_ms * 2;
  return true;
}

/* ---- tables that are gone ---- */

/* A table in a folder may be dropped, or get another name, in the midst of a commit, which then misses its files: it
 * failed, but not for that. */
static bl_status told_if_gone(const bl_table *t, bl_status st, bl_error *why) {
  bl_error gone = BL_ERROR_INIT;
  bl_table *now = NULL;
  if (t->form != BL_FORM_HADOOP || (st != BL_IO && st != BL_NOT_FOUND)) return st;
  bl_status look = bl_table_reopen(t, &now, &gone);
  bl_table_free(now);
  if (look != BL_NOT_FOUND) return st;
  *why = gone;
  return BL_NOT_FOUND;
}

/* ---- batches ---- */

const bl_snapshot *bl_batch_find(const bl_table *t, bl_str ref, const char *batch_id, const char *wap_id) {
  const bl_metadata *md = t->metadata;
  const bl_ref *r = bl_metadata_ref(md, ref);
  const bl_snapshot *s = batch_id && r ? bl_metadata_snapshot(md, r->snapshot_id) : NULL;
  for (size_t steps = 0; s && steps < md->n_snapshots; steps++) {
    if (bl_pairs_is(&s->summary, "bergline.batch-id", bl_str_of(batch_id))) return s;
    s = bl_metadata_parent(md, s);
  }
  for (size_t i = 0; batch_id && wap_id && i < md->n_snapshots; i++) {
    s = &md->snapshots[i];
    if (bl_pairs_is(&s->summary, "wap.id", bl_str_of(wap_id)) &&
        bl_pairs_is(&s->summary, "bergline.batch-id", bl_str_of(batch_id)))
      return s;
  }
  return NULL;
}

bool bl_batch_is_applied(const bl_table *t, const bl_write_options *o) {
  return o && bl_batch_find(t, bl_branch_of(o), o->batch_id, o->wap_id);
}

/* The first snapshot whose summary has the pair. */
/* t: as it is without the snapshot that gets the id. Nothing is refused: Java refuses to publish the second alone. */
static void warn_of_wap_twin(const bl_table *t, const char *id) {
  const bl_metadata *md = t->metadata;
  const bl_snapshot *staged = id ? bl_metadata_snapshot_with(md, "wap.id", bl_str_of(id)) : NULL;
  const bl_snapshot *published = id ? bl_metadata_snapshot_with(md, "published-wap-id", bl_str_of(id)) : NULL;
  if (published)
    bl_warn(t->ctx,
            "the WAP id %s is published already, by snapshot %lld: cherry-pick does not publish it again (--batch-id "
            "keeps a batch from being written twice)",
            id, (long long)published->id);
  else if (staged)
    bl_warn(t->ctx,
            "the WAP id %s is staged already, as snapshot %lld: wap:%s is ambiguous, pick by snapshot id (--batch-id "
            "keeps a batch from being written twice)",
            id, (long long)staged->id, id);
}

/* ---- row ids ---- */

/* The id behind the last one that a manifest's live entries have. */
static bl_status end_of_ids(bl_attempt *at, const bl_manifest_file *m, int64_t *end, bl_error *err) {
  bl_manifest_entry *es;
  size_t n;
  *end = 0;
  BL_TRY(bl_table_manifest_entries(at->base, m, false, at->arena, &es, &n, err));
  for (size_t i = 0; i < n; i++) {
    int64_t last = es[i].file.first_row_id;
    if (es[i].status == BL_DELETED || last == BL_NONE) continue;
    last += es[i].file.record_count; /* fits: bl_lineage_inherit looked */
    if (last > *end) *end = last;
  }
  return BL_OK;
}

static bl_status id_taken(const bl_attempt *at, int64_t end, bl_error *err) {
  return bl_fail(err, BL_DAMAGED,
                 "cannot commit: %s: next-row-id is %lld, but row ids up to %lld are in use: the next rows would get "
                 "ids that others have",
                 at->base->metadata_path, (long long)at->base->metadata->next_row_id, (long long)(end - 1));
}

/* No id in use may be at or above next-row-id. Counts in the list tell the range that was set aside; where they say
 * too much, the entries decide. */
static bl_status check_next_row_id(bl_attempt *at, bl_error *err) {
  const bl_metadata *md = at->base->metadata;
  if (md->format_version < 3) return BL_OK;
  for (size_t i = 0; i < at->n_manifests; i++) {
    const bl_manifest_file *m = &at->manifests[i];
    int64_t end = m->first_row_id;
    if (m->content != BL_MANIFEST_DATA || end == BL_NONE) continue;
    bool known = m->added_rows != BL_NONE && m->existing_rows != BL_NONE;
    if (known && bl_add64(end, m->added_rows, &end) && bl_add64(end, m->existing_rows, &end) && end <= md->next_row_id)
      continue;
    BL_TRY(end_of_ids(at, m, &end, err));
    if (end > md->next_row_id) return id_taken(at, end, err);
  }
  return BL_OK;
}

/* Rows that take ids in a manifest which has no first_row_id yet. */
static bl_status rows_of(bl_attempt *at, const bl_manifest_file *m, int64_t *rows, bl_error *err) {
  bl_manifest_entry *es;
  size_t n;
  *rows = 0;
  if (m->content != BL_MANIFEST_DATA || m->first_row_id != BL_NONE) return BL_OK;
  if (m->added_rows != BL_NONE && m->existing_rows != BL_NONE) {
    if (bl_add64(m->added_rows, m->existing_rows, rows)) return BL_OK;
    return bl_fail(err, BL_DAMAGED, "manifest %s: its row counts are too large", m->path.p);
  }
  BL_TRY(bl_table_manifest_entries(at->base, m, false, at->arena, &es, &n, err));
  for (size_t i = 0; i < n; i++)
    if (es[i].status != BL_DELETED && !bl_add64(*rows, es[i].file.record_count, rows))
      return bl_fail(err, BL_DAMAGED, "manifest %s: its record counts are too large", m->path.p);
  return BL_OK;
}

static bl_status assign_ids(bl_attempt *at, bl_manifest_file *list, size_t n, bl_error *err) {
  const bl_metadata *md = at->base->metadata;
  at->next_row_id = md->next_row_id;
  if (md->format_version < 3) return BL_OK;
  int64_t *rows = bl_arena_alloc(at->arena, n, sizeof *rows);
  if (!rows) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) BL_TRY(rows_of(at, &list[i], &rows[i], err));
  BL_TRY(bl_lineage_assign(list, rows, n, md->next_row_id, &at->next_row_id, err));
  at->snapshot.has_first_row_id = at->snapshot.has_added_rows = true;
  at->snapshot.first_row_id = md->next_row_id;
  at->snapshot.added_rows = at->next_row_id - md->next_row_id;
  return BL_OK;
}

/* ---- the snapshot ---- */

static bl_status describe_snapshot(bl_attempt *at, const bl_edit *e, const bl_write_options *o, bl_error *err) {
  const bl_committing *c = at->c;
  const bl_metadata *md = at->base->metadata;
  bl_snapshot *s = &at->snapshot;
  *s = (bl_snapshot){.id = c->snapshot_id,
                     .has_parent = at->parent != NULL,
                     .parent_id = at->parent ? at->parent->id : 0,
                     .timestamp_ms = e->now_ms,
                     .has_schema_id = true,
                     .schema_id = md->current_schema_id};
  if (md->format_version > 1 && !bl_add64(md->last_sequence_number, 1, &s->sequence_number))
    return bl_fail(err, BL_DAMAGED, "last-sequence-number is as large as it can be");
  if (bl_metadata_snapshot(md, s->id))
    return bl_fail(err, BL_CONFLICT, "the snapshot id %lld is taken", (long long)s->id);
  return bl_attempt_summary(at, o, &s->summary, err);
}

/* The lines as the list has them: numbers of the attempt where a manifest is new. */
static bl_status list_lines(bl_attempt *at, bl_manifest_file **out, size_t *n, bl_error *err) {
  const bl_lines *parts[] = {&at->data, &at->deletes};
  int64_t number = at->snapshot.sequence_number;
  *n = 0;
  *out = bl_arena_alloc(at->arena, at->data.n + at->deletes.n, sizeof **out);
  if (!*out) return bl_nomem(err);
  for (size_t p = 0; p < 2; p++)
    for (size_t i = 0; i < parts[p]->n; i++) {
      const bl_line *l = &parts[p]->items[i];
      bl_manifest_file *f = &(*out)[(*n)++];
      *f = l->file;
      if (!l->made) continue;
      f->sequence_number = f->min_sequence_number = number;
      if (l->made->min_sequence < number) f->min_sequence_number = l->made->min_sequence;
    }
  return BL_OK;
}

static bl_status write_list(bl_attempt *at, const bl_manifest_file *list, size_t n, bl_error *err) {
  bl_committing *c = at->c;
  const bl_metadata *md = at->base->metadata;
  bl_buf bytes;
  bl_status st;
  bl_buf_init(&bytes, c->ctx, BL_BUF_MAX);
  bl_str folder = bl_metadata_folder(c->arena, md, at->base->form == BL_FORM_HADOOP);
  bl_str path = folder.p ? bl_arena_printf(c->arena, "%s/snap-%lld-%d-%s.avro", folder.p, (long long)c->snapshot_id,
                                           c->attempt, c->uuid.s)
                         : BL_STR_NONE;
  if (!path.p) BL_GO(bl_nomem(err));
  at->snapshot.manifest_list = path;
  BL_GO(bl_manifest_list_write(c->ctx, md, &at->snapshot, list, n, &bytes, err));
  st = bl_committing_write(at, path, &bytes, err);
done:
  bl_buf_free(&bytes);
  return st;
}

static void count_manifests(bl_attempt *at) {
  const bl_lines *parts[] = {&at->data, &at->deletes};
  for (size_t p = 0; p < 2; p++)
    for (size_t i = 0; i < parts[p]->n; i++) {
      if (parts[p]->items[i].made) at->counts.manifests_created++;
      else at->counts.manifests_kept++;
    }
}

static bl_status edit_document(bl_attempt *at, const bl_write_options *o, bl_edit *e, bl_error *err) {
  const bl_ref *begins = at->c->s->begins;
  bl_ref branch = begins ? *begins : (bl_ref){.name = at->c->ref, .is_branch = true};
  branch.snapshot_id = at->snapshot.id;
  const bl_write_options *note = at->c->s->begins_note;
  BL_TRY(bl_edit_add_snapshot(e, &at->snapshot, at->next_row_id, err));
  if (note) BL_TRY(bl_note_put(e->a, bl_edit_object(e, "properties"), BL_VERB_CREATE_BRANCH, note, e->now_ms, err));
  return o->wap_id ? BL_OK : bl_edit_set_ref(e, &branch, err);
}

/* ---- old metadata files ---- */

static void remove_old_metadata(bl_table *base, const bl_str *files, size_t n) {
  if (!bl_property_bool(&base->metadata->properties, "write.metadata.delete-after-commit.enabled", false)) return;
  for (size_t i = 0; i < n; i++) {
    bl_error why = BL_ERROR_INIT;
    bl_status st = base->io->remove(base->io, files[i].p, &why);
    if (st != BL_OK && st != BL_NOT_FOUND) bl_warn(base->ctx, "an old metadata file stays: %s", why.message);
  }
}

/* *moving: a conflict from here on is a lost race. */
static bl_status finish_and_move(bl_table *base, bl_edit *e, bl_unsynced *before, bool *moving, bl_error *err) {
  bl_str *dropped;
  size_t n;
  bl_str name = bl_pointer_name(e->a, base, e->doc);
  if (!name.p) return bl_nomem(err);
  BL_TRY(bl_edit_finish(e, name, &dropped, &n, err));
  *moving = true;
  BL_TRY(bl_pointer_move(base, e->doc, before, err));
  remove_old_metadata(base, dropped, n);
  return BL_OK;
}

/* ---- attempts ---- */

static void fill_result(const bl_attempt *at, bl_write_result *r) {
  const bl_snapshot *s = &at->snapshot;
  r->committed = true;
  r->snapshot_id = s->id;
  r->sequence_number = s->sequence_number;
  r->first_row_id = s->first_row_id;
  r->rows_assigned = s->added_rows;
  r->data_files_added = at->counts.added_data_files;
  r->data_files_removed = at->counts.removed_data_files;
  r->delete_files_added = at->counts.added_delete_files;
  r->delete_files_removed = at->counts.removed_delete_files;
  r->attempts = at->c->attempt;
}

static bl_status try_once(bl_attempt *at, const bl_write_options *o, bool *moving, bl_error *err) {
  bl_edit e;
  bl_manifest_file *list;
  size_t n;
  BL_TRY(bl_edit_begin_adding(at->arena, at->base->metadata, &e, err));
  BL_TRY(check_next_row_id(at, err));
  BL_TRY(bl_attempt_validate(at, err));
  BL_TRY(bl_attempt_manifests(at, err));
  BL_TRY(bl_attempt_merge(at, &at->data, err));
  BL_TRY(bl_attempt_merge(at, &at->deletes, err));
  count_manifests(at);
  BL_TRY(describe_snapshot(at, &e, o, err));
  BL_TRY(list_lines(at, &list, &n, err));
  BL_TRY(assign_ids(at, list, n, err));
  BL_TRY(write_list(at, list, n, err));
  BL_TRY(edit_document(at, o, &e, err));
  return finish_and_move(at->base, &e, &at->c->unsynced, moving, err);
}

static bl_status look_whether_applied(const bl_committing *c, const bl_attempt *at, const bl_write_options *o,
                                      bool *applied, bl_error *err) {
  const bl_metadata *md = at->base->metadata;
  const bl_snapshot *pick = c->s->picked == BL_NONE ? NULL : bl_metadata_snapshot(md, c->s->picked);
  *applied = bl_batch_find(at->base, c->ref, o->batch_id, o->wap_id) || (pick && bl_pick_is_applied(md, c->ref, pick));
  return *applied ? BL_OK : bl_staged_is_held(at, o->wap_id, applied, err);
}

/* The files of a snapshot that has expired may be gone. */
static bl_status check_picked(const bl_committing *c, const bl_attempt *at, bl_error *err) {
  if (c->s->picked == BL_NONE || bl_metadata_snapshot(at->base->metadata, c->s->picked)) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "conflict: %s: snapshot %lld, which is picked, has expired meanwhile",
                 at->base->name, (long long)c->s->picked);
}

bl_str bl_recorded_position(const bl_metadata *md, const bl_snapshot *s) {
  bl_str text = BL_STR_NONE;
  for (size_t steps = 0; s && !text.p && steps < md->n_snapshots; steps++, s = bl_metadata_parent(md, s))
    text = bl_pairs_get(&s->summary, BL_SOURCE_POSITION);
  return text;
}

/* Else a position would go back, or events be there twice. */
static bl_status check_position(const bl_committing *c, const bl_attempt *at, bl_error *err) {
  if (!c->s->heeds_position) return BL_OK;
  if (bl_str_eq(bl_recorded_position(at->base->metadata, at->parent), c->s->on_position)) return BL_OK;
  return bl_fail(err, BL_CONFLICT, "conflict: %s: another has applied events of the source to %.*s meanwhile",
                 at->base->name, BL_STR_ARG(c->ref));
}

/* One attempt and what follows from its outcome; *again: it lost a race. */
static bl_status attempt(bl_committing *c, const bl_write_options *o, bl_write_result *r, bool *again, bl_error *err) {
  bl_attempt *at = NULL;
  bool moving = false;
  *again = false;
  c->attempt++;
  BL_TRY(bl_attempt_new(c, &at, err));
  bl_committing_unuse_all(c);
  bl_status st = look_whether_applied(c, at, o, &r->already_applied, err);
  if (st == BL_OK && r->already_applied) {
    bl_committing_clean(c, at->base, true);
    bl_attempt_free(at);
    return BL_OK;
  }
  if (st == BL_OK) st = check_picked(c, at, err);
  if (st == BL_OK) st = check_position(c, at, err);
  if (st == BL_OK) st = try_once(at, o, &moving, err);
  if (st == BL_OK) {
    fill_result(at, r);
    warn_of_wap_twin(at->base, o->wap_id);
    bl_committing_clean(c, at->base, false);
  }
  *again = st == BL_CONFLICT && moving;
  bl_unsynced_wait(&c->unsynced); /* by the attempt's I/O */
  bl_attempt_free(at);
  return st;
}

static bl_status all_attempts(bl_committing *c, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  retries left;
  bl_error why;
  retries_init(&left, c->ctx, &c->t->metadata->properties);
  for (;;) {
    bool again;
    why = (bl_error)BL_ERROR_INIT;
    bl_status st = attempt(c, o, r, &again, &why);
    if (st == BL_OK) return BL_OK;
    st = told_if_gone(c->t, st, &why);
    if (!again || !retries_wait(&left)) {
      if (st != BL_UNKNOWN) bl_committing_clean(c, c->t, true);
      if (again) bl_fail_in(&why, st, "gave up after %d attempts", c->attempt);
      return bl_fail_at(err, st, why.position, "%s", why.message);
    }
  }
}

/* What was staged goes to the disk while the commit is made. */
static bl_status begin_sync(bl_committing *c, bl_error *err) {
  const bl_staged *s = c->s;
  bl_unsynced *u = &c->unsynced;
  *u = (bl_unsynced){.ctx = c->ctx, .background = c->t->common->background};
  if (s->synced || !s->n_files) return BL_OK;
  for (size_t i = 0; i < s->n_files; i++) BL_TRY(bl_unsynced_add(u, s->files[i], 0, err));
  for (size_t i = 0; i < s->n_data; i++)
    if (!bl_add64(u->bytes, s->data[i].file_size, &u->bytes)) u->bytes = INT64_MAX;
  bl_unsynced_begin(u, c->t->io, true);
  return BL_OK;
}

static bl_status committing_init(bl_committing *c, bl_table *t, const bl_staged *s, const bl_write_options *o,
                                 bl_error *err) {
  *c = (bl_committing){.ctx = t->ctx, .t = t, .s = s, .ref = bl_branch_of(o)};
  BL_TRY(begin_sync(c, err));
  c->snapshot_id = bl_new_snapshot_id(t->ctx, t->metadata);
  c->uuid = bl_new_uuid(t->ctx);
  return bl_arena_new(t->ctx, &c->arena, err);
}

static void committing_dispose(bl_committing *c) {
  bl_free(c->ctx, c->files);
  bl_free(c->ctx, c->rewrites);
  bl_free(c->ctx, c->merges);
  bl_unsynced_dispose(&c->unsynced);
  bl_arena_free(c->arena);
}

/* A batch that changes nothing is a snapshot all the same: it keeps the id. */
static bool is_empty(const bl_staged *s, const bl_write_options *o) {
  return !s->n_data && !s->n_removed && !s->n_vectors && !s->even_if_empty && !o->batch_id;
}

/* Nothing to commit: is what was found still there? */
static bl_status validate_kept(bl_committing *c, bl_error *err) {
  bl_attempt *at;
  BL_TRY(bl_attempt_new(c, &at, err));
  bl_status st = bl_attempt_validate(at, err);
  bl_attempt_free(at);
  return st;
}

static void fill_counts(const bl_staged_counts *counts, bl_write_result *r) {
  r->rows_inserted = counts->rows_inserted;
  r->rows_updated = counts->rows_updated;
  r->rows_deleted = counts->rows_deleted;
  r->rows_unchanged = counts->rows_unchanged;
}

static void fill_dry(const bl_staged *s, bl_write_result *r) {
  r->data_files_added = (int64_t)s->n_data;
  r->data_files_removed = (int64_t)s->n_removed;
  r->delete_files_added = (int64_t)s->n_vectors;
}

bl_status bl_commit_change(bl_table *t, bl_staged *s, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  static const bl_write_options defaults = {0};
  bl_committing c;
  if (!o) o = &defaults;
  BL_TRY(bl_pointer_check(t, err));
  BL_TRY(bl_encryption_check(t, err));
  BL_TRY(bl_summary_check(o, err));
  bool empty = is_empty(s, o), dry = o->dry_run || o->stage;
  if (o->stage && !o->dry_run) BL_TRY(bl_staged_give(s, t, o, err));
  if (dry) fill_dry(s, r);
  if (dry || (empty && !s->n_kept)) {
    fill_counts(&s->counts, r);
    return BL_OK;
  }
  bl_status st = committing_init(&c, t, s, o, err);
  if (st == BL_OK) st = empty ? validate_kept(&c, err) : all_attempts(&c, o, r, err);
  if (st == BL_OK && !r->already_applied) fill_counts(&s->counts, r);
  /* Another applied the batch meanwhile. With files of documents it may have been these very files. */
  if (st == BL_OK && !r->committed && !s->n_ids) bl_staged_discard(s, t);
  committing_dispose(&c);
  return st;
}

/* ---- metadata alone ---- */

typedef struct metadata_change {
  const char *verb;
  bl_metadata_edit edit;
  void *user;
  const bl_write_options *o;
} metadata_change;

/* What is edited, and what is told of it: a batch is worth a version of its own. */
static bl_status edit_and_note(const metadata_change *c, bl_edit *e, bl_error *err) {
  BL_TRY(c->edit(c->user, e, err));
  if (!c->o->batch_id && !(c->o->n_summary && bl_edit_changed(e))) return BL_OK;
  return bl_note_put(e->a, bl_edit_object(e, "properties"), c->verb, c->o, e->now_ms, err);
}

static bl_status edit_once(bl_table *t, const metadata_change *c, bool *moving, bl_error *err) {
  bool applied;
  bl_table *base = NULL;
  bl_arena *a = NULL;
  bl_edit e;
  bl_unsynced written = {.ctx = t->ctx, .background = t->common->background};
  bl_status st;
  BL_GO(bl_arena_new(t->ctx, &a, err));
  BL_GO(bl_table_reopen(t, &base, err));
  BL_GO(bl_check_same_table(t, base, err));
  BL_GO(bl_edit_begin(a, base->metadata, &e, err));
  e.table = base;
  e.written = &written;
  BL_GO(bl_note_is_there(t->ctx, &base->metadata->properties, c->verb, c->o, &applied, err));
  if (c->o->already_applied) *c->o->already_applied = applied;
  if (applied) goto done;
  BL_GO(edit_and_note(c, &e, err));
  if (!c->o->dry_run && bl_edit_changed(&e)) st = finish_and_move(base, &e, &written, moving, err);
done:
  bl_unsynced_dispose(&written);
  bl_table_free(base);
  bl_arena_free(a);
  return st;
}

bl_status bl_not_staged_check(const char *verb, const bl_write_options *o, bl_error *err) {
  if (!o || (!o->wap_id && !o->stage)) return BL_OK;
  return bl_fail(err, BL_USAGE, "wrong usage: %s: it cannot be staged, or keep a WAP id", verb);
}

bl_status bl_commit_metadata(bl_table *t, const char *verb, bl_metadata_edit edit, void *user,
                             const bl_write_options *o, bl_error *err) {
  static const bl_write_options defaults = {0};
  const metadata_change c = {verb, edit, user, o ? o : &defaults};
  retries left;
  bl_error why;
  BL_TRY(bl_not_staged_check(verb, o, err));
  BL_TRY(bl_pointer_check(t, err));
  BL_TRY(bl_summary_check(c.o, err));
  retries_init(&left, t->ctx, &t->metadata->properties);
  for (;;) {
    bool moving = false;
    why = (bl_error)BL_ERROR_INIT;
    bl_status st = edit_once(t, &c, &moving, &why);
    if (st == BL_OK) return BL_OK;
    st = told_if_gone(t, st, &why);
    if (st != BL_CONFLICT || !moving || !retries_wait(&left))
      return bl_fail_at(err, st, why.position, "%s", why.message);
  }
}

/* task.c: bl_run_task: the rows of one task of a plan. A scan task gives the file's live rows; a changes task the rows
 * that left and came to one touched file in one step, as DELETE and INSERT (or updates, where both images lie in it):
 * the join of tasks by _row_id is whoever's collects them (docs/formats/task-json.md). */
#include "changes/job.h"
#include "rows/stream.h"
#include "scan/task_json.h"

typedef struct changes_task {
  bl_ctx *ctx;
  bl_task task;
  bl_manifest_entry old_entry, new_entry;
  bl_touched touched;
  bl_diff diff;
  bl_snapshot commit;
  int64_t ordinal;
  int64_t *ids;
  size_t n_ids;
} changes_task;

static void task_free(void *user) {
  changes_task *c = user;
  bl_ctx *ctx = c->ctx;
  bl_task_dispose(&c->task);
  bl_free(ctx, c);
}

static bl_status read_side(changes_task *c, const char *key, const char *deletes_key, bl_manifest_entry *e,
                           const bl_manifest_entry **out, bl_file_deletes *deletes, bl_error *err) {
  const bl_metadata *md = c->task.table->metadata;
  const bl_json *file, *list;
  BL_TRY(bl_json_member_opt(c->task.json, key, BL_J_OBJECT, &file, err));
  if (!file) return BL_OK;
  BL_TRY(bl_entry_from_json(c->task.arena, md, file, e, err));
  *out = e;
  BL_TRY(bl_json_member(c->task.json, deletes_key, BL_J_ARRAY, &list, err));
  return bl_deletes_from_json(c->task.arena, md, list, deletes, err);
}

static bl_status read_commit(changes_task *c, bl_error *err) {
  static const char *const keys[] = {"operation", "engine-name", "engine-version"};
  const bl_json *o;
  BL_TRY(bl_json_member(c->task.json, "commit", BL_J_OBJECT, &o, err));
  BL_TRY(bl_json_get_i64(o, "snapshot-id", &c->commit.id, err));
  BL_TRY(bl_json_get_i64(o, "sequence-number", &c->commit.sequence_number, err));
  BL_TRY(bl_json_get_i64(o, "timestamp-ms", &c->commit.timestamp_ms, err));
  c->commit.summary.items = bl_arena_calloc(c->task.arena, BL_LEN(keys), sizeof *c->commit.summary.items);
  if (!c->commit.summary.items) return bl_nomem(err);
  for (size_t i = 0; i < BL_LEN(keys); i++) {
    bl_str s;
    BL_TRY(bl_json_opt_str(o, keys[i], &s, err));
    if (s.p) c->commit.summary.items[c->commit.summary.n++] = (bl_pair){bl_str_of(keys[i]), s};
  }
  return BL_OK;
}

static bl_status read_ids(changes_task *c, bl_error *err) {
  const bl_json *ids;
  BL_TRY(bl_json_member_opt(c->task.json, "row-ids", BL_J_ARRAY, &ids, err));
  if (!ids) return BL_OK;
  c->ids = bl_arena_alloc(c->task.arena, ids->n + 1, sizeof *c->ids);
  if (!c->ids) return bl_nomem(err);
  for (const bl_json *v = ids->first; v; v = v->next) BL_TRY(bl_json_i64(v, &c->ids[c->n_ids++], err));
  return BL_OK;
}

static bl_status read_task(changes_task *c, bl_error *err) {
  bl_touched *t = &c->touched;
  BL_TRY(bl_json_get_i64(c->task.json, "ordinal", &c->ordinal, err));
  if (c->ordinal < 0 || c->ordinal > INT32_MAX)
    return bl_json_fail(err, BL_USAGE, bl_json_get(c->task.json, "ordinal"), "out of range");
  BL_TRY(read_commit(c, err));
  BL_TRY(read_side(c, "old-file", "old-deletes", &c->old_entry, &t->old_entry, &t->old_deletes, err));
  BL_TRY(read_side(c, "new-file", "new-deletes", &c->new_entry, &t->new_entry, &t->new_deletes, err));
  BL_TRY(read_ids(c, err));
  if (!t->old_entry && !t->new_entry) return bl_json_fail(err, BL_USAGE, c->task.json, "neither old-file nor new-file");
  c->diff = (bl_diff){.items = t, .n = 1};
  return BL_OK;
}

static bl_status prepare(bl_job *j, changes_task *c, bl_error *err) {
  bl_task *t = &c->task;
  bl_feed_options fo = {0};
  BL_TRY(bl_job_columns(j, t->table, t->schema, t->columns, t->n_columns, false, err));
  BL_TRY(bl_job_where(j, t->schema, t->where, err));
  if (c->ids) {
    BL_TRY(bl_idset_init(&j->only, j->ctx, c->ids, c->n_ids, err));
    fo.only = &j->only;
  }
  BL_TRY(bl_feed_run_diff(&j->feed, t->table, &fo, &c->diff, t->schema, &c->commit, (uint32_t)c->ordinal, err));
  bl_emit_options eo = {.columns = &j->columns.wanted,
                        .specials = j->specials,
                        .special_at = j->special_at,
                        .n_specials = j->n_specials,
                        .where = j->where};
  return bl_emitter_new(&j->feed, &eo, &j->emitter, err);
}

static bl_status run_changes_task(bl_ctx *ctx, bl_task *task, struct ArrowArrayStream *out, bl_error *err) {
  bl_job *j = NULL;
  changes_task *c = bl_calloc(ctx, 1, sizeof *c);
  if (!c) {
    bl_task_dispose(task);
    return bl_nomem(err);
  }
  c->ctx = ctx;
  c->task = *task;
  bl_status st = read_task(c, err);
  if (st == BL_OK) st = bl_job_new(c->task.table, &j, err);
  if (!j) {
    task_free(c);
    return st;
  }
  j->more = c;
  j->free_more = task_free;
  if (st == BL_OK) st = prepare(j, c, err);
  if (st == BL_OK) return bl_job_stream(j, out, err);
  bl_job_free(j);
  return st;
}

bl_status bl_run_task(bl_ctx *ctx, const char *json, size_t n, const bl_table_options *o, struct ArrowArrayStream *out,
                      bl_error *err) {
  bl_task task;
  memset(out, 0, sizeof *out);
  BL_TRY(bl_task_parse(ctx, json, n, o, &task, err));
  if (bl_str_is(task.kind, "scan")) return bl_run_scan_task(ctx, &task, out, err);
  if (bl_str_is(task.kind, "changes")) return run_changes_task(ctx, &task, out, err);
  bl_status st = bl_fail(err, BL_USAGE, "task: $.kind: \"%.*s\" is neither scan nor changes", BL_STR_ARG(task.kind));
  bl_task_dispose(&task);
  return st;
}

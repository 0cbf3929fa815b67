/* plan_json.c: bl_changes_plan and bl_history_plan: what a change feed would read, from metadata alone. A task is one
 * touched file of one step. */
#include "changes/job.h"
#include "scan/task_json.h"

typedef struct planner {
  bl_table *t;
  bl_arena *a;
  const bl_schema *schema;
  bl_task_head head;
  bool footers;
  bl_reading env;
  const bl_history_options *history; /* row ids that tasks are cut to; NULL */
  bl_idset only;
  bl_json *steps, *tasks;
  bl_plan_counts counts;
} planner;

static bool set_long(planner *p, bl_json *o, const char *key, int64_t v) {
  return bl_json_set(p->a, o, key, bl_json_new_i64(p->a, v));
}

static bool set_str(planner *p, bl_json *o, const char *key, bl_str s) {
  return bl_json_set(p->a, o, key, bl_json_new_str(p->a, s));
}

static bl_json *commit_json(planner *p, const bl_snapshot *s) {
  bl_json *o = bl_json_new(p->a, BL_J_OBJECT);
  bl_str op = bl_snapshot_operation(s), engine = bl_pairs_get(&s->summary, "engine-name"),
         version = bl_pairs_get(&s->summary, "engine-version");
  bool ok = o && set_long(p, o, "snapshot-id", s->id) && set_long(p, o, "sequence-number", s->sequence_number);
  ok = ok && set_long(p, o, "timestamp-ms", s->timestamp_ms);
  if (ok && op.n) ok = set_str(p, o, "operation", op);
  if (ok && engine.p) ok = set_str(p, o, "engine-name", engine);
  if (ok && version.p) ok = set_str(p, o, "engine-version", version);
  return ok ? o : NULL;
}

static bl_str why(const bl_touched *t) {
  if (!t->old_entry) return BL_STR("added data file");
  if (!t->new_entry) return BL_STR("removed data file");
  return t->new_deletes.n_equality || t->old_deletes.n_equality
             ? BL_STR("kept data file, reached by equality deletes that changed")
             : BL_STR("kept data file whose deleted positions changed");
}

/* May a version hold one of the wanted ids? Only where the manifest's metrics tell that they are stored, or footers
 * were asked for, is that known better than by the inherited range: so every file that may store ids stays. */
static bool may_hold(const planner *p, const bl_manifest_entry *e) {
  if (!p->history || p->only.n == 0 || !e) return e != NULL;
  bl_stats s;
  static const bl_field id = {.id = BL_ID_ROW_ID, .name = BL_STR("_row_id"), .type = {.kind = BL_LONG}};
  if (!bl_meta_stats((void *)(uintptr_t)e, &id, &s)) return true;
  if (!s.has_lower) return s.nulls != s.rows;
  size_t i = bl_idset_lower(&p->only, s.lower.u.i);
  return i < p->only.n && p->only.ids[i] <= s.upper.u.i;
}

static bool set_side(planner *p, bl_json *task, const char *key, const char *deletes_key, const bl_manifest_entry *e,
                     const bl_file_deletes *d) {
  const bl_metadata *md = p->t->metadata;
  if (!e) return bl_json_set(p->a, task, key, bl_json_new(p->a, BL_J_NULL));
  return bl_json_set(p->a, task, key, bl_entry_to_json(p->a, md, e)) &&
         bl_json_set(p->a, task, deletes_key, bl_deletes_to_json(p->a, md, d));
}

static bool set_row_ids(planner *p, bl_json *task) {
  bl_json *ids = bl_json_new(p->a, BL_J_ARRAY);
  bool ok = ids != NULL;
  for (size_t i = 0; ok && i < p->only.n; i++) {
    bl_json *v = bl_json_new_i64(p->a, p->only.ids[i]);
    ok = v && bl_json_push(ids, v);
  }
  return ok && bl_json_set(p->a, task, "row-ids", ids);
}

static bl_status add_task(planner *p, size_t ordinal, const bl_snapshot *commit, const bl_touched *t, bl_error *err) {
  if (!may_hold(p, t->old_entry) && !may_hold(p, t->new_entry)) {
    p->counts.files_skipped++;
    return BL_OK;
  }
  const bl_manifest_entry *e = t->new_entry ? t->new_entry : t->old_entry;
  bl_json *task = bl_task_new(p->a, p->t, &p->head);
  bool ok = task && set_str(p, task, "why", why(t)) && set_long(p, task, "ordinal", (int64_t)ordinal);
  ok = ok && bl_json_set(p->a, task, "commit", commit_json(p, commit));
  ok = ok && set_side(p, task, "old-file", "old-deletes", t->old_entry, &t->old_deletes);
  ok = ok && set_side(p, task, "new-file", "new-deletes", t->new_entry, &t->new_deletes);
  if (ok && p->history && p->only.n) ok = set_row_ids(p, task);
  if (!ok) return bl_nomem(err);
  if (p->footers) BL_TRY(bl_footer_to_json(p->a, &p->env, e, task, err));
  p->counts.files++;
  p->counts.rows += e->file.record_count;
  p->counts.bytes += e->file.file_size;
  return bl_json_push(p->tasks, task) ? BL_OK : bl_nomem(err);
}

static void add_counts(bl_plan_counts *sum, const bl_plan_counts *c) {
  sum->manifests_opened += c->manifests_opened;
  sum->manifests_skipped += c->manifests_skipped;
  sum->delete_manifests_opened += c->delete_manifests_opened;
  sum->delete_manifests_skipped += c->delete_manifests_skipped;
  sum->delete_files += c->delete_files;
}

static bl_status add_step(planner *p, bl_differ *differ, size_t ordinal, const bl_step *s, bool net, bl_error *err) {
  bl_diff d;
  BL_TRY(bl_differ_run(differ, s->from, s->to, &d, err));
  bool proven =
      !net && !s->gap && s->from && bl_str_is(bl_snapshot_operation(s->to), "replace") && d.metadata_proves_replace;
  bl_json *o = bl_json_new(p->a, BL_J_OBJECT);
  bool ok = o && set_long(p, o, "ordinal", (int64_t)ordinal);
  ok = ok && bl_json_set(p->a, o, "from-snapshot-id",
                         s->from ? bl_json_new_i64(p->a, s->from->id) : bl_json_new(p->a, BL_J_NULL));
  ok = ok && bl_json_set(p->a, o, "commit", commit_json(p, s->to));
  ok = ok && bl_json_set(p->a, o, "gap", bl_json_new_bool(p->a, s->gap));
  ok = ok && bl_json_set(p->a, o, "proven-replace", bl_json_new_bool(p->a, proven));
  ok = ok && bl_json_set(p->a, o, "counts", bl_counts_to_json(p->a, &d.counts));
  bl_status st = ok && bl_json_push(p->steps, o) ? BL_OK : bl_nomem(err);
  for (size_t i = 0; st == BL_OK && !proven && i < d.n; i++) st = add_task(p, ordinal, s->to, &d.items[i], err);
  add_counts(&p->counts, &d.counts);
  bl_diff_release(differ, &d);
  return st;
}

static bl_status walk(planner *p, const bl_range *r, bool net, bl_error *err) {
  bl_differ *differ;
  BL_TRY(bl_differ_new(p->t, &differ, err));
  bl_status st = BL_OK;
  if (net && r->to && r->from != r->to) {
    bl_step whole = {.from = r->from, .to = r->to};
    st = add_step(p, differ, 0, &whole, true, err);
  }
  for (size_t i = 0; st == BL_OK && !net && i < r->n_steps; i++) st = add_step(p, differ, i, &r->steps[i], false, err);
  bl_differ_free(differ);
  return st;
}

static bl_status write_plan(planner *p, const bl_range_options *ro, char **json, bl_error *err) {
  bl_range r;
  BL_TRY(bl_range_resolve(p->t, ro, p->a, &r, err));
  bl_json *doc = bl_json_new(p->a, BL_J_OBJECT);
  p->steps = bl_json_new(p->a, BL_J_ARRAY);
  p->tasks = bl_json_new(p->a, BL_J_ARRAY);
  if (!doc || !p->steps || !p->tasks) return bl_nomem(err);
  BL_TRY(walk(p, &r, ro->net, err));
  bool ok = bl_json_set(p->a, doc, "from-snapshot-id",
                        r.from ? bl_json_new_i64(p->a, r.from->id) : bl_json_new(p->a, BL_J_NULL));
  ok = ok &&
       bl_json_set(p->a, doc, "to-snapshot-id", r.to ? bl_json_new_i64(p->a, r.to->id) : bl_json_new(p->a, BL_J_NULL));
  ok = ok && bl_json_set(p->a, doc, "net", bl_json_new_bool(p->a, ro->net));
  ok = ok && bl_json_set(p->a, doc, "counts", bl_counts_to_json(p->a, &p->counts));
  ok = ok && bl_json_set(p->a, doc, "steps", p->steps) && bl_json_set(p->a, doc, "tasks", p->tasks);
  return ok ? bl_json_text(p->t->ctx, doc, json, err) : bl_nomem(err);
}

typedef struct request {
  bl_range_options range;
  const char *const *columns;
  size_t n_columns;
  const char *where;
  const bl_history_options *history;
  bool footers;
} request;

static bl_status plan(bl_table *t, const request *q, char **json, bl_error *err) {
  bl_job *j;
  *json = NULL;
  BL_TRY(bl_job_new(t, &j, err));
  planner p = {.t = t, .a = j->arena, .footers = q->footers, .history = q->history};
  bl_status st;
  BL_GO(bl_job_schema(t, &q->range, &p.schema, err));
  BL_GO(bl_job_columns(j, t, p.schema, q->columns, q->n_columns, err));
  BL_GO(bl_job_where(j, p.schema, q->where, err));
  p.head = (bl_task_head){"changes", p.schema, &j->columns.wanted, j->where, false};
  BL_GO(bl_reading_init(&p.env, t, err));
  if (q->history) BL_GO(bl_idset_init(&p.only, t->ctx, q->history->row_ids, q->history->n_row_ids, err));
  BL_GO(write_plan(&p, &q->range, json, err));
done:
  bl_idset_dispose(&p.only);
  bl_reading_dispose(&p.env);
  bl_job_free(j);
  return st;
}

bl_status bl_changes_plan(bl_table *t, const bl_changes_options *o, bool footers, char **json, bl_error *err) {
  static const bl_changes_options none = {0};
  if (!o) o = &none;
  request q = {.range = {.from = o->from, .to = o->to, .ref = o->ref, .net = o->net},
               .columns = o->columns,
               .n_columns = o->n_columns,
               .where = o->where,
               .footers = footers};
  return plan(t, &q, json, err);
}

bl_status bl_history_plan(bl_table *t, const bl_history_options *o, bool footers, char **json, bl_error *err) {
  request q = {.range = {.from = o->from, .to = o->to, .ref = o->ref},
               .columns = o->columns,
               .n_columns = o->n_columns,
               .where = o->where,
               .history = o,
               .footers = footers};
  return plan(t, &q, json, err);
}

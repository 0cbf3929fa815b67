/* plan_json.c: bl_changes_plan and bl_history_plan: what a change feed would read, from metadata alone. A task is one
 * touched file of one step. */
#include "base/map.h"
#include "changes/identity.h"
#include "changes/job.h"
#include "scan/task_json.h"

/* A manifest of the lists of the range, once: opened where any step opens it. */
typedef struct noted {
  bl_str path;
  bl_manifest_content content;
  bool opened;
  const char *why;
} noted;

typedef struct planner {
  bl_table *t;
  bl_arena *a;
  const bl_schema *schema;
  bl_task_head head;
  bool footers;
  bl_reading env;
  const bl_history_options *history; /* row ids that tasks are cut to; NULL */
  bl_idset only;
  bl_value *values; /* the same ids, for footers */
  uint8_t *keep;    /* by footers: what the first walk found, one a task that metadata keeps */
  size_t n_keep, cap_keep, at_keep;
  bl_plan_writer w;
  bool counting; /* the first walk: steps and counts; the second writes the tasks */
  bl_json *steps;
  bool several;    /* steps, whose lists may share manifests */
  bl_map *by_path; /* of the manifests: index */
  noted *manifests;
  size_t n_manifests, cap_manifests;
  bl_plan_counts counts;
} planner;

static bool set_long(bl_arena *a, bl_json *o, const char *key, int64_t v) {
  return bl_json_set(a, o, key, bl_json_new_i64(a, v));
}

static bool set_str(bl_arena *a, bl_json *o, const char *key, bl_str s) {
  return bl_json_set(a, o, key, bl_json_new_str(a, s));
}

static bl_json *commit_json(bl_arena *a, const bl_snapshot *s) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bl_str op = bl_snapshot_operation(s), engine = bl_pairs_get(&s->summary, "engine-name"),
         version = bl_pairs_get(&s->summary, "engine-version");
  bool ok = o && set_long(a, o, "snapshot-id", s->id) && set_long(a, o, "sequence-number", s->sequence_number);
  ok = ok && set_long(a, o, "timestamp-ms", s->timestamp_ms);
  if (ok && op.n) ok = set_str(a, o, "operation", op);
  if (ok && engine.p) ok = set_str(a, o, "engine-name", engine);
  if (ok && version.p) ok = set_str(a, o, "engine-version", version);
  return ok ? o : NULL;
}

static bl_str why(const bl_touched *t) {
  if (!t->old_entry) return BL_STR("added data file");
  if (!t->new_entry) return BL_STR("removed data file");
  return t->new_deletes.n_equality || t->old_deletes.n_equality
             ? BL_STR("kept data file, reached by equality deletes that changed")
             : BL_STR("kept data file whose deleted positions changed");
}

static const bl_field row_id_field = {.id = BL_ID_ROW_ID, .name = BL_STR("_row_id"), .type = {.kind = BL_LONG}};

/* May a version hold one of the wanted ids, as far as metadata tells? */
static bool may_hold(const planner *p, const bl_manifest_entry *e) {
  return e && (!p->history || p->only.n == 0 || bl_may_hold_ids(&p->only, e));
}

/* The same by the footer: stored ids by their statistics, others by position. */
static bl_status footer_may_hold(planner *p, const bl_manifest_entry *e, bool *may, bl_error *err) {
  const bl_type wanted = {.kind = BL_STRUCT, .fields = (bl_field *)&row_id_field, .n_fields = 1};
  const bl_expr is_wanted = {
      .op = p->only.n == 1 ? BL_E_EQ : BL_E_IN, .field = &row_id_field, .values = p->values, .n_literals = p->only.n};
  return bl_footer_may_match(&p->env, e, &is_wanted, &wanted, may, err);
}

static bl_status take_ids(planner *p, bl_error *err) {
  BL_TRY(bl_idset_init(&p->only, p->t->ctx, p->history->row_ids, p->history->n_row_ids, err));
  p->values = bl_arena_calloc(p->a, p->only.n + 1, sizeof *p->values);
  if (!p->values) return bl_nomem(err);
  for (size_t i = 0; i < p->only.n; i++) p->values[i] = (bl_value){.kind = BL_LONG, .u.i = p->only.ids[i]};
  return BL_OK;
}

static bl_status footers_keep(planner *p, const bl_touched *t, bool *keep, bl_error *err) {
  *keep = true;
  if (!p->footers || !p->history || p->only.n == 0) return BL_OK;
  if (!p->counting) {
    *keep = p->keep[p->at_keep++];
    return BL_OK;
  }
  *keep = false;
  if (may_hold(p, t->new_entry)) BL_TRY(footer_may_hold(p, t->new_entry, keep, err));
  if (!*keep && may_hold(p, t->old_entry)) BL_TRY(footer_may_hold(p, t->old_entry, keep, err));
  BL_TRY(bl_grow(p->t->ctx, &p->keep, &p->cap_keep, p->n_keep, 1, err));
  p->keep[p->n_keep++] = *keep;
  return BL_OK;
}

static bool set_side(planner *p, bl_arena *a, bl_json *task, const char *key, const char *deletes_key,
                     const bl_manifest_entry *e, const bl_file_deletes *d) {
  const bl_metadata *md = p->t->metadata;
  if (!e) return bl_json_set(a, task, key, bl_json_new(a, BL_J_NULL));
  return bl_json_set(a, task, key, bl_entry_to_json(a, md, e)) &&
         bl_json_set(a, task, deletes_key, bl_deletes_to_json(a, md, d));
}

static bool set_row_ids(planner *p, bl_arena *a, bl_json *task) {
  bl_json *ids = bl_json_new(a, BL_J_ARRAY);
  bool ok = ids != NULL;
  for (size_t i = 0; ok && i < p->only.n; i++) {
    bl_json *v = bl_json_new_i64(a, p->only.ids[i]);
    ok = v && bl_json_push(ids, v);
  }
  return ok && bl_json_set(a, task, "row-ids", ids);
}

static bl_json *own_part(planner *p, bl_arena *a, size_t ordinal, const bl_snapshot *commit, const bl_touched *t) {
  bl_json *own = bl_json_new(a, BL_J_OBJECT);
  bool ok = own && bl_json_set(a, own, "why", bl_json_new_str(a, why(t))) &&
            bl_json_set(a, own, "ordinal", bl_json_new_i64(a, (int64_t)ordinal));
  ok = ok && bl_json_set(a, own, "commit", commit_json(a, commit));
  ok = ok &&
       bl_json_set(a, own, "id-range", bl_id_range_to_json(a, &(t->new_entry ? t->new_entry : t->old_entry)->file));
  ok = ok && set_side(p, a, own, "old-file", "old-deletes", t->old_entry, &t->old_deletes);
  ok = ok && set_side(p, a, own, "new-file", "new-deletes", t->new_entry, &t->new_deletes);
  if (ok && p->history && p->only.n) ok = set_row_ids(p, a, own);
  return ok ? own : NULL;
}

static bl_status put_task(planner *p, bl_arena *a, size_t ordinal, const bl_snapshot *commit, const bl_touched *t,
                          bl_error *err) {
  const bl_manifest_entry *e = t->new_entry ? t->new_entry : t->old_entry;
  bl_plan_line line = {.why = why(t), .file = &e->file, .ordinal = (int64_t)ordinal};
  if (t->new_entry) line.deletes = &t->new_deletes;
  if (t->old_entry) line.old_deletes = &t->old_deletes;
  bl_json *own = bl_plan_wants_json(&p->w) ? own_part(p, a, ordinal, commit, t) : bl_json_new(a, BL_J_OBJECT);
  if (!own) return bl_nomem(err);
  if (p->footers) BL_TRY(bl_footer_to_json(a, &p->env, e, own, err));
  line.splits = bl_plan_splits(&e->file, own);
  return bl_plan_task(&p->w, own, &line, err);
}

static bl_status add_task(planner *p, size_t ordinal, const bl_snapshot *commit, const bl_touched *t, bl_error *err) {
  bl_arena *a;
  const bl_manifest_entry *e = t->new_entry ? t->new_entry : t->old_entry;
  bool keep;
  keep = may_hold(p, t->old_entry) || may_hold(p, t->new_entry);
  if (keep) BL_TRY(footers_keep(p, t, &keep, err));
  if (!keep) {
    p->counts.files_skipped++;
    return BL_OK;
  }
  if (p->counting) {
    p->counts.files++;
    p->counts.rows += e->file.record_count;
    p->counts.bytes += e->file.file_size;
    return BL_OK;
  }
  BL_TRY(bl_arena_new(p->t->ctx, &a, err));
  bl_status st = put_task(p, a, ordinal, commit, t, err);
  bl_arena_free(a);
  return st;
}

static void add_counts(bl_plan_counts *sum, const bl_plan_counts *c) {
  sum->manifests_opened += c->manifests_opened;
  sum->manifests_skipped += c->manifests_skipped;
  sum->delete_manifests_opened += c->delete_manifests_opened;
  sum->delete_manifests_skipped += c->delete_manifests_skipped;
  sum->delete_files += c->delete_files;
}

static bl_status note_step(planner *p, size_t ordinal, const bl_step *s, const bl_diff *d, bool proven, bl_error *err) {
  bl_arena *a = p->a;
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o && set_long(a, o, "ordinal", (int64_t)ordinal);
  ok = ok &&
       bl_json_set(a, o, "from-snapshot-id", s->from ? bl_json_new_i64(a, s->from->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, o, "commit", commit_json(a, s->to));
  ok = ok && bl_json_set(a, o, "gap", bl_json_new_bool(a, s->gap));
  ok = ok && bl_json_set(a, o, "proven-replace", bl_json_new_bool(a, proven));
  ok = ok && bl_json_set(a, o, "counts", bl_counts_to_json(a, &d->counts));
  add_counts(&p->counts, &d->counts);
  return ok && bl_json_push(p->steps, o) ? BL_OK : bl_nomem(err);
}

static bl_status note_manifest(void *user, const bl_manifest_file *m, bool opened, const char *why, bl_error *err) {
  planner *p = user;
  size_t *at = p->several ? bl_map_get(p->by_path, m->path) : NULL;
  if (at) {
    noted *n = &p->manifests[*at];
    if (opened && !n->opened) *n = (noted){n->path, n->content, true, why};
    return BL_OK;
  }
  bl_str path = bl_arena_str(p->a, m->path);
  BL_TRY(bl_grow(p->t->ctx, &p->manifests, &p->cap_manifests, p->n_manifests, sizeof *p->manifests, err));
  if (!path.p || (p->several && !bl_map_put(p->by_path, path, p->n_manifests, NULL))) return bl_nomem(err);
  p->manifests[p->n_manifests++] = (noted){path, m->content, opened, why};
  return BL_OK;
}

static bl_json *manifests_json(const planner *p) {
  bl_json *array = bl_json_new(p->a, BL_J_ARRAY);
  bool ok = array != NULL;
  for (size_t i = 0; ok && i < p->n_manifests; i++) {
    const noted *n = &p->manifests[i];
    ok = bl_push_plan_manifest(p->a, array, n->path, n->content, n->opened, n->why);
  }
  return ok ? array : NULL;
}

static bl_status do_step(planner *p, bl_differ *differ, size_t ordinal, const bl_step *s, bool net, bl_error *err) {
  bl_diff d;
  BL_TRY(bl_differ_run(differ, s->from, s->to, &d, err));
  bool proven =
      !net && !s->gap && s->from && bl_str_is(bl_snapshot_operation(s->to), "replace") && d.metadata_proves_replace;
  bl_status st = p->counting ? note_step(p, ordinal, s, &d, proven, err) : BL_OK;
  for (size_t i = 0; st == BL_OK && !proven && i < d.n; i++) st = add_task(p, ordinal, s->to, &d.items[i], err);
  bl_diff_release(differ, &d);
  return st;
}

static bl_status walk(planner *p, bl_differ *differ, const bl_range *r, bool net, bl_error *err) {
  if (net) {
    bl_step whole = {.from = r->from, .to = r->to};
    return r->to && r->from != r->to ? do_step(p, differ, 0, &whole, true, err) : BL_OK;
  }
  for (size_t i = 0; i < r->n_steps; i++) BL_TRY(do_step(p, differ, i, &r->steps[i], false, err));
  return BL_OK;
}

static bl_json *document(planner *p, const bl_range *r, bool net) {
  bl_arena *a = p->a;
  bl_json *doc = bl_json_new(a, BL_J_OBJECT);
  bool ok = doc && bl_json_set(a, doc, "from-snapshot-id",
                               r->from ? bl_json_new_i64(a, r->from->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, doc, "to-snapshot-id", r->to ? bl_json_new_i64(a, r->to->id) : bl_json_new(a, BL_J_NULL));
  ok = ok && bl_json_set(a, doc, "net", bl_json_new_bool(a, net));
  ok = ok && bl_json_set(a, doc, "counts", bl_counts_to_json(a, &p->counts));
  ok = ok && bl_json_set(a, doc, "manifests", manifests_json(p));
  return ok && bl_json_set(a, doc, "steps", p->steps) ? doc : NULL;
}

/* Two walks over the same diffs (manifests are cached): counts stand before the tasks, and no task is kept. */
static bl_status write_plan(planner *p, const bl_range_options *ro, const bl_plan_request *q, const bl_sink *sink,
                            bl_error *err) {
  bl_range r;
  bl_differ *differ = NULL;
  BL_TRY(bl_range_resolve(p->t, ro, p->a, &r, err));
  bl_json *head = bl_task_new(p->a, p->t, &p->head), *doc;
  p->steps = bl_json_new(p->a, BL_J_ARRAY);
  if (!head || !p->steps) return bl_nomem(err);
  bl_status st;
  BL_GO(bl_map_new(p->t->ctx, &p->by_path, err));
  BL_GO(bl_differ_new(p->t, &differ, err));
  bl_differ_note(differ, note_manifest, p);
  p->several = !ro->net && r.n_steps > 1;
  p->counting = true;
  BL_GO(walk(p, differ, &r, ro->net, err));
  p->counting = false;
  bl_differ_note(differ, NULL, NULL);
  doc = document(p, &r, ro->net);
  BL_GO(doc ? bl_plan_begin(&p->w, p->t->ctx, sink, q->format, doc, head, err) : bl_nomem(err));
  BL_GO(walk(p, differ, &r, ro->net, err));
  BL_GO(bl_plan_end(&p->w, err));
done:
  bl_differ_free(differ);
  bl_map_free(p->by_path);
  bl_free(p->t->ctx, p->manifests);
  bl_plan_dispose(&p->w);
  return st;
}

typedef struct request {
  bl_range_options range;
  const char *const *columns;
  size_t n_columns;
  const char *where;
  const bl_history_options *history;
} request;

static bl_status plan(bl_table *t, const request *q, const bl_plan_request *pq, const bl_sink *sink, bl_error *err) {
  bl_job *j;
  BL_TRY(bl_job_new(t, &j, err));
  planner p = {.t = t, .a = j->arena, .footers = pq->footers, .history = q->history};
  bl_status st;
  BL_GO(bl_range_schema(t, &q->range, j->arena, &p.schema, err));
  BL_GO(bl_job_columns(j, t, p.schema, q->columns, q->n_columns, q->history != NULL, err));
  BL_GO(bl_job_where(j, p.schema, q->where, err));
  p.head = (bl_task_head){"changes", p.schema, &j->columns.wanted, j->where, false};
  BL_GO(bl_reading_init(&p.env, t, err));
  if (q->history) BL_GO(take_ids(&p, err));
  BL_GO(write_plan(&p, &q->range, pq, sink, err));
done:
  bl_idset_dispose(&p.only);
  bl_free(t->ctx, p.keep);
  bl_reading_dispose(&p.env);
  bl_job_free(j);
  return st;
}

bl_status bl_changes_plan(bl_table *t, const bl_changes_options *o, const bl_plan_request *q, const bl_sink *sink,
                          bl_error *err) {
  static const bl_changes_options none = {0};
  if (!o) o = &none;
  request r = {.range = {.from = o->from, .to = o->to, .ref = o->ref, .net = o->net},
               .columns = o->columns,
               .n_columns = o->n_columns,
               .where = o->where};
  return plan(t, &r, q, sink, err);
}

bl_status bl_history_plan(bl_table *t, const bl_history_options *o, const bl_plan_request *q, const bl_sink *sink,
                          bl_error *err) {
  request r = {.range = {.from = o->from, .to = o->to, .ref = o->ref},
               .columns = o->columns,
               .n_columns = o->n_columns,
               .where = o->where,
               .history = o};
  return plan(t, &r, q, sink, err);
}

/* apply.c: apply: change events to rows by key (source.h), and these into the table (upsert.h). */
#include "write/apply.h"

#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "write/upsert.h"

bl_status bl_applying_refuse(const bl_applying *a, bl_status st, const bl_error *e, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  if (a->at < 0) return bl_fail(err, st, "%s: row %lld: %s", a->front, (long long)a->line, e->message);
  return bl_fail_at(err, st, a->at, "%s: line %lld (byte %lld): %s", a->front, (long long)a->line, (long long)a->at,
                    e->message);
}

bool bl_applying_is_key(const bl_applying *a, bl_str name) {
  for (size_t i = 0; i < a->o->n_key; i++) {
    bl_str key = bl_str_of(a->o->key[i]);
    if (bl_str_eq(key, name)) return true;
    if (key.n > name.n && key.p[name.n] == '.' && memcmp(key.p, name.p, name.n) == 0) return true;
  }
  return false;
}

/* ---- positions ---- */

/* What the branch has recorded last. */
static bl_status find_stored(bl_applying *a, const bl_snapshot *head, bl_error *err) {
  bl_str text = bl_recorded_position(a->t->metadata, head);
  if (!text.p) return BL_OK;
  a->recorded = bl_arena_str(a->arena, text);
  return a->recorded.p ? bl_positions_read(a->arena, a->recorded, &a->stored, err) : bl_nomem(err);
}

/* The positions after the batch; *news: they say more than those before. */
static bl_status unite(const bl_applying *a, bl_arena *arena, bl_positions *out, bool *news, bl_error *err) {
  BL_TRY(bl_positions_read(arena, a->recorded, out, err));
  for (size_t i = 0; i < a->last.n; i++) {
    const bl_position *last = &a->last.items[i], *before = bl_positions_find(&a->stored, last);
    if (bl_positions_order(&a->stored, last) > BL_SAME || (before && before->n_events < last->n_events)) *news = true;
    BL_TRY(bl_positions_set(arena, out, last, err));
  }
  return BL_OK;
}

/* Into the summary, also where no row changes. What the events were held against must still be the last. */
static bl_status note_position(void *user, bl_change *c, bl_error *err) {
  const bl_applying *a = user;
  bl_str now = bl_recorded_position(c->t->metadata, c->head), text;
  bl_positions after;
  if (!bl_str_eq(now, a->recorded))
    return bl_fail(err, BL_CONFLICT, "apply: another has applied events of the source meanwhile");
  if (a->last.n == 0) return BL_OK;
  BL_TRY(bl_staged_on_position(c->staged, now, err));
  BL_TRY(unite(a, c->arena, &after, &c->staged->even_if_empty, err));
  BL_TRY(bl_positions_print(c->arena, &after, &text, err));
  return bl_staged_note(c->staged, BL_SOURCE_POSITION, text, err);
}

/* What was passed over is told: where order does not hold it may be missing. */
static void report(const bl_applying *a, const bl_write_options *o, bl_write_result *r) {
  r->events_passed_over = a->n_skipped;
  if (!r->committed && a->n_events && a->n_skipped == a->n_events) r->already_applied = true;
  if (a->n_skipped == a->n_events && a->n_skipped)
    bl_log(a->ctx, BL_LOG_INFO, "apply: all %lld events were applied before", (long long)a->n_skipped);
  else if (a->n_skipped > a->n_known)
    bl_warn(a->ctx,
            "apply: %lld of %lld events lie before the position of their source and were passed over as "
            "already applied",
            (long long)(a->n_skipped - a->n_known), (long long)a->n_events);
  if (a->changelog && bl_source_surplus(a->source))
    bl_warn(a->ctx,
            "apply: %lld rows have the key of another row of the same commit: the last one of each key is there alone",
            (long long)bl_source_surplus(a->source));
  if (a->n_unordered && a->changelog)
    bl_warn(a->ctx, "apply: %lld commits cannot be ordered beside those that were applied before: they were applied",
            (long long)a->n_unordered);
  else if (a->n_unordered)
    bl_warn(a->ctx,
            "apply: %lld of %lld events cannot be ordered beside the position of their source (another server, "
            "or no position of a commit): they were applied as they came",
            (long long)a->n_unordered, (long long)a->n_events);
  if (a->n_placeless && !(o && o->batch_id))
    bl_warn(a->ctx,
            "apply: %lld of %lld events tell no position of their source: given again they are applied again, where "
            "no batch id says that it is the same batch",
            (long long)a->n_placeless, (long long)a->n_events);
}

/* ---- the verb ---- */

/* Columns that may all be null: an event that deletes has only its key. */
static bl_status make_columns(bl_applying *a, bl_error *err) {
  const bl_type *root = &a->schema->root;
  a->columns.n = root->n_fields + 1;
  a->columns.fields = bl_arena_alloc(a->arena, a->columns.n, sizeof *a->columns.fields);
  a->members = bl_arena_alloc(a->arena, root->n_fields + 1, sizeof *a->members);
  a->named = bl_arena_calloc(a->arena, root->n_fields + 1, sizeof *a->named);
  a->lacks = bl_arena_calloc(a->arena, root->n_fields + 1, 1);
  a->deletes = bl_arena_alloc(a->arena, BL_TEXT_BATCH_ROWS, 1);
  a->ranks = bl_arena_alloc(a->arena, BL_TEXT_BATCH_ROWS, sizeof *a->ranks);
  if (!a->columns.fields || !a->members || !a->named || !a->lacks || !a->deletes || !a->ranks) return bl_nomem(err);
  BL_TRY(bl_map_new(a->ctx, &a->places, err));
  for (size_t i = 0; i < root->n_fields; i++) {
    a->columns.fields[i] = root->fields[i];
    a->columns.fields[i].required = false;
    a->named[i] = a->o->source == BL_APPLY_DEBEZIUM;
    if (!bl_map_put(a->places, root->fields[i].name, i, NULL)) return bl_nomem(err);
  }
  a->columns.fields[root->n_fields] = (bl_field){.name = BL_STR("lacks"), .type.kind = BL_BINARY};
  return bl_text_columns_build(a->ctx, &a->columns, err);
}

static bl_status name_rows(bl_applying *a, bl_error *err) {
  a->front = a->o->name ? bl_arena_printf(a->arena, "apply: %s", a->o->name).p : "apply";
  return a->front ? BL_OK : bl_nomem(err);
}

static bl_status begin(bl_applying *a, const bl_snapshot *head, bl_error *err) {
  bl_putter_init(&a->putter, a->ctx);
  BL_TRY(bl_arena_new(a->ctx, &a->arena, err));
  BL_TRY(bl_arena_new(a->ctx, &a->scratch, err));
  BL_TRY(name_rows(a, err));
  bl_source_options so = {
      .verb = "apply", .name = a->front, .schema = a->schema, .key = a->o->key, .n_key = a->o->n_key, .in_order = true};
  BL_TRY(bl_source_new(a->t, &so, &a->source, err));
  BL_TRY(make_columns(a, err));
  return find_stored(a, head, err);
}

static void end(bl_applying *a) {
  bl_apply_changes_dispose(a);
  bl_images_dispose(a);
  bl_putter_dispose(&a->putter);
  bl_text_columns_dispose(&a->columns);
  bl_map_free(a->places);
  bl_source_free(a->source);
  bl_arena_free(a->scratch);
  bl_arena_free(a->place);
  bl_arena_free(a->arena);
}

/* batch is taken over. */
static bl_status apply_batch(bl_applying *a, bl_events *e, struct ArrowArray *batch, bl_error *err) {
  bl_status st = bl_progress(a->ctx, "apply", a->line, 0, err);
  if (st == BL_OK && e->form == BL_EVENTS_IMAGES) return bl_apply_images(a, e, batch, err);
  if (st == BL_OK)
    st = e->form == BL_EVENTS_TEXTS ? bl_apply_texts(a, e, batch, err) : bl_apply_envelopes(a, e, batch, err);
  bl_array_release(batch);
  return st;
}

static bl_status read_events(bl_applying *a, bl_events *e, const bl_snapshot *head, bool anyway, bl_error *err) {
  if (a->o->source == BL_APPLY_CHANGES) BL_TRY(bl_apply_changes_begin(a, e, head, anyway, err));
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_events_next(e, &batch, err));
    if (!batch.release) break;
    BL_TRY(apply_batch(a, e, &batch, err));
  }
  BL_TRY(bl_applying_flush(a, err));
  if (a->changelog) BL_TRY(bl_apply_changes_finish(a, err));
  BL_TRY(bl_source_seal(a->source, err));
  bl_source_tell_given(a->source, a->named);
  return BL_OK;
}

static bl_status apply(bl_applying *a, struct ArrowArrayStream *in, const bl_write_options *o, bl_write_result *r,
                       bl_error *err) {
  bl_upsert_rules rules = {.verb = "apply", .schema_id = a->schema->id, .note = note_position, .user = a};
  const bl_snapshot *head;
  bl_events events = {0};
  BL_TRY(bl_branch_head(a->t, bl_branch_of(o), &head, err));
  BL_TRY(begin(a, head, err));
  bl_status st = bl_events_open(a, in, &events, err);
  if (st == BL_OK) st = read_events(a, &events, head, o && o->batch_id, err);
  bl_events_dispose(&events); /* whoever gives them need not wait for the commit */
  if (st == BL_OK) st = bl_upsert_source(a->t, a->source, &rules, o, r, err);
  return st;
}

bl_status bl_apply(bl_table *t, struct ArrowArrayStream *events, const bl_apply_options *o, const bl_write_options *wo,
                   bl_write_result *r, bl_error *err) {
  bl_applying a = {.ctx = t->ctx, .o = o, .at = -1};
  bl_write_result own;
  if (!r) r = &own;
  *r = (bl_write_result){0};
  bl_status st = bl_write_base(t, wo, &a.t, &r->already_applied, err);
  if (st == BL_OK && !r->already_applied) {
    a.schema = bl_metadata_current_schema(a.t->metadata);
    st = apply(&a, events, wo, r, err);
    if (st == BL_OK) report(&a, wo, r);
    end(&a);
  }
  bl_stream_release(events);
  bl_write_base_free(a.t, t);
  return st;
}

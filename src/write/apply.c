/* apply.c: apply: change events, line by line, to rows by key (source.h), and these into the table (upsert.h). */
#include "write/apply.h"

#include "rows/arrow_own.h"
#include "write/upsert.h"

enum { SCRATCH_BYTES = 1 << 20 };

/* ---- a line ---- */

static bl_status refuse(const bl_applying *a, bl_status st, const bl_error *e, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  if (a->of_rows) return bl_fail(err, st, "apply: row %lld: %s", (long long)a->line, e->message);
  return bl_fail_at(err, st, a->at, "apply: line %lld (byte %lld): %s", (long long)a->line, (long long)a->at,
                    e->message);
}

static bl_status flush(bl_applying *a, bl_error *err) {
  struct ArrowArray batch;
  if (a->n == 0) return BL_OK;
  a->n = 0;
  BL_TRY(bl_builder_finish(a->columns.rows, &batch, err));
  return bl_source_add(a->source, &batch, a->deletes, a->ranks, err);
}

/* ---- rows ---- */

static bool is_key(const bl_applying *a, bl_str name) {
  for (size_t i = 0; i < a->n_key; i++) {
    bl_str key = bl_str_of(a->key[i]);
    if (bl_str_eq(key, name)) return true;
    if (key.n > name.n && key.p[name.n] == '.' && memcmp(key.p, name.p, name.n) == 0) return true;
  }
  return false;
}

static bl_status find_members(bl_applying *a, const bl_json *image, bool deletes, bl_error *err) {
  memset(a->members, 0, a->columns.n * sizeof *a->members);
  for (const bl_json *m = image->first; m; m = m->next) {
    const size_t *at = bl_map_get(a->places, m->key);
    if (at) a->members[*at] = m;
    else if (!deletes) return bl_fail(err, BL_USAGE, "column %.*s: the table has no such column", BL_STR_ARG(m->key));
  }
  return BL_OK;
}

static const bl_json *type_of(const bl_json *types, bl_str name) {
  for (const bl_json *t = types && types->kind == BL_J_ARRAY ? types->first : NULL; t; t = t->next) {
    const bl_json *f = t->kind == BL_J_OBJECT ? bl_json_get(t, "field") : NULL;
    if (f && f->kind == BL_J_STRING && bl_str_eq(f->text, name)) return t;
  }
  return NULL;
}

static bl_status put_column(bl_applying *a, size_t i, const bl_json *types, bool deletes, bl_event_value value,
                            bl_error *err) {
  const bl_json *v = a->members[i];
  const bl_field *f = &a->columns.fields[i];
  bl_builder *b = bl_builder_child(a->columns.rows, (int64_t)i);
  bool key = is_key(a, f->name), null = v && v->kind == BL_J_NULL;
  if (key && (!v || null)) return bl_fail(err, BL_USAGE, "key column %s: it has no value", f->name.p);
  if (deletes && !key) return bl_put_null(&a->putter, b, f, err);
  const bl_field *own = &a->schema->root.fields[i];
  if (own->required && (null || (!v && !own->write_default)))
    return bl_fail(err, BL_USAGE, "column %s: it is required, and has no value", f->name.p);
  if (!v) return bl_put_missing(&a->putter, b, f, err);
  return null ? bl_put_null(&a->putter, b, f, err) : value(a, b, f, v, type_of(types, f->name), err);
}

bl_status bl_applying_put(bl_applying *a, const bl_json *image, const bl_json *types, bool deletes, int64_t rank,
                          bl_event_value value, bl_error *err) {
  BL_TRY(find_members(a, image, deletes, err));
  for (size_t i = 0; i < a->columns.n; i++) BL_TRY(put_column(a, i, types, deletes, value, err));
  BL_TRY(bl_builder_close(a->columns.rows, err));
  a->deletes[a->n] = deletes;
  a->ranks[a->n++] = rank;
  bool full = a->n % 64 == 0 && bl_builder_size(a->columns.rows) >= BL_TEXT_BATCH_BYTES;
  return full || a->n == BL_TEXT_BATCH_ROWS ? flush(a, err) : BL_OK;
}

/* ---- the file ---- */

static bl_status apply_line(bl_applying *a, bl_str line, bl_apply_source source, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  bl_json *v;
  bl_status st = bl_json_parse(a->scratch, line.p, line.n, &v, &e);
  if (st == BL_OK && v->kind == BL_J_NULL) return BL_OK;
  if (st == BL_OK && v->kind != BL_J_OBJECT) st = bl_fail(&e, BL_USAGE, "an event must be a JSON object");
  if (st == BL_OK) st = source == BL_APPLY_DEBEZIUM ? bl_apply_debezium(a, v, &e) : bl_apply_change(a, v, &e);
  return st == BL_OK ? BL_OK : refuse(a, st, &e, err);
}

static bl_status read_events(bl_applying *a, bl_apply_source source, bl_error *err) {
  for (a->line = 1;; a->line++) {
    bl_str line;
    bool found;
    if (bl_arena_bytes(a->scratch) >= SCRATCH_BYTES) {
      bl_arena_free(a->scratch);
      a->scratch = NULL;
      BL_TRY(bl_arena_new(a->ctx, &a->scratch, err));
    }
    BL_TRY(bl_text_file_line(&a->file, &line, &a->at, &found, err));
    if (!found) return flush(a, err);
    BL_TRY(apply_line(a, line, source, err));
    if (a->line % 4096 == 0) BL_TRY(bl_progress(a->ctx, "apply", a->file.read, a->file.in->size, err));
  }
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
    if (bl_positions_order(&a->stored, &a->last.items[i]) > BL_SAME) *news = true;
    BL_TRY(bl_positions_set(arena, out, &a->last.items[i], err));
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
static void tell(const bl_applying *a) {
  if (a->n_skipped == a->n_events && a->n_skipped)
    bl_log(a->ctx, BL_LOG_INFO, "apply: all %lld events were applied before", (long long)a->n_skipped);
  else if (a->n_skipped)
    bl_warn(a->ctx,
            "apply: %lld of %lld events lie before the position of their source and were passed over as "
            "already applied",
            (long long)a->n_skipped, (long long)a->n_events);
  if (a->n_unordered && a->changelog)
    bl_warn(a->ctx, "apply: %lld commits cannot be ordered beside those that were applied before: they were applied",
            (long long)a->n_unordered);
  else if (a->n_unordered)
    bl_warn(a->ctx,
            "apply: %lld of %lld events cannot be ordered beside the position of their source (another server, "
            "or no position of a commit): they were applied as they came",
            (long long)a->n_unordered, (long long)a->n_events);
}

/* ---- the verb ---- */

/* Columns that may all be null: an event that deletes has only its key. */
static bl_status make_columns(bl_applying *a, bl_error *err) {
  const bl_type *root = &a->schema->root;
  a->columns.n = root->n_fields;
  a->columns.fields = bl_arena_alloc(a->arena, root->n_fields + 1, sizeof *a->columns.fields);
  a->members = bl_arena_alloc(a->arena, root->n_fields + 1, sizeof *a->members);
  a->deletes = bl_arena_alloc(a->arena, BL_TEXT_BATCH_ROWS, 1);
  a->ranks = bl_arena_alloc(a->arena, BL_TEXT_BATCH_ROWS, sizeof *a->ranks);
  if (!a->columns.fields || !a->members || !a->deletes || !a->ranks) return bl_nomem(err);
  BL_TRY(bl_map_new(a->ctx, &a->places, err));
  for (size_t i = 0; i < root->n_fields; i++) {
    a->columns.fields[i] = root->fields[i];
    a->columns.fields[i].required = false;
    if (!bl_map_put(a->places, root->fields[i].name, i, NULL)) return bl_nomem(err);
  }
  return bl_text_columns_build(a->ctx, &a->columns, err);
}

static bl_status begin(bl_applying *a, bl_input *events, bl_apply_source source, const bl_snapshot *head, bool anyway,
                       bl_error *err) {
  bl_source_options so = {.verb = "apply", .schema = a->schema, .key = a->key, .n_key = a->n_key, .in_order = true};
  bl_text_file_init(&a->file, a->ctx, events);
  bl_putter_init(&a->putter, a->ctx);
  BL_TRY(bl_arena_new(a->ctx, &a->arena, err));
  BL_TRY(bl_arena_new(a->ctx, &a->scratch, err));
  BL_TRY(bl_source_new(a->t, &so, &a->source, err));
  BL_TRY(make_columns(a, err));
  BL_TRY(find_stored(a, head, err));
  return source == BL_APPLY_CHANGES ? bl_apply_changes_begin(a, events, head, anyway, err) : BL_OK;
}

static void end(bl_applying *a) {
  bl_apply_changes_dispose(a);
  bl_text_file_dispose(&a->file);
  bl_putter_dispose(&a->putter);
  bl_text_columns_dispose(&a->columns);
  bl_map_free(a->places);
  bl_source_free(a->source);
  bl_arena_free(a->scratch);
  bl_arena_free(a->arena);
}

bl_status bl_apply(bl_table *t, bl_input *events, bl_apply_source source, const char *const *key, size_t n_key,
                   const bl_write_options *o, bl_write_result *r, bl_error *err) {
  bl_applying a = {
      .t = t, .ctx = t->ctx, .schema = bl_metadata_current_schema(t->metadata), .key = key, .n_key = n_key};
  bl_upsert_rules rules = {.verb = "apply", .schema_id = a.schema->id, .note = note_position, .user = &a};
  bl_write_result own;
  bl_input *lines = NULL;
  const bl_snapshot *head;
  if (!r) r = &own;
  *r = (bl_write_result){.already_applied = bl_change_is_applied(t, o)};
  if (r->already_applied) return BL_OK;
  BL_TRY(bl_branch_head(t, bl_branch_of(o), &head, err));
  bl_status st;
  if (source == BL_APPLY_CHANGES) BL_GO(bl_apply_lines(t, events, &lines, err));
  a.of_rows = lines != NULL;
  if (lines) events = lines;
  BL_GO(begin(&a, events, source, head, o && o->batch_id, err));
  BL_GO(read_events(&a, source, err));
  if (a.changelog) BL_GO(bl_apply_changes_finish(&a, err));
  BL_GO(bl_source_seal(a.source, err));
  BL_GO(bl_upsert_source(t, a.source, &rules, o, r, err));
  r->events_passed_over = a.n_skipped;
  tell(&a);
  if (!r->committed && a.n_events && a.n_skipped == a.n_events) r->already_applied = true;
done:
  end(&a);
  if (lines) lines->close(lines);
  return st;
}

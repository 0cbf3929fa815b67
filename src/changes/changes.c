/* changes.c: the public change feed and history: options -> feed -> emitter -> stream. */
#include "bergline/changes.h"

#include "changes/emit.h"
#include "changes/job.h"
#include "model/near.h"
#include "rows/stream.h"

void bl_job_free(void *user) {
  bl_job *j = user;
  if (!j) return;
  bl_ctx *ctx = j->ctx;
  bl_emitter_free(j->emitter);
  bl_feed_dispose(&j->feed);
  bl_idset_dispose(&j->only);
  bl_arena_free(j->arena);
  if (j->free_more) j->free_more(j->more);
  bl_free(ctx, j);
}

bl_status bl_job_new(bl_table *t, bl_job **out, bl_error *err) {
  *out = bl_calloc(t->ctx, 1, sizeof **out);
  if (!*out) return bl_nomem(err);
  (*out)->ctx = t->ctx;
  bl_status st = bl_arena_new(t->ctx, &(*out)->arena, err);
  if (st == BL_OK) return BL_OK;
  bl_free(t->ctx, *out);
  *out = NULL;
  return st;
}

/* ---- names ---- */

/* Behind the table columns so far, once. */
static void add_special(bl_job *j, bl_special s) {
  for (size_t i = 0; i < j->n_specials; i++)
    if (j->specials[i] == s) return;
  j->special_at[j->n_specials] = (uint32_t)j->columns.wanted.n_fields;
  j->specials[j->n_specials++] = s;
}

static const bl_special standing[] = {BL_S_ROW_ID, BL_S_LAST_UPDATED, BL_S_CHANGE_TYPE, BL_S_ORDINAL, BL_S_COMMIT};
static const bl_special of_history[] = {BL_S_COMMIT_TIMESTAMP, BL_S_OPERATION, BL_S_ENGINE};

static bool is_last(bl_special s, bool history) {
  bool last = s <= BL_S_COMMIT;
  for (size_t i = 0; history && i < BL_LEN(of_history); i++) last = last || of_history[i] == s;
  return last;
}

static bl_status choose_name(bl_job *j, const bl_schema *schema, const char *text, bool history, bl_error *err) {
  bl_str name = bl_str_of(text), bare = name;
  bool meta = bl_str_starts(name, BL_STR("meta."));
  if (schema && bl_schema_find_name(schema, name)) return bl_columns_add_name(&j->columns, name, err);
  if (meta) bare = (bl_str){name.p + 5, name.n - 5};
  int special = bl_special_find(bare);
  if (special < 0 || (special > BL_S_POS && !(history && is_last((bl_special)special, true))))
    return bl_fail(err, BL_USAGE, "column: %s: there is no such column in the schema of the range's end%s", text,
                   bl_near_field(schema ? &schema->root : NULL, NULL, name).hint);
  if (!is_last((bl_special)special, history)) add_special(j, (bl_special)special);
  return BL_OK;
}

bl_status bl_job_columns(bl_job *j, bl_table *t, const bl_schema *schema, const char *const *names, size_t n,
                         bool history, bl_error *err) {
  bl_columns_init(&j->columns, j->arena, t->metadata, schema);
  if (!names && schema) BL_TRY(bl_columns_add_all(&j->columns, err));
  for (size_t i = 0; names && i < n; i++) BL_TRY(choose_name(j, schema, names[i], history, err));
  for (size_t i = 0; i < BL_LEN(standing); i++) add_special(j, standing[i]);
  for (size_t i = 0; history && i < BL_LEN(of_history); i++) add_special(j, of_history[i]);
  return BL_OK;
}

static bl_status ids_of(bl_job *j, const bl_schema *schema, const char *what, const char *const *names, size_t n,
                        bool top_level, int32_t **out, size_t *n_out, bl_error *err) {
  *n_out = 0;
  *out = bl_arena_alloc(j->arena, n + 1, sizeof **out);
  if (!*out) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    const bl_field *f = schema ? bl_schema_find_name(schema, bl_str_of(names[i])) : NULL, *path[2];
    if (!f)
      return bl_fail(err, BL_USAGE, "%s: %s: there is no such column in the schema of the range's end%s", what,
                     names[i], bl_near_field(schema ? &schema->root : NULL, NULL, bl_str_of(names[i])).hint);
    if (top_level && bl_schema_path(schema, f->id, path, 2) != 1)
      return bl_fail(err, BL_USAGE, "%s: %s: not a top-level column", what, names[i]);
    (*out)[(*n_out)++] = f->id;
  }
  return BL_OK;
}

bl_status bl_job_where(bl_job *j, const bl_schema *schema, const char *where, bl_error *err) {
  bl_expr *parsed;
  if (!where || !schema) return BL_OK;
  bl_str text = bl_arena_str(j->arena, bl_str_of(where));
  if (!text.p) return bl_nomem(err);
  BL_TRY(bl_expr_parse(j->arena, text, &parsed, err));
  return bl_expr_bind(j->arena, parsed, schema, bl_changes_meta_schema(), &j->where, err);
}

/* ---- streams ---- */

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  bl_job *j = user;
  return bl_emitter_next(j->emitter, out, err);
}

bl_status bl_job_stream(bl_job *j, struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema schema;
  bl_status st = bl_emitter_schema(j->emitter, &schema, err);
  if (st != BL_OK) {
    bl_job_free(j);
    return st;
  }
  bl_stream_source src = {next_batch, bl_job_free, j};
  return bl_stream_make(j->ctx, &src, &schema, out, err);
}

static bl_status prepare_changes(bl_job *j, bl_table *t, const bl_changes_options *o, bl_error *err) {
  bl_feed_options fo = {.range = {.from = o->from, .to = o->to, .ref = o->ref, .net = o->net},
                        .check_replace = o->check_replace,
                        .by_place = o->unordered,
                        .fail_on_broken = o->on_broken_identity == BL_BROKEN_FAIL};
  const bl_schema *schema; /* the feed resolves the range once more */
  BL_TRY(bl_range_schema(t, &fo.range, j->arena, &schema, err));
  BL_TRY(bl_job_columns(j, t, schema, o->columns, o->n_columns, false, err));
  BL_TRY(ids_of(j, schema, "--key", o->key, o->n_key, false, &j->key_ids, &j->n_key, err));
  BL_TRY(ids_of(j, schema, "--changed", o->changed, o->n_changed, true, &j->changed_ids, &j->n_changed, err));
  BL_TRY(bl_job_where(j, schema, o->where, err));
  fo.key_ids = j->key_ids;
  fo.n_key = j->n_key;
  BL_TRY(bl_feed_run(&j->feed, t, &fo, err));
  if (!j->feed.range.schema) j->feed.range.schema = schema;
  bl_emit_options eo = {.columns = &j->columns.wanted,
                        .specials = j->specials,
                        .special_at = j->special_at,
                        .n_specials = j->n_specials,
                        .where = j->where,
                        .key_ids = j->key_ids,
                        .n_key = j->n_key,
                        .changed_ids = j->changed_ids,
                        .n_changed = j->n_changed,
                        .skip_unchanged = o->skip_unchanged,
                        .after_images = o->after_images};
  return bl_emitter_new(&j->feed, &eo, &j->emitter, err);
}

bl_status bl_changes(bl_table *t, const bl_changes_options *o, struct ArrowArrayStream *out, bl_error *err) {
  static const bl_changes_options none = {0};
  bl_job *j;
  memset(out, 0, sizeof *out);
  bl_status st = bl_job_new(t, &j, err);
  if (st == BL_OK) st = prepare_changes(j, t, o ? o : &none, err);
  if (st != BL_OK) {
    bl_job_free(j);
    return st;
  }
  return bl_job_stream(j, out, err);
}

bl_status bl_changes_found(const struct ArrowArrayStream *stream) {
  const bl_job *j = bl_stream_user(stream, bl_job_free);
  return j && j->feed.found ? BL_FOUND : BL_OK;
}

/* ---- history (C17) ---- */

/* Of a predicate's two runs the first one gives the warnings. */
static bl_status history_feed(bl_job *j, bl_table *t, const bl_history_options *o, bool only, bl_error *err) {
  bl_feed_options fo = {.range = {.from = o->from, .to = o->to, .ref = o->ref}, .by_row = true};
  if (only) fo.only = &j->only;
  fo.quiet = only && o->where;
  fo.nulls = o->where != NULL;
  return bl_feed_run(&j->feed, t, &fo, err);
}

typedef struct id_list {
  int64_t *ids;
  size_t n, cap;
} id_list;

static bl_status collect_ids(bl_job *j, id_list *out, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_emitter_next(j->emitter, &batch, err));
    if (!batch.release) return BL_OK;
    const struct ArrowArray *c = batch.children[0];
    bl_status st = BL_OK;
    for (int64_t i = 0; st == BL_OK && i < batch.length; i++) {
      if (!bl_array_valid(c, i)) continue;
      st = bl_grow(j->ctx, &out->ids, &out->cap, out->n, sizeof *out->ids, err);
      if (st == BL_OK) out->ids[out->n++] = ((const int64_t *)c->buffers[1])[c->offset + i];
    }
    bl_array_release(&batch);
    BL_TRY(st);
  }
}

/* The ids of the rows of which a version matches, also the one that a row had when the range began: a first run over
 * all events that reads the predicate's columns only.
 */
static bl_status find_rows(bl_job *j, bl_table *t, const bl_history_options *o, const bl_schema *schema,
                           bl_error *err) {
  static const bl_special id[] = {BL_S_ROW_ID};
  static const uint32_t at[] = {0};
  static const bl_type none = {.kind = BL_STRUCT};
  bl_job *first;
  id_list found = {0};
  bl_status st = bl_job_new(t, &first, err);
  BL_GO(st);
  BL_GO(bl_job_where(first, schema, o->where, err));
  BL_GO(history_feed(first, t, o, false, err));
  if (!first->feed.range.schema) first->feed.range.schema = schema;
  bl_emit_options eo = {.columns = &none,
                        .specials = id,
                        .special_at = at,
                        .n_specials = 1,
                        .where = first->where,
                        .no_before = !o->from};
  BL_GO(bl_emitter_new(&first->feed, &eo, &first->emitter, err));
  BL_GO(collect_ids(first, &found, err));
  BL_GO(bl_idset_init(&j->only, j->ctx, found.ids, found.n, err));
done:
  bl_free(t->ctx, found.ids);
  bl_job_free(first);
  return st;
}

static bl_status prepare_history(bl_job *j, bl_table *t, const bl_history_options *o, bl_error *err) {
  bl_range_options ro = {.from = o->from, .to = o->to, .ref = o->ref};
  const bl_schema *schema;
  BL_TRY(bl_range_schema(t, &ro, j->arena, &schema, err));
  BL_TRY(bl_job_columns(j, t, schema, o->columns, o->n_columns, true, err));
  BL_TRY(bl_job_where(j, schema, o->where, err));
  if (o->where) BL_TRY(find_rows(j, t, o, schema, err));
  else BL_TRY(bl_idset_init(&j->only, j->ctx, o->row_ids, o->n_row_ids, err));
  BL_TRY(history_feed(j, t, o, true, err));
  if (!j->feed.range.schema) j->feed.range.schema = schema;
  bl_emit_options eo = {.columns = &j->columns.wanted,
                        .specials = j->specials,
                        .special_at = j->special_at,
                        .n_specials = j->n_specials,
                        .where = j->where,
                        .no_before = true,
                        .where_nulls = true};
  return bl_emitter_new(&j->feed, &eo, &j->emitter, err);
}

bl_status bl_history(bl_table *t, const bl_history_options *o, struct ArrowArrayStream *out, bl_error *err) {
  bl_job *j;
  memset(out, 0, sizeof *out);
  if (!o || (!o->where && o->n_row_ids == 0)) return bl_fail(err, BL_USAGE, "history: neither row ids nor a predicate");
  bl_status st = bl_job_new(t, &j, err);
  if (st == BL_OK) st = prepare_history(j, t, o, err);
  if (st != BL_OK) {
    bl_job_free(j);
    return st;
  }
  return bl_job_stream(j, out, err);
}

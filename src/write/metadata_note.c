/* metadata_note.c: see metadata_note.h. */
#include "write/metadata_note.h"

#include "write/properties.h"

#define BATCHES "bergline.metadata-batches"
#define SUMMARY "bergline.metadata-summary"
#define CREATION "create " /* how the entry of the table's creation begins */

static bl_str entry_of(bl_arena *a, const char *verb, const char *batch_id) {
  return bl_arena_printf(a, "%s %s", verb, batch_id);
}

/* The list that a property holds; a fresh one where it holds none. */
static bl_status read_batches(bl_arena *a, bl_str text, bl_json **list, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = text.p ? bl_json_parse(a, text.p, text.n, list, &why) : BL_DAMAGED;
  if (st == BL_NOMEM) return bl_nomem(err);
  if (st == BL_OK && (*list)->kind == BL_J_ARRAY) return BL_OK;
  *list = bl_json_new(a, BL_J_ARRAY);
  return *list ? BL_OK : bl_nomem(err);
}

static bl_json *find(const bl_json *list, bl_str entry) {
  for (bl_json *v = list->first; v; v = v->next)
    if (v->kind == BL_J_STRING && bl_str_eq(v->text, entry)) return v;
  return NULL;
}

bl_status bl_note_is_there(bl_ctx *ctx, const bl_pairs *properties, const char *verb, const bl_write_options *o,
                           bool *yes, bl_error *err) {
  bl_arena *a = NULL;
  bl_json *list;
  bl_status st;
  *yes = false;
  if (!o || !o->batch_id) return BL_OK;
  BL_GO(bl_arena_new(ctx, &a, err));
  bl_str entry = entry_of(a, verb, o->batch_id);
  if (!entry.p) BL_GO(bl_nomem(err));
  BL_GO(read_batches(a, bl_pairs_get(properties, BATCHES), &list, err));
  *yes = find(list, entry) != NULL;
done:
  bl_arena_free(a);
  return st;
}

/* ---- putting ---- */

static bl_status put(bl_arena *a, bl_json *obj, const char *key, bl_json *v, bl_error *err) {
  return bl_json_set(a, obj, key, v) ? BL_OK : bl_nomem(err);
}

static bl_status put_text(bl_arena *a, bl_json *obj, const char *key, const bl_json *v, bl_error *err) {
  bl_str text = bl_json_text(a, v);
  return text.p ? put(a, obj, key, bl_json_new_str(a, text), err) : bl_nomem(err);
}

static void forget_oldest(bl_json *list) {
  bl_json *v = list->first;
  while (v && v->kind == BL_J_STRING && bl_str_starts(v->text, BL_STR(CREATION))) v = v->next;
  if (v) bl_json_remove_child(list, v);
}

static bl_status put_batch(bl_arena *a, bl_json *properties, const char *verb, const char *batch_id, bl_error *err) {
  const bl_json *was = bl_json_get(properties, BATCHES);
  bl_json *list;
  BL_TRY(read_batches(a, was && was->kind == BL_J_STRING ? was->text : BL_STR_NONE, &list, err));
  bl_str entry = entry_of(a, verb, batch_id);
  if (!entry.p) return bl_nomem(err);
  if (find(list, entry)) return BL_OK;
  while (list->n >= BL_BATCHES_KEPT) {
    size_t n = list->n;
    forget_oldest(list);
    if (list->n == n) break;
  }
  bl_json *v = bl_json_new_str(a, entry);
  if (!v || !bl_json_push(list, v)) return bl_nomem(err);
  return put_text(a, properties, BATCHES, list, err);
}

static bl_status put_pairs(bl_arena *a, bl_json *note, const bl_write_options *o, bl_error *err) {
  bl_json *pairs = bl_json_new(a, BL_J_OBJECT);
  for (size_t i = 0; i < o->n_summary; i++) {
    bl_pair p;
    BL_TRY(bl_key_value(o->summary[i], &p, err));
    bl_str key = bl_arena_str(a, p.key);
    if (!key.p || !pairs) return bl_nomem(err);
    BL_TRY(put(a, pairs, key.p, bl_json_new_str(a, p.value), err));
  }
  return put(a, note, "summary", pairs, err);
}

bl_status bl_note_put(bl_arena *a, bl_json *properties, const char *verb, const bl_write_options *o, int64_t now_ms,
                      bl_error *err) {
  if (!o || (!o->batch_id && !o->n_summary)) return BL_OK;
  bl_json *note = bl_json_new(a, BL_J_OBJECT);
  if (!properties || !note) return bl_nomem(err);
  BL_TRY(put(a, note, "verb", bl_json_new_str(a, bl_str_of(verb)), err));
  BL_TRY(put(a, note, "timestamp-ms", bl_json_new_i64(a, now_ms), err));
  if (o->batch_id) BL_TRY(put_batch(a, properties, verb, o->batch_id, err));
  if (o->batch_id) BL_TRY(put(a, note, "batch-id", bl_json_new_str(a, bl_str_of(o->batch_id)), err));
  if (o->n_summary) BL_TRY(put_pairs(a, note, o, err));
  return put_text(a, properties, SUMMARY, note, err);
}

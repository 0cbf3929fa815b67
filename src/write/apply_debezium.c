/* apply_debezium.c: Debezium's envelopes: {"before", "after", "op", "source", …}, alone or as the "payload" beside a
 * "schema" that tells what values mean (debezium_value.h); and rows without envelopes. */
#include <stdio.h>

#include "write/apply.h"
#include "write/debezium_value.h"

enum { PLACE_BYTES = 1 << 16 };

/* ---- what was left out ---- */

/* Stands for a value that did not change and that the source did not send (a large one of PostgreSQL, a LOB of
 * Oracle), in the forms that columns of bytes and of uuids have it in, too. */
#define UNAVAILABLE "__debezium_unavailable_value"
#define UNAVAILABLE_BASE64 "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
#define UNAVAILABLE_UUID "b68a35a7-17ad-35b3-af2a-ae46edb4545a"

static bool is_placeholder(const bl_json *v) {
  return v->kind == BL_J_STRING && (bl_str_is(v->text, UNAVAILABLE) || bl_str_is(v->text, UNAVAILABLE_BASE64) ||
                                    bl_str_is(v->text, UNAVAILABLE_UUID));
}

/* An array of numbers: the placeholder's bytes. */
static bool are_its_bytes(const bl_json *array) {
  const char *p = UNAVAILABLE;
  for (const bl_json *m = array->first; m; m = m->next, p++) {
    char byte[4];
    int n = snprintf(byte, sizeof byte, "%d", *p);
    bl_str number = m->text;
    if (number.n > 2 && memcmp(number.p + number.n - 2, ".0", 2) == 0) number.n -= 2;
    if (m->kind != BL_J_NUMBER || !*p || !bl_str_eq(number, (bl_str){byte, (size_t)n})) return false;
  }
  return *p == 0;
}

static bool is_left_out(const bl_json *v) {
  const bl_json *first = v->kind == BL_J_ARRAY || v->kind == BL_J_OBJECT ? v->first : NULL;
  if (is_placeholder(v)) return true;
  if (!first) return false;
  if (v->kind == BL_J_ARRAY && are_its_bytes(v)) return true;
  return !first->next && is_placeholder(first);
}

/* ---- values ---- */

/* What did not change the image before may have. */
static bl_status put_told(bl_applying *a, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *types,
                          bl_error *err) {
  if (!is_left_out(v)) return bl_put_debezium(&a->putter, b, f, v, types, err);
  v = a->beside ? bl_json_get(a->beside, f->name.p) : NULL;
  if (v && v->kind != BL_J_NULL && !is_left_out(v)) return bl_put_debezium(&a->putter, b, f, v, types, err);
  a->left_out = true;
  return bl_put_null(&a->putter, b, f, err);
}

/* ---- events ---- */

/* The fields of "before" or "after" in the schema of an envelope. */
static const bl_json *types_of(const bl_json *schema, const char *image) {
  const bl_json *fields = schema && schema->kind == BL_J_OBJECT ? bl_json_get(schema, "fields") : NULL;
  const bl_json *of_image = bl_connect_field(fields, bl_str_of(image));
  return of_image ? bl_json_get(of_image, "fields") : NULL;
}

static const bl_json *image_of(const bl_json *event, const char *name) {
  const bl_json *v = bl_json_get(event, name);
  return v && v->kind == BL_J_OBJECT ? v : NULL;
}

/* The value of a key column, which may be inside structs: a.b; NULL: none. */
static const bl_json *key_in(const bl_json *image, const char *key) {
  const bl_json *v = bl_json_get(image, key);
  size_t n = strlen(key);
  for (const bl_json *m = image->first; m && !v; m = m->next)
    if (m->kind == BL_J_OBJECT && n > m->key.n && memcmp(key, m->key.p, m->key.n) == 0 && key[m->key.n] == '.')
      v = key_in(m, key + m->key.n + 1);
  return v && v->kind != BL_J_NULL ? v : NULL;
}

static bool holds_key(const bl_applying *a, const bl_json *image) {
  for (size_t i = 0; i < a->o->n_key; i++) {
    const bl_json *v = key_in(image, a->o->key[i]);
    if (!v || is_left_out(v)) return false;
  }
  return true;
}

static bl_status delete_before(bl_applying *a, const bl_json *before, const bl_json *types, bl_error *err) {
  return bl_applying_put(a, before, types, true, a->n_events, put_told, err);
}

static bl_status apply_event(bl_applying *a, const bl_json *event, const bl_json *schema, char op, bl_error *err) {
  const bl_json *before = image_of(event, "before"), *after = image_of(event, "after");
  const bl_json *before_types = types_of(schema, "before"), *after_types = types_of(schema, "after");
  a->beside = NULL;
  switch (op) {
  case 'd':
    if (!before) return bl_fail(err, BL_USAGE, "a delete without \"before\" does not say which row it was");
    return delete_before(a, before, before_types, err);
  case 'c':
  case 'r':
  case 'u':
    if (!after) return bl_fail(err, BL_USAGE, "an event \"%c\" without \"after\"", op);
    if (op == 'u' && before && holds_key(a, before)) BL_TRY(delete_before(a, before, before_types, err));
    a->beside = before;
    return bl_applying_put(a, after, after_types, false, a->n_events, put_told, err);
  case 't': return bl_fail(err, BL_UNSUPPORTED, "the source's table was truncated: apply has no rows to tell of that");
  default: return BL_OK; /* a message */
  }
}

static uint64_t hash_text(bl_str s) {
  return s.n ? bl_hash(s.p, s.n) : 0;
}

static uint64_t hash_on(const bl_json *v, uint64_t before) {
  if (!v) return before;
  const uint64_t parts[5] = {before, (uint64_t)v->kind * 2 + v->b, v->n, hash_text(v->key), hash_text(v->text)};
  uint64_t h = bl_hash(parts, sizeof parts);
  for (const bl_json *m = v->first; m; m = m->next) h = hash_on(m, h);
  return h;
}

/* Of what it does: when a source read its log is another time each time. */
static uint64_t hash_of(const bl_json *event, char op) {
  return hash_on(bl_json_get(event, "after"), hash_on(bl_json_get(event, "before"), (uint64_t)op));
}

/* Positions replace each other with each event: what they were goes when it has become much. */
static bl_status keep_last(bl_applying *a, const bl_position *p, bl_error *err) {
  bl_arena *old = a->place;
  if (old && bl_arena_bytes(old) < a->place_bytes) return bl_positions_set(old, &a->last, p, err);
  bl_positions all = a->last, kept = {0};
  a->last = kept;
  bl_status st = bl_arena_new(a->ctx, &a->place, err);
  if (st != BL_OK) a->place = NULL;
  for (size_t i = 0; st == BL_OK && i < all.n; i++) st = bl_positions_set(a->place, &a->last, &all.items[i], err);
  if (st == BL_OK) st = bl_positions_set(a->place, &a->last, p, err);
  if (st == BL_OK) a->place_bytes = 2 * bl_arena_bytes(a->place) + PLACE_BYTES;
  bl_arena_free(old);
  return st;
}

/* position: of an event that was applied; stored: of the branch, where that is the same one. */
static bl_status note_applied(bl_applying *a, bl_position *position, const bl_position *stored, bool unique,
                              uint64_t hash, bl_error *err) {
  bl_position *last = (bl_position *)bl_positions_find(&a->last, position);
  bl_order order = last ? bl_position_order(position, last) : BL_AFTER;
  if (order == BL_SAME && unique) bl_position_note(last, hash);
  if (order <= BL_SAME) return BL_OK;
  for (size_t i = 0; stored && i < stored->n_events; i++) bl_position_note(position, stored->events[i]);
  if (unique) bl_position_note(position, hash);
  return keep_last(a, position, err);
}

/* An event, unless it was applied before. */
static bl_status apply_at(bl_applying *a, const bl_json *event, const bl_json *schema, char op, bl_error *err) {
  bl_position position;
  BL_TRY(bl_position_of(a->scratch, bl_json_get(event, "source"), &position, err));
  bool unique = bl_position_is_unique(&position) && op != 'r';
  uint64_t hash = unique ? hash_of(event, op) : 0;
  bl_order order = bl_positions_order(&a->stored, &position);
  const bl_position *same = order == BL_SAME ? bl_positions_find(&a->stored, &position) : NULL;
  a->n_events++;
  bool known = unique && bl_position_holds(same, hash);
  if (order == BL_BEFORE || known) {
    a->n_skipped++;
    a->n_known += known;
    return BL_OK;
  }
  BL_TRY(apply_event(a, event, schema, op, err));
  if (!position.log) {
    a->n_placeless += op != 'm';
    return BL_OK;
  }
  if (order == BL_UNORDERED) a->n_unordered++;
  return note_applied(a, &position, same, unique, hash, err);
}

static bool is_text(const bl_json *v) {
  return v && v->kind == BL_J_STRING;
}

/* Of a connector's own topics: transactions ({"status": "BEGIN", "id": …}), heartbeats ({"ts_ms": …}), changes of
 * schemas. */
static bool is_of_no_table(const bl_json *event) {
  const bl_json *status = bl_json_get(event, "status");
  if (is_text(status) && is_text(bl_json_get(event, "id")))
    return bl_str_is(status->text, "BEGIN") || bl_str_is(status->text, "END");
  if (event->n == 1) return bl_json_get(event, "ts_ms") != NULL;
  return bl_json_get(event, "databaseName") && (bl_json_get(event, "ddl") || bl_json_get(event, "tableChanges"));
}

/* ---- rows without envelopes ---- */

/* What ExtractNewRecordState makes of an envelope: the row, with members of its own beside. */
static bool is_flat(const bl_json *v) {
  return v->kind == BL_J_OBJECT && !bl_json_get(v, "before") && !bl_json_get(v, "after") &&
         (bl_json_get(v, "__op") || bl_json_get(v, "__deleted"));
}

static bool read_flag(const bl_json *v, bool *out) {
  *out = v->kind == BL_J_BOOL ? v->b : is_text(v) && bl_str_is(v->text, "true");
  return v->kind == BL_J_BOOL || *out || (is_text(v) && bl_str_is(v->text, "false"));
}

/* Is the row told to be there or to be gone? */
static bool read_flat(const bl_json *row, bool *deletes) {
  const bl_json *op = bl_json_get(row, "__op"), *deleted = bl_json_get(row, "__deleted");
  *deletes = false;
  if (deleted && !read_flag(deleted, deletes)) return false;
  if (op && (!is_text(op) || op->text.n != 1 || !memchr("crud", op->text.p[0], 4))) return false;
  *deletes = *deletes || (op && op->text.p[0] == 'd');
  return true;
}

static bl_status apply_flat(bl_applying *a, const bl_json *row, const bl_json *schema, bl_error *err) {
  const bl_json *types = schema && schema->kind == BL_J_OBJECT ? bl_json_get(schema, "fields") : NULL;
  bool deletes;
  if (!read_flat(row, &deletes))
    return bl_fail(err, BL_USAGE, "\"__op\" must be one of c, r, u, d, \"__deleted\" true or false");
  a->n_events++;
  a->n_placeless++;
  a->beside = NULL;
  a->flat = true;
  bl_status st = bl_applying_put(a, row, types, deletes, a->n_events, put_told, err);
  a->flat = false;
  return st;
}

/* ---- all ---- */

bl_status bl_apply_debezium(bl_applying *a, const bl_json *event, bl_error *err) {
  const bl_json *payload = bl_json_get(event, "payload"), *schema = bl_json_get(event, "schema"), *op;
  if (is_flat(event)) return apply_flat(a, event, NULL, err);
  if (payload && is_flat(payload)) return apply_flat(a, payload, schema, err);
  if (payload && bl_json_get(event, "op") == NULL) event = payload;
  if (event->kind == BL_J_NULL) return BL_OK; /* a tombstone */
  op = event->kind == BL_J_OBJECT ? bl_json_get(event, "op") : NULL;
  if (!op && event->kind == BL_J_OBJECT && is_of_no_table(event)) return BL_OK;
  if (!op || op->kind != BL_J_STRING || op->text.n != 1 || !strchr("crudtm", op->text.p[0]))
    return bl_fail(
        err, BL_USAGE,
        "it is no change event of Debezium: \"op\" must be one of c, r, u, d, t, m; a row without its envelope "
        "needs \"__op\" or \"__deleted\" (add.fields=op of ExtractNewRecordState)");
  return apply_at(a, event, schema, op->text.p[0], err);
}

/* apply_position.c: positions of events in their sources' logs. */
#include "write/apply.h"

static const char *const logs[][4] = {
    {"commit_snapshot_id"},
    {"lsn"},
    {"file", "pos", "row"},
    {"commit_lsn", "change_lsn", "event_serial_no"},
    {"change_lsn", "event_serial_no"},
    {"scn"},
};

/* Numbers are compared as numbers, so are strings of digits; text that grows longer comes later. */
static int compare_part(bl_str a, bl_str b) {
  int64_t x, y;
  if (bl_parse_i64(a, &x) && bl_parse_i64(b, &y)) return (x > y) - (x < y);
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  return bl_str_cmp(a, b);
}

static bool read_log(const bl_json *source, const char *const *names, bl_position *out) {
  *out = (bl_position){.names = names};
  for (size_t i = 0; names[i]; i++) {
    const bl_json *v = bl_json_get(source, names[i]);
    bool there = v && (v->kind == BL_J_NUMBER || v->kind == BL_J_STRING) && v->text.n > 0;
    if (!there && i == 0) return false;
    if (!there) return true; /* later parts may be missing */
    out->parts[i] = v->text;
  }
  return true;
}

void bl_position_of(const bl_json *source, bl_position *out) {
  *out = (bl_position){0};
  if (!source || source->kind != BL_J_OBJECT) return;
  for (size_t i = 0; i < BL_LEN(logs); i++)
    if (read_log(source, logs[i], out)) return;
  *out = (bl_position){0};
}

bl_position bl_position_of_commit(bl_str id) {
  return (bl_position){.names = logs[0], .parts = {id}};
}

int bl_position_cmp(const bl_position *a, const bl_position *b, bool *known) {
  *known = a->names && a->names == b->names;
  for (size_t i = 0; *known && i < BL_LEN(a->parts); i++) {
    if (!a->parts[i].p || !b->parts[i].p) return 0;
    int c = compare_part(a->parts[i], b->parts[i]);
    if (c) return c;
  }
  return 0;
}

bool bl_position_is_later(const bl_position *a, const bl_position *b, bool *known) {
  int c = bl_position_cmp(a, b, known);
  return *known && (a->names == logs[0] ? c != 0 : c > 0);
}

bl_status bl_position_copy(bl_arena *a, const bl_position *p, bl_position *out, bl_error *err) {
  bl_position copy = {.names = p->names};
  for (size_t i = 0; i < BL_LEN(p->parts) && p->parts[i].p; i++) {
    copy.parts[i] = bl_arena_str(a, p->parts[i]);
    if (!copy.parts[i].p) return bl_nomem(err);
  }
  *out = copy;
  return BL_OK;
}

bl_status bl_position_print(bl_arena *a, const bl_position *p, bl_str *out, bl_error *err) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  bool ok = o != NULL;
  for (size_t i = 0; ok && i < BL_LEN(p->parts) && p->parts[i].p; i++) {
    int64_t v;
    bool number = bl_parse_i64(p->parts[i], &v);
    ok = bl_json_set(a, o, p->names[i], number ? bl_json_new_i64(a, v) : bl_json_new_str(a, p->parts[i]));
  }
  *out = ok ? bl_json_text(a, o) : BL_STR_NONE;
  return out->p ? BL_OK : bl_nomem(err);
}

bl_status bl_position_recorded(bl_arena *a, bl_str text, bl_position *out, bl_error *err) {
  bl_json *v = NULL;
  if (text.p) BL_TRY(bl_json_parse(a, text.p, text.n, &v, err));
  bl_position_of(v, out);
  return BL_OK;
}

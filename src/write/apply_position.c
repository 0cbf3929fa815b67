/* apply_position.c: positions of events in their sources' logs, and those that a summary keeps.
 *
 * A summary has one position as an object ({"file": …, "pos": …}), where the events did not say whose it is, or one of
 * each source: {"sources": {"mysql/shop/db/orders": {…}, …}}. */
#include <stdio.h>

#include "write/apply.h"

enum { MAX_PARTS = BL_POSITION_PARTS };

/* How the positions of a log compare. */
typedef enum comparing {
  BY_PARTS,  /* one part after the other */
  BY_BYTES,  /* one part, as text */
  BY_COMMIT, /* transactions come in the order of their commits: that before the event's, then the event */
  BY_FILE,   /* file, pos and row of one server's binary log */
  OF_COMMITS /* of our own: apply_changes.c */
} comparing;

struct bl_log_kind {
  const char *names[MAX_PARTS + 1];
  comparing how;
  bool unique;
};

static const bl_log_kind logs[] = {
    {{"commit_snapshot_id", "commit_sequence_number", "commits", "earlier"}, OF_COMMITS},
    {{"lsn", "last_commit_lsn"}, BY_COMMIT, true},
    {{"file", "pos", "row", "server_id", "gtid"}, BY_FILE, true},
    {{"commit_lsn", "change_lsn", "event_serial_no"}, BY_PARTS, true},
    {{"change_lsn", "event_serial_no"}, BY_PARTS, true},
    {{"lcr_position"}, BY_BYTES, true},
    {{"scn", "commit_scn"}, BY_COMMIT},
};

/* ---- order ---- */

/* Numbers are compared as numbers, so are strings of digits; text that grows longer comes later. */
static int compare_part(bl_str a, bl_str b) {
  int64_t x, y;
  if (bl_parse_i64(a, &x) && bl_parse_i64(b, &y)) return (x > y) - (x < y);
  if (a.n != b.n) return a.n < b.n ? -1 : 1;
  return bl_str_cmp(a, b);
}

static bl_order order_of(int c) {
  return c < 0 ? BL_BEFORE : c > 0 ? BL_AFTER : BL_SAME;
}

/* Parts that one of them does not have say nothing. */
static bl_order order_by_parts(const bl_position *a, const bl_position *b, size_t n) {
  for (size_t i = 0; i < n && a->parts[i].p && b->parts[i].p; i++) {
    int c = compare_part(a->parts[i], b->parts[i]);
    if (c) return order_of(c);
  }
  return BL_SAME;
}

/* Positions tell the place of an event, and events come by the commits of their transactions: a lower place says
 * something only where the commits are known. */
static bl_order order_by_commit(const bl_position *a, const bl_position *b) {
  int at = compare_part(a->parts[0], b->parts[0]);
  if (a->parts[1].p && b->parts[1].p) {
    int c = compare_part(a->parts[1], b->parts[1]);
    return order_of(c ? c : at);
  }
  if (at >= 0 && !a->parts[1].p && !b->parts[1].p) return order_of(at);
  if (at > 0) return BL_AFTER;
  if (a->parts[1].p) return compare_part(a->parts[1], b->parts[0]) >= 0 ? BL_AFTER : BL_UNORDERED;
  /* What comes before all transactions is in what a later one has found. */
  if (a->first && b->parts[1].p && compare_part(a->parts[0], b->parts[1]) <= 0) return BL_BEFORE;
  return BL_UNORDERED;
}

static bl_str base_of(bl_str file) {
  size_t n = file.n;
  while (n > 0 && file.p[n - 1] != '.') n--;
  return (bl_str){file.p, n};
}

/* The server that a GTID begins with: uuid:n, uuid:tag:n, or domain-server-n. */
static bl_str server_of(bl_str gtid) {
  for (size_t i = 0; i < gtid.n; i++)
    if (gtid.p[i] == ':') return (bl_str){gtid.p, i};
  size_t n = gtid.n;
  while (n > 0 && gtid.p[n - 1] != '-') n--;
  return (bl_str){gtid.p, n};
}

static bool is_unset(bl_str id) {
  return !id.p || bl_str_is(id, "0");
}

/* A server that took over has a log of its own. A snapshot read has neither server nor GTID. */
static bl_order order_by_file(const bl_position *a, const bl_position *b) {
  const bl_str *x = a->parts, *y = b->parts;
  if (!is_unset(x[3]) && !is_unset(y[3]) && !bl_str_eq(x[3], y[3])) return BL_UNORDERED;
  if (x[4].p && y[4].p && !bl_str_eq(server_of(x[4]), server_of(y[4]))) return BL_UNORDERED;
  if (!bl_str_eq(base_of(x[0]), base_of(y[0]))) return BL_UNORDERED;
  return order_by_parts(a, b, 3);
}

bl_order bl_position_order(const bl_position *a, const bl_position *b) {
  if (!a->log || a->log != b->log) return BL_UNORDERED;
  switch (a->log->how) {
  case BY_COMMIT: return order_by_commit(a, b);
  case BY_FILE: return order_by_file(a, b);
  case BY_BYTES: return order_of(bl_str_cmp(a->parts[0], b->parts[0]));
  case OF_COMMITS: return bl_str_eq(a->parts[0], b->parts[0]) ? BL_SAME : BL_AFTER;
  case BY_PARTS: break;
  }
  return order_by_parts(a, b, MAX_PARTS);
}

/* ---- out of JSON ---- */

static bl_str scalar(const bl_json *o, const char *name) {
  const bl_json *v = bl_json_get(o, name);
  return v && (v->kind == BL_J_NUMBER || v->kind == BL_J_STRING) && v->text.n > 0 ? v->text : BL_STR_NONE;
}

static bool is_null(const bl_json *v) {
  return v && v->kind == BL_J_NULL;
}

/* "sequence": "[\"commit before\",\"lsn\"]" */
static bl_status read_sequence(bl_arena *a, const bl_json *source, bl_position *out, bl_error *err) {
  bl_str text = scalar(source, "sequence");
  bl_json *v;
  if (out->parts[1].p || !text.p) return BL_OK;
  bl_status st = bl_json_parse(a, text.p, text.n, &v, NULL);
  if (st != BL_OK) return st == BL_NOMEM ? bl_nomem(err) : BL_OK; /* of another connector */
  const bl_json *commit = v->kind == BL_J_ARRAY ? v->first : NULL;
  if (!commit || !commit->next) return BL_OK;
  out->first = commit->kind == BL_J_NULL;
  if (commit->kind == BL_J_STRING || commit->kind == BL_J_NUMBER) out->parts[1] = commit->text;
  return BL_OK;
}

/* A number, or "scn:thread:transactions" of each redo thread, with commas between them: that of the event's thread,
 * else the last. */
static void read_commit_scn(const bl_json *source, bl_position *out) {
  bl_str rest = out->parts[1], thread = scalar(source, "redo_thread"), found = BL_STR_NONE;
  out->first = is_null(bl_json_get(source, "commit_scn"));
  while (rest.p && rest.n > 0) {
    const char *comma = memchr(rest.p, ',', rest.n);
    bl_str entry = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n}, scn = entry;
    rest = comma ? (bl_str){comma + 1, rest.n - entry.n - 1} : BL_STR_NONE;
    const char *colon = memchr(entry.p, ':', entry.n);
    bl_str of = colon ? (bl_str){colon + 1, entry.n - (size_t)(colon + 1 - entry.p)} : BL_STR_NONE;
    if (colon) scn.n = (size_t)(colon - entry.p);
    const char *end = of.p ? memchr(of.p, ':', of.n) : NULL;
    if (end) of.n = (size_t)(end - of.p);
    if (scn.n == 0) continue;
    if (thread.p && of.p && bl_str_eq(of, thread)) {
      found = scn;
      break;
    }
    if (!found.p || compare_part(scn, found) > 0) found = scn;
  }
  out->parts[1] = found;
}

static bl_status read_log(bl_arena *a, const bl_json *o, bl_position *out, bl_error *err) {
  for (size_t i = 0; i < BL_LEN(logs); i++) {
    const char *const *names = logs[i].names;
    if (!scalar(o, names[0]).p) continue;
    out->log = &logs[i];
    for (size_t k = 0; names[k]; k++) out->parts[k] = scalar(o, names[k]);
    if (strcmp(names[0], "lsn") == 0) return read_sequence(a, o, out, err);
    if (strcmp(names[0], "scn") == 0) read_commit_scn(o, out);
    return BL_OK;
  }
  return BL_OK;
}

/* Events of a table come in order, in a redo thread each. */
static const char *const keys[] = {"connector", "name", "db", "schema", "table", "redo_thread"};

/* Its words, with slashes between them. */
static bl_status name_source(bl_arena *a, const bl_json *source, bl_str *out, bl_error *err) {
  size_t n = 0, at = 0;
  for (size_t i = 0; i < BL_LEN(keys); i++) n += scalar(source, keys[i]).n + 1;
  char *text = bl_arena_alloc(a, n + 1, 1);
  if (!text) return bl_nomem(err);
  for (size_t i = 0; i < BL_LEN(keys); i++) {
    bl_str word = scalar(source, keys[i]);
    if (!word.p) continue;
    if (at) text[at++] = '/';
    memcpy(text + at, word.p, word.n);
    at += word.n;
  }
  text[at] = 0;
  *out = (bl_str){text, at};
  return BL_OK;
}

bl_status bl_position_of(bl_arena *a, const bl_json *source, bl_position *out, bl_error *err) {
  *out = (bl_position){.source = BL_STR("")};
  if (!source || source->kind != BL_J_OBJECT) return BL_OK;
  BL_TRY(read_log(a, source, out, err));
  return out->log ? name_source(a, source, &out->source, err) : BL_OK;
}

bl_position bl_position_of_commit(bl_str id) {
  return (bl_position){.log = &logs[0], .source = BL_STR(BL_CHANGES_SOURCE), .parts = {id}};
}

bool bl_position_is_commit(const bl_position *p) {
  return p->log == &logs[0];
}

/* ---- events of one position ---- */

bool bl_position_is_unique(const bl_position *p) {
  return p->log && p->log->unique && !p->first;
}

bool bl_position_holds(const bl_position *p, uint64_t event) {
  for (size_t i = 0; p && i < p->n_events; i++)
    if (p->events[i] == event) return true;
  return false;
}

/* The oldest makes room. */
void bl_position_note(bl_position *p, uint64_t event) {
  if (p->n_events == BL_POSITION_EVENTS) memmove(p->events, p->events + 1, --p->n_events * sizeof *p->events);
  p->events[p->n_events++] = event;
}

/* Sixteen digits each. */
static bl_json *print_events(bl_arena *a, const bl_position *p) {
  char text[BL_POSITION_EVENTS * 17 + 1];
  size_t n = 0;
  for (size_t i = 0; i < p->n_events; i++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%016llx", i ? "," : "", (unsigned long long)p->events[i]);
  return bl_json_new_str(a, (bl_str){text, n});
}

/* What is none of them says nothing. */
static bl_status read_events_of(bl_ctx *ctx, bl_str text, bl_position *out, bl_error *err) {
  bl_buf bytes;
  bl_buf_init(&bytes, ctx, 64);
  for (; text.n >= 16 && bl_parse_hex((bl_str){text.p, 16}, &bytes) && bytes.n == 8; bl_buf_clear(&bytes)) {
    uint64_t v = 0;
    for (size_t i = 0; i < 8; i++) v = v << 8 | bytes.p[i];
    bl_position_note(out, v);
    size_t n = text.n > 16 ? 17 : 16;
    text = (bl_str){text.p + n, text.n - n};
  }
  bl_status st = bl_buf_ok(&bytes, err);
  bl_buf_free(&bytes);
  return st;
}

/* ---- positions of several sources ---- */

static bl_status copy(bl_arena *a, const bl_position *p, bl_position *out, bl_error *err) {
  bl_position c = *p;
  c.source = bl_arena_str(a, p->source);
  if (!c.source.p) return bl_nomem(err);
  for (size_t i = 0; i < MAX_PARTS; i++) {
    if (!p->parts[i].p) continue;
    c.parts[i] = bl_arena_str(a, p->parts[i]);
    if (!c.parts[i].p) return bl_nomem(err);
  }
  *out = c;
  return BL_OK;
}

/* One that does not say whose it is may be of any. */
const bl_position *bl_positions_find(const bl_positions *ps, const bl_position *of) {
  const bl_position *unnamed = NULL;
  for (size_t i = 0; i < ps->n; i++) {
    if (bl_str_eq(ps->items[i].source, of->source)) return &ps->items[i];
    if (ps->items[i].source.n == 0 && ps->items[i].log == of->log) unnamed = &ps->items[i];
  }
  return unnamed;
}

bl_status bl_positions_set(bl_arena *a, bl_positions *ps, const bl_position *p, bl_error *err) {
  bl_position *at = (bl_position *)bl_positions_find(ps, p);
  if (!at && ps->n == ps->cap) {
    size_t cap = ps->cap ? ps->cap * 2 : 4;
    bl_position *items = bl_arena_alloc(a, cap, sizeof *items);
    if (!items) return bl_nomem(err);
    if (ps->n) memcpy(items, ps->items, ps->n * sizeof *items);
    ps->items = items;
    ps->cap = cap;
  }
  if (!at) at = &ps->items[ps->n];
  BL_TRY(copy(a, p, at, err));
  if (at == &ps->items[ps->n]) ps->n++;
  return BL_OK;
}

/* Is p of a redo thread of the source that `of` is a snapshot read of? */
static bool is_thread_of(const bl_position *p, const bl_position *of) {
  return p->log == of->log && p->source.n > of->source.n + 1 && p->source.p[of->source.n] == '/' &&
         bl_str_starts(p->source, of->source);
}

bl_order bl_positions_order(const bl_positions *ps, const bl_position *p) {
  for (size_t i = 0; p->first && p->source.n && i < ps->n; i++)
    if (is_thread_of(&ps->items[i], p) && bl_position_order(p, &ps->items[i]) == BL_BEFORE) return BL_BEFORE;
  const bl_position *at = p->log ? bl_positions_find(ps, p) : NULL;
  return at ? bl_position_order(p, at) : BL_AFTER;
}

/* ---- as JSON ---- */

static bl_json *print_one(bl_arena *a, const bl_position *p) {
  bl_json *o = bl_json_new(a, BL_J_OBJECT);
  for (size_t i = 0; o && i < MAX_PARTS; i++) {
    int64_t v;
    if (!p->parts[i].p) continue;
    bool list = bl_position_is_commit(p) && i == BL_COMMIT_LIST, number = !list && bl_parse_i64(p->parts[i], &v);
    bl_json *part = number ? bl_json_new_i64(a, v) : bl_json_new_str(a, p->parts[i]);
    if (!bl_json_set(a, o, p->log->names[i], part)) return NULL;
  }
  if (o && p->n_events && !bl_json_set(a, o, "events", print_events(a, p))) return NULL;
  return o;
}

static bool is_unnamed(const bl_position *p) {
  return p->source.n == 0 || bl_str_is(p->source, BL_CHANGES_SOURCE);
}

bl_status bl_positions_print(bl_arena *a, const bl_positions *ps, bl_str *out, bl_error *err) {
  bl_json *o = NULL;
  if (ps->n == 1 && is_unnamed(&ps->items[0])) o = print_one(a, &ps->items[0]);
  else {
    bl_json *all = bl_json_new(a, BL_J_OBJECT);
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < ps->n; i++)
      ok = bl_json_set(a, all, ps->items[i].source.p, print_one(a, &ps->items[i]));
    o = ok ? bl_json_new(a, BL_J_OBJECT) : NULL;
    if (o && !bl_json_set(a, o, "sources", all)) o = NULL;
  }
  *out = o ? bl_json_text(a, o) : BL_STR_NONE;
  return out->p ? BL_OK : bl_nomem(err);
}

static bl_status read_one(bl_arena *a, const bl_json *v, bl_str source, bl_positions *out, bl_error *err) {
  bl_position p = {.source = source};
  if (v->kind != BL_J_OBJECT) return BL_OK;
  BL_TRY(read_log(a, v, &p, err));
  if (!p.log) return BL_OK;
  if (bl_position_is_commit(&p)) p.source = BL_STR(BL_CHANGES_SOURCE);
  BL_TRY(read_events_of(bl_arena_ctx(a), scalar(v, "events"), &p, err));
  return bl_positions_set(a, out, &p, err);
}

bl_status bl_positions_read(bl_arena *a, bl_str text, bl_positions *out, bl_error *err) {
  bl_json *v = NULL;
  *out = (bl_positions){0};
  if (!text.p) return BL_OK;
  BL_TRY(bl_json_parse(a, text.p, text.n, &v, err));
  const bl_json *all = v->kind == BL_J_OBJECT ? bl_json_get(v, "sources") : NULL;
  if (!all || all->kind != BL_J_OBJECT) return read_one(a, v, BL_STR(""), out, err);
  for (const bl_json *m = all->first; m; m = m->next) BL_TRY(read_one(a, m, m->key, out, err));
  return BL_OK;
}

/* ---- a change that is made again ---- */

/* p moved from where `before` is (NULL: from nowhere); now: where a branch is (NULL: nowhere). */
static bl_order hold_against(const bl_position *p, const bl_position *before, const bl_position *now) {
  if (!before) return now && now->log == p->log ? BL_AFTER : now ? BL_BEFORE : BL_SAME;
  if (!now) return BL_BEFORE;
  bl_order c = bl_position_order(now, before);
  return c == BL_UNORDERED ? BL_BEFORE : c;
}

bl_status bl_positions_rebase(bl_arena *a, bl_str before, bl_str after, bl_str now, bl_order *branch, bl_str *out,
                              bl_error *err) {
  bl_positions from, to, here;
  *branch = BL_SAME;
  BL_TRY(bl_positions_read(a, before, &from, err));
  BL_TRY(bl_positions_read(a, after, &to, err));
  BL_TRY(bl_positions_read(a, now, &here, err));
  bl_positions result = here;
  result.cap = result.n; /* no place of `here` is filled */
  for (size_t i = 0; i < to.n; i++) {
    const bl_position *p = &to.items[i], *b = bl_positions_find(&from, p);
    if (b && bl_position_order(p, b) == BL_SAME) continue;
    bl_order c = hold_against(p, b, bl_positions_find(&here, p));
    if (c == BL_AFTER || *branch == BL_SAME) *branch = c;
    if (c == BL_AFTER) return BL_OK;
  }
  if (*branch != BL_SAME) return BL_OK;
  for (size_t i = 0; i < to.n; i++) {
    const bl_position *b = bl_positions_find(&from, &to.items[i]);
    if (!b || bl_position_order(&to.items[i], b) != BL_SAME) BL_TRY(bl_positions_set(a, &result, &to.items[i], err));
  }
  return bl_positions_print(a, &result, out, err);
}

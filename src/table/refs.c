/* refs.c: see refs.h. */
#include "table/refs.h"

#include <stdio.h>

#include "base/text.h"

/* ---- parts ---- */

static bl_str ref_name(const bl_snap_options *o) {
  return o->ref.p ? o->ref : BL_STR("main");
}

bl_status bl_snap_schema(const bl_metadata *m, const bl_snapshot *s, const bl_schema **out, bl_error *err) {
  *out = s->has_schema_id ? bl_metadata_schema(m, s->schema_id) : bl_metadata_current_schema(m);
  if (*out) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "snapshot %lld: schema-id %d: no such schema in the metadata", (long long)s->id,
                 s->schema_id);
}

/* The parent, while steps (counted down) last: more steps than snapshots is a cycle. */
static bl_status step_back(const bl_metadata *m, const bl_snapshot **s, size_t *steps, bl_error *err) {
  if ((*steps)-- == 0)
    return bl_fail(err, BL_DAMAGED, "snapshot %lld: parent-snapshot-id: the chain of parents is a cycle",
                   (long long)(*s)->id);
  *s = bl_metadata_parent(m, *s);
  return BL_OK;
}

/* "main" of a table without snapshots is there, though nothing records it. */
static bool ref_is_there(const bl_metadata *m, bl_str name) {
  return bl_metadata_ref(m, name) || (bl_str_is(name, "main") && !m->has_current);
}

/* ---- one reading each ---- */

static bl_status by_head(const bl_metadata *m, bl_str name, bl_snap *out, bl_error *err) {
  out->ref = bl_metadata_ref(m, name);
  out->schema = bl_metadata_current_schema(m);
  if (!ref_is_there(m, name)) return bl_fail(err, BL_NOT_FOUND, "no such ref: %.*s", BL_STR_ARG(name));
  if (!out->ref) return BL_OK;
  out->snapshot = bl_metadata_snapshot(m, out->ref->snapshot_id);
  if (!out->snapshot)
    return bl_fail(err, BL_NOT_FOUND, "ref %.*s: its snapshot %lld is not in the metadata", BL_STR_ARG(name),
                   (long long)out->ref->snapshot_id);
  return out->ref->is_branch ? BL_OK : bl_snap_schema(m, out->snapshot, &out->schema, err);
}

static bl_status by_ref(const bl_metadata *m, bl_str name, bl_snap *out, bl_error *err) {
  out->kind = BL_SNAP_REF;
  return by_head(m, name, out, err);
}

static bl_status by_id(const bl_metadata *m, int64_t id, bl_snap *out, bl_error *err) {
  out->kind = BL_SNAP_ID;
  out->snapshot = bl_metadata_snapshot(m, id);
  if (out->snapshot) return bl_snap_schema(m, out->snapshot, &out->schema, err);
  for (size_t i = 0; i < m->n_snapshot_log; i++)
    if (m->snapshot_log[i].snapshot_id == id)
      return bl_fail(err, BL_NOT_FOUND, "no such snapshot: %lld: it has expired", (long long)id);
  return bl_fail(err, BL_NOT_FOUND, "no such snapshot: %lld", (long long)id);
}

static bl_status by_sequence(const bl_metadata *m, int64_t seq, bl_snap *out, bl_error *err) {
  out->kind = BL_SNAP_SEQ;
  for (size_t i = 0; i < m->n_snapshots; i++) {
    const bl_snapshot *s = &m->snapshots[i];
    if (s->sequence_number != seq) continue;
    if (out->snapshot)
      return bl_fail(err, BL_USAGE, "sequence number %lld is ambiguous: snapshots %lld and %lld have it",
                     (long long)seq, (long long)out->snapshot->id, (long long)s->id);
    out->snapshot = s;
  }
  if (!out->snapshot) return bl_fail(err, BL_NOT_FOUND, "no snapshot has sequence number %lld", (long long)seq);
  return bl_snap_schema(m, out->snapshot, &out->schema, err);
}

/* What was staged with a write-audit-publish id. A copy that was published has the id under another key. */
static bl_status by_wap(const bl_metadata *m, bl_str id, bl_snap *out, bl_error *err) {
  out->kind = BL_SNAP_WAP;
  for (size_t i = 0; i < m->n_snapshots; i++) {
    if (!bl_pairs_is(&m->snapshots[i].summary, "wap.id", id)) continue;
    if (out->snapshot)
      return bl_fail(err, BL_USAGE, "WAP id %.*s is ambiguous: snapshots %lld and %lld have it", BL_STR_ARG(id),
                     (long long)out->snapshot->id, (long long)m->snapshots[i].id);
    out->snapshot = &m->snapshots[i];
  }
  if (!out->snapshot) return bl_fail(err, BL_NOT_FOUND, "no snapshot has the WAP id %.*s", BL_STR_ARG(id));
  return bl_snap_schema(m, out->snapshot, &out->schema, err);
}

/* ---- times ---- */

/* How messages show a time. */
typedef struct time_text {
  char s[48];
} time_text;

static time_text show_ms(int64_t ms) {
  time_text t;
  int64_t days = bl_floor_div(ms, 86400000), rest = bl_floor_mod(ms, 86400000), y;
  int mo, d;
  bl_civil_from_days(days, &y, &mo, &d);
  snprintf(t.s, sizeof t.s, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", (long long)y, mo, d, (int)(rest / 3600000),
           (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
  return t;
}

/* ISO-8601 text to ms, rounded down (a snapshot of that very ms counts). */
static bool parse_time(bl_str text, int64_t *ms) {
  bool zone;
  int32_t days;
  int64_t v;
  if (bl_parse_date(text, &days)) {
    *ms = (int64_t)days * 86400000;
    return true;
  }
  if (bl_parse_timestamp(text, 1000000, &v, &zone)) {
    *ms = bl_floor_div(v, 1000);
    return true;
  }
  if (!bl_parse_timestamp(text, 1000000000, &v, &zone)) return false;
  *ms = bl_floor_div(v, 1000000);
  return true;
}

static bl_status before_first(int64_t ms, const bl_snapshot *first, bl_snap *out, const bl_snap_options *o,
                              bl_error *err) {
  out->before_first = true;
  out->schema = NULL;
  if (o->before_first_ok) return BL_OK;
  if (!first) return bl_fail(err, BL_NOT_FOUND, "no snapshot at %s: the table has none", show_ms(ms).s);
  return bl_fail(err, BL_NOT_FOUND, "no snapshot at %s: the first one left is %lld of %s", show_ms(ms).s,
                 (long long)first->id, show_ms(first->timestamp_ms).s);
}

/* The newest ancestor of the ref's head committed by then. Nearest to the head, since clocks may disagree. */
static bl_status by_ancestry(const bl_metadata *m, int64_t ms, const bl_snap_options *o, bl_snap *out, bl_error *err) {
  size_t steps = m->n_snapshots;
  const bl_snapshot *first = NULL;
  BL_TRY(by_head(m, ref_name(o), out, err));
  for (const bl_snapshot *s = out->snapshot; s;) {
    first = out->snapshot = s;
    if (s->timestamp_ms <= ms) return bl_snap_schema(m, s, &out->schema, err);
    BL_TRY(step_back(m, &s, &steps, err));
  }
  out->snapshot = NULL;
  return before_first(ms, first, out, o, err);
}

/* The entry of the log with the greatest time that is not later; among equal times the last one. */
static bl_status by_log(const bl_metadata *m, int64_t ms, const bl_snap_options *o, bl_snap *out, bl_error *err) {
  const bl_log_entry *best = NULL, *first = NULL;
  for (size_t i = 0; i < m->n_snapshot_log; i++) {
    const bl_log_entry *e = &m->snapshot_log[i];
    if (!first || e->timestamp_ms < first->timestamp_ms) first = e;
    if (e->timestamp_ms <= ms && (!best || e->timestamp_ms >= best->timestamp_ms)) best = e;
  }
  out->ref = bl_metadata_ref(m, BL_STR("main"));
  if (!best) {
    const bl_snapshot *s = bl_metadata_snapshot(m, first->snapshot_id);
    if (s || o->before_first_ok) return before_first(ms, s, out, o, err);
    return bl_fail(err, BL_NOT_FOUND, "no snapshot at %s: the snapshot log begins at %s", show_ms(ms).s,
                   show_ms(first->timestamp_ms).s);
  }
  out->snapshot = bl_metadata_snapshot(m, best->snapshot_id);
  if (out->snapshot) return bl_snap_schema(m, out->snapshot, &out->schema, err);
  return bl_fail(err, BL_NOT_FOUND, "snapshot %lld, current at %s, has expired", (long long)best->snapshot_id,
                 show_ms(ms).s);
}

static bl_status by_time(const bl_metadata *m, int64_t ms, const bl_snap_options *o, bl_snap *out, bl_error *err) {
  out->kind = BL_SNAP_TIME;
  bool log = o->time == BL_TIME_BY_LOG && bl_str_is(ref_name(o), "main") && m->n_snapshot_log > 0;
  return log ? by_log(m, ms, o, out, err) : by_ancestry(m, ms, o, out, err);
}

/* ---- SNAP ---- */

static bl_str cut(bl_str s, size_t n) {
  return (bl_str){s.p + n, s.n - n};
}

static bool is_digits(bl_str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  return s.n > 0;
}

/* "id:…" and the like; *prefixed false: it has no prefix. */
static bl_status by_prefix(const bl_metadata *m, bl_str text, const bl_snap_options *o, bl_snap *out, bool *prefixed,
                           bl_error *err) {
  int64_t v;
  *prefixed = true;
  if (bl_str_starts(text, BL_STR("ref:"))) return by_ref(m, cut(text, 4), out, err);
  if (bl_str_starts(text, BL_STR("wap:"))) return by_wap(m, cut(text, 4), out, err);
  if (bl_str_starts(text, BL_STR("id:"))) {
    if (bl_parse_i64(cut(text, 3), &v)) return by_id(m, v, out, err);
    return bl_fail(err, BL_USAGE, "wrong snapshot: %.*s: id: takes a snapshot id", BL_STR_ARG(text));
  }
  if (bl_str_starts(text, BL_STR("seq:"))) {
    if (bl_parse_i64(cut(text, 4), &v)) return by_sequence(m, v, out, err);
    return bl_fail(err, BL_USAGE, "wrong snapshot: %.*s: seq: takes a sequence number", BL_STR_ARG(text));
  }
  if (bl_str_starts(text, BL_STR("ts:"))) {
    if (parse_time(cut(text, 3), &v)) return by_time(m, v, o, out, err);
    return bl_fail(err, BL_USAGE, "wrong snapshot: %.*s: ts: takes an ISO-8601 time", BL_STR_ARG(text));
  }
  *prefixed = false;
  return BL_OK;
}

static bl_status resolve(const bl_metadata *m, bl_str text, const bl_snap_options *o, bl_snap *out, bl_error *err) {
  int64_t v;
  bool prefixed;
  if (!text.p) {
    out->kind = BL_SNAP_HEAD;
    return by_head(m, ref_name(o), out, err);
  }
  bl_status st = by_prefix(m, text, o, out, &prefixed, err);
  if (prefixed) return st;
  bool id = is_digits(text) && bl_parse_i64(text, &v);
  if (id && bl_metadata_snapshot(m, v)) return by_id(m, v, out, err);
  if (ref_is_there(m, text)) return by_ref(m, text, out, err);
  if (id) return by_id(m, v, out, err);
  if (parse_time(text, &v)) return by_time(m, v, o, out, err);
  if (bl_metadata_snapshot_with(m, "wap.id", text))
    return bl_fail(err, BL_NOT_FOUND, "no such snapshot: %.*s: did you mean wap:%.*s?", BL_STR_ARG(text),
                   BL_STR_ARG(text));
  return bl_fail(err, BL_NOT_FOUND, "no such snapshot: %.*s: neither a snapshot id nor a ref nor an ISO-8601 time",
                 BL_STR_ARG(text));
}

bl_status bl_snap_resolve(const bl_metadata *m, bl_str text, const bl_snap_options *o, bl_snap *out, bl_error *err) {
  static const bl_snap_options defaults = {0};
  *out = (bl_snap){0};
  if (!o) o = &defaults;
  /* --ref that does not exist is an error even where SNAP does not need it. */
  if (o->ref.p && !ref_is_there(m, o->ref)) return bl_fail(err, BL_NOT_FOUND, "no such ref: %.*s", BL_STR_ARG(o->ref));
  return resolve(m, text, o, out, err);
}

/* ---- ancestry ---- */

bl_status bl_chain_between(bl_ctx *ctx, const bl_metadata *m, const bl_snapshot *from, const bl_snapshot *to,
                           bl_chain *out, bl_error *err) {
  size_t cap = 0, steps = m->n_snapshots;
  bl_status st = BL_OK;
  *out = (bl_chain){0};
  const bl_snapshot *s = to;
  while (s && s != from) {
    BL_GO(bl_grow(ctx, &out->items, &cap, out->n, sizeof *out->items, err));
    const bl_snapshot *last = out->items[out->n++] = s;
    BL_GO(step_back(m, &s, &steps, err));
    if (s) continue;
    out->expired = last->has_parent;
    out->expired_parent = last->parent_id;
    out->complete = !from && !last->has_parent;
  }
  if (s == from && from) out->complete = true;
  for (size_t i = 0, j = out->n; i + 1 < j; i++) {
    const bl_snapshot *swap = out->items[i];
    out->items[i] = out->items[--j];
    out->items[j] = swap;
  }
done:
  if (st != BL_OK) bl_chain_dispose(ctx, out);
  return st;
}

void bl_chain_dispose(bl_ctx *ctx, bl_chain *c) {
  bl_free(ctx, c->items);
  *c = (bl_chain){0};
}

static bl_status depth_of(const bl_metadata *m, const bl_snapshot *s, size_t *out, bl_error *err) {
  size_t steps = m->n_snapshots;
  *out = 0;
  while (s) {
    ++*out;
    BL_TRY(step_back(m, &s, &steps, err));
  }
  return BL_OK;
}

bl_status bl_common_ancestor(const bl_metadata *m, const bl_snapshot *a, const bl_snapshot *b, const bl_snapshot **out,
                             bl_error *err) {
  size_t da, db;
  *out = NULL;
  BL_TRY(depth_of(m, a, &da, err));
  BL_TRY(depth_of(m, b, &db, err));
  for (; da > db; da--) a = bl_metadata_parent(m, a);
  for (; db > da; db--) b = bl_metadata_parent(m, b);
  while (a != b) a = bl_metadata_parent(m, a), b = bl_metadata_parent(m, b);
  *out = a;
  return BL_OK;
}

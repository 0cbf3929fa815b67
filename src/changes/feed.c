/* feed.c: see feed.h. Stages, each from one spool to the next:
 *   steps (or the net comparison) -> ordinals and commits of a net -> pairs by key -> the order of the output. */
#include "changes/feed.h"

#include "changes/attribution.h"
#include "changes/hashed.h"
#include "changes/keys.h"
#include "changes/step.h"
#include "scan/columns.h"

typedef struct feeding {
  bl_feed *f;
  const bl_feed_options *o;
  bl_stepper stepper;
  bl_spool *out;
  const bl_step *step; /* at hand; NULL: the net comparison */
  bl_twins *twins;     /* of the step */
  uint32_t ordinal;
  int64_t step_events;
  const bl_snapshot *equality_seen;
} feeding;

/* ---- C15 ---- */

static bl_str writer_of(const bl_snapshot *s) {
  static const char *const keys[] = {"engine-name",  "app-name",       "spark.app.id",
                                     "flink.job-id", "trino_query_id", "app-id"};
  for (size_t i = 0; s && i < BL_LEN(keys); i++) {
    bl_str v = bl_pairs_get(&s->summary, keys[i]);
    if (v.p) return i == 2 ? BL_STR("spark") : i == 3 ? BL_STR("flink") : i == 4 ? BL_STR("trino") : v;
  }
  return BL_STR("an unnamed engine");
}

/* Once a writer and kind. */
static bl_status broken(feeding *x, const bl_snapshot *s, const char *what, bl_error *err) {
  bl_str writer = writer_of(s);
  if (x->o->fail_on_broken) x->f->found = true;
  if (x->o->quiet) return BL_OK;
  for (size_t i = 0; i < x->f->n_said; i++)
    if (bl_str_eq(x->f->said[i].writer, writer) && x->f->said[i].what == what) return BL_OK;
  BL_TRY(bl_grow(x->f->ctx, &x->f->said, &x->f->cap_said, x->f->n_said, sizeof *x->f->said, err));
  x->f->said[x->f->n_said++] = (bl_said){writer, what};
  bl_warn(x->f->ctx, "changes: identity broken: %s (written by %.*s, first in snapshot %lld)", what, BL_STR_ARG(writer),
          s ? (long long)s->id : 0);
  return BL_OK;
}

static const char by_equality[] = "rows were deleted by equality deletes, which end their _row_id";
static const char by_upsert[] = "updates arrived as DELETE and INSERT of one key";
static const char by_replace[] = "a replace snapshot changed rows or lost their ids";

/* ---- steps ---- */

static bl_status take_event(void *user, const bl_event *e, bl_error *err) {
  feeding *x = user;
  bl_event out = *e;
  out.ordinal = x->ordinal;
  x->step_events++;
  if (e->basis == BL_BASIS_EQUALITY_DELETE && x->step && x->equality_seen != x->step->to) {
    x->equality_seen = x->step->to;
    BL_TRY(broken(x, x->step->to, by_equality, err));
  }
  if (x->step && x->step->gap) out.basis = BL_BASIS_GAP;
  return bl_spool_add(x->out, &out, err);
}

static bool is_replace(const bl_step *st) {
  return !st->gap && st->from && bl_str_is(bl_snapshot_operation(st->to), "replace");
}

/* C8: rows changed in a replace, or the values of rows whose number says that none did. */
static bl_status judge_replace(feeding *x, const bl_snapshot *s, const bl_twins *t, bl_error *err) {
  if (x->step_events == 0 && t->different == 0) return BL_OK;
  if (!x->o->quiet && x->step_events)
    bl_warn(x->f->ctx, "changes: snapshot %lld calls itself a replace, but rows changed in it", (long long)s->id);
  if (!x->o->quiet && t->different)
    bl_warn(x->f->ctx,
            "changes: snapshot %lld calls itself a replace, but rows have other values after it though their sequence "
            "number is the same: %lld, one of them _row_id %lld",
            (long long)s->id, (long long)t->different, (long long)t->first_id);
  if (x->o->check_replace) x->f->found = true;
  return broken(x, s, by_replace, err);
}

static bl_status take_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  feeding *x = user;
  if (before->id == BL_NONE || after->id == BL_NONE) return BL_OK; /* matched by their values */
  return bl_twins_add(x->twins, before, after, len, err);
}

static bl_status run_step(feeding *x, const bl_step *st, bl_error *err) {
  bl_step_sink sink = {take_event, NULL, x, false};
  bl_twins twins = {.what = {&x->f->reading, &x->f->files, &x->f->range.schema->root, 0}};
  bool skipped, replace = is_replace(st);
  x->step = st;
  x->step_events = 0;
  x->twins = &twins;
  bl_random(x->f->ctx, &twins.what.seed, sizeof twins.what.seed);
  if (replace && x->o->check_replace) sink.moved = take_moved;
  bl_status status = bl_step_run(&x->stepper, st->from, st->to, replace, &sink, &skipped, err);
  if (status == BL_OK) status = bl_twins_finish(&twins, err);
  if (status == BL_OK && replace) status = judge_replace(x, st->to, &twins, err);
  bl_twins_dispose(&twins);
  return status;
}

static bl_status run_steps(feeding *x, bl_error *err) {
  size_t n = x->f->range.n_steps;
  for (size_t i = 0; i < n; i++) {
    x->ordinal = (uint32_t)i;
    x->stepper.keep = i + 1 < n;
    BL_TRY(run_step(x, &x->f->range.steps[i], err));
    BL_TRY(bl_progress(x->f->ctx, "comparing snapshots", (int64_t)i + 1, (int64_t)n, err));
  }
  return BL_OK;
}

static bl_status run_log(feeding *x, bl_error *err) {
  BL_TRY(bl_kept_runs_new(x->f->ctx, x->f->ctx->o.memory_budget / 8, &x->stepper.kept, err));
  bl_status st = run_steps(x, err);
  bl_kept_runs_free(x->stepper.kept);
  x->stepper.kept = NULL;
  return st;
}

/* ---- net (C7) ---- */

static uint32_t ordinal_of_seq(const bl_range *r, int64_t seq) {
  uint32_t last = r->n_steps ? (uint32_t)r->n_steps - 1 : 0;
  if (!r->related || seq == BL_NONE) return last;
  size_t lo = 0, hi = r->n_steps;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (r->steps[mid].to->sequence_number < seq) lo = mid + 1;
    else hi = mid;
  }
  if (lo < r->n_steps && r->steps[lo].to->sequence_number == seq) return (uint32_t)lo;
  bool gap = r->n_steps > 0 && (r->steps[0].gap || r->cut);
  return gap && lo == 0 ? 0 : last;
}

/* Takes in DELETEs of `in` from event *at on, until they are `limit` bytes; *at moves behind the last event seen. */
static bl_status want_removals(bl_spool *in, int64_t *at, int64_t limit, bl_removals *r, bl_error *err) {
  const void *events;
  size_t n;
  do {
    BL_TRY(bl_spool_view(in, *at, &events, &n, err));
    for (const bl_event *e = events; e < (const bl_event *)events + n; e++, ++*at) {
      if (bl_removals_bytes(r) >= limit) return BL_OK;
      if (e->type == BL_DELETE) BL_TRY(bl_removals_want(r, e, err));
    }
  } while (n);
  return BL_OK;
}

static bl_status put_one(feeding *x, const bl_event *e, bl_error *err) {
  if (e->basis == BL_BASIS_EQUALITY_DELETE) BL_TRY(broken(x, bl_feed_commit(x->f, e->ordinal), by_equality, err));
  return bl_spool_add(x->out, e, err);
}

/* A DELETE run is cut where its rows were removed by different snapshots. */
static bl_status put_deleted(feeding *x, const bl_removals *r, const bl_event *e, bl_error *err) {
  for (uint32_t i = 0; i < e->len;) {
    bl_event part = *e;
    part.ordinal = bl_removals_ordinal(r, e, i);
    part.before_pos += i;
    if (part.before_id != BL_NONE) part.before_id += i;
    uint32_t n = 1;
    while (i + n < e->len && bl_removals_ordinal(r, e, i + n) == part.ordinal) n++;
    part.len = n;
    BL_TRY(put_one(x, &part, err));
    i += n;
  }
  return BL_OK;
}

/* Events [at, end). r NULL: outside a common ancestry. */
static bl_status put_attributed(feeding *x, bl_spool *in, int64_t at, int64_t end, const bl_removals *r,
                                bl_error *err) {
  const void *events;
  size_t n;
  for (; at < end; at += (int64_t)n) {
    BL_TRY(bl_spool_view(in, at, &events, &n, err));
    if ((int64_t)n > end - at) n = (size_t)(end - at);
    for (size_t i = 0; i < n; i++) {
      bl_event e = ((const bl_event *)events)[i];
      bool deleted = e.type == BL_DELETE;
      e.ordinal = !r || deleted ? 0 : ordinal_of_seq(&x->f->range, e.after_seq);
      BL_TRY(r && deleted ? put_deleted(x, r, &e, err) : put_one(x, &e, err));
    }
  }
  return BL_OK;
}

/* The next events, as many as may be followed at once. */
static bl_status attribute_lot(feeding *x, bl_spool *in, int64_t *at, bl_error *err) {
  enum { LEAST = 1 << 12 };
  bl_removals *r;
  bl_stepper s = x->stepper;
  int64_t begin = *at, limit = x->f->ctx->o.memory_budget / 2;
  size_t n_files = x->f->files.n;
  s.check_replace = false;
  BL_TRY(bl_removals_new(x->f->ctx, &x->f->files, &r, err));
  bl_status st = want_removals(in, at, limit < LEAST ? LEAST : limit, r, err);
  if (st == BL_OK) st = bl_removals_follow(r, &s, &x->f->range, x->o->full_rows ? x->o->full_rows : BL_FULL_ROWS, err);
  bl_files_cut(&x->f->files, n_files);
  x->stepper.warned_duplicate = s.warned_duplicate;
  x->stepper.saw_duplicate = s.saw_duplicate;
  x->stepper.warned_branches = s.warned_branches;
  if (st == BL_OK) st = put_attributed(x, in, begin, *at, r, err);
  bl_removals_free(r);
  return st;
}

static bl_status attribute(feeding *x, bl_spool *in, bl_error *err) {
  int64_t at = 0, n = bl_spool_count(in);
  if (!x->f->range.related) return put_attributed(x, in, 0, n, NULL, err);
  while (at < n) BL_TRY(attribute_lot(x, in, &at, err));
  return BL_OK;
}

/* Runs are cut: the rows of an event are followed together. */
static bl_status take_net_event(void *user, const bl_event *e, bl_error *err) {
  enum { MOST = 1 << 16 };
  feeding *x = user;
  bl_event part = *e;
  for (uint32_t left = e->len; left > 0;) {
    part.len = e->type == BL_DELETE && left > MOST ? MOST : left;
    BL_TRY(bl_spool_add(x->out, &part, err));
    left -= part.len;
    part.before_pos += part.len;
    if (part.before_id != BL_NONE) part.before_id += part.len;
  }
  return BL_OK;
}

/* C8: with --net too every replace of the range is compared, for what it promised alone. */
static bl_status check_replaces(feeding *x, bl_error *err) {
  bl_spool *out = x->out, *nothing;
  size_t n_files = x->f->files.n;
  bl_status st = bl_spool_new(x->f->ctx, sizeof(bl_event), x->f->ctx->o.memory_budget / 8, &nothing, err);
  if (st != BL_OK) return st;
  x->out = nothing;
  for (size_t i = 0; st == BL_OK && i < x->f->range.n_steps; i++)
    if (is_replace(&x->f->range.steps[i])) st = run_step(x, &x->f->range.steps[i], err);
  x->step = NULL;
  x->out = out;
  bl_files_cut(&x->f->files, n_files);
  bl_spool_free(nothing);
  return st;
}

static bl_status run_net(feeding *x, bl_error *err) {
  bl_step_sink sink = {take_net_event, NULL, x, false};
  bl_spool *found = NULL, *out = x->out;
  bool skipped;
  const bl_range *r = &x->f->range;
  if (r->from == r->to || !r->to) return BL_OK;
  BL_TRY(bl_spool_new(x->f->ctx, sizeof(bl_event), x->f->ctx->o.memory_budget / 8, &found, err));
  x->out = found;
  bl_status st = bl_step_run(&x->stepper, r->from, r->to, false, &sink, &skipped, err);
  x->out = out;
  if (st == BL_OK) st = attribute(x, found, err);
  if (st == BL_OK && x->o->check_replace) st = check_replaces(x, err);
  bl_spool_free(found);
  return st;
}

/* ---- keys, order ---- */

static bl_status name_upserts(feeding *x, bl_spool *events, bl_error *err) {
  const void *some;
  size_t n;
  uint32_t last = UINT32_MAX;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_view(events, at, &some, &n, err));
    if (n == 0) return BL_OK;
    for (const bl_event *e = some; e < (const bl_event *)some + n; e++) {
      if (e->basis != BL_BASIS_KEY || e->ordinal == last) continue;
      last = e->ordinal;
      BL_TRY(broken(x, bl_feed_commit(x->f, last), by_upsert, err));
    }
  }
}

static bl_status pair_keys(feeding *x, bl_spool **events, bl_error *err) {
  bl_columns c;
  bl_spool *out;
  int64_t pairs, not_unique;
  bl_columns_init(&c, x->f->arena, x->f->t->metadata, x->f->range.schema);
  for (size_t i = 0; i < x->o->n_key; i++) BL_TRY(bl_columns_add_id(&c, x->o->key_ids[i], err));
  BL_TRY(bl_spool_new(x->f->ctx, sizeof(bl_event), x->f->ctx->o.memory_budget / 8, &out, err));
  bl_pair_options o = {.env = &x->f->reading, .files = &x->f->files, .wanted = &c.wanted, .net = x->f->net};
  o.gap = !x->f->net && x->f->range.n_steps && x->f->range.steps[0].gap;
  bl_status st = bl_pair_by_key(&o, *events, out, &pairs, &not_unique, err);
  if (st != BL_OK) {
    bl_spool_free(out);
    return st;
  }
  bl_spool_free(*events);
  *events = out;
  if (not_unique)
    bl_warn(x->f->ctx, "changes: keys not unique among the deleted or inserted rows, left as DELETE and INSERT: %lld",
            (long long)not_unique);
  return pairs && !x->f->net ? name_upserts(x, out, err) : BL_OK;
}

static bl_status put_in_order(feeding *x, bl_spool **events, bl_error *err) {
  const void *some;
  size_t n;
  bl_feed *f = x->f;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_view(*events, at, &some, &n, err));
    if (n == 0) break;
    for (const bl_event *e = some; e < (const bl_event *)some + n; e++)
      f->rows += (int64_t)e->len * (e->type == BL_UPDATE ? 2 : 1);
  }
  BL_TRY(bl_files_rank(&f->files, 0, err));
  bl_order_options o = {.rank = f->files.rank, .n_ordinals = f->range.n_steps};
  o.kind = x->o->by_row ? BL_ORDER_BY_ROW : x->o->by_place ? BL_ORDER_BY_PLACE : BL_ORDER_OUTPUT;
  return bl_event_order_new(f->ctx, events, &o, &f->events, err);
}

static bl_status run_stages(feeding *x, bl_error *err) {
  bl_spool *events = NULL;
  BL_TRY(bl_spool_new(x->f->ctx, sizeof(bl_event), x->f->ctx->o.memory_budget / 8, &events, err));
  x->out = events;
  bl_status st = x->f->net ? run_net(x, err) : run_log(x, err);
  if (st == BL_OK && x->o->n_key) st = pair_keys(x, &events, err);
  if (st == BL_OK) st = put_in_order(x, &events, err);
  bl_spool_free(events);
  return st;
}

static bl_status begin(feeding *x, bl_table *t, const bl_feed_options *o, bl_error *err) {
  bl_feed *f = x->f;
  x->o = o;
  f->ctx = t->ctx;
  f->t = t;
  f->net = o->range.net;
  bl_files_init(&f->files, t->ctx);
  BL_TRY(bl_arena_new(t->ctx, &f->arena, err));
  BL_TRY(bl_reading_init(&f->reading, t, err));
  x->stepper = (bl_stepper){.ctx = t->ctx,
                            .t = t,
                            .reading = &f->reading,
                            .files = &f->files,
                            .only = o->only,
                            .nulls = o->nulls,
                            .check_replace = o->check_replace,
                            .probe_rows = o->probe_rows ? o->probe_rows : BL_PROBE_ROWS,
                            .part_rows = o->part_rows,
                            .warned_duplicate = o->quiet,
                            .warned_branches = o->quiet};
  f->files.warned_rows = o->quiet;
  return BL_OK;
}

bl_status bl_feed_run(bl_feed *f, bl_table *t, const bl_feed_options *o, bl_error *err) {
  feeding x = {.f = f};
  bl_range_options ro = o->range;
  ro.quiet = ro.quiet || o->quiet;
  BL_TRY(begin(&x, t, o, err));
  BL_TRY(bl_range_resolve(t, &ro, f->arena, &f->range, err));
  BL_TRY(bl_differ_new(t, &f->differ, err));
  x.stepper.differ = f->differ;
  x.stepper.schema = f->range.schema;
  return run_stages(&x, err);
}

bl_status bl_feed_run_diff(bl_feed *f, bl_table *t, const bl_feed_options *o, const bl_diff *d, const bl_schema *schema,
                           const bl_snapshot *commit, uint32_t ordinal, bl_error *err) {
  feeding x = {.f = f, .ordinal = ordinal};
  bl_step_sink sink = {take_event, NULL, &x};
  bool skipped;
  BL_TRY(begin(&x, t, o, err));
  f->range = (bl_range){.to = commit, .schema = schema};
  x.stepper.schema = schema;
  BL_TRY(bl_spool_new(f->ctx, sizeof(bl_event), f->ctx->o.memory_budget / 8, &x.out, err));
  bl_status st = bl_step_compare(&x.stepper, d, false, &sink, &skipped, err);
  if (st == BL_OK) st = put_in_order(&x, &x.out, err);
  bl_spool_free(x.out);
  return st;
}

void bl_feed_dispose(bl_feed *f) {
  if (!f->ctx) return;
  bl_event_order_free(f->events);
  bl_differ_free(f->differ);
  bl_files_dispose(&f->files);
  bl_reading_dispose(&f->reading);
  bl_free(f->ctx, f->said);
  bl_arena_free(f->arena);
  *f = (bl_feed){0};
}

const bl_snapshot *bl_feed_commit(const bl_feed *f, uint32_t ordinal) {
  return f->range.related && ordinal < f->range.n_steps ? f->range.steps[ordinal].to : f->range.to;
}

/* step.c: see step.h. */
#include "changes/step.h"

#include "changes/hashed.h"

typedef struct comparison {
  bl_stepper *s;
  const bl_step_sink *sink;
  bl_spool *left[2]; /* of bl_run: removed and added rows that C4 may match; NULL where no row is without id */
  bool hold[2];      /* do removed, added rows with ids wait there? Only where the other side has some without */
  bool pick;         /* all rows were compared, but only those of s->only are wanted */
} comparison;

/* ---- C4 ---- */

static bl_status hold_run(comparison *c, int side, const bl_run *r, bl_error *err) {
  return bl_spool_add(c->left[side], r, err);
}

static bl_status hold_nulls(comparison *c, int side, bl_spool *s, bl_error *err) {
  bl_run runs[256];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(s, at, runs, BL_LEN(runs), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++) BL_TRY(hold_run(c, side, &runs[i], err));
  }
}

static bl_run run_of(const bl_hashed_row *r) {
  return (bl_run){.id = r->id, .seq = r->seq, .pos = r->pos, .file = r->file, .len = 1};
}

static bl_status value_matched(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err) {
  comparison *c = user;
  if (!c->sink->moved) return BL_OK;
  bl_run b = run_of(before), a = run_of(after);
  return c->sink->moved(c->sink->user, &b, &a, 1, err);
}

static uint8_t basis_of(const comparison *c, const bl_event *e) {
  int64_t id = bl_event_id(e);
  if (e->type == BL_DELETE && c->s->files->items[e->before_file].basis == BL_BASIS_EQUALITY_DELETE)
    return BL_BASIS_EQUALITY_DELETE;
  return id == BL_NONE ? BL_BASIS_VALUE : BL_BASIS_ROW_ID;
}

/* Of an event with ids, the rows that are wanted. */
static bl_status pass_picked(comparison *c, const bl_event *e, bl_error *err) {
  int64_t first = bl_event_id(e);
  if (first == BL_NONE) return c->s->nulls ? c->sink->event(c->sink->user, e, err) : BL_OK;
  for (size_t i = bl_idset_lower(c->s->only, first); i < bl_idset_count(c->s->only); i++) {
    int64_t skip = bl_idset_at(c->s->only, i) - first;
    if (skip >= e->len) break;
    bl_event one = bl_event_row(e, skip);
    BL_TRY(c->sink->event(c->sink->user, &one, err));
  }
  return BL_OK;
}

static bl_status pass_event(comparison *c, const bl_event *e, bl_error *err) {
  bl_event out = *e;
  out.basis = basis_of(c, e);
  return c->pick ? pass_picked(c, &out, err) : c->sink->event(c->sink->user, &out, err);
}

static bl_status pass_run(comparison *c, int side, const bl_run *r, bl_error *err) {
  bl_event e = bl_event_of(side == 0 ? r : NULL, side == 0 ? NULL : r, r->len);
  return pass_event(c, &e, err);
}

static bl_status value_rest(void *user, int side, const bl_hashed_row *r, bl_error *err) {
  bl_run run = run_of(r);
  return pass_run(user, side, &run, err);
}

/* Calls take for each run, or with `single` for each row, of what is left on a side. */
static bl_status each_left(comparison *c, int side, bool single,
                           bl_status (*take)(void *user, int side, const bl_run *r, bl_error *err), void *user,
                           bl_error *err) {
  bl_run runs[256];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(c->left[side], at, runs, BL_LEN(runs), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++) {
      bl_run r = runs[i];
      if (single) r.len = 1;
      for (uint32_t k = 0; k < runs[i].len; k += r.len) {
        BL_TRY(take(user, side, &r, err));
        if (r.id != BL_NONE) r.id += r.len;
        r.pos += r.len;
      }
    }
  }
}

static bl_status pass_left(void *user, int side, const bl_run *r, bl_error *err) {
  return pass_run(user, side, r, err);
}

static bl_status hash_left(void *user, int side, const bl_run *r, bl_error *err) {
  bl_hasher *h = user;
  (void)side;
  bl_hashed_row row = {.id = r->id, .seq = r->seq, .pos = r->pos, .file = r->file};
  return bl_hasher_add(h, &row, err);
}

static bl_hashing hashing_of(const comparison *c) {
  bl_hashing h = {.env = c->s->reading, .files = c->s->files, .wanted = &c->s->schema->root};
  bl_random(c->s->ctx, &h.seed, sizeof h.seed);
  return h;
}

static bl_status match_sides(comparison *c, bl_sorter *sorted[2], bl_error *err) {
  bl_hashing what = hashing_of(c);
  for (int k = 0; k < 2; k++) {
    BL_TRY(bl_sorter_new(c->s->ctx, sizeof(bl_hashed_row), c->s->ctx->o.memory_budget / 8, bl_hashed_cmp,
                         c->s->files->rank, &sorted[k], err));
    bl_hasher h = {.what = what, .out = sorted[k]};
    bl_status st = each_left(c, k, true, hash_left, &h, err);
    if (st == BL_OK) st = bl_hasher_finish(&h, err);
    bl_hasher_dispose(&h);
    BL_TRY(st);
  }
  return bl_match_values(sorted[0], sorted[1], value_matched, value_rest, c, err);
}

static bl_status match_left_over(comparison *c, bl_error *err) {
  bl_sorter *sorted[2] = {NULL, NULL};
  bl_status st = BL_OK;
  if (bl_spool_count(c->left[0]) && bl_spool_count(c->left[1])) {
    st = match_sides(c, sorted, err);
    bl_sorter_free(sorted[0]);
    bl_sorter_free(sorted[1]);
    return st;
  }
  /* Nothing to compare with. Runs of two places with one path would stand between one another in the output. */
  for (int k = 0; st == BL_OK && k < 2; k++) st = each_left(c, k, c->s->files->path_twice, pass_left, c, err);
  return st;
}

/* ---- C2 ---- */

static bl_status on_event(void *user, const bl_event *e, bl_error *err) {
  comparison *c = user;
  if (e->type == BL_UPDATE || !c->hold[e->type == BL_INSERT]) return pass_event(c, e, err);
  bl_run before = {e->before_id, e->before_seq, e->before_pos, e->before_file, e->len},
         after = {e->after_id, e->after_seq, e->after_pos, e->after_file, e->len};
  return e->type == BL_DELETE ? hold_run(c, 0, &before, err) : hold_run(c, 1, &after, err);
}

static bl_status on_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  comparison *c = user;
  return c->sink->moved(c->sink->user, before, after, len, err);
}

static void on_duplicate(void *user, int64_t id) {
  comparison *c = user;
  c->s->saw_duplicate = true;
  if (c->s->warned_duplicate) return;
  c->s->warned_duplicate = true;
  bl_warn(c->s->ctx,
          "changes: _row_id %lld is there twice among the rows that came or went: the table's lineage is broken",
          (long long)id);
}

static bl_status on_hash_values(void *user, bl_hashed_row *rows, size_t n, bl_error *err) {
  bl_hashing what = hashing_of(user);
  return bl_hash_rows(&what, rows, n, NULL, err);
}

/* Rows with ids, then C4 where there are others. */
static bl_status match_rows(comparison *c, bl_row_sets *sets, bl_error *err) {
  int64_t share = c->s->ctx->o.memory_budget / 8;
  bl_join_sink js = {.event = on_event,
                     .moved = c->sink->moved && !c->sink->only_by_value ? on_moved : NULL,
                     .hash_values = on_hash_values,
                     .duplicate = on_duplicate,
                     .user = c};
  c->hold[1] = bl_spool_count(sets->removed_null) > 0;
  c->hold[0] = bl_spool_count(sets->added_null) > 0;
  bool nulls = c->hold[0] || c->hold[1];
  for (int k = 0; nulls && k < 2; k++) BL_TRY(bl_spool_new(c->s->ctx, sizeof(bl_run), share, &c->left[k], err));
  BL_TRY(bl_join_runs(c->s->ctx, sets->removed, sets->added, c->s->files->rank, &js, err));
  if (!nulls) return BL_OK;
  BL_TRY(hold_nulls(c, 0, sets->removed_null, err));
  BL_TRY(hold_nulls(c, 1, sets->added_null, err));
  return match_left_over(c, err);
}

static bl_status compare_rows(comparison *c, bl_row_sets *sets, bl_error *err) {
  bl_status st = match_rows(c, sets, err);
  for (int k = 0; k < 2; k++) {
    bl_spool_free(c->left[k]);
    c->left[k] = NULL;
  }
  return st;
}

static bl_status compare_all(comparison *c, bl_identity *id, const bl_diff *d, bl_error *err) {
  bl_row_sets sets = {0};
  bl_status st = bl_identity_collect(id, d, &sets, err);
  if (st == BL_OK) st = compare_rows(c, &sets, err);
  bl_row_sets_dispose(&sets);
  return st;
}

/* ---- big rewrites: nothing is sorted (probe.h) ---- */

/* Rows of files that go, or that come. */
static int64_t rows_of(const bl_diff *d, bool go) {
  int64_t rows = 0;
  for (size_t i = 0; i < d->n; i++) {
    const bl_touched *t = &d->items[i];
    const bl_manifest_entry *e = go ? t->old_entry : t->new_entry;
    if (t->old_entry && t->new_entry) continue;
    if (e && !bl_add64(rows, e->file.record_count, &rows)) return INT64_MAX;
  }
  return rows;
}

static bool worth_a_probe(const comparison *c, const bl_diff *d) {
  return rows_of(d, true) >= c->s->probe_rows && rows_of(d, false) >= c->s->probe_rows &&
         (!c->sink->moved || c->sink->only_by_value) && !c->s->only;
}

static bl_status pass_probed(comparison *c, bl_spool *events, bl_error *err) {
  bl_event e[128];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(events, at, e, BL_LEN(e), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++) BL_TRY(pass_event(c, &e[i], err));
  }
}

static bl_status collect_side(bl_identity *id, const bl_diff *d, bl_sides side, bl_error *err) {
  bl_row_sets nothing = {0};
  if (bl_probe_failed(id->probe)) return BL_OK;
  id->sides = side;
  bl_status st = bl_identity_collect(id, d, &nothing, err);
  bl_row_sets_dispose(&nothing);
  return st;
}

static bl_status run_probe(bl_identity *id, const bl_diff *d, bl_error *err) {
  BL_TRY(collect_side(id, d, BL_REMOVED_SIDE, err));
  BL_TRY(bl_probe_turn(id->probe, err));
  BL_TRY(collect_side(id, d, BL_ADDED_SIDE, err));
  return bl_probe_failed(id->probe) ? BL_OK : bl_probe_finish(id->probe, err);
}

/* *done false: the ordinary way must be taken. */
static bl_status compare_by_probe(comparison *c, bl_identity id, const bl_diff *d, bool *done, bl_error *err) {
  *done = false;
  BL_TRY(bl_probe_new(c->s->ctx, id.files, id.first_file, rows_of(d, true), &id.probe, err));
  bl_status st = run_probe(&id, d, err);
  *done = st == BL_OK && !bl_probe_failed(id.probe);
  if (*done) st = pass_probed(c, bl_probe_events(id.probe), err);
  bl_probe_free(id.probe);
  return st;
}

/* Are there files whose rows have ids, and others? Then C4 may match rows of the one with rows of the other. */
static bool is_mixed(const bl_diff *d) {
  bool with = false, without = false;
  for (size_t i = 0; i < d->n; i++) {
    const bl_manifest_entry *e[2] = {d->items[i].old_entry, d->items[i].new_entry};
    for (int k = 0; k < 2; k++)
      if (e[k]) *(e[k]->file.first_row_id == BL_NONE ? &without : &with) = true;
  }
  return with && without;
}

bl_status bl_step_compare(bl_stepper *s, const bl_diff *d, bool is_replace, const bl_step_sink *sink, bool *skipped,
                          bl_error *err) {
  comparison c = {.s = s, .sink = sink};
  bl_identity id = {.env = s->reading,
                    .files = s->files,
                    .first_file = s->files->n,
                    .only = s->only,
                    .nulls = s->nulls,
                    .kept = s->kept,
                    .keep = s->keep,
                    .part_rows = s->part_rows};
  bool removes = false;
  for (size_t i = 0; !removes && i < d->n; i++) removes = d->items[i].old_entry != NULL;
  if (s->removals_only && !removes) return BL_OK;
  if (is_replace && !s->check_replace) {
    *skipped = d->metadata_proves_replace;
    if (!*skipped && d->may_prove_replace) BL_TRY(bl_identity_proves_replace(&id, d, skipped, err));
    if (*skipped) return BL_OK;
  }
  c.pick = s->only && is_mixed(d);
  if (c.pick) id.only = NULL;
  bool done = false;
  if (worth_a_probe(&c, d)) BL_TRY(compare_by_probe(&c, id, d, &done, err));
  return done ? BL_OK : compare_all(&c, &id, d, err);
}

bl_status bl_step_run(bl_stepper *s, const bl_snapshot *from, const bl_snapshot *to, bool is_replace,
                      const bl_step_sink *sink, bool *skipped, bl_error *err) {
  bl_diff d;
  *skipped = false;
  BL_TRY(bl_differ_run(s->differ, from, to, &d, err));
  if (d.ids_differ && !s->warned_branches) {
    s->warned_branches = true;
    bl_warn(s->ctx, "changes: the two snapshots lie on branches that diverged over an upgrade: row ids of the one do "
                    "not join those of the other");
  }
  bl_status st = bl_step_compare(s, &d, is_replace, sink, skipped, err);
  bl_diff_release(s->differ, &d);
  return st;
}

/* step.c: see step.h. */
#include "changes/step.h"

#include "changes/fetch.h"
#include "rows/arrow_view.h"
#include "scan/columns.h"

#include <pthread.h>
#include <stdlib.h>

/* Rows left for C4: when any row without id is about, deletes and inserts of the join wait here. */
typedef struct left_over {
  bl_hashed_row *rows;
  size_t n, cap;
} left_over;

typedef struct comparison {
  bl_stepper *s;
  const bl_step_sink *sink;
  bool hold; /* deletes and inserts go to left[] */
  left_over left[2];
} comparison;

/* ---- C4 ---- */

static bl_status hold_rows(comparison *c, int side, int64_t id, int64_t seq, int64_t pos, uint32_t file, uint32_t len,
                           bl_error *err) {
  left_over *l = &c->left[side];
  for (uint32_t i = 0; i < len; i++) {
    BL_TRY(bl_grow(c->s->ctx, &l->rows, &l->cap, l->n, sizeof *l->rows, err));
    l->rows[l->n++] = (bl_hashed_row){.id = id == BL_NONE ? BL_NONE : id + i, .seq = seq, .pos = pos + i, .file = file};
  }
  return BL_OK;
}

static bl_status hold_nulls(comparison *c, int side, bl_spool *s, bl_error *err) {
  bl_run runs[256];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(s, at, runs, BL_LEN(runs), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++)
      BL_TRY(hold_rows(c, side, BL_NONE, BL_NONE, runs[i].pos, runs[i].file, runs[i].len, err));
  }
}

static int by_place(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return (x->pos > y->pos) - (x->pos < y->pos);
}

typedef struct hashing {
  bl_ctx *ctx;
  const struct ArrowSchema *schema;
  bl_hashed_row *rows;
  uint64_t seed;
} hashing;

static bl_status hash_batch(void *user, struct ArrowArray *batch, size_t first, bl_error *err) {
  hashing *h = user;
  bl_view *view = NULL;
  bl_buf b;
  bl_buf_init(&b, h->ctx, BL_BUF_MAX);
  bl_status st = bl_view_new(h->ctx, h->schema, &view, err);
  if (st == BL_OK) st = bl_view_set(view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    bl_buf_clear(&b);
    for (size_t c = 0; c < view->n_children; c++) bl_key_add(&b, &view->children[c], i);
    st = bl_buf_ok(&b, err);
    if (st == BL_OK) h->rows[first + (size_t)i].hash = bl_key_hash(b.p, b.n, h->seed);
  }
  bl_view_free(view);
  bl_buf_free(&b);
  bl_array_release(batch);
  return st;
}

bl_status bl_hash_rows(const bl_reading *env, const bl_files *files, const bl_type *wanted, bl_hashed_row *rows,
                       size_t n, uint64_t seed, bl_error *err) {
  bl_ctx *ctx = env->t->ctx;
  struct ArrowSchema schema = {0};
  bl_place *places = bl_alloc(ctx, n + 1, sizeof *places);
  bl_status st = places ? BL_OK : bl_nomem(err);
  if (st != BL_OK) return st;
  qsort(rows, n, sizeof *rows, by_place);
  for (size_t i = 0; i < n; i++) places[i] = (bl_place){rows[i].file, rows[i].pos};
  st = bl_aschema_of_struct(ctx, wanted, &schema, err);
  hashing h = {.ctx = ctx, .schema = &schema, .rows = rows, .seed = seed};
  if (st == BL_OK) st = bl_fetch_each(env, files, wanted, places, n, hash_batch, &h, err);
  bl_aschema_release(&schema);
  bl_free(ctx, places);
  return st;
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

static bl_status pass_event(comparison *c, const bl_event *e, bl_error *err) {
  bl_event out = *e;
  out.basis = basis_of(c, e);
  return c->sink->event(c->sink->user, &out, err);
}

static bl_status value_rest(void *user, int side, const bl_hashed_row *r, bl_error *err) {
  bl_event e = {.before_id = BL_NONE,
                .after_id = BL_NONE,
                .before_seq = BL_NONE,
                .after_seq = BL_NONE,
                .before_file = BL_NO_FILE,
                .after_file = BL_NO_FILE,
                .len = 1};
  if (side == 0)
    e.type = BL_DELETE, e.before_id = r->id, e.before_seq = r->seq, e.before_pos = r->pos, e.before_file = r->file;
  else e.type = BL_INSERT, e.after_id = r->id, e.after_seq = r->seq, e.after_pos = r->pos, e.after_file = r->file;
  return pass_event(user, &e, err);
}

static bl_status match_left_over(comparison *c, bl_error *err) {
  bl_stepper *s = c->s;
  uint64_t seed;
  bl_random(s->ctx, &seed, sizeof seed);
  if (c->left[0].n && c->left[1].n)
    for (int k = 0; k < 2; k++)
      BL_TRY(bl_hash_rows(s->reading, s->files, &s->schema->root, c->left[k].rows, c->left[k].n, seed, err));
  else if (c->left[0].n + c->left[1].n == 0) return BL_OK;
  else { /* nothing to compare with */
    for (int k = 0; k < 2; k++) {
      qsort(c->left[k].rows, c->left[k].n, sizeof *c->left[k].rows, by_place);
      for (size_t i = 0; i < c->left[k].n; i++) BL_TRY(value_rest(c, k, &c->left[k].rows[i], err));
    }
    return BL_OK;
  }
  return bl_match_values(c->left[0].rows, c->left[0].n, c->left[1].rows, c->left[1].n, s->files->rank, value_matched,
                         value_rest, c, err);
}

/* ---- C2 ---- */

static bl_status on_event(void *user, const bl_event *e, bl_error *err) {
  comparison *c = user;
  if (!c->hold || e->type == BL_UPDATE) return pass_event(c, e, err);
  if (e->type == BL_DELETE)
    return hold_rows(c, 0, e->before_id, e->before_seq, e->before_pos, e->before_file, e->len, err);
  return hold_rows(c, 1, e->after_id, e->after_seq, e->after_pos, e->after_file, e->len, err);
}

static bl_status on_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  comparison *c = user;
  return c->sink->moved(c->sink->user, before, after, len, err);
}

static void on_duplicate(void *user, int64_t id) {
  comparison *c = user;
  if (c->s->warned_duplicate) return;
  c->s->warned_duplicate = true;
  bl_warn(c->s->ctx,
          "changes: _row_id %lld is there twice among the rows that came or went: the table's lineage is broken",
          (long long)id);
}

static bl_status on_hash_values(void *user, bl_hashed_row *rows, size_t n, bl_error *err) {
  comparison *c = user;
  uint64_t seed;
  bl_random(c->s->ctx, &seed, sizeof seed);
  return bl_hash_rows(c->s->reading, c->s->files, &c->s->schema->root, rows, n, seed, err);
}

static bl_status compare_rows(comparison *c, bl_row_sets *sets, bl_error *err) {
  c->hold = bl_spool_count(sets->removed_null) > 0 || bl_spool_count(sets->added_null) > 0;
  bl_join_sink js = {.event = on_event,
                     .moved = c->sink->moved ? on_moved : NULL,
                     .hash_values = on_hash_values,
                     .duplicate = on_duplicate,
                     .user = c};
  BL_TRY(bl_join_runs(c->s->ctx, sets->removed, sets->added, c->s->files->rank, &js, err));
  if (!c->hold) return BL_OK;
  BL_TRY(hold_nulls(c, 0, sets->removed_null, err));
  BL_TRY(hold_nulls(c, 1, sets->added_null, err));
  return match_left_over(c, err);
}

/* ---- big rewrites: the added side is not sorted (probe.h) ---- */

enum { PROBE_ROWS = 1000000 };

static bool worth_a_probe(const comparison *c, const bl_diff *d) {
  int64_t added = 0;
  bool removes = false;
  for (size_t i = 0; i < d->n; i++) {
    if (d->items[i].new_entry && !d->items[i].old_entry) added += d->items[i].new_entry->file.record_count;
    removes = removes || d->items[i].old_entry;
  }
  return removes && added >= PROBE_ROWS && !c->sink->moved && !c->s->only;
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

/* The removed side is in `sets`. *done false: the ordinary way must be taken; the added side has not been read then. */
static bl_status try_probe(comparison *c, bl_identity *id, const bl_diff *d, bl_row_sets *sets, bool *done,
                           bl_error *err) {
  bl_row_sets nothing = {0};
  *done = false;
  if (bl_spool_count(sets->removed_null) > 0) return BL_OK;
  BL_TRY(bl_probe_new(c->s->ctx, sets->removed, &id->probe, err));
  bl_status st = BL_OK;
  if (id->probe) {
    st = bl_identity_collect(id, d, &nothing, err);
    bl_row_sets_dispose(&nothing);
    *done = st == BL_OK && !bl_probe_failed(id->probe);
    if (*done) st = bl_probe_finish(id->probe, err);
    if (st == BL_OK && *done) st = pass_probed(c, bl_probe_events(id->probe), err);
  }
  bl_probe_free(id->probe);
  id->probe = NULL;
  return st == BL_OK && !*done ? bl_sorter_rewind(sets->removed, err) : st;
}

/* First the removed side, then the added one. */
static bl_status compare_in_turn(comparison *c, bl_identity *id, const bl_diff *d, bl_error *err) {
  bl_row_sets sets = {0}, added = {0};
  bool done = false;
  id->sides = BL_REMOVED_SIDE;
  bl_status st = bl_identity_collect(id, d, &sets, err);
  id->sides = BL_ADDED_SIDE;
  if (st == BL_OK) st = try_probe(c, id, d, &sets, &done, err);
  if (st == BL_OK && !done) {
    st = bl_identity_collect(id, d, &added, err);
    bl_row_sets both = {sets.removed, added.added, sets.removed_null, added.added_null};
    if (st == BL_OK) st = compare_rows(c, &both, err);
  }
  bl_row_sets_dispose(&sets);
  bl_row_sets_dispose(&added);
  return st;
}

static bl_status compare_all(comparison *c, bl_identity *id, const bl_diff *d, bl_error *err) {
  bl_row_sets sets = {0};
  bl_status st = bl_identity_collect(id, d, &sets, err);
  if (st == BL_OK) st = compare_rows(c, &sets, err);
  bl_row_sets_dispose(&sets);
  return st;
}

bl_status bl_step_compare(bl_stepper *s, const bl_diff *d, bool is_replace, const bl_step_sink *sink, bool *skipped,
                          bl_error *err) {
  comparison c = {.s = s, .sink = sink};
  bl_identity id = {.env = s->reading, .files = s->files, .only = s->only, .nulls = s->nulls};
  bool removes = false;
  for (size_t i = 0; !removes && i < d->n; i++) removes = d->items[i].old_entry != NULL;
  if (s->removals_only && !removes) return BL_OK;
  if (is_replace && !s->check_replace) {
    *skipped = d->metadata_proves_replace;
    if (!*skipped && d->may_prove_replace) BL_TRY(bl_identity_proves_replace(&id, d, skipped, err));
    if (*skipped) return BL_OK;
  }
  bl_status st = worth_a_probe(&c, d) ? compare_in_turn(&c, &id, d, err) : compare_all(&c, &id, d, err);
  bl_free(s->ctx, c.left[0].rows);
  bl_free(s->ctx, c.left[1].rows);
  return st;
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

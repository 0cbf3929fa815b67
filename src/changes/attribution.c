/* attribution.c: see attribution.h.
 *
 * 1. A row with an id is followed by it alone: the last DELETE of that id counts. Where ids are there twice, rows are
 *    followed by place too.
 * 2. A row without one is followed by place, from comparison to comparison, each time its place is among the rows that
 *    moved, were updated or went. Having got an id on the way and gone with it, it may come back by it.
 * 3. A row that lost its id (matched with one that has none) is followed by place from there on. */
#include "changes/attribution.h"

#include "base/map.h"
#include "changes/replace_proof.h"

#include <stdlib.h>

enum { POS_BITS = 40, BYTES_OF_ID = 56, BYTES_OF_PLACE = 160 };

/* A deleted row with an id. */
typedef struct by_id {
  int64_t id, pos;
  uint32_t file;
  uint32_t ordinal; /* + 1, of the last step in which its id went; 0 = not seen */
  uint32_t own;     /* + 1, of its removal, where it was followed by place */
  bool away;        /* its id went and has not come back */
} by_id;

/* A row followed by place. */
typedef struct by_place {
  int64_t start;    /* place key at first */
  int64_t now;      /* place key; AWAY after it was removed */
  int64_t gone;     /* the id that it had then */
  size_t owner;     /* index + 1 into ids (invariants 1, 3); 0: a row without id at first */
  uint32_t ordinal; /* + 1, of its removal */
  uint32_t updated; /* + 1: it got an id, then was updated: the two ends show DELETE and INSERT */
} by_place;
enum { AWAY = -1 };

struct bl_removals {
  bl_ctx *ctx;
  bl_files *files;
  by_id *ids;
  size_t n_ids, cap_ids;
  by_place *places;
  size_t n_places, cap_places;
  size_t n_null;    /* of them, the first ones: rows without id */
  bl_imap *at;      /* place key now -> index into places */
  bl_imap *starts;  /* place key at first -> index */
  bl_imap *away;    /* gone id -> index */
  uint32_t ordinal; /* of the step at hand */
  uint32_t last;    /* ordinal of the last step */
  bool twice;       /* a wanted id was there twice */
};

bl_status bl_removals_new(bl_ctx *ctx, bl_files *files, bl_removals **out, bl_error *err) {
  bl_removals *r = bl_calloc(ctx, 1, sizeof *r);
  *out = NULL;
  if (!r) return bl_nomem(err);
  r->ctx = ctx;
  r->files = files;
  bl_status st = bl_imap_new(ctx, &r->at, err);
  if (st == BL_OK) st = bl_imap_new(ctx, &r->starts, err);
  if (st == BL_OK) st = bl_imap_new(ctx, &r->away, err);
  if (st != BL_OK) {
    bl_removals_free(r);
    return st;
  }
  *out = r;
  return BL_OK;
}

void bl_removals_free(bl_removals *r) {
  if (!r) return;
  bl_free(r->ctx, r->ids);
  bl_free(r->ctx, r->places);
  bl_imap_free(r->at);
  bl_imap_free(r->starts);
  bl_imap_free(r->away);
  bl_free(r->ctx, r);
}

int64_t bl_removals_bytes(const bl_removals *r) {
  return (int64_t)r->n_ids * BYTES_OF_ID + (int64_t)r->n_places * BYTES_OF_PLACE;
}

/* ---- places ---- */

static int64_t key_of(const bl_removals *r, uint32_t file, int64_t pos) {
  return (int64_t)r->files->items[file].place << POS_BITS | pos;
}

/* One number for a row's place. */
static bl_status place_key(const bl_removals *r, uint32_t file, int64_t pos, int64_t *out, bl_error *err) {
  if (pos >> POS_BITS || r->files->items[file].place >> (63 - POS_BITS))
    return bl_fail(err, BL_UNSUPPORTED, "changes: too many rows without ids to follow");
  *out = key_of(r, file, pos);
  return BL_OK;
}

static bl_status add_place(bl_removals *r, int64_t key, size_t owner, bl_error *err) {
  BL_TRY(bl_grow(r->ctx, &r->places, &r->cap_places, r->n_places, sizeof *r->places, err));
  size_t *i = bl_imap_put(r->at, key, r->n_places, NULL);
  if (!i) return bl_nomem(err);
  *i = r->n_places;
  r->places[r->n_places++] = (by_place){.start = key, .now = key, .owner = owner};
  return BL_OK;
}

bl_status bl_removals_want(bl_removals *r, const bl_event *e, bl_error *err) {
  for (uint32_t i = 0; i < e->len; i++) {
    if (e->before_id != BL_NONE) {
      BL_TRY(bl_grow(r->ctx, &r->ids, &r->cap_ids, r->n_ids, sizeof *r->ids, err));
      r->ids[r->n_ids++] = (by_id){.id = e->before_id + i, .pos = e->before_pos + i, .file = e->before_file};
      continue;
    }
    int64_t key = 0;
    BL_TRY(place_key(r, e->before_file, e->before_pos + i, &key, err));
    if (!bl_imap_put(r->starts, key, r->n_places, NULL)) return bl_nomem(err);
    BL_TRY(add_place(r, key, 0, err));
    r->n_null++;
  }
  return BL_OK;
}

/* The followed row that is now at (file, pos), or NULL. */
static bl_status at_place(bl_removals *r, uint32_t file, int64_t pos, by_place **out, bl_error *err) {
  int64_t key = 0;
  *out = NULL;
  if (r->n_places == 0) return BL_OK;
  BL_TRY(place_key(r, file, pos, &key, err));
  const size_t *i = bl_imap_get(r->at, key);
  if (i && r->places[*i].now == key) *out = &r->places[*i];
  return BL_OK;
}

static bl_status move_to(bl_removals *r, by_place *p, uint32_t file, int64_t pos, bl_error *err) {
  int64_t key = 0;
  BL_TRY(place_key(r, file, pos, &key, err));
  size_t *i = bl_imap_put(r->at, key, (size_t)(p - r->places), NULL);
  if (!i) return bl_nomem(err);
  *i = (size_t)(p - r->places);
  p->now = key;
  return BL_OK;
}

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b) {
  const by_id *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  return (x->pos > y->pos) - (x->pos < y->pos);
}

static size_t lower(const bl_removals *r, int64_t id) {
  size_t lo = 0, hi = r->n_ids;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (r->ids[mid].id < id) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static void mark_ids(bl_removals *r, int64_t first, uint32_t len) {
  for (size_t i = lower(r, first); i < r->n_ids && r->ids[i].id - first < len; i++) r->ids[i].ordinal = r->ordinal + 1;
}

/* Invariant 1: the places of rows with ids, or of those that share one. */
static bl_status follow_places(bl_removals *r, bool all, bl_error *err) {
  for (size_t i = 0; i < r->n_ids; i++) {
    bool shared = (i > 0 && r->ids[i - 1].id == r->ids[i].id) || (i + 1 < r->n_ids && r->ids[i + 1].id == r->ids[i].id);
    int64_t key = 0;
    if (!all && !shared) continue;
    BL_TRY(place_key(r, r->ids[i].file, r->ids[i].pos, &key, err));
    BL_TRY(add_place(r, key, i + 1, err));
  }
  return BL_OK;
}

/* All rows at their first places, for another walk. */
static bl_status start_again(bl_removals *r, bl_error *err) {
  for (size_t i = 0; i < r->n_ids; i++) r->ids[i].ordinal = r->ids[i].own = r->ids[i].away = 0;
  r->n_places = r->n_null;
  for (size_t i = 0; i < r->n_places; i++) {
    by_place *p = &r->places[i];
    *p = (by_place){.now = p->start, .start = p->start};
    size_t *at = bl_imap_put(r->at, p->start, i, NULL);
    if (!at) return bl_nomem(err);
    *at = i;
  }
  return BL_OK;
}

/* ---- a step, compared in full ---- */

static bl_status take_away(bl_removals *r, by_place *p, int64_t id, bl_error *err) {
  p->ordinal = r->ordinal + 1;
  p->now = AWAY;
  p->gone = id;
  if (p->owner) r->ids[p->owner - 1].own = r->ordinal + 1;
  if (id == BL_NONE) return BL_OK;
  size_t *i = bl_imap_put(r->away, id, (size_t)(p - r->places), NULL);
  if (!i) return bl_nomem(err);
  *i = (size_t)(p - r->places);
  return BL_OK;
}

/* Rows of ids that had gone. */
static bl_status come_back(bl_removals *r, const bl_event *e, bl_error *err) {
  if (e->after_id == BL_NONE || bl_imap_count(r->away) == 0) return BL_OK;
  for (uint32_t i = 0; i < e->len; i++) {
    const size_t *k = bl_imap_get(r->away, e->after_id + i);
    by_place *p = k ? &r->places[*k] : NULL;
    if (p && p->now == AWAY && p->gone == e->after_id + i) BL_TRY(move_to(r, p, e->after_file, e->after_pos + i, err));
  }
  return BL_OK;
}

/* An id that goes again without having come back was there twice. */
static void note_ids(bl_removals *r, int64_t first, uint32_t len, bool away) {
  for (size_t i = lower(r, first); i < r->n_ids && r->ids[i].id - first < len; i++) {
    r->twice = r->twice || (away && r->ids[i].away);
    r->ids[i].away = away;
  }
}

static bl_status on_event(void *user, const bl_event *e, bl_error *err) {
  bl_removals *r = user;
  if (e->type == BL_DELETE && e->before_id != BL_NONE) {
    mark_ids(r, e->before_id, e->len);
    note_ids(r, e->before_id, e->len, true);
  }
  if (e->type == BL_INSERT && e->after_id != BL_NONE) note_ids(r, e->after_id, e->len, false);
  if (r->n_places == 0) return BL_OK;
  if (e->type == BL_INSERT) return come_back(r, e, err);
  for (uint32_t i = 0; i < e->len; i++) {
    by_place *p;
    BL_TRY(at_place(r, e->before_file, e->before_pos + i, &p, err));
    if (!p) continue;
    if (e->type == BL_DELETE) {
      BL_TRY(take_away(r, p, e->before_id == BL_NONE ? BL_NONE : e->before_id + i, err));
      continue;
    }
    p->updated = r->ordinal + 1;
    BL_TRY(move_to(r, p, e->after_file, e->after_pos + i, err));
  }
  return BL_OK;
}

/* Invariant 3. */
static bl_status lose_id(bl_removals *r, int64_t id, const bl_run *after, bl_error *err) {
  int64_t key = 0;
  size_t i = lower(r, id);
  if (i == r->n_ids || r->ids[i].id != id) return BL_OK;
  r->ids[i].ordinal = r->ordinal + 1; /* should it stay to the end, without this id */
  BL_TRY(place_key(r, after->file, after->pos, &key, err));
  return add_place(r, key, i + 1, err);
}

static bl_status on_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  bl_removals *r = user;
  for (int64_t i = 0; r->n_places && i < len; i++) {
    by_place *p;
    BL_TRY(at_place(r, before->file, before->pos + i, &p, err));
    if (p) BL_TRY(move_to(r, p, after->file, after->pos + i, err));
  }
  return before->id != BL_NONE && after->id == BL_NONE ? lose_id(r, before->id, after, err) : BL_OK;
}

/* Where places are followed nothing may be passed over: neither moves of rows, nor proven replaces, nor appends. */
static bl_status follow_all(bl_removals *r, bl_stepper *s, const bl_range *range, bl_error *err) {
  bl_step_sink sink = {on_event, on_moved, r, false};
  for (size_t i = 0; i < range->n_steps; i++) {
    const bl_step *st = &range->steps[i];
    bool skipped, places = r->n_places > 0,
                  replace = !st->gap && st->from && bl_str_is(bl_snapshot_operation(st->to), "replace");
    r->ordinal = (uint32_t)i;
    sink.only_by_value = !places;
    s->removals_only = !places;
    BL_TRY(bl_step_run(s, st->from, st->to, replace && !places, &sink, &skipped, err));
    BL_TRY(bl_progress(r->ctx, "following deleted rows", (int64_t)i + 1, (int64_t)range->n_steps, err));
  }
  return BL_OK;
}

/* ---- ids alone, from the end ---- */

/* Ids that no step has been found for yet, as a set. */
static bl_status unresolved(bl_removals *r, bl_idset *out, bl_error *err) {
  int64_t *ids = bl_alloc(r->ctx, r->n_ids + 1, sizeof *ids);
  size_t n = 0;
  if (!ids) return bl_nomem(err);
  for (size_t i = 0; i < r->n_ids; i++)
    if (!r->ids[i].ordinal) ids[n++] = r->ids[i].id;
  bl_status st = bl_idset_init(out, r->ctx, ids, n, err);
  bl_free(r->ctx, ids);
  return st;
}

static bl_status mark_removed(bl_removals *r, bl_sorter *removed, bl_error *err) {
  for (;;) {
    const void *next;
    BL_TRY(bl_sorter_next(removed, &next, err));
    if (!next) return BL_OK;
    const bl_run *run = next;
    mark_ids(r, run->id, run->len);
  }
}

static bl_status read_removed(bl_removals *r, bl_stepper *s, const bl_diff *d, bl_error *err) {
  bl_idset only = {0};
  bl_row_sets sets = {0};
  bl_identity id = {.env = s->reading,
                    .files = s->files,
                    .first_file = s->files->n,
                    .only = &only,
                    .sides = BL_REMOVED_SIDE,
                    .ids_only = true,
                    .part_rows = s->part_rows};
  bl_status st = unresolved(r, &only, err);
  if (st == BL_OK) st = bl_identity_collect(&id, d, &sets, err);
  if (st == BL_OK) st = mark_removed(r, sets.removed, err);
  bl_row_sets_dispose(&sets);
  bl_idset_dispose(&only);
  return st;
}

/* What metadata alone tells of a step. */
typedef struct look {
  size_t at;    /* its number + 1; 0: there is none */
  bool lost;    /* it brings rows without ids, in which rows with ids may go on (invariant 3) */
  int64_t gone; /* so many ids went; BL_NONE: not known */
} look;

static look look_at(const bl_step *st, const bl_diff *d, bool *removes) {
  look l = {.gone = BL_NONE};
  *removes = false;
  for (size_t i = 0; i < d->n; i++) {
    const bl_touched *t = &d->items[i];
    *removes = *removes || t->old_entry;
    l.lost = l.lost || (!t->old_entry && t->new_entry->file.first_row_id == BL_NONE);
  }
  if (*removes && !l.lost && !st->gap) /* of what was before a gap nothing is promised */
    l.gone = d->metadata_proves_replace ? 0 : bl_ids_gone(d->items, d->n);
  return l;
}

/* The last step before step `end` from which ids may have gone. trusting: metadata that says that none did. */
static bl_status step_before(bl_stepper *s, const bl_range *range, size_t end, bool trusting, look *out,
                             bl_error *err) {
  *out = (look){0};
  for (size_t at = end; at > 0; at--) {
    const bl_step *st = &range->steps[at - 1];
    bool removes;
    bl_diff d;
    BL_TRY(bl_differ_run(s->differ, st->from, st->to, &d, err));
    look l = look_at(st, &d, &removes);
    bl_diff_release(s->differ, &d);
    l.at = at;
    if (l.lost || (removes && !(trusting && l.gone == 0))) *out = l;
    if (out->at) return BL_OK;
  }
  return BL_OK;
}

static bl_status read_step(bl_removals *r, bl_stepper *s, const bl_step *st, bl_error *err) {
  bl_diff d;
  BL_TRY(bl_differ_run(s->differ, st->from, st->to, &d, err));
  bl_status status = read_removed(r, s, &d, err);
  bl_diff_release(s->differ, &d);
  return status;
}

static int64_t count_unresolved(const bl_removals *r) {
  int64_t n = 0;
  for (size_t k = 0; k < r->n_ids; k++) n += !r->ids[k].ordinal;
  return n;
}

static void mark_unresolved(bl_removals *r) {
  for (size_t i = 0; i < r->n_ids; i++)
    if (!r->ids[i].ordinal) r->ids[i].ordinal = r->ordinal + 1;
}

/* A row that is not live in a step's newer snapshot and is among the rows that the step took out of their places was
 * removed by it; one that is not among them was not live in the older snapshot either. So only the ids of removed rows
 * are read, from the last step back, and of each id until it is found. What no later step removed, the first one that
 * can have removed anything did: nothing is read there, if as many ids went. */
static bl_status walk_back(bl_removals *r, bl_stepper *s, const bl_range *range, bool trusting, bool *lost,
                           bl_error *err) {
  look l, before;
  BL_TRY(step_before(s, range, range->n_steps, trusting, &l, err));
  for (int64_t left; l.at > 0 && (left = count_unresolved(r)) > 0; l = before) {
    if (l.lost) {
      *lost = true;
      return BL_OK;
    }
    r->ordinal = (uint32_t)l.at - 1;
    BL_TRY(step_before(s, range, l.at - 1, trusting, &before, err));
    if (trusting && before.at == 0 && l.gone >= left) mark_unresolved(r);
    else BL_TRY(read_step(r, s, &range->steps[l.at - 1], err));
  }
  return BL_OK;
}

/* Rows that are left when all steps that removed any were seen: metadata was wrong about another. */
static bl_status follow_back(bl_removals *r, bl_stepper *s, const bl_range *range, bool *lost, bl_error *err) {
  BL_TRY(walk_back(r, s, range, true, lost, err));
  return *lost || count_unresolved(r) == 0 ? BL_OK : walk_back(r, s, range, false, lost, err);
}

/* Where little is to be read, every step is compared in full: that also notices ids that are there twice on the way. */
static bool many_rows(const bl_removals *r, int64_t full_rows) {
  int64_t rows = 0;
  for (size_t i = 0; i < r->files->n && rows <= full_rows; i++) rows += r->files->items[i].entry->file.record_count;
  return rows > full_rows;
}

/* A walk that follows some by id only; again by place where ids turn out to be there twice. */
static bl_status follow_forth(bl_removals *r, bl_stepper *s, const bl_range *range, bl_error *err) {
  bool all = s->saw_duplicate;
  BL_TRY(start_again(r, err));
  BL_TRY(follow_places(r, all, err));
  BL_TRY(follow_all(r, s, range, err));
  if (all || !(s->saw_duplicate || r->twice)) return BL_OK;
  BL_TRY(start_again(r, err));
  BL_TRY(follow_places(r, true, err));
  return follow_all(r, s, range, err);
}

bl_status bl_removals_follow(bl_removals *r, bl_stepper *s, const bl_range *range, int64_t full_rows, bl_error *err) {
  bool lost = false;
  r->last = range->n_steps ? (uint32_t)range->n_steps - 1 : 0;
  bl_sort(r->ids, r->n_ids, sizeof *r->ids, compare_ids);
  if (r->n_ids + r->n_places == 0) return BL_OK;
  if (r->n_places == 0 && !s->saw_duplicate && many_rows(r, full_rows)) {
    BL_TRY(follow_back(r, s, range, &lost, err));
    if (!lost) return BL_OK;
  }
  return follow_forth(r, s, range, err);
}

static const by_id *find_id(const bl_removals *r, int64_t id, uint32_t file, int64_t pos) {
  for (size_t i = lower(r, id); i < r->n_ids && r->ids[i].id == id; i++)
    if (r->ids[i].file == file && r->ids[i].pos == pos) return &r->ids[i];
  return NULL;
}

uint32_t bl_removals_ordinal(const bl_removals *r, const bl_event *e, uint32_t i) {
  if (e->before_id != BL_NONE) {
    const by_id *x = find_id(r, e->before_id + i, e->before_file, e->before_pos + i);
    uint32_t ordinal = !x ? 0 : x->own ? x->own : x->ordinal;
    return ordinal ? ordinal - 1 : r->last;
  }
  const size_t *k = bl_imap_get(r->starts, key_of(r, e->before_file, e->before_pos + i));
  const by_place *p = k ? &r->places[*k] : NULL;
  if (p && p->now == AWAY) return p->ordinal - 1;
  return p && p->updated ? p->updated - 1 : r->last;
}

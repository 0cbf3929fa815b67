/* attribution.c: see attribution.h.
 * Rows with an id are followed by it alone: the last DELETE of that id counts. Rows without one are followed by place
 * from comparison to comparison, each time the place is among the rows that moved or went. */
#include "changes/attribution.h"

#include "base/map.h"

#include <stdlib.h>

enum { POS_BITS = 40, FULL_ROWS = 1000000 };

/* A deleted row with an id. */
typedef struct by_id {
  int64_t id;
  uint32_t ordinal; /* + 1; 0 = not seen */
} by_id;

/* A deleted row without an id, at the place where it is now. */
typedef struct by_place {
  int64_t start, now; /* place keys; now -1 while it is away */
  uint32_t ordinal;   /* + 1 */
  uint32_t updated;   /* + 1: it got an id, then was updated: the ends show DELETE and INSERT */
} by_place;

struct bl_removals {
  bl_ctx *ctx;
  bl_files *files;
  by_id *ids;
  size_t n_ids, cap_ids;
  by_place *places;
  size_t n_places, cap_places;
  bl_imap *at;      /* place key now -> index into places */
  bl_imap *starts;  /* place key at first -> index */
  bl_arena *arena;  /* of the keys of place_of */
  bl_map *place_of; /* (path, data sequence number, file sequence number) -> number */
  uint32_t ordinal; /* of the step at hand */
  uint32_t last;    /* ordinal of the last step */
};

bl_status bl_removals_new(bl_ctx *ctx, bl_files *files, bl_removals **out, bl_error *err) {
  bl_removals *r = bl_calloc(ctx, 1, sizeof *r);
  *out = NULL;
  if (!r) return bl_nomem(err);
  r->ctx = ctx;
  r->files = files;
  bl_status st = bl_imap_new(ctx, &r->at, err);
  if (st == BL_OK) st = bl_imap_new(ctx, &r->starts, err);
  if (st == BL_OK) st = bl_map_new(ctx, &r->place_of, err);
  if (st == BL_OK) st = bl_arena_new(ctx, &r->arena, err);
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
  bl_map_free(r->place_of);
  bl_arena_free(r->arena);
  bl_free(r->ctx, r);
}

/* One number for a row's place, whatever version of its file names it. */
static bl_status place_key(bl_removals *r, uint32_t file, int64_t pos, int64_t *out, bl_error *err) {
  const bl_manifest_entry *e = r->files->items[file].entry;
  bl_str key = bl_arena_printf(r->arena, "%lld %lld %s", (long long)e->sequence_number,
                               (long long)e->file_sequence_number, e->file.path.p);
  if (!key.p) return bl_nomem(err);
  size_t *n = bl_map_put(r->place_of, key, bl_map_count(r->place_of), NULL);
  if (!n) return bl_nomem(err);
  if (pos >> POS_BITS || *n >> (63 - POS_BITS))
    return bl_fail(err, BL_UNSUPPORTED, "changes: too many rows without ids to follow");
  *out = (int64_t)*n << POS_BITS | pos;
  return BL_OK;
}

/* The key of a place that was seen before; false where it was not. */
static bool known_place(const bl_removals *r, uint32_t file, int64_t pos, int64_t *out) {
  const bl_manifest_entry *e = r->files->items[file].entry;
  bl_buf b;
  bl_buf_init(&b, r->ctx, 1 << 20);
  bl_buf_printf(&b, "%lld %lld %s", (long long)e->sequence_number, (long long)e->file_sequence_number, e->file.path.p);
  const size_t *n = b.failed ? NULL : bl_map_get(r->place_of, (bl_str){(const char *)b.p, b.n});
  if (n) *out = (int64_t)*n << POS_BITS | pos;
  bl_buf_free(&b);
  return n != NULL;
}

bl_status bl_removals_want(bl_removals *r, const bl_event *e, bl_error *err) {
  for (uint32_t i = 0; i < e->len; i++) {
    if (e->before_id != BL_NONE) {
      BL_TRY(bl_grow(r->ctx, &r->ids, &r->cap_ids, r->n_ids, sizeof *r->ids, err));
      r->ids[r->n_ids++] = (by_id){.id = e->before_id + i};
      continue;
    }
    int64_t key = 0;
    BL_TRY(place_key(r, e->before_file, e->before_pos + i, &key, err));
    BL_TRY(bl_grow(r->ctx, &r->places, &r->cap_places, r->n_places, sizeof *r->places, err));
    if (!bl_imap_put(r->at, key, r->n_places, NULL) || !bl_imap_put(r->starts, key, r->n_places, NULL))
      return bl_nomem(err);
    r->places[r->n_places++] = (by_place){.start = key, .now = key};
  }
  return BL_OK;
}

static int compare_ids(const void *a, const void *b) {
  const by_id *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
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

/* The followed row without id that is now at (file, pos), or NULL. */
static bl_status at_place(bl_removals *r, uint32_t file, int64_t pos, by_place **out, bl_error *err) {
  int64_t key = 0;
  *out = NULL;
  if (r->n_places == 0) return BL_OK;
  BL_TRY(place_key(r, file, pos, &key, err));
  const size_t *i = bl_imap_get(r->at, key);
  if (i && *i != SIZE_MAX && r->places[*i].now == key) *out = &r->places[*i];
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

static bl_status on_event(void *user, const bl_event *e, bl_error *err) {
  bl_removals *r = user;
  if (e->type == BL_DELETE && e->before_id != BL_NONE)
    for (size_t i = lower(r, e->before_id); i < r->n_ids && r->ids[i].id < e->before_id + e->len; i++)
      r->ids[i].ordinal = r->ordinal + 1;
  if (e->type == BL_INSERT || r->n_places == 0) return BL_OK;
  for (uint32_t i = 0; i < e->len; i++) {
    by_place *p;
    BL_TRY(at_place(r, e->before_file, e->before_pos + i, &p, err));
    if (!p) continue;
    if (e->type == BL_UPDATE) {
      p->updated = r->ordinal + 1;
      BL_TRY(move_to(r, p, e->after_file, e->after_pos + i, err));
    } else {
      p->ordinal = r->ordinal + 1;
      p->now = -1;
    }
  }
  return BL_OK;
}

static bl_status on_moved(void *user, const bl_run *before, const bl_run *after, int64_t len, bl_error *err) {
  bl_removals *r = user;
  for (int64_t i = 0; r->n_places && i < len; i++) {
    by_place *p;
    BL_TRY(at_place(r, before->file, before->pos + i, &p, err));
    if (p) BL_TRY(move_to(r, p, after->file, after->pos + i, err));
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
    for (size_t i = lower(r, run->id); i < r->n_ids && r->ids[i].id < run->id + run->len; i++)
      r->ids[i].ordinal = r->ordinal + 1;
  }
}

/* A row that is not live in a step's newer snapshot and is among the rows that the step took out of their places was
 * removed by it; one that is not among them was not live in the older snapshot either. So only the ids of removed rows
 * are read, from the last step back, and of each id until it is found. */
static bl_status step_back(bl_removals *r, bl_stepper *s, const bl_step *st, bl_error *err) {
  bl_diff d;
  bl_idset only = {0};
  bl_row_sets sets = {0};
  bool removes = false;
  BL_TRY(bl_differ_run(s->differ, st->from, st->to, &d, err));
  for (size_t i = 0; !removes && i < d.n; i++) removes = d.items[i].old_entry != NULL;
  bl_status status = BL_OK;
  if (removes && !d.metadata_proves_replace) {
    status = unresolved(r, &only, err);
    bl_identity id = {.env = s->reading, .files = s->files, .only = &only, .sides = BL_REMOVED_SIDE, .ids_only = true};
    if (status == BL_OK) status = bl_identity_collect(&id, &d, &sets, err);
    if (status == BL_OK) status = mark_removed(r, sets.removed, err);
  }
  bl_row_sets_dispose(&sets);
  bl_idset_dispose(&only);
  bl_diff_release(s->differ, &d);
  return status;
}

static bl_status follow_back(bl_removals *r, bl_stepper *s, const bl_range *range, bl_error *err) {
  for (size_t i = range->n_steps; i-- > 0;) {
    bool left = false;
    for (size_t k = 0; !left && k < r->n_ids; k++) left = !r->ids[k].ordinal;
    if (!left) return BL_OK;
    r->ordinal = (uint32_t)i;
    BL_TRY(step_back(r, s, &range->steps[i], err));
  }
  return BL_OK;
}

/* Where little is to be read, every step is compared in full: that also notices ids that are there twice on the way. */
static bool many_rows(const bl_removals *r) {
  int64_t rows = 0;
  for (size_t i = 0; i < r->files->n; i++) rows += r->files->items[i].entry->file.record_count;
  return rows > FULL_ROWS;
}

bl_status bl_removals_follow(bl_removals *r, bl_stepper *s, const bl_range *range, bl_error *err) {
  bl_step_sink sink = {on_event, r->n_places ? on_moved : NULL, r};
  qsort(r->ids, r->n_ids, sizeof *r->ids, compare_ids);
  r->last = range->n_steps ? (uint32_t)range->n_steps - 1 : 0;
  if (r->n_ids + r->n_places == 0) return BL_OK;
  if (r->n_places == 0 && !s->warned_duplicate && many_rows(r)) return follow_back(r, s, range, err);
  s->removals_only = true;
  for (size_t i = 0; i < range->n_steps; i++) {
    const bl_step *st = &range->steps[i];
    bool skipped, gap = st->gap || !st->from;
    bl_str op = bl_snapshot_operation(st->to);
    r->ordinal = (uint32_t)i;
    BL_TRY(bl_step_run(s, st->from, st->to, !gap && bl_str_is(op, "replace"), &sink, &skipped, err));
  }
  return BL_OK;
}

uint32_t bl_removals_ordinal(const bl_removals *r, const bl_event *e, uint32_t i) {
  if (e->before_id != BL_NONE) {
    size_t at = lower(r, e->before_id + i);
    if (at < r->n_ids && r->ids[at].id == e->before_id + i && r->ids[at].ordinal) return r->ids[at].ordinal - 1;
    return r->last;
  }
  int64_t key;
  if (!known_place(r, e->before_file, e->before_pos + i, &key)) return r->last;
  const size_t *k = bl_imap_get(r->starts, key);
  if (!k) return r->last;
  const by_place *p = &r->places[*k];
  if (p->now == -1 && p->ordinal) return p->ordinal - 1;
  return p->updated ? p->updated - 1 : r->last;
}

/* order.c: see order.h. Events of a log come in their order, those of a net by id: where they are all in memory they
 * are dealt out to their ordinals, and are in order. Whatever comes otherwise is sorted. */
#include "changes/order.h"

#include "model/manifest.h"

struct bl_event_order {
  bl_ctx *ctx;
  bl_order_options o;
  bl_spool *in;
  bl_event *dealt; /* by ordinal, then as they came; NULL: sorted */
  size_t n, next;
  bl_sorter *sorted;
};

/* ---- comparison ---- */

static uint32_t file_of(const bl_event *e) {
  return e->after_file != BL_NO_FILE ? e->after_file : e->before_file;
}
static int64_t pos_of(const bl_event *e) {
  return e->after_file != BL_NO_FILE ? e->after_pos : e->before_pos;
}

static int by_id(const bl_event *x, const bl_event *y) {
  int64_t i = bl_event_id(x), j = bl_event_id(y);
  if (i == j) return 0;
  if (i == BL_NONE || j == BL_NONE) return i == BL_NONE ? 1 : -1;
  return i < j ? -1 : 1;
}

static int by_place(const bl_event *x, const bl_event *y, const uint32_t *rank) {
  uint32_t f = rank[file_of(x)], g = rank[file_of(y)];
  if (f != g) return f < g ? -1 : 1;
  return (pos_of(x) > pos_of(y)) - (pos_of(x) < pos_of(y));
}

static int turn_of(const bl_event *e) {
  return e->type == BL_DELETE ? 0 : e->type == BL_UPDATE ? 1 : 2;
}

static int output_order(const void *a, const void *b, void *user) {
  const bl_event *x = a, *y = b;
  if (x->ordinal != y->ordinal) return x->ordinal < y->ordinal ? -1 : 1;
  int c = by_id(x, y);
  if (c == 0) c = by_place(x, y, user);
  if (c) return c;
  if (x->type != y->type) return turn_of(x) - turn_of(y); /* a path that was added again */
  return (file_of(x) > file_of(y)) - (file_of(x) < file_of(y));
}

/* Rows without id: by place. */
static int history_order(const void *a, const void *b, void *user) {
  int c = by_id(a, b);
  if (c == 0 && bl_event_id(a) == BL_NONE) c = by_place(a, b, user);
  return c ? c : output_order(a, b, user);
}

static int place_order(const void *a, const void *b, void *user) {
  int c = by_place(a, b, user);
  return c ? c : output_order(a, b, user);
}

static bool in_order(const bl_event_order *o, const bl_event *x, const bl_event *y) {
  return output_order(x, y, (void *)(uintptr_t)o->o.rank) <= 0;
}

/* ---- in memory ---- */

static size_t bucket_of(const bl_event_order *o, const bl_event *e) {
  return e->ordinal < o->o.n_ordinals ? e->ordinal : o->o.n_ordinals;
}

/* Where the events of each ordinal begin. */
static bl_status count_ordinals(const bl_event_order *o, size_t *begins, bl_error *err) {
  const void *some;
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_view(o->in, at, &some, &n, err));
    if (n == 0) break;
    for (const bl_event *e = some; e < (const bl_event *)some + n; e++) begins[bucket_of(o, e) + 1]++;
  }
  for (size_t i = 0; i <= o->o.n_ordinals; i++) begins[i + 1] += begins[i];
  return BL_OK;
}

/* *ascending: none came before one that is behind it in the order. */
static bl_status deal(bl_event_order *o, const size_t *begins, size_t *ends, bool *ascending, bl_error *err) {
  const void *some;
  size_t n;
  *ascending = true;
  for (int64_t at = 0; *ascending; at += (int64_t)n) {
    BL_TRY(bl_spool_view(o->in, at, &some, &n, err));
    if (n == 0) break;
    for (const bl_event *e = some; e < (const bl_event *)some + n; e++) {
      size_t bucket = bucket_of(o, e), to = ends[bucket]++;
      if (to > begins[bucket] && !in_order(o, &o->dealt[to - 1], e)) *ascending = false;
      o->dealt[to] = *e;
    }
  }
  return BL_OK;
}

static bl_status deal_out(bl_event_order *o, size_t *begins, size_t *ends, bool *ascending, bl_error *err) {
  o->n = (size_t)bl_spool_count(o->in);
  o->dealt = bl_alloc(o->ctx, o->n + 1, sizeof *o->dealt);
  if (!o->dealt) return bl_nomem(err);
  BL_TRY(count_ordinals(o, begins, err));
  memcpy(ends, begins, (o->o.n_ordinals + 1) * sizeof *ends);
  return deal(o, begins, ends, ascending, err);
}

/* *found: the events are in order without sorting. */
static bl_status find_order(bl_event_order *o, bool *found, bl_error *err) {
  *found = false;
  if (o->o.kind != BL_ORDER_OUTPUT || !bl_spool_in_memory(o->in)) return BL_OK;
  size_t *begins = bl_calloc(o->ctx, o->o.n_ordinals + 2, sizeof *begins);
  size_t *ends = bl_calloc(o->ctx, o->o.n_ordinals + 1, sizeof *ends);
  bl_status st = begins && ends ? deal_out(o, begins, ends, found, err) : bl_nomem(err);
  bl_free(o->ctx, begins);
  bl_free(o->ctx, ends);
  if (*found) return st;
  bl_free(o->ctx, o->dealt);
  o->dealt = NULL;
  return st;
}

/* ---- sorted ---- */

/* A run as single rows: the versions of one row must come together. */
static bl_status add_rows(bl_event_order *o, const bl_event *run, bl_error *err) {
  for (uint32_t i = 0; i < run->len; i++) {
    bl_event e = bl_event_row(run, i);
    BL_TRY(bl_sorter_add(o->sorted, &e, err));
  }
  return BL_OK;
}

static bl_status sort_events(bl_event_order *o, bl_error *err) {
  const void *some;
  size_t n;
  static const bl_record_cmp orders[] = {output_order, history_order, place_order};
  BL_TRY(bl_sorter_new(o->ctx, sizeof(bl_event), o->ctx->o.memory_budget / 6, orders[o->o.kind],
                       (void *)(uintptr_t)o->o.rank, &o->sorted, err));
  BL_TRY(bl_sorter_reserve(o->sorted, bl_spool_count(o->in), err));
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_view(o->in, at, &some, &n, err));
    if (n == 0) break;
    for (const bl_event *e = some; e < (const bl_event *)some + n; e++)
      BL_TRY(o->o.kind == BL_ORDER_BY_ROW ? add_rows(o, e, err) : bl_sorter_add(o->sorted, e, err));
  }
  return bl_sorter_finish(o->sorted, err);
}

bl_status bl_event_order_new(bl_ctx *ctx, bl_spool **events, const bl_order_options *options, bl_event_order **out,
                             bl_error *err) {
  bool found;
  bl_event_order *o = bl_calloc(ctx, 1, sizeof *o);
  bl_status st;
  if (!o) {
    bl_spool_free(*events);
    *events = NULL;
    return bl_nomem(err);
  }
  *o = (bl_event_order){.ctx = ctx, .o = *options, .in = *events};
  *events = NULL;
  BL_GO(find_order(o, &found, err));
  if (!found) BL_GO(sort_events(o, err));
  bl_spool_free(o->in);
  o->in = NULL;
  *out = o;
done:
  if (st != BL_OK) bl_event_order_free(o);
  return st;
}

void bl_event_order_free(bl_event_order *o) {
  if (!o) return;
  bl_spool_free(o->in);
  bl_free(o->ctx, o->dealt);
  bl_sorter_free(o->sorted);
  bl_free(o->ctx, o);
}

bl_status bl_event_order_next(bl_event_order *o, const bl_event **event, bl_error *err) {
  const void *record = NULL;
  if (!o->dealt) BL_TRY(bl_sorter_next(o->sorted, &record, err));
  else if (o->next < o->n) record = &o->dealt[o->next++];
  *event = record;
  return BL_OK;
}

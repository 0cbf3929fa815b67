/* row_sorter.c: see row_sorter.h. */
#include "write/row_sorter.h"

#include <assert.h>

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_view.h"
#include "write/batch_file.h"

enum { OUT_ROWS = 65536, SPILL_BYTES = 1 << 20 /* of a batch in a file */, MOST = 16 };

/* A sorted batch with the keys of its rows. */
typedef struct sorted {
  bl_shared *rows;
  int64_t n;
  uint8_t *keys;
  uint32_t *ends;
} sorted;

typedef struct run {
  sorted now;          /* the batch in hand; rows NULL: none, as at the end */
  int64_t next;        /* row of it; after its last one: the end, of a run in memory that is kept */
  bl_batch_file *file; /* NULL: `now` is all */
  int level;
} run;

/* Consecutive rows of one sorted batch in the output batch in hand. */
typedef struct slice {
  bl_shared *rows;
  size_t run;
  int64_t begin, n;
} slice;

typedef struct merge {
  bl_row_sorter *s; /* NULL: there is none */
  run *runs;
  size_t *heap, n_heap; /* indexes into runs */
  slice *slices;
  size_t n_slices, cap_slices;
  size_t *open;    /* by run: its slice in the output batch, SIZE_MAX: none */
  uint32_t *picks; /* by output row: the slice */
  int64_t n_picks;
} merge;

struct bl_row_sorter {
  bl_ctx *ctx;
  const struct ArrowSchema *schema;
  bl_view *view; /* for the size of batches */
  bl_row_keys keys;
  void *user;
  int64_t budget, held;
  int64_t spill_rows; /* of a batch in a file */
  run *runs;
  size_t n, cap;
  merge last; /* that the output comes from */
  bool keep;  /* its runs (4) */
};

/* ---- sorted batches ---- */

static void sorted_free(bl_ctx *ctx, sorted *b) {
  bl_shared_unref(b->rows);
  bl_free(ctx, b->keys);
  bl_free(ctx, b->ends);
  *b = (sorted){0};
}

static bl_str key_of(const sorted *b, int64_t i) {
  uint32_t from = i ? b->ends[i - 1] : 0;
  return (bl_str){(const char *)b->keys + from, b->ends[i] - from};
}

/* Keys of a batch whose rows stay as they are. */
static bl_status take_keys(bl_row_sorter *s, const struct ArrowArray *batch, sorted *out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, s->ctx, UINT32_MAX);
  out->ends = bl_alloc(s->ctx, (size_t)batch->length, sizeof *out->ends);
  bl_status st = out->ends ? s->keys(s->user, batch, &b, out->ends, err) : bl_nomem(err);
  if (st == BL_OK) st = bl_buf_ok(&b, err);
  out->n = batch->length;
  out->keys = b.p; /* a block of the ctx */
  return st;
}

typedef struct item {
  uint64_t prefix; /* first 8 bytes of the key, as a number */
  uint32_t row;
} item;

static int compare(const sorted *b, const item *x, const item *y) {
  if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
  return bl_str_cmp(key_of(b, x->row), key_of(b, y->row));
}

static uint64_t prefix_of(bl_str key) {
  uint64_t v = 0;
  for (size_t i = 0; i < 8; i++) v = v << 8 | (i < key.n ? (uint8_t)key.p[i] : 0);
  return v;
}

/* Stable. */
static void merge_sort(const sorted *b, item *a, item *scratch, int64_t n) {
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t from = 0; from < n; from += 2 * width) {
      int64_t mid = from + width < n ? from + width : n, end = mid + width < n ? mid + width : n;
      int64_t i = from, j = mid, k = from;
      if (mid == end || compare(b, &a[mid - 1], &a[mid]) <= 0) {
        memcpy(scratch + from, a + from, (size_t)(end - from) * sizeof *a);
        continue;
      }
      while (i < mid && j < end) scratch[k++] = compare(b, &a[i], &a[j]) <= 0 ? a[i++] : a[j++];
      while (i < mid) scratch[k++] = a[i++];
      while (j < end) scratch[k++] = a[j++];
    }
    memcpy(a, scratch, (size_t)n * sizeof *a);
  }
}

static bool in_order(const item *a, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (a[i].row != i) return false;
  return true;
}

/* The batch's rows and keys in the order of items. */
static bl_status reorder(bl_row_sorter *s, struct ArrowArray *batch, const item *items, sorted *b, bl_error *err) {
  int64_t *rows = bl_alloc(s->ctx, (size_t)b->n, sizeof *rows);
  uint8_t *keys = bl_alloc(s->ctx, b->n ? b->ends[b->n - 1] : 0, 1);
  uint32_t *ends = bl_alloc(s->ctx, (size_t)b->n, sizeof *ends), at = 0;
  bl_status st = BL_OK;
  if (!rows || !keys || !ends) BL_GO(bl_nomem(err));
  for (int64_t i = 0; i < b->n; i++) {
    bl_str k = key_of(b, items[i].row);
    rows[i] = items[i].row;
    memcpy(keys + at, k.p, k.n);
    ends[i] = at += (uint32_t)k.n;
  }
  struct ArrowArray taken;
  BL_GO(bl_arrow_take(batch, s->schema, rows, b->n, &taken, err));
  bl_array_move(&taken, batch);
  uint8_t *t = b->keys;
  uint32_t *e = b->ends;
  b->keys = keys, keys = t;
  b->ends = ends, ends = e;
done:
  bl_free(s->ctx, rows);
  bl_free(s->ctx, keys);
  bl_free(s->ctx, ends);
  return st;
}

/* batch is consumed. */
static bl_status sort_batch(bl_row_sorter *s, struct ArrowArray *batch, sorted *out, bl_error *err) {
  item *items = NULL, *scratch = NULL;
  bl_status st;
  *out = (sorted){0};
  BL_GO(take_keys(s, batch, out, err));
  items = bl_alloc(s->ctx, (size_t)out->n, sizeof *items);
  scratch = bl_alloc(s->ctx, (size_t)out->n, sizeof *scratch);
  if (!items || !scratch) BL_GO(bl_nomem(err));
  for (int64_t i = 0; i < out->n; i++) items[i] = (item){prefix_of(key_of(out, i)), (uint32_t)i};
  merge_sort(out, items, scratch, out->n);
  if (!in_order(items, out->n)) BL_GO(reorder(s, batch, items, out, err));
  st = bl_shared_new(s->ctx, batch, &out->rows, err);
done:
  bl_free(s->ctx, items);
  bl_free(s->ctx, scratch);
  bl_array_release(batch);
  if (st != BL_OK) sorted_free(s->ctx, out);
  return st;
}

/* ---- runs ---- */

static void run_free(bl_ctx *ctx, run *r) {
  sorted_free(ctx, &r->now);
  bl_batch_file_free(r->file);
  *r = (run){0};
}

static bool has_row(const run *r) {
  return r->next < r->now.n;
}

/* The batch in hand is used up: the next one of the run, or none. */
static bl_status advance(bl_row_sorter *s, run *r, bl_error *err) {
  if (s->keep && !r->file) return BL_OK;
  sorted_free(s->ctx, &r->now);
  r->next = 0;
  if (!r->file) return BL_OK;
  struct ArrowArray batch;
  do {
    BL_TRY(bl_batch_file_next(r->file, &batch, err));
    if (!batch.release) return BL_OK;
    if (batch.length == 0) bl_array_release(&batch);
  } while (!batch.release);
  bl_status st = take_keys(s, &batch, &r->now, err);
  if (st == BL_OK) st = bl_shared_new(s->ctx, &batch, &r->now.rows, err);
  bl_array_release(&batch);
  if (st != BL_OK) sorted_free(s->ctx, &r->now);
  return st;
}

/* ---- merging some runs ---- */

static bool before(const merge *m, size_t a, size_t b) {
  const run *x = &m->runs[a], *y = &m->runs[b];
  int c = bl_str_cmp(key_of(&x->now, x->next), key_of(&y->now, y->next));
  return c ? c < 0 : a < b;
}

static void sift_down(merge *m, size_t i) {
  for (;;) {
    size_t least = i, l = 2 * i + 1, r = l + 1;
    if (l < m->n_heap && before(m, m->heap[l], m->heap[least])) least = l;
    if (r < m->n_heap && before(m, m->heap[r], m->heap[least])) least = r;
    if (least == i) return;
    size_t t = m->heap[i];
    m->heap[i] = m->heap[least];
    m->heap[least] = t;
    i = least;
  }
}

static void merge_free(merge *m) {
  if (!m->s) return;
  bl_ctx *ctx = m->s->ctx;
  for (size_t i = 0; i < m->n_slices; i++) bl_shared_unref(m->slices[i].rows);
  bl_free(ctx, m->heap);
  bl_free(ctx, m->open);
  bl_free(ctx, m->picks);
  bl_free(ctx, m->slices);
  *m = (merge){0};
}

/* runs [0, n) stay the caller's. */
static bl_status merge_new(bl_row_sorter *s, run *runs, size_t n, merge *out, bl_error *err) {
  *out = (merge){.s = s, .runs = runs};
  out->heap = bl_alloc(s->ctx, n, sizeof *out->heap);
  out->open = bl_alloc(s->ctx, n, sizeof *out->open);
  out->picks = bl_alloc(s->ctx, OUT_ROWS, sizeof *out->picks);
  bl_status st = BL_OK;
  if (!out->heap || !out->open || !out->picks) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < n; i++) {
    out->open[i] = SIZE_MAX;
    if (!runs[i].now.rows) BL_GO(advance(s, &runs[i], err));
    if (has_row(&runs[i])) out->heap[out->n_heap++] = i;
  }
  for (size_t i = out->n_heap; i-- > 0;) sift_down(out, i);
done:
  if (st != BL_OK) merge_free(out);
  return st;
}

/* The first row in line goes to the output batch. */
static bl_status pick(merge *m, bl_error *err) {
  bl_row_sorter *s = m->s;
  size_t k = m->heap[0];
  run *r = &m->runs[k];
  if (m->open[k] == SIZE_MAX) {
    BL_TRY(bl_grow(s->ctx, &m->slices, &m->cap_slices, m->n_slices, sizeof *m->slices, err));
    m->slices[m->n_slices] = (slice){.rows = bl_shared_ref(r->now.rows), .run = k, .begin = r->next};
    m->open[k] = m->n_slices++;
  }
  m->slices[m->open[k]].n++;
  m->picks[m->n_picks++] = (uint32_t)m->open[k];
  if (++r->next == r->now.n) {
    m->open[k] = SIZE_MAX;
    BL_TRY(advance(s, r, err));
    if (!has_row(r)) m->heap[0] = m->heap[--m->n_heap];
  }
  sift_down(m, 0);
  return BL_OK;
}

/* The picked rows in their order. */
static bl_status gather(merge *m, struct ArrowArray *out, bl_error *err) {
  bl_ctx *ctx = m->s->ctx;
  struct ArrowArray *parts = bl_calloc(ctx, m->n_slices, sizeof *parts), all = {0};
  int64_t *at = bl_alloc(ctx, m->n_slices, sizeof *at), *rows = bl_alloc(ctx, (size_t)m->n_picks, sizeof *rows);
  int64_t sum = 0;
  bl_status st = BL_OK;
  if (!parts || !at || !rows) BL_GO(bl_nomem(err));
  for (size_t i = 0; i < m->n_slices; i++) {
    slice *s = &m->slices[i];
    at[i] = sum;
    sum += s->n;
    BL_GO(bl_shared_part(s->rows, s->begin, s->n, NULL, &parts[i], err));
  }
  bool permuted = false;
  for (int64_t i = 0; i < m->n_picks; i++) {
    rows[i] = at[m->picks[i]]++;
    permuted |= rows[i] != i;
  }
  BL_GO(bl_arrow_concat(parts, m->n_slices, m->s->schema, permuted ? &all : out, err));
  if (permuted) BL_GO(bl_arrow_take(&all, m->s->schema, rows, m->n_picks, out, err));
done:
  for (size_t i = 0; parts && i < m->n_slices; i++) bl_array_release(&parts[i]);
  for (size_t i = 0; i < m->n_slices; i++) {
    bl_shared_unref(m->slices[i].rows);
    m->open[m->slices[i].run] = SIZE_MAX;
  }
  m->n_slices = 0;
  m->n_picks = 0;
  bl_array_release(&all);
  bl_free(ctx, parts);
  bl_free(ctx, at);
  bl_free(ctx, rows);
  return st;
}

static uint32_t group_of(bl_str key) {
  const uint8_t *p = (const uint8_t *)key.p;
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t first_group(const merge *m) {
  const run *r = &m->runs[m->heap[0]];
  return group_of(key_of(&r->now, r->next));
}

/* At most `most` rows; whole: of one group. out->release NULL at the end. */
static bl_status merge_next(merge *m, int64_t most, bool whole, struct ArrowArray *out, uint32_t *group,
                            bl_error *err) {
  out->release = NULL;
  if (m->n_heap == 0) return BL_OK;
  *group = first_group(m);
  while (m->n_heap > 0 && m->n_picks < most && (!whole || first_group(m) == *group)) BL_TRY(pick(m, err));
  return gather(m, out, err);
}

/* ---- spilling ---- */

static bl_status write_run(merge *m, bl_batch_file *f, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    uint32_t group;
    BL_TRY(merge_next(m, m->s->spill_rows, false, &batch, &group, err));
    if (!batch.release) return bl_batch_file_end(f, err);
    BL_TRY(bl_batch_file_add(f, &batch, err));
  }
}

/* Runs [from, n) become one in a file. */
static bl_status spill_runs(bl_row_sorter *s, size_t from, int level, bl_error *err) {
  run merged = {.level = level};
  merge m = {0};
  bl_status st;
  BL_GO(bl_batch_file_new(s->ctx, s->schema, &merged.file, err));
  BL_GO(merge_new(s, s->runs + from, s->n - from, &m, err));
  BL_GO(write_run(&m, merged.file, err));
  for (size_t i = from; i < s->n; i++) run_free(s->ctx, &s->runs[i]);
  s->n = from;
  s->runs[s->n++] = merged;
done:
  merge_free(&m);
  if (st != BL_OK) run_free(s->ctx, &merged);
  return st;
}

/* A level that is full is merged into the next (3). */
static bl_status merge_levels(bl_row_sorter *s, bl_error *err) {
  for (;;) {
    size_t from = s->n;
    int level = s->runs[s->n - 1].level;
    while (from > 0 && s->runs[from - 1].level == level) from--;
    if (s->n - from < MOST) return BL_OK;
    BL_TRY(spill_runs(s, from, level + 1, err));
  }
}

static bl_status spill_memory(bl_row_sorter *s, bl_error *err) {
  size_t from = s->n;
  int64_t rows = 0;
  for (; from > 0 && !s->runs[from - 1].file; from--) rows += s->runs[from - 1].now.n;
  s->spill_rows = rows * SPILL_BYTES / (s->held + 1) + 1;
  if (s->spill_rows > OUT_ROWS) s->spill_rows = OUT_ROWS;
  s->held = 0;
  BL_TRY(spill_runs(s, from, 0, err));
  return merge_levels(s, err);
}

/* ---- the whole ---- */

bl_status bl_row_sorter_new(bl_ctx *ctx, const struct ArrowSchema *schema, int64_t budget, bl_row_keys keys, void *user,
                            bl_row_sorter **out, bl_error *err) {
  *out = NULL;
  bl_row_sorter *s = bl_calloc(ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  *s = (bl_row_sorter){
      .ctx = ctx, .schema = schema, .keys = keys, .user = user, .budget = budget, .spill_rows = OUT_ROWS};
  bl_status st = bl_view_new(ctx, schema, &s->view, err);
  if (st == BL_OK) *out = s;
  else bl_row_sorter_free(s);
  return st;
}

void bl_row_sorter_free(bl_row_sorter *s) {
  if (!s) return;
  merge_free(&s->last);
  for (size_t i = 0; i < s->n; i++) run_free(s->ctx, &s->runs[i]);
  bl_free(s->ctx, s->runs);
  bl_view_free(s->view);
  bl_free(s->ctx, s);
}

bl_status bl_row_sorter_add(bl_row_sorter *s, struct ArrowArray *batch, bl_error *err) {
  run r = {0};
  bl_status st = BL_OK;
  if (batch->length == 0) goto done;
  BL_GO(bl_view_set(s->view, batch, err));
  int64_t bytes = bl_view_volume(s->view, 0, batch->length);
  BL_GO(bl_grow(s->ctx, &s->runs, &s->cap, s->n, sizeof *s->runs, err));
  BL_GO(sort_batch(s, batch, &r.now, err));
  s->runs[s->n++] = r;
  s->held += bytes + r.now.ends[r.now.n - 1] + r.now.n * 4;
  if (s->held > s->budget) st = spill_memory(s, err);
done:
  bl_array_release(batch);
  return st;
}

bl_status bl_row_sorter_finish(bl_row_sorter *s, bool keep, bl_error *err) {
  s->keep = keep;
  return merge_new(s, s->runs, s->n, &s->last, err);
}

bl_status bl_row_sorter_rewind(bl_row_sorter *s, bl_error *err) {
  assert(s->keep);
  merge_free(&s->last);
  for (size_t i = 0; i < s->n; i++) {
    run *r = &s->runs[i];
    r->next = 0;
    if (!r->file) continue;
    sorted_free(s->ctx, &r->now);
    BL_TRY(bl_batch_file_rewind(r->file, err));
  }
  return merge_new(s, s->runs, s->n, &s->last, err);
}

bl_status bl_row_sorter_next(bl_row_sorter *s, struct ArrowArray *out, uint32_t *group, bl_error *err) {
  return merge_next(&s->last, OUT_ROWS, true, out, group, err);
}

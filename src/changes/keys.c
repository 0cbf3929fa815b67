/* keys.c: see keys.h. Deletes and inserts are taken apart into single rows, their keys hashed, and rows with a null in
 * the key left alone. */
#include "changes/keys.h"

#include "changes/fetch.h"
#include "rows/arrow_view.h"

#include <stdlib.h>

typedef struct keyed {
  bl_hashed_row *rows; /* ordinal: of the event */
  size_t n, cap;
} keyed;

typedef struct pairing {
  bl_ctx *ctx;
  const bl_files *files;
  bl_spool *out;
  int64_t *pairs;
  keyed side[2]; /* deleted, inserted */
} pairing;

static bl_status take_apart(pairing *p, int k, const bl_event *e, bl_error *err) {
  keyed *s = &p->side[k];
  int64_t id = k ? e->after_id : e->before_id, seq = k ? e->after_seq : e->before_seq,
          pos = k ? e->after_pos : e->before_pos;
  uint32_t file = k ? e->after_file : e->before_file;
  for (uint32_t i = 0; i < e->len; i++) {
    BL_TRY(bl_grow(p->ctx, &s->rows, &s->cap, s->n, sizeof *s->rows, err));
    s->rows[s->n++] = (bl_hashed_row){
        .id = id == BL_NONE ? BL_NONE : id + i, .seq = seq, .pos = pos + i, .file = file, .ordinal = e->ordinal};
  }
  return BL_OK;
}

static bl_status sort_out(pairing *p, bl_spool *in, bl_error *err) {
  bl_event events[128];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(in, at, events, BL_LEN(events), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++)
      BL_TRY(events[i].type == BL_UPDATE ? bl_spool_add(p->out, &events[i], err)
                                         : take_apart(p, events[i].type == BL_INSERT, &events[i], err));
  }
}

/* ---- hashing; rows whose key has a null get no partner ---- */

static int by_place(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  if (x->file != y->file) return x->file < y->file ? -1 : 1;
  if (x->pos != y->pos) return x->pos < y->pos ? -1 : 1;
  return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

typedef struct key_hashing {
  bl_ctx *ctx;
  const struct ArrowSchema *schema;
  const size_t *first_row; /* of each place: its first row */
  bl_hashed_row *rows;
  uint8_t *null_key;
  uint64_t seed;
} key_hashing;

/* A null at any level of a key column counts as null. */
static bool any_null(const bl_view *v, int64_t i) {
  if (bl_view_null(v, i)) return true;
  for (size_t c = 0; v->kind == BL_D_STRUCT && c < v->n_children; c++)
    if (any_null(&v->children[c], i)) return true;
  return false;
}

static bl_status hash_keys(void *user, struct ArrowArray *batch, size_t first, bl_error *err) {
  key_hashing *h = user;
  bl_view *view = NULL;
  bl_buf b;
  bl_buf_init(&b, h->ctx, BL_BUF_MAX);
  bl_status st = bl_view_new(h->ctx, h->schema, &view, err);
  if (st == BL_OK) st = bl_view_set(view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    bool null = false;
    bl_buf_clear(&b);
    for (size_t c = 0; c < view->n_children; c++) {
      null = null || any_null(&view->children[c], i);
      bl_key_add(&b, &view->children[c], i);
    }
    st = bl_buf_ok(&b, err);
    size_t place = first + (size_t)i;
    for (size_t r = h->first_row[place]; st == BL_OK && r < h->first_row[place + 1]; r++) {
      h->rows[r].hash = bl_key_hash(b.p, b.n, h->seed);
      h->null_key[r] = null;
    }
  }
  bl_view_free(view);
  bl_buf_free(&b);
  bl_array_release(batch);
  return st;
}

static bl_status hash_side(pairing *p, const bl_reading *env, const bl_type *wanted, keyed *s, uint8_t *null_key,
                           uint64_t seed, bl_error *err) {
  struct ArrowSchema schema = {0};
  size_t n_places = 0;
  bl_place *places = bl_alloc(p->ctx, s->n + 1, sizeof *places);
  size_t *first_row = bl_alloc(p->ctx, s->n + 1, sizeof *first_row);
  bl_status st = places && first_row ? BL_OK : bl_nomem(err);
  if (st == BL_OK) {
    qsort(s->rows, s->n, sizeof *s->rows, by_place);
    for (size_t i = 0; i < s->n; i++) {
      if (n_places > 0 && places[n_places - 1].file == s->rows[i].file && places[n_places - 1].pos == s->rows[i].pos)
        continue;
      first_row[n_places] = i;
      places[n_places++] = (bl_place){s->rows[i].file, s->rows[i].pos};
    }
    first_row[n_places] = s->n;
    st = bl_aschema_of_struct(p->ctx, wanted, &schema, err);
  }
  key_hashing h = {p->ctx, &schema, first_row, s->rows, null_key, seed};
  if (st == BL_OK) st = bl_fetch_each(env, p->files, wanted, places, n_places, hash_keys, &h, err);
  bl_aschema_release(&schema);
  bl_free(p->ctx, places);
  bl_free(p->ctx, first_row);
  return st;
}

/* ---- output ---- */

static bl_event blank(void) {
  return (bl_event){.before_id = BL_NONE,
                    .after_id = BL_NONE,
                    .before_seq = BL_NONE,
                    .after_seq = BL_NONE,
                    .before_file = BL_NO_FILE,
                    .after_file = BL_NO_FILE,
                    .len = 1};
}

static bl_status put_single(pairing *p, int k, const bl_hashed_row *r, bl_error *err) {
  bl_event e = blank();
  e.ordinal = r->ordinal;
  e.type = k ? BL_INSERT : BL_DELETE;
  if (k) e.after_id = r->id, e.after_seq = r->seq, e.after_pos = r->pos, e.after_file = r->file;
  else e.before_id = r->id, e.before_seq = r->seq, e.before_pos = r->pos, e.before_file = r->file;
  e.basis = !k && p->files->items[r->file].basis == BL_BASIS_EQUALITY_DELETE ? BL_BASIS_EQUALITY_DELETE
            : r->id == BL_NONE                                               ? BL_BASIS_VALUE
                                                                             : BL_BASIS_ROW_ID;
  return bl_spool_add(p->out, &e, err);
}

static bl_status put_pair(void *user, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err) {
  pairing *p = user;
  bl_event e = blank();
  e.type = BL_UPDATE;
  e.basis = BL_BASIS_KEY;
  e.ordinal = after->ordinal;
  e.before_id = before->id, e.before_seq = before->seq, e.before_pos = before->pos, e.before_file = before->file;
  e.after_id = after->id, e.after_seq = after->seq, e.after_pos = after->pos, e.after_file = after->file;
  ++*p->pairs;
  return bl_spool_add(p->out, &e, err);
}

/* Rows with a null in the key to the output at once; the others to the front. */
static bl_status drop_null_keys(pairing *p, int k, const uint8_t *null_key, bl_error *err) {
  keyed *s = &p->side[k];
  size_t n = 0;
  for (size_t i = 0; i < s->n; i++) {
    if (null_key[i]) BL_TRY(put_single(p, k, &s->rows[i], err));
    else s->rows[n++] = s->rows[i];
  }
  s->n = n;
  return BL_OK;
}

static int by_ordinal(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  if (x->ordinal != y->ordinal) return x->ordinal < y->ordinal ? -1 : 1;
  int c = bl_hash128_cmp(x->hash, y->hash);
  return c ? c : by_place(a, b);
}

static int by_key(const void *a, const void *b) {
  const bl_hashed_row *x = a, *y = b;
  int c = bl_hash128_cmp(x->hash, y->hash);
  return c ? c : by_ordinal(a, b);
}

/* Pair the sorted rows: a group is one key (of one ordinal, unless net). */
static bl_status pair_groups(pairing *p, bool net, int64_t *not_unique, bl_error *err) {
  size_t at[2] = {0, 0};
  while (at[0] < p->side[0].n || at[1] < p->side[1].n) {
    const bl_hashed_row *head[2];
    size_t n[2] = {0, 0};
    for (int k = 0; k < 2; k++) head[k] = at[k] < p->side[k].n ? &p->side[k].rows[at[k]] : NULL;
    int c = !head[0] ? 1 : !head[1] ? -1 : 0;
    if (c == 0 && !net && head[0]->ordinal != head[1]->ordinal) c = head[0]->ordinal < head[1]->ordinal ? -1 : 1;
    if (c == 0) c = bl_hash128_cmp(head[0]->hash, head[1]->hash);
    const bl_hashed_row *group = c > 0 ? head[1] : head[0];
    for (int k = 0; k < 2; k++)
      while (at[k] + n[k] < p->side[k].n && bl_hash128_eq(p->side[k].rows[at[k] + n[k]].hash, group->hash) &&
             (net || p->side[k].rows[at[k] + n[k]].ordinal == group->ordinal))
        n[k]++;
    if (n[0] == 1 && n[1] == 1) BL_TRY(put_pair(p, head[0], head[1], err));
    else {
      if (n[0] && n[1]) ++*not_unique;
      for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < n[k]; i++) BL_TRY(put_single(p, k, head[k] + i, err));
    }
    at[0] += n[0];
    at[1] += n[1];
  }
  return BL_OK;
}

bl_status bl_pair_by_key(bl_ctx *ctx, const bl_reading *env, const bl_files *files, const bl_type *wanted, bool net,
                         bl_spool *in, bl_spool *out, int64_t *pairs, int64_t *not_unique, bl_error *err) {
  pairing p = {.ctx = ctx, .files = files, .out = out, .pairs = pairs};
  uint64_t seed;
  *pairs = *not_unique = 0;
  bl_random(ctx, &seed, sizeof seed);
  bl_status st = sort_out(&p, in, err);
  for (int k = 0; st == BL_OK && k < 2; k++) {
    uint8_t *null_key = bl_calloc(ctx, p.side[k].n + 1, 1);
    st = null_key ? hash_side(&p, env, wanted, &p.side[k], null_key, seed, err) : bl_nomem(err);
    if (st == BL_OK) st = drop_null_keys(&p, k, null_key, err);
    bl_free(ctx, null_key);
    if (st == BL_OK) qsort(p.side[k].rows, p.side[k].n, sizeof *p.side[k].rows, net ? by_key : by_ordinal);
  }
  if (st == BL_OK) st = pair_groups(&p, net, not_unique, err);
  for (int k = 0; k < 2; k++) bl_free(ctx, p.side[k].rows);
  return st;
}

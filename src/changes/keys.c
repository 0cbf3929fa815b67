/* keys.c: see keys.h. Deletes and inserts are taken apart into single rows, sorted by the hash of their keys, and the
 * two sides read together: a group of equal keys (of one ordinal, unless net) is a pair where each side has one row. */
#include "changes/keys.h"

#include "changes/hashed.h"

typedef struct pairing {
  const bl_pair_options *o;
  bl_ctx *ctx;
  bl_spool *out;
  bl_sorter *sorted[2]; /* deleted, inserted */
  bl_hasher hasher[2];
  bl_hashed_row row[2]; /* at hand */
  bool has[2];
  int64_t *pairs, *not_unique;
} pairing;

/* ---- taking events apart ---- */

static bl_status each_event(bl_spool *in, bl_status (*take)(void *user, const bl_event *e, bl_error *err), void *user,
                            bl_error *err) {
  bl_event events[128];
  size_t n;
  for (int64_t at = 0;; at += (int64_t)n) {
    BL_TRY(bl_spool_read(in, at, events, BL_LEN(events), &n, err));
    if (n == 0) return BL_OK;
    for (size_t i = 0; i < n; i++) BL_TRY(take(user, &events[i], err));
  }
}

static bl_status pass_on(void *user, const bl_event *e, bl_error *err) {
  return bl_spool_add(user, e, err);
}

static bl_status count_sides(void *user, const bl_event *e, bl_error *err) {
  bool *any = user;
  (void)err;
  if (e->type != BL_UPDATE) any[e->type == BL_INSERT] = true;
  return BL_OK;
}

static bl_status take_apart(void *user, const bl_event *e, bl_error *err) {
  pairing *p = user;
  if (e->type == BL_UPDATE) return bl_spool_add(p->out, e, err);
  bool added = e->type == BL_INSERT;
  int64_t id = added ? e->after_id : e->before_id, pos = added ? e->after_pos : e->before_pos;
  bl_hashed_row r = {.seq = added ? e->after_seq : e->before_seq,
                     .file = added ? e->after_file : e->before_file,
                     .ordinal = e->ordinal};
  for (uint32_t i = 0; i < e->len; i++) {
    r.id = id == BL_NONE ? BL_NONE : id + i;
    r.pos = pos + i;
    BL_TRY(bl_hasher_add(&p->hasher[added], &r, err));
  }
  return BL_OK;
}

/* ---- output ---- */

static bl_event blank(uint32_t ordinal) {
  return (bl_event){.before_id = BL_NONE,
                    .after_id = BL_NONE,
                    .before_seq = BL_NONE,
                    .after_seq = BL_NONE,
                    .before_file = BL_NO_FILE,
                    .after_file = BL_NO_FILE,
                    .len = 1,
                    .ordinal = ordinal};
}

static uint8_t basis_of(const pairing *p, bool added, const bl_hashed_row *r) {
  if (p->o->gap && r->ordinal == 0) return BL_BASIS_GAP;
  if (!added && p->o->files->items[r->file].basis == BL_BASIS_EQUALITY_DELETE) return BL_BASIS_EQUALITY_DELETE;
  return r->id == BL_NONE ? BL_BASIS_VALUE : BL_BASIS_ROW_ID;
}

static bl_status put_single(pairing *p, bool added, const bl_hashed_row *r, bl_error *err) {
  bl_event e = blank(r->ordinal);
  e.type = added ? BL_INSERT : BL_DELETE;
  if (added) e.after_id = r->id, e.after_seq = r->seq, e.after_pos = r->pos, e.after_file = r->file;
  else e.before_id = r->id, e.before_seq = r->seq, e.before_pos = r->pos, e.before_file = r->file;
  e.basis = basis_of(p, added, r);
  return bl_spool_add(p->out, &e, err);
}

static bl_status put_deleted(void *user, const bl_hashed_row *r, bl_error *err) {
  return put_single(user, false, r, err);
}

static bl_status put_inserted(void *user, const bl_hashed_row *r, bl_error *err) {
  return put_single(user, true, r, err);
}

static bl_status put_pair(pairing *p, const bl_hashed_row *before, const bl_hashed_row *after, bl_error *err) {
  bl_event e = blank(after->ordinal);
  e.type = BL_UPDATE;
  e.basis = BL_BASIS_KEY;
  e.before_id = before->id, e.before_seq = before->seq, e.before_pos = before->pos, e.before_file = before->file;
  e.after_id = after->id, e.after_seq = after->seq, e.after_pos = after->pos, e.after_file = after->file;
  ++*p->pairs;
  return bl_spool_add(p->out, &e, err);
}

/* ---- groups ---- */

static int by_key(const void *a, const void *b, void *user) {
  const bl_hashed_row *x = a, *y = b;
  const bl_pair_options *o = user;
  if (!o->net && x->ordinal != y->ordinal) return x->ordinal < y->ordinal ? -1 : 1;
  return bl_hash128_cmp(x->hash, y->hash);
}

static bl_status next(pairing *p, int side, bl_error *err) {
  const void *r;
  BL_TRY(bl_sorter_next(p->sorted[side], &r, err));
  p->has[side] = r != NULL;
  if (r) memcpy(&p->row[side], r, sizeof p->row[side]);
  return BL_OK;
}

static bool in_group(const pairing *p, int side, const bl_hashed_row *first) {
  return p->has[side] && by_key(&p->row[side], first, (void *)(uintptr_t)p->o) == 0;
}

/* One group: a pair is known when the row behind each first one has been seen. */
static bl_status pair_group(pairing *p, bl_error *err) {
  int lower = !p->has[0] || (p->has[1] && by_key(&p->row[1], &p->row[0], (void *)(uintptr_t)p->o) < 0);
  bl_hashed_row first[2], group = p->row[lower];
  bool there[2];
  for (int k = 0; k < 2; k++) {
    there[k] = in_group(p, k, &group);
    first[k] = p->row[k];
    if (there[k]) BL_TRY(next(p, k, err));
  }
  bool single = !in_group(p, 0, &group) && !in_group(p, 1, &group);
  if (there[0] && there[1] && single) return put_pair(p, &first[0], &first[1], err);
  if (there[0] && there[1]) ++*p->not_unique;
  for (int k = 0; k < 2; k++) {
    if (there[k]) BL_TRY(put_single(p, k, &first[k], err));
    for (; in_group(p, k, &group);) {
      BL_TRY(put_single(p, k, &p->row[k], err));
      BL_TRY(next(p, k, err));
    }
  }
  return BL_OK;
}

static bl_status pair_sides(pairing *p, bl_spool *in, bl_error *err) {
  bl_hashing what = {.env = p->o->env, .files = p->o->files, .wanted = p->o->wanted};
  bl_random(p->ctx, &what.seed, sizeof what.seed);
  for (int k = 0; k < 2; k++) {
    BL_TRY(bl_sorter_new(p->ctx, sizeof(bl_hashed_row), p->ctx->o.memory_budget / 8, by_key, (void *)(uintptr_t)p->o,
                         &p->sorted[k], err));
    p->hasher[k] =
        (bl_hasher){.what = what, .out = p->sorted[k], .with_null = k ? put_inserted : put_deleted, .user = p};
  }
  BL_TRY(each_event(in, take_apart, p, err));
  for (int k = 0; k < 2; k++) BL_TRY(bl_hasher_finish(&p->hasher[k], err));
  for (int k = 0; k < 2; k++) BL_TRY(next(p, k, err));
  while (p->has[0] || p->has[1]) BL_TRY(pair_group(p, err));
  return BL_OK;
}

bl_status bl_pair_by_key(const bl_pair_options *o, bl_spool *in, bl_spool *out, int64_t *pairs, int64_t *not_unique,
                         bl_error *err) {
  pairing p = {.o = o, .ctx = o->env->t->ctx, .out = out, .pairs = pairs, .not_unique = not_unique};
  bool any[2] = {false, false};
  *pairs = *not_unique = 0;
  BL_TRY(each_event(in, count_sides, any, err));
  if (!any[0] || !any[1]) return each_event(in, pass_on, out, err); /* nothing to pair */
  bl_status st = pair_sides(&p, in, err);
  for (int k = 0; k < 2; k++) {
    if (p.hasher[k].out) bl_hasher_dispose(&p.hasher[k]);
    bl_sorter_free(p.sorted[k]);
  }
  return st;
}

/* range.c: see range.h.
 *
 *  1. The steps are the chain of snapshots from `from` (exclusive) to `to`. Where the chain of `to` ends in an expired
 *     parent, a `from` with a smaller sequence number than its oldest snapshot lies before that gap: one step crosses
 *     it (C9, C10).
 *  2. Whatever the metadata no longer holds is an error or a warning, never silence (C10). */
#include "changes/range.h"

#include <stdio.h>

#include "base/buf.h"

typedef struct resolver {
  const bl_table *t;
  const bl_metadata *md;
  const bl_range_options *o;
  bl_arena *arena;
  bl_range *out;
  bl_chain whole; /* the ancestry of `to`, as far as it is left */
} resolver;

static bl_snap_options snap_options(const bl_range_options *o, bool before_first_ok) {
  return (bl_snap_options){
      .ref = o->ref ? bl_str_of(o->ref) : BL_STR_NONE, .time = BL_TIME_BY_ANCESTRY, .before_first_ok = before_first_ok};
}

/* ---- steps ---- */

/* chain[0] has `from` before it. */
static bl_status make_steps(resolver *r, const bl_snapshot *from, bool gap, const bl_chain *chain, bl_error *err) {
  bl_range *out = r->out;
  out->from = from;
  out->related = true;
  out->steps = bl_arena_alloc(r->arena, chain->n, sizeof *out->steps);
  if (!out->steps) return bl_nomem(err);
  for (size_t i = 0; i < chain->n; i++)
    out->steps[i] = (bl_step){.from = i ? chain->items[i - 1] : from, .to = chain->items[i], .gap = i == 0 && gap};
  out->n_steps = chain->n;
  return BL_OK;
}

static bl_status from_the_beginning(resolver *r, bl_error *err) {
  if (r->whole.expired) {
    const bl_snapshot *first = r->whole.items[0];
    r->out->cut = true;
    if (!r->o->quiet)
      bl_warn(r->t->ctx,
              "changes: the history before snapshot %lld has expired: all rows that are live in it are given as INSERT",
              (long long)first->id);
  }
  return make_steps(r, NULL, false, &r->whole, err);
}

static bl_status across_gap(resolver *r, const bl_snapshot *from, bl_error *err) {
  const bl_snapshot *first = r->whole.items[0];
  if (!r->o->quiet)
    bl_warn(r->t->ctx,
            "changes: snapshots between %lld and %lld have expired: their net change is given as one step, as of "
            "snapshot %lld",
            (long long)from->id, (long long)first->id, (long long)first->id);
  return make_steps(r, from, true, &r->whole, err);
}

/* Does a snapshot outside the chain of `to` lie before the gap at its end? */
static bool before_gap(const resolver *r, const bl_snapshot *s) {
  return r->whole.expired && s->sequence_number < r->whole.items[0]->sequence_number;
}

/* C9 */
static bl_status not_an_ancestor(const resolver *r, const bl_snapshot *from, const bl_snapshot *to, bl_error *err) {
  const bl_snapshot *common;
  BL_TRY(bl_common_ancestor(r->md, from, to, &common, err));
  if (common == to)
    return bl_fail(err, BL_USAGE, "changes: snapshot %lld comes after snapshot %lld, which is its ancestor",
                   (long long)from->id, (long long)to->id);
  if (!common)
    return bl_fail(err, BL_USAGE,
                   "changes: snapshot %lld is not an ancestor of snapshot %lld: they have no common ancestor that is "
                   "left; only their net change can be given",
                   (long long)from->id, (long long)to->id);
  return bl_fail(err, BL_USAGE,
                 "changes: snapshot %lld is not an ancestor of snapshot %lld: their common ancestor is %lld; only "
                 "their net change can be given",
                 (long long)from->id, (long long)to->id, (long long)common->id);
}

static bl_status from_snapshot(resolver *r, const bl_snapshot *from, bl_error *err) {
  const bl_snapshot *to = r->out->to;
  r->out->from = from;
  if (from == to) {
    r->out->related = true;
    return BL_OK;
  }
  bl_chain chain;
  BL_TRY(bl_chain_between(r->t->ctx, r->md, from, to, &chain, err));
  bl_status st;
  if (chain.complete) st = make_steps(r, from, false, &chain, err);
  else if (before_gap(r, from)) st = across_gap(r, from, err);
  else st = r->o->net ? BL_OK : not_an_ancestor(r, from, to, err);
  bl_chain_dispose(r->t->ctx, &chain);
  return st;
}

/* ---- an expired from (C10) ---- */

static bool in_chain(const bl_chain *c, const bl_snapshot *s) {
  for (size_t i = 0; i < c->n; i++)
    if (c->items[i] == s) return true;
  return false;
}

/* "; ref a (snapshot 1), ref b (snapshot 2) lie before the gap" */
static void name_refs_before_gap(const resolver *r, bl_buf *b) {
  enum { SHOWN = 8 };
  size_t n = 0;
  for (size_t i = 0; i < r->md->n_refs; i++) {
    const bl_ref *ref = &r->md->refs[i];
    const bl_snapshot *s = bl_metadata_snapshot(r->md, ref->snapshot_id);
    if (!s || in_chain(&r->whole, s) || !before_gap(r, s)) continue;
    if (n++ < SHOWN)
      bl_buf_printf(b, "%s ref %.*s (snapshot %lld)", n == 1 ? "; before the gap lies" : ",", BL_STR_ARG(ref->name),
                    (long long)s->id);
  }
  if (n > SHOWN) bl_buf_printf(b, " and %zu more", n - SHOWN);
}

/* What else can be asked for, behind the message that `from` is not there. */
static bl_status expired(const resolver *r, const char *why, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, r->t->ctx, BL_BUF_MAX);
  const bl_snapshot *to = r->out->to, *first = r->whole.items[0];
  bl_buf_printf(&b, "; the oldest snapshot left in the ancestry of %lld is %lld (sequence number %lld)",
                (long long)to->id, (long long)first->id, (long long)first->sequence_number);
  name_refs_before_gap(r, &b);
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) st = bl_fail(err, BL_NOT_FOUND, "changes: %s%s", why, (const char *)b.p);
  bl_buf_free(&b);
  return st;
}

/* A number of a snapshot that may have been there: an id or a sequence number. */
static bool names_a_number(const char *text) {
  bl_str s = bl_str_of(text);
  if (bl_str_starts(s, BL_STR("id:")) || bl_str_starts(s, BL_STR("seq:"))) return true;
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  return s.n > 0;
}

static bl_status from_text(resolver *r, bl_error *err) {
  bl_snap_options so = snap_options(r->o, true);
  bl_snap snap;
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_snap_resolve(r->md, bl_str_of(r->o->from), &so, &snap, &why);
  if (st == BL_NOT_FOUND && names_a_number(r->o->from) && r->whole.n) return expired(r, why.message, err);
  if (st != BL_OK) return bl_fail_at(err, st, why.position, "%s", why.message);
  if (!snap.before_first && snap.snapshot) return from_snapshot(r, snap.snapshot, err);
  if (snap.before_first && r->whole.expired) {
    char text[200];
    snprintf(text, sizeof text, "no snapshot at %.100s: it has expired", r->o->from);
    return expired(r, text, err);
  }
  return make_steps(r, NULL, false, &r->whole, err);
}

/* ---- the schema ---- */

static bl_status widen_default(bl_arena *a, const bl_type *from, const bl_type *to, const bl_value **v, bl_error *err) {
  if (!*v || (*v)->null) return BL_OK;
  bl_value *wide = bl_arena_calloc(a, 1, sizeof *wide);
  if (!wide) return bl_nomem(err);
  if (bl_value_promote(from, *v, to, wide)) *v = wide;
  return BL_OK;
}

/* Give the primitive fields of t the types that `other` has them promoted to. */
static bl_status widen(bl_arena *a, bl_type *t, const bl_schema *other, bl_error *err) {
  for (size_t i = 0; i < t->n_fields; i++) {
    bl_field *f = &t->fields[i];
    const bl_field *g = bl_schema_find(other, f->id);
    if (bl_kind_is_nested(f->type.kind)) {
      BL_TRY(widen(a, &f->type, other, err));
      continue;
    }
    if (!g || bl_kind_is_nested(g->type.kind) || !bl_type_can_promote(&f->type, &g->type)) continue;
    BL_TRY(widen_default(a, &f->type, &g->type, &f->initial_default, err));
    BL_TRY(widen_default(a, &f->type, &g->type, &f->write_default, err));
    BL_TRY(bl_type_copy(a, &g->type, &f->type, err));
  }
  return BL_OK;
}

/* The schema of `to` takes over types that are wider in that of `from`: it may be the older one of the two (net). */
static bl_status common_schema(const bl_metadata *md, const bl_snapshot *from, bl_arena *a, const bl_schema **schema,
                               bl_error *err) {
  const bl_schema *other = from && from->has_schema_id ? bl_metadata_schema(md, from->schema_id) : NULL;
  if (!other || !*schema || other->id == (*schema)->id) return BL_OK;
  bl_schema *own = bl_arena_alloc(a, 1, sizeof *own);
  if (!own) return bl_nomem(err);
  *own = **schema;
  BL_TRY(bl_type_copy(a, &(*schema)->root, &own->root, err));
  BL_TRY(widen(a, &own->root, other, err));
  *schema = own;
  return BL_OK;
}

bl_status bl_range_schema(const bl_table *t, const bl_range_options *o, bl_arena *a, const bl_schema **out,
                          bl_error *err) {
  bl_snap_options so = snap_options(o, false);
  bl_snap to, from = {0};
  BL_TRY(bl_snap_resolve(t->metadata, o->to ? bl_str_of(o->to) : BL_STR_NONE, &so, &to, err));
  *out = to.schema ? to.schema : bl_metadata_current_schema(t->metadata);
  if (!o->from || bl_snap_resolve(t->metadata, bl_str_of(o->from), &so, &from, NULL) != BL_OK) return BL_OK;
  return common_schema(t->metadata, from.snapshot, a, out, err);
}

bl_status bl_range_resolve(const bl_table *t, const bl_range_options *o, bl_arena *a, bl_range *out, bl_error *err) {
  resolver r = {.t = t, .md = t->metadata, .o = o, .arena = a, .out = out};
  bl_snap_options so = snap_options(o, false);
  bl_snap to;
  bl_status st = BL_OK;
  *out = (bl_range){0};
  BL_TRY(bl_snap_resolve(r.md, o->to ? bl_str_of(o->to) : BL_STR_NONE, &so, &to, err));
  out->to = to.snapshot;
  out->schema = to.schema;
  if (out->to) BL_GO(bl_chain_between(t->ctx, r.md, NULL, out->to, &r.whole, err));
  BL_GO(o->from ? from_text(&r, err) : from_the_beginning(&r, err));
  BL_GO(common_schema(r.md, out->from, a, &out->schema, err));
done:
  bl_chain_dispose(t->ctx, &r.whole);
  return st;
}

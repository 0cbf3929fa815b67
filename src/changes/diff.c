/* diff.c: see diff.h. */
#include "changes/diff.h"

#include "base/map.h"
#include "changes/replace_proof.h"

struct bl_differ {
  bl_table *t;
  bl_arena *arena;
  bl_plan **plans;
  const bl_snapshot **of;
  size_t n, cap, cap_of;
};

bl_status bl_differ_new(bl_table *t, bl_differ **out, bl_error *err) {
  *out = NULL;
  bl_differ *d = bl_calloc(t->ctx, 1, sizeof *d);
  if (!d) return bl_nomem(err);
  d->t = t;
  bl_status st = bl_arena_new(t->ctx, &d->arena, err);
  if (st != BL_OK) bl_differ_free(d);
  else *out = d;
  return st;
}

void bl_differ_free(bl_differ *d) {
  if (!d) return;
  for (size_t i = 0; i < d->n; i++) bl_plan_free(d->plans[i]);
  bl_ctx *ctx = d->t->ctx;
  bl_free(ctx, d->plans);
  bl_free(ctx, d->of);
  bl_arena_free(d->arena);
  bl_free(ctx, d);
}

static bl_status plan_of(bl_differ *d, const bl_snapshot *s, const bl_plan **out, bl_error *err) {
  const bl_plan_options o = {.metrics = true};
  for (size_t i = 0; i < d->n; i++)
    if (d->of[i] == s) {
      *out = d->plans[i];
      return BL_OK;
    }
  BL_TRY(bl_grow(d->t->ctx, &d->plans, &d->cap, d->n, sizeof *d->plans, err));
  BL_TRY(bl_grow(d->t->ctx, &d->of, &d->cap_of, d->n, sizeof *d->of, err));
  BL_TRY(bl_plan_new(d->t, s, &o, &d->plans[d->n], err));
  d->of[d->n] = s;
  *out = d->plans[d->n++];
  return BL_OK;
}

static bool same_delete(const bl_manifest_entry *a, const bl_manifest_entry *b) {
  if (!a || !b) return a == b;
  return bl_str_eq(a->file.path, b->file.path) && a->sequence_number == b->sequence_number &&
         a->file.content_offset == b->file.content_offset;
}

static bool same_list(const bl_manifest_entry *const *a, size_t na, const bl_manifest_entry *const *b, size_t nb) {
  if (na != nb) return false;
  for (size_t i = 0; i < na; i++)
    if (!same_delete(a[i], b[i])) return false;
  return true;
}

static bool same_deletes(const bl_file_deletes *a, const bl_file_deletes *b) {
  return same_delete(a->vector, b->vector) &&
         same_list((const bl_manifest_entry *const *)a->position, a->n_position,
                   (const bl_manifest_entry *const *)b->position, b->n_position) &&
         same_list((const bl_manifest_entry *const *)a->equality, a->n_equality,
                   (const bl_manifest_entry *const *)b->equality, b->n_equality);
}

static bool same_place(const bl_manifest_entry *a, const bl_manifest_entry *b) {
  return a->sequence_number == b->sequence_number && a->file_sequence_number == b->file_sequence_number &&
         bl_str_eq(a->file.path, b->file.path);
}

/* Files of the newer plan by path; `next` chains those of one path (index + 1), `taken` marks kept ones. */
typedef struct newer {
  bl_map *by_path;
  size_t *next;
  bool *taken;
} newer;

static bl_status index_newer(bl_ctx *ctx, const bl_plan *p, newer *x, bl_error *err) {
  BL_TRY(bl_map_new(ctx, &x->by_path, err));
  x->next = bl_calloc(ctx, p->n_files, sizeof *x->next);
  x->taken = bl_calloc(ctx, p->n_files, sizeof *x->taken);
  if (!x->next || !x->taken) return bl_nomem(err);
  for (size_t i = p->n_files; i-- > 0;) {
    bool added;
    size_t *at = bl_map_put(x->by_path, p->files[i].data->file.path, i + 1, &added);
    if (!at) return bl_nomem(err);
    if (!added) x->next[i] = *at, *at = i + 1;
  }
  return BL_OK;
}

static const bl_scan_file *take_newer(newer *x, const bl_plan *p, const bl_manifest_entry *old) {
  const size_t *at = bl_map_get(x->by_path, old->file.path);
  for (size_t i = at ? *at : 0; i; i = x->next[i - 1]) {
    if (x->taken[i - 1] || !same_place(old, p->files[i - 1].data)) continue;
    x->taken[i - 1] = true;
    return &p->files[i - 1];
  }
  return NULL;
}

static void compare(const bl_plan *a, const bl_plan *b, newer *x, bl_touched *items, bl_diff *out) {
  for (size_t i = 0; i < a->n_files; i++) {
    const bl_scan_file *old = &a->files[i], *now = take_newer(x, b, old->data);
    if (now && old->data->file.first_row_id != BL_NONE && now->data->file.first_row_id != BL_NONE)
      out->ids_differ |= old->data->file.first_row_id != now->data->file.first_row_id;
    if (now && same_deletes(&old->deletes, &now->deletes)) continue;
    items[out->n++] = (bl_touched){.old_entry = old->data,
                                   .new_entry = now ? now->data : NULL,
                                   .old_deletes = old->deletes,
                                   .new_deletes = now ? now->deletes : (bl_file_deletes){0}};
  }
  for (size_t i = 0; i < b->n_files; i++)
    if (!x->taken[i]) items[out->n++] = (bl_touched){.new_entry = b->files[i].data, .new_deletes = b->files[i].deletes};
  out->items = items;
}

static void prove(const bl_snapshot *from, const bl_snapshot *to, bl_diff *out) {
  if (!from || !bl_str_is(bl_snapshot_operation(to), "replace") || !to->has_parent || to->parent_id != from->id) return;
  bl_proof proof = bl_replace_proof(out->items, out->n);
  out->metadata_proves_replace = proof == BL_PROOF_YES;
  out->may_prove_replace = proof == BL_PROOF_FOOTERS;
}

bl_status bl_differ_run(bl_differ *d, const bl_snapshot *from, const bl_snapshot *to, bl_diff *out, bl_error *err) {
  bl_ctx *ctx = d->t->ctx;
  const bl_plan *a, *b;
  newer x = {0};
  bl_status st;
  *out = (bl_diff){0};
  BL_GO(plan_of(d, from, &a, err));
  BL_GO(plan_of(d, to, &b, err));
  BL_GO(index_newer(ctx, b, &x, err));
  bl_touched *items = bl_arena_alloc(d->arena, a->n_files + b->n_files, sizeof *items);
  if (!items) BL_GO(bl_nomem(err));
  compare(a, b, &x, items, out);
  prove(from, to, out);
done:
  bl_map_free(x.by_path);
  bl_free(ctx, x.next);
  bl_free(ctx, x.taken);
  return st;
}

/* given.c: see given.h. */
#include "changes/given.h"

#include "base/map.h"
#include "changes/live_files.h"

typedef struct slot {
  const bl_manifest_entry *entry;
  size_t next; /* index + 1 of another one with this hash, 0 = end */
} slot;

struct bl_given {
  bl_ctx *ctx;
  bl_arena *arena; /* of the copies */
  bl_imap *heads;
  slot *slots;
  size_t n, cap;
};

bl_status bl_given_new(bl_ctx *ctx, bl_given **out, bl_error *err) {
  *out = NULL;
  bl_given *g = bl_calloc(ctx, 1, sizeof *g);
  if (!g) return bl_nomem(err);
  g->ctx = ctx;
  bl_status st = bl_arena_new(ctx, &g->arena, err);
  if (st == BL_OK) st = bl_imap_new(ctx, &g->heads, err);
  if (st != BL_OK) {
    bl_given_free(g);
    return st;
  }
  *out = g;
  return BL_OK;
}

void bl_given_free(bl_given *g) {
  if (!g) return;
  bl_imap_free(g->heads);
  bl_arena_free(g->arena);
  bl_free(g->ctx, g->slots);
  bl_free(g->ctx, g);
}

size_t bl_given_count(const bl_given *g) {
  return g->n;
}

/* ---- copies ---- */

static bl_status copy_str(bl_arena *a, bl_str *s, bl_error *err) {
  if (!s->p) return BL_OK;
  *s = bl_arena_str(a, *s);
  return s->p ? BL_OK : bl_nomem(err);
}

static void *copy_items(bl_arena *a, const void *items, size_t n, size_t size) {
  void *p = bl_arena_alloc(a, n, size);
  if (p && n) memcpy(p, items, n * size);
  return p;
}

static bl_status copy_metrics(bl_arena *a, bl_data_file *f, bl_error *err) {
  f->metrics = copy_items(a, f->metrics, f->n_metrics, sizeof *f->metrics);
  if (!f->metrics) return bl_nomem(err);
  for (size_t i = 0; i < f->n_metrics; i++) {
    BL_TRY(copy_str(a, &f->metrics[i].lower, err));
    BL_TRY(copy_str(a, &f->metrics[i].upper, err));
  }
  return BL_OK;
}

static bl_status copy_tuple(bl_arena *a, bl_data_file *f, bl_error *err) {
  const bl_value *from = f->partition;
  f->partition = bl_arena_alloc(a, f->n_partition, sizeof *f->partition);
  if (!f->partition) return bl_nomem(err);
  for (size_t i = 0; i < f->n_partition; i++) BL_TRY(bl_value_copy(a, &from[i], &f->partition[i], err));
  return BL_OK;
}

static bl_status copy_file(bl_arena *a, bl_data_file *f, bl_error *err) {
  BL_TRY(copy_str(a, &f->path, err));
  BL_TRY(copy_str(a, &f->key_metadata, err));
  BL_TRY(copy_str(a, &f->referenced_data_file, err));
  f->split_offsets = copy_items(a, f->split_offsets, f->n_split_offsets, sizeof *f->split_offsets);
  f->equality_ids = copy_items(a, f->equality_ids, f->n_equality_ids, sizeof *f->equality_ids);
  if (!f->split_offsets || !f->equality_ids) return bl_nomem(err);
  BL_TRY(copy_tuple(a, f, err));
  return copy_metrics(a, f, err);
}

static bl_status copy_entry(bl_arena *a, const bl_manifest_entry *e, const bl_manifest_entry **out, bl_error *err) {
  bl_manifest_entry *copy = bl_arena_alloc(a, 1, sizeof *copy);
  if (!copy) return bl_nomem(err);
  *copy = *e;
  BL_TRY(copy_file(a, &copy->file, err));
  *out = copy;
  return BL_OK;
}

/* ---- taking ---- */

static bool stands_for(const bl_manifest_entry *given, const bl_manifest_entry *e) {
  return bl_same_place(given, e) && given->file.first_row_id == e->file.first_row_id &&
         given->file_sequence_number == e->file_sequence_number && given->file.content == e->file.content &&
         (given->file.n_metrics || !e->file.n_metrics);
}

bl_status bl_given_take(bl_given *g, const bl_manifest_entry *e, bool stays, const bl_manifest_entry **out,
                        bl_error *err) {
  bool added;
  BL_TRY(bl_grow(g->ctx, &g->slots, &g->cap, g->n, sizeof *g->slots, err));
  size_t *head = bl_imap_put(g->heads, bl_place_hash(e), 0, &added);
  if (!head) return bl_nomem(err);
  for (size_t i = *head; i; i = g->slots[i - 1].next) {
    *out = g->slots[i - 1].entry;
    if (stands_for(*out, e)) return BL_OK;
  }
  *out = e;
  if (!stays) BL_TRY(copy_entry(g->arena, e, out, err));
  g->slots[g->n++] = (slot){.entry = *out, .next = *head};
  *head = g->n;
  return BL_OK;
}

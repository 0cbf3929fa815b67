/* live_files.c: see live_files.h. */
#include "changes/live_files.h"

#include "base/map.h"

void bl_live_set_dispose(bl_live_set *s) {
  bl_free(s->ctx, s->items);
  *s = (bl_live_set){.ctx = s->ctx};
}

bl_status bl_live_set_add(bl_live_set *s, const bl_manifest_entry *entries, size_t n, size_t manifest, bl_error *err) {
  for (size_t i = 0; i < n; i++) {
    if (entries[i].status == BL_DELETED) continue;
    BL_TRY(bl_grow(s->ctx, &s->items, &s->cap, s->n, sizeof *s->items, err));
    s->items[s->n++] = (bl_live){.entry = &entries[i], .manifest = manifest, .at = i};
  }
  return BL_OK;
}

bool bl_same_place(const bl_manifest_entry *a, const bl_manifest_entry *b) {
  if (a->sequence_number != b->sequence_number || a->file.content_offset != b->file.content_offset) return false;
  if (a->file_sequence_number != b->file_sequence_number && a->file_sequence_number != BL_NONE &&
      b->file_sequence_number != BL_NONE)
    return false;
  return bl_str_eq(a->file.path, b->file.path);
}

int64_t bl_place_hash(const bl_manifest_entry *e) {
  uint64_t parts[3] = {bl_hash(e->file.path.p, e->file.path.n), (uint64_t)e->sequence_number,
                       (uint64_t)e->file.content_offset};
  return (int64_t)bl_hash(parts, sizeof parts);
}

/* Entries of one set by hash of their place; next[i] chains (index + 1), lowest index first. */
typedef struct place_index {
  bl_imap *heads;
  size_t *next;
} place_index;

static bl_status index_places(const bl_live_set *s, place_index *x, bl_error *err) {
  BL_TRY(bl_imap_new(s->ctx, &x->heads, err));
  x->next = bl_calloc(s->ctx, s->n, sizeof *x->next);
  if (!x->next) return bl_nomem(err);
  for (size_t i = s->n; i-- > 0;) {
    bool added;
    size_t *head = bl_imap_put(x->heads, bl_place_hash(s->items[i].entry), i + 1, &added);
    if (!head) return bl_nomem(err);
    if (added) continue;
    x->next[i] = *head;
    *head = i + 1;
  }
  return BL_OK;
}

/* Index + 1 of the free entry that is at e's place; 0 = none. */
static size_t find_twin(const bl_live_set *s, const place_index *x, const bl_manifest_entry *e) {
  const size_t *head = bl_imap_get(x->heads, bl_place_hash(e));
  size_t best = 0;
  for (size_t i = head ? *head : 0; i; i = x->next[i - 1]) {
    const bl_live *l = &s->items[i - 1];
    if (l->twin || !bl_same_place(l->entry, e)) continue;
    if (l->entry->file.first_row_id == e->file.first_row_id) return i;
    if (!best) best = i;
  }
  return best;
}

bl_status bl_live_set_match(bl_live_set *a, bl_live_set *b, bl_error *err) {
  place_index x = {0};
  bl_status st = BL_OK;
  if (!a->n || !b->n) return BL_OK;
  BL_GO(index_places(b, &x, err));
  for (size_t i = 0; i < a->n; i++) {
    size_t twin = find_twin(b, &x, a->items[i].entry);
    a->items[i].twin = twin;
    if (twin) b->items[twin - 1].twin = i + 1;
  }
done:
  bl_imap_free(x.heads);
  bl_free(a->ctx, x.next);
  return st;
}

/* diff_twin.h: what two whole plans say about the touched files between two snapshots, as lines of text, to hold a diff
 * against. Nothing here saves work. */
#ifndef BL_TESTS_UNIT_DIFF_TWIN_H
#define BL_TESTS_UNIT_DIFF_TWIN_H

#include "changes/diff.h"
#include "support/support.h"

typedef struct lines {
  char **items;
  size_t n;
} lines;

static inline void lines_add(lines *l, char *line) {
  l->items = realloc(l->items, (l->n + 1) * sizeof *l->items);
  assert_non_null(l->items);
  l->items[l->n++] = line;
}

static inline int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline void lines_sort(lines *l) {
  if (l->n) qsort(l->items, l->n, sizeof *l->items, by_text);
}

static inline void lines_free(lines *l) {
  for (size_t i = 0; i < l->n; i++) free(l->items[i]);
  free(l->items);
  *l = (lines){0};
}

/* Both sorted. */
static inline void lines_same(const lines *want, const lines *got, const char *what) {
  for (size_t i = 0; i < want->n || i < got->n; i++) {
    const char *w = i < want->n ? want->items[i] : "(end)", *g = i < got->n ? got->items[i] : "(end)";
    if (strcmp(w, g) != 0) fail_msg("%s: line %zu\n  expected %s\n  got      %s", what, i, w, g);
  }
}

/* ---- text of files and deletes ---- */

static inline void put_place(char **at, const bl_manifest_entry *e) {
  *at += sprintf(*at, "%s|%lld|%lld|%lld", e->file.path.p, (long long)e->sequence_number,
                 (long long)e->file_sequence_number, (long long)e->file.content_offset);
}

static inline void put_list(char **at, const char *name, const bl_manifest_entry *const *items, size_t n) {
  lines l = {0};
  for (size_t i = 0; i < n; i++) {
    char *line = malloc(items[i]->file.path.n + 100), *end = line;
    put_place(&end, items[i]);
    lines_add(&l, line);
  }
  lines_sort(&l);
  for (size_t i = 0; i < n; i++) *at += sprintf(*at, " %s %s", name, l.items[i]);
  lines_free(&l);
}

static inline size_t text_size(const bl_file_deletes *d) {
  size_t n = 400 + (d->vector ? d->vector->file.path.n : 0);
  for (size_t i = 0; i < d->n_position; i++) n += d->position[i]->file.path.n + 120;
  for (size_t i = 0; i < d->n_equality; i++) n += d->equality[i]->file.path.n + 120;
  return n;
}

/* md: without the equality deletes that statistics rule out, which a plan may name and a diff does not. */
static inline char *deletes_text(const bl_file_deletes *all, const bl_metadata *md, const bl_manifest_entry *data) {
  char *text = malloc(text_size(all)), *at = text;
  bl_file_deletes own = *all, *d = &own;
  *at = 0;
  own.equality = calloc(all->n_equality + 1, sizeof *own.equality);
  own.n_equality = 0;
  for (size_t i = 0; i < all->n_equality; i++)
    if (!md || bl_equality_may_match(md, &all->equality[i]->file, &data->file))
      own.equality[own.n_equality++] = all->equality[i];
  if (d->vector) put_list(&at, "vector", &d->vector, 1);
  put_list(&at, "position", (const bl_manifest_entry *const *)d->position, d->n_position);
  put_list(&at, "equality", (const bl_manifest_entry *const *)d->equality, d->n_equality);
  free(own.equality);
  return text;
}

static inline char *touched_text(const bl_metadata *md, const bl_manifest_entry *old,
                                 const bl_file_deletes *old_deletes, const bl_manifest_entry *now,
                                 const bl_file_deletes *new_deletes) {
  char *before = old ? deletes_text(old_deletes, md, old) : strdup("");
  char *after = now ? deletes_text(new_deletes, md, now) : strdup("");
  char *line = malloc(strlen(before) + strlen(after) + (old ? old : now)->file.path.n + 400), *at = line;
  at += sprintf(at, "%c ", !old ? '+' : !now ? '-' : '~');
  put_place(&at, old ? old : now);
  at += sprintf(at, " ids %lld %lld <%s > <%s >", old ? (long long)old->file.first_row_id : -1,
                now ? (long long)now->file.first_row_id : -1, before, after);
  free(before);
  free(after);
  return line;
}

/* ---- the twin ---- */

typedef struct twin {
  lines touched;
  bool ids_differ;
} twin;

static inline bool twin_same_place(const bl_manifest_entry *a, const bl_manifest_entry *b) {
  return a->sequence_number == b->sequence_number && a->file_sequence_number == b->file_sequence_number &&
         bl_str_eq(a->file.path, b->file.path);
}

static inline const bl_scan_file *twin_find(const bl_plan *p, const bl_manifest_entry *e) {
  for (size_t i = 0; i < p->n_files; i++)
    if (twin_same_place(p->files[i].data, e)) return &p->files[i];
  return NULL;
}

static inline void twin_compare(const bl_metadata *md, const bl_plan *old, const bl_plan *now, twin *out) {
  for (size_t i = 0; i < old->n_files; i++) {
    const bl_scan_file *a = &old->files[i], *b = twin_find(now, a->data);
    char *x = deletes_text(&a->deletes, md, a->data), *y = b ? deletes_text(&b->deletes, md, b->data) : NULL;
    int64_t before = a->data->file.first_row_id, after = b ? b->data->file.first_row_id : BL_NONE;
    out->ids_differ |= before != BL_NONE && after != BL_NONE && before != after;
    if (!b || strcmp(x, y) != 0)
      lines_add(&out->touched, touched_text(md, a->data, &a->deletes, b ? b->data : NULL, b ? &b->deletes : NULL));
    free(x);
    free(y);
  }
  for (size_t i = 0; i < now->n_files; i++)
    if (!twin_find(old, now->files[i].data))
      lines_add(&out->touched, touched_text(md, NULL, NULL, now->files[i].data, &now->files[i].deletes));
  lines_sort(&out->touched);
}

static inline lines diff_lines(const bl_diff *d) {
  lines l = {0};
  for (size_t i = 0; i < d->n; i++) {
    const bl_touched *t = &d->items[i];
    lines_add(&l, touched_text(NULL, t->old_entry, &t->old_deletes, t->new_entry, &t->new_deletes));
  }
  lines_sort(&l);
  return l;
}

/* The diff of two snapshots (from NULL: the empty table) must be what their plans say. */
static inline void twin_check(bl_table *t, bl_differ *d, const bl_snapshot *from, const bl_snapshot *to,
                              const char *name) {
  const bl_plan_options o = {.metrics = true};
  bl_error err = BL_ERROR_INIT;
  bl_plan *old, *now;
  bl_diff diff;
  twin want = {0};
  char what[200];
  snprintf(what, sizeof what, "%s: %lld to %lld", name, from ? (long long)from->id : 0, (long long)to->id);
  test_ok(bl_plan_new(t, from, &o, &old, &err), &err);
  test_ok(bl_plan_new(t, to, &o, &now, &err), &err);
  twin_compare(t->metadata, old, now, &want);
  test_ok(bl_differ_run(d, from, to, &diff, &err), &err);
  lines got = diff_lines(&diff);
  lines_same(&want.touched, &got, what);
  if (want.ids_differ != diff.ids_differ) fail_msg("%s: ids_differ is %d", what, diff.ids_differ);
  for (size_t i = 1; i < diff.n; i++) /* added ones come last */
    assert_true(diff.items[i - 1].old_entry || !diff.items[i].old_entry);
  lines_free(&want.touched);
  lines_free(&got);
  bl_plan_free(old);
  bl_plan_free(now);
}

#endif

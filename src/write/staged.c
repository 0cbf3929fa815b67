/* staged.c: see staged.h. */
#include "write/staged.h"

#include "table/folder.h"
#include "table/io.h"

bl_status bl_staged_new(bl_ctx *ctx, bl_staged **out, bl_error *err) {
  *out = NULL;
  bl_staged *s = bl_calloc(ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  s->operation = BL_STR("append");
  s->base_snapshot_id = s->picked = BL_NONE;
  bl_status st = bl_arena_new(ctx, &s->arena, err);
  if (st == BL_OK) st = bl_map_new(ctx, &s->vector_of, err);
  if (st == BL_OK) st = bl_map_new(ctx, &s->kept_of, err);
  if (st != BL_OK) {
    bl_staged_free(s);
    return st;
  }
  *out = s;
  return BL_OK;
}

void bl_staged_free(bl_staged *s) {
  if (!s) return;
  for (size_t i = 0; i < s->n_vectors; i++) {
    bl_posset_free(s->vectors[i].added);
    bl_posset_free(s->vectors[i].moved);
  }
  for (size_t i = 0; i < s->n_kept; i++) bl_posset_free(s->kept[i].rows);
  bl_map_free(s->vector_of);
  bl_map_free(s->kept_of);
  bl_free(s->ctx, s->kept);
  bl_free(s->ctx, s->data);
  bl_free(s->ctx, s->removed);
  bl_free(s->ctx, s->vectors);
  bl_free(s->ctx, s->files);
  bl_free(s->ctx, s->ids);
  bl_free(s->ctx, s->summary.items);
  bl_arena_free(s->arena);
  bl_free(s->ctx, s);
}

bl_status bl_staged_add_data(bl_staged *s, const bl_data_file *f, bl_error *err) {
  BL_TRY(bl_grow(s->ctx, &s->data, &s->cap_data, s->n_data, sizeof *s->data, err));
  bl_data_file *copy = &s->data[s->n_data];
  BL_TRY(bl_data_file_copy(s->arena, f, copy, err));
  copy->first_row_id = BL_NONE; /* W1 */
  s->n_data++;
  return BL_OK;
}

static bl_status copy_entry(bl_staged *s, const bl_manifest_entry *e, const bl_manifest_entry **out, bl_error *err) {
  bl_manifest_entry *copy = bl_arena_alloc(s->arena, 1, sizeof *copy);
  if (!copy) return bl_nomem(err);
  *out = copy;
  return bl_manifest_entry_copy(s->arena, e, copy, err);
}

bl_status bl_staged_remove(bl_staged *s, const bl_manifest_entry *e, bl_error *err) {
  BL_TRY(bl_grow(s->ctx, &s->removed, &s->cap_removed, s->n_removed, sizeof *s->removed, err));
  BL_TRY(copy_entry(s, e, &s->removed[s->n_removed], err));
  s->n_removed++;
  return BL_OK;
}

static bl_status unite(bl_posset **into, bl_posset **from, bl_error *err) {
  if (*into && *from) return bl_posset_or(*into, *from, err);
  if (!*into) {
    *into = *from;
    *from = NULL;
  }
  return BL_OK;
}

static bl_status vector_slot(bl_staged *s, const bl_manifest_entry *e, bl_staged_vector **out, bl_error *err) {
  const size_t *at = bl_map_get(s->vector_of, e->file.path);
  if (at) {
    *out = &s->vectors[*at];
    return BL_OK;
  }
  BL_TRY(bl_grow(s->ctx, &s->vectors, &s->cap_vectors, s->n_vectors, sizeof *s->vectors, err));
  *out = &s->vectors[s->n_vectors];
  **out = (bl_staged_vector){0};
  BL_TRY(copy_entry(s, e, &(*out)->data, err));
  if (!bl_map_put(s->vector_of, (*out)->data->file.path, s->n_vectors, NULL)) return bl_nomem(err);
  s->n_vectors++;
  return BL_OK;
}

const bl_staged_vector *bl_staged_vector_find(const bl_staged *s, bl_str path) {
  const size_t *at = bl_map_get(s->vector_of, path);
  return at ? &s->vectors[*at] : NULL;
}

bl_status bl_staged_vector_add(bl_staged *s, const bl_manifest_entry *e, bl_posset *added, bl_posset *moved,
                               bl_error *err) {
  bl_staged_vector *v = NULL;
  bl_status st = vector_slot(s, e, &v, err);
  if (st == BL_OK) st = unite(&v->added, &added, err);
  if (st == BL_OK) st = unite(&v->moved, &moved, err);
  bl_posset_free(added);
  bl_posset_free(moved);
  return st;
}

bl_status bl_staged_keep(bl_staged *s, const bl_manifest_entry *e, bl_posset *rows, bl_error *err) {
  bl_staged_kept k = {.rows = rows};
  const size_t *at = bl_map_get(s->kept_of, e->file.path);
  if (at) {
    bl_status united = bl_posset_or(s->kept[*at].rows, rows, err);
    bl_posset_free(rows);
    return united;
  }
  bl_status st = bl_grow(s->ctx, &s->kept, &s->cap_kept, s->n_kept, sizeof *s->kept, err);
  if (st == BL_OK) st = copy_entry(s, e, &k.data, err);
  if (st == BL_OK && !bl_map_put(s->kept_of, k.data->file.path, s->n_kept, NULL)) st = bl_nomem(err);
  if (st == BL_OK) s->kept[s->n_kept++] = k;
  else bl_posset_free(rows);
  return st;
}

bl_status bl_staged_note(bl_staged *s, const char *key, bl_str value, bl_error *err) {
  bl_pair *items = bl_resize(s->ctx, s->summary.items, s->summary.n + 1, sizeof *items);
  if (!items) return bl_nomem(err);
  s->summary.items = items;
  bl_pair *p = &items[s->summary.n];
  *p = (bl_pair){bl_arena_str(s->arena, bl_str_of(key)), bl_arena_str(s->arena, value)};
  if (!p->key.p || !p->value.p) return bl_nomem(err);
  s->summary.n++;
  return BL_OK;
}

bl_status bl_staged_file_written(bl_staged *s, bl_str path, bl_error *err) {
  BL_TRY(bl_grow(s->ctx, &s->files, &s->cap_files, s->n_files, sizeof *s->files, err));
  s->files[s->n_files] = bl_arena_str(s->arena, path);
  if (!s->files[s->n_files].p) return bl_nomem(err);
  s->n_files++;
  return BL_OK;
}

bl_str bl_staged_next_id(bl_str *ids) {
  const char *comma = ids->n ? memchr(ids->p, ',', ids->n) : NULL;
  bl_str one = {ids->p, comma ? (size_t)(comma - ids->p) : ids->n};
  size_t past = one.n + (comma != NULL);
  *ids = (bl_str){ids->p + past, ids->n - past};
  return one;
}

bl_status bl_staged_add_ids(bl_staged *s, bl_str ids, bl_error *err) {
  while (ids.n) {
    bl_str one = bl_staged_next_id(&ids);
    BL_TRY(bl_grow(s->ctx, &s->ids, &s->cap_ids, s->n_ids, sizeof *s->ids, err));
    s->ids[s->n_ids] = bl_arena_str(s->arena, one);
    if (!s->ids[s->n_ids].p) return bl_nomem(err);
    s->n_ids++;
  }
  return BL_OK;
}

bl_status bl_staged_on_position(bl_staged *s, bl_str text, bl_error *err) {
  s->heeds_position = true;
  s->on_position = text.p ? bl_arena_str(s->arena, text) : BL_STR_NONE;
  return text.p && !s->on_position.p ? bl_nomem(err) : BL_OK;
}

bl_status bl_staged_sync(const bl_staged *s, bl_table *t, bl_error *err) {
  bl_unsynced u = {.ctx = t->ctx, .background = t->common->background};
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < s->n_files; i++) st = bl_unsynced_add(&u, s->files[i], 0, err);
  if (st == BL_OK) st = bl_unsynced_sync(&u, t->io, err);
  bl_unsynced_dispose(&u);
  return st;
}

static bool is_gone(const bl_table *t, const char *folder) {
  bl_located at;
  bl_status st = bl_locate_metadata(t->ctx, t->io, folder, &at, NULL);
  bl_free(t->ctx, at.path);
  return st == BL_NOT_FOUND;
}

/* A table in a folder may be dropped, or get another name, while files are written for it: they make a new folder of
 * the old name, which shall not stay. Others write nothing there that lasts. */
static void sweep_if_gone(const bl_staged *s, bl_table *t) {
  bl_str top = t->metadata->location;
  char *folder = t->form == BL_FORM_HADOOP && s->n_files ? bl_asprintf(t->ctx, "%.*s", BL_STR_ARG(top)) : NULL;
  if (!folder || !t->io->remove || !is_gone(t, folder)) {
    bl_free(t->ctx, folder);
    return;
  }
  for (size_t i = 0; i < s->n_files; i++) {
    char *path = bl_asprintf(t->ctx, "%.*s", BL_STR_ARG(s->files[i]));
    for (char *slash; path && bl_str_starts(bl_str_of(path), top) && (slash = strrchr(path + top.n, '/'));) {
      *slash = 0;
      if (slash == path + top.n || t->io->remove(t->io, path, NULL) != BL_OK) break;
    }
    bl_free(t->ctx, path);
  }
  bl_folder_sweep(t->ctx, t->io, folder);
  (void)!t->io->remove(t->io, folder, NULL); /* where there was no folder metadata */
  bl_free(t->ctx, folder);
}

void bl_staged_discard(bl_staged *s, bl_table *t) {
  for (size_t i = 0; i < s->n_files; i++) {
    bl_error why = BL_ERROR_INIT;
    bl_status st = t->io->remove ? t->io->remove(t->io, s->files[i].p, &why) : BL_OK;
    if (st != BL_OK && st != BL_NOT_FOUND) bl_warn(s->ctx, "a file that is not needed stays: %s", why.message);
  }
  sweep_if_gone(s, t);
  s->n_files = 0;
}

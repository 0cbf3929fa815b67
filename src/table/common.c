/* common.c: see common.h. */
#include "table/common.h"

#include <pthread.h>

/* As many wait for the disk at once, so that the file system can serve them together. */
enum { WAITING = 8 };

bl_status bl_table_common_new(bl_ctx *ctx, const bl_drivers *drivers, bl_table_common **out, bl_error *err) {
  *out = NULL;
  bl_table_common *c = bl_calloc(ctx, 1, sizeof *c);
  pthread_mutex_t *lock = bl_calloc(ctx, 1, sizeof *lock);
  bl_status st = c && lock ? BL_OK : bl_nomem(err);
  if (st == BL_OK) st = bl_background_new(ctx, WAITING - 1, &c->background, err);
  if (st == BL_OK && !drivers) st = bl_drivers_default(ctx, &c->own_drivers, err);
  if (st != BL_OK) {
    if (c) bl_background_free(c->background);
    bl_free(ctx, lock);
    bl_free(ctx, c);
    return st;
  }
  pthread_mutex_init(lock, NULL);
  c->ctx = ctx, c->lock = lock, c->users = 1;
  c->drivers = drivers ? drivers : &c->own_drivers;
  *out = c;
  return BL_OK;
}

bl_table_common *bl_table_common_ref(bl_table_common *c) {
  pthread_mutex_lock(c->lock);
  c->users++;
  pthread_mutex_unlock(c->lock);
  return c;
}

void bl_table_common_unref(bl_table_common *c) {
  if (!c) return;
  bl_ctx *ctx = c->ctx;
  pthread_mutex_lock(c->lock);
  bool last = --c->users == 0;
  pthread_mutex_unlock(c->lock);
  if (!last) return;
  if (c->catalog) c->catalog->free(c->catalog);
  bl_background_free(c->background);
  bl_drivers_dispose(&c->own_drivers);
  bl_metadata_free(c->metadata);
  bl_free(ctx, c->path);
  pthread_mutex_destroy(c->lock);
  bl_free(ctx, c->lock);
  bl_free(ctx, c);
}

/* Puts one pair in the place of another, which comes back. */
static void exchange(bl_table_common *c, char **path, bl_metadata **md) {
  char *old_path = c->path;
  bl_metadata *old = c->metadata;
  c->path = *path, c->metadata = *md;
  *path = old_path, *md = old;
}

void bl_table_common_keep(bl_table_common *c, const char *path, bl_metadata *md) {
  char *name = bl_strdup(c->ctx, path);
  if (name) {
    pthread_mutex_lock(c->lock);
    exchange(c, &name, &md);
    pthread_mutex_unlock(c->lock);
  } /* else it is read, where it is asked for */
  bl_free(c->ctx, name);
  bl_metadata_free(md);
}

bl_metadata *bl_table_common_take(bl_table_common *c, const char *path) {
  char *name = NULL;
  bl_metadata *md = NULL;
  pthread_mutex_lock(c->lock);
  if (c->path && strcmp(c->path, path) == 0) exchange(c, &name, &md);
  pthread_mutex_unlock(c->lock);
  bl_free(c->ctx, name);
  return md;
}

/* deletes.c: vectors and position deletes of deletes.h. */
#include "scan/deletes_private.h"

#include "rows/arrow_view.h"

/* ---- position delete files ---- */

typedef struct path_positions {
  bl_str path;
  bl_posset *set;
} path_positions;

struct bl_position_file {
  pthread_mutex_t lock;
  bool loaded;
  bl_arena *arena; /* of the paths */
  bl_map *by_path;
  path_positions *items;
  size_t n, cap;
};

static bl_status position_slot(bl_deletes *d, bl_position_file *pf, bl_str path, bl_posset **out, bl_error *err) {
  bl_str key = bl_path_key(path);
  size_t *at = bl_map_get(pf->by_path, key);
  if (!at) {
    bl_str own = bl_arena_str(pf->arena, key);
    if (!own.p) return bl_nomem(err);
    BL_TRY(bl_grow(d->ctx, &pf->items, &pf->cap, pf->n, sizeof *pf->items, err));
    at = bl_map_put(pf->by_path, own, pf->n, NULL);
    if (!at) return bl_nomem(err);
    pf->items[pf->n] = (path_positions){own, NULL};
    BL_TRY(bl_posset_new(d->ctx, &pf->items[pf->n].set, err));
    pf->n++;
  }
  *out = pf->items[*at].set;
  return BL_OK;
}

typedef struct position_visit {
  bl_deletes *d;
  bl_position_file *pf;
  bl_view *view;
  const char *name;
} position_visit;

static bl_status take_positions(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                                bl_error *err) {
  position_visit *v = user;
  (void)positions, (void)first;
  bl_status st = bl_view_set(v->view, batch, err);
  bl_posset *set = NULL;
  bl_str last = BL_STR_NONE;
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    const bl_view *path = &v->view->children[0], *pos = &v->view->children[1];
    if (bl_view_null(path, i) || bl_view_null(pos, i) || bl_view_i64(pos, i) < 0) {
      st =
          bl_fail(err, BL_DAMAGED, "position delete file: %s: a row without file_path or with a negative pos", v->name);
      break;
    }
    bl_str p = bl_view_bytes(path, i);
    if (!set || !bl_str_eq(p, last)) st = position_slot(v->d, v->pf, p, &set, err);
    last = p;
    if (st == BL_OK) st = bl_posset_add(set, bl_view_i64(pos, i), err);
  }
  batch->release(batch);
  return st;
}

static bl_status read_position_file(bl_deletes *d, bl_position_file *pf, const bl_manifest_entry *e, bl_error *err) {
  bl_field fields[2] = {
      {.id = BL_ID_DELETE_PATH, .name = BL_STR("file_path"), .required = true, .type = {.kind = BL_STRING}},
      {.id = BL_ID_DELETE_POS, .name = BL_STR("pos"), .required = true, .type = {.kind = BL_LONG}},
  };
  bl_type wanted = {.kind = BL_STRUCT, .fields = fields, .n_fields = 2};
  bl_open_file *f = NULL;
  bl_projection *p = NULL;
  struct ArrowSchema schema = {0};
  position_visit v = {.d = d, .pf = pf};
  bl_status st;
  BL_GO(bl_open_file_new(d->env, e, &f, err));
  v.name = f->name;
  BL_GO(bl_open_file_project(f, &wanted, &p, err));
  BL_GO(bl_aschema_of_struct(d->ctx, &wanted, &schema, err));
  BL_GO(bl_view_new(d->ctx, &schema, &v.view, err));
  for (size_t g = 0; g < f->meta->n_groups; g++) BL_GO(bl_open_file_read(f, p, g, NULL, 0, take_positions, &v, err));
done:
  bl_view_free(v.view);
  bl_aschema_release(&schema);
  bl_projection_free(p);
  bl_open_file_free(f);
  return st;
}

static bl_status load_position_file(bl_deletes *d, bl_position_file *pf, const bl_manifest_entry *e, bl_error *err) {
  BL_TRY(bl_arena_new(d->ctx, &pf->arena, err));
  BL_TRY(bl_map_new(d->ctx, &pf->by_path, err));
  BL_TRY(read_position_file(d, pf, e, err));
  pf->loaded = true;
  return BL_OK;
}

static void clear_position_file(bl_deletes *d, bl_position_file *pf) {
  for (size_t i = 0; i < pf->n; i++) bl_posset_free(pf->items[i].set);
  bl_free(d->ctx, pf->items);
  bl_map_free(pf->by_path);
  bl_arena_free(pf->arena);
  pf->items = NULL;
  pf->by_path = NULL;
  pf->arena = NULL;
  pf->n = pf->cap = 0;
}

/* The slot of a position delete file, by its path; made where it is new. */
static bl_status position_file(bl_deletes *d, const bl_manifest_entry *e, bl_position_file **out, bl_error *err) {
  bl_status st = BL_OK;
  pthread_mutex_lock(&d->lock);
  size_t *at = bl_map_get(d->position_by_path, e->file.path);
  if (!at) {
    bl_position_file *pf = NULL;
    st = bl_grow(d->ctx, &d->position_files, &d->cap_position_files, d->n_position_files, sizeof *d->position_files,
                 err);
    if (st == BL_OK && !(pf = bl_calloc(d->ctx, 1, sizeof *pf))) st = bl_nomem(err);
    if (st == BL_OK) {
      pthread_mutex_init(&pf->lock, NULL);
      d->position_files[d->n_position_files] = pf;
      at = bl_map_put(d->position_by_path, e->file.path, d->n_position_files++, NULL);
      if (!at) st = bl_nomem(err);
    }
  }
  if (st == BL_OK) *out = d->position_files[*at];
  pthread_mutex_unlock(&d->lock);
  return st;
}

/* The slot of a position delete file, read. */
static bl_status loaded_file(bl_deletes *d, const bl_manifest_entry *e, bl_position_file **out, bl_error *err) {
  bl_status st = BL_OK;
  BL_TRY(position_file(d, e, out, err));
  bl_position_file *pf = *out;
  pthread_mutex_lock(&pf->lock);
  if (!pf->loaded) {
    st = load_position_file(d, pf, e, err);
    if (st != BL_OK) clear_position_file(d, pf);
  }
  pthread_mutex_unlock(&pf->lock);
  return st;
}

static bl_status or_positions(bl_deletes *d, const bl_data_file *data, const bl_manifest_entry *e, bl_posset **out,
                              bl_error *err) {
  bl_position_file *pf;
  BL_TRY(loaded_file(d, e, &pf, err));
  const size_t *at = bl_map_get(pf->by_path, bl_path_key(data->path));
  if (!at) return BL_OK;
  if (!*out) return bl_posset_copy(d->ctx, pf->items[*at].set, out, err);
  return bl_posset_or(*out, pf->items[*at].set, err);
}

bl_status bl_deletes_targets(bl_deletes *d, const bl_manifest_entry *e,
                             bl_status (*visit)(void *user, bl_str path, bl_error *err), void *user, bl_error *err) {
  bl_position_file *pf;
  BL_TRY(loaded_file(d, e, &pf, err));
  for (size_t i = 0; i < pf->n; i++) BL_TRY(visit(user, pf->items[i].path, err));
  return BL_OK;
}

/* ---- vectors ---- */

static bl_status read_blob(bl_deletes *d, const bl_data_file *v, bl_input *in, bl_posset **out, bl_error *err) {
  int64_t end;
  if (v->content_offset == BL_NONE || v->content_size == BL_NONE)
    return bl_fail(err, BL_DAMAGED, "the entry has no content_offset or content_size_in_bytes");
  if (v->content_offset < 0 || v->content_size < 0 || !bl_add64(v->content_offset, v->content_size, &end) ||
      end > in->size)
    return bl_fail(err, BL_DAMAGED, "the blob at offset %lld, size %lld lies outside the file of %lld bytes",
                   (long long)v->content_offset, (long long)v->content_size, (long long)in->size);
  if (v->content_size > d->ctx->o.max_deletion_vector_bytes)
    return bl_fail(err, BL_DAMAGED, "the blob's size of %lld bytes is above the limit", (long long)v->content_size);
  uint8_t *p = bl_alloc(d->ctx, (size_t)v->content_size, 1);
  if (!p) return bl_nomem(err);
  bl_status st = in->read_at(in, v->content_offset, p, (size_t)v->content_size, err);
  if (st == BL_OK) st = bl_dv_decode(d->ctx, p, (size_t)v->content_size, v->record_count, out, err);
  bl_free(d->ctx, p);
  return st;
}

static bl_status read_vector(bl_deletes *d, const bl_data_file *v, bl_posset **out, bl_error *err) {
  bl_input *in;
  bl_io *io = d->env->t->io;
  if (v->key_metadata.p) return bl_fail(err, BL_UNSUPPORTED, "deletion vector: %s: it is encrypted", v->path.p);
  BL_TRY(io->open_input(io, v->path.p, &in, err));
  bl_status st = read_blob(d, v, in, out, err);
  in->close(in);
  if (st == BL_OK) return BL_OK;
  char *real = bl_table_real_path(d->env->t, v->path.p);
  bl_fail_in(err, st, "deletion vector: %s", real ? real : v->path.p);
  bl_free(d->ctx, real);
  return st;
}

bl_status bl_deletes_positions(bl_deletes *d, const bl_data_file *data, const bl_file_deletes *fd, bl_posset **out,
                               bl_error *err) {
  *out = NULL;
  if (fd->vector) return read_vector(d, &fd->vector->file, out, err);
  for (size_t i = 0; i < fd->n_position; i++) {
    bl_status st = or_positions(d, data, fd->position[i], out, err);
    if (st != BL_OK) {
      bl_posset_free(*out);
      *out = NULL;
      return st;
    }
  }
  return BL_OK;
}

/* ---- life ---- */

bl_status bl_deletes_new(const bl_reading *env, bl_deletes **out, bl_error *err) {
  bl_ctx *ctx = env->t->ctx;
  *out = NULL;
  bl_deletes *d = bl_calloc(ctx, 1, sizeof *d);
  if (!d) return bl_nomem(err);
  d->ctx = ctx;
  d->env = env;
  pthread_mutex_init(&d->lock, NULL);
  bl_random(ctx, &d->seed, sizeof d->seed);
  bl_status st = bl_map_new(ctx, &d->position_by_path, err);
  if (st == BL_OK) st = bl_map_new(ctx, &d->equality_by_path, err);
  if (st != BL_OK) {
    bl_deletes_free(d);
    return st;
  }
  *out = d;
  return BL_OK;
}

void bl_deletes_free(bl_deletes *d) {
  if (!d) return;
  for (size_t i = 0; i < d->n_position_files; i++) {
    clear_position_file(d, d->position_files[i]);
    pthread_mutex_destroy(&d->position_files[i]->lock);
    bl_free(d->ctx, d->position_files[i]);
  }
  bl_free(d->ctx, d->position_files);
  bl_map_free(d->position_by_path);
  bl_equality_dispose(d);
  bl_map_free(d->equality_by_path);
  pthread_mutex_destroy(&d->lock);
  bl_free(d->ctx, d);
}

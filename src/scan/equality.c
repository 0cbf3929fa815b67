/* equality.c: equality deletes of deletes.h. Keys are kept as 128-bit hashes of their canonical bytes under a random
 * seed; each distinct list of equality ids has a table from key to the files that delete it. */
#include "scan/deletes_private.h"

#include "base/pool.h"

#include <stdlib.h>

enum { MAX_DEPTH = 64 };

typedef struct posting {
  uint32_t file;
  uint32_t next; /* index + 1 */
} posting;

typedef struct key_slot {
  bl_hash128 key;
  uint32_t first; /* posting index + 1; 0 = free */
} key_slot;

struct bl_equality_ids {
  bl_arena *arena;
  int32_t *ids; /* ascending */
  size_t n;
  bl_columns columns;
  int32_t (*paths)[MAX_DEPTH]; /* child indexes of each id in columns.wanted */
  size_t *path_lengths;
  struct ArrowSchema schema; /* of columns.wanted */
  key_slot *slots;
  size_t n_slots, n_keys; /* n_slots a power of two */
  posting *postings;
  size_t n_postings, cap_postings;
};

static int by_id(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* The newest schema that holds a field; the current one first. */
static const bl_schema *schema_with(const bl_metadata *md, int32_t id) {
  const bl_schema *now = bl_metadata_current_schema(md), *best = NULL;
  if (now && bl_schema_find(now, id)) return now;
  for (size_t i = 0; i < md->n_schemas; i++)
    if (bl_schema_find(&md->schemas[i], id) && (!best || md->schemas[i].id > best->id)) best = &md->schemas[i];
  return best;
}

/* A key column may be missing in old files whatever the schema says of it. */
static void make_optional(bl_type *t) {
  for (size_t i = 0; i < t->n_fields; i++) {
    t->fields[i].required = false;
    if (t->fields[i].type.kind == BL_STRUCT) make_optional(&t->fields[i].type);
  }
}

static bl_status make_key_columns(bl_deletes *d, bl_equality_ids *q, bl_error *err) {
  const bl_metadata *md = d->env->t->metadata;
  bl_columns_init(&q->columns, q->arena, md, NULL);
  q->paths = bl_arena_calloc(q->arena, q->n, sizeof *q->paths);
  q->path_lengths = bl_arena_calloc(q->arena, q->n, sizeof *q->path_lengths);
  if (!q->paths || !q->path_lengths) return bl_nomem(err);
  for (size_t i = 0; i < q->n; i++) {
    q->columns.schema = schema_with(md, q->ids[i]);
    if (!q->columns.schema)
      return bl_fail(err, BL_DAMAGED, "equality delete: id %d is in no schema of the table", q->ids[i]);
    BL_TRY(bl_columns_add_id(&q->columns, q->ids[i], err));
  }
  make_optional(&q->columns.wanted);
  for (size_t i = 0; i < q->n; i++) {
    q->path_lengths[i] = bl_columns_path(&q->columns.wanted, q->ids[i], q->paths[i], MAX_DEPTH);
    if (q->path_lengths[i] == 0)
      return bl_fail(err, BL_UNSUPPORTED, "equality delete: id %d lies inside a list or map", q->ids[i]);
  }
  return bl_aschema_of_struct(d->ctx, &q->columns.wanted, &q->schema, err);
}

static bl_status ids_slot(bl_deletes *d, const bl_data_file *f, size_t *out, bl_error *err) {
  int32_t *ids = bl_alloc(d->ctx, f->n_equality_ids, sizeof *ids);
  if (!ids) return bl_nomem(err);
  memcpy(ids, f->equality_ids, f->n_equality_ids * sizeof *ids);
  bl_sort(ids, f->n_equality_ids, sizeof *ids, by_id);
  bl_status st = BL_OK;
  for (*out = 0; *out < d->n_ids; ++*out) {
    bl_equality_ids *q = &d->ids[*out];
    if (q->n == f->n_equality_ids && memcmp(q->ids, ids, q->n * sizeof *ids) == 0) goto done;
  }
  BL_GO(bl_grow(d->ctx, &d->ids, &d->cap_ids, d->n_ids, sizeof *d->ids, err));
  bl_equality_ids *q = &d->ids[d->n_ids];
  *q = (bl_equality_ids){.n = f->n_equality_ids};
  BL_GO(bl_arena_new(d->ctx, &q->arena, err));
  d->n_ids++;
  q->ids = bl_arena_alloc(q->arena, q->n, sizeof *ids);
  if (!q->ids) {
    st = bl_nomem(err);
    goto done;
  }
  memcpy(q->ids, ids, q->n * sizeof *ids);
  BL_GO(make_key_columns(d, q, err));
done:
  bl_free(d->ctx, ids);
  return st;
}

bl_status bl_deletes_need(bl_deletes *d, const bl_file_deletes *fd, bl_error *err) {
  for (size_t i = 0; i < fd->n_equality; i++) {
    const bl_manifest_entry *e = fd->equality[i];
    if (bl_map_get(d->equality_by_path, e->file.path)) continue;
    size_t ids = 0;
    BL_TRY(ids_slot(d, &e->file, &ids, err));
    BL_TRY(bl_grow(d->ctx, &d->equality_files, &d->cap_equality_files, d->n_equality_files, sizeof *d->equality_files,
                   err));
    d->equality_files[d->n_equality_files] = (bl_equality_file){.entry = e, .ids = ids};
    if (!bl_map_put(d->equality_by_path, e->file.path, d->n_equality_files, NULL)) return bl_nomem(err);
    d->n_equality_files++;
  }
  return BL_OK;
}

/* The canonical key of row i; a part inside a null struct is null. */
static void key_of(const bl_equality_ids *q, const bl_view *root, int64_t i, bl_buf *b) {
  bl_buf_clear(b);
  for (size_t k = 0; k < q->n; k++) {
    const bl_view *v = root;
    bool null = false;
    for (size_t s = 0; !null && s < q->path_lengths[k]; s++) {
      v = &v->children[q->paths[k][s]];
      null = bl_view_null(v, i);
    }
    if (null) bl_buf_byte(b, 0);
    else bl_key_add(b, v, i);
  }
}

typedef struct key_reading {
  bl_deletes *d;
  const bl_equality_ids *q;
  bl_view *view;
  bl_buf buf;
  /* loading a delete file */
  bl_equality_file *into;
  /* looking rows of a data file up */
  const uint8_t *const *applies; /* [side][file] */
  uint8_t *const *keep;
  size_t n_sides;
  int64_t group_first;
} key_reading;

static bl_status key_reading_init(key_reading *r, bl_deletes *d, const bl_equality_ids *q, bl_error *err) {
  *r = (key_reading){.d = d, .q = q};
  bl_buf_init(&r->buf, d->ctx, BL_BUF_MAX);
  return bl_view_new(d->ctx, &q->schema, &r->view, err);
}

static void key_reading_dispose(key_reading *r) {
  bl_view_free(r->view);
  bl_buf_free(&r->buf);
}

static bl_status collect_keys(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                              bl_error *err) {
  key_reading *r = user;
  (void)positions, (void)first;
  bl_status st = bl_view_set(r->view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    key_of(r->q, r->view, i, &r->buf);
    bl_equality_file *f = r->into;
    st = bl_buf_ok(&r->buf, err);
    if (st == BL_OK) st = bl_grow(r->d->ctx, &f->keys, &f->cap_keys, f->n_keys, sizeof *f->keys, err);
    if (st == BL_OK) f->keys[f->n_keys++] = bl_key_hash(r->buf.p, r->buf.n, r->d->seed);
  }
  batch->release(batch);
  return st;
}

static bl_status load_file(void *user, size_t i, bl_error *err) {
  bl_deletes *d = user;
  bl_equality_file *ef = &d->equality_files[i];
  const bl_equality_ids *q = &d->ids[ef->ids];
  bl_open_file *f = NULL;
  bl_projection *p = NULL;
  key_reading r;
  bl_status st = key_reading_init(&r, d, q, err);
  if (st != BL_OK) goto done;
  r.into = ef;
  BL_GO(bl_open_file_new(d->env, ef->entry, &f, err));
  BL_GO(bl_open_file_project(f, &q->columns.wanted, &p, err));
  for (size_t g = 0; g < f->meta->n_groups; g++) BL_GO(bl_open_file_read(f, p, g, NULL, 0, collect_keys, &r, err));
done:
  bl_projection_free(p);
  bl_open_file_free(f);
  key_reading_dispose(&r);
  return st;
}

/* ---- the table of one list of ids ---- */

static key_slot *find_slot(const bl_equality_ids *q, bl_hash128 key) {
  if (!q->n_slots) return NULL;
  for (size_t i = key.lo & (q->n_slots - 1);; i = (i + 1) & (q->n_slots - 1))
    if (q->slots[i].first == 0 || bl_hash128_eq(q->slots[i].key, key)) return &q->slots[i];
}

static bl_status reserve_slots(bl_deletes *d, bl_equality_ids *q, size_t more, bl_error *err) {
  size_t want = 16;
  while (want < (q->n_keys + more) * 2) want *= 2;
  if (want <= q->n_slots) return BL_OK;
  key_slot *old = q->slots;
  size_t n_old = q->n_slots;
  q->slots = bl_calloc(d->ctx, want, sizeof *q->slots);
  if (!q->slots) {
    q->slots = old;
    return bl_nomem(err);
  }
  q->n_slots = want;
  for (size_t i = 0; i < n_old; i++)
    if (old[i].first) *find_slot(q, old[i].key) = old[i];
  bl_free(d->ctx, old);
  return BL_OK;
}

static bl_status insert_keys(bl_deletes *d, size_t file, bl_error *err) {
  bl_equality_file *f = &d->equality_files[file];
  bl_equality_ids *q = &d->ids[f->ids];
  BL_TRY(reserve_slots(d, q, f->n_keys, err));
  for (size_t i = 0; i < f->n_keys; i++) {
    key_slot *s = find_slot(q, f->keys[i]);
    if (s->first && q->postings[s->first - 1].file == file) continue; /* the key again in one file */
    BL_TRY(bl_grow(d->ctx, &q->postings, &q->cap_postings, q->n_postings, sizeof *q->postings, err));
    if (!s->first) q->n_keys++;
    q->postings[q->n_postings] = (posting){.file = (uint32_t)file, .next = s->first};
    s->key = f->keys[i];
    s->first = (uint32_t)++q->n_postings;
  }
  bl_free(d->ctx, f->keys);
  f->keys = NULL;
  f->n_keys = f->cap_keys = 0;
  return BL_OK;
}

bl_status bl_deletes_load(bl_deletes *d, bl_error *err) {
  BL_TRY(bl_parallel(d->ctx, d->n_equality_files, load_file, d, err));
  for (size_t i = 0; i < d->n_equality_files; i++) BL_TRY(insert_keys(d, i, err));
  return BL_OK;
}

void bl_equality_dispose(bl_deletes *d) {
  for (size_t i = 0; i < d->n_equality_files; i++) bl_free(d->ctx, d->equality_files[i].keys);
  for (size_t i = 0; i < d->n_ids; i++) {
    bl_equality_ids *q = &d->ids[i];
    bl_aschema_release(&q->schema);
    bl_free(d->ctx, q->slots);
    bl_free(d->ctx, q->postings);
    bl_arena_free(q->arena);
  }
  bl_free(d->ctx, d->equality_files);
  bl_free(d->ctx, d->ids);
}

/* ---- looking up ---- */

static bl_status drop_rows(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                           bl_error *err) {
  key_reading *r = user;
  (void)positions;
  bl_status st = bl_view_set(r->view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    key_of(r->q, r->view, i, &r->buf);
    if (r->buf.failed) st = bl_buf_ok(&r->buf, err);
    if (st != BL_OK) break;
    const key_slot *s = find_slot(r->q, bl_key_hash(r->buf.p, r->buf.n, r->d->seed));
    for (uint32_t at = s ? s->first : 0; at; at = r->q->postings[at - 1].next)
      for (size_t side = 0; side < r->n_sides; side++)
        if (r->applies[side][r->q->postings[at - 1].file]) r->keep[side][first - r->group_first + i] = 0;
  }
  batch->release(batch);
  return st;
}

static bl_status look_up(bl_deletes *d, const bl_open_file *f, size_t ids, const uint8_t *const *applies,
                         uint8_t *const *keep, size_t n_sides, size_t group, bl_error *err) {
  const bl_equality_ids *q = &d->ids[ids];
  bl_projection *p = NULL;
  key_reading r;
  bl_status st = key_reading_init(&r, d, q, err);
  if (st != BL_OK) goto done;
  r.applies = applies;
  r.keep = keep;
  r.n_sides = n_sides;
  r.group_first = f->meta->groups[group].first_row;
  BL_GO(bl_open_file_project(f, &q->columns.wanted, &p, err));
  BL_GO(bl_open_file_read(f, p, group, NULL, 0, drop_rows, &r, err));
done:
  bl_projection_free(p);
  key_reading_dispose(&r);
  return st;
}

static bl_status mark(bl_deletes *d, const bl_file_deletes *fd, uint8_t *applies, uint8_t *ids, bl_error *err) {
  for (size_t i = 0; i < fd->n_equality; i++) {
    const size_t *at = bl_map_get(d->equality_by_path, fd->equality[i]->file.path);
    if (!at) return bl_fail(err, BL_USAGE, "equality delete: %s: was not loaded", fd->equality[i]->file.path.p);
    applies[*at] = 1;
    ids[d->equality_files[*at].ids] = 1;
  }
  return BL_OK;
}

bl_status bl_deletes_equality(bl_deletes *d, const bl_open_file *f, const bl_file_deletes *const *fd,
                              uint8_t *const *keep, size_t n_sides, size_t group, bl_error *err) {
  if (d->n_equality_files == 0) return BL_OK;
  size_t n = d->n_equality_files;
  uint8_t *flags = bl_calloc(d->ctx, n_sides * n + d->n_ids, 1);
  const uint8_t **applies = bl_calloc(d->ctx, n_sides, sizeof *applies);
  uint8_t *ids = flags ? flags + n_sides * n : NULL;
  bl_status st = flags && applies ? BL_OK : bl_nomem(err);
  for (size_t s = 0; st == BL_OK && s < n_sides; s++) {
    applies[s] = flags + s * n;
    if (fd[s]) st = mark(d, fd[s], flags + s * n, ids, err);
  }
  for (size_t i = 0; st == BL_OK && i < d->n_ids; i++)
    if (ids[i]) st = look_up(d, f, i, applies, keep, n_sides, group, err);
  bl_free(d->ctx, flags);
  bl_free(d->ctx, applies);
  return st;
}

/* vectors.c: the delete manifests of a snapshot: deletion vectors that come, and delete files that go (W7).
 *
 * 1. A data file that goes takes along the vector and the position deletes that name it, and nothing else: blobs of
 *    other files in the same Puffin file stay.
 * 2. A new vector holds everything that was deleted from its file before: what applied goes, except position deletes
 *    that name several files: those go when every file they name has a vector or is no longer live.
 * 3. All vectors of a commit are in one Puffin file, which later attempts use again while what it absorbed is the same.
 */
#include "scan/deletes.h"
#include "scan/typed_specs.h"
#include "write/attempt.h"
#include "write/locations.h"

/* One delete manifest of the base, read. */
typedef struct delete_manifest {
  const bl_manifest_file *m;
  bl_manifest_entry *entries;
  bool *goes;
  bool any;
  size_t n;
} delete_manifest;

/* The vector of one data file in an attempt. */
typedef struct united {
  const bl_staged_vector *staged;
  bl_file_deletes applies;
  bl_posset *all;
  bool new_rows; /* something is deleted that was not before */
} united;

/* The Puffin file of the last attempt that wrote one. */
struct bl_vectors {
  uint64_t absorbed; /* hash of what was there before */
  bl_made **made;
  size_t n_made;
  const bl_manifest_entry **entries;
  size_t n;
};

typedef struct deleting {
  bl_attempt *at;
  delete_manifest *manifests;
  size_t n;
  bl_map *removed;     /* path keys of data files that go */
  bl_map *with_vector; /* path keys of data files that have a vector, or get one */
  bl_map *live;        /* path keys of live data files; NULL until it is needed */
  bl_imap *absorbed;   /* entries whose deletes are in a new vector, by their address */
  bl_delete_index *index;
  bl_reading reading;
  bool has_reading;
  bl_deletes *deletes;
  united *vectors;
  size_t n_vectors;
} deleting;

static bl_status put_path(bl_map *m, bl_str path, bl_error *err) {
  return bl_map_put(m, bl_path_key(path), 0, NULL) ? BL_OK : bl_nomem(err);
}

/* ---- what is there ---- */

static bl_status read_manifests(deleting *d, bl_error *err) {
  bl_attempt *at = d->at;
  d->manifests = bl_arena_calloc(at->arena, at->n_manifests, sizeof *d->manifests);
  if (!d->manifests) return bl_nomem(err);
  for (size_t i = 0; i < at->n_manifests; i++) {
    if (at->manifests[i].content != BL_MANIFEST_DELETES) continue;
    delete_manifest *m = &d->manifests[d->n++];
    m->m = &at->manifests[i];
    BL_TRY(bl_table_manifest_entries(at->base, m->m, true, at->arena, &m->entries, &m->n, err));
    m->goes = bl_arena_calloc(at->arena, m->n + 1, sizeof *m->goes);
    if (!m->goes) return bl_nomem(err);
  }
  return BL_OK;
}

static bl_status note_removed(deleting *d, bl_error *err) {
  const bl_staged *s = d->at->c->s;
  for (size_t i = 0; i < s->n_removed; i++) BL_TRY(put_path(d->removed, s->removed[i]->file.path, err));
  return BL_OK;
}

static bl_status index_entries(deleting *d, bl_error *err) {
  BL_TRY(bl_delete_index_new(d->at->c->ctx, d->at->base->metadata, &d->index, err));
  for (size_t i = 0; i < d->n; i++)
    for (size_t k = 0; k < d->manifests[i].n; k++) {
      const bl_manifest_entry *e = &d->manifests[i].entries[k];
      if (e->status == BL_DELETED) continue;
      BL_TRY(bl_delete_index_add(d->index, e, err)); /* two vectors of one file: damaged */
      if (e->file.format == BL_FORMAT_PUFFIN) BL_TRY(put_path(d->with_vector, bl_delete_target(&e->file), err));
    }
  return bl_delete_index_seal(d->index, err);
}

/* ---- what comes ---- */

static bl_status note_absorbed(deleting *d, const bl_manifest_entry *e, bl_error *err) {
  return !e || bl_imap_put(d->absorbed, (int64_t)(intptr_t)e, 0, NULL) ? BL_OK : bl_nomem(err);
}

static bl_status note_united(deleting *d, const united *u, bl_error *err) {
  if (!u->new_rows) return BL_OK;
  BL_TRY(put_path(d->with_vector, u->staged->data->file.path, err));
  BL_TRY(note_absorbed(d, u->applies.vector, err));
  for (size_t i = 0; i < u->applies.n_position; i++) BL_TRY(note_absorbed(d, u->applies.position[i], err));
  return BL_OK;
}

static bl_status unite_vector(deleting *d, united *u, bl_error *err) {
  bl_posset *before = NULL;
  const bl_staged_vector *v = u->staged;
  bl_status st;
  BL_GO(bl_delete_index_for(d->index, d->at->arena, v->data, &u->applies, err));
  BL_GO(bl_deletes_positions(d->deletes, &v->data->file, &u->applies, &before, err));
  BL_GO(bl_posset_copy(d->at->c->ctx, v->added, &u->all, err));
  if (before) BL_GO(bl_posset_or(u->all, before, err));
  u->new_rows = bl_posset_count(u->all) > (before ? bl_posset_count(before) : 0);
  st = note_united(d, u, err);
done:
  bl_posset_free(before);
  return st;
}

static bl_status read_live(deleting *d, bl_error *err) {
  bl_attempt *at = d->at;
  BL_TRY(bl_map_new(at->c->ctx, &d->live, err));
  for (size_t i = 0; i < at->n_manifests; i++) {
    bl_manifest_entry *es;
    size_t n;
    if (at->manifests[i].content != BL_MANIFEST_DATA || !bl_manifest_may_live(&at->manifests[i])) continue;
    BL_TRY(bl_table_manifest_entries(at->base, &at->manifests[i], false, at->arena, &es, &n, err));
    for (size_t k = 0; k < n; k++)
      if (es[k].status != BL_DELETED) BL_TRY(put_path(d->live, es[k].file.path, err));
  }
  return BL_OK;
}

/* A document may name a file that never was the table's; others come from a plan of the base. */
static bl_status check_live(deleting *d, const bl_staged *s, bl_error *err) {
  if (!s->n_ids) return BL_OK;
  BL_TRY(read_live(d, err));
  for (size_t i = 0; i < s->n_vectors; i++)
    if (!bl_map_get(d->live, bl_path_key(s->vectors[i].data->file.path)))
      return bl_fail(err, BL_CONFLICT, "a file that the change deletes rows of is not in the table: %s",
                     s->vectors[i].data->file.path.p);
  return BL_OK;
}

static bl_status unite_vectors(deleting *d, bl_error *err) {
  bl_attempt *at = d->at;
  const bl_staged *s = at->c->s;
  BL_TRY(check_live(d, s, err));
  BL_TRY(bl_reading_init(&d->reading, at->base, err));
  d->has_reading = true;
  BL_TRY(bl_deletes_new(&d->reading, &d->deletes, err));
  d->vectors = bl_arena_calloc(at->arena, s->n_vectors, sizeof *d->vectors);
  if (!d->vectors) return bl_nomem(err);
  for (size_t i = 0; i < s->n_vectors; i++) {
    if (bl_map_get(d->removed, bl_path_key(s->vectors[i].data->file.path)))
      return bl_fail(err, BL_USAGE, "%s: a file that goes cannot have a vector", s->vectors[i].data->file.path.p);
    d->vectors[d->n_vectors].staged = &s->vectors[i];
    BL_TRY(unite_vector(d, &d->vectors[d->n_vectors++], err));
  }
  return BL_OK;
}

/* What the vectors absorb: the same hash, the same Puffin file. */
static bl_status hash_absorbed(const deleting *d, uint64_t *out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, d->at->c->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < d->n_vectors; i++) {
    const bl_file_deletes *a = &d->vectors[i].applies;
    if (a->vector) {
      bl_buf_str(&b, a->vector->file.path);
      bl_buf_printf(&b, "@%lld", (long long)a->vector->file.content_offset);
    }
    for (size_t k = 0; k < a->n_position; k++) bl_buf_str(&b, a->position[k]->file.path);
    bl_buf_byte(&b, '\n');
  }
  bl_status st = bl_buf_ok(&b, err);
  *out = bl_hash(b.p, b.n);
  bl_buf_free(&b);
  return st;
}

static bl_status vector_entry(bl_committing *c, const united *u, bl_str path, int64_t offset, int64_t length,
                              bl_manifest_entry **out, bl_error *err) {
  const bl_data_file *data = &u->staged->data->file;
  bl_manifest_entry *e = *out = bl_arena_calloc(c->arena, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  *e = (bl_manifest_entry){.status = BL_ADDED,
                           .snapshot_id = c->snapshot_id,
                           .sequence_number = BL_NONE,
                           .file_sequence_number = BL_NONE,
                           .stored_first_row_id = BL_NONE};
  e->file = (bl_data_file){.content = BL_FILE_POSITION_DELETES,
                           .format = BL_FORMAT_PUFFIN,
                           .path = path,
                           .spec_id = data->spec_id,
                           .partition = data->partition,
                           .n_partition = data->n_partition,
                           .record_count = bl_posset_count(u->all),
                           .sort_order_id = -1,
                           .first_row_id = BL_NONE,
                           .referenced_data_file = data->path,
                           .content_offset = offset,
                           .content_size = length};
  return BL_OK;
}

static bl_status fill_puffin(deleting *d, bl_vectors *v, bl_str path, bl_buf *bytes, bl_error *err) {
  bl_committing *c = d->at->c;
  bl_puffin_writer *w = NULL;
  bl_status st;
  v->entries = bl_arena_alloc(c->arena, d->n_vectors, sizeof *v->entries);
  if (!v->entries) return bl_nomem(err);
  BL_GO(bl_puffin_writer_new(c->ctx, &w, err));
  for (size_t i = 0; i < d->n_vectors; i++) {
    int64_t offset, length;
    bl_manifest_entry *e;
    if (!d->vectors[i].new_rows) continue;
    BL_GO(bl_puffin_writer_add_dv(w, d->vectors[i].all, d->vectors[i].staged->data->file.path, &offset, &length, err));
    BL_GO(vector_entry(c, &d->vectors[i], path, offset, length, &e, err));
    v->entries[v->n++] = e;
  }
  BL_GO(bl_puffin_writer_finish(w, bytes, err));
  for (size_t i = 0; i < v->n; i++) ((bl_manifest_entry *)v->entries[i])->file.file_size = (int64_t)bytes->n;
done:
  bl_puffin_writer_free(w);
  return st;
}

static bl_status new_path(deleting *d, bl_str *out, bl_error *err) {
  bl_committing *c = d->at->c;
  bl_uuid_text uuid = bl_new_uuid(c->ctx);
  bl_locations l;
  bl_buf b;
  BL_TRY(bl_locations_of(c->arena, d->at->base->metadata, &l, err));
  bl_str name = bl_arena_printf(c->arena, "%s-deletes.puffin", uuid.s);
  if (!name.p) return bl_nomem(err);
  bl_buf_init(&b, c->ctx, BL_BUF_MAX);
  bl_location_print(&b, &l, BL_STR_NONE, name);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK) *out = bl_arena_str(c->arena, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  return st == BL_OK && !out->p ? bl_nomem(err) : st;
}

static bl_status write_puffin(deleting *d, bl_vectors *v, bl_error *err) {
  bl_committing *c = d->at->c;
  bl_buf bytes;
  bl_str path = BL_STR_NONE;
  bl_status st;
  bl_buf_init(&bytes, c->ctx, BL_BUF_MAX);
  BL_GO(new_path(d, &path, err));
  BL_GO(fill_puffin(d, v, path, &bytes, err));
  BL_GO(bl_committing_write(d->at, path, &bytes, err));
  st = bl_made_added(d->at, BL_MANIFEST_DELETES, v->entries, v->n, &v->made, &v->n_made, err);
done:
  bl_buf_free(&bytes);
  return st;
}

/* 3. */
static bl_status add_vectors(deleting *d, bl_error *err) {
  bl_attempt *at = d->at;
  bl_committing *c = at->c;
  uint64_t absorbed;
  size_t n = 0;
  for (size_t i = 0; i < d->n_vectors; i++) n += d->vectors[i].new_rows;
  if (n == 0) return BL_OK;
  BL_TRY(hash_absorbed(d, &absorbed, err));
  if (!c->vectors || c->vectors->absorbed != absorbed || c->vectors->n != n) {
    bl_vectors *v = bl_arena_calloc(c->arena, 1, sizeof *v);
    if (!v) return bl_nomem(err);
    v->absorbed = absorbed;
    BL_TRY(write_puffin(d, v, err));
    c->vectors = v;
  }
  bl_committing_use(c, c->vectors->entries[0]->file.path);
  for (size_t i = 0; i < n; i++) BL_TRY(bl_count_file(at, &c->vectors->entries[i]->file, true, err));
  for (size_t i = 0; i < c->vectors->n_made; i++)
    BL_TRY(bl_lines_add(at, &at->deletes, &c->vectors->made[i]->file, c->vectors->made[i], err));
  return BL_OK;
}

/* ---- what goes ---- */

typedef struct needed {
  deleting *d;
  bool yes;
} needed;

static bl_status visit_target(void *user, bl_str path, bl_error *err) {
  needed *x = user;
  deleting *d = x->d;
  if (x->yes || bl_map_get(d->with_vector, path) || bl_map_get(d->removed, path)) return BL_OK;
  if (!d->live) BL_TRY(read_live(d, err));
  if (bl_map_get(d->live, path)) x->yes = true;
  return BL_OK;
}

static bl_status entry_goes(deleting *d, const bl_manifest_entry *e, bool *goes, bl_error *err) {
  bl_str target = e->file.content == BL_FILE_POSITION_DELETES ? bl_delete_target(&e->file) : BL_STR_NONE;
  *goes = target.p && bl_map_get(d->removed, bl_path_key(target)); /* 1. */
  if (*goes || !bl_imap_get(d->absorbed, (int64_t)(intptr_t)e)) return BL_OK;
  *goes = target.p != NULL; /* 2. */
  if (*goes) return BL_OK;
  needed x = {d, false};
  BL_TRY(bl_deletes_targets(d->deletes, e, visit_target, &x, err));
  *goes = !x.yes;
  return BL_OK;
}

static bl_status filter_manifest(deleting *d, delete_manifest *m, bl_error *err) {
  for (size_t i = 0; i < m->n; i++) {
    if (m->entries[i].status == BL_DELETED) continue;
    BL_TRY(entry_goes(d, &m->entries[i], &m->goes[i], err));
    if (!m->goes[i]) continue;
    m->any = true;
    BL_TRY(bl_count_file(d->at, &m->entries[i].file, false, err));
  }
  if (!m->any) return bl_lines_add(d->at, &d->at->deletes, m->m, NULL, err);
  return bl_manifest_without(d->at, &d->at->deletes, m->m, m->goes, m->n, err);
}

/* ---- all of it ---- */

static void deleting_dispose(deleting *d) {
  for (size_t i = 0; i < d->n_vectors; i++) bl_posset_free(d->vectors[i].all);
  bl_deletes_free(d->deletes);
  if (d->has_reading) bl_reading_dispose(&d->reading);
  bl_delete_index_free(d->index);
  bl_map_free(d->removed);
  bl_map_free(d->with_vector);
  bl_map_free(d->live);
  bl_imap_free(d->absorbed);
}

static bl_status change_deletes(deleting *d, bl_error *err) {
  bl_attempt *at = d->at;
  BL_TRY(bl_map_new(at->c->ctx, &d->removed, err));
  BL_TRY(bl_map_new(at->c->ctx, &d->with_vector, err));
  BL_TRY(bl_imap_new(at->c->ctx, &d->absorbed, err));
  BL_TRY(read_manifests(d, err));
  BL_TRY(note_removed(d, err));
  BL_TRY(index_entries(d, err));
  if (at->c->s->n_vectors) BL_TRY(unite_vectors(d, err));
  BL_TRY(add_vectors(d, err));
  for (size_t i = 0; i < d->n; i++) BL_TRY(filter_manifest(d, &d->manifests[i], err));
  return BL_OK;
}

static bl_status keep_all(bl_attempt *at, bl_error *err) {
  for (size_t i = 0; i < at->n_manifests; i++)
    if (at->manifests[i].content == BL_MANIFEST_DELETES)
      BL_TRY(bl_lines_add(at, &at->deletes, &at->manifests[i], NULL, err));
  return BL_OK;
}

bl_status bl_attempt_deletes(bl_attempt *at, bl_error *err) {
  const bl_staged *s = at->c->s;
  if (!s->n_vectors && !s->n_removed) return keep_all(at, err);
  if (s->n_vectors && at->base->metadata->format_version < 3)
    return bl_fail(err, BL_UNSUPPORTED,
                   "merge-on-read needs format version 3, %s has version %d: use --mode copy-on-write, or have another "
                   "engine upgrade the table",
                   at->base->name, at->base->metadata->format_version);
  deleting d = {.at = at};
  bl_status st = change_deletes(&d, err);
  deleting_dispose(&d);
  return st;
}

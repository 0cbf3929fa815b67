/* purge.c: see purge.h.
 *
 * 1. Names lie in temporary files, and the last of them in memory: what is held does not grow with the table. A name
 *    may be there twice; to remove a file twice does no harm.
 * 2. Data and delete files go first, then manifests, lists, statistics, old metadata, and the metadata last: as long as
 *    a file is there, so is what names it.
 * 3. A file that cannot be removed is told, and ends the part that it is in; with the first part the second stays. Who
 *    purges the table again, by its metadata file, begins where this one ended. */
#include "write/purge.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/temp.h"
#include "table/io.h"
#include "table/manifests.h"

enum { FILES, METADATA, N_PARTS, MOST_SEEN = 20000, CHUNK = 1 << 16, MOST_WARNINGS = 20 };

/* Names that were seen: the last ones. */
typedef struct seen {
  bl_arena *a;
  bl_map *m;
} seen;

typedef struct part {
  int fd; /* -1: none */
  int64_t end;
  bl_buf tail; /* what is not written yet; each name with a NUL behind it */
} part;

struct bl_purge {
  bl_table *t;
  bool only_outside;
  part parts[N_PARTS];
  seen names, manifests;
  int64_t missing, staying;
  bl_buf folder; /* of the file that was removed last */
};

/* ---- what was seen ---- */

static void forget(seen *s) {
  bl_map_free(s->m);
  bl_arena_free(s->a);
  *s = (seen){0};
}

static bl_status see(bl_ctx *ctx, seen *s, bl_str name, bool *is_new, bl_error *err) {
  if (s->m && bl_map_count(s->m) >= MOST_SEEN) forget(s);
  if (!s->a) BL_TRY(bl_arena_new(ctx, &s->a, err));
  if (!s->m) BL_TRY(bl_map_new(ctx, &s->m, err));
  *is_new = !bl_map_get(s->m, name);
  if (!*is_new) return BL_OK;
  bl_str copy = bl_arena_str(s->a, name);
  return copy.p && bl_map_put(s->m, copy, 0, NULL) ? BL_OK : bl_nomem(err);
}

/* ---- writing down ---- */

static bool is_inside(const bl_purge *p, bl_str path) {
  bl_str top = p->t->metadata->location;
  return path.n > top.n && bl_str_starts(path, top) && path.p[top.n] == '/';
}

static bl_status flush(bl_purge *p, part *to, bl_error *err) {
  bl_ctx *ctx = p->t->ctx;
  BL_TRY(bl_buf_ok(&to->tail, err));
  if (to->fd < 0) BL_TRY(bl_temp_open(ctx, &to->fd, err));
  BL_TRY(bl_temp_write(ctx, to->fd, to->end, to->tail.p, to->tail.n, err));
  to->end += (int64_t)to->tail.n;
  bl_buf_clear(&to->tail);
  return BL_OK;
}

static bl_status put(bl_purge *p, int which, bl_str path, bl_error *err) {
  part *to = &p->parts[which];
  bool is_new;
  if (!path.p || memchr(path.p, 0, path.n) || (p->only_outside && is_inside(p, path))) return BL_OK;
  BL_TRY(see(p->t->ctx, &p->names, path, &is_new, err));
  if (!is_new) return BL_OK;
  bl_buf_add(&to->tail, path.p, path.n);
  bl_buf_byte(&to->tail, 0);
  return to->tail.n < CHUNK ? bl_buf_ok(&to->tail, err) : flush(p, to, err);
}

/* What was not read: gone, or told. BL_NOMEM is passed on. */
static bl_status unread(bl_purge *p, bl_str path, bl_status st, const bl_error *why, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  if (st == BL_NOT_FOUND) p->missing++;
  else bl_warn(p->t->ctx, "what %.*s names stays: %s", BL_STR_ARG(path), why->message);
  return BL_OK;
}

static bl_status put_entries(bl_purge *p, const bl_manifest_file *m, bl_arena *a, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_manifest_entry *es;
  size_t n;
  bl_status st = bl_table_manifest_entries(p->t, m, false, a, &es, &n, &why);
  if (st != BL_OK) return unread(p, m->path, st, &why, err);
  for (size_t i = 0; i < n; i++) BL_TRY(put(p, FILES, es[i].file.path, err));
  return BL_OK;
}

static bl_status put_manifest(bl_purge *p, const bl_manifest_file *m, bl_error *err) {
  bl_arena *a = NULL;
  bool is_new;
  BL_TRY(see(p->t->ctx, &p->manifests, m->path, &is_new, err));
  if (!is_new) return BL_OK;
  BL_TRY(bl_arena_new(p->t->ctx, &a, err));
  bl_status st = put_entries(p, m, a, err);
  bl_arena_free(a);
  return st == BL_OK ? put(p, METADATA, m->path, err) : st;
}

static bl_status put_manifests(bl_purge *p, const bl_snapshot *s, bl_arena *a, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_manifest_file *ms;
  size_t n;
  bl_status st = bl_table_manifests(p->t, s, a, &ms, &n, &why);
  if (st != BL_OK) return unread(p, s->manifest_list.p ? s->manifest_list : BL_STR("a snapshot"), st, &why, err);
  for (size_t i = 0; i < n; i++) BL_TRY(put_manifest(p, &ms[i], err));
  return BL_OK;
}

static bl_status put_snapshot(bl_purge *p, const bl_snapshot *s, bl_error *err) {
  bl_arena *a = NULL;
  BL_TRY(bl_arena_new(p->t->ctx, &a, err));
  bl_status st = put_manifests(p, s, a, err);
  bl_arena_free(a);
  return st;
}

/* 2. */
static bl_status write_down(bl_purge *p, bl_error *err) {
  const bl_metadata *md = p->t->metadata;
  for (size_t i = 0; i < md->n_snapshots; i++) BL_TRY(put_snapshot(p, &md->snapshots[i], err));
  for (size_t i = 0; i < md->n_snapshots; i++) BL_TRY(put(p, METADATA, md->snapshots[i].manifest_list, err));
  for (size_t i = 0; i < md->n_statistics; i++) BL_TRY(put(p, METADATA, md->statistics[i].path, err));
  for (size_t i = 0; i < md->n_partition_statistics; i++)
    BL_TRY(put(p, METADATA, md->partition_statistics[i].path, err));
  for (size_t i = 0; i < md->n_metadata_log; i++) BL_TRY(put(p, METADATA, md->metadata_log[i].file, err));
  BL_TRY(put(p, METADATA, bl_str_of(p->t->metadata_path), err));
  for (int i = 0; i < N_PARTS; i++) BL_TRY(flush(p, &p->parts[i], err));
  if (p->missing)
    bl_warn(p->t->ctx,
            "%lld manifests or lists are gone, as after a purge that was cut short: what only they name stays",
            (long long)p->missing);
  return BL_OK;
}

bl_status bl_purge_new(bl_table *t, bool only_outside, bl_purge **out, bl_error *err) {
  *out = NULL;
  bl_purge *p = bl_calloc(t->ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  *p = (bl_purge){.t = t, .only_outside = only_outside};
  bl_buf_init(&p->folder, t->ctx, BL_BUF_MAX);
  for (int i = 0; i < N_PARTS; i++) {
    p->parts[i].fd = -1;
    bl_buf_init(&p->parts[i].tail, t->ctx, BL_BUF_MAX);
  }
  bl_status st = write_down(p, err);
  forget(&p->names);
  forget(&p->manifests);
  if (st == BL_OK) *out = p;
  else bl_purge_free(p);
  return st;
}

void bl_purge_free(bl_purge *p) {
  if (!p) return;
  for (int i = 0; i < N_PARTS; i++) {
    if (p->parts[i].fd >= 0) close(p->parts[i].fd);
    bl_buf_free(&p->parts[i].tail);
  }
  forget(&p->names);
  forget(&p->manifests);
  bl_buf_free(&p->folder);
  bl_free(p->t->ctx, p);
}

/* ---- removing ---- */

/* The folder of the file that was removed last, where it is empty now, and those above it: inside the table's. */
static void remove_folders(bl_purge *p) {
  bl_io *io = p->t->io;
  bl_str top = p->t->metadata->location;
  if (p->folder.failed || p->folder.n == 0) return;
  char *path = (char *)p->folder.p;
  while (strlen(path) >= top.n) {
    bl_status st = io->remove(io, path, NULL);
    char *slash = strrchr(path, '/');
    if ((st != BL_OK && st != BL_NOT_FOUND) || !slash) return;
    *slash = 0;
  }
}

static void note_folder(bl_purge *p, bl_str path) {
  const char *slash = memrchr(path.p, '/', path.n);
  bl_str folder = {path.p, slash && is_inside(p, path) ? (size_t)(slash - path.p) : 0};
  if (p->folder.n == folder.n + 1 && memcmp(p->folder.p, folder.p, folder.n) == 0) return;
  remove_folders(p);
  bl_buf_clear(&p->folder);
  bl_buf_add(&p->folder, folder.p, folder.n);
  if (folder.n) bl_buf_byte(&p->folder, 0);
}

static void remove_file(bl_purge *p, bl_str path) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = p->t->io->remove(p->t->io, path.p, &why);
  if (st == BL_OK || st == BL_NOT_FOUND) note_folder(p, path);
  else if (p->staying++ < MOST_WARNINGS) bl_warn(p->t->ctx, "a file stays: %s", why.message);
}

/* The names that are whole; what is left is the beginning of the next. */
static void remove_names(bl_purge *p, bl_buf *b, bool last_part) {
  size_t at = 0;
  for (uint8_t *end; (end = memchr(b->p + at, 0, b->n - at)); at = (size_t)(end - b->p) + 1) {
    if (last_part && p->staying) return; /* 3. */
    remove_file(p, (bl_str){(const char *)b->p + at, (size_t)(end - b->p) - at});
  }
  memmove(b->p, b->p + at, b->n - at);
  b->n -= at;
}

static bl_status remove_part(bl_purge *p, int which, bl_error *err) {
  const part *from = &p->parts[which];
  bl_buf b;
  bl_status st = BL_OK;
  bl_buf_init(&b, p->t->ctx, BL_BUF_MAX);
  for (int64_t at = 0; at < from->end && st == BL_OK && !(which == METADATA && p->staying);) {
    size_t n = from->end - at < CHUNK ? (size_t)(from->end - at) : CHUNK;
    uint8_t *to = bl_buf_reserve(&b, n);
    st = to ? bl_temp_read(p->t->ctx, from->fd, at, to, n, err) : bl_nomem(err);
    if (st != BL_OK) break;
    b.n += n;
    at += (int64_t)n;
    remove_names(p, &b, which == METADATA);
  }
  bl_buf_free(&b);
  return st;
}

void bl_purge_run(bl_purge *p) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = BL_OK;
  for (int i = 0; i < N_PARTS && st == BL_OK && !p->staying; i++) st = remove_part(p, i, &why);
  remove_folders(p);
  if (st != BL_OK) bl_warn(p->t->ctx, "files of the table stay: %s", why.message);
  if (p->staying > MOST_WARNINGS) bl_warn(p->t->ctx, "%lld files stay", (long long)p->staying);
  if ((st != BL_OK || p->staying) && !p->only_outside)
    bl_warn(p->t->ctx, "the table's metadata stays, too: %s: registered under a name, the table can be purged again",
            p->t->metadata_path);
}

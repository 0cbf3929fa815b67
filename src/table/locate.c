/* locate.c: see locate.h. */
#include "table/locate.h"

#include <stdio.h>

#include "format/metadata_json.h"
#include "table/io.h"

/* A hint is one number; a file much larger than that is none. */
#define MAX_HINT 64

/* ---- names ---- */

static bool ends_with(bl_str s, bl_str end, bl_str *front) {
  if (!bl_str_ends(s, end)) return false;
  *front = (bl_str){s.p, s.n - end.n};
  return true;
}

/* Digits at the start of s; false where there are none or too many. */
static bool leading_number(bl_str s, int64_t *out, size_t *digits) {
  size_t n = 0;
  while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') n++;
  *digits = n;
  return n && bl_parse_i64((bl_str){s.p, n}, out);
}

bool bl_metadata_name_parse(bl_str name, bl_metadata_name *out) {
  bl_str s;
  size_t digits;
  *out = (bl_metadata_name){0};
  if (ends_with(name, BL_STR(".metadata.json.gz"), &s)) {
    out->gzip_name = true;
  } else {
    if (!ends_with(name, BL_STR(".metadata.json"), &s)) return false;
    out->gzip_name = ends_with(s, BL_STR(".gz"), &s) || ends_with(s, BL_STR(".gzip"), &s);
  }
  if (s.n && s.p[0] == 'v') {
    out->hadoop = true;
    s.p++, s.n--;
    return leading_number(s, &out->version, &digits) && digits == s.n;
  }
  return leading_number(s, &out->version, &digits) && digits + 1 < s.n && s.p[digits] == '-';
}

/* ---- by the hint ---- */

static char *join(bl_ctx *ctx, const char *folder, const char *name) {
  size_t n = strlen(folder);
  return bl_asprintf(ctx, "%s%smetadata/%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

/* The file of version v, in the order Java looks for them; out->path NULL where there is none. */
static bl_status find_version(bl_ctx *ctx, bl_io *io, const char *folder, int64_t v, bl_located *out, bl_error *err) {
  static const char *const endings[] = {".metadata.json", ".gz.metadata.json", ".metadata.json.gz",
                                        ".gzip.metadata.json"};
  out->path = NULL;
  for (size_t i = 0; i < BL_LEN(endings); i++) {
    char name[64];
    bool there = false;
    snprintf(name, sizeof name, "v%lld%s", (long long)v, endings[i]);
    char *path = join(ctx, folder, name);
    if (!path) return bl_nomem(err);
    bl_status st = io->exists(io, path, &there, err);
    if (st == BL_OK && there) {
      *out = (bl_located){path, {.version = v, .hadoop = true, .gzip_name = i > 0}};
      return BL_OK;
    }
    bl_free(ctx, path);
    BL_TRY(st);
  }
  return BL_OK;
}

static bool parse_hint(const bl_buf *b, int64_t *out) {
  const char *p = (const char *)b->p;
  size_t n = b->n;
  while (n && (p[n - 1] == '\n' || p[n - 1] == '\r' || p[n - 1] == ' ')) n--;
  return n && bl_parse_i64((bl_str){p, n}, out) && *out >= 0;
}

/* *v -1: no hint that can be used. */
static bl_status read_hint(bl_ctx *ctx, bl_io *io, const char *folder, int64_t *v, bl_error *err) {
  bl_error ignored = BL_ERROR_INIT;
  bl_buf text;
  *v = -1;
  char *path = join(ctx, folder, "version-hint.text");
  if (!path) return bl_nomem(err);
  bl_buf_init(&text, ctx, MAX_HINT);
  bl_status st = bl_io_read_all(io, path, MAX_HINT, &text, &ignored);
  if (st == BL_OK && !parse_hint(&text, v)) {
    *v = -1;
    bl_log(ctx, BL_LOG_INFO, "%s holds no version number: the folder is listed", path);
  }
  bl_buf_free(&text);
  bl_free(ctx, path);
  return st == BL_NOMEM ? bl_nomem(err) : BL_OK;
}

static bl_status locate_by_hint(bl_ctx *ctx, bl_io *io, const char *folder, bl_located *out, bl_error *err) {
  int64_t v;
  bl_located next;
  out->path = NULL;
  BL_TRY(read_hint(ctx, io, folder, &v, err));
  if (v < 0) return BL_OK;
  BL_TRY(find_version(ctx, io, folder, v, &next, err));
  while (next.path) {
    bl_free(ctx, out->path);
    *out = next;
    if (out->name.version == INT64_MAX) break;
    BL_TRY(find_version(ctx, io, folder, out->name.version + 1, &next, err));
  }
  return BL_OK;
}

/* ---- by listing ---- */

typedef struct candidates {
  bl_ctx *ctx;
  bl_located *items; /* all of the highest number so far */
  size_t n, cap;
} candidates;

static void drop_candidates(candidates *c) {
  for (size_t i = 0; i < c->n; i++) bl_free(c->ctx, c->items[i].path);
  c->n = 0;
}

static bl_status visit_file(void *user, const bl_file_info *f, bl_error *err) {
  candidates *c = user;
  bl_metadata_name name;
  const char *slash = strrchr(f->path, '/');
  if (f->is_folder || !bl_metadata_name_parse(bl_str_of(slash ? slash + 1 : f->path), &name)) return BL_OK;
  if (c->n && name.version < c->items[0].name.version) return BL_OK;
  if (c->n && name.version > c->items[0].name.version) drop_candidates(c);
  BL_TRY(bl_grow(c->ctx, &c->items, &c->cap, c->n, sizeof *c->items, err));
  char *path = bl_strdup(c->ctx, f->path);
  if (!path) return bl_nomem(err);
  c->items[c->n++] = (bl_located){path, name};
  return BL_OK;
}

/* last-updated-ms of a metadata file, -1 where it cannot be read. */
static bl_status last_updated(bl_ctx *ctx, bl_io *io, const char *path, int64_t *out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_buf raw, text;
  bl_arena *arena = NULL;
  bl_json *json = NULL;
  bl_status st;
  *out = -1;
  bl_buf_init(&raw, ctx, BL_BUF_MAX);
  bl_buf_init(&text, ctx, BL_BUF_MAX);
  BL_GO(bl_io_read_all(io, path, ctx->o.max_metadata_bytes, &raw, &why));
  BL_GO(bl_gunzip(ctx, raw.p, raw.n, (size_t)ctx->o.max_metadata_bytes, &text, &why));
  BL_GO(bl_arena_new(ctx, &arena, &why));
  BL_GO(bl_json_parse(arena, text.p, text.n, &json, &why));
  const bl_json *ms = json->kind == BL_J_OBJECT ? bl_json_get(json, "last-updated-ms") : NULL;
  if (ms && bl_json_i64(ms, out, &why) != BL_OK) *out = -1;
done:
  bl_arena_free(arena);
  bl_buf_free(&text);
  bl_buf_free(&raw);
  return st == BL_NOMEM ? bl_nomem(err) : BL_OK;
}

/* The latest of several files of one number (writers that raced without a lock). */
static bl_status pick_latest(bl_ctx *ctx, bl_io *io, const candidates *c, size_t *out, bl_error *err) {
  int64_t best = -1;
  *out = 0;
  for (size_t i = 0; c->n > 1 && i < c->n; i++) {
    int64_t ms;
    BL_TRY(last_updated(ctx, io, c->items[i].path, &ms, err));
    if (i > 0 && (ms < best || (ms == best && strcmp(c->items[i].path, c->items[*out].path) < 0))) continue;
    best = ms, *out = i;
  }
  return BL_OK;
}

static bl_status locate_by_listing(bl_ctx *ctx, bl_io *io, const char *folder, bl_located *out, bl_error *err) {
  candidates c = {.ctx = ctx};
  size_t best;
  bl_status st;
  char *metadata = join(ctx, folder, "");
  if (!metadata) return bl_nomem(err);
  metadata[strlen(metadata) - 1] = 0; /* the slash */
  BL_GO(io->list(io, metadata, visit_file, &c, err));
  BL_GO(pick_latest(ctx, io, &c, &best, err));
  if (c.n == 0) {
    st = bl_fail(err, BL_NOT_FOUND, "not a table: %s: no metadata file in %s", folder, metadata);
    goto done;
  }
  *out = c.items[best];
  c.items[best].path = NULL;
done:
  drop_candidates(&c);
  bl_free(ctx, c.items);
  bl_free(ctx, metadata);
  return st;
}

bl_status bl_locate_metadata(bl_ctx *ctx, bl_io *io, const char *folder, bl_located *out, bl_error *err) {
  *out = (bl_located){0};
  bl_status st = locate_by_hint(ctx, io, folder, out, err);
  if (st == BL_OK && !out->path) st = locate_by_listing(ctx, io, folder, out, err);
  if (st != BL_OK) {
    bl_free(ctx, out->path);
    out->path = NULL;
  }
  return st;
}

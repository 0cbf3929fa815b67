/* read_rows.c: bergline/input.h: which reader a file needs, several files as one stream, pipes. */
#include <unistd.h>

#include "base/temp.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "write/input.h"

/* ---- formats ---- */

bool bl_input_format_of(const char *name, bl_input_format *out) {
  static const char *const names[] = {"auto", "parquet", "arrow", "csv", "ndjson", "avro", "orc"};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (strcmp(name, names[i]) == 0) {
      *out = (bl_input_format)i;
      return true;
    }
  return false;
}

bl_str bl_input_name_unpacked(const char *name) {
  bl_str s = bl_str_of(name);
  if (s.n > 3 && bl_str_is_nocase((bl_str){s.p + s.n - 3, 3}, ".gz")) s.n -= 3;
  return s;
}

bl_input_format bl_input_by_ending(const char *name) {
  static const struct {
    const char *ending;
    bl_input_format format;
  } endings[] = {{"parquet", BL_INPUT_PARQUET}, {"arrow", BL_INPUT_ARROW},   {"arrows", BL_INPUT_ARROW},
                 {"ipc", BL_INPUT_ARROW},       {"feather", BL_INPUT_ARROW}, {"csv", BL_INPUT_CSV},
                 {"ndjson", BL_INPUT_NDJSON},   {"jsonl", BL_INPUT_NDJSON},  {"json", BL_INPUT_NDJSON},
                 {"avro", BL_INPUT_AVRO},       {"orc", BL_INPUT_ORC}};
  bl_str s = name ? bl_input_name_unpacked(name) : BL_STR_NONE;
  size_t dot = s.n;
  while (dot > 0 && s.p[dot - 1] != '.' && s.p[dot - 1] != '/') dot--;
  if (dot == 0 || s.p[dot - 1] != '.') return BL_INPUT_AUTO;
  for (size_t i = 0; i < BL_LEN(endings); i++)
    if (bl_str_is_nocase((bl_str){s.p + dot, s.n - dot}, endings[i].ending)) return endings[i].format;
  return BL_INPUT_AUTO;
}

bl_status bl_input_by_bytes(bl_input *in, bl_input_format *out, bl_error *err) {
  char p[64] = {0};
  size_t n = in->size < (int64_t)sizeof p ? (size_t)in->size : sizeof p;
  BL_TRY(in->read_at(in, 0, p, n, err));
  size_t i = 0;
  while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) i++;
  if (n >= 4 && memcmp(p, "PAR1", 4) == 0) *out = BL_INPUT_PARQUET;
  else if (n >= 4 && (memcmp(p, "ARRO", 4) == 0 || memcmp(p, "\xff\xff\xff\xff", 4) == 0)) *out = BL_INPUT_ARROW;
  else if (n >= 4 && memcmp(p, "Obj\1", 4) == 0) *out = BL_INPUT_AVRO;
  else if (n >= 3 && memcmp(p, "ORC", 3) == 0) *out = BL_INPUT_ORC;
  else if (n == 0 || p[i] == '{') *out = BL_INPUT_NDJSON;
  else *out = BL_INPUT_CSV;
  return BL_OK;
}

static bl_status data_file(bl_table *t, bl_file_format f, bl_input *in, const char *name, struct ArrowArrayStream *out,
                           bl_error *err) {
  const bl_data_format *format;
  BL_TRY(bl_table_data_format(t, f, &format, err));
  return bl_read_data_file(t->ctx, format, in, name, out, err);
}

/* Rows of Arrow IPC, whose errors name the file. */
typedef struct arrow_rows {
  bl_ctx *ctx;
  char *name;
  struct ArrowArrayStream rows;
} arrow_rows;

static bl_status name_file(bl_status st, const char *name, const bl_error *e, bl_error *err) {
  return st == BL_NOMEM ? bl_nomem(err) : bl_fail_at(err, st, e->position, "%s: %s", name, e->message);
}

static bl_status arrow_next(void *user, struct ArrowArray *out, bl_error *err) {
  arrow_rows *r = user;
  bl_error e = BL_ERROR_INIT;
  bl_status st = bl_stream_next(&r->rows, out, &e);
  return st == BL_OK ? BL_OK : name_file(st, r->name, &e, err);
}

static void arrow_free(void *user) {
  arrow_rows *r = user;
  bl_stream_release(&r->rows);
  bl_free(r->ctx, r->name);
  bl_free(r->ctx, r);
}

static bl_status arrow_open(arrow_rows *r, bl_input *in, const char *name, struct ArrowSchema *schema, bl_error *err) {
  r->name = bl_strdup(r->ctx, name);
  if (!r->name) return bl_nomem(err);
  BL_TRY(bl_arrow_init(err));
  BL_TRY(bl_arrow_ipc_reader(r->ctx, in, &r->rows, err));
  return bl_stream_schema(&r->rows, schema, err);
}

static bl_status arrow_file(bl_table *t, bl_input *in, const char *name, struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema schema = {0};
  bl_error e = BL_ERROR_INIT;
  arrow_rows *r = bl_calloc(t->ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  r->ctx = t->ctx;
  bl_status st = arrow_open(r, in, name, &schema, &e);
  bl_stream_source src = {.next = arrow_next, .dispose = arrow_free, .user = r};
  if (st == BL_OK) return bl_stream_make(t->ctx, &src, &schema, out, err);
  arrow_free(r);
  return name_file(st, name, &e, err);
}

bl_status bl_read_rows(bl_table *t, bl_input *in, const char *name, const bl_read_options *o,
                       struct ArrowArrayStream *out, bl_error *err) {
  const bl_schema *schema = bl_metadata_current_schema(t->metadata);
  bl_input_format f = o ? o->format : BL_INPUT_AUTO;
  bool extra = o && o->extra_columns;
  out->release = NULL;
  if (f == BL_INPUT_AUTO) f = bl_input_by_ending(name);
  if (f == BL_INPUT_AUTO) BL_TRY(bl_input_by_bytes(in, &f, err));
  if (!name) name = "input";
  switch (f) {
  case BL_INPUT_PARQUET: return data_file(t, BL_FORMAT_PARQUET, in, name, out, err);
  case BL_INPUT_AVRO: return data_file(t, BL_FORMAT_AVRO, in, name, out, err);
  case BL_INPUT_ORC: return data_file(t, BL_FORMAT_ORC, in, name, out, err);
  case BL_INPUT_ARROW: return arrow_file(t, in, name, out, err);
  case BL_INPUT_CSV: return bl_read_csv(t->ctx, schema, in, name, extra, out, err);
  default: return bl_read_ndjson(t->ctx, schema, in, name, extra, out, err);
  }
}

/* ---- files one after the other ---- */

typedef struct files {
  bl_table *t;
  bl_arena *arena;
  bl_io *io;
  bl_drivers own; /* zeroed: io is the caller's */
  const char **paths;
  size_t n, next;
  bl_read_options options;
  bl_input *input; /* of the file in hand */
  struct ArrowArrayStream rows;
} files;

static void close_file(files *f) {
  bl_stream_release(&f->rows);
  f->rows.release = NULL;
  if (f->input) f->input->close(f->input);
  f->input = NULL;
}

static void files_free(void *user) {
  files *f = user;
  bl_ctx *ctx = f->t->ctx;
  close_file(f);
  bl_drivers_dispose(&f->own);
  bl_arena_free(f->arena);
  bl_free(ctx, f);
}

static bl_status open_file(files *f, bl_error *err) {
  const char *path = f->paths[f->next++], *name = strcmp(path, "-") == 0 ? "standard input" : path;
  struct ArrowArrayStream raw = {0};
  BL_TRY(f->io->open_input(f->io, path, &f->input, err));
  BL_TRY(bl_read_rows(f->t, f->input, name, &f->options, &raw, err));
  bl_conform_options o = {.name = name, .keep_unknown = false};
  return bl_conform_with(f->t->ctx, bl_metadata_current_schema(f->t->metadata), &o, &raw, &f->rows, err);
}

static bl_status files_next(void *user, struct ArrowArray *out, bl_error *err) {
  files *f = user;
  out->release = NULL;
  for (;;) {
    if (!f->rows.release) {
      if (f->next == f->n) return BL_OK;
      BL_TRY(open_file(f, err));
    }
    BL_TRY(bl_stream_next(&f->rows, out, err));
    if (out->release) return BL_OK;
    close_file(f);
  }
}

static bl_status files_open(files *f, bl_io *io, const char *const *paths, size_t n, bl_error *err) {
  BL_TRY(bl_arena_new(f->t->ctx, &f->arena, err));
  if (!io) BL_TRY(bl_drivers_default(f->t->ctx, &f->own, err));
  f->io = io ? io : f->own.io;
  f->paths = bl_arena_alloc(f->arena, n, sizeof *f->paths);
  if (!f->paths) return bl_nomem(err);
  for (; f->n < n; f->n++)
    if (!(f->paths[f->n] = bl_arena_str(f->arena, bl_str_of(paths[f->n])).p)) return bl_nomem(err);
  return BL_OK;
}

bl_status bl_read_files(bl_table *t, bl_io *io, const char *const *paths, size_t n, const bl_read_options *o,
                        struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema schema = {0};
  out->release = NULL;
  files *f = bl_calloc(t->ctx, 1, sizeof *f);
  if (!f) return bl_nomem(err);
  f->t = t;
  if (o) f->options = *o;
  f->options.extra_columns = false;
  bl_status st = files_open(f, io, paths, n, err);
  if (st == BL_OK && n > 0) st = open_file(f, err); /* what is wrong with the first is told at once */
  const bl_schema *s = bl_metadata_current_schema(t->metadata);
  if (st == BL_OK) st = bl_aschema_of_struct(t->ctx, &s->root, &schema, err);
  if (st != BL_OK) {
    files_free(f);
    return st;
  }
  bl_stream_source src = {.next = files_next, .dispose = files_free, .user = f};
  return bl_stream_make(t->ctx, &src, &schema, out, err);
}

/* ---- a local file ---- */

typedef struct opened {
  bl_input in;
  bl_ctx *ctx;
  bl_drivers drivers;
  bl_input *file;
} opened;

static bl_status opened_read(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  opened *o = (opened *)in;
  return o->file->read_at(o->file, offset, out, n, err);
}

static void opened_close(bl_input *in) {
  opened *o = (opened *)in;
  bl_ctx *ctx = o->ctx;
  bl_input_close(o->file);
  bl_drivers_dispose(&o->drivers);
  bl_free(ctx, o);
}

bl_status bl_input_open(bl_ctx *ctx, const char *path, bl_input **out, bl_error *err) {
  *out = NULL;
  opened *o = bl_calloc(ctx, 1, sizeof *o);
  if (!o) return bl_nomem(err);
  *o = (opened){.in = {.read_at = opened_read, .close = opened_close}, .ctx = ctx};
  bl_status st = bl_drivers_default(ctx, &o->drivers, err);
  if (st == BL_OK) st = o->drivers.io->open_input(o->drivers.io, path, &o->file, err);
  if (st != BL_OK) {
    opened_close(&o->in);
    return st;
  }
  o->in.size = o->file->size;
  *out = &o->in;
  return BL_OK;
}

void bl_input_close(bl_input *in) {
  if (in) in->close(in);
}

/* ---- pipes ---- */

typedef struct spooled {
  bl_input in;
  bl_ctx *ctx;
  int fd;
} spooled;

static bl_status spooled_read(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  spooled *s = (spooled *)in;
  return bl_temp_read(s->ctx, s->fd, offset, out, n, err);
}

static void spooled_close(bl_input *in) {
  spooled *s = (spooled *)in;
  if (s->fd >= 0) close(s->fd);
  bl_free(s->ctx, s);
}

bl_status bl_input_spool(bl_ctx *ctx, bl_status (*read)(void *user, void *p, size_t n, size_t *got, bl_error *err),
                         void *user, bl_input **out, bl_error *err) {
  enum { PIECE = 1 << 16 };
  *out = NULL;
  spooled *s = bl_alloc(ctx, 1, sizeof *s);
  char *p = bl_alloc(ctx, PIECE, 1);
  bl_status st = s && p ? BL_OK : bl_nomem(err);
  if (s) *s = (spooled){.in = {.read_at = spooled_read, .close = spooled_close}, .ctx = ctx, .fd = -1};
  if (st == BL_OK) st = bl_temp_open(ctx, &s->fd, err);
  while (st == BL_OK) {
    size_t got = 0;
    st = read(user, p, PIECE, &got, err);
    if (st != BL_OK || got == 0) break;
    st = bl_temp_write(ctx, s->fd, s->in.size, p, got, err);
    s->in.size += (int64_t)got;
  }
  bl_free(ctx, p);
  if (st == BL_OK) *out = &s->in;
  else if (s) spooled_close(&s->in);
  return st;
}

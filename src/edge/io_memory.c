/* io_memory.c: see io_memory.h. */
#include "edge/io_memory.h"

#include <pthread.h>

#include "base/buf.h"
#include "base/map.h"

typedef struct blob {
  size_t users; /* the table of files and open inputs */
  size_t n;
  uint8_t bytes[];
} blob;

typedef struct memory_file {
  char *path; /* kept when the file is removed: the map borrows it */
  blob *data; /* NULL: removed */
} memory_file;

typedef struct memory_io {
  bl_io io;
  bl_ctx *ctx;
  pthread_mutex_t lock;
  bl_map *index; /* path -> number in files */
  memory_file *files;
  size_t n, cap;
  bl_io_hook hook;
  void *user;
  int64_t calls;
} memory_io;

static void blob_drop(memory_io *io, blob *b) {
  if (b && --b->users == 0) bl_free(io->ctx, b);
}

static bl_status call_hook(memory_io *io, const char *operation, const char *path, bl_error *err) {
  pthread_mutex_lock(&io->lock);
  int64_t call = ++io->calls;
  bl_io_hook hook = io->hook;
  void *user = io->user;
  pthread_mutex_unlock(&io->lock);
  return hook ? hook(user, call, operation, path, err) : BL_OK;
}

static memory_file *find_file(memory_io *io, const char *path) {
  size_t *i = bl_map_get(io->index, bl_str_of(path));
  return i && io->files[*i].data ? &io->files[*i] : NULL;
}

/* The slot for a path, made where it is new. */
static bl_status slot_for(memory_io *io, const char *path, memory_file **out, bl_error *err) {
  size_t *i = bl_map_get(io->index, bl_str_of(path));
  if (i) {
    *out = &io->files[*i];
    return BL_OK;
  }
  BL_TRY(bl_grow(io->ctx, &io->files, &io->cap, io->n, sizeof *io->files, err));
  char *copy = bl_strdup(io->ctx, path);
  if (!copy) return bl_nomem(err);
  if (!bl_map_put(io->index, bl_str_of(copy), io->n, NULL)) {
    bl_free(io->ctx, copy);
    return bl_nomem(err);
  }
  io->files[io->n] = (memory_file){copy, NULL};
  *out = &io->files[io->n++];
  return BL_OK;
}

static bl_status put_locked(memory_io *io, const char *path, const void *p, size_t n, bool exclusive, bl_error *err) {
  memory_file *f = NULL;
  if (exclusive && find_file(io, path)) return bl_fail(err, BL_CONFLICT, "cannot create: %s: it exists already", path);
  blob *b = n < SIZE_MAX - sizeof *b ? bl_alloc(io->ctx, sizeof *b + n, 1) : NULL;
  if (!b) return bl_nomem(err);
  bl_status st = slot_for(io, path, &f, err);
  if (st != BL_OK) {
    bl_free(io->ctx, b);
    return st;
  }
  b->users = 1, b->n = n;
  if (n) memcpy(b->bytes, p, n);
  blob_drop(io, f->data);
  f->data = b;
  return BL_OK;
}

static bl_status put(memory_io *io, const char *path, const void *p, size_t n, bool exclusive, bl_error *err) {
  pthread_mutex_lock(&io->lock);
  bl_status st = put_locked(io, path, p, n, exclusive, err);
  pthread_mutex_unlock(&io->lock);
  return st;
}

/* ---- reading ---- */

typedef struct memory_input {
  bl_input in;
  memory_io *io;
  blob *data;
  char path[];
} memory_input;

static bl_status input_read_at(bl_input *base, int64_t offset, void *out, size_t n, bl_error *err) {
  memory_input *in = (memory_input *)base;
  BL_TRY(call_hook(in->io, "read", in->path, err));
  if (offset < 0 || (uint64_t)offset > in->data->n || n > in->data->n - (size_t)offset)
    return bl_fail_at(err, BL_IO, offset, "cannot read: %s: file ends at byte %zu", in->path, in->data->n);
  if (n) memcpy(out, in->data->bytes + offset, n);
  return BL_OK;
}

static void input_close(bl_input *base) {
  memory_input *in = (memory_input *)base;
  pthread_mutex_lock(&in->io->lock);
  blob_drop(in->io, in->data);
  pthread_mutex_unlock(&in->io->lock);
  bl_free(in->io->ctx, in);
}

static bl_status memory_open_input(bl_io *base, const char *path, bl_input **out, bl_error *err) {
  memory_io *io = (memory_io *)base;
  *out = NULL;
  BL_TRY(call_hook(io, "open", path, err));
  size_t n = strlen(path);
  memory_input *in = bl_alloc(io->ctx, sizeof *in + n + 1, 1);
  if (!in) return bl_nomem(err);
  pthread_mutex_lock(&io->lock);
  memory_file *f = find_file(io, path);
  blob *data = f ? f->data : NULL;
  if (data) data->users++;
  pthread_mutex_unlock(&io->lock);
  if (!data) {
    bl_free(io->ctx, in);
    return bl_fail(err, BL_NOT_FOUND, "cannot open: %s: no such file", path);
  }
  *in = (memory_input){
      .in = {.size = (int64_t)data->n, .read_at = input_read_at, .close = input_close}, .io = io, .data = data};
  memcpy(in->path, path, n + 1);
  *out = &in->in;
  return BL_OK;
}

/* Is path below folder ("folder/…")? The rest, or NULL. */
static const char *below(const char *folder, const char *path) {
  size_t n = strlen(folder);
  while (n && folder[n - 1] == '/') n--;
  return strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static bl_status memory_exists(bl_io *base, const char *path, bool *out, bl_error *err) {
  memory_io *io = (memory_io *)base;
  *out = false;
  BL_TRY(call_hook(io, "exists", path, err));
  pthread_mutex_lock(&io->lock);
  *out = find_file(io, path) != NULL;
  for (size_t i = 0; !*out && i < io->n; i++) *out = io->files[i].data && below(path, io->files[i].path);
  pthread_mutex_unlock(&io->lock);
  return BL_OK;
}

/* Direct children, each once, collected first: visit may call back. */
typedef struct child {
  char *path;
  int64_t size;
  bool is_folder;
} child;

typedef struct children {
  child *items;
  size_t n, cap;
} children;

static bl_status add_child(memory_io *io, children *c, const memory_file *f, const char *rest, bl_error *err) {
  size_t name = strcspn(rest, "/");
  size_t n = (size_t)(rest - f->path) + name;
  bool is_folder = rest[name] == '/';
  for (size_t i = 0; is_folder && i < c->n; i++)
    if (c->items[i].is_folder && strlen(c->items[i].path) == n && memcmp(c->items[i].path, f->path, n) == 0)
      return BL_OK;
  BL_TRY(bl_grow(io->ctx, &c->items, &c->cap, c->n, sizeof *c->items, err));
  char *path = bl_asprintf(io->ctx, "%.*s", (int)n, f->path);
  if (!path) return bl_nomem(err);
  c->items[c->n++] = (child){path, is_folder ? 0 : (int64_t)f->data->n, is_folder};
  return BL_OK;
}

static bl_status memory_list(bl_io *base, const char *folder,
                             bl_status (*visit)(void *user, const bl_file_info *f, bl_error *err), void *user,
                             bl_error *err) {
  memory_io *io = (memory_io *)base;
  children c = {0};
  BL_TRY(call_hook(io, "list", folder, err));
  bl_status st = BL_OK;
  pthread_mutex_lock(&io->lock);
  for (size_t i = 0; i < io->n && st == BL_OK; i++) {
    const char *rest = io->files[i].data ? below(folder, io->files[i].path) : NULL;
    if (rest) st = add_child(io, &c, &io->files[i], rest, err);
  }
  pthread_mutex_unlock(&io->lock);
  for (size_t i = 0; i < c.n; i++) {
    bl_file_info f = {.path = c.items[i].path, .size = c.items[i].size, .is_folder = c.items[i].is_folder};
    if (st == BL_OK) st = visit(user, &f, err);
    bl_free(io->ctx, c.items[i].path);
  }
  bl_free(io->ctx, c.items);
  return st;
}

/* ---- writing ---- */

typedef struct memory_output {
  bl_output out;
  memory_io *io;
  bool exclusive;
  bl_buf bytes;
  char path[];
} memory_output;

static void output_abort(bl_output *base) {
  memory_output *o = (memory_output *)base;
  bl_buf_free(&o->bytes);
  bl_free(o->io->ctx, o);
}

static bl_status output_write(bl_output *base, const void *p, size_t n, bl_error *err) {
  memory_output *o = (memory_output *)base;
  BL_TRY(call_hook(o->io, "write", o->path, err));
  bl_buf_add(&o->bytes, p, n);
  return bl_buf_ok(&o->bytes, err);
}

static bl_status output_finish(bl_output *base, bl_error *err) {
  memory_output *o = (memory_output *)base;
  bl_status st = call_hook(o->io, "finish", o->path, err);
  if (st == BL_OK) st = bl_buf_ok(&o->bytes, err);
  if (st == BL_OK) st = put(o->io, o->path, o->bytes.p, o->bytes.n, o->exclusive, err);
  output_abort(base);
  return st;
}

static bl_status memory_open_output(bl_io *base, const char *path, bool exclusive, bl_output **out, bl_error *err) {
  memory_io *io = (memory_io *)base;
  *out = NULL;
  BL_TRY(call_hook(io, "create", path, err));
  size_t n = strlen(path);
  memory_output *o = bl_alloc(io->ctx, sizeof *o + n + 1, 1);
  if (!o) return bl_nomem(err);
  *o = (memory_output){
      .out = {.write = output_write, .finish = output_finish, .abort = output_abort}, .io = io, .exclusive = exclusive};
  bl_buf_init(&o->bytes, io->ctx, BL_BUF_MAX);
  memcpy(o->path, path, n + 1);
  *out = &o->out;
  return BL_OK;
}

static bl_status memory_remove(bl_io *base, const char *path, bl_error *err) {
  memory_io *io = (memory_io *)base;
  BL_TRY(call_hook(io, "remove", path, err));
  pthread_mutex_lock(&io->lock);
  memory_file *f = find_file(io, path);
  if (f) {
    blob_drop(io, f->data);
    f->data = NULL;
  }
  pthread_mutex_unlock(&io->lock);
  return f ? BL_OK : bl_fail(err, BL_NOT_FOUND, "cannot remove: %s: no such file", path);
}

static void memory_free(bl_io *base) {
  memory_io *io = (memory_io *)base;
  for (size_t i = 0; i < io->n; i++) {
    blob_drop(io, io->files[i].data);
    bl_free(io->ctx, io->files[i].path);
  }
  bl_free(io->ctx, io->files);
  bl_map_free(io->index);
  pthread_mutex_destroy(&io->lock);
  bl_free(io->ctx, io);
}

bl_status bl_io_memory_new(bl_ctx *ctx, bl_io **out, bl_error *err) {
  *out = NULL;
  memory_io *io = bl_calloc(ctx, 1, sizeof *io);
  if (!io) return bl_nomem(err);
  bl_status st = bl_map_new(ctx, &io->index, err);
  if (st != BL_OK) {
    bl_free(ctx, io);
    return st;
  }
  io->io = (bl_io){.version = BL_IO_VERSION,
                   .name = "memory",
                   .open_input = memory_open_input,
                   .exists = memory_exists,
                   .list = memory_list,
                   .open_output = memory_open_output,
                   .remove = memory_remove,
                   .free = memory_free};
  io->ctx = ctx;
  pthread_mutex_init(&io->lock, NULL);
  *out = &io->io;
  return BL_OK;
}

bl_status bl_io_memory_put(bl_io *io, const char *path, const void *p, size_t n, bl_error *err) {
  return put((memory_io *)io, path, p, n, false, err);
}

bl_str bl_io_memory_get(bl_io *base, const char *path) {
  memory_io *io = (memory_io *)base;
  pthread_mutex_lock(&io->lock);
  memory_file *f = find_file(io, path);
  bl_str s = f ? (bl_str){(const char *)f->data->bytes, f->data->n} : BL_STR_NONE;
  pthread_mutex_unlock(&io->lock);
  return s;
}

size_t bl_io_memory_count(bl_io *base) {
  memory_io *io = (memory_io *)base;
  size_t n = 0;
  pthread_mutex_lock(&io->lock);
  for (size_t i = 0; i < io->n; i++) n += io->files[i].data != NULL;
  pthread_mutex_unlock(&io->lock);
  return n;
}

void bl_io_memory_set_hook(bl_io *base, bl_io_hook hook, void *user) {
  memory_io *io = (memory_io *)base;
  pthread_mutex_lock(&io->lock);
  io->hook = hook, io->user = user, io->calls = 0;
  pthread_mutex_unlock(&io->lock);
}

int64_t bl_io_memory_calls(bl_io *base) {
  memory_io *io = (memory_io *)base;
  pthread_mutex_lock(&io->lock);
  int64_t n = io->calls;
  pthread_mutex_unlock(&io->lock);
  return n;
}

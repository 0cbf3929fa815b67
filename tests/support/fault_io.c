/* fault_io.c: see fault_io.h. */
#include "support/fault_io.h"

#include <stdlib.h>
#include <string.h>

#include "table/io.h"

static bl_status ask(fault_io *f, const char *operation, const char *path, bl_error *err) {
  long call = __atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED);
  return f->hook ? f->hook(f->user, call, operation, path, err) : BL_OK;
}

/* ---- reading ---- */

typedef struct fault_input {
  bl_input in;
  fault_io *f;
  bl_input *below;
  char path[];
} fault_input;

static bl_status input_read(bl_input *base, int64_t offset, void *out, size_t n, bl_error *err) {
  fault_input *in = (fault_input *)base;
  bl_status st = ask(in->f, "read", in->path, err);
  return st == BL_OK ? in->below->read_at(in->below, offset, out, n, err) : st;
}

static void input_close(bl_input *base) {
  fault_input *in = (fault_input *)base;
  in->below->close(in->below);
  free(in);
}

static bl_status fault_open(bl_io *base, const char *path, bl_input **out, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_input *below;
  *out = NULL;
  bl_status st = ask(f, "open", path, err);
  if (st == BL_OK) st = f->below->open_input(f->below, path, &below, err);
  if (st != BL_OK) return st;
  fault_input *in = malloc(sizeof *in + strlen(path) + 1);
  *in = (fault_input){.in = {below->size, input_read, input_close}, .f = f, .below = below};
  strcpy(in->path, path);
  *out = &in->in;
  return BL_OK;
}

static bl_status fault_exists(bl_io *base, const char *path, bool *out, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_status st = ask(f, "exists", path, err);
  return st == BL_OK ? f->below->exists(f->below, path, out, err) : st;
}

static bl_status fault_list(bl_io *base, const char *folder,
                            bl_status (*visit)(void *user, const bl_file_info *i, bl_error *err), void *user,
                            bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_status st = ask(f, "list", folder, err);
  return st == BL_OK ? f->below->list(f->below, folder, visit, user, err) : st;
}

/* ---- writing ---- */

typedef struct fault_output {
  bl_output out;
  fault_io *f;
  bl_output *below;
  char path[];
} fault_output;

static bl_status output_write(bl_output *base, const void *p, size_t n, bl_error *err) {
  fault_output *o = (fault_output *)base;
  bl_status st = ask(o->f, "write", o->path, err);
  return st == BL_OK ? o->below->write(o->below, p, n, err) : st;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

static bl_status output_finish(bl_output *base, bl_error *err) {
  fault_output *o = (fault_output *)base;
  fault_io *f = o->f;
  bl_status st = ask(f, "finish", o->path, err);
  if (st == BL_OK) st = o->below->finish(o->below, err);
  else o->below->abort(o->below);
  if (st == BL_OK && f->lie != BL_OK && ends_with(o->path, f->lie_about))
    st = bl_fail(err, f->lie, "%s: the line went dead", o->path);
  free(o);
  return st;
}

static void output_abort(bl_output *base) {
  fault_output *o = (fault_output *)base;
  o->below->abort(o->below);
  free(o);
}

static bl_status fault_create_with(bl_io *base, const char *path, unsigned flags, bl_output **out, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_output *below;
  *out = NULL;
  bl_status st = ask(f, "create", path, err);
  if (st == BL_OK) st = bl_io_open_output(f->below, path, flags, &below, err);
  if (st != BL_OK) return st;
  fault_output *o = malloc(sizeof *o + strlen(path) + 1);
  *o = (fault_output){.out = {output_write, output_finish, output_abort}, .f = f, .below = below};
  strcpy(o->path, path);
  *out = &o->out;
  return BL_OK;
}

static bl_status fault_create(bl_io *io, const char *path, bool exclusive, bl_output **out, bl_error *err) {
  return fault_create_with(io, path, exclusive ? BL_OUT_EXCLUSIVE : 0, out, err);
}

static bl_status fault_sync(bl_io *base, const char *const *paths, size_t n, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_status st = BL_OK;
  for (size_t i = 0; i < n && st == BL_OK; i++) st = ask(f, "sync", paths[i], err);
  return st == BL_OK ? f->below->sync_all(f->below, paths, n, err) : st;
}

static bl_status fault_remove(bl_io *base, const char *path, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_status st = ask(f, "remove", path, err);
  return st == BL_OK ? f->below->remove(f->below, path, err) : st;
}

static bl_status fault_rename(bl_io *base, const char *from, const char *to, bl_error *err) {
  fault_io *f = (fault_io *)base;
  bl_status st = ask(f, "rename", from, err);
  return st == BL_OK ? f->below->rename(f->below, from, to, err) : st;
}

static bl_status fault_lock(bl_io *base, const char *path, int64_t wait_ms, bl_io_lock **out, bl_error *err) {
  fault_io *f = (fault_io *)base;
  *out = NULL;
  bl_status st = ask(f, "lock", path, err);
  return st == BL_OK ? f->below->lock(f->below, path, wait_ms, out, err) : st;
}

static int64_t fault_room(bl_io *base, int64_t most) {
  fault_io *f = (fault_io *)base;
  return f->below->room(f->below, most);
}

static void fault_free(bl_io *base) {
  fault_io *f = (fault_io *)base;
  f->below->free(f->below);
}

bl_io *fault_io_new(fault_io *f, bl_io *below) {
  *f = (fault_io){.io = {.version = BL_IO_VERSION,
                         .name = "faults",
                         .open_input = fault_open,
                         .exists = fault_exists,
                         .list = fault_list,
                         .open_output = fault_create,
                         .remove = fault_remove,
                         .lock = below->lock ? fault_lock : NULL,
                         .open_output_with = below->open_output_with ? fault_create_with : NULL,
                         .sync_all = below->sync_all ? fault_sync : NULL,
                         .rename = below->rename ? fault_rename : NULL,
                         .room = below->room ? fault_room : NULL,
                         .free = fault_free},
                  .below = below};
  return &f->io;
}

void fault_io_reset(fault_io *f) {
  f->calls = 0;
}

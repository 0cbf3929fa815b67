/* stream.c: see stream.h. */
#include "rows/stream.h"

#include "rows/arrow_own.h"

#include <errno.h>

static const int codes[] = {
    [BL_OK] = 0,
    [BL_FOUND] = EEXIST,
    [BL_USAGE] = EINVAL,
    [BL_DAMAGED] = EBADMSG,
    [BL_IO] = EIO,
    [BL_CONFLICT] = EAGAIN,
    [BL_UNKNOWN] = EINPROGRESS,
    [BL_UNSUPPORTED] = ENOTSUP,
    [BL_NOT_FOUND] = ENOENT,
    [BL_NOMEM] = ENOMEM,
    [BL_CANCELLED] = ECANCELED,
};

int bl_stream_errno(bl_status st) {
  return (size_t)st < BL_LEN(codes) ? codes[st] : EIO;
}

bl_status bl_stream_status(int code) {
  for (size_t i = 0; i < BL_LEN(codes); i++)
    if (codes[i] == code) return (bl_status)i;
  return code == ENOSYS ? BL_UNSUPPORTED : BL_IO; /* of another's stream */
}

bl_status bl_stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out, bl_error *err) {
  out->release = NULL;
  if (!s->release) return bl_fail(err, BL_USAGE, "input: the stream was released before: it can be read only once");
  int code = s->get_schema(s, out);
  if (code == 0) return BL_OK;
  out->release = NULL;
  const char *text = s->get_last_error(s);
  return bl_fail(err, bl_stream_status(code), "%s", text ? text : "input: it has no schema");
}

bl_status bl_stream_next(struct ArrowArrayStream *s, struct ArrowArray *out, bl_error *err) {
  out->release = NULL;
  int code = s->get_next(s, out);
  if (code == 0) return BL_OK;
  out->release = NULL;
  const char *text = s->get_last_error(s);
  return bl_fail(err, bl_stream_status(code), "%s", text ? text : "reading failed");
}

void bl_stream_release(struct ArrowArrayStream *s) {
  if (s && s->release) s->release(s);
}

typedef struct own_stream {
  bl_ctx *ctx;
  bl_stream_source src;
  struct ArrowSchema schema;
  bl_error err;
} own_stream;

static int own_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
  own_stream *o = s->private_data;
  return bl_stream_errno(bl_aschema_copy(o->ctx, &o->schema, out, &o->err));
}

static int own_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
  own_stream *o = s->private_data;
  out->release = NULL;
  if (o->err.status != BL_OK) return bl_stream_errno(o->err.status);
  return bl_stream_errno(o->src.next(o->src.user, out, &o->err));
}

static const char *own_error(struct ArrowArrayStream *s) {
  own_stream *o = s->private_data;
  return o->err.status != BL_OK ? o->err.message : NULL;
}

static void own_release(struct ArrowArrayStream *s) {
  own_stream *o = s->private_data;
  o->src.dispose(o->src.user);
  bl_aschema_release(&o->schema);
  bl_free(o->ctx, o);
  s->release = NULL;
}

bl_status bl_stream_make(bl_ctx *ctx, const bl_stream_source *src, struct ArrowSchema *schema,
                         struct ArrowArrayStream *out, bl_error *err) {
  own_stream *o = bl_calloc(ctx, 1, sizeof *o);
  memset(out, 0, sizeof *out);
  if (!o) {
    src->dispose(src->user);
    bl_aschema_release(schema);
    return bl_nomem(err);
  }
  o->ctx = ctx;
  o->src = *src;
  o->schema = *schema;
  schema->release = NULL;
  o->err.position = -1;
  *out = (struct ArrowArrayStream){own_schema, own_next, own_error, own_release, o};
  return BL_OK;
}

void *bl_stream_user(const struct ArrowArrayStream *s, void (*dispose)(void *user)) {
  const own_stream *o = s->release == own_release ? s->private_data : NULL;
  return o && o->src.dispose == dispose ? o->src.user : NULL;
}

/* manifests.c: see manifests.h. */
#include "table/manifests.h"

#include "table/io.h"

static bl_status read_file(const bl_table *t, bl_str path, bl_buf *out, bl_error *err) {
  bl_buf_init(out, t->ctx, BL_BUF_MAX);
  if (memchr(path.p, 0, path.n)) return bl_fail(err, BL_DAMAGED, "%s: the path holds a NUL byte", path.p);
  return bl_io_read_all(t->io, path.p, t->ctx->o.max_metadata_bytes, out, err);
}

/* ---- manifest lists ---- */

static bl_status read_list(const bl_table *t, const bl_snapshot *s, bl_arena *a, bl_manifest_file **out, size_t *n,
                           bl_error *err) {
  bl_buf bytes;
  bl_status st;
  BL_GO(read_file(t, s->manifest_list, &bytes, err));
  st = bl_manifest_list_read(t->ctx, a, bytes.p, bytes.n, t->metadata->format_version, out, n, err);
  if (st != BL_OK) bl_table_fail_in(t, s->manifest_list, st, err);
done:
  bl_buf_free(&bytes);
  return st;
}

static bl_status describe_inline(const bl_table *t, const bl_snapshot *s, bl_str path, bl_arena *a,
                                 bl_manifest_file *out, bl_error *err) {
  bl_buf bytes;
  char *real = NULL;
  bl_status st;
  BL_GO(read_file(t, path, &bytes, err));
  if (!(real = bl_table_real_path(t, path.p))) BL_GO(bl_nomem(err));
  BL_GO(bl_manifest_describe(t->ctx, a, bl_str_of(real), bytes.p, bytes.n, s, out, err)); /* messages name it */
  out->path = bl_arena_str(a, path);
  if (!out->path.p) st = bl_nomem(err);
done:
  bl_free(t->ctx, real);
  bl_buf_free(&bytes);
  return st;
}

static bl_status read_inline(const bl_table *t, const bl_snapshot *s, bl_arena *a, bl_manifest_file **out, size_t *n,
                             bl_error *err) {
  if (s->n_manifests == 0) return BL_OK;
  *out = bl_arena_calloc(a, s->n_manifests, sizeof **out);
  if (!*out) return bl_nomem(err);
  for (size_t i = 0; i < s->n_manifests; i++) BL_TRY(describe_inline(t, s, s->manifests[i], a, &(*out)[i], err));
  *n = s->n_manifests;
  return BL_OK;
}

bl_status bl_table_manifests(const bl_table *t, const bl_snapshot *s, bl_arena *a, bl_manifest_file **out, size_t *n,
                             bl_error *err) {
  *out = NULL;
  *n = 0;
  if (!s->manifest_list.p) return read_inline(t, s, a, out, n, err);
  if (s->key_id.p)
    return bl_fail(err, BL_UNSUPPORTED, "cannot read: %s: encrypted manifest lists are not supported (key %.*s)",
                   s->manifest_list.p, BL_STR_ARG(s->key_id));
  return read_list(t, s, a, out, n, err);
}

/* ---- manifests ---- */

bl_status bl_table_manifest_entries(const bl_table *t, const bl_manifest_file *m, bool metrics, bl_arena *a,
                                    bl_manifest_entry **out, size_t *n, bl_error *err) {
  const bl_manifest_read_options o = {.metadata = t->metadata, .metrics = metrics};
  bl_manifest_file named = *m; /* as messages name it */
  bl_buf bytes;
  char *real = NULL;
  bl_status st;
  *out = NULL;
  *n = 0;
  if (m->key_metadata.p)
    return bl_fail(err, BL_UNSUPPORTED, "cannot read: %s: encrypted manifests are not supported", m->path.p);
  BL_GO(read_file(t, m->path, &bytes, err));
  if (!(real = bl_table_real_path(t, m->path.p))) BL_GO(bl_nomem(err));
  named.path = bl_str_of(real);
  st = bl_manifest_read(t->ctx, a, bytes.p, bytes.n, &named, &o, out, n, err);
done:
  bl_free(t->ctx, real);
  bl_buf_free(&bytes);
  return st;
}

/* relocate_deletes.c: delete files that name data files, written again with the names that those will have. */
#include "edge/arrow/arrow_edge.h"
#include "format/puffin.h"
#include "rows/arrow_build.h"
#include "rows/arrow_own.h"
#include "rows/arrow_view.h"
#include "table/io.h"
#include "write/relocate.h"

/* ---- position deletes ---- Rows keep file_path and pos; the optional copy of the deleted row is left out. */

typedef struct rewriting {
  bl_relocating *r;
  bl_view *view;
  bl_builder *build;
  bl_arrow_writer *out;
  bl_str last, last_new; /* paths come in runs */
  bl_str lower, upper;
} rewriting;

static void bound_by(rewriting *w, bl_str path) {
  if (!w->lower.p || bl_str_cmp(path, w->lower) < 0) w->lower = path;
  if (!w->upper.p || bl_str_cmp(path, w->upper) > 0) w->upper = path;
}

static bl_status put_row(rewriting *w, int64_t i, bl_error *err) {
  bl_str path = bl_view_bytes(&w->view->children[0], i);
  if (!w->last_new.p || !bl_str_eq(path, w->last)) {
    w->last = bl_arena_str(w->r->arena, path);
    w->last_new = w->last.p ? bl_relocated(w->r, w->last) : BL_STR_NONE;
    if (!w->last_new.p) return bl_nomem(err);
    bound_by(w, w->last_new);
  }
  BL_TRY(bl_builder_bytes(bl_builder_child(w->build, 0), w->last_new.p, w->last_new.n, err));
  BL_TRY(bl_builder_int(bl_builder_child(w->build, 1), bl_view_i64(&w->view->children[1], i), err));
  return bl_builder_close(w->build, err);
}

static bl_status take_batch(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                            bl_error *err) {
  rewriting *w = user;
  struct ArrowArray out;
  (void)positions, (void)first;
  bl_status st = bl_view_set(w->view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) st = put_row(w, i, err);
  batch->release(batch);
  if (st == BL_OK) st = bl_builder_finish(w->build, &out, err);
  return st == BL_OK ? bl_arrow_writer_write(w->out, &out, err) : st;
}

static bl_status rewrite_rows(rewriting *w, const bl_manifest_entry *e, bl_buf *bytes, bl_error *err) {
  bl_field fields[2] = {
      {.id = BL_ID_DELETE_PATH, .name = BL_STR("file_path"), .required = true, .type = {.kind = BL_STRING}},
      {.id = BL_ID_DELETE_POS, .name = BL_STR("pos"), .required = true, .type = {.kind = BL_LONG}},
  };
  bl_type wanted = {.kind = BL_STRUCT, .fields = fields, .n_fields = 2};
  const bl_sink sink = {bl_buf_sink, bytes};
  bl_open_file *f = NULL;
  bl_projection *p = NULL;
  struct ArrowSchema schema = {0};
  bl_status st;
  BL_GO(bl_open_file_new(&w->r->reading, e, &f, err));
  BL_GO(bl_open_file_project(f, &wanted, &p, err));
  BL_GO(bl_aschema_of_struct(w->r->ctx, &wanted, &schema, err));
  BL_GO(bl_view_new(w->r->ctx, &schema, &w->view, err));
  BL_GO(bl_builder_new(w->r->ctx, &schema, &w->build, err));
  BL_GO(bl_arrow_parquet_writer(w->r->ctx, &sink, &schema, &w->out, err));
  for (size_t g = 0; g < f->meta->n_groups; g++) BL_GO(bl_open_file_read(f, p, g, NULL, 0, take_batch, w, err));
  st = bl_arrow_writer_finish(w->out, err);
  w->out = NULL;
done:
  if (w->out) bl_arrow_writer_abort(w->out);
  bl_builder_free(w->build);
  bl_view_free(w->view);
  bl_aschema_release(&schema);
  bl_projection_free(p);
  bl_open_file_free(f);
  return st;
}

bl_status bl_relocate_positions(bl_relocating *r, const bl_manifest_entry *e, bl_error *err) {
  rewriting w = {.r = r};
  bl_moved m = {0};
  bl_str now;
  bl_buf bytes;
  bl_status st;
  bl_buf_init(&bytes, r->ctx, BL_BUF_MAX);
  BL_GO(rewrite_rows(&w, e, &bytes, err));
  BL_GO(bl_relocate_name(r, e->file.path, "deletes.parquet", &now, &m.path, err));
  BL_GO(bl_relocate_write(r, now, bytes.p, bytes.n, err));
  m.size = (int64_t)bytes.n;
  m.lower = w.lower, m.upper = w.upper;
  st = bl_relocate_remember(r, e->file.path, &m, err);
done:
  bl_buf_free(&bytes);
  return st;
}

/* ---- vectors ---- */

static bl_status add_blob(bl_relocating *r, const bl_buf *file, const bl_puffin_blob *b, bl_puffin_writer *w,
                          bl_moved_blob *out, bl_error *err) {
  bl_posset *set = NULL;
  bl_str referenced = bl_pairs_get(&b->properties, "referenced-data-file");
  if (!bl_str_is(b->type, "deletion-vector-v1") || b->codec.p || !referenced.p)
    return bl_fail(err, BL_UNSUPPORTED, "a blob of type %.*s among deletion vectors", BL_STR_ARG(b->type));
  if (b->offset < 0 || b->length < 0 || b->length > (int64_t)file->n || b->offset > (int64_t)file->n - b->length)
    return bl_fail(err, BL_DAMAGED, "a blob lies outside the file");
  bl_status st = bl_dv_decode(r->ctx, file->p + b->offset, (size_t)b->length, -1, &set, err);
  bl_str then = st == BL_OK ? bl_relocated(r, referenced) : BL_STR_NONE;
  if (st == BL_OK && !then.p) st = bl_nomem(err);
  out->offset = b->offset;
  if (st == BL_OK) st = bl_puffin_writer_add_dv(w, set, then, &out->new_offset, &out->new_size, err);
  bl_posset_free(set);
  return st;
}

static bl_status read_footer(bl_relocating *r, const bl_buf *file, bl_puffin *out, bl_error *err) {
  size_t need = 0;
  return bl_puffin_footer(r->ctx, r->arena, file->p, file->n, (int64_t)file->n, &need, out, err);
}

static bl_status rewrite_blobs(bl_relocating *r, const bl_buf *file, bl_moved *m, bl_buf *bytes, bl_error *err) {
  bl_puffin puffin = {0};
  bl_puffin_writer *w = NULL;
  bl_status st;
  BL_GO(read_footer(r, file, &puffin, err));
  m->blobs = bl_arena_calloc(r->arena, puffin.n_blobs, sizeof *m->blobs);
  if (!m->blobs) BL_GO(bl_nomem(err));
  BL_GO(bl_puffin_writer_new(r->ctx, &w, err));
  for (size_t i = 0; i < puffin.n_blobs; i++)
    BL_GO(add_blob(r, file, &puffin.blobs[i], w, &m->blobs[m->n_blobs++], err));
  st = bl_puffin_writer_finish(w, bytes, err);
done:
  bl_puffin_writer_free(w);
  return st;
}

bl_status bl_relocate_puffin(bl_relocating *r, bl_str path, bl_error *err) {
  bl_moved m = {0};
  bl_str now;
  bl_buf file, bytes;
  bl_status st;
  bl_buf_init(&file, r->ctx, BL_BUF_MAX);
  bl_buf_init(&bytes, r->ctx, BL_BUF_MAX);
  BL_GO(bl_io_read_all(r->t->io, path.p, r->ctx->o.max_metadata_bytes, &file, err));
  st = rewrite_blobs(r, &file, &m, &bytes, err);
  if (st != BL_OK) BL_GO(bl_table_fail_in(r->t, path, st, err));
  BL_GO(bl_relocate_name(r, path, "deletes.puffin", &now, &m.path, err));
  BL_GO(bl_relocate_write(r, now, bytes.p, bytes.n, err));
  m.size = (int64_t)bytes.n;
  st = bl_relocate_remember(r, path, &m, err);
done:
  bl_buf_free(&file);
  bl_buf_free(&bytes);
  return st;
}

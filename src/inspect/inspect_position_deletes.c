/* inspect_position_deletes.c: every position that a live deletion vector or position delete file of a snapshot takes,
 * as Spark's position_deletes table. */
#include "inspect/inspect.h"
#include "inspect/partition_view.h"
#include "inspect/value_text.h"
#include "rows/arrow_view.h"
#include "rows/print_value.h"
#include "scan/deletes.h"
#include "table/manifests.h"

typedef struct position_report {
  const bl_inspection *w;
  bl_report *r;
  bl_partition_view view;
  bl_reading env;
  bl_deletes *deletes;
} position_report;

/* ---- rows ---- */

/* The cells behind file_path, pos and row. */
static bl_status end_row(const position_report *k, const bl_data_file *f, bl_error *err) {
  if (k->view.n) bl_partition_view_file(bl_report_json(k->r), &k->view, f);
  bl_report_i64(k->r, f->spec_id);
  bl_report_str(k->r, f->path);
  if (k->w->m->format_version >= 3) {
    bl_report_i64_if(k->r, f->content_offset != BL_NONE, f->content_offset);
    bl_report_i64_if(k->r, f->content_size != BL_NONE, f->content_size);
  }
  return bl_report_end_row(k->r, err);
}

/* ---- vectors ---- */

static bl_status vector_rows(position_report *k, const bl_manifest_entry *e, bl_error *err) {
  bl_file_deletes fd = {.vector = e};
  bl_posset *set = NULL;
  int64_t found[1024];
  size_t n;
  BL_TRY(bl_deletes_positions(k->deletes, &e->file, &fd, &set, err));
  bl_status st = BL_OK;
  for (int64_t from = 0; st == BL_OK && (n = bl_posset_next(set, from, found, BL_LEN(found))) > 0;) {
    for (size_t i = 0; i < n && st == BL_OK; i++) {
      bl_report_str(k->r, e->file.referenced_data_file);
      bl_report_i64(k->r, found[i]);
      bl_report_null(k->r);
      st = end_row(k, &e->file, err);
    }
    from = found[n - 1] + 1;
  }
  bl_posset_free(set);
  return st;
}

/* ---- position delete files ---- */

typedef struct delete_file {
  position_report *k;
  const bl_data_file *file;
  bl_view *view; /* file_path, pos and, where the file has it, row */
} delete_file;

static bl_status batch_row(delete_file *d, int64_t i, bl_error *err) {
  const bl_view *path = &d->view->children[0], *pos = &d->view->children[1];
  if (bl_view_null(path, i) || bl_view_null(pos, i))
    return bl_fail(err, BL_DAMAGED, "position delete file: %s: a row without file_path or pos", d->file->path.p);
  bl_report_str(d->k->r, bl_view_bytes(path, i));
  bl_report_i64(d->k->r, bl_view_i64(pos, i));
  if (d->view->n_children > 2) BL_TRY(bl_print_value(bl_report_bulk(d->k->r), &d->view->children[2], i, err));
  else bl_report_null(d->k->r);
  return end_row(d->k, d->file, err);
}

static bl_status take_batch(void *user, struct ArrowArray *batch, const int64_t *positions, int64_t first,
                            bl_error *err) {
  delete_file *d = user;
  (void)positions, (void)first;
  bl_status st = bl_view_set(d->view, batch, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) st = batch_row(d, i, err);
  batch->release(batch);
  return st;
}

static bool stores_rows(const bl_data_meta *m) {
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].field_id == BL_ID_DELETE_ROW) return true;
  return false;
}

/* The table's columns as the struct `row`: a delete file may hold any part of them, so that none is required. */
static bl_status row_type(const position_report *k, bl_arena *a, bl_type *out, bl_error *err) {
  const bl_schema *s = bl_metadata_current_schema(k->w->m);
  *out = (bl_type){.kind = BL_STRUCT, .n_fields = s->root.n_fields};
  out->fields = bl_arena_alloc(a, s->root.n_fields + 1, sizeof *out->fields);
  if (!out->fields) return bl_nomem(err);
  for (size_t i = 0; i < s->root.n_fields; i++) {
    out->fields[i] = s->root.fields[i];
    out->fields[i].required = false;
    out->fields[i].initial_default = NULL;
  }
  return BL_OK;
}

static bl_status read_rows(delete_file *d, bl_open_file *f, const bl_type *wanted, bl_error *err) {
  bl_ctx *ctx = d->k->w->t->ctx;
  bl_projection *p = NULL;
  struct ArrowSchema schema = {0};
  bl_status st;
  BL_GO(bl_open_file_project(f, wanted, &p, err));
  BL_GO(bl_aschema_of_struct(ctx, wanted, &schema, err));
  BL_GO(bl_view_new(ctx, &schema, &d->view, err));
  for (size_t g = 0; g < f->meta->n_groups; g++) BL_GO(bl_open_file_read(f, p, g, NULL, 0, take_batch, d, err));
done:
  bl_view_free(d->view);
  bl_aschema_release(&schema);
  bl_projection_free(p);
  return st;
}

static bl_status delete_file_rows(position_report *k, const bl_manifest_entry *e, bl_arena *a, bl_error *err) {
  bl_field fields[3] = {
      {.id = BL_ID_DELETE_PATH, .name = BL_STR("file_path"), .required = true, .type = {.kind = BL_STRING}},
      {.id = BL_ID_DELETE_POS, .name = BL_STR("pos"), .required = true, .type = {.kind = BL_LONG}},
      {.id = BL_ID_DELETE_ROW, .name = BL_STR("row")},
  };
  bl_type wanted = {.kind = BL_STRUCT, .fields = fields, .n_fields = 2};
  delete_file d = {.k = k, .file = &e->file};
  bl_open_file *f;
  BL_TRY(bl_open_file_new(&k->env, e, &f, err));
  bl_status st = BL_OK;
  if (stores_rows(f->meta)) {
    st = row_type(k, a, &fields[2].type, err);
    wanted.n_fields = 3;
  }
  if (st == BL_OK) st = read_rows(&d, f, &wanted, err);
  bl_open_file_free(f);
  return st;
}

/* ---- the report ---- */

static bl_status manifest_rows(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err) {
  position_report *k = user;
  bl_arena *a = NULL;
  bl_manifest_entry *entries;
  size_t n;
  bl_status st;
  (void)reference;
  if (m->content != BL_MANIFEST_DELETES) return BL_OK;
  BL_GO(bl_arena_new(k->w->t->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(k->w->t, m, false, a, &entries, &n, err));
  for (size_t i = 0; i < n; i++) {
    const bl_manifest_entry *e = &entries[i];
    if (e->status == BL_DELETED || e->file.content != BL_FILE_POSITION_DELETES) continue;
    BL_GO(e->file.format == BL_FORMAT_PUFFIN ? vector_rows(k, e, err) : delete_file_rows(k, e, a, err));
  }
done:
  bl_arena_free(a);
  return st;
}

static bl_status report(position_report *k, bl_error *err) {
  const char *columns[8];
  size_t n = 0;
  columns[n++] = "file_path";
  columns[n++] = "pos";
  columns[n++] = "row";
  if (k->view.n) columns[n++] = "partition";
  columns[n++] = "spec_id";
  columns[n++] = "delete_file_path";
  if (k->w->m->format_version >= 3) {
    columns[n++] = "content_offset";
    columns[n++] = "content_size_in_bytes";
  }
  BL_TRY(bl_inspect_rows(k->w, columns, n, &k->r, err));
  return bl_inspect_end(k->r, bl_inspect_each_manifest(k->w, false, true, manifest_rows, k, err), err);
}

bl_status bl_inspect_position_deletes(const bl_inspection *w, bl_error *err) {
  position_report k = {.w = w};
  BL_TRY(bl_partition_view_init(w->arena, w->m, &k.view, err));
  BL_TRY(bl_reading_init(&k.env, w->t, err));
  bl_status st = bl_deletes_new(&k.env, &k.deletes, err);
  if (st == BL_OK) st = report(&k, err);
  bl_deletes_free(k.deletes);
  bl_reading_dispose(&k.env);
  return st;
}

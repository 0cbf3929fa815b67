/* apply_images.c: our own changelog as columns: images go to the source as they are, by bl_conform's casts.
 *
 * 1. Of rows that delete only the key is looked at, of rows that were applied before nothing.
 * 2. What columns the table and the changelog do not have in common is told at the first row that is put.
 * 3. A row that deletes a key is left out where the next one puts the same key in the same commit: most updates. */
#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "write/apply.h"

struct bl_images {
  bl_conformer *conformer;
  bl_schema schema;           /* the table's, with columns that may all be null */
  struct ArrowSchema columns; /* of it */
  bl_view *view;              /* of a batch of them */
  bool *always;               /* by column: a key is in it */
  bl_row_source *keys;        /* in view */
  uint8_t *marks;             /* by row: BL_HEED_… */
  int64_t first;              /* number of the batch's first row, less 1 */
  bl_str unknown;             /* a column that the table does not have; p NULL: none */
  const bl_field *missing;    /* a required column that the changelog does not have */
};

/* ---- columns ---- */

static bool has_column(const struct ArrowSchema *in, bl_str name) {
  for (int64_t i = 0; i < in->n_children; i++)
    if (bl_str_is(name, in->children[i]->name)) return true;
  return false;
}

static bl_status compare_columns(bl_applying *a, bl_images *m, const struct ArrowSchema *in, bl_error *err) {
  for (int64_t i = in->n_children; i-- > 0;) {
    bl_str name = bl_str_of(in->children[i]->name);
    if (bl_map_get(a->places, name) || bl_is_changelog_name(a, name)) continue;
    m->unknown = bl_arena_str(a->arena, name);
    if (!m->unknown.p) return bl_nomem(err);
  }
  for (size_t i = a->schema->root.n_fields; i-- > 0;) {
    const bl_field *f = &a->schema->root.fields[i];
    m->always[i] = bl_applying_is_key(a, f->name);
    bool given = has_column(in, f->name);
    a->named[i] = given;
    if (f->required && !f->write_default && !given) m->missing = f;
    if (m->always[i] && !given)
      return bl_fail(err, BL_USAGE, "%s: key column %s: the changelog lacks it", a->front, f->name.p);
  }
  return BL_OK;
}

static bl_status find_keys(bl_applying *a, bl_images *m, bl_error *err) {
  for (size_t i = 0; i < a->o->n_key; i++) {
    const bl_field *f = bl_schema_find_name(&m->schema, bl_str_of(a->o->key[i])); /* found when the source was made */
    if (!bl_row_source_find(m->view, &m->schema, f->id, &m->keys[i]))
      return bl_fail(err, BL_UNSUPPORTED, "%s: key column %s: it is nested too deeply", a->front, a->o->key[i]);
  }
  return BL_OK;
}

static bl_status open_images(bl_applying *a, const bl_events *e, bl_error *err) {
  const bl_conform_options o = {.drop_unknown = true, .name = a->front};
  struct ArrowSchema in = {0};
  bl_images *m = a->images = bl_arena_calloc(a->arena, 1, sizeof *m);
  if (!m) return bl_nomem(err);
  m->schema = *a->schema;
  m->schema.root.fields = a->columns.fields;
  m->always = bl_arena_calloc(a->arena, a->columns.n + 1, sizeof *m->always);
  m->keys = bl_arena_calloc(a->arena, a->o->n_key, sizeof *m->keys);
  m->marks = bl_arena_alloc(a->arena, BL_TEXT_BATCH_ROWS, 1);
  if (!m->always || !m->keys || !m->marks) return bl_nomem(err);
  BL_TRY(compare_columns(a, m, &e->schema, err));
  BL_TRY(bl_aschema_copy(a->ctx, &e->schema, &in, err));
  BL_TRY(bl_conformer_new(a->ctx, &m->schema, &o, &in, &m->conformer, err));
  BL_TRY(bl_conformer_schema(m->conformer, &m->columns, err));
  BL_TRY(bl_view_new(a->ctx, &m->columns, &m->view, err));
  return find_keys(a, m, err);
}

void bl_images_dispose(bl_applying *a) {
  bl_images *m = a->images;
  if (!m) return;
  bl_view_free(m->view);
  bl_aschema_release(&m->columns);
  bl_conformer_free(m->conformer);
}

/* ---- what the rows are ---- */

static bl_status check_columns(const bl_images *m, bl_error *err) {
  if (m->unknown.p) return bl_fail(err, BL_USAGE, "column %s: the table has no such column", m->unknown.p);
  if (m->missing) return bl_fail(err, BL_USAGE, "column %s: it is required, and has no value", m->missing->name.p);
  return BL_OK;
}

static bl_status mark_row(bl_applying *a, bl_images *m, const bl_events *e, int64_t i, bl_error *err) {
  bl_told told;
  bool applied;
  bl_told_by_image(e, i, &told);
  BL_TRY(bl_apply_changes_take(a, &told, &applied, &a->ranks[i], err));
  m->marks[i] = applied ? BL_HEED_NONE : told.puts ? BL_HEED_ALL : BL_HEED_SOME;
  a->deletes[i] = !told.puts;
  return m->marks[i] == BL_HEED_ALL ? check_columns(m, err) : BL_OK;
}

static bl_status mark_rows(bl_applying *a, bl_images *m, const bl_events *e, int64_t n, bl_error *err) {
  m->first = a->line;
  for (int64_t i = 0; i < n; i++) {
    bl_error found = BL_ERROR_INIT;
    a->line++;
    bl_status st = mark_row(a, m, e, i, &found);
    if (st != BL_OK) return bl_applying_refuse(a, st, &found, err);
  }
  return BL_OK;
}

/* ---- values ---- */

static bl_status refuse_null(bl_applying *a, const bl_images *m, int64_t row, const char *what, const char *name,
                             const char *why, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  a->line = m->first + row + 1;
  return bl_applying_refuse(a, bl_fail(&e, BL_USAGE, "%s %s: %s", what, name, why), &e, err);
}

static bool is_key_null(const bl_row_source *k, int64_t row) {
  for (size_t d = 0; d < k->n; d++)
    if (bl_view_null(k->path[d], row)) return true;
  return false;
}

static bl_status check_nulls(bl_applying *a, const bl_images *m, int64_t n, bl_error *err) {
  for (size_t k = 0; k < a->o->n_key; k++)
    for (int64_t i = 0; i < n; i++)
      if (m->marks[i] >= BL_HEED_SOME && is_key_null(&m->keys[k], i))
        return refuse_null(a, m, i, "key column", a->o->key[k], "it has no value", err);
  for (size_t c = 0; c < a->schema->root.n_fields; c++) {
    const bl_field *own = &a->schema->root.fields[c];
    for (int64_t i = 0; own->required && m->view->children[c].validity && i < n; i++)
      if (m->marks[i] == BL_HEED_ALL && bl_view_null(&m->view->children[c], i))
        return refuse_null(a, m, i, "column", own->name.p, "it is required, and has no value", err);
  }
  return BL_OK;
}

static bool is_put_next(const bl_applying *a, const bl_images *m, int64_t i) {
  if (m->marks[i] != BL_HEED_SOME || m->marks[i + 1] != BL_HEED_ALL || a->ranks[i] + 1 != a->ranks[i + 1]) return false;
  for (size_t k = 0; k < a->o->n_key; k++) {
    const bl_view *v = m->keys[k].path[m->keys[k].n - 1];
    if (!bl_key_same(v, i, v, i + 1)) return false;
  }
  return true;
}

/* Rows that are left out go, and what is known of them. images is taken over. */
static bl_status leave_out(bl_applying *a, bl_images *m, struct ArrowArray *images, struct ArrowArray *out,
                           bl_error *err) {
  int64_t n = images->length, kept = 0;
  for (int64_t i = 0; i < n; i++) {
    bool keep = m->marks[i] != BL_HEED_NONE && !(i + 1 < n && is_put_next(a, m, i));
    m->marks[i] = keep;
    if (!keep) continue;
    a->deletes[kept] = a->deletes[i];
    a->ranks[kept++] = a->ranks[i];
  }
  if (kept == n) bl_array_move(images, out);
  return kept == n ? BL_OK : bl_arrow_filter(images, &m->columns, m->marks, out, err);
}

bl_status bl_apply_images(bl_applying *a, const bl_events *e, struct ArrowArray *batch, bl_error *err) {
  struct ArrowArray images = {0}, rest = {0};
  int64_t n = batch->length;
  bl_status st;
  if (!a->images) BL_GO(open_images(a, e, err));
  bl_images *m = a->images;
  const bl_conform_heed heed = {.rows = m->marks, .always = m->always};
  BL_GO(mark_rows(a, m, e, n, err));
  BL_GO(bl_conformer_run(m->conformer, batch, m->first, &heed, &images, err));
  BL_GO(bl_view_set(m->view, &images, err));
  BL_GO(check_nulls(a, m, n, err));
  BL_GO(leave_out(a, m, &images, &rest, err));
  st = bl_source_add(a->source, &rest, a->deletes, a->ranks, err);
done:
  bl_array_release(batch);
  bl_array_release(&images);
  return st;
}

/* upsert.c: upsert and sync. A pass of the source (source.h) at a time:
 *   1. the key columns of the files that may hold a key are read: rows to compare, rows to delete;
 *   2. the rows to compare are read in full and compared; those that differ are written anew with their ids (W4);
 *   3. rows of the source that met none are inserted.
 * At the end the old versions and the deleted rows are taken out of their files. */
#include <pthread.h>

#include "edge/arrow/arrow_edge.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "write/commit.h"
#include "write/telling.h"
#include "write/upsert.h"

enum { INSERT_ROWS = 65536 };

typedef struct file_state {
  bl_posset *gone, *moved, *kept; /* of all passes; kept: rows of which no value differs */
} file_state;

typedef struct upsert {
  const bl_upsert_rules *rules;
  bl_source *source;
  /* of one staging: */
  bl_change *c;
  bl_touch *x;
  bl_writer_pool *pool;                   /* NULL: dry run */
  struct ArrowSchema keys, rows, columns; /* of batches of key columns; of all columns; of the schema's alone */
  pthread_mutex_t lock;                   /* files, counts, again */
  file_state *files;
  int64_t again; /* rows of the table whose key an earlier one has */
} upsert;

/* ---- 1: which rows ---- */

static uint8_t mark_of(const upsert *u, bl_hash128 key, bool null) {
  bool other = false;
  int64_t row = null ? -1 : bl_source_find(u->source, key, &other);
  if (other) return 0;
  if (row < 0) return u->rules->delete_missing ? 2 : 0;
  return bl_source_state_of(u->source, row) == BL_ROW_DELETE ? 2 : 1;
}

static bl_status probe(void *user, const struct ArrowArray *batch, uint8_t *mark, bl_error *err) {
  upsert *u = user;
  bl_view *view = NULL;
  bl_key_reader k = {0};
  bl_status st;
  BL_GO(bl_view_new(u->c->t->ctx, &u->keys, &view, err));
  BL_GO(bl_view_set(view, batch, err));
  BL_GO(bl_key_reader_init(&k, u->source, view, bl_source_key_type(u->source), err));
  for (int64_t i = 0; i < batch->length; i++) {
    bl_hash128 h = {0, 0};
    bool null;
    mark[i] = 0;
    if (!u->rules->delete_missing && !bl_source_may_hold(u->source, &k, i)) continue;
    BL_GO(bl_key_reader_hash(&k, i, &h, &null, err));
    mark[i] = mark_of(u, h, null);
  }
done:
  bl_key_reader_dispose(&k);
  bl_view_free(view);
  return st;
}

/* ---- 2: what differs ---- */

typedef struct meeting {
  upsert *u;
  bl_touch_rows *rows;
  struct ArrowArray theirs; /* rows of the source, row by row beside ours */
  bl_view *ours_view, *theirs_view;
  int64_t *source_rows;
  uint8_t *differs;
  int64_t n_differ, n_again;
} meeting;

/* Where the source is the whole truth, only one row of the table can be what a row of it says; which one is not ours to
 * choose. */
static bl_status refuse_again(const meeting *m, int64_t i, bl_error *err) {
  const upsert *u = m->u;
  size_t n = u->c->schema->root.n_fields;
  const bl_view *ids = u->x->all.wanted.n_fields > n ? &m->ours_view->children[n] : NULL;
  bl_buf key;
  bl_buf_init(&key, u->c->t->ctx, 600);
  (void)!bl_source_print_key(u->source, m->source_rows[i], &key);
  const char *text = key.p ? (const char *)key.p : "";
  bl_status st;
  if (ids && !bl_view_null(ids, i))
    st = bl_fail(err, BL_USAGE,
                 "%s: key %.*s: the table has it in more than one row: delete the surplus ones first by their _row_id "
                 "(one is %lld)",
                 u->rules->verb, (int)key.n, text, (long long)bl_view_i64(ids, i));
  else
    st = bl_fail(err, BL_USAGE,
                 "%s: key %.*s: the table has it in more than one row: delete the surplus ones first by _file and _pos "
                 "(one is at %lld in %s)",
                 u->rules->verb, (int)key.n, text, (long long)m->rows->positions[i],
                 m->rows->file->file->data->file.path.p);
  bl_buf_free(&key);
  return st;
}

static bl_status meet_row(meeting *m, int64_t i, bl_error *err) {
  bl_source *source = m->u->source;
  int64_t row = m->source_rows[i];
  if (row < 0) return bl_fail(err, BL_DAMAGED, "data file: its key columns read differently twice");
  bool again = bl_source_meet(source, row);
  if (again && m->u->rules->delete_missing) return refuse_again(m, i, err);
  m->n_again += again;
  return bl_source_check(source, row, err);
}

static bl_status find_source_rows(meeting *m, bl_error *err) {
  upsert *u = m->u;
  bl_key_reader k;
  BL_TRY(bl_view_set(m->ours_view, &m->rows->batch, err));
  bl_status st = bl_key_reader_init(&k, u->source, m->ours_view, &u->x->all.wanted, err);
  for (int64_t i = 0; st == BL_OK && i < m->rows->batch.length; i++) {
    bl_hash128 h = {0, 0};
    bool null, other;
    st = bl_key_reader_hash(&k, i, &h, &null, err);
    if (st != BL_OK) break;
    m->source_rows[i] = null ? -1 : bl_source_find(u->source, h, &other);
    st = meet_row(m, i, err);
  }
  bl_key_reader_dispose(&k);
  return st;
}

static bool row_differs(const meeting *m, int64_t i) {
  size_t n = m->u->c->schema->root.n_fields;
  for (size_t c = 0; c < n; c++)
    if (bl_source_gives(m->u->source, c) && !bl_source_keeps(m->u->source, m->source_rows[i], c) &&
        !bl_key_same(&m->ours_view->children[c], i, &m->theirs_view->children[c], i))
      return true;
  return false;
}

static bl_status compare(meeting *m, bl_error *err) {
  int64_t n = m->rows->batch.length;
  BL_TRY(bl_source_take(m->u->source, m->source_rows, n, &m->theirs, err));
  BL_TRY(bl_view_set(m->theirs_view, &m->theirs, err));
  for (int64_t i = 0; i < n; i++) {
    m->differs[i] = m->u->rules->touch || row_differs(m, i);
    m->n_differ += m->differs[i];
  }
  return BL_OK;
}

/* Column c of the new versions: of the source, but where a row of it lacks that. */
static bl_status unite_column(const meeting *m, size_t c, struct ArrowArray *ours, struct ArrowArray *theirs,
                              struct ArrowArray *out, bl_error *err) {
  bl_ctx *ctx = m->u->c->t->ctx;
  struct ArrowArray *both[2] = {ours->children[c], theirs->children[c]};
  int64_t kept = 0, k = 0, *rows = bl_alloc(ctx, (size_t)m->n_differ + 1, sizeof *rows);
  if (!rows) return bl_nomem(err);
  for (int64_t i = 0; i < m->rows->batch.length; i++) {
    if (!m->differs[i]) continue;
    bool keeps = bl_source_keeps(m->u->source, m->source_rows[i], c);
    rows[k] = keeps ? k : m->n_differ + k;
    kept += keeps;
    k++;
  }
  bl_status st = BL_OK;
  if (kept == 0) bl_array_move(both[1], out);
  else st = bl_telling_gather(both, 2, m->u->columns.children[c], rows, m->n_differ, out, err);
  bl_free(ctx, rows);
  return st;
}

/* The new versions: columns that came from the source, others from the table, the id, no last-updated number. */
static bl_status new_versions(meeting *m, struct ArrowArray *out, bl_error *err) {
  upsert *u = m->u;
  bl_ctx *ctx = u->c->t->ctx;
  size_t n = u->c->schema->root.n_fields, all = u->x->all.wanted.n_fields;
  struct ArrowArray ours = {0}, theirs = {0};
  bl_type number = {.kind = BL_LONG};
  bl_status st;
  BL_GO(bl_arrow_filter(&m->rows->batch, &u->rows, m->differs, &ours, err));
  BL_GO(bl_arrow_filter(&m->theirs, &u->columns, m->differs, &theirs, err));
  BL_GO(bl_array_new(ctx, m->n_differ, 1, (int64_t)all, out, err));
  for (size_t c = 0; c < n && st == BL_OK; c++) {
    if (bl_source_gives(u->source, c)) st = unite_column(m, c, &ours, &theirs, out->children[c], err);
    else bl_array_move(ours.children[c], out->children[c]);
  }
  if (st == BL_OK && all > n) bl_array_move(ours.children[n], out->children[n]);
  if (st == BL_OK && all > n) st = bl_array_nulls(ctx, &number, m->n_differ, out->children[n + 1], err);
  if (st != BL_OK) bl_array_release(out);
done:
  bl_array_release(&ours);
  bl_array_release(&theirs);
  return st;
}

/* Positions of the rows of a batch that differ, or of the others. */
static bl_status collect(const meeting *m, bool differ, bl_posset **out, bl_error *err) {
  bl_status st = bl_posset_new(m->u->c->t->ctx, out, err);
  for (int64_t i = 0; st == BL_OK && i < m->rows->batch.length; i++)
    if ((m->differs[i] != 0) == differ) st = bl_posset_add(*out, m->rows->positions[i], err);
  return st;
}

static bl_status unite(bl_posset **into, bl_posset **from, bl_error *err) {
  if (!*from) return BL_OK;
  if (*into) return bl_posset_or(*into, *from, err);
  *into = *from;
  *from = NULL;
  return BL_OK;
}

/* What differs and, for the commit, what does not. */
static bl_status note_met(meeting *m, bl_error *err) {
  upsert *u = m->u;
  file_state *f = &u->files[m->rows->file - u->x->files];
  int64_t n = m->rows->batch.length;
  bl_posset *moved = NULL, *kept = NULL;
  bl_status st = m->n_differ ? collect(m, true, &moved, err) : BL_OK;
  if (st == BL_OK && m->n_differ < n && u->pool) st = collect(m, false, &kept, err);
  pthread_mutex_lock(&u->lock);
  u->c->counts.rows_updated += m->n_differ;
  u->c->counts.rows_unchanged += n - m->n_differ;
  u->again += m->n_again;
  if (st == BL_OK) st = unite(&f->moved, &moved, err);
  if (st == BL_OK) st = unite(&f->kept, &kept, err);
  pthread_mutex_unlock(&u->lock);
  bl_posset_free(moved);
  bl_posset_free(kept);
  return st;
}

static bl_status meet(meeting *m, bl_error *err) {
  upsert *u = m->u;
  bl_ctx *ctx = u->c->t->ctx;
  struct ArrowArray out;
  size_t n = (size_t)m->rows->batch.length;
  m->source_rows = bl_alloc(ctx, n + 1, sizeof *m->source_rows);
  m->differs = bl_alloc(ctx, n + 1, 1);
  if (!m->source_rows || !m->differs) return bl_nomem(err);
  BL_TRY(bl_view_new(ctx, &u->rows, &m->ours_view, err));
  BL_TRY(bl_view_new(ctx, &u->columns, &m->theirs_view, err));
  BL_TRY(find_source_rows(m, err));
  BL_TRY(compare(m, err));
  BL_TRY(note_met(m, err));
  if (m->n_differ == 0 || !u->pool) return BL_OK;
  BL_TRY(new_versions(m, &out, err));
  return bl_writer_pool_write(u->pool, &out, err);
}

static bl_status visit_found(void *user, void *lane, bl_touch_rows *rows, bl_error *err) {
  meeting m = {.u = user, .rows = rows};
  (void)lane;
  bl_status st = meet(&m, err);
  bl_array_release(&m.theirs);
  bl_view_free(m.ours_view);
  bl_view_free(m.theirs_view);
  bl_free(m.u->c->t->ctx, m.source_rows);
  bl_free(m.u->c->t->ctx, m.differs);
  return st;
}

/* ---- 3: what is new ---- */

static bl_status insert(upsert *u, const int64_t *rows, int64_t n, bl_error *err) {
  bl_ctx *ctx = u->c->t->ctx;
  size_t k = u->c->schema->root.n_fields, all = u->x->all.wanted.n_fields;
  struct ArrowArray taken = {0}, out = {0};
  bl_type number = {.kind = BL_LONG};
  bl_status st;
  BL_GO(bl_source_take(u->source, rows, n, &taken, err));
  BL_GO(bl_array_new(ctx, n, 1, (int64_t)all, &out, err));
  for (size_t c = 0; c < k; c++) bl_array_move(taken.children[c], out.children[c]);
  for (size_t c = k; c < all; c++) BL_GO(bl_array_nulls(ctx, &number, n, out.children[c], err));
  st = bl_writer_pool_write(u->pool, &out, err);
done:
  bl_array_release(&taken);
  bl_array_release(&out);
  return st;
}

static bl_status insert_new(upsert *u, bl_error *err) {
  int64_t n = 0, *rows = bl_alloc(u->c->t->ctx, INSERT_ROWS, sizeof *rows);
  bl_status st = rows ? BL_OK : bl_nomem(err);
  for (int64_t i = 0; st == BL_OK && i < bl_source_rows(u->source); i++) {
    if (bl_source_state_of(u->source, i) != BL_ROW_PUT) continue;
    st = bl_source_check(u->source, i, err);
    rows[n++] = i;
    u->c->counts.rows_inserted++;
    if (n < INSERT_ROWS) continue;
    if (u->pool && st == BL_OK) st = insert(u, rows, n, err);
    n = 0;
  }
  if (st == BL_OK && n > 0 && u->pool) st = insert(u, rows, n, err);
  bl_free(u->c->t->ctx, rows);
  return st;
}

/* ---- the passes ---- */

/* After a pass: rows to compare are forgotten, rows to delete are gone. */
static bl_status take_pass(upsert *u, bl_error *err) {
  for (size_t i = 0; i < u->x->n_files; i++) {
    bl_touched *f = &u->x->files[i];
    if (f->others) u->c->counts.rows_deleted += bl_posset_count(f->others);
    BL_TRY(unite(&u->files[i].gone, &f->others, err));
    bl_posset_free(f->found);
    bl_posset_free(f->others);
    f->found = f->others = NULL;
    f->n_found = 0;
  }
  return BL_OK;
}

static bl_status run_pass(upsert *u, bl_error *err) {
  bl_touch_reader found = {.which = BL_TOUCH_FOUND, .wanted = &u->x->all.wanted, .visit = visit_found, .user = u};
  BL_TRY(bl_touch_find(u->x, bl_source_key_type(u->source), probe, u, err));
  BL_TRY(bl_touch_read(u->x, &found, err));
  BL_TRY(take_pass(u, err));
  return insert_new(u, err);
}

/* The old versions and what was deleted, as the rows found. */
static bl_status take_out(upsert *u, bl_error *err) {
  for (size_t i = 0; i < u->x->n_files; i++) {
    bl_touched *f = &u->x->files[i];
    file_state *s = &u->files[i];
    bl_posset *kept = s->kept;
    s->kept = NULL;
    if (kept) BL_TRY(bl_staged_keep(u->c->staged, f->file->data, kept, err));
    if (s->moved) BL_TRY(bl_posset_copy(u->c->t->ctx, s->moved, &f->found, err));
    BL_TRY(unite(&f->found, &s->gone, err));
    f->moved = s->moved;
    s->moved = NULL;
    f->n_found = f->found ? bl_posset_count(f->found) : 0;
  }
  return bl_change_remove_found(u->c, u->x, u->pool, err);
}

/* Files and row groups that hold none of the keys are not looked at, and who commits none of them does not matter. */
static bl_status open_head(upsert *u, bl_error *err) {
  bl_ctx *ctx = u->c->t->ctx;
  bl_expr *filter = NULL;
  if (!u->rules->delete_missing) BL_TRY(bl_source_key_filter(u->source, u->c->arena, &filter, err));
  u->c->staged->conflict_filter = filter;
  BL_TRY(bl_touch_new(u->c->t, u->c->head, filter, &u->x, err));
  BL_TRY(bl_aschema_of_struct(ctx, bl_source_key_type(u->source), &u->keys, err));
  BL_TRY(bl_aschema_of_struct(ctx, &u->x->all.wanted, &u->rows, err));
  BL_TRY(bl_aschema_of_struct(ctx, &u->c->schema->root, &u->columns, err));
  u->files = bl_calloc(ctx, u->x->n_files + 1, sizeof *u->files);
  return u->files ? BL_OK : bl_nomem(err);
}

static void close_head(upsert *u) {
  bl_ctx *ctx = u->c->t->ctx;
  for (size_t i = 0; u->files && i < u->x->n_files; i++) {
    bl_posset_free(u->files[i].gone);
    bl_posset_free(u->files[i].moved);
    bl_posset_free(u->files[i].kept);
  }
  bl_free(ctx, u->files);
  bl_aschema_release(&u->keys);
  bl_aschema_release(&u->rows);
  bl_aschema_release(&u->columns);
  bl_writer_pool_abort(u->pool);
  bl_touch_free(u->x);
  pthread_mutex_destroy(&u->lock);
  u->files = NULL;
  u->pool = NULL;
  u->x = NULL;
}

static bl_status stage(bl_change *c, void *user, bl_error *err) {
  upsert *u = user;
  bool any;
  bl_status st;
  u->c = c;
  u->again = 0;
  pthread_mutex_init(&u->lock, NULL);
  if (c->schema->id != u->rules->schema_id)
    BL_GO(bl_fail(err, BL_CONFLICT, "%s: another has changed the schema meanwhile", u->rules->verb));
  if (u->rules->note) BL_GO(u->rules->note(u->rules->user, c, err));
  BL_GO(bl_source_begin(u->source, err));
  BL_GO(bl_source_next(u->source, &any, err));
  if (!any && !u->rules->delete_missing) goto done;
  BL_GO(open_head(u, err));
  if (!c->o->dry_run) BL_GO(bl_change_writers(c, false, &u->pool, err));
  do {
    BL_GO(run_pass(u, err));
    BL_GO(bl_source_next(u->source, &any, err));
  } while (any);
  if (!u->pool) goto done;
  BL_GO(take_out(u, err));
  st = bl_writer_pool_finish(u->pool, err);
  u->pool = NULL;
done:
  close_head(u);
  return st;
}

bl_status bl_upsert_source(bl_table *t, bl_source *source, const bl_upsert_rules *rules, const bl_write_options *o,
                           bl_write_result *r, bl_error *err) {
  upsert u = {.rules = rules, .source = source};
  bl_status st = bl_change_run(t, o, "merge", stage, &u, r, err);
  if (st == BL_OK && u.again > 0)
    bl_warn(t->ctx,
            "%s: rows of the table whose key another row has, too: %lld: each row of such a key is made the same",
            rules->verb, (long long)u.again);
  return st;
}

static bl_status upsert_rows(bl_table *t, struct ArrowArrayStream *rows, const bl_upsert_options *o,
                             const bl_write_options *wo, bl_write_result *r, bl_error *err) {
  const bl_schema *schema = bl_metadata_current_schema(t->metadata);
  bl_upsert_rules rules = {.verb = o->delete_missing ? "sync" : "upsert",
                           .schema_id = schema->id,
                           .touch = o->touch,
                           .delete_missing = o->delete_missing};
  bl_source_options so = {.verb = rules.verb,
                          .name = o->name,
                          .schema = schema,
                          .key = o->key,
                          .n_key = o->n_key,
                          .delete_when = o->delete_when,
                          .last_wins = o->last_wins};
  bl_source *source = NULL;
  bl_status st;
  BL_GO(bl_source_new(t, &so, &source, err));
  BL_GO(bl_source_read(source, rows, err));
  BL_GO(bl_source_seal(source, err));
  st = bl_upsert_source(t, source, &rules, wo, r, err);
done:
  bl_source_free(source);
  return st;
}

bl_status bl_upsert(bl_table *t, struct ArrowArrayStream *rows, const bl_upsert_options *o, const bl_write_options *wo,
                    bl_write_result *r, bl_error *err) {
  bl_write_result unused;
  bl_table *base = NULL;
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  bl_status st = bl_write_base(t, wo, &base, &r->already_applied, err);
  if (st == BL_OK && !r->already_applied) st = upsert_rows(base, rows, o, wo, r, err);
  bl_stream_release(rows);
  bl_write_base_free(base, t);
  return st;
}

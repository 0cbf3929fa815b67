/* model.h: random small tables made in memory, commit by commit, with every kind of change that tables go through, and
 * the rows of each snapshot as a scan gives them. What a changelog must say of them is in model_twin.h. */
#ifndef BL_TESTS_CHANGES_MODEL_H
#define BL_TESTS_CHANGES_MODEL_H

#include "bergline/scan.h"
#include "random.h"
#include "rows/arrow_own.h"
#include "scan/plan.h"
#include "support/table_maker.h"
#include "table/table.h"

enum { MODEL_FILES = 80, MODEL_ROWS = 12, MODEL_SNAPSHOTS = 10, MODEL_LIVE = 300, MODEL_MANIFESTS = 80 };

#define MODEL_FIELDS                                                                                                   \
  "{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"},"                                                    \
  "{\"id\":2,\"name\":\"v\",\"required\":false,\"type\":\"string\"}"
#define MODEL_LINEAGE                                                                                                  \
  ",{\"id\":2147483540,\"name\":\"_row_id\",\"required\":false,\"type\":\"long\"}"                                     \
  ",{\"id\":2147483539,\"name\":\"_last_updated_sequence_number\",\"required\":false,\"type\":\"long\"}"

/* A live row of a snapshot. */
typedef struct model_row {
  int64_t k, id, seq; /* BL_NONE: null */
  char v;             /* 0: null */
  int file;           /* index into the files: a path that was added again is another one */
  int64_t pos;
} model_row;

/* A data or delete file at its place. */
typedef struct model_file {
  char name[40];
  bl_data_file *f;
  bool deletes, live, fresh;
  int64_t seq, fseq, first; /* known once it is committed */
  int64_t n;
  int manifest;                                     /* that holds it */
  int vector;                                       /* of a data file: its vector, -1 */
  int target;                                       /* of a vector */
  bool dead[MODEL_ROWS], dead_by_files[MODEL_ROWS]; /* by position; where there is no vector: by position deletes */
  bool lost;                                        /* goes into a manifest that gives no ids */
} model_file;

typedef struct model_manifest {
  bl_manifest_file written;
  bool live;
} model_manifest;

typedef struct model_snapshot {
  int64_t id, seq;
  bool live[MODEL_FILES], dead[MODEL_FILES][MODEL_ROWS]; /* by position */
  model_row rows[MODEL_LIVE];
  size_t n;
} model_snapshot;

/* What careless writers leave: replaces that lie, and rows that lose their ids, or ids that are there twice. */
typedef enum model_faults { MODEL_SOUND, MODEL_LOSES_IDS, MODEL_REPEATS_IDS } model_faults;

typedef struct model {
  bl_ctx *ctx;
  maker *m;
  bl_table *t; /* at the last snapshot */
  rng r;
  int version;
  model_faults faults;
  model_file files[MODEL_FILES];
  int n_files;
  model_manifest manifests[MODEL_MANIFESTS];
  int n_manifests;
  model_snapshot *snapshots;
  int n_snapshots;
  int made;
} model;

static inline bool model_chance(model *x, int percent) {
  return rng_between(&x->r, 1, 100) <= percent;
}

/* ---- files ---- */

static inline model_file *model_add(model *x, bool deletes, bl_data_file *f, const char *name, int64_t n) {
  assert_true(x->n_files < MODEL_FILES);
  model_file *out = &x->files[x->n_files++];
  char own[40];
  snprintf(own, sizeof own, "%s", name);
  *out = (model_file){.f = f, .deletes = deletes, .live = true, .fresh = true, .n = n, .manifest = -1, .vector = -1};
  out->target = -1;
  memcpy(out->name, own, sizeof own);
  return out;
}

static inline void model_put_row(char *text, size_t cap, const model_row *r, bool lineage) {
  char k[30] = "null", v[10] = "null", id[30] = "null", seq[30] = "null";
  if (r->k != BL_NONE) snprintf(k, sizeof k, "%lld", (long long)r->k);
  if (r->v) snprintf(v, sizeof v, "\"%c\"", r->v);
  if (r->id != BL_NONE) snprintf(id, sizeof id, "%lld", (long long)r->id);
  if (r->seq != BL_NONE) snprintf(seq, sizeof seq, "%lld", (long long)r->seq);
  size_t at = strlen(text);
  if (lineage) snprintf(text + at, cap - at, "%s[%s,%s,%s,%s]", at > 1 ? "," : "", k, v, id, seq);
  else snprintf(text + at, cap - at, "%s[%s,%s]", at > 1 ? "," : "", k, v);
}

/* What a writer tells of one stored column: of most files. */
static inline void model_metrics(model *x, bl_column_metrics *m, int32_t id, const model_row *rows, size_t n) {
  int64_t *b = bl_arena_calloc(maker_arena(x->m), 2, sizeof *b);
  assert_non_null(b);
  *m = (bl_column_metrics){.id = id, .size = BL_NONE, .values = (int64_t)n, .nulls = 0, .nans = BL_NONE};
  for (size_t i = 0; i < n; i++) {
    int64_t v = id == BL_ID_ROW_ID ? rows[i].id : rows[i].seq;
    if (v == BL_NONE) m->nulls++;
    else if (!m->lower.p) b[0] = b[1] = v, m->lower.p = (char *)&b[0];
    if (v != BL_NONE && v < b[0]) b[0] = v;
    if (v != BL_NONE && v > b[1]) b[1] = v;
  }
  if (!m->lower.p) return;
  m->lower = (bl_str){(char *)&b[0], 8};
  m->upper = (bl_str){(char *)&b[1], 8};
}

static inline void model_lineage_metrics(model *x, bl_data_file *f, const model_row *rows, size_t n) {
  bl_column_metrics *m = bl_arena_calloc(maker_arena(x->m), f->n_metrics + 2, sizeof *m);
  assert_non_null(m);
  for (size_t i = 0; i < f->n_metrics; i++) m[i] = f->metrics[i]; /* sorted by field id */
  model_metrics(x, &m[f->n_metrics], BL_ID_LAST_UPDATED, rows, n);
  model_metrics(x, &m[f->n_metrics + 1], BL_ID_ROW_ID, rows, n);
  f->metrics = m;
  f->n_metrics += 2;
}

static inline model_file *model_data(model *x, const model_row *rows, size_t n, bool lineage) {
  char text[MODEL_ROWS * 100] = "[", name[40];
  for (size_t i = 0; i < n; i++) model_put_row(text, sizeof text - 2, &rows[i], lineage);
  strcat(text, "]");
  /* names that do not sort as they were made */
  snprintf(name, sizeof name, "f%02d-%d.parquet", (int)rng_between(&x->r, 0, 99), x->made++);
  const char *fields = lineage ? "[" MODEL_FIELDS MODEL_LINEAGE "]" : "[" MODEL_FIELDS "]";
  bl_data_file *f = maker_data(x->m, name, fields, text, model_chance(x, 40) ? rng_between(&x->r, 1, 4) : 0);
  if (lineage && model_chance(x, 75)) model_lineage_metrics(x, f, rows, n);
  return model_add(x, false, f, name, (int64_t)n);
}

static inline model_row model_new_row(model *x) {
  return (model_row){.k = model_chance(x, 8) ? BL_NONE : rng_between(&x->r, 0, 6),
                     .v = model_chance(x, 8) ? 0 : (char)('a' + rng_between(&x->r, 0, 2)),
                     .id = BL_NONE,
                     .seq = BL_NONE};
}

/* A live data file that this commit has not touched; NULL. */
static inline model_file *model_pick(model *x) {
  int found[MODEL_FILES], n = 0;
  for (int i = 0; i < x->n_files; i++)
    if (x->files[i].live && !x->files[i].fresh && !x->files[i].deletes) found[n++] = i;
  return n ? &x->files[found[rng_between(&x->r, 0, n - 1)]] : NULL;
}

static inline const model_snapshot *model_head(const model *x) {
  return x->n_snapshots ? &x->snapshots[x->n_snapshots - 1] : NULL;
}

static inline size_t model_rows_of(const model *x, const model_file *f, model_row *out) {
  const model_snapshot *s = model_head(x);
  size_t n = 0;
  for (size_t i = 0; s && i < s->n; i++)
    if (&x->files[s->rows[i].file] == f) out[n++] = s->rows[i];
  return n;
}

static inline void model_remove(model *x, model_file *f) {
  f->live = false;
  if (f->vector >= 0) x->files[f->vector].live = false;
}

/* ---- what a commit does ---- */

static inline void model_append(model *x) {
  model_row rows[MODEL_ROWS];
  size_t n = (size_t)rng_between(&x->r, 1, 7);
  for (size_t i = 0; i < n; i++) rows[i] = model_new_row(x);
  model_data(x, rows, n, false);
}

/* A new vector; some rows may come back. */
static inline void model_vector(model *x, model_file *f) {
  int64_t at[MODEL_ROWS];
  size_t n = 0;
  char name[40];
  bool back = model_chance(x, 15);
  for (int64_t i = 0; i < f->n; i++) {
    if (back && f->vector >= 0 && model_chance(x, 50)) f->dead[i] = false;
    else if (model_chance(x, 30)) f->dead[i] = true;
    if (f->dead[i]) at[n++] = i;
  }
  if (f->vector >= 0) x->files[f->vector].live = false;
  f->vector = -1;
  if (n == 0) memcpy(f->dead, f->dead_by_files, sizeof f->dead);
  if (n == 0) return;
  snprintf(name, sizeof name, "v%d.puffin", x->made++);
  bl_data_file *d = maker_vector(x->m, name, f->name, at, n);
  model_file *v = model_add(x, true, d, name, (int64_t)n);
  v->target = (int)(f - x->files);
  f->vector = (int)(v - x->files);
}

static inline void model_positions(model *x) {
  maker_position at[40];
  size_t n = 0;
  char name[40];
  for (int k = 0; k < 2; k++) {
    model_file *f = model_pick(x);
    if (!f || f->vector >= 0) continue;
    for (int64_t i = 0; i < f->n && n < 40; i++)
      if (model_chance(x, 25)) {
        at[n++] = (maker_position){f->name, i};
        f->dead[i] = f->dead_by_files[i] = true;
      }
  }
  if (n == 0) return;
  snprintf(name, sizeof name, "p%d.parquet", x->made++);
  model_add(x, true, maker_positions(x->m, name, at, n), name, (int64_t)n);
}

static inline void model_equality(model *x) {
  static const int32_t ids[] = {1};
  char name[40], rows[40];
  snprintf(name, sizeof name, "e%d.parquet", x->made++);
  if (model_chance(x, 10)) snprintf(rows, sizeof rows, "[[null]]");
  else snprintf(rows, sizeof rows, "[[%d],[%d]]", (int)rng_between(&x->r, 0, 6), (int)rng_between(&x->r, 0, 6));
  model_add(
      x, true,
      maker_equality(x->m, name, ids, 1, "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"}]", rows),
      name, 2);
}

/* Copy-on-write: rows are carried over, updated, deleted; others come. */
static inline void model_rewrite(model *x, model_file *f) {
  model_row old[MODEL_ROWS], rows[MODEL_ROWS * 2];
  size_t n_old = model_rows_of(x, f, old), n = 0;
  for (size_t i = 0; i < n_old; i++) {
    model_row r = old[i];
    if (model_chance(x, 15)) continue;
    if (model_chance(x, 30)) {
      if (model_chance(x, 80)) r.v = (char)('a' + rng_between(&x->r, 0, 2));
      r.seq = BL_NONE;
    }
    rows[n++] = r;
  }
  for (int i = 0; i < 2 && n < MODEL_ROWS; i++)
    if (model_chance(x, 25)) rows[n++] = model_new_row(x);
  model_remove(x, f);
  if (n) model_data(x, rows, n, x->version > 2);
}

static inline void model_compact(model *x) {
  model_row rows[MODEL_ROWS * 2];
  size_t n = 0;
  bool lies = x->faults && model_chance(x, 20),
       lost = x->faults == MODEL_LOSES_IDS && x->version > 2 && model_chance(x, 15);
  for (int k = 0; k < 2; k++) {
    model_file *f = model_pick(x);
    if (!f || n + (size_t)f->n > MODEL_ROWS) continue;
    n += model_rows_of(x, f, rows + n);
    model_remove(x, f);
  }
  if (lies && n > 1) n--;
  for (size_t i = 0; lies && i < n; i++) rows[i].id = rows[i].seq = BL_NONE;
  if (n) model_data(x, rows, n, x->version > 2)->lost = lost;
}

/* A file that was removed earlier comes again under its path. */
static inline void model_add_again(model *x) {
  for (int i = 0; i < x->n_files; i++) {
    model_file *f = &x->files[i];
    bool there = f->live || f->fresh || f->deletes;
    for (int k = 0; k < x->n_files && !there; k++)
      there = k != i && (x->files[k].live || x->files[k].fresh || x->files[k].manifest == -1) &&
              strcmp(x->files[k].name, f->name) == 0;
    if (there || x->version == 2 || !model_chance(x, 30)) continue;
    bl_data_file *copy = bl_arena_calloc(maker_arena(x->m), 1, sizeof *copy);
    *copy = *f->f;
    model_add(x, false, copy, f->name, f->n);
    return;
  }
}

/* An id that a live row has is stored once more. */
static inline void model_twice(model *x) {
  model_file *f = model_pick(x);
  model_row old[MODEL_ROWS], rows[2];
  size_t n = f ? model_rows_of(x, f, old) : 0;
  if (n == 0) return;
  rows[0] = old[0];
  rows[1] = old[n - 1];
  if (model_chance(x, 50)) rows[0].seq = BL_NONE;
  if (model_chance(x, 50)) rows[0].v = 'z';
  model_data(x, rows, n > 1 ? 2 : 1, true);
}

static inline const char *model_operations(model *x) {
  const char *name = "overwrite";
  int n = (int)rng_between(&x->r, 1, 3);
  if (x->n_snapshots == 0 || model_chance(x, 15)) {
    model_append(x);
    return "append";
  }
  if (model_chance(x, 20)) {
    model_compact(x);
    return model_chance(x, 80) ? "replace" : name;
  }
  for (int i = 0; i < n; i++) {
    int what = (int)rng_between(&x->r, 1, 100);
    model_file *f = model_pick(x);
    if (what <= 20) model_append(x);
    else if (what <= 30) model_equality(x);
    else if (what <= 37) model_add_again(x);
    else if (what <= 42 && x->faults == MODEL_REPEATS_IDS && x->version > 2) model_twice(x);
    else if (!f) continue;
    else if (what <= 48) model_remove(x, f);
    else if (what <= 72) model_rewrite(x, f);
    else if (x->version > 2) model_vector(x, f);
    else model_positions(x);
  }
  return name;
}

/* ---- committing ---- */

static inline maker_entry model_entry(const model_file *f) {
  if (!f->live) return maker_deleted(f->f, f->seq, f->first);
  maker_entry e = f->fresh ? maker_added(f->f) : maker_existing(f->f, f->seq, f->first);
  if (!f->fresh) e.file_sequence_number = f->fseq;
  return e;
}

/* A manifest of the files for which take says yes; none where there are none. */
typedef struct model_writing {
  maker_entry entries[MODEL_MANIFESTS][MODEL_FILES];
  maker_manifest ms[MODEL_MANIFESTS];
  int number[MODEL_MANIFESTS]; /* in the model */
  int n;
} model_writing;

static inline void model_write(model *x, model_writing *w, bool deletes, int of, bool lost) {
  maker_entry *e = w->entries[w->n];
  size_t n = 0;
  assert_true(x->n_manifests < MODEL_MANIFESTS);
  for (int i = 0; i < x->n_files; i++) {
    model_file *f = &x->files[i];
    if (f->deletes != deletes || f->manifest != of || (of < 0 && (!f->live || f->lost != lost))) continue;
    e[n++] = model_entry(f);
    f->manifest = x->n_manifests;
  }
  if (n == 0) return;
  w->ms[w->n] = deletes ? maker_delete_manifest(e, n) : maker_data_manifest(e, n);
  if (lost) w->ms[w->n].has_first_row_id = true, w->ms[w->n].first_row_id = BL_NONE;
  w->number[w->n++] = x->n_manifests;
  x->manifests[x->n_manifests++].live = true;
}

/* Manifests of which a file went are written again; others stay, as a rule. */
static inline void model_keep(model *x, model_writing *w, int at) {
  bool any = false, all = true, deletes = x->manifests[at].written.content == BL_MANIFEST_DELETES;
  for (int i = 0; i < x->n_files; i++) {
    if (x->files[i].manifest != at) continue;
    any = any || x->files[i].live;
    all = all && x->files[i].live;
  }
  if (all && any && !model_chance(x, 15)) {
    w->ms[w->n] = maker_kept(&x->manifests[at].written);
    w->number[w->n++] = at;
    return;
  }
  x->manifests[at].live = false;
  model_write(x, w, deletes, at, false);
}

/* Where the files of the commit have come to stand. */
static inline void model_learn(model *x) {
  bl_error err = BL_ERROR_INIT;
  bl_plan *p;
  const bl_plan_options o = {0};
  test_ok(bl_plan_new(x->t, &x->t->metadata->snapshots[x->t->metadata->n_snapshots - 1], &o, &p, &err), &err);
  for (size_t i = 0; i < p->n_files; i++) {
    const bl_manifest_entry *e = p->files[i].data;
    for (int k = 0; k < x->n_files; k++) {
      model_file *f = &x->files[k];
      if (!f->live || f->deletes || !bl_str_is(e->file.path, maker_path(x->m, f->name))) continue;
      f->seq = e->sequence_number;
      f->fseq = e->file_sequence_number;
      f->first = e->file.first_row_id;
    }
  }
  bl_plan_free(p);
  for (int k = 0; k < x->n_files; k++) {
    model_file *f = &x->files[k];
    if (f->fresh && f->deletes) f->seq = f->fseq = x->n_snapshots + 1, f->first = BL_NONE;
    f->fresh = false;
    if (!f->live) f->manifest = -2;
  }
}

static inline int64_t model_long(const struct ArrowArray *c, int64_t i) {
  return bl_array_valid(c, i) ? ((const int64_t *)c->buffers[1])[c->offset + i] : BL_NONE;
}

static inline bl_str model_text(const struct ArrowArray *c, int64_t i) {
  const int32_t *off = c->buffers[1];
  if (!bl_array_valid(c, i)) return BL_STR_NONE;
  i += c->offset;
  return (bl_str){(const char *)c->buffers[2] + off[i], (size_t)(off[i + 1] - off[i])};
}

static inline int model_file_of(const model *x, bl_str path) {
  for (int i = 0; i < x->n_files; i++)
    if (x->files[i].live && !x->files[i].deletes && bl_str_is(path, maker_path(x->m, x->files[i].name))) return i;
  fail_msg("%.*s is no file", BL_STR_ARG(path));
  return -1;
}

/* The head's rows, as a scan gives them. */
static inline void model_scan(model *x, model_snapshot *s) {
  static const char *const names[] = {"k", "v", "_row_id", "_last_updated_sequence_number", "_file", "_pos"};
  const bl_scan_options o = {.columns = names, .n_columns = BL_LEN(names)};
  struct ArrowArrayStream stream;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_scan(x->t, &o, &stream, &err), &err);
  for (;;) {
    struct ArrowArray b;
    assert_int_equal(stream.get_next(&stream, &b), 0);
    if (!b.release) break;
    assert_int_equal(b.offset, 0);
    for (int64_t i = 0; i < b.length; i++) {
      assert_true(s->n < MODEL_LIVE);
      bl_str v = model_text(b.children[1], i);
      s->rows[s->n++] = (model_row){.k = model_long(b.children[0], i),
                                    .v = v.p ? v.p[0] : 0,
                                    .id = model_long(b.children[2], i),
                                    .seq = model_long(b.children[3], i),
                                    .file = model_file_of(x, model_text(b.children[4], i)),
                                    .pos = model_long(b.children[5], i)};
    }
    b.release(&b);
  }
  stream.release(&stream);
}

static inline void model_commit(model *x) {
  model_writing *w = calloc(1, sizeof *w);
  assert_non_null(w);
  const char *operation = model_operations(x);
  int before = x->n_manifests;
  if (model_chance(x, 50)) model_write(x, w, false, -1, false);
  for (int i = 0; i < before; i++)
    if (x->manifests[i].live) model_keep(x, w, i);
  model_write(x, w, false, -1, false);
  model_write(x, w, false, -1, true);
  model_write(x, w, true, -1, false);
  model_snapshot *s = &x->snapshots[x->n_snapshots];
  *s = (model_snapshot){.id = 100 + x->n_snapshots, .seq = x->n_snapshots + 1};
  const bl_manifest_file *list = maker_commit(x->m, s->id, operation, w->ms, (size_t)w->n);
  for (int i = 0; i < w->n; i++) x->manifests[w->number[i]].written = list[i];
  free(w);
  bl_table_free(x->t);
  x->t = maker_open(x->m);
  model_learn(x);
  model_scan(x, s);
  for (int i = 0; i < x->n_files; i++) {
    s->live[i] = x->files[i].live && !x->files[i].deletes;
    memcpy(s->dead[i], x->files[i].dead, sizeof s->dead[i]);
  }
  x->n_snapshots++;
}

/* A table of a few snapshots. */
static inline void model_make(model *x, uint64_t seed, model_faults faults) {
  *x = (model){.ctx = test_ctx(), .r = {seed}, .faults = faults};
  x->version = model_chance(x, 60) ? 3 : 2;
  x->m = maker_new(x->ctx, x->version, "[" MODEL_FIELDS "]");
  x->snapshots = calloc(MODEL_SNAPSHOTS, sizeof *x->snapshots);
  assert_non_null(x->snapshots);
  int n = (int)rng_between(&x->r, 2, MODEL_SNAPSHOTS);
  for (int i = 0; i < n; i++) {
    if (x->version == 2 && i > 0 && model_chance(x, 25)) {
      maker_upgrade(x->m, 3);
      x->version = 3;
    }
    model_commit(x);
  }
}

static inline void model_free(model *x) {
  bl_table_free(x->t);
  maker_free(x->m);
  free(x->snapshots);
  test_ctx_free(x->ctx);
}

#endif

/* twin.h: a table beside a naive twin of it: an array of rows with ids for each branch. Every change is made on both;
 * afterwards the scan, the lineage and the net changelog of the table must say what the twin says.
 *
 * Rows have a key k that is unique, a number v and a text s that may be null, and a number p. The twin cannot know
 * which ids new rows get: it takes them from the table, and checks that they are new and within the range that the
 * commit assigned. */
#ifndef BL_TESTS_MODEL_TWIN_H
#define BL_TESTS_MODEL_TWIN_H

#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/write.h"
#include "rows/stream.h"
#include "scan/columns.h"
#include "support/rows.h"
#include "support/text_input.h"
#include "write/commit.h"

enum { TWIN_ROWS = 400, TWIN_VERSIONS = 600, TWIN_BRANCHES = 2 };
#define TWIN_NULL INT64_MIN

typedef struct twin_row {
  int64_t k, v /* TWIN_NULL */, p;
  char s[24]; /* "\1": null */
  int64_t id, seq;
} twin_row;

typedef struct twin_rows {
  twin_row items[TWIN_ROWS];
  size_t n;
} twin_rows;

/* What a branch showed at a snapshot. */
typedef struct twin_version {
  int64_t snapshot_id;
  int branch;
  twin_rows rows;
} twin_version;

typedef struct twin {
  bl_ctx *ctx;
  char *dir, *table;
  bl_table *t;
  int version;  /* of the format */
  bool buckets; /* partitioned by something else than p */
  twin_rows now[TWIN_BRANCHES];
  int64_t head[TWIN_BRANCHES]; /* snapshot id; 0: none */
  twin_version *versions;
  size_t n_versions;
  char log[200]; /* the step in hand, for messages */
} twin;

static const char *const twin_refs[TWIN_BRANCHES] = {"main", "side"};

/* ---- a table ---- */

static inline void twin_reopen(twin *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table_free(w->t);
  test_ok(bl_table_open(w->ctx, w->table, NULL, &w->t, &err), &err);
}

static inline twin *twin_begin(bl_ctx *ctx, int version, const char *partition, const char *sort) {
  bl_error err = BL_ERROR_INIT;
  twin *w = calloc(1, sizeof *w);
  w->ctx = ctx;
  w->version = version;
  w->buckets = partition && strcmp(partition, "p") != 0;
  w->dir = test_temp_dir();
  w->table = test_join(w->dir, "t");
  w->versions = calloc(TWIN_VERSIONS, sizeof *w->versions);
  bl_create_options o = {.schema = "k long not null, v long, s string, p int",
                         .partition = partition,
                         .sort = sort,
                         .format_version = version};
  test_ok(bl_table_create(w->ctx, w->table, NULL, &o, &err), &err);
  twin_reopen(w);
  return w;
}

static inline void twin_end(twin *w) {
  bl_ctx *ctx = w->ctx;
  bl_table_free(w->t);
  test_remove_dir(w->dir);
  free(w->table);
  free(w->versions);
  free(w);
  test_ctx_free(ctx);
}

/* ---- rows as text ---- */

static inline size_t twin_print_row(char *out, size_t cap, const twin_row *r, bool lineage) {
  char v[32] = "null", s[40] = "null";
  if (r->v != TWIN_NULL) snprintf(v, sizeof v, "%lld", (long long)r->v);
  if (r->s[0] != '\1') snprintf(s, sizeof s, "\"%s\"", r->s);
  int n = snprintf(out, cap, "\"k\":%lld,\"v\":%s,\"s\":%s,\"p\":%lld", (long long)r->k, v, s, (long long)r->p);
  if (lineage && r->id < 0)
    n += snprintf(out + n, cap - (size_t)n, ",\"_row_id\":null,\"_last_updated_sequence_number\":null");
  else if (lineage)
    n += snprintf(out + n, cap - (size_t)n, ",\"_row_id\":%lld,\"_last_updated_sequence_number\":%lld",
                  (long long)r->id, (long long)r->seq);
  return (size_t)n;
}

/* Text that grows. */
typedef struct twin_text {
  char *p;
  size_t n, cap;
} twin_text;

static inline void twin_add(twin_text *t, const char *fmt, ...) BL_PRINTF(2, 3);
static inline void twin_add(twin_text *t, const char *fmt, ...) {
  va_list ap;
  if (t->cap - t->n < 1000) t->p = realloc(t->p, t->cap = t->cap * 2 + 2000);
  assert_non_null(t->p);
  va_start(ap, fmt);
  t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
  va_end(ap);
}

static inline void twin_add_row(twin_text *t, const twin_row *r, bool lineage, const char *more) {
  char text[300];
  twin_print_row(text, sizeof text, r, lineage);
  twin_add(t, "{%s%s}\n", text, more ? more : "");
}

static inline text_input twin_bytes(const twin_text *t) {
  return text_input_of(t->p, t->n);
}

static inline void twin_stream(twin *w, text_input *in, bool extra, struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  bl_read_options o = {.format = BL_INPUT_NDJSON, .extra_columns = extra};
  test_ok(bl_read_rows(w->t, &in->in, NULL, &o, out, &err), &err);
}

/* ---- the twin's own ---- */

static inline twin_row *twin_find(twin_rows *rows, int64_t k) {
  for (size_t i = 0; i < rows->n; i++)
    if (rows->items[i].k == k) return &rows->items[i];
  return NULL;
}

static inline twin_row *twin_find_id(twin_rows *rows, int64_t id) {
  for (size_t i = 0; i < rows->n; i++)
    if (rows->items[i].id == id) return &rows->items[i];
  return NULL;
}

static inline void twin_remove(twin_rows *rows, twin_row *r) {
  *r = rows->items[--rows->n];
}

static inline void twin_put(twin_rows *rows, const twin_row *r) {
  assert_true(rows->n < TWIN_ROWS);
  rows->items[rows->n++] = *r;
}

static inline bool twin_same_values(const twin_row *a, const twin_row *b) {
  return a->k == b->k && a->v == b->v && a->p == b->p && strcmp(a->s, b->s) == 0;
}

/* ---- comparing ---- */

static inline void twin_scan(twin *w, int branch, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  bl_scan_options o = {.ref = twin_refs[branch], .lineage = true};
  test_ok(bl_scan(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, out);
}

/* Ids of rows that are new (id < 0): as the table gave them. */
static inline void twin_learn(twin *w, int branch, const test_rows *scanned, int64_t first, int64_t next) {
  for (size_t i = 0; w->version >= 3 && i < scanned->n; i++) {
    twin_row *r = twin_find(&w->now[branch], test_rows_int(scanned, i, "k"));
    if (!r || r->id >= 0) continue;
    int64_t id = test_rows_int(scanned, i, "_row_id");
    if (id < first || id >= next)
      fail_msg("%s: a new row has the id %lld, not one of %lld … %lld", w->log, (long long)id, (long long)first,
               (long long)next - 1);
    if (twin_find_id(&w->now[branch], id)) fail_msg("%s: the id %lld is there twice", w->log, (long long)id);
    r->id = id;
  }
}

static inline void twin_compare_scan(twin *w, int branch, const test_rows *got) {
  twin_text text = {0};
  test_rows want;
  for (size_t i = 0; i < w->now[branch].n; i++) twin_add_row(&text, &w->now[branch].items[i], true, NULL);
  test_rows_parse(text.p ? text.p : "", text.n, &want);
  test_rows_same(&want, got, w->log);
  test_rows_free(&want);
  free(text.p);
}

static inline void twin_add_change(twin_text *t, const twin_row *r, const char *type) {
  char more[60];
  snprintf(more, sizeof more, ",\"_change_type\":\"%s\"", type);
  twin_add_row(t, r, true, more);
}

/* The net change between two of the twin's versions. */
static inline void twin_net(twin_rows *from, twin_rows *to, twin_text *out) {
  for (size_t i = 0; i < to->n; i++) {
    twin_row *old = twin_find_id(from, to->items[i].id);
    if (!old) twin_add_change(out, &to->items[i], "INSERT");
    else if (old->seq != to->items[i].seq) {
      twin_add_change(out, old, "UPDATE_BEFORE");
      twin_add_change(out, &to->items[i], "UPDATE_AFTER");
    }
  }
  for (size_t i = 0; i < from->n; i++)
    if (!twin_find_id(to, from->items[i].id)) twin_add_change(out, &from->items[i], "DELETE");
}

/* Lines of a changelog without the members that the twin does not know. */
static inline void twin_cut_changes(const test_rows *in, test_rows *out) {
  static const char *const members[] = {"\"_change_ordinal\":", "\"_commit_snapshot_id\":"};
  twin_text text = {0};
  for (size_t i = 0; i < in->n; i++) {
    char *line = strdup(in->lines[i]);
    for (size_t m = 0; m < BL_LEN(members); m++) {
      char *at = strstr(line, members[m]);
      assert_non_null(at);
      char *end = strchr(at, ',');
      assert_non_null(end);
      memmove(at, end + 1, strlen(end + 1) + 1);
    }
    twin_add(&text, "%s\n", line);
    free(line);
  }
  test_rows_parse(text.p ? text.p : "", text.n, out);
  free(text.p);
}

static inline void twin_compare_net(twin *w, int branch, const twin_version *from) {
  bl_error err = BL_ERROR_INIT;
  char snap[40], to[40], what[300];
  struct ArrowArrayStream s;
  twin_text text = {0};
  test_rows want, got, cut;
  snprintf(snap, sizeof snap, "id:%lld", (long long)from->snapshot_id);
  snprintf(to, sizeof to, "id:%lld", (long long)w->head[branch]);
  bl_changes_options o = {.from = snap, .to = to, .net = true};
  twin_net((twin_rows *)&from->rows, &w->now[branch], &text);
  test_rows_parse(text.p ? text.p : "", text.n, &want);
  test_ok(bl_changes(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, &got);
  twin_cut_changes(&got, &cut);
  snprintf(what, sizeof what, "%s: net changes from %s", w->log, snap);
  free(want.columns);
  want.columns = NULL;
  test_rows_same(&want, &cut, what);
  test_rows_free(&want);
  test_rows_free(&got);
  test_rows_free(&cut);
  free(text.p);
}

static inline const twin_version *twin_version_of(const twin *w, int64_t snapshot_id) {
  for (size_t i = 0; i < w->n_versions; i++)
    if (w->versions[i].snapshot_id == snapshot_id) return &w->versions[i];
  return NULL;
}

/* After a change: the outcome, the scan, the changes. before: of the branch. */
static inline void twin_check(twin *w, int branch, const bl_write_result *r, bool changes_rows) {
  int64_t first = w->t->metadata->next_row_id, parent = w->head[branch];
  size_t snapshots = w->t->metadata->n_snapshots;
  test_rows got;
  twin_reopen(w);
  if (r->committed != changes_rows)
    fail_msg("%s: it was %s", w->log, r->committed ? "committed for nothing" : "not committed");
  assert_int_equal(w->t->metadata->n_snapshots, snapshots + r->committed);
  assert_true(w->t->metadata->next_row_id >= first);
  if (r->committed) w->head[branch] = r->snapshot_id;
  for (size_t i = 0; i < w->now[branch].n; i++) /* -1: what this change wrote */
    if (w->now[branch].items[i].seq < 0) w->now[branch].items[i].seq = r->sequence_number;
  twin_scan(w, branch, &got);
  twin_learn(w, branch, &got, first, w->t->metadata->next_row_id);
  twin_compare_scan(w, branch, &got);
  test_rows_free(&got);
  if (!r->committed) return;
  assert_true(w->n_versions < TWIN_VERSIONS);
  w->versions[w->n_versions++] =
      (twin_version){.snapshot_id = r->snapshot_id, .branch = branch, .rows = w->now[branch]};
  const twin_version *before = twin_version_of(w, parent);
  if (w->version >= 3 && before) twin_compare_net(w, branch, before);
}

#endif

/* test_histories.c: long random histories of one table against a twin that is an array of rows: rows are written in
 * both modes on several branches, while columns are added (with defaults), dropped, renamed, moved and widened and the
 * partitions change; snapshots are tagged, branched off, fast-forwarded, rolled back to, cherry-picked. After each step
 * the branch's rows with their lineage are what the twin says, and so are the changes between earlier snapshots: the
 * log, with ordinals and commits, where one is the other's ancestor, and net between any two.
 *
 * BL_MODEL_SEED=N: other histories; BL_MODEL=N: N times as many. A history that fails prints its seed; BL_MODEL_ONLY=N
 * runs that one alone. */
#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/write.h"
#include "rows/stream.h"
#include "scan/columns.h"
#include "support/chance.h"
#include "support/rows.h"
#include "support/text_input.h"
#include "table/table.h"

enum {
  KEYS = 60,
  MOST_ROWS = 120,
  SLOTS = 30,
  COLUMNS = 10,
  MOST_VERSIONS = 120,
  MOST_BRANCHES = 4,
  STEPS = 50,
  CELL = 20
};

static int below(rng *r, int n) {
  return n > 0 ? (int)(rng_next(r) % (uint64_t)n) : 0;
}

/* ---- the twin ---- */

typedef enum kind { INT, LONG, FLOAT, DOUBLE, STRING, KINDS } kind;
static const char *const kind_names[] = {"int", "long", "float", "double", "string"};

/* A slot stands for a field id: a column that is dropped and added again has another. Slot 0 is the key, slot 1 p. */
typedef struct column {
  int slot;
  kind kind;
  char name[8];
  char otherwise[CELL]; /* the write default */
} column;

typedef struct schema {
  column columns[COLUMNS];
  int n;
} schema;

/* Cells are JSON; "" where the row's file does not have the column. */
typedef struct row {
  int key;
  char cells[SLOTS][CELL];
  int64_t id, seq; /* id -1: not known yet; seq -1: of the commit in hand */
} row;

typedef struct rows {
  row items[MOST_ROWS];
  int n;
} rows;

typedef struct version {
  int64_t id, seq;
  int parent; /* -1: none */
  bool append, picked;
  schema schema;
  rows rows;
} version;

typedef struct branch {
  char name[8];
  int head; /* -1: none */
} branch;

typedef struct twin {
  rng r;
  bl_ctx *ctx;
  char *dir, *path;
  bl_table *t;
  schema schema;
  int slots, tags;
  char initial[SLOTS][CELL]; /* initial defaults */
  bool by_p, by_bucket;      /* the partitions now */
  version *versions;
  int n_versions;
  branch branches[MOST_BRANCHES];
  int n_branches;
  char log[300]; /* the step in hand */
} twin;

static void note(twin *w, const char *fmt, ...) BL_PRINTF(2, 3);
static void note(twin *w, const char *fmt, ...) {
  va_list ap;
  char *at = strstr(w->log, " | ");
  size_t n = at ? (size_t)(at - w->log) : strlen(w->log);
  n += (size_t)snprintf(w->log + n, sizeof w->log - n, " | ");
  va_start(ap, fmt);
  vsnprintf(w->log + n, sizeof w->log - n, fmt, ap);
  va_end(ap);
}

static void check(const twin *w, bl_status st, const bl_error *err) {
  if (st != BL_OK) fail_msg("%s: %s", w->log, err->message);
}

static const char *cell(const twin *w, const row *r, int slot) {
  const char *c = r->cells[slot];
  return *c ? c : w->initial[slot];
}

static row *find_key(rows *rs, int key) {
  for (int i = 0; i < rs->n; i++)
    if (rs->items[i].key == key) return &rs->items[i];
  return NULL;
}

static const row *find_id(const rows *rs, int64_t id) {
  for (int i = 0; i < rs->n; i++)
    if (rs->items[i].id == id) return &rs->items[i];
  return NULL;
}

static void take_away(rows *rs, row *r) {
  *r = rs->items[--rs->n];
}

static void reopen(twin *w) {
  bl_error err = BL_ERROR_INIT;
  bl_table_free(w->t);
  check(w, bl_table_open(w->ctx, w->path, NULL, &w->t, &err), &err);
}

/* ---- text ---- */

typedef struct text {
  char *p;
  size_t n, cap;
} text;

static void add(text *t, const char *fmt, ...) BL_PRINTF(2, 3);
static void add(text *t, const char *fmt, ...) {
  va_list ap;
  if (t->cap - t->n < 1000) t->p = realloc(t->p, t->cap = t->cap * 2 + 4000);
  assert_non_null(t->p);
  va_start(ap, fmt);
  t->n += (size_t)vsnprintf(t->p + t->n, t->cap - t->n, fmt, ap);
  va_end(ap);
}

static void add_cells(text *t, const twin *w, const schema *s, const row *r) {
  for (int i = 0; i < s->n; i++)
    add(t, "%s\"%s\":%s", i ? "," : "", s->columns[i].name, cell(w, r, s->columns[i].slot));
}

static void add_lineage(text *t, const row *r) {
  add(t, ",\"_row_id\":%lld,\"_last_updated_sequence_number\":%lld", (long long)r->id, (long long)r->seq);
}

static void stream_of(twin *w, const text *t, text_input *in, struct ArrowArrayStream *out) {
  bl_error err = BL_ERROR_INIT;
  const bl_read_options o = {.format = BL_INPUT_NDJSON};
  *in = text_input_of(t->p, t->n);
  check(w, bl_read_rows(w->t, &in->in, NULL, &o, out, &err), &err);
}

/* ---- chance ---- */

static void random_cell(rng *r, kind k, char *out) {
  if (below(r, 6) == 0) snprintf(out, CELL, "null");
  else if (k == STRING) snprintf(out, CELL, "\"s%d\"", below(r, 6));
  else if (k == FLOAT || k == DOUBLE) snprintf(out, CELL, "%d.5", below(r, 9));
  else snprintf(out, CELL, "%d", below(r, 20));
}

static row random_row(twin *w, int key) {
  row r = {.key = key, .id = -1, .seq = -1};
  for (int i = 0; i < w->schema.n; i++)
    random_cell(&w->r, w->schema.columns[i].kind, r.cells[w->schema.columns[i].slot]);
  snprintf(r.cells[0], CELL, "%d", key);
  snprintf(r.cells[1], CELL, "%d", below(&w->r, 4));
  return r;
}

typedef struct predicate {
  int slot, op;
  char value[CELL], text[80];
} predicate;

static predicate random_predicate(twin *w) {
  static const char *const ops[] = {"=", "<", ">=", "is null"};
  const column *c = &w->schema.columns[below(&w->r, w->schema.n)];
  predicate p = {.slot = c->slot, .op = below(&w->r, 4)};
  if (c->kind == STRING && p.op < 3) p.op = 0;
  do random_cell(&w->r, c->kind, p.value);
  while (strcmp(p.value, "null") == 0);
  if (p.slot == 0) snprintf(p.value, CELL, "%d", below(&w->r, KEYS)), p.op = below(&w->r, 3);
  bool quoted = p.value[0] == '"';
  if (p.op == 3) snprintf(p.text, sizeof p.text, "%s is null", c->name);
  else
    snprintf(p.text, sizeof p.text, "%s %s %s%.*s%s", c->name, ops[p.op], quoted ? "'" : "",
             (int)strlen(p.value) - 2 * quoted, p.value + quoted, quoted ? "'" : "");
  return p;
}

static bool matches(const twin *w, const predicate *p, const row *r) {
  const char *c = cell(w, r, p->slot);
  bool null = strcmp(c, "null") == 0;
  if (p->op == 3 || null) return p->op == 3 && null;
  if (c[0] == '"') return strcmp(c, p->value) == 0;
  double a = atof(c), b = atof(p->value);
  return p->op == 0 ? a == b : p->op == 1 ? a < b : a >= b;
}

/* ---- writing rows ---- */

typedef struct writing {
  twin *w;
  branch *b;
  rows now;
  bl_write_options o;
  bl_write_result r;
  bool append, changed;
  bl_error err;
} writing;

static row *row_of(writing *x, int key) {
  return find_key(&x->now, key);
}

static void put(writing *x, const row *r) {
  assert_true(x->now.n < MOST_ROWS);
  x->now.items[x->now.n++] = *r;
  x->changed = true;
}

/* The row is written anew: it has the columns of today, and no others. */
static void rewrite(const twin *w, row *r) {
  row old = *r;
  memset(r->cells, 0, sizeof r->cells);
  for (int i = 0; i < w->schema.n; i++) {
    int slot = w->schema.columns[i].slot;
    snprintf(r->cells[slot], CELL, "%s", cell(w, &old, slot));
  }
  r->seq = -1;
}

static void append_rows(writing *x) {
  twin *w = x->w;
  text t = {0};
  text_input in;
  struct ArrowArrayStream s;
  const column *left_out = below(&w->r, 2) ? &w->schema.columns[below(&w->r, w->schema.n)] : NULL;
  if (left_out && left_out->slot < 2) left_out = NULL;
  for (int n = 1 + below(&w->r, 6); n > 0; n--) {
    int key = below(&w->r, KEYS);
    if (row_of(x, key)) continue;
    row r = random_row(w, key);
    const char *between = "";
    add(&t, "{");
    for (int i = 0; i < w->schema.n; i++) {
      const column *c = &w->schema.columns[i];
      if (c == left_out) snprintf(r.cells[c->slot], CELL, "%s", c->otherwise);
      else add(&t, "%s\"%s\":%s", between, c->name, r.cells[c->slot]), between = ",";
    }
    add(&t, "}\n");
    put(x, &r);
  }
  x->append = true;
  note(w, "append to %s", x->b->name);
  stream_of(w, &t, &in, &s);
  check(w, bl_append(w->t, &s, &x->o, &x->r, &x->err), &x->err);
  free(t.p);
}

static void delete_matching(writing *x, const predicate *p) {
  for (int i = 0; i < x->now.n;) {
    if (!matches(x->w, p, &x->now.items[i])) i++;
    else take_away(&x->now, &x->now.items[i]), x->changed = true;
  }
}

static void delete_rows(writing *x) {
  predicate p = random_predicate(x->w);
  note(x->w, "delete on %s where %s", x->b->name, p.text);
  delete_matching(x, &p);
  check(x->w, bl_delete_rows(x->w->t, p.text, &x->o, &x->r, &x->err), &x->err);
}

static void update_rows(writing *x) {
  twin *w = x->w;
  predicate p = random_predicate(w);
  char set[80], value[CELL];
  const column *c;
  do c = &w->schema.columns[below(&w->r, w->schema.n)];
  while (c->slot == 0);
  bool count = c->kind < FLOAT && below(&w->r, 2);
  random_cell(&w->r, c->kind, value);
  if (c->slot == 1 && strcmp(value, "null") == 0) snprintf(value, CELL, "3");
  bool quoted = value[0] == '"';
  if (count) snprintf(set, sizeof set, "%s = %s + 1", c->name, c->name);
  else
    snprintf(set, sizeof set, "%s = %s%.*s%s", c->name, quoted ? "'" : "", (int)strlen(value) - 2 * quoted,
             value + quoted, quoted ? "'" : "");
  note(w, "update on %s set %s where %s", x->b->name, set, p.text);
  for (int i = 0; i < x->now.n; i++) {
    row *r = &x->now.items[i];
    if (!matches(w, &p, r)) continue;
    rewrite(w, r);
    char *at = r->cells[c->slot];
    if (!count) snprintf(at, CELL, "%s", value);
    else if (strcmp(at, "null") != 0) snprintf(at, CELL, "%d", atoi(at) + 1);
    x->changed = true;
  }
  const char *sets[] = {set};
  check(w, bl_update_rows(w->t, sets, 1, p.text, &x->o, &x->r, &x->err), &x->err);
}

static bool same_values(const twin *w, const row *a, const row *b) {
  for (int i = 0; i < w->schema.n; i++)
    if (strcmp(cell(w, a, w->schema.columns[i].slot), cell(w, b, w->schema.columns[i].slot)) != 0) return false;
  return true;
}

static void put_by_key(writing *x, const row *r) {
  row *have = row_of(x, r->key);
  if (!have) put(x, r);
  else if (!same_values(x->w, have, r)) {
    int64_t id = have->id;
    *have = *r;
    have->id = id;
    x->changed = true;
  }
}

/* Rows by key; `whole`: they are all that is to be there. */
static void merge_rows(writing *x, bool whole) {
  twin *w = x->w;
  text t = {0};
  text_input in;
  struct ArrowArrayStream s;
  bool given[KEYS] = {false};
  rows before = x->now;
  for (int key = 0; key < KEYS; key++) {
    const row *have = find_key(&before, key);
    int dice = below(&w->r, 12);
    if (have ? dice >= (whole ? 11 : 5) : dice > 0) continue;
    row r = have && dice > 0 ? *have : random_row(w, key);
    rewrite(w, &r);
    r.id = -1;
    given[key] = true;
    put_by_key(x, &r);
    add(&t, "{");
    add_cells(&t, w, &w->schema, &r);
    add(&t, "}\n");
  }
  for (int i = 0; whole && i < x->now.n;) {
    if (given[x->now.items[i].key]) i++;
    else take_away(&x->now, &x->now.items[i]), x->changed = true;
  }
  const char *key[1];
  for (int i = 0; i < w->schema.n; i++)
    if (w->schema.columns[i].slot == 0) key[0] = w->schema.columns[i].name;
  const bl_upsert_options u = {.key = key, .n_key = 1, .delete_missing = whole};
  note(w, "%s on %s", whole ? "sync" : "upsert", x->b->name);
  stream_of(w, &t, &in, &s);
  check(w, bl_upsert(w->t, &s, &u, &x->o, &x->r, &x->err), &x->err);
  free(t.p);
}

static void upsert_rows(writing *x) {
  merge_rows(x, false);
}

static void sync_rows(writing *x) {
  merge_rows(x, true);
}

static void overwrite_rows(writing *x) {
  twin *w = x->w;
  predicate p = random_predicate(w);
  text t = {0};
  text_input in;
  struct ArrowArrayStream s;
  note(w, "overwrite on %s where %s", x->b->name, p.text);
  delete_matching(x, &p);
  for (int n = below(&w->r, 5); n > 0; n--) {
    int key = below(&w->r, KEYS);
    if (row_of(x, key)) continue;
    row r = random_row(w, key);
    put(x, &r);
    add(&t, "{");
    add_cells(&t, w, &w->schema, &r);
    add(&t, "}\n");
  }
  stream_of(w, &t, &in, &s);
  check(w, bl_overwrite(w->t, &s, BL_OVERWRITE_WHERE, p.text, &x->o, &x->r, &x->err), &x->err);
  free(t.p);
}

/* ---- comparing ---- */

static void scan(twin *w, const char *at, const char *ref, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  const bl_scan_options o = {.at = at, .ref = ref, .lineage = true};
  check(w, bl_scan(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, out);
}

static void same(const twin *w, const text *want, const test_rows *got, bool ordered, const char *what) {
  test_rows wanted;
  char where[600];
  snprintf(where, sizeof where, "%s: %s", w->log, what);
  test_rows_parse(want->p ? want->p : "", want->n, &wanted);
  if (ordered) test_rows_same_order(&wanted, got, where);
  else test_rows_same(&wanted, got, where);
  test_rows_free(&wanted);
}

static void compare_scan(twin *w, const char *at, const char *ref, const schema *s, const rows *rs) {
  text t = {0};
  test_rows got;
  for (int i = 0; i < rs->n; i++) {
    add(&t, "{");
    add_cells(&t, w, s, &rs->items[i]);
    add_lineage(&t, &rs->items[i]);
    add(&t, "}\n");
  }
  scan(w, at, ref, &got);
  same(w, &t, &got, false, at ? at : ref);
  test_rows_free(&got);
  free(t.p);
}

static void add_event(text *t, const twin *w, const schema *s, const row *r, const char *type, int ordinal,
                      int64_t id) {
  add(t, "{");
  add_cells(t, w, s, r);
  add_lineage(t, r);
  add(t, ",\"_change_type\":\"%s\"", type);
  if (ordinal >= 0) add(t, ",\"_change_ordinal\":%d,\"_commit_snapshot_id\":%lld", ordinal, (long long)id);
  add(t, "}\n");
}

static int64_t next_id(const rows *a, const rows *b, int64_t after) {
  int64_t best = INT64_MAX;
  const rows *both[] = {a, b};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < both[k]->n; i++)
      if (both[k]->items[i].id > after && both[k]->items[i].id < best) best = both[k]->items[i].id;
  return best;
}

/* Versions from `from` (exclusive) to `to`, oldest first; -1: it is no ancestor. */
static int chain(const twin *w, int from, int to, int *out) {
  int n = 0;
  for (int v = to; v != from; v = w->versions[v].parent) {
    if (v < 0) return -1;
    out[n++] = v;
  }
  for (int i = 0; i < n / 2; i++) {
    int x = out[i];
    out[i] = out[n - 1 - i], out[n - 1 - i] = x;
  }
  return n;
}

/* One step's events, by row id. */
static void add_step(text *t, const twin *w, const schema *s, const rows *before, const rows *after, int ordinal,
                     int64_t id) {
  for (int64_t i = next_id(before, after, -1); i < INT64_MAX; i = next_id(before, after, i)) {
    const row *a = find_id(before, i), *b = find_id(after, i);
    if (!a) add_event(t, w, s, b, "INSERT", ordinal, id);
    else if (!b) add_event(t, w, s, a, "DELETE", ordinal, id);
    else if (a->seq != b->seq) {
      add_event(t, w, s, a, "UPDATE_BEFORE", ordinal, id);
      add_event(t, w, s, b, "UPDATE_AFTER", ordinal, id);
    }
  }
}

static void changes(twin *w, int from, int to, bool net, test_rows *out) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  char a[40], b[40];
  if (from >= 0) snprintf(a, sizeof a, "id:%lld", (long long)w->versions[from].id);
  snprintf(b, sizeof b, "id:%lld", (long long)w->versions[to].id);
  const bl_changes_options o = {.from = from >= 0 ? a : NULL, .to = b, .net = net};
  check(w, bl_changes(w->t, &o, &s, &err), &err);
  test_rows_stream(w->ctx, &s, out);
}

static void compare_log(twin *w, int from, int to) {
  static const rows nothing;
  int steps[MOST_VERSIONS], n = chain(w, from, to, steps);
  text t = {0};
  test_rows got;
  char what[80];
  if (n < 0) return;
  for (int i = 0; i < n; i++) {
    const version *v = &w->versions[steps[i]];
    add_step(&t, w, &w->versions[to].schema, v->parent < 0 ? &nothing : &w->versions[v->parent].rows, &v->rows, i,
             v->id);
  }
  snprintf(what, sizeof what, "log of %d..%d", from, to);
  changes(w, from, to, false, &got);
  same(w, &t, &got, true, what);
  test_rows_free(&got);
  free(t.p);
}

/* C7: where a net event is put. */
static int placed(const twin *w, const int *steps, int n, const row *before, const row *after) {
  for (int i = n - 1; i >= 0; i--) {
    const version *v = &w->versions[steps[i]];
    if (after && v->seq == after->seq) return i;
    if (!after && v->parent >= 0 && find_id(&w->versions[v->parent].rows, before->id) && !find_id(&v->rows, before->id))
      return i;
  }
  return n - 1;
}

static void compare_net(twin *w, int from, int to) {
  int steps[MOST_VERSIONS], n = chain(w, from, to, steps);
  const version *a = &w->versions[from], *b = &w->versions[to];
  text t = {0};
  test_rows got;
  char what[80];
  for (int64_t i = next_id(&a->rows, &b->rows, -1); n >= 0 && i < INT64_MAX; i = next_id(&a->rows, &b->rows, i)) {
    const row *x = find_id(&a->rows, i), *y = find_id(&b->rows, i);
    if (x && y && x->seq == y->seq) continue;
    int at = placed(w, steps, n, x, y);
    int64_t id = w->versions[steps[at]].id;
    if (x) add_event(&t, w, &b->schema, x, y ? "UPDATE_BEFORE" : "DELETE", at, id);
    if (y) add_event(&t, w, &b->schema, y, x ? "UPDATE_AFTER" : "INSERT", at, id);
  }
  if (n < 0) add_step(&t, w, &b->schema, &a->rows, &b->rows, 0, b->id);
  snprintf(what, sizeof what, "net of %d..%d%s", from, to, n < 0 ? ", of two lines" : "");
  changes(w, from, to, true, &got);
  same(w, &t, &got, false, what);
  test_rows_free(&got);
  free(t.p);
}

static void compare_some(twin *w) {
  char at[40];
  if (!w->n_versions) return;
  int a = below(&w->r, w->n_versions), b = a + below(&w->r, w->n_versions - a);
  compare_net(w, a, b);
  compare_log(w, a, b);
  b = below(&w->r, w->n_versions);
  compare_log(w, below(&w->r, 3) ? w->versions[b].parent : -1, b);
  snprintf(at, sizeof at, "id:%lld", (long long)w->versions[a].id);
  compare_scan(w, at, NULL, &w->versions[a].schema, &w->versions[a].rows);
}

/* ---- after a commit of rows ---- */

static void learn_ids(writing *x, int64_t first, int64_t next) {
  twin *w = x->w;
  test_rows got;
  const char *key = "";
  for (int i = 0; i < w->schema.n; i++)
    if (w->schema.columns[i].slot == 0) key = w->schema.columns[i].name;
  scan(w, NULL, x->b->name, &got);
  for (size_t i = 0; i < got.n; i++) {
    row *r = row_of(x, (int)test_rows_int(&got, i, key));
    int64_t id = test_rows_int(&got, i, "_row_id");
    if (!r || r->id >= 0) continue;
    if (id < first || id >= next || find_id(&x->now, id))
      fail_msg("%s: a new row has the id %lld", w->log, (long long)id);
    r->id = id;
  }
  test_rows_free(&got);
}

static void add_version(writing *x, int64_t snapshot, int64_t seq) {
  twin *w = x->w;
  version *v = &w->versions[w->n_versions];
  assert_true(w->n_versions < MOST_VERSIONS);
  for (int i = 0; i < x->now.n; i++)
    if (x->now.items[i].seq < 0) x->now.items[i].seq = seq;
  *v = (version){.id = snapshot, .seq = seq, .parent = x->b->head, .append = x->append, .schema = w->schema};
  v->rows = x->now;
  x->b->head = w->n_versions++;
}

static void finish(writing *x, int64_t first) {
  twin *w = x->w;
  reopen(w);
  if (x->r.committed != x->changed) fail_msg("%s: %s", w->log, x->changed ? "not committed" : "committed for nothing");
  if (!x->r.committed) return;
  learn_ids(x, first, w->t->metadata->next_row_id);
  add_version(x, x->r.snapshot_id, x->r.sequence_number);
}

static void compare_branch(twin *w, const branch *b) {
  static const rows nothing;
  if (b->head < 0 && strcmp(b->name, "main") != 0) return;
  compare_scan(w, NULL, b->name, &w->schema, b->head < 0 ? &nothing : &w->versions[b->head].rows);
}

static void write_step(twin *w) {
  static void (*const verbs[])(writing * x) = {append_rows, append_rows, delete_rows, update_rows,
                                               update_rows, upsert_rows, sync_rows,   overwrite_rows};
  writing *x = calloc(1, sizeof *x);
  x->w = w, x->err = (bl_error)BL_ERROR_INIT;
  x->b = &w->branches[below(&w->r, 2) ? 0 : below(&w->r, w->n_branches)];
  if (x->b->head >= 0) x->now = w->versions[x->b->head].rows;
  x->o.ref = x->b->name;
  x->o.mode = below(&w->r, 2) ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE;
  int64_t first = w->t->metadata->next_row_id;
  verbs[below(&w->r, BL_LEN(verbs))](x);
  finish(x, first);
  compare_branch(w, x->b);
  free(x);
}

/* ---- the schema ---- */

static void alter(twin *w, const char *const *words, size_t n) {
  bl_error err = BL_ERROR_INIT;
  char all[120] = "";
  for (size_t i = 0; i < n; i++) snprintf(all + strlen(all), sizeof all - strlen(all), " %s", words[i]);
  note(w, "alter%s", all);
  check(w, bl_alter(w->t, words, n, NULL, &err), &err);
  reopen(w);
}

static bool name_is_free(const twin *w, const char *name) {
  for (int i = 0; i < w->schema.n; i++)
    if (strcmp(w->schema.columns[i].name, name) == 0) return false;
  return true;
}

static bool free_name(twin *w, char *out) {
  for (int i = 0; i < 20; i++) {
    snprintf(out, 8, "c%d", below(&w->r, 12));
    if (name_is_free(w, out)) return true;
  }
  return false;
}

static void as_literal(const char *json, char *out) {
  size_t n = strlen(json);
  bool quoted = *json == '"';
  snprintf(out, CELL, "%s%.*s%s", quoted ? "'" : "", (int)(n - 2 * quoted), json + quoted, quoted ? "'" : "");
}

static void add_column(twin *w) {
  column c = {.slot = w->slots, .kind = (kind)below(&w->r, KINDS)};
  char literal[CELL];
  if (w->schema.n == COLUMNS || w->slots == SLOTS || !free_name(w, c.name)) return;
  snprintf(c.otherwise, CELL, "null");
  const char *words[] = {"add", c.name, kind_names[c.kind], "default", literal};
  if (below(&w->r, 2)) random_cell(&w->r, c.kind, c.otherwise);
  bool has_default = strcmp(c.otherwise, "null") != 0;
  as_literal(c.otherwise, literal);
  alter(w, words, has_default ? 5 : 3);
  snprintf(w->initial[w->slots++], CELL, "%s", c.otherwise);
  w->schema.columns[w->schema.n++] = c;
}

static int random_column(twin *w, int first_slot) {
  for (int i = 0; i < 30; i++) {
    int at = below(&w->r, w->schema.n);
    if (w->schema.columns[at].slot >= first_slot) return at;
  }
  return -1;
}

static void drop_column(twin *w) {
  int at = random_column(w, 2);
  if (at < 0) return;
  alter(w, (const char *[]){"drop", w->schema.columns[at].name}, 2);
  w->schema.n--;
  memmove(&w->schema.columns[at], &w->schema.columns[at + 1], (size_t)(w->schema.n - at) * sizeof(column));
}

static void rename_column(twin *w) {
  int at = random_column(w, 0);
  char name[8];
  if (at < 0 || !free_name(w, name)) return;
  alter(w, (const char *[]){"rename", w->schema.columns[at].name, name}, 3);
  snprintf(w->schema.columns[at].name, sizeof name, "%s", name);
}

static void move_column(twin *w) {
  int at = random_column(w, 0);
  column c = w->schema.columns[at];
  alter(w, (const char *[]){"move", c.name, "first"}, 3);
  memmove(&w->schema.columns[1], &w->schema.columns[0], (size_t)at * sizeof c);
  w->schema.columns[0] = c;
}

static void widen_column(twin *w) {
  for (int i = 0; i < w->schema.n; i++) {
    column *c = &w->schema.columns[i];
    if (c->kind != INT && c->kind != FLOAT) continue;
    c->kind = c->kind == INT ? LONG : DOUBLE;
    alter(w, (const char *[]){"type", c->name, kind_names[c->kind]}, 3);
    return;
  }
}

static void change_default(twin *w) {
  int at = random_column(w, 2);
  char literal[CELL], value[CELL];
  if (at < 0) return;
  column *c = &w->schema.columns[at];
  do random_cell(&w->r, c->kind, value);
  while (strcmp(value, "null") == 0);
  as_literal(value, literal);
  alter(w, (const char *[]){"default", c->name, literal}, 3);
  snprintf(c->otherwise, CELL, "%s", value);
}

static void change_partitions(twin *w) {
  char field[40];
  bool *has = below(&w->r, 2) ? &w->by_p : &w->by_bucket;
  const char *name = "";
  for (int i = 0; i < w->schema.n; i++)
    if (w->schema.columns[i].slot == (has == &w->by_p)) name = w->schema.columns[i].name;
  snprintf(field, sizeof field, has == &w->by_p ? "%s" : "bucket(3,%s)", name);
  alter(w, (const char *[]){"partition", *has ? "drop" : "add", field}, 3);
  *has = !*has;
}

static void schema_step(twin *w) {
  static void (*const steps[])(twin * w) = {add_column,  add_column,   drop_column,    rename_column,
                                            move_column, widen_column, change_default, change_partitions};
  steps[below(&w->r, BL_LEN(steps))](w);
  compare_branch(w, &w->branches[below(&w->r, w->n_branches)]);
}

/* ---- refs ---- */

static void make_ref(twin *w) {
  bl_error err = BL_ERROR_INIT;
  char at[40], name[8];
  bool is_branch = w->n_branches < MOST_BRANCHES && below(&w->r, 3);
  int v = below(&w->r, w->n_versions);
  snprintf(at, sizeof at, "id:%lld", (long long)w->versions[v].id);
  snprintf(name, sizeof name, is_branch ? "b%d" : "t%d", is_branch ? w->n_branches : w->tags++);
  const bl_ref_options o = {.at = at};
  note(w, "ref %s at %d", name, v);
  check(w, bl_ref_create(w->t, name, is_branch, &o, NULL, &err), &err);
  reopen(w);
  if (!is_branch) return;
  branch *b = &w->branches[w->n_branches++];
  snprintf(b->name, sizeof b->name, "%s", name);
  b->head = v;
}

static void fast_forward(twin *w) {
  bl_error err = BL_ERROR_INIT;
  int steps[MOST_VERSIONS];
  branch *from = &w->branches[below(&w->r, w->n_branches)], *to = &w->branches[below(&w->r, w->n_branches)];
  if (from == to || from->head < 0 || to->head < 0 || chain(w, from->head, to->head, steps) <= 0) return;
  note(w, "fast-forward of %s to %s", from->name, to->name);
  check(w, bl_fast_forward(w->t, from->name, to->name, NULL, NULL, &err), &err);
  reopen(w);
  from->head = to->head;
}

static void rollback(twin *w) {
  bl_error err = BL_ERROR_INIT;
  char at[40];
  int v = w->branches[0].head;
  int64_t next = w->t->metadata->next_row_id;
  for (int n = 1 + below(&w->r, 3); n > 0 && v >= 0 && w->versions[v].parent >= 0; n--) v = w->versions[v].parent;
  if (v < 0 || v == w->branches[0].head) return;
  snprintf(at, sizeof at, "id:%lld", (long long)w->versions[v].id);
  note(w, "rollback to %d", v);
  check(w, bl_rollback(w->t, at, NULL, NULL, &err), &err);
  reopen(w);
  assert_int_equal(w->t->metadata->next_row_id, next);
  w->branches[0].head = v;
}

/* The rows of an append of another line come to main, with new ids. */
static void cherry_pick(twin *w) {
  int steps[MOST_VERSIONS];
  char at[40];
  version *v = &w->versions[below(&w->r, w->n_versions)];
  branch *main = &w->branches[0];
  if (!v->append || v->picked || v->parent < 0 || v->parent == main->head || main->head < 0) return;
  if (chain(w, (int)(v - w->versions), main->head, steps) >= 0) return;
  writing *x = calloc(1, sizeof *x);
  x->w = w, x->b = main, x->now = w->versions[main->head].rows, x->append = true, x->err = (bl_error)BL_ERROR_INIT;
  for (int i = 0; i < v->rows.n; i++) {
    row r = v->rows.items[i];
    if (find_id(&w->versions[v->parent].rows, r.id)) continue;
    if (row_of(x, r.key)) goto done; /* keys are to stay unique */
    r.id = r.seq = -1;
    put(x, &r);
  }
  snprintf(at, sizeof at, "id:%lld", (long long)v->id);
  note(w, "cherry-pick of %d", (int)(v - w->versions));
  int64_t first = w->t->metadata->next_row_id;
  check(w, bl_cherry_pick(w->t, at, NULL, &x->r, &x->err), &x->err);
  v->picked = true;
  finish(x, first);
  w->versions[main->head].picked = true;
done:
  free(x);
}

static void ref_step(twin *w) {
  static void (*const steps[])(twin * w) = {make_ref, make_ref,    fast_forward, fast_forward,
                                            rollback, cherry_pick, cherry_pick};
  if (!w->n_versions) return;
  steps[below(&w->r, BL_LEN(steps))](w);
  compare_branch(w, &w->branches[0]);
}

/* ---- histories ---- */

static twin *begin(uint64_t seed) {
  static const column first[] = {
      {0, LONG, "k", "null"}, {1, INT, "p", "null"}, {2, INT, "v", "null"}, {3, STRING, "s", "null"}};
  bl_error err = BL_ERROR_INIT;
  twin *w = calloc(1, sizeof *w);
  w->r.s = seed;
  w->ctx = test_ctx();
  w->dir = test_temp_dir();
  w->path = test_join(w->dir, "t");
  w->versions = calloc(MOST_VERSIONS, sizeof *w->versions);
  for (int i = 0; i < SLOTS; i++) snprintf(w->initial[i], CELL, "null");
  memcpy(w->schema.columns, first, sizeof first);
  w->schema.n = w->slots = 4;
  w->by_p = seed % 3 == 0;
  w->branches[0] = (branch){"main", -1};
  w->n_branches = 1;
  const bl_create_options o = {.schema = "k long, p int, v int, s string", .partition = w->by_p ? "p" : NULL};
  check(w, bl_table_create(w->ctx, w->path, NULL, &o, &err), &err);
  reopen(w);
  return w;
}

static void end(twin *w) {
  bl_ctx *ctx = w->ctx;
  bl_table_free(w->t);
  test_remove_dir(w->dir);
  free(w->path);
  free(w->versions);
  free(w);
  test_ctx_free(ctx);
}

static void run(uint64_t seed) {
  twin *w = begin(seed);
  for (int i = 0; i < STEPS; i++) {
    int dice = below(&w->r, 10);
    snprintf(w->log, sizeof w->log, "BL_MODEL_ONLY=%llu, step %d", (unsigned long long)seed, i);
    if (dice < 5) write_step(w);
    else if (dice < 7) schema_step(w);
    else ref_step(w);
    compare_some(w);
  }
  print_message("seed %llu: %d snapshots, %d branches, %d columns were there\n", (unsigned long long)seed,
                w->n_versions, w->n_branches, w->slots);
  end(w);
}

static long number(const char *name, long otherwise) {
  const char *v = getenv(name);
  return v ? atol(v) : otherwise;
}

static void test_histories__agree_with_an_array_of_rows(void **state) {
  (void)state;
  long first = number("BL_MODEL_SEED", 1), only = number("BL_MODEL_ONLY", -1), n = 6 * number("BL_MODEL", 1);
  if (only >= 0) run((uint64_t)only);
  for (long i = 0; only < 0 && i < n; i++) run((uint64_t)(first * 100000 + i));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_histories__agree_with_an_array_of_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

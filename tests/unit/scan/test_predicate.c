/* test_predicate.c: predicates run by Arrow on batches against the model's evaluation row by row, and scans with
 * filters against all rows filtered by it: whatever statistics, page indexes and bloom filters leave out must not
 * match. */
#include "../model/expr_random.h"
#include "rows/arrow_build.h"
#include "rows/arrow_own.h"
#include "scan/predicate.h"
#define world scan_world
#include "world.h"
#undef world

enum { MOST = 120 };

static struct ArrowArray batch_of(bl_ctx *ctx, const bl_type *type, const world_row *rows, size_t n) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  bl_builder *b;
  test_ok(bl_aschema_of_struct(ctx, type, &schema, &err), &err);
  test_ok(bl_builder_new(ctx, &schema, &b, &err), &err);
  for (size_t i = 0; i < n; i++) {
    for (size_t c = 0; c < R_COLUMNS; c++)
      test_ok(bl_builder_value(bl_builder_child(b, (int64_t)c), &rows[i].v[c], 1, &err), &err);
    test_ok(bl_builder_close(b, &err), &err);
  }
  test_ok(bl_builder_finish(b, &batch, &err), &err);
  bl_builder_free(b);
  bl_aschema_release(&schema);
  return batch;
}

static void agree(world *w, const char *text, world_row *rows, size_t n, const struct ArrowArray *batch) {
  bl_error err = BL_ERROR_INIT;
  uint8_t keep[MOST];
  bl_predicate *p;
  bl_expr *e = bound(w, text);
  memset(keep, 7, sizeof keep);
  test_ok(bl_predicate_new(w->f.ctx, e, &w->schema.root, &p, &err), &err);
  test_ok(bl_predicate_run(p, batch, keep, &err), &err);
  for (size_t i = 0; i < n; i++) {
    bool want = bl_expr_eval(e, get_from_row, &rows[i]) == 1;
    if (keep[i] != want) fail_msg("%s: row %zu is %d, not %d", text, i, keep[i], want);
  }
  bl_predicate_free(p);
}

static void test_predicate__agrees_with_evaluation_row_by_row(void **state) {
  (void)state;
  world w;
  bl_drivers d;
  bl_error err = BL_ERROR_INIT;
  world_new(&w, 42);
  test_ok(bl_drivers_default(w.f.ctx, &d, &err), &err);
  for (int round = 0; round < 60; round++) {
    world_row rows[MOST];
    size_t n = (size_t)rnd_in(&w, 0, MOST);
    for (size_t i = 0; i < n; i++) rnd_row(&w, &rows[i], round % 3 * 30);
    struct ArrowArray batch = batch_of(w.f.ctx, &w.schema.root, rows, n);
    for (int k = 0; k < 30; k++) agree(&w, rnd_text(&w, -1, (int)rnd_in(&w, 0, 3)), rows, n, &batch);
    bl_array_release(&batch);
    world_reset(&w);
  }
  bl_drivers_dispose(&d);
  fixture_free(&w.f);
}

static void test_predicate__constants_and_empty_lists(void **state) {
  (void)state;
  static const char *const texts[] = {
      "true",           "false",    "not true",    "i = 99999999999",    "i != 99999999999", "i in (0.5)",
      "i not in (0.5)", "i = null", "i in (null)", "i not in (1, null)", "i < 99999999999",  "not (i = 1 or true)"};
  world w;
  bl_drivers d;
  bl_error err = BL_ERROR_INIT;
  world_row rows[20];
  world_new(&w, 7);
  test_ok(bl_drivers_default(w.f.ctx, &d, &err), &err);
  for (size_t i = 0; i < 20; i++) rnd_row(&w, &rows[i], 30);
  struct ArrowArray batch = batch_of(w.f.ctx, &w.schema.root, rows, 20);
  for (size_t i = 0; i < BL_LEN(texts); i++) agree(&w, texts[i], rows, 20, &batch);
  bl_array_release(&batch);
  bl_drivers_dispose(&d);
  fixture_free(&w.f);
}

/* ---- whole scans ---- */

typedef struct known_row {
  world_row row;
  int64_t id, pos;
} known_row;

static void get_known(void *user, const bl_field *f, bl_value *out) {
  known_row *r = user;
  if (f->id == BL_ID_ROW_ID) *out = (bl_value){.kind = BL_LONG, .u.i = r->id};
  else if (f->id == BL_ID_POS) *out = (bl_value){.kind = BL_LONG, .u.i = r->pos};
  else if (f->id == BL_ID_LAST_UPDATED) *out = (bl_value){.kind = BL_LONG, .u.i = 1};
  else get_from_row(&r->row, f, out);
}

static char *fields_json(const world *w) {
  char *p = malloc(4000);
  size_t at = 0;
  assert_non_null(p);
  for (size_t i = 0; i < R_COLUMNS; i++) {
    bl_buf b;
    bl_buf_init(&b, w->f.ctx, 1000);
    bl_type_print(&b, &w->fields[i].type);
    bl_buf_byte(&b, 0);
    at += (size_t)snprintf(p + at, 4000 - at, "%s{\"id\":%zu,\"name\":\"%s\",\"required\":false,\"type\":\"%s\"}",
                           i ? "," : "[", i + 1, w->fields[i].name.p, (const char *)b.p);
    bl_buf_free(&b);
  }
  snprintf(p + at, 4000 - at, "]");
  return p;
}

static bl_str bytes_of(world *w, maker *m, const bl_type *t, const bl_value *v) {
  bl_error err = BL_ERROR_INIT;
  bl_buf b;
  bl_buf_init(&b, w->f.ctx, BL_BUF_MAX);
  test_ok(bl_value_to_bytes(t, v, &b, &err), &err);
  bl_str s = bl_arena_str(maker_arena(m), (bl_str){b.p ? (const char *)b.p : "", b.n});
  bl_buf_free(&b);
  return s;
}

/* Metrics of the file's rows, some left out. */
static void add_metrics(world *w, maker *m, bl_data_file *f, const world_row *rows, size_t n) {
  f->metrics = bl_arena_calloc(maker_arena(m), R_COLUMNS, sizeof *f->metrics);
  for (size_t c = 0; c < R_COLUMNS; c++) {
    if (chance(w, 30)) continue;
    const bl_value *lo = extreme(rows, n, c, -1), *hi = extreme(rows, n, c, 1);
    bl_column_metrics *x = &f->metrics[f->n_metrics++];
    *x = (bl_column_metrics){
        .id = (int32_t)c + 1, .size = BL_NONE, .values = (int64_t)n, .nulls = BL_NONE, .nans = BL_NONE};
    if (chance(w, 80)) x->nulls = count_of(rows, n, c, false);
    if (chance(w, 80)) x->nans = count_of(rows, n, c, true);
    if (lo && chance(w, 80)) {
      bl_value v = cut_bound(w, lo, false);
      x->lower = bytes_of(w, m, &w->fields[c].type, &v);
    }
    if (hi && chance(w, 80)) {
      bl_value v = cut_bound(w, hi, true);
      x->upper = bytes_of(w, m, &w->fields[c].type, &v);
    }
  }
}

enum { FILES = 3, GROUPS = 4, GROUP_ROWS = 12 };

typedef struct made_table {
  bl_ctx *ctx;
  maker *m;
  bl_table *t;
  known_row rows[FILES * GROUPS * GROUP_ROWS];
  size_t n;
} made_table;

/* Files of one value of b each, which is the partition, with values that lie close together within a group. */
static void make_table(world *w, made_table *t) {
  memset(t, 0, sizeof *t);
  char *fields = fields_json(w);
  t->ctx = test_ctx();
  t->m = maker_new(t->ctx, 3, fields);
  free(fields);
  maker_spec(t->m, 0, "[{\"source-id\":18,\"field-id\":1000,\"name\":\"b\",\"transform\":\"identity\"}]");
  maker_page_rows(t->m, rnd_in(w, 0, 5));
  maker_entry es[FILES];
  size_t n_files = (size_t)rnd_in(w, 1, FILES);
  int64_t id = 0;
  for (size_t f = 0; f < n_files; f++) {
    struct ArrowArray batches[GROUPS];
    world_row rows[GROUPS * GROUP_ROWS];
    size_t n = 0, groups = (size_t)rnd_in(w, 1, GROUPS);
    char name[20];
    int b = (int)rnd_in(w, 0, 2);
    for (size_t g = 0; g < groups; g++) {
      size_t k = (size_t)rnd_in(w, 1, GROUP_ROWS), kinds = (size_t)rnd_in(w, 1, 3);
      for (size_t i = 0; i < k; i++) {
        if (i < kinds) rnd_row(w, &rows[n + i], 20);
        else rows[n + i] = rows[n + (size_t)rnd_in(w, 0, (int64_t)kinds - 1)];
        rows[n + i].v[R_COLUMNS - 1] = (bl_value){.kind = BL_BOOLEAN, .null = b == 2, .u.b = b == 1};
        t->rows[t->n++] = (known_row){rows[n + i], id++, (int64_t)(n + i)};
      }
      batches[g] = batch_of(t->ctx, &w->schema.root, rows + n, k);
      n += k;
    }
    snprintf(name, sizeof name, "f%zu.parquet", f);
    bl_data_file *d = maker_batches(t->m, name, batches, groups);
    maker_partition(t->m, d, 0, b == 2 ? "[null]" : b ? "[true]" : "[false]");
    add_metrics(w, t->m, d, rows, n);
    es[f] = maker_added(d);
  }
  maker_manifest ms[] = {maker_data_manifest(es, n_files)};
  maker_commit(t->m, 1, "append", ms, 1);
  t->t = maker_open(t->m);
}

static void free_table(made_table *t) {
  bl_table_free(t->t);
  maker_free(t->m);
  test_ctx_free(t->ctx);
}

static bl_expr *bound_with_meta(world *w, const char *text) {
  bl_expr *e;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_expr_parse(w->f.arena, bl_str_of(text), &e, &err), &err);
  test_ok(bl_expr_bind(w->f.arena, e, &w->schema, bl_meta_schema(), &e, &err), &err);
  return e;
}

static void scan_agrees(world *w, made_table *t, const char *text) {
  bl_expr *e = bound_with_meta(w, text);
  bl_scan_options o = {.where = text, .lineage = true};
  test_rows r = scan_rows(t->ctx, t->t, &o, NULL, NULL);
  size_t at = 0;
  for (size_t i = 0; i < t->n; i++) {
    bool want = bl_expr_eval(e, get_known, &t->rows[i]) == 1;
    bool there = at < r.n && test_rows_int(&r, at, "_row_id") == t->rows[i].id;
    if (want != there) fail_msg("%s: row %lld is %s", text, (long long)t->rows[i].id, want ? "missing" : "too many");
    at += there;
  }
  assert_int_equal(at, r.n);
  test_rows_free(&r);
}

static const char *text_with_lineage(world *w) {
  static const char *const columns[] = {"_row_id", "_pos", "_last_updated_sequence_number"};
  const char *a = rnd_text(w, -1, (int)rnd_in(w, 0, 2));
  if (chance(w, 60)) return a;
  return bl_arena_printf(w->f.arena, "%s%s%s%s%lld", a, chance(w, 50) ? " and " : " or ", columns[rnd(w) % 3],
                         rnd_comparison(w), (long long)rnd_in(w, 0, 60))
      .p;
}

static void test_predicate__scans_give_the_rows_that_match(void **state) {
  (void)state;
  world w;
  world_new(&w, 3);
  made_table *t = malloc(sizeof *t);
  assert_non_null(t);
  for (int round = 0; round < 40; round++) {
    make_table(&w, t);
    for (int k = 0; k < 25; k++) scan_agrees(&w, t, text_with_lineage(&w));
    free_table(t);
    world_reset(&w);
  }
  free(t);
  fixture_free(&w.f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_predicate__agrees_with_evaluation_row_by_row),
      cmocka_unit_test(test_predicate__constants_and_empty_lists),
      cmocka_unit_test(test_predicate__scans_give_the_rows_that_match),
  };
  return cmocka_run_group_tests_name("predicate", tests, NULL, NULL);
}

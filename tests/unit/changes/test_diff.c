/* test_diff.c: touched files of tables that other engines wrote. */
#include "diff_twin.h"
#include "table/table.h"

typedef struct fixture {
  bl_ctx *ctx;
  bl_table *t;
  bl_differ *d;
  bl_error err;
} fixture;

static const char *const tables[] = {"avro_data",
                                     "branches",
                                     "compacted",
                                     "cow_basic",
                                     "eq_partitioned_v3",
                                     "eq_readd_v3",
                                     "eq_upsert_v3",
                                     "mixed_deletes_v2_to_v3",
                                     "mor_basic",
                                     "multi_rowgroup",
                                     "partitioned",
                                     "posdel_with_row_v2",
                                     "schema_evolved",
                                     "upgraded_v2",
                                     "v1_embedded_manifests",
                                     "changes_edges/changed_columns",
                                     "changes_edges/cross_branch_after_upgrade",
                                     "changes_edges/duplicate_ids",
                                     "changes_edges/eqdelete_becomes_vector",
                                     "changes_edges/eqdelete_kept_while_rewritten",
                                     "changes_edges/gap_with_tag",
                                     "changes_edges/history_lives",
                                     "changes_edges/images_after",
                                     "changes_edges/key_pairs",
                                     "changes_edges/net_attribution",
                                     "changes_edges/path_added_again",
                                     "changes_edges/posdelete_unchanged_manifest",
                                     "changes_edges/replace_drops_vector",
                                     "changes_edges/replace_loses_ids",
                                     "changes_edges/replace_proven",
                                     "changes_edges/rows_without_ids",
                                     "changes_edges/rows_without_ids_mixed",
                                     "changes_edges/spec_example",
                                     "changes_edges/vector_unchanged_manifest",
                                     "changes_edges/where_on_changes"};

/* Some fixtures have the table folder itself at the top. */
static char *table_folder(const char *name) {
  char *tables_folder = test_path("tests/fixtures/tables"), *folder = test_join(tables_folder, name);
  char *inner = test_join(folder, "table"), *metadata = test_join(inner, "metadata/version-hint.text");
  FILE *f = fopen(metadata, "rb");
  char *out = f ? inner : folder;
  if (f) fclose(f);
  free(f ? folder : inner);
  free(tables_folder);
  free(metadata);
  return out;
}

static void setup(fixture *f, const char *name) {
  *f = (fixture){.ctx = test_ctx(), .err = BL_ERROR_INIT};
  char *folder = table_folder(name);
  test_ok(bl_table_open(f->ctx, folder, NULL, &f->t, &f->err), &f->err);
  test_ok(bl_differ_new(f->t, &f->d, &f->err), &f->err);
  free(folder);
}

static void teardown(fixture *f) {
  bl_differ_free(f->d);
  bl_table_free(f->t);
  test_ctx_free(f->ctx);
}

static const bl_snapshot *at(const fixture *f, int64_t sequence_number) {
  const bl_metadata *m = f->t->metadata;
  for (size_t i = 0; i < m->n_snapshots; i++)
    if (m->snapshots[i].sequence_number == sequence_number) return &m->snapshots[i];
  fail_msg("no snapshot has sequence number %lld", (long long)sequence_number);
  return NULL;
}

static bl_diff diff_of(fixture *f, int64_t from, int64_t to) {
  bl_diff out;
  test_ok(bl_differ_run(f->d, from ? at(f, from) : NULL, at(f, to), &out, &f->err), &f->err);
  return out;
}

/* ---- every pair of snapshots ---- */

static void check_pairs(const char *name) {
  fixture f;
  setup(&f, name);
  const bl_metadata *m = f.t->metadata;
  for (size_t to = 0; to < m->n_snapshots; to++) {
    twin_check(f.t, f.d, NULL, &m->snapshots[to], name);
    for (size_t from = 0; from < m->n_snapshots; from++)
      twin_check(f.t, f.d, &m->snapshots[from], &m->snapshots[to], name);
  }
  teardown(&f);
}

static void test_diff__any_two_snapshots_differ_as_their_plans_do(void **state) {
  (void)state;
  for (size_t i = 0; i < BL_LEN(tables); i++) check_pairs(tables[i]);
}

static void test_diff__a_fresh_differ_says_the_same(void **state) {
  (void)state;
  fixture f;
  setup(&f, "changes_edges/eqdelete_becomes_vector");
  const bl_metadata *m = f.t->metadata;
  for (size_t i = 1; i < m->n_snapshots; i++) {
    bl_differ_free(f.d);
    test_ok(bl_differ_new(f.t, &f.d, &f.err), &f.err);
    twin_check(f.t, f.d, &m->snapshots[i - 1], &m->snapshots[i], "fresh");
  }
  teardown(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diff__any_two_snapshots_differ_as_their_plans_do),
      cmocka_unit_test(test_diff__a_fresh_differ_says_the_same),
  };
  (void)diff_of;
  return cmocka_run_group_tests(tests, NULL, NULL);
}

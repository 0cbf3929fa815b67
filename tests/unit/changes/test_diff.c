/* test_diff.c: touched files of tables that other engines wrote. */
#include "diff_twin.h"
#include "world.h"

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
                                     "metadata_zoo/v1_embedded_manifests",
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

static char *table_folder(const char *name) {
  char relative[300];
  snprintf(relative, sizeof relative, "tests/fixtures/tables/%s/table", name);
  return test_path(relative);
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

/* ---- what is opened ---- */

typedef struct made {
  world w;
  bl_differ *d;
  bl_manifest_entry files[100][4]; /* by manifest */
  bl_manifest_file list[110];
  size_t n;
} made;

/* Snapshot 1: a manifest a day, four files of that day each; with spec 0 all are in one partition. */
static void make_days(made *m, size_t n, int spec) {
  world_open(&m->w);
  m->n = n;
  for (size_t i = 0; i < n; i++) {
    for (int k = 0; k < 4; k++) m->files[i][k] = world_data(&m->w, (int)i * 4 + k, spec, (int)i);
    m->list[i] = world_manifest(&m->w, BL_MANIFEST_DATA, m->files[i], 4);
  }
  world_commit(&m->w, 0, "append", m->list, n);
  test_ok(bl_differ_new(&m->w.t, &m->d, &m->w.err), &m->w.err);
}

static void close_made(made *m) {
  bl_differ_free(m->d);
  world_close(&m->w);
}

/* One more manifest at the end of the list, and a snapshot with it. */
static void commit_entries(made *m, bl_manifest_content content, bl_manifest_entry *e, size_t n) {
  m->list[m->n++] = world_manifest(&m->w, content, e, n);
  world_commit(&m->w, m->w.sequence_number - 1, "overwrite", m->list, m->n);
}

static bl_diff last_diff(made *m) {
  const bl_snapshot *s = &m->w.snapshots[m->w.md->n_snapshots - 1];
  bl_diff out;
  test_ok(bl_differ_run(m->d, s - 1, s, &out, &m->w.err), &m->w.err);
  return out;
}

static void test_diff__an_append_opens_the_new_manifest_alone(void **state) {
  (void)state;
  static made m;
  make_days(&m, 50, 1);
  bl_manifest_entry e = world_data(&m.w, 1000, 1, 3);
  commit_entries(&m, BL_MANIFEST_DATA, &e, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 1);
  assert_null(d.items[0].old_entry);
  assert_string_equal(d.items[0].new_entry->file.path.p, "/t/data/1000.parquet");
  assert_int_equal(d.counts.manifests_opened, 1);
  assert_int_equal(d.counts.manifests_skipped, 50);
  assert_int_equal(d.counts.rows, 10);
  close_made(&m);
}

static void test_diff__a_vector_opens_manifests_of_its_partition_only(void **state) {
  (void)state;
  static made m;
  make_days(&m, 50, 1);
  bl_manifest_entry e = world_vector(&m.w, 1, 4, &m.files[20][2]);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 1);
  assert_string_equal(d.items[0].old_entry->file.path.p, m.files[20][2].file.path.p);
  assert_ptr_equal(d.items[0].old_entry, d.items[0].new_entry);
  assert_null(d.items[0].old_deletes.vector);
  assert_non_null(d.items[0].new_deletes.vector);
  assert_int_equal(d.counts.manifests_opened, 1);
  assert_int_equal(d.counts.manifests_skipped, 49);
  assert_int_equal(d.counts.delete_manifests_opened, 1);
  assert_int_equal(d.counts.delete_files, 1);
  close_made(&m);
}

static void test_diff__the_search_for_named_files_ends_when_all_are_found(void **state) {
  (void)state;
  static made m;
  make_days(&m, 100, 0);
  bl_manifest_entry e[2] = {world_vector(&m.w, 1, 4, &m.files[2][2]), world_vector(&m.w, 1, 50, &m.files[20][0])};
  commit_entries(&m, BL_MANIFEST_DELETES, e, 2);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 2);
  assert_string_equal(d.items[1].old_entry->file.path.p, m.files[20][0].file.path.p);
  assert_true(d.counts.manifests_opened < 60);
  close_made(&m);
}

static void test_diff__a_vector_for_a_file_that_is_nowhere_touches_nothing(void **state) {
  (void)state;
  static made m;
  make_days(&m, 40, 0);
  bl_manifest_entry gone = world_data(&m.w, 5000, 0, 0), e = world_vector(&m.w, 1, 4, &gone);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 0);
  assert_int_equal(d.counts.manifests_opened, 40);
  close_made(&m);
}

static void test_diff__unchanged_deletes_of_a_touched_file_are_found(void **state) {
  (void)state;
  static made m;
  make_days(&m, 30, 1);
  bl_manifest_entry first = world_positions(&m.w, 1, 1, 7, NULL), other = world_positions(&m.w, 2, 1, 8, NULL);
  commit_entries(&m, BL_MANIFEST_DELETES, &first, 1);
  commit_entries(&m, BL_MANIFEST_DELETES, &other, 1);
  bl_manifest_entry e = world_positions(&m.w, 3, 1, 7, &m.files[7][1]);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 1);
  assert_int_equal(d.items[0].old_deletes.n_position, 1);
  assert_int_equal(d.items[0].new_deletes.n_position, 2);
  assert_int_equal(d.counts.delete_manifests_opened, 2);
  assert_int_equal(d.counts.delete_manifests_skipped, 1);
  assert_int_equal(d.counts.delete_files, 2);
  close_made(&m);
}

static void test_diff__equality_deletes_reach_what_their_bounds_allow(void **state) {
  (void)state;
  static made m;
  make_days(&m, 10, 0);
  bl_manifest_entry data[2] = {world_data(&m.w, 1000, 0, 0), world_data(&m.w, 1001, 0, 0)};
  world_bounds(&m.w, &data[0], 0, 9);
  world_bounds(&m.w, &data[1], 10, 19);
  commit_entries(&m, BL_MANIFEST_DATA, data, 2);
  bl_manifest_entry e = world_equality(&m.w, 1, 0, 0);
  world_bounds(&m.w, &e, 12, 12);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 41); /* all but the file with 0 to 9: most have no bounds */
  assert_string_equal(d.items[40].old_entry->file.path.p, "/t/data/1001.parquet");
  close_made(&m);
}

static void test_diff__a_manifest_rewritten_with_the_same_files_touches_nothing(void **state) {
  (void)state;
  static made m;
  make_days(&m, 2, 0);
  bl_manifest_entry all[8];
  for (size_t i = 0; i < 8; i++) all[i] = world_existing(m.files[i / 4][i % 4]);
  m.n = 0;
  commit_entries(&m, BL_MANIFEST_DATA, all, 8);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 0);
  assert_false(d.ids_differ);
  assert_int_equal(d.counts.files_skipped, 8);
  assert_false(d.metadata_proves_replace); /* the operation was no replace */
  close_made(&m);
}

static void test_diff__a_hidden_position_delete_that_goes_touches_nothing(void **state) {
  (void)state;
  static made m;
  make_days(&m, 3, 1);
  bl_manifest_entry e[2] = {world_positions(&m.w, 1, 1, 1, &m.files[1][0]), world_vector(&m.w, 2, 4, &m.files[1][0])};
  commit_entries(&m, BL_MANIFEST_DELETES, e, 2);
  m.n--;
  e[1] = world_existing(e[1]);
  commit_entries(&m, BL_MANIFEST_DELETES, &e[1], 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 0);
  close_made(&m);
}

/* B33: writers that leave the adding snapshot's id in a DELETED entry, or no such entry at all, lose no removed file
 * (apache/iceberg-python#3237). */
static void test_diff__a_removed_file_is_found_whatever_its_entry_says(void **state) {
  (void)state;
  for (int entry = 0; entry < 2; entry++) {
    static made m;
    make_days(&m, 2, 1);
    bl_manifest_entry left[4];
    size_t n = 0;
    for (int k = 1; k < 4; k++) left[n++] = world_existing(m.files[1][k]);
    if (entry) {
      left[n] = m.files[1][0];
      left[n].status = BL_DELETED;
      left[n++].snapshot_id = 1;
    }
    m.list[1] = world_manifest(&m.w, BL_MANIFEST_DATA, left, n);
    bl_manifest_entry added = world_data(&m.w, 1000, 1, 1);
    commit_entries(&m, BL_MANIFEST_DATA, &added, 1);
    bl_diff d = last_diff(&m);
    assert_int_equal(d.n, 2);
    assert_string_equal(d.items[0].old_entry->file.path.p, m.files[1][0].file.path.p);
    assert_null(d.items[0].new_entry);
    assert_null(d.items[1].old_entry);
    close_made(&m);
  }
}

static void test_diff__an_unknown_file_sequence_number_is_no_difference(void **state) {
  (void)state;
  static made m;
  make_days(&m, 1, 0);
  bl_manifest_entry e[4];
  for (size_t i = 0; i < 4; i++) {
    e[i] = world_existing(m.files[0][i]);
    e[i].file_sequence_number = BL_NONE;
  }
  m.n = 0;
  commit_entries(&m, BL_MANIFEST_DATA, e, 4);
  assert_int_equal(last_diff(&m).n, 0);
  close_made(&m);
}

/* ---- replaces (C8) ---- */

static void test_diff__a_compaction_is_proven_or_left_to_footers(void **state) {
  (void)state;
  fixture f;
  setup(&f, "changes_edges/replace_proven");
  const bl_metadata *m = f.t->metadata;
  size_t n = 0;
  for (size_t i = 0; i < m->n_snapshots; i++) {
    const bl_snapshot *s = &m->snapshots[i];
    if (!bl_str_is(bl_snapshot_operation(s), "replace")) continue;
    bl_diff d = diff_of(&f, s->sequence_number - 1, s->sequence_number);
    assert_true(d.metadata_proves_replace || d.may_prove_replace);
    d = diff_of(&f, s->sequence_number - 2, s->sequence_number); /* more than the replace lies between */
    assert_false(d.metadata_proves_replace || d.may_prove_replace);
    n++;
  }
  assert_true(n > 0);
  teardown(&f);
}

static void test_diff__a_replace_that_takes_a_vector_away_is_not_proven(void **state) {
  (void)state;
  fixture f;
  setup(&f, "changes_edges/replace_drops_vector");
  const bl_metadata *m = f.t->metadata;
  for (size_t i = 0; i < m->n_snapshots; i++) {
    const bl_snapshot *s = &m->snapshots[i];
    if (!bl_str_is(bl_snapshot_operation(s), "replace")) continue;
    bl_diff d = diff_of(&f, s->sequence_number - 1, s->sequence_number);
    assert_false(d.metadata_proves_replace || d.may_prove_replace);
  }
  teardown(&f);
}

static void test_diff__a_replace_that_loses_ids_is_not_proven(void **state) {
  (void)state;
  fixture f;
  setup(&f, "changes_edges/replace_loses_ids");
  const bl_metadata *m = f.t->metadata;
  for (size_t i = 0; i < m->n_snapshots; i++) {
    const bl_snapshot *s = &m->snapshots[i];
    if (bl_str_is(bl_snapshot_operation(s), "replace"))
      assert_false(diff_of(&f, s->sequence_number - 1, s->sequence_number).metadata_proves_replace);
  }
  teardown(&f);
}

/* ---- life ---- */

static void test_diff__entries_outlive_their_diff(void **state) {
  (void)state;
  static made m;
  make_days(&m, 40, 0);
  bl_manifest_entry e = world_vector(&m.w, 1, 4, &m.files[2][2]);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_diff d = last_diff(&m), again = last_diff(&m);
  assert_ptr_equal(d.items[0].old_entry, again.items[0].old_entry); /* one file version, one entry */
  const bl_manifest_entry *kept = d.items[0].old_entry, *vector = d.items[0].new_deletes.vector;
  bl_diff_release(m.d, &d);
  bl_diff_release(m.d, &d);
  assert_int_equal(d.n, 0);
  assert_string_equal(kept->file.path.p, m.files[2][2].file.path.p);
  assert_string_equal(vector->file.referenced_data_file.p, m.files[2][2].file.path.p);
  assert_int_equal(again.n, 1);
  close_made(&m);
}

/* The same commits on a table of few and of many files cost the same memory once they are done. */
static int64_t bytes_after_vectors(size_t manifests) {
  static made m;
  test_heap heap = {0};
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.memory_budget = 1;
  make_days(&m, manifests, 0);
  bl_ctx *ctx = test_ctx_on(&heap, &o);
  bl_table t = m.w.t;
  t.ctx = ctx;
  for (int i = 0; i < 5; i++) {
    bl_manifest_entry e = world_vector(&m.w, 10 + i, 4, &m.files[i][0]);
    commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  }
  bl_differ_free(m.d);
  test_ok(bl_differ_new(&t, &m.d, &m.w.err), &m.w.err);
  for (size_t i = 1; i < m.w.md->n_snapshots; i++) {
    bl_diff d;
    test_ok(bl_differ_run(m.d, &m.w.snapshots[i - 1], &m.w.snapshots[i], &d, &m.w.err), &m.w.err);
    assert_int_equal(d.n, 1);
    bl_diff_release(m.d, &d);
  }
  const bl_manifest_file *list; /* lists are kept, and differ in size */
  size_t n;
  bl_arena *a;
  test_ok(bl_arena_new(ctx, &a, &m.w.err), &m.w.err);
  int64_t before = heap.bytes;
  test_ok(bl_table_manifests(&t, &m.w.snapshots[5], a, (bl_manifest_file **)&list, &n, &m.w.err), &m.w.err);
  int64_t of_a_list = heap.bytes - before;
  bl_arena_free(a);
  int64_t bytes = heap.bytes - 4 * of_a_list;
  bl_differ_free(m.d);
  test_ctx_free(ctx);
  world_close(&m.w);
  return bytes;
}

static void test_diff__memory_does_not_grow_with_unchanged_manifests(void **state) {
  (void)state;
  int64_t few = bytes_after_vectors(10), many = bytes_after_vectors(100);
  if (many > few + few / 4) fail_msg("%lld bytes, then %lld", (long long)few, (long long)many);
}

static void test_diff__a_missing_manifest_is_named(void **state) {
  (void)state;
  static made m;
  bl_error err = BL_ERROR_INIT;
  bl_diff d;
  make_days(&m, 3, 0);
  bl_manifest_entry e = world_data(&m.w, 1000, 0, 3);
  commit_entries(&m, BL_MANIFEST_DATA, &e, 1);
  test_ok(m.w.io->remove(m.w.io, m.list[3].path.p, &m.w.err), &m.w.err);
  test_status(BL_NOT_FOUND, bl_differ_run(m.d, &m.w.snapshots[0], &m.w.snapshots[1], &d, &err), &err);
  test_says(&err, m.list[3].path.p);
  assert_int_equal(d.n, 0);
  test_ok(bl_differ_run(m.d, NULL, &m.w.snapshots[0], &d, &m.w.err), &m.w.err); /* it goes on */
  assert_int_equal(d.n, 12);
  close_made(&m);
}

static void test_diff__a_vector_of_another_partition_is_damage(void **state) {
  (void)state;
  static made m;
  bl_error err = BL_ERROR_INIT;
  bl_diff d;
  make_days(&m, 3, 0);
  bl_manifest_entry e = world_vector(&m.w, 1, 4, &m.files[1][0]);
  e.file.spec_id = 2;
  e.file.n_partition = 1;
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_manifest_entry again = world_existing(m.files[1][0]);
  m.list[1] = world_manifest(&m.w, BL_MANIFEST_DATA, &again, 1);
  world_commit(&m.w, 2, "overwrite", m.list, m.n);
  test_status(BL_DAMAGED, bl_differ_run(m.d, &m.w.snapshots[0], &m.w.snapshots[2], &d, &err), &err);
  test_says(&err, m.files[1][0].file.path.p);
  close_made(&m);
}

/* Its file lies in a manifest that the vector's partition rules out. */
static void test_diff__a_vector_of_another_partition_is_found_wherever_its_file_is(void **state) {
  (void)state;
  static made m;
  bl_error err = BL_ERROR_INIT;
  bl_diff d;
  make_days(&m, 50, 1);
  bl_manifest_entry e = world_vector(&m.w, 1, 4, &m.files[20][2]);
  e.file.partition = m.files[30][0].file.partition;
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  test_status(BL_DAMAGED, bl_differ_run(m.d, &m.w.snapshots[0], &m.w.snapshots[1], &d, &err), &err);
  test_says(&err, m.files[20][2].file.path.p);
  close_made(&m);
}

/* W8: a scan refuses it; here its number says that it reaches no touched file, and the file's rows are all new. */
static void test_diff__a_vector_older_than_a_file_added_again_is_not_its(void **state) {
  (void)state;
  static made m;
  make_days(&m, 3, 1);
  bl_manifest_entry gone = m.files[1][0], e = world_vector(&m.w, 1, 4, &gone);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  gone.status = BL_DELETED;
  m.list[1] = world_manifest(&m.w, BL_MANIFEST_DATA, &gone, 1);
  world_commit(&m.w, 2, "delete", m.list, m.n);
  bl_manifest_entry again = world_data(&m.w, 4, 1, 1);
  assert_string_equal(again.file.path.p, gone.file.path.p);
  commit_entries(&m, BL_MANIFEST_DATA, &again, 1);
  bl_diff d = last_diff(&m);
  assert_int_equal(d.n, 1);
  assert_null(d.items[0].old_entry);
  assert_null(d.items[0].new_deletes.vector);
  close_made(&m);
}

static bl_status run_all(bl_ctx *ctx, void *user, bl_error *err) {
  const made *m = user;
  bl_table t = m->w.t;
  bl_differ *d;
  t.ctx = ctx;
  BL_TRY(bl_differ_new(&t, &d, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < m->w.md->n_snapshots; i++) {
    const bl_snapshot *s = &m->w.snapshots[i];
    bl_diff diff;
    st = bl_differ_run(d, i ? s - 1 : NULL, s, &diff, err);
    if (st == BL_OK && i % 2) bl_diff_release(d, &diff);
  }
  bl_differ_free(d);
  return st;
}

static void test_diff__survives_each_failing_allocation(void **state) {
  (void)state;
  static made m;
  make_days(&m, 2, 1);
  bl_manifest_entry e = world_vector(&m.w, 1, 4, &m.files[1][2]);
  commit_entries(&m, BL_MANIFEST_DELETES, &e, 1);
  bl_manifest_entry q = world_equality(&m.w, 2, 1, 1);
  commit_entries(&m, BL_MANIFEST_DELETES, &q, 1);
  test_fail_each(run_all, &m);
  close_made(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diff__any_two_snapshots_differ_as_their_plans_do),
      cmocka_unit_test(test_diff__a_fresh_differ_says_the_same),
      cmocka_unit_test(test_diff__an_append_opens_the_new_manifest_alone),
      cmocka_unit_test(test_diff__a_vector_opens_manifests_of_its_partition_only),
      cmocka_unit_test(test_diff__the_search_for_named_files_ends_when_all_are_found),
      cmocka_unit_test(test_diff__a_vector_for_a_file_that_is_nowhere_touches_nothing),
      cmocka_unit_test(test_diff__unchanged_deletes_of_a_touched_file_are_found),
      cmocka_unit_test(test_diff__equality_deletes_reach_what_their_bounds_allow),
      cmocka_unit_test(test_diff__a_manifest_rewritten_with_the_same_files_touches_nothing),
      cmocka_unit_test(test_diff__a_hidden_position_delete_that_goes_touches_nothing),
      cmocka_unit_test(test_diff__a_removed_file_is_found_whatever_its_entry_says),
      cmocka_unit_test(test_diff__an_unknown_file_sequence_number_is_no_difference),
      cmocka_unit_test(test_diff__a_compaction_is_proven_or_left_to_footers),
      cmocka_unit_test(test_diff__a_replace_that_takes_a_vector_away_is_not_proven),
      cmocka_unit_test(test_diff__a_replace_that_loses_ids_is_not_proven),
      cmocka_unit_test(test_diff__entries_outlive_their_diff),
      cmocka_unit_test(test_diff__memory_does_not_grow_with_unchanged_manifests),
      cmocka_unit_test(test_diff__a_missing_manifest_is_named),
      cmocka_unit_test(test_diff__a_vector_of_another_partition_is_damage),
      cmocka_unit_test(test_diff__a_vector_of_another_partition_is_found_wherever_its_file_is),
      cmocka_unit_test(test_diff__a_vector_older_than_a_file_added_again_is_not_its),
      cmocka_unit_test(test_diff__survives_each_failing_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

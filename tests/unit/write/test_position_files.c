/* test_position_files.c: version 2 position deletes in a table that is version 3 by now: vectors take them in (W7). */
#include "commit_world.h"
#include "support/table_maker.h"

static const char fields[] = "[{\"id\":1,\"name\":\"k\",\"required\":false,\"type\":\"long\"}]";
static const char five_rows[] = "[[0],[1],[2],[3],[4]]";

/* Files a and b, and position deletes of them, written by version 2; then an upgrade. */
static void begin(world *w, maker **m, const maker_position *const *deletes, const size_t *n, size_t n_files) {
  bl_ctx *ctx = test_ctx();
  maker_entry data[2], gone[4];
  *m = maker_new(ctx, 2, fields);
  data[0] = maker_added(maker_data(*m, "a.parquet", NULL, five_rows, 0));
  data[1] = maker_added(maker_data(*m, "b.parquet", NULL, five_rows, 0));
  for (size_t i = 0; i < n_files; i++) {
    char name[30];
    snprintf(name, sizeof name, "p%zu.parquet", i);
    bl_data_file *f = maker_positions(*m, name, deletes[i], n[i]);
    if (n[i] == 1) f->referenced_data_file = bl_str_of(maker_path(*m, deletes[i][0].name));
    gone[i] = maker_added(f);
  }
  maker_manifest ms[] = {maker_data_manifest(data, 2), maker_delete_manifest(gone, n_files)};
  maker_commit(*m, 1, "append", ms, 1);
  ms[0] = maker_kept(maker_commit(*m, 2, "append", ms, 1));
  maker_commit(*m, 3, "delete", ms, 2);
  maker_upgrade(*m, 3);
  bl_table_free(maker_open(*m));
  *w = (world){.ctx = ctx, .table = strdup(MAKER_LOCATION), .err = BL_ERROR_INIT};
  w->options.drivers = maker_drivers(*m);
  world_reopen(w);
}

static void end(world *w, maker *m) {
  bl_table_free(w->t);
  free(w->table);
  maker_free(m);
  test_ctx_free(w->ctx);
}

static void test_position_files__one_of_several_files_stays_until_all_have_vectors(void **state) {
  (void)state;
  world w;
  maker *m;
  const maker_position both[] = {{"a.parquet", 0}, {"b.parquet", 1}};
  begin(&w, &m, (const maker_position *const[]){both}, (size_t[]){2}, 1);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 2);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=2 +b:5 id=5 raw=- seq=2\nV +v(a):2 seq=4\nV +v(p0):2 seq=3");
  assert_int_equal(w.t->metadata->next_row_id, 10);
  s = world_stage(&w);
  stage_delete(s, "b", 3);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=2 +b:5 id=5 raw=- seq=2\nV +v(b):2 seq=5\n"
                  "V +v(a):2 seq=4\nV xv(p0):2 seq=3");
  assert_string_equal(world_summary(&w, "removed-position-delete-files"), "1");
  assert_string_equal(world_summary(&w, "added-dvs"), "1");
  end(&w, m);
}

static void test_position_files__of_one_file_go_at_once(void **state) {
  (void)state;
  world w;
  maker *m;
  const maker_position one[] = {{"a.parquet", 0}}, two[] = {{"a.parquet", 4}}, other[] = {{"b.parquet", 1}};
  begin(&w, &m, (const maker_position *const[]){one, two, other}, (size_t[]){1, 1, 1}, 3);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 2);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=2 +b:5 id=5 raw=- seq=2\nV +v(a):3 seq=4\n"
                  "V xv(a):1 seq=3 xv(a):1 seq=3 =v(b):1 seq=3");
  end(&w, m);
}

static void test_position_files__that_name_files_gone_are_not_waited_for(void **state) {
  (void)state;
  world w;
  maker *m;
  const maker_position both[] = {{"a.parquet", 0}, {"gone.parquet", 1}};
  begin(&w, &m, (const maker_position *const[]){both}, (size_t[]){2}, 1);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 2);
  world_commit(&w, s);
  world_shows(&w, "D@0 +a:5 id=0 raw=- seq=2 +b:5 id=5 raw=- seq=2\nV +v(a):2 seq=4\nV xv(p0):2 seq=3");
  end(&w, m);
}

static void test_position_files__go_with_the_only_file_they_name(void **state) {
  (void)state;
  world w;
  maker *m;
  const maker_position one[] = {{"a.parquet", 0}}, both[] = {{"a.parquet", 3}, {"b.parquet", 1}};
  begin(&w, &m, (const maker_position *const[]){one, both}, (size_t[]){1, 2}, 2);
  stage *s = world_stage(&w);
  stage_remove(s, "a");
  world_commit(&w, s);
  world_shows(&w, "D@0 xa:5 id=- raw=- seq=2 =b:5 id=0 raw=- seq=2\nV xv(a):1 seq=3 =v(p1):2 seq=3");
  end(&w, m);
}

static void test_position_files__two_live_vectors_of_a_file_stop_the_commit(void **state) {
  (void)state;
  bl_ctx *ctx = test_ctx();
  maker *m = maker_new(ctx, 3, fields);
  maker_entry data[] = {maker_added(maker_data(m, "a.parquet", NULL, five_rows, 0))};
  maker_entry gone[] = {maker_added(maker_vector(m, "v1.puffin", "a.parquet", (int64_t[]){1}, 1)),
                        maker_added(maker_vector(m, "v2.puffin", "a.parquet", (int64_t[]){2}, 1))};
  maker_manifest ms[] = {maker_data_manifest(data, 1), maker_delete_manifest(gone, 2)};
  maker_commit(m, 1, "append", ms, 2);
  bl_table_free(maker_open(m));
  world w = {.ctx = ctx, .table = strdup(MAKER_LOCATION), .err = BL_ERROR_INIT};
  w.options.drivers = maker_drivers(m);
  world_reopen(&w);
  stage *s = world_stage(&w);
  stage_delete(s, "a", 3);
  world_refuses(&w, s, BL_DAMAGED, "a.parquet");
  end(&w, m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_position_files__one_of_several_files_stays_until_all_have_vectors),
      cmocka_unit_test(test_position_files__of_one_file_go_at_once),
      cmocka_unit_test(test_position_files__that_name_files_gone_are_not_waited_for),
      cmocka_unit_test(test_position_files__go_with_the_only_file_they_name),
      cmocka_unit_test(test_position_files__two_live_vectors_of_a_file_stop_the_commit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

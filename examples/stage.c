/* examples/stage.c: rows of files staged one by one, as workers of their own would do it, then committed as one
 * snapshot. */
#include <bergline/bergline.h>
#include <stdio.h>

enum { MOST = 100 };

static bl_status stage(bl_table *t, const char *file, char **descriptor, bl_error *err) {
  struct ArrowArrayStream rows = {0};
  bl_status st = bl_read_files(t, NULL, &file, 1, NULL, &rows, err);
  return st == BL_OK ? bl_stage_append(t, &rows, NULL, descriptor, err) : st; /* takes the rows */
}

static bl_status stage_and_commit(bl_ctx *ctx, const char *path, char **files, size_t n, bl_error *err) {
  bl_table *table;
  bl_write_result result = {0};
  char *staged[MOST] = {0}; /* JSON, without row ids: it may travel to whoever commits */
  bl_status st = bl_table_open(ctx, path, NULL, &table, err);
  if (st != BL_OK) return st;
  for (size_t i = 0; i < n && st == BL_OK; i++) st = stage(table, files[i], &staged[i], err);
  const bl_write_options options = {.batch_id = "one-night"}; /* done again it changes nothing */
  if (st == BL_OK) st = bl_commit_staged(table, (const char *const *)staged, n, &options, &result, err);
  if (st == BL_OK && result.committed)
    printf("rows %lld to %lld\n", (long long)result.first_row_id,
           (long long)(result.first_row_id + result.rows_assigned - 1));
  if (st == BL_OK && result.already_applied) printf("done before\n");
  for (size_t i = 0; i < n; i++) bl_text_free(ctx, staged[i]);
  bl_table_free(table);
  return st;
}

int main(int argc, char **argv) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx;
  if (argc < 3 || argc > MOST + 2) {
    printf("usage: stage TABLE FILE...\n");
    return 0;
  }
  bl_status st = bl_ctx_new(NULL, &ctx, &err);
  if (st == BL_OK) {
    st = stage_and_commit(ctx, argv[1], argv + 2, (size_t)argc - 2, &err);
    bl_ctx_free(ctx);
  }
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return (int)st;
}

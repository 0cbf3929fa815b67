/* examples/changes.c: the changes of a table since a snapshot, as NDJSON on standard output. */
#include <bergline/bergline.h>
#include <stdio.h>

static bl_status to_stdout(void *user, const void *p, size_t n, bl_error *err) {
  (void)user;
  return fwrite(p, 1, n, stdout) == n ? BL_OK : bl_fail(err, BL_IO, "cannot write: standard output");
}

static bl_status print_changes(bl_ctx *ctx, const char *path, const char *from, bl_error *err) {
  bl_table *table;
  bl_status st = bl_table_open(ctx, path, NULL, &table, err);
  if (st != BL_OK) return st;
  const bl_changes_options options = {.from = from, .net = true};
  struct ArrowArrayStream rows = {0};
  st = bl_changes(table, &options, &rows, err);
  if (st == BL_OK) st = bl_write_rows(ctx, BL_ROWS_NDJSON, &rows, &(bl_sink){to_stdout, NULL}, NULL, err);
  if (rows.release) rows.release(&rows);
  bl_table_free(table);
  return st;
}

int main(int argc, char **argv) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx;
  if (argc < 2) {
    fprintf(stderr, "usage: changes TABLE [SNAPSHOT]\n");
    return 2;
  }
  bl_status st = bl_ctx_new(NULL, &ctx, &err);
  if (st == BL_OK) {
    st = print_changes(ctx, argv[1], argc > 2 ? argv[2] : NULL, &err);
    bl_ctx_free(ctx);
  }
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return (int)st;
}

/* examples/replicate.c: one table kept up as a copy of another: what changed goes from stream to stream, and what was
 * copied before is passed over. The rows of the copy have ids of their own, which stay. */
#include <bergline/bergline.h>
#include <stdio.h>

/* An empty table with the columns of another. */
static bl_status create_like(bl_ctx *ctx, bl_table *from, const char *path, bl_error *err) {
  struct ArrowArrayStream rows = {0};
  struct ArrowSchema columns = {0};
  bl_status st = bl_scan(from, NULL, &rows, err);
  if (st != BL_OK) return st;
  int code = rows.get_schema(&rows, &columns);
  const bl_create_options options = {.arrow = &columns};
  st = code == 0 ? bl_table_create(ctx, path, NULL, &options, err)
                 : bl_fail(err, bl_status_of_errno(code), "%s", rows.get_last_error(&rows));
  if (columns.release) columns.release(&columns);
  rows.release(&rows);
  return st;
}

static bl_status copy_changes(bl_table *from, const char *since, bl_table *to, const char *key, bl_error *err) {
  const char *const columns[] = {key};
  const bl_changes_options what = {.from = since};
  const bl_apply_options how = {.source = BL_APPLY_CHANGES, .key = columns, .n_key = 1};
  struct ArrowArrayStream events;
  bl_write_result r;
  bl_status st = bl_changes(from, &what, &events, err);
  if (st == BL_OK) st = bl_apply(to, &events, &how, NULL, &r, err); /* takes the events */
  if (st == BL_OK)
    printf("inserted %lld, updated %lld, deleted %lld; copied before: %lld events\n", (long long)r.rows_inserted,
           (long long)r.rows_updated, (long long)r.rows_deleted, (long long)r.events_passed_over);
  return st;
}

static bl_status replicate(bl_ctx *ctx, char **args, const char *since, bl_error *err) {
  bl_table *from, *to;
  bl_status st = bl_table_open(ctx, args[0], NULL, &from, err);
  if (st != BL_OK) return st;
  if (bl_table_open(ctx, args[1], NULL, &to, NULL) == BL_NOT_FOUND) st = create_like(ctx, from, args[1], err);
  if (st == BL_OK && !to) st = bl_table_open(ctx, args[1], NULL, &to, err);
  if (st == BL_OK) st = copy_changes(from, since, to, args[2], err);
  bl_table_free(to);
  bl_table_free(from);
  return st;
}

int main(int argc, char **argv) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx;
  if (argc < 4) {
    printf("usage: replicate FROM TO KEY [SINCE]\n");
    return 0;
  }
  bl_status st = bl_ctx_new(NULL, &ctx, &err);
  if (st == BL_OK) {
    st = replicate(ctx, argv + 1, argc > 4 ? argv[4] : NULL, &err);
    bl_ctx_free(ctx);
  }
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return (int)st;
}

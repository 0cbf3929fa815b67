/* A context with a log of its own, and how an error is read. */
#include <bergline/table.h>
#include <stdio.h>

static void show(void *user, bl_log_level level, const char *text) {
  (void)user;
  fprintf(stderr, "%s: %s\n", level == BL_LOG_WARNING ? "warning" : "note", text);
}

int main(int argc, char **argv) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options options;
  bl_ctx *ctx;
  bl_table *table;

  bl_ctx_options_init(&options);
  options.log = show;
  options.threads = 2;
  if (bl_ctx_new(&options, &ctx, &err) != BL_OK) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  const char *path = argc > 1 ? argv[1] : "no/such/table";
  if (bl_table_open(ctx, path, NULL, &table, &err) == BL_OK) {
    bl_table_info info;
    bl_table_get_info(table, &info);
    printf("%s: format version %d, next row id %lld\n", path, info.format_version, (long long)info.next_row_id);
    bl_table_free(table);
  } else {
    printf("%s: %s (%s)\n", path, err.message, bl_status_name(err.status));
  }
  bl_ctx_free(ctx);
  return 0;
}

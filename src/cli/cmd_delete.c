/* cmd_delete.c: delete TABLE --where EXPR. */
#include <stddef.h>

#include "rows.h"
#include "writes.h"

typedef struct delete_values {
  const char *where;
} delete_values;

static const cli_option options[] = {
    {"--where", 0, CLI_VALUE, "EXPR", "the rows to delete (true: all)", offsetof(delete_values, where)},
};

static bl_status delete_rows(cli *c, const void *values) {
  const delete_values *v = values;
  bl_table *t = NULL;
  bl_write_options o;
  bl_write_result r = {0};
  if (!v->where) return bl_fail(&c->err, BL_USAGE, "wrong usage: delete: --where is missing (true: all rows)");
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = cli_confirm(c, "delete the rows of %s where %s", c->args[0], v->where);
  if (st == BL_OK) st = cli_where_error(c, v->where, bl_delete_rows(t, v->where, &o, &r, &c->err));
  bl_table_free(t);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

const cli_command cli_delete = {
    .name = "delete",
    .synopsis = "TABLE --where EXPR [--mode MODE]",
    .about = "delete rows; the ids of all others stay",
    .formats = "text|json",
    .text =
        "  Merge-on-read marks the rows in deletion vectors; copy-on-write writes the touched files again without "
        "them,\n"
        "  rows with the ids and sequence numbers that they had. Files of which metadata proves that all rows match\n"
        "  are not opened, they go as a whole. Where no row matches, no snapshot is made,\n"
        "  but for a --batch-id.\n",
    .examples = "    bergline delete /data/wh/db/orders --where \"status = 'test' and day < date '2026-01-01'\"\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(delete_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = delete_rows,
};

/* cmd_overwrite.c: overwrite TABLE FILE [--where EXPR | --partitions]. */
#include <stddef.h>

#include "inputs.h"
#include "rows.h"
#include "writes.h"

typedef struct overwrite_values {
  const char *where, *format;
  bool partitions;
} overwrite_values;

static const cli_option options[] = {
    {"--where", 0, CLI_VALUE, "EXPR", "replace the rows that match, not all", offsetof(overwrite_values, where)},
    {"--partitions", 0, CLI_FLAG, NULL, "replace the partitions that the new rows fall into, not all",
     offsetof(overwrite_values, partitions)},
    {"--input-format", 0, CLI_VALUE, "FORMAT",
     "of the file: parquet, arrow, csv, ndjson, avro, orc; by its ending, else by its bytes",
     offsetof(overwrite_values, format)},
};

static bl_status ask(cli *c, const overwrite_values *v) {
  if (v->where) return cli_confirm(c, "replace the rows of %s where %s", c->args[0], v->where);
  return cli_confirm(c, v->partitions ? "replace partitions of %s" : "replace all rows of %s", c->args[0]);
}

static bl_status overwrite(cli *c, const void *values) {
  const overwrite_values *v = values;
  struct ArrowArrayStream rows;
  bl_table *t = NULL;
  bl_write_options o;
  bl_write_result r = {0};
  bl_overwrite_kind kind = v->where ? BL_OVERWRITE_WHERE : v->partitions ? BL_OVERWRITE_PARTITIONS : BL_OVERWRITE_ALL;
  if (v->where && v->partitions)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: overwrite: --where or --partitions, not both");
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = ask(c, v);
  if (st == BL_OK) st = cli_read_files(c, t, c->args + 1, 1, v->format, &rows);
  if (st == BL_OK) st = cli_where_error(c, v->where, bl_overwrite(t, &rows, kind, v->where, &o, &r, &c->err));
  bl_table_free(t);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

const cli_command cli_overwrite = {
    .name = "overwrite",
    .synopsis = "TABLE FILE [--where EXPR | --partitions] [--mode MODE]",
    .about = "rows of a file in the place of all rows, of those that match, or of whole partitions",
    .formats = "text|json",
    .text = "  The new rows get new ids: where rows are to keep theirs, use upsert or sync. The old rows go and the "
            "new ones\n"
            "  come in one snapshot. - is standard input.\n",
    .examples = "    bergline overwrite /data/wh/db/orders january.parquet --where \"month = '2026-01'\"\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(overwrite_values),
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = overwrite,
};

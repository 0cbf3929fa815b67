/* cmd_relocate.c: relocate TABLE --to LOCATION. */
#include <stddef.h>

#include "writes.h"

typedef struct relocate_values {
  const char *to;
} relocate_values;

static const cli_option options[] = {
    {"--to", 0, CLI_VALUE, "LOCATION", "the table's folder as others will name it: an absolute path or a URI",
     offsetof(relocate_values, to)},
};

static bl_status relocate(cli *c, const void *values) {
  const relocate_values *v = values;
  bl_table *t = NULL;
  bl_write_options w;
  if (!v->to) return bl_fail(&c->err, BL_USAGE, "wrong usage: relocate: --to is missing");
  bl_status st = cli_open_to_write(c, &t, &w);
  if (st == BL_OK) st = bl_relocate(t, v->to, &w, &c->err);
  bl_table_free(t);
  return st == BL_OK ? cli_metadata_result(c, c->args[0], "relocated to %s", v->to) : st;
}

const cli_command cli_relocate = {
    .name = "relocate",
    .synopsis = "TABLE --to LOCATION [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "write a moved table's metadata with its new paths",
    .formats = "text|json",
    .text =
        "  A table folder that was moved opens without it: its paths are mapped. This is for tables that moved for "
        "good, "
        "and are to be\n"
        "  read by others: metadata, manifest lists, manifests, position deletes and deletion vectors of all snapshots "
        "are written\n"
        "  again with paths below LOCATION. Data files stay as they are, and so do row ids.\n",
    .examples = "    mv /old/orders /data/wh/db/orders\n"
                "    bergline relocate /data/wh/db/orders --to /data/wh/db/orders\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(relocate_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = relocate,
};

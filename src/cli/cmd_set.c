/* cmd_set.c: set TABLE k=v…, unset TABLE k…. */
#include <string.h>

#include "writes.h"

/* How many of the keys the table has; a key twice counts once. */
static size_t count_set(bl_table *t, const char *const *keys, size_t n) {
  size_t found = 0;
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    while (k < i && strcmp(keys[k], keys[i]) != 0) k++;
    found += k == i && bl_table_property(t, keys[i]);
  }
  return found;
}

static bl_status change(cli *c, bool set) {
  bl_table *t = NULL;
  bl_write_options o;
  const char *const *words = c->args + 1;
  size_t n = (size_t)c->n_args - 1;
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK)
    st = set ? bl_set_properties(t, words, n, NULL, 0, &o, &c->err)
             : bl_set_properties(t, NULL, 0, words, n, &o, &c->err);
  if (st == BL_OK && !set) n = count_set(t, words, n);
  bl_table_free(t);
  if (st != BL_OK) return st;
  return cli_metadata_result(c, c->args[0], "%zu %s %s", n, n == 1 ? "property" : "properties", set ? "set" : "unset");
}

static bl_status run_set(cli *c, const void *values) {
  (void)values;
  return change(c, true);
}

static bl_status run_unset(cli *c, const void *values) {
  (void)values;
  return change(c, false);
}

const cli_command cli_set = {
    .name = "set",
    .synopsis = "TABLE KEY=VALUE… [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "set table properties",
    .formats = "text|json",
    .text =
        "  Where the table has these values already, no new version is made. inspect TABLE properties shows them.\n",
    .examples = "    bergline set /data/wh/db/orders write.delete.mode=copy-on-write commit.retry.num-retries=20\n",
    .min_args = 2,
    .max_args = -1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = run_set,
};

const cli_command cli_unset = {
    .name = "unset",
    .synopsis = "TABLE KEY… [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "remove table properties",
    .formats = "text|json",
    .text = "  A property that is not set is no error.\n",
    .examples = "    bergline unset /data/wh/db/orders commit.retry.num-retries\n",
    .min_args = 2,
    .max_args = -1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = run_unset,
};

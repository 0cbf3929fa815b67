/* cmd_add_files.c: add-files TABLE FILE…. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "writes.h"

typedef struct add_values {
  const char *lineage;
  bool duplicates;
} add_values;

static const cli_option options[] = {
    {"--lineage", 0, CLI_VALUE, "refuse|ignore|trust", "what to do with row ids that a file stores (refuse)",
     offsetof(add_values, lineage)},
    {"--allow-duplicates", 0, CLI_FLAG, NULL, "add files that the table has already", offsetof(add_values, duplicates)},
};

static bl_status choose(cli *c, const add_values *v, bl_add_files_options *out) {
  *out = (bl_add_files_options){.duplicates_ok = v->duplicates};
  if (!v->lineage || strcmp(v->lineage, "refuse") == 0) return BL_OK;
  if (strcmp(v->lineage, "ignore") == 0) out->lineage = BL_LINEAGE_IGNORE;
  else if (strcmp(v->lineage, "trust") == 0) out->lineage = BL_LINEAGE_TRUST;
  else return bl_fail(&c->err, BL_USAGE, "wrong usage: --lineage %s: refuse, ignore or trust is expected", v->lineage);
  return BL_OK;
}

static bool has_scheme(const char *path) {
  const char *colon = strchr(path, ':'), *slash = strchr(path, '/');
  return colon && colon > path && (!slash || colon < slash);
}

/* Metadata holds whole paths. */
static bl_status whole_path(const char *path, char **out, bl_error *err) {
  bool whole = has_scheme(path) || path[0] == '/';
  *out = whole ? strdup(path) : realpath(path, NULL);
  if (*out) return BL_OK;
  if (errno == ENOENT || errno == ENOTDIR) return bl_fail(err, BL_NOT_FOUND, "cannot open: %s: %m", path);
  return bl_fail(err, errno == ENOMEM ? BL_NOMEM : BL_IO, "cannot open: %s: %m", path);
}

static bl_status add_to(cli *c, bl_table *t, const bl_add_files_options *a, const bl_write_options *o) {
  size_t n = (size_t)c->n_args - 1;
  bl_write_result r = {0};
  char **paths = calloc(n, sizeof *paths);
  bl_status st = paths ? BL_OK : bl_fail(&c->err, BL_NOMEM, "out of memory");
  for (size_t i = 0; st == BL_OK && i < n; i++) st = whole_path(c->args[i + 1], &paths[i], &c->err);
  if (st == BL_OK) st = bl_add_files(t, (const char *const *)paths, n, a, o, &r, &c->err);
  for (size_t i = 0; paths && i < n; i++) free(paths[i]);
  free(paths);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

static bl_status add_files(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options o;
  bl_add_files_options a;
  bl_status st = choose(c, values, &a);
  if (st == BL_OK) st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = add_to(c, t, &a, &o);
  bl_table_free(t);
  return st;
}

const cli_command cli_add_files = {
    .name = "add-files",
    .synopsis = "TABLE FILE… [--lineage refuse|ignore|trust] [--allow-duplicates]",
    .about = "make data files the table's own, where they lie",
    .formats = "text|json",
    .text =
        "  Parquet, Avro and ORC files are taken as they are: nothing is copied, and from then on they belong to the "
        "table, which may\n"
        "  remove them one day. Columns go by field id; a file without ids by the table's name mapping "
        "(schema.name-mapping.default),\n"
        "  which is set to the column names where there is none.\n"
        "\n"
        "  In a partitioned table each file must lie in one partition, as its statistics tell. Where the file lacks "
        "the "
        "column of an identity\n"
        "  partition field, the last folder of its path that is called NAME=VALUE by the column or the field says its "
        "value (%XX is a byte,\n"
        "  __HIVE_DEFAULT_PARTITION__ is null); where none does, it is null, with a warning. A file that the table "
        "has already is\n"
        "  refused unless --allow-duplicates is given.\n"
        "\n"
        "  A file that stores row ids (a copy of a table's own file) is refused: added again, its ids would be there "
        "twice. With\n"
        "  --lineage ignore its rows are copied into new files and get new ids. With --lineage trust it is taken with "
        "its ids, each of\n"
        "  which must have been given out by this table and be no row's of the branch: for rows that were moved out "
        "and come back.\n",
    .examples = "    bergline add-files /data/wh/db/orders /data/import/2026-01-*.parquet\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(add_values),
    .min_args = 2,
    .max_args = -1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE,
    .run = add_files,
};

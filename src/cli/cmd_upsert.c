/* cmd_upsert.c: upsert TABLE FILE --key A,B and sync TABLE FILE --key A,B. */
#include <stddef.h>

#include "inputs.h"
#include "rows.h"
#include "writes.h"

typedef struct upsert_values {
  const char *key, *delete_when, *last_wins, *format;
  bool touch;
} upsert_values;

#define KEY_OPTION                                                                                                     \
  { "--key", 0, CLI_VALUE, "A,B", "the columns that say which row is which", offsetof(upsert_values, key) }
#define LAST_WINS_OPTION                                                                                               \
  {                                                                                                                    \
    "--last-wins", 0, CLI_VALUE, "COLUMN",                                                                             \
        "of rows with one key, take the one with the greatest value of this column, of equal ones the last",           \
        offsetof(upsert_values, last_wins)                                                                             \
  }
#define TOUCH_OPTION                                                                                                   \
  {                                                                                                                    \
    "--touch", 0, CLI_FLAG, NULL, "write rows that the table has also where no value differs",                         \
        offsetof(upsert_values, touch)                                                                                 \
  }
#define FORMAT_OPTION                                                                                                  \
  {                                                                                                                    \
    "--input-format", 0, CLI_VALUE, "FORMAT",                                                                          \
        "of the file: parquet, arrow, csv, ndjson, avro, orc; by its ending, else by its bytes",                       \
        offsetof(upsert_values, format)                                                                                \
  }

static const cli_option upsert_options[] = {
    KEY_OPTION,
    {"--delete-when", 0, CLI_VALUE, "EXPR", "rows of the file for which it is true delete the row with their key",
     offsetof(upsert_values, delete_when)},
    LAST_WINS_OPTION,
    TOUCH_OPTION,
    FORMAT_OPTION,
};

static const cli_option sync_options[] = {KEY_OPTION, LAST_WINS_OPTION, TOUCH_OPTION, FORMAT_OPTION};

static bl_status put_rows(cli *c, bl_table *t, const upsert_values *v, bool sync, const bl_write_options *o,
                          bl_write_result *r) {
  cli_names key = {0};
  cli_input in = {0};
  bl_status st = cli_split(c, v->key, &key);
  bl_upsert_options u = {.key = key.items,
                         .n_key = key.n,
                         .delete_when = v->delete_when,
                         .last_wins = v->last_wins,
                         .touch = v->touch,
                         .delete_missing = sync,
                         .name = cli_input_name(c->args[1])};
  if (st == BL_OK) st = cli_read_rows(c, t, c->args[1], v->format, &in);
  if (st == BL_OK) st = cli_where_error(c, v->delete_when, bl_upsert(t, &in.rows, &u, o, r, &c->err));
  cli_input_close(&in);
  cli_names_free(&key);
  return st;
}

static bl_status run(cli *c, const upsert_values *v, bool sync) {
  bl_table *t = NULL;
  bl_write_options o;
  bl_write_result r = {0};
  if (!v->key) return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: --key is missing", c->command->name);
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK && sync)
    st = cli_confirm(c, "make %s say what %s says, and delete all other rows", c->args[0], c->args[1]);
  if (st == BL_OK) st = put_rows(c, t, v, sync, &o, &r);
  bl_table_free(t);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

static bl_status upsert(cli *c, const void *values) {
  return run(c, values, false);
}

static bl_status sync_rows(cli *c, const void *values) {
  return run(c, values, true);
}

const cli_command cli_upsert = {
    .name = "upsert",
    .synopsis = "TABLE FILE --key A,B [--delete-when EXPR] [--last-wins COLUMN] [--touch] [--mode MODE]",
    .about = "put rows by key: new ones are inserted, others changed, and these keep their ids",
    .formats = "text|json",
    .text =
        "  Only rows of which a value differs are written; they keep their _row_id. A key that comes twice is an "
        "error,\n"
        "  unless --last-wins says which row counts; a null in a key is an error. Columns that the file does not have\n"
        "  keep their values in rows that exist; new rows need those that are required. The columns of NDJSON are all "
        "that its\n"
        "  first rows (1 MiB) name. --delete-when and --last-wins may name columns of the file that the table does not "
        "have. - is standard input.\n"
        "  Where the table has a key in more than one row, all of these are changed, and a warning counts them.\n",
    .examples =
        "    bergline upsert /data/wh/db/orders changed.parquet --key id\n"
        "    bergline upsert /data/wh/db/orders batch.csv --key shop,id --delete-when \"op = 'D'\" --last-wins lsn\n",
    .options = upsert_options,
    .n_options = sizeof upsert_options / sizeof *upsert_options,
    .values_size = sizeof(upsert_values),
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = upsert,
};

const cli_command cli_sync = {
    .name = "sync",
    .synopsis = "TABLE FILE --key A,B [--last-wins COLUMN] [--touch] [--mode MODE]",
    .about = "make the table say what a file says, writing only the differences",
    .formats = "text|json",
    .text =
        "  The file is the whole truth: keys that are new are inserted, rows of which a value differs are changed and\n"
        "  keep their ids, keys that the file lacks are deleted, all other rows are left as they are. Instead of\n"
        "  deleting and loading everything again, which gives each row a new id.\n"
        "  A key of the file that the table has in more than one row is an error (exit status 2), and nothing is "
        "changed:\n"
        "  `scan --lineage --where` shows these rows, `delete --where '_row_id = N'` removes the surplus ones.\n",
    .examples = "    bergline sync /data/wh/db/customers dump.csv --key id --yes\n",
    .options = sync_options,
    .n_options = sizeof sync_options / sizeof *sync_options,
    .values_size = sizeof(upsert_values),
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = sync_rows,
};

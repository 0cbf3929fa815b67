/* cmd_history.c: history TABLE. */
#include "bergline/changes.h"

#include <stddef.h>
#include <stdlib.h>

#include "rows.h"

typedef struct history_values {
  const char *row_id, *where, *from, *to, *ref, *columns, *plan;
} history_values;

#define AT(member) offsetof(history_values, member)
static const cli_option options[] = {
    {"--row-id", 0, CLI_VALUE, "N[,N…]", "the rows with these ids", AT(row_id)},
    {"--where", 0, CLI_VALUE, "EXPR", "the rows of which any version matches", AT(where)},
    {"--from", 0, CLI_VALUE, "SNAP", "versions after this snapshot (from the beginning)", AT(from)},
    {"--to", 0, CLI_VALUE, "SNAP", "up to and with this one (the branch head)", AT(to)},
    {"--ref", 0, CLI_VALUE, "NAME", "the branch or tag to follow (main)", AT(ref)},
    {"--columns", 0, CLI_VALUE, "A,B.C,…", "only these table columns; further columns by name", AT(columns)},
    {"--plan", 0, CLI_PERHAPS, "footers",
     "print what would be read instead of rows, as text or json; =footers: also by what footers tell", AT(plan)},
};

static bl_status print_plan(cli *c, bl_table *t, const bl_history_options *o, const char *plan) {
  bl_plan_request q;
  bl_sink sink;
  bl_status st = cli_plan(c, plan, &q, &sink);
  if (st == BL_OK) st = cli_close_output(c, bl_history_plan(t, o, &q, &sink, &c->err));
  return st;
}

static bl_status print_rows(cli *c, bl_table *t, const bl_history_options *o) {
  struct ArrowArrayStream stream = {0};
  bl_status st = bl_history(t, o, &stream, &c->err);
  if (st == BL_OK) st = cli_write_rows(c, &stream);
  if (stream.release) stream.release(&stream);
  return st;
}

static bl_status parse_ids(cli *c, const cli_names *names, int64_t **out) {
  *out = calloc(names->n + 1, sizeof **out);
  if (!*out) return bl_nomem(&c->err);
  for (size_t i = 0; i < names->n; i++) {
    bl_status st = cli_number(c, "--row-id", names->items[i], &(*out)[i]);
    if (st != BL_OK) return st;
  }
  return BL_OK;
}

static bl_status history(cli *c, const void *v) {
  const history_values *in = v;
  cli_names columns = {0}, ids = {0};
  int64_t *row_ids = NULL;
  bl_table *t = NULL;
  if (!in->row_id == !in->where)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: history: either --row-id or --where is expected");
  bl_status st = cli_split(c, in->columns, &columns);
  if (st == BL_OK) st = cli_split(c, in->row_id, &ids);
  if (st == BL_OK) st = parse_ids(c, &ids, &row_ids);
  bl_history_options o = {.row_ids = row_ids,
                          .n_row_ids = ids.n,
                          .where = in->where,
                          .from = in->from,
                          .to = in->to,
                          .ref = in->ref,
                          .columns = in->columns ? columns.items : NULL,
                          .n_columns = columns.n};
  if (st == BL_OK) st = cli_open_table(c, c->args[0], &t);
  if (st == BL_OK) st = cli_where_error(c, in->where, in->plan ? print_plan(c, t, &o, in->plan) : print_rows(c, t, &o));
  bl_table_free(t);
  free(row_ids);
  cli_names_free(&columns);
  cli_names_free(&ids);
  return st;
}

const cli_command cli_history = {
    .name = "history",
    .synopsis = "TABLE (--row-id N[,N…] | --where EXPR) [--from SNAP] [--to SNAP]",
    .about = "the versions that rows have had",
    .formats = "text|ndjson|csv|arrow|parquet",
    .text = "One line a version: INSERT, UPDATE_AFTER, DELETE, ordered by row id, then snapshot, with the columns "
            "of changes and behind them _commit_timestamp, _operation and _engine (what wrote the snapshot, where "
            "it says so). --where picks the rows of which any version matches, and shows all their versions in "
            "the range."
            "\n\n"
            "A key that was deleted and inserted again is another row, and shows as two lives. Rows without an id "
            "are shown by their place in the files. An id that never was gives no lines.",
    .examples = "    bergline history /data/wh/db/orders --row-id 1,19\n"
                "    bergline history /data/wh/db/orders --where 'id = 2' --columns status\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(history_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT,
    .run = history,
};

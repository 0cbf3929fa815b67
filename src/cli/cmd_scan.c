/* cmd_scan.c: scan TABLE. */
#include "bergline/scan.h"

#include <stddef.h>

#include "rows.h"

typedef struct scan_values {
  const char *at, *ref, *columns, *where, *limit, *plan;
  bool lineage, unordered, require_lineage;
} scan_values;

static const cli_option options[] = {
    {"--at", 0, CLI_VALUE, "SNAP",
     "as of this snapshot: an id, a ref, a time, id: ref: ts: seq:", offsetof(scan_values, at)},
    {"--ref", 0, CLI_VALUE, "NAME", "the branch or tag to read (main)", offsetof(scan_values, ref)},
    {"--columns", 0, CLI_VALUE, "A,B.C,…", "only these columns, in this order; metadata columns by name",
     offsetof(scan_values, columns)},
    {"--where", 0, CLI_VALUE, "EXPR", "only rows for which EXPR is true", offsetof(scan_values, where)},
    {"--lineage", 0, CLI_FLAG, NULL, "append _row_id and _last_updated_sequence_number",
     offsetof(scan_values, lineage)},
    {"--limit", 0, CLI_VALUE, "N", "at most N rows", offsetof(scan_values, limit)},
    {"--unordered", 0, CLI_FLAG, NULL, "rows as they are found", offsetof(scan_values, unordered)},
    {"--require-lineage", 0, CLI_FLAG, NULL, "exit 1 at the first row that has no id",
     offsetof(scan_values, require_lineage)},
    {"--plan", 0, CLI_PERHAPS, "footers",
     "print what would be read instead of rows, as text or json; =footers: also by what footers tell",
     offsetof(scan_values, plan)},
};

static bl_status print_plan(cli *c, bl_table *t, const bl_scan_options *o, const char *plan) {
  bl_plan_request q;
  bl_sink sink;
  bl_status st = cli_plan(c, plan, &q, &sink);
  if (st == BL_OK) st = cli_close_output(c, bl_scan_plan(t, o, &q, &sink, &c->err));
  return st;
}

static bl_status print_rows(cli *c, bl_table *t, const bl_scan_options *o) {
  struct ArrowArrayStream stream = {0};
  bl_status st = bl_scan(t, o, &stream, &c->err);
  if (st == BL_OK) st = cli_write_rows(c, &stream);
  if (stream.release) stream.release(&stream);
  return st;
}

static bl_status scan(cli *c, const void *v) {
  const scan_values *in = v;
  cli_names columns = {0};
  bl_table *t = NULL;
  bl_scan_options o = {.at = in->at,
                       .ref = in->ref,
                       .where = in->where,
                       .lineage = in->lineage,
                       .unordered = in->unordered,
                       .require_lineage = in->require_lineage,
                       .has_limit = in->limit != NULL};
  bl_status st = cli_split(c, in->columns, &columns);
  if (st == BL_OK && in->limit) st = cli_number(c, "--limit", in->limit, &o.limit);
  o.columns = in->columns ? columns.items : NULL;
  o.n_columns = columns.n;
  if (st == BL_OK) st = cli_open_table(c, c->args[0], &t);
  if (st == BL_OK) st = cli_where_error(c, in->where, in->plan ? print_plan(c, t, &o, in->plan) : print_rows(c, t, &o));
  bl_table_free(t);
  cli_names_free(&columns);
  return st;
}

const cli_command cli_scan = {
    .name = "scan",
    .synopsis = "TABLE [--at SNAP] [--columns A,B.C,…] [--where EXPR] [--lineage] [--limit N]",
    .about = "the live rows of a table, with their lineage",
    .formats = "text|ndjson|csv|arrow|parquet",
    .text = "Rows come in list order, entry order, position, after all deletes that apply; --unordered gives them "
            "as they are found."
            "\n\n"
            "--lineage appends _row_id and _last_updated_sequence_number, with the values that the specification "
            "gives them: the stored one, else for the id the first_row_id of the data file plus the position of "
            "the row, for the number the data sequence number of the file. Both are null where the file has no "
            "first_row_id: tables before version 3, and snapshots from before an upgrade."
            "\n\n"
            "In --columns further metadata columns can be named: _file, _pos, _spec_id, _partition and "
            "_last_updated_at, the commit time of the last change (null where its snapshot has expired). A table "
            "column of the same name wins; the metadata column is then meta._row_id and the like. b.c gives the "
            "struct b with the field c only, _partition.f one partition field. They can be named in --where too: "
            "_partition.f = 3 skips files by their partition, and is null where a file's spec has no such field. "
            "Parquet has no struct without fields: there _partition of a table without partitions is left out, with "
            "a warning."
            "\n\n"
            "--require-lineage ends with exit status 1 at the first row without an id.",
    .examples = "    bergline scan /data/wh/db/orders --lineage --limit 10\n"
                "    bergline scan /data/wh/db/orders --at 2026-01-31 --where \"amount > 100 and status = 'paid'\"\n"
                "    bergline scan /data/wh/db/orders --columns id,_row_id --where '_last_updated_sequence_number > "
                "41' -o changed.parquet\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(scan_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT,
    .run = scan,
};

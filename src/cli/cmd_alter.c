/* cmd_alter.c: alter TABLE CHANGE. */
#include "writes.h"

static bl_status alter(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options w;
  (void)values;
  bl_status st = cli_open_to_write(c, &t, &w);
  if (st == BL_OK) st = bl_alter(t, c->args + 1, (size_t)c->n_args - 1, &w, &c->err);
  bl_table_free(t);
  return st == BL_OK ? cli_metadata_result(c, c->args[0], "%s %s", c->args[1], c->n_args > 2 ? c->args[2] : "done")
                     : st;
}

static void list_changes(cli_page *p) {
  static const cli_item changes[] = {
      {"add NAME TYPE [ATTRIBUTE]…",
       "a column, or a field of a struct (a.b); attributes: not null, default LITERAL, doc "
       "TEXT, first, after X, before X"},
      {"drop NAME", "a column; nothing may be partitioned or sorted by it"},
      {"rename NAME NEW-NAME", "rows keep their values, and ids"},
      {"move NAME first|after X|before X", "another place among its siblings"},
      {"type NAME TYPE", "widen: int to long, float to double, a decimal's precision, date to timestamp (version 3)"},
      {"optional NAME", "nulls are allowed from now on"},
      {"default NAME LITERAL", "what rows to come have where no value is given; null: none"},
      {"doc NAME TEXT", "the comment; '' removes it"},
      {"identifier NAME,…", "the identifier fields; '' removes them"},
      {"partition add FIELD", "bucket(16, a), day(ts) as d …, for files to come"},
      {"partition drop FIELD", "by its name, or as it was added"},
      {"sort FIELDS", "the order of rows to come; none: unsorted"},
  };
  cli_page_section(p, "CHANGES");
  cli_page_items(p, changes, sizeof changes / sizeof *changes);
}

const cli_command cli_alter = {
    .name = "alter",
    .synopsis = "TABLE CHANGE… [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "change columns, partitions, order",
    .formats = "text|json",
    .text = "  One change of the table's metadata: no data file is written. Columns are known by ids, so that old "
            "files read "
            "as the new\n"
            "  schema has them.\n",
    .more = list_changes,
    .examples = "    bergline alter /data/wh/db/orders add price 'decimal(10,2)' default 0.00 after item\n"
                "    bergline alter /data/wh/db/orders rename item article\n"
                "    bergline alter /data/wh/db/orders partition add 'day(at)'\n",
    .min_args = 2,
    .max_args = -1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = alter,
};

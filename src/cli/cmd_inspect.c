/* cmd_inspect.c: inspect TABLE WHAT. */
#include <stddef.h>
#include <string.h>

#include "bergline/inspect.h"
#include "cli.h"

typedef struct inspect_values {
  const char *at, *ref;
} inspect_values;

static const cli_option options[] = {
    {"--at", 0, CLI_VALUE, "SNAP",
     "as of this snapshot: an id, a ref, a time, id: ref: ts: seq:", offsetof(inspect_values, at)},
    {"--ref", 0, CLI_VALUE, "NAME", "the branch or tag to look at (main)", offsetof(inspect_values, ref)},
};

static bl_status inspect(cli *c, const void *v) {
  const inspect_values *values = v;
  const char *format;
  bl_sink sink;
  bl_table *t = NULL;
  bl_status st = cli_format(c, &format);
  if (st == BL_OK) st = cli_open_table(c, c->args[0], &t);
  if (st == BL_OK) st = cli_open_output(c, &sink);
  if (st == BL_OK) {
    bl_inspect_options o = {.at = values->at, .ref = values->ref, .text = strcmp(format, "text") == 0};
    st = bl_inspect(t, c->n_args > 1 ? c->args[1] : "info", &o, &sink, &c->err);
    st = cli_close_output(c, st);
  }
  bl_table_free(t);
  return st;
}

static void list_kinds(cli_page *p) {
  char about[120];
  size_t n;
  const bl_inspect_kind *kinds = bl_inspect_kinds(&n);
  cli_page_section(p, "WHAT");
  for (size_t i = 0; i < n; i++) {
    snprintf(about, sizeof about, "%s%s", kinds[i].about, kinds[i].takes_at ? " (--at)" : "");
    cli_page_item(p, kinds[i].name, about);
  }
}

const cli_command cli_inspect = {
    .name = "inspect",
    .synopsis = "TABLE [WHAT] [--at SNAP] [--ref NAME] [--format text|json] [-o FILE]",
    .about = "what a table's metadata says",
    .formats = "text|json",
    .text = "  Prints one report about TABLE; info where WHAT is left out. Names and columns are those of Spark's "
            "metadata\n"
            "  tables, further columns after them. JSON is one document: an array of rows, or one object for info, "
            "schema,\n"
            "  spec and properties. row_ids reads the footers of data files (of Avro and ORC the columns of ids,\n"
            "  where the manifests do not tell), position_deletes delete files.\n",
    .more = list_kinds,
    .examples = "    bergline inspect /data/wh/db/orders\n"
                "    bergline inspect /data/wh/db/orders files --at ref:audit\n"
                "    bergline inspect db.orders row_ids --catalog prod --format json\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(inspect_values),
    .min_args = 1,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT,
    .run = inspect,
};

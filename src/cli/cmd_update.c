/* cmd_update.c: update TABLE --set 'a = EXPR' --where EXPR. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "writes.h"

typedef struct update_values {
  cli_list set;
  const char *where;
} update_values;

static const cli_option options[] = {
    {"--set", 0, CLI_LIST, "COLUMN=EXPR", "the new value of a column, from the old values of the row (repeatable)",
     offsetof(update_values, set)},
    {"--where", 0, CLI_VALUE, "EXPR", "the rows to change (all)", offsetof(update_values, where)},
};

/* The position of a failure is in one of the expressions: the message names it ("set 2: …"), or it is --where. */
static bl_status point_out(cli *c, const update_values *v, bl_status st) {
  char start[32];
  if (st != BL_USAGE || c->err.position < 0) return st;
  c->caret = v->where;
  for (size_t i = 0; i < v->set.n; i++) {
    snprintf(start, sizeof start, "set %zu: ", i + 1);
    if (strncmp(c->err.message, start, strlen(start)) == 0) c->caret = v->set.items[i];
  }
  return st;
}

static bl_status update(cli *c, const void *values) {
  const update_values *v = values;
  bl_table *t = NULL;
  bl_write_options o;
  bl_write_result r = {0};
  if (v->set.n == 0) return bl_fail(&c->err, BL_USAGE, "wrong usage: update: --set is missing");
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = point_out(c, v, bl_update_rows(t, v->set.items, v->set.n, v->where, &o, &r, &c->err));
  bl_table_free(t);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

const cli_command cli_update = {
    .name = "update",
    .synopsis = "TABLE --set COLUMN=EXPR… [--where EXPR] [--mode MODE]",
    .about = "change values of rows, which keep their ids",
    .formats = "text|json",
    .text =
        "  EXPR: literals and columns (of the row before the change, metadata columns too), + - * / %, || of strings, "
        "coalesce(a, b, …),\n"
        "  case when PREDICATE then x … else y end, cast(x as type), parentheses. Integers divided give a double, or,\n"
        "  set to an integer column, a whole number cut towards zero. A value that does not fit, an overflow and a\n"
        "  division by zero end the command with the row's place; nothing is written then.\n"
        "  A field of a struct that is null (st.a = 1) makes a struct whose other fields are null, which is an error "
        "where one of them is required.\n"
        "  A changed row keeps its _row_id; its _last_updated_sequence_number becomes that of the new snapshot, also\n"
        "  where no value differs.\n",
    .examples =
        "    bergline update /data/wh/db/orders --set 'amount = amount * 1.1' --where \"status = 'open'\"\n"
        "    bergline update /data/wh/db/orders --set \"note = coalesce(note, '') || ' (seen)'\" --set seen=true\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(update_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = update,
};

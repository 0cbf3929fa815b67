/* rows.h: what the row commands share. */
#ifndef BL_CLI_ROWS_H
#define BL_CLI_ROWS_H

#include "bergline/output.h"
#include "bergline/scan.h"
#include "cli.h"

typedef struct cli_names {
  const char **items;
  size_t n;
  char *text;
} cli_names;

/* "a,b.c,\"x,y\"" -> names; NULL text: none. BL_NOMEM. */
bl_status cli_split(cli *c, const char *text, cli_names *out);
void cli_names_free(cli_names *n);
/* The stream in the command's format; it is not released. */
bl_status cli_write_rows(cli *c, struct ArrowArrayStream *in);
/* --plan, --plan=footers and --format text|json of a plan; opens the output. BL_USAGE. */
bl_status cli_plan(cli *c, const char *plan, bl_plan_request *q, bl_sink *sink);
/* Where the failure lies in --where, have main print the place. Returns st. */
bl_status cli_where_error(cli *c, const char *where, bl_status st);

#endif

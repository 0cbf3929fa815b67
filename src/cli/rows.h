/* rows.h: what the row commands share. */
#ifndef BL_CLI_ROWS_H
#define BL_CLI_ROWS_H

#include "bergline/output.h"
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
/* A JSON document to the output. */
bl_status cli_write_text(cli *c, const char *text);
/* --plan, --plan=footers: *footers; BL_USAGE for anything else. */
bl_status cli_plan_kind(cli *c, const char *plan, bool *footers);
/* Where the failure lies in --where, have main print the place. Returns st. */
bl_status cli_where_error(cli *c, const char *where, bl_status st);

#endif

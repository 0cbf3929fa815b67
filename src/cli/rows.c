/* rows.c: what the row commands share: lists of names, a stream to the output. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bl_status cli_write_rows(cli *c, struct ArrowArrayStream *in) {
  const char *name;
  bl_row_format format;
  bl_sink sink;
  bl_status st = cli_format(c, &name);
  if (st != BL_OK) return st;
  if (!bl_row_format_of(name, &format))
    return bl_fail(&c->err, BL_USAGE, "wrong usage: --format %s: text, ndjson, csv, arrow or parquet is expected",
                   name);
  if (format == BL_ROWS_ARROW && cli_is_arrow_file(c)) format = BL_ROWS_ARROW_FILE;
  st = cli_open_output(c, &sink);
  if (st != BL_OK) return st;
  st = bl_write_rows(c->ctx, format, in, &sink, NULL, &c->err);
  return cli_close_output(c, st);
}

/* Names are separated by commas, and blanks around them are passed over; inside "…" both are of the name. */
bl_status cli_split(cli *c, const char *text, cli_names *out) {
  *out = (cli_names){0};
  if (!text) return BL_OK;
  out->text = strdup(text);
  out->items = calloc(strlen(text) + 2, sizeof *out->items);
  if (!out->text || !out->items) return bl_nomem(&c->err);
  char *to = out->text, *name = to, *solid = to; /* solid: behind the last byte that is no blank around a name */
  bool quoted = false;
  for (const char *from = out->text;; from++) {
    bool end = *from == 0, escaped = quoted && *from == '"' && from[1] == '"';
    if (*from == '"' && !escaped) {
      quoted = !quoted;
      solid = to;
    } else if (end || (*from == ',' && !quoted)) {
      *solid = 0;
      out->items[out->n++] = name;
      if (end) return BL_OK;
      name = to = solid = solid + 1;
    } else if (quoted || (*from != ' ' && *from != '\t')) {
      from += escaped;
      *to++ = *from;
      solid = to;
    } else if (to > name) {
      *to++ = *from;
    }
  }
}

void cli_names_free(cli_names *n) {
  free(n->text);
  free((void *)n->items);
}

bl_status cli_where_error(cli *c, const char *where, bl_status st) {
  if (st == BL_USAGE && where && c->err.position >= 0) c->caret = where;
  return st;
}

bl_status cli_plan(cli *c, const char *plan, bl_plan_request *q, bl_sink *sink) {
  const char *format = c->common.format;
  *q = (bl_plan_request){.footers = strcmp(plan, "footers") == 0};
  if (!q->footers && *plan)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: --plan=%s: --plan or --plan=footers is expected", plan);
  bool text = format ? strcmp(format, "text") == 0 : !c->common.output && isatty(STDOUT_FILENO);
  if (format && !text && strcmp(format, "json") != 0)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: --format %s: a plan is text or json", format);
  q->format = text ? BL_PLAN_TEXT : BL_PLAN_JSON;
  return cli_open_output(c, sink);
}

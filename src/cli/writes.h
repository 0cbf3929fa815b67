/* writes.h: what the commands that write share. */
#ifndef BL_CLI_WRITES_H
#define BL_CLI_WRITES_H

#include "bergline/write.h"
#include "cli.h"

/* The table that the first argument names, and what the common options say of a change of it; BL_USAGE: --mode, empty
 * ids. */
bl_status cli_open_to_write(cli *c, bl_table **t, bl_write_options *o);
bl_status cli_check_batch(cli *c); /* BL_USAGE: an empty id */
bl_status cli_table_options(cli *c, bl_table_options *out);

/* Ask on the terminal, unless --yes or --dry-run; BL_USAGE: no, or nobody can be asked. */
bl_status cli_confirm(cli *c, const char *fmt, ...) BL_PRINTF(2, 3);

/* The outcome of a verb that makes snapshots, as the output's format asks. */
bl_status cli_write_result(cli *c, const bl_write_result *r);
/* The outcome of a change of metadata: what was done, and the metadata file that tells. address: the table. */
bl_status cli_metadata_result(cli *c, const char *address, const char *fmt, ...) BL_PRINTF(3, 4);

/* Members of one JSON object on a line, built in a block of the caller's (free). */
typedef struct cli_json {
  char *p;
  size_t n, cap;
  bool failed;
} cli_json;
void cli_json_text(cli_json *j, const char *key, const char *value); /* NULL: null */
void cli_json_number(cli_json *j, const char *key, int64_t v);
void cli_json_bool(cli_json *j, const char *key, bool v);
/* "metadata_location" of the table as it is now, after a change of it; a warning where that cannot be told. */
void cli_json_location(cli *c, const char *address, cli_json *j);
/* {…} without a line's end; for one of several objects. */
bl_status cli_json_write(const bl_sink *sink, cli_json *j, bl_error *err);
/* Print {…}\n to the output, or the same as aligned lines where the format is text. Frees. */
bl_status cli_json_print(cli *c, cli_json *j);

/* A list as the output's format asks: lines of text, or a JSON array of objects. */
typedef struct cli_rows {
  cli *c;
  bl_sink sink;
  bool text;
  size_t n;
} cli_rows;
bl_status cli_rows_begin(cli *c, cli_rows *r);
bl_status cli_rows_line(cli_rows *r, const char *fmt, ...) BL_PRINTF(2, 3); /* text */
bl_status cli_rows_object(cli_rows *r, cli_json *j);                        /* JSON; frees */
bl_status cli_rows_end(cli_rows *r, bl_status st);

/* "500ms", "45s", "30m", "12h", "7d"; BL_USAGE names the option, also where there is no unit. */
bl_status cli_duration(cli *c, const char *option, const char *text, int64_t *ms);

#endif

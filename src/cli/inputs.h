/* inputs.h: files of rows that commands take, "-" for standard input. */
#ifndef BL_CLI_INPUTS_H
#define BL_CLI_INPUTS_H

#include "bergline/input.h"
#include "cli.h"

/* Files as one stream of the table's columns, for append and overwrite. format: of all of them, NULL: each by its
 * ending, else by its bytes. c->err. */
bl_status cli_read_files(cli *c, bl_table *t, const char *const *paths, size_t n, const char *format,
                         struct ArrowArrayStream *out);

const char *cli_input_name(const char *path); /* for messages */

/* One file as it is (bl_read_rows with extra columns), for verbs that look at more than the table's columns. */
typedef struct cli_input {
  bl_input *in;
  struct ArrowArrayStream rows;
} cli_input;
bl_status cli_read_rows(cli *c, bl_table *t, const char *path, const char *format, cli_input *out);
void cli_input_close(cli_input *in); /* a zeroed one allowed; rows may have been taken */

/* The bytes of one file. */
bl_status cli_open_input(cli *c, const char *path, bl_input **out);

#endif

/* cli.h: the frame of the program: commands and options are tables, one parser and one help for all.
 * 1. Data goes to the output (stdout or -o FILE), everything else to stderr.
 * 2. A command returns a bl_status with c->err set; main prints the one error line and makes the exit status of it. */
#ifndef BL_CLI_CLI_H
#define BL_CLI_CLI_H

#include <stdio.h>

#include "bergline/table.h"

/* ---- options ---- */

typedef enum cli_kind {
  CLI_FLAG,    /* bool */
  CLI_VALUE,   /* const char *; NULL: not given */
  CLI_PERHAPS, /* const char *; --name gives "", --name=X gives X */
  CLI_LIST     /* cli_list; may be repeated */
} cli_kind;

typedef struct cli_list {
  const char **items;
  size_t n;
} cli_list;

typedef struct cli_option {
  const char *name; /* "--at" */
  char letter;      /* 'o', or 0 */
  cli_kind kind;
  const char *value; /* "SNAP": what help calls it */
  const char *about; /* one line */
  size_t offset;     /* of the member in the struct of values */
} cli_option;

/* Options that many commands share. */
typedef struct cli_common {
  const char *catalog, *uri, *warehouse;
  cli_list path_maps;
  const char *format, *output, *progress;
  bool quiet, help;
  const char *ref, *batch_id, *wap_id, *mode;
  cli_list summary;
  bool dry_run, yes;
} cli_common;

enum {
  CLI_TABLE = 1 /* addressing */,
  CLI_OUTPUT = 2 /* --format, -o */,
  CLI_WRITES = 4 /* --dry-run, --yes: a script may give it to every command that writes */,
  CLI_SNAPSHOT = 8 /* --summary, --batch-id: what makes a snapshot */,
  CLI_MODE = 16 /* --mode */,
  CLI_REF = 64 /* --ref: the branch to write to */,
  CLI_STAGE = 128 /* --wap-id: a snapshot that can be held back */,
  CLI_NOTE = 256 /* --summary, --batch-id: what changes metadata alone */,
  CLI_CHANGE = CLI_REF | CLI_SNAPSHOT | CLI_STAGE
};

/* ---- pages of the manual ---- */

/* A page as it is written: as text for a terminal, or as roff for man. page.c. */
typedef struct cli_page {
  FILE *out;
  bool roff;
  bool begun;  /* something is on it */
  size_t term; /* text: columns for the terms of a list; 0: as many as options need */
} cli_page;

/* name: "bergline-scan"; section 1. */
void cli_page_begin(cli_page *p, const char *name);
void cli_page_section(cli_page *p, const char *title); /* "EXIT STATUS" */
/* Paragraphs: words are filled to the width, an empty line ends a paragraph, lines that begin with four spaces stay as
 * they are. Other indentation means nothing. */
void cli_page_text(cli_page *p, const char *text);
/* A term ("--at SNAP") and what it means, filled. */
void cli_page_item(cli_page *p, const char *term, const char *about);
typedef struct cli_item {
  const char *term, *about;
} cli_item;
/* A list of them, as wide as their terms need. */
void cli_page_items(cli_page *p, const cli_item *items, size_t n);

/* ---- commands ---- */

typedef struct cli cli;

typedef struct cli_command {
  const char *name;
  const char *synopsis;      /* "TABLE WHAT [--at SNAP]" */
  const char *about;         /* one line, no full stop */
  const char *formats;       /* CLI_OUTPUT: "text|json": the first is the default on a terminal, the second elsewhere */
  const char *text;          /* paragraphs for help (see cli_page_text), may be NULL */
  void (*more)(cli_page *p); /* further sections of it, may be NULL */
  const char *examples;      /* command lines, each indented by four spaces; may be NULL */
  const cli_option *options;
  size_t n_options;
  size_t values_size;     /* of the struct that the options fill */
  int min_args, max_args; /* -1: any number */
  unsigned groups;        /* CLI_TABLE | … */
  bl_status (*run)(cli *c, const void *values);
} cli_command;

extern const cli_command cli_scan, cli_changes, cli_history, cli_run_task, cli_inspect;
extern const cli_command cli_create, cli_set, cli_unset;
extern const cli_command cli_append, cli_add_files;
extern const cli_command cli_delete, cli_update, cli_upsert, cli_sync, cli_overwrite, cli_apply;
extern const cli_command cli_catalog;
extern const cli_command cli_branch, cli_tag, cli_fast_forward, cli_cherry_pick, cli_rollback, cli_alter, cli_relocate;

/* All of them, in the order of --help. */
const cli_command *const *cli_commands(size_t *n);
const cli_command *cli_find_command(const char *name); /* NULL */

/* ---- the run of a command ---- */

struct cli {
  const cli_command *command;
  cli_common common;
  const char **args; /* without options */
  int n_args;
  bl_ctx *ctx;
  bl_error err;
  bl_drivers drivers;
  bl_output *file;   /* -o */
  bool applied;      /* a change of metadata was not made: the table holds the batch */
  bool nobody_reads; /* stdout was closed by its reader */
  bool ending_told;  /* that the ending of -o says nothing */
  const char *caret; /* the expression in which the error lies; NULL: none */
};

/* options.c: fill values, c->common and c->args; BL_USAGE. */
bl_status cli_parse(cli *c, int argc, char **argv, void *values);
void cli_free_values(cli *c, void *values);
/* The common options of these groups. */
const cli_option *cli_common_options(unsigned *group_of_each, size_t i); /* NULL at the end */
/* A whole number that is not negative; BL_USAGE names the option. */
bl_status cli_number(cli *c, const char *option, const char *text, int64_t *out);

/* output.c */
/* Which of the command's formats: --format, else the ending of -o FILE, else by the terminal. BL_USAGE. */
bl_status cli_format(cli *c, const char **out);
/* Is what goes by the name of arrow an IPC file, by the ending of -o FILE? --format arrow stands for the stream, with a
 * warning where the ending says else. */
bool cli_is_arrow_file(cli *c);
/* Before anything is done: a report that cannot be given must not fail when the commit is made. */
bl_status cli_check_output(cli *c);
bl_status cli_open_output(cli *c, bl_sink *out);
/* Publish, or leave what was there before where st is no BL_OK: a check that stops the rows (BL_FOUND) leaves them
 * incomplete. */
bl_status cli_close_output(cli *c, bl_status st);
bl_status cli_need_drivers(cli *c); /* c->drivers are those of the build */
bl_status cli_open_table(cli *c, const char *address, bl_table **out);
/* For a change: a catalog that another keeps locked is BL_CONFLICT. */
bl_status cli_open_table_to_change(cli *c, const char *address, bl_table **out);

/* messages.c */
void cli_error(const bl_error *err); /* the one line */
/* The text of an expression with a caret under the byte. */
void cli_caret(const char *text, int64_t position);
void cli_log(void *user, bl_log_level level, const char *text);
int cli_progress(void *user, const char *what, int64_t done, int64_t total);
void cli_progress_setup(const char *mode, bool quiet); /* auto|always|never */
void cli_progress_clear(void);
int cli_exit_status(bl_status st);

/* help.c */
void cli_help_all(FILE *out);
void cli_help_command(const cli_command *c, cli_page *p);
void cli_help_program(cli_page *p); /* bergline(1) */

/* topics.c: what holds for all commands. */
typedef struct cli_topic {
  const char *name;  /* of "help NAME" */
  const char *title; /* "EXPRESSIONS" */
  void (*write)(cli_page *p);
} cli_topic;
const cli_topic *cli_topics(size_t *n);
const cli_topic *cli_find_topic(const char *name); /* NULL */
void cli_topic_write(const cli_topic *t, cli_page *p);
void cli_exit_statuses(cli_page *p);

#endif

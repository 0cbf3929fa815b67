/* help.c: --help, help COMMAND and the man pages, from the tables of commands and options. */
#include <string.h>

#include "cli.h"

void cli_help_all(FILE *out) {
  size_t n;
  const cli_command *const *commands = cli_commands(&n);
  fputs("Usage: bergline COMMAND [ARGUMENT]… [OPTION]…\n\nRow lineage in Apache Iceberg tables.\n\nCommands:\n", out);
  cli_page page = {.out = out, .term = 12};
  for (size_t i = 0; i < n; i++) cli_page_item(&page, commands[i]->name, commands[i]->about);
  fputs("\nOptions:\n"
        "  --help       this text\n"
        "  --version    the version\n"
        "\nTABLE is a table's folder, a metadata file, or NAMESPACE.TABLE of a catalog.\n"
        "'bergline help COMMAND' tells more, 'bergline help TOPIC' what holds for all:\n",
        out);
  const cli_topic *topics = cli_topics(&n);
  for (size_t i = 0; i < n; i++) fprintf(out, "%s%s", i ? ", " : "", topics[i].name);
  fputs(".\n", out);
}

/* ---- one command ---- */

/* "-o, --output FILE" */
static void write_option(cli_page *p, const cli_option *o, const char *about) {
  char term[80];
  const char *eq = o->kind == CLI_FLAG ? "" : o->kind == CLI_PERHAPS ? "[=" : " ";
  char letter[] = {'-', o->letter, ',', ' ', 0};
  snprintf(term, sizeof term, "%s%s%s%s%s", o->letter ? letter : "", o->name, eq, o->value ? o->value : "",
           o->kind == CLI_PERHAPS ? "]" : "");
  cli_page_item(p, term, about);
}

static void write_options(const cli_command *c, cli_page *p) {
  unsigned group;
  const cli_option *o;
  for (size_t i = 0; i < c->n_options; i++) write_option(p, &c->options[i], c->options[i].about);
  for (size_t i = 0; (o = cli_common_options(&group, i)); i++) {
    if (group && !(group & c->groups)) continue;
    write_option(p, o, o->about ? o->about : c->formats ? c->formats : "");
  }
}

void cli_help_command(const cli_command *c, cli_page *p) {
  char text[400];
  snprintf(text, sizeof text, "bergline-%s", c->name);
  cli_page_begin(p, text);
  if (p->roff) fprintf(p->out, ".SH NAME\nbergline\\-%s \\- %s\n", c->name, c->about);
  else fprintf(p->out, "NAME\n  bergline %s - %s\n", c->name, c->about);
  cli_page_section(p, "SYNOPSIS");
  snprintf(text, sizeof text, "bergline %s %s", c->name, c->synopsis);
  cli_page_text(p, text);
  if (c->text) {
    cli_page_section(p, "DESCRIPTION");
    cli_page_text(p, c->text);
  }
  if (c->more) c->more(p);
  cli_page_section(p, "OPTIONS");
  write_options(c, p);
  if (c->examples) {
    cli_page_section(p, "EXAMPLES");
    cli_page_text(p, c->examples);
  }
  cli_page_section(p, "EXIT STATUS");
  cli_exit_statuses(p);
  cli_page_section(p, "SEE ALSO");
  cli_page_text(p, "bergline(1): how tables and snapshots are addressed, expressions, output, environment");
}

/* ---- the program ---- */

void cli_help_program(cli_page *p) {
  size_t n;
  const cli_command *const *commands = cli_commands(&n);
  cli_page_begin(p, "bergline");
  if (p->roff) fputs(".SH NAME\nbergline \\- row lineage in Apache Iceberg tables\n", p->out);
  else fputs("NAME\n  bergline - row lineage in Apache Iceberg tables\n", p->out);
  cli_page_section(p, "SYNOPSIS");
  cli_page_text(p, "bergline COMMAND [ARGUMENT]… [OPTION]…\n\nbergline help [COMMAND|TOPIC]");
  cli_page_section(p, "DESCRIPTION");
  cli_page_text(p,
                "Every row of an Iceberg table of format version 3 has an id that it keeps for life, and the sequence "
                "number of the commit that last changed it. bergline reads both as the specification has them, also "
                "where they are inherited and not stored, and tells from them what changed between any two "
                "snapshots, row by row.\n\nEach command has a page of its own, bergline-COMMAND(1).");
  cli_page_section(p, "COMMANDS");
  for (size_t i = 0; i < n; i++) cli_page_item(p, commands[i]->name, commands[i]->about);
  const cli_topic *topics = cli_topics(&n);
  for (size_t i = 0; i < n; i++) cli_topic_write(&topics[i], p);
  cli_page_section(p, "SEE ALSO");
  cli_page_text(p, "bergline(3): the C library");
}

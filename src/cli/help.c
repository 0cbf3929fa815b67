/* help.c: --help and help COMMAND, from the tables. */
#include <string.h>

#include "cli.h"

void cli_help_all(FILE *out) {
  size_t n;
  const cli_command *const *commands = cli_commands(&n);
  fputs("Usage: bergline COMMAND [ARGUMENT]… [OPTION]…\n\nRow lineage in Apache Iceberg tables.\n\nCommands:\n", out);
  for (size_t i = 0; i < n; i++) fprintf(out, "  %-12s %s\n", commands[i]->name, commands[i]->about);
  fputs("\nOptions:\n"
        "  --help       this text\n"
        "  --version    the version\n"
        "\nTABLE is a table's folder, a metadata file, or NAMESPACE.TABLE of a catalog.\n"
        "'bergline help COMMAND' tells more.\n",
        out);
}

static void print_option(const cli_option *o, const char *about, FILE *out) {
  char left[80];
  const char *eq = o->kind == CLI_FLAG ? "" : o->kind == CLI_PERHAPS ? "[=" : " ";
  snprintf(left, sizeof left, "%s%c%s%s%s%s%s", o->letter ? "-" : "", o->letter ? o->letter : ' ',
           o->letter ? ", " : "   ", o->name, eq, o->value ? o->value : "", o->kind == CLI_PERHAPS ? "]" : "");
  const char *name = left + strspn(left, " ");
  fprintf(out, "  %-26s %s\n", name, about ? about : "");
}

static void print_options(const cli_command *c, FILE *out) {
  char about[120];
  unsigned group;
  const cli_option *o;
  for (size_t i = 0; i < c->n_options; i++) print_option(&c->options[i], c->options[i].about, out);
  for (size_t i = 0; (o = cli_common_options(&group, i)); i++) {
    if (group && !(group & c->groups)) continue;
    snprintf(about, sizeof about, "%s", o->about ? o->about : c->formats ? c->formats : "");
    print_option(o, about, out);
  }
}

void cli_help_command(const cli_command *c, FILE *out) {
  fprintf(out, "NAME\n  bergline %s - %s\n\nSYNOPSIS\n  bergline %s %s\n", c->name, c->about, c->name, c->synopsis);
  if (c->text) fprintf(out, "\nDESCRIPTION\n%s", c->text);
  if (c->more) c->more(out);
  fputs("\nOPTIONS\n", out);
  print_options(c, out);
  fputs("\nEXIT STATUS\n"
        "  0 done · 1 a check found something · 2 wrong usage · 3 damaged table or file · 4 I/O error ·\n"
        "  5 commit conflict · 6 commit state unknown · 7 unsupported feature · 8 not found\n",
        out);
}

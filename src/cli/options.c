/* options.c: arguments -> values, by the tables of options. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- the shared ones ---- */

static const cli_option common[] = {
    {"--catalog", 0, CLI_VALUE, "NAME", "the catalog of TABLE, by its name in the configuration",
     offsetof(cli_common, catalog)},
    {"--uri", 0, CLI_VALUE, "URI", "a catalog straight: sqlite:///path/catalog.db", offsetof(cli_common, uri)},
    {"--warehouse", 0, CLI_VALUE, "DIR", "the catalog's warehouse; alone: a folder of tables, NS/NAME",
     offsetof(cli_common, warehouse)},
    {"--path-map", 0, CLI_LIST, "FROM=TO", "read paths that begin with FROM at TO (repeatable)",
     offsetof(cli_common, path_maps)},
    {"--format", 0, CLI_VALUE, "FORMAT", NULL, offsetof(cli_common, format)},
    {"--output", 'o', CLI_VALUE, "FILE", "write to FILE, which appears when it is complete",
     offsetof(cli_common, output)},
    {"--ref", 0, CLI_VALUE, "NAME", "the branch that is meant (main)", offsetof(cli_common, ref)},
    {"--mode", 0, CLI_VALUE, "MODE", "copy-on-write or merge-on-read; else as the table's properties say",
     offsetof(cli_common, mode)},
    {"--summary", 0, CLI_LIST, "KEY=VALUE", "into the summary of the snapshot (repeatable)",
     offsetof(cli_common, summary)},
    {"--batch-id", 0, CLI_VALUE, "ID", "kept in the summary: a batch that the branch holds is not written again",
     offsetof(cli_common, batch_id)},
    {"--summary", 0, CLI_LIST, "KEY=VALUE", "who and why, into the table's properties (repeatable)",
     offsetof(cli_common, summary)},
    {"--batch-id", 0, CLI_VALUE, "ID", "kept in the table's properties: a batch that it has is not applied again",
     offsetof(cli_common, batch_id)},
    {"--wap-id", 0, CLI_VALUE, "ID",
     "add the snapshot without moving the branch; cherry-pick publishes it. An ID of its own for each: it does not "
     "keep a batch from being written twice, as --batch-id does",
     offsetof(cli_common, wap_id)},
    {"--dry-run", 'n', CLI_FLAG, NULL, "write nothing, tell what would be done", offsetof(cli_common, dry_run)},
    {"--yes", 'y', CLI_FLAG, NULL, "do not ask; commands that take rows away do else", offsetof(cli_common, yes)},
    {"--progress", 0, CLI_VALUE, "WHEN", "a progress bar: auto, always or never", offsetof(cli_common, progress)},
    {"--quiet", 'q', CLI_FLAG, NULL, "no progress and no notes; warnings and errors stay", offsetof(cli_common, quiet)},
    {"--help", 'h', CLI_FLAG, NULL, "this text", offsetof(cli_common, help)},
};
static const unsigned groups[] = {
    CLI_TABLE,    CLI_TABLE, CLI_TABLE, CLI_TABLE, CLI_OUTPUT, CLI_OUTPUT, CLI_REF, CLI_MODE, CLI_SNAPSHOT,
    CLI_SNAPSHOT, CLI_NOTE,  CLI_NOTE,  CLI_STAGE, CLI_WRITES, CLI_WRITES, 0,       0,        0};

const cli_option *cli_common_options(unsigned *group, size_t i) {
  if (i >= sizeof common / sizeof *common) return NULL;
  *group = groups[i];
  return &common[i];
}

/* ---- finding one ---- */

static bool is_named(const cli_option *o, const char *name, size_t n) {
  return strlen(o->name) == n && memcmp(o->name, name, n) == 0;
}

typedef struct found {
  const cli_option *option;
  char *member; /* in the struct of values that it belongs to */
} found;

/* By long name (n bytes), or by letter where name is NULL. */
static found find_option(cli *c, char *values, const char *name, size_t n, char letter) {
  for (size_t i = 0; i < c->command->n_options; i++) {
    const cli_option *o = &c->command->options[i];
    if (name ? is_named(o, name, n) : o->letter && o->letter == letter) return (found){o, values + o->offset};
  }
  for (size_t i = 0; i < sizeof common / sizeof *common; i++) {
    const cli_option *o = &common[i];
    if (groups[i] && !(groups[i] & c->command->groups)) continue;
    if (name ? is_named(o, name, n) : o->letter && o->letter == letter)
      return (found){o, (char *)&c->common + o->offset};
  }
  return (found){NULL, NULL};
}

/* ---- storing one ---- */

static bl_status add_item(cli *c, cli_list *list, const char *value) {
  const char **items = realloc(list->items, (list->n + 1) * sizeof *items);
  if (!items) return bl_fail(&c->err, BL_NOMEM, "out of memory");
  list->items = items;
  list->items[list->n++] = value;
  return BL_OK;
}

static bl_status store(cli *c, found f, const char *value) {
  switch (f.option->kind) {
  case CLI_FLAG: *(bool *)(void *)f.member = true; return BL_OK;
  case CLI_LIST: return add_item(c, (cli_list *)(void *)f.member, value);
  default: break;
  }
  const char **member = (const char **)(void *)f.member;
  if (*member) return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: it is given twice", f.option->name);
  *member = value;
  return BL_OK;
}

static bl_status unknown(cli *c, const char *arg) {
  return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: no such option (bergline help %s)", arg, c->command->name);
}

/* The option at argv[*i], its value behind '=' or in the next argument. */
static bl_status take_long(cli *c, char *values, int argc, char **argv, int *i) {
  const char *arg = argv[*i], *eq = strchr(arg, '=');
  found f = find_option(c, values, arg, eq ? (size_t)(eq - arg) : strlen(arg), 0);
  if (!f.option) return unknown(c, arg);
  if (f.option->kind == CLI_FLAG && eq)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: it takes no value", f.option->name);
  if (eq) return store(c, f, eq + 1);
  if (f.option->kind == CLI_FLAG || f.option->kind == CLI_PERHAPS) return store(c, f, "");
  if (*i + 1 >= argc)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: its value %s is missing", f.option->name, f.option->value);
  return store(c, f, argv[++*i]);
}

/* "-o FILE", "-oFILE", "-q". */
static bl_status take_short(cli *c, char *values, int argc, char **argv, int *i) {
  const char *arg = argv[*i];
  found f = find_option(c, values, NULL, 0, arg[1]);
  if (!f.option || (f.option->kind == CLI_FLAG && arg[2])) return unknown(c, arg);
  if (f.option->kind == CLI_FLAG) return store(c, f, "");
  if (arg[2]) return store(c, f, arg + 2);
  if (*i + 1 >= argc)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: %s: its value %s is missing", arg, f.option->value);
  return store(c, f, argv[++*i]);
}

static bl_status check_args(cli *c) {
  const cli_command *k = c->command;
  if (c->common.help || (c->n_args >= k->min_args && (k->max_args < 0 || c->n_args <= k->max_args))) return BL_OK;
  return bl_fail(&c->err, BL_USAGE, "wrong usage: %s %s: bergline %s %s",
                 c->n_args < k->min_args ? "too few arguments for" : "too many arguments for", k->name, k->name,
                 k->synopsis);
}

bl_status cli_parse(cli *c, int argc, char **argv, void *values) {
  bool only_args = false;
  c->args = calloc((size_t)argc + 1, sizeof *c->args);
  if (!c->args) return bl_fail(&c->err, BL_NOMEM, "out of memory");
  for (int i = 0; i < argc; i++) {
    bl_status st = BL_OK;
    if (only_args || argv[i][0] != '-' || argv[i][1] == 0) c->args[c->n_args++] = argv[i];
    else if (strcmp(argv[i], "--") == 0) only_args = true;
    else st = argv[i][1] == '-' ? take_long(c, values, argc, argv, &i) : take_short(c, values, argc, argv, &i);
    if (st != BL_OK) return st;
  }
  return check_args(c);
}

void cli_free_values(cli *c, void *values) {
  for (size_t i = 0; i < c->command->n_options; i++)
    if (c->command->options[i].kind == CLI_LIST)
      free(((cli_list *)(void *)((char *)values + c->command->options[i].offset))->items);
  free(c->common.path_maps.items);
  free(c->common.summary.items);
  free(c->args);
}

bl_status cli_number(cli *c, const char *option, const char *text, int64_t *out) {
  const char *p = text;
  for (*out = 0; *p >= '0' && *p <= '9'; p++)
    if (__builtin_mul_overflow(*out, (int64_t)10, out) || __builtin_add_overflow(*out, (int64_t)(*p - '0'), out)) break;
  if (p == text || *p)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: %s %s: a whole number is expected", option, text);
  return BL_OK;
}

/* cmd_catalog.c: catalog namespaces|tables|…. */
#include "bergline/catalog.h"
#include "bergline/scan.h"
#include "bergline/sys/catalog.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "writes.h"

typedef struct catalog_values {
  cli_list properties, removed;
  bool purge;
} catalog_values;

static const cli_option options[] = {
    {"--property", 0, CLI_LIST, "KEY=VALUE", "a property of a namespace (repeatable)",
     offsetof(catalog_values, properties)},
    {"--unset", 0, CLI_LIST, "KEY", "a property that a namespace shall not have (repeatable)",
     offsetof(catalog_values, removed)},
    {"--purge", 0, CLI_FLAG, NULL, "remove the table's files as well", offsetof(catalog_values, purge)},
};

/* ---- lists ---- */

static bl_status row_of_entry(void *user, const bl_catalog_entry *e, bl_error *err) {
  cli_rows *r = user;
  cli_json j = {0};
  (void)err;
  if (r->text) return cli_rows_line(r, "%s%s%s", e->name_space, e->name ? "." : "", e->name ? e->name : "");
  cli_json_text(&j, "namespace", e->name_space);
  if (e->name) cli_json_text(&j, "name", e->name);
  return cli_rows_object(r, &j);
}

static bl_status row_of_pair(void *user, const bl_catalog_pair *p, bl_error *err) {
  cli_rows *r = user;
  cli_json j = {0};
  (void)err;
  if (r->text) return cli_rows_line(r, "%s=%s", p->key, p->value);
  cli_json_text(&j, "key", p->key);
  cli_json_text(&j, "value", p->value);
  return cli_rows_object(r, &j);
}

/* ---- actions ---- */

typedef struct run {
  cli *c;
  const catalog_values *v;
  bl_table_options o;
  bl_catalog *catalog;
  const char **args;
  int n_args;
} run;

static bl_status done(run *r, const char *what, const char *name) {
  cli_json j = {0};
  cli_json_text(&j, "done", r->c->common.dry_run ? "nothing (dry run)" : what);
  cli_json_text(&j, "name", name);
  return cli_json_print(r->c, &j);
}

/* The namespaces below one. */
typedef struct inside {
  const char *parent;
  bl_catalog_visit visit;
  void *user;
} inside;

static bl_status visit_inside(void *user, const bl_catalog_entry *e, bl_error *err) {
  const inside *in = user;
  size_t n = strlen(in->parent);
  if (strncmp(e->name_space, in->parent, n) != 0 || e->name_space[n] != '.') return BL_OK;
  return in->visit(in->user, e, err);
}

static bl_status check_namespace(run *r);

static bl_status namespaces(run *r) {
  cli_rows out;
  bl_status st = r->n_args ? check_namespace(r) : BL_OK;
  if (st != BL_OK) return st;
  st = cli_rows_begin(r->c, &out);
  inside in = {r->n_args ? r->args[0] : NULL, row_of_entry, &out};
  if (st == BL_OK)
    st = r->n_args ? bl_catalog_namespaces(r->catalog, visit_inside, &in, &r->c->err)
                   : bl_catalog_namespaces(r->catalog, row_of_entry, &out, &r->c->err);
  return cli_rows_end(&out, st);
}

static bl_status tables(run *r) {
  cli_rows out;
  bl_status st = cli_rows_begin(r->c, &out);
  if (st == BL_OK) st = bl_catalog_tables(r->catalog, r->n_args ? r->args[0] : NULL, row_of_entry, &out, &r->c->err);
  return cli_rows_end(&out, st);
}

static bl_status properties(run *r) {
  cli_rows out;
  bl_status st = cli_rows_begin(r->c, &out);
  if (st == BL_OK) st = bl_catalog_namespace_properties(r->catalog, r->args[0], row_of_pair, &out, &r->c->err);
  return cli_rows_end(&out, st);
}

/* ---- dry runs: what would be refused ---- */

static bl_status skip_pair(void *user, const bl_catalog_pair *p, bl_error *err) {
  (void)user, (void)p, (void)err;
  return BL_OK;
}

static bl_status check_namespace(run *r) {
  return bl_catalog_namespace_properties(r->catalog, r->args[0], skip_pair, NULL, &r->c->err);
}

/* A store that is not there yet has none. */
static bl_status check_new_namespace(run *r) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = r->catalog ? bl_catalog_namespace_properties(r->catalog, r->args[0], skip_pair, NULL, &why) : BL_OK;
  if (!r->catalog || st == BL_NOT_FOUND) return BL_OK;
  if (st == BL_OK)
    return bl_fail(&r->c->err, BL_CONFLICT, "cannot create the namespace: %s: it exists already", r->args[0]);
  return bl_fail(&r->c->err, st, "%s", why.message);
}

/* ---- changes ---- */

static bl_status create_namespace(run *r) {
  const cli_list *p = &r->v->properties;
  bl_status st = r->c->common.dry_run ? check_new_namespace(r) : BL_OK;
  if (!r->c->common.dry_run) st = bl_catalog_create_namespace(r->catalog, r->args[0], p->items, p->n, &r->c->err);
  return st == BL_OK ? done(r, "namespace created", r->args[0]) : st;
}

static bl_status set_namespace(run *r) {
  const cli_list *p = &r->v->properties, *q = &r->v->removed;
  bl_status st = BL_OK;
  if (p->n + q->n == 0) return bl_fail(&r->c->err, BL_USAGE, "wrong usage: set-namespace: --property or --unset");
  if (r->c->common.dry_run) st = check_namespace(r);
  if (!r->c->common.dry_run)
    st = bl_catalog_set_namespace(r->catalog, r->args[0], p->items, p->n, q->items, q->n, &r->c->err);
  return st == BL_OK ? done(r, "namespace changed", r->args[0]) : st;
}

static bl_status drop_namespace(run *r) {
  bl_status st = r->c->common.dry_run ? bl_catalog_check_empty(r->catalog, r->args[0], &r->c->err)
                                      : cli_confirm(r->c, "drop the namespace %s", r->args[0]);
  if (st == BL_OK && !r->c->common.dry_run) st = bl_catalog_drop_namespace(r->catalog, r->args[0], &r->c->err);
  return st == BL_OK ? done(r, "namespace dropped", r->args[0]) : st;
}

/* left: the metadata file of a table whose files stay. */
static bl_status dropped(run *r, const char *left) {
  bool dry = r->c->common.dry_run;
  cli_json j = {0};
  cli_json_text(&j, "done", dry ? "nothing (dry run)" : r->v->purge ? "table purged" : "table dropped");
  cli_json_text(&j, "name", r->args[0]);
  if (left) cli_json_text(&j, "metadata_location", left);
  return cli_json_print(r->c, &j);
}

static bl_status drop(run *r) {
  bool dry = r->c->common.dry_run, purge = r->v->purge;
  char *left = NULL;
  bl_status st = dry ? BL_OK : cli_confirm(r->c, purge ? "drop %s and remove its files" : "drop %s", r->args[0]);
  if (st == BL_OK) st = bl_catalog_drop(r->c->ctx, &r->o, r->args[0], purge, dry, &left, &r->c->err);
  if (st == BL_OK) st = dropped(r, left);
  bl_text_free(r->c->ctx, left);
  return st;
}

static bl_status rename_table(run *r) {
  bool dry = r->c->common.dry_run;
  bl_status st = bl_catalog_rename(r->c->ctx, &r->o, r->args[0], r->args[1], dry, &r->c->err);
  return st == BL_OK ? done(r, "table renamed", r->args[1]) : st;
}

static bl_status register_table(run *r) {
  bool dry = r->c->common.dry_run;
  bl_status st = bl_catalog_register(r->c->ctx, &r->o, r->args[0], r->args[1], dry, &r->c->err);
  return st == BL_OK ? done(r, "table registered", r->args[0]) : st;
}

static const struct action {
  const char *name, *args, *about;
  int min, max;
  bool creates; /* the store */
  bool reads;   /* and changes nothing */
  bl_status (*run)(run *r);
} actions[] = {
    {"namespaces", "[NS]", "every namespace, or those below one", 0, 1, false, true, namespaces},
    {"tables", "[NS]", "the tables of a namespace, or of all", 0, 1, false, true, tables},
    {"properties", "NS", "the properties of a namespace", 1, 1, false, true, properties},
    {"create-namespace", "NS [--property K=V]…", "a new namespace; the catalog's file or folder is made with it", 1, 1,
     true, false, create_namespace},
    {"set-namespace", "NS [--property K=V]… [--unset K]…", "change properties", 1, 1, false, false, set_namespace},
    {"drop-namespace", "NS", "remove an empty namespace", 1, 1, false, false, drop_namespace},
    {"drop", "NS.T [--purge]", "remove a table's name, and its files", 1, 1, false, false, drop},
    {"rename", "NS.T NS.U", "give a table another name", 2, 2, false, false, rename_table},
    {"register", "NS.T METADATA", "give a metadata file a name", 2, 2, false, false, register_table},
};

/* In a dry run of what would make it, a store that is not there is none (NULL). */
static bl_status open_catalog(run *r, bool creates) {
  cli *c = r->c;
  if (!creates || !c->common.dry_run) return bl_catalog_open(c->ctx, &r->o, creates, &r->catalog, &c->err);
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_catalog_open(c->ctx, &r->o, false, &r->catalog, &why);
  return st == BL_OK || st == BL_NOT_FOUND ? BL_OK : bl_fail(&c->err, st, "%s", why.message);
}

static bl_status run_action(cli *c, const struct action *a, const catalog_values *v) {
  run r = {.c = c, .v = v, .args = c->args + 1, .n_args = c->n_args - 1};
  if (r.n_args < a->min || r.n_args > a->max)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: bergline catalog %s %s", a->name, a->args);
  bl_status st = cli_table_options(c, &r.o);
  r.o.to_change = !a->reads;
  if (st == BL_OK) st = open_catalog(&r, a->creates);
  if (st == BL_OK) st = a->run(&r);
  bl_catalog_free(r.catalog);
  return st;
}

static bl_status catalog(cli *c, const void *values) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
    if (strcmp(actions[i].name, c->args[0]) == 0) return run_action(c, &actions[i], values);
  return bl_fail(&c->err, BL_USAGE, "wrong usage: catalog %s: no such action (bergline help catalog)", c->args[0]);
}

static void list_actions(cli_page *p) {
  char term[100];
  cli_page_section(p, "ACTIONS");
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    snprintf(term, sizeof term, "%s%s%s", actions[i].name, *actions[i].args ? " " : "", actions[i].args);
    cli_page_item(p, term, actions[i].about);
  }
}

const cli_command cli_catalog = {
    .name = "catalog",
    .synopsis = "ACTION [NAME]… (--catalog NAME | --uri URI | --warehouse DIR) [--yes] [--dry-run]",
    .about = "namespaces and names of tables",
    .formats = "text|json",
    .text =
        "  The catalog is one of the configuration (--catalog), a SQLite file as Iceberg's JdbcCatalog and PyIceberg's "
        "SqlCatalog share\n"
        "  it (--uri sqlite:///FILE, with --warehouse where new tables are to go), or a warehouse folder "
        "(--warehouse alone).\n"
        "  Views are left alone. drop and drop-namespace ask, unless --yes is given. drop tells the metadata file by "
        "which the table\n"
        "  can be registered again, in the same or another catalog; in a warehouse folder the files lie where they "
        "were, and no\n"
        "  other table is made there. Two names for one metadata file share its files: a purge under one takes them "
        "from "
        "the other. Where a purge was cut short, drop --purge again names the metadata file that is "
        "left:\n"
        "  register it, and purge it again.\n",
    .more = list_actions,
    .examples = "    bergline catalog create-namespace db --uri sqlite:////data/catalog.db --warehouse /data/wh\n"
                "    bergline catalog tables db --catalog prod\n"
                "    bergline catalog drop db.orders --purge --yes --catalog prod\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(catalog_values),
    .min_args = 1,
    .max_args = 3,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES,
    .run = catalog,
};

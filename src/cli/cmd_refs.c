/* cmd_refs.c: branch and tag TABLE create|drop|list [NAME]. */
#include <stddef.h>
#include <string.h>

#include "writes.h"

typedef struct ref_values {
  const char *at, *keep, *snapshot_age, *ref_age;
  bool replace;
} ref_values;

#define AT                                                                                                             \
  {                                                                                                                    \
    "--at", 0, CLI_VALUE, "SNAP", "the snapshot that it names (the head of main, or of --ref)",                        \
        offsetof(ref_values, at)                                                                                       \
  }
#define REPLACE                                                                                                        \
  {                                                                                                                    \
    "--replace", 0, CLI_FLAG, NULL, "move one that exists, or change how long it is kept",                             \
        offsetof(ref_values, replace)                                                                                  \
  }
#define REF_AGE                                                                                                        \
  {                                                                                                                    \
    "--max-ref-age", 0, CLI_VALUE, "TIME", "it may expire when its snapshot is older: 7d, 12h, 30m, 45s, 500ms",       \
        offsetof(ref_values, ref_age)                                                                                  \
  }

static const cli_option branch_options[] = {
    AT,
    REPLACE,
    {"--keep", 0, CLI_VALUE, "N", "snapshots of the branch that expiring keeps at least", offsetof(ref_values, keep)},
    {"--max-snapshot-age", 0, CLI_VALUE, "TIME", "and all that are younger: 7d, 12h, 30m, 45s, 500ms",
     offsetof(ref_values, snapshot_age)},
    REF_AGE,
};
static const cli_option tag_options[] = {AT, REPLACE, REF_AGE};

/* ---- actions ---- */

static bl_status fill(cli *c, const ref_values *v, bl_ref_options *o) {
  bl_status st = BL_OK;
  *o = (bl_ref_options){.at = v->at, .replace = v->replace};
  if (v->keep) st = cli_number(c, "--keep", v->keep, &o->min_snapshots_to_keep);
  if (st == BL_OK && v->keep && o->min_snapshots_to_keep == 0)
    st = bl_fail(&c->err, BL_USAGE, "wrong usage: --keep 0: a number above 0 is expected");
  if (st == BL_OK && v->snapshot_age)
    st = cli_duration(c, "--max-snapshot-age", v->snapshot_age, &o->max_snapshot_age_ms);
  if (st == BL_OK && v->ref_age) st = cli_duration(c, "--max-ref-age", v->ref_age, &o->max_ref_age_ms);
  bool none = (v->snapshot_age && !o->max_snapshot_age_ms) || (v->ref_age && !o->max_ref_age_ms);
  if (st == BL_OK && none)
    return bl_fail(&c->err, BL_USAGE, "wrong retention of %s: numbers above 0 are expected", c->args[2]);
  return st;
}

static bl_status create(cli *c, bl_table *t, bool branch, const ref_values *v, const bl_write_options *w) {
  bl_ref_options o;
  bl_status st = fill(c, v, &o);
  if (st == BL_OK) st = bl_ref_create(t, c->args[2], branch, &o, w, &c->err);
  return st == BL_OK ? cli_metadata_result(c, c->args[0], "%s %s created", c->command->name, c->args[2]) : st;
}

static bl_status drop(cli *c, bl_table *t, bool branch, const bl_write_options *w) {
  bl_status st = cli_confirm(c, "drop the %s %s of %s", c->command->name, c->args[2], c->args[0]);
  if (st == BL_OK) st = bl_ref_drop(t, c->args[2], branch, w, &c->err);
  return st == BL_OK ? cli_metadata_result(c, c->args[0], "%s %s dropped", c->command->name, c->args[2]) : st;
}

static bl_status list_one(cli_rows *r, const bl_ref_info *info) {
  cli_json j = {0};
  if (r->text) return cli_rows_line(r, "%-20s %lld", info->name, (long long)info->snapshot_id);
  cli_json_text(&j, "name", info->name);
  cli_json_number(&j, "snapshot_id", info->snapshot_id);
  if (info->is_branch && info->min_snapshots_to_keep)
    cli_json_number(&j, "min_snapshots_to_keep", info->min_snapshots_to_keep);
  if (info->is_branch && info->max_snapshot_age_ms)
    cli_json_number(&j, "max_snapshot_age_ms", info->max_snapshot_age_ms);
  if (info->max_ref_age_ms) cli_json_number(&j, "max_ref_age_ms", info->max_ref_age_ms);
  return cli_rows_object(r, &j);
}

static bl_status list(cli *c, bl_table *t, bool branch) {
  cli_rows r;
  bl_ref_info info;
  bl_status st = cli_rows_begin(c, &r);
  for (size_t i = 0; st == BL_OK && bl_table_ref(t, i, &info); i++)
    if (info.is_branch == branch) st = list_one(&r, &info);
  return cli_rows_end(&r, st);
}

static bl_status usage(cli *c) {
  return bl_fail(&c->err, BL_USAGE, "wrong usage: bergline %s TABLE create NAME, drop NAME or list", c->command->name);
}

static bl_status run(cli *c, const ref_values *v, bool branch) {
  bool lists = strcmp(c->args[1], "list") == 0, creates = strcmp(c->args[1], "create") == 0;
  bl_table *t = NULL;
  bl_write_options w;
  if (!lists && !creates && strcmp(c->args[1], "drop") != 0) return usage(c);
  if (c->n_args != (lists ? 2 : 3)) return usage(c);
  bl_status st = cli_open_to_write(c, &t, &w);
  if (st == BL_OK) st = lists ? list(c, t, branch) : creates ? create(c, t, branch, v, &w) : drop(c, t, branch, &w);
  bl_table_free(t);
  return st;
}

static bl_status run_branch(cli *c, const void *values) {
  return run(c, values, true);
}

static bl_status run_tag(cli *c, const void *values) {
  return run(c, values, false);
}

const cli_command cli_branch = {
    .name = "branch",
    .synopsis = "TABLE create|drop|list [NAME] [--at SNAP] [--keep N] [--max-snapshot-age TIME] [--max-ref-age TIME] "
                "[--replace] [--ref NAME] [--summary K=V]… [--batch-id ID] [--yes] [--dry-run]",
    .about = "branches: made, dropped, listed",
    .formats = "text|json",
    .text =
        "  A branch is a line of snapshots of its own: write to it with --ref NAME, read it with --at NAME. drop "
        "asks, unless --yes is\n"
        "  given. Where main has no snapshot yet, and no --at is given, a branch begins with an empty snapshot of "
        "its own, and main stays without.\n"
        "  No command of bergline expires snapshots or refs yet: how long they are kept is for the engine that does.\n",
    .examples = "    bergline branch /data/wh/db/orders create audit --keep 10 --max-snapshot-age 7d\n"
                "    bergline branch /data/wh/db/orders list\n",
    .options = branch_options,
    .n_options = sizeof branch_options / sizeof *branch_options,
    .values_size = sizeof(ref_values),
    .min_args = 2,
    .max_args = 3,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_REF | CLI_NOTE,
    .run = run_branch,
};

const cli_command cli_tag = {
    .name = "tag",
    .synopsis = "TABLE create|drop|list [NAME] [--at SNAP] [--max-ref-age TIME] [--replace] [--ref NAME] [--summary "
                "K=V]… [--batch-id ID] [--yes] [--dry-run]",
    .about = "tags: names of snapshots",
    .formats = "text|json",
    .text =
        "  A tag names one snapshot and keeps it from expiring. drop asks, unless --yes is given.\n"
        "  No command of bergline expires snapshots or refs yet: how long one is kept is for the engine that does.\n",
    .examples = "    bergline tag /data/wh/db/orders create end-of-2026 --at 2026-12-31\n",
    .options = tag_options,
    .n_options = sizeof tag_options / sizeof *tag_options,
    .values_size = sizeof(ref_values),
    .min_args = 2,
    .max_args = 3,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_REF | CLI_NOTE,
    .run = run_tag,
};

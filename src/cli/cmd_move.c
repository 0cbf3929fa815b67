/* cmd_move.c: fast-forward, cherry-pick, rollback: branches that move. */
#include <stdarg.h>
#include <string.h>

#include "writes.h"

static bl_status moved(cli *c, const bl_write_result *r, const char *fmt, ...) BL_PRINTF(3, 4);

static bl_status moved(cli *c, const bl_write_result *r, const char *fmt, ...) {
  char what[500];
  cli_json j = {0};
  bool dry = c->common.dry_run;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  if (dry) cli_json_text(&j, "done", "nothing (dry run)");
  cli_json_text(&j, dry ? "planned" : "done",
                r->already_applied    ? "nothing: it is applied already"
                : r->committed || dry ? what
                                      : "nothing");
  if (r->already_applied) cli_json_bool(&j, "already_applied", true);
  if (r->snapshot_id) cli_json_number(&j, "snapshot_id", r->snapshot_id);
  if (r->rows_assigned) {
    cli_json_number(&j, "first_row_id", r->first_row_id);
    cli_json_number(&j, "rows_assigned", r->rows_assigned);
  }
  if (!dry) cli_json_location(c, c->args[0], &j);
  return cli_json_print(c, &j);
}

static const char *branch_of(const bl_write_options *w) {
  return w->ref ? w->ref : "main";
}

static bool has_ref(const bl_table *t, const char *name) {
  bl_ref_info ref;
  for (size_t i = 0; bl_table_ref(t, i, &ref); i++)
    if (strcmp(ref.name, name) == 0) return true;
  return false;
}

static bl_status fast_forward(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options w;
  bl_write_result r;
  (void)values;
  bl_status st = cli_open_to_write(c, &t, &w);
  bool is_new = st == BL_OK && strcmp(c->args[1], "main") != 0 && !has_ref(t, c->args[1]);
  if (st == BL_OK) st = bl_fast_forward(t, c->args[1], c->args[2], &w, &r, &c->err);
  bl_table_free(t);
  if (st != BL_OK) return st;
  return moved(c, &r, is_new ? "branch %s made at %s" : "branch %s moved forward to %s", c->args[1], c->args[2]);
}

static bl_status cherry_pick(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options w;
  bl_write_result r;
  (void)values;
  bl_status st = cli_open_to_write(c, &t, &w);
  if (st == BL_OK) st = bl_cherry_pick(t, c->args[1], &w, &r, &c->err);
  bl_table_free(t);
  bool again = st == BL_OK && c->common.dry_run && !r.already_applied && !r.snapshot_id; /* a new snapshot */
  if (st != BL_OK) return st;
  return moved(c, &r, "snapshot picked onto branch %s%s", branch_of(&w),
               again ? ": its files are added again, in a new snapshot" : "");
}

static bl_status rollback(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options w;
  bl_write_result r;
  (void)values;
  bl_status st = cli_open_to_write(c, &t, &w);
  if (st == BL_OK) st = cli_confirm(c, "roll %s of %s back to %s", branch_of(&w), c->args[0], c->args[1]);
  if (st == BL_OK) st = bl_rollback(t, c->args[1], &w, &r, &c->err);
  bl_table_free(t);
  return st == BL_OK ? moved(c, &r, "branch %s rolled back to %s", branch_of(&w), c->args[1]) : st;
}

const cli_command cli_fast_forward = {
    .name = "fast-forward",
    .synopsis = "TABLE BRANCH TO [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "move a branch on to a snapshot that descends from it",
    .formats = "text|json",
    .text = "  TO is a branch, a tag or any other SNAP. Row ids stay what they are. Where the head of BRANCH is no "
            "ancestor of TO, nothing\n"
            "  is moved (exit 2). A BRANCH that is not there is made.\n",
    .examples = "    bergline fast-forward /data/wh/db/orders main audit\n",
    .min_args = 3,
    .max_args = 3,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = fast_forward,
};

const cli_command cli_cherry_pick = {
    .name = "cherry-pick",
    .synopsis = "TABLE SNAP [--ref NAME] [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "make the change of one snapshot again on a branch",
    .formats = "text|json",
    .text = "  Publishes what was staged (--wap-id ID; SNAP is then wap:ID) or written on another branch. A snapshot "
            "whose parent is the\n"
            "  head of the branch is moved to: no new one is made, and --summary and --batch-id go to the table's "
            "properties. Of others the added files are added again, and their rows get new ids, as a warning says;\n"
            "  that is done for appends and dynamic overwrites only. A snapshot that the branch holds is not picked "
            "again.\n"
            "  Its batch id goes along, and so does the position of a source that apply has kept in it, where the "
            "branch is at the position that\n"
            "  it was at. Where apply has given the branch later events since, nothing is picked: rows would exist "
            "twice.\n",
    .examples = "    bergline append /data/wh/db/orders day.parquet --wap-id day-7\n"
                "    bergline changes /data/wh/db/orders --from main --to wap:day-7\n"
                "    bergline cherry-pick /data/wh/db/orders wap:day-7\n",
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_REF | CLI_SNAPSHOT,
    .run = cherry_pick,
};

const cli_command cli_rollback = {
    .name = "rollback",
    .synopsis = "TABLE SNAP [--ref NAME] [--summary K=V]… [--batch-id ID] [--yes] [--dry-run]",
    .about = "set a branch back to one of its earlier snapshots",
    .formats = "text|json",
    .text = "  SNAP must be an ancestor of the branch's head. Row ids that were given are not given again. Asks, "
            "unless --yes is given.\n",
    .examples = "    bergline rollback /data/wh/db/orders 2026-01-31T12:00:00 --yes\n",
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_REF | CLI_NOTE,
    .run = rollback,
};

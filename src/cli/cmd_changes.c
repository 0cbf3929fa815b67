/* cmd_changes.c: changes TABLE. */
#include "bergline/changes.h"

#include <stddef.h>
#include <string.h>

#include "rows.h"

typedef struct changes_values {
  const char *from, *to, *ref, *images, *columns, *where, *key, *changed, *on_broken, *plan;
  bool net, skip_unchanged, check_replace, unordered;
} changes_values;

#define AT(member) offsetof(changes_values, member)
static const cli_option options[] = {
    {"--from", 0, CLI_VALUE, "SNAP", "changes after this snapshot (from the beginning)", AT(from)},
    {"--to", 0, CLI_VALUE, "SNAP", "up to and with this one (the branch head)", AT(to)},
    {"--ref", 0, CLI_VALUE, "NAME", "the branch or tag to follow (main)", AT(ref)},
    {"--net", 0, CLI_FLAG, NULL, "compare the two ends only", AT(net)},
    {"--images", 0, CLI_VALUE, "both|after", "after: no UPDATE_BEFORE, of DELETE only lineage and key columns",
     AT(images)},
    {"--columns", 0, CLI_VALUE, "A,B.C,…", "only these table columns; further columns by name", AT(columns)},
    {"--where", 0, CLI_VALUE, "EXPR", "events of which an image matches", AT(where)},
    {"--key", 0, CLI_VALUE, "A,B", "pair DELETE and INSERT of equal key into updates", AT(key)},
    {"--changed", 0, CLI_VALUE, "A,B", "drop updates in which none of these columns differs", AT(changed)},
    {"--skip-unchanged", 0, CLI_FLAG, NULL, "drop updates in which no column differs", AT(skip_unchanged)},
    {"--check-replace", 0, CLI_FLAG, NULL, "compare every replace snapshot; exit 1 if one changed rows",
     AT(check_replace)},
    {"--on-broken-identity", 0, CLI_VALUE, "warn|fail", "fail: exit 1 where identity was broken", AT(on_broken)},
    {"--unordered", 0, CLI_FLAG, NULL, "events by file and position, as they are read", AT(unordered)},
    {"--plan", 0, CLI_PERHAPS, "footers",
     "print what would be read instead of rows, as text or json; =footers: also by what footers tell", AT(plan)},
};

static bl_status print_plan(cli *c, bl_table *t, const bl_changes_options *o, const char *plan) {
  bl_plan_request q;
  bl_sink sink;
  bl_status st = cli_plan(c, plan, &q, &sink);
  if (st == BL_OK) st = cli_close_output(c, bl_changes_plan(t, o, &q, &sink, &c->err));
  return st;
}

static bl_status print_rows(cli *c, bl_table *t, const bl_changes_options *o) {
  struct ArrowArrayStream stream = {0};
  bl_status st = bl_changes(t, o, &stream, &c->err);
  if (st == BL_OK) st = cli_write_rows(c, &stream);
  if (st == BL_OK) st = bl_changes_found(&stream);
  if (stream.release) stream.release(&stream);
  return st;
}

/* One of two words, the first by default. */
static bl_status either(cli *c, const char *option, const char *text, const char *first, const char *second,
                        bool *is_second) {
  *is_second = text && strcmp(text, second) == 0;
  if (!text || *is_second || strcmp(text, first) == 0) return BL_OK;
  return bl_fail(&c->err, BL_USAGE, "wrong usage: %s %s: %s or %s is expected", option, text, first, second);
}

static bl_status changes(cli *c, const void *v) {
  const changes_values *in = v;
  cli_names columns = {0}, key = {0}, changed = {0};
  bl_table *t = NULL;
  bool fail = false;
  bl_changes_options o = {.from = in->from,
                          .to = in->to,
                          .ref = in->ref,
                          .net = in->net,
                          .where = in->where,
                          .skip_unchanged = in->skip_unchanged,
                          .check_replace = in->check_replace,
                          .unordered = in->unordered};
  bl_status st = either(c, "--images", in->images, "both", "after", &o.after_images);
  if (st == BL_OK) st = either(c, "--on-broken-identity", in->on_broken, "warn", "fail", &fail);
  o.on_broken_identity = fail ? BL_BROKEN_FAIL : BL_BROKEN_WARN;
  if (st == BL_OK) st = cli_split(c, in->columns, &columns);
  if (st == BL_OK) st = cli_split(c, in->key, &key);
  if (st == BL_OK) st = cli_split(c, in->changed, &changed);
  o.columns = in->columns ? columns.items : NULL;
  o.n_columns = columns.n;
  o.key = key.items, o.n_key = key.n;
  o.changed = changed.items, o.n_changed = changed.n;
  if (st == BL_OK) st = cli_open_table(c, c->args[0], &t);
  if (st == BL_OK) st = cli_where_error(c, in->where, in->plan ? print_plan(c, t, &o, in->plan) : print_rows(c, t, &o));
  bl_table_free(t);
  cli_names_free(&columns);
  cli_names_free(&key);
  cli_names_free(&changed);
  return st;
}

const cli_command cli_changes = {
    .name = "changes",
    .synopsis = "TABLE [--from SNAP] [--to SNAP] [--net] [--key A,B] [--where EXPR] …",
    .about = "what changed between two snapshots, row by row",
    .formats = "text|ndjson|csv|arrow|parquet",
    .text = "Prints the changes of the snapshots after --from up to and with --to, oldest first. A row is known "
            "by its id: INSERT and DELETE, and for a row whose sequence number differs UPDATE_BEFORE with "
            "UPDATE_AFTER right behind it, even if no value differs. A row that only moved, by compaction or by "
            "copy-on-write, gives nothing; nor does one that came and went within a snapshot."
            "\n\n"
            "After the table's columns, by the schema of --to, come _row_id, _last_updated_sequence_number, "
            "_change_type, _change_ordinal (0 for the oldest snapshot of the range) and _commit_snapshot_id. "
            "Further columns can be named in --columns: _commit_timestamp, _commit_sequence_number, "
            "_changed_columns (the columns whose values differ between the images), _change_basis (what the event "
            "rests on: row_id, value, key, equality_delete or gap), _file and _pos."
            "\n\n"
            "--net compares the two ends only; they may be any two snapshots of the table. Without it --from must "
            "be an ancestor of --to."
            "\n\n"
            "Rows without an id (versions 1 and 2) are matched by equality of all columns. An equality delete "
            "ends a row's identity: an upsert that was written with one is DELETE and INSERT, unless --key pairs "
            "them. --where sees whole rows and keeps an update when either image matches."
            "\n\n"
            "Where snapshots inside the range have expired, a warning says so, and the changes over the gap come "
            "as one step. Without --from, where the oldest history has expired, the oldest snapshot left gives "
            "all its rows as INSERT."
            "\n\n"
            "A compaction is not compared when metadata proves that it kept its promise; --check-replace compares "
            "every one, and ends with exit status 1 if one lost, invented or altered a row. --on-broken-identity "
            "fail does so where row identity was broken: by equality deletes, by a replace that lost ids, and, "
            "with --key, by updates that came as a DELETE and an INSERT.",
    .examples =
        "    bergline changes /data/wh/db/orders --from 2026-01-31\n"
        "    bergline changes /data/wh/db/orders --from ref:synced --net --images after --format parquet -o "
        "delta.parquet\n"
        "    bergline changes /data/wh/db/orders --where \"status = 'paid'\" --columns id,status,_commit_timestamp\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(changes_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT,
    .run = changes,
};

/* cmd_changes.c: changes TABLE. */
#include "bergline/changes.h"

#include <stddef.h>
#include <string.h>

#include "rows.h"

typedef struct changes_values {
  const char *from, *to, *ref, *images, *columns, *where, *key, *changed, *on_broken;
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
    {"--unordered", 0, CLI_FLAG, NULL, "events as they are found", AT(unordered)},
};

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
  if (st == BL_OK) st = cli_where_error(c, in->where, print_rows(c, t, &o));
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
    .text = "  The log of a range, oldest snapshot first: INSERT, DELETE, and UPDATE_BEFORE with UPDATE_AFTER right "
            "behind it. After\n"
            "  the table's columns (by the schema of --to) come _row_id, _last_updated_sequence_number, _change_type,\n"
            "  _change_ordinal and _commit_snapshot_id; by name in --columns also _commit_timestamp, "
            "_commit_sequence_number,\n"
            "  _changed_columns, _change_basis, _file and _pos. Rows that only moved (compaction, copy-on-write) give "
            "nothing.\n"
            "  A range that crosses expired snapshots says so in a warning; see docs/changelog.md for what each row "
            "means.\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(changes_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT,
    .run = changes,
};

/* cmd_apply.c: apply TABLE FILE --key A,B --source debezium|changes. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "inputs.h"
#include "rows.h"
#include "writes.h"

typedef struct apply_values {
  const char *key, *source;
} apply_values;

static const cli_option options[] = {
    {"--key", 0, CLI_VALUE, "A,B", "the columns that say which row is which", offsetof(apply_values, key)},
    {"--source", 0, CLI_VALUE, "SOURCE", "what wrote the events: debezium, or changes (of bergline)",
     offsetof(apply_values, source)},
};

static bl_status source_of(cli *c, const char *name, bl_apply_source *out) {
  if (!name) return bl_fail(&c->err, BL_USAGE, "wrong usage: apply: --source is missing");
  *out = strcmp(name, "changes") == 0 ? BL_APPLY_CHANGES : BL_APPLY_DEBEZIUM;
  if (*out == BL_APPLY_CHANGES || strcmp(name, "debezium") == 0) return BL_OK;
  return bl_fail(&c->err, BL_USAGE, "wrong usage: --source %s: debezium or changes is expected", name);
}

static bl_status apply_events(cli *c, bl_table *t, const apply_values *v, const bl_write_options *o,
                              bl_write_result *r) {
  char told[5000]; /* messages of the reader begin as those of the verb */
  bl_apply_options a = {.name = cli_input_name(c->args[1])};
  cli_names key = {0};
  bl_input *in = NULL;
  struct ArrowArrayStream events = {0};
  bl_status st = source_of(c, v->source, &a.source);
  if (st == BL_OK) st = cli_split(c, v->key, &key);
  if (st == BL_OK) st = cli_open_input(c, c->args[1], &in);
  snprintf(told, sizeof told, "apply: %s", a.name);
  if (st == BL_OK) st = bl_read_events(t, in, told, a.source, &events, &c->err);
  a.key = key.items;
  a.n_key = key.n;
  if (st == BL_OK) st = bl_apply(t, &events, &a, o, r, &c->err);
  if (in) in->close(in);
  cli_names_free(&key);
  return st;
}

static bl_status apply(cli *c, const void *values) {
  const apply_values *v = values;
  bl_table *t = NULL;
  bl_write_options o;
  bl_write_result r = {0};
  if (!v->key) return bl_fail(&c->err, BL_USAGE, "wrong usage: apply: --key is missing");
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = apply_events(c, t, v, &o, &r);
  bl_table_free(t);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

const cli_command cli_apply = {
    .name = "apply",
    .synopsis = "TABLE FILE --key A,B --source debezium|changes [--mode MODE]",
    .about = "apply a batch of change events; rows keep their ids",
    .formats = "text|json",
    .text =
        "  FILE holds an event a line or row; - is standard input. The last event of a key counts. Rows that the table "
        "has keep\n"
        "  their ids, and only those of which a value differs are written. Columns that no event has keep their "
        "values.\n"
        "\n"
        "  debezium: envelopes with before, after and op (c, r, u, d), alone or as the payload beside a schema;\n"
        "  tombstones, transactions, heartbeats, messages and changes of schemas\n"
        "  are passed over. Files of another kind (Arrow, Parquet, Avro, ORC, *.csv)\n"
        "  have them as texts, in the only column or in that called value, or as the columns op, before, after and\n"
        "  source. Rows without envelopes (ExtractNewRecordState) need __op or __deleted; other members __…\n"
        "  that the table has no column for are left out, and there are no positions. A schema tells what values mean, "
        "also those in arrays,\n"
        "  structs and maps: a date goes into a date, or as midnight (of UTC) into a timestamp; a time of a day into "
        "a\n"
        "  time; a timestamp into a timestamp, or at midnight into a date; their number into columns of integers and\n"
        "  strings; what does not go together is an error. Times that are texts (isostring, ZonedTime) are in UTC. A\n"
        "  decimal goes into a string as plain text, bits go into numbers, names of a set into a list of strings.\n"
        "  Without a schema integers count in the unit of the table's column (days, microseconds, nanoseconds). An\n"
        "  update that changes the key moves the row to a new id. What an event does not tell (a column that it "
        "lacks,\n"
        "  or a value that was left out as it did not change: __debezium_unavailable_value) earlier events of its key\n"
        "  in FILE do, then the table's row. Of a new row a column that is lacking has its default, and a value that\n"
        "  was left out is an error.\n"
        "\n"
        "  changes: what 'bergline changes' gives as NDJSON, CSV, Arrow, Parquet, Avro or ORC. Commits that were "
        "applied are known by their ids (the\n"
        "  last 256 are kept), so batches may overlap and be repeated. Older ones are told by _commit_sequence_number\n"
        "  (changes --columns …,_commit_sequence_number); what cannot be ordered is an error, but with a --batch-id, "
        "which\n"
        "  says that the batch is new. A changelog of after images alone (--images after) does not tell which key a "
        "row "
        "had:\n"
        "  with it keys must stay as they are.\n"
        "\n"
        "  The position of the last event in its source's log is kept in the summary of the snapshot as\n"
        "  bergline.source-position, one of each source (connector, name, database, schema, table): sequence and lsn\n"
        "  (PostgreSQL); file, pos and server_id (MySQL); commit_lsn and change_lsn (SQL Server); commit_scn and scn\n"
        "  (Oracle); the commit of a changelog. Events that lie before it are not applied again, so a batch can be\n"
        "  repeated; batches of one source must come in its order. The report counts them as events_passed_over, and\n"
        "  a warning tells where it is only a part of a batch. What cannot be ordered (a lower lsn without sequence,\n"
        "  another server's log) is applied as it comes, with a warning. A batch that changes no row makes a "
        "snapshot,\n"
        "  too, where it has a later position or a --batch-id: both are kept.\n",
    .examples = "    bergline apply /data/wh/db/orders events.ndjson --key id --source debezium\n"
                "    bergline changes prod.orders --from ts:2026-01-01 | bergline apply /data/copy/orders - --key id "
                "--source changes\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(apply_values),
    .min_args = 2,
    .max_args = 2,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE | CLI_MODE,
    .run = apply,
};

/* topics.c: what holds for all commands: addresses, expressions, output, exit statuses, environment. */
#include <string.h>

#include "cli.h"

#define ITEMS(p, items) cli_page_items(p, items, sizeof(items) / sizeof *(items))

/* ---- tables and snapshots ---- */

static void write_addresses(cli_page *p) {
  static const cli_item table[] = {
      {"/data/wh/db/orders",
       "A folder or URI. Its newest version is found by metadata/version-hint.text and what follows it, else by the "
       "number in the names vN.metadata.json or NNNNN-UUID.metadata.json, compressed ones too. A TABLE with a '/' in "
       "it, and any path that exists, is read this way."},
      {"…/metadata/v7.metadata.json", "A metadata file: that version of the table, read-only."},
      {"db.orders",
       "NAMESPACE.TABLE of a catalog: with --catalog NAME of a configuration file (see FILES), or straight with --uri "
       "sqlite:///path/catalog.db (or jdbc:sqlite:file:PATH?busy_timeout=MS, as Java has it) and --warehouse DIR; "
       "where the file holds several catalogs, --catalog picks one. Four slashes are a path from the root, three a "
       "relative one, as SQLAlchemy has it; three are taken for one from the root where only that file or folder is "
       "there. --warehouse DIR alone: the table folder DIR/db/orders."}};
  static const cli_item snap[] = {
      {"7310000000000000002", "A snapshot id; id: in front makes any digits one."},
      {"main, audit, v1.0", "The snapshot of a branch or tag; also ref:NAME, where the name could be read otherwise."},
      {"2026-01-31, 2026-01-31T12:00:00Z",
       "A time; also ts:TIME. Without a zone it is UTC. For scan and inspect on main: the snapshot that was current "
       "then, by the table's snapshot log. For changes and history, and with --ref: the newest ancestor of the ref's "
       "head that was committed by then."},
      {"seq:12", "The snapshot with this sequence number; exit status 2 where two have it (before version 2)."},
      {"wap:day-7", "The snapshot that was staged with --wap-id day-7; exit status 2 where two were."}};
  cli_page_text(p, "TABLE is one of:");
  ITEMS(p, table);
  cli_page_text(p,
                "\nA folder that was moved or copied still opens: paths that begin with the location in its metadata "
                "are looked for in the folder that was given. --path-map FROM=TO (repeatable) adds further mappings, "
                "for files and for the paths that delete files name.\n\nSNAP is one of these, tried in this order:");
  ITEMS(p, snap);
  cli_page_text(p, "\n--ref NAME picks the branch or tag whose head and history are meant; main by default. The head "
                   "of a branch is read with the table's current schema; an id, tag, time or sequence number with the "
                   "schema that its snapshot had.");
}

/* ---- expressions ---- */

static void write_expressions(cli_page *p) {
  static const cli_item forms[] = {{"= != <> < <= > >=", "A comparison of a column with a literal, or of two columns."},
                                   {"X in (A, B), X not in (A, B)", "Is the value among the literals?"},
                                   {"X between A and B", "The same as X >= A and X <= B; also not between."},
                                   {"X is null, X is not null", "Never unknown."},
                                   {"X is nan, X is not nan", "For float and double; of null both are unknown."},
                                   {"starts_with(X, 'text')", "For strings and binary; upper and lower case differ."},
                                   {"X", "A boolean column stands for X = true."}};
  static const cli_item literals[] = {
      {"1, -1.5, 2e6", "Numbers. Against int, long and decimal columns they compare exactly, whatever their size; a "
                       "fraction against a float or double column means the nearest value that the column can hold."},
      {"'x', 'it''s'", "A string; also what a date, time, timestamp or uuid column compares with."},
      {"true, false, null", "A comparison with null is unknown."},
      {"date '2026-01-31'", "A date, also in front of a timestamp column: its midnight."},
      {"timestamp '2026-01-31T12:00:00'", "A time of day and date without a zone, up to nine fraction digits."},
      {"timestamptz '2026-01-31T12:00:00+01:00'", "The same with a zone."},
      {"uuid 'f79c3e09-677c-4bbd-a479-3f349cb785e7'", "A uuid."},
      {"x'0aff'", "Bytes, for binary and fixed columns."}};
  cli_page_text(
      p, "--where takes a predicate in SQL's three-valued logic; a row is kept where it is true, not where it is false "
         "or unknown. Its parts are joined by not, and, or (which bind in this order) and parentheses:");
  ITEMS(p, forms);
  cli_page_text(p, "\nLiterals:");
  ITEMS(p, literals);
  cli_page_text(
      p, "\nA column is named as in the schema, upper and lower case differ; a.b is the field b of the "
         "struct a. A name that is a keyword or has other characters than letters, digits and _ is put in "
         "double quotes: \"a b\". The metadata columns of the command may be used: in scan, delete, update "
         "and overwrite _row_id, _last_updated_sequence_number, _last_updated_at, _file, _pos, _spec_id and "
         "the parts of _partition (_partition.day). Rows of a file that comes in have none. Where a table "
         "column has the same name, it wins, and meta._row_id is the metadata column. Times are "
         "UTC.\n\nAnything else is refused with exit status 2 and a caret under the place:\n\n"
         "    bergline: error: expression: column \"nmae\": there is none of this name and case: did you mean name?\n"
         "      nmae = 'x'\n"
         "      ^");
}

/* ---- output ---- */

static void write_output(cli_page *p) {
  static const cli_item formats[] = {
      {"text", "An aligned table. The default of all commands where standard output is a terminal."},
      {"ndjson", "A JSON object a line. The default of row commands elsewhere."},
      {"csv", "RFC 4180 with a header. Null is an empty field, the empty string is \"\"; nested values are JSON."},
      {"arrow", "The Arrow IPC stream, field ids in the metadata key PARQUET:field_id. -o x.arrow, .feather and .ipc, "
                "without --format, are "
                "IPC files (Feather 2), .arrows is the stream. Commands that read rows take both."},
      {"parquet", "One Parquet file with field ids."},
      {"json", "Reports (inspect, what a command that writes has done): one JSON document. Their default where "
               "standard output is no terminal."}};
  static const cli_item values[] = {
      {"int, long", "A JSON number."},
      {"float, double", "A JSON number, the shortest that reads back as the same value; \"NaN\", \"Infinity\", "
                        "\"-Infinity\" as strings."},
      {"decimal", "A string with all digits of its scale: \"12.50\"."},
      {"date, time, timestamps",
       "ISO-8601 strings: \"2026-01-31\", \"12:00:00.000000\", \"2026-01-31T12:00:00.000000\"; six fraction digits, "
       "nine for the nanosecond types; +00:00 behind it where the type has a zone."},
      {"uuid", "A lower-case string."},
      {"fixed, binary", "Base64. Geometry and geography too: they are well-known binary."},
      {"struct", "An object by field name, in schema order."},
      {"list", "An array."},
      {"map", "An object where the keys are strings, entry order kept; else an array of {\"key\":…,\"value\":…}."},
      {"variant", "The JSON that it encodes, its decimals as numbers."},
      {"null", "null"}};
  static const cli_item results[] = {
      {"committed", "Was a snapshot made? Not in a dry run, nor where nothing was to be changed and no --batch-id or "
                    "position of a source was to be kept."},
      {"already_applied",
       "true where the branch holds the batch (--batch-id), or all events (apply): nothing is done. So where a change "
       "of metadata alone (create, set, alter, branch …) was made under this id: of that the table's properties "
       "bergline.metadata-batches and bergline.metadata-summary tell."},
      {"snapshot_id, sequence_number", "Of the new snapshot."},
      {"first_row_id, rows_assigned", "What the commit took from the table's counter of row ids. Rows that keep their "
                                      "id count too; what was taken for them is no row's."},
      {"rows_inserted, rows_updated, rows_deleted, rows_unchanged",
       "Rows by what happened to them; unchanged: those that the table has as the input has them."},
      {"data_files_added, data_files_removed, delete_files_added, delete_files_removed", "Files."},
      {"attempts", "More than one where others committed meanwhile."},
      {"done, metadata_location",
       "Commands that change metadata alone or move a branch: what was done, and the file that has it; in a "
       "dry run planned: what would be."}};
  cli_page_text(
      p,
      "Data goes to standard output, or with -o to a file, which appears when it is complete: until then, and where "
      "the command fails, an older one stays. A link is followed, and what is no regular file (a pipe, a device, "
      "/dev/stdout) is written straight. The file's ending chooses the format unless --format does (.txt, .ndjson, "
      ".jsonl, .csv, .arrow, .arrows, .ipc, .feather, .parquet, .json, in upper or lower case); of another ending a "
      "warning tells. Everything else goes to standard error: warnings are lines that begin with \"bergline: warning: "
      "\", an error is one line \"bergline: error: WHAT: WHERE: WHY\" with file, byte position, JSON path or field "
      "where there is one. A progress bar shows on a terminal when the work is long; see --progress.\n\nFormats:");
  ITEMS(p, formats);
  cli_page_text(p, "\nColumns come in schema order, then the metadata columns; with --columns in the order asked for. "
                   "Values in JSON:");
  ITEMS(p, values);
  cli_page_text(p, "\nResults of commands that write:");
  ITEMS(p, results);
}

/* ---- exit status, environment, files ---- */

void cli_exit_statuses(cli_page *p) {
  static const cli_item statuses[] = {
      {"0", "Done."},
      {"1", "A check found something."},
      {"2", "Wrong usage; also: not an ancestor, an ambiguous address."},
      {"3", "The table or a file is damaged or breaks the format."},
      {"4", "I/O error, or out of memory."},
      {"5", "Commit conflict, or what is to be made is there already; nothing changed."},
      {"6", "The state of a commit is unknown; nothing was cleaned up."},
      {"7", "An unsupported feature, named in the message."},
      {"8", "Not found: table, snapshot, ref, expired snapshot, a file that the table needs."}};
  ITEMS(p, statuses);
}

static void write_environment(cli_page *p) {
  static const cli_item variables[] = {
      {"BERGLINE_CONFIG", "A configuration file; no other one is then looked for."},
      {"PYICEBERG_HOME", "A folder whose .pyiceberg.yaml is read."},
      {"TMPDIR", "Where work goes that does not fit into memory; /tmp by default."},
      {"ARROW_DEFAULT_MEMORY_POOL", "Arrow's allocator: mimalloc, jemalloc or system."}};
  ITEMS(p, variables);
  cli_page_text(p, "\nLocale and time zone mean nothing: the output is UTF-8, times are UTC.");
}

static void write_files(cli_page *p) {
  cli_page_text(p, "Catalogs are found by name in .bergline.yaml of the working and of the home folder, then in "
                   ".pyiceberg.yaml of $PYICEBERG_HOME, of the home and of the working folder; the first file that "
                   "names the catalog counts. The keys are PyIceberg's:\n\n"
                   "    catalog:\n"
                   "      prod:\n"
                   "        type: sql\n"
                   "        uri: sqlite:////data/catalog.db\n"
                   "        warehouse: /data/wh\n");
}

/* ---- all of them ---- */

static const cli_topic topics[] = {{"addresses", "ADDRESSES", write_addresses},
                                   {"expressions", "EXPRESSIONS", write_expressions},
                                   {"output", "OUTPUT", write_output},
                                   {"exit-status", "EXIT STATUS", cli_exit_statuses},
                                   {"environment", "ENVIRONMENT", write_environment},
                                   {"files", "FILES", write_files}};

const cli_topic *cli_topics(size_t *n) {
  *n = sizeof topics / sizeof *topics;
  return topics;
}

const cli_topic *cli_find_topic(const char *name) {
  for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
    if (topics[i].name && strcmp(topics[i].name, name) == 0) return &topics[i];
  return NULL;
}

void cli_topic_write(const cli_topic *t, cli_page *p) {
  cli_page_section(p, t->title);
  t->write(p);
}

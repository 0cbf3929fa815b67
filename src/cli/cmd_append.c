/* cmd_append.c: append TABLE FILE…. */
#include <stddef.h>

#include "inputs.h"
#include "writes.h"

typedef struct append_values {
  const char *format;
} append_values;

static const cli_option options[] = {
    {"--input-format", 0, CLI_VALUE, "FORMAT",
     "of the files: parquet, arrow, csv, ndjson, avro, orc; by their endings, else by their bytes",
     offsetof(append_values, format)},
};

static bl_status append_to(cli *c, bl_table *t, const append_values *v, const bl_write_options *o) {
  struct ArrowArrayStream rows;
  bl_write_result r;
  bl_status st = cli_read_files(c, t, c->args + 1, (size_t)c->n_args - 1, v->format, &rows);
  if (st == BL_OK) st = bl_append(t, &rows, o, &r, &c->err);
  return st == BL_OK ? cli_write_result(c, &r) : st;
}

static bl_status append(cli *c, const void *values) {
  bl_table *t = NULL;
  bl_write_options o;
  bl_status st = cli_open_to_write(c, &t, &o);
  if (st == BL_OK) st = append_to(c, t, values, &o);
  bl_table_free(t);
  return st;
}

const cli_command cli_append = {
    .name = "append",
    .synopsis = "TABLE FILE… [--input-format FORMAT] [--ref NAME] [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "add the rows of files",
    .formats = "text|json",
    .text =
        "  All files together are one commit; - is standard input. Columns go by name; a column that the table does "
        "not have, a value\n"
        "  that does not fit (the message names file, row and column) and lineage columns are refused. A column that "
        "a file lacks\n"
        "  is its write default, else null. What is packed with gzip is unpacked first, also for other verbs.\n"
        "\n"
        "  Text takes its types from the table: decimals as \"1.50\", dates and times in ISO 8601 (with a zone where "
        "the column has\n"
        "  one), binary, geometry and geography (WKB) as base64, structs, lists and maps as NDJSON output has them "
        "(in CSV: as JSON\n"
        "  in a field), variants as any JSON. CSV has a header; an empty field is null, \"\" the empty string.\n"
        "\n"
        "  Dumps of other programs are read, too: a zone as z, UTC, +01 or +0100, also behind a blank; a date alone is "
        "its midnight\n"
        "  (where the column has a zone: with Z or +01:00, for no zone is guessed); in CSV booleans as t, f, yes, no, "
        "y, "
        "n, 1 and 0, in\n"
        "  upper or lower case.\n"
        "\n"
        "  Each row gets a row id that no row had before. With --batch-id a batch that the branch holds already is not "
        "written\n"
        "  again; one without rows is a snapshot, too, that keeps the id.\n",
    .examples = "    bergline append /data/wh/db/orders new.parquet more.csv\n"
                "    producer | bergline append /data/wh/db/orders - --input-format ndjson --batch-id 2026-01-31\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(append_values),
    .min_args = 2,
    .max_args = -1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_CHANGE,
    .run = append,
};

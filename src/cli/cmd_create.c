/* cmd_create.c: create TABLE. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bergline/scan.h"
#include "writes.h"

typedef struct create_values {
  const char *schema, *like, *partition, *sort, *version, *location;
  cli_list properties;
} create_values;

static const cli_option options[] = {
    {"--schema", 0, CLI_VALUE, "SCHEMA", "the columns, as text or in a file: Iceberg's JSON, or Arrow IPC",
     offsetof(create_values, schema)},
    {"--like", 0, CLI_VALUE, "FILE", "the columns of a sample file: Parquet, Arrow, Avro, ORC, NDJSON, CSV",
     offsetof(create_values, like)},
    {"--partition", 0, CLI_VALUE, "FIELDS", "'bucket(16, a), day(ts)'; without it the table is unpartitioned",
     offsetof(create_values, partition)},
    {"--sort", 0, CLI_VALUE, "FIELDS", "'a desc nulls last, b': the order that rows are written in",
     offsetof(create_values, sort)},
    {"--property", 0, CLI_LIST, "KEY=VALUE", "a table property (repeatable)", offsetof(create_values, properties)},
    {"--location", 0, CLI_VALUE, "FOLDER", "where the files of a table in a catalog go (below its warehouse)",
     offsetof(create_values, location)},
    {"--format-version", 0, CLI_VALUE, "N", "1, 2 or 3 (3)", offsetof(create_values, version)},
};

/* A column has a name and a type, with a blank between; a file's name has an ending. */
static bool is_file_name(const char *schema) {
  static const char *const endings[] = {".json", ".arrow", ".arrows", ".ipc", ".feather"};
  size_t n = strlen(schema);
  bool named = false;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    size_t k = strlen(endings[i]);
    named = named || (n > k && strcmp(schema + n - k, endings[i]) == 0);
  }
  return named || !strpbrk(schema, " \t\r\n");
}

/* An IPC file, or a stream, or the one message of a schema. */
static bool is_arrow(const char *text) {
  return strncmp(text, "ARROW1", 6) == 0 || strncmp(text, "\xff\xff\xff\xff", 4) == 0;
}

/* The bytes of a file as text; NULL: it cannot be opened. */
static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  char *text = NULL;
  size_t n = 0;
  if (!f) return NULL;
  for (size_t cap = 1 << 16;; cap *= 2) {
    char *bigger = realloc(text, cap + 1);
    if (!bigger) break;
    text = bigger;
    n += fread(text + n, 1, cap - n, f);
    if (n < cap) break;
  }
  fclose(f);
  if (text) text[n] = 0;
  return text;
}

static bl_status fill(cli *c, const create_values *v, bl_create_options *o) {
  int64_t version = 0;
  *o = (bl_create_options){.schema = v->schema,
                           .partition = v->partition,
                           .sort = v->sort,
                           .location = v->location,
                           .properties = v->properties.items,
                           .n_properties = v->properties.n,
                           .dry_run = c->common.dry_run,
                           .batch_id = c->common.batch_id,
                           .summary = c->common.summary.items,
                           .n_summary = c->common.summary.n,
                           .already_applied = &c->applied};
  if (!v->schema == !v->like)
    return bl_fail(&c->err, BL_USAGE, "wrong usage: create: either --schema or --like is expected");
  if (v->version) {
    bl_status st = cli_number(c, "--format-version", v->version, &version);
    if (st != BL_OK) return st;
    if (version < 1 || version > 3)
      return bl_fail(&c->err, BL_USAGE, "wrong usage: --format-version %s: 1, 2 or 3 is expected", v->version);
  }
  o->format_version = (int)version;
  return BL_OK;
}

static bl_status create(cli *c, const void *values) {
  const create_values *v = values;
  bl_create_options o;
  bl_table_options to;
  bl_status st = fill(c, v, &o);
  if (st == BL_OK) st = cli_check_batch(c);
  bool file = st == BL_OK && v->schema && is_file_name(v->schema);
  char *text = file ? read_text(v->schema) : NULL, *like = NULL;
  if (text) o.schema = text;
  else if (file && v->schema[0] != '{')
    st = bl_fail(&c->err, BL_NOT_FOUND, "wrong schema: %s: neither columns as text nor a file that can be read",
                 v->schema);
  if (st == BL_OK) st = cli_table_options(c, &to);
  const char *sample = text && is_arrow(text) ? v->schema : v->like;
  if (st == BL_OK && sample) {
    st = bl_schema_like(c->ctx, sample, &to, &like, &c->err);
    o.schema = like;
  }
  if (st == BL_OK) st = bl_table_create(c->ctx, c->args[0], &to, &o, &c->err);
  if (st == BL_OK) st = cli_metadata_result(c, c->args[0], "table created");
  bl_text_free(c->ctx, like);
  free(text);
  return st;
}

const cli_command cli_create = {
    .name = "create",
    .synopsis = "TABLE --schema FILE|'a long not null, b string' | --like FILE [--partition FIELDS] [--sort FIELDS] "
                "[--property K=V]… [--location FOLDER] "
                "[--format-version N] [--summary K=V]… [--batch-id ID] [--dry-run]",
    .about = "a new, empty table",
    .formats = "text|json",
    .text =
        "  Makes TABLE: a folder that holds no table yet, in the form that Spark's hadoop catalog reads, or a name in "
        "a catalog.\n"
        "\n"
        "  The schema is Iceberg's JSON, whose field ids are kept, an Arrow IPC stream, file or schema message, or "
        "text: names and types, each with not null, "
        "default LITERAL,\n"
        "  comment 'TEXT', primary key (identifier fields, also inside structs) behind it. Types: boolean int long "
        "float double "
        "decimal(P,S), S not above P, date time\n"
        "  timestamp timestamptz timestamp_ns timestamptz_ns string uuid fixed[N] binary variant geometry geography "
        "unknown\n"
        "  struct<a: int, b: string> list<T> map<K, V>.\n"
        "\n"
        "  Partition fields are columns or bucket(N, a) truncate(N, a) year(a) month(a) day(a) hour(a), with as NAME "
        "for a name\n"
        "  of your own. Tables are of format version 3, and change by merge-on-read, unless options say else.\n",
    .examples = "    bergline create /data/wh/db/orders --schema 'id long not null, item string, at timestamptz'\n"
                "    bergline create /data/wh/db/orders --schema schema.json --partition 'day(at)' --sort 'id'\n"
                "    bergline create db.orders --catalog prod --schema 'id long primary key, v double default 0'\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(create_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_TABLE | CLI_OUTPUT | CLI_WRITES | CLI_NOTE,
    .run = create,
};

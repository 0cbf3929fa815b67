/* schema_like.c: the schema of a sample file. Text has no types of its own: NDJSON tells them by the kinds of its first
 * lines, CSV by what all of the values in its first rows can be read as. */
#include "bergline/input.h"
#include "bergline/write.h"
#include "format/metadata_json.h"
#include "rows/arrow_own.h"
#include "rows/arrow_view.h"
#include "rows/stream.h"
#include "table/catalog.h"
#include "table/table.h"
#include "write/arrow_types.h"
#include "write/input.h"
#include "write/schema_sample.h"

/* ---- types of CSV columns ---- */

static bl_kind guess(const bl_view *column, int64_t rows) {
  bl_kind kind = BL_KIND_UNKNOWN;
  for (int64_t i = 0; i < rows; i++)
    if (!bl_view_null(column, i)) kind = bl_kind_of_both(kind, bl_kind_of_text(bl_view_bytes(column, i)));
  return kind == BL_KIND_UNKNOWN ? BL_STRING : kind;
}

static bl_status guess_types(bl_ctx *ctx, struct ArrowArrayStream *rows, const struct ArrowSchema *arrow,
                             bl_schema *schema, bl_error *err) {
  struct ArrowArray batch;
  bl_view *view = NULL;
  BL_TRY(bl_stream_next(rows, &batch, err));
  if (!batch.release) return BL_OK;
  bl_status st = bl_view_new(ctx, arrow, &view, err);
  if (st == BL_OK) st = bl_view_set(view, &batch, err);
  for (size_t i = 0; st == BL_OK && i < schema->root.n_fields; i++)
    if (schema->root.fields[i].type.kind == BL_STRING)
      schema->root.fields[i].type.kind = guess(&view->children[i], batch.length);
  bl_view_free(view);
  bl_array_release(&batch);
  return st;
}

/* ---- the file ---- */

/* A table without columns: files are read as what they say themselves. */
typedef struct no_table {
  bl_schema schema;
  bl_metadata metadata;
  bl_table table;
} no_table;

static void no_table_init(no_table *x, bl_arena *a, const bl_drivers *d) {
  *x = (no_table){.schema = {.root = {.kind = BL_STRUCT}}};
  x->metadata = (bl_metadata){.arena = a, .format_version = 3, .schemas = &x->schema, .n_schemas = 1};
  x->table = (bl_table){.ctx = bl_arena_ctx(a), .metadata = &x->metadata, .drivers = d, .io = d->io};
}

static bl_status print(bl_arena *a, const bl_schema *s, char **out, bl_error *err) {
  bl_buf b;
  bl_json *doc = bl_schema_to_json(a, s);
  if (!doc) return bl_nomem(err);
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_json_print(&b, doc, false);
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK && !(*out = bl_strdup(bl_arena_ctx(a), (const char *)b.p))) st = bl_nomem(err);
  bl_buf_free(&b);
  return st;
}

static bool ends_with(const char *path, const char *ending) {
  bl_str s = bl_input_name_unpacked(path);
  size_t m = strlen(ending);
  return s.n > m && bl_str_is_nocase((bl_str){s.p + s.n - m, m}, ending);
}

/* Any text would do as CSV: it has to be called so, or to have no ending. */
static bl_status check_kind(bl_input *in, const char *path, bl_error *err) {
  const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
  bl_input_format f;
  if (!dot || bl_input_by_ending(path) != BL_INPUT_AUTO) return BL_OK;
  BL_TRY(bl_input_by_bytes(in, &f, err));
  if (f != BL_INPUT_CSV) return BL_OK;
  return bl_fail(err, BL_USAGE, "%s: neither its ending nor its first bytes are those of a file of rows", path);
}

static bl_status read_schema(bl_arena *a, const bl_drivers *d, bl_input *in, const char *path, bl_schema *out,
                             bl_error *err) {
  const bl_read_options o = {.extra_columns = true};
  struct ArrowArrayStream rows = {0};
  struct ArrowSchema arrow = {0};
  no_table none;
  bl_status st;
  BL_TRY(check_kind(in, path, err));
  if (ends_with(path, ".ndjson") || ends_with(path, ".jsonl") || ends_with(path, ".json"))
    return bl_schema_of_ndjson(a, in, path, out, err);
  no_table_init(&none, a, d);
  BL_GO(bl_read_rows(&none.table, in, path, &o, &rows, err));
  BL_GO(bl_stream_schema(&rows, &arrow, err));
  BL_GO(bl_schema_of_arrow(a, &arrow, out, err));
  if (ends_with(path, ".csv")) st = guess_types(bl_arena_ctx(a), &rows, &arrow, out, err);
done:
  bl_aschema_release(&arrow);
  bl_stream_release(&rows);
  return st;
}

bl_status bl_schema_like(bl_ctx *ctx, const char *path, const bl_table_options *o, char **schema, bl_error *err) {
  static const bl_table_options none = {0};
  bl_arena *a = NULL;
  bl_drivers own = {0};
  bl_io *io = NULL;
  bl_input *in = NULL;
  bl_schema s;
  bl_status st;
  *schema = NULL;
  if (!o) o = &none;
  if (!o->drivers) BL_GO(bl_drivers_default(ctx, &own, err));
  const bl_drivers *d = o->drivers ? o->drivers : &own;
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_io_with_maps(ctx, d->io, o, &io, err));
  BL_GO(io->open_input(io, path, &in, err));
  BL_GO(bl_input_unpack(ctx, path, &in, err));
  BL_GO(read_schema(a, d, in, path, &s, err));
  if (s.root.n_fields == 0) BL_GO(bl_fail(err, BL_USAGE, "%s: no columns are found in it", path));
  st = print(a, &s, schema, err);
done:
  bl_input_close(in);
  if (io) io->free(io);
  bl_drivers_dispose(&own);
  bl_arena_free(a);
  return st;
}

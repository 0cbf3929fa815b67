/* file_writer.c: see file_writer.h. */
#include "write/file_writer.h"

#include "table/io.h"

/* ---- what all files share ---- */

/* A type without its columns of type unknown, and which children those are. */
static bl_status prune(bl_arena *a, const bl_type *in, bl_type *out, bl_pick *pick, bl_error *err) {
  *out = *in;
  *pick = (bl_pick){.n = -1};
  if (in->n_fields == 0) return BL_OK;
  bool is_struct = in->kind == BL_STRUCT;
  bl_field *fields = bl_arena_alloc(a, in->n_fields, sizeof *fields);
  int64_t *children = bl_arena_alloc(a, in->n_fields, sizeof *children);
  const bl_pick **below = bl_arena_alloc(a, in->n_fields, sizeof *below);
  bl_pick *picks = bl_arena_alloc(a, in->n_fields, sizeof *picks);
  if (!fields || !children || !below || !picks) return bl_nomem(err);
  size_t n = 0;
  for (size_t i = 0; i < in->n_fields; i++) {
    const bl_field *f = &in->fields[i];
    if (f->type.kind == BL_KIND_UNKNOWN && is_struct) continue;
    if (f->type.kind == BL_KIND_UNKNOWN)
      return bl_fail(err, BL_UNSUPPORTED, "column %.*s: a list or map of type unknown cannot be written",
                     BL_STR_ARG(f->name));
    fields[n] = *f;
    children[n] = (int64_t)i;
    below[n] = &picks[n];
    BL_TRY(prune(a, &f->type, &fields[n].type, &picks[n], err));
    if (fields[n].type.kind == BL_STRUCT && fields[n].type.n_fields == 0)
      return bl_fail(err, BL_UNSUPPORTED, "column %.*s: Parquet has no struct without columns", BL_STR_ARG(f->name));
    n++;
  }
  out->fields = fields;
  out->n_fields = n;
  if (is_struct || in->kind == BL_LIST) *pick = (bl_pick){.children = children, .n = (int64_t)n, .below = below};
  if (in->kind != BL_MAP) return BL_OK;
  /* Key and value are below the entries. */
  bl_pick *entries = bl_arena_alloc(a, 1, sizeof *entries);
  int64_t *zero = bl_arena_calloc(a, 1, sizeof *zero);
  const bl_pick **one = bl_arena_alloc(a, 1, sizeof *one);
  if (!entries || !zero || !one) return bl_nomem(err);
  *entries = (bl_pick){.children = children, .n = (int64_t)n, .below = below};
  *one = entries;
  *pick = (bl_pick){.children = zero, .n = 1, .below = one};
  return BL_OK;
}

static const bl_field lineage_fields[2] = {
    {.id = BL_ID_ROW_ID, .name = {"_row_id", 7}, .type = {.kind = BL_LONG}},
    {.id = BL_ID_LAST_UPDATED, .name = {"_last_updated_sequence_number", 29}, .type = {.kind = BL_LONG}},
};

/* The pruned columns and the lineage columns of `bits` behind them (W5). */
static bl_status add_lineage(bl_file_env *e, unsigned bits, const bl_type *base, const bl_pick *pick, bl_error *err) {
  size_t n = base->n_fields;
  bl_field *fields = bl_arena_alloc(e->arena, n + 2, sizeof *fields);
  int64_t *children = bl_arena_alloc(e->arena, n + 2, sizeof *children);
  const bl_pick **below = bl_arena_calloc(e->arena, n + 2, sizeof *below);
  if (!fields || !children || !below) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    fields[i] = base->fields[i];
    children[i] = pick->children[i];
    below[i] = pick->below[i];
  }
  for (unsigned k = 0; k < 2; k++) {
    if (!(bits >> k & 1)) continue;
    fields[n] = lineage_fields[k];
    children[n++] = (int64_t)(e->schema->root.n_fields + k);
  }
  e->file_types[bits] = (bl_type){.kind = BL_STRUCT, .fields = fields, .n_fields = n};
  e->picks[bits] = (bl_pick){.children = children, .n = (int64_t)n, .below = below};
  return bl_aschema_of_struct(e->t->ctx, &e->file_types[bits], &e->file_schemas[bits], err);
}

static bl_status schema_text(bl_file_env *e, bl_error *err) {
  e->schema_json = bl_json_text(e->arena, bl_schema_to_json(e->arena, e->schema));
  return e->schema_json.p ? BL_OK : bl_nomem(err);
}

bl_status bl_file_env_init(bl_file_env *e, bl_table *t, const bl_schema *schema, bool lineage,
                           const bl_write_settings *settings, bl_error *err) {
  bl_type base;
  bl_pick pick;
  bl_status st;
  *e = (bl_file_env){.t = t, .schema = schema, .lineage = lineage};
  BL_GO(bl_arena_new(t->ctx, &e->arena, err));
  if (settings) e->settings = *settings;
  else BL_GO(bl_write_settings_new(t, schema, e->arena, &e->settings, err));
  BL_GO(schema_text(e, err));
  BL_GO(prune(e->arena, &schema->root, &base, &pick, err));
  if (base.n_fields == 0) BL_GO(bl_fail(err, BL_UNSUPPORTED, "the table has no column that a file can hold"));
  for (unsigned bits = 0; bits < (lineage ? 4u : 1u); bits++) BL_GO(add_lineage(e, bits, &base, &pick, err));
done:
  if (st != BL_OK) bl_file_env_dispose(e);
  return st;
}

void bl_file_env_dispose(bl_file_env *e) {
  for (size_t i = 0; i < BL_LEN(e->file_schemas); i++) bl_aschema_release(&e->file_schemas[i]);
  bl_arena_free(e->arena);
  *e = (bl_file_env){0};
}

static bool any_value(const struct ArrowArray *a) {
  if (a->null_count == 0) return a->length > 0;
  if (a->null_count == a->length) return false;
  for (int64_t i = 0; i < a->length; i++)
    if (bl_array_valid(a, i)) return true;
  return false;
}

unsigned bl_lineage_bits(const bl_file_env *e, const struct ArrowArray *batch) {
  unsigned bits = 0;
  for (unsigned k = 0; e->lineage && k < 2; k++)
    if (any_value(batch->children[e->schema->root.n_fields + k])) bits |= 1u << k;
  return bits;
}

/* ---- one file ---- */

struct bl_file_writer {
  const bl_file_env *env;
  const char *path;
  unsigned columns;
  bl_output *out;
  int64_t written; /* bytes given to out */
  bl_arrow_writer *parquet;
  bl_watch watch;
};

static bl_status take_bytes(void *user, const void *p, size_t n, bl_error *err) {
  bl_file_writer *w = user;
  w->written += (int64_t)n;
  return w->out->write(w->out, p, n, err);
}

bl_status bl_file_writer_new(const bl_file_env *e, const char *path, unsigned columns, int threads,
                             bl_file_writer **out, bl_error *err) {
  bl_ctx *ctx = e->t->ctx;
  const char *pairs[] = {"iceberg.schema", e->schema_json.p};
  bl_status st;
  *out = NULL;
  bl_file_writer *w = bl_calloc(ctx, 1, sizeof *w);
  if (!w) return bl_nomem(err);
  w->env = e;
  w->path = path;
  w->columns = columns;
  BL_GO(bl_watch_init(&w->watch, ctx, &e->file_schemas[columns], err));
  BL_GO(bl_io_open_output(e->t->io, path, BL_OUT_EXCLUSIVE | BL_OUT_LATER, &w->out, err));
  bl_sink sink = {.write = take_bytes, .user = w};
  bl_parquet_options o = e->settings.parquet;
  o.pairs = pairs;
  o.n_pairs = 1;
  o.threads = threads;
  BL_GO(bl_arrow_parquet_writer_with(ctx, &sink, &e->file_schemas[columns], &o, &w->parquet, err));
  *out = w;
done:
  if (st != BL_OK) bl_file_writer_abort(w);
  return st;
}

bl_status bl_file_writer_write(bl_file_writer *w, bl_shared *batch, int64_t begin, int64_t n, bool spread,
                               bl_error *err) {
  struct ArrowArray part;
  if (n == 0) return BL_OK;
  BL_TRY(bl_shared_part(batch, begin, n, &w->env->picks[w->columns], &part, err));
  bl_status st = bl_watch_batch(&w->watch, &part, err);
  if (st != BL_OK) {
    bl_array_release(&part);
    return st;
  }
  bl_arrow_writer_spread(w->parquet, spread);
  return bl_arrow_writer_write(w->parquet, &part, err);
}

int64_t bl_file_writer_bytes(bl_file_writer *w, int64_t enough) {
  return bl_arrow_writer_bytes(w->parquet, enough);
}

int64_t bl_file_writer_held(bl_file_writer *w, int64_t enough) {
  return bl_arrow_writer_held(w->parquet, enough);
}

bl_status bl_file_writer_end_group(bl_file_writer *w, bl_error *err) {
  return bl_arrow_writer_end_group(w->parquet, err);
}

/* The footer is read back: what is in the entry is what is in the file. */
static bl_status describe(bl_file_writer *w, bl_arena *a, bl_data_file *out, bl_error *err) {
  bl_table *t = w->env->t;
  const bl_data_format *format;
  bl_input *in = NULL;
  bl_data_reader *r = NULL;
  bl_status st;
  bl_metrics_input mi = {
      .ctx = t->ctx, .modes = &w->env->settings.metrics, .schema = w->env->schema, .watch = &w->watch};
  *out = (bl_data_file){.content = BL_FILE_DATA,
                        .format = BL_FORMAT_PARQUET,
                        .path = bl_arena_str(a, bl_str_of(w->path)),
                        .file_size = w->written,
                        .sort_order_id = -1,
                        .first_row_id = BL_NONE,
                        .content_offset = BL_NONE,
                        .content_size = BL_NONE};
  if (!out->path.p) return bl_nomem(err);
  BL_GO(bl_table_data_format(t, BL_FORMAT_PARQUET, &format, err));
  BL_GO(t->io->open_input(t->io, w->path, &in, err));
  BL_GO(format->open(t->ctx, in, w->path, NULL, &r, err));
  BL_GO(bl_metrics_of(&mi, r, a, out, err));
done:
  if (r) r->free(r);
  if (in) in->close(in);
  return st;
}

bl_status bl_file_writer_finish(bl_file_writer *w, bl_arena *a, bl_data_file *out, bl_error *err) {
  bl_status st;
  bl_arrow_writer *p = w->parquet;
  bl_output *o = w->out;
  w->parquet = NULL;
  st = bl_arrow_writer_finish(p, err);
  if (st == BL_OK) {
    w->out = NULL;
    st = o->finish(o, err);
  }
  if (st == BL_OK) st = describe(w, a, out, err);
  bl_file_writer_abort(w);
  return st;
}

void bl_file_writer_abort(bl_file_writer *w) {
  if (!w) return;
  bl_ctx *ctx = w->env->t->ctx;
  if (w->parquet) bl_arrow_writer_abort(w->parquet);
  if (w->out) w->out->abort(w->out);
  bl_watch_dispose(&w->watch);
  bl_free(ctx, w);
}

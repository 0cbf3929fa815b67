/* foreign_path.c: what the folders that a foreign file lies in say of its partition, as Hive names them: p=a/q=%2F/….
 *
 * 1. Only of a top-level column that the file itself lacks, the source of an identity partition field: readers take its
 *    value from the partition then (spec, "Column Projection"). What the file stores counts before any path.
 * 2. The last folder counts that is called after the column or the partition field. %XX stands for a byte in names and
 *    values, "+" is a plus; HIVE_NULL is null. */
#include "rows/arrow_own.h"
#include "write/foreign_file.h"
#include "write/put_value.h"
#include "write/row_values.h"

static const char HIVE_NULL[] = "__HIVE_DEFAULT_PARTITION__";

static void decode(bl_str s, bl_buf *out) {
  bl_buf_clear(out);
  for (size_t i = 0; i < s.n; i++) {
    bool byte = s.p[i] == '%' && i + 2 < s.n && bl_parse_hex((bl_str){s.p + i + 1, 2}, out);
    if (byte) i += 2;
    else bl_buf_byte(out, (uint8_t)s.p[i]);
  }
}

static bool is_named(bl_str encoded, bl_str a, bl_str b, bl_buf *scratch) {
  decode(encoded, scratch);
  bl_str name = {(const char *)scratch->p, scratch->n};
  return name.n > 0 && (bl_str_eq(name, a) || bl_str_eq(name, b));
}

/* The text behind NAME= of the last such folder, still encoded; p NULL: there is none. */
static bl_str told_by(bl_str path, bl_str column, bl_str field, bl_buf *scratch) {
  bl_str told = BL_STR_NONE;
  for (size_t begin = 0, i = 0; i < path.n; i++) {
    if (path.p[i] != '/') continue; /* what follows the last one is the file's name */
    const char *folder = path.p + begin, *equals = memchr(folder, '=', i - begin);
    begin = i + 1;
    if (!equals || !is_named((bl_str){folder, (size_t)(equals - folder)}, column, field, scratch)) continue;
    told = (bl_str){equals + 1, (size_t)(path.p + i - equals) - 1};
  }
  return told;
}

/* One row of the column, as any text that comes in. */
static bl_status read_text(const bl_foreign_env *env, const bl_field *column, bl_str text, bl_arena *a, bl_value *out,
                           bl_error *err) {
  bl_ctx *ctx = env->t->ctx;
  bl_schema one = {.root = {.kind = BL_STRUCT, .fields = (bl_field *)column, .n_fields = 1}};
  struct ArrowSchema schema = {0};
  struct ArrowArray row = {0};
  bl_builder *b = NULL;
  bl_view *view = NULL;
  bl_putter putter;
  bl_row_source source;
  bl_value v;
  bl_status st;
  bl_putter_init(&putter, ctx);
  putter.of_csv = true;
  BL_GO(bl_aschema_of_struct(ctx, &one.root, &schema, err));
  BL_GO(bl_builder_new(ctx, &schema, &b, err));
  BL_GO(bl_put_text(&putter, bl_builder_child(b, 0), column, text, err));
  BL_GO(bl_builder_close(b, err));
  BL_GO(bl_builder_finish(b, &row, err));
  BL_GO(bl_view_new(ctx, &schema, &view, err));
  BL_GO(bl_view_set(view, &row, err));
  (void)bl_row_source_find(view, &one, column->id, &source);
  bl_row_value(&source, 0, &v);
  st = bl_value_copy(a, &v, out, err);
done:
  bl_view_free(view);
  bl_array_release(&row);
  bl_builder_free(b);
  bl_aschema_release(&schema);
  bl_putter_dispose(&putter);
  return st;
}

static bl_status value_of(const bl_foreign_env *env, const bl_foreign_file *f, const bl_field *column, bl_str told,
                          bl_buf *scratch, bl_value *out, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  bl_status st = BL_OK;
  decode(told, scratch);
  bl_str text = {scratch->p ? (const char *)scratch->p : "", scratch->n};
  *out = (bl_value){.kind = column->type.kind, .null = bl_str_is(text, HIVE_NULL)};
  if (!out->null) st = read_text(env, column, text, f->arena, out, &e);
  else if (column->required) st = bl_fail(&e, BL_USAGE, "column %s: it is required", column->name.p);
  if (st == BL_OK) return BL_OK;
  return bl_fail(err, st, "cannot add: %s: its folder %.*s=%.*s: %s", f->path.p, BL_STR_ARG(column->name),
                 BL_STR_ARG(told), e.message);
}

static bool has_column(const bl_foreign_file *f, int32_t id) {
  for (size_t i = 1; i < f->reader->meta->n_nodes; i++)
    if (f->ids[i] == id) return true;
  return false;
}

static const bl_field *top_column(const bl_schema *s, int32_t id) {
  for (size_t i = 0; i < s->root.n_fields; i++)
    if (s->root.fields[i].id == id) return &s->root.fields[i];
  return NULL;
}

static bl_status look_for(const bl_foreign_env *env, bl_foreign_file *f, const bl_partition_field *pf, bl_buf *scratch,
                          bl_error *err) {
  bool identity = pf->transform.kind == BL_T_IDENTITY && pf->n_source_ids == 1;
  const bl_field *column = identity ? top_column(env->schema, pf->source_ids[0]) : NULL;
  if (!column || has_column(f, column->id)) return BL_OK;
  bl_str told = told_by(f->path, column->name, pf->name, scratch);
  if (told.p) {
    BL_TRY(value_of(env, f, column, told, scratch, &f->entry.partition[f->told.n_fields], err));
    f->told.fields[f->told.n_fields++] = *pf;
    f->entry.n_partition = f->told.n_fields;
  } else if (!column->initial_default && !column->required)
    bl_warn(env->t->ctx, "%s: column %.*s is null in all its rows: neither the file has it nor a folder %.*s=…",
            f->path.p, BL_STR_ARG(column->name), BL_STR_ARG(column->name));
  return BL_OK;
}

bl_status bl_foreign_path(const bl_foreign_env *env, bl_foreign_file *f, bl_error *err) {
  bl_buf scratch;
  size_t n = env->spec->n_fields;
  bl_status st = BL_OK;
  f->told = (bl_partition_spec){.id = env->spec->id, .fields = bl_arena_calloc(f->arena, n, sizeof *f->told.fields)};
  f->entry.partition = bl_arena_calloc(f->arena, n, sizeof *f->entry.partition);
  if (!f->told.fields || !f->entry.partition) return bl_nomem(err);
  bl_buf_init(&scratch, env->t->ctx, BL_BUF_MAX);
  if (!bl_buf_reserve(&scratch, f->path.n + 1)) st = bl_nomem(err); /* no folder is longer when it is decoded */
  for (size_t i = 0; st == BL_OK && i < n; i++) st = look_for(env, f, &env->spec->fields[i], &scratch, err);
  bl_buf_free(&scratch);
  return st;
}

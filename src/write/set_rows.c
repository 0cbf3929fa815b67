/* set_rows.c: see set_rows.h. New values are made for the meant rows alone, column by column, from the old batch; then
 * they are put in the place of the old ones. */
#include "write/set_rows.h"

#include "edge/arrow/arrow_edge.h"
#include "model/expr_lex.h"
#include "model/near.h"
#include "rows/arrow_build.h"
#include "write/set_expr.h"

enum { MAX_PATH = 64 };

typedef struct assignment {
  bl_str text;
  const bl_field *target;
  const char *name;       /* its path, as it was given: for messages */
  int32_t path[MAX_PATH]; /* child indexes from the batch down to it */
  size_t n_path;
  bl_set_node *value;                  /* as parsed, then bound */
  struct ArrowSchema type, batch_type; /* of the column; of a batch of it alone */
} assignment;

struct bl_setter {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_columns columns;        /* of the batches */
  size_t n_out;              /* those of them that come out */
  const bl_schema *meta;     /* bl_filter_meta_schema */
  struct ArrowSchema schema; /* of the batches */
  assignment *items;
  size_t n;
  int32_t updated_at; /* child index of _last_updated_sequence_number, -1: none */
};

/* ---- making ---- */

static bl_status alone(bl_ctx *ctx, const bl_field *f, struct ArrowSchema *out, bl_error *err) {
  bl_field own = *f;
  bl_type root = {.kind = BL_STRUCT, .fields = &own, .n_fields = 1};
  return bl_aschema_of_struct(ctx, &root, out, err);
}

static bool overlap(const assignment *a, const assignment *b) {
  size_t n = a->n_path < b->n_path ? a->n_path : b->n_path;
  return memcmp(a->path, b->path, n * sizeof *a->path) == 0;
}

static bl_status find_target(bl_setter *s, bl_str text, bl_str name, const bl_schema *schema, assignment *a,
                             bl_error *err) {
  a->target = bl_schema_find_name(schema, name);
  if (!a->target)
    return bl_expr_fail(err, text, 0, "column \"%s\": there is none of this name and case%s", name.p,
                        bl_near_field(&schema->root, NULL, name).hint);
  a->n_path = bl_columns_path(&s->columns.wanted, a->target->id, a->path, MAX_PATH);
  if (a->n_path == 0) return bl_expr_fail(err, text, 0, "column \"%s\": it is inside a list or map", name.p);
  for (const assignment *b = s->items; b < a; b++)
    if (overlap(a, b)) return bl_expr_fail(err, text, 0, "column \"%s\": it is set twice", name.p);
  return BL_OK;
}

/* Its columns are added; it is bound when all are known. */
static bl_status add_assignment(bl_setter *s, const char *set, bl_error *err) {
  assignment *a = &s->items[s->n];
  bl_str name;
  a->text = bl_arena_str(s->arena, bl_str_of(set));
  if (!a->text.p) return bl_nomem(err);
  BL_TRY(bl_set_parse(s->arena, a->text, &name, &a->value, err));
  BL_TRY(find_target(s, a->text, name, s->columns.schema, a, err));
  a->name = name.p;
  BL_TRY(bl_set_columns(&s->columns, a->value, s->meta, err));
  s->n++;
  return BL_OK;
}

static bl_status bind_assignment(bl_setter *s, assignment *a, bl_error *err) {
  const bl_set_names names = {s->columns.schema, s->meta, &s->columns.wanted};
  BL_TRY(bl_set_bind(s->arena, a->text, a->value, &names, &a->target->type, &a->value, err));
  BL_TRY(bl_aschema_of_field(s->ctx, a->target, &a->type, err));
  return alone(s->ctx, a->target, &a->batch_type, err);
}

static bl_status name_set(bl_status st, size_t i, bl_error *err) {
  return st == BL_USAGE ? bl_fail_in(err, st, "set %zu", i + 1) : st;
}

static bl_status make(bl_setter *s, const char *const *set, size_t n, bl_error *err) {
  BL_TRY(bl_arena_new(s->ctx, &s->arena, err));
  s->columns.a = s->arena;
  BL_TRY(bl_filter_meta_schema(s->arena, s->columns.md, &s->meta, err));
  s->items = bl_arena_calloc(s->arena, n, sizeof *s->items);
  if (!s->items) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) BL_TRY(name_set(add_assignment(s, set[i], err), i, err));
  for (size_t i = 0; i < n; i++) BL_TRY(name_set(bind_assignment(s, &s->items[i], err), i, err));
  return bl_aschema_of_struct(s->ctx, &s->columns.wanted, &s->schema, err);
}

bl_status bl_setter_new(bl_ctx *ctx, const char *const *set, size_t n, const bl_columns *columns, bl_setter **out,
                        bl_error *err) {
  *out = NULL;
  if (n == 0) return bl_fail(err, BL_USAGE, "update: no column is set");
  bl_setter *s = bl_calloc(ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  s->ctx = ctx;
  s->columns = *columns;
  s->n_out = columns->wanted.n_fields;
  s->updated_at = -1;
  for (size_t i = 0; i < s->n_out; i++)
    if (columns->wanted.fields[i].id == BL_ID_LAST_UPDATED) s->updated_at = (int32_t)i;
  bl_status st = make(s, set, n, err);
  if (st == BL_OK) *out = s;
  else bl_setter_free(s);
  return st;
}

const bl_type *bl_setter_wanted(const bl_setter *s) {
  return &s->columns.wanted;
}

bool bl_setter_touches(const bl_setter *s, int32_t field_id) {
  for (size_t i = 0; i < s->n; i++) {
    const bl_schema inside = {.root = s->items[i].target->type};
    if (s->items[i].target->id == field_id || bl_schema_find(&inside, field_id)) return true;
  }
  return false;
}

void bl_setter_free(bl_setter *s) {
  if (!s) return;
  for (size_t i = 0; i < s->n; i++) {
    bl_aschema_release(&s->items[i].type);
    bl_aschema_release(&s->items[i].batch_type);
  }
  bl_aschema_release(&s->schema);
  bl_arena_free(s->arena);
  bl_free(s->ctx, s);
}

/* ---- batches ---- */

typedef struct work {
  const bl_setter *s;
  bl_touch_rows *rows;
  bl_arena *scratch;
  bl_view *view;  /* of the old batch */
  int64_t *meant; /* rows, ascending */
  int64_t n_meant;
} work;

static bl_status name_row(const work *w, const assignment *a, int64_t i, bl_status st, bl_error *err) {
  const char *path = w->rows->file->file->data->file.path.p;
  const bl_view *id = w->s->updated_at > 0 ? &w->view->children[w->s->updated_at - 1] : NULL;
  if (!id || bl_view_null(id, i))
    return bl_fail_in(err, st, "column %s: row %lld of %s", a->name, (long long)w->rows->positions[i], path);
  return bl_fail_in(err, st, "column %s: row %lld of %s, _row_id %lld", a->name, (long long)w->rows->positions[i], path,
                    (long long)bl_view_i64(id, i));
}

/* An array as a batch of one column. */
static bl_status wrap(bl_ctx *ctx, struct ArrowArray *column, int64_t n, struct ArrowArray *out, bl_error *err) {
  bl_status st = bl_array_new(ctx, n, 1, 1, out, err);
  if (st != BL_OK) return st;
  column->length = n;
  if (column->null_count != 0) column->null_count = -1;
  bl_array_move(column, out->children[0]);
  return BL_OK;
}

/* A second hold on an array that lives on: its release does nothing. */
static void release_nothing(struct ArrowArray *a) {
  a->release = NULL;
}

static struct ArrowArray lend(const struct ArrowArray *a) {
  struct ArrowArray b = *a;
  b.release = release_nothing;
  return b;
}

/* The rows of a column by index. column is consumed. */
static bl_status take_rows(bl_ctx *ctx, const struct ArrowSchema *batch_type, struct ArrowArray *column, int64_t length,
                           const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) {
  struct ArrowArray whole = {0}, taken = {0};
  bl_status st = wrap(ctx, column, length, &whole, err);
  if (st != BL_OK) return st;
  BL_TRY(bl_arrow_take(&whole, batch_type, rows, n, &taken, err));
  bl_array_move(taken.children[0], out);
  bl_array_release(&taken);
  return BL_OK;
}

/* The whole value of another column. */
static bl_status copy_values(const work *w, const assignment *a, struct ArrowArray *out, bl_error *err) {
  const struct ArrowArray *from = &w->rows->batch;
  struct ArrowSchema type;
  for (size_t i = 0; i < a->value->n_path; i++) from = from->children[a->value->path[i]];
  struct ArrowArray column = lend(from);
  if (a->value->n_path > 1)
    return bl_fail(err, BL_UNSUPPORTED, "column %s: a nested value is copied from a top-level column only", a->name);
  BL_TRY(alone(w->s->ctx, a->value->field, &type, err));
  bl_status st = take_rows(w->s->ctx, &type, &column, w->rows->batch.length, w->meant, w->n_meant, out, err);
  bl_aschema_release(&type);
  if (st == BL_OK && a->target->required)
    for (int64_t i = 0; st == BL_OK && i < w->n_meant; i++)
      if (!bl_array_valid(out, i))
        st = name_row(w, a, w->meant[i], bl_fail(err, BL_USAGE, "null, but the column is required"), err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static bl_status compute_value(const work *w, const assignment *a, bl_builder *b, int64_t row, bl_error *err) {
  bl_value v;
  BL_TRY(bl_set_eval(a->value, w->view, row, w->scratch, &v, err));
  if (v.null && a->target->required) return bl_fail(err, BL_USAGE, "null, but the column is required");
  return v.null ? bl_builder_null(b, err) : bl_builder_value(b, &v, 1, err);
}

static bl_status compute_values(const work *w, const assignment *a, struct ArrowArray *out, bl_error *err) {
  bl_builder *b;
  bool nested = bl_kind_is_nested(a->target->type.kind) || a->target->type.kind == BL_VARIANT;
  bool null = a->value->op == BL_S_LITERAL && a->value->value.null;
  if (nested && !null) return copy_values(w, a, out, err);
  if (nested && !a->target->required) return bl_array_nulls(w->s->ctx, &a->target->type, w->n_meant, out, err);
  BL_TRY(bl_builder_new(w->s->ctx, &a->type, &b, err));
  bl_status st = BL_OK;
  for (int64_t i = 0; st == BL_OK && i < w->n_meant; i++) {
    st = compute_value(w, a, b, w->meant[i], err);
    if (st != BL_OK && st != BL_NOMEM) name_row(w, a, w->meant[i], st, err);
  }
  if (st == BL_OK) st = bl_builder_finish(b, out, err);
  bl_builder_free(b);
  return st;
}

/* Rows of one array and, by higher indexes, of another. Both are consumed. */
static bl_status pick(bl_ctx *ctx, const struct ArrowSchema *batch_type, struct ArrowArray *first, int64_t n,
                      struct ArrowArray *second, int64_t n_second, const int64_t *from, struct ArrowArray *out,
                      bl_error *err) {
  struct ArrowArray parts[2] = {{0}}, whole = {0}, taken = {0};
  bl_status st;
  BL_GO(wrap(ctx, first, n, &parts[0], err));
  BL_GO(wrap(ctx, second, n_second, &parts[1], err));
  BL_GO(bl_arrow_concat(parts, 2, batch_type, &whole, err));
  BL_GO(bl_arrow_take(&whole, batch_type, from, n, &taken, err));
  bl_array_move(taken.children[0], out);
done:
  bl_array_release(&taken);
  bl_array_release(&parts[0]);
  bl_array_release(&parts[1]);
  return st;
}

/* The old values but in the meant rows, where the new ones are. Both are consumed. */
static bl_status merge(const work *w, const assignment *a, struct ArrowArray *old, struct ArrowArray *new_values,
                       struct ArrowArray *out, bl_error *err) {
  int64_t n = w->rows->batch.length, k = 0, *from = bl_alloc(w->s->ctx, (size_t)n + 1, sizeof *from);
  if (!from) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++) from[i] = k < w->n_meant && w->meant[k] == i ? n + k++ : i;
  bl_status st = pick(w->s->ctx, &a->batch_type, old, n, new_values, w->n_meant, from, out, err);
  bl_free(w->s->ctx, from);
  return st;
}

/* A struct column whose fields will be replaced: copied, so that rows of its fields are its own rows. */
static bl_status settle(const work *w, struct ArrowArray *column, const bl_field *f, bl_error *err) {
  struct ArrowSchema type;
  int64_t n = w->rows->batch.length;
  int64_t *all = bl_alloc(w->s->ctx, (size_t)n + 1, sizeof *all);
  struct ArrowArray old, settled;
  if (!all) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++) all[i] = i;
  bl_status st = alone(w->s->ctx, f, &type, err);
  if (st == BL_OK) {
    bl_array_move(column, &old);
    st = take_rows(w->s->ctx, &type, &old, n, all, n, &settled, err);
    bl_array_release(&old);
    bl_aschema_release(&type);
    if (st == BL_OK) bl_array_move(&settled, column);
  }
  bl_free(w->s->ctx, all);
  return st;
}

/* ---- null structs around the target: they become structs of nulls, as in Spark ---- */

/* Is field c of the struct that the target's path reaches after k steps set, or something in it? */
static bool is_set(const bl_setter *s, const assignment *a, size_t k, int32_t c) {
  for (const assignment *b = s->items; b < s->items + s->n; b++)
    if (b->n_path > k && b->path[k] == c && memcmp(b->path, a->path, k * sizeof *a->path) == 0) return true;
  return false;
}

/* from[i]: i, or, where the struct is null and meant, the row behind them all. *first: the first such row, -1. */
static void list_null(const work *w, const struct ArrowArray *at, int64_t *from, int64_t *first) {
  int64_t n = w->rows->batch.length;
  *first = -1;
  for (int64_t i = 0; i < n; i++) from[i] = i;
  for (int64_t i = w->n_meant - 1; i >= 0; i--) {
    if (bl_array_valid(at, w->meant[i])) continue;
    from[w->meant[i]] = n;
    *first = w->meant[i];
  }
}

static bl_status null_values(const work *w, const bl_field *f, const int64_t *from, struct ArrowArray *column,
                             bl_error *err) {
  struct ArrowArray old, null, out;
  struct ArrowSchema type;
  BL_TRY(alone(w->s->ctx, f, &type, err));
  bl_status st = bl_array_nulls(w->s->ctx, &f->type, 1, &null, err);
  if (st == BL_OK) {
    bl_array_move(column, &old);
    st = pick(w->s->ctx, &type, &old, w->rows->batch.length, &null, 1, from, &out, err);
    bl_array_release(&old);
    bl_array_release(&null);
    if (st == BL_OK) bl_array_move(&out, column);
  }
  bl_aschema_release(&type);
  return st;
}

/* The struct with the rows of `from` that are not its own made valid. */
static bl_status make_valid(const work *w, const int64_t *from, struct ArrowArray *at, bl_error *err) {
  int64_t n = w->rows->batch.length, nulls = 0;
  struct ArrowArray out;
  BL_TRY(bl_array_new(w->s->ctx, n, 1, at->n_children, &out, err));
  uint8_t *bits = bl_array_buffer(&out, 0, ((size_t)n + 7) / 8);
  if (!bits) {
    bl_array_release(&out);
    return bl_nomem(err);
  }
  memset(bits, 0, ((size_t)n + 7) / 8);
  for (int64_t i = 0; i < n; i++) {
    if (from[i] == n || bl_array_valid(at, i)) bl_bit_set(bits, i);
    else nulls++;
  }
  out.null_count = nulls;
  for (int64_t c = 0; c < at->n_children; c++) bl_array_move(at->children[c], out.children[c]);
  bl_array_release(at);
  bl_array_move(&out, at);
  return BL_OK;
}

/* Its other fields become null there, but for those that other assignments have filled or are going to. */
static bl_status fill_struct(const work *w, const assignment *a, size_t k, const bl_type *type, struct ArrowArray *at,
                             bl_error *err) {
  int64_t first, *from = bl_alloc(w->s->ctx, (size_t)w->rows->batch.length + 1, sizeof *from);
  bl_status st = BL_OK;
  if (!from) return bl_nomem(err);
  list_null(w, at, from, &first);
  for (size_t c = 0; first >= 0 && st == BL_OK && c < type->n_fields; c++) {
    const bl_field *f = &type->fields[c];
    if (!f->required || is_set(w->s, a, k, (int32_t)c)) continue;
    st = bl_fail(err, BL_USAGE, "the struct around it is null, and its field %s must have a value", f->name.p);
    st = name_row(w, a, first, st, err);
  }
  for (size_t c = 0; first >= 0 && st == BL_OK && c < type->n_fields; c++)
    if ((int32_t)c != a->path[k] || k + 1 < a->n_path)
      st = null_values(w, &type->fields[c], from, at->children[c], err);
  if (first >= 0 && st == BL_OK) st = make_valid(w, from, at, err);
  bl_free(w->s->ctx, from);
  return st;
}

/* The place of the target in the batch; its structs are not null where it is set. */
static bl_status find_place(const work *w, const assignment *a, struct ArrowArray **out, bl_error *err) {
  const bl_field *f = &w->s->columns.wanted.fields[a->path[0]];
  struct ArrowArray *at = w->rows->batch.children[a->path[0]];
  if (a->n_path > 1) BL_TRY(settle(w, at, f, err));
  for (size_t k = 1; k < a->n_path; k++) {
    BL_TRY(fill_struct(w, a, k, &f->type, at, err));
    f = &f->type.fields[a->path[k]];
    at = at->children[a->path[k]];
  }
  *out = at;
  return BL_OK;
}

static bl_status put(const work *w, const assignment *a, struct ArrowArray *values, bl_error *err) {
  struct ArrowArray *place = NULL, merged = {0};
  BL_TRY(find_place(w, a, &place, err));
  if (w->n_meant < w->rows->batch.length) {
    struct ArrowArray old;
    bl_array_move(place, &old);
    bl_status st = merge(w, a, &old, values, &merged, err);
    bl_array_release(&old);
    if (st != BL_OK) return st;
    bl_array_move(&merged, place);
    return BL_OK;
  }
  bl_array_release(place);
  bl_array_move(values, place);
  return BL_OK;
}

static bl_status clear_last_updated(const work *w, bl_error *err) {
  int64_t n = w->rows->batch.length, k = 0;
  struct ArrowArray column;
  if (w->s->updated_at < 0) return BL_OK;
  const bl_view *old = &w->view->children[w->s->updated_at];
  int64_t *v = bl_calloc(w->s->ctx, (size_t)n + 1, sizeof *v);
  uint8_t *valid = bl_calloc(w->s->ctx, (size_t)n + 1, 1);
  bl_status st = v && valid ? BL_OK : bl_nomem(err);
  for (int64_t i = 0; st == BL_OK && i < n; i++) {
    if (k < w->n_meant && w->meant[k] == i) k++;
    else if ((valid[i] = !bl_view_null(old, i))) v[i] = bl_view_i64(old, i);
  }
  if (st == BL_OK) st = bl_array_longs(w->s->ctx, v, valid, n, &column, err);
  if (st == BL_OK) {
    bl_array_release(w->rows->batch.children[w->s->updated_at]);
    bl_array_move(&column, w->rows->batch.children[w->s->updated_at]);
  }
  bl_free(w->s->ctx, v);
  bl_free(w->s->ctx, valid);
  return st;
}

static bl_status list_meant(work *w, bl_error *err) {
  const uint8_t *found = w->rows->found;
  int64_t n = w->rows->batch.length;
  w->meant = bl_alloc(w->s->ctx, (size_t)n + 1, sizeof *w->meant);
  if (!w->meant) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++)
    if (!found || found[i]) w->meant[w->n_meant++] = i;
  return BL_OK;
}

/* All columns are computed before the first is replaced: expressions see old values. */
static bl_status set_all(work *w, struct ArrowArray *values, bl_error *err) {
  const bl_setter *s = w->s;
  BL_TRY(bl_view_new(s->ctx, &s->schema, &w->view, err));
  BL_TRY(bl_view_set(w->view, &w->rows->batch, err));
  for (size_t i = 0; i < s->n; i++) BL_TRY(compute_values(w, &s->items[i], &values[i], err));
  BL_TRY(clear_last_updated(w, err));
  for (size_t i = 0; i < s->n; i++) BL_TRY(put(w, &s->items[i], &values[i], err));
  return BL_OK;
}

/* Without the columns that were read for the expressions alone. batch is consumed. */
static bl_status give(const bl_setter *s, struct ArrowArray *batch, struct ArrowArray *out, bl_error *err) {
  if ((int64_t)s->n_out == batch->n_children) {
    bl_array_move(batch, out);
    return BL_OK;
  }
  BL_TRY(bl_array_new(s->ctx, batch->length, 1, (int64_t)s->n_out, out, err));
  for (size_t i = 0; i < s->n_out; i++) bl_array_move(batch->children[i], out->children[i]);
  return BL_OK;
}

bl_status bl_setter_apply(const bl_setter *s, bl_touch_rows *rows, struct ArrowArray *out, bl_error *err) {
  work w = {.s = s, .rows = rows};
  struct ArrowArray *values = bl_calloc(s->ctx, s->n + 1, sizeof *values);
  bl_status st = values ? BL_OK : bl_nomem(err);
  bl_array_cut_columns(&rows->batch);
  if (st == BL_OK) st = bl_arena_new(s->ctx, &w.scratch, err);
  if (st == BL_OK) st = list_meant(&w, err);
  if (st == BL_OK && w.n_meant > 0) st = set_all(&w, values, err);
  for (size_t i = 0; values && i < s->n; i++) bl_array_release(&values[i]);
  if (st == BL_OK) st = give(s, &rows->batch, out, err);
  bl_array_release(&rows->batch);
  bl_view_free(w.view);
  bl_arena_free(w.scratch);
  bl_free(s->ctx, w.meant);
  bl_free(s->ctx, values);
  return st;
}

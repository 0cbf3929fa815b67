/* source.c: see source.h. A batch that is held has the schema's columns, then those that only delete_when or last_wins
 * name, or (in_order) what the row lacks, then the row's number and whether it deletes. */
#include "write/source.h"

#include <stdlib.h>

#include "edge/arrow/arrow_edge.h"
#include "model/expr_lex.h"
#include "model/near.h"
#include "rows/arrow_share.h"
#include "rows/stream.h"
#include "scan/columns.h"
#include "scan/predicate.h"
#include "write/input.h"
#include "write/row_sorter.h"
#include "write/telling.h"

enum {
  GROUPS = 256,                                 /* of hashes, in temporary files */
  MOST_LISTED = 1000,                           /* keys that are listed one by one in the filter */
  FIRST_OWN_ID = BL_ID_FIRST_RESERVED - 100000, /* of columns that are not the table's */
};
static const int64_t MOST_HELD = INT64_C(1) << 30; /* a column of strings must stay below 2 GiB */

typedef struct key_bounds {
  bool any, nan;
  bl_value least, greatest;
} key_bounds;

struct bl_source {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_source_options o;
  const bl_metadata *md;
  bl_columns key_columns;
  const bl_field **key;
  key_bounds *bounds;
  uint64_t seed;
  bool *given;
  const bl_field *lacking; /* a column that rows that are new need; NULL: none */

  bool prepared;
  bl_schema incoming; /* the schema's columns and those besides */
  bl_type held;       /* those, number and deletes */
  bl_type columns;    /* the schema's alone */
  struct ArrowSchema held_schema, columns_schema;
  int64_t *first_columns; /* 0, 1, … of the schema's */
  bl_expr *when;
  bl_predicate *predicate;
  const bl_field *wins;

  int64_t n_rows;
  int64_t surplus; /* rows put of the number and key of another */
  struct ArrowArray *batches;
  size_t n_batches, cap_batches;
  int64_t bytes, budget;
  bl_view *view;         /* of what is held */
  bl_row_sorter *sorter; /* NULL: all in memory */
  bool begun;            /* the sorter's rows have been read, or some of them */
  bool spent;            /* all in memory: its one pass has come */

  /* the pass */
  struct ArrowArray pending; /* first batch of the next pass */
  uint32_t pending_group, from_group, to_group;
  bl_shared *rows;
  bl_view *pass_view;
  int64_t n;
  bl_hash128 *hashes;
  uint8_t *states, *initial; /* of rows, now and at first */
  bl_telling telling;        /* in_order */
  uint32_t *slots;           /* row + 1 */
  size_t mask;
  uint8_t *seen;   /* eight bits a slot: those of keys are set, so that most other keys are told apart by one look */
  bool short_keys; /* by the number itself, not by its hash */
};

/* ---- keys ---- */

bl_status bl_key_reader_init(bl_key_reader *k, const bl_source *s, const bl_view *root, const bl_type *type,
                             bl_error *err) {
  bl_schema of = {.root = *type};
  *k = (bl_key_reader){.n = s->o.n_key, .seed = s->seed};
  bl_buf_init(&k->bytes, s->ctx, BL_BUF_MAX);
  k->columns = bl_alloc(s->ctx, k->n, sizeof *k->columns);
  if (!k->columns) return bl_nomem(err);
  for (size_t i = 0; i < k->n; i++)
    if (!bl_row_source_find(root, &of, s->key[i]->id, &k->columns[i]))
      return bl_fail(err, BL_USAGE, "%s: key column %s: it is not there", s->o.verb, s->key[i]->name.p);
  return BL_OK;
}

void bl_key_reader_dispose(bl_key_reader *k) {
  if (!k->bytes.ctx) return;
  bl_free(k->bytes.ctx, k->columns);
  bl_buf_free(&k->bytes);
}

bl_status bl_key_reader_hash(bl_key_reader *k, int64_t i, bl_hash128 *out, bool *null, bl_error *err) {
  bl_buf_clear(&k->bytes);
  *null = false;
  for (size_t c = 0; c < k->n; c++) {
    const bl_row_source *s = &k->columns[c];
    for (size_t d = 0; d < s->n; d++) *null = *null || bl_view_null(s->path[d], i);
    if (*null) return BL_OK;
    bl_key_add(&k->bytes, s->path[s->n - 1], i);
  }
  BL_TRY(bl_buf_ok(&k->bytes, err));
  *out = bl_key_hash(k->bytes.p, k->bytes.n, k->seed);
  return BL_OK;
}

static uint32_t group_of(bl_hash128 h) {
  return (uint32_t)(h.hi >> 56); /* GROUPS of them */
}

/* What messages about its rows begin with. */
static const char *name_of(const bl_source *s) {
  return s->o.name ? s->o.name : s->o.verb;
}

/* ---- making ---- */

static bl_status find_key(bl_source *s, bl_error *err) {
  bl_columns_init(&s->key_columns, s->arena, s->md, s->o.schema);
  s->key = bl_arena_alloc(s->arena, s->o.n_key, sizeof *s->key);
  s->bounds = bl_arena_calloc(s->arena, s->o.n_key, sizeof *s->bounds);
  if (!s->key || !s->bounds) return bl_nomem(err);
  for (size_t i = 0; i < s->o.n_key; i++) {
    const char *name = s->o.key[i];
    const bl_field *f = s->key[i] = bl_schema_find_name(s->o.schema, bl_str_of(name));
    if (!f)
      return bl_fail(err, BL_USAGE, "%s: key column %s: the table has no such column%s", s->o.verb, name,
                     bl_near_field(&s->o.schema->root, NULL, bl_str_of(name)).hint);
    if (bl_kind_is_nested(f->type.kind) || f->type.kind >= BL_KIND_UNKNOWN)
      return bl_fail(err, BL_USAGE, "%s: key column %s: a %s is no key", s->o.verb, name, bl_kind_name(f->type.kind));
    for (size_t k = 0; k < i; k++)
      if (s->key[k] == f) return bl_fail(err, BL_USAGE, "%s: key column %s: it is named twice", s->o.verb, name);
    BL_TRY(bl_columns_add_id(&s->key_columns, f->id, err));
    int32_t path[64];
    if (bl_columns_path(&s->key_columns.wanted, f->id, path, 64) == 0)
      return bl_fail(err, BL_USAGE, "%s: key column %s: it is inside a list or map", s->o.verb, name);
  }
  return BL_OK;
}

bl_status bl_source_new(bl_table *t, const bl_source_options *o, bl_source **out, bl_error *err) {
  *out = NULL;
  if (o->n_key == 0) return bl_fail(err, BL_USAGE, "%s: no key column is named", o->verb);
  bl_source *s = bl_calloc(t->ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  s->ctx = t->ctx;
  s->o = *o;
  s->md = t->metadata;
  s->budget = t->ctx->o.memory_budget / 2 < MOST_HELD ? t->ctx->o.memory_budget / 2 : MOST_HELD;
  bl_random(t->ctx, &s->seed, sizeof s->seed);
  bl_status st = bl_arena_new(t->ctx, &s->arena, err);
  if (st == BL_OK) st = find_key(s, err);
  if (st == BL_OK) {
    s->given = bl_arena_calloc(s->arena, o->schema->root.n_fields + 1, sizeof *s->given);
    if (!s->given) st = bl_nomem(err);
  }
  if (st == BL_OK) *out = s;
  else bl_source_free(s);
  return st;
}

static void free_pass(bl_source *s) {
  bl_view_free(s->pass_view);
  bl_shared_unref(s->rows);
  bl_free(s->ctx, s->hashes);
  bl_free(s->ctx, s->states);
  bl_free(s->ctx, s->initial);
  bl_telling_dispose(&s->telling);
  bl_free(s->ctx, s->slots);
  bl_free(s->ctx, s->seen);
  s->pass_view = NULL;
  s->rows = NULL;
  s->hashes = NULL;
  s->states = s->initial = NULL;
  s->slots = NULL;
  s->seen = NULL;
  s->n = 0;
}

static void drop_batches(bl_source *s) {
  for (size_t i = 0; i < s->n_batches; i++) bl_array_release(&s->batches[i]);
  s->n_batches = 0;
}

void bl_source_free(bl_source *s) {
  if (!s) return;
  free_pass(s);
  bl_array_release(&s->pending);
  drop_batches(s);
  bl_free(s->ctx, s->batches);
  bl_row_sorter_free(s->sorter);
  bl_view_free(s->view);
  bl_predicate_free(s->predicate);
  bl_aschema_release(&s->held_schema);
  bl_aschema_release(&s->columns_schema);
  bl_arena_free(s->arena);
  bl_free(s->ctx, s);
}

/* ---- columns besides the table's ---- */

/* The type that a foreign column is read as; false: none that a predicate could compare. */
static bool type_of_format(const struct ArrowSchema *c, bl_type *out) {
  const char *f = c->dictionary ? c->dictionary->format : c->format;
  bool zone = strncmp(f, "ts", 2) == 0 && strlen(f) > 4;
  *out = (bl_type){.kind = BL_KIND_UNKNOWN};
  if (strlen(f) == 1) {
    if (strchr("cCsSi", f[0])) out->kind = BL_INT;
    else if (strchr("lIL", f[0])) out->kind = BL_LONG;
    else if (f[0] == 'b') out->kind = BL_BOOLEAN;
    else if (f[0] == 'f' || f[0] == 'e') out->kind = BL_FLOAT;
    else if (f[0] == 'g') out->kind = BL_DOUBLE;
    else if (strchr("uU", f[0])) out->kind = BL_STRING;
    else if (strchr("zZ", f[0])) out->kind = BL_BINARY;
  } else if (strcmp(f, "vu") == 0) out->kind = BL_STRING;
  else if (strcmp(f, "tdD") == 0 || strcmp(f, "tdm") == 0) out->kind = BL_DATE;
  else if (strncmp(f, "tsn", 3) == 0) out->kind = zone ? BL_TIMESTAMPTZ_NS : BL_TIMESTAMP_NS;
  else if (strncmp(f, "ts", 2) == 0) out->kind = zone ? BL_TIMESTAMPTZ : BL_TIMESTAMP;
  else if (strncmp(f, "tt", 2) == 0) out->kind = BL_TIME;
  return out->kind != BL_KIND_UNKNOWN;
}

static const bl_field *field_named(const bl_type *t, bl_str name) {
  for (size_t i = 0; i < t->n_fields; i++)
    if (bl_str_eq(t->fields[i].name, name)) return &t->fields[i];
  return NULL;
}

/* A column that the table lacks: of the stream, where it is there. */
static bl_status add_besides(bl_source *s, const struct ArrowSchema *in, bl_str name, bl_error *err) {
  bl_field *f = &s->incoming.root.fields[s->incoming.root.n_fields];
  bl_schema now = {.root = s->incoming.root};
  if (!name.p || bl_schema_find_name(&now, name)) return BL_OK;
  for (int64_t i = 0; in && i < in->n_children; i++) {
    if (!bl_str_is(name, in->children[i]->name ? in->children[i]->name : "")) continue;
    *f = (bl_field){.id = FIRST_OWN_ID + (int32_t)i, .name = bl_arena_str(s->arena, name)};
    if (!f->name.p) return bl_nomem(err);
    if (!type_of_format(in->children[i], &f->type))
      return bl_fail(err, BL_USAGE, "%s: column %s: its type cannot be compared", s->o.verb, f->name.p);
    s->incoming.root.n_fields++;
    return BL_OK;
  }
  return BL_OK; /* binding names it */
}

static bl_status add_named(bl_source *s, const struct ArrowSchema *in, const bl_expr *e, bl_error *err) {
  for (size_t i = 0; i < e->n_args; i++) BL_TRY(add_named(s, in, e->args[i], err));
  BL_TRY(add_besides(s, in, e->column, err));
  return add_besides(s, in, e->column2, err);
}

static bool is_meta(const bl_source *s, const bl_schema *meta, bl_str name) {
  const bl_schema now = {.root = s->incoming.root};
  return name.p && !bl_schema_find_name(&now, name) && bl_filter_meta_find(meta, name);
}

/* Where a row lies, and what id it has, is known of the table's rows alone. */
static bl_status refuse_meta(const bl_source *s, const bl_schema *meta, const bl_expr *e, bl_error *err) {
  for (size_t i = 0; i < e->n_args; i++) BL_TRY(refuse_meta(s, meta, e->args[i], err));
  bool first = is_meta(s, meta, e->column);
  if (!first && !is_meta(s, meta, e->column2)) return BL_OK;
  return bl_expr_fail(err, bl_str_of(s->o.delete_when), first ? e->at : e->at2,
                      "column \"%s\": the table's rows have it, but those that come in do not",
                      first ? e->column.p : e->column2.p);
}

static size_t count_names(const bl_expr *e) {
  size_t n = 2;
  for (size_t i = 0; i < e->n_args; i++) n += count_names(e->args[i]);
  return n;
}

static bl_status bind_rules(bl_source *s, const bl_expr *parsed, bl_error *err) {
  if (parsed) {
    const bl_schema *meta;
    BL_TRY(bl_filter_meta_schema(s->arena, s->md, &meta, err));
    BL_TRY(refuse_meta(s, meta, parsed, err));
    BL_TRY(bl_expr_bind(s->arena, parsed, &s->incoming, NULL, &s->when, err));
    BL_TRY(bl_predicate_new(s->ctx, s->when, &s->incoming.root, &s->predicate, err));
  }
  if (!s->o.last_wins) return BL_OK;
  s->wins = field_named(&s->incoming.root, bl_str_of(s->o.last_wins));
  if (!s->wins) return bl_fail(err, BL_USAGE, "%s: column %s: there is none", s->o.verb, s->o.last_wins);
  if (bl_kind_is_nested(s->wins->type.kind) || s->wins->type.kind >= BL_KIND_UNKNOWN)
    return bl_fail(err, BL_USAGE, "%s: column %s: a %s has no order", s->o.verb, s->o.last_wins,
                   bl_kind_name(s->wins->type.kind));
  return BL_OK;
}

/* Types of what comes in and what is held. in NULL: the schema's columns. */
static bl_status make_types(bl_source *s, const struct ArrowSchema *in, const bl_expr *parsed, bl_error *err) {
  const bl_type *root = &s->o.schema->root;
  size_t n = root->n_fields, most = n + (parsed ? count_names(parsed) : 0) + 2;
  bl_field *fields = bl_arena_calloc(s->arena, most + 2, sizeof *fields);
  s->first_columns = bl_arena_alloc(s->arena, n + 1, sizeof *s->first_columns);
  if (!fields || !s->first_columns) return bl_nomem(err);
  memcpy(fields, root->fields, n * sizeof *fields);
  for (size_t i = 0; i < n; i++) s->first_columns[i] = (int64_t)i;
  s->columns = *root;
  s->incoming = *s->o.schema;
  s->incoming.root.fields = fields;
  if (parsed) BL_TRY(add_named(s, in, parsed, err));
  BL_TRY(add_besides(s, in, bl_str_of(s->o.last_wins), err));
  if (s->o.in_order)
    fields[s->incoming.root.n_fields++] =
        (bl_field){.id = FIRST_OWN_ID - 3, .name = BL_STR("lacks"), .type.kind = BL_BINARY};
  size_t k = s->incoming.root.n_fields;
  fields[k] = (bl_field){.id = FIRST_OWN_ID - 1, .name = BL_STR("number"), .required = true, .type.kind = BL_LONG};
  fields[k + 1] =
      (bl_field){.id = FIRST_OWN_ID - 2, .name = BL_STR("deletes"), .required = true, .type.kind = BL_BOOLEAN};
  s->held = s->incoming.root;
  s->held.n_fields = k + 2;
  return BL_OK;
}

static int64_t number_of(const bl_source *s, int64_t row) {
  return bl_view_i64(&s->pass_view->children[s->held.n_fields - 2], row);
}

/* Rows that are there keep their values of what does not come: only new ones need all that is required. */
static void allow_lacking(bl_source *s) {
  bl_field *fields = s->incoming.root.fields;
  for (size_t i = 0; i < s->o.schema->root.n_fields; i++) {
    bool filled = fields[i].write_default && !fields[i].write_default->null;
    if (s->given[i] || !fields[i].required || filled) continue;
    fields[i].required = false;
    if (!s->lacking) s->lacking = &s->o.schema->root.fields[i];
  }
  s->columns.fields = fields;
}

static bl_status prepare(bl_source *s, const struct ArrowSchema *in, bl_error *err) {
  bl_expr *parsed = NULL;
  if (s->prepared) return BL_OK;
  if (s->o.delete_when) {
    bl_str text = bl_arena_str(s->arena, bl_str_of(s->o.delete_when)); /* the tree points into it */
    if (!text.p) return bl_nomem(err);
    BL_TRY(bl_expr_parse(s->arena, text, &parsed, err));
  }
  BL_TRY(make_types(s, in, parsed, err));
  for (size_t i = 0; i < s->o.schema->root.n_fields; i++) {
    s->given[i] = !in;
    for (int64_t k = 0; in && k < in->n_children; k++)
      if (in->children[k]->name && bl_str_is(s->o.schema->root.fields[i].name, in->children[k]->name))
        s->given[i] = true;
  }
  for (size_t c = 0; c < s->o.n_key; c++) {
    int32_t path[64];
    (void)!bl_columns_path(&s->o.schema->root, s->key[c]->id, path, 64); /* found when it was chosen */
    if (!s->given[path[0]])
      return bl_fail(err, BL_USAGE, "%s: key column %s: the input lacks it", name_of(s), s->key[c]->name.p);
  }
  allow_lacking(s);
  BL_TRY(bind_rules(s, parsed, err));
  BL_TRY(bl_aschema_of_struct(s->ctx, &s->held, &s->held_schema, err));
  BL_TRY(bl_aschema_of_struct(s->ctx, &s->columns, &s->columns_schema, err));
  BL_TRY(bl_view_new(s->ctx, &s->held_schema, &s->view, err));
  s->prepared = true;
  return BL_OK;
}

/* ---- rows come in ---- */

static bl_status number_rows(bl_source *s, int64_t n, const int64_t *ranks, struct ArrowArray *out, bl_error *err) {
  BL_TRY(bl_array_new(s->ctx, n, 2, 0, out, err));
  int64_t *v = bl_array_buffer(out, 1, (size_t)n * 8);
  if (!v) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++) v[i] = ranks ? ranks[i] : s->n_rows + i;
  return BL_OK;
}

static bl_status mark_deletes(bl_source *s, int64_t n, const uint8_t *deletes, struct ArrowArray *out, bl_error *err) {
  size_t bytes = (size_t)(n + 7) / 8;
  BL_TRY(bl_array_new(s->ctx, n, 2, 0, out, err));
  uint8_t *bits = bl_array_buffer(out, 1, bytes + 1);
  if (!bits) return bl_nomem(err);
  memset(bits, 0, bytes + 1);
  for (int64_t i = 0; deletes && i < n; i++)
    if (deletes[i]) bl_bit_set(bits, i);
  return BL_OK;
}

/* in (consumed): the incoming columns. */
static bl_status make_held(bl_source *s, struct ArrowArray *in, const uint8_t *deletes, const int64_t *ranks,
                           struct ArrowArray *out, bl_error *err) {
  size_t k = s->incoming.root.n_fields;
  int64_t n = in->length;
  bl_array_cut_columns(in);
  bl_status st = bl_array_new(s->ctx, n, 1, (int64_t)k + 2, out, err);
  for (size_t i = 0; st == BL_OK && i < k; i++) {
    if (i < (size_t)in->n_children) bl_array_move(in->children[i], out->children[i]);
    else st = bl_array_nulls(s->ctx, &s->incoming.root.fields[i].type, n, out->children[i], err); /* lacks nothing */
  }
  bl_array_release(in);
  if (st == BL_OK) st = number_rows(s, n, ranks, out->children[k], err);
  if (st == BL_OK) st = mark_deletes(s, n, deletes, out->children[k + 1], err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static bl_status widen(bl_source *s, key_bounds *b, const bl_value *v, bl_error *err) {
  bool first = !b->any;
  if (bl_value_is_nan(v)) {
    b->nan = true;
    return BL_OK;
  }
  b->any = true;
  if (first || bl_value_cmp(v, &b->least) < 0) BL_TRY(bl_value_copy(s->arena, v, &b->least, err));
  if (first || bl_value_cmp(v, &b->greatest) > 0) BL_TRY(bl_value_copy(s->arena, v, &b->greatest, err));
  return BL_OK;
}

/* The bounds of a batch first, so that few values are copied. */
static bl_status note_bounds(bl_source *s, size_t c, const bl_row_source *column, int64_t n, bl_error *err) {
  bl_value v, least = {.null = true}, greatest = {.null = true};
  for (int64_t i = 0; i < n; i++) {
    bl_row_value(column, i, &v);
    if (v.null)
      return bl_fail(err, BL_USAGE, "%s: row %lld: key column %s is null", name_of(s), (long long)(s->n_rows + i + 1),
                     s->key[c]->name.p);
    if (bl_value_is_nan(&v)) s->bounds[c].nan = true;
    else {
      if (least.null || bl_value_cmp(&v, &least) < 0) least = v;
      if (greatest.null || bl_value_cmp(&v, &greatest) > 0) greatest = v;
    }
  }
  if (least.null) return BL_OK;
  BL_TRY(widen(s, &s->bounds[c], &least, err));
  return widen(s, &s->bounds[c], &greatest, err);
}

static bl_status check_keys(bl_source *s, const struct ArrowArray *batch, bl_error *err) {
  bl_key_reader k;
  BL_TRY(bl_view_set(s->view, batch, err));
  bl_status st = bl_key_reader_init(&k, s, s->view, &s->held, err);
  for (size_t c = 0; st == BL_OK && c < k.n; c++) st = note_bounds(s, c, &k.columns[c], batch->length, err);
  bl_key_reader_dispose(&k);
  return st;
}

static bl_status sort_keys(void *user, const struct ArrowArray *batch, bl_buf *out, uint32_t *ends, bl_error *err) {
  bl_source *s = user;
  bl_key_reader k;
  BL_TRY(bl_view_set(s->view, batch, err));
  bl_status st = bl_key_reader_init(&k, s, s->view, &s->held, err);
  for (int64_t i = 0; st == BL_OK && i < batch->length; i++) {
    bl_hash128 h = {0, 0};
    bool null;
    st = bl_key_reader_hash(&k, i, &h, &null, err);
    uint8_t group[4] = {0, 0, 0, (uint8_t)group_of(h)};
    bl_buf_add(out, group, 4);
    ends[i] = (uint32_t)out->n;
  }
  bl_key_reader_dispose(&k);
  return st == BL_OK ? bl_buf_ok(out, err) : st;
}

/* Everything held goes to the sorter, and whatever comes. */
static bl_status spill(bl_source *s, bl_error *err) {
  if (!s->sorter) BL_TRY(bl_row_sorter_new(s->ctx, &s->held_schema, s->budget, sort_keys, s, &s->sorter, err));
  bl_status st = BL_OK;
  for (size_t i = 0; i < s->n_batches; i++) {
    if (st == BL_OK) st = bl_row_sorter_add(s->sorter, &s->batches[i], err);
    else bl_array_release(&s->batches[i]);
  }
  s->n_batches = 0;
  return st;
}

static bl_status hold(bl_source *s, struct ArrowArray *batch, bl_error *err) {
  bl_status st = bl_grow(s->ctx, &s->batches, &s->cap_batches, s->n_batches, sizeof *s->batches, err);
  if (st == BL_OK) st = check_keys(s, batch, err);
  if (st != BL_OK) {
    bl_array_release(batch);
    return st;
  }
  s->bytes += bl_view_volume(s->view, 0, batch->length);
  s->n_rows += batch->length;
  bl_array_move(batch, &s->batches[s->n_batches++]);
  return s->sorter || s->bytes > s->budget ? spill(s, err) : BL_OK;
}

bl_status bl_source_add(bl_source *s, struct ArrowArray *batch, const uint8_t *deletes, const int64_t *ranks,
                        bl_error *err) {
  struct ArrowArray held = {0};
  uint8_t *own = NULL;
  bl_status st = prepare(s, NULL, err);
  if (batch->length == 0 && st == BL_OK) {
    bl_array_release(batch);
    return BL_OK;
  }
  if (st == BL_OK && s->predicate) {
    deletes = own = bl_calloc(s->ctx, (size_t)batch->length + 1, 1);
    st = own ? bl_predicate_run(s->predicate, batch, own, err) : bl_nomem(err);
  }
  if (st == BL_OK) st = make_held(s, batch, deletes, ranks, &held, err);
  else bl_array_release(batch);
  bl_free(s->ctx, own);
  return st == BL_OK ? hold(s, &held, err) : st;
}

bl_status bl_source_read(bl_source *s, struct ArrowArrayStream *in, bl_error *err) {
  struct ArrowSchema schema = {0};
  struct ArrowArrayStream rows = {0};
  bl_error e = BL_ERROR_INIT;
  bl_status st = bl_stream_schema(in, &schema, &e);
  if (st != BL_OK) st = bl_fail(err, st, "%s: %s", name_of(s), e.message);
  if (st == BL_OK) st = prepare(s, &schema, err);
  bl_aschema_release(&schema);
  if (st != BL_OK) {
    bl_stream_release(in);
    return st;
  }
  BL_GO(bl_conform_with(s->ctx, &s->incoming, &(bl_conform_options){.name = name_of(s)}, in, &rows, err));
  for (;;) {
    struct ArrowArray batch;
    BL_GO(bl_stream_next(&rows, &batch, err));
    if (!batch.release) break;
    BL_GO(bl_source_add(s, &batch, NULL, NULL, err));
  }
done:
  bl_stream_release(&rows);
  return st;
}

bl_status bl_source_seal(bl_source *s, bl_error *err) {
  BL_TRY(prepare(s, NULL, err));
  return s->sorter ? bl_row_sorter_finish(s->sorter, true, err) : BL_OK;
}

void bl_source_tell_given(bl_source *s, const bool *given) {
  memcpy(s->given, given, s->o.schema->root.n_fields * sizeof *given);
}

/* ---- a pass ---- */

bl_status bl_source_print_key(const bl_source *s, int64_t row, bl_buf *text) {
  bl_schema of = {.root = s->held};
  for (size_t c = 0; c < s->o.n_key; c++) {
    bl_row_source column;
    bl_value v;
    bl_buf_printf(text, "%s%s = ", c ? ", " : "", s->key[c]->name.p);
    if (!bl_row_source_find(s->pass_view, &of, s->key[c]->id, &column)) continue;
    bl_row_value(&column, row, &v);
    bl_value_print(text, &s->key[c]->type, &v);
  }
  return bl_buf_ok(text, NULL);
}

static bl_status twice(const bl_source *s, int64_t a, int64_t b, bl_error *err) {
  bl_buf text;
  bl_buf_init(&text, s->ctx, 600);
  (void)!bl_source_print_key(s, a, &text);
  bl_status st =
      bl_fail(err, BL_USAGE, "%s: key %.*s: it is there twice, in rows %lld and %lld", name_of(s), (int)text.n,
              text.p ? (const char *)text.p : "", (long long)number_of(s, a) + 1, (long long)number_of(s, b) + 1);
  bl_buf_free(&text);
  return st;
}

/* Does row b stay, that came after a? Groups come in the order of rows. */
static bool later_stays(const bl_source *s, int64_t a, int64_t b) {
  bl_schema of = {.root = s->held};
  bl_row_source column;
  bl_value x, y;
  if (s->o.in_order) return number_of(s, b) >= number_of(s, a);
  if (!s->wins || !bl_row_source_find(s->pass_view, &of, s->wins->id, &column)) return true;
  bl_row_value(&column, a, &x);
  bl_row_value(&column, b, &y);
  return bl_value_cmp(&y, &x) >= 0;
}

/* One whole number is looked up without a hash of its bytes: true where the key is one. */
static bool short_key(const bl_key_reader *k, int64_t i, uint64_t *out) {
  const bl_view *v = k->columns[0].path[k->columns[0].n - 1];
  if (k->n != 1) return false;
  switch (v->kind) {
  case BL_D_INT32:
  case BL_D_DATE32: *out = (uint64_t)bl_view_i32(v, i); break;
  case BL_D_INT64:
  case BL_D_TIME_US:
  case BL_D_TIMESTAMP_US:
  case BL_D_TIMESTAMP_NS: *out = (uint64_t)bl_view_i64(v, i); break;
  default: return false;
  }
  *out = (*out ^ k->seed) * 0x9E3779B97F4A7C15u;
  *out ^= *out >> 32;
  return true;
}

static uint8_t *seen_byte(const bl_source *s, uint64_t h) {
  return &s->seen[(size_t)(h >> 3) & s->mask];
}

static uint8_t seen_bit(uint64_t h) {
  return (uint8_t)(1 << (h & 7));
}

static void note_seen(bl_source *s, const bl_key_reader *k, int64_t row) {
  uint64_t h = s->hashes[row].hi; /* other bits than the slot's and the group's */
  s->short_keys = short_key(k, row, &h);
  *seen_byte(s, h) |= seen_bit(h);
}

bool bl_source_may_hold(const bl_source *s, const bl_key_reader *k, int64_t i) {
  uint64_t h;
  if (s->n == 0) return false;
  for (size_t c = 0; c < k->n; c++)
    for (size_t d = 0; d < k->columns[c].n; d++)
      if (bl_view_null(k->columns[c].path[d], i)) return false;
  return !s->short_keys || !short_key(k, i, &h) || (*seen_byte(s, h) & seen_bit(h));
}

static bool is_put(const bl_source *s, int64_t row) {
  return !bl_view_bool(&s->pass_view->children[s->held.n_fields - 1], row);
}

/* `row` comes before `later`, the last event of its key. */
static void put_before(bl_source *s, int64_t later, int64_t row) {
  uint32_t *before = s->telling.before;
  for (; before[later] && later_stays(s, row, before[later] - 1); later = before[later] - 1) continue;
  if (before[row] == 0) before[row] = before[later];
  before[later] = (uint32_t)row + 1;
}

static bl_status index_row(bl_source *s, int64_t row, bl_error *err) {
  size_t at = (size_t)s->hashes[row].lo & s->mask;
  for (; s->slots[at]; at = (at + 1) & s->mask) {
    int64_t other = s->slots[at] - 1;
    if (!bl_hash128_eq(s->hashes[other], s->hashes[row])) continue;
    if (!s->wins && !s->o.in_order) return twice(s, other, row, err);
    bool later = later_stays(s, other, row);
    s->initial[later ? other : row] = BL_ROW_DROPPED;
    if (later) s->slots[at] = (uint32_t)row + 1;
    if (s->o.in_order && number_of(s, row) == number_of(s, other)) s->surplus += is_put(s, row) && is_put(s, other);
    if (s->telling.before) put_before(s, later ? row : other, later ? other : row);
    return BL_OK;
  }
  s->slots[at] = (uint32_t)row + 1;
  return BL_OK;
}

static bl_status hash_rows(bl_source *s, bl_error *err) {
  bl_key_reader k;
  bl_status st = bl_key_reader_init(&k, s, s->pass_view, &s->held, err);
  for (int64_t i = 0; st == BL_OK && i < s->n; i++) {
    bool null;
    st = bl_key_reader_hash(&k, i, &s->hashes[i], &null, err);
    s->initial[i] = is_put(s, i) ? BL_ROW_PUT : BL_ROW_DELETE;
    note_seen(s, &k, i);
    if (st == BL_OK) st = index_row(s, i, err);
  }
  bl_key_reader_dispose(&k);
  return st;
}

static bl_status open_telling(bl_source *s, bl_error *err) {
  const bl_view *lacks = &s->pass_view->children[s->columns.n_fields];
  const bl_view *ends = &s->pass_view->children[s->held.n_fields];
  return bl_telling_open(s->ctx, lacks, ends - 2, ends - 1, s->n, &s->telling, err);
}

/* rows is consumed. */
static bl_status open_pass(bl_source *s, struct ArrowArray *rows, bl_error *err) {
  size_t slots = 16;
  s->n = rows->length;
  BL_TRY(bl_shared_new(s->ctx, rows, &s->rows, err));
  if (s->n >= INT32_MAX) return bl_fail(err, BL_UNSUPPORTED, "%s: too many rows at once", s->o.verb);
  while (slots < (size_t)s->n * 2) slots *= 2;
  s->mask = slots - 1;
  s->hashes = bl_alloc(s->ctx, (size_t)s->n + 1, sizeof *s->hashes);
  s->initial = bl_alloc(s->ctx, (size_t)s->n + 1, 1);
  s->states = bl_alloc(s->ctx, (size_t)s->n + 1, 1);
  s->slots = bl_calloc(s->ctx, slots, sizeof *s->slots);
  s->seen = bl_calloc(s->ctx, slots, 1);
  if (!s->hashes || !s->initial || !s->states || !s->slots || !s->seen) return bl_nomem(err);
  BL_TRY(bl_view_new(s->ctx, &s->held_schema, &s->pass_view, err));
  BL_TRY(bl_view_set(s->pass_view, bl_shared_array(s->rows), err));
  if (s->o.in_order) BL_TRY(open_telling(s, err));
  BL_TRY(hash_rows(s, err));
  memcpy(s->states, s->initial, (size_t)s->n);
  return BL_OK;
}

/* All batches as one; they are consumed. */
static bl_status join_batches(bl_source *s, struct ArrowArray *out, bl_error *err) {
  bl_status st = BL_OK;
  if (s->n_batches == 1) bl_array_move(&s->batches[0], out);
  else st = bl_arrow_concat(s->batches, s->n_batches, &s->held_schema, out, err);
  s->n_batches = 0;
  return st;
}

static bl_status begin_sorter(bl_source *s, bl_error *err) {
  free_pass(s);
  drop_batches(s); /* of a pass that failed */
  bl_array_release(&s->pending);
  if (s->begun) BL_TRY(bl_row_sorter_rewind(s->sorter, err));
  s->begun = true;
  return bl_row_sorter_next(s->sorter, &s->pending, &s->pending_group, err);
}

bl_status bl_source_begin(bl_source *s, bl_error *err) {
  s->spent = false;
  s->from_group = s->to_group = 0;
  if (s->sorter) s->surplus = 0; /* its passes come again */
  if (s->sorter) return begin_sorter(s, err);
  if (s->rows) memcpy(s->states, s->initial, (size_t)s->n);
  return BL_OK;
}

static bl_status next_of_memory(bl_source *s, bool *any, bl_error *err) {
  struct ArrowArray all;
  *any = !s->spent && s->n_rows > 0;
  s->spent = true;
  s->to_group = GROUPS;
  if (!*any || s->rows) return BL_OK;
  BL_TRY(join_batches(s, &all, err));
  return open_pass(s, &all, err);
}

/* Whole groups, as many as the budget holds. */
static bl_status next_of_sorter(bl_source *s, bool *any, bl_error *err) {
  struct ArrowArray all;
  int64_t bytes = 0;
  free_pass(s);
  *any = s->pending.release != NULL;
  s->from_group = s->to_group;
  while (s->pending.release && (bytes <= s->budget || s->pending_group < s->to_group)) {
    BL_TRY(bl_grow(s->ctx, &s->batches, &s->cap_batches, s->n_batches, sizeof *s->batches, err));
    BL_TRY(bl_view_set(s->view, &s->pending, err));
    bytes += bl_view_volume(s->view, 0, s->pending.length);
    s->to_group = s->pending_group + 1;
    bl_array_move(&s->pending, &s->batches[s->n_batches++]);
    BL_TRY(bl_row_sorter_next(s->sorter, &s->pending, &s->pending_group, err));
  }
  if (!s->pending.release) s->to_group = GROUPS;
  if (!*any) return BL_OK;
  BL_TRY(join_batches(s, &all, err));
  return open_pass(s, &all, err);
}

bl_status bl_source_next(bl_source *s, bool *any, bl_error *err) {
  return s->sorter ? next_of_sorter(s, any, err) : next_of_memory(s, any, err);
}

int64_t bl_source_surplus(const bl_source *s) {
  return s->surplus;
}

int64_t bl_source_rows(const bl_source *s) {
  return s->n;
}

bl_source_state bl_source_state_of(const bl_source *s, int64_t row) {
  return (bl_source_state)__atomic_load_n(&s->states[row], __ATOMIC_RELAXED);
}

bool bl_source_meet(bl_source *s, int64_t row) {
  return __atomic_exchange_n(&s->states[row], (uint8_t)BL_ROW_MET, __ATOMIC_RELAXED) == BL_ROW_MET;
}

int64_t bl_source_find(const bl_source *s, bl_hash128 key, bool *other) {
  uint32_t group = group_of(key);
  *other = group < s->from_group || group >= s->to_group;
  if (*other || s->n == 0 || (!s->short_keys && !(*seen_byte(s, key.hi) & seen_bit(key.hi)))) return -1;
  for (size_t at = (size_t)key.lo & s->mask; s->slots[at]; at = (at + 1) & s->mask)
    if (bl_hash128_eq(s->hashes[s->slots[at] - 1], key)) return s->slots[at] - 1;
  return -1;
}

/* Column c as the events of each key tell it together. */
static bl_status tell_column(const bl_source *s, size_t c, const int64_t *rows, int64_t n, struct ArrowArray *out,
                             bl_error *err) {
  struct ArrowArray *all = bl_shared_array(s->rows)->children[c], told;
  bool others = false;
  int64_t *tellers = bl_alloc(s->ctx, (size_t)n + 1, sizeof *tellers);
  if (!tellers) return bl_nomem(err);
  for (int64_t i = 0; i < n; i++) {
    tellers[i] = bl_telling_ask(&s->telling, rows[i], c).row;
    others = others || tellers[i] != rows[i];
  }
  bl_status st = BL_OK;
  if (others) st = bl_telling_gather(&all, 1, s->columns_schema.children[c], tellers, n, &told, err);
  if (others && st == BL_OK) {
    bl_array_release(out);
    bl_array_move(&told, out);
  }
  bl_free(s->ctx, tellers);
  return st;
}

bl_status bl_source_take(const bl_source *s, const int64_t *rows, int64_t n, struct ArrowArray *out, bl_error *err) {
  struct ArrowArray all;
  bl_pick columns = {.children = s->first_columns, .n = (int64_t)s->columns.n_fields};
  BL_TRY(bl_shared_part(s->rows, 0, s->n, &columns, &all, err));
  bl_status st = bl_arrow_take(&all, &s->columns_schema, rows, n, out, err);
  for (size_t c = 0; st == BL_OK && s->telling.before && c < s->columns.n_fields; c++)
    st = tell_column(s, c, rows, n, out->children[c], err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

bool bl_source_keeps(const bl_source *s, int64_t row, size_t i) {
  return bl_telling_ask(&s->telling, row, i).by == BL_TOLD_BY_TABLE;
}

static bl_status refuse_row(const bl_source *s, int64_t row, bool is_new, size_t column, const char *why,
                            bl_error *err) {
  bl_buf key;
  bl_buf_init(&key, s->ctx, 600);
  (void)!bl_source_print_key(s, row, &key);
  bl_status st =
      bl_fail(err, BL_USAGE, "%s: key %.*s%s: column %s: %s", name_of(s), (int)key.n, key.p ? (const char *)key.p : "",
              is_new ? ", which is new" : "", s->o.schema->root.fields[column].name.p, why);
  bl_buf_free(&key);
  return st;
}

static bl_status check_column(const bl_source *s, int64_t row, bool is_new, size_t c, bl_error *err) {
  const bl_field *f = &s->o.schema->root.fields[c];
  bl_told_column told = bl_telling_ask(&s->telling, row, c);
  if (told.by == BL_TOLD_BY_EVENT || (told.by == BL_TOLD_BY_TABLE && !is_new)) return BL_OK;
  if (told.left_out)
    return refuse_row(s, row, is_new, c,
                      "the source left out a value that did not change; with REPLICA IDENTITY FULL it sends all", err);
  if (!f->required || (f->write_default && !f->write_default->null)) return BL_OK;
  return refuse_row(s, row, is_new, c, "it is required, and has no value", err);
}

bl_status bl_source_check(const bl_source *s, int64_t row, bl_error *err) {
  bool is_new = bl_source_state_of(s, row) != BL_ROW_MET;
  for (size_t c = 0; s->telling.before && c < s->columns.n_fields; c++) BL_TRY(check_column(s, row, is_new, c, err));
  if (!is_new || !s->lacking) return BL_OK;
  return bl_fail(err, BL_USAGE, "%s: row %lld is new: column %s: a required column is missing in the input", name_of(s),
                 (long long)number_of(s, row) + 1, s->lacking->name.p);
}

/* ---- all rows ---- */

bool bl_source_gives(const bl_source *s, size_t column) {
  return s->given[column];
}

const bl_type *bl_source_key_type(const bl_source *s) {
  return &s->key_columns.wanted;
}

static bl_status new_leaf(bl_arena *a, bl_expr_op op, const bl_field *f, bl_value *values, size_t n, bl_expr **out,
                          bl_error *err) {
  bl_expr *e = *out = bl_arena_calloc(a, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  e->op = op;
  e->field = f;
  e->column = f->name;
  e->values = values;
  e->n_literals = n;
  return BL_OK;
}

static int by_value(const void *a, const void *b) {
  return bl_value_cmp(a, b);
}

/* Few keys: each value of the column. */
static bl_status list_values(const bl_source *s, bl_arena *a, size_t c, bl_expr **out, bl_error *err) {
  bl_schema of = {.root = s->held};
  bl_row_source column;
  size_t n = 0;
  bl_value *v = bl_arena_alloc(a, (size_t)s->n + 1, sizeof *v), one;
  if (!v) return bl_nomem(err);
  if (!bl_row_source_find(s->pass_view, &of, s->key[c]->id, &column)) return BL_OK;
  for (int64_t i = 0; i < s->n; i++) {
    bl_row_value(&column, i, &one);
    BL_TRY(bl_value_copy(a, &one, &v[n++], err));
  }
  bl_sort(v, n, sizeof *v, by_value);
  size_t unique = 0;
  for (size_t i = 0; i < n; i++)
    if (i == 0 || bl_value_cmp(&v[i], &v[unique - 1]) != 0) v[unique++] = v[i];
  return new_leaf(a, unique == 1 ? BL_E_EQ : BL_E_IN, s->key[c], v, unique, out, err);
}

static bl_status bound_values(const bl_source *s, bl_arena *a, size_t c, bl_expr **out, bl_error *err) {
  bl_value *v = bl_arena_alloc(a, 2, sizeof *v);
  bl_expr **args = bl_arena_alloc(a, 2, sizeof *args);
  if (!v || !args) return bl_nomem(err);
  v[0] = s->bounds[c].least;
  v[1] = s->bounds[c].greatest;
  BL_TRY(new_leaf(a, BL_E_GE, s->key[c], &v[0], 1, &args[0], err));
  BL_TRY(new_leaf(a, BL_E_LE, s->key[c], &v[1], 1, &args[1], err));
  bl_expr *e = *out = bl_arena_calloc(a, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  *e = (bl_expr){.op = BL_E_AND, .args = args, .n_args = 2};
  return BL_OK;
}

bl_status bl_source_key_filter(const bl_source *s, bl_arena *a, bl_expr **out, bl_error *err) {
  size_t n = 0;
  bl_expr **args = bl_arena_alloc(a, s->o.n_key, sizeof *args);
  *out = NULL;
  if (!args) return bl_nomem(err);
  for (size_t c = 0; c < s->o.n_key; c++) {
    bl_expr *e = NULL;
    if (s->bounds[c].nan || !s->bounds[c].any) continue;
    if (!s->sorter && s->rows && s->n <= MOST_LISTED) BL_TRY(list_values(s, a, c, &e, err));
    else BL_TRY(bound_values(s, a, c, &e, err));
    if (e) args[n++] = e;
  }
  if (n == 0) return BL_OK;
  if (n == 1) {
    *out = args[0];
    return BL_OK;
  }
  bl_expr *e = *out = bl_arena_calloc(a, 1, sizeof *e);
  if (!e) return bl_nomem(err);
  *e = (bl_expr){.op = BL_E_AND, .args = args, .n_args = n};
  return BL_OK;
}

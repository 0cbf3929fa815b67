/* partitioner.c: see partitioner.h. A row's tuple becomes bytes, in which equal tuples are equal; neighbours mostly
 * have the same. */
#include "write/partitioner.h"

#include "base/map.h"

typedef struct source {
  const bl_partition_field *field;
  bl_row_source row;
  bool is_void;
  bl_kind kind; /* of the result */
} source;

struct bl_partitioner {
  bl_ctx *ctx;
  bl_arena *arena; /* of tuples and keys */
  source *sources;
  size_t n;
  bl_map *numbers; /* by key */
  bl_value **tuples;
  size_t n_tuples, cap_tuples;
  bl_buf key;
  bl_value *row; /* the tuple in hand */
};

static bl_status find_source(bl_partitioner *p, size_t i, const bl_schema *schema, const bl_view *root, bl_error *err) {
  source *s = &p->sources[i];
  const bl_partition_field *f = s->field;
  bl_type result = {.kind = BL_KIND_UNKNOWN};
  s->is_void = f->transform.kind == BL_T_VOID;
  const bl_field *column = f->n_source_ids ? bl_schema_find(schema, f->source_ids[0]) : NULL;
  if (s->is_void) {
    if (column) result = column->type;
    s->kind = result.kind;
    return BL_OK;
  }
  if (f->transform.kind == BL_T_OTHER || f->n_source_ids != 1)
    return bl_fail(err, BL_UNSUPPORTED, "partition field %.*s: transform %.*s cannot be written", BL_STR_ARG(f->name),
                   BL_STR_ARG(f->transform.text));
  if (!column || !bl_row_source_find(root, schema, f->source_ids[0], &s->row))
    return bl_fail(err, BL_USAGE, "partition field %.*s: its column (field id %d) is not in the schema",
                   BL_STR_ARG(f->name), (int)f->source_ids[0]);
  if (!bl_transform_result(&f->transform, s->row.type, &result))
    return bl_fail(err, BL_UNSUPPORTED, "partition field %.*s: transform %.*s does not take a column of type %s",
                   BL_STR_ARG(f->name), BL_STR_ARG(f->transform.text), bl_kind_name(s->row.type->kind));
  s->kind = result.kind;
  return BL_OK;
}

bl_status bl_partitioner_new(bl_ctx *ctx, const bl_partition_spec *spec, const bl_schema *schema, const bl_view *root,
                             bl_partitioner **out, bl_error *err) {
  bl_status st;
  *out = NULL;
  bl_partitioner *p = bl_calloc(ctx, 1, sizeof *p);
  if (!p) return bl_nomem(err);
  p->ctx = ctx;
  bl_buf_init(&p->key, ctx, BL_BUF_MAX);
  BL_GO(bl_arena_new(ctx, &p->arena, err));
  BL_GO(bl_map_new(ctx, &p->numbers, err));
  p->sources = bl_arena_calloc(p->arena, spec->n_fields, sizeof *p->sources);
  p->row = bl_arena_calloc(p->arena, spec->n_fields, sizeof *p->row);
  if (!p->sources || !p->row) BL_GO(bl_nomem(err));
  p->n = spec->n_fields;
  for (size_t i = 0; i < p->n; i++) {
    p->sources[i].field = &spec->fields[i];
    BL_GO(find_source(p, i, schema, root, err));
  }
  *out = p;
done:
  if (st != BL_OK) bl_partitioner_free(p);
  return st;
}

void bl_partitioner_free(bl_partitioner *p) {
  if (!p) return;
  bl_buf_free(&p->key);
  bl_map_free(p->numbers);
  bl_free(p->ctx, p->tuples);
  bl_arena_free(p->arena);
  bl_free(p->ctx, p);
}

size_t bl_partitioner_count(const bl_partitioner *p) {
  return p->n_tuples;
}

const bl_value *bl_partitioner_tuple(const bl_partitioner *p, uint32_t number) {
  return p->tuples[number];
}

/* ---- a tuple as bytes ---- */

static void add_value(bl_buf *b, const bl_value *v) {
  bl_buf_byte(b, v->null);
  if (v->null) return;
  switch (v->kind) {
  case BL_BOOLEAN: bl_buf_byte(b, v->u.b); break;
  case BL_FLOAT: {
    float f = bl_value_is_nan(v) ? __builtin_nanf("") : v->u.f;
    bl_buf_add(b, &f, sizeof f);
    break;
  }
  case BL_DOUBLE: {
    double d = bl_value_is_nan(v) ? __builtin_nan("") : v->u.d;
    bl_buf_add(b, &d, sizeof d);
    break;
  }
  case BL_DECIMAL: bl_buf_add(b, &v->u.dec, sizeof v->u.dec); break;
  case BL_STRING:
  case BL_BINARY:
  case BL_FIXED:
  case BL_UUID: {
    uint32_t n = (uint32_t)v->u.s.n;
    bl_buf_add(b, &n, sizeof n);
    bl_buf_str(b, v->u.s);
    break;
  }
  default: bl_buf_add(b, &v->u.i, sizeof v->u.i);
  }
}

static bl_status make_tuple(bl_partitioner *p, int64_t row, bl_error *err) {
  bl_buf_clear(&p->key);
  for (size_t i = 0; i < p->n; i++) {
    const source *s = &p->sources[i];
    bl_value v, *out = &p->row[i];
    *out = (bl_value){.kind = s->kind, .null = true};
    if (!s->is_void) {
      bl_row_value(&s->row, row, &v);
      if (!bl_transform_apply(&s->field->transform, s->row.type, &v, out) || !bl_partition_value_fits(s->row.type, out))
        return bl_fail(err, BL_USAGE, "partition field %.*s: the value of row %lld is out of its range",
                       BL_STR_ARG(s->field->name), (long long)row);
    }
    add_value(&p->key, out);
  }
  return bl_buf_ok(&p->key, err);
}

static bl_status remember(bl_partitioner *p, bl_str key, uint32_t *number, bl_error *err) {
  bool added;
  BL_TRY(bl_grow(p->ctx, &p->tuples, &p->cap_tuples, p->n_tuples, sizeof *p->tuples, err));
  bl_value *tuple = bl_arena_calloc(p->arena, p->n, sizeof *tuple);
  bl_str copy = bl_arena_str(p->arena, key);
  if (!tuple || !copy.p) return bl_nomem(err);
  for (size_t i = 0; i < p->n; i++) BL_TRY(bl_value_copy(p->arena, &p->row[i], &tuple[i], err));
  if (!bl_map_put(p->numbers, copy, p->n_tuples, &added)) return bl_nomem(err);
  *number = (uint32_t)p->n_tuples;
  p->tuples[p->n_tuples++] = tuple;
  return BL_OK;
}

static bl_status number_of(bl_partitioner *p, uint32_t *number, bl_error *err) {
  bl_str key = {p->key.n ? (const char *)p->key.p : "", p->key.n};
  const size_t *known = bl_map_get(p->numbers, key);
  if (!known) return remember(p, key, number, err);
  *number = (uint32_t)*known;
  return BL_OK;
}

bl_status bl_partitioner_rows(bl_partitioner *p, int64_t n, uint32_t *out, bl_error *err) {
  bl_buf last;
  bl_status st = BL_OK;
  bl_buf_init(&last, p->ctx, BL_BUF_MAX);
  for (int64_t i = 0; i < n; i++) {
    BL_GO(make_tuple(p, i, err));
    if (i > 0 && last.n == p->key.n && memcmp(last.p, p->key.p, last.n) == 0) {
      out[i] = out[i - 1];
      continue;
    }
    BL_GO(number_of(p, &out[i], err));
    bl_buf t = last;
    last = p->key;
    p->key = t;
  }
done:
  bl_buf_free(&last);
  return st;
}

/* avro_schema.c: Avro schemas from JSON (Avro 1.12 specification, "Schema Declaration", "Names"; Iceberg spec,
 * "Appendix A: Avro": field ids).
 *
 * Invariants
 *  1. The result is a graph without cycles: a named type is known to others only once it is complete.
 *  2. Nodes are shared between references, but never carry what belongs to the place of use: a record field, an
 *     element, a map value is a copy of its type's node with its own id and name.
 *  3. weight counts the nodes as if every reference were written out and is limited, so that no walk over the tree
 *     takes longer than its limit (references that double at each level stay harmless); depth likewise. */
#include <assert.h>

#include "base/map.h"
#include "format/avro.h"

static const char *const kind_names[] = {"null",   "boolean", "int",  "long",   "float", "double", "bytes",
                                         "string", "fixed",   "enum", "record", "array", "map",    "union"};
static_assert(BL_LEN(kind_names) == BL_A_UNION + 1, "one name a kind");

const char *bl_avro_kind_name(bl_avro_kind k) {
  return (size_t)k < BL_LEN(kind_names) ? kind_names[k] : "?";
}

typedef struct parser {
  bl_arena *a;
  bl_map *names;          /* full name -> index in types */
  bl_avro_schema **types; /* NULL while it is being read */
  size_t n_types, cap_types;
} parser;

static bl_status parse_type(parser *p, const bl_json *j, bl_str space, bl_avro_schema **out, bl_error *err);

static bl_avro_schema *new_node(parser *p, bl_avro_kind kind) {
  bl_avro_schema *s = bl_arena_calloc(p->a, 1, sizeof *s);
  if (!s) return NULL;
  s->kind = kind;
  s->field_id = s->key_id = -1;
  s->precision = s->scale = 0;
  return s;
}

/* A place of use has its own node (invariant 2). */
static bl_avro_schema *copy_node(parser *p, const bl_avro_schema *from) {
  bl_avro_schema *s = bl_arena_alloc(p->a, 1, sizeof *s);
  if (s) *s = *from;
  return s;
}

/* The text of an optional string member. */
static bl_status text_of(const bl_json *j, const char *key, bl_str *out, bl_error *err) {
  const bl_json *v = NULL;
  *out = BL_STR_NONE;
  BL_TRY(bl_json_member_opt(j, key, BL_J_STRING, &v, err));
  if (v) *out = v->text;
  return BL_OK;
}

static bl_status id_of(const bl_json *j, const char *key, int32_t *out, bl_error *err) {
  const bl_json *v = bl_json_get(j, key);
  *out = -1;
  if (!v) return BL_OK;
  BL_TRY(bl_json_i32(v, out, err));
  if (*out < 0) return bl_json_fail(err, BL_DAMAGED, v, "negative field id");
  return BL_OK;
}

/* ---- names ---- */

static bool has_dot(bl_str s) {
  return s.n && memchr(s.p, '.', s.n);
}

/* Name within a name space, as one string. */
static bl_str full_name(parser *p, bl_str name, bl_str space) {
  if (has_dot(name) || !space.n) return bl_arena_str(p->a, name);
  return bl_arena_printf(p->a, "%.*s.%.*s", BL_STR_ARG(space), BL_STR_ARG(name));
}

/* What comes before the last dot. */
static bl_str space_of(bl_str full) {
  for (size_t i = full.n; i > 0; i--)
    if (full.p[i - 1] == '.') return (bl_str){full.p, i - 1};
  return BL_STR("");
}

/* Claim the name of a record, enum or fixed; `own` becomes the name space of what is inside, *slot its place. */
static bl_status declare(parser *p, const bl_json *j, bl_str space, bl_avro_schema *s, bl_str *own, size_t *slot,
                         bl_error *err) {
  const bl_json *name;
  bl_str given;
  BL_TRY(bl_json_member(j, "name", BL_J_STRING, &name, err));
  BL_TRY(text_of(j, "namespace", &given, err));
  if (!name->text.n) return bl_json_fail(err, BL_DAMAGED, name, "empty name");
  s->name = full_name(p, name->text, given.p ? given : space);
  if (!s->name.p) return bl_nomem(err);
  *own = space_of(s->name);
  if (!p->names) BL_TRY(bl_map_new(bl_arena_ctx(p->a), &p->names, err));
  BL_TRY(bl_grow(bl_arena_ctx(p->a), &p->types, &p->cap_types, p->n_types, sizeof *p->types, err));
  bool added;
  if (!bl_map_put(p->names, s->name, p->n_types, &added)) return bl_nomem(err);
  if (!added) return bl_json_fail(err, BL_DAMAGED, name, "type %.*s is declared twice", BL_STR_ARG(s->name));
  *slot = p->n_types;
  p->types[p->n_types++] = NULL;
  return BL_OK;
}

static bl_status primitive_of(bl_str name, bl_avro_kind *out) {
  for (int k = BL_A_NULL; k <= BL_A_STRING; k++)
    if (bl_str_is(name, kind_names[k])) {
      *out = (bl_avro_kind)k;
      return BL_OK;
    }
  return BL_NOT_FOUND;
}

static bl_status parse_name(parser *p, const bl_json *j, bl_str space, bl_avro_schema **out, bl_error *err) {
  bl_avro_kind kind;
  if (primitive_of(j->text, &kind) == BL_OK) {
    *out = new_node(p, kind);
    return *out ? BL_OK : bl_nomem(err);
  }
  bl_str full = full_name(p, j->text, space);
  if (!full.p) return bl_nomem(err);
  const size_t *slot = p->names ? bl_map_get(p->names, full) : NULL;
  if (!slot && p->names) slot = bl_map_get(p->names, j->text);
  if (!slot) return bl_json_fail(err, BL_DAMAGED, j, "unknown Avro type %.*s", BL_STR_ARG(j->text));
  if (!p->types[*slot]) return bl_json_fail(err, BL_UNSUPPORTED, j, "Avro type %.*s holds itself", BL_STR_ARG(j->text));
  *out = p->types[*slot];
  return BL_OK;
}

/* ---- sizes ---- */

static int64_t own_bytes(const bl_avro_schema *s) {
  switch (s->kind) {
  case BL_A_NULL:
  case BL_A_RECORD: return 0;
  case BL_A_FLOAT: return 4;
  case BL_A_DOUBLE: return 8;
  case BL_A_FIXED: return s->size;
  default: return 1;
  }
}

static int32_t numbers_of(const bl_avro_schema *s) {
  for (size_t i = 0; i < s->n_children; i++)
    if (s->children[i]->kind != BL_A_INT && s->children[i]->kind != BL_A_LONG) return 0;
  return s->kind == BL_A_RECORD ? (int32_t)s->n_children : 0;
}

/* min_bytes, depth and weight of a node whose children are complete (invariant 3). */
static bl_status measure(parser *p, const bl_json *j, bl_avro_schema *s, bl_error *err) {
  int64_t bytes = own_bytes(s), least = -1, weight = 1;
  int32_t depth = 0;
  for (size_t i = 0; i < s->n_children; i++) {
    const bl_avro_schema *c = s->children[i];
    weight += c->weight;
    if (c->depth > depth) depth = c->depth;
    if (least < 0 || c->min_bytes < least) least = c->min_bytes;
    if (s->kind == BL_A_RECORD) bytes += c->min_bytes; /* stays below BL_AVRO_MAX_NODES * 2^31 */
    if (weight > BL_AVRO_MAX_NODES)
      return bl_json_fail(err, BL_DAMAGED, j, "more than %d types in the Avro schema", BL_AVRO_MAX_NODES);
  }
  s->min_bytes = bytes + (s->kind == BL_A_UNION && least > 0 ? least : 0);
  s->weight = (int32_t)weight;
  s->numbers = numbers_of(s);
  s->depth = depth + 1;
  if (s->depth > bl_arena_ctx(p->a)->o.max_nesting)
    return bl_json_fail(err, BL_DAMAGED, j, "Avro schema nested deeper than %d", bl_arena_ctx(p->a)->o.max_nesting);
  return BL_OK;
}

/* ---- complex types ---- */

static bl_status logical_of(const bl_json *j, bl_avro_schema *s, bl_error *err) {
  const bl_json *v = bl_json_get(j, "logicalType");
  if (v && v->kind == BL_J_STRING) s->logical = v->text;
  v = bl_json_get(j, "adjust-to-utc");
  if (v && v->kind == BL_J_BOOL) {
    s->has_adjust_to_utc = true;
    s->adjust_to_utc = v->b;
  }
  if (!s->logical.p || !bl_str_is(s->logical, "decimal")) return BL_OK;
  if ((v = bl_json_get(j, "precision"))) BL_TRY(bl_json_i32(v, &s->precision, err));
  if ((v = bl_json_get(j, "scale"))) BL_TRY(bl_json_i32(v, &s->scale, err));
  return BL_OK;
}

static bl_status new_children(parser *p, bl_avro_schema *s, size_t n, bl_error *err) {
  s->n_children = 0;
  s->children = bl_arena_calloc(p->a, n, sizeof *s->children);
  return s->children ? BL_OK : bl_nomem(err);
}

static bl_status parse_field(parser *p, const bl_json *j, bl_str space, bl_avro_schema *record, bl_error *err) {
  if (j->kind != BL_J_OBJECT) return bl_json_fail(err, BL_DAMAGED, j, "a record field is an object");
  const bl_json *name, *type = bl_json_get(j, "type");
  bl_avro_schema *shared, *f;
  BL_TRY(bl_json_member(j, "name", BL_J_STRING, &name, err));
  if (!type) return bl_json_fail(err, BL_DAMAGED, j, "\"type\" is missing");
  BL_TRY(parse_type(p, type, space, &shared, err));
  if (!(f = copy_node(p, shared))) return bl_nomem(err);
  f->field_name = name->text;
  BL_TRY(id_of(j, "field-id", &f->field_id, err));
  BL_TRY(text_of(j, "iceberg-field-name", &f->original, err));
  record->children[record->n_children++] = f;
  return BL_OK;
}

static bl_status parse_record(parser *p, const bl_json *j, bl_str space, bl_avro_schema *s, bl_error *err) {
  const bl_json *fields;
  bl_str own;
  size_t slot;
  BL_TRY(declare(p, j, space, s, &own, &slot, err));
  BL_TRY(bl_json_member(j, "fields", BL_J_ARRAY, &fields, err));
  BL_TRY(new_children(p, s, fields->n, err));
  for (const bl_json *f = fields->first; f; f = f->next) BL_TRY(parse_field(p, f, own, s, err));
  BL_TRY(measure(p, j, s, err));
  p->types[slot] = s;
  return BL_OK;
}

static bl_status parse_enum(parser *p, const bl_json *j, bl_str space, bl_avro_schema *s, bl_error *err) {
  const bl_json *symbols;
  bl_str own;
  size_t slot;
  BL_TRY(declare(p, j, space, s, &own, &slot, err));
  BL_TRY(bl_json_member(j, "symbols", BL_J_ARRAY, &symbols, err));
  if (!(s->symbols = bl_arena_calloc(p->a, symbols->n, sizeof *s->symbols))) return bl_nomem(err);
  for (const bl_json *v = symbols->first; v; v = v->next) BL_TRY(bl_json_string(v, &s->symbols[s->n_symbols++], err));
  BL_TRY(measure(p, j, s, err));
  p->types[slot] = s;
  return BL_OK;
}

static bl_status parse_fixed(parser *p, const bl_json *j, bl_str space, bl_avro_schema *s, bl_error *err) {
  const bl_json *size;
  bl_str own;
  size_t slot;
  BL_TRY(declare(p, j, space, s, &own, &slot, err));
  BL_TRY(bl_json_member(j, "size", BL_J_NUMBER, &size, err));
  BL_TRY(bl_json_i64(size, &s->size, err));
  if (s->size < 0 || s->size > INT32_MAX) return bl_json_fail(err, BL_DAMAGED, size, "size out of range");
  BL_TRY(logical_of(j, s, err));
  BL_TRY(measure(p, j, s, err));
  p->types[slot] = s;
  return BL_OK;
}

/* Array and map: the one child under `key`, with the id under `id_key`. */
static bl_status parse_container(parser *p, const bl_json *j, bl_str space, bl_avro_schema *s, const char *key,
                                 const char *id_key, bl_error *err) {
  const bl_json *item = bl_json_get(j, key);
  bl_avro_schema *shared, *c;
  if (!item) return bl_json_fail(err, BL_DAMAGED, j, "\"%s\" is missing", key);
  BL_TRY(new_children(p, s, 1, err));
  BL_TRY(parse_type(p, item, space, &shared, err));
  if (!(c = copy_node(p, shared))) return bl_nomem(err);
  c->field_name = c->original = BL_STR_NONE;
  BL_TRY(id_of(j, id_key, &c->field_id, err));
  s->children[s->n_children++] = c;
  return measure(p, j, s, err);
}

static bl_status parse_union(parser *p, const bl_json *j, bl_str space, bl_avro_schema **out, bl_error *err) {
  bl_avro_schema *s = *out = new_node(p, BL_A_UNION);
  if (!s) return bl_nomem(err);
  if (!j->n) return bl_json_fail(err, BL_DAMAGED, j, "a union without types");
  BL_TRY(new_children(p, s, j->n, err));
  for (const bl_json *v = j->first; v; v = v->next) {
    BL_TRY(parse_type(p, v, space, &s->children[s->n_children], err));
    if (s->children[s->n_children]->kind == BL_A_UNION)
      return bl_json_fail(err, BL_DAMAGED, v, "a union directly in a union");
    s->n_children++;
  }
  return measure(p, j, s, err);
}

static bl_status parse_object(parser *p, const bl_json *j, bl_str space, bl_avro_schema **out, bl_error *err) {
  const bl_json *type = bl_json_get(j, "type");
  if (!type) return bl_json_fail(err, BL_DAMAGED, j, "\"type\" is missing");
  if (type->kind != BL_J_STRING) return parse_type(p, type, space, out, err);
  bl_str t = type->text;
  bl_avro_kind kind = BL_A_NULL;
  if (bl_str_is(t, "record") || bl_str_is(t, "error")) kind = BL_A_RECORD;
  else if (bl_str_is(t, "enum")) kind = BL_A_ENUM;
  else if (bl_str_is(t, "fixed")) kind = BL_A_FIXED;
  else if (bl_str_is(t, "array")) kind = BL_A_ARRAY;
  else if (bl_str_is(t, "map")) kind = BL_A_MAP;
  else if (primitive_of(t, &kind) != BL_OK) return parse_name(p, type, space, out, err);
  bl_avro_schema *s = *out = new_node(p, kind);
  if (!s) return bl_nomem(err);
  BL_TRY(logical_of(j, s, err));
  switch (kind) {
  case BL_A_RECORD: return parse_record(p, j, space, s, err);
  case BL_A_ENUM: return parse_enum(p, j, space, s, err);
  case BL_A_FIXED: return parse_fixed(p, j, space, s, err);
  case BL_A_ARRAY: return parse_container(p, j, space, s, "items", "element-id", err);
  case BL_A_MAP:
    BL_TRY(id_of(j, "key-id", &s->key_id, err));
    return parse_container(p, j, space, s, "values", "value-id", err);
  default: return measure(p, j, s, err);
  }
}

static bl_status parse_type(parser *p, const bl_json *j, bl_str space, bl_avro_schema **out, bl_error *err) {
  switch (j->kind) {
  case BL_J_STRING: BL_TRY(parse_name(p, j, space, out, err)); return (*out)->weight ? BL_OK : measure(p, j, *out, err);
  case BL_J_ARRAY: return parse_union(p, j, space, out, err);
  case BL_J_OBJECT: return parse_object(p, j, space, out, err);
  default: return bl_json_fail(err, BL_DAMAGED, j, "an Avro type is a name, an object or an array");
  }
}

bl_status bl_avro_schema_parse(bl_arena *a, bl_str json, const bl_avro_schema **out, bl_error *err) {
  parser p = {.a = a};
  bl_json *j;
  bl_avro_schema *s = NULL;
  bl_status st;
  BL_GO(bl_json_parse(a, json.p, json.n, &j, err));
  BL_GO(parse_type(&p, j, BL_STR(""), &s, err));
done:
  *out = st == BL_OK ? s : NULL;
  bl_free(bl_arena_ctx(a), p.types);
  bl_map_free(p.names);
  return st;
}

const bl_avro_schema *bl_avro_unwrap(const bl_avro_schema *s, bool *optional) {
  *optional = s->kind == BL_A_NULL;
  if (s->kind != BL_A_UNION) return s->kind == BL_A_NULL ? NULL : s;
  const bl_avro_schema *only = NULL;
  size_t n = 0;
  for (size_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->kind == BL_A_NULL) {
      *optional = true;
    } else {
      only = s->children[i];
      n++;
    }
  }
  return n == 1 ? only : NULL;
}

bool bl_avro_only_null(const bl_avro_schema *s) {
  for (size_t i = 0; s->kind == BL_A_UNION && i < s->n_children; i++)
    if (s->children[i]->kind != BL_A_NULL) return false;
  return s->kind == BL_A_UNION || s->kind == BL_A_NULL;
}

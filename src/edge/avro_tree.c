/* avro_tree.c: see avro_tree.h (Iceberg spec, "Appendix A: Avro", "Data Type Mappings" and "Field IDs"). */
#include "edge/avro_tree.h"

typedef struct maker {
  bl_arena *a;
  bl_avro_tree *tree;
} maker;

static bl_status add(maker *m, int32_t parent, const bl_avro_schema *field, bl_str name, bool may_be_null,
                     bl_avro_wire *w, bl_error *err);

static bool logical_is(const bl_avro_schema *s, const char *name) {
  return s->logical.p && bl_str_is(s->logical, name);
}

static bl_data_node *node_of(maker *m, const bl_avro_wire *w) {
  return &m->tree->nodes[w->node];
}

/* The tree has at most one node for each node of the schema, references written out, and a key for each map. */
static int32_t new_node(maker *m, int32_t parent, bl_str name, int32_t field_id, bool required) {
  bl_data_node *n = &m->tree->nodes[m->tree->n_nodes];
  *n = (bl_data_node){.parent = parent, .leaf = -1, .field_id = field_id, .name = name.p, .required = required};
  if (field_id >= 0) m->tree->has_field_ids = true;
  return (int32_t)m->tree->n_nodes++;
}

static void set_leaf(maker *m, bl_avro_wire *w, bl_avro_form form, bl_data_kind kind) {
  bl_data_node *n = node_of(m, w);
  w->form = form;
  n->kind = kind;
  n->leaf = m->tree->n_leaves++;
}

static bl_status set_other(maker *m, bl_avro_wire *w, const char *what, bl_error *err) {
  bl_str note = bl_arena_str(m->a, bl_str_of(what));
  if (!note.p) return bl_nomem(err);
  set_leaf(m, w, BL_AF_SKIP, BL_D_OTHER);
  node_of(m, w)->note = note.p;
  return BL_OK;
}

/* ---- leaves ---- */

static void set_int(maker *m, bl_avro_wire *w, const bl_avro_schema *s) {
  bool time = logical_is(s, "time-millis");
  w->factor = time ? 1000 : 1;
  set_leaf(m, w, BL_AF_INT, time ? BL_D_TIME_US : logical_is(s, "date") ? BL_D_DATE32 : BL_D_INT32);
}

/* Iceberg's adjust-to-utc decides; where it is missing a timestamp has no zone. */
static void set_long(maker *m, bl_avro_wire *w, const bl_avro_schema *s) {
  bool millis = logical_is(s, "timestamp-millis") || logical_is(s, "local-timestamp-millis");
  bl_data_kind kind = BL_D_INT64;
  if (logical_is(s, "time-micros")) kind = BL_D_TIME_US;
  if (millis || logical_is(s, "timestamp-micros") || logical_is(s, "local-timestamp-micros")) kind = BL_D_TIMESTAMP_US;
  if (logical_is(s, "timestamp-nanos") || logical_is(s, "local-timestamp-nanos")) kind = BL_D_TIMESTAMP_NS;
  w->factor = millis ? 1000 : 1;
  set_leaf(m, w, BL_AF_LONG, kind);
  node_of(m, w)->utc = s->adjust_to_utc && bl_str_starts(s->logical, BL_STR("timestamp"));
}

static void set_uuid(maker *m, bl_avro_wire *w, bl_avro_form form) {
  set_leaf(m, w, form, BL_D_FIXED);
  node_of(m, w)->hint = BL_H_UUID;
  node_of(m, w)->length = 16;
}

/* bytes and fixed; false where the decimal has more digits than there are. */
static bool set_bytes(maker *m, bl_avro_wire *w, const bl_avro_schema *s) {
  bool decimal = logical_is(s, "decimal") && s->precision > 0 && s->scale >= 0 && s->scale <= s->precision;
  if (decimal && s->precision > 38) return false;
  if (decimal) {
    set_leaf(m, w, BL_AF_DECIMAL, BL_D_DECIMAL);
    node_of(m, w)->precision = s->precision;
    node_of(m, w)->scale = s->scale;
  } else if (s->kind == BL_A_FIXED && s->size == 16 && logical_is(s, "uuid")) {
    set_uuid(m, w, BL_AF_FIXED);
  } else {
    set_leaf(m, w, s->kind == BL_A_FIXED ? BL_AF_FIXED : BL_AF_BYTES, s->kind == BL_A_FIXED ? BL_D_FIXED : BL_D_BINARY);
    node_of(m, w)->length = (int32_t)s->size;
  }
  return true;
}

/* ---- nested ---- */

static bl_status new_children(maker *m, bl_avro_wire *w, size_t n, bl_error *err) {
  w->children = bl_arena_calloc(m->a, n, sizeof *w->children);
  w->n_children = n;
  return w->children ? BL_OK : bl_nomem(err);
}

static bl_str name_of(const bl_avro_schema *field) {
  return field->original.p ? field->original : field->field_name;
}

/* A field that is always null is left out: it reads like a column that is missing. */
static bl_status add_field(maker *m, int32_t parent, const bl_avro_schema *field, bl_avro_wire *w, bl_error *err) {
  *w = (bl_avro_wire){.schema = field, .form = BL_AF_SKIP, .node = -1};
  if (bl_avro_only_null(field)) return BL_OK;
  return add(m, parent, field, name_of(field), false, w, err);
}

static bl_status set_struct(maker *m, bl_avro_wire *w, const bl_avro_schema *s, bl_error *err) {
  w->form = BL_AF_STRUCT;
  node_of(m, w)->kind = BL_D_STRUCT;
  BL_TRY(new_children(m, w, s->n_children, err));
  int with_ids = 0, variant_parts = 0;
  for (size_t i = 0; i < s->n_children; i++) {
    const bl_avro_schema *f = s->children[i];
    BL_TRY(add_field(m, w->node, f, &w->children[i], err));
    with_ids += f->field_id >= 0;
    variant_parts +=
        f->kind == BL_A_BYTES && (bl_str_is(f->field_name, "metadata") || bl_str_is(f->field_name, "value"));
  }
  bool labelled = logical_is(s, "variant") || !s->logical.p;
  if (labelled && s->n_children == 2 && variant_parts == 2 && !with_ids && w->node > 0)
    node_of(m, w)->hint = BL_H_VARIANT;
  return BL_OK;
}

static bl_status set_list(maker *m, bl_avro_wire *w, const bl_avro_schema *s, bl_error *err) {
  w->form = BL_AF_LIST;
  node_of(m, w)->kind = BL_D_LIST;
  BL_TRY(new_children(m, w, 1, err));
  return add(m, w->node, s->children[0], BL_STR("element"), true, &w->children[0], err);
}

static bool is_pair(const bl_avro_schema *item) {
  return item->kind == BL_A_RECORD && item->n_children == 2 && item->children[0]->kind != BL_A_NULL;
}

static bl_status set_pairs(maker *m, bl_avro_wire *w, const bl_avro_schema *s, bl_error *err) {
  const bl_avro_schema *item = s->children[0];
  w->form = BL_AF_PAIRS;
  node_of(m, w)->kind = BL_D_MAP;
  BL_TRY(new_children(m, w, 2, err));
  BL_TRY(add(m, w->node, item->children[0], BL_STR("key"), true, &w->children[0], err));
  return add(m, w->node, item->children[1], BL_STR("value"), true, &w->children[1], err);
}

static bl_status set_map(maker *m, bl_avro_wire *w, const bl_avro_schema *s, bl_error *err) {
  w->form = BL_AF_MAP;
  node_of(m, w)->kind = BL_D_MAP;
  BL_TRY(new_children(m, w, 2, err));
  bl_avro_wire *key = &w->children[0];
  *key = (bl_avro_wire){.node = new_node(m, w->node, BL_STR("key"), s->key_id, true)};
  set_leaf(m, key, BL_AF_BYTES, BL_D_STRING);
  return add(m, w->node, s->children[0], BL_STR("value"), true, &w->children[1], err);
}

/* ---- any ---- */

static bl_status set_type(maker *m, bl_avro_wire *w, const bl_avro_schema *s, bl_error *err) {
  switch (s->kind) {
  case BL_A_BOOLEAN: set_leaf(m, w, BL_AF_BOOLEAN, BL_D_BOOL); return BL_OK;
  case BL_A_INT: set_int(m, w, s); return BL_OK;
  case BL_A_LONG: set_long(m, w, s); return BL_OK;
  case BL_A_FLOAT: set_leaf(m, w, BL_AF_FLOAT, BL_D_FLOAT); return BL_OK;
  case BL_A_DOUBLE: set_leaf(m, w, BL_AF_DOUBLE, BL_D_DOUBLE); return BL_OK;
  case BL_A_STRING:
    if (logical_is(s, "uuid")) set_uuid(m, w, BL_AF_UUID_TEXT);
    else set_leaf(m, w, BL_AF_BYTES, BL_D_STRING);
    return BL_OK;
  case BL_A_ENUM:
    set_leaf(m, w, BL_AF_ENUM, BL_D_STRING);
    node_of(m, w)->hint = BL_H_ENUM;
    return BL_OK;
  case BL_A_BYTES:
  case BL_A_FIXED: return set_bytes(m, w, s) ? BL_OK : set_other(m, w, "decimal of more than 38 digits", err);
  case BL_A_RECORD: return set_struct(m, w, s, err);
  case BL_A_ARRAY:
    return logical_is(s, "map") && is_pair(s->children[0]) ? set_pairs(m, w, s, err) : set_list(m, w, s, err);
  case BL_A_MAP: return set_map(m, w, s, err);
  default: return set_other(m, w, bl_avro_kind_name(s->kind), err);
  }
}

/* may_be_null: the element of a list or a value of a map may be of type null alone. */
static bl_status add(maker *m, int32_t parent, const bl_avro_schema *field, bl_str name, bool may_be_null,
                     bl_avro_wire *w, bl_error *err) {
  bool optional;
  const bl_avro_schema *s = bl_avro_unwrap(field, &optional);
  *w = (bl_avro_wire){.schema = field, .factor = 1};
  w->node = new_node(m, parent, name, field->field_id, !optional);
  if (s) return set_type(m, w, s, err);
  if (may_be_null && bl_avro_only_null(field)) {
    set_leaf(m, w, BL_AF_NULL, BL_D_INT32);
    return BL_OK;
  }
  return set_other(m, w, "union", err);
}

bl_status bl_avro_tree_make(bl_arena *a, const bl_avro_schema *record, bl_avro_tree *out, bl_error *err) {
  maker m = {.a = a, .tree = out};
  *out = (bl_avro_tree){0};
  if (record->kind != BL_A_RECORD)
    return bl_fail(err, BL_DAMAGED, "Avro schema: type %s where a record is due", bl_avro_kind_name(record->kind));
  out->nodes = bl_arena_calloc(a, (size_t)record->weight * 2 + 1, sizeof *out->nodes);
  if (!out->nodes) return bl_nomem(err);
  return add(&m, -1, record, BL_STR(""), false, &out->root, err);
}

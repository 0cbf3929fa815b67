/* project.c: see project.h. A projection is a tree of steps parallel to the wanted fields, made once a file. */
#include "rows/project.h"

#include "rows/variant_rows.h"

#include <stdlib.h>

typedef enum step_kind {
  STEP_MOVE,     /* the file's array as it is */
  STEP_CAST,     /* widened leaf by leaf */
  STEP_NARROW,   /* of a type that the column was promoted to later: as long as the values fit */
  STEP_CONSTANT, /* value, or null */
  STEP_STRUCT,
  STEP_LIST,
  STEP_MAP,
  STEP_VARIANT,
  STEP_META /* metadata column; source is the stored column or -1 */
} step_kind;

typedef struct step step;
struct step {
  step_kind kind;
  const bl_field *field;
  int32_t node;          /* in the file's tree, -1 where absent */
  int32_t source;        /* child index in the pruned parent, -1 where absent */
  const bl_value *value; /* CONSTANT */
  step *children;
  size_t n_children;
};

/* When a sequence number was committed. */
typedef struct commit {
  int64_t seq, us;
} commit;

struct bl_projection {
  bl_ctx *ctx;
  bl_arena *arena;
  const bl_type *wanted;
  const bl_data_meta *file;
  bl_file_facts facts;
  const int32_t *ids; /* effective field id of each node */
  uint8_t *chosen;    /* a byte a node: is (part of) it read? */
  step root;
  int32_t *leaves;
  size_t n_leaves;
  const char *path;
  commit *times; /* ascending; only for _last_updated_at */
  size_t n_times;
};

/* ---- effective ids ---- */

/* Elements, keys and values have these names in a mapping, whatever the file calls them. */
static bl_str mapped_name(const bl_data_meta *m, int32_t parent, size_t nth, size_t node) {
  switch (m->nodes[parent].kind) {
  case BL_D_LIST: return BL_STR("element");
  case BL_D_MAP: return nth == 0 ? BL_STR("key") : BL_STR("value");
  default: return bl_str_of(m->nodes[node].name);
  }
}

static void ids_by_mapping(const bl_data_meta *m, const bl_mapped_field *fields, size_t n, int32_t parent,
                           int32_t *ids) {
  size_t nth = 0;
  for (size_t i = (size_t)parent + 1; i < m->n_nodes; i++) {
    if (m->nodes[i].parent != parent) continue;
    const bl_mapped_field *f = bl_name_mapping_find(fields, n, mapped_name(m, parent, nth++, i));
    if (!f) continue;
    ids[i] = f->id;
    ids_by_mapping(m, f->fields, f->n_fields, (int32_t)i, ids);
  }
}

static bl_status effective_ids(bl_projection *p, const bl_name_mapping *mapping, bool by_position, bl_error *err) {
  const bl_data_meta *m = p->file;
  int32_t *ids = bl_arena_alloc(p->arena, m->n_nodes + 1, sizeof *ids);
  if (!ids) return bl_nomem(err);
  for (size_t i = 0; i < m->n_nodes; i++) ids[i] = m->has_field_ids ? m->nodes[i].field_id : -1;
  if (!m->has_field_ids && mapping) ids_by_mapping(m, mapping->fields, mapping->n_fields, 0, ids);
  else if (!m->has_field_ids && by_position) {
    int32_t next = 1;
    for (size_t i = 1; i < m->n_nodes; i++)
      if (m->nodes[i].parent == 0) ids[i] = next++;
  }
  p->ids = ids;
  return BL_OK;
}

static int32_t child_by_id(const bl_projection *p, int32_t parent, int32_t id) {
  for (size_t i = (size_t)parent + 1; i < p->file->n_nodes; i++)
    if (p->file->nodes[i].parent == parent && p->ids[i] == id) return (int32_t)i;
  return -1;
}

/* k-th child of a node, -1. */
static int32_t child_at(const bl_data_meta *m, int32_t parent, int k) {
  for (size_t i = (size_t)parent + 1; i < m->n_nodes; i++)
    if (m->nodes[i].parent == parent && k-- == 0) return (int32_t)i;
  return -1;
}

static int32_t child_by_name(const bl_data_meta *m, int32_t parent, const char *name) {
  for (size_t i = (size_t)parent + 1; i < m->n_nodes; i++)
    if (m->nodes[i].parent == parent && strcmp(m->nodes[i].name, name) == 0) return (int32_t)i;
  return -1;
}

/* ---- types ---- */

/* May a leaf hold values of t, though its own type is one that t is promoted to? So it is where a file is newer than
 * the schema that it is read with. */
static bool leaf_is_wider(const bl_data_node *n, const bl_type *t) {
  switch (t->kind) {
  case BL_INT: return n->kind == BL_D_INT64;
  case BL_FLOAT: return n->kind == BL_D_DOUBLE;
  case BL_DATE: return (n->kind == BL_D_TIMESTAMP_US || n->kind == BL_D_TIMESTAMP_NS) && !n->utc;
  case BL_DECIMAL: return n->kind == BL_D_DECIMAL && n->scale == t->scale && n->precision > t->precision;
  default: return false;
  }
}

/* Can a file leaf be read as t: 0 no, 1 as it is, 2 by a cast? */
static int leaf_fits(const bl_data_node *n, const bl_type *t) {
  switch (t->kind) {
  case BL_BOOLEAN: return n->kind == BL_D_BOOL;
  case BL_INT: return n->kind == BL_D_INT32;
  case BL_LONG: return n->kind == BL_D_INT64 ? 1 : n->kind == BL_D_INT32 ? 2 : 0;
  case BL_FLOAT: return n->kind == BL_D_FLOAT;
  case BL_DOUBLE: return n->kind == BL_D_DOUBLE ? 1 : n->kind == BL_D_FLOAT ? 2 : 0;
  case BL_DECIMAL: return n->kind == BL_D_DECIMAL && n->scale == t->scale && n->precision <= t->precision;
  case BL_DATE: return n->kind == BL_D_DATE32;
  case BL_TIME: return n->kind == BL_D_TIME_US;
  case BL_TIMESTAMP: return n->kind == BL_D_TIMESTAMP_US ? 1 : n->kind == BL_D_DATE32 ? 2 : 0;
  case BL_TIMESTAMPTZ: return n->kind == BL_D_TIMESTAMP_US;
  case BL_TIMESTAMP_NS: return n->kind == BL_D_TIMESTAMP_NS ? 1 : n->kind == BL_D_DATE32 ? 2 : 0;
  case BL_TIMESTAMPTZ_NS: return n->kind == BL_D_TIMESTAMP_NS;
  case BL_STRING: return n->kind == BL_D_STRING || n->kind == BL_D_BINARY;
  case BL_BINARY:
  case BL_GEOMETRY:
  case BL_GEOGRAPHY: return n->kind == BL_D_STRING || n->kind == BL_D_BINARY ? 1 : n->kind == BL_D_FIXED ? 2 : 0;
  case BL_UUID: return n->kind == BL_D_FIXED && n->length == 16;
  case BL_FIXED: return n->kind == BL_D_FIXED && n->length == t->length;
  default: return 0;
  }
}

static bl_status type_error(const bl_projection *p, const bl_field *f, const bl_data_node *n, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, p->ctx, 4096);
  bl_type_print(&b, &f->type);
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK && n->kind == BL_D_OTHER)
    st = bl_fail(err, BL_UNSUPPORTED, "data file: %s: column %s has the type %s, which is not supported", p->path,
                 f->name.p, n->note ? n->note : "?");
  else if (st == BL_OK)
    st = bl_fail(err, BL_DAMAGED, "data file: %s: column %s cannot be read as %s", p->path, f->name.p,
                 (const char *)b.p);
  bl_buf_free(&b);
  return st;
}

/* ---- making steps ---- */

static void choose_all(bl_projection *p, int32_t node) {
  p->chosen[node] = 1;
  for (size_t i = (size_t)node + 1; i < p->file->n_nodes; i++)
    if (p->file->nodes[i].parent >= node && p->chosen[p->file->nodes[i].parent]) p->chosen[i] = 1;
}

/* A struct none of whose wanted children is in the file needs one leaf, for its own nulls. */
static void choose_stand_in(bl_projection *p, int32_t node) {
  while (p->file->nodes[node].leaf < 0) {
    int32_t child = child_at(p->file, node, 0);
    if (child < 0) return;
    p->chosen[child] = 1;
    if (p->file->nodes[child].kind == BL_D_MAP) {
      choose_all(p, child);
      return;
    }
    node = child;
  }
}

/* A partition value has the type that its source column has in the table; the column wanted may be of an older schema.
 */
static bool narrow(const bl_value *v, const bl_type *to, bl_value *out) {
  *out = *v;
  out->kind = to->kind;
  if (v->kind == BL_LONG && to->kind == BL_INT) return v->u.i >= INT32_MIN && v->u.i <= INT32_MAX;
  if (v->kind == BL_DOUBLE && to->kind == BL_FLOAT) out->u.f = (float)v->u.d;
  else if (v->kind == BL_TIMESTAMP && to->kind == BL_DATE) out->u.i = bl_floor_div(v->u.i, 86400000000);
  else if (v->kind == BL_TIMESTAMP_NS && to->kind == BL_DATE) out->u.i = bl_floor_div(v->u.i, 86400000000000);
  else return false;
  return true;
}

/* v as a value of type t, in arena memory where it changes; NULL where it is none. */
static const bl_value *value_as(const bl_projection *p, const bl_value *v, const bl_type *t) {
  if (v->null || v->kind == t->kind) return v;
  bl_value *own = bl_arena_calloc(p->arena, 1, sizeof *own);
  bl_type from = {.kind = v->kind, .precision = t->precision, .scale = t->scale, .length = t->length};
  return own && (bl_value_promote(&from, v, t, own) || narrow(v, t, own)) ? own : NULL;
}

static const bl_value *partition_constant(const bl_projection *p, const bl_field *f) {
  const bl_partition_spec *s = p->facts.spec;
  for (size_t i = 0; s && i < s->n_fields && i < p->facts.file->n_partition; i++)
    if (s->fields[i].transform.kind == BL_T_IDENTITY && s->fields[i].n_source_ids == 1 &&
        s->fields[i].source_ids[0] == f->id)
      return value_as(p, &p->facts.file->partition[i], &f->type);
  return NULL;
}

static bl_status absent(const bl_projection *p, const bl_field *f, step *s, bl_error *err) {
  s->kind = STEP_CONSTANT;
  s->value = partition_constant(p, f);
  if (!s->value) s->value = f->initial_default;
  if (!s->value && f->required)
    return bl_fail(err, BL_DAMAGED, "data file: %s: required column %s (field id %d) is missing and has no default",
                   p->path, f->name.p ? f->name.p : "", f->id);
  return BL_OK;
}

static bl_status make_step(bl_projection *p, const bl_field *f, int32_t node, step *s, bl_error *err);

static bl_status make_children(bl_projection *p, const bl_type *t, step *s, bl_error *err) {
  s->n_children = t->n_fields;
  s->children = bl_arena_calloc(p->arena, t->n_fields + 1, sizeof *s->children);
  return s->children ? BL_OK : bl_nomem(err);
}

static bl_status make_struct(bl_projection *p, const bl_type *t, int32_t node, step *s, bl_error *err) {
  s->kind = STEP_STRUCT;
  BL_TRY(make_children(p, t, s, err));
  bool any = false;
  for (size_t i = 0; i < t->n_fields; i++) {
    int32_t child = child_by_id(p, node, t->fields[i].id);
    BL_TRY(make_step(p, &t->fields[i], child, &s->children[i], err));
    any = any || child >= 0;
  }
  if (!any && node > 0) choose_stand_in(p, node);
  return BL_OK;
}

/* List element, map key and value correspond by structure: a list has but one element. */
static bl_status make_repeated(bl_projection *p, const bl_type *t, int32_t node, step *s, bl_error *err) {
  s->kind = t->kind == BL_LIST ? STEP_LIST : STEP_MAP;
  BL_TRY(make_children(p, t, s, err));
  for (size_t i = 0; i < t->n_fields; i++) {
    int32_t child = child_at(p->file, node, (int)i);
    if (child < 0) return bl_fail(err, BL_DAMAGED, "data file: %s: a repeated column without elements", p->path);
    BL_TRY(make_step(p, &t->fields[i], child, &s->children[i], err));
    /* an element struct of which nothing is wanted still needs its leaf */
    if (s->children[i].kind == STEP_STRUCT) p->chosen[child] = 1;
  }
  if (t->kind == BL_MAP) choose_all(p, node);
  return BL_OK;
}

static bl_status make_variant(bl_projection *p, const bl_field *f, int32_t node, step *s, bl_error *err) {
  const bl_data_node *n = &p->file->nodes[node];
  if (n->kind != BL_D_STRUCT || child_by_name(p->file, node, "metadata") < 0) return type_error(p, f, n, err);
  s->kind = STEP_VARIANT;
  choose_all(p, node);
  return BL_OK;
}

static bl_status make_present(bl_projection *p, const bl_field *f, int32_t node, step *s, bl_error *err) {
  const bl_data_node *n = &p->file->nodes[node];
  switch (f->type.kind) {
  case BL_STRUCT: return n->kind == BL_D_STRUCT ? make_struct(p, &f->type, node, s, err) : type_error(p, f, n, err);
  case BL_LIST: return n->kind == BL_D_LIST ? make_repeated(p, &f->type, node, s, err) : type_error(p, f, n, err);
  case BL_MAP: return n->kind == BL_D_MAP ? make_repeated(p, &f->type, node, s, err) : type_error(p, f, n, err);
  case BL_VARIANT: return make_variant(p, f, node, s, err);
  default: break;
  }
  int fits = leaf_fits(n, &f->type);
  if (!fits && (p->facts.is_new || !leaf_is_wider(n, &f->type))) return type_error(p, f, n, err);
  s->kind = fits == 2 ? STEP_CAST : fits == 1 ? STEP_MOVE : STEP_NARROW;
  return BL_OK;
}

static bl_status make_step(bl_projection *p, const bl_field *f, int32_t node, step *s, bl_error *err) {
  *s = (step){.field = f, .node = node, .source = -1};
  if (f->type.kind == BL_KIND_UNKNOWN) {
    s->kind = STEP_CONSTANT;
    s->node = -1;
    return BL_OK;
  }
  if (node < 0) return absent(p, f, s, err);
  p->chosen[node] = 1;
  return make_present(p, f, node, s, err);
}

int32_t bl_projection_stored_leaf(const bl_data_meta *file, int32_t field_id) {
  for (size_t i = 1; file->has_field_ids && i < file->n_nodes; i++) {
    const bl_data_node *n = &file->nodes[i];
    if (n->parent == 0 && n->field_id == field_id) return n->kind == BL_D_INT64 ? (int32_t)n->leaf : -1;
  }
  return -1;
}

static int32_t node_of_leaf(const bl_data_meta *m, int32_t leaf) {
  for (size_t i = 0; i < m->n_nodes; i++)
    if (m->nodes[i].leaf == leaf) return (int32_t)i;
  return -1;
}

static int by_seq(const void *a, const void *b) {
  const commit *x = a, *y = b;
  return (x->seq > y->seq) - (x->seq < y->seq);
}

static bl_status collect_times(bl_projection *p, bl_error *err) {
  const bl_metadata *m = p->facts.metadata;
  p->times = bl_arena_alloc(p->arena, (m ? m->n_snapshots : 0) + 1, sizeof *p->times);
  if (!p->times) return bl_nomem(err);
  for (size_t i = 0; m && i < m->n_snapshots; i++) {
    commit *c = &p->times[p->n_times];
    c->seq = m->snapshots[i].sequence_number;
    if (bl_mul64(m->snapshots[i].timestamp_ms, 1000, &c->us)) p->n_times++;
  }
  bl_sort(p->times, p->n_times, sizeof *p->times, by_seq);
  return BL_OK;
}

/* Stored lineage is read only where the file's rows have ids (R2). `_last_updated_at` follows the sequence number. */
static bl_status make_meta(bl_projection *p, const bl_field *f, step *s, bl_error *err) {
  *s = (step){.kind = STEP_META, .field = f, .node = -1, .source = -1};
  bool seq = f->id == BL_ID_LAST_UPDATED || f->id == BL_ID_LAST_UPDATED_AT;
  if ((f->id == BL_ID_ROW_ID || seq) && p->facts.file->first_row_id != BL_NONE) {
    int32_t leaf = bl_projection_stored_leaf(p->file, seq ? BL_ID_LAST_UPDATED : BL_ID_ROW_ID);
    if (leaf >= 0) p->chosen[s->node = node_of_leaf(p->file, leaf)] = 1;
  }
  return f->id == BL_ID_LAST_UPDATED_AT ? collect_times(p, err) : BL_OK;
}

/* Child positions in the pruned arrays: the rank among chosen siblings. */
static void number_sources(const bl_projection *p, step *s) {
  if (s->node > 0) {
    int32_t parent = p->file->nodes[s->node].parent, rank = 0;
    for (int32_t i = parent + 1; i < s->node; i++)
      if (p->file->nodes[i].parent == parent && p->chosen[i]) rank++;
    s->source = rank;
  }
  for (size_t i = 0; i < s->n_children; i++) number_sources(p, &s->children[i]);
}

static bl_status collect_leaves(bl_projection *p, bl_error *err) {
  const bl_data_meta *m = p->file;
  p->leaves = bl_arena_alloc(p->arena, m->n_nodes + 1, sizeof *p->leaves);
  if (!p->leaves) return bl_nomem(err);
  for (size_t i = 1; i < m->n_nodes; i++)
    if (p->chosen[i] && m->nodes[i].leaf >= 0) p->leaves[p->n_leaves++] = m->nodes[i].leaf;
  return BL_OK;
}

/* Columns that no data file holds as table data (delete files' own columns have reserved ids too). */
static bool is_metadata_id(int32_t id) {
  return id == BL_ID_ROW_ID || id == BL_ID_LAST_UPDATED || id == BL_ID_LAST_UPDATED_AT || id == BL_ID_FILE ||
         id == BL_ID_POS || id == BL_ID_SPEC_ID || id == BL_ID_PARTITION;
}

static bl_status make_root(bl_projection *p, bl_error *err) {
  const bl_type *t = p->wanted;
  p->root = (step){.kind = STEP_STRUCT, .node = 0, .source = -1};
  BL_TRY(make_children(p, t, &p->root, err));
  for (size_t i = 0; i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    step *s = &p->root.children[i];
    BL_TRY(is_metadata_id(f->id) ? make_meta(p, f, s, err) : make_step(p, f, child_by_id(p, 0, f->id), s, err));
  }
  number_sources(p, &p->root);
  return collect_leaves(p, err);
}

bl_status bl_projection_new(bl_ctx *ctx, const bl_type *wanted, const bl_data_meta *file,
                            const bl_name_mapping *mapping, bool by_position, const bl_file_facts *facts,
                            bl_projection **out, bl_error *err) {
  bl_arena *a;
  *out = NULL;
  BL_TRY(bl_arena_new(ctx, &a, err));
  bl_projection *p = bl_arena_calloc(a, 1, sizeof *p);
  bl_status st = p ? BL_OK : bl_nomem(err);
  if (st == BL_OK) {
    *p = (bl_projection){
        .ctx = ctx, .arena = a, .wanted = wanted, .file = file, .facts = *facts, .path = facts->file->path.p};
    p->chosen = bl_arena_calloc(a, file->n_nodes + 1, 1);
    st = p->chosen ? effective_ids(p, mapping, by_position, err) : bl_nomem(err);
  }
  if (st == BL_OK) st = make_root(p, err);
  if (st != BL_OK) {
    bl_arena_free(a);
    return st;
  }
  *out = p;
  return BL_OK;
}

void bl_projection_free(bl_projection *p) {
  if (p) bl_arena_free(p->arena);
}

const int32_t *bl_projection_leaves(const bl_projection *p, size_t *n) {
  *n = p->n_leaves;
  return p->leaves;
}

static int32_t leaf_in(const bl_projection *p, const step *s, int32_t id) {
  for (size_t i = 0; i < s->n_children; i++) {
    const step *c = &s->children[i];
    if (c->field->id == id) return c->node >= 0 ? p->file->nodes[c->node].leaf : -1;
    int32_t found = c->kind == STEP_STRUCT ? leaf_in(p, c, id) : -1;
    if (found >= 0) return found;
  }
  return -1;
}

int32_t bl_projection_leaf_of(const bl_projection *p, int32_t field_id) {
  return leaf_in(p, &p->root, field_id);
}

/* ---- applying ---- */

/* Copy n rows of validity from `in` (with its offset) into buffer 0 of out. */
static bl_status copy_validity(const struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  if (in->null_count == 0 || in->n_buffers == 0 || !in->buffers[0]) return BL_OK;
  size_t bytes = ((size_t)in->length + 7) / 8;
  uint8_t *bits = bl_array_buffer(out, 0, bytes);
  if (!bits) return bl_nomem(err);
  memset(bits, 0, bytes);
  for (int64_t i = 0; i < in->length; i++) {
    if (bl_array_valid(in, i)) bl_bit_set(bits, i);
    else out->null_count++;
  }
  return BL_OK;
}

static bool widen(const bl_type *t, const struct ArrowArray *in, void *to) {
  int64_t n = in->length;
  const int32_t *i32 = (const int32_t *)in->buffers[1] + in->offset;
  if (t->kind == BL_DOUBLE) {
    const float *f = (const float *)in->buffers[1] + in->offset;
    for (int64_t i = 0; i < n; i++) ((double *)to)[i] = f[i];
    return true;
  }
  int64_t scale = t->kind == BL_TIMESTAMP ? 86400000000 : t->kind == BL_TIMESTAMP_NS ? 86400000000000 : 1;
  bool ok = true;
  for (int64_t i = 0; i < n; i++)
    if (!bl_mul64(i32[i], scale, (int64_t *)to + i)) {
      ((int64_t *)to)[i] = 0;
      ok = ok && !bl_array_valid(in, i);
    }
  return ok;
}

static bl_status fixed_to_binary(int32_t width, const struct ArrowArray *in, struct ArrowArray *out, bl_error *err) {
  int32_t *off = bl_array_buffer(out, 1, ((size_t)in->length + 1) * 4);
  char *p = bl_array_buffer(out, 2, (size_t)in->length * (size_t)width);
  if (!off || !p) return bl_nomem(err);
  if (in->length * width > INT32_MAX) return bl_fail(err, BL_UNSUPPORTED, "fixed column: a batch passes 2 GiB");
  for (int64_t i = 0; i <= in->length; i++) off[i] = (int32_t)(i * width);
  if (in->length) memcpy(p, (const char *)in->buffers[1] + in->offset * width, (size_t)(in->length * width));
  return BL_OK;
}

static bl_status apply_cast(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                            bl_error *err) {
  const bl_data_node *n = &p->file->nodes[s->node];
  bool binary = n->kind == BL_D_FIXED;
  BL_TRY(bl_array_new(p->ctx, in->length, binary ? 3 : 2, 0, out, err));
  bl_status st = copy_validity(in, out, err);
  if (st == BL_OK && binary) st = fixed_to_binary(n->length, in, out, err);
  else if (st == BL_OK) {
    void *to = bl_array_buffer(out, 1, (size_t)in->length * 8);
    if (!to) st = bl_nomem(err);
    else if (!widen(&s->field->type, in, to))
      st = bl_fail(err, BL_DAMAGED, "data file: %s: a date of column %s is beyond the range of timestamps", p->path,
                   s->field->name.p);
  }
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static bl_status too_wide(const bl_projection *p, const step *s, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, p->ctx, 4096);
  bl_type_print(&b, &s->field->type);
  bl_buf_byte(&b, 0);
  bl_status st = bl_buf_ok(&b, err);
  if (st == BL_OK)
    st = bl_fail(err, BL_UNSUPPORTED,
                 "data file: %s: column %s: a value does not fit the type %s that this schema has for it; the file was "
                 "written with a wider one",
                 p->path, s->field->name.p, (const char *)b.p);
  bl_buf_free(&b);
  return st;
}

/* Row i of in as the narrower type into to; false where it does not fit. */
static bool narrow_one(const bl_data_node *n, const bl_type *t, const void *in, int64_t i, void *to, int64_t k) {
  if (t->kind == BL_FLOAT) {
    double d = ((const double *)in)[i];
    ((float *)to)[k] = (float)d;
    return d != d || (double)(float)d == d;
  }
  int64_t v = ((const int64_t *)in)[i], unit = n->kind == BL_D_TIMESTAMP_NS ? 86400000000000 : 86400000000;
  int64_t out = t->kind == BL_DATE ? bl_floor_div(v, unit) : v;
  ((int32_t *)to)[k] = (int32_t)out;
  return out >= INT32_MIN && out <= INT32_MAX && (t->kind != BL_DATE || bl_floor_mod(v, unit) == 0);
}

static bool decimals_fit(const bl_type *t, const struct ArrowArray *in) {
  bl_i128 most = 1;
  for (int32_t i = 0; i < t->precision; i++) most *= 10;
  for (int64_t i = 0; i < in->length; i++) {
    bl_i128 v;
    memcpy(&v, (const char *)in->buffers[1] + (in->offset + i) * 16, 16);
    if (bl_array_valid(in, i) && (v >= most || v <= -most)) return false;
  }
  return true;
}

static bl_status apply_narrow(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                              bl_error *err) {
  const bl_data_node *n = &p->file->nodes[s->node];
  if (n->kind == BL_D_DECIMAL) {
    if (!decimals_fit(&s->field->type, in)) return too_wide(p, s, err);
    bl_array_move(in, out);
    return BL_OK;
  }
  BL_TRY(bl_array_new(p->ctx, in->length, 2, 0, out, err));
  bl_status st = copy_validity(in, out, err);
  void *to = st == BL_OK ? bl_array_buffer(out, 1, (size_t)in->length * 4) : NULL;
  if (st == BL_OK && !to) st = bl_nomem(err);
  for (int64_t i = 0; st == BL_OK && i < in->length; i++)
    if (!narrow_one(n, &s->field->type, in->buffers[1], in->offset + i, to, i) && bl_array_valid(in, i))
      st = too_wide(p, s, err);
  if (st != BL_OK) bl_array_release(out);
  return st;
}

static bl_status apply_step(const bl_projection *p, const step *s, struct ArrowArray *parent, int64_t n,
                            struct ArrowArray *out, bl_error *err);

/* Children of a struct array whose own offset is 0 (a sliced struct is not made by any reader). */
static bl_status apply_children(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                                bl_error *err) {
  for (size_t i = 0; i < s->n_children; i++)
    BL_TRY(apply_step(p, &s->children[i], in, in->length + in->offset, out->children[i], err));
  return BL_OK;
}

static bl_status finish_or_release(bl_status st, struct ArrowArray *out) {
  if (st != BL_OK) bl_array_release(out);
  return st;
}

/* A new array over the buffers of `in`, which it keeps; its offset and nulls stay. */
static bl_status wrap(const bl_projection *p, struct ArrowArray *in, int64_t n_children, struct ArrowArray *out,
                      bl_error *err) {
  BL_TRY(bl_array_new(p->ctx, in->length, in->n_buffers, n_children, out, err));
  out->offset = in->offset;
  out->null_count = in->null_count;
  for (int64_t i = 0; i < in->n_buffers; i++) out->buffers[i] = in->buffers[i];
  return BL_OK;
}

static bl_status apply_struct(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                              bl_error *err) {
  BL_TRY(wrap(p, in, (int64_t)s->n_children, out, err));
  bl_status st = apply_children(p, s, in, out, err);
  if (st == BL_OK) st = bl_array_keep(out, in, err);
  return finish_or_release(st, out);
}

static bl_status apply_list(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                            bl_error *err) {
  BL_TRY(wrap(p, in, 1, out, err));
  bl_status st = apply_step(p, &s->children[0], in, in->children[0]->length, out->children[0], err);
  if (st == BL_OK) st = bl_array_keep(out, in, err);
  return finish_or_release(st, out);
}

static bl_status apply_map(const bl_projection *p, const step *s, struct ArrowArray *in, struct ArrowArray *out,
                           bl_error *err) {
  BL_TRY(wrap(p, in, 1, out, err));
  struct ArrowArray *entries = in->children[0], *to = out->children[0];
  bl_status st = wrap(p, entries, 2, to, err);
  for (size_t i = 0; st == BL_OK && i < 2; i++)
    st = apply_step(p, &s->children[i], entries, entries->length, to->children[i], err);
  if (st == BL_OK) st = bl_array_keep(out, in, err);
  return finish_or_release(st, out);
}

/* n: rows of the parent. */
static bl_status apply_step(const bl_projection *p, const step *s, struct ArrowArray *parent, int64_t n,
                            struct ArrowArray *out, bl_error *err) {
  if (s->kind == STEP_CONSTANT) return bl_array_constant(p->ctx, &s->field->type, s->value, n, out, err);
  if (s->source < 0 || s->source >= parent->n_children)
    return bl_fail(err, BL_DAMAGED, "data file: %s: the reader gave no column %s", p->path, s->field->name.p);
  struct ArrowArray *in = parent->children[s->source];
  bl_status st = BL_OK;
  switch (s->kind) {
  case STEP_MOVE: bl_array_move(in, out); return BL_OK;
  case STEP_CAST: st = apply_cast(p, s, in, out, err); break;
  case STEP_NARROW:
    st = apply_narrow(p, s, in, out, err);
    if (!in->release) return st;
    break;
  case STEP_STRUCT: return apply_struct(p, s, in, out, err);
  case STEP_LIST: return apply_list(p, s, in, out, err);
  case STEP_MAP: return apply_map(p, s, in, out, err);
  case STEP_VARIANT: return bl_variant_rows(p->ctx, p->file, s->node, in, out, err);
  default: break;
  }
  bl_array_release(in);
  return st;
}

/* ---- metadata columns ---- */

/* Eight slots from i on: their validity bits; those behind the end are 1. */
static unsigned valid_eight(const struct ArrowArray *a, int64_t i) {
  const uint8_t *bits = a->buffers[0];
  unsigned out = 0;
  if (i + 8 <= a->length && (a->offset + i) % 8 == 0) return bits[(a->offset + i) / 8];
  for (int k = 0; k < 8; k++) out |= (unsigned)(i + k >= a->length || bl_array_valid(a, i + k)) << k;
  return out;
}

/* The resolved long column: stored values where not null, else the inherited ones (R1). */
static bl_status inherited(const bl_projection *p, const step *s, const struct ArrowArray *batch,
                           const int64_t *positions, int64_t first, int64_t n, int64_t *out) {
  const struct ArrowArray *stored = s->source >= 0 && s->source < batch->n_children ? batch->children[s->source] : NULL;
  bool row_id = s->field->id == BL_ID_ROW_ID, all = stored && (stored->null_count == 0 || !stored->buffers[0]);
  int64_t base = row_id ? p->facts.file->first_row_id : p->facts.data_sequence_number;
  if (stored && n) memcpy(out, (const int64_t *)stored->buffers[1] + stored->offset, (size_t)n * 8);
  for (int64_t i = 0; !all && i < n; i += 8) {
    unsigned valid = stored ? valid_eight(stored, i) : 0;
    for (int64_t k = i; valid != 0xff && k < n && k < i + 8; k++)
      if (!(valid >> (k - i) & 1)) out[k] = base + (row_id ? (positions ? positions[k] : first + k) : 0);
  }
  return BL_OK;
}

/* Commit time (us) of a sequence number, false where its snapshot has expired. */
static bool commit_time(const bl_projection *p, int64_t seq, int64_t *us) {
  size_t lo = 0, hi = p->n_times;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (p->times[mid].seq < seq) lo = mid + 1;
    else hi = mid;
  }
  if (lo == p->n_times || p->times[lo].seq != seq) return false;
  *us = p->times[lo].us;
  return true;
}

static bl_status last_updated_at(const bl_projection *p, int64_t *v, int64_t n, struct ArrowArray *out, bl_error *err) {
  uint8_t *valid = bl_alloc(p->ctx, (size_t)n + 1, 1);
  if (!valid) return bl_nomem(err);
  int64_t seq = 0, us = 0;
  bool known = false;
  for (int64_t i = 0; i < n; i++) {
    if (i == 0 || v[i] != seq) known = commit_time(p, seq = v[i], &us);
    valid[i] = known;
    v[i] = known ? us : 0;
  }
  bl_status st = bl_array_longs(p->ctx, v, valid, n, out, err);
  bl_free(p->ctx, valid);
  return st;
}

static bl_status lineage_column(const bl_projection *p, const step *s, const struct ArrowArray *batch,
                                const int64_t *positions, int64_t first, int64_t n, struct ArrowArray *out,
                                bl_error *err) {
  if (p->facts.file->first_row_id == BL_NONE) return bl_array_nulls(p->ctx, &s->field->type, n, out, err);
  BL_TRY(bl_array_new(p->ctx, n, 2, 0, out, err));
  int64_t *v = bl_array_buffer(out, 1, (size_t)n * 8);
  bl_status st = v ? inherited(p, s, batch, positions, first, n, v) : bl_nomem(err);
  if (st == BL_OK && s->field->id == BL_ID_LAST_UPDATED_AT) {
    struct ArrowArray at;
    st = last_updated_at(p, v, n, &at, err);
    if (st == BL_OK) {
      bl_array_release(out);
      bl_array_move(&at, out);
    }
  }
  return finish_or_release(st, out);
}

static bl_status position_column(const bl_projection *p, const int64_t *positions, int64_t first, int64_t n,
                                 struct ArrowArray *out, bl_error *err) {
  BL_TRY(bl_array_new(p->ctx, n, 2, 0, out, err));
  int64_t *v = bl_array_buffer(out, 1, (size_t)n * 8);
  if (!v) return finish_or_release(bl_nomem(err), out);
  for (int64_t i = 0; i < n; i++) v[i] = positions ? positions[i] : first + i;
  return BL_OK;
}

/* A spec of another time may give the field another type. */
static const bl_value *part_as(const bl_value *v, const bl_type *t, bl_value *own) {
  if (!v || v->null || v->kind == t->kind) return v;
  bl_type from = {.kind = v->kind, .precision = t->precision, .scale = t->scale, .length = t->length};
  return bl_value_promote(&from, v, t, own) || narrow(v, t, own) ? own : NULL;
}

/* `_partition`: a struct of all partition fields ever, each by its field id. */
static bl_status partition_column(const bl_projection *p, const bl_type *t, int64_t n, struct ArrowArray *out,
                                  bl_error *err) {
  const bl_partition_spec *spec = p->facts.spec;
  BL_TRY(bl_array_new(p->ctx, n, 1, (int64_t)t->n_fields, out, err));
  bl_status st = BL_OK;
  for (size_t i = 0; st == BL_OK && i < t->n_fields; i++) {
    const bl_value *v = NULL;
    bl_value own;
    for (size_t k = 0; spec && k < spec->n_fields && k < p->facts.file->n_partition; k++)
      if (spec->fields[k].field_id == t->fields[i].id) v = &p->facts.file->partition[k];
    v = part_as(v, &t->fields[i].type, &own);
    st = bl_array_constant(p->ctx, &t->fields[i].type, v, n, out->children[i], err);
  }
  return finish_or_release(st, out);
}

static bl_status meta_column(const bl_projection *p, const step *s, const struct ArrowArray *batch,
                             const int64_t *positions, int64_t first, int64_t n, struct ArrowArray *out,
                             bl_error *err) {
  bl_value v = {.kind = s->field->type.kind};
  switch (s->field->id) {
  case BL_ID_ROW_ID:
  case BL_ID_LAST_UPDATED:
  case BL_ID_LAST_UPDATED_AT: return lineage_column(p, s, batch, positions, first, n, out, err);
  case BL_ID_POS: return position_column(p, positions, first, n, out, err);
  case BL_ID_PARTITION: return partition_column(p, &s->field->type, n, out, err);
  case BL_ID_FILE: v.u.s = p->facts.file->path; break;
  case BL_ID_SPEC_ID: v.u.i = p->facts.file->spec_id; break;
  default: return bl_fail(err, BL_UNSUPPORTED, "metadata column %s: not available here", s->field->name.p);
  }
  return bl_array_constant(p->ctx, &s->field->type, &v, n, out, err);
}

bl_status bl_projection_apply(const bl_projection *p, struct ArrowArray *in, const int64_t *positions, int64_t first,
                              struct ArrowArray *out, bl_error *err) {
  int64_t n = in->length;
  bl_array_cut_columns(in);
  bl_status st = bl_array_new(p->ctx, n, 1, (int64_t)p->root.n_children, out, err);
  if (st != BL_OK) {
    bl_array_release(in);
    return st;
  }
  /* metadata columns first: a stored column may be wanted twice, and moving takes it away */
  for (size_t i = 0; st == BL_OK && i < p->root.n_children; i++)
    if (p->root.children[i].kind == STEP_META)
      st = meta_column(p, &p->root.children[i], in, positions, first, n, out->children[i], err);
  for (size_t i = 0; st == BL_OK && i < p->root.n_children; i++)
    if (p->root.children[i].kind != STEP_META) st = apply_step(p, &p->root.children[i], in, n, out->children[i], err);
  bl_array_release(in);
  return finish_or_release(st, out);
}

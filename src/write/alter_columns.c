/* alter_columns.c: columns added, dropped, renamed, widened. */
#include "format/metadata_json.h"
#include "write/alter.h"
#include "write/schema_text.h"

/* ---- what a name may be ---- */

static bool has_name(const bl_type *parent, bl_str name) {
  for (size_t i = 0; i < parent->n_fields; i++)
    if (bl_str_eq(parent->fields[i].name, name)) return true;
  return false;
}

/* Top-level columns and partition fields share their names' space, but for the identity of a column. Of older specs
 * only fields count whose source is still there: Iceberg's other implementations read no table where one has the name
 * of another column. */
static bool takes_name(const bl_alter_context *c, const bl_partition_spec *spec, const bl_partition_field *f,
                       bl_str name) {
  bool there = spec->id == c->md->default_spec_id;
  for (size_t i = 0; i < f->n_source_ids; i++) there = there || bl_schema_find(c->schema, f->source_ids[i]);
  return there && bl_str_eq(f->name, name);
}

static bl_status check_name(const bl_alter_context *c, const bl_type *parent, bl_str name, bl_error *err) {
  if (name.n == 0 || !bl_utf8_valid(name.p, name.n))
    return bl_fail(err, BL_USAGE, "wrong name of a column: it is empty or no UTF-8");
  if (has_name(parent, name)) return bl_fail(err, BL_USAGE, "there is a column %.*s already", BL_STR_ARG(name));
  for (size_t k = 0; parent == &c->schema->root && k < c->md->n_specs; k++)
    for (size_t i = 0; i < c->md->specs[k].n_fields; i++)
      if (takes_name(c, &c->md->specs[k], &c->md->specs[k].fields[i], name))
        return bl_fail(err, BL_USAGE, "wrong name of a column: %.*s is a partition field's (spec %d)", BL_STR_ARG(name),
                       (int)c->md->specs[k].id);
  return BL_OK;
}

/* ---- add ---- */

typedef struct adding {
  bl_field field;
  const char *where, *other; /* NULL: at the end */
} adding;

static bool is(const bl_alter_context *c, size_t i, const char *word) {
  return i < c->n && strcmp(c->words[i], word) == 0;
}

static bl_status need_word(const bl_alter_context *c, size_t i, bl_error *err) {
  return i < c->n ? BL_OK : bl_fail(err, BL_USAGE, "wrong change: something is missing behind %s", c->words[c->n - 1]);
}

/* The words behind name and type. */
static bl_status read_attributes(bl_alter_context *c, adding *x, bl_error *err) {
  for (size_t i = 2; i < c->n; i++) {
    if (is(c, i, "not") && is(c, i + 1, "null")) x->field.required = true, i++;
    else if (is(c, i, "required")) x->field.required = true;
    else if (is(c, i, "default")) {
      bl_value *v;
      BL_TRY(need_word(c, ++i, err));
      BL_TRY(bl_default_text(c->a, bl_str_of(c->words[i]), &x->field.type, &v, err));
      x->field.initial_default = x->field.write_default = v;
    } else if (is(c, i, "doc")) {
      BL_TRY(need_word(c, ++i, err));
      x->field.doc = bl_str_of(c->words[i]);
    } else if (is(c, i, "first")) x->where = c->words[i];
    else if (is(c, i, "after") || is(c, i, "before")) {
      x->where = c->words[i];
      BL_TRY(need_word(c, ++i, err));
      x->other = c->words[i];
    } else return bl_fail(err, BL_USAGE, "wrong change: %s is not expected", c->words[i]);
  }
  return BL_OK;
}

/* The field's document, as a schema with this one column has it. */
static bl_status field_document(bl_alter_context *c, bl_field *f, bl_json **out, bl_error *err) {
  bl_schema s = {.root = {.kind = BL_STRUCT, .fields = f, .n_fields = 1}};
  bl_json *doc = bl_schema_to_json(c->a, &s);
  const bl_json *fields = doc ? bl_json_get(doc, "fields") : NULL;
  *out = fields && fields->first ? bl_json_copy(c->a, fields->first) : NULL;
  if (*out) (*out)->key = BL_STR_NONE;
  return *out ? BL_OK : bl_nomem(err);
}

bl_status bl_alter_add(bl_alter_context *c, bl_error *err) {
  adding x = {0};
  bl_json *fields, *doc;
  const bl_type *parent;
  BL_TRY(bl_alter_parent(c, &fields, &parent, &x.field.name, err));
  BL_TRY(check_name(c, parent, x.field.name, err));
  x.field.id = ++c->last_column_id;
  BL_TRY(bl_type_text(c->a, bl_str_of(c->words[1]), &c->last_column_id, &x.field.type, err));
  BL_TRY(read_attributes(c, &x, err));
  BL_TRY(bl_field_allowed(&x.field, parent == &c->schema->root, c->md->format_version, err));
  if (x.field.required && !x.field.initial_default)
    return bl_fail(err, BL_USAGE, "cannot add %s as not null: rows that are there have no value (give it a default)",
                   c->words[0]);
  BL_TRY(field_document(c, &x.field, &doc, err));
  if (!bl_json_push(fields, doc)) return bl_nomem(err);
  if (x.where) BL_TRY(bl_alter_place(c, fields, doc, x.where, x.other, err));
  bl_str above = bl_alter_parent_name(c);
  return above.p ? bl_alter_mapping_add(c, above.p, &x.field, err) : bl_nomem(err);
}

/* ---- drop ---- */

static bool holds(const bl_field *f, int32_t id) {
  if (f->id == id) return true;
  for (size_t i = 0; i < f->type.n_fields; i++)
    if (holds(&f->type.fields[i], id)) return true;
  return false;
}

static bool uses(const bl_field *f, const int32_t *ids, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (holds(f, ids[i])) return true;
  return false;
}

static bl_status check_unused(const bl_alter_context *c, const bl_field *f, bl_error *err) {
  const bl_partition_spec *spec = bl_metadata_spec(c->md, c->md->default_spec_id);
  const bl_sort_order *order = bl_metadata_default_order(c->md);
  if (uses(f, c->schema->identifier_ids, c->schema->n_identifier_ids))
    return bl_fail(err, BL_USAGE, "cannot drop %s: it is an identifier field", c->words[0]);
  for (size_t i = 0; spec && i < spec->n_fields; i++)
    if (spec->fields[i].transform.kind != BL_T_VOID &&
        uses(f, spec->fields[i].source_ids, spec->fields[i].n_source_ids))
      return bl_fail(err, BL_USAGE, "cannot drop %s: the table is partitioned by it (%.*s)", c->words[0],
                     BL_STR_ARG(spec->fields[i].name));
  for (size_t i = 0; order && i < order->n_fields; i++)
    if (uses(f, order->fields[i].source_ids, order->fields[i].n_source_ids))
      return bl_fail(err, BL_USAGE, "cannot drop %s: the table is sorted by it", c->words[0]);
  return BL_OK;
}

bl_status bl_alter_drop(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  if (!at.siblings) return bl_fail(err, BL_USAGE, "%s is no field of a struct: it cannot be dropped", c->words[0]);
  if (at.siblings->n == 1) return bl_fail(err, BL_USAGE, "cannot drop %s: nothing would be left", c->words[0]);
  BL_TRY(check_unused(c, f, err));
  bl_json_remove_child(at.siblings, at.holder);
  return bl_alter_properties(c, f, BL_STR_NONE, err);
}

/* ---- rename ---- */

/* A column stays where it is: a path in front of the new name is that of the old one. */
static bl_status new_name(bl_alter_context *c, bl_str *to, bl_error *err) {
  const char *word = c->words[1], *dot = strrchr(word, '.'), *plain;
  size_t unused;
  *to = bl_str_of(word);
  if (word[0] == '"') {
    BL_TRY(bl_alter_unquote(c->a, word, &plain, &unused, err));
    *to = bl_str_of(plain);
    return BL_OK;
  }
  if (!dot) return BL_OK;
  bl_str above = bl_alter_parent_name(c);
  if (!above.p) return bl_nomem(err);
  if (!above.n || !bl_str_eq(above, (bl_str){word, (size_t)(dot - word)}))
    return bl_fail(err, BL_USAGE, "cannot rename %s to %s: a column stays in its struct (a dot in a name: in quotes)",
                   c->words[0], word);
  *to = bl_str_of(dot + 1);
  return BL_OK;
}

bl_status bl_alter_rename(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  bl_json *fields;
  const bl_type *parent;
  bl_str last, to;
  BL_TRY(new_name(c, &to, err));
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  if (!at.siblings) return bl_fail(err, BL_USAGE, "%s is no field of a struct: it has no name of its own", c->words[0]);
  BL_TRY(bl_alter_parent(c, &fields, &parent, &last, err));
  if (bl_str_eq(last, to)) return BL_OK;
  BL_TRY(check_name(c, parent, to, err));
  bl_field named = *f;
  named.name = to;
  BL_TRY(bl_field_allowed(&named, parent == &c->schema->root, c->md->format_version, err));
  bl_json *name = bl_json_new_str(c->a, to);
  if (!name || !bl_json_set(c->a, at.holder, "name", name)) return bl_nomem(err);
  bl_str above = bl_alter_parent_name(c);
  bl_str full = !above.p ? BL_STR_NONE : above.n ? bl_arena_printf(c->a, "%s.%.*s", above.p, (int)to.n, to.p) : to;
  if (!full.p) return bl_nomem(err);
  BL_TRY(bl_alter_properties(c, f, full, err));
  return bl_alter_mapping_rename(c, f->id, to, err);
}

/* ---- type ---- */

/* A partition value must stay the same when its source is widened: only dates that become timestamps do not. */
static bl_status check_partitions(const bl_alter_context *c, const bl_field *f, const bl_type *to, bl_error *err) {
  if (f->type.kind != BL_DATE || to->kind == BL_DATE) return BL_OK;
  for (size_t i = 0; i < c->md->n_specs; i++)
    for (size_t k = 0; k < c->md->specs[i].n_fields; k++) {
      const bl_partition_field *p = &c->md->specs[i].fields[k];
      if (p->transform.kind != BL_T_VOID && uses(f, p->source_ids, p->n_source_ids))
        return bl_fail(err, BL_USAGE, "cannot make %s a %s: it is the source of the partition field %.*s", c->words[0],
                       bl_kind_name(to->kind), BL_STR_ARG(p->name));
    }
  return BL_OK;
}

static bl_status widen_default(bl_alter_context *c, bl_json *holder, const char *key, const bl_field *f,
                               const bl_value *v, const bl_type *to, bl_error *err) {
  bl_value wide;
  if (!v) return BL_OK;
  if (!bl_value_promote(&f->type, v, to, &wide))
    return bl_fail(err, BL_USAGE, "cannot change the type of %s: its default does not fit", c->words[0]);
  bl_json *j = bl_value_to_json(c->a, to, &wide);
  return j && bl_json_set(c->a, holder, key, j) ? BL_OK : bl_nomem(err);
}

static bool is_v3_promotion(const bl_type *from, const bl_type *to) {
  return from->kind == BL_KIND_UNKNOWN || (from->kind == BL_DATE && to->kind != BL_DATE);
}

static bl_str type_text(bl_arena *a, const bl_type *t) {
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_type_print(&b, t);
  bl_str text = b.failed ? BL_STR_NONE : bl_arena_str(a, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  return text;
}

bl_status bl_alter_type(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  bl_type to;
  int32_t no_ids = 0;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  BL_TRY(bl_type_text(c->a, bl_str_of(c->words[1]), &no_ids, &to, err));
  bool allowed = !bl_kind_is_nested(to.kind) && !bl_kind_is_nested(f->type.kind) &&
                 bl_type_can_promote(&f->type, &to) && (c->md->format_version > 2 || !is_v3_promotion(&f->type, &to));
  if (!allowed) {
    bl_str was = type_text(c->a, &f->type);
    return bl_fail(err, BL_USAGE, "cannot make %s a %s: %s is not widened to it", c->words[0], c->words[1],
                   was.p ? was.p : "?");
  }
  BL_TRY(check_partitions(c, f, &to, err));
  BL_TRY(widen_default(c, at.holder, "initial-default", f, f->initial_default, &to, err));
  BL_TRY(widen_default(c, at.holder, "write-default", f, f->write_default, &to, err));
  bl_str name = type_text(c->a, &to);
  bl_json *v = name.p ? bl_json_new_str(c->a, name) : NULL;
  return v && bl_json_set(c->a, at.holder, at.type_key, v) ? BL_OK : bl_nomem(err);
}

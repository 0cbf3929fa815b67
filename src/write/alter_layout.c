/* alter_layout.c: partition fields and sort orders (spec: "Partition Evolution": what was written stays under its
 * spec). */
#include "format/metadata_json.h"
#include "write/alter.h"
#include "write/schema_text.h"

static bool same_field(const bl_partition_field *a, const bl_partition_field *b) {
  return a->n_source_ids == 1 && b->n_source_ids == 1 && a->source_ids[0] == b->source_ids[0] &&
         bl_str_eq(a->transform.text, b->transform.text);
}

/* An equal field of an older spec keeps its id (spec: "Partition Evolution"); *last_id otherwise grows. In version 1 a
 * field that was dropped is still there, with its id. */
static void give_id(const bl_metadata *md, bl_partition_field *f, bool named, int32_t *last_id) {
  for (size_t i = 0; md->format_version > 1 && i < md->n_specs; i++)
    for (size_t k = 0; k < md->specs[i].n_fields; k++) {
      const bl_partition_field *old = &md->specs[i].fields[k];
      if (!same_field(old, f) || (named && !bl_str_eq(old->name, f->name))) continue;
      f->field_id = old->field_id;
      f->name = old->name;
      return;
    }
  f->field_id = ++*last_id;
}

static bl_status current_spec(bl_alter_context *c, bl_partition_spec *out, bl_error *err) {
  const bl_partition_spec *spec = bl_metadata_spec(c->md, c->md->default_spec_id);
  *out = (bl_partition_spec){.fields = bl_arena_calloc(c->a, spec->n_fields + 1, sizeof *out->fields),
                             .n_fields = spec->n_fields};
  if (!out->fields) return bl_nomem(err);
  if (spec->n_fields) memcpy(out->fields, spec->fields, spec->n_fields * sizeof *out->fields);
  return BL_OK;
}

/* A field that was there before has its old name, which may be another column's by now. */
static bl_status check_name(const bl_alter_context *c, const bl_partition_field *f, bl_error *err) {
  const bl_type *root = &c->schema->root;
  for (size_t i = 0; i < root->n_fields; i++)
    if (bl_str_eq(root->fields[i].name, f->name) && root->fields[i].id != f->source_ids[0])
      return bl_fail(err, BL_USAGE, "the name %.*s is a column's: give the field another one (as NAME)",
                     BL_STR_ARG(f->name));
  return BL_OK;
}

/* Version 1: a field that was dropped gives its name to a new one, as Java does it. */
static bl_status rename_dropped(bl_alter_context *c, bl_partition_field *f, bl_error *err) {
  f->name = bl_arena_printf(c->a, "%.*s_%d", BL_STR_ARG(f->name), (int)f->field_id);
  return f->name.p ? BL_OK : bl_nomem(err);
}

static bl_status add_field(bl_alter_context *c, bl_partition_spec *spec, int32_t *last_id, bl_error *err) {
  bl_partition_spec one;
  BL_TRY(bl_partition_text(c->a, bl_str_of(c->words[1]), c->schema, &one, err));
  if (one.n_fields != 1) return bl_fail(err, BL_USAGE, "one partition field is expected: %s", c->words[1]);
  bl_partition_field *f = &one.fields[0];
  for (size_t i = 0; i < spec->n_fields; i++)
    if (same_field(&spec->fields[i], f))
      return bl_fail(err, BL_USAGE, "the table is partitioned so already: %.*s", BL_STR_ARG(spec->fields[i].name));
  if (*last_id == INT32_MAX) return bl_fail(err, BL_USAGE, "the table has no partition field id left");
  give_id(c->md, f, strstr(c->words[1], " as ") != NULL, last_id);
  BL_TRY(check_name(c, f, err));
  for (size_t i = 0; i < spec->n_fields; i++) {
    if (!bl_str_eq(spec->fields[i].name, f->name)) continue;
    if (spec->fields[i].transform.kind != BL_T_VOID)
      return bl_fail(err, BL_USAGE, "there is a partition field %.*s already: give it another name (as NAME)",
                     BL_STR_ARG(f->name));
    BL_TRY(rename_dropped(c, &spec->fields[i], err));
  }
  spec->fields[spec->n_fields++] = *f;
  return BL_OK;
}

/* By name, or as it would be added. */
static bl_status find_field(bl_alter_context *c, const bl_partition_spec *spec, size_t *at, bl_error *err) {
  bl_partition_spec one;
  bl_error why = BL_ERROR_INIT;
  for (*at = 0; *at < spec->n_fields; ++*at)
    if (bl_str_is(spec->fields[*at].name, c->words[1])) return BL_OK;
  bl_status st = bl_partition_text(c->a, bl_str_of(c->words[1]), c->schema, &one, &why);
  if (st == BL_NOMEM) return bl_nomem(err);
  for (*at = 0; st == BL_OK && one.n_fields == 1 && *at < spec->n_fields; ++*at)
    if (same_field(&spec->fields[*at], &one.fields[0])) return BL_OK;
  return bl_fail(err, BL_USAGE, "there is no partition field %s", c->words[1]);
}

static bl_status drop_field(bl_alter_context *c, bl_partition_spec *spec, bl_error *err) {
  size_t at;
  BL_TRY(find_field(c, spec, &at, err));
  if (c->md->format_version == 1) /* positions count there */
    return bl_transform_parse(c->a, BL_STR("void"), &spec->fields[at].transform, err);
  spec->n_fields--;
  memmove(&spec->fields[at], &spec->fields[at + 1], (spec->n_fields - at) * sizeof *spec->fields);
  return BL_OK;
}

bl_status bl_alter_partition(bl_alter_context *c, bl_error *err) {
  bl_partition_spec spec;
  int32_t last_id = c->md->last_partition_id, id;
  BL_TRY(current_spec(c, &spec, err));
  if (strcmp(c->words[0], "add") == 0) BL_TRY(add_field(c, &spec, &last_id, err));
  else if (strcmp(c->words[0], "drop") == 0) BL_TRY(drop_field(c, &spec, err));
  else return bl_fail(err, BL_USAGE, "wrong change: partition add FIELD or partition drop FIELD is expected");
  return bl_edit_default_spec(c->e, bl_spec_to_json(c->a, &spec), last_id, &id, err);
}

bl_status bl_alter_sort(bl_alter_context *c, bl_error *err) {
  bl_sort_order order;
  int32_t id;
  bool none = strcmp(c->words[0], "none") == 0;
  BL_TRY(bl_sort_text(c->a, bl_str_of(none ? "" : c->words[0]), c->schema, &order, err));
  return bl_edit_default_order(c->e, bl_sort_order_to_json(c->a, &order), &id, err);
}

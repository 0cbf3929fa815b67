/* alter_follow.c: what follows a column that is added, renamed or dropped: the name mapping (property
 * schema.name-mapping.default), by which files without field ids are read, and properties that name the column. */
#include "format/metadata_json.h"
#include "write/alter.h"
#include "write/foreign_file.h"

static const char mapping_key[] = "schema.name-mapping.default";

/* ---- the mapping ---- */

/* *out NULL: the table has none, or one that is no list. */
static bl_status read_mapping(bl_alter_context *c, bl_json **out, bl_error *err) {
  bl_str text = bl_pairs_get(&c->md->properties, mapping_key);
  *out = NULL;
  if (!text.p) return BL_OK;
  bl_status st = bl_json_parse(c->a, text.p, text.n, out, err);
  if (st != BL_OK) return bl_fail_in(err, st, "%s", mapping_key);
  if ((*out)->kind != BL_J_ARRAY) *out = NULL;
  return BL_OK;
}

static bl_status write_mapping(bl_alter_context *c, const bl_json *mapping, bl_error *err) {
  bl_str text = bl_json_text(c->a, mapping);
  return text.p ? bl_edit_property(c->e, bl_str_of(mapping_key), text, err) : bl_nomem(err);
}

/* The entry of a field, and the list that it is in. */
static bl_json *find_mapped(bl_json *list, int32_t id, bl_json **in) {
  for (bl_json *m = list ? list->first : NULL; m; m = m->next) {
    *in = list;
    if (bl_alter_is_id(m, "field-id", id)) return m;
    bl_json *fields = (bl_json *)bl_json_get(m, "fields");
    bl_json *found = fields && fields->kind == BL_J_ARRAY ? find_mapped(fields, id, in) : NULL;
    if (found) return found;
  }
  return NULL;
}

static bool has_text(const bl_json *list, bl_str s) {
  for (const bl_json *v = list->first; v; v = v->next)
    if (v->kind == BL_J_STRING && bl_str_eq(v->text, s)) return true;
  return false;
}

/* Values change their column: that is what the mapping says from now on, but nobody may have meant it. */
static void warn_of_move(const bl_alter_context *c, const bl_json *from, bl_str name, bl_str to) {
  int32_t id = -1;
  const bl_json *v = bl_json_get(from, "field-id");
  if (v && bl_json_i32(v, &id, NULL) != BL_OK) return;
  const bl_field *f = bl_schema_find(c->schema, id);
  bl_warn(bl_arena_ctx(c->a),
          "the name %.*s in %s was that of %s%.*s (field %d) and now is that of the column %.*s: files without field "
          "ids that have a column %.*s are read as this one from now on",
          BL_STR_ARG(name), mapping_key, f ? "the column " : "a dropped column", f ? (int)f->name.n : 0,
          f ? f->name.p : "", (int)id, BL_STR_ARG(to), BL_STR_ARG(name));
}

/* A name means one field, the newest that has it: from another, which may be dropped, it is taken. to: the column's
 * name. */
static void take_name(const bl_alter_context *c, bl_json *fields, bl_str name, bl_str to) {
  for (bl_json *m = fields->first; m; m = m->next) {
    bl_json *names = (bl_json *)bl_json_get(m, "names");
    for (bl_json *v = names && names->kind == BL_J_ARRAY ? names->first : NULL, *next; v; v = next) {
      next = v->next;
      if (v->kind == BL_J_STRING && bl_str_eq(v->text, name)) {
        warn_of_move(c, m, name, to);
        bl_json_remove_child(names, v);
      }
    }
  }
}

/* The list that the fields of `parent` ("": the table) are in, made where it is not there. */
static bl_json *fields_of(bl_alter_context *c, bl_json *mapping, const char *parent) {
  if (!*parent) return mapping;
  const bl_field *f = bl_schema_find_name(c->schema, bl_str_of(parent));
  bl_json *in, *m = f ? find_mapped(mapping, f->id, &in) : NULL;
  if (!m) return NULL;
  bl_json *fields = (bl_json *)bl_json_get(m, "fields");
  if (fields) return fields;
  fields = bl_json_new(c->a, BL_J_ARRAY);
  return bl_json_set(c->a, m, "fields", fields) ? fields : NULL;
}

bl_status bl_alter_mapping_add(bl_alter_context *c, const char *parent, const bl_field *f, bl_error *err) {
  bl_json *mapping;
  BL_TRY(read_mapping(c, &mapping, err));
  bl_json *fields = mapping ? fields_of(c, mapping, parent) : NULL;
  if (!fields || fields->kind != BL_J_ARRAY) return BL_OK;
  take_name(c, fields, f->name, f->name);
  bl_json *m = bl_name_mapping_of(c->a, f);
  return m && bl_json_push(fields, m) ? write_mapping(c, mapping, err) : bl_nomem(err);
}

bl_status bl_alter_mapping_rename(bl_alter_context *c, int32_t id, bl_str to, bl_error *err) {
  bl_json *mapping;
  BL_TRY(read_mapping(c, &mapping, err));
  bl_json *in, *m = find_mapped(mapping, id, &in);
  bl_json *names = m ? (bl_json *)bl_json_get(m, "names") : NULL;
  if (!names || names->kind != BL_J_ARRAY || has_text(names, to)) return BL_OK;
  take_name(c, in, to, to);
  if (!bl_json_push(names, bl_json_new_str(c->a, to))) return bl_nomem(err);
  return write_mapping(c, mapping, err);
}

/* ---- properties ---- */

/* What a property of a column begins with; n 0: it is none. */
static bl_str prefix_of(bl_str key) {
  static const char *const prefixes[] = {"write.metadata.metrics.column.", "write.parquet.bloom-filter-enabled.column.",
                                         "write.parquet.bloom-filter-fpp.column.",
                                         "write.parquet.stats-enabled.column."};
  for (size_t i = 0; i < BL_LEN(prefixes); i++)
    if (bl_str_starts(key, bl_str_of(prefixes[i]))) return bl_str_of(prefixes[i]);
  return BL_STR("");
}

/* The name of f itself, or of a field inside it, once f is called `to`. */
static bl_status name_after(const bl_alter_context *c, const bl_field *f, const bl_field *inner, bl_str to, bl_buf *out,
                            bl_error *err) {
  bl_buf old;
  bl_buf_init(&old, out->ctx, BL_BUF_MAX);
  (void)bl_schema_full_name(c->schema, f->id, &old);
  size_t above = old.n;
  bl_buf_clear(&old);
  (void)bl_schema_full_name(c->schema, inner->id, &old);
  bl_buf_str(out, to);
  if (!old.failed && old.n > above) bl_buf_add(out, old.p + above, old.n - above);
  bl_status st = bl_buf_ok(&old, err);
  bl_buf_free(&old);
  return st == BL_OK ? bl_buf_ok(out, err) : st;
}

static bl_status move_property(bl_alter_context *c, const bl_field *f, const bl_field *named, const bl_pair *p,
                               bl_str prefix, bl_str to, bl_error *err) {
  bl_buf key;
  bl_buf_init(&key, bl_arena_ctx(c->a), BL_BUF_MAX);
  bl_buf_str(&key, prefix);
  bl_status st = name_after(c, f, named, to, &key, err);
  bl_str renamed = st == BL_OK ? bl_arena_str(c->a, (bl_str){(const char *)key.p, key.n}) : BL_STR_NONE;
  bl_buf_free(&key);
  if (st != BL_OK) return st;
  return renamed.p ? bl_edit_property(c->e, renamed, p->value, err) : bl_nomem(err);
}

bl_status bl_alter_properties(bl_alter_context *c, const bl_field *f, bl_str to, bl_error *err) {
  const bl_pairs *all = &c->md->properties;
  for (size_t i = 0; i < all->n; i++) {
    const bl_pair *p = &all->items[i];
    bl_str prefix = prefix_of(p->key), name = {p->key.p + prefix.n, p->key.n - prefix.n};
    const bl_field *named = prefix.n ? bl_schema_find_alias(c->schema, name) : NULL;
    const bl_schema inside = {.root = f->type};
    if (!named || (named->id != f->id && !bl_schema_find(&inside, named->id))) continue;
    bl_edit_unset_property(c->e, p->key.p);
    if (to.p) BL_TRY(move_property(c, f, named, p, prefix, to, err));
  }
  return BL_OK;
}

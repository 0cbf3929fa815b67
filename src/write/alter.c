/* alter.c: one change of a table's schema, partitions or order (spec: "Schema Evolution", "Partition Evolution").
 * Columns are known by id: data files stay as they are. */
#include "write/alter.h"

#include "format/metadata_json.h"
#include "write/commit.h"
#include "write/schema_text.h"

bool bl_alter_is_id(const bl_json *obj, const char *key, int32_t id) {
  const bl_json *v = bl_json_get(obj, key);
  int32_t x;
  return v && bl_json_i32(v, &x, NULL) == BL_OK && x == id;
}

/* ---- the document of the current schema ---- */

static const bl_json *current_document(const bl_metadata *md) {
  const bl_json *list = bl_json_get(md->json, "schemas");
  for (const bl_json *v = list ? list->first : NULL; v; v = v->next)
    if (bl_alter_is_id(v, "schema-id", md->current_schema_id)) return v;
  return bl_json_get(md->json, "schema"); /* format version 1 */
}

static const bl_type *type_of(const bl_schema *s, const bl_field *f) {
  return f ? &f->type : &s->root;
}

static bl_status find_by_id(bl_json *type, int32_t id, bl_field_place *out);

static bl_status find_in_struct(bl_json *type, int32_t id, bl_field_place *out) {
  bl_json *fields = (bl_json *)bl_json_get(type, "fields");
  for (bl_json *f = fields ? fields->first : NULL; f; f = f->next) {
    if (bl_alter_is_id(f, "id", id)) {
      *out = (bl_field_place){f, "type", "required", fields, false};
      return BL_OK;
    }
    if (find_by_id((bl_json *)bl_json_get(f, "type"), id, out) == BL_OK) return BL_OK;
  }
  return BL_NOT_FOUND;
}

static bl_status find_in(bl_json *type, const char *id_key, const char *key, const char *required, int32_t id,
                         bl_field_place *out) {
  if (bl_alter_is_id(type, id_key, id)) {
    *out = (bl_field_place){type, key, required, NULL, false};
    return BL_OK;
  }
  return find_by_id((bl_json *)bl_json_get(type, key), id, out);
}

static bl_status find_by_id(bl_json *type, int32_t id, bl_field_place *out) {
  if (!type || type->kind != BL_J_OBJECT) return BL_NOT_FOUND;
  if (bl_json_get(type, "fields")) return find_in_struct(type, id, out);
  if (bl_json_get(type, "element-id")) return find_in(type, "element-id", "element", "element-required", id, out);
  if (find_in(type, "key-id", "key", NULL, id, out) == BL_OK) {
    out->in_key = true;
    return BL_OK;
  }
  return find_in(type, "value-id", "value", "value-required", id, out);
}

bl_status bl_alter_find(bl_alter_context *c, const char *name, const bl_field **f, bl_field_place *out, bl_error *err) {
  *f = bl_schema_find_name(c->schema, bl_str_of(name));
  if (!*f) return bl_fail(err, BL_USAGE, "there is no column %s", name);
  if (find_by_id(c->doc, (*f)->id, out) == BL_OK) {
    if (!out->in_key) return BL_OK;
    return bl_fail(err, BL_USAGE, "cannot change %s: the keys of a map stay as they are", name);
  }
  return bl_fail(err, BL_DAMAGED, "the schema's document has no field %d", (int)(*f)->id);
}

/* The part that begins with a quote at p is written to *to; the byte behind it, NULL: it does not end. */
static const char *take_quoted(const char *p, char **to) {
  for (p++; *p; p++) {
    if (*p == '"' && p[1] != '"') return p + 1;
    if (*p == '"') p++;
    *(*to)++ = *p;
  }
  return NULL;
}

bl_status bl_alter_unquote(bl_arena *a, const char *name, const char **plain, size_t *last, bl_error *err) {
  char *text = bl_arena_alloc(a, strlen(name) + 1, 1), *to = text;
  if (!text) return bl_nomem(err);
  *last = 0;
  for (const char *p = name;; *to++ = *p++) {
    if (*p == '"') p = take_quoted(p, &to);
    else
      while (*p && *p != '.') *to++ = *p++;
    if (!p || (*p && *p != '.'))
      return bl_fail(err, BL_USAGE, "wrong name of a column: %s: the quotes do not match", name);
    if (!*p) break;
    *last = (size_t)(to - text) + 1;
  }
  *to = 0;
  *plain = text;
  return BL_OK;
}

bl_str bl_alter_parent_name(bl_alter_context *c) {
  return c->last ? bl_arena_str(c->a, (bl_str){c->words[0], c->last - 1}) : BL_STR("");
}

bl_status bl_alter_parent(bl_alter_context *c, bl_json **fields, const bl_type **parent, bl_str *last, bl_error *err) {
  const bl_field *f = NULL;
  bl_field_place at = {.holder = c->doc};
  bl_json *type = c->doc;
  bl_str path = bl_alter_parent_name(c);
  if (!path.p) return bl_nomem(err);
  *last = bl_str_of(c->words[0] + c->last);
  if (c->last) {
    BL_TRY(bl_alter_find(c, path.p, &f, &at, err));
    type = (bl_json *)bl_json_get(at.holder, at.type_key);
  }
  *parent = type_of(c->schema, f);
  *fields = type && type->kind == BL_J_OBJECT ? (bl_json *)bl_json_get(type, "fields") : NULL;
  if ((*parent)->kind == BL_STRUCT && *fields) return BL_OK;
  return bl_fail(err, BL_USAGE, "%s is no struct: it has no fields of its own", path.p);
}

static bl_json *sibling(bl_json *siblings, const char *name) {
  for (bl_json *f = siblings->first; f; f = f->next) {
    const bl_json *v = bl_json_get(f, "name");
    if (v && bl_str_is(v->text, name)) return f;
  }
  return NULL;
}

bl_status bl_alter_place(bl_alter_context *c, bl_json *siblings, bl_json *field, const char *where, const char *other,
                         bl_error *err) {
  bool first = strcmp(where, "first") == 0, after = strcmp(where, "after") == 0;
  const char *plain = "";
  size_t last = 0;
  if (!first && !after && strcmp(where, "before") != 0)
    return bl_fail(err, BL_USAGE, "wrong place: %s: first, after NAME or before NAME is expected", where);
  if (other) BL_TRY(bl_alter_unquote(c->a, other, &plain, &last, err));
  bl_json *next = first ? NULL : other ? sibling(siblings, plain + last) : NULL;
  if (!first && !next) return bl_fail(err, BL_USAGE, "there is no column %s beside it", other ? other : "");
  if (next == field) return bl_fail(err, BL_USAGE, "a column cannot stand beside itself: %s", other);
  /* every sibling is put behind the others once, in the new order */
  bl_json **all = bl_arena_alloc(c->a, siblings->n, sizeof *all);
  size_t n = 0;
  if (!all) return bl_nomem(err);
  for (bl_json *f = siblings->first; f; f = f->next) all[n++] = f;
  for (size_t i = 0; i < n; i++) bl_json_remove_child(siblings, all[i]);
  bool ok = !first || bl_json_push(siblings, field);
  for (size_t i = 0; i < n && ok; i++) {
    if (all[i] == field) continue;
    if (all[i] == next && !after) ok = bl_json_push(siblings, field);
    ok = ok && bl_json_push(siblings, all[i]);
    if (all[i] == next && after) ok = ok && bl_json_push(siblings, field);
  }
  return ok ? BL_OK : bl_nomem(err);
}

/* ---- small verbs ---- */

static bl_status set(bl_alter_context *c, bl_json *obj, const char *key, bl_json *v, bl_error *err) {
  return v && bl_json_set(c->a, obj, key, v) ? BL_OK : bl_nomem(err);
}

static bl_status alter_move(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  if (!at.siblings) return bl_fail(err, BL_USAGE, "%s is no field of a struct: it cannot be moved", c->words[0]);
  return bl_alter_place(c, at.siblings, at.holder, c->words[1], c->n > 2 ? c->words[2] : NULL, err);
}

static bl_status alter_optional(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  for (size_t i = 0; i < c->schema->n_identifier_ids; i++)
    if (c->schema->identifier_ids[i] == f->id)
      return bl_fail(err, BL_USAGE, "%s is an identifier field: it stays required", c->words[0]);
  return set(c, at.holder, at.required_key, bl_json_new_bool(c->a, false), err);
}

static bl_status alter_doc(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  if (!at.siblings) return bl_fail(err, BL_USAGE, "%s is no field of a struct: it has no doc", c->words[0]);
  if (*c->words[1]) return set(c, at.holder, "doc", bl_json_new_str(c->a, bl_str_of(c->words[1])), err);
  bl_json_remove(at.holder, "doc");
  return BL_OK;
}

/* The default of rows to come; what older rows read stays. */
static bl_status alter_default(bl_alter_context *c, bl_error *err) {
  const bl_field *f;
  bl_field_place at;
  bl_value *v;
  BL_TRY(bl_alter_find(c, c->words[0], &f, &at, err));
  if (c->md->format_version < 3)
    return bl_fail(err, BL_USAGE, "defaults need format version 3, the table has %d", c->md->format_version);
  if (!at.siblings) return bl_fail(err, BL_USAGE, "%s is no field of a struct: it has no default", c->words[0]);
  BL_TRY(bl_default_text(c->a, bl_str_of(c->words[1]), &f->type, &v, err));
  if (v) return set(c, at.holder, "write-default", bl_value_to_json(c->a, &f->type, v), err);
  if (f->required && f->write_default) return bl_fail(err, BL_USAGE, "%s is required: it keeps a default", c->words[0]);
  bl_json_remove(at.holder, "write-default");
  return BL_OK;
}

static bl_str next_name(bl_arena *a, const char **p) {
  size_t n = strcspn(*p, ",");
  bl_str s = {*p, n};
  *p += n + (*p + n != strchr(*p, 0));
  while (s.n && *s.p == ' ') s.p++, s.n--;
  while (s.n && s.p[s.n - 1] == ' ') s.n--;
  return bl_arena_str(a, s);
}

static bl_status alter_identifier(bl_alter_context *c, bl_error *err) {
  bl_json *ids = bl_json_new(c->a, BL_J_ARRAY);
  for (const char *p = c->words[0]; *p;) {
    bl_str name = next_name(c->a, &p);
    if (!name.p) return bl_nomem(err);
    const char *plain;
    size_t last;
    BL_TRY(bl_alter_unquote(c->a, name.p, &plain, &last, err));
    const bl_field *f = bl_schema_find_name(c->schema, bl_str_of(plain));
    if (!f) return bl_fail(err, BL_USAGE, "there is no column %s", name.p);
    BL_TRY(bl_identifier_allowed(c->schema, f, err));
    if (!ids || !bl_json_push(ids, bl_json_new_i64(c->a, f->id))) return bl_nomem(err);
  }
  if (ids && ids->n == 0) {
    bl_json_remove(c->doc, "identifier-field-ids");
    return BL_OK;
  }
  return set(c, c->doc, "identifier-field-ids", ids, err);
}

/* ---- the verbs ---- */

static const struct verb {
  const char *name;
  size_t min, max;
  bool schema; /* the schema's document becomes the current one afterwards */
  bool column; /* the first word is the name of one */
  bl_status (*run)(bl_alter_context *c, bl_error *err);
  const char *usage;
} verbs[] = {
    {"add", 2, 12, true, true, bl_alter_add,
     "add NAME TYPE [not null] [default LITERAL] [doc TEXT] [first|after X|before X]"},
    {"drop", 1, 1, true, true, bl_alter_drop, "drop NAME"},
    {"rename", 2, 2, true, true, bl_alter_rename, "rename NAME NEW-NAME"},
    {"move", 2, 3, true, true, alter_move, "move NAME first|after X|before X"},
    {"type", 2, 2, true, true, bl_alter_type, "type NAME TYPE"},
    {"optional", 1, 1, true, true, alter_optional, "optional NAME"},
    {"default", 2, 2, true, true, alter_default, "default NAME LITERAL|null"},
    {"doc", 2, 2, true, true, alter_doc, "doc NAME TEXT"},
    {"identifier", 1, 1, true, false, alter_identifier, "identifier NAME,…"},
    {"partition", 2, 2, false, false, bl_alter_partition, "partition add|drop FIELD"},
    {"sort", 1, 1, false, false, bl_alter_sort, "sort FIELDS"},
};

static bl_status find_verb(const char *const *words, size_t n, const struct verb **out, bl_error *err) {
  for (size_t i = 0; n && i < BL_LEN(verbs); i++) {
    if (strcmp(verbs[i].name, words[0]) != 0) continue;
    *out = &verbs[i];
    if (n - 1 >= verbs[i].min && n - 1 <= verbs[i].max) return BL_OK;
    return bl_fail(err, BL_USAGE, "wrong change: %s is expected", verbs[i].usage);
  }
  return bl_fail(err, BL_USAGE,
                 "wrong change: %s: add, drop, rename, move, type, optional, default, doc, identifier, partition or "
                 "sort is expected",
                 n ? words[0] : "");
}

/* The changed document must be a schema, and one that the table can have. */
static bl_status check_document(bl_alter_context *c, bl_error *err) {
  bl_schema s = {0};
  BL_TRY(bl_schema_from_json(c->a, c->doc, &s, err));
  if (s.root.n_fields == 0) return bl_fail(err, BL_USAGE, "a table keeps at least one column");
  for (size_t i = 0; i < s.n_identifier_ids; i++) {
    const bl_field *f = bl_schema_find(&s, s.identifier_ids[i]);
    if (!f) return bl_fail(err, BL_USAGE, "an identifier field cannot be dropped");
    BL_TRY(bl_identifier_allowed(&s, f, err));
  }
  return BL_OK;
}

typedef struct alteration {
  const struct verb *verb;
  const char *const *words;
  size_t n;
} alteration;

static bl_status edit(void *user, bl_edit *e, bl_error *err) {
  const alteration *x = user;
  int32_t id;
  const bl_json *doc = current_document(e->base);
  bl_alter_context c = {.e = e,
                        .a = e->a,
                        .md = e->base,
                        .schema = bl_metadata_current_schema(e->base),
                        .doc = doc ? bl_json_copy(e->a, doc) : NULL,
                        .last_column_id = e->base->last_column_id,
                        .n = x->n - 1,
                        .err = err};
  const char **words = bl_arena_alloc(e->a, x->n, sizeof *words);
  if (!c.doc || !words) return bl_nomem(err);
  for (size_t i = 1; i < x->n; i++) words[i - 1] = x->words[i];
  c.words = words;
  if (x->verb->column) BL_TRY(bl_alter_unquote(e->a, words[0], &words[0], &c.last, err));
  BL_TRY(x->verb->run(&c, err));
  if (!x->verb->schema) return BL_OK;
  BL_TRY(check_document(&c, err));
  return bl_edit_current_schema(e, c.doc, c.last_column_id, &id, err);
}

bl_status bl_alter(bl_table *t, const char *const *words, size_t n, const bl_write_options *o, bl_error *err) {
  alteration x = {.words = words, .n = n};
  BL_TRY(find_verb(words, n, &x.verb, err));
  return bl_commit_metadata(t, "alter", edit, &x, o, err);
}

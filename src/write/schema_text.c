/* schema_text.c: see schema_text.h. */
#include "write/schema_text.h"

#include <stdio.h>

#include "model/expr_lex.h"
#include "model/expr_literal.h"

enum { MOST_NESTING = 100, A_KEY = 1 };

typedef struct scanner {
  bl_arena *a;
  const char *what; /* "schema" */
  bl_str text;
  size_t pos;
  int depth;
  size_t n_keys; /* fields that are marked as keys: A_KEY is their id, until they get one */
  bl_error *err;
} scanner;

static bl_status fail(scanner *s, size_t at, const char *fmt, ...) BL_PRINTF(3, 4);
static bl_status fail(scanner *s, size_t at, const char *fmt, ...) {
  char why[300];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  return bl_fail_at(s->err, BL_USAGE, (int64_t)at, "wrong %s: %.*s: byte %zu: %s", s->what,
                    (int)(s->text.n > 300 ? 300 : s->text.n), s->text.p, at, why);
}

/* ---- characters and words ---- */

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (unsigned char)c >= 0x80;
}

static char peek(scanner *s) {
  while (s->pos < s->text.n && s->text.p[s->pos] && strchr(" \t\r\n", s->text.p[s->pos])) s->pos++;
  return s->pos < s->text.n ? s->text.p[s->pos] : 0;
}

static bool take(scanner *s, char c) {
  if (peek(s) != c || c == 0) return false;
  s->pos++;
  return true;
}

static bl_status expect(scanner *s, char c) {
  return take(s, c) ? BL_OK : fail(s, s->pos, "'%c' is expected", c);
}

/* The letters that come next; nothing is taken. */
static bl_str next_word(scanner *s) {
  size_t n = 0;
  (void)peek(s);
  while (s->pos + n < s->text.n && is_name_char(s->text.p[s->pos + n])) n++;
  return (bl_str){s->text.p + s->pos, n};
}

static bool take_word(scanner *s, const char *word) {
  bl_str w = next_word(s);
  if (!bl_str_is_nocase(w, word)) return false;
  s->pos += w.n;
  return true;
}

/* One token of expr_lex.h: quoted names, strings, numbers. */
static bl_status lex(scanner *s, bl_token *out) {
  bl_lexer l = {s->a, s->text, s->pos};
  BL_TRY(bl_lex(&l, out, s->err));
  s->pos = l.pos;
  return BL_OK;
}

static bl_status take_name(scanner *s, bl_str *out) {
  bl_token t;
  if (peek(s) == '"') {
    BL_TRY(lex(s, &t));
    *out = t.text;
  } else {
    *out = next_word(s);
    s->pos += out->n;
  }
  if (out->n == 0) return fail(s, s->pos, "a name is expected");
  if (!bl_utf8_valid(out->p, out->n)) return fail(s, s->pos, "the name is no UTF-8");
  *out = bl_arena_str(s->a, *out);
  return out->p ? BL_OK : bl_nomem(s->err);
}

/* a.b.c, each part a name. */
static bl_status take_path(scanner *s, bl_str *out) {
  BL_TRY(take_name(s, out));
  while (take(s, '.')) {
    bl_str part;
    BL_TRY(take_name(s, &part));
    *out = bl_arena_printf(s->a, "%.*s.%.*s", (int)out->n, out->p, (int)part.n, part.p);
    if (!out->p) return bl_nomem(s->err);
  }
  return BL_OK;
}

static bl_status begin(scanner *s, bl_arena *a, const char *what, bl_str text, bl_error *err) {
  *s = (scanner){.a = a, .what = what, .text = text, .err = err};
  return BL_OK;
}

static bl_status at_end(scanner *s) {
  return peek(s) == 0 && s->pos == s->text.n ? BL_OK : fail(s, s->pos, "'%c' is not expected", s->text.p[s->pos]);
}

/* ---- literals ---- */

static bool literal_of(const bl_token *t, bl_literal *out) {
  *out = (bl_literal){.text = t->text, .at = t->at};
  switch (t->kind) {
  case BL_TK_NUMBER: out->kind = BL_L_NUMBER; return true;
  case BL_TK_STRING: out->kind = BL_L_STRING; return true;
  case BL_TK_BYTES: out->kind = BL_L_BYTES; return true;
  case BL_TK_WORD:
    if (bl_str_is_nocase(t->text, "null")) out->kind = BL_L_NULL;
    else if (bl_str_is_nocase(t->text, "true") || bl_str_is_nocase(t->text, "false")) out->kind = BL_L_BOOL;
    else return false;
    return true;
  default: return false;
  }
}

/* date '2026-01-31' and the like. */
static bl_status typed_literal(scanner *s, bl_token *t, bl_literal *out) {
  static const struct {
    const char *word;
    bl_literal_kind kind;
  } kinds[] = {
      {"date", BL_L_DATE}, {"timestamp", BL_L_TIMESTAMP}, {"timestamptz", BL_L_TIMESTAMPTZ}, {"uuid", BL_L_UUID}};
  for (size_t i = 0; t->kind == BL_TK_WORD && i < BL_LEN(kinds); i++) {
    if (!bl_str_is_nocase(t->text, kinds[i].word)) continue;
    BL_TRY(lex(s, t));
    if (t->kind != BL_TK_STRING) break;
    *out = (bl_literal){kinds[i].kind, t->text, t->at};
    return BL_OK;
  }
  return fail(s, t->at, "a literal is expected");
}

static bl_status take_default(scanner *s, const bl_type *type, const bl_value **out) {
  bl_token t;
  bl_literal l;
  bl_fit fit;
  size_t at = s->pos;
  *out = NULL;
  BL_TRY(lex(s, &t));
  if (!literal_of(&t, &l)) BL_TRY(typed_literal(s, &t, &l));
  if (l.kind == BL_L_NULL) return BL_OK;
  if (bl_kind_is_nested(type->kind)) return fail(s, at, "a %s has no default but null", bl_kind_name(type->kind));
  bl_value *v = bl_arena_alloc(s->a, 1, sizeof *v);
  if (!v) return bl_nomem(s->err);
  BL_TRY(bl_literal_fit(s->a, &l, type, v, &fit, s->err));
  if (fit != BL_FIT_EXACT) return fail(s, at, "the default is no value of the type %s", bl_kind_name(type->kind));
  *out = v;
  return BL_OK;
}

bl_status bl_default_text(bl_arena *a, bl_str text, const bl_type *t, bl_value **out, bl_error *err) {
  scanner s;
  const bl_value *v;
  BL_TRY(begin(&s, a, "default", text, err));
  BL_TRY(take_default(&s, t, &v));
  *out = (bl_value *)v;
  return at_end(&s);
}

/* ---- types ---- */

static bl_status take_type(scanner *s, bl_type *out);
static bl_status take_field(scanner *s, bl_field *out);

static bl_status fields_of(scanner *s, bl_type *t, size_t n) {
  t->fields = bl_arena_calloc(s->a, n, sizeof *t->fields);
  t->n_fields = n;
  return t->fields ? BL_OK : bl_nomem(s->err);
}

static bool take_required(scanner *s) {
  size_t at = s->pos;
  if (take_word(s, "not") && take_word(s, "null")) return true;
  s->pos = at;
  return false;
}

static bl_status take_list(scanner *s, bl_type *out) {
  out->kind = BL_LIST;
  BL_TRY(fields_of(s, out, 1));
  out->fields[0].name = BL_STR("element");
  BL_TRY(take_type(s, &out->fields[0].type));
  out->fields[0].required = take_required(s);
  return BL_OK;
}

static bl_status take_map(scanner *s, bl_type *out) {
  out->kind = BL_MAP;
  BL_TRY(fields_of(s, out, 2));
  out->fields[0].name = BL_STR("key");
  out->fields[0].required = true;
  out->fields[1].name = BL_STR("value");
  BL_TRY(take_type(s, &out->fields[0].type));
  (void)take_required(s);
  BL_TRY(expect(s, ','));
  BL_TRY(take_type(s, &out->fields[1].type));
  out->fields[1].required = take_required(s);
  return BL_OK;
}

/* Fields up to the end mark, which stays (0: the end of the text). */
static bl_status take_fields(scanner *s, char end, bl_type *out) {
  bl_ctx *ctx = bl_arena_ctx(s->a);
  bl_field *items = NULL;
  size_t n = 0, cap = 0;
  bl_status st = BL_OK;
  out->kind = BL_STRUCT;
  do {
    if (n == 0 && peek(s) == end) break;
    BL_GO(bl_grow(ctx, &items, &cap, n, sizeof *items, s->err));
    BL_GO(take_field(s, &items[n++]));
  } while (take(s, ','));
  BL_GO(fields_of(s, out, n));
  if (n) memcpy(out->fields, items, n * sizeof *items);
done:
  bl_free(ctx, items);
  return st;
}

static bl_status take_nested(scanner *s, const char *name, bl_type *out) {
  BL_TRY(expect(s, '<'));
  if (++s->depth > MOST_NESTING) return fail(s, s->pos, "types are nested too deeply");
  if (strcmp(name, "struct") == 0) BL_TRY(take_fields(s, '>', out));
  else if (strcmp(name, "map") == 0) BL_TRY(take_map(s, out));
  else BL_TRY(take_list(s, out));
  s->depth--;
  return expect(s, '>');
}

const char *bl_type_flaw(const bl_type *t) {
  if (t->kind == BL_DECIMAL && t->scale > t->precision) return "the scale is greater than the precision";
  if (t->kind == BL_FIXED && t->length == 0) return "the length is 0";
  const char *why = NULL;
  for (size_t i = 0; i < t->n_fields && !why; i++) why = bl_type_flaw(&t->fields[i].type);
  return why;
}

/* A word and what stands in brackets behind it. */
static bl_status take_primitive(scanner *s, bl_type *out) {
  static const char *const others[][2] = {{"bigint", "long"}, {"integer", "int"},    {"bool", "boolean"},
                                          {"real", "float"},  {"varchar", "string"}, {"text", "string"},
                                          {"bytes", "binary"}};
  size_t at = s->pos;
  bl_str word = next_word(s), text = word;
  for (size_t i = 0; i < BL_LEN(others); i++)
    if (bl_str_is_nocase(word, others[i][0])) text = bl_str_of(others[i][1]);
  s->pos += word.n;
  char open = peek(s);
  if (open == '(' || open == '[') {
    const char *end = memchr(s->text.p + s->pos, open == '(' ? ')' : ']', s->text.n - s->pos);
    if (!end) return fail(s, s->pos, "the bracket is not closed");
    text = (bl_str){s->text.p + at, (size_t)(end + 1 - s->text.p) - at};
    s->pos = at + text.n;
  }
  if (word.n == 0) return fail(s, at, "a type is expected");
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_type_parse_primitive(s->a, text, out, &why);
  if (st == BL_NOMEM) return bl_nomem(s->err);
  if (st != BL_OK) return fail(s, at, "%s", why.message);
  const char *flaw = bl_type_flaw(out);
  return flaw ? fail(s, at, "no value is of the type %.*s: %s", BL_STR_ARG(text), flaw) : BL_OK;
}

static bl_status take_type(scanner *s, bl_type *out) {
  static const char *const nested[] = {"struct", "list", "map", "array"};
  *out = (bl_type){0};
  (void)peek(s);
  for (size_t i = 0; i < BL_LEN(nested); i++)
    if (take_word(s, nested[i])) return take_nested(s, nested[i], out);
  return take_primitive(s, out);
}

/* ---- columns ---- */

static bl_status take_comment(scanner *s, bl_str *out) {
  bl_token t;
  BL_TRY(lex(s, &t));
  if (t.kind != BL_TK_STRING) return fail(s, t.at, "a text in '…' is expected");
  *out = t.text;
  return BL_OK;
}

static bl_status take_attributes(scanner *s, bl_field *f) {
  for (;;) {
    if (take_required(s)) f->required = true;
    else if (take_word(s, "null")) f->required = false;
    else if (take_word(s, "default")) {
      BL_TRY(take_default(s, &f->type, &f->write_default));
      f->initial_default = f->write_default;
    } else if (take_word(s, "comment") || take_word(s, "doc")) BL_TRY(take_comment(s, &f->doc));
    else if (take_word(s, "primary")) {
      if (!take_word(s, "key")) return fail(s, s->pos, "'key' is expected");
      f->required = true;
      s->n_keys += f->id != A_KEY;
      f->id = A_KEY;
    } else return BL_OK;
  }
}

static bl_status take_field(scanner *s, bl_field *out) {
  *out = (bl_field){0};
  BL_TRY(take_name(s, &out->name));
  (void)take(s, ':');
  BL_TRY(take_type(s, &out->type));
  return take_attributes(s, out);
}

static bl_status check_names(scanner *s, const bl_type *t) {
  for (size_t i = 0; t->kind == BL_STRUCT && i < t->n_fields; i++)
    for (size_t k = 0; k < i; k++)
      if (bl_str_eq(t->fields[i].name, t->fields[k].name))
        return fail(s, 0, "the name %.*s is there twice", BL_STR_ARG(t->fields[i].name));
  for (size_t i = 0; i < t->n_fields; i++) BL_TRY(check_names(s, &t->fields[i].type));
  return BL_OK;
}

static bl_status take_columns(scanner *s, bl_type *out) {
  BL_TRY(take_fields(s, 0, out));
  if (out->n_fields == 0) return fail(s, s->pos, "a name is expected");
  BL_TRY(at_end(s));
  return check_names(s, out);
}

/* Ids of the fields of t that are marked in `text`, which is the same but for its ids. */
static void keys_of(const bl_type *text, const bl_type *t, int32_t *ids, size_t *n) {
  for (size_t i = 0; i < t->n_fields; i++) {
    if (text->fields[i].id == A_KEY) ids[(*n)++] = t->fields[i].id;
    keys_of(&text->fields[i].type, &t->fields[i].type, ids, n);
  }
}

bl_status bl_schema_text(bl_arena *a, bl_str text, bl_schema *out, bl_error *err) {
  scanner s;
  bl_type columns = {0};
  *out = (bl_schema){0};
  BL_TRY(begin(&s, a, "schema", text, err));
  BL_TRY(take_columns(&s, &columns));
  BL_TRY(bl_type_fresh_ids(a, &columns, &out->highest_id, &out->root, err));
  out->identifier_ids = bl_arena_alloc(a, s.n_keys, sizeof *out->identifier_ids);
  if (!out->identifier_ids) return bl_nomem(err);
  keys_of(&columns, &out->root, out->identifier_ids, &out->n_identifier_ids);
  return BL_OK;
}

bl_status bl_type_text(bl_arena *a, bl_str text, int32_t *last_id, bl_type *out, bl_error *err) {
  scanner s;
  bl_type t;
  BL_TRY(begin(&s, a, "type", text, err));
  BL_TRY(take_type(&s, &t));
  BL_TRY(at_end(&s));
  BL_TRY(check_names(&s, &t));
  if (s.n_keys) return fail(&s, 0, "it has no primary key: that is a table's (identifier fields)");
  return bl_type_fresh_ids(a, &t, last_id, out, err);
}

bl_status bl_type_fresh_ids(bl_arena *a, const bl_type *t, int32_t *last_id, bl_type *out, bl_error *err) {
  *out = *t;
  if (t->n_fields == 0) return BL_OK;
  out->fields = bl_arena_alloc(a, t->n_fields, sizeof *out->fields);
  if (!out->fields) return bl_nomem(err);
  for (size_t i = 0; i < t->n_fields; i++) {
    out->fields[i] = t->fields[i];
    if (*last_id >= BL_ID_FIRST_RESERVED) return bl_fail(err, BL_USAGE, "the table has no field ids left");
    out->fields[i].id = ++*last_id;
  }
  for (size_t i = 0; i < t->n_fields; i++)
    BL_TRY(bl_type_fresh_ids(a, &t->fields[i].type, last_id, &out->fields[i].type, err));
  return BL_OK;
}

/* ---- what a format version allows ---- */

static bool is_reserved_name(bl_str name) {
  static const char *const names[] = {"_row_id",         "_last_updated_sequence_number",
                                      "_file",           "_pos",
                                      "_deleted",        "_spec_id",
                                      "_partition",      "_change_type",
                                      "_change_ordinal", "_commit_snapshot_id"};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (bl_str_is_nocase(name, names[i])) return true;
  return false;
}

static bool is_v3_kind(bl_kind k) {
  return k == BL_TIMESTAMP_NS || k == BL_TIMESTAMPTZ_NS || k == BL_KIND_UNKNOWN || k == BL_VARIANT ||
         k == BL_GEOMETRY || k == BL_GEOGRAPHY;
}

bl_status bl_field_allowed(const bl_field *f, bool top, int format_version, bl_error *err) {
  if (top && is_reserved_name(f->name))
    return bl_fail(err, BL_USAGE, "wrong column name: %.*s: it is reserved for metadata columns", BL_STR_ARG(f->name));
  if (format_version < 3 && is_v3_kind(f->type.kind))
    return bl_fail(err, BL_USAGE, "wrong column: %.*s: the type %s needs format version 3, the table has %d",
                   BL_STR_ARG(f->name), bl_kind_name(f->type.kind), format_version);
  if (format_version < 3 && f->initial_default)
    return bl_fail(err, BL_USAGE, "wrong column: %.*s: defaults need format version 3, the table has %d",
                   BL_STR_ARG(f->name), format_version);
  if (f->type.kind == BL_KIND_UNKNOWN && f->required)
    return bl_fail(err, BL_USAGE, "wrong column: %.*s: a column of type unknown is optional", BL_STR_ARG(f->name));
  for (size_t i = 0; i < f->type.n_fields; i++)
    BL_TRY(bl_field_allowed(&f->type.fields[i], false, format_version, err));
  return BL_OK;
}

static bool is_in_collection(const bl_schema *s, int32_t id) {
  const bl_field *path[MOST_NESTING + 1];
  size_t n = bl_schema_path(s, id, path, BL_LEN(path));
  for (size_t i = 0; i + 1 < n; i++)
    if (path[i]->type.kind == BL_LIST || path[i]->type.kind == BL_MAP) return true;
  return false;
}

bl_status bl_identifier_allowed(const bl_schema *s, const bl_field *f, bl_error *err) {
  const bl_field *path[MOST_NESTING + 1];
  size_t n = bl_schema_path(s, f->id, path, BL_LEN(path));
  const char *why = NULL;
  if (bl_kind_is_nested(f->type.kind) || f->type.kind == BL_FLOAT || f->type.kind == BL_DOUBLE) why = "of such a type";
  if (is_in_collection(s, f->id)) why = "inside a list or map";
  for (size_t i = 0; i < n && !why; i++)
    if (!path[i]->required) why = i + 1 < n ? "inside an optional struct" : "that is optional";
  if (!why) return BL_OK;
  return bl_fail(err, BL_USAGE, "wrong identifier field: %.*s: a column %s cannot be one", BL_STR_ARG(f->name), why);
}

/* ---- transforms ---- */

typedef struct term {
  bl_transform transform;
  const bl_field *source;
  bl_str path;
} term;

/* Plural and other names that engines use. */
static bl_str transform_name(bl_str word) {
  static const char *const names[][2] = {{"years", "year"}, {"months", "month"}, {"days", "day"},
                                         {"hours", "hour"}, {"date", "day"},     {"date_hour", "hour"}};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (bl_str_is_nocase(word, names[i][0])) return bl_str_of(names[i][1]);
  return word;
}

static bl_status take_number(scanner *s, bl_str *out) {
  *out = next_word(s);
  int64_t v;
  if (!bl_parse_i64(*out, &v) || v <= 0 || v > INT32_MAX) return fail(s, s->pos, "a positive number is expected");
  s->pos += out->n;
  return BL_OK;
}

static bool is_number(bl_str word) {
  int64_t v;
  return bl_parse_i64(word, &v);
}

/* bucket(16, a), bucket(a, 16), day(ts): behind the bracket. */
static bl_status take_arguments(scanner *s, bl_str *path, bl_str *number) {
  *number = BL_STR_NONE;
  if (is_number(next_word(s))) {
    BL_TRY(take_number(s, number));
    BL_TRY(expect(s, ','));
    BL_TRY(take_path(s, path));
  } else {
    BL_TRY(take_path(s, path));
    if (take(s, ',')) BL_TRY(take_number(s, number));
  }
  return expect(s, ')');
}

static bl_status find_source(scanner *s, size_t at, const bl_schema *schema, term *t) {
  bl_type result;
  t->source = bl_schema_find_name(schema, t->path);
  if (!t->source) return fail(s, at, "there is no column %.*s", BL_STR_ARG(t->path));
  if (is_in_collection(schema, t->source->id)) return fail(s, at, "%.*s is inside a list or map", BL_STR_ARG(t->path));
  if (t->transform.kind == BL_T_OTHER) return fail(s, at, "there is no transform %.*s", BL_STR_ARG(t->transform.text));
  if (!bl_transform_result(&t->transform, &t->source->type, &result))
    return fail(s, at, "%.*s does not take a %s", BL_STR_ARG(t->transform.text), bl_kind_name(t->source->type.kind));
  return BL_OK;
}

static bl_status take_term(scanner *s, const bl_schema *schema, term *out) {
  bl_str number = BL_STR_NONE, text = BL_STR("identity");
  (void)peek(s);
  size_t at = s->pos;
  bl_str word = next_word(s);
  s->pos += word.n;
  if (word.n && take(s, '(')) {
    BL_TRY(take_arguments(s, &out->path, &number));
    bl_str name = transform_name(word);
    text = number.p ? bl_arena_printf(s->a, "%.*s[%.*s]", (int)name.n, name.p, (int)number.n, number.p)
                    : bl_arena_str(s->a, name);
  } else {
    s->pos = at;
    BL_TRY(take_path(s, &out->path));
  }
  if (!text.p) return bl_nomem(s->err);
  BL_TRY(bl_transform_parse(s->a, text, &out->transform, s->err));
  return find_source(s, at, schema, out);
}

static bl_status one_source(scanner *s, const term *t, int32_t **ids, size_t *n) {
  *ids = bl_arena_alloc(s->a, 1, sizeof **ids);
  if (!*ids) return bl_nomem(s->err);
  **ids = t->source->id;
  *n = 1;
  return BL_OK;
}

/* The name that Iceberg gives a partition field. */
static bl_str default_name(bl_arena *a, const term *t) {
  static const char *const endings[] = {
      [BL_T_IDENTITY] = "",    [BL_T_BUCKET] = "_bucket", [BL_T_TRUNCATE] = "_trunc", [BL_T_YEAR] = "_year",
      [BL_T_MONTH] = "_month", [BL_T_DAY] = "_day",       [BL_T_HOUR] = "_hour",      [BL_T_VOID] = "_null"};
  return bl_arena_printf(a, "%.*s%s", (int)t->path.n, t->path.p, endings[t->transform.kind]);
}

static bl_status take_partition(scanner *s, const bl_schema *schema, bl_partition_field *out) {
  term t;
  *out = (bl_partition_field){0};
  BL_TRY(take_term(s, schema, &t));
  out->transform = t.transform;
  if (take_word(s, "as")) BL_TRY(take_name(s, &out->name));
  else out->name = default_name(s->a, &t);
  if (!out->name.p) return bl_nomem(s->err);
  return one_source(s, &t, &out->source_ids, &out->n_source_ids);
}

/* A partition name may be a column's only where it holds the column's own values. */
static bl_status check_partition(scanner *s, const bl_schema *schema, const bl_partition_spec *spec, size_t i) {
  const bl_partition_field *f = &spec->fields[i];
  const bl_field *column = bl_schema_find_name(schema, f->name);
  if (column && (f->transform.kind != BL_T_IDENTITY || column->id != f->source_ids[0]))
    return fail(s, 0, "the name %.*s is a column's: give the field another one (as NAME)", BL_STR_ARG(f->name));
  for (size_t k = 0; k < i; k++) {
    if (bl_str_eq(spec->fields[k].name, f->name)) return fail(s, 0, "%.*s is there twice", BL_STR_ARG(f->name));
    if (spec->fields[k].source_ids[0] == f->source_ids[0] &&
        bl_str_eq(spec->fields[k].transform.text, f->transform.text))
      return fail(s, 0, "%.*s and %.*s are the same", BL_STR_ARG(spec->fields[k].name), BL_STR_ARG(f->name));
  }
  return BL_OK;
}

bl_status bl_partition_text(bl_arena *a, bl_str text, const bl_schema *schema, bl_partition_spec *out, bl_error *err) {
  scanner s;
  *out = (bl_partition_spec){.fields = bl_arena_calloc(a, text.n / 2 + 1, sizeof *out->fields)};
  if (!out->fields) return bl_nomem(err);
  BL_TRY(begin(&s, a, "partition", text, err));
  if (peek(&s) == 0) return at_end(&s);
  do {
    BL_TRY(take_partition(&s, schema, &out->fields[out->n_fields++]));
    BL_TRY(check_partition(&s, schema, out, out->n_fields - 1));
  } while (take(&s, ','));
  return at_end(&s);
}

static bl_status take_sort(scanner *s, const bl_schema *schema, bl_sort_field *out) {
  term t;
  *out = (bl_sort_field){0};
  BL_TRY(take_term(s, schema, &t));
  out->transform = t.transform;
  if (take_word(s, "desc")) out->descending = out->nulls_last = true;
  else (void)take_word(s, "asc");
  if (take_word(s, "nulls")) {
    out->nulls_last = take_word(s, "last");
    if (!out->nulls_last && !take_word(s, "first")) return fail(s, s->pos, "'first' or 'last' is expected");
  }
  return one_source(s, &t, &out->source_ids, &out->n_source_ids);
}

bl_status bl_sort_text(bl_arena *a, bl_str text, const bl_schema *schema, bl_sort_order *out, bl_error *err) {
  scanner s;
  *out = (bl_sort_order){.fields = bl_arena_calloc(a, text.n / 2 + 1, sizeof *out->fields)};
  if (!out->fields) return bl_nomem(err);
  BL_TRY(begin(&s, a, "sort order", text, err));
  if (peek(&s) == 0) return at_end(&s);
  do BL_TRY(take_sort(&s, schema, &out->fields[out->n_fields++]));
  while (take(&s, ','));
  return at_end(&s);
}

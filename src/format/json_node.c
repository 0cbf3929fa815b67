/* json_node.c: nodes of a JSON document: look-up, paths, typed access, building and editing. See json.h.
 *
 * Invariants
 *  1. `n`, `first`, `last`, `next` and `parent` agree after every function here.
 *  2. `index` of an object is a table of all its members by name, of an array all its elements in order. It is NULL
 *     for small containers, and wherever an edit could not keep it: look-up then walks the children. */
#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "base/text.h"
#include "format/json_node.h"

/* Children that are searched one by one: as many as the summary of a snapshot has, of which there are thousands. */
enum { SMALL = 24 };

typedef struct names {
  size_t size; /* a power of two, more than twice the members */
  const bl_json *slots[];
} names;

/* ---- children and their index ---- */

void bl_json_link(bl_json *in, bl_json *v) {
  v->parent = in;
  v->next = NULL;
  if (in->last) in->last->next = v;
  else in->first = v;
  in->last = v;
  in->n++;
}

/* The member's slot, or the empty one where it would go. The table's address salts the hash: names in a file cannot be
 * chosen so that they meet. */
static const bl_json **find_slot(names *t, bl_str key) {
  uint64_t h = (bl_hash(key.p, key.n) ^ (uintptr_t)t) * 0x9E3779B97F4A7C15u;
  for (size_t i = (size_t)(h >> 20);; i++) {
    const bl_json **s = &t->slots[i & (t->size - 1)];
    if (!*s || bl_str_eq((*s)->key, key)) return s;
  }
}

static bool index_names(bl_arena *a, bl_json *v, const bl_json **twice) {
  size_t size = 64;
  while (size / 3 < v->n) size *= 2;
  names *t = size > SIZE_MAX / 2 / sizeof *t->slots ? NULL : bl_arena_calloc(a, 1, sizeof *t + size * sizeof *t->slots);
  if (!t) return false;
  t->size = size;
  for (const bl_json *c = v->first; c; c = c->next) {
    const bl_json **s = find_slot(t, c->key);
    if (*s) {
      *twice = c;
      return false;
    }
    *s = c;
  }
  v->index = t;
  return true;
}

static bool index_elements(bl_arena *a, bl_json *v) {
  const bl_json **t = bl_arena_alloc(a, v->n, sizeof *t);
  if (!t) return false;
  size_t i = 0;
  for (const bl_json *c = v->first; c; c = c->next) t[i++] = c;
  v->index = t;
  return true;
}

bool bl_json_seal(bl_arena *a, bl_json *v, const bl_json **twice) {
  *twice = NULL;
  if (v->n > SMALL) return v->kind == BL_J_OBJECT ? index_names(a, v, twice) : index_elements(a, v);
  if (v->kind == BL_J_ARRAY) return true;
  for (const bl_json *c = v->first; c; c = c->next)
    for (const bl_json *d = v->first; d != c; d = d->next)
      if (bl_str_eq(c->key, d->key)) {
        *twice = c;
        return false;
      }
  return true;
}

static const bl_json *member(const bl_json *obj, bl_str key) {
  if (!obj || obj->kind != BL_J_OBJECT) return NULL;
  if (obj->index) return *find_slot(obj->index, key);
  const bl_json *c = obj->first;
  while (c && !bl_str_eq(c->key, key)) c = c->next;
  return c;
}

const bl_json *bl_json_get(const bl_json *obj, const char *key) {
  return member(obj, bl_str_of(key));
}

const bl_json *bl_json_at(const bl_json *arr, size_t i) {
  if (!arr || arr->kind != BL_J_ARRAY || i >= arr->n) return NULL;
  if (arr->index) return ((const bl_json *const *)arr->index)[i];
  const bl_json *c = arr->first;
  while (i--) c = c->next;
  return c;
}

/* ---- paths ---- */

typedef struct path {
  char *out;
  size_t n, cap;
  bool full;
} path;

/* All of s, or nothing more from then on: what is cut ends in "…". */
static void path_add(path *t, bl_str s) {
  static const bl_str more = {"\xE2\x80\xA6", 3};
  if (t->full) return;
  if (s.n + more.n >= t->cap - t->n) {
    t->full = true;
    s = more;
  }
  memcpy(t->out + t->n, s.p, s.n);
  t->n += s.n;
  t->out[t->n] = 0;
}

static bool is_name(bl_str key) {
  for (size_t i = 0; i < key.n; i++) {
    char c = key.p[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
      return false;
  }
  return key.n > 0;
}

static void path_add_key(path *t, bl_str key) {
  enum { LONGEST = 100 };
  bool name = is_name(key), cut = key.n > LONGEST;
  if (cut) {
    key.n = LONGEST;
    while (key.n && ((unsigned char)key.p[key.n] & 0xC0) == 0x80) key.n--; /* not inside a character */
  }
  path_add(t, name ? BL_STR(".") : BL_STR("[\""));
  path_add(t, key);
  if (cut) path_add(t, BL_STR("\xE2\x80\xA6"));
  if (!name) path_add(t, BL_STR("\"]"));
}

static void path_add_index(path *t, size_t i) {
  char text[32];
  int n = snprintf(text, sizeof text, "[%zu]", i);
  path_add(t, (bl_str){text, (size_t)n});
}

static void path_add_step(path *t, const bl_json *v) {
  if (v->parent->kind == BL_J_OBJECT) {
    path_add_key(t, v->key);
    return;
  }
  size_t i = 0;
  for (const bl_json *c = v->parent->first; c != v; c = c->next) i++;
  path_add_index(t, i);
}

void bl_json_path_text(const bl_json *v, bl_str key, bool next, char *out, size_t cap) {
  path t = {.out = out, .cap = cap};
  path_add(&t, BL_STR("$"));
  size_t depth = 0;
  for (const bl_json *c = v; c->parent; c = c->parent) depth++;
  for (size_t up = depth; up-- > 0 && !t.full;) {
    const bl_json *c = v;
    for (size_t i = 0; i < up; i++) c = c->parent;
    path_add_step(&t, c);
  }
  if (key.p) path_add_key(&t, key);
  else if (next && v->kind == BL_J_ARRAY) path_add_index(&t, v->n);
}

void bl_json_path(const bl_json *v, bl_buf *b) {
  char text[2000];
  bl_json_path_text(v, BL_STR_NONE, false, text, sizeof text);
  bl_buf_cstr(b, text);
}

bl_status bl_json_fail(bl_error *err, bl_status st, const bl_json *at, const char *fmt, ...) {
  char why[600], where[200];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(why, sizeof why, fmt, ap);
  va_end(ap);
  bl_json_path_text(at, BL_STR_NONE, false, where, sizeof where);
  if (at->at == BL_JSON_NOWHERE) return bl_fail(err, st, "JSON: %s: %s", where, why);
  return bl_fail_at(err, st, (int64_t)at->at, "JSON: %s (byte %zu): %s", where, at->at, why);
}

bl_status bl_json_fail_in(bl_error *err, bl_status st, const bl_json *at) {
  char where[200];
  if (!err || st == BL_NOMEM) return st;
  bl_json_path_text(at, BL_STR_NONE, false, where, sizeof where);
  if (at->at == BL_JSON_NOWHERE) return bl_fail_in(err, st, "JSON: %s", where);
  if (err->position < 0) err->position = (int64_t)at->at;
  return bl_fail_in(err, st, "JSON: %s (byte %zu)", where, at->at);
}

/* ---- typed access ---- */

static const char *kind_name(bl_json_kind k) {
  static const char *const kinds[] = {"null", "a boolean", "a number", "a string", "an array", "an object"};
  return kinds[k];
}

static bl_status expect(const bl_json *v, bl_json_kind kind, bl_error *err) {
  if (v->kind == kind) return BL_OK;
  return bl_json_fail(err, BL_DAMAGED, v, "%s, where %s should be", kind_name(v->kind), kind_name(kind));
}

static bool is_whole(bl_str text) {
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] == '.' || text.p[i] == 'e' || text.p[i] == 'E') return false;
  return true;
}

/* Exact: no fraction, no exponent, within min and max. */
static bl_status whole_number(const bl_json *v, int64_t min, int64_t max, int64_t *out, bl_error *err) {
  BL_TRY(expect(v, BL_J_NUMBER, err));
  if (!is_whole(v->text)) return bl_json_fail(err, BL_DAMAGED, v, "%.60s is not written as a whole number", v->text.p);
  int64_t x;
  if (!bl_parse_i64(v->text, &x) || x < min || x > max)
    return bl_json_fail(err, BL_DAMAGED, v, "%.60s does not fit %d bits", v->text.p, max == INT32_MAX ? 32 : 64);
  *out = x;
  return BL_OK;
}

bl_status bl_json_i64(const bl_json *v, int64_t *out, bl_error *err) {
  return whole_number(v, INT64_MIN, INT64_MAX, out, err);
}

bl_status bl_json_i32(const bl_json *v, int32_t *out, bl_error *err) {
  int64_t x;
  BL_TRY(whole_number(v, INT32_MIN, INT32_MAX, &x, err));
  *out = (int32_t)x;
  return BL_OK;
}

bl_status bl_json_bool(const bl_json *v, bool *out, bl_error *err) {
  BL_TRY(expect(v, BL_J_BOOL, err));
  *out = v->b;
  return BL_OK;
}

bl_status bl_json_string(const bl_json *v, bl_str *out, bl_error *err) {
  BL_TRY(expect(v, BL_J_STRING, err));
  *out = v->text;
  return BL_OK;
}

bl_status bl_json_member(const bl_json *obj, const char *key, bl_json_kind kind, const bl_json **out, bl_error *err) {
  BL_TRY(expect(obj, BL_J_OBJECT, err));
  const bl_json *v = bl_json_get(obj, key);
  if (!v) return bl_json_fail(err, BL_DAMAGED, obj, "%s is missing", key);
  BL_TRY(expect(v, kind, err));
  *out = v;
  return BL_OK;
}

bl_status bl_json_member_opt(const bl_json *obj, const char *key, bl_json_kind kind, const bl_json **out,
                             bl_error *err) {
  BL_TRY(expect(obj, BL_J_OBJECT, err));
  const bl_json *v = bl_json_get(obj, key);
  *out = NULL;
  if (!v || v->kind == BL_J_NULL) return BL_OK;
  BL_TRY(expect(v, kind, err));
  *out = v;
  return BL_OK;
}

bl_status bl_json_get_i64(const bl_json *obj, const char *key, int64_t *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member(obj, key, BL_J_NUMBER, &v, err));
  return bl_json_i64(v, out, err);
}

bl_status bl_json_get_i32(const bl_json *obj, const char *key, int32_t *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member(obj, key, BL_J_NUMBER, &v, err));
  return bl_json_i32(v, out, err);
}

bl_status bl_json_get_bool(const bl_json *obj, const char *key, bool *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member(obj, key, BL_J_BOOL, &v, err));
  return bl_json_bool(v, out, err);
}

bl_status bl_json_get_str(const bl_json *obj, const char *key, bl_str *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member(obj, key, BL_J_STRING, &v, err));
  return bl_json_string(v, out, err);
}

bl_status bl_json_opt_i64(const bl_json *obj, const char *key, bool *found, int64_t *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member_opt(obj, key, BL_J_NUMBER, &v, err));
  *found = v != NULL;
  return v ? bl_json_i64(v, out, err) : BL_OK;
}

bl_status bl_json_opt_i32(const bl_json *obj, const char *key, bool *found, int32_t *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member_opt(obj, key, BL_J_NUMBER, &v, err));
  *found = v != NULL;
  return v ? bl_json_i32(v, out, err) : BL_OK;
}

bl_status bl_json_opt_str(const bl_json *obj, const char *key, bl_str *out, bl_error *err) {
  const bl_json *v;
  BL_TRY(bl_json_member_opt(obj, key, BL_J_STRING, &v, err));
  *out = v ? v->text : BL_STR_NONE;
  return BL_OK;
}

/* ---- building and editing ---- */

bl_json *bl_json_new(bl_arena *a, bl_json_kind kind) {
  bl_json *v = bl_arena_calloc(a, 1, sizeof *v);
  if (!v) return NULL;
  v->kind = kind;
  v->at = BL_JSON_NOWHERE;
  return v;
}

static bl_json *new_text(bl_arena *a, bl_json_kind kind, bl_str s) {
  bl_json *v = bl_json_new(a, kind);
  if (!v) return NULL;
  v->text = bl_arena_str(a, s);
  return v->text.p ? v : NULL;
}

bl_json *bl_json_new_str(bl_arena *a, bl_str s) {
  return new_text(a, BL_J_STRING, s);
}

bl_json *bl_json_new_number(bl_arena *a, bl_str text) {
  return new_text(a, BL_J_NUMBER, text);
}

bl_json *bl_json_new_i64(bl_arena *a, int64_t x) {
  char text[24];
  int n = snprintf(text, sizeof text, "%" PRId64, x);
  return new_text(a, BL_J_NUMBER, (bl_str){text, (size_t)n});
}

bl_json *bl_json_new_bool(bl_arena *a, bool b) {
  bl_json *v = bl_json_new(a, BL_J_BOOL);
  if (v) v->b = b;
  return v;
}

/* The node alone: no content, no name. */
static bl_json *copy_node(bl_arena *a, const bl_json *v) {
  bool text = v->kind == BL_J_STRING || v->kind == BL_J_NUMBER;
  bl_json *w = text ? new_text(a, v->kind, v->text) : bl_json_new(a, v->kind);
  if (!w) return NULL;
  w->b = v->b;
  w->at = v->at;
  return w;
}

/* v, if there is one, becomes the last child of `in` under the name of the node that it is a copy of. */
static bool link_copy(bl_arena *a, bl_json *in, bl_json *v, const bl_json *of) {
  if (!v) return false;
  v->key = of->key.p ? bl_arena_str(a, of->key) : BL_STR_NONE;
  if (of->key.p && !v->key.p) return false;
  bl_json_link(in, v);
  return true;
}

static bl_json *seal_copy(bl_arena *a, bl_json *v) {
  const bl_json *twice;
  bool container = v->kind == BL_J_ARRAY || v->kind == BL_J_OBJECT;
  return !container || bl_json_seal(a, v, &twice) ? v : NULL;
}

/* As deep as the document is, which the context bounds. */
bl_json *bl_json_copy(bl_arena *a, const bl_json *v) {
  bl_json *w = copy_node(a, v);
  for (const bl_json *c = w ? v->first : NULL; c; c = c->next)
    if (!link_copy(a, w, bl_json_copy(a, c), c)) return NULL;
  return w ? seal_copy(a, w) : NULL;
}

/* The array's elements are new nodes, that they can be linked; what they hold is not. */
static bl_json *copy_array_sharing(bl_arena *a, const bl_json *v) {
  bl_json *w = copy_node(a, v);
  for (const bl_json *c = w ? v->first : NULL; c; c = c->next) {
    bl_json *d = bl_arena_alloc(a, 1, sizeof *d);
    if (!d) return NULL;
    *d = *c;
    bl_json_link(w, d);
  }
  return w ? seal_copy(a, w) : NULL;
}

static bool is_one_of(const bl_json *v, const char *const *keys, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (bl_str_is(v->key, keys[i])) return true;
  return false;
}

bl_json *bl_json_copy_sharing(bl_arena *a, const bl_json *v, const char *const *arrays, size_t n) {
  bl_json *w = copy_node(a, v);
  for (const bl_json *c = w ? v->first : NULL; c; c = c->next) {
    bool shares = c->kind == BL_J_ARRAY && is_one_of(c, arrays, n);
    if (!link_copy(a, w, shares ? copy_array_sharing(a, c) : bl_json_copy(a, c), c)) return NULL;
  }
  return w ? seal_copy(a, w) : NULL;
}

/* Put v in the place of old. */
static void replace(bl_json *in, bl_json *old, bl_json *v) {
  bl_json **link = &in->first;
  bl_json *before = NULL;
  while (*link != old) {
    before = *link;
    link = &before->next;
  }
  v->parent = in;
  v->next = old->next;
  *link = v;
  if (in->last == old) in->last = v;
  if (in->index) *find_slot(in->index, v->key) = v;
  old->parent = NULL;
  old->next = NULL;
}

/* A new member is linked: keep the index, or a bigger one, or none. */
static void index_added(bl_arena *a, bl_json *obj, bl_json *v) {
  names *t = obj->index;
  const bl_json *twice;
  if (t && t->size / 2 > obj->n) {
    *find_slot(t, v->key) = v;
    return;
  }
  obj->index = NULL;
  if (obj->n > SMALL) (void)index_names(a, obj, &twice);
}

bool bl_json_set(bl_arena *a, bl_json *obj, const char *key, bl_json *v) {
  if (!v) return false;
  bl_json *old = (bl_json *)bl_json_get(obj, key);
  if (old == v) return true;
  bl_str name = bl_arena_str(a, bl_str_of(key));
  if (!name.p) return false;
  v->key = name;
  if (old) {
    replace(obj, old, v);
  } else {
    bl_json_link(obj, v);
    index_added(a, obj, v);
  }
  return true;
}

bool bl_json_push(bl_json *arr, bl_json *v) {
  if (!arr || !v) return false;
  v->key = BL_STR_NONE;
  bl_json_link(arr, v);
  arr->index = NULL;
  return true;
}

void bl_json_remove(bl_json *obj, const char *key) {
  bl_json *c = (bl_json *)bl_json_get(obj, key);
  if (c) bl_json_remove_child(obj, c);
}

void bl_json_remove_child(bl_json *parent, bl_json *child) {
  bl_json *before = NULL;
  bl_json **link = &parent->first;
  while (*link && *link != child) {
    before = *link;
    link = &before->next;
  }
  if (!*link) return;
  *link = child->next;
  if (parent->last == child) parent->last = before;
  parent->n--;
  parent->index = NULL;
  child->next = NULL;
  child->parent = NULL;
}

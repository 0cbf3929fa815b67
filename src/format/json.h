/* json.h: a strict JSON reader (RFC 8259) and writer for metadata. Number text is kept as written; objects keep
 * their order; duplicate keys, invalid UTF-8, control characters, lone surrogates, nesting beyond ctx's limit and
 * trailing bytes are refused with the byte position and JSON path. A document lives in an arena. */
#ifndef BL_FORMAT_JSON_H
#define BL_FORMAT_JSON_H

#include "base/alloc.h"
#include "base/buf.h"

typedef enum bl_json_kind { BL_J_NULL, BL_J_BOOL, BL_J_NUMBER, BL_J_STRING, BL_J_ARRAY, BL_J_OBJECT } bl_json_kind;

typedef struct bl_json bl_json;
struct bl_json {
  bl_json_kind kind;
  bool b;
  bl_str text;                  /* NUMBER: as written; STRING: decoded, NUL-terminated (may hold NUL inside) */
  bl_str key;                   /* name of this member in its object; p NULL elsewhere */
  bl_json *first, *last, *next; /* children in order; next sibling */
  const bl_json *parent;
  size_t n;    /* number of children */
  size_t at;   /* byte position in the text */
  void *index; /* hash index of big objects, private */
};

bl_status bl_json_parse(bl_arena *a, const void *p, size_t n, bl_json **out, bl_error *err) BL_CHECKED;
const bl_json *bl_json_get(const bl_json *obj, const char *key); /* NULL */
const bl_json *bl_json_at(const bl_json *arr, size_t i);
/* "$.snapshots[3].summary" into b. */
void bl_json_path(const bl_json *v, bl_buf *b);
/* "JSON path: why" with the position: BL_DAMAGED unless st says else. */
bl_status bl_json_fail(bl_error *err, bl_status st, const bl_json *at, const char *fmt, ...) BL_PRINTF(4, 5);

/* Put path and position of `at` in front of an error that something else made of its content; returns st. */
bl_status bl_json_fail_in(bl_error *err, bl_status st, const bl_json *at);

/* Typed access, every failure named by path. Integers: exact, no fraction or exponent, in range. */
bl_status bl_json_i64(const bl_json *v, int64_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_i32(const bl_json *v, int32_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_bool(const bl_json *v, bool *out, bl_error *err) BL_CHECKED;
bl_status bl_json_string(const bl_json *v, bl_str *out, bl_error *err) BL_CHECKED;
/* Member of obj: required (BL_DAMAGED "missing") or optional (*found). JSON null counts as absent for optional ones. */
bl_status bl_json_member(const bl_json *obj, const char *key, bl_json_kind kind, const bl_json **out,
                         bl_error *err) BL_CHECKED;
bl_status bl_json_member_opt(const bl_json *obj, const char *key, bl_json_kind kind,
                             const bl_json **out /* NULL = absent */, bl_error *err) BL_CHECKED;

/* The same in one step. Required: */
bl_status bl_json_get_i64(const bl_json *obj, const char *key, int64_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_get_i32(const bl_json *obj, const char *key, int32_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_get_bool(const bl_json *obj, const char *key, bool *out, bl_error *err) BL_CHECKED;
bl_status bl_json_get_str(const bl_json *obj, const char *key, bl_str *out, bl_error *err) BL_CHECKED;
/* Optional: where absent or null *found is false and *out stays; a string is then p NULL. */
bl_status bl_json_opt_i64(const bl_json *obj, const char *key, bool *found, int64_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_opt_i32(const bl_json *obj, const char *key, bool *found, int32_t *out, bl_error *err) BL_CHECKED;
bl_status bl_json_opt_str(const bl_json *obj, const char *key, bl_str *out, bl_error *err) BL_CHECKED;

/* Building and editing (for writers): nodes in an arena. */
bl_json *bl_json_new(bl_arena *a, bl_json_kind kind);
bl_json *bl_json_new_str(bl_arena *a, bl_str s);
bl_json *bl_json_new_i64(bl_arena *a, int64_t v);
bl_json *bl_json_new_bool(bl_arena *a, bool v);
bl_json *bl_json_new_number(bl_arena *a, bl_str text); /* text must be a JSON number */
bl_json *bl_json_copy(bl_arena *a, const bl_json *v);
/* A copy of an object; what is inside the elements of its arrays of these names is v's own still: it is not to be
 * changed, and v must outlive the copy. Such an array can be added to and taken from. */
bl_json *bl_json_copy_sharing(bl_arena *a, const bl_json *v, const char *const *arrays, size_t n);
bool bl_json_set(bl_arena *a, bl_json *obj, const char *key,
                 bl_json *v); /* replaces or adds; false = no memory or v NULL */
bool bl_json_push(bl_json *arr, bl_json *v);
void bl_json_remove(bl_json *obj, const char *key);
void bl_json_remove_child(bl_json *parent, bl_json *child);
/* Text; pretty = 2 spaces. Numbers as they were written. */
void bl_json_print(bl_buf *b, const bl_json *v, bool pretty);
/* The same, not pretty, as a string in arena a; p NULL: v is NULL, or no memory. */
bl_str bl_json_text(bl_arena *a, const bl_json *v);

#endif

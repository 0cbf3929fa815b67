/* alter.h: changes of the schema on its document, so that what is not known in it stays. Private to src/write/alter*.c.
 */
#ifndef BL_WRITE_ALTER_H
#define BL_WRITE_ALTER_H

#include "write/metadata_edit.h"

typedef struct bl_alter_context {
  bl_edit *e;
  bl_arena *a;
  const bl_metadata *md;
  const bl_schema *schema; /* the current one, as it was */
  bl_json *doc;            /* a copy of its document, to be changed */
  int32_t last_column_id;
  const char *const *words; /* behind the verb; words[0] without quotes where it names a column */
  size_t last;              /* where the last part of the column's name begins in words[0] */
  size_t n;
  bl_error *err;
} bl_alter_context;

/* Where a field is in the document: a member of a struct's "fields", or the element, key or value of a list or map. */
typedef struct bl_field_place {
  bl_json *holder;                     /* the object with the members below */
  const char *type_key, *required_key; /* required_key NULL: a map's key */
  bl_json *siblings;                   /* the "fields" array; NULL: no struct's field */
  bool in_key;                         /* it is, or is inside, the key of a map */
} bl_field_place;

/* Is the member of that name the number id? */
bool bl_alter_is_id(const bl_json *obj, const char *key, int32_t id);
bl_status bl_alter_find(bl_alter_context *c, const char *name, const bl_field **f, bl_field_place *out,
                        bl_error *err) BL_CHECKED;
/* The "fields" of the struct that words[0] without its last part means, and that part. */
bl_status bl_alter_parent(bl_alter_context *c, bl_json **fields, const bl_type **parent, bl_str *last,
                          bl_error *err) BL_CHECKED;
/* What words[0] says before its last part: "": the table; p NULL: no memory. */
bl_str bl_alter_parent_name(bl_alter_context *c);
/* A name with parts in quotes ("a b", "x.y".z; "" is a quote) as it is without them; last: where its last part begins.
 * BL_USAGE. */
bl_status bl_alter_unquote(bl_arena *a, const char *name, const char **plain, size_t *last, bl_error *err) BL_CHECKED;
/* Take a sibling to another place: where is "first", "after" or "before" with the name of another one. */
bl_status bl_alter_place(bl_alter_context *c, bl_json *siblings, bl_json *field, const char *where, const char *other,
                         bl_error *err) BL_CHECKED;

/* One verb each. */
bl_status bl_alter_add(bl_alter_context *c, bl_error *err) BL_CHECKED;
bl_status bl_alter_drop(bl_alter_context *c, bl_error *err) BL_CHECKED;
bl_status bl_alter_rename(bl_alter_context *c, bl_error *err) BL_CHECKED;
bl_status bl_alter_type(bl_alter_context *c, bl_error *err) BL_CHECKED;
bl_status bl_alter_partition(bl_alter_context *c, bl_error *err) BL_CHECKED;
bl_status bl_alter_sort(bl_alter_context *c, bl_error *err) BL_CHECKED;

/* Name mapping and per-column properties follow a column. */
bl_status bl_alter_mapping_add(bl_alter_context *c, const char *parent, const bl_field *f, bl_error *err) BL_CHECKED;
bl_status bl_alter_mapping_rename(bl_alter_context *c, int32_t id, bl_str to, bl_error *err) BL_CHECKED;
/* f: of the schema before the change; fields inside it go along. */
bl_status bl_alter_properties(bl_alter_context *c, const bl_field *f, bl_str to /* full name; p NULL: dropped */,
                              bl_error *err) BL_CHECKED;

#endif

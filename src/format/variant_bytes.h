/* variant_bytes.h: reading encoded variants one value at a time; for variant_decode.c and variant_build.c.
 *
 * Nothing is trusted: a value is read against the bytes that may be its own, counts against bytes left. The values of
 * an array or object may lie in any order, but together they must fit the bytes of their container (bl_variant_child):
 * so the work is bounded by the bytes, however offsets point. */
#ifndef BL_FORMAT_VARIANT_BYTES_H
#define BL_FORMAT_VARIANT_BYTES_H

#include "base/alloc.h"

typedef enum bl_variant_basic { BL_VB_PRIMITIVE, BL_VB_SHORT_STRING, BL_VB_OBJECT, BL_VB_ARRAY } bl_variant_basic;

/* Type ids of primitives. */
typedef enum bl_variant_type {
  BL_VT_NULL,
  BL_VT_TRUE,
  BL_VT_FALSE,
  BL_VT_INT8,
  BL_VT_INT16,
  BL_VT_INT32,
  BL_VT_INT64,
  BL_VT_DOUBLE,
  BL_VT_DECIMAL4,
  BL_VT_DECIMAL8,
  BL_VT_DECIMAL16,
  BL_VT_DATE,
  BL_VT_TIMESTAMPTZ,
  BL_VT_TIMESTAMP,
  BL_VT_FLOAT,
  BL_VT_BINARY,
  BL_VT_STRING,
  BL_VT_TIME,
  BL_VT_TIMESTAMPTZ_NS,
  BL_VT_TIMESTAMP_NS,
  BL_VT_UUID,
  BL_VT_COUNT
} bl_variant_type;

/* The dictionary of keys (metadata). */
typedef struct bl_variant_dict {
  uint32_t n;
  int width;              /* bytes of an offset */
  const uint8_t *offsets; /* n + 1 */
  const uint8_t *bytes;
  size_t n_bytes;
} bl_variant_dict;

/* One value. Strings (short ones too) and binaries: data is the text alone. Other primitives: data is what follows the
 * header byte. */
typedef struct bl_variant_node {
  bl_variant_basic basic;
  bl_variant_type type; /* primitives; BL_VT_STRING for short strings */
  bl_str whole;         /* all its bytes, the header's first */
  bl_str data;
  uint32_t n; /* elements of an array or object */
  int id_width, offset_width;
  const uint8_t *ids, *offsets; /* ids of objects */
  bl_str values;
  size_t used; /* bytes of the children that were read */
} bl_variant_node;

bl_status bl_variant_dict_read(bl_str metadata, bl_variant_dict *out, bl_error *err) BL_CHECKED;
bl_status bl_variant_dict_key(const bl_variant_dict *d, uint32_t id, bl_str *out, bl_error *err) BL_CHECKED;
/* The value at the start of bytes; it may be shorter. BL_UNSUPPORTED: a type id that is not known. */
bl_status bl_variant_read(bl_str bytes, bl_variant_node *out, bl_error *err) BL_CHECKED;
/* Child i of an array or object; each is to be asked for once. */
bl_status bl_variant_child(bl_variant_node *v, uint32_t i, bl_variant_node *out, bl_error *err) BL_CHECKED;
/* Key of member i of an object. */
bl_status bl_variant_key(const bl_variant_dict *d, const bl_variant_node *v, uint32_t i, bl_str *out,
                         bl_error *err) BL_CHECKED;
/* BL_DAMAGED where two members have one name. */
bl_status bl_variant_check_keys(bl_ctx *ctx, const bl_variant_dict *d, const bl_variant_node *v,
                                bl_error *err) BL_CHECKED;
bl_status bl_variant_check_depth(bl_ctx *ctx, int depth, bl_error *err) BL_CHECKED;

#endif

/* avro_tree.h: the column tree of an Avro data file and how each node's values lie in its records. Private to the Avro
 * reader. */
#ifndef BL_EDGE_AVRO_TREE_H
#define BL_EDGE_AVRO_TREE_H

#include "bergline/sys/data.h"
#include "format/avro.h"

typedef enum bl_avro_form {
  BL_AF_SKIP, /* no node of the tree (a field that is always null), or of a type that cannot be read */
  BL_AF_NULL, /* always null, as an element or value */
  BL_AF_BOOLEAN,
  BL_AF_INT,
  BL_AF_LONG,
  BL_AF_FLOAT,
  BL_AF_DOUBLE,
  BL_AF_BYTES,
  BL_AF_FIXED,
  BL_AF_DECIMAL,
  BL_AF_UUID_TEXT,
  BL_AF_ENUM,
  BL_AF_STRUCT,
  BL_AF_LIST,
  BL_AF_PAIRS, /* a map as an array of records: children key and value */
  BL_AF_MAP    /* an Avro map: children[0] NULL-schema key, children[1] value */
} bl_avro_form;

typedef struct bl_avro_wire bl_avro_wire;
struct bl_avro_wire {
  const bl_avro_schema *schema; /* in the record, union included */
  bl_avro_form form;
  int64_t factor; /* of INT and LONG: 1000 where the file has milliseconds */
  int32_t node;   /* in the tree, -1 */
  bl_avro_wire *children;
  size_t n_children; /* of a record all fields, in its order */
};

typedef struct bl_avro_tree {
  bl_data_node *nodes;
  bl_avro_wire root;
  size_t n_nodes;
  int32_t n_leaves;
  bool has_field_ids;
} bl_avro_tree;

/* In the arena. BL_DAMAGED where the file's schema is no record. */
bl_status bl_avro_tree_make(bl_arena *a, const bl_avro_schema *record, bl_avro_tree *out, bl_error *err) BL_CHECKED;

#endif

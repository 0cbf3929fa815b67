/* partition_avro.h: partition tuples in manifests, Avro <-> bl_value (spec: "Data File Fields", 102). */
#ifndef BL_FORMAT_PARTITION_AVRO_H
#define BL_FORMAT_PARTITION_AVRO_H

#include "format/avro.h"
#include "model/manifest.h"

typedef enum bl_partition_form {
  BL_PF_SKIP, /* a field that the spec does not have */
  BL_PF_BOOLEAN,
  BL_PF_INTEGER,      /* any integer kind; must lie in [INT32_MIN, INT32_MAX] where narrow */
  BL_PF_DAYS_AS_TIME, /* a date whose column became a timestamp since */
  BL_PF_FLOAT,
  BL_PF_FLOAT_AS_DOUBLE,
  BL_PF_DOUBLE,
  BL_PF_DECIMAL,
  BL_PF_BYTES,
  BL_PF_UUID_TEXT
} bl_partition_form;

typedef struct bl_partition_step {
  const bl_avro_schema *schema; /* of the record's field, unions included */
  size_t index;                 /* of the spec's field */
  bl_partition_form form;
  bool narrow;
  bl_type from, to; /* the file's, the table's */
} bl_partition_step;

typedef struct bl_partition_plan {
  bl_partition_step *steps;
  size_t n, n_fields;
  bl_kind *kinds; /* of each field: what a null has */
} bl_partition_plan;

/* How the partition record of a manifest is decoded by `spec`, whose fields have these types (bl_spec_types). Fields
 * are found by id; where the record has none, by name. */
bl_status bl_partition_plan_make(bl_arena *a, const bl_avro_schema *record, const bl_partition_spec *spec,
                                 const bl_type *types, bl_partition_plan *out, bl_error *err) BL_CHECKED;
/* n_fields values into out; bytes are copied into a. */
bl_status bl_partition_read(bl_arena *a, const bl_partition_plan *plan, bl_avro_cursor *c, bl_value *out,
                            bl_error *err) BL_CHECKED;

/* ---- writing ---- */

/* An Avro name for a partition field, as Iceberg makes them: [A-Za-z_][A-Za-z0-9_]*, other characters as _xHEX of their
 * UTF-16 units, a digit in front as _N. */
void bl_partition_avro_name(bl_buf *b, bl_str name);

typedef struct bl_partition_writer {
  const bl_partition_spec *spec;
  bl_type *types; /* as written; where the table's are not known, those of the values */
} bl_partition_writer;

/* types: bl_spec_types. files: all that will be written. BL_UNSUPPORTED: values whose type cannot be told. */
bl_status bl_partition_writer_make(bl_arena *a, const bl_partition_spec *spec, const bl_type *types,
                                   const bl_data_file *const *files, size_t n, bl_partition_writer *out,
                                   bl_error *err) BL_CHECKED;
/* The JSON of the record, named r102: field ids, names fit for Avro and distinct, iceberg-field-name where changed. */
void bl_partition_schema_print(const bl_partition_writer *w, bl_buf *b);
/* One tuple; BL_USAGE where a value is not of its field's type. */
bl_status bl_partition_put(const bl_partition_writer *w, const bl_data_file *f, bl_buf *b, bl_error *err) BL_CHECKED;

#endif

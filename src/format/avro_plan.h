/* avro_plan.h: records decoded by field id. A writer's record schema is compiled once into steps; running them looks
 * nothing up. */
#ifndef BL_FORMAT_AVRO_PLAN_H
#define BL_FORMAT_AVRO_PLAN_H

#include "format/avro.h"
#include "model/manifest.h"

typedef enum bl_avro_want {
  BL_WANT_LONG,   /* int or long into longs[slot] */
  BL_WANT_BOOL,   /* into longs[slot] */
  BL_WANT_BYTES,  /* string, bytes or fixed into bytes[slot], borrowed from the block */
  BL_WANT_SPECIAL /* given to the caller's function */
} bl_avro_want;

typedef struct bl_avro_rule {
  int32_t field_id;
  const char *name; /* for messages */
  bl_avro_want want;
  uint8_t slot;
  bool required; /* missing or null: BL_DAMAGED */
} bl_avro_rule;

typedef struct bl_avro_step {
  const bl_avro_schema *schema;
  const bl_avro_rule *rule; /* NULL: skipped */
} bl_avro_step;

typedef struct bl_avro_plan {
  bl_avro_step *steps;
  size_t n;
} bl_avro_plan;

/* rules are borrowed. BL_DAMAGED: a required field is missing, an id occurs twice, a type does not fit. */
bl_status bl_avro_plan_make(bl_arena *a, const bl_avro_schema *record, const bl_avro_rule *rules, size_t n_rules,
                            bl_avro_plan *out, bl_error *err) BL_CHECKED;
/* The record's field with that id, NULL where there is none. */
const bl_avro_schema *bl_avro_find(const bl_avro_schema *record, int32_t field_id);

/* Where a record goes: slots that no field fills, and those that are null, keep what they had (set BL_NONE first). */
typedef struct bl_avro_row {
  int64_t *longs;
  bl_str *bytes;
  bl_status (*special)(void *user, const bl_avro_rule *rule, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err);
  void *user;
} bl_avro_row;
bl_status bl_avro_plan_run(const bl_avro_plan *plan, bl_avro_cursor *c, const bl_avro_row *row,
                           bl_error *err) BL_CHECKED;

#endif

/* near.h: the name that somebody may have meant. */
#ifndef BL_MODEL_NEAR_H
#define BL_MODEL_NEAR_H

#include "model/type.h"

/* Do they differ in upper and lower case of ASCII letters alone (1), also by one letter that is another, too many,
 * missing or changed places with its neighbour (2), or by more (0)? Two of fewer than three letters differ by case
 * only: any other would be near. Equal names: 1. */
int bl_name_slip(bl_str a, bl_str b);

typedef struct bl_near {
  char hint[120];
} bl_near;
/* ": did you mean NAME?" of the one field of the structs of a type, by its dotted name, that is nearest to a name;
 * empty where none is near, or two are. root, other: each may be NULL. */
bl_near bl_near_field(const bl_type *root, const bl_type *other, bl_str name);

#endif

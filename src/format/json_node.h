/* json_node.h: what the JSON reader and the editing functions share about nodes. Private to format/json*.c. */
#ifndef BL_FORMAT_JSON_NODE_H
#define BL_FORMAT_JSON_NODE_H

#include "format/json.h"

#define BL_JSON_NOWHERE SIZE_MAX /* `at` of a node that was built, not read */

/* Put v, which has no parent, at the end of `in`. Indexes of `in` are not touched. */
void bl_json_link(bl_json *in, bl_json *v);
/* Build the index of an object or array that is complete, where it is big enough to need one. False where a name is
 * there twice (*twice: the later member) or memory ran out (*twice NULL). */
bool bl_json_seal(bl_arena *a, bl_json *v, const bl_json **twice);
/* The path of v into out (NUL-terminated); with `key` (p NULL = none) or, in an array, `next` the path of a member or
 * element of v that is not there yet. Long names and paths are shortened. */
void bl_json_path_text(const bl_json *v, bl_str key, bool next, char *out, size_t cap);

#endif

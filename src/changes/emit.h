/* emit.h: events -> record batches: payload fetched by place in chunks, images compared and filtered, columns put
 * together (docs/changelog.md C3, C11, C14, C16, "Payload last"). */
#ifndef BL_CHANGES_EMIT_H
#define BL_CHANGES_EMIT_H

#include "changes/feed.h"
#include "scan/columns.h"
#include "scan/predicate.h"

typedef enum bl_special {
  BL_S_ROW_ID,
  BL_S_LAST_UPDATED,
  BL_S_CHANGE_TYPE,
  BL_S_ORDINAL,
  BL_S_COMMIT, /* always, in this order */
  BL_S_COMMIT_TIMESTAMP,
  BL_S_COMMIT_SEQUENCE,
  BL_S_CHANGED_COLUMNS,
  BL_S_BASIS,
  BL_S_FILE,
  BL_S_POS,
  BL_S_OPERATION,
  BL_S_ENGINE,
  BL_N_SPECIALS
} bl_special;

typedef struct bl_emit_options {
  const bl_type *columns; /* table columns of the output (may be pruned), of the range's schema */
  const bl_special *specials;
  const uint32_t *special_at; /* ascending: how many table columns stand before it */
  size_t n_specials;
  const bl_expr *where;   /* bound to the range's schema and bl_changes_meta_schema; NULL = all */
  const int32_t *key_ids; /* C16: columns that a DELETE keeps */
  size_t n_key;
  const int32_t *changed_ids; /* C14; top level */
  size_t n_changed;
  bool skip_unchanged;
  bool after_images; /* C16 */
  bool no_before;    /* history: UPDATE_BEFORE left out, DELETE in full; `where` looks at what stays */
  bool where_nulls;  /* `where` picks among rows without id only */
} bl_emit_options;

typedef struct bl_emitter bl_emitter;
/* feed has run and outlives the emitter; so does what the options point to. */
bl_status bl_emitter_new(bl_feed *feed, const bl_emit_options *o, bl_emitter **out, bl_error *err) BL_CHECKED;
void bl_emitter_free(bl_emitter *e); /* NULL allowed */
bl_status bl_emitter_schema(bl_emitter *e, struct ArrowSchema *out, bl_error *err) BL_CHECKED;
/* Next batch, at most 65,536 rows; out->release NULL at the end. */
bl_status bl_emitter_next(bl_emitter *e, struct ArrowArray *out, bl_error *err) BL_CHECKED;
/* The name of a special column ("_change_type"), and back; -1 where there is none. */
const char *bl_special_name(bl_special s);
int bl_special_find(bl_str name);
/* The columns besides the table's that `where` may name. */
const bl_schema *bl_changes_meta_schema(void);

#endif

/* refs.h: which snapshot a SNAP means (bergline(1), ADDRESSES), and the ancestry between snapshots. Model only. */
#ifndef BL_TABLE_REFS_H
#define BL_TABLE_REFS_H

#include "base/alloc.h"
#include "model/metadata.h"

typedef enum bl_snap_time {
  BL_TIME_BY_LOG, /* scan: on main the snapshot that was current then, by the snapshot log; on other refs as below */
  BL_TIME_BY_ANCESTRY /* changes, history: the newest ancestor of the ref's head committed by then */
} bl_snap_time;

typedef struct bl_snap_options {
  bl_str ref; /* p NULL = main: whose head an absent SNAP means, and whose ancestors a time means */
  bl_snap_time time;
  bool before_first_ok; /* a time before the first snapshot is not an error: before_first is set */
} bl_snap_options;

typedef enum bl_snap_kind {
  BL_SNAP_HEAD,
  BL_SNAP_ID,
  BL_SNAP_REF,
  BL_SNAP_TIME,
  BL_SNAP_SEQ,
  BL_SNAP_WAP
} bl_snap_kind;

typedef struct bl_snap {
  const bl_snapshot *snapshot; /* NULL: a table without snapshots (HEAD of main), or before_first */
  const bl_schema *schema;     /* that goes with it */
  const bl_ref *ref;           /* HEAD, REF: the ref; TIME: whose ancestors were searched; else NULL */
  bl_snap_kind kind;
  bool before_first;
} bl_snap;

/* text p NULL: the head of the ref. Tried in order: digits = snapshot id, ref, ISO-8601 time (UTC without zone; a date
 * is its midnight); "id:", "ref:", "ts:", "seq:" force one; "wap:" is what was staged with that id. BL_NOT_FOUND: no
 * such snapshot or ref, expired snapshot, time before the first; BL_USAGE: ambiguous seq or wap (names the candidates),
 * malformed number or time behind a prefix; BL_DAMAGED: a snapshot names a schema that is not there, a parent cycle. */
bl_status bl_snap_resolve(const bl_metadata *m, bl_str text, const bl_snap_options *o, bl_snap *out,
                          bl_error *err) BL_CHECKED;
/* Schema of a snapshot addressed by id: its own, or the current one where none is recorded. */
bl_status bl_snap_schema(const bl_metadata *m, const bl_snapshot *s, const bl_schema **out, bl_error *err) BL_CHECKED;

/* The ancestry of `to` back to, and without, `from`; oldest first. */
typedef struct bl_chain {
  const bl_snapshot **items; /* last is `to`; bl_chain_dispose */
  size_t n;
  bool complete; /* reached `from`; with from NULL: reached a snapshot without parent */
  bool expired;  /* ended at a parent that is no longer in the metadata: expired_parent */
  int64_t expired_parent;
} bl_chain;
/* from NULL = the whole ancestry. BL_DAMAGED: a cycle. from == to: n = 0, complete. */
bl_status bl_chain_between(bl_ctx *ctx, const bl_metadata *m, const bl_snapshot *from, const bl_snapshot *to,
                           bl_chain *out, bl_error *err) BL_CHECKED;
void bl_chain_dispose(bl_ctx *ctx, bl_chain *c);
/* The newest snapshot that is a or an ancestor of a, and b or an ancestor of b; NULL: none is left. BL_DAMAGED: cycle.
 */
bl_status bl_common_ancestor(const bl_metadata *m, const bl_snapshot *a, const bl_snapshot *b, const bl_snapshot **out,
                             bl_error *err) BL_CHECKED;

#endif

/* bergline/inspect.h: what a table's metadata says, as a report. No data file is read, but for `row_ids` (footers) and
 * `position_deletes` (delete files). */
#ifndef BERGLINE_INSPECT_H
#define BERGLINE_INSPECT_H

#include "bergline/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One kind of report. */
typedef struct bl_inspect_kind {
  const char *name;  /* "snapshots" */
  const char *about; /* one line */
  bool takes_at;     /* of one snapshot: `at` and `ref` mean something */
} bl_inspect_kind;
/* All kinds, in the order of the manual; *n of them. */
BL_API const bl_inspect_kind *bl_inspect_kinds(size_t *n);

typedef struct bl_inspect_options {
  const char *at;  /* SNAP (docs: "Addressing"); NULL: the head of ref */
  const char *ref; /* NULL: main */
  bool text;       /* an aligned table or "key: value" lines for people; else one JSON document */
} bl_inspect_options;

/* Write the report `what` to sink. Names and columns are those of Spark's metadata tables, further ones after them; the
 * JSON is one array with an object a row, or one object (info, schema, spec, properties), values as in NDJSON output.
 * Rows are written as they are found: memory does not grow with the table. A table without snapshots gives no rows.
 * BL_USAGE: no such report, `at` where it means nothing, ambiguous SNAP; BL_NOT_FOUND: snapshot, ref, a manifest;
 * BL_DAMAGED, BL_UNSUPPORTED: a manifest; BL_CANCELLED: the sink's; BL_IO; BL_NOMEM. o may be NULL. */
BL_API bl_status bl_inspect(bl_table *t, const char *what, const bl_inspect_options *o, const bl_sink *sink,
                            bl_error *err) BL_CHECKED;

#ifdef __cplusplus
}
#endif
#endif

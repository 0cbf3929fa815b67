/* exec.h: reading planned files: deletes applied, rows filtered, columns projected, batches in a defined order.
 * Work is split into (file, k-th part of its row groups), so that big files use all threads; each file is opened once.
 */
#ifndef BL_SCAN_EXEC_H
#define BL_SCAN_EXEC_H

#include "bergline/arrow_c.h"
#include "scan/columns.h"
#include "scan/deletes.h"
#include "scan/plan.h"

typedef struct bl_exec_options {
  const bl_type *wanted;        /* columns of the batches */
  const bl_expr *filter;        /* bound; NULL = all rows */
  const bl_type *filter_wanted; /* columns of the filter, where there is one */
  bool unordered, require_lineage;
  int64_t limit; /* -1 = none */
} bl_exec_options;

/* One part of a file: row groups [G * k / n, G * (k + 1) / n). */
typedef struct bl_exec_item {
  const bl_scan_file *file;
  uint32_t k, n;
} bl_exec_item;

/* Files -> items: one a row group by the entry's split offsets. In arena a. */
bl_status bl_exec_split(bl_arena *a, const bl_scan_file *files, size_t n, bl_exec_item **out, size_t *n_out,
                        bl_error *err) BL_CHECKED;

/* keep (freed with the stream, by free_keep) owns whatever files, wanted and filter point to. Also freed on failure. */
bl_status bl_exec_stream(bl_table *t, const bl_exec_item *items, size_t n_items, const bl_exec_options *o, void *keep,
                         void (*free_keep)(void *), struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

#endif

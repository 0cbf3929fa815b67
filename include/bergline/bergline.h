/* bergline/bergline.h: all of the library's public headers, and what holds for all of them.
 *
 * bergline reads and writes Apache Iceberg tables of the format versions 1 to 3 with their row lineage: the id that a
 * row keeps for life (`_row_id`) and the sequence number of the commit that last changed it
 * (`_last_updated_sequence_number`).
 *
 * What is promised
 *  - Every function that can fail returns a bl_status and takes a caller-owned bl_error last; it may be NULL. The first
 *    error wins. Statuses and their causes stand beside each function (bergline/error.h).
 *  - A handle is made by bl_x_open or bl_x_new and ended by bl_x_free, which allows NULL. A function that fails leaves
 *    nothing behind: an out-parameter is then NULL or zeroed.
 *  - There are no globals. A bl_ctx may be used by several threads at once and must outlive what was made with it,
 *    batches of rows too; a bl_table may be read by several threads at once; a stream, an error and a sink belong to one
 *    thread at a time.
 *  - Memory comes from the ctx's allocator. Work larger than its budget goes to its temporary folder, so that the peak
 *    does not grow with the table. Every decoder has a limit; damaged input ends with BL_DAMAGED.
 *  - Rows are record batches of the Arrow C Data Interface (bergline/arrow_c.h). The consumer releases streams and
 *    batches. The order of rows is defined unless `unordered` asks for none.
 *  - Strings are UTF-8; neither locale nor time zone matter; times are UTC.
 *  - No message holds a credential.
 *
 * What is not
 *  - Row ids are no order and no key: see docs/lineage.md.
 *  - The interfaces in bergline/sys/ may still change with a minor version; each has a version number as its first
 * member.
 *
 * The program links against nothing else. */
#ifndef BERGLINE_BERGLINE_H
#define BERGLINE_BERGLINE_H

#include "bergline/catalog.h"
#include "bergline/changes.h"
#include "bergline/ctx.h"
#include "bergline/error.h"
#include "bergline/input.h"
#include "bergline/inspect.h"
#include "bergline/output.h"
#include "bergline/scan.h"
#include "bergline/table.h"
#include "bergline/write.h"

#endif

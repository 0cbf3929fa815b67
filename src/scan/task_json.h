/* task_json.h: plans and tasks as JSON (docs/formats/task-json.md). A task holds all that a process needs to read one
 * file: a table metadata document without snapshots, the path maps, the entries of the file and of its deletes. */
#ifndef BL_SCAN_TASK_JSON_H
#define BL_SCAN_TASK_JSON_H

#include "format/json.h"
#include "scan/open_file.h"
#include "scan/plan.h"
#include "scan/scan_private.h"

/* A manifest entry (data or delete file), without column metrics; NULL = no memory. */
bl_json *bl_entry_to_json(bl_arena *a, const bl_metadata *md, const bl_manifest_entry *e);
bl_status bl_entry_from_json(bl_arena *a, const bl_metadata *md, const bl_json *v, bl_manifest_entry *out,
                             bl_error *err) BL_CHECKED;
/* "deletes": [entries]: vector, position, equality. */
bl_json *bl_deletes_to_json(bl_arena *a, const bl_metadata *md, const bl_file_deletes *d);
bl_status bl_deletes_from_json(bl_arena *a, const bl_metadata *md, const bl_json *array, bl_file_deletes *out,
                               bl_error *err) BL_CHECKED;

/* The head of a task: "bergline-task", "kind", "table", "path-maps", "schema-id", "columns" (dotted names),
 * "column-ids" (the same as field ids), "where". snapshots: keep them in the metadata (for _last_updated_at and commit
 * columns). */
typedef struct bl_task_head {
  const char *kind;
  const bl_schema *schema;
  const bl_type *wanted;
  const bl_expr *where; /* NULL */
  bool snapshots;
} bl_task_head;
bl_json *bl_task_new(bl_arena *a, const bl_table *t, const bl_task_head *h);

/* A task that was read: its table, made of the document in it. */
typedef struct bl_task {
  bl_arena *arena;
  bl_table *table;
  const bl_json *json;
  bl_str kind;
  const bl_schema *schema;
  const char **columns;
  int32_t *column_ids; /* NULL: the task has names only */
  size_t n_columns;
  const char *where; /* NULL */
} bl_task;
bl_status bl_task_parse(bl_ctx *ctx, const char *json, size_t n, const bl_table_options *o, bl_task *out,
                        bl_error *err) BL_CHECKED;
void bl_task_dispose(bl_task *t);
/* Its columns, by id where it has ids. */
bl_status bl_task_columns(const bl_task *t, bl_columns *c, bl_error *err) BL_CHECKED;

/* "counts" of a plan. */
bl_json *bl_counts_to_json(bl_arena *a, const bl_plan_counts *c);

/* A plan on its way out: the members of the document, then the tasks in order. */
typedef struct bl_plan_writer {
  bl_ctx *ctx;
  const bl_sink *sink;
  bl_plan_format format;
  bl_buf head; /* of every task, as text without its closing brace */
  bl_buf out;
  bool any; /* a task was put */
} bl_plan_writer;
/* A task's own part as text: a line, and one for each delete that applies. */
typedef struct bl_plan_line {
  bl_str why;
  const bl_data_file *file;
  int64_t ordinal; /* -1: none */
  size_t splits;
  const bl_file_deletes *deletes, *old_deletes; /* NULL: none; of a changed file those before are old */
} bl_plan_line;
/* The ids that positions give: [first_row_id, first_row_id + record_count). Rows that store an id have that one. */
bl_json *bl_id_range_to_json(bl_arena *a, const bl_data_file *f);
/* A manifest into the array "manifests". */
bool bl_push_plan_manifest(bl_arena *a, bl_json *array, bl_str path, bl_manifest_content content, bool opened,
                           const char *why);
/* How many parts a file is read in: by its footer where own has "row-groups", else by its split offsets. */
size_t bl_plan_splits(const bl_data_file *f, const bl_json *own);
/* head: a task of bl_task_new; doc: the document's members so far. */
bl_status bl_plan_begin(bl_plan_writer *w, bl_ctx *ctx, const bl_sink *sink, bl_plan_format format, const bl_json *doc,
                        const bl_json *head, bl_error *err) BL_CHECKED;
bl_status bl_plan_task(bl_plan_writer *w, const bl_json *own, const bl_plan_line *line, bl_error *err) BL_CHECKED;
/* own is NULL where it is not wanted: bl_plan_wants_json. */
static inline bool bl_plan_wants_json(const bl_plan_writer *w) {
  return w->format == BL_PLAN_JSON;
}
/* The same in two steps: the text of some tasks, one after the other, on any thread; then what was made of them so. */
void bl_plan_render(const bl_plan_writer *w, const bl_json *own, const bl_plan_line *line, bl_buf *out);
bl_status bl_plan_rendered(bl_plan_writer *w, const bl_buf *text, bl_error *err) BL_CHECKED;
bl_status bl_plan_end(bl_plan_writer *w, bl_error *err) BL_CHECKED;
void bl_plan_dispose(bl_plan_writer *w);
/* Row groups and stored lineage columns of a file, by its footer: "row-groups", "stores-row-id", "stores-last-updated".
 */
bl_status bl_footer_to_json(bl_arena *a, const bl_reading *env, const bl_manifest_entry *e, bl_json *task,
                            bl_error *err) BL_CHECKED;
/* May any row of a file match, by its footer? wanted holds the filter's columns. */
bl_status bl_footer_may_match(const bl_reading *env, const bl_manifest_entry *e, const bl_expr *filter,
                              const bl_type *wanted, bool *may, bl_error *err) BL_CHECKED;

/* Rows of a task of kind "scan"; the task is taken over, also on failure. */
bl_status bl_run_scan_task(bl_ctx *ctx, bl_task *task, struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

#endif

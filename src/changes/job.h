/* job.h: a change feed or history under way; what changes.c, plan_json.c and task.c share. */
#ifndef BL_CHANGES_JOB_H
#define BL_CHANGES_JOB_H

#include "bergline/changes.h"
#include "changes/emit.h"

typedef struct bl_job {
  bl_ctx *ctx;
  bl_arena *arena;
  bl_feed feed;
  bl_columns columns;
  bl_special specials[BL_N_SPECIALS];
  uint32_t special_at[BL_N_SPECIALS];
  size_t n_specials;
  bl_expr *where;
  int32_t *key_ids, *changed_ids;
  size_t n_key, n_changed;
  bl_idset only;
  bl_emitter *emitter;
  void *more; /* freed last, by free_more */
  void (*free_more)(void *more);
} bl_job;

bl_status bl_job_new(bl_table *t, bl_job **out, bl_error *err) BL_CHECKED;
void bl_job_free(void *job); /* NULL allowed */
/* Table columns (names NULL: all) and further ones by name, in this order; then those that are always there. */
bl_status bl_job_columns(bl_job *j, bl_table *t, const bl_schema *schema, const char *const *names, size_t n,
                         bool history, bl_error *err) BL_CHECKED;
bl_status bl_job_where(bl_job *j, const bl_schema *schema, const char *where, bl_error *err) BL_CHECKED;
/* The stream of the job's emitter; takes the job over, also on failure. */
bl_status bl_job_stream(bl_job *j, struct ArrowArrayStream *out, bl_error *err) BL_CHECKED;

#endif

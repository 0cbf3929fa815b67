/* append.c: bl_append: rows become data files, which one commit adds. Appends conflict with nothing. */
#include "rows/arrow_own.h"
#include "rows/stream.h"
#include "write/commit.h"
#include "write/data_writer.h"
#include "write/input.h"

/* Rows in the table's columns; in is taken over. */
typedef struct rows_in {
  struct ArrowArrayStream stream;
  int64_t n;
} rows_in;

static bl_status next_rows(bl_table *t, rows_in *in, struct ArrowArray *batch, bl_error *err) {
  BL_TRY(bl_stream_next(&in->stream, batch, err));
  if (!batch->release) return BL_OK;
  in->n += batch->length;
  bl_status st = bl_progress(t->ctx, "append", in->n, 0, err);
  if (st != BL_OK) bl_array_release(batch);
  return st;
}

static bl_status count_rows(bl_table *t, rows_in *in, bl_error *err) {
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(next_rows(t, in, &batch, err));
    if (!batch.release) return BL_OK;
    bl_array_release(&batch);
  }
}

static bl_status write_files(bl_table *t, rows_in *in, bl_staged *s, bl_error *err) {
  bl_data_writer *w;
  const bl_data_writer_options o = {.spec_id = -1};
  BL_TRY(bl_data_writer_new(t, &o, s, &w, err));
  for (;;) {
    struct ArrowArray batch;
    bl_status st = next_rows(t, in, &batch, err);
    if (st == BL_OK && !batch.release) return bl_data_writer_finish(w, err);
    if (st == BL_OK) st = bl_data_writer_write(w, &batch, err);
    if (st == BL_OK) continue;
    bl_data_writer_abort(w);
    return st;
  }
}

/* A staged change that adds the rows; on failure none of its files is left. */
static bl_status stage(bl_table *t, rows_in *in, const bl_write_options *o, bl_staged **out, bl_error *err) {
  bl_staged *s;
  *out = NULL;
  BL_TRY(bl_staged_new(t->ctx, &s, err));
  const bl_ref *ref = bl_metadata_ref(t->metadata, bl_branch_of(o));
  s->operation = BL_STR("append");
  if (ref) s->base_snapshot_id = ref->snapshot_id;
  bl_status st = write_files(t, in, s, err);
  if (st == BL_OK) {
    *out = s;
    return BL_OK;
  }
  bl_staged_discard(s, t);
  bl_staged_free(s);
  return st;
}

static bl_status append(bl_table *t, rows_in *in, const bl_write_options *o, bl_write_result *r, bl_error *err) {
  bl_staged *s;
  if (o->dry_run) {
    BL_TRY(count_rows(t, in, err));
    r->rows_inserted = in->n;
    return BL_OK;
  }
  BL_TRY(stage(t, in, o, &s, err));
  s->counts.rows_inserted = in->n;
  bl_status st = bl_commit_change(t, s, o, r, err);
  if (st != BL_OK && st != BL_UNKNOWN) bl_staged_discard(s, t);
  bl_staged_free(s);
  return st;
}

bl_status bl_append(bl_table *t, struct ArrowArrayStream *rows, const bl_write_options *o, bl_write_result *r,
                    bl_error *err) {
  static const bl_write_options defaults = {0};
  bl_write_result unused;
  bl_table *base = NULL;
  rows_in in = {0};
  if (!o) o = &defaults;
  if (!r) r = &unused;
  *r = (bl_write_result){0};
  bl_status st = bl_write_base(t, o, &base, &r->already_applied, err);
  if (st == BL_OK && !r->already_applied)
    st = bl_conform(t->ctx, bl_metadata_current_schema(base->metadata), rows, &in.stream, err);
  if (st == BL_OK && !r->already_applied) st = append(base, &in, o, r, err);
  bl_stream_release(&in.stream);
  bl_stream_release(rows);
  bl_write_base_free(base, t);
  return st;
}

bl_status bl_stage_append(bl_table *t, struct ArrowArrayStream *rows, const bl_write_options *o, char **descriptor,
                          bl_error *err) {
  bl_write_options stage = o ? *o : (bl_write_options){0};
  stage.stage = descriptor;
  *descriptor = NULL;
  return bl_append(t, rows, &stage, NULL, err);
}

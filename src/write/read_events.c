/* read_events.c: files of change events as streams for bl_apply. */
#include "bergline/write.h"
#include "rows/stream.h"
#include "write/input.h"
#include "write/text_rows.h"

enum { LINES = 4096, LINE_BYTES = 4 << 20 }; /* of a batch */

/* ---- lines ---- */

typedef struct lines {
  bl_ctx *ctx;
  bl_text_file file;
  bl_text_columns columns;
  bl_field fields[2];
} lines;

static bl_status put_line(lines *l, bl_str line, int64_t at, bl_error *err) {
  BL_TRY(bl_builder_bytes(bl_builder_child(l->columns.rows, 0), line.p, line.n, err));
  BL_TRY(bl_builder_int(bl_builder_child(l->columns.rows, 1), at, err));
  return bl_builder_close(l->columns.rows, err);
}

static bl_status next_lines(void *user, struct ArrowArray *out, bl_error *err) {
  lines *l = user;
  out->release = NULL;
  for (;;) {
    bl_str line;
    int64_t at;
    bool found;
    BL_TRY(bl_text_file_line(&l->file, &line, &at, &found, err));
    if (found) BL_TRY(put_line(l, line, at, err));
    int64_t n = bl_builder_length(l->columns.rows);
    if (n == LINES || bl_builder_size(l->columns.rows) >= LINE_BYTES || (!found && n > 0))
      return bl_builder_finish(l->columns.rows, out, err);
    if (!found) return BL_OK;
  }
}

static void lines_free(void *user) {
  lines *l = user;
  bl_text_file_dispose(&l->file);
  bl_text_columns_dispose(&l->columns);
  bl_free(l->ctx, l);
}

static bl_status read_lines(bl_ctx *ctx, bl_input *in, struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema s = {0};
  lines *l = bl_calloc(ctx, 1, sizeof *l);
  if (!l) return bl_nomem(err);
  l->ctx = ctx;
  l->fields[0] = (bl_field){.id = -1, .name = BL_STR("value"), .type.kind = BL_STRING};
  l->fields[1] = (bl_field){.id = -1, .name = BL_STR("_byte"), .type.kind = BL_LONG};
  l->columns = (bl_text_columns){.fields = l->fields, .n = 2};
  bl_text_file_init(&l->file, ctx, in);
  bl_status st = bl_text_columns_build(ctx, &l->columns, err);
  if (st == BL_OK) st = bl_aschema_copy(ctx, &l->columns.schema, &s, err);
  if (st != BL_OK) {
    lines_free(l);
    return st;
  }
  bl_stream_source src = {.next = next_lines, .dispose = lines_free, .user = l};
  return bl_stream_make(ctx, &src, &s, out, err);
}

/* ---- the file ---- */

/* Lines of JSON begin with an object, a tombstone (null) or, wrongly, another value. */
static bl_status is_json(bl_input *in, bool *yes, bl_error *err) {
  char p[64] = {0};
  size_t n = in->size < (int64_t)sizeof p ? (size_t)in->size : sizeof p, i = 0;
  BL_TRY(in->read_at(in, 0, p, n, err));
  while (i < n && (p[i] == ' ' || p[i] == '\n' || p[i] == '\r' || p[i] == '\t')) i++;
  *yes = i == n || p[i] == '{' || p[i] == '[' || memcmp(p + i, "null", n - i < 4 ? n - i : 4) == 0;
  return BL_OK;
}

/* Columns go by the table's types; of rows that delete most are null. The envelopes of another have no such columns. */
static bl_status read_csv(bl_table *t, bl_input *in, const char *name, bool own, struct ArrowArrayStream *out,
                          bl_error *err) {
  bl_schema schema = {.root = {.kind = BL_STRUCT}};
  if (own) schema = *bl_metadata_current_schema(t->metadata);
  bl_field *fields = bl_alloc(t->ctx, schema.root.n_fields + 1, sizeof *fields);
  if (!fields) return bl_nomem(err);
  for (size_t i = 0; i < schema.root.n_fields; i++) {
    fields[i] = schema.root.fields[i];
    fields[i].required = false;
  }
  schema.root.fields = fields;
  bl_status st = bl_read_csv(t->ctx, &schema, in, name ? name : "input", true, out, err);
  bl_free(t->ctx, fields);
  return st;
}

bl_status bl_read_events(bl_table *t, bl_input *in, const char *name, bl_apply_source source,
                         struct ArrowArrayStream *out, bl_error *err) {
  bl_read_options o = {0};
  bool json, own = source == BL_APPLY_CHANGES;
  out->release = NULL;
  BL_TRY(is_json(in, &json, err));
  if (json) return read_lines(t->ctx, in, out, err);
  BL_TRY(bl_input_by_bytes(in, &o.format, err));
  if (o.format != BL_INPUT_CSV) return bl_read_rows(t, in, name, &o, out, err);
  if (!own && bl_input_by_ending(name) != BL_INPUT_CSV) return read_lines(t->ctx, in, out, err);
  return read_csv(t, in, name, own, out, err);
}

/* read_ndjson.c: JSON objects, one a line, as a stream of the table's columns. A member that is missing is the column's
 * write default; blank lines are skipped. Where the caller wants the file's own columns, the first rows tell which
 * there are: extra members become columns, of the kind they have, and columns of the table that no row names are left
 * out. */
#include "base/map.h"
#include "model/near.h"
#include "rows/stream.h"
#include "write/schema_sample.h"
#include "write/text_rows.h"

enum { PEEK_BYTES = 1 << 20 /* of rows that tell the columns */ };
#define NOT_GIVEN SIZE_MAX /* the place of a column of the table that the first rows do not name */

typedef struct ndjson {
  bl_ctx *ctx;
  bl_arena *arena, *scratch;
  const char *name;
  bl_text_file file;
  bl_text_columns columns;
  size_t n_own;       /* columns of the table */
  bool extra, *named; /* the file's own columns; which of the table's are among them */
  bl_map *places;     /* of columns by name */
  const bl_json **members;
  bl_putter putter;
  int64_t row, at; /* rows so far; first byte of the line in hand */
} ndjson;

static bl_status refuse(const ndjson *r, bl_status st, const bl_error *e, bl_error *err) {
  if (st == BL_NOMEM) return bl_nomem(err);
  int64_t byte = r->at + (e->position > 0 ? e->position : 0);
  return bl_fail_at(err, st, byte, "%s: row %lld (byte %lld): %s", r->name, (long long)r->row + 1, (long long)byte,
                    e->message);
}

/* ---- lines ---- */

static bl_status parse_line(ndjson *r, bl_arena *a, bl_str line, bl_json **out, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  bl_status st = bl_json_parse(a, line.p, line.n, out, &e);
  if (st == BL_OK && (*out)->kind != BL_J_OBJECT) st = bl_fail_at(&e, BL_DAMAGED, 0, "a row must be a JSON object");
  return st == BL_OK ? BL_OK : refuse(r, st, &e, err);
}

/* ---- rows ---- */

static bl_status unknown_member(ndjson *r, const bl_json *m, bool known, bl_error *err) {
  bl_error e = BL_ERROR_INIT;
  const bl_type columns = {.kind = BL_STRUCT, .fields = r->columns.fields, .n_fields = r->columns.n};
  if (known)
    (void)bl_fail(&e, BL_USAGE, "column %.*s: the first rows do not have it, not even as null", BL_STR_ARG(m->key));
  else if (bl_is_metadata_name(m->key) && !r->extra)
    (void)bl_fail(&e, BL_USAGE, "column %.*s: it is no input: lineage is the table's own to give", BL_STR_ARG(m->key));
  else
    (void)bl_fail(&e, BL_USAGE, "column %.*s: the table has no such column%s%s", BL_STR_ARG(m->key),
                  r->extra ? ", nor have the first rows" : "", bl_near_field(&columns, NULL, m->key).hint);
  return refuse(r, BL_USAGE, &e, err);
}

static bl_status put_extra(ndjson *r, bl_builder *b, const bl_field *f, const bl_json *v, bl_error *err) {
  if (f->type.kind != BL_STRING || v->kind == BL_J_STRING || v->kind == BL_J_NULL)
    return bl_put_json(&r->putter, b, f, v, err);
  bl_buf text; /* a value of no simple kind as its JSON */
  bl_buf_init(&text, r->ctx, BL_BUF_MAX);
  bl_json_print(&text, v, false);
  bl_status st = bl_buf_ok(&text, err);
  if (st == BL_OK) st = bl_builder_bytes(b, text.p, text.n, err);
  bl_buf_free(&text);
  return st;
}

static bl_status put_columns(ndjson *r, bl_error *err) {
  for (size_t i = 0; i < r->columns.n; i++) {
    const bl_json *v = r->members[i];
    bl_builder *b = bl_builder_child(r->columns.rows, (int64_t)i);
    const bl_field *f = &r->columns.fields[i];
    bl_error e = BL_ERROR_INIT;
    bl_status st = !v              ? bl_put_missing(&r->putter, b, f, &e)
                   : i >= r->n_own ? put_extra(r, b, f, v, &e)
                                   : bl_put_json(&r->putter, b, f, v, &e);
    if (st != BL_OK) return refuse(r, st, &e, err);
  }
  r->row++;
  return bl_builder_close(r->columns.rows, err);
}

static bl_status put_line(ndjson *r, bl_str line, bl_error *err) {
  bl_json *v;
  BL_TRY(parse_line(r, r->scratch, line, &v, err));
  memset(r->members, 0, r->columns.n * sizeof *r->members);
  for (const bl_json *m = v->first; m; m = m->next) {
    const size_t *at = bl_map_get(r->places, m->key);
    if (!at || *at == NOT_GIVEN) return unknown_member(r, m, at != NULL, err);
    r->members[*at] = m;
  }
  return put_columns(r, err);
}

enum { SCRATCH_BYTES = 1 << 20 };

static bl_status fresh_scratch(ndjson *r, bl_error *err) {
  if (r->scratch && bl_arena_bytes(r->scratch) < SCRATCH_BYTES) return BL_OK;
  bl_arena_free(r->scratch);
  r->scratch = NULL;
  return bl_arena_new(r->ctx, &r->scratch, err);
}

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  ndjson *r = user;
  out->release = NULL;
  for (;;) {
    bl_str line;
    bool found;
    BL_TRY(fresh_scratch(r, err));
    BL_TRY(bl_text_file_line(&r->file, &line, &r->at, &found, err));
    if (found) BL_TRY(put_line(r, line, err));
    int64_t n = bl_builder_length(r->columns.rows);
    if (!found && n == 0) return BL_OK;
    bool full = n % 64 == 0 && bl_builder_size(r->columns.rows) >= BL_TEXT_BATCH_BYTES;
    if (!found || full || n == BL_TEXT_BATCH_ROWS) return bl_builder_finish(r->columns.rows, out, err);
  }
}

/* ---- columns ---- */

static bl_kind kind_of(const bl_json *v) {
  int64_t i;
  switch (v->kind) {
  case BL_J_BOOL: return BL_BOOLEAN;
  case BL_J_NUMBER: return bl_parse_i64(v->text, &i) ? BL_LONG : BL_DOUBLE;
  default: return BL_STRING;
  }
}

static bl_status note_extra(ndjson *r, const bl_json *m, size_t *cap, bl_error *err) {
  const size_t *at = bl_map_get(r->places, m->key);
  if (at && *at < r->n_own) {
    r->named[*at] = true;
    return BL_OK;
  }
  if (at) {
    bl_type *t = &r->columns.fields[*at].type;
    if (m->kind == BL_J_NULL) return BL_OK;
    t->kind = bl_kind_of_both(t->kind, kind_of(m));
    return BL_OK;
  }
  if (r->columns.n == *cap) {
    bl_field *more = bl_arena_alloc(r->arena, *cap * 2 + 8, sizeof *more);
    if (!more) return bl_nomem(err);
    if (r->columns.n) memcpy(more, r->columns.fields, r->columns.n * sizeof *more);
    r->columns.fields = more;
    *cap = *cap * 2 + 8;
  }
  bl_field f = {.id = -1, .name = bl_arena_str(r->arena, m->key)};
  f.type.kind = m->kind == BL_J_NULL ? BL_KIND_UNKNOWN : kind_of(m);
  if (!f.name.p || !bl_map_put(r->places, f.name, r->columns.n, NULL)) return bl_nomem(err);
  r->columns.fields[r->columns.n++] = f;
  return BL_OK;
}

/* Columns of the table that no row names are not the file's. */
static void drop_unnamed(ndjson *r) {
  size_t n = 0, own = 0;
  for (size_t i = 0; i < r->columns.n; i++) {
    size_t *place = bl_map_get(r->places, r->columns.fields[i].name);
    bool kept = i >= r->n_own || r->named[i];
    *place = kept ? n : NOT_GIVEN;
    if (!kept) continue;
    own += i < r->n_own;
    r->columns.fields[n++] = r->columns.fields[i];
  }
  r->columns.n = n;
  r->n_own = own;
}

/* Looks at the first rows, then begins again. */
static bl_status peek(ndjson *r, size_t cap, bl_error *err) {
  bl_status st = BL_OK;
  bool any = false;
  r->named = bl_arena_calloc(r->arena, cap + 1, sizeof *r->named);
  if (!r->named) return bl_nomem(err);
  while (st == BL_OK && r->file.read < PEEK_BYTES + 1) {
    bl_str line;
    bool found = false;
    bl_json *v;
    st = bl_text_file_line(&r->file, &line, &r->at, &found, err);
    if (st != BL_OK || !found) break;
    any = true;
    st = parse_line(r, r->scratch, line, &v, err);
    for (const bl_json *m = st == BL_OK ? v->first : NULL; m && st == BL_OK; m = m->next)
      st = note_extra(r, m, &cap, err);
  }
  for (size_t i = r->n_own; i < r->columns.n; i++)
    if (r->columns.fields[i].type.kind == BL_KIND_UNKNOWN) r->columns.fields[i].type.kind = BL_STRING;
  if (any && st == BL_OK) drop_unnamed(r);
  bl_input *in = r->file.in;
  bl_text_file_dispose(&r->file);
  bl_text_file_init(&r->file, r->ctx, in);
  return st;
}

static bl_status set_columns(ndjson *r, const bl_schema *schema, bl_error *err) {
  const bl_type *root = &schema->root;
  r->n_own = r->columns.n = root->n_fields;
  r->columns.fields = bl_arena_alloc(r->arena, root->n_fields, sizeof *r->columns.fields);
  if (!r->columns.fields) return bl_nomem(err);
  BL_TRY(bl_map_new(r->ctx, &r->places, err));
  for (size_t i = 0; i < root->n_fields; i++) {
    r->columns.fields[i] = root->fields[i];
    if (!bl_map_put(r->places, root->fields[i].name, i, NULL)) return bl_nomem(err);
  }
  if (r->extra) BL_TRY(peek(r, root->n_fields, err));
  r->members = bl_arena_alloc(r->arena, r->columns.n, sizeof *r->members);
  if (!r->members) return bl_nomem(err);
  return bl_text_columns_build(r->ctx, &r->columns, err);
}

static void ndjson_free(void *user) {
  ndjson *r = user;
  bl_text_file_dispose(&r->file);
  bl_text_columns_dispose(&r->columns);
  bl_putter_dispose(&r->putter);
  bl_map_free(r->places);
  bl_arena_free(r->scratch);
  bl_arena_free(r->arena);
  bl_free(r->ctx, r);
}

bl_status bl_read_ndjson(bl_ctx *ctx, const bl_schema *schema, bl_input *in, const char *name, bool extra,
                         struct ArrowArrayStream *out, bl_error *err) {
  bl_status st;
  struct ArrowSchema s = {0};
  out->release = NULL;
  ndjson *r = bl_calloc(ctx, 1, sizeof *r);
  if (!r) return bl_nomem(err);
  r->ctx = ctx;
  r->extra = extra;
  bl_text_file_init(&r->file, ctx, in);
  bl_putter_init(&r->putter, ctx);
  BL_GO(bl_arena_new(ctx, &r->arena, err));
  BL_GO(bl_arena_new(ctx, &r->scratch, err));
  r->name = bl_arena_str(r->arena, bl_str_of(name)).p;
  if (!r->name) BL_GO(bl_nomem(err));
  BL_GO(set_columns(r, schema, err));
  BL_GO(bl_aschema_copy(ctx, &r->columns.schema, &s, err));
  bl_stream_source src = {.next = next_batch, .dispose = ndjson_free, .user = r};
  return bl_stream_make(ctx, &src, &s, out, err);
done:
  ndjson_free(r);
  return st;
}

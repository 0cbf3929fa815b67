/* read_csv.c: CSV (RFC 4180) with a header, as a stream of the table's columns. An empty field is null, "" the empty
 * string; lines end in \n or \r\n; a quoted field may hold line ends, and "" for a quote. A line without any byte is
 * skipped where there are several columns. A byte-order mark at the beginning is passed over. */
#include "base/map.h"
#include "model/near.h"
#include "rows/stream.h"
#include "write/text_rows.h"

/* A field of the record in hand: bytes of `cells`. */
typedef struct cell {
  size_t begin, end;
  bool quoted;
} cell;

typedef struct csv {
  bl_ctx *ctx;
  bl_arena *arena;
  const char *name;
  bl_text_file file;
  bl_buf text; /* of the record's fields */
  cell *cells;
  size_t n_cells, cap_cells;
  bl_text_columns columns; /* one a field of a record */
  bl_putter putter;
  int64_t line, next_line; /* where the record in hand begins, from 1; where the next one does */
  int64_t row;             /* records before it, without the header */
  int64_t at;              /* its first byte */
} csv;

static bl_status broken(const csv *c, const char *why, bl_error *err) {
  return bl_fail_at(err, BL_DAMAGED, c->at, "%s: line %lld: %s", c->name, (long long)c->line, why);
}

/* ---- records ---- */

static bl_status add_cell(csv *c, size_t begin, bool quoted, bl_error *err) {
  BL_TRY(bl_grow(c->ctx, &c->cells, &c->cap_cells, c->n_cells, sizeof *c->cells, err));
  c->cells[c->n_cells++] = (cell){begin, c->text.n, quoted};
  return BL_OK;
}

/* Where a record ends (behind its line end); 0: not in what is held. lines: line ends in it. */
static size_t end_of_record(const bl_text_file *f, int64_t *lines) {
  bool quoted = false;
  *lines = 0;
  for (size_t i = f->at; i < f->held.n; i++) {
    uint8_t ch = f->held.p[i];
    if (ch == '"') quoted = !quoted;
    else if (ch == '\n') {
      (*lines)++;
      if (!quoted) return i + 1;
    }
  }
  return 0;
}

/* A quoted field from p[i] (behind the quote); returns the place behind its closing quote, 0 where there is none. */
static size_t take_quoted(csv *c, const uint8_t *p, size_t i, size_t end) {
  for (; i < end; i++) {
    if (p[i] == '"' && i + 1 < end && p[i + 1] == '"') i++;
    else if (p[i] == '"') return i + 1;
    bl_buf_byte(&c->text, p[i]);
  }
  return 0;
}

static bl_status split(csv *c, const uint8_t *p, size_t i, size_t end, bl_error *err) {
  bl_buf_clear(&c->text);
  c->n_cells = 0;
  for (;;) {
    size_t begin = c->text.n;
    bool quoted = i < end && p[i] == '"';
    if (quoted) {
      i = take_quoted(c, p, i + 1, end);
      if (i == 0) return broken(c, "a quoted field does not end", err);
      if (i < end && p[i] != ',') return broken(c, "something follows a closing quote", err);
    } else {
      size_t from = i;
      while (i < end && p[i] != ',') {
        if (p[i] == '"') return broken(c, "a quote inside of a field that is not quoted", err);
        i++;
      }
      bl_buf_add(&c->text, p + from, i - from);
    }
    BL_TRY(add_cell(c, begin, quoted, err));
    if (i >= end) return bl_buf_ok(&c->text, err);
    i++;
  }
}

/* The next record in cells; *found false: at the end. */
static bl_status next_record(csv *c, bool *found, bl_error *err) {
  bl_text_file *f = &c->file;
  for (;;) {
    int64_t lines = 0;
    size_t end = end_of_record(f, &lines);
    bool more = end == 0;
    if (end == 0) BL_TRY(bl_text_file_more(f, &more, err));
    if (end == 0 && more) continue;
    if (end == 0) end = f->held.n; /* a last line without line end */
    *found = f->at < end;
    if (!*found) return BL_OK;
    size_t begin = f->at, stop = end;
    c->at = bl_text_file_byte(f, begin);
    if (f->held.p[stop - 1] == '\n') stop--;
    if (stop > begin && f->held.p[stop - 1] == '\r') stop--;
    f->at = end;
    c->line = c->next_line;
    c->next_line += lines;
    bool blank = begin == stop && c->columns.n != 1;
    bl_status st = blank ? BL_OK : split(c, f->held.p, begin, stop, err);
    if (st != BL_OK || !blank) return st;
  }
}

static bl_str cell_text(const csv *c, size_t i) {
  return (bl_str){(const char *)c->text.p + c->cells[i].begin, c->cells[i].end - c->cells[i].begin};
}

/* ---- the header ---- */

static const bl_field *column_of(const bl_schema *schema, bl_str name) {
  for (size_t i = 0; i < schema->root.n_fields; i++)
    if (bl_str_eq(schema->root.fields[i].name, name)) return &schema->root.fields[i];
  return NULL;
}

static bl_status header_field(csv *c, const bl_schema *schema, bl_str name, bool extra, bl_field *out, bl_error *err) {
  const bl_field *f = column_of(schema, name);
  if (f) *out = *f;
  if (f) return BL_OK;
  if (!extra && bl_is_metadata_name(name))
    return bl_fail(err, BL_USAGE, "%s: column %.*s: it is no input: lineage is the table's own to give", c->name,
                   BL_STR_ARG(name));
  if (!extra)
    return bl_fail(err, BL_USAGE, "%s: column %.*s: the table has no such column%s", c->name, BL_STR_ARG(name),
                   bl_near_field(&schema->root, NULL, name).hint);
  *out = (bl_field){.id = -1, .name = bl_arena_str(c->arena, name), .type = {.kind = BL_STRING}};
  return out->name.p ? BL_OK : bl_nomem(err);
}

static bl_status read_header(csv *c, const bl_schema *schema, bool extra, bl_error *err) {
  static const uint8_t mark[3] = {0xef, 0xbb, 0xbf};
  bool found;
  BL_TRY(bl_text_file_more(&c->file, &found, err));
  if (c->file.held.n >= 3 && memcmp(c->file.held.p, mark, 3) == 0) c->file.at = 3;
  c->columns.n = 2; /* a blank line before the header is none */
  BL_TRY(next_record(c, &found, err));
  if (!found) return bl_fail(err, BL_DAMAGED, "%s: an empty file: CSV begins with a header", c->name);
  bl_map *seen;
  BL_TRY(bl_map_new(c->ctx, &seen, err));
  c->columns.n = 0;
  c->columns.fields = bl_arena_calloc(c->arena, c->n_cells, sizeof *c->columns.fields);
  bl_status st = c->columns.fields ? BL_OK : bl_nomem(err);
  for (size_t i = 0; st == BL_OK && i < c->n_cells; i++) {
    bool added;
    bl_str name = cell_text(c, i);
    if (!bl_utf8_valid(name.p, name.n)) st = broken(c, "the header is not UTF-8", err);
    else if (!bl_map_put(seen, name, 0, &added)) st = bl_nomem(err);
    else if (!added) st = bl_fail(err, BL_USAGE, "%s: column %.*s: the header has it twice", c->name, BL_STR_ARG(name));
    else st = header_field(c, schema, name, extra, &c->columns.fields[c->columns.n++], err);
  }
  bl_map_free(seen);
  return st;
}

/* ---- rows ---- */

static bl_status put_record(csv *c, bl_error *err) {
  if (c->n_cells != c->columns.n) {
    return bl_fail_at(err, BL_DAMAGED, c->at, "%s: line %lld: %zu fields, the header has %zu", c->name,
                      (long long)c->line, c->n_cells, c->columns.n);
  }
  for (size_t i = 0; i < c->n_cells; i++) {
    bl_builder *b = bl_builder_child(c->columns.rows, (int64_t)i);
    bl_str text = cell_text(c, i);
    const bl_field *f = &c->columns.fields[i];
    bl_error e = BL_ERROR_INIT;
    bl_status st = text.n == 0 && !c->cells[i].quoted ? bl_put_null(&c->putter, b, f, &e)
                                                      : bl_put_text(&c->putter, b, f, text, &e);
    if (st == BL_OK) continue;
    return bl_fail_at(err, st, c->at, "%s: row %lld (byte %lld): %s", c->name, (long long)c->row + 1, (long long)c->at,
                      e.message);
  }
  c->row++;
  return bl_builder_close(c->columns.rows, err);
}

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  csv *c = user;
  out->release = NULL;
  for (;;) {
    bool found;
    BL_TRY(next_record(c, &found, err));
    if (found) BL_TRY(put_record(c, err));
    int64_t n = bl_builder_length(c->columns.rows);
    if (!found && n == 0) return BL_OK;
    bool full = n % 64 == 0 && bl_builder_size(c->columns.rows) >= BL_TEXT_BATCH_BYTES;
    if (!found || full || n == BL_TEXT_BATCH_ROWS) return bl_builder_finish(c->columns.rows, out, err);
  }
}

static void csv_free(void *user) {
  csv *c = user;
  bl_text_file_dispose(&c->file);
  bl_buf_free(&c->text);
  bl_free(c->ctx, c->cells);
  bl_text_columns_dispose(&c->columns);
  bl_putter_dispose(&c->putter);
  bl_arena_free(c->arena);
  bl_free(c->ctx, c);
}

bl_status bl_read_csv(bl_ctx *ctx, const bl_schema *schema, bl_input *in, const char *name, bool extra,
                      struct ArrowArrayStream *out, bl_error *err) {
  bl_status st;
  struct ArrowSchema s = {0};
  out->release = NULL;
  csv *c = bl_calloc(ctx, 1, sizeof *c);
  if (!c) return bl_nomem(err);
  c->ctx = ctx;
  c->next_line = 1;
  bl_text_file_init(&c->file, ctx, in);
  bl_buf_init(&c->text, ctx, BL_BUF_MAX);
  bl_putter_init(&c->putter, ctx);
  c->putter.of_csv = true;
  BL_GO(bl_arena_new(ctx, &c->arena, err));
  c->name = bl_arena_str(c->arena, bl_str_of(name)).p;
  if (!c->name) BL_GO(bl_nomem(err));
  BL_GO(read_header(c, schema, extra, err));
  BL_GO(bl_text_columns_build(ctx, &c->columns, err));
  BL_GO(bl_aschema_copy(ctx, &c->columns.schema, &s, err));
  bl_stream_source src = {.next = next_batch, .dispose = csv_free, .user = c};
  return bl_stream_make(ctx, &src, &s, out, err);
done:
  csv_free(c);
  return st;
}

/* data_avro.c: see data_avro.h.
 *
 * Opening walks over the heads of all blocks: it counts rows, checks every sync marker and cuts groups of about
 * GROUP_BYTES. Reading streams one group block by block; blocks without a wanted row are passed over unread.
 *
 * Invariants of a stream
 *  1. `row` is the row of the group, counted from its first, whose record the cursor stands at; `left` records of the
 *     block in hand come from there on.
 *  2. A batch ends at batch_rows rows or when it holds BATCH_BYTES. */
#include "edge/data_avro.h"

#include "edge/avro_rows.h"
#include "rows/arrow_own.h"
#include "rows/stream.h"

enum { GROUP_BYTES = 8 << 20, BATCH_BYTES = 32 << 20 };

typedef struct avro_file {
  bl_data_reader base;
  bl_ctx *ctx;
  bl_arena *arena;
  bl_str path;
  bl_avro_reader *reader;
  bl_avro_tree tree;
  bl_data_meta meta;
  bl_data_group *groups;
  size_t cap_groups;
} avro_file;

typedef struct stream {
  avro_file *file;
  size_t group;
  uint8_t *chosen;
  bool bare; /* nothing was chosen */
  bl_row_range *ranges;
  size_t n_ranges, at_range;
  int64_t batch_rows, row, left;
  bl_avro_reader *reader;
  bl_avro_cursor cursor;
  bl_avro_rows *rows;
} stream;

/* ---- rows of a stream ---- */

/* Get to the block that holds `to`, over whole blocks; then over records. */
static bl_status go_to(stream *s, int64_t to, bl_error *err) {
  const uint8_t *raw;
  size_t n_raw;
  bl_avro_block head;
  while (s->row < to || !s->left) {
    if (s->left) {
      BL_TRY(bl_avro_skip(&s->cursor, s->file->tree.root.schema, err));
      s->row++;
      s->left--;
      continue;
    }
    BL_TRY(bl_avro_peek_block(s->reader, &head, err));
    if (!head.records)
      return bl_fail_at(err, BL_DAMAGED, head.position, "byte %lld: the file ends before row %lld",
                        (long long)head.position, (long long)to);
    if (to - s->row >= head.records) {
      BL_TRY(bl_avro_pass_block(s->reader, err));
      s->row += head.records;
      continue;
    }
    BL_TRY(bl_avro_next_block(s->reader, &raw, &n_raw, &s->left, err));
    bl_avro_block_cursor(s->reader, &s->cursor);
  }
  return BL_OK;
}

static bl_status append_row(stream *s, bl_error *err) {
  bl_row_range *range = &s->ranges[s->at_range];
  if (s->bare) {
    BL_TRY(bl_avro_rows_append_bare(s->rows, err));
  } else {
    BL_TRY(go_to(s, range->begin, err));
    BL_TRY(bl_avro_rows_append(s->rows, &s->cursor, err));
    s->row++;
    if (!--s->left && s->cursor.p != s->cursor.end)
      return bl_avro_fail(&s->cursor, err, "the block has bytes after its last record");
  }
  if (++range->begin == range->end) s->at_range++;
  return BL_OK;
}

static bl_status fill_batch(stream *s, bl_error *err) {
  enum { LOOK = 16 };
  for (int64_t n = 0; s->at_range < s->n_ranges && n < s->batch_rows; n++) {
    if (n % LOOK == 0 && bl_avro_rows_size(s->rows) >= BATCH_BYTES) break;
    BL_TRY(append_row(s, err));
  }
  return BL_OK;
}

static bl_status next_batch(void *user, struct ArrowArray *out, bl_error *err) {
  stream *s = user;
  out->release = NULL;
  if (s->at_range == s->n_ranges) return BL_OK;
  bl_status st = fill_batch(s, err);
  if (st == BL_OK) st = bl_avro_rows_finish(s->rows, out, err);
  return st == BL_OK ? BL_OK : bl_fail_in(err, st, "%.*s", BL_STR_ARG(s->file->path));
}

static void free_stream(void *user) {
  stream *s = user;
  bl_ctx *ctx = s->file->ctx;
  bl_avro_rows_free(s->rows);
  bl_avro_close(s->reader);
  bl_free(ctx, s->chosen);
  bl_free(ctx, s->ranges);
  bl_free(ctx, s);
}

/* ---- choosing ---- */

/* Everything below a node. */
static void choose_below(const avro_file *f, uint8_t *chosen, int32_t node) {
  for (size_t i = (size_t)node + 1; i < f->tree.n_nodes && f->tree.nodes[i].parent >= node; i++)
    if (chosen[f->tree.nodes[i].parent]) chosen[i] = 1;
}

static bl_status choose(const avro_file *f, int32_t leaf, uint8_t *chosen, bl_error *err) {
  const bl_data_node *nodes = f->tree.nodes;
  int32_t node = 0, map = -1;
  while ((size_t)node < f->tree.n_nodes && nodes[node].leaf != leaf) node++;
  if (leaf < 0 || (size_t)node == f->tree.n_nodes) return bl_fail(err, BL_USAGE, "there is no leaf column %d", leaf);
  for (int32_t up = node; up >= 0; up = nodes[up].parent) {
    chosen[up] = 1;
    if (nodes[up].kind == BL_D_MAP) map = up;
  }
  if (map >= 0) choose_below(f, chosen, map);
  return BL_OK;
}

static bl_status check_readable(const avro_file *f, const uint8_t *chosen, bl_error *err) {
  for (size_t i = 0; i < f->tree.n_nodes; i++) {
    const bl_data_node *n = &f->tree.nodes[i];
    if (chosen[i] && n->kind == BL_D_OTHER)
      return bl_fail(err, BL_UNSUPPORTED, "%.*s: column %s: cannot read a value of type %s", BL_STR_ARG(f->path),
                     n->name, n->note);
  }
  return BL_OK;
}

static bl_status set_ranges(stream *s, const bl_row_range *ranges, size_t n, bl_error *err) {
  int64_t rows = s->file->groups[s->group].rows, at = 0;
  bl_row_range all = {0, rows};
  if (!ranges) {
    ranges = &all;
    n = 1;
  }
  if (!(s->ranges = bl_alloc(s->file->ctx, n, sizeof *s->ranges))) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    if (ranges[i].begin < at || ranges[i].end < ranges[i].begin || ranges[i].end > rows)
      return bl_fail(err, BL_USAGE, "%.*s: rows %lld to %lld of a group of %lld", BL_STR_ARG(s->file->path),
                     (long long)ranges[i].begin, (long long)ranges[i].end, (long long)rows);
    at = ranges[i].end;
    if (ranges[i].begin < ranges[i].end) s->ranges[s->n_ranges++] = ranges[i];
  }
  return BL_OK;
}

/* Everything that the stream needs before its first batch. */
static bl_status prepare(stream *s, const int32_t *leaves, size_t n_leaves, const bl_row_range *ranges, size_t n_ranges,
                         struct ArrowSchema *schema, bl_error *err) {
  avro_file *f = s->file;
  if (!(s->chosen = bl_calloc(f->ctx, f->tree.n_nodes, 1))) return bl_nomem(err);
  s->chosen[0] = 1;
  s->bare = !n_leaves;
  for (size_t i = 0; i < n_leaves; i++) BL_TRY(choose(f, leaves[i], s->chosen, err));
  BL_TRY(check_readable(f, s->chosen, err));
  BL_TRY(set_ranges(s, ranges, n_ranges, err));
  BL_TRY(bl_avro_fork(f->reader, f->groups[s->group].offset, &s->reader, err));
  BL_TRY(bl_avro_rows_new(f->ctx, &f->tree, s->chosen, &s->rows, err));
  return bl_aschema_copy(f->ctx, bl_avro_rows_schema(s->rows), schema, err);
}

static bl_status read_group(bl_data_reader *base, size_t group, const int32_t *leaves, size_t n_leaves,
                            const bl_row_range *ranges, size_t n_ranges, int64_t batch_rows,
                            struct ArrowArrayStream *out, bl_error *err) {
  avro_file *f = (avro_file *)base;
  struct ArrowSchema schema;
  if (group >= f->meta.n_groups || batch_rows < 1)
    return bl_fail(err, BL_USAGE, "%.*s: group %zu of %zu in batches of %lld", BL_STR_ARG(f->path), group,
                   f->meta.n_groups, (long long)batch_rows);
  stream *s = bl_calloc(f->ctx, 1, sizeof *s);
  if (!s) return bl_nomem(err);
  *s = (stream){.file = f, .group = group, .batch_rows = batch_rows};
  bl_status st = prepare(s, leaves, n_leaves, ranges, n_ranges, &schema, err);
  if (st != BL_OK) {
    free_stream(s);
    return st;
  }
  bl_stream_source source = {.next = next_batch, .dispose = free_stream, .user = s};
  return bl_stream_make(f->ctx, &source, &schema, out, err);
}

static bool no_stats(bl_data_reader *r, size_t group, int32_t leaf, bl_data_stats *out) {
  (void)r, (void)group, (void)leaf, (void)out;
  return false;
}

/* ---- opening ---- */

static bl_status add_block(avro_file *f, const bl_avro_block *b, bl_error *err) {
  bl_data_group *last = f->meta.n_groups ? &f->groups[f->meta.n_groups - 1] : NULL;
  if (!last || last->bytes >= GROUP_BYTES) {
    BL_TRY(bl_grow(f->ctx, &f->groups, &f->cap_groups, f->meta.n_groups, sizeof *f->groups, err));
    last = &f->groups[f->meta.n_groups++];
    *last = (bl_data_group){.first_row = f->meta.rows, .offset = b->position};
  }
  last->rows += b->records;
  last->bytes += b->bytes;
  if (bl_add64(f->meta.rows, b->records, &f->meta.rows)) return BL_OK;
  return bl_fail_at(err, BL_DAMAGED, b->position, "byte %lld: more rows than a long can count", (long long)b->position);
}

static bl_status walk(avro_file *f, bl_error *err) {
  for (;;) {
    bl_avro_block b;
    BL_TRY(bl_avro_peek_block(f->reader, &b, err));
    if (!b.records) return BL_OK;
    BL_TRY(add_block(f, &b, err));
    BL_TRY(bl_avro_pass_block(f->reader, err));
  }
}

static void close_file(bl_data_reader *base) {
  avro_file *f = (avro_file *)base;
  if (!f) return;
  bl_avro_close(f->reader);
  bl_free(f->ctx, f->groups);
  bl_arena_free(f->arena);
  bl_free(f->ctx, f);
}

static bl_status load(avro_file *f, bl_input *in, bl_error *err) {
  BL_TRY(bl_avro_open_input(f->ctx, in, &f->reader, err));
  BL_TRY(bl_avro_tree_make(f->arena, bl_avro_header(f->reader)->schema, &f->tree, err));
  BL_TRY(walk(f, err));
  f->meta.nodes = f->tree.nodes;
  f->meta.n_nodes = f->tree.n_nodes;
  f->meta.groups = f->groups;
  f->meta.has_field_ids = f->tree.has_field_ids;
  f->meta.schema_text = bl_avro_meta(f->reader, "iceberg.schema").p;
  return BL_OK;
}

static bl_status open_avro(bl_ctx *ctx, bl_input *in, const char *path, const bl_data_open_options *o,
                           bl_data_reader **out, bl_error *err) {
  bl_status st;
  *out = NULL;
  if (o && o->key) return bl_fail(err, BL_UNSUPPORTED, "%s: encrypted Avro files", path);
  avro_file *f = bl_calloc(ctx, 1, sizeof *f);
  if (!f) return bl_nomem(err);
  f->ctx = ctx;
  f->base = (bl_data_reader){.meta = &f->meta, .read = read_group, .stats = no_stats, .free = close_file};
  BL_GO(bl_arena_new(ctx, &f->arena, err));
  f->path = bl_arena_str(f->arena, bl_str_of(path));
  BL_GO(f->path.p ? BL_OK : bl_nomem(err));
  st = load(f, in, err);
  if (st != BL_OK) bl_fail_in(err, st, "%s", path);
done:
  if (st != BL_OK) close_file(&f->base);
  else *out = &f->base;
  return st;
}

const bl_data_format bl_format_avro = {.version = BL_DATA_VERSION, .name = "avro", .open = open_avro};

/* open_file.c: see open_file.h. */
#include "scan/open_file.h"

#include "rows/stream.h"

enum { BATCH_ROWS = 65536 };

bl_status bl_reading_init(bl_reading *r, bl_table *t, bl_error *err) {
  *r = (bl_reading){.t = t, .batch_rows = BATCH_ROWS};
  bl_str json = bl_pairs_get(&t->metadata->properties, "schema.name-mapping.default");
  if (!json.p) return BL_OK;
  BL_TRY(bl_arena_new(t->ctx, &r->arena, err));
  r->has_mapping = true;
  bl_status st = bl_name_mapping_parse(r->arena, json, &r->mapping, err);
  if (st != BL_OK) {
    bl_reading_dispose(r);
    return bl_fail_in(err, st, "property schema.name-mapping.default");
  }
  return BL_OK;
}

void bl_reading_dispose(bl_reading *r) {
  bl_arena_free(r->arena);
  r->arena = NULL;
}

bl_status bl_open_file_new(const bl_reading *env, const bl_manifest_entry *e, bl_open_file **out, bl_error *err) {
  bl_table *t = env->t;
  const bl_data_format *format;
  *out = NULL;
  if (e->file.key_metadata.p) return bl_fail(err, BL_UNSUPPORTED, "data file: %s: it is encrypted", e->file.path.p);
  BL_TRY(bl_table_data_format(t, e->file.format, &format, err));
  bl_open_file *f = bl_calloc(t->ctx, 1, sizeof *f);
  if (!f) return bl_nomem(err);
  f->env = env;
  f->entry = e;
  f->facts = (bl_file_facts){.file = &e->file,
                             .data_sequence_number = e->sequence_number,
                             .spec = bl_metadata_spec(t->metadata, e->file.spec_id),
                             .metadata = t->metadata};
  f->name = bl_table_real_path(t, e->file.path.p);
  bl_status st = f->name ? t->io->open_input(t->io, e->file.path.p, &f->input, err) : bl_nomem(err);
  if (st == BL_OK) st = format->open(t->ctx, f->input, f->name, NULL, &f->reader, err);
  if (st != BL_OK) {
    bl_open_file_free(f);
    return st;
  }
  f->meta = f->reader->meta;
  if (e->file.first_row_id != BL_NONE && e->file.first_row_id > INT64_MAX - f->meta->rows) {
    st = bl_fail(err, BL_DAMAGED, "data file: %s: its row ids pass the last one there can be", f->name);
    bl_open_file_free(f);
    return st;
  }
  f->no_lineage_columns = bl_projection_stored_leaf(f->meta, BL_ID_ROW_ID) < 0 &&
                          bl_projection_stored_leaf(f->meta, BL_ID_LAST_UPDATED) < 0;
  *out = f;
  return BL_OK;
}

void bl_open_file_free(bl_open_file *f) {
  if (!f) return;
  bl_ctx *ctx = f->env->t->ctx;
  if (f->reader) f->reader->free(f->reader);
  if (f->input) f->input->close(f->input);
  bl_free(ctx, f->name);
  bl_free(ctx, f);
}

void bl_open_file_check_rows(const bl_open_file *f, bool *warned) {
  int64_t said = f->entry->file.record_count;
  if (f->meta->rows == said || __atomic_exchange_n(warned, true, __ATOMIC_RELAXED)) return;
  bl_warn(f->env->t->ctx, "data file: %s: it has %lld rows, record_count says %lld", f->name, (long long)f->meta->rows,
          (long long)said);
}

bl_status bl_open_file_project(const bl_open_file *f, const bl_type *wanted, bl_projection **out, bl_error *err) {
  const bl_name_mapping *mapping = f->env->has_mapping ? &f->env->mapping : NULL;
  return bl_projection_new(f->env->t->ctx, wanted, f->meta, mapping, f->entry->file.format == BL_FORMAT_PARQUET,
                           &f->facts, out, err);
}

/* Where the next batch's rows are in the file. */
typedef struct cursor {
  const bl_row_range *ranges;
  size_t n_ranges, at;
  int64_t base; /* the group's first row */
  int64_t next; /* of the group; next row to come */
  int64_t left; /* rows that are still to be given */
  int64_t *positions;
  int64_t cap;
} cursor;

static bl_status positions_of(bl_ctx *ctx, cursor *c, int64_t n, bl_error *err) {
  if (n > c->cap) {
    int64_t *p = bl_resize(ctx, c->positions, (size_t)n, sizeof *p);
    if (!p) return bl_nomem(err);
    c->positions = p;
    c->cap = n;
  }
  for (int64_t i = 0; i < n; i++) {
    while (c->at < c->n_ranges && c->next >= c->ranges[c->at].end) {
      c->at++;
      if (c->at < c->n_ranges) c->next = c->ranges[c->at].begin;
    }
    if (c->at >= c->n_ranges)
      return bl_fail(err, BL_DAMAGED, "data file: the reader gave more rows than were asked for");
    c->positions[i] = c->base + c->next++;
  }
  return BL_OK;
}

static int64_t rows_of(const bl_row_range *r, size_t n) {
  int64_t rows = 0;
  for (size_t i = 0; i < n; i++) rows += r[i].end - r[i].begin;
  return rows;
}

static bl_status other_number(const bl_open_file *f, bl_error *err) {
  return bl_fail(err, BL_DAMAGED, "data file: %s: a row group holds another number of rows than its footer promises",
                 f->name);
}

static bl_status read_batches(const bl_open_file *f, const bl_projection *p, struct ArrowArrayStream *s, cursor *c,
                              bl_rows_visit visit, void *user, bl_error *err) {
  for (;;) {
    struct ArrowArray in, out;
    BL_TRY(bl_stream_next(s, &in, err));
    if (!in.release) return c->left == 0 ? BL_OK : other_number(f, err);
    int64_t n = in.length, first = c->base + c->next;
    c->left -= n;
    if (c->left < 0) {
      bl_array_release(&in);
      return other_number(f, err);
    }
    if (c->ranges) {
      bl_status st = positions_of(f->env->t->ctx, c, n, err);
      if (st != BL_OK) {
        bl_array_release(&in);
        return st;
      }
    } else c->next += n;
    BL_TRY(bl_projection_apply(p, &in, c->ranges ? c->positions : NULL, first, &out, err));
    BL_TRY(visit(user, &out, c->ranges ? c->positions : NULL, first, err));
  }
}

bl_status bl_open_file_read(const bl_open_file *f, const bl_projection *p, size_t group, const bl_row_range *ranges,
                            size_t n_ranges, bl_rows_visit visit, void *user, bl_error *err) {
  size_t n_leaves;
  const int32_t *leaves = bl_projection_leaves(p, &n_leaves);
  struct ArrowArrayStream s = {0};
  const bl_data_group *g = &f->meta->groups[group];
  cursor c = {.ranges = ranges, .n_ranges = n_ranges, .base = g->first_row, .left = g->rows};
  if (ranges && n_ranges == 0) return BL_OK;
  if (ranges) c.left = rows_of(ranges, n_ranges);
  if (ranges) c.next = ranges[0].begin;
  bl_status st = f->reader->read(f->reader, group, leaves, n_leaves, ranges, n_ranges, f->env->batch_rows, &s, err);
  if (st == BL_OK) st = read_batches(f, p, &s, &c, visit, user, err);
  bl_stream_release(&s);
  bl_free(f->env->t->ctx, c.positions);
  return st;
}

enum { ROWS_A_STRETCH = 16 };

/* Single values of a column of Parquet are taken out of their page, but for those below structs, lists and maps. */
static bool takes_single_rows(const bl_open_file *f, const bl_projection *p) {
  size_t n;
  const int32_t *leaves = bl_projection_leaves(p, &n);
  if (f->entry->file.format != BL_FORMAT_PARQUET) return false;
  for (size_t i = 0, node = 0; i < n; i++) { /* both ascend */
    while (node + 1 < f->meta->n_nodes && f->meta->nodes[node].leaf != leaves[i]) node++;
    if (f->meta->nodes[node].parent != 0) return false;
  }
  return true;
}

bool bl_open_file_picks(const bl_open_file *f, const bl_projection *p, size_t group, int64_t kept, int64_t stretches) {
  int64_t rows = f->meta->groups[group].rows;
  if (kept == rows) return false;
  return takes_single_rows(f, p) || (kept <= rows / 2 && stretches <= rows / ROWS_A_STRETCH);
}

bl_status bl_ranges_of(bl_ctx *ctx, const uint8_t *keep, int64_t n, bl_row_range **out, size_t *n_out, bl_error *err) {
  size_t count = 0, cap = 0;
  bl_row_range *r = NULL;
  for (int64_t i = 0; i < n;) {
    const uint8_t *one = memchr(keep + i, 1, (size_t)(n - i));
    if (!one) break;
    int64_t begin = one - keep;
    const uint8_t *zero = memchr(one, 0, (size_t)(n - begin));
    int64_t end = zero ? zero - keep : n;
    bl_status st = bl_grow(ctx, &r, &cap, count, sizeof *r, err);
    if (st != BL_OK) {
      bl_free(ctx, r);
      return st;
    }
    r[count++] = (bl_row_range){begin, end};
    i = end;
  }
  *out = r;
  *n_out = count;
  return BL_OK;
}

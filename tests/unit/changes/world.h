/* world.h: small tables made in memory, manifest by manifest, for tests of diffs. The schema is (id long, day int);
 * spec 0 has no fields, spec 1 is identity(day), spec 2 is void(day). No data file exists. */
#ifndef BL_TESTS_UNIT_WORLD_H
#define BL_TESTS_UNIT_WORLD_H

#include "edge/io_memory.h"
#include "format/manifest_avro.h"
#include "support/support.h"
#include "table/table.h"

enum { WORLD_SNAPSHOTS = 64 };

typedef struct world {
  bl_ctx *ctx;
  bl_arena *a;
  bl_io *io;
  bl_metadata *md;
  bl_table t;
  bl_snapshot snapshots[WORLD_SNAPSHOTS];
  int64_t sequence_number; /* of the commit in the making */
  int64_t next_row_id;
  bool assigns_ids; /* false: before an upgrade */
  int made;         /* manifests and lists */
  bl_error err;
} world;

static const char world_metadata[] =
    "{\"format-version\":3,\"table-uuid\":\"00000000-0000-4000-8000-000000000001\",\"location\":\"/t\","
    "\"last-updated-ms\":1,\"last-column-id\":2,\"last-sequence-number\":9,\"last-partition-id\":1001,"
    "\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["
    "{\"id\":1,\"name\":\"id\",\"required\":false,\"type\":\"long\"},"
    "{\"id\":2,\"name\":\"day\",\"required\":false,\"type\":\"int\"}]}],\"current-schema-id\":0,"
    "\"partition-specs\":[{\"spec-id\":0,\"fields\":[]},"
    "{\"spec-id\":1,\"fields\":[{\"source-id\":2,\"field-id\":1000,\"transform\":\"identity\",\"name\":\"day\"}]},"
    "{\"spec-id\":2,\"fields\":[{\"source-id\":2,\"field-id\":1001,\"transform\":\"void\",\"name\":\"none\"}]}],"
    "\"default-spec-id\":0,\"sort-orders\":[{\"order-id\":0,\"fields\":[]}],\"default-sort-order-id\":0,"
    "\"next-row-id\":1000000}";

static inline void world_on(world *w, bl_ctx *ctx) {
  *w = (world){.ctx = ctx, .sequence_number = 1, .assigns_ids = true, .err = BL_ERROR_INIT};
  test_ok(bl_arena_new(ctx, &w->a, &w->err), &w->err);
  test_ok(bl_io_memory_new(ctx, &w->io, &w->err), &w->err);
  test_ok(bl_metadata_parse(ctx, world_metadata, sizeof world_metadata - 1, &w->md, &w->err), &w->err);
  w->md->snapshots = w->snapshots;
  w->t = (bl_table){.ctx = ctx, .io = w->io, .metadata = w->md};
}

static inline void world_open(world *w) {
  world_on(w, test_ctx());
}

static inline void world_close(world *w) {
  bl_metadata_free(w->md);
  w->io->free(w->io);
  bl_arena_free(w->a);
  test_ctx_free(w->ctx);
}

/* ---- entries ---- */

static inline bl_str world_name(world *w, const char *stem, int n, const char *ending) {
  bl_str s = bl_arena_printf(w->a, "/t/%s%d%s", stem, n, ending);
  assert_non_null(s.p);
  return s;
}

/* day: the partition of spec 1; -1 = null. Spec 2 has null. */
static inline bl_manifest_entry world_file(world *w, bl_file_content content, bl_str path, int spec, int day) {
  bl_value *tuple = bl_arena_calloc(w->a, 1, sizeof *tuple);
  *tuple = (bl_value){.kind = BL_INT, .null = spec == 2 || day < 0, .u.i = day < 0 ? 0 : day};
  return (bl_manifest_entry){.status = BL_ADDED,
                             .snapshot_id = w->sequence_number,
                             .sequence_number = w->sequence_number,
                             .file_sequence_number = w->sequence_number,
                             .stored_first_row_id = BL_NONE,
                             .file = {.content = content,
                                      .format = BL_FORMAT_PARQUET,
                                      .path = path,
                                      .spec_id = spec,
                                      .partition = tuple,
                                      .n_partition = spec ? 1 : 0,
                                      .record_count = 10,
                                      .file_size = 1000,
                                      .sort_order_id = -1,
                                      .content_offset = BL_NONE,
                                      .content_size = BL_NONE,
                                      .first_row_id = BL_NONE}};
}

/* Bounds of column 1, in any file. */
static inline void world_bounds(world *w, bl_manifest_entry *e, int64_t low, int64_t high) {
  bl_column_metrics *m = bl_arena_calloc(w->a, 1, sizeof *m);
  int64_t *b = bl_arena_alloc(w->a, 2, sizeof *b);
  b[0] = low, b[1] = high;
  *m = (bl_column_metrics){.id = 1,
                           .size = BL_NONE,
                           .values = 10,
                           .nulls = 0,
                           .nans = BL_NONE,
                           .lower = {(const char *)&b[0], 8},
                           .upper = {(const char *)&b[1], 8}};
  e->file.metrics = m;
  e->file.n_metrics = 1;
}

static inline bl_manifest_entry world_data(world *w, int n, int spec, int day) {
  return world_file(w, BL_FILE_DATA, world_name(w, "data/", n, ".parquet"), spec, day);
}

/* A vector for a data file; several may share one Puffin file. */
static inline bl_manifest_entry world_vector(world *w, int puffin, int64_t offset, const bl_manifest_entry *data) {
  bl_manifest_entry e = world_file(w, BL_FILE_POSITION_DELETES, world_name(w, "data/", puffin, ".puffin"), 0, -1);
  e.file.format = BL_FORMAT_PUFFIN;
  e.file.spec_id = data->file.spec_id;
  e.file.partition = data->file.partition;
  e.file.n_partition = data->file.n_partition;
  e.file.referenced_data_file = data->file.path;
  e.file.record_count = 1;
  e.file.content_offset = offset;
  e.file.content_size = 40;
  return e;
}

static inline bl_manifest_entry world_positions(world *w, int n, int spec, int day, const bl_manifest_entry *data) {
  bl_manifest_entry e =
      world_file(w, BL_FILE_POSITION_DELETES, world_name(w, "data/", n, "-positions.parquet"), spec, day);
  if (data) e.file.referenced_data_file = data->file.path;
  return e;
}

static inline bl_manifest_entry world_equality(world *w, int n, int spec, int day) {
  static int32_t ids[] = {1};
  bl_manifest_entry e =
      world_file(w, BL_FILE_EQUALITY_DELETES, world_name(w, "data/", n, "-equality.parquet"), spec, day);
  e.file.equality_ids = ids;
  e.file.n_equality_ids = 1;
  return e;
}

/* As a later manifest carries it. */
static inline bl_manifest_entry world_existing(bl_manifest_entry e) {
  e.status = BL_EXISTING;
  e.stored_first_row_id = e.file.first_row_id;
  return e;
}

/* ---- manifests and snapshots ---- */

static inline void world_count(bl_manifest_file *m, const bl_manifest_entry *e) {
  int64_t *files[] = {&m->existing_files, &m->added_files, &m->deleted_files};
  int64_t *rows[] = {&m->existing_rows, &m->added_rows, &m->deleted_rows};
  ++*files[e->status];
  *rows[e->status] += e->file.record_count;
  if (e->status != BL_DELETED && e->sequence_number < m->min_sequence_number)
    m->min_sequence_number = e->sequence_number;
}

static inline void world_summary(world *w, bl_manifest_file *m, const bl_manifest_entry *e, size_t n) {
  int32_t *b = bl_arena_calloc(w->a, 2, sizeof *b);
  bl_field_summary *s = bl_arena_calloc(w->a, 1, sizeof *s);
  bool any = false;
  m->partitions = s;
  m->has_partitions = true;
  m->n_partitions = m->spec_id ? 1 : 0;
  for (size_t i = 0; m->spec_id && i < n; i++) {
    const bl_value *v = e[i].file.partition;
    s->contains_null |= v->null;
    if (v->null) continue;
    if (!any || v->u.i < b[0]) b[0] = (int32_t)v->u.i;
    if (!any || v->u.i > b[1]) b[1] = (int32_t)v->u.i;
    any = true;
  }
  if (any) s->lower = (bl_str){(const char *)&b[0], 4}, s->upper = (bl_str){(const char *)&b[1], 4};
}

/* The row ids that entries of a manifest have when it has `first`; entries: to be changed. */
static inline void world_ids(bl_manifest_entry *entries, size_t n, int64_t first) {
  for (size_t i = 0; i < n; i++) {
    bl_manifest_entry *e = &entries[i];
    e->file.first_row_id = first == BL_NONE ? BL_NONE : e->stored_first_row_id;
    if (first == BL_NONE || e->stored_first_row_id != BL_NONE || e->status == BL_DELETED) continue;
    e->file.first_row_id = first;
    first += e->file.record_count;
  }
}

/* Gives ids to a data manifest that has none. */
static inline void world_assign(world *w, bl_manifest_file *m, bl_manifest_entry *entries, size_t n) {
  if (m->content != BL_MANIFEST_DATA || !w->assigns_ids || m->first_row_id != BL_NONE) return;
  m->first_row_id = w->next_row_id;
  w->next_row_id += m->added_rows + m->existing_rows;
  world_ids(entries, n, m->first_row_id);
}

static inline void world_put(world *w, bl_str path, bl_buf *bytes) {
  test_ok(bl_io_memory_put(w->io, path.p, bytes->p, bytes->n, &w->err), &w->err);
  bl_buf_free(bytes);
}

/* All entries have the spec of the first and fit the content. They get their ids. */
static inline bl_manifest_file world_manifest(world *w, bl_manifest_content content, bl_manifest_entry *entries,
                                              size_t n) {
  const bl_manifest_entry **list = bl_arena_alloc(w->a, n, sizeof *list);
  bl_manifest_file m = {.path = world_name(w, "metadata/m", w->made++, ".avro"),
                        .content = content,
                        .spec_id = entries[0].file.spec_id,
                        .sequence_number = w->sequence_number,
                        .min_sequence_number = w->sequence_number,
                        .added_snapshot_id = w->sequence_number,
                        .first_row_id = BL_NONE};
  bl_buf bytes;
  bl_buf_init(&bytes, w->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < n; i++) {
    list[i] = &entries[i];
    world_count(&m, &entries[i]);
  }
  world_summary(w, &m, entries, n);
  test_ok(bl_manifest_write(w->ctx, w->md, m.spec_id, 0, content, list, n, &bytes, &w->err), &w->err);
  m.length = (int64_t)bytes.n;
  world_put(w, m.path, &bytes);
  world_assign(w, &m, entries, n);
  return m;
}

/* A snapshot with these manifests; id and sequence number are that of the commit. parent 0: none. */
static inline const bl_snapshot *world_commit(world *w, int64_t parent, const char *operation,
                                              const bl_manifest_file *list, size_t n) {
  assert_true(w->md->n_snapshots < WORLD_SNAPSHOTS);
  bl_snapshot *s = &w->snapshots[w->md->n_snapshots++];
  bl_pair *pair = bl_arena_alloc(w->a, 1, sizeof *pair);
  *pair = (bl_pair){BL_STR("operation"), bl_arena_str(w->a, bl_str_of(operation))};
  *s = (bl_snapshot){.id = w->sequence_number,
                     .has_parent = parent != 0,
                     .parent_id = parent,
                     .sequence_number = w->sequence_number,
                     .manifest_list = world_name(w, "metadata/snap", w->made++, ".avro"),
                     .summary = {.items = pair, .n = 1}};
  bl_buf bytes;
  bl_buf_init(&bytes, w->ctx, BL_BUF_MAX);
  test_ok(bl_manifest_list_write(w->ctx, w->md, s, list, n, &bytes, &w->err), &w->err);
  world_put(w, s->manifest_list, &bytes);
  w->sequence_number++;
  test_ok(bl_metadata_index(w->md, &w->err), &w->err);
  return s;
}

#endif

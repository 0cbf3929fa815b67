/* inspect_partitions.c: rows, files and deletes of a snapshot by partition; a partition is a tuple of the view. */
#include <stdlib.h>

#include "base/map.h"
#include "inspect/inspect.h"
#include "inspect/partition_view.h"
#include "table/manifests.h"

typedef struct group {
  bl_value *values;
  const bl_type **types;
  size_t next; /* of the same hash, 1 + its number; 0: none */
  int32_t spec_id;
  int64_t rows, files, bytes;
  int64_t position_rows, position_files, equality_rows, equality_files, vectors;
  const bl_snapshot *updated;
} group;

typedef struct grouping {
  const bl_inspection *w;
  bl_partition_view view;
  group *items;
  size_t n, cap;
  bl_imap *by_hash; /* -> 1 + the number of the first group */
  bl_value *values; /* scratch: one tuple */
  const bl_type **types;
} grouping;

static bl_status copy_tuple(grouping *g, group *out, bl_error *err) {
  bl_arena *a = g->w->arena;
  out->values = bl_arena_calloc(a, g->view.n + 1, sizeof *out->values);
  out->types = bl_arena_calloc(a, g->view.n + 1, sizeof *out->types);
  if (!out->values || !out->types) return bl_nomem(err);
  for (size_t i = 0; i < g->view.n; i++) {
    out->types[i] = g->types[i];
    BL_TRY(bl_value_copy(a, &g->values[i], &out->values[i], err));
  }
  return BL_OK;
}

/* The group of the tuple in g->values. */
static bl_status find_group(grouping *g, group **out, bl_error *err) {
  bool added;
  size_t *first = bl_imap_put(g->by_hash, (int64_t)bl_tuple_hash(g->values, g->view.n), 0, &added);
  if (!first) return bl_nomem(err);
  for (size_t i = *first; i; i = g->items[i - 1].next) {
    *out = &g->items[i - 1];
    if (bl_tuple_same(g->values, g->view.n, (*out)->values, g->view.n)) return BL_OK;
  }
  BL_TRY(bl_grow(g->w->t->ctx, &g->items, &g->cap, g->n, sizeof *g->items, err));
  *out = &g->items[g->n];
  **out = (group){.next = *first};
  BL_TRY(copy_tuple(g, *out, err));
  *first = ++g->n;
  return BL_OK;
}

static void count_file(grouping *g, group *p, const bl_manifest_entry *e) {
  const bl_data_file *f = &e->file;
  if (f->content == BL_FILE_DATA) {
    p->rows += f->record_count, p->files++, p->bytes += f->file_size;
  } else if (f->content == BL_FILE_POSITION_DELETES) {
    p->position_rows += f->record_count, p->position_files++;
    p->vectors += f->format == BL_FORMAT_PUFFIN;
  } else {
    p->equality_rows += f->record_count, p->equality_files++;
  }
  if (f->spec_id > p->spec_id || p->files + p->position_files + p->equality_files == 1) p->spec_id = f->spec_id;
  const bl_snapshot *s = bl_metadata_snapshot(g->w->m, e->snapshot_id);
  if (s && (!p->updated || s->timestamp_ms > p->updated->timestamp_ms)) p->updated = s;
}

static bl_status group_manifest(void *user, const bl_manifest_file *m, const bl_snapshot *reference, bl_error *err) {
  grouping *g = user;
  bl_arena *a = NULL;
  bl_manifest_entry *entries;
  size_t n;
  group *p = NULL;
  bl_status st;
  (void)reference;
  BL_GO(bl_arena_new(g->w->t->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(g->w->t, m, false, a, &entries, &n, err));
  for (size_t i = 0; i < n; i++) {
    if (entries[i].status == BL_DELETED) continue;
    bl_partition_view_tuple(&g->view, &entries[i].file, g->values, g->types);
    BL_GO(find_group(g, &p, err));
    count_file(g, p, &entries[i]);
  }
done:
  bl_arena_free(a);
  return st;
}

/* ---- the report ---- */

static bl_status group_row(const grouping *g, bl_report *r, const group *p, bl_error *err) {
  if (g->view.n) {
    bl_partition_view_print(bl_report_json(r), &g->view, p->values, p->types);
    bl_report_i64(r, p->spec_id);
  }
  bl_report_i64(r, p->rows);
  bl_report_i64(r, p->files);
  bl_report_i64(r, p->bytes);
  bl_report_i64(r, p->position_rows);
  bl_report_i64(r, p->position_files);
  bl_report_i64(r, p->equality_rows);
  bl_report_i64(r, p->equality_files);
  if (p->updated) {
    bl_report_ms(r, p->updated->timestamp_ms);
    bl_report_i64(r, p->updated->id);
  } else {
    bl_report_null(r);
    bl_report_null(r);
  }
  bl_report_i64(r, p->vectors);
  return bl_report_end_row(r, err);
}

static bl_status print_groups(const grouping *g, bl_error *err) {
  static const char *const columns[] = {"partition",
                                        "spec_id",
                                        "record_count",
                                        "file_count",
                                        "total_data_file_size_in_bytes",
                                        "position_delete_record_count",
                                        "position_delete_file_count",
                                        "equality_delete_record_count",
                                        "equality_delete_file_count",
                                        "last_updated_at",
                                        "last_updated_snapshot_id",
                                        "deletion_vector_count"};
  size_t skip = g->view.n ? 0 : 2;
  bl_report *r;
  bl_status st = BL_OK;
  BL_TRY(bl_inspect_rows(g->w, columns + skip, BL_LEN(columns) - skip, &r, err));
  for (size_t i = 0; i < g->n && st == BL_OK; i++) st = group_row(g, r, &g->items[i], err);
  return bl_inspect_end(r, st, err);
}

bl_status bl_inspect_partitions(const bl_inspection *w, bl_error *err) {
  grouping g = {.w = w};
  bl_status st;
  BL_GO(bl_partition_view_init(w->arena, w->m, &g.view, err));
  BL_GO(bl_imap_new(w->t->ctx, &g.by_hash, err));
  g.values = bl_arena_calloc(w->arena, g.view.n + 1, sizeof *g.values);
  g.types = bl_arena_calloc(w->arena, g.view.n + 1, sizeof *g.types);
  if (!g.values || !g.types) BL_GO(bl_nomem(err));
  BL_GO(bl_inspect_each_manifest(w, false, true, group_manifest, &g, err));
  st = print_groups(&g, err);
done:
  bl_imap_free(g.by_hash);
  bl_free(w->t->ctx, g.items);
  return st;
}

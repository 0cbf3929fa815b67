/* inspect.c: the kinds of reports, see bergline/inspect.h. */
#include "inspect/inspect.h"

#include <stdio.h>

#include "base/map.h"
#include "table/manifests.h"

/* One list for the program's help and for dispatch. */
#define KINDS(X)                                                                                                       \
  X("info", "format, identity, location, current state", false, bl_inspect_info)                                       \
  X("schema", "the columns", true, bl_inspect_schema)                                                                  \
  X("spec", "the partition specs", false, bl_inspect_spec)                                                             \
  X("properties", "the table properties", false, bl_inspect_properties)                                                \
  X("snapshots", "every snapshot left", false, bl_inspect_snapshots)                                                   \
  X("history", "which snapshot was current when", false, bl_inspect_history)                                           \
  X("refs", "branches and tags", false, bl_inspect_refs)                                                               \
  X("files", "live files of a snapshot", true, bl_inspect_files)                                                       \
  X("data_files", "live data files of a snapshot", true, bl_inspect_data_files)                                        \
  X("delete_files", "live delete files of a snapshot", true, bl_inspect_delete_files)                                  \
  X("all_files", "live files of all snapshots", false, bl_inspect_all_files)                                           \
  X("all_data_files", "live data files of all snapshots", false, bl_inspect_all_data_files)                            \
  X("all_delete_files", "live delete files of all snapshots", false, bl_inspect_all_delete_files)                      \
  X("manifests", "manifests of a snapshot", true, bl_inspect_manifests)                                                \
  X("all_manifests", "manifests of all snapshots", false, bl_inspect_all_manifests)                                    \
  X("entries", "manifest entries of a snapshot, deleted ones too", true, bl_inspect_entries)                           \
  X("all_entries", "manifest entries of all snapshots", false, bl_inspect_all_entries)                                 \
  X("partitions", "rows, files and deletes by partition", true, bl_inspect_partitions)                                 \
  X("metadata_log_entries", "the metadata files so far", false, bl_inspect_metadata_log)                               \
  X("position_deletes", "positions that vectors and position deletes take", true, bl_inspect_position_deletes)         \
  X("row_ids", "row ids of each live data file, stored or inherited", true, bl_inspect_row_ids)

#define AS_PUBLIC(name, about, takes_at, run) {name, about, takes_at},
#define AS_RUN(name, about, takes_at, run) run,
static const bl_inspect_kind kinds[] = {KINDS(AS_PUBLIC)};
static bl_status (*const runs[])(const bl_inspection *w, bl_error *err) = {KINDS(AS_RUN)};

const bl_inspect_kind *bl_inspect_kinds(size_t *n) {
  *n = BL_LEN(kinds);
  return kinds;
}

/* ---- reports ---- */

bl_status bl_inspect_rows(const bl_inspection *w, const char *const *columns, size_t n, bl_report **out,
                          bl_error *err) {
  return bl_report_new(w->t->ctx, w->sink, columns, n, w->text, false, out, err);
}

bl_status bl_inspect_object(const bl_inspection *w, const char *const *columns, size_t n, bl_report **out,
                            bl_error *err) {
  return bl_report_new(w->t->ctx, w->sink, columns, n, w->text, true, out, err);
}

bl_status bl_inspect_end(bl_report *r, bl_status st, bl_error *err) {
  if (st == BL_OK) return bl_report_finish(r, err);
  bl_report_abort(r);
  return st;
}

/* ---- manifests ---- */

typedef struct manifest_walk {
  const bl_inspection *w;
  bl_map *seen; /* NULL: repeats are visited */
  bl_manifest_visit *visit;
  void *user;
} manifest_walk;

/* The paths that are remembered live in the inspection's arena; the rest of a list goes with it. */
static bl_status is_new(manifest_walk *k, bl_str path, bool *out, bl_error *err) {
  *out = true;
  if (!k->seen) return BL_OK;
  if (bl_map_get(k->seen, path)) {
    *out = false;
    return BL_OK;
  }
  bl_str copy = bl_arena_str(k->w->arena, path);
  return copy.p && bl_map_put(k->seen, copy, 0, NULL) ? BL_OK : bl_nomem(err);
}

static bl_status walk_snapshot(manifest_walk *k, const bl_snapshot *s, bl_error *err) {
  bl_arena *a = NULL;
  bl_manifest_file *list;
  size_t n;
  bl_status st;
  BL_GO(bl_arena_new(k->w->t->ctx, &a, err));
  BL_GO(bl_table_manifests(k->w->t, s, a, &list, &n, err));
  for (size_t i = 0; i < n; i++) {
    bool visit;
    BL_GO(is_new(k, list[i].path, &visit, err));
    if (visit) BL_GO(k->visit(k->user, &list[i], s, err));
  }
done:
  bl_arena_free(a);
  return st;
}

bl_status bl_inspect_each_manifest(const bl_inspection *w, bool all, bool repeat, bl_manifest_visit *visit, void *user,
                                   bl_error *err) {
  manifest_walk k = {.w = w, .visit = visit, .user = user};
  bl_status st = BL_OK;
  if (!repeat) BL_GO(bl_map_new(w->t->ctx, &k.seen, err));
  if (!all && w->at.snapshot) st = walk_snapshot(&k, w->at.snapshot, err);
  for (size_t i = 0; all && i < w->m->n_snapshots && st == BL_OK; i++) st = walk_snapshot(&k, &w->m->snapshots[i], err);
done:
  bl_map_free(k.seen);
  return st;
}

/* ---- dispatch ---- */

static bl_status resolve_at(bl_inspection *w, const bl_inspect_kind *k, const bl_inspect_options *o, bl_error *err) {
  bl_snap_options so = {.ref = bl_str_of(o->ref)};
  if (!k->takes_at && (o->at || o->ref))
    return bl_fail(err, BL_USAGE, "inspect %s: it is of the whole table: neither a snapshot nor a ref can be chosen",
                   k->name);
  return k->takes_at ? bl_snap_resolve(w->m, bl_str_of(o->at), &so, &w->at, err) : BL_OK;
}

static bl_status run_kind(bl_table *t, size_t i, const bl_inspect_options *o, const bl_sink *sink, bl_error *err) {
  bl_inspection w = {.t = t, .m = t->metadata, .sink = sink, .text = o->text};
  bl_status st;
  BL_GO(resolve_at(&w, &kinds[i], o, err));
  BL_GO(bl_arena_new(t->ctx, &w.arena, err));
  st = runs[i](&w, err);
done:
  bl_arena_free(w.arena);
  return st;
}

static bl_status no_such_report(const char *what, bl_error *err) {
  char names[600] = "";
  size_t n = 0;
  for (size_t i = 0; i < BL_LEN(kinds) && n < sizeof names; i++)
    n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i ? ", " : "", kinds[i].name);
  return bl_fail(err, BL_USAGE, "no such report: inspect %s: there are %s", what, names);
}

bl_status bl_inspect(bl_table *t, const char *what, const bl_inspect_options *o, const bl_sink *sink, bl_error *err) {
  static const bl_inspect_options defaults = {0};
  for (size_t i = 0; i < BL_LEN(kinds); i++)
    if (strcmp(kinds[i].name, what) == 0) return run_kind(t, i, o ? o : &defaults, sink, err);
  return no_such_report(what, err);
}

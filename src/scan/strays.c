/* strays.c: see strays.h. */
#include "scan/strays.h"

#include "base/map.h"
#include "base/pool.h"
#include "scan/typed_specs.h"

typedef struct search {
  bl_table *t;
  const bl_plan *plan;
  bl_map *files; /* path keys of the plan's files: index */
  bl_plan_manifest **manifests;
  size_t n;
} search;

/* The lowest data sequence number of the plan's files: an older vector applies to none of them. */
static int64_t lowest_number(const bl_plan *p) {
  int64_t lowest = INT64_MAX;
  for (size_t i = 0; i < p->n_files; i++)
    if (p->files[i].data->sequence_number < lowest) lowest = p->files[i].data->sequence_number;
  return lowest;
}

static bl_status choose(search *s, bl_plan *p, bl_error *err) {
  int64_t lowest = lowest_number(p), left = BL_STRAYS_MOST_BYTES;
  s->manifests = bl_alloc(p->ctx, p->n_manifests + 1, sizeof *s->manifests);
  if (!s->manifests) return bl_nomem(err);
  for (size_t i = 0; i < p->n_manifests; i++) {
    const bl_manifest_file *m = p->manifests[i].manifest;
    if (m->content != BL_MANIFEST_DELETES || !p->manifests[i].skipped || !bl_manifest_may_live(m)) continue;
    if (m->sequence_number < lowest || m->length < 0 || m->length > left) continue;
    left -= m->length;
    s->manifests[s->n++] = &p->manifests[i];
  }
  return BL_OK;
}

static bl_status index_files(search *s, bl_error *err) {
  BL_TRY(bl_map_new(s->plan->ctx, &s->files, err));
  for (size_t i = 0; i < s->plan->n_files; i++) {
    const bl_manifest_entry *e = s->plan->files[i].data;
    size_t *at = bl_map_put(s->files, bl_path_key(e->file.path), i, NULL);
    if (!at) return bl_nomem(err);
    if (e->sequence_number < s->plan->files[*at].data->sequence_number) *at = i; /* of a path that is there twice */
  }
  return BL_OK;
}

static bl_status check_entry(const search *s, const bl_manifest_entry *e, bl_error *err) {
  bl_str target = e->status == BL_DELETED ? BL_STR_NONE : bl_delete_target(&e->file);
  const size_t *at = target.p ? bl_map_get(s->files, bl_path_key(target)) : NULL;
  const bl_manifest_entry *data = at ? s->plan->files[*at].data : NULL;
  if (!data || e->sequence_number < data->sequence_number) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "delete file: %s: its partition is not that of the data file that it names, %s",
                 e->file.path.p, data->file.path.p);
}

static bl_status look_through(void *user, size_t i, bl_error *err) {
  const search *s = user;
  bl_arena *a;
  bl_manifest_entry *es;
  size_t n;
  bl_status st;
  BL_TRY(bl_arena_new(s->plan->ctx, &a, err));
  BL_GO(bl_table_manifest_entries(s->t, s->manifests[i]->manifest, true, a, &es, &n, err));
  for (size_t k = 0; k < n; k++) BL_GO(check_entry(s, &es[k], err));
done:
  bl_arena_free(a);
  return st;
}

bl_status bl_find_strays(bl_table *t, bl_plan *p, bl_error *err) {
  search s = {.t = t, .plan = p};
  bl_status st = BL_OK;
  if (p->n_files == 0 || p->counts.delete_manifests_skipped == 0) return BL_OK;
  BL_GO(choose(&s, p, err));
  if (s.n == 0) goto done;
  BL_GO(index_files(&s, err));
  BL_GO(bl_parallel(p->ctx, s.n, look_through, &s, err));
  for (size_t i = 0; i < s.n; i++) s.manifests[i]->skipped = NULL;
  p->counts.delete_manifests_opened += s.n;
  p->counts.delete_manifests_skipped -= s.n;
done:
  bl_map_free(s.files);
  bl_free(p->ctx, s.manifests);
  return st;
}

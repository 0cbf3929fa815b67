/* plan.c: see plan.h. Delete manifests are read first: whether equality deletes exist decides whether the data
 * entries' metrics are needed. Each opened manifest has an arena of its own, so that workers share nothing. */
#include "scan/plan.h"

#include "base/pool.h"
#include "scan/strays.h"
#include "scan/typed_specs.h"

typedef struct manifest_work {
  const bl_manifest_file *m;
  bl_arena *arena;
  bl_manifest_entry *entries; /* delete manifests */
  size_t n_entries;
  bl_scan_file *files; /* data manifests: those that stay */
  size_t n_files, n_skipped;
} manifest_work;

typedef struct planner {
  bl_table *t;
  const bl_plan_options *o;
  bl_plan *plan;
  bl_typed_specs specs;
  manifest_work *work;
  size_t n_work;
  bool metrics;
} planner;

/* Why a manifest need not be opened; NULL where it must. */
static const char *skip_manifest(const planner *p, const bl_manifest_file *m) {
  if (!bl_manifest_may_live(m)) return "nothing in it is live";
  const bl_typed_spec *s = bl_typed_specs_get(&p->specs, m->spec_id);
  if (!p->o->filter || !s || !m->has_partitions) return NULL;
  if (bl_summaries_may_match(p->o->filter, s->spec, s->types, p->o->schema, m->partitions, m->n_partitions))
    return NULL;
  return "none of its partitions can match";
}

static bool partition_may_match(const planner *p, const bl_data_file *f) {
  const bl_typed_spec *s = bl_typed_specs_get(&p->specs, f->spec_id);
  if (!p->o->filter || !s) return true;
  return bl_partition_may_match(p->o->filter, s->spec, s->types, p->o->schema, f->partition, f->n_partition);
}

static bool entry_may_match(const planner *p, bl_manifest_entry *e) {
  if (!p->o->filter) return true;
  if (!partition_may_match(p, &e->file)) return false;
  return bl_metrics_may_match(p->o->filter, &e->file, p->o->schema, bl_entry_stats, &(bl_entry_told){e, &p->specs});
}

static bl_status read_deletes(void *user, size_t i, bl_error *err) {
  planner *p = user;
  manifest_work *w = &p->work[i];
  return bl_table_manifest_entries(p->t, w->m, true, w->arena, &w->entries, &w->n_entries, err);
}

static bl_status read_data(void *user, size_t i, bl_error *err) {
  planner *p = user;
  manifest_work *w = &p->work[i];
  bl_manifest_entry *es;
  size_t n;
  BL_TRY(bl_table_manifest_entries(p->t, w->m, p->metrics, w->arena, &es, &n, err));
  w->files = bl_arena_alloc(w->arena, n + 1, sizeof *w->files);
  if (!w->files) return bl_nomem(err);
  for (size_t k = 0; k < n; k++) {
    if (es[k].status == BL_DELETED) continue;
    if (!entry_may_match(p, &es[k])) {
      w->n_skipped++;
      continue;
    }
    bl_scan_file *f = &w->files[w->n_files++];
    f->data = &es[k];
    BL_TRY((p->o->share_deletes ? bl_delete_index_share : bl_delete_index_for)(p->plan->deletes, w->arena, &es[k],
                                                                               &f->deletes, err));
  }
  return BL_OK;
}

/* Choose the manifests of one content, each with a fresh arena that the plan owns. */
static bl_status choose(planner *p, const bl_manifest_file *list, size_t n, bl_manifest_content content,
                        bl_error *err) {
  bl_plan *plan = p->plan;
  size_t skipped = 0;
  p->n_work = 0;
  for (size_t i = 0; i < n; i++) {
    if (list[i].content != content) continue;
    plan->manifests[i] = (bl_plan_manifest){&list[i], skip_manifest(p, &list[i])};
    if (plan->manifests[i].skipped) {
      skipped++;
      continue;
    }
    manifest_work *w = &p->work[p->n_work];
    *w = (manifest_work){.m = &list[i]};
    BL_TRY(bl_arena_new(plan->ctx, &w->arena, err));
    plan->arenas[plan->n_arenas++] = w->arena;
    p->n_work++;
  }
  if (content == BL_MANIFEST_DATA) {
    plan->counts.manifests_opened = p->n_work;
    plan->counts.manifests_skipped = skipped;
  } else {
    plan->counts.delete_manifests_opened = p->n_work;
    plan->counts.delete_manifests_skipped = skipped;
  }
  return BL_OK;
}

static bl_status index_deletes(planner *p, bl_error *err) {
  BL_TRY(bl_parallel(p->plan->ctx, p->n_work, read_deletes, p, err));
  for (size_t i = 0; i < p->n_work; i++) {
    for (size_t k = 0; k < p->work[i].n_entries; k++) {
      bl_manifest_entry *e = &p->work[i].entries[k];
      if (e->status == BL_DELETED) continue;
      /* one that names its data file is kept: a wrong partition of its own must not hide it */
      if (!bl_delete_target(&e->file).p && !partition_may_match(p, &e->file)) continue;
      if (e->file.content == BL_FILE_EQUALITY_DELETES) p->metrics = true;
      BL_TRY(bl_delete_index_add(p->plan->deletes, e, err));
    }
  }
  p->plan->counts.delete_files = bl_delete_index_count(p->plan->deletes);
  return bl_delete_index_seal(p->plan->deletes, err);
}

static bl_status gather(planner *p, bl_arena *a, bl_error *err) {
  bl_plan *plan = p->plan;
  for (size_t i = 0; i < p->n_work; i++) {
    plan->counts.files += p->work[i].n_files;
    plan->counts.files_skipped += p->work[i].n_skipped;
  }
  plan->files = bl_arena_alloc(a, plan->counts.files + 1, sizeof *plan->files);
  if (!plan->files) return bl_nomem(err);
  for (size_t i = 0; i < p->n_work; i++) {
    for (size_t k = 0; k < p->work[i].n_files; k++) {
      const bl_scan_file *f = &p->work[i].files[k];
      plan->files[plan->n_files++] = *f;
      plan->counts.rows += f->data->file.record_count;
      plan->counts.bytes += f->data->file.file_size;
    }
  }
  return BL_OK;
}

static bl_status plan_snapshot(planner *p, const bl_snapshot *s, bl_error *err) {
  bl_plan *plan = p->plan;
  bl_arena *a = plan->arenas[0];
  bl_manifest_file *list;
  size_t n;
  BL_TRY(bl_typed_specs_make(a, p->t->metadata, &p->specs, err));
  BL_TRY(bl_table_manifests(p->t, s, a, &list, &n, err));
  p->work = bl_arena_calloc(a, n + 1, sizeof *p->work);
  plan->manifests = bl_arena_calloc(a, n + 1, sizeof *plan->manifests);
  bl_arena **arenas = bl_resize(plan->ctx, plan->arenas, n + 1, sizeof *arenas);
  if (arenas) plan->arenas = arenas;
  if (!p->work || !plan->manifests || !arenas) return bl_nomem(err);
  plan->n_manifests = n;
  BL_TRY(choose(p, list, n, BL_MANIFEST_DELETES, err));
  BL_TRY(index_deletes(p, err));
  BL_TRY(choose(p, list, n, BL_MANIFEST_DATA, err));
  BL_TRY(bl_parallel(plan->ctx, p->n_work, read_data, p, err));
  BL_TRY(gather(p, a, err));
  return bl_find_strays(p->t, plan, err);
}

bl_status bl_plan_new(bl_table *t, const bl_snapshot *s, const bl_plan_options *o, bl_plan **out, bl_error *err) {
  static const bl_plan_options all = {0};
  *out = NULL;
  bl_plan *plan = bl_calloc(t->ctx, 1, sizeof *plan);
  if (!plan) return bl_nomem(err);
  planner p = {.t = t, .o = o ? o : &all, .plan = plan};
  p.metrics = p.o->metrics || p.o->filter;
  bl_status st = BL_NOMEM;
  plan->ctx = t->ctx;
  plan->arenas = bl_calloc(t->ctx, 1, sizeof *plan->arenas);
  if (!plan->arenas) {
    st = bl_nomem(err);
    goto done;
  }
  BL_GO(bl_arena_new(t->ctx, &plan->arenas[0], err));
  plan->n_arenas = 1;
  BL_GO(bl_delete_index_new(t->ctx, t->metadata, &plan->deletes, err));
  if (s) BL_GO(plan_snapshot(&p, s, err));
done:
  if (st != BL_OK) {
    bl_plan_free(plan);
    return st;
  }
  *out = plan;
  return BL_OK;
}

void bl_plan_free(bl_plan *p) {
  if (!p) return;
  bl_delete_index_free(p->deletes);
  for (size_t i = 0; i < p->n_arenas; i++) bl_arena_free(p->arenas[i]);
  bl_free(p->ctx, p->arenas);
  bl_free(p->ctx, p);
}

/* manifest_merge.c: small manifests become one (commit.manifest.*), as Iceberg's other writers merge them.
 *
 * 1. Manifests of one spec that lie one after the other are packed, from the oldest on, into bins of at most
 *    commit.manifest.target-size-bytes; a bin with the newest manifest is merged only when it has at least
 *    commit.manifest.min-count-to-merge.
 * 2. No row id moves: entries of committed manifests are written with the ids that they have (W2), those of this commit
 *    as they were (an added file has none yet).
 * 3. What this commit deleted stays in the merged manifest; what was deleted before is left out.
 * 4. A merged manifest is used again in the next attempt where its sources are the same. */
#include "write/attempt.h"
#include "write/properties.h"

struct bl_merge {
  uint64_t sources; /* hash of paths and first row ids */
  const bl_made *made;
};

typedef struct merging {
  bl_attempt *at;
  const bl_lines *in;
  bl_lines out;
  int64_t target, min_count;
  size_t *bin; /* lines of one bin, newest first */
  size_t n_bin;
} merging;

/* ---- one bin ---- */

static bl_status hash_sources(const merging *m, uint64_t *out, bl_error *err) {
  bl_buf b;
  bl_buf_init(&b, m->at->c->ctx, BL_BUF_MAX);
  for (size_t i = 0; i < m->n_bin; i++) {
    const bl_line *l = &m->in->items[m->bin[i]];
    bl_buf_str(&b, l->file.path);
    bl_buf_printf(&b, "@%lld\n", (long long)l->file.first_row_id);
  }
  bl_status st = bl_buf_ok(&b, err);
  *out = bl_hash(b.p, b.n);
  bl_buf_free(&b);
  return st;
}

static const bl_made *find_merge(const bl_committing *c, uint64_t sources) {
  for (size_t i = 0; i < c->n_merges; i++)
    if (c->merges[i].sources == sources) return c->merges[i].made;
  return NULL;
}

static bl_status remember_merge(bl_committing *c, uint64_t sources, const bl_made *made, bl_error *err) {
  BL_TRY(bl_grow(c->ctx, &c->merges, &c->cap_merges, c->n_merges, sizeof *c->merges, err));
  c->merges[c->n_merges++] = (bl_merge){sources, made};
  return BL_OK;
}

/* Entries of the sources, as the merged manifest has them: grown in the ctx, copied to the commit's arena. */
typedef struct gathered {
  const bl_manifest_entry **items;
  size_t n, cap;
} gathered;

static bl_status gather(bl_committing *c, gathered *g, const bl_manifest_entry *e, bl_error *err) {
  if (!e) return bl_nomem(err);
  BL_TRY(bl_grow(c->ctx, &g->items, &g->cap, g->n, sizeof *g->items, err));
  g->items[g->n++] = e;
  return BL_OK;
}

static bl_status gather_line(merging *m, const bl_line *l, gathered *g, bl_error *err) {
  bl_committing *c = m->at->c;
  bl_manifest_entry *es;
  size_t n;
  if (l->made) {
    for (size_t i = 0; i < l->made->n; i++) BL_TRY(gather(c, g, l->made->entries[i], err));
    return BL_OK;
  }
  BL_TRY(bl_table_manifest_entries(m->at->base, &l->file, true, c->arena, &es, &n, err));
  for (size_t i = 0; i < n; i++)
    if (es[i].status != BL_DELETED) BL_TRY(gather(c, g, bl_entry_existing(c->arena, &es[i]), err));
  return BL_OK;
}

static bl_status write_merged(merging *m, const bl_made **out, bl_error *err) {
  bl_committing *c = m->at->c;
  const bl_manifest_file *first = &m->in->items[m->bin[0]].file;
  gathered g = {0};
  bl_made *made;
  bl_status st = BL_OK;
  for (size_t i = 0; i < m->n_bin; i++) BL_GO(gather_line(m, &m->in->items[m->bin[i]], &g, err));
  const bl_manifest_entry **entries = bl_arena_alloc(c->arena, g.n, sizeof *entries);
  if (!entries) BL_GO(bl_nomem(err));
  if (g.n) memcpy(entries, g.items, g.n * sizeof *entries);
  BL_GO(bl_made_new(m->at, first->spec_id, first->content, entries, g.n, &made, err));
  *out = made;
done:
  bl_free(c->ctx, g.items);
  return st;
}

static bl_status merge_bin(merging *m, bl_error *err) {
  bl_committing *c = m->at->c;
  uint64_t sources;
  BL_TRY(hash_sources(m, &sources, err));
  const bl_made *made = find_merge(c, sources);
  if (!made) {
    BL_TRY(write_merged(m, &made, err));
    BL_TRY(remember_merge(c, sources, made, err));
  }
  for (size_t i = 0; i < m->n_bin; i++) {
    const bl_line *l = &m->in->items[m->bin[i]];
    if (l->made) bl_committing_unuse(c, l->file.path);
    else m->at->counts.manifests_replaced++;
  }
  return bl_lines_add(m->at, &m->out, &made->file, made, err);
}

/* ---- bins ---- */

/* 1. */
static bl_status put_bin(merging *m, bl_error *err) {
  bool newest = m->n_bin && m->bin[0] == 0;
  if (m->n_bin > 1 && (!newest || (int64_t)m->n_bin >= m->min_count)) return merge_bin(m, err);
  for (size_t i = 0; i < m->n_bin; i++) {
    const bl_line *l = &m->in->items[m->bin[i]];
    BL_TRY(bl_lines_add(m->at, &m->out, &l->file, l->made, err));
  }
  return BL_OK;
}

/* For each line of a spec the number of its bin, counted from the oldest. */
static void number_bins(const merging *m, int32_t spec_id, size_t *bin_of) {
  int64_t weight = 0;
  size_t bin = 0;
  for (size_t i = m->in->n; i-- > 0;) {
    const bl_manifest_file *f = &m->in->items[i].file;
    if (f->spec_id != spec_id) continue;
    if (weight > 0 && weight > m->target - f->length) {
      bin++;
      weight = 0;
    }
    weight += f->length;
    bin_of[i] = bin;
  }
}

/* The lines that share the bin of line i, which is the first of them. */
static void take_bin(merging *m, size_t i, const size_t *bin_of, bool *taken) {
  m->n_bin = 0;
  for (size_t k = i; k < m->in->n; k++) {
    if (taken[k] || bin_of[k] != bin_of[i] || m->in->items[k].file.spec_id != m->in->items[i].file.spec_id) continue;
    taken[k] = true;
    m->bin[m->n_bin++] = k;
  }
}

static bl_status pack(merging *m, bl_error *err) {
  bl_arena *a = m->at->arena;
  size_t n = m->in->n, *bin_of = bl_arena_calloc(a, n, sizeof *bin_of);
  bool *taken = bl_arena_calloc(a, n, sizeof *taken), *numbered = bl_arena_calloc(a, n, sizeof *numbered);
  m->bin = bl_arena_alloc(a, n, sizeof *m->bin);
  if (!bin_of || !taken || !numbered || !m->bin) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) {
    int32_t spec = m->in->items[i].file.spec_id;
    if (numbered[i]) continue;
    number_bins(m, spec, bin_of);
    for (size_t k = i; k < n; k++) numbered[k] = numbered[k] || m->in->items[k].file.spec_id == spec;
  }
  for (size_t i = 0; i < n; i++) {
    if (taken[i]) continue;
    take_bin(m, i, bin_of, taken);
    BL_TRY(put_bin(m, err));
  }
  return BL_OK;
}

bl_status bl_attempt_merge(bl_attempt *at, bl_lines *lines, bl_error *err) {
  const bl_pairs *p = &at->base->metadata->properties;
  merging m = {.at = at,
               .in = lines,
               .target = bl_property_i64(p, "commit.manifest.target-size-bytes", 8 << 20),
               .min_count = bl_property_i64(p, "commit.manifest.min-count-to-merge", 100)};
  if (lines->n < 2 || !bl_property_bool(p, "commit.manifest-merge.enabled", true)) return BL_OK;
  bl_status st = pack(&m, err);
  if (st != BL_OK) {
    bl_free(at->c->ctx, m.out.items);
    return st;
  }
  bl_free(at->c->ctx, lines->items);
  *lines = m.out;
  return BL_OK;
}

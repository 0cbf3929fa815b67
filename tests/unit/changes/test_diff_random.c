/* test_diff_random.c: tables that change at random: appends, removals, vectors, position and equality deletes,
 * manifests rewritten and merged, an upgrade in between. Any two snapshots must differ as their whole plans do. */
#include "diff_twin.h"
#include "world.h"

enum { STEPS = 24, MOST = 512, DAYS = 4 };

typedef struct held {
  bl_manifest_file file;
  bl_manifest_entry *entries;
  size_t n;
} held;

typedef struct model {
  world w;
  uint32_t seed;
  held manifests[MOST];
  size_t n;
  bl_manifest_entry fresh[2][3][MOST]; /* by content of the manifest, by spec */
  size_t n_fresh[2][3];
  int files;
} model;

static uint32_t next(model *m, uint32_t below) {
  m->seed = m->seed * 1664525u + 1013904223u;
  return (m->seed >> 8) % below;
}

static void add(model *m, bl_manifest_entry e) {
  bool deletes = e.file.content != BL_FILE_DATA;
  size_t *n = &m->n_fresh[deletes][e.file.spec_id];
  if (*n < MOST) m->fresh[deletes][e.file.spec_id][(*n)++] = e;
}

static int random_day(model *m) {
  return (int)next(m, DAYS + 1) - 1;
}

static void add_data(model *m) {
  int spec = (int)next(m, 3);
  bl_manifest_entry e = world_data(&m->w, m->files++, spec, random_day(m));
  int64_t low = next(m, 50);
  if (next(m, 3)) world_bounds(&m->w, &e, low, low + next(m, 20));
  add(m, e);
}

/* A live entry of that content, NULL where the search by chance finds none. */
static bl_manifest_entry *pick(model *m, bl_manifest_content content, held **in) {
  for (int tries = 0; m->n && tries < 20; tries++) {
    held *h = &m->manifests[next(m, (uint32_t)m->n)];
    bl_manifest_entry *e = &h->entries[next(m, (uint32_t)h->n)];
    *in = h;
    if (h->file.content == content && e->status != BL_DELETED) return e;
  }
  return NULL;
}

/* A manifest in place of h, what is marked DELETED there left out but for a note. */
static void rewrite(model *m, held *h) {
  bl_manifest_entry *entries = bl_arena_alloc(m->w.a, h->n, sizeof *entries);
  size_t n = 0;
  for (size_t i = 0; i < h->n; i++) {
    if (h->entries[i].status == BL_DELETED) continue;
    entries[n++] = world_existing(h->entries[i]);
  }
  if (n == 0) {
    *h = m->manifests[--m->n];
    return;
  }
  h->entries = entries;
  h->n = n;
  h->file = world_manifest(&m->w, h->file.content, entries, n);
}

/* Takes an entry out of its manifest, which is rewritten with the entry as DELETED. */
static void take_out(model *m, held *h, const bl_manifest_entry *e) {
  bl_manifest_entry *entries = bl_arena_alloc(m->w.a, h->n, sizeof *entries);
  size_t n = 0;
  for (size_t i = 0; i < h->n; i++) {
    if (h->entries[i].status == BL_DELETED) continue;
    entries[n] = world_existing(h->entries[i]);
    if (&h->entries[i] == e) entries[n].status = BL_DELETED;
    n++;
  }
  h->entries = entries;
  h->n = n;
  h->file = world_manifest(&m->w, h->file.content, entries, n);
}

static bool is_vector_of(const bl_manifest_entry *e, const bl_manifest_entry *data) {
  return e->status != BL_DELETED && e->file.format == BL_FORMAT_PUFFIN &&
         bl_str_eq(e->file.referenced_data_file, data->file.path);
}

static void drop_vector(model *m, const bl_manifest_entry *data) {
  for (size_t i = 0; i < m->n; i++)
    for (size_t k = 0; k < m->manifests[i].n; k++)
      if (is_vector_of(&m->manifests[i].entries[k], data)) {
        take_out(m, &m->manifests[i], &m->manifests[i].entries[k]);
        return;
      }
}

static bool has_fresh_vector(const model *m, const bl_manifest_entry *data) {
  for (size_t i = 0; i < m->n_fresh[1][data->file.spec_id]; i++)
    if (is_vector_of(&m->fresh[1][data->file.spec_id][i], data)) return true;
  return false;
}

static void add_vector(model *m) {
  held *h;
  const bl_manifest_entry *found = pick(m, BL_MANIFEST_DATA, &h);
  if (!found || has_fresh_vector(m, found)) return;
  bl_manifest_entry data = *found;
  drop_vector(m, &data);
  add(m, world_vector(&m->w, (int)m->w.sequence_number,
                      (int64_t)m->n_fresh[1][data.file.spec_id] * 40 + 4 + data.file.spec_id * 10000, &data));
}

static void add_positions(model *m) {
  held *h;
  const bl_manifest_entry *data = pick(m, BL_MANIFEST_DATA, &h);
  if (!data) return;
  bl_manifest_entry e = world_positions(&m->w, m->files++, data->file.spec_id, 0, next(m, 2) ? data : NULL);
  e.file.partition = data->file.partition;
  e.file.n_partition = data->file.n_partition;
  add(m, e);
}

static void add_equality(model *m) {
  bl_manifest_entry e = world_equality(&m->w, m->files++, (int)next(m, 3), random_day(m));
  int64_t low = next(m, 60);
  if (next(m, 3)) world_bounds(&m->w, &e, low, low + next(m, 5));
  add(m, e);
}

static void remove_data(model *m) {
  held *h;
  const bl_manifest_entry *e = pick(m, BL_MANIFEST_DATA, &h);
  if (!e) return;
  bl_manifest_entry data = *e;
  take_out(m, h, e);
  drop_vector(m, &data);
  if (next(m, 4) == 0) { /* the path comes back, at once */
    bl_manifest_entry again = world_file(&m->w, BL_FILE_DATA, data.file.path, data.file.spec_id, 0);
    again.file.partition = data.file.partition;
    again.file.n_partition = data.file.n_partition;
    add(m, again);
  }
}

static void remove_delete(model *m) {
  held *h;
  const bl_manifest_entry *e = pick(m, BL_MANIFEST_DELETES, &h);
  if (e) take_out(m, h, e);
}

/* Two manifests of one kind become one. */
static void merge(model *m) {
  if (m->n < 2) return;
  size_t a = next(m, (uint32_t)m->n), b = next(m, (uint32_t)m->n);
  held *x = &m->manifests[a], *y = &m->manifests[b];
  if (a == b || x->file.content != y->file.content || x->file.spec_id != y->file.spec_id) return;
  bl_manifest_entry *entries = bl_arena_alloc(m->w.a, x->n + y->n, sizeof *entries);
  memcpy(entries, x->entries, x->n * sizeof *entries);
  memcpy(entries + x->n, y->entries, y->n * sizeof *entries);
  x->entries = entries;
  x->n += y->n;
  *y = m->manifests[--m->n];
  rewrite(m, a == m->n ? y : x);
}

/* Every data manifest without ids gets them; its path stays. */
static void upgrade(model *m) {
  m->w.assigns_ids = true;
  for (size_t i = 0; i < m->n; i++)
    world_assign(&m->w, &m->manifests[i].file, m->manifests[i].entries, m->manifests[i].n);
}

static void flush(model *m, bool deletes, int spec) {
  size_t n = m->n_fresh[deletes][spec];
  if (!n || m->n == MOST) return;
  held *h = &m->manifests[m->n++];
  h->entries = bl_arena_alloc(m->w.a, n, sizeof *h->entries);
  h->n = n;
  memcpy(h->entries, m->fresh[deletes][spec], n * sizeof *h->entries);
  h->file = world_manifest(&m->w, deletes ? BL_MANIFEST_DELETES : BL_MANIFEST_DATA, h->entries, n);
  m->n_fresh[deletes][spec] = 0;
}

static void commit(model *m) {
  bl_manifest_file list[MOST];
  for (int spec = 0; spec < 3; spec++) {
    flush(m, false, spec);
    flush(m, true, spec);
  }
  for (size_t i = 0; i < m->n; i++) list[i] = m->manifests[i].file;
  world_commit(&m->w, m->w.sequence_number - 1, next(m, 4) ? "overwrite" : "replace", list, m->n);
}

/* What one step may do, and how often out of eight. */
static void step(model *m, bool deletes) {
  static void (*const acts[])(model *) = {add_vector, add_positions, add_equality, remove_delete};
  for (uint32_t i = next(m, 5); i > 0; i--) add_data(m);
  if (next(m, 3) == 0) remove_data(m);
  if (next(m, 4) == 0) merge(m);
  for (size_t i = 0; deletes && i < BL_LEN(acts); i++)
    if (next(m, 8) < 3) acts[i](m);
}

static void check_world(uint32_t seed, bool deletes) {
  static model m;
  bl_differ *d;
  char name[40];
  m = (model){.seed = seed};
  world_open(&m.w);
  m.w.assigns_ids = false;
  for (int i = 0; i < STEPS; i++) {
    step(&m, deletes);
    if (i == STEPS / 2) upgrade(&m);
    commit(&m);
  }
  snprintf(name, sizeof name, "seed %u", seed);
  test_ok(bl_differ_new(&m.w.t, &d, &m.w.err), &m.w.err);
  for (size_t i = 0; i < m.w.md->n_snapshots; i++) { /* neighbours, then far ones both ways */
    const bl_snapshot *s = m.w.snapshots;
    twin_check(&m.w.t, d, i ? &s[i - 1] : NULL, &s[i], name);
    twin_check(&m.w.t, d, &s[next(&m, STEPS)], &s[i], name);
    twin_check(&m.w.t, d, &s[i], &s[next(&m, STEPS)], name);
  }
  bl_differ_free(d);
  world_close(&m.w);
}

static void test_diff_random__agrees_with_whole_plans(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 15; seed++) check_world(seed, true);
}

static void test_diff_random__agrees_where_nothing_is_deleted_by_row(void **state) {
  (void)state;
  for (uint32_t seed = 100; seed <= 104; seed++) check_world(seed, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_diff_random__agrees_with_whole_plans),
      cmocka_unit_test(test_diff_random__agrees_where_nothing_is_deleted_by_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_verbs.c: long random sequences of verbs, in both modes, on two branches, against the twin. With BL_MODEL_SEED=N
 * in the environment other sequences are run. */
#include "support/apply.h"
#include "support/chance.h"
#include "twin.h"

enum { KEYS = 120, PARTITIONS = 4 };

typedef struct step {
  twin *w;
  rng *r;
  int branch;
  twin_rows *rows; /* of the branch */
  bl_write_options o;
  bl_write_result result, want;
  bl_error err;
  bool changes; /* the change is to be committed */
} step;

/* ---- random rows and predicates ---- */

static twin_row random_row(rng *r, int64_t k) {
  twin_row row = {.k = k, .v = rng_between(r, 0, 9), .p = rng_between(r, 0, PARTITIONS - 1), .id = -1, .seq = -1};
  if (rng_between(r, 0, 5) == 0) row.v = TWIN_NULL;
  snprintf(row.s, sizeof row.s, "s%lld", (long long)rng_between(r, 0, 5));
  if (rng_between(r, 0, 5) == 0) strcpy(row.s, "\1");
  return row;
}

typedef struct predicate {
  int kind;
  int64_t a, b;
  char text[100];
} predicate;

static predicate random_predicate(rng *r) {
  predicate p = {.kind = (int)rng_between(r, 0, 7), .a = rng_between(r, 0, KEYS), .b = rng_between(r, 0, 9)};
  long long a = (long long)p.a, b = (long long)p.b;
  switch (p.kind) {
  case 0: snprintf(p.text, sizeof p.text, "k = %lld", a); break;
  case 1: snprintf(p.text, sizeof p.text, "k between %lld and %lld", a, a + b); break;
  case 2: snprintf(p.text, sizeof p.text, "v < %lld", b); break;
  case 3: snprintf(p.text, sizeof p.text, "p = %lld", b % PARTITIONS); break;
  case 4: snprintf(p.text, sizeof p.text, "s = 's%lld' or v is null", b % 6); break;
  case 5: snprintf(p.text, sizeof p.text, "not (v = %lld) and k > %lld", b, a); break;
  case 6: snprintf(p.text, sizeof p.text, "p = %lld and k < %lld", b % PARTITIONS, a); break;
  default: snprintf(p.text, sizeof p.text, "k < -1"); break;
  }
  return p;
}

static bool matches(const predicate *p, const twin_row *r) {
  char s[24];
  switch (p->kind) {
  case 0: return r->k == p->a;
  case 1: return r->k >= p->a && r->k <= p->a + p->b;
  case 2: return r->v != TWIN_NULL && r->v < p->b;
  case 3: return r->p == p->b % PARTITIONS;
  case 4: snprintf(s, sizeof s, "s%lld", (long long)(p->b % 6)); return strcmp(s, r->s) == 0 || r->v == TWIN_NULL;
  case 5: return r->v != TWIN_NULL && r->v != p->b && r->k > p->a;
  case 6: return r->p == p->b % PARTITIONS && r->k < p->a;
  default: return false;
  }
}

/* ---- verbs ---- */

static void describe(step *s, const char *fmt, ...) BL_PRINTF(2, 3);
static void describe(step *s, const char *fmt, ...) {
  char what[120];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  snprintf(s->w->log, sizeof s->w->log, "step %zu, %s, %s: %s", s->w->n_versions, twin_refs[s->branch],
           s->o.mode == BL_MERGE_ON_READ ? "merge-on-read" : "copy-on-write", what);
}

static void append(step *s) {
  twin_text text = {0};
  struct ArrowArrayStream stream;
  for (int64_t n = rng_between(s->r, 1, 12); n > 0; n--) {
    int64_t k = rng_between(s->r, 0, KEYS);
    if (twin_find(s->rows, k)) continue;
    twin_row row = random_row(s->r, k);
    twin_put(s->rows, &row);
    twin_add_row(&text, &row, false, NULL);
    s->want.rows_inserted++;
  }
  describe(s, "append of %lld rows", (long long)s->want.rows_inserted);
  text_input in = twin_bytes(&text);
  twin_stream(s->w, &in, false, &stream);
  test_ok(bl_append(s->w->t, &stream, &s->o, &s->result, &s->err), &s->err);
  s->changes = s->want.rows_inserted > 0;
  free(text.p);
}

static void delete_rows(step *s) {
  predicate p = random_predicate(s->r);
  describe(s, "delete where %s", p.text);
  for (size_t i = 0; i < s->rows->n;) {
    if (!matches(&p, &s->rows->items[i])) i++;
    else {
      twin_remove(s->rows, &s->rows->items[i]);
      s->want.rows_deleted++;
    }
  }
  test_ok(bl_delete_rows(s->w->t, p.text, &s->o, &s->result, &s->err), &s->err);
  s->changes = s->want.rows_deleted > 0;
}

static void set_row(twin_row *r, int which) {
  twin_row old = *r;
  switch (which) {
  case 0: r->v = old.v == TWIN_NULL ? TWIN_NULL : old.v + 1; break;
  case 1: r->p = (old.p + 1) % PARTITIONS; break;
  case 2: snprintf(r->s, sizeof r->s, "s%lld", (long long)old.p); break;
  case 3:
    r->v = old.v == TWIN_NULL ? 0 : old.v < 5 ? TWIN_NULL : old.v;
    strcpy(r->s, old.v == TWIN_NULL ? "none" : "\1");
    break;
  default: r->v = (int64_t)((double)old.k / 7 - (double)old.p); break;
  }
  r->seq = -1;
}

static void update_rows(step *s) {
  static const char *const sets[][2] = {
      {"v = v + 1", NULL},
      {"p = (p + 1) % 4", NULL},
      {"s = 's' || p", NULL},
      {"v = case when v is null then 0 when v < 5 then null else v end", "s = case when v is null then 'none' end"},
      {"v = k / 7 - p", NULL},
  };
  predicate p = random_predicate(s->r);
  int which = (int)rng_between(s->r, 0, BL_LEN(sets) - 1);
  describe(s, "update set %s where %s", sets[which][0], p.text);
  for (size_t i = 0; i < s->rows->n; i++) {
    twin_row *r = &s->rows->items[i];
    if (!matches(&p, r)) continue;
    s->want.rows_updated++;
    set_row(r, which);
  }
  test_ok(bl_update_rows(s->w->t, sets[which], sets[which][1] ? 2 : 1, p.text, &s->o, &s->result, &s->err), &s->err);
  s->changes = s->want.rows_updated > 0;
}

/* One row that came in by key. */
static void put_row(step *s, const twin_row *row) {
  twin_row *have = twin_find(s->rows, row->k);
  if (!have) {
    twin_put(s->rows, row);
    s->want.rows_inserted++;
  } else if (twin_same_values(have, row)) {
    s->want.rows_unchanged++;
  } else {
    int64_t id = have->id;
    *have = *row;
    have->id = id;
    have->seq = -1;
    s->want.rows_updated++;
  }
}

static void drop_key(step *s, int64_t k) {
  twin_row *have = twin_find(s->rows, k);
  if (!have) return;
  twin_remove(s->rows, have);
  s->want.rows_deleted++;
}

/* Rows with different keys, some as the table has them. */
static size_t random_source(step *s, twin_row *out, size_t max) {
  size_t n = (size_t)rng_between(s->r, 0, (int64_t)max), k = 0;
  bool used[KEYS + 1] = {false};
  for (size_t i = 0; i < n; i++) {
    int64_t key = rng_between(s->r, 0, KEYS);
    if (used[key]) continue;
    used[key] = true;
    const twin_row *have = twin_find(s->rows, key);
    if (have && rng_between(s->r, 0, 2) == 0) out[k] = *have;
    else out[k] = random_row(s->r, key);
    out[k].id = out[k].seq = -1;
    k++;
  }
  return k;
}

static bool anything(const bl_write_result *r) {
  return r->rows_inserted || r->rows_updated || r->rows_deleted;
}

static void upsert(step *s) {
  static const char *const key[] = {"k"};
  twin_row source[40];
  twin_text text = {0};
  struct ArrowArrayStream stream;
  size_t n = random_source(s, source, BL_LEN(source));
  describe(s, "upsert of %zu rows", n);
  for (size_t i = 0; i < n; i++) {
    bool gone = rng_between(s->r, 0, 5) == 0;
    twin_add_row(&text, &source[i], false, gone ? ",\"op\":\"D\"" : ",\"op\":\"U\"");
    if (gone) drop_key(s, source[i].k);
    else put_row(s, &source[i]);
  }
  text_input in = twin_bytes(&text);
  bl_upsert_options u = {.key = key, .n_key = 1, .delete_when = n ? "op = 'D'" : NULL};
  twin_stream(s->w, &in, true, &stream);
  test_ok(bl_upsert(s->w->t, &stream, &u, &s->o, &s->result, &s->err), &s->err);
  s->changes = anything(&s->want);
  free(text.p);
}

static void sync_rows(step *s) {
  static const char *const key[] = {"k"};
  twin_text text = {0};
  struct ArrowArrayStream stream;
  twin_row source[KEYS + 1];
  size_t n = 0;
  for (int64_t k = 0; k <= KEYS; k++) {
    const twin_row *have = twin_find(s->rows, k);
    int64_t dice = rng_between(s->r, 0, 19);
    if (have && dice > 0) source[n++] = dice == 1 ? random_row(s->r, k) : *have;
    else if (!have && dice == 0) source[n++] = random_row(s->r, k);
  }
  describe(s, "sync with %zu rows", n);
  for (size_t at = 0; at < s->rows->n;) {
    size_t i = 0;
    while (i < n && source[i].k != s->rows->items[at].k) i++;
    if (i < n) at++;
    else drop_key(s, s->rows->items[at].k);
  }
  for (size_t i = 0; i < n; i++) {
    source[i].id = source[i].seq = -1;
    put_row(s, &source[i]);
    twin_add_row(&text, &source[i], false, NULL);
  }
  text_input in = twin_bytes(&text);
  bl_upsert_options u = {.key = key, .n_key = 1, .delete_missing = true};
  twin_stream(s->w, &in, true, &stream);
  test_ok(bl_upsert(s->w->t, &stream, &u, &s->o, &s->result, &s->err), &s->err);
  s->changes = anything(&s->want);
  free(text.p);
}

static void apply_event(step *s, twin_text *text, twin_row *row) {
  char image[200];
  int64_t dice = rng_between(s->r, 0, 9);
  twin_print_row(image, sizeof image, row, false);
  const twin_row *have = twin_find(s->rows, row->k);
  if (dice < 3 && have) {
    twin_add(text, "{\"op\":\"d\",\"before\":{\"k\":%lld},\"after\":null}\n", (long long)row->k);
    row->k = -row->k - 1; /* deleted */
  } else twin_add(text, "{\"op\":\"%s\",\"before\":null,\"after\":{%s}}\n", have ? "u" : dice < 5 ? "r" : "c", image);
}

static void apply_events(step *s) {
  twin_text text = {0};
  twin_row source[20], earlier;
  size_t n = random_source(s, source, BL_LEN(source));
  describe(s, "apply of %zu events", n);
  for (size_t i = 0; i < n; i++) {
    if (rng_between(s->r, 0, 3) == 0) { /* an event that a later one outdoes */
      earlier = random_row(s->r, source[i].k);
      apply_event(s, &text, &earlier);
    }
    apply_event(s, &text, &source[i]);
    if (source[i].k < 0) drop_key(s, -source[i].k - 1);
    else put_row(s, &source[i]);
  }
  test_ok(test_apply(s->w->t, text.p ? text.p : "", BL_APPLY_DEBEZIUM, &s->o, &s->result, &s->err), &s->err);
  s->changes = anything(&s->want);
  free(text.p);
}

/* Of a table that is partitioned by p, or not at all. */
static bool is_replaced(const step *s, const twin_row *fresh, size_t n, int64_t p) {
  bool all = s->w->t->metadata->specs[0].n_fields == 0;
  for (size_t i = 0; i < n && !all; i++) all = fresh[i].p == p;
  return all;
}

/* Rows in the place of those that match, or of all; keys must stay unique. */
static void overwrite(step *s) {
  bool all = rng_between(s->r, 0, 9) == 0;
  predicate p = random_predicate(s->r);
  twin_text text = {0};
  struct ArrowArrayStream stream;
  twin_row fresh[10];
  size_t n = 0;
  describe(s, "overwrite where %s", all ? "true" : p.text);
  for (size_t i = 0; i < s->rows->n;) {
    if (!all && !matches(&p, &s->rows->items[i])) i++;
    else {
      twin_remove(s->rows, &s->rows->items[i]);
      s->want.rows_deleted++;
    }
  }
  for (int64_t i = rng_between(s->r, 0, 9); i > 0; i--) {
    int64_t k = rng_between(s->r, 0, KEYS);
    if (twin_find(s->rows, k)) continue;
    fresh[n] = random_row(s->r, k);
    twin_put(s->rows, &fresh[n]);
    twin_add_row(&text, &fresh[n++], false, NULL);
  }
  s->want.rows_inserted = (int64_t)n;
  text_input in = twin_bytes(&text);
  twin_stream(s->w, &in, false, &stream);
  test_ok(bl_overwrite(s->w->t, &stream, all ? BL_OVERWRITE_ALL : BL_OVERWRITE_WHERE, all ? NULL : p.text, &s->o,
                       &s->result, &s->err),
          &s->err);
  s->changes = s->want.rows_inserted || s->want.rows_deleted;
  if (all && s->result.committed) s->changes = true; /* files without rows went */
  free(text.p);
}

static void overwrite_partitions(step *s) {
  twin_text text = {0};
  struct ArrowArrayStream stream;
  twin_row fresh[6];
  size_t n = 0;
  if (s->w->buckets) {
    append(s);
    return;
  }
  for (int64_t i = rng_between(s->r, 1, 6); i > 0; i--) {
    fresh[n] = random_row(s->r, KEYS + 1 + (int64_t)n); /* keys of no one, or see below */
    n++;
  }
  describe(s, "overwrite of partitions by %zu rows", n);
  for (size_t i = 0; i < s->rows->n;) {
    twin_row *r = &s->rows->items[i];
    if (!is_replaced(s, fresh, n, r->p)) i++;
    else {
      twin_remove(s->rows, r);
      s->want.rows_deleted++;
    }
  }
  for (size_t i = 0; i < n; i++) {
    while (twin_find(s->rows, fresh[i].k)) fresh[i].k++;
    twin_put(s->rows, &fresh[i]);
    twin_add_row(&text, &fresh[i], false, NULL);
  }
  s->want.rows_inserted = (int64_t)n;
  text_input in = twin_bytes(&text);
  twin_stream(s->w, &in, false, &stream);
  test_ok(bl_overwrite(s->w->t, &stream, BL_OVERWRITE_PARTITIONS, NULL, &s->o, &s->result, &s->err), &s->err);
  s->changes = true;
  free(text.p);
}

/* ---- sequences ---- */

static bl_status branch_off(void *user, bl_edit *e, bl_error *err) {
  twin *w = user;
  bl_ref side = {.name = BL_STR("side"), .snapshot_id = w->head[0], .is_branch = true};
  return bl_edit_set_ref(e, &side, err);
}

static void make_branch(twin *w) {
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_commit_metadata(w->t, "test", branch_off, w, NULL, &err), &err);
  twin_reopen(w);
  w->now[1] = w->now[0];
  w->head[1] = w->head[0];
}

static void check_counts(const step *s) {
  if (s->result.rows_inserted == s->want.rows_inserted && s->result.rows_updated == s->want.rows_updated &&
      s->result.rows_deleted == s->want.rows_deleted && s->result.rows_unchanged == s->want.rows_unchanged)
    return;
  fail_msg("%s: inserted, updated, deleted, unchanged are %lld %lld %lld %lld, not %lld %lld %lld %lld", s->w->log,
           (long long)s->result.rows_inserted, (long long)s->result.rows_updated, (long long)s->result.rows_deleted,
           (long long)s->result.rows_unchanged, (long long)s->want.rows_inserted, (long long)s->want.rows_updated,
           (long long)s->want.rows_deleted, (long long)s->want.rows_unchanged);
}

static void random_step(twin *w, rng *r, bool merge_on_read) {
  static void (*const verbs[])(step *) = {append,       append,    delete_rows, update_rows,
                                          update_rows,  upsert,    upsert,      sync_rows,
                                          apply_events, overwrite, append,      overwrite_partitions};
  step s = {.w = w, .r = r, .err = BL_ERROR_INIT};
  s.branch = w->head[1] && rng_between(r, 0, 3) == 0;
  s.rows = &w->now[s.branch];
  s.o.ref = s.branch ? "side" : rng_between(r, 0, 1) ? "main" : NULL;
  s.o.mode = merge_on_read && rng_between(r, 0, 2) ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE;
  verbs[rng_between(r, 0, BL_LEN(verbs) - 1)](&s);
  check_counts(&s);
  twin_check(w, s.branch, &s.result, s.changes);
}

/* Net changes between versions that are far apart. */
static void compare_ranges(twin *w, rng *r) {
  for (int i = 0; i < 10 && w->n_versions; i++) {
    const twin_version *v = &w->versions[rng_between(r, 0, (int64_t)w->n_versions - 1)];
    snprintf(w->log, sizeof w->log, "at the end, %s", twin_refs[v->branch]);
    if (w->version >= 3) twin_compare_net(w, v->branch, v);
  }
}

static void run(int version, const char *partition, const char *sort, uint64_t seed, int steps) {
  bl_ctx *ctx = test_ctx();
  twin *w = twin_begin(ctx, version, partition, sort);
  const char *other = getenv("BL_MODEL_SEED");
  rng r = {seed + (other ? (uint64_t)atoll(other) * 1000 : 0)};
  for (int i = 0; i < steps; i++) {
    random_step(w, &r, version >= 3);
    if (i == steps / 3 && w->head[0]) make_branch(w);
  }
  compare_ranges(w, &r);
  twin_end(w);
}

static void test_verbs__agree_with_an_array_of_rows(void **state) {
  (void)state;
  run(3, NULL, NULL, 1, 80);
}

static void test_verbs__agree_on_a_partitioned_table(void **state) {
  (void)state;
  run(3, "p", NULL, 2, 80);
}

static void test_verbs__agree_on_a_table_in_buckets_that_is_sorted(void **state) {
  (void)state;
  run(3, "bucket(3, k)", "v desc", 3, 60);
}

static void test_verbs__agree_on_a_table_without_lineage(void **state) {
  (void)state;
  run(2, "p", NULL, 4, 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verbs__agree_with_an_array_of_rows),
      cmocka_unit_test(test_verbs__agree_on_a_partitioned_table),
      cmocka_unit_test(test_verbs__agree_on_a_table_in_buckets_that_is_sorted),
      cmocka_unit_test(test_verbs__agree_on_a_table_without_lineage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

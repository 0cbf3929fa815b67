/* summary.c: the summary of a snapshot, with the names and totals that Iceberg's other writers give. */
#include "write/attempt.h"
#include "write/properties.h"

bl_status bl_counts_new(bl_attempt *at, bl_error *err) {
  at->counts = (bl_counts){0};
  return bl_map_new(at->c->ctx, &at->counts.partitions, err);
}

/* ---- counting ---- */

static bl_status count_partition(bl_attempt *at, const bl_data_file *f, bl_error *err) {
  bl_buf b;
  bl_status st;
  bl_buf_init(&b, at->c->ctx, BL_BUF_MAX);
  bl_buf_printf(&b, "%d", (int)f->spec_id);
  for (size_t i = 0; i < f->n_partition; i++) {
    const bl_value *v = &f->partition[i];
    uint64_t same = bl_value_hash(v);
    bl_buf_byte(&b, v->null ? 'n' : 'v');
    bl_buf_add(&b, &same, sizeof same);
  }
  BL_GO(bl_buf_ok(&b, err));
  bl_str key = bl_arena_str(at->arena, (bl_str){(const char *)b.p, b.n});
  if (!key.p || !bl_map_put(at->counts.partitions, key, 0, NULL)) st = bl_nomem(err);
done:
  bl_buf_free(&b);
  return st;
}

static void add(int64_t *to, int64_t n) {
  if (n > 0 && !bl_add64(*to, n, to)) *to = INT64_MAX;
}

bl_status bl_count_file(bl_attempt *at, const bl_data_file *f, bool added, bl_error *err) {
  bl_counts *c = &at->counts;
  bool vector = f->format == BL_FORMAT_PUFFIN;
  add(added ? &c->added_bytes : &c->removed_bytes, vector ? f->content_size : f->file_size);
  switch (f->content) {
  case BL_FILE_DATA:
    add(added ? &c->added_data_files : &c->removed_data_files, 1);
    add(added ? &c->added_records : &c->removed_records, f->record_count);
    break;
  case BL_FILE_POSITION_DELETES:
    add(added ? &c->added_delete_files : &c->removed_delete_files, 1);
    if (vector) add(added ? &c->added_vectors : &c->removed_vectors, 1);
    else add(added ? &c->added_position_files : &c->removed_position_files, 1);
    add(added ? &c->added_position_deletes : &c->removed_position_deletes, f->record_count);
    break;
  case BL_FILE_EQUALITY_DELETES:
    add(added ? &c->added_delete_files : &c->removed_delete_files, 1);
    add(added ? &c->added_equality_files : &c->removed_equality_files, 1);
    add(added ? &c->added_equality_deletes : &c->removed_equality_deletes, f->record_count);
    break;
  }
  return count_partition(at, f, err);
}

/* ---- telling ---- */

typedef struct telling {
  bl_arena *a;
  bl_pairs *out;
  size_t cap;
  bl_error *err;
} telling;

static bl_status tell(telling *t, const char *key, bl_str value) {
  if (!value.p || t->out->n == t->cap) return bl_nomem(t->err);
  t->out->items[t->out->n++] = (bl_pair){bl_str_of(key), value};
  return BL_OK;
}

static bl_status tell_number(telling *t, const char *key, int64_t v) {
  return tell(t, key, bl_arena_printf(t->a, "%lld", (long long)v));
}

typedef struct counted {
  const char *key;
  size_t offset;
} counted;
#define COUNT(key, member)                                                                                             \
  { key, offsetof(bl_counts, member) }

static const counted changes[] = {
    COUNT("added-data-files", added_data_files),
    COUNT("deleted-data-files", removed_data_files),
    COUNT("added-delete-files", added_delete_files),
    COUNT("added-equality-delete-files", added_equality_files),
    COUNT("removed-equality-delete-files", removed_equality_files),
    COUNT("added-position-delete-files", added_position_files),
    COUNT("removed-position-delete-files", removed_position_files),
    COUNT("removed-delete-files", removed_delete_files),
    COUNT("added-dvs", added_vectors),
    COUNT("removed-dvs", removed_vectors),
    COUNT("added-records", added_records),
    COUNT("deleted-records", removed_records),
    COUNT("added-files-size", added_bytes),
    COUNT("removed-files-size", removed_bytes),
    COUNT("added-position-deletes", added_position_deletes),
    COUNT("removed-position-deletes", removed_position_deletes),
    COUNT("added-equality-deletes", added_equality_deletes),
    COUNT("removed-equality-deletes", removed_equality_deletes),
};

static const struct total {
  const char *key;
  size_t added, removed;
} totals[] = {
    {"total-records", offsetof(bl_counts, added_records), offsetof(bl_counts, removed_records)},
    {"total-files-size", offsetof(bl_counts, added_bytes), offsetof(bl_counts, removed_bytes)},
    {"total-data-files", offsetof(bl_counts, added_data_files), offsetof(bl_counts, removed_data_files)},
    {"total-delete-files", offsetof(bl_counts, added_delete_files), offsetof(bl_counts, removed_delete_files)},
    {"total-position-deletes", offsetof(bl_counts, added_position_deletes),
     offsetof(bl_counts, removed_position_deletes)},
    {"total-equality-deletes", offsetof(bl_counts, added_equality_deletes),
     offsetof(bl_counts, removed_equality_deletes)},
};

static int64_t count_at(const bl_counts *c, size_t offset) {
  return *(const int64_t *)(const void *)((const char *)c + offset);
}

static bl_status tell_changes(telling *t, const bl_counts *c) {
  for (size_t i = 0; i < BL_LEN(changes); i++) {
    int64_t v = count_at(c, changes[i].offset);
    if (v > 0) BL_TRY(tell_number(t, changes[i].key, v));
  }
  return tell_number(t, "changed-partition-count", (int64_t)bl_map_count(c->partitions));
}

/* A total that the parent does not tell, or that does not add up, is left out. */
static bl_status tell_totals(telling *t, const bl_counts *c, const bl_snapshot *parent) {
  for (size_t i = 0; i < BL_LEN(totals); i++) {
    int64_t v = 0, added = count_at(c, totals[i].added), removed = count_at(c, totals[i].removed);
    if (parent) v = bl_property_i64(&parent->summary, totals[i].key, -1);
    if (v < 0 || !bl_add64(v, added, &v) || v < removed) continue;
    BL_TRY(tell_number(t, totals[i].key, v - removed));
  }
  return BL_OK;
}

/* ---- keys of the caller ---- */

bool bl_summary_is_own(bl_str key) {
  static const char *const others[] = {"operation",
                                       "manifests-created",
                                       "manifests-kept",
                                       "manifests-replaced",
                                       "engine-name",
                                       "engine-version",
                                       "bergline.batch-id",
                                       "wap.id",
                                       "bergline.source-position",
                                       "bergline.staged-ids",
                                       "published-wap-id",
                                       "source-snapshot-id",
                                       "replace-partitions",
                                       "changed-partition-count"};
  for (size_t i = 0; i < BL_LEN(changes); i++)
    if (bl_str_is(key, changes[i].key)) return true;
  for (size_t i = 0; i < BL_LEN(totals); i++)
    if (bl_str_is(key, totals[i].key)) return true;
  for (size_t i = 0; i < BL_LEN(others); i++)
    if (bl_str_is(key, others[i])) return true;
  return false;
}

bl_status bl_summary_check(const bl_write_options *o, bl_error *err) {
  for (size_t i = 0; i < o->n_summary; i++) {
    bl_pair p, q;
    BL_TRY(bl_key_value(o->summary[i], &p, err));
    if (bl_summary_is_own(p.key))
      return bl_fail(err, BL_USAGE, "wrong summary: %s: the table sets %.*s itself", o->summary[i], BL_STR_ARG(p.key));
    for (size_t k = 0; k < i; k++) {
      BL_TRY(bl_key_value(o->summary[k], &q, err));
      if (bl_str_eq(p.key, q.key))
        return bl_fail(err, BL_USAGE, "wrong summary: %.*s is given twice", BL_STR_ARG(p.key));
    }
  }
  return BL_OK;
}

static bl_status tell_options(telling *t, const bl_write_options *o, bool replaces) {
  for (size_t i = 0; i < o->n_summary; i++) {
    bl_pair p;
    BL_TRY(bl_key_value(o->summary[i], &p, t->err));
    bl_str key = bl_arena_str(t->a, p.key);
    if (!key.p) return bl_nomem(t->err);
    BL_TRY(tell(t, key.p, bl_arena_str(t->a, p.value)));
  }
  if (replaces) BL_TRY(tell(t, "replace-partitions", BL_STR("true")));
  if (o->wap_id) BL_TRY(tell(t, "wap.id", bl_arena_str(t->a, bl_str_of(o->wap_id))));
  if (o->batch_id) BL_TRY(tell(t, "bergline.batch-id", bl_arena_str(t->a, bl_str_of(o->batch_id))));
  return BL_OK;
}

/* What is said at the commit counts before what was said when it was staged. */
static bool is_given(const bl_write_options *o, bl_str key) {
  for (size_t i = 0; i < o->n_summary; i++) {
    bl_pair p;
    if (bl_key_value(o->summary[i], &p, NULL) == BL_OK && bl_str_eq(p.key, key)) return true;
  }
  return false;
}

bl_status bl_attempt_summary(bl_attempt *at, const bl_write_options *o, bl_pairs *out, bl_error *err) {
  const bl_staged *s = at->c->s;
  size_t cap = BL_LEN(changes) + BL_LEN(totals) + s->summary.n + o->n_summary + 16;
  telling t = {at->arena, out, cap, err};
  *out = (bl_pairs){bl_arena_alloc(at->arena, cap, sizeof *out->items), 0};
  if (!out->items) return bl_nomem(err);
  BL_TRY(tell(&t, "operation", s->operation));
  BL_TRY(tell_number(&t, "manifests-created", at->counts.manifests_created));
  BL_TRY(tell_number(&t, "manifests-kept", at->counts.manifests_kept));
  BL_TRY(tell_number(&t, "manifests-replaced", at->counts.manifests_replaced));
  BL_TRY(tell_changes(&t, &at->counts));
  BL_TRY(tell_totals(&t, &at->counts, at->parent));
  for (size_t i = 0; i < s->summary.n; i++)
    if (!is_given(o, s->summary.items[i].key)) BL_TRY(tell(&t, s->summary.items[i].key.p, s->summary.items[i].value));
  BL_TRY(tell_options(&t, o, s->replaces_partitions));
  BL_TRY(tell(&t, "engine-name", BL_STR("bergline")));
  return tell(&t, "engine-version", BL_STR(BL_VERSION));
}

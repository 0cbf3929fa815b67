/* summary.c: the summary of a snapshot, with the names and totals that Iceberg's other writers give. */
#include "write/attempt.h"
#include "write/partition_path.h"
#include "write/properties.h"

#define SUMMARIES "partition-summaries-included"
#define PARTITION "partitions."
enum { MOST_SUMMARIES = 100000 };

bl_status bl_counts_new(bl_attempt *at, bl_error *err) {
  const bl_metadata *md = at->base->metadata;
  int64_t limit = bl_property_i64(&md->properties, "write.summary.partition-limit", 0);
  at->counts = (bl_counts){0};
  at->partitions = (bl_partition_counts){.limit = limit < 0                ? 0
                                                  : limit > MOST_SUMMARIES ? MOST_SUMMARIES
                                                                           : (size_t)limit};
  BL_TRY(bl_typed_specs_make(at->arena, md, &at->partitions.specs, err));
  return bl_map_new(at->c->ctx, &at->partitions.paths, err);
}

/* ---- counting ---- */

static bl_status partition_path(bl_attempt *at, const bl_data_file *f, bl_str *out, bl_error *err) {
  const bl_typed_spec *s = bl_typed_specs_get(&at->partitions.specs, f->spec_id);
  bl_buf b;
  bl_status st;
  bl_buf_init(&b, at->c->ctx, BL_BUF_MAX);
  if (s && f->n_partition == s->spec->n_fields) bl_partition_path(&b, s->spec, s->types, f->partition);
  BL_GO(bl_buf_ok(&b, err));
  *out = bl_arena_str(at->arena, (bl_str){b.n ? (const char *)b.p : "", b.n});
  if (!out->p) st = bl_nomem(err);
done:
  bl_buf_free(&b);
  return st;
}

/* Room for one more partition, while there are few enough. */
static bl_status make_room(bl_attempt *at, bl_error *err) {
  bl_partition_counts *p = &at->partitions;
  size_t n = bl_map_count(p->paths), cap = p->cap ? 2 * p->cap : 8;
  if (n < p->cap || n >= p->limit) return BL_OK;
  bl_partition_count *more = bl_arena_calloc(at->arena, cap, sizeof *more);
  if (!more) return bl_nomem(err);
  if (n) memcpy(more, p->each, n * sizeof *more);
  p->each = more;
  p->cap = cap;
  return BL_OK;
}

/* *out NULL: what changes in the partition is not told. */
static bl_status count_partition(bl_attempt *at, const bl_data_file *f, bl_counts **out, bl_error *err) {
  bl_partition_counts *p = &at->partitions;
  bl_str path;
  *out = NULL;
  BL_TRY(partition_path(at, f, &path, err));
  BL_TRY(make_room(at, err));
  size_t *place = bl_map_put(p->paths, path, bl_map_count(p->paths), NULL);
  if (!place) return bl_nomem(err);
  if (*place >= p->cap) return BL_OK;
  p->each[*place].path = path;
  *out = &p->each[*place].counts;
  return BL_OK;
}

static void add(int64_t *to, int64_t n) {
  if (n > 0 && !bl_add64(*to, n, to)) *to = INT64_MAX;
}

static void count(bl_counts *c, const bl_data_file *f, bool added) {
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
}

bl_status bl_count_file(bl_attempt *at, const bl_data_file *f, bool added, bl_error *err) {
  bl_counts *partition = NULL;
  count(&at->counts, f, added);
  BL_TRY(count_partition(at, f, &partition, err));
  if (partition) count(partition, f, added);
  return BL_OK;
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
  return BL_OK;
}

static bl_status tell_partition(telling *t, const bl_partition_count *p) {
  bl_buf b;
  bl_status st;
  bl_buf_init(&b, bl_arena_ctx(t->a), BL_BUF_MAX);
  for (size_t i = 0; i < BL_LEN(changes); i++) {
    int64_t v = count_at(&p->counts, changes[i].offset);
    if (v > 0) bl_buf_printf(&b, "%s%s=%lld", b.n ? "," : "", changes[i].key, (long long)v);
  }
  BL_GO(bl_buf_ok(&b, t->err));
  bl_str key = bl_arena_printf(t->a, PARTITION "%.*s", BL_STR_ARG(p->path));
  st = key.p ? tell(t, key.p, bl_arena_str(t->a, (bl_str){b.n ? (const char *)b.p : "", b.n})) : bl_nomem(t->err);
done:
  bl_buf_free(&b);
  return st;
}

static bool are_told(const bl_partition_counts *p) {
  size_t n = bl_map_count(p->paths);
  return n > 0 && n <= p->limit;
}

static bl_status tell_partitions(telling *t, const bl_partition_counts *p) {
  BL_TRY(tell_number(t, "changed-partition-count", (int64_t)bl_map_count(p->paths)));
  if (!are_told(p)) return BL_OK;
  BL_TRY(tell(t, SUMMARIES, BL_STR("true")));
  for (size_t i = 0; i < bl_map_count(p->paths); i++)
    if (p->each[i].path.n) BL_TRY(tell_partition(t, &p->each[i]));
  return BL_OK;
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
                                       "changed-partition-count",
                                       SUMMARIES};
  for (size_t i = 0; i < BL_LEN(changes); i++)
    if (bl_str_is(key, changes[i].key)) return true;
  for (size_t i = 0; i < BL_LEN(totals); i++)
    if (bl_str_is(key, totals[i].key)) return true;
  for (size_t i = 0; i < BL_LEN(others); i++)
    if (bl_str_is(key, others[i])) return true;
  return bl_str_starts(key, BL_STR(PARTITION));
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
  size_t partitions = are_told(&at->partitions) ? bl_map_count(at->partitions.paths) : 0;
  size_t cap = BL_LEN(changes) + BL_LEN(totals) + s->summary.n + o->n_summary + partitions + 16;
  telling t = {at->arena, out, cap, err};
  *out = (bl_pairs){bl_arena_alloc(at->arena, cap, sizeof *out->items), 0};
  if (!out->items) return bl_nomem(err);
  BL_TRY(tell(&t, "operation", s->operation));
  BL_TRY(tell_number(&t, "manifests-created", at->counts.manifests_created));
  BL_TRY(tell_number(&t, "manifests-kept", at->counts.manifests_kept));
  BL_TRY(tell_number(&t, "manifests-replaced", at->counts.manifests_replaced));
  BL_TRY(tell_changes(&t, &at->counts));
  BL_TRY(tell_partitions(&t, &at->partitions));
  BL_TRY(tell_totals(&t, &at->counts, at->parent));
  for (size_t i = 0; i < s->summary.n; i++)
    if (!is_given(o, s->summary.items[i].key)) BL_TRY(tell(&t, s->summary.items[i].key.p, s->summary.items[i].value));
  BL_TRY(tell_options(&t, o, s->replaces_partitions));
  BL_TRY(tell(&t, "engine-name", BL_STR("bergline")));
  return tell(&t, "engine-version", BL_STR(BL_VERSION));
}

/* manifest_read.c: manifests from Avro (spec: "Manifests", "Sequence Number Inheritance", "First Row ID Inheritance",
 * "Reading v1 metadata for v2").
 *
 *  1. The writer's schema is compiled into plans once; records run through them without look-ups.
 *  2. What an entry inherits comes from the manifest list alone. Of the header only the partition spec id is read, and
 *     only for manifests that no list describes; a content key that disagrees with the list is a warning.
 *  3. Nothing is filtered before first_row_id has been inherited (R3). */
#include <stdlib.h>

#include "format/avro_plan.h"
#include "format/manifest_avro.h"
#include "format/partition_avro.h"

enum entry_long {
  E_STATUS,
  E_SNAPSHOT,
  E_SEQUENCE,
  E_FILE_SEQUENCE,
  E_CONTENT,
  E_RECORDS,
  E_SIZE,
  E_SORT_ORDER,
  E_FIRST_ROW_ID,
  E_OFFSET,
  E_OFFSET_SIZE,
  E_LONGS
};
enum { B_PATH, B_FORMAT, B_KEY, B_REFERENCED, B_BYTES };
enum special { SP_DATA_FILE, SP_PARTITION, SP_SPLITS, SP_EQUALITY, SP_METRICS /* + enum metric */ };
enum metric { M_SIZES, M_VALUES, M_NULLS, M_NANS, M_LOWER, M_UPPER, M_MAPS };

static const bl_avro_rule entry_rules[] = {
    {0, "status", BL_WANT_LONG, E_STATUS, true},
    {1, "snapshot_id", BL_WANT_LONG, E_SNAPSHOT, false},
    {3, "sequence_number", BL_WANT_LONG, E_SEQUENCE, false},
    {4, "file_sequence_number", BL_WANT_LONG, E_FILE_SEQUENCE, false},
    {2, "data_file", BL_WANT_SPECIAL, SP_DATA_FILE, true},
};

/* The maps of metrics come last: they are left out where nobody asks for them. */
static const bl_avro_rule file_rules[] = {
    {134, "content", BL_WANT_LONG, E_CONTENT, false},
    {100, "file_path", BL_WANT_BYTES, B_PATH, true},
    {101, "file_format", BL_WANT_BYTES, B_FORMAT, true},
    {102, "partition", BL_WANT_SPECIAL, SP_PARTITION, false},
    {103, "record_count", BL_WANT_LONG, E_RECORDS, true},
    {104, "file_size_in_bytes", BL_WANT_LONG, E_SIZE, true},
    {131, "key_metadata", BL_WANT_BYTES, B_KEY, false},
    {132, "split_offsets", BL_WANT_SPECIAL, SP_SPLITS, false},
    {135, "equality_ids", BL_WANT_SPECIAL, SP_EQUALITY, false},
    {140, "sort_order_id", BL_WANT_LONG, E_SORT_ORDER, false},
    {142, "first_row_id", BL_WANT_LONG, E_FIRST_ROW_ID, false},
    {143, "referenced_data_file", BL_WANT_BYTES, B_REFERENCED, false},
    {144, "content_offset", BL_WANT_LONG, E_OFFSET, false},
    {145, "content_size_in_bytes", BL_WANT_LONG, E_OFFSET_SIZE, false},
    {108, "column_sizes", BL_WANT_SPECIAL, SP_METRICS + M_SIZES, false},
    {109, "value_counts", BL_WANT_SPECIAL, SP_METRICS + M_VALUES, false},
    {110, "null_value_counts", BL_WANT_SPECIAL, SP_METRICS + M_NULLS, false},
    {137, "nan_value_counts", BL_WANT_SPECIAL, SP_METRICS + M_NANS, false},
    {125, "lower_bounds", BL_WANT_SPECIAL, SP_METRICS + M_LOWER, false},
    {128, "upper_bounds", BL_WANT_SPECIAL, SP_METRICS + M_UPPER, false},
};

/* Field ids of keys and values, by enum metric. */
static const int32_t metric_ids[M_MAPS][2] = {{117, 118}, {119, 120}, {121, 122}, {138, 139}, {126, 127}, {129, 130}};

typedef struct metric_plan {
  bl_avro_rule rules[2];
  bl_avro_plan plan; /* of the {key, value} record */
} metric_plan;

typedef struct entry_reader {
  bl_ctx *ctx;
  bl_arena *arena;   /* of the result */
  bl_arena *scratch; /* of the plans */
  const bl_manifest_file *m;
  const bl_manifest_read_options *o;
  bl_avro_plan entry_plan, file_plan;
  bl_partition_plan partition_plan;
  metric_plan metrics[M_MAPS];
  /* the record in hand */
  int64_t longs[E_LONGS];
  bl_str bytes[B_BYTES];
  bl_manifest_entry entry;
  bl_column_metrics *columns;
  size_t n_columns, cap_columns, at_column;
  bool columns_sorted;
  int64_t *numbers; /* of an array */
  size_t n_numbers, cap_numbers;
  bl_manifest_entry *out;
  size_t n, cap;
} entry_reader;

static bl_status keep(bl_arena *a, bl_str s, bl_str *out, bl_error *err) {
  *out = s.p ? bl_arena_str(a, s) : s;
  return s.p && !out->p ? bl_nomem(err) : BL_OK;
}

/* ---- arrays ---- */

static bl_status read_numbers(entry_reader *r, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  r->n_numbers = 0;
  for (;;) {
    int64_t n;
    BL_TRY(bl_avro_items(c, s, &n, err));
    if (!n) return BL_OK;
    for (int64_t i = 0; i < n; i++) {
      const bl_avro_schema *item = s->children[0];
      BL_TRY(bl_grow(r->ctx, &r->numbers, &r->cap_numbers, r->n_numbers, sizeof *r->numbers, err));
      if (item->kind == BL_A_UNION) BL_TRY(bl_avro_branch(c, item, &item, err));
      if (item->kind != BL_A_INT && item->kind != BL_A_LONG) return bl_avro_fail(c, err, "no number in the array");
      BL_TRY(bl_avro_long(c, &r->numbers[r->n_numbers++], err));
    }
  }
}

static bl_status read_splits(entry_reader *r, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  bl_data_file *f = &r->entry.file;
  BL_TRY(read_numbers(r, s, c, err));
  if (!(f->split_offsets = bl_arena_alloc(r->arena, r->n_numbers, sizeof *f->split_offsets))) return bl_nomem(err);
  if (r->n_numbers) memcpy(f->split_offsets, r->numbers, r->n_numbers * sizeof *f->split_offsets);
  f->n_split_offsets = r->n_numbers;
  return BL_OK;
}

static bl_status read_equality(entry_reader *r, const bl_avro_schema *s, bl_avro_cursor *c, bl_error *err) {
  bl_data_file *f = &r->entry.file;
  BL_TRY(read_numbers(r, s, c, err));
  if (!(f->equality_ids = bl_arena_alloc(r->arena, r->n_numbers, sizeof *f->equality_ids))) return bl_nomem(err);
  for (size_t i = 0; i < r->n_numbers; i++) {
    if (r->numbers[i] < INT32_MIN || r->numbers[i] > INT32_MAX)
      return bl_avro_fail(c, err, "an id of %lld", (long long)r->numbers[i]);
    f->equality_ids[i] = (int32_t)r->numbers[i];
  }
  f->n_equality_ids = r->n_numbers;
  return BL_OK;
}

/* ---- metrics ---- */

/* The maps name the same columns in the same order, but for gaps: the next one is looked for from the last one on. What
 * is not found soon is appended and merged at the end, so that no order of keys makes this slow. */
static bl_column_metrics *column_of(entry_reader *r, int32_t id, bl_error *err) {
  enum { LOOK = 64 };
  for (size_t k = 0; k < r->n_columns && k < LOOK; k++) {
    size_t i = r->at_column + k < r->n_columns ? r->at_column + k : r->at_column + k - r->n_columns;
    if (r->columns[i].id != id) continue;
    r->at_column = i + 1 < r->n_columns ? i + 1 : 0;
    return &r->columns[i];
  }
  if (bl_grow(r->ctx, &r->columns, &r->cap_columns, r->n_columns, sizeof *r->columns, err) != BL_OK) return NULL;
  if (r->n_columns && r->columns[r->n_columns - 1].id >= id) r->columns_sorted = false;
  r->columns[r->n_columns] = (bl_column_metrics){id, BL_NONE, BL_NONE, BL_NONE, BL_NONE, BL_STR_NONE, BL_STR_NONE};
  r->at_column = 0;
  return &r->columns[r->n_columns++];
}

static bl_status take_metric(entry_reader *r, enum metric which, int64_t key, int64_t number, bl_str bytes,
                             const bl_avro_cursor *c, bl_error *err) {
  if (key < INT32_MIN || key > INT32_MAX) return bl_avro_fail(c, err, "a column id of %lld", (long long)key);
  if (number < 0) number = BL_NONE; /* some writers' "not known" */
  bl_column_metrics *m = column_of(r, (int32_t)key, err);
  if (!m) return BL_NOMEM;
  switch (which) {
  case M_SIZES: m->size = number; return BL_OK;
  case M_VALUES: m->values = number; return BL_OK;
  case M_NULLS: m->nulls = number; return BL_OK;
  case M_NANS: m->nans = number; return BL_OK;
  case M_LOWER: return keep(r->arena, bytes, &m->lower, err);
  default: return keep(r->arena, bytes, &m->upper, err);
  }
}

static bl_status read_metric_map(entry_reader *r, enum metric which, const bl_avro_schema *s, bl_avro_cursor *c,
                                 bl_error *err) {
  const bl_avro_plan *plan = &r->metrics[which].plan;
  r->at_column = 0;
  for (;;) {
    int64_t n;
    BL_TRY(bl_avro_items(c, s, &n, err));
    if (!n) return BL_OK;
    for (int64_t i = 0; i < n; i++) {
      int64_t longs[2] = {BL_NONE, BL_NONE};
      bl_str bytes[1] = {BL_STR_NONE};
      bl_avro_row row = {.longs = longs, .bytes = bytes};
      BL_TRY(bl_avro_plan_run(plan, c, &row, err));
      BL_TRY(take_metric(r, which, longs[0], longs[1], bytes[0], c, err));
    }
  }
}

static void merge_metric(bl_column_metrics *to, const bl_column_metrics *from) {
  if (from->size != BL_NONE) to->size = from->size;
  if (from->values != BL_NONE) to->values = from->values;
  if (from->nulls != BL_NONE) to->nulls = from->nulls;
  if (from->nans != BL_NONE) to->nans = from->nans;
  if (from->lower.p) to->lower = from->lower;
  if (from->upper.p) to->upper = from->upper;
}

static int by_id(const void *a, const void *b) {
  int32_t x = ((const bl_column_metrics *)a)->id, y = ((const bl_column_metrics *)b)->id;
  return (x > y) - (x < y);
}

static bl_status take_columns(entry_reader *r, bl_error *err) {
  bl_data_file *f = &r->entry.file;
  size_t n = 0;
  if (!r->n_columns) return BL_OK;
  if (!r->columns_sorted) bl_sort(r->columns, r->n_columns, sizeof *r->columns, by_id);
  for (size_t i = 0; i < r->n_columns; i++) {
    if (n && r->columns[n - 1].id == r->columns[i].id) merge_metric(&r->columns[n - 1], &r->columns[i]);
    else r->columns[n++] = r->columns[i];
  }
  if (!(f->metrics = bl_arena_alloc(r->arena, n, sizeof *f->metrics))) return bl_nomem(err);
  memcpy(f->metrics, r->columns, n * sizeof *f->metrics);
  f->n_metrics = n;
  return BL_OK;
}

/* ---- one entry ---- */

static bl_status read_partition(entry_reader *r, bl_avro_cursor *c, bl_error *err) {
  bl_data_file *f = &r->entry.file;
  size_t n = r->partition_plan.n_fields;
  if (!(f->partition = bl_arena_alloc(r->arena, n, sizeof *f->partition))) return bl_nomem(err);
  f->n_partition = n;
  return bl_partition_read(r->arena, &r->partition_plan, c, f->partition, err);
}

static bl_status read_special(void *user, const bl_avro_rule *rule, const bl_avro_schema *s, bl_avro_cursor *c,
                              bl_error *err) {
  entry_reader *r = user;
  switch (rule->slot) {
  case SP_DATA_FILE: {
    bl_avro_row row = {.longs = r->longs, .bytes = r->bytes, .special = read_special, .user = r};
    return bl_avro_plan_run(&r->file_plan, c, &row, err);
  }
  case SP_PARTITION: return read_partition(r, c, err);
  case SP_SPLITS: return read_splits(r, s, c, err);
  case SP_EQUALITY: return read_equality(r, s, c, err);
  default: return read_metric_map(r, (enum metric)(rule->slot - SP_METRICS), s, c, err);
  }
}

static bl_status format_of(bl_str s, bl_file_format *out, bl_error *err) {
  static const bl_file_format all[] = {BL_FORMAT_PARQUET, BL_FORMAT_AVRO, BL_FORMAT_ORC, BL_FORMAT_PUFFIN};
  for (size_t i = 0; i < BL_LEN(all); i++) {
    *out = all[i];
    if (bl_str_is_nocase(s, bl_file_format_name(all[i]))) return BL_OK;
  }
  return bl_fail(err, BL_UNSUPPORTED, "file_format %.*s is not known", BL_STR_ARG(s));
}

static bl_status check_counts(const entry_reader *r, bl_error *err) {
  static const struct {
    enum entry_long slot;
    const char *name;
  } counts[] = {{E_RECORDS, "record_count"},     {E_SIZE, "file_size_in_bytes"},
                {E_SEQUENCE, "sequence_number"}, {E_FILE_SEQUENCE, "file_sequence_number"},
                {E_OFFSET, "content_offset"},    {E_OFFSET_SIZE, "content_size_in_bytes"}};
  for (size_t i = 0; i < BL_LEN(counts); i++) {
    int64_t v = r->longs[counts[i].slot];
    if (v < 0 && v != BL_NONE) return bl_fail(err, BL_DAMAGED, "%s is negative (%lld)", counts[i].name, (long long)v);
  }
  return BL_OK;
}

static bl_status check_content(const entry_reader *r, int64_t content, bl_error *err) {
  if (content < BL_FILE_DATA || content > BL_FILE_EQUALITY_DELETES)
    return bl_fail(err, BL_DAMAGED, "unknown content %lld", (long long)content);
  if ((content == BL_FILE_DATA) == (r->m->content == BL_MANIFEST_DATA)) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "content %lld (%s) in a manifest of %s", (long long)content,
                 content == BL_FILE_DATA ? "data" : "deletes", r->m->content == BL_MANIFEST_DATA ? "data" : "deletes");
}

/* Only ADDED entries inherit; before version 2 there were no sequence numbers, which are 0 then. Writers of early
 * version 2 did not store the file's own number: it stays unknown for what they carried over. */
static bl_status inherit(const entry_reader *r, bl_manifest_entry *e, bl_error *err) {
  bool added = e->status == BL_ADDED || r->m->sequence_number == 0;
  if (e->snapshot_id == BL_NONE) e->snapshot_id = r->m->added_snapshot_id;
  if (e->file_sequence_number == BL_NONE && added) e->file_sequence_number = r->m->sequence_number;
  if (e->sequence_number != BL_NONE) return BL_OK;
  e->sequence_number = r->m->sequence_number;
  if (added) return BL_OK;
  return bl_fail(err, BL_DAMAGED, "sequence_number is null, which only an added file may have");
}

static bl_status take_strings(entry_reader *r, bl_data_file *f, bl_error *err) {
  BL_TRY(keep(r->arena, r->bytes[B_PATH], &f->path, err));
  BL_TRY(keep(r->arena, r->bytes[B_KEY], &f->key_metadata, err));
  return keep(r->arena, r->bytes[B_REFERENCED], &f->referenced_data_file, err);
}

/* A manifest without partition field (or with null there) has all values null. */
static bl_status no_partition(entry_reader *r, bl_error *err) {
  bl_data_file *f = &r->entry.file;
  size_t n = r->partition_plan.n_fields;
  if (!(f->partition = bl_arena_alloc(r->arena, n, sizeof *f->partition))) return bl_nomem(err);
  for (size_t i = 0; i < n; i++) f->partition[i] = (bl_value){.kind = r->partition_plan.kinds[i], .null = true};
  f->n_partition = n;
  return BL_OK;
}

static bl_status take_entry(entry_reader *r, bl_error *err) {
  const int64_t *v = r->longs;
  bl_manifest_entry *e = &r->entry;
  bl_data_file *f = &e->file;
  int64_t content = v[E_CONTENT] == BL_NONE ? BL_FILE_DATA : v[E_CONTENT];
  if (v[E_STATUS] < BL_EXISTING || v[E_STATUS] > BL_DELETED)
    return bl_fail(err, BL_DAMAGED, "unknown status %lld", (long long)v[E_STATUS]);
  BL_TRY(check_content(r, content, err));
  BL_TRY(check_counts(r, err));
  e->status = (bl_entry_status)v[E_STATUS];
  e->snapshot_id = v[E_SNAPSHOT];
  e->sequence_number = v[E_SEQUENCE];
  e->file_sequence_number = v[E_FILE_SEQUENCE];
  e->stored_first_row_id = v[E_FIRST_ROW_ID];
  f->content = (bl_file_content)content;
  f->spec_id = r->m->spec_id;
  f->record_count = v[E_RECORDS];
  f->file_size = v[E_SIZE];
  f->sort_order_id = v[E_SORT_ORDER] == BL_NONE ? -1 : (int32_t)v[E_SORT_ORDER];
  f->first_row_id = BL_NONE;
  f->content_offset = v[E_OFFSET];
  f->content_size = v[E_OFFSET_SIZE];
  BL_TRY(format_of(r->bytes[B_FORMAT], &f->format, err));
  BL_TRY(take_strings(r, f, err));
  BL_TRY(inherit(r, e, err));
  if (content == BL_FILE_EQUALITY_DELETES && e->status != BL_DELETED && !f->n_equality_ids)
    return bl_fail(err, BL_DAMAGED, "equality deletes without equality_ids");
  if (!f->partition) BL_TRY(no_partition(r, err));
  BL_TRY(take_columns(r, err));
  r->out[r->n++] = *e;
  return BL_OK;
}

static bl_status read_entry(entry_reader *r, bl_avro_cursor *c, bl_error *err) {
  bl_avro_row row = {.longs = r->longs, .bytes = r->bytes, .special = read_special, .user = r};
  for (int k = 0; k < E_LONGS; k++) r->longs[k] = BL_NONE;
  for (int k = 0; k < B_BYTES; k++) r->bytes[k] = BL_STR_NONE;
  r->entry = (bl_manifest_entry){0};
  r->n_columns = 0;
  r->columns_sorted = true;
  BL_TRY(bl_avro_plan_run(&r->entry_plan, c, &row, err));
  return take_entry(r, err);
}

/* The reader has checked that the block is long enough for that many. */
static bl_status make_room(entry_reader *r, int64_t records, bl_error *err) {
  size_t need = r->n + (size_t)records;
  if (need <= r->cap) return BL_OK;
  if (need > (uint64_t)r->ctx->o.max_metadata_bytes / sizeof *r->out)
    return bl_fail(err, BL_DAMAGED, "more entries than the limit of the context holds");
  void *p = bl_resize(r->ctx, r->out, need, sizeof *r->out);
  if (!p) return bl_nomem(err);
  r->out = p;
  r->cap = need;
  return BL_OK;
}

static bl_status read_block(entry_reader *r, bl_avro_cursor *c, int64_t records, bl_error *err) {
  BL_TRY(make_room(r, records, err));
  for (int64_t i = 0; i < records; i++) {
    bl_status st = read_entry(r, c, err);
    if (st != BL_OK && r->bytes[B_PATH].p)
      return bl_fail_in(err, st, "entry %zu, %.*s", r->n, BL_STR_ARG(r->bytes[B_PATH]));
    if (st != BL_OK) return bl_fail_in(err, st, "entry %zu", r->n);
  }
  if (c->p != c->end) return bl_avro_fail(c, err, "the block has bytes after its last record");
  return BL_OK;
}

/* ---- plans ---- */

/* The record {key, value} of one map of metrics. */
static bl_status plan_metric(entry_reader *r, const bl_avro_schema *file, enum metric which, bl_error *err) {
  bool optional;
  const bl_avro_rule *rule = &file_rules[BL_LEN(file_rules) - M_MAPS + which];
  const bl_avro_schema *field = bl_avro_find(file, rule->field_id),
                       *s = field ? bl_avro_unwrap(field, &optional) : NULL;
  if (!field || bl_avro_only_null(field)) return BL_OK;
  const bl_avro_schema *item = s && s->kind == BL_A_ARRAY ? s->children[0] : NULL;
  if (!item || item->kind != BL_A_RECORD)
    return bl_fail(err, BL_DAMAGED, "Avro schema: field %d %s: its type is no list of keys and values", rule->field_id,
                   rule->name);
  bool bounds = which == M_LOWER || which == M_UPPER;
  metric_plan *p = &r->metrics[which];
  p->rules[0] = (bl_avro_rule){metric_ids[which][0], "key", BL_WANT_LONG, 0, true};
  p->rules[1] = (bl_avro_rule){metric_ids[which][1], "value", bounds ? BL_WANT_BYTES : BL_WANT_LONG, !bounds, false};
  bl_status st = bl_avro_plan_make(r->scratch, item, p->rules, 2, &p->plan, err);
  return st == BL_OK ? BL_OK : bl_fail_in(err, st, "field %d %s", rule->field_id, rule->name);
}

static bl_status check_arrays(const bl_avro_schema *file, bl_error *err) {
  static const int32_t ids[] = {132, 135};
  for (size_t i = 0; i < BL_LEN(ids); i++) {
    bool optional;
    const bl_avro_schema *field = bl_avro_find(file, ids[i]), *s = field ? bl_avro_unwrap(field, &optional) : NULL;
    if (!field || bl_avro_only_null(field) || (s && s->kind == BL_A_ARRAY)) continue;
    return bl_fail(err, BL_DAMAGED, "Avro schema: field %d: its type is no array", ids[i]);
  }
  return BL_OK;
}

static bl_status spec_types(entry_reader *r, const bl_partition_spec *spec, bl_type **out, bl_error *err) {
  const bl_metadata *md = r->o->metadata;
  const bl_schema **others = bl_arena_alloc(r->scratch, md->n_schemas, sizeof *others);
  *out = bl_arena_calloc(r->scratch, spec->n_fields, sizeof **out);
  if (!others || !*out) return bl_nomem(err);
  for (size_t i = 0; i < md->n_schemas; i++) others[i] = &md->schemas[md->n_schemas - 1 - i];
  bl_spec_types(spec, bl_metadata_current_schema(md), others, md->n_schemas, *out);
  return BL_OK;
}

static bl_status plan_partition(entry_reader *r, const bl_avro_schema *file, bl_error *err) {
  static const bl_avro_schema none = {.kind = BL_A_RECORD, .field_id = -1};
  bool optional;
  bl_type *types;
  const bl_partition_spec *spec = bl_metadata_spec(r->o->metadata, r->m->spec_id);
  if (!spec) return bl_fail(err, BL_DAMAGED, "partition spec %d is not in the metadata", r->m->spec_id);
  const bl_avro_schema *field = bl_avro_find(file, 102), *s = field ? bl_avro_unwrap(field, &optional) : NULL;
  if (field && !s && !bl_avro_only_null(field))
    return bl_fail(err, BL_DAMAGED, "Avro schema: field 102 partition: its type is no record");
  BL_TRY(spec_types(r, spec, &types, err));
  return bl_partition_plan_make(r->scratch, s ? s : &none, spec, types, &r->partition_plan, err);
}

static bl_status make_plans(entry_reader *r, const bl_avro_schema *entry, bl_error *err) {
  bool optional;
  size_t n_rules = BL_LEN(file_rules) - (r->o->metrics ? 0 : M_MAPS);
  BL_TRY(bl_avro_plan_make(r->scratch, entry, entry_rules, BL_LEN(entry_rules), &r->entry_plan, err));
  const bl_avro_schema *file = bl_avro_unwrap(bl_avro_find(entry, 2), &optional);
  if (!file) return bl_fail(err, BL_DAMAGED, "Avro schema: field 2 data_file: its type is no record");
  BL_TRY(bl_avro_plan_make(r->scratch, file, file_rules, n_rules, &r->file_plan, err));
  for (int i = 0; r->o->metrics && i < M_MAPS; i++) BL_TRY(plan_metric(r, file, (enum metric)i, err));
  BL_TRY(check_arrays(file, err));
  return plan_partition(r, file, err);
}

/* ---- the whole ---- */

static void warn_of_label(const entry_reader *r, const bl_avro_reader *file) {
  bl_str label = bl_avro_meta(file, "content");
  const char *due = r->m->content == BL_MANIFEST_DATA ? "data" : "deletes";
  if (label.p && !bl_str_is_nocase(label, due))
    bl_warn(r->ctx, "manifest %.*s: its header says content=%.*s, the manifest list says %s", BL_STR_ARG(r->m->path),
            BL_STR_ARG(label), due);
}

static bl_status read_all(entry_reader *r, bl_avro_reader *file, bl_error *err) {
  BL_TRY(make_plans(r, bl_avro_header(file)->schema, err));
  warn_of_label(r, file);
  for (;;) {
    const uint8_t *raw;
    size_t n_raw;
    int64_t records;
    bl_avro_cursor c;
    BL_TRY(bl_avro_next_block(file, &raw, &n_raw, &records, err));
    if (!records) return BL_OK;
    bl_avro_block_cursor(file, &c);
    BL_TRY(read_block(r, &c, records, err));
  }
}

static bl_status hand_over(entry_reader *r, bl_manifest_entry **out, size_t *n_out, bl_error *err) {
  bl_manifest_entry *entries = bl_arena_alloc(r->arena, r->n, sizeof *entries);
  if (!entries) return bl_nomem(err);
  if (r->n) memcpy(entries, r->out, r->n * sizeof *entries);
  if (r->o->keep_first_row_id && r->m->first_row_id == BL_NONE && r->m->content == BL_MANIFEST_DATA) {
    for (size_t i = 0; i < r->n; i++) entries[i].file.first_row_id = entries[i].stored_first_row_id;
  } else {
    BL_TRY(bl_lineage_inherit(r->m, entries, r->n, err));
  }
  *out = entries;
  *n_out = r->n;
  return BL_OK;
}

bl_status bl_manifest_read(bl_ctx *ctx, bl_arena *a, const void *p, size_t n, const bl_manifest_file *m,
                           const bl_manifest_read_options *o, bl_manifest_entry **out, size_t *n_out, bl_error *err) {
  entry_reader r = {.ctx = ctx, .arena = a, .m = m, .o = o};
  bl_avro_reader *file = NULL;
  bl_error local = BL_ERROR_INIT;
  bl_status st;
  *out = NULL;
  *n_out = 0;
  BL_GO(bl_arena_new(ctx, &r.scratch, err));
  st = bl_avro_open(ctx, p, n, &file, &local);
  if (st == BL_OK) st = read_all(&r, file, &local);
  if (st != BL_OK) {
    bl_fail_at(err, st, local.position, "manifest %.*s: %s", BL_STR_ARG(m->path), local.message);
    goto done;
  }
  BL_GO(hand_over(&r, out, n_out, err));
done:
  bl_free(ctx, r.out);
  bl_free(ctx, r.columns);
  bl_free(ctx, r.numbers);
  bl_arena_free(r.scratch);
  bl_avro_close(file);
  return st;
}

bl_status bl_manifest_describe(bl_ctx *ctx, bl_arena *a, bl_str path, const void *p, size_t n, const bl_snapshot *s,
                               bl_manifest_file *out, bl_error *err) {
  bl_avro_reader *file;
  int64_t spec = 0;
  bl_status st = bl_avro_open(ctx, p, n, &file, err);
  if (st != BL_OK) return bl_fail_in(err, st, "manifest %.*s", BL_STR_ARG(path));
  bl_str text = bl_avro_meta(file, "partition-spec-id");
  if (text.p && (!bl_parse_i64(text, &spec) || spec < 0 || spec > INT32_MAX))
    st = bl_fail(err, BL_DAMAGED, "manifest %.*s: partition-spec-id: no spec id: %.*s", BL_STR_ARG(path),
                 BL_STR_ARG(text));
  bl_avro_close(file);
  if (st != BL_OK) return st;
  *out = (bl_manifest_file){.path = bl_arena_str(a, path),
                            .length = (int64_t)n,
                            .spec_id = (int32_t)spec,
                            .content = BL_MANIFEST_DATA,
                            .added_snapshot_id = s->id,
                            .added_files = BL_NONE,
                            .existing_files = BL_NONE,
                            .deleted_files = BL_NONE,
                            .added_rows = BL_NONE,
                            .existing_rows = BL_NONE,
                            .deleted_rows = BL_NONE,
                            .first_row_id = BL_NONE};
  return out->path.p ? BL_OK : bl_nomem(err);
}

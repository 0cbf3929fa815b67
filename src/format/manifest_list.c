/* manifest_list.c: manifest lists from Avro (spec: "Manifest Lists", "Reading v1 metadata for v2").
 * Nothing depends on the header's keys: what a list holds is told by its fields, what they mean by the table's
 * version. */
#include "format/avro_plan.h"
#include "format/manifest_avro.h"

enum list_long {
  L_LENGTH,
  L_SPEC,
  L_CONTENT,
  L_SEQUENCE,
  L_MIN_SEQUENCE,
  L_SNAPSHOT,
  L_ADDED_FILES,
  L_EXISTING_FILES,
  L_DELETED_FILES,
  L_ADDED_ROWS,
  L_EXISTING_ROWS,
  L_DELETED_ROWS,
  L_FIRST_ROW_ID,
  L_LONGS
};
enum { B_PATH, B_KEY, B_BYTES };
enum { S_CONTAINS_NULL, S_CONTAINS_NAN, S_LONGS };
enum { S_LOWER, S_UPPER, S_BYTES };

static const bl_avro_rule list_rules[] = {
    {500, "manifest_path", BL_WANT_BYTES, B_PATH, true},
    {501, "manifest_length", BL_WANT_LONG, L_LENGTH, true},
    {502, "partition_spec_id", BL_WANT_LONG, L_SPEC, true},
    {517, "content", BL_WANT_LONG, L_CONTENT, false},
    {515, "sequence_number", BL_WANT_LONG, L_SEQUENCE, false},
    {516, "min_sequence_number", BL_WANT_LONG, L_MIN_SEQUENCE, false},
    {503, "added_snapshot_id", BL_WANT_LONG, L_SNAPSHOT, false},
    {504, "added_files_count", BL_WANT_LONG, L_ADDED_FILES, false},
    {505, "existing_files_count", BL_WANT_LONG, L_EXISTING_FILES, false},
    {506, "deleted_files_count", BL_WANT_LONG, L_DELETED_FILES, false},
    {512, "added_rows_count", BL_WANT_LONG, L_ADDED_ROWS, false},
    {513, "existing_rows_count", BL_WANT_LONG, L_EXISTING_ROWS, false},
    {514, "deleted_rows_count", BL_WANT_LONG, L_DELETED_ROWS, false},
    {519, "key_metadata", BL_WANT_BYTES, B_KEY, false},
    {520, "first_row_id", BL_WANT_LONG, L_FIRST_ROW_ID, false},
    {507, "partitions", BL_WANT_SPECIAL, 0, false},
};

static const bl_avro_rule summary_rules[] = {
    {509, "contains_null", BL_WANT_BOOL, S_CONTAINS_NULL, true},
    {518, "contains_nan", BL_WANT_BOOL, S_CONTAINS_NAN, false},
    {510, "lower_bound", BL_WANT_BYTES, S_LOWER, false},
    {511, "upper_bound", BL_WANT_BYTES, S_UPPER, false},
};

typedef struct list_reader {
  bl_ctx *ctx;
  bl_arena *arena; /* of the result */
  int table_version;
  bl_avro_plan plan, summary_plan;
  int64_t longs[L_LONGS];
  bl_str bytes[B_BYTES];
  bl_manifest_file *out;
  size_t n, cap;
  /* summaries of the manifest in hand */
  bl_field_summary *sums;
  size_t n_sums, cap_sums;
  bool has_sums;
} list_reader;

static bl_status keep(bl_arena *a, bl_str *s, bl_error *err) {
  if (!s->p) return BL_OK;
  *s = bl_arena_str(a, *s);
  return s->p ? BL_OK : bl_nomem(err);
}

/* ---- field summaries ---- */

static bl_status read_summary(list_reader *r, const bl_avro_schema *item, bl_avro_cursor *c, bl_error *err) {
  int64_t longs[S_LONGS] = {BL_NONE, BL_NONE};
  bl_str bytes[S_BYTES] = {BL_STR_NONE, BL_STR_NONE};
  bl_avro_row row = {.longs = longs, .bytes = bytes};
  if (item->kind == BL_A_UNION) BL_TRY(bl_avro_branch(c, item, &item, err));
  if (item->kind != BL_A_RECORD) return bl_avro_fail(c, err, "null in place of a field summary");
  BL_TRY(bl_avro_plan_run(&r->summary_plan, c, &row, err));
  BL_TRY(keep(r->arena, &bytes[S_LOWER], err));
  BL_TRY(keep(r->arena, &bytes[S_UPPER], err));
  BL_TRY(bl_grow(r->ctx, &r->sums, &r->cap_sums, r->n_sums, sizeof *r->sums, err));
  r->sums[r->n_sums++] = (bl_field_summary){.contains_null = longs[S_CONTAINS_NULL] == 1,
                                            .has_nan = longs[S_CONTAINS_NAN] != BL_NONE,
                                            .contains_nan = longs[S_CONTAINS_NAN] == 1,
                                            .lower = bytes[S_LOWER],
                                            .upper = bytes[S_UPPER]};
  return BL_OK;
}

static bl_status read_summaries(void *user, const bl_avro_rule *rule, const bl_avro_schema *s, bl_avro_cursor *c,
                                bl_error *err) {
  (void)rule;
  list_reader *r = user;
  r->has_sums = true;
  for (;;) {
    int64_t n;
    BL_TRY(bl_avro_items(c, s, &n, err));
    if (!n) return BL_OK;
    for (int64_t i = 0; i < n; i++) BL_TRY(read_summary(r, s->children[0], c, err));
  }
}

/* The record below the list of summaries must be there before the first value is read. */
static bl_status plan_summaries(list_reader *r, bl_arena *scratch, const bl_avro_schema *record, bl_error *err) {
  bool optional;
  const bl_avro_schema *field = bl_avro_find(record, 507), *list = field ? bl_avro_unwrap(field, &optional) : NULL;
  if (!field || bl_avro_only_null(field)) return BL_OK;
  const bl_avro_schema *item = list && list->kind == BL_A_ARRAY ? bl_avro_unwrap(list->children[0], &optional) : NULL;
  if (!item) return bl_fail(err, BL_DAMAGED, "Avro schema: field 507 partitions: its type is no list of records");
  bl_status st = bl_avro_plan_make(scratch, item, summary_rules, BL_LEN(summary_rules), &r->summary_plan, err);
  return st == BL_OK ? BL_OK : bl_fail_in(err, st, "field 507 partitions");
}

/* ---- manifests ---- */

/* A negative count is no count: what it would say is taken from the entries, which have none that is negative. */
static bool is_count(int slot) {
  return slot >= L_ADDED_FILES && slot <= L_DELETED_ROWS;
}

static bl_status not_negative(list_reader *r, bl_error *err) {
  for (size_t i = 0; i < BL_LEN(list_rules); i++) {
    const bl_avro_rule *rule = &list_rules[i];
    if (rule->want != BL_WANT_LONG || rule->slot == L_SNAPSHOT || r->longs[rule->slot] >= 0) continue;
    if (r->longs[rule->slot] == BL_NONE) continue;
    if (!is_count(rule->slot))
      return bl_fail(err, BL_DAMAGED, "%s is negative (%lld)", rule->name, (long long)r->longs[rule->slot]);
    bl_warn(r->ctx, "manifest list: %.*s: %s is negative (%lld)", BL_STR_ARG(r->bytes[B_PATH]), rule->name,
            (long long)r->longs[rule->slot]);
    r->longs[rule->slot] = BL_NONE;
  }
  return BL_OK;
}

static int64_t or_zero(int64_t v) {
  return v == BL_NONE ? 0 : v;
}

/* R7: a delete manifest has no first_row_id, whatever it stores; no table before version 3 has one. */
static void set_first_row_id(const list_reader *r, bl_manifest_file *m) {
  int64_t stored = r->longs[L_FIRST_ROW_ID];
  m->first_row_id = m->content == BL_MANIFEST_DATA && r->table_version >= 3 ? stored : BL_NONE;
  m->stray_first_row_id = m->content == BL_MANIFEST_DELETES && stored != BL_NONE;
}

static bl_status take_summaries(list_reader *r, bl_manifest_file *m, bl_error *err) {
  m->has_partitions = r->has_sums;
  m->n_partitions = r->n_sums;
  if (!r->n_sums) return BL_OK;
  m->partitions = bl_arena_alloc(r->arena, r->n_sums, sizeof *m->partitions);
  if (!m->partitions) return bl_nomem(err);
  memcpy(m->partitions, r->sums, r->n_sums * sizeof *m->partitions);
  return BL_OK;
}

static bl_status take_manifest(list_reader *r, bl_error *err) {
  BL_TRY(not_negative(r, err));
  const int64_t *v = r->longs;
  bl_manifest_file m = {.path = r->bytes[B_PATH],
                        .length = v[L_LENGTH],
                        .spec_id = (int32_t)v[L_SPEC],
                        .content = v[L_CONTENT] == 1 ? BL_MANIFEST_DELETES : BL_MANIFEST_DATA,
                        .sequence_number = or_zero(v[L_SEQUENCE]),
                        .min_sequence_number = or_zero(v[L_MIN_SEQUENCE]),
                        .added_snapshot_id = v[L_SNAPSHOT],
                        .added_files = v[L_ADDED_FILES],
                        .existing_files = v[L_EXISTING_FILES],
                        .deleted_files = v[L_DELETED_FILES],
                        .added_rows = v[L_ADDED_ROWS],
                        .existing_rows = v[L_EXISTING_ROWS],
                        .deleted_rows = v[L_DELETED_ROWS],
                        .key_metadata = r->bytes[B_KEY]};
  if (v[L_SPEC] > INT32_MAX) return bl_fail(err, BL_DAMAGED, "partition_spec_id %lld", (long long)v[L_SPEC]);
  if (or_zero(v[L_CONTENT]) > 1) return bl_fail(err, BL_DAMAGED, "unknown content %lld", (long long)v[L_CONTENT]);
  set_first_row_id(r, &m);
  BL_TRY(keep(r->arena, &m.path, err));
  BL_TRY(keep(r->arena, &m.key_metadata, err));
  BL_TRY(take_summaries(r, &m, err));
  BL_TRY(bl_grow(r->ctx, &r->out, &r->cap, r->n, sizeof *r->out, err));
  r->out[r->n++] = m;
  if ((int64_t)(r->cap * sizeof *r->out) > r->ctx->o.max_metadata_bytes)
    return bl_fail(err, BL_DAMAGED, "more manifests than the limit of the context holds");
  return BL_OK;
}

static bl_status read_block(list_reader *r, bl_avro_cursor *c, int64_t records, bl_error *err) {
  bl_avro_row row = {.longs = r->longs, .bytes = r->bytes, .special = read_summaries, .user = r};
  for (int64_t i = 0; i < records; i++) {
    for (int k = 0; k < L_LONGS; k++) r->longs[k] = BL_NONE;
    for (int k = 0; k < B_BYTES; k++) r->bytes[k] = BL_STR_NONE;
    r->n_sums = 0;
    r->has_sums = false;
    bl_status st = bl_avro_plan_run(&r->plan, c, &row, err);
    if (st == BL_OK) st = take_manifest(r, err);
    if (st != BL_OK) return bl_fail_in(err, st, "manifest list: entry %zu", r->n);
  }
  if (c->p != c->end) return bl_avro_fail(c, err, "manifest list: the block has bytes after its last record");
  return BL_OK;
}

static bl_status hand_over(list_reader *r, bl_manifest_file **out, size_t *n_out, bl_error *err) {
  *out = bl_arena_alloc(r->arena, r->n, sizeof **out);
  if (!*out) return bl_nomem(err);
  if (r->n) memcpy(*out, r->out, r->n * sizeof **out);
  *n_out = r->n;
  return BL_OK;
}

bl_status bl_manifest_list_read(bl_ctx *ctx, bl_arena *a, const void *p, size_t n, int table_version,
                                bl_manifest_file **out, size_t *n_out, bl_error *err) {
  list_reader r = {.ctx = ctx, .arena = a, .table_version = table_version};
  bl_avro_reader *file = NULL;
  bl_arena *scratch = NULL;
  bl_status st;
  *out = NULL;
  *n_out = 0;
  BL_GO(bl_avro_open(ctx, p, n, &file, err));
  BL_GO(bl_arena_new(ctx, &scratch, err));
  const bl_avro_schema *record = bl_avro_header(file)->schema;
  BL_GO(bl_avro_plan_make(scratch, record, list_rules, BL_LEN(list_rules), &r.plan, err));
  BL_GO(plan_summaries(&r, scratch, record, err));
  for (;;) {
    const uint8_t *raw;
    size_t n_raw;
    int64_t records;
    bl_avro_cursor c;
    BL_GO(bl_avro_next_block(file, &raw, &n_raw, &records, err));
    if (!records) break;
    bl_avro_block_cursor(file, &c);
    BL_GO(read_block(&r, &c, records, err));
  }
  BL_GO(hand_over(&r, out, n_out, err));
done:
  bl_free(ctx, r.out);
  bl_free(ctx, r.sums);
  bl_arena_free(scratch);
  bl_avro_close(file);
  return st;
}

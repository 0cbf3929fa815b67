/* staged_json.c: a staged change as a document, for commits in another process (docs/formats/staged-json.md).
 *
 *   {"bergline-staged":1, "id":…, "table-uuid":…, "operation":…, "branch":…, "batch-id":…, "wap-id":…,
 *    "base-snapshot-id":…, "isolation":…, "reads-rows":…, "new-paths":…, "replaces-partitions":…, "keeps-rows":…,
 *    "even-if-empty":…, "keeps-sequence-numbers":…, "after-position":…, "where":…, "schema-id":…,
 *    "partition-type":…,
 *    "data":[entry with "metrics", "sort-order-id"], "removed":[entry],
 *    "vectors":[{"data":entry, "positions":base64, "moved":base64}], "kept":[{"data":entry, "positions":base64}],
 *    "counts":{…}, "summary":{…}, "files":[…]}
 *
 * Entries are those of scan/task_json.h, without row ids: nothing needs them (W1). Positions are the blob of a deletion
 * vector. */
#include "base/text.h"
#include "format/metadata_json.h"
#include "scan/task_json.h"
#include "write/attempt.h"
#include "write/paths.h"
#include "write/staged.h"

enum { DESCRIPTOR_VERSION = 1 };

/* ---- writing ---- */

typedef struct printer {
  bl_arena *a;
  const bl_metadata *md;
  bl_error *err;
} printer;

static bl_status set(printer *p, bl_json *obj, const char *key, bl_json *v) {
  return obj && v && bl_json_set(p->a, obj, key, v) ? BL_OK : bl_nomem(p->err);
}

static bl_status push(printer *p, bl_json *list, bl_json *v) {
  return list && v && bl_json_push(list, v) ? BL_OK : bl_nomem(p->err);
}

static bl_json *base64(bl_arena *a, const void *bytes, size_t n) {
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_print_base64(&b, bytes, n);
  bl_json *v = b.failed ? NULL : bl_json_new_str(a, (bl_str){b.n ? (const char *)b.p : "", b.n});
  bl_buf_free(&b);
  return v;
}

static bl_status set_number(printer *p, bl_json *obj, const char *key, int64_t v) {
  return v == BL_NONE ? BL_OK : set(p, obj, key, bl_json_new_i64(p->a, v));
}

static bl_status metric_json(printer *p, const bl_column_metrics *m, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_OBJECT);
  BL_TRY(set_number(p, *out, "id", m->id));
  BL_TRY(set_number(p, *out, "size", m->size));
  BL_TRY(set_number(p, *out, "values", m->values));
  BL_TRY(set_number(p, *out, "nulls", m->nulls));
  BL_TRY(set_number(p, *out, "nans", m->nans));
  if (m->lower.p) BL_TRY(set(p, *out, "lower", base64(p->a, m->lower.p, m->lower.n)));
  if (m->upper.p) BL_TRY(set(p, *out, "upper", base64(p->a, m->upper.p, m->upper.n)));
  return *out ? BL_OK : bl_nomem(p->err);
}

/* An entry with what task_json.h leaves out. */
static bl_status entry_json(printer *p, const bl_manifest_entry *e, bl_json **out) {
  bl_json *metrics = bl_json_new(p->a, BL_J_ARRAY);
  bl_manifest_entry plain = *e;
  plain.file.first_row_id = BL_NONE;
  *out = bl_entry_to_json(p->a, p->md, &plain);
  for (size_t i = 0; i < e->file.n_metrics; i++) {
    bl_json *m;
    BL_TRY(metric_json(p, &e->file.metrics[i], &m));
    BL_TRY(push(p, metrics, m));
  }
  BL_TRY(set(p, *out, "metrics", metrics));
  return e->file.sort_order_id < 0 ? BL_OK : set_number(p, *out, "sort-order-id", e->file.sort_order_id);
}

static bl_status data_json(printer *p, const bl_staged *s, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_ARRAY);
  for (size_t i = 0; i < s->n_data; i++) {
    bl_json *v;
    bl_manifest_entry e = {.status = BL_ADDED,
                           .snapshot_id = BL_NONE,
                           .sequence_number = s->data_sequence ? s->data_sequence[i] : 0,
                           .file_sequence_number = BL_NONE,
                           .file = s->data[i]};
    BL_TRY(entry_json(p, &e, &v));
    BL_TRY(push(p, *out, v));
  }
  return *out ? BL_OK : bl_nomem(p->err);
}

static bl_status removed_json(printer *p, const bl_staged *s, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_ARRAY);
  for (size_t i = 0; i < s->n_removed; i++) {
    bl_json *v;
    BL_TRY(entry_json(p, s->removed[i], &v));
    BL_TRY(push(p, *out, v));
  }
  return *out ? BL_OK : bl_nomem(p->err);
}

static bl_status positions_json(printer *p, const bl_posset *set_of, bl_json **out) {
  bl_buf b;
  bl_buf_init(&b, bl_arena_ctx(p->a), BL_BUF_MAX);
  bl_status st = bl_dv_encode(set_of, &b, p->err);
  if (st == BL_OK) st = bl_buf_ok(&b, p->err);
  *out = st == BL_OK ? base64(p->a, b.p, b.n) : NULL;
  bl_buf_free(&b);
  return st == BL_OK && !*out ? bl_nomem(p->err) : st;
}

static bl_status vectors_json(printer *p, const bl_staged *s, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_ARRAY);
  for (size_t i = 0; i < s->n_vectors; i++) {
    bl_json *v = bl_json_new(p->a, BL_J_OBJECT), *part;
    BL_TRY(entry_json(p, s->vectors[i].data, &part));
    BL_TRY(set(p, v, "data", part));
    BL_TRY(positions_json(p, s->vectors[i].added, &part));
    BL_TRY(set(p, v, "positions", part));
    if (s->vectors[i].moved) {
      BL_TRY(positions_json(p, s->vectors[i].moved, &part));
      BL_TRY(set(p, v, "moved", part));
    }
    BL_TRY(push(p, *out, v));
  }
  return *out ? BL_OK : bl_nomem(p->err);
}

static bl_status kept_json(printer *p, const bl_staged *s, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_ARRAY);
  for (size_t i = 0; i < s->n_kept; i++) {
    bl_json *v = bl_json_new(p->a, BL_J_OBJECT), *part;
    BL_TRY(entry_json(p, s->kept[i].data, &part));
    BL_TRY(set(p, v, "data", part));
    BL_TRY(positions_json(p, s->kept[i].rows, &part));
    BL_TRY(set(p, v, "positions", part));
    BL_TRY(push(p, *out, v));
  }
  return *out ? BL_OK : bl_nomem(p->err);
}

static bl_status counts_json(printer *p, const bl_staged_counts *n, bl_json **out) {
  *out = bl_json_new(p->a, BL_J_OBJECT);
  BL_TRY(set_number(p, *out, "rows-inserted", n->rows_inserted));
  BL_TRY(set_number(p, *out, "rows-updated", n->rows_updated));
  BL_TRY(set_number(p, *out, "rows-deleted", n->rows_deleted));
  return set_number(p, *out, "rows-unchanged", n->rows_unchanged);
}

static void add_part(const bl_field *f, bl_type *parts) {
  for (size_t i = 0; f && i < parts->n_fields; i++)
    if (parts->fields[i].id == -f->id) return;
  if (f && f->id < 0) parts->fields[parts->n_fields++] = (bl_field){.id = -f->id, .name = f->name, .type = f->type};
}

/* The parts of _partition that a filter names. */
static void add_parts(const bl_expr *e, bl_type *parts) {
  for (size_t i = 0; i < e->n_args; i++) add_parts(e->args[i], parts);
  add_part(e->field, parts);
  add_part(e->field2, parts);
}

/* A struct of those partition fields: names may be given anew, ids may not. */
static bl_status parts_json(printer *p, const bl_expr *filter, bl_json *doc) {
  bl_schema s = {.root = {.kind = BL_STRUCT}};
  s.root.fields = bl_arena_alloc(p->a, bl_expr_fields(filter, NULL, 0), sizeof *s.root.fields);
  if (!s.root.fields) return bl_nomem(p->err);
  add_parts(filter, &s.root);
  return s.root.n_fields ? set(p, doc, "partition-type", bl_schema_to_json(p->a, &s)) : BL_OK;
}

static bl_status filter_json(printer *p, const bl_staged *s, bl_json *doc) {
  bl_buf b;
  if (!s->conflict_filter) return BL_OK;
  bl_buf_init(&b, bl_arena_ctx(p->a), BL_BUF_MAX);
  bl_expr_print(&b, s->conflict_filter);
  bl_json *text = b.failed ? NULL : bl_json_new_str(p->a, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  BL_TRY(set(p, doc, "where", text));
  BL_TRY(set_number(p, doc, "schema-id", s->conflict_schema->id));
  return parts_json(p, s->conflict_filter, doc);
}

static bl_status rest_json(printer *p, const bl_staged *s, bl_json *doc) {
  bl_json *summary = bl_json_new(p->a, BL_J_OBJECT), *files = bl_json_new(p->a, BL_J_ARRAY);
  for (size_t i = 0; i < s->summary.n; i++)
    BL_TRY(set(p, summary, s->summary.items[i].key.p, bl_json_new_str(p->a, s->summary.items[i].value)));
  for (size_t i = 0; i < s->n_files; i++) BL_TRY(push(p, files, bl_json_new_str(p->a, s->files[i])));
  BL_TRY(set(p, doc, "summary", summary));
  return set(p, doc, "files", files);
}

static bl_status set_text(printer *p, bl_json *doc, const char *key, bl_str v) {
  return v.p ? set(p, doc, key, bl_json_new_str(p->a, v)) : BL_OK;
}

/* What its commit is told, and what it needs to know of the table's history. */
static bl_status commit_json(printer *p, const bl_staged *s, bl_json *doc) {
  BL_TRY(set_text(p, doc, "branch", s->branch));
  BL_TRY(set_text(p, doc, "batch-id", s->batch_id));
  BL_TRY(set_text(p, doc, "wap-id", s->wap_id));
  if (!s->heeds_position) return BL_OK;
  if (s->on_position.p) return set_text(p, doc, "after-position", s->on_position);
  return set(p, doc, "after-position", bl_json_new(p->a, BL_J_NULL));
}

static bl_status flags_json(printer *p, const bl_staged *s, bl_json *doc) {
  const struct {
    const char *key;
    bool v;
  } flags[] = {{"reads-rows", s->reads_rows},
               {"new-paths", s->new_paths},
               {"replaces-partitions", s->replaces_partitions},
               {"keeps-rows", s->keeps_rows},
               {"even-if-empty", s->even_if_empty},
               {"keeps-sequence-numbers", s->data_sequence != NULL}};
  for (size_t i = 0; i < BL_LEN(flags); i++) BL_TRY(set(p, doc, flags[i].key, bl_json_new_bool(p->a, flags[i].v)));
  return BL_OK;
}

static bl_status head_json(printer *p, const bl_staged *s, bl_json *doc) {
  bl_str level = s->isolation == BL_SNAPSHOT ? BL_STR("snapshot") : BL_STR("serializable");
  bl_uuid_text fresh = bl_new_uuid(s->ctx);
  BL_TRY(set_number(p, doc, "bergline-staged", DESCRIPTOR_VERSION));
  BL_TRY(set(p, doc, "id", bl_json_new_str(p->a, s->n_ids == 1 ? s->ids[0] : bl_str_of(fresh.s))));
  BL_TRY(set_text(p, doc, "table-uuid", p->md->uuid));
  BL_TRY(set(p, doc, "operation", bl_json_new_str(p->a, s->operation)));
  BL_TRY(set_number(p, doc, "base-snapshot-id", s->base_snapshot_id));
  BL_TRY(set(p, doc, "isolation", bl_json_new_str(p->a, level)));
  BL_TRY(commit_json(p, s, doc));
  return flags_json(p, s, doc);
}

static bl_status document(printer *p, const bl_staged *s, bl_json **out) {
  bl_json *part;
  *out = bl_json_new(p->a, BL_J_OBJECT);
  BL_TRY(head_json(p, s, *out));
  BL_TRY(filter_json(p, s, *out));
  BL_TRY(data_json(p, s, &part));
  BL_TRY(set(p, *out, "data", part));
  BL_TRY(removed_json(p, s, &part));
  BL_TRY(set(p, *out, "removed", part));
  BL_TRY(vectors_json(p, s, &part));
  BL_TRY(set(p, *out, "vectors", part));
  BL_TRY(kept_json(p, s, &part));
  BL_TRY(set(p, *out, "kept", part));
  BL_TRY(counts_json(p, &s->counts, &part));
  BL_TRY(set(p, *out, "counts", part));
  return rest_json(p, s, *out);
}

bl_status bl_staged_to_json(const bl_staged *s, const bl_table *t, bl_buf *out, bl_error *err) {
  printer p = {.md = t->metadata, .err = err};
  bl_json *doc;
  BL_TRY(bl_arena_new(s->ctx, &p.a, err));
  bl_status st = document(&p, s, &doc);
  if (st == BL_OK) {
    bl_json_print(out, doc, false);
    st = bl_buf_ok(out, err);
  }
  bl_arena_free(p.a);
  return st;
}

/* ---- reading ---- */

typedef struct reader {
  bl_staged *s;
  const bl_metadata *md;
  const bl_json *doc;
  bl_error *err;
} reader;

static bl_status get_bytes(reader *r, const bl_json *obj, const char *key, bl_str *out) {
  bl_str text;
  bl_buf b;
  *out = BL_STR_NONE;
  BL_TRY(bl_json_opt_str(obj, key, &text, r->err));
  if (!text.p) return BL_OK;
  bl_buf_init(&b, r->s->ctx, BL_BUF_MAX);
  bool good = bl_parse_base64(text, &b);
  bl_status st = bl_buf_ok(&b, r->err);
  if (st == BL_OK && !good) st = bl_json_fail(r->err, BL_USAGE, bl_json_get(obj, key), "this is no base64");
  if (st == BL_OK) {
    *out = bl_arena_str(r->s->arena, (bl_str){b.n ? (const char *)b.p : "", b.n});
    if (!out->p) st = bl_nomem(r->err);
  }
  bl_buf_free(&b);
  return st;
}

static bl_status get_count(reader *r, const bl_json *obj, const char *key, int64_t *out) {
  bool found;
  *out = BL_NONE;
  BL_TRY(bl_json_opt_i64(obj, key, &found, out, r->err));
  if (found && *out < 0) return bl_json_fail(r->err, BL_USAGE, bl_json_get(obj, key), "is negative");
  return BL_OK;
}

static bl_status read_metric(reader *r, const bl_json *v, bl_column_metrics *m) {
  BL_TRY(bl_json_get_i32(v, "id", &m->id, r->err));
  BL_TRY(get_count(r, v, "size", &m->size));
  BL_TRY(get_count(r, v, "values", &m->values));
  BL_TRY(get_count(r, v, "nulls", &m->nulls));
  BL_TRY(get_count(r, v, "nans", &m->nans));
  BL_TRY(get_bytes(r, v, "lower", &m->lower));
  return get_bytes(r, v, "upper", &m->upper);
}

static bl_status read_entry(reader *r, const bl_json *v, bl_manifest_entry *out) {
  const bl_json *metrics;
  bool found;
  BL_TRY(bl_entry_from_json(r->s->arena, r->md, v, out, r->err));
  BL_TRY(bl_json_opt_i32(v, "sort-order-id", &found, &out->file.sort_order_id, r->err));
  BL_TRY(bl_json_member_opt(v, "metrics", BL_J_ARRAY, &metrics, r->err));
  size_t n = metrics ? metrics->n : 0;
  out->file.metrics = bl_arena_calloc(r->s->arena, n, sizeof *out->file.metrics);
  if (!out->file.metrics) return bl_nomem(r->err);
  for (const bl_json *m = metrics ? metrics->first : NULL; m; m = m->next) {
    size_t i = out->file.n_metrics++;
    BL_TRY(read_metric(r, m, &out->file.metrics[i]));
    if (i && out->file.metrics[i].id <= out->file.metrics[i - 1].id)
      return bl_json_fail(r->err, BL_USAGE, m, "metrics are not in the order of their ids");
  }
  return BL_OK;
}

static bl_status read_data(reader *r) {
  const bl_json *list;
  bool keeps;
  BL_TRY(bl_json_member(r->doc, "data", BL_J_ARRAY, &list, r->err));
  BL_TRY(bl_json_get_bool(r->doc, "keeps-sequence-numbers", &keeps, r->err));
  if (keeps && !(r->s->data_sequence = bl_arena_alloc(r->s->arena, list->n, sizeof *r->s->data_sequence)))
    return bl_nomem(r->err);
  for (const bl_json *v = list->first; v; v = v->next) {
    bl_manifest_entry e;
    BL_TRY(read_entry(r, v, &e));
    if (e.file.content != BL_FILE_DATA) return bl_json_fail(r->err, BL_USAGE, v, "this is no data file");
    if (keeps && (e.sequence_number < 0 || e.sequence_number > r->md->last_sequence_number))
      return bl_json_fail(r->err, BL_USAGE, bl_json_get(v, "data-sequence-number"), "the table has no such number yet");
    if (keeps) r->s->data_sequence[r->s->n_data] = e.sequence_number;
    BL_TRY(bl_staged_add_data(r->s, &e.file, r->err));
  }
  return BL_OK;
}

static bl_status read_removed(reader *r) {
  const bl_json *list;
  BL_TRY(bl_json_member(r->doc, "removed", BL_J_ARRAY, &list, r->err));
  for (const bl_json *v = list->first; v; v = v->next) {
    bl_manifest_entry e;
    BL_TRY(read_entry(r, v, &e));
    if (e.file.content != BL_FILE_DATA) return bl_json_fail(r->err, BL_USAGE, v, "this is no data file");
    BL_TRY(bl_staged_remove(r->s, &e, r->err));
  }
  return BL_OK;
}

static bl_status read_positions(reader *r, const bl_json *v, const char *key, bl_posset **out) {
  bl_str bytes;
  *out = NULL;
  BL_TRY(get_bytes(r, v, key, &bytes));
  if (!bytes.p) return BL_OK;
  bl_status st = bl_dv_decode(r->s->ctx, bytes.p, bytes.n, -1, out, r->err);
  return st == BL_OK ? BL_OK : bl_json_fail_in(r->err, st, bl_json_get(v, key));
}

/* Positions are rows of the file, and those that moved are among them. */
static bl_status check_positions(reader *r, const bl_json *v, const bl_data_file *f, const bl_posset *added,
                                 const bl_posset *moved) {
  bl_posset *others = NULL;
  if (f->content != BL_FILE_DATA) return bl_json_fail(r->err, BL_USAGE, bl_json_get(v, "data"), "this is no data file");
  if (bl_posset_max(added) >= f->record_count)
    return bl_json_fail(r->err, BL_USAGE, bl_json_get(v, "positions"), "row %lld: the file has %lld",
                        (long long)bl_posset_max(added), (long long)f->record_count);
  if (!moved) return BL_OK;
  bl_status st = bl_posset_copy(r->s->ctx, moved, &others, r->err);
  if (st == BL_OK) st = bl_posset_andnot(others, added, r->err);
  if (st == BL_OK && bl_posset_count(others))
    st = bl_json_fail(r->err, BL_USAGE, bl_json_get(v, "moved"), "it has rows that are not among the positions");
  bl_posset_free(others);
  return st;
}

static bl_status read_vector(reader *r, const bl_json *v) {
  const bl_json *data;
  bl_manifest_entry e;
  bl_posset *added = NULL, *moved = NULL;
  bl_status st;
  BL_GO(bl_json_member(v, "data", BL_J_OBJECT, &data, r->err));
  BL_GO(read_entry(r, data, &e));
  BL_GO(read_positions(r, v, "positions", &added));
  if (!added) BL_GO(bl_json_fail(r->err, BL_USAGE, v, "positions is missing"));
  BL_GO(read_positions(r, v, "moved", &moved));
  BL_GO(check_positions(r, v, &e.file, added, moved));
  return bl_staged_vector_add(r->s, &e, added, moved, r->err);
done:
  bl_posset_free(added);
  bl_posset_free(moved);
  return st;
}

static bl_status read_kept_file(reader *r, const bl_json *v) {
  const bl_json *data;
  bl_manifest_entry e;
  bl_posset *rows = NULL;
  bl_status st;
  BL_GO(bl_json_member(v, "data", BL_J_OBJECT, &data, r->err));
  BL_GO(read_entry(r, data, &e));
  BL_GO(read_positions(r, v, "positions", &rows));
  if (!rows) BL_GO(bl_json_fail(r->err, BL_USAGE, v, "positions is missing"));
  BL_GO(check_positions(r, v, &e.file, rows, NULL));
  return bl_staged_keep(r->s, &e, rows, r->err);
done:
  bl_posset_free(rows);
  return st;
}

/* An older version has neither of the two. */
static bl_status read_kept(reader *r) {
  const bl_json *kept;
  BL_TRY(bl_json_member_opt(r->doc, "kept", BL_J_ARRAY, &kept, r->err));
  for (const bl_json *v = kept ? kept->first : NULL; v; v = v->next) BL_TRY(read_kept_file(r, v));
  return BL_OK;
}

static bl_status read_rows(reader *r, const bl_json *counts, const char *key, int64_t *out) {
  BL_TRY(get_count(r, counts, key, out));
  if (*out == BL_NONE) *out = 0;
  return BL_OK;
}

static bl_status read_counts(reader *r) {
  bl_staged_counts *n = &r->s->counts;
  const bl_json *counts;
  BL_TRY(bl_json_member_opt(r->doc, "counts", BL_J_OBJECT, &counts, r->err));
  if (!counts) return BL_OK;
  BL_TRY(read_rows(r, counts, "rows-inserted", &n->rows_inserted));
  BL_TRY(read_rows(r, counts, "rows-updated", &n->rows_updated));
  BL_TRY(read_rows(r, counts, "rows-deleted", &n->rows_deleted));
  return read_rows(r, counts, "rows-unchanged", &n->rows_unchanged);
}

/* The table may be gone when the change is used: the filter keeps a copy of its own. */
static bl_status copy_schema(const reader *r, const bl_schema *s, bl_schema **out) {
  bl_schema *own = *out = bl_arena_alloc(r->s->arena, 1, sizeof *own);
  if (!own) return bl_nomem(r->err);
  *own = (bl_schema){.id = s->id, .highest_id = s->highest_id};
  return bl_type_copy(r->s->arena, &s->root, &own->root, r->err);
}

/* Metadata columns, and the parts of _partition that the document says. One of an older version says none: they are
 * those of the table, by the names that they have now. */
static bl_status read_meta(reader *r, const bl_schema **out) {
  const bl_json *type;
  bl_schema parts;
  BL_TRY(bl_json_member_opt(r->doc, "partition-type", BL_J_OBJECT, &type, r->err));
  if (!type) return bl_filter_meta_schema(r->s->arena, r->md, out, r->err);
  BL_TRY(bl_schema_from_json(r->s->arena, type, &parts, r->err));
  for (size_t i = 0; i < parts.root.n_fields; i++) {
    bl_field *f = &parts.root.fields[i];
    if (f->id == 0) return bl_json_fail(r->err, BL_USAGE, type, "%s: a partition field has no id 0", f->name.p);
    if (f->type.kind == BL_STRUCT || f->type.kind == BL_LIST || f->type.kind == BL_MAP)
      return bl_json_fail(r->err, BL_USAGE, type, "%s: a partition field is no %s", f->name.p,
                          bl_kind_name(f->type.kind));
    f->required = false;
  }
  return bl_filter_meta_of_parts(r->s->arena, &parts.root, out, r->err);
}

static bl_status read_filter(reader *r) {
  bl_str where;
  int32_t id;
  bl_expr *parsed, *bound;
  BL_TRY(bl_json_opt_str(r->doc, "where", &where, r->err));
  if (!where.p) return BL_OK;
  BL_TRY(bl_json_get_i32(r->doc, "schema-id", &id, r->err));
  const bl_schema *schema = bl_metadata_schema(r->md, id);
  if (!schema)
    return bl_json_fail(r->err, BL_USAGE, bl_json_get(r->doc, "schema-id"), "the table has no schema %d", (int)id);
  bl_schema *own;
  const bl_schema *meta;
  BL_TRY(copy_schema(r, schema, &own));
  BL_TRY(read_meta(r, &meta));
  bl_status st = bl_expr_parse(r->s->arena, where, &parsed, r->err);
  if (st == BL_OK) st = bl_expr_bind(r->s->arena, parsed, own, meta, &bound, r->err);
  if (st != BL_OK) return bl_json_fail_in(r->err, st, bl_json_get(r->doc, "where"));
  r->s->conflict_filter = bound;
  r->s->conflict_schema = own;
  return BL_OK;
}

static bl_status read_rest(reader *r) {
  const bl_json *summary, *files, *vectors;
  BL_TRY(bl_json_member(r->doc, "vectors", BL_J_ARRAY, &vectors, r->err));
  for (const bl_json *v = vectors->first; v; v = v->next) BL_TRY(read_vector(r, v));
  BL_TRY(bl_json_member(r->doc, "summary", BL_J_OBJECT, &summary, r->err));
  BL_TRY(bl_json_member(r->doc, "files", BL_J_ARRAY, &files, r->err));
  for (const bl_json *v = summary->first; v; v = v->next) {
    bl_str value;
    BL_TRY(bl_json_string(v, &value, r->err));
    if (bl_summary_is_own(v->key) && !bl_str_is(v->key, BL_SOURCE_POSITION))
      return bl_json_fail(r->err, BL_USAGE, v, "the table sets it itself");
    BL_TRY(bl_staged_note(r->s, v->key.p, value, r->err));
  }
  r->s->synced = true; /* before the document was given away */
  for (const bl_json *v = files->first; v; v = v->next) {
    bl_str path;
    BL_TRY(bl_json_string(v, &path, r->err));
    BL_TRY(bl_staged_file_written(r->s, path, r->err));
  }
  return BL_OK;
}

static bl_status read_operation(reader *r) {
  static const char *const known[] = {"append", "overwrite", "delete", "replace"};
  bl_str s;
  BL_TRY(bl_json_get_str(r->doc, "operation", &s, r->err));
  for (size_t i = 0; i < BL_LEN(known); i++)
    if (bl_str_is(s, known[i])) {
      r->s->operation = bl_str_of(known[i]);
      return BL_OK;
    }
  return bl_json_fail(r->err, BL_USAGE, bl_json_get(r->doc, "operation"), "unknown operation");
}

static bl_status read_flags(reader *r) {
  bl_staged *s = r->s;
  BL_TRY(bl_json_get_bool(r->doc, "reads-rows", &s->reads_rows, r->err));
  BL_TRY(bl_json_get_bool(r->doc, "new-paths", &s->new_paths, r->err));
  BL_TRY(bl_json_get_bool(r->doc, "replaces-partitions", &s->replaces_partitions, r->err));
  BL_TRY(bl_json_get_bool(r->doc, "keeps-rows", &s->keeps_rows, r->err));
  return bl_json_get_bool(r->doc, "even-if-empty", &s->even_if_empty, r->err);
}

static bl_status read_isolation(reader *r) {
  bl_str level;
  BL_TRY(bl_json_get_str(r->doc, "isolation", &level, r->err));
  r->s->isolation = bl_str_is(level, "snapshot") ? BL_SNAPSHOT : BL_SERIALIZABLE;
  if (bl_str_is(level, "snapshot") || bl_str_is(level, "serializable")) return BL_OK;
  return bl_json_fail(r->err, BL_USAGE, bl_json_get(r->doc, "isolation"), "unknown isolation");
}

/* A member that is not there is told by the commit's options, or the default. */
static bl_status read_commit(reader *r) {
  const bl_json *position = bl_json_get(r->doc, "after-position");
  bl_str text = BL_STR_NONE;
  BL_TRY(bl_json_opt_str(r->doc, "branch", &r->s->branch, r->err));
  BL_TRY(bl_json_opt_str(r->doc, "batch-id", &r->s->batch_id, r->err));
  BL_TRY(bl_json_opt_str(r->doc, "wap-id", &r->s->wap_id, r->err));
  if (!position) return BL_OK;
  if (position->kind != BL_J_NULL) BL_TRY(bl_json_string(position, &text, r->err));
  return bl_staged_on_position(r->s, text, r->err);
}

/* A word without a comma, as a UUID is. */
static bl_status read_id(reader *r) {
  bl_str id;
  BL_TRY(bl_json_get_str(r->doc, "id", &id, r->err));
  bool good = id.n > 0 && id.n <= 64;
  for (size_t i = 0; i < id.n && good; i++) good = id.p[i] > ' ' && id.p[i] < 127 && id.p[i] != ',';
  if (!good) return bl_json_fail(r->err, BL_USAGE, bl_json_get(r->doc, "id"), "this is no id");
  return bl_staged_add_ids(r->s, id, r->err);
}

static bl_status read_head(reader *r) {
  bl_staged *s = r->s;
  int32_t version;
  bool found;
  bl_str uuid;
  BL_TRY(bl_json_get_i32(r->doc, "bergline-staged", &version, r->err));
  if (version != DESCRIPTOR_VERSION)
    return bl_json_fail(r->err, BL_UNSUPPORTED, r->doc, "version %d of staged changes", (int)version);
  BL_TRY(read_id(r));
  BL_TRY(bl_json_opt_str(r->doc, "table-uuid", &uuid, r->err));
  if (!uuid.p && r->md->uuid.p) return bl_json_fail(r->err, BL_USAGE, r->doc, "table-uuid is missing");
  if (uuid.p && r->md->uuid.p && !bl_str_eq(uuid, r->md->uuid))
    return bl_json_fail(r->err, BL_USAGE, bl_json_get(r->doc, "table-uuid"), "it was staged for another table");
  BL_TRY(read_operation(r));
  BL_TRY(bl_json_opt_i64(r->doc, "base-snapshot-id", &found, &s->base_snapshot_id, r->err));
  BL_TRY(read_isolation(r));
  BL_TRY(read_commit(r));
  return read_flags(r);
}

static bl_status read_document(reader *r, const char *json, size_t n) {
  bl_json *doc;
  BL_TRY(bl_json_parse(r->s->arena, json, n, &doc, r->err));
  r->doc = doc;
  BL_TRY(read_head(r));
  BL_TRY(read_filter(r));
  BL_TRY(read_data(r));
  BL_TRY(read_removed(r));
  BL_TRY(read_kept(r));
  BL_TRY(read_counts(r));
  return read_rest(r);
}

bl_status bl_staged_from_json(bl_table *t, const char *json, size_t n, bl_staged **out, bl_error *err) {
  reader r = {.md = t->metadata, .err = err};
  *out = NULL;
  BL_TRY(bl_staged_new(t->ctx, &r.s, err));
  bl_status st = read_document(&r, json, n);
  if (st == BL_OK) *out = r.s;
  else bl_staged_free(r.s);
  /* A document that is wrong is an argument that is wrong. */
  if (st != BL_DAMAGED) return st;
  if (err) err->status = BL_USAGE;
  return bl_fail_in(err, BL_USAGE, "wrong description of a staged change");
}

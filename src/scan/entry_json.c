/* entry_json.c: entries of task_json.h. Names are those of the specification's manifest fields, with dashes. */
#include "scan/task_json.h"
#include "scan/typed_specs.h"

static const char *const contents[] = {"data", "position-deletes", "equality-deletes"};
static const char *const formats[] = {"parquet", "avro", "orc", "puffin"};

/* Members that were added so far, or false for good. */
typedef struct maker {
  bl_arena *a;
  bl_json *obj;
  bool ok;
} maker;

static void put(maker *m, const char *key, bl_json *v) {
  m->ok = m->ok && bl_json_set(m->a, m->obj, key, v);
}

static void put_long(maker *m, const char *key, int64_t v) {
  if (v != BL_NONE) put(m, key, bl_json_new_i64(m->a, v));
}

static void put_text(maker *m, const char *key, bl_str s) {
  if (s.p) put(m, key, bl_json_new_str(m->a, s));
}

/* Of an encrypted file: it is refused when it is read. */
static void put_key(maker *m, bl_str key) {
  bl_buf b;
  if (!key.p) return;
  bl_buf_init(&b, bl_arena_ctx(m->a), 1 << 20);
  bl_print_base64(&b, key.p, key.n);
  bl_str text = b.failed ? BL_STR_NONE : bl_arena_str(m->a, (bl_str){b.p ? (const char *)b.p : "", b.n});
  bl_buf_free(&b);
  m->ok = m->ok && text.p;
  put_text(m, "key-metadata", text);
}

static void put_partition(maker *m, const bl_metadata *md, const bl_data_file *f) {
  bl_typed_specs specs;
  bl_json *array = bl_json_new(m->a, BL_J_ARRAY);
  m->ok = m->ok && array && bl_typed_specs_make(m->a, md, &specs, NULL) == BL_OK;
  const bl_typed_spec *s = m->ok ? bl_typed_specs_get(&specs, f->spec_id) : NULL;
  for (size_t i = 0; m->ok && s && i < f->n_partition && i < s->spec->n_fields; i++) {
    const bl_value *v = &f->partition[i];
    bool told = !v->null && s->types[i].kind != BL_KIND_UNKNOWN;
    bl_json *j = told ? bl_value_to_json(m->a, &s->types[i], v) : bl_json_new(m->a, BL_J_NULL);
    m->ok = j && bl_json_push(array, j);
  }
  put(m, "partition", array);
}

static void put_numbers(maker *m, const char *key, const int64_t *v64, const int32_t *v32, size_t n) {
  if (n == 0) return;
  bl_json *array = bl_json_new(m->a, BL_J_ARRAY);
  for (size_t i = 0; m->ok && i < n; i++) {
    bl_json *j = bl_json_new_i64(m->a, v64 ? v64[i] : v32[i]);
    m->ok = array && j && bl_json_push(array, j);
  }
  put(m, key, array);
}

bl_json *bl_entry_to_json(bl_arena *a, const bl_metadata *md, const bl_manifest_entry *e) {
  const bl_data_file *f = &e->file;
  maker m = {a, bl_json_new(a, BL_J_OBJECT), true};
  if (!m.obj) return NULL;
  put_text(&m, "content", bl_str_of(contents[f->content]));
  put_text(&m, "file-path", f->path);
  put_text(&m, "file-format", bl_str_of(formats[f->format]));
  put_long(&m, "spec-id", f->spec_id);
  put_partition(&m, md, f);
  put_long(&m, "record-count", f->record_count);
  put_long(&m, "file-size-in-bytes", f->file_size);
  put_long(&m, "snapshot-id", e->snapshot_id);
  put_long(&m, "data-sequence-number", e->sequence_number);
  put_long(&m, "file-sequence-number", e->file_sequence_number);
  put_long(&m, "first-row-id", f->first_row_id);
  put_key(&m, f->key_metadata);
  put_numbers(&m, "split-offsets", f->split_offsets, NULL, f->n_split_offsets);
  put_numbers(&m, "equality-ids", NULL, f->equality_ids, f->n_equality_ids);
  put_text(&m, "referenced-data-file", f->referenced_data_file);
  put_long(&m, "content-offset", f->content_offset);
  put_long(&m, "content-size-in-bytes", f->content_size);
  return m.ok ? m.obj : NULL;
}

/* ---- reading ---- */

static bl_status one_of(const bl_json *obj, const char *key, const char *const *words, size_t n, int *out,
                        bl_error *err) {
  bl_str s;
  BL_TRY(bl_json_get_str(obj, key, &s, err));
  for (size_t i = 0; i < n; i++)
    if (bl_str_is(s, words[i])) {
      *out = (int)i;
      return BL_OK;
    }
  return bl_json_fail(err, BL_USAGE, bl_json_get(obj, key), "unknown %s \"%.*s\"", key, BL_STR_ARG(s));
}

static bl_status optional_long(const bl_json *obj, const char *key, int64_t *out, bl_error *err) {
  bool found;
  BL_TRY(bl_json_opt_i64(obj, key, &found, out, err));
  if (!found) *out = BL_NONE;
  return BL_OK;
}

static bl_status read_partition(bl_arena *a, const bl_metadata *md, const bl_json *obj, bl_data_file *f,
                                bl_error *err) {
  const bl_json *array;
  bl_typed_specs specs;
  BL_TRY(bl_json_member(obj, "partition", BL_J_ARRAY, &array, err));
  BL_TRY(bl_typed_specs_make(a, md, &specs, err));
  const bl_typed_spec *s = bl_typed_specs_get(&specs, f->spec_id);
  if (array->n != (s ? s->spec->n_fields : 0))
    return bl_json_fail(err, BL_USAGE, array, "does not fit the partition spec");
  f->n_partition = array->n;
  f->partition = bl_arena_calloc(a, array->n + 1, sizeof *f->partition);
  if (!f->partition) return bl_nomem(err);
  size_t i = 0;
  for (const bl_json *v = array->first; v; v = v->next, i++) {
    f->partition[i] = (bl_value){.kind = s->types[i].kind, .null = true};
    if (v->kind != BL_J_NULL) BL_TRY(bl_value_from_json(a, &s->types[i], v, &f->partition[i], err));
  }
  return BL_OK;
}

static bl_status read_ids(bl_arena *a, const bl_json *obj, bl_data_file *f, bl_error *err) {
  const bl_json *ids, *splits;
  size_t i = 0;
  BL_TRY(bl_json_member_opt(obj, "equality-ids", BL_J_ARRAY, &ids, err));
  BL_TRY(bl_json_member_opt(obj, "split-offsets", BL_J_ARRAY, &splits, err));
  f->n_equality_ids = ids ? ids->n : 0;
  f->n_split_offsets = splits ? splits->n : 0;
  f->equality_ids = bl_arena_calloc(a, f->n_equality_ids + 1, sizeof *f->equality_ids);
  f->split_offsets = bl_arena_calloc(a, f->n_split_offsets + 1, sizeof *f->split_offsets);
  if (!f->equality_ids || !f->split_offsets) return bl_nomem(err);
  for (const bl_json *v = ids ? ids->first : NULL; v; v = v->next) BL_TRY(bl_json_i32(v, &f->equality_ids[i++], err));
  i = 0;
  for (const bl_json *v = splits ? splits->first : NULL; v; v = v->next)
    BL_TRY(bl_json_i64(v, &f->split_offsets[i++], err));
  return BL_OK;
}

bl_status bl_entry_from_json(bl_arena *a, const bl_metadata *md, const bl_json *v, bl_manifest_entry *out,
                             bl_error *err) {
  bl_data_file *f = &out->file;
  int content = 0, format = 0;
  *out = (bl_manifest_entry){.status = BL_EXISTING};
  BL_TRY(one_of(v, "content", contents, BL_LEN(contents), &content, err));
  BL_TRY(one_of(v, "file-format", formats, BL_LEN(formats), &format, err));
  f->content = (bl_file_content)content;
  f->format = (bl_file_format)format;
  f->sort_order_id = -1;
  BL_TRY(bl_json_get_str(v, "file-path", &f->path, err));
  BL_TRY(bl_json_get_i32(v, "spec-id", &f->spec_id, err));
  BL_TRY(read_partition(a, md, v, f, err));
  BL_TRY(bl_json_get_i64(v, "record-count", &f->record_count, err));
  BL_TRY(bl_json_get_i64(v, "file-size-in-bytes", &f->file_size, err));
  BL_TRY(bl_json_get_i64(v, "data-sequence-number", &out->sequence_number, err));
  BL_TRY(optional_long(v, "file-sequence-number", &out->file_sequence_number, err));
  BL_TRY(optional_long(v, "snapshot-id", &out->snapshot_id, err));
  BL_TRY(optional_long(v, "first-row-id", &f->first_row_id, err));
  out->stored_first_row_id = f->first_row_id;
  BL_TRY(bl_json_opt_str(v, "key-metadata", &f->key_metadata, err));
  BL_TRY(bl_json_opt_str(v, "referenced-data-file", &f->referenced_data_file, err));
  BL_TRY(optional_long(v, "content-offset", &f->content_offset, err));
  BL_TRY(optional_long(v, "content-size-in-bytes", &f->content_size, err));
  if (f->record_count < 0) return bl_json_fail(err, BL_USAGE, bl_json_get(v, "record-count"), "is negative");
  return read_ids(a, v, f, err);
}

/* ---- deletes ---- */

static bool push_entry(bl_arena *a, const bl_metadata *md, bl_json *array, const bl_manifest_entry *e) {
  bl_json *j = bl_entry_to_json(a, md, e);
  return j && bl_json_push(array, j);
}

bl_json *bl_deletes_to_json(bl_arena *a, const bl_metadata *md, const bl_file_deletes *d) {
  bl_json *array = bl_json_new(a, BL_J_ARRAY);
  bool ok = array != NULL;
  if (ok && d->vector) ok = push_entry(a, md, array, d->vector);
  for (size_t i = 0; ok && i < d->n_position; i++) ok = push_entry(a, md, array, d->position[i]);
  for (size_t i = 0; ok && i < d->n_equality; i++) ok = push_entry(a, md, array, d->equality[i]);
  return ok ? array : NULL;
}

bl_status bl_deletes_from_json(bl_arena *a, const bl_metadata *md, const bl_json *array, bl_file_deletes *out,
                               bl_error *err) {
  *out = (bl_file_deletes){0};
  const bl_manifest_entry **position = bl_arena_calloc(a, array->n + 1, sizeof *position);
  const bl_manifest_entry **equality = bl_arena_calloc(a, array->n + 1, sizeof *equality);
  if (!position || !equality) return bl_nomem(err);
  for (const bl_json *v = array->first; v; v = v->next) {
    bl_manifest_entry *e = bl_arena_calloc(a, 1, sizeof *e);
    if (!e) return bl_nomem(err);
    BL_TRY(bl_entry_from_json(a, md, v, e, err));
    if (e->file.content == BL_FILE_EQUALITY_DELETES) equality[out->n_equality++] = e;
    else if (e->file.format == BL_FORMAT_PUFFIN) out->vector = e;
    else if (e->file.content == BL_FILE_POSITION_DELETES) position[out->n_position++] = e;
    else return bl_json_fail(err, BL_USAGE, v, "a data file among the deletes");
  }
  out->position = position;
  out->equality = equality;
  return BL_OK;
}

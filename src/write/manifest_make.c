/* manifest_make.c: manifests that a commit writes: bytes, counts and partition summaries. */
#include "write/attempt.h"

enum { MOST_ENTRIES = 10000 };

/* ---- partition summaries ---- */

typedef struct summing {
  const bl_partition_spec *spec;
  bl_type *types;
  bl_value *lower, *upper; /* kind BL_KIND_UNKNOWN: none yet */
  bl_field_summary *out;
} summing;

static bl_status summing_init(summing *s, bl_arena *a, const bl_metadata *md, const bl_partition_spec *spec,
                              bl_error *err) {
  size_t n = spec->n_fields;
  const bl_schema **others = bl_arena_alloc(a, md->n_schemas, sizeof *others);
  *s = (summing){.spec = spec,
                 .types = bl_arena_calloc(a, n, sizeof *s->types),
                 .lower = bl_arena_calloc(a, n, sizeof *s->lower),
                 .upper = bl_arena_calloc(a, n, sizeof *s->upper),
                 .out = bl_arena_calloc(a, n, sizeof *s->out)};
  if (!others || !s->types || !s->lower || !s->upper || !s->out) return bl_nomem(err);
  for (size_t i = 0; i < md->n_schemas; i++) others[i] = &md->schemas[md->n_schemas - 1 - i];
  bl_spec_types(spec, bl_metadata_current_schema(md), others, md->n_schemas, s->types);
  for (size_t i = 0; i < n; i++) {
    s->lower[i].kind = s->upper[i].kind = BL_KIND_UNKNOWN;
    s->out[i].has_nan = s->types[i].kind != BL_KIND_UNKNOWN;
  }
  return BL_OK;
}

static void sum_value(summing *s, size_t i, const bl_value *v) {
  if (v->null) s->out[i].contains_null = true;
  else if (bl_value_is_nan(v)) s->out[i].contains_nan = true;
  else {
    bool first = s->lower[i].kind == BL_KIND_UNKNOWN;
    if (first || bl_value_cmp(v, &s->lower[i]) < 0) s->lower[i] = *v;
    if (first || bl_value_cmp(v, &s->upper[i]) > 0) s->upper[i] = *v;
  }
}

static bl_status bound(bl_arena *a, const bl_type *t, const bl_value *v, bl_str *out, bl_error *err) {
  bl_buf b;
  *out = BL_STR_NONE;
  if (v->kind == BL_KIND_UNKNOWN || t->kind == BL_KIND_UNKNOWN) return BL_OK;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  bl_status st = bl_value_to_bytes(t, v, &b, err);
  if (st == BL_OK) st = bl_buf_ok(&b, err);
  if (st == BL_OK) {
    *out = bl_arena_str(a, (bl_str){b.n ? (const char *)b.p : "", b.n});
    if (!out->p) st = bl_nomem(err);
  }
  bl_buf_free(&b);
  return st;
}

static bl_status summarise(bl_arena *a, const bl_metadata *md, bl_manifest_file *f,
                           const bl_manifest_entry *const *entries, size_t n, bl_error *err) {
  const bl_partition_spec *spec = bl_metadata_spec(md, f->spec_id);
  summing s;
  BL_TRY(summing_init(&s, a, md, spec, err));
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < spec->n_fields && i < entries[k]->file.n_partition; i++)
      sum_value(&s, i, &entries[k]->file.partition[i]);
  for (size_t i = 0; i < spec->n_fields; i++) {
    BL_TRY(bound(a, &s.types[i], &s.lower[i], &s.out[i].lower, err));
    BL_TRY(bound(a, &s.types[i], &s.upper[i], &s.out[i].upper, err));
  }
  f->partitions = s.out;
  f->n_partitions = spec->n_fields;
  f->has_partitions = true;
  return BL_OK;
}

/* ---- one manifest ---- */

static bl_status count_rows(int64_t *files, int64_t *rows, const bl_data_file *f, bl_error *err) {
  ++*files;
  if (f->record_count < 0 || !bl_add64(*rows, f->record_count, rows))
    return bl_fail(err, BL_DAMAGED, "%s: record_count is negative or too large", f->path.p);
  return BL_OK;
}

static bl_status count_entries(bl_made *m, bl_error *err) {
  bl_manifest_file *f = &m->file;
  m->min_sequence = INT64_MAX;
  for (size_t i = 0; i < m->n; i++) {
    const bl_manifest_entry *e = m->entries[i];
    switch (e->status) {
    case BL_ADDED: BL_TRY(count_rows(&f->added_files, &f->added_rows, &e->file, err)); break;
    case BL_EXISTING: BL_TRY(count_rows(&f->existing_files, &f->existing_rows, &e->file, err)); break;
    case BL_DELETED: BL_TRY(count_rows(&f->deleted_files, &f->deleted_rows, &e->file, err)); break;
    }
    /* a number counts only while its file is live */
    if (e->sequence_number == BL_NONE) m->has_added = true;
    else if (e->status != BL_DELETED && e->sequence_number < m->min_sequence) m->min_sequence = e->sequence_number;
  }
  return BL_OK;
}

static bl_status write_file(bl_attempt *at, bl_made *m, bl_error *err) {
  bl_committing *c = at->c;
  const bl_metadata *md = at->base->metadata;
  bl_buf bytes;
  bl_status st;
  bl_buf_init(&bytes, c->ctx, BL_BUF_MAX);
  bl_str folder = bl_metadata_folder(c->arena, md, at->base->form == BL_FORM_HADOOP);
  m->file.path = folder.p ? bl_arena_printf(c->arena, "%s/%s-m%d.avro", folder.p, c->uuid.s, c->n_manifests++) : folder;
  if (!m->file.path.p) BL_GO(bl_nomem(err));
  BL_GO(bl_manifest_write(c->ctx, md, m->file.spec_id, md->current_schema_id, m->file.content, m->entries, m->n, &bytes,
                          err));
  m->file.length = (int64_t)bytes.n;
  st = bl_committing_write(at, m->file.path, &bytes, err);
done:
  bl_buf_free(&bytes);
  return st;
}

bl_status bl_made_new(bl_attempt *at, int32_t spec_id, bl_manifest_content content,
                      const bl_manifest_entry *const *entries, size_t n, bl_made **out, bl_error *err) {
  bl_committing *c = at->c;
  bl_made *m = *out = bl_arena_calloc(c->arena, 1, sizeof *m);
  if (!m) return bl_nomem(err);
  if (!bl_metadata_spec(at->base->metadata, spec_id))
    return bl_fail(err, BL_CONFLICT, "the partition spec %d is no longer in the table", (int)spec_id);
  m->file = (bl_manifest_file){.spec_id = spec_id,
                               .content = content,
                               .added_snapshot_id = c->snapshot_id,
                               .key_metadata = BL_STR_NONE,
                               .first_row_id = BL_NONE};
  m->entries = entries;
  m->n = n;
  BL_TRY(count_entries(m, err));
  BL_TRY(summarise(c->arena, at->base->metadata, &m->file, entries, n, err));
  return write_file(at, m, err);
}

/* ---- manifests of new files ---- */

/* The next entries of one spec, from the first that is not yet taken. */
static bl_status take_group(bl_committing *c, const bl_manifest_entry *const *entries, size_t n, bool *taken,
                            const bl_manifest_entry ***group, size_t *n_group, bl_error *err) {
  const bl_manifest_entry *first = NULL;
  size_t left = 0;
  for (size_t i = 0; i < n; i++)
    if (!taken[i] && (!first || entries[i]->file.spec_id == first->file.spec_id)) {
      if (!first) first = entries[i];
      left++;
    }
  if (left > MOST_ENTRIES) left = MOST_ENTRIES;
  *n_group = 0;
  *group = bl_arena_alloc(c->arena, left, sizeof **group);
  if (!*group) return bl_nomem(err);
  for (size_t i = 0; i < n && *n_group < left; i++) {
    if (taken[i] || entries[i]->file.spec_id != first->file.spec_id) continue;
    taken[i] = true;
    (*group)[(*n_group)++] = entries[i];
  }
  return BL_OK;
}

bl_status bl_made_added(bl_attempt *at, bl_manifest_content content, const bl_manifest_entry *const *entries, size_t n,
                        bl_made ***out, size_t *n_out, bl_error *err) {
  bl_committing *c = at->c;
  bool *taken = bl_arena_calloc(c->arena, n, sizeof *taken);
  *out = bl_arena_alloc(c->arena, n, sizeof **out);
  *n_out = 0;
  if (!taken || !*out) return bl_nomem(err);
  for (size_t done = 0; done < n;) {
    const bl_manifest_entry **group;
    size_t n_group;
    BL_TRY(take_group(c, entries, n, taken, &group, &n_group, err));
    BL_TRY(bl_made_new(at, group[0]->file.spec_id, content, group, n_group, &(*out)[*n_out], err));
    done += n_group;
    ++*n_out;
  }
  return BL_OK;
}

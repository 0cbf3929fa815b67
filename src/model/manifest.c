/* manifest.c: looking things up in data files, and copies. */
#include "model/manifest.h"

const bl_column_metrics *bl_data_file_metrics(const bl_data_file *f, int32_t field_id) {
  size_t low = 0, high = f->n_metrics;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (f->metrics[mid].id < field_id) low = mid + 1;
    else high = mid;
  }
  return low < f->n_metrics && f->metrics[low].id == field_id ? &f->metrics[low] : NULL;
}

const char *bl_file_format_name(bl_file_format f) {
  switch (f) {
  case BL_FORMAT_PARQUET: return "PARQUET";
  case BL_FORMAT_AVRO: return "AVRO";
  case BL_FORMAT_ORC: return "ORC";
  case BL_FORMAT_PUFFIN: return "PUFFIN";
  default: return "?";
  }
}

/* ---- copies ---- */

/* NULL only where memory ran out: no items give a valid pointer. */
static void *copy_items(bl_arena *a, const void *items, size_t n, size_t size) {
  void *p = bl_arena_alloc(a, n, size);
  if (p && n) memcpy(p, items, n * size);
  return p;
}

static bool copy_str(bl_arena *a, bl_str *s) {
  if (!s->p) return true;
  *s = bl_arena_str(a, *s);
  return s->p != NULL;
}

static bl_status copy_metrics(bl_arena *a, bl_data_file *f, bl_error *err) {
  f->metrics = copy_items(a, f->metrics, f->n_metrics, sizeof *f->metrics);
  if (!f->metrics) return bl_nomem(err);
  for (size_t i = 0; i < f->n_metrics; i++)
    if (!copy_str(a, &f->metrics[i].lower) || !copy_str(a, &f->metrics[i].upper)) return bl_nomem(err);
  return BL_OK;
}

static bl_status copy_partition(bl_arena *a, bl_data_file *f, bl_error *err) {
  const bl_value *from = f->partition;
  f->partition = bl_arena_alloc(a, f->n_partition, sizeof *f->partition);
  if (!f->partition) return bl_nomem(err);
  for (size_t i = 0; i < f->n_partition; i++) BL_TRY(bl_value_copy(a, &from[i], &f->partition[i], err));
  return BL_OK;
}

bl_status bl_data_file_copy(bl_arena *a, const bl_data_file *f, bl_data_file *out, bl_error *err) {
  *out = *f;
  if (!copy_str(a, &out->path) || !copy_str(a, &out->key_metadata) || !copy_str(a, &out->referenced_data_file))
    return bl_nomem(err);
  BL_TRY(copy_partition(a, out, err));
  BL_TRY(copy_metrics(a, out, err));
  out->split_offsets = copy_items(a, f->split_offsets, f->n_split_offsets, sizeof *f->split_offsets);
  out->equality_ids = copy_items(a, f->equality_ids, f->n_equality_ids, sizeof *f->equality_ids);
  return out->split_offsets && out->equality_ids ? BL_OK : bl_nomem(err);
}

bl_status bl_manifest_entry_copy(bl_arena *a, const bl_manifest_entry *e, bl_manifest_entry *out, bl_error *err) {
  *out = *e;
  return bl_data_file_copy(a, &e->file, &out->file, err);
}

bl_status bl_manifest_file_copy(bl_arena *a, const bl_manifest_file *m, bl_manifest_file *out, bl_error *err) {
  *out = *m;
  out->partitions = copy_items(a, m->partitions, m->n_partitions, sizeof *m->partitions);
  if (!out->partitions || !copy_str(a, &out->path) || !copy_str(a, &out->key_metadata)) return bl_nomem(err);
  for (size_t i = 0; i < m->n_partitions; i++)
    if (!copy_str(a, &out->partitions[i].lower) || !copy_str(a, &out->partitions[i].upper)) return bl_nomem(err);
  return BL_OK;
}

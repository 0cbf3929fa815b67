/* manifest.c: looking things up in data files. */
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

/* meta_stats.c: what a data file's manifest entry says of its metadata columns (plan.h). */
#include "scan/plan.h"

static bool range(const bl_field *f, int64_t lo, int64_t hi, bl_stats *out) {
  out->has_lower = out->has_upper = true;
  out->lower = (bl_value){.kind = f->type.kind, .u.i = lo};
  out->upper = (bl_value){.kind = f->type.kind, .u.i = hi};
  return true;
}

static int64_t last_position(const bl_data_file *d) {
  return d->record_count > 0 ? d->record_count - 1 : 0;
}

/* Only metrics tell whether the column is stored; where it is, nulls stand for the inherited values (R1, R5). */
static bool lineage(const bl_manifest_entry *e, const bl_field *f, bl_stats *out) {
  const bl_data_file *d = &e->file;
  const bl_column_metrics *m = bl_data_file_metrics(d, f->id);
  bl_value lo, hi;
  int64_t first = f->id == BL_ID_ROW_ID ? d->first_row_id : e->sequence_number;
  int64_t last = f->id == BL_ID_ROW_ID ? d->first_row_id + last_position(d) : first;
  if (!m || m->nulls == BL_NONE) return false;
  if (d->record_count > 0 && m->nulls == d->record_count) return range(f, first, last, out); /* never a value */
  if (!m->lower.p || !m->upper.p || !bl_value_from_bytes(&f->type, m->lower, &lo) ||
      !bl_value_from_bytes(&f->type, m->upper, &hi) || lo.u.i > hi.u.i)
    return false;
  bool inherited = m->nulls > 0;
  return range(f, inherited && first < lo.u.i ? first : lo.u.i, inherited && last > hi.u.i ? last : hi.u.i, out);
}

bool bl_meta_stats(void *data_entry, const bl_field *f, bl_stats *out) {
  const bl_manifest_entry *e = data_entry;
  const bl_data_file *d = &e->file;
  *out = (bl_stats){.rows = d->record_count, .nulls = 0, .nans = 0};
  switch (f->id) {
  case BL_ID_ROW_ID:
  case BL_ID_LAST_UPDATED:
    if (d->first_row_id != BL_NONE) return lineage(e, f, out);
    out->nulls = d->record_count;
    out->all_same = true;
    return true;
  case BL_ID_POS: return range(f, 0, last_position(d), out);
  case BL_ID_SPEC_ID: out->all_same = true; return range(f, d->spec_id, d->spec_id, out);
  case BL_ID_FILE:
    out->has_lower = out->has_upper = out->all_same = true;
    out->lower = out->upper = (bl_value){.kind = f->type.kind, .u.s = d->path};
    return true;
  default: return false;
  }
}

/* A part of _partition (bl_filter_meta_schema), which is constant in a file of that spec: null where the spec has no
 * such field. False where the value is not of the part's type. */
static bool partition_stats(const bl_partition_spec *spec, const bl_data_file *d, const bl_field *f, bl_stats *out) {
  const bl_value *v = NULL;
  if (d->n_partition != spec->n_fields) return false;
  for (size_t i = 0; i < spec->n_fields; i++)
    if (spec->fields[i].field_id == -f->id) v = &d->partition[i];
  *out = (bl_stats){.rows = d->record_count, .nulls = 0, .nans = 0, .all_same = true};
  if (!v || v->null) {
    out->nulls = d->record_count;
    return true;
  }
  if (v->kind != f->type.kind || v->kind == BL_FLOAT || v->kind == BL_DOUBLE) return false;
  out->has_lower = out->has_upper = true;
  out->lower = out->upper = *v;
  return true;
}

bool bl_entry_stats(void *user, const bl_field *f, bl_stats *out) {
  const bl_entry_told *t = user;
  if (f->id >= 0) return bl_meta_stats((void *)t->entry, f, out);
  const bl_typed_spec *s = bl_typed_specs_get(t->specs, t->entry->file.spec_id);
  return s && partition_stats(s->spec, &t->entry->file, f, out);
}

/* groups.c: which row groups of an open file, and which pages of them, can hold rows that match (open_file.h): by
 * statistics, bloom filters, the column index, and the arithmetic of metadata columns.
 *
 * 1. Whatever is left out holds no row for which the filter is true.
 * 2. Bloom filters and the column index know stored values only: they have no say on lineage columns. */
#include "scan/open_file.h"
#include "scan/plan.h"

typedef struct group_stats {
  const bl_open_file *f;
  const bl_projection *p;
  size_t group;
} group_stats;

static bool leaf_stats(const group_stats *g, const bl_field *f, int32_t leaf, bl_stats *out) {
  bl_data_stats s;
  if (!g->f->reader->stats || !g->f->reader->stats(g->f->reader, g->group, leaf, &s)) return false;
  bool is_float = f->type.kind == BL_FLOAT || f->type.kind == BL_DOUBLE;
  *out = (bl_stats){.rows = g->f->meta->groups[g->group].rows,
                    .nulls = s.nulls < 0 ? BL_NONE : s.nulls,
                    .nans = is_float ? BL_NONE : 0};
  out->has_lower = s.lower && bl_value_from_bytes(&f->type, (bl_str){s.lower, s.lower_size}, &out->lower);
  out->has_upper = s.upper && bl_value_from_bytes(&f->type, (bl_str){s.upper, s.upper_size}, &out->upper);
  return true;
}

/* Resolved lineage over one group: stored values, and the inherited ones where nulls are (R5). */
static bool lineage_stats(const group_stats *g, const bl_field *f, bl_stats *out) {
  const bl_file_facts *facts = &g->f->facts;
  const bl_data_group *group = &g->f->meta->groups[g->group];
  int64_t lo = facts->data_sequence_number, hi = lo;
  if (f->id == BL_ID_ROW_ID) {
    lo = facts->file->first_row_id + group->first_row;
    hi = lo + (group->rows > 0 ? group->rows - 1 : 0);
  }
  int32_t leaf = bl_projection_stored_leaf(g->f->meta, f->id);
  if (leaf >= 0) {
    if (!leaf_stats(g, f, leaf, out) || out->nulls == BL_NONE) return false;
    if (out->nulls < out->rows) {
      if (!out->has_lower || !out->has_upper || out->lower.u.i > out->upper.u.i) return false;
      if (out->nulls == 0 || out->lower.u.i < lo) lo = out->lower.u.i;
      if (out->nulls == 0 || out->upper.u.i > hi) hi = out->upper.u.i;
    }
  }
  *out = (bl_stats){.rows = group->rows, .has_lower = true, .has_upper = true, .all_same = lo == hi};
  out->lower = (bl_value){.kind = f->type.kind, .u.i = lo};
  out->upper = (bl_value){.kind = f->type.kind, .u.i = hi};
  return true;
}

static bool stats_of(void *user, const bl_field *f, bl_stats *out) {
  const group_stats *g = user;
  const bl_data_group *group = &g->f->meta->groups[g->group];
  bool lineage = f->id == BL_ID_ROW_ID || f->id == BL_ID_LAST_UPDATED;
  if (lineage && g->f->facts.file->first_row_id != BL_NONE) return lineage_stats(g, f, out);
  if (f->id == BL_ID_POS) {
    *out = (bl_stats){.rows = group->rows, .has_lower = true, .has_upper = true};
    out->lower = (bl_value){.kind = BL_LONG, .u.i = group->first_row};
    out->upper = (bl_value){.kind = BL_LONG, .u.i = group->first_row + (group->rows > 0 ? group->rows - 1 : 0)};
    return true;
  }
  if (lineage || f->id > BL_ID_FIRST_RESERVED) {
    bl_manifest_entry e = *g->f->entry;
    e.file.record_count = group->rows;
    return bl_meta_stats(&e, f, out);
  }
  int32_t leaf = bl_projection_leaf_of(g->p, f->id);
  return leaf >= 0 && leaf_stats(g, f, leaf, out);
}

/* ---- bloom filters ---- */

/* What bl_value_to_bytes needs to write a value in the form of the node's own kind. */
static bool node_type(const bl_data_node *n, bl_type *out) {
  static const bl_kind kinds[] = {[BL_D_BOOL] = BL_BOOLEAN,
                                  [BL_D_INT32] = BL_INT,
                                  [BL_D_INT64] = BL_LONG,
                                  [BL_D_FLOAT] = BL_FLOAT,
                                  [BL_D_DOUBLE] = BL_DOUBLE,
                                  [BL_D_DECIMAL] = BL_DECIMAL,
                                  [BL_D_DATE32] = BL_DATE,
                                  [BL_D_TIME_US] = BL_TIME,
                                  [BL_D_TIMESTAMP_US] = BL_TIMESTAMP,
                                  [BL_D_TIMESTAMP_NS] = BL_TIMESTAMP_NS,
                                  [BL_D_STRING] = BL_STRING,
                                  [BL_D_BINARY] = BL_BINARY,
                                  [BL_D_FIXED] = BL_FIXED};
  if ((size_t)n->kind >= BL_LEN(kinds)) return false;
  *out = (bl_type){.kind = kinds[n->kind], .precision = n->precision, .scale = n->scale, .length = n->length};
  return true;
}

typedef enum fit { FITS, TOO_WIDE, UNKNOWN } fit;

/* A literal of a column in the form of the file's leaf. TOO_WIDE: no value of the leaf is equal to it; UNKNOWN: not
 * told here (floats: equality is not that of the bytes for zeros). */
static fit value_bytes(const bl_data_node *n, const bl_field *f, const bl_value *v, bl_buf *out) {
  bl_type t;
  bl_value x = *v;
  if (!node_type(n, &t) || v->null || t.kind == BL_FLOAT || t.kind == BL_DOUBLE) return UNKNOWN;
  bool bytes = f->type.kind == BL_STRING || f->type.kind == BL_BINARY;
  bool same = t.kind == f->type.kind || (bytes && (t.kind == BL_STRING || t.kind == BL_BINARY)) ||
              (f->type.kind == BL_TIMESTAMPTZ && t.kind == BL_TIMESTAMP) ||
              (f->type.kind == BL_TIMESTAMPTZ_NS && t.kind == BL_TIMESTAMP_NS) ||
              (f->type.kind == BL_UUID && t.kind == BL_FIXED);
  if (t.kind == BL_INT && f->type.kind == BL_LONG) {
    if (v->u.i < INT32_MIN || v->u.i > INT32_MAX) return TOO_WIDE;
    same = true;
  }
  if (!same) return UNKNOWN;
  x.kind = t.kind;
  bl_buf_clear(out);
  return bl_value_to_bytes(&t, &x, out, NULL) == BL_OK && bl_buf_ok(out, NULL) == BL_OK ? FITS : UNKNOWN;
}

static const bl_data_node *node_of_leaf(const bl_data_meta *m, int32_t leaf) {
  for (size_t i = 0; leaf >= 0 && i < m->n_nodes; i++)
    if (m->nodes[i].leaf == leaf) return &m->nodes[i];
  return NULL;
}

static bool bloom_may_hold(const group_stats *g, const bl_expr *e, bl_buf *b) {
  bl_data_reader *r = g->f->reader;
  int32_t leaf = e->field->id > BL_ID_FIRST_RESERVED ? -1 : bl_projection_leaf_of(g->p, e->field->id);
  const bl_data_node *node = node_of_leaf(g->f->meta, leaf);
  if (!node) return true;
  for (size_t i = 0; i < e->n_literals; i++) {
    fit how = value_bytes(node, e->field, &e->values[i], b);
    if (how == UNKNOWN || (how == FITS && r->bloom(r, g->group, leaf, b->n ? (const void *)b->p : "", b->n)))
      return true;
  }
  return false;
}

static bool blooms_may_match(const group_stats *g, const bl_expr *e, bl_buf *b) {
  if (e->op == BL_E_EQ || e->op == BL_E_IN) return bloom_may_hold(g, e, b);
  if (e->op != BL_E_AND && e->op != BL_E_OR) return true;
  bool all = e->op == BL_E_AND;
  for (size_t i = 0; i < e->n_args; i++)
    if (blooms_may_match(g, e->args[i], b) != all) return !all;
  return all || e->n_args == 0;
}

bool bl_open_file_may_match(const bl_open_file *f, const bl_projection *p, const bl_expr *filter, size_t group) {
  group_stats g = {f, p, group};
  if (!bl_expr_may_match(filter, stats_of, &g)) return false;
  if (!f->reader->bloom) return true;
  bl_buf b;
  bl_buf_init(&b, f->env->t->ctx, BL_BUF_MAX);
  bool may = blooms_may_match(&g, filter, &b);
  bl_buf_free(&b);
  return may;
}

/* ---- pages ---- */

typedef struct pages {
  group_stats g;
  bl_buf lo, hi;
  bl_row_range *ranges; /* NULL: all rows */
  size_t n;
  bool all;
} pages;

/* The bounds within which a leaf of the filter is true; false where they are open on both sides or unknown. */
static bool bounds_of(pages *p, const bl_expr *e, const bl_data_node *node, bool *has_lo, bool *has_hi) {
  bool upper = e->op == BL_E_LT || e->op == BL_E_LE, lower = e->op == BL_E_GT || e->op == BL_E_GE;
  *has_lo = *has_hi = false;
  if ((!upper && !lower && e->op != BL_E_EQ && e->op != BL_E_IN) || e->n_literals == 0) return false;
  if (!upper) *has_lo = value_bytes(node, e->field, &e->values[0], &p->lo) == FITS;
  if (!lower) *has_hi = value_bytes(node, e->field, &e->values[e->n_literals - 1], &p->hi) == FITS;
  return *has_lo || *has_hi;
}

/* *into = the rows that are in both; ascending, disjoint. */
static bl_status intersect(pages *p, const bl_row_range *r, size_t n, bl_error *err) {
  bl_ctx *ctx = p->g.f->env->t->ctx;
  bl_row_range whole = {0, p->g.f->meta->groups[p->g.group].rows};
  const bl_row_range *a = p->all ? &whole : p->ranges;
  size_t na = p->all ? 1 : p->n, i = 0, k = 0, m = 0;
  bl_row_range *out = bl_alloc(ctx, na + n + 1, sizeof *out);
  if (!out) return bl_nomem(err);
  while (i < na && k < n) {
    int64_t begin = a[i].begin > r[k].begin ? a[i].begin : r[k].begin, end = a[i].end < r[k].end ? a[i].end : r[k].end;
    if (begin < end) out[m++] = (bl_row_range){begin, end};
    if (a[i].end < r[k].end) i++;
    else k++;
  }
  bl_free(ctx, p->ranges);
  p->ranges = out;
  p->n = m;
  p->all = false;
  return BL_OK;
}

static bl_status narrow_by(pages *p, const bl_expr *e, bl_error *err) {
  bl_data_reader *r = p->g.f->reader;
  bool has_lo, has_hi;
  if (e->op == BL_E_AND) {
    for (size_t i = 0; i < e->n_args; i++) BL_TRY(narrow_by(p, e->args[i], err));
    return BL_OK;
  }
  int32_t leaf = !e->field || e->field->id > BL_ID_FIRST_RESERVED ? -1 : bl_projection_leaf_of(p->g.p, e->field->id);
  const bl_data_node *node = node_of_leaf(p->g.f->meta, leaf);
  if (!node || !bounds_of(p, e, node, &has_lo, &has_hi)) return BL_OK;
  bl_row_range *ranges = NULL;
  size_t n = SIZE_MAX;
  BL_TRY(r->page_ranges(r, p->g.group, leaf, has_lo ? p->lo.p : NULL, has_lo ? p->lo.n : 0, has_hi ? p->hi.p : NULL,
                        has_hi ? p->hi.n : 0, &ranges, &n, err));
  bl_status st = n == SIZE_MAX ? BL_OK : intersect(p, ranges, n, err);
  r->free_ranges(r, ranges);
  return st;
}

bl_status bl_open_file_pages(const bl_open_file *f, const bl_projection *p, const bl_expr *filter, size_t group,
                             bl_row_range **out, size_t *n, bl_error *err) {
  bl_ctx *ctx = f->env->t->ctx;
  pages x = {.g = {f, p, group}, .all = true};
  *out = NULL;
  *n = SIZE_MAX;
  if (!f->reader->page_ranges) return BL_OK;
  bl_buf_init(&x.lo, ctx, BL_BUF_MAX);
  bl_buf_init(&x.hi, ctx, BL_BUF_MAX);
  bl_status st = narrow_by(&x, filter, err);
  bl_buf_free(&x.lo);
  bl_buf_free(&x.hi);
  if (st == BL_OK && !x.all) {
    *out = x.ranges;
    *n = x.n;
  } else bl_free(ctx, x.ranges);
  return st;
}

/* fuzz_parquet.c: any bytes as a Parquet file: all that can be read of its first row groups, whole and in ranges. */
#include <stdlib.h>

#include "base/alloc.h"
#include "edge/arrow/arrow_edge.h"
#include "rows/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

typedef struct memory {
  bl_input in;
  const uint8_t *p;
} memory;

static bl_status read_at(bl_input *in, int64_t offset, void *out, size_t n, bl_error *err) {
  if (offset < 0 || (uint64_t)offset > (uint64_t)in->size || n > (uint64_t)(in->size - offset))
    return bl_fail(err, BL_IO, "beyond the end");
  memcpy(out, ((memory *)in)->p + offset, n);
  return BL_OK;
}

static void drain(bl_data_reader *r, size_t group, const int32_t *leaves, size_t n, const bl_row_range *ranges,
                  size_t n_ranges) {
  struct ArrowArrayStream s;
  bl_error err = BL_ERROR_INIT;
  if (r->read(r, group, leaves, n, ranges, n_ranges, 1000, &s, &err) != BL_OK) return;
  struct ArrowSchema schema;
  if (s.get_schema(&s, &schema) == 0) schema.release(&schema);
  for (int i = 0; i < 20; i++) {
    struct ArrowArray a;
    if (bl_stream_next(&s, &a, &err) != BL_OK || !a.release) break;
    a.release(&a);
  }
  s.release(&s);
}

static void read_group(bl_data_reader *r, size_t g) {
  static const bl_row_range few[] = {{1, 3}, {7, 8}};
  const bl_data_meta *m = r->meta;
  int32_t leaves[64];
  size_t n = 0;
  for (size_t i = 0; i < m->n_nodes && n < 64; i++)
    if (m->nodes[i].leaf >= 0 && m->nodes[i].kind != BL_D_OTHER) leaves[n++] = m->nodes[i].leaf;
  drain(r, g, leaves, n, NULL, 0);
  for (size_t i = 0; i < n; i++) {
    bl_data_stats stats;
    bl_row_range *ranges = NULL;
    size_t n_ranges;
    drain(r, g, &leaves[i], 1, few, m->groups[g].rows < 8 ? 0 : 2);
    r->stats(r, g, leaves[i], &stats);
    r->bloom(r, g, leaves[i], "abcdefgh", 8);
    if (r->page_ranges(r, g, leaves[i], "abcdefgh", 8, NULL, 0, &ranges, &n_ranges, NULL) == BL_OK)
      r->free_ranges(r, ranges);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  memory m = {.in = {.size = (int64_t)n, .read_at = read_at}, .p = p};
  bl_data_reader *r = NULL;
  bl_data_open_options o = {.check_pages = n % 2};
  if (bl_ctx_new(NULL, &ctx, NULL) != BL_OK) return 0;
  if (bl_format_parquet.open(ctx, &m.in, "fuzz", &o, &r, NULL) == BL_OK) {
    for (size_t g = 0; g < r->meta->n_groups && g < 3; g++) read_group(r, g);
    r->free(r);
  }
  bl_ctx_free(ctx);
  return 0;
}

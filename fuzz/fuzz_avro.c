/* fuzz_avro.c: any bytes as an Avro file: read as a container from memory and from an input, then as a data file. What
 * both ways of reading blocks say must agree. */
#include <stdlib.h>
#include <string.h>

#include "edge/data_avro.h"
#include "format/avro.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

typedef struct input {
  bl_input base;
  const uint8_t *p;
} input;

static bl_status input_read(bl_input *in, int64_t at, void *out, size_t n, bl_error *err) {
  if (at < 0 || (int64_t)n > in->size - at) return bl_fail(err, BL_IO, "beyond the end");
  if (n) memcpy(out, ((input *)in)->p + at, n);
  return BL_OK;
}

/* Skip all records; how many, -1 where the file is refused. */
static int64_t count_records(bl_avro_reader *r) {
  int64_t all = 0;
  for (;;) {
    const uint8_t *p;
    size_t n;
    int64_t records;
    bl_avro_cursor c;
    if (bl_avro_next_block(r, &p, &n, &records, NULL) != BL_OK) return -1;
    if (!records) return all;
    bl_avro_block_cursor(r, &c);
    for (int64_t i = 0; i < records && i < 100000; i++) {
      if (bl_avro_skip(&c, bl_avro_header(r)->schema, NULL) != BL_OK) return -1;
      if (c.p > c.end) abort();
      all++;
    }
  }
}

static int64_t count_in(bl_ctx *ctx, const uint8_t *p, size_t n, bl_input *in) {
  bl_avro_reader *r;
  bl_status st = in ? bl_avro_open_input(ctx, in, &r, NULL) : bl_avro_open(ctx, p, n, &r, NULL);
  if (st != BL_OK) return -1;
  int64_t records = count_records(r);
  bl_avro_close(r);
  return records;
}

static void read_group(bl_data_reader *r, size_t g, const int32_t *leaves, size_t n) {
  struct ArrowArrayStream s;
  struct ArrowArray a;
  if (r->read(r, g, leaves, n, NULL, 0, 100, &s, NULL) != BL_OK) return;
  for (int batches = 0; batches < 100; batches++) {
    if (s.get_next(&s, &a) || !a.release) break;
    if (a.length < 1 || a.length > 100) abort();
    a.release(&a);
  }
  s.release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx_options o;
  bl_ctx *ctx;
  bl_data_reader *r;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 1 << 20;
  if (bl_ctx_new(&o, &ctx, NULL) != BL_OK) return 0;
  input in = {.base = {.size = (int64_t)n, .read_at = input_read}, .p = p};
  int64_t a = count_in(ctx, p, n, NULL), b = count_in(ctx, NULL, 0, &in.base);
  if (a >= 0 && b >= 0 && a != b) abort();
  if (bl_format_avro.open(ctx, &in.base, "fuzz", NULL, &r, NULL) == BL_OK) {
    int32_t leaves[64];
    size_t k = 0;
    for (size_t i = 0; i < r->meta->n_nodes && k < 64; i++)
      if (r->meta->nodes[i].leaf >= 0 && r->meta->nodes[i].kind != BL_D_OTHER) leaves[k++] = r->meta->nodes[i].leaf;
    for (size_t g = 0; g < r->meta->n_groups && g < 4; g++) read_group(r, g, leaves, k);
    r->free(r);
  }
  bl_ctx_free(ctx);
  return 0;
}

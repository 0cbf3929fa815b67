/* fuzz_manifest_list.c: any bytes as a manifest list, for each version of the table; what was read can be written and
 * reads the same. */
#include <stdlib.h>
#include <string.h>

#include "format/manifest_avro.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void check(const bl_manifest_file *m, int version) {
  if (m->length < 0 || m->spec_id < 0 || m->sequence_number < 0 || m->min_sequence_number < 0) abort();
  if (m->added_rows < 0 && m->added_rows != BL_NONE) abort();
  if (m->first_row_id != BL_NONE && (version < 3 || m->content != BL_MANIFEST_DATA || m->first_row_id < 0)) abort();
  if (!m->path.p || m->path.p[m->path.n]) abort();
}

static void write_again(bl_ctx *ctx, bl_arena *a, const bl_manifest_file *list, size_t n, int version) {
  bl_metadata md = {.format_version = version};
  bl_snapshot s = {.id = 1};
  bl_manifest_file *again;
  size_t n_again;
  bl_buf out;
  if (bl_manifest_list_write(ctx, &md, &s, list, n, &out, NULL) != BL_OK) return;
  if (bl_manifest_list_read(ctx, a, out.p, out.n, version, &again, &n_again, NULL) == BL_OK) {
    if (n_again != n) abort();
    for (size_t i = 0; i < n; i++)
      if (!bl_str_eq(list[i].path, again[i].path) || list[i].first_row_id != again[i].first_row_id ||
          list[i].n_partitions != again[i].n_partitions)
        abort();
  }
  bl_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx_options o;
  bl_ctx *ctx;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 4 << 20;
  if (bl_ctx_new(&o, &ctx, NULL) != BL_OK) return 0;
  for (int version = 1; version <= 3; version++) {
    bl_arena *a;
    bl_manifest_file *list;
    size_t n_list;
    if (bl_arena_new(ctx, &a, NULL) != BL_OK) break;
    if (bl_manifest_list_read(ctx, a, p, n, version, &list, &n_list, NULL) == BL_OK) {
      for (size_t i = 0; i < n_list; i++) check(&list[i], version);
      write_again(ctx, a, list, n_list, version);
    }
    bl_arena_free(a);
  }
  bl_ctx_free(ctx);
  return 0;
}

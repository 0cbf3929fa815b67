/* fuzz_metadata.c: any bytes as table metadata, plain or gzip: what is taken keeps the invariants of metadata_check.c,
 * and its document prints to a text that is taken again. */
#include <stdlib.h>

#include "format/metadata_json.h"

#define MUST(x)                                                                                                        \
  do {                                                                                                                 \
    if (!(x)) abort();                                                                                                 \
  } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static void look_up(const bl_metadata *m) {
  MUST(m->format_version >= 1 && m->format_version <= 3 && m->location.p && m->next_row_id >= 0);
  MUST(bl_metadata_current_schema(m) && bl_metadata_spec(m, m->default_spec_id));
  MUST(!m->has_current || bl_metadata_snapshot(m, m->current_snapshot_id));
  MUST(!m->has_current || bl_metadata_ref(m, BL_STR("main")));
  for (size_t i = 0; i < m->n_refs; i++) MUST(bl_metadata_snapshot(m, m->refs[i].snapshot_id));
  for (size_t i = 0; i < m->n_snapshots; i++) {
    const bl_snapshot *s = &m->snapshots[i];
    MUST(bl_metadata_snapshot(m, s->id) == s);
    MUST(s->manifest_list.p || s->manifests);
    for (size_t steps = 0; s; s = bl_metadata_parent(m, s)) MUST(steps++ < m->n_snapshots);
  }
}

static void write_schemas(const bl_metadata *m) {
  bl_schema again;
  for (size_t i = 0; i < m->n_schemas; i++) {
    bl_json *v = bl_schema_to_json(m->arena, &m->schemas[i]);
    MUST(v && bl_schema_from_json(m->arena, v, &again, NULL) == BL_OK);
    MUST(bl_type_equal(&again.root, &m->schemas[i].root) && again.id == m->schemas[i].id);
  }
  for (size_t i = 0; i < m->n_specs; i++) MUST(bl_spec_to_json(m->arena, &m->specs[i]));
}

static void print_again(bl_ctx *ctx, const bl_metadata *m) {
  bl_metadata *again;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  bl_json_print(&b, m->json, false);
  MUST(bl_metadata_parse(ctx, b.p, b.n, &again, NULL) == BL_OK);
  bl_metadata_free(again);
  bl_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
  bl_ctx *ctx;
  bl_ctx_options o;
  bl_metadata *m;
  bl_error err = BL_ERROR_INIT;
  bl_ctx_options_init(&o);
  o.max_metadata_bytes = 1 << 20;
  if (bl_ctx_new(&o, &ctx, NULL) != BL_OK) return 0;
  if (bl_metadata_parse(ctx, p, n, &m, &err) == BL_OK) {
    look_up(m);
    write_schemas(m);
    print_again(ctx, m);
    bl_metadata_free(m);
  } else {
    MUST(m == NULL && err.message[0]);
  }
  bl_ctx_free(ctx);
  return 0;
}

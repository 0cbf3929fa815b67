/* apply_world.h: batches of change events, applied to a table of verbs_world.h. */
#ifndef BL_TESTS_WRITE_APPLY_WORLD_H
#define BL_TESTS_WRITE_APPLY_WORLD_H

#include "verbs_world.h"

static inline void apply(world *w, const char *lines, bl_apply_source source) {
  bl_error err = BL_ERROR_INIT;
  test_ok(world_try_apply(w, lines, source, &err), &err);
}

static inline void apply_fails(world *w, const char *lines, bl_apply_source source, bl_status want, const char *says) {
  bl_error err = BL_ERROR_INIT;
  size_t before = world_count_files(w);
  test_status(want, world_try_apply(w, lines, source, &err), &err);
  test_says(&err, says);
  assert_int_equal(world_count_files(w), before);
}

/* An event of Debezium beside its schema. */
#define TYPED(fields, after)                                                                                           \
  "{\"schema\":{\"type\":\"struct\",\"fields\":[{\"field\":\"after\",\"type\":\"struct\",\"fields\":[" fields          \
  "]}]},\"payload\":{\"op\":\"c\",\"before\":null,\"after\":" after "}}\n"

#endif

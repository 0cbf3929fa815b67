/* apply.h: change events given as the text of a file, applied by the key k. */
#ifndef BL_TESTS_SUPPORT_APPLY_H
#define BL_TESTS_SUPPORT_APPLY_H

#include "bergline/write.h"
#include "support/text_input.h"

static inline bl_status test_apply(bl_table *t, const char *text, bl_apply_source source, const bl_write_options *o,
                                   bl_write_result *r, bl_error *err) {
  static const char *const key[] = {"k"};
  const bl_apply_options a = {.source = source, .key = key, .n_key = 1};
  text_input in = text_input_of(text, strlen(text));
  struct ArrowArrayStream events;
  bl_status st = bl_read_events(t, &in.in, NULL, source, &events, err);
  return st == BL_OK ? bl_apply(t, &events, &a, o, r, err) : st;
}

#endif

/* properties.c: see properties.h. */
#include "write/properties.h"

#include <stdio.h>

#include "base/text.h"

int64_t bl_property_i64(const bl_pairs *p, const char *key, int64_t otherwise) {
  int64_t v;
  bl_str text = bl_pairs_get(p, key);
  return text.p && bl_parse_i64(text, &v) ? v : otherwise;
}

bool bl_property_bool(const bl_pairs *p, const char *key, bool otherwise) {
  bl_str text = bl_pairs_get(p, key);
  if (!text.p) return otherwise;
  return bl_str_is_nocase(text, "true"); /* as Java's parseBoolean */
}

bool bl_property_is_snapshot_isolation(const bl_pairs *p, const char *prefix) {
  char key[64];
  snprintf(key, sizeof key, "%s.isolation-level", prefix);
  bl_str text = bl_pairs_get(p, key);
  return text.p && bl_str_is_nocase(text, "snapshot");
}

bl_status bl_key_value(const char *text, bl_pair *out, bl_error *err) {
  const char *eq = strchr(text, '=');
  if (!eq || eq == text) return bl_fail(err, BL_USAGE, "wrong property: %s: KEY=VALUE is expected", text);
  *out = (bl_pair){{text, (size_t)(eq - text)}, bl_str_of(eq + 1)};
  return BL_OK;
}

bl_status bl_property_allowed(bl_str key, bl_error *err) {
  static const char *const reserved[] = {"format-version",           "uuid",
                                         "snapshot-count",           "current-snapshot-id",
                                         "current-snapshot-summary", "current-snapshot-timestamp-ms",
                                         "current-schema",           "default-partition-spec",
                                         "default-sort-order"};
  for (size_t i = 0; i < BL_LEN(reserved); i++)
    if (bl_str_is(key, reserved[i]))
      return bl_fail(err, BL_USAGE, "wrong property: %s: it is not set as a property%s", reserved[i],
                     i == 0 ? " (create --format-version, upgrade)" : "");
  return BL_OK;
}

/* properties.c: see properties.h. */
#include "write/properties.h"

#include <stdio.h>

#include "base/text.h"
#include "write/settings.h"

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

/* ---- what is set by hand ---- */

typedef enum value_kind {
  COUNT /* 0 or more */,
  AMOUNT /* above 0 */,
  SWITCH,
  MODE,
  ISOLATION,
  CODEC /* of metadata */,
  PARQUET_CODEC,
  LEVEL,
  METRICS,
  RATE
} value_kind;

static const struct {
  const char *key; /* with a dot at its end: the column's name follows */
  value_kind kind;
} known[] = {{"commit.retry.num-retries", COUNT},
             {"commit.retry.min-wait-ms", COUNT},
             {"commit.retry.max-wait-ms", COUNT},
             {"commit.retry.total-timeout-ms", COUNT},
             {"commit.manifest.target-size-bytes", AMOUNT},
             {"commit.manifest.min-count-to-merge", AMOUNT},
             {"commit.manifest-merge.enabled", SWITCH},
             {"write.metadata.previous-versions-max", AMOUNT},
             {"write.metadata.compression-codec", CODEC},
             {"write.summary.partition-limit", COUNT},
             {"write.metadata.delete-after-commit.enabled", SWITCH},
             {"write.metadata.metrics.max-inferred-column-defaults", COUNT},
             {"write.target-file-size-bytes", AMOUNT},
             {"write.parquet.row-group-size-bytes", AMOUNT},
             {"write.parquet.page-size-bytes", AMOUNT},
             {"write.parquet.page-row-limit", AMOUNT},
             {"write.parquet.dict-size-bytes", AMOUNT},
             {"write.parquet.bloom-filter-max-bytes", AMOUNT},
             {"write.parquet.bloom-filter-enabled.column.", SWITCH},
             {"write.parquet.bloom-filter-fpp.column.", RATE},
             {"write.parquet.compression-codec", PARQUET_CODEC},
             {"write.parquet.compression-level", LEVEL},
             {"write.metadata.metrics.default", METRICS},
             {"write.metadata.metrics.column.", METRICS},
             {"write.object-storage.enabled", SWITCH},
             {"write.object-storage.partitioned-paths", SWITCH},
             {"write.delete.mode", MODE},
             {"write.update.mode", MODE},
             {"write.merge.mode", MODE},
             {"write.delete.isolation-level", ISOLATION},
             {"write.update.isolation-level", ISOLATION},
             {"write.merge.isolation-level", ISOLATION},
             {"gc.enabled", SWITCH}};

static bool one_of(bl_str v, const char *a, const char *b) {
  return bl_str_is_nocase(v, a) || bl_str_is_nocase(v, b);
}

/* What is wanted, NULL where the value is that. */
static const char *unlike(value_kind kind, bl_str v) {
  int64_t n;
  double rate;
  bl_metrics_mode mode;
  switch (kind) {
  case COUNT: return bl_parse_i64(v, &n) && n >= 0 ? NULL : "a number is expected";
  case AMOUNT: return bl_parse_i64(v, &n) && n > 0 ? NULL : "a number above 0 is expected";
  case SWITCH: return one_of(v, "true", "false") ? NULL : "true or false is expected";
  case MODE: return one_of(v, "copy-on-write", "merge-on-read") ? NULL : "merge-on-read or copy-on-write is expected";
  case CODEC: return one_of(v, "none", "gzip") ? NULL : "none or gzip is expected";
  case PARQUET_CODEC: return bl_parquet_codec(v) ? NULL : "zstd, snappy, gzip, lz4, brotli or uncompressed is expected";
  case LEVEL: return bl_parquet_level(v, &n) ? NULL : "a level from -7 to 22 is expected";
  case METRICS: return bl_metrics_mode_parse(v, &mode) ? NULL : "none, counts, truncate(N) or full is expected";
  case RATE: return bl_bloom_rate(v, &rate) ? NULL : "a number between 0 and 1 is expected";
  default: return one_of(v, "serializable", "snapshot") ? NULL : "serializable or snapshot is expected";
  }
}

static bool is_of(bl_str key, const char *known_key) {
  size_t n = strlen(known_key);
  return known_key[n - 1] == '.' ? bl_str_starts(key, bl_str_of(known_key)) : bl_str_is(key, known_key);
}

static bl_status makes_sense(bl_str key, bl_str value, bl_error *err) {
  for (size_t i = 0; i < BL_LEN(known); i++) {
    const char *wanted = is_of(key, known[i].key) ? unlike(known[i].kind, value) : NULL;
    if (wanted)
      return bl_fail(err, BL_USAGE, "wrong property: %.*s: \"%.*s\": %s", BL_STR_ARG(key), BL_STR_ARG(value), wanted);
  }
  return BL_OK;
}

bl_status bl_property_allowed(bl_str key, bl_str value, bl_error *err) {
  static const char *const reserved[] = {"format-version",           "uuid",
                                         "snapshot-count",           "current-snapshot-id",
                                         "current-snapshot-summary", "current-snapshot-timestamp-ms",
                                         "current-schema",           "default-partition-spec",
                                         "default-sort-order"};
  for (size_t i = 0; i < BL_LEN(reserved); i++)
    if (bl_str_is(key, reserved[i]))
      return bl_fail(err, BL_USAGE, "wrong property: %s: it is not set as a property%s", reserved[i],
                     i == 0 ? " (create --format-version sets it; no command changes that of a table yet)" : "");
  return value.p ? makes_sense(key, value, err) : BL_OK;
}

bl_status bl_property_names_column(const bl_schema *schema, bl_str key, bl_error *err) {
  static const char prefix[] = "write.metadata.metrics.column.";
  if (!bl_str_starts(key, BL_STR(prefix))) return BL_OK;
  bl_str column = {key.p + sizeof prefix - 1, key.n - (sizeof prefix - 1)};
  if (bl_schema_find_alias(schema, column)) return BL_OK;
  return bl_fail(err, BL_USAGE, "wrong property: %.*s: the table has no column %.*s", BL_STR_ARG(key),
                 BL_STR_ARG(column));
}

bl_status bl_property_of_folders(bl_str key, bl_error *err) {
  if (!bl_str_is(key, "write.metadata.path")) return BL_OK;
  return bl_fail(err, BL_USAGE, "wrong property: write.metadata.path: a table in a folder keeps its metadata there");
}

/* canonical.c: see canonical.h. */
#include "write/canonical.h"

#include <stdio.h>

#include "base/text.h"

static bool starts(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* d:P,S[,BITS] */
static const char *decimal_format(const char *f, char *buf, size_t n) {
  const char *comma = strchr(f, ',');
  const char *bits = comma ? strchr(comma + 1, ',') : NULL;
  int64_t p;
  if (!comma || !bl_parse_i64((bl_str){f + 2, (size_t)(comma - f - 2)}, &p) || p < 1 || p > 38) return NULL;
  if (!bits) return f;
  snprintf(buf, n, "%.*s", (int)(bits - f), f);
  return buf;
}

/* The canonical format string; NULL: there is none. */
static const char *format_of(const char *f, char *buf, size_t n) {
  static const char *const pairs[][2] = {{"c", "i"},      {"C", "i"},     {"s", "i"},    {"S", "i"},    {"I", "l"},
                                         {"L", "d:20,0"}, {"e", "f"},     {"U", "u"},    {"vu", "u"},   {"Z", "z"},
                                         {"vz", "z"},     {"+L", "+l"},   {"+vl", "+l"}, {"+vL", "+l"}, {"tdm", "tdD"},
                                         {"tts", "ttu"},  {"ttm", "ttu"}, {"ttn", "ttu"}};
  static const char *const canonical[] = {"n", "b", "i", "l", "f", "g", "u", "z", "tdD", "ttu", "+s", "+l", "+m"};
  for (size_t i = 0; i < BL_LEN(canonical); i++)
    if (strcmp(f, canonical[i]) == 0) return f;
  for (size_t i = 0; i < BL_LEN(pairs); i++)
    if (strcmp(f, pairs[i][0]) == 0) return pairs[i][1];
  if (starts(f, "d:")) return decimal_format(f, buf, n);
  if (starts(f, "w:") || starts(f, "tsu:") || starts(f, "tsn:")) return f;
  if (starts(f, "+w:")) return "+l";
  if (starts(f, "tss:") || starts(f, "tsm:")) {
    snprintf(buf, n, "tsu:%s", f + 4);
    return buf;
  }
  return NULL;
}

bl_status bl_canonical_schema(bl_ctx *ctx, const struct ArrowSchema *in, struct ArrowSchema *out, bool *same,
                              bl_error *err) {
  char buf[128], name[BL_TYPE_NAME_BYTES];
  const struct ArrowSchema *value = in->dictionary ? in->dictionary : in;
  if (strcmp(value->format, "+r") == 0 && value->n_children == 2) value = value->children[1]; /* run-end encoded */
  const char *format = format_of(value->format, buf, sizeof buf);
  out->release = NULL;
  if (!format)
    return bl_fail(err, BL_UNSUPPORTED, "column %s: the type %s cannot be read", in->name ? in->name : "",
                   bl_aschema_type_name(value, name));
  if (value != in || strcmp(format, value->format) != 0) *same = false;
  BL_TRY(bl_aschema_copy(ctx, value, out, err)); /* children's own forms follow */
  bl_status st = bl_nomem(NULL);
  char *own_format = bl_strdup(ctx, format), *own_name = bl_strdup(ctx, in->name ? in->name : "");
  if (own_format && own_name) {
    bl_free(ctx, (void *)(uintptr_t)out->format);
    bl_free(ctx, (void *)(uintptr_t)out->name);
    out->format = own_format, own_format = NULL;
    out->name = own_name, own_name = NULL;
    out->flags = in->flags;
    st = BL_OK;
  } else {
    st = bl_nomem(err);
  }
  for (int64_t i = 0; st == BL_OK && i < value->n_children; i++) {
    bl_aschema_release(out->children[i]);
    st = bl_canonical_schema(ctx, value->children[i], out->children[i], same, err);
  }
  bl_free(ctx, own_format);
  bl_free(ctx, own_name);
  if (st != BL_OK) bl_aschema_release(out);
  return st;
}

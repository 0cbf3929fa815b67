/* arrow_names.c: what a reader of messages calls the types that the Arrow C data interface writes as letters. */
#include <stdio.h>

#include "rows/arrow_own.h"

typedef struct named {
  const char *format, *name;
} named;

static const char *whole_name(const char *format) {
  static const named names[] = {{"n", "null"},       {"b", "boolean"},    {"c", "int8"},
                                {"C", "uint8"},      {"s", "int16"},      {"S", "uint16"},
                                {"i", "int"},        {"I", "uint32"},     {"l", "long"},
                                {"L", "uint64"},     {"e", "half float"}, {"f", "float"},
                                {"g", "double"},     {"u", "string"},     {"U", "string"},
                                {"vu", "string"},    {"z", "binary"},     {"Z", "binary"},
                                {"vz", "binary"},    {"tdD", "date"},     {"tdm", "date"},
                                {"tts", "time"},     {"ttm", "time"},     {"ttu", "time"},
                                {"ttn", "time"},     {"tDs", "duration"}, {"tDm", "duration"},
                                {"tDu", "duration"}, {"tDn", "duration"}, {"tiM", "interval"},
                                {"tiD", "interval"}, {"tin", "interval"}, {"+s", "struct"},
                                {"+l", "list"},      {"+L", "list"},      {"+vl", "list"},
                                {"+vL", "list"},     {"+m", "map"},       {"+r", "run-end encoded"}};
  for (size_t i = 0; i < BL_LEN(names); i++)
    if (strcmp(format, names[i].format) == 0) return names[i].name;
  return NULL;
}

/* Those with something behind a colon: p NULL where it is none. */
static const char *with_rest(const char *format, const char *prefix) {
  size_t n = strlen(prefix);
  return strncmp(format, prefix, n) == 0 ? format + n : NULL;
}

const char *bl_aformat_name(const char *format, char out[BL_TYPE_NAME_BYTES]) {
  const char *rest, *name = whole_name(format);
  if (name) snprintf(out, BL_TYPE_NAME_BYTES, "%s", name);
  else if ((rest = with_rest(format, "d:"))) snprintf(out, BL_TYPE_NAME_BYTES, "decimal(%.20s)", rest);
  else if ((rest = with_rest(format, "w:"))) snprintf(out, BL_TYPE_NAME_BYTES, "fixed[%.20s]", rest);
  else if ((rest = with_rest(format, "tsn:")))
    snprintf(out, BL_TYPE_NAME_BYTES, "%s", *rest ? "timestamptz_ns" : "timestamp_ns");
  else if (with_rest(format, "ts") && strlen(format) >= 4)
    snprintf(out, BL_TYPE_NAME_BYTES, "%s", format[4] ? "timestamptz" : "timestamp");
  else if (with_rest(format, "+w:")) snprintf(out, BL_TYPE_NAME_BYTES, "list");
  else if (with_rest(format, "+u")) snprintf(out, BL_TYPE_NAME_BYTES, "union");
  else snprintf(out, BL_TYPE_NAME_BYTES, "Arrow format %.20s", format);
  return out;
}

const char *bl_aschema_type_name(const struct ArrowSchema *s, char out[BL_TYPE_NAME_BYTES]) {
  if (s->dictionary) s = s->dictionary;
  if (s->format && strcmp(s->format, "+r") == 0 && s->n_children == 2) s = s->children[1];
  return bl_aformat_name(s->format ? s->format : "", out);
}

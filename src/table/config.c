/* config.c: see config.h. */
#include "table/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/buf.h"

#define MAX_CONFIG ((size_t)1 << 20)

/* ---- YAML ---- */

static bl_str scalar(const yaml_node_t *n) {
  if (!n || n->type != YAML_SCALAR_NODE) return BL_STR_NONE;
  return (bl_str){(const char *)n->data.scalar.value, n->data.scalar.length};
}

/* Member of a mapping; NULL where there is none or it is no mapping. */
static yaml_node_t *member(yaml_document_t *doc, const yaml_node_t *map, const char *key) {
  if (!map || map->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++)
    if (bl_str_is(scalar(yaml_document_get_node(doc, p->key)), key)) return yaml_document_get_node(doc, p->value);
  return NULL;
}

static bl_status shape(bl_error *err, const char *file, const yaml_node_t *n, const char *what) {
  return bl_fail(err, BL_USAGE, "wrong configuration: %s: line %zu: %s", file, n->start_mark.line + 1, what);
}

/* ---- one catalog ---- */

typedef struct properties {
  bl_arena *a;
  const char *file;
  yaml_document_t *doc;
  const char **keys, **values;
  size_t n, cap;
} properties;

static bl_status add_property(properties *p, bl_str key, bl_str value, bl_error *err) {
  if (p->n == p->cap) {
    size_t cap = p->cap ? p->cap * 2 : 16;
    const char **keys = bl_arena_alloc(p->a, cap, sizeof *keys), **values = bl_arena_alloc(p->a, cap, sizeof *values);
    if (!keys || !values) return bl_nomem(err);
    for (size_t i = 0; i < p->n; i++) keys[i] = p->keys[i], values[i] = p->values[i];
    p->keys = keys, p->values = values, p->cap = cap;
  }
  p->keys[p->n] = key.p;
  p->values[p->n] = bl_arena_str(p->a, value).p;
  return p->values[p->n++] ? BL_OK : bl_nomem(err);
}

/* The mapping's scalars, inner mappings with their keys joined. Depth is bounded: YAML aliases may be cyclic. */
static bl_status flatten(properties *p, bl_str prefix, const yaml_node_t *map, int depth, bl_error *err) {
  if (depth > 8) return shape(err, p->file, map, "nested too deep");
  for (yaml_node_pair_t *i = map->data.mapping.pairs.start; i < map->data.mapping.pairs.top; i++) {
    const yaml_node_t *k = yaml_document_get_node(p->doc, i->key), *v = yaml_document_get_node(p->doc, i->value);
    bl_str name = scalar(k);
    if (!name.p) return shape(err, p->file, k, "a key must be a plain text");
    bl_str key = bl_arena_printf(p->a, "%s%s%s", prefix.n ? prefix.p : "", prefix.n ? "." : "", name.p);
    if (!key.p) return bl_nomem(err);
    if (v->type == YAML_MAPPING_NODE) BL_TRY(flatten(p, key, v, depth + 1, err));
    else if (v->type == YAML_SCALAR_NODE) BL_TRY(add_property(p, key, scalar(v), err));
    else return shape(err, p->file, v, "a list is not expected here");
  }
  return BL_OK;
}

static bl_status read_catalog(properties *p, bl_str name, const yaml_node_t *node, bl_catalog_options *out,
                              bl_error *err) {
  if (node->type != YAML_MAPPING_NODE) return shape(err, p->file, node, "a catalog must be a mapping");
  BL_TRY(flatten(p, BL_STR_NONE, node, 0, err));
  *out = (bl_catalog_options){.name = bl_arena_str(p->a, name).p, .keys = p->keys, .values = p->values};
  if (!out->name) return bl_nomem(err);
  out->n_properties = p->n;
  for (size_t i = 0; i < p->n; i++) {
    if (strcmp(p->keys[i], "type") == 0) out->type = p->values[i];
    if (strcmp(p->keys[i], "uri") == 0) out->uri = p->values[i];
    if (strcmp(p->keys[i], "warehouse") == 0) out->warehouse = p->values[i];
  }
  return BL_OK;
}

static bl_status find_catalog(properties *p, const char *name, bl_catalog_options *out, bool *found, bl_error *err) {
  yaml_node_t *root = yaml_document_get_root_node(p->doc);
  if (!root) return BL_OK; /* an empty file */
  if (root->type != YAML_MAPPING_NODE) return shape(err, p->file, root, "a mapping is expected");
  yaml_node_t *catalogs = member(p->doc, root, "catalog");
  if (!catalogs || (catalogs->type == YAML_SCALAR_NODE && catalogs->data.scalar.length == 0)) return BL_OK;
  if (catalogs->type != YAML_MAPPING_NODE) return shape(err, p->file, catalogs, "catalog must be a mapping");
  bl_str wanted = name ? bl_str_of(name) : scalar(member(p->doc, root, "default-catalog"));
  if (!wanted.p) wanted = BL_STR("default");
  for (yaml_node_pair_t *i = catalogs->data.mapping.pairs.start; i < catalogs->data.mapping.pairs.top; i++) {
    if (!bl_str_eq(scalar(yaml_document_get_node(p->doc, i->key)), wanted)) continue;
    *found = true;
    return read_catalog(p, wanted, yaml_document_get_node(p->doc, i->value), out, err);
  }
  return BL_OK;
}

bl_status bl_config_parse(bl_arena *a, const char *file, const void *text, size_t n, const char *name,
                          bl_catalog_options *out, bool *found, bl_error *err) {
  yaml_parser_t parser;
  yaml_document_t doc;
  *found = false;
  *out = (bl_catalog_options){0};
  if (!yaml_parser_initialize(&parser)) return bl_nomem(err);
  yaml_parser_set_input_string(&parser, text ? text : (const void *)"", n);
  if (!yaml_parser_load(&parser, &doc)) {
    /* libyaml's problem text is a constant: it never holds a value of the file. */
    bl_status st = parser.error == YAML_MEMORY_ERROR
                       ? bl_nomem(err)
                       : bl_fail(err, BL_USAGE, "wrong configuration: %s: line %zu: no YAML (%s)", file,
                                 parser.problem_mark.line + 1, parser.problem ? parser.problem : "malformed");
    yaml_parser_delete(&parser);
    return st;
  }
  properties p = {.a = a, .file = file, .doc = &doc};
  bl_status st = find_catalog(&p, name, out, found, err);
  yaml_document_delete(&doc);
  yaml_parser_delete(&parser);
  return st;
}

/* ---- files ---- */

/* The configuration is this machine's: it is read straight, not through a table's I/O. */
static bl_status read_file(const char *path, bl_buf *out, bool *there, bl_error *err) {
  *there = false;
  FILE *f = fopen(path, "rbe");
  if (!f && (errno == ENOENT || errno == ENOTDIR)) return BL_OK;
  if (!f) return bl_fail(err, BL_IO, "cannot open the configuration: %s: %m", path);
  *there = true;
  bl_status st = BL_OK;
  for (;;) {
    uint8_t *p = bl_buf_reserve(out, 4096);
    size_t got = p ? fread(p, 1, 4096, f) : 0;
    out->n += got;
    if (got == 0) break;
  }
  if (ferror(f)) st = bl_fail(err, BL_IO, "cannot read the configuration: %s", path);
  if (st == BL_OK && out->failed && out->n + 4096 > MAX_CONFIG)
    st = bl_fail(err, BL_USAGE, "wrong configuration: %s: larger than 1 MiB", path);
  if (st == BL_OK) st = bl_buf_ok(out, err);
  fclose(f);
  return st;
}

static bl_status try_file(bl_arena *a, const char *folder, const char *file, const char *name, bl_catalog_options *out,
                          bool *found, bool *there, bl_error *err) {
  bl_buf text;
  *there = false;
  if (!folder || !*folder) return BL_OK;
  bl_str path = *file ? bl_arena_printf(a, "%s/%s", folder, file) : bl_arena_str(a, bl_str_of(folder));
  if (!path.p) return bl_nomem(err);
  bl_buf_init(&text, bl_arena_ctx(a), MAX_CONFIG);
  bl_status st = read_file(path.p, &text, there, err);
  if (st == BL_OK && *there) st = bl_config_parse(a, path.p, text.p, text.n, name, out, found, err);
  bl_buf_free(&text);
  return st;
}

bl_status bl_config_catalog(bl_arena *a, const char *name, bl_catalog_options *out, bool *found, bl_error *err) {
  bool there;
  *found = false;
  *out = (bl_catalog_options){0};
  const char *only = getenv("BERGLINE_CONFIG");
  if (only && *only) {
    BL_TRY(try_file(a, only, "", name, out, found, &there, err));
    return there ? BL_OK : bl_fail(err, BL_NOT_FOUND, "no configuration: %s (BERGLINE_CONFIG): no such file", only);
  }
  const char *home = getenv("HOME");
  const struct {
    const char *folder, *file;
  } places[] = {{".", ".bergline.yaml"},
                {home, ".bergline.yaml"},
                {getenv("PYICEBERG_HOME"), ".pyiceberg.yaml"},
                {home, ".pyiceberg.yaml"},
                {".", ".pyiceberg.yaml"}};
  for (size_t i = 0; i < BL_LEN(places) && !*found; i++)
    BL_TRY(try_file(a, places[i].folder, places[i].file, name, out, found, &there, err));
  return BL_OK;
}

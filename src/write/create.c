/* create.c: new tables. */
#include "write/create.h"

#include <unistd.h>

#include "format/metadata_json.h"
#include "table/folder.h"
#include "table/pathmap.h"
#include "table/table.h"
#include "write/paths.h"
#include "write/pointer.h"
#include "write/properties.h"
#include "write/schema_text.h"

enum { NEWEST_VERSION = 3 };

/* ---- schema ---- */

typedef struct creating {
  bl_arena *a;
  const bl_create_options *o;
  int version;
  bl_schema schema;
  bl_partition_spec spec;
  bl_sort_order order;
  bl_error *err;
} creating;

static bool is_json(const char *text) {
  return text[strspn(text, " \t\r\n")] == '{';
}

/* Ids are kept as they are given. */
static bl_status schema_of_json(creating *c) {
  bl_json *v;
  bl_status st = bl_json_parse(c->a, c->o->schema, strlen(c->o->schema), &v, c->err);
  if (st == BL_OK) st = bl_schema_from_json(c->a, v, &c->schema, c->err);
  if (st == BL_DAMAGED && c->err) c->err->status = BL_USAGE;
  if (st == BL_DAMAGED) st = BL_USAGE;
  c->schema.id = 0;
  return st == BL_OK ? st : bl_fail_in(c->err, st, "wrong schema");
}

static bl_status read_schema(creating *c) {
  const bl_create_options *o = c->o;
  if (!o->schema && !o->arrow) return bl_fail(c->err, BL_USAGE, "no schema is given for the new table");
  if (!o->schema) return bl_fail(c->err, BL_UNSUPPORTED, "tables from Arrow schemas: not supported yet");
  return is_json(o->schema) ? schema_of_json(c) : bl_schema_text(c->a, bl_str_of(o->schema), &c->schema, c->err);
}

static bl_status check_identifiers(creating *c) {
  for (size_t i = 0; i < c->schema.n_identifier_ids; i++) {
    const bl_field *f = bl_schema_find(&c->schema, c->schema.identifier_ids[i]);
    if (!f)
      return bl_fail(c->err, BL_USAGE, "wrong schema: there is no identifier field %d",
                     (int)c->schema.identifier_ids[i]);
    BL_TRY(bl_identifier_allowed(&c->schema, f, c->err));
  }
  return BL_OK;
}

static bl_status check_schema(creating *c) {
  const bl_type *root = &c->schema.root;
  for (size_t i = 0; i < root->n_fields; i++) BL_TRY(bl_field_allowed(&root->fields[i], true, c->version, c->err));
  if (c->schema.highest_id >= BL_ID_FIRST_RESERVED)
    return bl_fail(c->err, BL_USAGE, "wrong schema: the field id %d is reserved", (int)c->schema.highest_id);
  return check_identifiers(c);
}

static bl_status read_layout(creating *c) {
  const char *partition = c->o->partition, *sort = c->o->sort;
  if (partition) BL_TRY(bl_partition_text(c->a, bl_str_of(partition), &c->schema, &c->spec, c->err));
  for (size_t i = 0; i < c->spec.n_fields; i++) c->spec.fields[i].field_id = BL_FIRST_PARTITION_ID + (int32_t)i;
  if (sort) BL_TRY(bl_sort_text(c->a, bl_str_of(sort), &c->schema, &c->order, c->err));
  if (c->order.n_fields) c->order.id = 1;
  return BL_OK;
}

/* ---- the document ---- */

typedef struct members {
  bl_arena *a;
  bl_json *obj;
  bool ok;
} members;

static void put(members *m, const char *key, bl_json *v) {
  m->ok = m->ok && m->obj && bl_json_set(m->a, m->obj, key, v);
}
static void put_int(members *m, const char *key, int64_t v) {
  put(m, key, bl_json_new_i64(m->a, v));
}
static void put_list(members *m, const char *key, bl_json *first, bl_json *second) {
  bl_json *list = bl_json_new(m->a, BL_J_ARRAY);
  m->ok = m->ok && list && bl_json_push(list, first) && (!second || bl_json_push(list, second));
  put(m, key, list);
}
static void put_empty(members *m, const char *key, bl_json_kind kind) {
  put(m, key, bl_json_new(m->a, kind));
}

static void put_schema(members *m, const creating *c) {
  put_int(m, "last-column-id", c->schema.highest_id);
  if (c->version == 1) put(m, "schema", bl_schema_to_json(m->a, &c->schema));
  put_list(m, "schemas", bl_schema_to_json(m->a, &c->schema), NULL);
  put_int(m, "current-schema-id", 0);
}

static void put_spec(members *m, const creating *c) {
  bl_json *spec = bl_spec_to_json(m->a, &c->spec);
  const bl_json *fields = spec ? bl_json_get(spec, "fields") : NULL;
  if (c->version == 1) put(m, "partition-spec", fields ? bl_json_copy(m->a, fields) : NULL);
  put_list(m, "partition-specs", spec, NULL);
  put_int(m, "default-spec-id", 0);
  put_int(m, "last-partition-id", BL_FIRST_PARTITION_ID - 1 + (int64_t)c->spec.n_fields);
}

static void put_order(members *m, const creating *c) {
  const bl_sort_order unsorted = {0};
  put_int(m, "default-sort-order-id", c->order.id);
  put_list(m, "sort-orders", bl_sort_order_to_json(m->a, &unsorted),
           c->order.id ? bl_sort_order_to_json(m->a, &c->order) : NULL);
}

static bl_status put_properties(members *m, const creating *c) {
  static const char *const modes[] = {"write.delete.mode", "write.update.mode", "write.merge.mode"};
  members p = {m->a, bl_json_new(m->a, BL_J_OBJECT), true};
  for (size_t i = 0; c->version > 2 && i < BL_LEN(modes); i++)
    put(&p, modes[i], bl_json_new_str(m->a, BL_STR("merge-on-read")));
  put(&p, "write.parquet.compression-codec", bl_json_new_str(m->a, BL_STR("zstd")));
  for (size_t i = 0; i < c->o->n_properties; i++) {
    bl_pair pair;
    BL_TRY(bl_key_value(c->o->properties[i], &pair, c->err));
    BL_TRY(bl_property_allowed(pair.key, c->err));
    bl_str key = bl_arena_str(m->a, pair.key);
    if (!key.p) return bl_nomem(c->err);
    put(&p, key.p, bl_json_new_str(m->a, pair.value));
  }
  put(m, "properties", p.ok ? p.obj : NULL);
  return BL_OK;
}

static bl_status print_document(creating *c, const char *location, bl_json **out) {
  members m = {c->a, bl_json_new(c->a, BL_J_OBJECT), true};
  bl_uuid_text uuid = bl_new_uuid(bl_arena_ctx(c->a));
  put_int(&m, "format-version", c->version);
  put(&m, "table-uuid", bl_json_new_str(c->a, bl_str_of(uuid.s)));
  put(&m, "location", bl_json_new_str(c->a, bl_str_of(location)));
  if (c->version > 1) put_int(&m, "last-sequence-number", 0);
  put_int(&m, "last-updated-ms", bl_now_ms(bl_arena_ctx(c->a)));
  put_schema(&m, c);
  put_spec(&m, c);
  put_order(&m, c);
  BL_TRY(put_properties(&m, c));
  if (c->version > 2) put_int(&m, "next-row-id", 0);
  put_empty(&m, "refs", BL_J_OBJECT);
  put_empty(&m, "snapshots", BL_J_ARRAY);
  put_empty(&m, "statistics", BL_J_ARRAY);
  put_empty(&m, "partition-statistics", BL_J_ARRAY);
  put_empty(&m, "snapshot-log", BL_J_ARRAY);
  put_empty(&m, "metadata-log", BL_J_ARRAY);
  *out = m.obj;
  return m.ok ? BL_OK : bl_nomem(c->err);
}

bl_status bl_new_document(bl_arena *a, const bl_create_options *o, const char *location, bl_json **out, bl_error *err) {
  creating c = {.a = a, .o = o, .version = o->format_version ? o->format_version : NEWEST_VERSION, .err = err};
  if (c.version < 1 || c.version > NEWEST_VERSION)
    return bl_fail(err, BL_USAGE, "wrong format version: %d: 1, 2 or 3 is expected", c.version);
  BL_TRY(read_schema(&c));
  BL_TRY(check_schema(&c));
  BL_TRY(read_layout(&c));
  return print_document(&c, location, out);
}

/* ---- in a folder ---- */

/* The folder as the metadata will have it: absolute, without a slash at the end. */
static bl_status location_of_folder(bl_arena *a, const char *folder, bl_str *out, bl_error *err) {
  char here[4096];
  size_t n = strlen(folder);
  while (n > 1 && folder[n - 1] == '/') n--;
  while (n > 2 && folder[0] == '.' && folder[1] == '/') folder += 2, n -= 2;
  bool absolute = folder[0] == '/' || strstr(folder, ":/");
  if (!absolute && !getcwd(here, sizeof here)) return bl_fail(err, BL_IO, "cannot tell the working folder: %m");
  *out = absolute                   ? bl_arena_printf(a, "%.*s", (int)n, folder)
         : n == 1 && *folder == '.' ? bl_arena_str(a, bl_str_of(here))
                                    : bl_arena_printf(a, "%s/%.*s", here, (int)n, folder);
  return out->p ? BL_OK : bl_nomem(err);
}

static bl_status make_io(bl_ctx *ctx, const bl_drivers *d, const bl_table_options *o, bl_io **out, bl_error *err) {
  bl_path_map *maps = bl_calloc(ctx, o->n_path_maps + 1, sizeof *maps);
  if (!maps) return bl_nomem(err);
  bl_status st = BL_OK;
  for (size_t i = 0; i < o->n_path_maps && st == BL_OK; i++) st = bl_path_map_parse(o->path_maps[i], &maps[i], err);
  if (st == BL_OK) st = bl_io_pathmap_new(ctx, d->io, false, maps, o->n_path_maps, out, err);
  bl_free(ctx, maps);
  return st;
}

static bl_status create_in_folder(bl_arena *a, const bl_drivers *d, const char *folder, const bl_table_options *to,
                                  const bl_create_options *o, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(a);
  bl_io *io = NULL;
  bl_json *doc;
  bl_str location;
  bl_buf bytes;
  bool gzip;
  char *path = NULL;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(make_io(ctx, d, to, &io, err));
  BL_GO(location_of_folder(a, folder, &location, err));
  BL_GO(bl_new_document(a, o, location.p, &doc, err));
  BL_GO(bl_metadata_bytes(ctx, doc, &bytes, &gzip, err));
  if (!o->dry_run) st = bl_folder_publish(ctx, io, location.p, 1, bytes.p, bytes.n, gzip, &path, err);
done:
  bl_free(ctx, path);
  bl_buf_free(&bytes);
  if (io) io->free(io);
  return st;
}

bl_status bl_table_create(bl_ctx *ctx, const char *table, const bl_table_options *to, const bl_create_options *o,
                          bl_error *err) {
  static const bl_table_options defaults = {0};
  bl_drivers own = {0};
  bl_arena *a = NULL;
  bl_status st;
  if (!to) to = &defaults;
  const bl_drivers *d = to->drivers ? to->drivers : &own;
  BL_GO(bl_arena_new(ctx, &a, err));
  if (!to->drivers) BL_GO(bl_drivers_default(ctx, &own, err));
  if (!*table) BL_GO(bl_fail(err, BL_USAGE, "no table is named: TABLE is empty"));
  if (strchr(table, '/')) st = create_in_folder(a, d, table, to, o, err);
  else st = bl_fail(err, BL_UNSUPPORTED, "tables in catalogs cannot be created yet: %s", table);
done:
  bl_drivers_dispose(&own);
  bl_arena_free(a);
  return st;
}

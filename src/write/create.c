/* create.c: new tables. */
#include "write/create.h"

#include <unistd.h>

#include "format/metadata_json.h"
#include "table/catalog.h"
#include "table/folder.h"
#include "table/pathmap.h"
#include "table/table.h"
#include "write/arrow_types.h"
#include "write/commit.h"
#include "write/metadata_note.h"
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
  if (!o->schema) return bl_schema_of_arrow(c->a, o->arrow, &c->schema, c->err);
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
  for (size_t i = 0; i < root->n_fields; i++) {
    const bl_field *f = &root->fields[i];
    const char *flaw = bl_type_flaw(&f->type);
    BL_TRY(bl_field_allowed(f, true, c->version, c->err));
    if (flaw) return bl_fail(c->err, BL_USAGE, "wrong column: %s: no value is of its type: %s", f->name.p, flaw);
  }
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

#define VERB "create"

/* What a note of the creation tells. */
static bl_write_options note_options(const bl_create_options *o) {
  return (bl_write_options){.summary = o->summary, .n_summary = o->n_summary, .batch_id = o->batch_id};
}

static bl_status put_note(members *m, const creating *c, bl_json *properties) {
  const bl_write_options o = note_options(c->o);
  BL_TRY(bl_summary_check(&o, c->err));
  return bl_note_put(m->a, properties, VERB, &o, bl_now_ms(bl_arena_ctx(c->a)), c->err);
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
    BL_TRY(bl_property_allowed(pair.key, pair.value, c->err));
    BL_TRY(bl_property_names_column(&c->schema, pair.key, c->err));
    bl_str key = bl_arena_str(m->a, pair.key);
    if (!key.p) return bl_nomem(c->err);
    put(&p, key.p, bl_json_new_str(m->a, pair.value));
  }
  if (p.ok) BL_TRY(put_note(m, c, p.obj));
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

bl_status bl_absolute_path(bl_arena *a, const char *folder, bl_str *out, bl_error *err) {
  char here[4096];
  size_t n = bl_path_trim(bl_str_of(folder)).n;
  while (n > 2 && folder[0] == '.' && folder[1] == '/') folder += 2, n -= 2;
  bool absolute = folder[0] == '/' || strstr(folder, ":/");
  if (!absolute && !getcwd(here, sizeof here)) return bl_fail(err, BL_IO, "cannot tell the working folder: %m");
  *out = absolute                   ? bl_arena_printf(a, "%.*s", (int)n, folder)
         : n == 1 && *folder == '.' ? bl_arena_str(a, bl_str_of(here))
                                    : bl_arena_printf(a, "%s/%.*s", here, (int)n, folder);
  return out->p ? BL_OK : bl_nomem(err);
}

/* As `set` has it. */
static bl_status check_folder_property(const bl_create_options *o, bl_error *err) {
  for (size_t i = 0; i < o->n_properties; i++) {
    bl_pair p;
    BL_TRY(bl_key_value(o->properties[i], &p, err));
    BL_TRY(bl_property_of_folders(p.key, err));
  }
  return BL_OK;
}

static bl_status create_in_folder(bl_arena *a, const bl_drivers *d, const char *folder, const bl_table_options *to,
                                  const bl_create_options *o, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(a);
  bl_io *io = NULL;
  bl_json *doc;
  bl_str location;
  bl_buf bytes;
  bool gzip;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(check_folder_property(o, err));
  BL_GO(bl_io_with_maps(ctx, d->io, to, &io, err));
  BL_GO(bl_absolute_path(a, folder, &location, err));
  BL_GO(bl_new_document(a, o, location.p, &doc, err));
  BL_GO(bl_metadata_bytes(ctx, doc, &bytes, &gzip, NULL, err));
  const bl_folder_next first = {.version = 1, .p = bytes.p, .n = bytes.n, .gzip = gzip};
  st = o->dry_run ? bl_folder_check(ctx, io, location.p, &first, err)
                  : bl_folder_commit(ctx, io, location.p, &first, err);
done:
  bl_buf_free(&bytes);
  if (io) io->free(io);
  return st;
}

/* ---- in a catalog ---- */

typedef struct new_table {
  bl_arena *a;
  const bl_drivers *d;
  const bl_table_options *to;
  const bl_create_options *o;
  bl_catalog *catalog;
  bl_table_name name;
  const char *folder;
} new_table;

static bl_status take_location(void *user, const bl_catalog_pair *p, bl_error *err) {
  new_table *n = user;
  n->folder = bl_arena_str(n->a, bl_str_of(p->value)).p;
  return n->folder ? BL_OK : bl_nomem(err);
}

static bl_status take_nothing(void *user, const bl_catalog_entry *e, bl_error *err) {
  (void)user, (void)e, (void)err;
  return BL_OK;
}

static bl_status check_name_is_free(const new_table *n, const char *table, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = n->catalog->load(n->catalog, &n->name, take_nothing, NULL, &why);
  if (st == BL_NOT_FOUND) return BL_OK;
  if (st == BL_OK || st == BL_UNSUPPORTED)
    return bl_fail(err, BL_CONFLICT, "the name is taken: %s in catalog %s", table, n->catalog->name);
  return bl_fail(err, st, "%s", why.message);
}

static bl_status write_and_commit(const new_table *n, bl_io *io, const bl_json *doc, bl_error *err) {
  bl_ctx *ctx = bl_arena_ctx(n->a);
  bl_buf bytes;
  bool gzip;
  char *path = NULL;
  bl_metadata *md = NULL;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(bl_metadata_bytes(ctx, doc, &bytes, &gzip, &md, err));
  if (n->o->dry_run) goto done;
  bl_str folder = bl_metadata_folder(n->a, md, false);
  if (!folder.p) BL_GO(bl_nomem(err));
  BL_GO(bl_metadata_write(ctx, io, folder.p, 0, bytes.p, bytes.n, gzip, NULL, &path, err));
  st = n->catalog->commit(n->catalog, &n->name, NULL, path, err);
  if (st != BL_OK && bl_pointer_is_at(n->catalog, &n->name, path)) {
    bl_warn(ctx, "the table was reported as not created, but it is there: %s", err ? err->message : path);
    if (err) *err = (bl_error)BL_ERROR_INIT;
    st = BL_OK;
  }
  if (st == BL_OK || st == BL_UNKNOWN) goto done;
  if (io->remove(io, path, NULL) != BL_OK) bl_warn(ctx, "a file that is not needed stays: %s", path);
done:
  bl_free(ctx, path);
  bl_metadata_free(md);
  bl_buf_free(&bytes);
  return st;
}

static bl_status create_by_pointer(const new_table *n, bl_error *err) {
  bl_io *io = NULL;
  bl_json *doc;
  bl_str location;
  bl_status st;
  BL_GO(bl_io_with_maps(bl_arena_ctx(n->a), n->d->io, n->to, &io, err));
  BL_GO(bl_absolute_path(n->a, n->folder, &location, err));
  BL_GO(bl_new_document(n->a, n->o, location.p, &doc, err));
  st = write_and_commit(n, io, doc, err);
done:
  if (io) io->free(io);
  return st;
}

static bl_status create_in(new_table *n, const char *table, bl_error *err) {
  bl_catalog *c = n->catalog;
  bool folders = bl_catalog_has_folders(c);
  if (!c->location || (!folders && !c->commit))
    return bl_fail(err, BL_UNSUPPORTED, "cannot create %s: catalog %s is read-only", table, c->name);
  if (folders && n->o->location)
    return bl_fail(err, BL_USAGE, "wrong location: tables of the warehouse %s lie below it", c->name);
  BL_TRY(bl_table_name_parse(n->a, table, &n->name, err));
  BL_TRY(check_name_is_free(n, table, err));
  BL_TRY(c->location(c, &n->name, take_location, n, err));
  if (n->o->location) n->folder = n->o->location;
  return folders ? create_in_folder(n->a, n->d, n->folder, n->to, n->o, err) : create_by_pointer(n, err);
}

static bl_status create_in_catalog(bl_arena *a, const bl_drivers *d, const char *table, const bl_table_options *to,
                                   const bl_create_options *o, bl_error *err) {
  new_table n = {.a = a, .d = d, .to = to, .o = o};
  bl_catalog_options c;
  bool found;
  BL_TRY(bl_catalog_choose(a, to, &c, &found, err));
  if (!found)
    return bl_fail(err, BL_USAGE, "cannot create %s: no catalog is named (for a folder of that name: ./%s)", table,
                   table);
  BL_TRY(bl_catalog_connect(bl_arena_ctx(a), d, &c, &n.catalog, err));
  bl_status st = create_in(&n, table, err);
  n.catalog->free(n.catalog);
  return st;
}

/* ---- again ---- */

/* A name that is taken by the table that this very batch created is no conflict. */
static bl_status look_whether_created(bl_ctx *ctx, const char *table, const bl_table_options *to,
                                      const bl_create_options *o, bl_error *err) {
  const bl_write_options note = note_options(o);
  bl_table *t = NULL;
  bool there = false;
  bl_status st = BL_OK;
  if (o->batch_id && bl_table_open(ctx, table, to, &t, NULL) == BL_OK)
    st = bl_note_is_there(ctx, &t->metadata->properties, VERB, &note, &there, NULL);
  bl_table_free(t);
  if (st != BL_OK || !there) return BL_CONFLICT;
  if (o->already_applied) *o->already_applied = true;
  if (err) *err = (bl_error)BL_ERROR_INIT;
  return BL_OK;
}

bl_status bl_table_create(bl_ctx *ctx, const char *table, const bl_table_options *to, const bl_create_options *o,
                          bl_error *err) {
  bl_table_options with = to ? *to : (bl_table_options){0};
  bl_drivers own = {0};
  bl_arena *a = NULL;
  bl_status st;
  const bl_drivers *d = with.drivers ? with.drivers : &own;
  if (o->already_applied) *o->already_applied = false;
  BL_GO(bl_arena_new(ctx, &a, err));
  if (!with.drivers) BL_GO(bl_drivers_default(ctx, &own, err));
  with.drivers = d;
  if (!*table) BL_GO(bl_fail(err, BL_USAGE, "no table is named: TABLE is empty"));
  if (strchr(table, '/') && o->location)
    BL_GO(bl_fail(err, BL_USAGE, "wrong location: a table in a folder lies there: %s", table));
  st =
      strchr(table, '/') ? create_in_folder(a, d, table, &with, o, err) : create_in_catalog(a, d, table, &with, o, err);
  if (st == BL_CONFLICT) st = look_whether_created(ctx, table, &with, o, err);
done:
  bl_drivers_dispose(&own);
  bl_arena_free(a);
  return st;
}

/* catalog_verbs.c: names given to metadata files, and tables that go, see bergline/catalog.h. */
#include "bergline/catalog.h"
#include "bergline/write.h"
#include "format/metadata_json.h"
#include "table/catalog.h"
#include "table/metadata_file.h"
#include "table/pathmap.h"
#include "table/table.h"
#include "write/create.h"
#include "write/folder_verbs.h"
#include "write/properties.h"
#include "write/purge.h"

enum { MOST_TRIES = 10 };

/* ---- all of them ---- */

typedef struct verb {
  bl_ctx *ctx;
  bl_table_options o;
  bl_drivers own; /* where the options give none */
  bl_catalog *c;
  bl_arena *a;
  bl_io *io;
  bl_table_name name;
  const char *address; /* the name as it was given */
  bool dry;
} verb;

static bl_status begin(verb *v, bl_error *err) {
  if (!v->o.drivers) BL_TRY(bl_drivers_default(v->ctx, &v->own, err));
  if (!v->o.drivers) v->o.drivers = &v->own;
  BL_TRY(bl_catalog_open(v->ctx, &v->o, false, &v->c, err));
  BL_TRY(bl_arena_new(v->ctx, &v->a, err));
  BL_TRY(bl_io_with_maps(v->ctx, v->o.drivers->io, &v->o, &v->io, err));
  return bl_table_name_parse(v->a, v->address, &v->name, err);
}

static void end(verb *v) {
  if (v->io) v->io->free(v->io);
  bl_catalog_free(v->c);
  bl_arena_free(v->a);
  bl_drivers_dispose(&v->own);
}

typedef struct told {
  bl_arena *a;
  bl_str text;
} told;

static bl_status take_location(void *user, const bl_catalog_pair *p, bl_error *err) {
  told *t = user;
  return bl_absolute_path(t->a, p->value, &t->text, err);
}

static bl_status take_metadata(void *user, const bl_catalog_entry *e, bl_error *err) {
  told *t = user;
  t->text = bl_arena_str(t->a, bl_str_of(e->metadata_location));
  return t->text.p ? BL_OK : bl_nomem(err);
}

/* The folder of a table in a warehouse. BL_NOT_FOUND: no such namespace. */
static bl_status folder_of(const verb *v, const bl_table_name *name, const char **out, bl_error *err) {
  told t = {.a = v->a};
  BL_TRY(v->c->location(v->c, name, take_location, &t, err));
  *out = t.text.p;
  return BL_OK;
}

/* The metadata file of a table that is there. */
static bl_status file_of(const verb *v, const bl_table_name *name, const char **out, bl_error *err) {
  told t = {.a = v->a};
  BL_TRY(v->c->load(v->c, name, take_metadata, &t, err));
  *out = t.text.p;
  return BL_OK;
}

/* What a new name would be refused for: a namespace that is not there, another of the name. */
static bl_status check_is_free(const verb *v, const bl_table_name *name, const char *address, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  const char *file;
  if (v->c->location) {
    const char *folder;
    bl_status st = folder_of(v, name, &folder, &why);
    if (st != BL_OK && st != BL_USAGE) return bl_fail(err, st, "%s", why.message);
    why = (bl_error)BL_ERROR_INIT;
  }
  bl_status st = file_of(v, name, &file, &why);
  if (st == BL_NOT_FOUND) return BL_OK;
  if (st == BL_OK || st == BL_UNSUPPORTED)
    return bl_fail(err, BL_CONFLICT, "the name is taken: %s in catalog %s", address, v->c->name);
  return bl_fail(err, st, "%s", why.message);
}

/* ---- register ---- */

static bl_status check_metadata(const verb *v, const char *file, bl_error *err) {
  bl_metadata *md = NULL;
  bl_status st = bl_metadata_read(v->ctx, v->io, file, &md, err);
  bl_metadata_free(md);
  return st;
}

static bl_status register_in_folder(const verb *v, const char *file, bl_error *err) {
  const char *folder;
  bl_error why = BL_ERROR_INIT;
  BL_TRY(folder_of(v, &v->name, &folder, err));
  const char *taken;
  bl_status st = file_of(v, &v->name, &taken, &why);
  if (st == BL_UNSUPPORTED) return bl_fail(err, BL_CONFLICT, "the name is taken: %s", why.message);
  if (st != BL_OK && st != BL_NOT_FOUND) return bl_fail(err, st, "%s", why.message);
  return bl_folder_register(v->ctx, v->io, folder, file, v->dry, err);
}

static bl_status register_pointer(const verb *v, const char *file, bl_error *err) {
  BL_TRY(check_metadata(v, file, err));
  return v->dry ? check_is_free(v, &v->name, v->address, err) : v->c->commit(v->c, &v->name, NULL, file, err);
}

bl_status bl_catalog_register(bl_ctx *ctx, const bl_table_options *o, const char *name, const char *metadata_file,
                              bool dry_run, bl_error *err) {
  verb v = {.ctx = ctx, .o = *o, .address = name, .dry = dry_run};
  bl_str file;
  bl_status st;
  BL_GO(begin(&v, err));
  bool folders = bl_catalog_has_folders(v.c);
  if (!folders && !v.c->commit)
    BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot register a table: catalog %s does not support it", v.c->name));
  BL_GO(bl_absolute_path(v.a, metadata_file, &file, err)); /* others read it from other folders */
  st = folders ? register_in_folder(&v, file.p, err) : register_pointer(&v, file.p, err);
done:
  end(&v);
  return st;
}

/* ---- rename ---- */

/* What a table that has a new folder names is written anew, for all who take paths as they are. */
static bl_status relocate(const verb *v, const char *name, const char *folder, bl_error *err) {
  bl_table *t = NULL;
  BL_TRY(bl_table_open(v->ctx, name, &v->o, &t, err));
  bl_str was = t->metadata->location, local = bl_path_local(was);
  bl_str location = bl_arena_printf(v->a, "%.*s%s", (int)(was.n - local.n), was.p, folder); /* file:, where it had it */
  bl_status st = location.p ? bl_relocate(t, location.p, NULL, err) : bl_nomem(err);
  bl_table_free(t);
  return st;
}

static bl_status rename_folder(const verb *v, const bl_table_name *to, const char *address, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  const char *file, *from_folder, *to_folder;
  BL_TRY(file_of(v, &v->name, &file, err));
  BL_TRY(folder_of(v, &v->name, &from_folder, err));
  BL_TRY(check_is_free(v, to, address, err));
  BL_TRY(folder_of(v, to, &to_folder, err));
  BL_TRY(bl_folder_rename(v->ctx, v->io, from_folder, to_folder, v->dry, err));
  if (v->dry || relocate(v, address, to_folder, &why) == BL_OK) return BL_OK;
  return bl_fail(err, BL_UNKNOWN,
                 "the table has its new name, %s, but its metadata names the old place still, which other programs go "
                 "by: bergline relocate %s --to %s ends it: %s",
                 address, address, to_folder, why.message);
}

static bl_status rename_pointer(const verb *v, const bl_table_name *to, const char *address, bl_error *err) {
  const char *file;
  if (!v->c->rename)
    return bl_fail(err, BL_UNSUPPORTED, "cannot rename a table: catalog %s does not support it", v->c->name);
  if (!v->dry) return v->c->rename(v->c, &v->name, to, err);
  BL_TRY(file_of(v, &v->name, &file, err));
  return check_is_free(v, to, address, err);
}

bl_status bl_catalog_rename(bl_ctx *ctx, const bl_table_options *o, const char *from, const char *to, bool dry_run,
                            bl_error *err) {
  verb v = {.ctx = ctx, .o = *o, .address = from, .dry = dry_run};
  bl_table_name name;
  bl_status st;
  BL_GO(begin(&v, err));
  BL_GO(bl_table_name_parse(v.a, to, &name, err));
  st = bl_catalog_has_folders(v.c) ? rename_folder(&v, &name, to, err) : rename_pointer(&v, &name, to, err);
done:
  end(&v);
  return st;
}

/* ---- drop ---- */

static bl_status check_purge(const bl_table *t, bl_error *err) {
  if (!t->io->remove) return bl_fail(err, BL_UNSUPPORTED, "cannot purge %s: %s is read-only", t->name, t->io->name);
  if (bl_property_bool(&t->metadata->properties, "gc.enabled", true)) return BL_OK;
  return bl_fail(err, BL_USAGE, "cannot purge %s: its property gc.enabled is false", t->name);
}

typedef struct purging {
  const verb *v;
  char *rest; /* bl_free: the newest metadata file where the table would lie; NULL: none */
} purging;

static bl_status find_rest(void *user, const bl_catalog_pair *folder, bl_error *err) {
  purging *p = user;
  bl_table *t = NULL;
  (void)err;
  if (bl_table_open(p->v->ctx, folder->value, &p->v->o, &t, NULL) == BL_OK)
    p->rest = bl_strdup(p->v->ctx, t->metadata_path);
  bl_table_free(t);
  return BL_OK;
}

/* There is no such table. Has a purge been cut short, or were its files to stay? Nothing else tells of them. */
static bl_status tell_rest(purging *p, const bl_error *why, bl_error *err) {
  bl_status st = BL_UNSUPPORTED;
  bl_catalog *c = p->v->c;
  if (!bl_catalog_has_folders(c) && c->location) st = c->location(c, &p->v->name, find_rest, p, NULL);
  if (st == BL_OK && p->rest)
    st = bl_fail(err, BL_NOT_FOUND, "%s; files of one are there: by %s it is registered, and can be purged again",
                 why->message, p->rest);
  else st = bl_fail(err, BL_NOT_FOUND, "%s", why->message);
  bl_free(p->v->ctx, p->rest);
  return st;
}

static bl_status open_table(purging *p, bl_table **out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_table_open(p->v->ctx, p->v->address, &p->v->o, out, &why);
  if (st == BL_OK) return BL_OK;
  return st == BL_NOT_FOUND ? tell_rest(p, &why, err) : bl_fail_at(err, st, why.position, "%s", why.message);
}

/* Written down as it is when its name goes, as far as that is known: others may commit meanwhile. */
static bl_status purge_once(purging *p, bool *again, bl_error *err) {
  const verb *v = p->v;
  bool folders = bl_catalog_has_folders(v->c);
  bl_table *t = NULL;
  bl_purge *files = NULL;
  bl_status st;
  BL_GO(open_table(p, &t, err));
  BL_GO(check_purge(t, err));
  *again = *again && !v->dry;
  if (v->dry) goto done;
  BL_GO(bl_purge_new(t, folders, &files, err));
  *again = *again && !folders && !bl_table_is_current(t);
  if (*again) goto done;
  BL_GO(v->c->drop(v->c, &v->name, err));
  bl_purge_run(files);
done:
  bl_purge_free(files);
  bl_table_free(t);
  return st;
}

static bl_status purge(purging *p, bl_error *err) {
  bl_status st = BL_OK;
  bool again = true;
  for (int tries = 0; again && st == BL_OK; tries++) {
    again = tries < MOST_TRIES;
    st = purge_once(p, &again, err);
  }
  return st;
}

/* *left: by which it can be registered. again: another has committed meanwhile. */
static bl_status drop_pointer_once(const verb *v, bool last, bool *again, char **left, bl_error *err) {
  const char *file, *now;
  bl_error why = BL_ERROR_INIT;
  bl_catalog *c = v->c;
  *again = false;
  BL_TRY(file_of(v, &v->name, &file, err));
  if (v->dry) return BL_OK;
  bl_status st = c->drop_at ? c->drop_at(c, &v->name, file, &why) : c->drop(c, &v->name, &why);
  *again = st == BL_CONFLICT && !last && file_of(v, &v->name, &now, NULL) == BL_OK && strcmp(file, now) != 0;
  if (*again) return BL_OK;
  if (st != BL_OK) return bl_fail(err, st, "%s", why.message);
  *left = bl_strdup(v->ctx, file); /* NULL: it is done all the same */
  return BL_OK;
}

static bl_status drop_pointer(const verb *v, char **left, bl_error *err) {
  bl_status st = BL_OK;
  bool again = true;
  for (int tries = 1; again && st == BL_OK; tries++)
    st = drop_pointer_once(v, tries == MOST_TRIES * MOST_TRIES, &again, left, err);
  return st;
}

static bl_status drop_folder(const verb *v, char **left, bl_error *err) {
  const char *folder, *file;
  bl_error why = BL_ERROR_INIT;
  BL_TRY(folder_of(v, &v->name, &folder, err));
  bl_status st = file_of(v, &v->name, &file, &why);
  if (st != BL_OK && st != BL_NOT_FOUND) return bl_fail(err, st, "%s", why.message);
  bl_status done = bl_folder_drop(v->ctx, v->io, folder, v->dry, left, st == BL_OK ? err : NULL);
  if (st == BL_OK) return done;
  return bl_fail(err, st, "%s", why.message); /* what was left undone is done */
}

bl_status bl_catalog_drop(bl_ctx *ctx, const bl_table_options *o, const char *name, bool purge_too, bool dry_run,
                          char **left, bl_error *err) {
  verb v = {.ctx = ctx, .o = *o, .address = name, .dry = dry_run};
  purging p = {.v = &v};
  char *file = NULL;
  bl_status st;
  if (left) *left = NULL;
  BL_GO(begin(&v, err));
  if (!v.c->drop) BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot drop %s: catalog %s is read-only", name, v.c->name));
  st = purge_too                     ? purge(&p, err)
       : bl_catalog_has_folders(v.c) ? drop_folder(&v, &file, err)
                                     : drop_pointer(&v, &file, err);
done:
  if (left) *left = file;
  else bl_free(ctx, file);
  end(&v);
  return st;
}

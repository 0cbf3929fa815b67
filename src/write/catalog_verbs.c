/* catalog_verbs.c: names given to metadata files, and tables that go, see bergline/catalog.h. */
#include "bergline/catalog.h"
#include "format/metadata_json.h"
#include "table/catalog.h"
#include "table/io.h"
#include "table/table.h"
#include "write/create.h"
#include "write/properties.h"
#include "write/purge.h"

enum { MOST_TRIES = 10 };

/* ---- register ---- */

static bl_status check_metadata(bl_ctx *ctx, const bl_table_options *o, const char *file, bl_error *err) {
  bl_io *io = NULL;
  bl_buf bytes;
  bl_metadata *md = NULL;
  bl_status st;
  bl_buf_init(&bytes, ctx, BL_BUF_MAX);
  BL_GO(bl_io_with_maps(ctx, o->drivers->io, o, &io, err));
  BL_GO(bl_io_read_all(io, file, ctx->o.max_metadata_bytes, &bytes, err));
  st = bl_metadata_parse(ctx, bytes.p, bytes.n, &md, err);
  if (st != BL_OK) bl_fail_in(err, st, "%s", file);
done:
  bl_metadata_free(md);
  bl_buf_free(&bytes);
  if (io) io->free(io);
  return st;
}

bl_status bl_catalog_register(bl_ctx *ctx, const bl_table_options *o, const char *name, const char *metadata_file,
                              bl_error *err) {
  bl_catalog *c = NULL;
  bl_arena *a = NULL;
  bl_table_name t;
  bl_str file;
  bl_status st;
  BL_GO(bl_catalog_open(ctx, o, false, &c, err));
  if (!c->commit)
    BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot register a table: catalog %s does not support it", c->name));
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_table_name_parse(a, name, &t, err));
  BL_GO(bl_absolute_path(a, metadata_file, &file, err)); /* others read it from other folders */
  BL_GO(check_metadata(ctx, o, file.p, err));
  st = c->commit(c, &t, NULL, file.p, err);
done:
  bl_catalog_free(c);
  bl_arena_free(a);
  return st;
}

/* ---- drop ---- */

static bl_status check_purge(const bl_table *t, bl_error *err) {
  if (!t->io->remove) return bl_fail(err, BL_UNSUPPORTED, "cannot purge %s: %s is read-only", t->name, t->io->name);
  if (bl_property_bool(&t->metadata->properties, "gc.enabled", true)) return BL_OK;
  return bl_fail(err, BL_USAGE, "cannot purge %s: its property gc.enabled is false", t->name);
}

typedef struct purging {
  bl_ctx *ctx;
  bl_catalog *c;
  const bl_table_name *name;
  const char *address;
  const bl_table_options *o;
  char *rest; /* bl_free: the newest metadata file where the table would lie; NULL: none */
} purging;

static bl_status find_rest(void *user, const bl_catalog_pair *folder, bl_error *err) {
  purging *p = user;
  bl_table *t = NULL;
  (void)err;
  if (bl_table_open(p->ctx, folder->value, p->o, &t, NULL) == BL_OK) p->rest = bl_strdup(p->ctx, t->metadata_path);
  bl_table_free(t);
  return BL_OK;
}

/* There is no such table. Has a purge been cut short, or were its files to stay? Nothing else tells of them. */
static bl_status tell_rest(purging *p, const bl_error *why, bl_error *err) {
  bl_status st = BL_UNSUPPORTED;
  if (!bl_catalog_has_folders(p->c) && p->c->location) st = p->c->location(p->c, p->name, find_rest, p, NULL);
  if (st == BL_OK && p->rest)
    st = bl_fail(err, BL_NOT_FOUND, "%s; files of one are there: by %s it is registered, and can be purged again",
                 why->message, p->rest);
  else st = bl_fail(err, BL_NOT_FOUND, "%s", why->message);
  bl_free(p->ctx, p->rest);
  return st;
}

static bl_status open_table(purging *p, bl_table **out, bl_error *err) {
  bl_error why = BL_ERROR_INIT;
  bl_status st = bl_table_open(p->ctx, p->address, p->o, out, &why);
  if (st == BL_OK) return BL_OK;
  return st == BL_NOT_FOUND ? tell_rest(p, &why, err) : bl_fail_at(err, st, why.position, "%s", why.message);
}

/* Written down as it is when its name goes, as far as that is known: others may commit meanwhile. */
static bl_status purge_once(purging *p, bool *again, bl_error *err) {
  bool folders = bl_catalog_has_folders(p->c);
  bl_table *t = NULL;
  bl_purge *files = NULL;
  bl_status st;
  BL_GO(open_table(p, &t, err));
  BL_GO(check_purge(t, err));
  BL_GO(bl_purge_new(t, folders, &files, err));
  *again = *again && !folders && !bl_table_is_current(t);
  if (*again) goto done;
  BL_GO(p->c->drop(p->c, p->name, err));
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

bl_status bl_catalog_drop(bl_ctx *ctx, const bl_table_options *o, const char *name, bool purge_too, bl_error *err) {
  bl_catalog *c = NULL;
  bl_arena *a = NULL;
  bl_table_name t;
  bl_status st;
  BL_GO(bl_catalog_open(ctx, o, false, &c, err));
  BL_GO(bl_arena_new(ctx, &a, err));
  BL_GO(bl_table_name_parse(a, name, &t, err));
  if (!c->drop) BL_GO(bl_fail(err, BL_UNSUPPORTED, "cannot drop %s: catalog %s is read-only", name, c->name));
  if (!purge_too && bl_catalog_has_folders(c))
    BL_GO(bl_fail(err, BL_UNSUPPORTED,
                  "cannot drop %s and keep its files: a table of the warehouse %s is its folder "
                  "(purge removes it)",
                  name, c->name));
  purging p = {.ctx = ctx, .c = c, .name = &t, .address = name, .o = o};
  st = purge_too ? purge(&p, err) : c->drop(c, &t, err);
done:
  bl_catalog_free(c);
  bl_arena_free(a);
  return st;
}

/* fault_world.c: see fault_world.h. */
#include "fault_world.h"

#include <sys/stat.h>
#include <unistd.h>

#include "format/metadata_json.h"
#include "support/apply.h"
#include "support/fault_sys.h"
#include "support/text_input.h"
#include "table/manifests.h"
#include "write/commit.h"

#define NAME "db.t"

bl_status place_open(place *p, const ground *g, bl_ctx *ctx, bl_error *err) {
  *p = (place){.g = g, .ctx = ctx};
  BL_TRY(bl_drivers_default(ctx, &p->drivers, err));
  p->o = (bl_table_options){.uri = g->sqlite ? g->uri : NULL, .warehouse = g->work, .drivers = &p->drivers};
  return BL_OK;
}

void place_close(place *p) {
  bl_drivers_dispose(&p->drivers);
}

/* ---- rows ---- */

typedef bl_status act(const place *p, bl_table *t, void *user, bl_error *err);

static bl_status on(const place *p, const char *name, act *what, void *user, bl_error *err) {
  bl_table *t;
  BL_TRY(bl_table_open(p->ctx, name, &p->o, &t, err));
  bl_status st = what(p, t, user, err);
  bl_table_free(t);
  return st;
}

/* A verb that takes rows. */
typedef struct rows_verb {
  const char *rows;
  bl_write_options o;
  enum { APPEND, UPSERT, SYNC, OVERWRITE, STAGED } kind;
  bl_overwrite_kind overwrite;
  const char *where;
} rows_verb;

static bl_status staged(bl_table *t, struct ArrowArrayStream *s, const rows_verb *v, bl_error *err) {
  char *text = NULL;
  BL_TRY(bl_stage_append(t, s, &v->o, &text, err));
  bl_status st = bl_commit_staged(t, (const char *const *)&text, 1, &v->o, NULL, err);
  bl_text_free(t->ctx, text);
  return st;
}

static bl_status do_rows(const place *p, bl_table *t, void *user, bl_error *err) {
  static const char *const key[] = {"k"};
  const rows_verb *v = user;
  const bl_upsert_options u = {.key = key, .n_key = 1, .delete_missing = v->kind == SYNC};
  const bl_read_options r = {.format = BL_INPUT_NDJSON};
  text_input in = text_input_of(v->rows, strlen(v->rows));
  struct ArrowArrayStream s;
  (void)p;
  BL_TRY(bl_read_rows(t, &in.in, "rows", &r, &s, err));
  switch (v->kind) {
  case APPEND: return bl_append(t, &s, &v->o, NULL, err);
  case UPSERT:
  case SYNC: return bl_upsert(t, &s, &u, &v->o, NULL, err);
  case OVERWRITE: return bl_overwrite(t, &s, v->overwrite, v->where, &v->o, NULL, err);
  case STAGED: break;
  }
  return staged(t, &s, v, err);
}

static bl_status put(const place *p, const char *name, rows_verb v, bl_error *err) {
  return on(p, name, do_rows, &v, err);
}

/* ---- verbs of rows ---- */

#define ROWS(fn, ...)                                                                                                  \
  static bl_status fn(const place *p, bl_error *err) {                                                                 \
    return put(p, NAME, (rows_verb){__VA_ARGS__}, err);                                                                \
  }
#define NEW "{\"k\":10,\"v\":100,\"p\":1}\n{\"k\":11,\"p\":3}\n"
#define MIXED "{\"k\":1,\"v\":77,\"p\":1}\n{\"k\":2,\"v\":20,\"p\":2}\n{\"k\":12,\"v\":1,\"p\":1}\n"
#define ON_MERGE .o = {.mode = BL_MERGE_ON_READ}
#define ON_COPY .o = {.mode = BL_COPY_ON_WRITE}
ROWS(run_append, NEW)
ROWS(run_append_branch, NEW, .o = {.ref = "side"})
ROWS(run_append_wap, NEW, .o = {.wap_id = "w2"})
ROWS(run_staged, NEW, .kind = STAGED)
ROWS(run_upsert_merge, MIXED, .kind = UPSERT, ON_MERGE)
ROWS(run_upsert_copy, MIXED, .kind = UPSERT, ON_COPY)
ROWS(run_sync_merge, MIXED, .kind = SYNC, ON_MERGE)
ROWS(run_sync_copy, MIXED, .kind = SYNC, ON_COPY)
ROWS(run_overwrite_all, NEW, .kind = OVERWRITE, .overwrite = BL_OVERWRITE_ALL)
ROWS(run_overwrite_merge, NEW, .kind = OVERWRITE, .overwrite = BL_OVERWRITE_WHERE, .where = "k <= 2", ON_MERGE)
ROWS(run_overwrite_copy, NEW, .kind = OVERWRITE, .overwrite = BL_OVERWRITE_WHERE, .where = "k <= 2", ON_COPY)
ROWS(run_overwrite_partitions, NEW, .kind = OVERWRITE, .overwrite = BL_OVERWRITE_PARTITIONS)

bl_status place_append(const place *p, bl_table *t, bl_error *err) {
  rows_verb v = {NEW};
  return do_rows(p, t, &v, err);
}

#define VERB(fn, expr)                                                                                                 \
  static bl_status do_##fn(const place *p, bl_table *t, void *user, bl_error *err) {                                   \
    (void)p, (void)user;                                                                                               \
    return expr;                                                                                                       \
  }                                                                                                                    \
  static bl_status run_##fn(const place *p, bl_error *err) {                                                           \
    return on(p, NAME, do_##fn, NULL, err);                                                                            \
  }

static const bl_write_options merge = {.mode = BL_MERGE_ON_READ}, copy = {.mode = BL_COPY_ON_WRITE};
static const char *const set_v[] = {"v = v + 1"};

VERB(delete_merge, bl_delete_rows(t, "k in (1, 4)", &merge, NULL, err))
VERB(delete_copy, bl_delete_rows(t, "k in (1, 4)", &copy, NULL, err))
VERB(delete_file, bl_delete_rows(t, "p = 2", &merge, NULL, err))
VERB(update_merge, bl_update_rows(t, set_v, 1, "k in (1, 4)", &merge, NULL, err))
VERB(update_copy, bl_update_rows(t, set_v, 1, "k in (1, 4)", &copy, NULL, err))

static bl_status give_up(bl_table *t, bl_error *err) {
  char *text = NULL;
  const bl_write_options o = {.mode = BL_COPY_ON_WRITE, .stage = &text};
  BL_TRY(bl_delete_rows(t, "k in (1, 4)", &o, NULL, err));
  bl_status st = bl_abandon_staged(t, (const char *const *)&text, 1, err);
  bl_text_free(t->ctx, text);
  return st;
}

/* A delete that is staged and given up, then an update that is staged and committed. */
static bl_status update_staged(bl_table *t, bl_error *err) {
  char *text = NULL;
  const bl_write_options o = {.mode = BL_MERGE_ON_READ, .stage = &text};
  BL_TRY(give_up(t, err));
  BL_TRY(bl_update_rows(t, set_v, 1, "k in (1, 4)", &o, NULL, err));
  bl_status st = bl_commit_staged(t, (const char *const *)&text, 1, NULL, NULL, err);
  bl_text_free(t->ctx, text);
  return st;
}
VERB(update_staged, update_staged(t, err))

static bl_status apply(bl_table *t, const bl_write_options *o, bl_error *err) {
  static const char events[] = "{\"op\":\"u\",\"before\":null,\"after\":{\"k\":1,\"v\":5}}\n"
                               "{\"op\":\"d\",\"before\":{\"k\":2},\"after\":null}\n"
                               "{\"op\":\"c\",\"before\":null,\"after\":{\"k\":13,\"v\":4,\"p\":2}}\n"
                               "{\"op\":\"u\",\"before\":{\"k\":13},\"after\":{\"k\":13,\"v\":5}}\n";
  return test_apply(t, events, BL_APPLY_DEBEZIUM, o, NULL, err);
}
/* With positions of two sources. */
static bl_status apply_at_positions(bl_table *t, bl_error *err) {
  static const char events[] =
      "{\"op\":\"c\",\"after\":{\"k\":13,\"v\":5,\"p\":2},\"source\":{\"connector\":\"postgresql\",\"name\":\"a\","
      "\"lsn\":7,\"sequence\":\"[\\\"5\\\",\\\"7\\\"]\"}}\n"
      "{\"op\":\"c\",\"after\":{\"k\":14,\"v\":5,\"p\":2},\"source\":{\"connector\":\"mysql\",\"name\":\"b\","
      "\"file\":\"f.1\",\"pos\":3}}\n";
  return test_apply(t, events, BL_APPLY_DEBEZIUM, NULL, NULL, err);
}
VERB(apply_positions, apply_at_positions(t, err))

/* Our own changelog, as CSV. */
static bl_status apply_changelog(bl_table *t, bl_error *err) {
  static const char rows[] = "k,v,p,_last_updated_sequence_number,_change_type,_commit_snapshot_id\n"
                             "13,5,2,1,INSERT,7\n1,5,1,1,UPDATE_AFTER,8\n";
  return test_apply(t, rows, BL_APPLY_CHANGES, NULL, NULL, err);
}
VERB(apply_changes, apply_changelog(t, err))

/* One that was applied to a branch in part. */
static const bl_write_options ahead = {.ref = "ahead"};
#define OVERLAP "k,v,p,_last_updated_sequence_number,_change_type,_commit_snapshot_id\n14,5,2,1,INSERT,7\n"
VERB(apply_overlap, test_apply(t, OVERLAP "15,5,2,2,INSERT,8\n14,,,,DELETE,9\n", BL_APPLY_CHANGES, &ahead, NULL, err))
VERB(apply_merge, apply(t, &merge, err))
VERB(apply_copy, apply(t, &copy, err))

static bl_status add_files(const place *p, bl_table *t, bl_error *err) {
  const char *paths[] = {p->g->foreign};
  const bl_add_files_options a = {.lineage = BL_LINEAGE_IGNORE};
  return bl_add_files(t, paths, 1, &a, NULL, NULL, err);
}
VERB(add_files, add_files(p, t, err))

/* ---- verbs of metadata ---- */

VERB(set, bl_set_properties(t, (const char *[]){"x=y"}, 1, (const char *[]){"gone"}, 1, NULL, err))
VERB(branch, bl_ref_create(t, "b", true, NULL, NULL, err))
static bl_status do_first_branch(const place *p, bl_table *t, void *user, bl_error *err) {
  (void)p, (void)user;
  return bl_ref_create(t, "b", true, NULL, NULL, err);
}
static bl_status run_first_branch(const place *p, bl_error *err) {
  return on(p, "db.empty", do_first_branch, NULL, err);
}
VERB(tag, bl_ref_create(t, "new", false, NULL, NULL, err))
VERB(drop_branch, bl_ref_drop(t, "side", true, NULL, err))
VERB(fast_forward, bl_fast_forward(t, "main", "ahead", NULL, NULL, err))
VERB(cherry_pick, bl_cherry_pick(t, "wap:w1", NULL, NULL, err))
VERB(rollback, bl_rollback(t, "first", NULL, NULL, err))
VERB(alter_column, bl_alter(t, (const char *[]){"add", "c", "int", "default", "7"}, 5, NULL, err))
VERB(alter_partition, bl_alter(t, (const char *[]){"partition", "add", "bucket(2,k)"}, 3, NULL, err))

static bl_status relocate(bl_table *t, bl_error *err) {
  char to[600]; /* another name of the same folder */
  const char *from = t->metadata->location.p;
  snprintf(to, sizeof to, "file://%s", strncmp(from, "file://", 7) == 0 ? from + 7 : from);
  return bl_relocate(t, to, NULL, err);
}
VERB(relocate, relocate(t, err))

/* ---- verbs of catalogs ---- */

static bl_status create(const place *p, const char *name, const char *const *properties, size_t n, bl_error *err) {
  bl_create_options o = {
      .schema = "k long not null, v long, p int", .partition = "p", .properties = properties, .n_properties = n};
  return bl_table_create(p->ctx, name, &p->o, &o, err);
}
static bl_status run_create(const place *p, bl_error *err) {
  return create(p, "db.new", NULL, 0, err);
}
static bl_status run_drop(const place *p, bl_error *err) {
  return bl_catalog_drop(p->ctx, &p->o, "db.u", false, false, NULL, err);
}
static bl_status run_purge(const place *p, bl_error *err) {
  return bl_catalog_drop(p->ctx, &p->o, "db.u", true, false, NULL, err);
}
static bl_status run_register(const place *p, bl_error *err) {
  bl_table *t;
  char path[600];
  BL_TRY(bl_table_open(p->ctx, NAME, &p->o, &t, err));
  snprintf(path, sizeof path, "%s", t->metadata_path);
  bl_table_free(t);
  return bl_catalog_register(p->ctx, &p->o, "db.again", path, false, err);
}
static bl_status run_rename(const place *p, bl_error *err) {
  return bl_catalog_rename(p->ctx, &p->o, "db.u", "db.w", false, err);
}
static bl_status run_rename_away(const place *p, bl_error *err) {
  return bl_catalog_rename(p->ctx, &p->o, "db.u", "empty.w", false, err);
}

#define CATALOG(fn, expr)                                                                                              \
  static bl_status run_##fn(const place *p, bl_error *err) {                                                           \
    bl_catalog *c;                                                                                                     \
    BL_TRY(bl_catalog_open(p->ctx, &p->o, false, &c, err));                                                            \
    bl_status st = expr;                                                                                               \
    bl_catalog_free(c);                                                                                                \
    return st;                                                                                                         \
  }
CATALOG(create_namespace, bl_catalog_create_namespace(c, "n", (const char *[]){"a=b"}, 1, err))
CATALOG(set_namespace, bl_catalog_set_namespace(c, "db", (const char *[]){"a=b", "c=d"}, 2, NULL, 0, err))
CATALOG(drop_namespace, bl_catalog_drop_namespace(c, "empty", err))

const verb verbs[] = {
    {"append", run_append, false, true},
    {"append to a branch", run_append_branch, false, true},
    {"append for an audit", run_append_wap, false, true},
    {"append staged work", run_staged, false, true},
    {"update staged", run_update_staged, false, true},
    {"add-files", run_add_files, false, false},
    {"delete, merge-on-read", run_delete_merge, false, true},
    {"delete, copy-on-write", run_delete_copy, false, true},
    {"delete of a file", run_delete_file, false, true},
    {"update, merge-on-read", run_update_merge, false, true},
    {"update, copy-on-write", run_update_copy, false, true},
    {"upsert, merge-on-read", run_upsert_merge, false, true},
    {"upsert, copy-on-write", run_upsert_copy, false, true},
    {"sync, merge-on-read", run_sync_merge, false, true},
    {"sync, copy-on-write", run_sync_copy, false, true},
    {"apply, merge-on-read", run_apply_merge, false, true},
    {"apply, copy-on-write", run_apply_copy, false, true},
    {"apply, positions of two sources", run_apply_positions, false, true},
    {"apply, a changelog", run_apply_changes, false, true},
    {"apply, a changelog that overlaps", run_apply_overlap, false, true},
    {"overwrite of all", run_overwrite_all, false, true},
    {"overwrite where, merge-on-read", run_overwrite_merge, false, true},
    {"overwrite where, copy-on-write", run_overwrite_copy, false, true},
    {"overwrite of partitions", run_overwrite_partitions, false, true},
    {"set", run_set, false, true},
    {"branch", run_branch, false, false},
    {"branch of an empty table", run_first_branch, false, false},
    {"tag", run_tag, false, false},
    {"drop of a branch", run_drop_branch, false, false},
    {"fast-forward", run_fast_forward, false, true},
    {"cherry-pick", run_cherry_pick, false, false},
    {"rollback", run_rollback, false, true},
    {"alter, a column", run_alter_column, false, false},
    {"alter, the partitions", run_alter_partition, false, false},
    {"relocate", run_relocate, false, true},
    {"create", run_create, false, false},
    {"drop", run_drop, false, false},
    {"purge", run_purge, false, false},
    {"register", run_register, false, false},
    {"rename", run_rename, false, false},
    {"rename, to another namespace", run_rename_away, false, false},
    {"create a namespace", run_create_namespace, false, false},
    {"set a namespace", run_set_namespace, false, true},
    {"drop a namespace", run_drop_namespace, false, false},
};
const size_t n_verbs = BL_LEN(verbs);

/* ---- what is there ---- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted: threads write new rows in any order. */
static bl_status show_rows(bl_table *t, const char *ref, bl_buf *b, bl_error *err) {
  struct ArrowArrayStream s;
  test_rows rows;
  bl_scan_options o = {.ref = ref, .lineage = true};
  BL_TRY(bl_scan(t, &o, &s, err));
  BL_TRY(test_rows_try_stream(t->ctx, &s, &rows, err));
  if (rows.n > 1) qsort(rows.lines, rows.n, sizeof *rows.lines, by_text);
  for (size_t i = 0; i < rows.n; i++) bl_buf_printf(b, "\n  %s", rows.lines[i]);
  test_rows_free(&rows);
  return BL_OK;
}

/* Everything that readers see, but for times and random names. */
static bl_status show_table(bl_table *t, bool log, bl_buf *b, bl_error *err) {
  const bl_metadata *md = t->metadata;
  bl_buf_printf(b, "\n%.10s snapshots %zu seq %lld next %lld columns %d specs %zu orders %zu log %zu", md->location.p,
                md->n_snapshots, (long long)md->last_sequence_number, (long long)md->next_row_id,
                (int)md->last_column_id, md->n_specs, md->n_orders, log ? md->n_metadata_log : 0);
  for (size_t i = 0; i < md->properties.n; i++)
    bl_buf_printf(b, " %s=%s", md->properties.items[i].key.p, md->properties.items[i].value.p);
  for (size_t i = 0; i < md->n_refs; i++) {
    bl_buf_printf(b, "\n %s %s", md->refs[i].is_branch ? "branch" : "tag", md->refs[i].name.p);
    if (md->refs[i].is_branch) BL_TRY(show_rows(t, md->refs[i].name.p, b, err));
  }
  return BL_OK;
}

typedef struct showing {
  const place *p;
  bl_buf *b;
  bl_catalog *c;
} showing;

static bl_status show_entry(void *user, const bl_catalog_entry *e, bl_error *err) {
  showing *s = user;
  char name[200];
  bl_table *t;
  snprintf(name, sizeof name, "%s.%s", e->name_space, e->name);
  bl_buf_printf(s->b, "\ntable %s", name);
  BL_TRY(bl_table_open(s->p->ctx, name, &s->p->o, &t, err));
  /* A table that has its new name is whole, whether or not its metadata has been written for it. */
  bl_status st = show_table(t, !strstr(name, ".w"), s->b, err);
  bl_table_free(t);
  return st;
}

static bl_status show_pair(void *user, const bl_catalog_pair *p, bl_error *err) {
  (void)err;
  bl_buf_printf(((showing *)user)->b, " %s=%s", p->key, p->value);
  return BL_OK;
}

static bl_status show_namespace(void *user, const bl_catalog_entry *e, bl_error *err) {
  showing *s = user;
  if (strcmp(e->name_space, "db.new") == 0 || strcmp(e->name_space, "db.again") == 0)
    return BL_OK; /* a folder that was to be a table, still empty */
  bl_buf_printf(s->b, "\nnamespace %s", e->name_space);
  return bl_catalog_namespace_properties(s->c, e->name_space, show_pair, s, err);
}

static bl_status show_catalog(showing *s, bl_error *err) {
  BL_TRY(bl_catalog_open(s->p->ctx, &s->p->o, false, &s->c, err));
  bl_status st = bl_catalog_namespaces(s->c, show_namespace, s, err);
  if (st == BL_OK) st = bl_catalog_tables(s->c, NULL, show_entry, s, err);
  bl_catalog_free(s->c);
  return st;
}

/* What cannot be read is a text of its own, the error. */
static char *show(const ground *g) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  bl_buf b;
  bl_buf_init(&b, ctx, BL_BUF_MAX);
  test_ok(place_open(&p, g, ctx, &err), &err);
  showing s = {.p = &p, .b = &b};
  bl_status st = show_catalog(&s, &err);
  bl_buf_byte(&b, 0);
  char *text = strdup(st == BL_OK ? (const char *)b.p : err.message);
  bl_buf_free(&b);
  place_close(&p);
  test_ctx_free(ctx);
  return text;
}

static bl_status run_plainly(const ground *g, bl_status (*run)(const place *p, bl_error *err), bl_error *err) {
  bl_ctx *ctx = test_ctx();
  place p;
  bl_status st = place_open(&p, g, ctx, err);
  if (st == BL_OK) st = run(&p, err);
  place_close(&p);
  test_ctx_free(ctx);
  return st;
}

/* ---- building and restoring ---- */

static bl_status build_catalog(const place *p, bl_error *err) {
  bl_catalog *c;
  BL_TRY(bl_catalog_open(p->ctx, &p->o, true, &c, err));
  bl_status st = bl_catalog_create_namespace(c, "db", NULL, 0, err);
  if (st == BL_OK) st = bl_catalog_create_namespace(c, "empty", (const char *[]){"e=f"}, 1, err);
  bl_catalog_free(c);
  return st;
}

/* Two partitions, rows deleted and updated, a branch that is ahead and one that is not, a snapshot to be published. */
static bl_status build(const place *p, bl_error *err) {
  const char *properties[] = {"commit.manifest.min-count-to-merge=4", "commit.retry.min-wait-ms=0",
                              "write.metadata.previous-versions-max=3",
                              "write.metadata.delete-after-commit.enabled=true", "gone=soon"};
  BL_TRY(build_catalog(p, err));
  BL_TRY(create(p, NAME, properties, BL_LEN(properties), err));
  BL_TRY(put(p, NAME,
             (rows_verb){"{\"k\":1,\"v\":10,\"p\":1}\n{\"k\":2,\"v\":20,\"p\":2}\n{\"k\":3,\"v\":30,\"p\":1}\n"}, err));
  bl_table *t;
  BL_TRY(bl_table_open(p->ctx, NAME, &p->o, &t, err));
  bl_status st = bl_ref_create(t, "first", false, NULL, NULL, err);
  if (st == BL_OK) st = bl_ref_create(t, "side", true, NULL, NULL, err);
  bl_table_free(t);
  BL_TRY(st);
  BL_TRY(put(p, NAME, (rows_verb){"{\"k\":4,\"v\":40,\"p\":1}\n{\"k\":5,\"v\":50,\"p\":1}\n"}, err));
  BL_TRY(bl_table_open(p->ctx, NAME, &p->o, &t, err));
  st = bl_delete_rows(t, "k = 3", &merge, NULL, err);
  if (st == BL_OK) st = bl_update_rows(t, set_v, 1, "k = 5", &merge, NULL, err);
  bl_table_free(t);
  BL_TRY(st);
  BL_TRY(put(p, NAME, (rows_verb){"{\"k\":6,\"v\":60,\"p\":2}\n", .o = {.wap_id = "w1"}}, err));
  BL_TRY(bl_table_open(p->ctx, NAME, &p->o, &t, err));
  st = bl_ref_create(t, "ahead", true, NULL, NULL, err);
  bl_table_free(t);
  BL_TRY(st);
  BL_TRY(bl_table_open(p->ctx, NAME, &p->o, &t, err));
  st = test_apply(t, OVERLAP, BL_APPLY_CHANGES, &ahead, NULL, err);
  bl_table_free(t);
  BL_TRY(st);
  BL_TRY(put(p, NAME, (rows_verb){"{\"k\":7,\"v\":70,\"p\":2}\n", .o = {.ref = "ahead"}}, err));
  BL_TRY(create(p, "db.empty", properties, 2, err));
  BL_TRY(create(p, "db.u", NULL, 0, err));
  return put(p, "db.u", (rows_verb){"{\"k\":8,\"v\":80,\"p\":1}\n"}, err);
}

static bl_status note_file(const place *p, bl_table *t, void *user, bl_error *err) {
  bl_arena *a;
  bl_manifest_file *ms;
  bl_manifest_entry *es;
  size_t n, k;
  (void)p;
  BL_TRY(bl_arena_new(t->ctx, &a, err));
  const bl_snapshot *s = bl_metadata_snapshot(t->metadata, t->metadata->current_snapshot_id);
  bl_status st = bl_table_manifests(t, s, a, &ms, &n, err);
  if (st == BL_OK) st = bl_table_manifest_entries(t, &ms[0], true, a, &es, &k, err);
  if (st == BL_OK) *(char **)user = strdup(es[0].file.path.p);
  bl_arena_free(a);
  return st;
}

static bl_status find_foreign(const place *p, bl_error *err) {
  return on(p, "db.u", note_file, (void *)&p->g->foreign, err);
}

/* The file lies where no purge takes it. */
static void keep_foreign(ground *g) {
  char *folder = test_join(g->dir, "p=1"), *to = test_join(folder, "foreign.parquet");
  size_t n;
  void *bytes = test_read(g->foreign, &n);
  assert_int_equal(mkdir(folder, 0777), 0);
  test_write(to, bytes, n);
  free(bytes);
  free(folder);
  free(g->foreign);
  g->foreign = to;
}

void ground_begin(ground *g, bool sqlite) {
  bl_error err = BL_ERROR_INIT;
  *g = (ground){.dir = test_temp_dir(), .sqlite = sqlite};
  g->work = test_join(g->dir, "work");
  g->saved = test_join(g->dir, "saved");
  snprintf(g->uri, sizeof g->uri, "sqlite:///%s/c.db", g->work);
  assert_int_equal(mkdir(g->work, 0777), 0);
  test_ok(run_plainly(g, build, &err), &err);
  test_ok(run_plainly(g, find_foreign, &err), &err);
  keep_foreign(g);
  test_copy_tree(g->work, g->saved);
  g->files = test_count_files(g->work);
}

void ground_restore(const ground *g) {
  test_empty_tree(g->work);
  assert_int_equal(rmdir(g->work), 0);
  test_copy_tree(g->saved, g->work);
}

void ground_end(ground *g) {
  test_remove_dir(g->dir);
  free(g->work);
  free(g->saved);
  free(g->foreign);
}

/* ---- judging ---- */

/* BL_FAULT_VERBS: only those whose name holds it. */
static bool is_asked_for(const verb *v) {
  const char *only = getenv("BL_FAULT_VERBS");
  return !only || strstr(v->name, only);
}

bool trial_begin(trial *x, const ground *g, const verb *v) {
  bl_error err = BL_ERROR_INIT;
  if ((v->only_sqlite && !g->sqlite) || !is_asked_for(v)) return false;
  *x = (trial){.g = g, .verb = v};
  ground_restore(g);
  x->before = show(g);
  if (run_plainly(g, v->run, &err) != BL_OK) fail_msg("%s: %s", v->name, err.message);
  x->after = show(g);
  if (strcmp(x->before, x->after) == 0) fail_msg("%s: it changes nothing:\n%s", v->name, x->after);
  return true;
}

void trial_end(trial *x) {
  free(x->before);
  free(x->after);
}

/* The command is given again: where it has not been done, it can be done now. Then another. */
static void go_on(const trial *x, const char *what, long n, bool done) {
  bl_error err = BL_ERROR_INIT;
  if (!done || x->verb->twice) {
    if (run_plainly(x->g, x->verb->run, &err) != BL_OK)
      fail_msg("%s, %s %ld: it cannot be done afterwards: %s", x->verb->name, what, n, err.message);
    char *now = show(x->g);
    if (!done && strcmp(now, x->after) != 0) {
      print_error("now:%s\n", now);
      print_error("after:%s\n", x->after);
      fail_msg("%s, %s %ld: done afterwards it is another", x->verb->name, what, n);
    }
    free(now);
  }
  if (run_plainly(x->g, run_append, &err) != BL_OK)
    fail_msg("%s, %s %ld: no append afterwards: %s", x->verb->name, what, n, err.message);
}

void judge(const trial *x, const char *what, long n, int st, const bl_error *err) {
  char *now = show(x->g);
  bool before = strcmp(now, x->before) == 0, after = strcmp(now, x->after) == 0;
  const char *name = x->verb->name, *said = err ? err->message : "", *call = fault_sys_what();
  if (!before && !after) {
    print_error("now:%s\n", now);
    print_error("before:%s\n", x->before);
    print_error("after:%s\n", x->after);
    fail_msg("%s, %s %ld %s: the table is neither before nor after (%s)", name, what, n, call, said);
  }
  if (st == BL_OK && !after) fail_msg("%s, %s %ld %s: reported as done, but it is not", name, what, n, call);
  if (st > 0 && st != BL_UNKNOWN && !before)
    fail_msg("%s, %s %ld %s: failed (%d, %s), but it is done", name, what, n, call, st, said);
  if (st > 0 && !*said) fail_msg("%s, %s %ld %s: no message", name, what, n, call);
  free(now);
  go_on(x, what, n, after);
}

long next_number(long n, long all, long some) {
  const char *how = getenv("BL_FAULTS");
#ifdef __SANITIZE_ADDRESS__ /* slow, above all where processes are made */
  some = (some + 2) / 3;
#endif
  long step = how && strcmp(how, "all") == 0 ? 1 : all / some;
  if (step <= 1) return n + 1;
  if (n >= all) return n + 1;
  return n + step > all ? all : n + step;
}

long trial_calls(const trial *x, bool changes) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = test_ctx();
  place p;
  ground_restore(x->g);
  test_ok(place_open(&p, x->g, ctx, &err), &err);
  fault_sys_begin(&(fault_plan){.changes = changes});
  bl_status st = x->verb->run(&p, &err);
  long n = fault_sys_end();
  test_ok(st, &err);
  place_close(&p);
  test_ctx_free(ctx);
  return n;
}

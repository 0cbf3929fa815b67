/* staged_give.c: a change that another process commits: given away, or given up. */
#include "table/manifests.h"
#include "write/attempt.h"
#include "write/pointer.h"
#include "write/properties.h"

/* ---- given away ---- */

static bl_status keep(bl_staged *s, const char *text, bl_str *out, bl_error *err) {
  if (!text) return BL_OK;
  *out = bl_arena_str(s->arena, bl_str_of(text));
  return out->p ? BL_OK : bl_nomem(err);
}

static bl_status keep_options(bl_staged *s, const bl_write_options *o, bl_error *err) {
  BL_TRY(keep(s, o->ref ? o->ref : "main", &s->branch, err));
  BL_TRY(keep(s, o->batch_id, &s->batch_id, err));
  BL_TRY(keep(s, o->wap_id, &s->wap_id, err));
  for (size_t i = 0; i < o->n_summary; i++) {
    bl_pair p;
    BL_TRY(bl_key_value(o->summary[i], &p, err));
    bl_str key = bl_arena_str(s->arena, p.key);
    if (!key.p) return bl_nomem(err);
    BL_TRY(bl_staged_note(s, key.p, p.value, err));
  }
  return BL_OK;
}

bl_status bl_staged_give(bl_staged *s, bl_table *t, const bl_write_options *o, bl_error *err) {
  const bl_snapshot *head;
  bl_buf text;
  bl_status st;
  bl_buf_init(&text, t->ctx, BL_BUF_MAX);
  BL_GO(bl_branch_head(t, bl_branch_of(o), &head, err));
  BL_GO(keep_options(s, o, err));
  BL_GO(bl_staged_sync(s, t, err)); /* who commits it may be another machine's process */
  BL_GO(bl_staged_to_json(s, t, &text, err));
  bl_buf_byte(&text, 0);
  BL_GO(bl_buf_ok(&text, err));
  *o->stage = bl_strdup(t->ctx, (const char *)text.p);
  if (!*o->stage) st = bl_nomem(err);
done:
  bl_buf_free(&text);
  return st;
}

/* ---- given up ---- */

/* Files that were written for staged changes, looked for in the table. */
typedef struct giving_up {
  bl_table *now; /* newest version */
  bl_map *files; /* path keys */
  bl_map *seen;  /* manifests */
  bl_arena *arena;
} giving_up;

/* Nothing but the data files that it adds: a document may be damaged. */
static bl_status keep_added(bl_staged *s, bl_map *files, bl_error *err) {
  bl_map *added;
  size_t k = 0;
  BL_TRY(bl_map_new(s->ctx, &added, err));
  bl_status st = BL_OK;
  for (size_t i = 0; i < s->n_data && st == BL_OK; i++)
    if (!bl_map_put(added, s->data[i].path, 0, NULL)) st = bl_nomem(err);
  for (size_t i = 0; i < s->n_files && st == BL_OK; i++) {
    if (!bl_map_get(added, s->files[i])) continue;
    s->files[k++] = s->files[i];
    if (!bl_map_put(files, bl_path_key(s->files[i]), 0, NULL)) st = bl_nomem(err);
  }
  s->n_files = k;
  bl_map_free(added);
  return st;
}

static bl_status check_manifest(giving_up *g, const bl_snapshot *s, const bl_manifest_file *m, bl_error *err) {
  bl_arena *a;
  bl_manifest_entry *es;
  size_t n = 0;
  BL_TRY(bl_arena_new(g->now->ctx, &a, err));
  bl_status st = bl_table_manifest_entries(g->now, m, false, a, &es, &n, err);
  for (size_t i = 0; i < n && st == BL_OK; i++)
    if (es[i].status != BL_DELETED && bl_map_get(g->files, bl_path_key(es[i].file.path)))
      st = bl_fail(err, BL_CONFLICT, "cannot give up a staged change: %s: snapshot %lld has it: %.*s", g->now->name,
                   (long long)s->id, BL_STR_ARG(es[i].file.path));
  bl_arena_free(a);
  return st;
}

static bl_status check_snapshot(giving_up *g, const bl_snapshot *s, bl_error *err) {
  bl_manifest_file *ms;
  size_t n;
  BL_TRY(bl_table_manifests(g->now, s, g->arena, &ms, &n, err));
  for (size_t i = 0; i < n; i++) {
    bool is_new;
    if (ms[i].content != BL_MANIFEST_DATA) continue;
    if (!bl_map_put(g->seen, ms[i].path, 0, &is_new)) return bl_nomem(err);
    if (is_new) BL_TRY(check_manifest(g, s, &ms[i], err));
  }
  return BL_OK;
}

static bl_status check_unused(giving_up *g, bl_error *err) {
  const bl_metadata *md = g->now->metadata;
  for (size_t i = 0; bl_map_count(g->files) && i < md->n_snapshots; i++)
    BL_TRY(check_snapshot(g, &md->snapshots[i], err));
  return BL_OK;
}

static bl_status give_up(bl_table *t, bl_staged **all, size_t n, bl_error *err) {
  giving_up g = {0};
  bl_status st;
  BL_GO(bl_pointer_check(t, err));
  BL_GO(bl_table_reopen(t, &g.now, err));
  BL_GO(bl_check_same_table(t, g.now, err));
  BL_GO(bl_arena_new(t->ctx, &g.arena, err));
  BL_GO(bl_map_new(t->ctx, &g.files, err));
  BL_GO(bl_map_new(t->ctx, &g.seen, err));
  for (size_t i = 0; i < n; i++) BL_GO(keep_added(all[i], g.files, err));
  BL_GO(check_unused(&g, err));
  for (size_t i = 0; i < n; i++) bl_staged_discard(all[i], t);
done:
  bl_map_free(g.files);
  bl_map_free(g.seen);
  bl_arena_free(g.arena);
  bl_table_free(g.now);
  return st;
}

bl_status bl_abandon_staged(bl_table *t, const char *const *descriptors, size_t n, bl_error *err) {
  size_t k = 0;
  bl_staged **all = bl_calloc(t->ctx, n + 1, sizeof *all);
  bl_status st = all ? BL_OK : bl_nomem(err);
  for (size_t i = 0; i < n && st == BL_OK; i++)
    if (descriptors[i]) st = bl_staged_from_json(t, descriptors[i], strlen(descriptors[i]), &all[k++], err);
  if (st == BL_OK) st = give_up(t, all, k, err);
  for (size_t i = 0; all && i < k; i++) bl_staged_free(all[i]);
  bl_free(t->ctx, all);
  return st;
}

/* apply_changes.c: our own changelog as NDJSON: the columns of the table it tells of, _change_type, _commit_snapshot_id
 * and others that begin with an underscore. */
#include "write/apply.h"

typedef struct recorded {
  bl_imap *commits; /* that the branch has recorded */
  int64_t last;     /* the last line of one of them in this batch; 0: none */
} recorded;

static bl_status put_value(bl_applying *a, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *types,
                           bl_error *err) {
  (void)types;
  return bl_put_json(&a->putter, b, f, v, err);
}

static bl_status commit_of(const bl_json *event, bl_position *out, int64_t *id, bl_error *err) {
  const bl_json *v = bl_json_get(event, "_commit_snapshot_id");
  if (!v || v->kind != BL_J_NUMBER || !bl_parse_i64(v->text, id))
    return bl_fail(err, BL_USAGE, "it is no row of a changelog: _commit_snapshot_id is missing");
  *out = bl_position_of_commit(v->text);
  return BL_OK;
}

/* ---- what was applied before ---- */

static bl_status read_recorded(bl_applying *a, const bl_snapshot *head, recorded *r, bl_error *err) {
  const bl_metadata *md = a->t->metadata;
  for (size_t steps = 0; head && steps < md->n_snapshots; steps++, head = bl_metadata_parent(md, head)) {
    bl_positions ps;
    int64_t id;
    BL_TRY(bl_positions_read(a->arena, bl_pairs_get(&head->summary, BL_SOURCE_POSITION), &ps, err));
    for (size_t i = 0; i < ps.n; i++) {
      if (!bl_position_is_commit(&ps.items[i]) || !bl_parse_i64(ps.items[i].parts[0], &id)) continue;
      if (!bl_imap_put(r->commits, id, 0, NULL)) return bl_nomem(err);
    }
  }
  return BL_OK;
}

/* The last line of a commit that is recorded: a second look at the file, for that alone. */
static bl_status find_last(bl_applying *a, bl_input *events, recorded *r, bl_error *err) {
  bl_text_file file;
  bl_status st = BL_OK;
  bl_text_file_init(&file, a->ctx, events);
  for (int64_t line = 1;; line++) {
    bl_str text;
    bl_arena *scratch = NULL;
    bl_json *v;
    int64_t at, id;
    bool found;
    BL_GO(bl_text_file_line(&file, &text, &at, &found, err));
    if (!found) break;
    BL_GO(bl_arena_new(a->ctx, &scratch, err));
    st = bl_json_parse(scratch, text.p, text.n, &v, NULL); /* what is wrong with it is told when it is applied */
    const bl_json *c = st == BL_OK && v->kind == BL_J_OBJECT ? bl_json_get(v, "_commit_snapshot_id") : NULL;
    if (c && c->kind == BL_J_NUMBER && bl_parse_i64(c->text, &id) && bl_imap_get(r->commits, id)) r->last = line;
    bl_arena_free(scratch);
    if (st == BL_NOMEM) BL_GO(bl_nomem(err));
    st = BL_OK;
  }
done:
  bl_text_file_dispose(&file);
  return st;
}

bl_status bl_apply_changes_begin(bl_applying *a, bl_input *events, const bl_snapshot *head, bl_error *err) {
  recorded r = {0};
  bl_status st;
  BL_GO(bl_imap_new(a->ctx, &r.commits, err));
  BL_GO(read_recorded(a, head, &r, err));
  if (bl_imap_count(r.commits) > 0) BL_GO(find_last(a, events, &r, err));
  a->applied_lines = r.last;
done:
  bl_imap_free(r.commits);
  return st;
}

/* ---- events ---- */

/* Members that are the changelog's own are left away. */
static bl_status image_of(bl_applying *a, const bl_json *event, bl_json **out, bl_error *err) {
  bl_json *image = bl_json_copy(a->scratch, event);
  if (!image) return bl_nomem(err);
  for (bl_json *m = image->first, *next; m; m = next) {
    next = m->next;
    bool own = bl_map_get(a->places, m->key) != NULL;
    bool special = m->key.n > 0 && (m->key.p[0] == '_' || bl_str_starts(m->key, BL_STR("meta._")));
    if (!own && special) bl_json_remove_child(image, m);
  }
  *out = image;
  return BL_OK;
}

bl_status bl_apply_change(bl_applying *a, const bl_json *event, bl_error *err) {
  bl_position position;
  int64_t id;
  bl_json *image = NULL;
  bl_str type;
  BL_TRY(bl_json_get_str(event, "_change_type", &type, err));
  BL_TRY(commit_of(event, &position, &id, err));
  a->n_events++;
  if (a->line <= a->applied_lines) {
    a->n_skipped++;
    return BL_OK;
  }
  if (a->last.n == 0 || id != a->commit) {
    a->n_commits++;
    a->commit = id;
    BL_TRY(bl_positions_set(a->arena, &a->last, &position, err));
  }
  bool puts = bl_str_is(type, "INSERT") || bl_str_is(type, "UPDATE_AFTER");
  if (!puts && !bl_str_is(type, "DELETE") && !bl_str_is(type, "UPDATE_BEFORE"))
    return bl_fail(err, BL_USAGE, "_change_type \"%.*s\" is none of INSERT, DELETE, UPDATE_BEFORE and UPDATE_AFTER",
                   BL_STR_ARG(type));
  BL_TRY(image_of(a, event, &image, err));
  return bl_applying_put(a, image, NULL, !puts, a->n_commits * 2 + puts, put_value, err);
}

/* apply_changes.c: the commits of our own changelog, and which of them were applied before. The columns of the table it
 * tells of, _change_type, _commit_snapshot_id and others that begin with an underscore come as images
 * (apply_images.c) or as texts.
 *
 * Ids of commits are in no order. Which were applied before is told by
 * 1. the ids that the branch's summaries name: the last CL_KEPT, and how many more there were;
 * 2. sequence numbers: _commit_sequence_number, else the greatest that an image has (_last_updated_sequence_number),
 *    below which its commit cannot lie;
 * 3. the order of the log: what comes before a commit that was applied was applied, too.
 * A commit of which it cannot be told is an error, but where the batch has an id. */
#include "write/apply.h"

enum { CL_KEPT = 256 };

/* A commit of the batch. */
typedef struct commit {
  int64_t id, line, last_line;
  int64_t sequence; /* 0: not told */
  int64_t at_least; /* out of images */
  bool puts;        /* at_least is out of a row that the commit put */
  bool applied;     /* before */
} commit;

struct bl_changelog {
  bl_imap *at;     /* of a commit's id in `commits` */
  commit *commits; /* in order of their first lines */
  size_t n, cap;
  int64_t last;     /* the commit of the line before */
  bool in_order;    /* the lines of each commit come together */
  bool read_before; /* `commits` has all of the batch */
  bl_imap *known;   /* commits that the branch has applied */
  int64_t sequence; /* that the branch has come to; 0: not known */
  int64_t position; /* the commit that it has come to */
  int64_t earlier;  /* applied commits that the last list leaves out; -1: not known how many */
  bl_str listed;
};

/* ---- the commits of a batch ---- */

static void tell_type(bl_told *t, bl_str type) {
  t->type = type;
  t->puts = bl_str_is(type, "INSERT") || bl_str_is(type, "UPDATE_AFTER");
}

/* 0: it is none. */
static int64_t sequence_or_none(int64_t n) {
  return n > 0 && n < INT64_MAX ? n : 0;
}

static int64_t sequence_number(bl_str text) {
  int64_t n;
  return bl_parse_i64(text, &n) ? sequence_or_none(n) : 0;
}

/* A number, or the text of one. */
static bl_str number_text(const bl_json *event, const char *name) {
  const bl_json *v = bl_json_get(event, name);
  return v && (v->kind == BL_J_NUMBER || v->kind == BL_J_STRING) ? v->text : BL_STR_NONE;
}

static void told_by_json(const bl_json *event, bl_told *out) {
  *out = (bl_told){0};
  if (event->kind != BL_J_OBJECT) return;
  const bl_json *type = bl_json_get(event, "_change_type");
  out->any = bl_parse_i64(number_text(event, "_commit_snapshot_id"), &out->commit);
  out->sequence = sequence_number(number_text(event, "_commit_sequence_number"));
  out->updated = sequence_number(number_text(event, "_last_updated_sequence_number"));
  if (type && type->kind == BL_J_STRING) tell_type(out, type->text);
}

/* Out of CSV numbers come as text. */
static bool number_at(const bl_view *v, int64_t i, int64_t *out) {
  if (!v || bl_view_null(v, i)) return false;
  switch (v->kind) {
  case BL_D_INT32: *out = bl_view_i32(v, i); return true;
  case BL_D_INT64: *out = bl_view_i64(v, i); return true;
  case BL_D_STRING: return bl_parse_i64(bl_view_bytes(v, i), out);
  default: return false;
  }
}

static int64_t sequence_at(const bl_view *v, int64_t i) {
  int64_t n;
  return number_at(v, i, &n) ? sequence_or_none(n) : 0;
}

void bl_told_by_image(const bl_events *e, int64_t i, bl_told *out) {
  const bl_view *type = e->says[BL_SAYS_TYPE];
  *out = (bl_told){0};
  out->any = number_at(e->says[BL_SAYS_COMMIT], i, &out->commit);
  out->sequence = sequence_at(e->says[BL_SAYS_SEQUENCE], i);
  out->updated = sequence_at(e->says[BL_SAYS_UPDATED], i);
  if (!bl_view_null(type, i)) tell_type(out, bl_view_bytes(type, i));
}

static bl_status make_room(bl_applying *a, bl_changelog *l, bl_error *err) {
  if (l->n < l->cap) return BL_OK;
  size_t cap = l->cap ? l->cap * 2 : 64;
  commit *more = bl_arena_alloc(a->arena, cap, sizeof *more);
  if (!more) return bl_nomem(err);
  if (l->n) memcpy(more, l->commits, l->n * sizeof *more);
  l->commits = more;
  l->cap = cap;
  return BL_OK;
}

/* The commit of an event, made where it is new, with what the event says of it. */
static bl_status observe(bl_applying *a, bl_changelog *l, const bl_told *told, int64_t line, commit **out,
                         bl_error *err) {
  bool added;
  BL_TRY(make_room(a, l, err));
  size_t *at = bl_imap_put(l->at, told->commit, l->n, &added);
  if (!at) return bl_nomem(err);
  if (added) l->commits[l->n++] = (commit){.id = told->commit, .line = line};
  else if (l->last != told->commit) l->in_order = false;
  commit *c = &l->commits[*at];
  int64_t image = told->updated + (told->updated && !told->puts); /* what was there before is older */
  if (image > c->at_least) c->at_least = image;
  if (image && told->puts) c->puts = true;
  if (told->sequence) c->sequence = told->sequence;
  c->last_line = line;
  l->last = told->commit;
  *out = c;
  return BL_OK;
}

static bl_status look_at_text(bl_applying *a, bl_str text, bl_told *told, bl_error *err) {
  bl_json *v;
  *told = (bl_told){0};
  BL_TRY(bl_applying_renew(a, err));
  bl_status st = bl_json_parse(a->scratch, text.p, text.n, &v, NULL);
  if (st == BL_OK) told_by_json(v, told);
  return st == BL_NOMEM ? bl_nomem(err) : BL_OK;
}

static bl_status look_at(bl_applying *a, bl_changelog *l, const bl_events *e, int64_t n, int64_t *line, bl_error *err) {
  for (int64_t i = 0; i < n; i++) {
    bl_told told = {0};
    commit *c;
    ++*line;
    if (e->form == BL_EVENTS_IMAGES) bl_told_by_image(e, i, &told);
    else if (!bl_view_null(e->text, i)) BL_TRY(look_at_text(a, bl_view_bytes(e->text, i), &told, err));
    if (told.any) BL_TRY(observe(a, l, &told, *line, &c, err));
  }
  return bl_progress(a->ctx, "apply", *line, 0, err);
}

/* A first look at the batch. What is wrong with it is told when it is applied. */
static bl_status read_commits(bl_applying *a, bl_changelog *l, bl_events *e, bl_error *err) {
  int64_t line = 0;
  for (;;) {
    struct ArrowArray batch;
    BL_TRY(bl_events_next(e, &batch, err));
    if (!batch.release) return bl_events_rewind(e, err);
    bl_status st = look_at(a, l, e, batch.length, &line, err);
    if (st == BL_OK) st = bl_events_keep(e, &batch, err);
    else bl_array_release(&batch);
    if (st != BL_OK) return st;
  }
}

/* ---- what was applied before ---- */

/* Numbers with commas between them. */
static bool next_id(bl_str *list, int64_t *id) {
  while (list->p && list->n > 0) {
    const char *comma = memchr(list->p, ',', list->n);
    bl_str text = {list->p, comma ? (size_t)(comma - list->p) : list->n};
    *list = comma ? (bl_str){comma + 1, list->n - text.n - 1} : BL_STR_NONE;
    if (bl_parse_i64(text, id)) return true;
  }
  return false;
}

static bl_status know(bl_changelog *l, bl_str list, bl_error *err) {
  for (int64_t id; next_id(&list, &id);)
    if (!bl_imap_put(l->known, id, 0, NULL)) return bl_nomem(err);
  return BL_OK;
}

static bl_status read_known(bl_applying *a, bl_changelog *l, const bl_snapshot *head, bl_error *err) {
  const bl_metadata *md = a->t->metadata;
  for (size_t steps = 0; head && steps < md->n_snapshots; steps++, head = bl_metadata_parent(md, head)) {
    bl_positions ps;
    BL_TRY(bl_positions_read(a->arena, bl_pairs_get(&head->summary, BL_SOURCE_POSITION), &ps, err));
    for (size_t i = 0; i < ps.n; i++) {
      if (!bl_position_is_commit(&ps.items[i])) continue;
      BL_TRY(know(l, ps.items[i].parts[BL_COMMIT_ID], err));
      BL_TRY(know(l, ps.items[i].parts[BL_COMMIT_LIST], err));
    }
  }
  return BL_OK;
}

static size_t count_ids(bl_str list) {
  size_t n = 0;
  for (int64_t id; next_id(&list, &id);) n++;
  return n;
}

static bool is_complete(const bl_changelog *l) {
  return l->earlier >= 0 && (uint64_t)l->earlier + count_ids(l->listed) <= bl_imap_count(l->known);
}

static void read_position(bl_changelog *l, const bl_position *p) {
  const bl_str *parts = p->parts;
  if (!bl_parse_i64(parts[BL_COMMIT_ID], &l->position)) l->position = 0;
  l->listed = parts[BL_COMMIT_LIST].p ? parts[BL_COMMIT_LIST] : parts[BL_COMMIT_ID];
  if (!parts[BL_COMMIT_SEQUENCE].p || !bl_parse_i64(parts[BL_COMMIT_SEQUENCE], &l->sequence)) l->sequence = 0;
  /* An older version has kept no list. */
  if (!parts[BL_COMMIT_LIST].p) l->earlier = -1;
  else if (!parts[BL_COMMIT_EARLIER].p || !bl_parse_i64(parts[BL_COMMIT_EARLIER], &l->earlier)) l->earlier = 0;
}

static bl_order order_of(const bl_changelog *l, const commit *c, bool complete) {
  int64_t least = c->sequence ? c->sequence : c->at_least;
  if (l->sequence && least > l->sequence) return BL_AFTER;
  if (l->sequence && c->sequence && !complete) return BL_BEFORE;
  if (l->sequence && (c->sequence || c->puts)) return BL_UNORDERED; /* of another table or branch? */
  return complete ? BL_AFTER : BL_UNORDERED;
}

/* The line up to which the log was applied, 0: none; *all: nothing behind it was. */
static int64_t applied_until(const bl_changelog *l, bool *all) {
  int64_t line = 0;
  *all = false;
  for (size_t i = 0; l->in_order && i < l->n; i++) {
    const commit *c = &l->commits[i];
    if (!bl_imap_get(l->known, c->id)) continue;
    if (c->last_line > line) line = c->last_line;
    if (c->id == l->position) *all = true;
  }
  return line;
}

static bl_status sort_out(bl_applying *a, bl_changelog *l, bool lines, bool anyway, bl_error *err) {
  bool complete = is_complete(l), after;
  int64_t until = applied_until(l, &after);
  for (size_t i = 0; i < l->n; i++) {
    commit *c = &l->commits[i];
    c->applied = bl_imap_get(l->known, c->id) != NULL || c->last_line <= until;
    if (c->applied || after) continue;
    bl_order order = order_of(l, c, complete);
    c->applied = order == BL_BEFORE;
    after = order == BL_AFTER && l->in_order;
    if (order != BL_UNORDERED) continue;
    if (!anyway && (l->earlier >= 0 || l->sequence))
      return bl_fail(err, BL_USAGE,
                     "%s: %s %lld: commit %lld cannot be ordered beside those that were applied before: let "
                     "changes give _commit_sequence_number (--columns), or give the batch a --batch-id if it is new",
                     a->front, lines ? "line" : "row", (long long)c->line, (long long)c->id);
    a->n_unordered++;
  }
  return BL_OK;
}

bl_status bl_apply_changes_begin(bl_applying *a, bl_events *events, const bl_snapshot *head, bool anyway,
                                 bl_error *err) {
  bl_position of = bl_position_of_commit(BL_STR_NONE);
  const bl_position *p = bl_positions_find(&a->stored, &of);
  bl_changelog *l = a->changelog = bl_arena_calloc(a->arena, 1, sizeof *l);
  if (!l) return bl_nomem(err);
  l->in_order = true;
  BL_TRY(bl_imap_new(a->ctx, &l->at, err));
  BL_TRY(bl_imap_new(a->ctx, &l->known, err));
  if (!p) return BL_OK;
  read_position(l, p);
  BL_TRY(read_known(a, l, head, err));
  BL_TRY(read_commits(a, l, events, err));
  l->read_before = true;
  return sort_out(a, l, events->byte != NULL, anyway, err);
}

void bl_apply_changes_dispose(bl_applying *a) {
  if (!a->changelog) return;
  bl_imap_free(a->changelog->at);
  bl_imap_free(a->changelog->known);
}

/* ---- the position after a batch ---- */

static bl_status list_commits(bl_applying *a, const bl_changelog *l, size_t n_new, bl_position *out, bl_error *err) {
  size_t n = count_ids(l->listed) + n_new, drop = n > CL_KEPT ? n - CL_KEPT : 0;
  int64_t earlier = l->earlier < 0 ? -1 : l->earlier + (int64_t)drop, id;
  bl_str listed = l->listed;
  bl_buf b;
  bl_buf_init(&b, a->ctx, SIZE_MAX);
  for (size_t i = 0; next_id(&listed, &id); i++)
    if (i >= drop) bl_buf_printf(&b, "%s%lld", b.n ? "," : "", (long long)id);
  size_t i = n - n_new;
  for (size_t k = 0; k < l->n; k++)
    if (!l->commits[k].applied && i++ >= drop) bl_buf_printf(&b, "%s%lld", b.n ? "," : "", (long long)l->commits[k].id);
  bl_status st = bl_buf_ok(&b, err);
  out->parts[BL_COMMIT_LIST] = st == BL_OK ? bl_arena_str(a->arena, (bl_str){(const char *)b.p, b.n}) : BL_STR_NONE;
  bl_buf_free(&b);
  if (st != BL_OK) return st;
  if (earlier) out->parts[BL_COMMIT_EARLIER] = bl_arena_printf(a->arena, "%lld", (long long)earlier);
  bool ok = out->parts[BL_COMMIT_LIST].p && (!earlier || out->parts[BL_COMMIT_EARLIER].p);
  return ok ? BL_OK : bl_nomem(err);
}

bl_status bl_apply_changes_finish(bl_applying *a, bl_error *err) {
  const bl_changelog *l = a->changelog;
  const commit *newest = NULL;
  size_t n_new = 0;
  int64_t sequence = l->sequence;
  for (size_t i = 0; i < l->n; i++) {
    const commit *c = &l->commits[i];
    if (c->applied) continue;
    int64_t least = c->sequence ? c->sequence : c->at_least;
    if (least > sequence) sequence = least;
    newest = c;
    n_new++;
  }
  if (!newest) return BL_OK;
  bl_str id = bl_arena_printf(a->arena, "%lld", (long long)newest->id);
  bl_position p = bl_position_of_commit(id);
  if (sequence) p.parts[BL_COMMIT_SEQUENCE] = bl_arena_printf(a->arena, "%lld", (long long)sequence);
  if (!id.p || (sequence && !p.parts[BL_COMMIT_SEQUENCE].p)) return bl_nomem(err);
  BL_TRY(list_commits(a, l, n_new, &p, err));
  return bl_positions_set(a->arena, &a->last, &p, err);
}

/* ---- events ---- */

static bl_status find_commit(bl_applying *a, const bl_told *told, commit **out, bl_error *err) {
  bl_changelog *l = a->changelog;
  if (!told->any) return bl_fail(err, BL_USAGE, "it is no row of a changelog: _commit_snapshot_id is missing");
  if (!l->read_before) return observe(a, l, told, a->line, out, err);
  const size_t *at = bl_imap_get(l->at, told->commit);
  if (!at) return bl_fail(err, BL_IO, "the events have changed while they were read");
  *out = &l->commits[*at];
  return BL_OK;
}

bl_status bl_apply_changes_take(bl_applying *a, const bl_told *told, bool *applied, int64_t *rank, bl_error *err) {
  commit *c;
  BL_TRY(find_commit(a, told, &c, err));
  a->n_events++;
  *applied = c->applied;
  if (c->applied) {
    a->n_skipped++;
    return BL_OK;
  }
  if (!a->n_commits || c->id != a->commit) a->n_commits++;
  a->commit = c->id;
  if (!told->puts && !bl_str_is(told->type, "DELETE") && !bl_str_is(told->type, "UPDATE_BEFORE"))
    return bl_fail(err, BL_USAGE, "_change_type \"%.*s\" is none of INSERT, DELETE, UPDATE_BEFORE and UPDATE_AFTER",
                   BL_STR_ARG(told->type));
  *rank = a->n_commits * 2 + told->puts;
  return BL_OK;
}

/* ---- as texts ---- */

bool bl_is_changelog_name(const bl_applying *a, bl_str name) {
  bool special = name.n > 0 && (name.p[0] == '_' || bl_str_starts(name, BL_STR("meta._")));
  return special && !bl_map_get(a->places, name);
}

/* Members that are the changelog's own are left away. */
static bl_status image_of(bl_applying *a, const bl_json *event, bl_json **out, bl_error *err) {
  bl_json *image = bl_json_copy(a->scratch, event);
  if (!image) return bl_nomem(err);
  for (bl_json *m = image->first, *next; m; m = next) {
    next = m->next;
    if (bl_is_changelog_name(a, m->key)) bl_json_remove_child(image, m);
  }
  *out = image;
  return BL_OK;
}

static bl_status put_value(bl_applying *a, bl_builder *b, const bl_field *f, const bl_json *v, const bl_json *types,
                           bl_error *err) {
  (void)types;
  return bl_put_json(&a->putter, b, f, v, err);
}

bl_status bl_apply_change(bl_applying *a, const bl_json *event, bl_error *err) {
  bl_told told;
  bl_str type;
  bl_json *image = NULL;
  bool applied;
  int64_t rank;
  BL_TRY(bl_json_get_str(event, "_change_type", &type, err));
  told_by_json(event, &told);
  BL_TRY(bl_apply_changes_take(a, &told, &applied, &rank, err));
  if (applied) return BL_OK;
  BL_TRY(image_of(a, event, &image, err));
  return bl_applying_put(a, image, NULL, !told.puts, rank, put_value, err);
}

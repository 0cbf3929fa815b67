/* plan_writer.c: bl_plan_writer of task_json.h. */
#include "scan/task_json.h"

#include <stdio.h>

enum { FLUSH = 1 << 16 };

static bl_status flush(bl_plan_writer *w, bool all, bl_error *err) {
  if (!all && w->out.n < FLUSH) return BL_OK;
  BL_TRY(bl_buf_ok(&w->out, err));
  bl_status st = w->sink->write(w->sink->user, w->out.p, w->out.n, err);
  bl_buf_clear(&w->out);
  return st;
}

/* An object as text, without its closing brace. */
static void open_object(bl_buf *b, const bl_json *v) {
  bl_json_print(b, v, false);
  if (b->n > 0 && b->p[b->n - 1] == '}') b->n--;
}

static void text_member(bl_buf *b, const bl_json *o, const char *key) {
  const bl_json *v = bl_json_get(o, key);
  if (v) bl_buf_str(b, v->text);
}

static void text_manifests(bl_buf *b, const bl_json *array) {
  bl_buf_cstr(b, "manifests:\n");
  for (const bl_json *m = array->first; m; m = m->next) {
    const bl_json *opened = bl_json_get(m, "opened"), *content = bl_json_get(m, "content");
    bl_buf_cstr(b, opened && opened->b ? "  opened   " : "  skipped  ");
    bl_buf_cstr(b, content && bl_str_is(content->text, "data") ? "data     " : "deletes  ");
    text_member(b, m, "path");
    bl_buf_cstr(b, ": ");
    text_member(b, m, "why");
    bl_buf_byte(b, '\n');
  }
}

static void text_head(bl_buf *b, const bl_json *doc) {
  for (const bl_json *m = doc->first; m; m = m->next) {
    if (m->kind == BL_J_ARRAY) {
      if (bl_str_is(m->key, "manifests")) text_manifests(b, m);
      continue;
    }
    bl_buf_str(b, m->key);
    bl_buf_cstr(b, ": ");
    bl_json_print(b, m, false);
    bl_buf_byte(b, '\n');
  }
  bl_buf_printf(b, "\n%12s  %6s  %7s  %21s  %7s  %s\n", "rows", "splits", "deletes", "row ids", "ordinal", "why, file");
}

bl_status bl_plan_begin(bl_plan_writer *w, bl_ctx *ctx, const bl_sink *sink, bl_plan_format format, const bl_json *doc,
                        const bl_json *head, bl_error *err) {
  *w = (bl_plan_writer){.ctx = ctx, .sink = sink, .format = format};
  bl_buf_init(&w->head, ctx, BL_BUF_MAX);
  bl_buf_init(&w->out, ctx, BL_BUF_MAX);
  if (format == BL_PLAN_TEXT) text_head(&w->out, doc);
  else {
    open_object(&w->head, head);
    open_object(&w->out, doc);
    bl_buf_cstr(&w->out, ",\"tasks\":[");
  }
  return bl_buf_ok(&w->head, err);
}

static size_t count_deletes(const bl_file_deletes *d) {
  return d ? (d->vector != NULL) + d->n_position + d->n_equality : 0;
}

static void text_delete(bl_buf *b, const char *when, const char *what, const bl_manifest_entry *e) {
  bl_buf_printf(b, "%64s%s%s ", "", when, what);
  bl_buf_str(b, e->file.path);
  if (e->file.content_offset != BL_NONE) bl_buf_printf(b, " at %lld", (long long)e->file.content_offset);
  bl_buf_byte(b, '\n');
}

static void text_deletes(bl_buf *b, const char *when, const bl_file_deletes *d) {
  if (!d) return;
  if (d->vector) text_delete(b, when, "deletion vector", d->vector);
  for (size_t i = 0; i < d->n_position; i++) text_delete(b, when, "position deletes", d->position[i]);
  for (size_t i = 0; i < d->n_equality; i++) text_delete(b, when, "equality deletes", d->equality[i]);
}

static void text_line(bl_buf *b, const bl_plan_line *l) {
  char ids[48] = "none";
  const bl_data_file *f = l->file;
  if (f->first_row_id != BL_NONE && f->record_count > 0)
    snprintf(ids, sizeof ids, "%lld-%lld", (long long)f->first_row_id,
             (long long)(f->first_row_id + f->record_count - 1));
  bl_buf_printf(b, "%12lld  %6zu  %7zu  %21s  ", (long long)f->record_count, l->splits,
                count_deletes(l->deletes) + count_deletes(l->old_deletes), ids);
  if (l->ordinal < 0) bl_buf_printf(b, "%7s  ", "");
  else bl_buf_printf(b, "%7lld  ", (long long)l->ordinal);
  bl_buf_str(b, l->why);
  bl_buf_cstr(b, ", ");
  bl_buf_str(b, f->path);
  bl_buf_byte(b, '\n');
  text_deletes(b, "until then by ", l->old_deletes);
  text_deletes(b, l->ordinal < 0 ? "by " : "since then by ", l->deletes);
}

void bl_plan_render(const bl_plan_writer *w, const bl_json *own, const bl_plan_line *line, bl_buf *out) {
  if (w->format == BL_PLAN_TEXT) {
    text_line(out, line);
    return;
  }
  if (out->n > 0) bl_buf_cstr(out, ",\n");
  bl_buf_add(out, w->head.p, w->head.n);
  size_t at = out->n;
  bl_json_print(out, own, false);
  if (out->n > at) out->p[at] = ','; /* its opening brace */
}

bl_status bl_plan_rendered(bl_plan_writer *w, const bl_buf *text, bl_error *err) {
  if (w->format == BL_PLAN_JSON) bl_buf_cstr(&w->out, w->any ? ",\n" : "\n");
  bl_buf_add(&w->out, text->p, text->n);
  w->any = true;
  return flush(w, false, err);
}

bl_status bl_plan_task(bl_plan_writer *w, const bl_json *own, const bl_plan_line *line, bl_error *err) {
  bl_buf text;
  bl_buf_init(&text, w->ctx, BL_BUF_MAX);
  bl_plan_render(w, own, line, &text);
  bl_status st = bl_buf_ok(&text, err);
  if (st == BL_OK) st = bl_plan_rendered(w, &text, err);
  bl_buf_free(&text);
  return st;
}

bl_status bl_plan_end(bl_plan_writer *w, bl_error *err) {
  if (w->format == BL_PLAN_JSON) bl_buf_cstr(&w->out, "]}\n");
  return flush(w, true, err);
}

void bl_plan_dispose(bl_plan_writer *w) {
  if (!w->ctx) return;
  bl_buf_free(&w->head);
  bl_buf_free(&w->out);
}

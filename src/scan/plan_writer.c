/* plan_writer.c: bl_plan_writer of task_json.h. */
#include "scan/task_json.h"

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

bl_status bl_plan_begin(bl_plan_writer *w, bl_ctx *ctx, const bl_sink *sink, bl_plan_format format, const bl_json *doc,
                        const bl_json *head, bl_error *err) {
  *w = (bl_plan_writer){.ctx = ctx, .sink = sink, .format = format};
  bl_buf_init(&w->head, ctx, BL_BUF_MAX);
  bl_buf_init(&w->out, ctx, BL_BUF_MAX);
  if (format == BL_PLAN_TEXT) {
    for (const bl_json *m = doc->first; m; m = m->next) {
      if (m->kind == BL_J_ARRAY) continue;
      bl_buf_str(&w->out, m->key);
      bl_buf_cstr(&w->out, ": ");
      bl_json_print(&w->out, m, false);
      bl_buf_byte(&w->out, '\n');
    }
    bl_buf_printf(&w->out, "\n%12s  %7s  %21s  %7s  %s\n", "rows", "deletes", "first row id", "ordinal", "why, file");
  } else {
    open_object(&w->head, head);
    open_object(&w->out, doc);
    bl_buf_cstr(&w->out, ",\"tasks\":[");
  }
  return bl_buf_ok(&w->head, err);
}

static void text_line(bl_buf *b, const bl_plan_line *l) {
  bl_buf_printf(b, "%12lld  %7zu  ", (long long)l->rows, l->deletes);
  if (l->first_row_id == BL_NONE) bl_buf_printf(b, "%21s  ", "none");
  else bl_buf_printf(b, "%21lld  ", (long long)l->first_row_id);
  if (l->ordinal < 0) bl_buf_printf(b, "%7s  ", "");
  else bl_buf_printf(b, "%7lld  ", (long long)l->ordinal);
  bl_buf_str(b, l->why);
  bl_buf_cstr(b, ", ");
  bl_buf_str(b, l->path);
  bl_buf_byte(b, '\n');
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

/* json_write.c: a JSON document as text. See json.h. Numbers are printed as they were written; the document is walked
 * by its links, so that depth costs no stack. */
#include "base/text.h"
#include "format/json.h"

static void new_line(bl_buf *b, bool pretty, size_t depth) {
  if (!pretty) return;
  bl_buf_byte(b, '\n');
  while (depth--) bl_buf_cstr(b, "  ");
}

static void print_scalar(bl_buf *b, const bl_json *v) {
  switch (v->kind) {
  case BL_J_NULL: bl_buf_cstr(b, "null"); break;
  case BL_J_BOOL: bl_buf_cstr(b, v->b ? "true" : "false"); break;
  case BL_J_NUMBER: bl_buf_str(b, v->text); break;
  case BL_J_STRING: bl_print_json_str(b, v->text); break;
  case BL_J_ARRAY: bl_buf_cstr(b, "[]"); break;
  case BL_J_OBJECT: bl_buf_cstr(b, "{}"); break;
  }
}

static void print_key(bl_buf *b, const bl_json *v, bool pretty) {
  if (v->parent->kind != BL_J_OBJECT) return;
  bl_print_json_str(b, v->key);
  bl_buf_cstr(b, pretty ? ": " : ":");
}

/* v whose content is another's (bl_json_copy_sharing): that one says the same. */
static const bl_json *owner_of_content(const bl_json *v) {
  return v->first && v->first->parent != v ? v->first->parent : NULL;
}

static void print_tree(bl_buf *b, const bl_json *v, bool pretty, size_t depth) {
  const bl_json *at = v;
  for (;;) {
    if (at != v) print_key(b, at, pretty);
    const bl_json *owner = owner_of_content(at);
    if (owner) print_tree(b, owner, pretty, depth);
    else if (at->first) {
      bl_buf_byte(b, at->kind == BL_J_OBJECT ? '{' : '[');
      at = at->first;
      new_line(b, pretty, ++depth);
      continue;
    } else print_scalar(b, at);
    while (at != v && !at->next) {
      at = at->parent;
      new_line(b, pretty, --depth);
      bl_buf_byte(b, at->kind == BL_J_OBJECT ? '}' : ']');
    }
    if (at == v) return;
    at = at->next;
    bl_buf_byte(b, ',');
    new_line(b, pretty, depth);
  }
}

void bl_json_print(bl_buf *b, const bl_json *v, bool pretty) {
  const bl_json *owner = owner_of_content(v);
  print_tree(b, owner ? owner : v, pretty, 0);
}

bl_str bl_json_text(bl_arena *a, const bl_json *v) {
  bl_buf b;
  bl_str text = BL_STR_NONE;
  bl_buf_init(&b, bl_arena_ctx(a), BL_BUF_MAX);
  if (v) bl_json_print(&b, v, false);
  if (v && !b.failed) text = bl_arena_str(a, (bl_str){(const char *)b.p, b.n});
  bl_buf_free(&b);
  return text;
}

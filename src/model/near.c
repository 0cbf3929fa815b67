/* near.c: see near.h. */
#include "model/near.h"

#include <stdio.h>

enum { MOST_NAME = 90 };

static bl_str behind(bl_str s, size_t n) {
  return (bl_str){s.p + n, s.n - n};
}

int bl_name_slip(bl_str a, bl_str b) {
  if (a.n < b.n) {
    bl_str longer = b;
    b = a, a = longer;
  }
  if (bl_str_eq_nocase(a, b)) return 1;
  if (a.n < 3 || a.n - b.n > 1) return 0;
  size_t i = 0; /* where they part */
  while (i < b.n && bl_lower(a.p[i]) == bl_lower(b.p[i])) i++;
  if (a.n > b.n) return bl_str_eq_nocase(behind(a, i + 1), behind(b, i)) ? 2 : 0;
  if (bl_str_eq_nocase(behind(a, i + 1), behind(b, i + 1))) return 2;
  bool swapped = i + 1 < a.n && bl_lower(a.p[i]) == bl_lower(b.p[i + 1]) && bl_lower(a.p[i + 1]) == bl_lower(b.p[i]);
  return swapped && bl_str_eq_nocase(behind(a, i + 2), behind(b, i + 2)) ? 2 : 0;
}

typedef struct search {
  bl_str name;
  int best; /* the slip of what is found; 0: nothing */
  bool several;
  char found[MOST_NAME + 1], path[MOST_NAME + 1]; /* path: down to the struct in hand, with its dot */
} search;

static void look(search *s, const bl_type *t, size_t depth) {
  for (size_t i = 0; t->kind == BL_STRUCT && i < t->n_fields; i++) {
    const bl_field *f = &t->fields[i];
    if (f->name.n == 0 || depth + f->name.n + 1 > MOST_NAME) continue;
    memcpy(s->path + depth, f->name.p, f->name.n);
    size_t n = depth + f->name.n;
    int slip = bl_name_slip((bl_str){s->path, n}, s->name);
    if (slip && slip == s->best) s->several = true;
    if (slip && (!s->best || slip < s->best)) {
      s->best = slip;
      s->several = false;
      memcpy(s->found, s->path, n);
      s->found[n] = 0;
    }
    s->path[n] = '.';
    look(s, &f->type, n + 1);
  }
}

bl_near bl_near_field(const bl_type *root, const bl_type *other, bl_str name) {
  search s = {.name = name};
  bl_near near = {""};
  if (root) look(&s, root, 0);
  if (other) look(&s, other, 0);
  if (s.best && !s.several) snprintf(near.hint, sizeof near.hint, ": did you mean %s?", s.found);
  return near;
}

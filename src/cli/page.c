/* page.c: a page of the manual as text or as roff, from the same calls. */
#include <string.h>

#include "cli.h"

enum { WIDTH = 80, INDENT = 2, TERM = 26, VERBATIM = 4 };

/* ---- roff ---- */

static bool needs_escape(const char *line) {
  return *line == '.' || *line == '\'';
}

/* n bytes; "-" is what is typed, not a hyphen. */
static void roff_bytes(const char *s, size_t n, FILE *out) {
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\\') fputs("\\e", out);
    else if (s[i] == '-') fputs("\\-", out);
    else fputc(s[i], out);
  }
}

static void roff_line(const char *line, size_t n, FILE *out) {
  if (n && needs_escape(line)) fputs("\\&", out);
  roff_bytes(line, n, out);
  fputc('\n', out);
}

/* ---- lines and words ---- */

/* The next line of a text: its bytes without the end, NULL after the last one. */
static const char *next_line(const char **text, size_t *n) {
  const char *line = *text;
  if (!*line) return NULL;
  *n = strcspn(line, "\n");
  *text = line + *n + (line[*n] == '\n');
  return line;
}

static size_t indentation(const char *line, size_t n) {
  size_t i = 0;
  while (i < n && line[i] == ' ') i++;
  return i;
}

/* Columns of UTF-8: bytes that continue a character take none. */
static size_t columns(const char *s, size_t n) {
  size_t k = 0;
  for (size_t i = 0; i < n; i++) k += ((unsigned char)s[i] & 0xc0) != 0x80;
  return k;
}

/* Filling: where the line is, and where the next one begins. */
typedef struct fill {
  FILE *out;
  size_t at, indent;
} fill;

static void fill_to(fill *f, size_t column) {
  for (; f->at < column; f->at++) fputc(' ', f->out);
}

static void fill_word(fill *f, const char *word, size_t n) {
  size_t wide = columns(word, n);
  if (f->at > f->indent && f->at + 1 + wide > WIDTH) {
    fputc('\n', f->out);
    f->at = 0;
  }
  if (f->at > f->indent) fill_to(f, f->at + 1);
  else fill_to(f, f->indent);
  fwrite(word, 1, n, f->out);
  f->at += wide;
}

static void fill_words(fill *f, const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    while (i < n && s[i] == ' ') i++;
    size_t end = i;
    while (end < n && s[end] != ' ') end++;
    if (end > i) fill_word(f, s + i, end - i);
    i = end;
  }
}

static void fill_end(fill *f) {
  if (f->at) fputc('\n', f->out);
  f->at = 0;
}

/* ---- the page ---- */

void cli_page_begin(cli_page *p, const char *name) {
  p->begun = true;
  if (!p->roff) return;
  fputs(".TH ", p->out);
  for (const char *c = name; *c; c++) {
    if (*c == '-') fputs("\\-", p->out);
    else fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, p->out);
  }
  fputs(" 1 \"\" \"bergline " BL_VERSION "\"\n.nh\n.ad l\n", p->out);
}

void cli_page_section(cli_page *p, const char *title) {
  if (p->roff) fprintf(p->out, ".SH %s\n", title);
  else fprintf(p->out, "%s%s\n", p->begun ? "\n" : "", title);
  p->begun = true;
}

static void plain_text(const char *text, FILE *out) {
  fill f = {out, 0, INDENT};
  const char *line;
  size_t n;
  while ((line = next_line(&text, &n))) {
    size_t in = indentation(line, n);
    if (in < VERBATIM && in < n) {
      fill_words(&f, line, n);
      continue;
    }
    fill_end(&f);
    fprintf(out, "%.*s\n", in < n ? (int)n : 0, line);
  }
  fill_end(&f);
}

static void roff_text(const char *text, FILE *out) {
  bool verbatim = false;
  const char *line;
  size_t n;
  fputs(".PP\n", out);
  while ((line = next_line(&text, &n))) {
    size_t in = indentation(line, n);
    bool now = in >= VERBATIM && in < n;
    if (now != verbatim && in < n) {
      fputs(now ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n.PP\n", out);
      verbatim = now;
    }
    size_t skip = now ? VERBATIM : in;
    if (in < n) roff_line(line + skip, n - skip, out);
    else fputs(verbatim ? "\n" : ".PP\n", out);
  }
  if (verbatim) fputs(".fi\n.RE\n", out);
}

void cli_page_text(cli_page *p, const char *text) {
  if (p->roff) roff_text(text, p->out);
  else plain_text(text, p->out);
}

void cli_page_item(cli_page *p, const char *term, const char *about) {
  if (p->roff) {
    fputs(".TP\n.B ", p->out);
    roff_line(term, strlen(term), p->out);
    roff_line(about, strlen(about), p->out);
    return;
  }
  size_t room = p->term ? p->term : TERM, wide = columns(term, strlen(term));
  fprintf(p->out, "  %s", term);
  fill f = {p->out, INDENT + wide, INDENT + room + 1};
  if (wide > room) fill_end(&f);
  fill_words(&f, about, strlen(about));
  fill_end(&f);
}

void cli_page_items(cli_page *p, const cli_item *items, size_t n) {
  size_t widest = 1;
  for (size_t i = 0; i < n; i++) {
    size_t wide = columns(items[i].term, strlen(items[i].term));
    if (wide <= TERM && wide > widest) widest = wide;
  }
  p->term = widest + 1;
  for (size_t i = 0; i < n; i++) cli_page_item(p, items[i].term, items[i].about);
  p->term = 0;
}

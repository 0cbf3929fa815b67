/* writes.c: see writes.h. */
#include "writes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bl_status cli_check_batch(cli *c) {
  const char *id = c->common.batch_id;
  return id && !*id ? bl_fail(&c->err, BL_USAGE, "wrong usage: --batch-id: it is empty") : BL_OK;
}

static bl_status write_options(cli *c, bl_write_options *out) {
  const cli_common *o = &c->common;
  *out = (bl_write_options){.ref = o->ref,
                            .dry_run = o->dry_run,
                            .summary = o->summary.items,
                            .n_summary = o->summary.n,
                            .batch_id = o->batch_id,
                            .wap_id = o->wap_id,
                            .already_applied = &c->applied};
  bl_status st = cli_check_batch(c);
  if (st != BL_OK) return st;
  if (o->wap_id && !*o->wap_id) return bl_fail(&c->err, BL_USAGE, "wrong usage: --wap-id: it is empty");
  if (!o->mode) return BL_OK;
  if (strcmp(o->mode, "copy-on-write") == 0) out->mode = BL_COPY_ON_WRITE;
  else if (strcmp(o->mode, "merge-on-read") == 0) out->mode = BL_MERGE_ON_READ;
  else return bl_fail(&c->err, BL_USAGE, "wrong usage: --mode %s: copy-on-write or merge-on-read is expected", o->mode);
  return BL_OK;
}

bl_status cli_open_to_write(cli *c, bl_table **t, bl_write_options *o) {
  bl_status st = write_options(c, o);
  return st == BL_OK ? cli_open_table_to_change(c, c->args[0], t) : st;
}

bl_status cli_table_options(cli *c, bl_table_options *out) {
  bl_status st = cli_need_drivers(c);
  *out = (bl_table_options){.catalog = c->common.catalog,
                            .uri = c->common.uri,
                            .warehouse = c->common.warehouse,
                            .path_maps = c->common.path_maps.items,
                            .n_path_maps = c->common.path_maps.n,
                            .drivers = &c->drivers,
                            .to_change = true};
  return st;
}

/* ---- asking ---- */

bl_status cli_confirm(cli *c, const char *fmt, ...) {
  char question[500], answer[20] = "";
  va_list ap;
  if (c->common.yes || c->common.dry_run) return BL_OK;
  va_start(ap, fmt);
  vsnprintf(question, sizeof question, fmt, ap);
  va_end(ap);
  if (!isatty(STDIN_FILENO))
    return bl_fail(&c->err, BL_USAGE, "not done: %s: it needs --yes where nobody can be asked", question);
  fprintf(stderr, "%s? [y/N] ", question);
  if (!fgets(answer, sizeof answer, stdin)) answer[0] = 0;
  if (answer[0] == 'y' || answer[0] == 'Y') return BL_OK;
  return bl_fail(&c->err, BL_USAGE, "not done: %s: the answer was no", question);
}

/* ---- objects ---- */

static void add(cli_json *j, const char *p, size_t n) {
  if (j->failed) return;
  if (j->n + n + 1 > j->cap) {
    size_t cap = (j->n + n + 1) * 2;
    char *q = realloc(j->p, cap);
    if (!q) {
      j->failed = true;
      return;
    }
    j->p = q, j->cap = cap;
  }
  memcpy(j->p + j->n, p, n);
  j->n += n;
  j->p[j->n] = 0;
}

static void add_string(cli_json *j, const char *s) {
  char escape[8];
  add(j, "\"", 1);
  for (; *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c >= 0x20 && c != '"' && c != '\\') {
      add(j, s, 1);
      continue;
    }
    int n = c >= 0x20 ? snprintf(escape, sizeof escape, "\\%c", c) : snprintf(escape, sizeof escape, "\\u%04x", c);
    add(j, escape, (size_t)n);
  }
  add(j, "\"", 1);
}

static void add_key(cli_json *j, const char *key) {
  add(j, j->n ? "\n" : "", j->n ? 1 : 0); /* members are lines until they are printed */
  add_string(j, key);
  add(j, ":", 1);
}

void cli_json_text(cli_json *j, const char *key, const char *value) {
  add_key(j, key);
  if (value) add_string(j, value);
  else add(j, "null", 4);
}

void cli_json_number(cli_json *j, const char *key, int64_t v) {
  char text[32];
  add_key(j, key);
  add(j, text, (size_t)snprintf(text, sizeof text, "%lld", (long long)v));
}

void cli_json_bool(cli_json *j, const char *key, bool v) {
  add_key(j, key);
  add(j, v ? "true" : "false", v ? 4 : 5);
}

/* "key":value a line -> key  value, aligned. */
static void print_text(const bl_sink *sink, cli_json *j, bl_status *st, bl_error *err) {
  enum { WIDTH = 22 };
  for (char *line = j->p; line && *line && *st == BL_OK;) {
    char *end = strchr(line, '\n'), *colon = strchr(line, ':'), text[64];
    if (end) *end = 0;
    size_t key = (size_t)(colon - line) - 2;
    int n = snprintf(text, sizeof text, "%.*s%*s", (int)key, line + 1, key < WIDTH ? (int)(WIDTH - key) : 1, "");
    *st = sink->write(sink->user, text, (size_t)n, err);
    char *value = colon + 1;
    size_t length = strlen(value);
    if (*value == '"') value++, length -= 2;
    if (*st == BL_OK) *st = sink->write(sink->user, value, length, err);
    if (*st == BL_OK) *st = sink->write(sink->user, "\n", 1, err);
    line = end ? end + 1 : NULL;
  }
}

bl_status cli_json_write(const bl_sink *sink, cli_json *j, bl_error *err) {
  if (j->failed || !j->p) return bl_fail(err, BL_NOMEM, "out of memory");
  for (size_t i = 0; i < j->n; i++)
    if (j->p[i] == '\n') j->p[i] = ',';
  bl_status st = sink->write(sink->user, "{", 1, err);
  if (st == BL_OK) st = sink->write(sink->user, j->p, j->n, err);
  return st == BL_OK ? sink->write(sink->user, "}", 1, err) : st;
}

static void print_json(const bl_sink *sink, cli_json *j, bl_status *st, bl_error *err) {
  *st = cli_json_write(sink, j, err);
  if (*st == BL_OK) *st = sink->write(sink->user, "\n", 1, err);
}

bl_status cli_json_print(cli *c, cli_json *j) {
  const char *format;
  bl_sink sink;
  bl_status st = j->failed || !j->p ? bl_nomem(&c->err) : cli_format(c, &format);
  if (st == BL_OK) st = cli_open_output(c, &sink);
  if (st == BL_OK) {
    if (strcmp(format, "text") == 0) print_text(&sink, j, &st, &c->err);
    else print_json(&sink, j, &st, &c->err);
    st = cli_close_output(c, st);
  }
  free(j->p);
  *j = (cli_json){0};
  return st;
}

/* ---- outcomes ---- */

/* The error that follows is of the report alone; nobody shall do the change again. */
static void warn_committed(int64_t snapshot_id) {
  char text[80];
  snprintf(text, sizeof text, "the change is committed as snapshot %lld", (long long)snapshot_id);
  cli_log(NULL, BL_LOG_WARNING, text);
}

bl_status cli_write_result(cli *c, const bl_write_result *r) {
  cli_json j = {0};
  cli_json_bool(&j, "committed", r->committed);
  if (c->common.dry_run) cli_json_bool(&j, "dry_run", true);
  if (r->already_applied) cli_json_bool(&j, "already_applied", true);
  if (r->events_passed_over) cli_json_number(&j, "events_passed_over", r->events_passed_over);
  if (r->committed) {
    cli_json_number(&j, "snapshot_id", r->snapshot_id);
    cli_json_number(&j, "sequence_number", r->sequence_number);
    cli_json_number(&j, "first_row_id", r->first_row_id);
    cli_json_number(&j, "rows_assigned", r->rows_assigned);
  }
  cli_json_number(&j, "rows_inserted", r->rows_inserted);
  cli_json_number(&j, "rows_updated", r->rows_updated);
  cli_json_number(&j, "rows_deleted", r->rows_deleted);
  cli_json_number(&j, "rows_unchanged", r->rows_unchanged);
  cli_json_number(&j, "data_files_added", r->data_files_added);
  cli_json_number(&j, "data_files_removed", r->data_files_removed);
  cli_json_number(&j, "delete_files_added", r->delete_files_added);
  cli_json_number(&j, "delete_files_removed", r->delete_files_removed);
  if (r->committed) cli_json_number(&j, "attempts", r->attempts);
  bl_status st = cli_json_print(c, &j);
  if (st != BL_OK && r->committed && !c->nobody_reads) warn_committed(r->snapshot_id);
  return st;
}

void cli_json_location(cli *c, const char *address, cli_json *j) {
  bl_table *t = NULL;
  bl_table_info info;
  if (cli_open_table(c, address, &t) == BL_OK) {
    bl_table_get_info(t, &info);
    cli_json_text(j, "metadata_location", info.metadata_location);
  } else {
    char text[1100];
    snprintf(text, sizeof text, "the change is made, but its metadata file is not told: %s", c->err.message);
    cli_log(NULL, BL_LOG_WARNING, text);
    c->err = (bl_error)BL_ERROR_INIT;
  }
  bl_table_free(t);
}

bl_status cli_metadata_result(cli *c, const char *address, const char *fmt, ...) {
  char text[500];
  cli_json j = {0};
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (c->applied) snprintf(text, sizeof text, "nothing: the batch is applied already");
  cli_json_text(&j, "done", c->common.dry_run ? "nothing (dry run)" : text);
  if (c->applied) cli_json_bool(&j, "already_applied", true);
  if (c->common.dry_run) cli_json_text(&j, "planned", text);
  else cli_json_location(c, address, &j);
  return cli_json_print(c, &j);
}

/* ---- lists ---- */

bl_status cli_rows_begin(cli *c, cli_rows *r) {
  const char *format;
  bl_status st = cli_format(c, &format);
  *r = (cli_rows){.c = c};
  if (st == BL_OK) st = cli_open_output(c, &r->sink);
  if (st != BL_OK) return st;
  r->text = strcmp(format, "text") == 0;
  return BL_OK;
}

bl_status cli_rows_line(cli_rows *r, const char *fmt, ...) {
  char text[2000];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text - 1, fmt, ap);
  va_end(ap);
  if (n < 0 || n > (int)sizeof text - 2) n = (int)sizeof text - 2;
  text[n++] = '\n';
  return r->sink.write(r->sink.user, text, (size_t)n, &r->c->err);
}

bl_status cli_rows_object(cli_rows *r, cli_json *j) {
  const char *before = r->n++ ? ",\n " : "[";
  bl_status st = r->sink.write(r->sink.user, before, strlen(before), &r->c->err);
  if (st == BL_OK) st = cli_json_write(&r->sink, j, &r->c->err);
  free(j->p);
  *j = (cli_json){0};
  return st;
}

bl_status cli_rows_end(cli_rows *r, bl_status st) {
  const char *close = r->n ? "]\n" : "[]\n";
  if (st == BL_OK && !r->text) st = r->sink.write(r->sink.user, close, strlen(close), &r->c->err);
  return cli_close_output(r->c, st);
}

bl_status cli_duration(cli *c, const char *option, const char *text, int64_t *ms) {
  static const struct {
    const char *unit;
    int64_t ms;
  } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
  size_t digits = strspn(text, "0123456789");
  char number[32];
  if (digits && digits < sizeof number) {
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
      if (strcmp(text + digits, units[i].unit) != 0) continue;
      bl_status st = cli_number(c, option, number, ms);
      if (st != BL_OK || !__builtin_mul_overflow(*ms, units[i].ms, ms)) return st;
    }
  }
  return bl_fail(&c->err, BL_USAGE,
                 "wrong usage: %s %s: a time with its unit is expected, as 7d, 12h, 30m, 45s or 500ms", option, text);
}

/* output.c: where a command's data goes, and the table that it works on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* ---- formats ---- */

/* Is `name` (n bytes) one of "a|b|c"? */
static const char *find_format(const char *formats, const char *name, size_t n) {
  for (const char *p = formats; p;) {
    const char *bar = strchr(p, '|');
    size_t length = bar ? (size_t)(bar - p) : strlen(p);
    if (length == n && memcmp(p, name, n) == 0) return p;
    p = bar ? bar + 1 : NULL;
  }
  return NULL;
}

/* The n-th of "a|b|c". */
static const char *nth_format(const char *formats, int n) {
  for (; n > 0; n--) {
    const char *bar = strchr(formats, '|');
    if (!bar) break;
    formats = bar + 1;
  }
  return formats;
}

/* The static name of a format that begins at p. */
static const char *format_name(const char *p) {
  static const char *const names[] = {"text", "ndjson", "csv", "arrow", "parquet", "json"};
  size_t n = strcspn(p, "|");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == n && memcmp(names[i], p, n) == 0) return names[i];
  return "text";
}

/* What is behind the last dot of a file's name; NULL: nothing is. */
static const char *ending_of(const char *file) {
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file, *dot = strrchr(name, '.');
  return dot && dot > name && dot[1] ? dot + 1 : NULL;
}

/* The format that the ending of a file name stands for. */
static const char *format_of_file(const char *formats, const char *file) {
  static const char *const endings[][2] = {
      {"txt", "text"},     {"ndjson", "ndjson"}, {"jsonl", "ndjson"},  {"csv", "csv"},         {"arrow", "arrow"},
      {"arrows", "arrow"}, {"ipc", "arrow"},     {"feather", "arrow"}, {"parquet", "parquet"}, {"json", "json"}};
  const char *ending = ending_of(file);
  for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
    if (strcasecmp(ending, endings[i][0]) == 0) return find_format(formats, endings[i][1], strlen(endings[i][1]));
  return NULL;
}

/* The ending says something else than what the file will be: told once. */
static void warn_of_ending(cli *c, const char *format) {
  char text[300];
  const char *ending = c->common.output ? ending_of(c->common.output) : NULL;
  if (!ending || c->ending_told) return;
  c->ending_told = true;
  snprintf(text, sizeof text, "%.200s: no format that goes by the ending: it is written as %s (see --format)",
           c->common.output, format);
  cli_log(NULL, BL_LOG_WARNING, text);
}

bl_status cli_format(cli *c, const char **out) {
  const char *formats = c->command->formats, *p = NULL;
  if (c->common.format) {
    p = find_format(formats, c->common.format, strlen(c->common.format));
    if (!p) return bl_fail(&c->err, BL_USAGE, "wrong usage: --format %s: %s is expected", c->common.format, formats);
  }
  if (!p && c->common.output) p = format_of_file(formats, c->common.output);
  bool told = p != NULL;
  if (!p) p = nth_format(formats, !c->common.output && isatty(STDOUT_FILENO) ? 0 : 1);
  *out = format_name(p);
  if (!told) warn_of_ending(c, *out);
  return BL_OK;
}

bool cli_is_arrow_file(cli *c) {
  static const char *const endings[] = {"arrow", "feather", "ipc"};
  char text[400];
  const char *ending = c->common.output ? ending_of(c->common.output) : NULL;
  bool is = false;
  for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++) is = is || !strcasecmp(ending, endings[i]);
  if (!is || !c->common.format) return is;
  snprintf(text, sizeof text,
           "%.200s: it is written as an Arrow IPC stream, which --format arrow stands for; without "
           "--format it is an IPC file",
           c->common.output);
  cli_log(NULL, BL_LOG_WARNING, text);
  return false;
}

/* ---- bytes ---- */

static bl_status write_stdout(void *user, const void *p, size_t n, bl_error *err) {
  cli *c = user;
  const char *bytes = p;
  cli_progress_clear();
  while (n) {
    ssize_t put = write(STDOUT_FILENO, bytes, n);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EPIPE) {
      c->nobody_reads = true;
      return bl_fail(err, BL_CANCELLED, "stopped: standard output: its reader is gone");
    }
    if (put < 0) return bl_fail(err, BL_IO, "cannot write: standard output: %m");
    bytes += put, n -= (size_t)put;
  }
  return BL_OK;
}

static bl_status write_file(void *user, const void *p, size_t n, bl_error *err) {
  cli *c = user;
  return c->file->write(c->file, p, n, err);
}

bl_status cli_need_drivers(cli *c) {
  return c->drivers.io ? BL_OK : bl_drivers_default(c->ctx, &c->drivers, &c->err);
}

/* No folder is made for a result: it would be one of a mistyped name. */
static bl_status check_folder(cli *c) {
  const char *file = c->common.output, *slash = strrchr(file, '/');
  struct stat s;
  if (strncmp(file, "file:", 5) == 0 || strstr(file, "://")) return BL_OK;
  if (stat(file, &s) == 0 && S_ISDIR(s.st_mode))
    return bl_fail(&c->err, BL_IO, "cannot write: %s: it is a folder, a file is expected", file);
  if (!slash || slash == file) return BL_OK;
  char *folder = strndup(file, (size_t)(slash - file));
  if (!folder) return bl_fail(&c->err, BL_NOMEM, "out of memory");
  bool there = stat(folder, &s) == 0;
  if (there && !S_ISDIR(s.st_mode)) {
    errno = ENOTDIR;
    there = false;
  }
  bl_status st = there ? BL_OK : bl_fail(&c->err, BL_IO, "cannot write: %s: %m", file);
  free(folder);
  return st;
}

bl_status cli_check_output(cli *c) {
  const char *format;
  if (c->command->groups & CLI_WRITES) {
    bl_status st = cli_format(c, &format);
    if (st != BL_OK) return st;
  }
  return c->common.output ? check_folder(c) : BL_OK;
}

/* By whatever name: when its reader goes away, that is no failure. */
static bool is_stdout(const char *file) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  bool is = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) is = is || strcmp(file, names[i]) == 0;
  return is;
}

bl_status cli_open_output(cli *c, bl_sink *out) {
  *out = (bl_sink){write_stdout, c};
  if (!c->common.output || is_stdout(c->common.output)) return BL_OK;
  *out = (bl_sink){write_file, c};
  bl_status st = cli_need_drivers(c);
  if (st != BL_OK) return st;
  bl_io *io = c->drivers.io;
  return io->open_result ? io->open_result(io, c->common.output, &c->file, &c->err)
                         : io->open_output(io, c->common.output, false, &c->file, &c->err);
}

bl_status cli_close_output(cli *c, bl_status st) {
  bl_output *file = c->file;
  c->file = NULL;
  if (!file) return st;
  if (st == BL_OK) return file->finish(file, &c->err);
  file->abort(file);
  return st;
}

static bl_status open_table(cli *c, const char *address, bool to_change, bl_table **out) {
  bl_status st = cli_need_drivers(c);
  if (st != BL_OK) return st;
  bl_table_options o = {.catalog = c->common.catalog,
                        .uri = c->common.uri,
                        .warehouse = c->common.warehouse,
                        .path_maps = c->common.path_maps.items,
                        .n_path_maps = c->common.path_maps.n,
                        .drivers = &c->drivers,
                        .to_change = to_change};
  return bl_table_open(c->ctx, address, &o, out, &c->err);
}

bl_status cli_open_table(cli *c, const char *address, bl_table **out) {
  return open_table(c, address, false, out);
}

bl_status cli_open_table_to_change(cli *c, const char *address, bl_table **out) {
  return open_table(c, address, true, out);
}

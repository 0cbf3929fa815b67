/* messages.c: what goes to stderr. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

/* The bar is of the process's one terminal line, so its state is too. The library never calls back twice at once. */
static struct {
  bool on, shown;
  int64_t begun_ms, last_ms;
} bar;

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void cli_progress_setup(const char *mode, bool quiet) {
  bar.on = !mode || strcmp(mode, "auto") == 0 ? isatty(STDERR_FILENO) && !quiet : strcmp(mode, "always") == 0;
  bar.begun_ms = bar.last_ms = now_ms();
  if (mode && strcmp(mode, "always") == 0) bar.begun_ms -= 1000;
}

void cli_progress_clear(void) {
  if (bar.shown) fputs("\r\033[K", stderr);
  bar.shown = false;
}

int cli_progress(void *user, const char *what, int64_t done, int64_t total) {
  (void)user;
  int64_t now = now_ms();
  if (!bar.on || now - bar.begun_ms < 1000 || now - bar.last_ms < 100) return 0;
  bar.last_ms = now;
  cli_progress_clear();
  bar.shown = true;
  if (total <= 0) {
    fprintf(stderr, "%s: %lld", what, (long long)done);
    return 0;
  }
  static const char full[] = "##############################";
  int width = (int)sizeof full - 1, filled = done >= total ? width : (int)((double)done / (double)total * width);
  fprintf(stderr, "%s [%.*s%*s] %3d %%", what, filled, full, width - filled, "", filled * 100 / width);
  return 0;
}

void cli_log(void *user, bl_log_level level, const char *text) {
  (void)user;
  if (level != BL_LOG_WARNING) return;
  cli_progress_clear();
  fprintf(stderr, "bergline: warning: %s\n", text);
}

void cli_error(const bl_error *err) {
  cli_progress_clear();
  fprintf(stderr, "bergline: error: %s\n", err->message[0] ? err->message : bl_status_name(err->status));
}

void cli_caret(const char *text, int64_t position) {
  size_t n = strlen(text);
  if (position < 0 || (uint64_t)position > n) return;
  /* One column a character: bytes that continue one do not count. Controls would move the caret. */
  fputs("  ", stderr);
  for (size_t i = 0; i < n; i++) fputc((unsigned char)text[i] < 0x20 ? ' ' : text[i], stderr);
  fputs("\n  ", stderr);
  for (size_t i = 0; i < (size_t)position; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80) fputc(' ', stderr);
  fputs("^\n", stderr);
}

int cli_exit_status(bl_status st) {
  return st <= BL_NOT_FOUND ? (int)st : BL_IO;
}

/* examples/workers.c: one UPDATE by several workers, as a distributed engine makes it: each process rewrites the rows
 * of its own predicate and hands on a description; a process that wrote nothing commits them all as one snapshot. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* fork, pipe, getdelim */
#endif
#include <bergline/bergline.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 20 };

/* ---- a worker: a process of its own ---- */

static bl_status stage(bl_ctx *ctx, const char *path, const char *set, const char *where, FILE *to, bl_error *err) {
  bl_table *table;
  char *descriptor = NULL; /* JSON: no row ids, no sequence number */
  const bl_write_options options = {.mode = BL_MERGE_ON_READ, .stage = &descriptor};
  bl_status st = bl_table_open(ctx, path, NULL, &table, err);
  if (st != BL_OK) return st;
  st = bl_update_rows(table, &set, 1, where, &options, NULL, err);
  if (st == BL_OK && descriptor) fputs(descriptor, to);
  bl_text_free(ctx, descriptor);
  bl_table_free(table);
  return st;
}

static int work(const char *path, const char *set, const char *where, int pipe_end) {
  bl_error err = BL_ERROR_INIT;
  FILE *to = fdopen(pipe_end, "w");
  bl_ctx *ctx;
  bl_status st = to ? bl_ctx_new(NULL, &ctx, &err) : BL_IO;
  if (st == BL_OK) {
    st = stage(ctx, path, set, where, to, &err);
    bl_ctx_free(ctx);
  }
  if (to && fclose(to) != 0) st = BL_IO;
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return (int)st;
}

/* What comes out of the pipe; NULL: the worker failed. */
static char *collect(pid_t worker, int pipe_end) {
  char *text = NULL;
  size_t room = 0;
  int status;
  FILE *from = fdopen(pipe_end, "r");
  long n = from ? getdelim(&text, &room, 0, from) : -1;
  if (from) fclose(from);
  waitpid(worker, &status, 0);
  if (n > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return text;
  free(text);
  return NULL;
}

/* ---- the committer ---- */

static bl_status commit(bl_ctx *ctx, const char *path, char **staged, size_t n, bool whole, bl_error *err) {
  bl_table *table;
  bl_write_result result = {0};
  bl_status st = bl_table_open(ctx, path, NULL, &table, err);
  if (st != BL_OK) return st;
  if (whole) st = bl_commit_staged(table, (const char *const *)staged, n, NULL, &result, err);
  if (!whole || st == BL_CONFLICT) { /* nobody will try again with these files */
    bl_status gone = bl_abandon_staged(table, (const char *const *)staged, n, NULL);
    printf(gone == BL_OK ? "given up\n" : "files stay\n");
  }
  if (result.committed)
    printf("%d parts, one snapshot: sequence number %lld\n", (int)n, (long long)result.sequence_number);
  bl_table_free(table);
  return st;
}

int main(int argc, char **argv) {
  bl_error err = BL_ERROR_INIT;
  pid_t workers[MOST];
  int pipes[MOST][2];
  char *staged[MOST] = {0};
  bool whole = true;
  bl_ctx *ctx;
  size_t n = argc > 3 ? (size_t)argc - 3 : 0;
  if (n == 0 || n > MOST) {
    printf("usage: workers TABLE \"COLUMN = EXPRESSION\" PREDICATE...\n");
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    if (pipe(pipes[i]) != 0 || (workers[i] = fork()) < 0) return BL_IO;
    if (workers[i] == 0) return work(argv[1], argv[2], argv[3 + i], pipes[i][1]);
    close(pipes[i][1]);
  }
  for (size_t i = 0; i < n; i++) {
    staged[i] = collect(workers[i], pipes[i][0]);
    whole = whole && staged[i];
  }
  bl_status st = bl_ctx_new(NULL, &ctx, &err);
  if (st == BL_OK) {
    st = commit(ctx, argv[1], staged, n, whole, &err);
    bl_ctx_free(ctx);
  }
  for (size_t i = 0; i < n; i++) free(staged[i]);
  if (st != BL_OK) fprintf(stderr, "%s\n", err.message);
  return st == BL_OK && !whole ? 1 : (int)st;
}

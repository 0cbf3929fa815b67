/* cmd_run_task.c: run-task FILE. */
#include "bergline/scan.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

enum { MAX_TASK = 1 << 28 };

typedef struct task_values {
  cli_list path_maps;
} task_values;

/* A task names its files: no catalog is asked. */
static const cli_option options[] = {
    {"--path-map", 0, CLI_LIST, "FROM=TO", "read paths that begin with FROM at TO (repeatable)",
     offsetof(task_values, path_maps)},
};

typedef struct task_text {
  char *p;
  size_t n, cap;
} task_text;

static bl_status read_all(cli *c, FILE *in, const char *name, task_text *out) {
  for (;;) {
    if (out->n == out->cap) {
      size_t cap = out->cap ? out->cap * 2 : 1 << 16;
      char *p = cap > MAX_TASK ? NULL : realloc(out->p, cap);
      if (!p)
        return bl_fail(&c->err, cap > MAX_TASK ? BL_DAMAGED : BL_NOMEM, "task: %s: larger than %d bytes", name,
                       MAX_TASK);
      out->p = p;
      out->cap = cap;
    }
    size_t k = fread(out->p + out->n, 1, out->cap - out->n, in);
    out->n += k;
    if (k == 0) return ferror(in) ? bl_fail(&c->err, BL_IO, "task: %s: %s", name, strerror(errno)) : BL_OK;
  }
}

static bl_status read_task(cli *c, const char *name, task_text *out) {
  if (strcmp(name, "-") == 0) return read_all(c, stdin, "standard input", out);
  FILE *in = fopen(name, "rb");
  if (!in) return bl_fail(&c->err, errno == ENOENT ? BL_NOT_FOUND : BL_IO, "task: %s: %s", name, strerror(errno));
  bl_status st = read_all(c, in, name, out);
  fclose(in);
  return st;
}

static bl_status run_task(cli *c, const void *values) {
  const task_values *v = values;
  task_text text = {0};
  struct ArrowArrayStream stream = {0};
  bl_table_options o = {.path_maps = v->path_maps.items, .n_path_maps = v->path_maps.n};
  bl_status st = read_task(c, c->args[0], &text);
  if (st == BL_OK) st = bl_run_task(c->ctx, text.p, text.n, &o, &stream, &c->err);
  if (st == BL_OK) st = cli_write_rows(c, &stream);
  if (stream.release) stream.release(&stream);
  free(text.p);
  return st;
}

const cli_command cli_run_task = {
    .name = "run-task",
    .synopsis = "FILE|- [--path-map FROM=TO] [--format …] [-o FILE]",
    .about = "the rows of one task of a plan",
    .formats = "text|ndjson|csv|arrow|parquet",
    .text = "  FILE (- is standard input) holds one element of \"tasks\" of what --plan prints. A task needs nothing "
            "but the files that it\n"
            "  names: any process that reaches them can run it. A task of changes gives the rows that left and came to "
            "one file;\n"
            "  rows of different tasks with one _row_id are one row.\n",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .values_size = sizeof(task_values),
    .min_args = 1,
    .max_args = 1,
    .groups = CLI_OUTPUT,
    .run = run_task,
};

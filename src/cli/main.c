/* main.c: the program: find the command, run it, tell its outcome. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli.h"

/* One a line: commands come and go. */
// clang-format off
static const cli_command *const commands[] = {
    &cli_scan,
    &cli_changes,
    &cli_history,
    &cli_run_task,
    &cli_inspect,
    &cli_create,
    &cli_append,
    &cli_add_files,
    &cli_set,
    &cli_unset,
    &cli_delete,
    &cli_update,
    &cli_upsert,
    &cli_sync,
    &cli_apply,
    &cli_overwrite,
    &cli_branch,
    &cli_tag,
    &cli_fast_forward,
    &cli_cherry_pick,
    &cli_rollback,
    &cli_alter,
    &cli_relocate,
    &cli_catalog,
};
// clang-format on

const cli_command *const *cli_commands(size_t *n) {
  *n = sizeof commands / sizeof *commands;
  return commands;
}

const cli_command *cli_find_command(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

/* ---- one command ---- */

static bl_status make_ctx(cli *c) {
  static const char *const modes[] = {"auto", "always", "never"};
  const char *mode = c->common.progress;
  bool known = !mode;
  for (size_t i = 0; i < 3; i++) known = known || strcmp(mode, modes[i]) == 0;
  if (!known) return bl_fail(&c->err, BL_USAGE, "wrong usage: --progress %s: auto, always or never is expected", mode);
  cli_progress_setup(mode, c->common.quiet);
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.log = cli_log;
  o.progress = cli_progress;
  return bl_ctx_new(&o, &c->ctx, &c->err);
}

static bl_status run(cli *c, int argc, char **argv, void *values) {
  bl_status st = cli_parse(c, argc, argv, values);
  if (st != BL_OK) return st;
  if (c->common.help) {
    cli_help_command(c->command, &(cli_page){.out = stdout});
    return BL_OK;
  }
  st = cli_check_output(c);
  if (st == BL_OK) st = make_ctx(c);
  return st == BL_OK ? c->command->run(c, values) : st;
}

/* Like a program that SIGPIPE ended: quiet, after everything was cleaned up. */
static void end_by_sigpipe(void) {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

static int run_command(const cli_command *command, int argc, char **argv) {
  cli c = {.command = command, .err = BL_ERROR_INIT};
  void *values = calloc(1, command->values_size ? command->values_size : 1);
  if (!values) return cli_exit_status(BL_NOMEM);
  bl_status st = run(&c, argc, argv, values);
  cli_progress_clear();
  if ((st > BL_FOUND || c.err.status != BL_OK) && !c.nobody_reads) cli_error(&c.err);
  if (c.caret) cli_caret(c.caret, c.err.position);
  cli_free_values(&c, values);
  free(values);
  bl_drivers_dispose(&c.drivers);
  bl_ctx_free(c.ctx);
  if (c.nobody_reads) end_by_sigpipe();
  return cli_exit_status(st);
}

/* ---- the rest ---- */

static int wrong_command(const char *name) {
  bl_error err = BL_ERROR_INIT;
  bl_status st = bl_fail(&err, BL_USAGE, "wrong usage: %s: no such command (bergline --help)", name);
  cli_error(&err);
  return cli_exit_status(st);
}

static bool is(const char *arg, const char *a, const char *b) {
  return strcmp(arg, a) == 0 || (b && strcmp(arg, b) == 0);
}

/* "help", "help NAME"; "help --man NAME" is what the build makes the man pages of. */
static int help(int argc, char **argv) {
  if (argc == 0) {
    cli_help_all(stdout);
    return 0;
  }
  cli_page page = {.out = stdout, .roff = argc > 1 && is(argv[0], "--man", NULL)};
  const char *name = argv[page.roff];
  const cli_command *c = cli_find_command(name);
  const cli_topic *t = cli_find_topic(name);
  if (c) cli_help_command(c, &page);
  else if (is(name, "bergline", NULL)) cli_help_program(&page);
  else if (t) cli_topic_write(t, &page);
  else return wrong_command(name);
  return 0;
}

/* Memory that was freed is asked for again at once: giving it back to the system in between costs a fifth of a short
 * command. */
static void keep_freed_memory(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most that is taken */
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a file that would grow too large fails to be written */
  keep_freed_memory();
  if (argc < 2) {
    cli_help_all(stderr);
    return cli_exit_status(BL_USAGE);
  }
  if (is(argv[1], "--help", "-h")) return help(0, NULL);
  if (is(argv[1], "help", NULL)) return help(argc - 2, argv + 2);
  if (is(argv[1], "--version", "-V")) {
    puts("bergline " BL_VERSION);
    return 0;
  }
  const cli_command *c = cli_find_command(argv[1]);
  return c ? run_command(c, argc - 2, argv + 2) : wrong_command(argv[1]);
}

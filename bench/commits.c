/* commits.c: small appends to a table of a catalog in SQLite, one after the other in one process.
 *
 *   commits [-n COMMITS] [-r ROWS] [-o] [-p | -u] CATALOG.db WAREHOUSE NS.TABLE FILE.arrow
 *
 * Each commit opens the table as it is now, by the connection of the first, and appends the first ROWS rows of the file
 * (of one batch). -o: by a connection of its own. -p: only what SQLite syncs is synced, and the files of the table are not,
 * as PyIceberg does it; -u: nothing is, to show what the disk's part is. Prints a line for each tenth of the commits:
 * commits per second, how often and how long was waited for the disk in a commit, and the size of the metadata file. */
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "bergline/bergline.h"
#include "rows/arrow_own.h"
#include "rows/arrow_share.h"
#include "rows/stream.h"

/* ---- what syncing costs: these stand before the C library's own, for SQLite too ---- */

static bool files_unsynced, all_unsynced;
static atomic_llong syncs, sync_ns;

/* SQLite calls fdatasync, the library fsync. */
static int count_sync(long call, int fd) {
  double begin = bench_now();
  if (all_unsynced || (files_unsynced && call == SYS_fsync)) return 0;
  int code = (int)syscall(call, fd);
  atomic_fetch_add(&syncs, 1);
  atomic_fetch_add(&sync_ns, (long long)((bench_now() - begin) * 1e9));
  return code;
}

int fsync(int fd) {
  return count_sync(SYS_fsync, fd);
}

int fdatasync(int fd) {
  return count_sync(SYS_fdatasync, fd);
}

/* ---- rows ---- */

typedef struct rows {
  bl_ctx *ctx;
  struct ArrowSchema schema;
  bl_shared *batch;
  int64_t n;
} rows;

typedef struct once {
  const rows *r;
  bool given;
} once;

static bl_status next_rows(void *user, struct ArrowArray *out, bl_error *err) {
  once *o = user;
  out->release = NULL;
  if (o->given) return BL_OK;
  o->given = true;
  return bl_shared_part(o->r->batch, 0, o->r->n, NULL, out, err);
}

static void free_once(void *user) {
  once *o = user;
  bl_free(o->r->ctx, o);
}

static bl_status stream_of(const rows *r, struct ArrowArrayStream *out, bl_error *err) {
  struct ArrowSchema s;
  once *o = bench_alloc(1, sizeof *o);
  o->r = r;
  BL_TRY(bl_aschema_copy(r->ctx, &r->schema, &s, err));
  bl_stream_source src = {.next = next_rows, .dispose = free_once, .user = o};
  return bl_stream_make(r->ctx, &src, &s, out, err);
}

static bl_status read_rows(rows *r, const char *path, bl_error *err) {
  bl_input *in;
  struct ArrowArrayStream s;
  struct ArrowArray batch;
  BL_TRY(bench_io()->open_input(bench_io(), path, &in, err));
  BL_TRY(bl_arrow_ipc_reader(r->ctx, in, &s, err));
  if (s.get_schema(&s, &r->schema)) return bl_fail(err, BL_DAMAGED, "%s: no schema", path);
  BL_TRY(bl_stream_next(&s, &batch, err));
  if (!batch.release) return bl_fail(err, BL_DAMAGED, "%s: no rows", path);
  if (batch.length < r->n) r->n = batch.length;
  return bl_shared_new(r->ctx, &batch, &r->batch, err);
}

/* ---- commits ---- */

typedef struct target {
  const char *table;
  bl_table_options o;
  bl_table *first; /* NULL: each is opened anew */
} target;

static bl_status commit(const rows *r, const target *to, off_t *size, bl_error *err) {
  bl_table *t;
  bl_table_info info;
  struct ArrowArrayStream in;
  struct stat s;
  BL_TRY(to->first ? bl_table_reopen(to->first, &t, err) : bl_table_open(r->ctx, to->table, &to->o, &t, err));
  bl_table_get_info(t, &info);
  *size = stat(info.metadata_location, &s) == 0 ? s.st_size : 0;
  bl_status st = stream_of(r, &in, err);
  if (st == BL_OK) st = bl_append(t, &in, NULL, NULL, err);
  bl_table_free(t);
  return st;
}

int main(int argc, char **argv) {
  static const char usage[] = "commits [-n COMMITS] [-r ROWS] [-o] [-p | -u] CATALOG.db WAREHOUSE NS.TABLE FILE.arrow";
  rows r = {.n = 10};
  bl_error err = BL_ERROR_INIT;
  long n = 200;
  bool anew = false;
  int opt;
  while ((opt = getopt(argc, argv, "n:r:opu")) != -1) {
    if (opt == 'u') all_unsynced = true;
    else if (opt == 'p') files_unsynced = true;
    else if (opt == 'o') anew = true;
    else if (opt == 'n') n = bench_number(optarg, usage);
    else r.n = bench_number(opt == '?' ? "" : optarg, usage);
  }
  if (argc - optind != 4) (void)bench_number("", usage);
  r.ctx = bench_ctx("commits");
  char *uri = bl_asprintf(r.ctx, "sqlite:///%s", argv[optind]);
  target to = {.table = argv[optind + 2], .o = {.uri = uri, .warehouse = argv[optind + 1]}};
  if (!anew) bench_check(bl_table_open(r.ctx, to.table, &to.o, &to.first, &err), &err);
  bench_check(read_rows(&r, argv[optind + 3], &err), &err);
  for (long i = 0, lot = n < 10 ? n : n / 10; i + lot <= n; i += lot) {
    off_t size = 0;
    atomic_store(&syncs, 0);
    atomic_store(&sync_ns, 0);
    double begin = bench_now();
    clock_t ticks = clock();
    for (long k = 0; k < lot; k++) bench_check(commit(&r, &to, &size, &err), &err);
    printf("{\"commits\": %ld, \"lot\": %ld, \"seconds\": %.4f, \"syncs\": %.1f, \"sync_seconds\": %.4f, "
           "\"cpu\": %.3f, \"metadata_kb\": %ld}\n",
           i + lot, lot, bench_now() - begin, (double)atomic_load(&syncs) / (double)lot,
           (double)atomic_load(&sync_ns) / 1e9, (double)(clock() - ticks) / CLOCKS_PER_SEC, (long)size / 1024);
    fflush(stdout);
  }
  bl_table_free(to.first);
  return 0;
}

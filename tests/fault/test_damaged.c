/* test_damaged.c: tables of every kind of file in which one file is damaged: bits turned, bytes and runs replaced, the
 * end cut off, parts put elsewhere, numbers of JSON made huge or negative. Whatever is read or written then ends with a
 * status that says what is wrong, in bounded time and memory, and a failed write leaves the table as it was.
 *
 * BL_DAMAGE_SEED=N: other damage; BL_DAMAGE=N: N times as much. A failing seed is printed; BL_DAMAGE_ONLY=N runs it
 * alone. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bergline/catalog.h"
#include "bergline/changes.h"
#include "bergline/input.h"
#include "bergline/inspect.h"
#include "bergline/output.h"
#include "bergline/write.h"
#include "format/avro_codec.h"
#include "rows/stream.h"
#include "support/chance.h"
#include "support/rows.h"
#include "support/tree.h"
#include "table/table.h"

enum { SECONDS = 20, MEGABYTES = 600 };

/* ---- chance ---- */

static size_t below(rng *r, size_t n) {
  return n ? (size_t)(rng_next(r) % n) : 0;
}

/* ---- what is in hand, for whoever finds the process dead ---- */

static char in_hand[700];

static void tell(int sig) {
  ssize_t n = write(2, in_hand, strlen(in_hand));
  (void)n;
  signal(sig, SIG_DFL);
  raise(sig);
}

/* cmocka's own handlers would not say more. */
static void watch(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
  for (size_t i = 0; i < BL_LEN(signals); i++) signal(signals[i], tell);
}

/* ---- files ---- */

typedef struct files {
  char *items[4000];
  size_t n;
} files;

static void find_files(const char *folder, files *out) {
  DIR *d = opendir(folder);
  assert_non_null(d);
  for (struct dirent *e; (e = readdir(d));) {
    struct stat info;
    if (e->d_name[0] == '.') continue;
    char *path = test_join(folder, e->d_name);
    assert_int_equal(stat(path, &info), 0);
    if (S_ISDIR(info.st_mode)) find_files(path, out);
    else if (info.st_size > 0 && out->n < BL_LEN(out->items)) {
      out->items[out->n++] = path;
      continue;
    }
    free(path);
  }
  closedir(d);
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_files(files *f) {
  for (size_t i = 0; i < f->n; i++) free(f->items[i]);
  f->n = 0;
}

/* ---- damage ---- */

typedef struct bytes {
  uint8_t *p;
  size_t n;
} bytes;

static void turn_bits(bytes *b, rng *r) {
  for (size_t i = 1 + below(r, 4); i > 0; i--) b->p[below(r, b->n)] ^= (uint8_t)(1u << below(r, 8));
}

static void replace_byte(bytes *b, rng *r) {
  static const uint8_t hard[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, '"', '{', '[', '9'};
  for (size_t i = 1 + below(r, 3); i > 0; i--) b->p[below(r, b->n)] = hard[below(r, sizeof hard)];
}

static void replace_run(bytes *b, rng *r) {
  size_t n = 1 + below(r, b->n < 12 ? b->n : 12), at = below(r, b->n - n + 1);
  memset(b->p + at, below(r, 2) ? 0xff : (int)below(r, 256), n);
}

static void cut(bytes *b, rng *r) {
  b->n = below(r, 3) ? below(r, b->n) : b->n - 1 - below(r, b->n < 20 ? b->n : 20);
}

static void move_part(bytes *b, rng *r) {
  size_t n = 1 + below(r, b->n), from = below(r, b->n - n + 1), to = below(r, b->n - n + 1);
  memmove(b->p + to, b->p + from, n);
}

/* Near the end are the footers. */
static void spoil_end(bytes *b, rng *r) {
  size_t n = b->n < 60 ? b->n : 60;
  for (size_t i = 1 + below(r, 3); i > 0; i--) b->p[b->n - 1 - below(r, n)] = (uint8_t)below(r, 256);
}

static void put_instead(bytes *b, size_t at, size_t n, const char *text) {
  size_t m = strlen(text);
  uint8_t *p = malloc(b->n - n + m + 1);
  memcpy(p, b->p, at);
  memcpy(p + at, text, m);
  memcpy(p + at + m, b->p + at + n, b->n - at - n);
  free(b->p);
  b->p = p, b->n = b->n - n + m;
}

static bool is_digit(uint8_t c) {
  return c >= '0' && c <= '9';
}

/* A number of a JSON document becomes another value. */
static void change_number(bytes *b, rng *r) {
  static const char *const values[] = {"-1",   "0",          "2147483647", "-2147483648", "9223372036854775807",
                                       "1e99", "4294967296", "null",       "\"x\"",       "99999999999999999999",
                                       "[]",   "{}",         "1.5",        "true",        "-9223372036854775808"};
  size_t at = below(r, b->n), n = 0;
  while (at < b->n && !is_digit(b->p[at])) at++;
  while (at > 0 && is_digit(b->p[at - 1])) at--;
  while (at + n < b->n && is_digit(b->p[at + n])) n++;
  put_instead(b, at, n, values[below(r, BL_LEN(values))]);
}

static void nest(bytes *b, rng *r) {
  char deep[4001];
  size_t at = below(r, b->n), n = 10 + below(r, 3990);
  memset(deep, below(r, 2) ? '[' : '{', n);
  deep[n] = 0;
  put_instead(b, at, 0, deep);
}

static void damage(bytes *b, const char *path, rng *r) {
  static void (*const ways[])(bytes * b, rng * r) = {turn_bits, replace_byte, replace_run, cut, move_part, spoil_end};
  size_t n = strlen(path);
  bool text = n > 5 && strcmp(path + n - 5, ".json") == 0 && b->p[0] == '{';
  size_t way = below(r, text ? 10 : BL_LEN(ways));
  if (way < BL_LEN(ways)) ways[way](b, r);
  else if (way < 9) change_number(b, r);
  else nest(b, r);
}

/* ---- plain forms: where nothing is packed, damage reaches further ---- */

typedef struct reader {
  const uint8_t *p, *end;
} reader;

static int64_t avro_long(reader *r) {
  uint64_t v = 0;
  for (int shift = 0; r->p < r->end; shift += 7) {
    uint8_t b = *r->p++;
    v |= (uint64_t)(b & 0x7f) << shift;
    if (!(b & 0x80)) break;
  }
  return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void put_long(bl_buf *b, int64_t v) {
  uint64_t z = ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
  for (; z >= 0x80; z >>= 7) bl_buf_byte(b, (uint8_t)(z | 0x80));
  bl_buf_byte(b, (uint8_t)z);
}

static bl_str avro_bytes(reader *r) {
  int64_t n = avro_long(r);
  bl_str s = {(const char *)r->p, (size_t)n};
  r->p += n;
  return s;
}

static void put_bytes(bl_buf *b, bl_str s) {
  put_long(b, (int64_t)s.n);
  bl_buf_str(b, s);
}

/* The file's blocks, unpacked. */
static void unpack_avro(bl_ctx *ctx, const char *path) {
  bl_error err = BL_ERROR_INIT;
  bl_avro_codec *codec = NULL;
  bl_buf out, block;
  size_t n;
  uint8_t *p = test_read(path, &n);
  reader r = {p + 4, p + n};
  bl_str name = BL_STR("null");
  bl_buf_init(&out, ctx, BL_BUF_MAX);
  bl_buf_init(&block, ctx, BL_BUF_MAX);
  bl_buf_cstr(&out, "Obj\1");
  for (int64_t pairs; (pairs = avro_long(&r)) != 0;) {
    if (pairs < 0) pairs = -pairs, (void)avro_long(&r);
    put_long(&out, pairs);
    for (int64_t i = 0; i < pairs; i++) {
      bl_str key = avro_bytes(&r), value = avro_bytes(&r);
      put_bytes(&out, key);
      if (bl_str_is(key, "avro.codec")) name = value, value = BL_STR("null");
      put_bytes(&out, value);
    }
  }
  put_long(&out, 0);
  const uint8_t *sync = r.p;
  bl_buf_add(&out, sync, 16);
  r.p += 16;
  test_ok(bl_avro_codec_new(ctx, name, &codec, &err), &err);
  while (r.p < r.end) {
    put_long(&out, avro_long(&r));
    bl_str packed = avro_bytes(&r);
    bl_str plain = packed;
    if (!bl_avro_codec_is_null(codec)) {
      test_ok(bl_avro_unpack(codec, (const uint8_t *)packed.p, packed.n, 0, &block, &err), &err);
      plain = (bl_str){(const char *)block.p, block.n};
    }
    put_bytes(&out, plain);
    bl_buf_add(&out, sync, 16);
    r.p += 16;
  }
  test_write(path, out.p, out.n);
  bl_avro_codec_free(codec);
  bl_buf_free(&out);
  bl_buf_free(&block);
  free(p);
}

static bool ends_so(const char *path, const char *end) {
  size_t n = strlen(path), m = strlen(end);
  return n >= m && strcmp(path + n - m, end) == 0;
}

static void unpack_all(const files *f) {
  bl_ctx *ctx = test_ctx();
  for (size_t i = 0; i < f->n; i++)
    if (ends_so(f->items[i], ".avro")) unpack_avro(ctx, f->items[i]);
  test_ctx_free(ctx);
}

/* ---- what is done with the table ---- */

typedef struct doing {
  bl_ctx *ctx;
  bl_table_options o;
  const char *name;
  bl_error err;
} doing;

static bool is_fair(bl_status st) {
  return st == BL_OK || st == BL_DAMAGED || st == BL_UNSUPPORTED || st == BL_NOT_FOUND;
}

/* A failure is a status that fits, and a message. */
static void fair(doing *d, const char *what, bl_status st) {
  if (!is_fair(st) || (st != BL_OK && !*d->err.message))
    fail_msg("%s%s: status %d (%s)", in_hand, what, (int)st, d->err.message);
  d->err = (bl_error)BL_ERROR_INIT;
}

static bl_status drain(struct ArrowArrayStream *s, bl_error *err) {
  struct ArrowSchema schema = {0};
  bl_status st = bl_stream_status(s->get_schema(s, &schema));
  if (st != BL_OK) bl_fail(err, st, "%s", s->get_last_error(s) ? s->get_last_error(s) : "");
  for (bool more = true; st == BL_OK && more;) {
    struct ArrowArray batch;
    st = bl_stream_next(s, &batch, err);
    more = st == BL_OK && batch.release;
    if (more) batch.release(&batch);
  }
  if (schema.release) schema.release(&schema);
  bl_stream_release(s);
  return st;
}

static bl_status swallow(void *user, const void *p, size_t n, bl_error *err) {
  (void)user, (void)p, (void)n, (void)err;
  return BL_OK;
}

static void read_all(doing *d, bl_table *t, rng *r) {
  struct ArrowArrayStream s;
  size_t n;
  const bl_inspect_kind *kinds = bl_inspect_kinds(&n);
  const bl_sink sink = {swallow, NULL};
  const bl_plan_request q = {.footers = true};
  bl_status st = bl_scan(t, &(bl_scan_options){.lineage = true}, &s, &d->err);
  fair(d, "scan", st == BL_OK ? drain(&s, &d->err) : st);
  const bl_changes_options log = {0}, net = {.net = true};
  st = bl_changes(t, below(r, 2) ? &log : &net, &s, &d->err);
  fair(d, "changes", st == BL_OK ? drain(&s, &d->err) : st);
  const int64_t id = 1;
  st = bl_history(t, &(bl_history_options){.row_ids = &id, .n_row_ids = 1}, &s, &d->err);
  fair(d, "history", st == BL_OK ? drain(&s, &d->err) : st);
  fair(d, "plan", bl_scan_plan(t, &(bl_scan_options){0}, &q, &sink, &d->err));
  for (size_t i = below(r, 3); i < n; i += 3) {
    st = bl_inspect(t, kinds[i].name, NULL, &sink, &d->err);
    fair(d, kinds[i].name, st);
  }
}

static size_t count_metadata(const char *folder) {
  files f = {0};
  size_t n = 0;
  find_files(folder, &f);
  for (size_t i = 0; i < f.n; i++) n += strstr(f.items[i], ".metadata.json") != NULL;
  free_files(&f);
  return n;
}

/* Writing refuses what it needs and cannot read; some tables are not to be written at all. */
static void write_some(doing *d, bl_table *t, const char *folder, rng *r) {
  size_t before = count_metadata(folder);
  bl_write_result result = {0};
  bl_write_options o = {.mode = below(r, 2) ? BL_MERGE_ON_READ : BL_COPY_ON_WRITE};
  bl_status st;
  switch (below(r, 3)) {
  case 0: st = bl_delete_rows(t, "true", &o, &result, &d->err); break;
  case 1: st = bl_delete_rows(t, "_row_id = 1", &o, &result, &d->err); break;
  default: st = bl_set_properties(t, (const char *[]){"x=y"}, 1, NULL, 0, NULL, &d->err); break;
  }
  if (st == BL_USAGE) d->err = (bl_error)BL_ERROR_INIT, st = BL_OK; /* a catalog's table; a format without row ids */
  else if (st != BL_OK && count_metadata(folder) != before) fail_msg("%swrite: failed, but it is there", in_hand);
  fair(d, "write", st);
}

static void use(doing *d, const char *folder, rng *r) {
  bl_table *t = NULL;
  bl_status st = bl_table_open(d->ctx, d->name, &d->o, &t, &d->err);
  fair(d, "open", st);
  if (!t) return;
  read_all(d, t, r);
  if (below(r, 3) == 0) write_some(d, t, folder, r);
  bl_table_free(t);
}

/* ---- memory ---- */

static void forget_peak(void) {
  FILE *f = fopen("/proc/self/clear_refs", "w");
  if (f) fputs("5", f), fclose(f);
}

static long peak_megabytes(void) {
  char line[200];
  long kb = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "VmHWM:", 6) == 0) kb = atol(line + 6);
  if (f) fclose(f);
  return kb / 1024;
}

/* ---- one table ---- */

typedef struct subject {
  char *dir, *saved, *work;
  const char *name;
  files files;
} subject;

static void subject_begin(subject *s, const char *fixture) {
  char *from = test_path(fixture), *table = test_join(from, "table");
  *s = (subject){.dir = test_temp_dir(), .name = fixture};
  s->saved = test_join(s->dir, "saved");
  s->work = test_join(s->dir, "work");
  test_copy_tree(table, s->saved);
  find_files(s->saved, &s->files);
  qsort(s->files.items, s->files.n, sizeof *s->files.items, by_name);
  unpack_all(&s->files);
  free(table);
  free(from);
}

static void subject_end(subject *s) {
  free_files(&s->files);
  test_remove_dir(s->dir);
  free(s->saved);
  free(s->work);
}

static void spoil(const subject *s, const char *path, rng *r) {
  bytes b;
  char at[900];
  b.p = test_read(path, &b.n);
  damage(&b, path, r);
  snprintf(at, sizeof at, "%s%s", s->work, path + strlen(s->saved));
  test_write(at, b.p, b.n);
  free(b.p);
}

static void check_bounds(long started, long before) {
  long peak = peak_megabytes();
  if (time(NULL) - started > SECONDS) fail_msg("%sit took longer than %d seconds", in_hand, SECONDS);
  if (peak - before > MEGABYTES) fail_msg("%smemory grew from %ld to %ld MB", in_hand, before, peak);
}

static void trial(const subject *s, size_t file, uint64_t seed) {
  rng r = {seed};
  bl_ctx_options o;
  test_heap heap = {0};
  const char *path = s->files.items[file];
  snprintf(in_hand, sizeof in_hand, "seed %llu, %s%s: ", (unsigned long long)seed, s->name, path + strlen(s->saved));
  test_copy_tree(s->saved, s->work);
  spoil(s, path, &r);
  bl_ctx_options_init(&o);
  o.threads = 2;
  doing d = {.ctx = test_ctx_on(&heap, &o), .name = s->work, .err = BL_ERROR_INIT};
  time_t started = time(NULL);
  forget_peak();
  long before = peak_megabytes();
  alarm(3 * SECONDS);
  use(&d, s->work, &r);
  alarm(0);
  test_ctx_free(d.ctx);
  check_bounds(started, before);
  test_empty_tree(s->work);
  assert_int_equal(rmdir(s->work), 0);
}

static long number(const char *name, long otherwise) {
  const char *v = getenv(name);
  return v ? atol(v) : otherwise;
}

#define TABLES "tests/fixtures/tables/"
static const char *const fixtures[] = {
    TABLES "mor_basic",         TABLES "cow_basic",      TABLES "types",       TABLES "mixed_deletes_v2_to_v3",
    TABLES "eq_partitioned_v3", TABLES "avro_data",      TABLES "orc_data",    TABLES "branches",
    TABLES "compacted",         TABLES "schema_evolved", TABLES "types_java",  TABLES "posdel_with_row_v2",
    TABLES "partitioned",       TABLES "multi_rowgroup", TABLES "upgraded_v2",
};

static void test_damaged__files_are_told_and_nothing_breaks(void **state) {
  (void)state;
  watch();
  uint64_t first = (uint64_t)number("BL_DAMAGE_SEED", 1);
  long times = number("BL_DAMAGE", 1), only = number("BL_DAMAGE_ONLY", -1), each = 24 * times;
  uint64_t seed = first * 1000000;
  for (size_t i = 0; i < BL_LEN(fixtures); i++) {
    subject s;
    subject_begin(&s, fixtures[i]);
    for (long k = 0; k < each; k++, seed++) {
      rng pick = {seed ^ 0xabcdef};
      if (only < 0 || seed == (uint64_t)only) trial(&s, below(&pick, s.files.n), seed);
    }
    subject_end(&s);
  }
}

/* ---- a catalog ---- */

static bl_status count_entry(void *user, const bl_catalog_entry *e, bl_error *err) {
  (void)e, (void)err;
  ++*(int *)user;
  return BL_OK;
}

static void make_catalog(doing *d) {
  bl_catalog *c;
  const bl_create_options o = {.schema = "k long, s string"};
  test_ok(bl_catalog_open(d->ctx, &d->o, true, &c, &d->err), &d->err);
  test_ok(bl_catalog_create_namespace(c, "db", (const char *[]){"a=b"}, 1, &d->err), &d->err);
  bl_catalog_free(c);
  test_ok(bl_table_create(d->ctx, "db.t", &d->o, &o, &d->err), &d->err);
}

static bool is_fair_of_catalogs(bl_status st) {
  return is_fair(st) || st == BL_IO || st == BL_USAGE || st == BL_CONFLICT || st == BL_UNKNOWN;
}

static void fair_catalog(doing *d, const char *what, bl_status st) {
  if (!is_fair_of_catalogs(st) || (st != BL_OK && !*d->err.message))
    fail_msg("%s%s: status %d (%s)", in_hand, what, (int)st, d->err.message);
  d->err = (bl_error)BL_ERROR_INIT;
}

static void use_catalog(doing *d) {
  bl_catalog *c;
  bl_table *t;
  int n = 0;
  bl_status st = bl_catalog_open(d->ctx, &d->o, false, &c, &d->err);
  fair_catalog(d, "catalog", st);
  if (st == BL_OK) {
    fair_catalog(d, "namespaces", bl_catalog_namespaces(c, count_entry, &n, &d->err));
    fair_catalog(d, "tables", bl_catalog_tables(c, NULL, count_entry, &n, &d->err));
    bl_catalog_free(c);
  }
  st = bl_table_open(d->ctx, "db.t", &d->o, &t, &d->err);
  fair_catalog(d, "table", st);
  if (st != BL_OK) return;
  fair_catalog(d, "set", bl_set_properties(t, (const char *[]){"x=y"}, 1, NULL, 0, NULL, &d->err));
  bl_table_free(t);
}

static void test_damaged__catalogs_are_told_and_nothing_breaks(void **state) {
  (void)state;
  watch();
  char *dir = test_temp_dir(), *path = test_join(dir, "c.db"), *journal = test_join(dir, "c.db-journal"), uri[400];
  bl_ctx *ctx = test_ctx();
  size_t n;
  snprintf(uri, sizeof uri, "sqlite:///%s", path);
  bl_drivers drivers;
  doing d = {.ctx = ctx, .o = {.uri = uri, .warehouse = dir, .drivers = &drivers}, .err = BL_ERROR_INIT};
  test_ok(bl_drivers_default(ctx, &drivers, &d.err), &d.err);
  make_catalog(&d);
  void *saved = test_read(path, &n);
  uint64_t seed = (uint64_t)number("BL_DAMAGE_SEED", 1) * 1000000;
  long only = number("BL_DAMAGE_ONLY", -1);
  for (long k = 0; k < 60 * number("BL_DAMAGE", 1); k++, seed++) {
    rng r = {seed};
    bytes b = {malloc(n), n};
    if (only < 0 || seed == (uint64_t)only) {
      memcpy(b.p, saved, n);
      damage(&b, path, &r);
      test_write(path, b.p, b.n);
      unlink(journal);
      snprintf(in_hand, sizeof in_hand, "seed %llu, catalog: ", (unsigned long long)seed);
      alarm(3 * SECONDS);
      use_catalog(&d);
      alarm(0);
    }
    free(b.p);
  }
  free(saved);
  bl_drivers_dispose(&drivers);
  test_ctx_free(ctx);
  free(journal);
  free(path);
  test_remove_dir(dir);
}

/* ---- files of rows that come in ---- */

static bl_status write_down(void *user, const void *p, size_t n, bl_error *err) {
  (void)err;
  assert_int_equal(fwrite(p, 1, n, user), n);
  return BL_OK;
}

/* The rows of a table of all types, in a format. */
static void make_rows(bl_ctx *ctx, const char *fixture, bl_row_format format, const char *path) {
  bl_error err = BL_ERROR_INIT;
  struct ArrowArrayStream s;
  bl_table *t;
  char *from = test_path(fixture);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  const bl_sink sink = {write_down, f};
  test_ok(bl_table_open(ctx, from, NULL, &t, &err), &err);
  test_ok(bl_scan(t, &(bl_scan_options){0}, &s, &err), &err);
  test_ok(bl_write_rows(ctx, format, &s, &sink, NULL, &err), &err);
  bl_stream_release(&s);
  bl_table_free(t);
  fclose(f);
  free(from);
}

/* Statuses of rows that do not fit are fair, too. */
static void fair_input(doing *d, const char *what, bl_status st) {
  if (st == BL_USAGE && *d->err.message) d->err = (bl_error)BL_ERROR_INIT, st = BL_OK;
  fair(d, what, st);
}

static void take_in(doing *d, const char *path, bool whole) {
  struct ArrowArrayStream s;
  char *schema = NULL;
  bl_table *t;
  fair_input(d, "schema", bl_schema_like(d->ctx, path, &d->o, &schema, &d->err));
  bl_text_free(d->ctx, schema);
  test_ok(bl_table_open(d->ctx, d->name, &d->o, &t, &d->err), &d->err);
  bl_status st = bl_read_files(t, NULL, &path, 1, NULL, &s, &d->err);
  if (st == BL_OK) st = bl_append(t, &s, &(bl_write_options){.ref = NULL}, NULL, &d->err);
  if (whole) test_ok(st, &d->err);
  fair_input(d, "append", st);
  const bl_add_files_options a = {.lineage = BL_LINEAGE_IGNORE, .duplicates_ok = true};
  st = bl_add_files(t, &path, 1, &a, &(bl_write_options){.dry_run = true}, NULL, &d->err);
  fair_input(d, "add-files", st);
  bl_table_free(t);
}

typedef struct sample {
  const char *name, *from; /* from: a file of the fixtures; NULL: made */
  bl_row_format format;
} sample;

static void spoil_sample(const sample *x, const char *dir, uint64_t seed, long n) {
  bl_ctx *ctx = test_ctx();
  bl_drivers drivers;
  char *path = test_join(dir, x->name), *table = test_join(dir, "t"), *schema;
  size_t size;
  bl_error err = BL_ERROR_INIT;
  test_ok(bl_drivers_default(ctx, &drivers, &err), &err);
  doing d = {.ctx = ctx, .o = {.drivers = &drivers}, .name = table, .err = BL_ERROR_INIT};
  bool text = x->format == BL_ROWS_CSV || x->format == BL_ROWS_NDJSON;
  if (!x->from) make_rows(ctx, text ? TABLES "mor_basic/table" : TABLES "types/table", x->format, path);
  char *from = x->from ? test_path(x->from) : strdup(path);
  void *saved = test_read(from, &size);
  test_ok(bl_schema_like(ctx, from, &d.o, &schema, &err), &err);
  test_ok(bl_table_create(ctx, table, &d.o, &(bl_create_options){.schema = schema}, &err), &err);
  bl_text_free(ctx, schema);
  for (long k = 0; k < n; k++) {
    rng r = {seed + (uint64_t)k};
    bytes b = {malloc(size), size};
    memcpy(b.p, saved, size);
    if (k > 0) damage(&b, path, &r);
    test_write(path, b.p, b.n);
    free(b.p);
    snprintf(in_hand, sizeof in_hand, "seed %llu, %s: ", (unsigned long long)seed + (unsigned long long)k, x->name);
    long before = peak_megabytes(), started = time(NULL);
    alarm(3 * SECONDS);
    take_in(&d, path, k == 0);
    alarm(0);
    check_bounds(started, before);
  }
  bl_drivers_dispose(&drivers);
  test_ctx_free(ctx);
  free(saved);
  free(from);
  free(path);
  test_empty_tree(table);
  rmdir(table);
  free(table);
}

static void test_damaged__rows_that_come_in_are_told_and_nothing_breaks(void **state) {
  (void)state;
  watch();
  static const sample samples[] = {
      {"a.parquet", NULL, BL_ROWS_PARQUET},
      {"a.arrow", NULL, BL_ROWS_ARROW},
      {"a.csv", NULL, BL_ROWS_CSV},
      {"a.ndjson", NULL, BL_ROWS_NDJSON},
      {"a.orc", "tests/fixtures/orc/types.orc", 0},
      {"a.avro", TABLES "avro_data/table/data/00001-764-52fd3305-3bf1-44d8-aeed-2fd2ba64fa75-0-00001.avro", 0}};
  uint64_t seed = (uint64_t)number("BL_DAMAGE_SEED", 1) * 1000000;
  char *dir = test_temp_dir();
  for (size_t i = 0; i < BL_LEN(samples); i++)
    spoil_sample(&samples[i], dir, seed + i * 100000, 30 * number("BL_DAMAGE", 1));
  test_remove_dir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_damaged__files_are_told_and_nothing_breaks),
                                     cmocka_unit_test(test_damaged__catalogs_are_told_and_nothing_breaks),
                                     cmocka_unit_test(test_damaged__rows_that_come_in_are_told_and_nothing_breaks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

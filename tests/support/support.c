/* support.c: see support.h. */
#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <unistd.h>

#include "base/alloc.h"

/* ---- the heap: [size, guard][block][guard] ---- */

enum { GUARD = 16 };

static const char guard_bytes[GUARD] = "bergline-guard!";

typedef struct block_head {
  size_t size;
  char fill[GUARD - sizeof(size_t)];
  char guard[GUARD];
} block_head;

static void check_block(const block_head *b, size_t old_size) {
  const char *end = (const char *)(b + 1) + b->size;
  if (b->size == old_size && !memcmp(b->guard, guard_bytes, GUARD) && !memcmp(end, guard_bytes, GUARD)) return;
  fprintf(stderr, "heap: a block of %zu bytes was freed as %zu, or something wrote beyond it\n", b->size, old_size);
  abort();
}

static bool must_fail(test_heap *h) {
  long n = __atomic_add_fetch(&h->allocations, 1, __ATOMIC_SEQ_CST);
  if (!h->fail_at || n < h->fail_at || (n > h->fail_at && !h->fail_onwards)) return false;
  __atomic_add_fetch(&h->failures, 1, __ATOMIC_SEQ_CST);
  return true;
}

static void count(test_heap *h, long blocks, int64_t bytes) {
  __atomic_add_fetch(&h->blocks, blocks, __ATOMIC_SEQ_CST);
  int64_t now = __atomic_add_fetch(&h->bytes, bytes, __ATOMIC_SEQ_CST);
  int64_t peak = __atomic_load_n(&h->peak_bytes, __ATOMIC_SEQ_CST);
  while (now > peak &&
         !__atomic_compare_exchange_n(&h->peak_bytes, &peak, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
}

static block_head *new_block(size_t n) {
  block_head *b = malloc(sizeof *b + n + GUARD);
  if (!b) return NULL;
  b->size = n;
  memcpy(b->guard, guard_bytes, GUARD);
  memset(b + 1, 0xa5, n); /* nobody may count on zeros */
  memcpy((char *)(b + 1) + n, guard_bytes, GUARD);
  return b;
}

/* Resizing always moves, so that a pointer kept by mistake is found. */
static void *heap_resize(void *user, void *p, size_t old_size, size_t n) {
  test_heap *h = user;
  block_head *old = p ? (block_head *)p - 1 : NULL, *b = NULL;
  if (old) check_block(old, old_size);
  if (n) {
    if (n > (size_t)PTRDIFF_MAX / 2 || must_fail(h)) return NULL;
    b = new_block(n);
    if (!b) return NULL;
    if (old) memcpy(b + 1, p, old_size < n ? old_size : n);
    count(h, 1, (int64_t)n);
  }
  if (old) {
    count(h, -1, -(int64_t)old_size);
    free(old);
  }
  return b ? b + 1 : NULL;
}

bl_allocator test_heap_allocator(test_heap *h) {
  return (bl_allocator){.resize = heap_resize, .user = h};
}

/* ---- contexts ---- */

static bl_status ctx_on(test_heap *h, const bl_ctx_options *given, bl_ctx **out, bl_error *err) {
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = 2;
  if (given) o = *given;
  o.allocator = test_heap_allocator(h);
  return bl_ctx_new(&o, out, err);
}

bl_ctx *test_ctx_on(test_heap *h, const bl_ctx_options *o) {
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = NULL;
  test_ok(ctx_on(h, o, &ctx, &err), &err);
  return ctx;
}

/* A name of its own tells test_ctx_free that the heap goes with the context. */
static void *own_resize(void *user, void *p, size_t old_size, size_t n) {
  return heap_resize(user, p, old_size, n);
}

bl_ctx *test_ctx(void) {
  test_heap *own = calloc(1, sizeof *own);
  assert_non_null(own);
  bl_ctx_options o;
  bl_ctx_options_init(&o);
  o.threads = 2;
  o.allocator = (bl_allocator){.resize = own_resize, .user = own};
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = NULL;
  test_ok(bl_ctx_new(&o, &ctx, &err), &err);
  return ctx;
}

static void check_no_leak(const test_heap *h) {
  if (h->blocks) fail_msg("%ld blocks with %lld bytes were not freed", h->blocks, (long long)h->bytes);
}

void test_ctx_free(bl_ctx *ctx) {
  bl_allocator a = ctx->o.allocator;
  bl_ctx_free(ctx);
  check_no_leak(a.user);
  if (a.resize == own_resize) free(a.user);
}

/* ---- statuses ---- */

void test_ok_(bl_status st, const bl_error *err, const char *file, int line) {
  if (st == BL_OK) return;
  print_error("%s:%d: %s: %s\n", file, line, bl_status_name(st), err ? err->message : "");
  _fail(file, line);
}

void test_status_(bl_status expected, bl_status st, const bl_error *err, const char *file, int line) {
  bool told = !err || expected == BL_OK || (err->status == st && err->message[0]);
  if (st == expected && told) return;
  print_error("%s:%d: status is \"%s\", not \"%s\"; the error is \"%s\": \"%s\"\n", file, line, bl_status_name(st),
              bl_status_name(expected), err ? bl_status_name(err->status) : "", err ? err->message : "");
  _fail(file, line);
}

void test_says_(const bl_error *err, const char *part, const char *file, int line) {
  if (strstr(err->message, part)) return;
  print_error("%s:%d: \"%s\" does not say \"%s\"\n", file, line, err->message, part);
  _fail(file, line);
}

/* ---- failing every allocation ---- */

/* Returns whether an allocation failed. */
static bool fail_one(test_op *op, void *user, long nth, bool onwards) {
  test_heap h = {0};
  bl_error err = BL_ERROR_INIT;
  bl_ctx *ctx = NULL;
  test_ok(ctx_on(&h, NULL, &ctx, &err), &err);
  h.fail_at = h.allocations + nth;
  h.fail_onwards = onwards;
  bl_status st = op(ctx, user, &err);
  long failures = h.failures;
  h.fail_at = 0;
  if (st != BL_OK && (st != BL_NOMEM || err.status != BL_NOMEM || !err.message[0]))
    fail_msg("allocation %ld%s failed: status \"%s\", error \"%s\": \"%s\"", nth, onwards ? " and all after it" : "",
             bl_status_name(st), bl_status_name(err.status), err.message);
  if (st != BL_OK && !failures) fail_msg("out of memory, but no allocation failed");
  bl_ctx_free(ctx);
  if (h.blocks) print_error("when allocation %ld%s failed:\n", nth, onwards ? " and all after it" : "");
  check_no_leak(&h);
  return failures > 0;
}

void test_fail_each(test_op *op, void *user) {
  for (int onwards = 0; onwards < 2; onwards++)
    for (long nth = 1; fail_one(op, user, nth, onwards); nth++) {
    }
}

/* ---- files ---- */

static char *joined(const char *a, const char *b) {
  size_t n = strlen(a) + strlen(b) + 2;
  char *p = malloc(n);
  assert_non_null(p);
  snprintf(p, n, "%s/%s", a, b);
  return p;
}

char *test_join(const char *folder, const char *name) {
  return joined(folder, name);
}

char *test_path(const char *relative) {
  const char *root = getenv("BL_SOURCE_ROOT");
  return joined(root ? root : ".", relative);
}

void *test_read(const char *path, size_t *n) {
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("%s: %s", path, strerror(errno));
  fseek(f, 0, SEEK_END);
  long size = ftell(f);
  rewind(f);
  char *p = malloc((size_t)size + 1);
  assert_non_null(p);
  assert_int_equal(fread(p, 1, (size_t)size, f), size);
  p[size] = 0;
  fclose(f);
  if (n) *n = (size_t)size;
  return p;
}

void test_write(const char *path, const void *p, size_t n) {
  FILE *f = fopen(path, "wb");
  if (!f) fail_msg("%s: %s", path, strerror(errno));
  assert_int_equal(fwrite(p, 1, n, f), n);
  assert_int_equal(fclose(f), 0);
}

char *test_temp_dir(void) {
  const char *base = getenv("TMPDIR");
  char *p = joined(base && *base ? base : "/tmp", "bergline-test-XXXXXX");
  if (!mkdtemp(p)) fail_msg("%s: %s", p, strerror(errno));
  return p;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at) {
  (void)s;
  (void)kind;
  (void)at;
  return remove(path);
}

void test_remove_dir(char *folder) {
  if (!folder) return;
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(folder);
}

/* posset.c: sets of row positions, one CRoaring bitmap for each high 32 bits (see posset.h for the invariants).
 *
 * CRoaring 0.2.66 reports a lack of memory only where it makes a bitmap; growing one does not report. Its containers
 * are opened here in one place, clear_container, because its interface has nothing word-wise. */
#include "format/posset.h"

#define PART_SIZE ((int64_t)1 << 32)
#define CONTAINER_SIZE 65536u
#define SMALLEST_CONTAINER 8 /* bytes of a container in the portable form: its header and offset */

static uint32_t high_of(int64_t pos) {
  return (uint32_t)(pos >> 32);
}

bl_status bl_posset_new(bl_ctx *ctx, bl_posset **out, bl_error *err) {
  *out = bl_calloc(ctx, 1, sizeof **out);
  if (!*out) return bl_nomem(err);
  (*out)->ctx = ctx;
  return BL_OK;
}

void bl_posset_free(bl_posset *s) {
  if (!s) return;
  for (size_t i = 0; i < s->n; i++) roaring_bitmap_free(s->parts[i].bits);
  bl_free(s->ctx, s->parts);
  bl_free(s->ctx, s);
}

/* Index of the first part that is not below high. */
static size_t lower_part(const bl_posset *s, uint32_t high) {
  size_t lo = 0, hi = s->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->parts[mid].high < high) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static const roaring_bitmap_t *find_part(const bl_posset *s, uint32_t high) {
  size_t i = lower_part(s, high);
  return i < s->n && s->parts[i].high == high ? s->parts[i].bits : NULL;
}

static bl_status insert_part(bl_posset *s, size_t i, uint32_t high, roaring_bitmap_t *bits, bl_error *err) {
  if (!bits) return bl_nomem(err);
  bl_status st = bl_grow(s->ctx, &s->parts, &s->cap, s->n, sizeof *s->parts, err);
  if (st != BL_OK) {
    roaring_bitmap_free(bits);
    return st;
  }
  memmove(s->parts + i + 1, s->parts + i, (s->n - i) * sizeof *s->parts);
  s->parts[i] = (bl_posset_part){.high = high, .bits = bits};
  s->n++;
  return BL_OK;
}

bl_status bl_posset_push(bl_posset *s, uint32_t high, roaring_bitmap_t *bits, bl_error *err) {
  if (bits && roaring_bitmap_is_empty(bits)) {
    roaring_bitmap_free(bits);
    return BL_OK;
  }
  return insert_part(s, s->n, high, bits, err);
}

/* The bitmap for high, made where there is none. */
static bl_status need_part(bl_posset *s, uint32_t high, roaring_bitmap_t **out, bl_error *err) {
  size_t i = lower_part(s, high);
  if (i == s->n || s->parts[i].high != high) BL_TRY(insert_part(s, i, high, roaring_bitmap_create(), err));
  *out = s->parts[i].bits;
  return BL_OK;
}

bl_status bl_posset_add(bl_posset *s, int64_t pos, bl_error *err) {
  if (pos < 0) return bl_fail(err, BL_DAMAGED, "row position %lld: is negative", (long long)pos);
  roaring_bitmap_t *bits;
  BL_TRY(need_part(s, high_of(pos), &bits, err));
  roaring_bitmap_add(bits, (uint32_t)pos);
  return BL_OK;
}

/* A range is the one call that a few bytes of input could turn into any amount of memory. */
static bl_status check_range(const bl_posset *s, int64_t begin, int64_t end, bl_error *err) {
  if (begin < 0) return bl_fail(err, BL_DAMAGED, "row position %lld: is negative", (long long)begin);
  if (end > begin && (end - begin) / CONTAINER_SIZE > s->ctx->o.max_deletion_vector_bytes / SMALLEST_CONTAINER)
    return bl_fail(err, BL_UNSUPPORTED,
                   "row positions %lld to %lld: more than a deletion vector of %lld bytes can hold", (long long)begin,
                   (long long)end, (long long)s->ctx->o.max_deletion_vector_bytes);
  return BL_OK;
}

bl_status bl_posset_add_range(bl_posset *s, int64_t begin, int64_t end, bl_error *err) {
  BL_TRY(check_range(s, begin, end, err));
  while (begin < end) {
    int64_t base = begin & ~(PART_SIZE - 1);
    int64_t left = PART_SIZE - (begin - base);
    int64_t stop = end - begin < left ? end : base + PART_SIZE;
    roaring_bitmap_t *bits;
    BL_TRY(need_part(s, high_of(begin), &bits, err));
    roaring_bitmap_add_range_closed(bits, (uint32_t)(begin - base), (uint32_t)(stop - 1 - base));
    begin = stop;
  }
  return BL_OK;
}

bl_status bl_posset_or(bl_posset *into, const bl_posset *s, bl_error *err) {
  if (into == s) return BL_OK;
  for (size_t k = 0; k < s->n; k++) {
    const bl_posset_part *p = &s->parts[k];
    size_t i = lower_part(into, p->high);
    if (i < into->n && into->parts[i].high == p->high) roaring_bitmap_or_inplace(into->parts[i].bits, p->bits);
    else BL_TRY(insert_part(into, i, p->high, roaring_bitmap_copy(p->bits), err));
  }
  return BL_OK;
}

/* a \ b in place of a (which is freed); a itself where memory runs out. */
static roaring_bitmap_t *minus(roaring_bitmap_t *a, const roaring_bitmap_t *b, bl_status *st) {
  roaring_bitmap_t *rest = roaring_bitmap_andnot(a, b);
  if (!rest) {
    *st = BL_NOMEM;
    return a;
  }
  roaring_bitmap_free(a);
  return rest;
}

bl_status bl_posset_andnot(bl_posset *into, const bl_posset *s, bl_error *err) {
  bl_status st = BL_OK;
  size_t kept = 0;
  for (size_t i = 0; i < into->n; i++) {
    bl_posset_part p = into->parts[i];
    const roaring_bitmap_t *other = into == s ? p.bits : find_part(s, p.high);
    if (other) p.bits = minus(p.bits, other, &st);
    if (roaring_bitmap_is_empty(p.bits)) roaring_bitmap_free(p.bits);
    else into->parts[kept++] = p;
  }
  into->n = kept;
  return st == BL_OK ? BL_OK : bl_nomem(err);
}

bl_status bl_posset_copy(bl_ctx *ctx, const bl_posset *s, bl_posset **out, bl_error *err) {
  *out = NULL;
  bl_posset *c;
  BL_TRY(bl_posset_new(ctx, &c, err));
  bl_status st = bl_posset_or(c, s, err);
  if (st != BL_OK) {
    bl_posset_free(c);
    return st;
  }
  *out = c;
  return BL_OK;
}

bool bl_posset_has(const bl_posset *s, int64_t pos) {
  if (pos < 0) return false;
  const roaring_bitmap_t *bits = find_part(s, high_of(pos));
  return bits && roaring_bitmap_contains(bits, (uint32_t)pos);
}

bool bl_posset_equal(const bl_posset *a, const bl_posset *b) {
  if (a->n != b->n) return false;
  for (size_t i = 0; i < a->n; i++)
    if (a->parts[i].high != b->parts[i].high || !roaring_bitmap_equals(a->parts[i].bits, b->parts[i].bits))
      return false;
  return true;
}

int64_t bl_posset_count(const bl_posset *s) {
  int64_t n = 0;
  for (size_t i = 0; i < s->n; i++) n += (int64_t)roaring_bitmap_get_cardinality(s->parts[i].bits);
  return n;
}

/* The half-open range [begin, end) of positions as [*lo, *hi) within part p; false where they do not meet. */
static bool clip(const bl_posset_part *p, int64_t begin, int64_t end, uint64_t *lo, uint64_t *hi) {
  int64_t base = (int64_t)p->high << 32;
  *lo = begin > base ? (uint64_t)(begin - base) : 0;
  *hi = end <= base ? 0 : (uint64_t)(end - base) < (uint64_t)PART_SIZE ? (uint64_t)(end - base) : (uint64_t)PART_SIZE;
  return *lo < *hi;
}

int64_t bl_posset_count_range(const bl_posset *s, int64_t begin, int64_t end) {
  if (begin < 0) begin = 0;
  if (end <= begin) return 0;
  int64_t n = 0;
  for (size_t i = lower_part(s, high_of(begin)); i < s->n; i++) {
    uint64_t lo, hi;
    if (!clip(&s->parts[i], begin, end, &lo, &hi)) break;
    n += (int64_t)roaring_bitmap_range_cardinality(s->parts[i].bits, lo, hi);
  }
  return n;
}

int64_t bl_posset_max(const bl_posset *s) {
  if (s->n == 0) return -1;
  const bl_posset_part *p = &s->parts[s->n - 1];
  return (int64_t)p->high << 32 | roaring_bitmap_maximum(p->bits);
}

/* As bl_posset_next, within one part and for its low 32 bits. */
static size_t next_in_part(const bl_posset_part *p, uint32_t from, int64_t *out, size_t max) {
  roaring_uint32_iterator_t it;
  roaring_init_iterator(p->bits, &it);
  if (from > 0 && !roaring_move_uint32_iterator_equalorlarger(&it, from)) return 0;
  int64_t base = (int64_t)p->high << 32;
  uint32_t low[256];
  size_t n = 0;
  while (n < max) {
    uint32_t want = max - n < BL_LEN(low) ? (uint32_t)(max - n) : (uint32_t)BL_LEN(low);
    uint32_t got = roaring_read_uint32_iterator(&it, low, want);
    for (uint32_t i = 0; i < got; i++) out[n + i] = base | low[i];
    n += got;
    if (got < want) break;
  }
  return n;
}

size_t bl_posset_next(const bl_posset *s, int64_t from, int64_t *out, size_t max) {
  if (from < 0) from = 0;
  size_t n = 0;
  for (size_t i = lower_part(s, high_of(from)); i < s->n && n < max; i++) {
    uint32_t low = s->parts[i].high == high_of(from) ? (uint32_t)from : 0;
    n += next_in_part(&s->parts[i], low, out + n, max - n);
  }
  return n;
}

/* keep[i] = 0 for each bit i of a byte: the bits are spread to bytes of a word (little-endian). */
static void clear_eight(uint8_t *keep, uint8_t bits) {
  uint64_t spread = (uint64_t)bits * 0x0101010101010101u & 0x8040201008040201u;
  uint64_t ones = (spread + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
  uint64_t k;
  memcpy(&k, keep, sizeof k);
  k &= ~(ones * 0xff);
  memcpy(keep, &k, sizeof k);
}

static void clear_word(uint8_t *keep, uint64_t word) {
  if (word == UINT64_MAX) {
    memset(keep, 0, 64);
    return;
  }
  for (int i = 0; word; i++, word >>= 8)
    if (word & 0xff) clear_eight(keep + 8 * i, (uint8_t)word);
}

/* Bits [lo, hi) of a bitset; keep is the byte for lo. */
static void clear_bitset(const uint64_t *words, uint32_t lo, uint32_t hi, uint8_t *keep) {
  uint32_t i = lo;
  while (i < hi) {
    uint64_t word = words[i / 64];
    uint32_t skip = i % 64, room = 64 - skip, n = hi - i < room ? hi - i : room;
    if (n == 64) {
      clear_word(keep + (i - lo), word);
    } else {
      word >>= skip;
      if (n < 64) word &= ((uint64_t)1 << n) - 1;
      for (; word; word &= word - 1) keep[i - lo + (uint32_t)__builtin_ctzll(word)] = 0;
    }
    i += n;
  }
}

static void clear_array(const array_container_t *a, uint32_t lo, uint32_t hi, uint8_t *keep) {
  int32_t left = 0, right = a->cardinality;
  while (left < right) {
    int32_t mid = left + (right - left) / 2;
    if (a->array[mid] < lo) left = mid + 1;
    else right = mid;
  }
  for (; left < a->cardinality && a->array[left] < hi; left++) keep[a->array[left] - lo] = 0;
}

static void clear_runs(const run_container_t *r, uint32_t lo, uint32_t hi, uint8_t *keep) {
  for (int32_t i = 0; i < r->n_runs && r->runs[i].value < hi; i++) {
    uint32_t begin = r->runs[i].value, end = begin + r->runs[i].length + 1u;
    if (begin < lo) begin = lo;
    if (end > hi) end = hi;
    if (begin < end) memset(keep + (begin - lo), 0, end - begin);
  }
}

static void clear_container(const void *c, uint8_t type, uint32_t lo, uint32_t hi, uint8_t *keep) {
  c = container_unwrap_shared(c, &type);
  if (type == BITSET_CONTAINER_TYPE_CODE) clear_bitset(((const bitset_container_t *)c)->array, lo, hi, keep);
  else if (type == ARRAY_CONTAINER_TYPE_CODE) clear_array(c, lo, hi, keep);
  else clear_runs(c, lo, hi, keep);
}

/* Index of the first container whose key is not below key. */
static int32_t lower_container(const roaring_array_t *ra, uint32_t key) {
  int32_t lo = 0, hi = ra->size;
  while (lo < hi) {
    int32_t mid = lo + (hi - lo) / 2;
    if (ra->keys[mid] < key) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/* [lo, hi) of a part; keep is the byte for lo. */
static void clear_part(const roaring_bitmap_t *bits, uint64_t lo, uint64_t hi, uint8_t *keep) {
  const roaring_array_t *ra = &bits->high_low_container;
  for (int32_t i = lower_container(ra, (uint32_t)(lo >> 16)); i < ra->size; i++) {
    uint64_t base = (uint64_t)ra->keys[i] << 16;
    if (base >= hi) break;
    uint32_t from = lo > base ? (uint32_t)(lo - base) : 0;
    uint32_t to = hi - base < CONTAINER_SIZE ? (uint32_t)(hi - base) : CONTAINER_SIZE;
    clear_container(ra->containers[i], ra->typecodes[i], from, to, keep + (base + from - lo));
  }
}

void bl_posset_clear_bytes(const bl_posset *s, int64_t begin, int64_t end, uint8_t *keep) {
  if (end <= begin || begin < 0) return;
  for (size_t i = lower_part(s, high_of(begin)); i < s->n; i++) {
    uint64_t lo, hi;
    if (!clip(&s->parts[i], begin, end, &lo, &hi)) break;
    clear_part(s->parts[i].bits, lo, hi, keep + (((int64_t)s->parts[i].high << 32) + (int64_t)lo - begin));
  }
}

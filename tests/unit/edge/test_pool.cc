/* test_pool.cc: memory of the Arrow adapter: blocks that grow, shrink, are given back and come again. */
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>

#include "edge/arrow/pool.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

namespace {

constexpr int64_t kMiB = 1 << 20;

struct Block {
  uint8_t *p = nullptr;
  int64_t size = 0;
  uint8_t mark = 0;
};

/* Each end of it is marked. */
void fill(Block &b, uint8_t mark) {
  b.mark = mark;
  if (b.size == 0) return;
  std::memset(b.p, mark, static_cast<size_t>(std::min<int64_t>(b.size, 4096)));
  std::memset(b.p + b.size - std::min<int64_t>(b.size, 4096), mark,
              static_cast<size_t>(std::min<int64_t>(b.size, 4096)));
}

bool holds(const Block &b, int64_t size) {
  for (int64_t i = 0; i < std::min<int64_t>(size, 4096); i++)
    if (b.p[i] != b.mark) return false;
  return true;
}

bool aligned(const uint8_t *p) {
  return reinterpret_cast<uintptr_t>(p) % 64 == 0;
}

/* Sizes over all classes and beyond, small ones most. */
int64_t random_size(std::mt19937_64 &r) {
  return static_cast<int64_t>(r() % (uint64_t{1} << (r() % 27)));
}

bool shuffle(uint64_t seed, int steps) {
  std::mt19937_64 r(seed);
  std::vector<Block> blocks(12);
  bool good = true;
  for (int i = 0; i < steps; i++) {
    Block &b = blocks[r() % blocks.size()];
    int64_t size = random_size(r);
    if (!b.p) {
      good = good && bl::pool()->Allocate(size, &b.p).ok();
      b.size = size;
    } else if (r() % 3 == 0) {
      good = good && holds(b, b.size);
      bl::pool()->Free(b.p, b.size);
      b = Block();
      continue;
    } else {
      good = good && bl::pool()->Reallocate(b.size, size, &b.p).ok() && holds(b, std::min(b.size, size));
      b.size = size;
    }
    good = good && aligned(b.p);
    fill(b, static_cast<uint8_t>(r()));
  }
  for (Block &b : blocks)
    if (b.p) bl::pool()->Free(b.p, b.size);
  return good;
}

void test_pool__blocks_keep_their_bytes_while_they_grow_and_shrink(void **) {
  int64_t before = bl::pool()->bytes_allocated();
  assert_true(shuffle(1, 4000));
  bl::pool()->ReleaseUnused();
  assert_true(bl::pool()->bytes_allocated() <= before);
}

void test_pool__threads_share_it(void **) {
  bool good[4] = {};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++)
    threads.emplace_back([&good, i] { good[i] = shuffle(static_cast<uint64_t>(i) + 7, 1000); });
  for (auto &t : threads) t.join();
  for (bool g : good) assert_true(g);
}

void test_pool__what_is_kept_is_bounded(void **) {
  std::vector<uint8_t *> blocks(40);
  bl::pool()->ReleaseUnused();
  int64_t before = bl::pool()->bytes_allocated();
  for (auto &p : blocks) assert_true(bl::pool()->Allocate(8 * kMiB, &p).ok());
  assert_true(bl::pool()->bytes_allocated() >= before + 320 * kMiB);
  assert_true(bl::pool()->max_memory() >= before + 320 * kMiB);
  for (auto p : blocks) bl::pool()->Free(p, 8 * kMiB);
  assert_true(bl::pool()->bytes_allocated() < before + 160 * kMiB);
  bl::pool()->ReleaseUnused();
  assert_int_equal(bl::pool()->bytes_allocated(), before);
}

/* What an output stream in memory does. */
void test_pool__a_buffer_grows_to_any_size(void **) {
  auto buffer = arrow::AllocateResizableBuffer(0, bl::pool()).ValueOrDie();
  for (int64_t size = 1; size < 100 * kMiB; size *= 2) {
    int64_t old = buffer->size();
    assert_true(buffer->Resize(size, false).ok());
    std::memset(buffer->mutable_data() + old, 'x', static_cast<size_t>(size - old));
  }
  for (int64_t i = 0; i < buffer->size(); i += 999) assert_int_equal(buffer->data()[i], 'x');
  assert_true(buffer->Resize(100, true).ok());
  assert_int_equal(buffer->data()[99], 'x');
}

void test_pool__what_cannot_be_had_is_an_error(void **) {
  uint8_t *p = nullptr;
  assert_true(bl::pool()->Allocate(INT64_MAX / 2, &p).IsOutOfMemory());
  assert_true(bl::pool()->Allocate(64 << 10, &p).ok());
  uint8_t *same = p;
  assert_true(bl::pool()->Reallocate(64 << 10, INT64_MAX / 2, &p).IsOutOfMemory());
  assert_ptr_equal(p, same);
  bl::pool()->Free(p, 64 << 10);
}

} // namespace

int main() {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pool__blocks_keep_their_bytes_while_they_grow_and_shrink),
      cmocka_unit_test(test_pool__threads_share_it),
      cmocka_unit_test(test_pool__what_is_kept_is_bounded),
      cmocka_unit_test(test_pool__a_buffer_grows_to_any_size),
      cmocka_unit_test(test_pool__what_cannot_be_had_is_an_error),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}

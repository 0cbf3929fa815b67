/* pool.cc: see pool.h.
 *
 * 1. Blocks of [kLeast, kMost] bytes are asked of the C library in whole classes, four to a doubling: at most a quarter
 *    of a block lies idle, and what is never touched costs nothing. A head before the block tells its class, which
 *    stays when the block is made smaller, as builders do with each finished column.
 * 2. A freed block goes to the list of its class as long as all lists together hold at most kKept bytes, else back. */
#include "pool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

#include <arrow/status.h>

namespace bl {
namespace {

constexpr int64_t kLeast = 32 << 10, kMost = 32 << 20, kKept = 48 << 20;

struct Class {
  size_t index;
  int64_t bytes;
};

bool is_kept(int64_t size, int64_t alignment) {
  return size >= kLeast && size <= kMost && alignment <= arrow::kDefaultBufferAlignment;
}

/* The smallest class that holds size bytes, size in [kLeast, kMost]. */
Class class_of(int64_t size) {
  auto top =
      static_cast<size_t>(std::bit_width(static_cast<uint64_t>(size - 1))) - 3; /* two bits below the highest one */
  int64_t quarters = ((size - 1) >> top) + 1;                                   /* 5 … 8 */
  return {top * 4 + static_cast<size_t>(quarters - 5), quarters << top};
}

/* What stands before each block of a class. */
struct alignas(arrow::kDefaultBufferAlignment) Head {
  Class c;
};

Class &class_at(uint8_t *block) {
  return (reinterpret_cast<Head *>(block) - 1)->c;
}

class Pool final : public arrow::MemoryPool {
public:
  arrow::Status Allocate(int64_t size, int64_t alignment, uint8_t **out) override {
    if (!is_kept(size, alignment)) return base_->Allocate(size, alignment, out);
    Class c = class_of(size);
    if ((*out = kept(c))) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(blocks_->Allocate(c.bytes + kHead, arrow::kDefaultBufferAlignment, out));
    *out += kHead;
    class_at(*out) = c;
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t **p) override {
    bool was = is_kept(old_size, alignment), is = is_kept(new_size, alignment);
    if (!was && !is) return base_->Reallocate(old_size, new_size, alignment, p);
    if (was && is && new_size <= class_at(*p).bytes && new_size >= class_at(*p).bytes / 2) return arrow::Status::OK();
    uint8_t *fresh;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &fresh));
    std::memcpy(fresh, *p, static_cast<size_t>(std::min(old_size, new_size)));
    Free(*p, old_size, alignment);
    *p = fresh;
    return arrow::Status::OK();
  }

  void Free(uint8_t *p, int64_t size, int64_t alignment) override {
    if (!is_kept(size, alignment)) base_->Free(p, size, alignment);
    else if (!keep(p)) give_back(p);
  }

  int64_t bytes_allocated() const override { return base_->bytes_allocated() + blocks_->bytes_allocated(); }
  int64_t max_memory() const override { return base_->max_memory() + blocks_->max_memory(); }
  int64_t total_bytes_allocated() const override {
    return base_->total_bytes_allocated() + blocks_->total_bytes_allocated();
  }
  int64_t num_allocations() const override { return base_->num_allocations() + blocks_->num_allocations(); }
  std::string backend_name() const override { return base_->backend_name(); }

  void ReleaseUnused() override {
    std::lock_guard<std::mutex> hold(lock_);
    for (auto &list : lists_) {
      for (uint8_t *p : list) give_back(p);
      list.clear();
    }
    kept_ = 0;
    base_->ReleaseUnused();
  }

private:
  static constexpr int64_t kHead = sizeof(Head);
  static constexpr size_t kClasses = 92; /* that of kMost is the last one */
  arrow::MemoryPool *base_ = arrow::default_memory_pool();
  arrow::MemoryPool *blocks_ = arrow::system_memory_pool();
  std::mutex lock_;
  std::array<std::vector<uint8_t *>, kClasses> lists_;
  int64_t kept_ = 0;

  /* A block of the class that was kept; nullptr: there is none. */
  uint8_t *kept(Class c) {
    std::lock_guard<std::mutex> hold(lock_);
    auto &list = lists_[c.index];
    if (list.empty()) return nullptr;
    uint8_t *p = list.back();
    list.pop_back();
    kept_ -= c.bytes;
    return p;
  }

  bool keep(uint8_t *p) noexcept try {
    std::lock_guard<std::mutex> hold(lock_);
    const Class &c = class_at(p);
    if (kept_ + c.bytes > kKept) return false;
    lists_[c.index].push_back(p);
    kept_ += c.bytes;
    return true;
  } catch (...) {
    return false; /* no room in the list: the block goes back */
  }

  void give_back(uint8_t *p) { blocks_->Free(p - kHead, class_at(p).bytes + kHead, arrow::kDefaultBufferAlignment); }
};

} // namespace

arrow::MemoryPool *pool() {
  static auto *one = arrow::default_memory_pool()->backend_name() == "system" ? arrow::default_memory_pool() : new Pool;
  return one;
}

} // namespace bl

/* pool.cc: see pool.h.
 *
 * 1. Blocks of [kLeast, kMost] bytes are asked of the C library in whole classes, four to a doubling: at most a quarter
 *    of a block lies idle, and what is never touched costs nothing. A head before the block tells its class, which
 *    stays when the block is made smaller, as builders do with each finished column.
 * 2. Those of kMapped bytes and more come from the kernel, which makes them larger without copying; the C library
 *    would keep them between others that live longer. What grows takes a larger one that was kept, if there is one.
 * 3. A freed block goes to the list of its class as long as all lists together hold at most kKept bytes, else back. */
#include "pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

#include <sys/mman.h>

#include <arrow/status.h>

#include "guard.h"

namespace bl {
namespace {

constexpr int64_t kLeast = 32 << 10, kMapped = 512 << 10, kMost = 32 << 20, kKept = 128 << 20;

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
    if ((*out = kept(c, 0))) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(take(c.bytes + kHead, out));
    *out += kHead;
    class_at(*out) = c;
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(int64_t old_size, int64_t new_size, int64_t alignment, uint8_t **p) override {
    bool was = is_kept(old_size, alignment), is = is_kept(new_size, alignment);
    if (!was && !is) return base_->Reallocate(old_size, new_size, alignment, p);
    bool grows = new_size > old_size;
    if (was && is && new_size <= class_at(*p).bytes && (grows || new_size >= class_at(*p).bytes / 2))
      return arrow::Status::OK();
    uint8_t *fresh = nullptr;
    if (was && is && grows && new_size >= kMapped) {
      fresh = kept(class_of(new_size), kRoomier);
      if (!fresh && moved(class_of(new_size), p)) return arrow::Status::OK();
    }
    if (!fresh) ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &fresh));
    std::memcpy(fresh, *p, static_cast<size_t>(std::min(old_size, new_size)));
    Free(*p, old_size, alignment);
    *p = fresh;
    return arrow::Status::OK();
  }

  void Free(uint8_t *p, int64_t size, int64_t alignment) override {
    if (!is_kept(size, alignment)) base_->Free(p, size, alignment);
    else if (!keep(p)) give_back(p);
  }

  int64_t bytes_allocated() const override { return base_->bytes_allocated() + blocks_->bytes_allocated() + mapped_; }
  int64_t max_memory() const override { return base_->max_memory() + blocks_->max_memory() + most_mapped_; }
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
  static constexpr size_t kRoomier = 16; /* what grows to kMapped will grow further: so many classes */
  arrow::MemoryPool *base_ = arrow::default_memory_pool();
  arrow::MemoryPool *blocks_ = arrow::system_memory_pool();
  std::mutex lock_;
  std::array<std::vector<uint8_t *>, kClasses> lists_;
  int64_t kept_ = 0;
  std::atomic<int64_t> mapped_{0}, most_mapped_{0};

  /* A block of the class that was kept, or of one of so many larger ones; nullptr: there is none. */
  uint8_t *kept(Class c, size_t larger) {
    std::lock_guard<std::mutex> hold(lock_);
    size_t i = c.index, end = std::min(i + larger + 1, kClasses);
    while (i < end && lists_[i].empty()) i++;
    if (i == end) return nullptr;
    uint8_t *p = lists_[i].back();
    lists_[i].pop_back();
    kept_ -= class_at(p).bytes;
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

  void count(int64_t bytes) {
    int64_t now = mapped_ += bytes, most = most_mapped_;
    while (now > most && !most_mapped_.compare_exchange_weak(most, now)) {
    }
  }

  arrow::Status take(int64_t bytes, uint8_t **out) {
    if (bytes < kMapped) return blocks_->Allocate(bytes, arrow::kDefaultBufferAlignment, out);
    void *p = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return arrow::Status::OutOfMemory("mapping ", bytes, " bytes failed");
    count(bytes);
    *out = static_cast<uint8_t *>(p);
    return arrow::Status::OK();
  }

  /* The block made as large as c says, elsewhere and without a copy. */
  bool moved(Class c, uint8_t **p) {
    int64_t old = class_at(*p).bytes + kHead, bytes = c.bytes + kHead;
    if (old < kMapped || bytes <= old) return false;
    void *to = mremap(*p - kHead, static_cast<size_t>(old), static_cast<size_t>(bytes), MREMAP_MAYMOVE);
    if (to == MAP_FAILED) return false;
    count(bytes - old);
    *p = static_cast<uint8_t *>(to) + kHead;
    class_at(*p) = c;
    return true;
  }

  void give_back(uint8_t *p) {
    int64_t bytes = class_at(p).bytes + kHead;
    p -= kHead;
    if (bytes < kMapped) return blocks_->Free(p, bytes, arrow::kDefaultBufferAlignment);
    munmap(p, static_cast<size_t>(bytes));
    count(-bytes);
  }
};

} // namespace

arrow::MemoryPool *pool() {
  static auto *one = arrow::default_memory_pool()->backend_name() == "system" ? arrow::default_memory_pool() : new Pool;
  return one;
}

std::shared_ptr<arrow::Buffer> allocate(int64_t n) {
  return ok(arrow::AllocateBuffer(n, pool()));
}

} // namespace bl

/* lanes.cc: see lanes.h.
 *
 * The lane that is furthest behind comes first, so that no step is kept for one lane alone; of those that are equal the
 * one that took most time so far, so that long ones do not end last. */
#include "lanes.h"

#include <chrono>

extern "C" {
#include "base/pool.h"
}

namespace bl {
namespace {

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

} // namespace

Lanes::Lanes(size_t n, int threads) : lanes_(n), max_threads_(threads > 1 ? static_cast<size_t>(threads) : 0) {
  if (max_threads_ > n) max_threads_ = n > 1 ? n : 0;
  threads_.reserve(max_threads_);
}

Lanes::~Lanes() {
  {
    Hold hold(lock_);
    stop_ = true;
  }
  work_.notify_all();
  for (pthread_t t : threads_) pthread_join(t, nullptr);
}

bool Lanes::ready(const Lane &l) const {
  if (l.busy || l.next - first_ >= steps_.size()) return false;
  if (l.next == first_) return true;
  const Entry &before = steps_[l.next - first_ - 1];
  return before.done || !before.step->joins;
}

Lanes::Lane *Lanes::pick() {
  Lane *best = nullptr;
  if (failure_) return nullptr;
  for (Lane &l : lanes_)
    if (ready(l) && (!best || l.next < best->next || (l.next == best->next && l.cost > best->cost))) best = &l;
  return best;
}

/* Without the lock. */
template <class F> bool Lanes::attempt(Hold &hold, F &&f) {
  std::exception_ptr failure;
  hold.unlock();
  try {
    f();
  } catch (...) {
    failure = std::current_exception();
  }
  hold.lock();
  if (failure && !failure_) failure_ = failure;
  return !failure;
}

/* The next step of a lane. */
void Lanes::run(Lane &l, Hold &hold) {
  Entry &e = steps_[l.next - first_]; /* stays where it is: only what is done is taken */
  auto lane = static_cast<size_t>(&l - lanes_.data());
  int64_t begin = now();
  l.busy = true;
  n_running_++;
  if (attempt(hold, [&] { e.step->run(lane); })) {
    l.next++;
    l.cost += now() - begin;
    if (++e.n_done == lanes_.size() && (!e.step->joins || attempt(hold, [&] { e.step->join(); }))) e.done = true;
  }
  l.busy = false;
  n_running_--;
  if (e.done || n_running_ == 0) done_.notify_one();
  if (spread_ && e.done && e.step->joins) work_.notify_all();
  else if (spread_ && n_waiting_ > 0) work_.notify_one();
}

void Lanes::work() {
  Hold hold(lock_);
  while (!stop_) {
    Lane *l = spread_ ? pick() : nullptr;
    if (l) {
      run(*l, hold);
      continue;
    }
    n_waiting_++;
    work_.wait(hold);
    n_waiting_--;
  }
}

/* Those that do not start are not missed, as long as there is one. */
void Lanes::start() {
  auto body = [](void *self) -> void * {
    static_cast<Lanes *>(self)->work();
    return nullptr;
  };
  pthread_t t;
  while (threads_.size() < max_threads_ && bl_thread_start(&t, body, this)) threads_.push_back(t);
  max_threads_ = threads_.size();
}

void Lanes::run_all(Hold &hold) {
  while (Lane *l = pick()) run(*l, hold);
}

void Lanes::wait_for_all(Hold &hold) {
  done_.wait(hold, [&] { return n_running_ == 0 && (failure_ || steps_.empty() || steps_.back().done); });
}

void Lanes::check(Hold &hold) {
  if (!failure_) return;
  done_.wait(hold, [&] { return n_running_ == 0; });
  std::rethrow_exception(failure_);
}

void Lanes::add(std::unique_ptr<Step> step, bool spread) {
  Hold hold(lock_);
  if (spread && threads_.empty()) start();
  spread = spread && !threads_.empty();
  if (!spread) wait_for_all(hold);
  check(hold);
  spread_ = spread;
  steps_.emplace_back().step = std::move(step);
  if (spread) {
    work_.notify_all();
    return;
  }
  run_all(hold);
  wait_for_all(hold);
  check(hold);
}

std::unique_ptr<Step> Lanes::take() {
  Hold hold(lock_);
  check(hold);
  if (steps_.empty()) return nullptr;
  done_.wait(hold, [&] { return steps_.front().done || failure_; });
  check(hold);
  auto step = std::move(steps_.front().step);
  steps_.pop_front();
  first_++;
  return step;
}

} // namespace bl

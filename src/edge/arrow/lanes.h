/* lanes.h: work that goes down several lanes beside each other, as the columns of a file do.
 *
 * 1. Every lane takes all steps, in the order in which they were added; it runs on one thread at a time. A lane may be
 *    steps ahead of another.
 * 2. A step that joins: once all lanes have taken it, join() runs once, and no lane goes beyond before that.
 * 3. After a failure nothing more is begun, and every further call fails the same way.
 * 4. All functions are for the owner's thread. What a step wrote may be read once take() gave it back. */
#ifndef BL_EDGE_ARROW_LANES_H
#define BL_EDGE_ARROW_LANES_H

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include <pthread.h>

namespace bl {

class Step {
public:
  explicit Step(bool joins) : joins(joins) {}
  virtual ~Step() = default;
  virtual void run(size_t /* lane */) {} /* throws */
  virtual void join() {}                 /* throws */
  const bool joins;
};

class Lanes {
public:
  /* threads 0, 1: all steps run on the owner's. */
  Lanes(size_t n, int threads);
  ~Lanes(); /* what was not begun is dropped */
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;

  /* spread: on the threads; else it is done when add returns. */
  void add(std::unique_ptr<Step> step, bool spread);
  /* Do threads wait for work? */
  bool started() const { return !threads_.empty(); }
  /* The first of the steps that were not taken yet, done; nullptr: there is none. */
  std::unique_ptr<Step> take();

private:
  struct Entry {
    std::unique_ptr<Step> step;
    size_t n_done = 0; /* lanes */
    bool done = false;
  };
  struct Lane {
    uint64_t next = 0; /* its next step, counted from the first one ever */
    bool busy = false;
    int64_t cost = 0; /* nanoseconds so far */
  };
  using Hold = std::unique_lock<std::mutex>;

  std::mutex lock_;
  std::condition_variable work_; /* for threads: a lane may be taken, stop */
  std::condition_variable done_; /* for the owner: a step is done, nothing runs */
  std::vector<Lane> lanes_;
  std::deque<Entry> steps_;
  uint64_t first_ = 0; /* number of steps_[0] */
  size_t n_running_ = 0, n_waiting_ = 0;
  size_t max_threads_;
  std::vector<pthread_t> threads_;
  bool spread_ = false, stop_ = false;
  std::exception_ptr failure_;

  bool ready(const Lane &l) const;
  Lane *pick();
  void run(Lane &l, Hold &hold);
  template <class F> bool attempt(Hold &hold, F &&f);
  void run_all(Hold &hold);
  void wait_for_all(Hold &hold);
  void check(Hold &hold);
  void start();
  void work();
};

} // namespace bl
#endif

/* test_lanes.cc: steps that go down several lanes beside each other. */
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include "edge/arrow/lanes.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

namespace {

using Call = std::function<void(size_t lane)>;

class Calls final : public bl::Step {
public:
  Calls(Call run, std::function<void()> join = nullptr)
      : Step(join != nullptr), run_(std::move(run)), join_(std::move(join)) {}
  void run(size_t lane) override {
    if (run_) run_(lane);
  }
  void join() override { join_(); }

private:
  Call run_;
  std::function<void()> join_;
};

std::unique_ptr<bl::Step> calls(Call run, std::function<void()> join = nullptr) {
  return std::make_unique<Calls>(std::move(run), std::move(join));
}

/* Lanes take different times, so that they part. */
void spend(size_t lane) {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20 * lane);
  while (std::chrono::steady_clock::now() < end) {
  }
}

template <class F> std::string thrown_by(F &&f) {
  try {
    f();
  } catch (const std::exception &e) {
    return e.what();
  }
  return "nothing";
}

void test_lanes__each_lane_takes_all_steps_in_their_order(void **) {
  for (int threads = 0; threads < 5; threads++) {
    std::vector<std::vector<int>> seen(3);
    bl::Lanes lanes(3, threads);
    for (int i = 0; i < 200; i++)
      lanes.add(calls([&seen, i](size_t lane) {
                  spend(lane);
                  seen[lane].push_back(i);
                }),
                true);
    assert_int_equal(lanes.started(), threads > 1);
    for (int i = 0; i < 200; i++) assert_non_null(lanes.take().get());
    assert_null(lanes.take().get());
    for (const auto &list : seen) {
      assert_int_equal(list.size(), 200);
      for (size_t i = 0; i < list.size(); i++) assert_int_equal(list[i], i);
    }
  }
}

void test_lanes__no_lane_passes_a_step_that_joins_before_all_have_come(void **) {
  for (int threads = 1; threads < 4; threads++) {
    std::atomic<int> before{0}, joined{0};
    std::atomic<bool> good{true};
    bl::Lanes lanes(4, threads);
    for (int i = 0; i < 50; i++) {
      lanes.add(calls([&](size_t lane) {
                  spend(lane);
                  before++;
                }),
                true);
      lanes.add(calls(nullptr,
                      [&, i] {
                        good = good && before == 4 * (i + 1);
                        joined++;
                      }),
                true);
      lanes.add(calls([&, i](size_t) { good = good && joined == i + 1; }), true);
    }
    while (lanes.take()) {
    }
    assert_true(good);
    assert_int_equal(joined, 50);
  }
}

void test_lanes__a_step_that_is_not_spread_runs_on_the_owners_thread_after_all_before(void **) {
  std::atomic<int> n{0};
  pthread_t own = pthread_self();
  bl::Lanes lanes(3, 3);
  for (int round = 0; round < 30; round++) {
    int begun = n;
    for (int i = 0; i < 5; i++)
      lanes.add(calls([&](size_t lane) {
                  spend(lane);
                  n++;
                }),
                true);
    bool good = true;
    lanes.add(calls([&](size_t) { good = good && n == begun + 15 && pthread_equal(own, pthread_self()); }), false);
    assert_true(good);
  }
  while (lanes.take()) {
  }
}

void test_lanes__after_a_failure_nothing_more_is_begun_and_all_calls_fail_alike(void **) {
  for (int threads = 1; threads < 4; threads++) {
    std::atomic<int> after{0};
    bl::Lanes lanes(3, threads);
    auto fail = [](size_t lane) {
      if (lane == 1) throw std::runtime_error("lane 1 is broken");
    };
    std::string said = thrown_by([&] {
      lanes.add(calls(fail), true);
      lanes.add(calls([&](size_t lane) { after += lane == 1; }), true);
      while (lanes.take()) {
      }
    });
    assert_string_equal(said.c_str(), "lane 1 is broken");
    assert_string_equal(thrown_by([&] { lanes.add(calls(nullptr), true); }).c_str(), "lane 1 is broken");
    assert_string_equal(thrown_by([&] { lanes.add(calls(nullptr), false); }).c_str(), "lane 1 is broken");
    assert_string_equal(thrown_by([&] { (void)lanes.take(); }).c_str(), "lane 1 is broken");
    assert_int_equal(after, 0);
  }
}

void test_lanes__a_join_that_fails_fails_all(void **) {
  for (int threads = 1; threads < 4; threads++) {
    std::atomic<int> after{0};
    bl::Lanes lanes(2, threads);
    std::string said = thrown_by([&] {
      lanes.add(calls(nullptr, [] { throw std::runtime_error("the join is broken"); }), true);
      lanes.add(calls([&](size_t) { after++; }), true);
      while (lanes.take()) {
      }
    });
    assert_string_equal(said.c_str(), "the join is broken");
    assert_int_equal(after, 0);
  }
}

void test_lanes__what_was_not_begun_is_dropped_at_the_end(void **) {
  auto alive = std::make_shared<int>(0);
  std::atomic<int> ran{0};
  {
    bl::Lanes lanes(2, 2);
    for (int i = 0; i < 100; i++)
      lanes.add(calls([alive, &ran](size_t) {
                  spend(50);
                  ran++;
                }),
                true);
  }
  assert_int_equal(alive.use_count(), 1);
  assert_true(ran < 200);
}

void test_lanes__one_lane_needs_no_threads(void **) {
  bl::Lanes lanes(1, 8);
  int n = 0;
  lanes.add(calls([&](size_t) { n++; }), true);
  assert_int_equal(n, 1);
  assert_false(lanes.started());
}

} // namespace

int main() {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lanes__each_lane_takes_all_steps_in_their_order),
      cmocka_unit_test(test_lanes__no_lane_passes_a_step_that_joins_before_all_have_come),
      cmocka_unit_test(test_lanes__a_step_that_is_not_spread_runs_on_the_owners_thread_after_all_before),
      cmocka_unit_test(test_lanes__after_a_failure_nothing_more_is_begun_and_all_calls_fail_alike),
      cmocka_unit_test(test_lanes__a_join_that_fails_fails_all),
      cmocka_unit_test(test_lanes__what_was_not_begun_is_dropped_at_the_end),
      cmocka_unit_test(test_lanes__one_lane_needs_no_threads),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}

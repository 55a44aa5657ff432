// SPDX-License-Identifier: BSL-1.0
// In: expressions over tensors that several threads of the user evaluate at the same time. Out: each gets the bits that
// one alone gets; a workspace serves one run at a time and says so; an exception leaves a parallel region by its end.
// Next: processes/main.cpp, the same under other settings of OpenMP.
#include "support/schedules.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace heed;
using namespace test;

namespace {

const auto& tensors() {
  struct all {
    tensor<float, head, query, d_head> q = normal<float, head, query, d_head>(1, head{3}, query{70}, d_head{16});
    tensor<float, head, key, d_head> k = normal<float, head, key, d_head>(2, head{3}, key{70}, d_head{16});
    tensor<float, head, key, d_value> v = normal<float, head, key, d_value>(3, head{3}, key{70}, d_value{16});
  };
  static const all one;
  return one;
}
auto context() {
  const auto& [q, k, v] = tensors();
  return dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) * 0.25F)), v);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(user_threads)

BOOST_AUTO_TEST_CASE(at_the_same_time) {
  for (const schedule how : {fused, unfused}) {
    const auto shared = context();  // its handles are counted by all threads
    const auto want = evaluate(policy{.schedule = how}, shared);
    std::vector<int> wrong(16, 0);
    std::vector<std::thread> users;
    for (std::size_t i = 0; i < wrong.size(); ++i)
      users.emplace_back([&, i] {
        workspace own;
        for (int run = 0; run < 4; ++run) {
          const auto copy = shared;
          const policy each{
              .schedule = how, .threads = static_cast<int>(i % 4), .memory = run % 2 == 0 ? &own : nullptr};
          wrong[i] += identical(evaluate(each, copy), want) && identical(evaluate(each, context()), want) ? 0 : 1;
        }
      });
    for (std::thread& user : users) user.join();
    for (const int count : wrong) BOOST_TEST(count == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_workspace_serves_one_run_at_a_time) {
  workspace space;
  const policy with_space{.memory = &space};
  const auto want = evaluate(context());
  auto result = evaluate(with_space, context());
  {
    const workspace::lease busy(&space);  // as a run holds it
    BOOST_TEST(throws<std::logic_error>([&] { evaluate_into(with_space, result, context()); }));
    BOOST_TEST(identical(result, want));
  }
  evaluate_into(with_space, result, context());
  BOOST_TEST(identical(result, want));
}

// Of two threads that run in one workspace all the time, one is refused sooner or later; what runs runs undisturbed.
BOOST_AUTO_TEST_CASE(two_threads_in_one_workspace) {
  const auto want = evaluate(context());
  workspace space;
  std::atomic<int> refused{0}, wrong{0}, right{0};
  const auto user = [&] {
    tensor<float, head, query, d_value> result{head{3}, query{70}, d_value{16}};
    for (int run = 0; run < 100000 && (refused == 0 || right == 0); ++run) try {
        evaluate_into(policy{.threads = 1, .memory = &space}, result, context());
        ++(identical(result, want) ? right : wrong);
      } catch (const std::logic_error&) {
        ++refused;
      }
  };
  std::thread other(user);
  user();
  other.join();
  BOOST_TEST(refused > 0);
  BOOST_TEST(right > 0);
  BOOST_TEST(wrong == 0);
}

// What a job throws arrives at the caller, once, whoever ran the job; the region ends, and the next one works.
BOOST_AUTO_TEST_CASE(exceptions_leave_a_region_by_its_end) {
  for (const int threads : {1, 2, 4})
    for (const int thrower : {0, 7, 99, -1}) {  // -1: every job
      std::atomic<int> done{0};
      const auto region = [&] {
        kernel::run_team(kernel::team_size(threads), [&](kernel::team& t) {
          t.share(100, [&](std::ptrdiff_t job) {
            if (thrower < 0 || job == thrower) throw std::runtime_error("job");
            ++done;
          });
          t.share(100, [&](std::ptrdiff_t) { ++done; });
        });
      };
      BOOST_TEST(message_of<std::runtime_error>(region) == "job");
      BOOST_TEST(done < 200);
      done = 0;
      kernel::run_team(kernel::team_size(threads), [&](kernel::team& t) { t.share(100, [&](auto) { ++done; }); });
      BOOST_TEST(done == 100);
    }
}

BOOST_AUTO_TEST_SUITE_END()

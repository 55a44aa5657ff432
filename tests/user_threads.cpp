// SPDX-License-Identifier: BSL-1.0
// In: expressions over tensors that several threads of the user evaluate at the same time. Out: each gets the bits that
// one alone gets; a workspace serves one run at a time and says so.
// Next: words_plan.cpp.
#include "support/schedules.hpp"

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
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> users;
    for (std::size_t i = 0; i < wrong.size(); ++i)
      users.emplace_back([&, i] {
        workspace own;
        for (int run = 0; run < 8; ++run) {
          const auto copy = shared;
          const policy each{.schedule = how, .threads = static_cast<int>(i), .memory = run % 2 == 0 ? &own : nullptr};
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

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSL-1.0
// In: a program whose every allocation is counted. Out: with a workspace, repeated runs allocate nothing; neither does making
// an expression or a view.
// Next: out_of_memory.cpp, where allocations fail.
#include "support/allocations.hpp"
#include "support/layer.hpp"
#include "support/schedules.hpp"

using namespace heed;
using namespace test;

namespace {

struct layer : layer_tensors {
  auto expression() const {
    const auto q = dot<model>(x, w_q);
    const auto k = rename<query, key>(dot<model>(x, w_k)), v = rename<query, key>(dot<model>(x, w_v));
    const auto weights = softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) * 0.25F));
    return x + dot<head, d_head>(dot<key>(weights, v), w_o);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(words_memory)

BOOST_AUTO_TEST_CASE(repeated_runs_in_a_workspace_allocate_nothing) {
  const layer l;
  const auto y = l.expression();
  tensor<float, query, model> result{query{40}, model{32}};
  for (const schedule how : {fused, unfused})
    for (const int threads : {1, 2}) {
      workspace space;
      const policy p{.schedule = how, .threads = threads, .memory = &space};
      evaluate_into(p, result, y);
      for (int i = 0; i < 3; ++i) {
        const long n = allocations_of([&] { evaluate_into(p, result, y); });
        BOOST_TEST(n == 0, (how == fused ? "fused, " : "unfused, ") << threads << " threads: " << n << " allocations");
      }
      tensor<float, query> norms{query{40}};
      const auto several = [&] { evaluate_into(p, std::tie(norms, result), sum<model>(l.x * l.x), y); };
      several();
      BOOST_TEST(allocations_of(several) == 0);
    }
}

BOOST_AUTO_TEST_CASE(a_view_costs_no_allocation_of_elements) {
  const auto x = normal<float, query, model>(1, query{100}, model{100});
  const long n = allocations_of([&] {
    const view<const float, query, model> v = x;
    const auto part = slice<query>(v, 10, 20);
    const auto e = relu(part) + 1;
    (void)e;
  });
  BOOST_TEST(n == 0);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSL-1.0
// Step 9: the same formula fused and node by node: what fusing saves. With --time it says on stderr how long both take.
// Next: 10_explain.cpp.
#include "ladder.hpp"

#include <chrono>

struct head : heed::axis<4> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<32> {};

double milliseconds(auto const& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main(int count, char** arguments) {
  using namespace heed;
  const bool timed = count > 1 && std::string_view(arguments[1]) == "--time";
  std::cout << "tokens   bytes stored: fused   unfused   times q, k, v   results differ by\n";
  for (const extent_t length : {256, 512, 1024}) {
    tensor<float, head, query, d_head> q{query{length}};
    tensor<float, head, key, d_head> k{key{length}}, v{key{length}};
    set_waves(q, 1, 0), set_waves(k, 1, 1), set_waves(v, 1, 2);
    auto s = where(causal<query, key>(), dot<d_head>(q, k) / std::sqrt(32.f));
    auto context = dot<key>(softmax<key>(s), v);

    // fused and unfused are policies: first argument of evaluate, evaluate_into and explain. What is stored between the
    // stages grows with the square of the length, or is nothing.
    const auto fused_plan = explain(fused, context), unfused_plan = explain(unfused, context);
    auto one = evaluate(context);
    auto other = evaluate(unfused, context);
    const tensor<float> difference = evaluate(max<head, query, d_head>(abs(one - other)));
    std::cout << std::setw(6) << length << std::setw(22) << fused_plan.bytes_stored << std::setw(10)
              << unfused_plan.bytes_stored << std::setw(16)
              << unfused_plan.bytes_stored / (sizeof(float) * static_cast<std::size_t>(q.size() + k.size() + v.size()))
              << (difference() < 1e-5f ? "   rounding" : "   TOO MUCH") << '\n';
    if (timed)
      std::cerr << std::setw(6) << length << " fused " << milliseconds([&] { evaluate_into(one, context); })
                << " ms, unfused " << milliseconds([&] { evaluate_into(unfused, other, context); }) << " ms\n";
  }
}

// Output:
// tokens   bytes stored: fused   unfused   times q, k, v   results differ by
//    256                     0   4325376              11   rounding
//    512                     0  17301504              22   rounding
//   1024                     0  69206016              44   rounding

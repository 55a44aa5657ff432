// SPDX-License-Identifier: BSL-1.0
// In: attention of 16 heads over 8192 queries and keys, whose scores would take 4 GiB. Out: its peak of resident memory above
// inputs and output stays under 64 MiB, and the plan says that it stores nothing.
// Next: words_memory.cpp, which counts allocations.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<64> {};

/// A line of /proc/self/status in KiB, or -1 where there is none.
long status_of(std::string const& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, name.size() + 1, name + ":") == 0) return std::stol(line.substr(name.size() + 1));
  return -1;
}
void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

template <class T> void fill(T& t, unsigned seed) {
  for (auto& x : t) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 16) % 2000 - 1000) / 1000.f;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_peak)

BOOST_AUTO_TEST_CASE(long_attention_stores_no_scores) {
  using namespace heed;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr extent_t length = 512;  // shadow memory counts as resident: the small size only has to run
#else
  constexpr extent_t length = 8192;
#endif
  tensor<float, head, query, d_head> q{head{16}, query{length}}, context{head{16}, query{length}};
  tensor<float, head, key, d_head> k{head{16}, key{length}}, v{head{16}, key{length}};
  fill(q, 1), fill(k, 2), fill(v, 3), fill(context, 4);
  auto e = dot<key>(softmax<key>(where(causal<query, key>(), dot<d_head>(q, k) / 8.f)), v);
  BOOST_TEST(explain(e).bytes_stored == 0u);
  BOOST_TEST(explain(unfused, e).bytes_stored >= 4u * 16u * static_cast<std::size_t>(length * length));
  forget_peak();
  long const before = status_of("VmRSS");
  evaluate_into(context, e);
  long const grown = status_of("VmHWM") - before;
  BOOST_TEST_MESSAGE("peak above inputs and output: " << grown << " KiB");
  if (before > 0 && length == 8192) BOOST_TEST(grown < 64 * 1024);
  // the first query sees its own key alone
  for (int d = 0; d < 64; ++d) BOOST_TEST_REQUIRE(std::abs(context(3, 0, d) - v(3, 0, d)) < 1e-6f);
}

BOOST_AUTO_TEST_SUITE_END()

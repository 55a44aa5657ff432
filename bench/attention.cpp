// SPDX-License-Identifier: BSL-1.0
// In: heads, queries, keys and width of an attention (default: a table). Out: milliseconds and the share of the multiply-add
// peak of this process, fused and unfused, full and causal, one and all threads; runs interleaved, medians of what is left
// after the first.
// Next to read: tiles.cpp, the kernels alone.
#include "peak.hpp"
#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

struct head : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};

template <class T> void fill(T& t, unsigned seed) {
  for (auto& x : t) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(seed >> 16) % 2000 - 1000) / 500.f;
  }
}
double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

void measure(heed::extent_t heads, heed::extent_t queries, heed::extent_t keys, heed::extent_t width) {
  using namespace heed;
  tensor<float, head, query, d_head> q{head{heads}, query{queries}, d_head{width}}, out = q;
  tensor<float, head, key, d_head> k{head{heads}, key{keys}, d_head{width}}, v = k;
  fill(q, 1), fill(k, 2), fill(v, 3);
  auto scores = dot<d_head>(q, k) / std::sqrt(static_cast<float>(width));
  auto full = dot<key>(softmax<key>(scores), v);
  auto lower = dot<key>(softmax<key>(where(causal<query, key>(keys - queries), scores)), v);
  workspace memory;
  double const operations = 4.0 * static_cast<double>(heads) * static_cast<double>(queries) *
                            static_cast<double>(keys) * static_cast<double>(width);
  int const repeats = operations > 1e11 ? 3 : 9;
  for (int threads : {1, 0}) {
    std::vector<double> times[3];
    double peak = 0;
    for (int i = 0; i <= repeats; ++i) {
      for (int round = 0; round < 5; ++round) peak = std::max(peak, bench::peak_round<float>());
      for (int variant = 0; variant < 3; ++variant) {
        policy const how{.schedule = variant == 2 ? unfused : fused, .threads = threads, .memory = &memory};
        double const start = bench::now();
        if (variant == 1)
          evaluate_into(how, out, lower);
        else
          evaluate_into(how, out, full);
        if (i > 0) times[variant].push_back(bench::now() - start);
      }
    }
    auto share = [&](double seconds, double part) { return 100 * part * operations / seconds / peak; };
    double const t[] = {median(times[0]), median(times[1]), median(times[2])};
    std::printf(
        "%3td x %5td x %5td x %3td  %s: full %9.3f ms %5.1f %%   causal %9.3f ms %5.1f %% (of half)   unfused %9.3f "
        "ms, %.2f times fused\n",
        heads, queries, keys, width, threads == 1 ? "1 thread   " : "all threads", t[0] * 1e3, share(t[0], 1),
        t[1] * 1e3, share(t[1], 0.5), t[2] * 1e3, t[2] / t[0]);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5) {
    measure(std::atol(arguments[1]), std::atol(arguments[2]), std::atol(arguments[3]), std::atol(arguments[4]));
    return 0;
  }
  std::puts("heads x queries x keys x width; shares of one core's multiply-add peak in this process");
  measure(12, 1024, 1024, 64);
  measure(256, 100, 100, 64);
  measure(256, 16, 16, 16);
  measure(64, 128, 512, 64);
  measure(32, 1, 4096, 128);
  measure(12, 4096, 4096, 64);
}

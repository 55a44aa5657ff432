// SPDX-License-Identifier: BSL-1.0
// In: nothing. Out: variables of every kind that tools/gdb/heed.py shows, for check.py to look at in here().
// Next to read: check.py.
#include <heed/tensor.hpp>

#include <cstdint>

namespace net {
struct query : heed::axis<> {};
struct key : heed::axis<> {};
template <int N> struct width : heed::axis<N> {};
}  // namespace net

namespace {

struct hidden_tag : heed::axis<> {};

void here() { asm volatile(""); }

}  // namespace

int main() {
  using net::key, net::query;
  heed::tensor<float, query, key> weights{query{3}, key{40}};
  for (heed::extent_t at = 0; at < weights.size(); ++at) weights.data()[at] = static_cast<float>(at) + 0.5f;
  heed::tensor<std::int32_t, net::width<3>> fixed;
  fixed(0) = 7, fixed(1) = -8, fixed(2) = 9;
  heed::view<const float, key, query> turned(weights.data(), key{2}, query{2}, heed::strides{1, 40});
  heed::tensor<bool, hidden_tag> mask{hidden_tag{2}};
  mask(1) = true;
  heed::tensor<double, query> empty;
  heed::tensor<float> single;
  single() = 2.5f;
  heed::tensor<heed::bf16, key> narrow{key{2}};
  narrow(0) = 1.5f, narrow(1) = -3.f;
  heed::f16 half(0.375f);
  query extent{17};
  net::width<3> known;
  here();
  return static_cast<int>(turned(0, 0) + static_cast<float>(half) + static_cast<float>(extent.size.value)) +
                     static_cast<int>(sizeof known) + static_cast<int>(mask.size() + empty.size() + single.size()) >
                 0
             ? 0
             : 1;
}

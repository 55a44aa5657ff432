// SPDX-License-Identifier: BSL-1.0
// In: a shape. Out: the axes, random q, k and v of one attention, and what it costs.
// Next: attention.cpp.
#pragma once

#include <heed/heed.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>

namespace bench {

struct batch : heed::axis<> {};
struct head : heed::axis<> {};
struct kv_head : heed::axis<> {};
struct group : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<> {};
struct d_value : heed::axis<> {};

using heed::extent_t;

/// Numbers in [-2, 2), the same in every run.
template <class Tensor> void fill(Tensor& tensor, std::uint32_t seed) {
  for (auto& element : tensor) {
    seed = seed * 1664525u + 1013904223u;
    element = static_cast<std::remove_cvref_t<decltype(element)>>(static_cast<float>(seed >> 8) * 0x1p-22F - 2);
  }
}
template <class Tensor, class... Extent> Tensor filled(std::uint32_t seed, Extent... extents) {
  Tensor result{extents...};
  fill(result, seed);
  return result;
}

struct shape {
  extent_t batch, heads, queries, keys, width;
  extent_t kv_heads = heads;  // fewer than heads where groups of them share keys and values
  extent_t value_width = width;

  double pairs() const { return static_cast<double>(batch * heads * queries) * static_cast<double>(keys); }
  /// Of both contractions; a multiply-add is two.
  double operations() const { return 2 * pairs() * static_cast<double>(width + value_width); }
  double cached_numbers() const {
    return static_cast<double>(batch * kv_heads * keys) * static_cast<double>(width + value_width);
  }
};
inline std::string to_string(shape const& s) {
  std::string name = std::to_string(s.batch) + 'x' + std::to_string(s.heads);
  if (s.kv_heads != s.heads) name += "over" + std::to_string(s.kv_heads);
  name += 'x' + std::to_string(s.queries) + 'x' + std::to_string(s.keys) + 'x' + std::to_string(s.width);
  return s.value_width == s.width ? name : name + "to" + std::to_string(s.value_width);
}

/// Each query head has its own keys and values. T is what keys and values are stored in.
template <class T = float> struct heads_of {
  bench::shape shape;
  heed::tensor<float, batch, head, query, d_head> q;
  heed::tensor<T, batch, head, key, d_head> k;
  heed::tensor<T, batch, head, key, d_value> v;

  explicit heads_of(bench::shape const& s) : shape(s) {
    q = filled<decltype(q)>(1, batch{s.batch}, head{s.heads}, query{s.queries}, d_head{s.width});
    k = filled<decltype(k)>(2, batch{s.batch}, head{s.heads}, key{s.keys}, d_head{s.width});
    v = filled<decltype(v)>(3, batch{s.batch}, head{s.heads}, key{s.keys}, d_value{s.value_width});
  }
  auto scores() const { return heed::dot<d_head>(q, k) / std::sqrt(static_cast<float>(shape.width)); }
};

/// Groups of query heads share keys and values: k and v lack the axis group.
template <class T = float> struct groups_of {
  bench::shape shape;
  heed::tensor<float, batch, kv_head, group, query, d_head> q;
  heed::tensor<T, batch, kv_head, key, d_head> k;
  heed::tensor<T, batch, kv_head, key, d_value> v;

  explicit groups_of(bench::shape const& s) : shape(s) {
    q = filled<decltype(q)>(1, batch{s.batch}, kv_head{s.kv_heads}, group{s.heads / s.kv_heads}, query{s.queries},
                            d_head{s.width});
    k = filled<decltype(k)>(2, batch{s.batch}, kv_head{s.kv_heads}, key{s.keys}, d_head{s.width});
    v = filled<decltype(v)>(3, batch{s.batch}, kv_head{s.kv_heads}, key{s.keys}, d_value{s.value_width});
  }
  auto scores() const { return heed::dot<d_head>(q, k) / std::sqrt(static_cast<float>(shape.width)); }
};

/// softmax(scores) v.
template <class Scores, class Values> auto attend(Scores const& scores, Values const& v) {
  return heed::dot<key>(heed::softmax<key>(scores), v);
}

}  // namespace bench

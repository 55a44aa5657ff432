// SPDX-License-Identifier: BSL-1.0
// In: a few numbers. Out: the smallest attention problems, one batch and one head: mostly q = 0, so that all
// scores are 0 and each row of the context is the mean of the values that it may see.
// Next: cases_masks.cpp.
#pragma once
#include "schedules.hpp"

#include <cmath>
#include <initializer_list>

namespace test {

struct small_problem {
  heed::tensor<float, query, d_head> q;
  heed::tensor<float, key, d_head> k;
  heed::tensor<float, key, d_value> v;
  /// Unscaled.
  [[nodiscard]] auto scores() const { return heed::dot<d_head>(q, k); }
};

/// All scores 0; v has one number a key.
inline small_problem zero_scores(std::ptrdiff_t queries, std::initializer_list<double> values) {
  return {heed::tensor<float, query, d_head>{query{queries}, d_head{1}},
          heed::tensor<float, key, d_head>{key{values.size()}, d_head{1}},
          table<float, key, d_value>(static_cast<std::ptrdiff_t>(values.size()), values)};
}

/// One number a query, one a key, one a value.
inline small_problem one_wide(std::initializer_list<double> q, std::initializer_list<double> k,
                              std::initializer_list<double> v) {
  return {table<float, query, d_head>(static_cast<std::ptrdiff_t>(q.size()), q),
          table<float, key, d_head>(static_cast<std::ptrdiff_t>(k.size()), k),
          table<float, key, d_value>(static_cast<std::ptrdiff_t>(v.size()), v)};
}

/// softmax(scores) v.
template <class Scores, class Values> auto attend(const Scores& scores, const Values& v) {
  return heed::dot<key>(heed::softmax<key>(scores), v);
}

}  // namespace test

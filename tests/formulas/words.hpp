// SPDX-License-Identifier: BSL-1.0
// In: tables. Out: what docs/expressions.md says that each word means, by plain loops in float64, with a first-order bound of the
// rounding errors of a machine that computes the same in `rounding`'s precision, in any order of summation.
// The functions are written in words.cpp and words_layout.cpp. Next: harness.hpp, which compares.
#pragma once

#include "table.hpp"

namespace formulas::reference {

// ---------------------------------------------------------------- terminals
table number(double value);
table whole(std::int64_t value);
table index(int axis, extent n);

// ---------------------------------------------------------------- one element at a time
enum class function {
  negate,
  exponential,
  logarithm,
  square_root,
  reciprocal_root,
  hyperbolic_tangent,
  absolute,
  floor,
  rectify,
  gelu,
  gelu_tanh,
  silu,
  sigmoid
};
table apply(function f, const table& x);
table softcap(const table& x, double cap);
enum class operation { add, subtract, multiply, divide, modulo, smaller, larger, power };
table combine(operation f, const table& left, const table& right);
enum class relation { less, less_equal, greater, greater_equal, equal, unequal };
table compare(relation f, const table& left, const table& right);
table both(const table& left, const table& right);
table either(const table& left, const table& right);
table inverted(const table& x);
table keep_where(const table& keep, const table& x);                                  // where(keep, x)
table choose(const table& c, const table& left, const table& right);                  // where(c, left, right)
table to_real(const table& x);                                                        // cast<float>
table to_whole(const table& x);                                                       // cast<std::int64_t>
table dropout(const axis_list& order, const table& x, double p, std::uint64_t seed);  // order: x's axes in the library
table let(const table& x);

// ---------------------------------------------------------------- many to one
table dot(const axis_list& over, const table& left, const table& right);
table softmax(const axis_list& over, const table& x, const table* sink = nullptr);
table log_sum_exp(const axis_list& over, const table& x, const table* sink = nullptr);
inline table softmax(const axis_list& over, const table& x, const table& sink) { return softmax(over, x, &sink); }
inline table log_sum_exp(const axis_list& over, const table& x, const table& sink) {
  return log_sum_exp(over, x, &sink);
}
/// Attention over two sets of keys from that over each: context and log-sum-exp of the first, then of the second.
std::pair<table, table> combine_contexts(const table& context_a, const table& sum_a, const table& context_b,
                                         const table& sum_b);
table sum(const axis_list& over, const table& x);
table mean(const axis_list& over, const table& x);
table largest(const axis_list& over, const table& x);
table variance(const axis_list& over, const table& x);
table argmax(int axis, const table& x);
table running_sum(int axis, const table& x);
table standardise(int axis, const table& x, bool centred, double eps);

// ---------------------------------------------------------------- other names, other places
table rename(int from, int to, const table& x);
table split(int axis, int major, int minor, extent majors, extent minors, const table& x);
table merge(int major, int minor, int axis, const table& x);
table slice(int axis, extent from, extent to, const table& x);
table at(int axis, extent i, const table& x);
table roll(int axis, extent n, const table& x);
table concat(int axis, const table& x, const table& y);
table stack(int axis, const table& x, const table& y);
table take(int axis, const table& values, const table& ids);
table broadcast(int axis, extent n, const table& x);
table rope(int axis, int position, const table& x, bool halves, double base, const table& past);

}  // namespace formulas::reference

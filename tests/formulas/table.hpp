// SPDX-License-Identifier: BSL-1.0
// In: axes by number, extents. Out: a dense array of float64 numbers or 64-bit integers under these axes, beside each number a
// bound of the error that a machine of the given precision may make, and whether the element is excluded.
// It shares no code with the library: its index arithmetic is its own.
// Next: words.hpp, the words over such tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

namespace formulas {

using extent = std::int64_t;
using axis_list = std::vector<int>;

/// One element of a table of reals.
struct element {
  double value = 0;  // in float64
  double error = 0;  // how far a result in the precision under test may lie from it
  double size = 0;   // the value with every sum taken over absolute terms: what rounding errors are relative to
};
/// Beyond this a float may have overflowed, in a term or on the way to a sum.
inline constexpr double largest_size = 1e36;
/// A result of arithmetic: where it may have overflowed nothing is known of it, nor of what is made of it (1 over it may be 0).
inline element computed(element e) {
  if (e.size > largest_size) e.error = std::numeric_limits<double>::infinity();
  return e;
}

struct table {
  axis_list axes;
  std::vector<extent> extents;
  bool real = true;
  bool truth = false;       // of truth values: 0 and 1 in `whole`
  bool number = false;      // written as a number, not as an expression
  bool sum = false;         // made by + or -, of reals
  bool contracted = false;  // a contraction stands in it
  std::vector<element> reals;
  std::vector<std::int64_t> whole;
  // Only tables of reals have these; empty means: all kept, none of them a softmax's zero.
  std::vector<char> kept;    // what `where` left
  std::vector<char> marked;  // and what no additive -infinity excludes
  std::vector<char> zeroed;  // where a softmax's zero stands for an excluded element

  [[nodiscard]] std::size_t count() const {
    extent n = 1;
    for (const extent e : extents) n *= e;
    return static_cast<std::size_t>(n);
  }
  [[nodiscard]] int place(int axis) const {  // of the axis in the list, or -1
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (axes[i] == axis) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] bool has(int axis) const { return place(axis) >= 0; }
  [[nodiscard]] extent extent_of(int axis) const { return extents[static_cast<std::size_t>(place(axis))]; }
  /// From one element to the next along the axis; 0 where the table lacks it.
  [[nodiscard]] extent stride_of(int axis) const {
    const int at = place(axis);
    if (at < 0) return 0;
    extent n = 1;
    for (std::size_t i = static_cast<std::size_t>(at) + 1; i < extents.size(); ++i) n *= extents[i];
    return n;
  }
  [[nodiscard]] bool keeps(std::size_t i) const { return kept.empty() || kept[i] != 0; }
  [[nodiscard]] bool marks(std::size_t i) const { return marked.empty() || marked[i] != 0; }
  [[nodiscard]] bool zeroes(std::size_t i) const { return !zeroed.empty() && zeroed[i] != 0; }
};

/// The precision under test: half a unit in the last place of 1.
inline double rounding = 0x1p-24;

inline table table_over(axis_list axes, std::vector<extent> extents, bool real = true) {
  table result;
  result.axes = std::move(axes);
  result.extents = std::move(extents);
  result.real = real;
  if (real)
    result.reals.resize(result.count());
  else
    result.whole.resize(result.count());
  return result;
}

/// Calls `visit(i, offsets)` for every element i of a shape, row by row; offsets[t] is the place of the element in table t.
template <std::size_t Tables, class Visit>
void walk(const axis_list& axes, const std::vector<extent>& extents, const table* const (&tables)[Tables],
          Visit visit) {
  const std::size_t rank = axes.size();
  std::vector<extent> steps(rank * Tables), at(rank, 0);
  std::size_t count = 1;
  for (std::size_t a = 0; a < rank; ++a) {
    count *= static_cast<std::size_t>(extents[a]);
    for (std::size_t t = 0; t < Tables; ++t) steps[a * Tables + t] = tables[t]->stride_of(axes[a]);
  }
  std::size_t offsets[Tables] = {};
  for (std::size_t i = 0; i < count; ++i) {
    visit(i, offsets);
    for (std::size_t a = rank; a-- > 0;) {
      const bool ends = ++at[a] == extents[a];
      const extent back = ends ? extents[a] - 1 : -1;  // steps to take back
      for (std::size_t t = 0; t < Tables; ++t) offsets[t] -= static_cast<std::size_t>(back * steps[a * Tables + t]);
      if (!ends) break;
      at[a] = 0;
    }
  }
}

/// The axes of both, left's first, and their extents.
inline table united(const table& left, const table& right, bool real = true) {
  axis_list axes = left.axes;
  std::vector<extent> extents = left.extents;
  for (std::size_t i = 0; i < right.axes.size(); ++i)
    if (!left.has(right.axes[i])) {
      axes.push_back(right.axes[i]);
      extents.push_back(right.extents[i]);
    }
  return table_over(std::move(axes), std::move(extents), real);
}
/// The axes that are not in the list, and their extents.
inline table without(const table& x, const axis_list& list, bool real = true) {
  axis_list axes;
  std::vector<extent> extents;
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    bool listed = false;
    for (const int axis : list) listed = listed || axis == x.axes[i];
    if (listed) continue;
    axes.push_back(x.axes[i]);
    extents.push_back(x.extents[i]);
  }
  return table_over(std::move(axes), std::move(extents), real);
}

}  // namespace formulas

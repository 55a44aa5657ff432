// SPDX-License-Identifier: BSL-1.0
// In: extents. Out: a plain row-major array of doubles, which the references of the tests are written with.
// It shares no code with the library.
// Next: reference.hpp, which computes attention and the other words with loops over grids.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace test {

using std::ptrdiff_t;

/// `grid<2> scores(rows, columns); scores(i, j) = 1;`
template <std::size_t Rank> struct grid {
  std::array<ptrdiff_t, Rank> extents{};
  std::vector<double> numbers = std::vector<double>(1, 0.0);

  grid() = default;

  template <std::integral... Extent>
    requires(sizeof...(Extent) == Rank)
  explicit grid(Extent... extent)
      : extents{static_cast<ptrdiff_t>(extent)...},
        numbers(static_cast<std::size_t>((ptrdiff_t{1} * ... * static_cast<ptrdiff_t>(extent))), 0.0) {}

  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  double& operator()(Index... index) { return numbers[offset({static_cast<ptrdiff_t>(index)...})]; }

  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  double operator()(Index... index) const { return numbers[offset({static_cast<ptrdiff_t>(index)...})]; }

  [[nodiscard]] ptrdiff_t size() const { return static_cast<ptrdiff_t>(numbers.size()); }

  /// Fills the grid with `element(i, j, ...)`.
  template <class Element> grid& assign(Element element) {
    std::array<ptrdiff_t, Rank> at{};
    for (double& number : numbers) {
      number = [&]<std::size_t... I>(std::index_sequence<I...>) { return static_cast<double>(element(at[I]...)); }
      (std::make_index_sequence<Rank>{});
      for (std::size_t axis = Rank; axis-- > 0;) {
        if (++at[axis] < extents[axis]) break;
        at[axis] = 0;
      }
    }
    return *this;
  }

 private:
  [[nodiscard]] std::size_t offset(std::array<ptrdiff_t, Rank> index) const {
    ptrdiff_t at = 0;
    for (std::size_t axis = 0; axis < Rank; ++axis) at = at * extents[axis] + index[axis];
    return static_cast<std::size_t>(at);
  }
};

template <std::integral... Extent> grid(Extent...) -> grid<sizeof...(Extent)>;

/// `make_grid(element, rows, columns)`: the grid with `element(i, j)` at (i, j).
template <class Element, std::integral... Extent> grid<sizeof...(Extent)> make_grid(Element element, Extent... extent) {
  grid<sizeof...(Extent)> result(extent...);
  result.assign(element);
  return result;
}

}  // namespace test

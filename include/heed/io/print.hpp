// SPDX-License-Identifier: BSL-1.0
// In: a tensor or a view. Out: text for people: the type, the axes by name, and the elements as NumPy prints them,
// aligned in columns, with "..." where there are many.
// Not part of heed.hpp: include it where it is wanted. Next to read: ../tensor.hpp.
#pragma once

#include "../tensor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace heed::io {

/// How much of a tensor is printed.
///
///     std::cout << heed::io::printed(gain, {.decimals = 8, .whole = 10'000});
struct print_choices {
  int decimals = 4;           ///< at most so many digits behind the point; zeros at the end are left out
  extent_t whole = 1000;      ///< so many elements are printed all; of more only
  extent_t edge = 3;          ///< so many at both ends of each axis
  std::size_t columns = 100;  ///< longer rows go on in the next line
};

}  // namespace heed::io

namespace heed::detail {

struct printed_word {
  static constexpr std::string_view name = "printed";
};
struct shown_word {
  static constexpr std::string_view name = "operator<<";
};

/// Numbers as text of one width, their points below each other. A number that is rounded to nothing keeps its zeros
/// (0.0000), so that it differs from zero (0.).
inline std::vector<std::string> aligned_numbers(std::vector<double> const& values, int decimals) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  const bool with_exponent = largest >= 1e6 || (largest > 0 && largest < 1e-3);

  struct parts {
    std::string whole, fraction;
  };
  std::vector<parts> texts;
  std::size_t before = 0, behind = 0;
  for (const double value : values) {
    std::array<char, 400> text{};
    if (std::isfinite(value))
      std::snprintf(text.data(), text.size(), with_exponent ? "%.*e" : "%#.*f", decimals, value);
    else
      std::snprintf(text.data(), text.size(), "%s", std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    std::string number = text.data();
    const bool vanished = value != 0 && number.find_first_of("123456789nf") == std::string::npos;
    if (!with_exponent && !vanished && std::isfinite(value)) number.erase(number.find_last_not_of('0') + 1);
    const std::size_t point = std::min(number.find('.'), number.size());
    texts.push_back({number.substr(0, point), number.substr(point)});
    before = std::max(before, texts.back().whole.size());
    behind = std::max(behind, texts.back().fraction.size());
  }
  std::vector<std::string> aligned;
  for (parts const& text : texts)
    aligned.push_back(std::string(before - text.whole.size(), ' ') + text.whole + text.fraction +
                      std::string(behind - text.fraction.size(), ' '));
  return aligned;
}

inline std::vector<std::string> aligned_right(std::vector<std::string> texts) {
  std::size_t width = 0;
  for (std::string const& text : texts) width = std::max(width, text.size());
  for (std::string& text : texts) text.insert(0, width - text.size(), ' ');
  return texts;
}

/// Which places of an axis are printed; a gap stands behind the first `edge` of them where some are left out.
inline std::vector<extent_t> printed_places(extent_t extent, extent_t edge, bool all) {
  std::vector<extent_t> places;
  for (extent_t place = 0; place < extent; ++place)
    if (all || place < edge || place >= extent - edge) places.push_back(place);
  return places;
}

/// Nested brackets around the printed elements, axis by axis.
class bracket_writer {
 public:
  bracket_writer(std::vector<extent_t> extents, std::vector<std::vector<extent_t>> places,
                 std::vector<std::string> cells, io::print_choices const& choices)
      : extents_(std::move(extents)),
        places_(std::move(places)),
        cells_(std::move(cells)),
        choices_(choices) {}

  std::string text() {
    if (extents_.empty()) return cells_.front();
    write(0);
    return std::move(text_);
  }

 private:
  bool gap_behind(std::size_t axis, std::size_t number) const {
    auto const& places = places_[axis];
    return number + 1 < places.size() ? places[number + 1] != places[number] + 1
                                      : places[number] + 1 < extents_[axis];  // an edge of 0: nothing follows
  }

  void write(std::size_t axis) {
    text_ += '[';
    if (axis + 1 == extents_.size())
      write_row(axis);
    else
      for (std::size_t number = 0; number < places_[axis].size(); ++number) {
        const std::string apart = std::string(extents_.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
        if (number > 0) text_ += apart;
        write(axis + 1);
        if (gap_behind(axis, number)) text_ += apart + "...";
      }
    text_ += ']';
  }

  void write_row(std::size_t axis) {
    std::size_t column = axis + 1;
    const auto put = [&](std::string const& word, bool first) {
      if (!first && column + 1 + word.size() > choices_.columns) {
        text_ += '\n' + std::string(axis + 1, ' ');
        column = axis + 1;
      } else if (!first) {
        text_ += ' ';
        ++column;
      }
      text_ += word;
      column += word.size();
    };
    for (std::size_t number = 0; number < places_[axis].size(); ++number) {
      put(cells_[next_++], number == 0);
      if (gap_behind(axis, number)) put("...", false);
    }
  }

  std::vector<extent_t> extents_;
  std::vector<std::vector<extent_t>> places_;
  std::vector<std::string> cells_;
  io::print_choices choices_;
  std::string text_;
  std::size_t next_ = 0;
};

template <class T> std::string storage_name() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_integral_v<T>)
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  else
    return std::string(detail::type_name<T>());
}

template <class T> std::vector<std::string> cells_of(std::vector<T> const& values, io::print_choices const& choices) {
  if constexpr (std::is_same_v<T, bool>) {
    std::vector<std::string> cells;
    for (const bool value : values) cells.push_back(value ? "true" : "false");
    return detail::aligned_right(std::move(cells));
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<std::string> cells;
    for (const T value : values) cells.push_back(std::to_string(value));
    return detail::aligned_right(std::move(cells));
  } else {
    std::vector<double> numbers;
    for (const T value : values) numbers.push_back(static_cast<double>(static_cast<value_of_t<T>>(value)));
    return detail::aligned_numbers(numbers, choices.decimals);
  }
}

template <class T, class... A> std::string printed(leaf<T, axes<A...>> const& x, io::print_choices const& choices) {
  using storage = std::remove_const_t<T>;
  std::string header = detail::storage_name<storage>() + " [";
  ((header +=
    (header.back() == '[' ? "" : ", ") + detail::axis_name<A>() + ' ' + std::to_string(x.template extent<A>())),
   ...);
  header += ']';
  const std::vector<extent_t> extents{x.template extent<A>()...}, strides{x.template stride<A>()...};
  const extent_t size = x.size();
  if (size == 0) return header + " []";

  const bool all = size <= choices.whole;
  std::vector<std::vector<extent_t>> places;
  for (const extent_t extent : extents) places.push_back(detail::printed_places(extent, choices.edge, all));
  std::vector<storage> values;
  const auto collect = [&](auto const& self, std::size_t axis, extent_t offset) -> void {
    if (axis == extents.size()) {
      values.push_back(x.data[offset]);
      return;
    }
    for (const extent_t place : places[axis]) self(self, axis + 1, offset + place * strides[axis]);
  };
  collect(collect, 0, 0);
  return header + (extents.empty() ? " " : "\n") +
         bracket_writer(extents, places, detail::cells_of(values, choices), choices).text();
}

}  // namespace heed::detail

namespace heed::io {

/// The text of a tensor or view, as `std::cout << x` prints it, in the order of the axes of its type:
///
///     std::string text = heed::io::printed(bias);  // float [query 2, key 3]
///                                                  // [[0.5  0.25 0.25]
///                                                  //  [1.   0.   0.  ]]
///
/// Numbers have the points below each other; they have exponents where the largest is 1e6 or more, or below 1e-3.
/// Choices below 0 count as 0, an edge below 1 as 1.
template <heed::detail::stored Elements> std::string printed(Elements const& x, print_choices choices = {}) {
  choices.decimals = std::clamp(choices.decimals, 0, 20);
  choices.edge = std::max<extent_t>(choices.edge, 1);
  return detail::printed(x.heed_leaf(), choices);
}
/// @private
template <heed::detail::expression_like E>
  requires(!heed::detail::stored<E>)
std::string printed(E const&, print_choices = {}) {
  heed::detail::refuse_unevaluated<heed::detail::printed_word, E>();
  return {};
}

}  // namespace heed::io

namespace heed {

/// The text that io::printed makes of a tensor.
///
///     std::cout << weights << '\n';
template <class T, class... A> std::ostream& operator<<(std::ostream& out, tensor<T, A...> const& x) {
  return out << io::printed(x);
}
/// The same of a view.
///
///     std::cout << view<float const, key>(gain.data(), key{16}) << '\n';
template <class T, class... A> std::ostream& operator<<(std::ostream& out, view<T, A...> const& x) {
  return out << io::printed(x);
}

}  // namespace heed

namespace heed::detail {
inline namespace HEED_ARCH {
template <expression_like E>
  requires(!stored<E>)
std::ostream& operator<<(std::ostream& out, E const&) {
  detail::refuse_unevaluated<shown_word, E>();
  return out;
}
}  // namespace HEED_ARCH
}  // namespace heed::detail

// SPDX-License-Identifier: BSL-1.0
// In: a result of the library and what it should be. Out: a verdict for BOOST_TEST that names the worst element.
// The distance is max |a - b| / max(1, |b|); equal infinities and two NaNs agree, anything else with them does not.
// Next: schedules.hpp, which repeats a comparison under every schedule and several numbers of threads.
#pragma once
#include "exceptions.hpp"
#include "reference.hpp"
#include "tensors.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <ios>
#include <sstream>
#include <string>
#include <vector>

namespace test {

inline std::vector<double> numbers_of(std::vector<double> numbers) { return numbers; }
inline std::vector<double> numbers_of(std::initializer_list<double> numbers) { return numbers; }
template <std::size_t Rank> std::vector<double> numbers_of(const grid<Rank>& numbers) { return numbers.numbers; }
template <class Tensor>
  requires requires(const Tensor& tensor) {
    tensor.begin();
    typename Tensor::axes_type;
  }
std::vector<double> numbers_of(const Tensor& tensor) {
  std::vector<double> numbers;
  for (const auto& element : tensor) numbers.push_back(to_number(element));
  return numbers;
}

inline double distance(double got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == want) return 0;
  const double result = std::abs(got - want) / std::max(1.0, std::abs(want));
  return std::isfinite(result) ? result : infinity;
}

/// `BOOST_TEST(agrees(got, want, 1e-5));`
inline verdict agree(const std::vector<double>& got, const std::vector<double>& want, double bound) {
  std::ostringstream text;
  text.precision(9);
  if (got.size() != want.size()) {
    text << got.size() << " elements where " << want.size() << " are right";
    verdict no(false);
    no.message() << text.str();
    return no;
  }
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const double here = distance(got[i], want[i]); here > worst) worst = here, at = i;
  if (worst <= bound) return verdict(true);
  text << "element " << at << " of " << got.size() << " is " << got[at] << ", right is " << want[at] << ", distance "
       << worst << " where " << bound << " is allowed";
  verdict no(false);
  no.message() << text.str();
  return no;
}
template <class Got, class Want> verdict agrees(const Got& got, const Want& want, double bound) {
  return agree(numbers_of(got), numbers_of(want), bound);
}
template <class Got> verdict agrees(const Got& got, std::initializer_list<double> want, double bound) {
  return agree(numbers_of(got), want, bound);
}

/// `BOOST_TEST(equals(got, {1, 2, 3}));`: to the last bit of the number, except that two NaNs agree.
template <class Got, class Want> verdict equals(const Got& got, const Want& want) { return agrees(got, want, 0); }
template <class Got> verdict equals(const Got& got, std::initializer_list<double> want) { return agrees(got, want, 0); }

/// The same bytes in the same order.
template <class Left, class Right> verdict same_bits(const Left& left, const Right& right) {
  using element = typename Left::value_type;
  static_assert(std::is_same_v<element, typename Right::value_type>);
  verdict no(false);
  if (left.size() != right.size()) {
    no.message() << left.size() << " elements against " << right.size();
    return no;
  }
  auto other = right.begin();
  std::ptrdiff_t at = 0;
  for (const auto& one : left) {
    if (std::memcmp(&one, &*other, sizeof(element)) != 0) {
      no.message() << "element " << at << ": " << std::hexfloat << to_number(one) << " against " << to_number(*other);
      return no;
    }
    ++other;
    ++at;
  }
  return verdict(true);
}

}  // namespace test

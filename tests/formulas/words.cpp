// SPDX-License-Identifier: BSL-1.0
// The words that look at one element at a time. Next: words_rows.cpp, those that go over rows.
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace formulas::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

element exact(double value) { return {value, 0, std::isinf(value) ? 0 : std::abs(value)}; }

/// Integers as reals, rounded once where they are large.
table real(const table& x) {
  if (x.real) return x;
  table result = x;
  result.real = true;
  result.truth = false;
  result.whole.clear();
  result.reals.resize(x.whole.size());
  for (std::size_t i = 0; i < x.whole.size(); ++i) {
    result.reals[i] = exact(static_cast<double>(x.whole[i]));
    result.reals[i].error = std::abs(result.reals[i].value) * rounding;
  }
  return result;
}

/// How far f(x + e) lies from f(x) for a monotonic f.
template <class F> double spread(F f, double x, double error, double least = -infinity) {
  return std::max(std::abs(f(x + error) - f(x)), std::abs(f(x) - f(std::max(least, x - error))));
}

element apply_to(function f, const element& x) {
  const double v = x.value, e = x.error, u = rounding, a = std::abs(v);
  const auto plain = [&](double value, double error) { return computed({value, error, std::abs(value)}); };
  switch (f) {
    case function::negate: return {-v, e, x.size};
    case function::absolute: return {a, e, x.size};
    case function::rectify: return {v < 0 ? 0 : v, e, x.size};
    case function::floor: return plain(std::floor(v), e);
    case function::exponential:
      if (v == -infinity) return {0, 0, 0};
      return plain(std::exp(v), std::exp(v) * (std::expm1(e) + u * (2 * a + 4)));
    case function::logarithm:
      return plain(std::log(v),
                   spread([](double z) { return std::log(z); }, v, e, 0) + u * (2 * std::abs(std::log(v)) + 2));
    case function::square_root:
      return plain(std::sqrt(v), spread([](double z) { return std::sqrt(z); }, v, e, 0) + 2 * u * std::sqrt(v));
    case function::reciprocal_root:
      return plain(1 / std::sqrt(v), spread([](double z) { return 1 / std::sqrt(z); }, v, e, 0) + 4 * u / std::sqrt(v));
    case function::hyperbolic_tangent: return plain(std::tanh(v), e + 6 * u * std::min(1.0, a));
    case function::sigmoid: return plain(1 / (1 + std::exp(-v)), e / 4 + 6 * u);
    case function::silu: return {v / (1 + std::exp(-v)), 1.1 * e + 8 * u * a, a};
    case function::gelu: return {v * 0.5 * (1 + std::erf(v * std::sqrt(0.5))), 1.2 * e + 8 * u * a, a};
    case function::gelu_tanh: {
      const double inner = std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v);
      return {v * 0.5 * (1 + std::tanh(inner)), 1.3 * e + 10 * u * a, a};
    }
  }
  return {};
}

element combine_reals(operation f, const element& l, const element& r) {
  const double u = rounding;
  const auto rounded = [&](double value, double size, double error) {
    return computed({value, error + u * size, size});
  };
  switch (f) {
    case operation::add: return rounded(l.value + r.value, l.size + r.size, l.error + r.error);
    case operation::subtract: return rounded(l.value - r.value, l.size + r.size, l.error + r.error);
    case operation::multiply:
      return rounded(l.value * r.value, l.size * r.size, l.size * r.error + r.size * l.error + l.error * r.error);
    case operation::divide: {
      const double least = std::abs(r.value) - r.error, q = l.value / r.value;
      if (!(least > 0)) return {q, infinity, std::abs(q)};
      return rounded(q, 2 * l.size / std::abs(r.value), (l.error + std::abs(q) * r.error) / least);
    }
    case operation::smaller:
    case operation::larger: {
      const bool left = f == operation::smaller ? l.value < r.value : l.value > r.value;
      const double value = l.value != l.value ? l.value : r.value != r.value ? r.value : left ? l.value : r.value;
      return {value, std::max(l.error, r.error), std::max(l.size, r.size)};
    }
    case operation::power: {
      const double value = std::pow(l.value, r.value);
      if (l.value == 0 && l.error == 0) return {value, 0, value};
      const double moved = l.value > l.error ? std::abs(r.value) * l.error / (l.value - l.error) : infinity;
      return rounded(value, std::abs(value),
                     std::abs(value) * (std::expm1(moved) + 8 * u * (1 + std::abs(r.value * std::log(l.value)))));
    }
    case operation::modulo: break;
  }
  return {};
}

// Integers have 64 bits and wrap around; division rounds down; by 0 it gives 0, and so does the remainder.
std::int64_t wrapped(std::uint64_t x) { return static_cast<std::int64_t>(x); }
std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }
std::int64_t quotient(std::int64_t l, std::int64_t r) {
  if (r == 0) return 0;
  if (r == -1) return wrapped(0 - bits(l));
  const std::int64_t q = l / r;
  return l % r != 0 && (l < 0) != (r < 0) ? q - 1 : q;
}
std::int64_t combine_integers(operation f, std::int64_t l, std::int64_t r) {
  switch (f) {
    case operation::add: return wrapped(bits(l) + bits(r));
    case operation::subtract: return wrapped(bits(l) - bits(r));
    case operation::multiply: return wrapped(bits(l) * bits(r));
    case operation::divide: return quotient(l, r);
    case operation::modulo: return r == 0 ? 0 : wrapped(bits(l) - bits(quotient(l, r)) * bits(r));
    case operation::smaller: return std::min(l, r);
    case operation::larger: return std::max(l, r);
    case operation::power: break;
  }
  return 0;
}

/// An operand of + or - that excludes where it is -infinity (+infinity behind a minus).
bool is_term(const table& x) { return x.real && !x.number && !x.contracted && !x.sum; }

/// A softmax's zero is 0, whatever it was multiplied by since. Beside another softmax's it is what was computed.
element of_zero(const table& x, const table& other, std::size_t at) {
  return x.zeroes(at) && other.zeroed.empty() ? exact(0) : x.reals[at];
}
void combine_exclusions(operation f, const table& l, const table& r, table& y) {
  const bool sum = f == operation::add || f == operation::subtract;
  const bool terms = sum && (is_term(l) || is_term(r));
  const bool keeps = !l.kept.empty() || !r.kept.empty();
  const bool marks = terms || keeps || !l.marked.empty() || !r.marked.empty();
  const bool zeroes = !l.zeroed.empty() || !r.zeroed.empty();
  const std::size_t count = y.count();
  if (keeps) y.kept.resize(count);
  if (marks) y.marked.resize(count);
  if (zeroes) y.zeroed.resize(count);
  if (!marks && !zeroes) return;
  const table* const tables[] = {&l, &r};
  const double excluded = f == operation::subtract ? infinity : -infinity;
  walk(y.axes, y.extents, tables, [&](std::size_t i, const std::size_t(&o)[2]) {
    if (keeps) y.kept[i] = l.keeps(o[0]) && r.keeps(o[1]);
    if (marks)
      y.marked[i] = l.keeps(o[0]) && r.keeps(o[1]) && l.marks(o[0]) && r.marks(o[1]) &&
                    !(sum && is_term(l) && l.reals[o[0]].value == -infinity) &&
                    !(sum && is_term(r) && r.reals[o[1]].value == excluded);
    if (!zeroes) return;
    if (f == operation::multiply)
      y.zeroed[i] = l.zeroes(o[0]) || r.zeroes(o[1]);
    else if (f == operation::divide)
      y.zeroed[i] = l.zeroes(o[0]);
    else if (sum)
      y.zeroed[i] = l.zeroes(o[0]) && r.zeroes(o[1]);
    else if (l.zeroes(o[0]) || r.zeroes(o[1]))  // what the smaller, the larger or the power leaves at 0
      y.zeroed[i] = combine_reals(f, of_zero(l, r, o[0]), of_zero(r, l, o[1])).value == 0;
  });
}

}  // namespace

table number(double value) {
  table result = table_over({}, {});
  result.reals[0] = exact(value);
  result.number = true;
  return result;
}
table whole(std::int64_t value) {
  table result = table_over({}, {}, false);
  result.whole[0] = value;
  result.number = true;
  return result;
}
table index(int axis, extent n) {
  table result = table_over({axis}, {n}, false);
  for (extent i = 0; i < n; ++i) result.whole[static_cast<std::size_t>(i)] = i;
  return result;
}

table apply(function f, const table& x) {
  table result = x;
  result.sum = result.number = false;
  // a softmax's zero that stays a zero stays excluded
  if (f != function::negate && f != function::absolute && f != function::rectify && f != function::square_root &&
      f != function::hyperbolic_tangent && f != function::floor && f != function::gelu && f != function::gelu_tanh &&
      f != function::silu)
    result.zeroed.clear();
  for (element& e : result.reals) e = apply_to(f, e);
  for (std::int64_t& n : result.whole) {
    const std::int64_t negated = wrapped(0 - bits(n));
    n = f == function::negate     ? negated
        : f == function::absolute ? (n < 0 ? negated : n)
                                  : std::max<std::int64_t>(n, 0);
  }
  return result;
}
table softcap(const table& x, double cap) {
  table result = x;
  result.sum = false;
  if (cap == 0 || std::isinf(cap)) return result;
  for (element& e : result.reals)
    e = {cap * std::tanh(e.value / cap), e.error + 8 * rounding * std::min(cap, std::abs(e.value)), std::abs(e.value)};
  return result;
}
table combine(operation f, const table& left, const table& right) {
  const bool reals = left.real || right.real;
  const table l = reals ? real(left) : left, r = reals ? real(right) : right;
  table result = united(l, r, reals);
  result.contracted = l.contracted || r.contracted;
  result.sum = reals && (f == operation::add || f == operation::subtract);
  const table* const tables[] = {&l, &r};
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[2]) {
    if (reals)
      result.reals[i] = combine_reals(f, l.reals[o[0]], r.reals[o[1]]);
    else
      result.whole[i] = combine_integers(f, l.whole[o[0]], r.whole[o[1]]);
  });
  if (reals) combine_exclusions(f, l, r, result);
  return result;
}
table compare(relation f, const table& left, const table& right) {
  const bool reals = left.real || right.real;
  const table l = reals ? real(left) : left, r = reals ? real(right) : right;
  table result = united(l, r, false);
  result.truth = true;
  const auto holds = [f](auto a, auto b) {
    switch (f) {
      case relation::less: return a < b;
      case relation::less_equal: return a <= b;
      case relation::greater: return a > b;
      case relation::greater_equal: return a >= b;
      case relation::equal: return a == b;
      case relation::unequal: return a != b;
    }
    return false;
  };
  const table* const tables[] = {&l, &r};
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[2]) {
    result.whole[i] = reals ? holds(l.reals[o[0]].value, r.reals[o[1]].value) : holds(l.whole[o[0]], r.whole[o[1]]);
  });
  return result;
}
table both(const table& left, const table& right) {
  table result = united(left, right, false);
  result.truth = true;
  const table* const tables[] = {&left, &right};
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[2]) {
    result.whole[i] = left.whole[o[0]] != 0 && right.whole[o[1]] != 0;
  });
  return result;
}
table either(const table& left, const table& right) { return inverted(both(inverted(left), inverted(right))); }
table inverted(const table& x) {
  table result = x;
  result.truth = true;
  for (std::int64_t& n : result.whole) n = n == 0;
  return result;
}
table keep_where(const table& keep, const table& x) {
  table result = x;
  result.sum = false;
  result.kept.resize(x.count());
  result.marked.resize(x.count());
  const table* const tables[] = {&keep};
  walk(x.axes, x.extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) {
    result.kept[i] = keep.whole[o[0]] != 0 && x.keeps(i);
    result.marked[i] = result.kept[i] && x.marks(i);
  });
  return result;
}
table choose(const table& c, const table& left, const table& right) {
  const bool reals = left.real || right.real;
  const table l = reals ? real(left) : left, r = reals ? real(right) : right;
  // a choice is an operation like any other: kept where both branches are
  table result = united(united(l, r, reals), c, reals);
  result.truth = left.truth && right.truth;
  result.contracted = l.contracted || r.contracted;
  if (reals) {
    table exclusions = united(l, r);
    combine_exclusions(operation::smaller, l, r, exclusions);
    exclusions.zeroed.clear();
    const auto spread_flags = [&](const std::vector<char>& from, std::vector<char>& to) {
      if (from.empty()) return;
      to.resize(result.count());
      const table* const tables[] = {&exclusions};
      walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) { to[i] = from[o[0]]; });
    };
    spread_flags(exclusions.kept, result.kept);
    spread_flags(exclusions.marked, result.marked);
  }
  const bool zeroes = reals && (!l.zeroed.empty() || !r.zeroed.empty());
  if (zeroes) result.zeroed.resize(result.count());
  const table* const tables[] = {&c, &l, &r};
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[3]) {
    const bool first = c.whole[o[0]] != 0;
    if (reals)
      result.reals[i] = first ? l.reals[o[1]] : r.reals[o[2]];
    else
      result.whole[i] = first ? l.whole[o[1]] : r.whole[o[2]];
    if (zeroes && (l.zeroes(o[1]) || r.zeroes(o[2])))
      result.zeroed[i] = (first ? of_zero(l, r, o[1]) : of_zero(r, l, o[2])).value == 0;
  });
  return result;
}
table to_real(const table& x) { return real(x); }
table to_whole(const table& x) {
  table result = x;
  result.truth = false;
  return result;
}

// The counter that docs/expressions.md promises: seed and coordinates alone decide. What it mixes is written out here, so that a
// change of it is noticed.
table dropout(const axis_list& order, const table& x, double p, std::uint64_t seed) {
  const auto finalise = [](std::uint64_t n) {
    n += 0x9e3779b97f4a7c15U;
    n = (n ^ n >> 30U) * 0xbf58476d1ce4e5b9U;
    n = (n ^ n >> 27U) * 0x94d049bb133111ebU;
    return n ^ n >> 31U;
  };
  constexpr std::uint64_t mixer = 0xd6e8feb86659fd93U;
  table result = x;
  result.sum = false;
  const std::uint64_t start = finalise(seed);
  const double limit = std::min(std::trunc(p * 0x1p32 - 0x1p31), 0x1p31 - 1);
  const auto drops = [&](std::uint64_t words) {
    std::uint64_t product = ((words & 0xffffffffU) * (words >> 32U | 1U)) & 0xffffffffU;
    product = (((product ^ product >> 15U) * 0x846ca68bU) & 0xffffffffU) | 1U;
    return (product < 0x80000000U ? static_cast<double>(product) : static_cast<double>(product) - 0x1p32) <= limit;
  };
  for (std::size_t i = 0; i < result.reals.size(); ++i) {
    std::uint64_t words = 0;
    for (std::size_t a = 0; a < order.size(); ++a) {
      const extent coordinate = static_cast<extent>(i) / x.stride_of(order[a]) % x.extent_of(order[a]);
      words ^= finalise((start + a * mixer) ^ bits(coordinate));
    }
    element& e = result.reals[i];
    if (drops(words))
      e = {0, 0, 0};
    else
      e = combine_reals(operation::multiply, e, {1 / (1 - p), rounding / (1 - p), 1 / (1 - p)});
  }
  return result;
}
table let(const table& x) {
  table result = x;
  result.sum = result.number = false;
  return result;
}

}  // namespace formulas::reference

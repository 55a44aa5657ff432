// SPDX-License-Identifier: BSL-1.0
// In: a flat tree and a box (half-open ranges of the stage's axes). Out: an interval that holds every value of the tree on the
// box, and from it whether a mask excludes all of the box, keeps all of it, or has to be looked at. Always outward: a box is
// never misclassified, at worst "look".
// Next to read: lower.hpp, from an expression to stages.
#pragma once

#include "tree.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace heed::plan {
inline namespace HEED_ARCH {

struct interval {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};
inline interval unknown() { return {}; }
inline bool is_unknown(interval a) {
  return a.low == -std::numeric_limits<double>::infinity() && a.high == std::numeric_limits<double>::infinity();
}

/// Integers are exact in a double up to 2^53; beyond, and near the wrap at 2^63, the interval gives way.
inline interval integer(interval a) {
  constexpr double exact = 9007199254740992.0, wraps = 9.2233720368547e18;
  if (!(a.low >= -wraps) || !(a.high <= wraps)) return unknown();
  return {std::abs(a.low) < exact ? a.low : a.low - 2048, std::abs(a.high) < exact ? a.high : a.high + 2048};
}

/// Reals are rounded, and may leave what their type holds on either side: the bounds are of double, the values of T.
template <class T> interval rounded(interval a) {
  using limits = std::numeric_limits<T>;
  constexpr double infinity = std::numeric_limits<double>::infinity(), half = 0.51 * limits::epsilon();
  auto outward = [&](double x, double way) {
    if (std::abs(x) == infinity) return x;
    x += way * (std::abs(x) * half + limits::min());  // subnormal results may be flushed to 0
    return std::abs(x) < limits::max() ? x
           : x > 0                     ? (way > 0 ? infinity : limits::max())
           : way > 0                   ? -limits::max()
                                       : -infinity;
  };
  return {outward(a.low, -1), outward(a.high, 1)};
}

// ---------------------------------------------------------------- operations
/// What rounds its result; the others choose among values or change a sign.
template <class Op>
inline constexpr bool rounds = std::is_same_v<Op, ops::plus> || std::is_same_v<Op, ops::minus> ||
                               std::is_same_v<Op, ops::times> || std::is_same_v<Op, ops::divided>;

inline double product_bound(double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; }
inline bool may_be_infinite(interval a) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return a.low == -infinity || a.high == infinity;
}
inline interval multiply(interval a, interval b) {
  bool const nan =
      (may_be_infinite(a) && b.low <= 0 && b.high >= 0) || (may_be_infinite(b) && a.low <= 0 && a.high >= 0);
  if (nan) return unknown();  // 0 times infinity
  double const p[] = {plan::product_bound(a.low, b.low), plan::product_bound(a.low, b.high),
                      plan::product_bound(a.high, b.low), plan::product_bound(a.high, b.high)};
  interval r{p[0], p[0]};
  for (double x : p) r = {x < r.low ? x : r.low, x > r.high ? x : r.high};
  return r;
}
template <class Op> struct bound_rule {
  template <class... I> static interval go(Op const&, I...) { return unknown(); }
};
template <> struct bound_rule<ops::plus> {
  static interval go(ops::plus, interval a, interval b) {
    if (is_unknown(a) || is_unknown(b)) return unknown();
    interval r{a.low + b.low, a.high + b.high};
    return r.low != r.low || r.high != r.high ? unknown() : r;
  }
};
template <> struct bound_rule<ops::minus> {
  static interval go(ops::minus, interval a, interval b) { return bound_rule<ops::plus>::go({}, a, {-b.high, -b.low}); }
};
template <> struct bound_rule<ops::times> {
  static interval go(ops::times, interval a, interval b) {
    if (is_unknown(a) || is_unknown(b)) return unknown();
    return plan::multiply(a, b);
  }
};
template <> struct bound_rule<ops::negated> {
  static interval go(ops::negated, interval a) { return {-a.high, -a.low}; }
};
template <> struct bound_rule<ops::divided> {
  static interval go(ops::divided, interval a, interval b) {
    if (is_unknown(a) || !(b.low > 0) || b.high == std::numeric_limits<double>::infinity()) return unknown();
    return plan::multiply(a, {1 / b.high * (1 - 1e-15), 1 / b.low * (1 + 1e-15)});
  }
};
template <> struct bound_rule<ops::floor_divided> {
  static interval go(ops::floor_divided, interval a, interval b) {
    constexpr double exact = 9007199254740992.0;
    if (!(b.low >= 1) || !(a.low >= -exact) || !(a.high <= exact) || b.high > exact) return unknown();
    double const q[] = {std::floor(a.low / b.low), std::floor(a.low / b.high), std::floor(a.high / b.low),
                        std::floor(a.high / b.high)};
    interval r{q[0], q[0]};
    for (double x : q) r = {x < r.low ? x : r.low, x > r.high ? x : r.high};
    // a quotient that the division rounded up to a whole number would be one too large
    return {r.low - (std::abs(a.low) > 1e15 ? 1 : 0), r.high + (std::abs(a.high) > 1e15 ? 1 : 0)};
  }
};
template <> struct bound_rule<ops::modulo> {
  static interval go(ops::modulo, interval a, interval b) {
    if (!(b.low >= 1) || b.high > 9e15) return unknown();
    if (b.low == b.high && a.low >= -9e15 && a.high <= 9e15 &&
        std::floor(a.low / b.low) == std::floor(a.high / b.low)) {
      double const q = std::floor(a.low / b.low) * b.low;  // one period: the remainder rises with a
      return {a.low - q, a.high - q};
    }
    return {0, b.high - 1};
  }
};
template <> struct bound_rule<ops::minimum> {
  static interval go(ops::minimum, interval a, interval b) {
    return is_unknown(a) || is_unknown(b) ? unknown() : interval{std::min(a.low, b.low), std::min(a.high, b.high)};
  }
};
template <> struct bound_rule<ops::maximum> {
  static interval go(ops::maximum, interval a, interval b) {
    return is_unknown(a) || is_unknown(b) ? unknown() : interval{std::max(a.low, b.low), std::max(a.high, b.high)};
  }
};
template <> struct bound_rule<ops::absolute> {
  static interval go(ops::absolute, interval a) {
    if (is_unknown(a)) return a;
    if (a.low >= 0) return a;
    return a.high <= 0 ? interval{-a.high, -a.low} : interval{0, std::max(-a.low, a.high)};
  }
};
template <class T> struct bound_rule<ops::cast_to<T>> {
  static interval go(ops::cast_to<T>, interval a) {
    if constexpr (std::is_same_v<T, bool>) {
      if (a.low > 0 || a.high < 0) return {1, 1};
      return a.low == 0 && a.high == 0 ? interval{0, 0} : interval{0, 1};
    } else if constexpr (is_real<T>)
      return is_unknown(a) ? a : interval{a.low - std::abs(a.low) * 1e-7, a.high + std::abs(a.high) * 1e-7};
    else
      return is_unknown(a) ? a : interval{std::floor(a.low), std::ceil(a.high)};
  }
};
inline interval truth(bool certain, bool impossible) {
  return certain ? interval{1, 1} : impossible ? interval{0, 0} : interval{0, 1};
}
template <> struct bound_rule<ops::less> {
  static interval go(ops::less, interval a, interval b) {
    return plan::truth(a.high < b.low, a.low >= b.high && !is_unknown(a) && !is_unknown(b));
  }
};
template <> struct bound_rule<ops::less_equal> {
  static interval go(ops::less_equal, interval a, interval b) {
    return plan::truth(a.high <= b.low && !is_unknown(a) && !is_unknown(b), a.low > b.high);
  }
};
template <class Q, class K> struct bound_rule<ops::diagonal<Q, K>> {
  static interval go(ops::less_equal, interval a, interval b) { return bound_rule<ops::less_equal>::go({}, a, b); }
};
template <> struct bound_rule<ops::greater> {
  static interval go(ops::greater, interval a, interval b) { return bound_rule<ops::less>::go({}, b, a); }
};
template <> struct bound_rule<ops::greater_equal> {
  static interval go(ops::greater_equal, interval a, interval b) { return bound_rule<ops::less_equal>::go({}, b, a); }
};
template <> struct bound_rule<ops::equal> {
  static interval go(ops::equal, interval a, interval b) {
    return plan::truth(a.low == a.high && b.low == b.high && a.low == b.low && std::abs(a.low) < 9e15,
                       a.high < b.low || b.high < a.low);
  }
};
template <> struct bound_rule<ops::not_equal> {
  static interval go(ops::not_equal, interval a, interval b) {
    interval const e = bound_rule<ops::equal>::go({}, a, b);
    return {1 - e.high, 1 - e.low};
  }
};
template <> struct bound_rule<ops::both> {
  static interval go(ops::both, interval a, interval b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
};
template <> struct bound_rule<ops::either> {
  static interval go(ops::either, interval a, interval b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }
};
template <> struct bound_rule<ops::inverted> {
  static interval go(ops::inverted, interval a) { return {1 - a.high, 1 - a.low}; }
};
template <> struct bound_rule<ops::chosen> {
  static interval go(ops::chosen, interval c, interval a, interval b) {
    if (c.low == 1) return a;
    if (c.high == 0) return b;
    return is_unknown(a) || is_unknown(b) ? unknown() : interval{std::min(a.low, b.low), std::max(a.high, b.high)};
  }
};

// ---------------------------------------------------------------- nodes
template <class SA, class N> struct bound_of {  // softmax rows, slots, whatever is not known before it is computed
  static interval go(N const&, extent_t const*, extent_t const*) {
    if constexpr (std::is_same_v<typename N::value_type, bool>) return {0, 1};
    return unknown();
  }
};
/// Smallest and largest of what was looked at, and whether a NaN was among it. By vectors of the compiler's, two at a time, so
/// that a mask or a bias is read at the speed of the cache, however little is optimised. Looking twice changes nothing, so the
/// last vector of a run may begin before the one in front of it ends.
template <class V> struct extremes {
  using number = std::conditional_t<std::is_same_v<V, bool>, unsigned char, V>;
  using limits = std::numeric_limits<number>;
  number smallest = is_real<V> ? limits::infinity() : limits::max();
  number largest = is_real<V> ? -limits::infinity() : limits::lowest();
  bool nan = false;

  template <int Bytes> struct chain {
    static constexpr extent_t at_once = Bytes / static_cast<extent_t>(sizeof(number));
    typedef number lanes __attribute__((vector_size(Bytes)));
    lanes low, high;
    decltype(lanes{} !=
             lanes{}) size{};  // the largest of all bit patterns without their signs: a NaN's is above infinity's

    explicit chain(extremes const& e) : low(lanes{} + e.smallest), high(lanes{} + e.largest) {}
    void look(V const* p) {
      lanes v;
      std::memcpy(&v, p, sizeof v);
      low = v < low ? v : low;
      high = v > high ? v : high;
      if constexpr (is_real<V>) {
        decltype(size) bits;
        std::memcpy(&bits, p, sizeof bits);
        bits &= std::numeric_limits<std::remove_cvref_t<decltype(bits[0])>>::max();
        size = bits > size ? bits : size;
      }
    }
    void finish(extremes& e) const {
      for (extent_t u = 0; u < at_once; ++u) {
        e.smallest = low[u] < e.smallest ? low[u] : e.smallest;
        e.largest = high[u] > e.largest ? high[u] : e.largest;
        if constexpr (is_real<V>)
          e.nan |= size[u] > std::bit_cast<std::remove_cvref_t<decltype(size[u])>>(limits::infinity());
      }
    }
  };
  chain<64> one{*this}, other{*this};
  chain<16> few{*this};

  void look(V const* p, extent_t n, extent_t step) {
    static_assert(sizeof(V) == sizeof(number));
    constexpr extent_t many = chain<64>::at_once, some = chain<16>::at_once;
    extent_t j = 0;
    if (step == 1 && n >= many) {
      for (; j + 2 * many <= n; j += 2 * many) one.look(p + j), other.look(p + j + many);
      if (j + many <= n) one.look(p + j);
      if (n % many != 0) other.look(p + n - many);
      return;
    }
    if (step == 1 && n >= some) {
      for (; j + some <= n; j += some) few.look(p + j);
      if (j < n) few.look(p + n - some);
      return;
    }
    for (; j < n; ++j) add(static_cast<number>(p[j * step]));
  }
  void add(number v) {
    smallest = v < smallest ? v : smallest;
    largest = v > largest ? v : largest;
    nan |= v != v;
  }
  /// Folds the vectors into smallest, largest and nan.
  void finish() { one.finish(*this), other.finish(*this), few.finish(*this); }
};

/// Smallest and largest element of a leaf on a box, by looking, where the box is small enough.
template <class SA, class T, class... A>
interval scan_leaf(leaf<T, axes<A...>> const& l, extent_t const* low, extent_t const* high) {
  using V = value_of_t<T>;
  extent_t lo[sizeof...(A) + 1] = {}, n[sizeof...(A) + 1] = {}, volume = 1;
  int i = 0;
  [[maybe_unused]] auto range = [&]<class X>(type_tag<X>) {
    extent_t const a = low[index_of<X, SA>], b = high[index_of<X, SA>];
    lo[i] = a;
    n[i++] = b - a;
    volume *= b - a;
  };
  (range(type_tag<A>{}), ...);
  interval none = unknown();
  if constexpr (std::is_same_v<V, bool>) none = {0, 1};
  if (volume <= 0 || !l.data) return none;
  constexpr int rank = static_cast<int>(sizeof...(A));
  extent_t base = 0, first = 0, reach = 1;  // from the first element to the last of those that the box touches
  int inner_axis = rank - 1;
  for (int a = 0; a < rank; ++a) {
    extent_t const way = (n[a] - 1) * l.strides[a];
    base += lo[a] * l.strides[a];
    first += std::min<extent_t>(0, way);
    reach += std::abs(way);
    if (std::abs(l.strides[a]) == 1 && n[a] > 1) inner_axis = a;
  }
  if (std::min(volume, reach) > loops::scan_limit) return none;
  extremes<V> seen;
  auto look = [&](T const* p, extent_t count, extent_t step) {
    if constexpr (std::is_same_v<std::remove_const_t<T>, V>)
      seen.look(p, count, step);
    else
      for (extent_t j = 0; j < count; ++j) {
        V const v = static_cast<V>(p[j * step]);
        seen.look(&v, 1, 1);
      }
  };
  if (reach < volume) {  // strides that meet elements again and again: all that lies between is looked at once
    look(l.data + base + first, reach, 1);
  } else {
    int row_axis = rank - 1;  // walked without looking its place up anew
    while (row_axis > 0 && (row_axis == inner_axis || n[row_axis] == 1)) --row_axis;
    if (row_axis == inner_axis) row_axis = -1;
    extent_t at[sizeof...(A) + 1] = {};
    extent_t const inner = rank ? n[inner_axis] : 1, step = rank ? l.strides[inner_axis] : 0;
    extent_t const rows = row_axis >= 0 ? n[row_axis] : 1, row_step = row_axis >= 0 ? l.strides[row_axis] : 0;
    if (step == -1) base -= inner - 1;
    for (extent_t done = 0; done < volume; done += inner * rows) {
      extent_t o = base;
      for (int a = 0; a < rank; ++a) o += at[a] * l.strides[a];
      for (extent_t r = 0; r < rows; ++r) look(l.data + o + r * row_step, inner, step == -1 ? 1 : step);
      for (int a = rank; a-- > 0;) {
        if (a == inner_axis || a == row_axis) continue;
        if (++at[a] < n[a]) break;
        at[a] = 0;
      }
    }
  }
  seen.finish();
  if (seen.nan || (std::is_same_v<V, bool> && seen.smallest != seen.largest)) return none;
  interval r{static_cast<double>(seen.smallest), static_cast<double>(seen.largest)};
  if constexpr (is_real<V>) {  // streams take subnormal numbers for 0
    constexpr double normal = std::numeric_limits<V>::min();
    if (r.low > 0 && r.low < normal) r.low = 0;
    if (r.high < 0 && r.high > -normal) r.high = 0;
  }
  return is_integer<V> ? plan::integer(r) : r;
}
template <class SA, class T, class A> struct bound_of<SA, leaf<T, A>> {
  static interval go(leaf<T, A> const& l, extent_t const* low, extent_t const* high) {
    return plan::scan_leaf<SA>(l, low, high);
  }
};
template <class SA, class T> struct bound_of<SA, scalar<T>> {
  static interval go(scalar<T> const& n, extent_t const*, extent_t const*) {
    double const v = static_cast<double>(n.value);
    if (v != v) return unknown();
    return is_integer<T> && std::abs(v) > 9e15 ? interval{v - 2048, v + 2048} : interval{v, v};
  }
};
template <class SA, class A> struct bound_of<SA, index_node<A>> {
  static interval go(index_node<A> const&, extent_t const* low, extent_t const* high) {
    return {static_cast<double>(low[index_of<A, SA>]), static_cast<double>(high[index_of<A, SA>] - 1)};
  }
};
template <class SA, class Op, class T, class A, class... E> struct bound_of<SA, map<Op, T, A, E...>> {
  static interval go(map<Op, T, A, E...> const& n, extent_t const* low, extent_t const* high) {
    interval r = [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (std::is_same_v<Op, ops::first_of>)
        return bound_of<SA, std::remove_cvref_t<decltype(n.template operand<0>())>>::go(n.template operand<0>(), low,
                                                                                        high);
      else
        return bound_rule<Op>::go(n.op, bound_of<SA, E>::go(n.template operand<I>(), low, high)...);
    }
    (std::index_sequence_for<E...>{});
    if constexpr (std::is_same_v<T, bool>)
      return {r.low > 0 ? 1.0 : 0.0, r.high < 1 ? 0.0 : 1.0};
    else if constexpr (is_integer<T>)
      return plan::integer(r);
    else if constexpr (rounds<Op>)
      return plan::rounded<T>(r);
    else
      return r;
  }
};
template <class SA, class M, class X> struct bound_of<SA, where_node<M, X>> {
  static interval go(where_node<M, X> const& n, extent_t const* low, extent_t const* high) {
    return bound_of<SA, X>::go(n.operand, low, high);
  }
};
template <class SA, class E> struct bound_of<SA, term_node<E>> {
  static interval go(term_node<E> const& n, extent_t const* low, extent_t const* high) {
    return bound_of<SA, E>::go(n.operand, low, high);
  }
};
/// The table on the box that is the ids' interval along A; a table may itself be gathered (a layout by blocks of both axes).
template <class SA, class A, class Axes, class Table, class Ids> struct bound_of<SA, take_node<A, Axes, Table, Ids>> {
  using Inner = unite<typename Table::axes_type, SA>;  // the table's axes shadow the result's of the same name
  static interval go(take_node<A, Axes, Table, Ids> const& n, extent_t const* low, extent_t const* high) {
    interval const ids = bound_of<SA, Ids>::go(n.ids, low, high);
    double const last = static_cast<double>(n.table.template extent<A>()) - 1;
    interval none = unknown();
    if constexpr (std::is_same_v<typename Table::value_type, bool>) none = {0, 1};
    if (last < 0) return none;
    double const from = std::max(ids.low, 0.0), to = std::min(ids.high, last);
    if (!(from <= to)) return none;
    extent_t inner_low[Inner::rank + 1] = {}, inner_high[Inner::rank + 1] = {};
    plan::widen<Inner, SA>(low, inner_low);
    plan::widen<Inner, SA>(high, inner_high);
    inner_low[index_of<A, Inner>] = static_cast<extent_t>(from);
    inner_high[index_of<A, Inner>] = static_cast<extent_t>(to) + 1;
    return bound_of<Inner, Table>::go(n.table, inner_low, inner_high);
  }
};

// ---------------------------------------------------------------- what is kept: 0 nothing, 2 all, 1 look
inline int keeps_both(int a, int b) { return a == 0 || b == 0 ? 0 : a == 2 && b == 2 ? 2 : 1; }
inline int keeps_of(interval truth) { return truth.low >= 1 ? 2 : truth.high <= 0 ? 0 : 1; }

template <class SA, class N> struct keeps {
  static int go(N const&, extent_t const*, extent_t const*) { return 2; }
};
template <class SA, class M, class X> struct keeps<SA, where_node<M, X>> {
  static int go(where_node<M, X> const& n, extent_t const* low, extent_t const* high) {
    int const k = plan::keeps_of(bound_of<SA, M>::go(n.keep, low, high));
    return k == 0 ? 0 : plan::keeps_both(k, keeps<SA, X>::go(n.operand, low, high));
  }
};
template <class SA, class E> struct keeps<SA, term_node<E>> {
  static int go(term_node<E> const& n, extent_t const* low, extent_t const* high) {
    int k = 2;
    if (!n.all_kept) {
      interval const v = bound_of<SA, E>::go(n.operand, low, high);
      k = v.low == n.excluded && v.high == n.excluded ? 0 : v.low > n.excluded || v.high < n.excluded ? 2 : 1;
    }
    return plan::keeps_both(k, keeps<SA, E>::go(n.operand, low, high));
  }
};
template <class SA, class Op, class T, class A, class... E> struct keeps<SA, map<Op, T, A, E...>> {
  static int go(map<Op, T, A, E...> const& n, extent_t const* low, extent_t const* high) {
    int k = 2;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((k = k == 0 ? 0 : plan::keeps_both(k, keeps<SA, E>::go(n.template operand<I>(), low, high))), ...);
    }
    (std::index_sequence_for<E...>{});
    return k;
  }
};
template <class SA, class N> int classify(void const* node, extent_t const* low, extent_t const* high) {
  return keeps<SA, N>::go(*static_cast<N const*>(node), low, high);
}

// ---------------------------------------------------------------- the same without looking at terms
/// 3: kept unless the value is -infinity or NaN, which an excluded term of a sum makes it, whatever is added to it. Only where
/// nothing but sums lies around the term.
template <class SA, class N> struct guesses {
  static constexpr bool differs = false;
  static int go(N const& n, extent_t const* low, extent_t const* high) { return keeps<SA, N>::go(n, low, high); }
};
inline int guesses_both(int a, int b) { return a == 0 || b == 0 ? 0 : a == 1 || b == 1 ? 1 : std::max(a, b); }

template <class SA, class M, class X> struct guesses<SA, where_node<M, X>> {
  static constexpr bool differs = guesses<SA, X>::differs;
  static int go(where_node<M, X> const& n, extent_t const* low, extent_t const* high) {
    int const k = plan::keeps_of(bound_of<SA, M>::go(n.keep, low, high));
    return k == 0 ? 0 : plan::guesses_both(k, guesses<SA, X>::go(n.operand, low, high));
  }
};
template <class SA, class T, class A> struct guesses<SA, term_node<leaf<T, A>>> {
  static constexpr bool differs = true;
  static int go(term_node<leaf<T, A>> const& n, extent_t const*, extent_t const*) { return n.all_kept ? 2 : 3; }
};
template <class N> inline constexpr bool is_leaf_term = false;
template <class T, class A> inline constexpr bool is_leaf_term<term_node<leaf<T, A>>> = true;
template <class SA, class Op, class T, class A, class L, class R>
  requires(std::is_same_v<Op, ops::plus> || std::is_same_v<Op, ops::minus>)
struct guesses<SA, map<Op, T, A, L, R>> {
  /// The right side of a minus is a term or nothing: within it -infinity would become +infinity.
  static constexpr bool right = std::is_same_v<Op, ops::plus> || is_leaf_term<R>;
  static constexpr bool differs = guesses<SA, L>::differs || (right && guesses<SA, R>::differs);
  static int go(map<Op, T, A, L, R> const& n, extent_t const* low, extent_t const* high) {
    int const k = guesses<SA, L>::go(n.template operand<0>(), low, high);
    if (k == 0) return 0;
    return plan::guesses_both(
        k, std::conditional_t<right, guesses<SA, R>, keeps<SA, R>>::go(n.template operand<1>(), low, high));
  }
};
template <class SA, class N> int guess(void const* node, extent_t const* low, extent_t const* high) {
  return guesses<SA, N>::go(*static_cast<N const*>(node), low, high);
}

}  // namespace HEED_ARCH
}  // namespace heed::plan

// SPDX-License-Identifier: BSL-1.0
// In: integer trees over coordinates, index<key>() - index<query>() and the like. Out: their values along a vector of lanes as
// first, first + step, ..., found by a few scalar instructions: a distance becomes a real number, and a comparison of
// positions a mask, without vectors of 64-bit integers.
// Next to read: tree.hpp, which takes this way where it can.
#pragma once

#include "bare.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

/// first, first + step, first + 2 step, ... modulo 2^64, as the operators of std::int64_t count here; or nothing so even.
struct progression {
  std::uint64_t first = 0, step = 0;
  bool even = true;

  friend HEED_INLINE progression operator+(progression a, progression b) {
    return {a.first + b.first, a.step + b.step, a.even && b.even};
  }
  friend HEED_INLINE progression operator-(progression a, progression b) {
    return {a.first - b.first, a.step - b.step, a.even && b.even};
  }
  /// Whether every lane is so small that float holds it, its product with a step, and their sum.
  HEED_INLINE bool is_small() const { return even && first + (1u << 22) < (1u << 23) && step + 16 <= 32; }
  /// Whether the difference of two of these is that of the numbers they stand for.
  HEED_INLINE bool is_moderate() const { return even && first + (std::uint64_t{1} << 61) < std::uint64_t{1} << 62; }
};

/// The values of tree N, whose terminals begin with number I. possible: N is made of what this knows; indexed: of coordinates.
template <int I, class N> struct even_at { static constexpr bool possible = false, indexed = false; };
template <int I> struct even_at<I, coordinate_cell> {
  static constexpr bool possible = true, indexed = true;
  template <class Cursor> static HEED_INLINE progression go(coordinate_cell const&, Cursor const& c) {
    return {static_cast<std::uint64_t>(c.template number<I>()), static_cast<std::uint64_t>(c.step[I]), c.step[I] <= 1};
  }
};
template <int I, class T> struct even_at<I, heed::detail::scalar<T>> {
  static constexpr bool possible = heed::detail::is_integer<T>, indexed = false;
  template <class Cursor> static HEED_INLINE progression go(heed::detail::scalar<T> const& n, Cursor const&) {
    return {static_cast<std::uint64_t>(n.value)};
  }
};
template <int I, class T> struct even_at<I, stored_cell<T>> {
  static constexpr bool possible = heed::detail::is_integer<T>, indexed = false;
  template <class Cursor> static HEED_INLINE progression go(stored_cell<T> const&, Cursor const& c) {
    T value;
    std::memcpy(&value, c.template at<I>(), sizeof value);
    return {static_cast<std::uint64_t>(value), 0, c.step[I] == 0};  // one value for all lanes
  }
};
template <int I, class Op, class T, class E> struct even_at<I, applied<Op, T, E>> {
  using inner = even_at<I, E>;
  static constexpr bool negates = std::is_same_v<Op, ops::negated>;
  static constexpr bool possible =
      inner::possible && heed::detail::is_integer<T> && (negates || std::is_same_v<Op, ops::cast_to<T>>);
  static constexpr bool indexed = inner::indexed;
  template <class N, class Cursor> static HEED_INLINE progression go(N const& n, Cursor const& c) {
    progression const p = inner::go(n.template operand<0>(), c);
    return negates ? progression{} - p : p;
  }
};
template <int I, class Op, class T, class E, class F> struct even_at<I, applied<Op, T, E, F>> {
  static constexpr bool adds = std::is_same_v<Op, ops::plus>;
  using left = even_at<I, E>;
  using right = even_at<I + terminals<E>::count, F>;
  static constexpr bool possible =
      left::possible && right::possible && heed::detail::is_integer<T> && (adds || std::is_same_v<Op, ops::minus>);
  static constexpr bool indexed = left::indexed || right::indexed;
  template <class N, class Cursor> static HEED_INLINE progression go(N const& n, Cursor const& c) {
    progression const a = left::go(n.template operand<0>(), c), b = right::go(n.template operand<1>(), c);
    return adds ? a + b : a - b;
  }
};

/// Tree N as real numbers of type T: even integers, or the absolute value of some.
template <int L, class T, int I, class N> struct real_even {
  static constexpr bool possible = even_at<I, N>::possible && even_at<I, N>::indexed;
  /// False where the lanes are not so small or not so even.
  template <class Cursor> static HEED_INLINE bool go(N const& n, Cursor const& c, pack<T, L>& out) {
    progression const p = even_at<I, N>::go(n, c);
    if (!p.is_small()) return false;
    auto const number = [](std::uint64_t x) { return splat<T, L>(static_cast<T>(static_cast<std::int64_t>(x))); };
    out = fma(number(p.step), lane_numbers<T, L>(), number(p.first));
    return true;
  }
};
template <int L, class T, int I, class V, class E> struct real_even<L, T, I, applied<ops::absolute, V, E>> {
  using N = applied<ops::absolute, V, E>;
  using inner = real_even<L, T, I, E>;
  static constexpr bool possible = inner::possible;
  template <class Cursor> static HEED_INLINE bool go(N const& n, Cursor const& c, pack<T, L>& out) {
    if (!inner::go(n.template operand<0>(), c, out)) return false;
    out = abs(out);
    return true;
  }
};

/// A comparison of two trees of which one at least has coordinates: by where along the lanes their order changes.
template <int L, class Op, int I, class E, class F> struct even_comparison {
  using left = even_at<I, E>;
  using right = even_at<I + terminals<E>::count, F>;
  static constexpr bool less_equal = std::is_same_v<Op, ops::less_equal>;
  static constexpr bool known = std::is_same_v<Op, ops::less> || less_equal || std::is_same_v<Op, ops::greater> ||
                                std::is_same_v<Op, ops::greater_equal>;
  static constexpr bool possible = known && left::possible && right::possible && (left::indexed || right::indexed);

  /// Lanes 0 .. n - 1.
  static HEED_INLINE std::uint64_t lanes_below(std::int64_t n) {
    return n <= 0 ? 0 : n >= L ? mask<L>::every : (std::uint64_t{1} << n) - 1;
  }
  /// Lanes in which a < b.
  static HEED_INLINE bool below(progression a, progression b, mask<L>& out) {
    progression const d = a - b;
    if (!a.is_moderate() || !b.is_moderate() || d.step + 1 > 2) return false;
    std::int64_t const first = static_cast<std::int64_t>(d.first);
    out.bits = d.step == 0   ? (first < 0 ? mask<L>::every : 0)
               : d.step == 1 ? lanes_below(-first)
                             : lanes_below(first + 1) ^ mask<L>::every;
    return true;
  }
  /// False where the trees do not run so evenly.
  template <class Cursor> static HEED_INLINE bool go(E const& e, F const& f, Cursor const& c, mask<L>& out) {
    progression const a = left::go(e, c), b = right::go(f, c);
    constexpr bool turned = less_equal || std::is_same_v<Op, ops::greater>;  // a > b is b < a, a <= b is not that
    if (!(turned ? below(b, a, out) : below(a, b, out))) return false;
    if constexpr (less_equal || std::is_same_v<Op, ops::greater_equal>) out = ~out;
    return true;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::kernel

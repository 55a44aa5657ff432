// SPDX-License-Identifier: BSL-1.0
// In: a flat tree (terminals bound to memory, elementwise nodes) and its terminals' places. Out: its values, a vector of
// lanes at a time: the only kernel code that is compiled anew for each formula.
// Next to read: block.hpp, which binds the terminals and calls this.
#pragma once

#include "../loops.hpp"
#include "../ops/functions.hpp"
#include "even.hpp"
#include "functions.hpp"

namespace heed::kernel {
namespace loops = heed::detail::loops;
inline namespace HEED_ARCH {

template <class T, int L> HEED_INLINE pack<T, L> like(pack<T, L> const&, double value) {
  return splat<T, L>(static_cast<T>(value));
}

template <class T>
using lane_type = std::conditional_t<heed::detail::is_real<T> || std::is_same_v<T, bool>, T, std::int64_t>;

/// Whether anything in the tree is of type T.
template <class T, class N> struct mentions {
  static constexpr bool value = std::is_same_v<typename N::value_type, T>;
};
template <class T, class Op, class V, class... E> struct mentions<T, applied<Op, V, E...>> {
  static constexpr bool value = std::is_same_v<V, T> || (mentions<T, E>::value || ...);
};
template <class T, class M, class X> struct mentions<T, kept_where<M, X>> {
  static constexpr bool value = mentions<T, M>::value || mentions<T, X>::value;
};
/// Lanes that the tree is computed in: a native vector of its values.
template <class N>
inline constexpr int lanes_of = [] {
  using V = typename N::value_type;
  if constexpr (heed::detail::is_real<V>)
    return width<V>;
  else if constexpr (mentions<double, N>::value && !mentions<float, N>::value)
    return width<double>;
  else
    return width<float>;
}();

// ---------------------------------------------------------------- values
/// Where the evaluation stands: the terminals' places in this row (or the coordinate itself, see bind), and the first lane.
struct cursor {
  extent_t const* row;
  extent_t const* step;  // from lane to lane
  extent_t lane;
  template <int I> HEED_INLINE extent_t number() const { return row[I] + lane * step[I]; }
  template <int I> HEED_INLINE char const* at() const {
    // NOLINTNEXTLINE: the address was made a number so that coordinates can share the table
    return reinterpret_cast<char const*>(number<I>());
  }
};

template <int L, int I, class N> struct value_at;  // terminals: leaf, index, slot, fetched

template <class T, int L> HEED_INLINE auto load_lanes(char const* p) {
  if constexpr (std::is_same_v<T, bool>)
    return load_mask<L>(reinterpret_cast<bool const*>(p));
  else
    return load<heed::detail::compute_t<T>, L>(reinterpret_cast<T const*>(p));
}

template <int L, int I, class N> struct value_at {  // fetched or computed outside: its own lane type in scratch
  static HEED_INLINE auto go(N const&, cursor const& c) {
    return kernel::load_lanes<lane_type<typename N::value_type>, L>(c.at<I>());
  }
};
template <int L, int I> struct value_at<L, I, coordinate_cell> {
  static HEED_INLINE auto go(coordinate_cell const&, cursor const& c) {
    if (c.step[I] > 1) return kernel::load<std::int64_t, L>(reinterpret_cast<std::int64_t const*>(c.at<I>()));
    auto const first = splat<std::int64_t, L>(c.number<I>());
    return add(first, select(splat_mask<L>(c.step[I] != 0), iota<L>(0), splat<std::int64_t, L>(0)));
  }
};
template <int L, int I, class T> struct value_at<L, I, stored_cell<T>> {
  static HEED_INLINE auto go(stored_cell<T> const&, cursor const& c) { return kernel::load_lanes<T, L>(c.at<I>()); }
};
/// What dropout keeps of L lanes: a word of the row; the lower halves of L words of lanes, then their upper halves.
template <int L>
HEED_INLINE mask<L> kept_by_dropout(heed::detail::dropout_rule rule, char const* row, char const* lanes) {
  constexpr int n = width<float>, some = L < n ? L : n;
  std::uint32_t of_row[2];
  std::memcpy(of_row, row, sizeof of_row);
  std::uint64_t bits = 0;
  HEED_UNROLL
  for (int i = 0; i < L; i += n) {
    detail::raw<std::uint32_t, n> low{}, high{};
    std::memcpy(&low, lanes + 4 * i, 4 * some);
    std::memcpy(&high, lanes + 4 * (L + i), 4 * some);
    const auto mixed = detail::from<std::int32_t>(rule.mixed(low ^ of_row[0], high ^ of_row[1]));
    bits |= detail::mask_bits<std::int32_t>(mixed > vector<std::int32_t>(rule.limit)) << i;
  }
  return {bits & mask<L>::every};
}
template <int L, int I> struct value_at<L, I, dropout_cell> {
  static HEED_INLINE mask<L> go(dropout_cell const& n, cursor const& c) {
    return kernel::kept_by_dropout<L>(n.rule, c.at<I>(), c.at<I + 1>());
  }
};
template <int L, int I, class T> struct value_at<L, I, heed::detail::scalar<T>> {
  static HEED_INLINE auto go(heed::detail::scalar<T> const& n, cursor const&) {
    if constexpr (std::is_same_v<T, bool>)
      return splat_mask<L>(n.value);
    else
      return splat<heed::detail::compute_t<T>, L>(static_cast<heed::detail::compute_t<T>>(n.value));
  }
};
template <int L, int I, class M, class X> struct value_at<L, I, kept_where<M, X>> {
  static HEED_INLINE auto go(kept_where<M, X> const& n, cursor const& c) {
    return value_at<L, I + terminals<M>::count, X>::go(n.operand, c);
  }
};
template <int L, int I, class E> struct value_at<L, I, bare_term<E>> {
  static HEED_INLINE auto go(bare_term<E> const& n, cursor const& c) { return value_at<L, I, E>::go(n.operand, c); }
};
template <int L, int I, class Op, class T, class E> struct value_at<L, I, applied<Op, T, E>> {
  static HEED_INLINE auto go(applied<Op, T, E> const& n, cursor const& c) {
    if constexpr (std::is_same_v<Op, ops::cast_to<T>> && heed::detail::is_real<T>) {
      using way = real_even<L, lane_type<T>, I, E>;
      if constexpr (way::possible)
        if (pack<lane_type<T>, L> r; way::go(n.template operand<0>(), c, r)) return r;
    }
    auto const a = value_at<L, I, E>::go(n.template operand<0>(), c);
    if constexpr (std::is_same_v<Op, ops::cast_to<T>>) {
      using From = lane_type<typename E::value_type>;
      if constexpr (std::is_same_v<From, lane_type<T>>)
        return a;
      else if constexpr (std::is_same_v<T, bool>)
        return to_mask(a);
      else
        return kernel::convert<lane_type<T>>(a);
    } else
      return n.op.apply(a);
  }
};
template <int L, int I, class Op, class T, class E, class F> struct value_at<L, I, applied<Op, T, E, F>> {
  static HEED_INLINE auto go(applied<Op, T, E, F> const& n, cursor const& c) {
    if constexpr (std::is_same_v<T, bool>) {
      using way = even_comparison<L, Op, I, E, F>;
      if constexpr (way::possible)
        if (mask<L> m; way::go(n.template operand<0>(), n.template operand<1>(), c, m)) return m;
    }
    auto const a = value_at<L, I, E>::go(n.template operand<0>(), c);
    if constexpr (std::is_same_v<Op, ops::first_of>)
      return a;
    else
      return n.op.apply(a, value_at<L, I + terminals<E>::count, F>::go(n.template operand<1>(), c));
  }
};
template <int L, int I, class Op, class T, class E, class F, class G> struct value_at<L, I, applied<Op, T, E, F, G>> {
  static HEED_INLINE auto go(applied<Op, T, E, F, G> const& n, cursor const& c) {
    auto const a = value_at<L, I, E>::go(n.template operand<0>(), c);
    auto const b = value_at<L, I + terminals<E>::count, F>::go(n.template operand<1>(), c);
    auto const d = value_at<L, I + terminals<E>::count + terminals<F>::count, G>::go(n.template operand<2>(), c);
    if constexpr (std::is_same_v<T, bool>)
      return n.op.apply_mask(a, b, d);
    else
      return n.op.apply(a, b, d);
  }
};

// ---------------------------------------------------------------- which elements are kept
template <int L, int I, class N> struct kept_at {
  static constexpr bool always = true;
  static HEED_INLINE mask<L> go(N const&, cursor const&) { return splat_mask<L>(true); }
};
template <int L, int I, class M, class X> struct kept_at<L, I, kept_where<M, X>> {
  static constexpr bool always = false;
  static HEED_INLINE mask<L> go(kept_where<M, X> const& n, cursor const& c) {
    mask<L> const k = value_at<L, I, M>::go(n.keep, c);
    using Rest = kept_at<L, I + terminals<M>::count, X>;
    if constexpr (Rest::always)
      return k;
    else
      return k & Rest::go(n.operand, c);
  }
};
template <int L, int I, class E> struct kept_at<L, I, bare_term<E>> {
  static constexpr bool always = false;
  static HEED_INLINE mask<L> go(bare_term<E> const& n, cursor const& c) {
    auto const v = value_at<L, I, E>::go(n.operand, c);
    mask<L> const k = n.all_kept ? splat_mask<L>(true) : ne(v, like(v, n.excluded));
    using Rest = kept_at<L, I, E>;
    if constexpr (Rest::always)
      return k;
    else
      return k & Rest::go(n.operand, c);
  }
};
template <int L, int I, class Op, class T, class... E> struct kept_at<L, I, applied<Op, T, E...>> {
  using N = applied<Op, T, E...>;
  template <std::size_t J> static constexpr int first() {
    constexpr int counts[] = {terminals<E>::count...};
    int at = I;
    for (std::size_t j = 0; j < J; ++j) at += counts[j];
    return at;
  }
  template <std::size_t... J> static constexpr bool none(std::index_sequence<J...>) {
    return (kept_at<L, first<J>(), E>::always && ...);
  }
  static constexpr bool always = none(std::index_sequence_for<E...>{});
  template <std::size_t J, class X> static HEED_INLINE mask<L> one(N const& n, cursor const& c, mask<L> k) {
    using Rest = kept_at<L, first<J>(), X>;
    if constexpr (Rest::always)
      return k;
    else
      return k & Rest::go(n.template operand<J>(), c);
  }
  static HEED_INLINE mask<L> go(N const& n, cursor const& c) {
    mask<L> k = splat_mask<L>(true);
    [&]<std::size_t... J>(std::index_sequence<J...>) { ((k = one<J, E>(n, c, k)), ...); }
    (std::index_sequence_for<E...>{});
    return k;
  }
};

// ---------------------------------------------------------------- a block
template <class Storage, class V> HEED_INLINE void store_lanes(char* to, V const& v) {
  store(reinterpret_cast<Storage*>(to), v);
}
/// The number that stands for `fill`, computed as T and stored as Storage; -infinity is the lowest whole number there.
template <class T, class Storage> T fill_value(double fill) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    using limits = std::numeric_limits<std::conditional_t<std::is_integral_v<Storage>, Storage, T>>;
    return fill < -9.2e18 ? limits::min() : static_cast<std::int64_t>(fill);
  } else
    return static_cast<T>(fill);
}
/// f(cursor, where the result goes) for each vector of each row. What the loop needs lies in local variables: through
/// memory, every store of a result would force it to be read again.
template <int L, class Storage, std::size_t... I, class F>
HEED_INLINE void for_vectors(std::index_sequence<I...>, [[maybe_unused]] loops::bound const* in, char* out,
                             extent_t out_row, extent_t rows, extent_t lanes, F&& f) {
  extent_t const step[] = {in[I].lane..., 0};
  for (extent_t r = 0; r < rows; ++r) {
    extent_t const row[] = {(reinterpret_cast<extent_t>(in[I].data) + r * in[I].row)..., 0};
    for (extent_t l = 0; l < lanes; l += L)
      f(cursor{row, step, l}, out + r * out_row + l * static_cast<extent_t>(sizeof(Storage)));
  }
}
template <class N> using terminal_numbers = std::make_index_sequence<static_cast<std::size_t>(terminals<N>::count)>;

template <class N, class Storage>
void run_plain(void const* node, loops::bound const* in, char* out, extent_t out_row, extent_t rows, extent_t lanes,
               double, std::uint64_t*) {
  constexpr int L = lanes_of<N>;
  N const n = *static_cast<N const*>(node);
  kernel::for_vectors<L, Storage>(
      terminal_numbers<N>{}, in, out, out_row, rows,
      lanes, [&](cursor const& c, char* to) __attribute__((always_inline)) {
        kernel::store_lanes<Storage>(to, value_at<L, 0, N>::go(n, c));
      });
}
template <class N, class Storage>
void run_masked(void const* node, loops::bound const* in, char* out, extent_t out_row, extent_t rows, extent_t lanes,
                double fill, std::uint64_t* kept) {
  constexpr int L = lanes_of<N>;
  N const n = *static_cast<N const*>(node);
  using V = lane_type<typename N::value_type>;
  V const excluded = kernel::fill_value<V, Storage>(fill);
  kernel::for_vectors<L, Storage>(
      terminal_numbers<N>{}, in, out, out_row, rows,
      lanes, [&](cursor const& c, char* to) __attribute__((always_inline)) {
        mask<L> const k = kept_at<L, 0, N>::go(n, c);
        if (kept) *kept++ = k.bits;
        auto const value = value_at<L, 0, N>::go(n, c);
        if constexpr (std::is_same_v<V, bool>)
          kernel::store_lanes<Storage>(to, value & k);  // an excluded truth value is false
        else
          kernel::store_lanes<Storage>(to, select(k, value, splat<V, L>(excluded)));
      });
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel

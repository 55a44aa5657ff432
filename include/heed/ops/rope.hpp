// SPDX-License-Identifier: BSL-1.0
// In: queries or keys, the axis of the head's width, the axis of positions. Out: the same, each pair of elements turned by an
// angle that grows with the position (Su et al. 2021): made of the words above it and of one change of coordinates.
// Next to read: ../plan/tree.hpp, what the plan sees in an expression.
#pragma once

#include "gather.hpp"

namespace heed {

inline namespace HEED_ARCH {

/// Which elements of the axis turn together: (0,1), (2,3), ... or (0, n/2), (1, n/2 + 1), ...
///
///     auto turned = rope<d_head, query>(q, rope_pairs::half);
enum class rope_pairs { interleaved, half };
}  // namespace HEED_ARCH

namespace detail {
inline namespace HEED_ARCH {

struct rope_word {
  static constexpr std::string_view name = "rope", part = "table of cosines or sines";
};
struct rope_past_word {
  static constexpr std::string_view name = "rope", part = "past";
};
/// The other element of the pair.
template <class A> struct partner_change {
  using hidden = axes<A>;
  static constexpr std::string_view name = "partner";
  rope_pairs pairs = rope_pairs::interleaved;
  extent_t size = 0;
  template <class F, class T> auto renamed() const { return partner_change<swap_tag<A, F, T>>{pairs, size}; }
  template <class F, class T> auto renamed_hidden() const { return *this; }
  template <class X, class E> extent_t extent(E const& e) const { return e.template extent<X>(); }
  template <class X, class Get> extent_t source(Get const& get) const {
    extent_t const i = get(type_tag<A>{}), half = size / 2;
    return pairs == rope_pairs::interleaved ? i ^ 1 : i < half ? i + half : i - half;
  }
};
/// The pair that an element belongs to: how a table over Half reads along A.
template <class A, class Half> struct pair_change {
  using hidden = axes<Half>;
  static constexpr std::string_view name = "pair";
  rope_pairs pairs = rope_pairs::interleaved;
  extent_t size = 0;
  template <class F, class T> auto renamed() const { return pair_change<swap_tag<A, F, T>, Half>{pairs, size}; }
  template <class F, class T> auto renamed_hidden() const { return pair_change<A, swap_tag<Half, F, T>>{pairs, size}; }
  template <class X, class E> extent_t extent(E const& e) const {
    return std::is_same_v<X, A> ? size : e.template extent<X>();
  }
  template <class X, class Get> extent_t source(Get const& get) const {
    extent_t const i = get(type_tag<A>{}), half = size / 2;
    return pairs == rope_pairs::interleaved ? i / 2 : i < half ? i : i - half;
  }
};

template <class A> extent_t even_extent(auto const& x) {
  extent_t const n = detail::known_extent<A>(x, "rope");
  if (n % 2 != 0)
    throw shape_error("rope: axis " + detail::axis_name<A>() + " has the odd extent " + std::to_string(n));
  return n;
}
/// -1 for the first of a pair, 1 for the second.
template <class A, class T> auto pair_sign(rope_pairs pairs, extent_t n) {
  auto i = heed::index<A>();
  std::int64_t const period = pairs == rope_pairs::interleaved ? 2 : n ? n : 1;
  auto first = i % period < period / 2;
  return heed::where(first, T(-1), T(1));
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// Turns each pair of A, (a, b) to (a cos t - b sin t, a sin t + b cos t), by the angle t = (position + past) base^(-2 pair /
/// extent(A)); the position is the coordinate along Position, past a number or an integer tensor. The axes of x (Su et al.
/// 2021). Part of a head: slice, rope, concat.
///
///     auto q = rope<d_head, query>(dot<model>(x, w_q), rope_pairs::half, 10000, past);
///
/// Refused: an axis that x lacks. shape_error: an odd extent of A.
template <class A, class Position, detail::past_like Past = extent_t>
auto rope(expression auto const& x, rope_pairs pairs, double base = 10000, Past const& past = {}) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    using Missing = typename detail::first_missing<Axes, A, Position>::type;
    using T = typename detail::node_of<E>::value_type;
    if constexpr (!detail::good_tags<A, Position>) {
      HEED_REFUSE_TAGS(detail::rope_word, A, Position);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<Missing, detail::no_axis>) {
      HEED_REFUSE("rope: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::rope_word, Missing, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::is_real<T>) {
      HEED_REFUSE("rope: real values are needed (say cast)",
                  detail::mistakes::value_type_does_not_serve<detail::rope_word, T>);
      return detail::poison{};
    } else if constexpr (!detail::is_integer<typename detail::value_or_number<Past>::type>)
      return detail::past_node<detail::rope_past_word>(past);
    else if constexpr (!detail::is_dynamic<A> && detail::fixed_extent<A> % 2 != 0) {
      HEED_REFUSE("rope: the axis has an odd extent, its elements turn in pairs",
                  detail::mistakes::pairs_of_an_odd_axis<A, detail::fixed_extent<A>>);
      return detail::poison{};
    } else {
      extent_t const n = detail::even_extent<A>(x);
      extent_t const positions = detail::known_extent<Position>(x, "rope");
      auto i = heed::index<A>();
      // the angles in double: at position 100000 a float has lost the fraction of a turn
      std::int64_t const divisor = pairs == rope_pairs::interleaved ? 2 : 1, period = n == 0 ? 1 : n / (3 - divisor);
      auto pair = i / divisor % period;
      auto turn = heed::exp(heed::cast<double>(pair) * (n ? -2 * std::log(base) / static_cast<double>(n) : 0.0));
      auto position = heed::cast<double>(heed::index<Position>() + detail::past_node<detail::rope_past_word>(past));
      auto angle =
          detail::make_map<detail::ops::times, double, detail::unite<typename decltype(position)::axes_type, axes<A>>>(
              detail::ops::times{}, position, turn);
      auto with_extents = [&](auto const& e) {  // the tables bring both extents
        detail::extents_node<axes<Position, A>> shape;
        shape.extents[0] = positions;
        shape.extents[1] = n;
        auto v = detail::as_node(e);
        return heed::let(detail::make_map<detail::ops::first_of, T,
                                          detail::unite<axes<Position, A>, typename decltype(v)::axes_type>>(
            detail::ops::first_of{}, std::move(v), shape));
      };
      auto cosines = with_extents(heed::cast<T>(detail::real_unary<detail::ops::cosine>(angle)));
      auto sines =
          with_extents(heed::cast<T>(detail::real_unary<detail::ops::sine>(angle)) * detail::pair_sign<A, T>(pairs, n));
      return detail::as_node(x) * cosines + detail::reindex<Axes>(detail::partner_change<A>{pairs, n}, x) * sines;
    }
  }
}
/// The same by tables over Half, an axis of half A's extent, and over axes of x (YaRN, several position axes).
///
///     auto q = rope<d_head, half>(dot<model>(x, w_q), rope_pairs::half, cosines, sines);  // both [query, half]
///
/// Refused: an x without A, tables without Half or with axes that x lacks, two value types, integers.
template <class A, class Half>
auto rope(expression auto const& x, rope_pairs pairs, expression auto const& cosines, expression auto const& sines) {
  using E = std::remove_cvref_t<decltype(x)>;
  using C = std::remove_cvref_t<decltype(cosines)>;
  using S = std::remove_cvref_t<decltype(sines)>;
  if constexpr (detail::is_poison<E> || detail::is_poison<C> || detail::is_poison<S>)
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    using Table = detail::difference<detail::unite<typename C::axes_type, typename S::axes_type>, axes<Half>>;
    using T = typename detail::node_of<E>::value_type;
    using Other = typename detail::first_other<T, typename detail::node_of<C>::value_type,
                                               typename detail::node_of<S>::value_type>::type;
    if constexpr (!detail::contains<A, Axes>) {
      HEED_REFUSE("rope: the operand has no such axis", detail::mistakes::axis_is_missing<detail::rope_word, A, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::contains<Half, typename C::axes_type> ||
                         !detail::contains<Half, typename S::axes_type>) {
      using Lacks = std::conditional_t<detail::contains<Half, typename C::axes_type>, typename S::axes_type,
                                       typename C::axes_type>;
      HEED_REFUSE("rope: the tables have no such axis",
                  detail::mistakes::axis_is_missing<detail::rope_word, Half, Lacks>);
      return detail::poison{};
    } else if constexpr (!detail::subset<Table, Axes>) {
      HEED_REFUSE("rope: the tables have axes that the operand lacks",
                  detail::mistakes::part_has_axes_that_the_whole_lacks<detail::rope_word, Table, Axes>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<T, Other>) {
      HEED_REFUSE("rope: the value types of the operand and the tables differ (say cast)",
                  detail::mistakes::value_types_differ<detail::rope_word, T, Other>);
      return detail::poison{};
    } else if constexpr (!detail::is_real<T>) {
      HEED_REFUSE("rope: real values are needed (say cast)",
                  detail::mistakes::value_type_does_not_serve<detail::rope_word, T>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A> && !detail::is_dynamic<Half> &&
                         detail::fixed_extent<A> != 2 * detail::fixed_extent<Half>) {
      HEED_REFUSE("rope: the tables go over half of the axis",
                  detail::mistakes::tables_go_over_half<A, Half, detail::fixed_extent<A>, detail::fixed_extent<Half>>);
      return detail::poison{};
    } else {
      extent_t const n = detail::even_extent<A>(x);
      for (extent_t half : {detail::known_extent<Half>(cosines, "rope"), detail::known_extent<Half>(sines, "rope")})
        if (half != n / 2)
          throw shape_error("rope: axis " + detail::axis_name<Half>() + " has extent " + std::to_string(half) +
                            ", half of " + detail::axis_name<A>() + " is " + std::to_string(n / 2));
      auto spread = [&](auto const& table) {
        return detail::reindex<detail::rename_in<typename std::remove_cvref_t<decltype(table)>::axes_type, Half, A>>(
            detail::pair_change<A, Half>{pairs, n}, table);
      };
      return detail::as_node(x) * spread(cosines) + detail::reindex<Axes>(detail::partner_change<A>{pairs, n}, x) *
                                                        (spread(sines) * detail::pair_sign<A, T>(pairs, n));
    }
  }
}
}  // namespace HEED_ARCH
}  // namespace heed

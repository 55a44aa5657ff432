// SPDX-License-Identifier: BSL-1.0
// In: an expression. Out: the same elements under other names or coordinates: rename, split, merge, slice, at, roll, expect.
// On a tensor or view these share the buffer (merge: where the strides allow) and, sliced, serve as a destination.
// Next to read: gather.hpp, elements by computed coordinates.
#pragma once

#include "rename.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct rename_word {
  static constexpr std::string_view name = "rename";
};
struct split_word {
  static constexpr std::string_view name = "split";
};
struct merge_word {
  static constexpr std::string_view name = "merge";
};
struct slice_word {
  static constexpr std::string_view name = "slice", advice = " (slice<A, To>(x, from) takes an axis of the new extent)",
                                    part = "the slice", integer = "coordinate", instead{};
};
struct at_word {
  static constexpr std::string_view name = "at", integer = "coordinate", instead{};
};
struct expect_word {
  static constexpr std::string_view name = "expect";
};
struct roll_word {
  static constexpr std::string_view name = "roll", integer = "number of places", instead{};
};

template <class Word, class E, class Value> poison refuse_fraction() {
  if constexpr (!is_poison<E>)
    HEED_REFUSE("slice, at, roll, dropout: coordinates, places and seeds are integers",
                mistakes::number_is_no_integer<Word, Value>);
  return {};
}

// ---------------------------------------------------------------- changes of coordinates
// Each: hidden axes of the operand, extents of the result, source<X>(get): the operand's coordinate along a hidden axis X,
// where get(type_tag<Y>) is the result's along Y; on_leaf: whether strides alone can say it.
template <class X, class F, class T> using swap_tag = std::conditional_t<std::is_same_v<X, F>, T, X>;

/// A becomes B (major) and C (minor).
template <class A, class B, class C> struct split_change {
  using hidden = axes<A>;
  static constexpr std::string_view name = "split";
  extent_t major = 0, minor = 0;
  template <class F, class T> auto renamed() const {
    return split_change<A, swap_tag<B, F, T>, swap_tag<C, F, T>>{major, minor};
  }
  template <class F, class T> auto renamed_hidden() const {
    return split_change<swap_tag<A, F, T>, B, C>{major, minor};
  }
  template <class X, class E> extent_t extent(E const& e) const {
    return std::is_same_v<X, B> ? major : std::is_same_v<X, C> ? minor : e.template extent<X>();
  }
  template <class X, class Get> extent_t source(Get const& get) const {
    return get(type_tag<B>{}) * minor + get(type_tag<C>{});
  }
};
/// B (major) and C (minor) become A.
template <class B, class C, class A> struct merge_change {
  using hidden = axes<B, C>;
  static constexpr std::string_view name = "merge";
  extent_t major = 0, minor = 0;
  template <class F, class T> auto renamed() const { return merge_change<B, C, swap_tag<A, F, T>>{major, minor}; }
  template <class F, class T> auto renamed_hidden() const {
    return merge_change<swap_tag<B, F, T>, swap_tag<C, F, T>, A>{major, minor};
  }
  template <class X, class E> extent_t extent(E const& e) const {
    return std::is_same_v<X, A> ? major * minor : e.template extent<X>();
  }
  template <class X, class Get> extent_t source(Get const& get) const {
    extent_t const a = get(type_tag<A>{});
    return std::is_same_v<X, B> ? a / minor : a % minor;
  }
};
/// from .. from + count of A, under the name To.
template <class A, class To> struct slice_change {
  using hidden = axes<A>;
  static constexpr std::string_view name = "slice";
  extent_t from = 0, count = 0;
  template <class F, class T> auto renamed() const { return slice_change<A, swap_tag<To, F, T>>{from, count}; }
  template <class F, class T> auto renamed_hidden() const { return slice_change<swap_tag<A, F, T>, To>{from, count}; }
  template <class X, class E> extent_t extent(E const& e) const {
    return std::is_same_v<X, To> ? count : e.template extent<X>();
  }
  template <class X, class Get> extent_t source(Get const& get) const { return get(type_tag<To>{}) + from; }
};
template <class A> struct at_change {
  using hidden = axes<A>;
  static constexpr std::string_view name = "at";
  extent_t where = 0;
  template <class F, class T> auto renamed() const { return *this; }
  template <class F, class T> auto renamed_hidden() const { return at_change<swap_tag<A, F, T>>{where}; }
  template <class X, class E> extent_t extent(E const& e) const { return e.template extent<X>(); }
  template <class X, class Get> extent_t source(Get const&) const { return where; }
};
/// The element n places before, around the end.
template <class A> struct roll_change {
  using hidden = axes<A>;
  static constexpr std::string_view name = "roll";
  extent_t shift = 0, size = 0;  // 0 <= shift < size
  template <class F, class T> auto renamed() const { return roll_change<swap_tag<A, F, T>>{shift, size}; }
  template <class F, class T> auto renamed_hidden() const { return *this; }
  template <class X, class E> extent_t extent(E const& e) const { return e.template extent<X>(); }
  template <class X, class Get> extent_t source(Get const& get) const {
    extent_t const i = get(type_tag<A>{}) - shift;
    return i < 0 ? i + size : i;
  }
};

template <class V, class... A, class... X> auto reshape_leaf(leaf<V, axes<A...>> const& from, axes<X...>) {
  leaf<V, axes<X...>> to;
  to.data = from.data;
  to.owner = from.owner;
  [[maybe_unused]] auto copy = [&]<class Y>(type_tag<Y>) {
    if constexpr (contains<Y, axes<A...>>) {
      to.extents[index_of<Y, axes<X...>>] = from.extents[index_of<Y, axes<A...>>];
      to.strides[index_of<Y, axes<X...>>] = from.strides[index_of<Y, axes<A...>>];
    }
  };
  (copy(type_tag<X>{}), ...);
  return to;
}
template <class A, class B, class C, class Axes, class V, class L>
auto on_leaf(split_change<A, B, C> c, Axes list, leaf<V, L> const& l) {
  auto r = detail::reshape_leaf(l, list);
  r.extents[index_of<B, Axes>] = c.major;
  r.extents[index_of<C, Axes>] = c.minor;
  r.strides[index_of<C, Axes>] = l.template stride<A>();
  r.strides[index_of<B, Axes>] = l.template stride<A>() * c.minor;
  return r;
}
template <class A, class To, class Axes, class V, class L>
auto on_leaf(slice_change<A, To> c, Axes list, leaf<V, L> const& l) {
  auto r = detail::reshape_leaf(l, list);
  r.extents[index_of<To, Axes>] = c.count;
  r.strides[index_of<To, Axes>] = l.template stride<A>();
  if (c.from != 0) r.data += c.from * l.template stride<A>();
  return r;
}
template <class A, class Axes, class V, class L> auto on_leaf(at_change<A> c, Axes list, leaf<V, L> const& l) {
  auto r = detail::reshape_leaf(l, list);
  r.data += c.where * l.template stride<A>();
  return r;
}

/// A leaf that stays writable where the user's tensor, view or slice is.
template <class T, class... A> auto writable_leaf(tensor<T, A...>& t) { return t.heed_leaf(); }
template <class T, class... A> auto writable_leaf(view<T, A...> const& v) { return v.heed_leaf(); }
template <class T, class Axes> auto writable_leaf(leaf<T, Axes> const& l) { return l; }
template <class E> auto writable_leaf(E const& e) { return detail::as_node(e); }

template <class Axes, class Change, class E> auto reindex(Change c, E&& e) {
  auto n = detail::writable_leaf(e);
  using N = decltype(n);
  if constexpr (is_leaf_node<N> && requires { detail::on_leaf(c, Axes{}, n); })
    return detail::on_leaf(c, Axes{}, n);
  else {
    auto m = detail::as_node(n);
    return reindexed<Change, Axes, decltype(m)>(c, std::move(m), N::heavy ? detail::fresh_id() : 0);
  }
}
template <class A, class X> extent_t extent_given_or(extent_t known, [[maybe_unused]] X const& given) {
  if constexpr (std::is_same_v<A, X>)
    return given.size.value;
  else
    return known;
}
template <class A, class... X> extent_t extent_given([[maybe_unused]] X const&... given) {
  extent_t n = A::static_extent;
  ((n = detail::extent_given_or<A>(n, given)), ...);
  return n;
}
template <class A, class E> extent_t known_extent(E const& e, char const* op) {
  extent_t n = e.template extent<A>();
  if (n == dynamic)
    throw shape_error(std::string(op) + ": no operand gives axis " + detail::axis_name<A>() + " an extent");
  return n;
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// True where rename<From, To>(e) compiles.
///
///     static_assert(can_rename<decltype(x), query, key> && !can_rename<decltype(x), key, query>);
template <class E, class From, class To>
concept can_rename = expression<E> && detail::contains<From, typename std::remove_cvref_t<E>::axes_type> &&
    !detail::contains<To, typename std::remove_cvref_t<E>::axes_type>;

/// The same elements, axis From called To, so that a sequence can attend to itself. Costs nothing.
///
///     auto k = dot<model>(rename<query, key>(x), w_k);
///
/// Refused: an axis that x lacks, a To that it has, two static extents that differ.
template <class From, class To> auto rename(expression auto const& x) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    if constexpr (!detail::axis_tag<From> || !detail::axis_tag<To>) {
      HEED_REFUSE_TAGS(detail::rename_word, From, To);
      return detail::poison{};
    } else if constexpr (!detail::contains<From, Axes>) {
      HEED_REFUSE("rename: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::rename_word, From, Axes>);
      return detail::poison{};
    } else if constexpr (std::is_same_v<From, To>)
      return detail::as_node(x);
    else if constexpr (detail::contains<To, Axes>) {
      HEED_REFUSE("rename: the operand has that axis already",
                  detail::mistakes::axis_is_already_there<detail::rename_word, To, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<From> && !detail::is_dynamic<To> &&
                         From::static_extent != To::static_extent) {
      HEED_REFUSE("rename: the extents differ", detail::mistakes::renamed_extents_differ<From, To>);
      return detail::poison{};
    } else {
      auto const& n = detail::node_in(x);
      if constexpr (!detail::is_dynamic<To>) {
        extent_t const e = n.template extent<From>();
        if (e != detail::dynamic && e != To::static_extent)
          throw shape_error("rename: axis " + detail::axis_name<From>() + " has extent " + std::to_string(e) +
                            ", but " + detail::axis_name<To>() + " has " + std::to_string(To::static_extent));
      }
      return detail::rename_node<From, To>(n);
    }
  }
}

/// A becomes B (major) and C (minor) in its place: element b extent(C) + c of A is element (b, c). Dynamic ones get their
/// extent by name; one of the two may be left out. Row-major, as in a reshape of a packed projection.
///
///     auto grouped = split<head, kv_head, group>(q);              // [..., head, d_head] to [..., kv_head, group, d_head]
///     auto pieces = split<query, position, token>(x, token{16});  // position is what is left
///
/// Refused: an axis A that x lacks, a B or C that it has. Refused, or shape_error: extents whose
/// product is not that of A.
template <class A, class B, class C, class E, class... X>
  requires(detail::expression_like<E>)
auto split(E&& x, X const&... extents) {
  using Plain = std::remove_cvref_t<E>;
  if constexpr (detail::is_poison<Plain>)
    return detail::poison{};
  else {
    using Axes = typename Plain::axes_type;
    using Result = detail::replace_in<Axes, A, B, C>;
    using Open = typename detail::dynamic_axes<axes<B, C>>::type;
    if constexpr (!detail::axis_tag<B> || !detail::axis_tag<C>) {
      HEED_REFUSE_TAGS(detail::split_word, B, C);
      return detail::poison{};
    } else if constexpr (!detail::contains<A, Axes>) {
      HEED_REFUSE("split: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::split_word, A, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::distinct<Result>) {
      HEED_REFUSE("split: the result would have an axis twice",
                  detail::mistakes::axis_is_already_there<detail::split_word,
                                                          std::conditional_t<detail::contains<B, Axes>, B, C>, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A> && !detail::is_dynamic<B> && !detail::is_dynamic<C> &&
                         A::static_extent != B::static_extent * C::static_extent) {
      HEED_REFUSE("split: the extents do not multiply to the axis",
                  detail::mistakes::split_extents_do_not_multiply<A, B, C>);
      return detail::poison{};
    } else if constexpr (!detail::subset<axes<X...>, Open> || !detail::distinct<axes<X...>> ||
                         sizeof...(X) + 1 < Open::rank) {
      HEED_REFUSE("split: a part whose extent is known at run time needs it by name, one of two may be left out",
                  detail::mistakes::extents_are_not_those_of_the_split<axes<X...>, axes<B, C>>);
      return detail::poison{};
    } else {
      extent_t const whole = detail::known_extent<A>(x, "split");
      extent_t major = detail::extent_given<B>(extents...), minor = detail::extent_given<C>(extents...);
      if (major == detail::dynamic && minor > 0) major = whole / minor;
      if (minor == detail::dynamic && major > 0) minor = whole / major;
      if (major == detail::dynamic || minor == detail::dynamic)
        throw shape_error("split: give the extents of " + detail::axis_name<B>() + " and " + detail::axis_name<C>());
      extent_t product = 0;
      if (__builtin_mul_overflow(major, minor, &product) || product != whole)
        throw shape_error("split: axis " + detail::axis_name<A>() + " has extent " + std::to_string(whole) + ", but " +
                          detail::axis_name<B>() + " x " + detail::axis_name<C>() + " is " + std::to_string(major) +
                          " x " + std::to_string(minor));
      return detail::reindex<Result>(detail::split_change<A, B, C>{major, minor}, x);
    }
  }
}

/// B (major) and C (minor) become A where B stood; they need not be neighbours.
///
///     auto flat = merge<head, d_head, model>(context);  // [query, head, d_head] to [query, model]
///
/// Refused: axes that x lacks, static extents that do not multiply.
template <class B, class C, class A> auto merge(expression auto const& x) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    using Missing = typename detail::first_missing<Axes, B, C>::type;
    if constexpr (!detail::good_tags<B, C> || !detail::axis_tag<A>) {
      HEED_REFUSE_TAGS(detail::merge_word, B, C, A);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<Missing, detail::no_axis>) {
      HEED_REFUSE("merge: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::merge_word, Missing, Axes>);
      return detail::poison{};
    } else {
      using Result = detail::rename_in<detail::difference<Axes, axes<C>>, B, A>;
      if constexpr (!detail::distinct<Result>) {
        HEED_REFUSE("merge: the result would have an axis twice",
                    detail::mistakes::axis_is_already_there<detail::merge_word, A, Axes>);
        return detail::poison{};
      } else if constexpr (!detail::is_dynamic<A> && !detail::is_dynamic<B> && !detail::is_dynamic<C> &&
                           A::static_extent != B::static_extent * C::static_extent) {
        HEED_REFUSE("merge: the extents do not multiply to the axis",
                    detail::mistakes::merge_extents_do_not_multiply<A, B, C>);
        return detail::poison{};
      } else {
        extent_t const major = detail::known_extent<B>(x, "merge"), minor = detail::known_extent<C>(x, "merge");
        extent_t product = 0;
        bool const overflows = __builtin_mul_overflow(major, minor, &product);
        if (overflows || (!detail::is_dynamic<A> && product != A::static_extent))
          throw shape_error(
              "merge: " + detail::axis_name<B>() + " x " + detail::axis_name<C>() + " is " + std::to_string(major) +
              " x " + std::to_string(minor) +
              (overflows ? ", which does not fit into 64 bits"
                         : ", but " + detail::axis_name<A>() + " has extent " + std::to_string(A::static_extent)));
        return detail::reindex<Result>(detail::merge_change<B, C, A>{major, minor}, x);
      }
    }
  }
}

/// The elements from .. to - 1 of A (dynamic). Of a tensor or view it shares the buffer and is a destination.
///
///     evaluate_into(slice<query>(y, 0, 8), rms_norm<model>(x, gain));
///
/// Refused: a static A. shape_error: coordinates outside of 0 .. extent.
template <class A, class E>
  requires(detail::expression_like<E>)
auto slice(E&& x, extent_t from, extent_t to) {
  using Plain = std::remove_cvref_t<E>;
  if constexpr (detail::is_poison<Plain>)
    return detail::poison{};
  else {
    using Axes = typename Plain::axes_type;
    if constexpr (!detail::contains<A, Axes>) {
      HEED_REFUSE("slice: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::slice_word, A, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A>) {
      HEED_REFUSE("slice: a static axis needs slice<A, To>(x, from)",
                  detail::mistakes::axis_must_be_dynamic<detail::slice_word, A>);
      return detail::poison{};
    } else {
      extent_t const n = detail::known_extent<A>(x, "slice");
      if (from < 0 || to < from || to > n)
        throw shape_error("slice: axis " + detail::axis_name<A>() + " has extent " + std::to_string(n) +
                          ", asked for " + std::to_string(from) + " to " + std::to_string(to));
      return detail::reindex<Axes>(detail::slice_change<A, A>{from, to - from}, x);
    }
  }
}
/// @private One coordinate, as in PyTorch's x[-1] and x[2:]: refused.
template <class A, class E>
  requires(detail::expression_like<E>)
auto slice(E&&, extent_t) {
  if constexpr (!detail::is_poison<std::remove_cvref_t<E>>)
    HEED_REFUSE("slice: from and to are needed (one element is at<A>(x, i))",
                detail::mistakes::range_is_needed<detail::slice_word, A>);
  return detail::poison{};
}
/// @private Half of an extent in floating point, as n / 2.0: refused.
template <class A, class E, class From, class To>
  requires(detail::expression_like<E> && (std::floating_point<From> || std::floating_point<To>))
auto slice(E&&, From, To) {
  return detail::refuse_fraction<detail::slice_word, E, std::conditional_t<std::floating_point<From>, From, To>>();
}
/// To::extent elements of A from `from` on, under the name To: how packed q, k and v come apart.
///
///     auto k = slice<projections, model>(qkv, 512);  // [batch, query, projections] to [batch, query, model]
///
/// Refused: an open To. shape_error: coordinates outside of A.
template <class A, class To, class E>
  requires(detail::expression_like<E>&& detail::axis_tag<To>)
auto slice(E&& x, extent_t from) {
  using Plain = std::remove_cvref_t<E>;
  if constexpr (detail::is_poison<Plain>)
    return detail::poison{};
  else {
    using Axes = typename Plain::axes_type;
    if constexpr (!detail::contains<A, Axes>) {
      HEED_REFUSE("slice: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::slice_word, A, Axes>);
      return detail::poison{};
    } else if constexpr (detail::is_dynamic<To>) {
      HEED_REFUSE("slice: the new axis needs a static extent",
                  detail::mistakes::axis_must_be_static<detail::slice_word, To>);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<A, To> && detail::contains<To, Axes>) {
      HEED_REFUSE("slice: the operand has that axis already",
                  detail::mistakes::axis_is_already_there<detail::slice_word, To, Axes>);
      return detail::poison{};
    } else if constexpr (!detail::is_dynamic<A> && To::static_extent > detail::fixed_extent<A>) {
      HEED_REFUSE("slice: the slice is longer than the axis",
                  detail::mistakes::extents_do_not_fit<detail::slice_word, A, To, detail::fixed_extent<A>,
                                                       detail::fixed_extent<To>>);
      return detail::poison{};
    } else {
      extent_t const n = detail::known_extent<A>(x, "slice");
      if (from < 0 || from > n || To::static_extent > n - from)
        throw shape_error("slice: axis " + detail::axis_name<A>() + " has extent " + std::to_string(n) +
                          ", asked for " + std::to_string(To::static_extent) + " from " + std::to_string(from));
      return detail::reindex<detail::rename_in<Axes, A, To>>(detail::slice_change<A, To>{from, To::static_extent}, x);
    }
  }
}
/// @private
template <class A, class To, class E, std::floating_point From>
  requires(detail::expression_like<E>&& detail::axis_tag<To>)
auto slice(E&&, From) { return detail::refuse_fraction<detail::slice_word, E, From>(); }
/// The elements at coordinate i of A; A is gone. shape_error: an i outside of A.
///
///     auto last = at<query>(y, y.extent<query>() - 1);
///
/// Refused: an axis that x lacks.
template <class A, class E>
  requires(detail::expression_like<E>)
auto at(E&& x, extent_t i) {
  using Plain = std::remove_cvref_t<E>;
  if constexpr (detail::is_poison<Plain>)
    return detail::poison{};
  else {
    using Axes = typename Plain::axes_type;
    if constexpr (!detail::contains<A, Axes>) {
      HEED_REFUSE("at: the operand has no such axis", detail::mistakes::axis_is_missing<detail::at_word, A, Axes>);
      return detail::poison{};
    } else {
      extent_t const n = detail::known_extent<A>(x, "at");
      if (i < 0 || i >= n)
        throw shape_error("at: axis " + detail::axis_name<A>() + " has extent " + std::to_string(n) +
                          ", asked for element " + std::to_string(i));
      return detail::reindex<detail::difference<Axes, axes<A>>>(detail::at_change<A>{i}, x);
    }
  }
}
/// @private
template <class A, class E, std::floating_point I>
  requires(detail::expression_like<E>)
auto at(E&&, I) { return detail::refuse_fraction<detail::at_word, E, I>(); }
/// Shifted by n along A, around the end: element i is x's element i - n. The axes of x.
///
///     auto before = roll<token>(ids, 1);
///
/// Refused: an axis that x lacks.
template <class A> auto roll(expression auto const& x, extent_t n) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else if constexpr (!detail::contains<A, typename E::axes_type>) {
    HEED_REFUSE("roll: the operand has no such axis",
                detail::mistakes::axis_is_missing<detail::roll_word, A, typename E::axes_type>);
    return detail::poison{};
  } else {
    extent_t const size = detail::known_extent<A>(x, "roll");
    return detail::reindex<typename E::axes_type>(detail::roll_change<A>{size ? ((n % size) + size) % size : 0, size},
                                                  x);
  }
}
/// @private
template <class A, expression E, std::floating_point N> auto roll(E const&, N) {
  return detail::refuse_fraction<detail::roll_word, E, N>();
}

/// x itself, refused at compile time unless its axes are exactly these, in any order: the shape comment, checked.
///
///     auto q = expect<batch, query, head, d_head>(dot<model>(x, w_q));
template <class... A> auto expect(expression auto const& x) {
  using E = std::remove_cvref_t<decltype(x)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else if constexpr (!(detail::axis_tag<A> && ...)) {
    HEED_REFUSE_TAGS(detail::expect_word, A...);
    return detail::poison{};
  } else if constexpr (!has_axes<E, A...>) {
    HEED_REFUSE("expect: the expression has other axes",
                detail::mistakes::expected_other_axes<typename E::axes_type, axes<A...>>);
    return detail::poison{};
  } else
    return detail::as_node(x);
}
}  // namespace HEED_ARCH
}  // namespace heed

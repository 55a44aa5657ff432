// SPDX-License-Identifier: BSL-1.0
// In: keys and values as they come. Out: kv_cache, what is filled of it as an expression; packed, a weight laid out for the
// kernels.
// Next to read: nn/, layers that use both.
#pragma once

#include "evaluate.hpp"
#include "ops/calls.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

struct cache_word {
  static constexpr std::string_view name = "kv_cache";
};
/// Says what is wrong with the axes of a cache.
template <bool Fine, class Key, class... A> struct checked_cache {};
template <class Key, class... A> struct checked_cache<false, Key, A...> {
  HEED_REFUSE("kv_cache: the axis of the keys comes first and grows, the others follow without it",
              mistakes::axes_are_not_those_of_a_cache<Key, axes<A...>>);
};
template <class Storage, bool Fine, class... Open, class... X>
Storage cache_storage(axes<Open...>, [[maybe_unused]] X const&... extents) {
  if constexpr (!Fine)
    return Storage();
  else if constexpr (distinct<axes<X...>> && same_set<axes<X...>, axes<Open...>>)
    return Storage(extents...);
  else {
    HEED_REFUSE("kv_cache: each axis whose extent is known at run time needs it by name, once",
                mistakes::extents_are_not_those_of_the_tensor<cache_word, axes<X...>, axes<Open...>>);
    return Storage();
  }
}

/// Beside rows of a buffer that is not written any more, the same in panels.
template <class T> void attach_panels(buffer owner, T const* rows, extent_t depth, extent_t columns) {
  kernel::ready_panels::make<T>(owner.attach(kernel::ready_panels::bytes<T>(depth, columns)), rows, depth, columns);
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// Keys or values of a sequence that grows, [Key, A...], stored as T: append(e) stores e behind what is there, view() is an
/// expression over what is filled. Past the capacity append throws shape_error and changes nothing. Sequences of
/// different length in one batch: lengths in an integer tensor, and a mask.
///
///     kv_cache<float, key, batch, head, d_head> keys{key{2048}, batch{1}};  // the capacity as the extent of key
///     keys.append(k);
///     auto s = where(causal<query, key>(keys.length() - 1), dot<d_head>(q, keys.view()));
template <class T, class Key, class... A> class kv_cache : public detail::cache_base {
  static constexpr bool fine = detail::axis_tag<Key> && detail::is_dynamic<Key> && !detail::contains<Key, axes<A...>>;
  static_assert(sizeof(detail::checked_cache<fine, Key, A...>));

  // key second to last: a head's keys lie one behind the other
  template <class Before, class... R> struct order;
  template <class... B, class Last> struct order<axes<B...>, Last> { using type = axes<B..., Key, Last>; };
  template <class... B, class X, class Y, class... R>
  struct order<axes<B...>, X, Y, R...> : order<axes<B..., X>, Y, R...> {};
  template <class... B> struct order<axes<B...>> { using type = axes<Key>; };
  using storage_axes = typename std::conditional_t<
      fine, order<axes<>, A...>,
      std::conditional_t<detail::axis_tag<Key>, order<axes<>>, detail::type_tag<axes<>>>>::type;
  using storage = typename detail::tensor_over<T, storage_axes>::type;

  storage data_;
  extent_t length_ = 0;

  auto filled(extent_t from, extent_t to) { return heed::slice<Key>(data_, from, to); }

 public:
  using axes_type = storage_axes;  ///< its axes, Key second to last
  using value_type = T;            ///< what it stores

  /// Empty. The extent of Key is the capacity; other open extents by name, each once.
  template <class... X>
    requires(sizeof...(X) > 0 && (detail::axis_tag<X> && ...))
  explicit kv_cache(X const&... extents)
      : data_(
            detail::cache_storage<storage, fine>(typename detail::dynamic_axes<axes<Key, A...>>::type{}, extents...)) {}
  /// @private
  template <class... Nothing>
    requires(sizeof...(Nothing) == 0)
  explicit kv_cache(Nothing...) {
    HEED_REFUSE(
        "kv_cache: each axis whose extent is known at run time needs it by name, once",
        detail::mistakes::extents_are_not_those_of_the_tensor<detail::cache_word, axes<Nothing...>,
                                                              typename detail::dynamic_axes<axes<Key, A...>>::type>);
  }
  /// @private
  template <std::integral... I>
    requires(sizeof...(I) > 0)
  explicit kv_cache(I...) {
    HEED_REFUSE("kv_cache: extents are given by name, as in key{2048}, not by place",
                detail::mistakes::extents_without_names<detail::cache_word,
                                                        typename detail::dynamic_axes<axes<Key, A...>>::type>);
  }

  /// How many keys there are.
  extent_t length() const { return length_; }
  /// How many there may be.
  extent_t capacity() const { return data_.template extent<Key>(); }
  /// An expression over the keys that are there now.
  auto view() const { return heed::slice<Key>(data_, 0, length_); }

  /// Stores e, which has Key and A..., behind what is there, converted to T. Past the capacity, and where another extent
  /// differs, shape_error, and nothing changes.
  void append(expression auto const& e) { append(policy{}, e); }
  /// The same, run as the policy says.
  template <detail::policy_like P> void append(P const& p, expression auto const& e) {
    if constexpr (!detail::is_poison<decltype(e)>) {
      auto n = detail::as_node(e);
      if constexpr (detail::destination_fits<typename decltype(n)::axes_type, storage>) {
        extent_t const more = detail::known_extent<Key>(n, "kv_cache");
        if (more > capacity() - length_)
          throw shape_error("kv_cache: " + std::to_string(length_) + " of " + std::to_string(capacity()) +
                            " places of axis " + detail::axis_name<Key>() + " are filled, " + std::to_string(more) +
                            " more do not fit");
        heed::evaluate_into(p, filled(length_, length_ + more), n);
        length_ += more;
      } else
        HEED_REFUSE("append: the expression does not fit the cache (a forgotten rename?)",
                    detail::mistakes::keys_do_not_fit_the_cache<typename decltype(n)::axes_type, storage_axes>);
    }
  }
  /// @private
  template <class... Nothing> void append(detail::anything, detail::anything = {}, detail::anything = {}) {
    HEED_REFUSE("append: it is called with expressions, as in append(e) or append(policy, e)",
                detail::mistakes::word_is_called_otherwise<detail::calls::append, axes<Nothing...>>);
  }
  /// Keeps the first n keys; more than there are is shape_error.
  void truncate(extent_t n) {
    if (n < 0 || n > length_)
      throw shape_error("kv_cache: cannot keep " + std::to_string(n) + " of " + std::to_string(length_) + " keys");
    length_ = n;
  }
  /// Takes the keys from .. to - 1 out; later ones move up. Others than there are: shape_error.
  void drop(extent_t from, extent_t to) {
    if (from < 0 || to < from || to > length_)
      throw shape_error("kv_cache: cannot drop " + std::to_string(from) + " to " + std::to_string(to) + " of " +
                        std::to_string(length_) + " keys");
    if (to < length_ && from < to)
      heed::evaluate_into(filled(from, from + length_ - to), heed::slice<Key>(data_, to, length_));
    length_ -= to - from;
  }
  /// Along B, element i becomes what element ids(i) was (beams that continue others).
  template <class B> void reorder(expression auto const& ids) {
    using I = std::remove_cvref_t<decltype(ids)>;
    if constexpr (detail::is_poison<I>)
      return;
    else if constexpr (!detail::contains<B, axes<A...>> || !detail::contains<B, typename I::axes_type> ||
                       !detail::subset<typename I::axes_type, axes<A...>>)
      HEED_REFUSE("kv_cache: reorder along an axis that the cache and the ids have",
                  detail::mistakes::ids_do_not_reorder<axes<A...>, B, typename I::axes_type>);
    else
      this->reorder_checked<B>(ids);
  }

 private:
  template <class B> void reorder_checked(expression auto const& ids) {
    if (ids.template extent<B>() != data_.template extent<B>())
      throw shape_error("kv_cache: axis " + detail::axis_name<B>() + " has extent " +
                        std::to_string(data_.template extent<B>()) + ", the ids have " +
                        std::to_string(ids.template extent<B>()));
    heed::evaluate_into(filled(0, length_), heed::take<B>(view(), ids));
  }
};

/// A snapshot of w, the axes of w, laid out for contractions over A...: its rows along the other axes lie side by side, and
/// once more in the panels that the kernels read, so that no evaluation packs them. It stands wherever w does, and takes
/// twice its memory. Refused: an axis of A... that w lacks.
///
///     auto weight = packed<model>(w_q);            // once
///     tensor y = evaluate(dot<model>(x, weight));  // as often as needed
template <class... A> auto packed(expression auto const& w) {
  using E = std::remove_cvref_t<decltype(w)>;
  if constexpr (detail::is_poison<E>)
    return detail::poison{};
  else {
    using Axes = typename E::axes_type;
    using Missing = typename detail::first_missing<Axes, A...>::type;
    if constexpr (!detail::good_tags<A...>) {
      HEED_REFUSE_TAGS(detail::packed_word, A...);
      return detail::poison{};
    } else if constexpr (!std::is_same_v<Missing, detail::no_axis>) {
      HEED_REFUSE("packed: the operand has no such axis",
                  detail::mistakes::axis_is_missing<detail::packed_word, Missing, Axes>);
      return detail::poison{};
    } else {
      using Order = detail::unite<axes<A...>, Axes>;
      auto n = detail::as_node(w);
      auto copy = detail::evaluate_one<false, Order>({}, n);
      using V = typename decltype(copy)::value_type;
      auto rows = copy.heed_leaf();
      if constexpr (std::is_same_v<V, float> || std::is_same_v<V, double>) {
        extent_t const depth = (extent_t{1} * ... * copy.template extent<A>());
        if (extent_t const columns = depth > 0 ? rows.size() / depth : 0; columns > 0)
          detail::attach_panels<V>(rows.owner, rows.data, depth, columns);
      }
      return detail::with_type<V const>(detail::reshape_leaf(rows, Axes{}));
    }
  }
}
}  // namespace HEED_ARCH
}  // namespace heed

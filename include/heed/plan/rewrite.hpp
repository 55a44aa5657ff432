// SPDX-License-Identifier: BSL-1.0
// In: a flat tree. Out: the same tree with other operands, with trees in place of its slots, or with the scales of its slots
// taken out.
// Next to read: stage.hpp, what the trees of a stage stand beside.
#pragma once

#include "keep.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

/// The node over other operands.
template <class Op, class T, class A, class... E, class... X> auto with_operands(map<Op, T, A, E...> const& n, X... x) {
  return map<Op, T, A, X...>(n.op, n.id, std::move(x)...);
}

/// slot 0 itself, below any number of wheres: its values need no work.
template <class N> inline constexpr bool is_bare_slot = false;
template <class T, class A> inline constexpr bool is_bare_slot<slot_node<T, A, 0>> = true;
template <class M, class X> inline constexpr bool is_bare_slot<where_node<M, X>> = is_bare_slot<X>;

template <class Op, class T, class A, class... E, class By>
auto replace_slots_in(map<Op, T, A, E...> const& n, By const& by);
/// slot i replaced by tree i of a tuple.
template <class N, class By> auto replace_slots(N const& n, By const& by) {
  if constexpr (is_map<N>)
    return plan::replace_slots_in(n, by);
  else if constexpr (is_where<N>) {
    auto x = plan::replace_slots(n.operand, by);
    return where_node<std::remove_cvref_t<decltype(n.keep)>, decltype(x)>(n.keep, std::move(x), n.id);
  } else if constexpr (requires { N::number; })
    return std::get<static_cast<std::size_t>(N::number)>(by);
  else
    return n;
}
template <class Op, class T, class A, class... E, class By>
auto replace_slots_in(map<Op, T, A, E...> const& n, By const& by) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return plan::with_operands(n, plan::replace_slots(n.template operand<I>(), by)...);
  }
  (std::index_sequence_for<E...>{});
}
template <class N, class By> auto replace_slot(N const& n, By const& by) {
  return plan::replace_slots(n, std::make_tuple(by));
}

/// A slot times a number: which slot, and the number.
template <class N> struct scaled_slot { static constexpr bool value = false; };
template <class T, class A, class S, class B, int I>
struct scaled_slot<map<ops::times, T, A, slot_node<S, B, I>, scalar<T>>> {
  static constexpr bool value = true;
  using slot = slot_node<S, B, I>;
  static double scale(map<ops::times, T, A, slot, scalar<T>> const& n) {
    return static_cast<double>(n.template operand<1>().value);
  }
};
template <class T, class A, class S, class B, int I>
struct scaled_slot<map<ops::times, T, A, scalar<T>, slot_node<S, B, I>>> {
  static constexpr bool value = true;
  using slot = slot_node<S, B, I>;
  static double scale(map<ops::times, T, A, scalar<T>, slot> const& n) {
    return static_cast<double>(n.template operand<0>().value);
  }
};
template <class T, class A, class S, class B, int I>
struct scaled_slot<map<ops::divided, T, A, slot_node<S, B, I>, scalar<T>>> {
  static constexpr bool value = true;
  using slot = slot_node<S, B, I>;
  static double scale(map<ops::divided, T, A, slot, scalar<T>> const& n) {
    return 1 / static_cast<double>(n.template operand<1>().value);
  }
};
template <class Op, class T, class A, class... E> auto hoist_in(map<Op, T, A, E...> const& n, double* scales);
/// The tree with every scaled slot bare; its number goes to scales[slot]. A slot occurs once.
template <class N> auto hoist(N const& n, double* scales) {
  if constexpr (scaled_slot<N>::value) {
    scales[scaled_slot<N>::slot::number] = scaled_slot<N>::scale(n);
    return typename scaled_slot<N>::slot{};
  } else if constexpr (is_map<N>)
    return plan::hoist_in(n, scales);
  else if constexpr (is_where<N>) {
    auto x = plan::hoist(n.operand, scales);
    return where_node<std::remove_cvref_t<decltype(n.keep)>, decltype(x)>(n.keep, std::move(x), n.id);
  } else
    return n;
}
template <class Op, class T, class A, class... E> auto hoist_in(map<Op, T, A, E...> const& n, double* scales) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return plan::with_operands(n, plan::hoist(n.template operand<I>(), scales)...);
  }
  (std::index_sequence_for<E...>{});
}

}  // namespace HEED_ARCH
}  // namespace heed::plan

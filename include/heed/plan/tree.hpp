// SPDX-License-Identifier: BSL-1.0
// In: a flat tree (nothing heavy left in it) and the numbered axes of a stage. Out: its terminals as operands for the kernels,
// and its value at single coordinates, for what strides cannot say.
// Next to read: interval.hpp, the same tree over a whole box.
#pragma once

#include "../loops.hpp"
#include "../ops/concepts.hpp"

namespace heed::plan {
inline namespace HEED_ARCH {

using namespace heed::detail;  // NOLINT: the nodes

template <class T> using scalar_type = std::conditional_t<is_real<T> || std::is_same_v<T, bool>, T, std::int64_t>;

// ---------------------------------------------------------------- strides by the numbers of a stage's axes
template <class SA, class T, class... A>
void place_leaf([[maybe_unused]] leaf<T, axes<A...>> const& l, [[maybe_unused]] extent_t* stride,
                [[maybe_unused]] std::uint32_t& varies) {
  (([&] {
     constexpr int i = index_of<A, SA>;
     static_assert(i < SA::rank, "a terminal has an axis that the stage lacks");
     stride[i] = l.strides[index_of<A, axes<A...>>];
     varies |= 1u << i;
   }()),
   ...);
}
template <class SA, class List> constexpr std::uint32_t bits_of() {
  std::uint32_t b = 0;
  for_each_axis(List{}, [&]<class A>(type_tag<A>) { b |= 1u << index_of<A, SA>; });
  return b;
}

// ---------------------------------------------------------------- one value: coordinates by stage axis
/// The coordinates of a node that has other axes than the stage: SA and what they are along the node's own axes.
template <class SA, class N> struct scalar_at;
template <class SA, class N> auto value_here(N const& n, extent_t const* c) { return scalar_at<SA, N>::go(n, c); }
template <class SA, class T, class... A> struct scalar_at<SA, leaf<T, axes<A...>>> {
  static auto go(leaf<T, axes<A...>> const& l, extent_t const* c) {
    extent_t o = 0;
    ((o += c[index_of<A, SA>] * l.strides[index_of<A, axes<A...>>]), ...);
    return static_cast<scalar_type<value_of_t<T>>>(static_cast<value_of_t<T>>(l.data[o]));
  }
};
template <class SA, class T> struct scalar_at<SA, scalar<T>> {
  static auto go(scalar<T> const& n, extent_t const*) { return static_cast<scalar_type<T>>(n.value); }
};
template <class SA, class A> struct scalar_at<SA, index_node<A>> {
  static std::int64_t go(index_node<A> const&, extent_t const* c) { return c[index_of<A, SA>]; }
};
template <class SA, class... A> struct scalar_at<SA, dropout_mask<axes<A...>>> {
  static bool go(dropout_mask<axes<A...>> const& n, extent_t const* c) {
    return n.rule.keeps((n.word(index_of<A, axes<A...>>, c[index_of<A, SA>]) ^ ... ^ std::uint64_t{0}));
  }
};
template <class SA, class Op, class T, class Axes, class... E> struct scalar_at<SA, map<Op, T, Axes, E...>> {
  static auto go(map<Op, T, Axes, E...> const& n, extent_t const* c) {
    if constexpr (std::is_same_v<Op, ops::first_of>)
      return plan::value_here<SA>(n.template operand<0>(), c);
    else
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        if constexpr (std::is_same_v<Op, ops::chosen> && std::is_same_v<T, bool>)
          return n.op.apply_mask(plan::value_here<SA>(n.template operand<I>(), c)...);
        else if constexpr (std::is_same_v<Op, ops::cast_to<T>>)
          return ops::convert<scalar_type<T>>(plan::value_here<SA>(n.template operand<0>(), c));
        else
          return n.op.apply(plan::value_here<SA>(n.template operand<I>(), c)...);
      }
    (std::index_sequence_for<E...>{});
  }
};
/// Coordinates in a wider list of axes.
template <class To, class From> void widen(extent_t const* from, extent_t* to) {
  for_each_axis(From{}, [&]<class A>(type_tag<A>) { to[index_of<A, To>] = from[index_of<A, From>]; });
}
template <class SA, class Change, class Axes, class E> struct scalar_at<SA, reindexed<Change, Axes, E>> {
  using node = reindexed<Change, Axes, E>;
  using Inner = unite<typename E::axes_type, SA>;  // the operand's axes shadow the result's of the same name
  static void inner(node const& n, extent_t const* c, extent_t* out) {
    plan::widen<Inner, SA>(c, out);
    for_each_axis(intersection<typename Change::hidden, typename E::axes_type>{}, [&]<class X>(type_tag<X>) {
      out[index_of<X, Inner>] = n.change.template source<X>([&]<class Y>(type_tag<Y>) { return c[index_of<Y, SA>]; });
    });
  }
  static auto go(node const& n, extent_t const* c) {
    extent_t in[Inner::rank + 1] = {};
    inner(n, c, in);
    return plan::value_here<Inner>(n.operand, in);
  }
};
template <class SA, class A, class Axes, class Table, class Ids> struct scalar_at<SA, take_node<A, Axes, Table, Ids>> {
  using node = take_node<A, Axes, Table, Ids>;
  using Inner = unite<typename Table::axes_type, SA>;
  static void inner(node const& n, extent_t const* c, extent_t* out) {
    plan::widen<Inner, SA>(c, out);
    out[index_of<A, Inner>] = static_cast<extent_t>(plan::value_here<SA>(n.ids, c));
  }
  static auto go(node const& n, extent_t const* c) {
    extent_t in[Inner::rank + 1] = {};
    inner(n, c, in);
    return plan::value_here<Inner>(n.table, in);
  }
};
template <class SA, class A, bool Stacked, class Axes, class... E>
struct scalar_at<SA, joined_node<A, Stacked, Axes, E...>> {
  using node = joined_node<A, Stacked, Axes, E...>;
  /// Calls f(part, coordinates inside the part) for the part that holds these coordinates.
  template <class F> static void visit(node const& n, extent_t const* c, F&& f) {
    extent_t in[SA::rank + 1];
    std::copy(c, c + SA::rank, in);
    extent_t& i = in[index_of<A, SA>];
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      bool found = false;
      auto one = [&](auto const& part) {
        if (found) return;
        extent_t const size = Stacked ? 1 : part.template extent<A>();
        if (i < size) {
          found = true;
          f(part, static_cast<extent_t const*>(in));
        } else
          i -= size;
      };
      (one(n.template operand<I>()), ...);
    }
    (std::index_sequence_for<E...>{});
  }
  static auto go(node const& n, extent_t const* c) {
    scalar_type<typename node::value_type> v{};
    visit(n, c, [&](auto const& part, extent_t const* in) { v = plan::value_here<SA>(part, in); });
    return v;
  }
};

// ---------------------------------------------------------------- a run of values along one axis
template <class SA, class T, class... A>
void copy_leaf_run(leaf<T, axes<A...>> const& l, extent_t const* c, extent_t step, extent_t count,
                   scalar_type<value_of_t<T>>* out) {
  extent_t o = 0;
  ((o += c[index_of<A, SA>] * l.strides[index_of<A, axes<A...>>]), ...);
  for (extent_t i = 0; i < count; ++i)
    out[i] = static_cast<scalar_type<value_of_t<T>>>(static_cast<value_of_t<T>>(l.data[o + i * step]));
}
template <class SA, class... A> extent_t stride_along(leaf<A...> const& l, int axis) {
  extent_t s = 0;
  for_each_axis(typename leaf<A...>::axes_type{}, [&]<class X>(type_tag<X>) {
    if (index_of<X, SA> == axis) s = l.template stride<X>();
  });
  return s;
}
/// True (and done) where the run is a strided piece of one leaf.
template <class SA, class N> bool fast_run(N const&, extent_t const*, int, extent_t, void*) { return false; }
template <class SA, class A, class Axes, class T, class L, class Ids>
bool fast_run(take_node<A, Axes, leaf<T, L>, Ids> const& n, extent_t const* c, int axis, extent_t count, void* out) {
  using at = scalar_at<SA, take_node<A, Axes, leaf<T, L>, Ids>>;
  using Inner = typename at::Inner;
  if (axis < 0 || (plan::bits_of<SA, typename Ids::axes_type>() >> axis & 1) != 0) return false;
  extent_t in[Inner::rank + 1] = {};
  at::inner(n, c, in);
  extent_t step = 0;
  for_each_axis(L{}, [&]<class X>(type_tag<X>) {
    if constexpr (!std::is_same_v<X, A>)
      if (index_of<X, SA> == axis) step = n.table.template stride<X>();
  });
  plan::copy_leaf_run<Inner>(n.table, in, step, count, static_cast<scalar_type<value_of_t<T>>*>(out));
  return true;
}
template <class SA, class Change, class Axes, class T, class L>
bool fast_run(reindexed<Change, Axes, leaf<T, L>> const& n, extent_t const* c, int axis, extent_t count, void* out) {
  using at = scalar_at<SA, reindexed<Change, Axes, leaf<T, L>>>;
  using Inner = typename at::Inner;
  // only along axes that the change does not touch: those that both sides have under one name
  bool untouched = false;
  for_each_axis(intersection<L, Axes>{}, [&]<class X>(type_tag<X>) {
    if constexpr (!contains<X, typename Change::hidden>) untouched |= index_of<X, SA> == axis;
  });
  if (!untouched) return false;
  extent_t in[Inner::rank + 1] = {};
  at::inner(n, c, in);
  plan::copy_leaf_run<Inner>(n.operand, in, plan::stride_along<SA>(n.operand, axis), count,
                             static_cast<scalar_type<value_of_t<T>>*>(out));
  return true;
}
template <class SA, class A, bool Stacked, class Axes, class... E>
bool fast_run(joined_node<A, Stacked, Axes, E...> const& n, extent_t const* c, int axis, extent_t count, void* out) {
  if constexpr (!(is_leaf_node<E> && ...))
    return false;
  else {
    if (axis < 0 || axis == index_of<A, SA>) return false;
    scalar_at<SA, joined_node<A, Stacked, Axes, E...>>::visit(n, c, [&](auto const& part, extent_t const* in) {
      using V = scalar_type<typename std::remove_cvref_t<decltype(part)>::value_type>;
      plan::copy_leaf_run<SA>(part, in, plan::stride_along<SA>(part, axis), count, static_cast<V*>(out));
    });
    return true;
  }
}
template <class SA, class N>
void fetch(void const* node, extent_t const* coordinates, int axis, extent_t count, void* out) {
  N const& n = *static_cast<N const*>(node);
  if (plan::fast_run<SA>(n, coordinates, axis, count, out)) return;
  extent_t c[loops::max_rank];
  std::copy(coordinates, coordinates + loops::max_rank, c);
  auto* to = static_cast<scalar_type<typename N::value_type>*>(out);
  for (extent_t i = 0; i < count; ++i) {
    to[i] = plan::value_here<SA>(n, c);
    if (axis >= 0) ++c[axis];
  }
}

// ---------------------------------------------------------------- terminals as operands, in the order of kernel/tree.hpp
template <class SA, class N> struct collector {  // whatever strides cannot say
  static void go(N const& n, loops::operand*& out) {
    loops::operand& o = *out++;
    using V = scalar_type<typename N::value_type>;
    o.size = sizeof(V);
    o.real = is_real<V>;
    o.varies = plan::bits_of<SA, typename N::axes_type>();
    o.fetch = &plan::fetch<SA, N>;
    o.node = &n;
  }
};
template <class SA, class T, class A> struct collector<SA, leaf<T, A>> {
  static void go(leaf<T, A> const& n, loops::operand*& out) {
    loops::operand& o = *out++;
    o.data = n.data;
    o.size = sizeof(T);
    o.real = is_real<std::remove_const_t<T>>;
    plan::place_leaf<SA>(n, o.stride, o.varies);
  }
};
template <class SA, class T> struct collector<SA, scalar<T>> {
  static void go(scalar<T> const&, loops::operand*&) {}
};
template <class SA, class A> struct collector<SA, extents_node<A>> {
  static void go(extents_node<A> const&, loops::operand*&) {}
};
template <class SA, class A> struct collector<SA, index_node<A>> {
  static void go(index_node<A> const&, loops::operand*& out) {
    loops::operand& o = *out++;
    o.size = 8;
    o.index_axis = index_of<A, SA>;
    o.varies = 1u << index_of<A, SA>;
  }
};
template <class SA, class... A> struct collector<SA, dropout_mask<axes<A...>>> {
  using mask = dropout_mask<axes<A...>>;
  /// What the rows add to the words of a block, and what the lanes add.
  static void go(mask const& n, loops::operand*& out) {
    for (loops::words_part part : {loops::words_part::rows, loops::words_part::lanes}) {
      loops::operand& o = *out++;
      o.size = 8;
      o.varies = (0u | ... | (1u << index_of<A, SA>));
      o.words = &add_words;
      o.words_of = part;
      o.node = &n;
    }
  }
  static void add_words(void const* node, extent_t const* coordinates, std::uint32_t among, int along, extent_t count,
                        std::uint64_t* out) {
    mask const& n = *static_cast<mask const*>(node);
    (add<A>(n, coordinates, among, along, count, out), ...);
  }
  template <class X>
  static void add(mask const& n, extent_t const* coordinates, std::uint32_t among, int along, extent_t count,
                  std::uint64_t* out) {
    constexpr int stage_axis = index_of<X, SA>, own = index_of<X, axes<A...>>;
    if (!(among >> stage_axis & 1)) return;
    extent_t const from = coordinates[stage_axis];
    if (along == stage_axis) {
      for (extent_t i = 0; i < count; ++i) out[i] ^= n.word(own, from + i);
    } else {
      std::uint64_t const word = n.word(own, from);
      for (extent_t i = 0; i < count; ++i) out[i] ^= word;
    }
  }
};
template <class SA, class T, class A, int I> struct collector<SA, slot_node<T, A, I>> {
  static void go(slot_node<T, A, I> const&, loops::operand*& out) {
    loops::operand& o = *out++;
    o.size = sizeof(scalar_type<T>);
    o.slot = I;
  }
};
template <class SA, class Op, class T, class A, class... E> struct collector<SA, map<Op, T, A, E...>> {
  static void go(map<Op, T, A, E...> const& n, loops::operand*& out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (collector<SA, E>::go(n.template operand<I>(), out), ...); }
    (std::index_sequence_for<E...>{});
  }
};
template <class SA, class M, class X> struct collector<SA, where_node<M, X>> {
  static void go(where_node<M, X> const& n, loops::operand*& out) {
    collector<SA, M>::go(n.keep, out);
    collector<SA, X>::go(n.operand, out);
  }
};
template <class SA, class M, class X> struct collector<SA, zeroed_node<M, X>> {
  static void go(zeroed_node<M, X> const& n, loops::operand*& out) { collector<SA, X>::go(n.operand, out); }
};
template <class SA, class E> struct collector<SA, term_node<E>> {
  static void go(term_node<E> const& n, loops::operand*& out) { collector<SA, E>::go(n.operand, out); }
};

// ---------------------------------------------------------------- changes of coordinates on a flat tree
/// The axes of a result whose operand has the axes List.
template <class Change, class List> struct changed {
  using type = List;  // roll, partner
};
template <class A, class B, class C, class List> struct changed<split_change<A, B, C>, List> {
  using type = replace_in<List, A, B, C>;
};
template <class B, class C, class A, class List> struct changed<merge_change<B, C, A>, List> {
  using type = std::conditional_t<contains<B, List>, rename_in<difference<List, axes<C>>, B, A>, rename_in<List, C, A>>;
};
template <class A, class To, class List> struct changed<slice_change<A, To>, List> {
  using type = rename_in<List, A, To>;
};
template <class A, class List> struct changed<at_change<A>, List> { using type = difference<List, axes<A>>; };
template <class A, class Half, class List> struct changed<pair_change<A, Half>, List> {
  using type = rename_in<List, Half, A>;
};
/// The operand may lack some of the hidden axes (a keep-set that is narrower than its values).
template <class Change, class N> auto change_tree(Change const& c, N const& n) {
  using Axes = typename changed<Change, typename N::axes_type>::type;
  if constexpr (intersection<typename N::axes_type, typename Change::hidden>::rank == 0)
    return n;
  else if constexpr (is_leaf_node<N> && requires { detail::on_leaf(c, Axes{}, n); })
    return detail::on_leaf(c, Axes{}, n);
  else
    return reindexed<Change, Axes, N>(c, n, 0);
}

// ---------------------------------------------------------------- whole numbers that grow evenly
/// A flat tree of sums, differences and multiples of coordinates and numbers: its value where all coordinates are 0, and
/// what one step along an axis adds.
template <class N> struct straight_ids { static constexpr bool value = false; };
template <class A> struct straight_ids<index_node<A>> {
  static constexpr bool value = true;
  static extent_t first(index_node<A> const&) { return 0; }
  template <class X> static extent_t along(index_node<A> const&) { return std::is_same_v<X, A> ? 1 : 0; }
};
template <class T> struct straight_ids<scalar<T>> {
  static constexpr bool value = is_integer<T>;
  static extent_t first(scalar<T> const& n) { return static_cast<extent_t>(n.value); }
  template <class X> static extent_t along(scalar<T> const&) { return 0; }
};
template <class Op, class T, class A, class E, class F>
  requires(std::is_same_v<Op, ops::plus> || std::is_same_v<Op, ops::minus>)
struct straight_ids<map<Op, T, A, E, F>> {
  using node = map<Op, T, A, E, F>;
  static constexpr bool value = std::is_same_v<T, std::int64_t> && straight_ids<E>::value && straight_ids<F>::value;
  static constexpr extent_t sign = std::is_same_v<Op, ops::plus> ? 1 : -1;
  static extent_t first(node const& n) {
    return straight_ids<E>::first(n.template operand<0>()) + sign * straight_ids<F>::first(n.template operand<1>());
  }
  template <class X> static extent_t along(node const& n) {
    return straight_ids<E>::template along<X>(n.template operand<0>()) +
           sign * straight_ids<F>::template along<X>(n.template operand<1>());
  }
};

template <class T, class A, class E, class S> struct straight_ids<map<ops::times, T, A, E, scalar<S>>> {
  using node = map<ops::times, T, A, E, scalar<S>>;
  static constexpr bool value = std::is_same_v<T, std::int64_t> && is_integer<S> && straight_ids<E>::value;
  static extent_t times(node const& n, extent_t x) { return x * static_cast<extent_t>(n.template operand<1>().value); }
  static extent_t first(node const& n) { return times(n, straight_ids<E>::first(n.template operand<0>())); }
  template <class X> static extent_t along(node const& n) {
    return times(n, straight_ids<E>::template along<X>(n.template operand<0>()));
  }
};

// ---------------------------------------------------------------- what a tree excludes
template <class N> inline constexpr bool excludes = false;
template <class M, class X> inline constexpr bool excludes<where_node<M, X>> = true;
template <class E> inline constexpr bool excludes<term_node<E>> = true;
template <class Op, class T, class A, class... E>
inline constexpr bool excludes<map<Op, T, A, E...>> = (excludes<E> || ...);

}  // namespace HEED_ARCH
}  // namespace heed::plan

// SPDX-License-Identifier: BSL-1.0
// In: an expression and a destination. Out: stages, each handed to a backend as soon as its inputs are planned: an anchor
// (contraction, streamed reduction, row reduction or none) with the elementwise tree around it. What cannot be fused is stored,
// once, and found again by its id. Types choose, ids decide.
// Next to read: lower_streamed.hpp, the part for what runs as a stream; then ../runner.hpp, the backend.
//
// Three functions that call each other; what a reader seldom needs is in parts that call back (lower_*.hpp):
//
//   lower(n)        n as a flat tree: everything heavy in it stored
//   store(n)        n in memory of its own, as a leaf (beside its keep-set, where something is excluded)
//   execute(n, out) the stage that computes n into out
#pragma once

#include "hint.hpp"
#include "lower_layout.hpp"
#include "lower_streamed.hpp"
#include "lower_unfused.hpp"
#include "rewrite.hpp"
#include "stage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class Backend> class lowering {
  Backend& b_;
  using repeated_types = typename Backend::repeated_types;
  static constexpr bool may_unfuse = Backend::may_unfuse;

  auto layout() { return layout_lowering<lowering>(*this); }
  auto streamed() { return streamed_lowering<lowering>(*this); }

 public:
  using backend_type = Backend;
  using wanted_types = typename Backend::wanted_types;

  explicit lowering(Backend& b) : b_(b) {}
  Backend& backend() const { return b_; }

  // ================================================================ memory
  /// Memory for a node, dense; side by side lies what does so in Order, that of its reader: a mask whose own order is the other
  /// one would be read across the lines of the cache.
  template <class V, class Order = axes<>, class... A, class N>
  leaf<V, axes<A...>> new_leaf(axes<A...>, N const& n, hint const& shape, std::string_view why) {
    leaf<V, axes<A...>> l;
    [[maybe_unused]] int i = 0;
    ((l.extents[i++] = plan::extent_of<A>(n, shape)), ...);
    l.make_dense();
    using Read = unite<intersection<Order, axes<A...>>, axes<A...>>;
    if constexpr (!std::is_same_v<Read, axes<A...>>) {
      leaf<V, Read> in_order;
      i = 0;
      for_each_axis(Read{}, [&]<class X>(type_tag<X>) { in_order.extents[i++] = l.extents[index_of<X, axes<A...>>]; });
      in_order.make_dense();
      i = 0;
      for_each_axis(Read{}, [&]<class X>(type_tag<X>) { l.strides[index_of<X, axes<A...>>] = in_order.strides[i++]; });
    }
    extent_t const size = detail::checked_size(l.extents, sizeof...(A), sizeof(V));
    b_.allocate(l, static_cast<std::size_t>(size) * sizeof(V), plan::name_of<N>(), why);
    return l;
  }

  // ================================================================ store: a node in memory of its own
  template <bool Marks, class N> auto store(N const& n, hint const& shape, std::string_view why) {
    using V = stored_type<typename N::value_type>;
    using Leaf = leaf<V const, typename N::axes_type>;
    constexpr bool beside = excluding<Marks, N>::value;
    constexpr bool zeroed = is_reduction<N> && zero_rule<N>::value;
    Leaf values;
    node_id const id = plan::id_of(n);
    if (!b_.find(id, values, hint{n, shape})) {
      auto fresh = new_leaf<V>(typename N::axes_type{}, n, shape, why);
      execute(n, fresh, shape, 0.0);
      values = detail::with_type<V const>(fresh);
      b_.remember(id, values);
    }
    if constexpr (beside) {
      auto k = store_keep<typename N::axes_type>(plan::keep_of<Marks>(n), hint{n, shape},
                                                 plan::keep_id(plan::marked_id<Marks, N>(id)));
      return where_node<decltype(k), Leaf>(std::move(k), std::move(values), 0);
    } else if constexpr (zeroed) {
      auto k = store_keep<typename N::axes_type>(plan::zero_keep(n), hint{n, shape}, plan::keep_id(id));
      return zeroed_node<decltype(k), Leaf>(std::move(k), std::move(values));
    } else
      return values;
  }
  /// A keep-set as a bool leaf, beside values in this order.
  template <class Order, class K> auto store_keep(K const& keep, hint const& shape, node_id id) {
    auto k = lower<false>(keep, shape);
    if constexpr (is_leaf_node<decltype(k)>)
      return k;
    else {
      leaf<bool const, typename decltype(k)::axes_type> l;
      if (b_.find(id, l, hint{k, shape})) return l;
      auto fresh =
          new_leaf<bool, Order>(typename decltype(k)::axes_type{}, k, shape, "a keep-set beside a stored result");
      b_.map(k, fresh, 0.0);
      l = detail::with_type<bool const>(fresh);
      b_.remember(id, l);
      return l;
    }
  }
  /// An elementwise tree around a contraction or reduction of its own shape: where it is stored, its anchor's stage does it.
  template <class N> static constexpr bool stored_as_one() {
    if constexpr (is_elementwise<N>)
      if constexpr (N::heavy && !excluding<false, N>::value && !zero_rule<N>::value)
        return !std::is_void_v<typename best_anchor<typename N::axes_type, N, repeated_types, true>::type>;
    return false;
  }
  template <bool Marks, class N>
  auto lower_stored(N const& n, hint const& shape, [[maybe_unused]] std::string_view why) {
    if constexpr (stored_as_one<N>() && !excluding<Marks, N>::value)
      return store<Marks>(n, shape, why);
    else
      return lower<Marks>(n, shape);
  }
  /// Any node as a plain leaf; excluded elements read 0.
  template <class N> auto as_leaf(N const& n, hint const& shape, std::string_view why) {
    auto flat = lower_stored<false>(n, shape, why);
    using F = decltype(flat);
    if constexpr (is_leaf_node<F>)
      return flat;
    else if constexpr (is_where_leaf<F>) {  // stored beside its keep-set: zeros are in place unless the user's own leaf
      if constexpr (stored_with_zeros<N>)
        return flat.operand;
      else
        return store_flat(flat, shape, why, plan::id_of(n));
    } else if constexpr (is_zeroed_leaf<F>)
      return flat.operand;
    else
      return store_flat(flat, shape, why, plan::id_of(n));
  }
  /// A flat tree through a map stage.
  template <class F> auto store_flat(F const& flat, hint const& shape, std::string_view why, node_id id) {
    using V = stored_type<typename F::value_type>;
    leaf<V const, typename F::axes_type> l;
    if (b_.find(id, l, hint{flat, shape})) return l;
    auto fresh = new_leaf<V>(typename F::axes_type{}, flat, shape, why);
    b_.map(flat, fresh, 0.0);
    l = detail::with_type<V const>(fresh);
    b_.remember(id, l);
    return l;
  }

  // ================================================================ lower: a flat tree
  template <bool Marks, class T, class A> auto lower(leaf<T, A> const& n, hint const&) { return detail::borrowed(n); }
  template <bool Marks, class T> auto lower(scalar<T> const& n, hint const&) { return n; }
  template <bool Marks, class A> auto lower(index_node<A> const& n, hint const&) { return n; }
  template <bool Marks, class A> auto lower(extents_node<A> const& n, hint const&) { return n; }
  template <bool Marks, class A> auto lower(dropout_mask<A> const& n, hint const&) { return n; }
  template <bool Marks, class K, class L, class R> auto lower(contraction<K, L, R> const& n, hint const& shape) {
    return store<Marks>(n, shape, "a contraction that is read more than once or under other loops");
  }
  template <bool Marks, class K, class O, class E, class S>
  auto lower(reduction<K, O, E, S> const& n, hint const& shape) {
    return store<Marks>(n, shape, "a reduction whose rows end before it is read");
  }
  template <bool Marks, class E> auto lower(let_node<E> const& n, hint const& shape) {
    return store<Marks>(n, shape, "let");
  }
  template <bool Marks, class Op, class T, class A, class... E>
  auto lower(map<Op, T, A, E...> const& n, hint const& shape) {
    using N = map<Op, T, A, E...>;
    if constexpr (N::heavy && in_types<N, repeated_types>)
      return store<Marks>(n, shape, "used more than once");
    else
      return lower_map<Marks>(n, shape);
  }
  template <bool Marks, class Op, class T, class A, class... E>
  auto lower_map(map<Op, T, A, E...> const& n, hint const& outer) {
    hint const shape(n, outer);
    constexpr bool marked = Marks && is_sum<map<Op, T, A, E...>>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(
          n, lower_operand<marked, Marks>(n.template operand<I>(), shape, excluded_term<Op, I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
  /// An operand; one that may exclude as a term says so.
  template <bool Sum, bool Marks, class E>
  auto lower_operand(E const& e, hint const& shape, [[maybe_unused]] double excluded) {
    return term_of<Sum, E>(lower<Marks>(e, shape), shape, excluded);
  }
  /// Streamed: the axes of the scores. A term that has them all is read once, and looked at tile by tile as it is read; one
  /// that serves several heads is looked at once before.
  template <bool Sum, class Original, class Streamed = axes<>, class F>
  auto term_of(F const& flat, [[maybe_unused]] hint const& shape, [[maybe_unused]] double excluded) {
    constexpr bool by_tile = Streamed::rank > 0 && difference<Streamed, typename F::axes_type>::rank == 0;
    if constexpr (Sum && is_term<Original>)
      return term_node<F>(flat, b_.template never_excludes<by_tile>(flat, shape, excluded), excluded);
    else
      return flat;
  }
  template <bool Marks, class M, class X> auto lower(where_node<M, X> const& n, hint const& shape) {
    if constexpr (where_node<M, X>::heavy && in_types<where_node<M, X>, repeated_types>)
      return store<Marks>(n, shape, "used more than once");
    else {
      hint const wide{n.operand, shape};
      auto m = lower<false>(plan::condition_of(n), wide);
      auto x = lower<Marks>(n.operand, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
    }
  }
  template <bool Marks, class C, class A, class E> auto lower(reindexed<C, A, E> const& n, hint const& shape) {
    return layout().template lower<Marks>(n, shape);
  }
  template <bool Marks, class A, class X, class T, class I>
  auto lower(take_node<A, X, T, I> const& n, hint const& shape) {
    return layout().template lower<Marks>(n, shape);
  }
  template <bool Marks, class A, bool S, class X, class... E>
  auto lower(joined_node<A, S, X, E...> const& n, hint const& shape) {
    return layout().template lower<Marks>(n, shape);
  }

  // ================================================================ execute: one stage
  template <class N, class T, class A> void execute(N const& n, leaf<T, A> const& out, hint const& shape, double fill) {
    if constexpr (may_unfuse)
      if (b_.is_unfused()) return unfused_lowering<lowering>(*this).execute(n, out, shape, fill);
    execute_fused(n, out, shape, fill);
  }
  template <class N, class Out> void execute_fused(N const& n, Out const& out, hint const& shape, double fill) {
    if constexpr (is_let<N>)
      execute_fused(n.operand, out, shape, fill);
    else if constexpr (is_contraction<N> || is_reduction<N>) {
      auto epilogue = slot_node<typename N::value_type, typename N::axes_type, 0>{};
      run_anchor(n, epilogue, out, shape, fill);
    } else if constexpr (is_elementwise<N> && N::heavy) {
      using Anchor = typename best_anchor<typename N::axes_type, N, repeated_types, true>::type;
      if constexpr (std::is_void_v<Anchor>)
        b_.map(lower_top(n, shape), out, fill);
      else {
        Anchor const* anchor = nullptr;
        auto epilogue = around<Anchor>(n, anchor, shape);
        run_anchor(*anchor, epilogue, out, shape, fill);
      }
    } else
      b_.map(lower<false>(n, shape), out, fill);
  }
  template <class N> auto lower_top(N const& n, hint const& shape) {  // the node itself is not to be stored again
    if constexpr (is_map<N>)
      return lower_map<false>(n, shape);
    else {
      auto m = lower<false>(plan::condition_of(n), hint{n, shape});
      auto x = lower<false>(n.operand, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
    }
  }
  /// The tree around the anchor, with slot 0 in its place and everything else flat.
  template <class Anchor, class N> auto around(N const& n, Anchor const*& anchor, hint const& shape) {
    if constexpr (std::is_same_v<N, Anchor>) {
      anchor = &n;
      return slot_node<typename N::value_type, typename N::axes_type, 0>{};
    } else if constexpr (!is_elementwise<N> || !(std::is_same_v<Anchor, N> || mentioned<Anchor, N>::value))
      return lower<false>(n, shape);
    else if constexpr (is_map<N>)
      return around_map<Anchor>(n, anchor, shape);
    else {
      auto m = lower<false>(plan::condition_of(n), hint{n, shape});
      auto x = around<Anchor>(n.operand, anchor, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
    }
  }
  template <class Anchor, class Op, class T, class A, class... E>
  auto around_map(map<Op, T, A, E...> const& n, Anchor const*& anchor, hint const& outer) {
    hint const shape(n, outer);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(n, around<Anchor>(n.template operand<I>(), anchor, shape)...);
    }
    (std::index_sequence_for<E...>{});
  }

  template <class K, class L, class R, class Epilogue, class Out>
  void run_anchor(contraction<K, L, R> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                  double fill) {
    using N = contraction<K, L, R>;
    constexpr int side = is_streamed_contraction<N> ? streamed_side<N> : -1;
    if constexpr (side == 0 && may_be_contexts<L, K>)
      if (of_contexts<K>(n.left, shape)) return run_contraction(n, epilogue, out, shape, fill);
    if constexpr (side == 1 && may_be_contexts<R, K>)
      if (of_contexts<K>(n.right, shape)) return run_contraction(n, epilogue, out, shape, fill);
    if constexpr (side == 0)
      streamed().template run<K>(n.left, n.right, n, epilogue, out, shape, fill);
    else if constexpr (side == 1)
      streamed().template run<K>(n.right, n.left, n, epilogue, out, shape, fill);
    else
      run_contraction(n, epilogue, out, shape, fill);
  }
  template <class K, class L, class R, class Epilogue, class Out>
  void run_contraction(contraction<K, L, R> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                       double fill) {
    using N = contraction<K, L, R>;
    auto l = factor<marks_factor<N, 0>>(n.left, hint{n.right, shape});
    auto r = factor<marks_factor<N, 1>>(n.right, hint{n.left, shape});
    b_.template contract<K>(l, r, epilogue, out, fill);
  }
  /// A tree over softmaxes, stored with zeros where they or the tree itself excluded, beside that keep-set.
  template <class N, class F> auto with_zeros(N const& n, F const& flat, hint const& shape) {
    auto k = store_keep<typename N::axes_type>(plan::factor_keep(n), hint{n, shape}, 0);
    auto v = store_flat(where_node<decltype(k), F>(k, flat, 0), hint{n, shape}, "weights beside their keep-set", 0);
    return zeroed_node<decltype(k), decltype(v)>(std::move(k), std::move(v));
  }
  /// An operand of a contraction: a leaf, beside its keep-set where a product must be skipped.
  template <bool Marks, class N>
  auto factor(N const& n, hint const& shape, std::string_view why = "an operand of a contraction") {
    return factor_from(n, lower_stored<Marks>(n, shape, why), shape, why);
  }
  template <class N, class F> auto factor_from(N const& n, F const& flat, hint const& shape, std::string_view why) {
    if constexpr (zero_rule<N>::value && !is_zeroed_leaf<F>)
      return with_zeros(n, flat, shape);
    else if constexpr (is_leaf_node<F> || is_zeroed_leaf<F>)
      return flat;
    else if constexpr (excludes<F>) {
      auto k = store_keep<typename N::axes_type>(plan::keep_of_flat(flat), hint{n, shape}, 0);
      auto v = store_flat(flat, shape, why, 0);
      return zeroed_node<decltype(k), decltype(v)>(std::move(k), std::move(v));
    } else
      return store_flat(flat, shape, why, plan::id_of(n));
  }

  // ---------------------------------------------------------------- contexts or scores
  template <class N> static double elements_of(N const& n, hint const& shape) {
    double elements = 1;
    for_each_axis(typename N::axes_type{},
                  [&]<class A>(type_tag<A>) { elements *= static_cast<double>(plan::extent_of<A>(n, shape)); });
    return elements;
  }
  /// The elements of the largest operand of the tree's scores that is a function of dots.
  template <class K, class P> static double largest_bent(P const& p, hint const& shape) {
    hint const inner{p, shape};
    if constexpr (!may_be_contexts<P, K>)
      return 0;
    else if constexpr (is_contraction<P>) {
      double largest = 0;
      if constexpr (bends_dots<std::remove_cvref_t<decltype(p.left)>>)
        largest = elements_of(p.left, hint{p.right, inner});
      if constexpr (bends_dots<std::remove_cvref_t<decltype(p.right)>>)
        largest = std::max(largest, elements_of(p.right, hint{p.left, inner}));
      return largest;
    } else if constexpr (is_where<P>)
      return largest_bent<K>(p.operand, inner);
    else
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return std::max({largest_bent<K>(p.template operand<I>(), inner)...});
      }
    (std::make_index_sequence<P::arity>{});
  }
  /// Whether contexts, if they are worth this many times their memory, are smaller than what their scores would be made of.
  template <class K, class P> static bool contexts_are_smaller(P const& p, hint const& shape, double worth = 1) {
    return elements_of(p, shape) < worth * largest_bent<K>(p, shape);
  }
  /// Whether a contraction over K reads P as stored contexts. Those with terms that exclude are worth some memory: as operands of
  /// scores their weights would lose what the terms exclude.
  template <class K, class P> static bool of_contexts(P const& p, hint const& shape) {
    return pools_contexts<P, K, false> || contexts_are_smaller<K>(p, shape, pools_contexts<P, K, true> ? 16 : 1);
  }

  // ---------------------------------------------------------------- reductions of rows
  template <class Kind, class K, class E, class S, class Epilogue, class Out>
  void run_anchor(reduction<Kind, K, E, S> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                  double fill) {
    using N = reduction<Kind, K, E, S>;
    constexpr bool may_pool = may_be_contexts<E, K>;
    if constexpr (is_streamed_reduction<N>) {
      bool streams = true;
      if constexpr (may_unfuse) streams = !b_.is_unfused();
      if constexpr (may_pool) streams = streams && !contexts_are_smaller<K>(n.operand, shape);
      if (streams) {
        streamed().run_alone(n, epilogue, out, shape, fill);
        return;
      }
      if constexpr (!may_unfuse && !may_pool) return;
    }
    if constexpr (!is_streamed_reduction<N> || may_unfuse || may_pool) {
      auto tree = row_tree(lower<marks_terms<Kind>>(n.operand, shape));
      b_.template rows<K>(n.kind, tree, sink_of(n, shape), epilogue, out, fill, hint{n.operand, shape});
    }
  }
  /// What a reduction has beside its rows, flat; no_axis: nothing.
  template <class S> auto sink_of(S const& s, hint const& shape) {
    if constexpr (S::has_sink)
      return lower<false>(s.sink, shape);
    else
      return no_axis{};
  }
  /// Rows of truth values are counted: as integers.
  template <class F> static auto row_tree(F flat) {
    if constexpr (std::is_same_v<typename F::value_type, bool>)
      return detail::cast_node<std::int64_t>(std::move(flat));
    else
      return flat;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan

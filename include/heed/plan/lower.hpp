// SPDX-License-Identifier: BSL-1.0
// In: an expression and a destination. Out: stages, each handed to a backend as soon as its inputs are planned: an anchor
// (contraction, streamed reduction, row reduction or none) with the elementwise tree around it. What cannot be fused is stored,
// once, and found again by its id. Types choose, ids decide.
// Next to read: ../evaluate.hpp, the backend.
//
// (Longer than the rest: one class whose three functions call each other.)
//
//   lower(n)        n as a flat tree: everything heavy in it stored
//   store(n)        n in memory of its own, as a leaf (beside its keep-set, where something is excluded)
//   execute(n, out) the stage that computes n into out
#pragma once

#include "hint.hpp"
#include "rewrite.hpp"
#include "stage.hpp"

#include <tuple>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class Backend> class lowering {
  Backend& b_;
  using repeated_types = typename Backend::repeated_types;
  using wanted_types = typename Backend::wanted_types;
  static constexpr bool may_unfuse = Backend::may_unfuse;

 public:
  explicit lowering(Backend& b) : b_(b) {}

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
    node_id const id = id_of(n);
    if (!b_.find(id, values, hint{n, shape})) {
      auto fresh = new_leaf<V>(typename N::axes_type{}, n, shape, why);
      execute(n, fresh, shape, 0.0);
      values = detail::with_type<V const>(fresh);
      b_.remember(id, values);
    }
    if constexpr (beside) {
      auto k =
          store_keep<typename N::axes_type>(plan::keep_of<Marks>(n), hint{n, shape}, keep_id(marked_id<Marks, N>(id)));
      return where_node<decltype(k), Leaf>(std::move(k), std::move(values), 0);
    } else if constexpr (zeroed) {
      auto k = store_keep<typename N::axes_type>(plan::zero_keep(n), hint{n, shape}, keep_id(id));
      return zeroed_node<decltype(k), Leaf>(std::move(k), std::move(values));
    } else
      return values;
  }
  static constexpr node_id keep_id(node_id id) { return id == 0 ? 0 : id | node_id{1} << 63; }
  /// What is stored with marks is another result than without, where they matter.
  template <bool Marks, class N> static constexpr node_id marked_id(node_id id) {
    return id == 0 || !(Marks && marking<N>::value) ? id : id | node_id{1} << 62;
  }
  template <class N> static node_id id_of(N const& n) {
    if constexpr (requires { n.id; })
      return n.id;
    else
      return 0;
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
        return store_flat(flat, shape, why, id_of(n));
    } else if constexpr (is_zeroed_leaf<F>)
      return flat.operand;
    else
      return store_flat(flat, shape, why, id_of(n));
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
  template <bool Marks, class T, class A> auto lower(leaf<T, A> const& n, hint const&) { return n; }
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
  template <bool Marks, class M, class X> auto lower(where_node<M, X> const& n, hint const& shape) {
    if constexpr (where_node<M, X>::heavy && in_types<where_node<M, X>, repeated_types>)
      return store<Marks>(n, shape, "used more than once");
    else {
      hint const wide{n.operand, shape};
      auto m = lower<false>(n.keep, wide);
      auto x = lower<Marks>(n.operand, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
    }
  }
  template <bool Marks, class C, class A, class E> auto lower(reindexed<C, A, E> const& n, hint const& shape) {
    auto flat = lower_stored<Marks>(n.operand, shape, "elements under other coordinates");
    return change_stored(n.change, flat, n, shape);
  }
  template <class C, class F, class N> auto change_stored(C const& c, F const& flat, N const& n, hint const& shape) {
    if constexpr (is_where_leaf<F>) {
      auto m = plan::change_tree(c, flat.keep);
      auto x = change_stored(c, flat.operand, n, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
    } else if constexpr (is_zeroed_leaf<F>)
      return change_stored(c, flat.operand, n, shape);
    else if constexpr (is_leaf_node<F>)
      return change_leaf(c, flat, shape);
    else if constexpr (is_index_expression<F>)
      return plan::change_tree(c, flat);
    else if constexpr (excludes<F>) {
      auto k = store_keep<typename F::axes_type>(plan::keep_of_flat(flat), hint{flat, shape}, 0);
      auto v = store_flat(flat, shape, "elements under other coordinates", 0);
      auto m = plan::change_tree(c, k);
      auto x = change_leaf(c, v, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
    } else
      return change_leaf(c, store_flat(flat, shape, "elements under other coordinates", 0), shape);
  }
  template <class C, class T, class A> auto change_leaf(C const& c, leaf<T, A> const& l, hint const&) {
    return plan::change_tree(c, l);
  }
  /// merge: the same memory where the strides nest, else a copy.
  template <class B, class C, class To, class T, class A>
  auto change_leaf(merge_change<B, C, To> const& c, leaf<T, A> const& l, hint const& shape) {
    using Result = typename changed<merge_change<B, C, To>, A>::type;
    if (l.template stride<B>() == l.template stride<C>() * c.minor || c.major <= 1) {
      auto r = detail::reshape_leaf(l, Result{});
      r.extents[index_of<To, Result>] = c.major * c.minor;
      r.strides[index_of<To, Result>] = l.template stride<C>();
      return detail::with_type<typename leaf<T, A>::value_type const>(reread(r));
    }
    return store_flat(plan::change_tree(c, l), shape, "merged axes whose strides do not nest", 0);
  }
  template <class T, class A>
  auto reread(leaf<T, A> const& l) {  // a leaf of values: two-byte storage is converted first
    using V = typename leaf<T, A>::value_type;
    if constexpr (std::is_same_v<std::remove_const_t<T>, V>)
      return l;
    else
      return store_flat(l, hint{}, "converted storage", 0);
  }
  template <bool Marks, class A, class X, class T, class I>
  auto lower(take_node<A, X, T, I> const& n, hint const& shape) {
    auto ids = lower<false>(n.ids, hint{n, shape});
    auto table = lower<Marks>(n.table, shape);
    b_.template check_ids<A>(ids, n.table.template extent<A>(), hint{n, shape});
    return take_from<A>(table, ids, shape);
  }
  template <class A, class F, class I> auto take_from(F const& table, I const& ids, hint const& shape) {
    if constexpr (is_where_leaf<F>) {
      auto m = take_from<A>(table.keep, ids, shape);
      auto x = take_from<A>(table.operand, ids, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
    } else if constexpr (is_zeroed_leaf<F>)
      return take_from<A>(table.operand, ids, shape);
    else if constexpr (!contains<A, typename F::axes_type>)
      return table;
    else if constexpr (is_leaf_node<F>) {
      using Rest = difference<typename F::axes_type, axes<A>>;
      using Axes = typename taken_axes<typename F::axes_type, A, difference<typename I::axes_type, Rest>>::type;
      take_node<A, Axes, F, I> const taken(table, ids, 0);
      if constexpr (straight_ids<I>::value)
        return straight(taken, shape);
      else
        return taken;
    } else if constexpr (is_index_expression<F> && is_taken_leaf<F>) {  // a mask by blocks of both axes stays small
      using Rest = difference<typename F::axes_type, axes<A>>;
      using Axes = typename taken_axes<typename F::axes_type, A, difference<typename I::axes_type, Rest>>::type;
      return take_node<A, Axes, F, I>(table, ids, 0);
    } else
      return take_from<A>(store_flat(table, shape, "a table that is gathered from", 0), ids, shape);
  }
  /// Ids that are sums, differences and multiples of coordinates (a bias by distance: key - query + n; by row and column) are
  /// strides over the table.
  template <class A, class... X, class T, class L, class I>
  auto straight(take_node<A, axes<X...>, leaf<T, L>, I> const& n, hint const& shape) {
    leaf<T, axes<X...>> l;
    extent_t const step = n.table.template stride<A>();
    l.data = n.table.data + straight_ids<I>::first(n.ids) * step;
    [[maybe_unused]] int i = 0;
    (([&] {
       l.extents[i] = plan::extent_of<X>(n, shape);
       l.strides[i] = straight_ids<I>::template along<X>(n.ids) * step;
       if constexpr (contains<X, L> && !std::is_same_v<X, A>) l.strides[i] += n.table.template stride<X>();
       ++i;
     }()),
     ...);
    return l;
  }
  template <bool Marks, class A, bool S, class X, class... E>
  auto lower(joined_node<A, S, X, E...> const& n, hint const& shape) {
    using N = joined_node<A, S, X, E...>;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      auto make_joined = [](auto... x) { return joined_node<A, S, X, decltype(x)...>(0, std::move(x)...); };
      auto values = make_joined(part_of(n.template operand<I>(), shape)...);
      if constexpr (excluding<Marks, N>::value) {
        auto keep = plan::keep_of<Marks>(n);
        auto k = lower<false>(keep, shape);
        return where_node<decltype(k), decltype(values)>(std::move(k), std::move(values), 0);
      } else
        return values;
    }
    (std::index_sequence_for<E...>{});
  }
  template <class E> auto part_of(E const& e, hint const& shape) {
    if constexpr (!E::heavy && is_index_expression<E>)
      return lower<false>(e, shape);
    else
      return as_leaf(e, shape, "a part of a concat or stack");
  }

  // ================================================================ execute: one stage
  template <class N, class T, class A> void execute(N const& n, leaf<T, A> const& out, hint const& shape, double fill) {
    if constexpr (may_unfuse)
      if (b_.is_unfused()) return execute_unfused(n, out, shape, fill);
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
      auto m = lower<false>(n.keep, hint{n, shape});
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
      auto m = lower<false>(n.keep, hint{n, shape});
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
    constexpr int side = streamed_side<contraction<K, L, R>>;
    if constexpr (side == 0)
      run_streamed<K>(n.left, n.right, n, epilogue, out, shape, fill);
    else if constexpr (side == 1)
      run_streamed<K>(n.right, n.left, n, epilogue, out, shape, fill);
    else
      run_contraction(n, epilogue, out, shape, fill);
  }
  template <class K, class L, class R, class Epilogue, class Out>
  void run_contraction(contraction<K, L, R> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                       double fill) {
    auto l = factor(n.left, shape);
    auto r = factor(n.right, shape);
    b_.template contract<K>(l, r, epilogue, out, fill);
  }
  /// A tree over softmaxes, stored with zeros where they or the tree itself excluded, beside that keep-set.
  template <class N, class F> auto with_zeros(N const& n, F const& flat, hint const& shape) {
    auto k = store_keep<typename N::axes_type>(plan::conjunction(plan::zero_keep(n), plan::keep_of<false>(n)),
                                               hint{n, shape}, 0);
    auto v = store_flat(where_node<decltype(k), F>(k, flat, 0), hint{n, shape}, "weights beside their keep-set", 0);
    return zeroed_node<decltype(k), decltype(v)>(std::move(k), std::move(v));
  }
  /// An operand of a contraction: a leaf, beside its keep-set where a product must be skipped.
  template <class N> auto factor(N const& n, hint const& shape) {
    constexpr std::string_view why = "an operand of a contraction";
    return factor_from(n, lower_stored<false>(n, shape, why), shape, why);
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
      return store_flat(flat, shape, why, id_of(n));
  }

  // ---------------------------------------------------------------- streamed reductions
  template <class K, class P, class V, class N, class Epilogue, class Out>
  void run_streamed(P const& p, V const& v, N const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                    double fill) {
    constexpr streaming kind = plan::streams_as<P, K>();
    if constexpr (kind == streaming::distributed) {
      // dot(a - b, v) = dot(a, v) - dot(b, v): each streams, the last one carries the epilogue
      using A = typename N::axes_type;
      auto first = contraction<K, first_operand<P>, V>(p.template operand<0>(), v, detail::fresh_id());
      auto second = contraction<K, second_operand<P>, V>(p.template operand<1>(), v, detail::fresh_id());
      auto stored = store<false>(first, shape, "one of several streamed parts");
      auto value = slot_node<typename N::value_type, A, 0>{};
      auto sum = map<typename P::op_type, typename N::value_type, A, decltype(stored), decltype(value)>(
          typename P::op_type{}, 0, stored, value);
      auto joined = plan::replace_slot(epilogue, sum);
      run_anchor(second, joined, out, shape, fill);
    } else {
      if constexpr (kind == streaming::softmax) {
        using S = typename linear_softmax<P, K>::type;
        if constexpr (in_types<S, wanted_types>) {  // the weights are a result as well: read them
          if (b_.known(softmax_in<K>(p).id)) return run_contraction(n, epilogue, out, shape, fill);
        }
        auto const& s = softmax_in<K>(p);
        auto scores = scored_tree<K>(s.operand, shape);
        auto weights = weights_around<K>(p, shape);
        auto values = as_leaf(v, shape, "values of a streamed contraction");
        auto sink = sink_of(s, shape);
        b_.template stream<K, typename P::axes_type>(stream_softmax{}, scores, weights, sink, values, epilogue, out,
                                                     fill, lse_request(s, shape));
      } else {
        auto scores = scored_tree<K>(p, shape);
        auto values = as_leaf(v, shape, "values of a streamed contraction");
        if constexpr (rows_of_weights<K, decltype(scores.tree), decltype(scores.dots), decltype(values)>::value)
          if (b_.template bands<K>(scores, values, epilogue, out, fill)) return;
        b_.template stream<K, typename P::axes_type>(stream_plain{}, scores, no_axis{}, no_axis{}, values, epilogue,
                                                     out, fill, no_axis{});
      }
    }
  }
  template <class K, class N> static auto const& softmax_in(N const& n) {
    if constexpr (is_reduction<N>)
      return n;
    else if constexpr (is_where<N>)
      return softmax_in<K>(n.operand);
    else if constexpr (!std::is_void_v<typename linear_softmax<first_operand<N>, K>::type>)
      return softmax_in<K>(n.template operand<0>());
    else
      return softmax_in<K>(n.template operand<1>());
  }
  template <class S> auto sink_of(S const& s, hint const& shape) {
    if constexpr (S::has_sink)
      return lower<false>(s.sink, shape);
    else
      return no_axis{};
  }
  /// A leaf for the log-sum-exp of the same scores, where the caller asked for both.
  template <class S> auto lse_request(S const& s, hint const& shape) {
    using Sink = std::conditional_t<S::has_sink, decltype(s.sink), no_axis>;
    using Lse = reduction<kinds::log_sum_exp, typename S::over, std::remove_cvref_t<decltype(s.operand)>,
                          std::remove_const_t<Sink>>;
    if constexpr (in_types<Lse, wanted_types>)
      return b_.template request_lse<Lse>(s, id_of(s.operand), hint{s, shape});
    else
      return no_axis{};
  }
  /// What is done to softmax's weights: slot 0 in its place.
  template <class K, class N> auto weights_around(N const& n, hint const& shape) {
    if constexpr (is_reduction<N>)
      return slot_node<typename N::value_type, typename N::axes_type, 0>{};
    else if constexpr (is_where<N>) {
      auto m = lower<false>(n.keep, hint{n, shape});
      auto x = weights_around<K>(n.operand, shape);
      return where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), n.id);
    } else
      return weights_map<K>(n, shape);
  }
  template <class K, class Op, class T, class A, class... E>
  auto weights_map(map<Op, T, A, E...> const& n, hint const& outer) {
    hint const shape(n, outer);
    auto one = [&](auto const& e) {
      using E1 = std::remove_cvref_t<decltype(e)>;
      if constexpr (!std::is_void_v<typename linear_softmax<E1, K>::type>)
        return weights_around<K>(e, shape);
      else
        return lower<false>(e, shape);
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(n, one(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }

  /// A streamed tree: dots become slots, everything else flat; a bare scale moves into the dot.
  template <class K, class N> auto scored_tree(N const& n, hint const& shape) {
    std::tuple<> none;
    auto [tree, dots] = scores<K>(n, none, shape);
    return hoist_scale(tree, dots);
  }
  template <class Tree, class Dots> struct with_dots {
    Tree tree;
    Dots dots;
  };
  template <class K, class N, class Dots> auto scores(N const& n, Dots const& dots, hint const& shape) {
    if constexpr (is_score<N, K>) {
      constexpr bool right_is_key = intersection<K, typename decltype(N::right)::axes_type>::rank > 0;
      auto l = as_leaf(n.left, shape, "an operand of a score");
      auto r = as_leaf(n.right, shape, "an operand of a score");
      auto made = [&] {
        if constexpr (right_is_key)
          return score_dot<typename N::over, decltype(r), decltype(l)>{r, l, 1.0};
        else
          return score_dot<typename N::over, decltype(l), decltype(r)>{l, r, 1.0};
      }();
      auto all = std::tuple_cat(dots, std::make_tuple(made));
      using Slot = slot_node<typename N::value_type, typename N::axes_type, static_cast<int>(std::tuple_size_v<Dots>)>;
      return with_dots<Slot, decltype(all)>{Slot{}, all};
    } else if constexpr (is_map<N> && N::heavy)
      return scores_map<K>(n, dots, shape);
    else if constexpr (is_where<N> && N::heavy) {
      auto m = lower<false>(n.keep, hint{n, shape});
      auto x = scores<K>(n.operand, dots, shape);
      using W = where_node<decltype(m), decltype(x.tree)>;
      return with_dots<W, decltype(x.dots)>{W(std::move(m), std::move(x.tree), n.id), x.dots};
    } else {
      auto flat = lower<true>(n, shape);
      return with_dots<decltype(flat), Dots>{flat, dots};
    }
  }
  template <class K, class Op, class T, class A, class E, class Dots>
  auto scores_map(map<Op, T, A, E> const& n, Dots const& dots, hint const& outer) {
    hint const shape(n, outer);
    auto a = scores<K>(n.template operand<0>(), dots, shape);
    auto tree = plan::with_operands(n, a.tree);
    return with_dots<decltype(tree), decltype(a.dots)>{tree, a.dots};
  }
  template <class K, class Op, class T, class A, class E, class F, class Dots>
  auto scores_map(map<Op, T, A, E, F> const& n, Dots const& dots, hint const& outer) {
    hint const shape(n, outer);
    constexpr bool sum = is_sum<map<Op, T, A, E, F>>;
    auto a = scores<K>(n.template operand<0>(), dots, shape);
    auto b = scores<K>(n.template operand<1>(), a.dots, shape);
    auto tree = plan::with_operands(n, term_of<sum, E, A>(a.tree, shape, excluded_term<Op, 0>()),
                                    term_of<sum, F, A>(b.tree, shape, excluded_term<Op, 1>()));
    return with_dots<decltype(tree), decltype(b.dots)>{tree, b.dots};
  }
  template <class K, class Op, class T, class A, class E, class F, class G, class Dots>
  auto scores_map(map<Op, T, A, E, F, G> const& n, Dots const& dots, hint const& outer) {
    hint const shape(n, outer);
    auto a = scores<K>(n.template operand<0>(), dots, shape);
    auto b = scores<K>(n.template operand<1>(), a.dots, shape);
    auto c = scores<K>(n.template operand<2>(), b.dots, shape);
    auto tree = plan::with_operands(n, a.tree, b.tree, c.tree);
    return with_dots<decltype(tree), decltype(c.dots)>{tree, c.dots};
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
  /// slot * number, wherever it stands, becomes the slot of a scaled dot: the scale is applied while Q is packed, and the
  /// scores have the same bits whatever is added to them or masked.
  template <class Tree, class Dots> static auto hoist_scale(Tree const& tree, Dots dots) {
    double scales[std::tuple_size_v<Dots> + 1];
    for (double& scale : scales) scale = 1;
    auto bare = plan::hoist(tree, scales);
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((std::get<I>(dots).scale = scales[I]), ...); }
    (std::make_index_sequence<std::tuple_size_v<Dots>>{});
    return with_dots<decltype(bare), Dots>{bare, dots};
  }

  // ---------------------------------------------------------------- reductions of rows
  template <class Kind, class K, class E, class S, class Epilogue, class Out>
  void run_anchor(reduction<Kind, K, E, S> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                  double fill) {
    using N = reduction<Kind, K, E, S>;
    if constexpr (is_streamed_reduction<N>) {
      bool streams = true;
      if constexpr (may_unfuse) streams = !b_.is_unfused();
      if (streams) {
        auto tree = scored_tree<K>(n.operand, shape);
        b_.template stream<K, typename E::axes_type>(Kind{}, tree, no_axis{}, sink_of(n, shape), no_axis{}, epilogue,
                                                     out, fill, no_axis{});
        return;
      }
      if constexpr (!may_unfuse) return;
    }
    if constexpr (!is_streamed_reduction<N> || may_unfuse) {
      auto tree = row_tree(lower<marks_terms<Kind>>(n.operand, shape));
      b_.template rows<K>(n.kind, tree, sink_of(n, shape), epilogue, out, fill, hint{n.operand, shape});
    }
  }
  /// Rows of truth values are counted: as integers.
  template <class F> static auto row_tree(F flat) {
    if constexpr (std::is_same_v<typename F::value_type, bool>)
      return detail::cast_node<std::int64_t>(std::move(flat));
    else
      return flat;
  }

  // ---------------------------------------------------------------- unfused: every node in memory
  template <class N, class Out> void execute_unfused(N const& n, Out const& out, hint const& shape, double fill) {
    if constexpr (is_let<N>)
      execute_unfused(n.operand, out, shape, fill);
    else if constexpr (is_contraction<N>) {
      using K = typename N::over;  // marks are read where the other schedule reads them
      constexpr bool of_left = streamed_side<N> == 0 && plan::streams_as<decltype(n.left), K>() == streaming::plain;
      constexpr bool of_right = streamed_side<N> == 1 && plan::streams_as<decltype(n.right), K>() == streaming::plain;
      auto l = unfused_factor<of_left>(n.left, shape);
      auto r = unfused_factor<of_right>(n.right, shape);
      auto slot = slot_node<typename N::value_type, typename N::axes_type, 0>{};
      b_.template contract<typename N::over>(l, r, slot, out, fill);
    } else if constexpr (is_reduction<N>) {
      auto tree = row_tree(stored_operand<marks_terms<typename N::kind_type>>(n.operand, shape));
      auto slot = slot_node<typename N::value_type, typename N::axes_type, 0>{};
      b_.template rows<typename N::over>(n.kind, tree, sink_of(n, shape), slot, out, fill, hint{n.operand, shape});
    } else if constexpr (is_map<N>)
      b_.map(unfused_map<false>(n, shape), out, fill);
    else if constexpr (is_where<N>) {
      auto m = stored_operand<false, typename N::axes_type>(n.keep, hint{n, shape});
      auto x = stored_operand<false>(n.operand, shape);
      b_.map(where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0), out, fill);
    } else
      b_.map(lower<false>(n, shape), out, fill);
  }
  template <bool Marks, class Op, class T, class A, class... E>
  auto unfused_map(map<Op, T, A, E...> const& n, hint const& shape) {
    using N = map<Op, T, A, E...>;
    constexpr bool marked = Marks && is_sum<N>;
    hint const wide{n, shape};
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(n, term_of<marked, E>(stored_operand<Marks, A>(n.template operand<I>(), wide), wide,
                                                       excluded_term<Op, I>())...);
    }
    (std::index_sequence_for<E...>{});
  }
  template <bool Marks, class N> auto unfused_factor(N const& n, hint const& shape) {
    return factor_from(n, stored_operand<Marks>(n, shape), shape, "unfused");
  }
  /// Each operand in memory (terminals as they are), in the order of its reader: the node-by-node schedule.
  template <bool Marks, class Order = axes<>, class N> auto stored_operand(N const& n, hint const& shape) {
    if constexpr (is_map<N>) {
      using V = stored_type<typename N::value_type>;
      leaf<V const, typename N::axes_type> values;
      node_id const id = marked_id<Marks, N>(id_of(n));
      hint const wide{n, shape};
      auto tree = unfused_map<Marks>(n, wide);
      if (!b_.find(id, values, wide)) {
        auto fresh = new_leaf<V, Order>(typename N::axes_type{}, n, shape, "unfused");
        b_.map(tree, fresh, 0.0);
        values = detail::with_type<V const>(fresh);
        b_.remember(id, values);
      }
      if constexpr (excludes<decltype(tree)>) {
        auto k = store_keep<typename N::axes_type>(plan::keep_of_flat(tree), wide, keep_id(id));
        return where_node<decltype(k), decltype(values)>(std::move(k), std::move(values), 0);
      } else
        return values;
    } else if constexpr (is_where<N>) {
      hint const wide{n, shape};
      auto m = stored_operand<false, typename N::axes_type>(n.keep, wide);
      auto x = stored_operand<Marks>(n.operand, shape);
      auto tree = where_node<decltype(m), decltype(x)>(std::move(m), std::move(x), 0);
      node_id const id = marked_id<Marks, N>(n.id);
      auto k = store_keep<typename N::axes_type>(plan::keep_of_flat(tree), wide, keep_id(id));
      auto v = store_flat(tree, wide, "unfused", id);
      return where_node<decltype(k), decltype(v)>(std::move(k), std::move(v), 0);
    } else
      return lower<Marks>(n, shape);
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan

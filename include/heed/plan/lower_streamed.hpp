// SPDX-License-Identifier: BSL-1.0
// In: a contraction or reduction over a tree of scores that streams. Out: its stage: the scores as a tree over dots, what is done to
// softmax's weights, and the values, as leaves; a sum of softmaxes is several stages.
// Next to read: lower.hpp, whose part this is; ../kernel/stream.hpp, the loops.
#pragma once

#include "hint.hpp"
#include "rewrite.hpp"
#include "stage.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::plan {
inline namespace HEED_ARCH {

template <class Lowering> class streamed_lowering {
  Lowering& lowering_;
  typename Lowering::backend_type& b_;

 public:
  explicit streamed_lowering(Lowering& l) : lowering_(l), b_(l.backend()) {}

  /// n, which is dot<K>(p, v) or dot<K>(v, p), with p streamed.
  template <class K, class P, class V, class N, class Epilogue, class Out>
  void run(P const& p, V const& v, N const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
           double fill) {
    constexpr streaming kind = plan::streams_as<P, K>();
    if constexpr (kind == streaming::distributed) {
      // dot(a - b, v) = dot(a, v) - dot(b, v): each streams, the last one carries the epilogue
      using A = typename N::axes_type;
      auto first = contraction<K, first_operand<P>, V>(p.template operand<0>(), v, detail::fresh_id());
      auto second = contraction<K, second_operand<P>, V>(p.template operand<1>(), v, detail::fresh_id());
      auto stored = lowering_.template store<false>(first, shape, "one of several streamed parts");
      auto value = slot_node<typename N::value_type, A, 0>{};
      auto sum = map<typename P::op_type, typename N::value_type, A, decltype(stored), decltype(value)>(
          typename P::op_type{}, 0, stored, value);
      auto joined = plan::replace_slot(epilogue, sum);
      lowering_.run_anchor(second, joined, out, shape, fill);
    } else {
      if constexpr (kind == streaming::softmax) {
        using S = typename linear_softmax<P, K>::type;
        if constexpr (in_types<S, typename Lowering::wanted_types>) {  // the weights are a result as well: read them
          if (b_.known(softmax_in<K>(p).id)) return lowering_.run_contraction(n, epilogue, out, shape, fill);
        }
        auto const& s = softmax_in<K>(p);
        auto scores = scored_tree<K>(s.operand, shape);
        auto const factor = lowering_.template factor<false>(v, hint{p, shape}, "values of a streamed contraction");
        auto const& values = plan::values_of(factor);
        auto weights = beside(factor, weights_around<K>(p, shape));
        auto sink = lowering_.sink_of(s, shape);
        b_.template stream<K, typename P::axes_type>(stream_softmax{}, scores, weights, sink, values, epilogue, out,
                                                     fill, lse_request(s, shape));
      } else {
        auto bare = scored_tree<K>(p, shape);
        auto const factor = lowering_.template factor<false>(v, hint{p, shape}, "values of a streamed contraction");
        auto const& values = plan::values_of(factor);
        auto tree = beside(factor, bare.tree);
        with_dots<decltype(tree), decltype(bare.dots)> const scores{tree, bare.dots};
        using Values = std::remove_cvref_t<decltype(values)>;
        if constexpr (rows_of_weights<K, decltype(scores.tree), decltype(scores.dots), Values>::value)
          if (b_.template bands<K>(scores, values, epilogue, out, fill)) return;
        b_.template stream<K, typename P::axes_type>(stream_plain{}, scores, no_axis{}, no_axis{}, values, epilogue,
                                                     out, fill, no_axis{});
      }
    }
  }
  /// A reduction of such a tree by itself: sum, mean, max, log_sum_exp.
  template <class Kind, class K, class E, class S, class Epilogue, class Out>
  void run_alone(reduction<Kind, K, E, S> const& n, Epilogue const& epilogue, Out const& out, hint const& shape,
                 double fill) {
    auto tree = scored_tree<K>(n.operand, shape);
    b_.template stream<K, typename E::axes_type>(Kind{}, tree, no_axis{}, lowering_.sink_of(n, shape), no_axis{},
                                                 epilogue, out, fill, no_axis{});
  }

 private:
  // ---------------------------------------------------------------- the softmax and what stands around it
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
  /// A leaf for the log-sum-exp of the same scores, where the caller asked for both.
  template <class S> auto lse_request(S const& s, hint const& shape) {
    using Sink = std::conditional_t<S::has_sink, decltype(s.sink), no_axis>;
    using Lse = reduction<kinds::log_sum_exp, typename S::over, std::remove_cvref_t<decltype(s.operand)>,
                          std::remove_const_t<Sink>>;
    if constexpr (in_types<Lse, typename Lowering::wanted_types>)
      return b_.template request_lse<Lse>(s, hint{s, shape});
    else
      return no_axis{};
  }
  /// What is done to softmax's weights: slot 0 in its place.
  template <class K, class N> auto weights_around(N const& n, hint const& shape) {
    if constexpr (is_reduction<N>)
      return slot_node<typename N::value_type, typename N::axes_type, 0>{};
    else if constexpr (is_where<N>) {
      auto m = lowering_.template lower<false>(plan::condition_of(n), hint{n, shape});
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
        return lowering_.template lower<false>(e, shape);
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return plan::with_operands(n, one(n.template operand<I>())...);
    }
    (std::index_sequence_for<E...>{});
  }

  // ---------------------------------------------------------------- the values
  /// A tree of weights, excluded where the values are: 0 times a weight that is NaN or infinite would be NaN.
  template <class F, class Tree> static auto beside([[maybe_unused]] F const& factor, Tree tree) {
    if constexpr (is_zeroed_leaf<F>)
      return where_node<decltype(factor.keep), Tree>(factor.keep, std::move(tree), 0);
    else
      return tree;
  }

  // ---------------------------------------------------------------- the scores
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
      auto l = lowering_.as_leaf(n.left, hint{n.right, shape}, "an operand of a score");
      auto r = lowering_.as_leaf(n.right, hint{n.left, shape}, "an operand of a score");
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
      auto m = lowering_.template lower<false>(plan::condition_of(n), hint{n, shape});
      auto x = scores<K>(n.operand, dots, shape);
      using W = where_node<decltype(m), decltype(x.tree)>;
      return with_dots<W, decltype(x.dots)>{W(std::move(m), std::move(x.tree), n.id), x.dots};
    } else {
      auto flat = lowering_.template lower<true>(n, shape);
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
    auto tree = plan::with_operands(n, lowering_.template term_of<sum, E, A>(a.tree, shape, excluded_term<Op, 0>()),
                                    lowering_.template term_of<sum, F, A>(b.tree, shape, excluded_term<Op, 1>()));
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
};

}  // namespace HEED_ARCH
}  // namespace heed::plan

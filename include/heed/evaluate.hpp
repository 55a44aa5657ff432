// SPDX-License-Identifier: BSL-1.0
// In: expressions, a policy, destinations. Out: tensors, or what explain says. Shapes, limits and overlaps are checked before
// anything is written; a destination that an expression also reads gets its result through a buffer of its own.
// Next to read: cache.hpp (keys and values that grow) and nn/ (layers made of all this).
#pragma once

#include "plan/lower.hpp"
#include "plan/streams.hpp"
#include "runner.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

// ---------------------------------------------------------------- destinations
template <class T, class... A> auto destination_leaf(tensor<T, A...>& t) { return t.heed_leaf(); }
template <class T, class... A>
  requires(!std::is_const_v<T>)
auto destination_leaf(view<T, A...> const& v) { return v.heed_leaf(); }
template <class T, class A>
  requires(!std::is_const_v<T>)
auto destination_leaf(leaf<T, A> const& l) { return l; }
template <class D>
concept destination_like = requires(std::remove_reference_t<D>& d) {
  detail::destination_leaf(d);
};

/// Reals and integers convert; a truth value is made by a comparison, not by storing.
template <class V, class T> inline constexpr bool stores_into = !std::is_same_v<T, bool> || std::is_same_v<V, bool>;
template <class Axes, class D> inline constexpr bool destination_fits = same_set<Axes, typename D::axes_type>;
/// Truth values go into numbers as 0 and 1.
template <class T, class N> decltype(auto) node_for(N const& n) {
  if constexpr (std::is_same_v<typename N::value_type, bool> && !std::is_same_v<T, bool>)
    return detail::cast_node<value_of_t<T>>(n);
  else
    return (n);
}
template <class D> using element_of = typename decltype(detail::destination_leaf(std::declval<D&>()))::storage_type;
/// A node and the destination that it goes into.
template <class N, class D> struct placement {
  using stored = typename N::axes_type;
  using value = typename N::value_type;
  using element = element_of<D>;
  using target = typename D::axes_type;
  static constexpr bool stores = stores_into<value, element>, fits = stores && destination_fits<stored, D>;
};
/// The first that does not fit, or the last.
template <class P, class... R> struct first_misplaced {
  using type = typename std::conditional_t<P::fits, first_misplaced<R...>, type_tag<P>>::type;
};
template <class P> struct first_misplaced<P> { using type = P; };
template <class P> void refuse_placement() {
  if constexpr (!P::stores)
    HEED_REFUSE("evaluate: the values do not go into elements of that type",
                mistakes::destination_of_another_kind<typename P::value, typename P::element>);
  else
    HEED_REFUSE("evaluate: the expression does not fit the tensor",
                mistakes::destination_has_other_axes<typename P::stored, typename P::target>);
}
template <class N, class T, class A> void check_destination(N const& n, leaf<T, A> const& out) {
  for_each_axis(A{}, [&]<class X>(type_tag<X>) {
    extent_t const e = n.template extent<X>(), d = out.template extent<X>();
    if (e != dynamic && e != d)
      throw shape_error("evaluate: axis " + detail::axis_name<X>() + " has extent " + std::to_string(e) +
                        " in the expression and " + std::to_string(d) + " in the destination");
  });
}

// ---------------------------------------------------------------- one run: nodes and their destinations
template <class N, class Leaf> struct result {
  N const& node;
  Leaf out;
  leaf<typename N::value_type, typename N::axes_type> own;  // in the node's own order, where the storage is of its type
  bool owned = false;
};
template <class N, class T, class A> auto make_result(N const& n, leaf<T, A> const& out) {
  result<N, leaf<T, A>> r{n, out, {}, false};
  if constexpr (std::is_same_v<T, typename N::value_type>) {
    r.own = detail::reshape_leaf(out, typename N::axes_type{});
    r.owned = true;
  }
  return r;
}

template <class N, class... All> constexpr int priority_of() {
  constexpr bool inside = (plan::mentioned<N, All>::value || ...);
  if constexpr (inside) return 0;  // others read it
  if constexpr (plan::is_reduction<N>) {
    if constexpr (std::is_same_v<typename N::kind_type, kinds::log_sum_exp>)
      return 2;  // a stage of another may bring it along
  }
  return 1;
}

template <bool MayUnfuse, bool Explains, class... R>
[[gnu::cold]] void run_results(policy const& p, arena& memory, plan::report* report, staging mode, R&... r) {
  using Repeated = plan::repeated<std::remove_cvref_t<decltype(r.node)>...>;
  using Wanted =
      std::conditional_t<(sizeof...(R) > 1), plan::types<std::remove_cvref_t<decltype(r.node)>...>, plan::types<>>;
  using Run = runner<Repeated, Wanted, MayUnfuse, Explains>;
  Run run(p, memory, report, mode);
  memory_range destinations[sizeof...(R)];
  if (mode == staging::rehearse) {
    int k = 0;
    ((destinations[k++] = detail::range_of(r.out)), ...);
    run.set_destinations(destinations, k);
  }
  plan::lowering<Run> lower(run);
  wanted_result wanted[sizeof...(R)];
  int i = 0;
  (([&] {
     using N = std::remove_cvref_t<decltype(r.node)>;
     wanted_result& w = wanted[i++];
     w.type = &type_key<N>;
     w.node = &r.node;
     w.data = r.owned ? r.own.data : nullptr;
     std::copy(r.own.strides, r.own.strides + N::axes_type::rank, w.strides);
   }()),
   ...);
  if (sizeof...(R) > 1 && !run.is_unfused()) run.set_results(wanted, static_cast<int>(sizeof...(R)));
  for (int turn = 0; turn < 3; ++turn) {
    int at = 0;
    (([&] {
       using N = std::remove_cvref_t<decltype(r.node)>;
       constexpr int priority = priority_of<N, std::remove_cvref_t<decltype(r.node)>...>();
       int const here = at++;
       if (priority != turn || wanted[here].done) return;
       using V = typename N::value_type;
       wanted[here].done = true;
       if constexpr (priority == 0 && N::heavy &&
                     !std::is_same_v<V, plan::stored_type<V>>) {  // others read all its bits
         run.map(lower.template store<false>(r.node, plan::hint{}, "a result that another one reads"), r.out,
                 plan::excluded_value);
       } else {
         lower.execute(r.node, r.out, plan::hint{}, plan::excluded_value);
         if constexpr (priority == 0 && !plan::excluding<false, N>::value)
           if (r.owned) run.remember(plan::id_of(r.node), detail::with_type<V const>(r.own));
       }
     }()),
     ...);
  }
  run.flush();
}
/// Fresh: nobody has the destinations yet. Others are written only once all memory is there: one result is written by the last
/// stage, which takes its memory before it starts; several are rehearsed.
template <bool MayUnfuse, bool Fresh, class... R> [[gnu::cold]] void run_checked(policy const& p, R... r) {
  workspace::lease lease(p.memory);
  arena local;
  arena& memory = lease.memory() ? *lease.memory() : local;
  if (p.store_limit != std::numeric_limits<std::size_t>::max())
    detail::run_results<MayUnfuse, false>(p, memory, nullptr, staging::describe, r...);
  // a destination that is also read, or that another destination touches: through a buffer of its own
  memory_range const ranges[] = {detail::range_of(r.out)...};
  std::size_t k = 0;
  auto through_buffer = [&](auto& x, memory_range own, std::size_t number) {
    bool meets = false;
    auto look = [&](auto const& l) { meets |= own.meets(detail::range_of(l)); };
    (detail::for_each_leaf(r.node, look), ...);
    for (std::size_t j = 0; j < sizeof...(R); ++j) meets |= j != number && own.meets(ranges[j]);
    if (!meets) return;
    std::size_t const bytes = static_cast<std::size_t>(x.out.size()) * sizeof(*x.out.data);
    x.out.data = reinterpret_cast<decltype(x.out.data)>(memory.take(bytes));
    x.out.make_dense();
    if constexpr (requires {
                    x.own = detail::reshape_leaf(x.out, typename std::remove_cvref_t<decltype(x.node)>::axes_type{});
                  })
      x.own = detail::reshape_leaf(x.out, typename std::remove_cvref_t<decltype(x.node)>::axes_type{});
  };
  auto const before = std::make_tuple(r.out...);
  ((through_buffer(r, ranges[k], k), ++k), ...);
  bool const buffered = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((r.out.data != std::get<I>(before).data) || ...);
  }
  (std::index_sequence_for<R...>{});
  auto const copy_back = [&](staging mode) {  // all in one pass
    runner<plan::types<>, plan::types<>, false, false> copier(policy{.threads = p.threads, .memory = nullptr}, memory,
                                                              nullptr, mode);
    auto const one = [&](auto const& from, auto const& to) {
      if (from.data == to.data) return;
      using T = std::remove_cvref_t<decltype(*from.data)>;
      using A = typename std::remove_cvref_t<decltype(from)>::axes_type;
      copier.map(leaf<T const, A>(detail::with_type<T const>(from)), to, 0.0);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (one(r.out, std::get<I>(before)), ...); }
    (std::index_sequence_for<R...>{});
    copier.flush();
  };
  auto const pass = [&](staging mode) {
    auto const mark = memory.here();
    detail::run_results<MayUnfuse, false>(p, memory, nullptr, mode, r...);
    if (buffered) copy_back(mode);
    memory.back_to(mark);
  };
  if constexpr (!Fresh && sizeof...(R) > 1) pass(staging::rehearse);
  pass(staging::run);
}

/// Its type is spelled out because editors show it as it is spelled.
template <class T, class... A, class N> tensor<T, A...> make_tensor(axes<A...>, [[maybe_unused]] N const& n) {
  extent_t const extents[] = {plan::extent_of<A>(n, plan::hint{})..., 0};
  return tensor<T, A...>(uninitialised{}, extents);
}
inline policy as_policy(policy const& p) { return p; }
inline policy as_policy(schedule s) { return policy{.schedule = s}; }
template <class P>
concept policy_like =
    std::is_same_v<std::remove_cvref_t<P>, policy> || std::is_same_v<std::remove_cvref_t<P>, schedule>;

template <bool MayUnfuse, class Order, class E> auto evaluate_one(policy const& p, E const& e) {
  if constexpr (is_poison<E>)
    return poison{};
  else {
    auto const& n = detail::node_in(e);
    using N = std::remove_cvref_t<decltype(n)>;
    using Axes = std::conditional_t<std::is_same_v<Order, no_axis>, typename N::axes_type, Order>;
    if constexpr (!same_set<Axes, typename N::axes_type> || !distinct<Axes>) {
      HEED_REFUSE("evaluate: the axes of the result are not those of the expression",
                  mistakes::destination_has_other_axes<typename N::axes_type, Axes>);
      return poison{};
    } else {
      auto out = detail::make_tensor<typename N::value_type>(Axes{}, n);
      detail::run_checked<MayUnfuse, true>(p, detail::make_result(n, detail::borrowed(out.heed_leaf())));
      return out;
    }
  }
}
template <bool MayUnfuse, class... E> auto evaluate_several(policy const& p, E const&... e) {
  if constexpr ((is_poison<E> || ...))
    return std::tuple(([](auto const&) { return poison{}; })(e)...);
  else {
    auto go = [&](auto const&... n) {
      auto out = std::tuple(detail::make_tensor<typename std::remove_cvref_t<decltype(n)>::value_type>(
          typename std::remove_cvref_t<decltype(n)>::axes_type{}, n)...);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        detail::run_checked<MayUnfuse, true>(p,
                                             detail::make_result(n, detail::borrowed(std::get<I>(out).heed_leaf()))...);
      }
      (std::index_sequence_for<E...>{});
      return out;
    };
    return go(detail::node_in(e)...);
  }
}
template <bool MayUnfuse, class D, class E> void evaluate_to(policy const& p, D&& d, E const& e) {
  if constexpr (!is_poison<E> && !is_poison<D>) {
    auto out = detail::borrowed(detail::destination_leaf(d));
    using T = typename decltype(out)::storage_type;
    auto const& node = detail::node_in(e);
    auto const& n = detail::node_for<T>(node);
    using N = std::remove_cvref_t<decltype(n)>;
    using V = typename N::value_type;
    if constexpr (!stores_into<V, T>)
      HEED_REFUSE("evaluate: the values do not go into elements of that type",
                  mistakes::destination_of_another_kind<V, T>);
    else if constexpr (detail::destination_fits<typename N::axes_type, decltype(out)>) {
      detail::check_destination(n, out);
      detail::run_checked<MayUnfuse, false>(p, detail::make_result(n, out));
    } else
      HEED_REFUSE("evaluate: the expression does not fit the tensor",
                  mistakes::destination_has_other_axes<typename N::axes_type, typename decltype(out)::axes_type>);
  }
}
template <bool MayUnfuse, class... D, class... E>
void evaluate_to_several(policy const& p, std::tuple<D&...> const& d, E const&... e) {
  if constexpr (sizeof...(D) != sizeof...(E))
    HEED_REFUSE("evaluate_into: one expression for each destination",
                mistakes::one_expression_a_destination<sizeof...(D), sizeof...(E)>);
  else if constexpr (!(is_poison<E> || ...) && !(is_poison<D> || ...)) {
    auto go = [&]<std::size_t... I>(std::index_sequence<I...>, auto const&... n) {
      if constexpr ((placement<std::remove_cvref_t<decltype(n)>, D>::fits && ...)) {
        (detail::check_destination(n, detail::destination_leaf(std::get<I>(d))), ...);
        detail::run_checked<MayUnfuse, false>(
            p, detail::make_result(n, detail::borrowed(detail::destination_leaf(std::get<I>(d))))...);
      } else
        detail::refuse_placement<typename first_misplaced<placement<std::remove_cvref_t<decltype(n)>, D>...>::type>();
    };
    go(std::index_sequence_for<D...>{}, detail::node_for<element_of<D>>(detail::node_in(e))...);
  }
}
template <bool MayUnfuse, class... E> plan::report explain_all(policy const& p, E const&... e) {
  plan::report report;
  arena memory;
  auto go = [&](auto const&... n) {
    auto one = [&](auto const& x) {
      using N = std::remove_cvref_t<decltype(x)>;
      leaf<typename N::value_type, typename N::axes_type> out;
      int i = 0;
      for_each_axis(typename N::axes_type{},
                    [&]<class A>(type_tag<A>) { out.extents[i++] = plan::extent_of<A>(x, plan::hint{}); });
      out.make_dense();
      return detail::make_result(x, out);
    };
    auto run = [&](auto... r) { detail::run_results<MayUnfuse, true>(p, memory, &report, staging::describe, r...); };
    run(one(n)...);
  };
  go(detail::node_in(e)...);
  return report;
}

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// True where evaluate computes E without storing anything of the size of its streamed axes.
///
///     static_assert(streams<decltype(dot<key>(softmax<key>(s), v))>);
template <class E> inline constexpr bool streams = plan::streams_rule<detail::node_of<E>>::value;

/// @{
/// The value of an expression as a tensor in the expression's axis order; `evaluate<B, A>(e)` in that order;
/// `auto [c, w] = evaluate(context, weights)` several in one run, what they share computed once. A policy may come first.
///
///     tensor y = evaluate(policy{.threads = 2}, dot<key>(softmax<key>(s), v));
///
/// Refused: an order of other axes. shape_error: an extent that nothing gives, a plan over the policy's store_limit.
auto evaluate(expression auto const& e) { return detail::evaluate_one<false, detail::no_axis>({}, e); }
template <class A, class... B>
  requires(detail::axis_tag<A> && (detail::axis_tag<B> && ...))
auto evaluate(expression auto const& e) { return detail::evaluate_one<false, axes<A, B...>>({}, e); }
auto evaluate(expression auto const& e, expression auto const& f, expression auto const&... more) {
  return detail::evaluate_several<false>({}, e, f, more...);
}
template <detail::policy_like P> auto evaluate(P const& p, expression auto const& e) {
  return detail::evaluate_one<true, detail::no_axis>(detail::as_policy(p), e);
}
template <class A, class... B, detail::policy_like P>
  requires(detail::axis_tag<A> && (detail::axis_tag<B> && ...))
auto evaluate(P const& p, expression auto const& e) {
  return detail::evaluate_one<true, axes<A, B...>>(detail::as_policy(p), e);
}
template <detail::policy_like P>
auto evaluate(P const& p, expression auto const& e, expression auto const& f, expression auto const&... more) {
  return detail::evaluate_several<true>(detail::as_policy(p), e, f, more...);
}
/// @}

/// @{
/// The value of an expression into a tensor, view or slice with the same set of axes, converted to its storage type. Overlap
/// with an operand gives the result of a fresh buffer; after an error the destination is as it was.
///
///     evaluate_into(slice<query>(y, 0, 8), dot<key>(softmax<key>(s), v));
///
/// Refused: a destination with other axes. shape_error: other extents.
template <detail::destination_like D> void evaluate_into(D&& destination, expression auto const& e) {
  detail::evaluate_to<false>({}, destination, e);
}
template <detail::policy_like P, detail::destination_like D>
void evaluate_into(P const& p, D&& destination, expression auto const& e) {
  detail::evaluate_to<true>(detail::as_policy(p), destination, e);
}
/// @}
/// @{
/// Several at once, each into its own; what they share is computed once. Refused and thrown as above.
///
///     tensor<float, batch, query, head> l{batch{1}, query{12}};
///     evaluate_into(std::tie(y, l), dot<key>(softmax<key>(s), v), log_sum_exp<key>(s));
template <class... D> void evaluate_into(std::tuple<D&...> const& destinations, expression auto const&... e) {
  detail::evaluate_to_several<false>({}, destinations, e...);
}
template <detail::policy_like P, class... D>
void evaluate_into(P const& p, std::tuple<D&...> const& destinations, expression auto const&... e) {
  detail::evaluate_to_several<true>(detail::as_policy(p), destinations, e...);
}
/// @}
}  // namespace HEED_ARCH

namespace detail {
inline namespace HEED_ARCH {
struct policy_last_word {
  static constexpr std::string_view name = "evaluate",
                                    instead =
                                        ": a policy comes first: evaluate(policy, e), evaluate_into(policy, x, e)";
};
template <class E> poison refuse_policy_last() {
  if constexpr (!is_poison<E>)
    HEED_REFUSE("evaluate: a policy comes first: evaluate(policy, e), evaluate_into(policy, x, e)",
                mistakes::word_is_not_there<policy_last_word, E>);
  return {};
}
}  // namespace HEED_ARCH
}  // namespace detail
inline namespace HEED_ARCH {

/// @private
template <class... A> auto evaluate(expression auto const& e, detail::policy_like auto const&) {
  return detail::refuse_policy_last<decltype(e)>();
}
/// @private
template <class D> void evaluate_into(D&&, expression auto const& e, detail::policy_like auto const&) {
  (void)detail::refuse_policy_last<decltype(e)>();
}
/// @private
template <expression D>
  requires(!detail::destination_like<D>)
void evaluate_into(D&&, expression auto const& e) {
  if constexpr (!detail::is_poison<D> && !detail::is_poison<decltype(e)>)
    HEED_REFUSE("evaluate_into: a destination comes first: a tensor, a view or a slice that may be written",
                detail::mistakes::it_is_no_destination<typename std::remove_cvref_t<D>::axes_type,
                                                       requires { std::declval<D>().heed_leaf(); }>);
}

/// @{
/// The plan that evaluate would run: stages, loops, bytes and operations. By the same code, so it cannot disagree.
///
///     auto context = dot<key>(softmax<key>(s), v);
///     std::cout << explain(context);
///     bool large = explain(unfused, context).bytes_stored > 1 << 30;
auto explain(expression auto const&... e) {
  if constexpr ((detail::is_poison<decltype(e)> || ...))
    return plan::report{};
  else
    return detail::explain_all<false>({}, e...);
}
template <detail::policy_like P> auto explain(P const& p, expression auto const&... e) {
  if constexpr ((detail::is_poison<decltype(e)> || ...))
    return plan::report{};
  else
    return detail::explain_all<true>(detail::as_policy(p), e...);
}
/// @}
}  // namespace HEED_ARCH
}  // namespace heed

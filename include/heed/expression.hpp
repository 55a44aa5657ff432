// SPDX-License-Identifier: BSL-1.0
// In: leaves and nodes. Out: bigger nodes. This is every node of the language, with its axes, its value type and nothing
// else: ops/ makes them (the words), plan/ reads them (what is fused with what), evaluate.hpp gives them a meaning.
// Next to read: ops/, one family of words a file.
#pragma once

#include "tensor.hpp"

#include <algorithm>
#include <limits>

namespace heed {
namespace detail {
inline namespace HEED_ARCH {

/// Heavy nodes carry an id: results that are stored are found by it, so what is used twice is computed once.
using node_id = std::uint64_t;
inline node_id fresh_id() {
  static std::atomic<node_id> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- terminals (leaf is in leaf.hpp)
/// A number, of the type of the expression it meets.
template <class T> struct scalar : expression_base {
  using axes_type = axes<>;
  using value_type = T;
  static constexpr bool heavy = false;
  T value{};
  explicit scalar(T v) : value(v) {}
  template <class A> extent_t extent() const { return dynamic; }
};
/// The coordinate along A: has the axis, brings no extent of its own.
template <class A> struct index_node : expression_base {
  using axes_type = axes<A>;
  using value_type = std::int64_t;
  static constexpr bool heavy = false;
  template <class X> extent_t extent() const { return std::is_same_v<X, A> ? A::static_extent : dynamic; }
};
/// Extents without values: what broadcast adds.
template <class Axes> struct extents_node;
template <class... A> struct extents_node<axes<A...>> : expression_base {
  using axes_type = axes<A...>;
  using value_type = bool;
  static constexpr bool heavy = false;
  extent_t extents[sizeof...(A) + 1] = {};
  template <class X> extent_t extent() const {
    if constexpr (contains<X, axes_type>)
      return extents[index_of<X, axes_type>];
    else
      return dynamic;
  }
};
/// The bits that decide one coordinate: a 64-bit finaliser (Steele et al. 2014 describe the kind).
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// How 64 bits decide about an element: their halves are multiplied, which takes the lower bits of both to the upper ones, and
/// the product, mixed once more, has to exceed the limit as a signed number. Odd numbers alone are compared, so that the
/// smallest limit keeps all and the largest none. U: numbers of 32 bits, or the vectors of them that kernels have.
struct dropout_rule {
  std::int32_t limit = std::numeric_limits<std::int32_t>::min();

  dropout_rule() = default;
  explicit dropout_rule(double p)  // p <= 1: the conversion fits
      : limit(static_cast<std::int32_t>(std::min(p * 4294967296.0 - 2147483648.0, 2147483647.0))) {}
  template <class U> [[gnu::always_inline]] static inline U mixed(U const& low, U const& high) {
    U const product = low * (high | 1u);
    return ((product ^ (product >> 15)) * 0x846ca68bu) | 1u;
  }
  bool keeps(std::uint64_t words) const {
    auto const low = static_cast<std::uint32_t>(words), high = static_cast<std::uint32_t>(words >> 32);
    return static_cast<std::int32_t>(mixed(low, high)) > limit;
  }
};
/// True where dropout keeps the element at these coordinates: each axis makes a word of its coordinate, so that words can be
/// made once for a row and once for a lane; their sum modulo 2 decides.
template <class Axes> struct dropout_mask : expression_base {
  using axes_type = Axes;
  using value_type = bool;
  static constexpr bool heavy = false;
  std::uint64_t seed = 0;
  dropout_rule rule;
  template <class X> extent_t extent() const { return dynamic; }
  std::uint64_t word(int axis, extent_t coordinate) const {
    return detail::scramble((seed + static_cast<std::uint64_t>(axis) * 0xd6e8feb86659fd93u) ^
                            static_cast<std::uint64_t>(coordinate));
  }
};

// ---------------------------------------------------------------- operands of a node, without a std::tuple
template <std::size_t I, class E> struct operand_cell { E value; };
template <class Seq, class... E> struct operand_cells;
template <std::size_t... I, class... E> struct operand_cells<std::index_sequence<I...>, E...> : operand_cell<I, E>... {
  template <class... X> explicit operand_cells(X&&... x) : operand_cell<I, E>{std::forward<X>(x)}... {}
};
template <std::size_t I, class E> E const& get_cell(operand_cell<I, E> const& c) { return c.value; }
/// The first extent that an operand knows. One that has reduced the axis knows the extent that it had: another axis by now.
template <class A> extent_t first_extent() { return dynamic; }
template <class A, class E> constexpr bool gives_extent() {
  if constexpr (requires { typename E::axes_type; })
    return contains<A, typename E::axes_type>;
  else
    return true;  // parameters of a layer
}
template <class A, class E, class... R> extent_t first_extent(E const& e, R const&... r) {
  if constexpr (detail::gives_extent<A, E>())
    if (extent_t const n = e.template extent<A>(); n != dynamic) return n;
  return detail::first_extent<A>(r...);
}

// ---------------------------------------------------------------- elementwise
/// Op applied to operands that broadcast to Axes.
template <class Op, class T, class Axes, class... E> struct map : expression_base {
  using op_type = Op;
  using axes_type = Axes;
  using value_type = T;
  static constexpr bool heavy = (E::heavy || ...);
  static constexpr std::size_t arity = sizeof...(E);
  operand_cells<std::index_sequence_for<E...>, E...> operands;
  [[no_unique_address]] Op op;
  node_id id;
  template <class... X> explicit map(Op o, node_id i, X&&... x) : operands(std::forward<X>(x)...), op(o), id(i) {}
  template <std::size_t I> auto const& operand() const { return detail::get_cell<I>(operands); }
  template <class A> extent_t extent() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return detail::first_extent<A>(this->template operand<I>()...);
    }
    (std::index_sequence_for<E...>{});
  }
};
/// x where the condition holds, excluded elsewhere.
template <class M, class X> struct where_node : expression_base {
  using axes_type = typename X::axes_type;
  using value_type = typename X::value_type;
  static constexpr bool heavy = M::heavy || X::heavy;
  M keep;
  X operand;
  node_id id;
  template <class C, class V>
  where_node(C&& c, V&& v, node_id i) : keep(std::forward<C>(c)),
                                        operand(std::forward<V>(v)),
                                        id(i) {}
  template <class A> extent_t extent() const { return detail::first_extent<A>(operand, keep); }
};

// ---------------------------------------------------------------- heavy: contraction and reductions
/// sum over the axes Over of left * right.
template <class Over, class L, class R> struct contraction : expression_base {
  using over = Over;
  using axes_type = difference<unite<typename L::axes_type, typename R::axes_type>, Over>;
  using value_type = typename L::value_type;
  static constexpr bool heavy = true;
  L left;
  R right;
  node_id id;
  template <class X, class Y>
  contraction(X&& l, Y&& r, node_id i) : left(std::forward<X>(l)),
                                         right(std::forward<Y>(r)),
                                         id(i) {}
  template <class A> extent_t extent() const {
    if constexpr (contains<A, axes_type> || contains<A, Over>)
      return detail::first_extent<A>(left, right);
    else
      return dynamic;
  }
};
/// A row of the operand along Over, turned into one value (sum, max, ...) or into a row again (softmax, cumsum, ...).
/// Sink is a scalar<> or an expression for softmax and log_sum_exp, `no_axis` elsewhere.
template <class Kind, class Over, class E, class Sink = no_axis> struct reduction : expression_base {
  using kind_type = Kind;
  using over = Over;
  using axes_type =
      std::conditional_t<Kind::keeps_axes, typename E::axes_type, difference<typename E::axes_type, Over>>;
  using value_type = typename Kind::template result<typename E::value_type>;
  static constexpr bool heavy = true;
  static constexpr bool has_sink = !std::is_same_v<Sink, no_axis>;
  Kind kind;
  E operand;
  [[no_unique_address]] Sink sink;
  node_id id;
  template <class X, class S>
  reduction(Kind k, X&& e, S&& s, node_id i) : kind(k),
                                               operand(std::forward<X>(e)),
                                               sink(std::forward<S>(s)),
                                               id(i) {}
  template <class A> extent_t extent() const {
    if constexpr (contains<A, axes_type> || contains<A, Over>)
      return operand.template extent<A>();
    else
      return dynamic;
  }
};
/// Evaluate once and share.
template <class E> struct let_node : expression_base {
  using axes_type = typename E::axes_type;
  using value_type = typename E::value_type;
  static constexpr bool heavy = true;
  E operand;
  node_id id;
  let_node(E e, node_id i) : operand(std::move(e)), id(i) {}
  template <class A> extent_t extent() const { return operand.template extent<A>(); }
};
template <class N> inline constexpr bool is_shared = false;
template <class E> inline constexpr bool is_shared<let_node<E>> = true;

// ---------------------------------------------------------------- the same elements under other coordinates
/// Change says which coordinate of the operand stands at a coordinate of the result (split, merge, slice, at, roll, ...).
template <class Change, class Axes, class E> struct reindexed : expression_base {
  using change_type = Change;
  using axes_type = Axes;
  using value_type = typename E::value_type;
  static constexpr bool heavy = E::heavy;
  Change change;
  E operand;
  node_id id;
  reindexed(Change c, E e, node_id i) : change(c), operand(std::move(e)), id(i) {}
  template <class A> extent_t extent() const {
    if constexpr (contains<A, Axes>)
      return change.template extent<A>(operand);
    else
      return dynamic;
  }
};
/// table at the coordinates that ids give along A.
template <class A, class Axes, class Table, class Ids> struct take_node : expression_base {
  using along = A;
  using axes_type = Axes;
  using value_type = typename Table::value_type;
  static constexpr bool heavy = Table::heavy || Ids::heavy;
  Table table;
  Ids ids;
  node_id id;
  take_node(Table t, Ids i, node_id n) : table(std::move(t)), ids(std::move(i)), id(n) {}
  template <class X> extent_t extent() const {
    if constexpr (std::is_same_v<X, A> && !contains<X, typename Ids::axes_type>)
      return dynamic;
    else if constexpr (std::is_same_v<X, A>)
      return ids.template extent<X>();
    else
      return detail::first_extent<X>(table, ids);
  }
};
template <class E, class... R> struct first_type { using type = E; };
/// Parts one after the other along A; Stacked: A is new and counts the parts.
template <class A, bool Stacked, class Axes, class... E> struct joined_node : expression_base {
  using along = A;
  using axes_type = Axes;
  using value_type = typename first_type<E...>::type::value_type;
  static constexpr bool heavy = (E::heavy || ...);
  static constexpr bool stacked = Stacked;
  static constexpr std::size_t parts = sizeof...(E);
  operand_cells<std::index_sequence_for<E...>, E...> operands;
  node_id id;
  template <class... X> explicit joined_node(node_id i, X&&... x) : operands(std::forward<X>(x)...), id(i) {}
  template <std::size_t I> auto const& operand() const { return detail::get_cell<I>(operands); }
  template <class X> extent_t extent() const {
    return [&]<std::size_t... I>(std::index_sequence<I...>)->extent_t {
      if constexpr (std::is_same_v<X, A> && Stacked)
        return static_cast<extent_t>(parts);
      else if constexpr (std::is_same_v<X, A>) {
        extent_t n = 0;
        ((n += this->template operand<I>().template extent<X>()), ...);
        return n;
      } else
        return detail::first_extent<X>(this->template operand<I>()...);
    }
    (std::index_sequence_for<E...>{});
  }
};

// ---------------------------------------------------------------- made by the plan only
/// A tile that a kernel fills: the value of a stage's anchor inside its prologue or epilogue.
template <class T, class Axes, int I> struct slot_node : expression_base {
  using axes_type = Axes;
  using value_type = T;
  static constexpr bool heavy = false;
  static constexpr int number = I;
  template <class A> extent_t extent() const { return dynamic; }
};
/// An additive term: where it has the value `excluded` (-infinity; +infinity to the right of a minus) it excludes.
/// all_kept: it is known that it never has.
template <class E> struct term_node : expression_base {
  using axes_type = typename E::axes_type;
  using value_type = typename E::value_type;
  static constexpr bool heavy = E::heavy;
  E operand;
  bool all_kept;
  double excluded;
  term_node(E e, bool k, double x) : operand(std::move(e)), all_kept(k), excluded(x) {}
  template <class A> extent_t extent() const { return operand.template extent<A>(); }
};
/// A stored result that is 0 where `keep` does not hold: a contraction skips those, everything else reads the zeros.
template <class M, class X> struct zeroed_node : expression_base {
  using axes_type = typename X::axes_type;
  using value_type = typename X::value_type;
  static constexpr bool heavy = false;
  M keep;
  X operand;
  zeroed_node(M m, X x) : keep(std::move(m)), operand(std::move(x)) {}
  template <class A> extent_t extent() const { return operand.template extent<A>(); }
};

// ---------------------------------------------------------------- from what a user holds to a node
template <class N> inline constexpr bool is_leaf_node = false;
template <class T, class Axes> inline constexpr bool is_leaf_node<leaf<T, Axes>> = true;

// (What nobody else holds is moved: a word makes its node of the nodes that it is given.)
template <class T, class... A> auto as_node(leaf<T, axes<A...>> const& l) { return detail::with_type<T const>(l); }
template <class T, class... A> auto as_node(leaf<T const, axes<A...>>&& l) { return std::move(l); }
template <class T, class... A> auto as_node(tensor<T, A...> const& t) {
  return detail::with_type<T const>(t.heed_leaf());
}
inline poison as_node(tensor<poison> const&) { return {}; }
template <class T, class... A> auto as_node(view<T, A...> const& v) {
  return detail::with_type<T const>(v.heed_leaf());
}
template <class E>
  requires(requires(E const& e) { e.heed_expression(); })
auto as_node(E const& e) { return e.heed_expression(); }
template <expression_like N>
  requires(
      !requires(N const& e) { e.heed_expression(); } && !requires(N const& e) { e.heed_leaf(); } && !is_leaf_node<N>)
N as_node(N const& n) { return n; }
template <class N>
  requires(
      !std::is_reference_v<N> && !std::is_const_v<N> && expression_like<N> &&
      !requires(N const& e) { e.heed_expression(); } && !requires(N const& e) { e.heed_leaf(); } && !is_leaf_node<N>)
N as_node(N&& n) { return std::forward<N>(n); }
template <class E> using node_of = decltype(detail::as_node(std::declval<std::remove_cvref_t<E> const&>()));
/// The node of an expression, which itself is not copied if it is one.
template <class E> decltype(auto) node_in(E const& e) {
  if constexpr (std::is_same_v<node_of<E>, E>)
    return (e);
  else
    return detail::as_node(e);
}

template <class T> inline constexpr bool is_real = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T> inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// Built only of index, integers and integer or bool tensors.
template <class N> inline constexpr bool is_index_expression = !is_real<typename N::value_type>;

}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// Anything lazy: tensors, views, slices and what the words make of them.
///
///     auto scaled = [](expression auto const& e) { return 0.125f * e; };
///     auto y = softmax<key>(scaled(s));
template <class E>
concept expression = detail::expression_like<E>;

/// `has_axes<E, query, key>`: E is an expression over these axes and no others, in any order.
///
///     static_assert(has_axes<decltype(dot<d_head>(q, k)), batch, head, query, key>);
template <class E, class... A>
concept has_axes = expression<E> && detail::same_set<typename std::remove_cvref_t<E>::axes_type, axes<A...>> &&
    detail::distinct<axes<A...>>;
}  // namespace HEED_ARCH
}  // namespace heed

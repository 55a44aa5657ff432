// SPDX-License-Identifier: BSL-1.0
// In: what a word has found wrong. Out: the sentence that the compiler prints. Each mistake is one struct whose write() is the
// sentence: docs/errors.md has them all, with the lines that cause them and the lines that mend them.
// Next to read: leaf.hpp, the data.
#pragma once

#include "check.hpp"

namespace heed::detail::mistakes {

// ---- axes and value types of operands
template <class Op, class A, class Left, class Right> struct contracted_axis_missing_in_left_operand {
  static constexpr void write(writer& w) {
    w("dot over axis "), w(detail::type_name<A>()), w(": the left operand has no such axis, it has "), w.list(Left{});
    w("; the right operand has "), w.list(Right{});
    detail::hint_relative<A>(w, "the right operand", "the left operand", Left{});
    std::size_t const said = w.size;
    detail::hint_missing<A>(w, Left{}, true, false, difference<Left, difference<Left, Right>>{});
    if constexpr (contains<A, Right>)
      if (w.size == said) detail::hint_split<A>(w, Left{}, Right{});
  }
};
template <class Op, class A, class Left, class Right> struct contracted_axis_missing_in_right_operand {
  static constexpr void write(writer& w) {
    w("dot over axis "), w(detail::type_name<A>()), w(": the right operand has no such axis, it has "), w.list(Right{});
    w("; the left operand has "), w.list(Left{});
    detail::hint_relative<A>(w, "the left operand", "the right operand", Right{});
    std::size_t const said = w.size;
    detail::hint_missing<A>(w, Right{}, true, false, difference<Left, difference<Left, Right>>{});
    if constexpr (contains<A, Left>)
      if (w.size == said) detail::hint_split<A>(w, Right{}, Left{});
  }
};
template <class Op, class Left, class Right> struct mask_as_a_term {
  static constexpr void write(writer& w) {
    w(Op::name), w(": truth values are no term: say where(mask, x), or cast<float>(mask) for 0 and 1; left has ");
    w.list(Left{}), w(", right has "), w.list(Right{});
  }
};
template <class Op, class Left, class Right> struct operands_do_not_broadcast {
  static constexpr void write(writer& w) {
    w(Op::name), w(": neither operand has all axes of the other: left has "), w.list(Left{}), w(", right has "),
        w.list(Right{});
    w("; only left has "), w.list(difference<Left, Right>{}), w(", only right has "), w.list(difference<Right, Left>{});
    for_each_axis(difference<Left, Right>{}, [&]<class A>(type_tag<A>) {
      detail::hint_relative<A>(w, "the left operand", "the right operand", difference<Right, Left>{});
    });
    if (!detail::hint_regrouped(w, difference<Left, Right>{}, difference<Right, Left>{}))
      w(Op::name == "operator*" ? " (a product that sums is dot; else rename an axis, or say broadcast)"
                                : " (rename an axis, or say broadcast)");
  }
};
template <class Op, class Left, class Right> struct value_types_differ {
  static constexpr void write(writer& w) {
    w(Op::name), w(": left is "), w(detail::type_name<Left>()), w(" and right is "), w(detail::type_name<Right>());
    w(" (say cast<"), w(detail::type_name<Left>()), w(">(...) or cast<"), w(detail::type_name<Right>()), w(">(...))");
  }
};
template <class Op, class Value> struct value_type_does_not_serve {
  static constexpr void write(writer& w) {
    w(Op::name), w(": values of type "), w(detail::type_name<Value>()), w(" do not serve here (say cast<...>(...))");
  }
};
template <class Condition, class Values> struct condition_is_wider_than_the_values {
  static constexpr void write(writer& w) {
    w("where: the condition has axes "), w.list(difference<Condition, Values>{}),
        w(" that the values lack: condition ");
    w.list(Condition{}), w(", values "), w.list(Values{});
    int similar = 0;
    for_each_axis(difference<Condition, Values>{}, [&]<class A>(type_tag<A>) {
      for_each_axis(difference<Values, Condition>{}, [&]<class B>(type_tag<B>) {
        if (!detail::near_name<A, B>() && detail::family<A>() != detail::family<B>()) return;
        w(similar++ ? ", " : " (did you mean "), w(detail::type_name<B>());
      });
    });
    w(similar ? "?)" : " (a forgotten rename?)");
  }
};
template <class Condition> struct condition_is_no_truth_value {
  static constexpr void write(writer& w) {
    w("where: the condition is "), w(detail::type_name<Condition>());
    w(", not bool: compare it, or add it to the scores if it is a bias");
  }
};
template <class Op, class A, class Values> struct axis_is_missing {
  static constexpr void write(writer& w) {
    w(Op::name), w(" over axis "), w(detail::type_name<A>()), w(": the operand has no such axis, it has "),
        w.list(Values{});
    detail::hint_missing<A>(w, Values{}, Op::name != "rename" && Op::name != "extent" && Op::name != "stride");
  }
};
template <class Op, class A, class Values> struct axis_is_already_there {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the result would have axis "), w(detail::type_name<A>()), w(" twice; the operand has "),
        w.list(Values{});
  }
};
template <class Op, class Small, class Wide> struct part_has_axes_that_the_whole_lacks {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the "), w(Op::part), w(" has axes "), w.list(difference<Small, Wide>{}),
        w(" that the operand lacks: ");
    w(Op::part), w(" "), w.list(Small{}), w(", operand "), w.list(Wide{});
    for_each_axis(difference<Small, Wide>{}, [&]<class A>(type_tag<A>) {
      detail::hint_relative<A>(w, Op::part, "the operand", difference<Wide, Small>{});
    });
  }
};
/// An expression that something made for other axes does not take, and what each of them lacks.
template <class Stored, class Target>
constexpr void say_what_lacks(writer& w, std::string_view operation, std::string_view target) {
  w(operation), w(": an expression with axes "), w.list(Stored{}), w(" does not fit a "), w(target), w(" with axes ");
  w.list(Target{});
  if constexpr (difference<Stored, Target>::rank > 0)
    w(": the "), w(target), w(" lacks "), w.list(difference<Stored, Target>{});
  if constexpr (difference<Target, Stored>::rank > 0)
    w(difference<Stored, Target>::rank > 0 ? "; the expression lacks " : ": the expression lacks "),
        w.list(difference<Target, Stored>{});
}
template <class Stored, class Target> struct destination_has_other_axes {
  static constexpr void write(writer& w) {
    mistakes::say_what_lacks<Stored, Target>(w, "evaluate", "tensor");
    for_each_axis(difference<Stored, Target>{}, [&]<class A>(type_tag<A>) {
      detail::hint_relative<A>(w, "the expression", "the tensor", difference<Target, Stored>{});
    });
    (void)detail::hint_regrouped(w, difference<Stored, Target>{}, difference<Target, Stored>{});
  }
};
template <class Keys, class Cache> struct keys_do_not_fit_the_cache {
  static constexpr void write(writer& w) {
    mistakes::say_what_lacks<Keys, Cache>(w, "append", "cache");
    for_each_axis(difference<Cache, Keys>{},
                  [&]<class A>(type_tag<A>) { detail::hint_missing<A>(w, difference<Keys, Cache>{}); });
  }
};
template <class Found, class Wanted> struct expected_other_axes {
  static constexpr void write(writer& w) {
    w("expect: the expression has axes "), w.list(Found{}), w(", expected "), w.list(Wanted{});
    for_each_axis(difference<Wanted, Found>{}, [&]<class A>(type_tag<A>) {
      detail::hint_relative<A>(w, "the expectation", "the expression", difference<Found, Wanted>{});
    });
    (void)detail::hint_regrouped(w, difference<Found, Wanted>{}, difference<Wanted, Found>{});
  }
};
template <class A, class B, class C, class = sizes<fixed_extent<B>, fixed_extent<C>, fixed_extent<A>>>
struct split_extents_do_not_multiply {
  static constexpr void write(writer& w) {
    w("split of axis "), w(detail::type_name<A>()), w(": "), w(detail::type_name<B>()), w(" x "),
        w(detail::type_name<C>()), w(" is ");
    w(fixed_extent<B>), w(" x "), w(fixed_extent<C>), w(" = "), w(fixed_extent<B> * fixed_extent<C>), w(", but ");
    w(detail::type_name<A>()), w(" has "), w(fixed_extent<A>);
  }
};
template <class A, class B, class C, class = sizes<fixed_extent<B>, fixed_extent<C>, fixed_extent<A>>>
struct merge_extents_do_not_multiply {
  static constexpr void write(writer& w) {
    w("merge to axis "), w(detail::type_name<A>()), w(": "), w(detail::type_name<B>()), w(" x "),
        w(detail::type_name<C>()), w(" is ");
    w(fixed_extent<B>), w(" x "), w(fixed_extent<C>), w(" = "), w(fixed_extent<B> * fixed_extent<C>), w(", but ");
    w(detail::type_name<A>()), w(" has "), w(fixed_extent<A>);
  }
};
template <class From, class To, class = sizes<fixed_extent<From>, fixed_extent<To>>> struct renamed_extents_differ {
  static constexpr void write(writer& w) {
    w("rename of axis "), w(detail::type_name<From>()), w(" to "), w(detail::type_name<To>()), w(": "),
        w(detail::type_name<From>());
    w(" has extent "), w(fixed_extent<From>), w(", "), w(detail::type_name<To>()), w(" has extent "),
        w(fixed_extent<To>);
  }
};
template <class Op, class A, class = sizes<fixed_extent<A>>> struct axis_must_be_dynamic {
  static constexpr void write(writer& w) {
    w(Op::name), w(": axis "), w(detail::type_name<A>()), w(" has the static extent "), w(fixed_extent<A>);
    w(", but the result has another one"), w(Op::advice);
  }
};
template <class Op, class A> struct range_is_needed {
  static constexpr void write(writer& w) {
    w(Op::name), w(" over axis "), w(detail::type_name<A>()), w(": from and to are needed (one element is at<");
    w(detail::type_name<A>()), w(">(x, i))");
  }
};
template <class Op, class A> struct axis_must_be_static {
  static constexpr void write(writer& w) {
    w(Op::name), w(": axis "), w(detail::type_name<A>()), w(" must have a static extent");
  }
};
template <class Op, class Left, class Right> struct axes_differ {
  static constexpr void write(writer& w) {
    w(Op::name), w(": both operands must have the same axes: left has "), w.list(Left{}), w(", right has "),
        w.list(Right{});
  }
};
template <class Op, class Given, class Wanted> struct extents_are_not_those_of_the_tensor {
  static constexpr void write(writer& w) {
    w(Op::name), w(": each axis whose extent is known at run time needs it by name, once: given "), w.list(Given{}),
        w(", wanted "), w.list(Wanted{});
    for_each_axis(Given{}, [&]<class A>(type_tag<A>) {
      if constexpr (!axis_tag<A>)
        w(" (say which axis "), w(detail::type_name<A>()), w(" belongs to)");
      else if constexpr (!is_dynamic<A>)
        w(" ("), w(detail::type_name<A>()), w(" has "), w(fixed_extent<A>), w(" in its type: leave it out)");
    });
  }
};
template <class Op, class List> struct axis_occurs_twice {
  static constexpr void write(writer& w) {
    w(Op::name), w(": an axis occurs twice in "), w.list(List{}), w(" (a square weight takes two tags)");
  }
};
template <class Op, class Found> struct ids_are_no_integers {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the ids must be integers, they are "), w(detail::type_name<Found>());
  }
};

// ---- what is no axis, no expression, no value
template <class Op> struct no_axis_is_named {
  static constexpr void write(writer& w) {
    w(Op::name), w(": name the axes, as in "), w(Op::name);
    w(Op::name == "dot" ? "<key>(x, y)" : "<key>(x)"), w(": they have no numbers");
  }
};
template <class Op, class A> struct it_is_no_axis {
  static constexpr void write(writer& w) {
    w(Op::name), w(": "), w(detail::type_name<A>()), w(" is no axis: an axis is a struct that derives from heed::axis");
  }
};
template <class Op, class List> struct axis_is_named_twice {
  static constexpr void write(writer& w) { w(Op::name), w(": an axis is named twice in "), w.list(List{}); }
};
template <class Op, class List> struct one_axis_is_needed {
  static constexpr void write(writer& w) {
    w(Op::name), w(": it goes over one axis, not over "), w.list(List{}), w(" (merge them first)");
  }
};
template <class Op, class X> struct it_is_no_expression {
  static constexpr void write(writer& w) {
    w(Op::name), w(": "), w(Op::takes), w(", not "), w(detail::family<X>()), w(Op::instead);
  }
};
template <class Op, class> struct word_is_not_there {
  static constexpr void write(writer& w) { w(Op::name), w(Op::instead); }
};
template <class Op, class T> struct elements_of_that_type {
  static constexpr void write(writer& w) {
    w(Op::name), w(": values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits, not "),
        w(detail::family<T>());
  }
};
template <class List, std::size_t Count> struct coordinates_are_not_those_of_the_tensor {
  static constexpr void write(writer& w) {
    w("tensor: one coordinate for each of the axes "), w.list(List{}), w(", not "), w(static_cast<extent_t>(Count));
  }
};
template <class List, std::size_t Count> struct strides_are_not_those_of_the_view {
  static constexpr void write(writer& w) {
    w("view: one stride for each of the axes "), w.list(List{}), w(", not "), w(static_cast<extent_t>(Count));
  }
};
template <class Pointer, class Element> struct pointer_does_not_fit_the_view {
  static constexpr void write(writer& w) {
    w("view: a pointer to "), w(detail::family<Pointer>()), w(" does not serve where the elements are "),
        w(detail::family<Element>());
  }
};
template <class Op, class List> struct extents_without_names {
  static constexpr void write(writer& w) {
    w(Op::name), w(": extents are given by name, as in query{128}, not by place: wanted "), w.list(List{});
  }
};
template <class Found, class Wanted> struct tensor_of_an_expression {
  static constexpr void write(writer& w) {
    w("tensor: an expression with axes "), w.list(Found{}), w(" has no elements yet: say evaluate(...)");
    if constexpr (Wanted::rank > 0 && !std::is_same_v<Found, Wanted>)
      w(", or evaluate<"), w.names(Wanted{}), w(">(...) for the order "), w.list(Wanted{});
  }
};
template <class Value, class Element> struct elements_of_another_type {
  static constexpr void write(writer& w) {
    w("tensor: values of type "), w(detail::family<Value>()), w(" do not become elements of type ");
    w(detail::family<Element>()), w(" unsaid: say evaluate_into(x, e), which converts");
  }
};
template <class Left, class Right> struct tensors_of_different_types {
  static constexpr void write(writer& w) {
    w("identical: it compares two tensors of one type (evaluate first): left has "), w.list(Left{}), w(", right has "),
        w.list(Right{});
  }
};
template <class> struct expression_as_a_truth_value {
  static constexpr void write(writer& w) {
    w("an expression is no truth value: compare two tensors with identical(a, b)");
  }
};
template <class> struct element_of_an_expression {
  static constexpr void write(writer& w) {
    w("x(i, j): an expression has no elements before it is evaluated: say evaluate(...)");
  }
};
template <class> struct memory_of_an_expression {
  static constexpr void write(writer& w) {
    w("an expression has no elements before it is evaluated: say evaluate(...)");
  }
};
template <class V> struct expression_as_a_number {
  static constexpr void write(writer& w) {
    w("this is no "), w(detail::type_name<V>()), w(": of an expression take evaluate(e)(), of a tensor x(i, j)");
  }
};
template <class> struct shape_without_names {
  static constexpr void write(writer& w) { w("x.shape(): axes have names, not places: say x.extent<query>()"); }
};
template <class List, class C> struct coordinate_is_no_integer {
  static constexpr void write(writer& w) {
    w("tensor: the coordinates are integers, in the order of the axes "), w.list(List{}), w(", not "),
        w(detail::family<C>());
  }
};
template <class Op, class List> struct expression_is_not_evaluated {
  static constexpr void write(writer& w) {
    w(Op::name), w(": an expression with axes "), w.list(List{}), w(" has no elements yet: say evaluate(...)");
  }
};
template <class> struct place_of_an_axis {
  static constexpr void write(writer& w) {
    w("x[i]: axes have names, not places: say at<A>(x, i), or x(i, j, ...) for an element of a tensor");
  }
};

// ---- words with a rule of their own
template <class Op, class A> struct query_and_key_are_one_axis {
  static constexpr void write(writer& w) {
    w(Op::name), w(": queries and keys are both called "), w(detail::type_name<A>()),
        w(" (a forgotten rename: keys take a tag of their own)");
  }
};
template <class Op, class Query, class Key, class Input> struct query_and_key_are_swapped {
  static constexpr void write(writer& w) {
    w(Op::name), w(": its first axis is that of the queries, "), w(detail::type_name<Query>());
    w(", but the input has "), w.list(Input{}), w(" (query and key swapped?)");
  }
};
template <class Op, class Value> struct it_is_no_integer {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the "), w(Op::part), w(" is an integer or an integer expression, not "),
        w(detail::type_name<Value>());
  }
};
template <class Op, class Value> struct number_is_no_integer {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the "), w(Op::integer), w(" is an integer, not "), w(detail::type_name<Value>()), w(Op::instead);
  }
};
template <class Op, class Value> struct it_is_no_condition {
  static constexpr void write(writer& w) {
    w(Op::name), w(": values of type "), w(detail::type_name<Value>()),
        w(" are no truth values: compare them, as in x > 0");
  }
};
template <class Op, class Whole, class Part, extent_t... N> struct extents_do_not_fit {
  static constexpr void write(writer& w) {
    extent_t const n[] = {N...};
    w(Op::name), w(": axis "), w(detail::type_name<Whole>()), w(" has extent "), w(n[0]), w(", "), w(Op::part), w(" "),
        w(detail::type_name<Part>()), w(" has "), w(n[1]);
  }
};
template <class A, extent_t Extent, extent_t Parts> struct axis_counts_the_parts {
  static constexpr void write(writer& w) {
    w("stack: axis "), w(detail::type_name<A>()), w(" counts the parts and has extent "), w(Extent),
        w(", but there are "), w(Parts);
  }
};
template <class A, extent_t Extent> struct pairs_of_an_odd_axis {
  static constexpr void write(writer& w) {
    w("rope: axis "), w(detail::type_name<A>()), w(" has the odd extent "), w(Extent),
        w(": its elements turn in pairs");
  }
};
template <class A, class Half, extent_t Extent, extent_t HalfExtent> struct tables_go_over_half {
  static constexpr void write(writer& w) {
    w("rope: the tables go over half of axis "), w(detail::type_name<A>()), w(": it has extent "), w(Extent), w(", "),
        w(detail::type_name<Half>()), w(" has "), w(HalfExtent), w(", not "), w(Extent / 2);
  }
};
template <class Given, class Wanted> struct extents_are_not_those_of_the_split {
  static constexpr void write(writer& w) {
    w("split: a part whose extent is known at run time needs it by name, one of two may be left out: given "),
        w.list(Given{}), w(", parts "), w.list(Wanted{});
  }
};
template <class Stored, class Element> struct destination_of_another_kind {
  static constexpr void write(writer& w) {
    w("evaluate: values of type "), w(detail::type_name<Stored>()), w(" do not go into elements of type "),
        w(detail::type_name<Element>()), w(" (compare them, or say cast)");
  }
};
template <std::size_t Destinations, std::size_t Expressions> struct one_expression_a_destination {
  static constexpr void write(writer& w) {
    w("evaluate_into: one expression for each destination: "), w(static_cast<extent_t>(Destinations)),
        w(" destinations, "), w(static_cast<extent_t>(Expressions)), w(" expressions");
  }
};
template <class Axes, bool Constant> struct it_is_no_destination {
  static constexpr void write(writer& w) {
    w("evaluate_into: the first argument, with axes "), w.list(Axes{});
    w(Constant ? ", is constant: a destination is a tensor, a view or a slice that may be written"
               : ", is an expression: the destination, a tensor, a view or a slice, comes first");
  }
};
template <class Context, class LogSumExp> struct contexts_and_sums_do_not_fit {
  static constexpr void write(writer& w) {
    w("combine: contexts and their log-sum-exps alternate, and a context has all axes of its log-sum-exp: context "),
        w.list(Context{}), w(", log-sum-exp "), w.list(LogSumExp{});
  }
};
template <class Cache, class A, class Ids> struct ids_do_not_reorder {
  static constexpr void write(writer& w) {
    w("kv_cache: reorder along axis "), w(detail::type_name<A>()), w(": the cache has "), w.list(Cache{}),
        w(", the ids have "), w.list(Ids{}), w(" (both need it, and the ids no other that the cache lacks)");
  }
};
template <class Key, class List> struct axes_are_not_those_of_a_cache {
  static constexpr void write(writer& w) {
    w("kv_cache: the axis of the keys comes first and grows, the others follow without it: "),
        w(detail::type_name<Key>());
    if constexpr (!is_dynamic<Key>) w(" has the static extent "), w(fixed_extent<Key>);
    w(", the others are "), w.list(List{});
  }
};

}  // namespace heed::detail::mistakes

namespace heed::detail {

/// Whether a word can go over these axes: at least one, each a tag, none twice.
template <class... A>
inline constexpr bool good_tags = sizeof...(A) > 0 && (axis_tag<A> && ...) && distinct<axes<A...>>;

template <class... A> struct first_no_tag { using type = no_axis; };
template <class A, class... R> struct first_no_tag<A, R...> {
  using type = typename std::conditional_t<axis_tag<A>, first_no_tag<R...>, type_tag<A>>::type;
};
/// The mistake in axes that are not good. (A type, not a function that refuses: each step to the sentence is one or three
/// lines before it.)
template <class Op, class... A> struct tag_mistake {
  using type =
      std::conditional_t<sizeof...(A) == 0, mistakes::no_axis_is_named<Op>,
                         std::conditional_t<(axis_tag<A> && ...), mistakes::axis_is_named_twice<Op, axes<A...>>,
                                            mistakes::it_is_no_axis<Op, typename first_no_tag<A...>::type>>>;
};
#define HEED_REFUSE_TAGS(...)                                                                        \
  HEED_REFUSE("name the axes: at least one, each a struct that derives from heed::axis, none twice", \
              typename ::heed::detail::tag_mistake<__VA_ARGS__>::type)

}  // namespace heed::detail

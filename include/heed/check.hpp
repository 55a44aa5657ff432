// SPDX-License-Identifier: BSL-1.0
// In: axis lists that do not fit. Out: one sentence at compile time that names the operation, the axis and both sides,
// and the run-time text of the same kind. Each mistake is one struct whose write() is the sentence.
// Next to read: tensor.hpp, the data.
#pragma once

#include "axis.hpp"

namespace heed::detail {

// ---------------------------------------------------------------- names of types, without their namespaces
template <class T> constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;  // "... [with T = ns::key; ...]" or "... [T = ns::key]"
  text.remove_prefix(text.find("T = ") + 4);
#if defined(__clang__)
  text.remove_suffix(1);
#else
  std::size_t end = text.find(';');
  text = text.substr(0, end == text.npos ? text.size() - 1 : end);
#endif
  std::size_t cut = 0;
  for (std::size_t i = 0; i + 1 < text.size() && text[i] != '<'; ++i)
    if (text[i] == ':' && text[i + 1] == ':') cut = i + 2;
  return text.substr(cut);
}
template <class A> std::string axis_name() { return std::string(detail::type_name<A>()); }
template <class... A> std::string axis_names(axes<A...>) {
  std::string s = "(";
  ((s += (s.size() > 1 ? ", " : "") + detail::axis_name<A>()), ...);
  return s + ")";
}

// ---------------------------------------------------------------- writing a sentence at compile time
struct writer {
  char* out = nullptr;
  std::size_t size = 0;
  constexpr void operator()(std::string_view s) {
    for (char c : s) {
      if (out) out[size] = c;
      ++size;
    }
  }
  constexpr void operator()(extent_t n) {
    if (n == dynamic) return (*this)("dynamic");
    char digits[24]{};
    int k = 0;
    do {
      digits[k++] = static_cast<char>('0' + n % 10);
      n /= 10;
    } while (n);
    while (k) (*this)(std::string_view(&digits[--k], 1));
  }
  template <class... A> constexpr void list(axes<A...>) {
    (*this)("(");
    bool first = true;
    (((*this)(first ? "" : ", "), first = false, (*this)(detail::type_name<A>())), ...);
    (*this)(")");
  }
};
/// Characters as a structural type, so that compilers without generated static_assert messages print them as an argument.
template <std::size_t N> struct sentence {
  char text[N]{};
  constexpr char const* data() const { return text; }
  constexpr std::size_t size() const { return N - 1; }
};
template <class Mistake> constexpr std::size_t length_of() {
  writer w;
  Mistake::write(w);
  return w.size;
}
template <class Mistake> constexpr auto sentence_of() {
  sentence<length_of<Mistake>() + 1> s;
  writer w{s.text};
  Mistake::write(w);
  return s;
}
template <class Mistake> inline constexpr bool fits = false;
template <auto Sentence> struct heed_says;  // never defined: its argument is the sentence

// Only instantiated in a failing branch. g++ >= 14 and clang in C++26 mode print the generated text; g++ 12 and 13 print
// it as the argument of an undefined class; older clang prints the literal and, in the condition, the readable type.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 14
#pragma GCC diagnostic ignored "-Wc++26-extensions"
#define HEED_REFUSE(LITERAL, ...) \
  static_assert(::heed::detail::fits<__VA_ARGS__>, ::heed::detail::sentence_of<__VA_ARGS__>())
#elif defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
#define HEED_REFUSE(LITERAL, ...) \
  static_assert(::heed::detail::fits<__VA_ARGS__>, ::heed::detail::sentence_of<__VA_ARGS__>())
#elif defined(__GNUC__) && !defined(__clang__)
#define HEED_REFUSE(LITERAL, ...) ::heed::detail::heed_says<::heed::detail::sentence_of<__VA_ARGS__>()> heed_error
#else
#define HEED_REFUSE(LITERAL, ...) static_assert(::heed::detail::fits<__VA_ARGS__>, LITERAL)
#endif

// ---------------------------------------------------------------- hints: two tags of one template or of one name
template <class A> constexpr std::string_view family() {
  auto n = detail::type_name<A>();
  return n.substr(0, n.find('<'));
}
/// "; model is 768 in the left operand and 512 in the right operand" for model<768> against model<512>.
template <class A, class... B>
constexpr void hint_relative(writer& w, std::string_view has_a, std::string_view has_b, axes<B...>) {
  [[maybe_unused]] auto one = [&]<class X>(type_tag<X>) {
    if constexpr (!std::is_same_v<A, X>)
      if (detail::family<A>() == detail::family<X>()) {
        w("; ");
        w(detail::family<A>());
        w(" is ");
        w(A::static_extent);
        w(" in ");
        w(has_a);
        w(" and ");
        w(X::static_extent);
        w(" in ");
        w(has_b);
      }
  };
  (one(type_tag<B>{}), ...);
}

// ---------------------------------------------------------------- the mistakes
namespace mistakes {

template <class Op, class A, class Left, class Right> struct contracted_axis_missing_in_left_operand {
  static constexpr void write(writer& w) {
    w("dot over axis "), w(detail::type_name<A>()), w(": the left operand has no such axis, it has "), w.list(Left{});
    w("; the right operand has "), w.list(Right{});
    detail::hint_relative<A>(w, "the right operand", "the left operand", Left{});
  }
};
template <class Op, class A, class Left, class Right> struct contracted_axis_missing_in_right_operand {
  static constexpr void write(writer& w) {
    w("dot over axis "), w(detail::type_name<A>()), w(": the right operand has no such axis, it has "), w.list(Right{});
    w("; the left operand has "), w.list(Left{});
    detail::hint_relative<A>(w, "the left operand", "the right operand", Right{});
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
    w(" (rename an axis, or say broadcast)");
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
    w.list(Condition{}), w(", values "), w.list(Values{}), w(" (a forgotten rename?)");
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
    w(" (a forgotten rename<..., "), w(detail::type_name<A>()), w(">?)");
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
  }
};
template <class Stored, class Target> struct destination_has_other_axes {
  static constexpr void write(writer& w) {
    w("evaluate: an expression with axes "), w.list(Stored{}), w(" does not fit a tensor with axes "), w.list(Target{});
    if constexpr (difference<Stored, Target>::rank > 0) w(": the tensor lacks "), w.list(difference<Stored, Target>{});
    if constexpr (difference<Target, Stored>::rank > 0)
      w(": the expression lacks "), w.list(difference<Target, Stored>{});
    for_each_axis(difference<Stored, Target>{}, [&]<class A>(type_tag<A>) {
      detail::hint_relative<A>(w, "the expression", "the tensor", difference<Target, Stored>{});
    });
  }
};
template <class Found, class Wanted> struct expected_other_axes {
  static constexpr void write(writer& w) {
    w("expect: the expression has axes "), w.list(Found{}), w(", expected "), w.list(Wanted{});
  }
};
template <class A, class B, class C> struct split_extents_do_not_multiply {
  static constexpr void write(writer& w) {
    w("split of axis "), w(detail::type_name<A>()), w(": "), w(detail::type_name<B>()), w(" x "),
        w(detail::type_name<C>()), w(" is ");
    w(B::static_extent), w(" x "), w(C::static_extent), w(" = "), w(B::static_extent * C::static_extent), w(", but ");
    w(detail::type_name<A>()), w(" has "), w(A::static_extent);
  }
};
template <class A, class B, class C> struct merge_extents_do_not_multiply {
  static constexpr void write(writer& w) {
    w("merge to axis "), w(detail::type_name<A>()), w(": "), w(detail::type_name<B>()), w(" x "),
        w(detail::type_name<C>()), w(" is ");
    w(B::static_extent), w(" x "), w(C::static_extent), w(" = "), w(B::static_extent * C::static_extent), w(", but ");
    w(detail::type_name<A>()), w(" has "), w(A::static_extent);
  }
};
template <class From, class To> struct renamed_extents_differ {
  static constexpr void write(writer& w) {
    w("rename of axis "), w(detail::type_name<From>()), w(" to "), w(detail::type_name<To>()), w(": "),
        w(detail::type_name<From>());
    w(" has extent "), w(From::static_extent), w(", "), w(detail::type_name<To>()), w(" has extent "),
        w(To::static_extent);
  }
};
template <class Op, class A> struct axis_must_be_dynamic {
  static constexpr void write(writer& w) {
    w(Op::name), w(": axis "), w(detail::type_name<A>()), w(" has the static extent "), w(A::static_extent);
    w(", but the result has another one"), w(Op::advice);
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
template <class Given, class Wanted> struct extents_are_not_those_of_the_tensor {
  static constexpr void write(writer& w) {
    w("tensor: each axis whose extent is known at run time needs it by name, once: given "), w.list(Given{}),
        w(", wanted "), w.list(Wanted{});
  }
};
template <class List> struct axis_occurs_twice {
  static constexpr void write(writer& w) {
    w("tensor: an axis occurs twice in "), w.list(List{}), w(" (a square weight takes two tags)");
  }
};
template <class Op, class Found> struct ids_are_no_integers {
  static constexpr void write(writer& w) {
    w(Op::name), w(": the ids must be integers, they are "), w(detail::type_name<Found>());
  }
};

}  // namespace mistakes

// ---------------------------------------------------------------- the same at run time
[[noreturn]] inline void refuse_extents(char const* op, std::string const& name, extent_t left, extent_t right) {
  throw shape_error(std::string(op) + ": axis " + name + " has extent " + std::to_string(left) +
                    " in the left operand and " + std::to_string(right) + " in the right operand");
}
template <class A, class L, class R> void check_extent(char const* op, L const& left, R const& right) {
  extent_t l = left.template extent<A>(), r = right.template extent<A>();
  if (l != dynamic && r != dynamic && l != r) detail::refuse_extents(op, detail::axis_name<A>(), l, r);
}
template <class... A, class L, class R>
void check_extents(axes<A...>, [[maybe_unused]] char const* op, [[maybe_unused]] L const& left,
                   [[maybe_unused]] R const& right) {
  (detail::check_extent<A>(op, left, right), ...);
}

}  // namespace heed::detail

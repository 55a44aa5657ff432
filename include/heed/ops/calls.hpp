// SPDX-License-Identifier: BSL-1.0
// In: calls that no word takes and operators beside a vector or a cache: a number or a vector where an expression belongs, too
// few or too many arguments, no axis. Out: how the word is called, in one sentence, instead of a list of candidates.
// Next to read: concepts.hpp, whether a word compiles.
#pragma once

#include "rope.hpp"

#include <initializer_list>

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
/// The base of kv_cache, so that operators are found for it, and refused.
struct cache_base {};
template <class T> inline constexpr bool is_cache = std::is_base_of_v<cache_base, T>;
template <class T> inline constexpr bool is_stored = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;
/// What holds values and is no operand.
template <class T>
concept stray = is_cache<T> || is_stored<T> ||(plain_memory<T> && !plain_number<T>);
template <class L, class R>
concept stray_operands = (stray<L> && (expression_like<R> || is_cache<L>)) ||
                         (stray<R> && (expression_like<L> || is_cache<R>));
}  // namespace HEED_ARCH
namespace mistakes {
template <class Op, class X, class Other> struct operand_is_no_expression {
  static constexpr void write(writer& w) {
    w(Op::name), w(": "), w(detail::family<X>()), w(" is no expression: ");
    w(detail::is_cache<X>    ? "what is filled of it is view()"
      : detail::is_stored<X> ? "say float(...)"
                             : "name the axes of its memory, as in view<float, query>(v.data(), query{n})");
    if constexpr (expression_like<Other>) w("; the other operand has "), w.list(typename Other::axes_type{});
  }
};
template <class Word> struct axes_have_no_numbers {
  static constexpr void write(writer& w) {
    w(Word::name), w(": name the axes, they have no numbers, as in "), w(Word::call);
  }
};
template <class Word, class Axes> struct word_is_called_otherwise {
  static constexpr void write(writer& w) {
    w(Word::name), w(Word::takes_expressions ? ": it is called with expressions, as in " : ": it is called as in "),
        w(Word::call);
    if constexpr (Axes::rank > 0)
      w("; here the axes are "), w.list(Axes{});
    else if constexpr (Word::call.find('<') != Word::call.npos)
      w("; here no axis is named");
  }
};
}  // namespace mistakes

inline namespace HEED_ARCH {
/// Takes whatever is left: a conversion to it is worse than every match of a word itself, so these overloads never win against
/// one.
struct anything {
  anything() = default;
  template <class T> anything(T const&) {}                         // NOLINT(google-explicit-constructor)
  template <class T> anything(std::initializer_list<T> const&) {}  // NOLINT(google-explicit-constructor)
};

/// The same but a number, for words that <cmath> has too: calls with numbers are its own.
struct no_number {
  no_number() = default;
  template <class T>
    requires(!std::is_convertible_v<T const&, long double>)
  no_number(T const&) {}                                            // NOLINT(google-explicit-constructor)
  template <class T> no_number(std::initializer_list<T> const&) {}  // NOLINT(google-explicit-constructor)
};

template <class Op, class L, class R> poison refuse_stray() {
  if constexpr (!is_poison<L> && !is_poison<R>)
    HEED_REFUSE(
        "operator: a vector or a cache is no expression: name its axes in a view, of a cache say view()",
        mistakes::operand_is_no_expression<Op, std::conditional_t<stray<L>, L, R>, std::conditional_t<stray<L>, R, L>>);
  return {};
}
/// The word, made to depend on the number that stands where its axes belong.
template <class Word, auto Place> struct numbered : Word {};

// Operators beside a vector, a pointer or a cache.
template <class L, class R>
  requires stray_operands<L, R>
auto operator+(L const&, R const&) -> poison { return detail::refuse_stray<ops::plus, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator-(L const&, R const&) -> poison { return detail::refuse_stray<ops::minus, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator*(L const&, R const&) -> poison { return detail::refuse_stray<ops::times, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator/(L const&, R const&) -> poison { return detail::refuse_stray<ops::divided, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator%(L const&, R const&) -> poison { return detail::refuse_stray<ops::modulo, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator<(L const&, R const&) -> poison { return detail::refuse_stray<ops::less, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator<=(L const&, R const&) -> poison { return detail::refuse_stray<ops::less_equal, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator>(L const&, R const&) -> poison { return detail::refuse_stray<ops::greater, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator>=(L const&, R const&) -> poison { return detail::refuse_stray<ops::greater_equal, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator==(L const&, R const&) -> poison { return detail::refuse_stray<ops::equal, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator!=(L const&, R const&) -> poison { return detail::refuse_stray<ops::not_equal, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator&&(L const&, R const&) -> poison { return detail::refuse_stray<ops::both, L, R>(); }
template <class L, class R>
  requires stray_operands<L, R>
auto operator||(L const&, R const&) -> poison { return detail::refuse_stray<ops::either, L, R>(); }
template <class C>
  requires is_cache<C>
auto operator-(C const&) -> poison { return detail::refuse_stray<ops::negated, C, C>(); }
template <class C>
  requires is_cache<C>
auto operator!(C const&) -> poison { return detail::refuse_stray<ops::inverted, C, C>(); }

namespace calls {
struct append {  // a member: cache.hpp refuses
  static constexpr std::string_view name = "append", call = "append(e) or append(policy, e)";
  static constexpr bool takes_expressions = true;
};
}  // namespace calls
}  // namespace HEED_ARCH
}  // namespace detail
}  // namespace heed

// How a word is called, for the compilers that print a text and for those that print a literal, and the overload that takes
// what no other one does.
#define HEED_CALL(SPACE, WORD, PARAMETERS, TEXT) \
  HEED_CALL_HOW(SPACE, WORD, PARAMETERS, TEXT, true, ": it is called with expressions, as in ")
#define HEED_CALL_WITHOUT(SPACE, WORD, PARAMETERS, TEXT) \
  HEED_CALL_HOW(SPACE, WORD, PARAMETERS, TEXT, false, ": it is called as in ")
#define HEED_CALL_HOW(SPACE, WORD, PARAMETERS, TEXT, EXPRESSIONS, HOW)                                        \
  namespace heed::detail::inline HEED_ARCH::calls {                                                           \
  struct WORD {                                                                                               \
    static constexpr std::string_view name = #WORD, call = TEXT;                                              \
    static constexpr bool takes_expressions = EXPRESSIONS;                                                    \
  };                                                                                                          \
  }                                                                                                           \
  namespace SPACE::inline HEED_ARCH {                                                                         \
  template <auto Place, auto... Places> auto WORD PARAMETERS {                                                \
    HEED_REFUSE(#WORD ": name the axes, they have no numbers",                                                \
                detail::mistakes::axes_have_no_numbers<detail::numbered<detail::calls::WORD, Place>>);        \
    return detail::poison{};                                                                                  \
  }                                                                                                           \
  template <class... A> auto WORD PARAMETERS {                                                                \
    HEED_REFUSE(#WORD HOW TEXT, detail::mistakes::word_is_called_otherwise<detail::calls::WORD, axes<A...>>); \
    return detail::poison{};                                                                                  \
  }                                                                                                           \
  }

// clang-format off
HEED_CALL(heed, cast, (detail::anything = {}, detail::anything = {}), "cast<T>(x)")
HEED_CALL(heed, broadcast, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "broadcast<A...>(x, A{n}...)")
HEED_CALL(heed, exp, (detail::no_number = {}, detail::anything = {}), "exp(x)")
HEED_CALL(heed, log, (detail::no_number = {}, detail::anything = {}), "log(x)")
HEED_CALL(heed, sqrt, (detail::no_number = {}, detail::anything = {}), "sqrt(x)")
HEED_CALL(heed, tanh, (detail::no_number = {}, detail::anything = {}), "tanh(x)")
HEED_CALL(heed, sin, (detail::no_number = {}, detail::anything = {}), "sin(x)")
HEED_CALL(heed, cos, (detail::no_number = {}, detail::anything = {}), "cos(x)")
HEED_CALL(heed, floor, (detail::no_number = {}, detail::anything = {}), "floor(x)")
HEED_CALL(heed, abs, (detail::no_number = {}, detail::anything = {}), "abs(x)")
HEED_CALL(heed, rsqrt, (detail::anything = {}, detail::anything = {}), "rsqrt(x)")
HEED_CALL(heed, relu, (detail::anything = {}, detail::anything = {}), "relu(x)")
HEED_CALL(heed, gelu, (detail::anything = {}, detail::anything = {}), "gelu(x)")
HEED_CALL(heed, gelu_tanh, (detail::anything = {}, detail::anything = {}), "gelu_tanh(x)")
HEED_CALL(heed, silu, (detail::anything = {}, detail::anything = {}), "silu(x)")
HEED_CALL(heed, sigmoid, (detail::anything = {}, detail::anything = {}), "sigmoid(x)")
HEED_CALL(heed, pow, (detail::no_number = {}, detail::anything = {}, detail::anything = {}), "pow(x, y)")
HEED_CALL(heed, min, (detail::no_number = {}, detail::anything = {}, detail::anything = {}), "min(x, y), two at a time")
HEED_CALL(heed, max, (detail::no_number = {}, detail::anything = {}, detail::anything = {}), "max<A...>(x) or max(x, y), two at a time")
HEED_CALL(heed, softcap, (detail::anything = {}, detail::anything = {}), "softcap(x, cap)")
HEED_CALL(heed, where, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "where(keep, x) or where(c, x, y)")
HEED_CALL_WITHOUT(heed, index, (detail::anything, detail::anything = {}), "index<key>()")
HEED_CALL_WITHOUT(heed, causal, (detail::anything, detail::anything = {}), "causal<query, key>() or causal<query, key>(past)")
HEED_CALL_WITHOUT(heed, window, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "window<query, key>(n) or window<query, key>(n, past)")
HEED_CALL(heed, alibi, (detail::anything = {}, detail::anything = {}), "alibi<query, key>(slopes) or alibi<query, key>(slopes, past)")
HEED_CALL_WITHOUT(heed, alibi_slopes, (detail::anything, detail::anything = {}), "alibi_slopes<head>() or alibi_slopes<head>(n)")
HEED_CALL(heed, softmax, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "softmax<A...>(x) or softmax<A...>(x, sink)")
HEED_CALL(heed, log_sum_exp, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "log_sum_exp<A...>(x) or log_sum_exp<A...>(x, sink)")
HEED_CALL(heed, sum, (detail::anything = {}, detail::anything = {}), "sum<A...>(x)")
HEED_CALL(heed, mean, (detail::anything = {}, detail::anything = {}), "mean<A...>(x)")
HEED_CALL(heed, variance, (detail::anything = {}, detail::anything = {}), "variance<A...>(x)")
HEED_CALL(heed, argmax, (detail::anything = {}, detail::anything = {}), "argmax<A>(x)")
HEED_CALL(heed, cumsum, (detail::anything = {}, detail::anything = {}), "cumsum<A>(x)")
HEED_CALL(heed, layer_norm, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, eps)")
HEED_CALL(heed, rms_norm, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "rms_norm<A>(x, gain) or rms_norm<A>(x, gain, eps)")
HEED_CALL(heed, dot, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "dot<A...>(x, y)")
HEED_CALL(heed, rename, (detail::anything = {}, detail::anything = {}), "rename<From, To>(x)")
HEED_CALL(heed, split, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "split<A, Major, Minor>(x, Major{m}, Minor{n})")
HEED_CALL(heed, merge, (detail::anything = {}, detail::anything = {}), "merge<Major, Minor, A>(x)")
HEED_CALL(heed, slice, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "slice<A>(x, from, to) or slice<A, To>(x, from)")
HEED_CALL(heed, at, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "at<A>(x, i), i a number (for ids in a tensor say take)")
HEED_CALL(heed, roll, (detail::anything = {}, detail::anything = {}), "roll<A>(x, n), n a number")
HEED_CALL(heed, expect, (detail::anything = {}, detail::anything = {}), "expect<A...>(x)")
HEED_CALL(heed, take, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "take<A>(table, ids)")
HEED_CALL(heed, concat, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "concat<A>(x, y), two at a time")
HEED_CALL(heed, stack, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "stack<A>(x, y, ...)")
HEED_CALL(heed, let, (detail::anything = {}, detail::anything = {}), "let(x), one at a time")
HEED_CALL(heed, dropout, (detail::anything = {}, detail::anything = {}, detail::anything = {}), "dropout(x, p, seed)")
HEED_CALL(heed, combine, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "combine(context, lse, other_context, other_lse)")
HEED_CALL(heed, rope, (detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, cosines, sines)")
HEED_CALL(heed, packed, (detail::anything = {}, detail::anything = {}), "packed<A...>(w)")
HEED_CALL(heed, evaluate, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "evaluate(e), evaluate<A...>(e) or evaluate(policy, e)")
HEED_CALL(heed, evaluate_into, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "evaluate_into(tensor, e), evaluate_into(std::tie(tensor, other), e, f) or evaluate_into(policy, tensor, e)")
HEED_CALL(heed, explain, (detail::anything, detail::anything = {}, detail::anything = {}), "explain(e) or explain(policy, e)")
// clang-format on

namespace heed {
inline namespace HEED_ARCH {
/// @private
template <auto Place, auto... Places> auto index() {
  HEED_REFUSE("index: name the axes, they have no numbers",
              detail::mistakes::axes_have_no_numbers<detail::numbered<detail::calls::index, Place>>);
  return detail::poison{};
}
/// @private
template <auto Place, auto... Places> auto causal() {
  HEED_REFUSE("causal: name the axes, they have no numbers",
              detail::mistakes::axes_have_no_numbers<detail::numbered<detail::calls::causal, Place>>);
  return detail::poison{};
}
}  // namespace HEED_ARCH
}  // namespace heed

// SPDX-License-Identifier: BSL-1.0
// In: calls that no word takes: a number, a vector or a cache where an expression belongs, too few or too many arguments, no
// axis. Out: how the word is called, in one sentence, instead of a list of candidates.
// Next to read: concepts.hpp, whether a word compiles.
#pragma once

#include "rope.hpp"

#include <initializer_list>

namespace heed {
namespace detail {
namespace mistakes {
template <class Word, class Axes> struct word_is_called_otherwise {
  static constexpr void write(writer& w) {
    w(Word::name), w(": it is called with expressions, as in "), w(Word::call);
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

/// The word, made to depend on what stands where its axes belong.
template <class Word, auto Place> struct numbered : Word {};

namespace calls {
struct append {  // a member: cache.hpp refuses
  static constexpr std::string_view name = "append", call = "append(e) or append(policy, e)";
};
}  // namespace calls
}  // namespace HEED_ARCH
}  // namespace detail
}  // namespace heed

// How a word is called, for the compilers that print a text and for those that print a literal, and the overload that takes
// what no other one does.
#define HEED_CALL(SPACE, WORD, PARAMETERS, TEXT)                                              \
  namespace heed::detail::inline HEED_ARCH::calls {                                           \
  struct WORD {                                                                               \
    static constexpr std::string_view name = #WORD, call = TEXT;                              \
  };                                                                                          \
  }                                                                                           \
  namespace SPACE::inline HEED_ARCH {                                                         \
  template <class... A> auto WORD PARAMETERS {                                                \
    HEED_REFUSE(#WORD ": it is called with expressions, as in " TEXT,                         \
                detail::mistakes::word_is_called_otherwise<detail::calls::WORD, axes<A...>>); \
    return detail::poison{};                                                                  \
  }                                                                                           \
  }

// clang-format off
HEED_CALL(heed, cast, (detail::anything, detail::anything = {}), "cast<T>(x)")
HEED_CALL(heed, broadcast, (detail::anything, detail::anything = {}, detail::anything = {}), "broadcast<A...>(x, A{n}...)")
HEED_CALL(heed, softcap, (detail::anything, detail::anything = {}), "softcap(x, cap)")
HEED_CALL(heed, where, (detail::anything, detail::anything = {}, detail::anything = {}), "where(keep, x) or where(c, x, y)")
HEED_CALL(heed, window, (detail::anything, detail::anything = {}, detail::anything = {}), "window<query, key>(n) or window<query, key>(n, past)")
HEED_CALL(heed, alibi, (detail::anything, detail::anything = {}), "alibi<query, key>(slopes) or alibi<query, key>(slopes, past)")
HEED_CALL(heed, softmax, (detail::anything, detail::anything = {}, detail::anything = {}), "softmax<A...>(x) or softmax<A...>(x, sink)")
HEED_CALL(heed, log_sum_exp, (detail::anything, detail::anything = {}, detail::anything = {}), "log_sum_exp<A...>(x) or log_sum_exp<A...>(x, sink)")
HEED_CALL(heed, sum, (detail::anything, detail::anything = {}), "sum<A...>(x)")
HEED_CALL(heed, mean, (detail::anything, detail::anything = {}), "mean<A...>(x)")
HEED_CALL(heed, variance, (detail::anything, detail::anything = {}), "variance<A...>(x)")
HEED_CALL(heed, argmax, (detail::anything, detail::anything = {}), "argmax<A>(x)")
HEED_CALL(heed, cumsum, (detail::anything, detail::anything = {}), "cumsum<A>(x)")
HEED_CALL(heed, layer_norm, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, eps)")
HEED_CALL(heed, rms_norm, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "rms_norm<A>(x, gain) or rms_norm<A>(x, gain, eps)")
HEED_CALL(heed, dot, (detail::anything, detail::anything = {}, detail::anything = {}), "dot<A...>(x, y)")
HEED_CALL(heed, rename, (detail::anything, detail::anything = {}), "rename<From, To>(x)")
HEED_CALL(heed, split, (detail::anything, detail::anything = {}, detail::anything = {}), "split<A, Major, Minor>(x, Major{m}, Minor{n})")
HEED_CALL(heed, merge, (detail::anything, detail::anything = {}), "merge<Major, Minor, A>(x)")
HEED_CALL(heed, slice, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "slice<A>(x, from, to) or slice<A, To>(x, from)")
HEED_CALL(heed, at, (detail::anything, detail::anything = {}, detail::anything = {}), "at<A>(x, i), i a number (for ids in a tensor say take)")
HEED_CALL(heed, roll, (detail::anything, detail::anything = {}), "roll<A>(x, n), n a number")
HEED_CALL(heed, expect, (detail::anything, detail::anything = {}), "expect<A...>(x)")
HEED_CALL(heed, take, (detail::anything, detail::anything = {}, detail::anything = {}), "take<A>(table, ids)")
HEED_CALL(heed, concat, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "concat<A>(x, y), two at a time")
HEED_CALL(heed, stack, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "stack<A>(x, y, ...)")
HEED_CALL(heed, let, (detail::anything, detail::anything = {}), "let(x), one at a time")
HEED_CALL(heed, dropout, (detail::anything, detail::anything = {}, detail::anything = {}), "dropout(x, p, seed)")
HEED_CALL(heed, combine, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "combine(context, lse, other_context, other_lse)")
HEED_CALL(heed, rope, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, cosines, sines)")
HEED_CALL(heed, packed, (detail::anything, detail::anything = {}), "packed<A...>(w)")
HEED_CALL(heed, evaluate, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "evaluate(e), evaluate<A...>(e) or evaluate(policy, e)")
HEED_CALL(heed, evaluate_into, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "evaluate_into(tensor, e), evaluate_into(std::tie(tensor, other), e, f) or evaluate_into(policy, tensor, e)")
HEED_CALL(heed, explain, (detail::anything, detail::anything = {}, detail::anything = {}), "explain(e) or explain(policy, e)")
// clang-format on

namespace heed {
inline namespace HEED_ARCH {

/// @private Axes by number.
template <auto Place, auto... Places> auto softmax(detail::anything, detail::anything = {}) {
  HEED_REFUSE("softmax: name the axes, they have no numbers",
              detail::mistakes::no_axis_is_named<detail::numbered<detail::kinds::softmax, Place>>);
  return detail::poison{};
}
/// @private Axes by number.
template <auto Place, auto... Places> auto sum(detail::anything, detail::anything = {}) {
  HEED_REFUSE("sum: name the axes, they have no numbers",
              detail::mistakes::no_axis_is_named<detail::numbered<detail::kinds::sum, Place>>);
  return detail::poison{};
}
/// @private Axes by number.
template <auto Place, auto... Places> auto mean(detail::anything, detail::anything = {}) {
  HEED_REFUSE("mean: name the axes, they have no numbers",
              detail::mistakes::no_axis_is_named<detail::numbered<detail::kinds::mean, Place>>);
  return detail::poison{};
}
/// @private Axes by number.
template <auto Place, auto... Places> auto dot(detail::anything, detail::anything = {}) {
  HEED_REFUSE("dot: name the axes, they have no numbers",
              detail::mistakes::no_axis_is_named<detail::numbered<detail::dot_word, Place>>);
  return detail::poison{};
}
}  // namespace HEED_ARCH
}  // namespace heed

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
struct cast {
  static constexpr std::string_view name = "cast", call = "cast<T>(x)";
};
struct broadcast {
  static constexpr std::string_view name = "broadcast", call = "broadcast<A...>(x, A{n}...)";
};
struct softcap {
  static constexpr std::string_view name = "softcap", call = "softcap(x, cap)";
};
struct where {
  static constexpr std::string_view name = "where", call = "where(keep, x) or where(c, x, y)";
};
struct window {
  static constexpr std::string_view name = "window", call = "window<query, key>(n) or window<query, key>(n, past)";
};
struct alibi {
  static constexpr std::string_view name = "alibi",
                                    call = "alibi<query, key>(slopes) or alibi<query, key>(slopes, past)";
};
struct softmax {
  static constexpr std::string_view name = "softmax", call = "softmax<A...>(x) or softmax<A...>(x, sink)";
};
struct log_sum_exp {
  static constexpr std::string_view name = "log_sum_exp", call = "log_sum_exp<A...>(x) or log_sum_exp<A...>(x, sink)";
};
struct sum {
  static constexpr std::string_view name = "sum", call = "sum<A...>(x)";
};
struct mean {
  static constexpr std::string_view name = "mean", call = "mean<A...>(x)";
};
struct variance {
  static constexpr std::string_view name = "variance", call = "variance<A...>(x)";
};
struct argmax {
  static constexpr std::string_view name = "argmax", call = "argmax<A>(x)";
};
struct cumsum {
  static constexpr std::string_view name = "cumsum", call = "cumsum<A>(x)";
};
struct layer_norm {
  static constexpr std::string_view name = "layer_norm",
                                    call = "layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, eps)";
};
struct rms_norm {
  static constexpr std::string_view name = "rms_norm", call = "rms_norm<A>(x, gain) or rms_norm<A>(x, gain, eps)";
};
struct dot {
  static constexpr std::string_view name = "dot", call = "dot<A...>(x, y)";
};
struct rename {
  static constexpr std::string_view name = "rename", call = "rename<From, To>(x)";
};
struct split {
  static constexpr std::string_view name = "split", call = "split<A, Major, Minor>(x, Major{m}, Minor{n})";
};
struct merge {
  static constexpr std::string_view name = "merge", call = "merge<Major, Minor, A>(x)";
};
struct slice {
  static constexpr std::string_view name = "slice", call = "slice<A>(x, from, to) or slice<A, To>(x, from)";
};
struct at {
  static constexpr std::string_view name = "at", call = "at<A>(x, i), i a number (for ids in a tensor say take)";
};
struct roll {
  static constexpr std::string_view name = "roll", call = "roll<A>(x, n), n a number";
};
struct expect {
  static constexpr std::string_view name = "expect", call = "expect<A...>(x)";
};
struct take {
  static constexpr std::string_view name = "take", call = "take<A>(table, ids)";
};
struct concat {
  static constexpr std::string_view name = "concat", call = "concat<A>(x, y), two at a time";
};
struct stack {
  static constexpr std::string_view name = "stack", call = "stack<A>(x, y, ...)";
};
struct let {
  static constexpr std::string_view name = "let", call = "let(x), one at a time";
};
struct dropout {
  static constexpr std::string_view name = "dropout", call = "dropout(x, p, seed)";
};
struct combine {
  static constexpr std::string_view name = "combine", call = "combine(context, lse, other_context, other_lse)";
};
struct rope {
  static constexpr std::string_view
      name = "rope",
      call = "rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, cosines, sines)";
};
struct packed {
  static constexpr std::string_view name = "packed", call = "packed<A...>(w)";
};
struct evaluate {
  static constexpr std::string_view name = "evaluate", call = "evaluate(e), evaluate<A...>(e) or evaluate(policy, e)";
};
struct evaluate_into {
  static constexpr std::string_view
      name = "evaluate_into",
      call =
          "evaluate_into(tensor, e), evaluate_into(std::tie(tensor, other), e, f) or evaluate_into(policy, tensor, e)";
};
struct explain {
  static constexpr std::string_view name = "explain", call = "explain(e) or explain(policy, e)";
};
struct append {
  static constexpr std::string_view name = "append", call = "append(e) or append(policy, e)";
};
}  // namespace calls
}  // namespace HEED_ARCH
}  // namespace detail

inline namespace HEED_ARCH {

/// @private
template <class... A> auto cast(detail::anything, detail::anything = {}) {
  HEED_REFUSE("cast: it is called with expressions, as in cast<T>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::cast, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto broadcast(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("broadcast: it is called with expressions, as in broadcast<A...>(x, A{n}...)",
              detail::mistakes::word_is_called_otherwise<detail::calls::broadcast, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto softcap(detail::anything, detail::anything = {}) {
  HEED_REFUSE("softcap: it is called with expressions, as in softcap(x, cap)",
              detail::mistakes::word_is_called_otherwise<detail::calls::softcap, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto where(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("where: it is called with expressions, as in where(keep, x) or where(c, x, y)",
              detail::mistakes::word_is_called_otherwise<detail::calls::where, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto window(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("window: it is called with expressions, as in window<query, key>(n) or window<query, key>(n, past)",
              detail::mistakes::word_is_called_otherwise<detail::calls::window, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto alibi(detail::anything, detail::anything = {}) {
  HEED_REFUSE(
      "alibi: it is called with expressions, as in alibi<query, key>(slopes) or alibi<query, key>(slopes, past)",
      detail::mistakes::word_is_called_otherwise<detail::calls::alibi, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto softmax(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("softmax: it is called with expressions, as in softmax<A...>(x) or softmax<A...>(x, sink)",
              detail::mistakes::word_is_called_otherwise<detail::calls::softmax, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto log_sum_exp(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("log_sum_exp: it is called with expressions, as in log_sum_exp<A...>(x) or log_sum_exp<A...>(x, sink)",
              detail::mistakes::word_is_called_otherwise<detail::calls::log_sum_exp, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto sum(detail::anything, detail::anything = {}) {
  HEED_REFUSE("sum: it is called with expressions, as in sum<A...>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::sum, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto mean(detail::anything, detail::anything = {}) {
  HEED_REFUSE("mean: it is called with expressions, as in mean<A...>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::mean, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto variance(detail::anything, detail::anything = {}) {
  HEED_REFUSE("variance: it is called with expressions, as in variance<A...>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::variance, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto argmax(detail::anything, detail::anything = {}) {
  HEED_REFUSE("argmax: it is called with expressions, as in argmax<A>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::argmax, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto cumsum(detail::anything, detail::anything = {}) {
  HEED_REFUSE("cumsum: it is called with expressions, as in cumsum<A>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::cumsum, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto layer_norm(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE(
      "layer_norm: it is called with expressions, as in layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, "
      "eps)",
      detail::mistakes::word_is_called_otherwise<detail::calls::layer_norm, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto rms_norm(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("rms_norm: it is called with expressions, as in rms_norm<A>(x, gain) or rms_norm<A>(x, gain, eps)",
              detail::mistakes::word_is_called_otherwise<detail::calls::rms_norm, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto dot(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("dot: it is called with expressions, as in dot<A...>(x, y)",
              detail::mistakes::word_is_called_otherwise<detail::calls::dot, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto rename(detail::anything, detail::anything = {}) {
  HEED_REFUSE("rename: it is called with expressions, as in rename<From, To>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::rename, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto split(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("split: it is called with expressions, as in split<A, Major, Minor>(x, Major{m}, Minor{n})",
              detail::mistakes::word_is_called_otherwise<detail::calls::split, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto merge(detail::anything, detail::anything = {}) {
  HEED_REFUSE("merge: it is called with expressions, as in merge<Major, Minor, A>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::merge, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto slice(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("slice: it is called with expressions, as in slice<A>(x, from, to) or slice<A, To>(x, from)",
              detail::mistakes::word_is_called_otherwise<detail::calls::slice, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto at(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("at: it is called with expressions, as in at<A>(x, i), i a number (for ids in a tensor say take)",
              detail::mistakes::word_is_called_otherwise<detail::calls::at, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto roll(detail::anything, detail::anything = {}) {
  HEED_REFUSE("roll: it is called with expressions, as in roll<A>(x, n), n a number",
              detail::mistakes::word_is_called_otherwise<detail::calls::roll, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto expect(detail::anything, detail::anything = {}) {
  HEED_REFUSE("expect: it is called with expressions, as in expect<A...>(x)",
              detail::mistakes::word_is_called_otherwise<detail::calls::expect, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto take(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("take: it is called with expressions, as in take<A>(table, ids)",
              detail::mistakes::word_is_called_otherwise<detail::calls::take, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto concat(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("concat: it is called with expressions, as in concat<A>(x, y), two at a time",
              detail::mistakes::word_is_called_otherwise<detail::calls::concat, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto stack(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("stack: it is called with expressions, as in stack<A>(x, y, ...)",
              detail::mistakes::word_is_called_otherwise<detail::calls::stack, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto let(detail::anything, detail::anything = {}) {
  HEED_REFUSE("let: it is called with expressions, as in let(x), one at a time",
              detail::mistakes::word_is_called_otherwise<detail::calls::let, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto dropout(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("dropout: it is called with expressions, as in dropout(x, p, seed)",
              detail::mistakes::word_is_called_otherwise<detail::calls::dropout, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto combine(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("combine: it is called with expressions, as in combine(context, lse, other_context, other_lse)",
              detail::mistakes::word_is_called_otherwise<detail::calls::combine, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto rope(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
          detail::anything = {}) {
  HEED_REFUSE(
      "rope: it is called with expressions, as in rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, "
      "cosines, sines)",
      detail::mistakes::word_is_called_otherwise<detail::calls::rope, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto packed(detail::anything, detail::anything = {}) {
  HEED_REFUSE("packed: it is called with expressions, as in packed<A...>(w)",
              detail::mistakes::word_is_called_otherwise<detail::calls::packed, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto evaluate(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("evaluate: it is called with expressions, as in evaluate(e), evaluate<A...>(e) or evaluate(policy, e)",
              detail::mistakes::word_is_called_otherwise<detail::calls::evaluate, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto evaluate_into(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE(
      "evaluate_into: it is called with expressions, as in evaluate_into(tensor, e), evaluate_into(std::tie(tensor, "
      "other), e, f) or evaluate_into(policy, tensor, e)",
      detail::mistakes::word_is_called_otherwise<detail::calls::evaluate_into, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A> auto explain(detail::anything, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("explain: it is called with expressions, as in explain(e) or explain(policy, e)",
              detail::mistakes::word_is_called_otherwise<detail::calls::explain, axes<A...>>);
  return detail::poison{};
}

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

// SPDX-License-Identifier: BSL-1.0
// In: axis lists that do not fit. Out: how a mistake is said: at compile time in one sentence that names the operation, the
// axis and both sides, at run time in a text of the same kind; and the hints at what was probably meant.
// Next to read: mistakes.hpp, the sentences.
#pragma once

#include "axis.hpp"

#include <algorithm>

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
  template <class... A> constexpr void names(axes<A...>) {
    bool first = true;
    (((*this)(first ? "" : ", "), first = false, (*this)(detail::type_name<A>())), ...);
  }
  template <class... A> constexpr void list(axes<A...> a) { (*this)("("), names(a), (*this)(")"); }
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
/// Static extents as a type, so that a compiler that prints types alone prints them too.
template <extent_t... N> struct sizes {};
template <auto Sentence> struct heed_says;  // never defined: its argument is the sentence

// Only instantiated in a failing branch. g++ >= 14, and clang >= 17 in C++26 mode, print the generated text; g++ 12 and 13
// print it as the argument of an undefined class; clang elsewhere prints the literal and, in the condition, the readable
// type (as an argument it would break the text off after 32 letters).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 14
#pragma GCC diagnostic ignored "-Wc++26-extensions"
#define HEED_REFUSE(LITERAL, ...) \
  static_assert(::heed::detail::fits<__VA_ARGS__>, ::heed::detail::sentence_of<__VA_ARGS__>())
#elif defined(__cpp_static_assert) && __cpp_static_assert >= 202306L
#define HEED_REFUSE(LITERAL, ...) \
  static_assert(::heed::detail::fits<__VA_ARGS__>, ::heed::detail::sentence_of<__VA_ARGS__>())
#elif !defined(__clang__)
#define HEED_REFUSE(LITERAL, ...) \
  static_assert(sizeof(::heed::detail::heed_says<::heed::detail::sentence_of<__VA_ARGS__>()>) != 0)
#else
#define HEED_REFUSE(LITERAL, ...) static_assert(::heed::detail::fits<__VA_ARGS__>, LITERAL)
#endif

// ---------------------------------------------------------------- hints: what was probably meant
/// The name of a type without its arguments: two tags of one template are one axis in two sizes.
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
        w(fixed_extent<A>);
        w(" in ");
        w(has_a);
        w(" and ");
        w(fixed_extent<X>);
        w(" in ");
        w(has_b);
      }
  };
  (one(type_tag<B>{}), ...);
}
/// How many letters must be changed, added or left out to make one name of the other.
constexpr std::size_t letters_apart(std::string_view a, std::string_view b) {
  constexpr std::size_t longest = 40;
  if (a.size() > longest || b.size() > longest) return longest;
  std::size_t row[longest + 1] = {};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t before = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t const changed = before + (a[i - 1] != b[j - 1]);
      before = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}
template <class A, class B> constexpr bool near_name() {
  auto const a = detail::type_name<A>(), b = detail::type_name<B>();
  std::size_t const shorter = std::min(a.size(), b.size());
  return a.front() == b.front() && detail::letters_apart(a, b) <= (shorter < 3 ? 0U : shorter < 5 ? 1U : 3U);
}
/// " (a forgotten merge<head, d_head, model>?)" where two axes of the list, in its order, make up A.
template <class A, class... B> constexpr void hint_merge(writer& w, axes<B...>) {
  extent_t const n[] = {fixed_extent<B>..., 0};
  std::string_view const name[] = {detail::type_name<B>()..., ""};
  for (std::size_t i = 0; i < sizeof...(B); ++i)
    for (std::size_t j = i + 1; j < sizeof...(B); ++j)
      if (n[i] > 0 && fixed_extent<A> % n[i] == 0 && fixed_extent<A> / n[i] == n[j]) {
        w(" (a forgotten merge<"), w(name[i]), w(", "), w(name[j]), w(", "), w(detail::type_name<A>()), w(">?)");
        return;
      }
}
/// What a list that lacks A has in its place: the same axis in another size, an axis of a similar name, or those that a
/// rename could turn into A. Shared: the axes of both operands of a product; where there is one, of features, and A is none of
/// them, it was probably meant.
template <class A, class... B, class Shared = axes<>>
constexpr void hint_missing(writer& w, axes<B...>, bool by_rename = true, bool by_size = true, Shared = {}) {
  int similar = 0, possible = 0, said = 0;
  bool related = false;
  [[maybe_unused]] auto look = [&]<class X>(type_tag<X>) {
    related |= detail::family<A>() == detail::family<X>();
    similar += detail::near_name<A, X>();
    possible += fixed_extent<A> == fixed_extent<X>;
  };
  (look(type_tag<B>{}), ...);
  if (related && !by_size) return;
  [[maybe_unused]] auto say = [&]<class X>(type_tag<X>) {
    if (related ? detail::family<A>() == detail::family<X>() : detail::near_name<A, X>())
      w(related ? " (another size: " : " (did you mean "), w(detail::type_name<X>()), w(related ? ")" : "?)");
    else if (!related && similar == 0 && by_rename && possible > 1 && fixed_extent<A> == fixed_extent<X>)
      w(said++ ? " or " : " (a forgotten rename of "), w(detail::type_name<X>());
    else if (!related && similar == 0 && by_rename && possible == 1 && fixed_extent<A> == fixed_extent<X>) {
      w(" (a forgotten rename<"), w(detail::type_name<X>()), w(", "), w(detail::type_name<A>()), w(">");
      if constexpr (Shared::rank == 1)
        for_each_axis(Shared{}, [&]<class S>(type_tag<S>) {
          if (fixed_extent<A> == dynamic && fixed_extent<S> != dynamic)
            w(", or dot<"), w(detail::type_name<S>()), w(">");
        });
      w("?)");
    }
  };
  (say(type_tag<B>{}), ...);
  if (said > 0) w(" to "), w(detail::type_name<A>()), w("?)");
  if (!related && similar == 0 && possible == 0) detail::hint_merge<A>(w, axes<B...>{});
}
/// The hint of a merge, for the one of two lists that has a single axis where the other has its two parts. True where it was said.
template <class... A, class... B> constexpr bool hint_regrouped(writer& w, axes<A...> one, axes<B...> other) {
  std::size_t const before = w.size;
  if constexpr (sizeof...(A) == 1 && sizeof...(B) == 2)
    detail::hint_merge<A...>(w, other);
  else if constexpr (sizeof...(A) == 2 && sizeof...(B) == 1)
    detail::hint_merge<B...>(w, one);
  return w.size != before;
}
/// " (a forgotten split<model, head, d_head>?)" where an axis of Have alone is A times another axis of Want alone.
template <class A, class Have, class... B> constexpr void hint_split(writer& w, Have, axes<B...>) {
  extent_t const n[] = {fixed_extent<B>..., 0};
  std::string_view const name[] = {detail::type_name<B>()..., ""};
  bool said = false;
  for_each_axis(difference<Have, axes<B...>>{}, [&]<class X>(type_tag<X>) {
    constexpr std::size_t a = index_of<A, axes<B...>>;
    bool const there[] = {contains<B, Have>..., false};
    for (std::size_t j = 0; j < sizeof...(B); ++j) {
      if (said || j == a || there[j] || n[a] <= 0 || fixed_extent<X> % n[a] || fixed_extent<X> / n[a] != n[j]) continue;
      w(" (a forgotten split<"), w(detail::type_name<X>()), w(", "), w(name[std::min(a, j)]), w(", ");
      w(name[std::max(a, j)]), w(">?)");
      said = true;
    }
  });
}

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

// SPDX-License-Identifier: BSL-1.0
// In: one value (or one vector of values) an operand. Out: the value of an elementwise operation. Each operation is one
// struct whose apply() holds for scalars and, through argument-dependent lookup, for the vectors of kernel/pack.hpp.
// Next to read: elementwise.hpp, the words that build nodes out of these.
#pragma once

#include "../check.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace heed::detail::ops {
inline namespace HEED_ARCH {

// ---------------------------------------------------------------- the scalar meaning; kernel/pack.hpp has the vectors'
template <class T>
concept number = std::is_arithmetic_v<T>;

template <number T> constexpr T add(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <number T> constexpr T sub(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  else
    return a - b;
}
template <number T> constexpr T mul(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}
template <number T> constexpr T div(T a, T b) { return a / b; }
template <number T> constexpr T floor_div(T a, T b) {
  if (b == 0) return 0;
  if (b == -1) return ops::sub(T{0}, a);
  T q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}
template <number T> constexpr T floor_mod(T a, T b) {
  return b == 0 ? T{0} : ops::sub(a, ops::mul(ops::floor_div(a, b), b));
}
template <number T> constexpr T neg(T a) {
  if constexpr (std::is_integral_v<T>)
    return ops::sub(T{0}, a);
  else
    return -a;
}
template <number T> constexpr T min(T a, T b) { return a != a ? a : b != b ? b : b < a ? b : a; }
template <number T> constexpr T max(T a, T b) { return a != a ? a : b != b ? b : a < b ? b : a; }
template <number T> T abs(T a) {
  return a < 0 ? ops::neg(a) : std::is_integral_v<T> ? a : static_cast<T>(std::abs(static_cast<double>(a)));
}
template <number T> T floor(T a) { return std::floor(a); }
template <number T> T sqrt(T a) { return std::sqrt(a); }
template <number T> T rsqrt(T a) { return T(1) / std::sqrt(a); }
template <number T> T exp(T a) { return std::exp(a); }
template <number T> T log(T a) { return std::log(a); }
template <number T> T tanh(T a) { return std::tanh(a); }
template <number T> T erf(T a) { return std::erf(a); }
template <number T> T sin(T a) { return std::sin(a); }
template <number T> T cos(T a) { return std::cos(a); }
template <number T> T pow(T a, T b) { return std::pow(a, b); }
template <number T> constexpr bool lt(T a, T b) { return a < b; }
template <number T> constexpr bool le(T a, T b) { return a <= b; }
template <number T> constexpr bool eq(T a, T b) { return a == b; }
template <number T> constexpr bool ne(T a, T b) { return a != b; }
template <number T> constexpr T select(bool c, T a, T b) { return c ? a : b; }
/// The nearest value that Storage holds: bf16 or f16, computed as float.
template <class Storage> float round_to(float a) { return Storage(a); }
template <class To, number T> constexpr To convert(T a) {
  if constexpr (std::is_same_v<To, bool>)
    return a != T{0};
  else
    return static_cast<To>(a);
}
/// A constant of the kind of the first argument: `T` itself, or a vector full of it.
template <number T> constexpr T like(T, double value) { return static_cast<T>(value); }

// ---------------------------------------------------------------- operations
struct plus {
  static constexpr std::string_view name = "operator+", symbol = " + ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return add(a, b); }
};
struct minus {
  static constexpr std::string_view name = "operator-", symbol = " - ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return sub(a, b); }
};
struct times {
  static constexpr std::string_view name = "operator*", symbol = " * ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return mul(a, b); }
};
struct divided {
  static constexpr std::string_view name = "operator/", symbol = " / ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return div(a, b); }
};
struct floor_divided {
  static constexpr std::string_view name = "operator/", symbol = " / ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return floor_div(a, b); }
};
struct modulo {
  static constexpr std::string_view name = "operator%", symbol = " % ";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return floor_mod(a, b); }
};
struct power {
  static constexpr std::string_view name = "pow", symbol = "pow";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return pow(a, b); }
};
struct minimum {
  static constexpr std::string_view name = "min", symbol = "min";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return min(a, b); }
};
struct maximum {
  static constexpr std::string_view name = "max", symbol = "max";
  template <class V> [[gnu::always_inline]] static V apply(V const& a, V const& b) { return max(a, b); }
};
struct negated {
  static constexpr std::string_view name = "operator-", symbol = "-";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return neg(a); }
};
struct exponential {
  static constexpr std::string_view name = "exp", symbol = "exp";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return exp(a); }
};
struct logarithm {
  static constexpr std::string_view name = "log", symbol = "log";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return log(a); }
};
struct square_root {
  static constexpr std::string_view name = "sqrt", symbol = "sqrt";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return sqrt(a); }
};
struct reciprocal_root {
  static constexpr std::string_view name = "rsqrt", symbol = "rsqrt";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return rsqrt(a); }
};
struct hyperbolic_tangent {
  static constexpr std::string_view name = "tanh", symbol = "tanh";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return tanh(a); }
};
struct sine {
  static constexpr std::string_view name = "sin", symbol = "sin";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return sin(a); }
};
struct cosine {
  static constexpr std::string_view name = "cos", symbol = "cos";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return cos(a); }
};
struct absolute {
  static constexpr std::string_view name = "abs", symbol = "abs";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return abs(a); }
};
struct rounded_down {
  static constexpr std::string_view name = "floor", symbol = "floor";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return floor(a); }
};
/// max(x, 0); a NaN stays one.
struct rectified {
  static constexpr std::string_view name = "relu", symbol = "relu";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return max(a, like(a, 0.0)); }
};
/// x (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel 2016, exact form).
struct gaussian_unit {
  static constexpr std::string_view name = "gelu", symbol = "gelu";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) {
    return mul(mul(a, like(a, 0.5)), add(like(a, 1.0), erf(mul(a, like(a, 0.70710678118654752440)))));
  }
};
/// x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2.
struct gaussian_unit_tanh {
  static constexpr std::string_view name = "gelu_tanh", symbol = "gelu_tanh";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) {
    V inner = mul(like(a, 0.79788456080286535588), add(a, mul(like(a, 0.044715), mul(a, mul(a, a)))));
    return mul(mul(a, like(a, 0.5)), add(like(a, 1.0), tanh(inner)));
  }
};
/// 1 / (1 + exp(-x)).
struct logistic {
  static constexpr std::string_view name = "sigmoid", symbol = "sigmoid";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) {
    return div(like(a, 1.0), add(like(a, 1.0), exp(neg(a))));
  }
};
/// x / (1 + exp(-x)).
struct sigmoid_unit {
  static constexpr std::string_view name = "silu", symbol = "silu";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) {
    return div(a, add(like(a, 1.0), exp(neg(a))));
  }
};
/// cap tanh(x / cap); off where cap is 0 or infinite.
struct capped {
  static constexpr std::string_view name = "softcap", symbol = "softcap";
  double cap = 0;
  template <class V> [[gnu::always_inline]] V apply(V const& a) const {
    if (cap == 0 || cap == std::numeric_limits<double>::infinity()) return a;
    return mul(like(a, cap), tanh(mul(a, like(a, 1.0 / cap))));
  }
};
template <class T> struct cast_to {
  using target = T;
  static constexpr std::string_view name = "cast", symbol = "cast";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a) {
    return convert<std::conditional_t<is_integer_type<T>, std::int64_t, T>>(a);
  }
  template <class U> static constexpr bool is_integer_type = std::is_integral_v<U> && !std::is_same_v<U, bool>;
};
template <class Storage> struct rounded_to {
  static constexpr std::string_view name = "cast", symbol = "cast";
  template <class V> [[gnu::always_inline]] static V apply(V const& a) { return round_to<Storage>(a); }
};
struct less {
  static constexpr std::string_view name = "operator<", symbol = " < ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return lt(a, b); }
};
struct less_equal {
  static constexpr std::string_view name = "operator<=", symbol = " <= ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return le(a, b); }
};
struct greater {
  static constexpr std::string_view name = "operator>", symbol = " > ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return lt(b, a); }
};
struct greater_equal {
  static constexpr std::string_view name = "operator>=", symbol = " >= ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return le(b, a); }
};
struct equal {
  static constexpr std::string_view name = "operator==", symbol = " == ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return eq(a, b); }
};
struct not_equal {
  static constexpr std::string_view name = "operator!=", symbol = " != ";
  template <class V> [[gnu::always_inline]] static auto apply(V const& a, V const& b) { return ne(a, b); }
};
/// index<Key>() <= index<Query>() that demands equal extents of both axes.
template <class Query, class Key> struct diagonal : less_equal { static constexpr std::string_view name = "causal"; };
struct both {
  static constexpr std::string_view name = "operator&&", symbol = " && ";
  template <class M> [[gnu::always_inline]] static M apply(M const& a, M const& b) { return a & b; }
  static bool apply(bool a, bool b) { return a && b; }
};
struct either {
  static constexpr std::string_view name = "operator||", symbol = " || ";
  template <class M> [[gnu::always_inline]] static M apply(M const& a, M const& b) { return a | b; }
  static bool apply(bool a, bool b) { return a || b; }
};
struct inverted {
  static constexpr std::string_view name = "operator!", symbol = "!";
  template <class M> [[gnu::always_inline]] static M apply(M const& a) { return ~a; }
  static bool apply(bool a) { return !a; }
};
struct chosen {
  static constexpr std::string_view name = "where", symbol = "where";
  template <class M, class V> [[gnu::always_inline]] static V apply(M const& c, V const& a, V const& b) {
    return select(c, a, b);
  }
  // a choice between conditions
  template <class M>
    requires(!number<M> || std::is_same_v<M, bool>)
  [[gnu::always_inline]] static M apply_mask(M const& c, M const& a, M const& b) {
    return both::apply(c, a) | both::apply(inverted::apply(c), b);
  }
};
/// x / (1 - p) where the mask keeps, 0 elsewhere (never 0 * infinity).
struct dropped {
  static constexpr std::string_view name = "dropout", symbol = "dropout";
  double scale = 1;
  template <class V, class M> [[gnu::always_inline]] V apply(V const& a, M const& keep) const {
    return select(keep, mul(a, like(a, scale)), like(a, 0.0));
  }
};
/// The first operand, over the axes of both.
struct first_of {
  static constexpr std::string_view name = "broadcast", symbol = "broadcast";
  template <class V, class M> [[gnu::always_inline]] static V apply(V const& a, M const&) { return a; }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail::ops

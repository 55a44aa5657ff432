// SPDX-License-Identifier: BSL-1.0
// In: packs of float or double lanes.
// Out: exp, log, tanh, erf, sin, cos and pow of them, to a few units in the last place (tests/kernel_pack.cpp has the bounds).
// Next: tree.hpp, which evaluates expressions over packs.
#pragma once

#include "pack.hpp"

namespace heed::kernel {
inline namespace HEED_ARCH {

// ---- functions ----

namespace detail {

// first x^n + ... + the last of rest. Coefficients as arguments: an array of them is more than g++ 12 can take at -O1.
template <class T, int L, class... C> HEED_INLINE pack<T, L> polynomial(pack<T, L> x, T first, C... rest) {
  for (int v = 0; v < x.count; ++v) {
    vector<T> const at = x.v[v];
    vector<T> sum(first);
    ((sum = kernel::fma(sum, at, vector<T>(rest))), ...);
    x.v[v] = sum;
  }
  return x;
}
template <class T, int L> HEED_INLINE pack<T, L> with_sign_of(pack<T, L> x, pack<T, L> size) {
  return each([](vector<T> a, vector<T> b) { return with_sign_of<T>(a, b); }, x, size);
}
// x * c + y
template <class T, int L> HEED_INLINE pack<T, L> axpy(pack<T, L> x, T c, pack<T, L> y) {
  return kernel::fma(x, splat<T, L>(c), y);
}

// ln 2 in two parts, of which the first has so few bits that its multiples by an exponent are exact.
template <class T> inline constexpr T ln2_high = sizeof(T) == 4 ? T(0x1.63p-1) : T(0x1.62e42feep-1);
template <class T> inline constexpr T ln2_low = sizeof(T) == 4 ? T(-2.1219444005469057e-4) : T(0x1.a39ef35793c76p-33);

}  // namespace detail

// first x^n + ... + the last of rest, of one vector.
template <class T, class... C> HEED_INLINE vector<T> polynomial(vector<T> x, T first, C... rest) {
  vector<T> sum(first);
  ((sum = kernel::fma(sum, x, vector<T>(rest))), ...);
  return sum;
}

namespace detail {

// y = n ln(2) + r with a whole number n and |r| <= ln(2) / 2.
template <class T> struct powers_of_two { vector<T> n, r; };
template <class T> HEED_INLINE powers_of_two<T> split_powers(vector<T> y) {
  const vector<T> n = kernel::fma(y, vector<T>(log2_e<T>), vector<T>(rounder<T>)) - vector<T>(rounder<T>);
  return {n, kernel::fma(n, vector<T>(-ln2_low<T>), kernel::fma(n, vector<T>(-ln2_high<T>), y))};
}

// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2, interpolated in the Chebyshev nodes: e^r to 3e-9 (float) and 4e-17 (double).
template <class T> HEED_INLINE vector<T> curve_of_e(vector<T> r) {
  if constexpr (sizeof(T) == 4) {
    return kernel::polynomial(r, 0x1.6d115p-10F, 0x1.120bb6p-7F, 0x1.55551ap-5F, 0x1.5554dcp-3F, 0.5F);
  } else {
    return kernel::polynomial(r, 0x1.af39584201d8fp-26, 0x1.2891b7202a243p-22, 0x1.71de0d5ad83c0p-19,
                              0x1.a019b8e321fbcp-16, 0x1.a01a01a7dd5c4p-13, 0x1.6c16c17896beep-10, 0x1.111111111098cp-7,
                              0x1.5555555553d47p-5, 0x1.5555555555556p-3, 0.5);
  }
}

template <class T> HEED_INLINE vector<T> exp_of(vector<T> y) {
  // Beyond these every result is infinite or zero.
  constexpr T lowest = sizeof(T) == 4 ? T(-105) : T(-750), highest = sizeof(T) == 4 ? T(89) : T(710);
  y = kernel::max(vector<T>(lowest), kernel::min(vector<T>(highest), y));  // in this order NaN stays NaN
  const auto at = split_powers<T>(y);
  const vector<T> one(T(1)), slope = kernel::fma(curve_of_e<T>(at.r), at.r, one);
  return scale<T>(kernel::fma(slope, at.r, one), at.n);
}

}  // namespace detail

// e^x = 2^n e^r. Measured on every float: 0.97 ulp, 1.26 where fma rounds twice; on doubles 1.01 and 1.2. Vector by
// vector: g++ 12 at -O1 cannot take whole packs through so many steps, and a long lambda used twice becomes a call.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> exp(pack<T, L> x) {
  HEED_UNROLL
  for (int i = 0; i < x.count; ++i) x.v[i] = detail::exp_of<T>(x.v[i]);
  return x;
}

// ln x = k ln(2) + ln m; with f = m - 1 and s = f / (2 + f), ln m = 2 (s + s^3/3 + s^5/5 + ...), arranged such that f
// itself, which is exact, is the leading term.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> log(pack<T, L> x) {
  const auto zero = splat<T, L>(T(0)), infinite = splat<T, L>(infinity<T>);
  const T up = sizeof(T) == 4 ? T(0x1p25) : T(0x1p54), up_by = sizeof(T) == 4 ? T(25) : T(54);
  const auto subnormal = lt(x, splat<T, L>(std::numeric_limits<T>::min()));
  const auto normal = select(subnormal, mul(x, splat<T, L>(up)), x);
  pack<T, L> f, k;
  HEED_UNROLL
  for (int i = 0; i < x.count; ++i) {
    const auto parts = detail::split_exponent<T>(normal.v[i]);
    f.v[i] = parts.m - T(1);
    k.v[i] = parts.k;
  }
  k = select(subnormal, sub(k, splat<T, L>(up_by)), k);
  const auto s = div(f, add(f, splat<T, L>(T(2))));
  const auto z = mul(s, s);
  pack<T, L> series;
  if constexpr (sizeof(T) == 4) {
    series = detail::polynomial(z, 2.F / 11, 2.F / 9, 2.F / 7, 2.F / 5, 2.F / 3);
  } else {
    series = detail::polynomial(z, 2. / 23, 2. / 21, 2. / 19, 2. / 17, 2. / 15, 2. / 13, 2. / 11, 2. / 9, 2. / 7,
                                2. / 5, 2. / 3);
  }
  const auto half_square = mul(mul(f, f), splat<T, L>(T(0.5)));
  const auto correction = mul(s, fma(z, series, half_square));
  const auto tail = sub(half_square, detail::axpy(k, detail::ln2_low<T>, correction));
  auto result = detail::axpy(k, detail::ln2_high<T>, sub(f, tail));
  result = select(lt(x, infinite), result, x);  // infinity and NaN are their own logarithms
  result = select(lt(x, zero), splat<T, L>(std::numeric_limits<T>::quiet_NaN()), result);
  return select(eq(x, zero), splat<T, L>(-infinity<T>), result);
}

namespace detail {

#if defined(__AVX512F__)
// tanh in 32 intervals, a polynomial of degree 4 in the distance to a point of each: constant, linear, ..., point. With
// u = 2x + 1.25 the intervals are the eighths of the octaves of u, narrow near zero and wide where tanh is flat; so
// exponent and first digits of u number them (modulo 32). They end at 9.375; from 9.0109 on tanh rounds to 1.
struct tanh_table {
  static constexpr float end = 9.25F;
  alignas(64) float row[6][32];

  static constexpr double value(double x) {
    double series = 1, power = 1;  // of e^(-2x/64)
    for (int k = 1; k < 12; ++k) series += power *= -x / (32. * k);
    for (int k = 0; k < 6; ++k) series *= series;
    return (1 - series) / (1 + series);
  }
  // Interpolates in the Chebyshev nodes, in the first interval tanh(x) / x: there also the relative error is small, 0 is
  // exact and the slope rounds to 1. The last interval is seen from where the argument ends, which makes that exactly 1.
  constexpr tanh_table() : row{} {
    constexpr double nodes[2][5] = {
        {-0.92387953251128674, -0.38268343236508978, 0.38268343236508978, 0.92387953251128674, 0},
        {-0.95105651629515357, -0.58778525229247313, 0, 0.58778525229247313, 0.95105651629515357}};
    const auto edge = [](int j) { return ((1 << (j / 8 - 3)) * (8 + j % 8) / 8. - 1.25) / 2; };
    for (int j = 26; j < 58; ++j) {
      const int i = j % 32, count = j == 26 ? 4 : 5;
      const double from = edge(j), to = edge(j + 1);
      const double point = j == 26 ? 0 : j == 57 ? double{end} : (from + to) / 2;
      double x[5] = {}, d[5] = {}, c[6] = {};
      for (int k = 0; k < count; ++k) {
        x[k] = (from + to) / 2 + (to - from) / 2 * nodes[count - 4][k] - point;
        d[k] = value(x[k] + point) / (count == 4 ? x[k] : 1);
      }
      for (int n = 1; n < count; ++n)  // divided differences
        for (int k = count - 1; k >= n; --k) d[k] = (d[k] - d[k - 1]) / (x[k] - x[k - n]);
      for (int n = count - 1; n >= 0; --n) {  // c = c (x - x[n]) + d[n]
        for (int k = count - 1; k > 0; --k) c[k] = c[k - 1] - x[n] * c[k];
        c[0] = d[n] - x[n] * c[0];
      }
      for (int k = 0; k < count; ++k) row[k + 5 - count][i] = static_cast<float>(c[k]);
      row[5][i] = static_cast<float>(point);
    }
  }
};
inline constexpr tanh_table tanh_rows;
#endif

// |tanh x|. Other than by the table: with n and r of 2|x|, g = e^2|x| - 1 = 2^n (e^r - 1) + (2^n - 1), in which nothing
// cancels, and g / (g + 2).
template <class T> HEED_INLINE vector<T> tanh_size(vector<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    const auto size = kernel::min(vector<T>(tanh_table::end), abs(x));  // in this order NaN stays NaN
    const auto at = from<T>(as<std::uint32_t>(kernel::fma(size, vector<T>(2.F), vector<T>(1.25F))) >> 20);
    const auto row = [&](int k) { return looked_up(tanh_rows.row[k], at); };
    const vector<T> d = size - row(5);
    auto sum = kernel::fma(row(4), d, row(3));
    sum = kernel::fma(sum, d, row(2));
    sum = kernel::fma(sum, d, row(1));
    return kernel::fma(sum, d, row(0));
  } else
#endif
  {
    // From here on the result is 1.
    const auto size = kernel::min(vector<T>(sizeof(T) == 4 ? T(10) : T(20)), abs(x));
    const auto at = split_powers<T>(size + size);
    const vector<T> growth = kernel::fma(at.r * at.r, curve_of_e<T>(at.r), at.r), power = power_of_two<T>(at.n);
    const vector<T> g = kernel::fma(power, growth, power - vector<T>(T(1)));
    return g / (g + vector<T>(T(2)));
  }
}

}  // namespace detail

// Measured on every float: 1.5 ulp by the table, 2.53 without; on doubles 2.2.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> tanh(pack<T, L> x) {
  HEED_UNROLL
  for (int i = 0; i < x.count; ++i) x.v[i] = detail::with_sign_of<T>(x.v[i], detail::tanh_size<T>(x.v[i]));
  return x;
}

// Floats: near zero x + x P(x^2); further out 1 - e^Q(|x|), with both polynomials minimax. Doubles: the standard
// library.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> erf(pack<T, L> x) {
  if constexpr (sizeof(T) == 8) {
    return detail::each_lane([](T y) { return std::erf(y); }, x);
  } else {
    const auto size = abs(x), z = mul(x, x);
    const auto p =
        detail::polynomial(z, 8.370102878037074e-05F, -0.0008142704786039453F, 0.005201032329868971F,
                           -0.0268593982814621F, 0.11283695494813223F, -0.3761263373527958F, 0.1283791666374605F);
    const auto near = fma(size, p, size);
    // From 3.95 on the result is 1.
    const auto q = detail::polynomial(min(size, splat<T, L>(3.95F)), -2.1118393785576677e-05F, 0.0004347323243244141F,
                                      -0.004172369082945364F, 0.02512286496002274F, -0.10828540325212711F,
                                      -0.6333420792316052F, -1.1295173180317222F, 0.0001751808431373275F);
    const auto far = sub(splat<T, L>(1.F), exp(q));
    return detail::with_sign_of(x, select(lt(size, splat<T, L>(0.921875F)), near, far));
  }
}

namespace detail {

// sin(x + quarters * pi/2) for |x| <= 2^17. In double: pi/2 in three parts, the multiples of the first two exact.
template <class T, int L> HEED_INLINE pack<T, L> sine(pack<T, L> x, double quarters) {
  const auto wide = convert<double>(x);
  const auto n =
      each([](vector<double> y) { return nearest<double>(y); }, mul(wide, splat<double, L>(0x1.45f306dc9c883p-1)));
  const auto r =
      convert<T>(axpy(n, -0x1.3198a2e037073p-69, axpy(n, -0x1.0b4611a6p-34, axpy(n, -0x1.921fb544p+0, wide))));
  const auto turn = add(n, splat<double, L>(quarters));
  const auto quadrant = sub(turn, mul(kernel::floor(mul(turn, splat<double, L>(0.25))), splat<double, L>(4)));
  const auto upper = ~lt(quadrant, splat<double, L>(2));
  const auto use_cosine = eq(quadrant, splat<double, L>(1)) | eq(quadrant, splat<double, L>(3));
  const auto z = mul(r, r);
  pack<T, L> s, c;
  if constexpr (sizeof(T) == 4) {
    s = polynomial(z, 1.F / 362880, -1.F / 5040, 1.F / 120, -1.F / 6);
    c = polynomial(z, -1.F / 3628800, 1.F / 40320, -1.F / 720, 1.F / 24);
  } else {
    s = polynomial(z, 1. / 355687428096000, -1. / 1307674368000, 1. / 6227020800, -1. / 39916800, 1. / 362880,
                   -1. / 5040, 1. / 120, -1. / 6);
    c = polynomial(z, -1. / 6402373705728000, 1. / 20922789888000, -1. / 87178291200, 1. / 479001600, -1. / 3628800,
                   1. / 40320, -1. / 720, 1. / 24);
  }
  s = kernel::fma(mul(r, z), s, r);
  s = select(to_mask(r), s, r);  // the sum has lost the sign of zero
  c = kernel::fma(mul(z, z), c, axpy(z, T(-0.5), splat<T, L>(T(1))));
  const auto result = select(use_cosine, c, s);
  return select(upper, neg(result), result);
}
template <class T, int L> HEED_INLINE bool far_from_zero(pack<T, L> x) {  // or NaN
  return !all(lt(kernel::abs(x), splat<T, L>(T(131072))));
}

}  // namespace detail

template <detail::Floating T, int L> HEED_INLINE pack<T, L> sin(pack<T, L> x) {
  if (detail::far_from_zero(x)) return detail::each_lane([](T y) { return std::sin(y); }, x);
  return detail::sine(x, 0);
}
template <detail::Floating T, int L> HEED_INLINE pack<T, L> cos(pack<T, L> x) {
  if (detail::far_from_zero(x)) return detail::each_lane([](T y) { return std::cos(y); }, x);
  return detail::sine(x, 1);
}

// Floats: e^(b ln|a|) in double, which leaves no error to speak of. Doubles: the standard library.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> pow(pack<T, L> a, pack<T, L> b) {
  if constexpr (sizeof(T) == 8) {
    return detail::each_lane([](T x, T y) { return std::pow(x, y); }, a, b);
  } else {
    const auto zero = splat<T, L>(0.F), one = splat<T, L>(1.F), size = abs(a), half_b = mul(b, splat<T, L>(0.5F));
    auto r = convert<float>(exp(mul(convert<double>(b), log(convert<double>(size)))));
    // 1^b = a^0 = 1, for NaN too, and (-1)^infinity = 1.
    const auto unit = eq(a, one) | eq(b, zero) | (eq(size, one) & eq(abs(b), splat<T, L>(infinity<T>)));
    r = select(unit, one, r);
    // Negative a, also -0: only whole b, and odd b keep the sign.
    const auto whole = eq(floor(b), b), odd = whole & ne(floor(half_b), half_b);
    const auto negative = lt(a, zero) | (eq(a, zero) & lt(div(one, a), zero));
    const auto invalid = lt(a, zero) & ~whole & ~unit & lt(size, splat<T, L>(infinity<T>));
    r = select(negative & odd, neg(r), r);
    return select(invalid, splat<T, L>(std::numeric_limits<T>::quiet_NaN()), r);
  }
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel

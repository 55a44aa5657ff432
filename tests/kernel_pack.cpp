// SPDX-License-Identifier: BSL-1.0
// In: heed/storage.hpp and heed/kernel/pack.hpp.
// Out: each of their functions against the standard library, one lane after another, with its error in ulp.
// Next: the tests of the evaluator, which uses packs.
// (Longer than the rest, to share one set of awkward values and one measure of error.)
#include <heed/kernel/functions.hpp>
#include <heed/storage.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace {

namespace hk = heed::kernel;
using hk::pack, hk::width;
using i64 = std::int64_t;
using heed::bf16, heed::f16;

constexpr int W = width<float>, D = width<double>;
constexpr i64 lowest = std::numeric_limits<i64>::min(), highest = std::numeric_limits<i64>::max();
template <class T> constexpr T inf = std::numeric_limits<T>::infinity();
template <class T> constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

// ---- values ----

template <class T> std::vector<T> specials() {
  using l = std::numeric_limits<T>;
  std::vector<T> v{0,
                   1,
                   2,
                   3,
                   T(0.5),
                   T(0.625),
                   T(0.921875),
                   T(1.5),
                   T(2.5),
                   4,
                   100,
                   T(88.8),
                   T(88.72),
                   T(87.4),
                   T(103.9),
                   T(709.7),
                   T(745.1),
                   T(1e5),
                   T(131071),
                   T(131073),
                   T(8388607.5),
                   T(4503599627370495.5),
                   T(1e30),
                   l::min(),
                   l::denorm_min(),
                   l::min() / 3,
                   l::max(),
                   l::epsilon(),
                   inf<T>,
                   not_a_number<T>};
  for (std::size_t i = 0, n = v.size(); i < n; ++i) v.push_back(-v[i]);
  for (int i = 1; i < 40; ++i) v.push_back(static_cast<T>(i * 1.57079632679489661923));
  return v;
}

// Specials, then values spread evenly over [-near, near] and [-far, far], then over all exponents and both signs.
template <class T> std::vector<T> values(double near, double far) {
  auto v = specials<T>();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> even(-1, 1);
  for (int i = 0; i < 40000; ++i) v.push_back(static_cast<T>(even(random) * (i % 2 == 0 ? near : far)));
  using B = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (int i = 0; i < 8000; ++i) v.push_back(std::bit_cast<T>(static_cast<B>(random())));
  while (v.size() % 64 != 0) v.push_back(T(1));
  return v;
}

std::vector<i64> whole_values() {
  std::vector<i64> v{0,
                     1,
                     -1,
                     2,
                     -2,
                     3,
                     -3,
                     7,
                     -7,
                     8,
                     -8,
                     64,
                     1000,
                     -1000,
                     lowest,
                     lowest + 1,
                     highest,
                     highest - 1,
                     i64{1} << 51,
                     -(i64{1} << 51),
                     (i64{1} << 51) - 1,
                     i64{1} << 32,
                     -(i64{1} << 31),
                     i64{1} << 53};
  std::mt19937_64 random(2);
  while (v.size() % 64 != 0 || v.size() < 4096) v.push_back(static_cast<i64>(random()) >> (random() % 64));
  return v;
}

// ---- comparing ----

// How far `got` is from `want`, in units of the last place of `want` as a T; 0 for two NaN, infinity for a wrong
// special.
template <class T> double ulps(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : inf<double>;
  if (std::isinf(rounded) || std::isinf(got)) {
    // A result on the edge of overflow may fall on either side.
    if (rounded == got) return 0;
    const T largest = std::numeric_limits<T>::max();
    return std::abs(rounded) >= largest && std::abs(got) >= largest && (rounded > 0) == (got > 0) ? 1 : inf<double>;
  }
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : inf<double>;
  const int exponent = std::max(std::ilogb(rounded == 0 ? std::numeric_limits<T>::denorm_min() : rounded),
                                std::numeric_limits<T>::min_exponent - 1);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / unit);
}

template <class T, int L> std::vector<T> lanes(pack<T, L> x) {
  std::vector<T> r(L);
  hk::store(r.data(), x);
  return r;
}

struct worst {
  double ulp = 0;
  std::string at = "nothing";
  template <class Where> void take(double error, Where where) {
    if (error > ulp) ulp = error, at = where();
  }
};
template <class T> std::string text(T x) {
  char buffer[64];
  if constexpr (std::is_integral_v<T>)
    std::snprintf(buffer, sizeof buffer, "%lld", static_cast<long long>(x));
  else
    std::snprintf(buffer, sizeof buffer, "%.17g", static_cast<double>(x));
  return buffer;
}

// An overloaded function as an argument.
#define OF(function) [](auto... x) { return function(x...); }
// Boost's own macro is too slow for millions of checks.
#define REQUIRE(condition)                    \
  do {                                        \
    if (!(condition)) BOOST_FAIL(#condition); \
  } while (false)
#define CHECK_WORST(name, w, bound)                                     \
  BOOST_TEST_MESSAGE(name << ": " << (w).ulp << " ulp, at " << (w).at); \
  BOOST_CHECK_MESSAGE((w).ulp <= (bound), name << ": " << (w).ulp << " ulp > " << (bound) << ", at " << (w).at)

// f on packs against g on long doubles.
template <class T, int L, class F, class G>
void check_unary(const char* name, double near, double far, double bound, F f, G g) {
  worst w;
  const auto v = values<T>(near, far);
  for (std::size_t i = 0; i + L <= v.size(); i += L) {
    const auto r = lanes(f(hk::load<T, L>(v.data() + i)));
    for (std::size_t k = 0; k < L; ++k)
      w.take(ulps(r[k], g(static_cast<long double>(v[i + k]))),
             [&] { return text(v[i + k]) + " giving " + text(r[k]); });
  }
  const std::string full =
      std::string(name) + "<" + (sizeof(T) == 4 ? "float, " : "double, ") + std::to_string(L) + ">";
  CHECK_WORST(full, w, bound);
}

// f on two packs against g on two Ts: all pairs of specials, then random ones.
template <class T, int L, class F, class G> void check_binary(const char* name, double bound, F f, G g) {
  worst w;
  std::vector<T> a, b;
  if constexpr (std::is_integral_v<T>) {
    const auto v = whole_values();
    for (std::size_t i = 0; i < 64; ++i)
      for (std::size_t k = 0; k < 64; ++k) a.push_back(v[i]), b.push_back(v[k]);
    for (std::size_t i = 0; i < v.size(); ++i) a.push_back(v[i]), b.push_back(v[v.size() - 1 - i]);
  } else {
    const auto s = specials<T>();
    for (T x : s)
      for (T y : s) a.push_back(x), b.push_back(y);
    const auto v = values<T>(2, 30);
    for (std::size_t i = 0; i < v.size(); ++i) a.push_back(v[i]), b.push_back(v[v.size() - 1 - i]);
  }
  for (std::size_t i = 0; i + L <= a.size(); i += L) {
    const auto r = lanes(f(hk::load<T, L>(a.data() + i), hk::load<T, L>(b.data() + i)));
    for (std::size_t k = 0; k < L; ++k) {
      const auto want = g(a[i + k], b[i + k]);
      double error;
      if constexpr (std::is_integral_v<T>)
        error = r[k] == want ? 0 : inf<double>;
      else
        error = ulps(r[k], static_cast<long double>(want));
      w.take(error, [&] { return text(a[i + k]) + ", " + text(b[i + k]) + " giving " + text(r[k]); });
    }
  }
  const std::string full = std::string(name) + "<" + std::to_string(sizeof(T)) + " bytes, " + std::to_string(L) + ">";
  CHECK_WORST(full, w, bound);
}

// f(T{}, integral_constant<L>) for each pack that can occur.
template <class F> void for_floating(F f) {
  f(float{}, std::integral_constant<int, W>{});
  f(float{}, std::integral_constant<int, D>{});
  f(double{}, std::integral_constant<int, W>{});
  f(double{}, std::integral_constant<int, D>{});
}
template <class F> void for_all(F f) {
  for_floating(f);
  f(i64{}, std::integral_constant<int, W>{});
  f(i64{}, std::integral_constant<int, D>{});
}

i64 wrap(std::uint64_t x) { return static_cast<i64>(x); }
std::uint64_t u(i64 x) { return static_cast<std::uint64_t>(x); }

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_pack)

// ---- storage ----

// The value of a binary floating-point pattern, from the definition: sum of powers of two.
double reference(unsigned bits, int exponent_width, int fraction_width) {
  const int bias = (1 << (exponent_width - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_width) & ((1 << exponent_width) - 1);
  double fraction = 0;
  for (int i = 0; i < fraction_width; ++i) {
    if ((bits >> i) & 1U) fraction += std::pow(2.0, i - fraction_width);
  }
  double value;
  if (exponent == (1 << exponent_width) - 1)
    value = fraction == 0 ? inf<double> : not_a_number<double>;
  else if (exponent == 0)
    value = fraction * std::pow(2.0, 1 - bias);
  else
    value = (1 + fraction) * std::pow(2.0, exponent - bias);
  return (bits >> (exponent_width + fraction_width)) & 1U ? -value : value;
}

template <class H> void check_storage(int exponent_width, int fraction_width) {
  static_assert(sizeof(H) == 2 && std::is_trivially_copyable_v<H> && H{}.bits == 0);
  int wrong_value = 0, wrong_back = 0, wrong_tie = 0, wrong_near = 0, wrong_vector = 0;
  const unsigned infinite = ((1U << exponent_width) - 1U) << fraction_width;
  std::vector<H> all(65536);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const H h = all[bits] = H::from_bits(static_cast<std::uint16_t>(bits));
    const double want = reference(bits, exponent_width, fraction_width);
    const float got = h;
    if (std::isnan(want)) {
      wrong_value += !std::isnan(got) || std::signbit(got) != ((bits >> 15) != 0);
      const H back = got;
      wrong_back += !std::isnan(float(back)) || (back.bits >> 15) != (bits >> 15);
      continue;
    }
    wrong_value += got != static_cast<float>(want) || std::signbit(got) != std::signbit(want);
    wrong_back += H(got).bits != bits;
    // Half-way to the next larger in size goes to the even one; a little less stays, a little more goes on.
    if ((bits & 0x7fffU) >= infinite) continue;
    const double next = (bits & 0x7fffU) == infinite - 1
                            ? want + (want - reference(bits - 1, exponent_width, fraction_width))
                            : reference(bits + 1, exponent_width, fraction_width);
    const float half = static_cast<float>((want + next) / 2);
    wrong_tie += H(half).bits != bits + (bits & 1U);
    wrong_near += H(std::nextafter(half, 0.F)).bits != bits;
    wrong_near += H(std::nextafter(half, next > 0 ? inf<float> : -inf<float>)).bits != bits + 1;
  }
  BOOST_TEST(wrong_value == 0);
  BOOST_TEST(wrong_back == 0);
  BOOST_TEST(wrong_tie == 0);
  BOOST_TEST(wrong_near == 0);
  // Packs agree with the scalars on every pattern, and on floats of every exponent.
  std::vector<float> floats = values<float>(1, 70000);
  for (const H h : all) floats.push_back(h);
  for (unsigned i = 0; i < (1U << 20); ++i)
    floats.push_back(std::bit_cast<float>((i << 12) | (i & 1U ? 0x801U : 0x800U)));
  const auto same = [](auto a, auto b) { return a == b || (std::isnan(float(a)) && std::isnan(float(b))); };
  const auto packs = [&](auto l) {
    constexpr int L = decltype(l)::value;
    for (std::size_t i = 0; i < all.size(); i += L) {
      const auto r = lanes(hk::load<float, L>(all.data() + i));
      for (std::size_t k = 0; k < L; ++k) wrong_vector += !same(r[k], float(all[i + k]));
    }
    std::vector<H> r(L);
    for (std::size_t i = 0; i + L <= floats.size(); i += L) {
      hk::store(r.data(), hk::load<float, L>(floats.data() + i));
      for (std::size_t k = 0; k < L; ++k) {
        const H want = floats[i + k];
        wrong_vector += std::isnan(floats[i + k]) ? !std::isnan(float(r[k])) : r[k].bits != want.bits;
      }
    }
  };
  packs(std::integral_constant<int, W>{});
  packs(std::integral_constant<int, D>{});
  packs(std::integral_constant<int, 2 * W>{});
  BOOST_TEST(wrong_vector == 0);
}

BOOST_AUTO_TEST_CASE(storage_of_two_bytes) {
  check_storage<bf16>(8, 7);
  check_storage<f16>(5, 10);
  static_assert(f16(1.F).bits == 0x3c00 && bf16(1.F).bits == 0x3f80);
  static_assert(float(f16(65504.F)) == 65504.F && f16(65520.F).bits == 0x7c00 && f16(65519.F).bits == 0x7bff);
  static_assert(float(f16(0x1p-24F)) == 0x1p-24F && f16(0x1p-25F).bits == 0 && f16(0x1.8p-25F).bits == 1);
  static_assert(bf16(std::numeric_limits<float>::max()).bits == 0x7f80);
  static_assert(f16(1.F) < f16(2.F) && bf16(2.F) == 2.F && bf16(0.F) == bf16(-0.F));
  BOOST_TEST((f16(not_a_number<float>) != f16(not_a_number<float>)));
  // The signalling NaN whose payload rounding would carry into infinity.
  BOOST_TEST(std::isnan(float(bf16(std::bit_cast<float>(0x7f800001U)))));
  BOOST_TEST(std::isnan(float(f16(std::bit_cast<float>(0xff800001U)))));
  using heed::detail::compute_t;
  static_assert(std::is_same_v<compute_t<bf16>, float> && std::is_same_v<compute_t<f16>, float>);
  static_assert(std::is_same_v<compute_t<float>, float> && std::is_same_v<compute_t<double>, double>);
  static_assert(std::is_same_v<compute_t<std::int32_t>, i64> && std::is_same_v<compute_t<unsigned char>, i64>);
  static_assert(std::is_same_v<compute_t<bool>, bool>);
}

// ---- moving ----

// Exactly L elements, at any address: the buffer ends where the elements do, for the sanitizer, and off by one element.
template <class S, class T, int L> void check_moving() {
  for (std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t n = L + shift;
    const std::unique_ptr<S[]> from(new S[n]), to(new S[n]);
    for (std::size_t i = 0; i < n; ++i)
      from[i] = static_cast<S>(static_cast<float>(i) - 3.F), to[i] = static_cast<S>(77.F);
    const auto x = hk::load<T, L>(from.get() + shift);
    std::vector<T> r = lanes(x);
    hk::store(to.get() + shift, x);
    for (std::size_t i = 0; i < L; ++i) {
      REQUIRE(r[i] == static_cast<T>(static_cast<float>(i + shift) - 3.F));
      REQUIRE(to[i + shift] == from[i + shift]);
    }
    if (shift != 0) REQUIRE(to[0] == static_cast<S>(77.F));
  }
}

BOOST_AUTO_TEST_CASE(loads_and_stores) {
  for_all([](auto t, auto l) {
    using T = decltype(t);
    constexpr int L = decltype(l)::value;
    check_moving<float, T, L>();
    check_moving<double, T, L>();
    check_moving<bf16, T, L>();
    check_moving<f16, T, L>();
    check_moving<std::int32_t, T, L>();
    check_moving<i64, T, L>();
    check_moving<std::int8_t, T, L>();
    check_moving<std::int16_t, T, L>();
    check_moving<long long, T, L>();
    for (T x : lanes(hk::splat<T, L>(T(7)))) REQUIRE(x == T(7));
  });
  const auto counting = [](auto l) {
    constexpr int L = decltype(l)::value;
    for (i64 start : {i64{0}, i64{-5}, i64{1} << 40, highest - 2}) {
      const auto r = lanes(hk::iota<L>(start));
      for (std::size_t i = 0; i < L; ++i) REQUIRE(r[i] == wrap(u(start) + i));
    }
  };
  counting(std::integral_constant<int, W>{});
  counting(std::integral_constant<int, D>{});
  // Below the range of the storage type: the low bits, as static_cast does.
  const auto v = whole_values();
  for (std::size_t i = 0; i < v.size(); i += W) {
    std::int32_t r[W];
    hk::store(r, hk::load<i64, W>(v.data() + i));
    for (std::size_t k = 0; k < W; ++k) REQUIRE(r[k] == static_cast<std::int32_t>(v[i + k]));
  }
}

template <int L> void check_masks() {
  using M = hk::mask<L>;
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::unique_ptr<bool[]> a(new bool[L]), b(new bool[L]), r(new bool[L]);
    for (std::size_t i = 0; i < L; ++i) {
      a[i] = round == 0 || (round != 1 && random() % 2 != 0);
      b[i] = random() % 2 != 0;
    }
    const M x = hk::load_mask<L>(a.get()), y = hk::load_mask<L>(b.get());
    REQUIRE(hk::all(x) == (round == 0 || x.bits == M::every));
    REQUIRE(hk::none(x) == (round == 1 || x.bits == 0));
    REQUIRE(((x | y | ~x | (x ^ y)).bits & ~M::every) == 0);
    const auto check = [&](M m, auto want) {
      hk::store(r.get(), m);
      for (std::size_t i = 0; i < L; ++i) REQUIRE(r[i] == want(a[i], b[i]) && ((m.bits >> i) & 1U) == (r[i] ? 1U : 0U));
    };
    check(x, [](bool p, bool) { return p; });
    check(x & y, [](bool p, bool q) { return p && q; });
    check(x | y, [](bool p, bool q) { return p || q; });
    check(x ^ y, [](bool p, bool q) { return p != q; });
    check(~x, [](bool p, bool) { return !p; });
    const auto chosen = [&](auto t) {
      using T = decltype(t);
      const auto one = lanes(hk::convert<T>(x));
      const auto which = lanes(hk::select(x, hk::splat<T, L>(T(3)), hk::convert<T>(y)));
      for (std::size_t i = 0; i < L; ++i) {
        REQUIRE(one[i] == (a[i] ? T(1) : T(0)));
        REQUIRE(which[i] == (a[i] ? T(3) : b[i] ? T(1) : T(0)));
      }
      REQUIRE(hk::to_mask(hk::convert<T>(x)).bits == x.bits);
    };
    chosen(float{});
    chosen(double{});
    chosen(i64{});
  }
  BOOST_TEST(hk::all(hk::splat_mask<L>(true)));
  BOOST_TEST(hk::none(hk::splat_mask<L>(false)));
}

BOOST_AUTO_TEST_CASE(masks) {
  check_masks<D>();
  check_masks<W>();
  check_masks<2 * W>();
}

BOOST_AUTO_TEST_CASE(comparisons) {
  for_all([](auto t, auto l) {
    using T = decltype(t);
    constexpr int L = decltype(l)::value;
    std::vector<T> s;
    if constexpr (std::is_integral_v<T>)
      s = whole_values(), s.resize(64);
    else
      s = specials<T>();
    std::vector<T> a, b;
    for (T x : s)
      for (T y : s) a.push_back(x), b.push_back(y);
    for (std::size_t i = 0; i + L <= a.size(); i += L) {
      const auto x = hk::load<T, L>(a.data() + i), y = hk::load<T, L>(b.data() + i);
      const auto check = [&](hk::mask<L> m, auto want) {
        REQUIRE((m.bits & ~hk::mask<L>::every) == 0);
        for (std::size_t k = 0; k < L; ++k) {
          REQUIRE(((m.bits >> k) & 1U) == (want(a[i + k], b[i + k]) ? 1U : 0U));
        }
      };
      check(hk::lt(x, y), [](T p, T q) { return p < q; });
      check(hk::le(x, y), [](T p, T q) { return p <= q; });
      check(hk::gt(x, y), [](T p, T q) { return p > q; });
      check(hk::ge(x, y), [](T p, T q) { return p >= q; });
      check(hk::eq(x, y), [](T p, T q) { return p == q; });
      check(hk::ne(x, y), [](T p, T q) { return p != q; });
    }
  });
}

BOOST_AUTO_TEST_CASE(conversions) {
  const auto check = [](auto l) {
    constexpr int L = decltype(l)::value;
    const auto f = values<float>(100, 1e6);
    const auto d = values<double>(100, 1e6);
    const auto w = whole_values();
    const auto same = [](auto a, auto b) { return a == b || (a != a && b != b); };
    for (std::size_t i = 0; i + L <= f.size(); i += L) {
      const auto x = hk::load<float, L>(f.data() + i);
      const auto y = hk::load<double, L>(d.data() + i);
      const auto fd = lanes(hk::convert<double>(x)), fi = lanes(hk::convert<double>(hk::convert<i64>(x)));
      const auto df = lanes(hk::convert<float>(y));
      const auto di = lanes(hk::convert<double>(hk::convert<i64>(y)));
      for (std::size_t k = 0; k < L; ++k) {
        REQUIRE(same(fd[k], static_cast<double>(f[i + k])));
        // Beyond the range of double to float only the overflow to infinity is defined by IEEE 754, not by C++.
        if (!(std::abs(d[i + k]) > std::numeric_limits<float>::max()))
          REQUIRE(same(df[k], static_cast<float>(d[i + k])));
        else if (std::abs(d[i + k]) > 1e39)
          REQUIRE(std::isinf(df[k]));
        if (std::abs(f[i + k]) < 0x1p63F) REQUIRE(fi[k] == static_cast<double>(static_cast<i64>(f[i + k])));
        if (std::abs(d[i + k]) < 0x1p63) REQUIRE(di[k] == static_cast<double>(static_cast<i64>(d[i + k])));
      }
    }
    for (std::size_t i = 0; i + L <= w.size(); i += L) {
      const auto x = hk::load<i64, L>(w.data() + i);
      const auto id = lanes(hk::convert<double>(x));
      const auto jf = lanes(hk::convert<float>(x));
      for (std::size_t k = 0; k < L; ++k) {
        REQUIRE(id[k] == static_cast<double>(w[i + k]));
        REQUIRE(jf[k] == static_cast<float>(w[i + k]));
      }
    }
  };
  check(std::integral_constant<int, W>{});
  check(std::integral_constant<int, D>{});
  check(std::integral_constant<int, 2 * W>{});
}

// ---- arithmetic ----

BOOST_AUTO_TEST_CASE(whole_arithmetic) {
  const auto check = [](auto l) {
    constexpr int L = decltype(l)::value;
    check_binary<i64, L>("add", 0, OF(hk::add), [](i64 a, i64 b) { return wrap(u(a) + u(b)); });
    check_binary<i64, L>("sub", 0, OF(hk::sub), [](i64 a, i64 b) { return wrap(u(a) - u(b)); });
    check_binary<i64, L>("mul", 0, OF(hk::mul), [](i64 a, i64 b) { return wrap(u(a) * u(b)); });
    check_binary<i64, L>("min", 0, OF(hk::min), OF(std::min));
    check_binary<i64, L>("max", 0, OF(hk::max), OF(std::max));
    check_binary<i64, L>(
        "neg", 0, [](auto a, auto) { return hk::neg(a); }, [](i64 a, i64) { return wrap(0 - u(a)); });
    check_binary<i64, L>(
        "abs", 0, [](auto a, auto) { return hk::abs(a); }, [](i64 a, i64) { return a < 0 ? wrap(0 - u(a)) : a; });
    // In 128 bits nothing overflows.
    __extension__ using wide = __int128;
    const auto quotient = [](i64 a, i64 d) -> i64 {
      if (d == 0) return 0;
      wide q = wide{a} / d;
      if (q * d != a && (a < 0) != (d < 0)) --q;
      return static_cast<i64>(q);
    };
    const auto remainder = [=](i64 a, i64 d) { return d == 0 ? 0 : wrap(u(a) - u(quotient(a, d)) * u(d)); };
    check_binary<i64, L>("floor_div", 0, OF(hk::floor_div), quotient);
    check_binary<i64, L>("floor_mod", 0, OF(hk::floor_mod), remainder);
    // One divisor for all lanes, and only small numbers, each of which has a path of its own.
    std::mt19937_64 random(4);
    for (int round = 0; round < 6000; ++round) {
      i64 a[L], d[L];
      const i64 shared = round % 3 == 0 ? i64{1} << (random() % 63) : static_cast<i64>(random()) >> (random() % 64);
      const auto a_bits = random() % 52, d_bits = random() % 52;
      for (std::size_t k = 0; k < L; ++k) {
        a[k] = static_cast<i64>(random()) >> (round % 2 == 0 ? 12 + a_bits : random() % 64);
        d[k] = round % 5 < 2 ? shared : static_cast<i64>(random()) >> (12 + d_bits);
        if (round % 7 == 0) a[k] = wrap(u(d[k]) * (random() % 1000) - random() % 2);  // just below a multiple
      }
      const auto q = lanes(hk::floor_div(hk::load<i64, L>(a), hk::load<i64, L>(d)));
      const auto r = lanes(hk::floor_mod(hk::load<i64, L>(a), hk::load<i64, L>(d)));
      for (std::size_t k = 0; k < L; ++k) {
        REQUIRE(q[k] == quotient(a[k], d[k]) && r[k] == remainder(a[k], d[k]));
      }
    }
  };
  check(std::integral_constant<int, W>{});
  check(std::integral_constant<int, D>{});
}

BOOST_AUTO_TEST_CASE(floating_arithmetic) {
  for_floating([](auto t, auto l) {
    using T = decltype(t);
    constexpr int L = decltype(l)::value;
    check_binary<T, L>("add", 0.5, OF(hk::add), [](T a, T b) { return a + b; });
    check_binary<T, L>("sub", 0.5, OF(hk::sub), [](T a, T b) { return a - b; });
    check_binary<T, L>("mul", 0.5, OF(hk::mul), [](T a, T b) { return a * b; });
    check_binary<T, L>("div", 0.5, OF(hk::div), [](T a, T b) { return a / b; });
    // Of two zeros either may be returned: adding 0 makes them alike.
    check_binary<T, L>(
        "min", 0, [](auto a, auto b) { return hk::add(hk::min(a, b), hk::splat<T, L>(0)); },
        [](T a, T b) { return std::isnan(a) || std::isnan(b) ? not_a_number<T> : std::min(a, b) + T(0); });
    check_binary<T, L>(
        "max", 0, [](auto a, auto b) { return hk::add(hk::max(a, b), hk::splat<T, L>(0)); },
        [](T a, T b) { return std::isnan(a) || std::isnan(b) ? not_a_number<T> : std::max(a, b) + T(0); });
    // Where there is no fused instruction the product is rounded as well, which the scalar sum does too.
    check_binary<T, L>(
        "fma", 0.5, [](auto a, auto b) { return hk::fma(a, b, a); },
        [](T a, T b) {
#if defined(__FMA__) || defined(__aarch64__)
          return std::fma(a, b, a);
#else
          const volatile T product = a * b;
          return static_cast<T>(product + a);
#endif
        });
    using R = long double;
    check_unary<T, L>("neg", 2, 1000, 0, OF(hk::neg), [](R a) { return -a; });
    check_unary<T, L>("abs", 2, 1000, 0, OF(hk::abs), OF(std::abs));
    check_unary<T, L>("floor", 2, 1000, 0, OF(hk::floor), OF(std::floor));
    check_unary<T, L>("sqrt", 2, 1000, 0.51, OF(hk::sqrt), OF(std::sqrt));
    check_unary<T, L>("rsqrt", 2, 1000, 1.6, OF(hk::rsqrt), [](R a) { return 1 / std::sqrt(a); });
  });
}

BOOST_AUTO_TEST_CASE(functions) {
  for_floating([](auto t, auto l) {
    using T = decltype(t);
    constexpr int L = decltype(l)::value;
    using R = long double;
    const double range = sizeof(T) == 4 ? 105 : 750;
    check_unary<T, L>("exp", 1, range, 1.3, OF(hk::exp), OF(std::exp));
    check_unary<T, L>("log", 3, 1e6, 1.5, OF(hk::log), OF(std::log));
    const bool by_table = sizeof(T) == 4 && W == 16;
    check_unary<T, L>("tanh", 0.8, 10, by_table ? 1.55 : 2.6, OF(hk::tanh), OF(std::tanh));
    check_unary<T, L>("erf", 1, 4, 1.5, OF(hk::erf), OF(std::erf));
    check_unary<T, L>("sin", 8, 130000, 2.5, OF(hk::sin), OF(std::sin));
    check_unary<T, L>("cos", 8, 130000, 2.5, OF(hk::cos), OF(std::cos));
    check_binary<T, L>("pow", 1, OF(hk::pow), [](T a, T b) { return std::pow(static_cast<R>(a), static_cast<R>(b)); });
  });
  // The values the kernels rely on.
  const auto e = [](float x) { return lanes(hk::exp(hk::splat<float, W>(x)))[0]; };
  BOOST_TEST(e(-inf<float>) == 0.F);
  BOOST_TEST(e(88.8F) == inf<float>);
  BOOST_TEST(e(0.F) == 1.F);
  BOOST_TEST(std::isnan(e(not_a_number<float>)));
}

// tanh and exp of floats at equal distances in their bits, which falls upon every interval of the table and every n.
BOOST_AUTO_TEST_CASE(functions_of_many_floats) {
  const auto check = [](const char* name, float first, float last, double bound, auto f, auto g) {
    worst w;
    const auto end = std::bit_cast<std::uint32_t>(last);
    for (auto bits = std::bit_cast<std::uint32_t>(first); bits < end; bits += 16 * 509) {
      float x[16];
      for (std::uint32_t k = 0; k < 16; ++k) x[k] = std::bit_cast<float>(bits + k * 509) * (k % 2 == 0 ? 1.F : -1.F);
      const auto r = lanes(f(hk::load<float, 16>(x)));
      for (std::size_t k = 0; k < 16; ++k)
        w.take(ulps(r[k], g(static_cast<double>(x[k]))), [&] { return text(x[k]) + " giving " + text(r[k]); });
    }
    CHECK_WORST(name, w, bound);
  };
  check("exp", 0x1p-30F, 104.F, 1.3, OF(hk::exp), [](double x) { return std::exp(x); });
  check("tanh", std::numeric_limits<float>::denorm_min(), 1e30F, W == 16 ? 1.55 : 2.6, OF(hk::tanh),
        [](double x) { return std::tanh(x); });
  // Never beyond 1, and 1 itself from 10 on.
  for (float x = 8; x < 12; x += 0x1p-14F) {
    const float size = -lanes(hk::tanh(hk::splat<float, W>(-x)))[0];
    REQUIRE(x < 10 ? size <= 1 : size == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

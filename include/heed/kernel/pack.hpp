// SPDX-License-Identifier: BSL-1.0
// In: L neighbouring elements of a tensor, of any storage type, or L truth values.
// Out: pack<T, L> and mask<L>, which hold them in registers, and all that an expression can compute with them.
// Next: map.hpp, which runs a tree of expressions over packs.
#pragma once

#include "lanes.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heed::kernel {
inline namespace HEED_ARCH {

// L lanes of T (float, double or std::int64_t) in as many vectors as they fill. One vector may be filled by half, with
// floats beside a tree of doubles; its upper lanes then hold anything.
template <class T, int L> struct pack {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>);
  static_assert(L >= width<double> && L <= 64 && (L & (L - 1)) == 0);
  using value_type = T;
  static constexpr int lanes = L;
  static constexpr int count = L > width<T> ? L / width<T> : 1;
  vector<T> v[count];
};

// L truth values: lane i is bit i, and no other bit is ever set.
template <int L> struct mask {
  static constexpr std::uint64_t every = ~std::uint64_t{0} >> (64 - L);
  std::uint64_t bits;
  friend HEED_INLINE mask operator&(mask a, mask b) { return {a.bits & b.bits}; }
  friend HEED_INLINE mask operator|(mask a, mask b) { return {a.bits | b.bits}; }
  friend HEED_INLINE mask operator^(mask a, mask b) { return {a.bits ^ b.bits}; }
  friend HEED_INLINE mask operator~(mask a) { return {a.bits ^ every}; }
};
template <int L> HEED_INLINE bool all(mask<L> m) { return m.bits == mask<L>::every; }
template <int L> HEED_INLINE bool none(mask<L> m) { return m.bits == 0; }
template <int L> HEED_INLINE mask<L> splat_mask(bool value) { return {value ? mask<L>::every : 0}; }

namespace detail {

template <class T>
concept Floating = std::floating_point<T>;
template <class T> using wrapping = std::conditional_t<Floating<T>, T, std::uint64_t>;

// f(vector, ...) for each vector of the packs.
template <class T, int L, class F, class... More>
HEED_INLINE pack<T, L> each(F f, const pack<T, L>& a, const More&... more) {
  pack<T, L> result;
  HEED_UNROLL
  for (int i = 0; i < a.count; ++i) result.v[i] = f(a.v[i], more.v[i]...);
  return result;
}

// The bits of f(vector, vector), which is a vector_mask, for each vector of the packs.
template <class T, int L, class F> HEED_INLINE mask<L> compare(F f, pack<T, L> a, pack<T, L> b) {
  std::uint64_t bits = 0;
  HEED_UNROLL
  for (int i = 0; i < a.count; ++i) bits |= mask_bits<T>(f(a.v[i], b.v[i])) << (i * width<T>);
  return {bits & mask<L>::every};
}

// f(lane, ...), one lane after another: where no vector code is worth its length.
template <class T, int L, class F, class... More> HEED_INLINE pack<T, L> each_lane(F f, pack<T, L> a, More... more) {
  constexpr int n = pack<T, L>::count * width<T>;
  struct lanes {
    alignas(64) T x[n];
  };
  const auto spill = [](const pack<T, L>& from_pack) {
    lanes to;
    for (int i = 0; i < pack<T, L>::count; ++i) from_pack.v[i].store_aligned(to.x + i * width<T>);
    return to;
  };
  lanes result = spill(a);
  [&](const auto&... other) {
    for (int i = 0; i < L; ++i) result.x[i] = f(result.x[i], other.x[i]...);
  }(spill(more)...);
  for (int i = 0; i < a.count; ++i) a.v[i] = vector<T>::load_aligned(result.x + i * width<T>);
  return a;
}

}  // namespace detail

// ---- constants ----

template <class T, int L> HEED_INLINE pack<T, L> splat(T value) {
  pack<T, L> r;
  HEED_UNROLL
  for (int i = 0; i < r.count; ++i) r.v[i] = vector<T>(value);
  return r;
}

// start, start + 1, ...
template <int L> HEED_INLINE pack<std::int64_t, L> iota(std::int64_t start) {
  constexpr int n = width<std::int64_t>;
  detail::raw<std::uint64_t, n> lane{};
  for (int i = 0; i < n; ++i) lane[i] = static_cast<std::uint64_t>(i);
  pack<std::int64_t, L> r;
  HEED_UNROLL
  for (int i = 0; i < r.count; ++i) {
    r.v[i] = detail::from<std::int64_t>(lane + (static_cast<std::uint64_t>(start) + static_cast<std::uint64_t>(i * n)));
  }
  return r;
}

// ---- choosing and comparing: false wherever a NaN takes part, but for ne ----

template <class T, int L> HEED_INLINE mask<L> lt(pack<T, L> a, pack<T, L> b) {
  return detail::compare([](vector<T> x, vector<T> y) { return x < y; }, a, b);
}
template <class T, int L> HEED_INLINE mask<L> le(pack<T, L> a, pack<T, L> b) {
  return detail::compare([](vector<T> x, vector<T> y) { return x <= y; }, a, b);
}
template <class T, int L> HEED_INLINE mask<L> gt(pack<T, L> a, pack<T, L> b) { return lt(b, a); }
template <class T, int L> HEED_INLINE mask<L> ge(pack<T, L> a, pack<T, L> b) { return le(b, a); }
template <class T, int L> HEED_INLINE mask<L> eq(pack<T, L> a, pack<T, L> b) {
  return detail::compare([](vector<T> x, vector<T> y) { return x == y; }, a, b);
}
template <class T, int L> HEED_INLINE mask<L> ne(pack<T, L> a, pack<T, L> b) { return ~eq(a, b); }

template <class T, int L> HEED_INLINE pack<T, L> select(mask<L> where, pack<T, L> yes, pack<T, L> no) {
  HEED_UNROLL
  for (int i = 0; i < no.count; ++i) {
    no.v[i] = select<T>(detail::mask_of<T>(where.bits >> (i * width<T>)), yes.v[i], no.v[i]);
  }
  return no;
}

// 0, 1, 2, ...
template <class T, int L> HEED_INLINE pack<T, L> lane_numbers() {
  detail::raw<T, width<T>> lane{};
  for (int i = 0; i < width<T>; ++i) lane[i] = static_cast<T>(i);
  pack<T, L> r;
  HEED_UNROLL
  for (int i = 0; i < r.count; ++i) r.v[i] = detail::from<T>(lane + static_cast<T>(i * width<T>));
  return r;
}

// ---- conversion: to std::int64_t towards zero, to fewer digits to nearest ----

template <class To, class From, int L> HEED_INLINE pack<To, L> convert(pack<From, L> x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else {
    pack<To, L> r;
    if constexpr (std::is_same_v<From, float>) {
      HEED_UNROLL
      for (int i = 0; i < r.count; ++i) {
        r.v[i] = i % 2 == 0 ? detail::converted_half<To, 0>(x.v[i / 2]) : detail::converted_half<To, 1>(x.v[i / 2]);
      }
    } else if constexpr (std::is_same_v<To, float>) {
      constexpr int step = L == width<double> ? 0 : 1;  // half a vector: the same half twice
      HEED_UNROLL
      for (int i = 0; i < r.count; ++i) r.v[i] = detail::converted_halves<From>(x.v[2 * i], x.v[2 * i + step]);
    } else {
      constexpr int n = width<double>;
      HEED_UNROLL
      for (int i = 0; i < r.count; ++i) {
        r.v[i] = detail::from<To>(__builtin_convertvector(detail::as<From>(x.v[i]), detail::raw<To, n>));
      }
    }
    return r;
  }
}
template <class Storage, int L> HEED_INLINE pack<float, L> round_to(pack<float, L> x) {
  for (auto& v : x.v) {
    Storage narrow[width<float>];
    detail::narrow(narrow, v);
    v = detail::widen(narrow);
  }
  return x;
}
template <class To, int L> HEED_INLINE pack<To, L> convert(mask<L> m) {
  return select(m, splat<To, L>(To(1)), splat<To, L>(To(0)));
}
template <class T, int L> HEED_INLINE mask<L> to_mask(pack<T, L> x) { return ne(x, splat<T, L>(T(0))); }

// ---- moving: exactly L elements, aligned or not ----

template <class T, int L, class Storage> HEED_INLINE pack<T, L> load(const Storage* p) {
  using natural = heed::detail::compute_t<Storage>;
  if constexpr (!std::is_same_v<T, natural>) {
    return convert<T>(load<natural, L>(p));
  } else {
    pack<T, L> r;
    if constexpr (L < width<T>) {
      T lanes[width<T>] = {};
      for (int i = 0; i < L; ++i) lanes[i] = static_cast<T>(p[i]);
      r.v[0] = vector<T>::load_unaligned(lanes);
    } else {
      HEED_UNROLL
      for (int i = 0; i < r.count; ++i) {
        const Storage* from = p + i * width<T>;
        if constexpr (std::is_same_v<Storage, T>) {
          r.v[i] = vector<T>::load_unaligned(from);
        } else if constexpr (std::is_integral_v<Storage>) {
          detail::raw<Storage, width<T>> narrow;
          std::memcpy(&narrow, from, sizeof narrow);
          r.v[i] = detail::from<T>(__builtin_convertvector(narrow, detail::raw<T, width<T>>));
        } else {
          r.v[i] = detail::widen(from);
        }
      }
    }
    return r;
  }
}

// Rounds to nearest, ties to even, where the storage has fewer digits; whole numbers keep their low bits.
template <class Storage, class T, int L> HEED_INLINE void store(Storage* p, pack<T, L> x) {
  using natural = heed::detail::compute_t<Storage>;
  if constexpr (!std::is_same_v<T, natural>) {
    store(p, convert<natural>(x));
  } else if constexpr (L < width<T>) {
    T lanes[width<T>];
    x.v[0].store_unaligned(lanes);
    for (int i = 0; i < L; ++i) p[i] = static_cast<Storage>(lanes[i]);
  } else {
    HEED_UNROLL
    for (int i = 0; i < x.count; ++i) {
      Storage* to = p + i * width<T>;
      if constexpr (std::is_same_v<Storage, T>) {
        x.v[i].store_unaligned(to);
      } else if constexpr (std::is_integral_v<Storage>) {
        const auto narrow = __builtin_convertvector(detail::as<T>(x.v[i]), detail::raw<Storage, width<T>>);
        std::memcpy(to, &narrow, sizeof narrow);
      } else {
        detail::narrow(to, x.v[i]);
      }
    }
  }
}

// Eight bytes of 0 or 1 and eight bits, by one multiplication each.
template <int L> HEED_INLINE mask<L> load_mask(const bool* p) {
  static_assert(sizeof(bool) == 1 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  std::uint64_t bits = 0;
  HEED_UNROLL
  for (int i = 0; i < L; i += 8) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, p + i, L < 8 ? L : 8);
    bits |= ((bytes * 0x0102040810204080U) >> 56) << i;
  }
  return {bits};
}
template <int L> HEED_INLINE void store(bool* p, mask<L> m) {
  HEED_UNROLL
  for (int i = 0; i < L; i += 8) {
    const std::uint64_t spread = (((m.bits >> i) & 0xffU) * 0x0101010101010101U) & 0x8040201008040201U;
    const std::uint64_t bytes = ((spread + 0x7f7f7f7f7f7f7f7fU) >> 7) & 0x0101010101010101U;
    std::memcpy(p + i, &bytes, L < 8 ? L : 8);
  }
}

// ---- arithmetic: whole numbers wrap around ----

template <class T, int L> HEED_INLINE pack<T, L> add(pack<T, L> a, pack<T, L> b) {
  using W = detail::wrapping<T>;
  return detail::each([](auto x, auto y) { return detail::from<T>(detail::as<W>(x) + detail::as<W>(y)); }, a, b);
}
template <class T, int L> HEED_INLINE pack<T, L> sub(pack<T, L> a, pack<T, L> b) {
  using W = detail::wrapping<T>;
  return detail::each([](auto x, auto y) { return detail::from<T>(detail::as<W>(x) - detail::as<W>(y)); }, a, b);
}
template <class T, int L> HEED_INLINE pack<T, L> mul(pack<T, L> a, pack<T, L> b) {
  using W = detail::wrapping<T>;
  return detail::each([](auto x, auto y) { return detail::from<T>(detail::as<W>(x) * detail::as<W>(y)); }, a, b);
}
template <class T, int L> HEED_INLINE pack<T, L> neg(pack<T, L> a) {
  using W = detail::wrapping<T>;
  return detail::each([](auto x) { return detail::from<T>(-detail::as<W>(x)); }, a);
}
template <detail::Floating T, int L> HEED_INLINE pack<T, L> div(pack<T, L> a, pack<T, L> b) {
  return detail::each([](vector<T> x, vector<T> y) { return vector<T>(x / y); }, a, b);
}
// a * b + c; rounded once where there is an instruction for it, else twice.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> fma(pack<T, L> a, pack<T, L> b, pack<T, L> c) {
  return detail::each([](vector<T> x, vector<T> y, vector<T> z) { return fma(x, y, z); }, a, b, c);
}
// NaN if either is NaN.
template <class T, int L> HEED_INLINE pack<T, L> min(pack<T, L> a, pack<T, L> b) {
  if constexpr (std::is_integral_v<T>)
    return select(lt(a, b), a, b);
  else
    return detail::each([](vector<T> x, vector<T> y) { return min_propagating_nan(x, y); }, a, b);
}
template <class T, int L> HEED_INLINE pack<T, L> max(pack<T, L> a, pack<T, L> b) {
  if constexpr (std::is_integral_v<T>)
    return select(lt(b, a), a, b);
  else
    return detail::each([](vector<T> x, vector<T> y) { return max_propagating_nan(x, y); }, a, b);
}
template <class T, int L> HEED_INLINE pack<T, L> abs(pack<T, L> a) {
  if constexpr (std::is_integral_v<T>)
    return select(lt(a, splat<T, L>(0)), neg(a), a);
  else
    return detail::each([](vector<T> x) { return detail::abs(x); }, a);
}
template <detail::Floating T, int L> HEED_INLINE pack<T, L> floor(pack<T, L> a) {
  return detail::each([](vector<T> x) { return detail::floor(x); }, a);
}
template <detail::Floating T, int L> HEED_INLINE pack<T, L> sqrt(pack<T, L> a) {
  return detail::each([](vector<T> x) { return detail::sqrt(x); }, a);
}
// By division: the estimate of the processor is too coarse.
template <detail::Floating T, int L> HEED_INLINE pack<T, L> rsqrt(pack<T, L> a) {
  return div(splat<T, L>(T(1)), sqrt(a));
}

namespace detail {

using i64 = std::int64_t;
template <int L> using whole = pack<i64, L>;
struct division {
  i64 quotient, remainder;
};

// Towards minus infinity, so that the remainder has the sign of the divisor; zero for a divisor of zero.
constexpr HEED_INLINE division floored(i64 a, i64 d) {
  if (d == 0) return {0, 0};
  // The quotient of the lowest number overflows, which would trap.
  if (d == -1) return {static_cast<i64>(0 - static_cast<std::uint64_t>(a)), 0};
  const i64 q = a / d, r = a % d;
  return r != 0 && (r < 0) != (d < 0) ? division{q - 1, r + d} : division{q, r};
}

// Both below 2^51 in size? Then they are exact as double, and so is the floor of their quotient: a quotient just below
// a whole number k is below it by at least 1 / d, which is more than the rounding of k.
template <int L> HEED_INLINE bool small(whole<L> a, whole<L> d) {
  const auto offset = splat<i64, L>(i64{1} << 51), bound = splat<i64, L>(i64{1} << 52);
  const auto inside = [&](whole<L> x) {  // 0 <= x + 2^51 < 2^52
    const auto y = add(x, offset);
    return lt(y, bound) & ~lt(y, splat<i64, L>(0));
  };
  return all(inside(a) & inside(d));
}
// Whole numbers below 2^51 in size to double and back: they stand in the low bits of 1.5 * 2^52 + x.
template <int L> HEED_INLINE pack<double, L> small_to_double(whole<L> x) {
  pack<double, L> r;
  constexpr auto magic = __builtin_bit_cast(std::uint64_t, rounder<double>);
  HEED_UNROLL
  for (int i = 0; i < r.count; ++i) r.v[i] = from<double>(as<std::uint64_t>(x.v[i]) + magic) - rounder<double>;
  return r;
}
template <int L> HEED_INLINE whole<L> small_to_whole(pack<double, L> x) {
  whole<L> r;
  constexpr auto magic = __builtin_bit_cast(std::uint64_t, rounder<double>);
  HEED_UNROLL
  for (int i = 0; i < r.count; ++i) {
    r.v[i] = from<i64>(as<std::uint64_t>(vector<double>(x.v[i] + rounder<double>)) - magic);
  }
  return r;
}

}  // namespace detail

// The quotient rounded towards minus infinity; 0 where the divisor is 0.
template <int L> HEED_INLINE pack<std::int64_t, L> floor_div(pack<std::int64_t, L> a, pack<std::int64_t, L> d) {
  using detail::i64;
  if (!detail::small(a, d)) return detail::each_lane([](i64 x, i64 y) { return detail::floored(x, y).quotient; }, a, d);
  const auto q = floor(div(detail::small_to_double(a), detail::small_to_double(d)));
  return select(to_mask(d), detail::small_to_whole(q), splat<i64, L>(0));
}
// What remains of it: from 0 up to, or down to, the divisor, exclusive; 0 where the divisor is 0.
template <int L> HEED_INLINE pack<std::int64_t, L> floor_mod(pack<std::int64_t, L> a, pack<std::int64_t, L> d) {
  using detail::i64;
  const i64 first = detail::as<i64>(d.v[0])[0];
  if (first > 0 && (first & (first - 1)) == 0 && all(eq(d, splat<i64, L>(first)))) {
    const auto low = static_cast<std::uint64_t>(first - 1);
    return detail::each([low](auto x) { return detail::from<i64>(detail::as<std::uint64_t>(x) & low); }, a);
  }
  if (!detail::small(a, d))
    return detail::each_lane([](i64 x, i64 y) { return detail::floored(x, y).remainder; }, a, d);
  const auto q = floor_div(a, d);
  return select(to_mask(d), sub(a, mul(q, d)), splat<i64, L>(0));
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel

// SPDX-License-Identifier: BSL-1.0
// In: vectors of xsimd. Out: what xsimd lacks, or does differently from version to version: their lanes as other types, halves,
// masks as bits, rounding, exponents, numbers of 16 bits.
// Next: pack.hpp, which computes with them.
#pragma once

#include <heed/kernel/simd.hpp>
#include <heed/storage.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace heed::kernel {
inline namespace HEED_ARCH {

// It is done on the compiler's own vectors: the same registers seen as `raw`, with operators, conversion between types, and
// wrap-around for unsigned lanes.
namespace detail {

template <class T, int N> struct raw_type { typedef T type __attribute__((vector_size(sizeof(T) * N))); };
template <class T, int N> using raw = typename raw_type<T, N>::type;
template <class T> using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class U, class T> HEED_INLINE raw<U, width<U>> as(vector<T> x) {
  return __builtin_bit_cast(raw<U, width<U>>, static_cast<typename vector<T>::register_type>(x));
}
template <class T, class U> HEED_INLINE vector<T> from(U x) {
  return vector<T>(__builtin_bit_cast(typename vector<T>::register_type, x));
}

template <int Base, int... I> HEED_INLINE auto half(raw<float, width<float>> x, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(x, x, (Base + I)...);
}
template <int... I>
HEED_INLINE auto joined(raw<float, width<double>> a, raw<float, width<double>> b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, I...);
}

// The lower or upper half of a vector of floats in another type, and a vector of floats from two halves.
template <class To, int Upper> HEED_INLINE vector<To> converted_half(vector<float> x) {
  constexpr int n = width<double>;
  const auto part = half<Upper * n>(as<float>(x), std::make_integer_sequence<int, n>{});
  return from<To>(__builtin_convertvector(part, raw<To, n>));
}
template <class From> HEED_INLINE vector<float> converted_halves(vector<From> lower, vector<From> upper) {
  constexpr int n = width<double>;
  const auto a = __builtin_convertvector(as<From>(lower), raw<float, n>);
  const auto b = __builtin_convertvector(as<From>(upper), raw<float, n>);
  return from<float>(joined(a, b, std::make_integer_sequence<int, 2 * n>{}));
}

// A register of whole-lane masks (SSE, AVX, NEON), or one bit a lane (AVX-512)?
template <class T> inline constexpr bool bit_masks = sizeof(typename vector_mask<T>::register_type) < 16;

// The lanes of a mask as bits, lane i in bit i, and back.
template <class T> HEED_INLINE std::uint64_t mask_bits(vector_mask<T> m) {
  const auto r = static_cast<typename vector_mask<T>::register_type>(m);
  if constexpr (bit_masks<T>) {
    return static_cast<std::uint64_t>(r);
  } else {
#if defined(__AVX__)
    if constexpr (sizeof(T) == 4)
      return static_cast<unsigned>(_mm256_movemask_ps(__builtin_bit_cast(__m256, r)));
    else
      return static_cast<unsigned>(_mm256_movemask_pd(__builtin_bit_cast(__m256d, r)));
#elif defined(__SSE2__)
    if constexpr (sizeof(T) == 4)
      return static_cast<unsigned>(_mm_movemask_ps(__builtin_bit_cast(__m128, r)));
    else
      return static_cast<unsigned>(_mm_movemask_pd(__builtin_bit_cast(__m128d, r)));
#else
    const auto lanes = __builtin_bit_cast(raw<bits_of<T>, width<T>>, r);
    std::uint64_t bits = 0;
    HEED_UNROLL
    for (int i = 0; i < width<T>; ++i) bits |= std::uint64_t{lanes[i] & 1U} << i;
    return bits;
#endif
  }
}

template <class T> HEED_INLINE vector_mask<T> mask_of(std::uint64_t bits) {
  using reg = typename vector_mask<T>::register_type;
  if constexpr (bit_masks<T>) {
    return vector_mask<T>(static_cast<reg>(bits));
  } else {
    using B = bits_of<T>;
    raw<B, width<T>> lane{};
    HEED_UNROLL
    for (int i = 0; i < width<T>; ++i) lane[i] = B{1} << i;
    return vector_mask<T>(__builtin_bit_cast(reg, (lane & static_cast<B>(bits)) == lane));
  }
}

// The parts of a floating-point number: its sign bit, and the place of its exponent.
template <class T> inline constexpr bits_of<T> sign_bit = bits_of<T>{1} << (8 * sizeof(T) - 1);
template <class T> inline constexpr int fraction_bits = std::numeric_limits<T>::digits - 1;
template <class T> inline constexpr int bias = std::numeric_limits<T>::max_exponent - 1;

template <class T> HEED_INLINE vector<T> abs(vector<T> x) { return from<T>(as<bits_of<T>>(x) & ~sign_bit<T>); }
// `size`, which is not negative, with the sign of x.
template <class T> HEED_INLINE vector<T> with_sign_of(vector<T> x, vector<T> size) {
  return from<T>(as<bits_of<T>>(size) | (as<bits_of<T>>(x) & sign_bit<T>));
}

// With AVX-512 by the masked instructions: g++ 12 warns of the unmasked ones.
template <class T> HEED_INLINE vector<T> floor(vector<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEG_INF);
  else
    return _mm512_maskz_roundscale_pd(0xff, x, _MM_FROUND_TO_NEG_INF);
#elif defined(__SSE2__) && !defined(__SSE4_1__)
  // xsimd loses the sign of -0 here. From 2^fraction_bits on every number is whole.
  const T large = static_cast<T>(bits_of<T>{1} << fraction_bits<T>);
  const auto size = abs(x), rounded = with_sign_of<T>(x, (size + large) - large);
  return select<T>(size < large, select<T>(rounded > x, rounded - T(1), rounded), x);
#else
  return xsimd::floor(x);
#endif
}
template <class T> HEED_INLINE vector<T> sqrt(vector<T> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_maskz_sqrt_ps(0xffff, x);
  else
    return _mm512_maskz_sqrt_pd(0xff, x);
#else
  return xsimd::sqrt(x);
#endif
}

// Adding 1.5 * 2^fraction_bits rounds to a whole number, which then stands in the low bits.
template <class T> inline constexpr T rounder = static_cast<T>(bits_of<T>{3} << (fraction_bits<T> - 1));
template <class T> HEED_INLINE vector<T> nearest(vector<T> x) { return (x + rounder<T>)-rounder<T>; }

// 2^n for a whole number n, which must be a normal number.
template <class T> HEED_INLINE vector<T> power_of_two(vector<T> n) {
  return from<T>(as<bits_of<T>>(vector<T>(n + (rounder<T> + T(bias<T>)))) << fraction_bits<T>);
}

// p * 2^n for a whole number n, rounded once even where it becomes subnormal.
template <class T> HEED_INLINE vector<T> scale(vector<T> p, vector<T> n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_maskz_scalef_ps(0xffff, p, n);
  else
    return _mm512_maskz_scalef_pd(0xff, p, n);
#else
  // In two steps: 2^n alone may be beyond the range where p * 2^n is not.
  const vector<T> first = nearest<T>(n * T(0.5));
  return (p * power_of_two<T>(first)) * power_of_two<T>(n - first);
#endif
}

// x = m * 2^k with sqrt(1/2) <= m < sqrt(2), for positive normal x.
template <class T> struct split { vector<T> m, k; };
template <class T> HEED_INLINE split<T> split_exponent(vector<T> x) {
  using B = bits_of<T>;
  const B one = __builtin_bit_cast(B, T(1)), root_half = __builtin_bit_cast(B, T(0.70710678118654752440L));
  const auto bits = as<B>(x);
  const auto biased = (bits + (one - root_half)) >> fraction_bits<T>;
  // The bits of 2^fraction_bits + i are those of 2^fraction_bits, plus i.
  const T base = static_cast<T>(B{1} << fraction_bits<T>);
  return {from<T>(bits - ((biased - B(bias<T>)) << fraction_bits<T>)),
          from<T>(biased + __builtin_bit_cast(B, base)) - (base + T(bias<T>))};
}

// Sixteen bits a lane to floats and back.
HEED_INLINE vector<float> widen(const bf16* from_memory) {
#if defined(__AVX512F__)  // by hand: g++ 12 widens in halves
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from_memory));
  return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, bits), 16));
#elif defined(__AVX2__)
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from_memory));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
#else
  raw<std::uint16_t, width<float>> bits;
  std::memcpy(&bits, from_memory, sizeof bits);
  return from<float>(__builtin_convertvector(bits, raw<std::uint32_t, width<float>>) << 16);
#endif
}
HEED_INLINE void narrow(bf16* to, vector<float> x) {
  const auto f = as<std::uint32_t>(x);
  const auto rounded = from<float>((f + 0x7fffU + ((f >> 16) & 1U)) >> 16);
  const auto quiet = from<float>((f >> 16) | 0x40U);
  const auto bits = as<std::uint32_t>(select(is_nan(x), quiet, rounded));
  const auto halves = __builtin_convertvector(bits, raw<std::uint16_t, width<float>>);
  std::memcpy(to, &halves, sizeof halves);
}
HEED_INLINE vector<float> widen(const f16* from_memory) {
#if defined(__AVX512F__)
  return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from_memory)));
#elif defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from_memory)));
#else
  alignas(64) float lanes[width<float>];
  for (int i = 0; i < width<float>; ++i) lanes[i] = from_memory[i];
  return vector<float>::load_aligned(lanes);
#endif
}
HEED_INLINE void narrow(f16* to, vector<float> x) {
#if defined(__AVX512F__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtps_ph(0xffff, x, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__F16C__)
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
#else
  alignas(64) float lanes[width<float>];
  x.store_aligned(lanes);
  for (int i = 0; i < width<float>; ++i) to[i] = lanes[i];
#endif
}

}  // namespace detail

}  // namespace HEED_ARCH
}  // namespace heed::kernel

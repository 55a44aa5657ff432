// SPDX-License-Identifier: BSL-1.0
// In: an instruction set, chosen by the compiler's flags, and whichever xsimd is installed (8.1 to 14.3).
// Out: vector<T> for float and double, and the few operations on it that the loops need, alike everywhere.
// Next: multiply.hpp, the register tiles built of these.
#pragma once

#include "../arch.hpp"

#include <xsimd/xsimd.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#define HEED_INLINE inline __attribute__((always_inline))
// Before a loop whose bound is a constant: without it, g++ keeps arrays of vectors in memory.
#if defined(__clang__)
#define HEED_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HEED_UNROLL _Pragma("GCC unroll 32")
#endif

namespace heed::kernel {
inline namespace HEED_ARCH {

using extent_t = std::ptrdiff_t;

using architecture = xsimd::default_arch;
template <class T> using vector = xsimd::batch<T, architecture>;
template <class T> using vector_mask = xsimd::batch_bool<T, architecture>;

// Lanes of a vector, and how many vectors the registers hold.
template <class T> inline constexpr int width = static_cast<int>(vector<T>::size);
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int register_count = 32;
#else
inline constexpr int register_count = 16;
#endif

template <class T> inline constexpr T log2_e = static_cast<T>(1.44269504088896340735992468100189214L);
template <class T> inline constexpr T ln_2 = static_cast<T>(0.693147180559945309417232121458176568L);
template <class T> inline constexpr T infinity = std::numeric_limits<T>::infinity();

// ---- moving ----

template <class T> HEED_INLINE vector<T> load(const T* from) { return vector<T>::load_unaligned(from); }
template <class T> HEED_INLINE void store(T* to, vector<T> x) { x.store_unaligned(to); }
template <class T> HEED_INLINE vector<T> broadcast(T x) { return vector<T>(x); }
template <class T> HEED_INLINE vector<T> zero() { return vector<T>(T(0)); }

// 0, 1, 2, ...: the number of each lane.
template <class T> HEED_INLINE vector<T> lane_numbers() {
  alignas(64) static constexpr T numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static_assert(width<T> <= 16);
  return load(numbers);
}

#if defined(__AVX__) && !defined(__AVX512F__)
namespace detail {
alignas(64) inline constexpr std::int32_t sliding_mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
// All bits set in the first `count` lanes of `bytes` bytes each.
HEED_INLINE __m256i first_lanes(int count, int bytes) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sliding_mask + 8 - count * bytes / 4));
}
}  // namespace detail
#endif

// The first `count` lanes, 0 <= count <= width; the others become zero. No memory beyond them is touched.
HEED_INLINE vector<float> load_partial(const float* from, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << count) - 1U), from);
#elif defined(__AVX__)
  return _mm256_maskload_ps(from, detail::first_lanes(count, 4));
#elif defined(__SSE2__)
  if (count >= 4) return load(from);
  if (count <= 1) return count == 1 ? vector<float>(_mm_load_ss(from)) : zero<float>();
  double two;
  std::memcpy(&two, from, sizeof two);
  const __m128 low = _mm_castpd_ps(_mm_set_sd(two));
  return count == 2 ? low : _mm_movelh_ps(low, _mm_load_ss(from + 2));
#else
  float lanes[width<float>] = {};
  for (int i = 0; i < count; ++i) lanes[i] = from[i];
  return load(lanes);
#endif
}

HEED_INLINE vector<double> load_partial(const double* from, int count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << count) - 1U), from);
#elif defined(__AVX__)
  return _mm256_maskload_pd(from, detail::first_lanes(count, 8));
#elif defined(__SSE2__)
  if (count >= 2) return load(from);
  return count == 1 ? vector<double>(_mm_load_sd(from)) : zero<double>();
#else
  double lanes[width<double>] = {};
  for (int i = 0; i < count; ++i) lanes[i] = from[i];
  return load(lanes);
#endif
}

// Stores the first `count` lanes and touches nothing beyond them.
HEED_INLINE void store_partial(float* to, vector<float> x, int count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1U), x);
#elif defined(__AVX__)
  _mm256_maskstore_ps(to, detail::first_lanes(count, 4), x);
#else
  float lanes[width<float>];
  store(lanes, x);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

HEED_INLINE void store_partial(double* to, vector<double> x, int count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1U), x);
#elif defined(__AVX__)
  _mm256_maskstore_pd(to, detail::first_lanes(count, 8), x);
#else
  double lanes[width<double>];
  store(lanes, x);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

// Past the caches, to memory aligned for a vector; whole lines of 64 bytes one after the other are best. What others are to see
// has to be followed by finish_streaming.
HEED_INLINE void store_streaming(float* to, vector<float> x) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, x);
#elif defined(__AVX__)
  _mm256_stream_ps(to, x);
#elif defined(__SSE2__)
  _mm_stream_ps(to, x);
#else
  store(to, x);
#endif
}
HEED_INLINE void store_streaming(double* to, vector<double> x) {
#if defined(__AVX512F__)
  _mm512_stream_pd(to, x);
#elif defined(__AVX__)
  _mm256_stream_pd(to, x);
#elif defined(__SSE2__)
  _mm_stream_pd(to, x);
#else
  store(to, x);
#endif
}
HEED_INLINE void finish_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// ---- arithmetic ----

// a * b + c, rounded once wherever the instruction exists (xsimd 8.1 has none for AVX-512), else twice.
HEED_INLINE vector<float> fma(vector<float> a, vector<float> b, vector<float> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__AVX__) && defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#elif defined(__SSE2__)
  return a * b + c;
#else
  return xsimd::fma(a, b, c);
#endif
}

HEED_INLINE vector<double> fma(vector<double> a, vector<double> b, vector<double> c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX__) && defined(__FMA__)
  return _mm256_fmadd_pd(a, b, c);
#elif defined(__SSE2__)
  return a * b + c;
#else
  return xsimd::fma(a, b, c);
#endif
}

// Whether fma rounds once.
#if defined(__FMA__) || defined(__AVX512F__) || !defined(__SSE2__)
inline constexpr bool fused_multiply_add = true;
#else
inline constexpr bool fused_multiply_add = false;
#endif

// `yes` where the mask is set, else `no`.
template <class T> HEED_INLINE vector<T> select(vector_mask<T> where, vector<T> yes, vector<T> no) {
#if defined(__AVX512F__)
  // by hand: xsimd's way through two-byte structs makes g++ 12 fail at -O1
  if constexpr (std::is_same_v<T, float>)
    return vector<T>(_mm512_mask_blend_ps(static_cast<__mmask16>(where), no, yes));
  else if constexpr (std::is_same_v<T, double>)
    return vector<T>(_mm512_mask_blend_pd(static_cast<__mmask8>(where), no, yes));
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return vector<T>(_mm512_mask_blend_epi64(static_cast<__mmask8>(where), no, yes));
  else
#endif
    return xsimd::select(where, yes, no);
}

// Not x != x, which xsimd 8.1 answers with false for NaN on AVX.
template <class T> HEED_INLINE vector_mask<T> is_nan(vector<T> x) { return xsimd::isnan(x); }

#if defined(__AVX512F__)
namespace detail {
// The forms without a mask start from an undefined register, of which g++ 12 warns wherever they are inlined.
inline constexpr unsigned char all_lanes_of_8 = 0xFF;
inline constexpr unsigned short all_lanes_of_16 = 0xFFFF;
}  // namespace detail
#endif

// a > b ? a : b, that is: b if either is NaN, and b of two zeros. The instruction of x86 says so; elsewhere, and in
// xsimd, the order of NaN differs from version to version.
HEED_INLINE vector<float> max(vector<float> a, vector<float> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(detail::all_lanes_of_16, a, b);
#elif defined(__AVX__)
  return _mm256_max_ps(a, b);
#elif defined(__SSE2__)
  return _mm_max_ps(a, b);
#else
  return xsimd::select(a > b, a, b);
#endif
}

HEED_INLINE vector<double> max(vector<double> a, vector<double> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_pd(detail::all_lanes_of_8, a, b);
#elif defined(__AVX__)
  return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
  return _mm_max_pd(a, b);
#else
  return xsimd::select(a > b, a, b);
#endif
}

// a < b ? a : b, with the same meaning for NaN.
HEED_INLINE vector<float> min(vector<float> a, vector<float> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(detail::all_lanes_of_16, a, b);
#elif defined(__AVX__)
  return _mm256_min_ps(a, b);
#elif defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return xsimd::select(a < b, a, b);
#endif
}

HEED_INLINE vector<double> min(vector<double> a, vector<double> b) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_pd(detail::all_lanes_of_8, a, b);
#elif defined(__AVX__)
  return _mm256_min_pd(a, b);
#elif defined(__SSE2__)
  return _mm_min_pd(a, b);
#else
  return xsimd::select(a < b, a, b);
#endif
}

// NaN if either is NaN: max already returns a NaN in b, so that only a has to be looked at. By hand on AVX-512, where
// the comparison can mask the maximum itself, and where g++ 12 at -O1 fails on masks held in structs.
template <class T> HEED_INLINE vector<T> max_propagating_nan(vector<T> a, vector<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return vector<T>(_mm512_mask_max_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b));
  else
    return vector<T>(_mm512_mask_max_pd(a, _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), a, b));
#else
  return select(is_nan(a), a, max(a, b));
#endif
}

template <class T> HEED_INLINE vector<T> min_propagating_nan(vector<T> a, vector<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return vector<T>(_mm512_mask_min_ps(a, _mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a, b));
  else
    return vector<T>(_mm512_mask_min_pd(a, _mm512_cmp_pd_mask(a, a, _CMP_ORD_Q), a, b));
#else
  return select(is_nan(a), a, min(a, b));
#endif
}

#if defined(__AVX512F__)
// table[i] of 32 numbers, with i in the five lowest bits of each lane.
HEED_INLINE vector<float> looked_up(const float* table, vector<float> at) {
  return _mm512_maskz_permutex2var_ps(detail::all_lanes_of_16, load(table), _mm512_castps_si512(at), load(table + 16));
}
#endif

// ---- across the lanes ----

namespace detail {

template <class T, int Half, std::size_t... Lane>
HEED_INLINE vector<T> upper_half_down(vector<T> x, std::index_sequence<Lane...>) {
  const typename vector<T>::register_type lanes = x;
  return vector<T>(__builtin_shufflevector(lanes, lanes, (static_cast<int>(Lane) + Half) % width<T>...));
}

// Folds the upper half of the lanes onto the lower until one is left: one order, in every version and compiler.
template <class T, int Half = width<T> / 2, class Fold> HEED_INLINE T fold_halves(vector<T> x, Fold fold) {
  if constexpr (Half > 0) {
    return fold_halves<T, Half / 2>(fold(x, upper_half_down<T, Half>(x, std::make_index_sequence<vector<T>::size>{})),
                                    fold);
  } else {
    const typename vector<T>::register_type lanes = x;
    return lanes[0];
  }
}

}  // namespace detail

// The sum of all lanes, halves onto halves: ((0+8)+(4+12))+... for sixteen lanes.
template <class T> HEED_INLINE T reduce_add(vector<T> x) {
  return detail::fold_halves(x, [](vector<T> a, vector<T> b) { return a + b; });
}

// The largest lane; NaN if any lane is NaN.
template <class T> HEED_INLINE T reduce_max(vector<T> x) {
  return detail::fold_halves(x, [](vector<T> a, vector<T> b) { return max_propagating_nan(a, b); });
}

template <class T> HEED_INLINE T reduce_min(vector<T> x) {
  return detail::fold_halves(x, [](vector<T> a, vector<T> b) { return min_propagating_nan(a, b); });
}

// ---- 2^x ----

namespace detail {

// 2^f for |f| <= 1/2, and exactly 1 for 0: minimax, relative error 2.4e-7 with its rounding.
HEED_INLINE vector<float> exp2_fraction(vector<float> f) {
  vector<float> p(0x1.5bba134d281fdp-10F);
  p = kernel::fma(p, f, vector<float>(0x1.3cea874a3faedp-7F));
  p = kernel::fma(p, f, vector<float>(0x1.c6b752e01365cp-5F));
  p = kernel::fma(p, f, vector<float>(0x1.ebf9bb8a8170ap-3F));
  p = kernel::fma(p, f, vector<float>(0x1.62e4292036a58p-1F));
  return kernel::fma(p, f, vector<float>(1.F));
}
// 2^f for 0 <= f < 1, and exactly 1 for 0: minimax, relative error 1.4e-7 with its rounding.
HEED_INLINE vector<float> exp2_fraction_above(vector<float> f) {
  vector<float> p(0x1.e975fp-10F);
  p = kernel::fma(p, f, vector<float>(0x1.27784ap-7F));
  p = kernel::fma(p, f, vector<float>(0x1.c91cf2p-5F));
  p = kernel::fma(p, f, vector<float>(0x1.ebdb54p-3F));
  p = kernel::fma(p, f, vector<float>(0x1.62e4bap-1F));
  return kernel::fma(p, f, vector<float>(1.F));
}
// 2^f for |f| <= 1/2 to 2e-17, interpolated in the Chebyshev nodes.
HEED_INLINE vector<double> exp2_fraction(vector<double> f) {
  vector<double> p(0x1.e9d3fe3952179p-32);
  p = kernel::fma(p, f, vector<double>(0x1.e6063f7217bc6p-28));
  p = kernel::fma(p, f, vector<double>(0x1.b524fae627834p-24));
  p = kernel::fma(p, f, vector<double>(0x1.62bfd47773353p-20));
  p = kernel::fma(p, f, vector<double>(0x1.ffcbfc670dcd4p-17));
  p = kernel::fma(p, f, vector<double>(0x1.430913096fd9fp-13));
  p = kernel::fma(p, f, vector<double>(0x1.5d87fe78a5276p-10));
  p = kernel::fma(p, f, vector<double>(0x1.3b2ab6fba1ddap-7));
  p = kernel::fma(p, f, vector<double>(0x1.c6b08d704a0c2p-5));
  p = kernel::fma(p, f, vector<double>(0x1.ebfbdff82c598p-3));
  p = kernel::fma(p, f, vector<double>(0x1.62e42fefa39efp-1));
  return kernel::fma(p, f, vector<double>(1.));
}

// Adds the whole number e, given as e + magic, to the exponent of p.
HEED_INLINE vector<float> scale_exponent(vector<float> p, vector<float> e_plus_magic) {
  using integers = xsimd::batch<std::int32_t, architecture>;
#if XSIMD_VERSION_MAJOR < 9
  const auto e = xsimd::bitwise_cast<integers>(e_plus_magic) << 23;
  return xsimd::bitwise_cast<vector<float>>(integers(xsimd::bitwise_cast<integers>(p) + e));
#else
  const auto e = xsimd::bitwise_cast<std::int32_t>(e_plus_magic) << 23;
  return xsimd::bitwise_cast<float>(integers(xsimd::bitwise_cast<std::int32_t>(p) + e));
#endif
}

HEED_INLINE vector<double> scale_exponent(vector<double> p, vector<double> e_plus_magic) {
  using integers = xsimd::batch<std::int64_t, architecture>;
#if XSIMD_VERSION_MAJOR < 9
  const auto e = xsimd::bitwise_cast<integers>(e_plus_magic) << 52;
  return xsimd::bitwise_cast<vector<double>>(integers(xsimd::bitwise_cast<integers>(p) + e));
#else
  const auto e = xsimd::bitwise_cast<std::int64_t>(e_plus_magic) << 52;
  return xsimd::bitwise_cast<double>(integers(xsimd::bitwise_cast<std::int64_t>(p) + e));
#endif
}

}  // namespace detail

#if defined(__AVX512F__) && defined(__AVX512DQ__)
namespace detail {
// The instruction that scales by a power of two rounds the exponent down: with the fraction counted from there, floats
// need no subtraction. Lanes outside `keep` become 0.
HEED_INLINE vector<float> exp2_scaled(vector<float> x, __mmask16 keep) {
  constexpr int down_quietly = 9;
  return _mm512_maskz_scalef_ps(keep, exp2_fraction_above(_mm512_reduce_ps(x, down_quietly)), x);
}
HEED_INLINE vector<double> exp2_scaled(vector<double> x, __mmask8 keep) {
  constexpr int nearest_quietly = 8;
  const __m512d f = _mm512_reduce_pd(x, nearest_quietly);
  return _mm512_maskz_scalef_pd(keep, exp2_fraction(vector<double>(f)), _mm512_sub_pd(x, f));
}
}  // namespace detail
#endif

// 2^x for x <= 128 (float) or 1024 (double); exactly 1 for 0; NaN for NaN. Results that would be subnormal, and that of
// -infinity, are exactly 0: subnormal weights would slow down every product they enter. Error below 3 ulp (float) and
// 1 ulp (double), 1.2 where fma rounds twice.
template <class T> HEED_INLINE vector<T> exp2_flushed(vector<T> x) {
  const vector<T> smallest(T(std::numeric_limits<T>::min_exponent - 1));
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (sizeof(T) == 4)
    return detail::exp2_scaled(x, _mm512_cmp_ps_mask(x, smallest, _CMP_NLT_UQ));
  else
    return detail::exp2_scaled(x, _mm512_cmp_pd_mask(x, smallest, _CMP_NLT_UQ));
#else
  // Adding 1.5 * 2^(digits-1) rounds to a whole number, which then stands in the low bits.
  const vector<T> magic(sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52));
  const vector<T> shifted = x + magic;
  const vector<T> fraction = x - (shifted - magic);
  // where x is NaN, its low bits would become an exponent
  return select(is_nan(x), x,
                select(x < smallest, zero<T>(), detail::scale_exponent(detail::exp2_fraction(fraction), shifted)));
#endif
}

// The same inside the scope of a subnormals_off, where the hardware does the flushing.
template <class T> HEED_INLINE vector<T> exp2_weight(vector<T> x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  if constexpr (sizeof(T) == 4)
    return detail::exp2_scaled(x, detail::all_lanes_of_16);
  else
    return detail::exp2_scaled(x, detail::all_lanes_of_8);
#else
  return exp2_flushed(x);
#endif
}

}  // namespace HEED_ARCH
}  // namespace heed::kernel

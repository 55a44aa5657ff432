// SPDX-License-Identifier: BSL-1.0
// In: numbers as memory holds them, two bytes each for bf16 and f16.
// Out: those two types, which compute through float, and the type in which each stored type is computed.
// Next: kernel/pack.hpp, which loads and stores many of them at once.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace heed {

/// The upper half of a float: its range, with 8 bits of precision. Stored so, computed as float.
///
///     tensor<bf16, model, head, d_head> w;
///     evaluate_into(w, w_q);          // rounded once
///     auto scores = dot<model>(x, w);  // float
struct bf16 {
  std::uint16_t bits;  ///< as in memory

  bf16() = default;
  /// Rounds to nearest, ties to even; a NaN keeps its sign and becomes quiet.
  constexpr bf16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
  /// The same value: every bf16 is a float.
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

  /// The number with these bits.
  static constexpr bf16 from_bits(std::uint16_t bits) {
    bf16 result{};
    result.bits = bits;
    return result;
  }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t f) {
    // Rounding could carry a NaN into infinity or beyond the sign.
    if ((f & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((f >> 16) | 0x40U);
    return static_cast<std::uint16_t>((f + 0x7fffU + ((f >> 16) & 1U)) >> 16);
  }
};

/// IEEE 754 binary16: 11 bits of precision, up to 65504. Stored so, computed as float.
///
///     tensor<f16, batch, key, head, d_head> stored;
///     evaluate_into(stored, k);
///     auto scores = dot<d_head>(q, stored);  // float
struct f16 {
  std::uint16_t bits;  ///< as in memory

  f16() = default;
  /// Rounds to nearest, ties to even; from 65520 on infinity; a NaN keeps its sign and becomes quiet.
  constexpr f16(float value) : bits(rounded(std::bit_cast<std::uint32_t>(value))) {}
  /// The same value: every f16 is a float.
  constexpr operator float() const {
    const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16;
    const std::uint32_t exponent = (std::uint32_t{bits} >> 10) & 31U;
    const std::uint32_t fraction = std::uint32_t{bits} & 0x3ffU;
    if (exponent == 0) {  // zero or subnormal: a multiple of 2^-24, exact and normal as a float
      const float size = static_cast<float>(fraction) * 0x1p-24F;
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) | sign);
    }
    const std::uint32_t quiet = exponent == 31 && fraction != 0 ? 0x00400000U : 0U;
    const std::uint32_t rebiased = exponent == 31 ? 255U : exponent + 112U;
    return std::bit_cast<float>(sign | (rebiased << 23) | (fraction << 13) | quiet);
  }

  /// The number with these bits.
  static constexpr f16 from_bits(std::uint16_t bits) {
    f16 result{};
    result.bits = bits;
    return result;
  }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t f) {
    const std::uint32_t sign = (f >> 16) & 0x8000U;
    const std::uint32_t size = f & 0x7fffffffU;
    std::uint32_t result = 0;
    if (size > 0x7f800000U) {
      result = 0x7e00U | ((size >> 13) & 0x3ffU);
    } else if (size >= 0x47800000U) {  // 65536 and more, infinity among them
      result = 0x7c00U;
    } else if (size >= 0x38800000U) {  // normal; a carry out of the fraction raises the exponent, up to infinity
      result = (size - 0x38000000U + 0xfffU + ((size >> 13) & 1U)) >> 13;
    } else if (const std::uint32_t drop = 126U - (size >> 23); drop <= 24U) {  // a multiple of 2^-24
      const std::uint32_t fraction = (size & 0x7fffffU) | 0x800000U;
      result = (fraction + (1U << (drop - 1U)) - 1U + ((fraction >> drop) & 1U)) >> drop;
    }
    return static_cast<std::uint16_t>(result | sign);
  }
};

static_assert(sizeof(bf16) == 2 && sizeof(f16) == 2);

namespace detail {

template <class T> struct compute;
template <> struct compute<bf16> { using type = float; };
template <> struct compute<f16> { using type = float; };
template <> struct compute<float> { using type = float; };
template <> struct compute<double> { using type = double; };
template <> struct compute<bool> { using type = bool; };
template <std::integral T> struct compute<T> { using type = std::int64_t; };

// The type in which values stored as T are computed.
template <class T> using compute_t = typename compute<T>::type;

}  // namespace detail

}  // namespace heed

// SPDX-License-Identifier: BSL-1.0
// In: the compiler's flags. Out: HEED_ARCH, the name of the inline namespace that holds everything compiled for an
// instruction set: words, plan and kernels. Data, axes, policies and errors stand outside: they are one type everywhere.
// Next to read: axis.hpp, names.
#pragma once

#if defined(HEED_SINGLE_HEADER)
#error "heed: the single header and another one of heed define everything twice: tools/amalgamate makes one of both"
#endif
#if !defined(__cpp_exceptions)
#error "heed: -fno-exceptions would leave extents that do not fit unsaid: run-time errors are exceptions"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "heed: -ffast-math would let the compiler forget NaN and infinity, which masks and empty rows rest on"
#endif

// One namespace for each set of instructions that the compiler may use: translation units that are compiled with other flags
// can be linked, and share no function that was compiled for one of them. Sets that whole generations of processors have are
// named: sse (every x86-64), avx2 (its third level), avx512 (its fourth), avx512ice (Ice Lake, Zen 4). Another one is named
// after the largest extension in it and what it has beside, as with_avx_fma or avx512_vnni_bf16.
#define HEED_ARCH_SECOND(first, second, ...) second
#define HEED_ARCH_CHOOSE(...) HEED_ARCH_SECOND(__VA_ARGS__)
#define HEED_ARCH_FOUND_1 ~,
#define HEED_ARCH_WORD_OF(flag, word) HEED_ARCH_CHOOSE(HEED_ARCH_FOUND_##flag word, , ~)
#define HEED_ARCH_WORD(flag, word) HEED_ARCH_WORD_OF(flag, word)  // the word, if the flag is 1; nothing, if undefined
#define HEED_ARCH_JOIN_OF(a, b) a##b
#define HEED_ARCH_JOIN(a, b) HEED_ARCH_JOIN_OF(a, b)
#define HEED_ARCH_WITH(name, flag, word) HEED_ARCH_JOIN(name, HEED_ARCH_WORD(flag, word))

#if defined(__SSE2__)

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__BMI__) && defined(__BMI2__) && \
    defined(__LZCNT__)
#if defined(__AVX512F__) && defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
#if defined(__AVX512VNNI__) && defined(__AVX512IFMA__) && defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) && \
    defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__) && defined(__GFNI__)
#define HEED_ARCH_X avx512ice
#else
#define HEED_ARCH_LEVEL avx512
#endif
#elif !defined(__AVX512F__)
#define HEED_ARCH_LEVEL avx2
#endif
#endif

#if !defined(HEED_ARCH_X)
#if !defined(HEED_ARCH_LEVEL)
#if defined(__AVX512F__)
#define HEED_ARCH_LARGEST with_avx512f
#elif defined(__AVX2__)
#define HEED_ARCH_LARGEST with_avx2
#elif defined(__AVX__)
#define HEED_ARCH_LARGEST with_avx
#elif defined(__SSE4_2__)
#define HEED_ARCH_LARGEST with_sse42
#elif defined(__SSE4_1__)
#define HEED_ARCH_LARGEST with_sse41
#elif defined(__SSSE3__)
#define HEED_ARCH_LARGEST with_ssse3
#elif defined(__SSE3__)
#define HEED_ARCH_LARGEST with_sse3
#else
#define HEED_ARCH_LARGEST sse
#endif
#define HEED_ARCH_A HEED_ARCH_WITH(HEED_ARCH_LARGEST, __POPCNT__, _popcnt)
#define HEED_ARCH_B HEED_ARCH_WITH(HEED_ARCH_A, __LZCNT__, _lzcnt)
#define HEED_ARCH_C HEED_ARCH_WITH(HEED_ARCH_B, __BMI__, _bmi)
#define HEED_ARCH_D HEED_ARCH_WITH(HEED_ARCH_C, __BMI2__, _bmi2)
#define HEED_ARCH_E HEED_ARCH_WITH(HEED_ARCH_D, __F16C__, _f16c)
#define HEED_ARCH_F HEED_ARCH_WITH(HEED_ARCH_E, __FMA__, _fma)
#define HEED_ARCH_G HEED_ARCH_WITH(HEED_ARCH_F, __AVX512CD__, _cd)
#define HEED_ARCH_H HEED_ARCH_WITH(HEED_ARCH_G, __AVX512BW__, _bw)
#define HEED_ARCH_I HEED_ARCH_WITH(HEED_ARCH_H, __AVX512DQ__, _dq)
#define HEED_ARCH_LEVEL HEED_ARCH_WITH(HEED_ARCH_I, __AVX512VL__, _vl)
#endif
#define HEED_ARCH_Q HEED_ARCH_WITH(HEED_ARCH_LEVEL, __AVX512VNNI__, _vnni)
#define HEED_ARCH_R HEED_ARCH_WITH(HEED_ARCH_Q, __AVX512IFMA__, _ifma)
#define HEED_ARCH_S HEED_ARCH_WITH(HEED_ARCH_R, __AVX512VBMI__, _vbmi)
#define HEED_ARCH_T HEED_ARCH_WITH(HEED_ARCH_S, __AVX512VBMI2__, _vbmi2)
#define HEED_ARCH_U HEED_ARCH_WITH(HEED_ARCH_T, __AVX512BITALG__, _bitalg)
#define HEED_ARCH_V HEED_ARCH_WITH(HEED_ARCH_U, __AVX512VPOPCNTDQ__, _vpopcntdq)
#define HEED_ARCH_X HEED_ARCH_WITH(HEED_ARCH_V, __GFNI__, _gfni)
#endif
#define HEED_ARCH_Y HEED_ARCH_WITH(HEED_ARCH_X, __AVXVNNI__, _avxvnni)
#define HEED_ARCH_Z HEED_ARCH_WITH(HEED_ARCH_Y, __AVX512BF16__, _bf16)
#define HEED_ARCH_XA HEED_ARCH_WITH(HEED_ARCH_Z, __AVX512FP16__, _fp16)
#define HEED_ARCH_XB HEED_ARCH_WITH(HEED_ARCH_XA, __FMA4__, _fma4)  // these three: of AMD's Bulldozer and its heirs
#define HEED_ARCH_XC HEED_ARCH_WITH(HEED_ARCH_XB, __XOP__, _xop)
#define HEED_ARCH HEED_ARCH_WITH(HEED_ARCH_XC, __TBM__, _tbm)

#elif defined(__ARM_NEON)

#if defined(__aarch64__)
#define HEED_ARCH_LEVEL neon64
#else
#define HEED_ARCH_LEVEL neon
#endif
#define HEED_ARCH_A HEED_ARCH_WITH(HEED_ARCH_LEVEL, __ARM_FEATURE_FP16_VECTOR_ARITHMETIC, _fp16)
#define HEED_ARCH_B HEED_ARCH_WITH(HEED_ARCH_A, __ARM_FEATURE_DOTPROD, _dotprod)
#define HEED_ARCH_C HEED_ARCH_WITH(HEED_ARCH_B, __ARM_FEATURE_ATOMICS, _lse)
#define HEED_ARCH_D HEED_ARCH_WITH(HEED_ARCH_C, __ARM_FEATURE_SVE, _sve)
#define HEED_ARCH HEED_ARCH_WITH(HEED_ARCH_D, __ARM_FEATURE_SVE2, _sve2)

#else
#define HEED_ARCH generic
#endif

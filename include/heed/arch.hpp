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

// One namespace for each set of instructions: translation units that are compiled with other flags can be linked, and share
// no function that was compiled for one of them.
#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define HEED_ARCH avx512
#elif defined(__AVX512F__)
#define HEED_ARCH avx512f
#elif defined(__AVX2__) && defined(__FMA__)
#define HEED_ARCH avx2
#elif defined(__AVX__)
#define HEED_ARCH avx
#elif defined(__SSE2__)
#define HEED_ARCH sse
#elif defined(__aarch64__)
#define HEED_ARCH neon64
#elif defined(__ARM_NEON)
#define HEED_ARCH neon
#else
#define HEED_ARCH generic
#endif

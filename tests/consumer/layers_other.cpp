// SPDX-License-Identifier: BSL-1.0
//
// The second unit of layers.cpp: what all these headers define, they must define only once.
#if __has_include(<heed_single.hpp>)
#include <heed_single.hpp>
#else
#include <heed/interop/mdspan.hpp>
#include <heed/io/npy.hpp>
#include <heed/io/print.hpp>
#include <heed/nn.hpp>
#endif

struct query : heed::axis<> {};
struct d_head : heed::axis<4> {};

float other_unit() { return 6.f; }
std::string as_text(heed::view<float const, query, d_head> x) { return heed::io::printed(x); }

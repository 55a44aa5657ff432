// SPDX-License-Identifier: BSL-1.0
// In: pictures, by row and column. Out: softmax attention whose variants differ in which part of a picture a position
// sees: windows, shifted windows, its row, its neighbourhood; or a few vectors that see all of it.
// Next: decode.cpp.
#include "variant.hpp"

namespace test::variants {
namespace {

struct image_row : axis<> {};
struct image_column : axis<> {};
struct window_row : axis<> {};
struct window_column : axis<> {};
struct row_in : axis<> {};
struct column_in : axis<> {};
struct key_row : axis<> {};
struct key_column : axis<> {};
struct latent : axis<> {};
struct offset : axis<> {};

/// Where a key lies from a query within windows of 5 x 5, as a number from 0 to 80.
auto offset_in_window() {
  return (index<row_in>() - index<key_row>() + 4) * 9 + (index<column_in>() - index<key_column>() + 4);
}

/// Swin windows: attention within windows of 5 x 5, with a learned bias by the offset between positions.
/// Source: Liu et al. 2021, Swin Transformer: Hierarchical Vision Transformer using Shifted Windows.
auto swin_windows(const auto& q, const auto& k, const auto& v, const auto& bias) {
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0) + take<offset>(bias, offset_in_window());
  return dot<key_row, key_column>(softmax<key_row, key_column>(scores), v);
}

/// Swin windows, shifted: of a picture rolled by 2, whose windows at the end hold parts that do not see each other.
/// Source: Liu et al. 2021, Swin Transformer: Hierarchical Vision Transformer using Shifted Windows.
auto swin_shifted_windows(const auto& q, const auto& k, const auto& v, const auto& bias, const auto& part) {
  const auto same = part == rename<column_in, key_column>(rename<row_in, key_row>(part));
  const auto scores = dot<d_head>(q, k) / std::sqrt(16.0) + take<offset>(bias, offset_in_window());
  return dot<key_row, key_column>(softmax<key_row, key_column>(where(same, scores)), v);
}

/// Axial attention: a position sees its own row.
/// Source: Ho, Kalchbrenner, Weissenborn, Salimans 2019, Axial Attention in Multidimensional Transformers.
auto axial_attention(const auto& q, const auto& k, const auto& v) {
  return dot<key_column>(softmax<key_column>(dot<d_head>(q, k) / std::sqrt(16.0)), v);
}

/// Neighbourhood attention: the 5 x 5 positions around a position, around the nearest one that has so many at borders.
/// Source: Hassani, Walton, Li, Li, Shi 2023, Neighborhood Attention Transformer.
auto neighbourhood(const auto& q, const auto& k, const auto& v, extent_t rows, extent_t columns) {
  const auto down = index<key_row>() - min(max(index<image_row>(), 2), rows - 3);
  const auto near = abs(down) <= 2 && abs(index<key_column>() - min(max(index<image_column>(), 2), columns - 3)) <= 2;
  return dot<key_row, key_column>(softmax<key_row, key_column>(where(near, dot<d_head>(q, k) / std::sqrt(16.0))), v);
}

/// Perceiver: a few learned vectors attend to the whole input, however long it is.
/// Source: Jaegle et al. 2021, Perceiver: General Perception with Iterative Attention.
auto perceiver_latents(const auto& latents, const auto& x, const auto& w_q, const auto& w_k, const auto& w_v) {
  const auto scores = dot<d_head>(dot<model>(latents, w_q), dot<model>(x, w_k)) / std::sqrt(16.0);
  return dot<key>(softmax<key>(scores), dot<model>(x, w_v));
}

/// A picture [image_row, image_column, head, d_head] in windows of 5 x 5.
auto in_windows(const auto& picture) {
  return split<image_column, window_column, column_in>(split<image_row, window_row, row_in>(picture, row_in{5}),
                                                       column_in{5});
}
auto as_keys(const auto& windows) { return rename<column_in, key_column>(rename<row_in, key_row>(windows)); }

auto picture(std::uint32_t seed, std::ptrdiff_t rows, std::ptrdiff_t columns) {
  return input<image_row, image_column, head, d_head>(seed, image_row{rows}, image_column{columns}, head{2},
                                                      d_head{16});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(variants_vision)

BOOST_AUTO_TEST_CASE(swin_windows_streams) {
  check_variant("swin_windows", [](int scale) {
    const auto q = picture(1, 10 * scale, 15), k = picture(2, 10 * scale, 15), v = picture(3, 10 * scale, 15);
    return swin_windows(in_windows(q), as_keys(in_windows(k)), rename<d_head, d_value>(as_keys(in_windows(v))),
                        input<offset, head>(4, offset{81}, head{2}));
  });
}

BOOST_AUTO_TEST_CASE(swin_shifted_windows_streams) {
  check_variant("swin_shifted_windows", [](int scale) {
    const auto shifted = [&](std::uint32_t seed) {
      return evaluate(roll<image_column>(roll<image_row>(picture(seed, 10 * scale, 15), -2), -2));
    };
    const auto q = shifted(1), k = shifted(2), v = shifted(3);
    tensor<std::int32_t, image_row, image_column> part{image_row{10 * scale}, image_column{15}};
    const auto third = [](std::ptrdiff_t at, std::ptrdiff_t length) { return (at >= length - 5) + (at >= length - 2); };
    for (std::ptrdiff_t i = 0; i < 10 * scale; ++i)
      for (std::ptrdiff_t j = 0; j < 15; ++j) part(i, j) = 3 * third(i, 10 * scale) + third(j, 15);
    return swin_shifted_windows(in_windows(q), as_keys(in_windows(k)), rename<d_head, d_value>(as_keys(in_windows(v))),
                                input<offset, head>(4, offset{81}, head{2}), in_windows(part));
  });
}

BOOST_AUTO_TEST_CASE(axial_attention_streams) {
  check_variant("axial_attention", [](int scale) {
    const auto q = picture(1, 3, 101 * scale), k = picture(2, 3, 101 * scale), v = picture(3, 3, 101 * scale);
    return axial_attention(q, rename<image_column, key_column>(k),
                           rename<d_head, d_value>(rename<image_column, key_column>(v)));
  });
}

BOOST_AUTO_TEST_CASE(neighbourhood_streams) {
  check_variant("neighbourhood", [](int scale) {
    const auto q = picture(1, 11 * scale, 13), k = picture(2, 11 * scale, 13), v = picture(3, 11 * scale, 13);
    const auto keys = [](const auto& x) { return rename<image_column, key_column>(rename<image_row, key_row>(x)); };
    return neighbourhood(q, keys(k), rename<d_head, d_value>(keys(v)), 11 * scale, 13);
  });
}

BOOST_AUTO_TEST_CASE(perceiver_latents_streams) {
  check_variant("perceiver_latents", [](int scale) {
    return perceiver_latents(input<latent, model>(1, latent{7}, model{24}),
                             input<key, model>(2, key{203 * scale}, model{24}),
                             weight<model, head, d_head>(3, model{24}, head{2}, d_head{16}),
                             weight<model, head, d_head>(4, model{24}, head{2}, d_head{16}),
                             weight<model, head, d_value>(5, model{24}, head{2}, d_value{5}));
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace test::variants

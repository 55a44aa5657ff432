// SPDX-License-Identifier: BSL-1.0
// In: calls that no layer takes: parameters before the input, an axis too few, three inputs as in other libraries. Out: how the
// layer is called, in one sentence.
// Next to read: nothing; ../nn.hpp lists the layers.
#pragma once

#include "../ops/calls.hpp"
#include "decoder.hpp"

namespace heed {
namespace detail {
inline namespace HEED_ARCH {
namespace calls {
struct multi_head_attention {
  static constexpr std::string_view name = "multi_head_attention",
                                    call =
                                        "multi_head_attention<query, key>(x, parameters, mask, positions) or "
                                        "multi_head_attention<key>(x, memory, parameters, mask)";
};
struct grouped_query_attention {
  static constexpr std::string_view name = "grouped_query_attention",
                                    call = "grouped_query_attention<query, key>(x, parameters, mask, positions)";
};
struct attend {
  static constexpr std::string_view name = "attend", call = "attend<key, d_head>(q, k, v, mask)";
};
struct feed_forward {
  static constexpr std::string_view name = "feed_forward", call = "feed_forward(x, parameters, activation)";
};
struct gated_feed_forward {
  static constexpr std::string_view name = "gated_feed_forward", call = "gated_feed_forward(x, parameters, activation)";
};
struct encoder_layer {
  static constexpr std::string_view
      name = "encoder_layer",
      call = "encoder_layer<query, key>(nn::pre_norm, x, parameters, activation, mask, positions)";
};
struct decoder_layer {
  static constexpr std::string_view
      name = "decoder_layer",
      call = "decoder_layer<query, key, memory_key>(nn::pre_norm, x, memory, parameters, activation, mask, positions)";
};
}  // namespace calls
}  // namespace HEED_ARCH
}  // namespace detail

namespace nn {
inline namespace HEED_ARCH {

/// @private
template <class... A>
auto multi_head_attention(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
                          detail::anything = {}) {
  HEED_REFUSE(
      "multi_head_attention: it is called with expressions, as in multi_head_attention<query, key>(x, parameters, "
      "mask, positions) or multi_head_attention<key>(x, memory, parameters, mask)",
      detail::mistakes::word_is_called_otherwise<detail::calls::multi_head_attention, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto grouped_query_attention(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
                             detail::anything = {}) {
  HEED_REFUSE(
      "grouped_query_attention: it is called with expressions, as in grouped_query_attention<query, key>(x, "
      "parameters, mask, positions)",
      detail::mistakes::word_is_called_otherwise<detail::calls::grouped_query_attention, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto attend(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("attend: it is called with expressions, as in attend<key, d_head>(q, k, v, mask)",
              detail::mistakes::word_is_called_otherwise<detail::calls::attend, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto feed_forward(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("feed_forward: it is called with expressions, as in feed_forward(x, parameters, activation)",
              detail::mistakes::word_is_called_otherwise<detail::calls::feed_forward, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto gated_feed_forward(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE("gated_feed_forward: it is called with expressions, as in gated_feed_forward(x, parameters, activation)",
              detail::mistakes::word_is_called_otherwise<detail::calls::gated_feed_forward, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto encoder_layer(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
                   detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE(
      "encoder_layer: it is called with expressions, as in encoder_layer<query, key>(nn::pre_norm, x, parameters, "
      "activation, "
      "mask, positions)",
      detail::mistakes::word_is_called_otherwise<detail::calls::encoder_layer, axes<A...>>);
  return detail::poison{};
}
/// @private
template <class... A>
auto decoder_layer(detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {},
                   detail::anything = {}, detail::anything = {}, detail::anything = {}) {
  HEED_REFUSE(
      "decoder_layer: it is called with expressions, as in decoder_layer<query, key, memory_key>(nn::pre_norm, x, "
      "memory, "
      "parameters, activation, mask, positions)",
      detail::mistakes::word_is_called_otherwise<detail::calls::decoder_layer, axes<A...>>);
  return detail::poison{};
}

}  // namespace HEED_ARCH
}  // namespace nn
}  // namespace heed

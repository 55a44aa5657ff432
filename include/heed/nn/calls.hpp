// SPDX-License-Identifier: BSL-1.0
// In: calls that no layer takes: parameters before the input, an axis too few, three inputs as in other libraries. Out: how the
// layer is called, in one sentence.
// Next to read: nothing; ../nn.hpp lists the layers.
#pragma once

#include "../ops/calls.hpp"
#include "decoder.hpp"

// clang-format off
HEED_CALL(heed::nn, multi_head_attention, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "multi_head_attention<query, key>(x, parameters, mask, positions) or multi_head_attention<key>(x, memory, parameters, mask)")
HEED_CALL(heed::nn, grouped_query_attention, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "grouped_query_attention<query, key>(x, parameters, mask, positions)")
HEED_CALL(heed::nn, attend, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "attend<key, d_head>(q, k, v, mask)")
HEED_CALL(heed::nn, feed_forward, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "feed_forward(x, parameters, activation)")
HEED_CALL(heed::nn, gated_feed_forward, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}), "gated_feed_forward(x, parameters, activation)")
HEED_CALL(heed::nn, encoder_layer, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "encoder_layer<query, key>(nn::pre_norm, x, parameters, activation, mask, positions)")
HEED_CALL(heed::nn, decoder_layer, (detail::anything, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}, detail::anything = {}), "decoder_layer<query, key, memory_key>(nn::pre_norm, x, memory, parameters, activation, mask, positions)")
// clang-format on

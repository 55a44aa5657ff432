// SPDX-License-Identifier: BSL-1.0
// In: heed's words. Out: heed::nn, the usual layers as functions that return expressions, and structs of tensors with
// named axes for their parameters. heed.hpp does not include this.
// Next to read: nn/attention.hpp; examples/encoder.cpp uses it.
#pragma once

// clang-format off
#include "nn/parameters.hpp"         // what parameter structs are made of; counts of parameters and operations
#include "nn/choices.hpp"            // activations, masks, positions
#include "nn/norm.hpp"               // norms, residual connections
#include "nn/feed_forward.hpp"       // feed_forward, gated_feed_forward
#include "nn/attend.hpp"             // attention by parts, projections
#include "nn/attention.hpp"          // multi_head_attention, of a sequence to itself or to another
#include "nn/attention_cache.hpp"    // attention to what came before
#include "nn/grouped_attention.hpp"  // grouped_query_attention
#include "nn/encoder.hpp"            // encoder_layer
#include "nn/decoder.hpp"            // decoder_layer, with a memory or a cache
#include "nn/calls.hpp"              // calls that no layer takes
// clang-format on

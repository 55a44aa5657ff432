// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of the layers in nn/. Out: one error each, though the formula inside would fail in several places.
// Next: tensor.cpp, the first of them.
// page: nn: layers
#include <heed/nn.hpp>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct head : axis<8> {};
struct heads : axis<> {};
struct d_head : axis<64> {};
struct hidden : axis<2048> {};
struct narrow : axis<512> {};
template <int D> struct model : axis<D> {};

using attention = nn::attention_parameters<float, model<512>, head, d_head>;
using feed_forward = nn::feed_forward_parameters<float, model<512>, hidden>;
using norm = nn::layer_norm_parameters<float, model<512>>;
using layer = nn::encoder_layer_parameters<attention, feed_forward, norm>;

}  // namespace

int main() {
  const tensor<float, query, model<512>> x{query{5}}, memory{query{7}};
  const attention p;
  const layer whole;

  {
    // mistake 1: An input of another model
    // why: Said by the layer, though its norm and six products would fail too.
    // says: encoder_layer over axis model<512>: the input has no such axis, it has (query, model<256>); the first
    // parameter has (model<512>); model is 512 in the parameters and 256 in the input
    // literal: layer: the input has no such axis (a forgotten rename?)
#if HEED_MISTAKE == 1
    const tensor<float, query, model<256>> input{query{5}};
#else
    const tensor<float, query, model<512>> input{query{5}};
#endif
    const auto y = nn::encoder_layer<query, key>(nn::pre_norm, input, whole);
  }
  {
    // mistake 2: Parts of two models
    // says: encoder_layer: the attention goes over axis model<512>, the feed_forward over model<256>; model is
    // 512 in attention and 256 in feed_forward
    // literal: layer: the parts go over different model axes
#if HEED_MISTAKE == 2
    using inner = nn::feed_forward_parameters<float, model<256>, hidden>;
#else
    using inner = nn::feed_forward_parameters<float, model<512>, hidden>;
#endif
    const nn::encoder_layer_parameters<attention, inner, norm> parts;
    const auto y = nn::encoder_layer<query, key>(nn::post_norm, x, parts);
  }
  {
    // mistake 3: An extent of the parameters is forgotten
    // says: attention: each axis whose extent is known at run time needs it by name, once: given (batch),
    // wanted (heads)
    // literal: parameters: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 3
    const nn::attention_parameters<float, model<512>, heads, d_head> weights{batch{1}};
#else
    const nn::attention_parameters<float, model<512>, heads, d_head> weights{heads{8}};
#endif
  }
  {
    // mistake 4: One tag in two roles
    // why: A network that is as wide inside as outside still has two axes.
    // says: feed_forward: an axis occurs twice in the parameter with axes (narrow, narrow) (two roles take two
    // tags)
    // literal: an axis occurs twice in a parameter
    const tensor<float, query, narrow> input{query{5}};
#if HEED_MISTAKE == 4
    const nn::biased_feed_forward_parameters<float, narrow, narrow> square;
#else
    const nn::biased_feed_forward_parameters<float, narrow, model<512>> square;
#endif
    const auto y = nn::feed_forward(input, square);
  }
  {
    // mistake 5: A memory whose positions are called queries
    // says: attention over axis key: the input has no such axis, it has (query, model<512>); the first
    // parameter has (model<512>, head, d_head) (a forgotten rename<query, key>?)
    // literal: layer: the input has no such axis (a forgotten rename?)
#if HEED_MISTAKE == 5
    const auto y = nn::multi_head_attention<key>(x, memory, p);
#else
    const auto y = nn::multi_head_attention<key>(x, rename<query, key>(memory), p);
#endif
  }
  {
    // mistake 6: The same for a memory that is projected already
    // says: attention over axis key: the operand has no such axis, it has (query, head) (a forgotten
    // rename<query, key>?)
    // literal: attention: the scores have no such axis (a forgotten rename?)
#if HEED_MISTAKE == 6
    const auto projected = nn::project_memory(memory, p);
#else
    const auto projected = nn::project_memory(rename<query, key>(memory), p);
#endif
    const auto y = nn::multi_head_attention<key>(x, projected, p);
  }
  {
    // mistake 7: Queries and keys by one name
    // says: attention: queries and keys are both called query (a forgotten rename: keys take a tag of their
    // own)
    // literal: layer: queries and keys are one axis (a forgotten rename?)
#if HEED_MISTAKE == 7
    const auto y = nn::multi_head_attention<query, query>(x, p);
#else
    const auto y = nn::multi_head_attention<query, key>(x, p);
#endif
  }
  {
    // mistake 8: Query and key swapped in the mask
    // why: The mask would be that of the transposed scores: each position sees what comes after it.
    // says: attention: the mask calls the keys query, the layer key (query and key swapped? causal_mask<query,
    // key>)
    // literal: attention: the mask is over other keys (query and key swapped?)
#if HEED_MISTAKE == 8
    const auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<key, query>{});
#else
    const auto y = nn::multi_head_attention<query, key>(x, p, nn::causal_mask<query, key>{});
#endif
  }
  {
    // mistake 9: A condition where the mask is a function
    // says: nn: a function of an expression is needed (a mask, an activation, positions), not an expression
    // with axes (key, query) (for a condition say nn::keep(...))
    // literal: nn: a function of an expression is needed (for a condition say nn::keep(...))
#if HEED_MISTAKE == 9
    const auto y = nn::multi_head_attention<query, key>(x, p, causal<query, key>());
#else
    const auto y = nn::multi_head_attention<query, key>(x, p, nn::keep(causal<query, key>()));
#endif
  }
  {
    // mistake 10: Values of another type than the parameters
    // says: attention: left is double and right is float (say cast<double>(...) or cast<float>(...))
    // literal: layer: the value types of the input and the parameters differ (say cast)
    const tensor<double, query, model<512>> exact{query{5}};
#if HEED_MISTAKE == 10
    const auto y = nn::multi_head_attention<query, key>(exact, p);
#else
    const auto y = nn::multi_head_attention<query, key>(cast<float>(exact), p);
#endif
  }
  {
    // mistake 11: The parameters of another layer
    // says: feed_forward: it does not take parameters of type gated_feed_forward_parameters
    // literal: layer: the parameters are of another layer
    const nn::gated_feed_forward_parameters<float, model<512>, hidden> gated;
#if HEED_MISTAKE == 11
    const auto y = nn::feed_forward(x, gated);
#else
    const auto y = nn::gated_feed_forward(x, gated);
#endif
  }
  {
    // mistake 12: A layer that does not say where its norms stand
    // says: encoder_layer: say first where the norms stand: nn::pre_norm or nn::post_norm
    // literal: layer: say first where the norms stand: nn::pre_norm or nn::post_norm
#if HEED_MISTAKE == 12
    const auto y = nn::encoder_layer<query, key>(x, whole);
#else
    const auto y = nn::encoder_layer<query, key>(nn::pre_norm, x, whole);
#endif
  }
  {
    // mistake 13: A cache without the batch of the input
    // says: append: an expression with axes (batch, key, head, d_head) does not fit a cache with axes (head, key, d_head): the
    // cache lacks (batch)
    // literal: append: the expression does not fit the cache (a forgotten rename?)
    const tensor<float, batch, query, model<512>> several{batch{2}, query{1}};
#if HEED_MISTAKE == 13
    nn::attention_cache<float, attention, key> cache{key{9}};
#else
    nn::attention_cache<float, attention, key, batch> cache{key{9}, batch{2}};
#endif
    const auto y = nn::multi_head_attention<query, key>(several, p, cache);
  }
  {
    // mistake 14: A cache without a capacity
    // says: attention_cache: each axis whose extent is known at run time needs it by name, once: given
    // (batch), wanted (key, batch)
    // literal: parameters: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 14
    nn::attention_cache<float, attention, key, batch> cache{batch{2}};
#else
    nn::attention_cache<float, attention, key, batch> cache{key{9}, batch{2}};
#endif
  }
  {
    // mistake 15: The parameters before the input
    // says: multi_head_attention: it is called with expressions, as in multi_head_attention<query, key>(x, parameters, mask, positions) or multi_head_attention<key>(x, memory, parameters, mask); here the axes are (query, key)
    // literal: multi_head_attention: it is called with expressions, as in multi_head_attention<query, key>(x, parameters, mask, positions) or multi_head_attention<key>(x, memory, parameters, mask)
#if HEED_MISTAKE == 15
    const auto y = nn::multi_head_attention<query, key>(p, x);
#else
    const auto y = nn::multi_head_attention<query, key>(x, p);
#endif
  }
  {
    // mistake 16: Queries, keys and values as three inputs
    // why: The projections are in the parameters. What is attended to, if it is something else, is the memory.
    // says: attention: it does not take parameters of type tensor (x stands once: the parameters make queries,
    // keys and values of it)
    // literal: layer: the parameters are of another layer
#if HEED_MISTAKE == 16
    const auto y = nn::multi_head_attention<query, key>(x, x, x, p);
#else
    const auto y = nn::multi_head_attention<query, key>(x, p);
#endif
  }
  {
    // mistake 17: norm_first=True
    // says: encoder_layer: it is called with expressions, as in encoder_layer<query, key>(nn::pre_norm, x,
    // parameters, activation, mask, positions); here the axes are (query, key)
    // literal: encoder_layer: it is called with expressions, as in encoder_layer<query, key>(nn::pre_norm, x,
    // parameters, activation, mask, positions)
#if HEED_MISTAKE == 17
    const auto y = nn::encoder_layer<query, key>(true, x, whole);
#else
    const auto y = nn::encoder_layer<query, key>(nn::pre_norm, x, whole);
#endif
  }
  {
    // mistake 18: A mask that returns a condition
    // says: attention: the mask gives values of type bool, not scores: say where(keep, scores)
    // literal: attention: the mask gives no scores: say where(keep, scores)
#if HEED_MISTAKE == 18
    const auto near = [](const auto&) { return window<query, key>(3); };
#else
    const auto near = [](const auto& scores) { return where(window<query, key>(3), scores); };
#endif
    const auto y = nn::multi_head_attention<query, key>(x, p, near);
  }
  {
    // mistake 19: A mask that returns nothing
    // says: attention: the mask returns nothing (a forgotten return?)
    // literal: attention: the mask returns nothing (a forgotten return?)
#if HEED_MISTAKE == 19
    const auto near = [](const auto& scores) { where(window<query, key>(3), scores); };
#else
    const auto near = [](const auto& scores) { return where(window<query, key>(3), scores); };
#endif
    const auto y = nn::multi_head_attention<query, key>(x, p, near);
  }
  {
    // mistake 20: Query and key swapped in the call
    // says: attention: its first axis is that of the queries, key, but the input has (query, model<512>) (query
    // and key swapped?)
    // literal: layer: the first axis named is that of the queries (query and key swapped?)
#if HEED_MISTAKE == 20
    const auto y = nn::multi_head_attention<key, query>(x, p);
#else
    const auto y = nn::multi_head_attention<query, key>(x, p);
#endif
  }
  {
    // mistake 21: One weight packed like a layer
    // why: Which axes will be contracted is known of a layer's parameters. Of a tensor it is said.
    // says: packed: the parameters of a layer are needed, not tensor (of one weight say heed::packed<A...>(w))
    // literal: packed: the parameters of a layer are needed (of one weight say heed::packed<A...>(w))
#if HEED_MISTAKE == 21
    const auto ready = nn::packed(p.w_q);
#else
    const auto ready = heed::packed<model<512>>(p.w_q);
#endif
  }
}

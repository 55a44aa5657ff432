// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of dot. Out: one error each.
// Next: elementwise.cpp.
// page: dot
#include <heed/heed.hpp>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct head : axis<8> {};
struct d_head : axis<64> {};
struct d_value : axis<64> {};
template <int D> struct model : axis<D> {};

}  // namespace

int main() {
  const tensor<float, batch, query, model<768>> x{batch{2}, query{5}};
  const tensor<float, model<768>, head, d_head> w_q;
  const tensor<float, batch, query, head, d_head> q{batch{2}, query{5}};
  const tensor<float, batch, key, head, d_head> k{batch{2}, key{7}};
  const tensor<float, batch, key, head, d_value> v{batch{2}, key{7}};
  const auto weights = softmax<key>(dot<d_head>(q, k));

  {
    // mistake 1: The weight of another model
    // why: Two sizes of one name are two axes.
    // says: dot over axis model<768>: the right operand has no such axis, it has (model<512>, head, d_head);
    // the left operand has (batch, query, model<768>); model is 768 in the left operand and 512 in the right
    // operand
    // literal: dot: the right operand has no such axis
#if HEED_MISTAKE == 1
    const tensor<float, model<512>, head, d_head> w;
#else
    const tensor<float, model<768>, head, d_head> w;
#endif
    const auto y = dot<model<768>>(x, w);
  }
  {
    // mistake 2: Keys where the weight belongs
    // why: The right operand has nothing to contract.
    // says: dot over axis model<768>: the right operand has no such axis, it has (batch, key, head, d_head);
    // the left operand has (batch, query, model<768>)
    // literal: dot: the right operand has no such axis
#if HEED_MISTAKE == 2
    const auto y = dot<model<768>>(x, k);
#else
    const auto y = dot<model<768>>(x, w_q);
#endif
  }
  {
    // mistake 3: Queries where the weights of the keys belong
    // why: The context sums over keys: its left operand is what softmax made, not q.
    // says: dot over axis key: the left operand has no such axis, it has (batch, query, head, d_head); the
    // right operand has (batch, key, head, d_value) (a forgotten rename of batch or query to key?)
    // literal: dot: the left operand has no such axis
#if HEED_MISTAKE == 3
    const auto context = dot<key>(q, v);
#else
    const auto context = dot<key>(weights, v);
#endif
  }
  {
    // mistake 4: The values still carry the name of the queries
    // why: In self-attention one sequence plays two roles; what is attended to is renamed.
    // says: dot over axis key: the right operand has no such axis, it has (batch, query, head, d_head); the
    // left operand has (batch, query, head, key) (a forgotten rename of batch or query to key?)
    // literal: dot: the right operand has no such axis
#if HEED_MISTAKE == 4
    const auto context = dot<key>(weights, q);
#else
    const auto context = dot<key>(weights, rename<query, key>(q));
#endif
  }
  {
    // mistake 5: Keys passed as values
    // why: If values have a tag of their own width, the output weight, which has it too, refuses the keys.
    // says: dot over axis d_value: the left operand has no such axis, it has (batch, query, head, d_head); the
    // right operand has (head, d_value, model<768>) (a forgotten rename<d_head, d_value>?)
    // literal: dot: the left operand has no such axis
    const tensor<float, head, d_value, model<768>> w_o;
#if HEED_MISTAKE == 5
    const auto y = dot<head, d_value>(dot<key>(weights, k), w_o);
#else
    const auto y = dot<head, d_value>(dot<key>(weights, v), w_o);
#endif
  }
  {
    // mistake 6: No axis named
    // why: Not the last axis, not the shared ones: what is summed over is said.
    // says: dot: name the axes, as in dot<key>(x, y): they have no numbers
    // literal: name the axes: at least one, each a struct that derives from heed::axis, none twice
#if HEED_MISTAKE == 6
    const auto scores = dot(q, k);
#else
    const auto scores = dot<d_head>(q, k);
#endif
  }
  {
    // mistake 7: An axis named twice
    // says: dot: an axis is named twice in (d_head, d_head)
    // literal: name the axes: at least one, each a struct that derives from heed::axis, none twice
#if HEED_MISTAKE == 7
    const auto scores = dot<d_head, d_head>(q, k);
#else
    const auto scores = dot<d_head>(q, k);
#endif
  }
  {
    // mistake 8: A number as an operand
    // says: dot: both operands are expressions, not float (a number is multiplied by *, of a cache say view())
    // literal: dot: both operands are expressions (a number is multiplied by *, of a cache say view())
#if HEED_MISTAKE == 8
    const auto scaled = dot<d_head>(q, 0.125F);
#else
    const auto scaled = q * 0.125F;
#endif
  }
  {
    // mistake 9: Whole numbers
    // why: Contractions are of real values.
    // says: dot: values of type int do not serve here (say cast<...>(...))
    // literal: dot: real values are needed (say cast)
    const tensor<int, query, key> counts{query{5}, key{7}};
#if HEED_MISTAKE == 9
    const auto y = dot<key>(counts, v);
#else
    const auto y = dot<key>(cast<float>(counts), v);
#endif
  }
  {
    // mistake 10: float with double
    // why: Which of the two is meant to lose or to gain digits is said by a cast.
    // says: dot: left is double and right is float (say cast<double>(...) or cast<float>(...))
    // literal: dot: the value types of the operands differ (say cast)
    const tensor<double, query, key> exact{query{5}, key{7}};
#if HEED_MISTAKE == 10
    const auto y = dot<key>(exact, v);
#else
    const auto y = dot<key>(cast<float>(exact), v);
#endif
  }
  {
    // mistake 11: A cache as an operand
    // why: What is filled of a cache is view(), an expression.
    // says: dot: both operands are expressions, not kv_cache (a number is multiplied by *, of a cache say
    // view())
    // literal: dot: both operands are expressions (a number is multiplied by *, of a cache say view())
    const kv_cache<float, key, batch, head, d_head> cache{key{9}, batch{2}};
#if HEED_MISTAKE == 11
    const auto scores = dot<d_head>(q, cache);
#else
    const auto scores = dot<d_head>(q, cache.view());
#endif
  }
  {
    // mistake 12: A weight is packed for an axis that it lacks
    // says: packed over axis model<512>: the operand has no such axis, it has (model<768>, head, d_head)
    // (another size: model<768>)
    // literal: packed: the operand has no such axis
#if HEED_MISTAKE == 12
    const auto ready = packed<model<512>>(w_q);
#else
    const auto ready = packed<model<768>>(w_q);
#endif
  }
  {
    // mistake 13: Heads where the model belongs
    // says: dot over axis model<768>: the left operand has no such axis, it has (batch, query, twelve, d_head); the right operand has (model<768>, hidden) (a forgotten merge<twelve, d_head, model<768>>?)
    // literal: dot: the left operand has no such axis
    struct twelve : axis<12> {};
    struct hidden : axis<> {};
    const tensor<float, batch, query, twelve, d_head> context{batch{2}, query{5}};
    const tensor<float, model<768>, hidden> w{hidden{9}};
#if HEED_MISTAKE == 13
    const auto y = dot<model<768>>(context, w);
#else
    const auto y = dot<model<768>>(merge<twelve, d_head, model<768>>(context), w);
#endif
  }
  {
    // mistake 14: The model where heads belong
    // says: dot over axis twelve: the left operand has no such axis, it has (batch, query, model<768>); the right operand has (twelve, d_head, hidden) (a forgotten split<model<768>, twelve, d_head>?)
    // literal: dot: the left operand has no such axis
    struct twelve : axis<12> {};
    struct hidden : axis<> {};
    const tensor<float, twelve, d_head, hidden> w{hidden{9}};
#if HEED_MISTAKE == 14
    const auto y = dot<twelve, d_head>(x, w);
#else
    const auto y = dot<twelve, d_head>(split<model<768>, twelve, d_head>(x), w);
#endif
  }
  {
    // mistake 15: A bias as a third operand
    // says: dot: it is called with expressions, as in dot<A...>(x, y); here the axes are (model<768>)
    // literal: dot: it is called with expressions, as in dot<A...>(x, y)
    const tensor<float, head, d_head> b_q;
#if HEED_MISTAKE == 15
    const auto y = dot<model<768>>(x, w_q, b_q);
#else
    const auto y = dot<model<768>>(x, w_q) + b_q;
#endif
  }
  {
    // mistake 16: A size for an axis
    // says: dot: name the axes, they have no numbers, as in dot<A...>(x, y)
    // literal: dot: name the axes, they have no numbers
#if HEED_MISTAKE == 16
    const auto y = dot<768>(x, w_q);
#else
    const auto y = dot<model<768>>(x, w_q);
#endif
  }
  {
    // mistake 17: Scores summed over the keys
    // why: A score sums over the features of a query and a key; the context sums over the keys.
    // says: dot over axis key: the left operand has no such axis, it has (query, d_head); the right operand has
    // (key, d_head) (a forgotten rename<query, key>, or dot<d_head>?)
    // literal: dot: the left operand has no such axis
    const tensor<float, query, d_head> one{query{5}};
    const tensor<float, key, d_head> other{key{7}};
#if HEED_MISTAKE == 17
    const auto scores = dot<key>(one, other);
#else
    const auto scores = dot<d_head>(one, other);
#endif
  }
}

// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of evaluate, evaluate_into and kv_cache. Out: one error each.
// Next: nn.cpp.
// page: evaluate, evaluate_into, kv_cache
#include <heed/heed.hpp>

#include <vector>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct head : axis<8> {};
struct d_head : axis<64> {};

}  // namespace

int main() {
  const tensor<float, query, head, d_head> context{query{5}};
  tensor<float, query, head, d_head> result{query{5}};

  {
    // mistake 1: A destination that lacks an axis
    // says: evaluate: an expression with axes (query, head, d_head) does not fit a tensor with axes (query,
    // d_head): the tensor lacks (head)
    // literal: evaluate: the expression does not fit the tensor
#if HEED_MISTAKE == 1
    tensor<float, query, d_head> to{query{5}};
#else
    tensor<float, query, head, d_head> to{query{5}};
#endif
    evaluate_into(to, context * 2);
  }
  {
    // mistake 2: An order that leaves an axis out
    // says: evaluate: an expression with axes (query, head, d_head) does not fit a tensor with axes (head,
    // query): the tensor lacks (d_head)
    // literal: evaluate: the axes of the result are not those of the expression
#if HEED_MISTAKE == 2
    const auto y = evaluate<head, query>(context * 2);
#else
    const auto y = evaluate<head, query, d_head>(context * 2);
#endif
  }
  {
    // mistake 3: The policy at the end
    // why: As in the standard algorithms it comes first.
    // says: evaluate: a policy comes first: evaluate(policy, e), evaluate_into(policy, x, e)
    // literal: evaluate: a policy comes first: evaluate(policy, e), evaluate_into(policy, x, e)
#if HEED_MISTAKE == 3
    const auto y = evaluate(context * 2, unfused);
#else
    const auto y = evaluate(unfused, context * 2);
#endif
  }
  {
    // mistake 4: The destination at the end
    // says: evaluate_into: the first argument, with axes (query, head, d_head), is an expression: the
    // destination, a tensor, a view or a slice, comes first
    // literal: evaluate_into: a destination comes first: a tensor, a view or a slice that may be written
#if HEED_MISTAKE == 4
    evaluate_into(context * 2, result);
#else
    evaluate_into(result, context * 2);
#endif
  }
  {
    // mistake 5: A constant destination
    // says: evaluate_into: the first argument, with axes (query, head, d_head), is constant: a destination is
    // a tensor, a view or a slice that may be written
    // literal: evaluate_into: a destination comes first: a tensor, a view or a slice that may be written
#if HEED_MISTAKE == 5
    evaluate_into(context, result * 2);
#else
    evaluate_into(result, context * 2);
#endif
  }
  {
    // mistake 6: Real values into truth values
    // why: PyTorch stores 0.3 into a bool tensor as true.
    // says: evaluate: values of type float do not go into elements of type bool (compare them, or say cast)
    // literal: evaluate: the values do not go into elements of that type
    tensor<bool, query, head, d_head> large{query{5}};
#if HEED_MISTAKE == 6
    evaluate_into(large, context * 2);
#else
    evaluate_into(large, context * 2 > 1);
#endif
  }
  {
    // mistake 7: Two destinations for one expression
    // says: evaluate_into: one expression for each destination: 2 destinations, 1 expressions
    // literal: evaluate_into: one expression for each destination
    tensor<float, query, head> total{query{5}};
#if HEED_MISTAKE == 7
    evaluate_into(std::tie(result, total), context * 2);
#else
    evaluate_into(std::tie(result, total), context * 2, sum<d_head>(context));
#endif
  }
  {
    // mistake 8: A cache whose batch is forgotten
    // says: kv_cache: each axis whose extent is known at run time needs it by name, once: given (key), wanted
    // (key, batch)
    // literal: kv_cache: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 8
    kv_cache<float, key, batch, head, d_head> cache{key{9}};
#else
    kv_cache<float, key, batch, head, d_head> cache{key{9}, batch{2}};
#endif
  }
  {
    // mistake 9: A cache with a capacity by place
    // says: kv_cache: extents are given by name, as in query{128}, not by place: wanted (key)
    // literal: kv_cache: extents are given by name, as in key{2048}, not by place
#if HEED_MISTAKE == 9
    kv_cache<float, key, head, d_head> cache{2048};
#else
    kv_cache<float, key, head, d_head> cache{key{2048}};
#endif
  }
  {
    // mistake 10: A cache that grows along a static axis
    // why: The first axis is the one of the keys.
    // says: kv_cache: the axis of the keys comes first and grows, the others follow without it: head has the
    // static extent 8, the others are (key, d_head)
    // literal: kv_cache: the axis of the keys comes first and grows, the others follow without it
#if HEED_MISTAKE == 10
    kv_cache<float, head, key, d_head> cache{key{9}};
#else
    kv_cache<float, key, head, d_head> cache{key{9}};
#endif
  }
  {
    // mistake 11: Keys that are still called queries
    // says: append: an expression with axes (query, head, d_head) does not fit a cache with axes (head, key, d_head): the
    // cache lacks (query); the expression lacks (key) (a forgotten rename<query, key>?)
    // literal: append: the expression does not fit the cache (a forgotten rename?)
    kv_cache<float, key, head, d_head> cache{key{9}};
#if HEED_MISTAKE == 11
    cache.append(context);
#else
    cache.append(rename<query, key>(context));
#endif
  }
  {
    // mistake 12: Beams along an axis that the ids lack
    // says: kv_cache: reorder along axis batch: the cache has (batch, d_head), the ids have (query) (both need
    // it, and the ids no other that the cache lacks)
    // literal: kv_cache: reorder along an axis that the cache and the ids have
    kv_cache<float, key, batch, d_head> cache{key{9}, batch{2}};
    const tensor<int, query> sources{query{2}};
#if HEED_MISTAKE == 12
    cache.reorder<batch>(sources);
#else
    cache.reorder<batch>(rename<query, batch>(sources));
#endif
  }
  {
    // mistake 13: Heads into the model
    // says: evaluate: an expression with axes (query, head, d_head) does not fit a tensor with axes (query, model): the tensor lacks (head, d_head); the expression lacks (model) (a forgotten merge<head, d_head, model>?)
    // literal: evaluate: the expression does not fit the tensor
    struct model : axis<512> {};
    tensor<float, query, model> to{query{5}};
#if HEED_MISTAKE == 13
    evaluate_into(to, context * 2);
#else
    evaluate_into(to, merge<head, d_head, model>(context * 2));
#endif
  }
  {
    // mistake 14: The number of threads beside the expression
    // says: evaluate: it is called with expressions, as in evaluate(e), evaluate<A...>(e) or evaluate(policy, e); here no axis is named
    // literal: evaluate: it is called with expressions, as in evaluate(e), evaluate<A...>(e) or evaluate(policy, e)
#if HEED_MISTAKE == 14
    const auto y = evaluate(context * 2, 4);
#else
    const auto y = evaluate(policy{.threads = 4}, context * 2);
#endif
  }
  {
    // mistake 15: A vector as a destination
    // says: evaluate_into: it is called with expressions, as in evaluate_into(tensor, e), evaluate_into(std::tie(tensor, other), e, f) or evaluate_into(policy, tensor, e)
    // literal: evaluate_into: it is called with expressions, as in evaluate_into(tensor, e), evaluate_into(std::tie(tensor, other), e, f) or evaluate_into(policy, tensor, e)
    std::vector<float> numbers(5);
#if HEED_MISTAKE == 15
    evaluate_into(numbers, sum<head, d_head>(context));
#else
    evaluate_into(view<float, query>(numbers.data(), query{5}), sum<head, d_head>(context));
#endif
  }
  {
    // mistake 16: Destinations in another order than their expressions
    // says: evaluate: an expression with axes (query, head, d_head) does not fit a tensor with axes (query,
    // head): the tensor lacks (d_head)
    // literal: evaluate: the expression does not fit the tensor
    tensor<float, query, head> total{query{5}};
#if HEED_MISTAKE == 16
    evaluate_into(std::tie(total, result), context * 2, sum<d_head>(context));
#else
    evaluate_into(std::tie(total, result), sum<d_head>(context), context * 2);
#endif
  }
  {
    // mistake 17: A cache without any extent
    // says: kv_cache: each axis whose extent is known at run time needs it by name, once: given (), wanted
    // (key, batch)
    // literal: kv_cache: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 17
    kv_cache<float, key, batch, head, d_head> cache;
#else
    kv_cache<float, key, batch, head, d_head> cache{key{9}, batch{2}};
#endif
  }
  {
    // mistake 18: Keys and values into one cache
    // says: append: it is called with expressions, as in append(e) or append(policy, e)
    // literal: append: it is called with expressions, as in append(e) or append(policy, e)
    const auto k = rename<query, key>(context), v = rename<query, key>(context);
    kv_cache<float, key, head, d_head> keys{key{9}}, values{key{9}};
#if HEED_MISTAKE == 18
    keys.append(k, v);
#else
    keys.append(k), values.append(v);
#endif
  }
  {
    // mistake 19: Lines that use what was refused
    // why: One mistake gives one error: what was refused takes every line below it.
    // says: evaluate: an expression with axes (query, head, d_head) does not fit a tensor with axes (query,
    // head): the tensor lacks (d_head)
    // literal: evaluate: the axes of the result are not those of the expression
#if HEED_MISTAKE == 19
    tensor y = evaluate<query, head>(context);
#else
    tensor y = evaluate<head, query, d_head>(context);
#endif
    y(0, 0, 0) = 1;
    std::fill(y.begin(), y.end(), y(1, 1, 1) + static_cast<float>(y.extent<query>() + y.stride<head>() + y.size()));
    tensor twice = evaluate(y * 2);
    twice = y;
    evaluate_into(result, twice);
    evaluate_into(twice, y);
  }
}

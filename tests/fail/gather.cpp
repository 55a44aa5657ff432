// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of take, concat, stack, dropout and combine. Out: one error each.
// Next: rope.cpp.
// page: take, concat, stack, dropout, combine
#include <heed/heed.hpp>

namespace {

using namespace heed;
struct vocabulary : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct half : axis<2> {};
struct third : axis<3> {};
struct d_head : axis<64> {};
struct model : axis<128> {};

}  // namespace

int main() {
  const tensor<float, vocabulary, d_head> embedding{vocabulary{50}};
  const tensor<int, query> ids{query{5}};
  const tensor<float, query, d_head> q{query{5}};
  const tensor<float, key, d_head> k{key{7}}, v{key{7}};

  {
    // mistake 1: A gather by floats
    // says: take: the ids must be integers, they are float
    // literal: take: the ids must be integers
#if HEED_MISTAKE == 1
    const tensor<float, query> chosen{query{5}};
#else
    const tensor<int, query> chosen{query{5}};
#endif
    const auto x = take<vocabulary>(embedding, chosen);
  }
  {
    // mistake 2: Table and ids the wrong way round
    // says: take over axis vocabulary: the operand has no such axis, it has (query) (a forgotten rename<query,
    // vocabulary>?)
    // literal: take: the table has no such axis
#if HEED_MISTAKE == 2
    const auto x = take<vocabulary>(ids, embedding);
#else
    const auto x = take<vocabulary>(embedding, ids);
#endif
  }
  {
    // mistake 3: A gather of one element by a number
    // says: take: table and ids are expressions, not int (for one element along A say at<A>(x, i))
    // literal: take: table and ids are expressions (for one element say at<A>(x, i))
#if HEED_MISTAKE == 3
    const auto x = take<vocabulary>(embedding, 7);
#else
    const auto x = at<vocabulary>(embedding, 7);
#endif
  }
  {
    // mistake 4: concat along an axis of static extent
    // why: The result has twice the extent, so it is another axis: stack and merge say which.
    // says: concat: axis d_head has the static extent 64, but the result has another one (stack and merge, or
    // slices as destinations)
    // literal: concat: the axis has a static extent
#if HEED_MISTAKE == 4
    const auto wide = concat<d_head>(q, q);
#else
    const auto wide = merge<half, d_head, model>(stack<half>(q, q));
#endif
  }
  {
    // mistake 5: concat of new queries behind old keys
    // says: concat: both operands must have the same axes: left has (key, d_head), right has (query, d_head)
    // literal: concat: both operands must have the same axes
#if HEED_MISTAKE == 5
    const auto all = concat<key>(k, q);
#else
    const auto all = concat<key>(k, rename<query, key>(q));
#endif
  }
  {
    // mistake 6: stack of different axes
    // says: stack: both operands must have the same axes: left has (key, d_head), right has (query, d_head)
    // literal: stack: all operands must have the same axes
#if HEED_MISTAKE == 6
    const auto both = stack<half>(k, q);
#else
    const auto both = stack<half>(k, v);
#endif
  }
  {
    // mistake 7: stack of two parts along an axis of three
    // says: stack: axis third counts the parts and has extent 3, but there are 2
    // literal: stack: the axis counts the parts
#if HEED_MISTAKE == 7
    const auto both = stack<third>(k, v);
#else
    const auto both = stack<half>(k, v);
#endif
  }
  {
    // mistake 8: stack of two value types
    // says: stack: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: stack: the value types differ (say cast)
    const tensor<double, key, d_head> exact{key{7}};
#if HEED_MISTAKE == 8
    const auto both = stack<half>(k, exact);
#else
    const auto both = stack<half>(k, cast<float>(exact));
#endif
  }
  {
    // mistake 9: dropout of integers
    // says: dropout: values of type int do not serve here (say cast<...>(...))
    // literal: dropout: real values are needed (say cast)
#if HEED_MISTAKE == 9
    const auto kept = dropout(ids, 0.1, 1);
#else
    const auto kept = dropout(cast<float>(ids), 0.1, 1);
#endif
  }
  const auto scores = dot<d_head>(q, k);
  const auto context = dot<key>(softmax<key>(scores), v);
  const auto lse = log_sum_exp<key>(scores);
  {
    // mistake 10: Contexts and log-sum-exps the wrong way round
    // says: combine: contexts and their log-sum-exps alternate, and a context has all axes of its log-sum-exp:
    // context (query), log-sum-exp (query, d_head)
    // literal: combine: a context has all axes of its log-sum-exp (context, then log-sum-exp, twice)
#if HEED_MISTAKE == 10
    const auto merged = combine(lse, context, lse, context);
#else
    const auto merged = combine(context, lse, context, lse);
#endif
  }
  {
    // mistake 11: A log-sum-exp over the queries
    // says: combine: both operands must have the same axes: left has (query), right has (key)
    // literal: combine: both log-sum-exps must have the same axes
#if HEED_MISTAKE == 11
    const auto merged = combine(context, lse, context, log_sum_exp<query>(scores));
#else
    const auto merged = combine(context, lse, context, log_sum_exp<key>(scores));
#endif
  }
  {
    // mistake 12: concat of three
    // says: concat: it is called with expressions, as in concat<A>(x, y), two at a time; here the axes are (key)
    // literal: concat: it is called with expressions, as in concat<A>(x, y), two at a time
#if HEED_MISTAKE == 12
    const auto all = concat<key>(k, v, k);
#else
    const auto all = concat<key>(concat<key>(k, v), k);
#endif
  }
  {
    // mistake 13: dropout without a seed
    // why: No state is hidden: the same seed drops the same elements.
    // says: dropout: it is called with expressions, as in dropout(x, p, seed)
    // literal: dropout: it is called with expressions, as in dropout(x, p, seed)
#if HEED_MISTAKE == 13
    const auto kept = dropout(q, 0.1);
#else
    const auto kept = dropout(q, 0.1, 1234);
#endif
  }
  {
    // mistake 14: A switch where dropout takes its seed
    // why: There is no mode: p = 0 is inference.
    // says: dropout: the seed is a number, no switch: p = 0 keeps all
    // literal: dropout: the seed is a number, no switch: p = 0 keeps all
#if HEED_MISTAKE == 14
    const auto kept = dropout(q, 0.1, true);
#else
    const auto kept = dropout(q, 0.1, 1234);
#endif
  }
  {
    // mistake 15: A switch where dropout takes its probability
    // says: dropout: the probability is a number, no switch: 0 keeps all
    // literal: dropout: the probability is a number, no switch: 0 keeps all
#if HEED_MISTAKE == 15
    const auto kept = dropout(q, true, 1234);
#else
    const auto kept = dropout(q, 0.1, 1234);
#endif
  }
  {
    // mistake 16: The seed before the probability
    // why: A seed of 1 would be a probability of 1, which drops everything.
    // says: dropout: the seed is an integer, not double (the probability comes before it)
    // literal: slice, at, roll, dropout: coordinates, places and seeds are integers
#if HEED_MISTAKE == 16
    const auto kept = dropout(q, 1, 0.1);
#else
    const auto kept = dropout(q, 0.1, 1);
#endif
  }
}

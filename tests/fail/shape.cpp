// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of rename, split, merge, slice, at, roll and expect. Out: one error each.
// Next: gather.cpp.
// page: rename, split, merge, slice, at, roll, expect
#include <heed/heed.hpp>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct past_key : axis<> {};
struct part : axis<> {};
struct head : axis<8> {};
struct few_heads : axis<4> {};
struct kv_head : axis<2> {};
struct group : axis<4> {};
struct d_head : axis<64> {};
struct d_value : axis<64> {};
struct model : axis<512> {};
struct three_models : axis<1536> {};

}  // namespace

int main() {
  const tensor<float, query, model> x{query{5}};
  const tensor<float, query, head, d_head> q{query{5}};
  const tensor<float, query, key> scores{query{5}, key{5}};

  {
    // mistake 1: A rename of an axis that is not there
    // says: rename over axis batch: the operand has no such axis, it has (query, model)
    // literal: rename: the operand has no such axis
#if HEED_MISTAKE == 1
    const auto y = rename<batch, key>(x);
#else
    const auto y = rename<query, key>(x);
#endif
  }
  {
    // mistake 2: A rename to an axis that is there
    // why: A tensor has an axis at most once.
    // says: rename: the result would have axis key twice; the operand has (query, key)
    // literal: rename: the operand has that axis already
#if HEED_MISTAKE == 2
    const auto y = rename<query, key>(scores);
#else
    const auto y = rename<query, past_key>(scores);
#endif
  }
  {
    // mistake 3: A rename to an axis of another extent
    // says: rename of axis d_head to few_heads: d_head has extent 64, few_heads has extent 4
    // literal: rename: the extents differ
#if HEED_MISTAKE == 3
    const auto y = rename<d_head, few_heads>(q);
#else
    const auto y = rename<d_head, d_value>(q);
#endif
  }
  {
    // mistake 4: Heads that do not make up the model
    // says: split of axis model: few_heads x d_head is 4 x 64 = 256, but model has 512
    // literal: split: the extents do not multiply to the axis
#if HEED_MISTAKE == 4
    const auto heads = split<model, few_heads, d_head>(x);
#else
    const auto heads = split<model, head, d_head>(x);
#endif
  }
  {
    // mistake 5: A split that must be guessed
    // why: Of two parts without an extent in their types one gets it by name.
    // says: split: a part whose extent is known at run time needs it by name, one of two may be left out:
    // given (), parts (part, past_key)
    // literal: split: a part whose extent is known at run time needs it by name, one of two may be left out
#if HEED_MISTAKE == 5
    const auto parts = split<query, part, past_key>(x);
#else
    const auto parts = split<query, part, past_key>(x, part{1});
#endif
  }
  {
    // mistake 6: A split with the extent of something else
    // says: split: a part whose extent is known at run time needs it by name, one of two may be left out:
    // given (key), parts (part, d_head)
    // literal: split: a part whose extent is known at run time needs it by name, one of two may be left out
#if HEED_MISTAKE == 6
    const auto parts = split<model, part, d_head>(x, key{8});
#else
    const auto parts = split<model, part, d_head>(x, part{8});
#endif
  }
  {
    // mistake 7: A split into an axis that is there
    // says: split: the result would have axis d_head twice; the operand has (query, head, d_head)
    // literal: split: the result would have an axis twice
#if HEED_MISTAKE == 7
    const auto parts = split<head, d_head, group>(q);
#else
    const auto parts = split<head, kv_head, group>(q);
#endif
  }
  {
    // mistake 8: A merge over an axis that is not there
    // says: merge over axis d_value: the operand has no such axis, it has (query, head, d_head) (a forgotten
    // rename<d_head, d_value>?)
    // literal: merge: the operand has no such axis
#if HEED_MISTAKE == 8
    const auto y = merge<head, d_value, model>(q);
#else
    const auto y = merge<head, d_head, model>(q);
#endif
  }
  {
    // mistake 9: A merge to another extent
    // says: merge to axis three_models: head x d_head is 8 x 64 = 512, but three_models has 1536
    // literal: merge: the extents do not multiply to the axis
#if HEED_MISTAKE == 9
    const auto y = merge<head, d_head, three_models>(q);
#else
    const auto y = merge<head, d_head, model>(q);
#endif
  }
  {
    // mistake 10: A run-time slice of a static axis
    // why: The result has another extent, so it is another axis.
    // says: slice: axis model has the static extent 512, but the result has another one (slice<A, To>(x, from)
    // takes an axis of the new extent)
    // literal: slice: a static axis needs slice<A, To>(x, from)
#if HEED_MISTAKE == 10
    const auto half = slice<model>(x, 0, 64);
#else
    const auto half = slice<model, d_head>(x, 0);
#endif
  }
  {
    // mistake 11: A slice longer than the axis
    // why: Packed q, k and v come apart from the axis that holds all three.
    // says: slice: axis model has extent 512, the slice three_models has 1536
    // literal: slice: the slice is longer than the axis
#if HEED_MISTAKE == 11
    const auto k = slice<model, three_models>(x, 512);
#else
    const tensor<float, query, three_models> packed_qkv{query{5}};
    const auto k = slice<three_models, model>(packed_qkv, 512);
#endif
  }
  {
    // mistake 12: A slice by an axis without an extent
    // says: slice: axis past_key must have a static extent
    // literal: slice: the new axis needs a static extent
#if HEED_MISTAKE == 12
    const auto first = slice<key, past_key>(scores, 0);
#else
    const auto first = rename<key, past_key>(slice<key>(scores, 0, 2));
#endif
  }
  {
    // mistake 13: The last position of an axis that is not there
    // says: at over axis key: the operand has no such axis, it has (query, model) (a forgotten rename<query,
    // key>?)
    // literal: at: the operand has no such axis
#if HEED_MISTAKE == 13
    const auto last = at<key>(x, 4);
#else
    const auto last = at<query>(x, 4);
#endif
  }
  {
    // mistake 14: A roll of an axis that is not there
    // says: roll over axis batch: the operand has no such axis, it has (query, key) (a forgotten rename
    // of query or key to batch?)
    // literal: roll: the operand has no such axis
#if HEED_MISTAKE == 14
    const auto shifted = roll<batch>(scores, 1);
#else
    const auto shifted = roll<key>(scores, 1);
#endif
  }
  {
    // mistake 15: The shape is not the expected one
    // why: expect is the shape comment, checked.
    // says: expect: the expression has axes (query, key), expected (head, query, key)
    // literal: expect: the expression has other axes
    const tensor<float, key, d_head> k{key{7}};
#if HEED_MISTAKE == 15
    const auto s = expect<head, query, key>(dot<d_head>(at<head>(q, 0), k));
#else
    const auto s = expect<head, query, key>(dot<d_head>(q, k));
#endif
  }
  {
    // mistake 16: A slice by one coordinate, as in PyTorch
    // why: No coordinate counts from the end; extent<A>() says where that is.
    // says: slice over axis query: from and to are needed (one element is at<query>(x, i))
    // literal: slice: from and to are needed (one element is at<A>(x, i))
#if HEED_MISTAKE == 16
    const auto last = slice<query>(x, -1);
#else
    const auto last = at<query>(x, x.extent<query>() - 1);
#endif
  }
  {
    // mistake 17: Chunks of a size
    // why: split divides one axis into two; parts of an axis are slices.
    // says: split: it is called with expressions, as in split<A, Major, Minor>(x, Major{m}, Minor{n}); here the axes are (query)
    // literal: split: it is called with expressions, as in split<A, Major, Minor>(x, Major{m}, Minor{n})
#if HEED_MISTAKE == 17
    const auto first = split<query>(x, 2);
#else
    const auto first = slice<query>(x, 0, 2);
#endif
  }
  {
    // mistake 18: A merge without a name for the result
    // says: merge: it is called with expressions, as in merge<Major, Minor, A>(x); here the axes are (head, d_head)
    // literal: merge: it is called with expressions, as in merge<Major, Minor, A>(x)
#if HEED_MISTAKE == 18
    const auto y = merge<head, d_head>(q);
#else
    const auto y = merge<head, d_head, model>(q);
#endif
  }
  {
    // mistake 19: Elements at the ids of a tensor
    // says: at: it is called with expressions, as in at<A>(x, i), i a number (for ids in a tensor say take); here the axes are (query)
    // literal: at: it is called with expressions, as in at<A>(x, i), i a number (for ids in a tensor say take)
    const tensor<int, key> ids{key{2}};
#if HEED_MISTAKE == 19
    const auto y = at<query>(x, ids);
#else
    const auto y = take<query>(x, ids);
#endif
  }
  {
    // mistake 20: A slice of the first axis
    // says: slice: it is called with expressions, as in slice<A>(x, from, to) or slice<A, To>(x, from); here no axis is named
    // literal: slice: it is called with expressions, as in slice<A>(x, from, to) or slice<A, To>(x, from)
#if HEED_MISTAKE == 20
    const auto y = slice(x, 0, 2);
#else
    const auto y = slice<query>(x, 0, 2);
#endif
  }
  {
    // mistake 21: Half of an extent in floating point
    // says: slice: the coordinate is an integer, not double
    // literal: slice, at, roll, dropout: coordinates, places and seeds are integers
#if HEED_MISTAKE == 21
    const auto y = slice<query>(x, 0, 5 / 2.0);
#else
    const auto y = slice<query>(x, 0, 5 / 2);
#endif
  }
  {
    // mistake 22: A place between two elements
    // says: at: the coordinate is an integer, not float
    // literal: slice, at, roll, dropout: coordinates, places and seeds are integers
#if HEED_MISTAKE == 22
    const auto y = at<query>(x, 1.5F);
#else
    const auto y = at<query>(x, 1);
#endif
  }
  {
    // mistake 23: A shift by a part of a place
    // says: roll: the number of places is an integer, not double
    // literal: slice, at, roll, dropout: coordinates, places and seeds are integers
#if HEED_MISTAKE == 23
    const auto y = roll<query>(x, 0.5);
#else
    const auto y = roll<query>(x, 1);
#endif
  }
}

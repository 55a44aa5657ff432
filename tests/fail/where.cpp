// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of where and of the masks. Out: one error each.
// Next: reduce.cpp.
// page: where, index, causal, window, alibi
#include <heed/heed.hpp>

namespace {

using namespace heed;
struct batch : axis<> {};
struct position : axis<> {};
struct query : axis<> {};
struct queries : axis<> {};
struct key : axis<> {};
struct head : axis<8> {};
struct d_head : axis<64> {};

}  // namespace

int main() {
  const tensor<float, query, key> scores{query{5}, key{7}}, other{query{5}, key{7}};
  const tensor<float, position, head, d_head> x{position{5}};
  const tensor<int, batch> length{batch{2}};

  {
    // mistake 1: The mask of a batch over the scores of one sequence
    // why: A mask cannot widen what it masks.
    // says: where: the condition has axes (batch) that the values lack: condition (key, batch), values (query,
    // key) (a forgotten rename?)
    // literal: where: the condition has axes that the values lack (a forgotten rename?)
#if HEED_MISTAKE == 1
    const auto masked = where(index<key>() < length, scores);
#else
    const auto masked = where(index<key>() < length, broadcast<batch>(scores, batch{2}));
#endif
  }
  {
    // mistake 2: Self-attention without a rename
    // why: With one name for queries and keys the scores are one number a position and head, not a matrix. Said at the
    // mask; softmax and the product with v are silent.
    // says: where: the condition has axes (key, query) that the values lack: condition (key, query), values
    // (position, head) (a forgotten rename?)
    // literal: where: the condition has axes that the values lack (a forgotten rename?)
#if HEED_MISTAKE == 2
    const auto q = x, k = x, v = x;
#else
    const auto q = rename<position, query>(x);
    const auto k = rename<position, key>(x), v = k;
#endif
    const auto s = where(index<key>() <= index<query>(), dot<d_head>(q, k) / 8.0);
    const auto context = dot<key>(softmax<key>(s), v);
  }
  {
    // mistake 3: A similar name in a mask
    // says: where: the condition has axes (queries) that the values lack: condition (key, queries), values
    // (query, key) (did you mean query?)
    // literal: where: the condition has axes that the values lack (a forgotten rename?)
#if HEED_MISTAKE == 3
    const auto masked = where(index<key>() <= index<queries>(), scores);
#else
    const auto masked = where(index<key>() <= index<query>(), scores);
#endif
  }
  {
    // mistake 4: A float mask where a condition belongs
    // why: 0 and 1 as floats are a bias. PyTorch adds a float mask and takes a bool mask as what to keep: the same tensor
    // means two things there.
    // says: where: the condition is float, not bool: compare it, or add it to the scores if it is a bias
    // literal: where: the condition is no truth value: compare it, or add it to the scores if it is a bias
#if HEED_MISTAKE == 4
    const auto masked = where(other, scores);
#else
    const auto masked = where(other > 0.5F, scores);
#endif
  }
  {
    // mistake 5: Condition and values the wrong way round
    // says: where: the condition is float, not bool: compare it, or add it to the scores if it is a bias
    // literal: where: the condition is no truth value: compare it, or add it to the scores if it is a bias
#if HEED_MISTAKE == 5
    const auto masked = where(scores, causal<query, key>(2));
#else
    const auto masked = where(causal<query, key>(2), scores);
#endif
  }
  {
    // mistake 6: Exclusion of whole numbers
    // why: What is excluded is -infinity where it is stored. To choose between values give both: where(c, a, b).
    // says: where: values of type int do not serve here (say cast<...>(...))
    // literal: where: exclusion needs real values
    const tensor<int, query, key> counts{query{5}, key{7}};
#if HEED_MISTAKE == 6
    const auto masked = where(causal<query, key>(2), counts);
#else
    const auto masked = where(causal<query, key>(2), counts, 0);
#endif
  }
  {
    // mistake 7: Branches of two value types
    // says: where: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: where: the value types of the branches differ (say cast)
    const tensor<double, query, key> exact{query{5}, key{7}};
#if HEED_MISTAKE == 7
    const auto chosen = where(causal<query, key>(2), scores, exact);
#else
    const auto chosen = where(causal<query, key>(2), scores, cast<float>(exact));
#endif
  }
  {
    // mistake 8: A causal mask over one axis
    // why: Every position would see itself alone, or all: keys take a tag of their own.
    // says: causal: queries and keys are both called query (a forgotten rename: keys take a tag of their own)
    // literal: queries and keys are one axis (a forgotten rename?)
#if HEED_MISTAKE == 8
    [[maybe_unused]] const auto mask = causal<query, query>();
#else
    [[maybe_unused]] const auto mask = causal<query, key>();
#endif
  }
  {
    // mistake 9: A causal mask with one axis named
    // says: causal: name the queries, then the keys: causal<query, key>()
    // literal: causal: name the queries, then the keys: causal<query, key>()
#if HEED_MISTAKE == 9
    [[maybe_unused]] const auto mask = causal<query>();
#else
    [[maybe_unused]] const auto mask = causal<query, key>();
#endif
  }
  {
    // mistake 10: The scores as the argument of the mask
    // why: What a mask takes is how many keys lie before the first query.
    // says: causal: the past is an integer or an integer expression, not float
    // literal: past is an integer or an integer expression
#if HEED_MISTAKE == 10
    const auto masked = causal<query, key>(scores);
#else
    const auto masked = where(causal<query, key>(2), scores);
#endif
  }
  {
    // mistake 11: A window that is a fraction
    // says: window: the past or the number of keys is an integer or an integer expression, not double
    // literal: past is an integer or an integer expression
#if HEED_MISTAKE == 11
    [[maybe_unused]] const auto mask = window<query, key>(4.0);
#else
    [[maybe_unused]] const auto mask = window<query, key>(4);
#endif
  }
  {
    // mistake 12: Slopes of integers
    // why: 2^-1, 2^-2, ... would all be 0.
    // says: alibi_slopes: slopes are fractions: float, double, bf16 or f16
    // literal: alibi_slopes: slopes are fractions: float, double, bf16 or f16
#if HEED_MISTAKE == 12
    const auto slopes = alibi_slopes<head, int>();
#else
    const auto slopes = alibi_slopes<head>();
#endif
  }
  {
    // mistake 13: The coordinate of something else
    // says: index: int is no axis: an axis is a struct that derives from heed::axis
    // literal: name the axes: at least one, each a struct that derives from heed::axis, none twice
#if HEED_MISTAKE == 13
    [[maybe_unused]] const auto i = index<int>();
#else
    [[maybe_unused]] const auto i = index<key>();
#endif
  }
  {
    // mistake 14: The number of heads for their slopes
    // says: alibi: it is called with expressions, as in alibi<query, key>(slopes) or alibi<query, key>(slopes, past); here the axes are (query, key)
    // literal: alibi: it is called with expressions, as in alibi<query, key>(slopes) or alibi<query, key>(slopes, past)
#if HEED_MISTAKE == 14
    const auto bias = alibi<query, key>(8);
#else
    const auto bias = alibi<query, key>(alibi_slopes<head>());
#endif
  }
  {
    // mistake 15: A causal mask of unnamed axes
    // says: causal: name the queries, then the keys: causal<query, key>()
    // literal: causal: name the queries, then the keys: causal<query, key>()
#if HEED_MISTAKE == 15
    const auto mask = causal();
#else
    const auto mask = causal<query, key>();
#endif
  }
  {
    // mistake 16: A window without its width
    // says: window: it is called as in window<query, key>(n) or window<query, key>(n, past); here the axes are (query, key)
    // literal: window: it is called as in window<query, key>(n) or window<query, key>(n, past)
#if HEED_MISTAKE == 16
    const auto mask = window<query, key>();
#else
    const auto mask = window<query, key>(4);
#endif
  }
  {
    // mistake 17: The coordinate along a numbered axis
    // says: index: name the axes, they have no numbers, as in index<key>()
    // literal: index: name the axes, they have no numbers
#if HEED_MISTAKE == 17
    const auto later = where(index<1>() > 3, scores);
#else
    const auto later = where(index<key>() > 3, scores);
#endif
  }
  {
    // mistake 18: A chain of comparisons, as in Python
    // why: In C++ it compares the truth value of the first one: always true here.
    // says: a < b < c: comparisons form no chain: say a < b && b < c
    // literal: a < b < c: comparisons form no chain: say a < b && b < c
#if HEED_MISTAKE == 18
    const auto near = where(2 <= index<key>() <= 4, scores);
#else
    const auto near = where(2 <= index<key>() && index<key>() <= 4, scores);
#endif
  }
  {
    // mistake 19: Masks joined bit by bit
    // why: In Python & and | join masks, and ~ negates them.
    // says: operators &, |, ^ and ~: masks are joined by && and ||, compared by != and negated by !
    // literal: operators &, |, ^ and ~: masks are joined by && and ||, compared by != and negated by !
    const auto padding = index<key>() < 3;
#if HEED_MISTAKE == 19
    const auto weights = softmax<key>(where(causal<query, key>(2) & ~padding, scores));
#else
    const auto weights = softmax<key>(where(causal<query, key>(2) && !padding, scores));
#endif
  }
}

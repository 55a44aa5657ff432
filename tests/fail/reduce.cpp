// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of the reductions and norms. Out: one error each.
// Next: shape.cpp.
// page: softmax, sum, mean, max, argmax, norms
#include <heed/heed.hpp>

#include <vector>

namespace {

using namespace heed;
struct batch : axis<> {};
struct position : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct keys : axis<> {};
struct head : axis<8> {};
template <int D> struct model : axis<D> {};

}  // namespace

int main() {
  const tensor<float, query, key> scores{query{5}, key{7}};
  const tensor<int, query, key> counts{query{5}, key{7}};
  const tensor<float, query, model<512>> x{query{5}};

  {
    // mistake 1: softmax over an axis that is not there
    // why: PyTorch's dim=-1 is always there, whatever it is. A name is there or not.
    // says: softmax over axis position: the operand has no such axis, it has (query, key) (a forgotten
    // rename of query or key to position?)
    // literal: reduction: the operand has no such axis (a forgotten rename?)
#if HEED_MISTAKE == 1
    const auto weights = softmax<position>(scores);
#else
    const auto weights = softmax<key>(scores);
#endif
  }
  {
    // mistake 2: A similar name
    // says: softmax over axis keys: the operand has no such axis, it has (query, key) (did you mean key?)
    // literal: reduction: the operand has no such axis (a forgotten rename?)
#if HEED_MISTAKE == 2
    const auto weights = softmax<keys>(scores);
#else
    const auto weights = softmax<key>(scores);
#endif
  }
  {
    // mistake 3: The axis as a number
    // says: softmax: name the axes, as in softmax<key>(x): they have no numbers
    // literal: name the axes: at least one, each a struct that derives from heed::axis, none twice
#if HEED_MISTAKE == 3
    const auto weights = softmax(scores, -1);
#else
    const auto weights = softmax<key>(scores);
#endif
  }
  {
    // mistake 4: softmax of integers
    // says: softmax: values of type int do not serve here (say cast<...>(...))
    // literal: reduction: real values are needed (say cast)
#if HEED_MISTAKE == 4
    const auto weights = softmax<key>(counts);
#else
    const auto weights = softmax<key>(cast<float>(counts));
#endif
  }
  {
    // mistake 5: A sink for each head, scores of one
    // why: A sink cannot widen the rows that it joins.
    // says: softmax: the sink has axes (head) that the operand lacks: sink (head), operand (query)
    // literal: softmax: the sink has axes that the rows lack
    const tensor<float, head> sink;
#if HEED_MISTAKE == 5
    const auto weights = softmax<key>(scores, sink);
#else
    const auto weights = softmax<key>(broadcast<head>(scores), sink);
#endif
  }
  {
    // mistake 6: A sink for each key
    // why: It is one more logit of a row, so it has no axis that the row goes over. What is added to the scores is a bias.
    // says: softmax: the sink has axes (key) that the operand lacks: sink (key), operand (query)
    // literal: softmax: the sink has axes that the rows lack
    const tensor<float, key> bias{key{7}};
#if HEED_MISTAKE == 6
    const auto weights = softmax<key>(scores, bias);
#else
    const auto weights = softmax<key>(scores + bias);
#endif
  }
  {
    // mistake 7: A sink of another type
    // says: log_sum_exp: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: softmax: the value types of the scores and the sink differ (say cast)
    const tensor<double, query> sink{query{5}};
#if HEED_MISTAKE == 7
    const auto lse = log_sum_exp<key>(scores, sink);
#else
    const auto lse = log_sum_exp<key>(scores, cast<float>(sink));
#endif
  }
  {
    // mistake 8: A mean of integers
    // says: mean: values of type int do not serve here (say cast<...>(...))
    // literal: reduction: real values are needed (say cast)
#if HEED_MISTAKE == 8
    const auto average = mean<key>(counts);
#else
    const auto average = mean<key>(cast<float>(counts));
#endif
  }
  {
    // mistake 9: A sum over everything, unsaid
    // says: sum: name the axes, as in sum<key>(x): they have no numbers
    // literal: name the axes: at least one, each a struct that derives from heed::axis, none twice
#if HEED_MISTAKE == 9
    const auto total = sum(scores);
#else
    const auto total = sum<query, key>(scores);
#endif
  }
  {
    // mistake 10: The smallest element
    // says: min<A>(x): there is no such reduction: say -max<A>(-x)
    // literal: min<A>(x): there is no such reduction: say -max<A>(-x)
#if HEED_MISTAKE == 10
    const auto smallest = min<key>(scores);
#else
    const auto smallest = -max<key>(-scores);
#endif
  }
  {
    // mistake 11: argmax over two axes
    // why: Its result is one coordinate.
    // says: argmax: it goes over one axis, not over (query, key) (merge them first)
    // literal: it goes over one axis (merge them first)
    struct cell : axis<> {};
#if HEED_MISTAKE == 11
    const auto best = argmax<query, key>(scores);
#else
    const auto best = argmax<cell>(merge<query, key, cell>(scores));
#endif
  }
  {
    // mistake 12: The norm of another model
    // says: rms_norm: the gain has axes (model<768>) that the operand lacks: gain (model<768>), operand (query,
    // model<512>); model is 768 in gain and 512 in the operand
    // literal: norm: the gain has axes that the operand lacks
#if HEED_MISTAKE == 12
    const tensor<float, model<768>> gain;
#else
    const tensor<float, model<512>> gain;
#endif
    const auto y = rms_norm<model<512>>(x, gain);
  }
  {
    // mistake 13: A norm over another model
    // says: norm over axis model<768>: the operand has no such axis, it has (query, model<512>) (another size:
    // model<512>)
    // literal: reduction: the operand has no such axis (a forgotten rename?)
    const tensor<float, model<768>> gamma;
    const tensor<float, model<512>> gain;
#if HEED_MISTAKE == 13
    const auto y = layer_norm<model<768>>(x, gamma, gamma);
#else
    const auto y = layer_norm<model<512>>(x, gain, gain);
#endif
  }
  {
    // mistake 14: A gain of another type
    // says: rms_norm: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: norm: the value types of the operand and the gain differ (say cast)
    const tensor<double, model<512>> gain;
#if HEED_MISTAKE == 14
    const auto y = rms_norm<model<512>>(x, gain);
#else
    const auto y = rms_norm<model<512>>(x, cast<float>(gain));
#endif
  }
  {
    // mistake 15: dim=-1 as the axis
    // says: softmax: name the axes, they have no numbers, as in softmax<A...>(x) or softmax<A...>(x, sink)
    // literal: softmax: name the axes, they have no numbers
#if HEED_MISTAKE == 15
    const auto weights = softmax<-1>(scores);
#else
    const auto weights = softmax<key>(scores);
#endif
  }
  {
    // mistake 16: Numbers of no tensor
    // why: A vector has no axes until a view gives them to it.
    // says: softmax: it is called with expressions, as in softmax<A...>(x) or softmax<A...>(x, sink); here the axes are (key)
    // literal: softmax: it is called with expressions, as in softmax<A...>(x) or softmax<A...>(x, sink)
    const std::vector<float> logits(7);
#if HEED_MISTAKE == 16
    const auto weights = softmax<key>(logits);
#else
    const auto weights = softmax<key>(view<const float, key>(logits.data(), key{7}));
#endif
  }
  {
    // mistake 17: A norm without parameters
    // says: layer_norm: it is called with expressions, as in layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, eps); here the axes are (model<512>)
    // literal: layer_norm: it is called with expressions, as in layer_norm<A>(x, gamma, beta) or layer_norm<A>(x, gamma, beta, eps)
#if HEED_MISTAKE == 17
    const auto y = layer_norm<model<512>>(x);
#else
    const auto y = layer_norm<model<512>>(x, 1, 0);
#endif
  }
  {
    // mistake 18: The largest along a numbered axis
    // says: max: name the axes, they have no numbers, as in max<A...>(x) or max(x, y), two at a time
    // literal: max: name the axes, they have no numbers
#if HEED_MISTAKE == 18
    const auto most = max<-1>(scores);
#else
    const auto most = max<key>(scores);
#endif
  }
  {
    // mistake 19: A beta over another axis
    // says: layer_norm: the beta has axes (key) that the operand lacks: beta (key), operand (query, model<512>)
    // literal: norm: the gain has axes that the operand lacks
    const tensor<float, key> shift{key{7}};
    const tensor<float, model<512>> gamma, beta;
#if HEED_MISTAKE == 19
    const auto y = layer_norm<model<512>>(x, gamma, shift);
#else
    const auto y = layer_norm<model<512>>(x, gamma, beta);
#endif
  }
  {
    // mistake 20: A switch where softmax takes a sink
    // why: An axis that is reduced is gone (what others call keepdim has no meaning here: axes meet by their names), so there
    // is no switch to keep it.
    // says: log_sum_exp: the sink is a number or an expression, no switch: axes are named, and there is nothing to keep of
    // those that are reduced
    // literal: softmax: the sink is a number or an expression, no switch
#if HEED_MISTAKE == 20
    const auto total = log_sum_exp<key>(scores, true);
#else
    const auto total = log_sum_exp<key>(scores);
#endif
  }
  {
    // mistake 21: A switch where a norm takes its eps
    // says: rms_norm: eps is a number, no switch
    // literal: norm: eps is a number, no switch
    const tensor<float, model<512>> gain;
#if HEED_MISTAKE == 21
    const auto y = rms_norm<model<512>>(x, gain, true);
#else
    const auto y = rms_norm<model<512>>(x, gain, 1e-6);
#endif
  }
  {
    // mistake 22: A switch where layer_norm takes its eps
    // says: layer_norm: eps is a number, no switch
    // literal: norm: eps is a number, no switch
    const tensor<float, model<512>> gamma, beta;
#if HEED_MISTAKE == 22
    const auto y = layer_norm<model<512>>(x, gamma, beta, true);
#else
    const auto y = layer_norm<model<512>>(x, gamma, beta, 1e-6);
#endif
  }
}

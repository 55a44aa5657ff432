// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of operators, functions, cast and broadcast. Out: one error each.
// Next: where.cpp.
// page: arithmetic, functions, cast, broadcast
#include <heed/heed.hpp>

#include <vector>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct head : axis<8> {};
struct d_head : axis<64> {};
template <int D> struct model : axis<D> {};
struct model_in : axis<512> {};
struct model_out : axis<512> {};

}  // namespace

int main() {
  const tensor<float, batch, query> a{batch{2}, query{5}};
  const tensor<float, batch, key> b{batch{2}, key{7}};
  const tensor<int, query> lengths{query{5}};

  {
    // mistake 1: Neither operand has all axes of the other
    // why: PyTorch would line them up from the right; here both must say that they become a matrix.
    // says: operator+: neither operand has all axes of the other: left has (batch, query), right has (batch,
    // key); only left has (query), only right has (key) (rename an axis, or say broadcast)
    // literal: operator: neither operand has all axes of the other (rename an axis, or say broadcast)
#if HEED_MISTAKE == 1
    const auto total = a + b;
#else
    const auto total = broadcast<key>(a, key{7}) + b;
#endif
  }
  {
    // mistake 2: The output weight of another model, seen at the residual
    // says: operator+: neither operand has all axes of the other: left has (query, model<768>), right has
    // (query, model<512>); only left has (model<768>), only right has (model<512>); model is 768 in the left
    // operand and 512 in the right operand (rename an axis, or say broadcast)
    // literal: operator: neither operand has all axes of the other (rename an axis, or say broadcast)
    const tensor<float, query, model<768>> x{query{5}};
    const tensor<float, query, head, d_head> context{query{5}};
#if HEED_MISTAKE == 2
    const tensor<float, head, d_head, model<512>> w_o;
#else
    const tensor<float, head, d_head, model<768>> w_o;
#endif
    const auto y = x + dot<head, d_head>(context, w_o);
  }
  {
    // mistake 3: A bias over the wrong axis of a square matrix
    // why: PyTorch adds any (n) to the last axis of an (n, n). Here the bias says which axis it goes over.
    // says: operator+: neither operand has all axes of the other: left has (model_out), right has (model_in);
    // only left has (model_out), only right has (model_in) (rename an axis, or say broadcast)
    // literal: operator: neither operand has all axes of the other (rename an axis, or say broadcast)
    const tensor<float, model_in> x;
    const tensor<float, model_in, model_out> w;
#if HEED_MISTAKE == 3
    const tensor<float, model_in> bias;
#else
    const tensor<float, model_out> bias;
#endif
    const auto y = dot<model_in>(x, w) + bias;
  }
  {
    // mistake 4: A sum of float and double
    // says: operator+: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: operator: the value types of the operands differ (say cast)
    const tensor<double, query> exact{query{5}};
#if HEED_MISTAKE == 4
    const auto total = a + exact;
#else
    const auto total = cast<double>(a) + exact;
#endif
  }
  {
    // mistake 5: A remainder of real values
    // why: % is of integers, rounding down.
    // says: operator%: values of type float do not serve here (say cast<...>(...))
    // literal: operator%: integers are needed
#if HEED_MISTAKE == 5
    const auto wrapped = a % 2;
#else
    const auto wrapped = a - floor(a / 2) * 2;
#endif
  }
  {
    // mistake 6: A function of real values over integers
    // says: exp: values of type int do not serve here (say cast<...>(...))
    // literal: a function of real values: cast the operand first
#if HEED_MISTAKE == 6
    const auto growth = exp(lengths);
#else
    const auto growth = exp(cast<float>(lengths));
#endif
  }
  {
    // mistake 7: A float mask in a logical operator
    // why: In PyTorch a float is true unless it is 0; an additive mask of 0 and -infinity would be true where it excludes.
    // says: operator&&: values of type float are no truth values: compare them, as in x > 0
    // literal: a logical operator: real values are no truth values: compare them
#if HEED_MISTAKE == 7
    const auto both = a && lengths > 0;
#else
    const auto both = a > 0.5F && lengths > 0;
#endif
  }
  {
    // mistake 8: The negation of a float mask
    // says: operator!: values of type float are no truth values: compare them, as in x > 0
    // literal: operator!: real values are no truth values: compare them
#if HEED_MISTAKE == 8
    const auto padding = !a;
#else
    const auto padding = a <= 0.5F;
#endif
  }
  {
    // mistake 9: A cast to a type that nothing computes with
    // says: cast: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits, not unsigned
    // char
    // literal: cast: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits
#if HEED_MISTAKE == 9
    const auto bytes = cast<unsigned char>(a);
#else
    const auto bytes = cast<int>(a);
#endif
  }
  {
    // mistake 10: A broadcast over an axis that is there
    // says: broadcast: the result would have axis batch twice; the operand has (batch, query)
    // literal: broadcast: the operand has that axis already
#if HEED_MISTAKE == 10
    const auto wide = broadcast<batch>(a, batch{2});
#else
    const auto wide = broadcast<head>(a);
#endif
  }
  {
    // mistake 11: A broadcast whose extent nobody knows
    // why: A new axis without an extent in its type gets it by name.
    // says: broadcast: each axis whose extent is known at run time needs it by name, once: given (), wanted
    // (key)
    // literal: tensor: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 11
    const auto wide = broadcast<key>(a);
#else
    const auto wide = broadcast<key>(a, key{7});
#endif
  }
  {
    // mistake 12: Heads beside the model
    // why: The context of all heads is the model axis once more, if they are merged.
    // says: operator+: neither operand has all axes of the other: left has (query, model<512>), right has (query, head, d_head); only left has (model<512>), only right has (head, d_head) (a forgotten merge<head, d_head, model<512>>?)
    // literal: operator: neither operand has all axes of the other (rename an axis, or say broadcast)
    const tensor<float, query, model<512>> x{query{5}};
    const tensor<float, query, head, d_head> context{query{5}};
#if HEED_MISTAKE == 12
    const auto y = x + context;
#else
    const auto y = x + merge<head, d_head, model<512>>(context);
#endif
  }
  {
    // mistake 13: A matrix product by *
    // why: It is elementwise; what is summed over is said to dot.
    // says: operator*: neither operand has all axes of the other: left has (query, model_in), right has (model_in, model_out); only left has (query), only right has (model_out) (a product that sums is dot; else rename an axis, or say broadcast)
    // literal: operator: neither operand has all axes of the other (rename an axis, or say broadcast)
    const tensor<float, query, model_in> x{query{5}};
    const tensor<float, model_in, model_out> w;
#if HEED_MISTAKE == 13
    const auto y = x * w;
#else
    const auto y = dot<model_in>(x, w);
#endif
  }
  {
    // mistake 14: A cap for each head
    // why: The cap is one number for all; a cap for each head is written out.
    // says: softcap: it is called with expressions, as in softcap(x, cap)
    // literal: softcap: it is called with expressions, as in softcap(x, cap)
    const tensor<float, head> caps;
#if HEED_MISTAKE == 14
    const auto capped = softcap(broadcast<head>(a), caps);
#else
    const auto capped = caps * tanh(broadcast<head>(a) / caps);
#endif
  }
  {
    // mistake 15: A bias in a vector
    // why: Numbers become an operand when a view names their axes.
    // says: operator+: vector is no expression: name the axes of its memory, as in view<float, query>(v.data(), query{n}); the other operand has (batch, query)
    // literal: operator: a vector or a cache is no expression: name its axes in a view, of a cache say view()
    const std::vector<float> bias(5);
#if HEED_MISTAKE == 15
    const auto y = a + bias;
#else
    const auto y = a + view<const float, query>(bias.data(), query{5});
#endif
  }
  {
    // mistake 16: A cache that is scaled
    // says: operator*: kv_cache is no expression: what is filled of it is view()
    // literal: operator: a vector or a cache is no expression: name its axes in a view, of a cache say view()
    const kv_cache<float, key, d_head> cache{key{9}};
#if HEED_MISTAKE == 16
    const auto scaled = cache * 0.125F;
#else
    const auto scaled = cache.view() * 0.125F;
#endif
  }
  {
    // mistake 17: A number that is stored in 16 bits
    // says: operator*: bf16 is no expression: say float(...); the other operand has (batch, query)
    // literal: operator: a vector or a cache is no expression: name its axes in a view, of a cache say view()
    const bf16 scale = 0.5F;
#if HEED_MISTAKE == 17
    const auto scaled = a * scale;
#else
    const auto scaled = a * float(scale);
#endif
  }
  {
    // mistake 18: An activation over an axis
    // why: It goes over every element, whatever its axes.
    // says: relu: it is called with expressions, as in relu(x); here the axes are (query)
    // literal: relu: it is called with expressions, as in relu(x)
#if HEED_MISTAKE == 18
    const auto hidden = relu<query>(a);
#else
    const auto hidden = relu(a);
#endif
  }
  {
    // mistake 19: A function of a vector
    // why: Nothing here works on values without axes. (Calls with numbers are those of the standard library.)
    // says: exp: it is called with expressions, as in exp(x)
    // literal: exp: it is called with expressions, as in exp(x)
    const std::vector<float> numbers(5);
#if HEED_MISTAKE == 19
    const auto growth = exp(numbers);
#else
    const auto growth = exp(view<const float, query>(numbers.data(), query{5}));
#endif
  }
  {
    // mistake 20: A power without an exponent
    // says: pow: it is called with expressions, as in pow(x, y)
    // literal: pow: it is called with expressions, as in pow(x, y)
#if HEED_MISTAKE == 20
    const auto square = pow(a);
#else
    const auto square = pow(a, 2);
#endif
  }
  {
    // mistake 21: The least of three
    // says: min: it is called with expressions, as in min(x, y), two at a time
    // literal: min: it is called with expressions, as in min(x, y), two at a time
#if HEED_MISTAKE == 21
    const auto least = min(a, 2 * a, 1);
#else
    const auto least = min(min(a, 2 * a), 1);
#endif
  }
  {
    // mistake 22: A mask added to the scores
    // why: PyTorch adds 0 and 1. A mask of truth values excludes by where; a bias of -infinity is another type.
    // says: operator+: truth values are no term: say where(mask, x), or cast<float>(mask) for 0 and 1; left has
    // (batch, query), right has (query)
    // literal: operator: truth values are no term: say where(mask, x), or cast<float>(mask) for 0 and 1
#if HEED_MISTAKE == 22
    const auto masked = a + (lengths > 3);
#else
    const auto masked = where(lengths > 3, a);
#endif
  }
  {
    // mistake 23: A switch where softcap takes its cap
    // says: softcap: the cap is a number, no switch: 0 is off
    // literal: softcap: the cap is a number, no switch: 0 is off
#if HEED_MISTAKE == 23
    const auto capped = softcap(a, true);
#else
    const auto capped = softcap(a, 30);
#endif
  }
}

// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of tensor and view. Out: one error each.
// Next: dot.cpp.
// page: tensor and view
#include <heed/heed.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace heed;
struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<64> {};
struct model : axis<512> {};
struct model_out : axis<512> {};
struct name_only {};

}  // namespace

int main() {
  tensor<float, query, key> a{query{2}, key{3}}, b{query{2}, key{3}};
  std::vector<float> numbers(6 * 64);

  {
    // mistake 1: Extents by place
    // why: Axes have no order that a call could rest on; a number says its axis.
    // says: tensor: extents are given by name, as in query{128}, not by place: wanted (batch, query)
    // literal: tensor: extents are given by name, as in query{128}, not by place
#if HEED_MISTAKE == 1
    tensor<float, batch, query> x{2, 5};
#else
    tensor<float, batch, query> x{batch{2}, query{5}};
#endif
  }
  {
    // mistake 2: An extent is forgotten
    // why: Every axis without an extent in its type gets one, once. (Without any, all are 0.)
    // says: tensor: each axis whose extent is known at run time needs it by name, once: given (batch), wanted
    // (batch, query)
    // literal: tensor: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 2
    tensor<float, batch, query, model> x{batch{2}};
#else
    tensor<float, batch, query, model> x{batch{2}, query{5}};
#endif
  }
  {
    // mistake 3: The extent of a static axis is given again
    // why: The type has it; a second one could only contradict it.
    // says: tensor: each axis whose extent is known at run time needs it by name, once: given (query, d_head),
    // wanted (query) (d_head has 64 in its type: leave it out)
    // literal: tensor: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 3
    tensor<float, query, d_head> x{query{5}, d_head{64}};
#else
    tensor<float, query, d_head> x{query{5}};
#endif
  }
  {
    // mistake 4: A square weight with one tag
    // why: Which of the two is contracted could not be said: the transposed weight would fit as well.
    // says: tensor: an axis occurs twice in (model, model) (a square weight takes two tags)
    // literal: tensor: an axis occurs twice
#if HEED_MISTAKE == 4
    tensor<float, model, model> w;
#else
    tensor<float, model, model_out> w;
#endif
  }
  {
    // mistake 5: A tag that derives from nothing
    // why: A tag carries its extent.
    // says: tensor: name_only is no axis: an axis is a struct that derives from heed::axis
    // literal: this is no axis: an axis is a struct that derives from heed::axis
#if HEED_MISTAKE == 5
    tensor<float, name_only> x;
#else
    struct named : axis<> {};
    tensor<float, named> x;
#endif
  }
  {
    // mistake 6: Elements of a type that nothing computes with
    // why: A quantised weight is unpacked by its reader; masks are bool.
    // says: tensor: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits, not
    // unsigned char
    // literal: tensor: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits
#if HEED_MISTAKE == 6
    tensor<unsigned char, query, key> mask{query{2}, key{3}};
#else
    tensor<bool, query, key> mask{query{2}, key{3}};
#endif
  }
  {
    // mistake 7: An expression is taken for its result
    // why: Words are lazy: nothing runs before evaluate.
    // says: tensor: an expression with axes (query, key) has no elements yet: say evaluate(...)
    // literal: tensor: an expression has no elements yet: say evaluate(...)
#if HEED_MISTAKE == 7
    tensor<float, query, key> sum = a + b;
#else
    tensor<float, query, key> sum = evaluate(a + b);
#endif
  }
  {
    // mistake 8: A result in another order
    // why: The order of a tensor's axes is that of its memory; changing it is a copy, which is said.
    // says: tensor: an expression with axes (query, key) has no elements yet: say evaluate(...), or
    // evaluate<key, query>(...) for the order (key, query)
    // literal: tensor: an expression has no elements yet: say evaluate(...)
#if HEED_MISTAKE == 8
    tensor<float, key, query> transposed = a;
#else
    tensor<float, key, query> transposed = evaluate<key, query>(a);
#endif
  }
  {
    // mistake 9: In-place arithmetic
    // why: An expression has nothing to change. A destination that the expression reads too is safe.
    // says: operator+= and its like: expressions do not change in place: say evaluate_into(x, x + y)
    // literal: operator+= and its like: expressions do not change in place: say evaluate_into(x, x + y)
#if HEED_MISTAKE == 9
    a += b;
#else
    evaluate_into(a, a + b);
#endif
  }
  {
    // mistake 10: A tensor as a truth value
    // why: == compares element by element, and many truths are none.
    // says: an expression is no truth value: compare two tensors with identical(a, b)
    // literal: an expression is no truth value: compare two tensors with identical(a, b)
#if HEED_MISTAKE == 10
    const bool same = a == b ? true : false;
#else
    const bool same = identical(a, b);
#endif
    (void)same;
  }
  {
    // mistake 11: identical of expressions
    // why: It compares memory.
    // says: identical: it compares two tensors of one type (evaluate first): left has (query, key), right has
    // (query, d_head)
    // literal: identical: it compares two tensors of one type: evaluate first
#if HEED_MISTAKE == 11
    const bool same = identical(a, rename<key, d_head>(slice<key>(a, 0, 0)));
#else
    const bool same = identical(a, evaluate(b));
#endif
    (void)same;
  }
  {
    // mistake 12: x[i], as in PyTorch
    // why: Which axis would it be? at names it.
    // says: x[i]: axes have names, not places: say at<A>(x, i), or x(i, j, ...) for an element of a tensor
    // literal: x[i]: axes have names, not places: say at<A>(x, i), or x(i, j, ...) for an element of a tensor
#if HEED_MISTAKE == 12
    auto first = a[0];
#else
    auto first = at<query>(a, 0);
#endif
  }
  {
    // mistake 13: An element with too few coordinates
    // why: A tensor's elements are read with a coordinate for each axis of its type, in that order.
    // says: tensor: one coordinate for each of the axes (query, key), not 1
    // literal: tensor: one coordinate for each axis
#if HEED_MISTAKE == 13
    a(1) = 0;
#else
    a(1, 2) = 0;
#endif
  }
  {
    // mistake 14: An element of an expression
    // why: It is not computed yet.
    // says: x(i, j): an expression has no elements before it is evaluated: say evaluate(...)
    // literal: an expression has no elements before it is evaluated: say evaluate(...)
#if HEED_MISTAKE == 14
    const float corner = (a + b)(0, 0);
#else
    const float corner = evaluate(a + b)(0, 0);
#endif
    (void)corner;
  }
  {
    // mistake 15: The extent of an axis that is not there
    // says: extent over axis batch: the operand has no such axis, it has (query, key)
    // literal: extent: the tensor has no such axis
#if HEED_MISTAKE == 15
    const extent_t n = a.extent<batch>();
#else
    const extent_t n = a.extent<query>();
#endif
    (void)n;
  }
  {
    // mistake 16: A view over values of another type
    // says: view: a pointer to float does not serve where the elements are const double
    // literal: view: the pointer is to values of another type than the elements
#if HEED_MISTAKE == 16
    view<const double, query, d_head> x(numbers.data(), query{6});
#else
    view<const float, query, d_head> x(numbers.data(), query{6});
#endif
  }
  {
    // mistake 17: A view without an extent
    // says: view: each axis whose extent is known at run time needs it by name, once: given (), wanted (query)
    // literal: tensor: each axis whose extent is known at run time needs it by name, once
#if HEED_MISTAKE == 17
    view<const float, query, d_head> x(numbers.data());
#else
    view<const float, query, d_head> x(numbers.data(), query{6});
#endif
  }
  {
    // mistake 18: A view with too few strides
    // why: One stride for each axis, in the order of the type.
    // says: view: one stride for each of the axes (query, d_head), not 1
    // literal: view: one stride for each axis
#if HEED_MISTAKE == 18
    view<const float, query, d_head> x(numbers.data(), query{6}, strides{64});
#else
    view<const float, query, d_head> x(numbers.data(), query{6}, strides{64, 1});
#endif
  }
  {
    // mistake 19: A tensor of another type
    // says: tensor: values of type float do not become elements of type double unsaid: say evaluate_into(x, e),
    // which converts
    // literal: tensor: values of one type do not become elements of another unsaid: say evaluate_into(x, e)
#if HEED_MISTAKE == 19
    tensor<double, query, key> exact = a;
#else
    tensor<double, query, key> exact{query{2}, key{3}};
    evaluate_into(exact, a);
#endif
  }
  {
    // mistake 20: A tensor of given numbers
    // says: tensor: it is made of extents and owns its elements: copy others into it, or name their axes in a view
    // literal: tensor: it is made of extents and owns its elements: copy others into it, or name their axes in a view
#if HEED_MISTAKE == 20
    tensor<float, query, d_head> x(numbers);
#else
    tensor<float, query, d_head> x{query{6}};
    std::copy(numbers.begin(), numbers.end(), x.begin());
#endif
  }
  {
    // mistake 21: A tensor over foreign memory
    // why: A tensor owns its elements; a view does not.
    // says: tensor: it is made of extents and owns its elements: copy others into it, or name their axes in a view
    // literal: tensor: it is made of extents and owns its elements: copy others into it, or name their axes in a view
#if HEED_MISTAKE == 21
    tensor<float, query, d_head> x(numbers.data(), query{6});
#else
    view<float, query, d_head> x(numbers.data(), query{6});
#endif
  }
  {
    // mistake 22: A view of a vector
    // says: view: the memory is given by a pointer, as in v.data()
    // literal: view: the memory is given by a pointer, as in v.data()
#if HEED_MISTAKE == 22
    view<float, query, d_head> x(numbers, query{6});
#else
    view<float, query, d_head> x(numbers.data(), query{6});
#endif
  }
  {
    // mistake 23: Strides before extents
    // says: view: strides stand behind the extents
    // literal: view: strides stand behind the extents
#if HEED_MISTAKE == 23
    view<float, query, d_head> x(numbers.data(), strides{64, 1}, query{6});
#else
    view<float, query, d_head> x(numbers.data(), query{6}, strides{64, 1});
#endif
  }
  {
    // mistake 24: A tensor that is set to a number
    // says: tensor: only a tensor is assigned to it: say std::fill(x.begin(), x.end(), 0), or std::copy for many
    // literal: tensor: only a tensor is assigned to it: say std::fill(x.begin(), x.end(), 0), or std::copy for many
#if HEED_MISTAKE == 24
    a = 0;
#else
    std::fill(a.begin(), a.end(), 0.0F);
#endif
  }
  {
    // mistake 25: x.size(i), as in PyTorch
    // says: x.size(i): axes have names, not places: say x.extent<query>()
    // literal: x.size(i): axes have names, not places: say x.extent<query>()
#if HEED_MISTAKE == 25
    const extent_t n = a.size(0);
#else
    const extent_t n = a.extent<query>();
#endif
  }
  {
    // mistake 26: An axis as an argument
    // says: x.extent(query): an axis is named in angle brackets: say x.extent<query>()
    // literal: x.extent(query): an axis is named in angle brackets: say x.extent<query>()
#if HEED_MISTAKE == 26
    const extent_t n = a.extent(query{});
#else
    const extent_t n = a.extent<query>();
#endif
  }
  {
    // mistake 27: Coordinates by name
    // says: tensor: the coordinates are integers, in the order of the axes (query, key), not query
    // literal: tensor: the coordinates are integers, in the order of the axes
#if HEED_MISTAKE == 27
    a(query{1}, key{2}) = 0;
#else
    a(1, 2) = 0;
#endif
  }
  {
    // mistake 28: Half an extent
    // says: axis: an extent is an integer
    // literal: axis: an extent is an integer
#if HEED_MISTAKE == 28
    tensor<float, query> x{query{2.5}};
#else
    tensor<float, query> x{query{2}};
#endif
  }
  {
    // mistake 29: A total as a number
    // why: An expression is a formula until it is evaluated; with no axis left, its tensor has one element, ().
    // says: this is no float: of an expression take evaluate(e)(), of a tensor x(i, j)
    // literal: this is no number: of an expression take evaluate(e)(), of a tensor x(i, j)
#if HEED_MISTAKE == 29
    const float total = sum<query, key>(a * b);
#else
    const float total = evaluate(sum<query, key>(a * b))();
#endif
    (void)total;
  }
  {
    // mistake 30: A loop over an expression
    // says: an expression has no elements before it is evaluated: say evaluate(...)
    // literal: an expression has no elements before it is evaluated: say evaluate(...)
#if HEED_MISTAKE == 30
    for (const float x : a + b) numbers[0] += x;
#else
    for (const float x : evaluate(a + b)) numbers[0] += x;
#endif
  }
  {
    // mistake 31: The memory of an expression
    // says: an expression has no elements before it is evaluated: say evaluate(...)
    // literal: an expression has no elements before it is evaluated: say evaluate(...)
#if HEED_MISTAKE == 31
    const float* first = (a + b).data();
#else
    const tensor total = evaluate(a + b);
    const float* first = total.data();
#endif
    (void)first;
  }
  {
    // mistake 32: A loop over a view
    // why: A view may have strides: what lies behind its first element need not be its own.
    // says: view: its elements may lie apart: go by coordinates, as in x(i, j), or over a copy, evaluate(x)
    // literal: view: its elements may lie apart: go by coordinates, as in x(i, j), or over a copy, evaluate(x)
    const view<float, query> columns(numbers.data(), query{6}, strides{64});
#if HEED_MISTAKE == 32
    for (const float x : columns) numbers[0] += x;
#else
    for (const float x : evaluate(columns)) numbers[0] += x;
#endif
  }
  {
    // mistake 33: The shape of a tensor
    // says: x.shape(): axes have names, not places: say x.extent<query>()
    // literal: x.shape(): axes have names, not places: say x.extent<query>()
#if HEED_MISTAKE == 33
    const auto n = a.shape();
#else
    const auto n = a.extent<query>();
#endif
    (void)n;
  }
  {
    // mistake 34: A view with numbers for its extents
    // says: view: extents are given by name, as in query{128}, not by place: wanted (query)
    // literal: view: extents are given by name, as in query{128}, not by place
#if HEED_MISTAKE == 34
    view<const float, query, d_head> x(numbers.data(), 6);
#else
    view<const float, query, d_head> x(numbers.data(), query{6});
#endif
  }
  {
    // mistake 35: The extent at a place
    // says: x.extent(i): axes have names, not places: say x.extent<query>()
    // literal: x.extent(i): axes have names, not places: say x.extent<query>()
#if HEED_MISTAKE == 35
    const extent_t n = a.extent(0);
#else
    const extent_t n = a.extent<query>();
#endif
    (void)n;
  }
}

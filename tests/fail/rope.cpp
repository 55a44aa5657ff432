// SPDX-License-Identifier: BSL-1.0
// In: wrong uses of rope. Out: one error each.
// Next: evaluate.cpp.
// page: rope
#include <heed/heed.hpp>

namespace {

using namespace heed;
struct position : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<64> {};
struct pair : axis<32> {};
struct quarter : axis<16> {};
struct odd : axis<5> {};

}  // namespace

int main() {
  const tensor<float, query, d_head> q{query{5}};

  {
    // mistake 1: Positions along an axis that is not there
    // says: rope over axis position: the operand has no such axis, it has (query, d_head) (a forgotten
    // rename<query, position>?)
    // literal: rope: the operand has no such axis
#if HEED_MISTAKE == 1
    const auto turned = rope<d_head, position>(q, rope_pairs::half);
#else
    const auto turned = rope<d_head, query>(q, rope_pairs::half);
#endif
  }
  {
    // mistake 2: A head of odd width
    // why: Elements turn in pairs. Part of a head is turned by slice, rope and concat.
    // says: rope: axis odd has the odd extent 5: its elements turn in pairs
    // literal: rope: the axis has an odd extent, its elements turn in pairs
    const tensor<float, query, odd> narrow{query{5}};
#if HEED_MISTAKE == 2
    const auto turned = rope<odd, query>(narrow, rope_pairs::half);
#else
    const auto turned = rope<d_head, query>(q, rope_pairs::half);
#endif
  }
  {
    // mistake 3: A past that is a fraction
    // says: rope: the past is an integer or an integer expression, not float
    // literal: past is an integer or an integer expression
    const tensor<float, query> seconds{query{5}};
#if HEED_MISTAKE == 3
    const auto turned = rope<d_head, query>(q, rope_pairs::half, 10000, seconds);
#else
    const auto turned = rope<d_head, query>(q, rope_pairs::half, 10000, cast<int>(seconds));
#endif
  }
  {
    // mistake 4: Tables of another width
    // says: rope: the tables go over half of axis d_head: it has extent 64, quarter has 16, not 32
    // literal: rope: the tables go over half of the axis
#if HEED_MISTAKE == 4
    const tensor<float, query, quarter> cosines{query{5}}, sines{query{5}};
    const auto turned = rope<d_head, quarter>(q, rope_pairs::half, cosines, sines);
#else
    const tensor<float, query, pair> cosines{query{5}}, sines{query{5}};
    const auto turned = rope<d_head, pair>(q, rope_pairs::half, cosines, sines);
#endif
  }
  {
    // mistake 5: Tables over the positions of the keys
    // says: rope: the table of cosines or sines has axes (key) that the operand lacks: table of cosines or
    // sines (key), operand (query, d_head)
    // literal: rope: the tables have axes that the operand lacks
#if HEED_MISTAKE == 5
    const tensor<float, key, pair> cosines{key{5}}, sines{key{5}};
#else
    const tensor<float, query, pair> cosines{query{5}}, sines{query{5}};
#endif
    const auto turned = rope<d_head, pair>(q, rope_pairs::half, cosines, sines);
  }
  {
    // mistake 6: Tables of another type
    // says: rope: left is float and right is double (say cast<float>(...) or cast<double>(...))
    // literal: rope: the value types of the operand and the tables differ (say cast)
    const tensor<double, query, pair> cosines{query{5}}, sines{query{5}};
#if HEED_MISTAKE == 6
    const auto turned = rope<d_head, pair>(q, rope_pairs::half, cosines, sines);
#else
    const auto turned = rope<d_head, pair>(q, rope_pairs::half, cast<float>(cosines), cast<float>(sines));
#endif
  }
  {
    // mistake 7: Integers turned
    // says: rope: values of type int do not serve here (say cast<...>(...))
    // literal: rope: real values are needed (say cast)
    const tensor<int, query, d_head> whole{query{5}};
#if HEED_MISTAKE == 7
    const auto turned = rope<d_head, query>(whole, rope_pairs::half);
#else
    const auto turned = rope<d_head, query>(cast<float>(whole), rope_pairs::half);
#endif
  }
  {
    // mistake 8: Which elements turn together
    // why: Models differ in it, so there is no default.
    // says: rope: it is called with expressions, as in rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, cosines, sines); here the axes are (d_head, query)
    // literal: rope: it is called with expressions, as in rope<A, Position>(x, pairs, base, past) or rope<A, Half>(x, pairs, cosines, sines)
#if HEED_MISTAKE == 8
    const auto turned = rope<d_head, query>(q, 10000);
#else
    const auto turned = rope<d_head, query>(q, rope_pairs::half, 10000);
#endif
  }
}

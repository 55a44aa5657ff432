// SPDX-License-Identifier: BSL-1.0
// The axes that generated formulas are made of, each with the number that the reference knows it by. Next: trial.hpp.
#pragma once

#include <heed/axis.hpp>

namespace formulas {

struct batch : heed::axis<> {
  static constexpr int number = 0;
};
struct head : heed::axis<> {
  static constexpr int number = 1;
};
struct group : heed::axis<> {
  static constexpr int number = 2;
};
struct query : heed::axis<> {
  static constexpr int number = 3;
};
struct key : heed::axis<> {
  static constexpr int number = 4;
};
struct token : heed::axis<> {
  static constexpr int number = 5;
};
struct entry : heed::axis<> {
  static constexpr int number = 6;
};
struct d_head : heed::axis<> {
  static constexpr int number = 7;
};
struct d_value : heed::axis<> {
  static constexpr int number = 8;
};
struct model : heed::axis<> {
  static constexpr int number = 9;
};
struct hidden : heed::axis<> {
  static constexpr int number = 10;
};
struct part : heed::axis<> {
  static constexpr int number = 11;
};
struct sixteen : heed::axis<16> {
  static constexpr int number = 12;
};
struct three : heed::axis<3> {
  static constexpr int number = 13;
};
struct two : heed::axis<2> {
  static constexpr int number = 14;
};

}  // namespace formulas

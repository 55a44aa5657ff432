// SPDX-License-Identifier: BSL-1.0
// In: a matrix of another library, 3 x 4, and its strides. Out: the check that a view of it is the same memory, whoever writes.
// Next: eigen.cpp, xtensor.cpp.
#pragma once
#include <heed/interop/view_of.hpp>

#include <boost/test/unit_test.hpp>

namespace test {

template <class Row, class Column, class Matrix>
void check_view_of_matrix(Matrix& m, heed::extent_t down, heed::extent_t right) {
  auto const v = heed::interop::view_of<Row, Column>(m, Row{3});
  static_assert(std::is_same_v<decltype(v), heed::view<float, Row, Column> const>);
  BOOST_TEST(v.data() == m.data());
  BOOST_TEST(v.template extent<Row>() == 3);
  BOOST_TEST(v.template stride<Row>() == down);
  BOOST_TEST(v.template stride<Column>() == right);
  v(2, 1) = 7;
  BOOST_TEST(m(2, 1) == 7);
  m(1, 3) = -7;
  BOOST_TEST(v(1, 3) == -7);
}

}  // namespace test

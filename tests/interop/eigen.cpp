// SPDX-License-Identifier: BSL-1.0
// In: Eigen's matrices, vectors, blocks and maps, and heed's tensors, views and slices. Out: both as each other, the same
// memory, strides kept; what does not fit, in a sentence; a product that both compute.
// Next: xtensor.cpp.
#include "../support/exceptions.hpp"
#include "matrices.hpp"
#include <heed/heed.hpp>
#include <heed/interop/eigen.hpp>

#include <numeric>

using namespace heed;

namespace {

struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<4> {};
struct single : axis<1> {};
struct wide : axis<512> {};

template <class Action> std::string refusal(Action action) { return test::message_of<shape_error>(action); }
template <class T> T counted(T t) {
  std::iota(t.begin(), t.end(), typename T::value_type(0));
  return t;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interop_eigen)

BOOST_AUTO_TEST_CASE(a_view_of_a_matrix_in_either_order) {
  Eigen::MatrixXf by_columns(3, 4);
  Eigen::Matrix<float, Eigen::Dynamic, 4, Eigen::RowMajor> by_rows(3, 4);
  test::check_view_of_matrix<query, d_head>(by_columns, 1, 3);
  test::check_view_of_matrix<query, d_head>(by_rows, 4, 1);
  auto const& constant = by_columns;
  static_assert(std::is_same_v<decltype(interop::view_of<query, key>(constant)), view<float const, query, key>>);
}

BOOST_AUTO_TEST_CASE(a_view_of_a_part) {
  Eigen::MatrixXd m = Eigen::MatrixXd::Random(6, 8);
  auto const block = interop::view_of<query, key>(m.block(1, 2, 4, 3));
  BOOST_TEST(&block(1, 2) == &m(2, 4));
  auto const row = interop::view_of<key>(m.row(5));
  BOOST_TEST(row.extent<key>() == 8);
  BOOST_TEST(row.stride<key>() == 6);
  BOOST_TEST(&row(3) == &m(5, 3));
  using apart = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Eigen::MatrixXd const, Eigen::Unaligned, apart> const sparse(m.data(), 3, 4, apart(12, 2));
  auto const v = interop::view_of<query, key>(sparse);
  static_assert(std::is_same_v<decltype(v), view<double const, query, key> const>);
  BOOST_TEST(&v(1, 3) == m.data() + 1 * 2 + 3 * 12);
  Eigen::Array<int, 4, 1> ids;
  auto const both = interop::view_of<d_head, single>(ids);
  BOOST_TEST(&both(3, 0) == &ids(3));
  BOOST_TEST(interop::view_of<d_head>(ids).stride<d_head>() == 1);
  Eigen::MatrixXf const nothing(0, 4);
  BOOST_TEST((interop::view_of<query, d_head>(nothing).size()) == 0);
}

BOOST_AUTO_TEST_CASE(a_map_of_a_tensor) {
  auto t = counted(tensor<float, query, d_head>{query{3}});
  auto m = interop::eigen_map(t);
  static_assert(decltype(m)::ColsAtCompileTime == 4 && decltype(m)::RowsAtCompileTime == Eigen::Dynamic);
  BOOST_TEST(m.data() == t.data());
  BOOST_TEST(m.rows() == 3);
  BOOST_TEST(m(2, 1) == t(2, 1));
  m.row(1).setConstant(9);
  BOOST_TEST(t(1, 3) == 9);
  auto const& constant = t;
  static_assert(std::is_same_v<decltype(interop::eigen_map(constant).data()), float const*>);
  BOOST_TEST(interop::eigen_map(constant).sum() == m.sum());

  auto column = counted(tensor<double, query, single>{query{5}});
  BOOST_TEST(interop::eigen_map(column)(3, 0) == 3);
  auto row = counted(tensor<double, single, query>{query{5}});
  BOOST_TEST(interop::eigen_map(row)(0, 3) == 3);
  auto vector = counted(tensor<std::int32_t, d_head>{});
  static_assert(decltype(interop::eigen_map(vector))::SizeAtCompileTime == 4);
  BOOST_TEST(interop::eigen_map(vector).sum() == 6);
  tensor<float, wide, query> large{query{2}};
  static_assert(decltype(interop::eigen_map(large))::RowsAtCompileTime == Eigen::Dynamic);  // else on the stack
  BOOST_TEST(interop::eigen_map(large).rows() == 512);
}

BOOST_AUTO_TEST_CASE(a_map_of_a_view_and_of_a_slice) {
  auto t = counted(tensor<float, query, d_head>{query{6}});
  view<float, d_head, query> const turned(t.data(), query{3}, strides{1, 8});
  auto m = interop::eigen_map(turned);
  BOOST_TEST(m.rows() == 4);
  BOOST_TEST(&m(3, 2) == &t(4, 3));
  m(0, 1) = -1;
  BOOST_TEST(t(2, 0) == -1);
  auto part = interop::eigen_map(slice<query>(t, 2, 5));
  BOOST_TEST(part.rows() == 3);
  BOOST_TEST(&part(0, 1) == &t(2, 1));
  auto column = interop::eigen_map(at<d_head>(t, 2));
  BOOST_TEST(column.size() == 6);
  BOOST_TEST(&column(5) == &t(5, 2));
  // To heed and back: the same memory, the same strides.
  auto const back = interop::view_of<d_head, query>(m);
  BOOST_TEST(back.data() == turned.data());
  BOOST_TEST(back.stride<query>() == 8);
}

BOOST_AUTO_TEST_CASE(extents_that_differ) {
  Eigen::MatrixXf m(12, 4);
  BOOST_TEST(refusal([&] { interop::view_of<query, d_head>(m, query{3}); }) ==
             "view_of: wanted (query 3, d_head 4), found [12, 4]");
  BOOST_TEST(refusal([&] { interop::view_of<d_head, query>(m); }) ==
             "view_of: wanted (d_head 4, query), found [12, 4]: it is the wanted shape transposed");
  Eigen::VectorXf const v(5);
  BOOST_TEST(refusal([&] { interop::view_of<d_head>(v); }) == "view_of: wanted (d_head 4), found [5]");
}

BOOST_AUTO_TEST_CASE(both_compute_the_same) {
  Eigen::MatrixXd const q = Eigen::MatrixXd::Random(5, 4), k = Eigen::MatrixXd::Random(7, 4);
  Eigen::MatrixXd scores(5, 7);  // by columns: heed writes it as it lies
  auto const queries = interop::view_of<query, d_head>(q);
  auto const keys = interop::view_of<key, d_head>(k);
  evaluate_into(interop::view_of<query, key>(scores), dot<d_head>(queries, keys));
  BOOST_TEST((scores - q * k.transpose()).cwiseAbs().maxCoeff() < 1e-14);
}

BOOST_AUTO_TEST_SUITE_END()

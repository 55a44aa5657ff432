// SPDX-License-Identifier: BSL-1.0
// In: xtensor's arrays, tensors, adaptors and views, and heed's tensors, views and slices. Out: both as each other, the same
// memory, strides kept; what does not fit, in a sentence.
// Next: dlpack.cpp.
#include "../support/exceptions.hpp"
#include "matrices.hpp"
#include <heed/interop/xtensor.hpp>
#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xfixed.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xtensor.hpp>
#endif

#include <numeric>

using namespace heed;

namespace {

struct batch : axis<> {};
struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<4> {};

template <class Action> std::string refusal(Action action) { return test::message_of<shape_error>(action); }

}  // namespace

BOOST_AUTO_TEST_SUITE(interop_xtensor)

BOOST_AUTO_TEST_CASE(a_view_of_an_array) {
  xt::xarray<float> any = xt::zeros<float>({3, 4});
  xt::xtensor<float, 2> fixed_rank = any;
  xt::xtensor<float, 2, xt::layout_type::column_major> by_columns = any;
  xt::xtensor_fixed<float, xt::xshape<3, 4>> fixed_shape = any;
  test::check_view_of_matrix<query, d_head>(any, 4, 1);
  test::check_view_of_matrix<query, d_head>(fixed_rank, 4, 1);
  test::check_view_of_matrix<query, d_head>(by_columns, 1, 3);
  test::check_view_of_matrix<query, d_head>(fixed_shape, 4, 1);
  auto const& constant = any;
  static_assert(std::is_same_v<decltype(interop::view_of<query, key>(constant)), view<float const, query, key>>);
  xt::xarray<double> const scalar(xt::xarray<double>::shape_type{}, 2.5);
  BOOST_TEST(interop::view_of<>(scalar)() == 2.5);
}

BOOST_AUTO_TEST_CASE(a_view_of_a_part) {
  xt::xtensor<int, 3> a({2, 5, 6}, 0);
  auto part = xt::view(a, 1, xt::range(1, 4), xt::range(0, 6, 2));
  auto const v = interop::view_of<query, key>(part, query{3}, key{3});
  BOOST_TEST(&v(2, 1) == &a(1, 3, 2));
  BOOST_TEST(v.stride<query>() == 6);
  BOOST_TEST(v.stride<key>() == 2);
}

BOOST_AUTO_TEST_CASE(an_adaptor_of_a_tensor) {
  tensor<float, query, d_head> t{query{3}};
  std::iota(t.begin(), t.end(), 0.f);
  auto a = interop::xtensor_of(t);
  BOOST_TEST(a.data() == t.data());
  BOOST_TEST(a.dimension() == 2U);
  BOOST_TEST(a.shape()[0] == 3U);
  BOOST_TEST(a(2, 1) == t(2, 1));
  a(0, 3) = 20;
  BOOST_TEST(t(0, 3) == 20);
  auto const& constant = t;
  static_assert(std::is_same_v<decltype(interop::xtensor_of(constant).data()), float const*>);
  BOOST_TEST(interop::xtensor_of(constant)(0, 3) == 20);
  tensor<double> one;
  interop::xtensor_of(one)() = 3;
  BOOST_TEST(one() == 3);
}

BOOST_AUTO_TEST_CASE(an_adaptor_of_a_view) {
  std::vector<float> data(24);
  std::iota(data.begin(), data.end(), 0.f);
  view<float const, d_head, query> const turned(data.data(), query{3}, strides{1, 8});
  auto const a = interop::xtensor_of(turned);
  xt::xtensor<float, 2> const copy = a;  // iterates as the strides say
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      BOOST_TEST(&a(i, j) == data.data() + i + 8 * j);
      BOOST_TEST(copy(i, j) == data[i + 8 * j]);
    }
  auto const back = interop::view_of<d_head, query>(a);
  BOOST_TEST(back.data() == turned.data());
  BOOST_TEST(back.stride<query>() == 8);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit) {
  xt::xarray<float> a = xt::zeros<float>({3, 4});
  BOOST_TEST(refusal([&] { interop::view_of<d_head>(a); }) == "view_of: wanted (d_head 4), found [3, 4]");
  BOOST_TEST(refusal([&] { interop::view_of<batch, query, d_head>(a); }) ==
             "view_of: wanted (batch, query, d_head 4), found [3, 4]");
  BOOST_TEST(refusal([&] { interop::view_of<d_head, query>(a); }) ==
             "view_of: wanted (d_head 4, query), found [3, 4]: it is the wanted shape transposed");
  BOOST_TEST(refusal([&] { interop::view_of<query, d_head>(a, query{2}); }) ==
             "view_of: wanted (query 2, d_head 4), found [3, 4]");
  view<float, query> const backwards(a.data() + 11, query{12}, strides{-1});
  BOOST_TEST(refusal([&] { interop::xtensor_of(backwards); }) ==
             "xtensor_of: axis query has stride -1, xtensor only takes strides from 0 on");
}

BOOST_AUTO_TEST_SUITE_END()

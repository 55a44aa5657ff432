// SPDX-License-Identifier: BSL-1.0
// In: small tensors of every type, large ones, views. Out: the text that io/print.hpp makes of them, to the character.
// Next: ../include/heed/io/print.hpp.
#include <heed/io/print.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct batch : heed::axis<> {};
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<4> {};

template <class Elements> std::string text_of(Elements const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

template <class T> heed::tensor<T, key> row(std::vector<T> const& values) {
  heed::tensor<T, key> x{key{values.size()}};
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

template <class T> heed::tensor<T, query, key> counted(heed::extent_t queries, heed::extent_t keys) {
  heed::tensor<T, query, key> x{query{queries}, key{keys}};
  for (heed::extent_t at = 0; at < x.size(); ++at) x.data()[at] = static_cast<T>(at);
  return x;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

BOOST_AUTO_TEST_SUITE(io_print)

BOOST_AUTO_TEST_CASE(points_stand_below_each_other) {
  heed::tensor<float, query, key> x{query{2}, key{3}};
  x(0, 0) = 0.5f, x(0, 1) = 0.25f, x(0, 2) = -12.f;
  x(1, 0) = 1.f, x(1, 2) = 1 / 3.f;
  BOOST_TEST(text_of(x) ==
             "float [query 2, key 3]\n"
             "[[  0.5      0.25   -12.    ]\n"
             " [  1.       0.       0.3333]]");
  BOOST_TEST(heed::io::printed(x, {.decimals = 1}) ==
             "float [query 2, key 3]\n"
             "[[  0.5   0.2 -12. ]\n"
             " [  1.    0.    0.3]]");
}

BOOST_AUTO_TEST_CASE(every_type_has_its_name) {
  BOOST_TEST(text_of(row<double>({1, 2})) == "double [key 2]\n[1. 2.]");
  BOOST_TEST(text_of(row<heed::bf16>({1.5f, -2.f})) == "bf16 [key 2]\n[ 1.5 -2. ]");
  BOOST_TEST(text_of(row<heed::f16>({0.125f})) == "f16 [key 1]\n[0.125]");
  BOOST_TEST(text_of(row<std::int32_t>({7, -100, 3})) == "int32 [key 3]\n[   7 -100    3]");
  BOOST_TEST(text_of(row<std::int64_t>({std::numeric_limits<std::int64_t>::min()})) ==
             "int64 [key 1]\n[-9223372036854775808]");
  heed::tensor<bool, query, key> mask{query{2}, key{2}};
  mask(0, 0) = mask(1, 0) = mask(1, 1) = true;
  BOOST_TEST(text_of(mask) == "bool [query 2, key 2]\n[[ true false]\n [ true  true]]");
}

BOOST_AUTO_TEST_CASE(what_is_no_number_and_what_is_tiny) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  BOOST_TEST(text_of(row<double>({nan, infinity, -infinity, 1.25})) ==
             "double [key 4]\n[ nan     inf    -inf       1.25]");
  BOOST_TEST(text_of(row<double>({-infinity, -infinity})) == "double [key 2]\n[-inf -inf]");
  BOOST_TEST(text_of(row<double>({0, 1e-9, 1})) == "double [key 3]\n[0.     0.0000 1.    ]");
  BOOST_TEST(text_of(row<double>({2.5e-7, -1e-30, 0})) == "double [key 3]\n[ 2.5000e-07 -1.0000e-30  0.0000e+00]");
  BOOST_TEST(text_of(row<double>({1234567, 1})) == "double [key 2]\n[1.2346e+06 1.0000e+00]");
  BOOST_TEST(text_of(row<double>({999999, 0.5})) == "double [key 2]\n[999999.       0.5]");
}

BOOST_AUTO_TEST_CASE(empty_ones_and_single_ones) {
  BOOST_TEST(text_of(heed::tensor<float, query, key>{query{0}, key{3}}) == "float [query 0, key 3] []");
  BOOST_TEST(text_of(heed::tensor<float, key>()) == "float [key 0] []");
  heed::tensor<float> one;
  one() = 3.5f;
  BOOST_TEST(text_of(one) == "float [] 3.5");
  BOOST_TEST(text_of(heed::tensor<std::int32_t, batch, query, key>{batch{1}, query{1}, key{1}}) ==
             "int32 [batch 1, query 1, key 1]\n[[[0]]]");
}

BOOST_AUTO_TEST_CASE(blocks_of_three_axes_stand_apart) {
  heed::tensor<std::int32_t, batch, query, d_head> x{batch{2}, query{2}};
  for (heed::extent_t at = 0; at < x.size(); ++at) x.data()[at] = static_cast<std::int32_t>(at);
  BOOST_TEST(text_of(x) ==
             "int32 [batch 2, query 2, d_head 4]\n"
             "[[[ 0  1  2  3]\n"
             "  [ 4  5  6  7]]\n"
             "\n"
             " [[ 8  9 10 11]\n"
             "  [12 13 14 15]]]");
}

BOOST_AUTO_TEST_CASE(large_ones_show_their_edges) {
  BOOST_TEST(text_of(counted<std::int32_t>(50, 40)) ==
             "int32 [query 50, key 40]\n"
             "[[   0    1    2 ...   37   38   39]\n"
             " [  40   41   42 ...   77   78   79]\n"
             " [  80   81   82 ...  117  118  119]\n"
             " ...\n"
             " [1880 1881 1882 ... 1917 1918 1919]\n"
             " [1920 1921 1922 ... 1957 1958 1959]\n"
             " [1960 1961 1962 ... 1997 1998 1999]]");
  // an axis that is no longer than both edges has no gap
  BOOST_TEST(text_of(counted<std::int32_t>(6, 200)) ==
             "int32 [query 6, key 200]\n"
             "[[   0    1    2 ...  197  198  199]\n"
             " [ 200  201  202 ...  397  398  399]\n"
             " [ 400  401  402 ...  597  598  599]\n"
             " [ 600  601  602 ...  797  798  799]\n"
             " [ 800  801  802 ...  997  998  999]\n"
             " [1000 1001 1002 ... 1197 1198 1199]]");
  BOOST_TEST(heed::io::printed(counted<std::int32_t>(3, 4), {.whole = 5, .edge = 1}) ==
             "int32 [query 3, key 4]\n"
             "[[ 0 ...  3]\n"
             " ...\n"
             " [ 8 ... 11]]");
  // what is left out has no say in the width
  heed::tensor<std::int32_t, key> spike{key{2000}};
  spike(1000) = 123456;
  BOOST_TEST(text_of(spike) == "int32 [key 2000]\n[0 0 0 ... 0 0 0]");
}

BOOST_AUTO_TEST_CASE(long_rows_go_on_in_the_next_line) {
  BOOST_TEST(heed::io::printed(counted<std::int32_t>(2, 7), {.columns = 13}) ==
             "int32 [query 2, key 7]\n"
             "[[ 0  1  2  3\n"
             "   4  5  6]\n"
             " [ 7  8  9 10\n"
             "  11 12 13]]");
}

BOOST_AUTO_TEST_CASE(views_are_read_by_their_strides) {
  const heed::tensor<std::int32_t, query, key> x = counted<std::int32_t>(2, 3);
  const heed::view<const std::int32_t, key, query> turned(x.data(), key{3}, query{2}, heed::strides{1, 3});
  BOOST_TEST(text_of(turned) == "int32 [key 3, query 2]\n[[0 3]\n [1 4]\n [2 5]]");
}

BOOST_AUTO_TEST_SUITE_END()

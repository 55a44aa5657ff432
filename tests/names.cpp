// SPDX-License-Identifier: BSL-1.0
// In: a user whose axes and functions are called like the words of the library and like its likely insides, some
// of them templates that take anything. Out: heed::-qualified code compiles and means what it says.
// Next: tests/fail, the mistakes that must not compile.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstddef>
#include <utility>

namespace greedy {

// Axes with the names of words.
struct window : heed::axis<> {};
struct index : heed::axis<> {};
struct softmax : heed::axis<4> {};
struct view : heed::axis<2> {};
struct axes : heed::axis<> {};
struct slice : heed::axis<3> {};
struct detail : heed::axis<> {};

// Functions that take anything. Argument-dependent lookup finds them for every tensor over the axes above.
template <class... T> void evaluate(T&&...) = delete;
template <class... T> void evaluate_into(T&&...) = delete;
template <class... T> void execute(T&&...) = delete;
template <class... T> void dot(T&&...) = delete;
template <class... T> void map(T&&...) = delete;
template <class... T> void leaf(T&&...) = delete;
template <class... T> void node(T&&...) = delete;
template <class... T> void as_node(T&&...) = delete;
template <class... T> void extent(T&&...) = delete;
template <class... T> void store(T&&...) = delete;
template <class... T> void load(T&&...) = delete;
template <class... T> void run(T&&...) = delete;
template <class... T> void plan(T&&...) = delete;
template <class... T> void rows(T&&...) = delete;
template <class... T> void exp(T&&...) = delete;
template <class... T> void sum(T&&...) = delete;
template <class... T> void max(T&&...) = delete;
template <class... T> void min(T&&...) = delete;
template <class... T> void abs(T&&...) = delete;
template <class... T> void swap(T&&...) = delete;
template <class... T> void move(T&&...) = delete;
template <class... T> void forward(T&&...) = delete;
template <class... T> void get(T&&...) = delete;
template <class... T> void apply(T&&...) = delete;
template <class... T> void invoke(T&&...) = delete;
template <class... T> void tie(T&&...) = delete;
template <class... T> void visit(T&&...) = delete;
template <class... T> void begin(T&&...) = delete;
template <class... T> void end(T&&...) = delete;
template <class... T> void size(T&&...) = delete;
template <class... T> void data(T&&...) = delete;
template <class... T> void unpack(T&&...) = delete;
template <class... T> void filter(T&&...) = delete;
template <class... T> void for_each(T&&...) = delete;
template <class... T> void for_each_axis(T&&...) = delete;
template <class... T> void check_extents(T&&...) = delete;
template <class... T> void identical(T&&...) = delete;
template <class... T> void copy(T&&...) = delete;
template <class... T> void fill(T&&...) = delete;
template <class... T> void let(T&&...) = delete;
template <class... T> void where(T&&...) = delete;

// Operators for everything of this namespace: worse matches than the library's own, which are constrained.
struct number {};
template <class T> number operator+(number, const T&) { return {}; }
template <class T> number operator,(const T&, number) { return {}; }

}  // namespace greedy

BOOST_AUTO_TEST_SUITE(names)

BOOST_AUTO_TEST_CASE(attention_over_axes_with_the_names_of_words) {
  using namespace greedy;
  heed::tensor<float, window, softmax> q{window{3}};
  heed::tensor<float, greedy::index, softmax> k{greedy::index{5}}, v{greedy::index{5}};
  for (std::ptrdiff_t i = 0; i < v.size(); ++i) v.data()[i] = static_cast<float>(i / 4);
  const auto scores = heed::where(heed::causal<window, greedy::index>(2), heed::dot<softmax>(q, k) / std::sqrt(4.0));
  const auto context = heed::dot<greedy::index>(heed::softmax<greedy::index>(scores), v);
  static_assert(heed::streams<decltype(context)>);
  for (const heed::schedule how : {heed::fused, heed::unfused}) {
    const auto got = heed::evaluate(heed::policy{.schedule = how, .threads = 2}, context);
    for (int i = 0; i < 3; ++i)
      for (int d = 0; d < 4; ++d) BOOST_TEST(std::fabs(got(i, d) - (1 + 0.5F * static_cast<float>(i))) < 1e-6F);
  }
}

BOOST_AUTO_TEST_CASE(the_other_words_over_such_axes) {
  using greedy::axes, greedy::detail, greedy::slice, greedy::view;
  heed::tensor<float, detail, axes> x{detail{2}, axes{6}};
  float number = 0;
  for (float& element : x) element = number++;
  const auto split = heed::split<axes, view, slice>(x);
  const auto merged = heed::merge<view, slice, axes>(split);
  for (const heed::schedule how : {heed::fused, heed::unfused}) {
    BOOST_TEST(heed::identical(heed::evaluate(how, merged), x));
    const auto normed = heed::evaluate(how, heed::exp(x - heed::max<axes>(x)) * 2 + heed::abs(x));
    BOOST_TEST(normed(0, 5) == 7);
    const auto [total, largest] = heed::evaluate(how, heed::sum<view>(split), heed::max<slice>(split));
    BOOST_TEST(total(0, 0) == 3);
    BOOST_TEST(largest(1, 1) == 11);
    heed::tensor<float, axes, detail> turned{detail{2}, axes{6}};
    heed::evaluate_into(how, turned, heed::roll<axes>(x, 1) + heed::index<detail>());
    BOOST_TEST(turned(0, 1) == 12);
    heed::evaluate_into(how, heed::slice<axes>(x, 0, 1), heed::slice<axes>(x, 0, 1) * 1);
    const auto weights = heed::let(heed::softmax<axes>(x));
    BOOST_TEST(std::fabs(heed::evaluate(how, heed::sum<axes>(weights))(1) - 1) < 1e-6F);
  }
  BOOST_TEST(!heed::explain(merged + 1).str().empty());
  heed::kv_cache<float, detail, axes> cache{detail{4}, axes{6}};
  cache.append(x);
  BOOST_TEST(cache.length() == 2);
  const auto taken = heed::take<detail>(x, heed::index<view>());
  const auto got = heed::evaluate<view, axes>(taken);
  BOOST_TEST(got(1, 3) == 9);
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSL-1.0
// In: a user whose axes and functions are called like the words of the library and like its likely insides, some
// of them templates that take anything. Out: heed::-qualified code compiles and means what it says.
// Next: tests/fail, the mistakes that must not compile.
#include <heed/heed.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <valarray>
#include <vector>

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

namespace greedier {

struct row : heed::axis<> {};
struct column : heed::axis<> {};
struct width : heed::axis<4> {};

// Every word once more, as a template that takes an axis and anything.
template <class A, class... T> void at(T&&...) = delete;
template <class A, class... T> void take(T&&...) = delete;
template <class A, class... T> void slice(T&&...) = delete;
template <class A, class... T> void concat(T&&...) = delete;
template <class A, class... T> void stack(T&&...) = delete;
template <class A, class... T> void roll(T&&...) = delete;
template <class A, class... T> void rename(T&&...) = delete;
template <class A, class... T> void split(T&&...) = delete;
template <class A, class... T> void merge(T&&...) = delete;
template <class A, class... T> void reorder(T&&...) = delete;
template <class A, class... T> void softmax(T&&...) = delete;
template <class A, class... T> void log_sum_exp(T&&...) = delete;
template <class A, class... T> void sum(T&&...) = delete;
template <class A, class... T> void mean(T&&...) = delete;
template <class A, class... T> void max(T&&...) = delete;
template <class A, class... T> void variance(T&&...) = delete;
template <class A, class... T> void argmax(T&&...) = delete;
template <class A, class... T> void cumsum(T&&...) = delete;
template <class A, class... T> void layer_norm(T&&...) = delete;
template <class A, class... T> void rms_norm(T&&...) = delete;
template <class A, class... T> void rope(T&&...) = delete;
template <class A, class... T> void broadcast(T&&...) = delete;
template <class A, class... T> void expect(T&&...) = delete;
template <class A, class... T> void index(T&&...) = delete;
template <class A, class... T> void causal(T&&...) = delete;
template <class A, class... T> void window(T&&...) = delete;
template <class A, class... T> void alibi(T&&...) = delete;
template <class A, class... T> void cast(T&&...) = delete;
template <class A, class... T> void packed(T&&...) = delete;
template <class A, class... T> void dot(T&&...) = delete;
template <class A, class... T> void evaluate(T&&...) = delete;
// And those that take anything.
template <class... T> void where(T&&...) = delete;
template <class... T> void let(T&&...) = delete;
template <class... T> void dropout(T&&...) = delete;
template <class... T> void combine(T&&...) = delete;
template <class... T> void softcap(T&&...) = delete;
template <class... T> void relu(T&&...) = delete;
template <class... T> void silu(T&&...) = delete;
template <class... T> void exp(T&&...) = delete;
template <class... T> void log(T&&...) = delete;
template <class... T> void sqrt(T&&...) = delete;
template <class... T> void tanh(T&&...) = delete;
template <class... T> void sin(T&&...) = delete;
template <class... T> void cos(T&&...) = delete;
template <class... T> void min(T&&...) = delete;
template <class... T> void pow(T&&...) = delete;
template <class... T> void abs(T&&...) = delete;
template <class... T> void floor(T&&...) = delete;
template <class... T> void explain(T&&...) = delete;
template <class... T> void evaluate_into(T&&...) = delete;
template <class... T> void append(T&&...) = delete;
template <class... T> void view(T&&...) = delete;
template <class... T> void tensor(T&&...) = delete;
template <class... T> void leaf(T&&...) = delete;
template <class... T> void map(T&&...) = delete;
template <class... T> void reduction(T&&...) = delete;
template <class... T> void contraction(T&&...) = delete;
template <class... T> void as_node(T&&...) = delete;
template <class... T> void make_map(T&&...) = delete;
template <class... T> void check_extent(T&&...) = delete;
template <class... T> void fresh_id(T&&...) = delete;
template <class... T> void execute(T&&...) = delete;
template <class... T> void lower(T&&...) = delete;
template <class... T> void make_program(T&&...) = delete;
template <class... T> void parallel_for(T&&...) = delete;
template <class... T> void select(T&&...) = delete;
template <class... T> void load(T&&...) = delete;
template <class... T> void store(T&&...) = delete;

}  // namespace greedier

namespace theirs {

// Types with functions and operators of their own, found where the words of the library are found as well.
template <class T> struct quantity {};
struct mass : quantity<mass> {};
template <class T> int exp(const quantity<T>&) { return 1; }
template <class T> int abs(const quantity<T>&) { return 2; }
template <class T> int min(const quantity<T>&, const quantity<T>&) { return 3; }
struct length {
  double metres;
  operator double() const { return metres; }
};
/// Holds values like a vector does.
struct matrix {
  const float* data() const { return nullptr; }
  std::size_t size() const { return 0; }
};
int operator*(const matrix&, const heed::tensor<float, greedy::softmax>&) { return 4; }
template <class E> int operator+(const E&, const matrix&) { return 5; }
template <class E> int operator==(const E&, const matrix&) { return 6; }

}  // namespace theirs

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

BOOST_AUTO_TEST_CASE(calls_with_other_types_stay_theirs) {
  using namespace heed;
  BOOST_TEST(exp(0.0) + exp(0) + exp(0.0F) == 3);
  BOOST_TEST(pow(2.0, 3) == 8);
  BOOST_TEST(abs(-3) == 3);
  BOOST_TEST(floor(1.5) + sqrt(4.0) + log(1.0) + tanh(0.0) + sin(0.0) + cos(0.0) == 4);
  BOOST_TEST(exp(theirs::length{0}) == 1);
  BOOST_TEST(pow(theirs::length{2}, theirs::length{3}) == 8);
  BOOST_TEST(abs(std::complex<double>(3, 4)) == 5);
  BOOST_TEST(exp(std::complex<double>(0)) == 1.0);
  BOOST_TEST(std::valarray<double>(exp(std::valarray<double>{0.0, 0.0}))[1] == 1);
  const xsimd::batch<float> lanes(1);
  static_assert(std::is_same_v<decltype(exp(lanes)), xsimd::batch<float>> &&
                std::is_same_v<decltype(pow(lanes, lanes)), xsimd::batch<float>> &&
                std::is_same_v<decltype(min(lanes, lanes)), xsimd::batch<float>>);
  BOOST_TEST(exp(theirs::mass{}) == 1);
  BOOST_TEST(abs(theirs::mass{}) == 2);
  BOOST_TEST(min(theirs::mass{}, theirs::mass{}) == 3);
  const tensor<float, greedy::softmax> x;
  BOOST_TEST((theirs::matrix{} * x) == 4);
  BOOST_TEST((x + theirs::matrix{}) == 5);
  BOOST_TEST((x == theirs::matrix{}) == 6);
  const std::vector<tensor<float, greedy::softmax>> one, other;
  BOOST_TEST((one.size() == other.size() && std::max(one.size(), other.size()) == 0));
  static_assert(!std::is_convertible_v<std::vector<float>, tensor<float, greedy::softmax>> &&
                !std::is_convertible_v<float, tensor<float, greedy::softmax>>);
  const std::optional<tensor<float, greedy::softmax>> perhaps(x);
  BOOST_TEST(heed::identical(*perhaps, std::get<0>(std::tuple(x, 1))));
}

BOOST_AUTO_TEST_CASE(the_words_beside_functions_with_their_names) {
  using greedier::row, greedier::column, greedier::width;
  heed::tensor<float, row, width> q{row{3}};
  heed::tensor<float, column, width> k{column{3}};
  heed::tensor<int, row> ids{row{3}};
  for (int i = 0; i < 3; ++i) {
    ids(i) = 2 - i;
    for (int d = 0; d < 4; ++d) k(i, d) = static_cast<float>(4 * i + d);
  }
  for (const heed::schedule how : {heed::fused, heed::unfused}) {
    const auto scores = heed::softcap(heed::where(heed::causal<row, column>(), heed::dot<width>(q, k)), 30);
    const auto weights = heed::dropout(heed::softmax<column>(scores, -1000), 0.0, 1);
    const auto [context, lse] = heed::evaluate(how, heed::dot<column>(weights, k), heed::log_sum_exp<column>(scores));
    BOOST_TEST(std::fabs(context(2, 1) - 5) < 1e-5F);
    BOOST_TEST(std::fabs(lse(1) - std::log(2.0F)) < 1e-6F);
    const auto both = heed::combine(heed::dot<column>(weights, k), lse, heed::dot<column>(weights, k), lse);
    const auto merged = heed::evaluate(how, both.first);
    BOOST_TEST(std::fabs(merged(2, 1) - 5) < 1e-5F);
    const auto taken = heed::evaluate(how, heed::take<column>(k, ids));
    BOOST_TEST(taken(0, 0) == 8);
    const auto turned = heed::evaluate(how, heed::rope<width, column>(k, heed::rope_pairs::half));
    BOOST_TEST(turned(0, 3) == 3);
    const auto normed = heed::evaluate(how, heed::rms_norm<width>(k + 1, heed::at<column>(k, 0)));
    BOOST_TEST(normed(0, 0) == 0);
    const auto joined = heed::evaluate(how, heed::concat<column>(heed::roll<column>(k, 1), k * heed::index<width>()));
    BOOST_TEST(joined(3, 3) == 9);
    const auto stacked = heed::evaluate(how, heed::stack<row>(heed::relu(k), heed::min(k, 2)));
    BOOST_TEST(stacked.size() == 24);
    const auto wide = heed::evaluate(how, heed::broadcast<row>(heed::cumsum<width>(k), row{2}));
    BOOST_TEST(wide(1, 0, 3) == 6);
    const auto largest = heed::evaluate(how, heed::argmax<width>(k) + heed::cast<int>(heed::variance<width>(k)));
    BOOST_TEST(largest(0) == 4);
    BOOST_TEST(!heed::explain(how, heed::let(heed::softmax<column>(scores)) * 2).str().empty());
  }
  heed::kv_cache<float, column, width> cache{column{6}};
  cache.append(k);
  cache.append(heed::slice<column>(k, 0, 2));
  cache.drop(0, 1);
  BOOST_TEST(cache.length() == 4);
  const auto product = heed::evaluate(heed::dot<width>(q, heed::packed<width>(k)));
  BOOST_TEST(product(0, 0) == 0);
  BOOST_TEST(heed::identical(k, k));
}

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSL-1.0
// In: views whose elements lie further apart than 2^31 and 2^32 elements, in memory that is only reserved; extents whose product
// does not fit into 64 bits; 524288 x 524288 scores. Out: the right numbers, a refusal, and a plan that runs.
// Next: memory_peak.cpp.
#include "support/schedules.hpp"

#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

using namespace heed;
using namespace test;

namespace {

constexpr extent_t two_31 = extent_t{1} << 31, two_32 = extent_t{1} << 32;

/// Room for `count` elements of which few are touched.
template <class T> class reserved {
  void* memory_;
  std::size_t bytes_;

 public:
  explicit reserved(extent_t count) : memory_(nullptr), bytes_(static_cast<std::size_t>(count) * sizeof(T)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  reserved(const reserved&) = delete;
  reserved& operator=(const reserved&) = delete;
  ~reserved() { munmap(memory_, bytes_); }
  T* data() const { return static_cast<T*>(memory_); }
};

/// Some systems refuse to set a tebibyte of addresses aside.
boost::test_tools::assertion_result addresses_suffice(boost::unit_test::test_unit_id) {
  try {
    const reserved<double> most(30 * two_32);
  } catch (const std::bad_alloc&) {
    boost::test_tools::assertion_result no(false);
    no.message() << "there are too few addresses";
    return no;
  }
  return true;
}

/// A matrix of R x C with so many elements from one row to the next, filled; numbers are the same for the same seed.
template <class T, class R, class C> struct far_matrix {
  extent_t rows, columns, step;
  reserved<T> memory{rows * step};
  view<T, R, C> elements{memory.data(), R{rows}, C{columns}, strides{step, extent_t{1}}};
  grid<2> numbers{rows, columns};

  far_matrix(extent_t r, extent_t c, extent_t distance, std::uint64_t seed) : rows(r), columns(c), step(distance) {
    generator random(seed);
    for (extent_t i = 0; i < rows; ++i)
      for (extent_t j = 0; j < columns; ++j) {
        elements(i, j) = static_cast<T>(random.normal());
        numbers(i, j) = static_cast<double>(elements(i, j));
      }
  }
};

grid<2> attention(const grid<2>& q, const grid<2>& k, const grid<2>& v, double scale) {
  grid<2> result(q.extents[0], v.extents[1]);
  for (extent_t i = 0; i < q.extents[0]; ++i) {
    double total = 0;
    for (extent_t j = 0; j < k.extents[0]; ++j) {
      double score = 0;
      for (extent_t d = 0; d < q.extents[1]; ++d) score += q(i, d) * k(j, d);
      const double weight = std::exp(score * scale);
      total += weight;
      for (extent_t e = 0; e < v.extents[1]; ++e) result(i, e) += weight * v(j, e);
    }
    for (extent_t e = 0; e < v.extents[1]; ++e) result(i, e) /= total;
  }
  return result;
}

/// evaluate_into a destination whose rows lie as far apart.
template <class T, class R, class C, class E>
void check_far(const E& e, const grid<2>& want, extent_t step, double bound) {
  for (const regime& each : regimes({1, 3})) BOOST_TEST_CONTEXT(each.name()) {
      const far_matrix<T, R, C> out(want.extents[0], want.extents[1], step, 9);
      evaluate_into(each.policy(), out.elements, e);
      std::vector<double> got;
      for (extent_t i = 0; i < out.rows; ++i)
        for (extent_t j = 0; j < out.columns; ++j) got.push_back(static_cast<double>(out.elements(i, j)));
      BOOST_TEST(agree(got, want.numbers, bound));
    }
}

template <class T> void check_far_attention(extent_t queries, extent_t keys, extent_t step, double bound) {
  const far_matrix<T, query, d_head> q(queries, 7, step, 1);
  const far_matrix<T, key, d_head> k(keys, 7, step, 2);
  const far_matrix<T, key, d_value> v(keys, 9, step + 1, 3);
  const auto e = dot<key>(softmax<key>(dot<d_head>(q.elements, k.elements) * T(0.25)), v.elements);
  check_far<T, query, d_value>(e, attention(q.numbers, k.numbers, v.numbers, 0.25), step, bound);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(rows_far_apart, *boost::unit_test::precondition(addresses_suffice)) {
  for (const extent_t step : {two_31 + 5, two_32 + 3}) {
    check_far_attention<float>(1, 21, step, 1e-5);   // each key shared by few lanes
    check_far_attention<float>(19, 21, step, 1e-5);  // tiles of queries
    check_far_attention<double>(19, 5, step, 1e-12);
    const far_matrix<float, query, d_head> a(20, 33, step, 4);
    const far_matrix<float, d_head, key> b(33, 18, step, 5);
    check_far<float, query, key>(dot<d_head>(a.elements, b.elements),
                                 make_grid(
                                     [&](extent_t i, extent_t j) {
                                       double sum = 0;
                                       for (extent_t d = 0; d < 33; ++d) sum += a.numbers(i, d) * b.numbers(d, j);
                                       return sum;
                                     },
                                     20, 18),
                                 step, 1e-5);
    const auto mean_of = [&](extent_t i) {
      double sum = 0;
      for (extent_t d = 0; d < 33; ++d) sum += a.numbers(i, d);
      return sum / 33;
    };
    check_far<float, query, d_head>(
        a.elements - mean<d_head>(a.elements),
        make_grid([&](extent_t i, extent_t j) { return a.numbers(i, j) - mean_of(i); }, 20, 33), step, 1e-5);
    check_far<float, key, d_head>(
        take<query>(a.elements, row<std::int32_t, key>({19, 0, 7})),
        make_grid([&](extent_t i, extent_t j) { return a.numbers(i == 0   ? 19
                                                                 : i == 1 ? 0
                                                                          : 7,
                                                                 j); }, 3, 33), step, 0);
    // backwards: the last row first
    const view<const float, query, d_head> turned(a.memory.data() + 19 * step, query{20}, d_head{33},
                                                  strides{-step, extent_t{1}});
    check_far<float, query, d_head>(
        turned * 2, make_grid([&](extent_t i, extent_t j) { return 2 * a.numbers(19 - i, j); }, 20, 33), step, 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(slices_behind_four_giga_elements, *boost::unit_test::precondition(addresses_suffice)) {
  const reserved<float> memory(two_32 + 64);
  const view<float, key> all(memory.data(), key{two_32 + 64});
  for (extent_t i = 0; i < 64; ++i) all(two_32 + i) = static_cast<float>(i);
  BOOST_TEST(evaluate(sum<key>(slice<key>(all, two_32 + 1, two_32 + 4)))() == 6);
  BOOST_TEST(evaluate(at<key>(all, two_32 + 63))() == 63);
  const auto ids = row<std::int64_t, query>({double(two_32 + 5), 0, double(two_32 + 7)});
  BOOST_TEST(agrees(evaluate(take<key>(all, ids)), {5, 0, 7}, 0));
  evaluate_into(slice<key>(all, two_32 + 10, two_32 + 12), slice<key>(all, two_32, two_32 + 2) - 1);
  BOOST_TEST((all(two_32 + 10) == -1 && all(two_32 + 11) == 0 && all(two_32 + 12) == 12));
}

BOOST_AUTO_TEST_CASE(products_that_overflow_are_refused) {
  float number = 1;
  bool flag = true;
  const auto refuses = [](auto action) { return throws<shape_error>(action); };
  BOOST_TEST(refuses([&] { (void)tensor<float, query, key>{query{two_32}, key{two_31}}; }));
  BOOST_TEST(refuses([&] { (void)tensor<float, query, key>{query{two_32}, key{two_32}}; }));
  BOOST_TEST(refuses([&] { (void)tensor<float, query, head, key>{query{two_32}, head{0}, key{two_32}}; }));
  BOOST_TEST(refuses([&] { (void)view<float, query, key>(&number, query{two_32}, key{two_32}); }));
  BOOST_TEST(refuses([&] { (void)kv_cache<float, key, d_head>(key{two_32}, d_head{two_32}); }));

  // one number, read everywhere
  const view<const float, query, d_head> q(&number, query{two_32}, d_head{2}, strides{0, 0});
  const view<const float, key, d_head> k(&number, key{two_32}, d_head{2}, strides{0, 0});
  const auto scores = dot<d_head>(q, k);
  BOOST_TEST(refuses([&] { (void)evaluate(scores); }));  // the result
  BOOST_TEST(refuses([&] { (void)evaluate(unfused, softmax<key>(scores)); }));
  BOOST_TEST(refuses([&] { (void)evaluate(broadcast<head, group>(q, head{two_32}, group{two_31})); }));
  tensor<float> total;
  BOOST_TEST(refuses([&] { evaluate_into(total, sum<query, key>(scores)); }));           // the loops of a stage
  BOOST_TEST(refuses([&] { evaluate_into(unfused, total, sum<query, key>(scores)); }));  // what would be stored
  BOOST_TEST(refuses([&] { (void)explain(sum<query, key>(scores)); }));
  BOOST_TEST(refuses([&] { (void)explain(unfused, sum<query, key>(scores)); }));
  BOOST_TEST(refuses([&] { (void)merge<query, key, model>(scores); }));
  const view<const bool, key> half(&flag, key{std::numeric_limits<extent_t>::max()}, strides{0});
  BOOST_TEST(refuses([&] { (void)concat<key>(half, half); }));
  // a result that fits into 64 bits and into no memory (the sanitizers end the program instead)
  const view<const float, query, d_head> shorter(&number, query{two_31 / 8}, d_head{2}, strides{0, 0});
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  BOOST_TEST(throws<std::bad_alloc>([&] { (void)evaluate(dot<d_head>(shorter, k)); }));
#endif
  // stored results whose sum does not fit: over every limit
  const auto stored = softmax<key>(dot<d_head>(shorter, k));
  BOOST_TEST(refuses([&] {
    evaluate_into(policy{.schedule = unfused, .store_limit = std::size_t{1} << 62}, total,
                  sum<query, key>(exp(exp(exp(exp(exp(stored)))))));
  }));
}

// A window over 2^38 scores: planned, explained, run; a tebibyte if it were stored.
BOOST_AUTO_TEST_CASE(scores_of_524288_by_524288) {
  constexpr extent_t n = 524288, width = 8, reach = 50;
  const auto q = normal<float, query, d_head>(1, query{n}, d_head{width});
  const auto k = normal<float, key, d_head>(2, key{n}, d_head{width});
  const auto v = normal<float, key, d_value>(3, key{n}, d_value{width});
  const auto e = dot<key>(softmax<key>(where(window<query, key>(reach), dot<d_head>(q, k) * 0.5F)), v);
  const auto plan = explain(e);
  BOOST_TEST(plan.bytes_stored == 0U);
  BOOST_TEST(plan.stages.size() == 1U);
  BOOST_TEST(plan.str().find("query=524288") != std::string::npos, plan.str());
  BOOST_TEST(explain(unfused, e).bytes_stored >= static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * 4);
  BOOST_TEST(throws<shape_error>(
      [&] { (void)evaluate(policy{.schedule = unfused, .store_limit = std::size_t{1} << 40}, e); }));

  const auto [context, lse] = evaluate(e, log_sum_exp<key>(where(window<query, key>(reach), dot<d_head>(q, k) * 0.5F)));
  for (const extent_t i :
       {extent_t{0}, extent_t{1}, extent_t{49}, extent_t{50}, extent_t{65537}, n / 2, n - 64, n - 1}) {
    double total = 0, want[width] = {};
    for (extent_t j = std::max<extent_t>(0, i - reach + 1); j <= i; ++j) {
      double score = 0;
      for (extent_t d = 0; d < width; ++d) score += static_cast<double>(q(i, d)) * static_cast<double>(k(j, d));
      const double weight = std::exp(score * 0.5);
      total += weight;
      for (extent_t d = 0; d < width; ++d) want[d] += weight * static_cast<double>(v(j, d));
    }
    for (extent_t d = 0; d < width; ++d)
      BOOST_TEST(distance(static_cast<double>(context(i, d)), want[d] / total) < 1e-5, "row " << i);
    BOOST_TEST(distance(static_cast<double>(lse(i)), std::log(total)) < 1e-5, "row " << i);
  }
}

BOOST_AUTO_TEST_SUITE_END()

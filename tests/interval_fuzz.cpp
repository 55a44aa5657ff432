// SPDX-License-Identifier: BSL-1.0
// In: random trees of integer and real operations over coordinates, numbers and tensors, with values at the edges of 64 bits.
// Out: the plan's interval of a tree holds every value on a random box, and no box is called kept or excluded that is not wholly
// so. The values are computed here, element by element, by code of the test's own.
// Next: stream_bands.cpp.
#include "support/tensors.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

using test::generator;

namespace {

struct row : heed::axis<> {};
struct column : heed::axis<> {};
using int64 = std::int64_t;
using heed::extent_t;
namespace ops = heed::detail::ops;

constexpr extent_t rows = 23, columns = 19, entries = 11;
constexpr int64 lowest = std::numeric_limits<int64>::min(), highest = std::numeric_limits<int64>::max();

enum class word {
  row,
  column,
  number,
  by_row,
  by_column,
  dense,
  taken,
  real_number,
  real_by_row,
  real_dense,
  cast,  // terminals
  plus,
  minus,
  times,
  divided,
  modulo,
  minimum,
  maximum,
  negated,
  absolute,
  chosen,  // arithmetic
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal,
  both,
  either,
  inverted,
  truth_by_row,
  truth_dense  // conditions
};
enum class kind { integer, real, truth };

/// The tensors that trees read.
struct numbers {
  heed::tensor<int64, row> by_row{row{rows}};
  heed::tensor<std::int32_t, column> by_column{column{columns}};
  heed::tensor<int64, row, column> dense{row{rows}, column{columns}};
  heed::tensor<int64, column> table{column{entries}};
  heed::tensor<float, row> real_by_row{row{rows}};
  heed::tensor<float, row, column> real_dense{row{rows}, column{columns}};
  heed::tensor<bool, row> truth_by_row{row{rows}};
  heed::tensor<bool, row, column> truth_dense{row{rows}, column{columns}};
};

struct tree {
  word what = word::number;
  kind type = kind::integer;
  int64 number = 0;
  float real = 0;
  std::unique_ptr<tree> operand[3] = {};
};

int64 random_integer(generator& random) {
  static constexpr int64 edges[] = {0,
                                    1,
                                    -1,
                                    2,
                                    3,
                                    7,
                                    64,
                                    -5,
                                    1LL << 31,
                                    -(1LL << 31),
                                    (1LL << 53) - 1,
                                    1LL << 53,
                                    (1LL << 53) + 1,
                                    -(1LL << 53) - 1,
                                    1LL << 62,
                                    highest,
                                    highest - 1,
                                    lowest,
                                    lowest + 1,
                                    9000000000000000,
                                    3037000500};
  if (random.below(2) == 0) return random.below(30) - 5;
  const int64 edge = edges[random.below(std::ssize(edges))];
  return static_cast<int64>(static_cast<std::uint64_t>(edge) + static_cast<std::uint64_t>(random.below(5) - 2));
}
float random_real(generator& random) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  static constexpr float edges[] = {0,      1,      -1,        0.5F,   1e-9F,    -1e-9F,    0x1p-24F, -0x1p-25F, 3e38F,
                                    -3e38F, 1e-38F, 0x1p-126F, 1e-30F, infinity, -infinity, 16777216, 2,         3};
  return random.below(3) == 0 ? static_cast<float>(random.normal()) : edges[random.below(std::ssize(edges))];
}
numbers random_numbers(generator& random) {
  numbers d;
  const bool wild = random.below(2) == 0;
  const auto small = [&] { return random.below(9) - 3; };
  const int64 around = random_integer(random);
  const auto integer = [&] {
    if (wild) return random_integer(random);
    return static_cast<int64>(static_cast<std::uint64_t>(around) + static_cast<std::uint64_t>(small()));
  };
  for (auto& x : d.by_row) x = integer();
  for (auto& x : d.by_column) x = static_cast<std::int32_t>(wild ? random.bits() : static_cast<std::uint64_t>(small()));
  for (auto& x : d.dense) x = integer();
  for (auto& x : d.table) x = integer();
  const float middle = random_real(random);
  for (auto& x : d.real_by_row) x = wild ? random_real(random) : middle;
  for (auto& x : d.real_dense) x = random.below(wild ? 2 : 40) == 0 ? random_real(random) : middle;
  for (auto& x : d.truth_by_row) x = random.below(wild ? 2 : 12) == 0;
  for (auto& x : d.truth_dense) x = random.below(wild ? 2 : 50) == 0;
  return d;
}

std::unique_ptr<tree> random_tree(generator& random, kind type, int depth) {
  auto t = std::make_unique<tree>();
  t->type = type;
  const auto pick = [&](std::initializer_list<word> words) {
    t->what = words.begin()[random.below(static_cast<int64>(words.size()))];
  };
  const auto below = [&](int i, kind k) { t->operand[i] = random_tree(random, k, depth - 1); };
  if (type == kind::truth) {
    if (depth <= 0) {
      pick({word::truth_by_row, word::truth_dense});
    } else if (random.below(3) > 0) {
      pick({word::less, word::less_equal, word::greater, word::greater_equal, word::equal, word::not_equal});
      const kind k = random.below(4) == 0 ? kind::real : kind::integer;
      below(0, k), below(1, k);
    } else {
      pick({word::both, word::either, word::inverted, word::chosen});
      if (t->what == word::chosen) below(2, kind::truth);
      below(0, kind::truth);
      if (t->what != word::inverted) below(1, kind::truth);
    }
    return t;
  }
  if (depth <= 0 || random.below(5) == 0) {
    if (type == kind::real)
      pick({word::real_number, word::real_by_row, word::real_dense});
    else
      pick({word::row, word::row, word::column, word::column, word::number, word::number, word::by_row, word::by_column,
            word::dense});
    t->number = random_integer(random);
    t->real = random_real(random);
    return t;
  }
  if (type == kind::real) {
    pick({word::plus, word::minus, word::times, word::times, word::minimum, word::maximum, word::negated,
          word::absolute, word::chosen, word::cast, word::divided});
    below(0, t->what == word::cast ? kind::integer : kind::real);
  } else {
    pick({word::plus, word::minus, word::times, word::divided, word::modulo, word::minimum, word::maximum,
          word::negated, word::absolute, word::chosen, word::taken});
    below(0, type);
  }
  if (t->what == word::taken || t->what == word::negated || t->what == word::absolute || t->what == word::cast)
    return t;
  below(1, type);
  if (t->what == word::chosen) below(2, kind::truth);
  return t;
}

// ---------------------------------------------------------------- what it is, element by element
struct value {
  int64 whole = 0;  // truth values: 0 and 1
  float real = 0;
};
int64 wrapped(std::uint64_t n) { return static_cast<int64>(n); }
std::uint64_t bits(int64 n) { return static_cast<std::uint64_t>(n); }
int64 quotient(int64 a, int64 b) {  // rounded down; 0 where b is 0
  if (b == 0) return 0;
  if (b == -1) return wrapped(0 - bits(a));
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
value at(const tree& t, const numbers& d, extent_t i, extent_t j) {
  const auto operand = [&](int n) { return at(*t.operand[n], d, i, j); };
  const auto is = [](bool truth) { return value{truth ? 1 : 0, 0}; };
  const bool real = t.operand[0] && t.operand[0]->type == kind::real;
  const auto compared = [&](auto compare) {
    const value a = operand(0), b = operand(1);
    return is(real ? compare(a.real, b.real) : compare(a.whole, b.whole));
  };
  const auto made = [&](auto whole, auto reals) {
    const value a = operand(0), b = t.operand[1] ? operand(1) : value{};
    return t.type == kind::real ? value{0, reals(a.real, b.real)} : value{whole(a.whole, b.whole), 0};
  };
  const auto arithmetic = [&](auto f) {  // whole numbers wrap around
    return made([&](int64 a, int64 b) { return wrapped(f(bits(a), bits(b))); }, f);
  };
  const auto no_real = [](float, float) { return 0.0F; };
  const auto extreme = [&](auto pick) {
    return made(pick, [&](float a, float b) { return a != a || b != b ? a + b : pick(a, b); });
  };
  switch (t.what) {
    case word::row: return {i, 0};
    case word::column: return {j, 0};
    case word::number: return {t.number, 0};
    case word::by_row: return {d.by_row(i), 0};
    case word::by_column: return {d.by_column(j), 0};
    case word::dense: return {d.dense(i, j), 0};
    case word::truth_by_row: return is(d.truth_by_row(i));
    case word::truth_dense: return is(d.truth_dense(i, j));
    case word::taken: {  // ids of a table lie within it
      const int64 id = operand(0).whole;
      return {d.table(wrapped(bits(id) - bits(quotient(id, entries)) * bits(entries))), 0};
    }
    case word::real_number: return {0, t.real};
    case word::real_by_row: return {0, d.real_by_row(i)};
    case word::real_dense: return {0, d.real_dense(i, j)};
    case word::cast: return {0, static_cast<float>(operand(0).whole)};
    case word::plus: return arithmetic([](auto a, auto b) { return a + b; });
    case word::minus: return arithmetic([](auto a, auto b) { return a - b; });
    case word::times: return arithmetic([](auto a, auto b) { return a * b; });
    case word::divided: return made(quotient, [](float a, float b) { return a / b; });
    case word::modulo:
      return made([](int64 a, int64 b) { return b == 0 ? 0 : wrapped(bits(a) - bits(quotient(a, b)) * bits(b)); },
                  no_real);
    case word::minimum: return extreme([](auto a, auto b) { return std::min(a, b); });
    case word::maximum: return extreme([](auto a, auto b) { return std::max(a, b); });
    case word::negated:
      return made([](int64 a, int64) { return wrapped(0 - bits(a)); }, [](float a, float) { return -a; });
    case word::absolute:
      return made([](int64 a, int64) { return a < 0 ? wrapped(0 - bits(a)) : a; },
                  [](float a, float) { return std::abs(a); });
    case word::chosen: return operand(operand(2).whole != 0 ? 0 : 1);
    case word::less: return compared([](auto a, auto b) { return a < b; });
    case word::less_equal: return compared([](auto a, auto b) { return a <= b; });
    case word::greater: return compared([](auto a, auto b) { return a > b; });
    case word::greater_equal: return compared([](auto a, auto b) { return a >= b; });
    case word::equal: return compared([](auto a, auto b) { return a == b; });
    case word::not_equal: return compared([](auto a, auto b) { return a != b; });
    case word::both: return is(operand(0).whole != 0 && operand(1).whole != 0);
    case word::either: return is(operand(0).whole != 0 || operand(1).whole != 0);
    case word::inverted: return is(operand(0).whole == 0);
  }
  return {};
}

// ---------------------------------------------------------------- the same tree as nodes of the library
/// A node whose kind is known at run time: the plan's rule for it is looked up then.
template <class T> struct grown : heed::detail::expression_base {
  using value_type = T;
  using axes_type = heed::axes<row, column>;
  static constexpr bool heavy = false;
  const tree* t = nullptr;
  const numbers* d = nullptr;
  grown(const tree* tree_of, const numbers* numbers_of) : t(tree_of), d(numbers_of) {}
  template <class A> extent_t extent() const { return std::is_same_v<A, row> ? rows : columns; }
};

/// Calls `visit` with the library's node for the root of the tree.
template <class T, class Visit> auto with_node(const grown<T>& n, Visit visit) {
  using heed::detail::as_node;
  using whole = grown<int64>;
  using truth = grown<bool>;
  using same = grown<T>;
  const tree& t = *n.t;
  const auto operand = [&]<class N>(heed::detail::type_tag<N>, int i) { return N(t.operand[i].get(), n.d); };
  constexpr auto of = []<class N>() { return heed::detail::type_tag<N>{}; };
  const auto node = [&]<class Op, class... N>(Op op, N... x) {
    return visit(heed::detail::map<Op, T, heed::axes<row, column>, N...>(op, 0, x...));
  };
  const auto unary = [&](auto op) { return node(op, operand(of.template operator()<same>(), 0)); };
  const auto binary = [&](auto op) {
    return node(op, operand(of.template operator()<same>(), 0), operand(of.template operator()<same>(), 1));
  };
  if (t.what == word::chosen)
    return node(ops::chosen{}, operand(of.template operator()<truth>(), 2), operand(of.template operator()<same>(), 0),
                operand(of.template operator()<same>(), 1));
  if constexpr (std::is_same_v<T, bool>) {
    const auto compared = [&](auto op) {
      using real = grown<float>;
      if (t.operand[0]->type == kind::real)
        return node(op, operand(of.template operator()<real>(), 0), operand(of.template operator()<real>(), 1));
      return node(op, operand(of.template operator()<whole>(), 0), operand(of.template operator()<whole>(), 1));
    };
    switch (t.what) {
      case word::truth_by_row: return visit(as_node(n.d->truth_by_row));
      case word::truth_dense: return visit(as_node(n.d->truth_dense));
      case word::less: return compared(ops::less{});
      case word::less_equal: return compared(ops::less_equal{});
      case word::greater: return compared(ops::greater{});
      case word::greater_equal: return compared(ops::greater_equal{});
      case word::equal: return compared(ops::equal{});
      case word::not_equal: return compared(ops::not_equal{});
      case word::both: return binary(ops::both{});
      case word::either: return binary(ops::either{});
      default: return unary(ops::inverted{});
    }
  } else {
    switch (t.what) {
      case word::plus: return binary(ops::plus{});
      case word::minus: return binary(ops::minus{});
      case word::times: return binary(ops::times{});
      case word::minimum: return binary(ops::minimum{});
      case word::maximum: return binary(ops::maximum{});
      case word::negated: return unary(ops::negated{});
      case word::absolute: return unary(ops::absolute{});
      default: break;
    }
    if constexpr (std::is_same_v<T, float>) {
      switch (t.what) {
        case word::real_by_row: return visit(as_node(n.d->real_by_row));
        case word::real_dense: return visit(as_node(n.d->real_dense));
        case word::cast: return node(ops::cast_to<float>{}, operand(of.template operator()<whole>(), 0));
        case word::divided: return binary(ops::divided{});
        default: return visit(heed::detail::scalar<float>(t.real));
      }
    } else {
      switch (t.what) {
        case word::row: return visit(heed::detail::index_node<row>{});
        case word::column: return visit(heed::detail::index_node<column>{});
        case word::by_row: return visit(as_node(n.d->by_row));
        case word::by_column: return visit(as_node(n.d->by_column));
        case word::dense: return visit(as_node(n.d->dense));
        case word::divided: return binary(ops::floor_divided{});
        case word::modulo: return binary(ops::modulo{});
        case word::taken: {
          auto ids = operand(of.template operator()<same>(), 0) % static_cast<int64>(entries);
          return visit(heed::take<column>(n.d->table, ids));
        }
        default: return visit(heed::detail::scalar<int64>(t.number));
      }
    }
  }
}

}  // namespace

namespace heed::plan {
template <class Axes, class T> struct bound_of<Axes, grown<T>> {
  static interval go(const grown<T>& n, extent_t const* low, extent_t const* high) {
    return with_node(n, [&]<class N>(const N& node) { return bound_of<Axes, N>::go(node, low, high); });
  }
};
}  // namespace heed::plan

namespace {

using stage = heed::axes<row, column>;

/// What is wrong with the interval of a tree on a box, or nothing.
template <class T>
std::optional<std::string> fault(const tree& t, const numbers& d, const extent_t* low, const extent_t* high) {
  const heed::plan::interval bound = heed::plan::bound_of<stage, grown<T>>::go(grown<T>(&t, &d), low, high);
  const int keeps = heed::plan::keeps_of(bound);
  for (extent_t i = low[0]; i < high[0]; ++i)
    for (extent_t j = low[1]; j < high[1]; ++j) {
      const value v = at(t, d, i, j);
      const auto exact =
          static_cast<long double>(std::is_same_v<T, float> ? 0 : v.whole) + static_cast<long double>(v.real);
      const bool inside = exact != exact ? heed::plan::is_unknown(bound) : bound.low <= exact && exact <= bound.high;
      if (!inside)
        return "the value " + std::to_string(exact) + " lies outside of " + std::to_string(bound.low) + " to " +
               std::to_string(bound.high);
      if (std::is_same_v<T, bool> && keeps != 1 && (keeps == 2) != (v.whole != 0)) return "a box is misclassified";
    }
  return {};
}
template <class T> void check_trees(kind type, std::uint64_t first, std::uint64_t count, int depth) {
  std::int64_t sure = 0, boxes = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    generator random(seed);
    const numbers d = random_numbers(random);
    const auto t = random_tree(random, type, 1 + static_cast<int>(random.below(depth)));
    for (int box = 0; box < 12; ++box) {
      extent_t low[3] = {random.below(rows), random.below(columns), 0}, high[3] = {};
      high[0] = low[0] + 1 + random.below(std::min<extent_t>(rows - low[0], box < 8 ? 4 : rows));
      high[1] = low[1] + 1 + random.below(std::min<extent_t>(columns - low[1], box < 8 ? 4 : columns));
      if (const auto wrong = fault<T>(*t, d, low, high)) {
        BOOST_ERROR("seed " << seed << ", box " << box << ": " << *wrong);
        break;
      }
      const auto bound = heed::plan::bound_of<stage, grown<T>>::go(grown<T>(t.get(), &d), low, high);
      sure += std::is_same_v<T, bool> ? heed::plan::keeps_of(bound) != 1 : !heed::plan::is_unknown(bound);
      ++boxes;
    }
  }
  // An analysis that is never sure would pass as well.
  BOOST_TEST_MESSAGE("seeds " << first << " to " << first + count - 1 << ": sure of " << sure << " of " << boxes
                              << " boxes");
  BOOST_TEST(sure * 5 > boxes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interval_fuzz)

BOOST_AUTO_TEST_CASE(no_box_is_misclassified) { check_trees<bool>(kind::truth, 1, 20000, 4); }
BOOST_AUTO_TEST_CASE(integers_lie_within_their_interval) { check_trees<int64>(kind::integer, 100000, 10000, 4); }
BOOST_AUTO_TEST_CASE(reals_lie_within_their_interval) { check_trees<float>(kind::real, 200000, 10000, 3); }

BOOST_AUTO_TEST_SUITE_END()

// SPDX-License-Identifier: BSL-1.0
// The words that go over rows: contraction and reductions. What is excluded is skipped; additive -infinities exclude where a
// reduction reads them.
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace formulas::reference {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

table shape_of(const table& x, const axis_list& axes) {  // these axes alone
  std::vector<extent> extents;
  for (const int axis : axes) extents.push_back(x.extent_of(axis));
  table result;
  result.axes = axes;
  result.extents = std::move(extents);
  return result;
}
/// Where the elements of a row lie, counted from its first.
std::vector<std::size_t> offsets_of(const table& x, const table& row) {
  std::vector<std::size_t> result(row.count());
  const table* const tables[] = {&x};
  walk(row.axes, row.extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) { result[i] = o[0]; });
  return result;
}
/// Calls `visit(i, kept)` for each row of x along `over`: the places of its kept elements.
template <class Visit>
void for_rows(const axis_list& over, const table& x, const table& rest, bool marks, Visit visit) {
  const auto row = offsets_of(x, shape_of(x, over));
  std::vector<std::size_t> kept;
  const table* const tables[] = {&x};
  walk(rest.axes, rest.extents, tables, [&](std::size_t i, const std::size_t(&o)[1]) {
    kept.clear();
    for (const std::size_t step : row) {
      const std::size_t at = o[0] + step;
      if (marks ? x.keeps(at) && x.marks(at) : x.keeps(at)) kept.push_back(at);
    }
    visit(i, o[0], kept);
  });
}
table reduced(const axis_list& over, const table& x, bool real) {
  table result = without(x, over, real);
  result.contracted = x.contracted;
  return result;
}

/// The sum of some elements of a table, of reals or of integers.
struct running_total {
  element real;
  std::uint64_t whole = 0;
  void add(const table& x, std::size_t at) {
    if (x.real) {
      real.value += x.reals[at].value;
      real.size += x.reals[at].size;
      real.error += x.reals[at].error;
    } else
      whole += static_cast<std::uint64_t>(x.whole[at]);
  }
  void store(table& result, std::size_t at, std::size_t terms) const {
    if (result.real)
      result.reals[at] =
          computed({real.value, real.error + static_cast<double>(terms + 2) * rounding * real.size, real.size});
    else
      result.whole[at] = static_cast<std::int64_t>(whole);
  }
};

struct exponentials {
  double total = 0;  // of exp(x - largest), the sink's included
  double moved = 0;  // error of the logarithm of the total
  double largest = -infinity;
  double reach = 0;  // the largest absolute exponent
};
/// The error of an exponent: its own, and that of subtracting the maximum and of folding a factor into it.
double error_of_exponent(const element& x, double reach) {
  return x.error + 4 * rounding * (std::abs(x.value) + reach + 1);
}

exponentials sum_of_exponentials(const table& x, const std::vector<std::size_t>& kept, const element* sink) {
  exponentials result;
  const auto look = [&](double v) {
    if (v != v || result.largest != result.largest)
      result.largest = std::numeric_limits<double>::quiet_NaN();
    else
      result.largest = std::max(result.largest, v);
  };
  for (const std::size_t at : kept) look(x.reals[at].value);
  if (sink) look(sink->value);
  result.reach = std::isinf(result.largest) ? 0 : std::abs(result.largest);
  double moved = 0;
  const auto add = [&](const element& e) {
    const double w = e.value == -infinity && result.largest != -infinity ? 0 : std::exp(e.value - result.largest);
    result.total += w;
    moved += std::isinf(e.error) ? infinity : w > 0 ? w * error_of_exponent(e, result.reach) : 0;
  };
  for (const std::size_t at : kept) add(x.reals[at]);
  if (sink && !(sink->value == -infinity)) add(*sink);
  result.moved = moved / result.total + static_cast<double>(kept.size() + 8) * rounding;
  return result;
}
const element* sink_at(const table* sink, std::size_t at) { return sink ? &sink->reals[at] : nullptr; }

}  // namespace

/// Not read by a contraction; an additive -infinity only where the operand is one of scores, which stream.
static bool skipped(const table& x, std::size_t i) {
  return !x.keeps(i) || x.zeroes(i) || (x.contracted && !x.marks(i));
}
table dot(const axis_list& over, const table& left, const table& right) {
  table shape = united(left, right);
  table result = without(shape, over);
  result.contracted = true;
  const table row = shape_of(shape, over);
  const auto l_row = offsets_of(left, row), r_row = offsets_of(right, row);
  const double chain = static_cast<double>(row.count() + 4) * rounding;
  const table* const tables[] = {&left, &right};
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[2]) {
    element y;
    for (std::size_t k = 0; k < l_row.size(); ++k) {
      const std::size_t a = o[0] + l_row[k], b = o[1] + r_row[k];
      if (skipped(left, a) || skipped(right, b)) continue;
      const element& l = left.reals[a];
      const element& r = right.reals[b];
      y.value += l.value * r.value;
      y.size += l.size * r.size;
      y.error += l.size * r.error + r.size * l.error + l.error * r.error;
    }
    y.error += chain * y.size;
    result.reals[i] = computed(y);
  });
  return result;
}
table softmax(const axis_list& over, const table& x, const table* sink) {
  table result = x;
  result.sum = false;
  result.kept.clear();
  result.marked.clear();
  const bool excludes = !x.kept.empty() || !x.marked.empty();
  if (excludes)
    result.zeroed.assign(x.count(), 1);
  else
    result.zeroed.clear();
  for (element& e : result.reals) e = {0, 0, 0};
  const table rest = without(x, over);
  std::vector<std::size_t> sinks;
  if (sink) sinks = offsets_of(*sink, rest);
  for_rows(over, x, rest, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    const exponentials all = sum_of_exponentials(x, kept, sink_at(sink, sink ? sinks[i] : 0));
    for (const std::size_t at : kept) {
      const element& e = x.reals[at];
      const double w =
          e.value == -infinity && all.largest > -infinity ? 0 : std::exp(e.value - all.largest) / all.total;
      const double error = w > 0                   ? w * std::expm1(error_of_exponent(e, all.reach) + all.moved)
                           : std::isinf(all.moved) ? infinity
                                                   : 0;
      result.reals[at] = {w, error, w};
      if (excludes) result.zeroed[at] = 0;
    }
  });
  return result;
}
table log_sum_exp(const axis_list& over, const table& x, const table* sink) {
  table result = reduced(over, x, true);
  std::vector<std::size_t> sinks;
  if (sink) sinks = offsets_of(*sink, result);
  for_rows(over, x, result, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    const element* extra = sink_at(sink, sink ? sinks[i] : 0);
    if (kept.empty()) {
      result.reals[i] = extra ? *extra : element{-infinity, 0, 0};
      return;
    }
    const exponentials all = sum_of_exponentials(x, kept, extra);
    const double value = all.largest + std::log(all.total);
    result.reals[i] = {value, std::expm1(all.moved) + 4 * rounding * (std::abs(value) + all.reach),
                       std::abs(value) + all.reach};
  });
  return result;
}
std::pair<table, table> combine_contexts(const table& context_a, const table& sum_a, const table& context_b,
                                         const table& sum_b) {
  table total = united(sum_a, sum_b), context = united(context_a, context_b);
  total.contracted = sum_a.contracted || sum_b.contracted;
  context.contracted = context.sum = true;
  const auto size = [](const element& e) { return std::isinf(e.value) ? 0 : std::abs(e.value) + e.error; };
  const auto added = [&](const element& a, const element& b) {
    const double m = a.value != a.value || b.value != b.value ? a.value + b.value : std::max(a.value, b.value);
    if (m == -infinity) return element{m, 0, 0};
    const double value = m + std::log(std::exp(a.value - m) + std::exp(b.value - m));
    return element{value, a.error + b.error + 8 * rounding * (1 + size(a) + size(b)), size(a) + size(b) + 1};
  };
  const table* const sums[] = {&sum_a, &sum_b};
  walk(total.axes, total.extents, sums,
       [&](std::size_t i, const std::size_t(&o)[2]) { total.reals[i] = added(sum_a.reals[o[0]], sum_b.reals[o[1]]); });
  const table* const all[] = {&context_a, &sum_a, &context_b, &sum_b};
  walk(context.axes, context.extents, all, [&](std::size_t i, const std::size_t(&o)[4]) {
    const element& a = sum_a.reals[o[1]];
    const element& b = sum_b.reals[o[3]];
    const element both = added(a, b);
    const double moved = std::expm1(2 * (a.error + b.error) + 8 * rounding * (2 + size(a) + size(b)));
    element& y = context.reals[i];
    const auto add = [&](const element& x, const element& part) {
      const double w = both.value == -infinity ? 0 : std::exp(part.value - both.value);
      y.value += w * x.value;
      y.size += w * x.size;
      y.error += w * (x.error + (x.size + x.error) * moved);
    };
    add(context_a.reals[o[0]], a);
    add(context_b.reals[o[2]], b);
    y.error += 4 * rounding * y.size;
  });
  return {context, total};
}

table sum(const axis_list& over, const table& x) {
  table result = reduced(over, x, x.real);
  for_rows(over, x, result, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    running_total total;
    for (const std::size_t at : kept) total.add(x, at);
    total.store(result, i, kept.size());
  });
  return result;
}
table mean(const axis_list& over, const table& x) {
  table result = sum(over, x);
  for_rows(over, x, result, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    const double n = kept.empty() ? 1 : static_cast<double>(kept.size());
    element& y = result.reals[i];
    y = {y.value / n, y.error / n + 2 * rounding * y.size / n, y.size / n};
  });
  return result;
}
table largest(const axis_list& over, const table& x) {
  table result = reduced(over, x, x.real);
  for_rows(over, x, result, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    if (!x.real) {
      result.whole[i] = std::numeric_limits<std::int64_t>::min();
      for (const std::size_t at : kept) result.whole[i] = std::max(result.whole[i], x.whole[at]);
      return;
    }
    element y{-infinity, 0, 0};
    for (const std::size_t at : kept) {
      const element& e = x.reals[at];
      y = {e.value != e.value || e.value > y.value ? e.value : y.value, std::max(y.error, e.error),
           std::max(y.size, e.size)};
      if (e.value != e.value) break;
    }
    result.reals[i] = y;
  });
  return result;
}
table variance(const axis_list& over, const table& x) {
  table result = mean(over, x);
  const table means = result;
  for_rows(over, x, means, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    const double n = kept.empty() ? 1 : static_cast<double>(kept.size()), u = rounding;
    element y;
    for (const std::size_t at : kept) {
      const double d = x.reals[at].value - means.reals[i].value;
      const double e = x.reals[at].error + means.reals[i].error + 2 * u * (x.reals[at].size + means.reals[i].size);
      y.value += d * d / n;
      y.error += (2 * std::abs(d) * e + e * e) / n;
    }
    y.size = n * y.value;  // of the sum of squares
    y.error += (n + 4) * u * y.value;
    result.reals[i] = computed(y);
    result.reals[i].size = y.value;
  });
  return result;
}
table argmax(int axis, const table& x) {
  table result = reduced({axis}, x, false);
  const extent step = x.stride_of(axis), n = x.extent_of(axis);
  for_rows({axis}, x, result, true, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    result.whole[i] = -1;
    double best = 0;
    for (const std::size_t at : kept) {
      const double v = x.real ? x.reals[at].value : static_cast<double>(x.whole[at]);
      if (result.whole[i] >= 0 && !(v > best || (v != v && best == best))) continue;
      best = v;
      result.whole[i] = static_cast<extent>(at) / step % n;
    }
  });
  return result;
}
table running_sum(int axis, const table& x) {
  table result = x;
  result.sum = result.truth = false;
  result.kept.clear();
  result.marked.clear();
  result.zeroed.clear();
  const auto n = static_cast<std::size_t>(x.extent_of(axis)), step = static_cast<std::size_t>(x.stride_of(axis));
  const table rest = without(x, {axis});
  const table* const tables[] = {&x};
  walk(rest.axes, rest.extents, tables, [&](std::size_t, const std::size_t(&o)[1]) {
    running_total total;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = o[0] + k * step;
      if (x.keeps(at) && x.marks(at)) total.add(x, at);
      total.store(result, at, k);
    }
  });
  return result;
}
// Norms read what `where` excludes and nothing else: a -infinity in a row is a number to them.
table standardise(int axis, const table& x, bool centred, double eps) {
  table result = x;
  result.sum = false;
  result.marked.clear();
  result.zeroed.clear();
  for (element& e : result.reals) e = {0, 0, 0};
  table plain = x;
  plain.marked.clear();
  const table rest = without(x, {axis});
  const table means = mean({axis}, plain), spreads = variance({axis}, plain);
  for_rows({axis}, plain, rest, false, [&](std::size_t i, std::size_t, const std::vector<std::size_t>& kept) {
    const double n = kept.empty() ? 1 : static_cast<double>(kept.size()), u = rounding;
    element square = spreads.reals[i], middle = means.reals[i];
    if (!centred) {
      square = middle = {0, 0, 0};
      for (const std::size_t at : kept) {
        const element& e = x.reals[at];
        square.value += e.value * e.value / n;
        square.error += (2 * e.size * e.error + e.error * e.error + (n + 4) * u * e.size * e.size) / n;
        square.size += e.size * e.size;
      }
      square = computed(square);
    }
    const double scale = 1 / std::sqrt(square.value + eps);
    const double least = square.value + eps - square.error;
    const double moved = least > 0 ? 1 / std::sqrt(least) - scale + 4 * u * scale : infinity;
    for (const std::size_t at : kept) {
      const element& e = x.reals[at];
      const double d = e.value - middle.value;
      const double error = e.error + middle.error + u * (e.size + middle.size);
      result.reals[at] = {d * scale, error * (scale + moved) + std::abs(d) * moved + 4 * u * std::abs(d * scale),
                          std::abs(d * scale)};
    }
  });
  return result;
}

}  // namespace formulas::reference

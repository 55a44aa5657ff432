// SPDX-License-Identifier: BSL-1.0
// The words that give elements other names and other places. An element keeps all that is known of it: value, bound, exclusion.
#include "words.hpp"

#include <cmath>

namespace formulas::reference {
namespace {

/// The table of this shape whose element at `at` is x's at `source(at)`, both coordinates in the order of the axes.
template <class Source> table moved(const table& x, axis_list axes, std::vector<extent> extents, Source source) {
  table result = table_over(std::move(axes), std::move(extents), x.real);
  result.truth = x.truth;
  result.contracted = x.contracted;
  const std::size_t rank = result.axes.size(), count = result.count();
  const auto grow = [&](const std::vector<char>& from, std::vector<char>& to) {
    if (!from.empty()) to.resize(count);
  };
  grow(x.kept, result.kept);
  grow(x.marked, result.marked);
  grow(x.zeroed, result.zeroed);
  std::vector<extent> at(rank, 0), from(x.axes.size());
  for (std::size_t i = 0; i < count; ++i) {
    source(at, from);
    extent offset = 0;
    for (std::size_t a = 0; a < from.size(); ++a) offset = offset * x.extents[a] + from[a];
    const auto j = static_cast<std::size_t>(offset);
    if (x.real)
      result.reals[i] = x.reals[j];
    else
      result.whole[i] = x.whole[j];
    if (!x.kept.empty()) result.kept[i] = x.kept[j];
    if (!x.marked.empty()) result.marked[i] = x.marked[j];
    if (!x.zeroed.empty()) result.zeroed[i] = x.zeroed[j];
    for (std::size_t a = rank; a-- > 0;) {
      if (++at[a] < result.extents[a]) break;
      at[a] = 0;
    }
  }
  return result;
}
std::size_t place_of(int axis, const table& x) { return static_cast<std::size_t>(x.place(axis)); }
/// The same axes, the coordinate along one of them changed.
template <class Change> table along(int axis, const table& x, extent n, Change change) {
  const std::size_t p = place_of(axis, x);
  auto extents = x.extents;
  extents[p] = n;
  return moved(x, x.axes, extents, [&](const std::vector<extent>& at, std::vector<extent>& from) {
    from = at;
    from[p] = change(at[p]);
  });
}
/// Two tables of the same axes, y's axes put in the order of x's.
table ordered(const table& x, const table& y) {
  std::vector<extent> extents;
  for (const int axis : x.axes) extents.push_back(y.extent_of(axis));
  return moved(y, x.axes, extents, [&](const std::vector<extent>& at, std::vector<extent>& from) {
    for (std::size_t a = 0; a < at.size(); ++a) from[place_of(x.axes[a], y)] = at[a];
  });
}
std::vector<char> filled(const std::vector<char>& flags, std::size_t count, char value) {
  return flags.empty() ? std::vector<char>(count, value) : flags;
}

}  // namespace

table rename(int from, int to, const table& x) {
  table result = x;
  result.axes[place_of(from, x)] = to;
  return result;
}
table split(int axis, int major, int minor, extent majors, extent minors, const table& x) {
  axis_list axes;
  std::vector<extent> extents;
  const std::size_t p = place_of(axis, x);
  for (std::size_t a = 0; a < x.axes.size(); ++a)
    if (a == p) {
      axes.insert(axes.end(), {major, minor});
      extents.insert(extents.end(), {majors, minors});
    } else {
      axes.push_back(x.axes[a]);
      extents.push_back(x.extents[a]);
    }
  return moved(x, axes, extents, [&](const std::vector<extent>& at, std::vector<extent>& from) {
    for (std::size_t a = 0; a < from.size(); ++a) from[a] = a < p ? at[a] : at[a + 1];
    from[p] = at[p] * minors + at[p + 1];
  });
}
table merge(int major, int minor, int axis, const table& x) {
  table result = without(x, {minor}, x.real);
  const extent minors = x.extent_of(minor);
  const std::size_t p = static_cast<std::size_t>(result.place(major));
  auto axes = result.axes;
  auto extents = result.extents;
  const axis_list rest = result.axes;
  axes[p] = axis;
  extents[p] *= minors;
  return moved(x, axes, extents, [&](const std::vector<extent>& at, std::vector<extent>& from) {
    for (std::size_t a = 0; a < rest.size(); ++a) from[place_of(rest[a], x)] = at[a];
    from[place_of(major, x)] = at[p] / minors;
    from[place_of(minor, x)] = at[p] % minors;
  });
}
table slice(int axis, extent from, extent to, const table& x) {
  return along(axis, x, to - from, [&](extent i) { return i + from; });
}
table at(int axis, extent i, const table& x) {
  table shape = without(x, {axis}, x.real);
  const std::size_t p = place_of(axis, x);
  return moved(x, shape.axes, shape.extents, [&](const std::vector<extent>& place, std::vector<extent>& from) {
    for (std::size_t a = 0; a < from.size(); ++a) from[a] = a < p ? place[a] : a == p ? i : place[a - 1];
  });
}
table roll(int axis, extent n, const table& x) {
  const extent size = x.extent_of(axis);
  return along(axis, x, size, [&](extent i) { return (((i - n) % size) + size) % size; });
}
table concat(int axis, const table& x, const table& y_any) {
  const table y = ordered(x, y_any);
  const extent first = x.extent_of(axis), second = y.extent_of(axis);
  if (first == 0) return y;
  if (second == 0) return x;
  table result = along(axis, x, first + second, [&](extent i) { return i < first ? i : 0; });
  const table tail = along(axis, y, first + second, [&](extent i) { return i < first ? 0 : i - first; });
  result.contracted = x.contracted || y.contracted;
  const std::size_t count = result.count();
  result.kept = filled(result.kept, count, 1);
  result.marked = filled(result.marked, count, 1);
  result.zeroed = filled(result.zeroed, count, 0);
  const extent step = result.stride_of(axis);
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<extent>(i) / step % (first + second) < first) continue;
    if (result.real)
      result.reals[i] = tail.reals[i];
    else
      result.whole[i] = tail.whole[i];
    result.kept[i] = tail.keeps(i);
    result.marked[i] = tail.marks(i);
    result.zeroed[i] = tail.zeroes(i);
  }
  return result;
}
table stack(int axis, const table& x, const table& y) {
  return concat(axis, broadcast(axis, 1, x), broadcast(axis, 1, y));
}
table broadcast(int axis, extent n, const table& x) {
  axis_list axes = {axis};
  std::vector<extent> extents = {n};
  axes.insert(axes.end(), x.axes.begin(), x.axes.end());
  extents.insert(extents.end(), x.extents.begin(), x.extents.end());
  return moved(x, axes, extents, [](const std::vector<extent>& at, std::vector<extent>& from) {
    for (std::size_t a = 0; a < from.size(); ++a) from[a] = at[a + 1];
  });
}
table take(int axis, const table& values, const table& ids) {
  const table shape = united(without(values, {axis}, values.real), ids, values.real);
  std::vector<extent> id_at(ids.axes.size());
  return moved(values, shape.axes, shape.extents, [&](const std::vector<extent>& at, std::vector<extent>& from) {
    for (std::size_t a = 0; a < values.axes.size(); ++a)
      if (values.axes[a] != axis) from[a] = at[place_of(values.axes[a], shape)];
    extent offset = 0;
    for (std::size_t a = 0; a < ids.axes.size(); ++a)
      offset = offset * ids.extents[a] + at[place_of(ids.axes[a], shape)];
    from[place_of(axis, values)] = ids.whole[static_cast<std::size_t>(offset)];
  });
}
table rope(int axis, int position, const table& x, bool halves, double base, const table& past) {
  const extent n = x.extent_of(axis), half = n / 2;
  const auto partner = [&](extent i) {
    return halves ? (i < half ? i + half : i - half) : (i % 2 == 0 ? i + 1 : i - 1);
  };
  const table other = along(axis, x, n, partner);
  table result = combine(operation::add, x, other);  // for its shape and what is excluded; the numbers follow
  const table positions = combine(operation::add, index(position, x.extent_of(position)), past);
  const table* const tables[] = {&x, &other, &positions};
  const extent step = result.stride_of(axis);
  walk(result.axes, result.extents, tables, [&](std::size_t i, const std::size_t(&o)[3]) {
    const extent a = static_cast<extent>(i) / step % n, pair = halves ? a % half : a / 2;
    const bool first = halves ? a < half : a % 2 == 0;
    const double angle = static_cast<double>(positions.whole[o[2]]) *
                         std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(n));
    const double c = std::cos(angle), s = first ? -std::sin(angle) : std::sin(angle);
    const element& l = x.reals[o[0]];
    const element& r = other.reals[o[1]];
    element& y = result.reals[i];
    y.value = l.value * c + r.value * s;
    y.size = l.size * std::abs(c) + r.size * std::abs(s);
    y.error = l.error * std::abs(c) + r.error * std::abs(s) + rounding * (4 * y.size + 2 * (l.size + r.size));
  });
  result.sum = true;
  return result;
}

}  // namespace formulas::reference

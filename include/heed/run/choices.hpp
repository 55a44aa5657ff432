// SPDX-License-Identifier: BSL-1.0
// In: the kinds, operands and axes of a stage. Out: what kernels call them, the order that their loops take, and the words that
// explain them.
// Next to read: ../runner.hpp.
#pragma once

#include "../kernel/rows.hpp"
#include "../kernel/stage_group.hpp"
#include "../kernel/stream.hpp"
#include "../plan/leaves.hpp"
#include "../plan/report.hpp"
#include "../plan/stage.hpp"
#include "../program.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace heed::detail {
inline namespace HEED_ARCH {

// ---------------------------------------------------------------- operands and axes
template <class T, class A> kernel::byte_range bytes_of(leaf<T, A> const& l) {
  if (l.data == nullptr) return {};
  memory_range const range = detail::range_of(l);
  return {range.low, range.high};
}
template <class N> struct axes_or_none { using type = axes<>; };
template <class N>
  requires(requires { typename N::axes_type; })
struct axes_or_none<N> {
  using type = typename N::axes_type;
};
template <class Tuple> struct key_axes;
template <class... D> struct key_axes<std::tuple<D...>> {
  using type = unite_all<difference<typename D::key_type::axes_type, typename D::over>...>;
};
template <class Tuple> struct depth_axes;
template <class... D> struct depth_axes<std::tuple<D...>> { using type = unite_all<typename D::over...>; };

template <class V> kernel::matrix side(loops::program const& load) {
  kernel::matrix m;
  m.operand = load.operands[0];
  m.load = &load;
  m.native = m.operand.real && m.operand.size == static_cast<int>(sizeof(V));
  return m;
}
template <class N> kernel::ready_panels const* panels_of(N const& n) {
  if constexpr (is_leaf_node<N>)
    return static_cast<kernel::ready_panels const*>(n.owner.attached());
  else
    return nullptr;
}
template <class V, class S, class A> kernel::matrix side(loops::program const& load, leaf<S, A> const&) {
  kernel::matrix m = side<V>(load);
  m.row_loops = kernel::decode::row_loops_for<V, std::remove_const_t<S>>();
  return m;
}
/// True where the target's neighbouring elements belong to the left operand's axes.
template <class Stage> bool lanes_lie_left(Stage const& k) {
  auto has_unit = [&](loops::group const& g) {
    for (int i = 0; i < g.count; ++i)
      if (k.target.stride[g.axis[i]] == 1 && g.extent[i] > 1) return true;
    return false;
  };
  if (has_unit(k.n)) return k.n.size < 4 && k.m.size >= 16;
  if (has_unit(k.m)) return !(k.m.size < 4 && k.n.size >= 16);
  return k.n.size < k.m.size && k.n.size < 16;
}
template <class SA, class Outer, class Stage> void split_rows(stage_axes<SA> const& sa, Stage& k) {
  // rows: the axis that lies side by side in the target; else the longest
  int best = -1;
  loops::group const all = sa.template group<Outer>();
  for (int i = 0; i < all.count; ++i) {
    if (best < 0 || all.extent[i] > all.extent[best]) best = i;
  }
  for (int i = 0; i < all.count; ++i)
    if (!k.keeps_rows() && k.target.stride[all.axis[i]] == 1 && all.extent[i] > 1) best = i;
  for (int i = 0; i < all.count; ++i) (i == best ? k.rows : k.outer).add(all.axis[i], all.extent[i]);
}
template <class SA, class T, class A> std::array<extent_t, loops::max_rank> target_strides(leaf<T, A> const& l) {
  std::array<extent_t, loops::max_rank> s{};
  for_each_axis(A{},
                [&]<class X>(type_tag<X>) { s[static_cast<std::size_t>(index_of<X, SA>)] = l.template stride<X>(); });
  return s;
}

// ---------------------------------------------------------------- kinds
inline kernel::row_kind row_kind_of(kinds::softmax const&) { return kernel::row_kind::softmax; }
inline kernel::row_kind row_kind_of(kinds::log_sum_exp const&) { return kernel::row_kind::log_sum_exp; }
inline kernel::row_kind row_kind_of(kinds::sum const&) { return kernel::row_kind::sum; }
inline kernel::row_kind row_kind_of(kinds::mean const&) { return kernel::row_kind::mean; }
inline kernel::row_kind row_kind_of(kinds::maximum const&) { return kernel::row_kind::maximum; }
inline kernel::row_kind row_kind_of(kinds::variance const&) { return kernel::row_kind::variance; }
inline kernel::row_kind row_kind_of(kinds::argmax const&) { return kernel::row_kind::argmax; }
inline kernel::row_kind row_kind_of(kinds::cumulative_sum const&) { return kernel::row_kind::cumulative_sum; }
inline kernel::row_kind row_kind_of(kinds::standardised const&) { return kernel::row_kind::standardised; }
template <class Kind> constexpr double operations_of() {
  return std::is_same_v<Kind, kinds::softmax> || std::is_same_v<Kind, kinds::log_sum_exp> ? 5
         : std::is_same_v<Kind, kinds::standardised>                                      ? 5
                                                                                          : 1;
}
template <class Kind, bool HasValues> constexpr kernel::stream_kind stream_kind_of() {
  using kernel::stream_kind;
  if constexpr (std::is_same_v<Kind, plan::stream_softmax>) return stream_kind::softmax;
  if constexpr (std::is_same_v<Kind, plan::stream_plain>) return stream_kind::weighted_sum;
  if constexpr (std::is_same_v<Kind, kinds::mean>) return stream_kind::mean;
  if constexpr (std::is_same_v<Kind, kinds::maximum>) return stream_kind::maximum;
  if constexpr (std::is_same_v<Kind, kinds::log_sum_exp>) return stream_kind::log_sum_exp;
  return stream_kind::sum;
}
template <class Kind> std::string_view stream_name() {
  if constexpr (requires { Kind::name; })
    return Kind::name;
  else
    return "dot";
}

// ---------------------------------------------------------------- words
inline std::string replaced(std::string s, int slot, std::string const& by) {
  std::string const mark = plan::concatenated({"#", std::to_string(slot)});
  for (std::size_t at = 0; (at = s.find(mark, at)) != s.npos; at += by.size()) s.replace(at, mark.size(), by);
  return s;
}
template <class Tree> std::string with_slots(Tree const& tree, std::string const& anchor, int slot = 0) {
  return replaced(plan::print(tree), slot, anchor);
}
template <class K, class SA, class Scores, class Weights, class Values, class Epilogue>
std::string stream_text(stage_axes<SA> const& sa, Scores const& scores, Weights const& weights, Values const&,
                        Epilogue const& epilogue, std::string_view name) {
  constexpr bool has_values = !std::is_same_v<Values, no_axis>;
  std::string s = plan::print(scores.tree);
  int number = 0;
  auto name_dot = [&](auto const& d) {
    using Dot = std::remove_cvref_t<decltype(d)>;
    s = replaced(s, number++,
                 plan::concatenated({"dot<", sa.template text<typename Dot::over>(), ">(", plan::print(d.query), ", ",
                                     plan::print(d.key), ")"}));
  };
  std::apply([&](auto const&... d) { (name_dot(d), ...); }, scores.dots);
  if constexpr (!std::is_same_v<Weights, no_axis>)
    s = with_slots(weights, plan::concatenated({"softmax<", sa.template text<K>(), ">(", s, ")"}));
  using VA = typename axes_or_none<Values>::type;
  return with_slots(epilogue, (has_values ? "dot<" : std::string(name) + "<") + sa.template text<K>() + ">(" + s +
                                  (has_values ? ", [" + plan::axis_text(VA{}) + "])" : ")"));
}
/// The axis whose elements lie side by side.
template <class T, class... A> std::string last_axis(leaf<T, axes<A...>> const& l) {
  std::string s = "one element";
  extent_t nearest = std::numeric_limits<extent_t>::max();
  int i = 0;
  [[maybe_unused]] auto const look = [&](auto const& name) {
    if (l.strides[i] <= nearest) nearest = l.strides[i], s = name();
    ++i;
  };
  (look([] { return detail::axis_name<A>(); }), ...);
  return s;
}

}  // namespace HEED_ARCH
}  // namespace heed::detail

// SPDX-License-Identifier: BSL-1.0
// In: a streamed tree and its dots, what is done to softmax's weights, a sink, values and an epilogue. Out: the stage as kernels read
// it, with its programs: which axes are batch, lanes, keys and width follows from the lists alone.
// Next to read: ../runner.hpp, which describes and runs it.
#pragma once

#include "choices.hpp"
#include "made.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail {
inline namespace HEED_ARCH {

/// A stream over K. PA: the axes of the scores. Weights, sink and values may be no_axis: none.
template <class K, class PA, class Kind, class Scores, class Weights, class Sink, class Values, class Epilogue,
          class Out>
class made_stream {
  static constexpr bool has_values = !std::is_same_v<Values, no_axis>;
  static constexpr bool has_weights = !std::is_same_v<Weights, no_axis>;
  static constexpr bool has_sink = !std::is_same_v<Sink, no_axis>;
  using Dots = decltype(Scores::dots);
  using T = std::remove_const_t<typename Out::storage_type>;
  using VA = typename axes_or_none<Values>::type;
  using Shared = unite<VA, typename key_axes<Dots>::type>;
  static constexpr int dots = std::tuple_size_v<Dots>;

 public:
  using Depths = typename depth_axes<Dots>::type;
  using SA = unite_all<typename Out::axes_type, PA, VA, Depths>;
  using V = typename decltype(Scores::tree)::value_type;
  using Lanes = difference<difference<PA, K>, Shared>;
  using Batch = difference<difference<PA, K>, Lanes>;
  using Width = difference<VA, unite<PA, K>>;

  stage_axes<SA> sa;
  made_program<SA, T, Epilogue> program;
  made_program<SA, V, decltype(Scores::tree)> score_program;
  decltype(detail::optional_program<SA, V>(std::declval<Weights const&>())) weight_program;
  decltype(detail::optional_program<SA, V>(std::declval<Sink const&>())) sink_program;
  loops::sized_program<1> loads[2 * (dots + 1)];
  kernel::streamed<V> stage;

  made_stream(Scores const& scores, Weights const& weights, Sink const& sink, Values const& values,
              Epilogue const& epilogue, Out const& out, double fill)
      : sa(axes_of(scores, weights, values, out)),
        program(epilogue),
        score_program(scores.tree),
        weight_program(detail::optional_program<SA, V>(weights)),
        sink_program(detail::optional_program<SA, V>(sink)) {
    stage.kind = stream_kind_of<Kind, has_values>();
    stage.batch = sa.template group<Batch>();
    stage.lanes = sa.template group_by_size<Lanes>();
    stage.keys = sa.template group<K>();
    stage.values = sa.template group<Width>();
    stage.score = &score_program;
    stage.epilogue = &program;
    stage.bare_output = program.identity && std::is_same_v<T, V>;
    stage.target = detail::make_target<SA>(out);
    stage.fill = fill;
    stage.dots = dots;
    int i = 0;
    std::apply([&](auto const&... d) { (place(d, i++), ...); }, scores.dots);
    if constexpr (has_values) {
      detail::fill_program<SA, V>(loads[2 * dots], values);
      stage.value = side<V>(loads[2 * dots], values);
    }
    if constexpr (has_weights) stage.weight = &weight_program;
    if constexpr (has_sink) stage.sink = &sink_program;
  }
  made_stream(made_stream const&) = delete;  // the stage points into it
  made_stream& operator=(made_stream const&) = delete;

 private:
  static stage_axes<SA> axes_of(Scores const& scores, [[maybe_unused]] Weights const& weights,
                                [[maybe_unused]] Values const& values, Out const& out) {
    stage_axes<SA> learnt;
    for_each_axis(SA{}, [&]<class X>(type_tag<X>) {
      extent_t e = scores.tree.template extent<X>();
      if constexpr (has_weights)
        if (e == dynamic) e = weights.template extent<X>();
      learnt.extents[index_of<X, SA>] = e;
    });
    std::apply([&](auto const&... d) { ((learnt.learn(d.key), learnt.learn(d.query)), ...); }, scores.dots);
    if constexpr (has_values) learnt.learn(values);
    learnt.learn(out);
    learnt.require_all();
    return learnt;
  }
  template <class Dot> void place(Dot const& d, int i) {
    detail::fill_program<SA, V>(loads[2 * i], d.key);
    detail::fill_program<SA, V>(loads[2 * i + 1], d.query);
    auto& part = stage.parts[i];
    part.key = side<V>(loads[2 * i], d.key);
    part.query = side<V>(loads[2 * i + 1]);
    // its own extents: another dot of the stage may contract an axis of the same name and another length
    for_each_axis(typename Dot::over{},
                  [&]<class X>(type_tag<X>) { part.depth.add(index_of<X, SA>, d.key.template extent<X>()); });
    part.scale = d.scale;
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::detail

// SPDX-License-Identifier: BSL-1.0
// In: a node and what stands around it. Out: the extents that it lacks itself.
// Next to read: lower.hpp, which passes them down.
#pragma once

#include "tree.hpp"

namespace heed::plan {
inline namespace HEED_ARCH {

template <class A> inline constexpr char axis_key = 0;
/// Expressions without extents of their own (coordinates) take them from what stands around them: a chain of nodes, their
/// types erased, so that a node is lowered once for its type and not once for each place where it stands.
class hint {
  hint const* outer_ = nullptr;
  void const* node_ = nullptr;
  extent_t (*get_)(void const*, void const*) = nullptr;

  template <class N> static extent_t get(void const* node, void const* axis) {
    extent_t e = dynamic;
    for_each_axis(typename N::axes_type{}, [&]<class A>(type_tag<A>) {
      if (axis == &axis_key<A>) e = static_cast<N const*>(node)->template extent<A>();
    });
    return e;
  }

 public:
  hint() = default;
  template <class N> hint(N const& node, hint const& outer) : outer_(&outer), node_(&node), get_(&get<N>) {}
  template <class A> extent_t extent() const {
    for (hint const* h = this; h; h = h->outer_) {
      extent_t const e = h->get_ ? h->get_(h->node_, &axis_key<A>) : dynamic;
      if (e != dynamic) return e;
    }
    return dynamic;
  }
};

/// The extent of a node along an axis, its own or that of what stands around it.
template <class A, class N> extent_t extent_of(N const& n, hint const& shape) {
  extent_t e = n.template extent<A>();
  if (e == dynamic) e = shape.template extent<A>();
  if (e == dynamic) throw shape_error("evaluate: no operand gives axis " + detail::axis_name<A>() + " an extent");
  return e;
}

}  // namespace HEED_ARCH
}  // namespace heed::plan

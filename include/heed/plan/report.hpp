// SPDX-License-Identifier: BSL-1.0
// In: the stages as the plan makes them. Out: heed::plan, what explain returns: text, and the figures behind it.
// Next to read: lower.hpp, which fills it in while it plans.
#pragma once

#include "tree.hpp"

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heed::plan {
inline namespace HEED_ARCH {

/// What explain returns: the stages that evaluate would run, by the code that runs them.
struct report {
  /// One parallel pass over memory.
  struct stage {
    std::string kernel;            ///< "attention", "contraction", "rows", "map"
    std::string computes;          ///< the anchor and what is fused around it
    std::string parallel;          ///< loop axes with extents: dealt out to threads
    std::string vectorised;        ///< along the vectors
    std::string streamed;          ///< gone through block by block
    std::string stores;            ///< axes of what it writes
    std::size_t bytes_stored = 0;  ///< of an intermediate result; 0 for the last stage, which writes the destination
    double floating_point_operations = 0;  ///< two for a multiply-add; a mask saves none
    double bytes_moved = 0;                ///< read and written at least once
    std::string why_stored;                ///< for an intermediate result: why it is not fused

    /// @private Another result of the same pass.
    void join(stage const& other) {
      if (other.kernel != kernel) kernel += " + " + other.kernel;
      if (other.parallel != parallel) parallel += "; " + other.parallel;
      computes += "; " + other.computes;
      if (other.vectorised != vectorised) vectorised += "; " + other.vectorised;
      stores += "; " + other.stores;
      bytes_stored += other.bytes_stored;
      floating_point_operations += other.floating_point_operations;
      bytes_moved += other.bytes_moved;
      if (why_stored.empty()) why_stored = other.why_stored;
    }
  };
  std::vector<stage> stages;             ///< in the order in which they run
  double floating_point_operations = 0;  ///< of all stages
  double bytes_moved = 0;                ///< of all stages
  std::size_t bytes_stored = 0;          ///< of all stages: between them

  /// As text: what operator<< prints.
  std::string str() const {
    std::string s;
    int n = 0;
    for (stage const& g : stages) {
      s += std::to_string(++n) + ". " + g.kernel + ": " + g.computes + "\n";
      s += "   parallel over " + (g.parallel.empty() ? std::string("nothing") : g.parallel) + "; vectors along " +
           g.vectorised;
      if (!g.streamed.empty()) s += "; streams " + g.streamed;
      s += "\n   stores " + g.stores;
      if (g.bytes_stored) s += ", " + std::to_string(g.bytes_stored) + " bytes (" + g.why_stored + ")";
      s += "\n";
    }
    char line[160];
    std::snprintf(line, sizeof line,
                  "%.4g floating-point operations, %.4g bytes moved, %zu bytes stored between stages\n",
                  floating_point_operations, bytes_moved, bytes_stored);
    return s + line;
  }
};
/// `std::cout << explain(e)`, for any stream that takes a std::string.
template <class Stream>
  requires(requires(Stream& s, std::string const& t) { s << t; })
Stream& operator<<(Stream& out, report const& p) {
  out << p.str();
  return out;
}

// ---------------------------------------------------------------- an expression as text
/// The parts, one behind the other. Where g++ 12 inlines `"text" + std::string` it warns of overlapping copies (GCC bug 105651),
/// in programs of users too.
[[gnu::noinline]] inline std::string concatenated(std::initializer_list<std::string_view> parts) {
  std::string s;
  for (std::string_view part : parts) s += part;
  return s;
}
/// The names of the axes, with commas between.
template <class... A> std::string axis_text(axes<A...>) {
  std::string s;
  ((s.append(s.empty() ? "" : ", ").append(detail::axis_name<A>())), ...);
  return s;
}
template <class N> struct text_of {
  static std::string go(N const&) { return concatenated({"[", plan::axis_text(typename N::axes_type{}), "]"}); }
};
/// @private
template <class N> std::string print(N const& n) { return text_of<N>::go(n); }
template <class T> struct text_of<scalar<T>> {
  static std::string go(scalar<T> const& n) {
    char b[40];
    std::snprintf(b, sizeof b, "%.6g", static_cast<double>(n.value));
    return b;
  }
};
template <class A> struct text_of<index_node<A>> {
  static std::string go(index_node<A> const&) { return detail::axis_name<A>(); }
};
template <class Op, class T, class A, class... E> struct text_of<map<Op, T, A, E...>> {
  static std::string go(map<Op, T, A, E...> const& n) {
    std::string const symbol(Op::symbol);
    if constexpr (std::is_same_v<Op, ops::cast_to<T>> || std::is_same_v<Op, ops::first_of> ||
                  std::is_same_v<Op, ops::dropped>)
      return concatenated({std::is_same_v<Op, ops::dropped> ? "dropout(" : "", plan::print(n.template operand<0>()),
                           std::is_same_v<Op, ops::dropped> ? ")" : ""});
    else if constexpr (sizeof...(E) == 2 && Op::symbol[0] == ' ')
      return concatenated(
          {"(", plan::print(n.template operand<0>()), symbol, plan::print(n.template operand<1>()), ")"});
    else {
      std::string s = symbol + "(";
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((s.append(I ? ", " : "").append(plan::print(n.template operand<I>()))), ...);
      }
      (std::index_sequence_for<E...>{});
      return s + ")";
    }
  }
};
template <class M, class X> struct text_of<where_node<M, X>> {
  static std::string go(where_node<M, X> const& n) {
    return concatenated({"where(", plan::print(n.keep), ", ", plan::print(n.operand), ")"});
  }
};
template <class O, class L, class R> struct text_of<contraction<O, L, R>> {
  static std::string go(contraction<O, L, R> const& n) {
    return concatenated({"dot<", plan::axis_text(O{}), ">(", plan::print(n.left), ", ", plan::print(n.right), ")"});
  }
};
template <class K, class O, class E, class S> struct text_of<reduction<K, O, E, S>> {
  static std::string go(reduction<K, O, E, S> const& n) {
    return concatenated({K::name, "<", plan::axis_text(O{}), ">(", plan::print(n.operand), ")"});
  }
};
template <class E> struct text_of<let_node<E>> {
  static std::string go(let_node<E> const& n) { return concatenated({"let(", plan::print(n.operand), ")"}); }
};
template <class E> struct text_of<term_node<E>> {
  static std::string go(term_node<E> const& n) { return plan::print(n.operand); }
};
template <class T, class A, int I> struct text_of<slot_node<T, A, I>> {
  static std::string go(slot_node<T, A, I> const&) { return concatenated({"#", std::to_string(I)}); }
};
template <class C, class A, class E> struct text_of<reindexed<C, A, E>> {
  static std::string go(reindexed<C, A, E> const& n) {
    return concatenated({C::name, "(", plan::print(n.operand), ")"});
  }
};
template <class A, class X, class T, class I> struct text_of<take_node<A, X, T, I>> {
  static std::string go(take_node<A, X, T, I> const& n) {
    return concatenated({"take<", detail::axis_name<A>(), ">(", plan::print(n.table), ", ", plan::print(n.ids), ")"});
  }
};

}  // namespace HEED_ARCH
}  // namespace heed::plan

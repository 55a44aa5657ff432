// SPDX-License-Identifier: BSL-1.0
// In: an action on a file. Out: the action with every element type of heed and several ranks, with open and fixed
// extents; any exception but file_error ends the program.
// Next: npy.cpp.
#pragma once
#include <heed/io/shape.hpp>

#include <cstdlib>

namespace fuzz {

struct one : heed::axis<> {};
struct two : heed::axis<> {};
struct four : heed::axis<4> {};

template <class T, class... A> struct wanted {};

/// A file_error is what a bad file is allowed to cause; it must say something.
template <class Action> void allowed(Action&& action) {
  try {
    action();
  } catch (const heed::io::file_error& error) {
    if (std::string_view(error.what()).size() < 10) std::abort();
  }
}

template <class Action> void with_every_shape(Action&& action) {
  const auto typed = [&]<class T>(heed::detail::type_tag<T>) {
    action(wanted<T>{}), action(wanted<T, one>{}), action(wanted<T, one, two>{}), action(wanted<T, one, four>{});
    action(wanted<T, one, four, two>{});
  };
  typed(heed::detail::type_tag<float>{}), typed(heed::detail::type_tag<double>{});
  typed(heed::detail::type_tag<heed::f16>{}), typed(heed::detail::type_tag<heed::bf16>{});
  typed(heed::detail::type_tag<std::int32_t>{}), typed(heed::detail::type_tag<std::int64_t>{});
  typed(heed::detail::type_tag<bool>{});
}

/// Reads every element, so that a sanitizer sees one that is not there.
template <class T, class... A> void look_at(const heed::tensor<T, A...>& t) {
  volatile bool sink = false;
  for (const T& element : t) sink = static_cast<float>(element) > 0;
  (void)sink;
}
template <class T, class... A> heed::tensor<std::remove_const_t<T>, A...> copy(const heed::view<T, A...>& v) {
  heed::tensor<std::remove_const_t<T>, A...> t(heed::detail::uninitialised{}, v.heed_leaf().extents);
  std::copy(v.data(), v.data() + v.size(), t.begin());
  return t;
}

}  // namespace fuzz

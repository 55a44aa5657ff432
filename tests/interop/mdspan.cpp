// SPDX-License-Identifier: BSL-1.0
// In: an mdspan of whichever library there is (the first line that is printed names it), and heed's tensors. Out: both as
// each other, the same memory, strides kept; what does not fit, in a sentence. Without Boost.Test and without loops, so
// that it can be built by a compiler with another standard library.
// Next to read: mdspan_double.hpp, used where there is none.
#include <heed/interop/mdspan.hpp>

#include <cstdio>

#if defined(__cpp_lib_mdspan)
namespace md = std;
constexpr char const* library = "std::mdspan";
#elif __has_include(<mdspan/mdspan.hpp>)
namespace md = Kokkos;
constexpr char const* library = "Kokkos::mdspan";
#elif __has_include(<experimental/mdspan>)
namespace md = std::experimental;
constexpr char const* library = "std::experimental::mdspan, the reference implementation";
#else
#include "mdspan_double.hpp"
namespace md = mdspan_double;
constexpr char const* library = "a double: no mdspan was found";
#endif

namespace {

using heed::extent_t, heed::tensor, heed::view, heed::interop::mdspan_of, heed::interop::view_of;
struct query : heed::axis<> {};
struct key : heed::axis<> {};
struct d_head : heed::axis<4> {};

int failures = 0;
void check(bool holds, char const* what, int line) {
  if (holds) return;
  std::printf("line %d: %s\n", line, what);
  ++failures;
}
#define CHECK(...) check(__VA_ARGS__, #__VA_ARGS__, __LINE__)

template <class Action> void says(std::string const& wanted, Action action, int line) {
  std::string said = "nothing";
  try {
    action();
  } catch (heed::shape_error const& e) {
    said = e.what();
  }
  check(said == wanted, said.c_str(), line);
}
#define SAYS(wanted, ...) \
  says(                   \
      wanted, [&] { (void)(__VA_ARGS__); }, __LINE__)

constexpr std::size_t open = static_cast<std::size_t>(-1);
using rows_of_four = md::extents<int, open, 4>;
template <class M> M make(typename M::element_type* data, typename M::index_type rows, typename M::index_type columns) {
  typename M::extents_type const e(std::array<typename M::index_type, 2>{rows, columns});
  return M(data, typename M::mapping_type(e));
}

void from_mdspan() {
  float data[12];
  for (int i = 0; i < 12; ++i) data[i] = static_cast<float>(i);

  using rows = md::mdspan<float, rows_of_four>;
  auto const v = view_of<query, d_head>(make<rows>(data, 3, 4), query{3});
  static_assert(std::is_same_v<decltype(v), view<float, query, d_head> const>);
  CHECK(v.data() == data && v.extent<query>() == 3 && v.stride<query>() == 4 && v.stride<d_head>() == 1);
  v(2, 1) = -1;
  CHECK(data[9] == -1);

  // Constants, other index types, strides: every second row, every second column.
  using strided = md::mdspan<float const, md::dextents<std::size_t, 2>, md::layout_stride>;
  md::dextents<std::size_t, 2> const extents(std::array<std::size_t, 2>{2, 2});
  strided const m(data + 1, strided::mapping_type(extents, std::array<std::size_t, 2>{8, 2}));
  auto const s = view_of<query, key>(m);
  static_assert(std::is_same_v<decltype(s), view<float const, query, key> const>);
  CHECK(s(0, 1) == 3 && s(1, 0) == -1 && s(1, 1) == 11 && s.stride<query>() == 8 && s.stride<key>() == 2);

  SAYS("view_of: wanted (d_head 4, query), found [2, 2]", view_of<d_head, query>(m));
  SAYS("view_of: wanted (query 3, key), found [2, 2]", view_of<query, key>(m, query{3}));
}

void to_mdspan() {
  tensor<float, query, d_head> t{query{3}};
  using dense = md::mdspan<float, rows_of_four>;
  auto const m = mdspan_of<dense>(t);
  static_assert(std::is_same_v<decltype(m), dense const>);
  CHECK(m.data_handle() == t.data() && m.extent(0) == 3 && m.extent(1) == 4 && m.stride(0) == 4);

  using strided = md::mdspan<float const, md::dextents<int, 2>, md::layout_stride>;
  view<float, d_head, query> const turned(t.data(), query{3}, heed::strides{1, 4});
  auto const s = mdspan_of<strided>(turned);
  CHECK(s.data_handle() == t.data() && s.extent(0) == 4 && s.extent(1) == 3 && s.stride(0) == 1 && s.stride(1) == 4);
  auto const back = view_of<d_head, query>(s);
  CHECK(back.data() == turned.data() && back.stride<d_head>() == 1 && back.stride<query>() == 4);

  tensor<float, query, key> const wide{query{2}, key{5}};
  using four = md::mdspan<float const, rows_of_four>;
  SAYS("mdspan_of: axis key has extent 5, the mdspan has 4", mdspan_of<four>(wide));
  using by_rows = md::mdspan<float const, md::dextents<int, 2>>;
  SAYS("mdspan_of: axis d_head has stride 1, the layout of the mdspan has 3", mdspan_of<by_rows>(turned));
  view<float, query> const backwards(t.data() + 11, query{12}, heed::strides{-1});
  using line = md::mdspan<float, md::dextents<int, 1>, md::layout_stride>;
  SAYS("mdspan_of: axis query has stride -1, an mdspan only takes strides from 1 on", mdspan_of<line>(backwards));
  view<float const, query> const endless(nullptr, query{extent_t{1} << 40});
  using small = md::mdspan<float const, md::dextents<int, 1>>;
  SAYS("mdspan_of: axis query has extent 1099511627776 and stride 1, more than the mdspan can count",
       mdspan_of<small>(endless));

#if defined(__cpp_lib_mdspan)
  auto const known = mdspan_of(t);
  using wanted = std::mdspan<float, std::extents<extent_t, std::dynamic_extent, 4>, std::layout_right>;
  static_assert(std::is_same_v<decltype(known), wanted const>);
  CHECK(known.data_handle() == t.data() && known.extent(0) == 3);
  CHECK(mdspan_of(turned).stride(1) == 4);
  CHECK(t.to_mdspan().extent(0) == 3 && view<float, query, d_head>(known).data() == t.data());
#endif
}

}  // namespace

int main() {
  std::printf("tested with %s\n", library);
  from_mdspan();
  to_mdspan();
  return failures > 0;
}

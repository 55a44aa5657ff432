// SPDX-License-Identifier: BSL-1.0
// In: tensors of DLPack, good and bad ones, and heed's tensors, views and slices. Out: both as each other, the same memory,
// given back once; for each bad one its sentence, while it still belongs to the caller.
// Next: dlpack_python.cpp, the same with NumPy and PyTorch on the other side.
#include "../support/exceptions.hpp"
#include <heed/heed.hpp>
#include <heed/interop/dlpack.hpp>

#include <functional>
#include <numeric>
#include <optional>

using namespace heed;

namespace {

struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<4> {};

/// A tensor of DLPack over numbers of its own, and how often it was given back.
struct lender {
  std::vector<float> data = std::vector<float>(12);
  std::int64_t shape[2] = {3, 4}, strides[2] = {4, 1};
  DLManagedTensor managed{};
  int given_back = 0;

  lender() {
    std::iota(data.begin(), data.end(), 0.f);
    DLTensor& t = managed.dl_tensor;
    t.data = data.data();
    t.device.device_type = kDLCPU;
    t.ndim = 2;
    t.dtype = {kDLFloat, 32, 1};
    t.shape = shape;
    t.strides = strides;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor* m) { ++static_cast<lender*>(m->manager_ctx)->given_back; };
  }
};

/// What is said of a tensor that was changed like this.
std::string refused(std::function<void(DLTensor&)> const& change) {
  lender l;
  change(l.managed.dl_tensor);
  std::string const said = test::message_of<std::invalid_argument>(
      [&] { interop::from_dlpack<float, query, d_head>(&l.managed, query{3}); });
  BOOST_TEST(l.given_back == 0);
  return said;
}

template <class T> void there_and_back(std::uint8_t code, std::uint8_t bits) {
  tensor<T, query, d_head> t{query{3}};
  auto h = interop::to_dlpack(t);
  BOOST_TEST(h->dl_tensor.dtype.code == code);
  BOOST_TEST(h->dl_tensor.dtype.bits == bits);
  BOOST_TEST(h->dl_tensor.dtype.lanes == 1);
  auto const v = interop::from_dlpack<T, query, d_head>(h.release());
  static_assert(std::is_same_v<decltype(v), view<T, query, d_head> const>);
  BOOST_TEST(v.data() == t.data());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(interop_dlpack)

BOOST_AUTO_TEST_CASE(a_view_keeps_what_it_shows) {
  lender l;
  {
    std::optional e = [&] {
      auto const x = interop::from_dlpack<float, query, d_head>(&l.managed, query{3});
      BOOST_TEST(x.data() == l.data.data());
      BOOST_TEST(x(2, 1) == 9);
      x(2, 1) = -1;
      auto const copy = x;
      return slice<query>(copy, 1, 3) * 2.f;  // an expression is a holder as good as a view
    }();
    BOOST_TEST(l.data[9] == -1);
    BOOST_TEST(l.given_back == 0);
    tensor const y = evaluate(*e);
    BOOST_TEST(y(1, 1) == -2);
    e.reset();
  }
  BOOST_TEST(l.given_back == 1);
  lender lent;
  { BOOST_TEST((interop::from_dlpack<float const, query, d_head>(lent.managed.dl_tensor)(1, 1)) == 5); }
  BOOST_TEST(lent.given_back == 0);
  lent.managed.deleter = nullptr;  // nobody wants it back
  { BOOST_TEST((interop::from_dlpack<float, query, d_head>(&lent.managed)(1, 1)) == 5); }
}

BOOST_AUTO_TEST_CASE(layouts) {
  lender l;
  DLTensor& t = l.managed.dl_tensor;
  t.strides = nullptr;  // row-major
  BOOST_TEST((interop::from_dlpack<float, query, d_head>(t).stride<query>()) == 4);
  t.strides = l.strides;
  l.shape[0] = 4, l.shape[1] = 2, l.strides[0] = 1, l.strides[1] = 8;
  t.byte_offset = 8;
  l.data.resize(24);
  t.data = l.data.data();
  auto const v = interop::from_dlpack<float, d_head, query>(t, query{2});
  BOOST_TEST(&v(0, 0) == l.data.data() + 2);
  BOOST_TEST(&v(1, 1) == l.data.data() + 11);
  t.ndim = 0;
  t.shape = t.strides = nullptr;
  BOOST_TEST((interop::from_dlpack<float>(t)()) == 2);
  t.ndim = 1;
  t.shape = l.shape;
  l.shape[0] = 0;
  t.data = nullptr;  // an empty one needs no memory
  BOOST_TEST((interop::from_dlpack<float, query>(t).size()) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  BOOST_TEST(refused([](DLTensor& t) { t.device.device_type = kDLCUDA; }) ==
             "from_dlpack: the elements are in the memory of a device of type 2, not in that of the CPU (type 1): copy "
             "them first");
  BOOST_TEST(refused([](DLTensor& t) {
               t.dtype = {kDLFloat, 64, 1};
             }) == "from_dlpack: wanted elements of type float (float32), found float64");
  BOOST_TEST(refused([](DLTensor& t) {
               t.dtype = {kDLInt, 32, 1};
             }) == "from_dlpack: wanted elements of type float (float32), found int32");
  BOOST_TEST(refused([](DLTensor& t) { t.dtype.lanes = 4; }) ==
             "from_dlpack: wanted elements of type float (float32), found float32 x 4");
  BOOST_TEST(refused([](DLTensor& t) { t.dtype.code = 17; }) ==
             "from_dlpack: wanted elements of type float (float32), found code 17 of 32");
  BOOST_TEST(refused([](DLTensor& t) { t.ndim = 1; }) == "from_dlpack: wanted (query 3, d_head 4), found [3]");
  BOOST_TEST(refused([](DLTensor& t) { t.ndim = -1; }) == "from_dlpack: it has no shape");
  BOOST_TEST(refused([](DLTensor& t) { t.shape = nullptr; }) == "from_dlpack: it has no shape");
  BOOST_TEST(refused([](DLTensor& t) { std::swap(t.shape[0], t.shape[1]); }) ==
             "from_dlpack: wanted (query 3, d_head 4), found [4, 3]: it is the wanted shape transposed");
  BOOST_TEST(refused([](DLTensor& t) { t.data = nullptr; }) == "from_dlpack: it has no elements");
  BOOST_TEST(refused([](DLTensor& t) { t.byte_offset = 2; }) ==
             "from_dlpack: the elements do not begin at a multiple of their size");
  lender l;
  l.shape[0] = -3;
  BOOST_TEST(test::message_of<shape_error>([&] { interop::from_dlpack<float, query, d_head>(&l.managed); }) ==
             "from_dlpack: an extent is -3");
  l.shape[0] = std::int64_t{1} << 61;
  BOOST_TEST(test::message_of<shape_error>([&] { interop::from_dlpack<float, query, d_head>(&l.managed); }) ==
             "tensor: the product of the extents does not fit into 64 bits");
  DLManagedTensor* const none = nullptr;
  BOOST_TEST(test::message_of<std::invalid_argument>([&] { interop::from_dlpack<float, query>(none); }) ==
             "from_dlpack: there is no tensor");
}

BOOST_AUTO_TEST_CASE(all_types) {
  there_and_back<float>(kDLFloat, 32);
  there_and_back<double>(kDLFloat, 64);
  there_and_back<f16>(kDLFloat, 16);
  there_and_back<bf16>(kDLBfloat, 16);
  there_and_back<std::int32_t>(kDLInt, 32);
  there_and_back<std::int64_t>(kDLInt, 64);
  there_and_back<bool>(6, 8);
}

BOOST_AUTO_TEST_CASE(an_export_keeps_a_tensor_and_borrows_a_view) {
  interop::dlpack_handle<> h, part;
  float* first = nullptr;
  {
    tensor<float, query, d_head> t{query{3}};
    std::iota(t.begin(), t.end(), 0.f);
    first = t.data();
    h = interop::to_dlpack(t);
    part = interop::to_dlpack(slice<query>(t, 1, 3));
    t(1, 1) = -5;  // after the export
  }
  BOOST_TEST(h->dl_tensor.data == first);
  BOOST_TEST(static_cast<float*>(h->dl_tensor.data)[5] == -5);
  h.reset();
  BOOST_TEST(static_cast<float*>(part->dl_tensor.data)[1] == -5);  // the slice keeps it, too
  BOOST_TEST(part->dl_tensor.shape[0] == 2);
  part.reset();
  std::vector<double> data(24);
  view<double, d_head, query> const turned(data.data() + 1, query{3}, strides{1, 8});
  auto const borrowed = interop::to_dlpack(turned);
  DLTensor const& t = borrowed->dl_tensor;
  BOOST_TEST(t.data == data.data() + 1);
  BOOST_TEST(t.ndim == 2);
  BOOST_TEST(t.shape[0] == 4);
  BOOST_TEST(t.shape[1] == 3);
  BOOST_TEST(t.strides[0] == 1);
  BOOST_TEST(t.strides[1] == 8);
  BOOST_TEST(t.byte_offset == 0U);
}

#if defined(DLPACK_MAJOR_VERSION)
BOOST_AUTO_TEST_CASE(versions_and_constants) {
  tensor<float, query, d_head> t{query{3}};
  auto const& constant = t;
  auto h = interop::to_dlpack<DLManagedTensorVersioned>(constant);
  BOOST_TEST(h->version.major == 1U);
  BOOST_TEST(h->flags == DLPACK_FLAG_BITMASK_READ_ONLY);
  BOOST_TEST((interop::to_dlpack<DLManagedTensorVersioned>(t)->flags) == 0U);
  auto const said = [&] {
    return test::message_of<std::invalid_argument>([&] { interop::from_dlpack<float, query, d_head>(h.get()); });
  };
  BOOST_TEST(said() == "from_dlpack: the elements must not be written (say from_dlpack<float const, ...>)");
  h->version.major = 2;
  BOOST_TEST(said() == "from_dlpack: it is of version 2 of DLPack, only version 1 is understood");
  h->version.major = 1;
  auto const v = interop::from_dlpack<float const, query, d_head>(h.release());
  BOOST_TEST(v.data() == t.data());
}
#endif

BOOST_AUTO_TEST_SUITE_END()

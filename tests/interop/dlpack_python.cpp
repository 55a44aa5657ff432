// SPDX-License-Identifier: BSL-1.0
// In: pointers to tensors of DLPack, out of capsules of Python. Out: others, for capsules; and looks at what was taken. The
// functions of C that dlpack_python.py calls: heed's side of an exchange with NumPy and PyTorch.
// Next to read: dlpack_python.py.
#include <heed/heed.hpp>
#include <heed/interop/dlpack.hpp>

#include <cstring>
#include <numeric>
#include <optional>
#include <variant>

using namespace heed;

namespace {

struct query : axis<> {};
struct key : axis<> {};
struct d_head : axis<4> {};

template <class T> using matrix = view<T, query, key>;
std::variant<std::monostate, matrix<float>, matrix<double>, matrix<f16>, matrix<bf16>, matrix<bool>,
             matrix<std::int32_t>, matrix<std::int64_t>, matrix<float const>>
    taken;
tensor<float, query, d_head> given;
char said[500];

template <class F> bool works(F f) {
  said[0] = '\0';
  try {
    f();
    return true;
  } catch (std::exception const& e) {
    std::strncpy(said, e.what(), sizeof said - 1);
    return false;
  }
}
template <class Managed> bool take(Managed* m, std::string_view type) {
  return works([&] {
    auto const as = [&]<class T>(std::string_view name, T*) {
      if (type == name) taken = interop::from_dlpack<T, query, key>(m);
    };
    as("float", static_cast<float*>(nullptr));
    as("double", static_cast<double*>(nullptr));
    as("f16", static_cast<f16*>(nullptr));
    as("bf16", static_cast<bf16*>(nullptr));
    as("bool", static_cast<bool*>(nullptr));
    as("int32", static_cast<std::int32_t*>(nullptr));
    as("int64", static_cast<std::int64_t*>(nullptr));
    as("constant", static_cast<float const*>(nullptr));
  });
}
template <class F> auto with_taken(F f) {
  return std::visit(
      [&]<class V>(V const& v) -> decltype(f(std::declval<matrix<float> const&>())) {
        if constexpr (std::is_same_v<V, std::monostate>)
          return {};
        else
          return f(v);
      },
      taken);
}

}  // namespace

extern "C" {

char const* what() { return said; }
/// A tensor of three queries, counted; write_given changes it after it was given.
DLManagedTensor* give() {
  given = tensor<float, query, d_head>{query{3}};
  std::iota(given.begin(), given.end(), 0.f);
  return interop::to_dlpack(given).release();
}
void write_given(int i, int j, float value) { given(i, j) = value; }
/// The tensor is gone, what was given of it is not.
void forget_given() { given = {}; }
/// Every second query of it, transposed.
DLManagedTensor* give_strided() {
  return interop::to_dlpack(view<float, d_head, query>(given.data(), query{2}, strides{1, 8})).release();
}
/// Takes a matrix whose elements have the named type; false: it was refused, and what() says why.
bool take_plain(DLManagedTensor* m, char const* type) { return take(m, type); }
double element(int i, int j) {
  return with_taken([&](auto const& v) { return static_cast<double>(v(i, j)); });
}
extent_t stride(int i) {
  return with_taken([&](auto const& v) { return i == 0 ? v.template stride<query>() : v.template stride<key>(); });
}
void const* data() {
  return with_taken([](auto const& v) { return static_cast<void const*>(v.data()); });
}
void write_taken(int i, int j, float value) { std::get<matrix<float>>(taken)(i, j) = value; }
void forget_taken() { taken = {}; }
/// The sums of the rows of a matrix that was taken, as a new tensor.
DLManagedTensor* sums() { return interop::to_dlpack(evaluate(sum<key>(std::get<matrix<float>>(taken)))).release(); }

#if defined(DLPACK_MAJOR_VERSION)
bool take_versioned(DLManagedTensorVersioned* m, char const* type) { return take(m, type); }
DLManagedTensorVersioned* give_constant() {
  return interop::to_dlpack<DLManagedTensorVersioned>(std::as_const(given)).release();
}
DLManagedTensorVersioned* give_versioned() { return interop::to_dlpack<DLManagedTensorVersioned>(given).release(); }
#endif
}

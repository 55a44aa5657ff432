// SPDX-License-Identifier: BSL-1.0
// In: tensors, views and slices; or tensors of DLPack, as NumPy, PyTorch and others exchange them. Out: the one as the other,
// the same memory, kept by a counted handle. Needs dlpack.h; of 1.0 and newer the versioned tensors, too.
// Not part of heed.hpp: include it where it is wanted. Next to read: view_of.hpp, what else is checked.
#pragma once

#include "view_of.hpp"

#include <dlpack/dlpack.h>

#include <memory>

namespace heed::interop {

/// Gives a tensor of DLPack back to whom it came from.
///
///     std::unique_ptr<DLManagedTensor, heed::interop::dlpack_deleter<DLManagedTensor>> owner(managed);
template <class Managed> struct dlpack_deleter {
  /// Calls its deleter, if it has one.
  void operator()(Managed* m) const {
    if (m->deleter) m->deleter(m);
  }
};
/// A tensor of DLPack that belongs to nobody else: `release()` goes into a capsule of Python, or to whoever takes it.
/// Managed is DLManagedTensor or, from DLPack 1.0 on, DLManagedTensorVersioned.
///
///     heed::interop::dlpack_handle<> handle = heed::interop::to_dlpack(q);
template <class Managed = DLManagedTensor> using dlpack_handle = std::unique_ptr<Managed, dlpack_deleter<Managed>>;

}  // namespace heed::interop

namespace heed::detail {

namespace mistakes {
template <class Op, class T> struct constants_without_a_flag {
  static constexpr void write(writer& w) {
    w(Op::name), w(": a DLManagedTensor cannot say that its elements, "), w(detail::type_name<T>()),
        w(", must not be written (say to_dlpack<DLManagedTensorVersioned>(...), or copy the tensor)");
  }
};
}  // namespace mistakes

struct to_dlpack_word {
  static constexpr std::string_view name = "to_dlpack";
  static constexpr std::string_view no_array = " is no tensor, view or slice";
};
struct from_dlpack_word {
  static constexpr std::string_view name = "from_dlpack";
};

// What is newer than some header, and the same in all that have it.
inline constexpr std::uint8_t dlpack_bool = 6;         // kDLBool
inline constexpr std::uint64_t dlpack_read_only = 1U;  // DLPACK_FLAG_BITMASK_READ_ONLY
inline constexpr std::uint32_t dlpack_major = 1;  // the version of DLManagedTensorVersioned that is written and read

template <class M>
concept dlpack_managed = requires(M* m) {
  { m->dl_tensor } -> std::same_as<DLTensor&>;
  m->deleter(m);
};
template <class M>
concept dlpack_versioned = dlpack_managed<M> && requires(M* m) {
  m->version.major;
  m->flags;
};

template <class T> constexpr DLDataType dlpack_type() {
  std::uint8_t const code = std::is_same_v<T, bool>   ? dlpack_bool
                            : std::is_same_v<T, bf16> ? std::uint8_t{kDLBfloat}
                            : std::is_integral_v<T>   ? std::uint8_t{kDLInt}
                                                      : std::uint8_t{kDLFloat};
  return {code, static_cast<std::uint8_t>(8 * sizeof(T)), 1};
}
/// "float32", "uint8", "float32 x 4"
inline std::string dlpack_text(DLDataType type) {
  constexpr std::string_view names[] = {"int", "uint", "float", "handle", "bfloat", "complex", "bool"};
  std::string s =
      type.code < std::size(names) ? std::string(names[type.code]) : "code " + std::to_string(type.code) + " of ";
  s += std::to_string(type.bits);
  return type.lanes == 1 ? s : s + " x " + std::to_string(type.lanes);
}

/// Everything that can be wrong with a tensor of DLPack, before its elements are looked at. Its axes are those wanted.
template <class T> void check_dlpack(DLTensor const& t, std::span<wanted_axis const> wanted) {
  using stored = std::remove_const_t<T>;
  auto const refuse = [](std::string const& text) { throw std::invalid_argument("from_dlpack: " + text); };
  if (t.device.device_type != kDLCPU)
    refuse("the elements are in the memory of a device of type " + std::to_string(t.device.device_type) +
           ", not in that of the CPU (type 1): copy them first");
  constexpr DLDataType type = detail::dlpack_type<stored>();
  if (t.dtype.code != type.code || t.dtype.bits != type.bits || t.dtype.lanes != 1)
    refuse("wanted elements of type " + std::string(detail::type_name<stored>()) + " (" + detail::dlpack_text(type) +
           "), found " + detail::dlpack_text(t.dtype));
  if (t.ndim < 0 || (t.ndim > 0 && t.shape == nullptr)) refuse("it has no shape");
  std::vector<extent_t> const found(t.shape, t.shape + t.ndim);
  auto fits = [](wanted_axis const& w, extent_t e) { return w.fits(e); };
  if (!std::equal(wanted.begin(), wanted.end(), found.begin(), found.end(), fits))
    detail::refuse_found_shape("from_dlpack", wanted, found);
  for (extent_t const extent : found)
    if (extent < 0) throw shape_error("from_dlpack: an extent is " + std::to_string(extent));
  if (detail::checked_size(found.data(), found.size(), sizeof(T)) == 0) return;
  if (t.data == nullptr) refuse("it has no elements");
  if ((reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset) % alignof(T) != 0)
    refuse("the elements do not begin at a multiple of their size");
}
/// The elements under named axes, or what is wrong with the wanted ones.
template <class T, class... A, class... X> auto leaf_of_dlpack(DLTensor const& t, X const&... wanted) {
  using op = from_dlpack_word;
  if constexpr (sizeof...(A) > 0 && !good_tags<A...>) {
    HEED_REFUSE_TAGS(op, A...);
    return poison{};
  } else if constexpr (!is_element<std::remove_const_t<T>>) {
    HEED_REFUSE("from_dlpack: values are float, double, bf16, f16, bool or signed integers of 32 or 64 bits",
                mistakes::elements_of_that_type<op, std::remove_const_t<T>>);
    return poison{};
  } else if constexpr (!extents_may_be_wanted<axes<A...>, X...>) {
    detail::refuse_wanted_extents<op, axes<A...>, X...>();
    return poison{};
  } else {
    detail::check_dlpack<T>(t, detail::wanted_axes(axes<A...>{}, wanted...));
    leaf<T, axes<A...>> l;
    std::copy_n(t.shape, sizeof...(A), l.extents);
    l.make_dense();
    if (t.strides != nullptr) std::copy_n(t.strides, sizeof...(A), l.strides);
    if (t.data != nullptr) l.data = reinterpret_cast<T*>(static_cast<char*>(t.data) + t.byte_offset);
    return l;
  }
}

/// What is given away: the tensor, where its extents and strides lie, and the handle that keeps the elements.
template <class Managed, std::size_t Rank> struct exported_dlpack {
  Managed managed{};
  std::int64_t extents[Rank + 1] = {}, strides[Rank + 1] = {};
  buffer owner;
};

}  // namespace heed::detail

namespace heed::interop {

/// The elements of a tensor, view or slice as a tensor of DLPack, without a copy: axes in order, strides kept.
///
///     heed::tensor y = heed::evaluate(e);
///     give(heed::interop::to_dlpack(y).release());  // numpy.from_dlpack on the other side
///
/// Elements of a heed::tensor (also of a slice or a renamed one) live as long as the handle, whatever becomes of the tensor; those
/// of a view must be kept by whoever owns them. Refused at compile time: expressions; constant elements, except by
/// `to_dlpack<DLManagedTensorVersioned>(y)` (DLPack 1.0 and newer), which tells that they must not be written.
template <detail::dlpack_managed Managed = DLManagedTensor, class E> dlpack_handle<Managed> to_dlpack(E&& x) {
  using op = detail::to_dlpack_word;
  if constexpr (!detail::is_array<std::remove_cvref_t<E>>) {
    detail::refuse_array<op, E>();
    return {};
  } else {
    using L = detail::leaf_type_of<E>;
    constexpr bool constant = detail::reads_only<L>;
    if constexpr (constant && !detail::dlpack_versioned<Managed>) {
      HEED_REFUSE("to_dlpack: a DLManagedTensor cannot say that its elements must not be written",
                  detail::mistakes::constants_without_a_flag<op, detail::array_element<L>>);
      return {};
    } else {
      using exported = detail::exported_dlpack<Managed, L::rank>;
      auto const l = detail::leaf_of_array(x);
      auto all = std::make_unique<exported>();
      std::copy_n(l.extents, L::rank, all->extents);
      std::copy_n(l.strides, L::rank, all->strides);
      all->owner = l.owner;
      DLTensor& t = all->managed.dl_tensor;
      t.data = const_cast<typename L::storage_type*>(l.data);
      t.device.device_type = kDLCPU;
      t.ndim = static_cast<int>(L::rank);
      t.dtype = detail::dlpack_type<typename L::storage_type>();
      t.shape = all->extents;
      t.strides = all->strides;
      if constexpr (detail::dlpack_versioned<Managed>) {
        all->managed.version.major = detail::dlpack_major;
        all->managed.flags = constant ? detail::dlpack_read_only : 0U;
      }
      all->managed.manager_ctx = all.get();
      all->managed.deleter = [](Managed* m) { delete static_cast<exported*>(m->manager_ctx); };
      return dlpack_handle<Managed>(&all.release()->managed);
    }
  }
}

/// The elements of a tensor of DLPack under named axes, without a copy; strides are kept (no strides: row-major, dense).
/// Extents by name are wanted, the others are those that are found.
///
///     auto x = heed::interop::from_dlpack<float, query, d_head>(managed, query{12});  // view<float, query, d_head>
///
/// The view, its copies and every expression over them share the tensor of DLPack, and the last one gives it back. Where
/// this throws it still belongs to the caller. Refused at compile time: elements that heed has no type for; by
/// std::invalid_argument, before an element is read: memory of a device, another type, elements that must not be written
/// (say `from_dlpack<float const, ...>`), a version of DLPack above 1; by shape_error: another rank or other extents.
template <class T, class... A, detail::dlpack_managed Managed, class... X>
auto from_dlpack(Managed* managed, X const&... wanted) {
  if (managed == nullptr) throw std::invalid_argument("from_dlpack: there is no tensor");
  if constexpr (detail::dlpack_versioned<Managed>) {
    if (managed->version.major != detail::dlpack_major)  // nothing else may be looked at
      throw std::invalid_argument("from_dlpack: it is of version " + std::to_string(managed->version.major) +
                                  " of DLPack, only version 1 is understood");
    if (!std::is_const_v<T> && (managed->flags & detail::dlpack_read_only) != 0)
      throw std::invalid_argument("from_dlpack: the elements must not be written (say from_dlpack<" +
                                  std::string(detail::type_name<T>()) + " const, ...>)");
  }
  auto l = detail::leaf_of_dlpack<T, A...>(managed->dl_tensor, wanted...);
  if constexpr (detail::is_poison<decltype(l)>) {
    return l;
  } else {
    if (managed->deleter)
      l.owner = detail::buffer([](void* m) { dlpack_deleter<Managed>{}(static_cast<Managed*>(m)); },
                               static_cast<void*>(managed));
    return view<T, A...>(l);
  }
}
/// The same of a tensor that somebody else keeps: the view dangles once that one is gone.
///
///     auto x = heed::interop::from_dlpack<float, query, d_head>(lent);  // view<float, query, d_head>
template <class T, class... A, class... X> auto from_dlpack(DLTensor const& lent, X const&... wanted) {
  auto l = detail::leaf_of_dlpack<T, A...>(lent, wanted...);
  if constexpr (detail::is_poison<decltype(l)>)
    return l;
  else
    return view<T, A...>(l);
}

}  // namespace heed::interop

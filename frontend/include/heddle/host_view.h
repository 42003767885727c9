#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <version>
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

#include "heddle/array.h"
#include "heddle/dlpack.h"

namespace heddle {

/// Elements in memory of the host, with extents and strides: what std::mdspan is in C++23. It owns
/// nothing. HostView<const double, 2> reads a matrix of float64.
template <class T, std::size_t Rank>
class HostView {
 public:
  using element_type = T;
  using Extents = std::array<std::int64_t, Rank>;

  /// Elements in C order.
  constexpr HostView(T* data, const Extents& extents) : data_(data), extents_(extents) {
    std::int64_t step = 1;
    for (std::size_t axis = Rank; axis-- > 0;) {
      strides_[axis] = step;
      step *= extents_[axis];
    }
  }
  /// Elements at any strides, counted in elements.
  constexpr HostView(T* data, const Extents& extents, const Extents& strides)
      : data_(data), extents_(extents), strides_(strides) {}
  /// From a view of elements that may be written.
  constexpr HostView(const HostView<std::remove_const_t<T>, Rank>& other)
    requires std::is_const_v<T>
      : data_(other.data()), extents_(other.extents()), strides_(other.strides()) {}
  /// From std::mdspan, or a class with its members.
  template <class Mdspan>
    requires(Mdspan::rank() == Rank) && std::convertible_to<typename Mdspan::element_type*, T*> &&
            requires(const Mdspan& span) {
              span.data_handle();
              span.stride(std::size_t{});
            }
  constexpr HostView(const Mdspan& span) : data_(span.data_handle()) {
    for (std::size_t axis = 0; axis < Rank; ++axis) {
      extents_[axis] = static_cast<std::int64_t>(span.extent(axis));
      strides_[axis] = static_cast<std::int64_t>(span.stride(axis));
    }
  }

  static constexpr std::size_t rank() { return Rank; }
  constexpr T* data() const { return data_; }
  constexpr const Extents& extents() const { return extents_; }
  constexpr const Extents& strides() const { return strides_; }
  constexpr std::int64_t extent(std::size_t axis) const { return extents_[axis]; }
  constexpr std::int64_t stride(std::size_t axis) const { return strides_[axis]; }
  constexpr std::int64_t size() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : extents_) count *= extent;
    return count;
  }

  /// The element at an index for each axis, which are not checked.
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  constexpr T& operator()(Index... indices) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset += static_cast<std::int64_t>(indices) * strides_[axis++]), ...);
    return data_[offset];
  }

  /// As std::mdspan with layout_stride, or a class with its constructors.
  template <class Mdspan>
  constexpr Mdspan to() const {
    using Mapping = typename Mdspan::mapping_type;
    return Mdspan(data_, Mapping(typename Mdspan::extents_type(extents_), strides_));
  }
#ifdef __cpp_lib_mdspan
  constexpr operator std::mdspan<T, std::dextents<std::int64_t, Rank>, std::layout_stride>() const {
    return to<std::mdspan<T, std::dextents<std::int64_t, Rank>, std::layout_stride>>();
  }
#endif

 private:
  T* data_;
  Extents extents_;
  Extents strides_{};
};

namespace frontend {
[[noreturn]] void fail_rank(const Array& x, std::size_t rank, const SourceLocation& where);
}

/// An Array's elements where they lie, on the CPU only; evaluates and waits. They are valid until
/// the array is written to, moved from or destroyed. ShapeError for another number of axes;
/// DTypeError, DeviceError and TraceError as Array::span().
template <Element T, std::size_t Rank>
HostView<const T, Rank> host_view(const Array& x,
                                  SourceLocation where = SourceLocation::current()) {
  if (static_cast<std::size_t>(x.ndim()) != Rank) frontend::fail_rank(x, Rank, where);
  const Shape shape = x.shape();
  std::array<std::int64_t, Rank> extents{};
  for (std::size_t axis = 0; axis < Rank; ++axis) extents[axis] = shape[axis];
  return {x.span<T>(where).data(), extents};
}
/// Deleted: the array would be destroyed before its elements are read.
template <Element T, std::size_t Rank>
HostView<const T, Rank> host_view(const Array&& x,
                                  SourceLocation where = SourceLocation::current()) = delete;

/// Host memory as an Array. On the CPU nothing is copied, unless elements share memory. The memory
/// must stay unchanged and alive as long as the array, or any recorded but uncomputed value that
/// uses it; `owner` is released when nothing reads it any more.
template <class T, std::size_t Rank>
  requires Element<std::remove_const_t<T>>
Array view(const HostView<T, Rank>& memory, std::shared_ptr<const void> owner = {},
           SourceLocation where = SourceLocation::current()) {
  return borrow(
      {.data = memory.data(),
       .dtype = dtype_of<std::remove_const_t<T>>,
       .shape = Shape(memory.extents().begin(), memory.extents().end()),
       .strides = std::vector<std::int64_t>(memory.strides().begin(), memory.strides().end()),
       .owner = std::move(owner)},
      where);
}

}  // namespace heddle

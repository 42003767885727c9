#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// An array of the given shape, with elements copied from `data` in C order. ShapeError if `count`
/// does not fit the shape, or an extent is negative.
Array from_memory(const void* data, std::size_t count, DType dtype, const Shape& shape,
                  SourceLocation where = SourceLocation::current());

/// Host memory as an array, in C order; numpy.frombuffer, read-only. On the CPU nothing is copied:
/// the array reads the memory. The memory must stay unchanged and alive as long as the array, or
/// any recorded but uncomputed value that uses it. `owner` is released when nothing reads the
/// memory any more. Writing to the array never writes to the memory. On a GPU the data is copied
/// immediately. ShapeError if `count` does not fit the shape, or an extent is negative.
Array view_memory(const void* data, std::size_t count, DType dtype, const Shape& shape,
                  std::shared_ptr<const void> owner = {},
                  SourceLocation where = SourceLocation::current());
/// The same for typed memory; the dtype is that of the C++ type.
template <Element T>
Array view(std::span<const T> memory, const Shape& shape, std::shared_ptr<const void> owner = {},
           SourceLocation where = SourceLocation::current()) {
  return view_memory(memory.data(), memory.size(), dtype_of<T>, shape, std::move(owner), where);
}
template <Element T>
Array view(std::span<T> memory, const Shape& shape, std::shared_ptr<const void> owner = {},
           SourceLocation where = SourceLocation::current()) {
  return view(std::span<const T>(memory), shape, std::move(owner), where);
}
template <Element T>
Array view(const std::vector<T>& memory, const Shape& shape,
           SourceLocation where = SourceLocation::current()) {
  return view(std::span<const T>(memory), shape, {}, where);
}
/// Deleted: the vector would be destroyed before the array is read.
template <Element T>
Array view(std::vector<T>&& memory, const Shape& shape,
           SourceLocation where = SourceLocation::current()) = delete;

/// numpy.array of data in C order; the dtype is that of the C++ type.
template <Element T>
Array array(std::span<const T> data, const Shape& shape,
            SourceLocation where = SourceLocation::current()) {
  return from_memory(data.data(), data.size(), dtype_of<T>, shape, where);
}
template <Element T>
Array array(const std::vector<T>& data, const Shape& shape,
            SourceLocation where = SourceLocation::current()) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<std::uint8_t> bytes(data.begin(), data.end());
    return from_memory(bytes.data(), bytes.size(), DType::boolean, shape, where);
  } else {
    return from_memory(data.data(), data.size(), dtype_of<T>, shape, where);
  }
}
template <Element T>
Array array(const std::vector<T>& data, SourceLocation where = SourceLocation::current()) {
  return array(data, Shape{static_cast<std::int64_t>(data.size())}, where);
}
template <Element T>
Array array(std::initializer_list<T> data, const Shape& shape,
            SourceLocation where = SourceLocation::current()) {
  return from_memory(data.begin(), data.size(), dtype_of<T>, shape, where);
}
/// One axis: hd::array({1.0f, 2.0f}), hd::array<float>({1, 2}).
template <Element T>
Array array(std::initializer_list<T> data, SourceLocation where = SourceLocation::current()) {
  return array(data, Shape{static_cast<std::int64_t>(data.size())}, where);
}
/// Two axes: hd::array({{1, 2}, {3, 4}}). ShapeError when rows differ in length.
template <Element T>
Array array(std::initializer_list<std::initializer_list<T>> rows,
            SourceLocation where = SourceLocation::current()) {
  std::vector<T> data;
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  for (const auto& row : rows) {
    if (row.size() != columns) throw ShapeError("array: rows differ in length");
    data.insert(data.end(), row.begin(), row.end());
  }
  return array(data,
               Shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)},
               where);
}
/// A 0-d array; the dtype is that of the C++ type.
template <Element T>
Array array(T value, SourceLocation where = SourceLocation::current()) {
  return from_memory(&value, 1, dtype_of<T>, {}, where);
}

/// numpy.full. Without `dtype`, the dtype is that of the value's C++ type.
Array full(const Shape& shape, const Operand& value);
Array full(const Shape& shape, const Operand& value, DType dtype);
/// numpy.zeros, numpy.ones. ShapeError for a negative extent.
Array zeros(const Shape& shape, DType dtype = DType::f64,
            SourceLocation where = SourceLocation::current());
Array ones(const Shape& shape, DType dtype = DType::f64,
           SourceLocation where = SourceLocation::current());
/// numpy.empty, except that the elements are 0, unless a RawKernel is given the array before it is
/// in memory.
Array empty(const Shape& shape, DType dtype = DType::f64,
            SourceLocation where = SourceLocation::current());
template <Element T>
Array zeros(const Shape& shape, SourceLocation where = SourceLocation::current()) {
  return zeros(shape, dtype_of<T>, where);
}
template <Element T>
Array ones(const Shape& shape, SourceLocation where = SourceLocation::current()) {
  return ones(shape, dtype_of<T>, where);
}
template <Element T>
Array empty(const Shape& shape, SourceLocation where = SourceLocation::current()) {
  return empty(shape, dtype_of<T>, where);
}
template <Element T>
Array full(const Shape& shape, const Operand& value) {
  return full(shape, value, dtype_of<T>);
}
/// numpy.zeros_like, ones_like, empty_like and full_like: shape and dtype of x, unless given.
Array zeros_like(const Operand& x, std::optional<DType> dtype = {},
                 const std::optional<Shape>& shape = {});
Array ones_like(const Operand& x, std::optional<DType> dtype = {},
                const std::optional<Shape>& shape = {});
Array empty_like(const Operand& x, std::optional<DType> dtype = {},
                 const std::optional<Shape>& shape = {});
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {},
                const std::optional<Shape>& shape = {});

/// numpy.arange: start, start + step ... up to but excluding stop. ValueError for a step of 0,
/// DTypeError if the first two elements do not fit an integer dtype. Complex values stop, as in
/// NumPy, when the real or the imaginary part of (stop - start) / step is reached; DTypeError if
/// the dtype is then not complex.
Array arange(Scalar start, Scalar stop, Scalar step, DType dtype,
             SourceLocation where = SourceLocation::current());
/// The dtype is int64 if all arguments are integers, complex128 if one is complex, float32 if one
/// is a float and none a double, else float64.
Array arange(Scalar start, Scalar stop, Scalar step = 1,
             SourceLocation where = SourceLocation::current());
Array arange(Scalar stop, SourceLocation where = SourceLocation::current());
/// With the dtype of T: hd::arange<float>(10).
template <Element T>
Array arange(std::type_identity_t<T> stop, SourceLocation where = SourceLocation::current()) {
  return arange(Scalar(T{0}), Scalar(stop), Scalar(T{1}), dtype_of<T>, where);
}
template <Element T>
Array arange(std::type_identity_t<T> start, std::type_identity_t<T> stop,
             std::type_identity_t<T> step = T{1},
             SourceLocation where = SourceLocation::current()) {
  return arange(Scalar(start), Scalar(stop), Scalar(step), dtype_of<T>, where);
}
/// numpy.linspace: `count` evenly spaced values from start to stop. The dtype is float32 if both
/// are of type float, else float64.
Array linspace(Scalar start, Scalar stop, std::int64_t count = 50, bool endpoint = true,
               SourceLocation where = SourceLocation::current());
/// numpy.eye: ones on the k-th diagonal. If `columns` is -1, the matrix is square.
Array eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t k = 0,
          DType dtype = DType::f64, SourceLocation where = SourceLocation::current());
/// numpy.asarray of an operand. A scalar becomes a 0-d array with the dtype of its C++ type.
Array asarray(const Operand& x);

}  // namespace heddle

#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.reshape in C order; one extent may be -1. ShapeError if the sizes differ.
Array reshape(const Operand& x, const Shape& shape);
/// numpy.ravel: the elements in C order, as a 1-d array.
Array ravel(const Operand& x);
/// numpy.transpose: axis k of the result is axis axes[k] of x. Without axes, the order is reversed.
Array transpose(const Operand& x, const std::vector<std::int64_t>& axes = {});
/// numpy.permute_dims.
Array permute_dims(const Operand& x, const std::vector<std::int64_t>& axes);
/// numpy.swapaxes: exchanges two axes. AxisError for an axis out of range.
Array swapaxes(const Operand& x, std::int64_t a, std::int64_t b);
/// numpy.moveaxis: moves axes `source` to positions `destination`. AxisError for an axis out of
/// range, ValueError if their numbers differ.
Array moveaxis(const Operand& x, const std::vector<std::int64_t>& source,
               const std::vector<std::int64_t>& destination);
Array moveaxis(const Operand& x, std::int64_t source, std::int64_t destination);
/// numpy.rollaxis: moves `axis` before the axis `start`.
Array rollaxis(const Operand& x, std::int64_t axis, std::int64_t start = 0);
/// numpy.matrix_transpose: exchanges the last two axes. ShapeError for fewer than two axes.
Array matrix_transpose(const Operand& x);
/// numpy.atleast_1d, atleast_2d and atleast_3d: add axes of extent 1 where NumPy does.
Array atleast_1d(const Operand& x);
Array atleast_2d(const Operand& x);
Array atleast_3d(const Operand& x);
/// numpy.expand_dims. The axes are positions in the result.
Array expand_dims(const Operand& x, const Axes& axes);
/// numpy.squeeze: removes the given axes, which must have extent 1; without axes, all of extent 1.
Array squeeze(const Operand& x, const Axes& axes = {});
/// numpy.flip: reverses the axes, by default all.
Array flip(const Operand& x, const Axes& axes = {});
/// numpy.broadcast_to. ShapeError if x does not broadcast to the shape.
Array broadcast_to(const Operand& x, const Shape& shape);
/// numpy.broadcast_arrays.
std::vector<Array> broadcast_arrays(Arrays arrays,
                                    SourceLocation where = SourceLocation::current());
/// numpy.broadcast_shapes. ShapeError if they do not broadcast.
Shape broadcast_shapes(std::span<const Shape> shapes,
                       SourceLocation where = SourceLocation::current());
/// numpy.concatenate along an axis; dtypes promote. ShapeError if other extents differ.
Array concatenate(Arrays arrays, std::int64_t axis = 0,
                  SourceLocation where = SourceLocation::current());
/// numpy.stack: joins along a new axis.
Array stack(Arrays arrays, std::int64_t axis = 0, SourceLocation where = SourceLocation::current());
/// numpy.ndarray.astype: any dtype to any other. A float beyond the range of an integer dtype gives
/// NumPy's result on x86-64: the smallest int32 or int64, truncated to the dtype.
Array astype(const Operand& x, DType dtype);

}  // namespace heddle

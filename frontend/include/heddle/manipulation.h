#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "heddle/array.h"

namespace heddle {

/// numpy.reshape, C order; one extent may be -1. ShapeError when the sizes differ.
Array reshape(const Operand& x, const Shape& shape);
Array ravel(const Operand& x);
/// numpy.transpose: axis k of the result is axis axes[k] of x; none given reverses them.
Array transpose(const Operand& x, const std::vector<std::int64_t>& axes = {});
/// numpy.permute_dims.
Array permute_dims(const Operand& x, const std::vector<std::int64_t>& axes);
Array swapaxes(const Operand& x, std::int64_t a, std::int64_t b);
Array moveaxis(const Operand& x, const std::vector<std::int64_t>& source,
               const std::vector<std::int64_t>& destination);
Array moveaxis(const Operand& x, std::int64_t source, std::int64_t destination);
/// numpy.rollaxis: axis `axis` moves before axis `start`.
Array rollaxis(const Operand& x, std::int64_t axis, std::int64_t start = 0);
/// numpy.matrix_transpose: the last two axes exchanged. ShapeError for less than two.
Array matrix_transpose(const Operand& x);
/// numpy.atleast_1d and its kin: axes of extent 1 where there are fewer, for 3 around them.
Array atleast_1d(const Operand& x);
Array atleast_2d(const Operand& x);
Array atleast_3d(const Operand& x);
/// numpy.expand_dims: the axes are positions in the result.
Array expand_dims(const Operand& x, const Axes& axes);
/// numpy.squeeze: drops the axes, which must be of extent 1; none given drops all of extent 1.
Array squeeze(const Operand& x, const Axes& axes = {});
/// numpy.flip along the axes, all by default.
Array flip(const Operand& x, const Axes& axes = {});
Array broadcast_to(const Operand& x, const Shape& shape);
/// The arrays broadcast against each other.
std::vector<Array> broadcast_arrays(Arrays arrays,
                                    SourceLocation where = SourceLocation::current());
/// numpy.broadcast_shapes. ShapeError where they do not broadcast.
Shape broadcast_shapes(std::span<const Shape> shapes,
                       SourceLocation where = SourceLocation::current());
/// numpy.concatenate along an axis; dtypes promote. ShapeError when other extents differ.
Array concatenate(Arrays arrays, std::int64_t axis = 0,
                  SourceLocation where = SourceLocation::current());
/// numpy.stack: joins along a new axis.
Array stack(Arrays arrays, std::int64_t axis = 0, SourceLocation where = SourceLocation::current());
/// numpy.ndarray.astype: any dtype to any other. A float beyond an integer dtype gives what NumPy
/// gives on x86-64: the smallest int32 or int64, cut to the dtype.
Array astype(const Operand& x, DType dtype);

}  // namespace heddle

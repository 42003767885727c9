#pragma once

#include <string>

#include "ir/base/inline_vector.h"
#include "ir/types/dim.h"

namespace heddle::ir {

/// A number for each axis, outermost first.
using Dims = InlineVector<Dim, 4>;
/// Extents. An empty shape is that of a 0-d array.
using Shape = Dims;

/// NumPy's limit. Plans merge axes and drop axes of extent 1, so kernels have fewer.
inline constexpr int max_rank = 64;

/// Product of the extents; 1 for rank 0. Throws ShapeError if a constant product overflows.
Dim element_count(const Shape& shape);
/// Strides of the C-ordered array of this shape, in elements.
Dims contiguous_strides(const Shape& shape);
/// The broadcast shape, as numpy.broadcast_shapes. Throws ShapeError that names both shapes.
Shape broadcast_shapes(const Shape& a, const Shape& b);
/// Converts an axis in [-rank, rank) to [0, rank). Throws IndexError for others.
int normalize_axis(std::int64_t axis, int rank);
/// "[n,64]"; "[]" for rank 0.
std::string to_string(const Shape& shape);
bool is_constant(const Shape& shape);

}  // namespace heddle::ir

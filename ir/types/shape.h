#pragma once

#include <string>
#include <vector>

#include "ir/types/dim.h"

namespace heddle::ir {

/// Extents, outermost first. Rank 0 is a scalar.
using Shape = std::vector<Dim>;

/// NumPy's limit. Plans merge the axes of an array, and drop those of extent 1.
inline constexpr int max_rank = 64;

/// Product of the extents; 1 for rank 0. Throws ShapeError when a constant product overflows.
Dim element_count(const Shape& shape);
/// Strides of the C-ordered array, in elements.
std::vector<Dim> contiguous_strides(const Shape& shape);
/// NumPy's broadcasting of two shapes. Throws ShapeError naming both.
Shape broadcast_shapes(const Shape& a, const Shape& b);
/// An axis in [-rank, rank) made non-negative. Throws IndexError.
int normalize_axis(std::int64_t axis, int rank);
/// "[n,64]", "[]".
std::string to_string(const Shape& shape);
bool is_constant(const Shape& shape);

}  // namespace heddle::ir

#pragma once

#include <cstdint>
#include <vector>

#include "heddle/array.h"

namespace heddle {

// Slices of a fixed size whose starts may be computed, after jax.lax. A start is an integer or a
// 0-d array of integers. A negative one counts from the end. Then starts are clamped so that the
// slice stays inside of the array. Where a start is known, or linear in a loop's counter and inside
// in all steps, reading is a view; other starts are read from memory.
//
// DTypeError for starts that are not integers. ShapeError unless there is a start for each axis,
// and for a slice that is larger than the array. AxisError for an axis out of range.

/// jax.lax.dynamic_slice: x[start : start + size] along each axis.
Array dynamic_slice(const Operand& x, const std::vector<Operand>& starts, const Shape& sizes);
/// jax.lax.dynamic_slice_in_dim: the same along one axis; the others stay whole.
Array dynamic_slice_in_dim(const Operand& x, const Operand& start, std::int64_t size,
                           std::int64_t axis = 0);
/// jax.lax.dynamic_index_in_dim: the element at an index along an axis, which stays with extent 1
/// if `keepdims`.
Array dynamic_index_in_dim(const Operand& x, const Operand& index, std::int64_t axis = 0,
                           bool keepdims = true);
/// jax.lax.dynamic_update_slice: x, in which `update` replaces the elements from the starts on.
/// DTypeError unless the dtypes are equal; numbers take x's.
Array dynamic_update_slice(const Operand& x, const Operand& update,
                           const std::vector<Operand>& starts);
/// jax.lax.dynamic_update_slice_in_dim: the same with a start along one axis, and 0 for others.
Array dynamic_update_slice_in_dim(const Operand& x, const Operand& update, const Operand& start,
                                  std::int64_t axis);
/// jax.lax.dynamic_update_index_in_dim: the element at an index along an axis replaced; `update`
/// has the extent 1 there, or lacks the axis.
Array dynamic_update_index_in_dim(const Operand& x, const Operand& update, const Operand& index,
                                  std::int64_t axis);

}  // namespace heddle

#pragma once

#include <vector>

#include "heddle/dtype.h"

#include "ir/interpreter/arrays.h"
#include "ir/types/op.h"

namespace heddle::ir::interpreter {

/// An indexed axis, with its index for each element of a region.
struct AxisIndex {
  std::size_t axis;
  std::vector<std::int64_t> values;
};

/// result[c] = operand[c'], where c' is c with the position of the index (ir/scalar/position.h)
/// along each indexed axis. `operand` has stride 0 along axes that are broadcast.
void gather(const StridedBytes& operand, const Extents& operand_extents,
            const std::vector<AxisIndex>& indices, std::byte* result, const Extents& region,
            std::size_t element_size);

/// Combines values into `result`, which is C-ordered, one after another, by addition or maximum.
/// Values with an index outside the result are skipped.
void scatter(Op op, DType dtype, const std::byte* values, const std::vector<AxisIndex>& indices,
             const Extents& region, std::byte* result, const Extents& result_extents);

}  // namespace heddle::ir::interpreter

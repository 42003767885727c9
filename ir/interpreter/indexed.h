#pragma once

#include <vector>

#include "heddle/dtype.h"

#include "ir/interpreter/arrays.h"
#include "ir/types/op.h"

namespace heddle::ir::interpreter {

/// One of the indexed axes, with the index of each element of a region.
struct AxisIndex {
  std::size_t axis;
  std::vector<std::int64_t> values;
};

/// result[c] = operand[c, but the position of its index along each indexed axis]; `operand` has
/// stride 0 along the axes that it repeats.
void gather(const StridedBytes& operand, const Extents& operand_extents,
            const std::vector<AxisIndex>& indices, std::byte* result, const Extents& region,
            std::size_t element_size);

/// Adds to, or takes the maximum with, `result`, which is C-ordered, one value after the other.
/// Values whose index is outside are left out.
void scatter(Op op, DType dtype, const std::byte* values, const std::vector<AxisIndex>& indices,
             const Extents& region, std::byte* result, const Extents& result_extents);

}  // namespace heddle::ir::interpreter

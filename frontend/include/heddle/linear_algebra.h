#pragma once

#include "heddle/array.h"

namespace heddle {

/// numpy.matmul: leading axes broadcast, a vector counts as a row on the left and a column on the
/// right. ShapeError when the inner extents differ or an operand is 0-d.
Array matmul(const Operand& a, const Operand& b);
/// numpy.dot.
Array dot(const Operand& a, const Operand& b);
/// numpy.vecdot along the last axis.
Array vecdot(const Operand& a, const Operand& b);
/// numpy.outer of the flattened operands.
Array outer(const Operand& a, const Operand& b);

}  // namespace heddle

#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// The common dtype as in NumPy: arrays promote first, then scalars join within their kind (NEP
/// 50).
DType common_dtype(std::span<const Operand* const> operands);
/// The operand as a node of a dtype. A scalar becomes a constant of the program if it is one of
/// `constants`.
NodeRef node_of(std::string_view op, const Operand& operand, DType dtype);
/// The operand without a cast; a scalar takes the dtype of its C++ type.
NodeRef node_of(std::string_view op, const Operand& operand);

/// numpy.asarray of the operand: a scalar takes its default dtype, whatever it is combined with. An
/// integer beyond 64 bits, which no integer dtype holds, becomes the nearest float64.
NodeRef asarray_node(std::string_view op, const Operand& operand);

/// Converts a value that is written into an array, or a reduction's start value. Arrays are cast.
/// Scalars must fit after truncation: DTypeError otherwise, ValueError for NaN in an integer dtype.
NodeRef element_node(std::string_view op, const Operand& value, DType dtype);
/// Converts the fill value of a new array: as element_node, except that floats are cast.
NodeRef fill_node(std::string_view op, const Operand& value, DType dtype);

/// Records an elementwise op with NumPy's promotion. The result is weak if all operands are.
Array elementwise(ir::Op op, std::initializer_list<const Operand*> operands);
Array unary(ir::Op op, const Operand& x);
Array binary(ir::Op op, const Operand& x, const Operand& y);
Array select(const Operand& condition, const Operand& x, const Operand& y, std::string_view name);
/// numpy.clip of an array. A null bound means no bound, and so does an integer scalar beyond the
/// integer dtype that changes nothing.
Array clip(const Operand& x, const Operand* low, const Operand* high);

/// The result of an in-place operator, cast back to the array's dtype. It must have the same kind
/// and shape.
Array in_place(std::string_view op, const Array& before, const Array& after, const Site& site);
/// The dtype in which NumPy accumulates sums and products.
DType accumulator_dtype(DType dtype);
/// numpy.can_cast(from, to, "same_kind").
bool can_cast_same_kind(DType from, DType to);
/// can_cast_same_kind of an operand. A scalar counts by its kind, whatever its C++ type; its value
/// is not checked.
bool holds_kind_of(const Operand& operand, DType dtype);

}  // namespace heddle::frontend

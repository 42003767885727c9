#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// The dtype that NumPy gives operands together: arrays promote first, then scalars join within
/// their kind (NEP 50).
DType common_dtype(std::span<const Operand* const> operands);
/// The operand as a node of a dtype. A scalar that is one of `constants` is one of the program's.
NodeRef node_of(std::string_view op, const Operand& operand, DType dtype);
/// The operand as it is; a scalar takes its C++ type.
NodeRef node_of(std::string_view op, const Operand& operand);

/// As numpy.asarray of the operand: a number is of its default dtype, whatever it meets. An integer
/// beyond 64 bits, which no integer dtype holds, is the nearest float64.
NodeRef asarray_node(std::string_view op, const Operand& operand);

/// What is written into an array, or what a reduction starts from: arrays are cast, numbers have to
/// fit once their fraction is dropped (DTypeError; ValueError for NaN in an integer dtype).
NodeRef element_node(std::string_view op, const Operand& value, DType dtype);
/// What a new array is filled with: as element_node, but floats are cast.
NodeRef fill_node(std::string_view op, const Operand& value, DType dtype);

/// Records an elementwise op with NumPy's promotion. The result is weak when all operands are.
Array elementwise(ir::Op op, std::initializer_list<const Operand*> operands);
Array unary(ir::Op op, const Operand& x);
Array binary(ir::Op op, const Operand& x, const Operand& y);
Array select(const Operand& condition, const Operand& x, const Operand& y, std::string_view name);
/// numpy.clip of an array, a null bound being none: an integer scalar beyond its integer dtype that
/// changes nothing is no bound either.
Array clip(const Operand& x, const Operand* low, const Operand* high);

/// The result of an in-place operator: cast back to the array's dtype, if it is of the same kind,
/// and of the same shape.
Array in_place(std::string_view op, const Array& before, const Array& after, const Site& site);
/// What NumPy accumulates sums and products of a dtype in.
DType accumulator_dtype(DType dtype);
/// Whether numpy.can_cast(from, to, "same_kind").
bool can_cast_same_kind(DType from, DType to);
/// can_cast_same_kind of an operand. A number is of a kind, whatever its C++ type is; whether it
/// fits is another question.
bool holds_kind_of(const Operand& operand, DType dtype);

}  // namespace heddle::frontend

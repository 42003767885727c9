#pragma once

#include <cstddef>

#include "heddle/dtype.h"

#include "ir/types/op.h"

namespace heddle::ir::interpreter {

/// Computes `count` results from as many elements of each operand.
using ElementwiseFunction = void (*)(const std::byte* const* operands, std::byte* result,
                                     std::size_t count);
/// Reduces each of `rows` runs of `length` elements, which are neighbours along rows or along
/// columns of the array that is reduced.
using ReduceFunction = void (*)(const std::byte* operand, std::byte* result, std::size_t rows,
                                std::size_t length, bool along_columns);
/// Element i of each of `rows` runs of `length` becomes what elements 0 .. i combine to, or those
/// from the last on that `begins`, where it is not null.
using ScanFunction = void (*)(const std::byte* operand, const std::byte* begins, std::byte* result,
                              std::size_t rows, std::size_t length);
/// result[m, n] = a[m, k] b[k, n], all C-ordered.
using MatmulFunction = void (*)(const std::byte* a, const std::byte* b, std::byte* result,
                                std::size_t m, std::size_t k, std::size_t n);
/// How many of `length` sorted elements stand before each of `count` values.
using SearchFunction = void (*)(const std::byte* sorted, std::size_t length,
                                const std::byte* values, std::byte* result, std::size_t count);

/// An op of the table on operands of a dtype (of select, the last two). Throws InternalError where
/// the table does not allow it.
ElementwiseFunction elementwise_function(Op op, DType dtype);
ElementwiseFunction cast_function(DType from, DType to);
/// Counts from 0 in a dtype; no operands.
ElementwiseFunction iota_function(DType dtype);
/// Combines in the order of ir/scalar/reduce_tree.h.
ReduceFunction reduce_function(Op op, DType dtype);
/// Combines as reduce_function does the elements so far.
ScanFunction scan_function(Op op, DType dtype);
/// Floats accumulate in f64, complex numbers in c128, integers wrap.
MatmulFunction matmul_function(DType dtype);
/// searchsorted_left or searchsorted_right.
SearchFunction search_function(Op op, DType dtype);

}  // namespace heddle::ir::interpreter

#pragma once

#include <cstddef>

#include "heddle/dtype.h"

#include "ir/types/op.h"

namespace heddle::ir::interpreter {

/// Computes `count` results from `count` elements of each operand.
using ElementwiseFunction = void (*)(const std::byte* const* operands, std::byte* result,
                                     std::size_t count);
/// Reduces each of `rows` rows of `length` consecutive elements. They are combined in the order of
/// rows or, if `run_length` is not 0, in the order of columns, in runs of that length.
using ReduceFunction = void (*)(const std::byte* operand, std::byte* result, std::size_t rows,
                                std::size_t length, std::size_t run_length);
/// Inclusive scan of each of `rows` rows of `length` elements: result i combines elements 0 .. i.
/// If `begins` is not null, the scan restarts at each element where it is true.
using ScanFunction = void (*)(const std::byte* operand, const std::byte* begins, std::byte* result,
                              std::size_t rows, std::size_t length);
/// result[m, n] = a[m, k] b[k, n], all C-ordered.
using MatmulFunction = void (*)(const std::byte* a, const std::byte* b, std::byte* result,
                                std::size_t m, std::size_t k, std::size_t n);
/// For each of `count` values, the number of the `length` sorted elements that come before it.
using SearchFunction = void (*)(const std::byte* sorted, std::size_t length,
                                const std::byte* values, std::byte* result, std::size_t count);

/// The function of an elementwise op on operands of a dtype (for select, that of the last two).
/// Throws InternalError if the op's table does not allow the dtype.
ElementwiseFunction elementwise_function(Op op, DType dtype);
ElementwiseFunction cast_function(DType from, DType to);
/// Writes 0, 1, ..., count - 1 in a dtype; takes no operands.
ElementwiseFunction iota_function(DType dtype);
/// Combines in the order that ir/scalar/reduce_tree.h defines.
ReduceFunction reduce_function(Op op, DType dtype);
/// Each result combines its elements in the same order as reduce_function.
ScanFunction scan_function(Op op, DType dtype);
/// Floats accumulate in f64, complex numbers in c128; integers wrap.
MatmulFunction matmul_function(DType dtype);
/// searchsorted_left or searchsorted_right.
SearchFunction search_function(Op op, DType dtype);

}  // namespace heddle::ir::interpreter

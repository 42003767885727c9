#pragma once

#include <optional>

#include "heddle/precision.h"

#include "passes/groups/epilogue.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// out[b] = activation(alpha * a[b] x b[b] + beta * residual[b] + bias), row-major. a and b may be
/// transposed. Batch strides are in elements; 0 repeats one matrix.
struct GemmCall {
  DType dtype = DType::f32;  ///< of out, residual and bias
  /// Of a and b: equal to dtype, or a narrower dtype if dtype is f32.
  DType operand_dtype = DType::f32;
  Precision precision = Precision::ieee;
  Dim rows, columns, depth, batch = 1;
  BufferRef a, b, out;
  Dim a_start, b_start;      ///< elements before the first one in the array
  Dim a_leading, b_leading;  ///< elements between stored rows
  bool a_transposed = false, b_transposed = false;
  bool a_conjugated = false, b_conjugated = false;  ///< only transposed operands
  Dim a_batch_stride, b_batch_stride, out_batch_stride;
  Factor alpha, beta;
  std::optional<BufferRef> residual;  ///< with the layout of out; may be the same memory
  std::optional<BufferRef> bias;      ///< one element for each column
  Activation activation = Activation::none;
};

inline constexpr std::string_view gemm_handler = "gemm";

/// The step without a fallback. A product with an epilogue needs one in addition.
CallStep to_call(const GemmCall& product);
/// Inverse of to_call. Throws InternalError for other calls.
GemmCall gemm_of(const CallStep& call);

}  // namespace heddle::passes

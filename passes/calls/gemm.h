#pragma once

#include <optional>

#include "heddle/precision.h"

#include "passes/groups/epilogue.h"
#include "passes/program/step.h"

namespace heddle::passes {

/// out[b] = activation(alpha * a[b] x b[b] + beta * residual[b] + bias), row-major, any operand
/// transposed; batch strides in elements, 0 repeats.
struct GemmCall {
  DType dtype = DType::f32;          ///< of out, residual and bias
  DType operand_dtype = DType::f32;  ///< of a and b: dtype, or less than f32 where that is f32
  Precision precision = Precision::ieee;
  Dim rows, columns, depth, batch = 1;
  BufferRef a, b, out;
  Dim a_leading, b_leading;  ///< elements between rows as stored
  bool a_transposed = false, b_transposed = false;
  Dim a_batch_stride, b_batch_stride, out_batch_stride;
  Factor alpha, beta;
  std::optional<BufferRef> residual;  ///< laid out as out, which may be the same memory
  std::optional<BufferRef> bias;      ///< one element a column
  Activation activation = Activation::none;
};

inline constexpr std::string_view gemm_handler = "gemm";

/// The call without a fallback, which a product with an epilogue must get.
CallStep to_call(const GemmCall& product);
/// Inverse of to_call. Throws InternalError for other calls.
GemmCall gemm_of(const CallStep& call);

}  // namespace heddle::passes

#include "runtime/cuda/libraries/cublaslt_problem.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::runtime::cublaslt {

namespace {

DataType data_type(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return DataType::f64;
    case DType::f16:
      return DataType::f16;
    case DType::bf16:
      return DataType::bf16;
    default:
      return DataType::f32;
  }
}

/// The alignment of an address in bytes, up to the largest that any kernel needs.
std::uint32_t alignment_of(const void* pointer) {
  constexpr int widest = 4;
  return 1u << std::min(widest, std::countr_zero(reinterpret_cast<std::uintptr_t>(pointer)));
}

ComputeType compute_type(const Gemm& p) {
  if (p.dtype == DType::f64) return ComputeType::f64;
  const bool chooses = has_precisions(p.operand_dtype()) && p.precision != Precision::ieee;
  if (!chooses) return ComputeType::f32;
  return p.precision == Precision::bf16 ? ComputeType::f32_as_bf16 : ComputeType::f32_as_tf32;
}

std::uint32_t epilogue_bits(const GemmEpilogue& epilogue) {
  std::uint32_t bits = epilogue.bias != nullptr ? epilogues::bias : 0;
  if (epilogue.activation == passes::Activation::relu) bits |= epilogues::relu;
  if (epilogue.activation == passes::Activation::gelu) bits |= epilogues::gelu;
  return bits == 0 ? epilogues::none : bits;
}

/// A matrix layout: columns of `rows` elements, `leading` elements apart.
Owned<Layout> make_layout(int type, std::int64_t rows, std::int64_t columns, std::int64_t leading,
                          std::int64_t batch, std::int64_t stride) {
  Layout made = nullptr;
  check(api().cublasLtMatrixLayoutCreate(&made, DataType(type), static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), leading),
        "cublasLtMatrixLayoutCreate");
  Owned<Layout> layout(made);
  if (batch == 1) return layout;
  const auto set = [&](LayoutAttribute attribute, const auto& value) {
    check(api().cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  };
  if (batch > std::numeric_limits<std::int32_t>::max())
    throw DeviceError(fmt::format("cuBLASLt takes up to 2^31 - 1 matrices, not {}", batch));
  set(LayoutAttribute::batch_count, static_cast<std::int32_t>(batch));
  set(LayoutAttribute::strided_batch_offset, stride);
  return layout;
}

}  // namespace

std::string Problem::text() const {
  return fmt::format(
      "{}x{}x{} batch {} leading {} {} strides {} {} {} types {} {} compute {} "
      "transposed {} {} epilogue {} residual {} alignment {} {} {} {}",
      rows, columns, depth, batch, a_leading, b_leading, a_stride, b_stride, out_stride,
      operand_type, type, compute, a_transposed, b_transposed, epilogue, residual, a_alignment,
      b_alignment, residual_alignment, out_alignment);
}

Problem problem_of(const Gemm& p, const GemmEpilogue& epilogue, const void* a, const void* b,
                   const void* out, int ordinal) {
  Problem problem{};
  problem.rows = p.rows;
  problem.columns = p.columns;
  problem.depth = p.depth;
  problem.batch = p.batch;
  problem.a_leading = p.a_leading;
  problem.b_leading = p.b_leading;
  problem.a_stride = p.a_batch_stride;
  problem.b_stride = p.b_batch_stride;
  problem.out_stride = p.out_batch_stride;
  problem.ordinal = ordinal;
  problem.operand_type = static_cast<int>(data_type(p.operand_dtype()));
  problem.type = static_cast<int>(data_type(p.dtype));
  problem.compute = static_cast<int>(compute_type(p));
  problem.a_transposed = p.a_transposed ? 1 : 0;
  problem.b_transposed = p.b_transposed ? 1 : 0;
  problem.epilogue = epilogue_bits(epilogue);
  problem.residual = epilogue.residual == nullptr ? 0 : epilogue.residual == out ? 2 : 1;
  problem.a_alignment = alignment_of(a);
  problem.b_alignment = alignment_of(b);
  problem.out_alignment = alignment_of(out);
  problem.residual_alignment = problem.out_alignment;
  if (epilogue.residual != nullptr) problem.residual_alignment = alignment_of(epilogue.residual);
  // The bias is read with vectors as wide as those of the result.
  if (epilogue.bias != nullptr)
    problem.out_alignment = std::min(problem.out_alignment, alignment_of(epilogue.bias));
  return problem;
}

Description describe(const Problem& p, const void* bias) {
  Operation made = nullptr;
  const bool wide = ComputeType(p.compute) == ComputeType::f64;
  check(api().cublasLtMatmulDescCreate(&made, ComputeType(p.compute),
                                       wide ? DataType::f64 : DataType::f32),
        "cublasLtMatmulDescCreate");
  Description result{Owned<Operation>(made), {}, {}, {}, {}};
  const auto set = [&](OperationAttribute attribute, const auto& value) {
    check(api().cublasLtMatmulDescSetAttribute(made, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  };
  const auto transpose = [](bool is) { return is ? Transpose::transpose : Transpose::none; };
  set(OperationAttribute::transpose_a, transpose(p.b_transposed != 0));
  set(OperationAttribute::transpose_b, transpose(p.a_transposed != 0));
  set(OperationAttribute::epilogue, p.epilogue);
  if (bias != nullptr) set(OperationAttribute::bias_pointer, bias);
  const auto stored = [&](std::int64_t rows, std::int64_t columns, bool transposed,
                          std::int64_t leading, std::int64_t stride) {
    return make_layout(p.operand_type, transposed ? rows : columns, transposed ? columns : rows,
                       leading, p.batch, stride);
  };
  result.a = stored(p.rows, p.depth, p.a_transposed != 0, p.a_leading, p.a_stride);
  result.b = stored(p.depth, p.columns, p.b_transposed != 0, p.b_leading, p.b_stride);
  const auto dense = [&] {
    return make_layout(p.type, p.columns, p.rows, p.columns, p.batch, p.out_stride);
  };
  result.residual = dense();
  result.out = dense();
  return result;
}

}  // namespace heddle::runtime::cublaslt

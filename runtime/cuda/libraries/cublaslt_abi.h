#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cuda/driver.h"

/// The part of cuBLASLt's interface that is used, with the values of its header.
/// tests/runtime/cublaslt_abi.cpp compares it with that header.
namespace heddle::runtime::cublaslt {

using Handle = struct HandleOpaque*;
using Operation = struct OperationOpaque*;    ///< cublasLtMatmulDesc_t
using Layout = struct LayoutOpaque*;          ///< cublasLtMatrixLayout_t
using Preference = struct PreferenceOpaque*;  ///< cublasLtMatmulPreference_t

enum class Status : int { success = 0, invalid_value = 7, arch_mismatch = 8, not_supported = 15 };
enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 14 };
enum class ComputeType : int { f32 = 68, f64 = 70, f32_as_bf16 = 75, f32_as_tf32 = 77 };
enum class Transpose : std::int32_t { none = 0, transpose = 1 };

enum class OperationAttribute : int {
  transpose_a = 3,
  transpose_b = 4,
  epilogue = 7,
  bias_pointer = 8
};
enum class LayoutAttribute : int { batch_count = 5, strided_batch_offset = 6 };
enum class PreferenceAttribute : int {
  max_workspace_bytes = 1,
  reduction_scheme_mask = 3,
  min_alignment_a_bytes = 5,
  min_alignment_b_bytes = 6,
  min_alignment_c_bytes = 7,
  min_alignment_d_bytes = 8
};

/// Bit flags: a bias can be combined with an activation.
namespace epilogues {
inline constexpr std::uint32_t none = 1, relu = 2, bias = 4, gelu = 32;
}
/// Partial sums are added in the compute type.
inline constexpr std::uint32_t reduction_in_compute_type = 2;

struct Algorithm {
  std::uint64_t data[8];
};

struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

struct Api {
  Status (*cublasLtCreate)(Handle* handle) = nullptr;
  std::size_t (*cublasLtGetVersion)() = nullptr;
  const char* (*cublasLtGetStatusString)(Status status) = nullptr;
  Status (*cublasLtMatmulDescCreate)(Operation* operation, ComputeType compute,
                                     DataType scale) = nullptr;
  Status (*cublasLtMatmulDescDestroy)(Operation operation) = nullptr;
  Status (*cublasLtMatmulDescSetAttribute)(Operation operation, OperationAttribute attribute,
                                           const void* value, std::size_t bytes) = nullptr;
  Status (*cublasLtMatrixLayoutCreate)(Layout* layout, DataType type, std::uint64_t rows,
                                       std::uint64_t columns, std::int64_t leading) = nullptr;
  Status (*cublasLtMatrixLayoutDestroy)(Layout layout) = nullptr;
  Status (*cublasLtMatrixLayoutSetAttribute)(Layout layout, LayoutAttribute attribute,
                                             const void* value, std::size_t bytes) = nullptr;
  Status (*cublasLtMatmulPreferenceCreate)(Preference* preference) = nullptr;
  Status (*cublasLtMatmulPreferenceDestroy)(Preference preference) = nullptr;
  Status (*cublasLtMatmulPreferenceSetAttribute)(Preference preference,
                                                 PreferenceAttribute attribute, const void* value,
                                                 std::size_t bytes) = nullptr;
  Status (*cublasLtMatmulAlgoGetHeuristic)(Handle handle, Operation operation, Layout a, Layout b,
                                           Layout c, Layout d, Preference preference, int wanted,
                                           HeuristicResult* results, int* found) = nullptr;
  Status (*cublasLtMatmulAlgoCheck)(Handle handle, Operation operation, Layout a, Layout b,
                                    Layout c, Layout d, const Algorithm* algorithm,
                                    HeuristicResult* result) = nullptr;
  Status (*cublasLtMatmul)(Handle handle, Operation operation, const void* alpha, const void* a,
                           Layout a_layout, const void* b, Layout b_layout, const void* beta,
                           const void* c, Layout c_layout, void* d, Layout d_layout,
                           const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                           cuda::StreamHandle stream) = nullptr;
};

}  // namespace heddle::runtime::cublaslt

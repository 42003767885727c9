#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "runtime/cuda/libraries/cublaslt_library.h"
#include "runtime/libraries/blas.h"

namespace heddle::runtime::cublaslt {

/// Everything that the choice of an algorithm depends on. Has no padding, because it is compared
/// and hashed as bytes.
struct Problem {
  std::int64_t rows, columns, depth, batch, a_leading, b_leading;
  std::int64_t a_stride, b_stride, out_stride;
  std::int32_t ordinal, operand_type, type, compute, a_transposed, b_transposed;
  std::uint32_t epilogue, residual;
  std::uint32_t a_alignment, b_alignment, residual_alignment, out_alignment;

  friend bool operator==(const Problem& a, const Problem& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
  /// All fields except the GPU's ordinal, which may differ between processes.
  std::string text() const;
};
static_assert(std::has_unique_object_representations_v<Problem>);

struct ProblemHasher {
  std::size_t operator()(const Problem& problem) const {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(&problem), sizeof problem});
  }
};

Problem problem_of(const Gemm& product, const GemmEpilogue& epilogue, const void* a, const void* b,
                   const void* out, int ordinal);

template <class Pointer>
struct Destroy {
  using pointer = Pointer;
  void operator()(Layout layout) const { api().cublasLtMatrixLayoutDestroy(layout); }
  void operator()(Operation operation) const { api().cublasLtMatmulDescDestroy(operation); }
  void operator()(Preference preference) const {
    api().cublasLtMatmulPreferenceDestroy(preference);
  }
};
template <class Pointer>
using Owned = std::unique_ptr<std::remove_pointer_t<Pointer>, Destroy<Pointer>>;

/// A problem as descriptors of the library, which is column-major: it sees every matrix transposed,
/// and out^T = b^T a^T. The bias lies along the rows of out^T, which are our columns.
struct Description {
  Owned<Operation> operation;
  Owned<Layout> a, b, residual, out;
};

Description describe(const Problem& problem, const void* bias);

}  // namespace heddle::runtime::cublaslt

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "heddle/dtype.h"
#include "heddle/precision.h"

#include "passes/groups/epilogue.h"
#include "runtime/device/stream.h"

namespace heddle::runtime {

/// Batched matrix product: out[i] = a[i] x b[i] for i in [0, batch), with shapes (rows, depth) x
/// (depth, columns) -> (rows, columns), row-major. If `a_transposed` is true, memory holds the
/// transpose of a, or if `a_conjugated` is true, too, the transpose's conjugate. `a_leading` is the
/// distance between the rows in memory, in elements. Likewise for b. out is contiguous within a
/// matrix. A batch stride of 0 broadcasts an operand.
struct Gemm {
  DType dtype = DType::f32;          ///< of the result
  std::optional<DType> narrow = {};  ///< of the operands, if they are f16 or bf16 and dtype is f32
  Precision precision = Precision::ieee;  ///< for f32 and c64 on CUDA
  std::int64_t rows = 0, columns = 0, depth = 0, batch = 1;
  std::int64_t a_leading = 0, b_leading = 0;
  bool a_transposed = false, b_transposed = false;
  bool a_conjugated = false, b_conjugated = false;
  std::int64_t a_batch_stride = 0, b_batch_stride = 0, out_batch_stride = 0;
  DType operand_dtype() const { return narrow.value_or(dtype); }
};

/// Computed on a product before it is stored: activation(alpha * product + beta * residual + bias).
/// alpha and beta must not be 0: libraries then skip an operand, and its NaN would be lost.
struct GemmEpilogue {
  double alpha = 1, beta = 1;
  const void* residual = nullptr;  ///< same layout as out, and may be out itself
  const void* bias = nullptr;      ///< one row, added to every row of out
  passes::Activation activation = passes::Activation::none;
};

/// The matrix multiplication of a backend. Each backend has one object, which is never destroyed.
/// Thread-safe. Products must not have an extent of 0, and leading dimensions must be valid.
class Blas {
 public:
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  virtual bool multiplies(DType dtype) const = 0;
  virtual const std::string& unavailable_reason() const = 0;
  virtual std::size_t workspace_bytes(int ordinal) const = 0;
  virtual void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
                    const Stream& stream) const = 0;

  /// Whether each element is a sum whose order depends on the depth only, not on where the operands
  /// are in memory.
  virtual bool has_fixed_order(const Gemm& product) const = 0;

  /// Whether the backend's library can compute products with an epilogue at all.
  bool has_epilogues() const { return has_epilogues_; }
  virtual const std::string& epilogues_unavailable_reason() const = 0;
  /// Returns false, and enqueues nothing, if the library refuses.
  virtual bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                                  const void* b, void* out, void* workspace,
                                  const Stream& stream) const = 0;

 protected:
  constexpr explicit Blas(bool has_epilogues) : has_epilogues_(has_epilogues) {}
  ~Blas() = default;

 private:
  bool has_epilogues_;
};

/// Whether the device's library supports this dtype. f32 and f64 follow IEEE; on CUDA, f32 and c64
/// do so unless a lower precision is requested. f16 and bf16 (CUDA only) accumulate in f32.
bool blas_supported(Device device, DType dtype);
/// Whether the library is available. Loads it; never throws.
bool blas_available(Device device);
/// Why it is unavailable, with every location tried; empty if it is available.
std::string blas_unavailable_reason(Device device);

/// The workspace size that gemm needs on this device. Bitwise equal results need workspaces of
/// equal size.
std::size_t blas_workspace_bytes(Device device);

/// Whether a product has the same bits wherever its operands are in memory.
bool has_fixed_order(const Gemm& product, Device device);

/// Enqueues a product on the stream. With depth 0 the result is 0. Operands and workspace must be
/// on the stream's device. `workspace` has blas_workspace_bytes, and must stay valid until the work
/// is done. Throws DeviceError if the library is missing or fails.
void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream);

/// Why this device computes no products with an epilogue; empty if it does.
const std::string& epilogues_unavailable_reason(Device device);

/// Enqueues a product with an epilogue. The result is rounded once, when it is stored. Returns
/// false, and enqueues nothing, if no library supports it or the library refuses. Throws as gemm.
bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                        const void* b, void* out, void* workspace, const Stream& stream);

}  // namespace heddle::runtime

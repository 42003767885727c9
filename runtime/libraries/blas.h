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

/// out[i] = a[i] x b[i] for i in [0, batch): (rows, depth) x (depth, columns) -> (rows, columns),
/// row-major. A transposed operand is stored as its transpose. `leading` counts elements between
/// rows as stored; out's rows are dense. A batch stride of 0 repeats an operand.
struct Gemm {
  DType dtype = DType::f32;          ///< of the result
  std::optional<DType> narrow = {};  ///< of the operands, where it is f16 or bf16 and dtype f32
  Precision precision = Precision::ieee;  ///< of f32 and c64 on CUDA
  std::int64_t rows = 0, columns = 0, depth = 0, batch = 1;
  std::int64_t a_leading = 0, b_leading = 0;
  bool a_transposed = false, b_transposed = false;
  std::int64_t a_batch_stride = 0, b_batch_stride = 0, out_batch_stride = 0;
  DType operand_dtype() const { return narrow.value_or(dtype); }
};

/// What becomes of a product before it is stored: activation(alpha * product + beta * residual +
/// bias). Neither factor is 0, which would hide what is NaN.
struct GemmEpilogue {
  double alpha = 1, beta = 1;
  const void* residual = nullptr;  ///< laid out as out, which it may be
  const void* bias = nullptr;      ///< a row, for each of out's
  passes::Activation activation = passes::Activation::none;
};

/// The libraries that multiply the matrices of a backend. One object for each backend, which lives
/// for ever. Thread-safe. Products have no extent of 0, and leading extents that are valid.
class Blas {
 public:
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  virtual bool multiplies(DType dtype) const = 0;
  virtual const std::string& unavailable_reason() const = 0;
  virtual std::size_t workspace_bytes(int ordinal) const = 0;
  virtual void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
                    const Stream& stream) const = 0;

  /// Whether there may be products with an epilogue.
  bool has_epilogues() const { return has_epilogues_; }
  virtual const std::string& epilogues_unavailable_reason() const = 0;
  /// False, and nothing is enqueued, where the library refuses.
  virtual bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                                  const void* b, void* out, void* workspace,
                                  const Stream& stream) const = 0;

 protected:
  constexpr explicit Blas(bool has_epilogues) : has_epilogues_(has_epilogues) {}
  ~Blas() = default;

 private:
  bool has_epilogues_;
};

/// Whether the device's library multiplies this dtype at all. f32 and f64 are as IEEE says, f32 and
/// c64 on CUDA where no lower precision is asked for; f16 and bf16 (CUDA only) accumulate in f32.
bool blas_supported(Device device, DType dtype);
/// Whether the library is here. Loads it; never throws.
bool blas_available(Device device);
/// Why it is not, with every place tried; empty when it is.
std::string blas_unavailable_reason(Device device);

/// What gemm wants to be given on this device. Equal results need equal workspaces.
std::size_t blas_workspace_bytes(Device device);

/// Enqueues a product on the stream. Where depth is 0 the result is 0. Operands lie on the stream's
/// device; `workspace` has blas_workspace_bytes there and is in use until the work is done. Throws
/// DeviceError when the library is missing or fails.
void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream);

/// Why no product has an epilogue on this device; empty where they may.
const std::string& epilogues_unavailable_reason(Device device);

/// The same with an epilogue, rounded once. False, and nothing is enqueued, where there is no
/// library that does it, or it refuses. Throws as gemm.
bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                        const void* b, void* out, void* workspace, const Stream& stream);

}  // namespace heddle::runtime

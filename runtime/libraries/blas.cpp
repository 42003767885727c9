#include "runtime/libraries/blas.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/fault.h"
#include "runtime/device/backend.h"

namespace heddle::runtime {

namespace {

/// A valid leading dimension for an operand with `stored_rows` rows of `stored_columns`. With at
/// most one row, the given value is unused and may be arbitrary.
std::int64_t valid_leading(std::int64_t leading, std::int64_t stored_rows,
                           std::int64_t stored_columns) {
  return stored_rows <= 1 ? std::max(leading, stored_columns) : leading;
}

Gemm with_valid_leadings(const Gemm& product) {
  Gemm valid = product;
  valid.a_leading = product.a_transposed
                        ? valid_leading(product.a_leading, product.depth, product.rows)
                        : valid_leading(product.a_leading, product.rows, product.depth);
  valid.b_leading = product.b_transposed
                        ? valid_leading(product.b_leading, product.columns, product.depth)
                        : valid_leading(product.b_leading, product.depth, product.columns);
  return valid;
}

void inject_faults() {
  if (fault::point(fault::Kind::launch))
    throw DeviceError("a matrix product failed: injected fault");
}

}  // namespace

bool blas_supported(Device device, DType dtype) {
  return backend_of(device).blas().multiplies(dtype);
}

bool blas_available(Device device) { return blas_unavailable_reason(device).empty(); }

std::string blas_unavailable_reason(Device device) {
  return backend_of(device).blas().unavailable_reason();
}

std::size_t blas_workspace_bytes(Device device) {
  return backend_of(device).blas().workspace_bytes(device.ordinal);
}

bool has_fixed_order(const Gemm& product, Device device) {
  return backend_of(device).blas().has_fixed_order(product);
}

void gemm(const Gemm& product, const void* a, const void* b, void* out, void* workspace,
          const Stream& stream) {
  const Device device = stream.device();
  const Blas& blas = backend_of(device).blas();
  if (!blas.multiplies(product.dtype)) {
    throw InternalError(fmt::format("no library multiplies {} matrices on {}",
                                    name_of(product.dtype), to_string(device)));
  }
  if (product.rows == 0 || product.columns == 0 || product.batch == 0) return;
  inject_faults();
  if (product.depth == 0) {
    const std::size_t bytes = size_of(product.dtype);
    for (std::int64_t i = 0; i < product.batch; ++i) {
      fill(static_cast<char*>(out) + static_cast<std::size_t>(i * product.out_batch_stride) * bytes,
           0, static_cast<std::size_t>(product.rows * product.columns) * bytes, stream);
    }
    return;
  }
  blas.gemm(with_valid_leadings(product), a, b, out, workspace, stream);
}

const std::string& epilogues_unavailable_reason(Device device) {
  return backend_of(device).blas().epilogues_unavailable_reason();
}

bool gemm_with_epilogue(const Gemm& product, const GemmEpilogue& epilogue, const void* a,
                        const void* b, void* out, void* workspace, const Stream& stream) {
  const Blas& blas = backend_of(stream.device()).blas();
  if (!blas.has_epilogues() || product.depth == 0) return false;
  if (product.rows == 0 || product.columns == 0 || product.batch == 0) return true;
  inject_faults();
  return blas.gemm_with_epilogue(with_valid_leadings(product), epilogue, a, b, out, workspace,
                                 stream);
}

}  // namespace heddle::runtime

// A cuBLAS that is a program of its own: products of float32 matrices, columns first, in
// their stream's turn, on the host, whose memory is the fake driver's device's.

#include <cstddef>
#include <cstdint>

#include "tests/runtime/fake_libraries/stream_order.h"

namespace {

struct Handle {
  void* stream = nullptr;
};

constexpr int success = 0, not_supported = 15, f32 = 0;

float element(const float* matrix, std::int64_t leading, bool transposed, std::int64_t row,
              std::int64_t column) {
  return transposed ? matrix[row * leading + column] : matrix[column * leading + row];
}

}  // namespace

extern "C" {

int cublasCreate_v2(Handle** handle) { return *handle = new Handle, success; }
int cublasSetStream_v2(Handle* handle, void* stream) { return handle->stream = stream, success; }
int cublasSetWorkspace_v2(void*, void*, std::size_t) { return success; }
int cublasSetMathMode(void*, int) { return success; }
const char* cublasGetStatusString(int) { return "the fake library says so"; }

int cublasGemmStridedBatchedEx_64(Handle* handle, int a_operation, int b_operation, std::int64_t m,
                                  std::int64_t n, std::int64_t k, const void* alpha, const void* a,
                                  int a_type, std::int64_t lda, long long a_stride, const void* b,
                                  int b_type, std::int64_t ldb, long long b_stride, const void*,
                                  void* c, int c_type, std::int64_t ldc, long long c_stride,
                                  std::int64_t batch, int, int) {
  if (a_type != f32 || b_type != f32 || c_type != f32) return not_supported;
  const float factor = *static_cast<const float*>(alpha);
  enqueue(handle->stream, [=] {
    for (std::int64_t i = 0; i < batch; ++i) {
      const float* const left = static_cast<const float*>(a) + i * a_stride;
      const float* const right = static_cast<const float*>(b) + i * b_stride;
      float* const out = static_cast<float*>(c) + i * c_stride;
      for (std::int64_t column = 0; column < n; ++column) {
        for (std::int64_t row = 0; row < m; ++row) {
          float sum = 0;
          for (std::int64_t l = 0; l < k; ++l) {
            sum += element(left, lda, a_operation != 0, row, l) *
                   element(right, ldb, b_operation != 0, l, column);
          }
          out[column * ldc + row] = factor * sum;
        }
      }
    }
  });
  return success;
}

}  // extern "C"

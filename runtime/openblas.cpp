#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/blas_libraries.h"
#include "runtime/dynamic_library.h"
#include "runtime/thread_pool.h"

namespace heddle::runtime::openblas {

namespace {

enum Order : int { row_major = 101 };
enum Transpose : int { no_transpose = 111, transpose = 112 };

template <class T>
using GemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                              T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                              int ldc);

struct Loaded {
  GemmFunction<float> sgemm = nullptr;
  GemmFunction<double> dgemm = nullptr;
  std::string reason;
};

std::string load(Loaded& out) {
  LibraryReport report;
  const auto library = DynamicLibrary::open({.title = "OpenBLAS",
                                             .names = {"libopenblas.so.0", "libopenblas.so"},
                                             .packages = {},
                                             .variable = "HEDDLE_OPENBLAS"},
                                            &report);
  if (!library) {
    return report.text() + "Install OpenBLAS (libopenblas0), or set HEDDLE_OPENBLAS to its file.";
  }
  out.sgemm = reinterpret_cast<GemmFunction<float>>(library->symbol("cblas_sgemm"));
  out.dgemm = reinterpret_cast<GemmFunction<double>>(library->symbol("cblas_dgemm"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(library->symbol("openblas_set_num_threads"));
  if (out.sgemm == nullptr || out.dgemm == nullptr || set_threads == nullptr) {
    return fmt::format("{} has no C interface", library->path());
  }
  set_threads(thread_count());
  return {};
}

const Loaded& loaded() {
  static const auto* const instance = [] {
    auto* made = new Loaded;
    made->reason = load(*made);
    return made;
  }();
  return *instance;
}

int narrow(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw DeviceError(fmt::format(
        "OpenBLAS takes extents and row distances up to 2^31 - 1 elements, not {}", value));
  }
  return static_cast<int>(value);
}

template <class T>
void multiply(GemmFunction<T> function, const Gemm& p, const void* a, const void* b, void* out) {
  for (std::int64_t i = 0; i < p.batch; ++i) {
    function(row_major, p.a_transposed ? transpose : no_transpose,
             p.b_transposed ? transpose : no_transpose, narrow(p.rows), narrow(p.columns),
             narrow(p.depth), T{1}, static_cast<const T*>(a) + i * p.a_batch_stride,
             narrow(p.a_leading), static_cast<const T*>(b) + i * p.b_batch_stride,
             narrow(p.b_leading), T{0}, static_cast<T*>(out) + i * p.out_batch_stride,
             narrow(p.columns));
  }
}

}  // namespace

const std::string& unavailable_reason() { return loaded().reason; }

void gemm(const Gemm& product, const void* a, const void* b, void* out) {
  const Loaded& state = loaded();
  if (!state.reason.empty()) {
    throw DeviceError(fmt::format("matrices cannot be multiplied on the CPU: {}", state.reason));
  }
  if (product.dtype == DType::f32) {
    multiply(state.sgemm, product, a, b, out);
  } else {
    multiply(state.dgemm, product, a, b, out);
  }
}

}  // namespace heddle::runtime::openblas

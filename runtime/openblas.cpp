#include <complex>
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

/// Of complex numbers, which are passed by address.
using ComplexGemmFunction = void (*)(int order, int transpose_a, int transpose_b, int m, int n,
                                     int k, const void* alpha, const void* a, int lda,
                                     const void* b, int ldb, const void* beta, void* c, int ldc);

struct Loaded {
  GemmFunction<float> sgemm = nullptr;
  GemmFunction<double> dgemm = nullptr;
  ComplexGemmFunction cgemm = nullptr;
  ComplexGemmFunction zgemm = nullptr;
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
  out.cgemm = reinterpret_cast<ComplexGemmFunction>(library->symbol("cblas_cgemm"));
  out.zgemm = reinterpret_cast<ComplexGemmFunction>(library->symbol("cblas_zgemm"));
  const auto set_threads =
      reinterpret_cast<void (*)(int)>(library->symbol("openblas_set_num_threads"));
  if (out.sgemm == nullptr || out.dgemm == nullptr || out.cgemm == nullptr ||
      out.zgemm == nullptr || set_threads == nullptr) {
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

/// Calls `function` for each product of the batch; T are the elements, Factor what alpha and beta
/// are.
template <class T, class Factor, class Function>
void multiply(Function function, Factor one, Factor zero, const Gemm& p, const void* a,
              const void* b, void* out) {
  for (std::int64_t i = 0; i < p.batch; ++i) {
    function(row_major, p.a_transposed ? transpose : no_transpose,
             p.b_transposed ? transpose : no_transpose, narrow(p.rows), narrow(p.columns),
             narrow(p.depth), one, static_cast<const T*>(a) + i * p.a_batch_stride,
             narrow(p.a_leading), static_cast<const T*>(b) + i * p.b_batch_stride,
             narrow(p.b_leading), zero, static_cast<T*>(out) + i * p.out_batch_stride,
             narrow(p.columns));
  }
}

template <class Part>
void multiply_complex(ComplexGemmFunction function, const Gemm& p, const void* a, const void* b,
                      void* out) {
  using Element = std::complex<Part>;
  const Element one(1), zero(0);
  multiply<Element, const void*>(function, &one, &zero, p, a, b, out);
}

}  // namespace

const std::string& unavailable_reason() { return loaded().reason; }

void gemm(const Gemm& product, const void* a, const void* b, void* out) {
  const Loaded& state = loaded();
  if (!state.reason.empty()) {
    throw DeviceError(fmt::format("matrices cannot be multiplied on the CPU: {}", state.reason));
  }
  switch (product.dtype) {
    case DType::f32:
      return multiply<float>(state.sgemm, 1.0f, 0.0f, product, a, b, out);
    case DType::f64:
      return multiply<double>(state.dgemm, 1.0, 0.0, product, a, b, out);
    case DType::c64:
      return multiply_complex<float>(state.cgemm, product, a, b, out);
    default:
      return multiply_complex<double>(state.zgemm, product, a, b, out);
  }
}

}  // namespace heddle::runtime::openblas

#include <algorithm>
#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/fork_gate.h"
#include "runtime/blas_libraries.h"
#include "runtime/bound_library.h"
#include "runtime/host_cpu.h"
#include "runtime/log.h"
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

template <class T>
using GemvFunction = void (*)(int order, int transpose_a, int m, int n, T alpha, const T* a,
                              int lda, const T* x, int incx, T beta, T* y, int incy);

using ComplexGemvFunction = void (*)(int order, int transpose_a, int m, int n, const void* alpha,
                                     const void* a, int lda, const void* x, int incx,
                                     const void* beta, void* y, int incy);

/// The two products of a dtype.
template <class GemmOf, class GemvOf>
struct Functions {
  GemmOf gemm = nullptr;
  GemvOf gemv = nullptr;
};

struct Loaded {
  Functions<GemmFunction<float>, GemvFunction<float>> f32;
  Functions<GemmFunction<double>, GemvFunction<double>> f64;
  Functions<ComplexGemmFunction, ComplexGemvFunction> c64, c128;
  std::string reason;
};

constexpr const char* core_variable = "OPENBLAS_CORETYPE";
constexpr std::string_view cores_without_avx[] = {"Prescott", "Core2", "Nehalem", "Barcelona"};

/// The core whose kernels for f32 and f64 every later one of Intel's runs well; empty where
/// OpenBLAS is to find out by itself.
std::string_view core_of(const ir::Target& host) {
#if defined(__x86_64__)
  if (__builtin_cpu_is("intel") == 0) return {};
  if (host.architecture == "x86-64-v4") return "SkylakeX";
  if (host.architecture == "x86-64-v3") return "Haswell";
#endif
  return {};
}

/// OpenBLAS takes a processor that is younger than itself for one without AVX, and multiplies at a
/// fifth of its speed. While this lives it is told otherwise, unless the user says what it is. It
/// lives while the library is opened: other threads may read the environment.
class CoreHint {
 public:
  explicit CoreHint(const ir::Target& host) {
    const std::string core(core_of(host));
    if (core.empty() || std::getenv(core_variable) != nullptr) return;
    set_ = ::setenv(core_variable, core.c_str(), 0) == 0;
  }
  ~CoreHint() {
    if (set_) ::unsetenv(core_variable);
  }
  CoreHint(const CoreHint&) = delete;
  CoreHint& operator=(const CoreHint&) = delete;

 private:
  bool set_ = false;
};

void warn_of_old_core(const ir::Target& host, const std::string& config) {
  const bool has_avx2 = host.architecture == "x86-64-v3" || host.architecture == "x86-64-v4";
  const bool takes_it_for_old = std::ranges::any_of(
      cores_without_avx,
      [&](const std::string_view core) { return config.find(core) != std::string::npos; });
  if (!has_avx2 || !takes_it_for_old) return;
  log().warn(
      "{} takes this processor for one without AVX, and products will be slow. Set {} to Haswell, "
      "Zen or SkylakeX, or HEDDLE_OPENBLAS to a newer OpenBLAS.",
      config, core_variable);
}

/// Calls that are inside OpenBLAS, and whether the process ends. When the system ends OpenBLAS, it
/// unmaps the memory that it multiplies in, while threads may go on: they are to be outside by
/// then.
constinit std::atomic<int> calls_inside{0};
constinit thread_local int own_calls_inside = 0;  ///< of this thread
constinit std::atomic<bool> ending{false};

/// While one has `entered`, OpenBLAS is not ended. Where the process ends, none enters.
class Inside {
 public:
  Inside() {
    calls_inside.fetch_add(1);
    entered = !ending.load();
    if (entered)
      ++own_calls_inside;
    else
      calls_inside.fetch_sub(1);
  }
  ~Inside() {
    if (!entered) return;
    --own_calls_inside;
    calls_inside.fetch_sub(1);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  bool entered = false;
};

/// Destructors of statics run before the system ends the libraries that were opened. A signal
/// handler that calls exit() may have interrupted a call of its own thread, which will not end.
struct Ending {
  ~Ending() {
    ending = true;
    while (calls_inside != own_calls_inside)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
};
const Ending at_exit;

std::string load(Loaded& out) {
  const ir::Target host = detect_host_target();
  std::optional<CoreHint> hint(std::in_place, host);
  void (*set_threads)(int) = nullptr;
  std::string reason = bind_library(
      {.title = "OpenBLAS",
       .names = {"libopenblas.so.0", "libopenblas.so"},
       .packages = {},
       .variable = "HEDDLE_OPENBLAS"},
      "Install OpenBLAS (apt install libopenblas0-pthread), or set HEDDLE_OPENBLAS to its file.",
      [&](const DynamicLibrary& library, std::string& missing) {
        hint.reset();
        library.bind(out.f32.gemm, "cblas_sgemm", missing);
        library.bind(out.f32.gemv, "cblas_sgemv", missing);
        library.bind(out.f64.gemm, "cblas_dgemm", missing);
        library.bind(out.f64.gemv, "cblas_dgemv", missing);
        library.bind(out.c64.gemm, "cblas_cgemm", missing);
        library.bind(out.c64.gemv, "cblas_cgemv", missing);
        library.bind(out.c128.gemm, "cblas_zgemm", missing);
        library.bind(out.c128.gemv, "cblas_zgemv", missing);
        library.bind(set_threads, "openblas_set_num_threads", missing);
        const auto config =
            reinterpret_cast<const char* (*)()>(library.symbol("openblas_get_config"));
        std::string version = config != nullptr ? config() : "";
        warn_of_old_core(host, version);
        return version;
      });
  // It ends its threads before a fork, and must not while another thread multiplies.
  ir::fork_after_sections();
  if (reason.empty()) {
    set_threads(thread_count());
    ir::in_forked_child([] { calls_inside = own_calls_inside; });
  }
  return reason;
}

/// Called inside.
const Loaded& loaded() {
  static constinit ir::Lasting<Loaded> instance;
  return instance.get([] {
    Loaded made;
    made.reason = load(made);
    return made;
  });
}

int narrow(std::int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    throw DeviceError(fmt::format(
        "OpenBLAS takes extents and row distances up to 2^31 - 1 elements, not {}", value));
  }
  return static_cast<int>(value);
}

/// A product with a vector: out = matrix x vector, or of the matrix's transpose.
struct Gemv {
  bool matrix_is_a = false, transposed = false;
  int rows = 0, columns = 0;  ///< of the matrix as stored
  int leading = 0, vector_step = 1;
};

/// The same product as one with a vector, where an operand has one row or column.
std::optional<Gemv> as_gemv(const Gemm& p) {
  const int rows = narrow(p.rows), columns = narrow(p.columns), depth = narrow(p.depth);
  const int a_leading = narrow(p.a_leading), b_leading = narrow(p.b_leading);
  if (columns == 1) {
    const int step = p.b_transposed ? 1 : b_leading;
    if (p.a_transposed) return Gemv{true, true, depth, rows, a_leading, step};
    return Gemv{true, false, rows, depth, a_leading, step};
  }
  if (rows == 1) {
    const int step = p.a_transposed ? a_leading : 1;
    if (p.b_transposed) return Gemv{false, false, columns, depth, b_leading, step};
    return Gemv{false, true, depth, columns, b_leading, step};
  }
  return std::nullopt;
}

int transpose_if(bool transposed) { return transposed ? transpose : no_transpose; }

/// Calls a function for each product of the batch; T are the elements, Factor what alpha and beta
/// are. A gemm takes two to three times as long as a gemv for a vector.
template <class T, class Factor, class GemmOf, class GemvOf>
void multiply(const Functions<GemmOf, GemvOf>& functions, Factor one, Factor zero, const Gemm& p,
              const void* a, const void* b, void* out) {
  const std::optional<Gemv> vector = as_gemv(p);
  for (std::int64_t i = 0; i < p.batch; ++i) {
    const T* const left = static_cast<const T*>(a) + i * p.a_batch_stride;
    const T* const right = static_cast<const T*>(b) + i * p.b_batch_stride;
    T* const result = static_cast<T*>(out) + i * p.out_batch_stride;
    if (vector) {
      // Some releases multiply what is there by the factor of 0, though it may be NaN.
      std::fill_n(result, p.rows * p.columns, T(0));
      functions.gemv(row_major, transpose_if(vector->transposed), vector->rows, vector->columns,
                     one, vector->matrix_is_a ? left : right, vector->leading,
                     vector->matrix_is_a ? right : left, vector->vector_step, zero, result, 1);
    } else {
      functions.gemm(row_major, transpose_if(p.a_transposed), transpose_if(p.b_transposed),
                     narrow(p.rows), narrow(p.columns), narrow(p.depth), one, left,
                     narrow(p.a_leading), right, narrow(p.b_leading), zero, result,
                     narrow(p.columns));
    }
  }
}

template <class Part>
void multiply_complex(const Functions<ComplexGemmFunction, ComplexGemvFunction>& functions,
                      const Gemm& p, const void* a, const void* b, void* out) {
  using Element = std::complex<Part>;
  const Element one(1), zero(0);
  multiply<Element, const void*>(functions, &one, &zero, p, a, b, out);
}

/// For destructors of statics, and for threads that work while the process ends.
template <class T>
void multiply_without_library(const Gemm& p, const void* a, const void* b, void* out) {
  const std::int64_t a_row = p.a_transposed ? 1 : p.a_leading;
  const std::int64_t a_step = p.a_transposed ? p.a_leading : 1;
  const std::int64_t b_column = p.b_transposed ? p.b_leading : 1;
  const std::int64_t b_step = p.b_transposed ? 1 : p.b_leading;
  T* result = static_cast<T*>(out);
  for (std::int64_t i = 0; i < p.batch; ++i, result += p.out_batch_stride) {
    const T* const left = static_cast<const T*>(a) + i * p.a_batch_stride;
    const T* const right = static_cast<const T*>(b) + i * p.b_batch_stride;
    for (std::int64_t row = 0; row < p.rows; ++row) {
      for (std::int64_t column = 0; column < p.columns; ++column) {
        T sum(0);
        for (std::int64_t k = 0; k < p.depth; ++k)
          sum += left[row * a_row + k * a_step] * right[column * b_column + k * b_step];
        result[row * p.columns + column] = sum;
      }
    }
  }
}

void multiply_without_library(const Gemm& product, const void* a, const void* b, void* out) {
  switch (product.dtype) {
    case DType::f32:
      return multiply_without_library<float>(product, a, b, out);
    case DType::f64:
      return multiply_without_library<double>(product, a, b, out);
    case DType::c64:
      return multiply_without_library<std::complex<float>>(product, a, b, out);
    default:
      return multiply_without_library<std::complex<double>>(product, a, b, out);
  }
}

}  // namespace

const std::string& unavailable_reason() {
  static const std::string& none = *new std::string;
  const Inside inside;
  return inside.entered ? loaded().reason : none;
}

void gemm(const Gemm& product, const void* a, const void* b, void* out) {
  const Inside inside;
  if (!inside.entered) return multiply_without_library(product, a, b, out);
  const Loaded& state = loaded();
  if (!state.reason.empty()) {
    throw DeviceError(fmt::format("matrices cannot be multiplied on the CPU: {}", state.reason));
  }
  switch (product.dtype) {
    case DType::f32:
      return multiply<float>(state.f32, 1.0f, 0.0f, product, a, b, out);
    case DType::f64:
      return multiply<double>(state.f64, 1.0, 0.0, product, a, b, out);
    case DType::c64:
      return multiply_complex<float>(state.c64, product, a, b, out);
    default:
      return multiply_complex<double>(state.c128, product, a, b, out);
  }
}

}  // namespace heddle::runtime::openblas

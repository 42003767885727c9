// The fake cuSOLVER's singular values and eigenvalues, by the interpreter's algorithms, columns
// first, at once and on the host. It checks what it is given as the real one documents it. With
// HEDDLE_FAKE_OLD_CUSOLVER it lacks what cuSOLVER 11.7.1 brought.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>

#include "ir/calls/spectral.h"
#include "tests/runtime/fake_libraries/stream_order.h"

namespace {

using heddle::ir::interpreter::Complex;
using heddle::ir::interpreter::ComplexMatrix;

constexpr int success = 0, invalid_value = 3, internal_error = 7, invalid_workspace = 31;
constexpr int lower = 0;
constexpr int f32 = 0, f64 = 1, c64 = 4, c128 = 5;
constexpr int with_vectors = 1;

std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

int asked(const std::string& call) {
  std::ofstream(variable("HEDDLE_FAKE_CUSOLVER_LOG"), std::ios::app) << call << "\n";
  return variable("HEDDLE_FAKE_CUSOLVER_FAILS") == call ? internal_error : success;
}

bool is_on_device(const void* pointer) {
  static void* const driver = dlopen(std::getenv("HEDDLE_CUDA_DRIVER"), RTLD_NOW | RTLD_NOLOAD);
  static const auto attributes_of =
      reinterpret_cast<int (*)(unsigned, const int*, void**, std::uint64_t)>(
          dlsym(driver, "cuPointerGetAttributes"));
  const int memory_type = 2;
  unsigned type = 0;
  void* values[] = {&type};
  attributes_of(1, &memory_type, values, reinterpret_cast<std::uint64_t>(pointer));
  return type == 2;
}

/// The stream of a handle, which is the first member of it.
void finish(void* handle) { finish_before(*static_cast<void**>(handle)); }

bool is_single(int type) { return type == f32 || type == c64; }
bool is_complex(int type) { return type == c64 || type == c128; }
int real_type(int type) { return is_single(type) ? f32 : f64; }
[[maybe_unused]] int complex_type(int type) { return is_single(type) ? c64 : c128; }
std::size_t size_of(int type) { return (is_single(type) ? 4U : 8U) * (is_complex(type) ? 2U : 1U); }

std::size_t on_device(std::int64_t n) { return 128 + 32 * static_cast<std::size_t>(n); }
std::size_t on_host(std::int64_t n) { return 24 + static_cast<std::size_t>(n); }

double part(const void* memory, int type, std::size_t k) {
  return is_single(type) ? static_cast<double>(static_cast<const float*>(memory)[k])
                         : static_cast<const double*>(memory)[k];
}
void set_part(void* memory, int type, std::size_t k, double to) {
  if (is_single(type))
    static_cast<float*>(memory)[k] = static_cast<float>(to);
  else
    static_cast<double*>(memory)[k] = to;
}

Complex get(const void* memory, int type, std::size_t k) {
  if (!is_complex(type)) return part(memory, type, k);
  return {part(memory, type, 2 * k), part(memory, type, 2 * k + 1)};
}
void put(void* memory, int type, std::size_t k, Complex to) {
  if (!is_complex(type)) return set_part(memory, type, k, to.real());
  set_part(memory, type, 2 * k, to.real());
  set_part(memory, type, 2 * k + 1, to.imag());
}

void* item(void* memory, int type, std::int64_t elements) {
  return static_cast<std::byte*>(memory) + static_cast<std::size_t>(elements) * size_of(type);
}

ComplexMatrix read(const void* memory, int type, std::int64_t m, std::int64_t n,
                   std::int64_t leading) {
  ComplexMatrix made(static_cast<std::size_t>(m), static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < made.rows(); ++i) {
    for (std::size_t j = 0; j < made.columns(); ++j)
      made(i, j) = get(memory, type, j * static_cast<std::size_t>(leading) + i);
  }
  return made;
}
void write(const ComplexMatrix& matrix, void* memory, int type, std::int64_t leading) {
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    for (std::size_t j = 0; j < matrix.columns(); ++j)
      put(memory, type, j * static_cast<std::size_t>(leading) + i, matrix(i, j));
  }
}

/// The library's use of workspaces: their contents are lost.
int use(void* device, std::size_t device_bytes, void* host, std::size_t host_bytes,
        std::int64_t n) {
  if (device_bytes < on_device(n) || host_bytes < on_host(n)) return invalid_workspace;
  if (!is_on_device(device) || host == nullptr) return invalid_workspace;
  std::memset(device, 0x5a, device_bytes);
  std::memset(host, 0x5a, host_bytes);
  return success;
}

void spoil(void* matrix, int type, std::int64_t elements) {
  std::memset(matrix, 0x5a, static_cast<std::size_t>(elements) * size_of(type));
}

int jacobi_size(const char* name, int m, int n, int lda, int ldu, int ldv, int mode, int* size,
                int batch) {
  if (const int status = asked(std::string(name) + "_bufferSize"); status != success) return status;
  const bool leads = lda >= m && ldu >= m && ldv >= n;
  if (mode < 0 || mode > with_vectors) return invalid_value;
  if (m < 1 || n < 1 || m > 32 || n > 32 || !leads || batch < 1) return invalid_value;
  return *size = 10 * batch, success;
}

int jacobi(const char* name, int type, void* handle, int mode, int m, int n, void* a, int lda,
           void* s, void* u, int ldu, void* v, int ldv, void* work, int size, int* infos,
           const void* options, int batch) {
  if (const int status = asked(name); status != success) return status;
  if (options == nullptr || !is_on_device(a) || !is_on_device(s) || !is_on_device(infos))
    return invalid_value;
  // The real one writes to u and v without vectors, too.
  if (!is_on_device(u) || !is_on_device(v)) return invalid_value;
  if (size < 10 * batch || !is_on_device(work)) return invalid_workspace;
  finish(handle);
  const std::int64_t k = std::min(m, n);
  for (int i = 0; i < batch; ++i) {
    void* const matrix = item(a, type, std::int64_t{i} * lda * n);
    const auto made =
        heddle::ir::interpreter::singular_decomposition(read(matrix, type, m, n, lda), true);
    for (std::size_t j = 0; j < made.values.size(); ++j)
      put(item(s, real_type(type), i * k), real_type(type), j, made.values[j]);
    if (mode == with_vectors) {
      write(made.u, item(u, type, std::int64_t{i} * ldu * m), type, ldu);
      write(conjugate_transpose(made.vh), item(v, type, std::int64_t{i} * ldv * n), type, ldv);
    } else {
      spoil(item(u, type, std::int64_t{i} * ldu * m), type, std::int64_t{ldu} * m);
      spoil(item(v, type, std::int64_t{i} * ldv * n), type, std::int64_t{ldv} * n);
    }
    spoil(matrix, type, std::int64_t{lda} * n);
    infos[i] = 0;
  }
  return success;
}

/// Of the Hermitian matrix of which one triangle is given.
void solve_hermitian(int mode, int triangle, std::int64_t n, int type, void* a, std::int64_t lda,
                     void* w) {
  ComplexMatrix matrix = read(a, type, n, n, lda);
  for (std::size_t i = 0; i < matrix.rows(); ++i) {
    matrix(i, i) = matrix(i, i).real();
    for (std::size_t j = 0; j < i; ++j) {
      if (triangle == lower)
        matrix(j, i) = std::conj(matrix(i, j));
      else
        matrix(i, j) = std::conj(matrix(j, i));
    }
  }
  const auto made = heddle::ir::interpreter::hermitian_eigen(matrix);
  for (std::size_t j = 0; j < made.values.size(); ++j) put(w, real_type(type), j, made.values[j]);
  spoil(a, type, lda * n);
  if (mode == with_vectors) write(made.vectors, a, type, lda);
}

}  // namespace

extern "C" {

int cusolverDnXgesvd_bufferSize(void*, void* parameters, signed char job_u, signed char job_vt,
                                std::int64_t m, std::int64_t n, int type, const void* a,
                                std::int64_t lda, int type_s, const void*, int type_u, const void*,
                                std::int64_t ldu, int type_vt, const void*, std::int64_t ldvt,
                                int compute, std::size_t* device_bytes, std::size_t* host_bytes) {
  if (const int status = asked("Xgesvd_bufferSize"); status != success) return status;
  const bool typed =
      type_s == real_type(type) && type_u == type && type_vt == type && compute == type;
  const std::int64_t rows_of_vt = job_vt == 'A' ? n : std::min(m, n);
  const bool leads =
      lda >= m && (job_u == 'N' || ldu >= m) && (job_vt == 'N' || ldvt >= rows_of_vt);
  if (parameters == nullptr || m < n || n < 1 || !typed || !leads || !is_on_device(a))
    return invalid_value;
  *device_bytes = on_device(m);
  *host_bytes = on_host(m);
  return success;
}

int cusolverDnXgesvd(void* handle, void*, signed char job_u, signed char job_vt, std::int64_t m,
                     std::int64_t n, int type, void* a, std::int64_t lda, int, void* s, int,
                     void* u, std::int64_t ldu, int, void* vt, std::int64_t ldvt, int, void* device,
                     std::size_t device_bytes, void* host, std::size_t host_bytes, int* info) {
  if (const int status = asked("Xgesvd"); status != success) return status;
  if (m < n || !is_on_device(a) || !is_on_device(s) || !is_on_device(info)) return invalid_value;
  if (const int status = use(device, device_bytes, host, host_bytes, m); status != success)
    return status;
  finish(handle);
  const auto made =
      heddle::ir::interpreter::singular_decomposition(read(a, type, m, n, lda), job_u == 'A');
  for (std::size_t j = 0; j < made.values.size(); ++j) put(s, real_type(type), j, made.values[j]);
  if (job_u != 'N') write(made.u, u, type, ldu);
  if (job_vt != 'N') write(made.vh, vt, type, ldvt);
  spoil(a, type, lda * n);
  return *info = 0, success;
}

int cusolverDnCreateGesvdjInfo(void** options) {
  if (const int status = asked("CreateGesvdjInfo"); status != success) return status;
  return *options = new int(0), success;
}
int cusolverDnXgesvdjSetTolerance(void* options, double tolerance) {
  if (const int status = asked("SetTolerance"); status != success) return status;
  return options == nullptr || !(tolerance > 0 && tolerance < 1e-6) ? invalid_value : success;
}
int cusolverDnDestroyGesvdjInfo(void* options) {
  return delete static_cast<int*>(options), asked("DestroyGesvdjInfo");
}

#define HEDDLE_FAKE_JACOBI(letter, type)                                                         \
  int cusolverDn##letter##gesvdjBatched_bufferSize(                                              \
      void*, int mode, int m, int n, const void*, int lda, const void*, const void*, int ldu,    \
      const void*, int ldv, int* size, void*, int batch) {                                       \
    return jacobi_size(#letter "gesvdjBatched", m, n, lda, ldu, ldv, mode, size, batch);         \
  }                                                                                              \
  int cusolverDn##letter##gesvdjBatched(void* handle, int mode, int m, int n, void* a, int lda,  \
                                        void* s, void* u, int ldu, void* v, int ldv, void* work, \
                                        int size, int* infos, void* options, int batch) {        \
    return jacobi(#letter "gesvdjBatched", type, handle, mode, m, n, a, lda, s, u, ldu, v, ldv,  \
                  work, size, infos, options, batch);                                            \
  }
HEDDLE_FAKE_JACOBI(S, f32)
HEDDLE_FAKE_JACOBI(D, f64)
HEDDLE_FAKE_JACOBI(C, c64)
HEDDLE_FAKE_JACOBI(Z, c128)
#undef HEDDLE_FAKE_JACOBI

int cusolverDnXsyevd_bufferSize(void*, void* parameters, int, int, std::int64_t n, int type,
                                const void* a, std::int64_t lda, int type_w, const void*,
                                int compute, std::size_t* device_bytes, std::size_t* host_bytes) {
  if (const int status = asked("Xsyevd_bufferSize"); status != success) return status;
  if (parameters == nullptr || n < 1 || lda < n || type_w != real_type(type) || compute != type ||
      !is_on_device(a))
    return invalid_value;
  *device_bytes = on_device(n);
  *host_bytes = on_host(n);
  return success;
}

int cusolverDnXsyevd(void* handle, void*, int mode, int triangle, std::int64_t n, int type, void* a,
                     std::int64_t lda, int, void* w, int, void* device, std::size_t device_bytes,
                     void* host, std::size_t host_bytes, int* info) {
  if (const int status = asked("Xsyevd"); status != success) return status;
  if (!is_on_device(a) || !is_on_device(w) || !is_on_device(info)) return invalid_value;
  if (const int status = use(device, device_bytes, host, host_bytes, n); status != success)
    return status;
  finish(handle);
  solve_hermitian(mode, triangle, n, type, a, lda, w);
  return *info = 0, success;
}

#ifndef HEDDLE_FAKE_OLD_CUSOLVER

int cusolverDnXsyevBatched_bufferSize(void*, void* parameters, int, int, std::int64_t n, int type,
                                      const void* a, std::int64_t lda, int type_w, const void*,
                                      int compute, std::size_t* device_bytes,
                                      std::size_t* host_bytes, std::int64_t batch) {
  if (const int status = asked("XsyevBatched_bufferSize"); status != success) return status;
  if (parameters == nullptr || n < 1 || lda < n || type_w != real_type(type) || compute != type ||
      batch < 1 || !is_on_device(a))
    return invalid_value;
  *device_bytes = on_device(n * batch);
  *host_bytes = on_host(n * batch);
  return success;
}

int cusolverDnXsyevBatched(void* handle, void*, int mode, int triangle, std::int64_t n, int type,
                           void* a, std::int64_t lda, int, void* w, int, void* device,
                           std::size_t device_bytes, void* host, std::size_t host_bytes, int* infos,
                           std::int64_t batch) {
  if (const int status = asked("XsyevBatched"); status != success) return status;
  if (!is_on_device(a) || !is_on_device(w) || !is_on_device(infos)) return invalid_value;
  if (const int status = use(device, device_bytes, host, host_bytes, n * batch); status != success)
    return status;
  finish(handle);
  for (std::int64_t i = 0; i < batch; ++i) {
    solve_hermitian(mode, triangle, n, type, item(a, type, i * lda * n), lda,
                    item(w, real_type(type), i * n));
    infos[i] = 0;
  }
  return success;
}

int cusolverDnXgeev_bufferSize(void*, void* parameters, int left, int right, std::int64_t n,
                               int type, const void* a, std::int64_t lda, int type_w, const void*,
                               int type_vl, const void*, std::int64_t, int type_vr, const void*,
                               std::int64_t ldvr, int compute, std::size_t* device_bytes,
                               std::size_t* host_bytes) {
  if (const int status = asked("Xgeev_bufferSize"); status != success) return status;
  const bool typed =
      type_w == complex_type(type) && type_vl == type && type_vr == type && compute == type;
  if (parameters == nullptr || left == with_vectors || !typed || n < 1 || lda < n ||
      (right == with_vectors && ldvr < n) || !is_on_device(a))
    return invalid_value;
  *device_bytes = on_device(n);
  *host_bytes = on_host(n);
  return success;
}

int cusolverDnXgeev(void* handle, void*, int, int right, std::int64_t n, int type, void* a,
                    std::int64_t lda, int, void* w, int, void*, std::int64_t, int, void* vr,
                    std::int64_t ldvr, int, void* device, std::size_t device_bytes, void* host,
                    std::size_t host_bytes, int* info) {
  if (const int status = asked("Xgeev"); status != success) return status;
  if (!is_on_device(a) || !is_on_device(w) || !is_on_device(info)) return invalid_value;
  if (const int status = use(device, device_bytes, host, host_bytes, n); status != success)
    return status;
  finish(handle);
  const bool real = !is_complex(type);
  auto made = heddle::ir::interpreter::general_eigen(read(a, type, n, n, lda), real);
  for (std::size_t j = 0; j < made.values.size(); ++j)
    put(w, complex_type(type), j, made.values[j]);
  for (std::size_t j = 0; real && j + 1 < made.values.size(); ++j) {
    if (made.values[j].imag() == 0) continue;
    for (std::size_t i = 0; i < made.vectors.rows(); ++i)
      made.vectors(i, j + 1) = made.vectors(i, j).imag();
    ++j;
  }
  spoil(a, type, lda * n);
  if (right == with_vectors) write(made.vectors, vr, type, ldvr);
  return *info = made.failed, success;
}

#endif

}  // extern "C"

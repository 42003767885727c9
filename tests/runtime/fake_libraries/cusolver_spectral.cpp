// The fake cuSOLVER's singular values and eigenvalues, by the interpreter's algorithms, columns
// first, at once and on the host. It checks what it is given as the real one documents it. With
// HEDDLE_FAKE_OLD_CUSOLVER it lacks what cuSOLVER 11.7.1 brought.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>

#include "tests/runtime/fake_libraries/fake_spectra.h"

using namespace fake_cusolver;

namespace {

std::size_t on_device(std::int64_t n) { return 128 + 32 * static_cast<std::size_t>(n); }
std::size_t on_host(std::int64_t n) { return 24 + static_cast<std::size_t>(n); }

/// The library's use of workspaces: their contents are lost.
int use(void* device, std::size_t device_bytes, void* host, std::size_t host_bytes,
        std::int64_t n) {
  if (device_bytes < on_device(n) || host_bytes < on_host(n)) return invalid_workspace;
  if (!is_on_device(device) || host == nullptr) return invalid_workspace;
  std::memset(device, 0x5a, device_bytes);
  std::memset(host, 0x5a, host_bytes);
  return success;
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

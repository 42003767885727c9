// LU factors and QR factors of the fake cuSOLVER.

#include <cstring>

#include "tests/runtime/fake_libraries/dense.h"
#include "tests/runtime/fake_libraries/fake_cusolver.h"
#include "tests/runtime/fake_libraries/stream_order.h"

using namespace fake_cusolver;

namespace {

/// Calls function(T()) for a data type.
template <class Function>
int with_type(int type, const Function& function) {
  switch (type) {
    case f32:
      return function(float()), success;
    case f64:
      return function(double()), success;
    case c64:
      return function(std::complex<float>()), success;
    case c128:
      return function(std::complex<double>()), success;
    default:
      return invalid_value;
  }
}

int check_sizes(void* parameters, std::int64_t m, std::int64_t n, std::int64_t leading) {
  return is_known(parameters) && m >= 1 && n >= 1 && leading >= m ? success : invalid_value;
}

/// Overwrites the workspaces, which must be large enough.
int use_workspaces(std::int64_t n, void* on_device, std::size_t device_bytes, void* on_host,
                   std::size_t host_bytes) {
  if (device_bytes < wanted_on_device(n) || host_bytes < wanted_on_host(n) ||
      !is_on_device(on_device) || on_host == nullptr)
    return invalid_workspace;
  std::memset(on_device, 0x5a, device_bytes);
  std::memset(on_host, 0x5a, host_bytes);
  return success;
}

template <class T>
dense::Matrix<T> matrix_of(void* elements, std::int64_t leading) {
  return {static_cast<T*>(elements), leading};
}
template <class T>
dense::Matrix<T> matrix_of(const void* elements, std::int64_t leading) {
  return {static_cast<T*>(const_cast<void*>(elements)), leading};
}

template <class T>
int orgqr(const char* name, void* handle, int m, int n, int k, void* matrix, int leading,
          const void* tau, void* workspace, int elements, int* info) {
  if (const int status = asked(name); status != success) return status;
  if (m < n || n < k || k < 1 || leading < m || !is_on_device(matrix) || !is_on_device(tau) ||
      !is_on_device(info))
    return invalid_value;
  if (elements < 2 * n || !is_on_device(workspace)) return invalid_workspace;
  finish_before(static_cast<Handle*>(handle)->stream);
  std::memset(workspace, 0x5a, static_cast<std::size_t>(elements) * sizeof(T));
  dense::reflector_product(m, n, k, matrix_of<T>(matrix, leading), static_cast<const T*>(tau));
  return *info = 0, success;
}

}  // namespace

extern "C" {

int cusolverDnXgetrf_bufferSize(void*, void* parameters, std::int64_t m, std::int64_t n, int,
                                const void* matrix, std::int64_t leading, int,
                                std::size_t* device_bytes, std::size_t* host_bytes) {
  if (const int status = asked("Xgetrf_bufferSize"); status != success) return status;
  if (check_sizes(parameters, m, n, leading) != success || !is_on_device(matrix))
    return invalid_value;
  *device_bytes = wanted_on_device(n);
  *host_bytes = wanted_on_host(n);
  return success;
}

int cusolverDnXgetrf(void* handle, void* parameters, std::int64_t m, std::int64_t n, int type,
                     void* matrix, std::int64_t leading, std::int64_t* pivots, int compute,
                     void* device_workspace, std::size_t device_bytes, void* host_workspace,
                     std::size_t host_bytes, int* info) {
  if (const int status = asked("Xgetrf"); status != success) return status;
  if (check_sizes(parameters, m, n, leading) != success || compute != type ||
      !is_on_device(matrix) || !is_on_device(pivots) || !is_on_device(info))
    return invalid_value;
  finish_before(static_cast<Handle*>(handle)->stream);
  if (const int status =
          use_workspaces(n, device_workspace, device_bytes, host_workspace, host_bytes);
      status != success)
    return status;
  return with_type(
      type, [&]<class T>(T) { *info = dense::lu(m, n, matrix_of<T>(matrix, leading), pivots); });
}

int cusolverDnXgetrs(void* handle, void* parameters, int operation, std::int64_t n,
                     std::int64_t columns, int type, const void* lu, std::int64_t leading,
                     const std::int64_t* pivots, int b_type, void* b, std::int64_t b_leading,
                     int* info) {
  if (const int status = asked("Xgetrs"); status != success) return status;
  if (check_sizes(parameters, n, columns, leading) != success || b_type != type || b_leading < n ||
      !is_on_device(lu) || !is_on_device(pivots) || !is_on_device(b) || !is_on_device(info))
    return invalid_value;
  finish_before(static_cast<Handle*>(handle)->stream);
  *info = 0;
  return with_type(type, [&]<class T>(T) {
    dense::lu_solve(operation, n, columns, matrix_of<T>(lu, leading), pivots,
                    matrix_of<T>(b, b_leading));
  });
}

int cusolverDnXgeqrf_bufferSize(void*, void* parameters, std::int64_t m, std::int64_t n, int type,
                                const void* matrix, std::int64_t leading, int tau_type,
                                const void* tau, int compute, std::size_t* device_bytes,
                                std::size_t* host_bytes) {
  if (const int status = asked("Xgeqrf_bufferSize"); status != success) return status;
  if (check_sizes(parameters, m, n, leading) != success || tau_type != type || compute != type ||
      !is_on_device(matrix) || !is_on_device(tau))
    return invalid_value;
  *device_bytes = wanted_on_device(n);
  *host_bytes = wanted_on_host(n);
  return success;
}

int cusolverDnXgeqrf(void* handle, void* parameters, std::int64_t m, std::int64_t n, int type,
                     void* matrix, std::int64_t leading, int tau_type, void* tau, int compute,
                     void* device_workspace, std::size_t device_bytes, void* host_workspace,
                     std::size_t host_bytes, int* info) {
  if (const int status = asked("Xgeqrf"); status != success) return status;
  if (check_sizes(parameters, m, n, leading) != success || tau_type != type || compute != type ||
      !is_on_device(matrix) || !is_on_device(tau) || !is_on_device(info))
    return invalid_value;
  finish_before(static_cast<Handle*>(handle)->stream);
  if (const int status =
          use_workspaces(n, device_workspace, device_bytes, host_workspace, host_bytes);
      status != success)
    return status;
  *info = 0;
  return with_type(type, [&]<class T>(T) {
    dense::qr(m, n, matrix_of<T>(matrix, leading), static_cast<T*>(tau));
  });
}

#define HEDDLE_FAKE_ORGQR(name, T)                                                                \
  int cusolverDn##name##_bufferSize(void*, int, int n, int, const void* matrix, int, const void*, \
                                    int* elements) {                                              \
    if (const int status = asked(#name "_bufferSize"); status != success) return status;          \
    return is_on_device(matrix) ? (*elements = 2 * n, success) : invalid_value;                   \
  }                                                                                               \
  int cusolverDn##name(void* handle, int m, int n, int k, void* matrix, int leading,              \
                       const void* tau, void* workspace, int elements, int* info) {               \
    return orgqr<T>(#name, handle, m, n, k, matrix, leading, tau, workspace, elements, info);     \
  }
HEDDLE_FAKE_ORGQR(Sorgqr, float)
HEDDLE_FAKE_ORGQR(Dorgqr, double)
HEDDLE_FAKE_ORGQR(Cungqr, std::complex<float>)
HEDDLE_FAKE_ORGQR(Zungqr, std::complex<double>)
#undef HEDDLE_FAKE_ORGQR

}  // extern "C"

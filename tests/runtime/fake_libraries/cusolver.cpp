// A cuSOLVER that is a program of its own: Cholesky factors, columns first, at once and on the
// host, whose memory is the fake driver's device's. What it is asked for it appends to the file
// that HEDDLE_FAKE_CUSOLVER_LOG names; the call that HEDDLE_FAKE_CUSOLVER_FAILS names fails.

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/runtime/fake_libraries/fake_cusolver.h"
#include "tests/runtime/fake_libraries/stream_order.h"

using namespace fake_cusolver;

namespace {

constexpr int lower = 0, upper = 1;

double real_part(double x) { return x; }
double real_part(std::complex<double> x) { return x.real(); }
double conjugate(double x) { return x; }
std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }

/// The factor of one triangle in its place, and the order of the first minor that is not positive.
/// The upper factor is the transpose of the lower one of the transposed matrix.
template <class T>
int factorise(int triangle, std::int64_t n, void* matrix, std::int64_t leading) {
  using Wide = decltype(conjugate(T()));
  const auto at = [=](std::int64_t row, std::int64_t column) -> T& {
    return static_cast<T*>(
        matrix)[triangle == upper ? row * leading + column : column * leading + row];
  };
  for (std::int64_t j = 0; j < n; ++j) {
    double diagonal = real_part(at(j, j));
    for (std::int64_t k = 0; k < j; ++k) diagonal -= std::norm(at(j, k));
    if (!(diagonal > 0)) return static_cast<int>(j + 1);
    const double root = std::sqrt(diagonal);
    at(j, j) = static_cast<T>(root);
    for (std::int64_t i = j + 1; i < n; ++i) {
      Wide sum = at(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= Wide(at(i, k)) * conjugate(at(j, k));
      at(i, j) = static_cast<T>(sum / root);
    }
  }
  return 0;
}

template <class T>
int batched(const char* name, void* handle, int triangle, int n, void** matrices, int leading,
            int* infos, int batch) {
  if (const int status = asked(name); status != success) return status;
  if (n < 1 || leading < n || batch < 1 || !is_on_device(matrices) || !is_on_device(infos))
    return invalid_value;
  finish_before(static_cast<Handle*>(handle)->stream);
  for (int i = 0; i < batch; ++i) {
    if (!is_on_device(matrices[i])) return invalid_value;
    infos[i] = factorise<T>(triangle, n, matrices[i], leading);
  }
  return success;
}

}  // namespace

extern "C" {

int cusolverDnCreate(void** handle) {
  if (const int status = asked("Create"); status != success) return status;
  return *handle = new Handle, success;
}
int cusolverDnDestroy(void* handle) {
  return delete static_cast<Handle*>(handle), asked("Destroy");
}
int cusolverDnSetStream(void* handle, void* stream) {
  return static_cast<Handle*>(handle)->stream = stream, success;
}
int cusolverDnCreateParams(void** parameters) {
  if (const int status = asked("CreateParams"); status != success) return status;
  return *parameters = new Parameters, success;
}

int cusolverDnXpotrf_bufferSize(void*, void* parameters, int triangle, std::int64_t n, int type,
                                const void* matrix, std::int64_t leading, int compute,
                                std::size_t* device_bytes, std::size_t* host_bytes) {
  if (const int status = asked("Xpotrf_bufferSize"); status != success) return status;
  const bool has_triangle = triangle == lower || triangle == upper;
  if (!is_known(parameters) || !has_triangle || n < 1 || leading < n || compute != type ||
      !is_on_device(matrix))
    return invalid_value;
  *device_bytes = wanted_on_device(n);
  *host_bytes = wanted_on_host(n);
  return success;
}

int cusolverDnXpotrf(void* handle, void* parameters, int triangle, std::int64_t n, int type,
                     void* matrix, std::int64_t leading, int compute, void* device_workspace,
                     std::size_t device_bytes, void* host_workspace, std::size_t host_bytes,
                     int* info) {
  if (const int status = asked("Xpotrf"); status != success) return status;
  if (!is_known(parameters) || n < 1 || leading < n || compute != type) return invalid_value;
  if (!is_on_device(matrix) || !is_on_device(info)) return invalid_value;
  if (device_bytes < wanted_on_device(n) || host_bytes < wanted_on_host(n) ||
      !is_on_device(device_workspace) || host_workspace == nullptr)
    return invalid_workspace;
  finish_before(static_cast<Handle*>(handle)->stream);
  std::memset(device_workspace, 0x5a, device_bytes);
  std::memset(host_workspace, 0x5a, host_bytes);
  switch (type) {
    case f32:
      return *info = factorise<float>(triangle, n, matrix, leading), success;
    case f64:
      return *info = factorise<double>(triangle, n, matrix, leading), success;
    case c64:
      return *info = factorise<std::complex<float>>(triangle, n, matrix, leading), success;
    case c128:
      return *info = factorise<std::complex<double>>(triangle, n, matrix, leading), success;
    default:
      return invalid_value;
  }
}

#define HEDDLE_FAKE_BATCHED(letter, T)                                                       \
  int cusolverDn##letter##potrfBatched(void* handle, int triangle, int n, void** matrices,   \
                                       int leading, int* infos, int batch) {                 \
    return batched<T>(#letter "potrfBatched", handle, triangle, n, matrices, leading, infos, \
                      batch);                                                                \
  }
HEDDLE_FAKE_BATCHED(S, float)
HEDDLE_FAKE_BATCHED(D, double)
HEDDLE_FAKE_BATCHED(C, std::complex<float>)
HEDDLE_FAKE_BATCHED(Z, std::complex<double>)
#undef HEDDLE_FAKE_BATCHED

}  // extern "C"

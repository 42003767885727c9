// A cuSOLVER that is a program of its own: Cholesky factors, columns first, at once and on the
// host, whose memory is the fake driver's device's. What it is asked for it appends to the file
// that HEDDLE_FAKE_CUSOLVER_LOG names; the call that HEDDLE_FAKE_CUSOLVER_FAILS names fails.

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <string>

#include "tests/runtime/fake_libraries/stream_order.h"

namespace {

constexpr int success = 0, invalid_value = 3, internal_error = 7, invalid_workspace = 31;
constexpr int lower = 0, upper = 1;
constexpr int f32 = 0, f64 = 1, c64 = 4, c128 = 5;

struct Handle {
  void* stream = nullptr;
};
struct Parameters {
  std::uint64_t made_here = 0x48444353;
};

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

std::size_t wanted_on_device(std::int64_t n) { return 256 + 16 * static_cast<std::size_t>(n); }
std::size_t wanted_on_host(std::int64_t n) { return 40 + static_cast<std::size_t>(n); }

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
  const bool known = static_cast<Parameters*>(parameters)->made_here == Parameters().made_here;
  const bool has_triangle = triangle == lower || triangle == upper;
  if (!known || !has_triangle || n < 1 || leading < n || compute != type || !is_on_device(matrix))
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
  const bool known = static_cast<Parameters*>(parameters)->made_here == Parameters().made_here;
  if (!known || n < 1 || leading < n || compute != type) return invalid_value;
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

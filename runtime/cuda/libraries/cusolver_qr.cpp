#include <algorithm>
#include <vector>

#include "runtime/cuda/libraries/cublas_library.h"
#include "runtime/cuda/libraries/cusolver_library.h"

namespace heddle::runtime::cusolver {

namespace {

void geqrf_in_one_call(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch,
                       void* matrices, void* taus, const Allocate& allocate, const Stream& stream) {
  const cublas::Session session(stream);
  const auto bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  const auto tau_bytes = static_cast<std::size_t>(std::min(m, n)) * size_of(dtype);
  const BufferRef matrix_addresses = addresses_of(matrices, batch, bytes, allocate, stream);
  const BufferRef tau_addresses = addresses_of(taus, batch, tau_bytes, allocate, stream);
  int wrong_argument = 0;
  cublas::check(
      cublas::routines(dtype).geqrf(
          session.handle(), static_cast<int>(m), static_cast<int>(n),
          static_cast<void**>(matrix_addresses->pointer()), static_cast<int>(m),
          static_cast<void**>(tau_addresses->pointer()), &wrong_argument, static_cast<int>(batch)),
      "cublas<t>geqrfBatched");
}

struct HouseholderProduct {
  OrgqrSize size;
  Orgqr multiply;
};

HouseholderProduct orgqr_of(DType dtype) {
  const QrApi& routines = api().qr;
  switch (dtype) {
    case DType::f32:
      return {routines.cusolverDnSorgqr_bufferSize, routines.cusolverDnSorgqr};
    case DType::f64:
      return {routines.cusolverDnDorgqr_bufferSize, routines.cusolverDnDorgqr};
    case DType::c64:
      return {routines.cusolverDnCungqr_bufferSize, routines.cusolverDnCungqr};
    default:
      return {routines.cusolverDnZungqr_bufferSize, routines.cusolverDnZungqr};
  }
}

}  // namespace

void geqrf(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
           void* taus, const Allocate& allocate, const Stream& stream) {
  if (in_one_call(std::max(m, n), batch, stream))
    return geqrf_in_one_call(dtype, m, n, batch, matrices, taus, allocate, stream);
  const Session session(stream);
  const QrApi& routines = api().qr;
  const DataType type = data_type(dtype);
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXgeqrf_bufferSize(session.handle(), session.parameters(), m, n, type,
                                             matrices, m, type, taus, type, &device_bytes,
                                             &host_bytes),
        "cusolverDnXgeqrf_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  const BufferRef info = allocate(sizeof(int));
  std::vector<std::byte> host_workspace(host_bytes);
  const auto bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  const auto tau_bytes = static_cast<std::size_t>(std::min(m, n)) * size_of(dtype);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(routines.cusolverDnXgeqrf(
              session.handle(), session.parameters(), m, n, type, matrix_at(matrices, i, bytes), m,
              type, matrix_at(taus, i, tau_bytes), type, workspace->pointer(), device_bytes,
              host_workspace.data(), host_bytes, static_cast<int*>(info->pointer())),
          "cusolverDnXgeqrf");
  }
}

void householder_product(DType dtype, std::int64_t m, std::int64_t columns, std::int64_t reflectors,
                         std::int64_t batch, void* matrices, const void* taus,
                         const Allocate& allocate, const Stream& stream) {
  const Session session(stream);
  const HouseholderProduct orgqr = orgqr_of(dtype);
  const int rows = checked_extent(m), wanted = checked_extent(columns);
  const int given = checked_extent(reflectors);
  int elements = 0;
  check(orgqr.size(session.handle(), rows, wanted, given, matrices, rows, taus, &elements),
        "cusolverDn<t>orgqr_bufferSize");
  const BufferRef workspace = allocate(static_cast<std::size_t>(elements) * size_of(dtype));
  const BufferRef info = allocate(sizeof(int));
  const auto bytes = static_cast<std::size_t>(m * columns) * size_of(dtype);
  const auto tau_bytes = static_cast<std::size_t>(reflectors) * size_of(dtype);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(orgqr.multiply(
              session.handle(), rows, wanted, given, matrix_at(matrices, i, bytes), rows,
              static_cast<const std::byte*>(taus) + static_cast<std::size_t>(i) * tau_bytes,
              workspace->pointer(), elements, static_cast<int*>(info->pointer())),
          "cusolverDn<t>orgqr");
  }
}

}  // namespace heddle::runtime::cusolver

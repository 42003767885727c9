#include <vector>

#include "runtime/cuda/libraries/cusolver_library.h"

namespace heddle::runtime::cusolver {

namespace {

struct Batched {
  PotrfBatched factorise;
  const char* name;
};

Batched potrf_batched(DType dtype) {
  const CholeskyApi& routines = api().cholesky;
  switch (dtype) {
    case DType::f32:
      return {routines.cusolverDnSpotrfBatched, "cusolverDnSpotrfBatched"};
    case DType::f64:
      return {routines.cusolverDnDpotrfBatched, "cusolverDnDpotrfBatched"};
    case DType::c64:
      return {routines.cusolverDnCpotrfBatched, "cusolverDnCpotrfBatched"};
    default:
      return {routines.cusolverDnZpotrfBatched, "cusolverDnZpotrfBatched"};
  }
}

}  // namespace

void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos, const Allocate& allocate, const Stream& stream) {
  const Session session(stream);
  // cuSOLVER is column-major: our lower triangle is the upper one of the transpose, and L^T its
  // factor.
  const Fill triangle = upper ? Fill::lower : Fill::upper;
  const DataType type = data_type(dtype);
  const auto bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  if (in_one_call(n, batch, stream)) {
    const BufferRef addresses = addresses_of(matrices, batch, bytes, allocate, stream);
    const Batched potrf = potrf_batched(dtype);
    check(potrf.factorise(session.handle(), triangle, static_cast<int>(n),
                          static_cast<void**>(addresses->pointer()), static_cast<int>(n), infos,
                          static_cast<int>(batch)),
          potrf.name);
    return;
  }
  const CholeskyApi& routines = api().cholesky;
  std::size_t device_bytes = 0, host_bytes = 0;
  check(routines.cusolverDnXpotrf_bufferSize(session.handle(), session.parameters(), triangle, n,
                                             type, matrices, n, type, &device_bytes, &host_bytes),
        "cusolverDnXpotrf_bufferSize");
  const BufferRef workspace = allocate(device_bytes);
  std::vector<std::byte> host_workspace(host_bytes);
  for (std::int64_t i = 0; i < batch; ++i) {
    check(routines.cusolverDnXpotrf(session.handle(), session.parameters(), triangle, n, type,
                                    matrix_at(matrices, i, bytes), n, type, workspace->pointer(),
                                    device_bytes, host_workspace.data(), host_bytes, infos + i),
          "cusolverDnXpotrf");
  }
}

}  // namespace heddle::runtime::cusolver

#include <algorithm>
#include <vector>

#include "runtime/cuda/driver.h"
#include "runtime/cuda/libraries/cublas_library.h"
#include "runtime/cuda/libraries/cusolver_library.h"

namespace heddle::runtime::cusolver {

namespace {

/// Factorises matrices one by one.
class LuFactoriser {
 public:
  LuFactoriser(DType dtype, std::int64_t m, std::int64_t n, const void* matrices,
               const Allocate& allocate, const Stream& stream)
      : session_(stream), type_(data_type(dtype)), m_(m), n_(n) {
    std::size_t host_bytes = 0;
    check(api().lu.cusolverDnXgetrf_bufferSize(session_.handle(), session_.parameters(), m_, n_,
                                               type_, matrices, m_, type_, &device_bytes_,
                                               &host_bytes),
          "cusolverDnXgetrf_bufferSize");
    workspace_ = allocate(device_bytes_);
    host_workspace_.resize(host_bytes);
  }

  void factorise(void* matrix, std::int64_t* pivots, std::int32_t* info) {
    check(api().lu.cusolverDnXgetrf(session_.handle(), session_.parameters(), m_, n_, type_, matrix,
                                    m_, pivots, type_, workspace_->pointer(), device_bytes_,
                                    host_workspace_.data(), host_workspace_.size(), info),
          "cusolverDnXgetrf");
  }

  /// Solves with the factors of an n by n matrix. `info` says which argument is wrong.
  void solve(Operation operation, std::int64_t columns, const void* lu, const std::int64_t* pivots,
             void* b, std::int32_t* info) {
    check(api().lu.cusolverDnXgetrs(session_.handle(), session_.parameters(), operation, n_,
                                    columns, type_, lu, n_, pivots, type_, b, n_, info),
          "cusolverDnXgetrs");
  }

 private:
  Session session_;
  DataType type_;
  std::int64_t m_, n_;
  std::size_t device_bytes_ = 0;
  BufferRef workspace_;
  std::vector<std::byte> host_workspace_;
};

/// Keeps the lower 32 bits of each number: every number is a row of two words.
void narrow(std::int32_t* to, const std::int64_t* from, std::int64_t count, const Stream& stream) {
  cuda::Copy2d copy;
  copy.from = reinterpret_cast<cuda::DevicePointer>(from);
  copy.to = reinterpret_cast<cuda::DevicePointer>(to);
  copy.from_pitch = sizeof *from;
  copy.to_pitch = copy.row_bytes = sizeof *to;
  copy.rows = static_cast<std::size_t>(count);
  cuda::driver().memcpy_2d_async(&copy, stream.handle());
}

void lu_in_one_call(DType dtype, std::int64_t n, std::int64_t batch, void** addresses,
                    std::int32_t* pivots, std::int32_t* infos, const cublas::Session& session) {
  const int order = static_cast<int>(n);
  cublas::check(cublas::routines(dtype).getrf(session.handle(), order, addresses, order, pivots,
                                              infos, static_cast<int>(batch)),
                "cublas<t>getrfBatched");
}

void solve_in_one_call(DType dtype, Operation operation, std::int64_t n, std::int64_t columns,
                       std::int64_t batch, void* a, std::int32_t* pivots, void* b,
                       std::int32_t* infos, const Allocate& allocate, const Stream& stream) {
  const cublas::Session session(stream);
  const std::size_t a_bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t b_bytes = static_cast<std::size_t>(n * columns) * size_of(dtype);
  const BufferRef as = addresses_of(a, batch, a_bytes, allocate, stream);
  auto* const matrices = static_cast<void**>(as->pointer());
  lu_in_one_call(dtype, n, batch, matrices, pivots, infos, session);
  if (columns == 0) return;
  const BufferRef bs = addresses_of(b, batch, b_bytes, allocate, stream);
  const int order = static_cast<int>(n);
  int wrong_argument = 0;
  cublas::check(
      cublas::routines(dtype).getrs(session.handle(), static_cast<cublas::Operation>(operation),
                                    order, static_cast<int>(columns), matrices, order, pivots,
                                    static_cast<void**>(bs->pointer()), order, &wrong_argument,
                                    static_cast<int>(batch)),
      "cublas<t>getrsBatched");
}

}  // namespace

void lu(DType dtype, std::int64_t m, std::int64_t n, std::int64_t batch, void* matrices,
        std::int32_t* pivots, std::int32_t* infos, const Allocate& allocate, const Stream& stream) {
  const std::size_t bytes = static_cast<std::size_t>(m * n) * size_of(dtype);
  if (m == n && in_one_call(n, batch, stream)) {
    const cublas::Session session(stream);
    const BufferRef addresses = addresses_of(matrices, batch, bytes, allocate, stream);
    return lu_in_one_call(dtype, n, batch, static_cast<void**>(addresses->pointer()), pivots, infos,
                          session);
  }
  LuFactoriser factoriser(dtype, m, n, matrices, allocate, stream);
  const std::int64_t k = std::min(m, n);
  const BufferRef wide = allocate(static_cast<std::size_t>(k * batch) * sizeof(std::int64_t));
  auto* const wide_pivots = static_cast<std::int64_t*>(wide->pointer());
  for (std::int64_t i = 0; i < batch; ++i)
    factoriser.factorise(matrix_at(matrices, i, bytes), wide_pivots + i * k, infos + i);
  narrow(pivots, wide_pivots, k * batch, stream);
}

void solve(DType dtype, bool transposed, std::int64_t n, std::int64_t columns, std::int64_t batch,
           void* a, std::int32_t* pivots, void* b, std::int32_t* infos, const Allocate& allocate,
           const Stream& stream) {
  // cuSOLVER sees the transpose of a matrix in C order.
  const Operation operation = transposed ? Operation::none : Operation::transpose;
  if (in_one_call(std::max(n, columns), batch, stream)) {
    return solve_in_one_call(dtype, operation, n, columns, batch, a, pivots, b, infos, allocate,
                             stream);
  }
  const std::size_t a_bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const std::size_t b_bytes = static_cast<std::size_t>(n * columns) * size_of(dtype);
  LuFactoriser factoriser(dtype, n, n, a, allocate, stream);
  const BufferRef wide = allocate(static_cast<std::size_t>(n) * sizeof(std::int64_t));
  const BufferRef ignored = allocate(sizeof(std::int32_t));
  auto* const wide_pivots = static_cast<std::int64_t*>(wide->pointer());
  for (std::int64_t i = 0; i < batch; ++i) {
    std::byte* const matrix = matrix_at(a, i, a_bytes);
    factoriser.factorise(matrix, wide_pivots, infos + i);
    if (columns == 0) continue;
    factoriser.solve(operation, columns, matrix, wide_pivots, matrix_at(b, i, b_bytes),
                     static_cast<std::int32_t*>(ignored->pointer()));
  }
}

}  // namespace heddle::runtime::cusolver

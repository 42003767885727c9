#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/dtype.h"

#include "runtime/base/library.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/libraries/cusolver.h"

// cuSOLVER as the files of its groups of routines need it: the table of functions, handles, and
// errors. Matrices are column-major.

namespace heddle::runtime::cusolver {

using Handle = struct HandleOpaque*;
using Parameters = struct ParametersOpaque*;
enum class Status : int { success = 0 };
enum class Fill : int { lower = 0, upper = 1 };
enum class Operation : int { none = 0, transpose = 1, conjugate_transpose = 2 };
enum class DataType : int { f32 = 0, f64 = 1, c64 = 4, c128 = 5 };

/// Batched factorisation: `matrices` points to device memory with the matrices' addresses. The
/// other triangle is overwritten.
using PotrfBatched = Status (*)(Handle handle, Fill triangle, int n, void** matrices, int leading,
                                int* infos, int batch);

struct CholeskyApi {
  Status (*cusolverDnXpotrf_bufferSize)(Handle handle, Parameters parameters, Fill triangle,
                                        std::int64_t n, DataType type, const void* matrix,
                                        std::int64_t leading, DataType compute,
                                        std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXpotrf)(Handle handle, Parameters parameters, Fill triangle, std::int64_t n,
                             DataType type, void* matrix, std::int64_t leading, DataType compute,
                             void* device_workspace, std::size_t device_bytes, void* host_workspace,
                             std::size_t host_bytes, int* info) = nullptr;
  PotrfBatched cusolverDnSpotrfBatched = nullptr, cusolverDnDpotrfBatched = nullptr,
               cusolverDnCpotrfBatched = nullptr, cusolverDnZpotrfBatched = nullptr;
};

/// LU factors and their use. Pivots are in device memory.
struct LuApi {
  Status (*cusolverDnXgetrf_bufferSize)(Handle handle, Parameters parameters, std::int64_t m,
                                        std::int64_t n, DataType type, const void* matrix,
                                        std::int64_t leading, DataType compute,
                                        std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXgetrf)(Handle handle, Parameters parameters, std::int64_t m, std::int64_t n,
                             DataType type, void* matrix, std::int64_t leading,
                             std::int64_t* pivots, DataType compute, void* device_workspace,
                             std::size_t device_bytes, void* host_workspace, std::size_t host_bytes,
                             int* info) = nullptr;
  Status (*cusolverDnXgetrs)(Handle handle, Parameters parameters, Operation operation,
                             std::int64_t n, std::int64_t columns, DataType type, const void* lu,
                             std::int64_t leading, const std::int64_t* pivots, DataType b_type,
                             void* b, std::int64_t b_leading, int* info) = nullptr;
};

/// The columns of a product of reflectors: orgqr, or ungqr for complex elements, and the number of
/// elements of its workspace.
using OrgqrSize = Status (*)(Handle handle, int m, int n, int k, const void* matrix, int leading,
                             const void* tau, int* elements);
using Orgqr = Status (*)(Handle handle, int m, int n, int k, void* matrix, int leading,
                         const void* tau, void* workspace, int elements, int* info);

struct QrApi {
  Status (*cusolverDnXgeqrf_bufferSize)(Handle handle, Parameters parameters, std::int64_t m,
                                        std::int64_t n, DataType type, const void* matrix,
                                        std::int64_t leading, DataType tau_type, const void* tau,
                                        DataType compute, std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXgeqrf)(Handle handle, Parameters parameters, std::int64_t m, std::int64_t n,
                             DataType type, void* matrix, std::int64_t leading, DataType tau_type,
                             void* tau, DataType compute, void* device_workspace,
                             std::size_t device_bytes, void* host_workspace, std::size_t host_bytes,
                             int* info) = nullptr;
  OrgqrSize cusolverDnSorgqr_bufferSize = nullptr, cusolverDnDorgqr_bufferSize = nullptr,
            cusolverDnCungqr_bufferSize = nullptr, cusolverDnZungqr_bufferSize = nullptr;
  Orgqr cusolverDnSorgqr = nullptr, cusolverDnDorgqr = nullptr, cusolverDnCungqr = nullptr,
        cusolverDnZungqr = nullptr;
};

enum class EigenMode : int { values = 0, vectors = 1 };
using JacobiOptions = struct JacobiOptionsOpaque*;

/// Jacobi SVDs of a stack of matrices up to 32 by 32; u and v are square. Both need memory also
/// without vectors.
using GesvdjBatched = Status (*)(Handle handle, EigenMode mode, int m, int n, void* a, int lda,
                                 void* s, void* u, int ldu, void* v, int ldv, void* work,
                                 int work_size, int* infos, JacobiOptions options, int batch);
using GesvdjBatchedSize = Status (*)(Handle handle, EigenMode mode, int m, int n, const void* a,
                                     int lda, const void* s, const void* u, int ldu, const void* v,
                                     int ldv, int* work_size, JacobiOptions options, int batch);
/// Of one matrix. If `economy` is 1, u and v have min(m, n) columns, if it is 0, they are square.
using Gesvdj = Status (*)(Handle handle, EigenMode mode, int economy, int m, int n, void* a,
                          int lda, void* s, void* u, int ldu, void* v, int ldv, void* work,
                          int work_size, int* info, JacobiOptions options);
using GesvdjSize = Status (*)(Handle handle, EigenMode mode, int economy, int m, int n,
                              const void* a, int lda, const void* s, const void* u, int ldu,
                              const void* v, int ldv, int* work_size, JacobiOptions options);

struct SvdApi {
  Status (*cusolverDnXgesvd_bufferSize)(Handle handle, Parameters parameters, signed char job_u,
                                        signed char job_vt, std::int64_t m, std::int64_t n,
                                        DataType type, const void* a, std::int64_t lda,
                                        DataType type_s, const void* s, DataType type_u,
                                        const void* u, std::int64_t ldu, DataType type_vt,
                                        const void* vt, std::int64_t ldvt, DataType compute,
                                        std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXgesvd)(Handle handle, Parameters parameters, signed char job_u,
                             signed char job_vt, std::int64_t m, std::int64_t n, DataType type,
                             void* a, std::int64_t lda, DataType type_s, void* s, DataType type_u,
                             void* u, std::int64_t ldu, DataType type_vt, void* vt,
                             std::int64_t ldvt, DataType compute, void* device_workspace,
                             std::size_t device_bytes, void* host_workspace, std::size_t host_bytes,
                             int* info) = nullptr;
  Status (*cusolverDnCreateGesvdjInfo)(JacobiOptions* options) = nullptr;
  Status (*cusolverDnDestroyGesvdjInfo)(JacobiOptions options) = nullptr;
  Status (*cusolverDnXgesvdjSetTolerance)(JacobiOptions options, double tolerance) = nullptr;
  GesvdjBatchedSize cusolverDnSgesvdjBatched_bufferSize = nullptr,
                    cusolverDnDgesvdjBatched_bufferSize = nullptr,
                    cusolverDnCgesvdjBatched_bufferSize = nullptr,
                    cusolverDnZgesvdjBatched_bufferSize = nullptr;
  GesvdjBatched cusolverDnSgesvdjBatched = nullptr, cusolverDnDgesvdjBatched = nullptr,
                cusolverDnCgesvdjBatched = nullptr, cusolverDnZgesvdjBatched = nullptr;
  GesvdjSize cusolverDnSgesvdj_bufferSize = nullptr, cusolverDnDgesvdj_bufferSize = nullptr,
             cusolverDnCgesvdj_bufferSize = nullptr, cusolverDnZgesvdj_bufferSize = nullptr;
  Gesvdj cusolverDnSgesvdj = nullptr, cusolverDnDgesvdj = nullptr, cusolverDnCgesvdj = nullptr,
         cusolverDnZgesvdj = nullptr;
};

/// Jacobi eigenvalues of a stack of Hermitian matrices up to 32 by 32, in ascending order.
using SyevjBatched = Status (*)(Handle handle, EigenMode mode, Fill triangle, int n, void* a,
                                int lda, void* w, void* work, int work_size, int* infos,
                                JacobiOptions options, int batch);
using SyevjBatchedSize = Status (*)(Handle handle, EigenMode mode, Fill triangle, int n,
                                    const void* a, int lda, const void* w, int* work_size,
                                    JacobiOptions options, int batch);

struct EigenApi {
  Status (*cusolverDnCreateSyevjInfo)(JacobiOptions* options) = nullptr;
  Status (*cusolverDnDestroySyevjInfo)(JacobiOptions options) = nullptr;
  SyevjBatchedSize cusolverDnSsyevjBatched_bufferSize = nullptr,
                   cusolverDnDsyevjBatched_bufferSize = nullptr,
                   cusolverDnCheevjBatched_bufferSize = nullptr,
                   cusolverDnZheevjBatched_bufferSize = nullptr;
  SyevjBatched cusolverDnSsyevjBatched = nullptr, cusolverDnDsyevjBatched = nullptr,
               cusolverDnCheevjBatched = nullptr, cusolverDnZheevjBatched = nullptr;
  Status (*cusolverDnXsyevd_bufferSize)(Handle handle, Parameters parameters, EigenMode mode,
                                        Fill triangle, std::int64_t n, DataType type, const void* a,
                                        std::int64_t lda, DataType type_w, const void* w,
                                        DataType compute, std::size_t* device_bytes,
                                        std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXsyevd)(Handle handle, Parameters parameters, EigenMode mode, Fill triangle,
                             std::int64_t n, DataType type, void* a, std::int64_t lda,
                             DataType type_w, void* w, DataType compute, void* device_workspace,
                             std::size_t device_bytes, void* host_workspace, std::size_t host_bytes,
                             int* info) = nullptr;
  // Null before cuSOLVER 11.7.1.
  Status (*cusolverDnXsyevBatched_bufferSize)(Handle handle, Parameters parameters, EigenMode mode,
                                              Fill triangle, std::int64_t n, DataType type,
                                              const void* a, std::int64_t lda, DataType type_w,
                                              const void* w, DataType compute,
                                              std::size_t* device_bytes, std::size_t* host_bytes,
                                              std::int64_t batch) = nullptr;
  Status (*cusolverDnXsyevBatched)(Handle handle, Parameters parameters, EigenMode mode,
                                   Fill triangle, std::int64_t n, DataType type, void* a,
                                   std::int64_t lda, DataType type_w, void* w, DataType compute,
                                   void* device_workspace, std::size_t device_bytes,
                                   void* host_workspace, std::size_t host_bytes, int* infos,
                                   std::int64_t batch) = nullptr;
  Status (*cusolverDnXgeev_bufferSize)(Handle handle, Parameters parameters, EigenMode left,
                                       EigenMode right, std::int64_t n, DataType type,
                                       const void* a, std::int64_t lda, DataType type_w,
                                       const void* w, DataType type_vl, const void* vl,
                                       std::int64_t ldvl, DataType type_vr, const void* vr,
                                       std::int64_t ldvr, DataType compute,
                                       std::size_t* device_bytes,
                                       std::size_t* host_bytes) = nullptr;
  Status (*cusolverDnXgeev)(Handle handle, Parameters parameters, EigenMode left, EigenMode right,
                            std::int64_t n, DataType type, void* a, std::int64_t lda,
                            DataType type_w, void* w, DataType type_vl, void* vl, std::int64_t ldvl,
                            DataType type_vr, void* vr, std::int64_t ldvr, DataType compute,
                            void* device_workspace, std::size_t device_bytes, void* host_workspace,
                            std::size_t host_bytes, int* info) = nullptr;
};

/// All functions, by groups.
struct Api {
  Status (*cusolverDnCreate)(Handle* handle) = nullptr;
  Status (*cusolverDnDestroy)(Handle handle) = nullptr;
  Status (*cusolverDnSetStream)(Handle handle, cuda::StreamHandle stream) = nullptr;
  Status (*cusolverDnCreateParams)(Parameters* parameters) = nullptr;
  CholeskyApi cholesky;
  LuApi lu;
  QrApi qr;
  SvdApi svd;
  EigenApi eigen;
};

/// Throws DeviceError if the library cannot be used.
const Api& api();
/// Throws DeviceError that names the call unless it succeeded.
void check(Status status, const char* call);
/// Throws InternalError for a dtype that cuSOLVER does not compute in.
DataType data_type(DType dtype);

/// The handle and parameters of one thread's calls.
struct Solver {
  Handle handle = nullptr;
  Parameters parameters = nullptr;
  friend bool operator==(const Solver&, const Solver&) = default;
};

/// Calls of cuSOLVER on a stream: while an instance lives, the stream's GPU is current and the
/// handle belongs to this thread. Throws DeviceError.
class Session {
 public:
  explicit Session(const Stream& stream);
  Handle handle() const { return lease_.get().handle; }
  Parameters parameters() const { return lease_.get().parameters; }

 private:
  cuda::ContextScope context_;
  HandlePool<Solver>::Lease lease_;
};

/// Matrix number `index` of a stack of matrices of `bytes` bytes.
inline std::byte* matrix_at(void* matrices, std::int64_t index, std::size_t bytes) {
  return static_cast<std::byte*>(matrices) + static_cast<std::size_t>(index) * bytes;
}

/// Device memory with the addresses of `batch` matrices of `bytes` bytes. Not while a graph is
/// captured: it would copy the addresses from host memory that no longer exists at launch.
BufferRef addresses_of(void* matrices, std::int64_t batch, std::size_t bytes,
                       const Allocate& allocate, const Stream& stream);

/// Throws DeviceError for an extent that does not fit 32 bits.
int checked_extent(std::int64_t extent);

/// Whether a batch of matrices of this extent is given to one call: each is too small to fill a
/// GPU.
bool in_one_call(std::int64_t extent, std::int64_t batch, const Stream& stream);

}  // namespace heddle::runtime::cusolver

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "heddle/dtype.h"

// Singular values and eigenvalues by LAPACK, for stacks of matrices in C order. A matrix that fails
// or is not finite gets results of NaN. All throw DeviceError if the library is missing.

namespace heddle::runtime::lapack {

/// Results of a singular value decomposition: u [batch, m, m or k], s [batch, k], vh [batch, n or
/// k, n] for k = min(m, n). Without vectors, u and vh are null.
struct SvdResults {
  void* u = nullptr;
  void* s = nullptr;
  void* vh = nullptr;
  std::int32_t* statuses = nullptr;  ///< 0, positive if values did not converge, -4 for NaN
};
/// Of [batch, m, n] matrices, which have elements. `full`: u and vh are square.
void svd(DType dtype, bool full, std::int64_t m, std::int64_t n, std::int64_t batch,
         const void* matrices, const SvdResults& results);

/// Eigenvalues `w`, [batch, n], of Hermitian matrices, of which one triangle is read. With
/// `vectors`, the matrices are replaced by eigenvectors: row j is the conjugate of vector j. The
/// matrices are overwritten. Statuses: 0, positive if values did not converge; -4 for a matrix that
/// is not finite, without `vectors`.
void eigh(DType dtype, bool upper, bool vectors, std::int64_t n, std::int64_t batch, void* matrices,
          void* w, std::int32_t* statuses);

/// Complex eigenvalues `w`, [batch, n], of matrices that are given transposed. The matrices are
/// overwritten. `rows`, if not null, gets the eigenvectors as rows, in the dtype of the matrices:
/// for real ones, a pair of conjugates is packed as real and imaginary part. Statuses: 0, positive
/// if values did not converge, -4 for a matrix that is not finite.
void eig(DType dtype, std::int64_t n, std::int64_t batch, void* matrices, void* w, void* rows,
         std::int32_t* statuses);

inline constexpr std::int32_t not_finite = -4;

/// Below this extent, OpenBLAS's threads cost more than they save.
inline constexpr std::int64_t threads_pay = 128;

struct Elements {
  bool nan = false, infinity = false;
  bool finite() const { return !nan && !infinity; }
};
/// Examines `count` elements.
Elements kinds_of(DType dtype, const void* elements, std::int64_t count);
/// Sets `count` elements to NaN.
void set_nan(DType dtype, void* elements, std::int64_t count);

/// Memory that one thread's calls of LAPACK share.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : bytes_(new std::byte[bytes > 0 ? bytes : 1]) {}
  template <class T = void>
  T* get() const {
    return reinterpret_cast<T*>(bytes_.get());
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};
/// The size of a work array that LAPACK answered in the array's first element.
std::int64_t answered_size(DType dtype, const void* work);

}  // namespace heddle::runtime::lapack

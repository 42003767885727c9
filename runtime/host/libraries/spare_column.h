#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heddle/dtype.h"

#include "runtime/host/libraries/lapack_spectral.h"

namespace heddle::runtime::lapack {

/// Gives LAPACK complex matrices that are followed by one more column of memory.
///
/// OpenBLAS's cgemv and zgemv read one element beyond a vector whose elements are not adjacent,
/// where GCC 12 compiled them (GCC's bug 107451; Debian 12's package does). The value is not used,
/// but the address may not be mapped. In gesdd and heevd such vectors are rows of a matrix, so the
/// element is in the column after it. In a stack that column is the next matrix's; the last matrix
/// is copied to memory that has one.
class SpareColumn {
 public:
  /// For matrices in column-major order.
  SpareColumn(DType dtype, std::int64_t rows, std::int64_t columns)
      : bytes_(static_cast<std::size_t>(rows * columns) * size_of(dtype)),
        copied_bytes_(bytes_ + static_cast<std::size_t>(rows) * size_of(dtype)),
        needed_(is_complex(dtype)) {}

  /// Returns function(memory) for the memory of `matrix`, or of a copy that is copied back.
  /// `last`: no other matrix follows. A null matrix is passed on.
  template <class Function>
  auto with(void* matrix, bool last, const Function& function) const {
    if (!needed_ || !last || matrix == nullptr) return function(matrix);
    const Workspace copy(copied_bytes_);
    std::memcpy(copy.get(), matrix, bytes_);
    const auto result = function(copy.get());
    std::memcpy(matrix, copy.get(), bytes_);
    return result;
  }

 private:
  std::size_t bytes_, copied_bytes_;
  bool needed_;
};

}  // namespace heddle::runtime::lapack

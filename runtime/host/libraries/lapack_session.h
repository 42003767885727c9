#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "heddle/dtype.h"

#include "runtime/base/thread_pool.h"
#include "runtime/host/libraries/lapack_api.h"
#include "runtime/host/libraries/openblas.h"

namespace heddle::runtime::lapack {

/// While an instance lives, LAPACK may be called.
class Session {
 public:
  /// Throws DeviceError if the library is missing or the process exits.
  explicit Session(DType dtype);
  const Routines& routines() const { return *routines_; }

 private:
  openblas::Inside inside_;
  const Routines* routines_;
};

/// Throws DeviceError for an extent that LAPACK cannot take.
int checked_extent(std::int64_t extent);

/// Matrix number `index` of a stack of matrices of `bytes` bytes.
inline std::byte* matrix_at(void* matrices, std::int64_t index, std::size_t bytes) {
  return static_cast<std::byte*>(matrices) + static_cast<std::size_t>(index) * bytes;
}
inline const std::byte* matrix_at(const void* matrices, std::int64_t index, std::size_t bytes) {
  return static_cast<const std::byte*>(matrices) + static_cast<std::size_t>(index) * bytes;
}

/// From this extent on, OpenBLAS itself splits a matrix among threads.
inline constexpr std::int64_t large = 64;
/// The number of multiplications that justify a thread.
inline constexpr double worth_a_thread = 1 << 18;

/// Calls function(begin, end) for parts of a stack of `batch` matrices, on several threads if the
/// matrices are small. `extent` is a matrix's smaller extent, `multiplications` the work for one
/// matrix.
template <class Function>
void for_parts(std::int64_t batch, std::int64_t extent, double multiplications,
               const Function& function) {
  if (extent >= large || batch == 1) return function(0, batch);
  const double grain = worth_a_thread / std::max(multiplications, 1.0);
  parallel_for(0, batch, std::max(static_cast<std::int64_t>(grain), std::int64_t{1}), function);
}

/// The same for routines whose own threads pay only from the extent `threads_pay` on.
template <class Function>
void for_parts_alone(std::int64_t batch, std::int64_t extent, std::int64_t threads_pay,
                     double multiplications, const Function& function) {
  std::optional<openblas::WithoutThreads> alone;
  if (extent < threads_pay) alone.emplace();
  for_parts(batch, alone ? 0 : extent, multiplications, function);
}

}  // namespace heddle::runtime::lapack

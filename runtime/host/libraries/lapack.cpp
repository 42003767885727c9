#include "runtime/host/libraries/lapack.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/base/thread_pool.h"
#include "runtime/host/libraries/openblas.h"

namespace heddle::runtime::lapack {

namespace {

/// From this extent on, OpenBLAS itself splits a matrix among threads.
constexpr std::int64_t large = 64;
/// Number of multiplications that justify a thread.
constexpr std::int64_t worth_a_thread = 1 << 18;

openblas::PotrfFunction<void> potrf_of(const openblas::Api& api, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return api.spotrf;
    case DType::f64:
      return api.dpotrf;
    case DType::c64:
      return api.cpotrf;
    case DType::c128:
      return api.zpotrf;
    default:
      throw InternalError(fmt::format("LAPACK does not factorise {}", name_of(dtype)));
  }
}

const openblas::Api& api_for(const openblas::Inside& inside) {
  if (!inside.entered) throw DeviceError("matrices cannot be factorised while the process exits");
  const openblas::Api& api = openblas::loaded();
  const std::string& reason = api.reason.empty() ? api.lapack_reason : api.reason;
  if (!reason.empty())
    throw DeviceError(fmt::format("matrices cannot be factorised on the CPU: {}", reason));
  return api;
}

}  // namespace

void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos) {
  if (n > std::numeric_limits<int>::max())
    throw DeviceError(fmt::format("LAPACK takes matrices of up to 2^31 - 1 rows, not {}", n));
  const openblas::Inside inside;
  const auto potrf = potrf_of(api_for(inside), dtype);
  const auto bytes = static_cast<std::size_t>(n * n) * size_of(dtype);
  const auto factorise = [=](std::int64_t begin, std::int64_t end) {
    // LAPACK is column-major: our lower triangle is the upper one of the transpose, and L^T its
    // factor.
    const char triangle = upper ? 'L' : 'U';
    const int extent = static_cast<int>(n);
    for (std::int64_t i = begin; i < end; ++i) {
      std::byte* const matrix =
          static_cast<std::byte*>(matrices) + static_cast<std::size_t>(i) * bytes;
      potrf(&triangle, &extent, matrix, &extent, infos + i, 1);
    }
  };
  if (n >= large) return factorise(0, batch);
  const std::int64_t work = std::max<std::int64_t>(n * n * n / 3, 1);
  parallel_for(0, batch, std::max<std::int64_t>(worth_a_thread / work, 1), factorise);
}

}  // namespace heddle::runtime::lapack

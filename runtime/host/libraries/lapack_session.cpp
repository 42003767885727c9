#include "runtime/host/libraries/lapack_session.h"

#include <limits>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::runtime::lapack {

namespace {

const Api& api_for(const openblas::Inside& inside) {
  if (!inside.entered) throw DeviceError("matrices cannot be factorised while the process exits");
  const openblas::Api& api = openblas::loaded();
  const std::string& reason = api.reason.empty() ? api.lapack_reason : api.reason;
  if (!reason.empty())
    throw DeviceError(fmt::format("matrices cannot be factorised on the CPU: {}", reason));
  return api.lapack;
}

const Routines& routines_of(const Api& api, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return api.f32;
    case DType::f64:
      return api.f64;
    case DType::c64:
      return api.c64;
    case DType::c128:
      return api.c128;
    default:
      throw InternalError(fmt::format("LAPACK has no routines for {}", name_of(dtype)));
  }
}

}  // namespace

Session::Session(DType dtype) : routines_(&routines_of(api_for(inside_), dtype)) {}

int checked_extent(std::int64_t extent) {
  if (extent > std::numeric_limits<int>::max())
    throw DeviceError(fmt::format("LAPACK takes extents of up to 2^31 - 1, not {}", extent));
  return static_cast<int>(extent);
}

}  // namespace heddle::runtime::lapack

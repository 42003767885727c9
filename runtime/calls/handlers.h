#pragma once

#include <string_view>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// The backend's handler of this name (passes::CallStep::handler). Throws InternalError if there is
/// none.
const CallHandler& call_handler(std::string_view name, DeviceKind kind);

/// The handler for matrix products, which uses the device's BLAS.
const CallHandler& gemm_call_handler();

}  // namespace heddle::runtime

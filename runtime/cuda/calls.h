#pragma once

#include <string_view>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime::cuda {

/// The handler that runs calls of this name on GPUs; null where there is none.
const CallHandler* call_handler(std::string_view name);

}  // namespace heddle::runtime::cuda

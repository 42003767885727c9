#pragma once

#include <string_view>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime::host {

/// The handler that runs calls of this name on the CPU; null where there is none.
const CallHandler* call_handler(std::string_view name);

}  // namespace heddle::runtime::host

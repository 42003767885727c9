#pragma once

#include <string_view>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime::host {

/// The handler for library calls of this name on the CPU; null if there is none.
const CallHandler* call_handler(std::string_view name);

}  // namespace heddle::runtime::host

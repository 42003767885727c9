#pragma once

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// Runs collectives by the communicator of the step's name on the stream's device.
const CallHandler& collective_handler();

}  // namespace heddle::runtime

#pragma once

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// linalg.permutation_of_pivots, computed by the host: the pivots of a GPU are copied to it and the
/// order back, so that the call waits for the stream.
const CallHandler& permutation_handler();

}  // namespace heddle::runtime

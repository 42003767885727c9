#pragma once

#include "runtime/calls/call_handler.h"

// Handlers of calls on matrices, by LAPACK. Each is one file in this folder.

namespace heddle::runtime::host {

const CallHandler& cholesky_handler();

}  // namespace heddle::runtime::host

#pragma once

#include "runtime/cuda/libraries/cublaslt_abi.h"

namespace heddle::runtime::cublaslt {

/// The library's functions. Call only if unavailable_reason() of cublaslt.h is empty.
const Api& api();

/// Throws DeviceError with the call's name unless the status is success.
void check(Status status, const char* call);
/// Whether the status means that the library does not support the request, rather than a failure.
bool refuses(Status status);

/// One handle for each GPU, shared by all threads; null if the library cannot be initialised. Never
/// destroyed, because the driver may already be unloaded by then.
Handle handle_of(int ordinal);

}  // namespace heddle::runtime::cublaslt

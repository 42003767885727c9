#pragma once

#include "runtime/cuda/libraries/cublaslt_abi.h"

namespace heddle::runtime::cublaslt {

/// The library's functions, once unavailable_reason() of cublaslt.h is empty.
const Api& api();

/// Throws DeviceError, naming the call, unless the status is success.
void check(Status status, const char* call);
/// That the library does not do what it is asked for, rather than failing at it.
bool refuses(Status status);

/// One a GPU, for any number of threads; null where the library does not start. Never destroyed, as
/// the driver may be gone by then.
Handle handle_of(int ordinal);

}  // namespace heddle::runtime::cublaslt

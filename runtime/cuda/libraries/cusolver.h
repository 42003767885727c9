#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "heddle/dtype.h"

#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

// cuSOLVER, for matrices in C order on the stream's GPU.

namespace heddle::runtime::cusolver {

/// Why it cannot be used; empty if it can.
const std::string& unavailable_reason();

/// Allocates a workspace on the stream's device.
using Allocate = std::function<BufferRef(std::size_t bytes)>;

/// Enqueues a factorisation as defined by lapack::cholesky. Throws DeviceError if the library is
/// missing or fails.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos, const Allocate& allocate, const Stream& stream);

}  // namespace heddle::runtime::cusolver

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "heddle/dtype.h"

#include "runtime/device/memory.h"
#include "runtime/device/stream.h"

// cuSOLVER, of matrices in C order on the stream's GPU.

namespace heddle::runtime::cusolver {

/// Why it cannot be used; empty where it can.
const std::string& unavailable_reason();

/// A workspace on the stream's device.
using Allocate = std::function<BufferRef(std::size_t bytes)>;

/// Enqueues what lapack::cholesky says. Throws DeviceError when the library is missing or fails.
void cholesky(DType dtype, bool upper, std::int64_t n, std::int64_t batch, void* matrices,
              std::int32_t* infos, const Allocate& allocate, const Stream& stream);

}  // namespace heddle::runtime::cusolver

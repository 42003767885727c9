#pragma once

#include <memory>

#include "runtime/device/backend.h"

namespace heddle::runtime::cuda {

/// Ends the capture from a stream and instantiates its graph. The capture is ended also if this
/// throws. Throws DeviceError.
std::unique_ptr<CapturedWork> end_capture(const Stream& stream);

}  // namespace heddle::runtime::cuda

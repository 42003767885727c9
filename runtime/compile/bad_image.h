#pragma once

#include <string>

#include "heddle/error.h"

namespace heddle::runtime {

/// Thrown for bytes that are not code for the device: damaged, or built for another device or a
/// newer driver.
class BadImage final : public DeviceError {
 public:
  BadImage(const std::string& what, bool damaged) : DeviceError(what), damaged(damaged) {}
  bool damaged;
};

}  // namespace heddle::runtime

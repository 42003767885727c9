#pragma once

#include <string>

#include "heddle/error.h"

namespace heddle::runtime {

/// Bytes that are no code for the device: damaged, or made for another device or a newer driver.
class BadImage final : public DeviceError {
 public:
  BadImage(const std::string& what, bool damaged) : DeviceError(what), damaged(damaged) {}
  bool damaged;
};

}  // namespace heddle::runtime

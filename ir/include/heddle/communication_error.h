#pragma once

#include "heddle/error.h"

namespace heddle {

/// An exchange among processes failed, or took longer than the communicator's time-out: a process
/// has ended, made other exchanges, or made them in another order. The communicator cannot be used
/// any more.
class CommunicationError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace heddle

#pragma once

#include "heddle/distributed.h"

#include "runtime/libraries/communicator.h"

namespace heddle::distributed {

/// Internal access to a Communicator.
struct Access {
  static Communicator make(std::shared_ptr<runtime::Communicator> communicator) {
    return Communicator(std::move(communicator));
  }
  static const std::shared_ptr<runtime::Communicator>& of(const Communicator& communicator) {
    return communicator.communicator_;
  }
};

/// While it lives, exchanges of this thread are only collected; end() starts them all:
/// ncclGroupStart and ncclGroupEnd. Throw DeviceError, CommunicationError.
class Group {
 public:
  Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  /// Ends the group. Errors are lost; call end().
  ~Group();
  void end();
  /// The same without an object.
  static void begin();
  static void finish();
  /// Whether one of this thread is open.
  static bool is_open();

 private:
  bool open_ = true;
};

}  // namespace heddle::distributed

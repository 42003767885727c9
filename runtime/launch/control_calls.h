#pragma once

#include "runtime/calls/call_handler.h"

// Handlers of the calls that run programs of their own: control.scan, control.while and
// control.switch, the same for all devices. Each step of a loop enqueues the body's actions. The
// carries stay in two sets of buffers, which the steps use in turn; bodies that update a carry in
// place need only one.

namespace heddle::runtime {

/// Does not wait for the device.
const CallHandler& scan_handler();
/// Waits for the device before each step, to read the condition. Throws ValueError on a GPU under
/// HEDDLE_NO_SYNC=1, and DeviceError if the stream is being captured.
const CallHandler& while_handler();
/// Waits once, to read the index. Throws as while_handler() does.
const CallHandler& switch_handler();

}  // namespace heddle::runtime

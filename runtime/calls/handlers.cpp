#include "runtime/calls/handlers.h"

#include <fmt/format.h>

#include "heddle/error.h"

#include "runtime/device/backend.h"

namespace heddle::runtime {

const CallHandler& call_handler(std::string_view name, DeviceKind kind) {
  const Backend& backend = backend_of(kind);
  if (const CallHandler* const handler = backend.call_handler(name)) return *handler;
  throw InternalError(
      fmt::format("no handler runs the call '{}' on {}", name, backend.device_noun()));
}

}  // namespace heddle::runtime

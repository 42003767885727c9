#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "runtime/calls/call_handler.h"

namespace heddle::runtime {

/// One row of a backend's table of handlers.
struct NamedHandler {
  std::string_view name;
  const CallHandler& (*handler)();
};

/// The handler of this name; null if the table has none.
inline const CallHandler* find_handler(std::span<const NamedHandler> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &NamedHandler::name);
  return found == table.end() ? nullptr : &found->handler();
}

}  // namespace heddle::runtime

#include "runtime/calls/call_handler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace heddle::runtime {

std::string PreparedCall::operands(const std::vector<std::string>& types) const {
  return fmt::format("{}", fmt::join(types, ", "));
}

}  // namespace heddle::runtime

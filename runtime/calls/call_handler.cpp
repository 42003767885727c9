#include "runtime/calls/call_handler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/error.h"

namespace heddle::runtime {

void CallBuffers::run(const ActionList&, ArgumentSlots&, const CallBuffers&) const {
  throw InternalError("a library call that runs a part of its program is run outside of one");
}

std::string PreparedCall::operands(const std::vector<std::string>& types) const {
  return fmt::format("{}", fmt::join(types, ", "));
}

}  // namespace heddle::runtime

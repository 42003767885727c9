#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// What the exception says of an item that failed, with the user's line.
using FailureMessage = std::shared_ptr<const std::function<std::string(std::int64_t item)>>;

/// Which exception a failure is.
enum class FailureKind : std::uint8_t { linalg, index };

/// A call that may fail on the device: `status`, i64 and 0-d, is computed with its results, and is
/// -1 or which item of a batch failed first.
struct Check {
  NodeRef status;
  FailureMessage message;
  FailureKind kind = FailureKind::linalg;
};

}  // namespace heddle::frontend

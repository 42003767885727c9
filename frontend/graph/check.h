#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Gives the text of the exception, with the caller's line, for the item of the batch that failed.
using FailureMessage = std::shared_ptr<const std::function<std::string(std::int64_t item)>>;

/// The exception type of a failure.
enum class FailureKind : std::uint8_t { linalg, index };

/// A call that may fail on the device. `status` (i64, 0-d) is computed with the call's results. It
/// is -1, or the index of the first item of a batch that failed.
struct Check {
  NodeRef status;
  FailureMessage message;
  FailureKind kind = FailureKind::linalg;
};

}  // namespace heddle::frontend

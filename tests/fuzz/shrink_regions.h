#pragma once

#include <vector>

#include "ir/types/call.h"

namespace heddle::test {

/// The loop or branch with one node less in one of its regions, or in those of a loop in it; each
/// way to do so. None for other calls.
std::vector<ir::CallRef> simpler_calls(const ir::CallData& call);

}  // namespace heddle::test

#pragma once

#include <cstdint>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Which starts of a slice or slice_update are arguments of programs: those that have changed at
/// this place of the program before, as x(i) does in a loop over i. A bit for each of the
/// first 32 axes; the others are never open.
std::uint32_t open_starts(ir::Op op, const Site& site, const ir::Attributes& region);

}  // namespace heddle::frontend

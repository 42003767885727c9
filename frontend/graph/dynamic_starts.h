#pragma once

#include <cstdint>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Returns the starts of a slice or slice_update that are program arguments, one bit for each of
/// the first 32 axes. These are the starts that have changed before at this call site, as x(i) does
/// in a loop over i. Later axes are never open.
std::uint32_t dynamic_starts(ir::Op op, const Site& site, const ir::Attributes& region);

}  // namespace heddle::frontend

#pragma once

#include <cstdint>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// The starts of a slice or slice_update that become arguments of the program: bit k is set for
/// axis k, for the first 32 axes. A start becomes an argument when it changes at its call site, as
/// in a loop over i that reads x(i). The starts of further axes stay constants.
std::uint32_t dynamic_starts(ir::Op op, const Site& site, const ir::Attributes& region);

}  // namespace heddle::frontend

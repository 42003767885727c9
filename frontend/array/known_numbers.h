#pragma once

#include <optional>
#include <span>

#include "heddle/array.h"

#include "ir/types/op.h"

namespace heddle::frontend {

/// The result of an elementwise op on numbers that are known, if all of them have one dtype and
/// every target gives the same result. Nothing is recorded, and no scalar becomes a node. nullopt
/// for anything else, also inside a trace: then the op is recorded as usual, which may fold it too.
std::optional<Array> of_known_numbers(ir::Op op, std::span<const Operand* const> operands);

}  // namespace heddle::frontend

#pragma once

#include <optional>
#include <span>

#include "ir/types/attributes.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// An elementwise op on constants, where every target gives the same: exactly rounded ops and
/// casts. Operands are their bits as constants hold them; `operand_dtype` is theirs, of select the
/// last two's and of ldexp the first's. Nullopt for other ops, and for results that are NaN, whose
/// bits differ between targets.
std::optional<ElementBits> fold(Op op, DType operand_dtype, std::span<const ElementBits> operands,
                                const Attributes& attributes);

}  // namespace heddle::ir

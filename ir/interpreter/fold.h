#pragma once

#include <optional>
#include <span>

#include "ir/types/attributes.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// Evaluates an elementwise op on constants, if all targets give the same result: exactly rounded
/// ops and casts. `operands` are the constants' bits; `operand_dtype` is their dtype (for select
/// that of the last two, for ldexp that of the first). nullopt for other ops, and if the result is
/// NaN, because NaN bits differ between targets.
std::optional<ElementBits> fold(Op op, DType operand_dtype, std::span<const ElementBits> operands,
                                const Attributes& attributes);

}  // namespace heddle::ir

#pragma once

#include <span>

#include "ir/interpreter/host_array.h"
#include "ir/types/op.h"

namespace heddle::ir::interpreter {

/// The result, of `type`, of any op except parameters, calls and results of calls.
HostArray evaluate(Op op, std::span<const HostArray* const> operands, const Attributes& attributes,
                   Type type);

}  // namespace heddle::ir::interpreter

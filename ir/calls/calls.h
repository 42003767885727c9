#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "heddle/precision.h"

#include "ir/types/attributes.h"
#include "ir/types/call.h"

// The registry of call ops. An op is one file here that defines its function below, and a row in
// registry.cpp.

namespace heddle::ir {

/// Every call op, in the order of the registry.
std::span<const CallOp* const> call_ops();
/// The call op of a name in the text form; null when there is none.
const CallOp* find_call_op(std::string_view name);
/// Adds an op, of a user's kernel or a test, which must last as long as the process. Throws
/// ValueError when its name is taken.
void register_call_op(const CallOp& op);

/// Attributes of a call node.
Attributes call_attributes(const CallOp& op, std::initializer_list<NamedAttribute> attributes = {},
                           std::vector<Region> regions = {});

namespace calls {

/// NumPy's matmul of operands of rank >= 2, batch axes broadcast. `precision` is a choice of f32
/// and c64.
const CallOp& matmul();
/// NumPy's sort along `axis`: ascending, stable, NaN last, zeros of either sign equal.
const CallOp& sort();
/// i64: where along `axis` each element of the sorted array comes from.
const CallOp& argsort();
/// NumPy's linalg.cholesky of the lower, or `upper`, triangles of square matrices: the factors, 0
/// in the other triangle; and per matrix in i32 0, or the order of its first leading minor that is
/// not positive. Then the factor is NaN.
const CallOp& cholesky();

}  // namespace calls

/// Of a matmul.
Precision precision_of(const CallData& product);
/// Attributes of a matmul; those of one precision share their data.
Attributes matmul_attributes(Precision precision);

}  // namespace heddle::ir

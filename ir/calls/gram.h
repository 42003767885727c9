#pragma once

#include "ir/types/call.h"

namespace heddle::ir::calls {

/// The products of the transposes of parts of a matrix's rows with the same rows of another matrix,
/// or, with one operand, of the same matrix: for [k,m] and [k,n] a result of [parts,m,n]. Part p
/// has the rows from k * p / parts on. Only lowering makes it, of a product of the transpose of a
/// long matrix with a long matrix.
const CallOp& gram_parts();

}  // namespace heddle::ir::calls

#pragma once

#include "ir/types/call.h"

namespace heddle::ir::calls {

/// The products of the transposes of parts of a matrix's rows with these parts: for [k,m] a result
/// of [parts,m,m]. Part p has the rows from k * p / parts on. Only lowering makes it, of a product
/// of the transpose of a long matrix with itself.
const CallOp& gram_parts();

}  // namespace heddle::ir::calls

#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph/scanner.h"
#include "ir/types/call.h"
#include "ir/types/type.h"

namespace heddle::ir {

// Parsers for types and values of the text form. All throw ParseError with line and column.

DType scan_dtype(Scanner& scan);
/// "f32[n,64]"
Type scan_type(Scanner& scan);
/// "[n,64]"
Dims scan_dims(Scanner& scan);
/// "[0,-1]"
std::vector<std::int64_t> scan_integers(Scanner& scan);
/// A value of the same type as `like`.
AttributeValue scan_value(Scanner& scan, const AttributeValue& like);

}  // namespace heddle::ir

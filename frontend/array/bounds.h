#pragma once

#include <string>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// "index 7 is out of bounds for axis 0 of f32[3,4], whose extent is 3"
std::string out_of_bounds(std::int64_t index, std::size_t axis, const std::string& array,
                          ir::Dim extent);

/// Under HEDDLE_CHECK_BOUNDS=1, IndexError if one of the integers of `index` is no place of an axis
/// of `node`: at once, which evaluates and waits; in a trace, by the next wait after a call. `what`
/// names the function.
void check_bounds(const char* what, const NodeRef& index, const NodeRef& node, std::size_t axis,
                  const SourceLocation& where);

}  // namespace heddle::frontend

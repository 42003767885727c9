#pragma once

#include <string>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// "index 7 is out of bounds for axis 0 of f32[3,4], whose extent is 3"
std::string out_of_bounds(std::int64_t index, std::size_t axis, const std::string& array,
                          ir::Dim extent);

/// If HEDDLE_CHECK_BOUNDS is 1, checks the integers of `index` against the extent of an axis of
/// `node` and throws IndexError for one out of range. Outside a trace it evaluates, waits and
/// throws immediately; in a trace the next wait after a call throws. `what` is the function's name.
void check_bounds(const char* what, const NodeRef& index, const NodeRef& node, std::size_t axis,
                  const SourceLocation& where);

/// Checks indices that the host knows, by the least and the greatest of them, against the extent of
/// an axis of `node`: throws IndexError for one out of range. If the extent is a symbol of a traced
/// function, the next wait after a call throws.
void check_known(const char* what, const NodeRef& node, std::size_t axis, std::int64_t least,
                 std::int64_t greatest, const SourceLocation& where);

}  // namespace heddle::frontend

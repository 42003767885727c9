#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// True if set_linalg_errors(LinAlgErrors::ignore) is in effect.
bool ignores_failures();

/// Reports failures of a call. `infos`, i32, is 0 for each item of a batch that succeeded. As
/// set_linalg_errors() says, throws now or at the next wait: a LinAlgError with `message` for the
/// first failed item, its index in C order, and the user's line. To throw now, it evaluates
/// `value`, a result of the same call. `what` names the call. While this thread's work is captured
/// into a CUDA graph, nothing is checked.
void report_failures(const char* what, const NodeRef& value, const NodeRef& infos,
                     std::function<std::string(std::int64_t item)> message,
                     const SourceLocation& where);

/// "matrix 3" or "matrix [1,2]" of a batch, or "the matrix" without a batch. For a batch with
/// symbolic extents, the index in C order: "matrix 5 of [n,m]".
std::string item_name(const ir::Shape& batch, std::int64_t item);

/// The index of the first nonzero item, in C order, or -1, as i64. There may be no items.
NodeRef first_failure(const NodeRef& infos, const SourceLocation& where);

}  // namespace heddle::frontend

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Whether set_linalg_errors(LinAlgErrors::ignore) holds.
bool ignores_failures();

/// For calls that may fail: `infos`, i32, has for each item of a batch 0 where it did not. Raises,
/// or has the next wait raise, as set_linalg_errors() says: LinAlgError with `message` of the first
/// item that failed, its index in C order, and the user's line. `value`, of the same call, is
/// evaluated where it raises at once; `what` names the call. While this thread's work is captured
/// into a CUDA graph nothing is looked at.
void report_failures(const char* what, const NodeRef& value, const NodeRef& infos,
                     std::function<std::string(std::int64_t item)> message,
                     const SourceLocation& where);

/// "matrix 3" of a batch, or "matrix [1,2]", or "the matrix" where there is no batch. Of a batch
/// with symbols the number in C order: "matrix 5 of [n,m]".
std::string item_name(const ir::Shape& batch, std::int64_t item);

}  // namespace heddle::frontend

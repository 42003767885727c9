#pragma once

#include "ir/graph/graph.h"

namespace heddle::passes {

/// `value`, with NaN in the items of its batch whose i32 status is not 0. Its first axes are those
/// of `status`.
ir::ValueId nan_where_failed(ir::Graph& graph, ir::ValueId value, ir::ValueId status,
                             ir::Location location);

}  // namespace heddle::passes

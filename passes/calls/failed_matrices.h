#pragma once

#include "ir/graph/graph.h"

namespace heddle::passes {

/// `value`, with NaN in the items of its batch whose i32 status is not 0. Its first axes are those
/// of `status`.
ir::ValueId nan_where_failed(ir::Graph& graph, ir::ValueId value, ir::ValueId status,
                             ir::Location location);

/// `value`, with NaN in the items of its batch whose matrix contains NaN. The batches of `value`
/// and `matrices` broadcast to that of `value`.
ir::ValueId nan_where_nan(ir::Graph& graph, ir::ValueId value, ir::ValueId matrices,
                          ir::Location location);

/// The statuses, with 0 for matrices that contain NaN: their factors are NaN, which is no failure.
ir::ValueId fine_where_nan(ir::Graph& graph, ir::ValueId status, ir::ValueId matrices,
                           ir::Location location);

}  // namespace heddle::passes

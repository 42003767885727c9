#pragma once

#include <cstdint>

#include "ir/graph/graph.h"

namespace heddle::passes {

/// The most elements of a row whose reduction may be computed as arithmetic, without a loop.
inline constexpr std::int64_t most_unrolled = 32;

/// The most iterations of an outer loop that a thread of a reduction kernel takes at once, to share
/// the work that is the same in all of them (plan/shared_iterations.h).
inline constexpr std::int64_t most_unrolled_loop = 4;

/// Whether a kernel may compute a reduction as arithmetic on the elements of its row: there are few
/// of them, and their number is constant.
bool can_unroll(const ir::Graph& graph, ir::ValueId node);

/// The number of elements of a row. It must be constant.
std::int64_t row_elements(const ir::Graph& graph, ir::ValueId reduction);

/// The number of operations from which the elements of a reduction are computed, up to other
/// reductions, calls and the like; counts no further than `most`.
std::int64_t operations_behind(const ir::Graph& graph, ir::ValueId reduction, std::int64_t most);

}  // namespace heddle::passes

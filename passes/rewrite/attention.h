#pragma once

#include "ir/graph/graph.h"
#include "ir/types/target.h"

namespace heddle::passes {

/// Replaces softmax(scale * q k^T) v in float16 or bfloat16, written as products, a maximum,
/// exponentials, a sum and a quotient, by ir::calls::attention(): one kernel, without the matrix of
/// scores in memory. Scores and weights are then not rounded to the dtype. Only where the target
/// has such kernels, nothing else uses what lies between, and the kernel is not slower.
ir::Graph find_attention(const ir::Graph& graph, const ir::Target& target);

}  // namespace heddle::passes

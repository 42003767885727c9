#pragma once

#include <cstdint>

#include "ir/graph/graph.h"
#include "ir/types/target.h"

namespace heddle::passes {

/// The queries of a block of an attention kernel.
inline constexpr int attention_block_rows = 128;
/// The most columns that its queries and keys have, and its values. They are multiples of
/// `attention_piece`, the elements that a thread copies at once.
inline constexpr std::int64_t most_attention_columns = 128, attention_piece = 8;

/// Replaces softmax(scale * q k^T) v in float16 or bfloat16, written as products, a maximum,
/// exponentials, a sum and a quotient, by ir::calls::attention(): one kernel, without the matrix of
/// scores in memory. Scores and weights are then not rounded to the dtype. Only where the target
/// has such kernels, nothing else uses what lies between, and the kernel is not slower.
ir::Graph find_attention(const ir::Graph& graph, const ir::Target& target);

}  // namespace heddle::passes

#pragma once

#include "ir/types/call.h"

namespace heddle::ir::calls {

/// softmax(map(scale * q k^T)) v, for queries q [...,n,d], keys k [...,m,d] and values v [...,m,e]
/// with the same batch axes, in float16 or bfloat16; the softmax is along the keys, of which there
/// is at least one. `map` is the call's region, if it has one: it takes the scores, f32 [...,n,m],
/// and the further operands, and returns other scores. Scores and weights are not rounded to the
/// dtype. Only passes/rewrite/attention.h makes it.
const CallOp& attention();

}  // namespace heddle::ir::calls

#pragma once

#include "passes/groups/epilogue.h"

namespace heddle::passes {

/// Total bytes of a node's operands and result: what a call moves if it reads and writes each once.
ir::Dim array_bytes(const ir::Graph& graph, ir::ValueId node);
/// As above, for a product with its epilogue; `stored` is the result.
ir::Dim array_bytes(const ir::Graph& graph, ir::ValueId stored, const Epilogue& epilogue);

}  // namespace heddle::passes

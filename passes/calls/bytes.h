#pragma once

#include "passes/groups/epilogue.h"

namespace heddle::passes {

/// Bytes of a node's operands and its result: what a call for it moves if it reads and writes each
/// once.
ir::Dim array_bytes(const ir::Graph& graph, ir::ValueId node);
/// The same of a product with its epilogue, whose result is `stored`.
ir::Dim array_bytes(const ir::Graph& graph, ir::ValueId stored, const Epilogue& epilogue);

}  // namespace heddle::passes

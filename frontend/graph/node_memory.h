#pragma once

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// A node in memory of destroyed nodes of this thread, if there are any. Nodes are made one by one
/// and destroyed in batches, of which malloc keeps only a few at hand.
Node* new_node();
/// Takes the memory of a destroyed node.
void free_node_memory(void* memory);

}  // namespace heddle::frontend

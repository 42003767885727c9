#pragma once

#include <cstddef>
#include <vector>

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// A node whose operands are visited, and how many of them have been.
struct DepthFirstFrame {
  Node* node;
  std::size_t next;
};

/// Depth-first traversal of the graph under `root`, operands before users, without recursion. Calls
/// enter(node) once for the root and once for each use of a node; it returns true if the operands
/// are to be visited. Calls leave(node) after the operands. `stack` is empty before and after; its
/// memory serves the next traversal.
template <class Enter, class Leave>
void depth_first(Node& root, std::vector<DepthFirstFrame>& stack, const Enter& enter,
                 const Leave& leave) {
  if (enter(root)) stack.push_back({&root, 0});
  while (!stack.empty()) {
    DepthFirstFrame& frame = stack.back();
    const auto operands = frame.node->operands();
    if (frame.next == operands.size()) {
      leave(*frame.node);
      stack.pop_back();
      continue;
    }
    Node& operand = *operands[frame.next++];
    if (enter(operand)) stack.push_back({&operand, 0});
  }
}

}  // namespace heddle::frontend

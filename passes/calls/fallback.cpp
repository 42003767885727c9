#include "passes/calls/fallback.h"

#include "passes/groups/cost.h"
#include "passes/groups/index_maps.h"
#include "passes/plan/family.h"

namespace heddle::passes {

std::shared_ptr<const Group> fallback_kernel(const Graph& graph, IndexSpace& space,
                                             const Epilogue& epilogue, std::uint32_t enabled,
                                             const ir::Target& target) {
  auto group = std::make_shared<Group>();
  group->root = epilogue.nodes.front();
  group->families = enabled;
  group->stored = {group->root};
  IndexMap loops;
  group->outer = loops_over(space, graph.shape(group->root), loops);
  group->stored_maps = {loops};
  std::vector<ValueId> nodes = epilogue.nodes;
  nodes.insert(nodes.end(), epilogue.beside.begin(), epilogue.beside.end());
  for (const ValueId node : nodes) {
    // All nodes are elementwise, with at most reshapes in between, so they share one index map.
    Candidate candidate;
    candidate.node = node;
    candidate.maps = {loops};
    std::uint32_t accepting = 0;
    for (std::size_t i = 0; i < families().size(); ++i) {
      const bool asked = (group->families >> i & 1) != 0;
      if (asked && families()[i]->extend(graph, *group, candidate, target).accepted)
        accepting |= 1u << i;
    }
    if (accepting == 0) return nullptr;
    group->families = accepting;
    group->members.push_back(node);
    group->operations += operations_of(graph, node, target);
  }
  return group;
}

}  // namespace heddle::passes

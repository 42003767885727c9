#include <algorithm>

#include "passes/fuse/grouper.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"

namespace heddle::passes {

// Siblings: a node that reads the same data as another group, over the same loops, joins that
// group, so that the data is read once. So does a node that shares producers with the group. The
// group must run before all users of the node, so it does not depend on the node. The node does not
// depend on the group either, because its operands come before all members visited so far.
bool Grouper::try_sibling(ValueId node, const std::vector<std::uint32_t>& users) {
  constexpr std::size_t most_tried = 8;
  std::size_t tried = 0;
  const auto joins = [&](std::uint32_t id, bool alike) {
    const Group& group = result_.groups[id];
    const bool runs_before_users =
        std::all_of(users.begin(), users.end(), [&](std::uint32_t user) { return user < id; });
    return !group.library && !group.in_place && runs_before_users &&
           joins_as_sibling(node, id, alike);
  };
  for (const ValueId operand : graph_.operands(node)) {
    const std::vector<Access>& accesses = accesses_[index_of(operand)];
    for (auto access = accesses.rbegin(); access != accesses.rend() && tried < most_tried;
         ++access, ++tried) {
      if (joins(access->group, false)) return true;
    }
  }
  return std::ranges::any_of(groups_expecting_producers(node),
                             [&](std::uint32_t id) { return joins(id, true); });
}

/// Groups that will probably compute something that the node depends on, nearest first.
std::vector<std::uint32_t> Grouper::groups_expecting_producers(ValueId node) const {
  constexpr std::size_t most_looked_at = 64, most_groups = 4;
  std::vector<ValueId> producers = {node};
  std::vector<std::uint32_t> groups;
  for (std::size_t i = 0; i < producers.size() && groups.size() < most_groups; ++i) {
    for (const ValueId operand : graph_.operands(producers[i])) {
      if (!is_per_element(graph_, operand) ||
          std::ranges::find(producers, operand) != producers.end())
        continue;
      const std::uint32_t group = expecting_[index_of(operand)];
      if (group != none && std::ranges::find(groups, group) == groups.end())
        groups.push_back(group);
      if (producers.size() < most_looked_at) producers.push_back(operand);
    }
  }
  return groups;
}

bool Grouper::joins_as_sibling(ValueId node, std::uint32_t id, bool alike) {
  Group& group = result_.groups[id];
  std::optional<Candidate> candidate = sibling_candidate(node, group);
  if (candidate) candidate->stored = true;
  std::string family, reason;
  if (!candidate || !(alike || reads_alike(node, *candidate, id)) ||
      !ask_families(group, *candidate, family, reason)) {
    return false;
  }
  add_member(id, *candidate, true);
  return true;
}

std::optional<Candidate> Grouper::sibling_candidate(ValueId node, const Group& group) {
  const bool scans = ir::is_scan(graph_.op(node));
  const bool unrolled = !group.unrolled.empty() && group.inner.empty() && unrolls(node);
  const bool walks = scans || (ir::is_reduction(graph_.op(node)) && !unrolled);
  if (walks == group.inner.empty()) return std::nullopt;
  const std::vector<AtomId>& loops = scans ? group.scanned : group.outer;
  IndexSpace& space = *result_.space;
  const ir::Shape shape = loop_shape(graph_, node);
  IndexMap map(shape.size());
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == Dim(1)) continue;
    if (next == loops.size() || !(space.atom(loops[next]).extent == shape[axis]))
      return std::nullopt;
    map[axis] = space.loop(loops[next++]);
  }
  if (next != loops.size()) return std::nullopt;
  Candidate result;
  result.node = node;
  result.maps = {std::move(map)};
  result.unrolled = unrolled;
  std::string reason;
  return fit(std::move(result), group, reason);
}

/// Whether the group reads the same elements as the candidate, in the same order.
bool Grouper::reads_alike(ValueId node, const Candidate& candidate, std::uint32_t id) {
  const Group& group = result_.groups[id];
  for (std::size_t k = 0; k < graph_.operands(node).size(); ++k) {
    const ValueId operand = graph_.operands(node)[k];
    const IndexMap read =
        candidate.unrolled
            ? unrolled_maps(graph_, node, candidate.maps[0]).front()
            : operand_map(*result_.space, graph_, node, k, candidate.maps[0], group.inner);
    for (const Access& access : accesses_[index_of(operand)]) {
      if (access.group != id) continue;
      if (std::find(access.maps.begin(), access.maps.end(), read) != access.maps.end()) return true;
    }
  }
  return false;
}

}  // namespace heddle::passes

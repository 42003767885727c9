#include "passes/fuse/grouper.h"

#include <algorithm>

#include "heddle/error.h"

#include "passes/calls/lowering.h"
#include "passes/fuse/loop_nest_match.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/groups/rotation.h"
#include "passes/groups/small_reductions.h"
#include "passes/plan/families.h"

namespace heddle::passes {

void Grouper::visit(ValueId node) {
  place(node);
  const ir::Op op = graph_.op(node);
  for (const Access& access : accesses_[index_of(node)]) {
    Group& group = result_.groups[access.group];
    const bool joined = !group.members.empty() && group.members.back() == node;
    if (joined || is_view(node) || op == ir::Op::constant) {
      --group.reads;
    } else if (op != ir::Op::parameter) {
      ++group.loads;
    }
  }
}

void Grouper::place(ValueId node) {
  const std::vector<Access>& accesses = accesses_[index_of(node)];
  const ir::Op op = graph_.op(node);
  if (op == ir::Op::result) return want_result(node);
  const bool is_step = op == ir::Op::call && !is_element_call(graph_, node);
  const bool has_results = is_step && wanted_results_.contains(index_of(node));
  if (accesses.empty() && !is_output_[index_of(node)] && !updated_[index_of(node)] && !has_results)
    return;
  const bool read_whole = std::ranges::any_of(accesses, &Access::whole);
  const bool must_store = is_output_[index_of(node)] || read_whole;
  if (op == ir::Op::parameter) {
    // An array is in memory, a scalar is not.
    if (graph_.attributes(node).scalar && must_store) make_group(node);
    return;
  }
  if (is_step) return make_library_group(node);
  if (writes_anywhere(graph_, node) || is_stored_before(node)) return make_group(node);

  std::vector<std::uint32_t> groups;
  for (const Access& access : accesses) groups.push_back(access.group);
  if (walks_memory(graph_, node)) {
    if (!try_sibling(node, groups)) make_group(node);
    return;
  }
  if (op == ir::Op::constant && !must_store) return;
  if (is_view(node) && !must_store) {
    if (is_read_across_items(node)) return make_group(node);
    for (const Access& access : accesses) {
      for (const IndexMap& map : access.maps)
        read_operands(node, access.group, map, access.used_in_inner_loops, access.limit);
    }
    return;
  }
  if (updates_in_place(node)) return make_group(node);
  if (must_store && make_epilogue_group(node)) return;
  if (groups.empty()) {
    if (!try_sibling(node, groups)) make_group(node);
    return;
  }
  const std::uint32_t first_to_run = *std::max_element(groups.begin(), groups.end());
  if (!must_store && groups.size() > 1 && try_duplicate(node, groups)) return;
  if (try_join(node, first_to_run, must_store || groups.size() > 1)) return;
  if (!must_store && make_epilogue_group(node)) return;
  if (!try_sibling(node, groups)) make_group(node);
}

void Grouper::make_group(ValueId node) {
  const auto id = static_cast<std::uint32_t>(result_.groups.size());
  Group group;
  group.root = node;
  group.families = enabled_;
  group.in_place = updates_in_place(node);
  Candidate candidate;
  candidate.node = node;
  candidate.maps.emplace_back();
  IndexSpace& space = *result_.space;
  if (group.in_place) {
    // The base is not read, but an earlier in-place update of it must run first.
    updated_[index_of(graph_.operands(node)[0])] = true;
    IndexMap region;
    group.outer = loops_over(space, graph_.attributes(node).shape, region);
    candidate.maps[0] = std::move(region);
  } else if (writes_anywhere(graph_, node)) {
    group.outer = loops_over(space, scatter_region(graph_, node), candidate.maps[0]);
  } else if (const std::optional<ValueId> call = transposed_call_below(node)) {
    IndexMap map;
    group.outer = loops_over(space, graph_.shape(*call), map);
    candidate.maps[0] = reshape_map(space, map, graph_.shape(*call), graph_.shape(node));
  } else if (const std::optional<ir::Shape> rows = rows_before_reshape(node)) {
    IndexMap map;
    group.outer = loops_over(space, *rows, map);
    candidate.maps[0] = reshape_map(space, map, *rows, graph_.shape(node));
  } else {
    group.outer = loops_over(space, loop_shape(graph_, node), candidate.maps[0]);
  }
  std::string family, reason;
  std::optional<Candidate> fitted = fit(candidate, group, reason);
  if (fitted && is_better_unrolled(group, *fitted)) {
    candidate.unrolled = true;
    fitted = std::move(candidate);
  }
  if (!fitted) {
    throw InternalError(std::string(info(graph_.op(node)).name) +
                        " does not fit its own loops: " + reason);
  }
  candidate = std::move(*fitted);
  candidate.stored = true;
  if (!ask_families(group, candidate, family, reason)) {
    throw InternalError("no kernel family accepts " + std::string(info(graph_.op(node)).name) +
                        ": " + reason);
  }
  result_.groups.push_back(std::move(group));
  add_member(id, candidate, true);
}

void Grouper::add_member(std::uint32_t id, const Candidate& candidate, bool begins) {
  Group& group = result_.groups[id];
  const ValueId node = candidate.node;
  group.operations += operations_added(graph_, group, candidate, options_.target);
  group.members.push_back(node);
  if (candidate.stored) {
    group.stored.push_back(node);
    group.stored_maps.push_back(candidate.maps[0]);
  }
  const ir::Op op = graph_.op(node);
  if (candidate.unrolled) {
    group.unrolled.push_back(node);
    read_row(candidate, id);
    return analyse_uses(id, begins);
  }
  if (ir::is_scan(op) && group.scanned.empty())
    group.scanned = loops_in_order(*result_.space, candidate.maps[0]);
  if (ir::is_scan(op) || ir::is_reduction(op)) {
    group.outer = candidate.new_outer;
    group.inner = candidate.new_inner;
    group.segments = candidate.segments;
    group.reads_once = is_accepted_by(group, "reduction");
  }
  for (const IndexMap& map : candidate.maps)
    read_operands(node, id, map, candidate.used_in_inner_loops, limit_of(node, id));
  analyse_uses(id, begins);
}

void Grouper::read_row(const Candidate& unrolled, std::uint32_t id) {
  const ValueId operand = graph_.operands(unrolled.node)[0];
  for (const IndexMap& map : unrolled.maps) {
    for (IndexMap& element : unrolled_maps(graph_, unrolled.node, map)) {
      read(operand, id, std::move(element), unrolled.used_in_inner_loops, max_unrolled_maps);
    }
  }
}

std::size_t Grouper::limit_of(ValueId node, std::uint32_t id) const {
  const std::vector<Access>& accesses = accesses_[index_of(node)];
  const auto found = std::find_if(accesses.rbegin(), accesses.rend(),
                                  [&](const Access& one) { return one.group == id; });
  return found == accesses.rend() ? max_maps : found->limit;
}

// If a group will exceed a kernel's limits, it gets a fusion barrier where few bytes cross. The
// barrier must be known before the nodes join. It is computed again as the group grows, as long as
// the total work is linear in the number of nodes.
void Grouper::analyse_uses(std::uint32_t id, bool begins) {
  const Group& group = result_.groups[id];
  if (group.library) return;
  if (ahead_.size() <= id) ahead_.resize(id + 1);
  Ahead& ahead = ahead_[id];
  if (!begins && group.operations < ahead.looked_at + max_operations / 4) return;
  const std::uint32_t visited = index_of(group.members.back());
  constexpr std::size_t steps_a_node = 32;
  if (frontiers_.work() > steps_a_node * (graph_.size() - visited + max_operations)) return;
  ahead.looked_at = group.operations;
  const auto reading = [&](ValueId value) {
    FrontierFinder::Reading known;
    known.from_memory = index_of(value) >= visited || ahead.kept_out.contains(index_of(value));
    const std::vector<Access>& accesses = accesses_[index_of(value)];
    const auto own = std::find_if(accesses.rbegin(), accesses.rend(),
                                  [&](const Access& access) { return access.group == id; });
    if (own == accesses.rend()) return known;
    known.from_memory |= own->whole || own->maps.size() > own->limit;
    known.maps = static_cast<int>(own->maps.size());
    return known;
  };
  const Frontier frontier = frontiers_.find(group, is_output_, reading);
  for (const ValueId value : frontier.computed) expecting_[index_of(value)] = id;
  for (const ValueId value : frontier.values) ahead.kept_out.insert(index_of(value));
  ahead.bytes += frontier.bytes;
}

void Grouper::read_operands(ValueId node, std::uint32_t id, const IndexMap& map,
                            bool used_in_inner_loops, std::size_t limit) {
  const std::vector<AtomId> inner = result_.groups[id].inner;
  std::vector<AtomId> loops;
  for (const Index& index : map) result_.space->collect_loops(index, loops);
  const bool is_element = std::any_of(loops.begin(), loops.end(), [&](AtomId loop) {
    return std::find(inner.begin(), inner.end(), loop) != inner.end();
  });
  used_in_inner_loops |= is_element || ir::is_reduction(graph_.op(node));
  const bool in_place = result_.groups[id].in_place && node == result_.groups[id].root;
  if (const std::optional<Rotation> rotation = rotation_of(graph_, node)) {
    return read(rotation->array, id, rotated_map(*result_.space, *rotation, map),
                used_in_inner_loops, limit);
  }
  const std::optional<std::size_t> source =
      in_place ? std::nullopt : only_source(*result_.space, graph_, node, map);
  for (std::size_t k = 0; k < graph_.operands(node).size(); ++k) {
    if (!reads_operand(graph_, node, k) || (source && k != *source)) continue;
    const ValueId operand = graph_.operands(node)[k];
    if (reads_whole(graph_, node, k)) {
      read_memory(strip_reshapes(graph_, operand), id);
      continue;
    }
    if (in_place) {
      if (k == 1) read(operand, id, region_value_map(map, graph_.shape(operand)), false);
      continue;
    }
    read(operand, id, operand_map(*result_.space, graph_, node, k, map, inner), used_in_inner_loops,
         limit);
  }
}

const Access& Grouper::access(ValueId node, std::uint32_t group) const {
  const std::vector<Access>& accesses = accesses_[index_of(node)];
  const auto found = std::find_if(accesses.rbegin(), accesses.rend(),
                                  [&](const Access& one) { return one.group == group; });
  if (found == accesses.rend()) throw InternalError("a group does not read the value");
  return *found;
}

void Grouper::read(ValueId value, std::uint32_t id, IndexMap map, bool used_in_inner_loops,
                   std::size_t limit) {
  std::vector<Access>& accesses = accesses_[index_of(value)];
  // Values are visited from last to first, so the reading group is almost always the most recent
  // entry.
  auto found = std::find_if(accesses.rbegin(), accesses.rend(),
                            [&](const Access& one) { return one.group == id; });
  if (found == accesses.rend()) {
    accesses.push_back({id, {}, false});
    found = accesses.rbegin();
    ++result_.groups[id].reads;
    if (graph_.op(value) == ir::Op::parameter && !graph_.attributes(value).scalar)
      ++result_.groups[id].loads;
  }
  found->used_in_inner_loops |= used_in_inner_loops;
  found->limit = std::max(found->limit, limit);
  if (found->maps.size() > found->limit) return;
  if (std::find(found->maps.begin(), found->maps.end(), map) == found->maps.end())
    found->maps.push_back(std::move(map));
}

void Grouper::read_memory(ValueId value, std::uint32_t id) {
  read(value, id, {}, false);
  const auto found =
      std::find_if(accesses_[index_of(value)].rbegin(), accesses_[index_of(value)].rend(),
                   [&](const Access& one) { return one.group == id; });
  found->whole = true;
}

Grouping group(const Graph& graph, const GroupOptions& options) {
  return Grouper(graph, options).run();
}

}  // namespace heddle::passes

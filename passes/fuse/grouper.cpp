#include "passes/fuse/grouper.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/error.h"

#include "passes/calls/lowering.h"
#include "passes/fuse/loop_nest_match.h"
#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/plan/families.h"

namespace heddle::passes {

void Grouper::visit(ValueId node) {
  place(node);
  const ir::Op op = graph_.op(node);
  for (const Access& access : accesses_[index_of(node)]) {
    Group& group = result_.groups[access.group];
    const bool joined = !group.members.empty() && group.members.back() == node;
    if (joined || ir::is_view(op) || op == ir::Op::constant) {
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
  if (op == ir::Op::constant && !must_store) return;
  if (ir::is_view(op) && !must_store) {
    if (is_read_across_items(node)) return make_group(node);
    for (const Access& access : accesses) {
      for (const IndexMap& map : access.maps)
        read_operands(node, access.group, map, access.used_in_inner_loops);
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
  } else {
    group.outer = loops_over(space, graph_.shape(node), candidate.maps[0]);
  }
  std::string family, reason;
  std::optional<Candidate> fitted = fit(std::move(candidate), group, reason);
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

bool Grouper::try_join(ValueId node, std::uint32_t id, bool stored) {
  std::string family, reason;
  Group& group = result_.groups[id];
  if (group.library) {
    cut(node, id, "library", "a library step reads it from memory");
    return false;
  }
  if (id < ahead_.size() && ahead_[id].kept_out.contains(index_of(node))) {
    const std::size_t kept_out = ahead_[id].kept_out.size();
    cut(node, id, "pointwise",
        fmt::format("the kernel would exceed {} operations or {} operands; a fusion barrier here "
                    "stores {}, which moves {:.0f} bytes",
                    max_operations, max_operands,
                    kept_out == 1 ? "1 value" : fmt::format("{} values", kept_out),
                    ahead_[id].bytes));
    return false;
  }
  if (access(node, id).whole) {
    cut(node, id, "pointwise", "a search reads it from memory");
    return false;
  }
  std::optional<Candidate> joined = candidate(node, id, reason);
  if (!joined) {
    cut(node, id, "generic", reason);
    return false;
  }
  joined->stored = stored;
  if (stored) {
    const bool scans = ir::is_scan(graph_.op(node));
    std::vector<AtomId> loops =
        scans || !joined->new_outer.empty() ? joined->new_outer : group.outer;
    const std::vector<AtomId>& inner = scans ? joined->new_inner : group.inner;
    const bool row_level = ir::is_reduction(graph_.op(node));
    bool visits_all = joined->maps.size() == 1 &&
                      is_bijective(*result_.space, joined->maps[0], graph_.shape(node), loops);
    if (!visits_all && !row_level && !inner.empty() && !group.segments) {
      loops.insert(loops.end(), inner.begin(), inner.end());
      visits_all = joined->maps.size() == 1 &&
                   is_bijective(*result_.space, joined->maps[0], graph_.shape(node), loops);
    }
    if (!visits_all) {
      cut(node, id, "pointwise",
          "other users need it in memory, but this kernel does not visit each element exactly "
          "once");
      return false;
    }
  }
  if (!recomputing_pays(graph_, *result_.space, group, *joined, options_.target) &&
      !becomes_row_value(node, group, joined->maps[0])) {
    cut(node, id, "pointwise",
        "each element would be recomputed " + std::to_string(joined->maps.size()) +
            " or more times, which costs more than storing it");
    return false;
  }
  if (!ask_families(group, *joined, family, reason)) {
    cut(node, id, family, reason);
    return false;
  }
  add_member(id, *joined);
  return true;
}

// If the node reads no more bytes than its own size, computing it again in every group moves fewer
// bytes than storing it.
bool Grouper::try_duplicate(ValueId node, const std::vector<std::uint32_t>& groups) {
  const ir::Op op = graph_.op(node);
  const bool source = op == ir::Op::iota || op == ir::Op::constant;
  const bool pays =
      duplicating_pays(recomputations_[index_of(node)], graph_.dtype(node), groups.size(), rates_);
  const bool repeatable = ir::is_elementwise(op) || op == ir::Op::cast;
  if (!source && !(pays && repeatable)) return false;
  std::vector<Candidate> joined;
  std::string family, reason;
  for (const std::uint32_t id : groups) {
    std::optional<Candidate> one = candidate(node, id, reason);
    Group trial = result_.groups[id];
    if (trial.library || !one ||
        !recomputing_pays(graph_, *result_.space, trial, *one, options_.target))
      return false;
    if (!ask_families(trial, *one, family, reason)) return false;
    joined.push_back(std::move(*one));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ask_families(result_.groups[groups[i]], joined[i], family, reason);
    add_member(groups[i], joined[i]);
  }
  return true;
}

std::optional<Candidate> Grouper::candidate(ValueId node, std::uint32_t id, std::string& reason) {
  Candidate result;
  result.node = node;
  const Group& group = result_.groups[id];
  result.maps = access(node, id).maps;
  result.used_in_inner_loops = access(node, id).used_in_inner_loops;
  if (result.maps.size() > max_maps) {
    reason = "it is read at more than " + std::to_string(max_maps) + " different positions";
    return std::nullopt;
  }
  return fit(std::move(result), group, reason);
}

std::optional<Candidate> Grouper::fit(Candidate candidate, const Group& group,
                                      std::string& reason) {
  const ir::Op op = graph_.op(candidate.node);
  IndexSpace& space = *result_.space;
  if (ir::is_scan(op)) return match_scan(graph_, space, group, std::move(candidate), reason);
  if (!ir::is_reduction(op)) return candidate;
  return match_reduction(graph_, space, group, std::move(candidate), reason);
}

bool Grouper::ask_families(Group& group, const Candidate& candidate, std::string& family,
                           std::string& reason) {
  std::uint32_t accepting = 0;
  for (std::size_t i = 0; i < families().size(); ++i) {
    if ((group.families >> i & 1) == 0) continue;
    const Verdict verdict = families()[i]->extend(graph_, group, candidate, options_.target);
    if (verdict.accepted) {
      accepting |= 1u << i;
    } else if (reason.empty() || i + 1 < families().size()) {
      family = families()[i]->name();
      reason = verdict.reason;
    }
  }
  if (accepting != 0) group.families = accepting;
  return accepting != 0;
}

void Grouper::add_member(std::uint32_t id, const Candidate& candidate, bool begins) {
  Group& group = result_.groups[id];
  const ValueId node = candidate.node;
  group.members.push_back(node);
  group.operations +=
      static_cast<int>(candidate.maps.size()) * operations_of(graph_, node, options_.target);
  if (candidate.stored) {
    group.stored.push_back(node);
    group.stored_maps.push_back(candidate.maps[0]);
  }
  const ir::Op op = graph_.op(node);
  if (ir::is_scan(op) && group.scanned.empty()) group.scanned = group.outer;
  if (ir::is_scan(op) || ir::is_reduction(op)) {
    group.outer = candidate.new_outer;
    group.inner = candidate.new_inner;
    group.segments = candidate.segments;
  }
  for (const IndexMap& map : candidate.maps)
    read_operands(node, id, map, candidate.used_in_inner_loops);
  analyse_uses(id, begins);
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
    known.from_memory |= own->whole || own->maps.size() > max_maps;
    known.maps = static_cast<int>(own->maps.size());
    return known;
  };
  const Frontier frontier = frontiers_.find(group, is_output_, reading);
  for (const ValueId value : frontier.computed) expecting_[index_of(value)] = id;
  for (const ValueId value : frontier.values) ahead.kept_out.insert(index_of(value));
  ahead.bytes += frontier.bytes;
}

void Grouper::read_operands(ValueId node, std::uint32_t id, const IndexMap& map,
                            bool used_in_inner_loops) {
  const std::vector<AtomId> inner = result_.groups[id].inner;
  std::vector<AtomId> loops;
  for (const Index& index : map) result_.space->collect_loops(index, loops);
  const bool is_element = std::any_of(loops.begin(), loops.end(), [&](AtomId loop) {
    return std::find(inner.begin(), inner.end(), loop) != inner.end();
  });
  used_in_inner_loops |= is_element || ir::is_reduction(graph_.op(node));
  const bool in_place = result_.groups[id].in_place && node == result_.groups[id].root;
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
    read(operand, id, operand_map(*result_.space, graph_, node, k, map, inner),
         used_in_inner_loops);
  }
}

const Access& Grouper::access(ValueId node, std::uint32_t group) const {
  const std::vector<Access>& accesses = accesses_[index_of(node)];
  const auto found = std::find_if(accesses.rbegin(), accesses.rend(),
                                  [&](const Access& one) { return one.group == group; });
  if (found == accesses.rend()) throw InternalError("a group does not read the value");
  return *found;
}

void Grouper::read(ValueId value, std::uint32_t id, IndexMap map, bool used_in_inner_loops) {
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
  if (found->maps.size() > max_maps) return;
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

// Whether a value depends on a reduction over exactly the loops that the value does not vary along.
// Once the reduction has joined, the value is computed once for each row, so it is accepted in
// advance.
bool Grouper::becomes_row_value(ValueId node, const Group& group, IndexMap map) {
  if (!group.inner.empty() || reduction_paths_[index_of(node)] < 0) return false;
  while (!ir::is_reduction(graph_.op(node))) {
    const int k = reduction_paths_[index_of(node)];
    map = operand_map(*result_.space, graph_, node, static_cast<std::size_t>(k), map);
    node = graph_.operands(node)[static_cast<std::size_t>(k)];
  }
  Candidate reduction;
  reduction.node = node;
  reduction.maps = {std::move(map)};
  std::string family, reason;
  const std::optional<Candidate> fitted = fit(std::move(reduction), group, reason);
  Group trial = group;
  return fitted && ask_families(trial, *fitted, family, reason);
}

Grouping group(const Graph& graph, const GroupOptions& options) {
  return Grouper(graph, options).run();
}

}  // namespace heddle::passes

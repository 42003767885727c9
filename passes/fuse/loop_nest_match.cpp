#include "passes/fuse/loop_nest_match.h"

#include <algorithm>

#include "passes/groups/index_maps.h"
#include "passes/groups/per_element.h"
#include "passes/plan/families.h"

namespace heddle::passes {

namespace {

/// The loop, if the index consists of exactly one loop.
std::optional<AtomId> loop_of(const IndexSpace& space, const Index& index) {
  const bool is_single = index.offset == Dim(0) && index.terms.size() == 1 &&
                         index.terms[0].coefficient == Dim(1) &&
                         space.atom(index.terms[0].atom).kind == Atom::Kind::loop;
  return is_single ? std::optional(index.terms[0].atom) : std::nullopt;
}

std::optional<Segments> segments_of(IndexSpace& space, const Graph& graph,
                                    const Candidate& candidate) {
  if (!is_segmented(graph, candidate.node)) return std::nullopt;
  const std::span<const ValueId> operands = graph.operands(candidate.node);
  return Segments{operands[1], operands[2],
                  operand_map(space, graph, candidate.node, 1, candidate.maps[0])};
}

}  // namespace

std::optional<Candidate> match_reduction(const Graph& graph, IndexSpace& space, const Group& group,
                                         Candidate result, std::string& reason) {
  if (result.maps.size() > 1) {
    reason = "the reduction's result is used at " + std::to_string(result.maps.size()) +
             " different positions, at most 1";
    return std::nullopt;
  }
  result.segments = segments_of(space, graph, result);
  if (!group.inner.empty() && result.segments != group.segments) {
    reason = "it does not reduce the segments that the kernel's inner loop runs over";
    return std::nullopt;
  }
  if (result.segments && !group.inner.empty() && result.used_in_inner_loops) {
    reason = "its result is used again within a segment";
    return std::nullopt;
  }
  const ir::Attributes& attributes = graph.attributes(result.node);
  const ir::Shape& operand = graph.shape(graph.operands(result.node)[0]);
  ir::Dims reduced;
  for (const std::int64_t axis : attributes.axes) {
    if (result.segments || !(operand[axis] == Dim(1))) reduced.push_back(operand[axis]);
  }
  std::vector<AtomId> used;
  for (const Index& index : result.maps[0]) space.collect_loops(index, used);
  const auto is_used = [&](AtomId loop) {
    return std::find(used.begin(), used.end(), loop) != used.end();
  };

  result.new_outer = group.outer;
  result.new_inner = group.inner;
  if (group.inner.empty()) {
    std::vector<AtomId> rest;
    for (const AtomId loop : group.outer) {
      if (!is_used(loop)) rest.push_back(loop);
    }
    if (rest.empty()) {
      for (const Dim extent : reduced) result.new_inner.push_back(space.new_loop(extent));
    } else if (result.segments) {
      reason = "its result is used again within a segment";
      return std::nullopt;
    } else {
      result.used_in_inner_loops = true;
      result.new_inner = rest;
      std::erase_if(result.new_outer, [&](AtomId loop) { return !is_used(loop); });
    }
  }
  ir::Dims inner;
  for (const AtomId loop : result.new_inner) inner.push_back(space.atom(loop).extent);
  if (inner != reduced) {
    reason = "it reduces over " + ir::to_string(reduced) +
             ", but the kernel's inner loops run over " + ir::to_string(inner);
    return std::nullopt;
  }
  if (!is_bijective(space, result.maps[0], graph.shape(result.node), result.new_outer)) {
    reason = "its result is not used exactly once per row";
    return std::nullopt;
  }
  const IndexMap read = operand_map(space, graph, result.node, 0, result.maps[0], result.new_inner);
  const Index address = linear_index(space, read, operand);
  const auto runs_along = [&](AtomId loop) { return space.coefficient(address, loop) == Dim(1); };
  result.contiguous = result.new_inner.empty() || runs_along(result.new_inner.back());
  result.columnwise = !result.new_outer.empty() && runs_along(result.new_outer.back());
  return result;
}

std::vector<AtomId> loops_in_order(const IndexSpace& space, const IndexMap& map) {
  std::vector<AtomId> loops;
  for (const Index& index : map) {
    if (const std::optional<AtomId> loop = loop_of(space, index)) loops.push_back(*loop);
  }
  return loops;
}

namespace {

/// Loop-nest matching of the first scan of a group that reduces its rows. A block must hold them.
std::optional<Candidate> match_scan_of_rows(const Graph& graph, IndexSpace& space,
                                            const Group& group, Candidate result,
                                            std::string& reason) {
  const auto refuse = [&](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  const ir::Shape& shape = graph.shape(result.node);
  const auto axis = static_cast<std::size_t>(graph.attributes(result.node).axes[0]);
  const std::optional<AtomId> along = loop_of(space, result.maps[0][axis]);
  if (!along || group.segments || group.inner != std::vector{*along})
    return refuse("the kernel does not reduce axis " + std::to_string(axis));
  if (axis + 1 != shape.size()) return refuse("a kernel that scans columns cannot reduce");
  if (!shape[axis].is_constant() || shape[axis].constant() > most_scanned_and_reduced) {
    return refuse("rows of " + shape[axis].to_string() +
                  " elements are scanned and reduced, at most " +
                  std::to_string(most_scanned_and_reduced));
  }
  const std::vector<AtomId> order = loops_in_order(space, result.maps[0]);
  result.new_inner = group.inner;
  result.new_outer = order;
  std::erase(result.new_outer, *along);
  if (result.new_outer != group.outer || !is_bijective(space, result.maps[0], shape, order))
    return refuse("its result is not used element by element, in the order of its axes");
  result.used_in_inner_loops = true;
  return result;
}

}  // namespace

std::optional<Candidate> match_scan(const Graph& graph, IndexSpace& space, const Group& group,
                                    Candidate result, std::string& reason) {
  const auto refuse = [&](std::string why) {
    reason = std::move(why);
    return std::nullopt;
  };
  const bool is_first = group.scanned.empty();
  if (!is_first && result.used_in_inner_loops) return refuse("its result is scanned again");
  if (result.maps.size() > 1) {
    return refuse("the scan's result is used at " + std::to_string(result.maps.size()) +
                  " different positions, at most 1");
  }
  // If the loops were in another order than the axes, accesses would not be contiguous in memory.
  const std::vector<AtomId>& loops = is_first ? group.outer : group.scanned;
  for (const Index& index : result.maps[0]) {
    if (!(index == Index()) && !loop_of(space, index))
      return refuse("its result is not used element by element");
  }
  if (is_first && !group.inner.empty())
    return match_scan_of_rows(graph, space, group, std::move(result), reason);
  const std::vector<AtomId> order = loops_in_order(space, result.maps[0]);
  const auto axis = static_cast<std::size_t>(graph.attributes(result.node).axes[0]);
  const std::optional<AtomId> along = loop_of(space, result.maps[0][axis]);
  if (order != loops || !along ||
      !is_bijective(space, result.maps[0], graph.shape(result.node), loops)) {
    return refuse("its result is not used element by element, in the order of its axes");
  }
  if (!is_first && *along != group.inner[0]) {
    return refuse("the kernel does not scan axis " + std::to_string(axis));
  }
  result.new_inner = {*along};
  result.new_outer = loops;
  std::erase(result.new_outer, *along);
  result.used_in_inner_loops = true;
  return result;
}

}  // namespace heddle::passes

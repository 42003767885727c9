#include "passes/groups/cost.h"

#include <algorithm>

#include "ir/calls/control.h"
#include "ir/calls/user_map.h"
#include "passes/groups/per_element.h"
#include "passes/groups/small_reductions.h"

namespace heddle::passes {

namespace {

constexpr std::int64_t likely_extent = 4096;

double likely_extent_of(const IndexSpace& space, AtomId loop) {
  const Dim extent = space.atom(loop).extent;
  return static_cast<double>(extent.is_constant() ? extent.constant() : likely_extent);
}

bool contains(const std::vector<AtomId>& loops, AtomId loop) {
  return std::ranges::find(loops, loop) != loops.end();
}

/// How many iterations of the loop a thread of a reduction kernel can take at once.
double shared_iterations(const IndexSpace& space, AtomId loop) {
  const Dim extent = space.atom(loop).extent;
  if (extent.is_constant() && extent.constant() <= most_unrolled_loop)
    return static_cast<double>(extent.constant());
  return extent.divisible_by(most_unrolled_loop) ? most_unrolled_loop : 1;
}

// How often the group evaluates the candidate at `map`: once for each row if nothing in `map`
// varies along the inner loops, else once for each element.
double evaluations(const IndexSpace& space, const Group& group, const Candidate& candidate,
                   const IndexMap& map, bool reduces, const ir::Target& target) {
  const bool shares_iterations =
      ir::capabilities_of(target).blocks && group.reads_once && !group.segments;
  std::vector<AtomId> loops;
  for (const Index& index : map) space.collect_loops(index, loops);
  bool on_rows = reduces || !group.inner.empty();
  for (const AtomId loop : loops) on_rows &= !contains(group.inner, loop);
  double count = 1;
  // All segments together have as many elements as their axis.
  std::vector<AtomId> of_segments;
  if (group.segments && !on_rows) space.collect_loops(group.segments->at[0], of_segments);
  for (const AtomId loop : reduces ? candidate.new_outer : group.outer) {
    if (!contains(of_segments, loop)) count *= likely_extent_of(space, loop);
    if (shares_iterations && !on_rows && !contains(loops, loop))
      count /= shared_iterations(space, loop);
  }
  if (on_rows) return count;
  for (const AtomId loop : group.inner) count *= likely_extent_of(space, loop);
  return count;
}

}  // namespace

std::int64_t estimated_elements(const ir::Shape& shape) {
  std::int64_t count = 1;
  for (const Dim extent : shape) count *= extent.is_constant() ? extent.constant() : likely_extent;
  return count;
}

int operations_of(const Graph& graph, ValueId node, const ir::Target& target) {
  const ir::Op op = graph.op(node);
  if (is_element_loop(graph, node)) {
    int operations = 1;
    for (const ir::Region& region : graph.attributes(node).call->regions)
      operations += operations_of(*region.graph, target);
    return operations;
  }
  if (is_user_function(graph, node)) return 1 + static_cast<int>(slots_of(graph, node)) / 10;
  constexpr int a_walk = 32;
  if (ir::is_reduction(op) || ir::is_scan(op)) return a_walk;
  constexpr int slots = 10;  // issue slots that count as one operation
  const int plain = std::max(1, (ir::info(op).cost + slots - 1) / slots);
  // The factors below follow the compile times of NVRTC 13 and GCC 12 for kernels that consist of
  // such ops.
  const bool function = ir::is_elementwise(op) && !ir::info(op).has(ir::exactly_rounded);
  const DType dtype = graph.dtype(node);
  const bool half = dtype == DType::f16 || dtype == DType::bf16;
  if (is_complex(dtype)) return plain * (function ? 32 : 2);
  const int for_half = ir::capabilities_of(target).half_operations;
  if (half && for_half > 1) return plain * for_half;
  if (function) return plain * (dtype == DType::f64 ? 5 : 2);
  return plain;
}

int operations_of(const Graph& graph, const ir::Target& target) {
  int operations = 0;
  for (std::size_t i = 0; i < graph.size(); ++i)
    operations += operations_of(graph, static_cast<ValueId>(i), target);
  return operations;
}

int operations_of(const Graph& graph, const Candidate& candidate, const ir::Target& target) {
  const int maps = static_cast<int>(candidate.maps.size());
  if (!candidate.unrolled) return maps * operations_of(graph, candidate.node, target);
  constexpr int to_find_an_index = 4;
  const int each = ir::finds_index(graph.op(candidate.node)) ? to_find_an_index : 1;
  return maps * each * static_cast<int>(row_elements(graph, candidate.node));
}

int operations_added(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target) {
  const bool has_loop = std::ranges::any_of(
      group.members, [&](ValueId member) { return share_loop(graph, member, candidate.node); });
  return has_loop ? 0 : operations_of(graph, candidate, target);
}

double user_map_slots(const ir::CallData& user_map) {
  constexpr double likely_steps = 16, characters_a_slot = 2;
  const std::size_t characters =
      user_map.get<std::string>("operation").size() + user_map.get<std::string>("preamble").size();
  return static_cast<double>(characters) / characters_a_slot *
         (ir::may_run_forever(user_map) ? likely_steps : 1);
}

double slots_of(const Graph& graph, ValueId node) {
  if (is_user_function(graph, node)) return user_map_slots(*graph.attributes(node).call);
  if (!is_element_loop(graph, node)) {
    // A function of a complex number is computed from several real functions.
    constexpr double of_complex = 6;
    const ir::OpInfo& info = ir::info(graph.op(node));
    const bool function = ir::is_elementwise(graph.op(node)) && !info.has(ir::exactly_rounded);
    return info.cost * (function && is_complex(graph.dtype(node)) ? of_complex : 1);
  }
  constexpr double likely_steps = 64;
  const ir::CallData& call = *graph.attributes(node).call;
  double step = 0;
  for (const ir::Region& region : call.regions) {
    for (std::size_t i = 0; i < region.graph->size(); ++i)
      step += slots_of(*region.graph, static_cast<ValueId>(i));
  }
  const bool known = ir::is_counted(call) && ir::scan_length(call).is_constant();
  return step * (known ? static_cast<double>(ir::scan_length(call).constant()) : likely_steps);
}

std::vector<Recomputation> find_recomputations(const Graph& graph) {
  std::vector<Recomputation> results(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto node = static_cast<ValueId>(i);
    const ir::Op op = graph.op(node);
    if (op == ir::Op::parameter) {
      const bool scalar = graph.attributes(node).scalar;
      results[i] = {true, 0, scalar ? 0.0 : static_cast<double>(size_of(graph.dtype(node)))};
      continue;
    }
    const bool computed = ir::is_elementwise(op) || op == ir::Op::cast || op == ir::Op::iota ||
                          op == ir::Op::constant;
    if (!computed && !ir::is_view(op)) continue;
    Recomputation& result = results[i];
    result = {true, ir::is_elementwise(op) ? slots_of(graph, node) : 1.0, 0};
    const std::span<const ValueId> operands = graph.operands(node);
    for (auto it = operands.begin(); it != operands.end(); ++it) {
      const ValueId operand = *it;
      // In x * x, x is computed once.
      if (std::find(operands.begin(), it, operand) != it) continue;
      // An operand that is small compared with the node costs next to nothing, stored or
      // recomputed.
      if (estimated_elements(graph.shape(operand)) * 16 <= estimated_elements(graph.shape(node)))
        continue;
      const Recomputation& part = results[index_of(operand)];
      result.possible &= part.possible;
      result.slots += part.slots;
      result.bytes += part.bytes;
    }
  }
  return results;
}

bool duplicating_pays(const Recomputation& again, DType dtype, std::size_t groups,
                      const ir::Rates& rates) {
  const auto own_bytes = static_cast<double>(size_of(dtype));
  const double again_us = static_cast<double>(groups - 1) * again.slots / rates.slots_per_us;
  return again.possible && again.bytes <= own_bytes && again_us <= own_bytes / rates.bytes_per_us;
}

namespace {

/// The cost of one element of a row, from values in memory.
Recomputation row_element(const Graph& graph, ValueId reduction,
                          const std::vector<Recomputation>& recomputations) {
  const ValueId operand = graph.operands(reduction)[0];
  const Recomputation& known = recomputations[index_of(operand)];
  if (known.possible) return known;
  return {true, 0, static_cast<double>(size_of(graph.dtype(operand)))};
}

/// Issue slots for one element of a reduction that is computed as arithmetic. A load of 4 bytes
/// takes as long as 4 additions.
double unrolled_slots(const Graph& graph, ValueId reduction, const Recomputation& element) {
  const double combining = ir::finds_index(graph.op(reduction)) ? 4 : 1;
  return static_cast<double>(row_elements(graph, reduction)) *
         (combining + element.slots + element.bytes);
}

/// Whether computing an element anywhere, from nothing, takes no longer than reading it.
bool is_cheaper_than_a_load(const Graph& graph, const Candidate& candidate,
                            const std::vector<Recomputation>& recomputations) {
  constexpr double load_slots = 4;
  const Recomputation& again = recomputations[index_of(candidate.node)];
  return !candidate.unrolled && !ir::is_reduction(graph.op(candidate.node)) && again.possible &&
         again.bytes == 0 && again.slots <= load_slots;
}

/// Additional microseconds for reading rows as arithmetic does: neighbouring threads read elements
/// of neighbouring rows. If these lie farther apart than a sector of the cache, about half of the
/// bandwidth is lost.
double scattered_us(const Graph& graph, ValueId reduction, const Recomputation& element,
                    const ir::Rates& rates) {
  constexpr double sector = 32;
  const double row_bytes = static_cast<double>(row_elements(graph, reduction)) * element.bytes;
  if (row_bytes <= sector) return 0;
  return static_cast<double>(estimated_elements(graph.shape(reduction))) * row_bytes /
         rates.bytes_per_us;
}

}  // namespace

bool recomputing_pays(const Graph& graph, const IndexSpace& space, const Group& group,
                      const Candidate& candidate, const std::vector<Recomputation>& recomputations,
                      const ir::Target& target) {
  const ir::Rates& rates = ir::capabilities_of(target).rates;
  const bool reduces = ir::is_reduction(graph.op(candidate.node)) && !candidate.unrolled;
  double cost = slots_of(graph, candidate.node), scattered = 0;
  if (candidate.unrolled) {
    const Recomputation element = row_element(graph, candidate.node, recomputations);
    cost = unrolled_slots(graph, candidate.node, element);
    scattered = scattered_us(graph, candidate.node, element, rates);
  }
  if (is_cheaper_than_a_load(graph, candidate, recomputations)) return true;
  double count = 0;
  for (const IndexMap& map : candidate.maps)
    count += evaluations(space, group, candidate, map, reduces, target);

  const auto size = static_cast<double>(estimated_elements(graph.shape(candidate.node)));
  const double bytes = 2 * size * static_cast<double>(size_of(graph.dtype(candidate.node)));
  return cost * std::max(0.0, count - size) / rates.slots_per_us + scattered <=
         rates.launch_us + bytes / rates.bytes_per_us;
}

}  // namespace heddle::passes

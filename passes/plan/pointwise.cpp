#include <algorithm>

#include "passes/plan/analyze.h"
#include "passes/plan/families.h"

namespace heddle::passes {

namespace {

constexpr int max_operations = 256;
constexpr int max_operands = 64;
// Every operand is a pointer among the kernel's parameters, of which any driver takes 4 KB.
constexpr int max_reads = 384;

bool is_pointwise(ir::Op op) {
  return ir::is_elementwise(op) || ir::is_view(op) || op == ir::Op::cast || op == ir::Op::iota ||
         op == ir::Op::constant || op == ir::Op::parameter || op == ir::Op::gather ||
         ir::is_search(op);
}

}  // namespace

Verdict within_limits(const Graph& graph, const Group& group, const Candidate& candidate) {
  if (ir::is_scatter(graph.op(group.root))) return Verdict::no("the group scatters");
  return within_sizes(graph, group, candidate);
}

Verdict within_sizes(const Graph& graph, const Group& group, const Candidate& candidate) {
  const int operations = group.instructions + static_cast<int>(candidate.maps.size());
  if (operations > max_operations) {
    return Verdict::no(std::to_string(operations) + " operations, at most " +
                       std::to_string(max_operations));
  }
  if (group.loads > max_operands) {
    return Verdict::no(std::to_string(group.loads) + " operands, at most " +
                       std::to_string(max_operands));
  }
  // A part is likely a read of its own, whatever is computed of it.
  const auto parts = graph.op(candidate.node) == ir::Op::concatenate
                         ? static_cast<int>(graph.operands(candidate.node).size())
                         : 0;
  if (parts > 0 && group.reads + parts > max_operands) {
    return Verdict::no(std::to_string(group.reads + parts) + " parts and operands, at most " +
                       std::to_string(max_operands));
  }
  if (group.reads > max_reads) {
    return Verdict::no(std::to_string(group.reads) + " values to read or compute, at most " +
                       std::to_string(max_reads));
  }
  return {};
}

Verdict Pointwise::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                          const ir::Target&) const {
  const ir::Op op = graph.op(candidate.node);
  const bool in_place_root = group.in_place && candidate.node == group.root;
  if (!is_pointwise(op) && !in_place_root)
    return Verdict::no(std::string(info(op).name) + " is not elementwise");
  if (!group.inner.empty()) return Verdict::no("the group walks rows");
  return within_limits(graph, group, candidate);
}

bool Pointwise::schedule(KernelPlan& plan, const ir::Target& target) const {
  plan.mapping = Mapping::elements;
  if (target.kind == ir::TargetKind::host || plan.outer.empty()) return true;
  const Loop& last = plan.outer.back();
  int width = 16;
  for (const Store& store : plan.stores) {
    const KernelOperand& operand = plan.operands[store.operand];
    const int limit =
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(operand.dtype)));
    width = std::min(width, vector_width(plan, operand, store.address, last, limit));
  }
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::load) continue;
    width = std::min<int>(
        width,
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(instruction.dtype))));
  }
  // Rows of more than one loop must hold whole vectors; a single loop has a tail instead.
  while (width > 1 && plan.outer.size() > 1 && !last.extent.divisible_by(width)) width /= 2;
  plan.vector = width;
  // A thread takes several vectors where enough blocks remain to fill the device.
  const Dim total = iterations(plan.outer);
  const std::int64_t vectors = total.is_constant() ? total.constant() / width : 1 << 24;
  int loads = 0;
  for (const KernelOperand& operand : plan.operands) loads += operand.written ? 0 : 1;
  plan.unroll = 1;
  while (plan.unroll < 4 && plan.unroll * std::max(loads, 1) < 8 &&
         vectors / (plan.unroll * 2) >=
             std::int64_t{8} * 2048 * std::max(1, target.multiprocessors)) {
    plan.unroll *= 2;
  }
  return true;
}

Verdict Piecewise::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                          const ir::Target& target) const {
  const ir::Op op = graph.op(candidate.node);
  if (op == ir::Op::concatenate || op == ir::Op::slice_update) {
    if (!group.inner.empty()) return Verdict::no("the group walks rows");
    return within_limits(graph, group, candidate);
  }
  return Pointwise::extend(graph, group, candidate, target);
}

Verdict Scatter::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                        const ir::Target&) const {
  const ir::Op op = graph.op(candidate.node);
  if (!ir::is_scatter(graph.op(group.root))) return Verdict::no("the group does not scatter");
  const bool is_root = candidate.node == group.root;
  if (!is_root && !is_pointwise(op) && op != ir::Op::concatenate && op != ir::Op::slice_update)
    return Verdict::no(std::string(info(op).name) + " is not elementwise");
  return within_sizes(graph, group, candidate);
}

// A kernel whose loads run along another loop than its stores goes in tiles, which lie in shared
// memory on a GPU and in the first-level cache on a CPU.
bool Transpose::schedule(KernelPlan& plan, const ir::Target&) const {
  if (plan.outer.size() < 2) return false;
  const int last = static_cast<int>(plan.outer.size()) - 1;
  const auto extent_is_small = [&](int loop) {
    const Dim extent = plan.outer[loop].extent;
    return extent.is_constant() && extent.constant() < 16;
  };
  if (extent_is_small(last)) return false;
  for (const Store& store : plan.stores) {
    const auto step = step_along(plan, store.address, plan.outer[last]);
    if (!step || !(*step == Dim(1))) return false;
  }
  for (int loop = 0; loop < last; ++loop) {
    if (extent_is_small(loop)) continue;
    std::vector<int> tiled;
    for (std::size_t i = 0; i < plan.body.size(); ++i) {
      const Instruction& load = plan.body[i];
      if (load.kind != Instruction::Kind::load || !load.arguments.empty()) continue;
      const auto along = step_along(plan, load.address, plan.outer[loop]);
      const auto across = step_along(plan, load.address, plan.outer[last]);
      if (along && across && *along == Dim(1) && !(*across == Dim(1)) && !(*across == Dim(0)))
        tiled.push_back(static_cast<int>(i));
    }
    constexpr std::size_t max_tiles = 8;
    if (tiled.empty() || tiled.size() > max_tiles) continue;
    plan.mapping = Mapping::tiles;
    plan.tiled = std::move(tiled);
    plan.tile_loop = loop;
    return true;
  }
  return false;
}

}  // namespace heddle::passes

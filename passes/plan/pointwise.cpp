#include <algorithm>

#include "ir/calls/user_map.h"
#include "ir/types/capabilities.h"
#include "passes/groups/cost.h"
#include "passes/groups/per_element.h"
#include "passes/plan/analyze.h"
#include "passes/plan/families.h"
#include "passes/plan/held_elements.h"
#include "passes/plan/launch.h"
#include "passes/plan/uneven_rows.h"
#include "passes/plan/walk.h"

namespace heddle::passes {

namespace {

// Each value that is read or stored may be a parameter of 8 bytes. Every driver accepts 4 KB of
// parameters.
constexpr int max_reads = 384;
static_assert((max_reads + max_stores) * 8 <= 4096 - 256);  // the rest is for sizes

bool is_pointwise(const Graph& graph, ValueId node) {
  const ir::Op op = graph.op(node);
  return is_per_element(graph, node) || ir::is_view(op) || op == ir::Op::iota ||
         op == ir::Op::constant || op == ir::Op::parameter || op == ir::Op::gather ||
         ir::is_search(op) || is_user_map(graph, node);
}

}  // namespace

Verdict within_limits(const Graph& graph, const Group& group, const Candidate& candidate,
                      const ir::Target& target) {
  if (writes_anywhere(graph, group.root)) return Verdict::no("the group scatters");
  if (walks_memory(graph, group.root) || walks_memory(graph, candidate.node))
    return Verdict::no("a loop over steps that uses memory runs in a kernel of its own");
  return within_sizes(graph, group, candidate, target);
}

Verdict within_sizes(const Graph& graph, const Group& group, const Candidate& candidate,
                     const ir::Target& target) {
  const int operations = group.operations + operations_added(graph, group, candidate, target);
  if (operations > max_operations) {
    return Verdict::no(std::to_string(operations) + " operations, at most " +
                       std::to_string(max_operations));
  }
  // Elements of one part are not elements of the others, where they would be computed from zeros.
  const auto chooses = [&](ValueId member) {
    return graph.op(member) == ir::Op::concatenate || graph.op(member) == ir::Op::slice_update;
  };
  if (may_run_forever(graph, candidate.node) && std::ranges::any_of(group.members, chooses)) {
    return Verdict::no(std::string(graph.op_name(candidate.node)) +
                       " may never end for elements of another part");
  }
  // On a CPU, the loops of neighbouring elements run together, which a pass over a row cannot.
  if (!group.inner.empty() && !ir::capabilities_of(target).blocks &&
      is_element_loop(graph, candidate.node)) {
    return Verdict::no("a loop over steps runs in a kernel that does not loop over rows");
  }
  if (group.loads > max_operands) {
    return Verdict::no(std::to_string(group.loads) + " operands, at most " +
                       std::to_string(max_operands));
  }
  if (candidate.stored && group.stored.size() >= max_stores) {
    return Verdict::no(std::to_string(group.stored.size() + 1) + " values to store, at most " +
                       std::to_string(max_stores));
  }
  // Each part of a concatenation probably needs a read of its own, whatever is computed from it.
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
                          const ir::Target& target) const {
  const bool in_place_root = group.in_place && candidate.node == group.root;
  if (!is_pointwise(graph, candidate.node) && !candidate.unrolled && !in_place_root)
    return Verdict::no(std::string(graph.op_name(candidate.node)) + " is not elementwise");
  if (!group.inner.empty()) return Verdict::no("the kernel loops over rows");
  return within_limits(graph, group, candidate, target);
}

namespace {

/// Pieces begin and end at any element. If narrower vectors do not go across their ends, they are
/// better than loads of single elements.
int width_of_pieces(const KernelPlan& plan, int width) {
  int narrowest = width;
  for (const Instruction& load : plan.body) {
    if (load.kind != Instruction::Kind::load || !load.guarded) continue;
    const int own = vector_width(plan, load, plan.outer.back(), width);
    if (own > 1) narrowest = std::min(narrowest, own);
  }
  return narrowest;
}

}  // namespace

bool Pointwise::schedule(KernelPlan& plan, const ir::Target& target) const {
  plan.mapping = Mapping::elements;
  if (!ir::capabilities_of(target).blocks || plan.outer.empty()) return true;
  const Loop& last = plan.outer.back();
  int width = 16;
  for (const Store& store : plan.stores) {
    if (store.by_value) width = 1;
    const KernelOperand& operand = plan.operands[store.operand];
    const int limit =
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(operand.dtype)));
    width = std::min(width, vector_width(plan, operand, store.address, last, limit));
  }
  for (const Instruction& instruction : plan.body) {
    if (instruction.kind != Instruction::Kind::load) continue;
    if (const auto step = step_along(plan, instruction, last); step && *step == Dim(0)) continue;
    width = std::min<int>(
        width,
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(instruction.dtype))));
  }
  // If there are several loops, the last extent must be a multiple of the width. A single loop has
  // a tail instead.
  while (width > 1 && plan.outer.size() > 1 && !last.extent.divisible_by(width)) width /= 2;
  while (width > 1 && width * element_slots(plan) > most_thread_slots) width /= 2;
  plan.vector = width_of_pieces(plan, width);
  choose_single_elements(plan);
  // Narrow elements gain most from vectors.
  const bool narrow = std::ranges::any_of(plan.stores, [&](const Store& store) {
    return size_of(plan.operands[store.operand].dtype) < 4;
  });
  if (narrow) {
    KernelPlan uneven = plan;
    store_uneven_rows(uneven, target);
    if (loads_vectors_in_uneven_rows(uneven) || !shares_loads(plan, target))
      plan = std::move(uneven);
  }
  choose_elements_a_thread(plan, target);
  return true;
}

Verdict Piecewise::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                          const ir::Target& target) const {
  const ir::Op op = graph.op(candidate.node);
  if (op == ir::Op::concatenate || op == ir::Op::slice_update) {
    if (!group.inner.empty()) return Verdict::no("the kernel loops over rows");
    return within_limits(graph, group, candidate, target);
  }
  return Pointwise::extend(graph, group, candidate, target);
}

Verdict Scatter::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                        const ir::Target& target) const {
  const ir::Op op = graph.op(candidate.node);
  if (!writes_anywhere(graph, group.root)) return Verdict::no("the group does not scatter");
  const bool is_root = candidate.node == group.root;
  if (!is_root && !is_pointwise(graph, candidate.node) && !candidate.unrolled &&
      op != ir::Op::concatenate && op != ir::Op::slice_update)
    return Verdict::no(std::string(info(op).name) + " is not elementwise");
  return within_sizes(graph, group, candidate, target);
}

Verdict Steps::extend(const Graph& graph, const Group& group, const Candidate& candidate,
                      const ir::Target& target) const {
  if (!walks_memory(graph, group.root)) return Verdict::no("no loop over steps uses memory");
  if (!walks_memory(graph, candidate.node) && !is_pointwise(graph, candidate.node) &&
      !candidate.unrolled)
    return Verdict::no(std::string(graph.op_name(candidate.node)) + " is not elementwise");
  return within_sizes(graph, group, candidate, target);
}

// In each step, neighbouring threads use neighbouring elements, so they need no vectors. Few
// threads in a block spread few elements over many multiprocessors.
bool Steps::schedule(KernelPlan& plan, const ir::Target& target) const {
  plan.mapping = Mapping::elements;
  if (ir::capabilities_of(target).blocks) plan.threads = 64;
  return true;
}

namespace {

/// Elements of a wide tile. Along a loop that is shorter than a square's edge, a tile is no longer
/// than the loop.
void set_tile_edges(KernelPlan& plan, int elements) {
  const auto edge_along = [&](const Loop& loop, int most) {
    int edge = 16;
    while (edge < most && edge < known(loop.extent, most)) edge *= 2;
    return edge;
  };
  constexpr int square = 64;
  plan.tile_last = edge_along(plan.outer.back(), square);
  plan.tile_across = edge_along(plan.outer[plan.tile_loop], elements / plan.tile_last);
  if (plan.tile_across < square)
    plan.tile_last = edge_along(plan.outer.back(), elements / plan.tile_across);
}

/// Chooses the vector width for reading tiles along `tile_loop` and writing them along the last
/// loop, and matching tile edges and number of threads.
void widen_tiles(KernelPlan& plan, const ir::Target& target) {
  const Loop &last = plan.outer.back(), &across = plan.outer[plan.tile_loop];
  int width = 16;
  const auto narrow = [&](const KernelOperand& operand, const Index& address, const Loop& loop) {
    const int limit =
        std::max<int>(1, target.vector_bytes / static_cast<int>(size_of(operand.dtype)));
    width = std::min(width, vector_width(plan, operand, address, loop, limit));
  };
  for (const Store& store : plan.stores) narrow(plan.operands[store.operand], store.address, last);
  for (const int i : plan.tiled)
    narrow(plan.operands[plan.body[i].operand], plan.body[i].address, across);
  while (width > 1 && !(last.extent.divisible_by(width) && across.extent.divisible_by(width)))
    width /= 2;
  // Without vectors, a thread needs more loads in flight to cover their latency.
  constexpr int wide_elements = 64 * 64;
  constexpr std::int64_t blocks_of_a_multiprocessor = 16;
  if (width == 1 && known(iterations(plan.outer), 0) / wide_elements <
                        blocks_of_a_multiprocessor * std::max(1, target.multiprocessors))
    return;
  KernelPlan wide = plan;
  wide.vector = width;
  set_tile_edges(wide, wide_elements);
  wide.threads = std::min(512, wide.tile_across * wide.tile_last / width);
  const std::uint32_t most_shared = width == 1 ? 20 * 1024 : 48 * 1024;
  if (shared_bytes(wide) <= most_shared) plan = std::move(wide);
}

}  // namespace

// If the loads are contiguous along another loop than the stores, the kernel uses tiles: in shared
// memory on a GPU, in the first-level cache on a CPU.
bool Transpose::schedule(KernelPlan& plan, const ir::Target& target) const {
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
    // The cache combines a tile's short lines with those of its neighbours, so stores must not
    // bypass it.
    for (KernelOperand& operand : plan.operands) operand.streamed = false;
    if (ir::capabilities_of(target).blocks) widen_tiles(plan, target);
    return true;
  }
  return false;
}

}  // namespace heddle::passes

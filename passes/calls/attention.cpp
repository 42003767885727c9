#include "passes/calls/attention.h"

#include <algorithm>
#include <optional>

#include "ir/calls/attention.h"
#include "passes/groups/index_maps.h"
#include "passes/plan/analyze.h"

namespace heddle::passes {

namespace {

/// The loops of a kernel's operand [batch..., rows, columns].
struct Loops {
  IndexMap batch;
  AtomId row, column;
};

Loops loops_of(IndexSpace& space, const IndexMap& batch, const Shape& shape) {
  return {batch, space.new_loop(shape[shape.size() - 2]), space.new_loop(shape.back())};
}

/// An operand as its array has it in memory.
struct Stored {
  ValueId array{};
  Index start;
  Dim stride;
};

bool is_multiple_of_piece(const Dim& dim) { return dim.divisible_by(attention_piece); }

/// The rows of `array` that the element at `map` belongs to; nullopt unless a thread can copy
/// pieces of them.
std::optional<Stored> rows_in(IndexSpace& space, const Graph& graph, ValueId array,
                              const IndexMap& map, const Loops& loops) {
  const Index address = linear_index(space, map, graph.shape(array));
  if (space.is_by_value(address) || space.nested(address, loops.row) ||
      space.nested(address, loops.column) || space.coefficient(address, loops.column) != Dim(1))
    return std::nullopt;
  Stored stored{array, {address.offset, {}}, space.coefficient(address, loops.row)};
  bool pieces = is_multiple_of_piece(address.offset) && is_multiple_of_piece(stored.stride);
  for (const IndexTerm& term : address.terms) {
    if (term.atom == loops.row || term.atom == loops.column) continue;
    pieces = pieces && is_multiple_of_piece(term.coefficient);
    stored.start.terms.push_back(term);
  }
  return pieces ? std::optional(stored) : std::nullopt;
}

/// The operand below as many views as possible.
Stored stored(IndexSpace& space, const Graph& graph, ValueId operand, const IndexMap& batch) {
  const Loops loops = loops_of(space, batch, graph.shape(operand));
  IndexMap map = batch;
  map.push_back(space.loop(loops.row));
  map.push_back(space.loop(loops.column));
  Stored found = *rows_in(space, graph, operand, map, loops);
  for (ValueId value = operand; ir::is_view(graph.op(value));) {
    map = operand_map(space, graph, value, 0, map);
    value = graph.operands(value)[0];
    if (const std::optional<Stored> below = rows_in(space, graph, value, map, loops))
      found = *below;
  }
  return found;
}

IndexMap batch_map(IndexSpace& space, const Shape& shape, std::vector<Loop>& loops) {
  IndexMap map;
  for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis) {
    loops.push_back({space.new_loop(shape[axis]), shape[axis]});
    map.push_back(space.loop(loops.back().atom));
  }
  return map;
}

}  // namespace

std::vector<ValueId> attention_reads(const Graph& graph, ValueId call, const CallTarget&) {
  IndexSpace space;
  std::vector<Loop> loops;
  const IndexMap batch = batch_map(space, graph.shape(call), loops);
  std::vector<ValueId> arrays;
  for (const ValueId operand : graph.operands(call))
    arrays.push_back(stored(space, graph, operand, batch).array);
  return arrays;
}

KernelPlan attention_kernel(const Graph& graph, ValueId call, IndexSpace& space) {
  constexpr int threads = 384;  // a warp group that copies, and two that multiply
  const Shape& shape = graph.shape(call);
  KernelPlan plan;
  plan.family = "attention";
  plan.threads = threads;
  const IndexMap batch = batch_map(space, shape, plan.outer);
  const auto rows = [&](const Stored& one, bool written) {
    KernelOperand operand;
    operand.value = one.array;
    operand.dtype = graph.dtype(call);
    operand.written = written;
    plan.operands.push_back(operand);
    return BatchOfRows{static_cast<int>(plan.operands.size()) - 1, one.start, one.stride};
  };
  const auto operand = [&](std::size_t k) { return graph.operands(call)[k]; };
  const auto read = [&](std::size_t k) {
    return rows(stored(space, graph, operand(k), batch), false);
  };
  AttentionKernel attention;
  attention.dtype = graph.dtype(call);
  attention.rows = shape[shape.size() - 2];
  attention.columns = graph.shape(operand(1))[shape.size() - 2];
  attention.depth = graph.shape(operand(0)).back().constant();
  attention.width = shape.back().constant();
  attention.scale = graph.attributes(call).call->get<double>("scale");
  attention.queries = read(0);
  attention.keys = read(1);
  attention.values = read(2);
  const Loops loops = loops_of(space, batch, shape);
  IndexMap map = batch;
  map.push_back(space.loop(loops.row));
  map.push_back(space.loop(loops.column));
  attention.result = rows(*rows_in(space, graph, call, map, loops), true);
  plan.attention = attention;
  return plan;
}

}  // namespace heddle::passes

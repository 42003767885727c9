#include "passes/calls/attention.h"

#include <algorithm>
#include <optional>

#include "ir/calls/attention.h"
#include "passes/calls/score_bounds.h"
#include "passes/groups/index_maps.h"
#include "passes/rewrite/attention.h"

namespace heddle::passes {

namespace {

constexpr std::size_t matrices = 3;  ///< queries, keys and values are the first operands

/// The loops over the rows and columns of an array [batch..., rows, columns], and the index map of
/// its elements.
struct Loops {
  AtomId row, column;
  IndexMap map;
};

Loops loops_of(IndexSpace& space, const IndexMap& batch, const Shape& shape) {
  Loops loops{space.new_loop(shape[shape.size() - 2]), space.new_loop(shape.back()), batch};
  loops.map.push_back(space.loop(loops.row));
  loops.map.push_back(space.loop(loops.column));
  return loops;
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
  IndexMap map = loops.map;
  Stored found = *rows_in(space, graph, operand, map, loops);
  for (ValueId value = operand; ir::is_view(graph.op(value));) {
    map = operand_map(space, graph, value, 0, map);
    value = graph.operands(value)[0];
    if (const std::optional<Stored> below = rows_in(space, graph, value, map, loops))
      found = *below;
  }
  return found;
}

/// All nodes of a map of scores, as a group over these loops.
Group group_of(const Graph& map, const IndexMap& scores, const KernelPlan& plan) {
  Group group;
  group.root = map.outputs.front();
  for (const Loop& loop : plan.outer) group.outer.push_back(loop.atom);
  for (const Loop& loop : plan.inner) group.inner.push_back(loop.atom);
  for (std::size_t i = map.size(); i-- > 0;) {
    const auto node = static_cast<ValueId>(i);
    if (map.op(node) != ir::Op::parameter) group.members.push_back(node);
  }
  group.stored = {group.root};
  group.stored_maps = {scores};
  return group;
}

/// Takes over the instructions of a map of scores. Its loads of the scores become these; the others
/// read the call's further operands.
void add_map(KernelPlan& plan, KernelPlan map, const Graph& region,
             const std::vector<ValueId>& arrays) {
  const std::vector<ValueId>& parameters = region.parameters();
  std::vector<int> moved(map.operands.size(), -1);
  for (std::size_t i = 0; i < map.operands.size(); ++i) {
    const auto parameter = std::ranges::find(parameters, map.operands[i].value);
    const auto number = static_cast<std::size_t>(parameter - parameters.begin());
    if (map.operands[i].written || number == 0) continue;
    KernelOperand operand = map.operands[i];
    operand.value = arrays[matrices + number - 1];
    moved[i] = static_cast<int>(plan.operands.size());
    plan.operands.push_back(operand);
  }
  for (Instruction& one : map.body) {
    if (one.operand >= 0) one.operand = moved[static_cast<std::size_t>(one.operand)];
    if (one.kind == Instruction::Kind::load && one.operand < 0) {
      one = Instruction::of(Instruction::Kind::score, DType::f32);
    }
  }
  plan.body = std::move(map.body);
  plan.attention->map = map.stores.front().value;
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
  const std::span<const ValueId> operands = graph.operands(call);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    arrays.push_back(k < matrices ? stored(space, graph, operands[k], batch).array
                                  : strip_reshapes(graph, operands[k]));
  }
  return arrays;
}

KernelPlan attention_kernel(const Graph& graph, ValueId call, IndexSpace& space,
                            const LowerGroup& lower) {
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
  attention.result = rows(*rows_in(space, graph, call, loops.map, loops), true);
  const AtomId column = space.new_loop(attention.columns);
  plan.outer.push_back({loops.row, attention.rows});
  plan.inner.push_back({column, attention.columns});
  plan.attention = attention;
  const std::vector<ir::Region>& regions = graph.attributes(call).call->regions;
  if (regions.empty()) return plan;
  const Graph& region = *regions.front().graph;
  IndexMap map = loops.map;
  map.back() = space.loop(column);
  add_map(plan, lower(region, group_of(region, map, plan)), region,
          attention_reads(graph, call, {.target = {}}));
  const ScoreBounds bounds = score_bounds(plan, space, plan.attention->map, loops.row, column);
  plan.attention->begin = bounds.begin;
  plan.attention->end = bounds.end;
  plan.attention->only_bounds = bounds.exact && plan.attention->scale > 0;
  return plan;
}

}  // namespace heddle::passes

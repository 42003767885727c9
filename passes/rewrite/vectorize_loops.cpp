#include "passes/rewrite/vectorize_loops.h"

#include <optional>
#include <vector>

#include "ir/calls/calls.h"
#include "passes/rewrite/all_steps.h"
#include "passes/rewrite/carried_parts.h"
#include "passes/rewrite/rewrite.h"

namespace heddle::passes {

namespace {

using ir::Graph;
using ir::Op;
using ir::ValueId;

/// The results of a loop that need not carry arrays: of no loop, or of one that carries parts.
std::optional<std::vector<ValueId>> without_arrays(Graph& graph, const ir::CallData& scan,
                                                   const StepAccesses& steps,
                                                   const std::vector<ValueId>& operands) {
  return steps.are_independent() ? all_steps(graph, scan, steps, operands)
                                 : carry_parts(graph, scan, steps, operands);
}

/// Whether a region of a call in the graph, or one in that, has a slice that starts at the symbol.
bool regions_use(const Graph& graph, ir::SymbolId symbol) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    if (graph.op(ValueId{i}) != Op::call) continue;
    for (const ir::Region& region : graph.attributes(ValueId{i}).call->regions) {
      const Graph& body = *region.graph;
      for (std::uint32_t k = 0; k < body.size(); ++k)
        if (contains_symbol(body.attributes(ValueId{k}).starts, symbol)) return true;
      if (regions_use(body, symbol)) return true;
    }
  }
  return false;
}

class Vectorizer {
 public:
  explicit Vectorizer(const Graph& graph) : old_(graph), results_(graph.size()) {}

  /// nullopt if all loops stay.
  std::optional<Graph> run() {
    Graph graph =
        rewrite(old_, [&](Graph& result, ValueId id, const std::vector<ValueId>& operands) {
          return visit(result, id, operands);
        });
    return changes_ ? std::optional(std::move(graph)) : std::nullopt;
  }

 private:
  ValueId visit(Graph& graph, ValueId id, const std::vector<ValueId>& operands) {
    if (old_.op(id) == Op::result) {
      const auto& made = results_[index_of(old_.operands(id)[0])];
      if (made) return (*made)[old_.attributes(id).index];
    }
    if (old_.op(id) != Op::call || old_.attributes(id).call->regions.empty())
      return copy_node(graph, old_, id, operands);
    ir::Attributes attributes = old_.attributes(id);
    vectorize_regions(attributes.call);
    const ir::CallData& call = *attributes.call;
    if (call.op == &ir::calls::scan()) {
      auto& made = results_[index_of(id)] = loop_without_arrays(graph, call, operands);
      changes_ |= made.has_value();
      if (made) return made->front();
    }
    return graph.add(Op::call, operands, std::move(attributes), old_.node(id).location);
  }

  /// The loops in loops come first.
  void vectorize_regions(ir::CallRef& call) {
    ir::CallData data = *call;
    for (ir::Region& region : data.regions) {
      std::optional<Graph> graph = Vectorizer(*region.graph).run();
      if (!graph) continue;
      region = ir::make_region(*std::move(graph));
      changes_ = true;
    }
    if (changes_) call = ir::CallRef(std::move(data));
  }

  const Graph& old_;
  /// Of calls that were loops.
  std::vector<std::optional<std::vector<ValueId>>> results_;
  bool changes_ = false;
};

}  // namespace

std::optional<std::vector<ValueId>> loop_without_arrays(Graph& graph, const ir::CallData& scan,
                                                        const std::vector<ValueId>& operands) {
  const auto steps = step_accesses(scan, operands.size());
  return steps ? without_arrays(graph, scan, *steps, operands) : std::nullopt;
}

LoopForm form_of_loop(const ir::CallData& scan, const std::vector<ir::Type>& operands,
                      std::optional<ir::SymbolId> outer) {
  Graph graph;
  std::vector<ValueId> parameters;
  for (const ir::Type& type : operands)
    parameters.push_back(graph.parameter(type.dtype, type.shape));
  const auto steps = step_accesses(scan, operands.size());
  if (!steps || !without_arrays(graph, scan, *steps, parameters)) return LoopForm::of_arrays;
  if (outer && regions_use(graph, *outer)) return LoopForm::of_arrays;
  return steps->are_independent() ? LoopForm::none : LoopForm::of_parts;
}

std::optional<Graph> vectorize_loops(const Graph& graph) { return Vectorizer(graph).run(); }

}  // namespace heddle::passes

#include "tests/fuzz/shrink_regions.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/graph/graph.h"

namespace heddle::test {
namespace {

using ir::Attributes;
using ir::Graph;
using ir::Op;
using ir::ValueId;

/// A copy of a graph in which `changed` says what some nodes become: another value of the copy.
Graph copy_with(const Graph& from,
                const std::function<std::optional<ValueId>(Graph&, ValueId,
                                                           const std::vector<ValueId>&)>& changed) {
  Graph result;
  result.fold_constants = false;
  std::vector<ValueId> mapped;
  for (std::uint32_t i = 0; i < from.size(); ++i) {
    const ValueId id{i};
    const Attributes& attributes = from.attributes(id);
    if (const std::optional<ValueId> other = changed(result, id, mapped)) {
      mapped.push_back(*other);
    } else if (from.op(id) == Op::parameter) {
      mapped.push_back(attributes.scalar ? result.scalar_parameter(from.dtype(id))
                                         : result.parameter(from.dtype(id), from.shape(id)));
    } else if (from.op(id) == Op::constant) {
      mapped.push_back(result.constant(from.dtype(id), attributes.bits));
    } else {
      std::vector<ValueId> operands;
      for (const ValueId operand : from.operands(id))
        operands.push_back(mapped[ir::index_of(operand)]);
      mapped.push_back(result.add(from.op(id), operands, attributes));
    }
  }
  for (const ValueId output : from.outputs) result.outputs.push_back(mapped[ir::index_of(output)]);
  return result;
}

/// What may stand for a node: its operands and the parameters of its type.
std::vector<ValueId> stand_ins(const Graph& graph, ValueId id) {
  std::vector<ValueId> found;
  if (graph.op(id) == Op::parameter || graph.op(id) == Op::constant) return found;
  for (const ValueId operand : graph.operands(id)) {
    if (graph.type(operand) == graph.type(id)) found.push_back(operand);
  }
  for (const ValueId parameter : graph.parameters()) {
    if (graph.type(parameter) == graph.type(id)) found.push_back(parameter);
  }
  return found;
}

/// Whether a loop may not end without it: what counts its steps, or compares that.
bool may_end_a_loop(const ir::Type& type) {
  return type.shape.empty() && (type.dtype == DType::i64 || type.dtype == DType::boolean);
}

std::vector<Graph> simpler_graphs(const Graph& graph, bool ends_a_loop) {
  std::vector<Graph> simpler;
  for (std::uint32_t i = static_cast<std::uint32_t>(graph.size()); i-- > 0;) {
    const ValueId id{i};
    if (ends_a_loop && may_end_a_loop(graph.type(id))) continue;
    for (const ValueId other : stand_ins(graph, id)) {
      simpler.push_back(copy_with(graph, [&](Graph&, ValueId at, const auto& mapped) {
        return at == id ? std::optional(mapped[ir::index_of(other)]) : std::nullopt;
      }));
    }
    if (graph.op(id) != Op::call) continue;
    for (const ir::CallRef& call : simpler_calls(*graph.attributes(id).call)) {
      simpler.push_back(copy_with(
          graph, [&](Graph& made, ValueId at, const auto& mapped) -> std::optional<ValueId> {
            if (at != id) return std::nullopt;
            std::vector<ValueId> operands;
            for (const ValueId operand : graph.operands(id))
              operands.push_back(mapped[ir::index_of(operand)]);
            Attributes attributes = graph.attributes(id);
            attributes.call = call;
            return made.add(Op::call, operands, std::move(attributes));
          }));
    }
  }
  return simpler;
}

}  // namespace

std::vector<ir::CallRef> simpler_calls(const ir::CallData& call) {
  std::vector<ir::CallRef> calls;
  const bool is_while = call.op == &ir::calls::while_loop();
  for (std::size_t i = 0; i < call.regions.size(); ++i) {
    for (Graph& graph : simpler_graphs(*call.regions[i].graph, is_while)) {
      ir::CallData data = call;
      data.regions[i] = ir::make_region(std::move(graph));
      if (data.regions[i] == call.regions[i]) continue;  // a node that no result needed
      calls.emplace_back(std::move(data));
    }
  }
  return calls;
}

}  // namespace heddle::test

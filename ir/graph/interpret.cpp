#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"
#include "ir/graph/with_dims.h"
#include "ir/interpreter/evaluate.h"

namespace heddle::ir {
namespace {

using interpreter::count_of;

[[noreturn]] void misfit(const Graph& graph, std::size_t index, const HostArray& argument,
                         std::string_view why) {
  throw ShapeError(fmt::format("{}: argument {} is {}, but its parameter is {}: {}", graph.name,
                               index, describe(argument.type),
                               describe(graph.type(graph.parameters()[index])), why));
}

/// Solves extent == value, for an extent of the form a * x + b. nullopt for other forms, and if
/// there is no integer solution.
std::optional<SymbolBinding> solve(Dim extent, std::int64_t value) {
  std::vector<SymbolId> symbols;
  extent.collect_symbols(symbols);
  if (symbols.size() != 1) return std::nullopt;
  const auto at = [&](std::int64_t point) {
    const SymbolBinding binding{symbols[0], point};
    return extent.evaluate({&binding, 1});
  };
  const std::int64_t constant = at(0), slope = at(1) - constant;
  const bool linear = slope != 0 && at(2) == constant + 2 * slope;
  if (!linear || (value - constant) % slope != 0) return std::nullopt;
  return SymbolBinding{symbols[0], (value - constant) / slope};
}

bool is_bound(Dim extent, const SymbolBindings& bindings) {
  std::vector<SymbolId> symbols;
  extent.collect_symbols(symbols);
  return std::ranges::all_of(symbols, [&](SymbolId symbol) {
    return std::ranges::find(bindings, symbol, &SymbolBinding::symbol) != bindings.end();
  });
}

/// Binds symbols by solving each extent of the argument that is linear in one symbol that is not
/// bound.
void bind_symbols(const Graph& graph, std::size_t index, const HostArray& argument,
                  SymbolBindings& bindings) {
  const Type parameter = graph.type(graph.parameters()[index]);
  if (parameter.dtype != argument.type.dtype ||
      parameter.shape.size() != argument.type.shape.size()) {
    misfit(graph, index, argument, "dtype and rank must be equal");
  }
  if (!is_constant(argument.type.shape) ||
      argument.data.size() != count_of(argument.type) * size_of(argument.type.dtype)) {
    misfit(graph, index, argument,
           "an argument must have constant extents and hold all of its bytes");
  }
  for (std::size_t axis = 0; axis < parameter.shape.size(); ++axis) {
    const Dim rest = parameter.shape[axis].with_bound(bindings);
    const auto solved = solve(rest, argument.type.shape[axis].constant());
    if (solved) bindings.push_back(*solved);
  }
}

SymbolBindings bind(const Graph& graph, std::span<const HostArray> arguments) {
  if (arguments.size() != graph.parameters().size()) {
    throw ShapeError(fmt::format("{} takes {} arguments, not {}", graph.name,
                                 graph.parameters().size(), arguments.size()));
  }
  SymbolBindings bindings;
  for (std::size_t before = 1; before != bindings.size();) {
    before = bindings.size();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      bind_symbols(graph, i, arguments[i], bindings);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = graph.shape(graph.parameters()[i]);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const bool known = is_bound(shape[axis], bindings);
      if (!known || Dim(shape[axis].evaluate(bindings)) != arguments[i].type.shape[axis]) {
        misfit(graph, i, arguments[i], fmt::format("axis {} differs", axis));
      }
    }
  }
  for (const SymbolFact& fact : graph.facts) {
    const std::int64_t value = Dim::symbol(fact.symbol).evaluate(bindings);
    if (value < fact.minimum || value % fact.multiple_of != 0) {
      throw ShapeError(fmt::format("{}: {} is {}; it must be at least {} and a multiple of {}",
                                   graph.name, symbol_name(fact.symbol), value, fact.minimum,
                                   fact.multiple_of));
    }
  }
  return bindings;
}

/// For each node, the index of the last node that reads it; graph.size() for outputs, 0 for nodes
/// that are never read.
std::vector<std::uint32_t> last_readers(const Graph& graph) {
  constexpr std::uint32_t no_reader = 0;
  const auto end = static_cast<std::uint32_t>(graph.size());
  std::vector<std::uint32_t> readers(graph.size(), no_reader);
  for (ValueId output : graph.outputs) readers[index_of(output)] = end;
  for (std::uint32_t i = end; i-- > 0;) {
    if (readers[i] == no_reader) continue;
    for (ValueId operand : graph.operands(ValueId{i})) {
      readers[index_of(operand)] = std::max(readers[index_of(operand)], i);
    }
  }
  return readers;
}

/// The values of a graph's nodes while it is interpreted.
class Interpretation {
 public:
  Interpretation(const Graph& graph, std::span<const HostArray> arguments,
                 const SymbolBindings& bindings)
      : graph_(graph),
        arguments_(arguments),
        bindings_(bindings),
        readers_(last_readers(graph)),
        values_(graph.size()),
        arrays_(graph.size()) {}

  std::vector<HostArray> run() {
    for (std::uint32_t i = 0; i < graph_.size(); ++i) {
      const ValueId id{i};
      if (readers_[i] == 0) continue;
      evaluate(id);
      for (ValueId operand : graph_.operands(id)) {
        if (readers_[index_of(operand)] == i) values_[index_of(operand)].clear();
      }
    }
    std::vector<HostArray> results;
    for (ValueId output : graph_.outputs) results.push_back(*arrays_[index_of(output)]);
    return results;
  }

 private:
  void evaluate(ValueId id) {
    const HostArray*& array = arrays_[index_of(id)];
    if (graph_.op(id) == Op::parameter) {
      array = &arguments_[graph_.attributes(id).index];
      return;
    }
    std::vector<HostArray>& value = values_[index_of(id)];
    if (graph_.op(id) == Op::result) {
      value.push_back(
          std::move(values_[index_of(graph_.operands(id)[0])][graph_.attributes(id).index]));
    } else {
      value = computed(id);
    }
    array = &value.front();
  }

  /// Replaces symbols by their values and infers the types again, which checks the conditions that
  /// depend on symbols. The counters of loops in regions stay symbols.
  std::vector<HostArray> computed(ValueId id) const {
    const Attributes attributes =
        with_dims(graph_.attributes(id), [&](Dim dim) { return dim.with_bound(bindings_); });
    std::vector<const HostArray*> operands;
    std::vector<Type> types;
    for (ValueId operand : graph_.operands(id)) {
      operands.push_back(arrays_[index_of(operand)]);
      types.push_back(operands.back()->type);
    }
    const Op op = graph_.op(id);
    if (op != Op::call)
      return {interpreter::evaluate(op, operands, attributes, infer(op, types, attributes))};
    const CallData& call = *attributes.call;
    const std::vector<Type> results = infer_results(types, attributes);
    return call.op->interpret(
        {call, operands, results, [&](std::size_t region, std::span<const HostArray> arguments) {
           return interpret(*call.regions[region].graph, arguments);
         }});
  }

  const Graph& graph_;
  std::span<const HostArray> arguments_;
  const SymbolBindings& bindings_;
  std::vector<std::uint32_t> readers_;
  std::vector<std::vector<HostArray>> values_;  ///< for a call, all results
  std::vector<const HostArray*> arrays_;
};

}  // namespace

std::vector<HostArray> interpret(const Graph& graph, std::span<const HostArray> arguments) {
  return Interpretation(graph, arguments, bind(graph, arguments)).run();
}

}  // namespace heddle::ir

#include "ir/generalize.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "heddle/error.h"

namespace heddle::ir {

namespace {

/// The nodes that outputs need, and all parameters, in order, but no constants: those are met at
/// their uses, so that two that happen to be equal in one graph do not change what is met.
std::vector<ValueId> counted_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.size());
  for (const ValueId output : graph.outputs) needed[index_of(output)] = true;
  for (const ValueId parameter : graph.parameters()) needed[index_of(parameter)] = true;
  std::vector<ValueId> nodes;
  for (auto i = static_cast<std::uint32_t>(graph.size()); i-- > 0;) {
    const ValueId id{i};
    if (!needed[i] || graph.op(id) == Op::constant) continue;
    nodes.push_back(id);
    for (const ValueId operand : graph.operands(id)) needed[index_of(operand)] = true;
  }
  std::ranges::reverse(nodes);
  return nodes;
}

/// Each use of a constant in turn: operands of the nodes, then outputs.
template <class Function>
void for_each_constant(const Graph& graph, const std::vector<ValueId>& nodes,
                       const Function& function) {
  const auto look = [&](std::span<const ValueId> values) {
    for (const ValueId value : values) {
      if (graph.op(value) == Op::constant) function(value);
    }
  };
  for (const ValueId node : nodes) look(graph.operands(node));
  look(graph.outputs);
}

/// The numbers of a node, in order. A parameter's extents are its attribute.
template <class Attributes, class Function>
void for_each_number(Attributes& attributes, const Function& function) {
  for (auto* extents : {&attributes.shape, &attributes.starts}) {
    for (auto& extent : *extents) {
      if (extent.is_constant()) function(extent);
    }
  }
}

Hash128 structure_of(const Graph& graph, const std::vector<ValueId>& nodes) {
  Hasher hasher;
  std::vector<std::uint32_t> position(graph.size());
  const auto add = [&](std::span<const ValueId> values) {
    hasher.number(values.size());
    for (const ValueId value : values) {
      const bool constant = graph.op(value) == Op::constant;
      hasher.number(constant).number(constant ? static_cast<std::uint64_t>(graph.dtype(value))
                                              : position[index_of(value)]);
    }
  };
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    position[index_of(nodes[i])] = i;
    Attributes attributes = graph.attributes(nodes[i]);
    for_each_number(attributes, [](Dim& number) { number = 0; });
    hasher.number(static_cast<std::uint64_t>(graph.op(nodes[i])));
    add(graph.operands(nodes[i]));
    hash_into(hasher, attributes);
  }
  add(graph.outputs);
  for (const SymbolFact& fact : merge_facts(graph.facts)) {
    hasher.bytes(symbol_name(fact.symbol))
        .number(static_cast<std::uint64_t>(fact.minimum))
        .number(static_cast<std::uint64_t>(fact.multiple_of));
  }
  return hasher.finish();
}

/// The values of one number in all outlines.
using Row = std::vector<std::int64_t>;

std::optional<std::int64_t> constant_ratio(const Row& row, const Row& base) {
  std::optional<std::int64_t> ratio;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (base[i] == 0) {
      if (row[i] != 0) return std::nullopt;
    } else if (row[i] % base[i] != 0 || ratio.value_or(row[i] / base[i]) != row[i] / base[i]) {
      return std::nullopt;
    } else {
      ratio = row[i] / base[i];
    }
  }
  return ratio;
}
std::optional<std::int64_t> constant_difference(const Row& row, const Row& base) {
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] - base[i] != row[0] - base[0]) return std::nullopt;
  }
  return row[0] - base[0];
}

/// Expressions for numbers, by the values that they have had.
class Expressions {
 public:
  /// The expression of a number that has been met before, or, when asked for, that follows from
  /// those.
  std::optional<Dim> find(const Row& row, bool derived) const {
    if (std::ranges::all_of(row, [&](std::int64_t value) { return value == row.front(); }))
      return Dim(row.front());
    if (const auto known = known_.find(row); known != known_.end()) return known->second;
    if (!derived) return std::nullopt;
    for (const auto& [base, dim] : bases_) {
      if (const auto factor = constant_ratio(row, base)) return dim * Dim(*factor);
      if (const auto rest = constant_difference(row, base)) return dim + Dim(*rest);
    }
    for (const auto& [a, first] : bases_) {
      for (const auto& [b, second] : bases_) {
        Row product(row.size()), sum(row.size());
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (__builtin_mul_overflow(a[i], b[i], &product[i])) product[i] = 0;
          sum[i] = a[i] + b[i];
        }
        if (const auto factor = constant_ratio(row, product)) return first * second * Dim(*factor);
        if (const auto rest = constant_difference(row, sum)) return first + second + Dim(*rest);
      }
    }
    return std::nullopt;
  }

  void add(const Row& row, SymbolId symbol) {
    known_.emplace(row, Dim::symbol(symbol));
    bases_.emplace_back(row, Dim::symbol(symbol));
  }

 private:
  std::map<Row, Dim> known_;
  std::vector<std::pair<Row, Dim>> bases_;
};

class Generalizer {
 public:
  Generalizer(const Graph& example, std::span<const Outline> outlines)
      : example_(example),
        outlines_(outlines),
        nodes_(counted_nodes(example)),
        values_(example.size()) {}

  General make() {
    general_.graph.name = example_.name;
    general_.graph.facts = example_.facts;
    // What a launch is told comes first: its arrays' extents.
    express_numbers(true);
    express_numbers(false);
    choose_constants();
    std::size_t number = 0;
    for (const ValueId node : nodes_) {
      Attributes& attributes = attributes_.emplace_back(example_.attributes(node));
      for_each_number(attributes, [&](Dim& one) { one = general_.numbers[number++]; });
    }
    add_parameters();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (example_.op(nodes_[i]) != Op::parameter) add(i);
    }
    general_.graph.outputs = operands(example_.outputs);
    return std::move(general_);
  }

 private:
  void express_numbers(bool of_parameters) {
    general_.numbers.resize(outlines_.front().numbers.size());
    std::size_t number = 0;
    for (const ValueId node : nodes_) {
      const bool is_parameter = example_.op(node) == Op::parameter;
      for_each_number(example_.attributes(node), [&](Dim) {
        if (is_parameter == of_parameters)
          general_.numbers[number] = expression(number, of_parameters);
        ++number;
      });
    }
  }

  Row row_of(std::size_t number) const {
    Row row;
    for (const Outline& outline : outlines_) row.push_back(outline.numbers[number]);
    return row;
  }

  /// The number that is the smallest part of an extent: half of it where the graph splits it in
  /// two.
  std::size_t smallest_part(std::size_t number) const {
    const Row whole = row_of(number);
    std::int64_t parts = 1;
    for (std::size_t i = 0; i < general_.numbers.size(); ++i) {
      const auto ratio = constant_ratio(whole, row_of(i));
      if (ratio.value_or(1) > parts) parts = *ratio, number = i;
    }
    return number;
  }

  Dim expression(std::size_t number, bool of_parameter) {
    const Row row = row_of(number);
    // An extent that only depends on another by its value in a few calls is a symbol of its own,
    // but what ops say of extents follows from them.
    if (const auto known = expressions_.find(row, !of_parameter)) return *known;
    const std::size_t part = of_parameter ? smallest_part(number) : number;
    const SymbolId symbol = intern_symbol(fmt::format("extent{}", general_.symbols.size()));
    general_.symbols.emplace_back(symbol, part);
    if (!of_parameter) general_.extents.push_back(number);
    expressions_.add(row_of(part), symbol);
    return *expressions_.find(row, true);
  }

  void choose_constants() {
    const std::size_t count = outlines_.front().constants.size();
    general_.constants.resize(count);
    general_.scalar_of.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const ElementBits& first = outlines_.front().constants[i];
      if (std::ranges::all_of(
              outlines_, [&](const Outline& outline) { return outline.constants[i] == first; })) {
        general_.constants[i] = first;
      } else {
        general_.scalar_of[i] = general_.scalars.size();
        general_.scalars.push_back(i);
      }
    }
  }

  void add_parameters() {
    std::vector<const Attributes*> parameters(example_.parameters().size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (example_.op(nodes_[i]) == Op::parameter)
        parameters[attributes_[i].index] = &attributes_[i];
    }
    Graph& graph = general_.graph;
    for (const ValueId parameter : example_.parameters()) {
      const Attributes& attributes = *parameters[example_.attributes(parameter).index];
      const Location location = example_.node(parameter).location;
      values_[index_of(parameter)] =
          attributes.scalar ? graph.scalar_parameter(attributes.dtype, location)
                            : graph.parameter(attributes.dtype, attributes.shape, location);
    }
    for (const std::size_t number : general_.extents) {
      const Type type = extent_argument(general_.numbers[number]);
      graph.parameter(type.dtype, type.shape);
    }
    std::size_t use = 0, scalar = 0;
    for_each_constant(example_, nodes_, [&](ValueId constant) {
      if (scalar < general_.scalars.size() && general_.scalars[scalar] == use++) {
        scalars_.push_back(graph.scalar_parameter(example_.dtype(constant)));
        ++scalar;
      }
    });
  }

  void add(std::size_t position) {
    const ValueId node = nodes_[position];
    const std::vector<ValueId> from = operands(example_.operands(node));
    values_[index_of(node)] = general_.graph.add(
        example_.op(node), from, std::move(attributes_[position]), example_.node(node).location);
  }

  std::vector<ValueId> operands(std::span<const ValueId> values) {
    std::vector<ValueId> result;
    for (const ValueId value : values) {
      if (example_.op(value) != Op::constant) {
        result.push_back(values_[index_of(value)]);
        continue;
      }
      const std::size_t use = next_constant_++;
      const std::optional<ElementBits>& bits = general_.constants[use];
      result.push_back(bits ? general_.graph.constant(example_.dtype(value), *bits)
                            : scalars_[general_.scalar_of[use]]);
    }
    return result;
  }

  const Graph& example_;
  std::span<const Outline> outlines_;
  std::vector<ValueId> nodes_;
  General general_;
  Expressions expressions_;
  std::vector<ValueId> values_;         ///< of the general graph, by the example's
  std::vector<ValueId> scalars_;        ///< parameters, by General::scalars
  std::vector<Attributes> attributes_;  ///< of the nodes, with expressions for their numbers
  std::size_t next_constant_ = 0;
};

}  // namespace

Outline outline_of(const Graph& graph) {
  const std::vector<ValueId> nodes = counted_nodes(graph);
  Outline outline{structure_of(graph, nodes), {}, {}};
  for (const ValueId node : nodes) {
    for_each_number(graph.attributes(node),
                    [&](Dim number) { outline.numbers.push_back(number.constant()); });
  }
  for_each_constant(graph, nodes, [&](ValueId constant) {
    outline.constants.push_back(graph.attributes(constant).bits);
  });
  return outline;
}

std::optional<General> generalize(const Graph& example, std::span<const Outline> outlines) {
  try {
    return Generalizer(example, outlines).make();
  } catch (const ShapeError&) {
  } catch (const IndexError&) {
  } catch (const ValueError&) {
  }
  return std::nullopt;  // inference cannot tell that its extents always fit
}

bool stands_for(const General& general, const Outline& outline) {
  for (std::size_t i = 0; i < outline.constants.size(); ++i) {
    if (general.constants[i] && !(*general.constants[i] == outline.constants[i])) return false;
  }
  SymbolBindings bindings;
  for (const auto& [symbol, number] : general.symbols)
    bindings.push_back({symbol, outline.numbers[number]});
  const auto value = [&](Dim dim) -> std::optional<std::int64_t> {
    if (dim.is_constant()) return dim.constant();
    try {
      return dim.evaluate(bindings);
    } catch (const ValueError&) {
      return std::nullopt;  // beyond 64 bits, which no number of a graph is
    }
  };
  for (std::size_t i = 0; i < outline.numbers.size(); ++i) {
    if (value(general.numbers[i]) != outline.numbers[i]) return false;
  }
  return true;
}

}  // namespace heddle::ir

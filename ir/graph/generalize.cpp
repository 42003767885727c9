#include "ir/graph/generalize.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/graph/number_rows.h"
#include "ir/graph/with_dims.h"
#include "ir/types/reduction_order.h"

namespace heddle::ir {

namespace {

/// The nodes that outputs need, and all parameters, in graph order. Constants are left out and
/// visited at their uses instead: two constants that are equal in one graph are one node there,
/// which must not change the sequence.
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

/// Whether the node gives the same bits for a constant operand and for a scalar of equal value
/// passed at launch. Other ops compute differently if an operand is constant: x to the power of 3.
bool takes_scalars(const Graph& graph, ValueId node) {
  return !is_elementwise(graph.op(node)) || info(graph.op(node)).is_exact(graph.dtype(node));
}

/// Visits each use of a constant that may be replaced by a scalar passed by value: first operands
/// of the nodes, then outputs.
template <class Function>
void for_each_constant(const Graph& graph, const std::vector<ValueId>& nodes,
                       const Function& function) {
  const auto look = [&](std::span<const ValueId> values) {
    for (const ValueId value : values) {
      if (graph.op(value) == Op::constant) function(value);
    }
  };
  for (const ValueId node : nodes) {
    if (takes_scalars(graph, node)) look(graph.operands(node));
  }
  look(graph.outputs);
}

/// Visits the numbers of a node, in order: constant extents, starts, and sizes of steps. A step of
/// size 1 does not count, since kernels are optimised for it; neither does a step's sign. A
/// parameter's extents are those of its attribute `shape`.
template <class Attributes, class Function>
void for_each_number(Attributes& attributes, const Function& function) {
  for (auto* extents : {&attributes.shape, &attributes.starts}) {
    for (auto& extent : *extents) {
      if (extent.is_constant()) function(extent);
    }
  }
  const auto change_step = [&](Dim step) {
    if (!step.is_constant() || step.is_unit()) return step;
    const Dim sign = step.is_non_positive() ? -1 : 1;
    Dim size = sign * step;
    function(size);
    return sign * size;
  };
  for (auto& step : attributes.steps) {
    const Dim changed = change_step(step);
    if constexpr (!std::is_const_v<Attributes>) step = changed;
  }
  if (!attributes.call) return;
  const auto change = [&](Dim extent) {
    if (extent.is_constant()) function(extent);
    return extent;
  };
  const CallRef changed = with_dims(attributes.call, change, change_step);
  if constexpr (!std::is_const_v<Attributes>) attributes.call = changed;
}

Hash128 structure_of(const Graph& graph, const std::vector<ValueId>& nodes, bool is_region = false);

/// Hashes a call without its numbers. Constants in regions belong to the structure.
void hash_structure(Hasher& hasher, const CallRef& call) {
  if (!call) return;
  CallData data = *call;
  data.regions.clear();
  Attributes own;
  own.call = CallRef(std::move(data));
  for_each_number(own, [](Dim& number) { number = 2; });
  hash_into(hasher, own);
  for (const Region& region : call->regions)
    hasher.hash(structure_of(*region.graph, counted_nodes(*region.graph), true));
}

Hash128 structure_of(const Graph& graph, const std::vector<ValueId>& nodes, bool is_region) {
  Hasher hasher;
  std::vector<std::uint32_t> position(graph.size());
  const auto add = [&](std::span<const ValueId> values, bool takes_scalars) {
    hasher.number(values.size());
    for (const ValueId value : values) {
      const bool constant = graph.op(value) == Op::constant;
      hasher.number(constant).number(constant ? static_cast<std::uint64_t>(graph.dtype(value))
                                              : position[index_of(value)]);
      const ElementBits& bits = graph.attributes(value).bits;
      if (constant && !takes_scalars) hasher.number(bits.low).number(bits.high);
    }
  };
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    position[index_of(nodes[i])] = i;
    Attributes attributes = graph.attributes(nodes[i]);
    hash_structure(hasher, std::exchange(attributes.call, {}));
    for_each_number(attributes, [](Dim& number) { number = 2; });
    hasher.number(static_cast<std::uint64_t>(graph.op(nodes[i])));
    // This depends on extents of 1, and decides the order in which sums are added.
    if (is_reduction(graph.op(nodes[i]))) {
      const Shape& shape = graph.shape(graph.operands(nodes[i])[0]);
      hasher.number(reduces_columns(shape, graph.attributes(nodes[i]).axes));
    }
    add(graph.operands(nodes[i]), !is_region && takes_scalars(graph, nodes[i]));
    hash_into(hasher, attributes);
  }
  add(graph.outputs, !is_region);
  for (const SymbolFact& fact : merge_facts(graph.facts)) {
    hasher.bytes(symbol_name(fact.symbol))
        .number(static_cast<std::uint64_t>(fact.minimum))
        .number(static_cast<std::uint64_t>(fact.multiple_of));
  }
  return hasher.finish();
}

/// Thrown and caught in this file if there is no general graph within the limits.
struct Refused {};

/// Makes symbol names that a graph does not use.
class NewSymbols {
 public:
  explicit NewSymbols(const Graph& graph) {
    for (const SymbolFact& fact : graph.facts) used_.push_back(fact.symbol);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      for (const Dim extent : graph.shape(ValueId{i})) extent.collect_symbols(used_);
      for (const Dim start : graph.attributes(ValueId{i}).starts) start.collect_symbols(used_);
      for (const Dim step : graph.attributes(ValueId{i}).steps) step.collect_symbols(used_);
      const auto collect = [&](Dim dim) {
        dim.collect_symbols(used_);
        return dim;
      };
      with_dims(graph.attributes(ValueId{i}).call, collect, collect);
    }
  }
  SymbolId next() {
    for (;;) {
      const SymbolId symbol = intern_symbol(fmt::format("extent{}", count_++));
      if (std::ranges::find(used_, symbol) == used_.end()) return symbol;
    }
  }

 private:
  std::vector<SymbolId> used_;
  std::size_t count_ = 0;
};

class Generalizer {
 public:
  Generalizer(const Graph& example, std::span<const ErasedSignature> outlines)
      : example_(example),
        outlines_(outlines),
        nodes_(counted_nodes(example)),
        names_(example),
        values_(example.size()) {}

  SymbolicGraph make() {
    general_.graph.name = example_.name;
    general_.graph.facts = example_.facts;
    collect_rows();
    collect_products();
    // Extents of parameters come first: a launch gets their values from its arrays.
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
    general_.graph.outputs = operands(example_.outputs, true);
    return std::move(general_);
  }

 private:
  static constexpr std::size_t most_symbols = 16, most_scalars = 32;

  /// A number that equals constant * factors in all graphs.
  struct Product {
    Row row;
    std::int64_t constant;
    std::vector<std::size_t> factors;  ///< numbers that differ between graphs
  };

  void collect_rows() {
    for (std::size_t number = 0; number < outlines_.front().numbers.size(); ++number) {
      Row& row = rows_.emplace_back();
      for (const ErasedSignature& outline : outlines_) row.push_back(outline.numbers[number]);
      const auto is_same = [&](std::size_t other) { return rows_[other] == row; };
      if (!same_in_all(row) && std::ranges::none_of(changing_, is_same))
        changing_.push_back(number);
    }
  }

  /// Collects products of neighbouring extents on either side of a reshape. An extent that a
  /// reshape splits or merges is such a product, even if its value is the same in all graphs.
  void collect_products() {
    std::vector<std::pair<std::size_t, std::size_t>> extents(example_.size());
    std::size_t number = 0;
    for (const ValueId node : nodes_) {
      const Attributes& attributes = example_.attributes(node);
      const auto count = static_cast<std::size_t>(
          std::ranges::count_if(attributes.shape, [](Dim one) { return one.is_constant(); }));
      extents[index_of(node)] = {number, number + count};
      for_each_number(attributes, [&](Dim) { ++number; });
      if (example_.op(node) != Op::reshape) continue;
      for (const ValueId side : {node, example_.operands(node)[0]}) {
        const auto [first, last] = extents[index_of(side)];
        for (std::size_t begin = first; begin < last; ++begin) {
          for (std::size_t end = begin + 2; end <= last; ++end) add_product(begin, end);
        }
      }
    }
  }

  void add_product(std::size_t begin, std::size_t end) {
    Product product{Row(outlines_.size(), 1), 1, {}};
    for (std::size_t number = begin; number < end; ++number) {
      const Row& row = rows_[number];
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (__builtin_mul_overflow(product.row[i], row[i], &product.row[i])) return;
      }
      if (same_in_all(row)) {
        product.constant *= row.front();
      } else {
        product.factors.push_back(number);
      }
    }
    if (product.factors.size() > 1 && product.constant > 0) products_.push_back(std::move(product));
  }

  void express_numbers(bool of_parameters) {
    general_.numbers.resize(rows_.size());
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

  /// A number that a larger number depends on: larger = line.factor * number + line.rest.
  struct Part {
    std::size_t number;
    Line line;
  };

  /// The number of which this one is the largest multiple, for example half of an extent that the
  /// graph splits in two. A parameter's extent must be a pure multiple, without a constant term,
  /// since the extents of separate arrays are independent.
  Part smallest_part(std::size_t number, bool of_parameter) const {
    const Row& whole = rows_[number];
    Part part{number, {1, 0}};
    for (const std::size_t other : changing_) {
      std::optional<Line> line;
      if (const auto ratio = constant_ratio(whole, rows_[other])) {
        line = Line{*ratio, 0};
      } else if (!of_parameter && whole.size() > 2) {
        line = line_through(whole, rows_[other]);
      }
      if (line && line->factor > part.line.factor) part = {other, *line};
    }
    return part;
  }

  Dim new_symbol(std::size_t number, bool is_argument) {
    const Row& row = rows_[number];
    if (general_.symbols.size() == most_symbols || std::ranges::min(row) < 0) throw Refused();
    const Dim symbol = Dim::symbol(general_.symbols.emplace_back(names_.next(), number).first);
    if (is_argument) general_.extents.push_back(number);
    expressions_.add_base(row, symbol);
    return symbol;
  }

  // A parameter's extent that depends on other parameters only by its values in a few calls gets
  // its own symbol. Extents of other nodes are derived from the symbols of parameters.
  Dim expression(std::size_t number, bool of_parameter) {
    const Row& row = rows_[number];
    if (const auto known = expressions_.find(row)) return *known;
    const Dim whole = new_expression(number, of_parameter);
    expressions_.add(row, whole);
    return whole;
  }

  Dim new_expression(std::size_t number, bool of_parameter) {
    const Row& row = rows_[number];
    const auto product =
        std::ranges::find_if(products_, [&](const Product& one) { return one.row == row; });
    if (same_in_all(row)) return product == products_.end() ? Dim(row.front()) : multiply(*product);
    if (!of_parameter) {
      if (const auto derived = expressions_.derive(row)) return *derived;
    }
    const auto [part, line] = smallest_part(number, of_parameter);
    if (part == number && product != products_.end()) return multiply(*product);
    const auto known = expressions_.find(rows_[part]);
    const Dim symbol = known ? *known : new_symbol(part, !of_parameter);
    return symbol * Dim(line.factor) + Dim(line.rest);
  }

  Dim multiply(const Product& product) {
    Dim result = product.constant;
    for (const std::size_t factor : product.factors) {
      auto known = expressions_.find(rows_[factor]);
      if (!known) known = expressions_.derive(rows_[factor]);
      result *= known ? *known : new_symbol(factor, true);
    }
    return result;
  }

  void choose_constants() {
    const std::size_t count = outlines_.front().constants.size();
    general_.constants.resize(count);
    general_.scalar_of.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const ElementBits& first = outlines_.front().constants[i];
      if (std::ranges::all_of(outlines_, [&](const ErasedSignature& outline) {
            return outline.constants[i] == first;
          })) {
        general_.constants[i] = first;
      } else {
        if (general_.scalars.size() == most_scalars) throw Refused();
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
    const std::vector<ValueId> from =
        operands(example_.operands(node), takes_scalars(example_, node));
    values_[index_of(node)] = general_.graph.add(
        example_.op(node), from, std::move(attributes_[position]), example_.node(node).location);
  }

  std::vector<ValueId> operands(std::span<const ValueId> values, bool take_scalars) {
    std::vector<ValueId> result;
    for (const ValueId value : values) {
      if (example_.op(value) != Op::constant) {
        result.push_back(values_[index_of(value)]);
        continue;
      }
      if (!take_scalars) {
        result.push_back(
            general_.graph.constant(example_.dtype(value), example_.attributes(value).bits));
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
  std::span<const ErasedSignature> outlines_;
  std::vector<ValueId> nodes_;
  SymbolicGraph general_;
  std::vector<Row> rows_;              ///< indexed by number
  std::vector<std::size_t> changing_;  ///< one number for each distinct row that changes
  std::vector<Product> products_;
  NewSymbols names_;
  Expressions expressions_;
  std::vector<ValueId> values_;   ///< the general graph's nodes, by the example's
  std::vector<ValueId> scalars_;  ///< scalar parameters, in the order of SymbolicGraph::scalars
  std::vector<Attributes> attributes_;  ///< of nodes_, with expressions in place of numbers
  std::size_t next_constant_ = 0;
};

}  // namespace

ErasedSignature erased_signature_of(const Graph& graph) {
  const std::vector<ValueId> nodes = counted_nodes(graph);
  ErasedSignature outline{structure_of(graph, nodes), {}, {}};
  for (const ValueId node : nodes) {
    for_each_number(graph.attributes(node),
                    [&](Dim number) { outline.numbers.push_back(number.constant()); });
  }
  for_each_constant(graph, nodes, [&](ValueId constant) {
    outline.constants.push_back(graph.attributes(constant).bits);
  });
  return outline;
}

std::optional<SymbolicGraph> generalize(const Graph& example,
                                        std::span<const ErasedSignature> outlines) {
  try {
    SymbolicGraph general = Generalizer(example, outlines).make();
    const bool fits = std::ranges::all_of(outlines, [&](const ErasedSignature& outline) {
      return covers_signature(general, outline);
    });
    if (fits) return general;
  } catch (const Refused&) {
  } catch (const ShapeError&) {  // inference cannot prove that the extents fit
  } catch (const IndexError&) {
  } catch (const ValueError&) {
  }
  return std::nullopt;
}

bool covers_signature(const SymbolicGraph& general, const ErasedSignature& outline) {
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
      return std::nullopt;  // beyond 64 bits, so not a number of a graph
    }
  };
  for (std::size_t i = 0; i < outline.numbers.size(); ++i) {
    if (value(general.numbers[i]) != outline.numbers[i]) return false;
  }
  return true;
}

}  // namespace heddle::ir

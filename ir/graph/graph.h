#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/base/hash.h"
#include "ir/infer/infer.h"
#include "ir/interpreter/host_array.h"
#include "ir/types/attributes.h"
#include "ir/types/op.h"

namespace heddle::ir {

/// Index of a node in its graph; nodes only refer to smaller ones.
enum class ValueId : std::uint32_t {};
constexpr std::uint32_t index_of(ValueId id) { return static_cast<std::uint32_t>(id); }

/// A line of the user's program. Never part of equality, hashes or keys.
struct Location {
  const char* file = nullptr;  ///< lives as long as the process
  std::uint32_t line = 0;
  /// Which node of the graph that was planned this is about, as its place in shared_order().
  std::uint32_t node = ~0u;
  std::string to_string() const;  ///< "file.cpp:12", or "" when unknown
};

struct Node {
  Op op;
  DType dtype;
  std::uint32_t shape;     ///< into Graph's interned shapes
  std::uint32_t operands;  ///< first of operand_count in Graph's operand list
  std::uint32_t operand_count;
  std::uint32_t attributes;  ///< into Graph's attributes
  Location location;
  Hash128 hash;  ///< of op, operands' hashes and attributes
};

/// A fact about a symbol, checked when a program is launched.
struct SymbolFact {
  SymbolId symbol;
  std::int64_t minimum = 0;
  std::int64_t multiple_of = 1;
  friend bool operator==(const SymbolFact&, const SymbolFact&) = default;
};

/// A flat SSA program over N-d arrays. Nodes are in topological order, equal ones are one node.
/// Elementwise operands broadcast as in NumPy; their dtypes are already equal. A call with several
/// results is one node a result: the call is the first, and `result` nodes name the others.
class Graph {
 public:
  std::string name = "main";

  ValueId parameter(DType dtype, Shape shape, Location location = {});
  /// A 0-d parameter that is passed by value with each launch.
  ValueId scalar_parameter(DType dtype, Location location = {});
  ValueId constant(DType dtype, ElementBits bits);
  /// The node for op(operands): an equal one if there is one. Throws what infer throws. Of a call
  /// it is the call's first result, and add(Op::result, {call}) with attribute `index` a further
  /// one.
  ValueId add(Op op, std::span<const ValueId> operands, Attributes attributes = {},
              Location location = {});
  ValueId add(Op op, std::initializer_list<ValueId> operands, Attributes attributes = {},
              Location location = {}) {
    return add(op, std::span(operands.begin(), operands.size()), std::move(attributes), location);
  }
  /// The first result of a call of `op`.
  ValueId call(const CallOp& op, std::initializer_list<ValueId> operands,
               std::initializer_list<NamedAttribute> attributes = {},
               std::vector<Region> regions = {}, Location location = {});
  /// Result `index` of a call: the call itself for 0.
  ValueId result(ValueId call, std::size_t index, Location location = {});
  /// Sets Location::node of all that shared_order() has: passes carry it along with the line.
  void number_nodes();
  std::vector<ValueId> outputs;
  std::vector<SymbolFact> facts;
  /// Whether add answers an exactly rounded op on constants with a constant
  /// (ir/interpreter/fold.h). A graph that was parsed holds what its text says, and folds what is
  /// added from then on.
  bool fold_constants = true;

  std::size_t size() const { return nodes_.size(); }
  const Node& node(ValueId id) const { return nodes_[index_of(id)]; }
  Op op(ValueId id) const { return node(id).op; }
  DType dtype(ValueId id) const { return node(id).dtype; }
  const Shape& shape(ValueId id) const { return shapes_[node(id).shape]; }
  Type type(ValueId id) const { return {dtype(id), shape(id)}; }
  std::span<const ValueId> operands(ValueId id) const {
    return {operands_.data() + node(id).operands, node(id).operand_count};
  }
  const Attributes& attributes(ValueId id) const { return attributes_[node(id).attributes]; }
  const std::vector<ValueId>& parameters() const { return parameters_; }
  /// What a node is: "add", or of a call the name of its op.
  std::string_view op_name(ValueId id) const;
  bool is_call_of(ValueId id, const CallOp& op) const {
    return this->op(id) == Op::call && attributes(id).call->op == &op;
  }
  /// The types of all results of a call.
  const std::vector<Type>& result_types(ValueId call) const {
    return result_types_.at(index_of(call));
  }
  /// Of parameters' types, the reachable structure and facts; not of the name or locations.
  Hash128 hash() const;

 private:
  ValueId insert(Op op, std::span<const ValueId> operands, Attributes&& attributes,
                 Location location);
  Type infer_result(std::span<const ValueId> operands, const Attributes& attributes) const;
  std::optional<ElementBits> folded(Op op, std::span<const ValueId> operands,
                                    const Attributes& attributes) const;
  std::uint32_t intern_shape(const Shape& shape);
  std::uint32_t store_attributes(Attributes&& attributes);

  std::vector<Node> nodes_;
  std::vector<ValueId> operands_;
  std::vector<Shape> shapes_;
  std::vector<Attributes> attributes_;
  std::vector<ValueId> parameters_;
  std::unordered_map<std::uint32_t, std::vector<Type>> result_types_;  ///< of calls, by index
  std::unordered_map<Hash128, ValueId, Hash128Hasher> by_hash_;
  std::unordered_map<std::string, std::uint32_t> shape_ids_;
};

/// One fact a symbol, sorted by name, those that say nothing left out. Throws ValueError for
/// multiples that are not positive or whose least common one does not fit 64 bits.
std::vector<SymbolFact> merge_facts(std::span<const SymbolFact> facts);

/// What a launch of the graph has to check, in the order of its nodes, each condition once. As for
/// the hash, what no output needs does not count; nor does what the parameters' arrays show to hold
/// by being there.
std::vector<Requirement> requirements(const Graph& graph);

/// The parameters, then what the outputs need, operands before users: an order that is the same for
/// all graphs of one hash, in whatever order they were recorded.
std::vector<ValueId> shared_order(const Graph& graph);

/// How many of a graph's nodes use each node; one that names it twice counts once, program outputs
/// do not count.
std::vector<std::uint32_t> use_counts(const Graph& graph);

/// The text form: parse(print(g)) equals g, and print is the same in every process.
struct PrintOptions {
  bool locations = false;  ///< "// file.cpp:12" behind lines whose location is known
};
std::string print(const Graph& graph, const PrintOptions& options = {});

/// "mode = \"reduced\"": the attributes of a call that differ from their initial values, and axes.
std::string attributes_text(const CallData& call);

/// A node as print(graph) numbers and spells it.
struct PrintedNode {
  ValueId id{};
  std::uint32_t number = 0;
  std::string text;  ///< "%3 = add %1, %2 : f32[n,64]"; of a parameter "%0: f32[n,64]"
};
/// The nodes that print(graph) shows, parameters first, each with its number.
std::vector<PrintedNode> print_nodes(const Graph& graph);
/// Throws ParseError with line and column, and what Graph::add throws. Locations are lines of
/// `file`, when it is given; it must live as long as the process.
Graph parse(std::string_view text, const char* file = nullptr);
/// The graph as a region of a call.
Region make_region(Graph graph);

/// Throws InternalError that names the node and the rule it breaks: operand order, types as infer
/// says, parameters in order, constants 0-d, outputs present.
void verify(const Graph& graph);

/// Evaluates by the book, one node after another: the definition of what a graph means. Scalars
/// arrive as 0-d arrays. Throws ShapeError when the arguments do not fit the parameters.
std::vector<HostArray> interpret(const Graph& graph, std::span<const HostArray> arguments);

}  // namespace heddle::ir

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

/// Index of a node in its graph. A node's operands have smaller indices.
enum class ValueId : std::uint32_t {};
constexpr std::uint32_t index_of(ValueId id) { return static_cast<std::uint32_t>(id); }

/// A source location in the user's program. Not part of equality, hashes or keys.
struct Location {
  const char* file = nullptr;  ///< valid as long as the process
  std::uint32_t line = 0;
  /// The node of the planned graph that this location is for, as an index into shared_order().
  std::uint32_t node = ~0u;
  std::string to_string() const;  ///< "file.cpp:12"; "" if unknown
};

struct Node {
  Op op;
  DType dtype;
  std::uint32_t shape;     ///< index into Graph's interned shapes
  std::uint32_t operands;  ///< index of the first operand in Graph's operand list
  std::uint32_t operand_count;
  std::uint32_t attributes;  ///< index into Graph's attributes
  Location location;
  Hash128 hash;  ///< of the op, the operands' hashes and the attributes
};

/// A constraint on a symbol, checked at each launch of a program.
struct SymbolFact {
  SymbolId symbol;
  std::int64_t minimum = 0;
  std::int64_t multiple_of = 1;
  friend bool operator==(const SymbolFact&, const SymbolFact&) = default;
};

/// A flat SSA program over N-d arrays. Nodes are in topological order, and equal nodes are one
/// node. Elementwise operands broadcast as in NumPy; their dtypes are already equal. A call has one
/// node for each result: the call node is the first result, `result` nodes are the others.
class Graph {
 public:
  std::string name = "main";

  ValueId parameter(DType dtype, Shape shape, Location location = {});
  /// A 0-d parameter, passed by value at each launch.
  ValueId scalar_parameter(DType dtype, Location location = {});
  ValueId constant(DType dtype, ElementBits bits);
  /// The node for op(operands): an existing node if an equal one exists. Throws what infer()
  /// throws. For Op::call, the node is the first result; add(Op::result, {call}) with attribute
  /// `index` gives the others.
  ValueId add(Op op, std::span<const ValueId> operands, Attributes attributes = {},
              Location location = {});
  ValueId add(Op op, std::initializer_list<ValueId> operands, Attributes attributes = {},
              Location location = {}) {
    return add(op, std::span(operands.begin(), operands.size()), std::move(attributes), location);
  }
  /// Adds a call of `op` and returns its first result.
  ValueId call(const CallOp& op, std::initializer_list<ValueId> operands,
               std::initializer_list<NamedAttribute> attributes = {},
               std::vector<Region> regions = {}, Location location = {});
  /// Result `index` of a call; index 0 is the call node itself.
  ValueId result(ValueId call, std::size_t index, Location location = {});
  /// Sets Location::node of all nodes in shared_order(). Passes copy it together with the line.
  void number_nodes();
  std::vector<ValueId> outputs;
  std::vector<SymbolFact> facts;
  /// Whether add() folds exactly rounded ops on constants into a constant (ir/interpreter/fold.h).
  /// parse() adds the nodes of its text unfolded, and sets this afterwards.
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
  /// "add"; for a call, the name of its call op.
  std::string_view op_name(ValueId id) const;
  bool is_call_of(ValueId id, const CallOp& op) const {
    return this->op(id) == Op::call && attributes(id).call->op == &op;
  }
  /// The types of all results of a call.
  const std::vector<Type>& result_types(ValueId call) const {
    return result_types_.at(index_of(call));
  }
  /// Hash of the parameters' types, the nodes that outputs need, and the facts; not of the name or
  /// locations.
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
  /// The types of all results of each call, by node index.
  std::unordered_map<std::uint32_t, std::vector<Type>> result_types_;
  std::unordered_map<Hash128, ValueId, Hash128Hasher> by_hash_;
  std::unordered_map<std::string, std::uint32_t> shape_ids_;
};

/// Merges facts to one for each symbol, sorted by name, without facts that exclude no value. Throws
/// ValueError for a multiple that is not positive, or if a least common multiple exceeds 64 bits.
std::vector<SymbolFact> merge_facts(std::span<const SymbolFact> facts);

/// The conditions that a launch of the graph must check, in node order, without duplicates. Nodes
/// that no output needs are ignored, as in the hash. Conditions that follow from the existence of
/// the parameters' arrays are left out.
std::vector<Requirement> requirements(const Graph& graph);

/// The parameters, then the nodes that outputs need, operands before users. The order depends only
/// on the graph's hash, not on the order in which nodes were recorded.
std::vector<ValueId> shared_order(const Graph& graph);

/// For each node, the number of nodes that use it. A user with the same operand twice counts once;
/// graph outputs do not count.
std::vector<std::uint32_t> use_counts(const Graph& graph);

/// Options of the text form. parse(print(g)) equals g, and print gives the same text in every
/// process.
struct PrintOptions {
  bool locations = false;  ///< adds "// file.cpp:12" to lines whose location is known
};
std::string print(const Graph& graph, const PrintOptions& options = {});

/// "mode = \"reduced\"": the attributes of a call that differ from their initial values. Axes are
/// always included.
std::string attributes_text(const CallData& call);

/// A node with its number and text in print(graph).
struct PrintedNode {
  ValueId id{};
  std::uint32_t number = 0;
  std::string text;  ///< "%3 = add %1, %2 : f32[n,64]"; for a parameter "%0: f32[n,64]"
};
/// The nodes that print(graph) shows, parameters first.
std::vector<PrintedNode> print_nodes(const Graph& graph);
/// Parses the text form. Throws ParseError with line and column, and what Graph::add throws. If
/// `file` is given, locations are lines of `file`; the string must live as long as the process.
Graph parse(std::string_view text, const char* file = nullptr);
/// Wraps a graph as a region of a call.
Region make_region(Graph graph);

/// Checks the graph's invariants: operand order, types as inferred, parameters in order, constants
/// 0-d, outputs present. Throws InternalError that names the node and the broken rule.
void verify(const Graph& graph);

/// Evaluates the graph node by node: the reference semantics. Scalars are passed as 0-d arrays.
/// Throws ShapeError if the arguments do not match the parameters.
std::vector<HostArray> interpret(const Graph& graph, std::span<const HostArray> arguments);

}  // namespace heddle::ir

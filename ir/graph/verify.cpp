#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/graph/graph.h"
#include "ir/types/fields.h"

namespace heddle::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    check_parameters();
    for (std::uint32_t i = 0; i < graph_.size(); ++i) check_node(ValueId{i});
    check_outputs();
    check_facts();
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    throw InternalError(fmt::format("graph {} is malformed: ", graph_.name) +
                        fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  std::string name(ValueId id) const {
    return fmt::format("node {} ({})", index_of(id), graph_.op_name(id));
  }

  void check_parameters() const {
    const std::vector<ValueId>& parameters = graph_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ValueId id = parameters[i];
      if (index_of(id) >= graph_.size() || graph_.op(id) != Op::parameter) {
        fail("parameter {} is node {}, which is not a parameter", i, index_of(id));
      }
      if (graph_.attributes(id).index != i) {
        fail("{} is at position {} but has index {}", name(id), i, graph_.attributes(id).index);
      }
    }
  }

  void check_node(ValueId id) const {
    std::vector<Type> types;
    for (ValueId operand : graph_.operands(id)) {
      if (index_of(operand) >= index_of(id)) {
        fail("{} uses node {}, which does not come before it", name(id), index_of(operand));
      }
      types.push_back(graph_.type(operand));
    }
    check_attributes(id);
    if (graph_.op(id) == Op::result) {
      check_result(id);
    } else {
      check_type(id, types);
    }
    if (graph_.op(id) == Op::call) check_call(id, types);
    if (graph_.op(id) == Op::parameter) check_listed(id);
  }

  void check_listed(ValueId id) const {
    const std::uint32_t index = graph_.attributes(id).index;
    if (index >= graph_.parameters().size() || graph_.parameters()[index] != id) {
      fail("{} has index {} but is not the parameter at that index", name(id), index);
    }
  }

  void check_type(ValueId id, const std::vector<Type>& operands) const {
    Type expected{DType::boolean, {}};
    try {
      expected = infer(graph_.op(id), operands, graph_.attributes(id));
    } catch (const Error& error) {
      fail("{} violates its type rule: {}", name(id), error.what());
    }
    if (graph_.type(id) != expected) {
      fail("{} has type {}, but its type rule gives {}", name(id), to_string(graph_.type(id)),
           to_string(expected));
    }
  }

  void check_call(ValueId id, const std::vector<Type>& operands) const {
    const CallData& call = *graph_.attributes(id).call;
    if (graph_.result_types(id) != infer_results(operands, graph_.attributes(id)))
      fail("{} has results that differ from its type rule", name(id));
    for (const Region& region : call.regions) {
      if (region.hash != region.graph->hash()) fail("{} has a region that was modified", name(id));
      verify(*region.graph);
    }
  }

  void check_result(ValueId id) const {
    if (graph_.operands(id).size() != 1)
      fail("{} has {} operands; the only operand must be its call", name(id),
           graph_.operands(id).size());
    const ValueId call = graph_.operands(id)[0];
    if (graph_.op(call) != Op::call)
      fail("{} belongs to node {}, which is not a call", name(id), index_of(call));
    const std::vector<Type>& types = graph_.result_types(call);
    const std::uint32_t index = graph_.attributes(id).index;
    if (index == 0 || index >= types.size() || graph_.type(id) != types[index])
      fail("{} does not have the type of result {} of its call", name(id), index);
  }

  /// Fields that an op does not use are not printed, so they must have their defaults.
  void check_attributes(ValueId id) const {
    const AttributeFields fields = fields_of(graph_.op(id));
    Attributes rest = graph_.attributes(id);
    const Attributes none;
    if (fields.axes) rest.axes = none.axes;
    if (fields.keepdims) rest.keepdims = none.keepdims;
    if (fields.shape) rest.shape = none.shape;
    if (fields.region) rest.starts = none.starts, rest.steps = none.steps;
    if (fields.dtype) rest.dtype = none.dtype;
    if (fields.bits) rest.bits = none.bits;
    if (fields.parameter) rest.index = none.index, rest.scalar = none.scalar;
    if (fields.call) rest.call = none.call;
    if (fields.result) rest.index = none.index;
    if (rest != none) fail("{} has attributes that its op does not have", name(id));
  }

  void check_outputs() const {
    if (graph_.outputs.empty()) fail("it has no outputs");
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (index_of(graph_.outputs[i]) >= graph_.size()) {
        fail("output {} is node {} of {}", i, index_of(graph_.outputs[i]), graph_.size());
      }
    }
  }

  void check_facts() const {
    try {
      merge_facts(graph_.facts);
    } catch (const ValueError& error) {
      fail("{}", error.what());
    }
  }

  const Graph& graph_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace heddle::ir

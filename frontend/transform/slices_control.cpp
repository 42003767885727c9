// Loops and branches for many slices at once. First it is found which carries vary from slice to
// slice: those whose first value varies, and those that some step computes from values that vary.
#include <algorithm>

#include "frontend/array/access.h"
#include "frontend/control/bodies.h"
#include "frontend/graph/record.h"
#include "frontend/transform/slices.h"
#include "ir/calls/calls.h"
#include "ir/calls/control.h"

namespace heddle::frontend {

namespace {

using Arrays = std::vector<Array>;

std::size_t count_of(const ir::CallData& call, std::string_view name) {
  return static_cast<std::size_t>(call.get<std::int64_t>(name));
}

/// Marks the carries, which begin at input `first` of a loop's body, that vary in some step.
void spread(const ir::Graph& body, std::vector<bool>& varies, std::size_t first,
            std::size_t carries) {
  for (bool changes = true; changes;) {
    changes = false;
    const std::vector<bool> results = varying_outputs(body, varies);
    for (std::size_t i = 0; i < carries; ++i) {
      if (!results[i] || varies[first + i]) continue;
      varies[first + i] = changes = true;
    }
  }
}

std::vector<bool> varying(const std::vector<Slices>& values) {
  std::vector<bool> varies;
  for (const Slices& value : values) varies.push_back(value.varies);
  return varies;
}

std::vector<ir::Type> types_of(const std::vector<Slices>& values) {
  std::vector<ir::Type> types;
  for (const Slices& value : values) types.push_back({value.node->dtype, value.node->shape});
  return types;
}

/// Records a loop or branch over the operands of `values`, after what its functions use from
/// outside.
std::vector<NodeRef> record_regions(const ir::CallOp& op,
                                    std::initializer_list<const TracedBody*> bodies,
                                    const std::vector<Slices>& values,
                                    std::initializer_list<ir::NamedAttribute> attributes,
                                    const Site& site) {
  std::vector<NodeRef> operands = outside_values(bodies);
  std::vector<ir::Region> regions;
  for (const TracedBody* const body : bodies) regions.push_back(body->region(operands));
  for (const Slices& value : values) operands.push_back(value.node);
  return record_call(op, operands, attributes, site, std::move(regions));
}

/// The axis of slices and the first axis of a slice, exchanged.
NodeRef with_first_axes_swapped(const NodeRef& node, const Site& site) {
  ir::Attributes attributes;
  for (std::size_t i = 0; i < node->shape.size(); ++i)
    attributes.axes.push_back(i < 2 ? 1 - static_cast<std::int64_t>(i)
                                    : static_cast<std::int64_t>(i));
  return record(ir::Op::transpose, {node}, std::move(attributes), site);
}

/// One condition for each slice, and carries that are not all single elements: the loop goes on
/// while any slice does, and slices that do not keep their values.
struct EndedSlices {
  /// Elements of `made` where the slice's condition is true, else those of `old`.
  static NodeRef keep(Slices condition, const NodeRef& made, const NodeRef& old, const Site& site) {
    align_slices(condition, old->shape.size() - 1, site);
    return record(ir::Op::select, {condition.node, made, old}, site);
  }
  static NodeRef any(const NodeRef& condition, const Site& site) {
    ir::Attributes attributes;
    attributes.axes = {0};
    return record(ir::Op::any, {condition}, std::move(attributes), site);
  }
};

}  // namespace

std::vector<Slices> SliceRecorder::record_scan(const ir::CallData& call,
                                               std::vector<Slices> operands,
                                               const Site& site) const {
  const ir::Region& body = call.regions[0];
  const std::size_t carries = count_of(call, "carries"), sequences = count_of(call, "sequences");
  const std::size_t first_carry = operands.size() - sequences - carries;
  std::vector<bool> varies = varying(operands);
  varies.insert(varies.begin(), 2, false);  // the counter, as extent and as value
  spread(*body.graph, varies, 2 + first_carry, carries);
  for (std::size_t i = first_carry; i < operands.size(); ++i) {
    if (!varies[2 + i]) continue;
    operands[i] = {with_slices(operands[i], site), true};
    if (i >= first_carry + carries)
      operands[i].node = with_first_axes_swapped(operands[i].node, site);
  }
  std::vector<ir::Type> inputs = types_of(operands);
  for (std::size_t i = first_carry + carries; i < inputs.size(); ++i)
    inputs[i].shape.erase(inputs[i].shape.begin());
  std::vector<bool> result_varies;
  const auto function = [&](Arrays values) {
    std::vector<Slices> given(1);
    for (const Array& value : values)
      given.push_back({Access::node(value, where_), varies[given.size()]});
    Arrays results;
    for (Slices& made : run(*body.graph, given)) {
      const std::size_t i = results.size();
      const bool is_carry = i < carries;
      result_varies.push_back(is_carry ? varies[2 + first_carry + i] : made.varies);
      results.push_back(Access::make(result_varies[i] ? with_slices(made, site) : made.node));
    }
    return results;
  };
  const TracedBody traced("vmap", function, inputs, where_,
                          std::pair(body.parameters[0].shape[0], ir::scan_length(call)));
  Results results;
  for (const NodeRef& node : record_regions(ir::calls::scan(), {&traced}, operands,
                                            {{"carries", static_cast<std::int64_t>(carries)},
                                             {"sequences", static_cast<std::int64_t>(sequences)},
                                             {"length", call.get<ir::Dims>("length")},
                                             {"reverse", call.get<bool>("reverse")}},
                                            site)) {
    const std::size_t i = results.size();
    const bool is_stack = i >= carries && result_varies[i];
    results.push_back({is_stack ? with_first_axes_swapped(node, site) : node, result_varies[i]});
  }
  return results;
}

std::vector<Slices> SliceRecorder::record_while(const ir::CallData& call,
                                                std::vector<Slices> operands,
                                                const Site& site) const {
  const ir::Region &test = call.regions[0], &body = call.regions[1];
  const std::size_t carries = count_of(call, "carries"), first = operands.size() - carries;
  const ir::Shape& truth = test.results[0].shape;
  std::vector<bool> varies = varying(operands);
  spread(*body.graph, varies, first, carries);
  const auto begin = varies.begin() + static_cast<std::ptrdiff_t>(first);
  // Elements that have a condition each keep that form: then all carries have its shape.
  const bool by_slice = varying_outputs(*test.graph, varies)[0] ||
                        (!truth.empty() && std::find(begin, varies.end(), true) != varies.end());
  if (by_slice) std::fill(begin, varies.end(), true);
  const bool by_element =
      by_slice && std::all_of(body.results.begin(), body.results.end(),
                              [&](const ir::Type& carry) { return carry.shape == truth; });
  for (std::size_t i = first; i < operands.size(); ++i)
    if (varies[i]) operands[i] = {with_slices(operands[i], site), true};
  const auto given = [&](const Arrays& values) {
    std::vector<Slices> inputs;
    for (const Array& value : values)
      inputs.push_back({Access::node(value, where_), varies[inputs.size()]});
    return inputs;
  };
  const auto condition = [&](const Arrays& values) {
    Slices made = run(*test.graph, given(values))[0];
    if (by_slice) made = {with_slices(made, site), true};
    return made;
  };
  const auto holds = [&](const Arrays& values) {
    const Slices made = condition(values);
    return Arrays{
        Access::make(by_slice && !by_element ? EndedSlices::any(made.node, site) : made.node)};
  };
  const auto step = [&](const Arrays& values) {
    const std::vector<Slices> inputs = given(values);
    const Slices active = by_slice && !by_element ? condition(values) : Slices{};
    Arrays results;
    for (const Slices& made : run(*body.graph, inputs)) {
      const std::size_t i = first + results.size();
      NodeRef node = varies[i] ? with_slices(made, site) : made.node;
      if (active.node) node = EndedSlices::keep(active, node, inputs[i].node, site);
      results.push_back(Access::make(std::move(node)));
    }
    return results;
  };
  const std::vector<ir::Type> inputs = types_of(operands);
  const TracedBody traced_test("vmap", holds, inputs, where_);
  const TracedBody traced_body("vmap", step, inputs, where_);
  Results results;
  for (NodeRef& node :
       record_regions(ir::calls::while_loop(), {&traced_test, &traced_body}, operands,
                      {{"carries", static_cast<std::int64_t>(carries)}}, site))
    results.push_back({std::move(node), varies[first + results.size()]});
  return results;
}

std::vector<Slices> SliceRecorder::record_switch(const ir::CallData& call,
                                                 std::vector<Slices> operands,
                                                 const Site& site) const {
  const Slices index = operands[0];
  operands.erase(operands.begin());
  if (index.varies) return select_branch(call, index, operands, site);
  // A result varies if it does so in one of the branches.
  const std::vector<bool> varies = varying(operands);
  std::vector<bool> result_varies(call.regions[0].results.size());
  for (const ir::Region& branch : call.regions) {
    const std::vector<bool> outputs = varying_outputs(*branch.graph, varies);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      result_varies[i] = result_varies[i] || outputs[i];
  }
  std::vector<TracedBody> traced;
  for (const ir::Region& branch : call.regions) {
    const auto function = [&](const Arrays& values) {
      std::vector<Slices> given;
      for (const Array& value : values)
        given.push_back({Access::node(value, where_), varies[given.size()]});
      Arrays results;
      for (const Slices& made : run(*branch.graph, given)) {
        const bool repeated = result_varies[results.size()];
        results.push_back(Access::make(repeated ? with_slices(made, site) : made.node));
      }
      return results;
    };
    traced.emplace_back("vmap", function, types_of(operands), where_);
  }
  std::vector<NodeRef> all = outside_values(traced);
  std::vector<ir::Region> regions;
  for (const TracedBody& branch : traced) regions.push_back(branch.region(all));
  all.insert(all.begin(), index.node);
  for (const Slices& operand : operands) all.push_back(operand.node);
  Results results;
  for (NodeRef& node : record_call(ir::calls::switch_case(), all, {}, site, std::move(regions)))
    results.push_back({std::move(node), result_varies[results.size()]});
  return results;
}

/// Slices choose different branches: all branches are computed, and each slice takes its own.
std::vector<Slices> SliceRecorder::select_branch(const ir::CallData& call, const Slices& index,
                                                 const std::vector<Slices>& operands,
                                                 const Site& site) const {
  Results chosen;
  for (std::size_t k = call.regions.size(); k-- > 0;) {
    const std::vector<Slices> made = run(*call.regions[k].graph, operands);
    if (chosen.empty()) {
      for (const Slices& value : made) chosen.push_back({with_slices(value, site), true});
      continue;
    }
    const NodeRef number = record_constant(DType::i64, static_cast<double>(k));
    const Slices is_this{record(ir::Op::less_equal, {index.node, number}, site), true};
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i].node = EndedSlices::keep(is_this, with_slices(made[i], site), chosen[i].node, site);
  }
  return chosen;
}

}  // namespace heddle::frontend

#include "passes/calls/control.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/calls/control.h"
#include "ir/types/capabilities.h"
#include "passes/program/program.h"

namespace heddle::passes {

namespace {

/// Collects the parts of a step that all three ops have.
class ControlStep {
 public:
  explicit ControlStep(CallBuilder& builder)
      : builder_(builder),
        call_(*builder.graph.attributes(builder.call).call),
        types_(builder.graph.result_types(builder.call)),
        arrays_(arrays_read(builder.graph, builder.call, builder.target)) {
    step_.handler = step_.operation = call_.op->name;
    step_.label = call_.op->name;
    std::ranges::replace(step_.label, '.', '_');
    for (const ValueId array : arrays_) {
      step_.operands.push_back(builder.array(array));
      moved_ += ir::byte_count(builder.graph.type(array));
    }
    for (std::size_t i = 0; i < types_.size(); ++i) {
      step_.results.push_back(builder.result(i));
      moved_ += ir::byte_count(types_[i]);
    }
  }

  const ir::CallData& call() const { return call_; }
  CallStep& step() { return step_; }
  std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(call_.get<std::int64_t>(name));
  }

  /// Operands that are carries are copied to the memory of their results, where the last body, of
  /// which they are the inputs from `first` on, replaces them. Values that it makes in memory of
  /// their own need a second buffer.
  void add_carries(std::size_t constants, std::size_t carries, std::size_t first) {
    step_.values.set("carries", Dim(static_cast<std::int64_t>(carries)));
    const auto in_place = carries_in_place(*step_.bodies.back(), first, carries);
    for (std::size_t i = 0; i < carries; ++i) {
      step_.scratch.push_back(builder_.scratch(in_place[i] ? Dim(0) : ir::byte_count(types_[i])));
      step_.aliases.push_back(
          {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(constants + i)});
    }
  }

  BodyInput operand(std::size_t i) const {
    return {false, builder_.is_aligned(step_.operands[i].buffer)};
  }
  bool is_aligned_result(std::size_t i) const {
    return builder_.is_aligned(step_.results[i].buffer);
  }
  /// Carries move to the memory of others.
  bool carries_are_aligned(std::size_t carries) const {
    return std::ranges::all_of(std::views::iota(std::size_t{0}, carries),
                               [&](std::size_t i) { return is_aligned_result(i); });
  }
  std::vector<BodyInput> operands(std::size_t first, std::size_t count) const {
    std::vector<BodyInput> inputs;
    for (std::size_t i = first; i < first + count; ++i) inputs.push_back(operand(i));
    return inputs;
  }
  void add_body(std::size_t region, const std::vector<BodyInput>& inputs,
                const std::vector<bool>& aligned_outputs) {
    step_.bodies.push_back(builder_.body(call_.regions[region], inputs, aligned_outputs));
  }

  /// A kernel with which the device decides by a number of this dtype.
  void add_decision(DType dtype) {
    if (!ir::capabilities_of(builder_.target.target).graph_conditions) return;
    KernelPlan plan;
    plan.family = "decision";
    plan.name = fmt::format("hd_decide_{}", name_of(dtype));
    plan.decides = dtype;
    plan.threads = 1;
    step_.kernels.emplace_back().kernel = builder_.kernel(std::move(plan));
  }

  DescribedCall finish(std::string what) {
    step_.what = std::move(what);
    return {std::move(step_), moved_};
  }

 private:
  CallBuilder& builder_;
  const ir::CallData& call_;
  const std::vector<ir::Type>& types_;
  const std::vector<ValueId> arrays_;
  CallStep step_;
  Dim moved_;
};

/// Whether each slice of an aligned array is aligned.
bool slices_are_aligned(const ir::Type& slice) {
  return ir::byte_count(slice).divisible_by(whole_access);
}

}  // namespace

std::vector<std::optional<std::size_t>> carries_in_place(const Program& body, std::size_t first,
                                                         std::size_t carries) {
  std::vector<std::optional<std::size_t>> sources(carries);
  std::vector<bool> taken(carries);
  for (std::size_t i = 0; i < carries; ++i) {
    const std::optional<std::uint32_t> input = body.outputs[i].input;
    if (!input || *input < first || *input >= first + carries || taken[*input - first]) continue;
    sources[i] = *input - first;
    taken[*input - first] = true;
  }
  return sources;
}

DescribedCall describe_scan(CallBuilder& builder) {
  ControlStep made(builder);
  const std::size_t carries = made.count("carries"), sequences = made.count("sequences");
  const std::size_t constants = made.step().operands.size() - carries - sequences;
  const Dim length = ir::scan_length(made.call());
  made.step().values.set("sequences", Dim(static_cast<std::int64_t>(sequences)));
  made.step().values.set("length", length);
  made.step().values.set("reverse", made.call().get<bool>("reverse"));
  const std::vector<ir::Type>& parameters = made.call().regions[0].parameters;
  std::vector<BodyInput> inputs = {{}, {}};  // the counter, as an extent and as a scalar
  for (const BodyInput& input : made.operands(0, constants)) inputs.push_back(input);
  const bool aligned_carries = made.carries_are_aligned(carries);
  inputs.insert(inputs.end(), carries, {.donated = true, .aligned = aligned_carries});
  for (std::size_t i = constants + carries; i < constants + carries + sequences; ++i) {
    const bool aligned = made.operand(i).aligned && slices_are_aligned(parameters[i + 2]);
    inputs.push_back({false, aligned});
  }
  std::vector<bool> outputs(carries, aligned_carries);
  const ir::Graph& body = *made.call().regions[0].graph;
  for (std::size_t i = carries; i < body.outputs.size(); ++i)
    outputs.push_back(made.is_aligned_result(i) && slices_are_aligned(body.type(body.outputs[i])));
  made.add_body(0, inputs, outputs);
  made.add_carries(constants, carries, constants + 2);
  return made.finish(fmt::format("{} steps", length.to_string()));
}

DescribedCall describe_while(CallBuilder& builder) {
  ControlStep made(builder);
  const std::size_t carries = made.count("carries");
  const std::size_t constants = made.step().operands.size() - carries;
  std::vector<BodyInput> inputs = made.operands(0, constants);
  const bool aligned = made.carries_are_aligned(carries);
  inputs.insert(inputs.end(), carries, {.donated = false, .aligned = aligned});
  made.add_body(0, inputs, {true});
  for (std::size_t i = constants; i < inputs.size(); ++i) inputs[i].donated = true;
  made.add_body(1, inputs, std::vector<bool>(carries, aligned));
  made.add_carries(constants, carries, constants);
  made.add_decision(DType::boolean);
  return made.finish(fmt::format("{} carries", carries));
}

DescribedCall describe_switch(CallBuilder& builder) {
  ControlStep made(builder);
  const std::vector<BodyInput> inputs = made.operands(1, made.step().operands.size() - 1);
  std::vector<bool> outputs;
  for (std::size_t i = 0; i < made.step().results.size(); ++i)
    outputs.push_back(made.is_aligned_result(i));
  for (std::size_t i = 0; i < made.call().regions.size(); ++i) made.add_body(i, inputs, outputs);
  made.add_decision(DType::i64);
  return made.finish(fmt::format("{} branches", made.call().regions.size()));
}

}  // namespace heddle::passes

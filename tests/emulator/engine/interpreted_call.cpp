#include "tests/emulator/engine/interpreted_call.h"

#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "ir/calls/control.h"
#include "ir/infer/infer.h"
#include "passes/program/program.h"
#include "tests/emulator/emulator.h"

namespace heddle::emulator {
namespace {

/// The value of an attribute, of the type that the op gives it.
ir::AttributeValue attribute_value(const ir::CallAttribute& attribute,
                                   const passes::CallValues& values,
                                   const ir::SymbolBindings& bindings,
                                   const InterpretedCall::Number& number) {
  return std::visit(
      [&]<class T>(const T&) -> ir::AttributeValue {
        if constexpr (std::is_same_v<T, bool>) {
          return values.flag(attribute.name);
        } else if constexpr (std::is_same_v<T, std::int64_t>) {
          return values.size(attribute.name).evaluate(bindings);
        } else if constexpr (std::is_same_v<T, double>) {
          return number(values.factor(attribute.name));
        } else if constexpr (std::is_same_v<T, std::string>) {
          return values.text(attribute.name);
        } else if constexpr (std::is_same_v<T, DType>) {
          return values.dtype(attribute.name);
        } else if constexpr (std::is_same_v<T, ir::Dims>) {
          return T{values.size(attribute.name).evaluate(bindings)};
        } else {
          throw EmulationError(fmt::format("a step has no list, as '{}' is", attribute.name));
        }
      },
      attribute.initial);
}

/// The type with its symbols bound. The counter of a loop stays a symbol.
ir::Type bound(ir::Type type, const ir::SymbolBindings& bindings) {
  for (ir::Dim& extent : type.shape) extent = extent.with_bound(bindings);
  return type;
}

/// What the interpreter reads of a region: its types.
ir::Region region_of(const passes::Program& body, const ir::SymbolBindings& bindings) {
  ir::Region region;
  for (const passes::ProgramInput& input : body.inputs)
    region.parameters.push_back(bound(input.type, bindings));
  for (const passes::ProgramOutput& output : body.outputs)
    region.results.push_back(bound(output.type, bindings));
  return region;
}

}  // namespace

InterpretedCall::InterpretedCall(const passes::CallStep& step, const ir::SymbolBindings& bindings,
                                 const Number& number) {
  const ir::CallOp* const op = ir::find_call_op(step.handler);
  if (op == nullptr || (step.bodies.empty() && !step.values.has("batch")))
    throw EmulationError(fmt::format("a library runs the call '{}'", step.handler));
  ir::CallData data{op, {}, {}};
  for (const ir::CallAttribute& attribute : op->attributes)
    data.attributes.push_back(attribute_value(attribute, step.values, bindings, number));
  for (const auto& body : step.bodies) data.regions.push_back(region_of(*body, bindings));
  attributes_.call = ir::CallRef(std::move(data));
  step.bodies.empty() ? add_matrices(step, bindings) : add_operands_of_bodies(step);
  results_ = ir::infer_results(operands_, attributes_);
}

void InterpretedCall::add_matrices(const passes::CallStep& step,
                                   const ir::SymbolBindings& bindings) {
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format("_{}", i);
    const auto extent = [&](const std::string& name) {
      return ir::Dim(step.values.size(name).evaluate(bindings));
    };
    ir::Shape shape = {extent("batch")};
    const bool matrix =
        i == 0 ? attributes_.call->op->core_axes > 1 : step.values.has("rows" + suffix);
    if (matrix) shape.push_back(extent("rows" + suffix));
    shape.push_back(extent("columns" + suffix));
    operands_.push_back({step.operands[i].dtype, std::move(shape)});
  }
}

/// Bodies take the operands: a scan's after the counter, twice, and of its sequences the elements;
/// a switch's without the index.
void InterpretedCall::add_operands_of_bodies(const passes::CallStep& step) {
  const ir::CallData& call = *attributes_.call;
  operands_ = call.regions.back().parameters;
  if (call.op == &ir::calls::switch_case()) operands_.insert(operands_.begin(), {DType::i64, {}});
  if (call.op != &ir::calls::scan()) return;
  operands_.erase(operands_.begin(), operands_.begin() + 2);
  const auto sequences = static_cast<std::size_t>(call.get<std::int64_t>("sequences"));
  for (std::size_t i = step.operands.size() - sequences; i < operands_.size(); ++i)
    operands_[i].shape.insert(operands_[i].shape.begin(), ir::scan_length(call));
}

std::vector<ir::HostArray> InterpretedCall::run(std::span<const ir::HostArray> operands,
                                                const RunBody& run_body) const {
  std::vector<const ir::HostArray*> arrays;
  for (const ir::HostArray& operand : operands) arrays.push_back(&operand);
  const ir::CallData& data = *attributes_.call;
  return data.op->interpret(
      {.call = data, .operands = arrays, .results = results_, .run = run_body});
}

}  // namespace heddle::emulator

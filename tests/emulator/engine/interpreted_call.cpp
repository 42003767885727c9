#include "tests/emulator/engine/interpreted_call.h"

#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "ir/infer/infer.h"
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
        } else {
          throw EmulationError(fmt::format("a step has no list, as '{}' is", attribute.name));
        }
      },
      attribute.initial);
}

}  // namespace

InterpretedCall::InterpretedCall(const passes::CallStep& step, const ir::SymbolBindings& bindings,
                                 const Number& number) {
  const ir::CallOp* const op = ir::find_call_op(step.handler);
  if (op == nullptr || !step.values.has("batch"))
    throw EmulationError(fmt::format("a library runs the call '{}'", step.handler));
  ir::CallData data{op, {}, {}};
  for (const ir::CallAttribute& attribute : op->attributes)
    data.attributes.push_back(attribute_value(attribute, step.values, bindings, number));
  attributes_.call = ir::CallRef(std::move(data));
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format("_{}", i);
    const auto extent = [&](const std::string& name) {
      return ir::Dim(step.values.size(name).evaluate(bindings));
    };
    ir::Shape shape = {extent("batch")};
    const bool matrix = i == 0 ? op->core_axes > 1 : step.values.has("rows" + suffix);
    if (matrix) shape.push_back(extent("rows" + suffix));
    shape.push_back(extent("columns" + suffix));
    operands_.push_back({step.operands[i].dtype, std::move(shape)});
  }
  results_ = ir::infer_results(operands_, attributes_);
}

std::vector<ir::HostArray> InterpretedCall::run(std::span<const ir::HostArray> operands) const {
  std::vector<const ir::HostArray*> arrays;
  for (const ir::HostArray& operand : operands) arrays.push_back(&operand);
  const ir::CallData& data = *attributes_.call;
  return data.op->interpret({.call = data, .operands = arrays, .results = results_, .run = {}});
}

}  // namespace heddle::emulator

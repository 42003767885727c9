#include "test_calls.h"

#include <algorithm>
#include <cstring>

#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"

namespace heddle::test {

using namespace ir;

namespace {

std::vector<Type> infer_extremes(const Call& call) {
  check_allowed(call, call.operand(0).dtype);
  if (call.rank() == 0) fail<ShapeError>(call, "takes arrays of at least 1 dimension");
  const Shape& shape = call.operand(0).shape;
  const Type rows{call.operand(0).dtype, {shape.begin(), shape.end() - 1}};
  return {rows, rows, {DType::boolean, {}}};
}

std::vector<HostArray> interpret_extremes(const CallArguments& arguments) {
  const HostArray& operand = *arguments.operands[0];
  std::vector<HostArray> results;
  for (const Type& type : arguments.results) results.push_back(interpreter::allocate(type));
  const auto length = static_cast<std::size_t>(operand.type.shape.back().constant());
  const auto* const values = reinterpret_cast<const std::int64_t*>(operand.data.data());
  for (std::size_t row = 0; row < interpreter::count_of(results[0].type); ++row) {
    const auto [least, most] =
        std::minmax_element(values + row * length, values + (row + 1) * length);
    reinterpret_cast<std::int64_t*>(results[0].data.data())[row] = *least;
    reinterpret_cast<std::int64_t*>(results[1].data.data())[row] = *most;
  }
  results[2].data[0] = std::byte{arguments.call.get<double>("weight") > 0};
  return results;
}

std::vector<Type> infer_repeat(const Call& call) {
  const Region& region = call.attributes.call->regions[0];
  const std::vector<Type> operands(call.operands.begin(), call.operands.end());
  if (region.parameters != operands || region.results != operands)
    fail<ShapeError>(call, "its region takes and gives other types than its operands have");
  return operands;
}

std::vector<HostArray> interpret_repeat(const CallArguments& arguments) {
  std::vector<HostArray> values;
  for (const HostArray* operand : arguments.operands) values.push_back(*operand);
  for (std::int64_t i = 0; i < arguments.call.get<std::int64_t>("times"); ++i)
    values = arguments.run(0, values);
  return values;
}

const CallOp& registered(const CallOp& op) {
  register_call_op(op);
  return op;
}

}  // namespace

const CallOp& extremes() {
  static const CallOp& op = registered(
      *new CallOp{.name = "test.extremes",
                  .numpy = "numpy.min, numpy.max",
                  .dtypes = set_of(DType::i64),
                  .attributes = {{.name = "exact", .initial = false},
                                 {.name = "axis", .initial = std::int64_t{0}, .is_axis = true},
                                 {.name = "weight", .initial = 1.0},
                                 {.name = "mode",
                                  .initial = std::string("both"),
                                  .choices = {"both", "least", "most"}},
                                 {.name = "dtype", .initial = DType::f32},
                                 {.name = "counts", .initial = std::vector<std::int64_t>{}},
                                 {.name = "extents", .initial = ir::Dims{}}},
                  .infer = infer_extremes,
                  .interpret = interpret_extremes,
                  .core_axes = 1});
  return op;
}

const CallOp& repeat() {
  static const CallOp& op =
      registered(*new CallOp{.name = "test.repeat",
                             .numpy = "",
                             .operands = -1,
                             .attributes = {{.name = "times", .initial = std::int64_t{1}}},
                             .regions = 1,
                             .infer = infer_repeat,
                             .interpret = interpret_repeat});
  return op;
}

}  // namespace heddle::test

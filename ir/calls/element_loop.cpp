#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/calls/control.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"

namespace heddle::ir {

namespace {

std::size_t position_of(const Call& call, std::string_view name, std::size_t end) {
  const std::int64_t value = call.attributes.call->get<std::int64_t>(name);
  if (value < 0 || static_cast<std::uint64_t>(value) >= end)
    fail<ValueError>(call, "{} = {} is not in [0, {})", name, value, end);
  return static_cast<std::size_t>(value);
}

/// Throws unless the region takes and returns 0-d values of these dtypes.
void require_scalars(const Call& call, const Region& region, std::string_view what,
                     const std::vector<DType>& parameters, const std::vector<DType>& results) {
  const auto agree = [](const std::vector<Type>& types, const std::vector<DType>& dtypes) {
    return std::ranges::equal(types, dtypes, [](const Type& type, DType dtype) {
      return type.shape.empty() && type.dtype == dtype;
    });
  };
  if (!agree(region.parameters, parameters))
    fail<DTypeError>(call, "the parameters of its {} are not its operands' elements", what);
  if (!agree(region.results, results))
    fail<DTypeError>(call, "the results of its {} are not elements of the right dtypes", what);
}

std::vector<Type> infer_element_loop(const Call& call) {
  const CallData& data = *call.attributes.call;
  if (call.operands.empty()) fail<ValueError>(call, "has no operands");
  const std::int64_t carried = data.get<std::int64_t>("carries");
  if (carried < 1 || static_cast<std::uint64_t>(carried) > call.operands.size())
    fail<ValueError>(call, "carries = {} is not the number of some of its operands", carried);
  const auto carries = static_cast<std::size_t>(carried);
  const std::size_t result = position_of(call, "result", carries);
  std::vector<DType> parameters, next;
  Shape shape;
  for (const Type& type : call.operands) {
    parameters.push_back(type.dtype);
    shape = broadcast(call, shape, type.shape);
  }
  for (std::size_t i = call.operands.size() - carries; i < call.operands.size(); ++i)
    next.push_back(call.operand(i).dtype);
  const bool counted = is_counted(data);
  if (data.regions.size() != (counted ? 1 : 2))
    fail<ValueError>(call, "takes a body, and a condition unless it has a length");
  if (!counted) require_scalars(call, data.regions[0], "condition", parameters, {DType::boolean});
  if (counted) {
    require(call, Requirement::Breach::value, scan_length(data), 1,
            [] { return "its length is negative"; });
    parameters.insert(parameters.begin(), DType::i64);
  }
  require_scalars(call, data.regions.back(), "body", parameters, next);
  return {{next[result], std::move(shape)}};
}

/// Runs the loop of one element. `values` are the constants and the carries.
void run_steps(const CallArguments& arguments, std::size_t constants,
               std::vector<HostArray>& values) {
  const CallData& call = arguments.call;
  const auto replace = [&](std::vector<HostArray> made) {
    std::ranges::move(made, values.begin() + static_cast<std::ptrdiff_t>(constants));
  };
  if (!is_counted(call)) {
    while (arguments.run(0, values)[0].data[0] != std::byte{0}) replace(arguments.run(1, values));
    return;
  }
  const std::int64_t length = scan_length(call).constant();
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t step = call.get<bool>("reverse") ? length - 1 - k : k;
    std::vector<HostArray> inputs = {interpreter::allocate({DType::i64, {}})};
    std::memcpy(inputs[0].data.data(), &step, sizeof step);
    std::ranges::copy(values, std::back_inserter(inputs));
    replace(arguments.run(0, inputs));
  }
}

std::vector<HostArray> interpret_element_loop(const CallArguments& arguments) {
  const auto carries = static_cast<std::size_t>(arguments.call.get<std::int64_t>("carries"));
  const std::size_t constants = arguments.operands.size() - carries;
  const auto result =
      constants + static_cast<std::size_t>(arguments.call.get<std::int64_t>("result"));
  HostArray made = interpreter::allocate(arguments.results[0]);
  std::vector<HostArray> operands;
  for (const HostArray* const operand : arguments.operands)
    operands.push_back(interpreter::broadcast(*operand, made.type.shape));
  const std::size_t count = interpreter::count_of(made.type), bytes = size_of(made.type.dtype);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<HostArray> values;
    for (const HostArray& operand : operands) {
      HostArray& element = values.emplace_back(interpreter::allocate({operand.type.dtype, {}}));
      const std::size_t size = element.data.size();
      std::memcpy(element.data.data(), operand.data.data() + i * size, size);
    }
    run_steps(arguments, constants, values);
    std::memcpy(made.data.data() + i * bytes, values[result].data.data(), bytes);
  }
  return {std::move(made)};
}

}  // namespace

bool is_counted(const CallData& element_loop) { return !element_loop.get<Dims>("length").empty(); }

const CallOp& calls::element_loop() {
  static const CallOp& op =
      *new CallOp{.name = "control.elements",
                  .numpy = "",
                  .operands = any_number,
                  .attributes = {{.name = "carries", .initial = std::int64_t{0}},
                                 {.name = "result", .initial = std::int64_t{0}},
                                 {.name = "length", .initial = Dims{}},
                                 {.name = "reverse", .initial = false}},
                  .regions = any_number,
                  .infer = infer_element_loop,
                  .interpret = interpret_element_loop};
  return op;
}

}  // namespace heddle::ir

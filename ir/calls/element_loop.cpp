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

/// How a call's operands divide, in this order, and its body's results: carries, then stacked ones.
struct Parts {
  std::size_t constants = 0, carries = 0, sequences = 0, stacked = 0;
};

Parts parts_of(const Call& call) {
  const CallData& data = *call.attributes.call;
  Parts parts;
  const auto count = [&](std::string_view name, std::size_t most) {
    const std::int64_t number = data.get<std::int64_t>(name);
    if (number < 0 || static_cast<std::uint64_t>(number) > most)
      fail<ValueError>(call, "{} = {} is not the number of some of its operands", name, number);
    return static_cast<std::size_t>(number);
  };
  parts.sequences = count("sequences", call.operands.size());
  parts.carries = count("carries", call.operands.size() - parts.sequences);
  parts.constants = call.operands.size() - parts.carries - parts.sequences;
  const bool counted = is_counted(data);
  if (data.regions.size() != (counted ? 1 : 2))
    fail<ValueError>(call, "takes a body, and a condition unless it has a length");
  const std::size_t results = data.regions.back().results.size();
  if (results < parts.carries)
    fail<ValueError>(call, "its body returns fewer values than there are carries");
  parts.stacked = results - parts.carries;
  if (!counted && (parts.sequences > 0 || parts.stacked > 0 || parts.carries == 0))
    fail<ValueError>(call, "without a length, it takes and returns carries only");
  return parts;
}

/// The shape of the elements: what the operands broadcast to, sequences without their first axis.
Shape elements_of(const Call& call, const Parts& parts) {
  Shape shape;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    Shape one = call.operand(i).shape;
    if (i >= parts.constants + parts.carries) {
      const Dim length = scan_length(*call.attributes.call);
      if (one.empty() || one.front() != length) {
        fail<ShapeError>(call, "the first extent of operand {} is not {}, the number of steps", i,
                         length.to_string());
      }
      one.erase(one.begin());
    }
    shape = broadcast(call, shape, one);
  }
  return shape;
}

std::vector<Type> infer_element_loop(const Call& call) {
  const CallData& data = *call.attributes.call;
  if (call.operands.empty()) fail<ValueError>(call, "has no operands");
  const Parts parts = parts_of(call);
  const std::size_t result = position_of(call, "result", parts.carries + parts.stacked);
  std::vector<DType> parameters, next;
  for (const Type& type : call.operands) parameters.push_back(type.dtype);
  for (std::size_t k = 0; k < parts.carries; ++k)
    next.push_back(call.operand(parts.constants + k).dtype);
  const Region& body = data.regions.back();
  for (std::size_t k = parts.carries; k < body.results.size(); ++k)
    next.push_back(body.results[k].dtype);
  Shape shape = elements_of(call, parts);
  if (is_counted(data)) {
    require(call, Requirement::Breach::value, scan_length(data), 1,
            [] { return "its length is negative"; });
    parameters.insert(parameters.begin(), DType::i64);
  } else {
    require_scalars(call, data.regions[0], "condition", parameters, {DType::boolean});
  }
  require_scalars(call, body, "body", parameters, next);
  if (result >= parts.carries) shape.insert(shape.begin(), scan_length(data));
  return {{next[result], std::move(shape)}};
}

/// The operands of a call, and its result, while it is interpreted.
struct Interpreted {
  const CallArguments& arguments;
  Parts parts;
  std::vector<HostArray> operands;  ///< broadcast to all elements, sequences at all steps
  std::size_t count = 0;            ///< of elements
  std::size_t result = 0;
  HostArray made;

  void copy_element(HostArray& to, std::size_t operand, std::size_t place) const {
    const std::size_t bytes = size_of(operands[operand].type.dtype);
    std::memcpy(to.data.data(), operands[operand].data.data() + place * bytes, bytes);
  }
  void store(const HostArray& value, std::size_t place) {
    std::memcpy(made.data.data() + place * value.data.size(), value.data.data(), value.data.size());
  }
};

/// Its elements are the last axes of `steps`; before them there may be axes of extent 1 to add.
HostArray broadcast_sequence(HostArray sequence, const Shape& steps) {
  Shape& shape = sequence.type.shape;
  shape.insert(shape.begin() + 1, steps.size() - shape.size(), Dim(1));
  return interpreter::broadcast(sequence, steps);
}

HostArray scalar_of(DType dtype) { return interpreter::allocate({dtype, {}}); }

/// Takes the steps of element `i`. `values` are the constants and the carries.
void take_steps(Interpreted& run, std::size_t i, std::vector<HostArray>& values) {
  const CallData& call = run.arguments.call;
  const auto carried = static_cast<std::ptrdiff_t>(run.parts.constants);
  const auto replace = [&](std::vector<HostArray> made) {
    std::move(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(run.parts.carries),
              values.begin() + carried);
  };
  if (!is_counted(call)) {
    while (run.arguments.run(0, values)[0].data[0] != std::byte{0})
      replace(run.arguments.run(1, values));
    return;
  }
  const std::int64_t length = scan_length(call).constant();
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t step = call.get<bool>("reverse") ? length - 1 - k : k;
    const std::size_t place = static_cast<std::size_t>(step) * run.count + i;
    std::vector<HostArray> inputs = {scalar_of(DType::i64)};
    std::memcpy(inputs[0].data.data(), &step, sizeof step);
    std::ranges::copy(values, std::back_inserter(inputs));
    for (std::size_t operand = values.size(); operand < run.operands.size(); ++operand) {
      run.copy_element(inputs.emplace_back(scalar_of(run.operands[operand].type.dtype)), operand,
                       place);
    }
    std::vector<HostArray> made = run.arguments.run(0, inputs);
    if (run.result >= run.parts.carries) run.store(made[run.result], place);
    replace(std::move(made));
  }
}

std::vector<HostArray> interpret_element_loop(const CallArguments& arguments) {
  const CallData& call = arguments.call;
  Interpreted run{.arguments = arguments, .parts = {}, .operands = {}, .made = {}};
  run.parts.carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
  run.parts.sequences = static_cast<std::size_t>(call.get<std::int64_t>("sequences"));
  run.parts.constants = arguments.operands.size() - run.parts.carries - run.parts.sequences;
  run.result = static_cast<std::size_t>(call.get<std::int64_t>("result"));
  run.made = interpreter::allocate(arguments.results[0]);
  const bool stacked = run.result >= run.parts.carries;
  Shape elements = run.made.type.shape;
  if (stacked) elements.erase(elements.begin());
  Shape steps = elements;
  if (is_counted(call)) steps.insert(steps.begin(), scan_length(call));
  run.count = interpreter::count_of({DType::u8, elements});
  const std::size_t values = run.parts.constants + run.parts.carries;
  for (std::size_t k = 0; k < arguments.operands.size(); ++k) {
    const HostArray& operand = *arguments.operands[k];
    run.operands.push_back(k < values ? interpreter::broadcast(operand, elements)
                                      : broadcast_sequence(operand, steps));
  }
  for (std::size_t i = 0; i < run.count; ++i) {
    std::vector<HostArray> one;
    for (std::size_t k = 0; k < values; ++k)
      run.copy_element(one.emplace_back(scalar_of(run.operands[k].type.dtype)), k, i);
    take_steps(run, i, one);
    if (!stacked) run.store(one[run.parts.constants + run.result], i);
  }
  return {std::move(run.made)};
}

}  // namespace

bool is_counted(const CallData& element_loop) { return !element_loop.get<Dims>("length").empty(); }

bool is_stacked(const CallData& element_loop) {
  return element_loop.get<std::int64_t>("result") >= element_loop.get<std::int64_t>("carries");
}

const CallOp& calls::element_loop() {
  static const CallOp& op =
      *new CallOp{.name = "control.elements",
                  .numpy = "",
                  .operands = any_number,
                  .attributes = {{.name = "carries", .initial = std::int64_t{0}},
                                 {.name = "sequences", .initial = std::int64_t{0}},
                                 {.name = "result", .initial = std::int64_t{0}},
                                 {.name = "length", .initial = Dims{}},
                                 {.name = "reverse", .initial = false}},
                  .regions = any_number,
                  .infer = infer_element_loop,
                  .interpret = interpret_element_loop};
  return op;
}

}  // namespace heddle::ir

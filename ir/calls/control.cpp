#include "ir/calls/control.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "heddle/error.h"

#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"

namespace heddle::ir {

namespace {

using Types = std::vector<Type>;

/// Throws ShapeError or DTypeError, naming the first difference.
void require_types(const Call& call, std::string_view what, std::span<const Type> found,
                   std::span<const Type> expected) {
  if (found.size() != expected.size())
    fail<ShapeError>(call, "{} has {} values, not {}", what, found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].dtype != expected[i].dtype) {
      fail<DTypeError>(call, "value {} of {} is {}, not {}", i, what, to_string(found[i]),
                       to_string(expected[i]));
    }
    if (found[i].shape != expected[i].shape) {
      fail<ShapeError>(call, "value {} of {} is {}, not {}", i, what, to_string(found[i]),
                       to_string(expected[i]));
    }
  }
}

std::size_t count_attribute(const Call& call, std::string_view name, std::size_t most) {
  const std::int64_t count = call.attributes.call->get<std::int64_t>(name);
  if (count < 0 || static_cast<std::uint64_t>(count) > most)
    fail<ValueError>(call, "{} = {} is not the number of some of its operands", name, count);
  return static_cast<std::size_t>(count);
}

Type slice_of(const Call& call, std::size_t operand, Dim length) {
  Type type = call.operand(operand);
  if (type.shape.empty() || type.shape.front() != length) {
    fail<ShapeError>(call, "the first extent of operand {} is not {}, the number of steps", operand,
                     length.to_string());
  }
  type.shape.erase(type.shape.begin());
  return type;
}

std::vector<Type> infer_scan(const Call& call) {
  const CallData& data = *call.attributes.call;
  const std::size_t sequences = count_attribute(call, "sequences", call.operands.size());
  const std::size_t carries = count_attribute(call, "carries", call.operands.size() - sequences);
  const std::size_t constants = call.operands.size() - sequences - carries;
  const Dim length = scan_length(data);
  require(call, Requirement::Breach::value, length, 1, [] { return "its length is negative"; });
  const Region& body = data.regions[0];
  if (body.parameters.empty() || body.parameters[0].shape.size() != 2)
    fail<ShapeError>(call, "the first parameter of its region is not the counter's extent");
  Types expected = {body.parameters[0], {DType::i64, {}}};
  for (std::size_t i = 0; i < constants + carries; ++i) expected.push_back(call.operand(i));
  for (std::size_t i = constants + carries; i < call.operands.size(); ++i)
    expected.push_back(slice_of(call, i, length));
  require_types(call, "the parameters of its region", body.parameters, expected);
  if (body.results.size() < carries)
    fail<ShapeError>(call, "its region returns fewer values than there are carries");
  const std::span results(body.results);
  require_types(call, "the carries that its region returns", results.first(carries),
                call.operands.subspan(constants, carries));
  Types types(results.begin(), results.end());
  for (std::size_t i = carries; i < types.size(); ++i)
    types[i].shape.insert(types[i].shape.begin(), length);
  return types;
}

std::vector<Type> infer_while(const Call& call) {
  const CallData& data = *call.attributes.call;
  const std::size_t carries = count_attribute(call, "carries", call.operands.size());
  const Region &condition = data.regions[0], &body = data.regions[1];
  require_types(call, "the parameters of its condition", condition.parameters, call.operands);
  require_types(call, "the parameters of its body", body.parameters, call.operands);
  const std::span<const Type> carried = call.operands.last(carries);
  Type truth{DType::boolean, {}};
  if (condition.results.size() == 1) truth.shape = condition.results[0].shape;
  require_types(call, "the result of its condition", condition.results, {&truth, 1});
  for (const Type& carry : carried) {
    if (truth.shape.empty() || carry.shape == truth.shape) continue;
    fail<ShapeError>(call, "its condition is {}, but a carry is {}", to_string(truth),
                     to_string(carry));
  }
  require_types(call, "the carries that its body returns", body.results, carried);
  return {carried.begin(), carried.end()};
}

std::vector<Type> infer_switch(const Call& call) {
  const CallData& data = *call.attributes.call;
  if (call.operands.empty() || call.operand(0) != Type{DType::i64, {}})
    fail<DTypeError>(call, "its first operand, the index, is not i64[]");
  if (data.regions.empty()) fail<ValueError>(call, "takes at least one region");
  for (const Region& region : data.regions) {
    require_types(call, "the parameters of a region", region.parameters, call.operands.subspan(1));
    require_types(call, "the results of a region", region.results, data.regions[0].results);
  }
  return data.regions[0].results;
}

HostArray integer(std::int64_t value) {
  HostArray array = interpreter::allocate({DType::i64, {}});
  std::memcpy(array.data.data(), &value, sizeof value);
  return array;
}

std::vector<HostArray> copies(std::span<const HostArray* const> arrays) {
  std::vector<HostArray> made;
  for (const HostArray* const array : arrays) made.push_back(*array);
  return made;
}

HostArray slice(const HostArray& array, Type type, std::int64_t step) {
  HostArray made = interpreter::allocate(std::move(type));
  const auto bytes = static_cast<std::int64_t>(made.data.size());
  std::copy_n(array.data.begin() + step * bytes, bytes, made.data.begin());
  return made;
}

std::vector<HostArray> interpret_scan(const CallArguments& arguments) {
  const CallData& call = arguments.call;
  const auto carries = static_cast<std::size_t>(call.get<std::int64_t>("carries"));
  const auto sequences = static_cast<std::size_t>(call.get<std::int64_t>("sequences"));
  const std::size_t constants = arguments.operands.size() - carries - sequences;
  const std::int64_t length = scan_length(call).constant();
  const std::vector<Type>& parameters = call.regions[0].parameters;
  const std::vector<HostArray> outside = copies(arguments.operands.first(constants));
  std::vector<HostArray> carried = copies(arguments.operands.subspan(constants, carries));
  std::vector<HostArray> stacked;
  for (std::size_t i = carries; i < arguments.results.size(); ++i)
    stacked.push_back(interpreter::allocate(arguments.results[i]));
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t step = call.get<bool>("reverse") ? length - 1 - k : k;
    std::vector<HostArray> inputs = {interpreter::allocate({DType::u8, {step, 0}}), integer(step)};
    std::ranges::copy(outside, std::back_inserter(inputs));
    std::ranges::move(carried, std::back_inserter(inputs));
    for (std::size_t i = constants + carries; i < arguments.operands.size(); ++i)
      inputs.push_back(slice(*arguments.operands[i], parameters[i + 2], step));
    std::vector<HostArray> made = arguments.run(0, inputs);
    for (std::size_t i = 0; i < stacked.size(); ++i) {
      const std::vector<std::byte>& from = made[carries + i].data;
      std::ranges::copy(from,
                        stacked[i].data.begin() + step * static_cast<std::int64_t>(from.size()));
    }
    made.resize(carries);
    carried = std::move(made);
  }
  std::ranges::move(stacked, std::back_inserter(carried));
  return carried;
}

/// Replaces the elements where `active`.
void replace_elements(HostArray& old, const HostArray& made, const std::vector<std::byte>& active) {
  const std::size_t bytes = size_of(old.type.dtype);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i] == std::byte{0}) continue;
    std::memcpy(old.data.data() + i * bytes, made.data.data() + i * bytes, bytes);
  }
}

std::vector<HostArray> interpret_while(const CallArguments& arguments) {
  const auto carries = static_cast<std::size_t>(arguments.call.get<std::int64_t>("carries"));
  const std::size_t constants = arguments.operands.size() - carries;
  std::vector<HostArray> values = copies(arguments.operands);
  std::vector<std::byte> active = arguments.run(0, values)[0].data;
  while (std::ranges::find(active, std::byte{1}) != active.end()) {
    std::vector<HostArray> made = arguments.run(1, values);
    for (std::size_t i = 0; i < carries; ++i) {
      HostArray& old = values[constants + i];
      if (arguments.call.regions[0].results[0].shape.empty())
        old = std::move(made[i]);
      else
        replace_elements(old, made[i], active);
    }
    const std::vector<std::byte> again = arguments.run(0, values)[0].data;
    for (std::size_t i = 0; i < active.size(); ++i) active[i] &= again[i];
  }
  return {std::make_move_iterator(values.begin() + static_cast<std::ptrdiff_t>(constants)),
          std::make_move_iterator(values.end())};
}

std::vector<HostArray> interpret_switch(const CallArguments& arguments) {
  std::int64_t index = 0;
  std::memcpy(&index, arguments.operands[0]->data.data(), sizeof index);
  const auto last = static_cast<std::int64_t>(arguments.call.regions.size()) - 1;
  return arguments.run(static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, last)),
                       copies(arguments.operands.subspan(1)));
}

}  // namespace

Dim scan_length(const CallData& scan) {
  const auto& length = scan.get<Dims>("length");
  return length.empty() ? Dim(0) : length.front();
}

std::optional<SymbolId> scan_counter(const CallData& call) {
  if (call.op != &calls::scan()) return std::nullopt;
  std::vector<SymbolId> symbols;
  call.regions[0].parameters[0].shape[0].collect_symbols(symbols);
  return symbols.empty() ? std::nullopt : std::optional(symbols.front());
}

namespace calls {

const CallOp& scan() {
  static const CallOp& op =
      *new CallOp{.name = "control.scan",
                  .numpy = "",
                  .operands = any_number,
                  .attributes = {{.name = "carries", .initial = std::int64_t{0}},
                                 {.name = "sequences", .initial = std::int64_t{0}},
                                 {.name = "length", .initial = Dims{}},
                                 {.name = "reverse", .initial = false}},
                  .regions = 1,
                  .infer = infer_scan,
                  .interpret = interpret_scan};
  return op;
}

const CallOp& while_loop() {
  static const CallOp& op =
      *new CallOp{.name = "control.while",
                  .numpy = "",
                  .operands = any_number,
                  .attributes = {{.name = "carries", .initial = std::int64_t{0}}},
                  .regions = 2,
                  .infer = infer_while,
                  .interpret = interpret_while};
  return op;
}

const CallOp& switch_case() {
  static const CallOp& op = *new CallOp{.name = "control.switch",
                                        .numpy = "",
                                        .operands = any_number,
                                        .regions = any_number,
                                        .infer = infer_switch,
                                        .interpret = interpret_switch};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

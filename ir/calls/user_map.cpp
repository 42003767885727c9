#include "ir/calls/user_map.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/base/words.h"
#include "ir/calls/calls.h"
#include "ir/infer/call.h"
#include "ir/interpreter/host_array.h"

namespace heddle::ir {

namespace {

std::string checked_name(std::string_view name) {
  if (!is_identifier(name))
    throw ValueError(
        fmt::format("user.map: '{}' is not a name of C++; give names such as x", name));
  return std::string(name);
}

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const auto comma = list.find(", ");
    parts.push_back(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 2);
  }
  return parts;
}

std::vector<UserFunction::Named> named_in(std::string_view list) {
  std::vector<UserFunction::Named> named;
  for (const std::string_view part : parts_of(list)) {
    const auto space = part.find(' ');
    const std::optional<DType> dtype =
        space == std::string_view::npos ? std::nullopt : dtype_from_name(part.substr(space + 1));
    if (!dtype) {
      throw ValueError(
          fmt::format("user.map: '{}' is not a name and a dtype, such as 'z f32'", part));
    }
    named.push_back({checked_name(part.substr(0, space)), *dtype});
  }
  return named;
}

/// The function, and the shape to which its elements broadcast. Checks the number of operands.
struct Elements {
  UserFunction function;
  Shape shape;
};

Elements elements_of(const Call& call) {
  const CallData& data = *call.attributes.call;
  Elements made{user_function(data), {}};
  const std::size_t inputs = made.function.inputs.size();
  const std::size_t taken = inputs + (data.get<bool>("initial") ? made.function.outputs.size() : 0);
  if (call.operands.size() != taken) {
    fail<ValueError>(call, "has {} operands, but its function takes {}", call.operands.size(),
                     taken);
  }
  for (std::size_t k = 0; k < inputs; ++k) {
    if (!made.function.inputs[k].raw)
      made.shape = broadcast(call, made.shape, call.operand(k).shape);
  }
  for (std::size_t k = inputs; k < taken; ++k)
    require_dtype(call, k, made.function.outputs[k - inputs].dtype);
  return made;
}

std::vector<Type> infer_user_map(const Call& call) {
  Elements made = elements_of(call);
  for (std::size_t k = made.function.inputs.size(); k < call.operands.size(); ++k)
    made.shape = broadcast(call, made.shape, call.operand(k).shape);
  return {{made.function.outputs[made.function.result].dtype, std::move(made.shape)}};
}

std::vector<Type> infer_user_write(const Call& call) {
  Elements made = elements_of(call);
  if (made.function.outputs.size() != 1)
    fail<ValueError>(call, "has {} outputs, not 1", made.function.outputs.size());
  const std::size_t inputs = made.function.inputs.size();
  if (call.operands.size() > inputs) made.shape = call.operand(inputs).shape;
  return {{made.function.outputs[0].dtype, std::move(made.shape)}};
}

std::vector<HostArray> interpret_user_map(const CallArguments& arguments) {
  throw CompileError(fmt::format(
      "{}: a user's kernel cannot be interpreted; it needs a compiler. 'heddle doctor' says how to "
      "get one",
      arguments.call.get<std::string>("name")));
}

}  // namespace

UserFunction user_function(const CallData& user_map) {
  UserFunction function;
  for (std::string_view part : parts_of(user_map.get<std::string>("inputs"))) {
    const bool raw = part.starts_with("raw ");
    function.inputs.push_back({checked_name(part.substr(raw ? 4 : 0)), raw});
  }
  function.outputs = named_in(user_map.get<std::string>("outputs"));
  function.types = named_in(user_map.get<std::string>("types"));
  checked_name(user_map.get<std::string>("name"));
  const std::int64_t result = user_map.get<std::int64_t>("result");
  if (result < 0 || static_cast<std::uint64_t>(result) >= function.outputs.size()) {
    throw ValueError(fmt::format("user.map: result = {} is not one of {} outputs", result,
                                 function.outputs.size()));
  }
  function.result = static_cast<std::size_t>(result);
  return function;
}

std::string list_text(const std::vector<UserFunction::Parameter>& inputs) {
  std::string text;
  for (const UserFunction::Parameter& one : inputs)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", one.raw ? "raw " : "", one.name);
  return text;
}

std::string list_text(const std::vector<UserFunction::Named>& named) {
  std::string text;
  for (const UserFunction::Named& one : named)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.name, name_of(one.dtype));
  return text;
}

bool is_raw_operand(const CallData& user_map, std::size_t k) {
  const std::vector<std::string_view> inputs = parts_of(user_map.get<std::string>("inputs"));
  return k < inputs.size() && inputs[k].starts_with("raw ");
}

bool has_raw_operands(const CallData& user_map) {
  return std::ranges::any_of(parts_of(user_map.get<std::string>("inputs")),
                             [](std::string_view part) { return part.starts_with("raw "); });
}

bool may_run_forever(const CallData& user_map) {
  for (const char* const part : {"operation", "preamble"}) {
    for (const char* const word : {"while", "for", "do", "goto"}) {
      if (mentions(user_map.get<std::string>(part), word)) return true;
    }
  }
  return false;
}

namespace {

CallOp user_op(std::string_view name, std::vector<Type> (*infer)(const Call&)) {
  return {.name = name,
          .numpy = "",
          .operands = any_number,
          .attributes = {{.name = "name", .initial = std::string()},
                         {.name = "inputs", .initial = std::string()},
                         {.name = "outputs", .initial = std::string()},
                         {.name = "types", .initial = std::string()},
                         {.name = "operation", .initial = std::string()},
                         {.name = "preamble", .initial = std::string()},
                         {.name = "initial", .initial = false},
                         {.name = "result", .initial = std::int64_t{0}}},
          .infer = infer,
          .interpret = interpret_user_map};
}

}  // namespace

const CallOp& calls::user_map() {
  static const CallOp& op = *new CallOp(user_op("user.map", infer_user_map));
  return op;
}

const CallOp& calls::user_write() {
  static const CallOp& op = *new CallOp(user_op("user.write", infer_user_write));
  return op;
}

}  // namespace heddle::ir

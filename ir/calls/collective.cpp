#include "ir/calls/collective.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "heddle/error.h"

#include "ir/infer/call.h"

namespace heddle::ir {

namespace {

constexpr std::array<std::string_view, 9> names = {"all_reduce",     "reduce",     "broadcast",
                                                   "all_gather",     "gather",     "scatter",
                                                   "reduce_scatter", "all_to_all", "exchange"};

std::atomic<CollectiveInterpreter> interpreter_of_many{nullptr};

std::vector<Type> infer_collective(const Call& call) {
  const CallData& data = *call.attributes.call;
  const CollectiveKind kind = collective_kind(data.get<std::string>("kind"));
  const std::string& name = data.get<std::string>("kind");
  const auto size = data.get<std::int64_t>("size");
  const auto root = data.get<std::int64_t>("root");
  if (size < 1) fail<ValueError>(call, "{}: a communicator has at least one process", name);
  if (root < 0 || root >= size)
    fail<ValueError>(call, "{}: there is no rank {} of {} processes", name, root, size);
  if (call.operands.empty() || call.operands.size() > 2)
    fail<ShapeError>(call, "{}: takes one array", name);
  if (call.operands.size() == 2) require_dtype(call, 1, DType::i64);
  Type result = call.operand(0);
  if (takes_slices(kind) && (result.shape.empty() || !(result.shape[0] == Dim(size)))) {
    fail<ShapeError>(call, "{}: the first axis must have an element for each of {} processes", name,
                     size);
  }
  if (kind == CollectiveKind::scatter || kind == CollectiveKind::reduce_scatter)
    result.shape.erase(result.shape.begin());
  if (adds_slices(kind)) result.shape.insert(result.shape.begin(), Dim(size));
  return {result, Type{DType::i64, {}}};
}

/// Whether a lone process receives something: an exchange with no process gives zeros.
bool is_received(const CallData& data) {
  return collective_kind(data.get<std::string>("kind")) != CollectiveKind::exchange ||
         data.get<std::int64_t>("from") >= 0;
}

std::vector<HostArray> interpret_collective(const CallArguments& arguments) {
  if (arguments.call.get<std::int64_t>("size") > 1) {
    const CollectiveInterpreter others = interpreter_of_many.load();
    if (others != nullptr) return others(arguments);
    throw DeviceError(
        fmt::format("the communicator '{}' is not in this process; create it before the program "
                    "runs",
                    arguments.call.get<std::string>("communicator")));
  }
  HostArray value = interpreter::allocate(arguments.results[0]);
  if (is_received(arguments.call))
    value.data = arguments.operands[0]->data;
  else
    std::ranges::fill(value.data, std::byte{0});
  HostArray status = interpreter::allocate(arguments.results[1]);
  std::ranges::fill(status.data, std::byte{0xff});
  std::vector<HostArray> results;
  results.push_back(std::move(value));
  results.push_back(std::move(status));
  return results;
}

}  // namespace

std::string_view name_of(CollectiveKind kind) { return names[static_cast<std::size_t>(kind)]; }

CollectiveKind collective_kind(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw InternalError(fmt::format("there is no collective '{}'", name));
  return static_cast<CollectiveKind>(found - names.begin());
}

bool takes_slices(CollectiveKind kind) {
  return kind == CollectiveKind::scatter || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

bool adds_slices(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
}

void set_collective_interpreter(CollectiveInterpreter interpreter) {
  interpreter_of_many.store(interpreter);
}

namespace calls {

const CallOp& collective() {
  static const CallOp& op =
      *new CallOp{.name = "distributed.collective",
                  .numpy = "",
                  .operands = any_number,
                  .attributes = {{.name = "kind",
                                  .initial = std::string("all_reduce"),
                                  .choices = {names.begin(), names.end()}},
                                 {.name = "communicator", .initial = std::string("world")},
                                 {.name = "size", .initial = std::int64_t{1}},
                                 {.name = "reduction",
                                  .initial = std::string("sum"),
                                  .choices = {"sum", "prod", "min", "max"}},
                                 {.name = "root", .initial = std::int64_t{0}},
                                 {.name = "to", .initial = std::int64_t{-1}},
                                 {.name = "from", .initial = std::int64_t{-1}}},
                  .infer = infer_collective,
                  .interpret = interpret_collective};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

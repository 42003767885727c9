#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/error.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/control/bodies.h"
#include "frontend/evaluate/checks.h"
#include "frontend/graph/record.h"
#include "ir/calls/calls.h"
#include "ir/infer/call.h"

namespace heddle::frontend {

namespace {

std::vector<NodeRef> nodes_of(const Values& values, const SourceLocation& where) {
  std::vector<NodeRef> nodes;
  for (const Array& value : values) nodes.push_back(Access::node(value, where));
  return nodes;
}

std::vector<ir::Type> types_of(const std::vector<NodeRef>& nodes) {
  std::vector<ir::Type> types;
  for (const NodeRef& node : nodes) types.push_back({node->dtype, node->shape});
  return types;
}

Values arrays_of(std::vector<NodeRef> nodes) {
  Values arrays;
  for (NodeRef& node : nodes) arrays.push_back(Access::make(std::move(node)));
  return arrays;
}

/// Makes the first results of a body carries: weak numbers take the carry's dtype. Throws for other
/// dtypes and shapes.
void check_carries(std::string_view op, TracedBody& body, const std::vector<ir::Type>& carries,
                   const std::vector<std::string>& names, const SourceLocation& where) {
  for (std::size_t i = 0; i < carries.size(); ++i) {
    const ir::Type& expected = carries[i];
    const NodeRef result = body.results()[i];
    if (result->weak && result->dtype != expected.dtype && result->shape == expected.shape) {
      body.set_result(
          i, [&](const NodeRef& node) { return cast_to(node, expected.dtype, where, op); });
      continue;
    }
    const ir::Type found{result->dtype, result->shape};
    if (found == expected) continue;
    const std::string text =
        at(fmt::format("{}: {} is {} before a step, but the body returns {}", op,
                       i < names.size() ? names[i] : fmt::format("carry {}", i),
                       ir::to_string(expected), ir::to_string(found)),
           result->site.location.file != nullptr ? result->site : Site(where));
    if (found.dtype != expected.dtype) throw DTypeError(text);
    throw ShapeError(text);
  }
}

/// Throws ShapeError unless all sequences have the first extent `length`, if it is given.
ir::Dim steps_of(const ScanOptions& options, const std::vector<NodeRef>& sequences,
                 const SourceLocation& where) {
  std::optional<ir::Dim> length;
  if (options.length) length = ir::Dim(*options.length);
  for (const NodeRef& sequence : sequences) {
    if (sequence->shape.empty())
      throw ShapeError(
          at(fmt::format("{}: a 0-d array has no elements to go through", options.op), where));
    if (!length) length = sequence->shape[0];
    if (sequence->shape[0] == *length) continue;
    throw ShapeError(at(fmt::format("{}: {} has not the first extent {}, the number of steps",
                                    options.op, describe(*sequence), length->to_string()),
                        where));
  }
  if (!length)
    throw ValueError(at(fmt::format("{}: without arrays to go through, give the number of steps as "
                                    "length",
                                    options.op),
                        where));
  if (length->is_constant() && length->constant() < 0)
    throw ValueError(
        at(fmt::format("{}: length is {}, less than 0", options.op, length->constant()), where));
  return *length;
}

/// What failed in a loop or branch is raised by the next wait.
void report(std::string_view op, const std::vector<Check>& checks,
            std::span<const NodeRef> statuses, const std::vector<NodeRef>& values,
            const SourceLocation& where) {
  const std::string name(op);
  for (std::size_t i = 0; i < checks.size(); ++i) {
    check_recorded(name.c_str(), {statuses[i], checks[i].message, checks[i].kind}, values,
                   RaiseFailure::at_next_wait, where);
  }
}

/// Takes `count` results out, from `first` on.
std::vector<NodeRef> take(std::vector<NodeRef>& results, std::size_t first, std::size_t count) {
  const auto begin = results.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  std::vector<NodeRef> taken(begin, end);
  results.erase(begin, end);
  return taken;
}

/// The symbol of a counter. Loops inside others need other symbols; loops side by side share one,
/// so that equal bodies are equal.
ir::Dim counter_symbol(std::string_view name) {
  int depth = 0;
  for (const Trace* trace = Trace::current(); trace != nullptr; trace = trace->enclosing()) ++depth;
  return ir::Dim::symbol(fmt::format("{}{}", name, depth));
}

/// Traces the condition of a while_loop: one bool, or a bool for each element of the carries.
TracedBody traced_condition(const std::function<Array(Values)>& condition,
                            const std::vector<ir::Type>& carries, const SourceLocation& where) {
  TracedBody test(
      "while_loop", [&](Values values) { return Values{condition(std::move(values))}; }, carries,
      where);
  const NodeRef& truth = test.results()[0];
  if (truth->dtype != DType::boolean) {
    throw DTypeError(
        at(fmt::format("while_loop: the condition returns {}, not bool", describe(*truth)), where));
  }
  if (!test.checks().empty()) {
    throw TraceError(
        at("while_loop: its condition calls what may fail; call it in the body, and "
           "make the condition from the carry",
           where));
  }
  return test;
}

/// Repeats carries so that each element of the condition has its own. Returns whether one changed.
/// Throws ShapeError for a carry that does not broadcast to the condition's shape.
bool broadcast_carries(std::vector<NodeRef>& carries, const ir::Shape& condition,
                       const SourceLocation& where) {
  bool changed = false;
  for (NodeRef& carry : carries) {
    if (carry->shape == condition) continue;
    if (!ir::broadcasts_to(carry->shape, condition)) {
      throw ShapeError(
          at(fmt::format("while_loop: the condition has the shape {}, to which the carry {} does "
                         "not broadcast",
                         ir::to_string(condition), describe(*carry)),
             where));
    }
    carry = broadcast_to_shape(carry, condition, Site(where));
    changed = true;
  }
  return changed;
}

}  // namespace

Scanned scan_values(const ScanBody& body, const Values& carries, const Values& sequences,
                    const ScanOptions& options, const SourceLocation& where) {
  const std::vector<NodeRef> carried = nodes_of(carries, where);
  const std::vector<NodeRef> read = nodes_of(sequences, where);
  const ir::Dim length = steps_of(options, read, where);
  std::vector<ir::Type> inputs = types_of(carried);
  for (const ir::Type& type : types_of(read))
    inputs.push_back({type.dtype, ir::Shape(type.shape.begin() + 1, type.shape.end())});
  std::size_t returned = 0;
  const auto function = [&](Values values) {
    const Array counter = options.first == 0 ? values[0] : values[0] + options.first;
    const auto split = values.begin() + 1 + static_cast<std::ptrdiff_t>(carried.size());
    Scanned made = body(counter, {values.begin() + 1, split}, {split, values.end()});
    returned = made.carries.size();
    made.carries.insert(made.carries.end(), made.stacked.begin(), made.stacked.end());
    return std::move(made.carries);
  };
  TracedBody traced(options.op, function, inputs, where,
                    std::pair(counter_symbol(options.counter), length));
  if (returned != carried.size()) {
    throw ValueError(at(fmt::format("{}: the carry has {} arrays, but the body returns {}",
                                    options.op, carried.size(), returned),
                        where));
  }
  check_carries(options.op, traced, types_of(carried), options.names, where);
  if (traced.results().empty()) return {};
  const std::vector<Check> checks = traced.checks();
  traced.carry_statuses(carried.size());
  std::vector<NodeRef> operands = outside_values({&traced});
  ir::Region region = traced.region(operands);
  operands.insert(operands.end(), carried.begin(), carried.end());
  operands.resize(operands.size() + checks.size(), record_constant(DType::i64, -1));
  operands.insert(operands.end(), read.begin(), read.end());
  std::vector<NodeRef> results =
      record_call(ir::calls::scan(), operands,
                  {{"carries", static_cast<std::int64_t>(carried.size() + checks.size())},
                   {"sequences", static_cast<std::int64_t>(read.size())},
                   {"length", ir::Dims{length}},
                   {"reverse", options.reverse}},
                  where, {std::move(region)});
  const std::vector<NodeRef> statuses = take(results, carried.size(), checks.size());
  report(options.op, checks, statuses, results, where);
  Values arrays = arrays_of(std::move(results));
  const auto split = arrays.begin() + static_cast<std::ptrdiff_t>(carried.size());
  return {{arrays.begin(), split}, {split, arrays.end()}};
}

Values while_values(const std::function<Array(Values)>& condition,
                    const std::function<Values(Values)>& body, const Values& carries,
                    const std::vector<std::string>& names, const SourceLocation& where) {
  std::vector<NodeRef> carried = nodes_of(carries, where);
  if (carried.empty())
    throw ValueError(
        at("while_loop: the carry has no arrays, so the condition never changes", where));
  TracedBody test = traced_condition(condition, types_of(carried), where);
  const ir::Shape elements = test.results()[0]->shape;
  const bool by_element = !elements.empty();
  if (by_element && broadcast_carries(carried, elements, where))
    test = traced_condition(condition, types_of(carried), where);
  const std::vector<ir::Type> types = types_of(carried);
  TracedBody step("while_loop", body, types, where);
  if (step.results().size() != carried.size()) {
    throw ValueError(at(fmt::format("while_loop: the carry has {} arrays, but the body returns {}",
                                    carried.size(), step.results().size()),
                        where));
  }
  check_carries("while_loop", step, types, names, where);
  const std::vector<Check> checks = step.checks();
  if (by_element && !checks.empty()) {
    throw TraceError(
        at("while_loop: with a condition for each element, its body calls what may fail; make "
           "the condition one bool, such as any(condition), and use where(condition, new, old)",
           where));
  }
  step.carry_statuses(carried.size());
  test.ignore_inputs(checks.size());
  std::vector<NodeRef> operands = outside_values({&test, &step});
  std::vector<ir::Region> regions = {test.region(operands), step.region(operands)};
  operands.insert(operands.end(), carried.begin(), carried.end());
  operands.resize(operands.size() + checks.size(), record_constant(DType::i64, -1));
  std::vector<NodeRef> results =
      record_call(ir::calls::while_loop(), operands,
                  {{"carries", static_cast<std::int64_t>(carried.size() + checks.size())}}, where,
                  std::move(regions));
  report("while_loop", checks, take(results, carried.size(), checks.size()), results, where);
  return arrays_of(std::move(results));
}

Values switch_values(const Operand& index,
                     const std::vector<std::function<Values(Values)>>& branches,
                     const Values& operands, std::string_view op, const SourceLocation& where) {
  if (branches.empty()) throw ValueError(at(fmt::format("{}: there are no branches", op), where));
  const NodeRef given = node_of(op, index);
  const bool is_whole = is_integer(given->dtype) || is_boolean(given->dtype);
  if (!given->shape.empty() || !is_whole) {
    throw DTypeError(at(
        fmt::format("{}: the choice is {}, not one integer or bool", op, describe(*given)), where));
  }
  const std::vector<NodeRef> values = nodes_of(operands, where);
  std::vector<TracedBody> traced;
  for (const auto& branch : branches) traced.emplace_back(op, branch, types_of(values), where);
  const std::vector<ir::Type> types = types_of(traced[0].results());
  for (std::size_t i = 1; i < traced.size(); ++i) {
    if (types_of(traced[i].results()) == types) continue;
    throw ShapeError(at(
        fmt::format("{}: branch {} returns other dtypes or shapes than branch 0", op, i), where));
  }
  if (types.empty()) return {};
  std::vector<Check> checks;
  for (const TracedBody& branch : traced)
    checks.insert(checks.end(), branch.checks().begin(), branch.checks().end());
  for (std::size_t before = 0; TracedBody & branch : traced) {
    const std::size_t own = branch.checks().size();
    branch.return_statuses(before, checks.size() - before - own);
    before += own;
  }
  std::vector<NodeRef> all = outside_values(traced);
  std::vector<ir::Region> regions;
  for (const TracedBody& branch : traced) regions.push_back(branch.region(all));
  all.insert(all.begin(), cast_to(given, DType::i64, where, op));
  all.insert(all.end(), values.begin(), values.end());
  std::vector<NodeRef> results =
      record_call(ir::calls::switch_case(), all, {}, where, std::move(regions));
  report(op, checks, take(results, types.size(), checks.size()), results, where);
  return arrays_of(std::move(results));
}

Array counter_of(const Operand& bound) {
  const NodeRef node = node_of("fori_loop", bound);
  if (!node->shape.empty() || !is_integer(node->dtype)) {
    throw DTypeError(at(fmt::format("fori_loop: a bound is {}, not one integer", describe(*node)),
                        bound.where()));
  }
  return Access::make(cast_to(node, DType::i64, bound.where(), "fori_loop"));
}

}  // namespace heddle::frontend

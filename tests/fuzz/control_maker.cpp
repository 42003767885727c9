#include "tests/fuzz/control_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/calls/calls.h"

namespace heddle::test {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

std::vector<ValueId> ControlMaker::make() {
  const std::size_t kind = draws_.below(10);
  if (kind < 6) return make_scan();
  return kind < 8 ? make_while() : make_switch();
}

ControlMaker::Values ControlMaker::picked(std::size_t count) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(around_.pick());
  return values;
}

/// An array with some elements for each step.
ValueId ControlMaker::indexed(Dim length) {
  Shape shape = {length + Dim(static_cast<std::int64_t>(draws_.below(3)))};
  if (draws_.chance(0.6)) shape.insert(shape.begin() + (draws_.chance(0.5) ? 1 : 0), 4);
  static const std::vector<DType> kinds = {DType::f32, DType::f64, DType::f16, DType::i32,
                                           DType::i64, DType::u8,  DType::c64};
  const std::optional<ValueId> array = around_.input({draws_.any_of(kinds), shape});
  if (array) return *array;
  return around_.fitted(around_.pick(), {DType::f32, shape}).value_or(around_.pick());
}

/// Some of one type, so that they may change places, or even one value twice.
ControlMaker::Values ControlMaker::any_carries(std::size_t count, std::optional<Dim> length) {
  Values carries;
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0 || draws_.chance(0.4)) {
      const bool moves = length && draws_.chance(0.3);
      carries.push_back(moves ? indexed(*length) : around_.pick());
    } else if (draws_.chance(0.3)) {
      carries.push_back(carries.back());
    } else {
      const ir::Type type = around_.type(carries.back());
      const std::optional<ValueId> other = around_.fitted(around_.pick(), type);
      carries.push_back(other.value_or(carries.back()));
    }
  }
  return carries;
}

Dim ControlMaker::any_length() {
  const std::int64_t most = depth_ == 0 ? 6 : 3;
  for (const ir::SymbolBinding& binding : draws_.made().bindings) {
    if (binding.value <= most && draws_.chance(0.5)) return Dim::symbol(binding.symbol);
  }
  if (draws_.chance(0.1)) return 0;
  return 1 + static_cast<std::int64_t>(draws_.below(static_cast<std::size_t>(most)));
}

/// An array whose first extent is the number of steps.
std::optional<ValueId> ControlMaker::sequence(Dim length) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const ValueId value = around_.pick();
    if (!around_.shape(value).empty() && around_.shape(value).front() == length) return value;
  }
  const ValueId value = around_.pick();
  Attributes attributes;
  attributes.shape = around_.shape(value);
  attributes.shape.insert(attributes.shape.begin(), length);
  if (draws_.chance(0.6)) {
    if (const auto input = around_.input({around_.dtype(value), attributes.shape})) return input;
  }
  return around_.add(Op::broadcast_to, {value}, attributes);
}

/// The next value of carry `index`, given those of the carries before it.
ValueId ControlMaker::next_carry(RegionMaker& body, const Values& carries, std::size_t index,
                                 const Values& made) {
  const ValueId carry = carries[index];
  const ir::Type type = body.type(carry);
  const auto one_of = [&](const Values& values) -> std::optional<ValueId> {
    const ValueId value = draws_.any_of(values);
    return body.type(value) == type ? std::optional(value) : std::nullopt;
  };
  const std::size_t kind = draws_.below(20);
  if (kind < 2) return carry;
  if (kind < 5) return one_of(carries).value_or(carry);
  if (kind < 7 && !made.empty()) return one_of(made).value_or(carry);
  if (kind < 11) return body.updated(carry);
  return kind < 14 ? body.value_of(type) : body.mixed(carry);
}

std::vector<ValueId> ControlMaker::results_of(const ir::CallOp& op, const Values& operands,
                                              std::initializer_list<ir::NamedAttribute> attributes,
                                              std::vector<ir::Region> regions) {
  const std::size_t count = regions.back().results.size();
  const std::optional<ValueId> call =
      around_.add(Op::call, operands, ir::call_attributes(op, attributes, std::move(regions)));
  if (!call) return {};
  Values results = {*call};
  for (std::size_t i = 1; i < count; ++i) {
    if (draws_.chance(0.9)) results.push_back(around_.result(*call, i));
  }
  return results;
}

std::vector<ValueId> ControlMaker::make_scan() {
  const Dim length = any_length();
  const std::size_t constants = draws_.below(3);
  Values operands = picked(constants);
  if (constants > 0 && draws_.chance(0.5)) operands[0] = indexed(length);
  const Values carried = any_carries(draws_.below(4), length);
  operands.insert(operands.end(), carried.begin(), carried.end());
  Values sequences;
  for (std::size_t i = draws_.below(3); i > 0; --i) {
    if (const auto value = sequence(length)) sequences.push_back(*value);
  }
  operands.insert(operands.end(), sequences.begin(), sequences.end());

  RegionMaker body(draws_, depth_ + 1);
  body.add_counter(Dim::symbol(fmt::format("step{}", depth_ + 1)), length);
  Values carries;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    ir::Type type = around_.type(operands[i]);
    if (i >= constants + carried.size()) type.shape.erase(type.shape.begin());
    const ValueId parameter = body.add_parameter(type);
    if (i >= constants && carries.size() < carried.size()) carries.push_back(parameter);
  }
  body.grow(1 + draws_.below(depth_ == 0 ? 4 : 2));
  Values results;
  for (std::size_t i = 0; i < carries.size(); ++i)
    results.push_back(next_carry(body, carries, i, results));
  std::size_t stacked = draws_.below(3);
  if (results.empty() && stacked == 0) stacked = 1;
  for (std::size_t i = 0; i < stacked; ++i) results.push_back(body.pick());
  const bool reverse = draws_.chance(0.3);
  std::vector<ir::Region> regions;
  regions.push_back(body.finish(std::move(results)));
  return results_of(ir::calls::scan(), operands,
                    {{"carries", static_cast<std::int64_t>(carries.size())},
                     {"sequences", static_cast<std::int64_t>(sequences.size())},
                     {"length", ir::Dims{length}},
                     {"reverse", reverse}},
                    std::move(regions));
}

/// Whether the counter is below a limit, and at times whether another value says so too.
ir::Region ControlMaker::condition(const Values& operands, std::size_t counter,
                                   std::optional<std::size_t> limit) {
  RegionMaker test(draws_, depth_ + 1);
  Values parameters;
  for (const ValueId operand : operands)
    parameters.push_back(test.add_parameter(around_.type(operand)));
  const std::int64_t most = depth_ == 0 ? 6 : 3;
  ValueId end = test.constant(DType::i64, static_cast<double>(draws_.below(7)));
  const ValueId bound = test.constant(DType::i64, static_cast<double>(most));
  if (limit) end = parameters[*limit];
  end = test.add(Op::minimum, {end, bound}).value();
  ValueId truth = test.add(Op::less, {parameters[counter], end}).value();
  if (draws_.chance(0.3)) {
    const ValueId other = draws_.any_of(parameters);
    const ValueId number = test.constant(test.dtype(other), 1);
    const std::optional<ValueId> differs = test.add(Op::not_equal, {other, number});
    const std::optional<ValueId> goes_on = differs ? test.reshaped(*differs, {}) : std::nullopt;
    if (goes_on) truth = test.add(Op::logical_and, {truth, *goes_on}).value();
  }
  return test.finish({truth});
}

std::vector<ValueId> ControlMaker::make_while() {
  Values operands = picked(draws_.below(3));
  std::optional<std::size_t> limit;
  if (draws_.chance(0.5)) {
    if (const auto value = any_index(4)) {
      limit = operands.size();
      operands.push_back(*value);
    }
  }
  const std::size_t constants = operands.size();
  Values carried = any_carries(draws_.below(3));
  const std::size_t counter = draws_.below(carried.size() + 1);
  const ValueId first = around_.constant(DType::i64, static_cast<double>(draws_.below(2)));
  carried.insert(carried.begin() + static_cast<std::ptrdiff_t>(counter), first);
  operands.insert(operands.end(), carried.begin(), carried.end());

  std::vector<ir::Region> regions = {condition(operands, constants + counter, limit)};
  RegionMaker body(draws_, depth_ + 1);
  Values parameters;
  for (const ValueId operand : operands)
    parameters.push_back(body.add_parameter(around_.type(operand)));
  body.grow(draws_.below(depth_ == 0 ? 4 : 2));
  const Values carries(parameters.begin() + static_cast<std::ptrdiff_t>(constants),
                       parameters.end());
  Values results;
  for (std::size_t i = 0; i < carries.size(); ++i) {
    if (i != counter) {
      results.push_back(next_carry(body, carries, i, results));
      continue;
    }
    const ValueId step = body.constant(DType::i64, 1 + static_cast<double>(draws_.below(2)));
    results.push_back(body.add(Op::add, {carries[i], step}).value());
  }
  regions.push_back(body.finish(results));
  return results_of(ir::calls::while_loop(), operands,
                    {{"carries", static_cast<std::int64_t>(carries.size())}}, std::move(regions));
}

/// An integer, most often from -1 to `branches`: one too few, or one too many.
std::optional<ValueId> ControlMaker::any_index(std::int64_t branches) {
  if (draws_.chance(0.15))
    return around_.constant(DType::i64, static_cast<double>(draws_.below(6)) - 1);
  std::optional<ValueId> index;
  for (int attempt = 0; attempt < 4 && !index; ++attempt) {
    const ValueId value = around_.pick();
    if (!is_inexact(around_.dtype(value))) index = around_.fitted(value, {DType::i64, {}});
  }
  if (!index) index = around_.input({DType::i64, {}});
  if (!index || draws_.chance(0.2)) return index;
  const ValueId count = around_.constant(DType::i64, static_cast<double>(branches + 2));
  const std::optional<ValueId> rest = around_.add(Op::remainder, {*index, count});
  if (!rest) return std::nullopt;
  return around_.add(Op::subtract, {*rest, around_.constant(DType::i64, 1)});
}

std::vector<ValueId> ControlMaker::make_switch() {
  const std::size_t branches = 1 + draws_.below(4);
  const std::optional<ValueId> index = any_index(static_cast<std::int64_t>(branches));
  if (!index) return {};
  Values operands = picked(1 + draws_.below(3));
  std::vector<ir::Region> regions;
  std::vector<ir::Type> types;
  for (std::size_t k = 0; k < branches; ++k) {
    RegionMaker branch(draws_, depth_ + 1);
    for (const ValueId operand : operands) branch.add_parameter(around_.type(operand));
    branch.grow(draws_.below(3));
    Values results;
    for (const ir::Type& type : types) results.push_back(branch.value_of(type));
    for (std::size_t i = k == 0 ? 1 + draws_.below(2) : 0; i > 0; --i) {
      results.push_back(branch.pick());
      types.push_back(branch.type(results.back()));
    }
    regions.push_back(branch.finish(results));
  }
  operands.insert(operands.begin(), *index);
  return results_of(ir::calls::switch_case(), operands, {}, std::move(regions));
}

}  // namespace heddle::test

#include "tests/fuzz/region_maker.h"

#include <algorithm>
#include <utility>

#include "heddle/error.h"

#include "ir/graph/generalize.h"
#include "ir/types/constant.h"

namespace heddle::test {

using ir::Attributes;
using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::ValueId;

namespace {

constexpr std::int64_t most_elements = 600;
constexpr std::size_t most_axes = 4;

}  // namespace

ValueId RegionMaker::add_parameter(const ir::Type& type) {
  const ValueId id = graph_.parameter(type.dtype, type.shape);
  pool_.push_back(id);
  return id;
}

ValueId RegionMaker::add_counter(Dim symbol, Dim length) {
  const ir::Type extent = ir::extent_argument(symbol);
  graph_.parameter(extent.dtype, extent.shape);
  const ValueId value = graph_.scalar_parameter(DType::i64);
  counter_ = Counter{value, symbol, length};
  pool_.push_back(value);
  return value;
}

void RegionMaker::grow(std::size_t ops) {
  if (counter_ && draws_.chance(0.5)) add_slice();
  for (std::size_t i = 0; i < ops; ++i) add_something();
}

std::optional<ValueId> RegionMaker::add(Op op, const std::vector<ValueId>& operands,
                                        const Attributes& attributes) {
  std::vector<ir::Type> types;
  for (const ValueId operand : operands) types.push_back(graph_.type(operand));
  try {
    const ir::Type type = ir::infer(op, types, attributes);
    const bool small =
        type.shape.size() <= most_axes && draws_.elements(type.shape) <= most_elements;
    if (!small) return std::nullopt;
    return graph_.add(op, operands, attributes);
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;  // a user's mistake: no such node
  }
}

ValueId RegionMaker::constant(DType dtype, double value) {
  return graph_.constant(dtype, ir::constant_bits(dtype, value));
}

ValueId RegionMaker::result(ValueId call, std::size_t index) { return graph_.result(call, index); }

ValueId RegionMaker::pick() {
  if (pool_.empty()) return constant(DType::f32, 0.5);
  // Recent values first, or the results would need few of the ops.
  const std::size_t limit = std::min<std::size_t>(pool_.size(), 8);
  const std::size_t back = std::min(draws_.below(pool_.size()), draws_.below(limit));
  return pool_[pool_.size() - 1 - back];
}

ValueId RegionMaker::value_of(const ir::Type& type) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (const auto value = fitted(pick(), type)) return *value;
  }
  return reshaped(constant(type.dtype, 1), type.shape).value();
}

ValueId RegionMaker::mixed(ValueId carry) {
  const ValueId other = value_of(graph_.type(carry));
  return combined(carry, other).value_or(carry);
}

/// An elementwise op of two values of one dtype.
std::optional<ValueId> RegionMaker::combined(ValueId a, ValueId b) {
  static const std::vector<Op> of_booleans = {Op::logical_and, Op::logical_or, Op::bitwise_xor};
  static const std::vector<Op> of_integers = {Op::add,     Op::subtract,    Op::multiply,
                                              Op::maximum, Op::bitwise_xor, Op::bitwise_and,
                                              Op::minimum, Op::bitwise_or};
  static const std::vector<Op> of_floats = {Op::add,      Op::add,     Op::subtract,
                                            Op::multiply, Op::maximum, Op::minimum};
  static const std::vector<Op> of_complexes = {Op::add, Op::subtract, Op::multiply};
  const DType kind = dtype(a);
  if (is_boolean(kind)) return add(draws_.any_of(of_booleans), {a, b});
  if (is_integer(kind)) return add(draws_.any_of(of_integers), {a, b});
  const Op op = draws_.any_of(is_complex(kind) ? of_complexes : of_floats);
  if (op == Op::maximum || op == Op::minimum) return add(op, {a, b});
  if (op == Op::multiply && is_complex(kind)) return add(op, {a, scaled(b, 0.0625).value()});
  if (op == Op::multiply) return add(op, {a, add(Op::tanh, {b}).value()});
  if (draws_.chance(0.5)) {
    const std::optional<ValueId> sum = add(op, {a, b});
    return sum ? scaled(*sum, 0.5) : std::nullopt;
  }
  return add(op, {scaled(a, 0.75).value(), scaled(b, 0.25).value()});
}

/// A start that moves with the counter, such that `size` elements are inside in all steps.
std::optional<Dim> RegionMaker::moving_start(Dim extent, std::int64_t size) {
  if (!counter_) return std::nullopt;
  const std::int64_t last = std::max<std::int64_t>(draws_.extent(counter_->length), 1) - 1;
  const std::int64_t slope = draws_.chance(0.2) ? 2 : 1;
  const std::int64_t room = draws_.extent(extent) - size - last * slope;
  if (room < 0) return std::nullopt;
  const auto first = static_cast<std::int64_t>(draws_.below(static_cast<std::size_t>(room) + 1));
  if (draws_.chance(0.6)) return counter_->symbol * Dim(slope) + Dim(first);
  return (counter_->length - Dim(1) - counter_->symbol) * Dim(slope) + Dim(first);
}

/// Along one axis a few elements that move with the counter, along others all.
std::optional<Attributes> RegionMaker::moving_part(const Shape& shape) {
  if (shape.empty()) return std::nullopt;
  const std::size_t axis = draws_.below(shape.size());
  const std::int64_t size = draws_.chance(0.75) ? 1 : 2;
  const std::optional<Dim> start = moving_start(shape[axis], size);
  if (!start) return std::nullopt;
  Attributes attributes;
  attributes.shape = shape;
  attributes.shape[axis] = size;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool backwards = i != axis && draws_.chance(0.15);
    attributes.starts.push_back(i == axis ? *start : backwards ? shape[i] - Dim(1) : Dim(0));
    attributes.steps.emplace_back(backwards ? -1 : 1);
  }
  return attributes;
}

/// A part that does not move.
Attributes RegionMaker::part(const Shape& shape) {
  Attributes attributes;
  for (const Dim extent : shape) {
    const bool whole = !extent.is_constant() || extent.constant() < 2 || draws_.chance(0.4);
    const std::int64_t cut = whole ? 0 : 1;
    const bool backwards = draws_.chance(0.2);
    attributes.shape.push_back(extent - Dim(cut));
    attributes.starts.push_back(backwards ? extent - Dim(1) : Dim(cut));
    attributes.steps.emplace_back(backwards ? -1 : 1);
  }
  return attributes;
}

ValueId RegionMaker::updated(ValueId base) {
  const std::optional<Attributes> moving = moving_part(shape(base));
  const Attributes where = moving ? *moving : part(shape(base));
  Shape single = where.shape;
  for (Dim& extent : single) {
    if (draws_.chance(0.15)) extent = 1;
  }
  const ValueId value = value_of({dtype(base), single});
  return add(Op::slice_update, {base, value}, where).value_or(base);
}

ir::Region RegionMaker::finish(std::vector<ValueId> results) {
  graph_.outputs = std::move(results);
  return ir::make_region(std::move(graph_));
}

}  // namespace heddle::test

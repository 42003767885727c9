#include "frontend/graph/record.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "frontend/graph/dynamic_starts.h"
#include "frontend/graph/fold_numbers.h"
#include "frontend/graph/hash_combiner.h"
#include "frontend/graph/node_memory.h"
#include "frontend/graph/placement.h"
#include "frontend/graph/trace.h"
#include "ir/calls/calls.h"
#include "ir/types/fields.h"
#include "ir/types/scalar.h"

namespace heddle::frontend {
namespace {

/// Excludes starts: an evaluation's keys contain their values, or which of them are arguments.
ir::Hash128 structural_hash(ir::Op op, DType dtype, const ir::Attributes& attributes) {
  HashCombiner mix;
  mix.number(static_cast<std::uint64_t>(op)).number(static_cast<std::uint64_t>(dtype));
  const ir::AttributeFields fields = ir::fields_of(op);
  if (fields.axes) {
    mix.number(attributes.axes.size());
    for (std::int64_t axis : attributes.axes) mix.number(static_cast<std::uint64_t>(axis));
  }
  if (fields.keepdims) mix.number(attributes.keepdims ? 1 : 0);
  if (fields.call) mix.hash(attributes.call.hash());
  if (fields.result) mix.number(attributes.index);
  if (fields.shape) {
    mix.number(attributes.shape.size());
    for (ir::Dim extent : attributes.shape) mix.number(extent.hash());
  }
  if (fields.region) {
    mix.number(attributes.steps.size());
    for (ir::Dim step : attributes.steps) mix.number(step.hash());
  }
  return mix.finish();
}

template <class T>
std::uint64_t bits_as(T value) {
  std::uint64_t bits = 0;
  if constexpr (std::is_same_v<T, float>) {
    bits = std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    bits = std::bit_cast<std::uint64_t>(value);
  } else {
    bits = static_cast<std::uint64_t>(value) & (~0ull >> (64 - 8 * sizeof(T)));
  }
  return bits;
}

template <class T>
ir::ElementBits bits_in(DType dtype, T value) {
  switch (dtype) {
    case DType::boolean:
      return bits_as(static_cast<std::uint8_t>(value != T(0)));
    case DType::i8:
      return bits_as(static_cast<std::int8_t>(value));
    case DType::i16:
      return bits_as(static_cast<std::int16_t>(value));
    case DType::i32:
      return bits_as(static_cast<std::int32_t>(value));
    case DType::i64:
      return bits_as(static_cast<std::int64_t>(value));
    case DType::u8:
      return bits_as(static_cast<std::uint8_t>(value));
    case DType::u16:
      return bits_as(static_cast<std::uint16_t>(value));
    case DType::u32:
      return bits_as(static_cast<std::uint32_t>(value));
    case DType::u64:
      return bits_as(static_cast<std::uint64_t>(value));
    case DType::f16:
      return heddle_scalar::cast<heddle_scalar::half>(static_cast<double>(value)).bits;
    case DType::bf16:
      return heddle_scalar::cast<heddle_scalar::bfloat16>(static_cast<double>(value)).bits;
    case DType::f32:
      return bits_as(static_cast<float>(value));
    case DType::f64:
      return bits_as(static_cast<double>(value));
    case DType::c64:
    case DType::c128:
      return ir::complex_bits(dtype, {bits_in(real_dtype(dtype), value).low, 0});
  }
  throw InternalError("a scalar with an invalid dtype");
}

}  // namespace

double value_of(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
    case Scalar::Kind::integer:
      return static_cast<double>(scalar.integer);
    case Scalar::Kind::unsigned_integer:
      return static_cast<double>(scalar.unsigned_integer);
    case Scalar::Kind::large_integer:
    case Scalar::Kind::floating:
    case Scalar::Kind::complex:
      break;
  }
  return scalar.floating;
}

DType default_dtype(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
      return DType::boolean;
    case Scalar::Kind::integer:
    case Scalar::Kind::unsigned_integer:
    case Scalar::Kind::large_integer:
      break;
    case Scalar::Kind::floating:
      return DType::f64;
    case Scalar::Kind::complex:
      return DType::c128;
  }
  return compare_with_range(scalar, DType::i64) != 0 ? DType::u64 : DType::i64;
}

std::string text_of(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
      return scalar.integer != 0 ? "true" : "false";
    case Scalar::Kind::integer:
      return std::to_string(scalar.integer);
    case Scalar::Kind::unsigned_integer:
      return std::to_string(scalar.unsigned_integer);
    case Scalar::Kind::large_integer:
    case Scalar::Kind::floating:
      break;
    case Scalar::Kind::complex:
      return fmt::format("({}{:+}j)", scalar.floating, scalar.imaginary);
  }
  return fmt::format("{}", scalar.floating);
}

std::string at(std::string_view message, const Site& site) {
  const std::string place = site.location.to_string();
  return place.empty() ? std::string(message) : fmt::format("{} ({})", message, place);
}

namespace {

/// The types of operands. Those of few need no memory.
class OperandTypes {
 public:
  explicit OperandTypes(std::span<const NodeRef> operands) : count_(operands.size()) {
    if (count_ > few_.size()) many_.resize(count_);
    ir::Type* const types = many_.empty() ? few_.data() : many_.data();
    for (std::size_t i = 0; i < count_; ++i) types[i] = {operands[i]->dtype, operands[i]->shape};
  }
  operator std::span<const ir::Type>() const {  // NOLINT: it is one
    return {many_.empty() ? few_.data() : many_.data(), count_};
  }

 private:
  std::size_t count_;
  std::array<ir::Type, 3> few_;
  std::vector<ir::Type> many_;
};

/// The type of a result of a pending call.
ir::Type type_of_result(const Node& call, std::uint32_t index) {
  return ir::infer_results(OperandTypes(call.operands()), *call.attributes).at(index);
}

/// A result of the given type. Moves operands that are not const.
template <class Operand>
NodeRef record_typed(ir::Op op, std::span<Operand> operands, ir::Attributes&& attributes,
                     ir::Type&& type, const Site& site) {
  static const ir::Attributes& none = *new ir::Attributes;
  NodeRef node(new_node());
  node->op = op;
  node->dtype = type.dtype;
  node->shape = std::move(type.shape);
  if (Trace* trace = Trace::current(); trace != nullptr) {
    node->trace_id = trace->id();
    node->index = trace->number_operation();
  }
  if (node->trace_id == 0)
    node->plan_for(common_device(ir::name_of(op, attributes), operands, site));
  node->site = site;
  if constexpr (std::is_const_v<Operand>) {
    node->set_operands(operands);
  } else {
    node->move_operands(operands);
  }
  if (node->trace_id == 0 && (op == ir::Op::slice || op == ir::Op::slice_update)) {
    node->dynamic_starts = dynamic_starts(op, site, attributes);
  }
  node->hash = structural_hash(op, node->dtype, attributes);
  if (attributes != none) {
    node->attributes = std::make_unique<ir::Attributes>(std::move(attributes));
  }
  if (node->trace_id == 0) Recorder::current().add(*node);
  return node;
}

}  // namespace

NodeRef record(ir::Op op, std::span<const NodeRef> operands, ir::Attributes attributes, Site site) {
  if (NodeRef known = fold_numbers(op, operands, attributes)) return known;
  ir::Type type =
      op == ir::Op::result
          ? type_of_result(*operands[0], attributes.index)
          : located(site, [&] { return ir::infer(op, OperandTypes(operands), attributes); });
  return record_typed(op, operands, std::move(attributes), std::move(type), site);
}

NodeRef record_elementwise(ir::Op op, std::span<NodeRef> operands, const Site& site) {
  if (NodeRef known = fold_numbers(op, operands, {})) return known;
  ir::Type type = located(site, [&] { return ir::infer(op, OperandTypes(operands), {}); });
  return record_typed(op, operands, {}, std::move(type), site);
}

NodeRef record_valid(ir::Op op, std::span<const NodeRef> operands, ir::Attributes attributes,
                     ir::Type type, const Site& site) {
  if (Trace::current() != nullptr) return record(op, operands, std::move(attributes), site);
  return record_typed(op, operands, std::move(attributes), std::move(type), site);
}

std::vector<NodeRef> record_call(const ir::CallOp& op, std::span<const NodeRef> operands,
                                 std::initializer_list<ir::NamedAttribute> attributes, Site site,
                                 std::vector<ir::Region> regions) {
  return record_call(
      operands,
      located(site, [&] { return ir::call_attributes(op, attributes, std::move(regions)); }), site);
}

std::vector<NodeRef> record_call(std::span<const NodeRef> operands, ir::Attributes attributes,
                                 Site site) {
  std::vector<ir::Type> types =
      located(site, [&] { return ir::infer_results(OperandTypes(operands), attributes); });
  std::vector<NodeRef> results = {
      record_typed(ir::Op::call, operands, std::move(attributes), std::move(types.front()), site)};
  for (std::size_t i = 1; i < types.size(); ++i) {
    ir::Attributes which;
    which.index = static_cast<std::uint32_t>(i);
    results.push_back(record_typed(ir::Op::result, std::span<const NodeRef>(&results[0], 1),
                                   std::move(which), std::move(types[i]), site));
  }
  return results;
}

NodeRef record_valid_call(std::span<const NodeRef> operands, ir::Attributes attributes,
                          ir::Type type, Site site) {
  if (Trace::current() != nullptr)
    return record_call(operands, std::move(attributes), site).front();
  return record_typed(ir::Op::call, operands, std::move(attributes), std::move(type), site);
}

NodeRef record_scalar(DType dtype, ir::ElementBits bits, bool constant) {
  NodeRef node(new_node());
  const Trace* trace = Trace::current();
  if (trace != nullptr) node->trace_id = trace->id();
  node->kind = constant || trace != nullptr ? Node::Kind::constant : Node::Kind::scalar;
  node->op = node->kind == Node::Kind::constant ? ir::Op::constant : ir::Op::parameter;
  node->dtype = dtype;
  node->bits = bits;
  return node;
}

NodeRef record_number(DType dtype, ir::ElementBits bits) {
  return record_scalar(dtype, bits, is_boolean(dtype));
}

NodeRef record_constant(DType dtype, double value) {
  return record_scalar(dtype, bits_of(dtype, value), true);
}

NodeRef record_iota(ir::Shape shape, std::int64_t axis, DType dtype, Site site) {
  ir::Attributes attributes;
  attributes.shape = std::move(shape);
  attributes.axes = {axis};
  attributes.dtype = dtype;
  return record(ir::Op::iota, {}, std::move(attributes), site);
}

NodeRef array_node(runtime::DeviceArray array) {
  NodeRef node(new_node());
  node->kind = Node::Kind::array;
  node->dtype = array.type.dtype;
  node->shape = array.type.shape;
  node->set_value(std::move(array));
  return node;
}

NodeRef cast_to(const NodeRef& node, DType dtype, Site site, std::string_view op) {
  if (node->weak) {
    NodeRef scalar = Trace::current()->scalar_in(node, dtype, site, op);
    if (scalar) return scalar;
  }
  if (node->dtype == dtype) return node;
  ir::Attributes attributes;
  attributes.dtype = dtype;
  return record(ir::Op::cast, {node}, std::move(attributes), site);
}

NodeRef reshape_to(const NodeRef& node, ir::Shape shape, Site site) {
  if (node->shape == shape) return node;
  ir::Attributes attributes;
  attributes.shape = std::move(shape);
  return record(ir::Op::reshape, {node}, std::move(attributes), site);
}

NodeRef broadcast_to_shape(const NodeRef& node, ir::Shape shape, Site site) {
  if (node->shape == shape) return node;
  ir::Attributes attributes;
  attributes.shape = std::move(shape);
  return record(ir::Op::broadcast_to, {node}, std::move(attributes), site);
}

int compare_with_range(const Scalar& scalar, DType dtype) {
  if (scalar.kind == Scalar::Kind::boolean || scalar.kind == Scalar::Kind::complex ||
      !is_integer(dtype))
    return 0;
  if (scalar.kind == Scalar::Kind::large_integer) return scalar.floating < 0 ? -1 : 1;
  const int size = 8 * static_cast<int>(size_of(dtype));
  const int bits = is_signed_integer(dtype) ? size - 1 : size;
  if (scalar.is_inexact()) {
    const double whole = std::trunc(scalar.floating), limit = std::ldexp(1.0, bits);
    if (whole < (is_signed_integer(dtype) ? -limit : 0)) return -1;
    return whole < limit ? 0 : 1;
  }
  const std::uint64_t greatest = ~0ull >> (64 - bits);
  if (scalar.kind == Scalar::Kind::unsigned_integer || scalar.integer >= 0) {
    return scalar.unsigned_integer > greatest ? 1 : 0;
  }
  if (is_unsigned_integer(dtype)) return -1;
  return scalar.integer < -static_cast<std::int64_t>(greatest) - 1 ? -1 : 0;
}

ir::ElementBits scalar_bits(std::string_view op, const Scalar& scalar, DType dtype, Site site) {
  const bool beyond_f64 =
      scalar.kind == Scalar::Kind::large_integer && !std::isfinite(scalar.floating);
  if (scalar.kind == Scalar::Kind::floating && is_integer(dtype) && std::isnan(scalar.floating))
    throw ValueError(
        at(fmt::format("{}: NaN cannot be converted to {}", op, numpy_name_of(dtype)), site));
  if (compare_with_range(scalar, dtype) != 0 || (beyond_f64 && is_inexact(dtype))) {
    const char* kind = scalar.is_inexact() ? "number" : "integer";
    throw DTypeError(at(fmt::format("{}: the {} {} does not fit {}; cast the array to a wider "
                                    "dtype first",
                                    op, kind, text_of(scalar), numpy_name_of(dtype)),
                        site));
  }
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
    case Scalar::Kind::integer:
      return bits_in(dtype, scalar.integer);
    case Scalar::Kind::unsigned_integer:
      return bits_in(dtype, scalar.unsigned_integer);
    case Scalar::Kind::large_integer:
    case Scalar::Kind::floating:
      break;
    case Scalar::Kind::complex: {
      if (is_boolean(dtype)) return scalar.floating != 0 || scalar.imaginary != 0 ? 1 : 0;
      if (!is_complex(dtype)) {
        throw DTypeError(at(fmt::format("{}: the complex number {} does not fit {}; take its real "
                                        "part, or cast the array to complex64 or complex128",
                                        op, text_of(scalar), numpy_name_of(dtype)),
                            site));
      }
      const DType part = real_dtype(dtype);
      return ir::complex_bits(
          dtype, {bits_of(part, scalar.floating).low, bits_of(part, scalar.imaginary).low});
    }
  }
  return bits_of(dtype, scalar.floating);
}

ir::ElementBits bits_of(DType dtype, double value) {
  if (!is_integer(dtype)) return bits_in(dtype, value);
  if (value < -0x1p63 || !(value < 0x1p64)) {
    throw DTypeError(
        fmt::format("the integer {} cannot be represented in {}", value, numpy_name_of(dtype)));
  }
  return value < 0 ? bits_in(dtype, static_cast<std::int64_t>(value))
                   : bits_in(dtype, static_cast<std::uint64_t>(value));
}

ir::Shape to_ir(const Shape& shape) { return {shape.begin(), shape.end()}; }

std::string describe(const Node& node) { return ir::describe(ir::Type{node.dtype, node.shape}); }

}  // namespace heddle::frontend

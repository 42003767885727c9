#include "heddle/creation.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/promote.h"
#include "frontend/storage.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::record_constant;
using frontend::record_scalar;
using frontend::Site;
using ir::Op;

namespace {

ir::Shape checked_shape(const char* op, const Shape& shape, const Site& site) {
  for (std::int64_t extent : shape) {
    if (extent < 0) {
      throw ShapeError(
          at(fmt::format("{}: shape [{}] has a negative extent", op, fmt::join(shape, ",")), site));
    }
  }
  ir::Shape result = frontend::to_ir(shape);
  frontend::located(site, [&] { static_cast<void>(ir::element_count(result)); });
  return result;
}

Array filled_with(const char* op, const Shape& shape, double value, DType dtype,
                  const SourceLocation& where) {
  return Access::make(frontend::broadcast_to_shape(record_constant(dtype, value),
                                                   checked_shape(op, shape, where), where));
}

NodeRef iota(const ir::Shape& shape, std::int64_t axis, DType dtype, const Site& site) {
  ir::Attributes attributes;
  attributes.shape = shape;
  attributes.axes = {axis};
  attributes.dtype = dtype;
  return record(Op::iota, {}, std::move(attributes), site);
}

double number(const Scalar& scalar) {
  switch (scalar.kind) {
    case Scalar::Kind::boolean:
    case Scalar::Kind::integer:
      return static_cast<double>(scalar.integer);
    case Scalar::Kind::unsigned_integer:
      return static_cast<double>(scalar.unsigned_integer);
    case Scalar::Kind::floating:
      break;
  }
  return scalar.floating;
}

std::int64_t whole_number(const Scalar& scalar) {
  return scalar.kind == Scalar::Kind::unsigned_integer
             ? static_cast<std::int64_t>(scalar.unsigned_integer)
             : scalar.integer;
}

bool is_whole(const Scalar& scalar) { return scalar.kind != Scalar::Kind::floating; }

/// How many steps from start reach stop, not included.
std::int64_t arange_length(const Scalar& start, const Scalar& stop, const Scalar& step,
                           const Site& site) {
  if (number(step) == 0) throw ValueError(at("arange: the step is 0", site));
  if (is_whole(start) && is_whole(stop) && is_whole(step)) {
    const std::int64_t distance = whole_number(stop) - whole_number(start);
    const std::int64_t unit = whole_number(step);
    if (distance == 0 || (distance > 0) != (unit > 0)) return 0;
    return (distance + unit + (unit > 0 ? -1 : 1)) / unit;
  }
  const double length = std::ceil((number(stop) - number(start)) / number(step));
  if (!(length < 0x1p62)) throw ValueError(at("arange: the length is not finite", site));
  return length > 0 ? static_cast<std::int64_t>(length) : 0;
}

bool is_single(const Scalar& scalar) {
  return scalar.kind != Scalar::Kind::floating || scalar.dtype == DType::f32;
}

}  // namespace

Array from_memory(const void* data, std::size_t count, DType dtype, const Shape& shape,
                  SourceLocation where) {
  ir::Shape extents = checked_shape("array", shape, where);
  if (ir::element_count(extents).constant() != static_cast<std::int64_t>(count)) {
    throw ShapeError(at(
        fmt::format("array: {} elements do not fill the shape [{}]", count, fmt::join(shape, ",")),
        where));
  }
  return Access::make(frontend::upload(data, {dtype, std::move(extents)}));
}

Array full(const Shape& shape, const Operand& value) {
  const NodeRef node = frontend::node_of("full", value);
  return Access::make(frontend::broadcast_to_shape(
      node, checked_shape("full", shape, value.where()), value.where()));
}

Array full(const Shape& shape, const Operand& value, DType dtype) {
  const NodeRef node = value.array() != nullptr
                           ? cast_to(frontend::node_of("full", value), dtype, value.where())
                           : frontend::node_of("full", value, dtype);
  return Access::make(frontend::broadcast_to_shape(
      node, checked_shape("full", shape, value.where()), value.where()));
}

Array zeros(const Shape& shape, DType dtype, SourceLocation where) {
  return filled_with("zeros", shape, 0, dtype, where);
}
Array ones(const Shape& shape, DType dtype, SourceLocation where) {
  return filled_with("ones", shape, 1, dtype, where);
}
Array empty(const Shape& shape, DType dtype, SourceLocation where) {
  return filled_with("empty", shape, 0, dtype, where);
}

namespace {

Array filled_like(const char* op, const Operand& x, double value) {
  const NodeRef node = frontend::node_of(op, x);
  return Access::make(
      frontend::broadcast_to_shape(record_constant(node->dtype, value), node->shape, x.where()));
}

}  // namespace

Array zeros_like(const Operand& x) { return filled_like("zeros_like", x, 0); }
Array ones_like(const Operand& x) { return filled_like("ones_like", x, 1); }
Array empty_like(const Operand& x) { return filled_like("empty_like", x, 0); }

Array full_like(const Operand& x, const Operand& value) {
  const NodeRef node = frontend::node_of("full_like", x);
  const NodeRef element = frontend::node_of("full_like", value, node->dtype);
  return Access::make(frontend::broadcast_to_shape(element, node->shape, x.where()));
}

Array arange(Scalar start, Scalar stop, Scalar step, DType dtype, SourceLocation where) {
  const std::int64_t length = arange_length(start, stop, step, where);
  const bool whole = is_whole(start) && is_whole(stop) && is_whole(step);
  // Integers count in 64 bits, half precision in float32, as in NumPy.
  const bool small = dtype == DType::f16 || dtype == DType::bf16;
  const DType inside = whole                ? DType::i64
                       : small              ? DType::f32
                       : is_floating(dtype) ? dtype
                                            : DType::f64;
  const auto scalar = [&](const Scalar& value) {
    const double x = number(value);
    return record_scalar(inside, frontend::scalar_bits("arange", value, inside, where),
                         x == 0 || x == 1 || x == -1);
  };
  NodeRef node = iota({length}, 0, inside, where);
  if (number(step) != 1) node = record(Op::multiply, {node, scalar(step)}, where);
  if (number(start) != 0) node = record(Op::add, {node, scalar(start)}, where);
  return Access::make(cast_to(node, dtype, where));
}

Array arange(Scalar start, Scalar stop, Scalar step, SourceLocation where) {
  const bool whole = is_whole(start) && is_whole(stop) && is_whole(step);
  const bool single = is_single(start) && is_single(stop) && is_single(step);
  return arange(start, stop, step, whole ? DType::i64 : single ? DType::f32 : DType::f64, where);
}

Array arange(Scalar stop, SourceLocation where) { return arange(0, stop, 1, where); }

Array linspace(Scalar start, Scalar stop, std::int64_t count, bool endpoint, SourceLocation where) {
  if (count < 0) {
    throw ValueError(at(fmt::format("linspace: the count {} is negative", count), where));
  }
  const bool floats = !is_whole(start) || !is_whole(stop);
  const DType dtype = floats && is_single(start) && is_single(stop) ? DType::f32 : DType::f64;
  const std::int64_t intervals = endpoint ? count - 1 : count;
  const double first = number(start), last = number(stop);
  const double step = intervals > 0 ? (last - first) / static_cast<double>(intervals) : 0;
  const auto scalar = [&](double value) {
    return record_scalar(DType::f64, frontend::bits_of(DType::f64, value), value == 0);
  };
  const NodeRef index = iota({count}, 0, DType::f64, where);
  NodeRef node =
      record(Op::add, {record(Op::multiply, {index, scalar(step)}, where), scalar(first)}, where);
  if (endpoint && count > 1) {
    const NodeRef is_last = record(
        Op::equal, {index, record_constant(DType::f64, static_cast<double>(intervals))}, where);
    node = record(Op::select, {is_last, scalar(last), node}, where);
  }
  return Access::make(cast_to(node, dtype, where));
}

Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype,
          SourceLocation where) {
  if (columns == -1) columns = rows;
  const ir::Shape shape = checked_shape("eye", {rows, columns}, where);
  NodeRef row = iota(shape, 0, DType::i64, where);
  if (k != 0) {
    row = record(Op::add, {row, record_constant(DType::i64, static_cast<double>(k))}, where);
  }
  const NodeRef diagonal = record(Op::equal, {row, iota(shape, 1, DType::i64, where)}, where);
  return Access::make(cast_to(diagonal, dtype, where));
}

Array asarray(const Operand& x) { return Access::make(frontend::node_of("asarray", x)); }

}  // namespace heddle

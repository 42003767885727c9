#include "heddle/creation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/manipulation.h"

#include "frontend/promote.h"
#include "frontend/storage.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::NodeRef;
using frontend::record;
using frontend::record_constant;
using frontend::record_iota;
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

/// What an array is filled with: arrays and floats are cast, integers have to fit.
NodeRef element_node(const char* op, const Operand& value, DType dtype) {
  const NodeRef node = frontend::node_of(op, value);
  const bool is_number = value.array() == nullptr || node->weak;
  if (is_number && (!is_floating(node->dtype) || is_floating(dtype)))
    return frontend::node_of(op, value, dtype);
  return Access::node(astype(value, dtype), value.where());
}

Array filled_with(const char* op, const Shape& shape, double value, DType dtype,
                  const SourceLocation& where) {
  return Access::make(frontend::broadcast_to_shape(record_constant(dtype, value),
                                                   checked_shape(op, shape, where), where));
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
  return Access::make(frontend::broadcast_to_shape(element_node("full", value, dtype),
                                                   checked_shape("full", shape, value.where()),
                                                   value.where()));
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
  const NodeRef element = element_node("full_like", value, node->dtype);
  return Access::make(frontend::broadcast_to_shape(element, node->shape, x.where()));
}

Array eye(std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype,
          SourceLocation where) {
  if (columns == -1) columns = rows;
  const ir::Shape shape = checked_shape("eye", {rows, columns}, where);
  NodeRef row = record_iota(shape, 0, DType::i64, where);
  if (k != 0) {
    row = record(Op::add, {row, record_constant(DType::i64, static_cast<double>(k))}, where);
  }
  const NodeRef diagonal =
      record(Op::equal, {row, record_iota(shape, 1, DType::i64, where)}, where);
  return Access::make(cast_to(diagonal, dtype, where));
}

Array asarray(const Operand& x) { return Access::make(frontend::node_of("asarray", x)); }

}  // namespace heddle

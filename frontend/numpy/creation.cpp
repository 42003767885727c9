#include "heddle/creation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/storage.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::cast_to;
using frontend::fill_node;
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

Array filled_with(const char* op, const Shape& shape, double value, DType dtype,
                  const SourceLocation& where) {
  return Access::make(frontend::broadcast_to_shape(record_constant(dtype, value),
                                                   checked_shape(op, shape, where), where));
}

/// The type of an array of the given shape. Throws unless `count` is its number of elements.
ir::Type filled_type(const char* op, std::size_t count, DType dtype, const Shape& shape,
                     const SourceLocation& where) {
  ir::Shape extents = checked_shape(op, shape, where);
  if (ir::element_count(extents).constant() != static_cast<std::int64_t>(count)) {
    throw ShapeError(at(
        fmt::format("{}: {} elements do not fill the shape [{}]", op, count, fmt::join(shape, ",")),
        where));
  }
  return {dtype, std::move(extents)};
}

}  // namespace

Array from_memory(const void* data, std::size_t count, DType dtype, const Shape& shape,
                  SourceLocation where) {
  return Access::make(
      frontend::upload(data, filled_type("array", count, dtype, shape, where), where));
}

Array view_memory(const void* data, std::size_t count, DType dtype, const Shape& shape,
                  std::shared_ptr<const void> owner, SourceLocation where) {
  return Access::make(frontend::borrow(data, filled_type("view", count, dtype, shape, where),
                                       std::move(owner), where));
}

Array full(const Shape& shape, const Operand& value) {
  const NodeRef node = frontend::node_of("full", value);
  return Access::make(frontend::broadcast_to_shape(
      node, checked_shape("full", shape, value.where()), value.where()));
}

Array full(const Shape& shape, const Operand& value, DType dtype) {
  return Access::make(frontend::broadcast_to_shape(
      fill_node("full", value, dtype), checked_shape("full", shape, value.where()), value.where()));
}

Array zeros(const Shape& shape, DType dtype, SourceLocation where) {
  return filled_with("zeros", shape, 0, dtype, where);
}
Array ones(const Shape& shape, DType dtype, SourceLocation where) {
  return filled_with("ones", shape, 1, dtype, where);
}

namespace {

/// Zeros of an array that nothing else refers to, whose memory a user's kernel may get as it is.
Array unset(Array zeros) {
  Access::raw(zeros)->unset = true;
  return zeros;
}

Array filled_like(const char* op, const Operand& x, const Operand& value,
                  std::optional<DType> dtype, const std::optional<Shape>& shape) {
  const NodeRef node = frontend::asarray_node(op, x);
  const NodeRef element = fill_node(op, value, dtype.value_or(node->dtype));
  ir::Shape extents = shape ? checked_shape(op, *shape, x.where()) : node->shape;
  return Access::make(frontend::broadcast_to_shape(element, std::move(extents), x.where()));
}

}  // namespace

Array empty(const Shape& shape, DType dtype, SourceLocation where) {
  return unset(filled_with("empty", shape, 0, dtype, where));
}
Array zeros_like(const Operand& x, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return filled_like("zeros_like", x, {0, x.where()}, dtype, shape);
}
Array ones_like(const Operand& x, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return filled_like("ones_like", x, {1, x.where()}, dtype, shape);
}
Array empty_like(const Operand& x, std::optional<DType> dtype, const std::optional<Shape>& shape) {
  return unset(filled_like("empty_like", x, {0, x.where()}, dtype, shape));
}
Array full_like(const Operand& x, const Operand& value, std::optional<DType> dtype,
                const std::optional<Shape>& shape) {
  return filled_like("full_like", x, value, dtype, shape);
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

Array asarray(const Operand& x) { return Access::make(frontend::asarray_node("asarray", x)); }

}  // namespace heddle

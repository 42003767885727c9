#include "frontend/fft/last_axis.h"

#include <vector>

#include <fmt/format.h>

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/axes.h"

namespace heddle::frontend {

using ir::Op;

LastAxis::LastAxis(std::string_view name, const Operand& a, std::int64_t axis)
    : where_(a.where()), node_(asarray_node(name, a)) {
  axis_ = axis_of(name, axis, rank_of(node_), where_);
  node_ = moved(node_, axis_, rank_of(node_) - 1);
}

NodeRef LastAxis::moved(const NodeRef& node, std::int64_t from, std::int64_t to) const {
  if (from == to) return node;
  ir::Attributes attributes;
  for (std::int64_t axis = 0; axis < rank_of(node); ++axis) {
    if (axis != from) attributes.axes.push_back(axis);
  }
  attributes.axes.insert(attributes.axes.begin() + to, from);
  return record(Op::transpose, {node}, attributes, where_);
}

std::int64_t LastAxis::length(std::string_view name) const {
  return constant_extent(name, node_, rank_of(node_) - 1, where_);
}

void LastAxis::to_complex() {
  const DType dtype = node_->dtype;
  const bool narrow =
      dtype == DType::f16 || dtype == DType::bf16 || real_dtype(dtype) == DType::f32;
  cast(narrow ? DType::c64 : DType::c128);
}

void LastAxis::to_real(std::string_view name) {
  const DType dtype = node_->dtype;
  if (is_complex(dtype)) {
    throw DTypeError(
        at(fmt::format("{}({}): takes real numbers; use fft.fft, or take the real part", name,
                       describe(*node_)),
           where_));
  }
  const bool narrow = dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32;
  cast(narrow ? DType::f32 : DType::f64);
}

void LastAxis::resize(std::string_view name, std::int64_t length) {
  const std::int64_t held = this->length(name);
  if (held == length) return;
  ir::Attributes attributes;
  attributes.shape = node_->shape;
  attributes.shape.back() = length;
  if (length < held) {
    attributes.starts.assign(attributes.shape.size(), 0);
    attributes.steps.assign(attributes.shape.size(), 1);
    node_ = record(Op::slice, {node_}, attributes, where_);
    return;
  }
  ir::Shape shape = node_->shape;
  shape.back() = length - held;
  const NodeRef zeros = broadcast_to_shape(record_constant(node_->dtype, 0), shape, where_);
  ir::Attributes along;
  along.axes = {rank_of(node_) - 1};
  node_ = record(Op::concatenate, {node_, zeros}, along, where_);
}

void LastAxis::call(const ir::CallOp& op, std::initializer_list<ir::NamedAttribute> attributes) {
  node_ = record_call(op, {&node_, 1}, attributes, where_).front();
}

void LastAxis::conjugate() { node_ = record(Op::conjugate, {node_}, where_); }

void LastAxis::scale(double factor) {
  if (factor == 1) return;
  node_ = record(Op::multiply, {node_, record_constant(node_->dtype, factor)}, where_);
}

Array LastAxis::finish() { return Access::make(moved(node_, rank_of(node_) - 1, axis_)); }

}  // namespace heddle::frontend

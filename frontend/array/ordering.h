#pragma once

#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Records the ops that functions are composed of, all with the caller's source location.
struct OpRecorder {
  SourceLocation site;

  template <class... Nodes>
  NodeRef operator()(ir::Op op, const Nodes&... nodes) const {
    return record(op, {nodes...}, site);
  }
  NodeRef cast(const NodeRef& node, DType dtype) const { return cast_to(node, dtype, site); }
  NodeRef reshape(const NodeRef& node, ir::Shape shape) const {
    return reshape_to(node, std::move(shape), site);
  }
  NodeRef flat(const NodeRef& node) const {
    return reshape(node, {ir::element_count(node->shape)});
  }
  NodeRef transpose(const NodeRef& node, std::vector<std::int64_t> axes) const;
  NodeRef reduce(ir::Op op, const NodeRef& node, std::vector<std::int64_t> axes) const;
  /// Reduces segments of an axis: result i, along that axis, is of elements [begins[i], ends[i]).
  NodeRef segments(ir::Op op, const NodeRef& node, const NodeRef& begins, const NodeRef& ends,
                   std::int64_t axis) const;
  /// sort or argsort along an axis.
  NodeRef sort(const ir::CallOp& op, const NodeRef& node, std::int64_t axis) const;
  /// Elements [first, first + count) along an axis.
  NodeRef part(const NodeRef& node, std::int64_t axis, ir::Dim first, ir::Dim count) const;
  NodeRef flip(const NodeRef& node, std::int64_t axis) const;
  /// Gathers along one axis by `indices`, which has the node's rank; the other axes broadcast.
  NodeRef gather(const NodeRef& node, const NodeRef& indices, std::int64_t axis) const;
  /// A 1-d result of `length` zeros, to which each of the 1-d values is added at its index.
  NodeRef scatter_add(const NodeRef& values, const NodeRef& indices, ir::Dim length) const;
  /// An extent, possibly symbolic, as an i64 value.
  NodeRef extent(ir::Dim extent) const;
  /// 0, 1 ... length - 1, in i64.
  NodeRef places(ir::Dim length) const { return record_iota({length}, 0, DType::i64, site); }
};

/// An array and one of its axes.
struct Along {
  NodeRef node;
  std::int64_t axis = 0;
  ir::Dim length() const { return node->shape[static_cast<std::size_t>(axis)]; }
};
/// The array with the one given axis; without an axis, the flattened array. IndexError for an axis
/// out of range, ValueError for several axes or an empty list.
Along along_axis(std::string_view op, const Operand& x, const Axes& axis);

}  // namespace heddle::frontend

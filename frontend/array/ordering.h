#pragma once

#include <string_view>
#include <vector>

#include "heddle/array.h"

#include "frontend/graph/record.h"

namespace heddle::frontend {

/// Records what functions are composed of, all with the place of the user's line.
struct Composer {
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
  /// sort or argsort along an axis.
  NodeRef sort(const ir::CallOp& op, const NodeRef& node, std::int64_t axis) const;
  /// Elements [first, first + count) along an axis.
  NodeRef part(const NodeRef& node, std::int64_t axis, ir::Dim first, ir::Dim count) const;
  NodeRef flip(const NodeRef& node, std::int64_t axis) const;
  /// The elements that indices, of as many axes, name along one axis; elsewhere they broadcast.
  NodeRef gather(const NodeRef& node, const NodeRef& indices, std::int64_t axis) const;
  /// Of `length` zeros, the sums of the values, 1-d, that name each of them by its index.
  NodeRef scatter_add(const NodeRef& values, const NodeRef& indices, ir::Dim length) const;
  /// An extent as an i64 value, that of a symbol too.
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
/// The array, or for axes that name none the flattened array, with the one axis given. IndexError;
/// ValueError for several, or for an empty list of them.
Along along_axis(std::string_view op, const Operand& x, const Axes& axis);

}  // namespace heddle::frontend

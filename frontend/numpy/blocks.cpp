#include <algorithm>

#include <fmt/format.h>

#include "heddle/joining.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::Site;

namespace {

/// The arrays in order. ValueError unless all have the nesting depth of the first.
class Leaves {
 public:
  Leaves(const Block& blocks, const Site& site) : site_(site) { collect(blocks, 0); }

  const std::vector<Array>& arrays() const { return arrays_; }
  std::size_t depth() const { return *depth_; }

 private:
  void collect(const Block& block, std::size_t depth) {
    if (!block.is_list()) {
      if (!depth_) depth_ = depth;
      if (*depth_ != depth) {
        throw ValueError(at(
            fmt::format(
                "block: the first arrays are nested {} lists deep, but array {} is nested {} deep",
                *depth_, arrays_.size(), depth),
            site_));
      }
      arrays_.push_back(block.array());
      return;
    }
    if (block.blocks().empty()) throw ValueError(at("block: a list is empty", site_));
    for (const Block& each : block.blocks()) collect(each, depth + 1);
  }

  Site site_;
  std::vector<Array> arrays_;
  std::optional<std::size_t> depth_;
};

/// Joins each list along the axis of its depth, taking the arrays in order.
class Joiner {
 public:
  Joiner(std::vector<NodeRef> nodes, std::int64_t first_axis, const Site& site)
      : nodes_(std::move(nodes)), first_axis_(first_axis), site_(site) {}

  NodeRef operator()(const Block& block, std::int64_t depth = 0) {
    if (!block.is_list()) return nodes_[next_++];
    std::vector<NodeRef> parts;
    for (const Block& each : block.blocks()) parts.push_back((*this)(each, depth + 1));
    return frontend::join_along(parts, first_axis_ + depth, site_);
  }

 private:
  std::vector<NodeRef> nodes_;
  std::size_t next_ = 0;
  std::int64_t first_axis_;
  Site site_;
};

}  // namespace

Array block(const Block& blocks, SourceLocation where) {
  const Site site = where;
  const Leaves leaves(blocks, site);
  std::vector<NodeRef> nodes = frontend::promoted("block", leaves.arrays(), where);
  std::size_t rank = leaves.depth();
  for (const NodeRef& node : nodes) rank = std::max(rank, node->shape.size());
  for (NodeRef& node : nodes) {
    ir::Shape shape = node->shape;
    shape.insert(shape.begin(), rank - shape.size(), ir::Dim(1));
    node = frontend::reshape_to(node, std::move(shape), site);
  }
  Joiner join(std::move(nodes), static_cast<std::int64_t>(rank - leaves.depth()), site);
  return Access::make(join(blocks));
}

}  // namespace heddle

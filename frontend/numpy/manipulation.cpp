#include "heddle/manipulation.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/axes.h"

namespace heddle {

using frontend::Access;
using frontend::all_axes;
using frontend::at;
using frontend::axes_of;
using frontend::axis_of;
using frontend::NodeRef;
using frontend::rank_of;
using frontend::record;
using frontend::Site;
using ir::Op;

namespace {

/// Computes the extent that is negative in `shape`: -1, or any other, as in NumPy.
ir::Shape resolve_shape(const NodeRef& node, const Shape& shape, const Site& site) {
  const auto fail = [&](std::string_view why) {
    throw ShapeError(at(fmt::format("reshape({}): cannot reshape to [{}]: {}",
                                    frontend::describe(*node), fmt::join(shape, ","), why),
                        site));
  };
  ir::Shape result;
  std::optional<std::size_t> open;
  ir::Dim known = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      if (open) fail("only one extent may be negative");
      open = i;
    } else {
      known = frontend::located(site, [&] { return known * ir::Dim(shape[i]); });
    }
    result.emplace_back(shape[i]);
  }
  if (!open) return result;
  const ir::Dim total = ir::element_count(node->shape);
  if (known == ir::Dim(0) || !total.divisible_by(known.constant())) {
    fail(fmt::format("{} elements do not divide by {}", total.to_string(), known.to_string()));
  }
  result[*open] = total.divided_by(known.constant());
  return result;
}

Array permuted(const NodeRef& node, std::vector<std::int64_t> axes, const Site& site) {
  return Access::make(frontend::permute(node, std::move(axes), site));
}

Array joined(std::span<const NodeRef> nodes, std::int64_t axis, const Site& site) {
  return Access::make(frontend::join_along(nodes, axis, site));
}

}  // namespace

Array reshape(const Operand& x, const Shape& shape) {
  const NodeRef node = frontend::node_of("reshape", x);
  return Access::make(frontend::reshape_to(node, resolve_shape(node, shape, x.where()), x.where()));
}

Array ravel(const Operand& x) {
  const NodeRef node = frontend::node_of("ravel", x);
  return Access::make(frontend::reshape_to(node, {ir::element_count(node->shape)}, x.where()));
}

Array transpose(const Operand& x, const std::vector<std::int64_t>& axes) {
  const NodeRef node = frontend::node_of("transpose", x);
  const int rank = rank_of(node);
  if (axes.empty()) {
    std::vector<std::int64_t> reversed = all_axes(rank);
    std::reverse(reversed.begin(), reversed.end());
    return permuted(node, std::move(reversed), x.where());
  }
  if (static_cast<int>(axes.size()) != rank) {
    throw ValueError(at(fmt::format("transpose({}): axes [{}] must name each of the {} axes once",
                                    frontend::describe(*node), fmt::join(axes, ","), rank),
                        x.where()));
  }
  return permuted(node, axes_of("transpose", axes, rank, x.where()), x.where());
}

Array permute_dims(const Operand& x, const std::vector<std::int64_t>& axes) {
  return transpose(x, axes);
}

Array swapaxes(const Operand& x, std::int64_t a, std::int64_t b) {
  const NodeRef node = frontend::node_of("swapaxes", x);
  std::vector<std::int64_t> axes = all_axes(rank_of(node));
  const auto first = axis_of("swapaxes", a, rank_of(node), x.where());
  const auto second = axis_of("swapaxes", b, rank_of(node), x.where());
  std::swap(axes[static_cast<std::size_t>(first)], axes[static_cast<std::size_t>(second)]);
  return permuted(node, std::move(axes), x.where());
}

Array moveaxis(const Operand& x, const std::vector<std::int64_t>& source,
               const std::vector<std::int64_t>& destination) {
  const NodeRef node = frontend::node_of("moveaxis", x);
  if (source.size() != destination.size()) {
    throw ValueError(at(
        fmt::format("moveaxis: {} sources but {} destinations", source.size(), destination.size()),
        x.where()));
  }
  const int rank = rank_of(node);
  const auto from = axes_of("moveaxis", source, rank, x.where());
  const auto to = axes_of("moveaxis", destination, rank, x.where());
  std::vector<std::int64_t> rest;
  for (std::int64_t axis : all_axes(rank)) {
    if (std::find(from.begin(), from.end(), axis) == from.end()) rest.push_back(axis);
  }
  std::vector<std::int64_t> axes;
  auto next = rest.begin();
  for (std::int64_t place : all_axes(rank)) {
    const auto moved = std::find(to.begin(), to.end(), place);
    axes.push_back(moved == to.end() ? *next++
                                     : from[static_cast<std::size_t>(moved - to.begin())]);
  }
  return permuted(node, std::move(axes), x.where());
}

Array moveaxis(const Operand& x, std::int64_t source, std::int64_t destination) {
  return moveaxis(x, std::vector{source}, std::vector{destination});
}

Array expand_dims(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("expand_dims", x);
  const int rank = rank_of(node) + static_cast<int>(axes.values().size());
  const auto places = axes_of("expand_dims", axes.values(), rank, x.where());
  ir::Shape shape;
  auto extent = node->shape.begin();
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const bool added = std::find(places.begin(), places.end(), axis) != places.end();
    shape.push_back(added ? ir::Dim(1) : *extent++);
  }
  return Access::make(frontend::reshape_to(node, std::move(shape), x.where()));
}

Array rollaxis(const Operand& x, std::int64_t axis, std::int64_t start) {
  const int rank = rank_of(frontend::node_of("rollaxis", x));
  const std::int64_t from = axis_of("rollaxis", axis, rank, x.where());
  std::int64_t to = start == rank ? start : axis_of("rollaxis", start, rank, x.where());
  if (from < to) --to;
  return moveaxis(x, from, to);
}

Array matrix_transpose(const Operand& x) {
  const NodeRef node = frontend::node_of("matrix_transpose", x);
  frontend::require_rank("matrix_transpose", node, 2, x.where());
  return swapaxes(x, -1, -2);
}

namespace {

/// Adds axes of extent 1 before and after.
Array surrounded(const NodeRef& node, std::size_t before, std::size_t behind, const Site& site) {
  ir::Shape shape(before, ir::Dim(1));
  shape.insert(shape.end(), node->shape.begin(), node->shape.end());
  shape.insert(shape.end(), behind, ir::Dim(1));
  return Access::make(frontend::reshape_to(node, std::move(shape), site));
}

}  // namespace

Array atleast_1d(const Operand& x) {
  const NodeRef node = frontend::node_of("atleast_1d", x);
  return surrounded(node, rank_of(node) == 0 ? 1 : 0, 0, x.where());
}

Array atleast_2d(const Operand& x) {
  const NodeRef node = frontend::node_of("atleast_2d", x);
  return surrounded(node, static_cast<std::size_t>(std::max(0, 2 - rank_of(node))), 0, x.where());
}

Array atleast_3d(const Operand& x) {
  const NodeRef node = frontend::node_of("atleast_3d", x);
  const int rank = rank_of(node);
  return surrounded(node, rank == 0 || rank == 1 ? 1 : 0,
                    rank == 0  ? 2
                    : rank < 3 ? 1
                               : 0,
                    x.where());
}

Array squeeze(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("squeeze", x);
  const bool is_0d = node->shape.empty() && !axes.all() && axes.values().size() == 1;
  // As in NumPy, axis 0 of a 0-d array may be squeezed.
  if (is_0d && (axes.values()[0] == 0 || axes.values()[0] == -1)) return Access::make(node);
  const auto places = axes_of("squeeze", axes, rank_of(node), x.where());
  ir::Shape shape;
  for (std::size_t i = 0; i < node->shape.size(); ++i) {
    const bool one = node->shape[i] == ir::Dim(1);
    const bool named =
        std::find(places.begin(), places.end(), static_cast<std::int64_t>(i)) != places.end();
    if (named && !one && !axes.all()) {
      throw ShapeError(at(fmt::format("squeeze({}): axis {} has extent {}, not 1",
                                      frontend::describe(*node), i, node->shape[i].to_string()),
                          x.where()));
    }
    if (!(one && named)) shape.push_back(node->shape[i]);
  }
  return Access::make(frontend::reshape_to(node, std::move(shape), x.where()));
}

Array flip(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("flip", x);
  const auto places = axes_of("flip", axes, rank_of(node), x.where());
  return Access::make(frontend::reverse_along(node, places, x.where()));
}

Array broadcast_to(const Operand& x, const Shape& shape) {
  const NodeRef node = frontend::node_of("broadcast_to", x);
  return Access::make(frontend::broadcast_to_shape(node, frontend::to_ir(shape), x.where()));
}

Shape broadcast_shapes(std::span<const Shape> shapes, SourceLocation where) {
  ir::Shape common;
  for (const Shape& shape : shapes) {
    common = frontend::located(
        where, [&] { return ir::broadcast_shapes(common, frontend::to_ir(shape)); });
  }
  Shape result;
  for (ir::Dim extent : common) result.push_back(extent.constant());
  return result;
}

std::vector<Array> broadcast_arrays(Arrays arrays, SourceLocation where) {
  ir::Shape shape;
  for (const Array& array : arrays) {
    const NodeRef node = Access::node(array, where);
    shape = frontend::located(where, [&] { return ir::broadcast_shapes(shape, node->shape); });
  }
  std::vector<Array> result;
  for (const Array& array : arrays) {
    result.push_back(
        Access::make(frontend::broadcast_to_shape(Access::node(array, where), shape, where)));
  }
  return result;
}

Array concatenate(Arrays arrays, std::int64_t axis, SourceLocation where) {
  const std::vector<NodeRef> nodes = frontend::promoted("concatenate", arrays, where);
  const int rank = rank_of(nodes[0]);
  if (rank == 0) {
    throw ShapeError(at("concatenate: 0-d arrays cannot be concatenated; stack them", where));
  }
  return joined(nodes, axis_of("concatenate", axis, rank, where), where);
}

Array stack(Arrays arrays, std::int64_t axis, SourceLocation where) {
  std::vector<NodeRef> nodes = frontend::promoted("stack", arrays, where);
  const ir::Shape shape = nodes[0]->shape;
  const std::int64_t place = axis_of("stack", axis, static_cast<int>(shape.size()) + 1, where);
  ir::Shape expanded = shape;
  expanded.insert(expanded.begin() + place, ir::Dim(1));
  for (NodeRef& node : nodes) {
    if (node->shape != shape) {
      throw ShapeError(at(fmt::format("stack: shapes {} and {} differ", ir::to_string(shape),
                                      ir::to_string(node->shape)),
                          where));
    }
    node = frontend::reshape_to(node, expanded, where);
  }
  return joined(nodes, place, where);
}

Array astype(const Operand& x, DType dtype) {
  const bool large = x.array() == nullptr && x.scalar().kind == Scalar::Kind::large_integer;
  if (large) return Access::make(frontend::node_of("astype", x, dtype));  // has no dtype
  const NodeRef node = frontend::node_of("astype", x);
  if (!node->weak) return Access::make(frontend::cast_to(node, dtype, x.where()));
  // Always record a cast: the result is not weak, and wraps where a weak scalar would have to fit.
  ir::Attributes attributes;
  attributes.dtype = dtype;
  return Access::make(record(Op::cast, {node}, std::move(attributes), x.where()));
}

}  // namespace heddle

#include "heddle/manipulation.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/promote.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::NodeRef;
using frontend::record;
using frontend::Site;
using ir::Op;

namespace {

int rank_of(const NodeRef& node) { return static_cast<int>(node->shape.size()); }

/// Axes in [0, rank), each once. IndexError, ValueError.
std::vector<std::int64_t> distinct_axes(std::string_view op, std::span<const std::int64_t> axes,
                                        int rank, const Site& site) {
  std::vector<std::int64_t> result;
  for (std::int64_t axis : axes) {
    const int place = frontend::located(site, [&] { return ir::normalize_axis(axis, rank); });
    if (std::find(result.begin(), result.end(), place) != result.end()) {
      throw ValueError(at(fmt::format("{}: axis {} is given twice", op, axis), site));
    }
    result.push_back(place);
  }
  return result;
}

/// Puts the extent in the place of a -1.
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
    if (shape[i] < -1) fail(fmt::format("extent {} is negative", shape[i]));
    if (shape[i] == -1) {
      if (open) fail("only one extent may be -1");
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

Array permute(const NodeRef& node, std::vector<std::int64_t> axes, const Site& site) {
  if (std::is_sorted(axes.begin(), axes.end())) return Access::make(node);
  ir::Attributes attributes;
  attributes.axes = std::move(axes);
  return Access::make(record(Op::transpose, {node}, std::move(attributes), site));
}

std::vector<std::int64_t> all_axes(int rank) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// All in their common dtype.
std::vector<NodeRef> promoted(std::string_view op, std::span<const Array> arrays,
                              const SourceLocation& where) {
  if (arrays.empty()) throw ValueError(at(fmt::format("{}: needs at least one array", op), where));
  std::vector<Operand> operands;
  for (const Array& array : arrays) operands.emplace_back(array, where);
  std::vector<const Operand*> pointers;
  for (const Operand& operand : operands) pointers.push_back(&operand);
  const DType dtype = frontend::common_dtype(op, pointers);
  std::vector<NodeRef> nodes;
  for (const Operand& operand : operands) nodes.push_back(frontend::node_of(op, operand, dtype));
  return nodes;
}

Array join(std::span<const NodeRef> nodes, std::int64_t axis, const Site& site) {
  if (nodes.size() == 1) return Access::make(nodes[0]);
  ir::Attributes attributes;
  attributes.axes = {axis};
  return Access::make(record(Op::concatenate, nodes, std::move(attributes), site));
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
    return permute(node, std::move(reversed), x.where());
  }
  if (static_cast<int>(axes.size()) != rank) {
    throw ValueError(at(fmt::format("transpose({}): axes [{}] must name each of the {} axes once",
                                    frontend::describe(*node), fmt::join(axes, ","), rank),
                        x.where()));
  }
  return permute(node, distinct_axes("transpose", axes, rank, x.where()), x.where());
}

Array permute_dims(const Operand& x, const std::vector<std::int64_t>& axes) {
  return transpose(x, axes);
}

Array swapaxes(const Operand& x, std::int64_t a, std::int64_t b) {
  const NodeRef node = frontend::node_of("swapaxes", x);
  std::vector<std::int64_t> axes = all_axes(rank_of(node));
  frontend::located(x.where(), [&] {
    const int first = ir::normalize_axis(a, rank_of(node));
    const int second = ir::normalize_axis(b, rank_of(node));
    std::swap(axes[static_cast<std::size_t>(first)], axes[static_cast<std::size_t>(second)]);
  });
  return permute(node, std::move(axes), x.where());
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
  const auto from = distinct_axes("moveaxis", source, rank, x.where());
  const auto to = distinct_axes("moveaxis", destination, rank, x.where());
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
  return permute(node, std::move(axes), x.where());
}

Array moveaxis(const Operand& x, std::int64_t source, std::int64_t destination) {
  return moveaxis(x, std::vector{source}, std::vector{destination});
}

Array expand_dims(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("expand_dims", x);
  const int rank = rank_of(node) + static_cast<int>(axes.values().size());
  const auto places = distinct_axes("expand_dims", axes.values(), rank, x.where());
  ir::Shape shape;
  auto extent = node->shape.begin();
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const bool added = std::find(places.begin(), places.end(), axis) != places.end();
    shape.push_back(added ? ir::Dim(1) : *extent++);
  }
  return Access::make(frontend::reshape_to(node, std::move(shape), x.where()));
}

Array squeeze(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("squeeze", x);
  const auto places = distinct_axes("squeeze", axes.values(), rank_of(node), x.where());
  ir::Shape shape;
  for (std::size_t i = 0; i < node->shape.size(); ++i) {
    const bool one = node->shape[i] == ir::Dim(1);
    const bool named =
        std::find(places.begin(), places.end(), static_cast<std::int64_t>(i)) != places.end();
    if (named && !one) {
      throw ShapeError(at(fmt::format("squeeze({}): axis {} has extent {}, not 1",
                                      frontend::describe(*node), i, node->shape[i].to_string()),
                          x.where()));
    }
    if (!(one && (named || axes.all()))) shape.push_back(node->shape[i]);
  }
  return Access::make(frontend::reshape_to(node, std::move(shape), x.where()));
}

Array flip(const Operand& x, const Axes& axes) {
  const NodeRef node = frontend::node_of("flip", x);
  const auto places = axes.all() ? all_axes(rank_of(node))
                                 : distinct_axes("flip", axes.values(), rank_of(node), x.where());
  if (places.empty()) return Access::make(node);
  ir::Attributes attributes;
  attributes.shape = node->shape;
  attributes.starts.assign(node->shape.size(), 0);
  attributes.steps.assign(node->shape.size(), 1);
  for (std::int64_t axis : places) {
    const auto place = static_cast<std::size_t>(axis);
    if (node->shape[place] == ir::Dim(0)) continue;
    attributes.starts[place] = node->shape[place] - 1;
    attributes.steps[place] = -1;
  }
  return Access::make(record(Op::slice, {node}, std::move(attributes), x.where()));
}

Array broadcast_to(const Operand& x, const Shape& shape) {
  const NodeRef node = frontend::node_of("broadcast_to", x);
  return Access::make(frontend::broadcast_to_shape(node, frontend::to_ir(shape), x.where()));
}

std::vector<Array> broadcast_arrays(std::span<const Array> arrays) {
  const SourceLocation where = SourceLocation::current();
  ir::Shape shape;
  for (const Array& array : arrays) {
    shape = ir::broadcast_shapes(shape, Access::node(array, where)->shape);
  }
  std::vector<Array> result;
  for (const Array& array : arrays) {
    result.push_back(
        Access::make(frontend::broadcast_to_shape(Access::node(array, where), shape, where)));
  }
  return result;
}

Array concatenate(std::span<const Array> arrays, std::int64_t axis, SourceLocation where) {
  const std::vector<NodeRef> nodes = promoted("concatenate", arrays, where);
  const int rank = rank_of(nodes[0]);
  if (rank == 0) {
    throw ShapeError(at("concatenate: 0-d arrays cannot be concatenated; stack them", where));
  }
  return join(nodes, frontend::located(where, [&] { return ir::normalize_axis(axis, rank); }),
              where);
}

Array concatenate(std::initializer_list<Array> arrays, std::int64_t axis, SourceLocation where) {
  return concatenate(std::span(arrays.begin(), arrays.size()), axis, where);
}

Array stack(std::span<const Array> arrays, std::int64_t axis, SourceLocation where) {
  std::vector<NodeRef> nodes = promoted("stack", arrays, where);
  const ir::Shape shape = nodes[0]->shape;
  const int place = frontend::located(
      where, [&] { return ir::normalize_axis(axis, static_cast<int>(shape.size()) + 1); });
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
  return join(nodes, place, where);
}

Array stack(std::initializer_list<Array> arrays, std::int64_t axis, SourceLocation where) {
  return stack(std::span(arrays.begin(), arrays.size()), axis, where);
}

Array astype(const Operand& x, DType dtype) {
  const NodeRef node = frontend::node_of("astype", x);
  if (!node->weak) return Access::make(frontend::cast_to(node, dtype, x.where()));
  // Always an op: the result is not weak, and wraps where a weak scalar would have to fit.
  ir::Attributes attributes;
  attributes.dtype = dtype;
  return Access::make(record(Op::cast, {node}, std::move(attributes), x.where()));
}

}  // namespace heddle

#include "frontend/nn/windows.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "heddle/manipulation.h"
#include "heddle/polynomials.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"

namespace heddle::frontend {

namespace {

/// The array with `before` and `after` elements of a value around one axis.
Array padded(const Array& x, std::int64_t axis, std::int64_t before, std::int64_t after,
             const Scalar& value, const SourceLocation& where) {
  if (before == 0 && after == 0) return x;
  const AtLocation here(where);
  std::vector<PadWidth> widths(static_cast<std::size_t>(rank_of(Access::node(x, where))));
  widths[static_cast<std::size_t>(axis)] = {before, after};
  PadOptions options;
  options.constant_values = {{value, value}};
  return pad(here(x), widths, "constant", options);
}

/// Moves what window element k has for position p, [..., size, count], to the element of the images
/// that it is, stride * p + k - padding: [..., turns, extent]. An element of the images is in at
/// most `turns` windows, size / stride rounded up; where it is in fewer, the others are 0.
///
/// Element stride * q + m of the padded images is element stride * t + m of the window at q - t,
/// for t from 0 to turns - 1. So windows are divided into turns, each of which is moved by t
/// positions: rows of positions are padded and read with a row length that is one less, so that
/// each row begins one position earlier.
Array placed(const Array& windows, std::int64_t padding, std::int64_t stride, std::int64_t extent,
             const SourceLocation& where) {
  const AtLocation here(where);
  NodeRef node = Access::node(windows, where);
  const std::int64_t rank = rank_of(node), last = rank - 1;
  const std::int64_t size = extent_of(node, last - 1).constant();
  const std::int64_t count = extent_of(node, last).constant();
  const std::int64_t turns = (size + stride - 1) / stride;
  const std::int64_t first = padding / stride, end = (padding + extent + stride - 1) / stride;

  node = Access::node(padded(windows, last - 1, 0, turns * stride - size, Scalar(0), where), where);
  ir::Shape shape = node->shape;
  shape[static_cast<std::size_t>(last - 1)] = turns;
  shape.insert(shape.end() - 1, stride);
  const Array divided =
      moveaxis(here(Access::make(reshape_to(node, shape, where))), last, last + 1);

  const std::int64_t before = std::max<std::int64_t>(0, turns - 1 - first);
  const std::int64_t after = std::max<std::int64_t>(0, end + 1 - count);
  const std::int64_t length = before + count + after;
  node = Access::node(padded(divided, last, before, after, Scalar(0), where), where);
  ir::Shape flat = node->shape;  // [..., turns, positions, stride]
  flat.erase(flat.end() - 2);
  flat[static_cast<std::size_t>(last - 1)] = turns * length;
  node = slice_along(reshape_to(node, flat, where), last - 1, 0, turns * (length - 1), 1, where);
  flat[static_cast<std::size_t>(last - 1)] = turns;
  flat.insert(flat.end() - 1, length - 1);
  node = slice_along(reshape_to(node, flat, where), last, before + first, end - first, 1, where);

  flat.pop_back();
  flat.back() = (end - first) * stride;
  node = reshape_to(node, flat, where);
  return Access::make(slice_along(node, last, padding - first * stride, extent, 1, where));
}

}  // namespace

void Windows::check(const SourceLocation& where) const {
  for (const int axis : {0, 1}) {
    if (strides[axis] < 1 || padding[axis] < 0) {
      throw ValueError(at(fmt::format("{}: strides ({}, {}) must be positive, and padding ({}, {}) "
                                      "not negative",
                                      op, strides[0], strides[1], padding[0], padding[1]),
                          where));
    }
  }
}

nnet::Extents Windows::count(nnet::Extents images, const SourceLocation& where) const {
  nnet::Extents result{};
  for (const int axis : {0, 1}) {
    const std::int64_t room = images[axis] + 2 * padding[axis] - size[axis];
    if (room < 0) {
      throw ShapeError(
          at(fmt::format("{}: windows of {} x {} are larger than images of {} x {} "
                         "with padding ({}, {})",
                         op, size[0], size[1], images[0], images[1], padding[0], padding[1]),
             where));
    }
    result[axis] = room / strides[axis] + 1;
  }
  return result;
}

Array Windows::of(const Array& images, const Scalar& outside, const SourceLocation& where) const {
  const AtLocation here(where);
  const std::int64_t rank = rank_of(Access::node(images, where));
  Array made = images;
  for (const int axis : {0, 1})
    made = padded(made, rank - 2 + axis, padding[axis], padding[axis], outside, where);
  const nnet::Extents counts = count(image_extents(op, images, 2, where), where);
  for (const int axis : {0, 1}) {
    made = sliding_window_view(here(made), size[axis], rank - 2 + axis);
    made = Access::make(slice_along(Access::node(made, where), rank - 2 + axis, 0, counts[axis],
                                    strides[axis], where));
  }
  return made;
}

Array Windows::fold(const Array& windows, nnet::Extents images, const SourceLocation& where) const {
  const AtLocation here(where);
  const std::int64_t rank = rank_of(Access::node(windows, where));
  Array made = windows;
  // [..., rows, columns, size 0, size 1], each time with one window axis before its positions.
  made = moveaxis(here(made), rank - 4, rank - 1);  // ..., columns, size 0, size 1, rows
  made = moveaxis(here(made), rank - 3, rank - 2);  // ..., columns, size 1, size 0, rows
  made = placed(made, padding[0], strides[0], images[0], where);
  made = moveaxis(here(made), rank - 4, rank - 1);  // ..., size 1, size 0, height, columns
  made = moveaxis(here(made), rank - 4, rank - 2);  // ..., size 0, height, size 1, columns
  made = placed(made, padding[1], strides[1], images[1], where);
  return sum(here(made), {rank - 4, rank - 2}, false, Access::node(made, where)->dtype);
}

nnet::Extents image_extents(std::string_view op, const Array& images, int rank,
                            const SourceLocation& where) {
  const NodeRef node = Access::node(images, where);
  require_rank(op, node, rank, where);
  const std::int64_t last = rank_of(node) - 1;
  return {constant_extent(op, node, last - 1, where), constant_extent(op, node, last, where)};
}

}  // namespace heddle::frontend

#pragma once

#include <cstdint>
#include <string_view>

#include "heddle/nnet.h"

#include "frontend/graph/node.h"

namespace heddle::frontend {

/// Windows that move over the last two axes of images, after padding.
struct Windows {
  std::string_view op;
  nnet::Extents size, padding, strides;

  /// Throws ValueError unless strides are positive and padding is not negative.
  void check(const SourceLocation& where) const;
  /// How many there are along both axes. ShapeError if they are larger than the padded images.
  nnet::Extents count(nnet::Extents images, const SourceLocation& where) const;

  /// [..., h, w] -> [..., rows, columns, size 0, size 1]: index maps of the images only. Padding
  /// has the value `outside`.
  Array of(const Array& images, const Scalar& outside, const SourceLocation& where) const;
  /// The transposed map, [..., rows, columns, size 0, size 1] -> [..., h, w]. An element of the
  /// images is the sum of its elements in all windows, in a fixed order.
  Array fold(const Array& windows, nnet::Extents images, const SourceLocation& where) const;
};

/// The last two extents, which must be constants. ShapeError for fewer than `rank` axes.
nnet::Extents image_extents(std::string_view op, const Array& images, int rank,
                            const SourceLocation& where);

}  // namespace heddle::frontend

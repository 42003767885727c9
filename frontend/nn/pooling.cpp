#include <limits>

#include <fmt/format.h>

#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/manipulation.h"
#include "heddle/nnet.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/nn/windows.h"

namespace heddle::nnet {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::Windows;

namespace {

/// What a maximum never chooses over an element.
Scalar least_of(DType dtype) {
  if (is_floating(dtype)) return Scalar(-std::numeric_limits<double>::infinity());
  return is_boolean(dtype) || is_unsigned_integer(dtype) ? Scalar(0) : Scalar(iinfo(dtype).min);
}

/// The numbers of elements in their images, i32.
class Numbers {
 public:
  Numbers(const Windows& windows, Extents images, const AtLocation& here)
      : windows_(windows), images_(images), here_(here) {}

  /// [rows, columns, size 0, size 1]
  Array of_windows(Extents counts) const {
    const ir::Shape shape = {counts[0], counts[1], windows_.size[0], windows_.size[1]};
    return add(here_(of_firsts(shape)),
               here_(add(here_(times(along(shape, 2), images_[1])), here_(along(shape, 3)))));
  }
  /// [..., rows, columns] of element number `inside` of each window.
  Array of_elements(const Array& inside, Extents counts) const {
    const Array number = astype(here_(inside), DType::i32);
    const Array width = here_int(windows_.size[1]);
    const Array row = floor_divide(here_(number), here_(width));
    const Array column = remainder(here_(number), here_(width));
    return add(here_(of_firsts({counts[0], counts[1]})),
               here_(add(here_(times(row, images_[1])), here_(column))));
  }

 private:
  /// Of the first element of each window.
  Array of_firsts(const ir::Shape& shape) const {
    const auto first = [&](int axis) {
      return subtract(here_(times(along(shape, axis), windows_.strides[axis])),
                      here_(here_int(windows_.padding[axis])));
    };
    const Array row = first(0), column = first(1);
    return add(here_(times(row, images_[1])), here_(column));
  }
  Array along(const ir::Shape& shape, std::int64_t axis) const {
    return Access::make(frontend::record_iota(shape, axis, DType::i32, here_.where));
  }
  static Array here_int(std::int64_t value) {
    return Access::make(frontend::record_constant(DType::i32, static_cast<double>(value)));
  }
  Array times(const Array& x, std::int64_t factor) const {
    return multiply(here_(x), here_(here_int(factor)));
  }

  const Windows& windows_;
  Extents images_;
  const AtLocation& here_;
};

/// The last two axes as one.
Array flattened(const Array& windows, const AtLocation& here) {
  const NodeRef node = Access::node(windows, here.where);
  ir::Shape shape = node->shape;
  const ir::Dim columns = shape.back();
  shape.pop_back();
  shape.back() *= columns;
  return Access::make(frontend::reshape_to(node, shape, here.where));
}

/// Where the maxima may be: padding that equals one is none.
Array candidates(const Windows& windows, const Array& images, const Array& parts, const Array& most,
                 const AtLocation& here) {
  if (windows.padding == Extents{}) return parts;
  const NodeRef node = Access::node(images, here.where);
  const NodeRef yes = frontend::record_constant(DType::boolean, 1);
  const Array all = Access::make(frontend::broadcast_to_shape(yes, node->shape, here.where));
  const Array inside = flattened(windows.of(all, Scalar(false), here.where), here);
  Array largest = equal(here(parts), here(most));
  if (is_floating(node->dtype)) largest = logical_or(here(largest), here(isnan(here(parts))));
  return logical_and(here(inside), here(largest));
}

}  // namespace

PoolB01::PoolB01(Extents win_shape, Extents padding, Extents strides, std::string_view method,
                 SourceLocation where)
    : window_(win_shape), padding_(padding), strides_(strides), max_(method == "max") {
  Windows{"PoolB01", window_, padding_, strides_}.check(where);
  if (method != "max" && method != "avg") {
    throw ValueError(
        at(fmt::format("PoolB01: there is no method '{}'; use 'max' or 'avg'", method), where));
  }
  for (const int axis : {0, 1}) {
    if (window_[axis] >= 1 && padding_[axis] < window_[axis]) continue;
    throw ValueError(at(fmt::format("PoolB01: windows of {} x {} must be larger than the padding "
                                    "({}, {})",
                                    window_[0], window_[1], padding_[0], padding_[1]),
                        where));
  }
}

std::pair<Array, Array> PoolB01::fprop(const Operand& imgs) const {
  const AtLocation here(imgs);
  const Array images = Access::make(frontend::node_of("PoolB01", imgs));
  const DType dtype = Access::node(images, here.where)->dtype;
  if (is_complex(dtype)) {
    throw DTypeError(at("PoolB01: complex numbers have no order; pool their parts", here.where));
  }
  const Windows windows{"PoolB01", window_, padding_, strides_};
  const Extents extents = frontend::image_extents("PoolB01", images, 2, here.where);
  if (!max_) {
    const Array parts = flattened(windows.of(images, Scalar(0), here.where), here);
    return {astype(here(mean(here(parts), -1)), dtype), Array()};
  }
  const Array parts = flattened(windows.of(images, least_of(dtype), here.where), here);
  const Array most = max(here(parts), -1, true);
  const Array first = argmax(here(candidates(windows, images, parts, most, here)), -1);
  const Array mask =
      Numbers(windows, extents, here).of_elements(first, windows.count(extents, here.where));
  return {squeeze(here(most), -1), mask};
}

Array PoolB01::bprop(Extents img_shape, const Operand& poolout_d, const Array& mask) const {
  const AtLocation here(poolout_d);
  const NodeRef gradient = frontend::node_of("PoolB01.bprop", poolout_d);
  const Windows windows{"PoolB01.bprop", window_, padding_, strides_};
  const Extents counts = windows.count(img_shape, here.where);
  const Array given = Access::make(gradient);
  if (frontend::image_extents(windows.op, given, 2, here.where) != counts) {
    throw ShapeError(
        at(fmt::format("{}: poolout_d is {}, but fprop's result has {} x {} windows", windows.op,
                       frontend::describe(*gradient), counts[0], counts[1]),
           here.where));
  }
  ir::Shape shape = gradient->shape;
  shape.insert(shape.end(), 2, ir::Dim(1));
  const auto beside = [&](const NodeRef& node) {  // with two axes for the elements of a window
    return Access::make(frontend::reshape_to(node, shape, here.where));
  };
  Array parts = beside(gradient);
  if (max_) {
    if (!mask.has_value())
      throw ValueError(at(fmt::format("{}: needs the mask of fprop", windows.op), here.where));
    const NodeRef chosen = Access::node(mask, here.where);
    if (chosen->shape != gradient->shape) {
      throw ShapeError(at(fmt::format("{}: the mask is {}, but poolout_d is {}", windows.op,
                                      frontend::describe(*chosen), frontend::describe(*gradient)),
                          here.where));
    }
    const Array numbers = Numbers(windows, img_shape, here).of_windows(counts);
    const Array is_chosen = equal(here(beside(chosen)), here(numbers));
    parts = where(here(is_chosen), here(parts), here(Scalar(0)));
  } else {
    const auto size = static_cast<double>(window_[0] * window_[1]);
    shape[shape.size() - 2] = window_[0];
    shape.back() = window_[1];
    const Array share = astype(here(divide(here(parts), here(Scalar(size)))), gradient->dtype);
    parts = Access::make(
        frontend::broadcast_to_shape(Access::node(share, here.where), shape, here.where));
  }
  return windows.fold(parts, img_shape, here.where);
}

Shape PoolB01::output_shape(const Shape& imgs) const {
  if (imgs.size() < 2) throw ShapeError("PoolB01: images have a height and a width");
  const std::size_t rank = imgs.size();
  const Extents counts =
      Windows{"PoolB01", window_, padding_, strides_}.count({imgs[rank - 2], imgs[rank - 1]}, {});
  Shape shape = imgs;
  shape[rank - 2] = counts[0];
  shape[rank - 1] = counts[1];
  return shape;
}

}  // namespace heddle::nnet

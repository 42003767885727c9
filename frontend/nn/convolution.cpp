#include <fmt/format.h>

#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/nnet.h"

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

/// The operands of a convolution, whose matrices have a row for each filter and a column for each
/// element of a window, over all channels.
class Convolution {
 public:
  Convolution(const Operand& imgs, const Operand& filters, Extents padding, Extents strides)
      : here_(imgs),
        imgs_(array_of(imgs)),
        filters_(array_of(filters)),
        windows_{"ConvBC01", {}, padding, strides} {
    const NodeRef images = node(imgs_), weights = node(filters_);
    if (frontend::rank_of(images) != 4 || frontend::rank_of(weights) != 4) {
      fail<ShapeError>(
          "takes images [batch, channels, height, width] and filters [filters, "
          "channels, height, width]");
    }
    if (images->dtype != weights->dtype)
      fail<DTypeError>("the dtypes differ; cast one with astype");
    if (images->shape[1] != weights->shape[1]) fail<ShapeError>("the numbers of channels differ");
    extents_ = frontend::image_extents("ConvBC01", imgs_, 4, here_.where);
    windows_.size = frontend::image_extents("ConvBC01", filters_, 4, here_.where);
    if (windows_.size[0] < 1 || windows_.size[1] < 1)
      fail<ShapeError>("the filters have no elements");
    counts_ = windows_.count(extents_, here_.where);
    column_count_ = weights->shape[1] * windows_.size[0] * windows_.size[1];
  }

  Array forward() const {
    // [b, c, rows, columns, fh, fw] -> [b, c fh fw, rows columns]
    const Array columns =
        reshaped(permuted(windows(), {0, 1, 4, 5, 2, 3}), {batch(), column_count_, positions()});
    return reshaped(matmul(here_(weights()), here_(columns)), result_shape());
  }

  Array filter_gradient(const Array& gradient) const {
    const ir::Dim rows = batch() * positions();
    const Array left =
        reshaped(permuted(reshaped(gradient, {batch(), filters(), positions()}), {1, 0, 2}),
                 {filters(), rows});
    // A row for each element of a window, as in forward(): neighbouring positions of an element are
    // neighbours in the images, while neighbouring elements of a window soon end.
    const Array right = reshaped(permuted(windows(), {1, 4, 5, 0, 2, 3}), {column_count_, rows});
    return reshaped(matmul(here_(left), here_(permuted(right, {1, 0}))), node(filters_)->shape);
  }

  Array image_gradient(const Array& gradient) const {
    const Array columns = matmul(here_(permuted(weights(), {1, 0})),
                                 here_(reshaped(gradient, {batch(), filters(), positions()})));
    const Array windows = reshaped(
        columns, {batch(), channels(), windows_.size[0], windows_.size[1], counts_[0], counts_[1]});
    return windows_.fold(permuted(windows, {0, 1, 4, 5, 2, 3}), extents_, here_.where);
  }

  /// The gradient as an array of the result's type.
  Array gradient_of(const Operand& gradient) const {
    const Array made = array_of(gradient);
    if (node(made)->shape != result_shape() || node(made)->dtype != node(imgs_)->dtype) {
      throw ShapeError(at(fmt::format("ConvBC01.bprop: convout_d is {}, but fprop's result is {}",
                                      frontend::describe(*node(made)),
                                      to_string(ir::Type{node(imgs_)->dtype, result_shape()})),
                          here_.where));
    }
    return made;
  }

 private:
  static Array array_of(const Operand& operand) {
    return Access::make(frontend::node_of("ConvBC01", operand));
  }
  NodeRef node(const Array& array) const { return Access::node(array, here_.where); }
  template <class Error>
  [[noreturn]] void fail(std::string_view what) const {
    throw Error(at(fmt::format("ConvBC01({}, {}): {}", frontend::describe(*node(imgs_)),
                               frontend::describe(*node(filters_)), what),
                   here_.where));
  }
  Array reshaped(const Array& array, const ir::Shape& shape) const {
    return Access::make(frontend::reshape_to(node(array), shape, here_.where));
  }
  Array permuted(const Array& array, const std::vector<std::int64_t>& axes) const {
    return transpose(here_(array), axes);
  }
  Array windows() const { return windows_.of(imgs_, Scalar(0), here_.where); }
  Array weights() const { return reshaped(filters_, {filters(), column_count_}); }

  ir::Dim batch() const { return node(imgs_)->shape[0]; }
  ir::Dim channels() const { return node(imgs_)->shape[1]; }
  ir::Dim filters() const { return node(filters_)->shape[0]; }
  ir::Dim positions() const { return counts_[0] * counts_[1]; }
  ir::Shape result_shape() const { return {batch(), filters(), counts_[0], counts_[1]}; }

  AtLocation here_;
  Array imgs_, filters_;
  Windows windows_;
  Extents extents_{}, counts_{};
  ir::Dim column_count_;
};

}  // namespace

ConvBC01::ConvBC01(Extents padding, Extents strides, SourceLocation where)
    : padding_(padding), strides_(strides) {
  Windows{"ConvBC01", {}, padding, strides}.check(where);
}

Array ConvBC01::fprop(const Operand& imgs, const Operand& filters) const {
  return Convolution(imgs, filters, padding_, strides_).forward();
}

std::pair<Array, Array> ConvBC01::bprop(const Operand& imgs, const Operand& filters,
                                        const Operand& convout_d, bool to_filters,
                                        bool to_imgs) const {
  const Convolution convolution(imgs, filters, padding_, strides_);
  const Array gradient = convolution.gradient_of(convout_d);
  return {to_filters ? convolution.filter_gradient(gradient) : Array(),
          to_imgs ? convolution.image_gradient(gradient) : Array()};
}

Shape ConvBC01::output_shape(const Shape& imgs, std::int64_t n_filters, Extents filters) const {
  if (imgs.size() != 4) throw ShapeError("ConvBC01: images have the axes b, c, h and w");
  const Extents counts =
      Windows{"ConvBC01", filters, padding_, strides_}.count({imgs[2], imgs[3]}, {});
  return {imgs[0], n_filters, counts[0], counts[1]};
}

}  // namespace heddle::nnet

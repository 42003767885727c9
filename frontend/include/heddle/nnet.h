#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "heddle/array.h"

// Routines of neural networks, with the names and the meaning of CUDArray's nnet. They are made of
// Heddle's operations, so they fuse with what surrounds them, run on GPUs and CPUs, and give the
// same result in every run. Images are arrays [..., height, width]; of convolutions [batch,
// channels, height, width] ("bc01"). A function whose name ends in _d is the derivative of the one
// before it.

namespace heddle::nnet {

/// max(x, 0), and 1 where x >= 0, else 0. The dtype is x's.
Array relu(const Operand& x);
Array relu_d(const Operand& x);
/// 1 / (1 + exp(-x)); integers become float64.
Array sigmoid(const Operand& x);
Array sigmoid_d(const Operand& x);
/// 1 - tanh(x)^2.
Array tanh_d(const Operand& x);
/// log(1 + exp(x)).
Array softplus(const Operand& x);
Array softplus_d(const Operand& x);

/// exp(x) divided by its sum along axis 1. Large numbers do not overflow. ShapeError for fewer than
/// two axes.
Array softmax(const Operand& x);
/// The cross entropy of each row of predicted probabilities [n, classes] with those that are true,
/// [n]: predictions are clipped to [eps, 1 - eps], and their rows normalised.
Array categorical_cross_entropy(const Operand& y_pred, const Operand& y_true, double eps = 1e-15);

/// Rows of zeros with a 1 at the label, [n, n_classes]; labels are flattened. DTypeError for labels
/// that are not integers, ValueError for n_classes < 0, IndexError for a label that is not in [0,
/// n_classes), with its position, at the next wait.
Array one_hot_encode(const Operand& labels, std::int64_t n_classes, DType dtype = DType::f64);
/// The index of the largest number in each row, i32.
Array one_hot_decode(const Operand& one_hot);

/// A height and a width.
using Extents = std::array<std::int64_t, 2>;

/// Convolutions of images [b, c, h, w] with filters [f, c, fh, fw], after `padding` zeros on each
/// side, every `strides` elements: [b, f, (h + 2 padding - fh) / strides + 1, ...]. The filters are
/// not flipped. Errors: ShapeError if channels differ or the filters are larger than the padded
/// images, DTypeError if the dtypes differ; ValueError for strides below 1 and negative padding.
class ConvBC01 {
 public:
  ConvBC01(Extents padding, Extents strides, SourceLocation where = SourceLocation::current());
  Array fprop(const Operand& imgs, const Operand& filters) const;
  /// The gradients for the filters and for the images, of which `convout_d` is the one for the
  /// result. One that is not asked for holds no value.
  std::pair<Array, Array> bprop(const Operand& imgs, const Operand& filters,
                                const Operand& convout_d, bool to_filters = true,
                                bool to_imgs = true) const;
  Shape output_shape(const Shape& imgs, std::int64_t n_filters, Extents filters) const;

 private:
  Extents padding_, strides_;
};

/// The maximum or the average of windows of images [..., h, w]. Padding takes no part in a maximum,
/// and counts as zeros in an average. Errors: ShapeError for windows larger than the padded images;
/// ValueError for windows and strides below 1, for padding that is negative or not smaller than the
/// window, and for a method other than "max" and "avg".
class PoolB01 {
 public:
  PoolB01(Extents win_shape, Extents padding, Extents strides, std::string_view method = "max",
          SourceLocation where = SourceLocation::current());
  /// The pooled images, and for "max" where the maxima are: i32, row times width plus column, the
  /// first of equal ones.
  std::pair<Array, Array> fprop(const Operand& imgs) const;
  /// The gradient for images of this shape. `mask` is that of fprop; none for "avg".
  Array bprop(Extents img_shape, const Operand& poolout_d, const Array& mask) const;
  Shape output_shape(const Shape& imgs) const;

 private:
  Extents window_, padding_, strides_;
  bool max_;
};

/// Local response normalisation across channels (Krizhevsky, Sutskever, Hinton, 2012) of images [b,
/// c, h, w]: x / (k + alpha * s)^beta, where s is the sum of the squares of the `n` channels around
/// the element's. ShapeError for other ranks, ValueError for n < 1.
Array lrnorm_bc01(const Operand& imgs, std::int64_t n = 5, double alpha = 1e-4, double beta = 0.75,
                  double k = 2);
/// The gradient for the images, of which `out_d` is the one for the result.
Array lrnorm_bc01_bprop(const Operand& imgs, const Operand& out_d, std::int64_t n = 5,
                        double alpha = 1e-4, double beta = 0.75, double k = 2);

}  // namespace heddle::nnet

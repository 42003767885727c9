#include "heddle/nnet.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"

namespace heddle::python {
namespace {

nnet::Extents extents(const Arguments& a, std::size_t i) {
  const std::vector<std::int64_t> values = a.integers(i);
  if (values.size() != 2) a.mistyped(i, "two integers, for height and width");
  return {values[0], values[1]};
}

/// Two Arrays; None for one that holds no value.
nb::object pair_of(std::pair<Array, Array> arrays) {
  const auto one = [](Array& array) {
    return array.has_value() ? wrap(std::move(array)) : nb::none();
  };
  return nb::make_tuple(one(arrays.first), one(arrays.second));
}

void bind_activations(Functions& functions, nb::module_& module) {
  const auto def = [&](const char* name, const char* text, auto function) {
    functions.def_in(module, named(name, "(x: Operand, out: Array | None = None) -> Array"), text,
                     function);
  };
  def("relu", "max(x, 0).", [](const Arguments& a) { return nnet::relu(a.operand(0)); });
  def("relu_d", "The derivative of relu: 1 where x >= 0, else 0.",
      [](const Arguments& a) { return nnet::relu_d(a.operand(0)); });
  def("sigmoid", "1 / (1 + exp(-x)).",
      [](const Arguments& a) { return nnet::sigmoid(a.operand(0)); });
  def("sigmoid_d", "The derivative of sigmoid at x.",
      [](const Arguments& a) { return nnet::sigmoid_d(a.operand(0)); });
  def("tanh_d", "The derivative of tanh at x.",
      [](const Arguments& a) { return nnet::tanh_d(a.operand(0)); });
  def("softplus", "log(1 + exp(x)).",
      [](const Arguments& a) { return nnet::softplus(a.operand(0)); });
  def("softplus_d", "The derivative of softplus at x.",
      [](const Arguments& a) { return nnet::softplus_d(a.operand(0)); });
}

void bind_classes(Functions& functions, nb::module_& module) {
  functions.def_in(module, "softmax(x: Operand) -> Array",
                   "exp(x) divided by its sum along axis 1. Raises ShapeError for fewer than two "
                   "axes.\n\nExample: hd.nnet.softmax(scores)",
                   [](const Arguments& a) { return nnet::softmax(a.operand(0)); });
  functions.def_in(
      module,
      "categorical_cross_entropy(y_pred: Operand, y_true: Operand, eps: float = 1e-15) -> Array",
      "The cross entropy of each row of predicted probabilities with the true ones. Predictions "
      "are clipped to [eps, 1 - eps], and their rows normalised. Raises ShapeError.",
      [](const Arguments& a) {
        return nnet::categorical_cross_entropy(a.operand(0), a.operand(1), a.number(2));
      });
  functions.def_in(
      module, "one_hot_encode(labels: Operand, n_classes: int, out: Array | None = None) -> Array",
      "Rows of zeros with a 1 at the label, float64 or as out. Raises DTypeError for labels that "
      "are not integers, ValueError for n_classes < 0; and IndexError, when a value is read, for a "
      "label that is not in [0, n_classes).\n\nExample: hd.nnet.one_hot_encode(labels, 10)",
      [](const Arguments& a) { return nnet::one_hot_encode(a.operand(0), a.integer(1)); });
  functions.def_in(module, "one_hot_decode(one_hot: Operand, out: Array | None = None) -> Array",
                   "The index of the largest number of each row, int32. Raises ShapeError.",
                   [](const Arguments& a) { return nnet::one_hot_decode(a.operand(0)); });
}

void bind_normalization(Functions& functions, nb::module_& module) {
  functions.def_in(
      module,
      "lrnorm_bc01(imgs: Operand, N: int = 5, alpha: float = 1e-4, beta: float = 0.75, "
      "k: float = 2.0) -> Array",
      "Local response normalisation across channels: imgs / (k + alpha * s) ** beta, where s is "
      "the sum of the squares of N channels around each. Raises ShapeError unless there are four "
      "axes, ValueError for N < 1.",
      [](const Arguments& a) {
        return nnet::lrnorm_bc01(a.operand(0), a.integer(1), a.number(2), a.number(3), a.number(4));
      });
  functions.def_in(
      module,
      "lrnorm_bc01_bprop(imgs: Operand, out_d: Operand, N: int = 5, alpha: float = 1e-4, "
      "beta: float = 0.75, k: float = 2.0) -> Array",
      "The gradient of lrnorm_bc01 for the images, of which out_d is the one for the result.",
      [](const Arguments& a) {
        return nnet::lrnorm_bc01_bprop(a.operand(0), a.operand(1), a.integer(2), a.number(3),
                                       a.number(4), a.number(5));
      });
}

void bind_windows(Functions& functions, nb::module_& module) {
  functions.def_in(module,
                   "_convolve(imgs: Operand, filters: Operand, padding: Sequence[int], "
                   "strides: Sequence[int]) -> Array",
                   "ConvBC01.fprop.", [](const Arguments& a) {
                     return nnet::ConvBC01(extents(a, 2), extents(a, 3), a.where())
                         .fprop(a.operand(0), a.operand(1));
                   });
  functions.def_in(
      module,
      "_convolve_back(imgs: Operand, filters: Operand, convout_d: Operand, "
      "padding: Sequence[int], strides: Sequence[int], to_filters: bool, "
      "to_imgs: bool) -> tuple",
      "ConvBC01.bprop.", [](const Arguments& a) {
        return pair_of(nnet::ConvBC01(extents(a, 3), extents(a, 4), a.where())
                           .bprop(a.operand(0), a.operand(1), a.operand(2), a.flag(5), a.flag(6)));
      });
  functions.def_in(module,
                   "_pool(imgs: Operand, win_shape: Sequence[int], padding: Sequence[int], "
                   "strides: Sequence[int], method: str) -> tuple",
                   "PoolB01.fprop.", [](const Arguments& a) {
                     return pair_of(nnet::PoolB01(extents(a, 1), extents(a, 2), extents(a, 3),
                                                  a.text(4), a.where())
                                        .fprop(a.operand(0)));
                   });
  functions.def_in(module,
                   "_pool_back(img_shape: Sequence[int], poolout_d: Operand, mask: Array | None, "
                   "win_shape: Sequence[int], padding: Sequence[int], strides: Sequence[int], "
                   "method: str) -> Array",
                   "PoolB01.bprop.", [](const Arguments& a) {
                     return nnet::PoolB01(extents(a, 3), extents(a, 4), extents(a, 5), a.text(6),
                                          a.where())
                         .bprop(extents(a, 0), a.operand(1), a.optional_array(2));
                   });
}

}  // namespace

void bind_nnet(Functions& functions) {
  nb::module_ module = functions.module().def_submodule(
      "nnet", "Routines of neural networks, with the names of CUDArray's nnet.");
  bind_activations(functions, module);
  bind_classes(functions, module);
  bind_normalization(functions, module);
  bind_windows(functions, module);
}

}  // namespace heddle::python

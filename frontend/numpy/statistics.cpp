#include "heddle/statistics.h"

#include <algorithm>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/storage.h"

namespace heddle {

using frontend::Access;
using frontend::at;
using frontend::AtLocation;
using frontend::NodeRef;
using frontend::rank_of;

namespace {

/// Weights in the shape of x, or with extent 1 along axes that they do not have.
Array aligned_weights(const NodeRef& node, const Axes& axes, const Array& weights,
                      const AtLocation& here) {
  const NodeRef weight = Access::node(weights, here.where);
  if (weight->shape == node->shape) return weights;
  const std::vector<std::int64_t> places =
      frontend::axes_of("average", axes, rank_of(node), here.where);
  bool fits = !axes.all() && weight->shape.size() == places.size();
  for (std::size_t i = 0; fits && i < places.size(); ++i) {
    fits = weight->shape[i] == frontend::extent_of(node, places[i]);
  }
  if (!fits) {
    throw ShapeError(at(fmt::format("average({}): the weights {} have neither its shape nor that "
                                    "of the axes",
                                    frontend::describe(*node), frontend::describe(*weight)),
                        here.where));
  }
  // The order of the weights' axes that sorts the corresponding axes of x.
  std::vector<std::int64_t> order = frontend::all_axes(static_cast<int>(places.size()));
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return places[static_cast<std::size_t>(a)] < places[static_cast<std::size_t>(b)];
  });
  ir::Shape shape(node->shape.size(), 1);
  for (std::int64_t axis : places) {
    shape[static_cast<std::size_t>(axis)] = frontend::extent_of(node, axis);
  }
  return Access::make(frontend::reshape_to(frontend::permute(weight, order, here.where),
                                           std::move(shape), here.where));
}

}  // namespace

std::pair<Array, Array> average_returned(const Operand& x, const Axes& axes, const Array& weights,
                                         bool keepdims) {
  const NodeRef node = frontend::node_of("average", x);
  const AtLocation here(x);
  static_cast<void>(frontend::axes_of("average", axes, rank_of(node), x.where()));
  if (!weights.has_value()) {
    const Array result = mean(x, axes, keepdims);
    const DType dtype = Access::node(result, x.where())->dtype;
    const Array count = sum(here(ones_like(x)), axes, keepdims, DType::i64);
    return {result, astype(here(count), dtype)};
  }
  const Array aligned = aligned_weights(node, axes, weights, here);
  DType dtype = promote_types(node->dtype, Access::node(weights, x.where())->dtype);
  if (!is_inexact(node->dtype)) dtype = promote_types(dtype, DType::f64);
  const Array values = astype(x, dtype), factors = astype(here(aligned), dtype);
  const Array total = sum(here(multiply(here(values), here(factors))), axes, keepdims);
  const NodeRef spread =
      frontend::broadcast_to_shape(Access::node(factors, x.where()), node->shape, x.where());
  const Array scale = sum(here(Access::make(spread)), axes, keepdims);
  return {divide(here(total), here(scale)), scale};
}

Array average(const Operand& x, const Axes& axes, const Array& weights, bool keepdims) {
  return average_returned(x, axes, weights, keepdims).first;
}

namespace {

/// Variables as rows.
Array observations(const Operand& x, bool rowvar, DType dtype) {
  const NodeRef node = frontend::node_of("cov", x);
  if (rank_of(node) > 2) {
    throw ShapeError(
        at(fmt::format("cov({}): takes at most two axes", frontend::describe(*node)), x.where()));
  }
  const AtLocation here(x);
  const Array rows = astype(here(atleast_2d(x)), dtype);
  return rowvar || rank_of(node) < 2 ? rows : transpose(here(rows));
}

/// ValueError for negative weights, if they are computed and in host memory.
void check_not_negative(const frontend::Node& node, const char* what, const SourceLocation& where) {
  const std::byte* const elements = frontend::elements_on_host(node);
  if (elements == nullptr || is_complex(node.dtype)) return;
  std::vector<double> values(static_cast<std::size_t>(ir::element_count(node.shape).constant()));
  frontend::convert(elements, node.dtype, values.data(), DType::f64, values.size());
  if (std::any_of(values.begin(), values.end(), [](double value) { return value < 0; }))
    throw ValueError(at(fmt::format("cov: {} must not be negative", what), where));
}

/// A weight for each observation, in the dtype; holds no value if there are no weights.
Array observation_weights(const CovarianceOptions& options, const NodeRef& rows, DType dtype,
                          const AtLocation& here) {
  Array result;
  for (const Array* weights : {&options.fweights, &options.aweights}) {
    if (!weights->has_value()) continue;
    const NodeRef node = Access::node(*weights, here.where);
    if (weights == &options.fweights && !is_integer(node->dtype)) {
      throw DTypeError(
          at(fmt::format("cov: fweights must be integers, not {}", frontend::describe(*node)),
             here.where));
    }
    if (rank_of(node) != 1 || node->shape[0] != rows->shape[1]) {
      throw ShapeError(at(fmt::format("cov: the weights {} do not fit the observations {}",
                                      frontend::describe(*node), frontend::describe(*rows)),
                          here.where));
    }
    check_not_negative(*node, weights == &options.fweights ? "fweights" : "aweights", here.where);
    const Array factor = astype(here(*weights), dtype);
    result = result.has_value() ? multiply(here(result), here(factor)) : factor;
  }
  return result;
}

/// The divisor of the sum of products; 0 if there are too few observations.
Array degrees_of_freedom(const CovarianceOptions& options, const Array& weights,
                         const NodeRef& rows, DType dtype, const AtLocation& here) {
  const double ddof = static_cast<double>(options.ddof.value_or(options.bias ? 0 : 1));
  const NodeRef counted = frontend::broadcast_to_shape(frontend::record_constant(dtype, 1),
                                                       {rows->shape[1]}, here.where);
  const Array total = weights.has_value() ? sum(here(weights)) : sum(here(Access::make(counted)));
  Array freedom;
  if (options.aweights.has_value()) {
    const Array factors = astype(here(options.aweights), dtype);
    const Array squares = sum(here(multiply(here(weights), here(factors))));
    const Array lost = divide(here(multiply(here(Scalar(ddof)), here(squares))), here(total));
    freedom = subtract(here(total), here(lost));
  } else {
    freedom = subtract(here(total), here(Scalar(ddof)));
  }
  return maximum(here(is_complex(dtype) ? real(here(freedom)) : freedom), here(Scalar(0.0)));
}

}  // namespace

Array cov(const Operand& x, const CovarianceOptions& options) {
  const AtLocation here(x);
  DType dtype = promote_types(frontend::node_of("cov", x)->dtype, DType::f64);
  if (options.y.has_value()) dtype = promote_types(dtype, options.y.dtype());
  dtype = options.dtype.value_or(dtype);
  Array rows = observations(x, options.rowvar, dtype);
  if (options.y.has_value()) {
    rows = concatenate({rows, observations(here(options.y), options.rowvar, dtype)}, 0, x.where());
  }
  const NodeRef node = Access::node(rows, x.where());
  const Array weights = observation_weights(options, node, dtype, here);
  const Array centre = average(here(rows), 1, weights, true);
  const Array centred = subtract(here(rows), here(centre));
  const Array weighted = weights.has_value() ? multiply(here(centred), here(weights)) : centred;
  const Array turned = transpose(here(is_complex(dtype) ? conj(here(weighted)) : weighted));
  const Array products = matmul(here(centred), here(turned));
  const Array freedom = degrees_of_freedom(options, weights, node, dtype, here);
  return squeeze(here(divide(here(products), here(freedom))));
}

Array corrcoef(const Operand& x, const Array& y, bool rowvar, std::optional<DType> dtype) {
  const AtLocation here(x);
  CovarianceOptions options;
  options.y = y;
  options.rowvar = rowvar;
  options.dtype = dtype;
  const Array covariance = cov(x, options);
  if (Access::node(covariance, x.where())->shape.empty()) {
    return divide(here(covariance), here(covariance));
  }
  const Array variance = diagonal(here(covariance));
  const bool complex = is_complex(variance.dtype());
  const Array deviation = sqrt(here(complex ? real(here(variance)) : variance));
  const Array column = expand_dims(here(deviation), 1);
  const Array result = divide(here(divide(here(covariance), here(column))), here(deviation));
  const auto bounded = [&](const Array& part) {
    return clip(here(part), here(Scalar(-1.0)), here(Scalar(1.0)));
  };
  if (!complex) return bounded(result);
  return make_complex(here(bounded(real(here(result)))), here(bounded(imag(here(result)))));
}

}  // namespace heddle

#include "ir/calls/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/calls/matrices.h"
#include "ir/interpreter/functions.h"

namespace heddle::ir {

namespace {

std::vector<Type> infer_attention(const Call& call) {
  const Type& queries = matrices(call, 0);
  const Type& keys = same_stack(call, 1);
  const Type& values = same_stack(call, 2);
  const auto rows_of = [](const Type& type) { return type.shape[type.shape.size() - 2]; };
  require_equal(call, queries.shape.back(), keys.shape.back(), "columns of the queries",
                "of the keys");
  require_equal(call, rows_of(keys), rows_of(values), "keys", "values");
  if (rows_of(keys) == Dim(0)) fail<ShapeError>(call, "there must be at least one key");
  return {stack_of(queries.dtype, batch_of(queries), {rows_of(queries), values.shape.back()})};
}

HostArray converted(const HostArray& array, DType dtype) {
  HostArray result = interpreter::allocate({dtype, array.type.shape});
  const std::byte* const from = array.data.data();
  interpreter::cast_function(array.type.dtype, dtype)(&from, result.data.data(),
                                                      interpreter::count_of(array.type));
  return result;
}

/// The weighted mean of the rows of `values` [m,e]. The weights are exp(scale * query . key).
void attend(const double* query, const double* keys, const double* values, double* result,
            std::size_t m, std::size_t d, std::size_t e, double scale) {
  std::vector<double> weights(m);
  double greatest = -std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < m; ++j) {
    double score = 0;
    for (std::size_t k = 0; k < d; ++k) score += query[k] * keys[j * d + k];
    weights[j] = scale * score;
    greatest = std::fmax(greatest, weights[j]);
  }
  double total = 0;
  for (double& weight : weights) {
    weight = std::exp(weight - greatest);
    total += weight;
  }
  for (std::size_t k = 0; k < e; ++k) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) sum += weights[j] * values[j * e + k];
    result[k] = sum / total;
  }
}

std::vector<HostArray> interpret_attention(const CallArguments& arguments) {
  const HostArray queries = converted(*arguments.operands[0], DType::f64);
  const HostArray keys = converted(*arguments.operands[1], DType::f64);
  const HostArray values = converted(*arguments.operands[2], DType::f64);
  const Type& type = arguments.results[0];
  HostArray result = interpreter::allocate({DType::f64, type.shape});
  const auto extent = [](const HostArray& array, std::size_t from_end) {
    return static_cast<std::size_t>(
        array.type.shape[array.type.shape.size() - from_end].constant());
  };
  const auto numbers = [](const HostArray& array) {
    return reinterpret_cast<const double*>(array.data.data());
  };
  const std::size_t n = extent(queries, 2), d = extent(queries, 1);
  const std::size_t m = extent(values, 2), e = extent(values, 1);
  const std::size_t rows = d == 0 ? 0 : interpreter::count_of(queries.type) / d;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t item = row / n;
    attend(numbers(queries) + row * d, numbers(keys) + item * m * d, numbers(values) + item * m * e,
           reinterpret_cast<double*>(result.data.data()) + row * e, m, d, e,
           arguments.call.get<double>("scale"));
  }
  return {converted(result, type.dtype)};
}

}  // namespace

namespace calls {

const CallOp& attention() {
  static const CallOp& op = *new CallOp{.name = "attention",
                                        .numpy = "numpy.matmul",
                                        .operands = 3,
                                        .dtypes = set_of(DType::f16) | set_of(DType::bf16),
                                        .attributes = {{.name = "scale", .initial = 1.0}},
                                        .infer = infer_attention,
                                        .interpret = interpret_attention,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

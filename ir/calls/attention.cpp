#include "ir/calls/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/calls/matrices.h"
#include "ir/interpreter/functions.h"

namespace heddle::ir {

namespace {

Type scores_of(const Type& queries, const Type& keys) {
  Shape shape(queries.shape.begin(), queries.shape.end() - 1);
  shape.push_back(keys.shape[keys.shape.size() - 2]);
  return {DType::f32, std::move(shape)};
}

void check_map(const Call& call, const Type& scores) {
  const std::vector<Region>& regions = call.attributes.call->regions;
  if (regions.size() > 1) fail<ValueError>(call, "takes at most one region");
  std::vector<Type> parameters = {scores};
  parameters.insert(parameters.end(), call.operands.begin() + 3, call.operands.end());
  if (regions.empty()) {
    if (parameters.size() > 1) fail<ValueError>(call, "operands after the values need a region");
  } else if (regions[0].parameters != parameters || regions[0].results != std::vector{scores}) {
    fail<ValueError>(call, "its region must map scores {} and the operands after the values to {}",
                     to_string(scores), to_string(scores));
  }
}

std::vector<Type> infer_attention(const Call& call) {
  if (call.operands.size() < 3) fail<ValueError>(call, "needs queries, keys and values");
  const Type& queries = matrices(call, 0);
  const Type& keys = same_stack(call, 1);
  const Type& values = same_stack(call, 2);
  const auto rows_of = [](const Type& type) { return type.shape[type.shape.size() - 2]; };
  require_equal(call, queries.shape.back(), keys.shape.back(), "columns of the queries",
                "of the keys");
  require_equal(call, rows_of(keys), rows_of(values), "keys", "values");
  if (rows_of(keys) == Dim(0)) fail<ShapeError>(call, "there must be at least one key");
  check_map(call, scores_of(queries, keys));
  return {stack_of(queries.dtype, batch_of(queries), {rows_of(queries), values.shape.back()})};
}

HostArray converted(const HostArray& array, DType dtype) {
  HostArray result = interpreter::allocate({dtype, array.type.shape});
  const std::byte* const from = array.data.data();
  interpreter::cast_function(array.type.dtype, dtype)(&from, result.data.data(),
                                                      interpreter::count_of(array.type));
  return result;
}

const double* numbers(const HostArray& array) {
  return reinterpret_cast<const double*>(array.data.data());
}
double* numbers(HostArray& array) { return reinterpret_cast<double*>(array.data.data()); }

/// The scores of each query, after the call's region.
HostArray score(const CallArguments& arguments, const HostArray& queries, const HostArray& keys) {
  const double scale = arguments.call.get<double>("scale");
  HostArray scores = interpreter::allocate({DType::f64, scores_of(queries.type, keys.type).shape});
  const auto extent = [](const HostArray& array, std::size_t from_end) {
    return static_cast<std::size_t>(
        array.type.shape[array.type.shape.size() - from_end].constant());
  };
  const std::size_t n = extent(scores, 2), m = extent(scores, 1), d = extent(queries, 1);
  const std::size_t rows = interpreter::count_of(scores.type) / m;
  for (std::size_t row = 0; row < rows; ++row) {
    const double* const query = numbers(queries) + row * d;
    for (std::size_t j = 0; j < m; ++j) {
      const double* const key = numbers(keys) + (row / n * m + j) * d;
      double sum = 0;
      for (std::size_t k = 0; k < d; ++k) sum += query[k] * key[k];
      numbers(scores)[row * m + j] = scale * sum;
    }
  }
  if (arguments.call.regions.empty()) return scores;
  std::vector<HostArray> given = {converted(scores, DType::f32)};
  for (std::size_t i = 3; i < arguments.operands.size(); ++i)
    given.push_back(*arguments.operands[i]);
  return converted(arguments.run(0, given).front(), DType::f64);
}

/// The mean of the `m` rows of `values` [m,e], weighted with exponentials of the scores.
void average(const double* scores, const double* values, double* result, std::size_t m,
             std::size_t e) {
  double greatest = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t j = 0; j < m; ++j) greatest = std::fmax(greatest, scores[j]);
  std::vector<double> weights(m);
  for (std::size_t j = 0; j < m; ++j) {
    weights[j] = std::exp(scores[j] - greatest);
    total += weights[j];
  }
  for (std::size_t k = 0; k < e; ++k) {
    double sum = 0;
    for (std::size_t j = 0; j < m; ++j) sum += weights[j] * values[j * e + k];
    result[k] = sum / total;
  }
}

std::vector<HostArray> interpret_attention(const CallArguments& arguments) {
  const HostArray scores = score(arguments, converted(*arguments.operands[0], DType::f64),
                                 converted(*arguments.operands[1], DType::f64));
  const HostArray values = converted(*arguments.operands[2], DType::f64);
  const Type& type = arguments.results[0];
  HostArray result = interpreter::allocate({DType::f64, type.shape});
  const auto n = static_cast<std::size_t>(type.shape[type.shape.size() - 2].constant());
  const auto e = static_cast<std::size_t>(type.shape.back().constant());
  const auto m = static_cast<std::size_t>(scores.type.shape.back().constant());
  const std::size_t rows = interpreter::count_of(scores.type) / m;
  for (std::size_t row = 0; row < rows; ++row) {
    average(numbers(scores) + row * m, numbers(values) + row / n * m * e, numbers(result) + row * e,
            m, e);
  }
  return {converted(result, type.dtype)};
}

}  // namespace

namespace calls {

const CallOp& attention() {
  static const CallOp& op = *new CallOp{.name = "attention",
                                        .numpy = "numpy.matmul",
                                        .operands = any_number,
                                        .dtypes = set_of(DType::f16) | set_of(DType::bf16),
                                        .attributes = {{.name = "scale", .initial = 1.0}},
                                        .regions = any_number,
                                        .infer = infer_attention,
                                        .interpret = interpret_attention,
                                        .core_axes = 2};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/matrices.h"

namespace heddle::ir {

namespace {

using interpreter::Matrix;

std::vector<Type> infer_solve_triangular(const Call& call) {
  const Type& a = square_matrices(call, 0);
  const Type& b = same_stack(call, 1);
  require_equal(call, a.shape.back(), b.shape[b.shape.size() - 2], "the order of the matrices",
                "the number of rows of operand 1");
  return {b};
}

template <class Wide>
Matrix<Wide> conjugated(Matrix<Wide> a) {
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < a.columns(); ++j) a(i, j) = interpreter::conjugate_of(a(i, j));
  }
  return a;
}

/// By substitution, from the first row for a lower triangle, from the last one for an upper one.
template <class Wide>
void interpret_item(interpreter::StackItem<Wide> item) {
  Matrix<Wide> a = item.operand(0), x = item.operand(1);
  bool lower = item.call.template get<bool>("lower");
  const bool unit = item.call.template get<bool>("unit");
  const std::string& transpose = item.call.template get<std::string>("transpose");
  if (transpose != "none") {
    a = a.transposed();
    lower = !lower;
  }
  if (transpose == "conjugate") a = conjugated(std::move(a));
  const std::size_t n = a.rows();
  for (std::size_t c = 0; c < x.columns(); ++c) {
    for (std::size_t step = 0; step < n; ++step) {
      const std::size_t i = lower ? step : n - 1 - step;
      for (std::size_t j = lower ? 0 : i + 1; j < (lower ? i : n); ++j)
        x(i, c) = x(i, c) - a(i, j) * x(j, c);
      if (!unit) x(i, c) = x(i, c) / a(i, i);
    }
  }
  item.store(0, std::move(x));
}

std::vector<HostArray> interpret_solve_triangular(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_item(std::move(item)); });
}

}  // namespace

namespace calls {

const CallOp& solve_triangular() {
  static const CallOp& op =
      *new CallOp{.name = "linalg.solve_triangular",
                  .numpy = "scipy.linalg.solve_triangular",
                  .operands = 2,
                  .dtypes = lapack_dtypes,
                  .attributes = {{.name = "lower", .initial = false},
                                 {.name = "unit", .initial = false},
                                 {.name = "transpose",
                                  .initial = std::string("none"),
                                  .choices = {"none", "transpose", "conjugate"}}},
                  .infer = infer_solve_triangular,
                  .interpret = interpret_solve_triangular,
                  .core_axes = 2,
                  .shared = {{.result = 0, .operand = 1}}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

#include <cmath>
#include <limits>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/matrices.h"

namespace heddle::ir {

namespace {

using interpreter::conjugate_of;
using interpreter::Matrix;
using interpreter::real_part;

std::vector<Type> infer_cholesky(const Call& call) {
  const Type& operand = square_matrices(call, 0);
  return {operand, statuses_of(batch_of(operand))};
}

/// Factorises an n by n matrix in place: `a` holds the lower triangle, then the lower factor.
/// Left-looking, column by column. Returns the order of the first leading minor that is not
/// positive, or 0.
template <class Wide>
std::int32_t factorize(Matrix<Wide>& a) {
  const std::size_t n = a.rows();
  for (std::size_t j = 0; j < n; ++j) {
    double diagonal = real_part(a(j, j));
    for (std::size_t k = 0; k < j; ++k) diagonal -= real_part(a(j, k) * conjugate_of(a(j, k)));
    if (!(diagonal > 0)) return static_cast<std::int32_t>(j + 1);
    const double root = std::sqrt(diagonal);
    a(j, j) = Wide(root);
    for (std::size_t i = j + 1; i < n; ++i) {
      Wide sum = a(i, j);
      for (std::size_t k = 0; k < j; ++k) sum = sum - a(i, k) * conjugate_of(a(j, k));
      a(i, j) = sum * Wide(1 / root);
    }
  }
  return 0;
}

/// Factorises one matrix. The upper factor is the conjugate transpose of the lower one.
template <class Wide>
void interpret_matrix(interpreter::StackItem<Wide> item) {
  const bool upper = item.call.template get<bool>("upper");
  Matrix<Wide> a = item.operand(0);
  const std::size_t n = a.rows();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; upper && j <= i; ++j) a(i, j) = conjugate_of(a(j, i));
  }
  const std::int32_t status = factorize(a);
  Matrix<Wide> factor(n, n, Wide(status == 0 ? 0 : std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t i = 0; status == 0 && i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      if (upper)
        factor(j, i) = conjugate_of(a(i, j));
      else
        factor(i, j) = a(i, j);
    }
  }
  item.store(0, std::move(factor));
  item.store_status(1, status);
}

std::vector<HostArray> interpret_cholesky(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_matrix(std::move(item)); });
}

}  // namespace

namespace calls {

const CallOp& cholesky() {
  static const CallOp& op = *new CallOp{.name = "linalg.cholesky",
                                        .numpy = "numpy.linalg.cholesky",
                                        .dtypes = lapack_dtypes,
                                        .attributes = {{.name = "upper", .initial = false}},
                                        .infer = infer_cholesky,
                                        .interpret = interpret_cholesky,
                                        .core_axes = 2,
                                        .shared = {{.result = 0, .operand = 0}}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

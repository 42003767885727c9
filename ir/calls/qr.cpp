#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ir/calls/calls.h"
#include "ir/calls/matrices.h"

namespace heddle::ir {

namespace {

using interpreter::complex128;
using interpreter::conjugate_of;
using interpreter::Matrix;
using interpreter::real_part;

std::vector<Type> infer_geqrf(const Call& call) {
  const Type& a = matrices(call, 0);
  const std::size_t rank = a.shape.size();
  const Dim k = smaller_extent(call, a.shape[rank - 1], a.shape[rank - 2]);
  return {a, stack_of(a.dtype, batch_of(a), {k})};
}

double imaginary_part(double) { return 0; }
double imaginary_part(complex128 x) { return x.im; }

/// The norm of the elements of a column below row `row`.
template <class Wide>
double norm_below(const Matrix<Wide>& a, std::size_t row, std::size_t column) {
  double norm = 0;
  for (std::size_t i = row + 1; i < a.rows(); ++i)
    norm = std::hypot(norm, interpreter::magnitude(a(i, column)));
  return norm;
}

/// Makes column j below the diagonal 0 by the reflector H = 1 - tau v v^H, with v = (1, v2 ...),
/// where H^H a = (beta, 0 ...) and beta is real. Leaves beta on the diagonal and v2 ... below it.
/// Returns tau.
template <class Wide>
Wide reflect_column(Matrix<Wide>& a, std::size_t j) {
  const double given = std::hypot(interpreter::magnitude(a(j, j)), norm_below(a, j, j));
  // Columns that depend on others leave roundings of roundings, which are scaled before they are
  // squared and divided.
  constexpr double small = 0x1p-500, large = 0x1p1000;
  const double scale = given < small ? large : 1;
  for (std::size_t i = j; scale != 1 && i < a.rows(); ++i) a(i, j) = a(i, j) * Wide(scale);
  const Wide alpha = a(j, j);
  const double below = norm_below(a, j, j);
  if (below == 0 && imaginary_part(alpha) == 0) {
    a(j, j) = alpha / Wide(scale);
    return Wide(0);
  }
  const double norm = std::hypot(interpreter::magnitude(alpha), below);
  const double beta = -std::copysign(norm, real_part(alpha));
  for (std::size_t i = j + 1; i < a.rows(); ++i) a(i, j) = a(i, j) / (alpha - Wide(beta));
  a(j, j) = Wide(beta / scale);
  return (Wide(beta) - alpha) / Wide(beta);
}

/// Multiplies column `column` of `to`, from row j on, by 1 - factor v v^H, where v is column j of
/// `a` below its diagonal, and 1 on it.
template <class Wide>
void apply_reflector(const Matrix<Wide>& a, std::size_t j, Wide factor, Matrix<Wide>& to,
                     std::size_t column) {
  Wide sum = to(j, column);
  for (std::size_t i = j + 1; i < a.rows(); ++i) sum = sum + conjugate_of(a(i, j)) * to(i, column);
  sum = sum * factor;
  to(j, column) = to(j, column) - sum;
  for (std::size_t i = j + 1; i < a.rows(); ++i) to(i, column) = to(i, column) - a(i, j) * sum;
}

template <class Wide>
void interpret_geqrf_item(interpreter::StackItem<Wide> item) {
  Matrix<Wide> a = item.operand(0).transposed();
  Matrix<Wide> tau(1, std::min(a.rows(), a.columns()));
  for (std::size_t j = 0; j < tau.columns(); ++j) {
    tau(0, j) = reflect_column(a, j);
    for (std::size_t c = j + 1; c < a.columns(); ++c)
      apply_reflector(a, j, conjugate_of(tau(0, j)), a, c);
  }
  item.store(0, a.transposed());
  item.store(1, std::move(tau));
}

std::vector<HostArray> interpret_geqrf(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_geqrf_item(std::move(item)); });
}

std::vector<Type> infer_householder_product(const Call& call) {
  const Type& reflectors = matrices(call, 0);
  const Type& tau = same_stack(call, 1, 1);
  const std::size_t rank = reflectors.shape.size();
  const Dim columns = reflectors.shape[rank - 2];
  const auto at_most = [&](Dim a, Dim b, const char* what) {
    require(call, Requirement::Breach::shape, b - a, Dim(1), [&] {
      return fmt::format("{}: {} is larger than {}", what, a.to_string(), b.to_string());
    });
  };
  at_most(tau.shape.back(), columns, "there are more reflectors than columns");
  at_most(columns, reflectors.shape.back(), "there are more columns than rows");
  return {reflectors};
}

template <class Wide>
void interpret_householder_product_item(interpreter::StackItem<Wide> item) {
  const Matrix<Wide> a = item.operand(0).transposed(), tau = item.operand(1);
  Matrix<Wide> q(a.rows(), a.columns());
  for (std::size_t c = 0; c < q.columns(); ++c) {
    q(c, c) = Wide(1);
    for (std::size_t j = tau.columns(); j-- > 0;) apply_reflector(a, j, tau(0, j), q, c);
  }
  item.store(0, q.transposed());
}

std::vector<HostArray> interpret_householder_product(const CallArguments& arguments) {
  return interpreter::for_each_matrix(
      arguments, [](auto item) { interpret_householder_product_item(std::move(item)); });
}

}  // namespace

namespace calls {

const CallOp& geqrf() {
  static const CallOp& op = *new CallOp{.name = "linalg.geqrf",
                                        .numpy = "numpy.linalg.qr(mode='raw')",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_geqrf,
                                        .interpret = interpret_geqrf,
                                        .core_axes = 2,
                                        .shared = {{.result = 0, .operand = 0}}};
  return op;
}

const CallOp& householder_product() {
  static const CallOp& op = *new CallOp{.name = "linalg.householder_product",
                                        .numpy = "",
                                        .operands = 2,
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_householder_product,
                                        .interpret = interpret_householder_product,
                                        .core_axes = 2,
                                        .shared = {{.result = 0, .operand = 0}}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

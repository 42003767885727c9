#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "ir/calls/calls.h"
#include "ir/calls/inverse.h"
#include "ir/calls/matrices.h"
#include "ir/types/quotient.h"

namespace heddle::ir {

namespace {

using heddle_scalar::complex128;
using interpreter::Matrix;

std::vector<Type> infer_lu(const Call& call) {
  const Type& a = matrices(call, 0);
  const std::size_t rank = a.shape.size();
  const Shape batch = batch_of(a);
  const Dim k = smaller_extent(call, a.shape[rank - 1], a.shape[rank - 2]);
  return {a, stack_of(DType::i32, batch, {k}), statuses_of(batch)};
}

double quotient(double a, double b) { return a / b; }
using heddle_scalar::quotient;

/// How LAPACK compares the sizes of elements in its search for a pivot.
double pivot_size(double x) { return std::abs(x); }
double pivot_size(complex128 x) { return std::abs(x.re) + std::abs(x.im); }

template <class Wide>
std::size_t largest_in_column(const Matrix<Wide>& a, std::size_t column, std::size_t first) {
  std::size_t best = first;
  for (std::size_t i = first + 1; i < a.rows(); ++i) {
    if (pivot_size(a(i, column)) > pivot_size(a(best, column))) best = i;
  }
  return best;
}

template <class Wide>
struct Factors {
  Matrix<Wide> lu;
  Matrix<double> pivots;  ///< one row; counted from 1
  std::int32_t status = 0;
};

/// Gaussian elimination with partial pivoting.
template <class Wide>
Factors<Wide> factorize(Matrix<Wide> a) {
  const std::size_t k = std::min(a.rows(), a.columns());
  Matrix<double> pivots(1, k);
  std::int32_t status = 0;
  for (std::size_t j = 0; j < k; ++j) {
    const std::size_t pivot = largest_in_column(a, j, j);
    pivots(0, j) = static_cast<double>(pivot + 1);
    if (pivot_size(a(pivot, j)) == 0) {
      if (status == 0) status = static_cast<std::int32_t>(j + 1);
      continue;
    }
    a.swap_rows(j, pivot);
    for (std::size_t i = j + 1; i < a.rows(); ++i) {
      a(i, j) = quotient(a(i, j), a(j, j));
      for (std::size_t c = j + 1; c < a.columns(); ++c) a(i, c) = a(i, c) - a(i, j) * a(j, c);
    }
  }
  return {std::move(a), std::move(pivots), status};
}

template <class Wide>
void interpret_lu_item(interpreter::StackItem<Wide> item) {
  Factors<Wide> made = factorize(item.operand(0).transposed());
  item.store(0, made.lu.transposed());
  item.store(1, std::move(made.pivots));
  item.store_status(2, made.status);
}

std::vector<HostArray> interpret_lu(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_lu_item(std::move(item)); });
}

std::vector<Type> infer_solve(const Call& call) {
  const Type& a = square_matrices(call, 0);
  const Type& b = same_stack(call, 1);
  require_equal(call, a.shape.back(), b.shape.back(), "the order of the matrices",
                "the last axis of operand 1");
  const Shape batch = batch_of(a);
  return {b, a, stack_of(DType::i32, batch, {a.shape.back()}), statuses_of(batch)};
}

/// The solution of a x = b, given the factors of a.
template <class Wide>
Matrix<Wide> solution(const Factors<Wide>& of, Matrix<Wide> b) {
  const std::size_t n = b.rows();
  for (std::size_t i = 0; i < n; ++i) b.swap_rows(i, static_cast<std::size_t>(of.pivots(0, i)) - 1);
  for (std::size_t c = 0; c < b.columns(); ++c) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) b(i, c) = b(i, c) - of.lu(i, j) * b(j, c);
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) b(i, c) = b(i, c) - of.lu(i, j) * b(j, c);
      b(i, c) = quotient(b(i, c), of.lu(i, i));
    }
  }
  return b;
}

template <class Wide>
void interpret_solve_item(interpreter::StackItem<Wide> item) {
  Matrix<Wide> a = item.operand(0);
  if (item.call.template get<bool>("transposed")) a = a.transposed();
  Factors<Wide> made = factorize(std::move(a));
  Matrix<Wide> x = item.operand(1);
  if (made.status == 0) {
    x = solution(made, x.transposed()).transposed();
  } else {
    x = Matrix<Wide>(x.rows(), x.columns(), Wide(std::numeric_limits<double>::quiet_NaN()));
  }
  item.store(0, std::move(x));
  item.store(1, std::move(made.lu));
  item.store(2, std::move(made.pivots));
  item.store_status(3, made.status);
}

std::vector<HostArray> interpret_solve(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_solve_item(std::move(item)); });
}

std::vector<Type> infer_inverse(const Call& call) {
  const Type& a = square_matrices(call, 0);
  return {a, statuses_of(batch_of(a))};
}

template <class Wide>
void interpret_inverse_item(interpreter::StackItem<Wide> item) {
  const Factors<Wide> made = factorize(item.operand(0));
  const std::size_t n = made.lu.rows();
  Matrix<Wide> x(n, n, Wide(made.status == 0 ? 0 : std::numeric_limits<double>::quiet_NaN()));
  if (made.status == 0) {
    for (std::size_t i = 0; i < n; ++i) x(i, i) = Wide(1);
    x = solution(made, std::move(x));
  }
  item.store(0, std::move(x));
  item.store_status(1, made.status);
}

std::vector<HostArray> interpret_inverse(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_inverse_item(std::move(item)); });
}

std::vector<Type> infer_slogdet(const Call& call) {
  const Type& a = square_matrices(call, 0);
  const Shape batch = batch_of(a);
  return {stack_of(a.dtype, batch, {}), stack_of(real_dtype(a.dtype), batch, {})};
}

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
complex128 sign_of(complex128 x) { return heddle_scalar::sign(x); }

template <class Wide>
void interpret_slogdet_item(interpreter::StackItem<Wide> item) {
  const Factors<Wide> made = factorize(item.operand(0).transposed());
  Wide sign = Wide(made.status == 0 ? 1 : 0);
  double logarithm = made.status == 0 ? 0 : -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; made.status == 0 && i < made.lu.rows(); ++i) {
    sign = sign * sign_of(made.lu(i, i));
    if (static_cast<std::size_t>(made.pivots(0, i)) != i + 1) sign = -sign;
    logarithm += std::log(interpreter::magnitude(made.lu(i, i)));
  }
  item.store(0, Matrix<Wide>(1, 1, sign));
  item.store(1, Matrix<double>(1, 1, logarithm));
}

std::vector<HostArray> interpret_slogdet(const CallArguments& arguments) {
  return interpreter::for_each_matrix(arguments,
                                      [](auto item) { interpret_slogdet_item(std::move(item)); });
}

}  // namespace

namespace calls {

const CallOp& lu() {
  static const CallOp& op = *new CallOp{.name = "linalg.lu",
                                        .numpy = "",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_lu,
                                        .interpret = interpret_lu,
                                        .core_axes = 2,
                                        .shared = {{.result = 0, .operand = 0}}};
  return op;
}

const CallOp& inverse() {
  static const CallOp& op = *new CallOp{.name = "linalg.inverse",
                                        .numpy = "numpy.linalg.inv",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_inverse,
                                        .interpret = interpret_inverse,
                                        .core_axes = 2};
  return op;
}

const CallOp& solve() {
  static const CallOp& op =
      *new CallOp{.name = "linalg.solve",
                  .numpy = "numpy.linalg.solve",
                  .operands = 2,
                  .dtypes = lapack_dtypes,
                  .attributes = {{.name = "transposed", .initial = false}},
                  .infer = infer_solve,
                  .interpret = interpret_solve,
                  .core_axes = 2,
                  .shared = {{.result = 0, .operand = 1}, {.result = 1, .operand = 0}}};
  return op;
}

const CallOp& slogdet() {
  static const CallOp& op = *new CallOp{.name = "linalg.slogdet",
                                        .numpy = "numpy.linalg.slogdet",
                                        .dtypes = lapack_dtypes,
                                        .infer = infer_slogdet,
                                        .interpret = interpret_slogdet,
                                        .core_axes = 2,
                                        .shared = {}};
  return op;
}

}  // namespace calls

}  // namespace heddle::ir

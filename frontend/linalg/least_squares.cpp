#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/jit.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"
#include "heddle/spectral.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/array/views.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/linalg/matrix_operand.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;

namespace {

double epsilon_of(DType dtype) {
  const DType part = is_complex(dtype) ? real_dtype(dtype) : dtype;
  return part == DType::f32 ? std::ldexp(1.0, -23) : std::ldexp(1.0, -52);
}

/// max(m, n) eps of a stack of matrices, m by n.
double rank_tolerance(const char* op, const NodeRef& stack, const SourceLocation& where) {
  const std::int64_t rank = frontend::rank_of(stack);
  const std::int64_t m = frontend::constant_extent(op, stack, rank - 2, where);
  const std::int64_t n = frontend::constant_extent(op, stack, rank - 1, where);
  return static_cast<double>(std::max(m, n)) * epsilon_of(stack->dtype);
}

/// Which of the singular values are larger than `tolerance` times the largest one.
Array counting(const Array& s, const Operand& tolerance, const AtLocation& here) {
  const Array largest = max(here(s), -1, true, Scalar(0.0));
  return greater(here(s), here(multiply(here(largest), tolerance)));
}

/// 1 / s for the values that count, 0 for the others.
Array reciprocals(const Array& s, const Array& counts, const AtLocation& here) {
  const Array divisor = where(here(counts), here(s), here(Scalar(1.0)));
  const Array inverse = divide(here(Scalar(1.0)), here(divisor));
  return where(here(counts), here(inverse), here(Scalar(0.0)));
}

/// Rows of numbers, each divided by its singular value if that counts, and else 0. A quotient may
/// be in range where the value's reciprocal is not; so complex numbers are divided by parts.
Array quotients(const Array& rows, const Array& s, const Array& counts, const AtLocation& here) {
  const Array divisors = expand_dims(here(where(here(counts), here(s), here(Scalar(1.0)))), -1);
  const auto divided = [&](const Array& part) { return divide(here(part), here(divisors)); };
  const Array quotient = is_complex(rows.dtype()) ? make_complex(here(divided(real(here(rows)))),
                                                                 here(divided(imag(here(rows)))))
                                                  : divided(rows);
  return where(here(expand_dims(here(counts), -1)), here(quotient), here(Scalar(0.0)));
}

/// Calls use(tolerance) with the operand that broadcasts against singular values.
template <class Use>
Array along_values(const Operand& tolerance, const AtLocation& here, const Use& use) {
  if (frontend::rank_of(frontend::node_of("linalg", tolerance)) == 0) return use(tolerance);
  const Array column = expand_dims(tolerance, -1);
  return use(here(column));
}

/// Which of the singular values count, for tolerances of a stack.
Array counting_of_stack(const Array& s, const Operand& tolerance, const AtLocation& here) {
  return along_values(tolerance, here,
                      [&](const Operand& each) { return counting(s, each, here); });
}

Array conjugate_transpose(const Array& a, const AtLocation& here) {
  const Array transposed = matrix_transpose(here(a));
  return is_complex(a.dtype()) ? conj(here(transposed)) : transposed;
}

struct Stack {
  NodeRef node;
  bool empty = false;  ///< without elements
};

Stack stack_of(const char* op, const Operand& a) {
  const NodeRef node = frontend::inexact_operand(op, a);
  frontend::require_matrices(op, node, a.where());
  const ir::Dim none = 0;
  return {node, frontend::rows_of(node) == none || frontend::columns_of(node) == none};
}

}  // namespace

Array linalg::pinv(const Operand& a, const RankOptions& options) {
  const AtLocation here(a);
  const auto [node, empty] = stack_of("linalg.pinv", a);
  const Array matrices = Access::make(node);
  if (empty) return matrix_transpose(here(matrices));
  const auto [u, s, vh] =
      svd(here(matrices), {.full_matrices = false, .hermitian = options.hermitian});
  const double fallback = options.by_size ? rank_tolerance("linalg.pinv", node, a.where()) : 1e-15;
  const Operand tolerance = options.tolerance.value_or(here(Scalar(fallback)));
  const Array counts = counting_of_stack(s, tolerance, here);
  const Array inverse = expand_dims(here(reciprocals(s, counts, here)), -1);
  const Array right = multiply(here(inverse), here(conjugate_transpose(u, here)));
  return matmul(here(conjugate_transpose(vh, here)), here(right));
}

Array linalg::matrix_rank(const Operand& a, const RankOptions& options,
                          const std::optional<Operand>& absolute) {
  const AtLocation here(a);
  const NodeRef given = frontend::asarray_node("linalg.matrix_rank", a);
  if (frontend::rank_of(given) < 2)
    return astype(here(any(here(not_equal(a, here(Scalar(0)))))), DType::i64);
  const NodeRef node = stack_of("linalg.matrix_rank", a).node;
  const Array s = svdvals(here(Access::make(node)), options.hermitian);
  const auto above = [&](const Operand& least) { return greater(here(s), least); };
  const Array counts =
      absolute ? along_values(*absolute, here, above)
      : options.tolerance
          ? counting_of_stack(s, *options.tolerance, here)
          : counting(s, here(Scalar(rank_tolerance("linalg.matrix_rank", node, a.where()))), here);
  return count_nonzero(here(counts), -1);
}

namespace {

struct Equations {
  Array a, b;   ///< [m, n] and [m, k], of float64 or complex128
  DType dtype;  ///< of the results
  std::int64_t m = 0, n = 0;
  bool vector = false;  ///< b was a vector
};

/// The dtype that NumPy computes in.
DType widened(DType dtype) {
  if (dtype == DType::f32) return DType::f64;
  return dtype == DType::c64 ? DType::c128 : dtype;
}

Equations equations_of(const Operand& a, const Operand& b) {
  const Operand* operands[] = {&a, &b};
  DType dtype = frontend::common_dtype(operands);
  if (!is_inexact(dtype)) dtype = DType::f64;
  const DType wide = widened(dtype);
  const NodeRef left = frontend::node_of("linalg.lstsq", a, wide);
  NodeRef right = frontend::node_of("linalg.lstsq", b, wide);
  const SourceLocation where = a.where();
  const auto fail = [&](const char* why) {
    throw ShapeError(frontend::at(fmt::format("linalg.lstsq({}, {}): {}", frontend::describe(*left),
                                              frontend::describe(*right), why),
                                  where));
  };
  if (frontend::rank_of(left) != 2) fail("a must be one matrix");
  const int rank = frontend::rank_of(right);
  if (rank != 1 && rank != 2) fail("b must be a vector or a matrix");
  if (left->shape[0] != right->shape[0]) fail("a and b must have the same number of rows");
  const bool vector = rank == 1;
  if (vector) right = frontend::insert_axis(right, 1, where);
  return {Access::make(left),
          Access::make(right),
          dtype,
          frontend::constant_extent("linalg.lstsq", left, 0, where),
          frontend::constant_extent("linalg.lstsq", left, 1, where),
          vector};
}

/// The squared lengths of b - a x, [k]. None if the rank is known to be less than n, or m <= n.
Array residuals_of(const Equations& given, const Array& x, const Array& rank,
                   const AtLocation& here) {
  const DType dtype = is_complex(x.dtype()) ? real_dtype(x.dtype()) : x.dtype();
  const bool has_full_rank =
      given.m > given.n && (frontend::tracing() || rank.item<std::int64_t>(here.where) == given.n);
  if (!has_full_rank) return zeros({0}, dtype, here.where);
  const Array rest = subtract(here(given.b), here(matmul(here(given.a), here(x))));
  const Array sizes = absolute(here(rest));
  return sum(here(multiply(here(sizes), here(sizes))), 0);
}

}  // namespace

linalg::LstsqResult linalg::lstsq(const Operand& a, const Operand& b, std::optional<double> rcond) {
  const AtLocation here(a);
  const Equations given = equations_of(a, b);
  const double epsilon = epsilon_of(given.a.dtype());
  double tolerance = rcond.value_or(static_cast<double>(std::max(given.m, given.n)) * epsilon);
  if (tolerance < 0) tolerance = epsilon;
  const auto [u, s, vh] = svd(here(given.a), {.full_matrices = false});
  const Array counts = counting(s, here(Scalar(tolerance)), here);
  const Array along = matmul(here(conjugate_transpose(u, here)), here(given.b));
  const Array scaled = quotients(along, s, counts, here);
  const Array x = matmul(here(conjugate_transpose(vh, here)), here(scaled));
  const Array rank = count_nonzero(here(counts));
  const Array residuals = residuals_of(given, x, rank, here);
  const Array result = astype(here(x), given.dtype);
  const DType part = is_complex(given.dtype) ? real_dtype(given.dtype) : given.dtype;
  return {given.vector ? squeeze(here(result), 1) : result, astype(here(residuals), part), rank,
          astype(here(s), part)};
}

}  // namespace heddle

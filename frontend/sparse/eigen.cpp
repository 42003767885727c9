#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/random.h"
#include "heddle/sorting.h"
#include "heddle/sparse_eigen.h"
#include "heddle/spectral.h"

#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/sparse/restarts.h"

namespace heddle::sparse::linalg {

namespace {

/// The dtype in which an operator's eigenvalues are computed.
DType floating(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? promote_types(dtype, DType::f32) : DType::f64;
}

[[noreturn]] void refuse(const std::string& text, const SourceLocation& where) {
  throw ValueError(frontend::at(text, where));
}

/// What eigsh and eigs are asked for. ValueError unless it makes sense; k must be less than `most`.
RestartOptions checked(std::string_view name, const LinearOperator& a, std::int64_t k,
                       std::int64_t most, const EigenOptions& options,
                       const SourceLocation& where) {
  const std::int64_t n = a.shape[0];
  if (n != a.shape[1]) {
    throw ShapeError(
        frontend::at(fmt::format("{}: a must be square, not {} x {}", name, n, a.shape[1]), where));
  }
  if (k <= 0 || k >= most)
    refuse(fmt::format("{}: k is {}, but must be from 1 to {}", name, k, most - 1), where);
  if (options.sigma.has_value() != options.OPinv.has_value())
    refuse(fmt::format("{}: sigma needs OPinv, and OPinv needs sigma", name), where);
  if (options.OPinv && options.OPinv->shape != a.shape) {
    throw ShapeError(
        frontend::at(fmt::format("{}: the matrix is {} x {}, but OPinv {} x {}", name, n, n,
                                 options.OPinv->shape[0], options.OPinv->shape[1]),
                     where));
  }
  if (!(options.tol >= 0) || std::isinf(options.tol))
    refuse(
        fmt::format("{}: tol is {}, but must be a number that is not negative", name, options.tol),
        where);
  RestartOptions made{.k = k, .which = options.which, .tol = options.tol};
  made.ncv = options.ncv.value_or(std::min(n, std::max(2 * k + 1, std::int64_t{20})));
  if (made.ncv <= k || made.ncv > n) {
    refuse(fmt::format("{}: ncv must be greater than k, which is {}, and at most {}; it is {}",
                       name, k, n, made.ncv),
           where);
  }
  made.maxiter = options.maxiter.value_or(10 * n);
  if (made.maxiter <= 0)
    refuse(fmt::format("{}: maxiter must be positive, not {}", name, made.maxiter), where);
  return made;
}

Eigenpairs pairs_of(std::string_view name, const LinearOperator& a, DType dtype,
                    const RestartMethod& method, const RestartOptions& restarts,
                    const EigenOptions& options, const SourceLocation& where) {
  const std::int64_t n = a.shape[0];
  const LinearOperator& applied = options.OPinv ? *options.OPinv : a;
  const Array noise =
      random::Generator(options.seed).standard_normal({n}).astype(finfo(dtype).dtype);
  if (options.v0 && options.v0->shape() != Shape{n}) {
    throw ShapeError(
        frontend::at(fmt::format("{}: v0 must be a vector of {} elements", name, n), where));
  }
  const Array start = (options.v0 ? *options.v0 : noise).astype(dtype);
  Eigenpairs made = iterate(method, applied.matvec, start, noise, restarts);
  if (options.sigma) made.values = 1.0 / made.values + *options.sigma;
  return made;
}

/// The product of an operator with each column of x.
Array product_of(const LinearOperator::Product& product, const Array& x) {
  std::vector<Array> columns;
  for (std::int64_t j = 0; j < x.shape()[1]; ++j) columns.push_back(product(x(_, j)));
  return stack(columns, 1);
}

}  // namespace

Eigenpairs eigsh(const LinearOperator& a, std::int64_t k, const EigenOptions& options,
                 SourceLocation where) {
  const RestartOptions restarts = checked("eigsh", a, k, a.shape[0], options, where);
  const DType dtype = floating(a.dtype);
  const auto method = lanczos(restarts, dtype);
  const auto [values, vectors, converged] =
      pairs_of("eigsh", a, dtype, *method, restarts, options, where);
  const Array order = argsort(values);
  return {values(order), vectors(_, order), converged(order)};
}

Eigenpairs eigs(const LinearOperator& a, std::int64_t k, const EigenOptions& options,
                SourceLocation where) {
  RestartOptions restarts = checked("eigs", a, k, a.shape[0] - 1, options, where);
  restarts.is_real = !is_complex(a.dtype);
  const DType dtype = promote_types(floating(a.dtype), DType::c64);
  const auto method = arnoldi(restarts, dtype);
  return pairs_of("eigs", a, dtype, *method, restarts, options, where);
}

SingularValues svds(const LinearOperator& a, std::int64_t k, const EigenOptions& options,
                    SourceLocation where) {
  const auto [rows, columns] = a.shape;
  const bool wide = rows < columns;
  const std::int64_t n = std::min(rows, columns);
  if (options.which != "LM" && options.which != "SM")
    refuse(fmt::format("svds: which must be 'LM' or 'SM', not '{}'", options.which), where);
  if (options.sigma || options.OPinv) refuse("svds: sigma and OPinv are not used", where);
  const LinearOperator::Product back = a.adjoint();
  const auto& first = wide ? back : a.matvec;
  const auto& second = wide ? a.matvec : back;
  const LinearOperator gram(
      {n, n}, [&](const Array& x) { return second(first(x)); }, floating(a.dtype));
  EigenOptions of_squares = options;
  of_squares.tol = options.tol * std::abs(options.tol);  // eigsh refuses a negative one
  const Eigenpairs pairs = eigsh(gram, k, of_squares, where);
  const auto [u, s, vh] =
      heddle::linalg::svd(product_of(first, pairs.vectors), {.full_matrices = false});
  const Array left = flip(u, 1), right = flip(vh, 0);
  if (wide)
    return {matmul(pairs.vectors, conj(right.T())), flip(s), conj(left.T()), pairs.converged};
  return {left, flip(s), matmul(right, conj(pairs.vectors.T())), pairs.converged};
}

}  // namespace heddle::sparse::linalg

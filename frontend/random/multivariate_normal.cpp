#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/random.h"
#include "heddle/spectral.h"

#include "frontend/array/access.h"
#include "frontend/graph/at_location.h"
#include "frontend/graph/axes.h"
#include "frontend/graph/record.h"
#include "frontend/random/covariance.h"

namespace heddle {

using frontend::Access;
using frontend::AtLocation;
using frontend::NodeRef;
using random::CovarianceFactor;

namespace {

/// A matrix whose product with its conjugate transpose is the covariance.
Array factor_of(const Array& covariance, CovarianceFactor method, const AtLocation& here) {
  if (method == CovarianceFactor::cholesky) return linalg::cholesky(here(covariance));
  Array vectors, values;
  if (method == CovarianceFactor::eigh) {
    auto made = linalg::eigh(here(covariance));
    vectors = std::move(made.eigenvectors);
    values = std::move(made.eigenvalues);
  } else {
    auto made = linalg::svd(here(covariance));
    vectors = std::move(made.u);
    values = std::move(made.s);
  }
  return multiply(here(vectors), here(sqrt(here(absolute(here(values))))));
}

/// The length of the vectors. Throws ShapeError unless the extents fit.
std::int64_t checked_length(const Array& mean, const Array& covariance, const AtLocation& here) {
  const NodeRef center = Access::node(mean, here.where);
  const NodeRef matrix = Access::node(covariance, here.where);
  const auto fail = [&](const char* why) {
    throw ShapeError(
        frontend::at(fmt::format("multivariate_normal({}, {}): {}", frontend::describe(*center),
                                 frontend::describe(*matrix), why),
                     here.where));
  };
  if (center->shape.size() != 1) fail("the mean must be a vector");
  if (matrix->shape.size() != 2 || matrix->shape[0] != matrix->shape[1])
    fail("the covariance must be a square matrix");
  if (center->shape[0] != matrix->shape[0])
    fail("the mean and the covariance must have the same length");
  return frontend::constant_extent("multivariate_normal", center, 0, here.where);
}

}  // namespace

bool frontend::is_covariance(const Operand& covariance, double tolerance) {
  const AtLocation here(covariance);
  const auto [u, s, vh] = linalg::svd(covariance);
  // For a symmetric positive semidefinite matrix, u is the conjugate transpose of vh.
  const Array scaled = multiply(here(transpose(here(vh))), here(s));
  return allclose(here(matmul(here(scaled), here(vh))), covariance, tolerance, tolerance);
}

Array random::Generator::multivariate_normal(const Operand& mean, const Operand& covariance,
                                             const Shape& size, const MultivariateNormal& options) {
  const AtLocation here(mean);
  const Array center = astype(here(asarray(mean)), DType::f64);
  const Array matrix = astype(here(asarray(covariance)), DType::f64);
  Shape shape = size;
  shape.push_back(checked_length(center, matrix, here));
  if (options.check && !frontend::is_covariance(here(matrix), options.tolerance)) {
    throw ValueError(frontend::at(
        "multivariate_normal: the covariance is not symmetric positive semidefinite", here.where));
  }
  const Array factor = factor_of(matrix, options.method, here);
  const Array samples = standard_normal(shape, DType::f64, mean.where());
  // Rows times the transposed factor.
  const Array moved = matmul(here(samples), here(matrix_transpose(here(factor))));
  return add(here(moved), here(center));
}

}  // namespace heddle

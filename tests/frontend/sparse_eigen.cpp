// heddle/sparse_eigen.h; tests/python/test_sparse_eigen.py and test_sparse_eigs.py hold the same
// iterations to SciPy.
#include <complex>
#include <string>
#include <vector>

#include "against_numpy.h"

namespace heddle::test {
namespace {

namespace sp = hd::sparse;
namespace solvers = hd::sparse::linalg;

constexpr std::int64_t n = 30;

/// Hermitian, with elements on three diagonals.
Array hermitian(DType dtype) {
  const Array i = hd::arange(n), distance = i(hd::newaxis, hd::_) - i(hd::_, hd::newaxis);
  const Array diagonal = hd::cos(i.astype(DType::f64)) * 5.0;
  Array made = hd::where(distance == 0, diagonal(hd::_, hd::newaxis), 0.0).astype(dtype);
  const Array side = hd::where(hd::abs(distance) == 1, 1.0, 0.0).astype(dtype);
  if (!is_complex(dtype)) return made + side;
  return made + side * (distance.astype(dtype) * std::complex<double>(0, 1) + 0.5).astype(dtype);
}

sp::Csr rows(const Array& matrix) { return sp::to_csr(sp::coo(matrix)); }

double greatest(const Array& x) { return hd::max(hd::abs(x)).astype(DType::f64).item<double>(); }

/// The error of a x = w x, and of vectors of other lengths than 1.
double error(const Array& a, const solvers::Eigenpairs& pairs) {
  const Array lengths = hd::sum(hd::real(pairs.vectors * hd::conj(pairs.vectors)), {0});
  return greatest(hd::matmul(a, pairs.vectors) - pairs.vectors * pairs.values) +
         greatest(lengths - 1.0);
}

TEST_CASE("eigenvalues of Hermitian matrices at each end, in each dtype") {
  for (const DType dtype : {DType::f32, DType::f64, DType::c128}) {
    CAPTURE(static_cast<int>(dtype));
    const double off = dtype == DType::f32 ? 1e-4 : 1e-9;
    const Array a = hermitian(dtype), all = hd::linalg::eigvalsh(a);
    const auto solve =
        hd::jit([](const sp::Csr& matrix) { return solvers::eigsh(matrix, 3, {.which = "LA"}); });
    const solvers::Eigenpairs most = solve(rows(a));
    CHECK(hd::all(most.converged).item<bool>());
    CHECK(most.vectors.dtype() == dtype);
    CHECK(greatest(most.values - all(hd::slice(n - 3, n))) < off);
    CHECK(error(a, most) < off);
    if (dtype != DType::f64) continue;
    const solvers::Eigenpairs least = solvers::eigsh(a, 2, {.which = "SA", .ncv = 12});
    CHECK(greatest(least.values - all(hd::slice(2))) < off);
    const solvers::Eigenpairs both = solvers::eigsh(a, 2, {.which = "BE"});
    CHECK(greatest(both.values - hd::stack({all(0), all(-1)})) < off);
  }
}

TEST_CASE("eigenvalues next to a number, and those that occur several times") {
  const Array a = hermitian(DType::f64), all = hd::linalg::eigvalsh(a);
  const Array inverse = hd::linalg::inv(a - 0.3 * hd::eye(n));
  const solvers::Eigenpairs near = solvers::eigsh(a, 2, {.sigma = 0.3, .OPinv = inverse});
  const Array next = hd::sort(all(hd::argsort(hd::abs(all - 0.3))(hd::slice(2))));
  CHECK(greatest(near.values - next) < 1e-9);
  CHECK(error(a, near) < 1e-8);
  const Array twice = hd::diag(hd::floor(hd::arange(n).astype(DType::f64) / 3.0));
  const solvers::Eigenpairs copies = solvers::eigsh(rows(twice), 4, {.which = "LA"});
  CHECK(greatest(copies.values - hd::array({8.0, 9.0, 9.0, 9.0})) < 1e-9);
  const solvers::Eigenpairs few = solvers::eigsh(a, 6, {.which = "SM", .ncv = 7, .maxiter = 1});
  CHECK_FALSE(hd::all(few.converged).item<bool>());
}

TEST_CASE("eigenvalues of matrices that are not Hermitian") {
  const Array i = hd::arange(n);
  const Array distance = i(hd::newaxis, hd::_) - i(hd::_, hd::newaxis);
  const Array a = hd::where(distance == 0, i.astype(DType::f64)(hd::_, hd::newaxis),
                            hd::where(distance == 1, 2.0, hd::where(distance == -2, -1.5, 0.0)));
  const solvers::Eigenpairs made = solvers::eigs(rows(a), 4);
  CHECK(hd::all(made.converged).item<bool>());
  CHECK(made.values.dtype() == DType::c128);
  CHECK(error(a.astype(DType::c128), made) < 1e-8);
  const Array all = hd::linalg::eigvals(a), sizes = hd::sort(hd::abs(all));
  CHECK(greatest(hd::abs(made.values) - hd::flip(sizes(hd::slice(n - 4, n)))) < 1e-8);
}

TEST_CASE("singular values of wide and tall matrices") {
  const Array i = hd::arange(40)(hd::_, hd::newaxis), j = hd::arange(25);
  const Array tall =
      hd::where(hd::abs(i - 2 * j) <= 1, 1.0 + (i + j).astype(DType::f64) / 10.0, 0.0);
  for (const Array& a : {tall, Array(hd::conj(tall.T()) * std::complex<double>(1, 0.5))}) {
    const solvers::SingularValues made = solvers::svds(rows(a), 3);
    const Array all = hd::linalg::svdvals(a);
    CHECK(greatest(made.s - hd::flip(all(hd::slice(3)))) < 1e-9);
    CHECK(greatest(hd::matmul(a, hd::conj(made.vh.T())) - made.u * made.s) < 1e-8);
    CHECK(greatest(hd::matmul(hd::conj(made.u.T()), made.u) - hd::eye(3)) < 1e-9);
    CHECK(greatest(hd::matmul(made.vh, hd::conj(made.vh.T())) - hd::eye(3)) < 1e-9);
    CHECK(hd::all(made.converged).item<bool>());
  }
}

TEST_CASE("eigenvalues refuse what does not fit") {
  const Array a = hermitian(DType::f64);
  const auto refuses = [&](std::int64_t k, const solvers::EigenOptions& options) {
    CHECK_THROWS_AS(solvers::eigsh(a, k, options), ValueError);
    CHECK_THROWS_AS(solvers::eigs(a, k, options), ValueError);
    CHECK_THROWS_AS(solvers::svds(a, k, options), ValueError);
  };
  refuses(0, {});
  refuses(n, {});
  refuses(3, {.which = "most"});
  refuses(3, {.sigma = 1.0});
  refuses(3, {.ncv = 3});
  refuses(3, {.ncv = n + 1});
  refuses(3, {.maxiter = 0});
  refuses(3, {.tol = -1});
  CHECK_THROWS_AS(solvers::eigs(a, n - 1), ValueError);
  CHECK_THROWS_AS(solvers::eigsh(hd::ones({3, 4}), 1), ShapeError);
  CHECK_THROWS_AS(solvers::eigsh(a, 2, {.v0 = hd::ones({4})}), ShapeError);
  const solvers::LinearOperator one_way({n, n}, [&](const Array& x) { return hd::matmul(a, x); });
  CHECK_THROWS_AS(solvers::svds(one_way, 2), ValueError);
}

}  // namespace
}  // namespace heddle::test

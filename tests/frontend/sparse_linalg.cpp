// heddle/sparse_linalg.h; tests/python/test_sparse_linalg.py holds Python's solvers, whose steps
// are the same, to SciPy.
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "against_numpy.h"

namespace heddle::test {
namespace {

namespace sp = hd::sparse;
namespace solvers = hd::sparse::linalg;

constexpr std::int64_t n = 40;

/// A matrix with the diagonal 4 .. 8, -1 above it and `below` under it.
Array dense(double below, DType dtype) {
  const Array i = hd::arange(n), diagonal = 4.0 + i.astype(DType::f64) / 10.0;
  const Array distance = i(hd::newaxis, hd::_) - i(hd::_, hd::newaxis);
  const Array made =
      hd::where(distance == 0, diagonal(hd::_, hd::newaxis), hd::where(distance == 1, -1.0, 0.0));
  return (made + hd::where(distance == -1, below, 0.0)).astype(dtype);
}

sp::Csr rows(const Array& matrix) { return sp::to_csr(sp::coo(matrix)); }

Array right_side(DType dtype) { return hd::cos(hd::arange(n).astype(DType::f64)).astype(dtype); }

double distance(const Array& x, const Array& y) {
  return hd::max(hd::abs(x - y)).astype(DType::f64).item<double>();
}

struct Solver {
  std::string name;
  solvers::Solution (*solve)(const solvers::LinearOperator&, const hd::Operand&,
                             const solvers::SolverOptions&);
  double below;  // -1: symmetric
};

const std::vector<Solver>& all() {
  static const std::vector<Solver> made{{"cg", solvers::cg, -1},
                                        {"minres", solvers::minres, -1},
                                        {"cgs", solvers::cgs, 0.5},
                                        {"bicgstab", solvers::bicgstab, 0.5},
                                        {"gmres", solvers::gmres, 0.5}};
  return made;
}

TEST_CASE("solvers reach the solution, in each dtype") {
  const std::vector<std::pair<std::size_t, DType>> cases{
      {0, DType::f64}, {0, DType::c64},  {1, DType::f64}, {1, DType::c128}, {2, DType::f64},
      {3, DType::f32}, {3, DType::c128}, {4, DType::f64}, {4, DType::c64}};
  for (const auto& [which, dtype] : cases) {
    const Solver& solver = all()[which];
    CAPTURE(solver.name);
    CAPTURE(static_cast<int>(dtype));
    const double rtol = dtype == DType::f32 || dtype == DType::c64 ? 1e-6 : 1e-12;
    const Array a = dense(solver.below, dtype), b = right_side(dtype);
    const auto solve = hd::jit([&](const sp::Dia& matrix, const Array& right) {
      return solver.solve(matrix, right, {.rtol = rtol});
    });
    const auto [x, info] = solve(sp::to_dia(sp::coo(a)), b);
    CHECK(x.dtype() == dtype);
    CHECK(info.item<std::int64_t>() == 0);
    CHECK(distance(x, hd::linalg::solve(dense(solver.below, DType::c128), b)) < 20 * rtol);
  }
}

TEST_CASE("operators, preconditioners and first values of solvers") {
  for (const Solver& solver : all()) {
    CAPTURE(solver.name);
    const Array a = dense(solver.below, DType::f64), b = right_side(DType::f64);
    const Array wanted = hd::linalg::solve(a, b);
    const auto solve = hd::jit([&](const Array& matrix, const Array& right, const Array& x0) {
      const solvers::LinearOperator inverse(
          {n, n}, [&](const Array& x) { return x / hd::diagonal(matrix); });
      return solver.solve(matrix, right, {.x0 = x0, .rtol = 1e-10, .M = inverse});
    });
    const auto check_solved = [&](const Array& right, const Array& x0, const Array& x, double off) {
      const solvers::Solution made = solve(a, right, x0);
      CHECK(made.info.item<std::int64_t>() == 0);
      CHECK(distance(made.x, x) <= off);
    };
    const Array zeros = hd::zeros({n});
    check_solved(b, zeros, wanted, 1e-8);
    check_solved(b, wanted, wanted, 1e-14);
    check_solved(zeros, wanted, zeros, 0);
  }
}

TEST_CASE("too few steps of a solver, an absolute tolerance, and integers") {
  const Array a = dense(-1, DType::f64), b = right_side(DType::f64);
  const solvers::Solution few = solvers::cg(a, b, {.rtol = 1e-12, .maxiter = 2});
  CHECK(few.info.item<std::int64_t>() == 2);
  CHECK(distance(solvers::cg(a, b, {.atol = 100}).x, hd::zeros({n})) == 0);
  const Array integers = hd::arange<std::int32_t>(n);
  const solvers::Solution made = solvers::cg(a, integers, {.rtol = 1e-10});
  CHECK(made.x.dtype() == DType::f64);
  CHECK(distance(made.x, hd::linalg::solve(a, integers.astype(DType::f64))) < 1e-7);
  CHECK(
      solvers::gmres(a, b, {.rtol = 1e-14, .maxiter = 1, .restart = 2}).info.item<std::int64_t>() ==
      1);
}

TEST_CASE("right sides whose squares are out of range") {
  const Array a = dense(-1, DType::f64), b = right_side(DType::f64);
  const Array wanted = hd::linalg::solve(a, b);
  for (const double factor : {1e-200, 1e160}) {
    CAPTURE(factor);
    for (const Solver& solver : all()) {
      CAPTURE(solver.name);
      const solvers::Solution made = solver.solve(a, b * factor, {.rtol = 1e-10});
      CHECK(made.info.item<std::int64_t>() == 0);
      CHECK(distance(made.x / factor, wanted) < 1e-8);
    }
    const solvers::LsqrResult one = solvers::lsqr(a, b * factor, {.atol = 1e-12, .btol = 1e-12});
    CHECK(distance(one.x / factor, wanted) < 1e-8);
    CHECK(one.xnorm.item<double>() / factor ==
          doctest::Approx(hd::linalg::vector_norm(wanted).item<double>()));
    CHECK(distance(solvers::lsmr(a, b * factor, {.atol = 1e-12, .btol = 1e-12}).x / factor,
                   wanted) < 1e-8);
  }
}

TEST_CASE("a solver in a jitted function whose argument is a sparse matrix") {
  const auto solve = hd::jit([](const sp::Csr& a, const Array& b) {
    return solvers::gmres(a, b * 2.0, {.rtol = 1e-10, .restart = 8});
  });
  for (const double below : {0.5, -0.25}) {
    const Array a = dense(below, DType::f64), b = right_side(DType::f64);
    const solvers::Solution made = solve(rows(a), b);
    CHECK(made.info.item<std::int64_t>() == 0);
    CHECK(distance(made.x, hd::linalg::solve(a, b * 2.0)) < 1e-8);
  }
}

TEST_CASE("solvers refuse what does not fit") {
  const Array a = dense(0.5, DType::f64), b = right_side(DType::f64);
  for (const Solver& solver : all()) {
    CAPTURE(solver.name);
    CHECK_THROWS_AS(solver.solve(hd::ones({n, n - 1}), b, {}), ShapeError);
    CHECK_THROWS_AS(solver.solve(a, hd::ones({n - 1}), {}), ShapeError);
    CHECK_THROWS_AS(solver.solve(a, hd::ones({n, 2}), {}), ShapeError);
    CHECK_THROWS_AS(solver.solve(a, b, {.x0 = hd::ones({n + 1})}), ShapeError);
    CHECK_THROWS_AS(solver.solve(a, b, {.M = hd::ones({2, 2})}), ShapeError);
    CHECK_THROWS_AS(solver.solve(a, b, {.atol = -1}), ValueError);
  }
  CHECK_THROWS_AS(solvers::LinearOperator(hd::ones({n})), ShapeError);
  CHECK_THROWS_AS(solvers::gmres(a, b, {.restart = 0}), ValueError);
}

TEST_CASE(
    "minres solves indefinite and shifted systems, and tells of matrices that it cannot take") {
  const Array i = hd::arange(n), sign = hd::where(i % 2 == 0, 1.0, -1.0);
  const Array a = hd::diag(sign * (1.0 + i.astype(DType::f64))), b = right_side(DType::f64);
  const solvers::Solution made = solvers::minres(a, b, {.rtol = 1e-12, .shift = 0.5});
  CHECK(made.info.item<std::int64_t>() == 0);
  CHECK(distance(made.x, hd::linalg::solve(a - 0.5 * hd::eye(n), b)) < 1e-9);
  CHECK(solvers::minres(a, b, {.rtol = 1e-12, .maxiter = 3}).info.item<std::int64_t>() == 3);
  const solvers::Solution refused = solvers::minres(a, b, {.M = -1.0 * hd::eye(n)});
  CHECK(refused.info.item<std::int64_t>() == -11);
}

/// A matrix of 30 x 12, with elements on three diagonals, and a vector that it does not reach.
Array tall(DType dtype) {
  const Array i = hd::arange(30)(hd::_, hd::newaxis), j = hd::arange(12);
  const Array off = i - 2 * j;
  const Array made = hd::where(hd::abs(off) <= 1, 1.0 + (i + j).astype(DType::f64) / 10.0, 0.0);
  return is_complex(dtype) ? made.astype(dtype) * std::complex<double>(1, 0.5) : made.astype(dtype);
}

TEST_CASE("least squares of sparse, dense and unknown matrices") {
  for (const DType dtype : {DType::f64, DType::c128}) {
    const Array a = tall(dtype), b = hd::sin(hd::arange(30).astype(DType::f64)).astype(dtype);
    const Array back = hd::conj(a.T());
    const Array wanted = hd::linalg::solve(hd::matmul(back, a), hd::matmul(back, b));
    const solvers::LinearOperator unknown(
        {30, 12}, [&](const Array& x) { return hd::matmul(a, x); }, dtype,
        [&](const Array& x) { return hd::matmul(back, x); });
    const std::vector<solvers::LinearOperator> forms{rows(a), sp::to_dia(sp::coo(a)), a, unknown};
    for (std::size_t k = 0; k < (dtype == DType::f64 ? forms.size() : 2); ++k) {
      CAPTURE(k);
      const solvers::LsqrResult one = solvers::lsqr(forms[k], b, {.atol = 1e-12, .btol = 1e-12});
      const solvers::LsmrResult two =
          solvers::lsmr(forms[k], b, {.atol = 1e-12, .btol = 1e-12, .maxiter = 30});
      CHECK(distance(one.x, wanted) < 1e-9);
      CHECK(distance(two.x, wanted) < 1e-9);
      CHECK(one.x.dtype() == dtype);
      CHECK(one.istop.item<std::int64_t>() == 2);
      CHECK(two.istop.item<std::int64_t>() == 2);
      const double left = hd::sqrt(hd::sum(hd::real((b - hd::matmul(a, wanted)) *
                                                    hd::conj(b - hd::matmul(a, wanted)))))
                              .item<double>();
      CHECK(one.r1norm.item<double>() == doctest::Approx(left));
      CHECK(two.normr.item<double>() == doctest::Approx(left));
    }
  }
}

TEST_CASE("damped least squares, first values, few steps and bad input") {
  const Array a = tall(DType::f64), b = hd::sin(hd::arange(30).astype(DType::f64));
  const Array squares = hd::matmul(a.T(), a) + 0.25 * hd::eye(12);
  const Array wanted = hd::linalg::solve(squares, hd::matmul(a.T(), b));
  const auto solve = hd::jit([](const sp::Csr& matrix, const Array& right) {
    return solvers::lsqr(matrix, right,
                         {.damp = 0.5, .atol = 1e-12, .btol = 1e-12, .calc_var = true});
  });
  const solvers::LsqrResult made = solve(rows(a), b);
  CHECK(distance(made.x, wanted) < 1e-9);
  CHECK(hd::min(made.var).item<double>() > 0);
  CHECK(distance(solvers::lsmr(a, b, {.damp = 0.5, .atol = 1e-12, .btol = 1e-12}).x, wanted) <
        1e-9);
  const Array x0 = hd::ones({12});
  CHECK(distance(solvers::lsmr(a, hd::matmul(a, x0), {.x0 = x0}).x, x0) == 0);
  CHECK(distance(solvers::lsqr(a, hd::zeros({30})).x, hd::zeros({12})) == 0);
  const solvers::LsqrResult few = solvers::lsqr(a, b, {.atol = 0, .btol = 0, .maxiter = 3});
  CHECK(few.istop.item<std::int64_t>() == 7);
  CHECK(few.itn.item<std::int64_t>() == 3);
  const Array infinite = b / hd::where(hd::arange(30) == 4, 0.0, 1.0);
  for (const Array& right : {infinite, infinite - infinite}) {
    const solvers::LsqrResult far = solvers::lsqr(a, right);
    CHECK(hd::all(hd::isnan(far.x)).item<bool>());
    CHECK(far.istop.item<std::int64_t>() == 7);
    CHECK(far.itn.item<std::int64_t>() == 24);
    CHECK(hd::all(hd::isnan(solvers::lsmr(a, right).x)).item<bool>());
  }
  CHECK_THROWS_AS(solvers::lsqr(a, hd::ones({12})), ShapeError);
  CHECK_THROWS_AS(solvers::lsmr(a, b, {.x0 = hd::ones({30})}), ShapeError);
  const solvers::LinearOperator one_way({30, 12}, [&](const Array& x) { return hd::matmul(a, x); });
  CHECK_THROWS_AS(solvers::lsmr(one_way, b), ValueError);
}

/// exp(t a) by Taylor's series, for a small t a.
Array exponential(const Array& a, double t) {
  Array term = hd::eye(n, n, 0, a.dtype()), total = term;
  for (int k = 1; k < 40; ++k) {
    term = hd::matmul(term, a) * (t / k);
    total = total + term;
    total.eval();
  }
  return total;
}

TEST_CASE("the exponential of a matrix times vectors and matrices") {
  for (const DType dtype : {DType::f64, DType::c128}) {
    const Array a = dense(0.5, dtype) * 0.25, b = right_side(dtype);
    const Array both = hd::stack({b, 2.0 * b}, 1);
    CHECK(distance(solvers::expm_multiply(rows(a), b), hd::matmul(exponential(a, 1), b)) < 1e-12);
    CHECK(distance(solvers::expm_multiply(rows(a), both, -2),
                   hd::matmul(exponential(a, -2), both)) < 1e-12);
  }
  const Array a = dense(0.5, DType::f64) * 0.25, b = right_side(DType::f64);
  const Array made = solvers::expm_multiply(rows(a), b, solvers::Times{0.5, 1.5, 3});
  CHECK(made.shape() == hd::Shape{3, n});
  for (int k = 0; k < 3; ++k) {
    CHECK(distance(made(k), hd::matmul(exponential(a, 0.5 + 0.5 * k), b)) < 1e-12);
  }
  const Array open = solvers::expm_multiply(
      rows(a), b, solvers::Times{.start = 0, .stop = 1, .num = 2, .endpoint = false});
  CHECK(distance(open(1), hd::matmul(exponential(a, 0.5), b)) < 1e-12);
  CHECK_THROWS_AS(solvers::expm_multiply(rows(a), b, solvers::Times{0, 1, 0}), ValueError);
  CHECK_THROWS_AS(solvers::expm_multiply(rows(a), hd::ones({n + 1})), ShapeError);
  CHECK_THROWS_AS(solvers::expm_multiply(rows(tall(DType::f64)), hd::ones({12})), ShapeError);
}

}  // namespace
}  // namespace heddle::test

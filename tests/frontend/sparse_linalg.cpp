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
                                        {"cgs", solvers::cgs, 0.5},
                                        {"bicgstab", solvers::bicgstab, 0.5},
                                        {"gmres", solvers::gmres, 0.5}};
  return made;
}

TEST_CASE("solvers reach the solution, in each dtype") {
  const std::vector<std::pair<std::size_t, DType>> cases{
      {0, DType::f64},  {0, DType::c64}, {1, DType::f64}, {2, DType::f32},
      {2, DType::c128}, {3, DType::f64}, {3, DType::c64}};
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

}  // namespace
}  // namespace heddle::test

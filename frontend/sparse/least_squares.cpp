#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/reductions.h"

#include "frontend/array/access.h"
#include "frontend/array/promote.h"
#include "frontend/graph/record.h"
#include "frontend/sparse/systems.h"

// Least squares. Each step is SciPy's, after Paige and Saunders, and Fong and Saunders;
// heddle/sparse/linalg/_least_squares.py has the same for Python.

namespace heddle::sparse::linalg {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A stable Givens rotation: c a + s b = r, s a = c b.
struct Rotation {
  Array c, s, r;
};

Rotation rotation(const Array& a, const Array& b) {
  const Array steep = abs(b) > abs(a);
  const Array large = where(steep, b, a), tau = where(steep, a, b) / nonzero_of(large);
  const Array main = sign(large) / sqrt(1.0 + tau * tau);
  return {where(steep, main * tau, main), where(steep, main, main * tau), large / nonzero_of(main)};
}

/// The bidiagonalisation of the matrix.
struct Bidiagonal {
  Array u, v, alpha, beta;
};
HEDDLE_STRUCT(Bidiagonal, u, v, alpha, beta)

/// A problem, checked, in float64 or complex128.
class Problem {
 public:
  Problem(std::string_view name, const LinearOperator& a, const Operand& b,
          const LeastSquaresOptions& options)
      : matvec_(a.matvec), rmatvec_(a.adjoint()) {
    const Array given = frontend::Access::make(frontend::node_of(name, b));
    const auto check = [&](const char* what, const Array& x, std::int64_t extent) {
      if (x.shape() == Shape{extent}) return;
      throw ShapeError(frontend::at(
          fmt::format("{}: {} must be a vector of {} elements, for a matrix of {} x {}", name, what,
                      extent, a.shape[0], a.shape[1]),
          b.where()));
    };
    check("b", given, a.shape[0]);
    if (options.x0) check("x0", *options.x0, a.shape[1]);
    const DType dtype = promote_types(promote_types(a.dtype, given.dtype()), DType::f64);
    const Array right = given.astype(dtype);
    x = options.x0 ? options.x0->astype(dtype) : zeros({a.shape[1]}, dtype);
    Array residual = options.x0 ? right - matvec_(x) : right;
    unit = unit_of(right, residual, true);  // a test compares with eps
    x = x / unit;
    residual = residual / unit;
    b_norm = length(right / unit);
    first.beta = length(residual);
    first.u = residual / nonzero_of(first.beta);
    const Array v = where(first.beta == 0, zeros_like(x), rmatvec_(first.u));
    first.alpha = length(v);
    first.v = v / nonzero_of(first.alpha);
  }

  /// The next column; `there` says whether there is one.
  Bidiagonal next(const Bidiagonal& s, Array& there) const {
    Bidiagonal made;
    const Array u = matvec_(s.v) - s.alpha * s.u;
    made.beta = length(u);
    there = made.beta != 0;  // NaN goes on
    made.u = u / nonzero_of(made.beta);
    const Array v = where(there, rmatvec_(made.u) - made.beta * s.v, s.v);
    made.alpha = where(there, length(v), s.alpha);
    made.v = where(there, v / nonzero_of(made.alpha), v);
    return made;
  }

  Array x, b_norm;
  Array unit;  ///< x and the residuals are in multiples of it
  Bidiagonal first;

 private:
  LinearOperator::Product matvec_, rmatvec_;
};

/// SciPy's istop: of several reasons to stop, the last counts. The tests are the errors relative to
/// b, to a, and of the condition.
Array reason(const Array& itn, std::int64_t limit, const Array& test1, const Array& test2,
             const Array& test3, const Array& t1, const Array& rtol,
             const LeastSquaresOptions& options) {
  const double ctol = options.conlim > 0 ? 1 / options.conlim : 0;
  Array stop = array<std::int64_t>(0);
  const auto stops = [&](const Array& condition, int why) { stop = where(condition, why, stop); };
  stops(itn >= limit, 7);
  stops(1.0 + test3 <= 1.0, 6);
  stops(1.0 + test2 <= 1.0, 5);
  stops(1.0 + t1 <= 1.0, 4);
  stops(test3 <= ctol, 3);
  stops(test2 <= options.atol, 2);
  stops(test1 <= rtol, 1);
  return stop;
}

struct LsqrState {
  LsqrResult result;
  Bidiagonal parts;
  Array w, rhobar, phibar, ddnorm, res2, xxnorm, z, cs2, sn2;
};
HEDDLE_STRUCT(LsqrState, result, parts, w, rhobar, phibar, ddnorm, res2, xxnorm, z, cs2, sn2)

LsqrState lsqr_step(const Problem& problem, const LsqrState& s, std::int64_t limit,
                    const LeastSquaresOptions& options) {
  LsqrState made = s;
  LsqrResult& result = made.result;
  const double damp = options.damp, eps = std::numeric_limits<double>::epsilon();
  Array there;
  made.parts = problem.next(s.parts, there);
  const auto& [u, v, alpha, beta] = made.parts;
  const Array square = result.anorm * result.anorm;
  result.anorm =
      where(there, sqrt(square + s.parts.alpha * s.parts.alpha + beta * beta + damp * damp),
            result.anorm);
  // The rotation that removes damp, then the one that removes beta.
  const Array rhobar = damp > 0 ? sqrt(s.rhobar * s.rhobar + damp * damp) : s.rhobar;
  const Array psi = damp > 0 ? damp / rhobar * s.phibar : zeros_like(s.phibar);
  const Array phibar = damp > 0 ? s.rhobar / rhobar * s.phibar : s.phibar;
  const auto [cs, sn, rho] = rotation(rhobar, beta);
  const Array theta = sn * alpha, phi = cs * phibar;
  made.rhobar = -cs * alpha;
  made.phibar = sn * phibar;
  const Array moved = s.w / rho, size = length(moved);
  result.x = result.x + phi * moved;
  made.w = v - theta / rho * s.w;
  made.ddnorm = s.ddnorm + size * size;
  // The norm of x.
  const Array gambar = -s.cs2 * rho, rhs = phi - s.sn2 * rho * s.z, last = rhs / gambar;
  result.xnorm = sqrt(s.xxnorm + last * last);
  const Array gamma = hypot(gambar, theta);
  made.cs2 = gambar / gamma;
  made.sn2 = theta / gamma;
  made.z = rhs / gamma;
  made.xxnorm = s.xxnorm + made.z * made.z;
  result.acond = result.anorm * sqrt(made.ddnorm);
  made.res2 = s.res2 + psi * psi;
  result.r2norm = sqrt(made.phibar * made.phibar + made.res2);
  result.arnorm = alpha * abs(sn * phi);
  const Array difference = result.r2norm * result.r2norm - damp * damp * made.xxnorm;
  result.r1norm = damp > 0 ? sign(difference) * sqrt(abs(difference)) : result.r2norm;
  if (options.calc_var) result.var = result.var + real(moved * conj(moved));
  result.itn = result.itn + 1;
  const Array test1 = result.r2norm / problem.b_norm,
              scale = result.anorm * result.xnorm / problem.b_norm;
  result.istop =
      reason(result.itn, limit, test1, result.arnorm / (result.anorm * result.r2norm + eps),
             1.0 / (result.acond + eps), test1 / (1.0 + scale), options.btol + options.atol * scale,
             options);
  return made;
}

/// What lsmr rotates, the estimate of the residual's norm, and that of the condition.
struct LsmrState {
  LsmrResult result;
  Bidiagonal parts;
  std::array<Array, 9> rotations;
  std::array<Array, 6> residual;
  std::array<Array, 3> condition;
};
HEDDLE_STRUCT(LsmrState, result, parts, rotations, residual, condition)

LsmrState lsmr_step(const Problem& problem, const LsmrState& s, std::int64_t limit,
                    const LeastSquaresOptions& options) {
  LsmrState made = s;
  LsmrResult& result = made.result;
  Array there;
  made.parts = problem.next(s.parts, there);
  const auto& [u, v, alpha, beta] = made.parts;
  // The rotations that make the bidiagonal matrix triangular.
  const auto& [h0, hbar0, alphabar0, rho0, rhobar0, cbar0, sbar0, zeta0, zetabar0] = s.rotations;
  const auto [chat, shat, alphahat] = rotation(alphabar0, full({}, options.damp));
  const auto [c, sine, rho] = rotation(alphahat, beta);
  const Array thetanew = sine * alpha, thetabar = sbar0 * rho, rhotemp = cbar0 * rho;
  const auto [cbar, sbar, rhobar] = rotation(rhotemp, thetanew);
  const Array zeta = cbar * zetabar0, zetabar = -sbar * zetabar0;
  const Array hbar = h0 - thetabar * rho / (rho0 * rhobar0) * hbar0;
  result.x = result.x + zeta / (rho * rhobar) * hbar;
  const Array h = v - thetanew / rho * h0;
  made.rotations = {h, hbar, c * alpha, rho, rhobar, cbar, sbar, zeta, zetabar};
  // The norm of the residual.
  const auto& [betadd0, betad0, rhod0, tautilde0, thetatilde0, d0] = s.residual;
  const Array acute = chat * betadd0, check = -shat * betadd0;
  const Array betahat = c * acute, betadd = -sine * acute;
  const auto [ctilde, stilde, rhotilde] = rotation(rhod0, thetabar);
  const Array thetatilde = stilde * rhobar, rhod = ctilde * rhobar;
  const Array betad = -stilde * betad0 + ctilde * betahat;
  const Array tautilde = (zeta0 - thetatilde0 * tautilde0) / rhotilde;
  const Array far = betad - (zeta - thetatilde * tautilde) / rhod, d = d0 + check * check;
  made.residual = {betadd, betad, rhod, tautilde, thetatilde, d};
  result.normr = sqrt(d + far * far + betadd * betadd);
  // The norm and the condition of the matrix.
  const auto& [square0, most0, least0] = s.condition;
  const Array square = square0 + beta * beta, most = maximum(most0, rhobar0);
  result.itn = result.itn + 1;
  const Array least = where(result.itn > 1, minimum(least0, rhobar0), least0);
  made.condition = {square + alpha * alpha, most, least};
  result.norma = sqrt(square);
  result.conda = maximum(most, rhotemp) / minimum(least, rhotemp);
  result.normar = abs(zetabar);
  result.normx = length(result.x);
  const Array product = result.norma * result.normr, test1 = result.normr / problem.b_norm;
  const Array test2 = where(product != 0, result.normar / nonzero_of(product), infinite);
  const Array scale = result.norma * result.normx / problem.b_norm;
  result.istop = reason(result.itn, limit, test1, test2, 1.0 / result.conda, test1 / (1.0 + scale),
                        options.btol + options.atol * scale, options);
  return made;
}

}  // namespace

LsqrResult lsqr(const LinearOperator& a, const Operand& b, const LeastSquaresOptions& options) {
  const Problem problem("lsqr", a, b, options);
  const std::int64_t limit = options.maxiter.value_or(2 * a.shape[1]);
  const auto& [u, v, alpha, beta] = problem.first;
  const Array zero = zeros_like(beta), none = array<std::int64_t>(0);
  const LsqrState first{
      {problem.x, none, none, beta, beta, zero, zero, alpha * beta, zero, zeros({a.shape[1]})},
      problem.first,
      v,
      alpha,
      beta,
      zero,
      zero,
      zero,
      zero,
      zero - 1.0,
      zero};
  const Array idle = alpha * beta == 0;
  const auto far = [&](const LsqrState& s) {
    return (s.result.istop == 0) & (s.result.itn < limit) & ~idle;
  };
  LsqrResult made =
      while_loop(
          far, [&](const LsqrState& s) { return lsqr_step(problem, s, limit, options); }, first)
          .result;
  for (Array* each : {&made.x, &made.r1norm, &made.r2norm, &made.arnorm, &made.xnorm})
    *each = *each * problem.unit;
  return made;
}

LsmrResult lsmr(const LinearOperator& a, const Operand& b, const LeastSquaresOptions& options) {
  const Problem problem("lsmr", a, b, options);
  const std::int64_t limit = options.maxiter.value_or(std::min(a.shape[0], a.shape[1]));
  const auto& [u, v, alpha, beta] = problem.first;
  const Array zero = zeros_like(beta), one = ones_like(beta), none = array<std::int64_t>(0);
  const Array start = alpha * beta, idle = start == 0;
  const LsmrState first{{problem.x, none, none, beta, start, alpha, one, zero},
                        problem.first,
                        {v, zeros_like(problem.x), alpha, one, one, one, zero, zero, start},
                        {beta, zero, one, zero, zero, zero},
                        {alpha * alpha, zero, zero + 1e100}};
  const auto far = [&](const LsmrState& s) {
    return (s.result.istop == 0) & (s.result.itn < limit) & ~idle & (problem.b_norm != 0);
  };
  LsmrResult made =
      while_loop(
          far, [&](const LsmrState& s) { return lsmr_step(problem, s, limit, options); }, first)
          .result;
  // Without a right side the result is 0, whatever x0 is.
  made.x = where((problem.b_norm == 0) & ~idle, zeros_like(made.x), made.x);
  for (Array* each : {&made.x, &made.normr, &made.normar, &made.normx})
    *each = *each * problem.unit;
  return made;
}

}  // namespace heddle::sparse::linalg

#include <limits>

#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"

#include "frontend/sparse/systems.h"

// Minimal residuals for Hermitian matrices. Each step is SciPy's; heddle/sparse/linalg/_minres.py
// has the same for Python, where steps may have callbacks.

namespace heddle::sparse::linalg {

namespace {

constexpr int solved = 1, at_limit = 6, not_symmetric = 9;

struct State {
  Array itn, stop, x, y, r1, r2, w, w2, oldb, beta, dbar, epsln, phibar, cs, sn, tnorm2, gmax, gmin;
};
HEDDLE_STRUCT(State, itn, stop, x, y, r1, r2, w, w2, oldb, beta, dbar, epsln, phibar, cs, sn,
              tnorm2, gmax, gmin)

class Minres {
 public:
  Minres(const System& system, double rtol, double shift)
      : system_(system), rtol_(rtol), shift_(shift), eps_(finfo(system.dtype).eps) {}

  Solution solve() const {
    const Array y = system_.psolve(system_.r), square = real(inner(system_.r, y));
    const Array beta = sqrt(maximum(square, 0)), zero = zeros_like(beta),
                none = zeros_like(system_.b);
    const Array idle = (square == 0) | (system_.b_norm == 0);
    const Array stop = where(square < 0, not_symmetric, where(idle, solved, 0));
    const State first{array<std::int64_t>(0),
                      stop.astype(DType::i64),
                      system_.x,
                      y,
                      system_.r,
                      system_.r,
                      none,
                      none,
                      zero,
                      beta,
                      zero,
                      zero,
                      beta,
                      zero - 1.0,
                      zero,
                      zero,
                      zero,
                      zero + finfo(system_.dtype).max};
    const auto far = [&](const State& s) { return (s.stop == 0) & (s.itn < system_.maxiter); };
    const State last = while_loop(far, [&](const State& s) { return step(s, beta); }, first);
    const Array limit = full({}, system_.maxiter, DType::i64);
    // Without steps, maxiter is not a reason to stop.
    return {last.x * system_.unit,
            where(last.stop == at_limit, limit, where(last.stop == not_symmetric, -11, 0))};
  }

 private:
  State step(const State& s, const Array& beta1) const {
    State made = s;
    const Array v = s.y * (1.0 / s.beta);
    Array y = system_.matvec(v) - shift_ * v;
    y = y - where(s.itn > 0, s.beta / s.oldb, 0) * s.r1;
    const Array alfa = real(inner(v, y));
    y = y - alfa / s.beta * s.r2;
    made.r1 = s.r2;
    made.r2 = y;
    made.y = system_.psolve(y);
    const Array square = real(inner(y, made.y)), beta = sqrt(maximum(square, 0));
    made.oldb = s.beta;
    made.beta = beta;
    made.tnorm2 = s.tnorm2 + alfa * alfa + s.beta * s.beta + beta * beta;
    // The last rotation, then the next.
    const Array delta = s.cs * s.dbar + s.sn * alfa, gbar = s.sn * s.dbar - s.cs * alfa;
    made.epsln = s.sn * beta;
    made.dbar = -s.cs * beta;
    const Array root = hypot(gbar, made.dbar), gamma = maximum(hypot(gbar, beta), eps_);
    made.cs = gbar / gamma;
    made.sn = beta / gamma;
    made.phibar = made.sn * s.phibar;
    made.w2 = s.w;
    made.w = (v - s.epsln * s.w2 - delta * s.w) * (1.0 / gamma);
    made.x = s.x + made.cs * s.phibar * made.w;
    made.gmax = maximum(s.gmax, gamma);
    made.gmin = minimum(s.gmin, gamma);
    made.itn = s.itn + 1;
    made.stop = reason(made, beta1, root, square);
    return made;
  }

  /// Of several reasons to stop, the last counts.
  Array reason(const State& s, const Array& beta1, const Array& root, const Array& square) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const Array a_norm = sqrt(s.tnorm2), x_norm = length(s.x), product = a_norm * x_norm;
    const Array test1 = where(product == 0, infinite, s.phibar / nonzero_of(product));
    const Array test2 = where(a_norm == 0, infinite, root / nonzero_of(a_norm));
    Array stop = array<std::int64_t>(0);
    const auto stops = [&](const Array& condition, int why) { stop = where(condition, why, stop); };
    stops(1.0 + test2 <= 1.0, 2);
    stops(1.0 + test1 <= 1.0, solved);
    stops(s.itn >= system_.maxiter, at_limit);
    stops(s.gmax / s.gmin >= 0.1 / eps_, 4);
    stops(product * eps_ >= beta1, 3);
    stops(test2 <= rtol_, 2);
    stops(test1 <= rtol_, solved);
    stops((s.itn == 1) & (s.beta / beta1 <= 10 * eps_), -1);
    stops(square < 0, not_symmetric);
    return stop;
  }

  const System& system_;
  double rtol_, shift_, eps_;
};

}  // namespace

Solution minres(const LinearOperator& a, const Operand& b, const SolverOptions& options) {
  SolverOptions given = options;
  if (!given.maxiter) given.maxiter = 5 * a.shape[0];
  return Minres(make_system("minres", a, b, given), options.rtol, options.shift).solve();
}

}  // namespace heddle::sparse::linalg

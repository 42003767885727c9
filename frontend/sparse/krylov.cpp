#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"

#include "frontend/sparse/systems.h"

// Conjugate gradients and their relatives. Each step is SciPy's; heddle/sparse/linalg/_krylov.py
// has the same for Python, where steps may have callbacks.

namespace heddle::sparse::linalg {

namespace {

constexpr int running = 1;

double least_of(DType dtype) {
  const double eps = finfo(dtype).eps;
  return eps * eps;
}

/// Steps until the residual is small enough, `code` says to stop, or maxiter is reached. State has
/// the fields k, x, r and code.
template <class State, class Step>
Solution solve(const System& system, State state, const Step& step) {
  const auto checked = [&](const State& s) {
    return where((s.code == running) & (length(s.r) < system.limit), 0, s.code);
  };
  const auto next = [&](const State& s) {
    State made = step(s);
    made.k = s.k + 1;
    // As in SciPy, the last residual is not looked at once maxiter is reached.
    made.code = where(made.k < system.maxiter, checked(made), made.code);
    return made;
  };
  const auto far = [&](const State& s) { return (s.code == running) & (s.k < system.maxiter); };
  state.k = array<std::int64_t>(0);
  state.x = system.x;
  state.r = system.r;
  state.code = where(system.b_norm == 0, 0, full({}, running, DType::i64));
  if (system.maxiter > 0) state.code = checked(state);
  state = while_loop(far, next, state);
  return {state.x * system.unit, where(state.code == running, system.maxiter, state.code)};
}

struct CgState {
  Array k, code, x, r, p, rho;
};
HEDDLE_STRUCT(CgState, k, code, x, r, p, rho)

struct CgsState {
  Array k, code, x, r, p, q, rho;
};
HEDDLE_STRUCT(CgsState, k, code, x, r, p, q, rho)

struct StableState {
  Array k, code, x, r, p, v, rho, alpha, omega;
};
HEDDLE_STRUCT(StableState, k, code, x, r, p, v, rho, alpha, omega)

StableState stable_step(const System& system, const StableState& state) {
  const double least = least_of(system.dtype);
  const Array first = state.k == 0;
  const Array rho = inner(system.r, state.r);
  const Array beta = rho / state.rho * (state.alpha / state.omega);
  const Array moved = beta * (state.p - state.omega * state.v) + state.r;
  StableState next = state;
  next.p = where(first, state.r, moved);
  next.rho = rho;
  const Array direction = system.psolve(next.p);
  next.v = system.matvec(direction);
  const Array rv = inner(system.r, next.v);
  next.alpha = rho / rv;
  const Array s = state.r - next.alpha * next.v;
  const Array half = length(s) < system.limit;  // half of the step is enough
  const Array stable = system.psolve(s), t = system.matvec(stable);
  const Array omega = inner(t, s) / inner(t, t);
  next.omega = where(half, ones_like(omega), omega);
  const Array broken = ~first & (abs(state.omega) < least);
  const Array code = where(abs(rho) < least, -10, where(broken | (rv == 0), -11, state.code));
  const Array x = state.x + next.alpha * direction;
  next.x = where(code == running, where(half, x, x + next.omega * stable), state.x);
  next.r = where(half, s, s - next.omega * t);
  next.code = where((code == running) & half, 0, code);
  return next;
}

}  // namespace

Solution cg(const LinearOperator& a, const Operand& b, const SolverOptions& options) {
  const System system = make_system("cg", a, b, options);
  const auto step = [&](const CgState& state) {
    CgState next = state;
    const Array z = system.psolve(state.r);
    next.rho = inner(state.r, z);
    next.p = z + next.rho / state.rho * state.p;
    const Array q = system.matvec(next.p);
    const Array alpha = next.rho / inner(next.p, q);
    next.x = state.x + alpha * next.p;
    next.r = state.r - alpha * q;
    return next;
  };
  CgState state;
  state.p = zeros_like(system.b);
  state.rho = ones({}, system.dtype);
  return solve(system, state, step);
}

Solution cgs(const LinearOperator& a, const Operand& b, const SolverOptions& options) {
  const System system = make_system("cgs", a, b, options);
  const double least = least_of(system.dtype);
  const auto step = [&](const CgsState& state) {
    CgsState next = state;
    next.rho = inner(system.r, state.r);
    const Array beta = next.rho / state.rho;
    const Array u = state.r + beta * state.q;
    next.p = u + beta * (state.q + beta * state.p);
    const Array v = system.matvec(system.psolve(next.p));
    const Array rv = inner(system.r, v);
    const Array alpha = next.rho / rv;
    next.q = u - alpha * v;
    const Array moved = state.x + alpha * system.psolve(u + next.q);
    next.code = where(abs(next.rho) < least, -10, where(rv == 0, -11, state.code));
    next.x = where(next.code == running, moved, state.x);
    next.r = system.b - system.matvec(next.x);
    return next;
  };
  CgsState state;
  state.p = state.q = zeros_like(system.b);
  state.rho = ones({}, system.dtype);
  return solve(system, state, step);
}

Solution bicgstab(const LinearOperator& a, const Operand& b, const SolverOptions& options) {
  const System system = make_system("bicgstab", a, b, options);
  StableState state;
  state.p = state.v = zeros_like(system.b);
  state.rho = state.alpha = state.omega = ones({}, system.dtype);
  return solve(system, state,
               [&](const StableState& before) { return stable_step(system, before); });
}

}  // namespace heddle::sparse::linalg

#include <algorithm>

#include <fmt/format.h>

#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/linear_algebra.h"
#include "heddle/reductions.h"

#include "frontend/graph/record.h"
#include "frontend/sparse/systems.h"

// Generalised minimal residuals, as in heddle/sparse/linalg/_minimal_residuals.py. A cycle keeps,
// for each of its steps, a basis vector v and a direction p in which the solution moves. `turn` is
// the product of all rotations so far; a column of the Hessenberg matrix is turned by one small
// product. The column of the triangular factor says how p follows from v and the directions before,
// so the solution is there after each step.

namespace heddle::sparse::linalg {

namespace {

struct Inner {
  Array k, x, basis, moves, turn, left, exact;
};
HEDDLE_STRUCT(Inner, k, x, basis, moves, turn, left, exact)

struct Outer {
  Array cycles, x, r, size, factor, goal, stuck;
};
HEDDLE_STRUCT(Outer, cycles, x, r, size, factor, goal, stuck)

struct Rotation {
  Array c, s, r;
};

/// c is real, c a + s b = r and -conj(s) a + c b = 0, for a real b that is not negative.
Rotation rotation(const Array& a, const Array& b) {
  const Array size = abs(a), r = hypot(size, b), safe = nonzero_of(r);
  const Array phase = where(size == 0, ones_like(a), a / nonzero_of(size));
  return {where(r == 0, ones_like(r), size / safe), phase * (b / safe), phase * r};
}

class Gmres {
 public:
  Gmres(const System& system, std::int64_t restart)
      : system_(system),
        restart_(std::min(restart, system.b.shape()[0])),
        eps_(finfo(system.dtype).eps),
        rows_(arange<std::int64_t>(restart_ + 1)) {}

  Solution solve() const {
    const Array zero = where(system_.b_norm == 0, zeros_like(system_.r), system_.r);
    const Array norm = nonzero_of(system_.b_norm);
    const Outer first{array<std::int64_t>(0),
                      system_.x,
                      zero,
                      length(zero),
                      ones_like(system_.b_norm),
                      length(system_.psolve(system_.b)) * minimum(system_.limit / norm, 1.0),
                      array(false)};
    const auto far = [&](const Outer& s) {
      // The residual at the start has to be below the tolerance, later ones may equal it.
      const Array above = where(s.cycles == 0, s.size >= system_.limit, s.size > system_.limit);
      return above & (s.cycles < system_.maxiter) & ~s.stuck & (system_.b_norm > 0);
    };
    const Outer last = while_loop(far, [&](const Outer& s) { return cycle(s); }, first);
    return {last.x * system_.unit,
            where(last.size <= system_.limit, 0, full({}, system_.maxiter, DType::i64))};
  }

 private:
  /// Element or row k of an array, for a computed k.
  Array at(const Array& x, const Array& k) const {
    const Array chosen = rows_ == k;
    if (x.shape().size() == 1) return sum(where(chosen, x, zeros_like(x)));
    return sum(where(chosen(_, newaxis), x, zeros_like(x)), {0});
  }

  Array with_row(const Array& x, const Array& k, const Array& row) const {
    const Array rows = x.shape()[0] == restart_ ? rows_(slice(restart_)) : rows_;
    return where((rows == k)(_, newaxis), row, x);
  }

  Inner step(const Inner& state, const Array& size) const {
    const Array k = state.k, next = k + 1;
    const Array v = at(state.basis, k);
    Array w = system_.psolve(system_.matvec(v));
    const Array before = length(w);
    // Gram-Schmidt twice, which is as good as orthogonal. Rows that are not there yet are 0.
    const Array first = matmul(conj(state.basis), w);
    w = w - matmul(first, state.basis);
    const Array second = matmul(conj(state.basis), w);
    w = w - matmul(second, state.basis);
    Array after = length(w);
    Inner made = state;
    made.exact = after <= eps_ * before;
    w = w / where(made.exact, ones_like(after), after);
    after = where(made.exact, zeros_like(after), after);
    Array column =
        first + second + where(rows_ == next, after, zeros_like(after)).astype(system_.dtype);
    column = matmul(state.turn, column);
    const auto [c, s, found] = rotation(at(column, k), real(at(column, next)));
    // A product that depends on those before moves nothing.
    const Array pivot = where(abs(found) <= eps_ * before, 0, found);
    const Array row = at(state.turn, k), below = at(state.turn, next);
    made.turn =
        with_row(with_row(state.turn, k, c * row + s * below), next, c * below - conj(s) * row);
    const Array above = where(rows_ < k, column, zeros_like(column))(slice(restart_));
    const Array p = (v - matmul(above, state.moves)) / nonzero_of(pivot);
    const Array corner = made.turn(_, 0);
    const Array side = size * at(corner, k);
    made.x = state.x + where(pivot == 0, zeros_like(side), side) * p;
    made.left = size * abs(at(corner, next));
    made.basis = with_row(state.basis, next, w);
    made.moves = with_row(state.moves, k, p);
    made.k = next;
    return made;
  }

  Outer cycle(const Outer& state) const {
    const Array r = system_.psolve(state.r), size = length(r), v = r / nonzero_of(size);
    const std::int64_t n = r.shape()[0];
    const Inner first{array<std::int64_t>(0),
                      state.x,
                      with_row(zeros({restart_ + 1, n}, system_.dtype), array<std::int64_t>(0), v),
                      zeros({restart_, n}, system_.dtype),
                      eye(restart_ + 1, restart_ + 1, 0, system_.dtype),
                      size,
                      array(false)};
    const auto inside = [&](const Inner& s) {
      return (s.k < restart_) & ~s.exact & ((s.k == 0) | (s.left > state.goal));
    };
    const Inner last = while_loop(inside, [&](const Inner& s) { return step(s, size); }, first);
    const Array residual = system_.b - system_.matvec(last.x), left = length(residual);
    const Array factor = where(last.left <= state.goal, maximum(0.25 * state.factor, eps_),
                               minimum(1.5 * state.factor, 1.0));
    const Array goal = last.left * minimum(factor, system_.limit / nonzero_of(left));
    return {state.cycles + 1, last.x, residual, left, factor, goal, last.exact};
  }

  const System& system_;
  std::int64_t restart_;
  double eps_;
  Array rows_;
};

}  // namespace

Solution gmres(const LinearOperator& a, const Operand& b, const SolverOptions& options) {
  if (options.restart <= 0) {
    throw ValueError(frontend::at(
        fmt::format("gmres: restart is {}, but must be positive", options.restart), b.where()));
  }
  const System system = make_system("gmres", a, b, options);
  return Gmres(system, options.restart).solve();
}

}  // namespace heddle::sparse::linalg

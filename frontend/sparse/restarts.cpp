#include "frontend/sparse/restarts.h"

#include <algorithm>

#include "heddle/control.h"
#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/dynamic_slices.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"
#include "heddle/rearranging.h"
#include "heddle/reductions.h"

#include "frontend/sparse/lengths.h"

namespace heddle::sparse::linalg {

namespace {

/// The basis, [ncv + 1, n], the operator in it, and the length of the last vector before it was
/// made one of length 1.
struct Basis {
  Array vectors, matrix, next;
};
HEDDLE_STRUCT(Basis, vectors, matrix, next)

struct State {
  Basis basis;
  Array values, coefficients;  ///< Ritz values, and vectors in terms of the basis
  Array locked, converged, unrivalled, cycles, round, more;
};
HEDDLE_STRUCT(State, basis, values, coefficients, locked, converged, unrivalled, cycles, round,
              more)

void evaluate(const Basis& basis) { eval({basis.vectors, basis.matrix, basis.next}); }

void evaluate(const State& state) {
  eval({state.basis.vectors, state.basis.matrix, state.basis.next, state.values, state.coefficients,
        state.locked, state.converged, state.unrivalled, state.cycles, state.round, state.more});
}

class Iteration {
 public:
  Iteration(const RestartMethod& method, const LinearOperator::Product& matvec, const Array& start,
            const Array& noise, const RestartOptions& options)
      : method_(method),
        matvec_(matvec),
        start_(start),
        noise_(noise),
        options_(options),
        n_(start.shape()[0]),
        size_(options.ncv),
        k_(options.k),
        dtype_(start.dtype()) {}

  Eigenpairs solve() const {
    const Array none = array(false), zero = array<std::int64_t>(0);
    const State first{
        {zeros({size_ + 1, n_}, dtype_), zeros({size_, size_}, dtype_), zeros({}, noise_.dtype())},
        zeros({size_}, method_.value_dtype),
        zeros({size_, size_}, dtype_),
        zeros({size_}, DType::boolean),
        zeros({k_}, DType::boolean),
        none,
        zero,
        zero,
        array(true)};
    // A round that finds something finds one vector of each value at least.
    const State last = loop([&](const State& s) { return s.more & (s.round < k_ + 2); },
                            [&](const State& s) { return round(s); }, first);
    const Array vectors =
        matmul(last.basis.vectors(slice(size_)).T(), last.coefficients(_, slice(k_)));
    return {last.values(slice(k_)), vectors, last.converged};
  }

 private:
  template <class Condition, class Step>
  State loop(const Condition& condition, const Step& step, State state) const {
    if (!options_.step_by_step) return while_loop(condition, step, state);
    while (condition(state).template item<bool>()) {
      state = step(state);
      evaluate(state);
    }
    return state;
  }

  Array noise_of(double factor, const Array& number) const {
    return sin(noise_ * (factor * (number.astype(noise_.dtype()) + 1.0))).astype(dtype_);
  }

  /// The basis with the next vector, from w, the product with vector j.
  Basis appended(const Array& j, Array w, const Basis& basis, const Array& locked) const {
    const double eps = finfo(dtype_).eps;
    const Array& vectors = basis.vectors;
    const Array before = length(w);
    Array along = matmul(conj(vectors), w);
    w = w - matmul(along, vectors);
    // The basis spans an invariant subspace: it goes on with a vector that has no part in it.
    const Array closed = length(w) <= 10 * eps * before;
    w = where(closed, noise_of(997, j), w);
    // A random vector may lie almost inside of a basis of nearly the whole space.
    for (int pass = n_ < 4 * size_ ? 2 : 1; pass > 0; --pass) {
      const Array rest = matmul(conj(vectors), w);
      w = w - matmul(rest, vectors);
      along = along + where(closed, zeros_like(rest), rest);
    }
    const Array after = length(w), vector = w / where(after == 0, ones_like(after), after);
    const Array next = where(closed, zeros_like(after), after);
    return {dynamic_update_index_in_dim(vectors, vector, j + 1, 0),
            method_.with_products(basis.matrix, j, along(slice(size_)), next, locked), next};
  }

  /// The state with its basis from vector `first` on, of which that vector is there.
  State extended(State state, const Array& first) const {
    const auto step = [&](const Array& j, const Basis& basis) {
      const Array row = dynamic_index_in_dim(basis.vectors, j, 0, false);
      return appended(j, matvec_(row).astype(dtype_), basis, state.locked);
    };
    if (!options_.step_by_step) {
      state.basis = fori_loop(first, size_, step, state.basis);
      return state;
    }
    for (auto j = first.item<std::int64_t>(); j < size_; ++j) {
      // An argument, not a constant, so that all steps run one program.
      state.basis = step(array(j), state.basis);
      evaluate(state.basis);
    }
    return state;
  }

  /// The state with the Ritz pairs of its basis.
  State described(State state, const Array& cycles) const {
    const Wanted& wanted = method_.wanted;
    const auto [values, coefficients, held] = method_.solved(state.basis.matrix, state.locked);
    const Array order = wanted.order(values, held);
    state.values = values(order);
    state.coefficients = coefficients(_, order);
    const Array errors = state.basis.next * abs(state.coefficients(-1));
    state.cycles = cycles;
    state.converged = wanted.converged(state.values, errors);
    state.unrivalled = (state.round == 0) | wanted.unrivalled(state.values, errors);
    return state;
  }

  Projection projected(const State& state, std::int64_t keep) const {
    return method_.projected({state.values, state.coefficients, state.locked}, state.basis.matrix,
                             keep);
  }

  /// The next cycle: its basis begins with the best Ritz vectors and the vector that comes next.
  State cycle(State state) const {
    const std::int64_t keep = std::min(k_ + (size_ - k_) / 2, size_ - 1);
    const auto [turn, inner] = projected(state, keep);
    const Array& vectors = state.basis.vectors;
    const Array last = (state.basis.next * turn(-1))(newaxis, _);
    const Array matrix = concatenate({inner, last, zeros({size_ - keep - 1, keep}, dtype_)});
    state.basis.vectors =
        concatenate({matmul(turn.T(), vectors(slice(size_))), vectors(slice(size_, none)),
                     zeros({size_ - keep, n_}, dtype_)});
    state.basis.matrix = concatenate({matrix, zeros({size_, size_ - keep}, dtype_)}, 1);
    state.locked = concatenate({state.converged, zeros({size_ - k_}, DType::boolean)});
    const Array cycles = state.cycles + 1;
    return described(extended(std::move(state), array(keep)), cycles);
  }

  /// The first cycle of a round: its basis begins with the k best Ritz vectors and a random one; in
  /// round 0 with `start`.
  State first_cycle(State state) const {
    const Array is_first = state.round == 0;
    auto [turn, inner] = projected(state, k_);
    Array best = matmul(turn.T(), state.basis.vectors(slice(size_)));
    best = where(is_first, zeros_like(best), best);
    inner = where(is_first, zeros_like(inner), inner);
    Array vector = where(is_first, start_, noise_of(991, state.round));
    for (int pass = 0; pass < 2; ++pass) vector = vector - matmul(matmul(conj(best), vector), best);
    const Array first = where(is_first, 0, array(k_));
    const Array vectors = concatenate({best, zeros({size_ + 1 - k_, n_}, dtype_)});
    state.basis.vectors = dynamic_update_index_in_dim(vectors, vector / length(vector), first, 0);
    state.basis.matrix = pad(inner, {{0, size_ - k_}, {0, size_ - k_}});
    state.locked = arange(size_) < first;
    return described(extended(std::move(state), first), array<std::int64_t>(1));
  }

  State round(const State& before) const {
    const auto unfinished = [&](const State& s) {
      return ~(all(s.converged) & s.unrivalled) & (s.cycles < options_.maxiter) &
             all(isfinite(s.values));
    };
    State made = loop(unfinished, [&](const State& s) { return cycle(s); }, first_cycle(before));
    // All is found if a round finds nothing else, and at once if the basis is the whole space.
    const Array more =
        ((made.round == 0) & array(size_ < n_)) | method_.wanted.differ(before.values, made.values);
    made.more = more & all(made.converged);
    made.round = made.round + 1;
    return made;
  }

  const RestartMethod& method_;
  const LinearOperator::Product& matvec_;
  Array start_, noise_;
  RestartOptions options_;
  std::int64_t n_, size_, k_;
  DType dtype_;
};

}  // namespace

Eigenpairs iterate(const RestartMethod& method, const LinearOperator::Product& matvec,
                   const Array& start, const Array& noise, const RestartOptions& options) {
  const Iteration iteration(method, matvec, start, noise, options);
  return iteration.solve();
}

}  // namespace heddle::sparse::linalg

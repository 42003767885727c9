#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>

#include "heddle/creation.h"
#include "heddle/dtype_info.h"
#include "heddle/dynamic_slices.h"
#include "heddle/elementwise.h"
#include "heddle/indexing.h"
#include "heddle/linalg.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/matrices.h"
#include "heddle/reductions.h"
#include "heddle/sorting.h"
#include "heddle/spectral.h"
#include "heddle/statistics.h"

#include "frontend/sparse/restarts.h"

namespace heddle::sparse::linalg {

namespace {

using Key = std::function<Array(const Array&)>;
using Keys = std::map<std::string, Key, std::less<>>;

Array size_of_imag(const Array& values) { return abs(imag(values)); }

Key negated(const Key& key) {
  return [key](const Array& values) { return -key(values); };
}

/// The key of a name: "L" and "S" begin the names of greatest and least values.
Wanted wanted_of(std::string_view function, const Keys& keys, const RestartOptions& options,
                 DType dtype) {
  const auto found = keys.find(options.which);
  if (found == keys.end()) {
    std::string names;
    for (const auto& [name, key] : keys) names += (names.empty() ? "" : ", ") + name;
    throw ValueError(
        fmt::format("{}: which must be one of {}, not '{}'", function, names, options.which));
  }
  const double eps = finfo(dtype).eps;
  return {options.k, found->second, options.which == "BE", std::max(options.tol, eps), eps};
}

Wanted of_real_values(const RestartOptions& options, DType dtype) {
  const Key size = [](const Array& values) { return abs(values); };
  const Key value = [](const Array& values) { return values; };
  const Keys keys{
      {"LM", size}, {"SM", negated(size)}, {"LA", value}, {"SA", negated(value)}, {"BE", value}};
  return wanted_of("eigsh", keys, options, dtype);
}

/// Values of real operators come in conjugate pairs; of these, LI and SI take the size of the
/// imaginary part.
Wanted of_complex_values(const RestartOptions& options, DType dtype) {
  const Key size = [](const Array& values) { return abs(values); };
  const Key re = [](const Array& values) { return real(values); };
  const Key im =
      options.is_real ? Key(size_of_imag) : Key([](const Array& values) { return imag(values); });
  const Keys keys{{"LM", size}, {"SM", negated(size)}, {"LR", re}, {"SR", negated(re)},
                  {"LI", im},   {"SI", negated(im)}};
  return wanted_of("eigs", keys, options, dtype);
}

/// Of the matrix the lower triangle is kept. Vectors that have converged are locked: the matrix has
/// their values only, so that they do not mix with other vectors of the same value.
class Lanczos : public RestartMethod {
 public:
  using RestartMethod::RestartMethod;

  Array with_products(const Array& matrix, const Array& j, const Array& along, const Array& next,
                      const Array& locked) const override {
    static_cast<void>(next);
    const Array free = where(locked, zeros_like(along), along);
    return dynamic_update_index_in_dim(matrix, conj(free), j, 0);
  }

  RitzPairs solved(const Array& matrix, const Array& locked) const override {
    const auto [values, vectors] = heddle::linalg::eigh(matrix);
    const Array squares = real(vectors * conj(vectors));
    const Array part = sum(where(locked(_, newaxis), squares, 0.0), {0});
    return {values, vectors, part > 0.5};
  }

  Projection projected(const RitzPairs& pairs, const Array& matrix,
                       std::int64_t keep) const override {
    return {pairs.vectors(_, slice(keep)), diag(pairs.values(slice(keep)).astype(matrix.dtype()))};
  }
};

/// The Ritz vectors that a restart keeps are made orthonormal, after Krylov and Schur (Stewart
/// 2001): they span an invariant subspace of the matrix, so the basis stays one of a Krylov space.
class Arnoldi : public RestartMethod {
 public:
  using RestartMethod::RestartMethod;

  Array with_products(const Array& matrix, const Array& j, const Array& along, const Array& next,
                      const Array& locked) const override {
    static_cast<void>(locked);
    const Array below = where(arange(along.shape()[0]) == j + 1, next, zeros_like(next));
    return dynamic_update_index_in_dim(matrix, along + below.astype(along.dtype()), j, 1);
  }

  RitzPairs solved(const Array& matrix, const Array& locked) const override {
    const auto [values, vectors] = heddle::linalg::eig(matrix);
    return {values, vectors, zeros_like(locked)};
  }

  Projection projected(const RitzPairs& pairs, const Array& matrix,
                       std::int64_t keep) const override {
    const Array turn = heddle::linalg::qr(pairs.vectors(_, slice(keep))).q;
    return {turn, matmul(matmul(conj(turn.T()), matrix), turn)};
  }
};

}  // namespace

Array Wanted::order(const Array& values, const Array& held) const {
  const Array wanted = key(values);
  const Array better = where(held, equal(values), zeros_like(wanted));
  if (!both_ends) return argsort(-(wanted + better));
  const Array ranked = argsort(-(wanted + better * sign(wanted - mean(wanted))));
  return stack({ranked, flip(ranked)}, 1).reshape({-1})(slice(values.shape()[0]));
}

Array Wanted::allowed(const Array& values) const {
  const double least = std::pow(eps, 2.0 / 3.0);
  const Array size = abs(values), greatest = max(size);
  return maximum(tol * maximum(size, least * greatest), 4 * eps * greatest);
}

Array Wanted::equal(const Array& values) const {
  return 2.0 * allowed(values) + 100 * eps * max(abs(values));
}

Array Wanted::converged(const Array& values, const Array& errors) const {
  return (errors <= allowed(values))(slice(k));
}

Array Wanted::unrivalled(const Array& values, const Array& errors) const {
  const std::int64_t ends = both_ends ? 2 : 1;
  const std::int64_t first = std::max(k, ends), last = std::min(k + ends, values.shape()[0]);
  if (first >= last) return array(true);
  const auto rivals = slice(first, last), before = slice(first - ends, last - ends);
  const Array keys = key(values), gaps = abs(keys(rivals) - keys(before));
  // The error of a value is about the square of its vector's.
  const Array bound = sqrt(allowed(values)(rivals)) * sqrt(max(abs(values)));
  return all(errors(rivals) <= maximum(0.01 * gaps, bound));
}

Array Wanted::differ(const Array& before, const Array& after) const {
  return any((abs(key(before) - key(after)) > equal(after))(slice(k)));
}

std::unique_ptr<RestartMethod> lanczos(const RestartOptions& options, DType dtype) {
  return std::make_unique<Lanczos>(of_real_values(options, dtype), finfo(dtype).dtype);
}

std::unique_ptr<RestartMethod> arnoldi(const RestartOptions& options, DType dtype) {
  return std::make_unique<Arnoldi>(of_complex_values(options, dtype), dtype);
}

}  // namespace heddle::sparse::linalg

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/array.h"

namespace heddle::frontend {
struct GeneratorState;
}  // namespace heddle::frontend

namespace heddle::random {

/// Options of Generator::choice.
struct Choice {
  bool replace = true;
  Array p = {};  ///< probability of each element, or weights of any sum; no value: uniform
};

/// How multivariate_normal factorises the covariance: its singular values, its eigenvalues, or
/// Cholesky, which is the fastest and needs a positive definite matrix.
enum class CovarianceFactor : std::uint8_t { svd, eigh, cholesky };
/// Options of Generator::multivariate_normal.
struct MultivariateNormal {
  CovarianceFactor method = CovarianceFactor::svd;
  bool check = false;       ///< evaluate, and throw unless the covariance is valid
  double tolerance = 1e-8;  ///< of the check
};

/// numpy.random.Generator over Philox4x32-10. Element i of the n-th sample call depends only on the
/// seed, n and i. So sampling fuses into the kernels that use it, runs in any order, and gives the
/// same numbers on every device: bits and integers exactly, floats up to the rounding of the
/// functions that compute them. A copy shares the state of the original. A jitted function draws
/// new numbers at each call.
///
/// Parameters broadcast with each other and with `size`, as in NumPy; without `size` the result has
/// their common shape. `dtype` is f64, f32, f16 or bf16 (DTypeError for others). ShapeError if
/// shapes do not broadcast. A scalar parameter outside the range that a method states is a
/// ValueError; an array element outside it gives NaN, or the value of the formula. The numbers
/// differ from NumPy's.
class Generator {
 public:
  /// Seeded by the operating system.
  Generator();
  explicit Generator(std::uint64_t seed);

  /// The key, and how many samples and children were drawn from it.
  using State = std::array<std::uint64_t, 3>;
  State state() const;
  /// Continues from a state. Copies of this generator continue as before.
  void restore(const State& state);

  /// numpy.random.Generator.spawn: new generators, independent of this one and of each other.
  std::vector<Generator> spawn(int count, SourceLocation where = SourceLocation::current());

  /// Uniform in [0, 1): multiples of 2^-53 in f64, of 2^-24 in the other dtypes.
  Array random(const Shape& size = {}, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
  /// Uniform in [low, high).
  Array uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Shape& size = {},
                DType dtype = DType::f64);
  /// Uniform integers of an integer dtype in [low, high), or [low, high] with `endpoint`. Their
  /// probabilities differ by at most one part in 2^64 / (high - low). ValueError for an empty
  /// range.
  Array integers(const Operand& low, const Operand& high, const Shape& size = {},
                 DType dtype = DType::i64, bool endpoint = false);
  /// Integers in [0, high).
  Array integers(const Operand& high, const Shape& size = {}, DType dtype = DType::i64);
  /// 64 random bits for each element, as u64.
  Array bits(const Shape& size = {}, SourceLocation where = SourceLocation::current());

  /// Normal distribution with mean 0 and standard deviation 1.
  Array standard_normal(const Shape& size = {}, DType dtype = DType::f64,
                        SourceLocation where = SourceLocation::current());
  /// Normal distribution with the given mean and standard deviation >= 0.
  Array normal(const Operand& mean = 0.0, const Operand& deviation = 1.0, const Shape& size = {},
               DType dtype = DType::f64);
  /// exp of a normal variable.
  Array lognormal(const Operand& mean = 0.0, const Operand& deviation = 1.0, const Shape& size = {},
                  DType dtype = DType::f64);
  /// Exponential distribution with mean 1.
  Array standard_exponential(const Shape& size = {}, DType dtype = DType::f64,
                             SourceLocation where = SourceLocation::current());
  /// scale >= 0 is the mean.
  Array exponential(const Operand& scale = 1.0, const Shape& size = {}, DType dtype = DType::f64);
  /// Cauchy distribution with location 0 and scale 1.
  Array standard_cauchy(const Shape& size = {}, DType dtype = DType::f64,
                        SourceLocation where = SourceLocation::current());
  /// scale >= 0.
  Array laplace(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
                DType dtype = DType::f64);
  Array logistic(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
                 DType dtype = DType::f64);
  Array gumbel(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
               DType dtype = DType::f64);
  /// scale >= 0.
  Array rayleigh(const Operand& scale = 1.0, const Shape& size = {}, DType dtype = DType::f64);
  /// exponent > 0.
  Array weibull(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  Array pareto(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  Array power(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  /// left <= mode <= right, left < right.
  Array triangular(const Operand& left, const Operand& mode, const Operand& right,
                   const Shape& size = {}, DType dtype = DType::f64);

  // The functions below sample by rejection. Each attempt uses its own numbers, from Philox's upper
  // counter words. They compute in f64 and then cast, so that devices differ only by rounding.

  /// numpy.random.Generator.standard_gamma and gamma: shape >= 0, scale >= 0.
  Array standard_gamma(const Operand& shape, const Shape& size = {}, DType dtype = DType::f64);
  Array gamma(const Operand& shape, const Operand& scale = 1.0, const Shape& size = {},
              DType dtype = DType::f64);
  /// a > 0, b > 0.
  Array beta(const Operand& a, const Operand& b, const Shape& size = {}, DType dtype = DType::f64);
  /// Degrees of freedom > 0, non-centrality >= 0.
  Array chisquare(const Operand& df, const Shape& size = {}, DType dtype = DType::f64);
  Array noncentral_chisquare(const Operand& df, const Operand& nonc, const Shape& size = {},
                             DType dtype = DType::f64);
  /// F distribution; degrees of freedom > 0, non-centrality >= 0.
  Array f(const Operand& dfnum, const Operand& dfden, const Shape& size = {},
          DType dtype = DType::f64);
  Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                     const Shape& size = {}, DType dtype = DType::f64);
  /// Student's t distribution; degrees of freedom > 0.
  Array standard_t(const Operand& df, const Shape& size = {}, DType dtype = DType::f64);
  /// Inverse Gaussian distribution, mean > 0, scale > 0.
  Array wald(const Operand& mean, const Operand& scale, const Shape& size = {},
             DType dtype = DType::f64);
  /// Angles in [-pi, pi) around mu; concentration kappa >= 0.
  Array vonmises(const Operand& mu, const Operand& kappa, const Shape& size = {},
                 DType dtype = DType::f64);
  /// Vectors of k shares that sum to 1, for a 1-d alpha > 0 of length k. Shape: `size`, then k.
  /// ShapeError if alpha is not 1-d, ValueError if it is empty.
  Array dirichlet(const Array& alpha, const Shape& size = {}, DType dtype = DType::f64,
                  SourceLocation where = SourceLocation::current());

  /// numpy.random.Generator.multivariate_normal: vectors with this mean, [n], and covariance, [n,
  /// n], in f64. Shape: `size`, then n. Symmetry is not checked unless options.check: then
  /// ValueError for a matrix that is not symmetric positive semidefinite. ShapeError for other
  /// extents, LinAlgError for a matrix that cannot be factorised.
  Array multivariate_normal(const Operand& mean, const Operand& covariance, const Shape& size = {},
                            const MultivariateNormal& options = {});

  // Counts are i64. For array parameters, an element whose parameters are out of range is -1.
  // Parameters are converted to f64; counts of trials or items are truncated to integers.

  /// Mean lam >= 0. ValueError also for lam near 2^63.
  Array poisson(const Operand& lam = 1.0, const Shape& size = {});
  /// Number of successes in n >= 0 trials with success probability 0 <= p <= 1.
  Array binomial(const Operand& n, const Operand& p, const Shape& size = {});
  /// Number of failures before n > 0 successes with probability 0 < p <= 1.
  Array negative_binomial(const Operand& n, const Operand& p, const Shape& size = {});
  /// Number of good items in a sample of nsample out of ngood + nbad. All are >= 0, and nsample <=
  /// ngood + nbad <= 2^53.
  Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                       const Shape& size = {});
  /// Exponent a > 1. The results are below 2^63.
  Array zipf(const Operand& a, const Shape& size = {});
  /// 0 <= p < 1.
  Array logseries(const Operand& p, const Shape& size = {});
  /// Distributes n trials over k categories, with the probabilities along the last axis of pvals.
  /// The last category gets the probability that the others leave. Shape: `size`, or n broadcast
  /// with pvals' other axes; then k. Records one op for each category. ShapeError for a 0-d pvals,
  /// ValueError for no categories.
  Array multinomial(const Operand& n, const Array& pvals, const Shape& size = {});
  /// Number of items of each colour in a sample of nsample; colors (1-d, length k) is the number of
  /// items of each colour. Shape: `size`, or that of nsample; then k. Records one op for each
  /// colour.
  Array multivariate_hypergeometric(const Array& colors, const Operand& nsample,
                                    const Shape& size = {});
  /// Number of trials up to and including the first success, with probability 0 < p <= 1, as i64.
  Array geometric(const Operand& p, const Shape& size = {});

  // Permutations sort 64 random bits for each element, so they also work in jitted functions.
  // IndexError for an axis out of range, ShapeError for 0-d arrays.

  /// numpy.random.Generator.permutation: 0 ... n - 1 in random order, as i64; ValueError for a
  /// negative n. For an array: its slices along the axis in random order.
  Array permutation(std::int64_t n, SourceLocation where = SourceLocation::current());
  Array permutation(const Array& x, std::int64_t axis = 0,
                    SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.permuted: shuffles each 1-d slice along the axis independently; without
  /// an axis, all elements.
  Array permuted(const Array& x, std::optional<std::int64_t> axis = {},
                 SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.shuffle: x = permutation(x, axis).
  void shuffle(Array& x, std::int64_t axis = 0, SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.choice: i64 from 0 ... n - 1 in the shape of `size`, or slices of x
  /// along the axis. Without replacement the order is random, and elements of probability 0 are
  /// chosen only after all others. ValueError if there is nothing to choose from, or too few
  /// elements without replacement; ShapeError if p does not have one entry for each element.
  Array choice(std::int64_t n, const Shape& size = {}, const Choice& how = {},
               SourceLocation where = SourceLocation::current());
  Array choice(const Array& x, const Shape& size = {}, const Choice& how = {},
               std::int64_t axis = 0, SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.bytes. Evaluates and waits; TraceError inside a trace.
  std::vector<std::byte> bytes(std::int64_t length,
                               SourceLocation where = SourceLocation::current());

 private:
  std::shared_ptr<frontend::GeneratorState> state_;
};

/// numpy.random.default_rng.
inline Generator default_rng(std::uint64_t seed) { return Generator(seed); }

}  // namespace heddle::random

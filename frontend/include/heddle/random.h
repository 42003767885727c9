#pragma once

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

/// How Generator::choice chooses.
struct Choice {
  bool replace = true;
  Array p = {};  ///< a probability for each element, or weights of any sum; uniform without value
};

/// numpy.random.Generator over Philox4x32-10: element i of draw n depends on the seed, n and i
/// only, so that draws fuse into the kernels that use them, run in any order, and are the same on
/// every device: bits and integers exactly, floats within the rounding of the functions that make
/// them. A copy shares its original's draws. Inside a jitted function each call draws anew.
///
/// Parameters broadcast with each other and with `size`, as in NumPy; without a size the result has
/// their shape. `dtype` is f64, f32, f16 or bf16 (DTypeError for others); ShapeError where shapes
/// do not broadcast. ValueError for parameters that are numbers and outside of what a method says;
/// elements of arrays that are give NaN or what the formula does. The numbers are not NumPy's own.
class Generator {
 public:
  /// Seeded by the operating system.
  Generator();
  explicit Generator(std::uint64_t seed);

  /// numpy.random.Generator.spawn: generators whose numbers are independent of this one's.
  std::vector<Generator> spawn(int count, SourceLocation where = SourceLocation::current());

  /// Uniform in [0, 1): multiples of 2^-24 in f32 and narrower, of 2^-53 in f64.
  Array random(const Shape& size = {}, DType dtype = DType::f64,
               SourceLocation where = SourceLocation::current());
  /// Uniform in [low, high).
  Array uniform(const Operand& low = 0.0, const Operand& high = 1.0, const Shape& size = {},
                DType dtype = DType::f64);
  /// Uniform integers in [low, high), or up to high with `endpoint`, in an integer dtype. Their
  /// probabilities differ by at most one in 2^64 / (high - low). ValueError for an empty range.
  Array integers(const Operand& low, const Operand& high, const Shape& size = {},
                 DType dtype = DType::i64, bool endpoint = false);
  /// Integers in [0, high).
  Array integers(const Operand& high, const Shape& size = {}, DType dtype = DType::i64);
  /// 64 random bits an element, as u64.
  Array bits(const Shape& size = {}, SourceLocation where = SourceLocation::current());

  Array standard_normal(const Shape& size = {}, DType dtype = DType::f64,
                        SourceLocation where = SourceLocation::current());
  /// With a mean and a standard deviation, at least 0.
  Array normal(const Operand& mean = 0.0, const Operand& deviation = 1.0, const Shape& size = {},
               DType dtype = DType::f64);
  /// exp of a normal.
  Array lognormal(const Operand& mean = 0.0, const Operand& deviation = 1.0, const Shape& size = {},
                  DType dtype = DType::f64);
  Array standard_exponential(const Shape& size = {}, DType dtype = DType::f64,
                             SourceLocation where = SourceLocation::current());
  /// With scale >= 0, the mean.
  Array exponential(const Operand& scale = 1.0, const Shape& size = {}, DType dtype = DType::f64);
  Array standard_cauchy(const Shape& size = {}, DType dtype = DType::f64,
                        SourceLocation where = SourceLocation::current());
  /// Each with a location and a scale >= 0.
  Array laplace(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
                DType dtype = DType::f64);
  Array logistic(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
                 DType dtype = DType::f64);
  Array gumbel(const Operand& location = 0.0, const Operand& scale = 1.0, const Shape& size = {},
               DType dtype = DType::f64);
  /// With scale >= 0.
  Array rayleigh(const Operand& scale = 1.0, const Shape& size = {}, DType dtype = DType::f64);
  /// Each with an exponent > 0.
  Array weibull(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  Array pareto(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  Array power(const Operand& exponent, const Shape& size = {}, DType dtype = DType::f64);
  /// With left <= mode <= right, left < right.
  Array triangular(const Operand& left, const Operand& mode, const Operand& right,
                   const Shape& size = {}, DType dtype = DType::f64);

  // What follows is drawn by rejection: each attempt takes numbers of its own from Philox's upper
  // counter words. All is computed in f64 and then cast, so that devices differ by roundings only.

  /// numpy.random.Generator.standard_gamma and gamma: shape >= 0, scale >= 0.
  Array standard_gamma(const Operand& shape, const Shape& size = {}, DType dtype = DType::f64);
  Array gamma(const Operand& shape, const Operand& scale = 1.0, const Shape& size = {},
              DType dtype = DType::f64);
  /// With a, b > 0.
  Array beta(const Operand& a, const Operand& b, const Shape& size = {}, DType dtype = DType::f64);
  /// Of degrees of freedom > 0, and a non-centrality >= 0.
  Array chisquare(const Operand& df, const Shape& size = {}, DType dtype = DType::f64);
  Array noncentral_chisquare(const Operand& df, const Operand& nonc, const Shape& size = {},
                             DType dtype = DType::f64);
  Array f(const Operand& dfnum, const Operand& dfden, const Shape& size = {},
          DType dtype = DType::f64);
  Array noncentral_f(const Operand& dfnum, const Operand& dfden, const Operand& nonc,
                     const Shape& size = {}, DType dtype = DType::f64);
  Array standard_t(const Operand& df, const Shape& size = {}, DType dtype = DType::f64);
  /// The inverse normal, of mean > 0 and scale > 0.
  Array wald(const Operand& mean, const Operand& scale, const Shape& size = {},
             DType dtype = DType::f64);
  /// Angles in [-pi, pi) around mu, of a concentration kappa >= 0.
  Array vonmises(const Operand& mu, const Operand& kappa, const Shape& size = {},
                 DType dtype = DType::f64);
  /// Shares that sum to 1, of alpha > 0 (one axis, k long): of shape `size` and k. ShapeError for
  /// alpha of other rank, ValueError for an empty one.
  Array dirichlet(const Array& alpha, const Shape& size = {}, DType dtype = DType::f64,
                  SourceLocation where = SourceLocation::current());

  // Counts are i64; an element whose parameters, in arrays, are outside of their range is -1.
  // Parameters are taken in f64, of numbers of trials or things the whole part.

  /// Of mean lam >= 0; ValueError also for one near 2^63.
  Array poisson(const Operand& lam = 1.0, const Shape& size = {});
  /// Successes of n >= 0 trials of probability 0 <= p <= 1.
  Array binomial(const Operand& n, const Operand& p, const Shape& size = {});
  /// Failures before n > 0 successes of probability 0 < p <= 1.
  Array negative_binomial(const Operand& n, const Operand& p, const Shape& size = {});
  /// Good ones in a sample of ngood + nbad; none is negative, and nsample <= ngood + nbad <= 2^53.
  Array hypergeometric(const Operand& ngood, const Operand& nbad, const Operand& nsample,
                       const Shape& size = {});
  /// Of exponent a > 1; the numbers are below 2^63.
  Array zipf(const Operand& a, const Shape& size = {});
  /// Of 0 <= p < 1.
  Array logseries(const Operand& p, const Shape& size = {});
  /// n trials of which each falls into one of k categories, by the probabilities along the last
  /// axis of pvals, of which the last counts for what the others leave: of the shape of `size`, or
  /// of n and pvals' other axes together, and k. One op a category. ShapeError for a 0-d pvals,
  /// ValueError for no categories.
  Array multinomial(const Operand& n, const Array& pvals, const Shape& size = {});
  /// How many of each colour are in a sample; colors (one axis, k long) says how many there are.
  /// The result has the shape of `size`, or of nsample, and k. One op a colour.
  Array multivariate_hypergeometric(const Array& colors, const Operand& nsample,
                                    const Shape& size = {});
  /// Trials up to and with the first success, of probability 0 < p <= 1, as i64.
  Array geometric(const Operand& p, const Shape& size = {});

  // Orders come from sorting 64 random bits an element, so that they work in jitted functions.
  // IndexError for an axis out of range, ShapeError for 0-d arrays.

  /// numpy.random.Generator.permutation: 0 ... n - 1 in random order, as i64; ValueError for a
  /// negative n. Of an array: its slices along the axis.
  Array permutation(std::int64_t n, SourceLocation where = SourceLocation::current());
  Array permutation(const Array& x, std::int64_t axis = 0,
                    SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.permuted: each line along the axis in an order of its own; all elements
  /// without one.
  Array permuted(const Array& x, std::optional<std::int64_t> axis = {},
                 SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.shuffle: x = permutation(x, axis).
  void shuffle(Array& x, std::int64_t axis = 0, SourceLocation where = SourceLocation::current());
  /// numpy.random.Generator.choice: i64 from 0 ... n - 1 in the shape of `size`, or slices of x
  /// along the axis. Without replacement they are in random order; of those without probability
  /// there are some only where others run out. ValueError for nothing to choose from, or fewer than
  /// to be chosen without replacement; ShapeError for a p of another shape.
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

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/array.h"

namespace heddle::frontend {
struct GeneratorState;
}  // namespace heddle::frontend

namespace heddle::random {

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
  /// Trials up to and with the first success, of probability 0 < p <= 1, as i64.
  Array geometric(const Operand& p, const Shape& size = {});

 private:
  std::shared_ptr<frontend::GeneratorState> state_;
};

/// numpy.random.default_rng.
inline Generator default_rng(std::uint64_t seed) { return Generator(seed); }

}  // namespace heddle::random

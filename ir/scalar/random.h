#pragma once
//! section philox needs core
//! defines philox
namespace heddle_scalar {
struct PhiloxBlock {
  unsigned long long low, high;
};
// Block `block` of Philox4x32-10: the counter is `counter`, with `block` as its upper half.
HD_SCALAR PhiloxBlock philox_block(unsigned long long key, unsigned long long counter,
                                   unsigned int block) {
  unsigned int k0 = static_cast<unsigned int>(key), k1 = static_cast<unsigned int>(key >> 32);
  unsigned int c0 = static_cast<unsigned int>(counter), c2 = block;
  unsigned int c1 = static_cast<unsigned int>(counter >> 32), c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<unsigned int>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<unsigned int>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<unsigned int>(b);
    c3 = static_cast<unsigned int>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {(static_cast<unsigned long long>(c1) << 32) | c0,
          (static_cast<unsigned long long>(c3) << 32) | c2};
}
// The words of the blocks, in order. Neighbouring counters share a block; a compiler that sees both
// computes the block once.
HD_SCALAR unsigned long long philox(unsigned long long key, unsigned long long counter) {
  const PhiloxBlock words = philox_block(key, counter >> 1, 0);
  return (counter & 1) == 0 ? words.low : words.high;
}
}  // namespace heddle_scalar

//! section philox_normal needs philox sqrt bits
//! defines philox_normal
namespace heddle_scalar {
// Accurate to one or two units in the last place, without a branch.
HD_SCALAR float radius_root(float x) {
#ifdef __CUDACC__
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
#else
  return sqrt(x);
#endif
}
// log(x) for normal x in (0, 1]: x = 2^e m, with m in [sqrt(1/2), sqrt(2)].
HD_SCALAR float log_of_unit(float x) {
  const unsigned int bits = bits_of(x);
  const int e = static_cast<int>(bits - 0x3f3504f3u) >> 23;
  const float f = float_of(bits - (static_cast<unsigned int>(e) << 23)) - 1.0f, z = f * f;
  float p = -0.07634429633617401f;
  p = p * f + 0.12761549651622772f;
  p = p * f - 0.131601944565773f;
  p = p * f + 0.14201761782169342f;
  p = p * f - 0.16623356938362122f;
  p = p * f + 0.20001226663589478f;
  p = p * f - 0.250008225440979f;
  p = p * f + 0.3333333134651184f;
  return static_cast<float>(e) * 0.693147182464599609375f + (f + z * (f * p - 0.5f));
}
// Box-Muller transform of the two halves of a word: an even counter gets the cosine of the angle,
// an odd one the sine. There are no branches, so that a compiler that sees both computes radius and
// angle once. The polynomials are least squares fits, weighted towards minimax.
HD_SCALAR float philox_normal(unsigned long long key, unsigned long long counter) {
  const unsigned long long word = philox(key, counter >> 1);
  const unsigned int turn = static_cast<unsigned int>(word);
  const float unit =
      (static_cast<float>(static_cast<unsigned int>(word >> 32)) + 0.5f) * 2.3283064365386963e-10f;
  const float radius = radius_root(-2.0f * log_of_unit(unit));
  // The nearest quarter turn, and the remaining angle, at most an eighth of a turn.
  const unsigned int quarter = (turn + 0x20000000u) >> 30;
  const float x =
      static_cast<float>(static_cast<int>(turn - (quarter << 30))) * 2.3283064365386963e-10f;
  const float z = x * x;
  const float sine =
      x * (((-75.39356231689453f * z + 81.59235382080078f) * z - 41.3416633605957f) * z +
           6.2831854820251465f);
  const float cosine =
      (((59.22040557861328f * z - 85.44285583496094f) * z + 64.93931579589844f) * z -
       19.739208221435547f) *
          z +
      1.0f;
  const unsigned int side = quarter - static_cast<unsigned int>(counter & 1);
  const unsigned int sign = ((side + 1) & 2) << 30;
  return radius * float_of(bits_of((side & 1) != 0 ? sine : cosine) ^ sign);
}
}  // namespace heddle_scalar

//! section random_unit needs philox bits
// Shared by the samplers below. All computation is in double, so that different devices make the
// same decisions, except about one in 10^13. Each attempt uses its own Philox block. An attempt
// succeeds with a probability above 0.4. After random_attempts attempts, samplers return the mode
// of the distribution; this happens for fewer than one element in 10^28. Samplers are not inlined,
// because they are too long to be repeated in a kernel.
#ifdef __CUDACC__
#define HD_SAMPLER inline __device__ __attribute__((noinline))
#else
#define HD_SAMPLER inline __attribute__((noinline))
#endif
namespace heddle_scalar {
constexpr unsigned int random_attempts = 128;
// In (0, 1): the midpoint of one of 2^52 equal intervals.
HD_SCALAR double open_unit(unsigned long long bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}
HD_SCALAR double random_nan() { return float_of(0x7ff8000000000000ull); }
}  // namespace heddle_scalar

//! section log_factorial_terms needs log
namespace heddle_scalar {
// log(n!) minus Stirling's approximation log(sqrt(2 pi n) (n / e)^n), for whole n > 0.
HD_SCALAR double stirling_error(double n) {
  if (n < 9) {
    double factorial = 1;
    for (int factor = 2; factor <= static_cast<int>(n); ++factor) factorial *= factor;
    return log(factorial) - (n + 0.5) * log(n) + n - 0.918938533204672741780;
  }
  const double r = 1 / (n * n);
  const double tail = 1.0 / 1680 - r * (1.0 / 1188 - r * (691.0 / 360360 - r * (1.0 / 156)));
  return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * tail))) / n;
}
// x log(x / mean) + mean - x, for x > 0, without cancellation if x is close to the mean (C. Loader,
// Fast and accurate computation of binomial probabilities, 2000).
HD_SCALAR double deviance(double x, double mean) {
  const double difference = x - mean, v = difference / (x + mean);
  if (!(v < 0.1 && v > -0.1)) return x * log(x / mean) - difference;
  const double square = v * v;
  double sum = difference * v, term = 2 * x * v;
  for (int odd = 3; odd <= 21; odd += 2) {
    term *= square;
    sum += term / odd;
  }
  return sum;
}
}  // namespace heddle_scalar

//! section log_binomial needs random_unit log_factorial_terms log1p
namespace heddle_scalar {
// The logarithm of the probability of k successes in n trials, for p in (0, 1).
HD_SAMPLER double log_binomial(double k, double n, double p) {
  if (k == 0) return n * log1p(-p);
  if (k == n) return n * log(p);
  const double rest = n - k;
  return stirling_error(n) - stirling_error(k) - stirling_error(rest) - deviance(k, n * p) -
         deviance(rest, n * (1 - p)) - 0.5 * log(6.28318530717958647693 * k * (rest / n));
}
}  // namespace heddle_scalar

//! section philox_gamma needs random_unit exp log log1p sqrt cos
//! defines philox_gamma
namespace heddle_scalar {
// Scale 1. G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000. For
// a shape below 1: the sample for shape + 1, times u^(1 / shape). NaN for a shape that is negative
// or not finite.
HD_SAMPLER double philox_gamma(unsigned long long key, unsigned long long counter, double shape) {
  if (!(shape >= 0) || shape - shape != 0) return random_nan();
  if (shape == 0) return 0;
  double scale = 1;
  if (shape < 1) {
    scale = exp(log(open_unit(philox_block(key, counter, 0).low)) / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
  for (unsigned int attempt = 1; attempt <= random_attempts; ++attempt) {
    // 52 bits for the radius of the normal number, 32 for its angle, 43 for the acceptance test.
    const PhiloxBlock bits = philox_block(key, counter, attempt);
    const double turn = static_cast<double>(bits.high >> 32) * 0x1p-32;
    const double x = sqrt(-2 * log(open_unit(bits.low))) * cos(6.28318530717958647693 * turn);
    const double w = c * x;
    if (w <= -1) continue;
    const unsigned long long rest = ((bits.high & 0xffffffffull) << 11) | (bits.low & 0x7ffull);
    const double u = (static_cast<double>(rest) + 0.5) * 0x1p-43;
    const double v = (1 + w) * (1 + w) * (1 + w), square = x * x;
    const double ratio = 0.5 * square + d * (3 * log1p(w) - w * (3 + w * (3 + w)));
    if (u < 1 - 0.0331 * square * square || log(u) < ratio) return d * v * scale;
  }
  return (shape - 1) * scale;
}
}  // namespace heddle_scalar

//! section philox_poisson needs random_unit log_factorial_terms exp sqrt rounding
//! defines philox_poisson
namespace heddle_scalar {
// For a mean below 10: inversion of one uniform number, over the probabilities of 0, 1, ... Else
// PTRS of W. Hormann, The transformed rejection method for generating Poisson random variables,
// 1993. NaN for a mean that is negative, or so large that samples may exceed 64 bits.
HD_SAMPLER double philox_poisson(unsigned long long key, unsigned long long counter, double mean) {
  if (!(mean >= 0 && mean <= 9.2233720064847708e18)) return random_nan();
  if (mean < 10) {
    const double u = open_unit(philox_block(key, counter, 0).low);
    double k = 0, term = exp(-mean), sum = term;
    // Beyond the mode, the sum ends when the terms are smaller than the last bit of u.
    while (u > sum && (k < mean || term > 0x1p-60)) {
      k += 1;
      term *= mean / k;
      sum += term;
    }
    return k;
  }
  const double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  for (unsigned int attempt = 0; attempt < random_attempts; ++attempt) {
    const PhiloxBlock bits = philox_block(key, counter, attempt);
    const double u = open_unit(bits.low) - 0.5, v = open_unit(bits.high);
    const double edge = 0.5 - (u < 0 ? -u : u);
    const double k = floor((2 * a / edge + b) * u + mean + 0.43);
    if (edge >= 0.07 && v <= sure) return k;
    if (k < 0 || k >= 0x1p63 || (edge < 0.013 && v > edge)) continue;
    const double probability =
        k == 0 ? -mean
               : -stirling_error(k) - deviance(k, mean) - 0.5 * log(6.28318530717958647693 * k);
    if (log(v * inverse_alpha / (a / (edge * edge) + b)) <= probability) return k;
  }
  return floor(mean);
}
}  // namespace heddle_scalar

//! section philox_binomial needs random_unit log_binomial exp sqrt rounding
//! defines philox_binomial
namespace heddle_scalar {
// Successes in floor(n) trials of probability p <= 1/2. Inversion for a mean below 10, else BTRS of
// W. Hormann, The generation of binomial random variates, 1993.
HD_SCALAR double philox_binomial_half(unsigned long long key, unsigned long long counter, double n,
                                      double p) {
  const double mean = n * p, odds = p / (1 - p);
  if (mean < 10) {
    const double u = open_unit(philox_block(key, counter, 0).low);
    double k = 0, term = exp(n * log1p(-p)), sum = term;
    while (u > sum && k < n && (k < mean || term > 0x1p-60)) {
      k += 1;
      term *= (n - k + 1) / k * odds;
      sum += term;
    }
    return k;
  }
  const double deviation = sqrt(mean * (1 - p)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, sure = 0.92 - 4.2 / b;
  const double alpha = (2.83 + 5.1 / b) * deviation, mode = floor((n + 1) * p);
  const double highest = log_binomial(mode, n, p);
  for (unsigned int attempt = 0; attempt < random_attempts; ++attempt) {
    const PhiloxBlock bits = philox_block(key, counter, attempt);
    const double u = open_unit(bits.low) - 0.5, v = open_unit(bits.high);
    const double edge = 0.5 - (u < 0 ? -u : u);
    const double k = floor((2 * a / edge + b) * u + mean + 0.5);
    if (k < 0 || k > n) continue;
    if (edge >= 0.07 && v <= sure) return k;
    if (log(v * alpha / (a / (edge * edge) + b)) <= log_binomial(k, n, p) - highest) return k;
  }
  return mode;
}
// NaN if p is outside of [0, 1], or if n is negative or greater than 2^63.
HD_SAMPLER double philox_binomial(unsigned long long key, unsigned long long counter, double n,
                                  double p) {
  if (!(n >= 0 && n <= 0x1p63 && p >= 0 && p <= 1)) return random_nan();
  n = floor(n);
  const bool turned = p > 0.5;
  const double k = philox_binomial_half(key, counter, n, turned ? 1 - p : p);
  return turned ? n - k : k;
}
}  // namespace heddle_scalar

//! section philox_hypergeometric needs random_unit log_binomial exp sqrt rounding
//! defines philox_hypergeometric
namespace heddle_scalar {
// The number of good items in a sample of size `sample` from `few` good and `many` other items; few
// <= many, sample <= (few + many) / 2. Inversion for a mean below 10, else HRUA of E. Stadlober,
// The ratio of uniforms approach for generating discrete random variates, 1990.
HD_SCALAR double philox_hypergeometric_half(unsigned long long key, unsigned long long counter,
                                            double few, double many, double sample) {
  const double all = few + many, most = few < sample ? few : sample;
  if (most == 0) return 0;
  const double share = sample / all, mean = few * share;
  if (mean < 10) {
    const double u = open_unit(philox_block(key, counter, 0).low);
    double k = 0, term = exp(few * log1p(-share) + log_binomial(sample, many, share) -
                             log_binomial(sample, all, share));
    double sum = term;
    while (u > sum && k < most && (k < mean || term > 0x1p-60)) {
      term *= (few - k) * (sample - k) / ((k + 1) * (many - sample + k + 1));
      sum += term;
      k += 1;
    }
    return k;
  }
  const double variance = mean * (many / all) * ((all - sample) / (all - 1));
  const double width = 1.71552776992141359 * sqrt(variance + 0.5) + 0.89891616205889884;
  const double mode = floor((sample + 1) * ((few + 1) / (all + 2)));
  const double highest = log_binomial(mode, few, share) + log_binomial(sample - mode, many, share);
  for (unsigned int attempt = 0; attempt < random_attempts; ++attempt) {
    const PhiloxBlock bits = philox_block(key, counter, attempt);
    const double u = open_unit(bits.low), v = open_unit(bits.high);
    const double k = floor(mean + 0.5 + width * (v - 0.5) / u);
    if (k < 0 || k > most) continue;
    const double probability = log_binomial(k, few, share) + log_binomial(sample - k, many, share);
    if (2 * log(u) <= probability - highest) return k;
  }
  return mode;
}
// NaN if a number is negative, or if good + bad exceeds 2^53 or is less than the sample.
HD_SAMPLER double philox_hypergeometric(unsigned long long key, unsigned long long counter,
                                        double good, double bad, double sample) {
  good = floor(good);
  bad = floor(bad);
  sample = floor(sample);
  const double all = good + bad;
  if (!(good >= 0 && bad >= 0 && sample >= 0 && all <= 0x1p53 && sample <= all))
    return random_nan();
  // By symmetry, good and bad items may be swapped, and so may the sample and the rest.
  const bool left = sample > all - sample, turned = good > bad;
  const double drawn = left ? all - sample : sample;
  double k =
      philox_hypergeometric_half(key, counter, turned ? bad : good, turned ? good : bad, drawn);
  if (turned) k = drawn - k;
  return left ? good - k : k;
}
}  // namespace heddle_scalar

//! section philox_zipf needs random_unit exp log1p expm1 rounding
//! defines philox_zipf
namespace heddle_scalar {
// L. Devroye, Non-uniform random variate generation, 1986, chapter X.6, for samples below 2^63. NaN
// for an exponent that is not greater than 1.
HD_SAMPLER double philox_zipf(unsigned long long key, unsigned long long counter, double exponent) {
  if (!(exponent > 1)) return random_nan();
  if (exponent >= 1025) return 1;  // all other results have a probability below 2^-1024
  const double s = exponent - 1, c = expm1(0.69314718055994530942 * s);
  const double least = expm1(-43.6682723752765512 * s);  // for a sample of 2^63, minus 1
  for (unsigned int attempt = 0; attempt < random_attempts; ++attempt) {
    const PhiloxBlock bits = philox_block(key, counter, attempt);
    const double u = open_unit(bits.low), v = open_unit(bits.high);
    const double k = floor(exp(-log1p(u * least) / s));
    if (!(k >= 1 && k < 0x1p63)) continue;
    const double rise = expm1(s * log1p(1 / k));
    if (v * k * (rise / c) <= (rise + 1) / (c + 1)) return k;
  }
  return 1;
}
}  // namespace heddle_scalar

//! section philox_vonmises needs random_unit log sqrt tan arctan cos
//! defines philox_vonmises
namespace heddle_scalar {
// Centred at 0, in [-pi, pi]. D. J. Best and N. I. Fisher, Efficient simulation of the von Mises
// distribution, 1979. For a concentration above 10^6, a normal distribution is as accurate. NaN for
// a negative concentration.
HD_SAMPLER double philox_vonmises(unsigned long long key, unsigned long long counter,
                                  double concentration) {
  constexpr double pi = 3.14159265358979323846;
  const PhiloxBlock first = philox_block(key, counter, 0);
  if (!(concentration >= 0)) return random_nan();
  if (concentration < 1e-8) return pi * (2 * open_unit(first.low) - 1);
  if (concentration > 1e6) {
    const double radius = sqrt(-2 * log(open_unit(first.low)));
    return radius * cos(2 * pi * open_unit(first.high)) / sqrt(concentration);
  }
  double s = 1 / concentration + concentration, above = s - 1;
  if (concentration >= 1e-5) {
    const double tau = 1 + sqrt(1 + 4 * concentration * concentration);
    const double rho = (tau - sqrt(2 * tau)) / (2 * concentration);
    s = (1 + rho * rho) / (2 * rho);
    above = (1 - rho) * (1 - rho) / (2 * rho);
  }
  for (unsigned int attempt = 0; attempt < random_attempts; ++attempt) {
    const PhiloxBlock bits = attempt == 0 ? first : philox_block(key, counter, attempt);
    const double u = open_unit(bits.low), v = open_unit(bits.high);
    const double y = concentration * above * (s + 1) / (s + cos(pi * u));
    if (y * (2 - y) < v && log(y / v) + 1 - y < 0) continue;
    const double angle = 2 * arctan(sqrt(above / (s + 1)) * tan(0.5 * pi * u));
    return (bits.low & 1) != 0 ? -angle : angle;
  }
  return 0;
}
}  // namespace heddle_scalar

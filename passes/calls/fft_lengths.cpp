// Which lengths a transform is split into, and which it is extended to.

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/types/capabilities.h"
#include "passes/calls/fft.h"

namespace heddle::passes {

namespace {

/// For each product of powers of 3 and 5, the least multiple of it by a power of 2 that is at least
/// `least`; not more than twice that.
std::vector<std::int64_t> smooth_lengths(std::int64_t least) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t fives = 1; fives < 2 * least; fives *= 5) {
    for (std::int64_t threes = fives; threes < 2 * least; threes *= 3) {
      std::int64_t all = threes;
      while (all < least) all *= 2;
      lengths.push_back(all);
    }
  }
  return lengths;
}

/// Operations of a butterfly for each of its elements.
double butterfly_cost(int radix) {
  if (radix % 2 == 0) return 2.0 * std::log2(radix);
  const double half = radix / 2;
  return (4 * half * half + 6 * half) / radix;
}

/// The cost of a transform, in operations. Each stage loads, turns and stores all numbers.
double transform_cost(std::int64_t n, const ir::Target& target) {
  constexpr double turn_and_move = 8;
  double each = 0;
  const std::vector<int> radices = *fft_radices(n, target);
  for (const int radix : radices) each += turn_and_move + butterfly_cost(radix);
  return each * static_cast<double>(n);
}

}  // namespace

std::int64_t least_smooth(std::int64_t least) { return std::ranges::min(smooth_lengths(least)); }

std::int64_t convolution_length(std::int64_t n, const ir::Target& target) {
  std::int64_t best = 0;
  double least_cost = 0;
  for (const std::int64_t m : smooth_lengths(2 * n - 1)) {
    const double cost = transform_cost(m, target);
    if (best == 0 || cost < least_cost || (cost == least_cost && m < best)) {
      best = m;
      least_cost = cost;
    }
  }
  return best;
}

namespace {

/// Powers of two up to 2^most whose product is 2^twos: few, and as equal as can be.
std::vector<int> even_radices(int twos, int most) {
  std::vector<int> radices;
  for (int stages = (twos + most - 1) / most; stages > 0; --stages) {
    const int exponent = (twos + stages - 1) / stages;
    radices.push_back(1 << exponent);
    twos -= exponent;
  }
  return radices;
}

}  // namespace

std::optional<std::vector<int>> fft_radices(std::int64_t length, const ir::Target& target) {
  const int most = ir::capabilities_of(target).blocks ? 4 : 3;  // largest power of two: 16 or 8
  const int twos = std::countr_zero(static_cast<std::uint64_t>(length));
  std::vector<int> radices = even_radices(twos, most);
  length >>= twos;
  for (const int radix : {13, 11, 7, 5, 3}) {
    while (length % radix == 0) {
      radices.push_back(radix);
      length /= radix;
    }
  }
  if (length != 1) return std::nullopt;
  return radices;
}

std::optional<std::vector<int>> rfft_radices(std::int64_t length, const ir::Target& target) {
  std::optional<std::vector<int>> radices = fft_radices(length, target);
  if (radices && !radices->empty() && radices->back() == 16)  // the length is a power of 16
    return even_radices(std::countr_zero(static_cast<std::uint64_t>(length)), 3);
  return radices;
}

}  // namespace heddle::passes

#include "tests/support/samples.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "ir/types/constant.h"

namespace heddle::test {
namespace {

using ir::Domain;

Range range_of(Domain domain, int operand) {
  switch (domain) {
    case Domain::any:
      return {-10, 10};
    case Domain::exponent:
      return {-20, 20};
    case Domain::positive:
      return {1e-3, 1000};
    case Domain::above_minus_one:
      return {-0.99, 1000};
    case Domain::at_least_one:
      return {1, 1000};
    case Domain::unit:
      return {-1, 1};
    case Domain::inside_unit:
      return {-0.99, 0.99};
    case Domain::angle:
      return {-100, 100};
    case Domain::shift:
      return operand == 0 ? Range{-1000, 1000} : Range{0, 0};
    case Domain::power:
      return operand == 0 ? Range{0.0625, 20} : Range{-4, 4};
    case Domain::small_exponent:
      return operand == 0 ? Range{-10, 10} : Range{-20, 20};
    case Domain::trials:
      return operand < 3 ? Range{0, 1000} : Range{0, 1};
    case Domain::counts:
      return operand < 4 ? Range{0, 1000} : Range{0, 300};
  }
  return {-10, 10};
}

std::vector<double> special_floats(DType dtype) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double largest = dtype == DType::f16    ? 65504.0
                         : dtype == DType::bf16 ? 0x1.fep127
                         : dtype == DType::f32  ? 0x1.fffffep127
                                                : std::numeric_limits<double>::max();
  const double smallest = dtype == DType::f16    ? 0x1p-24
                          : dtype == DType::bf16 ? 0x1p-133
                          : dtype == DType::f32  ? 0x1p-149
                                                 : 0x1p-1074;
  return {0.0, -0.0, 1.0,     -1.0,     infinity, -infinity, std::nan(""), 0.5,
          1.5, -2.5, largest, -largest, smallest, -smallest, 3.0,          -7.0};
}

/// Mostly of moderate size, and one in four of any magnitude that the dtype has.
double any_float(DType dtype, std::mt19937_64& random) {
  const double mantissa = std::uniform_real_distribution(-10.0, 10.0)(random);
  if (random() % 4 != 0) return mantissa;
  const double exponents = dtype == DType::f16 ? 14 : dtype == DType::f64 ? 1000 : 120;
  return std::ldexp(mantissa, static_cast<int>(std::uniform_real_distribution(
                                  -exponents, exponents - 4)(random)));
}

std::uint64_t any_integer_bits(DType dtype, std::size_t index, std::mt19937_64& random) {
  const auto bits = static_cast<unsigned>(8 * size_of(dtype));
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  const std::uint64_t special[] = {0, 1, mask, top, top - 1, 2, mask - 1, 3};
  if (index < std::size(special)) return special[index] & mask;
  return (random() % 2 == 0 ? random() : random() % 21 - 10) & mask;
}

ir::ElementBits bits_of_sample(Domain domain, int operand, DType dtype, std::size_t index,
                               std::mt19937_64& random) {
  if (dtype == DType::boolean) return random() & 1;
  const bool free = domain == Domain::any || (domain == Domain::shift && operand == 0) ||
                    (domain == Domain::small_exponent && operand == 0);
  if (free && is_integer(dtype)) return any_integer_bits(dtype, index, random);
  if (free) {
    const std::vector<double> special = special_floats(dtype);
    return ir::constant_bits(dtype,
                             index < special.size() ? special[index] : any_float(dtype, random));
  }
  const Range range = test::range_of(domain, operand, dtype);
  if (is_integer(dtype)) {
    return ir::constant_bits(
        dtype, std::floor(std::uniform_real_distribution(range.low, range.high + 1)(random)));
  }
  if (index == 0) return ir::constant_bits(dtype, range.low);
  if (index == 1) return ir::constant_bits(dtype, range.high);
  // Half of them near zero, or near the lower end.
  double share = std::uniform_real_distribution(0.0, 1.0)(random);
  if (random() % 2 == 0) share = std::pow(share, 8);
  const double origin = range.low < 0 && range.high > 0 ? 0.0 : range.low;
  const double end = origin == 0.0 && random() % 2 == 0 ? range.low : range.high;
  return ir::constant_bits(dtype, origin + share * (end - origin));
}

/// Every special value of one part meets every one of the other, in each operand in another order.
ir::ElementBits complex_sample(Domain domain, int operand, DType dtype, std::size_t i,
                               std::mt19937_64& random) {
  const bool early = i < 256;
  const std::size_t first = !early ? i : operand == 0 ? i / 16 : (7 * i + 3) % 16;
  const std::size_t second = !early ? i : operand == 0 ? i % 16 : (5 * (i / 16) + i) % 16;
  const DType part = real_dtype(dtype);
  const ir::ElementBits real = bits_of_sample(domain, operand, part, first, random);
  const ir::ElementBits imaginary = bits_of_sample(domain, operand, part, second, random);
  return ir::complex_bits(dtype, {real.low, imaginary.low});
}

template <class Draw>
ir::HostArray filled(DType dtype, const ir::Shape& shape, const Draw& draw) {
  ir::HostArray array{{dtype, shape}, {}};
  const std::size_t size = size_of(dtype);
  const auto count = static_cast<std::size_t>(ir::element_count(shape).constant());
  array.data.resize(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const ir::ElementBits bits = draw(i);
    std::memcpy(array.data.data() + i * size, bits.bytes(), size);
  }
  return array;
}

}  // namespace

Range range_of(Domain domain, int operand, DType dtype) {
  Range range = range_of(domain, operand);
  if (domain == Domain::shift && operand == 1) {
    range.high = static_cast<double>(8 * size_of(dtype) - 1);
  }
  if (!is_integer(dtype)) return range;
  range.low = std::ceil(domain == Domain::power ? std::max(range.low, 0.0) : range.low);
  if (!is_signed_integer(dtype)) range.low = std::max(range.low, 0.0);
  range.high = std::floor(range.high);
  return range;
}

ir::HostArray sample(Domain domain, int operand, DType dtype, const ir::Shape& shape,
                     std::uint64_t seed) {
  std::mt19937_64 random(seed * 31 + static_cast<std::uint64_t>(operand));
  // Every special value of the first operand meets every one of the second.
  return filled(dtype, shape, [&](std::size_t i) {
    if (is_complex(dtype)) return complex_sample(domain, operand, dtype, i, random);
    const std::size_t index = i >= 256 ? i : operand == 0 ? i / 16 : i % 16;
    return bits_of_sample(domain, operand, dtype, index, random);
  });
}

ir::HostArray moderate_sample(DType dtype, const ir::Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const double low = is_unsigned_integer(dtype) ? 0 : -4;
  const auto number = [&](DType kind) {
    const double value = std::uniform_real_distribution(low, 4.0)(random);
    return ir::constant_bits(kind, is_integer(kind) ? std::floor(value) : value);
  };
  return filled(dtype, shape, [&](std::size_t) -> ir::ElementBits {
    if (dtype == DType::boolean) return random() & 1;
    if (!is_complex(dtype)) return number(dtype);
    const std::uint64_t real = number(real_dtype(dtype)).low;
    return ir::complex_bits(dtype, {real, number(real_dtype(dtype)).low});
  });
}

}  // namespace heddle::test

#pragma once

#include <complex>
#include <cstdint>
#include <vector>

// Roots of unity in the tables of transforms.

namespace heddle::passes {

using Numbers = std::vector<double>;
using Complex = std::complex<long double>;

/// exp(-2 pi i k / n), or its conjugate; exact in the last digit of a double.
Complex root_of_unity(std::int64_t k, std::int64_t n, bool inverse);

void append(Numbers& numbers, Complex value);
/// As pairs of parts, or all real parts before all imaginary ones.
void append(Numbers& numbers, const std::vector<Complex>& values, bool pairs);
void append(Numbers& numbers, const Numbers& more);

/// The powers of a root of unity of order `order`: count of them, with exponents in steps of
/// `step`.
Numbers powers(std::int64_t order, std::int64_t count, std::int64_t step, bool inverse);
/// The roots that the second half of the operand is turned by, as FftHalf of
/// codegen/device/fft_items.h says.
Numbers half_roots(std::int64_t n, int first_radix, bool inverse);
/// The roots of RfftLastStage of codegen/device/fft_real_items.h.
Numbers mirror_roots(std::int64_t n, int last_radix, int parts);

/// The transform, by definition of the convolution that it is a factor of.
std::vector<Complex> transformed(std::vector<Complex> values);

}  // namespace heddle::passes

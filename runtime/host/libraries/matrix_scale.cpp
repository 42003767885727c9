#include "runtime/host/libraries/matrix_scale.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace heddle::runtime::lapack {

namespace {

/// The largest absolute value; infinity if a number is not finite. Integers compare as the numbers
/// do whose bits they are, and compilers vectorise their maximum.
template <class T>
T largest_of(const T* numbers, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits without_sign = std::numeric_limits<Bits>::max() / 2;
  Bits largest = 0;
  for (std::int64_t i = 0; i < count; ++i)
    largest = std::max(largest, std::bit_cast<Bits>(numbers[i]) & without_sign);
  return std::min(std::bit_cast<T>(largest), std::numeric_limits<T>::infinity());
}

/// The exponent of the power of two for a matrix with this largest number; 0 for most matrices.
template <class T>
int exponent_for(T largest) {
  using Limits = std::numeric_limits<T>;
  constexpr int down = -32, up = 4 * Limits::digits;
  if (largest == 0 || !std::isfinite(largest)) return 0;
  if (largest > std::ldexp(T(1), Limits::max_exponent + down)) return down;
  return largest < std::ldexp(T(1), Limits::min_exponent + up / 2) ? up : 0;
}

template <class T>
void multiply(T* numbers, std::int64_t count, T factor) {
  for (std::int64_t i = 0; i < count; ++i) numbers[i] *= factor;
}

template <class T>
int scale(T* numbers, std::int64_t count) {
  const int exponent = exponent_for(largest_of(numbers, count));
  if (exponent != 0) multiply(numbers, count, std::ldexp(T(1), exponent));
  return exponent;
}

/// `parts`: of an element.
template <class T>
void scale_upper(T* numbers, std::int64_t m, std::int64_t n, std::int64_t parts, int exponent) {
  for (std::int64_t column = 0; column < n; ++column) {
    multiply(numbers + column * m * parts, std::min(column + 1, m) * parts,
             std::ldexp(T(1), exponent));
  }
}

}  // namespace

MatrixScale::MatrixScale(DType dtype, void* matrix, std::int64_t m, std::int64_t n)
    : dtype_(dtype), m_(m), n_(n) {
  const std::int64_t numbers = m * n * (is_complex(dtype) ? 2 : 1);
  exponent_ = real_dtype(dtype) == DType::f32 ? scale(static_cast<float*>(matrix), numbers)
                                              : scale(static_cast<double*>(matrix), numbers);
}

void MatrixScale::restore_upper(void* matrix) const {
  if (exponent_ == 0) return;
  const std::int64_t parts = is_complex(dtype_) ? 2 : 1;
  if (real_dtype(dtype_) == DType::f32) {
    scale_upper(static_cast<float*>(matrix), m_, n_, parts, -exponent_);
  } else {
    scale_upper(static_cast<double*>(matrix), m_, n_, parts, -exponent_);
  }
}

}  // namespace heddle::runtime::lapack

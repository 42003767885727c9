#pragma once
//! section cast needs core
//! defines cast
// NumPy calls the conversion of a float that does not fit an integer undefined. Here it is what its
// loops do on x86-64, on every target: i64 and i32 become their least value, u64 and u32 take the
// upper half of their range by way of the lower, and narrower types wrap i32.
namespace heddle_scalar {
template <class To, class From>
HD_SCALAR To truncate(From x) {
  if constexpr (is_same<To, long long>) {
    const bool fits = (x >= static_cast<From>(-9223372036854775808.0)) &
                      (x < static_cast<From>(9223372036854775808.0));
    return fits ? static_cast<long long>(x) : -9223372036854775807ll - 1;
  } else if constexpr (is_same<To, int>) {
    const bool fits =
        (x > static_cast<From>(-2147483649.0)) & (x < static_cast<From>(2147483648.0));
    return fits ? static_cast<int>(x) : -2147483647 - 1;
  } else if constexpr (is_same<To, unsigned long long>) {
    constexpr From half_range = static_cast<From>(9223372036854775808.0);
    const bool upper = x >= half_range;
    const long long low = truncate<long long>(upper ? x - half_range : x);
    return static_cast<unsigned long long>(low) ^ (upper ? 0x8000000000000000ull : 0ull);
  } else if constexpr (is_same<To, unsigned int>) {
    constexpr From half_range = static_cast<From>(2147483648.0);
    const bool upper = x >= half_range;
    const int low = truncate<int>(upper ? x - half_range : x);
    return static_cast<unsigned int>(low) ^ (upper ? 0x80000000u : 0u);
  } else {
    return static_cast<To>(truncate<int>(x));
  }
}

// Told not to care for traps, GCC 12 makes (float)(int)x one rounding towards zero, which leaves -0
// of -0.5. Adding 0 makes that 0 and changes no other number; in the same expression as the
// conversion, though, GCC takes it away first.
template <class To, class From>
HD_SCALAR To float_of_integer(From x) {
#ifdef __CUDACC__
  // Of the negation of a choice or a plain conversion the compiler makes a signed bit's conversion,
  // ptxas of a choice between -0 and -1 as well, which gives 0 for -0.
  if constexpr (is_same<From, bool> && is_same<To, float>) return __uint2float_rn(x);
  if constexpr (is_same<From, bool> && is_same<To, double>) return __uint2double_rn(x);
#else
  // By a mask: a conversion of a comparison, and a choice, keep GCC 12's loops scalar.
  if constexpr (is_same<From, bool> && is_same<To, float>)
    return __builtin_bit_cast(float, (0u - static_cast<unsigned int>(x)) & 0x3f800000u);
  if constexpr (is_same<From, bool> && is_same<To, double>) {
    return __builtin_bit_cast(double,
                              (0ull - static_cast<unsigned long long>(x)) & 0x3ff0000000000000ull);
  }
  if constexpr (is_same<From, int> || is_same<From, long long>) {
    const To value = static_cast<To>(x);
    return value + static_cast<To>(0);
  }
#endif
  return static_cast<To>(x);
}

template <class To, class From>
HD_SCALAR To cast(From x) {
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (is_same<To, bool>) {
    return truth(x);
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return To(cast<typename To::Part>(x.re), cast<typename To::Part>(x.im));
  } else if constexpr (is_complex<From>) {
    return cast<To>(x.re);
  } else if constexpr (is_complex<To>) {
    return To(cast<typename To::Part>(x));
  } else if constexpr (is_same<From, bool> && is_integer<To>) {
    return static_cast<To>(static_cast<unsigned char>(x ? 1 : 0));
  } else if constexpr (is_soft<From>) {
    return cast<To>(widen(x));
  } else if constexpr (is_soft<To> && is_float<From>) {
    return To::from(x);
  } else if constexpr (is_soft<To>) {
    return To::from(float_of_integer<float>(x));
  } else if constexpr (is_float<From> && is_integer<To>) {
    return truncate<To>(x);
  } else if constexpr (is_float<To> && (is_integer<From> || is_same<From, bool>)) {
    return float_of_integer<To>(x);
  } else {
    return static_cast<To>(x);
  }
}
}  // namespace heddle_scalar

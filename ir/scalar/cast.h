#pragma once
//! section cast needs core
//! defines cast
// In NumPy, converting a float to an integer type that cannot hold it is undefined. Here it gives,
// on every target, what NumPy's loops give on x86-64: the smallest value for i64 and i32; for u64
// and u32, the upper half of the range is converted by way of the lower half; narrower types wrap
// an i32.
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

// If told to ignore traps, GCC 12 compiles (float)(int)x to one rounding towards zero, which keeps
// the -0 of -0.5. Adding 0 turns -0 into 0 and changes no other number. It must not be in the same
// expression as the conversion, because GCC would remove it.
template <class To, class From>
HD_SCALAR To float_of_integer(From x) {
#ifdef __CUDACC__
  // The compiler turns the negation of a choice or of a plain conversion into the conversion of a
  // signed bit, and ptxas does the same for a choice between -0 and -1. The result for -0 would be
  // 0.
  if constexpr (is_same<From, bool> && is_same<To, float>) return __uint2float_rn(x);
  if constexpr (is_same<From, bool> && is_same<To, double>) return __uint2double_rn(x);
#else
  // With a bit mask: a conversion of a comparison, or a choice, would keep GCC 12 from vectorising
  // loops.
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

// If the parts of a complex number are rounded to float and converted back to double, GCC 12
// removes both conversions (it makes a vector of the two parts first). It does not look through
// asm.
template <class T>
HD_SCALAR T rounded_part(T x) {
#if defined(__x86_64__) && !defined(__CUDACC__)
  if constexpr (is_same<T, float>) asm("" : "+x"(x));
#endif
  return x;
}

template <class To, class From>
HD_SCALAR To cast(From x) {
  if constexpr (is_same<To, From>) {
    return x;
  } else if constexpr (is_same<To, bool>) {
    return truth(x);
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return To(cast<typename To::Part>(rounded_part(x.re)),
              cast<typename To::Part>(rounded_part(x.im)));
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

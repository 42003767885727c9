#pragma once
//! section quick needs bits math
#ifndef __CUDACC__
extern "C" float fmaf(float, float, float) noexcept;
#endif
HD_PLAIN_MATH(sqrt)
namespace heddle_scalar::quick {
// Correctly rounded quotients, inverses and square roots of ordinary numbers, computed as GPU
// compilers do: an approximation, then correction steps with exact errors (Markstein, "Computation
// of elementary functions on the IBM RISC System/6000", 1990). If the result may not be exact, they
// set `rare`, and the caller computes everything again in the ordinary way, so that many of them
// share one branch. The `approximate` versions are already cheap.
HD_SCALAR float inverse_near(float x) {
#ifdef __CUDACC__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / x;
#endif
}
HD_SCALAR float inverse_root_near(float x) {
#ifdef __CUDACC__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return 1 / ::sqrtf(x);
#endif
}
// Whether |x| is below 2^Low, at least 2^High, or NaN.
template <int Low, int High>
HD_SCALAR bool is_beyond(float x) {
  constexpr unsigned int least = static_cast<unsigned int>(Low + 127) << 24;
  constexpr unsigned int span = static_cast<unsigned int>(High - Low) << 24;
  return 2 * bits_of(x) - least >= span;
}
HD_SCALAR float reciprocal(float x, bool& rare) {
#ifdef HD_APPROXIMATE
  return 1 / x;
#else
  rare |= is_beyond<-120, 120>(x);
  const float y = inverse_near(x);
  return ::fmaf(::fmaf(-x, y, 1.0f), y, y);
#endif
}
HD_SCALAR float divide(float a, float b, bool& rare) {
#ifdef HD_APPROXIMATE
  return a / b;
#else
  rare |= is_beyond<-60, 60>(a) | is_beyond<-60, 60>(b);
  const float near = inverse_near(b);
  const float y = ::fmaf(::fmaf(-b, near, 1.0f), near, near);
  const float quotient = a * y;
  return ::fmaf(::fmaf(-b, quotient, a), y, quotient);
#endif
}
HD_SCALAR float sqrt(float x, bool& rare) {
#ifdef HD_APPROXIMATE
  return ::sqrtf(x);
#else
  rare |= bits_of(x) - 0x0d000000u >= 0x72800000u;  // outside of 2^-101 to the greatest number
  const float y = inverse_root_near(x);
  const float root = x * y;
  return ::fmaf(::fmaf(-root, root, x), 0.5f * y, root);
#endif
}
}  // namespace heddle_scalar::quick

#pragma once
//! section host_position needs position
//! host
// Positions and bounds in loops that the compiler does not vectorise. Those that need no change,
// which are nearly all, cost one comparison.
namespace heddle_scalar::likely {
template <class Index>
HD_SCALAR Index position(Index index, Index n) {
  const auto above = static_cast<unsigned long long>(index);
  if (__builtin_expect(above < static_cast<unsigned long long>(n), 1)) return index;
  Index nearest = heddle_scalar::position<Index>(index, n);
  // Otherwise GCC computes the element's address before both cases meet, and needs an instruction
  // more for each element.
  asm("" : "+r"(nearest));
  return nearest;
}
template <class T>
HD_SCALAR long long bound(T index, long long n) {
  const auto above = static_cast<unsigned long long>(index);
  if (__builtin_expect(above <= static_cast<unsigned long long>(n), 1))
    return static_cast<long long>(above);
  return heddle_scalar::bound<T>(index, n);
}
}  // namespace heddle_scalar::likely

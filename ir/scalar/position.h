#pragma once
//! section position needs core
// Positions that indices select along an axis of n elements. Negative indices count from the end.
namespace heddle_scalar {
HD_SCALAR bool is_position(long long index, long long n) { return index >= -n && index < n; }
// The position of an index. An index that is out of range gives the nearest position, so that no
// address is out of range.
template <class Index>
HD_SCALAR Index position(Index index, Index n) {
  const Index counted = index < 0 ? index + n : index;
  const Index last = n > 0 ? n - 1 : 0;
  // Not as max(min(counted, last), 0), which ptxas (CUDA 13.0) makes one instruction of 32 bits
  // whose predicate it takes for a comparison of the result with `last`; they differ where counted
  // == last.
  const bool inside = counted >= 0 && counted < n;
  return inside ? counted : counted < 0 ? 0 : last;
}
// The begin or end of a segment of an axis of n elements: clipped to [0, n].
template <class T>
HD_SCALAR long long bound(T index, long long n) {
  const auto above = static_cast<unsigned long long>(index);
  const long long below =
      above < static_cast<unsigned long long>(n) ? static_cast<long long>(above) : n;
  return index < static_cast<T>(1) ? 0 : below;
}
}  // namespace heddle_scalar

#pragma once
//! section position needs core
// Where an index names an element of an axis of n: negative ones count from the end.
namespace heddle_scalar {
HD_SCALAR bool is_position(long long index, long long n) { return index >= -n && index < n; }
// The nearest element for one that is outside, so that no address ever is.
HD_SCALAR long long position(long long index, long long n) {
  const long long counted = index < 0 ? index + n : index;
  const long long below = counted < n ? counted : n - 1;
  return below < 0 ? 0 : below;
}
}  // namespace heddle_scalar

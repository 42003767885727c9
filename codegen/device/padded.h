#pragma once
//! section padded
// The index of element i of an array in shared memory in which `Bytes` bytes follow every 128
// bytes, so that threads which access every 8th or 16th element use different banks.
template <class T, int Bytes>
__device__ __forceinline__ int padded(int i) {
  constexpr int line = 128 / static_cast<int>(sizeof(T));
  return i + i / line * (Bytes / static_cast<int>(sizeof(T)));
}

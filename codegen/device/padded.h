#pragma once
//! section padded
// The index of element i of an array in shared memory in which `Bytes` bytes follow every 128
// bytes, so that threads which access every 8th or 16th element use different banks.
template <class T, int Bytes>
__device__ __forceinline__ int padded(unsigned int i) {
  constexpr unsigned int line = 128 / sizeof(T);
  return static_cast<int>(i + i / line * (Bytes / sizeof(T)));
}

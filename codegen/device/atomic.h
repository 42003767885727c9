//! section atomic
// Atomic accesses to global memory, device-wide and relaxed. A block hands data to another by
// device_fence() and then an atomic; the other's atomic that sees it, then device_fence().
__device__ __forceinline__ int atomic_add(int* p, long long i, int value) {
  return atomicAdd(p + i, value);
}
__device__ __forceinline__ unsigned int atomic_add(unsigned int* p, long long i,
                                                   unsigned int value) {
  return atomicAdd(p + i, value);
}
__device__ __forceinline__ unsigned long long atomic_add(unsigned long long* p, long long i,
                                                         unsigned long long value) {
  return atomicAdd(p + i, value);
}
__device__ __forceinline__ float atomic_add(float* p, long long i, float value) {
  return atomicAdd(p + i, value);
}
__device__ __forceinline__ unsigned int atomic_max(unsigned int* p, long long i,
                                                   unsigned int value) {
  return atomicMax(p + i, value);
}
__device__ __forceinline__ unsigned long long atomic_max(unsigned long long* p, long long i,
                                                         unsigned long long value) {
  return atomicMax(p + i, value);
}
// Sums of signed integers wrap as those of unsigned ones do.
__device__ __forceinline__ long long atomic_add(long long* p, long long i, long long value) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(p) + i,
                                          static_cast<unsigned long long>(value)));
}

// flags[i] as it is now.
template <class W>
__device__ __forceinline__ W look_at(const W* flags, long long i) {
  return *static_cast<const volatile W*>(flags + i);
}

// Waits until flags[i], which an atomic of another block sets, is not 0, and returns it. That block
// must have begun before this one.
template <class W>
__device__ __forceinline__ W wait_until_set(const W* flags, long long i) {
  const volatile W* flag = flags + i;
  W seen = *flag;
  while (seen == 0) {
    __nanosleep(20);
    seen = *flag;
  }
  return seen;
}

// What this thread wrote or saw before is ordered, for the whole device, before what it does after.
__device__ __forceinline__ void device_fence() { __threadfence(); }

//! section atomic
// Device-wide relaxed atomic accesses to global memory. To hand data to another block, a block
// calls device_fence() and then an atomic. The other block reads that with an atomic and then calls
// device_fence().
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
// Signed sums wrap like unsigned ones.
__device__ __forceinline__ long long atomic_add(long long* p, long long i, long long value) {
  return static_cast<long long>(atomicAdd(reinterpret_cast<unsigned long long*>(p) + i,
                                          static_cast<unsigned long long>(value)));
}

// Reads the current value of flags[i].
template <class W>
__device__ __forceinline__ W look_at(const W* flags, long long i) {
  return *static_cast<const volatile W*>(flags + i);
}

// Waits until flags[i] is not 0, and returns it. Another block sets it with an atomic. That block
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

// Orders this thread's earlier reads and writes before its later ones, for the whole device.
__device__ __forceinline__ void device_fence() { __threadfence(); }

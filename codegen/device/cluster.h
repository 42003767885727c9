//! section cluster needs shared
// Clusters of blocks that run together and read one another's shared memory; from sm_90 on. A block
// must not exit while another may still read its memory: end with cluster_barrier().
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The number of this block in its cluster.
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// Element i of the same shared array in block `rank` of the cluster.
template <class T>
__device__ __forceinline__ T cluster_shared_load(SharedArray<T> s, int i, int rank) {
  const unsigned int local =
      static_cast<unsigned int>(__cvta_generic_to_shared(static_cast<const void*>(s.data + i)));
  unsigned int remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  T result = T();
  if constexpr (sizeof(T) == 1) {
    unsigned int byte;
    asm volatile("ld.shared::cluster.u8 %0, [%1];" : "=r"(byte) : "r"(remote) : "memory");
    memcpy(&result, &byte, 1);
  } else if constexpr (sizeof(T) == 2) {
    unsigned short half_word;
    asm volatile("ld.shared::cluster.u16 %0, [%1];" : "=h"(half_word) : "r"(remote) : "memory");
    memcpy(&result, &half_word, 2);
  } else {
    static_assert(sizeof(T) % 4 == 0 && alignof(T) >= 4, "moved as 32-bit words");
    unsigned int words[sizeof(T) / 4];
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof(T) / 4); ++k) {
      asm volatile("ld.shared::cluster.u32 %0, [%1];"
                   : "=r"(words[k])
                   : "r"(remote + 4 * k)
                   : "memory");
    }
    memcpy(&result, words, sizeof(T));
  }
  return result;
}

//! section cluster needs shared
// Clusters of blocks that run together and write to each other's shared memory; from sm_90 on.
// Every block has an exchange, an 8-byte counter (mbarrier) in its shared memory, which is used
// once. Blocks store data into each other's shared memory. A block waits until all bytes that it
// expects have arrived. At a barrier of the cluster it would also wait for its own stores. A block
// must not end before its data have arrived, since its shared memory is still written until then.

// The index of this block in its cluster.
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ unsigned int shared_address(const void* p) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

// Opens an exchange; called by one thread. This block then expects `bytes` bytes in all, from all
// blocks, itself included.
__device__ __forceinline__ void open_exchange(SharedArray<unsigned long long> exchange, int bytes) {
  const unsigned int address = shared_address(exchange.data);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
               : "memory");
}

// announce_exchanges says that this block has opened its exchanges; await_exchanges waits until all
// blocks have said so. Every thread calls each of them once, and uses no exchange in between.
__device__ __forceinline__ void announce_exchanges() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ __forceinline__ void await_exchanges() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

// Stores `value` to element i of the same shared array in block `rank`.
template <class T>
__device__ __forceinline__ void push_shared(SharedArray<T> s, int i, T value, int rank,
                                            SharedArray<unsigned long long> exchange) {
  static_assert(sizeof(T) % 4 == 0 && alignof(T) >= 4, "moved as 32-bit words");
  unsigned int to, counter;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(to)
               : "r"(shared_address(s.data + i)), "r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(counter)
               : "r"(shared_address(exchange.data)), "r"(rank));
  unsigned int words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  constexpr int step = sizeof(T) % 16 == 0 && alignof(T) % 16 == 0 ? 4 : 1;
#pragma unroll
  for (int k = 0; k < static_cast<int>(sizeof(T) / 4); k += step) {
    if constexpr (step == 4) {
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
          "[%5];" ::"r"(to + 4 * k),
          "r"(words[k]), "r"(words[k + 1]), "r"(words[k + 2]), "r"(words[k + 3]), "r"(counter)
          : "memory");
    } else {
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to +
                                                                                            4 * k),
          "r"(words[k]), "r"(counter)
          : "memory");
    }
  }
}

// All threads wait until the data pushed to this block can be read.
__device__ __forceinline__ void await_exchange(SharedArray<unsigned long long> exchange) {
  const unsigned int address = shared_address(exchange.data);
  unsigned int complete;
  do {
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%1], 0;\n"
        "selp.u32 %0, 1, 0, complete;\n"
        "}\n"
        : "=r"(complete)
        : "r"(address)
        : "memory");
  } while (complete == 0);
}

//! section cluster_reduce needs cluster block_reduce parcel
template <class R, int Blocks, int Slots, int W>
__device__ __forceinline__ void open_cluster_reduction(int exchange_offset) {
  using Sent = Parcel<typename R::State, W>;
  if (linear_thread() != 0) return;
  open_exchange(shared_pointer<unsigned long long>(exchange_offset),
                Blocks * Slots * static_cast<int>(sizeof(Sent)));
}

// Reduces over the blocks of a cluster, in their order. Before and after, threads with the same
// index modulo Slots hold the same W states; the block size is a multiple of Slots. Each reduction
// needs its own exchange, opened by open_cluster_reduction, and its own Blocks * Slots parcels of
// shared memory.
template <class R, int Blocks, int Slots, int W>
__device__ __forceinline__ void reduce_cluster(typename R::State (&s)[W], int exchange_offset,
                                               int parcel_offset) {
  using Sent = Parcel<typename R::State, W>;
  const auto exchange = shared_pointer<unsigned long long>(exchange_offset);
  const SharedArray<Sent> parcels = shared_pointer<Sent>(parcel_offset);
  const int thread = linear_thread(), slot = thread % Slots;
  const int threads = static_cast<int>(blockDim.x * blockDim.y);
  Sent own = {};
#pragma unroll
  for (int k = 0; k < W; ++k) own.states[k] = s[k];
  for (int i = thread; i < Blocks * Slots; i += threads) {
    push_shared(parcels, cluster_rank() * Slots + slot, own, i / Slots, exchange);
  }
  await_exchange(exchange);
#pragma unroll
  for (int rank = 0; rank < Blocks; ++rank) {
    const Sent other = shared_load(parcels, rank * Slots + slot);
#pragma unroll
    for (int k = 0; k < W; ++k)
      s[k] = rank == 0 ? other.states[k] : R::combine(s[k], other.states[k]);
  }
}

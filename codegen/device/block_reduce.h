//! section block_reduce needs shared warp
// Reductions over the threads of a block. R is a struct of ir/scalar/reduce.h. Elements are
// combined in a fixed order, so every run gives the same bits. All threads of a group get the same
// bits too.

// The linear index of this thread in its block. 32 consecutive threads are a warp.
__device__ __forceinline__ int linear_thread() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

constexpr int power_of_two_from(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

// Reduces over groups of `Lanes` consecutive lanes, a power of two up to 32.
template <class R, int Lanes>
__device__ __forceinline__ typename R::State reduce_within_warp(typename R::State s) {
  const int lane = linear_thread() & 31;
#pragma unroll
  for (int step = 1; step < Lanes; step *= 2) {
    const typename R::State other = shuffle_xor(s, step, Lanes);
    s = (lane & step) != 0 ? R::combine(other, s) : R::combine(s, other);
  }
  return s;
}

// Reduces over groups of `Threads` consecutive threads, a power of two up to 32 or a multiple of 32
// up to 1024. The block size is a multiple of Threads and of 32. Every thread of the block must
// call it, and gets its group's result. If Threads > 32, it uses shared memory from `shared_offset`
// on: reduce_shared_bytes(threads of the block, sizeof(State)) bytes. It begins with a barrier, so
// calls may follow one another directly. Any other use of these bytes afterwards needs a barrier
// first.
template <class R, int Threads>
__device__ __forceinline__ typename R::State reduce_groups(typename R::State s,
                                                           int shared_offset = 0) {
  using State = typename R::State;
  if constexpr (Threads <= 32) {
    return reduce_within_warp<R, Threads>(s);
  } else {
    constexpr int warps = Threads / 32;
    const int thread = linear_thread();
    const SharedArray<State> partial = shared_pointer<State>(shared_offset);
    s = reduce_within_warp<R, 32>(s);
    block_barrier();
    if (thread % 32 == 0) shared_store(partial, thread / 32, s);
    block_barrier();
    constexpr int lanes = power_of_two_from(warps);
    const int lane = thread % lanes;
    s = lane < warps ? shared_load(partial, thread / Threads * warps + lane) : R::identity();
    return reduce_within_warp<R, lanes>(s);
  }
}

constexpr int reduce_shared_bytes(int threads_of_block, int state_bytes) {
  return threads_of_block / 32 * state_bytes;
}

//! section long_rows needs block_reduce
// A number of threads, as a type.
template <int N>
struct Threads {
  static constexpr int count = N;
};

struct Least {
  using State = int;
  static __device__ __forceinline__ State identity() { return 0x7fffffff; }
  static __device__ __forceinline__ State combine(State a, State b) { return a < b ? a : b; }
};

// The least `number` for which `counts` is true in a thread of a block of N; otherwise the largest
// int. Under the rules of reduce_groups.
template <int N>
__device__ __forceinline__ int least_of_block(bool counts, int number) {
  return reduce_groups<Least, N>(counts ? number : Least::identity());
}

//! section parcel
// W states that are moved together, in as few accesses to memory as possible. The size is a
// multiple of 4 bytes.
template <class State, int W>
struct alignas(sizeof(State) * W % 16 == 0 ? 16
               : alignof(State) > 4        ? alignof(State)
                                           : 4) Parcel {
  State states[W];
};

//! section column_reduce needs block_reduce parcel
// Reduces s[k] for each k < W over the threads of a column, which have the same threadIdx.x, in a
// block of (X, Threads / X) threads. X is a power of two up to 32. All threads get their column's
// results. Uses shared memory from `shared_offset` on, under the rules of reduce_groups: Threads /
// 32
// * X parcels of min(W, 4) states.
template <class R, int X, int Threads, int W>
__device__ __forceinline__ void reduce_columns(typename R::State (&s)[W], int shared_offset = 0) {
  using State = typename R::State;
  constexpr int warps = Threads / 32, group = W < 4 ? W : 4;
  const int thread = linear_thread(), warp = thread / 32, lane = thread % 32;
#pragma unroll
  for (int step = X; step < 32; step *= 2) {
#pragma unroll
    for (int k = 0; k < W; ++k) {
      const State other = shuffle_xor(s[k], step, 32);
      s[k] = (lane & step) != 0 ? R::combine(other, s[k]) : R::combine(s[k], other);
    }
  }
  if constexpr (warps > 1) {
    using Sent = Parcel<State, group>;
    const SharedArray<Sent> partial = shared_pointer<Sent>(shared_offset);
#pragma unroll
    for (int first = 0; first < W; first += group) {
      Sent own = {};
#pragma unroll
      for (int k = 0; k < group; ++k) own.states[k] = s[first + k];
      block_barrier();
      if (lane < X) shared_store(partial, warp * X + lane, own);
      block_barrier();
#pragma unroll
      for (int w = 0; w < warps; ++w) {
        const Sent other = shared_load(partial, w * X + lane % X);
#pragma unroll
        for (int k = 0; k < group; ++k) {
          s[first + k] = w == 0 ? other.states[k] : R::combine(s[first + k], other.states[k]);
        }
      }
    }
  }
}

//! section block_scan needs block_reduce
// Scans over the threads of a block. R is a struct of ir/scalar/scan.h. Combinations form a fixed
// tree, so results are bitwise equal from run to run.

// Inclusive scan over groups of `Lanes` lanes, a power of two up to 32.
template <class R, int Lanes>
__device__ __forceinline__ typename R::State scan_within_warp(typename R::State s) {
  const int lane = (linear_thread() & 31) % Lanes;
#pragma unroll
  for (int step = 1; step < Lanes; step *= 2) {
    const typename R::State other = shuffle_up(s, step, Lanes);
    if (lane >= step) s = R::combine(other, s);
  }
  return s;
}

// Exclusive scan of `entries` states in shared memory; the entry after the last becomes the total.
// A whole warp calls it.
template <class R>
__device__ __forceinline__ void scan_shared(SharedArray<typename R::State> totals, int first,
                                            int entries) {
  using State = typename R::State;
  const int lane = linear_thread() & 31;
  State before = R::identity();
  for (int e = 0; e < entries; e += 32) {
    const bool inside = e + lane < entries;
    const State own = inside ? shared_load(totals, first + e + lane) : R::identity();
    const State sum = scan_within_warp<R, 32>(own);
    const State earlier = shuffle_up(sum, 1, 32);
    const State prefix = lane == 0 ? before : R::combine(before, earlier);
    if (inside) shared_store(totals, first + e + lane, prefix);
    before = R::combine(before, shuffle(sum, 31, 32));
  }
  if (lane == 0) shared_store(totals, first + entries, before);
}

// Inclusive scan of a[h][k] over a group of `Lanes` threads, a power of two up to 1024, in the
// order h, lane, k. Every thread of the group gets the total. Every thread of the block must call
// it. Beyond 32 lanes it uses (Held * block's threads / 32 + block's threads / Lanes) *
// sizeof(State) bytes of shared memory from `shared_offset`, under the rules of reduce_groups.
template <class R, int Lanes, int Held, int Width>
__device__ __forceinline__ typename R::State scan_groups(typename R::State (&a)[Held][Width],
                                                         int shared_offset = 0) {
  using State = typename R::State;
  constexpr int group = Lanes < 32 ? Lanes : 32, warps = Lanes / group;
  const int thread = linear_thread(), warp = thread % Lanes / group;
  const bool leads = thread % group == 0;
  State sum[Held];
#pragma unroll
  for (int h = 0; h < Held; ++h) {
#pragma unroll
    for (int k = 1; k < Width; ++k) a[h][k] = R::combine(a[h][k - 1], a[h][k]);
    sum[h] = scan_within_warp<R, group>(a[h][Width - 1]);
  }
  State before[Held], total = R::identity();
  if constexpr (Lanes <= 32) {
#pragma unroll
    for (int h = 0; h < Held; ++h) {
      before[h] = total;
      total = R::combine(total, shuffle(sum[h], Lanes - 1, Lanes));
    }
  } else {
    const SharedArray<State> totals = shared_pointer<State>(shared_offset);
    const int first = thread / Lanes * (Held * warps + 1);
    block_barrier();
#pragma unroll
    for (int h = 0; h < Held; ++h) {
      if (thread % 32 == 31) shared_store(totals, first + h * warps + warp, sum[h]);
    }
    block_barrier();
    if (warp == 0) scan_shared<R>(totals, first, Held * warps);
    block_barrier();
#pragma unroll
    for (int h = 0; h < Held; ++h) before[h] = shared_load(totals, first + h * warps + warp);
    total = shared_load(totals, first + Held * warps);
  }
#pragma unroll
  for (int h = 0; h < Held; ++h) {
    State prefix = before[h];
    if constexpr (group > 1) {
      const State earlier = shuffle_up(sum[h], 1, group);
      if (!leads) prefix = R::combine(prefix, earlier);
    }
#pragma unroll
    for (int k = 0; k < Width; ++k) a[h][k] = R::combine(prefix, a[h][k]);
  }
  return total;
}

//! section column_scan needs shared
// Inclusive scan of a[h][k] over the threads with the same x in a block of (blockDim.x, ThreadsY)
// threads, in the order y, h, separately for every k; total[k] gets the total. Uses blockDim.x *
// ThreadsY * Width * sizeof(State) bytes of shared memory from `shared_offset`, under the rules of
// reduce_groups.
template <class R, int ThreadsY, int Held, int Width>
__device__ __forceinline__ void column_scan(typename R::State (&a)[Held][Width],
                                            typename R::State (&total)[Width],
                                            int shared_offset = 0) {
  using State = typename R::State;
  const int columns = static_cast<int>(blockDim.x), y = static_cast<int>(threadIdx.y);
  const int row = columns * Width, place = y * row + static_cast<int>(threadIdx.x) * Width;
#pragma unroll
  for (int k = 0; k < Width; ++k) {
#pragma unroll
    for (int h = 1; h < Held; ++h) a[h][k] = R::combine(a[h - 1][k], a[h][k]);
    total[k] = a[Held - 1][k];
  }
  if constexpr (ThreadsY > 1) {
    const SharedArray<State> sums = shared_pointer<State>(shared_offset);
    for (int step = 1; step < ThreadsY; step *= 2) {
      block_barrier();
#pragma unroll
      for (int k = 0; k < Width; ++k) shared_store(sums, place + k, total[k]);
      block_barrier();
#pragma unroll
      for (int k = 0; k < Width; ++k) {
        if (y >= step) total[k] = R::combine(shared_load(sums, place - step * row + k), total[k]);
      }
    }
    block_barrier();
#pragma unroll
    for (int k = 0; k < Width; ++k) shared_store(sums, place + k, total[k]);
    block_barrier();
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      const State prefix = y > 0 ? shared_load(sums, place - row + k) : R::identity();
#pragma unroll
      for (int h = 0; h < Held; ++h) a[h][k] = R::combine(prefix, a[h][k]);
      total[k] = shared_load(sums, place + (ThreadsY - 1 - y) * row + k);
    }
  }
}

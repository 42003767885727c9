//! section ticket needs block_reduce atomic
// Blocks take numbers in the order in which they begin, so that every block with a smaller number
// is running or finished. `counter` is 0 before the launch.
template <class W>
__device__ __forceinline__ W take_ticket(W* counter) {
  const SharedArray<W> ticket = shared_pointer<W>(0);
  if (linear_thread() == 0) shared_store(ticket, 0, atomic_add(counter, 0, W(1)));
  block_barrier();
  return shared_load(ticket, 0);
}

//! section look_back needs ticket memory
// Scan over tiles, one block per tile; a block waits for the totals of earlier tiles. The tiles are
// the leaves of a tree: a node of level l + 1 combines `Children` consecutive nodes of level l, and
// is published by the last tile below it. A tile combines the earlier siblings of all its
// ancestors. These are always the same nodes in the same order, and the chain of waits is short.
// Levels are stored one after another, leaves first, and have fewer than twice as many nodes as
// there are tiles.

// The offsets of the state and the flag of node 0 of a row's tree, the number of tiles, and this
// tile.
struct TileOffsets {
  long long state, flag, tiles, tile;
};

// A level of the tree as seen from a tile: the tile's ancestor on that level, and the number of its
// earlier siblings.
template <int Children>
struct TileLevel {
  long long base, count, node;
  __device__ __forceinline__ explicit TileLevel(TileOffsets place)
      : base(0), count(place.tiles), node(place.tile) {}
  __device__ __forceinline__ int siblings() const { return static_cast<int>(node % Children); }
  __device__ __forceinline__ bool closes() const {
    return siblings() == Children - 1 && count > Children;
  }
  __device__ __forceinline__ void up() {
    base += count;
    count = (count + Children - 1) / Children;
    node /= Children;
  }
  __device__ __forceinline__ long long sibling(int i) const { return base + node - siblings() + i; }
};

// A state of up to 4 bytes is packed into one word with its flag, so that other blocks see both at
// once.
template <class State>
constexpr bool fits_flag = sizeof(State) <= 4;
template <class State>
union FlagBits {
  unsigned int bits;
  State state;
};

template <class State>
__device__ __forceinline__ void publish(State* states, unsigned long long* flags, TileOffsets place,
                                        long long node, State state) {
  if constexpr (fits_flag<State>) {
    FlagBits<State> packed = {0};
    packed.state = state;
    atomic_add(flags, place.flag + node, 1ull << 32 | packed.bits);
  } else {
    store(states, place.state + node, state);
    device_fence();
    atomic_add(flags, place.flag + node, 1ull);
  }
}

template <class State>
__device__ __forceinline__ State await_state(const State* states, const unsigned long long* flags,
                                             TileOffsets place, long long node) {
  const unsigned long long word = wait_until_set(flags, place.flag + node);
  if constexpr (fits_flag<State>) {
    const FlagBits<State> packed = {static_cast<unsigned int>(word)};
    return packed.state;
  } else {
    device_fence();
    return load(states, place.state + node);
  }
}

// Returns, to every thread of the block, the combination of all earlier tiles of the row; `own` is
// this tile's state. Each warp handles one level. A block has 256 threads, enough for 32^8 tiles.
// Uses 8 * sizeof(State) bytes of shared memory, under the rules of reduce_groups.
template <class R>
__device__ __forceinline__ typename R::State look_back(typename R::State own,
                                                       typename R::State* states,
                                                       unsigned long long* flags,
                                                       TileOffsets place) {
  using State = typename R::State;
  const int thread = linear_thread(), lane = thread % 32, warp = thread / 32;
  if (thread == 0) publish(states, flags, place, place.tile, own);
  TileLevel<32> level(place);
  for (int l = 0; l < warp && level.count > 1; ++l) level.up();
  State sum = R::identity();
  if (level.count > 1) {
    if (lane < level.siblings()) sum = await_state(states, flags, place, level.sibling(lane));
    sum = reduce_within_warp<R, 32>(sum);
    if (thread == 0 && level.closes()) {
      const State node = R::combine(sum, own);
      level.up();
      publish(states, flags, place, level.base + level.node, node);
    }
  }
  const SharedArray<State> sums = shared_pointer<State>(0);
  block_barrier();
  if (lane == 0) shared_store(sums, warp, sum);
  block_barrier();
  State before = R::identity(), node = own;
  level = TileLevel<32>(place);
  bool closes = true;
  for (int l = 0; level.count > 1; ++l) {
    const State earlier = shared_load(sums, l);
    before = R::combine(earlier, before);
    node = R::combine(earlier, node);
    closes = closes && level.closes();
    level.up();
    if (thread == 0 && closes && l > 0) {
      publish(states, flags, place, level.base + level.node, node);
    }
  }
  return before;
}

//! section look_back_columns needs look_back
// The same for a block of (blockDim.x, 256 / blockDim.x) threads, in which each x has `valid` of
// `Width` columns. All threads of an x have own[k] and get before[k]. The states of consecutive
// nodes are `stride` elements apart; one flag covers all columns of the block. A node has eight
// siblings, each read by one thread. Uses 8 * blockDim.x * Width * sizeof(State) bytes of shared
// memory, under the rules of reduce_groups.
template <class State, int Width>
__device__ __forceinline__ void publish_columns(State* states, unsigned long long* flags,
                                                TileOffsets place, long long stride, int valid,
                                                long long node, const State (&own)[Width]) {
  if (threadIdx.y == 0) {
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      if (k < valid) store(states, place.state + node * stride + k, own[k]);
    }
    device_fence();
  }
  block_barrier();
  if (threadIdx.x == 0 && threadIdx.y == 0) atomic_add(flags, place.flag + node, 1ull);
}

// Combines the states of threads y = 0 .. 7; all threads get the result.
template <class R, int Width>
__device__ __forceinline__ void combine_siblings(typename R::State (&s)[Width]) {
  const SharedArray<typename R::State> sums = shared_pointer<typename R::State>(0);
  const int x = static_cast<int>(threadIdx.x) * Width, row = static_cast<int>(blockDim.x) * Width;
  block_barrier();
  if (threadIdx.y < 8) {
#pragma unroll
    for (int k = 0; k < Width; ++k)
      shared_store(sums, static_cast<int>(threadIdx.y) * row + x + k, s[k]);
  }
  block_barrier();
#pragma unroll
  for (int k = 0; k < Width; ++k) {
    s[k] = shared_load(sums, x + k);
#pragma unroll
    for (int y = 1; y < 8; ++y) s[k] = R::combine(s[k], shared_load(sums, y * row + x + k));
  }
}

template <class R, int Width>
__device__ __forceinline__ void look_back_columns(const typename R::State (&own)[Width],
                                                  typename R::State (&before)[Width],
                                                  typename R::State* states,
                                                  unsigned long long* flags, TileOffsets place,
                                                  long long stride, int valid) {
  using State = typename R::State;
  publish_columns(states, flags, place, stride, valid, place.tile, own);
  State node[Width];
#pragma unroll
  for (int k = 0; k < Width; ++k) {
    node[k] = own[k];
    before[k] = R::identity();
  }
  const int y = static_cast<int>(threadIdx.y);
  bool closes = true;
  for (TileLevel<8> level(place); level.count > 1;) {
    State sum[Width];
    if (y < level.siblings()) {
      wait_until_set(flags, place.flag + level.sibling(y));
      device_fence();
    }
#pragma unroll
    for (int k = 0; k < Width; ++k) {
      sum[k] = R::identity();
      if (y < level.siblings() && k < valid)
        sum[k] = load(states, place.state + level.sibling(y) * stride + k);
    }
    closes = closes && level.closes();
    level.up();
    // Combine level by level to keep the order: in a segmented scan, a state that begins a segment
    // discards the states before it.
    combine_siblings<R>(sum);
#pragma unroll
    for (int k = 0; k < Width; ++k) before[k] = R::combine(sum[k], before[k]);
    if (closes) {
#pragma unroll
      for (int k = 0; k < Width; ++k) node[k] = R::combine(sum[k], node[k]);
      publish_columns(states, flags, place, stride, valid, level.base + level.node, node);
    }
  }
}

//! section radix_sort needs sort radix bitwise_count
// Stable sort of rows by one digit of their keys after the other, the least significant first: how
// often each digit is in each tile is counted, added up, and says where the tile's elements go.
constexpr int radix_digits = 256;

template <class T>
__device__ __forceinline__ int radix_digit(T key, int shift) {
  return static_cast<int>(heddle_scalar::key_bits(key) >> shift) & (radix_digits - 1);
}

// The tile of this block: elements first .. first + count - 1 of a row.
template <int Tile>
struct RadixTile {
  long long tiles, row, number, first;
  int count;
  __device__ __forceinline__ explicit RadixTile(long long length) {
    tiles = (length + Tile - 1) / Tile;
    row = blockIdx.x / tiles;
    number = blockIdx.x % tiles;
    first = number * Tile;
    count = static_cast<int>(length - first < Tile ? length - first : Tile);
  }
  // Where the counts of this tile stand: those of a digit side by side for all tiles of the row.
  __device__ __forceinline__ long long count_of(int digit) const {
    return (row * radix_digits + digit) * tiles + number;
  }
};

// Elements of a tile, of which every warp has a run, and in each round its lanes neighbours; and
// how many before it in its warp's run have the same digit.
template <int Threads, int Items, class T>
struct RadixItems {
  static constexpr int warps = Threads / 32;
  T key[Items];
  int rank[Items];

  static __device__ __forceinline__ int slot(int round) {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 * (32 * Items) + round * 32 + thread % 32;
  }

  // counters[warp * 256 + digit] becomes how many of the warp's run have the digit.
  __device__ __forceinline__ void count(const T* from, int size, int shift,
                                        SharedArray<int> counters) {
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32, lane = thread % 32;
    for (int i = thread; i < warps * radix_digits; i += Threads) shared_store(counters, i, 0);
    block_barrier();
#pragma unroll
    for (int round = 0; round < Items; ++round) {
      const bool exists = slot(round) < size;
      key[round] = exists ? load(from, slot(round)) : T();
      const int digit = radix_digit(key[round], shift);
      unsigned int peers = ballot(exists);
#pragma unroll
      for (int bit = 0; bit < 8; ++bit) {
        const bool is_set = (digit >> bit & 1) != 0;
        const unsigned int votes = ballot(is_set);
        peers &= is_set ? votes : ~votes;
      }
      const unsigned int before = peers & ((1u << lane) - 1);
      const int counter = warp * radix_digits + digit;
      const int earlier = exists ? shared_load(counters, counter) : 0;
      rank[round] = earlier + heddle_scalar::bitwise_count(before);
      warp_barrier();
      if (exists && before == 0) {
        shared_store(counters, counter, earlier + heddle_scalar::bitwise_count(peers));
      }
      warp_barrier();
    }
    block_barrier();
  }
};

// Thread t adds digit t's counters up: each becomes the sum of those before it. Returns their sum.
template <int Warps>
__device__ __forceinline__ int radix_add_up(SharedArray<int> counters) {
  int sum = 0;
#pragma unroll
  for (int warp = 0; warp < Warps; ++warp) {
    const int i = warp * radix_digits + static_cast<int>(threadIdx.x);
    const int count = shared_load(counters, i);
    shared_store(counters, i, sum);
    sum += count;
  }
  return sum;
}

// The sum of the values of all threads before this one. Uses Threads / 32 elements of `sums`.
template <int Threads, class T>
__device__ __forceinline__ T sum_before(T value, SharedArray<T> sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32, lane = thread % 32;
  T sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T other = shuffle_up(sum, step, 32);
    if (lane >= step) sum += other;
  }
  block_barrier();
  if (lane == 31) shared_store(sums, warp, sum);
  block_barrier();
  T before = sum - value;
  for (int i = 0; i < warp; ++i) before += shared_load(sums, i);
  return before;
}

// counts[row][digit][tile]: how often the digit is in the tile.
template <int Threads, int Items, class T>
__device__ __forceinline__ void radix_count(long long length, int shift, const T* from,
                                            int* counts) {
  const RadixTile<Threads * Items> tile(length);
  const SharedArray<int> counters = shared_pointer<int>(0);
  RadixItems<Threads, Items, T> items;
  items.count(from + tile.row * length + tile.first, tile.count, shift, counters);
  const int thread = static_cast<int>(threadIdx.x);
  store(counts, tile.count_of(thread), radix_add_up<Threads / 32>(counters));
}

// Counts of a digit become how often it is in the tiles before; totals[row][digit] in all of them.
template <int Threads>
__device__ __forceinline__ void radix_scan(long long tiles, int* counts, int* totals) {
  const SharedArray<int> sums = shared_pointer<int>(0);
  const int thread = static_cast<int>(threadIdx.x);
  const long long row = blockIdx.x;
  int sum = 0;
  for (long long first = 0; first < tiles; first += Threads) {
    const bool exists = first + thread < tiles;
    const long long at = row * tiles + first + thread;
    const int count = exists ? load(counts, at) : 0;
    const int before = sum + sum_before<Threads>(count, sums);
    if (exists) store(counts, at, before);
    // The last thread knows the sum so far.
    block_barrier();
    if (thread == Threads - 1) shared_store(sums, 0, before + count);
    block_barrier();
    sum = shared_load(sums, 0);
    block_barrier();
  }
  if (thread == 0) store(totals, row, sum);
}

// Moves every element of a tile to where it belongs by this digit.
template <int Threads, int Items, class T, class I>
__device__ __forceinline__ void radix_scatter(long long length, int shift, const T* from,
                                              const I* from_places, const int* counts,
                                              const int* totals, const SortResults<T, I>& to) {
  constexpr int tile_size = Threads * Items, warps = Threads / 32;
  const RadixTile<tile_size> tile(length);
  const SortTile<T, I, tile_size> staged;
  constexpr int staged_bytes = SortTile<T, I, tile_size>::slots *
                               static_cast<int>(sizeof(T) + (has_places<I> ? sizeof(I) : 0));
  const SharedArray<int> counters = shared_pointer<int>(staged_bytes);
  const SharedArray<int> starts = shared_pointer<int>(staged_bytes + 4 * warps * radix_digits);
  const SharedArray<int> sums = shared_pointer<int>(staged_bytes + 4 * (warps + 1) * radix_digits);
  const int thread = static_cast<int>(threadIdx.x);
  const long long row = tile.row * length;

  RadixItems<Threads, Items, T> items;
  items.count(from + row + tile.first, tile.count, shift, counters);
  // Where digits start in the tile, and, less that, where this tile's elements of it go in the row.
  const int start = sum_before<Threads>(radix_add_up<warps>(counters), sums);
  block_barrier();
  const int smaller = sum_before<Threads>(load(totals, tile.row * radix_digits + thread), sums);
  const int target = smaller + load(counts, tile.count_of(thread)) - start;
#pragma unroll
  for (int warp = 0; warp < warps; ++warp) {
    const int i = warp * radix_digits + thread;
    shared_store(counters, i, start + shared_load(counters, i));
  }
  shared_store(starts, thread, target);
  block_barrier();
#pragma unroll
  for (int round = 0; round < Items; ++round) {
    const int slot = items.slot(round);
    if (slot >= tile.count) continue;
    const int digit = radix_digit(items.key[round], shift);
    const int i = shared_load(counters, thread / 32 * radix_digits + digit) + items.rank[round];
    staged.set(i, items.key[round]);
    if constexpr (has_places<I>) {
      // The first pass makes the places.
      const long long place = tile.first + slot;
      staged.set_place(
          i, from_places == nullptr ? static_cast<I>(place) : load(from_places, row + place));
    }
  }
  block_barrier();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    if (i >= tile.count) continue;
    const int digit = radix_digit(staged.key(i), shift);
    to.store_from(staged, i, row + shared_load(starts, digit) + i);
  }
}

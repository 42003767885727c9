//! section radix_sort needs sort radix bitwise_count atomic ticket
// Stable sort of rows by one digit of their keys after the other, the least significant first. One
// kernel counts all digits of all keys. Then every pass reads the elements once: a tile publishes
// how often it has each digit, learns from the tiles before it where its own elements go, and moves
// them there (Adinets and Merrill, "Onesweep", 2022). W is unsigned and two bits wider than
// lengths.
constexpr int radix_digits = 256;

template <class T>
__device__ __forceinline__ int radix_digit(T key, int shift) {
  return static_cast<int>(heddle_scalar::key_bits(key) >> shift) & (radix_digits - 1);
}

// counts[row][pass][digit]: how often the pass's digit is in the row; 0 before. A block counts a
// part of Rounds * Threads * Items elements.
template <int Threads, int Items, int Rounds, class T, class W>
__device__ __forceinline__ void radix_count(long long length, const T* from, W* counts) {
  constexpr int passes = sizeof(T), part_size = Rounds * Threads * Items;
  const int thread = static_cast<int>(threadIdx.x);
  const long long parts = (length + part_size - 1) / part_size;
  const long long row = blockIdx.x / parts, part = blockIdx.x % parts * part_size;
  const SharedArray<int> counters = shared_pointer<int>(0);
  for (int i = thread; i < passes * radix_digits; i += Threads) shared_store(counters, i, 0);
  block_barrier();
  for (long long first = part; first < part + part_size; first += Threads * Items) {
    T key[Items];
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      const long long i = first + k * Threads + thread;
      key[k] = i < length ? load(from, row * length + i) : T();
    }
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (first + k * Threads + thread >= length) continue;
#pragma unroll
      for (int pass = 0; pass < passes; ++pass)
        shared_atomic_add(counters, pass * radix_digits + radix_digit(key[k], 8 * pass), 1);
    }
  }
  block_barrier();
  for (int i = thread; i < passes * radix_digits; i += Threads) {
    const int count = shared_load(counters, i);
    if (count != 0) atomic_add(counts, row * passes * radix_digits + i, static_cast<W>(count));
  }
}

// The tile of this block: elements first .. first + count - 1 of a row.
template <int Tile>
struct RadixTile {
  long long tiles, row, number, first;
  int count;
  __device__ __forceinline__ RadixTile(long long length, long long ticket) {
    tiles = (length + Tile - 1) / Tile;
    row = ticket / tiles;
    number = ticket % tiles;
    first = number * Tile;
    count = static_cast<int>(length - first < Tile ? length - first : Tile);
  }
};

// A tile in shared memory.
template <class T, class I, int Tile>
struct RadixStage {
  static constexpr int bytes = Tile * static_cast<int>(sizeof(T) + (has_places<I> ? sizeof(I) : 0));
  SharedArray<T> keys;
  SharedArray<I> places;
  __device__ __forceinline__ RadixStage()
      : keys(shared_pointer<T>(0)), places(shared_pointer<I>(Tile * static_cast<int>(sizeof(T)))) {}
  __device__ __forceinline__ T key(int i) const { return shared_load(keys, i); }
  __device__ __forceinline__ I place(int i) const { return shared_load(places, i); }
};

// Elements of a tile, of which every warp has a run, and in each round its lanes neighbours; their
// digits, and how many before each in its warp's run have the same. Behind the last element stand
// ones that come last in order, and so leave all others where they belong.
template <int Threads, int Items, class T>
struct RadixItems {
  static constexpr int warps = Threads / 32, rank_bits = 16;
  T key[Items];
  int digit_and_rank[Items];

  static __device__ __forceinline__ int slot(int round) {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 * (32 * Items) + round * 32 + thread % 32;
  }
  __device__ __forceinline__ int digit(int round) const {
    return digit_and_rank[round] >> rank_bits;
  }
  __device__ __forceinline__ int rank(int round) const {
    return digit_and_rank[round] & ((1 << rank_bits) - 1);
  }

  __device__ __forceinline__ void load_keys(const T* from, int count) {
#pragma unroll
    for (int round = 0; round < Items; ++round) {
      key[round] =
          slot(round) < count ? load(from, slot(round)) : heddle_scalar::last_in_order<T>();
    }
  }

  // counters[warp * 256 + digit], 0 before, becomes how many of the warp's run have the digit. The
  // lanes of a round that share one find each other by the bits that they set in its mask, which
  // are 0 before and after.
  __device__ __forceinline__ void rank_keys(int shift, SharedArray<int> counters,
                                            SharedArray<unsigned int> masks) {
    const int thread = static_cast<int>(threadIdx.x);
    const int warp = thread / 32, lane = thread % 32;
#pragma unroll
    for (int round = 0; round < Items; ++round) {
      const int digit = radix_digit(key[round], shift);
      const int counter = warp * radix_digits + digit;
      shared_atomic_or(masks, counter, 1u << lane);
      warp_barrier();
      const unsigned int peers = shared_load(masks, counter);
      const unsigned int before = peers & ((1u << lane) - 1);
      const int earlier = shared_load(counters, counter);
      digit_and_rank[round] = digit << rank_bits | (earlier + heddle_scalar::bitwise_count(before));
      warp_barrier();
      if (before == 0) {
        shared_store(counters, counter, earlier + heddle_scalar::bitwise_count(peers));
        shared_store(masks, counter, 0u);
      }
      warp_barrier();
    }
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
  if (lane == 31) shared_store(sums, warp, sum);
  block_barrier();
  T before = sum - value;
  for (int i = 0; i < warp; ++i) before += shared_load(sums, i);
  return before;
}

// A word of a tile and digit: 0, or in its upper two bits whether it counts the tile alone or those
// before it too, and the count.
template <class W>
struct RadixWords {
  static constexpr W of_tile = W(1) << (8 * sizeof(W) - 2), of_all = 2 * of_tile;
  W* words;
  long long first;  // that of the row's first tile and this digit

  __device__ __forceinline__ void publish(long long tile, W word) const {
    atomic_max(words, first + tile * radix_digits, word);
  }
  // How often the digit is in the tiles before `tile`, of which a few are looked at together.
  __device__ __forceinline__ W before(long long tile) const {
    constexpr int together = 4;
    W sum = 0;
    for (bool all = false; tile > 0 && !all; tile -= together) {
      W seen[together];
#pragma unroll
      for (int i = 0; i < together; ++i)
        seen[i] = tile > i ? look_at(words, first + (tile - 1 - i) * radix_digits) : of_all;
#pragma unroll
      for (int i = 0; i < together; ++i) {
        if (all) continue;
        const W word =
            seen[i] != 0 ? seen[i] : wait_until_set(words, first + (tile - 1 - i) * radix_digits);
        sum += word & (of_tile - 1);
        all = word >= of_all;
      }
    }
    return sum;
  }
};

// A pass: moves every element of a row to where it belongs by the digit at `shift`. words[0] counts
// tickets, and all words are 0 before.
template <int Threads, int Items, class T, class I, class W>
__device__ __forceinline__ void radix_pass(long long length, int shift, const T* from,
                                           const I* from_places, const W* counts, W* words,
                                           const SortResults<T, I>& to) {
  constexpr int tile_size = Threads * Items, warps = Threads / 32;
  const RadixStage<T, I, tile_size> staged;
  // Masks lie where elements will, behind the ticket.
  constexpr int masks_at = 16, masks_end = masks_at + 4 * warps * radix_digits;
  constexpr int sums_at = ((staged.bytes > masks_end ? staged.bytes : masks_end) + 15) / 16 * 16;
  constexpr int starts_at = sums_at + 8 * warps;
  constexpr int counters_at = starts_at + radix_digits * static_cast<int>(sizeof(W));
  const SharedArray<unsigned long long> sums = shared_pointer<unsigned long long>(sums_at);
  const SharedArray<W> starts = shared_pointer<W>(starts_at);
  const SharedArray<int> counters = shared_pointer<int>(counters_at);
  const SharedArray<unsigned int> masks = shared_pointer<unsigned int>(masks_at);
  const int thread = static_cast<int>(threadIdx.x);

  const RadixTile<tile_size> tile(length, static_cast<long long>(take_ticket(words)));
  const long long row = tile.row * length;
  RadixItems<Threads, Items, T> items;
  items.load_keys(from + row + tile.first, tile.count);
  for (int i = thread; i < warps * radix_digits; i += Threads) {
    shared_store(counters, i, 0);
    shared_store(masks, i, 0u);
  }
  block_barrier();
  items.rank_keys(shift, counters, masks);
  block_barrier();

  const RadixWords<W> digit_words{words, 1 + tile.row * tile.tiles * radix_digits + thread};
  // How often thread t's digit is in the tile, and, above 16 bits, in the row.
  unsigned long long both = 0;
  if (thread < radix_digits) {
    const int count = radix_add_up<warps>(counters);
    digit_words.publish(tile.number,
                        (tile.number == 0 ? RadixWords<W>::of_all : RadixWords<W>::of_tile) +
                            static_cast<W>(count));
    const long long at = (tile.row * static_cast<int>(sizeof(T)) + shift / 8) * radix_digits;
    both = static_cast<unsigned long long>(load(counts, at + thread)) << 16 | count;
  }
  const unsigned long long smaller = sum_before<Threads>(both, sums);
  const int start = static_cast<int>(smaller & 0xffff), in_tile = static_cast<int>(both & 0xffff);
  if (thread < radix_digits) {
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
      const int i = warp * radix_digits + thread;
      shared_store(counters, i, start + shared_load(counters, i));
    }
  }
  block_barrier();
#pragma unroll
  for (int round = 0; round < Items; ++round) {
    const int counter = thread / 32 * radix_digits + items.digit(round);
    const int i = shared_load(counters, counter) + items.rank(round);
    shared_store(staged.keys, i, items.key[round]);
    if constexpr (has_places<I>) {
      // The first pass makes the places.
      const int slot = items.slot(round);
      I place = static_cast<I>(tile.first + slot);
      if (from_places != nullptr && slot < tile.count) place = load(from_places, row + place);
      shared_store(staged.places, i, place);
    }
  }
  if (thread < radix_digits) {
    const W before = digit_words.before(tile.number);
    if (tile.number > 0)
      digit_words.publish(tile.number, RadixWords<W>::of_all + before + static_cast<W>(in_tile));
    shared_store(starts, thread, static_cast<W>(smaller >> 16) + before - static_cast<W>(start));
  }
  block_barrier();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    if (i >= tile.count) continue;
    const W target = shared_load(starts, radix_digit(staged.key(i), shift)) + static_cast<W>(i);
    to.store_from(staged, i, row + static_cast<long long>(target));
  }
}

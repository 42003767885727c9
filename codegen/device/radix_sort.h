//! section radix_sort needs sort radix bitwise_count atomic ticket
// Stable LSD radix sort of rows. One kernel counts all digits of all keys. Then every pass reads
// the elements once: a tile publishes its count of each digit, computes from the counts of earlier
// tiles where its elements go, and moves them there (Adinets and Merrill, "Onesweep", 2022). W is
// unsigned and two bits wider than lengths.
constexpr int radix_digits = 256;

template <class T>
using RadixKey = heddle_scalar::Key<T>;

// Padding sorts last, after every key.
template <class T>
constexpr RadixKey<T> radix_padding = static_cast<RadixKey<T>>(~RadixKey<T>(0));

template <class T>
__device__ __forceinline__ int radix_digit(RadixKey<T> key, int shift) {
  return static_cast<int>(heddle_scalar::canonical_key<T>(key) >> shift) & (radix_digits - 1);
}

// Loads elements first, first + step ... as keys, with padding from `end` on.
template <int Items, class T>
__device__ __forceinline__ void load_radix_keys(RadixKey<T>* keys, const T* from, int first,
                                                int step, int end) {
  if (first + (Items - 1) * step < end) {
#pragma unroll
    for (int k = 0; k < Items; ++k) keys[k] = heddle_scalar::key_of(load(from, first + k * step));
    return;
  }
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = first + k * step;
    keys[k] = i < end ? heddle_scalar::key_of(load(from, i)) : radix_padding<T>;
  }
}

// The tile of this block: `count` elements of a row, starting at `first`. There are fewer than 2^31
// tiles.
template <int Tile>
struct RadixTile {
  unsigned int tiles, number;
  long long row, first;
  int count;
  __device__ __forceinline__ RadixTile(long long length, unsigned int ticket)
      : tiles(static_cast<unsigned int>((length + Tile - 1) / Tile)), number(ticket % tiles) {
    row = ticket / tiles;
    first = static_cast<long long>(number) * Tile;
    count = static_cast<int>(length - first < Tile ? length - first : Tile);
  }
};

// Computes counts[row][pass][digit], the number of keys of the row with that digit in that pass;
// initially 0. A block counts Rounds * Threads * Items elements.
template <int Threads, int Items, int Rounds, class T, class W>
__device__ __forceinline__ void radix_count(long long length, const T* from, W* counts) {
  constexpr int passes = sizeof(T);
  const int thread = static_cast<int>(threadIdx.x);
  const RadixTile<Rounds * Threads * Items> part(length, blockIdx.x);
  const T* const elements = from + (part.row * length + part.first);
  const SharedArray<int> counters = shared_pointer<int>(0);
  for (int i = thread; i < passes * radix_digits; i += Threads) shared_store(counters, i, 0);
  block_barrier();
  for (int first = 0; first < part.count; first += Threads * Items) {
    RadixKey<T> key[Items];
    load_radix_keys<Items>(key, elements, first + thread, Threads, part.count);
#pragma unroll
    for (int k = 0; k < Items; ++k) {
      if (first + k * Threads + thread >= part.count) continue;
      const RadixKey<T> canonical = heddle_scalar::canonical_key<T>(key[k]);
#pragma unroll
      for (int pass = 0; pass < passes; ++pass) {
        const int digit = static_cast<int>(canonical >> 8 * pass) & (radix_digits - 1);
        shared_atomic_add(counters, pass * radix_digits + digit, 1);
      }
    }
  }
  block_barrier();
  for (int i = thread; i < passes * radix_digits; i += Threads) {
    const int count = shared_load(counters, i);
    if (count != 0) atomic_add(counts, part.row * passes * radix_digits + i, static_cast<W>(count));
  }
}

// The elements of a tile in shared memory.
template <class T, class I, int Tile>
struct RadixStage {
  static constexpr int bytes =
      Tile * static_cast<int>(sizeof(T) + (carries_indices<I> ? sizeof(I) : 0));
  SharedArray<RadixKey<T>> keys;
  SharedArray<I> places;
  __device__ __forceinline__ RadixStage()
      : keys(shared_pointer<RadixKey<T>>(0)),
        places(shared_pointer<I>(Tile * static_cast<int>(sizeof(T)))) {}
  __device__ __forceinline__ int digit(int i, int shift) const {
    return radix_digit<T>(shared_load(keys, i), shift);
  }
  __device__ __forceinline__ T key(int i) const {
    return heddle_scalar::value_of<T>(shared_load(keys, i));
  }
  __device__ __forceinline__ I place(int i) const { return shared_load(places, i); }
  __device__ __forceinline__ void set(int i, RadixKey<T> key, I place) const {
    shared_store(keys, i, key);
    if constexpr (carries_indices<I>) shared_store(places, i, place);
  }
};

// The keys of a tile held by a thread. Every warp has a contiguous run, and in each round its lanes
// have consecutive elements. Also holds the elements' indices if these are carried, and the digits,
// four per word. Padding follows the last element.
template <int Threads, int Items, class T, class I>
struct RadixItems {
  RadixKey<T> key[Items];
  I place[Items];
  unsigned int digits[(Items + 3) / 4];

  static __device__ __forceinline__ int slot(int round) {
    const int thread = static_cast<int>(threadIdx.x);
    return thread / 32 * (32 * Items) + round * 32 + thread % 32;
  }
  // The index of the counter for this warp and the element's digit.
  __device__ __forceinline__ int counter(int round) const {
    const int digit = static_cast<int>(digits[round / 4] >> round % 4 * 8 & 0xffu);
    return static_cast<int>(threadIdx.x) / 32 * radix_digits + digit;
  }

  // Loads keys. counters[warp * 256 + digit], initially 0, becomes the number of the warp's
  // elements with that digit.
  __device__ __forceinline__ void load_and_count(const T* from, int count, int shift,
                                                 SharedArray<int> counters) {
    load_radix_keys<Items>(key, from, slot(0), 32, count);
#pragma unroll
    for (int round = 0; round < Items; ++round) {
      const auto digit = static_cast<unsigned int>(radix_digit<T>(key[round], shift));
      digits[round / 4] = round % 4 == 0 ? digit : digits[round / 4] | digit << round % 4 * 8;
      shared_atomic_add(counters, counter(round), 1);
    }
  }

  // Loads the elements' indices from `from`. In the first pass `from` is null, and the indices are
  // positions in the row.
  __device__ __forceinline__ void load_places(const I* from, long long first, int count) {
    if constexpr (carries_indices<I>) {
#pragma unroll
      for (int round = 0; round < Items; ++round) {
        const int i = slot(round);
        place[round] = static_cast<I>(first + i);
        if (from != nullptr && i < count) place[round] = load(from, i);
      }
    }
  }

  // Moves the elements to the positions in the counters, and advances the counters. The lanes of a
  // round that share a digit find each other through the bits that they set in the digit's mask,
  // which is 0 before and after.
  template <class Stage>
  __device__ __forceinline__ void put(SharedArray<int> counters, SharedArray<unsigned int> masks,
                                      const Stage& staged) const {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int round = 0; round < Items; ++round) {
      const int own = counter(round);
      shared_atomic_or(masks, own, 1u << lane);
      warp_barrier();
      const unsigned int peers = shared_load(masks, own);
      const unsigned int before = peers & ((1u << lane) - 1);
      const int earlier = shared_load(counters, own);
      staged.set(earlier + heddle_scalar::bitwise_count(before), key[round], place[round]);
      warp_barrier();
      if (before == 0) {
        shared_store(counters, own, earlier + heddle_scalar::bitwise_count(peers));
        shared_store(masks, own, 0u);
      }
      warp_barrier();
    }
  }
};

// Thread t replaces the counters of digit t by their exclusive prefix sum over the warps, and
// returns the total.
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

// One word per tile and digit: 0, or a count, with two upper bits that tell whether it counts this
// tile only or all earlier tiles too.
template <class W>
struct RadixWords {
  static constexpr W of_tile = W(1) << (8 * sizeof(W) - 2), of_all = 2 * of_tile;
  W* words;
  long long first;  // index of the word for the row's first tile and this digit

  __device__ __forceinline__ void publish(long long tile, W word) const {
    atomic_max(words, first + tile * radix_digits, word);
  }
  // The number of elements with the digit in the tiles before `tile`. Reads several tiles at a
  // time.
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

// One pass: moves every element of a row to its position by the digit at bit `shift`. words[0] is
// the ticket counter. All words are 0 before.
template <int Threads, int Items, class T, class I, class W>
__device__ __forceinline__ void radix_pass(long long length, int shift, const T* from,
                                           const I* from_places, const W* counts, W* words,
                                           const SortResults<T, I>& to) {
  constexpr int tile_size = Threads * Items, warps = Threads / 32;
  const RadixStage<T, I, tile_size> staged;
  constexpr int masks_at = (staged.bytes + 15) / 16 * 16;
  constexpr int counters_at = masks_at + 4 * warps * radix_digits;
  constexpr int sums_at = counters_at + 4 * warps * radix_digits;
  constexpr int starts_at = sums_at + 8 * warps;
  const SharedArray<unsigned int> masks = shared_pointer<unsigned int>(masks_at);
  const SharedArray<int> counters = shared_pointer<int>(counters_at);
  const SharedArray<unsigned long long> sums = shared_pointer<unsigned long long>(sums_at);
  const SharedArray<W> starts = shared_pointer<W>(starts_at);
  const int thread = static_cast<int>(threadIdx.x);

  const RadixTile<tile_size> tile(length, static_cast<unsigned int>(take_ticket(words)));
  const long long row = tile.row * length;
  for (int i = thread; i < warps * radix_digits; i += Threads) {
    shared_store(counters, i, 0);
    shared_store(masks, i, 0u);
  }
  block_barrier();
  RadixItems<Threads, Items, T, I> items;
  items.load_and_count(from + row + tile.first, tile.count, shift, counters);
  items.load_places(from_places == nullptr ? from_places : from_places + row + tile.first,
                    tile.first, tile.count);
  block_barrier();

  const RadixWords<W> digit_words{words, 1 + tile.row * tile.tiles * radix_digits + thread};
  // The count of thread t's digit in the tile (lower 16 bits) and in the row (the bits above).
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
  items.put(counters, masks, staged);
  if (thread < radix_digits) {
    const W before = digit_words.before(tile.number);
    if (tile.number > 0)
      digit_words.publish(tile.number, RadixWords<W>::of_all + before + static_cast<W>(in_tile));
    shared_store(starts, thread, static_cast<W>(smaller >> 16) + before - static_cast<W>(start));
  }
  block_barrier();
  const SortResults<T, I> of_row = to.at(row);
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    if (i >= tile.count) return;
    of_row.store_from(staged, i, shared_load(starts, staged.digit(i, shift)) + static_cast<W>(i));
  }
}

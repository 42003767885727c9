//! section sort needs memory shared warp order
// Stable merge sort of rows. Threads hold Items consecutive elements each; a block sorts or merges
// a tile of Threads * Items elements in shared memory. With I = KeysOnly only the keys are moved;
// otherwise each key carries its original index in the row.
struct KeysOnly {};
template <class I>
inline constexpr bool carries_indices = true;
template <>
inline constexpr bool carries_indices<KeysOnly> = false;

// Keys and indices of a tile in shared memory. One slot in 33 is unused: without this, threads that
// each read consecutive elements would have bank conflicts.
template <class T, class I, int Tile>
struct SortTile {
  static constexpr int slots = Tile + Tile / 32;
  SharedArray<T> keys;
  SharedArray<I> places;
  __device__ __forceinline__ SortTile()
      : keys(shared_pointer<T>(0)),
        places(shared_pointer<I>(slots * static_cast<int>(sizeof(T)))) {}
  static __device__ __forceinline__ int slot(int i) { return i + i / 32; }
  __device__ __forceinline__ T key(int i) const { return shared_load(keys, slot(i)); }
  __device__ __forceinline__ void set(int i, T key) const { shared_store(keys, slot(i), key); }
  __device__ __forceinline__ I place(int i) const {
    if constexpr (carries_indices<I>) {
      return shared_load(places, slot(i));
    } else {
      return {};
    }
  }
  __device__ __forceinline__ void set_place(int i, I place) const {
    if constexpr (carries_indices<I>) shared_store(places, slot(i), place);
  }
};

// The elements that a thread holds.
template <class T, class I, int Items>
struct SortItems {
  T key[Items];
  I place[Items];

  // Odd-even transposition sort: it only exchanges neighbours, so it is stable.
  __device__ __forceinline__ void sort() {
#pragma unroll
    for (int round = 0; round < Items; ++round) {
#pragma unroll
      for (int i = round % 2; i + 1 < Items; i += 2) {
        if (heddle_scalar::precedes(key[i + 1], key[i])) {
          const T later = key[i];
          key[i] = key[i + 1];
          key[i + 1] = later;
          const I later_place = place[i];
          place[i] = place[i + 1];
          place[i + 1] = later_place;
        }
      }
    }
  }

  template <class Tile>
  __device__ __forceinline__ void put(const Tile& tile, int first) const {
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      tile.set(first + i, key[i]);
      tile.set_place(first + i, place[i]);
    }
  }

  // Merges tile[a, a_end) and tile[b, b_end), and keeps elements [first, first + Items) of the
  // result, as far as they exist. For equal keys, elements of the first range come first.
  template <class Tile>
  __device__ __forceinline__ void merge(const Tile& tile, int a, int a_end, int b, int b_end,
                                        int first) {
    int low = first > b_end - b ? first - (b_end - b) : 0;
    int high = first < a_end - a ? first : a_end - a;
    while (low < high) {
      const int middle = (low + high) / 2;
      const bool b_first =
          heddle_scalar::precedes(tile.key(b + first - 1 - middle), tile.key(a + middle));
      if (b_first) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    a += low;
    b += first - low;
    T next_a = a < a_end ? tile.key(a) : T();
    T next_b = b < b_end ? tile.key(b) : T();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      if (a >= a_end && b >= b_end) continue;
      const bool takes_a = b >= b_end || (a < a_end && !heddle_scalar::precedes(next_b, next_a));
      key[i] = takes_a ? next_a : next_b;
      place[i] = tile.place(takes_a ? a : b);
      if (takes_a) {
        ++a;
        if (a < a_end) next_a = tile.key(a);
      } else {
        ++b;
        if (b < b_end) next_b = tile.key(b);
      }
    }
  }
};

// The output of a sort kernel: keys, and their indices if these are carried. In the last pass of an
// argsort (`last`) it is only the indices, as int64, in `result`.
template <class T, class I>
struct SortResults {
  T* keys;
  I* places;
  long long* result;
  bool last;
  // The same output, with its pointers advanced by `first` elements.
  __device__ __forceinline__ SortResults at(long long first) const {
    SortResults there = *this;
    there.keys += first;
    if constexpr (carries_indices<I>) {
      there.places += first;
      there.result += first;
    }
    return there;
  }
  template <class Tile, class Index>
  __device__ __forceinline__ void store_from(const Tile& tile, int i, Index to) const {
    if constexpr (carries_indices<I>) {
      if (last) {
        store(result, to, static_cast<long long>(tile.place(i)));
        return;
      }
      store(places, to, tile.place(i));
    }
    store(keys, to, tile.key(i));
  }
};

// Sorts runs of 1 << width_bits elements. A run has at least Items elements, and at most a tile. A
// row of `length` elements is divided into runs; a row that is shorter than a tile is one run.
template <int Threads, int Items, class T, class I>
__device__ __forceinline__ void sort_tiles(long long rows, long long length, long long width_bits,
                                           const T* from, const SortResults<T, I>& to) {
  constexpr int tile_size = Threads * Items;
  const int thread = static_cast<int>(threadIdx.x);
  const SortTile<T, I, tile_size> tile;
  const int shift = static_cast<int>(width_bits), width = 1 << shift;
  const long long runs = width < tile_size ? 1 : (length + width - 1) >> shift;
  const long long first_row = blockIdx.x / runs * (tile_size >> shift);
  const long long first = blockIdx.x % runs << shift;
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    const long long row = first_row + (i >> shift), place = first + (i & (width - 1));
    const bool exists = row < rows && place < length;
    tile.set(i, exists ? load(from, row * length + place) : heddle_scalar::last_in_order<T>());
  }
  block_barrier();
  SortItems<T, I, Items> items;
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    items.key[k] = tile.key(thread * Items + k);
    if constexpr (carries_indices<I>) {
      items.place[k] = static_cast<I>(first + ((thread * Items + k) & (width - 1)));
    }
  }
  items.sort();
  for (int run = Items; run < width; run *= 2) {
    block_barrier();
    items.put(tile, thread * Items);
    block_barrier();
    const int start = thread * Items & ~(2 * run - 1);
    items.merge(tile, start, start + run, start + run, start + 2 * run, thread * Items - start);
  }
  block_barrier();
  items.put(tile, thread * Items);
  block_barrier();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    const long long row = first_row + (i >> shift), place = first + (i & (width - 1));
    if (row < rows && place < length) to.store_from(tile, i, row * length + place);
  }
}

// When a[0, a_size) and b[0, b_size) are merged: how many of the first `count` elements are from a.
// All lanes of a warp call it. Each round of the search divides the range by 32.
template <class T>
__device__ __forceinline__ long long merge_split(const T* a, long long a_size, const T* b,
                                                 long long b_size, long long count) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  long long low = count > b_size ? count - b_size : 0;
  long long high = count < a_size ? count : a_size;
  while (low < high) {
    const long long step = (high - low + 31) / 32;
    const long long i = low + lane * step;
    const bool from_a = i < high && !heddle_scalar::precedes(load(b, count - 1 - i), load(a, i));
    const unsigned int votes = ballot(from_a);
    int taken = 0;  // number of leading lanes whose elements are all from a
    while (taken < 32 && (votes >> taken & 1u) != 0) ++taken;
    const long long end = low + taken * step;
    if (end < high) high = end;
    if (taken > 0) low += (taken - 1) * step + 1;
    if (taken == 0) high = low;
  }
  return low;
}

// Merges pairs of neighbouring runs in each row. A run has `run` elements, a multiple of the tile
// size. Each block computes one tile of the result.
template <int Threads, int Items, class T, class I>
__device__ __forceinline__ void merge_tiles(long long length, long long run, const T* from,
                                            const I* from_places, const SortResults<T, I>& to) {
  constexpr int tile_size = Threads * Items;
  const int thread = static_cast<int>(threadIdx.x);
  const SortTile<T, I, tile_size> tile;
  constexpr int ends_offset = SortTile<T, I, tile_size>::slots *
                              static_cast<int>(sizeof(T) + (carries_indices<I> ? sizeof(I) : 0));
  const SharedArray<long long> ends = shared_pointer<long long>(ends_offset);

  const long long tiles = (length + tile_size - 1) / tile_size;
  const long long start = blockIdx.x / tiles * length;
  const long long begin = blockIdx.x % tiles * tile_size;
  const long long end = begin + tile_size < length ? begin + tile_size : length;
  const long long a = begin / (2 * run) * (2 * run);
  const long long b = a + run < length ? a + run : length;
  const long long b_end = b + run < length ? b + run : length;
  if (thread < 64) {
    const long long count = (thread < 32 ? begin : end) - a;
    const long long split =
        merge_split(from + start + a, b - a, from + start + b, b_end - b, count);
    if (thread % 32 == 0) shared_store(ends, thread / 32, split);
  }
  block_barrier();
  const long long a_first = a + shared_load(ends, 0);
  const long long b_first = b + (begin - a - shared_load(ends, 0));
  const int from_a = static_cast<int>(shared_load(ends, 1) - shared_load(ends, 0));
  const int count = static_cast<int>(end - begin);
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    if (i >= count) continue;
    const long long source = start + (i < from_a ? a_first + i : b_first + (i - from_a));
    tile.set(i, load(from, source));
    if constexpr (carries_indices<I>) tile.set_place(i, load(from_places, source));
  }
  block_barrier();
  SortItems<T, I, Items> items;
  const int first = thread * Items < count ? thread * Items : count;
  items.merge(tile, 0, from_a, from_a, count, first);
  block_barrier();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    if (first + k >= count) continue;
    tile.set(first + k, items.key[k]);
    tile.set_place(first + k, items.place[k]);
  }
  block_barrier();
#pragma unroll
  for (int k = 0; k < Items; ++k) {
    const int i = k * Threads + thread;
    if (i < count) to.store_from(tile, i, start + begin + i);
  }
}

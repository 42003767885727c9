#pragma once
//! section gram_items needs shared vector
// The product of the transpose of a matrix of Rows rows with itself, of one of `Parts` parts of its
// rows. The result is symmetric: only tiles on and above the diagonal are computed. A thread has a
// tile of Tile x Tile elements in registers, and every Slices-th row of a chunk of rows, which the
// block holds in shared memory. While it computes, it has loads of the next chunk on their way.
template <class T, int Rows, int Columns, int Parts, int Threads, int Chunk, int Width>
struct Gram {
  static constexpr int Tile = 32 / sizeof(T), Side = (Columns + Tile - 1) / Tile;
  static constexpr int Tiles = Side * (Side + 1) / 2, Slices = Threads / Tiles;
  static constexpr int Stride = Side * Tile;  // of rows in shared memory, which zeros fill up
  static constexpr int Vectors = Chunk * Columns / Width;
  static constexpr int Fetched = (Vectors + Threads - 1) / Threads;
  static constexpr int Access = 16 / sizeof(T);
  using Part = Vector<T, Width>;

  SharedArray<T> x;
  int lane, slice, row_tile, column_tile;
  T sums[Tile][Tile];
  Part fetched[Fetched];

  __device__ __forceinline__ Gram(SharedArray<T> x, int lane)
      : x(x), lane(lane), slice(lane / Tiles), row_tile(0), column_tile(lane % Tiles), sums{} {
    while (column_tile >= Side - row_tile) column_tile -= Side - row_tile++;
    column_tile += row_tile;
  }

  __device__ __forceinline__ bool computes() const {
    return Threads % Tiles == 0 || slice < Slices;
  }

  // Loads of a chunk from row `first` on; zeros from row `last` on.
  template <class From>
  __device__ __forceinline__ void fetch(const From& from, int first, int last) {
#pragma unroll
    for (int f = 0; f < Fetched; ++f) {
      const int number = f * Threads + lane, left = (last - first) * Columns;
      fetched[f] = Part{};
      if ((Vectors % Threads == 0 || number < Vectors) && number * Width < left) {
        const int element = first * Columns + number * Width;
        if constexpr (Width == 1) {
          fetched[f].v[0] = from(element);
        } else {
          fetched[f] = from(element);
        }
      }
    }
  }

  __device__ __forceinline__ void hold(int buffer) {
#pragma unroll
    for (int f = 0; f < Fetched; ++f) {
      const int number = f * Threads + lane, element = number * Width;
      if (Vectors % Threads == 0 || number < Vectors) {
        shared_store_vector<Width>(
            x, buffer * Chunk * Stride + element / Columns * Stride + element % Columns,
            fetched[f]);
      }
    }
  }

  __device__ __forceinline__ void add_row(int start) {
    T left[Tile], right[Tile];
#pragma unroll
    for (int i = 0; i < Tile; i += Access) {
      const auto a = shared_load_vector<Access>(x, start + row_tile * Tile + i);
      const auto b = shared_load_vector<Access>(x, start + column_tile * Tile + i);
#pragma unroll
      for (int k = 0; k < Access; ++k) {
        left[i + k] = a.v[k];
        right[i + k] = b.v[k];
      }
    }
#pragma unroll
    for (int i = 0; i < Tile; ++i) {
#pragma unroll
      for (int j = 0; j < Tile; ++j) sums[i][j] += left[i] * right[j];
    }
  }

  template <class From>
  __device__ __forceinline__ void add_rows(const From& from, int first, int last) {
    if constexpr (Stride != Columns) {
      for (int i = lane; i < 2 * Chunk * Stride; i += Threads) shared_store(x, i, T(0));
      block_barrier();
    }
    fetch(from, first, last);
    int buffer = 0;
    for (int row = first; row < last; row += Chunk) {
      hold(buffer);
      block_barrier();
      if (last - row > Chunk) fetch(from, row + Chunk, last);
      if (computes()) {
#pragma unroll 1
        for (int k = slice; k < Chunk; k += Slices) add_row((buffer * Chunk + k) * Stride);
      }
      buffer ^= 1;
    }
  }

  // Adds the sums of all slices, in a fixed order, to those of the first one.
  __device__ __forceinline__ void add_slices() {
    constexpr int at_once = 8, pairs = (Slices + 1) / 2 * Tiles;
    for (int count = Slices; count > 1; count = (count + 1) / 2) {
      const int half = (count + 1) / 2, tile = lane % Tiles;
#pragma unroll
      for (int first = 0; first < Tile * Tile; first += at_once) {
        block_barrier();
#pragma unroll
        for (int i = first; i < first + at_once; ++i) {
          if (half <= slice && slice < count)
            shared_store(x, (i - first) * pairs + (slice - half) * Tiles + tile,
                         sums[i / Tile][i % Tile]);
        }
        block_barrier();
#pragma unroll
        for (int i = first; i < first + at_once; ++i) {
          if (slice < count - half)
            sums[i / Tile][i % Tile] += shared_load(x, (i - first) * pairs + lane);
        }
      }
    }
  }

  template <class To>
  __device__ __forceinline__ void put(const To& to, int start) const {
    if (slice > 0) return;
#pragma unroll
    for (int i = 0; i < Tile; ++i) {
#pragma unroll
      for (int j = 0; j < Tile; ++j) {
        const int row = row_tile * Tile + i, column = column_tile * Tile + j;
        if (row < Columns && column < Columns) {
          to(start + row * Columns + column, sums[i][j]);
          if (row_tile != column_tile) to(start + column * Columns + row, sums[i][j]);
        }
      }
    }
  }
};

template <class T, int Rows, int Columns, int Parts, int Threads, int Chunk, int Width, class From,
          class To>
__device__ __forceinline__ void gram_item(SharedArray<T> x, SharedArray<T>, int lane, int part,
                                          const From& from, const To& to) {
  constexpr long long rows = Rows;
  Gram<T, Rows, Columns, Parts, Threads, Chunk, Width> gram(x, lane);
  gram.add_rows(from, static_cast<int>(rows * part / Parts),
                static_cast<int>(rows * (part + 1) / Parts));
  gram.add_slices();
  gram.put(to, part * Columns * Columns);
}

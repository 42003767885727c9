#pragma once
//! section gram_items needs shared vector
// The rows of one matrix that a block has in shared memory: chunks of them, in rows of Stride
// elements from element First on. While the block computes, it has loads of the next chunk on their
// way.
template <class T, int Columns, int Width, int Threads, int Chunk, int Stride, int First>
struct GramRows {
  static constexpr int Vectors = Chunk * Columns / Width;
  static constexpr int Fetched = (Vectors + Threads - 1) / Threads;
  Vector<T, Width> fetched[Fetched];

  // Loads of a chunk from row `first` on. Not `Whole`: zeros from row `last` on.
  template <bool Whole, class From>
  __device__ __forceinline__ void fetch(const From& from, int lane, int first, int last) {
#pragma unroll
    for (int f = 0; f < Fetched; ++f) {
      const int number = f * Threads + lane, left = (last - first) * Columns;
      const bool among = Vectors % Threads == 0 || number < Vectors;
      if constexpr (!Whole) fetched[f] = Vector<T, Width>{};
      if (among && (Whole || number * Width < left)) {
        const int element = first * Columns + number * Width;
        if constexpr (Width == 1) {
          fetched[f].v[0] = from(element);
        } else {
          fetched[f] = from(element);
        }
      }
    }
  }

  __device__ __forceinline__ void hold(SharedArray<T> x, int lane, int buffer) const {
#pragma unroll
    for (int f = 0; f < Fetched; ++f) {
      const int number = f * Threads + lane, element = number * Width;
      if (Vectors % Threads == 0 || number < Vectors) {
        shared_store_vector<Width>(
            x, (buffer * Chunk + element / Columns) * Stride + First + element % Columns,
            fetched[f]);
      }
    }
  }
};

// The product of the transpose of a part of a long matrix's rows with the same rows of another one,
// or of the same: Right is 0. Then the result is symmetric, and only tiles on and above the
// diagonal are computed. A thread has a tile of Tile x Tile elements in registers, and every
// Slices-th row of a chunk.
template <class T, int Left, int LeftWidth, int Right, int RightWidth, int Threads, int Chunk>
struct Gram {
  static constexpr bool Symmetric = Right == 0;
  static constexpr int Columns = Symmetric ? Left : Right;  // of the result
  static constexpr int Tile = 32 / sizeof(T);
  static constexpr int Rows = (Left + Tile - 1) / Tile,
                       Side = (Columns + Tile - 1) / Tile;  // of tiles
  static constexpr int Tiles = Symmetric ? Side * (Side + 1) / 2 : Rows * Side;
  static constexpr int Slices = Threads / Tiles;
  static constexpr int First = Symmetric ? 0 : Rows * Tile;  // where the second matrix's rows begin
  static constexpr int Access = 16 / sizeof(T);
  // In shared memory, where rows are filled up with zeros. Neighbouring slices read neighbouring
  // rows: their tiles, of 32 bytes, begin in different banks.
  static constexpr int Stride = First + Side * Tile + Access;
  using LeftRows = GramRows<T, Left, LeftWidth, Threads, Chunk, Stride, 0>;
  using RightRows =
      GramRows<T, Columns, Symmetric ? LeftWidth : RightWidth, Threads, Chunk, Stride, First>;

  SharedArray<T> x;
  int lane, slice, row_tile, column_tile;
  T sums[Tile][Tile];
  LeftRows left;
  RightRows right;

  __device__ __forceinline__ Gram(SharedArray<T> x, int lane)
      : x(x), lane(lane), slice(lane / Tiles), sums{} {
    const int tile = lane % Tiles;
    row_tile = Symmetric ? 0 : tile / Side;
    column_tile = Symmetric ? tile : tile % Side;
    if constexpr (Symmetric) {
      while (column_tile >= Side - row_tile) column_tile -= Side - row_tile++;
      column_tile += row_tile;
    }
  }

  __device__ __forceinline__ bool computes() const {
    return Threads % Tiles == 0 || slice < Slices;
  }

  template <bool Whole, class FromLeft, class FromRight>
  __device__ __forceinline__ void fetch(const FromLeft& from_left, const FromRight& from_right,
                                        int first, int last) {
    left.template fetch<Whole>(from_left, lane, first, last);
    if constexpr (!Symmetric) right.template fetch<Whole>(from_right, lane, first, last);
  }

  // Without conditions, where the chunk is whole, all loads are on their way at once.
  template <class FromLeft, class FromRight>
  __device__ __forceinline__ void fetch_next(const FromLeft& from_left, const FromRight& from_right,
                                             int first, int last) {
    if (last - first >= Chunk) {
      fetch<true>(from_left, from_right, first, last);
    } else {
      fetch<false>(from_left, from_right, first, last);
    }
  }

  __device__ __forceinline__ void add_row(int start) {
    T of_left[Tile], of_right[Tile];
#pragma unroll
    for (int i = 0; i < Tile; i += Access) {
      const auto a = shared_load_vector<Access>(x, start + row_tile * Tile + i);
      const auto b = shared_load_vector<Access>(x, start + First + column_tile * Tile + i);
#pragma unroll
      for (int k = 0; k < Access; ++k) {
        of_left[i + k] = a.v[k];
        of_right[i + k] = b.v[k];
      }
    }
#pragma unroll
    for (int i = 0; i < Tile; ++i) {
#pragma unroll
      for (int j = 0; j < Tile; ++j) sums[i][j] += of_left[i] * of_right[j];
    }
  }

  template <class FromLeft, class FromRight>
  __device__ __forceinline__ void add_rows(const FromLeft& from_left, const FromRight& from_right,
                                           int first, int last) {
    if constexpr (Left % Tile != 0 || Columns % Tile != 0) {
      for (int i = lane; i < 2 * Chunk * Stride; i += Threads) shared_store(x, i, T(0));
      block_barrier();
    }
    fetch_next(from_left, from_right, first, last);
    int buffer = 0;
    for (int row = first; row < last; row += Chunk) {
      left.hold(x, lane, buffer);
      if constexpr (!Symmetric) right.hold(x, lane, buffer);
      block_barrier();
      if (last - row > Chunk) fetch_next(from_left, from_right, row + Chunk, last);
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
        if (row < Left && column < Columns) {
          to(start + row * Columns + column, sums[i][j]);
          if (Symmetric && row_tile != column_tile) to(start + column * Columns + row, sums[i][j]);
        }
      }
    }
  }
};

// Of one of `Parts` parts of `Rows` rows.
template <class T, int Rows, int Left, int LeftWidth, int Right, int RightWidth, int Parts,
          int Threads, int Chunk, class FromLeft, class FromRight, class To>
__device__ __forceinline__ void gram_pair_item(SharedArray<T> x, SharedArray<T>, SharedArray<T>,
                                               int lane, int part, const FromLeft& from_left,
                                               const FromRight& from_right, const To& to) {
  constexpr long long rows = Rows;
  Gram<T, Left, LeftWidth, Right, RightWidth, Threads, Chunk> gram(x, lane);
  gram.add_rows(from_left, from_right, static_cast<int>(rows * part / Parts),
                static_cast<int>(rows * (part + 1) / Parts));
  gram.add_slices();
  gram.put(to, part * Left * gram.Columns);
}

template <class T, int Rows, int Columns, int Width, int Parts, int Threads, int Chunk, class From,
          class To>
__device__ __forceinline__ void gram_item(SharedArray<T> x, SharedArray<T>, int lane, int part,
                                          const From& from, const To& to) {
  gram_pair_item<T, Rows, Columns, Width, 0, 1, Parts, Threads, Chunk>(x, x, x, lane, part, from,
                                                                       from, to);
}

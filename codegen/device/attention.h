//! section attention needs tiles warp vector memory bits fmax
// The softmax of scaled products of queries and keys, times values, without the products in memory
// (Dao et al., FlashAttention, 2022): tiles of 128 keys follow each other, and sums of exponentials
// are rescaled whenever the greatest product grows. A block of three warp groups computes 128 rows:
// one group copies tiles, and the other two compute 64 rows each.

// Rows of numbers, `stride` elements from one to the next, beginning at element `start` of `array`;
// each begins at a multiple of 16 bytes if they are `Aligned`.
template <class T, bool Aligned>
struct AttentionRows {
  T* array;
  long long start, stride;
};

// The keys from which on, and up to which, a block works, where scores are minus infinity before
// key `least` and from key `most` on: whole tiles of them, and at least one key.
template <class I>
__device__ __forceinline__ I first_key(I least, I columns) {
  const I begin = least < columns ? least : columns - 1;
  return begin > 0 ? begin / 128 * 128 : 0;
}
template <class I>
__device__ __forceinline__ I last_key(I most, I begin, I columns) {
  const I end = most > begin ? most : begin + 1;
  return end < columns ? end : columns;
}

// The score of keys that are left out: minus infinity.
__device__ __forceinline__ float lowest_score() { return heddle_scalar::float_of(0xff800000u); }

// Maps of products to scores. The weights are powers of 2 of the scores times `exponent`.
struct ScaledScores {
  static constexpr bool changes = false;
  float exponent;
};

// Minus infinity for keys that are not between two functions of the query.
template <class Least, class Most, class I>
struct BoundedScores {
  static constexpr bool changes = true;
  using Index = I;
  float exponent;
  const Least& least;
  const Most& most;

  // Whether it changes none of 128 scores of each of these queries.
  __device__ __forceinline__ bool leaves(I first, I last, I column) const {
    return column >= least(last) && column + 128 <= most(first);
  }
  __device__ __forceinline__ float operator()(float product, I row, I column) const {
    return column >= least(row) && column < most(row) ? product : lowest_score();
  }
};
template <class I, class Least, class Most>
__device__ __forceinline__ BoundedScores<Least, Most, I> bounded_scores(float exponent,
                                                                        const Least& least,
                                                                        const Most& most) {
  return {exponent, least, most};
}

// Any function of a product times `scale`, the query and the key.
template <class Change, class I>
struct ChangedScores {
  static constexpr bool changes = true;
  static constexpr float exponent = 1.44269504f;
  using Index = I;
  float scale;
  I rows, columns;
  const Change& change;

  __device__ __forceinline__ bool leaves(I, I, I) const { return false; }
  __device__ __forceinline__ float operator()(float product, I row, I column) const {
    return change(product * scale, row < rows ? row : rows - 1,
                  column < columns ? column : columns - 1);
  }
};
template <class Change, class I>
__device__ __forceinline__ ChangedScores<Change, I> changed_scores(float scale, I rows, I columns,
                                                                   const Change& change) {
  return {scale, rows, columns, change};
}

template <int Depth, int Width, int Stages>
struct AttentionMemory {
  static constexpr int depth_chunks = (Depth + 63) / 64, width_chunks = (Width + 63) / 64;
  static constexpr int chunk = 128 * tile_row_bytes;  // of 128 rows
  static constexpr int queries = 0;
  static constexpr int keys = queries + depth_chunks * chunk;
  static constexpr int values = keys + Stages * depth_chunks * chunk;
  static constexpr int gates = values + Stages * width_chunks * chunk;
  // The gate of the queries, and of each stage: its keys are there, its values are there, its keys
  // have been used, its values have been used.
  static constexpr int has_queries = gates, has_keys = gates + 8,
                       has_values = has_keys + 8 * Stages;
  static constexpr int free_keys = has_values + 8 * Stages, free_values = free_keys + 8 * Stages;
  static constexpr int bytes = free_values + 8 * Stages;
};

// Copies 128 rows, of which there are `count` in all from `first` on, and zeros beyond.
template <int Width, class T, bool Aligned>
__device__ __forceinline__ void copy_rows(int to, const AttentionRows<T, Aligned>& rows,
                                          long long first, long long count) {
  constexpr int chunks = (Width + 63) / 64;
  const int thread = static_cast<int>(threadIdx.x % 128), piece = thread % 8, row = thread / 8;
  to += row * tile_row_bytes + (piece ^ row % 8) * 16;
  long long from = rows.start + (first + row) * rows.stride + piece * 8;
#pragma unroll 4
  for (int i = 0; i < 128; i += 16) {
    const bool valid = first + row + i < count;
#pragma unroll
    for (int k = 0; k < chunks; ++k) {
      copy_piece<Aligned>(to + k * 128 * tile_row_bytes + i * tile_row_bytes, rows.array,
                          from + k * 64, valid && (Width % 64 == 0 || k * 64 + piece * 8 < Width));
    }
    from += 16 * rows.stride;
  }
  close_copies();
}

template <int Depth, int Width, int Stages, class Queries, class Keys, class Values>
__device__ __forceinline__ void copy_attention_tiles(int base, const Queries& queries,
                                                     const Keys& keys, const Values& values,
                                                     long long first, long long rows,
                                                     long long begin, long long end) {
  using Memory = AttentionMemory<Depth, Width, Stages>;
  copy_rows<Depth>(base + Memory::queries, queries, first, rows);
  int copied = base + Memory::has_queries;  // the gate to enter once the copy under way has ended
  int stage = 0, parity = 1;
  for (long long at = begin; at < end; at += 128) {
    await_gate(base + Memory::free_keys + 8 * stage, parity);
    copy_rows<Depth>(base + Memory::keys + stage * Memory::depth_chunks * Memory::chunk, keys, at,
                     end);
    await_copies<1>();
    enter_gate(copied);
    copied = base + Memory::has_keys + 8 * stage;
    await_gate(base + Memory::free_values + 8 * stage, parity);
    copy_rows<Width>(base + Memory::values + stage * Memory::width_chunks * Memory::chunk, values,
                     at, end);
    await_copies<1>();
    enter_gate(copied);
    copied = base + Memory::has_values + 8 * stage;
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  await_copies<0>();
  enter_gate(copied);
}

// What a group knows of its 64 rows. Each thread holds two of them, 8 apart.
template <int Depth, int Width, int Stages, class T>
struct AttentionSums {
  using Memory = AttentionMemory<Depth, Width, Stages>;
  float scores[64];
  float sums[Memory::width_chunks][32] = {};  // of weights times values
  unsigned int weights[32];
  float greatest[2] = {lowest_score(), lowest_score()}, total[2] = {}, shrunk[2];

  __device__ __forceinline__ void multiply_keys(int queries, int keys) {
#pragma unroll
    for (int chunk = 0; chunk < Memory::depth_chunks; ++chunk) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        multiply_rows<T>(scores, queries + chunk * Memory::chunk + k * 32,
                         keys + chunk * Memory::chunk + k * 32, chunk + k > 0);
      }
    }
    close_products();
  }

  __device__ __forceinline__ void multiply_values(int values) {
#pragma unroll
    for (int k = 0; k < 8; ++k) {
#pragma unroll
      for (int chunk = 0; chunk < Memory::width_chunks; ++chunk) {
        multiply_columns<T>(sums[chunk], weights + 4 * k,
                            values + chunk * Memory::chunk + k * 16 * tile_row_bytes);
      }
    }
    close_products();
  }

  // Exponentials of the scores of a tile, over that of the greatest score so far. Its first column
  // is `at`, and `end` is behind the last one; `row` is the first row of the group.
  template <class Map>
  __device__ __forceinline__ void exponentials(const Map& map, long long row, long long at,
                                               long long end) {
    const long long valid = end - at;
    const int column = static_cast<int>(threadIdx.x % 4) * 2;
    if constexpr (Map::changes) {
      using I = typename Map::Index;
      const I first = static_cast<I>(row), begin = static_cast<I>(at);
      if (!map.leaves(first, first + 63, begin)) {
        const int in_group = static_cast<int>(threadIdx.x % 128);
        const I own = first + in_group / 32 * 16 + in_group % 32 / 4;
#pragma unroll
        for (int i = 0; i < 64; ++i)
          scores[i] = map(scores[i], own + i / 2 % 2 * 8, begin + i / 4 * 8 + column + i % 2);
      }
    }
    if (valid < 128) {
#pragma unroll
      for (int i = 0; i < 64; ++i) {
        if (i / 4 * 8 + column + i % 2 >= valid) scores[i] = lowest_score();
      }
    }
    const float scale = map.exponent;
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      float most = greatest[row];
#pragma unroll
      for (int i = 2 * row; i < 64; i += 4)
        most = heddle_scalar::fmax_float(most, heddle_scalar::fmax_float(scores[i], scores[i + 1]));
      most = heddle_scalar::fmax_float(most, shuffle_xor(most, 1, 32));
      most = heddle_scalar::fmax_float(most, shuffle_xor(most, 2, 32));
      // If no score is above -infinity so far, the exponentials are 0, not NaN.
      const float shift = most == lowest_score() ? 0.0f : most * scale;
      shrunk[row] = quick_exp2(greatest[row] * scale - shift);
      greatest[row] = most;
      float part = 0;
#pragma unroll
      for (int i = 2 * row; i < 64; i += 4) {
        scores[i] = quick_exp2(scores[i] * scale - shift);
        scores[i + 1] = quick_exp2(scores[i + 1] * scale - shift);
        part += scores[i] + scores[i + 1];
      }
      total[row] = total[row] * shrunk[row] + part;
    }
  }

  __device__ __forceinline__ void round_weights() {
#pragma unroll
    for (int i = 0; i < 32; ++i) weights[i] = pack_pair<T>(scores[2 * i], scores[2 * i + 1]);
  }

  __device__ __forceinline__ void rescale() {
#pragma unroll
    for (int chunk = 0; chunk < Memory::width_chunks; ++chunk) {
#pragma unroll
      for (int i = 0; i < 32; ++i) sums[chunk][i] *= shrunk[i / 2 % 2];
    }
  }

  __device__ __forceinline__ void hold_sums() {
#pragma unroll
    for (int chunk = 0; chunk < Memory::width_chunks; ++chunk) hold(sums[chunk]);
  }

  // Stores the two rows of this thread, those below `count` of the rows from `first` on.
  template <bool Aligned>
  __device__ __forceinline__ void store_rows(const AttentionRows<T, Aligned>& result,
                                             long long first, long long count) {
#pragma unroll
    for (int row = 0; row < 2; ++row) {
      total[row] += shuffle_xor(total[row], 1, 32);
      total[row] += shuffle_xor(total[row], 2, 32);
      const float inverse = 1.0f / total[row];
      const int at = static_cast<int>(threadIdx.x % 128) / 32 * 16 +
                     static_cast<int>(threadIdx.x % 32) / 4 + 8 * row;
      if (at >= count) continue;
      const int column = static_cast<int>(threadIdx.x % 4) * 2;
#pragma unroll
      for (int chunk = 0; chunk < Memory::width_chunks; ++chunk) {
#pragma unroll
        for (int i = 2 * row; i < 32; i += 4) {
          const int to = chunk * 64 + i / 4 * 8 + column;
          if (Width % 64 != 0 && to >= Width) continue;
          const unsigned int pair =
              pack_pair<T>(sums[chunk][i] * inverse, sums[chunk][i + 1] * inverse);
          const long long element = result.start + (first + at) * result.stride + to;
          const T low{static_cast<unsigned short>(pair)};
          const T high{static_cast<unsigned short>(pair >> 16)};
          if constexpr (Aligned) {
            store_vector<2>(result.array, element, Vector<T, 2>{low, high});
          } else {
            store(result.array, element, low);
            store(result.array, element + 1, high);
          }
        }
      }
    }
  }
};

template <int Depth, int Width, int Stages, class T, bool Aligned, class Map>
__device__ __forceinline__ void sum_attention(int base, const AttentionRows<T, Aligned>& result,
                                              long long first, long long rows, long long begin,
                                              long long end, const Map& map) {
  using Memory = AttentionMemory<Depth, Width, Stages>;
  constexpr int keys_bytes = Memory::depth_chunks * Memory::chunk;
  constexpr int values_bytes = Memory::width_chunks * Memory::chunk;
  const int group = static_cast<int>(threadIdx.x / 128);
  const bool speaks = threadIdx.x % 32 == 0;  // for its warp
  const int queries = base + Memory::queries + group * 64 * tile_row_bytes;
  first += group * 64;
  AttentionSums<Depth, Width, Stages, T> sums;
  await_gate(base + Memory::has_queries, 0);
  await_gate(base + Memory::has_keys, 0);
  begin_products();
  sums.multiply_keys(queries, base + Memory::keys);
  await_products<0>();
  hold(sums.scores);
  if (speaks) enter_gate(base + Memory::free_keys);
  sums.exponentials(map, first, begin, end);
  sums.round_weights();
  int stage = 0, parity = 0;
  for (long long at = begin + 128; at < end; at += 128) {
    const int next = stage + 1 == Stages ? 0 : stage + 1;
    const int next_parity = next == 0 ? parity ^ 1 : parity;
    // The next scores and exponentials are computed while this tile's values are multiplied.
    await_gate(base + Memory::has_keys + 8 * next, next_parity);
    hold(sums.scores);
    begin_products();
    sums.multiply_keys(queries, base + Memory::keys + next * keys_bytes);
    await_gate(base + Memory::has_values + 8 * stage, parity);
    begin_products();
    sums.multiply_values(base + Memory::values + stage * values_bytes);
    await_products<1>();
    hold(sums.scores);
    if (speaks) enter_gate(base + Memory::free_keys + 8 * next);
    sums.exponentials(map, first, at, end);
    await_products<0>();
    sums.hold_sums();
    if (speaks) enter_gate(base + Memory::free_values + 8 * stage);
    sums.rescale();
    sums.round_weights();
    stage = next;
    parity = next_parity;
  }
  await_gate(base + Memory::has_values + 8 * stage, parity);
  begin_products();
  sums.multiply_values(base + Memory::values + stage * values_bytes);
  await_products<0>();
  sums.hold_sums();
  sums.store_rows(result, first, rows - first);
}

// The rows from `first` on of a matrix of `rows` queries, for the keys and values from `begin`, a
// multiple of 128, to `end`, of which there is at least one. For blocks of 384 threads, with
// AttentionMemory::bytes of shared memory and 1024 more.
template <int Depth, int Width, int Stages, class Queries, class Keys, class Values, class Result,
          class Map>
__device__ __forceinline__ void attention(const Queries& queries, const Keys& keys,
                                          const Values& values, const Result& result,
                                          long long first, long long rows, long long begin,
                                          long long end, const Map& map) {
  using Memory = AttentionMemory<Depth, Width, Stages>;
  const int base = first_tile();
  if (threadIdx.x == 0) {
    make_gate(base + Memory::has_queries, 128);
    for (int stage = 0; stage < Stages; ++stage) {
      make_gate(base + Memory::has_keys + 8 * stage, 128);
      make_gate(base + Memory::has_values + 8 * stage, 128);
      make_gate(base + Memory::free_keys + 8 * stage, 8);
      make_gate(base + Memory::free_values + 8 * stage, 8);
    }
    announce_gates();
  }
  block_barrier();
  if (threadIdx.x >= 256) {
    lower_registers<40>();
    copy_attention_tiles<Depth, Width, Stages>(base, queries, keys, values, first, rows, begin,
                                               end);
  } else {
    raise_registers<232>();
    sum_attention<Depth, Width, Stages>(base, result, first, rows, begin, end, map);
  }
}

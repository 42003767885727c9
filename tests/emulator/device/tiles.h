// Twin of section tiles: a product is computed where it begins, element by element. Whether gates
// order what threads write and read in tiles is not checked; that they open is.
#pragma once

#include "global_access.h"
#include "shared.h"
#include "warp.h"

constexpr int tile_row_bytes = 128;

namespace heddle_emulator {

/// A gate's 8 bytes: how often it has opened, its arrivals, and how many of them are missing.
struct Gate {
  unsigned int openings;
  unsigned short arrivals, missing;
};

__attribute__((noinline)) static unsigned char* tile_memory(const char* operation, long long offset,
                                                            int bytes, Place place) {
  const SharedMemory& shared = machine.shared;
  if (offset < 0 || offset > shared.bytes - bytes) {
    fail_shared(FaultKind::shared_out_of_range, {operation, bytes, bytes, bytes, true}, offset,
                place);
  }
  return shared.memory + offset;
}

/// The number of 16 bits at `offset`, with its 16-byte piece where the swizzle puts it.
template <class T>
static float tile_number(long long offset, Place place) {
  offset ^= (offset >> 7 & 7) << 4;
  T number;
  __builtin_memcpy(&number, tile_memory("product of tiles", offset, sizeof(T), place), sizeof(T));
  return static_cast<float>(widen(number));
}

static inline int tile_row(int i) {
  const int thread = static_cast<int>(machine.thread_index.x) % 128;
  return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
}
static inline int tile_column(int i) {
  return i / 4 * 8 + static_cast<int>(machine.thread_index.x) % 4 * 2 + i % 2;
}

}  // namespace heddle_emulator

__forceinline__ int first_tile() { return 0; }

template <bool Aligned, class T>
__forceinline__ void copy_piece(int to, const T* from, long long i, bool valid,
                                HEDDLE_EMULATOR_PLACE) {
  using namespace heddle_emulator;
  constexpr int count = 16 / sizeof(T);
  Vector<T, count> piece = {};
  if (valid && Aligned) {
    piece = read_global<T, Vector<T, count>>("copy_piece", from, i, {file, line});
  } else if (valid) {
    for (int k = 0; k < count; ++k)
      piece.v[k] = read_global<T, T>("copy_piece", from, i + k, {file, line});
  }
  __builtin_memcpy(tile_memory("copy_piece", to, 16, {file, line}), &piece, 16);
}
__forceinline__ void close_copies() {}
template <int Pending>
__forceinline__ void await_copies() {}

__forceinline__ void make_gate(int gate, int arrivals, HEDDLE_EMULATOR_PLACE) {
  const unsigned short count = static_cast<unsigned short>(arrivals);
  const heddle_emulator::Gate made{0, count, count};
  __builtin_memcpy(heddle_emulator::tile_memory("make_gate", gate, 8, {file, line}), &made, 8);
}
__forceinline__ void announce_gates() {}
__forceinline__ void enter_gate(int gate, HEDDLE_EMULATOR_PLACE) {
  unsigned char* const at = heddle_emulator::tile_memory("enter_gate", gate, 8, {file, line});
  heddle_emulator::Gate entered;
  __builtin_memcpy(&entered, at, 8);
  if (--entered.missing == 0) {
    entered.missing = entered.arrivals;
    ++entered.openings;
    heddle_emulator::machine.note_opening();
  }
  __builtin_memcpy(at, &entered, 8);
}
__forceinline__ void await_gate(int gate, int parity, HEDDLE_EMULATOR_PLACE) {
  const unsigned char* const at = heddle_emulator::tile_memory("await_gate", gate, 8, {file, line});
  heddle_emulator::Gate awaited;
  for (;;) {
    __builtin_memcpy(&awaited, at, 8);
    if (awaited.openings % 2 != static_cast<unsigned int>(parity)) return;
    heddle_emulator::machine.await_opening({file, line});
  }
}

template <int Count>
__forceinline__ void lower_registers() {}
template <int Count>
__forceinline__ void raise_registers() {}

__forceinline__ void begin_products() {}
__forceinline__ void close_products() {}
template <int Pending>
__forceinline__ void await_products() {}
template <int Count>
__forceinline__ void hold(float (&)[Count]) {}

template <class T>
__forceinline__ void multiply_rows(float (&sums)[64], int a, int b, bool add,
                                   HEDDLE_EMULATOR_PLACE) {
  using namespace heddle_emulator;
  for (int i = 0; i < 64; ++i) {
    float sum = add ? sums[i] : 0;
    for (int k = 0; k < 16; ++k) {
      sum += tile_number<T>(a + tile_row(i) * tile_row_bytes + 2 * k, {file, line}) *
             tile_number<T>(b + tile_column(i) * tile_row_bytes + 2 * k, {file, line});
    }
    sums[i] = sum;
  }
}

// The lanes of a row of `a` hold four of its 16 columns each.
template <class T>
__forceinline__ void multiply_columns(float (&sums)[32], const unsigned int* a, int b,
                                      HEDDLE_EMULATOR_PLACE) {
  using namespace heddle_emulator;
  float left[2][16];
  for (int lane = 0; lane < 4; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int from = static_cast<int>(machine.thread_index.x) % 32 / 4 * 4 + lane;
      const unsigned int pair = exchange(ExchangeKind::index, a[i], from, 32, Place{file, line});
      for (int k = 0; k < 2; ++k) {
        left[i % 2][i / 2 * 8 + lane * 2 + k] =
            static_cast<float>(widen(T{static_cast<unsigned short>(pair >> 16 * k)}));
      }
    }
  }
  for (int i = 0; i < 32; ++i) {
    for (int k = 0; k < 16; ++k) {
      sums[i] += left[i / 2 % 2][k] *
                 tile_number<T>(b + k * tile_row_bytes + 2 * tile_column(i), {file, line});
    }
  }
}

template <class T>
__forceinline__ unsigned int pack_pair(float first, float second) {
  return T::from(first).bits | static_cast<unsigned int>(T::from(second).bits) << 16;
}

__forceinline__ float quick_exp2(float x) { return __builtin_exp2f(x); }

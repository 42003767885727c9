// Twin of section shared: every byte knows who wrote and read it last, so that races between
// barriers and reads of what was never written are seen.
#pragma once

#include "prelude.h"

template <class T>
struct SharedArray {
  int byte_offset;
};

namespace heddle_emulator {

struct SharedAccess {
  const char* operation;
  int bytes, element_bytes, alignment;
  bool write;
};

__attribute__((noinline, cold)) static void fail_shared(FaultKind kind, const SharedAccess& access,
                                                        long long offset, Place place,
                                                        unsigned long long other = 0) {
  fail({kind, access.operation, place, access.write, 0, 0, offset, access.bytes,
        access.element_bytes, access.alignment, static_cast<unsigned int>(other & 0xffff)});
}

__attribute__((always_inline)) static inline bool conflicts(unsigned long long stamp, bool own) {
  return stamp >= machine.ordered_stamp && (stamp & 0xffff) != machine.cluster_thread &&
         !machine.shared_ordered(stamp, own);
}

__attribute__((always_inline)) static inline unsigned long long reader_stamp(
    unsigned long long last) {
  const unsigned int thread = machine.cluster_thread;
  const unsigned long long now = static_cast<unsigned long long>(machine.time) << 16;
  const unsigned int other = last & 0xffff;
  if (last < machine.ordered_stamp || other == thread) return now | thread;
  const unsigned int warp = (thread - 1) / 32;
  const bool same_warp =
      (other & several_lanes) != 0 ? other == (several_lanes | warp) : (other - 1) / 32 == warp;
  return now | (same_warp ? several_lanes | warp : many_warps);
}

__attribute__((noinline)) static unsigned char* access_shared(const SharedMemory& shared,
                                                              int byte_offset, int i,
                                                              const SharedAccess& access,
                                                              Place place) {
  const long long offset = byte_offset + static_cast<long long>(i) * access.element_bytes;
  const bool own = shared.memory == machine.shared.memory;
  if (offset < 0 || offset > shared.bytes - access.bytes) {
    fail_shared(FaultKind::shared_out_of_range, access, offset, place);
  }
  if (offset % access.alignment != 0) {
    fail_shared(FaultKind::shared_misaligned, access, offset, place);
  }
  for (SharedStamp *stamp = shared.stamps + offset, *end = stamp + access.bytes; stamp != end;
       ++stamp) {
    if (!access.write && stamp->write < machine.first_stamp) {
      fail_shared(FaultKind::shared_undefined, access, offset, place);
    }
    if (conflicts(stamp->write, own)) {
      fail_shared(FaultKind::shared_race, access, offset, place, stamp->write);
    }
    if (access.write) {
      if (conflicts(stamp->read, own)) {
        fail_shared(FaultKind::shared_race, access, offset, place, stamp->read);
      }
      stamp->write = static_cast<unsigned long long>(machine.time) << 16 | machine.cluster_thread;
    } else {
      stamp->read = reader_stamp(stamp->read);
    }
  }
  return shared.memory + offset;
}

template <class T, class V>
__attribute__((always_inline)) static inline V read_shared(const char* operation,
                                                           const SharedMemory& shared,
                                                           SharedArray<T> s, int i, Place place) {
  const SharedAccess access{operation, sizeof(V), sizeof(T), alignof(V), false};
  V value;
  __builtin_memcpy(&value, access_shared(shared, s.byte_offset, i, access, place), sizeof(V));
  return value;
}

template <class T, class V>
__attribute__((always_inline)) static inline void write_shared(const char* operation,
                                                               const SharedMemory& shared,
                                                               SharedArray<T> s, int i,
                                                               const V& value, Place place) {
  const SharedAccess access{operation, sizeof(V), sizeof(T), alignof(V), true};
  __builtin_memcpy(access_shared(shared, s.byte_offset, i, access, place), &value, sizeof(V));
}

// Atomics race with plain accesses, not with each other: as writers they are several lanes of a
// warp or many warps, as which nothing else writes.
template <class T, class Combine>
__attribute__((noinline)) static void shared_atomic_at(const char* name, SharedArray<T> s, int i,
                                                       T value, Place place,
                                                       const Combine& combine) {
  const SharedMemory& shared = machine.shared;
  const SharedAccess access{name, sizeof(T), sizeof(T), alignof(T), true};
  const long long offset = s.byte_offset + static_cast<long long>(i) * access.element_bytes;
  unsigned int writer = several_lanes | (machine.cluster_thread - 1) / 32;
  if (offset >= 0 && offset <= shared.bytes - access.bytes) {
    for (int k = 0; k < access.bytes; ++k) {
      SharedStamp& stamp = shared.stamps[offset + k];
      if (stamp.write < machine.first_stamp) {
        fail_shared(FaultKind::shared_undefined, access, offset, place);
      }
      if ((stamp.write & several_lanes) == 0) continue;
      if ((stamp.write & 0xffff) != writer && conflicts(stamp.write, true)) writer = many_warps;
      stamp.write = machine.first_stamp | machine.cluster_thread;
    }
  }
  unsigned char* const at = access_shared(shared, s.byte_offset, i, access, place);
  T old;
  __builtin_memcpy(&old, at, sizeof(T));
  const T combined = combine(old, value);
  __builtin_memcpy(at, &combined, sizeof(T));
  for (int k = 0; k < access.bytes; ++k) {
    shared.stamps[offset + k].write = static_cast<unsigned long long>(machine.time) << 16 | writer;
  }
}

}  // namespace heddle_emulator

__forceinline__ void shared_atomic_add(SharedArray<int> s, int i, int value,
                                       HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::shared_atomic_at("shared_atomic_add", s, i, value, {file, line},
                                    [](int a, int b) { return a + b; });
}
__forceinline__ void shared_atomic_or(SharedArray<unsigned int> s, int i, unsigned int value,
                                      HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::shared_atomic_at("shared_atomic_or", s, i, value, {file, line},
                                    [](unsigned int a, unsigned int b) { return a | b; });
}

template <class T>
__forceinline__ SharedArray<T> shared_pointer(int byte_offset) {
  return {byte_offset};
}

template <class T>
__forceinline__ T shared_load(SharedArray<T> s, int i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_shared<T, T>("shared_load", heddle_emulator::machine.shared, s, i,
                                            {file, line});
}

template <class T>
__forceinline__ void shared_store(SharedArray<T> s, int i, T value, HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_shared<T, T>("shared_store", heddle_emulator::machine.shared, s, i, value,
                                      {file, line});
}

template <int W, class T>
__forceinline__ Vector<T, W> shared_load_vector(SharedArray<T> s, int i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_shared<T, Vector<T, W>>(
      "shared_load_vector", heddle_emulator::machine.shared, s, i, {file, line});
}

template <int W, class T>
__forceinline__ void shared_store_vector(SharedArray<T> s, int i, Vector<T, W> value,
                                         HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_shared<T, Vector<T, W>>(
      "shared_store_vector", heddle_emulator::machine.shared, s, i, value, {file, line});
}

__forceinline__ void block_barrier(HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::machine.block_barrier({file, line});
}

// Twin of section atomic. Threads run one at a time, so a plain read and write are atomic; what
// must be checked is that no plain access races with them.
#pragma once

#include "global_access.h"

namespace heddle_emulator {

template <class T, class Combine>
__attribute__((noinline)) static T atomic_at(const char* name, T* p, long long i, T value,
                                             Place place, const Combine& combine) {
  const GlobalAccess access = global_access<T, T>(name, true);
  unsigned long long offset;
  GlobalBuffer& buffer = find_global(p, i, access, place, offset);
  machine.note_atomic();
  if (buffer.stamps != nullptr) {
    const GlobalStamp& stamp = buffer.stamps[offset >> buffer.stamp_shift];
    const unsigned int k = static_cast<unsigned int>(&buffer - machine.buffers);
    if (stamp.writer == 0 && buffer.undefined) {
      fail_global(FaultKind::global_undefined, access, buffer.base + offset, k, place);
    }
    if (stamp.writer != atomic_writer) track_global(buffer, access, offset, place, atomic_writer);
  }
  T old;
  __builtin_memcpy(&old, buffer.memory + offset, sizeof(T));
  const T sum = combine(old, value);
  __builtin_memcpy(buffer.memory + offset, &sum, sizeof(T));
  buffer.stored_bytes += sizeof(T);
  return old;
}

template <class T>
static T atomic_add_at(T* p, long long i, T value, Place place) {
  return atomic_at("atomic_add", p, i, value, place, [](T a, T b) { return a + b; });
}

template <class T>
static T atomic_max_at(T* p, long long i, T value, Place place) {
  return atomic_at("atomic_max", p, i, value, place, [](T a, T b) { return a < b ? b : a; });
}

/// Blocks run one after another, so a flag that is waited for and is not set belongs to a block
/// that may begin later.
template <bool Waits, class W>
__attribute__((noinline)) static W flag_at(const W* flags, long long i, Place place) {
  const GlobalAccess access = global_access<W, W>(Waits ? "wait_until_set" : "look_at", false);
  unsigned long long offset;
  GlobalBuffer& buffer = find_global(flags, i, access, place, offset);
  const unsigned int k = static_cast<unsigned int>(&buffer - machine.buffers);
  machine.note_wait();
  if (buffer.stamps != nullptr) {
    const GlobalStamp& stamp = buffer.stamps[offset >> buffer.stamp_shift];
    const bool by_atomic = stamp.writer == atomic_writer || stamp.writer == written_before_launch;
    if (stamp.writer == 0 && buffer.undefined) {
      fail_global(FaultKind::global_undefined, access, buffer.base + offset, k, place);
    }
    if (stamp.writer != 0 && !by_atomic) {
      fail_global(FaultKind::global_race, access, buffer.base + offset, k, place, stamp.writer);
    }
  }
  W flag;
  __builtin_memcpy(&flag, buffer.memory + offset, sizeof(flag));
  if (Waits && flag == 0) fail_global(FaultKind::never_set, access, buffer.base + offset, k, place);
  return flag;
}

}  // namespace heddle_emulator

template <class W>
__forceinline__ W wait_until_set(const W* flags, long long i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::flag_at<true>(flags, i, {file, line});
}
template <class W>
__forceinline__ W look_at(const W* flags, long long i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::flag_at<false>(flags, i, {file, line});
}
__forceinline__ int atomic_add(int* p, long long i, int value, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_add_at(p, i, value, {file, line});
}
__forceinline__ unsigned int atomic_add(unsigned int* p, long long i, unsigned int value,
                                        HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_add_at(p, i, value, {file, line});
}
__forceinline__ unsigned long long atomic_add(unsigned long long* p, long long i,
                                              unsigned long long value, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_add_at(p, i, value, {file, line});
}
__forceinline__ float atomic_add(float* p, long long i, float value, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_add_at(p, i, value, {file, line});
}
__forceinline__ long long atomic_add(long long* p, long long i, long long value,
                                     HEDDLE_EMULATOR_PLACE) {
  // Sums wrap.
  return static_cast<long long>(
      heddle_emulator::atomic_add_at(reinterpret_cast<unsigned long long*>(p), i,
                                     static_cast<unsigned long long>(value), {file, line}));
}
__forceinline__ unsigned int atomic_max(unsigned int* p, long long i, unsigned int value,
                                        HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_max_at(p, i, value, {file, line});
}
__forceinline__ unsigned long long atomic_max(unsigned long long* p, long long i,
                                              unsigned long long value, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::atomic_max_at(p, i, value, {file, line});
}

__forceinline__ void device_fence() { heddle_emulator::machine.device_fence(); }

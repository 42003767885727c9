// Global memory as kernels see it: every access is checked against its buffer.
#pragma once

#include "prelude.h"

namespace heddle_emulator {

struct GlobalAccess {
  const char* operation;
  int bytes, element_bytes, alignment;
  bool write;
};

__attribute__((noinline, cold)) static void fail_global(FaultKind kind, const GlobalAccess& access,
                                                        unsigned long long address,
                                                        unsigned int buffer, Place place,
                                                        unsigned int other = 0) {
  const bool known = buffer < machine.buffer_count;
  const long long offset =
      known ? static_cast<long long>(address - machine.buffers[buffer].base) : 0;
  fail({kind, access.operation, place, access.write, static_cast<long long>(address),
        static_cast<int>(buffer), offset, access.bytes, access.element_bytes, access.alignment,
        other});
}

__attribute__((always_inline)) static inline bool conflicts(unsigned int thread,
                                                            unsigned int time) {
  return thread != 0 && thread != machine.global_thread && !machine.global_ordered(thread, time);
}

/// Checks the access against those that others made, and notes it.
__attribute__((always_inline)) static inline void track_global(
    GlobalBuffer& buffer, const GlobalAccess& access, unsigned long long offset, Place place,
    unsigned int writer = machine.global_thread) {
  GlobalStamp* stamp = buffer.stamps + (offset >> buffer.stamp_shift);
  GlobalStamp* last = buffer.stamps + ((offset + access.bytes - 1) >> buffer.stamp_shift);
  const unsigned int index = static_cast<unsigned int>(&buffer - machine.buffers);
  for (; stamp <= last; ++stamp) {
    if (conflicts(stamp->writer, stamp->write_time)) {
      fail_global(FaultKind::global_race, access, buffer.base + offset, index, place,
                  stamp->writer);
    }
    if (access.write) {
      if (conflicts(stamp->reader, stamp->read_time)) {
        fail_global(FaultKind::global_race, access, buffer.base + offset, index, place,
                    stamp->reader);
      }
      stamp->writer = writer;
      stamp->write_time = machine.time;
    } else {
      if (buffer.undefined && stamp->writer == 0) {
        fail_global(FaultKind::global_undefined, access, buffer.base + offset, index, place);
      }
      stamp->reader = stamp->reader == 0 || stamp->reader == machine.global_thread
                          ? machine.global_thread
                          : machine.merge_readers(stamp->reader);
      stamp->read_time = machine.time;
    }
  }
}

/// The buffer of an access that is in range, aligned and allowed; `offset` is where in it.
__attribute__((always_inline)) static inline GlobalBuffer& find_global(const void* p, long long i,
                                                                       const GlobalAccess& access,
                                                                       Place place,
                                                                       unsigned long long& offset) {
  const unsigned long long start = reinterpret_cast<unsigned long long>(p);
  const unsigned long long address =
      start + static_cast<unsigned long long>(i) * static_cast<unsigned int>(access.element_bytes);
  const unsigned long long index = (start >> address_bits) - 1;
  if (index >= machine.buffer_count) {
    fail_global(FaultKind::stray_pointer, access, start, ~0u, place);
  }
  const unsigned int k = static_cast<unsigned int>(index);
  GlobalBuffer& buffer = machine.buffers[k];
  offset = address - buffer.base;
  if (static_cast<long long>(offset) < 0 ||
      static_cast<long long>(offset) > buffer.bytes - access.bytes) {
    fail_global(FaultKind::global_out_of_range, access, address, k, place);
  }
  if (address % static_cast<unsigned int>(access.alignment) != 0) {
    fail_global(FaultKind::global_misaligned, access, address, k, place);
  }
  if (access.write && !buffer.writable) {
    fail_global(FaultKind::global_read_only, access, address, k, place);
  }
  return buffer;
}

/// Out of line, which more than halves what kernels take to compile.
__attribute__((noinline)) static unsigned char* access_global(const void* p, long long i,
                                                              const GlobalAccess& access,
                                                              Place place) {
  unsigned long long offset;
  GlobalBuffer& buffer = find_global(p, i, access, place, offset);
  if (buffer.stamps != nullptr) track_global(buffer, access, offset, place);
  (access.write ? buffer.stored_bytes : buffer.loaded_bytes) += access.bytes;
  return buffer.memory + offset;
}

template <class T, class V>
constexpr GlobalAccess global_access(const char* operation, bool write) {
  return {operation, sizeof(V), sizeof(T), alignof(V), write};
}

template <class T, class V>
__attribute__((always_inline)) static inline V read_global(const char* operation, const T* p,
                                                           long long i, Place place) {
  V value;
  __builtin_memcpy(&value, access_global(p, i, global_access<T, V>(operation, false), place),
                   sizeof(V));
  return value;
}

template <class T, class V>
__attribute__((always_inline)) static inline void write_global(const char* operation, T* p,
                                                               long long i, const V& value,
                                                               Place place) {
  __builtin_memcpy(access_global(p, i, global_access<T, V>(operation, true), place), &value,
                   sizeof(V));
}

}  // namespace heddle_emulator

// Twin of section memory.
#pragma once

#include "global_access.h"

/// Who reads and writes the element when is not known, so only the bounds are checked.
template <class T, class Index>
__forceinline__ T& element(T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  unsigned long long offset;
  heddle_emulator::GlobalBuffer& buffer = heddle_emulator::find_global(
      p, i, heddle_emulator::global_access<T, T>("element", true), {file, line}, offset);
  return *reinterpret_cast<T*>(buffer.memory + offset);
}

template <class T, class Index>
__forceinline__ T load(const T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_global<T, T>("load", p, i, {file, line});
}

template <class T, class Index>
__forceinline__ void store(T* p, Index i, T value, HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_global<T, T>("store", p, i, value, {file, line});
}

template <class T, class Index>
__forceinline__ T load_streaming(const T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_global<T, T>("load_streaming", p, i, {file, line});
}

template <class T, class Index>
__forceinline__ void store_streaming(T* p, Index i, T value, HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_global<T, T>("store_streaming", p, i, value, {file, line});
}

template <int W, class T, class Index>
__forceinline__ Vector<T, W> load_vector(const T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_global<T, Vector<T, W>>("load_vector", p, i, {file, line});
}

template <int W, class T, class Index>
__forceinline__ void store_vector(T* p, Index i, Vector<T, W> value, HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_global<T, Vector<T, W>>("store_vector", p, i, value, {file, line});
}

template <int W, class T, class Index>
__forceinline__ Vector<T, W> load_streaming_vector(const T* p, Index i, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_global<T, Vector<T, W>>("load_streaming_vector", p, i, {file, line});
}

template <int W, class T, class Index>
__forceinline__ void store_streaming_vector(T* p, Index i, Vector<T, W> value,
                                            HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::write_global<T, Vector<T, W>>("store_streaming_vector", p, i, value,
                                                 {file, line});
}

template <class Index>
__forceinline__ void assume_not_negative(Index) {}

// Twin of section warp: the lanes meet in the emulator, which checks that all are there.
#pragma once

#include "prelude.h"

namespace heddle_emulator {

template <class T>
__attribute__((always_inline)) static inline T exchange(ExchangeKind kind, const T& value,
                                                        int operand, int width, Place place) {
  T result = value;
  machine.exchange({kind, width, operand, sizeof(T), &value, &result, place});
  return result;
}

}  // namespace heddle_emulator

template <class T>
__forceinline__ T shuffle_down(T value, int delta, int width, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::exchange(heddle_emulator::ExchangeKind::down, value, delta, width,
                                   {file, line});
}

template <class T>
__forceinline__ T shuffle_up(T value, int delta, int width, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::exchange(heddle_emulator::ExchangeKind::up, value, delta, width,
                                   {file, line});
}

template <class T>
__forceinline__ T shuffle_xor(T value, int lane_mask, int width, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::exchange(heddle_emulator::ExchangeKind::exclusive_or, value, lane_mask,
                                   width, {file, line});
}

template <class T>
__forceinline__ T shuffle(T value, int lane, int width, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::exchange(heddle_emulator::ExchangeKind::index, value, lane, width,
                                   {file, line});
}

__forceinline__ unsigned int ballot(bool vote, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::exchange(heddle_emulator::ExchangeKind::ballot,
                                   static_cast<unsigned int>(vote), 0, 32, {file, line});
}

__forceinline__ void warp_barrier(HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::exchange(heddle_emulator::ExchangeKind::barrier, 0, 0, 32, {file, line});
}

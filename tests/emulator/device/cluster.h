// Twin of section cluster: the blocks of a cluster run together, each with its shared memory.
#pragma once

#include "shared.h"

__forceinline__ void cluster_barrier(HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::machine.cluster_barrier({file, line});
}

__forceinline__ int cluster_rank() { return heddle_emulator::machine.cluster_rank; }

template <class T>
__forceinline__ T cluster_shared_load(SharedArray<T> s, int i, int rank, HEDDLE_EMULATOR_PLACE) {
  return heddle_emulator::read_shared<T, T>(
      "cluster_shared_load", heddle_emulator::machine.shared_of_rank(rank, {file, line}), s, i,
      {file, line});
}

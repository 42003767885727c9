// Twin of section cluster: the blocks of a cluster run together, each with its shared memory. Waits
// are barriers of the whole cluster, which order what was pushed before them; an exchange holds the
// bytes that are still to come.
#pragma once

#include "shared.h"

namespace heddle_emulator {

using ExchangeCounter = SharedArray<unsigned long long>;

// No access of the kernel's own: counters are counted down by many threads at once.
static inline unsigned long long count_down(const SharedMemory& shared, ExchangeCounter exchange,
                                            unsigned long long bytes) {
  unsigned long long left = 0;
  __builtin_memcpy(&left, shared.memory + exchange.byte_offset, sizeof left);
  left -= bytes;
  __builtin_memcpy(shared.memory + exchange.byte_offset, &left, sizeof left);
  return left;
}

}  // namespace heddle_emulator

__forceinline__ int cluster_rank() { return heddle_emulator::machine.cluster_rank; }

__forceinline__ void open_exchange(SharedArray<unsigned long long> exchange, int bytes,
                                   HEDDLE_EMULATOR_PLACE) {
  shared_store(exchange, 0, static_cast<unsigned long long>(bytes), file, line);
}

__forceinline__ void announce_exchanges() {}
__forceinline__ void await_exchanges(HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::machine.cluster_barrier({file, line});
}

template <class T>
__forceinline__ void push_shared(SharedArray<T> s, int i, T value, int rank,
                                 SharedArray<unsigned long long> exchange, HEDDLE_EMULATOR_PLACE) {
  const auto peer = heddle_emulator::machine.shared_of_rank(rank, {file, line});
  heddle_emulator::write_shared<T, T>("push_shared", peer, s, i, value, {file, line});
  heddle_emulator::count_down(peer, exchange, sizeof(T));
}

__forceinline__ void await_exchange(SharedArray<unsigned long long> exchange,
                                    HEDDLE_EMULATOR_PLACE) {
  heddle_emulator::machine.cluster_barrier({file, line});
  const unsigned long long left = shared_load(exchange, 0, file, line);
  if (left == 0) return;
  heddle_emulator::Fault fault{};
  fault.kind = heddle_emulator::FaultKind::exchange_bytes;
  fault.operation = "await_exchange";
  fault.place = {file, line};
  fault.offset = static_cast<long long>(left);
  heddle_emulator::machine.fail(fault);
}

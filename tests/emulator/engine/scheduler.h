#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/emulator/device/machine.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/engine/fiber.h"

namespace heddle::emulator {

using heddle_emulator::Exchange;
using heddle_emulator::Extent3;
using heddle_emulator::Fault;
using heddle_emulator::KernelEntry;
using heddle_emulator::Machine;
using heddle_emulator::Place;
using heddle_emulator::SharedMemory;
using heddle_emulator::SharedStamp;

constexpr int warp_size = 32;

struct Block;

/// One thread of the kernel. It runs on a fiber from its start to its end.
struct Thread {
  enum class State : std::uint8_t {
    running,
    at_block_barrier,
    at_cluster_barrier,
    at_exchange,
    at_gate,
    done
  };
  State state = State::running;
  Extent3 index{};
  std::uint32_t number = 0;  ///< in the cluster
  Block* block = nullptr;
  Fiber* fiber = nullptr;
  Place place{};  ///< where it waits
};

struct Warp {
  std::array<const Exchange*, warp_size> exchanges{};
  int arrived = 0;
  std::uint32_t barrier_time = 0;
};

struct Block {
  Extent3 index{};
  int rank = 0;
  SharedMemory shared{};
  std::vector<std::byte> memory;
  std::vector<SharedStamp> stamps;
  std::uint32_t arrived = 0;       ///< at the block's barrier
  std::uint32_t barrier_time = 0;  ///< of its last barrier, or its start
  std::uint32_t remote_write = 0;  ///< last time that another block read its shared memory
};

/// What a block did to hand data to others, kept for the whole launch.
struct BlockFences {
  std::uint32_t fence = 0;    ///< time of its last device_fence
  std::uint32_t release = 0;  ///< accesses before are seen by whom its atomics reach
  bool acquired = false;      ///< it made an atomic
};

/// Runs the blocks of one launch after another, those of a cluster together, and every thread of
/// them on a fiber: a thread that waits gives way to the next.
class Scheduler {
 public:
  Scheduler(Machine& machine, const KernelEntry& kernel, void* const* arguments,
            const LaunchShape& shape);
  ~Scheduler();

  /// Throws EmulationError.
  void run();

 private:
  friend struct Hooks;

  void run_cluster(std::uint64_t first_block);
  void prepare(Block& block, int rank, std::uint64_t linear);
  void check_finished();
  void check_remote_writes();

  void work(Fiber& fiber);
  Thread& begin_thread(Fiber& fiber);
  Fiber& worker();
  void install(const Thread& thread);
  void wait();
  void make_ready(Thread& thread);

  void block_barrier(Place place);
  void cluster_barrier(Place place);
  void release_barrier(std::uint32_t first, std::uint32_t last, Place place);
  void exchange(const Exchange& exchange);
  void await_opening(Place place);
  void note_opening();
  void complete_exchange(std::uint32_t warp);
  bool global_ordered(std::uint32_t thread, std::uint32_t time) const;
  bool shared_ordered(std::uint64_t stamp, bool own) const;
  SharedMemory shared_of_rank(int rank, Place place);
  std::uint32_t merge_readers(std::uint32_t reader) const;
  std::uint32_t step() { return ++machine_.time; }
  std::uint64_t block_number(const Extent3& index) const;
  [[noreturn]] void fail(std::string message);

  std::string describe(const Thread& thread) const;
  std::string describe(const Fault& fault) const;
  std::string describe_other(std::uint32_t global_thread) const;
  std::string describe_stuck() const;
  std::string describe_missing_lanes(std::uint32_t warp) const;
  std::string describe_missing_at_barrier(const Block& block) const;
  std::string whereabouts(const Thread& thread) const;

  Machine& machine_;
  const KernelEntry& kernel_;
  void* const* arguments_;
  LaunchShape shape_;
  std::uint32_t block_threads_;
  std::uint32_t block_warps_;
  std::vector<Block> blocks_;    ///< of the cluster that runs
  std::vector<Thread> threads_;  ///< of these blocks
  std::vector<Warp> warps_;
  std::vector<BlockFences> fences_;
  std::uint32_t begun_ = 0, done_ = 0;
  std::uint32_t at_cluster_barrier_ = 0;
  std::uint32_t cluster_barrier_time_ = 0;
  Thread* current_ = nullptr;
  std::vector<Thread*> ready_;
  std::size_t next_ready_ = 0;

  Context main_{};
  std::size_t used_fibers_ = 0;  ///< of the host thread's pool
  std::vector<Fiber*> idle_;
  std::string error_;
};

}  // namespace heddle::emulator

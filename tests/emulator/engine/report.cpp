// What the emulator says when a kernel does something wrong.
#include <fmt/format.h>

#include "tests/emulator/engine/scheduler.h"

namespace heddle::emulator {
namespace {

using heddle_emulator::FaultKind;

std::string name_index(const Extent3& index) {
  return fmt::format("({}, {}, {})", index.x, index.y, index.z);
}

std::string name_place(const Place& place) {
  return fmt::format("at {}:{}", place.file, place.line);
}

/// The elements that an access covers, such as "element 7" or "elements 4..7".
std::string name_elements(const Fault& fault) {
  const long long size = fault.element_bytes;
  const long long first = fault.offset >= 0 ? fault.offset / size : -((-fault.offset) / size);
  const long long count = fault.bytes / size;
  if (count <= 1) return fmt::format("element {}", first);
  return fmt::format("elements {}..{}", first, first + count - 1);
}

bool is_shared(FaultKind kind) {
  return kind == FaultKind::shared_out_of_range || kind == FaultKind::shared_misaligned ||
         kind == FaultKind::shared_undefined || kind == FaultKind::shared_race;
}

std::string name_memory(const Fault& fault, const Machine& machine) {
  if (is_shared(fault.kind)) {
    return fmt::format("{} bytes of shared memory, which the block has {} of, at byte {}",
                       fault.bytes, machine.shared.bytes, fault.offset);
  }
  return fmt::format(
      "{} of pointer parameter {}, which has {} elements of {} bytes", name_elements(fault),
      fault.buffer, machine.buffers[fault.buffer].bytes / fault.element_bytes, fault.element_bytes);
}

}  // namespace

std::string Scheduler::describe(const Thread& thread) const {
  return fmt::format("kernel '{}', thread {} of block {}", kernel_.name, name_index(thread.index),
                     name_index(thread.block->index));
}

std::string Scheduler::whereabouts(const Thread& thread) const {
  switch (thread.state) {
    case Thread::State::done:
      return "has returned";
    case Thread::State::running:
      return name_place(thread.place);
    case Thread::State::at_block_barrier:
      return "at the block_barrier " + name_place(thread.place);
    case Thread::State::at_cluster_barrier:
      return "at the cluster_barrier " + name_place(thread.place);
    case Thread::State::at_gate:
      return "at a gate " + name_place(thread.place);
    case Thread::State::at_exchange:
      return "at the shuffle, ballot or warp_barrier " + name_place(thread.place);
  }
  return {};
}

/// The owner of a global stamp.
std::string Scheduler::describe_other(std::uint32_t global_thread) const {
  if (global_thread == heddle_emulator::atomic_writer) return "an atomic of another thread";
  if (global_thread == heddle_emulator::many_blocks) return "threads of several blocks";
  if ((global_thread & heddle_emulator::several_readers) != 0) {
    return fmt::format("threads of block number {}",
                       global_thread & ~heddle_emulator::several_readers);
  }
  return fmt::format("thread number {} of block number {}", (global_thread - 1) % block_threads_,
                     (global_thread - 1) / block_threads_);
}

std::string Scheduler::describe(const Fault& fault) const {
  std::string what =
      fmt::format("{}, {} {}", describe(*current_), fault.operation, name_place(fault.place));
  const std::string touches = fmt::format("{}: {}", what, fault.write ? "writes " : "reads ");
  switch (fault.kind) {
    case FaultKind::stray_pointer:
      return fmt::format("{}: address {:#x} lies in no parameter's buffer", what, fault.address);
    case FaultKind::global_out_of_range:
    case FaultKind::shared_out_of_range:
      return touches + name_memory(fault, machine_) + ": out of range";
    case FaultKind::global_misaligned:
    case FaultKind::shared_misaligned:
      return fmt::format("{}{}: misaligned, an access of {} bytes needs a multiple of {}", touches,
                         name_memory(fault, machine_), fault.bytes, fault.alignment);
    case FaultKind::global_read_only:
      return touches + name_memory(fault, machine_) + ": that buffer is only to be read";
    case FaultKind::global_undefined:
    case FaultKind::shared_undefined:
      return touches + name_memory(fault, machine_) + ": nothing has been written there";
    case FaultKind::global_race:
      return fmt::format("{}{}: a race, {} touched the same with nothing between to order them",
                         touches, name_memory(fault, machine_), describe_other(fault.other));
    case FaultKind::shared_race: {
      const bool several = (fault.other & heddle_emulator::several_lanes) != 0;
      return fmt::format("{}{}: a race, {} touched the same with no barrier between", touches,
                         name_memory(fault, machine_),
                         several ? "several threads" : describe(threads_[fault.other - 1]));
    }
    case FaultKind::never_set:
      return fmt::format("{}: waits for {}, which no block that began before has set: a deadlock",
                         what, name_memory(fault, machine_));
    case FaultKind::cluster_rank:
      return fmt::format("{}: rank {} of a cluster of {} blocks", what, fault.address,
                         shape_.cluster);
    case FaultKind::exchange_bytes:
      return fmt::format("{}: {} bytes of it have not come, and never will", what, fault.offset);
  }
  return what;
}

/// Why nothing can run on although threads are left.
std::string Scheduler::describe_stuck() const {
  for (std::uint32_t warp = 0; warp < warps_.size(); ++warp) {
    if (warps_[warp].arrived > 0) return describe_missing_lanes(warp);
  }
  for (const Block& block : blocks_) {
    if (block.arrived > 0) return describe_missing_at_barrier(block);
  }
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::at_gate)
      return fmt::format("{} is {}, which does not open", describe(thread), whereabouts(thread));
  }
  for (const Thread& thread : threads_) {
    if (thread.state == Thread::State::done) {
      return fmt::format(
          "{} has returned, {} of {} threads of the cluster wait at a "
          "cluster_barrier",
          describe(thread), at_cluster_barrier_, threads_.size());
    }
  }
  return fmt::format("kernel '{}' is stuck", kernel_.name);
}

std::string Scheduler::describe_missing_lanes(std::uint32_t warp) const {
  const Thread* waiting = nullptr;
  const Thread* missing = nullptr;
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    const Thread& thread = threads_[warp * warp_size + lane];
    (thread.state == Thread::State::at_exchange ? waiting : missing) = &thread;
  }
  return fmt::format("{} is {} with {} of 32 lanes of its warp; thread {}, also of the warp, {}",
                     describe(*waiting), whereabouts(*waiting), warps_[warp].arrived,
                     name_index(missing->index), whereabouts(*missing));
}

std::string Scheduler::describe_missing_at_barrier(const Block& block) const {
  const Thread* waiting = nullptr;
  const Thread* missing = nullptr;
  const std::uint32_t first = static_cast<std::uint32_t>(block.rank) * block_threads_;
  for (std::uint32_t i = first; i < first + block_threads_; ++i) {
    (threads_[i].state == Thread::State::at_block_barrier ? waiting : missing) = &threads_[i];
  }
  return fmt::format("{} is {} with {} of {} threads of its block; thread {} {}",
                     describe(*waiting), whereabouts(*waiting), block.arrived, block_threads_,
                     name_index(missing->index), whereabouts(*missing));
}

}  // namespace heddle::emulator

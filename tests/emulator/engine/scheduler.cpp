#include "tests/emulator/engine/scheduler.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

namespace heddle::emulator {
namespace {

thread_local Scheduler* active = nullptr;

/// The host thread's fibers, kept from launch to launch.
std::vector<std::unique_ptr<Fiber>>& fiber_pool() {
  thread_local std::vector<std::unique_ptr<Fiber>> pool;
  return pool;
}

}  // namespace

/// The machine's way into the scheduler that runs on this host thread.
struct Hooks {
  static void work(Fiber& fiber) { active->work(fiber); }
  static void install(Machine& machine) {
    machine.block_barrier = [](Place place) { active->block_barrier(place); };
    machine.cluster_barrier = [](Place place) { active->cluster_barrier(place); };
    machine.exchange = [](const Exchange& exchange) { active->exchange(exchange); };
    machine.await_opening = [](Place place) { active->await_opening(place); };
    machine.note_opening = [] { active->note_opening(); };
    machine.global_ordered = [](unsigned int thread, unsigned int time) {
      return active->global_ordered(thread, time);
    };
    machine.shared_ordered = [](unsigned long long stamp, bool own) {
      return active->shared_ordered(stamp, own);
    };
    machine.shared_of_rank = [](int rank, Place place) {
      return active->shared_of_rank(rank, place);
    };
    machine.merge_readers = [](unsigned int reader) { return active->merge_readers(reader); };
    machine.note_atomic = [] {
      BlockFences& fences = active->fences_[active->block_number(active->current_->block->index)];
      fences.release = fences.fence;
      fences.acquired = true;
    };
    machine.note_wait = [] {
      active->fences_[active->block_number(active->current_->block->index)].acquired = true;
    };
    machine.device_fence = [] {
      active->fences_[active->block_number(active->current_->block->index)].fence = active->step();
    };
    machine.fail = [](const Fault& fault) { active->fail(active->describe(fault)); };
  }
};

Scheduler::Scheduler(Machine& machine, const KernelEntry& kernel, void* const* arguments,
                     const LaunchShape& shape)
    : machine_(machine),
      kernel_(kernel),
      arguments_(arguments),
      shape_(shape),
      block_threads_(shape.block[0] * shape.block[1] * shape.block[2]),
      block_warps_((block_threads_ + warp_size - 1) / warp_size),
      blocks_(shape.cluster),
      threads_(std::size_t{block_threads_} * shape.cluster),
      warps_(std::size_t{block_warps_} * shape.cluster),
      fences_(std::size_t{shape.grid[0]} * shape.grid[1] * shape.grid[2]) {
  for (Block& block : blocks_) {
    block.memory.resize(shape.shared_bytes);
    block.stamps.resize(shape.shared_bytes);
    block.shared = {reinterpret_cast<unsigned char*>(block.memory.data()), block.stamps.data(),
                    static_cast<int>(shape.shared_bytes)};
  }
  machine_.block_extent = {shape.block[0], shape.block[1], shape.block[2]};
  machine_.grid_extent = {shape.grid[0], shape.grid[1], shape.grid[2]};
  machine_.time = 0;
  Hooks::install(machine_);
  active = this;
}

Scheduler::~Scheduler() {
  for (std::size_t i = 0; i < used_fibers_; ++i) fiber_pool()[i]->reset();
  active = nullptr;
}

void Scheduler::run() {
  std::vector<std::uint64_t> clusters(fences_.size() / shape_.cluster);
  std::iota(clusters.begin(), clusters.end(), std::uint64_t{0});
  if (shape_.shuffle_seed) {
    std::shuffle(clusters.begin(), clusters.end(), std::mt19937_64(*shape_.shuffle_seed));
  }
  for (std::uint64_t cluster : clusters) run_cluster(cluster * shape_.cluster);
}

void Scheduler::run_cluster(std::uint64_t first_block) {
  cluster_barrier_time_ = step();
  machine_.first_stamp = std::uint64_t{machine_.time} << 16;
  for (std::uint32_t rank = 0; rank < shape_.cluster; ++rank) {
    prepare(blocks_[rank], static_cast<int>(rank), first_block + rank);
  }
  for (Warp& warp : warps_) warp.barrier_time = machine_.time;
  begun_ = done_ = 0;
  idle_.clear();
  for (std::size_t i = 0; i < used_fibers_; ++i) idle_.push_back(fiber_pool()[i].get());
  worker().resume(main_);
  check_finished();
  check_remote_writes();
}

void Scheduler::prepare(Block& block, int rank, std::uint64_t linear) {
  block.rank = rank;
  block.index.x = static_cast<unsigned int>(linear % shape_.grid[0]);
  block.index.y = static_cast<unsigned int>(linear / shape_.grid[0] % shape_.grid[1]);
  block.index.z = static_cast<unsigned int>(linear / shape_.grid[0] / shape_.grid[1]);
  block.arrived = 0;
  block.barrier_time = machine_.time;
  block.remote_write = 0;
}

void Scheduler::check_finished() {
  if (error_.empty() && done_ != threads_.size()) error_ = describe_stuck();
  if (!error_.empty()) throw EmulationError(error_);
}

void Scheduler::check_remote_writes() {
  for (const Block& block : blocks_) {
    if (block.remote_write >= cluster_barrier_time_) {
      throw EmulationError("kernel '" + std::string(kernel_.name) + "': block " +
                           std::to_string(block.rank) +
                           " of a cluster may exit while another writes to its shared memory; an "
                           "await_exchange must stand behind what others push");
    }
  }
}

Fiber& Scheduler::worker() {
  if (idle_.empty()) {
    auto& pool = fiber_pool();
    if (used_fibers_ == pool.size()) pool.push_back(std::make_unique<Fiber>(&Hooks::work));
    return *pool[used_fibers_++];
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

/// A fiber's life: threads that never wait run one after another on the same one.
void Scheduler::work(Fiber& fiber) {
  for (;;) {
    while (next_ready_ == ready_.size() && begun_ < threads_.size()) {
      Thread& thread = begin_thread(fiber);
      kernel_.call(arguments_);
      thread.state = Thread::State::done;
      ++done_;
    }
    idle_.push_back(&fiber);
    if (next_ready_ < ready_.size()) {
      fiber.switch_to(*ready_[next_ready_++]->fiber);
    } else {
      fiber.suspend(main_);
    }
  }
}

Thread& Scheduler::begin_thread(Fiber& fiber) {
  const std::uint32_t number = begun_++;
  const std::uint32_t in_block = number % block_threads_;
  Thread& thread = threads_[number];
  thread.state = Thread::State::running;
  thread.index.x = in_block % shape_.block[0];
  thread.index.y = in_block / shape_.block[0] % shape_.block[1];
  thread.index.z = in_block / shape_.block[0] / shape_.block[1];
  thread.number = number;
  thread.block = &blocks_[number / block_threads_];
  thread.fiber = &fiber;
  current_ = &thread;
  install(thread);
  return thread;
}

void Scheduler::install(const Thread& thread) {
  const Block& block = *thread.block;
  machine_.thread_index = thread.index;
  machine_.block_index = block.index;
  machine_.cluster_rank = block.rank;
  machine_.global_thread = static_cast<unsigned int>(block_number(block.index) * block_threads_ +
                                                     thread.number % block_threads_ + 1);
  machine_.shared = block.shared;
  machine_.cluster_thread = thread.number + 1;
  machine_.ordered_stamp =
      std::uint64_t{shape_.cluster > 1 ? cluster_barrier_time_ : block.barrier_time} << 16;
}

std::uint64_t Scheduler::block_number(const Extent3& index) const {
  return index.x +
         std::uint64_t{shape_.grid[0]} * (index.y + std::uint64_t{shape_.grid[1]} * index.z);
}

/// The current thread gives way until another makes it ready.
void Scheduler::wait() {
  Thread& self = *current_;
  Fiber& fiber = *self.fiber;
  if (next_ready_ < ready_.size()) {
    fiber.switch_to(*ready_[next_ready_++]->fiber);
  } else if (begun_ < threads_.size()) {
    fiber.switch_to(worker());
  } else {
    fiber.suspend(main_);
  }
  current_ = &self;
  install(self);
}

void Scheduler::make_ready(Thread& thread) {
  if (next_ready_ == ready_.size()) {
    ready_.clear();
    next_ready_ = 0;
  }
  thread.state = Thread::State::running;
  if (&thread != current_) ready_.push_back(&thread);
}

void Scheduler::block_barrier(Place place) {
  Block& block = *current_->block;
  current_->state = Thread::State::at_block_barrier;
  current_->place = place;
  if (++block.arrived < block_threads_) return wait();
  block.arrived = 0;
  const std::uint32_t first = static_cast<std::uint32_t>(block.rank) * block_threads_;
  release_barrier(first, first + block_threads_, place);
  block.barrier_time = step();
  install(*current_);
}

void Scheduler::await_opening(Place place) {
  current_->state = Thread::State::at_gate;
  current_->place = place;
  wait();
}

/// All threads of the block that wait at gates look again.
void Scheduler::note_opening() {
  const std::uint32_t first = static_cast<std::uint32_t>(current_->block->rank) * block_threads_;
  for (std::uint32_t i = first; i < first + block_threads_; ++i) {
    if (threads_[i].state == Thread::State::at_gate) make_ready(threads_[i]);
  }
}

void Scheduler::cluster_barrier(Place place) {
  current_->state = Thread::State::at_cluster_barrier;
  current_->place = place;
  if (++at_cluster_barrier_ < threads_.size()) return wait();
  at_cluster_barrier_ = 0;
  release_barrier(0, static_cast<std::uint32_t>(threads_.size()), place);
  cluster_barrier_time_ = step();
  for (Block& block : blocks_) block.barrier_time = cluster_barrier_time_;
  install(*current_);
}

void Scheduler::release_barrier(std::uint32_t first, std::uint32_t last, Place place) {
  for (std::uint32_t i = first; i < last; ++i) {
    Thread& thread = threads_[i];
    if (thread.place.line != place.line || std::strcmp(thread.place.file, place.file) != 0) {
      fail("threads of a block meet at different barriers: " + describe(*current_) + " " +
           whereabouts(*current_) + "; " + describe(thread) + " " + whereabouts(thread));
    }
    make_ready(thread);
  }
}

/// Accesses by `thread` at `time` happen before what the current thread does now.
bool Scheduler::global_ordered(std::uint32_t thread, std::uint32_t time) const {
  if (thread == heddle_emulator::written_before_launch) return true;
  const std::uint64_t own = block_number(current_->block->index);
  const bool acquired = fences_[own].acquired;
  if (thread == heddle_emulator::atomic_writer || thread == heddle_emulator::many_blocks) {
    return acquired;
  }
  const bool several = (thread & heddle_emulator::several_readers) != 0;
  const std::uint64_t block =
      several ? thread & ~heddle_emulator::several_readers : (thread - 1) / block_threads_;
  if (block == own) {
    if (time < current_->block->barrier_time) return true;
    const std::uint32_t in_block = (thread - 1) % block_threads_;
    const std::uint32_t warp =
        static_cast<std::uint32_t>(current_->block->rank) * block_warps_ + in_block / warp_size;
    return !several && in_block / warp_size == current_->number % block_threads_ / warp_size &&
           time < warps_[warp].barrier_time;
  }
  if (block / shape_.cluster == own / shape_.cluster) return time < cluster_barrier_time_;
  return acquired && time < fences_[block].release;
}

std::uint32_t Scheduler::merge_readers(std::uint32_t reader) const {
  const std::uint64_t own = block_number(current_->block->index);
  const bool several = (reader & heddle_emulator::several_readers) != 0;
  const std::uint64_t block =
      several ? reader & ~heddle_emulator::several_readers : (reader - 1) / block_threads_;
  if (reader == heddle_emulator::many_blocks || block != own) return heddle_emulator::many_blocks;
  return heddle_emulator::several_readers | static_cast<std::uint32_t>(own);
}

bool Scheduler::shared_ordered(std::uint64_t stamp, bool own) const {
  const std::uint32_t time = static_cast<std::uint32_t>(stamp >> 16);
  const std::uint32_t other = stamp & 0xffff;
  if (time < cluster_barrier_time_) return true;
  if (!own) return false;
  // Blocks write to one another's memory as single threads, and none reads it.
  if (other == heddle_emulator::many_warps) return time < current_->block->barrier_time;
  const bool several = (other & heddle_emulator::several_lanes) != 0;
  // Blocks are numbered in threads here, so a warp that a partial block ends on is its own.
  const std::uint32_t thread =
      several ? (other & ~heddle_emulator::several_lanes) * warp_size : other - 1;
  if (thread / block_threads_ != static_cast<std::uint32_t>(current_->block->rank)) return false;
  if (time < current_->block->barrier_time) return true;
  const std::uint32_t warp = thread % block_threads_ / warp_size;
  return warp == current_->number % block_threads_ / warp_size &&
         time < warps_[static_cast<std::uint32_t>(current_->block->rank) * block_warps_ + warp]
                    .barrier_time;
}

SharedMemory Scheduler::shared_of_rank(int rank, Place place) {
  if (rank < 0 || static_cast<std::uint32_t>(rank) >= shape_.cluster) {
    Fault fault{};
    fault.kind = heddle_emulator::FaultKind::cluster_rank;
    fault.operation = "push_shared";
    fault.place = place;
    fault.address = rank;
    fail(describe(fault));
  }
  Block& block = blocks_[static_cast<std::uint32_t>(rank)];
  if (block.rank != current_->block->rank) block.remote_write = machine_.time;
  return block.shared;
}

void Scheduler::fail(std::string message) {
  error_ = std::move(message);
  current_->fiber->suspend(main_);
  std::terminate();
}

}  // namespace heddle::emulator

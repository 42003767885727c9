#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "ir/base/fork_gate.h"
#include "runtime/launch/program_graph.h"
#include "runtime/launch/schedule.h"

namespace heddle::runtime {

/// A launch cache entry: state that calls of a program with the same stream and extents reuse.
struct LaunchCacheEntry {
  explicit LaunchCacheEntry(std::shared_ptr<Schedule> made)
      : schedule(std::move(made)), arguments(schedule->list()) {}
  /// Whether nothing but this entry refers to the schedule.
  bool owns_schedule() const;

  std::shared_ptr<Schedule> schedule;  ///< of several entries: immutable
  ArgumentSlots arguments;
  int calls = 0;
  std::unique_ptr<ProgramGraph> graph;  ///< made when calls repeat
  BufferRef constants;                  ///< results of the schedule's constant actions, kept then
};

/// The launch cache of a program. It has a few entries; a new entry evicts the least recently used
/// one, or takes over its memory. A call uses an entry exclusively and never waits for another
/// thread: if the matching entry is in use, the call gets a second one.
class LaunchCache {
 public:
  /// Exclusive use of an entry by one call.
  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease(Lease&& other) noexcept
        : entry_(std::exchange(other.entry_, nullptr)),
          taken_(std::exchange(other.taken_, nullptr)),
          own_(std::move(other.own_)) {}
    ~Lease() {
      if (taken_ != nullptr) taken_->store(false, std::memory_order_release);
    }
    explicit operator bool() const { return entry_ != nullptr; }
    LaunchCacheEntry* operator->() const { return entry_; }
    LaunchCacheEntry& operator*() const { return *entry_; }
    /// False for an entry made while all slots were in use: no later call will find it.
    bool lasts() const { return own_ == nullptr; }

   private:
    friend class LaunchCache;
    Lease(LaunchCacheEntry* entry, std::atomic<bool>* taken) : entry_(entry), taken_(taken) {}
    explicit Lease(std::unique_ptr<LaunchCacheEntry> own)
        : entry_(own.get()), own_(std::move(own)) {}
    LaunchCacheEntry* entry_ = nullptr;
    std::atomic<bool>* taken_ = nullptr;
    std::unique_ptr<LaunchCacheEntry> own_;
  };

  /// The entry for such calls; empty if there is none or another thread uses it.
  Lease find(const StreamState* stream, std::span<const ArgumentView> arguments);
  /// Adds an entry for such calls.
  Lease add(const StreamState* stream, std::shared_ptr<Schedule> schedule);
  /// Takes out the least recently used entry, so that its memory serves calls with other extents;
  /// empty while there are slots without an entry, and if the entry has a graph or shares its
  /// schedule. It is found again after put_back().
  Lease take_oldest();
  void put_back(const Lease& taken, const StreamState* stream);
  /// Frees the memory that entries not in use hold: their graphs and constants.
  void release_memory();

 private:
  static constexpr std::size_t capacity = 16;
  struct alignas(64) Place {
    std::atomic<bool> taken{false};
    std::atomic<std::uint64_t> used{0};       ///< value of `added_` at the last use
    std::unique_ptr<LaunchCacheEntry> entry;  ///< only the thread that set `taken` may access it
  };

  /// The least recently used of the slots that no call uses, taken by the caller; null if there is
  /// none. A slot without an entry has `used` = 0. adding_ must be held.
  Place* take_oldest_place();
  std::atomic<const StreamState*>& stream_of(const Place& place) {
    return streams_[static_cast<std::size_t>(&place - places_.data())];
  }

  std::array<std::atomic<const StreamState*>, capacity> streams_{};  ///< of the slots' entries
  std::array<Place, capacity> places_;
  std::atomic<std::uint64_t> added_{0};
  ir::Mutex adding_;
};

}  // namespace heddle::runtime

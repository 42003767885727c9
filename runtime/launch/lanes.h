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

/// What the calls of a program on one stream with one set of extents keep for the next.
struct Lane {
  explicit Lane(std::shared_ptr<const Schedule> made)
      : schedule(std::move(made)), arguments(schedule->list()) {}

  std::shared_ptr<const Schedule> schedule;
  ArgumentSlots arguments;
  int calls = 0;
  std::unique_ptr<ProgramGraph> graph;  ///< made when calls repeat
};

/// A program's lanes, a few, the least recently used given up for new ones. A call has its lane for
/// itself without waiting for another thread: where one has the lane, it gets a second one.
class Lanes {
 public:
  /// A lane that is one call's.
  class Lease {
   public:
    Lease() = default;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Lease(Lease&& other) noexcept
        : lane_(std::exchange(other.lane_, nullptr)),
          taken_(std::exchange(other.taken_, nullptr)),
          own_(std::move(other.own_)) {}
    ~Lease() {
      if (taken_ != nullptr) taken_->store(false, std::memory_order_release);
    }
    explicit operator bool() const { return lane_ != nullptr; }
    Lane* operator->() const { return lane_; }
    Lane& operator*() const { return *lane_; }
    /// False where all places are taken: no later call will see this lane.
    bool lasts() const { return own_ == nullptr; }

   private:
    friend class Lanes;
    Lease(Lane* lane, std::atomic<bool>* taken) : lane_(lane), taken_(taken) {}
    explicit Lease(std::unique_ptr<Lane> own) : lane_(own.get()), own_(std::move(own)) {}
    Lane* lane_ = nullptr;
    std::atomic<bool>* taken_ = nullptr;
    std::unique_ptr<Lane> own_;
  };

  /// The lane of such calls; none where there is none, or another thread has it.
  Lease find(const StreamState* stream, std::span<const ArgumentView> arguments);
  /// A lane for such calls.
  Lease add(const StreamState* stream, std::shared_ptr<const Schedule> schedule);
  /// Gives up the graphs of all lanes that nobody has just now, and with them their memory.
  void give_up_graphs();

 private:
  static constexpr std::size_t capacity = 16;
  struct alignas(64) Place {
    std::atomic<bool> taken{false};
    std::atomic<std::uint64_t> used{0};  ///< when, in lanes added since
    std::unique_ptr<Lane> lane;          ///< who has taken the place may touch it
  };
  std::array<std::atomic<const StreamState*>, capacity> streams_{};  ///< of the places' lanes
  std::array<Place, capacity> places_;
  std::atomic<std::uint64_t> added_{0};
  ir::Mutex adding_;
};

}  // namespace heddle::runtime

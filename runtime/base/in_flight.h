#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <unordered_map>
#include <utility>

#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"

namespace heddle::runtime {

/// Lets threads that want the same thing at once make it once: the first to ask computes, the
/// others wait for its result. Nothing is kept afterwards, so `compute` first looks where results
/// are kept, for one that came between its caller's look and now. A failure reaches all who waited,
/// and the next to ask tries anew. Where the computing thread is interrupted, one that waits
/// computes instead. What a thread of the parent computed when this process was forked is computed
/// anew, and so is what the thread that asks computes itself, whose interrupt hook asks.
template <class Key, class Value, class Hash = std::hash<Key>>
class InFlight {
 public:
  /// `compute` runs with no lock held. Throws what it throws; Interrupted while it waits.
  template <class Compute>
  Value run(const Key& key, Compute&& compute) {
    for (;;) {
      std::unique_lock lock(mutex_);
      std::shared_ptr<Slot>& known = slots_[key];
      if (!known || known->generation != ir::fork_generation()) {
        const std::shared_ptr<Slot> own = known = std::make_shared<Slot>();
        lock.unlock();
        return compute_into(key, *own, std::forward<Compute>(compute));
      }
      const std::shared_ptr<Slot> slot = known;
      if (pthread_equal(slot->thread, pthread_self()) != 0) {
        lock.unlock();
        return std::forward<Compute>(compute)();
      }
      wait_or_interrupt(ended_, lock, [&] { return slot->ended; });
      if (slot->value) return *slot->value;
      if (slot->failure) std::rethrow_exception(slot->failure);
    }
  }

 private:
  /// With neither a value nor a failure when it has ended, it was interrupted.
  struct Slot {
    bool ended = false;
    std::optional<Value> value;
    std::exception_ptr failure;
    std::uint64_t generation = ir::fork_generation();
    pthread_t thread = pthread_self();  ///< that computes
  };

  template <class Compute>
  Value compute_into(const Key& key, Slot& slot, Compute&& compute) {
    try {
      Value value = std::forward<Compute>(compute)();
      end(key, slot, value, nullptr);
      return value;
    } catch (const Interrupted&) {
      end(key, slot, std::nullopt, nullptr);
      throw;
    } catch (...) {
      end(key, slot, std::nullopt, std::current_exception());
      throw;
    }
  }

  /// The slot goes before anyone learns of its end, so that whoever asks after that computes again.
  void end(const Key& key, Slot& slot, std::optional<Value> value, std::exception_ptr failure) {
    {
      const std::lock_guard lock(mutex_);
      slot.value = std::move(value);
      slot.failure = std::move(failure);
      slot.ended = true;
      const auto found = slots_.find(key);
      if (found != slots_.end() && found->second.get() == &slot) slots_.erase(found);
    }
    ended_.notify_all();
  }

  ir::Mutex mutex_;
  ir::Condition ended_;
  std::unordered_map<Key, std::shared_ptr<Slot>, Hash> slots_;
};

}  // namespace heddle::runtime

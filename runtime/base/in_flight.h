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

/// Deduplicates concurrent computations of the same key: the first thread computes, the others wait
/// for its result. Results are not kept afterwards. So `compute` must look in its cache first,
/// where the result may have arrived since the caller's own lookup. An exception reaches every
/// waiting thread; the next call tries again. If the computing thread is interrupted, a waiting
/// thread computes instead. After a fork, the child recomputes what a thread of the parent was
/// computing. A nested call of the computing thread for the same key, from its interrupt hook,
/// computes as well.
template <class Key, class Value, class Hash = std::hash<Key>>
class InFlight {
 public:
  /// `compute` runs with no lock held. Throws what `compute` throws, and Interrupted while waiting.
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
  /// A slot that ended with neither a value nor a failure was interrupted.
  struct Slot {
    bool ended = false;
    std::optional<Value> value;
    std::exception_ptr failure;
    std::uint64_t generation = ir::fork_generation();
    pthread_t thread = pthread_self();  ///< the computing thread
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

  /// Removes the slot before waking the waiting threads, so that a later call computes again.
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

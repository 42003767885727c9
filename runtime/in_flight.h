#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "ir/fork_gate.h"

namespace heddle::runtime {

/// Lets threads that want the same thing at once make it once: the first to ask computes, the
/// others wait for its result. Nothing is kept afterwards, so `compute` first looks where results
/// are kept, for one that came between its caller's look and now. A failure reaches all who waited,
/// and the next to ask tries anew. What a thread of the parent computed when this process was
/// forked is computed anew.
template <class Key, class Value, class Hash = std::hash<Key>>
class InFlight {
 public:
  /// `compute` runs with no lock held. Throws what it throws.
  template <class Compute>
  Value run(const Key& key, Compute&& compute) {
    std::shared_ptr<Slot> slot;
    {
      std::unique_lock lock(mutex_);
      std::shared_ptr<Slot>& known = slots_[key];
      if (known && known->generation == ir::fork_generation()) {
        slot = known;
        ended_.wait(lock, [&] { return slot->value || slot->failure; });
        if (slot->failure) std::rethrow_exception(slot->failure);
        return *slot->value;
      }
      slot = known = std::make_shared<Slot>();
    }
    try {
      Value value = std::forward<Compute>(compute)();
      end(key, *slot, [&] { slot->value = value; });
      return value;
    } catch (...) {
      end(key, *slot, [&] { slot->failure = std::current_exception(); });
      throw;
    }
  }

 private:
  struct Slot {
    std::optional<Value> value;
    std::exception_ptr failure;
    std::uint64_t generation = ir::fork_generation();
  };

  /// Whoever asks after anyone has learnt of it computes again.
  template <class Set>
  void end(const Key& key, const Slot& slot, const Set& set) {
    {
      const std::lock_guard lock(mutex_);
      set();
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

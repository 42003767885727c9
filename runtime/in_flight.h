#pragma once

#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace heddle::runtime {

/// Lets threads that want the same thing at once make it once: the first to ask computes, the
/// others wait for its result. Nothing is kept afterwards, so `compute` first looks where results
/// are kept, for one that came between its caller's look and now. A failure reaches all who waited,
/// and the next to ask tries anew.
template <class Key, class Value, class Hash = std::hash<Key>>
class InFlight {
 public:
  /// `compute` runs with no lock held. Throws what it throws.
  template <class Compute>
  Value run(const Key& key, Compute&& compute) {
    std::promise<Value> promise;
    {
      std::unique_lock lock(mutex_);
      if (const auto found = slots_.find(key); found != slots_.end()) {
        const std::shared_future<Value> other = found->second;
        lock.unlock();
        return other.get();
      }
      slots_.emplace(key, promise.get_future().share());
    }
    try {
      Value value = std::forward<Compute>(compute)();
      erase(key);
      promise.set_value(value);
      return value;
    } catch (...) {
      // Before anyone learns of it, so that whoever asks after that computes again.
      erase(key);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  void erase(const Key& key) {
    std::lock_guard lock(mutex_);
    slots_.erase(key);
  }

  std::mutex mutex_;
  std::unordered_map<Key, std::shared_future<Value>, Hash> slots_;
};

}  // namespace heddle::runtime

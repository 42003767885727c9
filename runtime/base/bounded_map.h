#pragma once

#include <cstddef>
#include <list>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace heddle::runtime {

/// A map that keeps its `capacity` most recently used entries. Every call takes constant time.
template <class Key, class Value, class Hash>
class BoundedMap {
 public:
  explicit BoundedMap(std::size_t capacity) : capacity_(capacity) {}

  /// Null when there is none. The entry becomes the most recently used.
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->second;
  }

  /// The entry of the key, inserted if there is none. Inserting into a full map evicts the least
  /// recently used entry.
  Value& operator[](const Key& key) {
    if (Value* const found = find(key)) return *found;
    order_.emplace_front(std::piecewise_construct, std::forward_as_tuple(key), std::tuple<>());
    places_.emplace(key, order_.begin());
    if (order_.size() > capacity_) {
      places_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }

  void erase(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    order_.erase(found->second);
    places_.erase(found);
  }

  std::size_t size() const { return order_.size(); }

 private:
  std::size_t capacity_;
  std::list<std::pair<Key, Value>> order_;
  std::unordered_map<Key, typename std::list<std::pair<Key, Value>>::iterator, Hash> places_;
};

}  // namespace heddle::runtime

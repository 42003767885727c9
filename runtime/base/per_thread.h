#pragma once

#include <utility>

namespace heddle::runtime {

/// The calling thread's T, created at first use. Destructors of statics and of other thread-local
/// objects may still call this after the thread's T was destroyed; they get a new T, which is
/// leaked.
template <class T>
T& per_thread() {
  thread_local T* object = nullptr;
  if (object != nullptr) [[likely]]
    return *object;
  struct Guard {
    ~Guard() { delete std::exchange(object, nullptr); }
  };
  thread_local Guard guard;
  object = new T;
  return *object;
}

}  // namespace heddle::runtime

#pragma once

#include <utility>

namespace heddle::runtime {

/// The calling thread's T, made at its first use. Destructors of statics and of other thread-local
/// objects may still ask after the thread's own was destroyed: they get a new one, which stays.
template <class T>
T& per_thread() {
  thread_local T* object = nullptr;
  struct Guard {
    ~Guard() { delete std::exchange(object, nullptr); }
  };
  thread_local Guard guard;
  if (object == nullptr) object = new T;
  return *object;
}

}  // namespace heddle::runtime

#include "frontend/python/dropped.h"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace heddle::python {

namespace {

/// Never destroyed: the driver's threads may outlive static objects.
struct Dropped {
  ir::Mutex mutex;
  std::vector<std::unique_ptr<const nb::object>> objects;
};

Dropped& dropped() {
  static auto* const instance = new Dropped;
  return *instance;
}

/// Called by the interpreter on the main thread.
int drop_on_main_thread(void*) {
  drop_references();
  return 0;
}

void drop_later(const nb::object* object) {
  bool first = false;
  {
    const std::lock_guard lock(dropped().mutex);
    first = dropped().objects.empty();
    dropped().objects.emplace_back(object);
  }
  // If the interpreter's queue is full, the next drop_references() drops it.
  if (first && Py_IsInitialized() != 0) Py_AddPendingCall(drop_on_main_thread, nullptr);
}

}  // namespace

Held hold_for_driver(nb::object object) { return {new nb::object(std::move(object)), drop_later}; }

void drop_references() {
  std::vector<std::unique_ptr<const nb::object>> objects;
  const std::lock_guard lock(dropped().mutex);
  objects.swap(dropped().objects);
}  // drops them without the lock

}  // namespace heddle::python

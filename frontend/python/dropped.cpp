#include "frontend/python/dropped.h"

#include <atomic>
#include <memory>
#include <utility>

namespace heddle::python {

namespace {

struct Dropped {
  const nb::object* object;
  Dropped* next;
};
/// A list without a lock: a thread may fork while one of the driver adds to it.
constinit std::atomic<Dropped*> dropped{nullptr};

/// Called by the interpreter on the main thread.
int drop_on_main_thread(void*) {
  drop_references();
  return 0;
}

void drop_later(const nb::object* object) {
  auto* const added = new Dropped{object, dropped.load()};
  while (!dropped.compare_exchange_weak(added->next, added)) {
  }
  // If the interpreter's queue is full, the next drop_references() drops it.
  if (added->next == nullptr && Py_IsInitialized() != 0)
    Py_AddPendingCall(drop_on_main_thread, nullptr);
}

}  // namespace

Held hold_for_driver(nb::object object) { return {new nb::object(std::move(object)), drop_later}; }

void drop_references() {
  std::unique_ptr<Dropped> first(dropped.exchange(nullptr));
  while (first) {
    delete first->object;
    first.reset(first->next);
  }
}

}  // namespace heddle::python

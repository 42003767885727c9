#include "frontend/python/python_memory.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "frontend/python/arguments.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/held.h"
#include "frontend/python/python_call_error.h"
#include "ir/base/fork_gate.h"
#include "runtime/base/interrupt.h"
#include "runtime/device/backend.h"

namespace heddle::python {

namespace {

/// The event of the hook that this thread is in.
constinit thread_local const runtime::MemoryEvent* hooked = nullptr;

/// The GIL, released while its holder waits for another thread, which may be in a function of the
/// user that needs it.
constexpr runtime::WaitHooks release_gil_in_waits{
    [] {
      const bool holds = Py_IsInitialized() != 0 && PyGILState_Check() != 0;
      return holds ? static_cast<void*>(PyEval_SaveThread()) : nullptr;
    },
    [](void* released) {
      block_on_unwind([&] { PyEval_RestoreThread(static_cast<PyThreadState*>(released)); });
    }};

/// Runs a user's function, whose exceptions become PythonCallError. Needs the GIL.
template <class Call>
auto call_of_user(const Call& call) {
  try {
    return call();
  } catch (nb::python_error& error) {
    throw PythonCallError(error.what(), std::current_exception());
  }
}

class PythonSource final : public runtime::MemorySource {
 public:
  explicit PythonSource(nb::object function) : function_(hold(std::move(function))) {}

  void* reserve(runtime::Device device, std::size_t bytes, const runtime::Stream& stream) override {
    if (Py_IsInitialized() == 0) return nullptr;
    const runtime::DeviceScope device_scope(device);
    const runtime::StreamScope stream_scope(stream);
    const AcquireGil acquire;
    const nb::error_scope outer;
    return call_of_user([&]() -> void* {
      nb::object given;
      try {
        given = (*function_)(bytes);
      } catch (nb::python_error& error) {
        if (!error.matches(PyExc_MemoryError)) throw;
        return nullptr;
      }
      if (!nb::hasattr(given, "ptr")) {
        raise(PyExc_TypeError,
              "an allocator must return a heddle.cuda.MemoryPointer or another object with ptr, "
              "not " +
                  describe_type(given));
      }
      auto* const pointer =
          reinterpret_cast<void*>(nb::cast<std::uintptr_t>(nb::object(given.attr("ptr"))));
      if (pointer == nullptr) return nullptr;
      const std::lock_guard lock(mutex_);
      given_[pointer] = hold(std::move(given));
      return pointer;
    });
  }

  void release(runtime::Device, void* pointer, std::size_t) noexcept override {
    Held released;  // without the lock
    const std::lock_guard lock(mutex_);
    const auto found = given_.find(pointer);
    if (found == given_.end()) return;
    released = std::move(found->second);
    given_.erase(found);
  }

 private:
  Held function_;
  ir::Mutex mutex_;
  std::map<void*, Held> given_;
};

class PythonHook final : public runtime::MemoryHook {
 public:
  explicit PythonHook(nb::object hook) : hook_(hold(std::move(hook))) {}

  void notify(runtime::MemoryStep step, const runtime::MemoryEvent& event) override {
    if (Py_IsInitialized() == 0) return;
    const AcquireGil acquire;
    const nb::error_scope outer;
    const auto* const before = std::exchange(hooked, &event);
    try {
      call_of_user([&] { call(step, event); });
    } catch (const PythonCallError& failure) {
      hooked = before;
      const bool freeing =
          step == runtime::MemoryStep::before_free || step == runtime::MemoryStep::after_free;
      if (!freeing) throw;
      report(failure);
      return;
    }
    hooked = before;
  }

 private:
  void call(runtime::MemoryStep step, const runtime::MemoryEvent& event) const {
    using Step = runtime::MemoryStep;
    nb::dict arguments;
    arguments["device_id"] = number_of(event.device);
    const bool allocates = step == Step::before_allocate || step == Step::after_allocate;
    const bool reserves = step == Step::before_reserve || step == Step::after_reserve;
    if (allocates) arguments["size"] = event.requested;
    arguments["mem_size"] = event.bytes;
    if (step != Step::before_allocate && step != Step::before_reserve)
      arguments["mem_ptr"] = reinterpret_cast<std::uintptr_t>(event.pointer);
    if (step != Step::before_allocate && !reserves) arguments["pmem_id"] = event.block;
    hook_->attr(name_of(step))(**nb::borrow<nb::kwargs>(arguments));
  }

  static const char* name_of(runtime::MemoryStep step) {
    switch (step) {
      case runtime::MemoryStep::before_allocate:
        return "malloc_preprocess";
      case runtime::MemoryStep::after_allocate:
        return "malloc_postprocess";
      case runtime::MemoryStep::before_reserve:
        return "alloc_preprocess";
      case runtime::MemoryStep::after_reserve:
        return "alloc_postprocess";
      case runtime::MemoryStep::before_free:
        return "free_preprocess";
      case runtime::MemoryStep::after_free:
        return "free_postprocess";
    }
    return "";
  }

  /// Nobody can catch what a hook raises at the freeing of a block: it goes to
  /// sys.unraisablehook.
  void report(const PythonCallError& failure) const {
    try {
      std::rethrow_exception(failure.cause);
    } catch (nb::python_error& error) {
      error.restore();
      PyErr_WriteUnraisable(hook_->ptr());
    }
  }

  Held hook_;
};

}  // namespace

int number_of(runtime::Device device) {
  return runtime::backend_of(device).is_numbered() ? device.ordinal : -1;
}

std::shared_ptr<runtime::MemorySource> python_source(nb::object function) {
  runtime::set_wait_hooks(&release_gil_in_waits);
  return std::make_shared<PythonSource>(std::move(function));
}

std::shared_ptr<runtime::MemoryHook> python_hook(nb::object hook) {
  runtime::set_wait_hooks(&release_gil_in_waits);
  return std::make_shared<PythonHook>(std::move(hook));
}

nb::object hooked_memory() {
  if (hooked == nullptr) return nb::none();
  const ir::Location& line = hooked->line;
  const std::string label = hooked->label ? *hooked->label : std::string();
  return nb::make_tuple(nb::str(label.c_str()), nb::str(line.file != nullptr ? line.file : ""),
                        line.line);
}

}  // namespace heddle::python

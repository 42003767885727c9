#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/python/arguments.h"
#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"
#include "frontend/python/python_memory.h"
#include "frontend/streams/access.h"
#include "frontend/streams/recorded.h"
#include "runtime/base/per_thread.h"
#include "runtime/device/backend.h"
#include "runtime/device/memory.h"

// What heddle/cuda/_memory.py is made of: allocators, hooks, blocks, and copies by address.

namespace heddle::python {

namespace {

/// A value that is destroyed without the GIL: that may wait for a device, and so for a Python
/// function that a stream calls.
template <class T>
struct Unlocked {
  explicit Unlocked(T held) : value(std::move(held)) {}
  Unlocked(Unlocked&& other) noexcept : value(std::move(other.value)) {}
  ~Unlocked() {
    if (Py_IsInitialized() == 0 || PyGILState_Check() == 0) return;
    const ReleaseGil release;
    const T dying = std::move(value);
  }
  T value;
};
using BoundAllocator = Unlocked<std::shared_ptr<runtime::Allocator>>;
using BoundBlock = Unlocked<runtime::BufferRef>;

runtime::Device device_named(const char* name) {
  const runtime::Device device = runtime::parse_device(name);
  runtime::require_device(device);
  return device;
}

/// 'device', 'managed', 'ordered', or a Python function.
std::shared_ptr<runtime::MemorySource> source_of(nb::handle source) {
  if (!nb::isinstance<nb::str>(source)) return python_source(nb::borrow(source));
  const std::string kind = nb::cast<nb::str>(source).c_str();
  return runtime::source_of(kind == "managed"   ? runtime::MemoryKind::managed
                            : kind == "ordered" ? runtime::MemoryKind::ordered
                                                : runtime::MemoryKind::device);
}

std::shared_ptr<runtime::Allocator> allocator_in(nb::handle value) {
  return value.is_none() ? nullptr : nb::cast<const BoundAllocator&>(value).value;
}

nb::dict statistics(const BoundAllocator& self, const char* of) {
  const runtime::Device device = device_named(of);
  const runtime::MemoryStatistics numbers = self.value->statistics(device);
  const runtime::MemoryPool* const pool = self.value->pool(device);
  nb::dict result;
  result["in_use"] = numbers.in_use;
  result["reserved"] = numbers.reserved;
  result["free_blocks"] = pool != nullptr ? pool->free_blocks() : 0;
  result["limit"] = pool != nullptr ? pool->limit() : 0;
  return result;
}

/// The scopes of allocators that this thread is in, the innermost last.
std::vector<std::unique_ptr<runtime::AllocatorScope>>& scopes() {
  return runtime::per_thread<std::vector<std::unique_ptr<runtime::AllocatorScope>>>();
}

/// Leaves a scope, also if what was recorded in it fails.
void leave_allocator() {
  const ReleaseGil release;
  std::unique_ptr<runtime::AllocatorScope> left = std::move(scopes().back());
  scopes().pop_back();
  frontend::evaluate_recorded("the end of a with statement of an allocator");
}

/// The same for a hook.
void remove_hook(int number) {
  const ReleaseGil release;
  struct Removal {
    int number;
    ~Removal() { runtime::remove_memory_hook(number); }
  } const removal{number};
  frontend::evaluate_recorded("the end of a with statement of a memory hook");
}

void bind_allocator(nb::module_& module) {
  nb::class_<BoundAllocator>(module, "Allocator")
      .def_static("pooled",
                  [](nb::handle source) {
                    return BoundAllocator(runtime::Allocator::pooled(source_of(source)));
                  })
      .def_static("direct",
                  [](nb::handle source) {
                    return BoundAllocator(runtime::Allocator::direct(source_of(source)));
                  })
      .def("statistics", statistics)
      .def("set_limit",
           [](const BoundAllocator& self, std::size_t bytes, const char* of) {
             self.value->pool(device_named(of))->set_limit(bytes);
           })
      .def("trim", [](const BoundAllocator& self, const char* of) {
        const ReleaseGil release;
        return self.value->trim(device_named(of), true);
      });
  module.def(
      "set_allocator",
      [](nb::handle allocator) {
        std::shared_ptr<runtime::Allocator> chosen = allocator_in(allocator);
        const ReleaseGil release;
        frontend::evaluate_recorded("set_allocator");
        runtime::set_allocator(std::move(chosen));
      },
      nb::arg().none());
  module.def(
      "enter_allocator",
      [](nb::handle allocator) {
        std::shared_ptr<runtime::Allocator> chosen = allocator_in(allocator);
        const ReleaseGil release;
        frontend::evaluate_recorded("a with statement of an allocator");
        scopes().push_back(std::make_unique<runtime::AllocatorScope>(std::move(chosen)));
      },
      nb::arg().none());
  module.def("leave_allocator", leave_allocator);
}

void bind_blocks(nb::module_& module) {
  nb::class_<BoundBlock>(module, "Block")
      .def_prop_ro("ptr",
                   [](const BoundBlock& self) {
                     return reinterpret_cast<std::uintptr_t>(self.value->pointer());
                   })
      .def_prop_ro("device", [](const BoundBlock& self) {
        return nb::str(runtime::to_string(self.value->device()).c_str());
      });
  // A block of an allocator, of the default pools (None), or of this thread's allocator (a text),
  // for work on a stream.
  module.def(
      "allocate",
      [](nb::handle allocator, std::int64_t bytes, const Stream& stream) {
        if (bytes < 0) raise(PyExc_ValueError, "the size must not be negative");
        std::shared_ptr<runtime::Allocator> chosen = nb::isinstance<nb::str>(allocator)
                                                         ? runtime::current_allocator()
                                                         : allocator_in(allocator);
        const ReleaseGil release;
        const runtime::AllocatorScope scope(std::move(chosen));
        static const runtime::Label label =
            std::make_shared<const std::string>("memory without a type");
        return BoundBlock(runtime::allocate(static_cast<std::size_t>(bytes),
                                            frontend::StreamAccess::of(stream), label));
      },
      nb::arg().none(), nb::arg(), nb::arg());
}

void* address(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

void copy_bytes(std::uintptr_t to, const char* to_name, std::uintptr_t from, const char* from_name,
                std::size_t bytes, const Stream& stream) {
  const runtime::Device to_device = device_named(to_name), from_device = device_named(from_name);
  const ReleaseGil release;
  frontend::evaluate_recorded("a copy of memory");
  if (bytes == 0) return;
  if (runtime::capabilities_of(to_device).host_memory &&
      runtime::capabilities_of(from_device).host_memory) {
    std::memmove(address(to), address(from), bytes);
    return;
  }
  runtime::copy(address(to), to_device, address(from), from_device, bytes,
                frontend::StreamAccess::of(stream));
}

void bind_memory_kinds(nb::module_& module) {
  module.def("copy_bytes", copy_bytes);
  module.def("device_of_pointer", [](std::uintptr_t pointer) -> nb::object {
    const auto device = runtime::device_of_pointer(address(pointer));
    if (!device) return nb::none();
    return nb::str(runtime::to_string(*device).c_str());
  });
  module.def("fill_bytes",
             [](std::uintptr_t to, int value, std::size_t bytes, const Stream& stream) {
               const ReleaseGil release;
               frontend::evaluate_recorded("the filling of memory");
               if (bytes == 0) return;
               runtime::fill(address(to), static_cast<unsigned char>(value), bytes,
                             frontend::StreamAccess::of(stream));
             });
  module.def("prefetch",
             [](std::uintptr_t pointer, std::size_t bytes, const char* to, const Stream& stream) {
               const runtime::Device device = device_named(to);
               const runtime::Stream& queue = frontend::StreamAccess::of(stream);
               const ReleaseGil release;
               runtime::backend_of(queue.device()).prefetch(address(pointer), bytes, device, queue);
             });
  module.def("advise", [](const char* of, std::uintptr_t pointer, std::size_t bytes, int advice,
                          const char* on) {
    const runtime::Device own = device_named(of), device = device_named(on);
    runtime::backend_of(own).advise(own.ordinal, address(pointer), bytes, advice, device);
  });
  module.def("ordered_pool", [](const char* of) {
    const runtime::Device device = device_named(of);
    const runtime::OrderedPool pool = runtime::backend_of(device).ordered_pool(device.ordinal);
    return nb::make_tuple(pool.used, pool.reserved);
  });
  module.def("trim_ordered", [](const char* of, std::size_t keep) {
    const runtime::Device device = device_named(of);
    const ReleaseGil release;
    runtime::backend_of(device).trim_ordered(device.ordinal, keep);
  });
}

}  // namespace

void bind_allocators(nb::module_& module) {
  bind_allocator(module);
  bind_blocks(module);
  bind_memory_kinds(module);
  module.def("add_memory_hook", [](nb::handle hook) {
    std::shared_ptr<runtime::MemoryHook> added = python_hook(nb::borrow(hook));
    const ReleaseGil release;
    frontend::evaluate_recorded("a with statement of a memory hook");
    return runtime::add_memory_hook(std::move(added));
  });
  module.def("remove_memory_hook", remove_hook);
  module.def("hooked_memory", hooked_memory);
  module.def(
      "array_over",
      [](std::uintptr_t pointer, const char* device, nb::handle shape, nb::handle dtype,
         nb::handle strides, nb::handle owner) {
        return memory_array(pointer, device_named(device), shape, dtype, strides,
                            nb::borrow(owner));
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
}

}  // namespace heddle::python

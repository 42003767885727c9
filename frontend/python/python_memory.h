#pragma once

#include <cstdint>
#include <memory>

#include <nanobind/nanobind.h>

#include "runtime/device/allocator.h"
#include "runtime/device/memory_hooks.h"

namespace heddle::python {

namespace nb = nanobind;

/// A Python function as the source of memory: it takes a number of bytes, and returns an object
/// with `ptr` that keeps the memory until it is released. It is called with the GIL, with the
/// device and the stream of the memory as the thread's current ones. MemoryError means that there
/// is not enough; other exceptions are raised by the call that allocates.
std::shared_ptr<runtime::MemorySource> python_source(nb::object function);

/// A Python object with the methods of cupy.cuda.MemoryHook as a hook.
std::shared_ptr<runtime::MemoryHook> python_hook(nb::object hook);

/// The label, file and line of the memory of which this thread's hook is told now: a tuple, or None
/// outside of hooks.
nb::object hooked_memory();

/// An Array over memory at an address, which `owner` keeps. `strides` are in bytes, or None for C
/// order. Raises ValueError if it would need a copy, because elements share memory or the address
/// is not aligned.
nb::object memory_array(std::uintptr_t pointer, runtime::Device device, nb::handle shape,
                        nb::handle dtype, nb::handle strides, nb::object owner);

/// Allocators and memory hooks, in the private submodule _cuda.
void bind_allocators(nb::module_& module);

/// The number of a device in Python: -1 for the CPU.
int number_of(runtime::Device device);

}  // namespace heddle::python

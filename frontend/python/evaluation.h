#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/python/array_object.h"
#include "runtime/device/device.h"

namespace heddle::python {

namespace nb = nanobind;

/// Where the Python code stands that called: file and line of the innermost frame outside of the
/// package's own folder, and the instruction as its column, so that two ops of a line differ.
SourceLocation python_location();
void set_package_folder(std::string folder);

/// To be called before an op is recorded. In Python a value is bound to a name without the library
/// being told, so the assignment points of lazy evaluation are where a new statement begins: on
/// another line, or earlier in the code than the op before. Releases the GIL while it evaluates.
void statement_point();

/// Computes the array with the GIL released; raises KeyboardInterrupt if it was asked for
/// meanwhile.
void compute(const Array& array);

/// Puts this thread's work within the scope behind what the GPU's default stream holds, and the
/// default stream's later work behind it: others use shared memory there, unless they ask for
/// another stream. Nothing on the CPU.
class SharedOrder {
 public:
  explicit SharedOrder(const runtime::Device& device);
  ~SharedOrder();
  SharedOrder(const SharedOrder&) = delete;
  SharedOrder& operator=(const SharedOrder&) = delete;

 private:
  runtime::Device device_;
};

/// Copies a value into memory that others see, in stream order.
void copy_into(frontend::NodeRef pinned, frontend::NodeRef value);
/// Pinned memory is known by its buffer, so that no other array ever shares it.
void register_pinned(const frontend::NodeRef& node);
void unregister_pinned(const frontend::NodeRef& node);
/// A copy of an evaluated value in memory of its own.
frontend::NodeRef copied(const frontend::NodeRef& node);
/// Makes the memory of an array's base one that others may see, for as long as the base lives.
void pin(ArrayObject& array);
/// A read of memory that others may write: what is recorded from it has to be computed at once.
void note_pinned_read();
/// Whether there was one on this thread since the last call.
bool take_pinned_read();

/// An array whose elements never change: a copy where they lie in pinned memory, else the array.
Array own_value(Array array);

/// The array as Python gets it. Computed already if it was recorded from pinned memory.
nb::object wrap(Array array);

}  // namespace heddle::python

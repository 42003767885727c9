#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "heddle/array.h"

#include "frontend/graph/node.h"
#include "frontend/python/array_object.h"
#include "runtime/device/device.h"

namespace heddle::python {

namespace nb = nanobind;

/// Source location of the calling Python code: file and line of the innermost frame outside the
/// package's folder. The column is the bytecode instruction, which distinguishes two ops on one
/// line.
SourceLocation python_location();
void set_package_folder(std::string folder);

/// Call before recording an op. Python does not report assignments, so lazy evaluation uses the
/// start of a new statement as its assignment point: the op is on another line, or earlier in the
/// code, than the previous op. Releases the GIL while it evaluates.
void statement_point();

/// Computes the array with the GIL released. Raises KeyboardInterrupt if one was requested
/// meanwhile.
void compute(const Array& array);

/// Orders this thread's work in the scope after work on the GPU's default stream, and later work on
/// the default stream after it. Other libraries use shared memory on the default stream unless they
/// request another one. No effect on the CPU.
class SharedOrder {
 public:
  explicit SharedOrder(const runtime::Device& device);
  ~SharedOrder();
  SharedOrder(const SharedOrder&) = delete;
  SharedOrder& operator=(const SharedOrder&) = delete;

 private:
  runtime::Device device_;
};

/// Computes a value that is to be written to pinned memory, on the memory's device if any device
/// can compute it, and what this thread has recorded before, which may read the memory.
void evaluate_for(const frontend::NodeRef& pinned, const frontend::NodeRef& value);

/// Computes everything that this thread has recorded, views included, so that recorded reads see
/// shared memory as it is before a write.
void evaluate_recorded();
/// Copies a value into shared memory, in stream order.
void copy_into(frontend::NodeRef pinned, frontend::NodeRef value);
/// Registers pinned memory by its buffer, so that no other array shares the buffer.
void register_pinned(const frontend::NodeRef& node);
void unregister_pinned(const frontend::NodeRef& node);
/// A copy of an evaluated value in memory of its own.
frontend::NodeRef copied(const frontend::NodeRef& node);
/// Makes the memory of an array's base shareable, for the lifetime of the base.
void pin(ArrayObject& array);
/// Notes a read of memory that others may write: an op recorded from it must be computed
/// immediately.
void note_pinned_read();
/// Returns whether this thread had such a read since the last call.
bool take_pinned_read();

/// An array whose elements cannot change: a copy if they are in pinned memory, else the array.
Array own_value(Array array);

/// The array as a Python object. If it was recorded from pinned memory, it is computed here.
nb::object wrap(Array array);
/// The Python object of an array.
nb::object to_object(ArrayObject array);

}  // namespace heddle::python

#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

// Python's buffer protocol, for Arrays of the CPU: memoryview(x), numpy.asarray(x). A buffer is
// read-only and holds the elements as they are when it is made: writing to x later gives x another
// value. BufferError for Arrays of a GPU, for bfloat16 and for who wants to write, TraceError in a
// traced function.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace heddle::python

#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

// Python's buffer protocol, for Arrays of the CPU: memoryview(x), numpy.asarray(x). As with DLPack,
// writes are seen on both sides, here until the buffer is released. BufferError for Arrays of a
// GPU and for bfloat16, TraceError in a traced function.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace heddle::python

#pragma once

#include <nanobind/nanobind.h>

namespace heddle::python {

// Python's buffer protocol for CPU Arrays: memoryview(x), numpy.asarray(x). A buffer is read-only
// and keeps the elements at the time when it is made; later writes give x a new value. BufferError
// for Arrays on a GPU, for bfloat16 and for requests to write; TraceError in a traced function.
int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

}  // namespace heddle::python

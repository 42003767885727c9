#include <cstddef>
#include <cstdint>
#include <string>

#include "heddle/memory.h"

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"

namespace heddle::python {

namespace {

int get_memory(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const auto& memory = nb::cast<const PinnedMemory&>(nb::handle(self));
    return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.bytes()), 0,
                             flags);
  });
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_memory)}, {0, nullptr}};

}  // namespace

void bind_pinned_memory(nb::module_& module) {
  nb::class_<PinnedMemory>(module, "PinnedMemory", nb::type_slots(slots))
      .def("__init__",
           [](PinnedMemory* self, std::int64_t bytes) {
             if (bytes < 0) raise(PyExc_ValueError, "the size must not be negative");
             const ReleaseGil release;
             new (self) PinnedMemory(static_cast<std::size_t>(bytes));
           })
      .def("size", [](const PinnedMemory& self) { return self.bytes(); })
      .def_prop_ro("ptr", [](const PinnedMemory& self) {
        return reinterpret_cast<std::uintptr_t>(self.data());
      });
  module.def("free_pinned_blocks", [](const char* of) { return free_pinned_blocks(of); });
  module.def("trim_pinned_memory", [](const char* of) {
    const ReleaseGil release;
    trim_pinned_memory(of);
  });
}

}  // namespace heddle::python

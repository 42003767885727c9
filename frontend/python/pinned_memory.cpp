#include "frontend/python/pinned_memory.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "frontend/python/bindings.h"
#include "frontend/python/errors.h"
#include "frontend/python/gil.h"

namespace heddle::python {

namespace {

/// An address in a block of pinned memory, which it keeps.
struct PinnedPointer {
  PinnedMemory block;
  std::int64_t offset = 0;

  std::byte* data() const { return static_cast<std::byte*>(block.data()) + offset; }
  std::int64_t size() const { return static_cast<std::int64_t>(block.bytes()) - offset; }
};

PinnedPointer moved(const PinnedPointer& pointer, std::int64_t bytes) {
  const PinnedPointer result{pointer.block, pointer.offset + bytes};
  if (result.offset < 0 || result.size() < 0)
    raise(PyExc_ValueError, "the pointer is outside of its block of pinned memory");
  return result;
}

std::uintptr_t address_of(const PinnedPointer& pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer.data());
}

int get_memory(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const auto& memory = nb::cast<const PinnedPointer&>(nb::handle(self));
    return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.size()), 0,
                             flags);
  });
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_memory)}, {0, nullptr}};

}  // namespace

nb::object pinned_object(PinnedMemory memory) { return nb::cast(PinnedPointer{std::move(memory)}); }

void bind_pinned_memory(nb::module_& module) {
  nb::class_<PinnedPointer>(module, "PinnedMemory", nb::type_slots(slots))
      .def("__init__",
           [](PinnedPointer* self, std::int64_t bytes) {
             if (bytes < 0) raise(PyExc_ValueError, "the size must not be negative");
             const ReleaseGil release;
             new (self) PinnedPointer{PinnedMemory(static_cast<std::size_t>(bytes))};
           })
      .def("size", &PinnedPointer::size)
      .def("__add__", moved)
      .def("__radd__", moved)
      .def("__sub__",
           [](const PinnedPointer& self, std::int64_t bytes) { return moved(self, -bytes); })
      .def("__int__", address_of)
      .def_prop_ro("ptr", address_of);
  module.def("free_pinned_blocks", [](const char* of) { return free_pinned_blocks(of); });
  module.def("trim_pinned_memory", [](const char* of) {
    const ReleaseGil release;
    trim_pinned_memory(of);
  });
}

}  // namespace heddle::python

#include <fmt/format.h>

#include "heddle/array.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/manipulation.h"

#include "frontend/array/access.h"
#include "frontend/evaluate/evaluate.h"
#include "frontend/graph/trace.h"
#include "frontend/python/bindings.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/orders.h"

// Attributes of numpy.ndarray, except flags and flat, which are in heddle/_array.py.

namespace heddle::python {
namespace {

nb::object tuple_of(const std::vector<std::int64_t>& values) {
  nb::list list;
  for (std::int64_t value : values) list.append(value);
  return nb::tuple(list);
}

ArrayObject transposed(ArrayObject& x, bool matrix) {
  const SourceLocation where = python_location();
  const Operand operand(x.read(where), where);
  return x.view_of(matrix ? swapaxes(operand, -2, -1) : transpose(operand), where);
}

/// x.real = value, x.imag = value.
void set_part(const ArrayObject& x, bool imaginary, nb::handle value) {
  const SourceLocation where = python_location();
  statement_point();
  ArrayObject part = x.part(imaginary, where);
  set_item(part, nb::ellipsis(), value, where);
}

nb::object strides(const ArrayObject& x) {
  std::vector<std::int64_t> bytes = x.layout().strides;
  for (std::int64_t& stride : bytes) stride *= static_cast<std::int64_t>(size_of(x.read().dtype()));
  return tuple_of(bytes);
}

/// x.shape = value: changes the array to a view of its elements in another shape.
void set_shape(ArrayObject& x, nb::handle value) {
  const SourceLocation where = python_location();
  check_extents(value);
  Shape shape;
  if (PyIndex_Check(value.ptr()) != 0) {
    shape.push_back(to_integer(value));
  } else {
    for (nb::handle extent : nb::borrow(value)) shape.push_back(to_integer(extent));
  }
  if (x.look_through(reshape({x.read(where), where}, shape), where)) return;
  raise(PyExc_AttributeError, "the array cannot have that shape without a copy; use reshape()");
}

/// Where the elements are: (memory, offset in bytes, strides in bytes). The memory is a number of
/// the variable; 0 for memory that others see too, where the offset is an address.
nb::object placement(const ArrayObject& x) {
  if (frontend::tracing()) frontend::value_in_trace("shares_memory", python_location());
  const Base& base = x.base();
  const auto item = static_cast<std::int64_t>(size_of(x.read().dtype()));
  const Layout layout = x.layout();
  nb::list steps;
  for (const std::int64_t stride : layout.strides) steps.append(stride * item);
  auto memory = reinterpret_cast<std::uintptr_t>(&base);
  std::int64_t offset = layout.offset * item;
  if (base.pinned) {
    const runtime::DeviceArray& array = base.pinned->value;
    memory = 0;
    offset += static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(array.buffer->pointer())) +
              static_cast<std::int64_t>(array.offset);
  }
  return nb::make_tuple(memory, offset, nb::tuple(steps));
}

/// The array whose elements are viewed; the same Python object as long as it is alive.
nb::object base_of(const ArrayObject& x) {
  if (x.owns()) return nb::none();
  if (x.base().owner != nullptr) {
    const nb::object owner = nb::find(*x.base().owner);
    if (owner.is_valid()) return owner;
  }
  if (x.base().has_gaps) return nb::none();
  return nb::cast(ArrayObject(x.shared_base()));
}

nb::object memory_of(nb::handle x) {
  if (nb::hasattr(x, "__cuda_array_interface__"))
    return nb::module_::import_("heddle.cuda._memory").attr("pointer_of")(x);
  const nb::object memory = nb::steal(PyMemoryView_FromObject(x.ptr()));
  if (!memory.is_valid()) throw nb::python_error();
  return memory;
}

}  // namespace

void bind_array_properties(nb::class_<ArrayObject>& type) {
  type.def_prop_ro(
          "dtype", [](const ArrayObject& x) { return to_python(x.read().dtype()); },
          "The element type.")
      .def_prop_rw(
          "shape", [](const ArrayObject& x) { return tuple_of(x.read().shape()); }, set_shape,
          "The extents, outermost first: numpy.ndarray.shape. Raises TraceError if an extent is "
          "symbolic inside a trace. Assignment reshapes in place; it raises AttributeError if that "
          "needs a copy.")
      .def_prop_ro(
          "ndim", [](const ArrayObject& x) { return x.read().ndim(); }, "Number of axes.")
      .def_prop_ro(
          "size", [](const ArrayObject& x) { return x.read().size(); }, "Number of elements.")
      .def_prop_ro(
          "itemsize", [](const ArrayObject& x) { return size_of(x.read().dtype()); },
          "Size of an element in bytes.")
      .def_prop_ro(
          "nbytes", [](const ArrayObject& x) { return x.read().nbytes(); },
          "Size of all elements in bytes.")
      .def_prop_ro("strides", strides,
                   "Distance in bytes between neighbours along each axis, equal to that of a NumPy "
                   "array produced by the same operations: numpy.ndarray.strides.")
      .def_prop_ro("base", base_of,
                   "The array that owns the elements: numpy.ndarray.base. None if this array owns "
                   "them, or if "
                   "another library does, with gaps between them.")
      .def_prop_ro(
          "data", memory_of,
          "A memoryview of the elements: numpy.ndarray.data. On a GPU, a heddle.cuda.MemoryPointer "
          "to them, as in CuPy.")
      .def_prop_ro(
          "T", [](ArrayObject& x) { return transposed(x, false); },
          "A view with the axes reversed.")
      .def_prop_ro(
          "mT", [](ArrayObject& x) { return transposed(x, true); },
          "A view with the last two axes exchanged.")
      .def_prop_rw(
          "real", [](const ArrayObject& x) { return x.part(false, python_location()); },
          [](const ArrayObject& x, nb::handle value) { set_part(x, false, value); },
          "The real parts: numpy.ndarray.real. A view that writes through; for a real dtype, the "
          "elements themselves.")
      .def_prop_rw(
          "imag", [](const ArrayObject& x) { return x.part(true, python_location()); },
          [](const ArrayObject& x, nb::handle value) { set_part(x, true, value); },
          "The imaginary parts: numpy.ndarray.imag. A view that writes through; for a real dtype, "
          "read-only zeros.")
      .def_prop_ro(
          "device",
          [](const ArrayObject& x) { return nb::str(to_string(device_of(x.read())).c_str()); },
          "The device of the elements, also before they are computed: 'cpu' or 'cuda:0'.")
      .def_prop_ro("_owns", &ArrayObject::owns)
      .def_prop_ro("_placement", placement)
      .def_prop_ro("_writable", [](const ArrayObject& x) { return !x.read_only(); })
      .def_prop_ro("_c_ordered", is_c_ordered)
      .def_prop_ro("_fortran_ordered", is_fortran_ordered);
}

}  // namespace heddle::python

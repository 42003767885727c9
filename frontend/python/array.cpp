#include "heddle/array.h"

#include <utility>

#include "heddle/creation.h"
#include "heddle/elementwise.h"
#include "heddle/io.h"
#include "heddle/jit.h"
#include "heddle/linear_algebra.h"
#include "heddle/manipulation.h"
#include "heddle/reductions.h"

#include "frontend/python/bindings.h"
#include "frontend/python/buffer.h"
#include "frontend/python/device.h"
#include "frontend/python/dtypes.h"
#include "frontend/python/errors.h"
#include "frontend/python/foreign.h"
#include "frontend/python/printing.h"

namespace heddle::python {
namespace {

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

/// The operand of an operator; nullopt if Python should try the other operand. Mixing an array of a
/// library other than NumPy with an Array raises TypeError. `converted` holds a converted value.
std::optional<Operand> operand_of(PyObject* value, const SourceLocation& where,
                                  std::optional<Array>& converted) {
  if (const ArrayObject* array = as_array(value)) return Operand(array->read(where), where);
  const bool refused = defines_operators(value);
  if (!refused) converted = foreign_operand(value, where);
  if (converted) return Operand(*converted, where);
  if (const auto scalar = as_scalar(value)) return Operand(*scalar, where);
  if (refused || nb::hasattr(value, "__array__") || nb::hasattr(value, "__dlpack__")) {
    raise(PyExc_TypeError, "an Array is combined with a " + describe_foreign(value));
  }
  return std::nullopt;
}

using Unary = Array (*)(const Operand&);
using Binary = Array (*)(const Operand&, const Operand&);

template <Unary function>
PyObject* unary(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    return wrap(function({as_array(self)->read(where), where})).release().ptr();
  });
}

template <Binary function>
PyObject* binary(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    if (defines_operators(a) || defines_operators(b)) return not_implemented();
    const SourceLocation where = python_location();
    statement_point();
    std::optional<Array> left, right;
    const auto x = operand_of(a, where, left), y = operand_of(b, where, right);
    if (!x || !y) return not_implemented();
    return wrap(function(*x, *y)).release().ptr();
  });
}

template <Binary function>
PyObject* in_place(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    ArrayObject& target = *as_array(a);
    std::optional<Array> converted;
    const auto y = operand_of(b, where, converted);
    if (!y) return not_implemented();
    if (target.is_scalar()) return wrap(function({target.read(where), where}, *y)).release().ptr();
    store(target, function({target.read(where), where}, *y), "in-place operator", where);
    return Py_NewRef(a);
  });
}

/// True if NumPy would have a scalar here; if it is an integer, it repeats Python sequences.
bool repeats(PyObject* value, PyObject* sequence) {
  const ArrayObject* const array = as_array(value);
  const bool is_sequence = PyList_Check(sequence) || PyTuple_Check(sequence) ||
                           PyUnicode_Check(sequence) || PyBytes_Check(sequence);
  return is_sequence && array != nullptr && array->is_scalar();
}

PyObject* multiplied(PyObject* a, PyObject* b) {
  if (repeats(a, b) || repeats(b, a)) return not_implemented();
  return binary<multiply>(a, b);
}

PyObject* powered(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary<power>(a, b);
}
PyObject* powered_in_place(PyObject* a, PyObject* b, PyObject*) { return in_place<power>(a, b); }

PyObject* divided(PyObject* a, PyObject* b) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    if (defines_operators(a) || defines_operators(b)) return not_implemented();
    const SourceLocation where = python_location();
    statement_point();
    std::optional<Array> left, right;
    const auto x = operand_of(a, where, left), y = operand_of(b, where, right);
    if (!x || !y) return not_implemented();
    return to_result(heddle::divmod(*x, *y)).release().ptr();
  });
}

/// Compares with a value that equals no number: every element differs from it, as in NumPy.
PyObject* compare_unequal(PyObject* a, bool differs) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    const Array& x = as_array(a)->read(where);
    return wrap(full_like({x, where}, {differs, where}, DType::boolean)).release().ptr();
  });
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  if (op == Py_EQ || op == Py_NE) {
    const bool is_other = b == Py_None || PyUnicode_Check(b) || PyBytes_Check(b);
    if (is_other) return compare_unequal(a, op == Py_NE);
  }
  switch (op) {
    case Py_LT:
      return binary<less>(a, b);
    case Py_LE:
      return binary<less_equal>(a, b);
    case Py_EQ:
      return binary<equal>(a, b);
    case Py_NE:
      return binary<not_equal>(a, b);
    case Py_GT:
      return binary<greater>(a, b);
    default:
      return binary<greater_equal>(a, b);
  }
}

int is_true(PyObject* self) {
  return guarded(-1, [&] {
    const SourceLocation where = python_location();
    return truth(as_array(self)->read(where), where) ? 1 : 0;
  });
}

/// The only element, for int(), float() and complex(), as NumPy converts one-element arrays.
nb::object element(PyObject* self) {
  const SourceLocation where = python_location();
  return item(as_array(self)->read(where), where);
}

PyObject* to_int(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return PyNumber_Long(element(self).ptr()); });
}
PyObject* to_float(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr),
                 [&] { return PyNumber_Float(element(self).ptr()); });
}
PyObject* to_index(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&]() -> PyObject* {
    const Array& array = as_array(self)->read(python_location());
    if (!is_integer(array.dtype()) || array.ndim() != 0) {
      raise(PyExc_TypeError, "only 0-d arrays of integers can be used as an index");
    }
    return element(self).release().ptr();
  });
}

/// Hash of the only element of a 0-d Array, as of NumPy's scalars.
Py_hash_t hashed(PyObject* self) {
  return guarded(Py_hash_t{-1}, [&] {
    const SourceLocation where = python_location();
    const Array& array = as_array(self)->read(where);
    if (array.ndim() != 0) raise(PyExc_TypeError, "unhashable: only 0-d Arrays have a hash");
    const Py_hash_t result = PyObject_Hash(item(array, where).ptr());
    if (result == -1) throw nb::python_error();
    return result;
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded(Py_ssize_t{-1}, [&] {
    const Array& array = as_array(self)->read(python_location());
    if (array.ndim() == 0) raise(PyExc_TypeError, "len() of a 0-d array");
    return static_cast<Py_ssize_t>(array.shape(0, python_location()));
  });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    statement_point();
    return get_item(*as_array(self), key, where).release().ptr();
  });
}

/// Called by sequence iteration, such as iter().
PyObject* sequence_item(PyObject* self, Py_ssize_t place) {
  const nb::object key = nb::steal(PyLong_FromSsize_t(place));
  return key.is_valid() ? subscript(self, key.ptr()) : nullptr;
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(-1, [&] {
    if (value == nullptr) raise(PyExc_TypeError, "elements of an Array cannot be deleted");
    const SourceLocation where = python_location();
    statement_point();
    set_item(*as_array(self), key, value, where);
    return 0;
  });
}

PyObject* iterate(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    if (length(self) < 0) throw nb::python_error();
    return PySeqIter_New(self);
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded(-1, [&] {
    const SourceLocation where = python_location();
    std::optional<Array> converted;
    const auto y = operand_of(value, where, converted);
    if (!y) return 0;
    const Array same = equal({as_array(self)->read(where), where}, *y);
    return truth(any({same, where}), where) ? 1 : 0;
  });
}

/// The result of str(x) or repr(x).
template <std::string (*text)(const Array&, SourceLocation)>
PyObject* printed(PyObject* self) {
  return guarded(static_cast<PyObject*>(nullptr), [&] {
    const SourceLocation where = python_location();
    const Array array = as_array(self)->read(where);
    if (!frontend::tracing()) {
      const nb::object& formatter = text_function();
      if (!formatter.is_none())
        return formatter(nb::handle(self), text == heddle::repr).release().ptr();
      compute(array);
    }
    const std::string result = text(array, where);
    return PyUnicode_FromStringAndSize(result.data(), static_cast<Py_ssize_t>(result.size()));
  });
}

#define HEDDLE_BINARY_SLOT(slot, name)                            \
  {Py_nb_##slot, reinterpret_cast<void*>(binary<name>)}, {        \
    Py_nb_inplace_##slot, reinterpret_cast<void*>(in_place<name>) \
  }

PyType_Slot slots[] = {
    HEDDLE_BINARY_SLOT(add, add),
    HEDDLE_BINARY_SLOT(subtract, subtract),
    {Py_nb_multiply, reinterpret_cast<void*>(multiplied)},
    {Py_nb_inplace_multiply, reinterpret_cast<void*>(in_place<multiply>)},
    HEDDLE_BINARY_SLOT(true_divide, divide),
    HEDDLE_BINARY_SLOT(floor_divide, floor_divide),
    HEDDLE_BINARY_SLOT(remainder, remainder),
    HEDDLE_BINARY_SLOT(and, bitwise_and),
    HEDDLE_BINARY_SLOT(or, bitwise_or),
    HEDDLE_BINARY_SLOT(xor, bitwise_xor),
    HEDDLE_BINARY_SLOT(lshift, left_shift),
    HEDDLE_BINARY_SLOT(rshift, right_shift),
    HEDDLE_BINARY_SLOT(matrix_multiply, matmul),
    {Py_nb_power, reinterpret_cast<void*>(powered)},
    {Py_nb_inplace_power, reinterpret_cast<void*>(powered_in_place)},
    {Py_nb_divmod, reinterpret_cast<void*>(divided)},
    {Py_nb_negative, reinterpret_cast<void*>(unary<negative>)},
    {Py_nb_positive, reinterpret_cast<void*>(unary<positive>)},
    {Py_nb_absolute, reinterpret_cast<void*>(unary<absolute>)},
    {Py_nb_invert, reinterpret_cast<void*>(unary<invert>)},
    {Py_nb_bool, reinterpret_cast<void*>(is_true)},
    {Py_nb_int, reinterpret_cast<void*>(to_int)},
    {Py_nb_float, reinterpret_cast<void*>(to_float)},
    {Py_nb_index, reinterpret_cast<void*>(to_index)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
    {Py_tp_hash, reinterpret_cast<void*>(hashed)},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_tp_repr, reinterpret_cast<void*>(printed<heddle::repr>)},
    {Py_tp_str, reinterpret_cast<void*>(printed<heddle::to_string>)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
    {Py_sq_item, reinterpret_cast<void*>(sequence_item)},
    {Py_sq_contains, reinterpret_cast<void*>(contains)},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
    {0, nullptr},
};
#undef HEDDLE_BINARY_SLOT

constexpr const char* documentation =
    "An N-dimensional array: a value that is recorded, and computed when it is read (by item, "
    "printing, asnumpy or eval). heddle.asarray, heddle.zeros and similar functions create one.\n\n"
    "Operators follow NumPy: dtypes promote, Python numbers are weak, shapes broadcast. Basic "
    "indexing and functions like reshape return views that write through.";

/// heddle.ndarray(shape, dtype): zeros, or a view of existing memory.
ArrayObject made(nb::handle shape, nb::handle dtype, nb::handle buffer, nb::handle offset,
                 nb::handle strides, nb::handle order) {
  const SourceLocation where = python_location();
  if (buffer.is_none()) {
    if (!strides.is_none())
      raise(PyExc_ValueError, "ndarray: strides need a buffer; new Arrays are C-ordered");
    check_extents(shape);
    const nb::object zeros = nb::module_::import_("heddle").attr("zeros");
    const nb::object array = zeros(shape, dtype);
    return std::move(*as_array(array));
  }
  if (nb::hasattr(buffer, "ptr") && nb::hasattr(buffer, "mem")) {
    const nb::object over = nb::module_::import_("heddle.cuda._memory").attr("array_over");
    const nb::object array = over(shape, dtype, buffer, offset, strides, order);
    return std::move(*as_array(array));
  }
  const nb::object numpy = nb::module_::import_("numpy");
  const nb::object array =
      numpy.attr("ndarray")(shape, numpy_dtype(to_dtype(dtype)), buffer, offset, strides, order);
  const nb::object shared = from_dlpack(array, nb::none(), nb::none(), where);
  return std::move(*as_array(shared));
}

void bind_constructor(nb::class_<ArrayObject>& type) {
  type.def(
      "__init__",
      [](ArrayObject* self, nb::handle shape, nb::handle dtype, nb::handle buffer,
         nb::handle offset, nb::handle strides, nb::handle order, nb::handle memptr) {
        const nb::object zero = nb::int_(0);
        if (!is_integer(offset)) {  // CuPy's order: shape, dtype, memptr, strides, order
          if (!order.is_none()) raise(PyExc_TypeError, "ndarray: offset must be an integer");
          order = std::exchange(strides, std::exchange(offset, zero));
        }
        const bool by_address = !memptr.is_none();
        if (by_address && !buffer.is_none())
          raise(PyExc_TypeError, "ndarray: takes a buffer or a memptr, not both");
        new (self)
            ArrayObject(made(shape, dtype, by_address ? memptr : buffer, offset, strides, order));
      },
      nb::arg("shape"), nb::arg("dtype") = nb::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)),
      nb::arg("buffer").none() = nb::none(), nb::arg("offset").none() = 0,
      nb::arg("strides").none() = nb::none(), nb::arg("order").none() = nb::none(),
      nb::arg("memptr").none() = nb::none(),
      "An Array of zeros, float64 by default, or an Array of the memory of `buffer`: "
      "numpy.ndarray. `buffer` is any object with the buffer protocol. Its memory is shared, "
      "unless "
      "elements share memory. `memptr`, or a buffer of that type, is a heddle.cuda.MemoryPointer, "
      "as in cupy.ndarray, whose order of arguments, (shape, dtype, memptr, strides, order), is "
      "understood, too: the memory is always shared.");
}

}  // namespace

nb::object& text_function() {
  static auto* const function = new nb::object(nb::none());  // outlives the interpreter
  return *function;
}

void bind_array(nb::module_& module) {
  nb::class_<ArrayObject> type(module, "Array", nb::type_slots(slots), nb::is_final(),
                               documentation);
  bind_constructor(type);
  bind_array_properties(type);
}

}  // namespace heddle::python
